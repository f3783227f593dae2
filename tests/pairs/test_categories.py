"""Word lists: what follows from what, and that the packaged ones are sound."""

from __future__ import annotations

import polars as pl
import pytest

from acidtest.english.inflection import forms_by_slot, tags_of_slot
from acidtest.io.wordlists import packaged_table
from acidtest.pairs.categories import ANY, category, category_names

LISTS = [name for name in category_names() if category(name).alone]
PAIRS = [name for name in category_names() if not category(name).alone]


def relations(name: str, item: str, other: str) -> set[str]:
    rows = category(name).relations.filter(item=item, other=other)
    return set(rows["relation"])


@pytest.mark.parametrize(
    ("name", "item", "other", "relation"),
    [
        ("drinks", "champagne", "wine", {"hypernym"}),
        ("drinks", "wine", "champagne", {"hyponym"}),
        # Through sparkling wine and wine.
        ("drinks", "champagne", "alcohol", {"hypernym"}),
        ("drinks", "coffee", "tea", {"co-hyponym"}),
        # Ale is beer, and sake is neither: people call it wine.
        ("drinks", "ale", "beer", {"hypernym"}),
        ("drinks", "sake", "wine", set()),
        ("furniture", "sofa", "couch", {"synonym"}),
        ("instruments", "violin", "string instrument", {"hypernym"}),
        ("instruments", "violin", "trumpet", {"co-hyponym"}),
        ("colours", "crimson", "red", {"hypernym"}),
        ("colours", "red", "blue", {"co-hyponym"}),
        ("countries", "Japan", "China", {"co-hyponym"}),
        # Not near each other.
        ("countries", "Japan", "Norway", set()),
        ("weekdays", "Monday", "Friday", {"co-hyponym"}),
        ("animals", "puppy", "dog", {"hypernym"}),
        # A bicycle is a bike; but who reads of a bike takes it for a bicycle.
        ("vehicles", "bicycle", "bike", {"hypernym"}),
        ("vehicles", "bike", "bicycle", set()),
        ("hypernyms", "brand-new", "new", {"hypernym"}),
        ("hypernyms", "new", "brand-new", set()),
        ("hypernyms", "dog", "poodle", {"hyponym"}),
        # Nobody strums chess.
        ("hypernyms", "strum", "play", {"hypernym"}),
        ("hypernyms", "play", "strum", set()),
    ],
)
def test_what_a_word_is_to_another(name: str, item: str, other: str, relation: set[str]) -> None:
    assert relations(name, item, other) == relation


@pytest.mark.parametrize("name", LISTS)
def test_an_exclusive_pair_is_exclusive_both_ways_and_nothing_else(name: str) -> None:
    found = category(name).relations
    exclusive = found.filter(relation="co-hyponym").select("item", "other").unique()
    back = exclusive.select(item="other", other="item")
    assert exclusive.join(back, on=["item", "other"], how="anti").is_empty()
    others = found.filter(pl.col("relation") != "co-hyponym").select("item", "other")
    assert exclusive.join(others, on=["item", "other"], how="semi").is_empty()
    assert exclusive.filter(pl.col("item") == pl.col("other")).is_empty()


@pytest.mark.parametrize("name", LISTS)
def test_a_list_is_whole(name: str) -> None:
    table = packaged_table(f"lexical/lists/{name}.tsv")
    assert table["item"].is_unique().all()
    known, frames = set(table["item"]), set(category(name).frames["frame"])
    for column, allowed in (("under", known), ("same", known), ("overlaps", known), ("frames", frames)):
        named = {word for cell in table[column] for word in cell.split("|") if word}
        assert named <= allowed, column
    # A word that leads nowhere would be dead weight.
    assert known == set(category(name).relations["item"]) | set(category(name).relations["other"])


EXCLUSIVE_ALL_THE_SAME = {("table tennis", "tennis"), ("half circle", "circle"), ("opera house", "house")}


@pytest.mark.parametrize("name", LISTS)
def test_an_item_named_after_another_does_not_exclude_it(name: str) -> None:
    """Mint tea is tea; whoever breaks that link by an edit makes it contradict tea."""
    exclusive = category(name).relations.filter(relation="co-hyponym").select("item", "other").unique()
    ends = {(item, other) for item, other in exclusive.iter_rows() if item.lower().endswith(f" {other.lower()}")}
    assert ends <= EXCLUSIVE_ALL_THE_SAME


@pytest.mark.parametrize("name", category_names())
def test_every_form_has_a_slot_and_every_frame_an_example(name: str) -> None:
    for item, forms, plural in category(name).items.select("item", "form", "plural").iter_rows():
        for form in forms.split("|"):
            for slot in forms_by_slot(item, form, irregular=plural):
                assert tags_of_slot(slot), (item, form)
    examples = packaged_table("lexical/frames.tsv").filter(category=name)["example"]
    assert (examples != "").all()


@pytest.mark.parametrize("name", PAIRS)
def test_a_table_of_pairs_is_whole(name: str) -> None:
    table = packaged_table(f"lexical/pairs/{name}.tsv")
    assert not table.select("word", "pos", "other").is_duplicated().any()
    assert set(table["pos"]) <= {"adjective", "noun", "verb", "adverb", "preposition"}
    assert (table["word"] != table["other"]).all()
    assert (table["example"] != "").all()


def test_a_narrower_word_may_ask_for_more_of_its_place_than_the_wider_one() -> None:
    """A coloring book is a book anywhere, but only a book that somebody reads or holds may be a coloring book."""
    before = dict(category("hypernyms").frames.select("frame", "before").iter_rows())
    assert before["coloring book noun book"] == [ANY]
    assert "read" in before["book noun coloring book"]
    assert ANY not in before["book noun coloring book"]


def test_there_are_many_items() -> None:
    assert sum(category(name).items.height for name in LISTS) >= 1500
    assert len(LISTS) >= 20


def test_a_pair_stands_anywhere_unless_told_otherwise() -> None:
    frames = category("antonyms").frames
    assert ANY in set(frames["before"].list.explode())


@pytest.mark.parametrize(
    ("item", "form", "irregular", "expected"),
    [
        ("fire truck", "count", "", {"singular": "fire truck", "plural": "fire trucks"}),
        ("mouse", "count", "", {"singular": "mouse", "plural": "mice"}),
        ("head", "count", "-", {"singular": "head"}),
        ("water", "mass", "-", {"mass": "water"}),
        ("jeans", "plural", "", {"only plural": "jeans"}),
        ("France", "name", "-", {"name": "France"}),
        ("16", "number", "-", {"digits": "16"}),
        ("16th", "ordinal", "-", {"ordinal digits": "16th"}),
        (
            "sit",
            "verb",
            "",
            {"base": "sit", "third": "sits", "gerund": "sitting", "past": "sat", "participle": "sat"},
        ),
        (
            "carry",
            "verb",
            "",
            {"base": "carry", "third": "carries", "gerund": "carrying", "past": "carried", "participle": "carried"},
        ),
        (
            "turn on",
            "verb",
            "",
            {
                "base": "turn on",
                "third": "turns on",
                "gerund": "turning on",
                "past": "turned on",
                "participle": "turned on",
            },
        ),
    ],
)
def test_forms_of_an_item(item: str, form: str, irregular: str, expected: dict[str, str]) -> None:
    assert forms_by_slot(item, form, irregular=irregular) == expected
