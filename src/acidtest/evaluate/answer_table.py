"""The answers to a plan's inputs, in memory: twenty-one bytes for each input."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.draws import U64
from acidtest.core.model import Probabilities
from acidtest.evaluate.answer_files import HARD, TRUNCATED, Records
from acidtest.evaluate.plan import Plan

Flags = npt.NDArray[np.bool_]

CHECK = "check"
"""Salt of the second digest, by which an answer that was kept is known to be of the same input."""


class AnswerTable:
    """What a model answered to each input of a plan, whether it had to be cut, and which are still open."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._values = np.full((len(plan.keys), 3), np.nan, dtype=np.float32)
        self._flags = np.zeros(len(plan.keys), dtype=np.uint8)
        self._known = np.zeros(len(plan.keys), dtype=np.bool_)
        self._checks: U64 | None = None

    @property
    def hard(self) -> bool:
        """Whether an earlier process was answered with labels, which a model may show only when it is asked."""
        return bool((self._flags & HARD).any())

    @property
    def answered(self) -> int:
        """How many inputs have been asked; those a model left without an answer among them."""
        return int(self._known.sum())

    def put(self, keys: U64, values: Probabilities, truncated: Flags) -> None:
        """The answers to some inputs."""
        self._put(keys, values, truncated * np.uint8(TRUNCATED))

    def _put(self, keys: U64, values: Probabilities, flags: npt.NDArray[np.uint8]) -> None:
        places = self._plan.places(keys)
        self._values[places], self._flags[places], self._known[places] = values, flags, True

    def recall(self, kept: Records) -> None:
        """Answers kept earlier, which take the place of any before; those to other inputs are left aside."""
        if not len(self._plan.keys):
            return
        places = np.minimum(self._plan.places(kept["key"]), len(self._plan.keys) - 1)
        ours = self._plan.keys[places] == kept["key"]
        if not ours.any():
            return
        if self._checks is None:
            self._checks = np.zeros(len(self._plan.keys), dtype=np.uint64)
        self._checks[places[ours]] = kept["check"][ours]
        self._put(kept["key"][ours], kept["values"][ours], kept["flags"][ours])

    def open(self, keys: U64, checks: U64) -> Flags:
        """Which of some inputs have no answer yet; one that was kept for another input of the same key is none."""
        places = self._plan.places(keys)
        known = self._known[places]
        if self._checks is not None:
            kept = self._checks[places]
            known &= (kept == checks) | (kept == 0)
        return np.asarray(~known)

    def of(self, frame: pl.DataFrame) -> tuple[Probabilities, Flags]:
        """The answers to the rows of a frame, and which of them had to be cut."""
        places = self._plan.places(self._plan.digests(frame))
        return self._values[places], (self._flags[places] & TRUNCATED) != 0
