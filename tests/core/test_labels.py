import numpy as np
import pytest

from acidtest.core.labels import GOLD_MASKS, LABELS, coarsen_gold, gold_masks, gold_name, one_hot


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
    ],
)
def test_spellings_in_use_are_understood(spelling: str, name: str) -> None:
    assert gold_name(spelling) == name


@pytest.mark.parametrize("spelling", ["entail", "0", "", "-", "supported", "true"])
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
