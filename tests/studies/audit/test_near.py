"""Pairs that are nearly the same: found when planted, none in a clean set, and none that is not."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import polars as pl
import pytest

from acidtest.pairs.heuristics import words
from acidtest.studies.audit.near import HashedPairs, NearPairs, NearSearch, WordSets
from acidtest.studies.scoring.pair_batches import PremiseSampler, make_batch

Rows = list[tuple[str, str, str]]
Pair = tuple[str, str]

PREMISE = "A tall man in a red coat walks three dogs along the wet road at night"
HYPOTHESIS = "A man walks his dogs after dark"


def frame_of(rows: Rows) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=dict.fromkeys(("premise", "hypothesis", "label"), pl.String), orient="row")


def found_in(rows: Rows, train: Rows | None = None, *, size: int = 1 << 12) -> NearSearch:
    """What of some pairs is nearly in others, or in themselves, looked at some at a time."""
    sampler = PremiseSampler(0)
    batch = make_batch(frame_of(rows))
    sampler.add(batch, pl.DataFrame({"row": np.arange(batch.frame.height)}))
    search = NearSearch(sampler.sample())
    others = rows if train is None else train
    for start in range(0, len(others), size):
        part = make_batch(frame_of(others[start : start + size]))
        search.search(part, HashedPairs.of(part.words))
    return search


@pytest.mark.parametrize(
    ("hypothesis", "near"),
    [
        ("a man, walks his dogs after DARK!", False),
        ("Dark: after his dogs walks a man", True),
        ("A man walks his cats after dark", True),
        ("A man walks dogs", False),
        ("A young man walks his dogs after dark", True),
        ("A young man slowly walks his two dogs out after dark", False),
        ("A woman walks her dogs after dark", False),
        ("Nobody is there", False),
    ],
    ids=["itself", "moved", "one replaced", "four of seven", "one more", "four more", "two replaced", "another"],
)
def test_hypotheses_under_one_premise(hypothesis: str, near: bool) -> None:
    found = found_in([(PREMISE, HYPOTHESIS, "neutral")], [(PREMISE, hypothesis, "neutral")])
    # Seven words: one replaced leaves 6 of 8, two 5 of 9; the same words in another order are another pair.
    assert found.counts() == NearPairs(int(near), int(near), 1)


def test_a_paraphrased_tail_and_several_changed_words_are_found() -> None:
    tail = PREMISE.replace("along the wet road at night", "along a wet street by night")
    several = "A tall woman in a blue coat walks three dogs along the wet path at night"
    for premise in (tail, several):
        found = found_in([(PREMISE, HYPOTHESIS, "entailment")], [(premise, HYPOTHESIS, "neutral")])
        assert found.counts() == NearPairs(1, 0, 1)
        assert found.examples() == (
            {
                "premise": PREMISE,
                "hypothesis": HYPOTHESIS,
                "label": "entailment",
                "train_premise": premise,
                "train_hypothesis": HYPOTHESIS,
                "train_label": "neutral",
            },
        )


def test_both_sentences_have_to_be_near() -> None:
    assert not found_in([(PREMISE, HYPOTHESIS, "neutral")], [(PREMISE, "It rains.", "neutral")]).counts().near
    assert not found_in([(PREMISE, HYPOTHESIS, "neutral")], [("It rains.", HYPOTHESIS, "neutral")]).counts().near


def drawn(seed: int, number: int, *, kinds: int = 2_000) -> Rows:
    """Pairs of drawn words."""
    rng = np.random.default_rng(seed)

    def text(length: int) -> str:
        return " ".join(f"w{word}" for word in rng.integers(0, kinds, length))

    return [(text(int(rng.integers(8, 20))), text(int(rng.integers(5, 10))), "neutral") for _ in range(number)]


def changed(text: str, number: int, rng: np.random.Generator) -> str:
    """A text with so many of its words replaced."""
    parts = text.split()
    for place in rng.choice(len(parts), number, replace=False):
        parts[place] = f"new{place}"
    return " ".join(parts)


def test_planted_near_pairs_are_found_in_a_large_set() -> None:
    rows, rng = drawn(0, 2_000), np.random.default_rng(1)
    planted = [
        (changed(premise, 1, rng), changed(hypothesis, 1, rng), label) for premise, hypothesis, label in rows[:200]
    ]
    found = found_in(planted, rows, size=300)
    # Of 8 and 5 words, one replaced leaves 7 of 9 and 4 of 6. At the threshold twelve bands find 98 in 100.
    assert found.counts().near >= 196
    assert found_in(rows).counts().near == 0


def jaccard(first: str, second: str) -> float:
    one, other = set(first.lower().split()), set(second.lower().split())
    return len(one & other) / len(one | other)


def test_as_comparing_all_with_all() -> None:
    rows = sorted(set(drawn(3, 400, kinds=8)))
    near = {
        one
        for one, other in permutations(rows, 2)
        if jaccard(one[0], other[0]) >= 2 / 3 and jaccard(one[1], other[1]) >= 2 / 3
    }
    found = found_in(rows, size=64)
    # Nothing that is not near, and hardly anything missed.
    assert 0.97 * len(near) <= found.counts().near <= len(near)
    assert len(near) > 100


def test_pairs_without_words_and_no_pairs_at_all() -> None:
    assert found_in([]).counts() == NearPairs(0, 0, 0)
    assert found_in([("?", "!", "neutral")], [(PREMISE, HYPOTHESIS, "neutral")]).counts() == NearPairs(0, 0, 1)
    assert found_in([(PREMISE, HYPOTHESIS, "neutral")], []).counts() == NearPairs(0, 0, 1)


def test_hashes_agree_as_often_as_words_do() -> None:
    sets = WordSets.of(words(pl.Series(["a b c d e f", "a b c d x y"])))
    agreed = [values[0] == values[1] for values in sets.min_hashes(2_000)]
    # Four of eight words: 0.5, within three standard errors of sqrt(0.25 / 2000).
    assert np.mean(agreed) == pytest.approx(0.5, abs=0.034)


def test_sets_from_a_template_are_compared_in_part() -> None:
    near = [(f"Person {n} walks a dog along the road.", f"Person {n} walks a dog.", "neutral") for n in range(600)]
    assert found_in(near, size=100).counts().near == 600
    apart = [(f"Premise {n} is so.", f"Claim {n} is too.", "neutral") for n in range(600)]
    assert found_in(apart, size=100).counts().near == 0
