"""The pairs of a suite that crosses gold with cues, as columns of numbers, and the effects measured on them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import nan

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.draws import mix_bits
from acidtest.core.estimate import Estimate
from acidtest.core.numbers import whole_percent
from acidtest.core.serialise import KEY
from acidtest.stats.contrasts import CellContrast, Parts, contrast_estimate
from acidtest.stats.intervals import rate
from acidtest.stats.resampling import Codes, numbered
from acidtest.studies.crossed_suites import CrossedSuite
from acidtest.studies.rows import ScoredRows
from acidtest.text.heuristics import words

USED = 0.10
"""A cue is used where the corrected lower bound of its effect exceeds this."""
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class CueEffect:
    """How often a label that is not gold is answered with a cue and without, gold and other cues held fixed."""

    toward: str | None
    """The label the cue pushes toward; None where the two halves of the groups do not agree on one."""
    effect: Estimate
    with_cue: Estimate = field(metadata={KEY: "with"})
    without_cue: Estimate = field(metadata={KEY: "without"})
    used: bool


@dataclass(frozen=True)
class Interaction:
    """A cue whose effect depends on another cue, by more than ten points."""

    cue: str
    other: str
    with_other: Estimate
    without_other: Estimate
    difference: Estimate


@dataclass(frozen=True)
class CueDesign:
    """Rows that were asked and answered, from which the effect of a cue is measured within cells."""

    labels: tuple[str, ...]
    answer: npt.NDArray[np.int8]
    gold: npt.NDArray[np.uint8]
    groups: Codes
    half: Flags
    """Groups are dealt into halves by the digests of their names, so that the order of rows does not matter."""

    def sides(self, cue: str) -> tuple[Flags, Flags]:
        """The rows that have a cue, and the rows that can show its effect."""
        raise NotImplementedError

    def contrast(self, cue: str, rows: Flags) -> CellContrast:
        """Rows with the cue against rows without it, everything else held fixed."""
        raise NotImplementedError

    def effect(self, cue: str, *, tests: int) -> CueEffect:
        """The effect of a cue toward the label it pushes toward, chosen on one half and measured on the other.

        Where both halves choose the same label, the two measurements are one over all rows.
        """
        part = self.sides(cue)[1]
        halves = (self.half, ~self.half)
        chosen = [self.strongest(cue, part & half)[0] for half in halves]
        agree = chosen[0] == chosen[1]
        if agree:
            parts = [(1.0, *self.toward(cue, chosen[0], part))]
        else:
            measured = zip(chosen[::-1], halves, strict=True)
            parts = [(0.5, *self.toward(cue, label, part & half)) for label, half in measured]
        effect = contrast_estimate(parts, self.groups, tests=tests)
        contrast, answered = self.toward(cue, chosen[0], part)
        having, lacking = (
            contrast_estimate([(1.0, side, answered)], self.groups, least=0) for side in contrast.sides()
        )
        used = agree and effect.known and effect.low > USED
        return CueEffect(self.labels[chosen[0]] if agree else None, effect, having, lacking, used)

    def is_not_gold(self, label: int) -> Flags:
        """The rows whose gold does not accept a label."""
        outside: Flags = (self.gold >> label & 1) == 0
        return outside

    def toward(self, cue: str, label: int, rows: Flags) -> tuple[CellContrast, Flags]:
        """The contrast of a cue among rows whose gold is not ``label``, and whether each row has that answer."""
        return self.contrast(cue, rows & self.is_not_gold(label)), self.answer == label

    def strongest(self, cue: str, rows: Flags) -> tuple[int, float]:
        """The label that a cue pushes toward most on some rows, and how far."""
        both = [self.toward(cue, label, rows) for label in range(len(self.labels))]
        values = [float(np.nan_to_num(contrast.value(answered), nan=-2.0)) for contrast, answered in both]
        label = int(np.argmax(values))
        return label, values[label]


@dataclass(frozen=True)
class CrossedDesign(CueDesign):
    """The rows of a suite that crosses gold with cues: cues and hypotheses beside what was answered."""

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

    def gold_effect(self) -> Estimate:
        """How much more often a label is answered where it is gold, cues held fixed, averaged over labels."""
        return contrast_estimate(self.gold_parts(), self.groups, tests=self.suite.tests)

    def gold_parts(self) -> Parts:
        """The contrasts whose sum is the effect of gold: one for each label."""
        cells, everything = self._cells("gold"), np.ones(len(self.answer), dtype=np.bool_)
        share = 1 / len(self.labels)
        return [
            (share, CellContrast.between(~self.is_not_gold(label), cells, everything), self.answer == label)
            for label in range(len(self.labels))
        ]

    def interactions(self, effects: Mapping[str, CueEffect]) -> Iterator[Interaction]:
        """The used cues whose effect changes by more than ten points with another cue, beyond chance."""
        used = {
            cue: self.labels.index(effect.toward) for cue, effect in effects.items() if effect.used and effect.toward
        }
        pairs = [
            (cue, label, other)
            for cue, label in used.items()
            for other, facts in self.suite.cues.items()
            if facts.column != self.suite.cues[cue].column
        ]
        for cue, label, other in pairs:
            other_on, other_part = self.sides(other)
            part = self.sides(cue)[1] & other_part
            both = [self.toward(cue, label, part & side) for side in (other_on, ~other_on)]
            signed = list(zip((1.0, -1.0), *zip(*both, strict=True), strict=True))
            difference = contrast_estimate(signed, self.groups, tests=len(pairs), least=-2)
            if difference.known and abs(difference.value) >= USED and not difference.low <= 0 <= difference.high:
                effects_apart = [contrast_estimate([(1.0, *part)], self.groups, tests=len(pairs)) for part in both]
                yield Interaction(cue, other, effects_apart[0], effects_apart[1], difference)

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
        """Whether each row is answered as most other rows of its group are."""
        counts = np.zeros((int(self.groups.max(initial=-1)) + 1, int(outcomes.max(initial=0)) + 1), dtype=np.int64)
        np.add.at(counts, (self.groups, outcomes), 1)
        others = counts[self.groups]
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
