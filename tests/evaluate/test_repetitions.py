"""Pairs that are evaluated again: which, and when their predictions count as others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest

from acidtest.core.errors import AcidtestError
from acidtest.core.model import Model, complete_model
from acidtest.core.suite import Card, Suite, complete_columns
from acidtest.evaluate.answers import make_plan
from acidtest.evaluate.repetitions import MAX_PAIRS, Repetition, refuse_other_model, repeat_predictions
from acidtest.evaluate.runner import collect_answers


def suite(name: str, rows: int) -> Suite:
    frame = pl.DataFrame({"premise": [f"{name} {n}" for n in range(rows)], "hypothesis": ["h"] * rows})
    return Suite(complete_columns(frame.with_columns(label=pl.lit("neutral")), name).lazy(), Card(name)).sealed()


class Steps:
    """A model whose entailment is the next of some numbers at each call; it notes what it was asked."""

    batch_size = 10
    may_abstain = True

    def __init__(self, *values: float, independent: bool = True) -> None:
        self.values, self.asked, self.independent = list(values), list[Sequence[str]](), independent

    def predict(self, premises: Sequence[str], hypotheses: Sequence[str]) -> np.ndarray:
        self.asked.append(premises)
        value = self.values.pop(0) if len(self.values) > 1 else self.values[0]
        return np.tile(np.array([value, 1 - value, 0 * value], np.float32), (len(premises), 1))


def repeat(inner: Any, suites: Sequence[Suite]) -> Repetition:
    model: Model = complete_model(inner)
    plan = make_plan(model, suites)
    return repeat_predictions(model, plan, collect_answers(model, plan))


def test_pairs_of_all_suites_are_evaluated_again_and_always_the_same() -> None:
    suites = [suite("a", 15), suite("b", 20)]
    first, second = Steps(0.5), Steps(0.5)
    assert repeat(first, suites) == repeat(second, suites) == Repetition(MAX_PAIRS)
    assert first.asked[-1] == second.asked[-1]
    assert len(first.asked[-1]) == MAX_PAIRS
    assert {premise[0] for premise in first.asked[-1]} == {"a", "b"}


def test_no_more_pairs_are_evaluated_than_there_are() -> None:
    assert repeat(Steps(0.5), [suite("a", 3)]) == Repetition(3)
    assert repeat(Steps(0.5), [suite("a", 0)]) == Repetition()


# A run of ten pairs takes one call; each further call is a repetition.
@pytest.mark.parametrize(
    ("values", "changes", "varies"),
    [
        ((0.5, 0.5005), 0, False),
        ((0.5, 0.51), 10, False),
        ((0.5, 0.51, 0.52), 10, True),
        ((0.5, 0.51, 0.51, 0.5), 10, True),
        # A pair without a prediction before or now is not compared.
        ((0.5, np.nan), 0, False),
        ((np.nan, 0.5), 0, False),
    ],
)
def test_a_changed_model_is_told_from_one_that_varies(values: tuple[float, ...], changes: int, varies: bool) -> None:
    repetition = repeat(Steps(*values), [suite("a", 10)])
    assert (repetition.changes, repetition.varies) == (changes, varies)


def by_batch(premises: Sequence[str], hypotheses: Sequence[str]) -> list[list[float]]:
    return [[len(premises) / 200, 1 - len(premises) / 200, 0.0] for _ in premises]


def test_a_model_whose_predictions_depend_on_the_batch_is_not_called_changed() -> None:
    assert repeat(by_batch, [suite("a", 50)]).changes == 0


@pytest.mark.parametrize(("varies", "changes", "stops"), [(False, 1, True), (True, 6, False), (True, 7, True)])
def test_a_model_that_states_that_it_varies_was_changed_if_most_predictions_are_others(
    varies: bool, changes: int, stops: bool, caplog: pytest.LogCaptureFixture
) -> None:
    model = complete_model(by_batch)
    model.varies = varies  # type: ignore[attr-defined]
    check: Callable[[], None] = lambda: refuse_other_model(model, Repetition(12, changes), "an earlier run")  # noqa: E731
    if stops:
        with pytest.raises(AcidtestError, match=f"{changes} of 12 finished pairs .* --fresh"):
            check()
    else:
        check()
        assert f"gave other predictions for {changes} of 12 pairs" in caplog.text
