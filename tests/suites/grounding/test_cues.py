"""Support crossed with the cues of verifiers: equal cells, cues that are really there, gold that no cue tells."""

from __future__ import annotations

import re

import polars as pl
import pytest

from acidtest import api
from acidtest.core.draws import Draws
from acidtest.io.wordlists import packaged_table
from acidtest.pairs.cues import overlap
from acidtest.pairs.heuristics import words
from acidtest.suites.grounding.cues import GOLD, PLACES, SWITCHED, CrossedClaim, draw_items
from acidtest.suites.sample import limit_rows

CELL = ["label", *SWITCHED, "evidence_place"]
CELLS = len(GOLD) * len(PLACES) * 2 ** len(SWITCHED)


@pytest.fixture(scope="module")
def frame() -> pl.DataFrame:
    return api.generate("grounding/cues").frame.collect()


@pytest.fixture(scope="module")
def items() -> list[CrossedClaim]:
    """The items of the suite, in the order of its groups."""
    return draw_items(96, Draws(0, "grounding/cues"))


@pytest.mark.parametrize("n", [1, 3])
def test_every_cell_of_the_design_has_exactly_n_rows(n: int) -> None:
    sizes = api.generate("grounding/cues", n=n).frame.collect().group_by(CELL).len()
    assert sizes.height == CELLS == 192
    assert sizes["len"].unique().to_list() == [n]


def test_the_default_size_is_what_the_catalogue_says() -> None:
    card = api.generate("grounding/cues").card
    assert card.labels == {"entailment": 2_304, "non-entailment": 2_304}


def test_a_claim_says_nothing_about_gold(frame: pl.DataFrame) -> None:
    sizes = frame.group_by("group", "hypothesis", *CELL[1:]).agg(pl.col("label").sort())
    assert sizes["label"].to_list() == [list(GOLD)] * (frame.height // 2)


def test_a_short_and_a_long_claim_of_each_fact_have_every_other_cue_in_half_of_their_rows(frame: pl.DataFrame) -> None:
    others = [column for column in SWITCHED if column != "claim_length"]
    on = [(pl.col(column) == SWITCHED[column][0]).mean() for column in others]
    claims = frame.group_by("group", "claim_length").agg(*on, pl.col("hypothesis").n_unique())
    assert claims.height == 2 * 96
    assert claims.select(*others, "hypothesis").unique().rows() == [(0.5, 0.5, 0.5, 0.5, 1)]


ITEM = CrossedClaim(
    fact="railway",
    claim="{name} built {number} of railway through the forest.",
    sentences={
        "all": "Through the forest, {first} built {x} of railway, against {y} built by {second}.",
        "few": "Across the woods, {first} laid {x} of train tracks, compared with {y} laid by {second}.",
    },
    names=("the United Kingdom", "Britain"),
    other_names=("the Czech Republic", "Czechia"),
    numbers=("3 kilometres", "3,000 metres"),
    other_numbers=("5 kilometres", "5,000 metres"),
    comes_first=True,
    unrelated=(("Owls fly.", "Bees hum.", "Cats sleep."), ("Bread rises.", "Soup boils.")),
    details={"all": "The work was done by local crews.", "few": "Labourers who lived nearby carried it out."},
)


def test_the_documents_of_a_claim_differ_in_whose_number_it_is() -> None:
    assert ITEM.hypothesis(is_long=False) == "The United Kingdom built 3 kilometres of railway through the forest."
    both = (True, False)
    assert [ITEM.evidence(supported=one, words="all", name_form=0, number_form=0) for one in both] == [
        "Through the forest, the United Kingdom built 3 kilometres of railway, against 5 kilometres built by the Czech"
        " Republic.",
        "Through the forest, the United Kingdom built 5 kilometres of railway, against 3 kilometres built by the Czech"
        " Republic.",
    ]


def test_a_long_claim_adds_a_detail_that_its_document_states_with_either_gold(frame: pl.DataFrame) -> None:
    assert (
        ITEM.hypothesis(is_long=True)
        == "The United Kingdom built 3 kilometres of railway through the forest, and the work was done by local crews."
    )
    claims, details = frame["hypothesis"], frame["evidence"].str.split("\n").list.get(1, null_on_oob=True)
    is_long = frame["claim_length"] == "long"
    assert details.is_not_null().to_list() == is_long.to_list()
    stated = frame.filter(is_long & (pl.col("words_found") == "all"))
    detail = stated["evidence"].str.split("\n").list.last().str.slice(1)
    assert all(claim.endswith(end) for claim, end in zip(stated["hypothesis"], detail, strict=True))
    lengths = claims.str.count_matches(r"\S+")
    assert 7 <= lengths.filter(~is_long).min() <= lengths.filter(~is_long).max() <= 17
    assert 17 <= lengths.filter(is_long).min() <= lengths.filter(is_long).max() <= 28
    added = lengths.filter(is_long).mean() - lengths.filter(~is_long).mean()
    assert 10 <= added <= 13


def test_other_words_names_and_numbers_say_the_same() -> None:
    assert (
        ITEM.evidence(supported=True, words="few", name_form=1, number_form=1)
        == "Across the woods, Britain laid 3,000 metres of train tracks, compared with 5,000 metres laid by Czechia."
    )


@pytest.mark.parametrize(
    ("place", "is_long", "document"),
    [
        ("start", False, "It rained. Owls fly. Bees hum."),
        ("middle", False, "Owls fly. It rained. Bees hum."),
        ("end", False, "Owls fly. Bees hum. It rained."),
        ("middle", True, "Owls fly. Bees hum. Cats sleep. It rained. Bread rises. Soup boils."),
    ],
)
def test_the_evidence_stands_among_unrelated_sentences(place: str, is_long: bool, document: str) -> None:
    assert ITEM.document("It rained.", place=place, is_long=is_long) == document


def test_names_and_numbers_are_in_the_document_where_the_columns_say_so(
    frame: pl.DataFrame, items: list[CrossedClaim]
) -> None:
    for row in frame.iter_rows(named=True):
        item = items[int(row["group"].removeprefix("item "))]
        assert row["hypothesis"] == item.hypothesis(is_long=row["claim_length"] == "long")
        for column, forms in (("names_found", item.names), ("numbers_found", item.numbers)):
            bare = [re.sub("^the ", "", form) for form in forms]
            present = [
                re.search(rf"(?<![\w,$]){re.escape(form)}(?!\w|,\d)", row["premise"]) is not None for form in bare
            ]
            assert present == ([True, False] if row[column] == "yes" else [False, True]), (row["premise"], forms)


def test_all_words_or_hardly_a_content_word_are_in_the_document(frame: pl.DataFrame, items: list[CrossedClaim]) -> None:
    numbers = [int(group.removeprefix("item ")) for group in frame["group"]]
    bare = [re.sub(r"\{\w+\}", "", items[number].claim) for number in numbers]
    is_long = (frame["claim_length"] == "long").to_list()
    bare = [
        f"{claim} {items[number].details['all']}" if longer else claim
        for claim, number, longer in zip(bare, numbers, is_long, strict=True)
    ]
    claims, documents = words(pl.Series(bare)), words(frame["premise"])
    missing = pl.DataFrame({"claim": claims, "document": documents}).select(
        pl.col("claim").list.set_difference("document").list.len()
    )
    is_all = frame["words_found"] == "all"
    assert missing.filter(is_all).to_series().max() == 0
    assert overlap(documents, claims).filter(~is_all).max() == 0


def test_documents_are_short_or_long_and_have_the_evidence_where_it_should_be(frame: pl.DataFrame) -> None:
    short, long = (frame.filter(document_length=kind)["document_words"] for kind in ("short", "long"))
    assert 40 <= min(short) <= max(short) <= 85
    assert 380 <= min(long) <= max(long) <= 475
    for row in frame.iter_rows(named=True):
        before, after = row["premise"].split(row["evidence"].replace("\n", " "))
        after = after if row["claim_length"] == "long" else after.partition(". ")[2]
        place = "start" if not before else "end" if not after else "middle"
        assert place == row["evidence_place"]


def test_unrelated_sentences_have_no_names_numbers_or_words_of_claims() -> None:
    sentences = packaged_table("grounding/cues_fillers.tsv")["sentence"]
    assert not sentences.str.contains(r"\d| [A-Z]").any()
    facts = packaged_table("grounding/cues_facts.tsv")
    claims = pl.concat([facts["claim"].str.replace_all(r"\{\w+\}", ""), facts["detail"].rename("claim")])
    everything = pl.Series([" ".join(sentences)] * len(claims))
    assert overlap(words(everything), words(claims)).max() == 0


def test_a_limited_sample_of_192_rows_has_one_of_every_cell() -> None:
    suite = limit_rows(api.generate("grounding/cues"), 192, seed=0)
    assert suite.frame.collect().group_by(CELL).len()["len"].to_list() == [1] * 192


def test_another_seed_gives_other_pairs() -> None:
    first, second = (set(api.generate("grounding/cues", n=2, seed=seed).frame.collect()["id"]) for seed in (0, 1))
    assert not first & second
