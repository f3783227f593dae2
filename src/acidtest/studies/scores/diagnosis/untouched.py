"""How a model does on untouched pairs: what every finding about changed pairs is measured against."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.draws import U64
from acidtest.core.estimate import Estimate
from acidtest.core.labels import GOLD_MASKS
from acidtest.core.run import Run
from acidtest.core.suite import CONTROL
from acidtest.stats.intervals import rate
from acidtest.stats.resampling import numbered
from acidtest.studies.crossed_suites import crossed_suites
from acidtest.studies.scoring.rows import Flags, ScoredRows, score_rows
from acidtest.studies.scoring.severity import is_near_chance
from acidtest.studies.verification.claims import GROUNDING


@dataclass(frozen=True)
class UntouchedAccuracy:
    """Accuracy on the untouched pairs of a run, as results.json holds it."""

    name: str
    """What the pairs are called in a sentence."""
    accuracy: Estimate
    chance: float
    """The accuracy of guessing."""


@dataclass(frozen=True)
class Untouched:
    """The untouched pairs of a run, each once: gold sets as bit masks, answers as places in ``labels``, -1 for none."""

    name: str
    """What the pairs are called in a sentence."""
    labels: tuple[str, ...]
    gold: npt.NDArray[np.uint8]
    answer: npt.NDArray[np.int8]
    correct: Flags
    groups: U64

    @cached_property
    def accuracy(self) -> Estimate:
        """The share of answered pairs that are answered rightly; pairs without an answer are a problem of their own."""
        return self._rate(self.answer >= 0)

    @cached_property
    def chance(self) -> float:
        """The accuracy of guessing evenly among the labels or, if larger, of dealing its answers out at random.

        Where gold is uneven, as it is for two labels, a model that reads nothing beats even guesses by preferring the
        more frequent label. Where all pairs have the same gold, a preference cannot be told from being right.
        """
        accepted = np.array([np.mean(self.gold >> place & 1) for place in range(len(self.labels))])
        if np.unique(self.gold).size < 2:
            return float(accepted.mean())
        counts = np.array([*self.counts.values()])
        return float(max(accepted.mean(), accepted @ counts / max(counts.sum(), 1)))

    @cached_property
    def by_label(self) -> dict[str, Estimate]:
        """Accuracy on the answered pairs of each gold label."""
        answered = self.answer >= 0
        return {label: self._rate(answered & (self.gold == GOLD_MASKS[label])) for label in self.labels}

    @property
    def counts(self) -> dict[str, int]:
        """How often each label is answered."""
        return {label: int((self.answer == place).sum()) for place, label in enumerate(self.labels)}

    @property
    def accepted(self) -> dict[str, int]:
        """How many pairs accept each label."""
        return {label: int((self.gold >> place & 1).sum()) for place, label in enumerate(self.labels)}

    @property
    def skill(self) -> Estimate:
        """Accuracy above chance as a share of what is above chance: how far gold moves the answers."""
        right, room = self.accuracy, 1 - self.chance
        value, low, high = ((bound - self.chance) / room for bound in (right.value, right.low, right.high))
        return Estimate(value, low, high, right.n, right.groups, note=right.note)

    @property
    def above_chance(self) -> bool:
        """Whether accuracy is surely above chance."""
        return self.accuracy.known and self.accuracy.low > self.chance

    @property
    def below_chance(self) -> bool:
        """Whether accuracy is surely below chance, and not near it."""
        return self.accuracy.known and self.accuracy.high < self.chance and not self.near_chance

    @property
    def near_chance(self) -> bool:
        """Whether accuracy is within five points of chance, and its whole interval within ten."""
        return is_near_chance(self.accuracy, self.chance)

    def summarise(self) -> UntouchedAccuracy:
        """What is kept of them in the results."""
        return UntouchedAccuracy(self.name, self.accuracy, self.chance)

    def _rate(self, chosen: Flags) -> Estimate:
        return rate(self.correct[chosen], groups=numbered(self.groups[chosen]), empty="no pair was answered")


def untouched_pairs(run: Run) -> Untouched | None:
    """The controls of the suites or, without any, the pairs of the corpus in suite ``cues``; None without both.

    Untouched claims about documents are not among them: two thirds may be supported, and they are judged as supported
    or not (``verification``).
    """
    elsewhere = [name + CONTROL for name in GROUNDING.names_in(run)]
    names = [name for name in run.header.suites if name.endswith(CONTROL) and name not in elsewhere]
    controls = [score_rows(run, name) for name in names]
    if controls:
        return _join("untouched pairs", controls, [np.ones(part.height, dtype=np.bool_) for part in controls])
    designs = [score_rows(run, name) for name in crossed_suites()["cues"].names_in(run)]
    chosen = [part.column(pl.col("material") == "corpus").to_numpy() for part in designs]
    return _join("pairs of the corpus", designs, chosen) if any(flags.any() for flags in chosen) else None


def _join(name: str, parts: Sequence[ScoredRows], chosen: Sequence[Flags]) -> Untouched:
    """The chosen rows of several suites as one; a pair that several suites ask counts once."""
    questions = np.concatenate(
        [part.digests("premise", "hypothesis", "label")[flags] for part, flags in zip(parts, chosen, strict=True)]
    )
    once = np.sort(np.unique(questions, return_index=True)[1])
    columns: Mapping[str, Sequence[npt.NDArray[np.generic]]] = {
        "gold": [part.gold for part in parts],
        "answer": [part.answer for part in parts],
        "correct": [part.correct for part in parts],
        "groups": [_groups(part) for part in parts],
    }
    joined = {
        name: np.concatenate([column[flags] for column, flags in zip(several, chosen, strict=True)])[once]
        for name, several in columns.items()
    }
    return Untouched(name, parts[0].labels, **joined)


def _groups(rows: ScoredRows) -> U64:
    return rows.digests("group") if "group" in rows.rows.collect_schema() else rows.digests("id")
