import numpy as np
import pytest

from acidtest.core.errors import AcidtestError
from acidtest.core.labels import (
    GOLD_MASKS,
    LABELS,
    Collapse,
    answers,
    coarsen_gold,
    gold_masks,
    gold_name,
    one_hot,
    verdicts,
)

SPLIT = np.array([[0.40, 0.35, 0.25]], dtype=np.float32)
"""Entailment is likeliest, yet neutral and contradiction together outweigh it."""


def test_every_nonempty_set_of_labels_has_a_name() -> None:
    assert sorted(GOLD_MASKS.values()) == [1, 2, 3, 4, 5, 6, 7]


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        ("entailment", "entailment"),
        ("ENTAILMENT", "entailment"),
        (" entails ", "entailment"),
        ("e", "entailment"),
        ("n", "neutral"),
        ("c", "contradiction"),
        ("contradictory", "contradiction"),
        ("not_entailment", "non-entailment"),
        ("non-entailment", "non-entailment"),
        ("yes", "entailment"),
        ("unknown", "neutral"),
        ("no", "contradiction"),
        ("Supported", "entailment"),
        ("not supported", "non-entailment"),
        ("hallucinated", "non-entailment"),
        ("REFUTES", "contradiction"),
        ("NOT ENOUGH INFO", "neutral"),
    ],
)
def test_spellings_in_use_are_understood(spelling: str, name: str) -> None:
    assert gold_name(spelling) == name


@pytest.mark.parametrize("spelling", ["entail", "0", "", "-", "backed", "true"])
def test_an_unknown_spelling_means_nothing(spelling: str) -> None:
    assert gold_name(spelling) is None


def test_masks_say_which_labels_are_accepted() -> None:
    assert gold_masks(["non-entailment", "entailment", "any"]).tolist() == [0b110, 0b001, 0b111]


def test_a_two_way_model_cannot_tell_neutral_from_contradiction() -> None:
    gold = gold_masks(["entailment", "neutral", "contradiction", "non-entailment", "non-neutral"])
    expected = gold_masks(["entailment", "non-entailment", "non-entailment", "non-entailment", "any"])
    assert coarsen_gold(gold).tolist() == expected.tolist()


def test_hard_labels_become_rows_of_one_one() -> None:
    rows = one_hot([*LABELS, "non-entailment"])
    assert rows.tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 1, 0]]
    assert rows.dtype == np.float32


def right(probabilities: np.ndarray, gold: str, collapse: str) -> bool:
    return bool(verdicts(probabilities, gold_masks([gold]), collapse=Collapse.parse(collapse))[0])


@pytest.mark.parametrize(
    ("gold", "collapse", "expected"),
    [
        ("entailment", "argmax", True),
        ("non-entailment", "argmax", False),
        ("entailment", "sum", False),
        ("non-entailment", "sum", True),
        ("non-contradiction", "sum", True),
        ("neutral", "sum", False),
        ("entailment", "threshold=0.3", True),
        ("entailment", "threshold=0.4", False),
        ("neutral", "threshold=0.5", True),
        ("contradiction", "threshold=0.5", False),
        ("any", "argmax", True),
    ],
)
def test_a_verdict_depends_on_how_probabilities_collapse(gold: str, collapse: str, expected: bool) -> None:
    assert right(SPLIT, gold, collapse) is expected


@pytest.mark.parametrize("collapse", ["argmax", "sum", "threshold=0.2"])
def test_a_row_without_an_answer_is_wrong_whatever_the_gold(collapse: str) -> None:
    nothing = np.full((1, 3), np.nan, dtype=np.float32)
    assert not right(nothing, "any", collapse)
    assert answers(nothing, Collapse.parse(collapse)).tolist() == [-1]


def test_ties_go_to_the_first_label() -> None:
    tie = np.array([[0.4, 0.4, 0.2]], dtype=np.float32)
    assert answers(tie, Collapse()).tolist() == [0]


@pytest.mark.parametrize("text", ["max", "threshold", "threshold=1", "threshold=x", "sum=0.5", "threshold=-0.1"])
def test_an_unknown_collapse_is_refused(text: str) -> None:
    with pytest.raises(AcidtestError, match="argmax, sum or threshold=T"):
        Collapse.parse(text)


@pytest.mark.parametrize("text", ["argmax", "sum", "threshold=0.7"])
def test_a_collapse_is_written_as_it_is_read(text: str) -> None:
    assert str(Collapse.parse(text)) == text
