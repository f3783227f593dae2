"""The tests of an audit: found when planted, silent on nothing, and honest about premises."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

from acidtest.analysis.audits.batches import GOLD, Codes, Floats
from acidtest.analysis.audits.partial_input import partial_input
from acidtest.analysis.audits.sampling import Sample
from acidtest.analysis.audits.tests_by_label import label_test
from acidtest.core.draws import mixed


def clustered(seed: int, *, effect: float = 0.0) -> tuple[Floats, Codes, Codes]:
    """Two hundred premises of four pairs that share a label and, for the most part, a value."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(200), 4)
    labels = np.repeat(rng.integers(0, 3, 200), 4)
    values = np.repeat(rng.normal(size=200), 4) + 0.3 * rng.normal(size=800) + effect * (labels == 2)
    return values, labels, groups


def test_rows_of_a_premise_are_no_independent_evidence() -> None:
    ps = [label_test(*clustered(seed)).p for seed in range(400)]
    # 400 draws of 5 %: more than 32 in fewer than 1 % of cases (scipy.stats.binom.sf(32, 400, 0.05) is 0.0036).
    assert sum(p < 0.05 for p in ps) <= 32
    assert sum(p < 0.5 for p in ps) > 140


def test_a_planted_difference_is_found() -> None:
    assert label_test(*clustered(1, effect=1.0)).p < 1e-4


def test_a_premise_with_every_label_cannot_tell_them_apart() -> None:
    values = np.repeat(np.arange(50.0), 3)
    assert label_test(values, np.tile([0, 1, 2], 50), np.repeat(np.arange(50), 3)).p == 1


def test_what_cannot_be_tested_says_why() -> None:
    few = label_test(np.arange(4.0), np.array([0, 0, 1, 1]), np.arange(4))
    assert math.isnan(few.p)
    assert few.note == "fewer than 30 premises"
    one = label_test(np.arange(40.0), np.zeros(40, dtype=np.int64), np.arange(40))
    assert one.note == "fewer than two labels"
    empty = label_test(np.zeros(0), np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
    assert math.isnan(empty.p)


def sample_of(seed: int, *, tied: float = 0.0, premises: int = 120) -> Sample:
    """Three pairs to a premise; in a share of contradictions the hypothesis has a word of its own."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, 3 * premises)
    codes = np.array([GOLD.index(name) for name in ("entailment", "neutral", "contradiction")])[labels]
    words = [" ".join(f"w{number}" for number in rng.integers(0, 30, 6)) for _ in labels]
    planted = (labels == 2) & (rng.random(len(labels)) < tied)
    hypotheses = [f"{text} nobody" if own else text for text, own in zip(words, planted, strict=True)]
    numbers = np.repeat(np.arange(premises), 3)
    frame = pl.DataFrame({"premise": [f"premise {number}" for number in numbers], "hypothesis": hypotheses})
    return Sample(frame, codes, mixed(numbers.astype(np.uint64)), True)


def test_a_word_tied_to_a_label_gives_it_away() -> None:
    found = partial_input(sample_of(0, tied=0.9), "hypothesis")
    assert found.gain.low > 0.1
    assert found.p < 0.001
    assert found.accuracy.groups == 120


def test_the_premise_alone_gains_nothing_that_only_the_hypothesis_has() -> None:
    found = partial_input(sample_of(0, tied=0.9), "premise")
    assert found.gain.value < 0.05
    assert found.p > 0.05 or found.gain.value <= 0


def test_labels_drawn_at_random_are_seldom_told() -> None:
    found = [partial_input(sample_of(seed), "hypothesis") for seed in range(20)]
    # One-sided: of 20 draws of 2.5 % four or more in 0.1 % of cases (scipy.stats.binom.sf(3, 20, 0.025)).
    assert sum(each.p < 0.05 and each.gain.value > 0 for each in found) < 4
    # Nor is the linear model much worse than guessing.
    assert np.mean([each.accuracy.value for each in found]) == pytest.approx(1 / 3, abs=0.03)


def test_folds_do_not_share_a_premise() -> None:
    """A label that goes with the premise cannot be learnt from other pairs of the premise."""
    rng = np.random.default_rng(3)
    numbers = np.repeat(np.arange(150), 4)
    labels = np.repeat(rng.integers(0, 2, 150), 4)
    frame = pl.DataFrame({"premise": [f"name{number}" for number in numbers], "hypothesis": ["so it is"] * 600})
    found = partial_input(Sample(frame, labels.astype(np.int64), mixed(numbers.astype(np.uint64)), True), "premise")
    assert found.accuracy.value < 0.6


@pytest.mark.parametrize(("premises", "label", "note"), [(4, None, "fewer than 10 premises"), (40, 0, "two labels")])
def test_what_cannot_be_learnt_says_why(premises: int, label: int | None, note: str) -> None:
    sample = sample_of(0, premises=premises)
    labels = sample.labels if label is None else np.full_like(sample.labels, label)
    found = partial_input(Sample(sample.frame, labels, sample.premise_keys, True), "hypothesis")
    assert not found.accuracy.known
    assert note in found.accuracy.note
