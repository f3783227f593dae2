"""From rows to estimates, on a run small enough to count by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from acidtest.core.run import Header, ModelFacts, Run
from acidtest.core.suite import Card
from acidtest.studies.scoring.rows import (
    ScoredRows,
    accuracy,
    breakdown,
    breakdowns,
    group_consistency,
    metrics,
    runs_by_model,
    score_rows,
    select_rows,
    shared_places,
    spread,
)
from made_runs import made_run

#        gold, group, template, kind, probabilities of entailment, neutral, contradiction
ROWS = [
    ("entailment", "g1", "t1", "a", (0.8, 0.1, 0.1)),  # right
    ("entailment", "g1", "t1", "b", (0.1, 0.8, 0.1)),  # wrong
    ("non-entailment", "g2", "t2", "a", (0.4, 0.3, 0.3)),  # wrong by argmax, right by sum
    ("non-entailment", "g2", "t2", None, (0.1, 0.2, 0.7)),  # right
    ("non-neutral", "g3", "t3", "b", (0.2, 0.3, 0.5)),  # right
    ("contradiction", "g3", "t3", "b", (0.2, 0.1, 0.7)),  # right
]  # fmt: skip


def run(resolution: str = "three-way") -> Run:
    gold, groups, templates, kinds, values = zip(*ROWS, strict=True)
    p = np.array(values, dtype=np.float32)
    frame = pl.DataFrame(
        {
            "suite": "s",
            "id": [str(number) for number in range(len(ROWS))],
            "premise": "p",
            "hypothesis": "h",
            "label": gold,
            "group": groups,
            "template": templates,
            "kind": kinds,
            "p_entailment": p[:, 0],
            "p_neutral": p[:, 1],
            "p_contradiction": p[:, 2],
        }
    )
    card = Card("s", columns={"template": "factor", "kind": "factor"}, crossings=(("kind", "label"),))
    return Run(Header(ModelFacts("m", "m", resolution=resolution), {"s": card}, {}), frame)


def rows() -> ScoredRows:
    return score_rows(run(), "s")


@pytest.mark.parametrize(
    ("collapse", "right"),
    [
        # Neutral for a contradiction: the claim is rightly not supported. By argmax 0.4 of (0.4, 0.3, 0.3) supports it.
        ("argmax", [True, False, False, True, True, False]),
        ("sum", [True, False, True, True, True, True]),
        ("threshold=0.45", [True, False, True, True, True, True]),
    ],
)
@pytest.mark.parametrize("suite", ["grounding/number", "grounding/number#control", "mine"])
def test_claims_are_judged_as_supported_or_not_by_the_rule_of_the_run(suite, collapse, right) -> None:
    claims = [
        ("entailment", (0.8, 0.1, 0.1)),
        ("entailment", (0.1, 0.8, 0.1)),
        ("contradiction", (0.4, 0.3, 0.3)),
        ("contradiction", (0.1, 0.8, 0.1)),
        ("neutral", (0.1, 0.1, 0.8)),
        ("non-entailment", (0.42, 0.38, 0.2)),
    ]
    gold, p = [label for label, _ in claims], np.array([values for _, values in claims], dtype=np.float32)
    frame = pl.DataFrame({"suite": suite, "id": list("abcdef"), "premise": "p", "hypothesis": "h", "label": gold})
    columns = dict.fromkeys(("edit", "kind", "change"), "factor") if suite == "mine" else {}
    frame = frame.with_columns(
        *(pl.lit("x").alias(name) for name in columns), p_entailment=p[:, 0], p_neutral=p[:, 1], p_contradiction=p[:, 2]
    )
    card = Card(suite, columns=columns)
    scored = score_rows(Run(Header(ModelFacts("m", "m"), {suite: card}, {"collapse": collapse}), frame), suite)
    assert scored.correct.tolist() == right
    assert scored.labels == ("entailment", "non-entailment")


def test_accuracy_counts_rows() -> None:
    assert rows().correct.tolist() == [True, False, False, True, True, True]
    found = accuracy(rows())
    assert (found.value, found.n, found.groups) == (4 / 6, 6, 3)


def test_recall_is_accuracy_within_a_gold_label() -> None:
    found = metrics(rows(), accuracy(rows()), breakdown(rows(), ["label"]))
    recalls = {name: value.value for name, value in found.items() if name.startswith("recall")}
    assert recalls == {
        "recall entailment": 0.5,
        "recall non-entailment": 0.5,
        "recall non-neutral": 1.0,
        "recall contradiction": 1.0,
    }
    assert found["answers entailment"].value == pytest.approx(2 / 6)


def test_a_group_is_consistent_when_all_its_rows_are_right() -> None:
    found = group_consistency(rows())
    assert (found.value, found.n) == (pytest.approx(1 / 3), 3)


def test_a_slice_leaves_out_rows_without_a_value() -> None:
    found = breakdown(rows(), ["kind"])
    assert {key: (value.value, value.n) for key, value in found.items()} == {
        "a": (0.5, 2),
        "b": (pytest.approx(2 / 3), 3),
    }


def test_crossed_factors_are_broken_down_together() -> None:
    found = breakdowns(rows())
    assert list(found) == ["label", "template", "kind", "kind × label"]
    assert found["kind × label"]["a × non-entailment"].value == 0


def test_spread_is_the_standard_deviation_over_a_factor() -> None:
    # Accuracies of t1, t2, t3: 0.5, 0.5, 1; sample standard deviation sqrt(1/12).
    assert spread(rows(), "template").value == pytest.approx((1 / 12) ** 0.5)


def test_verdicts_that_depend_on_the_collapse_are_counted() -> None:
    # Row 3 turns right; row 5 (0.2 + 0.5) stays right, row 6 (0.7) too.
    assert rows().collapse_differs == 1


def test_verdicts_depend_on_the_collapse_only_where_gold_is_a_set() -> None:
    # The likeliest label has 0.4: summed, every answer to a single gold label would be wrong and say nothing.
    chances = {"p_entailment": [0.4] * 4, "p_neutral": [0.35] * 4, "p_contradiction": [0.25] * 4}

    def differing(labels: list[str]) -> int | None:
        ids = [str(number) for number in range(4)]
        texts = {"suite": ["s"] * 4, "id": ids, "group": ids, "premise": ids, "hypothesis": ids, "label": labels}
        return score_rows(
            Run(Header(ModelFacts("m", "m"), {"s": Card("s")}, {}), pl.DataFrame(texts | chances)), "s"
        ).collapse_differs

    assert differing(["entailment", "neutral", "contradiction", "entailment"]) is None
    # Non-entailment turns right, entailment, which is what it leaves, turns wrong; a contradiction is neither.
    assert differing(["entailment", "non-entailment", "contradiction", "non-entailment"]) == 3
    assert differing(["contradiction", "non-contradiction", "entailment", "non-contradiction"]) == 0


def test_a_two_way_model_is_not_scored_where_both_its_labels_are_accepted() -> None:
    found = score_rows(run("two-way"), "s")
    assert found.left_out == 1
    assert found.frame["label"].to_list() == [
        "entailment", "entailment", "non-entailment", "non-entailment", "contradiction"
    ]  # fmt: skip


def test_no_rows_are_no_number() -> None:
    empty = run()
    found = score_rows(Run(empty.header, empty.predictions[:0]), "s")
    assert not accuracy(found).known
    assert accuracy(found).note == "no rows"
    assert breakdown(found, ["kind"]) == {}


def test_values_are_numbered_as_they_first_appear_and_null_is_one() -> None:
    codes, values = rows().coded("kind", "template")
    assert values.rows() == [("a", "t1"), ("b", "t1"), ("a", "t2"), (None, "t2"), ("b", "t3")]
    assert codes.tolist() == [0, 1, 2, 3, 4, 4]


def test_strata_are_numbered_in_order_of_their_values() -> None:
    made = run()
    card = replace(made.header.suites["s"], strata=("kind", "absent"))
    found = score_rows(Run(replace(made.header, suites={"s": card}), made.frame), "s").strata
    # Null comes first, as it does in sorting.
    assert found.tolist() == [1, 2, 1, 0, 2, 2]


def test_without_a_column_of_groups_all_rows_are_one() -> None:
    made = run()
    found = accuracy(score_rows(Run(made.header, made.predictions.drop("group")), "s"))
    assert (found.groups, found.note) == (1, "one group only: no interval")


def test_selected_rows_come_in_the_order_given() -> None:
    chosen = select_rows(rows(), np.array([2, 0]))
    assert chosen.column(pl.col("id")).to_list() == [rows().column(pl.col("id"))[place] for place in (2, 0)]
    assert chosen.correct.tolist() == rows().correct[[2, 0]].tolist()


def test_shared_rows_are_in_the_order_of_the_first_run() -> None:
    first, second = shared_places([rows(), select_rows(rows(), np.array([3, 1]))])
    assert (first.tolist(), second.tolist()) == ([1, 3], [1, 0])


def test_a_model_is_called_by_the_name_of_its_runs_unless_two_models_share_it() -> None:
    def named(model: str, name: str) -> Run:
        made = made_run(model, {"toy": [True]})
        return replace(made, header=replace(made.header, name=name))

    first, again, second = named("python:m:one", "release"), named("python:m:one", "release"), named("python:m:two", "")
    assert runs_by_model([first, again, second]) == {"release": [first, again], "python:m:two": [second]}
    assert list(runs_by_model([first, named("python:m:two", "release")])) == ["python:m:one", "python:m:two"]
    assert list(runs_by_model([first, named("python:m:one", "")])) == ["python:m:one"]
