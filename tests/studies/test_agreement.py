"""Fleiss' kappa against published tables, by hand and at its limits; its interval by another way and in simulation."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from acidtest.annotate.ratings import read_ratings
from acidtest.core.ratings import Ratings, label_counts, majority_labels, ordered_labels
from acidtest.core.serialise import to_json
from acidtest.stats.agreement import cohen_kappa, fleiss_kappa, label_kappas
from acidtest.studies.agreement import agreement, human_basis, human_performance, observed_agreement

# Fleiss (1971), table 1: thirty patients, six psychiatrists each; depression, personality disorder, schizophrenia,
# neurosis, other.
PSYCHIATRIC = """
00060 03003 01401 00006 03030 20400 00402 20310 20040 00006 10050 11040 03300 10050 02031
00501 30012 51000 02040 10203 00006 01050 02013 20040 10041 05010 40002 02040 10500 00006"""

# The example of Wikipedia's article on Fleiss' kappa: ten subjects, fourteen raters, five categories.
FOURTEEN = [
    [0, 0, 0, 0, 14],
    [0, 2, 6, 4, 2],
    [0, 0, 3, 5, 6],
    [0, 3, 9, 2, 0],
    [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0],
    [3, 2, 6, 3, 0],
    [2, 5, 3, 2, 2],
    [6, 5, 2, 1, 0],
    [0, 2, 2, 3, 7],
]


def psychiatric() -> np.ndarray:
    return np.array([[int(digit) for digit in row] for row in PSYCHIATRIC.split()])


def ratings(counts: object, gold: list[str | None], labels: tuple[str, ...] = ("a", "b"), **others: object) -> Ratings:
    told = {"gold_from": "gold", **others}
    return Ratings("file", labels, np.array(counts), pl.Series("gold", gold, dtype=pl.String), **told)  # type: ignore[arg-type]


def test_the_psychiatrists_of_fleiss_agree_as_in_his_paper() -> None:
    found = fleiss_kappa(psychiatric())
    # Fleiss (1971): kappa = .430; by category .245, .245, .520, .471, .566, as in R's irr::kappam.fleiss(diagnoses).
    assert round(found.value, 3) == 0.430
    assert [round(each.value, 3) for each in label_kappas(psychiatric())] == [0.245, 0.245, 0.520, 0.471, 0.566]
    assert (found.n, found.groups) == (30, 30)


def test_fourteen_raters_agree_as_in_the_textbook_example() -> None:
    assert round(fleiss_kappa(FOURTEEN).value, 3) == 0.210
    # The article's mean of P_i.
    assert round(observed_agreement(FOURTEEN).value, 3) == 0.378


def test_rows_with_different_numbers_of_labels_by_hand() -> None:
    # Rows (2, 0), (1, 2), (0, 4): apart x(m - x)/m = 0, 2/3, 0; labels beyond one a row 1 + 2 + 3 = 6; shares 3/9, 6/9.
    expected = 1 - (2 / 3) / (6 * (1 / 3) * (2 / 3))
    counts = [[2, 0], [1, 2], [0, 4]]
    assert fleiss_kappa(counts).value == pytest.approx(expected)
    assert [each.value for each in label_kappas(counts)] == pytest.approx([expected, expected])
    # A row with one label, or none, changes nothing.
    assert fleiss_kappa([*counts, [1, 0], [0, 0]]).value == pytest.approx(expected)
    assert fleiss_kappa([*counts, [1, 0], [0, 0]]).n == 3
    # Agreeing pairs of each row: 1 of 1, 1 of 3, 6 of 6.
    assert observed_agreement(counts).value == pytest.approx((1 + 1 / 3 + 1) / 3)


def test_overall_is_the_mean_of_labels_weighted_by_their_chance() -> None:
    # Fleiss (1971): kappa is the mean of the categories' kappas, weighted by p(1 - p).
    shares = psychiatric().sum(axis=0) / 180
    weights = shares * (1 - shares)
    mean = sum(w * each.value for w, each in zip(weights, label_kappas(psychiatric()), strict=True)) / weights.sum()
    assert fleiss_kappa(psychiatric()).value == pytest.approx(mean)


def test_two_people_with_the_same_habits_have_cohens_kappa() -> None:
    first, second = ["a"] * 5 + ["b"] * 5, ["a"] * 4 + ["b"] + ["a"] + ["b"] * 4
    counts = [
        [(one == "a") + (two == "a"), (one == "b") + (two == "b")] for one, two in zip(first, second, strict=True)
    ]
    assert fleiss_kappa(counts).value == pytest.approx(cohen_kappa(first, second).value)


@pytest.mark.parametrize(
    ("counts", "note"),
    [
        (np.zeros((0, 2)), "no row with two labels or more"),
        ([[1, 0], [0, 1]], "no row with two labels or more"),
        ([[3, 0], [3, 0]], "everybody gave the same label: chance alone agrees"),
        ([[3], [3]], "everybody gave the same label: chance alone agrees"),
    ],
)
def test_where_nothing_can_be_told_there_is_a_note(counts: object, note: str) -> None:
    found = fleiss_kappa(np.asarray(counts))
    assert math.isnan(found.value)
    assert found.note == note
    assert math.isnan(label_kappas(np.asarray(counts))[0].value)


def test_perfect_agreement_is_one_without_an_interval() -> None:
    found = fleiss_kappa([[3, 0], [0, 3], [3, 0]])
    assert (found.value, found.note) == (1, "they agree on every row: no interval")
    assert math.isnan(found.low)


def test_one_row_or_one_group_has_no_interval() -> None:
    assert fleiss_kappa([[2, 1]]).value == pytest.approx(1 - (2 / 3 * 2) / (2 * 4 / 9))
    assert fleiss_kappa([[2, 1]]).note == "one row only: no interval"
    assert fleiss_kappa([[2, 1], [0, 3]], groups=[7, 7]).note == "one group only: no interval"


def test_a_label_nobody_gave_and_one_that_a_single_row_has_say_so() -> None:
    first, second, third = label_kappas([[3, 0, 0], [2, 1, 0], [3, 0, 0]])
    assert third.note == "nobody gave this label"
    assert second.note == first.note == "it rests on one of the rows: no interval"


def test_rows_that_are_all_alike_have_no_interval() -> None:
    found = fleiss_kappa([[1, 1]] * 8)
    assert (found.value, found.note) == (-1, "all rows are alike: no interval")


def test_the_interval_is_that_of_the_delta_method() -> None:
    counts = np.repeat(psychiatric(), 20, axis=0)
    found = fleiss_kappa(counts)
    # Another way to the variance: the slope of kappa in the weight of each row, by small steps.
    step, slopes = 1e-6, []
    for row in range(30):
        weights = np.full(30, 20.0)
        weights[row] += step
        slopes.append((weighted_kappa(psychiatric(), weights) - found.value) / step)
    error = math.sqrt(20 * sum(slope**2 for slope in slopes))
    width = math.atanh(found.high) - math.atanh(found.low)
    assert width / 2 == pytest.approx(1.9639 * error / (1 - found.value**2), rel=0.005)
    assert found.low < found.value < found.high


def weighted_kappa(table: np.ndarray, weights: np.ndarray) -> float:
    """The textbook formula for equally many labels a row, each row counted by its weight."""
    m = table.sum(axis=1)[0]
    agreeing = ((table**2).sum(axis=1) - m) / (m * (m - 1))
    shares = (weights[:, None] * table).sum(axis=0) / (weights.sum() * m)
    observed, chance = (weights * agreeing).sum() / weights.sum(), (shares**2).sum()
    return float((observed - chance) / (1 - chance))


def test_rows_of_one_group_count_as_one() -> None:
    counts = np.array(FOURTEEN)
    doubled = np.concatenate([counts, counts])
    grouped = fleiss_kappa(doubled, groups=[*range(10), *range(10)])
    alone = fleiss_kappa(counts)
    assert (grouped.value, grouped.low, grouped.high) == pytest.approx((alone.value, alone.low, alone.high))
    assert (grouped.n, grouped.groups) == (20, 10)
    assert grouped.method == "t interval on Fisher's scale, jackknife over groups"


def drawn(rng: np.random.Generator, rows: int, *, copies: float, each: int = 1, people: int = 4) -> np.ndarray:
    """Labels of people who see what a group of rows is with some chance, and guess otherwise."""
    shares = [0.6, 0.3, 0.1]
    truth = np.repeat(rng.choice(3, size=rows // each, p=shares), each)
    # Groups differ in how hard they are, so that rows of one are alike in more than the truth.
    chance = np.repeat(rng.choice([0.5 * copies, copies], size=rows // each), each)
    said = np.where(
        rng.random((rows, people)) < chance[:, None], truth[:, None], rng.choice(3, (rows, people), p=shares)
    )
    return np.stack([(said == label).sum(axis=1) for label in range(3)], axis=1)


@pytest.mark.parametrize(("rows", "each", "copies"), [(60, 1, 0.0), (60, 1, 0.8), (120, 3, 0.8), (300, 1, 0.95)])
def test_intervals_cover_what_they_promise(rows: int, each: int, copies: float) -> None:
    rng = np.random.default_rng(5)
    whole = drawn(rng, 300_000, copies=copies, each=each)
    truth = [fleiss_kappa(whole).value, *(found.value for found in label_kappas(whole))]
    covered = np.zeros(4)
    for _ in range(400):
        counts = drawn(rng, rows, copies=copies, each=each)
        groups = np.repeat(np.arange(rows // each), each)
        found = [fleiss_kappa(counts, groups=groups), *label_kappas(counts, groups=groups)]
        covered += [estimate.low <= value <= estimate.high for estimate, value in zip(found, truth, strict=True)]
    # Three standard deviations of 400 draws at 0.95 are 0.033.
    assert (covered[:3] / 400 > 0.917).all(), covered
    # The rare label rests on few rows.
    assert covered[3] / 400 > 0.89, covered


def test_people_who_guess_agree_by_chance() -> None:
    rng = np.random.default_rng(6)
    found = [fleiss_kappa(drawn(rng, 100, copies=0)) for _ in range(300)]
    assert abs(np.mean([each.value for each in found])) < 0.01
    # Two-sided at 0.05; three standard deviations of 300 draws are 0.038.
    assert np.mean([each.low > 0 or each.high < 0 for each in found]) < 0.088


def test_the_majority_is_more_than_half() -> None:
    counts = [[3, 0, 0], [1, 2, 0], [1, 1, 1], [2, 2, 0], [0, 0, 0], [2, 1, 1]]
    assert majority_labels(counts, ["a", "b", "c"]).to_list() == ["a", "b", None, None, None, None]


def test_labels_are_counted_by_row() -> None:
    said = pl.DataFrame({"row": [0, 0, 2], "label": ["b", "b", "a"]})
    assert label_counts(said, ["a", "b"], rows=3).tolist() == [[0, 2], [0, 0], [1, 0]]


def test_labels_of_nli_come_first() -> None:
    assert ordered_labels(["zebra", "contradiction", "apple", "entailment", "non-entailment"]) == [
        "entailment",
        "contradiction",
        "non-entailment",
        "apple",
        "zebra",
    ]


def test_human_performance_is_the_mean_share_over_rows_with_gold() -> None:
    # Shares 1, 2/3 and 0; the row without gold and the one with a single label are left out.
    found = human_performance(ratings([[2, 0], [1, 2], [3, 0], [2, 1], [1, 0]], ["a", "b", "b", None, "a"]))
    assert found.value == pytest.approx((1 + 2 / 3 + 0) / 3)
    assert found.n == 3


def test_a_gold_set_accepts_all_its_labels() -> None:
    labels = ("entailment", "neutral", "contradiction", "non-entailment")
    counts = [[1, 1, 2, 0], [0, 1, 0, 1], [0, 1, 1, 2]]
    found = human_performance(ratings(counts, ["non-entailment", "non-entailment", "neutral"], labels))
    # 3 of 4, 2 of 2, and of neutral, non-entailment and contradiction only the first is sure to be neutral.
    assert found.value == pytest.approx((3 / 4 + 1 + 1 / 4) / 3)


def test_human_performance_without_gold_is_not_zero() -> None:
    found = human_performance(ratings([[2, 1]], [None]))
    assert math.isnan(found.value)
    assert found.note == "no row with gold and two labels or more"


def test_two_labels_are_always_right_by_their_own_majority_so_that_there_is_no_human_performance() -> None:
    counts, golds = [[2, 0], [2, 1], [0, 2]], ["a", "a", "b"]
    assert human_performance(ratings(counts, golds)).value == pytest.approx((1 + 2 / 3 + 1) / 3)
    # Who asks a third person where two disagree gets two of three on all rows that are left: 66.7 %, whatever they say.
    voted = human_performance(ratings(counts, golds, gold_from="majority"))
    assert voted.note == (
        "gold is the vote of the same labels, and 2 of 3 rows have two; name gold from elsewhere with --gold"
    )
    few = human_performance(ratings(counts[:1], golds[:1], gold_from="majority"))
    assert (
        few.note == "gold is the vote of the same labels, and all rows have two; name gold from elsewhere with --gold"
    )
    one = human_performance(ratings(counts, golds, gold_from="unanimous"))
    assert one.note == "gold is what everybody said, so that everybody is right"


def test_human_performance_says_which_rows_it_rests_on_and_how_low_it_can_be() -> None:
    counts, golds = [[3, 0], [2, 1], [1, 1], [5, 0], [1, 0]], ["a", "a", None, "a", "a"]
    basis = human_basis(ratings(counts, golds, gold_from="majority"))
    assert (basis.rows, basis.without_gold, basis.few_labels) == (3, 1, 1)
    # At least two of three, two of three and three of five.
    assert basis.floor == pytest.approx((2 / 3 + 2 / 3 + 3 / 5) / 3)
    # A column of gold that is nothing but the majority bounds it just so; one that differs somewhere does not.
    assert human_basis(ratings(counts, golds)).floor == basis.floor
    assert human_basis(ratings(counts, ["a", "b", None, "a", "a"])).floor is None
    assert to_json(agreement(ratings(counts, golds)))["human_performance_basis"]["rows"] == 3


def test_people_who_guess_are_far_above_chance_by_their_own_majority() -> None:
    # Three of three with 1/9, two with 6/9, no majority with 2/9: (1/9 + 6/9 · 2/3) / (7/9) = 5/7.
    draws = np.random.default_rng(0).integers(0, 3, (4000, 3))
    counts = np.stack([(draws == label).sum(axis=1) for label in range(3)], axis=1)
    golds = majority_labels(counts, ("a", "b", "c")).to_list()
    found = human_performance(ratings(counts.tolist(), golds, ("a", "b", "c"), gold_from="majority"))
    assert found.value == pytest.approx(5 / 7, abs=0.01)


def test_everything_of_a_small_file_by_hand() -> None:
    counts = [[3, 0], [2, 1], [0, 3], [1, 1], [1, 0]]
    found = agreement(ratings(counts, ["a", "a", "b", None, "c"]))
    assert (found.rows, found.rated, found.given, found.labels_per_row, found.with_gold) == (5, 4, 12, (2, 3), 4)
    assert {name: (each.given, each.gold) for name, each in found.labels.items()} == {
        "a": (7, 2),
        "b": (5, 1),
        "c": (0, 1),
    }
    assert found.labels["c"].kappa.note == "nobody gave this label"
    # On rows with gold: apart 0, 2/3, 0 for each label; beyond one a row 6; shares 5/9 and 4/9.
    assert found.kappa_with_gold.value == pytest.approx(1 - (2 / 3) / (6 * 20 / 81))
    # With the row on which they differ: apart 2/3 + 1/2; beyond one a row 7; shares 6/11 and 5/11.
    assert found.kappa.value == pytest.approx(1 - (2 / 3 + 1 / 2) / (7 * 30 / 121))
    assert found.human.value == pytest.approx((1 + 2 / 3 + 1) / 3)
    told = to_json(found)
    assert told["kappa"]["value"] == found.kappa.value
    assert told["labels"]["b"]["given"] == 5
    assert told["labels"]["c"]["kappa"]["value"] is None
    assert told["labels_per_row"] == [2, 3]


def test_nothing_at_all_is_no_mistake() -> None:
    found = agreement(ratings(np.zeros((0, 2), dtype=np.int64), []))
    assert (found.rows, found.rated, found.given) == (0, 0, 0)
    assert found.kappa.note == found.observed.note == "no row with two labels or more"


# facts: the issue's numbers for the quarter file, and the paper's table 2 for SNLI's test set.
def test_the_quarter_of_breaking_nli_is_what_the_issue_says(shared: Path) -> None:
    found = agreement(read_ratings(shared / "breaking_nli" / "breaking_nli_quarter.jsonl"))
    assert round(found.kappa.value, 3) == 0.612
    assert round(found.labels["contradiction"].kappa.value, 3) == 0.613
    assert round(found.labels["entailment"].kappa.value, 3) == 0.906
    assert round(found.human.value, 3) == 0.943
    assert found.corpus == "Breaking NLI"
    # 2,049 pairs are made of 1,303 premises.
    assert (found.kappa.n, found.kappa.groups, found.human.groups) == (2049, 1303, 1303)
    for label in (None, "contradiction", "entailment"):
        value = found.published_value("kappa", label)
        assert value is not None
        kappa = found.labels[label].kappa if label else found.kappa
        assert kappa.low < value < kappa.high, "the whole file's is within the interval of a quarter"
    assert found.published_value("kappa", "neutral") is None


def test_the_test_set_of_snli_is_the_papers(shared: Path) -> None:
    found = agreement(read_ratings(shared / "snli" / "snli_1.0_test.jsonl.gz"))
    assert found.corpus == "SNLI test"
    assert (found.rows, found.with_gold, found.labels_per_row) == (10_000, 9_824, (4, 5))
    assert round(found.human.value, 3) == 0.877 == found.published_value("human performance")
    for label in (None, "contradiction", "entailment"):
        kappa = found.labels[label].kappa_with_gold if label else found.kappa_with_gold
        assert round(kappa.value, 2) == found.published_value("kappa", label)


def test_the_9815_pairs_of_the_paper_are_those_with_gold_and_five_labels(shared: Path) -> None:
    read = read_ratings(shared / "snli" / "snli_1.0_test.jsonl.gz")
    five = (read.counts.sum(axis=1) == 5) & read.gold.is_not_null().to_numpy()
    whole = agreement(
        Ratings("five", read.labels, read.counts[five], read.gold.filter(pl.Series(five)), corpus="SNLI test")
    )
    for label in ("contradiction", "entailment", "neutral"):
        assert whole.labels[label].gold == whole.published_value("pairs", label)
    assert whole.rows == whole.published_value("pairs") == 9815
    for label in (None, "contradiction", "entailment"):
        kappa = whole.labels[label].kappa if label else whole.kappa
        assert round(kappa.value, 2) == whole.published_value("kappa", label)
    assert round(whole.human.value, 3) == whole.published_value("human performance")
