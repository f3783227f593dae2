"""Studies of data rather than of runs: audits of training sets, and agreement of people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from acidtest.core.errors import AcidtestError, FileError
from acidtest.core.files import refuse_overwrite, require_page, write_page
from acidtest.core.logs import stage
from acidtest.core.suite import Suite
from acidtest.workflows.annotation import is_store, load_stored_answers, open_store
from acidtest.workflows.batteries import Reading, chosen_suites, load

if TYPE_CHECKING:
    from acidtest.annotate.answers import Answers
    from acidtest.annotate.questionnaires import Questionnaire
    from acidtest.core.ratings import Ratings
    from acidtest.studies.agreement import AgreementResult
    from acidtest.studies.audit import AuditResult

_STORES = (".db", ".sqlite", ".sqlite3")
"""The endings of store files."""


def audit(
    train: str | Path | Suite,
    *,
    against: Sequence[str | Path | Suite] = (),
    output: str | Path | None = None,
    faithful: bool = False,
    reading: Reading | None = None,
    seed: int = 0,
) -> AuditResult:
    """Audit a training set for shortcuts, repetitions, and leaks into the suites ``against``.

    ``against`` takes names, globs and files, as ``run`` does; ``output`` takes a page. ``reading`` says how to read the
    training set's file.
    """
    from acidtest.studies.audit import audit as study

    if output is not None:
        require_page(output)
    if not isinstance(train, Suite):
        stage("reading %s", train)
        train = load(train, reading=reading)
    names = [str(name) for name in against if not isinstance(name, Suite)]
    suites = [suite for suite in against if isinstance(suite, Suite)]
    suites += chosen_suites(names, seed=seed) if names else []
    result = study(train, against=suites, faithful=faithful, seed=seed)
    if output is not None:
        from acidtest.render.html import render_page
        from acidtest.studies.audit.document import document

        write_page(output, render_page(document(result)))
    return result


def agreement(
    file: str | Path,
    *,
    questionnaire: str | Path | None = None,
    labels: Sequence[str] = (),
    categories: Sequence[str] = (),
    gold: str | None = None,
    output: str | Path | None = None,
    seed: int = 0,
) -> AgreementResult:
    """Measure how far people agree on labels or categories of the rows of a file, and how often they choose gold.

    ``labels``, ``categories`` and ``gold`` name columns where they are not recognised. With a ``questionnaire``, the
    name of one that ships with acidtest or a file, the file holds answers: its rules make labels and categories of them
    first. A store of ``acidtest annotate`` knows its questionnaire. ``output`` takes a page (.html), a chart of kappas
    (.png or .svg) or, with a questionnaire, a table of the items with gold, votes and why they were discarded.
    """
    from acidtest.studies.agreement import agreement as study

    if output is not None:
        _check_output(file, output)
    ratings = _load_ratings(file, questionnaire, labels=labels, categories=categories, gold=gold, seed=seed)
    if output is not None and output_kind(output) == "table" and ratings.items is None:
        raise AcidtestError(
            "-o takes what a questionnaire makes of answers; name one with --questionnaire, or end -o in .html for a "
            "page, or in .png or .svg for a chart"
        )
    result = study(ratings, seed=seed)
    if output is not None:
        _write_agreement(result, output)
    return result


def output_kind(output: str | Path) -> Literal["page", "chart", "table"]:
    """The kind of file that an ending stands for: a page, a chart or a table."""
    ending = Path(output).suffix.lower()
    return "page" if ending in (".html", ".htm") else "chart" if ending in (".png", ".svg") else "table"


def questionnaires() -> list[str]:
    """The names of the questionnaires that ship with acidtest."""
    from acidtest.annotate.questionnaires import packaged_questionnaires

    return packaged_questionnaires()


def _check_output(file: str | Path, output: str | Path) -> None:
    """Refuse a file that cannot be written, before anything is computed."""
    if Path(output).resolve() == Path(file).resolve():
        raise FileError(output, "holds the answers; choose another -o")
    if output_kind(output) == "page":
        require_page(output)
    elif output_kind(output) == "table":
        refuse_overwrite(output)


def _write_agreement(result: AgreementResult, output: str | Path) -> None:
    from acidtest.studies.agreement.document import document

    if output_kind(output) == "table" and result.items is not None:
        from acidtest.io.tables import write_table

        write_table(result.items, output)
    elif output_kind(output) == "chart":
        from acidtest.render.files import write_chart

        write_chart(document(result), output)
    else:
        from acidtest.render.html import render_page

        write_page(output, render_page(document(result)))


def _load_ratings(
    file: str | Path,
    questionnaire: str | Path | None,
    *,
    labels: Sequence[str],
    categories: Sequence[str],
    gold: str | None,
    seed: int,
) -> Ratings:
    """The ratings in a file of labels or categories, a file of answers, or a store."""
    if is_store(file):
        if questionnaire or labels or categories:
            raise AcidtestError(f"{file} is a store, which says itself what was asked; leave the other options out")
        if not open_store(str(file)).exists:
            raise FileError(file, "is a database, but no store: acidtest annotate keeps no answers in it")
        return _rate_answers(*load_stored_answers(str(file)), gold=gold, seed=seed)
    if Path(file).is_file() and Path(file).suffix.lower() in _STORES:
        raise FileError(file, "is not a store, since it holds no database; see acidtest annotate --store")
    if questionnaire is None:
        from acidtest.annotate.ratings import read_ratings

        return read_ratings(file, labels=labels, gold=gold, categories=categories)
    from acidtest.annotate.answers import read_answers
    from acidtest.annotate.questionnaires import load_questionnaire

    for name, columns in (("labels", labels), ("categories", categories)):
        if columns:
            raise AcidtestError(f"--{name} names columns of {name}, but with --questionnaire the file holds answers")
    loaded = load_questionnaire(questionnaire)
    return _rate_answers(loaded, read_answers(file, loaded), gold=gold, seed=seed)


def _rate_answers(questionnaire: Questionnaire, answers: Answers, *, gold: str | None, seed: int) -> Ratings:
    """The ratings that the rules of a questionnaire derive from answers."""
    from acidtest.annotate.answers import exclude_people
    from acidtest.annotate.judgements import item_shares, judgement_ratings, judgements

    counted, attendance = exclude_people(answers)
    judged = judgements(questionnaire, counted)
    return replace(
        judgement_ratings(judged, gold=gold, attendance=attendance),
        questionnaire=questionnaire.name,
        discarded=judged.discarded,
        shares=item_shares(judged, counted, gold=gold, draws_seed=seed),
        items=judged.table,
    )
