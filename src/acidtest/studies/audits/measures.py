"""What is measured of every pair, and how it differs between labels: length, overlap, negation, phenomena."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from acidtest.core.estimate import Estimate
from acidtest.studies.audits.batches import GOLD, Batch, Floats
from acidtest.studies.audits.relations import RELATED, related
from acidtest.studies.audits.sampling import Sample
from acidtest.studies.audits.tests_by_label import LabelTest, label_test
from acidtest.text.antonym_pairs import antonym_pairs
from acidtest.text.cues import amounts_in, negations, unequal

LENGTHS = ("premise_length", "hypothesis_length")
OVERLAP = "overlap"
NEGATIONS = ("premise_negation", "hypothesis_negation")
PHENOMENA = {
    "antonyms": "antonyms of WordNet, one in each sentence and neither in both",
    "negation_in_one": "a negation word in one sentence only",
    "unequal_amounts": "numbers or quantifiers to be compared that are not the same",
    "numbers": "a number or quantifier in either sentence",
    "quantifiers": "a quantifier in either sentence: all, some, many, half",
    "no_new_word": "every word of the hypothesis is in the premise",
    "longer_hypothesis": "the hypothesis has more words than the premise",
    **RELATED,
}
MEASURES = (*LENGTHS, OVERLAP, *NEGATIONS, *PHENOMENA)

_Z = 1.959963984540054


@dataclass(frozen=True)
class ByLabel:
    """The mean of a measure for every label, and whether they differ.

    ``explained`` is the share of the measure's variance that the label explains (eta squared; for what is there or
    not, the square of Cramér's V); ``largest`` the difference between the highest and the lowest mean in standard
    deviations within labels. NaN where nothing varies.
    """

    means: Mapping[str, Estimate]
    explained: float
    largest: float
    test: LabelTest


def measured(batch: Batch) -> pl.DataFrame:
    """The measures of each pair, a column each, as numbers; overlap is null for a hypothesis without words."""
    premises, hypotheses = (batch.frame[side].fill_null("") for side in ("premise", "hypothesis"))
    lists = pl.DataFrame({"premise": batch.premise_words, "hypothesis": batch.hypothesis_words.list.unique()})
    new = pl.col("hypothesis").list.set_difference("premise").list.len()
    size = pl.col("hypothesis").list.len()
    shared = lists.select(pl.when(size > 0).then(1 - new / size).alias(OVERLAP)).to_series()
    negated = [negations(side).list.len() > 0 for side in (premises, hypotheses)]
    amounts = [amounts_in(side) for side in (premises, hypotheses)]
    opposed = np.zeros(batch.height, dtype=bool)
    opposed[antonym_pairs(premises, hypotheses).filter("opposed")["row"].to_numpy()] = True
    quantified = [side.list.eval(pl.element().str.contains(r"^\p{L}")).list.any() for side in amounts]
    columns = {
        "premise_length": batch.premise_words.list.len(),
        "hypothesis_length": batch.hypothesis_words.list.len(),
        OVERLAP: shared,
        "premise_negation": negated[0],
        "hypothesis_negation": negated[1],
        "antonyms": pl.Series(opposed),
        "negation_in_one": negated[0] != negated[1],
        "unequal_amounts": unequal(*amounts),
        "numbers": (amounts[0].list.len() > 0) | (amounts[1].list.len() > 0),
        "quantifiers": quantified[0] | quantified[1],
        "no_new_word": shared.fill_null(0.0) == 1,
        "longer_hypothesis": batch.hypothesis_words.list.len() > batch.premise_words.list.len(),
        **{name: pl.Series(flags) for name, flags in related(batch).items()},
    }
    return pl.DataFrame({name: columns[name].cast(pl.Float64) for name in MEASURES})


class Sums:
    """Numbers, sums and sums of squares of measures by label, over any number of pairs."""

    def __init__(self, names: tuple[str, ...] = MEASURES) -> None:
        self.names = names
        self._sums = np.zeros((3, len(names), len(GOLD)))

    def add(self, batch: Batch, values: pl.DataFrame) -> None:
        """Take the measures of some pairs; null does not count."""
        for number, name in enumerate(self.names):
            column = values[name]
            there = column.is_not_null().to_numpy()
            numbers, labels = column.filter(pl.Series(there)).to_numpy(), batch.labels[there]
            for power in range(3):
                self._sums[power, number] += np.bincount(labels, numbers**power, minlength=len(GOLD))

    def count(self, name: str) -> dict[str, int]:
        """The sum of a measure for every label that occurs, as a whole number."""
        number, total = self.names.index(name), self._sums[:, self.names.index(name)]
        return {label: round(float(self._sums[1, number, code])) for code, label in enumerate(GOLD) if total[0, code]}

    def by_label(self, name: str, sample: Sample) -> ByLabel:
        """Means over all pairs; their intervals and the test allow for pairs of one premise, as the sample shows it."""
        counts, sums, squares = self._sums[:, self.names.index(name)]
        there = np.flatnonzero(counts)
        column = sample.frame[name] if name in sample.frame.columns else pl.Series(name, [], dtype=pl.Float64)
        known = column.is_not_null().to_numpy()
        values = column.fill_null(0.0).to_numpy()[known]
        labels, groups = sample.labels[known], np.unique(sample.premise_keys[known], return_inverse=True)[1]
        means = {}
        for code in there:
            own = labels == code
            effect = _design_effect(values[own], groups[own])
            means[GOLD[code]] = _mean(counts[code], sums[code], squares[code], effect, len(np.unique(groups[own])))
        explained, largest = _effect(counts[there], sums[there], squares[there])
        return ByLabel(means, explained, largest, label_test(values, labels, groups.astype(np.int64)))


def _mean(count: float, total: float, square: float, effect: float, groups: int) -> Estimate:
    value = total / count
    if count < 2 or groups < 2:
        return Estimate(value, n=int(count), groups=groups, note="one premise, so no interval")
    variance = max(square - count * value * value, 0.0) / (count - 1)
    reach = _Z * math.sqrt(variance * effect / count)
    return Estimate(value, value - reach, value + reach, int(count), groups, "normal, widened for shared premises")


def _design_effect(values: Floats, groups: np.ndarray[tuple[int, ...], np.dtype[np.intp]]) -> float:
    """How many times larger the variance of a mean is than if rows were independent; never taken below 1."""
    if len(values) < 2:
        return 1.0
    centred = values - values.mean()
    rows, clusters = float(centred @ centred), np.bincount(groups, centred)
    return max(1.0, float(clusters @ clusters) / rows) if rows > 0 else 1.0


def _effect(counts: Floats, sums: Floats, squares: Floats) -> tuple[float, float]:
    """Eta squared, and the largest standardised difference."""
    if len(counts) < 2:
        return math.nan, math.nan
    means, n = sums / counts, counts.sum()
    total = float(squares.sum() - sums.sum() ** 2 / n)
    between = float((counts * (means - sums.sum() / n) ** 2).sum())
    within = (total - between) / max(n - len(counts), 1)
    if total <= 1e-9:
        return math.nan, math.nan
    return between / total, float(np.ptp(means) / math.sqrt(within)) if within > 1e-12 else math.nan
