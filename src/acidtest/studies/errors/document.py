"""Sorted errors as a document: shares of the categories beside the paper's, or how far two people agree."""

from __future__ import annotations

from collections.abc import Iterator

from acidtest.core.document import Chart, Column, Document, Note, Part, Published, Row, Section, Table, describe_count
from acidtest.core.estimate import Estimate
from acidtest.studies.errors import CategoryShare, ErrorAgreement, ErrorsResult

TITLE = "acidtest errors"


def document(result: ErrorsResult | ErrorAgreement) -> Document:
    """The categories of one sample, or the agreement of two people on a sample."""
    if isinstance(result, ErrorAgreement):
        return _agreement_document(result)
    made = result.synthetic
    parts: tuple[Part, ...] = tuple(_category_parts(result, "categories"))
    if made:
        title = f"On pairs that rules made: {describe_count(made.rows, 'error')}"
        parts += (Section(title, tuple(_category_parts(made, "categories of synthetic pairs"))),)
    return Document(
        title=TITLE,
        headline=f"{result.name}: {describe_count(result.rows, 'error')}, {_describe_progress(result)}.",
        parts=parts,
        signatures=_named_signatures(result),
        methods=("Intervals are for the share among all errors of the run, of which the sample was drawn at random.",),
    )


def _named_signatures(result: ErrorsResult) -> dict[str, str]:
    """The signatures by their suites, numbered where a suite has several."""
    names: dict[str, str] = {}
    for signature in result.signatures:
        suite = signature.partition("|")[0]
        names[suite if suite not in names else f"{suite} ({len(names) + 1})"] = signature
    return names


def _category_parts(result: ErrorsResult, table_id: str) -> Iterator[Part]:
    """What people decided or, where nobody has yet, what was proposed; the published shares beside it."""
    papers = published_shares(result)
    by_people = result.by_people
    columns = [Column("errors" if by_people else "proposed", "count"), Column("share")]
    if by_people:
        columns += [Column("proposed"), Column("kept", "count"), Column("of proposals", "count")]
    columns += [Column(corpus, role="published") for corpus in papers]
    rows = [
        Row(
            name,
            (
                *(_decided_cells(category) if by_people else _proposed_cells(category)),
                *(Published(shares[name]) if name in shares else None for shares in papers.values()),
            ),
        )
        for name, category in result.categories.items()
    ]
    who = "as people sorted them" if by_people else "as proposed by rules"
    caption = f"Errors by category, {who}: % with 95 % intervals (Naik et al. 2018, section 2 and table 6)"
    yield Table(table_id, caption, tuple(columns), tuple(rows), "category", sources=_sources(result))
    axis = "share of the errors that people sorted" if by_people else "share of errors, as proposed by rules"
    yield Chart(table_id, columns=("share",), axis=axis)
    yield from (Note(text, quiet=True) for text in _remarks(result))


def _decided_cells(category: CategoryShare) -> tuple[int | Estimate, ...]:
    kept = round(category.kept.value * category.kept.n) if category.kept.known else 0
    return category.count, category.share, category.proposed_share, kept, category.kept.n


def _proposed_cells(category: CategoryShare) -> tuple[int | Estimate | None, ...]:
    return category.proposed if category.proposed_share.known else None, category.proposed_share


def _remarks(result: ErrorsResult) -> Iterator[str]:
    """What to know of the shares in a table."""
    if result.prefilled:
        yield "Prefilled with the proposals; nobody has changed one yet."
    elif result.kept.known:
        kept, decided = round(result.kept.value * result.kept.n), result.kept.n
        yield f"People kept {kept} of {describe_count(decided, 'proposal')} that they decided on."
    if not result.published:
        yield "The published shares are of errors on MultiNLI's own pairs: nothing published compares with these."
    elif not result.by_people:
        yield "The published errors were judged by hand; these are proposed by rules."


def published_shares(result: ErrorsResult) -> dict[str, dict[str, float]]:
    """The paper's shares by corpus and category."""
    shares: dict[str, dict[str, float]] = {}
    for score in result.published:
        corpus = score.by["corpus"].removeprefix("MultiNLI ")
        shares.setdefault(corpus, {})[score.by["category"]] = score.value
    return shares


def _sources(result: ErrorsResult) -> tuple[str, ...]:
    """Whose the published shares are, and where they are printed."""
    if not result.published:
        return ()
    systems = dict.fromkeys(score.system for score in result.published)
    places = dict.fromkeys(score.source for score in result.published)
    return (f"MultiNLI {', '.join(published_shares(result))}: {', '.join(systems)}; {'; '.join(places)}",)


def _describe_progress(result: ErrorsResult) -> str:
    if not result.decided:
        return "none sorted by a person yet"
    if result.prefilled:
        return "prefilled"
    return "all sorted" if result.decided == result.rows else f"{result.decided:,} sorted"


def _agreement_document(result: ErrorAgreement) -> Document:
    first, second = result.names
    rows = tuple(Row(name, (counts.first, counts.second, counts.both)) for name, counts in result.categories.items())
    choices = Table(
        "choices",
        f"How often each category was chosen; first: {first}, second: {second}",
        tuple(Column(name, "count") for name in ("first", "second", "both")),
        rows,
        "category",
    )
    share = Row("errors given the same category", (result.share,))
    summary = Table("agreement", "Agreement in %, with its 95 % interval", (Column("agreement"),), (share,))
    kappa = Table(
        "kappa",
        "Cohen's kappa with its 95 % interval",
        (Column("kappa", "number"),),
        (Row("agreement beyond chance", (result.kappa,)),),
        notes=(result.kappa.note,) if result.kappa.note else (),
    )
    disputed = Table(
        "disagreements",
        "Errors that the two gave different categories",
        tuple(Column(name, "text") for name in ("suite", "first", "second")),
        tuple(Row(error.id, (error.suite, error.first, error.second)) for error in result.disagreements),
        "id",
    )
    parts: list[Part] = [summary, kappa, choices]
    if any(result.only):
        left_out = f"{result.only[0]:,} sorted by the first person only, {result.only[1]:,} by the second only"
        parts.append(Note(f"Left out: {left_out}.", quiet=True))
    parts += [Section("Disagreements", (disputed,), folded=True)] if result.disagreements else []
    return Document(title=TITLE, headline=_agreement_headline(result), parts=tuple(parts))


def _agreement_headline(result: ErrorAgreement) -> str:
    sorted_by_both = f"{describe_count(result.rows, 'error')} sorted by both"
    if not result.share.known:
        return f"{sorted_by_both}: {result.share.note}."
    same = f"the same category for {round(result.share.value * result.share.n):,}"
    return f"{sorted_by_both}, {same}" + (f"; kappa {result.kappa.value:.2f}." if result.kappa.known else ".")
