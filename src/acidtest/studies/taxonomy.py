"""Statistics of an annotated set of pairs (Joshi et al. 2020, section 3.2): categories by label and genre."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import nan
from typing import Annotated

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.digests import digests
from acidtest.core.document import (
    Chart,
    Column,
    Document,
    Note,
    Part,
    Published,
    Reference,
    Row,
    Section,
    Table,
    Unit,
    describe_count,
)
from acidtest.core.errors import AcidtestError, UnknownNameError
from acidtest.core.estimate import Estimate
from acidtest.core.labels import LABELS
from acidtest.core.study import study
from acidtest.core.suite import Suite
from acidtest.io.wordlists import packaged_table
from acidtest.pairs.category_rules import PREFIX, proposal_caution, rule_descriptions
from acidtest.pairs.taxonomy import NEUTRAL_FEATURES, Node, is_overlap, members, node, path
from acidtest.stats.intervals import rate
from acidtest.stats.jackknife import Replicates, group_sums, jackknifed, replicates

Flags = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int_]
Groups = npt.NDArray[np.generic]

PUBLISHED = "taxinli statistics"
"""The suite name under which the paper's statistics of its data set are stored."""

_UNDEFINED = "one of the two holds of no pair, or of every pair"
_FEWEST = 5
"""Phi has an interval only if at least this many pairs are expected to have both categories."""
_COLUMNS = ("label", "group", "genre", "annotated_label", *NEUTRAL_FEATURES)


@dataclass(frozen=True)
class CategoryCounts:
    """Counts of the pairs with one category, by label, and their share of all pairs and of each genre.

    ``alone`` counts pairs without any other category.
    """

    pairs: int
    alone: int
    share: Estimate
    labels: Mapping[str, int]
    genres: Mapping[str, Estimate]


@dataclass(frozen=True)
class Correlation:
    """Phi of two categories, the correlation of two columns of 0 and 1; ``both`` and ``genres`` count pairs with both.

    ``clear`` is true if the interval, with Bonferroni's correction over all pairs of categories, excludes 0.
    """

    first: str
    second: str
    phi: Estimate
    clear: bool
    both: int
    genres: Mapping[str, int]


@dataclass(frozen=True)
class PublishedStatistic:
    """A statistic that the paper reports on its data set, and the value for these pairs (``here``)."""

    by: str
    value: float
    source: str
    note: str
    here: float | None = field(default=None, metadata={"json": "own"})


@dataclass(frozen=True)
class TaxonomyResult:
    """The statistics of an annotated set of pairs.

    ``distribution`` counts pairs by their number of categories; ``features`` are shares of neutral pairs with the same
    topic, subject and object. ``inference`` is the share of pairs whose annotators' own label is gold, None if the file
    has no such labels; ``judged`` is the same without neutral pairs, which annotators were told are neutral.
    ``overlaps`` counts pairs that are also in other files, ``development`` those in the released overlap with
    MultiNLI's development sets. ``published`` is empty unless these are the paper's pairs.
    """

    name: str
    signature: str
    labels: Mapping[str, int]
    genres: Mapping[str, int]
    categories: Mapping[str, CategoryCounts]
    correlations: tuple[Correlation, ...]
    per_pair: Estimate = field(metadata={"json": "categories_per_pair"})
    distribution: Mapping[int, int]
    features: Mapping[str, Estimate] = field(metadata={"json": "neutral"})
    inference: Estimate | None = None
    judged: Estimate | None = field(default=None, metadata={"json": "inference_but_neutral"})
    overlaps: Mapping[str, int] = field(default_factory=dict)
    development: int | None = field(default=None, metadata={"json": None})
    published: tuple[PublishedStatistic, ...] = ()
    notes: tuple[str, ...] = ()

    json_properties = ("pairs",)

    @property
    def pairs(self) -> int:
        return sum(self.labels.values())


@study(group="make and check data")
def taxonomy(
    pairs: Annotated[Suite, "Pairs with categories."],
    *,
    others: Annotated[Mapping[str, Suite] | None, "Files to look for the same pairs in, by name."] = None,
) -> TaxonomyResult:
    """Show what annotated pairs are made of: categories by label and genre, and how they go together.

    Section 3.2 of Joshi et al. (2020), whose numbers stand beside those of the published file.
    """
    names = pairs.card.categories
    if not names:
        raise AcidtestError(f"{pairs.name!r} has no categories; make a suite of them with: acidtest generate taxonomy")
    schema = pairs.frame.collect_schema()
    rows = pairs.frame.select(*names, *(name for name in _COLUMNS if name in schema)).collect()
    marks = rows.select(names).fill_null(False).to_numpy().astype(np.bool_)
    groups = rows["group"].rank("dense").to_numpy()
    count = marks.sum(axis=1)
    # Computed as a share of the maximum, so that the interval of the mean stays between 0 and the maximum.
    share, most = rate(count / len(names), groups=groups), len(names)
    others = others or {}
    texts = _pair_digests(pairs) if others else np.zeros(0, dtype=np.uint64)
    overlaps = {name: int(np.isin(texts, _pair_digests(other)).sum()) for name, other in others.items()}
    overlap_files = [name for name, other in others.items() if is_overlap(other.card.columns)]
    neutral, right = pl.col("label") == "neutral", pl.col("annotated_label") == pl.col("label")
    has_labels = "annotated_label" in rows
    result = TaxonomyResult(
        name=pairs.name,
        signature=pairs.card.signature,
        labels=_count_values(rows["label"], LABELS),
        genres=_count_values(rows["genre"]) if "genre" in rows else {},
        categories={name: _count_category(rows, marks[:, at], count, groups) for at, name in enumerate(names)},
        correlations=tuple(_correlations(rows, names, marks, groups)),
        per_pair=replace(share, value=share.value * most, low=share.low * most, high=share.high * most),
        distribution={number: int((count == number).sum()) for number in range(int(count.max(initial=0)) + 1)},
        features={
            name: _share(
                rows.filter(neutral, pl.col(name).is_not_null()), pl.col(name) == "yes", "asked of no neutral pair"
            )
            for name in NEUTRAL_FEATURES
            if name in rows
        },
        # A pair without an annotators' label counts as wrong.
        inference=_share(rows, right, "no such pair") if has_labels else None,
        judged=_share(rows.filter(~neutral), right, "no such pair") if has_labels else None,
        overlaps=overlaps,
        development=overlaps[overlap_files[0]] if overlap_files else None,
        notes=tuple(filter(None, [proposal_caution(names)])),
    )
    return replace(result, published=_published_statistics(pairs, result))


def comparable_numbers(result: TaxonomyResult) -> dict[str, float]:
    """The statistics of these pairs that the paper reports on its own data, keyed as in the published table."""
    numbers: dict[str, float] = {
        "statistic=pairs": result.pairs,
        "statistic=categories per pair": result.per_pair.value,
    }
    numbers |= {f"statistic=pairs&label={label}": count for label, count in result.labels.items()}
    if result.genres:
        numbers["statistic=pairs per genre"] = sum(result.genres.values()) / len(result.genres)
    numbers |= {
        f"statistic={name}": round(share.value * share.n) for name, share in result.features.items() if share.known
    }
    for name, counts in result.categories.items():
        for label, count in counts.labels.items():
            numbers[f"statistic=pairs&category={name}&label={label}"] = count
    for pair in result.correlations:
        slice_name = f"statistic=share&category={pair.first} and {pair.second}&genre="
        numbers |= {f"{slice_name}{genre}": count / pair.both for genre, count in pair.genres.items()}
    if result.development is not None:
        numbers["statistic=overlap&part=development"] = result.development
        numbers["statistic=overlap&part=train"] = result.pairs - result.development
    return numbers | ({"statistic=inference accuracy": result.inference.value} if result.inference else {})


def _share(rows: pl.DataFrame, holds: pl.Expr, none: str) -> Estimate:
    """Share of rows for which the expression holds; NaN with the note ``none`` if there are no rows."""
    flags = rows.select(holds.fill_null(False)).to_series()
    return rate(flags, groups=rows["group"].rank("dense"), empty=none)


def _count_values(column: pl.Series, first: Sequence[str] = ()) -> dict[str, int]:
    """Counts of each value: those in ``first`` in that order, then the others by frequency."""
    counts = dict(column.drop_nulls().value_counts().sort("count", column.name, descending=[True, False]).iter_rows())
    order = [*(name for name in first if name in counts), *(name for name in counts if name not in first)]
    return {str(name): int(counts[name]) for name in order}


def _count_category(rows: pl.DataFrame, holds: Flags, count: Counts, groups: Groups) -> CategoryCounts:
    genres = {}
    if "genre" in rows:
        codes = rows["genre"].fill_null("").to_numpy()
        members = {genre: codes == genre for genre in _count_values(rows["genre"])}
        genres = {genre: rate(holds[chosen], groups=groups[chosen]) for genre, chosen in members.items()}
    labels = dict.fromkeys(_count_values(rows["label"], LABELS), 0)
    return CategoryCounts(
        pairs=int(holds.sum()),
        alone=int((holds & (count == 1)).sum()),
        share=rate(holds, groups=groups),
        labels=labels | _count_values(rows["label"].filter(holds), LABELS),
        genres=genres,
    )


def _correlations(rows: pl.DataFrame, names: Sequence[str], marks: Flags, groups: Groups) -> list[Correlation]:
    correlations = []
    pairs = list(combinations(range(len(names)), 2))
    for first, second in pairs:
        both = marks[:, first] & marks[:, second]
        columns = np.stack([np.ones(len(marks)), marks[:, first], marks[:, second], both], axis=1)
        resampled = replicates(group_sums(columns, groups), _phi, rows=len(marks))
        wide = _phi_estimate(resampled, columns, confidence=1 - 0.05 / len(pairs))
        genres = _count_values(rows["genre"].filter(both)) if "genre" in rows else {}
        phi, clear = _phi_estimate(resampled, columns), wide.low > 0 or wide.high < 0
        correlations.append(Correlation(names[first], names[second], phi, clear, int(both.sum()), genres))
    return correlations


def _phi_estimate(resampled: Replicates, columns: Floats, *, confidence: float = 0.95) -> Estimate:
    """Phi with its interval; without one if too few pairs are expected to have both categories."""
    phi = jackknifed(resampled, undefined=_UNDEFINED, best="they hold of the same pairs", confidence=confidence)
    n, first, second, _ = columns.sum(axis=0)
    expected = first * second / max(n, 1)
    if not phi.known or expected >= _FEWEST:
        return phi
    note = f"{expected:.1f} pairs expected with both, fewer than {_FEWEST}: no interval"
    return replace(phi, low=nan, high=nan, method="", note=note)


def _phi(sums: Floats) -> Floats:
    """Phi from rows of n and the sums of the first column, the second and their product; NaN if one is constant."""
    n, first, second, both = sums.T
    spread = first * (n - first) * second * (n - second)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(spread > 0, (n * both - first * second) / np.sqrt(np.maximum(spread, 0)), nan)


def _pair_digests(suite: Suite) -> npt.NDArray[np.uint64]:
    texts = suite.frame.select(pl.col("premise", "hypothesis").str.strip_chars()).collect()
    return digests(texts["premise"], texts["hypothesis"])


def _published_statistics(suite: Suite, result: TaxonomyResult) -> tuple[PublishedStatistic, ...]:
    """The paper's statistics with those of these pairs; empty unless they are all of the paper's pairs."""
    table = packaged_table("published/taxonomy.tsv").filter(pl.col("suite") == PUBLISHED)
    whole = float(table.row(by_predicate=pl.col("by") == "statistic=pairs", named=True)["value"])
    if suite.name != "taxinli" or suite.card.rows != whole:
        return ()
    numbers = comparable_numbers(result)
    rows = table.select("by", pl.col("value").cast(pl.Float64), "source", "note").iter_rows()
    return tuple(PublishedStatistic(by, value, source, note, numbers.get(by)) for by, value, source, note in rows)


STRONGEST = 6
"""Number of correlations shown of each sign."""


def document(result: TaxonomyResult) -> Document:
    """A document of categories, correlations, genres and neutral pairs of a set, next to the paper's numbers."""
    labels = ", ".join(f"{count:,} {label}" for label, count in result.labels.items())
    mean = f"{result.per_pair.value:.2f} categories per pair" if result.per_pair.known else "no categories"
    return Document(
        title="acidtest taxonomy",
        headline=f"{result.name}: {describe_count(result.pairs, 'pair')} ({labels}), {mean}.",
        parts=tuple(_sections(result)),
        signatures={result.name: result.signature},
        methods=(
            "Phi is the correlation of two columns of 0 and 1. Pairs of one premise are one group. Clear correlations "
            "are those whose interval leaves 0 out at Bonferroni's level for all pairs of categories.",
        ),
    )


def _sections(result: TaxonomyResult) -> Iterator[Section]:
    notes = [Note(text[:1].upper() + text[1:].removesuffix(".") + ".") for text in _facts(result)]
    yield Section("Categories", (*notes, *_category_parts(result)))
    if result.correlations:
        yield Section("Correlations", tuple(_correlation_parts(result)))
    if result.genres:
        genres = describe_count(len(result.genres), "genre")
        yield Section("Genres", (_genre_table(result),), folded=True, summary=genres)
    if result.features:
        chart = Chart("neutral pairs", columns=("share",), axis="share of neutral pairs")
        yield Section("Neutral pairs", (_neutral_table(result), chart))
    if result.published:
        yield Section("Beside Joshi et al. (2020)", tuple(_published_tables(result)))
    rows = tuple(Row(name, (definition(name) or "A category of this file's own.",)) for name in result.categories)
    table = Table("definitions", "", (Column("definition", "text"),), rows, "category")
    definitions = describe_count(len(rows), "category definition")
    yield Section("Definitions", (table,), folded=True, summary=definitions)


def _facts(result: TaxonomyResult) -> Iterator[str]:
    """Sentences on categories per pair, cautions, the annotators' own labels, and overlaps with other files."""
    mean = result.per_pair
    interval = f" ({mean.low:.2f}–{mean.high:.2f})" if mean.low == mean.low else ""
    none, one, two = (result.distribution.get(number, 0) for number in range(3))
    have = f"{describe_count(none, 'pair')} {'has' if none == 1 else 'have'}"
    numbers = f"{have} none, {one:,} one, {two:,} two, {result.pairs - none - one - two:,} more"
    yield f"{f'{mean.value:.2f}' if mean.known else '–'}{interval} categories per pair; {numbers}"
    yield from result.notes
    if result.inference:
        judged = ""
        if result.judged and result.judged.known and result.judged.n < result.inference.n:
            judged = f", without neutral pairs in {_describe_share(result.judged)}"
        yield f"The annotators' own label is gold in {_describe_share(result.inference)}{judged}"
    for name, count in result.overlaps.items():
        yield f"{count:,} of {result.pairs:,} pairs are in {name}, too"


def _describe_share(share: Estimate) -> str:
    interval = f" ({share.low * 100:.1f}–{share.high * 100:.1f})" if share.low == share.low else ""
    return f"{share.value * 100:.1f} %{interval}"


def _category_parts(result: TaxonomyResult) -> Iterator[Part]:
    columns = [Column("pairs", "count"), Column("% of all")]
    columns += [Column(label, "count") for label in (*result.labels, "alone")]
    rows = tuple(
        Row(name, (counts.pairs, counts.share, *counts.labels.values(), counts.alone), heading=_heading(name))
        for name, counts in result.categories.items()
    )
    caption = "Pairs of each category, of each label, and without another category (figure 3); a pair may have several"
    yield Table("categories", caption, tuple(columns), rows, "category")
    yield Chart("categories", "stack", tuple(result.labels), axis="pairs of each category, by label")
    numbers = tuple(Row(str(number), (count,)) for number, count in result.distribution.items())
    yield Table("distribution", "Pairs by number of categories", (Column("pairs", "count"),), numbers, "number")


def _correlation_parts(result: TaxonomyResult) -> Iterator[Part]:
    """The strongest correlations that are clear of 0, positive ones first, and the matrix of all, as in figure 4."""
    clear = sorted((pair for pair in result.correlations if pair.clear), key=lambda pair: -pair.phi.value)
    strongest = [pair for pair in clear if pair.phi.value > 0][:STRONGEST]
    strongest += [pair for pair in clear if pair.phi.value < 0][-STRONGEST:]
    if strongest:
        columns = [Column("phi", "number"), Column("both", "count")]
        columns += [Column("mostly from", "text")] if result.genres else []
        rows = []
        for pair in strongest:
            genres = [f"{genre} {count / pair.both * 100:.1f} %" for genre, count in pair.genres.items() if pair.both]
            cells = (pair.phi, pair.both, ", ".join(genres[:2]))
            rows.append(Row(f"{pair.first} – {pair.second}", cells[: len(columns)]))
        caption = "Categories that go together or exclude each other, clear of 0 among all pairs of categories"
        yield Table("strongest correlations", caption, tuple(columns), tuple(rows), "categories")
    if len(clear) > len(strongest):
        yield Note(f"And {len(clear) - len(strongest):,} more; --json and the page (-o) have all.", quiet=True)
    phi = {(pair.first, pair.second): pair.phi for pair in result.correlations}
    phi |= {(pair.second, pair.first): pair.phi for pair in result.correlations}
    names = list(result.categories)
    matrix = tuple(Row(name, tuple(phi.get((name, other)) for other in names)) for name in names)
    caption = "Phi of every two categories (figure 4)"
    parts: list[Part] = [
        Chart("correlations", "shades", title=caption, reference=Reference(0.0, "unrelated")),
        Table("correlations", caption, tuple(Column(name, "number") for name in names), matrix, "category"),
    ]
    if clear:
        pairs = (f"{pair.first} – {pair.second}" for pair in result.correlations if pair.clear)
        parts.append(Note(f"Clear of 0: {', '.join(pairs)}.", quiet=True))
    summary = f"phi of {len(result.correlations):,} pairs of categories, {len(clear):,} of them clear of 0"
    yield Section("All correlations", tuple(parts), folded=True, summary=summary)


def _genre_table(result: TaxonomyResult) -> Table:
    columns = [Column(f"all ({result.pairs:,})", role="total")]
    columns += [Column(f"{genre} ({count:,})") for genre, count in result.genres.items()]
    rows = tuple(
        Row(name, (counts.share, *(counts.genres.get(genre) for genre in result.genres)))
        for name, counts in result.categories.items()
    )
    caption = "Share of each genre's pairs that have a category, %, with 95 % intervals; in brackets the pairs"
    return Table("genres", caption, tuple(columns), rows, "category")


def _neutral_table(result: TaxonomyResult) -> Table:
    rows = tuple(
        Row(name.replace("_", " "), (round(share.value * share.n) if share.known else None, share.n, share))
        for name, share in result.features.items()
    )
    columns = (Column("pairs", "count"), Column("of neutral pairs", "count"), Column("share"))
    caption = "What premise and hypothesis of neutral pairs have in common, % with 95 % intervals (table 2)"
    return Table("neutral pairs", caption, columns, rows)


def _published_tables(result: TaxonomyResult) -> Iterator[Table]:
    """Tables of the paper's counts, means and shares, next to ours."""
    rows: dict[Unit, list[Row]] = {"count": [], "number": [], "percent": []}
    for number in result.published:
        is_share = "accuracy" in number.by or "statistic=share" in number.by
        is_mean = "per pair" in number.by or "per genre" in number.by
        statistic, *slices = (part.partition("=")[2] for part in number.by.split("&"))
        name = statistic.replace("_", " ") if statistic in NEUTRAL_FEATURES else statistic
        cells = (number.here, Published(number.value), number.source.rpartition(", ")[2], number.note)
        rows["percent" if is_share else "number" if is_mean else "count"].append(Row(", ".join([name, *slices]), cells))
    texts = (Column("source", "text"), Column("note", "text"))
    for unit, title in zip(rows, ("Counts", "Means", "Shares, %"), strict=True):
        columns = (Column("here", unit), Column("published", unit, role="published"), *texts)
        yield Table(f"published {title.lower()}", title, columns, tuple(rows[unit]), "number")


def definition(name: str) -> str:
    """The definition of a category, or of the rule that proposes it; empty for a user's own category."""
    rule = rule_descriptions().get(name.removeprefix(PREFIX)) if name.startswith(PREFIX) else None
    if rule:
        return f"Proposed by rules: {rule}"
    try:
        return node(name).definition
    except UnknownNameError:
        return ""


def _heading(name: str) -> str:
    """The groups of the taxonomy that contain a category, outermost first; empty for a user's own category."""
    try:
        return " › ".join(path(name))
    except UnknownNameError:
        return ""


def taxonomy_document(nodes: Sequence[Node]) -> Document:
    """A document of all given nodes with definitions, or of a single node with examples."""
    if len(nodes) == 1:
        return _node_document(nodes[0])
    rows = tuple(
        Row(
            place.title if place.kind == "group" else place.name,
            (_describe_node(place),),
            heading=" › ".join(path(place.name)),
            role="total" if place.kind == "group" else "",
        )
        for place in nodes
    )
    annotated = sum(place.kind == "category" and place.annotated for place in nodes)
    return Document(
        title="acidtest taxonomy",
        headline=f"The taxonomy of Joshi et al. (2020): {annotated} annotated categories of reasoning.",
        parts=(
            Table("taxonomy", "", (Column("definition", "text"),), rows, "category"),
            Note("acidtest taxonomy NAME shows one of them with examples.", quiet=True),
        ),
    )


def _node_document(place: Node) -> Document:
    """A document of one node: its definition, its examples, and similar categories of other schemes."""
    column = f"column {place.column} of the published file" if place.column else ""
    where = " · ".join(filter(None, (" › ".join(path(place.name)), column)))
    parts: list[Part] = [Note(where, quiet=True)] if where else []
    parts.append(Note(_describe_node(place)))
    inner = members(place.name)
    parts += [Note(f"Contains: {', '.join(member.name for member in inner)}.")] if inner else []
    if place.examples:
        columns = tuple(Column(name, "text") for name in ("premise", "hypothesis", "label", "categories"))
        rows = []
        for number, example in enumerate(place.examples, 1):
            categories = ", ".join([place.name if example.marked else f"not {place.name}", *example.also])
            rows.append(Row(str(number), (example.premise, example.hypothesis, example.label, categories)))
        parts.append(Table("examples", "Examples", columns, tuple(rows)))
    if place.other_names:
        columns = tuple(Column(name, "text") for name in ("scheme", "levels", "note"))
        rows = [Row(other.name, (other.scheme, ", ".join(other.levels), other.note)) for other in place.other_names]
        caption = "Similar categories elsewhere (appendix A, table 4; which category is similar is our reading)"
        parts.append(Table("other schemes", caption, columns, tuple(rows), "category"))
    return Document("acidtest taxonomy", f"{place.title}.", tuple(parts))


def _describe_node(place: Node) -> str:
    return place.definition if place.annotated else f"{place.definition} Defined, not annotated."
