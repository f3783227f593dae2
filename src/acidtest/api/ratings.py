"""How far people agree on labels, and labels from what they answered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from acidtest.core.errors import AcidtestError, FileError
from acidtest.core.files import refuse_to_lose, write_page
from acidtest.core.signatures import signature
from acidtest.workflows.annotation import is_store, opened_store, stored_answers

if TYPE_CHECKING:
    from rich.console import RenderableType

    from acidtest.annotate.answers import Answers
    from acidtest.annotate.questionnaires import Questionnaire
    from acidtest.studies.agreement import Agreement, Ratings


_STORES = (".db", ".sqlite", ".sqlite3")
"""How the names of stores end."""


def agreement(
    file: str | Path,
    *,
    questionnaire: str | Path | None = None,
    labels: Sequence[str] = (),
    categories: Sequence[str] = (),
    gold: str | None = None,
    output: str | Path | None = None,
    seed: int = 0,
) -> Agreement:
    """How far people agree who labelled the rows of a file or gave them categories, and how often they choose gold.

    ``labels``, ``categories`` and ``gold`` name columns where they are not recognised. With a ``questionnaire``, the
    name of one that ships with acidtest or a file, the file holds answers: its rules make labels and categories of them
    first. ``output`` takes a page (.html), a chart of kappas (.png or .svg) or, with a questionnaire, a table of the
    items with gold, votes and why they were discarded.
    """
    told = agreement_output(output) if output is not None else ""
    if output is not None and Path(output).resolve() == Path(file).resolve():
        raise FileError(output, "holds the answers; choose another -o")
    if is_store(file):
        if questionnaire or labels or categories:
            raise AcidtestError(f"{file} is a store, which says itself what was asked; leave the other options out")
        if not opened_store(str(file)).exists:
            raise FileError(file, "is a database, but no store: acidtest annotate keeps no answers in it")
        return _answered(*stored_answers(str(file)), gold=gold, output=output, seed=seed)
    if Path(file).is_file() and Path(file).suffix.lower() in _STORES:
        raise FileError(file, "is not a store, since it holds no database; see acidtest annotate --store")
    if questionnaire is None:
        from acidtest.annotate.ratings import read_ratings

        if told == "table":
            raise AcidtestError(
                "-o takes what a questionnaire makes of answers; name one with --questionnaire, or end -o in .html for "
                "a page, or in .png or .svg for a chart"
            )
        found = _measured(read_ratings(file, labels=labels, gold=gold, categories=categories), seed)
        return _written(found, output)
    from acidtest.annotate.answers import read_answers
    from acidtest.annotate.questionnaires import questionnaire as found_questionnaire

    for name, columns in (("labels", labels), ("categories", categories)):
        if columns:
            raise AcidtestError(f"--{name} names columns of {name}, but with --questionnaire the file holds answers")
    asked = found_questionnaire(questionnaire)
    return _answered(asked, read_answers(file, asked), gold=gold, output=output, seed=seed)


def agreement_output(output: str | Path) -> str:
    """What is written into a file of this name: a page, a chart, or a table."""
    endings = {".html": "page", ".htm": "page", ".png": "chart", ".svg": "chart"}
    return endings.get(Path(output).suffix.lower(), "table")


def _answered(
    asked: Questionnaire, answers: Answers, *, gold: str | None, output: str | Path | None, seed: int
) -> Agreement:
    """The agreement in checked answers, wherever they come from."""
    from acidtest.annotate.attendance import attended
    from acidtest.annotate.outcomes import judgements
    from acidtest.annotate.ratings import judged_ratings
    from acidtest.annotate.shares import item_shares
    from acidtest.io.tables import write_table

    if output is not None and agreement_output(output) == "table":
        refuse_to_lose(output)
    counted, attendance = attended(answers)
    judged = judgements(asked, counted)
    if output is not None and agreement_output(output) == "table":
        write_table(judged.table, output)
    found = _measured(judged_ratings(judged, gold=gold, attendance=attendance), seed)
    shares = item_shares(judged, counted, gold=gold, draws_seed=seed)
    return _written(replace(found, questionnaire=asked.name, discarded=judged.discarded, shares=shares), output)


def _written(found: Agreement, output: str | Path | None) -> Agreement:
    """The agreement, once its page or chart is written where one is asked for."""
    told = agreement_output(output) if output is not None else ""
    if output is not None and told == "page":
        from acidtest.reports.agreement_page import agreement_page

        write_page(output, agreement_page(found))
    elif output is not None and told == "chart":
        from acidtest.reports.agreement_page import write_agreement_chart

        write_agreement_chart(found, output)
    return found


def questionnaires() -> list[str]:
    """The names of the questionnaires that ship with acidtest."""
    from acidtest.annotate.questionnaires import packaged_questionnaires

    return packaged_questionnaires()


def label_agreement_tables(found: Agreement) -> list[RenderableType]:
    """The agreement of people on labels as a person reads it on a terminal."""
    from acidtest.reports import agreements

    return agreements.agreement_tables(found)


def _measured(ratings: Ratings, seed: int) -> Agreement:
    from acidtest.studies.agreement import agreement as measured

    found = measured(ratings, draws_seed=seed)
    return replace(found, signature=signature(ratings.signature, f"seed:{seed}"))
