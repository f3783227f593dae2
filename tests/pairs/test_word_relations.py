"""Relations of words: by hand as wordnetweb.princeton.edu shows 3.0, and many against a plain reading of WordNet."""

from __future__ import annotations

from functools import cache
from typing import Any

import polars as pl
import pytest

from acidtest.english.wordnet import Sense, Synset, wordnet
from acidtest.pairs.word_relations import expression_senses, word_relations

net = wordnet()


def relation(premise: str | None, hypothesis: str | None, **options: Any) -> str:
    here, there = (pl.Series([word], dtype=pl.String) for word in (premise, hypothesis))
    return str(word_relations(here, there, **options)[0])


@pytest.mark.parametrize(
    ("premise", "hypothesis", "expected"),
    [
        ("car", "automobile", "synonym"),
        ("dog", "dog", "synonym"),
        ("poodle", "animal", "hyponym"),
        ("wine", "champagne", "hypernym"),
        ("Paris", "city", "hyponym"),
        ("Mars", "Venus", "co-hyponym"),
        ("hot", "cold", "antonym"),
        ("men", "women", "antonym"),
        ("brick", "plastic", "none"),
        ("xyzzy", "xyzzy", "none"),
        (None, "dog", "none"),
        ("", "", "none"),
    ],
)
def test_words_are_related_in_any_of_their_senses(premise: str | None, hypothesis: str, expected: str) -> None:
    assert relation(premise, hypothesis) == expected


def test_co_hyponyms_are_as_many_edges_below_a_common_ancestor_as_allowed() -> None:
    # coffee < beverage and beer < brew < alcohol < beverage.
    assert [relation("coffee", "beer", edges=edges) for edges in (1, 2, 3)] == ["none", "none", "co-hyponym"]
    # kitchen < room and living room < room.
    assert [relation("kitchen", "living room", edges=edges) for edges in (0, 1)] == ["none", "co-hyponym"]


def test_indirect_antonyms_go_through_synonyms_and_similar_adjectives() -> None:
    # The antonym of large is small, of big little; close shares a synset with near, whose antonym is far.
    for pair in (("large", "little"), ("small", "huge"), ("close", "far"), ("tiny", "huge")):
        assert relation(*pair) == "antonym"
        assert relation(*pair, antonyms="direct") == "none"
    assert relation("large", "small", antonyms="direct") == "antonym"


def test_an_adjective_and_its_satellite_are_taken_for_what_is_asked() -> None:
    readings = (None, "synonym", "co-hyponym")
    assert [relation("small", "tiny", similar=similar) for similar in readings] == ["none", "synonym", "co-hyponym"]
    # Both are satellites of ordinal.
    assert [relation("first", "16th", similar=similar) for similar in readings] == ["none", "none", "co-hyponym"]


def test_antonyms_go_first_and_co_hyponyms_last() -> None:
    # To get is to leave something behind, in one sense, and to arrive in another.
    assert relation("get", "leave") == "antonym"
    assert relation("get", "leave", antonyms="direct") == "hyponym"
    # Both pairs have a common parent as well.
    assert relation("man", "woman") == "antonym"
    assert relation("stone", "rock") == "synonym"


def test_expressions_are_found_however_they_are_written() -> None:
    assert relation("living rooms", "kitchens") == "co-hyponym"
    assert relation("turned on", "switched off") == "antonym"
    assert relation("near", "far away") == "antonym"
    assert relation("T shirt", "jersey") == relation("t-shirt", "jersey") == "synonym"


def test_the_senses_of_an_expression_are_those_of_the_first_spelling_that_wordnet_has() -> None:
    found = expression_senses(pl.Series(["Far Away", "xyzzy", None, "living  rooms", "Far Away"]))
    assert found.columns == ["word", "sense", "synset", "rank", "count"]
    named = [(word, net.name(Synset(synset))) for word, synset in found.select("word", "synset").iter_rows()]
    assert named == [
        ("Far Away", "faraway.s.01"),
        ("Far Away", "faraway.s.02"),
        ("living  rooms", "living_room.n.01"),
    ]


def test_columns_keep_their_order_and_may_be_empty() -> None:
    premise, hypothesis = pl.Series(["dog", None, "cold", "dog"]), pl.Series(["animal", "dog", "hot", "animal"])
    assert word_relations(premise, hypothesis).to_list() == ["hyponym", "none", "antonym", "hyponym"]
    nothing = pl.Series([], dtype=pl.String)
    assert word_relations(nothing, nothing).to_list() == []


@cache
def ancestors(synset: Synset) -> dict[Synset, int]:
    """How many edges each synset is above this one, at least."""
    found: dict[Synset, int] = {}
    for path in net.hypernym_paths(synset):
        for edges, above in enumerate(path[::-1]):
            found[above] = min(edges, found.get(above, edges))
    return found


def plain_relation(premise: str, hypothesis: str) -> str:
    """The same definitions, two words at a time."""
    here, there = set(net.synsets(premise)), set(net.synsets(hypothesis))
    opposed = {
        net.synset_of(Sense(antonym))
        for synset in here
        for alike in (synset, *net.similar(synset))
        for sense in net.synset_senses(alike)
        for antonym in net.antonyms(sense)
    }
    if there & {alike for synset in opposed for alike in (synset, *net.similar(synset))}:
        return "antonym"
    above, over = ([ancestors(synset) for synset in synsets] for synsets in (here, there))
    if here & there:
        return "synonym"
    if any(there & found.keys() for found in above):
        return "hyponym"
    if any(here & found.keys() for found in over):
        return "hypernym"
    near = [{synset for found in side for synset, edges in found.items() if 1 <= edges <= 3} for side in (above, over)]
    return "co-hyponym" if near[0] & near[1] else "none"


def test_many_words_are_related_as_a_plain_reading_says() -> None:
    frequent = net.sense_table["count"] >= 100
    words = net.words_of(frequent.arg_true()).str.to_lowercase().unique(maintain_order=True).gather_every(2)
    pairs = words.to_frame("premise").join(words.to_frame("hypothesis"), how="cross")
    told = word_relations(pairs["premise"], pairs["hypothesis"])
    assert set(told) == {"antonym", "synonym", "hyponym", "hypernym", "co-hyponym", "none"}
    assert told.to_list() == [plain_relation(premise, hypothesis) for premise, hypothesis in pairs.iter_rows()]


def test_seen_from_the_other_side_only_hyponyms_and_hypernyms_differ() -> None:
    words = net.lemma_names.filter(net.lemma_names.str.contains("^[a-z]{3,6}$")).gather_every(11)
    here, there = words.head(1000), words.tail(1000)
    other = {"hyponym": "hypernym", "hypernym": "hyponym"}
    assert [other.get(each, each) for each in word_relations(here, there)] == word_relations(there, here).to_list()
