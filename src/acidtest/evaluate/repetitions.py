"""Evaluates a model again on a few finished pairs, to see whether it still gives the predictions that it gave."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.errors import AcidtestError
from acidtest.core.labels import Probabilities, has_answer
from acidtest.core.logs import log
from acidtest.core.model import Model, Varies
from acidtest.evaluate.answers import ID, AnswerTable, Batch, InputPlan
from acidtest.evaluate.runner import Asker

MAX_PAIRS = 12
"""The most pairs that are evaluated again."""

MAX_CALLS = 3
"""How often they are evaluated again if the first predictions differ."""

MAX_BATCHES = 2
"""The most whole batches that are evaluated again, for a model whose predictions depend on the batch."""

TOLERANCE = 1e-3
"""The largest difference between two probabilities of one prediction that counts as none."""

_SHOWN = 200


@dataclass(frozen=True)
class Repetition:
    """What became of the predictions for some pairs that were evaluated again."""

    compared: int = 0
    changes: int = 0
    """Pairs with another prediction than before."""
    varies: bool = False
    """Whether the model gives other predictions for the same pairs in the same process."""
    first: str = ""
    """The first pair that differs, with both predictions."""


def repeat_predictions(model: Model, plan: InputPlan, table: AnswerTable) -> Repetition:
    """Evaluate a model again on up to ``MAX_PAIRS`` of its finished pairs, evenly spaced over the suites.

    Pairs without a prediction are not compared. If predictions differ, the same pairs are evaluated again, to tell a
    model that varies from one that was changed. One that is not ``independent`` gets whole batches as well.
    """
    chosen = _choose_pairs(plan, table)
    if not chosen:
        return Repetition()
    inputs = pl.concat([batch.inputs[row] for batch, row in chosen])
    keys = np.array([batch.keys[row] for batch, row in chosen], dtype=np.uint64)
    before, _ = table.lookup(inputs)

    def ask(batch: Batch) -> Probabilities:
        return Asker(model).ask(batch).values

    again = ask(Batch(0, inputs, keys))
    compared = has_answer(before) & has_answer(again)
    two_way = model.resolution == "two-way"
    changed = compared & _differ(before, again, two_way=two_way)
    if not changed.any():
        return Repetition(int(compared.sum()))
    differing = Repetition(int(compared.sum()), int(changed.sum()), first=_describe(inputs, before, again, changed))
    for _ in range(MAX_CALLS - 1):
        once_more = ask(Batch(0, inputs, keys))
        if (has_answer(once_more) & has_answer(again) & _differ(once_more, again, two_way=two_way)).any():
            return replace(differing, varies=True)
    if not model.independent and _depend_on_batch(chosen, changed, before, ask, two_way=two_way):
        return Repetition(int(compared.sum()))
    return differing


def describe_variation(model: Model, repetition: Repetition) -> str:
    """A sentence about a model that gives other predictions for the same pairs."""
    return (
        f"{model.name} gave other predictions for {repetition.changes} of {repetition.compared} pairs that were "
        f"evaluated again, first {repetition.first}"
    )


def refuse_other_model(model: Model, repetition: Repetition, where: str) -> None:
    """Raise if a model was changed since it gave the predictions in a run, and warn if its predictions vary.

    A model that states that it ``Varies`` was changed if more than half of its predictions are others.
    """
    expected = isinstance(model, Varies) and model.varies and 2 * repetition.changes <= repetition.compared
    if repetition.changes and (repetition.varies or expected):
        log.warning("%s", describe_variation(model, repetition))
    elif repetition.changes:
        raise AcidtestError(
            f"{model.name} gives other predictions than it gave in {where}: {repetition.changes} of "
            f"{repetition.compared} finished pairs that were evaluated again differ, first {repetition.first}. Perhaps "
            f"its weights or other files were replaced; restore them, or add --fresh to evaluate all pairs anew"
        )


def _choose_pairs(plan: InputPlan, table: AnswerTable) -> list[tuple[Batch, int]]:
    """Pairs with a prediction, evenly spaced in the order of the plan, with their batches."""
    predicted = table.predicted
    wanted = set(np.linspace(0, predicted - 1, min(MAX_PAIRS, predicted)).astype(int).tolist())
    chosen, seen = list[tuple[Batch, int]](), 0
    for batch in plan if wanted else ():
        rows = np.flatnonzero(table.has_prediction(batch.keys))
        chosen += [(batch, int(rows[rank - seen])) for rank in sorted(wanted) if seen <= rank < seen + len(rows)]
        seen += len(rows)
        if len(chosen) == len(wanted):
            break
    return chosen


def _depend_on_batch(
    chosen: list[tuple[Batch, int]],
    changed: npt.NDArray[np.bool_],
    before: Probabilities,
    ask: Callable[[Batch], Probabilities],
    *,
    two_way: bool,
) -> bool:
    """Whether pairs that changed have their predictions of before in the batches in which they were asked."""
    for place in np.flatnonzero(changed)[:MAX_BATCHES]:
        batch, row = chosen[place]
        if _differ(before[[place]], ask(batch)[[row]], two_way=two_way).any():
            return False
    return True


def _differ(one: Probabilities, other: Probabilities, *, two_way: bool) -> npt.NDArray[np.bool_]:
    """Which rows have a probability that differs by more than ``TOLERANCE``."""
    if two_way:
        one, other = one[:, :1], other[:, :1]
    return np.asarray((np.abs(one - other) > TOLERANCE).any(axis=1))


def _describe(inputs: pl.DataFrame, before: Probabilities, again: Probabilities, changed: npt.NDArray[np.bool_]) -> str:
    place = int(np.flatnonzero(changed)[0])
    pair = inputs.row(place, named=True)
    texts = ", ".join(f"{name} {value!r}"[:_SHOWN] for name, value in pair.items() if name != ID and value is not None)
    was, now = (" ".join(f"{value:.3f}" for value in values[place]) for values in (before, again))
    return f"{pair[ID]} ({texts}; entailment, neutral, contradiction {was} before, {now} now)"
