"""The answers to the inputs of a plan, in memory, and the predictions of a run that they give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.draws import U64
from acidtest.core.labels import LABELS, TWO_WAY_LABELS, coarsen_gold, gold_masks
from acidtest.core.model import Probabilities
from acidtest.core.run import ModelFacts
from acidtest.core.suite import Suite
from acidtest.core.verdicts import Collapse, answers, verdicts
from acidtest.evaluate.answer_files import HARD, TRUNCATED, Records
from acidtest.evaluate.plan import InputPlan

Flags = npt.NDArray[np.bool_]

CHECK = "check"
"""Salt of the second digest, which confirms that a kept answer belongs to the same input."""

_ANSWER_COLUMNS: Mapping[str, Any] = {
    "p_entailment": pl.Float32,
    "p_neutral": pl.Float32,
    "p_contradiction": pl.Float32,
    "answer": pl.String,
    "correct": pl.Boolean,
    "truncated": pl.Boolean,
}


class AnswerTable:
    """The answer to each input of a plan in 21 bytes, whether it was truncated, and which inputs are still open."""

    def __init__(self, plan: InputPlan) -> None:
        self._plan = plan
        self._values = np.full((len(plan.keys), 3), np.nan, dtype=np.float32)
        self._flags = np.zeros(len(plan.keys), dtype=np.uint8)
        self._known = np.zeros(len(plan.keys), dtype=np.bool_)
        self._checks: U64 | None = None

    @property
    def hard(self) -> bool:
        """Whether an earlier process got labels instead of probabilities, which some models reveal only when asked."""
        return bool((self._flags & HARD).any())

    @property
    def answered(self) -> int:
        """How many inputs have been asked, including those the model abstained on."""
        return int(self._known.sum())

    def put(self, keys: U64, values: Probabilities, truncated: Flags) -> None:
        """Store the answers to some inputs."""
        self._put(keys, values, truncated * np.uint8(TRUNCATED))

    def _put(self, keys: U64, values: Probabilities, flags: npt.NDArray[np.uint8]) -> None:
        places = self._plan.places(keys)
        self._values[places], self._flags[places], self._known[places] = values, flags, True

    def recall(self, kept: Records) -> None:
        """Store answers kept by an earlier process, replacing any before; those to other inputs are ignored."""
        if not len(self._plan.keys):
            return
        places = np.minimum(self._plan.places(kept["key"]), len(self._plan.keys) - 1)
        known = self._plan.keys[places] == kept["key"]
        if not known.any():
            return
        if self._checks is None:
            self._checks = np.zeros(len(self._plan.keys), dtype=np.uint64)
        self._checks[places[known]] = kept["check"][known]
        self._put(kept["key"][known], kept["values"][known], kept["flags"][known])

    def unanswered(self, keys: U64, checks: U64) -> Flags:
        """Which inputs have no answer yet; an answer kept for another input with the same key does not count."""
        places = self._plan.places(keys)
        known = self._known[places]
        if self._checks is not None:
            kept = self._checks[places]
            known &= (kept == checks) | (kept == 0)
        return np.asarray(~known)

    def lookup(self, frame: pl.DataFrame) -> tuple[Probabilities, Flags]:
        """The answers to the rows of a frame, and which of the rows were truncated."""
        places = self._plan.places(self._plan.digests(frame))
        return self._values[places], (self._flags[places] & TRUNCATED) != 0


def predictions_frame(
    suites: Sequence[Suite], table: AnswerTable, *, model: ModelFacts, collapse: Collapse
) -> pl.LazyFrame:
    """The rows of the suites with probabilities, answer (null for none), ``correct`` and ``truncated``; lazily."""
    two_way = model.resolution == "two-way"

    def add_answers(batch: pl.DataFrame) -> pl.DataFrame:
        values, truncated = table.lookup(batch)
        if two_way:
            values = np.column_stack([values[:, 0], values[:, 1] + values[:, 2], values[:, 2] * 0])
        gold = gold_masks(batch["label"].to_numpy())
        given = answers(values, collapse)
        names = np.array(TWO_WAY_LABELS if two_way else LABELS)
        return batch.with_columns(
            p_entailment=values[:, 0],
            p_neutral=values[:, 1],
            p_contradiction=values[:, 2],
            answer=pl.when(pl.Series(given >= 0)).then(pl.Series(names[np.maximum(given, 0)])),
            correct=verdicts(values, coarsen_gold(gold) if two_way else gold, collapse=collapse),
            truncated=truncated,
        )

    frames = []
    for suite in suites:
        frame = suite.frame.select(pl.lit(suite.name).alias("suite"), pl.all())
        schema = dict(frame.collect_schema()) | dict(_ANSWER_COLUMNS)
        frames.append(frame.map_batches(add_answers, schema=schema, streamable=True))
    return pl.concat(frames, how="diagonal_relaxed")
