"""Measures of every pair, their differences between labels, and the pairs that heuristics of HANS apply to."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from acidtest.core.estimate import Estimate
from acidtest.core.labels import GOLD_MASKS
from acidtest.english.misspelling import function_words
from acidtest.english.tokens import number_distinct
from acidtest.english.wordnet import wordnet
from acidtest.pairs.cues import amounts_in, negations, unequal
from acidtest.pairs.heuristics import HEURISTICS, heuristics
from acidtest.pairs.word_relations import Meanings, antonym_pairs, sparse_sets
from acidtest.stats.bootstrap import Interval
from acidtest.stats.intervals import clopper_pearson, wilson
from acidtest.studies.scoring.pair_batches import GOLD, Codes, Flags, Floats, PairBatch, PremiseSample

if TYPE_CHECKING:
    from acidtest.pairs.word_relations import Sets

LENGTHS = ("premise_length", "hypothesis_length")
OVERLAP = "overlap"
NEGATIONS = ("premise_negation", "hypothesis_negation")
BIASES = (*LENGTHS, OVERLAP, *NEGATIONS)
"""Measures tested for differences between labels."""
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
MEASURES = (*BIASES, *PHENOMENA, *HEURISTICS)

FEW_GROUPS = 30
MOST_GENRES = 100
"""A column with more different values than this is not treated as genres."""

_Z = 1.959963984540054


@dataclass(frozen=True)
class MeasureByLabel:
    """The mean of a measure for every label, and whether the means differ.

    ``explained`` is the share of the measure's variance that the label explains (eta squared; for a measure of 0 and 1,
    the square of Cramér's V); ``largest`` is the difference between the highest and the lowest mean in standard
    deviations within labels. Both are NaN for a constant measure. ``p`` is from the score test over premises,
    ``p_adjusted`` the same corrected for all tests of the audit.
    """

    means: Mapping[str, Estimate] = field(metadata={"json": "by_label"})
    explained: float
    largest: float = field(metadata={"json": "largest_difference"})
    p: float
    p_adjusted: float = math.nan
    note: str = ""


@dataclass(frozen=True)
class Balance:
    """Counts of pairs by label, and by genre and label; ``p`` is from Pearson's chi-square test of genre by label."""

    labels: Mapping[str, int]
    genres: Mapping[str, Mapping[str, int]]
    genre_column: str | None
    cramers_v: float
    p: float = field(default=math.nan, metadata={"json": None})


@dataclass(frozen=True)
class Support:
    """Counts of the pairs a heuristic applies to: gold entailment supports it, gold without entailment contradicts it.

    ``unknown`` counts the pairs where only a missing parse could tell whether it applies.
    """

    support: int
    contradict: int
    unknown: int = 0

    @property
    def share(self) -> Estimate:
        """Share of supporting pairs among those that support or contradict the heuristic."""
        return counted_share(self.support, self.support + self.contradict)


MNLI = {"lexical_overlap": Support(2158, 261), "subsequence": Support(1274, 72), "constituent": Support(1004, 58)}
"""Counts for MultiNLI's training set from McCoy et al. (2019), section 2."""


def counted_share(count: int, n: int) -> Estimate:
    """``count / n`` with Wilson's interval, or Clopper and Pearson's if the share is 0 or 1; NaN if ``n`` is 0."""
    if not n:
        return Estimate(math.nan, note="no pairs")
    interval = (clopper_pearson if count in (0, n) else wilson)(count, n)
    return Estimate(count / n, interval.low, interval.high, n, n, interval.method)


def measure_pairs(batch: PairBatch, *, faithful: bool = False) -> pl.DataFrame:
    """The measures of each pair, and whether each heuristic applies, as float columns.

    Overlap is null for a hypothesis without words; a heuristic is null where only a parse could tell. Every constituent
    is also a subsequence, and every subsequence lexical overlap. ``faithful`` counts as the HANS scripts do; for them a
    subsequence is a substring, with or without lexical overlap.
    """
    premises, hypotheses = (batch.frame[side].fill_null("") for side in ("premise", "hypothesis"))
    premise_length, hypothesis_length = (batch.words[side].list.len() for side in ("premise", "hypothesis"))
    word_lists = pl.DataFrame(
        {"premise": batch.words["premise"], "hypothesis": batch.words["hypothesis"].list.unique()}
    )
    new = pl.col("hypothesis").list.set_difference("premise").list.len()
    size = pl.col("hypothesis").list.len()
    overlap = word_lists.select(pl.when(size > 0).then(1 - new / size)).to_series()
    negated = [negations(side).list.len() > 0 for side in (premises, hypotheses)]
    amounts = [amounts_in(side) for side in (premises, hypotheses)]
    opposed = np.zeros(batch.frame.height, dtype=bool)
    opposed[antonym_pairs(premises, hypotheses).filter("opposed")["row"].to_numpy()] = True
    quantified = [side.list.eval(pl.element().str.contains(r"^\p{L}")).list.any() for side in amounts]
    columns = {
        "premise_length": premise_length,
        "hypothesis_length": hypothesis_length,
        OVERLAP: overlap,
        "premise_negation": negated[0],
        "hypothesis_negation": negated[1],
        "antonyms": pl.Series(opposed),
        "negation_in_one": negated[0] != negated[1],
        "unequal_amounts": unequal(*amounts),
        "numbers": (amounts[0].list.len() > 0) | (amounts[1].list.len() > 0),
        "quantifiers": quantified[0] | quantified[1],
        "no_new_word": overlap.fill_null(0.0) == 1,
        "longer_hypothesis": hypothesis_length > premise_length,
        **{name: pl.Series(flags) for name, flags in _related_words(batch).items()},
    }
    applies = heuristics(
        batch.frame["premise"],
        batch.frame["hypothesis"],
        batch.frame.get_column("premise_parse", default=None),
        hypothesis_parses=batch.frame.get_column("hypothesis_parse", default=None),
        faithful=faithful,
    )
    columns |= {name: applies[name] for name in HEURISTICS}
    return pl.DataFrame({name: columns[name].cast(pl.Float64) for name in MEASURES})


class MeasureSums:
    """Accumulates counts, sums and sums of squares of each measure by label."""

    def __init__(self) -> None:
        # By power, measure and label. The first measure, a length, is never null: its power 0 counts rows.
        self._sums = np.zeros((3, len(MEASURES), len(GOLD)))

    def add(self, batch: PairBatch, measures: pl.DataFrame) -> None:
        """Add the measures of a batch; nulls are skipped."""
        for number, name in enumerate(MEASURES):
            known = measures[name].is_not_null().to_numpy()
            values, labels = measures[name].drop_nulls().to_numpy(), batch.labels[known]
            for power in range(3):
                self._sums[power, number] += np.bincount(labels, values**power, minlength=len(GOLD))

    def count(self, name: str) -> dict[str, int]:
        """The sum of a measure for every label that occurs, rounded: the number of pairs for a measure of 0 and 1."""
        rows, sums = self._sums[0, 0], self._sums[1, MEASURES.index(name)]
        return {label: round(float(sums[code])) for code, label in enumerate(GOLD) if rows[code]}

    def support(self, heuristic: str) -> Support | None:
        """Counts of supporting and contradicting pairs; None if it is unknown for every pair it might apply to.

        Gold sets of entailment and another label count for neither.
        """
        counts = self.count(heuristic)
        unknown = int((self._sums[0, 0] - self._sums[0, MEASURES.index(heuristic)]).sum())
        if 0 < unknown == sum(self.count("subsequence").values()):
            return None
        excluded = [label for label in counts if not GOLD_MASKS[label] & GOLD_MASKS["entailment"]]
        return Support(counts.get("entailment", 0), sum(counts[label] for label in excluded), unknown)

    def by_label(self, name: str, sample: PremiseSample) -> MeasureByLabel:
        """Means over all pairs; the sample gives the test and the widening of intervals for shared premises."""
        counts, sums, squares = self._sums[:, MEASURES.index(name)]
        known = sample.frame[name].is_not_null().to_numpy()
        values, labels = sample.frame[name].drop_nulls().to_numpy(), sample.labels[known]
        groups = np.unique(sample.keys["premise"][known], return_inverse=True)[1].astype(np.int64)
        present = np.flatnonzero(counts)
        means = {}
        for code in present:
            chosen = labels == code
            total, mean = int(counts[code]), sums[code] / counts[code]
            premises = len(np.unique(groups[chosen]))
            means[GOLD[code]] = Estimate(mean, n=total, groups=premises, note="one premise, so no interval")
            if total > 1 and premises > 1:
                design = _design_effect(values[chosen], groups[chosen])
                variance = max(squares[code] - total * mean * mean, 0.0) / (total - 1)
                reach = _Z * math.sqrt(variance * design / total)
                interval = Interval(mean - reach, mean + reach, "normal, widened for shared premises")
                if sums[code] == squares[code]:
                    # All values are 0 or 1: an interval of a share stays between them.
                    interval = clopper_pearson(sums[code] / design, total / design)
                means[GOLD[code]] = Estimate(mean, interval.low, interval.high, total, premises, interval.method)
        explained, largest = _effect(counts[present], sums[present], squares[present])
        p, note = label_test(values, labels, groups)
        return MeasureByLabel(means, explained, largest, p, note=note)


def label_test(values: Floats, labels: Codes, groups: Codes) -> tuple[float, str]:
    """p of a score test that values have the same mean for every label, and a note that says why it is NaN.

    Each group's contribution to the score is one observation, so rows of a group may depend on each other in any way.
    The variance is that under the null hypothesis, which keeps the error rate correct with few groups.
    """
    from scipy.special import chdtrc

    kinds, codes = np.unique(labels, return_inverse=True)
    count = int(groups.max(initial=-1)) + 1
    if len(kinds) < 2:
        return math.nan, "fewer than two labels"
    if count < FEW_GROUPS:
        return math.nan, f"fewer than {FEW_GROUPS} premises"
    centred, shares = values - values.mean(), np.bincount(codes) / len(codes)
    scores = np.zeros((count, len(kinds) - 1))
    for kind in range(len(kinds) - 1):
        scores[:, kind] = np.bincount(groups, ((codes == kind) - shares[kind]) * centred, count)
    variance, total = scores.T @ scores, scores.sum(axis=0)
    scale = float(np.abs(variance).max())
    if scale < 1e-12:
        return 1.0, ""
    rank = int(np.linalg.matrix_rank(variance, tol=scale * 1e-10))
    statistic = float(total @ np.linalg.pinv(variance, rcond=1e-10) @ total)
    return float(chdtrc(rank, max(statistic, 0.0))), ""


class LabelCounter:
    """Counts pairs by label, and by genre if there is a column of genres."""

    def __init__(self, genre_column: str | None) -> None:
        self._column = genre_column
        self._counts = Counter[tuple[str, str]]()

    def add(self, batch: PairBatch) -> None:
        genre = pl.col(self._column) if self._column else pl.lit("")
        for value, label, number in batch.frame.group_by(genre.alias("genre"), "label").len().iter_rows():
            self._counts["" if value is None else str(value), label] += number

    def balance(self) -> Balance:
        labels = {name: sum(n for (_, label), n in self._counts.items() if label == name) for name in GOLD}
        labels = {name: n for name, n in labels.items() if n}
        names = sorted({genre for genre, _ in self._counts})
        if not 1 < len(names) <= MOST_GENRES:
            return Balance(labels, {}, None, math.nan)
        genres = {genre: {name: self._counts[genre, name] for name in labels} for genre in names}
        return Balance(labels, genres, self._column, *_association([list(row.values()) for row in genres.values()]))


def _design_effect(values: Floats, groups: Codes) -> float:
    """Variance of the mean relative to that of independent rows; at least 1."""
    centred = values - values.mean()
    rows, clusters = float(centred @ centred), np.bincount(groups, centred)
    return max(1.0, float(clusters @ clusters) / rows) if rows > 0 else 1.0


def _effect(counts: Floats, sums: Floats, squares: Floats) -> tuple[float, float]:
    """Eta squared, and the largest difference of means in standard deviations within labels; NaN if undefined."""
    if len(counts) < 2:
        return math.nan, math.nan
    means, n = sums / counts, counts.sum()
    total = float(squares.sum() - sums.sum() ** 2 / n)
    between = float((counts * (means - sums.sum() / n) ** 2).sum())
    within = (total - between) / max(n - len(counts), 1)
    if total <= 1e-9:
        return math.nan, math.nan
    return between / total, float(np.ptp(means) / math.sqrt(within)) if within > 1e-12 else math.nan


def _association(table: list[list[int]]) -> tuple[float, float]:
    """Cramér's V and p of Pearson's chi-square test; NaN for a table of one column."""
    from scipy.special import chdtrc

    counts = np.array(table, dtype=np.float64)
    rows, columns = counts.shape
    if columns < 2:
        return math.nan, math.nan
    expected = np.outer(counts.sum(1), counts.sum(0)) / counts.sum()
    statistic = float(((counts - expected) ** 2 / expected).sum())
    strength = math.sqrt(statistic / counts.sum() / (min(rows, columns) - 1))
    return strength, float(chdtrc((rows - 1) * (columns - 1), statistic))


def _related_words(batch: PairBatch) -> dict[str, Flags]:
    """For each WordNet relation, whether a word of the premise has it to a word of the hypothesis.

    Words that the other sentence has in any form are ignored, as are function words. Each word has only its most
    frequent sense in each part of speech, since nearly any two common words are related in some rare sense.
    """
    lists = pl.concat([batch.words["premise"], batch.words["hypothesis"]])
    kinds, numbers = number_distinct(lists.explode(empty_as_null=False, keep_nulls=False))
    rows = np.repeat(np.arange(len(lists)), lists.list.len().to_numpy())
    content = ~kinds.is_in(function_words()["word"].implode()).to_numpy()[numbers]
    both = sparse_sets(rows[content], numbers[content], (len(lists), len(kinds)))
    senses = wordnet().sense_frame(kinds).join(pl.DataFrame({"word": kinds}).with_row_index("number"), on="word")
    lemmas, codes = number_distinct(senses["base"])
    forms = sparse_sets(senses["number"].to_numpy().astype(np.int64), codes, (len(kinds), len(lemmas)))
    sides = both[: batch.frame.height], both[batch.frame.height :]
    shared = (sides[0] @ forms).multiply(sides[1] @ forms).tocsr() @ forms.T
    premise, hypothesis = (_without(side, shared) for side in sides)
    meanings = Meanings(senses.filter(pl.col("rank") == 0), len(kinds))
    premise_senses, hypothesis_senses = premise @ meanings.synsets, hypothesis @ meanings.synsets
    ancestors = meanings.near(2)
    relations = {
        "synonyms": _share_column(premise_senses, hypothesis_senses),
        "hypernyms": _share_column(premise @ meanings.above, hypothesis_senses),
        "hyponyms": _share_column(premise_senses, hypothesis @ meanings.above),
    }
    closer = np.logical_or.reduce(list(relations.values()))
    return relations | {"cohyponyms": _share_column(premise @ ancestors, hypothesis @ ancestors) & ~closer}


def _without(table: Sets, shared: Sets) -> Sets:
    kept = (table.astype(np.int8) - table.multiply(shared).astype(np.int8)).tocsr()
    kept.eliminate_zeros()
    return kept.astype(np.bool_)


def _share_column(left: Sets, right: Sets) -> Flags:
    """Whether the same row of two tables has a column set in both."""
    shared: Flags = np.diff(left.multiply(right).tocsr().indptr) > 0
    return shared
