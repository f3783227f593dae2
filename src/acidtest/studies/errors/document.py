"""Sorted errors as a document: shares of the categories beside the paper's, or how far two people agree."""

from __future__ import annotations

from collections.abc import Iterator

from acidtest.core.document import (
    Cell,
    Chart,
    Column,
    Document,
    Note,
    Part,
    Published,
    Row,
    Section,
    Table,
    describe_count,
)
from acidtest.core.estimate import Estimate
from acidtest.studies.errors import ErrorAgreement, ErrorsResult

TITLE = "acidtest errors"


def document(result: ErrorsResult | ErrorAgreement) -> Document:
    """The categories of one sample, or the agreement of two people on a sample."""
    if isinstance(result, ErrorAgreement):
        return Document(TITLE, _agreement_headline(result), tuple(_agreement_parts(result)))
    parts: list[Part] = [*_category_parts(result, "categories")]
    if result.synthetic:
        title = f"On pairs that rules made: {describe_count(result.synthetic.rows, 'error')}"
        parts.append(Section(title, tuple(_category_parts(result.synthetic, "categories of synthetic pairs"))))
    signatures: dict[str, str] = {}
    for signature in result.signatures:
        suite = signature.partition("|")[0]
        signatures[suite if suite not in signatures else f"{suite} ({len(signatures) + 1})"] = signature
    return Document(
        title=TITLE,
        headline=f"{result.name}: {describe_count(result.rows, 'error')}, {_describe_progress(result)}.",
        parts=tuple(parts),
        signatures=signatures,
        methods=("Intervals are for the share among all errors of the run, of which the sample was drawn at random.",),
    )


def _describe_progress(result: ErrorsResult) -> str:
    if not result.decided:
        return "none sorted by a person yet"
    if result.prefilled:
        return "prefilled"
    return "all sorted" if result.decided == result.rows else f"{result.decided:,} sorted"


def _category_parts(result: ErrorsResult, table_id: str) -> Iterator[Part]:
    """What people decided or, where nobody has yet, what was proposed; the published shares beside it."""
    by_people = result.by_people
    papers: dict[str, dict[str, Published]] = {}
    for score in result.published:
        corpus = score.by["corpus"].removeprefix("MultiNLI ")
        papers.setdefault(corpus, {})[score.by["category"]] = score.cell
    columns = [Column("errors" if by_people else "proposed", "count"), Column("share")]
    if by_people:
        columns += [Column("proposed"), Column("kept", "count"), Column("of proposals", "count")]
    columns += [Column(corpus, role="published") for corpus in papers]
    rows = []
    for name, category in result.categories.items():
        cells: list[Cell] = [category.proposed if category.proposed_share.known else None, category.proposed_share]
        if by_people:
            cells = [category.count, category.share, category.proposed_share, _count(category.kept), category.kept.n]
        rows.append(Row(name, (*cells, *(shares.get(name) for shares in papers.values()))))
    who = "as people sorted them" if by_people else "as proposed by rules"
    caption = f"Errors by category, {who}: % with 95 % intervals (Naik et al. 2018, section 2 and table 6)"
    systems = dict.fromkeys(score.system for score in result.published)
    places = dict.fromkeys(score.source for score in result.published)
    source = f"MultiNLI {', '.join(papers)}: {', '.join(systems)}; {'; '.join(places)}"
    yield Table(table_id, caption, tuple(columns), tuple(rows), "category", sources=(source,) if papers else ())
    axis = "share of the errors that people sorted" if by_people else "share of errors, as proposed by rules"
    yield Chart(table_id, columns=("share",), axis=axis)
    if result.prefilled:
        yield Note("Prefilled with the proposals; nobody has changed one yet.", quiet=True)
    elif result.kept.known:
        proposals = describe_count(result.kept.n, "proposal")
        yield Note(f"People kept {_count(result.kept)} of {proposals} that they decided on.", quiet=True)
    if not result.published:
        reason = "nothing published compares with these"
        yield Note(f"The published shares are of errors on MultiNLI's own pairs: {reason}.", quiet=True)
    elif not by_people:
        yield Note("The published errors were judged by hand; these are proposed by rules.", quiet=True)


def _count(share: Estimate) -> int:
    """The number of rows that make up a share; 0 if it is unknown."""
    return round(share.value * share.n) if share.known else 0


def _agreement_parts(result: ErrorAgreement) -> Iterator[Part]:
    row = Row("errors given the same category", (result.share,))
    yield Table("agreement", "Agreement in %, with its 95 % interval", (Column("agreement"),), (row,))
    row = Row("agreement beyond chance", (result.kappa,))
    notes = (result.kappa.note,) if result.kappa.note else ()
    yield Table("kappa", "Cohen's kappa with its 95 % interval", (Column("kappa", "number"),), (row,), notes=notes)
    caption = "How often each category was chosen; first: {}, second: {}".format(*result.names)
    columns = tuple(Column(name, "count") for name in ("first", "second", "both"))
    rows = tuple(Row(name, (counts.first, counts.second, counts.both)) for name, counts in result.categories.items())
    yield Table("choices", caption, columns, rows, "category")
    if any(result.only):
        left_out = f"{result.only[0]:,} sorted by the first person only, {result.only[1]:,} by the second only"
        yield Note(f"Left out: {left_out}.", quiet=True)
    if result.disagreements:
        caption = "Errors that the two gave different categories"
        columns = tuple(Column(name, "text") for name in ("suite", "first", "second"))
        rows = tuple(Row(error.id, (error.suite, error.first, error.second)) for error in result.disagreements)
        yield Section("Disagreements", (Table("disagreements", caption, columns, rows, "id"),), folded=True)


def _agreement_headline(result: ErrorAgreement) -> str:
    sorted_by_both = f"{describe_count(result.rows, 'error')} sorted by both"
    if not result.share.known:
        return f"{sorted_by_both}: {result.share.note}."
    same = f"the same category for {_count(result.share):,}"
    return f"{sorted_by_both}, {same}" + (f"; kappa {result.kappa.value:.2f}." if result.kappa.known else ".")
