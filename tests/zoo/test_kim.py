"""What WordNet says of pairs of words, and the network that is told it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from acidtest import api

torch = pytest.importorskip("torch")

from acidtest.zoo.architectures.kim import FEATURES, NO_KIND, SWAPPED, feature_table, relate_words  # noqa: E402

WORDS = (
    *("<padding>", "<unknown>", "dog", "dogs", "animal", "canid", "wolf", "hot", "cold", "car", "automobile"),
    *("cat", "man", "paris", "entity", "poodle", "xyzzy"),
)


def features(first: str, second: str, words: Sequence[str] = WORDS) -> dict[str, float]:
    """The features of a pair that are not 0."""
    found = relate_words(words)
    pair = found.kinds[words.index(first)] * found.size + found.kinds[words.index(second)]
    place = int(np.searchsorted(found.pairs, pair))
    known = place < len(found.pairs) and found.pairs[place] == pair
    values = feature_table()[found.codes[place] if known else NO_KIND].tolist()
    return {name: value for name, value in zip(FEATURES, values, strict=True) if value}


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        # 1 - n / 8 for n edges.
        ("dog", "canid", {"hypernym": 0.875}),
        ("canid", "dog", {"hyponym": 0.875}),
        ("dog", "wolf", {"co-hyponym": 1.0}),
        # dog, domestic animal, animal.
        ("dog", "animal", {"hypernym": 0.75}),
        ("animal", "dogs", {"hyponym": 0.75}),
        ("hot", "cold", {"antonym": 1.0}),
        ("car", "automobile", {"synonym": 1.0}),
        ("dog", "dog", {"synonym": 1.0}),
        ("dog", "dogs", {"synonym": 1.0}),
        # A canine and a feline: their hypernyms differ.
        ("dog", "cat", {}),
        ("dog", "car", {}),
        # 8 edges and more do not count: poodle, dog, domestic animal, animal, organism, living thing, whole, object,
        # physical entity, entity.
        ("poodle", "entity", {}),
        ("dog", "xyzzy", {}),
        ("xyzzy", "xyzzy", {}),
        ("<unknown>", "<unknown>", {}),
    ],
)
def test_the_relations_of_known_words(first: str, second: str, expected: dict[str, float]) -> None:
    assert features(first, second) == expected
    turned = {"hypernym": "hyponym", "hyponym": "hypernym"}
    assert features(second, first) == {turned.get(name, name): value for name, value in expected.items()}


def test_words_of_no_sense_give_an_empty_table() -> None:
    found = relate_words(["<padding>", "qqq"])
    assert (found.kinds.tolist(), found.size, len(found.pairs)) == ([NO_KIND, NO_KIND], 1, 0)


def batch(rows: Sequence[tuple[str, str]]) -> Any:
    from acidtest.zoo.batches import SentenceInputs, WordVocabulary

    premises, hypotheses = (WordVocabulary(WORDS).texts(list(side)) for side in zip(*rows, strict=True))
    return SentenceInputs(premises, hypotheses, None, device=torch.device("cpu")).batch(np.arange(len(rows)))


def network(**options: Any) -> Any:
    from acidtest.zoo.architectures import kim
    from acidtest.zoo.batches import WordVocabulary
    from acidtest.zoo.layers import Basis, WordVectors

    torch.manual_seed(0)
    words = WordVectors(torch.randn(len(WORDS), 8), tuned=True)
    return kim.KIMNetwork(Basis(words, 3, WordVocabulary(WORDS)), hidden=6, **options).eval()


def test_pairs_are_looked_up_where_they_stand() -> None:
    found = network().relations(batch([("dog xyzzy hot", "wolf cold"), ("car", "automobile")]))
    assert found.shape == (2, 3, 2, len(FEATURES))
    expected = torch.zeros(found.shape)
    expected[0, 0, 0, FEATURES.index("co-hyponym")] = 1
    expected[0, 2, 1, FEATURES.index("antonym")] = 1
    expected[1, 0, 0, FEATURES.index("synonym")] = 1
    torch.testing.assert_close(found, expected)


def test_what_is_swapped_is_what_the_pair_turned_round_has() -> None:
    made = network().relations
    there, back = made(batch([("dog hot", "animal cold")])), made(batch([("animal cold", "dog hot")]))
    torch.testing.assert_close(there[..., SWAPPED], back.transpose(1, 2))


def test_scores_do_not_depend_on_what_else_is_in_a_batch() -> None:
    rows = [("dog", "animal"), ("the hot dog sat in a car", "wolf"), ("man", "a cold cat automobile entity")]
    made = network()
    with torch.inference_mode():
        torch.testing.assert_close(made(batch(rows)), torch.cat([made(batch([row])) for row in rows]))


def test_the_table_is_not_among_the_weights_and_knowledge_changes_scores() -> None:
    rows = batch([("dog xyzzy", "wolf dog")])
    with torch.inference_mode():
        assert not torch.allclose(network(knowledge=0.0)(rows), network(knowledge=5.0)(rows))
    assert not [name for name in network().state_dict() if name.startswith("relations")]


def test_it_learns_what_a_network_without_wordnet_cannot(tmp_path: Path) -> None:
    """Pairs of hypernyms and of unrelated words that never occur in training: only what WordNet says carries over."""
    kinds = {"animal": "dog cat horse cow pig", "vehicle": "car truck bus", "fruit": "apple pear plum"}
    kinds |= {"tool": "hammer saw", "furniture": "table chair sofa", "flower": "rose tulip"}
    known = [(word, kind) for kind, words in kinds.items() for word in words.split()]
    rows = [(word, other, "entailment" if kind == other else "neutral") for word, kind in known for other in kinds]
    rows = [row for row in rows for _ in range(5 if row[2] == "entailment" else 1)]
    frame = pl.DataFrame(rows, schema=["premise", "hypothesis", "label"], orient="row")
    unseen = "bird animal entailment,lorry vehicle entailment,peach fruit entailment,bed furniture entailment,"
    unseen += "bird tool neutral,lorry flower neutral,peach animal neutral,bed fruit neutral"
    tests = pl.DataFrame([row.split() for row in unseen.split(",")], schema=frame.columns, orient="row")
    for name, part in (("train", frame), ("test", tests)):
        part.write_csv(tmp_path / f"{name}.csv")
    words = sorted({*frame["premise"], *frame["hypothesis"], *tests["premise"]})
    vectors = np.random.default_rng(0).normal(size=(len(words), 16)).round(3).astype(str)
    lines = (" ".join((word, *own)) for word, own in zip(words, vectors.tolist(), strict=True))
    (tmp_path / "vectors.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = api.train(
        "kim",
        api.Material([tmp_path / "train.csv"], tests=[tmp_path / "test.csv"]),
        output=tmp_path / "net",
        arguments={"hidden": "16", "dropout": "0.2"},
        recipe={"epochs": 25, "learning_rate": 5e-3, "batch_size": 16},
        embeddings=str(tmp_path / "vectors.txt"),
        embeddings_tuned=False,
        device="cpu",
    )
    (score,) = found[0].scores.values()
    assert score.accuracy >= 7 / 8
