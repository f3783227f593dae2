"""What an annotated set of pairs is made of (Joshi et al. 2020, section 3.2): its categories by label and genre."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from math import nan
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.digests import digests
from acidtest.core.errors import AcidtestError, UnknownNameError
from acidtest.core.estimate import Estimate
from acidtest.core.labels import LABELS
from acidtest.core.suite import Suite
from acidtest.io.wordlists import packaged_table
from acidtest.stats.intervals import rate
from acidtest.stats.jackknife import Replicates, group_sums, jackknifed, replicates
from acidtest.studies.tags import proposal_caution
from acidtest.text.taxonomy import NEUTRAL_FEATURES, is_overlap, node, path
from acidtest.text.taxonomy import Node as Node
from acidtest.text.taxonomy_tags import PREFIX, looked_for

Flags = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]

PUBLISHED = "taxinli statistics"
"""What the paper's numbers about its data set are kept under."""

_UNDEFINED = "one of the two holds of no pair, or of every pair"
_FEWEST = 5
_KEPT = ("label", "group", "genre", "annotated_label", *NEUTRAL_FEATURES)


@dataclass(frozen=True)
class CategoryCounts:
    """The pairs of one category: how many, of which labels, and what share of each genre's pairs."""

    name: str
    pairs: int
    alone: int
    """Pairs that have no other category."""
    share: Estimate
    labels: Mapping[str, int]
    genres: Mapping[str, Estimate]


@dataclass(frozen=True)
class Correlation:
    """How far two categories go together: phi, the correlation of two columns of 0 and 1."""

    first: str
    second: str
    phi: Estimate
    clear: bool
    """Whether phi is told from 0 even if all pairs of categories are looked at: Bonferroni's interval leaves 0 out."""
    both: int
    genres: Mapping[str, int]
    """Pairs that have both, by genre."""


@dataclass(frozen=True)
class PublishedNumber:
    """A number of the paper about its data set, and what is to be said of it."""

    by: str
    value: float
    source: str
    note: str


@dataclass(frozen=True)
class TaxonomyStatistics:
    """The statistics of an annotated set of pairs."""

    name: str
    signature: str
    labels: Mapping[str, int]
    genres: Mapping[str, int]
    categories: tuple[CategoryCounts, ...]
    correlations: tuple[Correlation, ...]
    per_pair: Estimate
    """Categories per pair."""
    distribution: Mapping[int, int]
    """How many pairs have no category, one, two and so on."""
    features: Mapping[str, Estimate]
    """The share of neutral pairs of the same topic, subject and object, where that was asked."""
    inference: Estimate | None = None
    """How often the annotators' own label is gold; None where the file does not tell theirs."""
    judged: Estimate | None = None
    """The same on pairs that are not neutral: of those that are, annotators were told so."""
    overlaps: Mapping[str, int] = field(default_factory=dict)
    """How many pairs stand in other files, too."""
    published: tuple[PublishedNumber, ...] = ()
    """The paper's numbers, where these are its pairs."""
    developed: int | None = None
    """Pairs that are in the released overlap with MultiNLI's development sets; None where it was not looked through."""
    notes: tuple[str, ...] = ()

    @property
    def pairs(self) -> int:
        """How many pairs there are."""
        return sum(self.labels.values())

    @cached_property
    def numbers(self) -> dict[str, float]:
        """What the paper tells of its own data, under the same names."""
        found: dict[str, float] = {"statistic=pairs": self.pairs, "statistic=categories per pair": self.per_pair.value}
        found |= {f"statistic=pairs&label={label}": count for label, count in self.labels.items()}
        if self.genres:
            found["statistic=pairs per genre"] = sum(self.genres.values()) / len(self.genres)
        found |= {f"statistic={name}": round(one.value * one.n) for name, one in self.features.items() if one.known}
        for each in self.categories:
            counts = each.labels.items()
            found |= {f"statistic=pairs&category={each.name}&label={label}": count for label, count in counts}
        for pair in self.correlations:
            named = f"statistic=share&category={pair.first} and {pair.second}&genre="
            found |= {f"{named}{genre}": count / pair.both for genre, count in pair.genres.items()}
        if self.developed is not None:
            found["statistic=overlap&part=development"] = self.developed
            found["statistic=overlap&part=train"] = self.pairs - self.developed
        return found | ({"statistic=inference accuracy": self.inference.value} if self.inference else {})

    def to_json(self) -> dict[str, Any]:
        """Everything, as --json prints it."""
        return {
            "name": self.name,
            "signature": self.signature,
            "pairs": self.pairs,
            "labels": dict(self.labels),
            "genres": dict(self.genres),
            "categories_per_pair": self.per_pair.to_json(),
            "distribution": {str(number): count for number, count in self.distribution.items()},
            "categories": {
                each.name: {
                    "pairs": each.pairs,
                    "alone": each.alone,
                    "share": each.share.to_json(),
                    "labels": dict(each.labels),
                    "genres": {genre: one.to_json() for genre, one in each.genres.items()},
                }
                for each in self.categories
            },
            "correlations": [
                {
                    "first": each.first,
                    "second": each.second,
                    "phi": each.phi.to_json(),
                    "clear": each.clear,
                    "both": each.both,
                    "genres": dict(each.genres),
                }
                for each in self.correlations
            ],
            "neutral": {name: one.to_json() for name, one in self.features.items()},
            "inference": self.inference and self.inference.to_json(),
            "inference_but_neutral": self.judged and self.judged.to_json(),
            "overlaps": dict(self.overlaps),
            "notes": list(self.notes),
            "published": [{**vars(each), "own": self.numbers.get(each.by)} for each in self.published],
        }


def definition(name: str) -> str:
    """What a category means, or of a proposed one what rules look for; nothing for one of a user's own."""
    told = looked_for().get(name.removeprefix(PREFIX)) if name.startswith(PREFIX) else None
    if told:
        return f"Proposed by rules: {told}"
    try:
        return node(name).definition
    except UnknownNameError:
        return ""


def heading(name: str) -> str:
    """The groups of the taxonomy that a category belongs to; nothing for one of a user's own."""
    try:
        return " › ".join(path(name))
    except UnknownNameError:
        return ""


def taxonomy_statistics(suite: Suite, *, others: Mapping[str, Suite] | None = None) -> TaxonomyStatistics:
    """The statistics of a suite with categories; ``others`` are looked through for the same pairs."""
    names = suite.card.categories
    if not names:
        raise AcidtestError(f"{suite.name!r} has no categories; make a suite of them with: acidtest generate taxonomy")
    schema = suite.frame.collect_schema()
    rows = suite.frame.select(*names, *(name for name in _KEPT if name in schema)).collect()
    marks = rows.select(names).fill_null(False).to_numpy().astype(np.bool_)
    groups = rows["group"].rank("dense").to_numpy()
    count = marks.sum(axis=1)
    found = _overlaps(suite, others or {})
    return TaxonomyStatistics(
        name=suite.name,
        signature=suite.card.signature,
        labels=_counted(rows["label"], LABELS),
        genres=_counted(rows["genre"]) if "genre" in rows else {},
        categories=tuple(_category(rows, name, marks[:, at], count, groups) for at, name in enumerate(names)),
        correlations=tuple(_correlations(rows, names, marks, groups)),
        per_pair=_mean_count(count, len(names), groups),
        distribution={number: int((count == number).sum()) for number in range(int(count.max(initial=0)) + 1)},
        features={name: _feature(rows, name) for name in NEUTRAL_FEATURES if name in rows},
        inference=_inference(rows) if "annotated_label" in rows else None,
        judged=_inference(rows.filter(pl.col("label") != "neutral")) if "annotated_label" in rows else None,
        overlaps=found,
        published=_published(suite),
        developed=next((found[name] for name, other in (others or {}).items() if is_overlap(other.card.columns)), None),
        notes=tuple(filter(None, [proposal_caution(names)])),
    )


def _mean_count(count: npt.NDArray[np.int_], most: int, groups: npt.NDArray[np.generic]) -> Estimate:
    """The mean of counts that can be 0 to ``most``: its interval stays within that, as the share's of ``most`` does."""
    share = rate(count / most, groups=groups)
    return replace(share, value=share.value * most, low=share.low * most, high=share.high * most)


def _counted(column: pl.Series, first: tuple[str, ...] = ()) -> dict[str, int]:
    """How often each value occurs: those of ``first`` in their order, then the most frequent."""
    counts = dict(column.drop_nulls().value_counts().sort("count", column.name, descending=[True, False]).iter_rows())
    order = [*(name for name in first if name in counts), *(name for name in counts if name not in first)]
    return {str(name): int(counts[name]) for name in order}


def _category(
    rows: pl.DataFrame, name: str, holds: Flags, count: npt.NDArray[np.int_], groups: npt.NDArray[np.generic]
) -> CategoryCounts:
    genres = {}
    if "genre" in rows:
        codes = rows["genre"].fill_null("").to_numpy()
        own = {genre: codes == genre for genre in _counted(rows["genre"])}
        genres = {genre: rate(holds[chosen], groups=groups[chosen]) for genre, chosen in own.items()}
    return CategoryCounts(
        name=name,
        pairs=int(holds.sum()),
        alone=int((holds & (count == 1)).sum()),
        share=rate(holds, groups=groups),
        labels=dict.fromkeys(_counted(rows["label"], LABELS), 0) | _counted(rows["label"].filter(holds), LABELS),
        genres=genres,
    )


def _correlations(
    rows: pl.DataFrame, names: tuple[str, ...], marks: Flags, groups: npt.NDArray[np.generic]
) -> list[Correlation]:
    found = []
    pairs = list(combinations(range(len(names)), 2))
    for first, second in pairs:
        both = marks[:, first] & marks[:, second]
        columns = np.stack([np.ones(len(marks)), marks[:, first], marks[:, second], both], axis=1)
        told = replicates(group_sums(columns, groups), _phi, rows=len(marks))
        wide = _phi_estimate(told, columns, confidence=1 - 0.05 / len(pairs))
        genres = _counted(rows["genre"].filter(both)) if "genre" in rows else {}
        phi, clear = _phi_estimate(told, columns), wide.low > 0 or wide.high < 0
        found.append(Correlation(names[first], names[second], phi, clear, int(both.sum()), genres))
    return found


def _phi_estimate(told: Replicates, columns: Floats, *, confidence: float = 0.95) -> Estimate:
    """Phi with its interval; none where so few pairs are expected to have both that what was seen may be chance."""
    phi = jackknifed(told, undefined=_UNDEFINED, best="they hold of the same pairs", confidence=confidence)
    n, first, second, _ = columns.sum(axis=0)
    expected = first * second / max(n, 1)
    if not phi.known or expected >= _FEWEST:
        return phi
    note = f"{expected:.1f} pairs expected with both, fewer than {_FEWEST}: no interval"
    return replace(phi, low=nan, high=nan, method="", note=note)


def _phi(sums: Floats) -> Floats:
    """The correlation of two columns of 0 and 1, given rows of their number and sums; NaN where one is constant."""
    n, first, second, both = sums.T
    spread = first * (n - first) * second * (n - second)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(spread > 0, (n * both - first * second) / np.sqrt(np.maximum(spread, 0)), nan)


def _feature(rows: pl.DataFrame, name: str) -> Estimate:
    asked = rows.filter((pl.col("label") == "neutral") & pl.col(name).is_not_null())
    if not asked.height:
        return Estimate(nan, note="asked of no neutral pair")
    return rate((asked[name] == "yes").to_numpy(), groups=asked["group"].rank("dense").to_numpy())


def _inference(rows: pl.DataFrame) -> Estimate:
    """A pair without a label of the annotators counts as wrong."""
    if not rows.height:
        return Estimate(nan, note="no such pair")
    right = rows.select((pl.col("annotated_label") == pl.col("label")).fill_null(False)).to_series()
    return rate(right.to_numpy(), groups=rows["group"].rank("dense").to_numpy())


def _overlaps(suite: Suite, others: Mapping[str, Suite]) -> dict[str, int]:
    if not others:
        return {}
    own = _pairs(suite)
    return {name: int(np.isin(own, _pairs(other)).sum()) for name, other in others.items()}


def _pairs(suite: Suite) -> npt.NDArray[np.uint64]:
    texts = suite.frame.select(pl.col("premise", "hypothesis").str.strip_chars()).collect()
    return digests(texts["premise"], texts["hypothesis"])


def _published(suite: Suite) -> tuple[PublishedNumber, ...]:
    """The paper's numbers, where the pairs are all of its own."""
    table = packaged_table("published/taxonomy.tsv").filter(pl.col("suite") == PUBLISHED)
    whole = float(table.row(by_predicate=pl.col("by") == "statistic=pairs", named=True)["value"])
    if suite.name != "taxinli" or suite.card.rows != whole:
        return ()
    rows = table.select("by", pl.col("value").cast(pl.Float64), "source", "note").iter_rows()
    return tuple(PublishedNumber(*row) for row in rows)
