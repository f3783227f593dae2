"""Which rows are shown: sure mistakes of many slices, and what only one of two models gets right."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from acidtest.core.labels import LABELS
from acidtest.core.suite import Card
from acidtest.studies.scoring.rows import ScoredRows, score_rows
from acidtest.studies.scoring.slices import confidence, disagreement, mistakes, spread


def test_one_row_of_each_slice_comes_before_a_second_of_any_the_surest_first() -> None:
    rows = pl.DataFrame({"template": ["a", "a", "a", "b", "c"]})
    sure = np.array([0.99, 0.98, 0.97, 0.6, 0.7])
    assert spread(rows, ["template"], sure, count=3) == [0, 4, 3]
    assert spread(rows, ["template"], sure, count=4) == [0, 4, 3, 1]
    assert spread(rows, ["template"], sure, count=9) == [0, 4, 3, 1, 2]


def test_among_rows_as_sure_as_each_other_those_of_unused_slices_come_first() -> None:
    rows = pl.DataFrame({"subcase": ["a", "b", "c", "d"], "heuristic": ["x", "x", "x", "y"]})
    # The third is surer by a hair, which is less than a hundredth and does not count.
    assert spread(rows, ["subcase", "heuristic"], np.array([0.9, 0.9, 0.902, 0.9]), count=2) == [0, 3]


def test_a_second_row_of_a_group_comes_only_when_every_group_has_one() -> None:
    rows = pl.DataFrame({"template": ["a", "b", "c"], "group": ["g", "g", "h"]})
    assert spread(rows, ["template"], np.array([0.9, 0.8, 0.1]), count=3) == [0, 2, 1]


def test_of_no_rows_none_are_chosen() -> None:
    rows = pl.DataFrame({"template": pl.Series([], dtype=pl.String)})
    assert spread(rows, ["template"], np.array([]), count=3) == []
    assert spread(rows.select([]), [], np.array([]), count=3) == []


def test_mistakes_carry_gold_answer_and_probability(toy: SimpleNamespace) -> None:
    total, (first, second) = mistakes(toy.entry().run, "toy", "voice")
    assert total == 2
    assert (first.id, first.gold, first.facts) == ("toy-2", "entailment", {"voice": "active"})
    assert first.answers == {"a-model": "neutral 0.70"}
    # Without an answer there is no confidence: such a row comes last.
    assert (second.id, second.answers) == ("toy-3", {"a-model": "no answer"})


def test_a_two_way_model_s_probability_of_non_entailment_is_found(toy: SimpleNamespace) -> None:
    frame = toy.rows(answer=["entailment", "non-entailment", "non-entailment", None])
    _, examples = mistakes(toy.entry(frame, resolution="two-way").run, "toy", None)
    assert examples[0].answers == {"a-model": "non-entailment 0.70"}


def test_a_model_without_probabilities_shows_none_and_spreads_its_mistakes(toy: SimpleNamespace) -> None:
    frame = pl.concat([toy.rows()] * 3).with_columns(
        id=pl.Series([f"row {number}" for number in range(12)]),
        group=pl.Series([f"row {number}" for number in range(12)]),
        voice=pl.Series(["a"] * 8 + ["b"] * 4),
    )
    _, examples = mistakes(toy.entry(frame, probabilities=False).run, "toy", "voice", count=2)
    assert [example.facts["voice"] for example in examples] == ["a", "b"]
    assert {answer for example in examples for answer in example.answers.values()} <= {"neutral", "no answer"}


def test_rows_only_one_model_gets_right_are_counted_and_shown_for_each(toy: SimpleNamespace) -> None:
    labels = ["entailment", "neutral", "entailment", "neutral"]
    card = Card("toy", columns={"voice": "factor"})

    def scored(model: str, sure: list[float]) -> ScoredRows:
        frame = toy.rows(label=labels, p_entailment=sure, p_neutral=[1 - p for p in sure], p_contradiction=[0.0] * 4)
        answers = ["entailment" if p > 0.5 else "neutral" for p in sure]
        return score_rows(
            toy.entry(frame.with_columns(answer=pl.Series(answers)), model=model, cards=[card]).run, "toy"
        )

    # Gold is e, n, e, n: the first gets rows 0 and 1 right, the second rows 0 and 2.
    first, second = scored("first", [0.9, 0.2, 0.3, 0.6]), scored("second", [0.8, 0.7, 0.9, 0.99])
    found = disagreement(("first", "second"), (first, second), "voice")
    assert (found.both, found.neither, found.only_first, found.only_second) == (1, 1, 1, 1)
    assert [example.id for example in found.first_examples] == ["toy-1"]
    (shown,) = found.second_examples
    assert shown.id == "toy-2"
    assert shown.answers == {"first": "neutral 0.70", "second": "entailment 0.90"}


@pytest.mark.parametrize("groups", [5, 400])
def test_mistakes_found_piece_by_piece_are_those_chosen_from_all_rows(groups: int, toy: SimpleNamespace) -> None:
    rng, count = np.random.default_rng(groups), 3000
    p = rng.dirichlet([1, 1, 1], count).astype(np.float32).round(2)
    frame = pl.DataFrame(
        {
            "suite": ["toy"] * count,
            "id": [f"row {number}" for number in range(count)],
            "premise": [f"premise {number}" for number in range(count)],
            "hypothesis": ["h"] * count,
            "label": rng.choice(["entailment", "contradiction"], count),
            "group": [f"g{number}" for number in rng.integers(0, groups, count)],
            "voice": rng.choice(["active", "passive", "middle"], count, p=[0.9, 0.09, 0.01]),
            **{f"p_{label}": p[:, place] for place, label in enumerate(LABELS)},
            "answer": np.array(LABELS)[p.argmax(axis=1)],
            "correct": rng.random(count) < 0.2,
        }
    )
    run = toy.entry(frame).run
    wrong = frame.filter(~pl.col("correct"))
    expected = wrong[spread(wrong, ["voice", "label"], confidence(wrong, run), count=10)]

    def in_pieces(_: pl.LazyFrame, visit: Callable[[pl.DataFrame], None]) -> None:
        for piece in frame.drop("suite", "premise", "hypothesis").iter_slices(100):
            visit(piece)

    object.__setattr__(run, "visit", in_pieces)
    total, examples = mistakes(run, "toy", "voice")
    assert total == wrong.height
    assert [example.id for example in examples] == expected["id"].to_list()
    assert [example.premise for example in examples] == expected["premise"].to_list()
