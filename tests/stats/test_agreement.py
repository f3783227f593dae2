from __future__ import annotations

import math
from itertools import combinations, product

import numpy as np
import pytest
from nltk.metrics.agreement import AnnotationTask
from nltk.metrics.distance import masi_distance

from acidtest.stats.agreement import (
    category_alphas,
    cohen_kappa,
    intersection_over_union,
    krippendorff_alpha,
    mean_alpha,
    pairs_within,
    set_alpha,
    set_distances,
)
from acidtest.stats.jackknife import Replicates, jackknifed


def raters(table: list[list[int]]) -> tuple[list[str], list[str]]:
    size = range(len(table))
    pairs = [(f"c{i}", f"c{j}") for i, j in product(size, size) for _ in range(table[i][j])]
    return [first for first, _ in pairs], [second for _, second in pairs]


def kappa(shares: np.ndarray) -> float:
    expected = float(shares.sum(axis=1) @ shares.sum(axis=0))
    return (float(np.trace(shares)) - expected) / (1 - expected)


def test_the_interval_is_that_of_the_delta_method() -> None:
    table = [[75, 1, 4], [5, 4, 1], [0, 0, 10]]
    shares = np.array(table) / 100
    # The slope of kappa in each cell by small steps, and the variance of a multinomial: another way to the number.
    step = 1e-6
    slopes = np.zeros_like(shares)
    for cell in np.ndindex(shares.shape):
        moved = shares.copy()
        moved[cell] += step
        slopes[cell] = (kappa(moved) - kappa(shares)) / step
    variance = ((shares * slopes**2).sum() - (shares * slopes).sum() ** 2) / 100
    found = cohen_kappa(*raters(table))
    # Agreement 0.89; chance 0.8 * 0.8 + 0.1 * 0.05 + 0.1 * 0.15 = 0.66.
    assert found.value == pytest.approx((0.89 - 0.66) / 0.34)
    assert (found.high - found.low) / 2 == pytest.approx(1.959964 * math.sqrt(variance), rel=1e-4)
    assert found.n == 100


def test_two_by_two_in_closed_form() -> None:
    # Agreement 35 of 50, chance 0.5 * 0.6 + 0.5 * 0.4: (0.7 - 0.5) / 0.5.
    assert cohen_kappa(*raters([[20, 5], [10, 15]])).value == pytest.approx(0.4)


def test_the_order_of_the_people_does_not_matter() -> None:
    first, second = raters([[20, 5, 1], [10, 15, 0], [3, 3, 9]])
    one, other = cohen_kappa(first, second), cohen_kappa(second, first)
    assert (one.value, one.low, one.high) == pytest.approx((other.value, other.low, other.high))


def test_people_who_agree_everywhere_have_one_and_no_interval() -> None:
    found = cohen_kappa(["a", "b"], ["a", "b"])
    assert found.value == 1
    assert math.isnan(found.low)
    assert found.note == "they agree on every row: no interval"


def test_what_chance_alone_explains_has_no_kappa() -> None:
    assert cohen_kappa([], []).note == "nothing that both decided on"
    assert cohen_kappa(["a", "a"], ["a", "a"]).note == "both gave every row the category a"


def test_people_who_never_agree_are_below_chance() -> None:
    assert cohen_kappa(["a", "b"] * 20, ["b", "a"] * 20).value == pytest.approx(-1)


@pytest.mark.parametrize("groups", [None, np.repeat(np.arange(10), 4)])
@pytest.mark.parametrize("constant", [0, 1])
def test_a_person_who_always_says_the_same_has_no_interval(constant: int, groups: np.ndarray | None) -> None:
    people = [["a", "b"] * 20, ["a", "b"] * 20]
    people[constant] = ["a"] * 40
    found = cohen_kappa(*people, groups=groups)
    assert (found.value, math.isnan(found.low), math.isnan(found.high)) == (0.0, True, True)
    assert found.note.startswith(f"the {('first', 'second')[constant]} gave every row the same category: kappa is 0")


def test_rows_that_are_all_alike_have_no_interval() -> None:
    never = cohen_kappa(["a", "b"] * 20, ["b", "a"] * 20)
    assert math.isnan(never.low)
    each = cohen_kappa(["a"] * 5, ["b"] * 5)
    assert (each.value, each.note) == (0.0, "each gave every row one category, and not the same: no interval")


@pytest.mark.parametrize("copying", [0.0, 0.5, 0.8])
def test_the_interval_covers_the_true_value(copying: float) -> None:
    # The second person copies the first with this probability and otherwise draws anew from the same shares, which
    # makes it the true kappa.
    rng = np.random.default_rng(7)
    shares = [0.4, 0.3, 0.2, 0.1]
    covered = 0
    for _ in range(400):
        first = rng.choice(list("abcd"), size=100, p=shares)
        second = np.where(rng.random(100) < copying, first, rng.choice(list("abcd"), size=100, p=shares))
        found = cohen_kappa(first.tolist(), second.tolist())
        covered += found.low <= copying <= found.high
    # 95 % of 400, with room for the draws: 4 standard deviations of a count of 400 at 0.95 are 17.
    assert 380 - 17 <= covered <= 380 + 17


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


def marks(*sets: str) -> np.ndarray:
    return np.array([[letter in each for letter in "abcd"] for each in sets])


def test_iou_is_a_mean_over_rows_and_leaves_out_what_nobody_marked() -> None:
    # Rows: {a, b} and {b, c} share one of three; {a} and {a} all; nothing and {d} none; nothing and nothing 0/0.
    marked = marks("ab", "bc", "a", "a", "", "d", "", "")
    found = intersection_over_union(marked, np.repeat(np.arange(4), 2))
    assert found.iou.value == pytest.approx((1 / 3 + 1 + 0) / 3)
    assert (found.iou.n, found.empty) == (3, 1)


def test_of_three_people_it_is_the_mean_over_pairs() -> None:
    # {a}, {a, b} and nothing: 1/2, 0, 0. Then {a}, nothing, nothing: 0, 0 and a 0/0 that does not count.
    marked = marks("a", "ab", "", "a", "", "")
    found = intersection_over_union(marked, np.repeat(np.arange(2), 3))
    assert found.iou.value == pytest.approx((1 / 6 + 0) / 2)
    assert found.empty == 0


def test_rows_of_one_person_and_nothing_at_all_say_so() -> None:
    alone = intersection_over_union(marks("a", "b"), np.array([0, 1]))
    assert (alone.iou.note, alone.empty) == ("no row with two labels or more", 0)
    empty = intersection_over_union(marks("", ""), np.array([0, 0]))
    assert math.isnan(empty.iou.value)
    assert (empty.iou.note, empty.empty) == ("nobody marked anything where two people looked: 0/0", 1)
    assert intersection_over_union(np.zeros((0, 4), dtype=bool), np.zeros(0, dtype=np.int64)).empty == 0


def test_rows_of_one_group_stand_together() -> None:
    marked, rows = marks(*["ab", "bc", "a", "a", "c", "d"] * 20), np.repeat(np.arange(60), 2)
    alone = intersection_over_union(marked, rows)
    grouped = intersection_over_union(marked, rows, groups=np.arange(60) % 4)
    assert (alone.iou.groups, grouped.iou.groups) == (60, 4)


def test_every_two_judgements_of_a_row_are_a_pair_once() -> None:
    codes = np.array([5, 2, 5, 5, 2, 9])
    found = {frozenset(pair) for pair in zip(*(each.tolist() for each in pairs_within(codes)), strict=True)}
    assert found == {frozenset(pair) for pair in combinations(range(6), 2) if codes[pair[0]] == codes[pair[1]]}


def test_masi_weighs_subsets_and_overlaps_as_passonneau_has_it() -> None:
    # The same; a subset, 1/2 · 2/3; an overlap, 1/3 · 1/3; nothing in common; nothing and nothing; nothing and one.
    sets = marks("ab", "a", "bc", "d", "")
    found = set_distances(sets, "masi")
    assert found[0] == pytest.approx([0, 1 - 1 / 3, 1 - 1 / 9, 1, 1])
    assert found[4] == pytest.approx([1, 1, 1, 1, 0])
    assert set_distances(sets, "jaccard")[0] == pytest.approx([0, 1 / 2, 2 / 3, 1, 1])
    # NLTK rounds the weights to 0.67 and 0.33.
    for first, second in combinations(range(4), 2):
        names = [frozenset(np.flatnonzero(sets[each]).tolist()) for each in (first, second)]
        assert found[first, second] == pytest.approx(masi_distance(*names), abs=0.005)


def drawn(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Marks, row and person of judgements: two to four people a row, who often follow the first."""
    rng = np.random.default_rng(seed)
    marked = rng.random((40, 4, 4)) < 0.35
    marked[:, 1:] = np.where(rng.random((40, 3, 1)) < 0.5, marked[:, :1], marked[:, 1:])
    there = np.arange(4)[None, :] < rng.integers(2, 5, size=40)[:, None]
    row, person = np.nonzero(there)
    return marked[row, person], row, person


@pytest.mark.parametrize("distance", ["masi", "jaccard"])
@pytest.mark.parametrize("seed", range(3))
def test_another_program_finds_the_same_alpha_of_sets(seed: int, distance: str) -> None:
    marked, rows, people = drawn(seed)

    def apart(first: frozenset[int], second: frozenset[int]) -> float:
        union, both = len(first | second), len(first & second)
        if not union:
            return 0.0
        kind = 1 if first == second else 2 / 3 if both == min(len(first), len(second)) else 1 / 3
        return 1 - both / union * (kind if distance == "masi" else 1)

    sets = [frozenset(np.flatnonzero(each).tolist()) for each in marked]
    data = [(f"c{who}", f"i{row}", each) for who, row, each in zip(people, rows, sets, strict=True)]
    found = set_alpha(marked, rows, distance=distance)  # type: ignore[arg-type]
    assert found.value == pytest.approx(AnnotationTask(data, distance=apart).alpha())


def test_its_interval_is_that_of_leaving_groups_out_one_by_one() -> None:
    marked, rows, _ = drawn(7)
    groups = np.arange(40) % 13
    found = set_alpha(marked, rows, distance="masi", groups=groups)
    without = np.array(
        [
            set_alpha(marked[kept], rows[kept], distance="masi").value
            for kept in (groups[rows] != one for one in range(13))
        ]
    )
    slowly = jackknifed(Replicates(found.value, without, 40), undefined="")
    assert (found.low, found.high) == pytest.approx((slowly.low, slowly.high))
    assert (found.n, found.groups) == (40, 13)


def test_alpha_of_sets_at_its_limits() -> None:
    assert set_alpha(marks("a", "b"), np.array([0, 1]), distance="masi").note == "no row with two labels or more"
    same = set_alpha(marks("a", "a", "a", "a"), np.array([0, 0, 1, 1]), distance="masi")
    assert same.note == "everybody marked the same: chance alone agrees"
    whole = set_alpha(marks("a", "a", "b", "b"), np.array([0, 0, 1, 1]), distance="jaccard")
    assert (whole.value, whole.note) == (1, "they agree on every row: no interval")
