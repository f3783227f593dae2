"""How well one sentence alone predicts the label (Gururangan et al. 2018; Poliak et al. 2018).

A softmax regression on the words and bigrams of the hypothesis, or of the premise, is trained and tested in five folds.
All pairs of a premise are in one fold, so no premise is in both training and test data. Pairs whose hypothesis is in
the test fold are left out of training, too: where premises were rewritten to change the label, as by Kaushik et al.
(2020), a hypothesis has other labels in other folds, and the model would learn which answer is wrong.

The measure is balanced accuracy, the mean over labels of the share answered correctly. A model without information
gets one over the number of labels, however skewed these are. By plain accuracy it would do worse than always answering
the most frequent label.

The test does not use these answers. What chance teaches from one fold about another, it also teaches the other way
round, so the folds' gains are correlated, and up to 12 % of random labelings would get a p-value below 0.05. It uses
the answers of models trained on earlier folds only: given these, the labels of a fold are random if labels are.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.digests import digests
from acidtest.core.draws import Draws
from acidtest.core.estimate import Estimate
from acidtest.core.logs import stage
from acidtest.pairs.heuristics import words
from acidtest.stats.intervals import clopper_pearson, difference, rate
from acidtest.stats.resampling import generator
from acidtest.stats.significance import Test, paired_permutation
from acidtest.studies.scoring.pair_batches import GOLD, ROWS, Codes, Flags, Floats, PremiseSample

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    FeatureTable = csr_array[np.float32, tuple[int, int]]

FOLDS = 5
FEATURES = 1 << 17
"""Number of buckets that words and bigrams are hashed into, so that memory does not grow with the vocabulary."""
_ITERATIONS = 60
_RIDGE = 1.0
_RESAMPLES = 2_000
_LEAST = 2
_POWER = 0.8

_STEPS_KEPT = 6
_HALVINGS = 30
_SUFFICIENT_DECREASE = 1e-4


@dataclass(frozen=True)
class PartialInput:
    """How well one sentence alone predicts the label.

    ``accuracy`` is the share of all pairs answered correctly, ``majority`` the accuracy of always answering the most
    frequent ``label``. ``balanced`` is the mean over labels of the share answered correctly, with answers that assume
    equally likely labels; ``chance`` is one over the number of labels; ``gain`` is balanced less chance. ``p`` is the
    one-sided p-value of the gain, ``detectable`` the smallest gain that the test finds in 80 % of such samples.
    """

    accuracy: Estimate
    majority: Estimate
    label: str = field(metadata={"json": "majority_label"})
    balanced: Estimate = field(metadata={"json": "balanced_accuracy"})
    chance: float
    gain: Estimate
    p: float
    test: str
    p_adjusted: float = math.nan
    detectable: float = math.nan


def partial_input(sample: PremiseSample, side: str, *, seed: int = 0, alpha: float = 0.05) -> PartialInput:
    """Accuracy of a linear model that reads one side only; NaN with a note if there are too few premises or labels.

    ``alpha`` is the level of the test for which ``detectable`` is computed.
    """
    kinds, gold = np.unique(sample.labels, return_inverse=True)
    premises, groups = np.unique(sample.keys["premise"], return_inverse=True)
    if len(kinds) < 2 or len(premises) < 2 * FOLDS:
        note = "fewer than two labels" if len(kinds) < 2 else f"fewer than {2 * FOLDS} premises"
        none = Estimate(math.nan, n=len(gold), groups=len(premises), note=note)
        label = GOLD[kinds[0]] if len(kinds) else ""
        return PartialInput(none, none, label, none, math.nan, none, math.nan, "")
    stage("labels from the %s alone", side)
    folds = Draws(seed, "audit").choices(premises, FOLDS, "fold")[groups]
    hypotheses = np.unique(digests(sample.frame["hypothesis"].fill_null("")), return_inverse=True)[1]
    answers = _answers(_sentence_features(sample.frame[side].fill_null("")), gold, folds, hypotheses)
    most = int(np.bincount(gold).argmax())
    balanced = balanced_values((answers.balanced == gold).astype(np.float64), gold)
    guessed = np.full(len(gold), 1 / len(kinds))
    tested, detectable = _test_gain(answers.sequential, gold, groups, seed=seed, alpha=alpha)
    gain = difference(balanced, guessed, groups=groups, draws_seed=seed, resamples=_RESAMPLES)
    accuracy, majority, balanced_accuracy = (
        rate(values.astype(np.float64), groups=groups, draws_seed=seed, resamples=_RESAMPLES)
        for values in (answers.plain == gold, gold == most, balanced)
    )
    if math.isnan(balanced_accuracy.low):
        balanced_accuracy = _allow_for_unseen_groups(balanced_accuracy)
        ends = (balanced_accuracy.low - 1 / len(kinds), balanced_accuracy.high - 1 / len(kinds))
        gain = replace(gain, low=ends[0], high=ends[1], method=balanced_accuracy.method, note="")
    return PartialInput(
        accuracy=accuracy,
        majority=majority,
        label=GOLD[kinds[most]],
        balanced=_within_unit(balanced_accuracy),
        chance=1 / len(kinds),
        gain=gain,
        p=tested.p / 2 if tested.statistic > 0 else 1 - tested.p / 2,
        test=f"{tested.name}, one-sided",
        detectable=detectable,
    )


def _test_gain(
    answers: Codes, gold: npt.NDArray[np.intp], groups: npt.NDArray[np.intp], *, seed: int, alpha: float
) -> tuple[Test, float]:
    """Test the gain of answers, -1 for rows without one, over a guess; and the smallest gain it probably finds."""
    from scipy.special import ndtri

    chosen = answers >= 0
    kinds, gold = np.unique(gold[chosen], return_inverse=True)
    values = balanced_values((kinds[gold] == answers[chosen]).astype(np.float64), gold)
    guessed = np.full(len(gold), 1 / len(kinds))
    test = paired_permutation(values, guessed, groups=groups[chosen], rng=generator(seed))
    error = math.sqrt(float((np.bincount(groups[chosen], values - values.mean()) ** 2).sum())) / len(gold)
    return test, float(ndtri(1 - alpha) + ndtri(_POWER)) * error


def _allow_for_unseen_groups(share: Estimate) -> Estimate:
    """The share with an interval where all groups agree: groups that were not drawn may be all right or all wrong."""
    unseen = 1 - clopper_pearson(share.groups, share.groups).low
    low, high = share.value * (1 - unseen), share.value + (1 - share.value) * unseen
    return replace(share, low=low, high=high, method="Clopper–Pearson on groups, which all agree", note="")


def _within_unit(share: Estimate) -> Estimate:
    """A share whose interval ends at 0 and 1: linearised values may lie beyond."""
    return replace(share, low=max(share.low, 0.0), high=min(share.high, 1.0))


def balanced_values(right: Floats, gold: npt.NDArray[np.intp]) -> Floats:
    """A value for each row, such that the mean over (resampled) rows is (nearly) their balanced accuracy.

    This linearises the share of right rows of each label: a row's value is the mean share plus its deviation from the
    share of its label, weighted by how rare the label is. Giving every row the same answer thus has no variance.
    """
    counts = np.bincount(gold)
    shares = np.bincount(gold, weights=right) / counts
    weights: Floats = len(gold) / (len(counts) * counts[gold])
    values: Floats = shares.mean() + weights * (right - shares[gold])
    return values


def _sentence_features(texts: pl.Series) -> FeatureTable:
    """A table of 0 and 1: the hashed words and bigrams of each sentence, without those in one sentence only."""
    from scipy.sparse import csr_array, vstack

    blocks = []
    for start in range(0, len(texts), ROWS):
        split = words(texts.slice(start, ROWS))
        frame = pl.DataFrame({"row": np.arange(len(split), dtype=np.int32), "word": split})
        tokens = frame.explode("word", empty_as_null=False, keep_nulls=False)
        row, word = tokens["row"].to_numpy(), tokens["word"]
        inside = np.flatnonzero(row[1:] == row[:-1])
        keys = np.concatenate([digests(word), digests(word.gather(inside), word.gather(inside + 1), salt="bigram")])
        places = (np.concatenate([row, row[inside]]), (keys % np.uint64(FEATURES)).astype(np.int32))
        block = csr_array((np.ones(len(keys), dtype=np.float32), places), shape=(len(split), FEATURES))
        block.sum_duplicates()
        block.data[:] = 1
        blocks.append(block)
    table = vstack(blocks, format="csr")
    return table[:, np.flatnonzero(np.bincount(table.indices, minlength=FEATURES) >= _LEAST)]


@dataclass(frozen=True)
class _HeldOutPredictions:
    """Answers to each row by models trained on other folds.

    ``plain`` are as they are, ``balanced`` corrected to equally likely labels. ``sequential`` are corrected as well, by
    models trained on earlier folds only; -1 in the first fold.
    """

    plain: Codes
    balanced: Codes
    sequential: Codes


def _answers(
    features: FeatureTable, gold: npt.NDArray[np.intp], folds: Codes, hypotheses: npt.NDArray[np.intp]
) -> _HeldOutPredictions:
    answers = _HeldOutPredictions(*(np.full(len(gold), -1, dtype=np.int64) for _ in range(3)))
    classes = int(gold.max()) + 1

    def learn(inside: Flags, outside: Flags) -> tuple[Codes, Codes]:
        """Plain and balanced answers to the rows inside by a model trained on those outside."""
        # If most hypotheses are shared between folds, they come from a few templates, whose cues should be measured.
        others = np.flatnonzero(outside)
        apart = others[~np.isin(hypotheses[others], hypotheses[inside])]
        others = apart if 2 * len(apart) >= len(others) else others
        weights, offsets = _fit_softmax(features[others], gold[others], classes)
        scores = features[np.flatnonzero(inside)] @ weights + offsets
        counts = np.bincount(gold[others], minlength=classes)
        # A label that does not occur in the training folds is never the answer.
        balanced = scores - np.log(np.where(counts, counts, np.inf))
        return scores.argmax(axis=1), balanced.argmax(axis=1)

    last = folds.max()
    for fold in np.unique(folds):
        inside, earlier = folds == fold, folds < fold
        answers.plain[inside], answers.balanced[inside] = learn(inside, ~inside)
        if fold == last:
            answers.sequential[inside] = answers.balanced[inside]
        elif earlier.any():
            answers.sequential[inside] = learn(inside, earlier)[1]
    return answers


def _fit_softmax(features: FeatureTable, gold: npt.NDArray[np.intp], classes: int) -> tuple[Floats, Floats]:
    """Weights and offsets of a softmax regression with a ridge penalty on the weights."""
    n, width = features.shape
    truth = np.eye(classes)[gold]
    transposed = features.T.tocsr()

    def loss(parameters: Floats) -> tuple[float, Floats]:
        weights = parameters[: width * classes].reshape(width, classes)
        scores = features @ weights + parameters[width * classes :]
        scores -= scores.max(axis=1, keepdims=True)
        logs = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
        value = -float(logs[truth > 0].sum()) + _RIDGE / 2 * float((weights**2).sum())
        error = np.exp(logs) - truth
        slope = np.concatenate([(transposed @ error + _RIDGE * weights).ravel(), error.sum(axis=0)])
        return value / n, slope / n

    fitted = minimise(loss, np.zeros((width + 1) * classes), iterations=_ITERATIONS)
    return fitted[: width * classes].reshape(width, classes), fitted[width * classes :]


def minimise(
    loss: Callable[[Floats], tuple[float, Floats]], start: Floats, *, iterations: int, tolerance: float = 1e-5
) -> Floats:
    """Minimise a smooth convex loss, given with its gradient, by L-BFGS (Nocedal and Wright 2006, algorithm 7.5).

    Stops after ``iterations`` steps, or when a step reduces the value by less than ``tolerance`` of it. SciPy's version
    waits for BLAS threads on a busy machine: 8.8 s on two busy cores where the loss took 0.2 s. This one computes inner
    products without BLAS, so the result does not depend on the number of threads.
    """
    steps = list[tuple[Floats, Floats, float]]()
    point = start
    value, slope = loss(point)
    for _ in range(iterations):
        direction = -_scale_by_curvature(slope, steps)
        fall = _inner_product(direction, slope)
        if fall >= 0:
            break
        # The first step has no curvature estimate, so no parameter may change by more than 1.
        size = 1.0 if steps else min(1.0, 1.0 / max(float(np.abs(slope).max()), 1e-12))
        for _ in range(_HALVINGS):
            new = point + size * direction
            new_value, new_slope = loss(new)
            if new_value <= value + _SUFFICIENT_DECREASE * size * fall:
                break
            size /= 2
        else:
            break
        move, bend = new - point, new_slope - slope
        curvature = _inner_product(move, bend)
        if curvature > 1e-12 * _inner_product(bend, bend):
            steps = [*steps[1 - _STEPS_KEPT :], (move, bend, 1 / curvature)]
        gain = value - new_value
        point, value, slope = new, new_value, new_slope
        if gain <= tolerance * max(abs(value), 1e-12):
            break
    return point


def _scale_by_curvature(slope: Floats, steps: list[tuple[Floats, Floats, float]]) -> Floats:
    """The gradient times the inverse Hessian as estimated from the last steps (the two-loop recursion)."""
    result = slope.copy()
    weights = []
    for move, bend, inverse in reversed(steps):
        weights.append(inverse * _inner_product(move, result))
        result -= weights[-1] * bend
    if steps:
        _, bend, inverse = steps[-1]
        result /= inverse * _inner_product(bend, bend)
    for (move, bend, inverse), weight in zip(steps, reversed(weights), strict=True):
        result += (weight - inverse * _inner_product(bend, result)) * move
    return result


def _inner_product(first: Floats, second: Floats) -> float:
    return float((first * second).sum())
