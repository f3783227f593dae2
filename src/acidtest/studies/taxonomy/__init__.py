"""Statistics of an annotated set of pairs (Joshi et al. 2020, section 3.2): categories by label and genre."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import nan
from typing import Annotated

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.digests import digests
from acidtest.core.errors import AcidtestError
from acidtest.core.estimate import Estimate
from acidtest.core.labels import LABELS
from acidtest.core.study import study
from acidtest.core.suite import Suite
from acidtest.io.wordlists import packaged_table
from acidtest.pairs.category_rules import proposal_caution
from acidtest.pairs.taxonomy import NEUTRAL_FEATURES, is_overlap
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
