"""Words and the vectors they begin with."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'acidtest[zoo]'")

from acidtest.zoo.batches import (  # noqa: E402  # noqa: E402
    PADDING,
    SPECIAL,
    UNKNOWN,
    InitialVectors,
    SentenceInputs,
    build_vocabulary,
    load_vectors,
)

TEXTS = pl.Series(["A dog runs.", "The dog sleeps."])


def test_the_most_frequent_words_come_first_in_lower_case() -> None:
    words = build_vocabulary([TEXTS, pl.Series(["Dog!"])])
    assert words.words[: len(SPECIAL)] == SPECIAL
    assert words.words[2:4] == ("dog", ".")
    assert set(words.words[4:]) == {"a", "runs", "the", "sleeps", "!"}


def test_texts_are_numbers_of_words_and_an_empty_one_is_unknown() -> None:
    words = build_vocabulary([TEXTS])
    found = words.texts(["A dog flies.", "", "The"])
    assert [words.words[number] for number in found.ids] == ["a", "dog", "<unknown>", ".", "<unknown>", "the"]
    assert found.starts.tolist() == [0, 4, 5, 6]


def test_a_batch_is_filled_up_to_its_longest_text() -> None:
    words = build_vocabulary([TEXTS])
    premises, hypotheses = words.texts(["A dog runs.", "dog", "The dog"]), words.texts(["dog", "", "A dog"])
    inputs = SentenceInputs(premises, hypotheses, None, device=torch.device("cpu"))
    batch = inputs.batch(np.array([2, 1]))
    number = words.numbers
    assert batch.premise.words.tolist() == [[number["the"], number["dog"]], [number["dog"], PADDING]]
    assert batch.premise.mask.tolist() == [[True, True], [True, False]]
    assert batch.hypothesis.words.tolist() == [[number["a"], number["dog"]], [UNKNOWN, PADDING]]
    assert batch.premise.counts.tolist() == [2, 1]


def test_an_epoch_has_every_pair_once_in_an_order_of_its_own() -> None:
    texts = build_vocabulary([TEXTS]).texts(["dog"] * 100)
    inputs = SentenceInputs(texts, texts, None, device=torch.device("cpu"))
    first, second, again = (np.concatenate(inputs.shuffled(8, 0, epoch)) for epoch in (0, 1, 0))
    assert sorted(first) == sorted(second) == list(range(100))
    assert first.tolist() == again.tolist() != second.tolist()
    assert np.concatenate(inputs.shuffled(8, 1, 0)).tolist() != first.tolist()


GLOVE = "the 0.1 0.2\n1990 0.9 0.8\nParis 0.7 0.7\ncat -0.5 0.5\ndog 0.3 0.4\n"


def test_a_file_gives_vectors_to_its_words_and_makes_its_first_ones_known(tmp_path: Path) -> None:
    path = tmp_path / "glove.txt"
    path.write_text(GLOVE)
    words = build_vocabulary([TEXTS])
    found = load_vectors(words, path, more=4, seed=0)
    # Of the first four, Paris is written with a capital, as no text is read.
    assert found.vocabulary.words == (*words.words, "1990", "cat")
    assert len(found.places) == 4
    for word, vector in (("the", [0.1, 0.2]), ("dog", [0.3, 0.4]), ("1990", [0.9, 0.8]), ("cat", [-0.5, 0.5])):
        assert found.vectors[found.vocabulary.numbers[word]] == pytest.approx(vector)
    assert found.vectors[PADDING].tolist() == [0, 0]
    assert found.vectors[found.vocabulary.numbers["runs"]].any()
    assert load_vectors(words, path, more=0, seed=0).vocabulary == words


def test_what_fills_up_is_no_word_of_a_text_or_a_file(tmp_path: Path) -> None:
    path = tmp_path / "glove.txt"
    path.write_text("<padding> 0.6 0.6\n" + GLOVE)
    found = load_vectors(build_vocabulary([TEXTS]), path, more=3, seed=0)
    assert found.vocabulary.numbers.get("<padding>", UNKNOWN) == UNKNOWN
    assert found.vectors[PADDING].tolist() == [0, 0]


def test_drawn_vectors_depend_on_the_seed_alone() -> None:
    words = build_vocabulary([TEXTS])
    assert np.array_equal(InitialVectors(words, 5, 1).vectors, InitialVectors(words, 5, 1).vectors)
    assert not np.array_equal(InitialVectors(words, 5, 1).vectors, InitialVectors(words, 5, 2).vectors)
