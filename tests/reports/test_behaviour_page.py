"""Behaviour as a page: the paper's tables, what was found, pictures of answers by polarity."""

from __future__ import annotations

import re
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from markupsafe import escape

from acidtest.core.run import Header, ModelFacts, Run
from acidtest.core.suite import CONTROL, Card, Kind, Suite
from acidtest.reports.behaviour_page import Strip, behaviour_page, mosaic
from acidtest.reports.behaviour_papers import published_accuracies, published_tables, published_tests
from acidtest.stats.contingency import Crosstab
from acidtest.studies.behaviour import behaviours
from acidtest.studies.behaviour_results import Behaviours

COLUMNS: dict[str, Kind] = {"premise_word": "text", "hypothesis_word": "text"}
LABELS = ("entailment", "neutral", "contradiction")
IN_SITU, EX_SITU = "swaps/antonyms-in-situ", "swaps/hypernyms-ex-situ"


def rows(suite: str, words: tuple[str, str], gold: str, answers: list[str]) -> list[dict[str, object]]:
    """Pairs of one gold and what was answered to them; no answer is an empty string."""
    own = suite.endswith(CONTROL)
    return [
        {
            "suite": suite,
            "id": f"{number}" if own else f"{number}-swapped",
            "base_id": None if own else f"{number}",
            "group": f"{number}",
            "premise": f"A {words[0]}.",
            "hypothesis": f"A {words[1]}.",
            "label": gold,
            "premise_word": words[0],
            "hypothesis_word": words[1],
            **{f"p_{label}": float(answer == label) if answer else float("nan") for label in LABELS},
        }
        for number, answer in enumerate(answers)
    ]


def run(model: str, after: list[str]) -> Run:
    """A model that is right on the controls of two suites."""
    before = len(after)
    made = [
        *rows(EX_SITU + CONTROL, ("dog", "animal"), "entailment", ["entailment"] * before),
        *rows(EX_SITU, ("animal", "dog"), "neutral", after),
        *rows(IN_SITU + CONTROL, ("hot", "cold"), "contradiction", ["contradiction"] * before),
        *rows(IN_SITU, ("cold", "hot"), "contradiction", ["contradiction"] * (before - 1) + [""]),
    ]
    cards = {name: Card(name, columns=COLUMNS) for suite in (EX_SITU, IN_SITU) for name in (suite, suite + CONTROL)}
    frame = pl.DataFrame(made, schema_overrides={"base_id": pl.String})
    return Run(Header(ModelFacts(model, model), cards, {}), frame)


@pytest.fixture(scope="module")
def found() -> Behaviours:
    """Two models, one of which repeats its answer to twenty of forty pairs; its name is what a page must not obey."""
    texts = {
        "premise": ["A dog.", "It is hot.", "It is cold."],
        "hypothesis": ["An animal.", "It is cold.", "It is hot."],
    }
    train = pl.DataFrame(texts | {"label": ["entailment", "contradiction", "neutral"]})
    half, sound = ["neutral"] * 20 + ["entailment"] * 20, ["neutral"] * 40
    return behaviours([run("<b>half", half), run("sound", sound)], Suite(train.lazy(), Card("train")))


def cells(text: str) -> list[list[str]]:
    """The rows of the tables in a piece of a page, without what stands in small letters."""
    plain = re.sub(r"<small>.*?</small>", "", text)
    found = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL) for row in re.findall("<tr.*?</tr>", plain, re.S)]
    return [[re.sub(r"<[^>]*>", "", cell).strip() for cell in row] for row in found]


def test_the_overview_tells_each_model_and_factor(found: Behaviours, toy: SimpleNamespace) -> None:
    overview = cells(toy.section(behaviour_page(found), "overview"))
    assert overview[0] == [
        *("model", "control", "swapped", "points"),
        *("insensitivity", "unseen pairs", "polarity", "polarity, same gold"),
    ]
    # Twenty errors of twenty repeat the answer; every pair is unseen and of one gold, so nothing else can be tested.
    assert ["&lt;b&gt;half", "100.0", "50.0", "−50.0", "found", "–", "–", "–"] in overview
    assert ["sound", "100.0", "100.0", "0.0", "–", "–", "–", "–"] in overview


def test_table_1_has_models_and_the_papers_systems(found: Behaviours, toy: SimpleNamespace) -> None:
    part = cells(toy.section(behaviour_page(found), "suite-1"))
    assert part[1][2:4] == ["whole sample (40)", "gold changed (40)"]
    assert ["&lt;b&gt;half", "100.0", "–", "50.0", "50.0", "50.0", "50.0"] in part
    # Table 1, rows E_H and E_TH: whole and subset 3, then whole and subsets 1 to 3.
    assert ["ESIM", "77.1", "71.5", "57.6", "55.1", "52.7", "63.1"] in part


def test_contingency_tables_stand_beside_those_of_the_paper(found: Behaviours, toy: SimpleNamespace) -> None:
    page = behaviour_page(found)
    assert ["no change", "0", "20", "20"] in cells(toy.section(page, "suite-1"))
    in_situ = cells(toy.section(page, "suite-2"))
    # Table 3 of the paper with its sums; ours has no unseen pair, and one without an answer is wrong.
    assert ["correct", "567", "20", "587"] in in_situ
    assert ["correct", "39", "0", "39"] in in_situ
    assert "Published: CE G(1) = 19.46, DAM G(1) = 74.16, ESIM G(1) = 39.33." in page


def test_sentences_and_signatures_are_on_the_page(found: Behaviours) -> None:
    page = behaviour_page(found)
    for each in found.found:
        assert all(escape(line) in page for line in (each.signature, *each.findings))
    assert "<b>half" not in page
    assert "sound, swapped: 39 of 40 pairs" in page


def test_a_page_needs_nothing_from_elsewhere(found: Behaviours, toy: SimpleNamespace) -> None:
    page = toy.Page(behaviour_page(found))
    ids = page.attributes("id")
    assert len(ids) == len(set(ids))
    assert {link[1:] for link in page.attributes("href", "src")} <= {*ids, ""}


def test_a_mosaic_is_as_thick_as_there_are_pairs_and_counts_ties_together() -> None:
    names = ("entailment", "entailment = neutral", "neutral = contradiction", "none")
    table = Crosstab(names, ("neutral", "contradiction"), np.array([[60, 10], [5, 0], [0, 5], [20, 0]]))
    assert mosaic(table, "m").strips == (
        Strip("entailment", 70, 91, {"neutral": 60, "contradiction": 10}),
        Strip("a tie", 10, 13, {"neutral": 5, "contradiction": 5}),
        Strip("none", 20, 26, {"neutral": 20, "contradiction": 0}),
    )


def test_the_paper_prints_one_system_for_each_of_tables_2_to_4() -> None:
    # Tables 2, 3 and 4; the columns of table 4 in our order.
    (told,) = published_tables("swaps/antonyms-proxy (premise)", "insensitivity").items()
    assert (told[0], told[1].counts.tolist()) == ("ESIM", [[155, 31], [8, 100]])
    (told,) = published_tables(IN_SITU, "polarity").items()
    assert told[0] == "DAM"
    assert told[1].rows == ("entailment", "neutral", "contradiction", "none")
    assert told[1].counts.tolist() == [[0, 0, 3], [0, 5, 21], [3, 5, 543], [12, 8, 20]]
    assert published_tables(EX_SITU, "polarity") == {}


def test_a_suite_the_paper_has_not_has_nothing_published() -> None:
    assert published_accuracies("swaps/mine") == {}
    assert published_tests("swaps/mine", "polarity") == ""
    assert published_accuracies("swaps/antonyms-proxy:least=5 (premise)")["swapped"]["ESIM"]["whole sample"] == 0.721
    assert published_accuracies("swaps/antonyms-proxy (hypothesis)")["swapped"]["ESIM"]["whole sample"] == 0.722
