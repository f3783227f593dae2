"""How far people agree on labels, and labels from what they answered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from acidtest.core.errors import AcidtestError, FileError
from acidtest.core.signatures import signature

if TYPE_CHECKING:
    from rich.console import RenderableType

    from acidtest.analysis.agreement import Agreement, Ratings


def agreement(
    file: str | Path,
    *,
    questionnaire: str | Path | None = None,
    labels: Sequence[str] = (),
    gold: str | None = None,
    output: str | Path | None = None,
    seed: int = 0,
) -> Agreement:
    """How far people agree who labelled the rows of a file, and how often they choose gold.

    ``labels`` and ``gold`` name columns where they are not recognised. With a ``questionnaire``, the name of one that
    ships with acidtest or a file, the file holds answers: its rules make labels of them first, and ``output`` takes the
    items with gold, votes and why they were discarded.
    """
    if questionnaire is None:
        from acidtest.annotate.ratings import read_ratings

        if output is not None:
            raise AcidtestError("-o takes what a questionnaire makes of answers; name one with --questionnaire")
        return _measured(read_ratings(file, labels=labels, gold=gold), seed)
    from acidtest.annotate.answers import read_answers
    from acidtest.annotate.outcomes import judgements
    from acidtest.annotate.questionnaires import questionnaire as found_questionnaire
    from acidtest.annotate.ratings import judged_ratings
    from acidtest.core.tables import write_table

    if labels:
        raise AcidtestError("--labels names columns of labels, but with --questionnaire the file holds answers")
    if output is not None and Path(output).resolve() == Path(file).resolve():
        raise FileError(output, "holds the answers; choose another -o")
    asked = found_questionnaire(questionnaire)
    judged = judgements(asked, read_answers(file, asked))
    if output is not None:
        write_table(judged.table, output)
    found = _measured(judged_ratings(judged, gold=gold), seed)
    return replace(found, questionnaire=asked.name, discarded=judged.discarded)


def questionnaires() -> list[str]:
    """The names of the questionnaires that ship with acidtest."""
    from acidtest.annotate.questionnaires import packaged_questionnaires

    return packaged_questionnaires()


def label_agreement_tables(found: Agreement) -> list[RenderableType]:
    """The agreement of people on labels as a person reads it on a terminal."""
    from acidtest.reports import agreements

    return agreements.agreement_tables(found)


def _measured(ratings: Ratings, seed: int) -> Agreement:
    from acidtest.analysis.agreement import agreement as measured

    found = measured(ratings, draws_seed=seed)
    return replace(found, signature=signature(ratings.signature, f"seed:{seed}"))
