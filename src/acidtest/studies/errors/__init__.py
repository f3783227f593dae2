"""Counts of the categories that people chose for a sample of errors: those of Naik et al. (2018), section 2.

Shares estimate those among all errors of the run, from which the sample was drawn at random: rows are independent, even
if they share a source sentence.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated

import polars as pl

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
from acidtest.core.errors import AcidtestError, FileError, UnknownNameError
from acidtest.core.estimate import Estimate
from acidtest.core.study import study
from acidtest.io.columns import row_error
from acidtest.io.published import PublishedScore, published_scores
from acidtest.io.tables import FileTable, read_table
from acidtest.stats.agreement import cohen_kappa
from acidtest.stats.intervals import rate
from acidtest.studies.errors.samples import (
    AMBIGUITY,
    CATEGORIES,
    DECISION,
    MATERIAL,
    NATURAL,
    SYNTHETIC,
    WORLD_KNOWLEDGE,
    vote_columns,
)

SCHEMA = 1
PUBLISHED = "error typology"
"""The suite under which the paper's shares are kept among published numbers."""

_SEVERAL = r"[;,/|+&]| and | or "


@dataclass(frozen=True)
class CategoryShare:
    """One category: how often people chose it, how often it was proposed, and how many proposals people kept."""

    count: int
    share: Estimate
    proposed: int
    proposed_share: Estimate
    kept: Estimate


@dataclass(frozen=True)
class ErrorsResult:
    """The errors of a sample by category, and the published shares.

    ``prefilled``: all categories still equal the proposals, so nobody seems to have decided on them.
    ``synthetic``: the errors on pairs made by rules, if the sample also has natural pairs; the other fields leave them
    out. No shares are published for synthetic pairs.
    """

    name: str
    rows: int
    decided: int
    categories: Mapping[str, CategoryShare]
    kept: Estimate
    published: tuple[PublishedScore, ...] = ()
    signatures: tuple[str, ...] = ()
    prefilled: bool = False
    material: str = NATURAL
    synthetic: ErrorsResult | None = None
    schema: int = SCHEMA

    @property
    def by_people(self) -> bool:
        """Whether a person decided on any of the errors."""
        return self.decided > 0 and not self.prefilled


@dataclass(frozen=True)
class CategoryChoices:
    """How often the first person, the second person, and both chose a category."""

    first: int
    second: int
    both: int


@dataclass(frozen=True)
class DisputedError:
    """An error that two people gave different categories."""

    suite: str | None
    id: str
    first: str
    second: str


@dataclass(frozen=True)
class ErrorAgreement:
    """How far two people agree on the same errors; rows that only one of them decided are counted and left out."""

    names: tuple[str, str]
    rows: int
    only: tuple[int, int] = field(metadata={"json": "decided_by_one_only"})
    share: Estimate = field(metadata={"json": "agreement"})
    kappa: Estimate
    categories: Mapping[str, CategoryChoices]
    disagreements: tuple[DisputedError, ...]
    schema: int = SCHEMA


@dataclass(frozen=True)
class Decisions:
    """The categories that a person chose for a sample of errors, read from its file.

    ``frame`` has suite, id, proposed, category and material; all but the id may be null.
    """

    path: Path
    frame: pl.DataFrame
    signatures: tuple[str, ...] = ()
    never_proposed: tuple[str, ...] = (WORLD_KNOWLEDGE,)
    """Categories that the rules could not propose for this sample."""
    commented: bool = False

    @property
    def prefilled(self) -> bool:
        """Whether every category equals the proposal and there is no comment: perhaps nobody has looked yet."""
        same = self.frame.select((pl.col("category") == pl.col("proposed")).fill_null(False).all()).item()
        return bool(same) and self.frame.height > 0 and not self.commented

    @property
    def decided(self) -> pl.DataFrame:
        """The rows that a person has given a category."""
        return self.frame.drop_nulls("category")


@study(group="look into a run", name="errors")
def error_categories(sample: Annotated[Path, "A sample of errors that somebody sorted."]) -> ErrorsResult:
    """Count what people decided on a sample of a run's errors, the published shares of each category beside it."""
    return count_categories(read_decisions(sample))


def read_decisions(path: str | Path) -> Decisions:
    """The decisions in a file that ``sample_errors`` filled and a person edited; errors name the line of a mistake."""
    table = read_table(path)
    frame = table.written_frame
    for name in ("id", "category"):
        if name not in frame.columns:
            raise FileError(path, f"has no column {name!r}, as a sample of errors has: acidtest errors RUN -o FILE")
    columns = ("suite", "id", *DECISION, MATERIAL, "signature")
    absent = [name for name in columns if name not in frame.columns]
    frame = frame.with_columns(pl.lit(None, pl.String).alias(name) for name in absent)
    frame = frame.select(pl.col(columns).cast(pl.String).str.strip_chars().replace("", None))
    frame = frame.with_columns(_parse_categories(table, frame[name]) for name in ("proposed", "category"))
    ids, repeated = frame["id"], frame.select(pl.struct("suite", "id").is_first_distinct().not_()).to_series()
    _refuse_rows(table, ids.is_null(), "id", lambda row: "has no id; rows are matched by it")
    _refuse_rows(table, repeated, "id", lambda row: f"id {ids[row]!r} occurs a second time")
    return Decisions(
        Path(path),
        frame.select("suite", "id", "proposed", "category", MATERIAL),
        signatures=tuple(frame["signature"].drop_nulls().unique(maintain_order=True)),
        never_proposed=(WORLD_KNOWLEDGE,) if vote_columns(table.frame.columns) else (WORLD_KNOWLEDGE, AMBIGUITY),
        commented=frame["comment"].count() > 0,
    )


def _parse_categories(table: FileTable, written: pl.Series) -> pl.Series:
    """The names of categories, whatever capitals, spaces and underscores they are written with."""
    names = written.str.to_lowercase().str.replace_all(r"[\s_]+", " ")

    def describe_unknown(row: int) -> str:
        parts = [part.strip() for part in re.split(_SEVERAL, names[row])]
        if len(parts) > 1 and all(part in CATEGORIES for part in parts):
            advice = "but an error has one: keep the likelier, comment on the other"
            return f"category {written[row]!r} names {len(parts)}, {advice}"
        return str(UnknownNameError("error category", names[row], CATEGORIES))

    _refuse_rows(table, names.is_not_null() & ~names.is_in(list(CATEGORIES)), written.name, describe_unknown)
    return names


def _refuse_rows(table: FileTable, wrong: pl.Series, column: str, describe: Callable[[int], str]) -> None:
    """Raise an error about the first row that is flagged."""
    if wrong.any():
        row = int(wrong.arg_true()[0])
        raise row_error(table, row, column=column, problem=describe(row))


def count_categories(decisions: Decisions) -> ErrorsResult:
    """The share of each category among the choices of people, and among the proposals of the rules.

    Errors on natural and on synthetic pairs are counted apart: the published shares are of errors on MultiNLI's pairs.
    """
    is_synthetic = (pl.col(MATERIAL) == SYNTHETIC).fill_null(value=False)
    natural = replace(decisions, frame=decisions.frame.filter(~is_synthetic))
    synthetic = replace(decisions, frame=decisions.frame.filter(is_synthetic))
    if not synthetic.frame.height:
        return _count_material(natural, NATURAL)
    if not natural.frame.height:
        return _count_material(synthetic, SYNTHETIC)
    counts = _count_material(natural, NATURAL)
    return replace(counts, synthetic=_count_material(synthetic, SYNTHETIC), prefilled=decisions.prefilled)


def _count_material(decisions: Decisions, material: str) -> ErrorsResult:
    decided, proposed = (decisions.frame[name].drop_nulls() for name in ("category", "proposed"))
    both = decisions.frame.drop_nulls(["category", "proposed"])
    kept = both["category"] == both["proposed"]
    categories = {}
    for name in CATEGORIES:
        # A category that could not have been proposed has no share, which is not a share of 0.
        never = name in decisions.never_proposed and name not in proposed
        categories[name] = CategoryShare(
            count=int((decided == name).sum()),
            share=rate(decided == name, empty="no error has a category yet"),
            proposed=int((proposed == name).sum()),
            proposed_share=rate((proposed.clear() if never else proposed) == name, empty="nothing to propose it by"),
            kept=rate(kept.filter(both["proposed"] == name), empty=f"{name} was proposed for no error decided on"),
        )
    published = tuple(replace(score, note="") for score in published_scores(PUBLISHED))
    return ErrorsResult(
        name=decisions.path.name,
        rows=decisions.frame.height,
        decided=len(decided),
        categories=categories,
        kept=rate(kept, empty="nobody has decided on a proposal yet"),
        published=published if material == NATURAL else (),
        signatures=decisions.signatures,
        prefilled=decisions.prefilled,
        material=material,
    )


def error_agreement(first: Decisions, second: Decisions) -> ErrorAgreement:
    """How far two people agree on the errors they both sorted, matched by suite and id."""
    key = ["suite", "id"]
    if first.frame.join(second.frame, on=key, how="semi", nulls_equal=True).is_empty():
        raise AcidtestError(f"{first.path} and {second.path} have no error in common; two people sort the same sample")
    pairs = first.decided.select(*key, first="category").join(
        second.decided.select(*key, second="category"), on=key, nulls_equal=True, maintain_order="left"
    )
    one, two = pairs["first"], pairs["second"]
    counts = [Counter(categories) for categories in (one, two, one.filter(one == two))]
    return ErrorAgreement(
        names=(str(first.path), str(second.path)),
        rows=pairs.height,
        only=(first.decided.height - pairs.height, second.decided.height - pairs.height),
        share=rate(one == two, empty="nothing that both decided on"),
        kappa=cohen_kappa(one.to_list(), two.to_list()),
        categories={name: CategoryChoices(*(chosen[name] for chosen in counts)) for name in CATEGORIES},
        disagreements=tuple(DisputedError(**row) for row in pairs.filter(one != two).iter_rows(named=True)),
    )


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
