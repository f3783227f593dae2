"""What is measured of every pair, and how it differs between labels: length, overlap, negation, phenomena."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy.special import chdtrc

from acidtest.core.estimate import Estimate
from acidtest.studies.audit.batches import GOLD, Codes, Flags, Floats, PairBatch, PremiseSample
from acidtest.text.cues import amounts_in, negations, unequal
from acidtest.text.misspelling import function_words
from acidtest.text.tokens import number_distinct
from acidtest.text.word_relations import Meanings, antonym_pairs
from acidtest.text.wordnet import wordnet

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    BooleanTable = csr_array[np.bool_, tuple[int, int]]

LENGTHS = ("premise_length", "hypothesis_length")
OVERLAP = "overlap"
NEGATIONS = ("premise_negation", "hypothesis_negation")
BIASES = (*LENGTHS, OVERLAP, *NEGATIONS)
"""Measures that are tested for differences between labels."""
PHENOMENA = {
    "antonyms": "antonyms of WordNet, one in each sentence and neither in both",
    "negation_in_one": "a negation word in one sentence only",
    "unequal_amounts": "numbers or quantifiers to be compared that are not the same",
    "numbers": "a number or quantifier in either sentence",
    "quantifiers": "a quantifier in either sentence: all, some, many, half",
    "no_new_word": "every word of the hypothesis is in the premise",
    "longer_hypothesis": "the hypothesis has more words than the premise",
    "synonyms": "synonyms of WordNet, one in each sentence",
    "hypernyms": "a more general word in the hypothesis than in the premise: dog, animal",
    "hyponyms": "a more special word in the hypothesis than in the premise: animal, dog",
    "cohyponyms": "two things of one kind, one in each sentence, and nothing closer: dog, cat",
}
MEASURES = (*BIASES, *PHENOMENA)

FEW_GROUPS = 30

_Z = 1.959963984540054


@dataclass(frozen=True)
class LabelTest:
    """A score test of equal means; NaN with a note where there is nothing to test."""

    statistic: float
    p: float
    note: str = ""


@dataclass(frozen=True)
class MeasureByLabel:
    """The mean of a measure for every label, and whether the means differ.

    ``explained`` is the share of the measure's variance that the label explains (eta squared; for what is there or
    not, the square of Cramér's V); ``largest`` the difference between the highest and the lowest mean in standard
    deviations within labels. NaN where nothing varies. ``p`` is that of the score test over premises, ``p_adjusted``
    the same corrected for all tests of the audit.
    """

    means: Mapping[str, Estimate] = field(metadata={"json": "by_label"})
    explained: float
    largest: float = field(metadata={"json": "largest_difference"})
    p: float
    p_adjusted: float = math.nan
    note: str = ""


def measure_pairs(batch: PairBatch) -> pl.DataFrame:
    """The measures of each pair, a column each, as numbers; overlap is null for a hypothesis without words."""
    premises, hypotheses = (batch.frame[side].fill_null("") for side in ("premise", "hypothesis"))
    word_lists = pl.DataFrame({"premise": batch.premise_words, "hypothesis": batch.hypothesis_words.list.unique()})
    new = pl.col("hypothesis").list.set_difference("premise").list.len()
    size = pl.col("hypothesis").list.len()
    overlap = word_lists.select(pl.when(size > 0).then(1 - new / size).alias(OVERLAP)).to_series()
    negated = [negations(side).list.len() > 0 for side in (premises, hypotheses)]
    amounts = [amounts_in(side) for side in (premises, hypotheses)]
    opposed = np.zeros(batch.height, dtype=bool)
    opposed[antonym_pairs(premises, hypotheses).filter("opposed")["row"].to_numpy()] = True
    quantified = [side.list.eval(pl.element().str.contains(r"^\p{L}")).list.any() for side in amounts]
    columns = {
        "premise_length": batch.premise_words.list.len(),
        "hypothesis_length": batch.hypothesis_words.list.len(),
        OVERLAP: overlap,
        "premise_negation": negated[0],
        "hypothesis_negation": negated[1],
        "antonyms": pl.Series(opposed),
        "negation_in_one": negated[0] != negated[1],
        "unequal_amounts": unequal(*amounts),
        "numbers": (amounts[0].list.len() > 0) | (amounts[1].list.len() > 0),
        "quantifiers": quantified[0] | quantified[1],
        "no_new_word": overlap.fill_null(0.0) == 1,
        "longer_hypothesis": batch.hypothesis_words.list.len() > batch.premise_words.list.len(),
        **{name: pl.Series(flags) for name, flags in related_words(batch).items()},
    }
    return pl.DataFrame({name: columns[name].cast(pl.Float64) for name in MEASURES})


class MeasureSums:
    """Numbers, sums and sums of squares of measures by label, over any number of pairs."""

    def __init__(self, names: tuple[str, ...] = MEASURES) -> None:
        self.names = names
        self._sums = np.zeros((3, len(names), len(GOLD)))

    def add(self, batch: PairBatch, measures: pl.DataFrame) -> None:
        """Take the measures of some pairs; null does not count."""
        for number, name in enumerate(self.names):
            column = measures[name]
            known = column.is_not_null().to_numpy()
            values, labels = column.filter(pl.Series(known)).to_numpy(), batch.labels[known]
            for power in range(3):
                self._sums[power, number] += np.bincount(labels, values**power, minlength=len(GOLD))

    def count(self, name: str) -> dict[str, int]:
        """The sum of a measure for every label that occurs, as a whole number."""
        counts, sums, _ = self._sums[:, self.names.index(name)]
        return {label: round(float(sums[code])) for code, label in enumerate(GOLD) if counts[code]}

    def by_label(self, name: str, sample: PremiseSample) -> MeasureByLabel:
        """Means over all pairs; their intervals and the test allow for pairs of one premise, as the sample shows it."""
        counts, sums, squares = self._sums[:, self.names.index(name)]
        present = np.flatnonzero(counts)
        column = sample.frame[name] if name in sample.frame.columns else pl.Series(name, [], dtype=pl.Float64)
        known = column.is_not_null().to_numpy()
        values = column.fill_null(0.0).to_numpy()[known]
        labels, groups = sample.labels[known], np.unique(sample.premise_keys[known], return_inverse=True)[1]
        means = {}
        for code in present:
            chosen = labels == code
            effect = _design_effect(values[chosen], groups[chosen])
            premises = len(np.unique(groups[chosen]))
            means[GOLD[code]] = _mean(counts[code], sums[code], squares[code], effect, premises)
        explained, largest = _effect(counts[present], sums[present], squares[present])
        test = label_test(values, labels, groups.astype(np.int64))
        return MeasureByLabel(means, explained, largest, test.p, note=test.note)


def label_test(values: Floats, labels: Codes, groups: Codes) -> LabelTest:
    """Whether the mean of some values is the same for every label.

    What each group adds to the score is one draw, so rows of a group may resemble each other in values and labels as
    much as they like. The variance is that under the hypothesis tested, which keeps the test honest with few groups.
    """
    kinds, codes = np.unique(labels, return_inverse=True)
    count = int(groups.max()) + 1 if groups.size else 0
    if len(kinds) < 2:
        return LabelTest(math.nan, math.nan, "fewer than two labels")
    if count < FEW_GROUPS:
        return LabelTest(math.nan, math.nan, f"fewer than {FEW_GROUPS} premises")
    centred = values - values.mean()
    shares = np.bincount(codes) / len(codes)
    scores = np.zeros((count, len(kinds) - 1))
    for kind in range(len(kinds) - 1):
        scores[:, kind] = np.bincount(groups, ((codes == kind) - shares[kind]) * centred, count)
    return _chi_square_of_scores(scores)


def related_words(batch: PairBatch) -> dict[str, Flags]:
    """Whether each pair has words that WordNet relates, one in each sentence, for each relation.

    Only words that the other sentence has in no form count: what both have says nothing of the step from one to the
    other. Words mean what they most often mean, one sense in each part of speech; in some rare sense nearly any two
    common words are related.
    """
    lists = pl.concat([batch.premise_words, batch.hypothesis_words])
    kinds, numbers = number_distinct(lists.explode(empty_as_null=False, keep_nulls=False))
    rows = np.repeat(np.arange(len(lists)), lists.list.len().to_numpy())
    content = ~kinds.is_in(function_words()["word"].implode()).to_numpy()[numbers]
    both = _table(rows[content], numbers[content], (len(lists), len(kinds)))
    senses = wordnet().sense_frame(kinds).join(pl.DataFrame({"word": kinds}).with_row_index("number"), on="word")
    premise, hypothesis = _unshared_words(both[: batch.height], both[batch.height :], _base_forms(senses, len(kinds)))
    meanings = Meanings(senses.filter(pl.col("rank") == 0), len(kinds))
    premise_senses, hypothesis_senses = premise @ meanings.synsets, hypothesis @ meanings.synsets
    ancestors = meanings.synsets @ _ancestors()
    relations = {
        "synonyms": _share_column(premise_senses, hypothesis_senses),
        "hypernyms": _share_column(premise @ meanings.above, hypothesis_senses),
        "hyponyms": _share_column(premise_senses, hypothesis @ meanings.above),
    }
    closer = np.logical_or.reduce(list(relations.values()))
    return relations | {"cohyponyms": _share_column(premise @ ancestors, hypothesis @ ancestors) & ~closer}


def _chi_square_of_scores(scores: Floats) -> LabelTest:
    """The chi-square statistic of group scores whose mean is 0 if the labels do not differ."""
    variance = scores.T @ scores
    total = scores.sum(axis=0)
    scale = float(np.abs(variance).max())
    if scale < 1e-12:
        return LabelTest(0.0, 1.0)
    rank = int(np.linalg.matrix_rank(variance, tol=scale * 1e-10))
    statistic = float(total @ np.linalg.pinv(variance, rcond=1e-10) @ total)
    return LabelTest(statistic, float(chdtrc(rank, max(statistic, 0.0))))


def _mean(count: float, total: float, square: float, effect: float, groups: int) -> Estimate:
    value = total / count
    if count < 2 or groups < 2:
        return Estimate(value, n=int(count), groups=groups, note="one premise, so no interval")
    variance = max(square - count * value * value, 0.0) / (count - 1)
    reach = _Z * math.sqrt(variance * effect / count)
    return Estimate(value, value - reach, value + reach, int(count), groups, "normal, widened for shared premises")


def _design_effect(values: Floats, groups: npt.NDArray[np.intp]) -> float:
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


def _unshared_words(
    premise: BooleanTable, hypothesis: BooleanTable, bases: BooleanTable
) -> tuple[BooleanTable, BooleanTable]:
    """The words of each side that the other has in no form."""
    shared = (premise @ bases).multiply(hypothesis @ bases).tocsr() @ bases.T
    return _without(premise, shared), _without(hypothesis, shared)


def _without(table: BooleanTable, shared: BooleanTable) -> BooleanTable:
    kept = (table.astype(np.int8) - table.multiply(shared).astype(np.int8)).tocsr()
    kept.eliminate_zeros()
    return kept.astype(np.bool_)


def _base_forms(senses: pl.DataFrame, size: int) -> BooleanTable:
    lemmas, codes = number_distinct(senses["base"])
    return _table(senses["number"].to_numpy().astype(np.int64), codes, (size, len(lemmas)))


def _share_column(left: BooleanTable, right: BooleanTable) -> Flags:
    """Whether rows of two tables have a column in common."""
    shared: Flags = np.diff(left.multiply(right).tocsr().indptr) > 0
    return shared


@cache
def _ancestors() -> BooleanTable:
    """The synsets one or two steps above each synset."""
    size = wordnet().synset_table.height
    above = pl.concat([wordnet().relation(name) for name in ("hypernyms", "instance_hypernyms")])
    parents = _table(above["source"].to_numpy(), above["target"].to_numpy(), (size, size))
    return parents + parents @ parents


def _table(rows: Codes, columns: Codes, shape: tuple[int, int]) -> BooleanTable:
    from scipy.sparse import coo_array

    return coo_array((np.ones(len(rows), dtype=np.bool_), (rows, columns)), shape=shape).tocsr()
