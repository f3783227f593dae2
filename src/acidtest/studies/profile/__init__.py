"""The cue profile: which cues move a model's answers, and how much gold does, on the crossed pairs of suite ``cues``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.digests import digests
from acidtest.core.draws import mix_bits
from acidtest.core.errors import AcidtestError
from acidtest.core.estimate import Estimate
from acidtest.core.run import Run
from acidtest.core.study import study
from acidtest.stats.contrasts import Contrast, contrast_estimate
from acidtest.stats.resampling import Codes, numbered
from acidtest.studies.rows import ScoredRows, model_names, score_rows

SUITE = "cues"
SWITCHED = ("negation", "cue_words", "antonym", "number", "length", "misspelling")
"""The columns of the suite that hold yes or no."""
FORMS = {"overlap": ("none", "overlap"), "subsequence": ("overlap", "subsequence"), "constituent": ("subsequence", "constituent")}
"""The cues that are forms of the premise: without and with the cue, everything else alike."""
CUES = {
    "overlap": "all words of the hypothesis are in the premise",
    "subsequence": "the hypothesis is a run of words of the premise",
    "constituent": "the hypothesis is a clause of the premise",
    "negation": "the hypothesis has a negation word",
    "hypothesis": "the hypothesis has words that hint at a label",
    "antonym": "the premise has the opposite of a word of the hypothesis",
    "number": "the premise has another number than the hypothesis",
    "length": "the hypothesis is long",
    "misspelling": "a word of the hypothesis is misspelt",
}
COLUMN = {"hypothesis": "cue_words"}
"""The columns of cues whose names the suite cannot use."""
USED = 0.10
"""A cue is used where the corrected lower bound of its effect exceeds this."""
_TESTS = len(CUES) + 1

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class CueEffect:
    """How often the model answers a label that is not gold with a cue and without, all else held fixed."""

    toward: str | None
    """The label the cue pushes toward; None where two halves of the pairs do not agree on one."""
    effect: Estimate
    with_cue: Estimate
    without_cue: Estimate
    used: bool


@dataclass(frozen=True)
class Interaction:
    """A cue whose effect depends on another by more than ten points."""

    cue: str
    other: str
    with_other: Estimate
    without_other: Estimate
    difference: Estimate


@dataclass(frozen=True)
class Profile:
    """What moves a model's answers."""

    headline: str
    gold_effect: Estimate
    cues: Mapping[str, CueEffect]
    premise_use: Estimate
    interactions: tuple[Interaction, ...]
    cells: int


class Design:
    """The rows of suite ``cues`` as columns of numbers: what was asked, and what was answered."""

    def __init__(self, rows: ScoredRows) -> None:
        frame = rows.frame.select("label", "form", *SWITCHED)
        self.labels = rows.labels
        self.answer, self.gold, self.groups = rows.answer, rows.gold, numbered(rows.groups)
        self.form = frame["form"].to_numpy()
        self.on = {cue: (frame[COLUMN.get(cue, cue)] == "yes").to_numpy() for cue in CUES if cue not in FORMS}
        self.gold_code = numbered(self.gold)
        # Groups are dealt into two halves by their names, so that the halves do not depend on the order of rows.
        names = np.unique(rows.digests("group"), return_inverse=True)
        self.half = (mix_bits(names[0]) & np.uint64(1)).astype(bool)[names[1]]

    def is_not_gold(self, label: int) -> Flags:
        return (self.gold >> label & 1) == 0

    def sides(self, cue: str) -> tuple[Flags, Flags]:
        """Which rows have the cue, and which take part in its contrast."""
        if cue not in FORMS:
            return self.on[cue], np.ones(len(self.answer), dtype=np.bool_)
        without, having = FORMS[cue]
        return self.form == having, np.isin(self.form, (without, having))

    def cells(self, *left_out: str) -> Codes:
        """The number of each row's cell: gold, form and the six cues, without those that are compared."""
        columns = [np.unique(self.form, return_inverse=True)[1]] if not {*FORMS} & {*left_out} else []
        columns += [flags for cue, flags in self.on.items() if cue not in left_out]
        columns += [self.gold_code] if "gold" not in left_out else []
        code = np.zeros(len(self.answer), dtype=np.int64)
        for column in columns:
            code = code * (int(column.max(initial=0)) + 1) + column
        return numbered(code)


def cue_effect(design: Design, cue: str) -> CueEffect:
    """The effect of a cue toward the label it pushes toward: chosen on one half of the groups, measured on the other."""
    on, part = design.sides(cue)
    cells = design.cells(cue)

    def contrast(label: int, rows: Flags) -> Contrast:
        return Contrast.between(on, cells, part & rows & design.is_not_gold(label))

    answers = [design.answer == label for label in range(len(design.labels))]
    halves = (design.half, ~design.half)
    best = [
        int(np.nanargmax([np.nan_to_num(contrast(label, half).value(answers[label]), nan=-1.0) for label in range(len(answers))]))
        for half in halves
    ]
    everything = np.ones(len(on), dtype=np.bool_)
    if best[0] == best[1]:
        parts = [(1.0, contrast(best[0], everything), answers[best[0]])]
    else:
        parts = [(0.5, contrast(best[1 - place], half), answers[best[1 - place]]) for place, half in enumerate(halves)]
    effect = contrast_estimate(parts, design.groups, tests=_TESTS)
    shares = [
        contrast_estimate([(1.0, Contrast.mean(cells, part & rows & design.is_not_gold(best[0])), answers[best[0]])], design.groups)
        for rows in (on, ~on)
    ]
    toward = design.labels[best[0]] if best[0] == best[1] else None
    used = toward is not None and effect.known and effect.low > USED
    return CueEffect(toward, effect, *(_share(share) for share in shares), used)


def _share(estimate: Estimate) -> Estimate:
    return replace(estimate, low=max(estimate.low, 0.0), high=min(estimate.high, 1.0)) if estimate.known else estimate


def gold_effect(design: Design) -> Estimate:
    """How much more often a label is answered where it is gold than where it is not, cues held fixed, over labels."""
    cells = design.cells("gold")
    everything = np.ones(len(cells), dtype=np.bool_)
    parts = []
    for label in range(len(design.labels)):
        contrast = Contrast.between(~design.is_not_gold(label), cells, everything)
        parts.append((1 / len(design.labels), contrast, design.answer == label))
    return contrast_estimate(parts, design.groups, tests=_TESTS)
