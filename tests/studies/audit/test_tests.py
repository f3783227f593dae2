"""The tests of an audit: found when planted, silent on nothing, and honest about premises."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest

import acidtest.studies.scoring.partial_input as module
from acidtest.core.draws import mix_bits
from acidtest.studies.audit.measures import label_test
from acidtest.studies.scoring.pair_batches import GOLD, Codes, Floats, PremiseSample
from acidtest.studies.scoring.partial_input import balanced_values, partial_input


def clustered(seed: int, *, effect: float = 0.0) -> tuple[Floats, Codes, Codes]:
    """Two hundred premises of four pairs that share a label and, for the most part, a value."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(200), 4)
    labels = np.repeat(rng.integers(0, 3, 200), 4)
    values = np.repeat(rng.normal(size=200), 4) + 0.3 * rng.normal(size=800) + effect * (labels == 2)
    return values, labels, groups


def test_rows_of_a_premise_are_no_independent_evidence() -> None:
    ps = [label_test(*clustered(seed))[0] for seed in range(400)]
    # 400 draws of 5 %: more than 32 in fewer than 1 % of cases (scipy.stats.binom.sf(32, 400, 0.05) is 0.0036).
    assert sum(p < 0.05 for p in ps) <= 32
    assert sum(p < 0.5 for p in ps) > 140


def test_a_planted_difference_is_found() -> None:
    assert label_test(*clustered(1, effect=1.0))[0] < 1e-4


def test_a_premise_with_every_label_cannot_tell_them_apart() -> None:
    values = np.repeat(np.arange(50.0), 3)
    assert label_test(values, np.tile([0, 1, 2], 50), np.repeat(np.arange(50), 3))[0] == 1


def test_what_cannot_be_tested_says_why() -> None:
    few = label_test(np.arange(4.0), np.array([0, 0, 1, 1]), np.arange(4))
    assert math.isnan(few[0])
    assert few[1] == "fewer than 30 premises"
    one = label_test(np.arange(40.0), np.zeros(40, dtype=np.int64), np.arange(40))
    assert one[1] == "fewer than two labels"
    empty = label_test(np.zeros(0), np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
    assert math.isnan(empty[0])


EVEN = (1 / 3, 1 / 3, 1 / 3)
SICK = (0.289, 0.563, 0.148)
"""How labels are shared out in SICK's training set."""


def sample_of(seed: int, *, tied: float = 0.0, premises: int = 120, shares: Sequence[float] = EVEN) -> PremiseSample:
    """Three pairs to a premise; in a share of contradictions the hypothesis has a word of its own."""
    rng = np.random.default_rng(seed)
    labels = rng.choice(3, 3 * premises, p=shares)
    codes = np.array([GOLD.index(name) for name in ("entailment", "neutral", "contradiction")])[labels]
    words = [" ".join(f"w{number}" for number in rng.integers(0, 30, 6)) for _ in labels]
    planted = (labels == 2) & (rng.random(len(labels)) < tied)
    hypotheses = [f"{text} nobody" if own else text for text, own in zip(words, planted, strict=True)]
    numbers = np.repeat(np.arange(premises), 3)
    frame = pl.DataFrame({"premise": [f"premise {number}" for number in numbers], "hypothesis": hypotheses})
    return PremiseSample(frame, codes, {"premise": mix_bits(numbers.astype(np.uint64))})


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
    # One-sided: of 20 draws of 5 % five or more in 0.3 % of cases (scipy.stats.binom.sf(4, 20, 0.05)).
    assert sum(each.p < 0.05 for each in found) < 5
    # Nor is the linear model much worse than guessing.
    assert np.mean([each.accuracy.value for each in found]) == pytest.approx(1 / 3, abs=0.03)


def test_the_test_of_a_fold_does_not_depend_on_labels_of_later_folds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only then are gains of folds independent where labels are random; see the docs on simulated labelings."""
    taught: list[tuple[int, frozenset[int]]] = []
    fit = module._fit_softmax

    def spy(features: Any, gold: Any, classes: int) -> Any:
        taught.append((features.shape[0], frozenset(map(int, gold))))
        return fit(features, gold, classes)

    monkeypatch.setattr(module, "_fit_softmax", spy)
    sample = sample_of(0)
    partial_input(sample, "hypothesis")
    # Five models trained on the other four folds, and three on one, two and three earlier folds; the fifth of the
    # former is trained on the first four folds anyway.
    sizes = sorted(size for size, _ in taught)
    assert len(sizes) == 8
    assert sizes[0] < 110 < sizes[1] < 190 < sizes[2] < 250 < sizes[3]


def test_templates_with_random_labels_are_seldom_told() -> None:
    """Two hypotheses and random labels: what one fold teaches by chance about another, the other teaches about it."""
    alarms = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        texts = np.array(["it is about sports", "it is about law"])[rng.integers(0, 2, 100)].tolist()
        frame = pl.DataFrame({"premise": [f"premise {number}" for number in range(100)], "hypothesis": texts})
        keys = {"premise": mix_bits(np.arange(100).astype(np.uint64))}
        alarms += partial_input(PremiseSample(frame, rng.integers(0, 2, 100), keys), "hypothesis").p < 0.05
    # 500 draws gave 4.8 %, and 9.8 % when each fold was answered from all others. More than 7 of 60 have a chance of
    # 1 % (scipy.stats.binom.sf(7, 60, 0.05)).
    assert alarms <= 7


def test_the_detectable_gain_is_what_the_test_finds_four_times_in_five() -> None:
    found = partial_input(sample_of(0, premises=1000), "hypothesis")
    # 2,400 independent rows of three labels: an error of sqrt(2 / 9 / 2400), times 1.645 + 0.842.
    assert found.detectable == pytest.approx(2.486 * math.sqrt(2 / 9 / 2400), rel=0.1)


def test_a_learner_that_knows_nothing_is_not_below_chance_however_skewed_labels_are() -> None:
    found = [partial_input(sample_of(seed, shares=SICK), "hypothesis") for seed in range(20)]
    # By accuracy it loses to the commonest label, although there was nothing to be learnt.
    assert np.mean([each.accuracy.value - each.majority.value for each in found]) < -0.05
    assert np.mean([each.gain.value for each in found]) == pytest.approx(0, abs=0.02)
    assert all(each.chance == 1 / 3 for each in found)
    # As above: five or more of 20 in 0.3 % of cases.
    assert sum(each.p < 0.05 for each in found) < 5
    # Intervals of 95 %: three or fewer of 20 miss in 98 % of cases (scipy.stats.binom.cdf(3, 20, 0.05) is 0.984).
    assert sum(not each.gain.low <= 0 <= each.gain.high for each in found) <= 3


def test_a_word_tied_to_a_rare_label_is_found_where_labels_are_skewed() -> None:
    found = partial_input(sample_of(0, tied=0.9, shares=SICK), "hypothesis")
    assert found.gain.low > 0.1
    assert found.p < 0.001


def test_balanced_accuracy_is_the_mean_share_of_each_label() -> None:
    # By hand: entailment 2 of 4, neutral 1 of 1, contradiction 0 of 1: (1/2 + 1 + 0) / 3.
    gold = np.array([0, 0, 0, 0, 1, 2])
    values = balanced_values(np.array([1.0, 1, 0, 0, 1, 0]), gold)
    assert values.mean() == pytest.approx(1 / 2)
    # Always the same answer: one label whole, the others not at all, and no row that tells it from a guess.
    assert balanced_values((gold == 0).astype(float), gold) == pytest.approx(np.full(6, 1 / 3))


def test_the_spread_of_balanced_accuracy_is_that_of_resampled_rows() -> None:
    rng = np.random.default_rng(5)
    gold = rng.choice(3, 600, p=SICK)
    right = (rng.random(600) < np.array([0.4, 0.7, 0.2])[gold]).astype(float)
    draws = [rng.integers(0, 600, 600) for _ in range(2000)]
    resampled = [np.mean([right[rows][gold[rows] == label].mean() for label in range(3)]) for rows in draws]
    linear = balanced_values(right, gold).std() / math.sqrt(600)
    assert linear == pytest.approx(np.std(resampled), rel=0.06)


def test_a_hypothesis_that_has_another_label_elsewhere_does_not_teach_what_is_wrong() -> None:
    """Premises rewritten until the label is another (Kaushik et al. 2020): words say nothing, and nothing is learnt."""
    rng = np.random.default_rng(2)
    hypotheses = [" ".join(f"w{number}" for number in rng.integers(0, 400, 6)) for _ in range(300)]
    labels = np.concatenate([rng.permutation(3)[:2] for _ in hypotheses])
    numbers = np.arange(600)
    frame = pl.DataFrame(
        {"premise": [f"premise {number}" for number in numbers], "hypothesis": np.repeat(hypotheses, 2).tolist()}
    )
    codes = np.array([GOLD.index(name) for name in ("entailment", "neutral", "contradiction")])[labels]
    found = partial_input(PremiseSample(frame, codes, {"premise": mix_bits(numbers.astype(np.uint64))}), "hypothesis")
    assert found.gain.low <= 0.02
    assert found.gain.high >= -0.02


def test_hypotheses_from_a_few_templates_are_still_learnt_from() -> None:
    rng = np.random.default_rng(2)
    labels = rng.integers(0, 2, 400)
    texts = np.array(["it is about sports", "it is about law"])[np.where(rng.random(400) < 0.9, labels, 1 - labels)]
    frame = pl.DataFrame({"premise": [f"premise {number}" for number in range(400)], "hypothesis": texts.tolist()})
    found = partial_input(
        PremiseSample(frame, labels, {"premise": mix_bits(np.arange(400).astype(np.uint64))}), "hypothesis"
    )
    assert found.gain.low > 0.3


def test_folds_do_not_share_a_premise() -> None:
    """A label that goes with the premise cannot be learnt from other pairs of the premise."""
    rng = np.random.default_rng(3)
    numbers = np.repeat(np.arange(150), 4)
    labels = np.repeat(rng.integers(0, 2, 150), 4)
    frame = pl.DataFrame({"premise": [f"name{number}" for number in numbers], "hypothesis": ["so it is"] * 600})
    found = partial_input(
        PremiseSample(frame, labels.astype(np.int64), {"premise": mix_bits(numbers.astype(np.uint64))}), "premise"
    )
    assert found.accuracy.value < 0.6


@pytest.mark.parametrize(("premises", "label", "note"), [(4, None, "fewer than 10 premises"), (40, 0, "two labels")])
def test_what_cannot_be_learnt_says_why(premises: int, label: int | None, note: str) -> None:
    sample = sample_of(0, premises=premises)
    labels = sample.labels if label is None else np.full_like(sample.labels, label)
    found = partial_input(PremiseSample(sample.frame, labels, sample.keys), "hypothesis")
    assert not found.accuracy.known
    assert note in found.accuracy.note
