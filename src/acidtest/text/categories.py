"""Word lists with the entailments between their items, modelled on the categories of the test set Breaking NLI.

A category is a table under ``data/lexical/lists`` (or of word pairs). Its items are related by *under* (champagne is
wine) and *same* (a couch is a sofa); ``overlaps`` names items that may both be true of one thing. All other items of a
group exclude each other: who is drinking tea is not drinking coffee. A frame is a context where these relations hold.

The test set that Glockner et al. (2018) published is recognised by its categories, whatever its file is called.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from acidtest.core.suite import Kind
from acidtest.io.wordlists import packaged_table

Relation = Literal["synonym", "hypernym", "hyponym", "antonym", "co-hyponym"]
"""What the new word is to the old one: *wine* is a hypernym of *champagne*."""

_OF_PAIRS: dict[str, Relation] = {
    "antonyms": "antonym",
    "antonyms-wordnet": "antonym",
    "synonyms": "synonym",
    "hypernyms": "hypernym",
}
"""Categories that are tables of pairs, and the relation of the second word of a pair to the first."""

ANY = "*"
"""In the column ``before``: any word may stand before an item."""

BREAKING_NLI = "breaking-nli"
CATEGORY = "category"
REPLACED_WORDS: Mapping[str, Kind] = {"premise_word": "text", "hypothesis_word": "text"}
"""The columns for the replaced word and its replacement; either may be an expression of several words."""
CITATION = (
    "Glockner, Shwartz and Goldberg (2018). Breaking NLI Systems with Sentences that Require Simple Lexical "
    "Inferences. ACL."
)
LICENCE = "CC BY-SA 4.0"

Matrix = NDArray[np.bool_]

_NO_WORDS = pl.lit([], dtype=pl.List(pl.String))


@dataclass(frozen=True)
class WordCategory:
    """A word list as tables whose columns hold strings or lists of strings."""

    items: pl.DataFrame
    """Columns item, form, plural, at (the preposition for being there) and tied (words that go with this item only)."""
    relations: pl.DataFrame
    """Columns item, other, relation and frame: one row for each frame in which both can be used."""
    frames: pl.DataFrame
    """Columns frame; before (one of these words must precede the item); unless and unless_before (words that must not
    follow or precede it); of and not_of (kinds of things that it must, or must not, describe)."""
    alone: bool
    """Whether a text with two items is not changed, because the second might contradict the new word."""
    events: bool = False
    """Whether its items exclude each other only within one event: who works at night may also work at noon."""


def category_names() -> list[str]:
    """The names of all categories, in the order of their table."""
    return packaged_table("lexical/categories.tsv")["category"].to_list()


@cache
def category(name: str) -> WordCategory:
    """A category by name."""
    return _category_from_pairs(name) if name in _OF_PAIRS else _category_from_list(name)


def _category_from_pairs(name: str) -> WordCategory:
    """A category given pair by pair, each in a frame of its own."""
    table = packaged_table(f"lexical/pairs/{name}.tsv").with_columns(
        frame=pl.concat_str("word", "pos", "other", separator=" "),
        before=pl.when(pl.col("before") == "").then(pl.lit(ANY)).otherwise("before"),
    )
    frames = _lists(table, "before", "unless", "of").select(
        "frame", "before", "unless", pl.col("unless").alias("unless_before"), "of", not_of=_NO_WORDS
    )
    ends = pl.concat(table.select("pos", item=side) for side in ("word", "other")).unique(maintain_order=True)
    items = ends.select("item", form="pos", plural=pl.lit(""), at=pl.lit(""), tied=_NO_WORDS)
    relations = table.select(item="word", other="other", relation=pl.lit(_OF_PAIRS[name]), frame="frame")
    if _OF_PAIRS[name] == "hypernym":
        # The narrower word may replace the wider one only for things: *strum* is a kind of *play*, but nobody strums
        # chess.
        things = table.filter(pl.col("pos") != "verb")
        back = things.select(item="other", other="word", relation=pl.lit("hyponym"), frame="frame")
        relations = pl.concat([relations, back])
    return WordCategory(items, relations, frames, alone=False)


def _category_from_list(name: str) -> WordCategory:
    settings = packaged_table("lexical/categories.tsv").row(by_predicate=pl.col("category") == name, named=True)
    shared = {
        column: pl.lit([word for word in settings[column].split("|") if word], dtype=pl.List(pl.String))
        for column in ("unless", "unless_before", "not_of", "tied")
    }
    frames = _lists(packaged_table("lexical/frames.tsv").filter(category=name), "before", "unless").select(
        "frame",
        "before",
        unless=pl.concat_list("unless", shared["unless"]).list.unique(),
        unless_before=shared["unless_before"],
        of=_NO_WORDS,
        not_of=shared["not_of"],
    )
    table = packaged_table(f"lexical/lists/{name}.tsv")
    lists = _lists(table, "under", "same", "overlaps", "group", "frames", "tied")
    tied = pl.concat_list("tied", shared["tied"]).list.unique()
    items = lists.select("item", "form", "plural", "at", tied=tied)
    relations = _relations(lists, frames["frame"].to_list())
    return WordCategory(items, relations, frames, alone=True, events=settings["events"] == "yes")


def _lists(table: pl.DataFrame, *columns: str) -> pl.DataFrame:
    """The table with some columns split at ``|``; an empty cell is an empty list."""
    return table.with_columns(pl.col(column).str.split("|").list.set_difference([""]) for column in columns)


def _relations(lists: pl.DataFrame, frames: list[str]) -> pl.DataFrame:
    """The table ``WordCategory.relations`` of a list. Items without frames can be used in every frame."""
    stands = _members(lists["frames"], frames)
    stands[lists["frames"].list.len().to_numpy() == 0] = True
    groups = sorted(set(lists["group"].explode().drop_nulls()))
    members = _members(lists["group"], groups)
    # Items are exchanged within a group, or without limits where the list has no groups.
    exchanged = _chain(members, members.T) | (not groups)
    allowed = exchanged & stands.T[:, :, None] & stands.T[:, None, :]
    related = _related(lists)
    relation, frame, row, other = np.nonzero(np.stack(list(related.values()))[:, None] & allowed)
    return pl.DataFrame(
        {
            "item": lists["item"].gather(row),
            "other": lists["item"].gather(other),
            "relation": pl.Series(list(related), dtype=pl.String).gather(relation),
            "frame": pl.Series(frames, dtype=pl.String).gather(frame),
        }
    )


def _related(lists: pl.DataFrame) -> dict[Relation, Matrix]:
    """One matrix per relation: true where the column's item has this relation to the row's item."""
    items = lists["item"].to_list()
    same = _members(lists["same"], items)
    below = _members(lists["under"], items) | same | same.T | np.eye(len(items), dtype=bool)
    while ((further := _chain(below, below)) != below).any():
        below = further
    overlap = _members(lists["overlaps"], items)
    # Two items with a common item below them overlap; so do items below two items that overlap.
    overlap = _chain(_chain(below, overlap | overlap.T), below.T) | _chain(below.T, below)
    return {
        "synonym": below & below.T & ~np.eye(len(items), dtype=bool),
        "hypernym": below & ~below.T,
        "hyponym": below.T & ~below,
        "co-hyponym": ~(below | below.T | overlap),
    }


def _chain(first: Matrix, second: Matrix) -> Matrix:
    """The product of two matrices of truth values; quick where few values of the first are true."""
    rows, columns = np.nonzero(first)
    starts = np.flatnonzero(np.diff(rows, prepend=-1))
    chained = np.zeros((len(first), second.shape[1]), dtype=bool)
    chained[rows[starts]] = np.logical_or.reduceat(second[columns], starts)
    return chained


def _members(lists: pl.Series, names: list[str]) -> Matrix:
    """A matrix that is true where the list of a row contains the name of a column."""
    places = {name: place for place, name in enumerate(names)}
    matrix = np.zeros((len(lists), len(names)), dtype=bool)
    for row, members in enumerate(lists.to_list()):
        matrix[row, [places[member] for member in members]] = True
    return matrix


def is_breaking_nli(categories: Collection[str]) -> bool:
    """Whether these are categories of the published set, all or some of them."""
    return len(categories) > 1 and set(categories) <= set(packaged_table("lexical/published_names.tsv")["published"])


def with_replaced_words(frame: pl.DataFrame) -> pl.DataFrame:
    """The pairs with the replaced word or expression and its replacement; null where these are unclear."""
    from acidtest.text.alignment import replaced_words

    replaced = replaced_words(frame["premise"], frame["hypothesis"])
    words = (pl.col(f"{name}s").replace("", None).alias(name) for name in REPLACED_WORDS)
    return pl.concat([frame, replaced.select(words)], how="horizontal")
