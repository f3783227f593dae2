"""Krippendorff's alpha against his own examples, another program, by hand, and its interval in simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from nltk.metrics.agreement import AnnotationTask

from acidtest.stats.agreement import category_alphas, krippendorff_alpha, mean_alpha

# Krippendorff (2011), section C: four observers, twelve units, values 1 to 5; a dot is no value.
FOUR_OBSERVERS = ("12332141 2...", "12332241 25.3", ".3332342 251.", "12332441 251.")


def counts_of(observers: tuple[str, ...], values: str) -> np.ndarray:
    rows = zip(*(each.replace(" ", "") for each in observers), strict=True)
    return np.array([[row.count(value) for value in values] for row in rows])


def test_four_observers_agree_as_in_his_paper() -> None:
    found = krippendorff_alpha(counts_of(FOUR_OBSERVERS, "12345"))
    assert round(found.value, 3) == 0.743
    # One of the twelve units has a single value and is left out.
    assert found.n == 11


def test_two_observers_of_binary_data_agree_as_in_his_paper() -> None:
    # Section A: Meg and Owen, ten articles.
    found = krippendorff_alpha(counts_of(("0100000010", "1110010000"), "01"))
    assert round(found.value, 3) == 0.095


def test_by_hand() -> None:
    # Rows aa, ab, bb: disagreement within rows 0 + (1·1 + 1·1)/1 + 0 = 2; labels 3 and 3 of 6: 3·3 + 3·3 = 18.
    found = krippendorff_alpha([[2, 0], [1, 1], [0, 2]])
    assert found.value == pytest.approx(1 - (6 - 1) * 2 / 18)


@pytest.mark.parametrize("seed", range(4))
def test_another_program_finds_the_same(seed: int) -> None:
    rng = np.random.default_rng(seed)
    said = rng.choice(4, size=(30, 3), p=[0.5, 0.3, 0.15, 0.05])
    said[:, 1] = np.where(rng.random(30) < 0.6, said[:, 0], said[:, 1])
    present = rng.random((30, 3)) < 0.8
    # NLTK divides by nothing where an item has one label.
    present[present.sum(axis=1) < 2] = False
    counts = np.stack([((said == value) & present).sum(axis=1) for value in range(4)], axis=1)
    data = [(f"c{who}", f"i{row}", f"v{said[row, who]}") for row, who in zip(*np.nonzero(present), strict=True)]
    assert krippendorff_alpha(counts).value == pytest.approx(AnnotationTask(data).alpha())


def test_a_category_has_the_alpha_of_marked_or_not() -> None:
    marks, people = np.array([[2, 1], [1, 0], [0, 0], [0, 3]]), np.array([2, 2, 2, 3])
    first, second = category_alphas(marks, people=people)
    for found, column in ((first, 0), (second, 1)):
        both = np.stack([marks[:, column], people - marks[:, column]], axis=1)
        assert found.value == pytest.approx(krippendorff_alpha(both).value)
    assert mean_alpha(marks, people=people).value == pytest.approx((first.value + second.value) / 2)


def test_what_nobody_or_everybody_marked_has_none() -> None:
    nobody, everybody = category_alphas([[0, 2], [0, 2]], people=[2, 2])
    assert nobody.note == "nobody marked it"
    assert everybody.note == "everybody marked it on every row: chance alone agrees"
    assert mean_alpha([[0, 2], [0, 2]], people=[2, 2]).note == "no category has an alpha"
    assert mean_alpha([[1]], people=[1]).note == krippendorff_alpha([[1, 0]]).note == "no row with two labels or more"
    assert krippendorff_alpha([[2, 0], [2, 0]]).note == "everybody gave the same label: chance alone agrees"
    assert krippendorff_alpha([[2, 0], [0, 2]]).note == "they agree on every row: no interval"
    assert [each.note for each in category_alphas([[1, 0]], people=[1])] == ["no row with two labels or more"] * 2


def test_rows_of_one_group_count_as_one() -> None:
    counts = counts_of(FOUR_OBSERVERS, "12345")
    grouped = krippendorff_alpha(np.concatenate([counts, counts]), groups=[*range(12), *range(12)])
    assert (grouped.n, grouped.groups) == (22, 11)
    # Chance differs a little: it is drawn from twice as many labels.
    assert grouped.value == pytest.approx(krippendorff_alpha(counts).value, abs=0.01)


def test_the_interval_covers_what_it_promises() -> None:
    rng = np.random.default_rng(3)
    covered = 0
    for _ in range(400):
        # Copying with chance 0.6, else the same shares: the true alpha is 0.6² = 0.36.
        truth = rng.choice(3, size=80, p=[0.5, 0.3, 0.2])
        said = np.where(rng.random((80, 3)) < 0.6, truth[:, None], rng.choice(3, (80, 3), p=[0.5, 0.3, 0.2]))
        counts = np.stack([(said == value).sum(axis=1) for value in range(3)], axis=1)
        found = krippendorff_alpha(counts)
        covered += found.low <= 0.36 <= found.high
    # Three standard deviations of 400 draws at 0.95 are 0.033.
    assert covered / 400 > 0.917
    assert not math.isnan(found.low)
