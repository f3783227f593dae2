"""Studies of data rather than of runs: audits, agreement of people, and categories of annotated and other pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from acidtest.core.errors import AcidtestError, FileError, UnknownNameError
from acidtest.core.files import refuse_overwrite, require_page, write_page
from acidtest.core.logs import stage
from acidtest.core.suite import Suite
from acidtest.suites.catalogue import find_generator, resolve_names
from acidtest.workflows.batteries import Arguments, Reading, chosen_suites, generate, load, save

if TYPE_CHECKING:
    from acidtest.annotate.answers import Answers
    from acidtest.annotate.questionnaires import Questionnaire
    from acidtest.core.document import Document
    from acidtest.core.ratings import Ratings
    from acidtest.pairs.taxonomy import Node
    from acidtest.studies.agreement import AgreementResult
    from acidtest.studies.audit import AuditResult
    from acidtest.studies.check import CheckResult
    from acidtest.studies.tag import TagResult
    from acidtest.studies.taxonomy import TaxonomyResult

_STORES = (".db", ".sqlite", ".sqlite3")
"""The endings of store files."""
# The rules were chosen on half of the published file.
_SEEN = (
    "half of these pairs are those the rules were chosen on: what was measured on held-out pairs leaves them aside, "
    "what is compared with the file's own marks does not"
)


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
    train = _load_pairs(train, reading)
    names = [str(name) for name in against if not isinstance(name, Suite)]
    suites = [suite for suite in against if isinstance(suite, Suite)]
    suites += chosen_suites(names, seed=seed) if names else []
    result = study(train, against=suites, faithful=faithful, seed=seed)
    if output is not None:
        from acidtest.render.html import render_page
        from acidtest.studies.audit.document import document

        write_page(output, render_page(document(result)))
    return result


def check(
    suite: str | Path | Suite,
    *,
    source: str | Path | Suite | None = None,
    n: int | None = None,
    at_most: bool = False,
    arguments: Arguments | None = None,
    reading: Reading | None = None,
    judged: str | Path | None = None,
    seed: int = 0,
) -> CheckResult:
    """Check a suite before trusting it: a name, a TOML or Python file, ``python:pkg.mod:function``, or a file of pairs.

    What is made is made twice. ``judged`` is a sheet that somebody filled in; the other options are those of
    ``generate``.
    """
    from acidtest.studies.check import check as study

    again, expected = None, None
    if isinstance(suite, Suite):
        made = suite
    elif (generator := find_generator(str(suite))) is None:
        if n is not None:
            raise AcidtestError(f"-n is the size of a suite that is made; {suite} is a file, and all of it is checked")
        stage("reading %s", suite)
        made = load(resolve_names([str(suite)])[0], reading=reading, checked=False)
    else:
        made, again = (
            generate(
                str(suite),
                source=source,
                n=n,
                at_most=at_most,
                arguments=arguments,
                reading=reading,
                seed=seed,
                checked=False,
            )
            for _ in range(2)
        )
        is_default = n is None and source is None and not arguments and not made.card.left_out
        expected = generator.rows or None if is_default else None
    judgements = _read_judgements(judged) if judged is not None else None
    return study(made, again=again, expected=expected, judgements=judgements, seed=seed)


def sheet_paths(path: str | Path) -> dict[str, Path]:
    """Where a sheet to read and its gold go: ``sheet.tsv`` and ``sheet.gold.tsv``."""
    path = Path(path)
    if not path.suffix:
        raise FileError(path, "has no ending; end it in .tsv or .csv for a sheet, or in .html for a page")
    stem, _, endings = path.name.partition(".")
    return {"sheet": path, "gold": path.with_name(f"{stem}.gold.{endings}")}


def write_sheet(result: CheckResult, path: str | Path) -> dict[str, Path]:
    """Write the pairs to read without their gold, and the gold beside them; return both paths."""
    from acidtest.io.tables import write_table
    from acidtest.studies.check import gold_rows, rows

    paths = sheet_paths(path)
    write_table(rows(result), paths["sheet"])
    write_table(gold_rows(result), paths["gold"])
    return paths


def _read_judgements(path: str | Path) -> dict[str, str]:
    """The labels that somebody wrote into a sheet, by id; pairs without one are left out."""
    from acidtest.core.labels import gold_name
    from acidtest.io.tables import read_table
    from acidtest.studies.check import JUDGEMENT

    table = read_table(path)
    for column in ("id", JUDGEMENT):
        if column not in table.frame.columns:
            raise FileError(path, f"has no column {column!r}; give the sheet that acidtest check -o wrote")
    judgements = dict[str, str]()
    for row, (row_id, text) in enumerate(table.frame.select("id", JUDGEMENT).fill_null("").iter_rows()):
        if not text.strip():
            continue
        label = gold_name(text)
        if label is None:
            problem = f"{JUDGEMENT} {text!r} is not entailment, neutral or contradiction"
            raise FileError(path, problem, table.line(row))
        judgements[row_id] = label
    if not judgements:
        raise FileError(path, f"nobody has filled in the column {JUDGEMENT!r} yet")
    return judgements


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

    kind = output_kind(output) if output is not None else ""
    if output is not None:
        if Path(output).resolve() == Path(file).resolve():
            raise FileError(output, "holds the answers; choose another -o")
        if kind == "page":
            require_page(output)
        elif kind == "table":
            refuse_overwrite(output)
    ratings = _load_ratings(file, questionnaire, labels=labels, categories=categories, gold=gold, seed=seed)
    if kind == "table" and ratings.items is None:
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


def taxonomy(name: str | None = None) -> tuple[Node, ...]:
    """The tree of Joshi et al. (2020), every group before its members; or one group, category or feature."""
    from acidtest.pairs import taxonomy as known

    if name is None:
        return known.taxonomy()
    try:
        return (known.node(name),)
    except UnknownNameError:
        # A name with an ending or a folder was meant as a file.
        if Path(name).suffix or Path(name).parent != Path():
            raise FileError(name, "there is no such file, and no category of that name") from None
        raise


def taxonomy_statistics(
    file: str | Path | Suite,
    *,
    against: Sequence[str | Path] = (),
    categories: Sequence[str] = (),
    reading: Reading | None = None,
    against_reading: Reading | None = None,
) -> TaxonomyResult:
    """How the categories of annotated pairs go with labels, genres and each other (Joshi et al. 2020, section 3.2).

    ``categories`` are those of another scheme; ``against`` are files in which to look for the same pairs, read as
    ``against_reading`` says. Labels of those files are not needed.
    """
    from acidtest.studies.taxonomy import taxonomy as count_categories

    suite = annotated_suite(file, categories=categories, reading=reading)
    others = {Path(other).name: load(other, reading=against_reading, unlabelled=True) for other in against}
    if len(others) < len(against):
        raise AcidtestError("two of the files to look through have the same name; rename one")
    stage("counting categories")
    return count_categories(suite, others=others)


def annotated_suite(
    file: str | Path | Suite, *, categories: Sequence[str] = (), reading: Reading | None = None
) -> Suite:
    """The annotated pairs of a file: as suite ``taxinli`` if it is the published file, else as ``taxonomy``.

    A suite that already has categories stays as it is, unless ``categories`` are named.
    """
    from acidtest.pairs.taxonomy import is_published

    suite = _load_pairs(file, reading)
    if suite.card.categories and not categories:
        return suite
    if is_published(suite.card.columns) and not categories:
        return generate("taxinli", source=suite)
    return generate("taxonomy", source=suite, arguments={"categories": ",".join(categories)} if categories else {})


def taxonomy_document(nodes: Sequence[Node]) -> Document:
    """The taxonomy, or one node of it, as a document."""
    from acidtest.studies.taxonomy import taxonomy_document as tree_document

    return tree_document(nodes)


def tag(source: str | Path | Suite, *, output: str | Path | None = None, reading: Reading | None = None) -> TagResult:
    """Propose categories for the pairs of a file by rules, with the precision of such proposals.

    ``output`` takes the pairs with a column ``auto_<category>`` for each category, as suite ``taxonomy/tagged`` has
    them. Where the file itself marks categories, the proposals are measured against those, too.
    """
    from acidtest.pairs.taxonomy import CATEGORIES, PUBLISHED_COLUMNS, is_published
    from acidtest.studies.tag import tag as count_proposals

    pairs = _load_pairs(source, reading)
    stage("proposing categories for %s pairs", f"{pairs.card.rows:,}")
    tagged = generate("taxonomy/tagged", source=pairs)
    if output is not None:
        stage("writing %s", output)
        save(tagged, output)
    stage("counting")
    if is_published(pairs.card.columns):
        result = count_proposals(tagged, generate("taxinli", source=pairs))
        return replace(result, notes=(*result.notes, _SEEN))
    known = {*CATEGORIES, *PUBLISHED_COLUMNS, "categories"}
    has_marks = any(name.lower() in known for name in pairs.card.columns)
    return count_proposals(tagged, generate("taxonomy", source=pairs) if has_marks else None)


def _load_pairs(source: str | Path | Suite, reading: Reading | None) -> Suite:
    if isinstance(source, Suite):
        return source
    stage("reading %s", source)
    return load(source, reading=reading)


def _write_agreement(result: AgreementResult, output: str | Path) -> None:
    from acidtest.studies.agreement import document

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
    from acidtest.workflows.annotation import is_store, load_stored_answers, open_store

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
