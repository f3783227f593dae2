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
_NEVER = "-"
"""In the column ``back`` of wider words: the narrower word never replaces the wider one."""

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
    uses: pl.DataFrame
    """Columns item and frame: one row for each frame in which an item can be used."""
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


def list_names() -> list[str]:
    """The names of the categories whose words stand in a list, not in pairs."""
    return [name for name in category_names() if name not in _OF_PAIRS]


@cache
def category(name: str) -> WordCategory:
    """A category by name."""
    return _category_from_pairs(name) if name in _OF_PAIRS else _category_from_list(name)


def _category_from_pairs(name: str) -> WordCategory:
    """A category given pair by pair, each in a frame of its own."""
    pairs = packaged_table(f"lexical/pairs/{name}.tsv").with_columns(relation=pl.lit(_OF_PAIRS[name]))
    table = pl.concat([pairs, _narrowing_pairs(pairs)]) if "back" in pairs.columns else pairs
    table = table.with_columns(
        frame=pl.concat_str("word", "pos", "other", separator=" "),
        before=pl.when(pl.col("before") == "").then(pl.lit(ANY)).otherwise("before"),
    )
    frames = _lists(table.lazy(), "before", "unless", "of").select(
        "frame", "before", "unless", pl.col("unless").alias("unless_before"), "of", not_of=_NO_WORDS
    )
    ends = pl.concat(table.select("pos", item=side) for side in ("word", "other")).unique(maintain_order=True)
    items = ends.select("item", form="pos", plural=pl.lit(""), at=pl.lit(""), tied=_NO_WORDS)
    relations = _without_near_synonyms(table.select("relation", "frame", item="word", other="other"))
    uses = relations.select("item", "frame").unique(maintain_order=True)
    columns = ("item", "other", "relation", "frame")
    return WordCategory(items, relations.select(columns), uses, frames.collect(), alone=False)


def _narrowing_pairs(pairs: pl.DataFrame) -> pl.DataFrame:
    """The pairs of wider words turned round, with the words of the column ``back`` before them where it has any.

    Verbs are never turned round: *strum* is a kind of *play*, but nobody strums chess.
    """
    narrowing = pairs.filter(pl.col("back") != _NEVER).with_columns(
        before=pl.when(pl.col("back") == "").then("before").otherwise("back"), relation=pl.lit("hyponym")
    )
    return narrowing.rename({"word": "other", "other": "word"}).select(pairs.columns)


def near_synonyms() -> pl.DataFrame:
    """Pairs of items in both orders, columns item and other: *bike* and *bicycle*, neither neutral to the other.

    The narrower word entails the wider one, but who reads of a bike takes it for a bicycle.
    """
    pairs = packaged_table("lexical/near_synonyms.tsv").select(item="word", other="other")
    return pl.concat([pairs, pairs.select(item="other", other="item")])


def _without_near_synonyms(relations: pl.DataFrame) -> pl.DataFrame:
    """The relations without hyponyms that are near-synonyms."""
    narrower = relations.filter(pl.col("relation") == "hyponym")
    kept = narrower.join(near_synonyms(), on=["item", "other"], how="anti", maintain_order="left")
    return pl.concat([relations.filter(pl.col("relation") != "hyponym"), kept])


def _category_from_list(name: str) -> WordCategory:
    settings, frames = _settings()[name], _list_frames().filter(category=name).drop("category")
    table = packaged_table(f"lexical/lists/{name}.tsv")
    items = _lists(table.lazy(), "tied").select(
        "item",
        "form",
        "plural",
        "at",
        tied=pl.concat_list("tied", pl.lit(_parts(settings["tied"]), dtype=pl.List(pl.String))).list.unique(),
    )
    uses = _uses(table, frames["frame"].to_list())
    item, frame = np.nonzero(uses)
    return WordCategory(
        items.collect(),
        _relations(table, frames["frame"], uses),
        pl.DataFrame({"item": table["item"][item], "frame": frames["frame"][frame]}),
        frames,
        alone=True,
        events=settings["events"] == "yes",
    )


@cache
def _settings() -> dict[str, dict[str, str]]:
    return {row["category"]: row for row in packaged_table("lexical/categories.tsv").iter_rows(named=True)}


@cache
def _list_frames() -> pl.DataFrame:
    """The frames of all word lists: the columns of ``WordCategory.frames``, and category."""
    settings = _lists(packaged_table("lexical/categories.tsv").lazy(), "unless", "unless_before", "not_of")
    settings = settings.select("category", "unless_before", "not_of", shared="unless")
    frames = _lists(packaged_table("lexical/frames.tsv").lazy(), "before", "unless")
    return (
        frames.join(settings, on="category", maintain_order="left")
        .select(
            "category",
            "frame",
            "before",
            pl.concat_list("unless", "shared").list.unique().alias("unless"),
            "unless_before",
            _NO_WORDS.alias("of"),
            "not_of",
        )
        .collect()
    )


def _lists(table: pl.LazyFrame, *columns: str) -> pl.LazyFrame:
    """The table with some columns split at ``|``; an empty cell is an empty list."""
    return table.with_columns(pl.col(column).str.split("|").list.set_difference([""]) for column in columns)


def _parts(cell: str) -> list[str]:
    """The parts of a cell, which are separated by ``|``."""
    return [part for part in cell.split("|") if part]


def _uses(table: pl.DataFrame, frames: list[str]) -> Matrix:
    """Which items can be used in which frames: in those listed, or in every frame where none is listed."""
    uses = _members(table["frames"], frames)
    return uses | ~uses.any(axis=1, keepdims=True)


def _relations(table: pl.DataFrame, frames: pl.Series, uses: Matrix) -> pl.DataFrame:
    """The table ``WordCategory.relations`` of a list."""
    groups = sorted({group for cell in table["group"].to_list() for group in _parts(cell)})
    members = _members(table["group"], groups)
    # Items are exchanged within a group, or without limits where the list has no groups.
    exchanged = _chain(members, members.T) | (not groups)
    allowed = exchanged & uses.T[:, :, None] & uses.T[:, None, :]
    related = related_items(table)
    relation, frame, item, other = np.nonzero(np.stack(list(related.values()))[:, None] & allowed)
    relations = {
        "item": table["item"][item],
        "other": table["item"][other],
        "relation": pl.Series(list(related), dtype=pl.String)[relation],
        "frame": frames[frame],
    }
    return _without_near_synonyms(pl.DataFrame(relations))


def related_items(table: pl.DataFrame) -> dict[Relation, Matrix]:
    """One matrix per relation: true where the column's item has this relation to the row's item."""
    items = table["item"].to_list()
    same = _members(table["same"], items)
    below = _members(table["under"], items) | same | same.T | np.eye(len(items), dtype=bool)
    while ((further := _chain(below, below)) != below).any():
        below = further
    overlap = _members(table["overlaps"], items)
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


def _members(cells: pl.Series, names: list[str]) -> Matrix:
    """A matrix that is true where the cell of a row lists the name of a column."""
    places = {name: place for place, name in enumerate(names)}
    matrix = np.zeros((len(cells), len(names)), dtype=bool)
    for row, cell in enumerate(cells.to_list()):
        if cell:
            matrix[row, [places[member] for member in _parts(cell)]] = True
    return matrix


def is_breaking_nli(categories: Collection[str]) -> bool:
    """Whether these are categories of the published set, all or some of them."""
    return len(categories) > 1 and set(categories) <= set(packaged_table("lexical/published_names.tsv")["published"])


def with_replaced_words(frame: pl.DataFrame) -> pl.DataFrame:
    """The pairs with the replaced word or expression and its replacement; null where these are unclear."""
    from acidtest.pairs.alignment import replaced_words

    replaced = replaced_words(frame["premise"], frame["hypothesis"])
    words = (pl.col(f"{name}s").replace("", None).alias(name) for name in REPLACED_WORDS)
    return pl.concat([frame, replaced.select(words)], how="horizontal")
