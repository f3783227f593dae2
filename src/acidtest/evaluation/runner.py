"""Asking a model everything a plan holds, once, and going on where an earlier process stopped."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import numpy.typing as npt

from acidtest.core.errors import AcidtestError
from acidtest.core.logs import log
from acidtest.core.model import Model
from acidtest.core.verdicts import answered
from acidtest.engines import local
from acidtest.evaluation.journal import Journal
from acidtest.evaluation.plan import Batch, Plan

Progress = Callable[[int, int], None]
"""Called with how many inputs are answered and how many there are."""

_TOLERANCE = 1e-3


def answers(
    model: Model, plan: Plan, *, journal: str | Path | None = None, progress: Progress | None = None
) -> npt.NDArray[np.float32]:
    """float32[rows, 3] for every row of the plan's suites, in their order.

    With a journal, what it already holds is not asked again, and every batch is kept at once.
    """
    result = np.full((len(plan.inputs), 3), np.nan, dtype=np.float32)
    with Journal(journal, plan) if journal is not None else nullcontext() as kept:
        for number, values in kept.done.items() if kept else ():
            batch = plan.batches[number]
            result[batch.start : batch.stop] = values
        todo = [batch for batch in plan.batches if not kept or batch.number not in kept.done]
        if kept and kept.done:
            log.warning("%d of %d batches were answered before; going on", len(kept.done), len(plan.batches))
        answered_rows = len(plan.inputs) - sum(batch.stop - batch.start for batch in todo)
        for batch, values in local.mapped(lambda part: _asked(model, plan, part), todo):
            if kept:
                kept.append(batch, values)
            result[batch.start : batch.stop] = values
            answered_rows += batch.stop - batch.start
            if progress:
                progress(answered_rows, len(plan.inputs))
    return result[plan.input_of_row]


def _asked(model: Model, plan: Plan, batch: Batch) -> npt.NDArray[np.float32]:
    inputs = plan.inputs[batch.start : batch.stop]
    values = np.asarray(model.predict(*(inputs[name].to_list() for name in model.columns)), dtype=np.float32)
    if values.shape != (inputs.height, 3):
        raise AcidtestError(
            f"model {model.name!r} gave an array of shape {values.shape} for {inputs.height} pairs; "
            f"expected ({inputs.height}, 3): the probabilities of entailment, neutral, contradiction; or label names"
        )
    _refuse(model, plan, batch, values, np.isnan(values).any(axis=1) & ~_abstained(model, values), "NaN")
    present = answered(values)
    total = values.sum(axis=1, where=present[:, None])
    outside = present & ((values < -_TOLERANCE).any(axis=1) | (np.abs(total - 1) > _TOLERANCE))
    what = "numbers that are not probabilities adding up to 1 (logits need a softmax)"
    _refuse(model, plan, batch, values, outside, what)
    return values


def _abstained(model: Model, values: npt.NDArray[np.float32]) -> npt.NDArray[np.bool_]:
    whole = np.asarray(np.isnan(values).all(axis=1), dtype=np.bool_)
    return whole & model.may_abstain


def _refuse(
    model: Model,
    plan: Plan,
    batch: Batch,
    values: npt.NDArray[np.float32],
    rows: npt.NDArray[np.bool_],
    what: str,
) -> None:
    if not rows.any():
        return
    first = int(np.flatnonzero(rows)[0])
    row = batch.start + first
    shown = ", ".join(f"{name} {value!r}" for name, value in plan.inputs.row(row, named=True).items())
    raise AcidtestError(
        f"model {model.name!r} gave {what} for {int(rows.sum())} of {batch.stop - batch.start} pairs, "
        f"first {', '.join(f'{value:g}' for value in values[first])} for row {plan.ids[row]}: {shown}"
    )
