"""Agreement on categories: a small file by hand, order and headings, two people, and intervals in simulation."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from nltk.metrics.agreement import AnnotationTask

from acidtest.core.serialise import to_json
from acidtest.pairs.taxonomy import CATEGORIES, is_taxinli, ordered_categories
from acidtest.stats.agreement import cohen_kappa, fleiss_kappa, label_kappas, mean_kappa
from acidtest.studies.agreement.categories import category_agreement, two_people


def said(*judgements: tuple[int, str, str | None]) -> pl.DataFrame:
    rows = [
        {"row": row, "annotator": who, "label": None, "categories": None if marks is None else list(marks)}
        for row, who, marks in judgements
    ]
    return pl.DataFrame(
        rows, schema={"row": pl.Int64, "annotator": pl.String, "label": pl.String, "categories": pl.List(pl.String)}
    )


TWO = said(
    *((0, "ann", "ab"), (0, "ben", "a"), (1, "ann", ""), (1, "ben", ""), (2, "ann", "b"), (2, "ben", "b")),
    *((3, "ann", "a"), (3, "ben", "b"), (4, "ann", "a"), (5, "ann", None), (5, "ben", "a")),
)


def shared(*judgements: tuple[int, str, list[str]]) -> pl.DataFrame:
    names = ("row", "annotator", "categories")
    return pl.DataFrame([dict(zip(names, each, strict=True)) for each in judgements])


NEUTRAL = shared(
    *((0, "ann", ["same_topic", "same_subject", "lexical"]), (0, "ben", ["same_topic", "same_subject", "causal"])),
    *((1, "ann", ["same_topic", "world"]), (1, "ben", ["negation"])),
    *((2, "ann", ["lexical"]), (2, "ben", ["syntactic"])),
)
"""Two people who never agree on a category, but on topic and subject of the first pair."""


def test_features_of_neutral_pairs_are_no_categories() -> None:
    names = ordered_categories(["lexical", "causal", "world", "negation", "syntactic", "same_topic", "same_subject"])
    found = category_agreement(NEUTRAL, names, rows=3)
    # Joshi et al. 2020, section 3.1.1: categories that both marked over those that either did, which is 0 three times.
    assert found.iou.value == 0
    assert not {"same_topic", "same_subject"} & set(found.categories)
    plain = category_agreement(NEUTRAL, [name for name in names if not name.startswith("same_")], rows=3)
    assert (found.kappa, found.alpha, found.set_alpha) == (
        plain.kappa,
        plain.alpha,
        plain.set_alpha,
    )
    # Of same_topic the rows have 2, 1 and 0 of two marks: apart 1/2; share 3/6.
    assert found.features["same_topic"].kappa.value == pytest.approx(1 - (1 / 2) / (3 * 1 / 4))
    assert found.features["same_topic"].marked == 3
    assert to_json(found)["features"]["same_subject"]["kappa"]["value"] == 1


def test_features_are_of_the_rows_on_which_they_were_asked() -> None:
    asked = np.array([True, True, False])
    found = category_agreement(NEUTRAL, ["lexical", "same_topic"], rows=3, neutral=asked)
    # Rows 0 and 1 with 2 and 1 of two marks: apart 1/2; share 3/4.
    assert found.features["same_topic"].kappa.value == pytest.approx(1 - (1 / 2) / (2 * 3 / 16))
    assert found.categories["lexical"].kappa.n == 3


def test_a_file_of_features_alone_has_no_iou() -> None:
    found = category_agreement(NEUTRAL, ["same_topic", "same_subject"], rows=3)
    assert not found.iou.known
    assert not found.kappa.known
    assert list(found.features) == ["same_topic", "same_subject"]


def test_everything_of_a_small_file_by_hand() -> None:
    found = category_agreement(TWO, ["a", "b", "c"], rows=6)
    # Four rows have two people. Of a, rows have 2, 0, 0, 1 marks: apart 1/2; share 3/8.
    a = 1 - (1 / 2) / (4 * (3 / 8) * (5 / 8))
    # Of b 1, 0, 2, 1: apart 1/2 + 1/2; share 4/8.
    b = 1 - 1 / (4 * 1 / 4)
    assert (found.rows, found.rated, found.people_per_row, found.people) == (6, 4, (2, 2), 2)
    assert {name: each.marked for name, each in found.categories.items()} == {"a": 3, "b": 4, "c": 0}
    assert found.categories["a"].kappa.value == pytest.approx(a)
    assert found.categories["b"].kappa.value == pytest.approx(b)
    assert found.categories["c"].kappa.note == "nobody marked it"
    # The mean is over the two that have one.
    assert found.kappa.value == pytest.approx((a + b) / 2)
    # {a, b} and {a} 1/2, nothing 0/0, {b} and {b} 1, {a} and {b} 0.
    assert found.iou.value == pytest.approx((1 / 2 + 1 + 0) / 3)
    assert found.empty == 1
    # Of a, Ann marks rows 0 and 3, Ben row 0: agreement 3/4, chance 1/2 · 1/4 + 1/2 · 3/4.
    assert found.categories["a"].cohen is not None
    assert found.categories["a"].cohen.value == pytest.approx((3 / 4 - 1 / 2) / (1 / 2))
    assert found.categories["c"].cohen is not None
    assert found.categories["c"].cohen.note == "nobody marked it"
    told = to_json(found)
    assert told["categories"]["c"]["kappa"]["value"] is None
    assert (told["iou_left_out"], told["annotators"], told["people_per_row"]) == (1, 2, [2, 2])


def test_a_category_has_the_fleiss_kappa_of_marked_or_not() -> None:
    marks, people = np.array([[3, 0], [1, 2], [0, 1], [2, 2]]), np.array([3, 3, 2, 2])
    for at, found in enumerate(label_kappas(marks, people=people)):
        both = np.stack([marks[:, at], people - marks[:, at]], axis=1)
        assert found.value == pytest.approx(fleiss_kappa(both).value)
        assert (found.low, found.high) == pytest.approx((fleiss_kappa(both).low, fleiss_kappa(both).high), nan_ok=True)


def test_what_no_two_people_marked_on_one_row_has_no_interval() -> None:
    # Ten of sixty rows are marked by one of two people: the rows are so alike that an interval would never hold 0.17,
    # the true value of which this is a fair draw for a category of one in ten.
    marks = np.array([[1]] * 10 + [[0]] * 50)
    (found,) = label_kappas(marks, people=np.full(60, 2))
    assert found.value == pytest.approx(1 - 5 / (60 * 1 / 12 * 11 / 12))
    assert found.note == "no two people agree on it where they could: no interval"
    assert label_kappas(2 - marks, people=np.full(60, 2))[0].note == found.note
    together = label_kappas(np.concatenate([marks, [[2]]]), people=np.full(61, 2))[0]
    assert together.low < together.value < together.high
    both = said(*((row, who, "a" if row == place else "") for row in range(9) for place, who in enumerate("xy")))
    cohen = category_agreement(both, ["a"], rows=9).categories["a"].cohen
    assert cohen is not None
    assert cohen.note == found.note


def test_two_peoples_kappa_is_that_of_another_program_whatever_the_groups() -> None:
    rng = np.random.default_rng(1)
    first = rng.choice(3, size=50, p=[0.6, 0.3, 0.1])
    second = np.where(rng.random(50) < 0.5, first, rng.choice(3, size=50))
    data = [
        (who, f"i{row}", f"v{each}") for who, many in (("a", first), ("b", second)) for row, each in enumerate(many)
    ]
    assert cohen_kappa(first, second).value == pytest.approx(AnnotationTask(data).kappa())
    alone, grouped = (cohen_kappa(first, second, groups=codes) for codes in (np.arange(50), np.arange(50) // 5))
    assert alone.value == grouped.value == pytest.approx(cohen_kappa(first, second).value)
    assert (alone.groups, grouped.groups) == (50, 10)
    # Rows alone, the jackknife's interval is near the large-sample one.
    assert alone.low == pytest.approx(cohen_kappa(first, second).low, abs=0.04)
    assert alone.method == "t interval on Fisher's scale, jackknife over rows"


def test_there_are_two_people_or_there_are_not() -> None:
    both = two_people(TWO, "categories")
    assert both is not None
    assert [each["row"].to_list() for each in both] == [[0, 1, 2, 3]] * 2
    assert two_people(said((0, "a", ""), (0, "b", ""), (1, "c", "")), "categories") is None
    assert two_people(said((0, "a", "")), "categories") is None


def test_nobody_at_all_is_no_mistake() -> None:
    found = category_agreement(said(), ["a"], rows=0)
    assert (found.rated, found.people) == (0, 0)
    assert found.kappa.note == found.iou.note == found.set_alpha.masi.note == "no row with two labels or more"


def test_perfect_agreement_is_one() -> None:
    found = category_agreement(
        said(*((row, who, "ab"[row % 2]) for row in range(6) for who in "xyz")), ["a", "b"], rows=6
    )
    assert found.kappa.value == found.alpha.value == found.set_alpha.masi.value == found.iou.value == 1
    assert found.categories["a"].cohen is None


def test_categories_of_the_taxonomy_have_its_order_and_headings() -> None:
    assert ordered_categories(["world_knowledge", "negation", "lexical"]) == ("lexical", "negation", "world")
    assert ordered_categories(["zoo", "apt", "world", "same_topic"]) == ("world", "same_topic", "zoo", "apt")
    assert is_taxinli(CATEGORIES)
    assert not is_taxinli(CATEGORIES[:4])
    assert not is_taxinli([*CATEGORIES, "odd"])


def test_the_interval_of_the_mean_covers_what_it_promises() -> None:
    rng = np.random.default_rng(9)
    shares = np.array([0.4, 0.2, 0.1])
    covered = 0
    for _ in range(400):
        # Seen with chance 0.7, else guessed by the same shares: the true kappa of each is 0.49. Three rows a premise
        # are alike in how hard they are, 0.7 being the mean chance of pairs.
        chance = np.repeat(rng.choice([np.sqrt(0.33), np.sqrt(0.65)], size=40), 3)
        truth = rng.random((120, 1, 3)) < shares
        marked = np.where(rng.random((120, 2, 1)) < chance[:, None, None], truth, rng.random((120, 2, 3)) < shares)
        counts = marked.sum(axis=1)
        found = mean_kappa(counts, people=np.full(120, 2), groups=np.repeat(np.arange(40), 3))
        covered += found.low <= 0.49 <= found.high
    assert covered / 400 > 0.917
