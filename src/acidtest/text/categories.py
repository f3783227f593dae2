"""Word lists with what follows from what: which items exclude each other, entail each other, or mean the same.

A category is a table under ``data/lexical/lists``. Its items are joined by *under* (champagne is wine) and *same* (a
couch is a sofa); ``overlaps`` names those that may both be true of one thing. Everything else in a shared group is
exclusive: who drinks tea at that moment does not drink coffee. Frames are the places in which that holds.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from acidtest.io.wordlists import packaged_table

Relation = Literal["synonym", "hypernym", "hyponym", "antonym", "co-hyponym"]
"""What the new word is to the old one: *wine* is a hypernym of *champagne*."""

_OF_PAIRS: dict[str, Relation] = {
    "antonyms": "antonym",
    "antonyms-wordnet": "antonym",
    "synonyms": "synonym",
    "hypernyms": "hypernym",
}
"""Categories that are tables of pairs, and what the second word of a pair is to the first."""

Matrix = NDArray[np.bool_]

_NO_WORDS = pl.lit([], dtype=pl.List(pl.String))

ANY = "*"
"""Stands for any word before an item."""


@dataclass(frozen=True)
class WordCategory:
    """A word list as tables whose rows are strings and lists of strings."""

    name: str
    items: pl.DataFrame
    """item, ``form``, ``plural``, ``at`` (the preposition for being there) and ``tied``."""
    relations: pl.DataFrame
    """item, other, relation and frame: one row for each frame that both stand in."""
    frames: pl.DataFrame
    """frame; ``before``, of which one word stands before the item; ``unless`` and ``unless_before``, which do not stand
    beside it; ``of``, the kinds of things it is said of, and ``not_of``, those it is not."""
    alone: bool
    """Whether a text with two items of it is left alone: then one might tell what the other denies."""
    events: bool = False
    """Whether its items exclude each other only in a single event: who works at night may work at noon, too."""


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
    ends = [table.select("pos", item=side) for side in ("word", "other")]
    items = (
        pl.concat(ends)
        .unique(maintain_order=True)
        .select("item", form="pos", plural=pl.lit(""), at=pl.lit(""), tied=_NO_WORDS)
    )
    relation = _OF_PAIRS[name]
    relations = table.select("frame", item="word", other="other", relation=pl.lit(relation))
    if relation == "hypernym":
        # The other way round the sentence stays sensible with things, not with actions: who plays may strum, but not
        # who plays chess.
        back = table.filter(pl.col("pos") != "verb").select(
            "frame", item="other", other="word", relation=pl.lit("hyponym")
        )
        relations = pl.concat([relations, back])
    return WordCategory(name, items, relations.select("item", "other", "relation", "frame"), frames, alone=False)


def _category_from_list(name: str) -> WordCategory:
    settings = packaged_table("lexical/categories.tsv").row(by_predicate=pl.col("category") == name, named=True)
    frames = _lists(packaged_table("lexical/frames.tsv").filter(category=name), "before", "unless")
    frames = frames.select(
        "frame",
        "before",
        unless=pl.concat_list("unless", _words(settings["unless"])).list.unique(),
        unless_before=_words(settings["unless_before"]),
        of=_NO_WORDS,
        not_of=_words(settings["not_of"]),
    )
    table = packaged_table(f"lexical/lists/{name}.tsv")
    lists = _lists(table, "under", "same", "overlaps", "group", "frames", "tied")
    items = lists.select(
        "item", "form", "plural", "at", tied=pl.concat_list("tied", _words(settings["tied"])).list.unique()
    )
    relations = _relations(lists, frames["frame"].to_list())
    return WordCategory(name, items, relations, frames, alone=True, events=settings["events"] == "yes")


def _words(cell: str) -> pl.Expr:
    """The words of a cell, the same for every row."""
    return pl.lit([word for word in cell.split("|") if word], dtype=pl.List(pl.String))


def _lists(table: pl.DataFrame, *columns: str) -> pl.DataFrame:
    """The table with some columns split at ``|``; an empty cell is an empty list."""
    split = (pl.col(column).str.split("|").list.set_difference([""]) for column in columns)
    return table.with_columns(*split)


def _relations(lists: pl.DataFrame, frames: list[str]) -> pl.DataFrame:
    items = lists["item"].to_list()
    stands = _members(lists["frames"], frames)
    stands[lists["frames"].list.len().to_numpy() == 0] = True
    parts = []
    exchanged = _have_common_group(lists["group"])
    for relation, holds in _related(lists).items():
        for number, frame in enumerate(frames):
            rows, others = np.nonzero(holds & exchanged & np.outer(stands[:, number], stands[:, number]))
            parts.append(
                pl.DataFrame({"row": rows, "other_row": others}).with_columns(
                    relation=pl.lit(relation), frame=pl.lit(frame)
                )
            )
    every = pl.concat(parts)
    return every.select(
        pl.Series("item", items).gather(every["row"]),
        pl.Series("other", items).gather(every["other_row"]),
        "relation",
        "frame",
    )


def _related(lists: pl.DataFrame) -> dict[Relation, Matrix]:
    """For each relation which items (rows) have which others (columns) in it."""
    items = lists["item"].to_list()
    same = _members(lists["same"], items)
    below = _transitive_closure(_members(lists["under"], items) | same | same.T)
    overlap = _members(lists["overlaps"], items)
    # What is below two things is an overlap of them; so is what overlaps with something above.
    overlap = (below @ (overlap | overlap.T) @ below.T) | (below.T @ below)
    return {
        "synonym": below & below.T & ~np.eye(len(items), dtype=bool),
        "hypernym": below & ~below.T,
        "hyponym": below.T & ~below,
        "co-hyponym": ~(below | below.T | overlap),
    }


def _members(lists: pl.Series, names: list[str]) -> Matrix:
    """Which of the names each list holds."""
    places = {name: place for place, name in enumerate(names)}
    matrix = np.zeros((len(lists), len(names)), dtype=bool)
    for row, members in enumerate(lists.to_list()):
        matrix[row, [places[member] for member in members]] = True
    return matrix


def _transitive_closure(edges: Matrix) -> Matrix:
    """Everything that can be reached, each thing from itself too."""
    reached = edges | np.eye(len(edges), dtype=bool)
    while True:
        further = reached @ reached
        if (further == reached).all():
            return reached
        reached = further


def _have_common_group(groups: pl.Series) -> Matrix:
    """Whether two items may be exchanged: they share a group, or the list has none."""
    names = sorted(set(groups.explode().drop_nulls()))
    if not names:
        return np.ones((len(groups), len(groups)), dtype=bool)
    members = _members(groups, names)
    return members @ members.T
