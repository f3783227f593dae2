"""The column of the scorecard for the best single answer, where gold is uneven."""

from __future__ import annotations

import polars as pl
import pytest

from acidtest.core.run import Header, ModelFacts, Run
from acidtest.core.suite import Card
from acidtest.studies.scores import SuiteResult, score_run
from acidtest.studies.scores.diagnosis.suites import single_answer, suite_chance
from acidtest.studies.scores.scorecard import suite_verdict, suites_table


def run(gold: dict[str, int], right: float, *, resolution: str = "three-way") -> Run:
    """A run on so many pairs of each gold, of which a share is answered rightly, entailment or neutral otherwise."""
    labels = [label for label, count in gold.items() for _ in range(count)]
    answers = []
    for number, label in enumerate(labels):
        correct = {"non-entailment": "neutral"}.get(label, label)
        wrong = "neutral" if correct == "entailment" else "entailment"
        answers.append(correct if number % 10 < 10 * right else wrong)
    columns = {f"p_{name}": [float(answer == name) for answer in answers] for name in ("entailment", "neutral")}
    frame = pl.DataFrame(
        {
            "suite": "uneven",
            "id": [str(number) for number in range(len(labels))],
            "premise": "p",
            "hypothesis": [str(number) for number in range(len(labels))],
            "label": labels,
            "group": [str(number) for number in range(len(labels))],
            "base_id": pl.Series([None] * len(labels), dtype=pl.String),
            **columns,
            "p_contradiction": [float(answer == "contradiction") for answer in answers],
        }
    ).with_columns(pl.col("^p_.*$").cast(pl.Float32))
    return Run(Header(ModelFacts("m", "m", resolution=resolution), {"uneven": Card("uneven")}, {}), frame)


def result(gold: dict[str, int], right: float, **options: str) -> SuiteResult:
    return score_run(run(gold, right, **options)).suites["uneven"]


def test_the_best_single_answer_is_told_where_it_beats_guessing() -> None:
    uneven = result({"entailment": 70, "neutral": 200, "contradiction": 30}, 0.6)
    assert suite_chance(uneven) == pytest.approx(1 / 3)
    assert single_answer(uneven) == pytest.approx(2 / 3)
    assert single_answer(result({"entailment": 100, "neutral": 100, "contradiction": 100}, 0.6)) is None


def test_gold_of_two_labels_accepts_either() -> None:
    # Guessing is right on 1/3 of one hundred and 2/3 of two hundred; neutral on all two hundred.
    uneven = result({"entailment": 100, "non-entailment": 200}, 0.6)
    assert suite_chance(uneven) == pytest.approx(5 / 9)
    assert single_answer(uneven) == pytest.approx(2 / 3)
    assert single_answer(result({"entailment": 100, "non-entailment": 100}, 0.6)) is None
    two_way = result({"entailment": 100, "non-entailment": 200}, 0.6, resolution="two-way")
    assert single_answer(two_way) == pytest.approx(2 / 3)


def test_a_subcase_is_judged_by_its_own_chance() -> None:
    """HANS: guessing gives 50 % over all, but 33 % where gold is entailment and 67 % where it is not."""
    hans = run({"entailment": 900, "non-entailment": 900}, 0.6)
    rates = {"le_a": 0.39, "le_b": 0.8, "le_c": 0.8, "ln_a": 0.54, "ln_b": 0.8, "ln_c": 0.8}
    subcases = [name for name in rates for _ in range(300)]
    right = [number % 100 < 100 * rates[name] for number, name in enumerate(subcases)]
    entailed = [name.startswith("le") == is_right for name, is_right in zip(subcases, right, strict=True)]
    frame = hans.predictions.with_columns(
        subcase=pl.Series(subcases),
        p_entailment=pl.Series(entailed).cast(pl.Float32),
        p_neutral=(~pl.Series(entailed)).cast(pl.Float32),
        p_contradiction=pl.lit(0.0, pl.Float32),
    )
    card = Card("uneven", columns={"subcase": "factor"}, strata=("subcase",))
    scores = score_run(Run(Header(ModelFacts("m", "m"), {"uneven": card}, {}), frame))
    assert scores.suites["uneven"].chances == {
        "subcase": {name: pytest.approx(1 / 3 if name.startswith("le") else 2 / 3) for name in rates}
    }
    (finding,) = (finding for finding in scores.diagnosis if finding.code == "S1")
    assert finding.sentence == "does worse than guessing on parts of uneven: ln_a (54 % right)"
    assert finding.evidence[0].endswith("; guessing gives 67 %")


def test_one_gold_has_no_best_single_answer() -> None:
    assert single_answer(result({"contradiction": 100}, 0.6)) is None


@pytest.mark.parametrize(
    ("right", "verdict"), [(0.5, "below one answer"), (0.8, "above chance"), (1.0, "mostly right")]
)
def test_beating_guessing_is_not_beating_one_answer(right: float, verdict: str) -> None:
    assert suite_verdict(result({"entailment": 70, "neutral": 200, "contradiction": 30}, right)) == verdict


def test_the_column_stands_only_where_it_says_something() -> None:
    uneven = suites_table(score_run(run({"entailment": 70, "neutral": 200, "contradiction": 30}, 0.6)), brief=True)
    even = suites_table(score_run(run({"entailment": 90, "neutral": 90, "contradiction": 90}, 0.6)), brief=True)
    assert [column.name for column in uneven.columns][:3] == ["accuracy", "chance", "one answer"]
    assert "one answer" not in [column.name for column in even.columns]
    assert len(uneven.notes) == len(even.notes) + 1
