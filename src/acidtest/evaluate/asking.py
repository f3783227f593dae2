"""Asks a model one batch and checks that the answers are valid."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from acidtest.core.errors import AcidtestError
from acidtest.core.model import Model, Prepares, Probabilities, exit_error, number_table
from acidtest.core.verdicts import has_answer
from acidtest.evaluate.plan import ID, Batch

Flags = npt.NDArray[np.bool_]

_TOLERANCE = 1e-3


@dataclass(frozen=True)
class Answered:
    """The probabilities of a batch, and which of its pairs were truncated to fit the model."""

    values: Probabilities
    truncated: Flags


@dataclass(frozen=True)
class PreparedBatch:
    """A batch whose inputs the model has prepared for its device."""

    batch: Batch
    prepared: Any


@dataclass(frozen=True)
class Asker:
    """A model as an engine uses it: a batch at once, or in two steps where the model prepares its inputs separately."""

    model: Model

    def ask(self, batch: Batch) -> Answered:
        """Ask a whole batch."""
        if isinstance(self.model, Prepares):
            return self.infer(self.prepare(batch))
        with self._exit_refused():
            values = self.model.predict(*self._columns(batch))
        return self._check(batch, values, np.zeros(len(batch.keys), np.bool_))

    def prepare(self, batch: Batch) -> PreparedBatch:
        """Prepare the inputs of a batch: the first step."""
        assert isinstance(self.model, Prepares)
        with self._exit_refused():
            return PreparedBatch(batch, self.model.prepare(*self._columns(batch)))

    def infer(self, ready: PreparedBatch) -> Answered:
        """Answer a prepared batch: the second step."""
        assert isinstance(self.model, Prepares)
        with self._exit_refused():
            values = self.model.infer(ready.prepared)
        return self._check(ready.batch, values, ready.prepared.truncated)

    @contextmanager
    def _exit_refused(self) -> Iterator[None]:
        try:
            yield
        except SystemExit as error:
            raise exit_error(f"model {self.model.name!r}", error) from error

    def _columns(self, batch: Batch) -> list[list[str]]:
        return [batch.inputs[name].to_list() for name in self.model.columns]

    def _check(self, batch: Batch, given: Any, truncated: Flags) -> Answered:
        values = number_table(f"model {self.model.name!r}", given)
        height = batch.inputs.height
        if values.shape != (height, 3):
            raise AcidtestError(
                f"model {self.model.name!r} gave an array of shape {values.shape} for {height} pairs; "
                f"expected ({height}, 3): the probabilities of entailment, neutral, contradiction; or label names"
            )
        abstained = np.asarray(np.isnan(values).all(axis=1), dtype=np.bool_) & self.model.may_abstain
        self._require_none(batch, values, np.isnan(values).any(axis=1) & ~abstained, "NaN")
        present = has_answer(values)
        total = values.sum(axis=1, where=present[:, None])
        outside = present & ((values < -_TOLERANCE).any(axis=1) | (np.abs(total - 1) > _TOLERANCE))
        self._require_none(
            batch, values, outside, "numbers that are not probabilities adding up to 1 (logits need a softmax)"
        )
        return Answered(values, np.asarray(truncated, dtype=np.bool_))

    def _require_none(self, batch: Batch, values: Probabilities, rows: Flags, problem: str) -> None:
        if not rows.any():
            return
        first = int(np.flatnonzero(rows)[0])
        pair = batch.inputs.row(first, named=True)
        shown = ", ".join(f"{name} {pair[name]!r}" for name in self.model.columns)
        raise AcidtestError(
            f"model {self.model.name!r} gave {problem} for {int(rows.sum())} of {len(rows)} pairs, "
            f"first {', '.join(f'{value:g}' for value in values[first])} for row {pair[ID]}: {shown}"
        )
