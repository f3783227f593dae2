"""What the outputs of a classifier mean."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

import numpy as np
import pytest

from acidtest.core.errors import AcidtestError
from acidtest.core.labels import LABELS
from acidtest.models.label_maps import LabelMap, Logits, find_label_map, probe_pairs

UNNAMED = ("LABEL_0", "LABEL_1", "LABEL_2")
PREMISES, HYPOTHESES, GOLD = probe_pairs()


def knowing(outputs: Sequence[str], *, margin: float = 2.0, noise: float = 1.0) -> Logits:
    """A head with these outputs that mostly gives the probe pairs their labels."""
    gold = dict(zip(zip(PREMISES, HYPOTHESES, strict=True), GOLD, strict=True))

    def logits(premises: Sequence[str], hypotheses: Sequence[str]) -> np.ndarray:
        labels = [gold[pair] for pair in zip(premises, hypotheses, strict=True)]
        meant = [
            [label == out or (out == "non-entailment" and label != "entailment") for out in outputs] for label in labels
        ]
        drawn = np.random.default_rng(0).normal(0, noise, (len(labels), len(outputs)))
        return (2 * margin * np.array(meant) - margin + drawn).astype(np.float32)

    return logits


def blind(outputs: int, seed: int) -> Logits:
    """A head whose answers have nothing to do with labels, with a bias towards one of them."""
    draws = np.random.default_rng(seed)
    bias = draws.normal(0, 1, outputs)
    return lambda premises, _: (draws.normal(0, 1, (len(premises), outputs)) + bias).astype(np.float32)


def unasked(premises: Sequence[str], hypotheses: Sequence[str]) -> np.ndarray:
    raise AssertionError("the model was asked although the user said what its outputs mean")


def find_map(names: Sequence[str], logits: Logits, **options: str) -> LabelMap:
    return find_label_map(names, logits, spec="hf:x", **options)


def test_the_probe_set_has_twenty_different_pairs_of_each_label() -> None:
    assert [GOLD.count(label) for label in LABELS] == [20, 20, 20]
    assert len(set(zip(PREMISES, HYPOTHESES, strict=True))) == 60
    assert all(text == text.strip() and text.endswith(".") for text in PREMISES + HYPOTHESES)


@pytest.mark.parametrize("order", list(permutations(LABELS)))
def test_unnamed_outputs_are_told_by_probing(order: tuple[str, ...]) -> None:
    label_map = find_map(UNNAMED, knowing(order))
    assert label_map.outputs == order
    assert label_map.resolution == "three-way"
    assert label_map.method.startswith("probing")


@pytest.mark.parametrize("order", list(permutations(("entailment", "non-entailment"))))
def test_two_unnamed_outputs_are_told_by_probing(order: tuple[str, ...]) -> None:
    label_map = find_map(UNNAMED[:2], knowing(order))
    assert label_map.outputs == order
    assert label_map.resolution == "two-way"


@pytest.mark.parametrize("meaning", ["entailment", "non-entailment"])
def test_one_score_is_told_by_which_pairs_score_high(meaning: str) -> None:
    label_map = find_map(UNNAMED[:1], knowing([meaning]))
    assert label_map.outputs == (meaning,)
    assert label_map.notes[0].endswith(f"a high score = {meaning}")


def test_scores_that_rank_well_but_do_not_cut_at_one_half_are_doubted() -> None:
    knows = knowing(["entailment"])
    label_map = find_map(["LABEL_0"], lambda premises, hypotheses: knows(premises, hypotheses) - 20)
    assert label_map.outputs == ("entailment",)
    assert "cut at one half, 50% of 60 unmistakable pairs are right" in label_map.notes[1]
    assert not find_map(["LABEL_0"], knows).doubt


@pytest.mark.parametrize("outputs", [1, 2, 3])
def test_a_head_that_knows_nothing_of_labels_is_refused(outputs: int) -> None:
    refused = 0
    for seed in range(500):
        try:
            find_map(UNNAMED[:outputs], blind(outputs, seed))
        except AcidtestError as error:
            refused += "do not tell what they mean" in str(error)
    assert refused >= 499


def test_a_head_that_says_the_same_of_every_pair_is_refused() -> None:
    for outputs in (1, 2, 3):
        with pytest.raises(AcidtestError, match="do not tell what they mean"):
            find_map(
                UNNAMED[:outputs], lambda premises, _, outputs=outputs: np.ones((len(premises), outputs), np.float32)
            )


def test_a_head_that_confuses_neutral_and_contradiction_is_refused() -> None:
    knows = knowing(LABELS)

    def confused(premises: Sequence[str], hypotheses: Sequence[str]) -> np.ndarray:
        values = knows(premises, hypotheses)
        values[::2] = values[::2][:, [0, 2, 1]]
        return values

    with pytest.raises(AcidtestError, match="--labels"):
        find_map(UNNAMED, confused)


def test_logits_that_are_not_finite_cannot_be_probed() -> None:
    with pytest.raises(AcidtestError, match="do not tell"):
        find_map(UNNAMED, lambda premises, _: np.full((len(premises), 3), np.nan, np.float32))


# cross-encoder/nli-*, roberta-large-mnli, bart-large-mnli, DeBERTa of MoritzLaurer, textattack, ANLI, fact checkers.
@pytest.mark.parametrize(
    ("names", "outputs"),
    [
        (("contradiction", "entailment", "neutral"), ("contradiction", "entailment", "neutral")),
        (("CONTRADICTION", "NEUTRAL", "ENTAILMENT"), ("contradiction", "neutral", "entailment")),
        (("entailment", "neutral", "contradiction"), LABELS),
        (("Entailment", "Contradiction", "Neutral"), ("entailment", "contradiction", "neutral")),
        (("c", "e", "n"), ("contradiction", "entailment", "neutral")),
        (("contradict", "neither", "entail"), ("contradiction", "neutral", "entailment")),
        (("SUPPORTS", "REFUTES", "NOT ENOUGH INFO"), ("entailment", "contradiction", "neutral")),
        (("entailment", "not_entailment"), ("entailment", "non-entailment")),
        (("Not-Entailment", "Entailment"), ("non-entailment", "entailment")),
        (("unsupported", "supported"), ("non-entailment", "entailment")),
        (("entailment",), ("entailment",)),
    ],
)
def test_named_outputs_are_read_in_any_order_and_spelling(names: tuple[str, ...], outputs: tuple[str, ...]) -> None:
    label_map = find_map(names, knowing(outputs))
    assert label_map.outputs == outputs
    assert label_map.method == "id2label"
    assert not label_map.doubt


def test_the_map_is_told_in_words() -> None:
    label_map = find_map(
        ("contradiction", "entailment", "neutral"), knowing(("contradiction", "entailment", "neutral"))
    )
    assert label_map.notes == ("labels by id2label: 0 = contradiction, 1 = entailment, 2 = neutral",)


def test_names_at_odds_with_the_answers_are_kept_and_doubted() -> None:
    label_map = find_map(
        ("entailment", "neutral", "contradiction"), knowing(("contradiction", "neutral", "entailment"))
    )
    assert label_map.outputs == LABELS
    assert "--labels contradiction,neutral,entailment" in label_map.notes[1]


def test_names_are_not_doubted_by_a_model_that_knows_little() -> None:
    assert not find_map(LABELS, blind(3, 0)).doubt


@pytest.mark.parametrize(
    "names", [("negative", "positive"), ("contradiction", "entailment"), ("entailment", "neutral", "entails")]
)
def test_names_that_are_no_such_labels_are_refused_with_what_to_write(names: tuple[str, ...]) -> None:
    with pytest.raises(AcidtestError, match="--label-map"):
        find_map(names, unasked)


def test_four_outputs_are_refused() -> None:
    with pytest.raises(AcidtestError, match="4 outputs"):
        find_map(("a", "b", "c", "d"), unasked)


def test_a_user_lists_the_labels_of_the_outputs() -> None:
    label_map = find_map(UNNAMED, unasked, labels="c, entails,neutral")
    assert label_map.outputs == ("contradiction", "entailment", "neutral")
    assert label_map.notes == ("labels by --labels: 0 = contradiction, 1 = entailment, 2 = neutral",)


@pytest.mark.parametrize(
    ("names", "options", "outputs"),
    [
        (UNNAMED, "LABEL_0=contradiction,1=neutral,label_2=e", ("contradiction", "neutral", "entailment")),
        (("good", "bad"), "good=entailment,BAD=not_entailment", ("entailment", "non-entailment")),
        (("contradiction", "entailment"), "contradiction=non-entailment", ("non-entailment", "entailment")),
        (("entailment", "neutral", "contradiction"), "entailment=contradiction,contradiction=e", LABELS[::-1]),
        (("score",), "0=non-entailment", ("non-entailment",)),
    ],
)
def test_a_user_renames_outputs(names: tuple[str, ...], options: str, outputs: tuple[str, ...]) -> None:
    assert find_map(names, unasked, renamed=options).outputs == outputs


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"labels": "entailment,neutral"}, "once each"),
        ({"labels": "entailment,neutral,maybe"}, "'maybe' is no label"),
        ({"renamed": "LABEL_0=entailment"}, "once each"),
        ({"renamed": "LABEL_7=entailment"}, "no output 'LABEL_7'"),
        ({"renamed": "LABEL_0"}, "THEIRS=OURS"),
        ({"labels": "e,n,c", "renamed": "0=e"}, "not both"),
    ],
)
def test_what_a_user_says_wrongly_is_named(options: dict[str, str], message: str) -> None:
    with pytest.raises(AcidtestError, match=message):
        find_map(UNNAMED, unasked, **options)


def test_probabilities_come_in_our_order() -> None:
    values = LabelMap(("contradiction", "entailment", "neutral"), "x").probabilities(np.log([[0.5, 0.3, 0.2]]))
    assert values.dtype == np.float32
    assert np.allclose(values, [[0.3, 0.2, 0.5]])


def test_two_outputs_leave_the_third_column_empty() -> None:
    values = LabelMap(("non-entailment", "entailment"), "x").probabilities(np.log([[0.6, 0.4]]))
    assert np.allclose(values, [[0.4, 0.6, 0]])


def test_one_score_is_a_logistic_probability() -> None:
    scores = np.array([[0.0], [2.0], [-800.0]], dtype=np.float32)
    # 1 / (1 + exp(-2)) = 0.880797
    expected = [[0.5, 0.5, 0], [0.880797, 0.119203, 0], [0, 1, 0]]
    assert np.allclose(LabelMap(("entailment",), "x").probabilities(scores), expected)
    swapped = [[row[1], row[0], 0] for row in expected]
    assert np.allclose(LabelMap(("non-entailment",), "x").probabilities(scores), swapped)


def test_a_logit_that_is_not_finite_makes_its_row_nan_and_no_other() -> None:
    logits = np.array([[1, 2, 3], [np.inf, 0, 0], [0, np.nan, 0]], dtype=np.float32)
    values = LabelMap(LABELS, "x").probabilities(logits)
    assert np.isnan(values).all(axis=1).tolist() == [False, True, True]


NAMES = ("CONTRADICTION", "Entailment", "neutral")


def test_a_map_meant_for_a_file_does_not_relabel_named_outputs() -> None:
    with pytest.raises(AcidtestError, match="--suite-label-map"):
        find_map(NAMES, unasked, renamed="0=entailment,1=neutral,2=contradiction")
    assert find_map(NAMES, unasked, renamed="0=contradiction").outputs == ("contradiction", "entailment", "neutral")
    options = "CONTRADICTION=entailment,Entailment=neutral,neutral=contradiction"
    assert find_map(NAMES, unasked, renamed=options).outputs == LABELS


def test_an_output_that_is_mapped_twice_is_refused() -> None:
    with pytest.raises(AcidtestError, match=r"output 0 \(foo\) both contradiction and entailment"):
        find_map(("foo", "bar", "baz"), unasked, renamed="foo=contradiction,0=entailment")
