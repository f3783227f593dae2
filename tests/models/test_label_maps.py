"""What the outputs of a classifier mean."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import permutations
from typing import Any

import numpy as np
import pytest

from acidtest.core.errors import AcidtestError, LabelOrderError
from acidtest.core.labels import LABELS
from acidtest.models.label_maps import LabelMap, Logits, detectable_accuracy, find_label_map, probe_pairs

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


def guessing(premises: Sequence[str], hypotheses: Sequence[str]) -> np.ndarray:
    """A head that tells no labels apart, whatever the user says its outputs mean."""
    return blind(3, 0)(premises, hypotheses)


def weak(outputs: Sequence[str], accuracy: float, seed: int = 0) -> Logits:
    """A head with these outputs that is right on about this share of the probe pairs, errors divided evenly."""
    gold = dict(zip(zip(PREMISES, HYPOTHESES, strict=True), GOLD, strict=True))

    def logits(premises: Sequence[str], hypotheses: Sequence[str]) -> np.ndarray:
        draws = np.random.default_rng(seed)
        coarse = {label: label if label in outputs else "non-entailment" for label in LABELS}
        places = [outputs.index(coarse[gold[pair]]) for pair in zip(premises, hypotheses, strict=True)]
        wrong = (np.array(places) + draws.integers(1, len(outputs), len(places))) % len(outputs)
        return np.eye(len(outputs), dtype=np.float32)[np.where(draws.random(len(places)) < accuracy, places, wrong)]

    return logits


def find_map(names: Sequence[str], logits: Logits, **options: Any) -> LabelMap:
    return find_label_map(names, logits, spec="hf:x", **options)


def test_the_probe_set_has_a_hundred_premises_with_a_hypothesis_for_each_label() -> None:
    assert [GOLD.count(label) for label in LABELS] == [100, 100, 100]
    assert len(set(zip(PREMISES, HYPOTHESES, strict=True))) == 300
    assert sorted(zip(PREMISES, GOLD, strict=True)) == sorted(
        (premise, label) for premise in {*PREMISES} for label in LABELS
    )
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
    assert "cut at one half, 50% of 300 unmistakable pairs are right" in label_map.notes[1]
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


TRUE = ("contradiction", "neutral", "entailment")
"""What the outputs of a head mean whose labels are declared as LABELS."""


@pytest.mark.parametrize(
    ("names", "options", "method"),
    [
        (LABELS, {}, "id2label"),
        (UNNAMED, {"labels": "e,n,c"}, "--labels"),
        (UNNAMED, {"renamed": "0=e,1=n,2=c"}, "--label-map"),
        (TRUE, {"labels": "e,n,c"}, "--labels"),
    ],
)
def test_a_wrong_order_is_refused_whoever_declares_it(
    names: tuple[str, ...], options: dict[str, str], method: str
) -> None:
    with pytest.raises(LabelOrderError) as refused:
        find_map(names, weak(TRUE, 0.62), **options)
    message = str(refused.value)
    assert f"In the order of {method} (entailment, neutral, contradiction), it answers" in message
    figures = [int(number) for number in re.findall(r"(\d+)%", message)]
    assert figures[0] < 35 < 55 < figures[1]
    assert "acidtest run -m hf:x --labels contradiction,neutral,entailment" in message


@pytest.mark.parametrize(("names", "accuracy"), [(LABELS, 0.62), (UNNAMED, 0.42)])
def test_a_command_to_copy_quotes_the_model(names: tuple[str, ...], accuracy: float) -> None:
    with pytest.raises(AcidtestError, match=r"acidtest run -m 'hf:my model' --labels"):
        find_label_map(names, weak(TRUE, accuracy), spec="hf:my model")


@pytest.mark.parametrize("true", list(permutations(LABELS))[1:])
def test_every_wrong_order_of_a_model_that_is_60_per_cent_right_is_found(true: tuple[str, ...]) -> None:
    for seed in range(20):
        with pytest.raises(LabelOrderError, match=f"--labels {','.join(true)}"):
            find_map(LABELS, weak(true, 0.6, seed))


def test_a_swap_of_two_labels_is_mostly_found_at_an_accuracy_of_one_half() -> None:
    # By simulation, 95 % of 10,000 draws (docs/explanation/statistics.md).
    found = 0
    for seed in range(100):
        try:
            find_map(LABELS, weak(TRUE, 0.5, seed))
        except LabelOrderError:
            found += 1
    assert found >= 88


def test_a_right_order_is_hardly_ever_refused_even_near_chance() -> None:
    refused = 0
    for seed in range(400):
        try:
            find_map(LABELS, blind(3, seed))
        except LabelOrderError:
            refused += 1
    # By simulation, fewer than 1 in 1,000.
    assert refused <= 1
    for accuracy in (0.4, 0.5, 0.7):
        for seed in range(50):
            find_map(LABELS, weak(LABELS, accuracy, seed))


@pytest.mark.parametrize("declared", ["entailment,non-entailment", "non-entailment,entailment"])
def test_the_wrong_order_of_two_outputs_is_refused(declared: str) -> None:
    true = tuple(reversed(declared.split(",")))
    with pytest.raises(LabelOrderError, match=f"--labels {','.join(true)}"):
        find_map(UNNAMED[:2], weak(true, 0.75), labels=declared)
    with pytest.raises(LabelOrderError, match=f"--labels {','.join(true)}"):
        find_map(declared.split(","), weak(true, 0.75))


def test_a_two_way_head_that_says_mostly_one_label_is_not_refused() -> None:
    for seed in range(200):
        draws = np.random.default_rng(seed)

        def mostly_entailed(premises: Sequence[str], _: object, draws: np.random.Generator = draws) -> np.ndarray:
            return np.stack([draws.random(len(premises)) < 0.95, np.full(len(premises), 0.5)], axis=1)

        # Two of three probe pairs are non-entailment: unweighted, the other order would be right on twice as many.
        find_map(("entailment", "non-entailment"), mostly_entailed)


def test_a_score_that_is_high_for_pairs_that_are_not_entailed_is_refused() -> None:
    with pytest.raises(LabelOrderError, match="--labels non-entailment"):
        find_map(["entailment"], knowing(["non-entailment"]))


def test_a_user_can_insist_on_an_order() -> None:
    label_map = find_map(LABELS, knowing(TRUE), trusted=True)
    assert label_map.outputs == LABELS
    assert "--trust-labels keeps the declared order" in label_map.notes[1]
    assert not find_map(TRUE, knowing(TRUE), trusted=True).doubt


def test_an_order_that_cannot_be_confirmed_is_told_with_both_figures_and_the_power() -> None:
    doubt = find_map(LABELS, blind(3, 0)).doubt
    # By simulation (10,000 draws), a swap is found in 80 % of models that are right on 47 % of 300 pairs.
    assert re.search(
        r"cannot be confirmed: it answers \d+% of 300 unmistakable pairs right, and \d+% in the order .*, which is not "
        r"significantly different; two labels exchanged would be found in 80% of models that are right on 47% of such "
        r"pairs and spread their errors evenly",
        doubt,
    )


def test_the_accuracy_from_which_a_swap_is_found_depends_on_the_rows() -> None:
    accuracies = [detectable_accuracy([n, n, n], alpha=0.01) for n in (1000, 100, 20)]
    assert accuracies == sorted(accuracies)
    assert detectable_accuracy([2, 2, 2], alpha=0.01) is None
    assert detectable_accuracy([1, 2], alpha=0.05) is None
    assert detectable_accuracy([9], alpha=0.01) is None


@pytest.mark.parametrize("accuracy", [0.5, 0.68])
@pytest.mark.parametrize("true", [LABELS, TRUE, ("neutral", "contradiction", "entailment")])
def test_unnamed_outputs_of_a_weak_model_are_told_by_probing(true: tuple[str, ...], accuracy: float) -> None:
    assert find_map(UNNAMED, weak(true, accuracy)).outputs == true


def test_outputs_that_cannot_be_told_are_refused_with_the_order_that_was_found() -> None:
    true = ("neutral", "contradiction", "entailment")
    with pytest.raises(AcidtestError, match=f"acidtest run -m hf:x --labels {','.join(true)}") as refused:
        find_map(UNNAMED, weak(true, 0.42))
    assert "chance is 33%" in str(refused.value)


@pytest.mark.parametrize(
    "names", [("negative", "positive"), ("contradiction", "entailment"), ("entailment", "neutral", "entails")]
)
def test_names_that_are_no_such_labels_are_refused_with_what_to_write(names: tuple[str, ...]) -> None:
    with pytest.raises(AcidtestError, match="--label-map"):
        find_map(names, guessing)


def test_four_outputs_are_refused() -> None:
    with pytest.raises(AcidtestError, match="4 outputs"):
        find_map(("a", "b", "c", "d"), guessing)


def test_a_user_lists_the_labels_of_the_outputs() -> None:
    label_map = find_map(UNNAMED, guessing, labels="c, entails,neutral")
    assert label_map.outputs == ("contradiction", "entailment", "neutral")
    assert label_map.notes[0] == ("labels by --labels: 0 = contradiction, 1 = entailment, 2 = neutral")


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
    assert find_map(names, blind(len(names), 0), renamed=options).outputs == outputs


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
        find_map(UNNAMED, guessing, **options)


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
        find_map(NAMES, guessing, renamed="0=entailment,1=neutral,2=contradiction")
    assert find_map(NAMES, guessing, renamed="0=contradiction").outputs == ("contradiction", "entailment", "neutral")
    options = "CONTRADICTION=entailment,Entailment=neutral,neutral=contradiction"
    assert find_map(NAMES, guessing, renamed=options).outputs == LABELS


def test_an_output_that_is_mapped_twice_is_refused() -> None:
    with pytest.raises(AcidtestError, match=r"output 0 \(foo\) both contradiction and entailment"):
        find_map(("foo", "bar", "baz"), guessing, renamed="foo=contradiction,0=entailment")
