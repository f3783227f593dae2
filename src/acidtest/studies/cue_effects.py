"""The crossed pairs of suite ``cues`` as columns of numbers, and the effects that can be measured on them."""

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
from acidtest.studies.rows import ScoredRows
from acidtest.text.heuristics import words

SUITE = "cues"
FORMS = ("overlap", "subsequence", "constituent")
"""The cues that are forms of the premise; each is compared with the one before, the first with no overlap."""
FORM_NAMES = ("none", *FORMS)
SWITCHED = {
    "negation": "negation",
    "hypothesis": "cue_words",
    "antonym": "antonym",
    "number": "number",
    "length": "length",
    "misspelling": "misspelling",
}
"""The cues that are switched on and off, and the columns of the suite that say so."""
CUES = (*FORMS, *SWITCHED)
USED = 0.10
"""A cue is used where the corrected lower bound of its effect exceeds this."""
TESTS = len(CUES) + 1
"""The effects whose intervals hold together: those of the cues and that of gold."""

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

    def effect(self, cue: str, *, tests: int = TESTS) -> CueEffect:
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
    """The rows of suite ``cues``: form, cues and hypotheses beside what was answered."""

    form: npt.NDArray[np.int8]
    """The form of the premise, a place in ``FORM_NAMES``; -1 for pairs of a corpus."""
    on: Mapping[str, Flags]
    """Whether each row has each cue that is switched."""
    hypotheses: pl.Series

    @classmethod
    def of(cls, rows: ScoredRows) -> CrossedDesign:
        """The design of the scored rows of suite ``cues``."""
        columns = rows.run.collected(rows.rows.select("form", *SWITCHED.values(), "hypothesis"))
        return cls(
            rows.labels,
            rows.answer,
            rows.gold,
            rows.groups,
            half=deal_halves(rows),
            form=form_codes(columns["form"]),
            on={cue: (columns[column] == "yes").to_numpy() for cue, column in SWITCHED.items()},
            hypotheses=columns["hypothesis"],
        )

    def sides(self, cue: str) -> tuple[Flags, Flags]:
        """See ``CueDesign``; a form is compared with the form below it."""
        if cue in SWITCHED:
            return self.on[cue], np.ones(len(self.answer), dtype=np.bool_)
        place = FORM_NAMES.index(cue)
        return self.form == place, (self.form == place) | (self.form == place - 1)

    def contrast(self, cue: str, rows: Flags) -> CellContrast:
        """See ``CueDesign``; cells are gold, form and the other cues, and weigh the same."""
        return CellContrast.between(self.sides(cue)[0], self._cells(cue), rows)

    @property
    def cells_asked(self) -> int:
        """How many cells of the design have rows."""
        return int(self._cells().max(initial=-1)) + 1

    def gold_effect(self) -> Estimate:
        """How much more often a label is answered where it is gold, cues held fixed, averaged over labels."""
        return contrast_estimate(self.gold_parts(), self.groups, tests=TESTS)

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
            for other in CUES
            if cue != other and not {cue, other} <= {*FORMS}
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
        """How often the answer to one hypothesis differs between two premises of different gold and the same form."""
        keys = self._codes(self.groups, *self.on.values(), self.form + 1)
        rows = pl.DataFrame({"key": keys, "answer": self.answer, "gold": self.gold, "group": self.groups})
        rows = rows.filter(self.form >= 0)
        pairs = rows.join(rows, on="key", suffix="_other").filter(pl.col("gold") < pl.col("gold_other"))
        if pairs.is_empty():
            return Estimate(nan, note="no hypothesis was asked with premises of different gold")
        differ = (pairs["answer"] != pairs["answer_other"]).to_numpy()
        return rate(differ, groups=pairs["group"].to_numpy())

    def stability(self, cue: str) -> Estimate:
        """How often the answer to an item stays when a cue is switched."""
        on, _ = self.sides(cue)
        keys = self._codes(self.groups, self._cells(cue))
        rows = pl.DataFrame({"key": keys, "on": on, "answer": self.answer, "group": self.groups})
        pairs = rows.filter("on").join(rows.filter(~pl.col("on")), on="key", suffix="_off")
        if pairs.is_empty():
            return Estimate(nan, note="no pair was asked with and without it")
        stays = (pairs["answer"] == pairs["answer_off"]).to_numpy()
        return rate(stays, groups=pairs["group"].to_numpy())

    def reverse_overlap(self) -> Estimate:
        """How often entailment is answered where it is gold and the premise has not all words of the hypothesis."""
        rows = ~self.is_not_gold(0) & (self.form == 0)
        return contrast_estimate(
            [(1.0, CellContrast.mean(self._cells(), rows), self.answer == 0)], self.groups, least=0
        )

    def hypothesis_alone(self) -> Estimate:
        """How many answers the words of the hypothesis alone predict, learnt on one half for the other."""
        templates = self.form >= 0
        numbered_words = pl.DataFrame({"row": np.arange(len(self.answer)), "word": words(self.hypotheses)})
        table = numbered_words.explode("word").unique(maintain_order=True)
        numbers = table["word"].rank("dense").to_numpy().astype(np.int64) - 1
        rows, outcomes = table["row"].to_numpy(), self.answer.astype(np.int64) + 1
        right = np.zeros(len(self.answer), dtype=np.bool_)
        for half in (self.half, ~self.half):
            right[~half] = _naive_bayes(rows, numbers, outcomes, learn=half & templates)[~half] == outcomes[~half]
        common = np.bincount(outcomes[templates]).max(initial=0) / max(int(templates.sum()), 1)
        estimate = rate(right[templates], groups=self.groups[templates])
        return replace(estimate, note=f"the most frequent answer is {whole_percent(common)} of all")

    def _cells(self, *left_out: str) -> Codes:
        """The number of each row's cell: gold, form and switched cues, without those compared."""
        columns: list[npt.NDArray[np.generic]] = [flags for cue, flags in self.on.items() if cue not in left_out]
        if not {*FORMS} & {*left_out}:
            columns.append(self.form + 1)
        if "gold" not in left_out:
            columns.append(numbered(self.gold))
        return self._codes(*columns)

    def _codes(self, *columns: npt.NDArray[np.generic]) -> Codes:
        """A number for each combination of values."""
        codes = np.zeros(len(self.answer), dtype=np.int64)
        for column in columns:
            codes = codes * (int(column.max(initial=0)) + 1) + column.astype(np.int64)
        return numbered(codes)


def form_codes(forms: pl.Series) -> npt.NDArray[np.int8]:
    """The places of forms in ``FORM_NAMES``, and -1 for pairs of a corpus."""
    return forms.replace_strict(FORM_NAMES, range(len(FORM_NAMES)), default=-1, return_dtype=pl.Int8).to_numpy()


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
