import polars as pl
import pytest

from acidtest.core.checks import find_problems
from acidtest.core.suite import Card, Suite, complete_columns

FRAME = complete_columns(
    pl.DataFrame(
        {
            "premise": ["A man runs.", "A dog sleeps."],
            "hypothesis": ["A man moves.", "A dog runs."],
            "label": ["entailment", "contradiction"],
            "kind": ["a", "b"],
        }
    ),
    "mine",
)
CARD = Card("mine", columns={"kind": "factor"})


def codes(frame: pl.DataFrame, card: Card = CARD, control: Suite | None = None) -> list[str]:
    return [problem.code for problem in find_problems(Suite(frame.lazy(), card, control))]


def test_a_sound_suite_has_no_problems() -> None:
    assert codes(FRAME) == []


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        (FRAME.drop("group"), "E100"),
        (FRAME.with_columns(id=pl.lit("x")), "E101"),
        (FRAME.with_columns(hypothesis=pl.lit("")), "E102"),
        (FRAME.with_columns(premise=pl.lit(None, dtype=pl.String)), "E102"),
        (FRAME.with_columns(label=pl.lit("maybe")), "E103"),
        (FRAME.with_columns(extra=pl.lit("x")), "E105"),
        (FRAME.with_columns(kind=pl.lit(1)), "E106"),
        (FRAME.with_columns(premise=pl.lit("A."), hypothesis=pl.lit("B.")), "W201"),
    ],
)
def test_every_promise_broken_has_its_code(frame: pl.DataFrame, code: str) -> None:
    assert codes(frame) == [code]


def test_a_column_may_not_have_a_name_that_a_run_needs() -> None:
    frame = FRAME.rename({"kind": "answer"})
    assert codes(frame, Card("mine", columns={"answer": "factor"})) == ["E107"]


def test_a_base_id_must_be_in_the_control() -> None:
    control = Suite(FRAME.lazy(), CARD)
    assert codes(FRAME.with_columns(base_id=pl.col("id")), control=control) == []
    assert codes(FRAME.with_columns(base_id=pl.lit("nowhere")), control=control) == ["E104"]


def test_every_base_id_that_is_missing_is_named_once() -> None:
    control = Suite(FRAME.lazy(), CARD)
    bases = pl.Series(["nowhere", FRAME["id"][0], "nowhere", "elsewhere", None])
    frame = pl.concat([FRAME] * 3)[:5].with_columns(base_id=bases, id=pl.int_range(5).cast(pl.String))
    found = find_problems(Suite(frame.lazy(), CARD, control))
    assert [str(problem) for problem in found] == [
        "E104 base_id points at rows the control does not have: nowhere, elsewhere"
    ]


def test_pairs_with_two_labels_are_counted_wherever_they_stand() -> None:
    labels = pl.Series(["entailment", "neutral", "entailment", "maybe", "neutral", "neutral"])
    frame = pl.DataFrame({"premise": list("ababcc"), "hypothesis": "A dog runs.", "label": labels})
    found = find_problems(Suite(complete_columns(frame, "mine").lazy(), Card("mine")))
    # a is entailed twice, b neutral and unknown, c neutral twice.
    assert [problem.code for problem in found] == ["E103", "W201"]
    assert found[1].message == "1 pairs stand with two different labels"


def test_a_label_that_length_gives_away_is_a_warning() -> None:
    frame = pl.DataFrame(
        {
            "premise": [f"p{i}" for i in range(200)],
            "hypothesis": ["short" if i % 2 else "a much longer hypothesis" for i in range(200)],
            "label": ["neutral" if i % 2 else "entailment" for i in range(200)],
        }
    )
    found = find_problems(Suite(complete_columns(frame, "leaky").lazy(), Card("leaky")))
    assert [problem.code for problem in found] == ["W301", "W301"]
    assert "entailment hypotheses are longer (area 1.00)" in found[0].message
    even = frame.with_columns(hypothesis=pl.lit("same ") + pl.int_range(200).cast(pl.String))
    assert find_problems(Suite(complete_columns(even, "even").lazy(), Card("even"))) == []
