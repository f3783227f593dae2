"""The pairs of a suite that crosses gold with cues, as columns of numbers, and the effects measured on them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import permutations, product
from math import nan

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.draws import mix_bits
from acidtest.core.estimate import Estimate
from acidtest.core.numbers import whole_percent
from acidtest.core.serialise import KEY
from acidtest.pairs.heuristics import words
from acidtest.stats.contrasts import (
    CellContrast,
    CellValues,
    Parts,
    contrast_estimate,
    detectable_effect,
    strongest_contrast,
)
from acidtest.stats.intervals import rate
from acidtest.stats.resampling import Codes, numbered
from acidtest.studies.crossed_suites import NO_PREDICTION, CrossedSuite
from acidtest.studies.scoring.rows import ScoredRows

USED = 0.10
"""A model relies on a cue if the corrected interval of its effect lies beyond this, in either direction."""
POWER = 0.8
"""How often an effect of the size called detectable is shown to exceed ten points."""
AS_LARGE = 0.8
"""An effect of a cue's presence is reported rather than one of its absence if it is at least this fraction of it.

A model that predicts entailment with a cue and neutral without it can be described both ways.
"""
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class CueEffect:
    """How much a cue changes the rate of one prediction that is wrong, gold and the other cues held fixed."""

    toward: str | None
    """The prediction whose rate the cue changes most; None if no effect could be measured."""
    effect: Estimate
    """The rate with the cue minus the rate without it: negative if the absence of the cue pushes toward the label."""
    with_cue: Estimate = field(metadata={KEY: "with"})
    without_cue: Estimate = field(metadata={KEY: "without"})
    used: bool
    outcomes: Mapping[str, Estimate] = field(default_factory=dict)
    """The effect on every label and, if some pairs have no prediction, on that; all intervals hold together."""
    detectable: float = nan
    """The smallest effect that four of five runs like this one show to exceed ten points."""

    @property
    def is_absence(self) -> bool:
        """Whether the prediction is more frequent without the cue."""
        return self.effect.value < 0

    @property
    def size(self) -> Estimate:
        """The effect without its sign, with its interval."""
        return without_sign(self.effect)

    @property
    def bound(self) -> float:
        """The largest effect, on any prediction and in either direction, that the intervals do not rule out."""
        bounds = [max(-one.low, one.high) for one in self.outcomes.values()]
        return max(bounds) if self.effect.known else nan


def without_sign(effect: Estimate) -> Estimate:
    """The size of an effect, with its interval mirrored at zero if the effect is negative."""
    return replace(effect, value=-effect.value, low=-effect.high, high=-effect.low) if effect.value < 0 else effect


def is_beyond(estimate: Estimate, limit: float) -> bool:
    """Whether the whole interval of an effect is further from zero than a limit."""
    return estimate.known and (estimate.low > limit or estimate.high < -limit)


@dataclass(frozen=True)
class Interaction:
    """A cue whose effect depends on another cue: the interval of the difference lies beyond ten points."""

    cue: str
    other: str
    with_other: Estimate
    without_other: Estimate
    difference: Estimate

    @property
    def only(self) -> bool | None:
        """With which value of the other cue alone an effect is shown: True if it is present; None if with both."""
        for present, here, elsewhere in (
            (True, self.with_other, self.without_other),
            (False, self.without_other, self.with_other),
        ):
            if is_beyond(here, USED) and elsewhere.low <= 0 <= elsewhere.high:
                return present
        return None

    @property
    def excludes(self) -> bool:
        """Whether with the other value an effect of more than ten points is ruled out, not only not shown."""
        if self.only is None:
            return False
        elsewhere = self.without_other if self.only else self.with_other
        return max(-elsewhere.low, elsewhere.high) <= USED


@dataclass(frozen=True)
class LabelOrder:
    """Another reading of a model's labels, under which its predictions follow gold much better."""

    reading: Mapping[str, str]
    """What each label that the model predicts seems to mean, where that is another."""
    effect: Estimate
    """The effect of gold under this reading."""
    gain: Estimate
    """That effect minus the effect under the reading of the run."""


@dataclass(frozen=True)
class Combination:
    """The combination of cues on which predictions depend most, beyond what each cue does alone.

    Of all products of cues, with gold and without, it is the one with the smallest p; ``effect`` is the difference in
    the rate of ``toward`` between pairs with an odd and pairs with an even number of the cues.
    """

    cues: tuple[str, ...]
    by_gold: bool
    """Whether the effect has different directions for different gold labels."""
    toward: str
    effect: Estimate
    p: float
    """Corrected for the number of combinations: the test of predictions against all crossed cells."""
    tests: int

    @property
    def matters(self) -> bool:
        """Whether the effect is shown to exceed ten points."""
        return is_beyond(self.effect, USED)


@dataclass(frozen=True)
class CueDesign:
    """Rows with their predictions, from which the effect of a cue is measured within cells."""

    labels: tuple[str, ...]
    answer: npt.NDArray[np.int8]
    gold: npt.NDArray[np.uint8]
    groups: Codes

    def sides(self, cue: str) -> tuple[Flags, Flags]:
        """The rows that have a cue, and the rows that can show its effect."""
        raise NotImplementedError

    def contrast(self, cue: str, rows: Flags) -> CellContrast:
        """Rows with the cue against rows without it, everything else held fixed."""
        raise NotImplementedError

    @cached_property
    def outcomes(self) -> tuple[str, ...]:
        """What can happen to a pair: each label, and no prediction if that occurs."""
        return (*self.labels, NO_PREDICTION) if bool((self.answer < 0).any()) else self.labels

    def predicted(self, outcome: int) -> Flags:
        """The rows with an outcome."""
        flags: Flags = self.answer == outcome if outcome < len(self.labels) else self.answer < 0
        return flags

    def effect(self, cue: str, *, tests: int) -> CueEffect:
        """The effect of a cue on the outcome whose rate it changes most.

        Every outcome is measured, and the intervals hold together for ``tests`` estimates, those of all outcomes among
        them, so that they are valid for the outcome that is selected.
        """
        part = self.sides(cue)[1]
        measured = [self.toward(cue, outcome, part) for outcome in range(len(self.outcomes))]
        effects = [contrast_estimate([(1.0, *one)], self.groups, tests=tests) for one in measured]
        chosen = _strongest(effects)
        having, lacking = (
            contrast_estimate([(1.0, side, measured[chosen][1])], self.groups, least=0)
            for side in measured[chosen][0].sides()
        )
        if not effects[chosen].known:
            return CueEffect(None, effects[chosen], having, lacking, used=False)
        return CueEffect(
            self.outcomes[chosen],
            effects[chosen],
            having,
            lacking,
            used=is_beyond(effects[chosen], USED),
            outcomes=dict(zip(self.outcomes, effects, strict=True)),
            detectable=max(
                detectable_effect(contrast, values, effect, limit=USED, power=POWER, tests=tests)
                for (contrast, values), effect in zip(measured, effects, strict=True)
            ),
        )

    def is_not_gold(self, outcome: int) -> Flags:
        """The rows in which an outcome is wrong."""
        outside: Flags = (self.gold >> outcome & 1) == 0
        return outside if outcome < len(self.labels) else np.ones(len(self.gold), dtype=np.bool_)

    def toward(self, cue: str, outcome: int, rows: Flags) -> tuple[CellContrast, Flags]:
        """The contrast of a cue among rows in which an outcome is wrong, and whether each row has that outcome."""
        return self.contrast(cue, rows & self.is_not_gold(outcome)), self.predicted(outcome)


def _strongest(effects: Sequence[Estimate]) -> int:
    """The place of the largest effect; if the presence of the cue does nearly as much as its absence, of the former."""
    values = np.array([np.nan_to_num(effect.value) for effect in effects])
    present, largest = int(np.argmax(values)), int(np.argmax(np.abs(values)))
    # An effect that is shown is never hidden behind one that is not.
    hides = is_beyond(effects[largest], USED) and not is_beyond(effects[present], USED)
    return present if values[present] >= AS_LARGE * abs(values[largest]) and not hides else largest


@dataclass(frozen=True)
class CrossedDesign(CueDesign):
    """The rows of a suite that crosses gold with cues: cues, hypotheses and predictions."""

    half: Flags
    """Groups are dealt into halves by the digests of their names, so that the order of rows does not matter."""
    suite: CrossedSuite
    codes: Mapping[str, npt.NDArray[np.int8]]
    """For each column of the suite that holds cues, the place of each row's value; -1 for a value of no cue."""
    hypotheses: pl.Series

    @classmethod
    def of(cls, rows: ScoredRows, suite: CrossedSuite) -> CrossedDesign:
        """The design of the scored rows of a suite."""
        columns = rows.run.collected(rows.rows.select(*suite.values, "hypothesis"))
        return cls(
            rows.labels,
            rows.answer,
            rows.gold,
            rows.groups,
            half=deal_halves(rows),
            suite=suite,
            codes=value_codes(columns, suite),
            hypotheses=columns["hypothesis"],
        )

    def sides(self, cue: str) -> tuple[Flags, Flags]:
        """See ``CueDesign``; rows whose column has a third value cannot show the effect."""
        facts = self.suite.cues[cue]
        values, codes = self.suite.values[facts.column], self.codes[facts.column]
        having: Flags = codes == values.index(facts.present)
        return having, having | (codes == values.index(facts.absent))

    @property
    def crossed(self) -> Flags:
        """The rows in which every column has the value of a cue: all but those of a corpus."""
        flags: Flags = np.logical_and.reduce([codes >= 0 for codes in self.codes.values()])
        return flags

    def contrast(self, cue: str, rows: Flags) -> CellContrast:
        """See ``CueDesign``; cells are gold and the other columns, and weigh the same."""
        return CellContrast.between(self.sides(cue)[0], self._cells(cue), rows)

    @property
    def cells_asked(self) -> int:
        """How many cells of the design have rows."""
        return int(self._cells().max(initial=-1)) + 1

    @property
    def tests(self) -> int:
        """The number of effects whose intervals hold together: those of cues on every outcome, and that of gold."""
        return len(self.suite.cues) * len(self.outcomes) + 1

    def gold_effect(self) -> Estimate:
        """How much more often a label is predicted if it is gold than if it is not, averaged over labels."""
        return contrast_estimate(self.gold_parts(), self.groups, tests=self.tests)

    def gold_parts(self, reading: Sequence[int] | None = None, *, share: float = 1.0) -> Parts:
        """The contrasts whose sum is the effect of gold: one for each label.

        ``reading`` lists for each label the prediction that is taken for it.
        """
        taken = range(len(self.labels)) if reading is None else reading
        size = share / len(self.labels)
        return [
            (size, contrast, self.answer == prediction)
            for contrast, prediction in zip(self._gold_contrasts, taken, strict=True)
        ]

    @cached_property
    def _gold_contrasts(self) -> list[CellContrast]:
        """For each label the rows of which it is gold against the others."""
        cells, everything = self._cells("gold"), np.ones(len(self.answer), dtype=np.bool_)
        return [CellContrast.between(~self.is_not_gold(label), cells, everything) for label in range(len(self.labels))]

    def association(self) -> tuple[Estimate, LabelOrder | None]:
        """How much predictions depend on gold, whatever their labels are called, and the order that would fit.

        The dependence is the effect of gold under the reading of labels for which it is largest: it is zero only if
        predictions do not depend on gold. Another reading is named if it makes the effect larger by more than ten
        points, and larger than under every other reading, by intervals that hold for all other readings together.
        """
        readings = list(permutations(range(len(self.labels))))
        each = [
            [contrast.value(self.answer == taken) for taken in range(len(self.labels))]
            for contrast in self._gold_contrasts
        ]
        sums = [sum(row[taken] for row, taken in zip(each, reading, strict=True)) for reading in readings]
        reading = readings[int(np.argmax(np.nan_to_num(sums, nan=-2.0)))]
        effect = contrast_estimate(self.gold_parts(reading), self.groups, tests=len(readings))
        if not effect.known or reading == readings[0]:
            return effect, None
        gains = (
            contrast_estimate(
                [*self.gold_parts(reading), *self.gold_parts(other, share=-1.0)],
                self.groups,
                tests=len(readings) - 1,
                least=-2,
            )
            for other in readings
            if other != reading
        )
        gain = next(gains)
        # A model that avoids the correct label fits several readings better than its own, and none of them best.
        if gain.low <= USED or not all(other.low > 0 for other in gains):
            return effect, None
        changed = {self.labels[taken]: self.labels[label] for label, taken in enumerate(reading) if taken != label}
        return effect, LabelOrder(changed, effect, gain)

    def interactions(self, effects: Mapping[str, CueEffect]) -> Iterator[Interaction]:
        """The cues that the model relies on and whose effect changes by more than ten points with another cue."""
        used = {
            cue: self.outcomes.index(effect.toward) for cue, effect in effects.items() if effect.used and effect.toward
        }
        pairs = [
            (cue, outcome, other)
            for cue, outcome in used.items()
            for other, facts in self.suite.cues.items()
            if facts.column != self.suite.cues[cue].column
        ]
        for cue, outcome, other in pairs:
            other_on, other_part = self.sides(other)
            part = self.sides(cue)[1] & other_part
            both = [self.toward(cue, outcome, part & side) for side in (other_on, ~other_on)]
            signed = list(zip((1.0, -1.0), *zip(*both, strict=True), strict=True))
            difference = contrast_estimate(signed, self.groups, tests=len(pairs), least=-2)
            if is_beyond(difference, USED):
                effects_apart = [contrast_estimate([(1.0, *part)], self.groups, tests=len(pairs)) for part in both]
                yield Interaction(cue, other, effects_apart[0], effects_apart[1], difference)

    def combination(self, effects: Mapping[str, CueEffect]) -> Combination | None:
        """The combination of cues on which predictions depend most, among cues that the model does not rely on alone.

        One test of predictions against all crossed cells: every product of two cues or more, with gold and without, is
        a contrast of a complete set, from which the effects of single cues are removed.
        """
        apart = [cue for cue, effect in effects.items() if not effect.used]
        codes = {cue: self._signs(cue) for cue in self.suite.cues}
        by_column: dict[str, list[str]] = {}
        for cue in apart:
            by_column.setdefault(self.suite.cues[cue].column, []).append(cue)
        chosen = [
            tuple(filter(None, members))
            for members in product(*(("", *cues) for cues in by_column.values()))
            if sum(map(bool, members)) > 1
        ]
        if not chosen:
            return None
        found: list[tuple[CellValues, int, tuple[tuple[str, ...], bool]]] = []
        cells = self._cells()
        for outcome in range(len(self.outcomes)):
            rows = np.flatnonzero(self.is_not_gold(outcome))
            if not len(rows):
                continue
            cell, first, where = np.unique(cells[rows], return_index=True, return_inverse=True)
            at = rows[first]
            gold = numbered(self.gold[at])
            signs = {cue: code[at].astype(np.float64) for cue, code in codes.items()}
            listed = np.logical_and.reduce([codes[at] >= 0 for codes in self.codes.values()]).astype(np.float64)
            alone = np.column_stack([np.ones(len(cell)), listed, *signs.values()])
            is_gold = np.eye(int(gold.max(initial=0)) + 1)[gold]
            mains = (is_gold[:, :, None] * alone[:, None, :]).reshape(len(cell), is_gold.shape[1] * alone.shape[1])
            plain = [np.prod([signs[cue] for cue in members], axis=0) for members in chosen]
            # Contrasts between gold labels, one fewer than there are labels left.
            by_gold = [is_gold[:, place] - is_gold[:, place + 1] for place in range(is_gold.shape[1] - 1)]
            contrasts = np.column_stack([*plain, *(gold_sign * code for gold_sign in by_gold for code in plain)])
            names = [(members, False) for members in chosen]
            names += [(members, True) for _ in by_gold for members in chosen]
            best = strongest_contrast(
                self.predicted(outcome)[rows], where, self.groups[rows], mains=mains, contrasts=contrasts
            )
            if best:
                found.append((best, outcome, names[best.place]))
        if not found:
            return None
        tests = sum(best.tests for best, _, _ in found)
        best, outcome, (members, is_by_gold) = min(found, key=lambda one: one[0].p)
        return Combination(
            members, is_by_gold, self.outcomes[outcome], best.estimate(tests), min(1.0, best.p * tests), tests
        )

    def _signs(self, cue: str) -> npt.NDArray[np.int8]:
        """1 for the rows that have a cue, -1 for those that lack it, 0 for others."""
        having, part = self.sides(cue)
        return np.where(part, np.where(having, 1, -1), 0).astype(np.int8)

    def premise_use(self) -> Estimate:
        """How often the answer to one hypothesis differs between two premises of different gold and the same cues."""
        keys = self._codes(self.groups, *(codes + 1 for codes in self.codes.values()))
        rows = pl.DataFrame({"key": keys, "answer": self.answer, "gold": self.gold, "group": self.groups})
        rows = rows.filter(self.crossed)
        pairs = rows.join(rows, on="key", suffix="_other").filter(pl.col("gold") < pl.col("gold_other"))
        if pairs.is_empty():
            return Estimate(nan, note="no hypothesis was asked with premises of different gold")
        differ = (pairs["answer"] != pairs["answer_other"]).to_numpy()
        return rate(differ, groups=pairs["group"].to_numpy())

    def stability(self, cue: str) -> Estimate:
        """How often the answer to an item stays when a cue is switched."""
        on, part = self.sides(cue)
        keys = self._codes(self.groups, self._cells(cue))
        rows = pl.DataFrame({"key": keys, "on": on, "answer": self.answer, "group": self.groups}).filter(part)
        pairs = rows.filter("on").join(rows.filter(~pl.col("on")), on="key", suffix="_off")
        if pairs.is_empty():
            return Estimate(nan, note="no pair was asked with and without it")
        stays = (pairs["answer"] == pairs["answer_off"]).to_numpy()
        return rate(stays, groups=pairs["group"].to_numpy())

    def reverse_overlap(self) -> Estimate:
        """How often entailment is answered where it is gold and the premise has not all words of the hypothesis."""
        having, part = self.sides(self.suite.overlap)
        rows = ~self.is_not_gold(0) & part & ~having
        return contrast_estimate(
            [(1.0, CellContrast.mean(self._cells(), rows), self.answer == 0)], self.groups, least=0
        )

    def hypothesis_alone(self) -> Estimate:
        """How many answers the hypothesis alone predicts.

        Where a hypothesis is asked under all cues, the answer is predicted to be that of most of its other rows. Else
        the words of the hypothesis predict it, learnt on one half for the other.
        """
        templates = self.crossed
        outcomes = self.answer.astype(np.int64) + 1
        right = self._same_as_others(outcomes) if self.suite.one_claim_a_group else self._told_by_words(outcomes)
        common = np.bincount(outcomes[templates]).max(initial=0) / max(int(templates.sum()), 1)
        estimate = rate(right[templates], groups=self.groups[templates])
        return replace(estimate, note=f"the most frequent answer is {whole_percent(common)} of all")

    def _same_as_others(self, outcomes: Codes) -> Flags:
        """Whether each row is answered as most other rows of its hypothesis and group are."""
        claims = self._codes(self.groups, self.hypotheses.rank("dense").to_numpy())
        counts = np.zeros((int(claims.max(initial=-1)) + 1, int(outcomes.max(initial=0)) + 1), dtype=np.int64)
        np.add.at(counts, (claims, outcomes), 1)
        others = counts[claims]
        rows = np.arange(len(outcomes))
        same = others[rows, outcomes] - 1
        others[rows, outcomes] = -1
        flags: Flags = same > others.max(axis=1)
        return flags

    def _told_by_words(self, outcomes: Codes) -> Flags:
        """Whether the words of each row's hypothesis predict its answer, learnt from the other half of the rows."""
        templates = self.crossed
        numbered_words = pl.DataFrame({"row": np.arange(len(self.answer)), "word": words(self.hypotheses)})
        table = numbered_words.explode("word").unique(maintain_order=True)
        numbers = table["word"].rank("dense").to_numpy().astype(np.int64) - 1
        rows = table["row"].to_numpy()
        right = np.zeros(len(self.answer), dtype=np.bool_)
        for half in (self.half, ~self.half):
            right[~half] = _naive_bayes(rows, numbers, outcomes, learn=half & templates)[~half] == outcomes[~half]
        return right

    def _cells(self, *left_out: str) -> Codes:
        """The number of each row's cell: gold and the columns of cues, without those of the cues compared."""
        ignored = {self.suite.cues[cue].column for cue in left_out if cue != "gold"}
        columns: list[npt.NDArray[np.generic]] = [
            codes + 1 for column, codes in self.codes.items() if column not in ignored
        ]
        if "gold" not in left_out:
            columns.append(numbered(self.gold))
        return self._codes(*columns)

    def _codes(self, *columns: npt.NDArray[np.generic]) -> Codes:
        """A number for each combination of values."""
        codes = np.zeros(len(self.answer), dtype=np.int64)
        for column in columns:
            codes = codes * (int(column.max(initial=0)) + 1) + column.astype(np.int64)
        return numbered(codes)


def value_codes(columns: pl.DataFrame, suite: CrossedSuite) -> dict[str, npt.NDArray[np.int8]]:
    """The places of values among those of the cues of each column, and -1 for others."""
    return {
        column: columns[column].replace_strict(values, range(len(values)), default=-1, return_dtype=pl.Int8).to_numpy()
        for column, values in suite.values.items()
    }


def deal_halves(rows: ScoredRows) -> Flags:
    """Whether each row's group is in the first of two halves, by the digest of its name."""
    return (mix_bits(rows.digests("group")) & np.uint64(1)).astype(np.bool_)


def _naive_bayes(rows: Codes, words: Codes, outcomes: Codes, *, learn: Flags) -> Codes:
    """The likeliest outcome of every row by the words it has; add-one smoothing, learnt from some rows."""
    kinds, size = int(outcomes.max(initial=0)) + 1, int(words.max(initial=0)) + 1
    known = learn[rows]
    counts = np.bincount(outcomes[rows[known]] * size + words[known], minlength=kinds * size).reshape(kinds, size) + 1.0
    prior = np.bincount(outcomes[learn], minlength=kinds) + 1.0
    weights = np.log(counts / counts.sum(axis=1, keepdims=True))
    scores = np.stack([np.bincount(rows, weights[kind][words], minlength=len(outcomes)) for kind in range(kinds)])
    return np.asarray(np.argmax(scores + np.log(prior / prior.sum())[:, None], axis=0), dtype=np.int64)
