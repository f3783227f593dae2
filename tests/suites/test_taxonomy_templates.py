"""The suite ``taxonomy/templates``: eight categories, hypotheses with premises of every gold, templates as groups."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import polars as pl
import pytest

from acidtest import api
from acidtest.core.errors import AcidtestError
from acidtest.io.wordlists import packaged_table
from acidtest.pairs.taxonomy import CATEGORIES
from acidtest.suites.custom.slots import VERB_FORMS, SlottedSentence
from acidtest.suites.sample import limit_rows
from acidtest.suites.taxonomy.templates import word_lists

GOLD = ("entailment", "neutral", "contradiction")
STARVED = {"spatial", "temporal", "causal", "conditional", "quantifier", "comparative", "coreference", "boolean"}


@cache
def generated() -> pl.DataFrame:
    return api.generate("taxonomy/templates").frame.collect()


TRIPLES = {
    "in something that is in a room": (
        "The watch is in the laundry room.",
        "The watch is in the backpack, and the backpack is in the laundry room.",
        "The watch is in the backpack, and the toolbox is in the laundry room.",
        "The watch is in the backpack, and the backpack is in the living room.",
    ),
    "finish line": (
        "Grace crossed the finish line later than Emma.",
        "Emma had crossed the finish line ten minutes before Grace crossed it.",
        "Emma had been running for ten minutes before Grace started.",
        "Grace had crossed the finish line ten minutes before Emma crossed it.",
    ),
    "made, urged, kept from": (
        "Olivia left the company.",
        "Henry made Olivia leave the company.",
        "Henry urged Olivia to leave the company.",
        "Henry kept Olivia from leaving the company.",
    ),
    "never unless, always when": (
        "Victor was at the chess night on Wednesday.",
        "The chess night never takes place unless Victor is there, and it took place on Wednesday.",
        "The chess night always takes place if Victor is there, and it took place on Wednesday.",
        "The chess night never takes place if Victor is there, and it took place on Wednesday.",
    ),
    "only and every": (
        "Every tenant who brought a sandwich was from Stonefield.",
        "Only tenants from Stonefield brought a sandwich.",
        "Every tenant from Stonefield brought a sandwich.",
        "Some of the tenants who brought a sandwich were not from Stonefield.",
    ),
    "not as much as": (
        "Adam is younger than Samuel.",
        "Samuel is not as young as Adam.",
        "Samuel is not as young as Teresa.",
        "Adam is not as young as Samuel.",
    ),
    "I, you, one of us": (
        "Teresa paid for the necklace.",
        '"I will pay for the necklace," Teresa said to Oliver, and that is what happened.',
        '"One of us will pay for the necklace," Teresa said to Oliver, and that is what happened.',
        '"You alone will pay for the necklace," Teresa said to Oliver, and that is what happened.',
    ),
    "not both, and one did": (
        "Laura did not swim in the lake.",
        "Jack and Laura did not both swim in the lake, and Jack did.",
        "Jack and Laura did not both swim in the lake, and Jack did not.",
        "Jack or Laura swam in the lake, and Jack did not.",
    ),
}


@pytest.mark.parametrize("template", TRIPLES)
def test_a_hypothesis_has_a_premise_that_entails_it_one_that_leaves_it_open_and_one_that_contradicts_it(
    template: str,
) -> None:
    hypothesis, *premises = TRIPLES[template]
    rows = generated().filter(template=template, hypothesis=hypothesis, filling="0")
    assert dict(rows.select("label", "premise").iter_rows()) == dict(zip(GOLD, premises, strict=True))


def test_every_template_has_twenty_pairs_of_each_gold_and_every_category_twenty_templates() -> None:
    frame = generated()
    cells = frame.group_by("category", "template", "label").len()
    assert set(cells["len"]) == {20}
    templates = cells.group_by("category").agg(pl.col("template").n_unique())
    assert dict(templates.iter_rows()) == dict.fromkeys(STARVED, 20)
    assert set(CATEGORIES) > STARVED
    assert cells.height == frame["template"].n_unique() * len(GOLD)


def test_every_hypothesis_occurs_equally_often_with_each_gold_so_that_it_tells_nothing() -> None:
    counts = generated().group_by("hypothesis").agg(*((pl.col("label") == gold).sum().alias(gold) for gold in GOLD))
    assert counts.filter(pl.col("entailment") != pl.col("neutral")).is_empty()
    assert counts.filter(pl.col("entailment") != pl.col("contradiction")).is_empty()


def test_no_pair_stands_twice_even_where_a_slot_is_in_one_premise_only() -> None:
    frame = api.generate("taxonomy/templates", n=200, at_most=True).frame.collect()
    assert not frame.select(pl.struct("premise", "hypothesis").is_duplicated().any()).item()


def test_templates_are_the_groups_and_categories_the_strata() -> None:
    suite = api.generate("taxonomy/templates", n=1)
    frame = suite.frame.collect()
    assert frame["group"].to_list() == frame["template"].to_list()
    assert suite.card.strata == ("category",)
    assert suite.card.factors == ("category", "template")


def test_only_contradictions_rest_on_the_same_event() -> None:
    labels = generated().filter(certainty="same-event")["label"]
    assert set(labels) == {"contradiction"}
    assert set(generated()["certainty"]) == {"logical", "same-event"}


def test_accuracy_by_category_has_an_interval_over_its_templates(tmp_path: Path) -> None:
    finished = api.run("baseline:majority:neutral", ["taxonomy/templates"], output=tmp_path / "run", limit=480)
    by_category = finished.results["suites"]["taxonomy/templates"]["by"]["category"]
    assert set(by_category) == STARVED
    for estimate in by_category.values():
        assert (estimate["n"], estimate["groups"]) == (60, 20)
        assert estimate["value"] == pytest.approx(1 / 3)


def test_a_limited_sample_takes_the_same_fillings_of_every_template_with_all_golds() -> None:
    suite = api.generate("taxonomy/templates")
    sample = limit_rows(suite, 960, 0).frame.collect()
    assert set(sample["filling"]) == {"0", "1"}
    assert sample.group_by("template", "label").len()["len"].to_list() == [2] * 480


def test_more_than_the_words_of_a_template_give_is_an_error_with_the_maximum() -> None:
    with pytest.raises(AcidtestError) as caught:
        api.generate("taxonomy/templates", n=1000)
    assert "1,000 pairs of each template and gold were asked for" in str(caught.value)
    # Nine events in twelve towns.
    assert "the words of 'the day after tomorrow' give only 108; ask for at most that many (-n 108)" in str(
        caught.value
    )


def test_a_larger_suite_holds_the_smaller_one() -> None:
    assert set(api.generate("taxonomy/templates", n=3).frame.collect()["id"]) < set(generated()["id"])


def test_every_list_is_used_and_gives_the_verb_forms_that_templates_ask_for() -> None:
    lists, used = word_lists(), set[str]()
    table = packaged_table("taxonomy/templates.tsv").select("hypothesis", *GOLD)
    for sentence in table.unpivot()["value"]:
        for slot in SlottedSentence.parse(sentence).slots:
            name = slot.draw.rstrip("23")
            used.add(name)
            if slot.form in VERB_FORMS:
                assert [word.text for word in lists[name] if slot.form not in word.forms] == []
    assert used == set(lists)


def test_the_first_pairs_of_every_category_stay_as_they_are(golden: Callable[[str, str], None]) -> None:
    first = generated().filter(filling="0").group_by("category", maintain_order=True).head(12)
    columns = ["category", "template", "label", "certainty", "premise", "hypothesis"]
    text = first.select(columns).write_csv(separator="\t", quote_style="never")
    golden("taxonomy_templates.tsv", f"{api.generate('taxonomy/templates').card.signature}\n{text}")
