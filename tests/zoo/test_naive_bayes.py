"""Naive Bayes: features counted by hand, and probabilities against scikit-learn's on the same features."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from acidtest import api
from acidtest.core.errors import AcidtestError
from acidtest.core.labels import LABELS
from acidtest.core.model import model_from_spec

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'acidtest[zoo]'")

from acidtest.zoo.architectures.naive_bayes import MAX_COUNT, CountReader, NaiveBayesNetwork, pair_words  # noqa: E402
from acidtest.zoo.pairs import TrainingPairs  # noqa: E402
from acidtest.zoo.trainer import TrainerOptions  # noqa: E402
from acidtest.zoo.training import TrainingOptions  # noqa: E402

CPU = torch.device("cpu")
NOUNS, VERBS = ("man", "woman", "dog", "child"), ("sleeps", "runs", "eats", "sings")
DRAWN = np.random.default_rng(3)


def drawn_frame(rows: int) -> pl.DataFrame:
    """Pairs of words drawn with some regard to the label."""
    labels = DRAWN.integers(0, 3, rows)
    nouns, verbs = DRAWN.choice(NOUNS, rows), DRAWN.choice(VERBS, rows)
    others = np.where(labels == 0, verbs, DRAWN.choice(VERBS, rows))
    premises = [f"The {noun} {verb} near Boston." for noun, verb in zip(nouns, verbs, strict=True)]
    hypotheses = [
        f"A {noun} {'never ' if label == 2 and number % 2 else ''}{verb}{' in Paris' if label == 1 else ''}."
        for number, (noun, verb, label) in enumerate(zip(nouns, others, labels, strict=True))
    ]
    return pl.DataFrame({"premise": premises, "hypothesis": hypotheses, "label": [LABELS[label] for label in labels]})


def made(frame: pl.DataFrame, **options: Any) -> tuple[Any, CountReader, Any]:
    """What is fitted to pairs, what it reads with, and the pairs as it reads them."""
    reader = CountReader.for_training(TrainingOptions("naive-bayes", {}, TrainerOptions()), frame)
    inputs = reader.inputs(frame, TrainingPairs(frame).targets(LABELS), CPU)
    bayes = NaiveBayesNetwork(reader.basis(3), **options)
    bayes.fit(inputs)
    return bayes, reader, inputs


def likely(bayes: Any, inputs: Any) -> np.ndarray:
    return bayes(inputs.batch(np.arange(len(inputs)))).double().numpy()


def test_counts_are_those_a_reader_finds() -> None:
    premises = pl.Series(["The man from London did not eat, and he slept.", "", "Dogs run."])
    hypotheses = pl.Series(["London never saw the man eat in Paris!", "A cat", "dogs don't RUN"])
    # Without stop words: {man, eat} shared, {never, saw} not; London is a name by the premise, Paris by itself. The
    # capital of "Dogs" begins a sentence; RUN is a name by its capitals in the hypothesis.
    assert pair_words(premises, hypotheses).counts.tolist() == [
        [2, 2, 1, 1, 1, 1],
        [0, 1, 0, 0, 0, 0],
        [1, 2, 1, 0, 0, 1],
    ]


def test_great_counts_are_one() -> None:
    many = " ".join(f"word{number}" for number in range(40))
    assert pair_words(pl.Series([""]), pl.Series([many])).counts[0, 1] == MAX_COUNT


def test_no_pairs_are_no_counts() -> None:
    empty = pl.Series([], dtype=pl.String)
    assert pair_words(empty, empty).counts.shape == (0, 6)


def test_words_are_scikit_learns_multinomial() -> None:
    sklearn = pytest.importorskip("sklearn.naive_bayes", reason="scikit-learn is not installed")
    frame = drawn_frame(200)
    bayes, reader, inputs = made(frame, features=("words",), smoothing=0.7)
    # Sets of words of either side, parted at spaces and full stops.
    stops = {"a", "the", "in"}
    names = reader.vocabulary.words[2:]
    assert set(names) == {*NOUNS, *VERBS, "near", "boston", "paris", "never"}
    bags = [[{*text.lower().rstrip(".").split()} - stops for text in frame[side]] for side in ("premise", "hypothesis")]
    table = np.array([[name in side for side in pair for name in names] for pair in zip(*bags, strict=True)])
    gold = np.array([LABELS.index(label) for label in frame["label"]])
    prior = np.log((np.bincount(gold) + 0.7) / (len(gold) + 3 * 0.7))
    own = sklearn.MultinomialNB(alpha=0.7, class_prior=np.exp(prior)).fit(table, gold)
    assert np.abs(bayes.words[1:].numpy() - own.feature_log_prob_.T).max() < 1e-5
    assert np.abs(likely(bayes, inputs) - own.predict_joint_log_proba(table)).max() < 1e-4


def test_counts_are_scikit_learns_categories_and_both_together_the_sum() -> None:
    sklearn = pytest.importorskip("sklearn.naive_bayes", reason="scikit-learn is not installed")
    frame = drawn_frame(200)
    bayes, _, inputs = made(frame, features=("overlap",))
    table = pair_words(frame["premise"], frame["hypothesis"]).counts
    gold = np.array([LABELS.index(label) for label in frame["label"]])
    prior = (np.bincount(gold) + 1) / (len(gold) + 3)
    own = sklearn.CategoricalNB(alpha=1.0, class_prior=prior, min_categories=MAX_COUNT + 1).fit(table, gold)
    assert np.abs(likely(bayes, inputs) - own.predict_joint_log_proba(table)).max() < 1e-4
    words, both = likely(*made(frame, features=("words",))[::2]), likely(*made(frame)[::2])
    assert np.abs(both - (words + likely(bayes, inputs) - np.log(prior))).max() < 1e-4


def test_a_pair_with_two_right_labels_counts_half_for_each() -> None:
    rows = [("one", "two", "entailment"), ("one", "three", "non-entailment")]
    frame = pl.DataFrame(rows, schema=["premise", "hypothesis", "label"], orient="row")
    bayes, reader, _ = made(frame)
    assert np.exp(bayes.prior.numpy()) == pytest.approx(np.array([1 + 1, 0.5 + 1, 0.5 + 1]) / (2 + 3))
    place = reader.vocabulary.numbers["three"] - 1 + 3
    # Six words of either side; an entailment has two words, the others one each.
    assert np.exp(bayes.words[place].numpy()) == pytest.approx([1 / 8, 1.5 / 7, 1.5 / 7])


def test_words_not_seen_and_no_words_say_nothing() -> None:
    bayes, reader, _ = made(drawn_frame(50), features=("words",))
    frame = pl.DataFrame({"premise": ["", "zyx"], "hypothesis": ["", "The."]})
    assert torch.allclose(bayes(reader.inputs(frame, None, CPU).batch(np.arange(2))), bayes.prior.expand(2, -1))


def test_a_trained_folder_answers_by_its_preset(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    frame = drawn_frame(300)
    path.write_text("".join(json.dumps(row) + "\n" for row in frame.to_dicts()), encoding="utf-8")
    scores = {}
    for preset in ("", "joshi2020"):
        found = api.train("naive-bayes", api.Material([path], path), output=tmp_path / f"bayes-{preset}", preset=preset)
        scores[preset] = found[0].state.curve[0]["dev_accuracy"]
        model = model_from_spec(f"zoo:{tmp_path / f'bayes-{preset}'}", {"device": "cpu"})
        answers = model.predict(frame["premise"].to_list(), frame["hypothesis"].to_list())
        assert np.abs(answers.sum(axis=1) - 1).max() < 1e-5
        right = np.array(LABELS)[answers.argmax(axis=1)] == frame["label"].to_numpy()
        assert right.mean() == pytest.approx(scores[preset])
    # Whether the verb is shared is told by the words of neither side alone.
    assert scores[""] > scores["joshi2020"] > 0.5


@pytest.mark.parametrize("options", [{"features": ("word",)}, {"features": ()}, {"smoothing": 0.0}])
def test_options_without_sense_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(AcidtestError, match="naive-bayes: --"):
        made(drawn_frame(5), **options)
