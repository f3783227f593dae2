"""What WordNet says of pairs of words, as Chen et al. (2018) give it to a network: five numbers a pair.

Synonymy, antonymy and a common hypernym are 1 or 0. Hypernymy is 1 − n / 8 where the second word lies n edges above the
first, hyponymy where it lies so far below. All senses count, and a word is a synonym of itself.

The authors lemmatise in context; here a word has the senses of all lemmas that it may be a form of, and words with
equal senses (*dog*, *dogs*) are one to the table of pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.text.wordnet import wordnet

FEATURES = ("synonym", "antonym", "hypernym", "hyponym", "co-hyponym")
"""What the second word of a pair is to the first."""

SWAPPED = tuple(FEATURES.index(name) for name in ("synonym", "antonym", "hyponym", "hypernym", "co-hyponym"))
"""Where the features of a pair stand among those of the pair turned round."""

EDGES = 8
"""Hypernyms at this distance or further do not count."""

NOTHING = 0
"""The kind of words that WordNet does not have, and the code of pairs that are not related."""

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Knowledge:
    """Related pairs of kinds of words, by the number ``first * size + second``, in ascending order.

    ``codes`` says how they are related: the rows of ``feature_table``.
    """

    kinds: Ints
    """The kind of each word."""
    size: int
    """How many kinds there are, ``NOTHING`` among them."""
    pairs: Ints
    codes: npt.NDArray[np.int16]


def feature_table() -> npt.NDArray[np.float32]:
    """float32[codes, features]: a code holds a bit for each relation of kind yes or no, and two numbers of edges."""
    codes = np.arange(EDGES * EDGES * 8)
    near = np.arange(EDGES) / EDGES
    near = np.where(near > 0, 1 - near, 0)
    columns = {
        "synonym": codes & 1,
        "antonym": codes >> 1 & 1,
        "co-hyponym": codes >> 2 & 1,
        "hypernym": near[codes >> 3 & 7],
        "hyponym": near[codes >> 6 & 7],
    }
    return np.stack([columns[name] for name in FEATURES], axis=1).astype(np.float32)


def knowledge(words: Sequence[str]) -> Knowledge:
    """How any two of these words are related."""
    senses, kinds = _kinds(words)
    synsets = senses.select("kind", "synset").unique()
    higher = _higher(synsets)
    related = [
        _met(synsets, synsets, "synset").with_columns(code=1),
        _opposed(senses).with_columns(code=2),
        _siblings(synsets).with_columns(code=4),
        higher.select("first", "second", code=pl.col("edges") * 8),
        higher.select(first="second", second="first", code=pl.col("edges") * 64),
    ]
    size = int(kinds.max(initial=NOTHING)) + 1
    number = pl.col("first").cast(pl.Int64) * size + pl.col("second")
    pairs = pl.concat([part.select(number.alias("pair"), pl.col("code").cast(pl.Int16)) for part in related])
    # Each relation has bits of its own.
    coded = pairs.group_by("pair").agg(pl.col("code").sum()).sort("pair")
    return Knowledge(kinds, size, coded["pair"].to_numpy(), coded["code"].cast(pl.Int16).to_numpy())


def _kinds(words: Sequence[str]) -> tuple[pl.DataFrame, Ints]:
    """The senses of each kind of words, columns kind, sense and synset, and the kind of each word."""
    found = wordnet().sense_frame(pl.Series(words, dtype=pl.String)).select("word", "sense", "synset").unique()
    told = pl.col("sense").sort().cast(pl.String).str.join(" ")
    kinds = found.group_by("word").agg(told).with_columns(kind=pl.col("sense").rank("dense")).drop("sense")
    joined = pl.DataFrame({"word": words}, schema={"word": pl.String}).join(
        kinds, on="word", how="left", maintain_order="left"
    )
    senses = found.join(kinds, on="word").select("kind", "sense", "synset").unique()
    return senses, joined["kind"].fill_null(NOTHING).to_numpy().astype(np.int64)


def _met(left: pl.DataFrame, right: pl.DataFrame, on: str) -> pl.DataFrame:
    """The pairs of kinds with something in common, columns first and second."""
    found = left.rename({"kind": "first"}).join(right.rename({"kind": "second"}), on=on)
    return found.select("first", "second").unique()


def _opposed(senses: pl.DataFrame) -> pl.DataFrame:
    """The pairs of kinds with senses that are opposed."""
    opposites = senses.join(wordnet().relation("antonyms"), left_on="sense", right_on="source")
    return _met(opposites.select("kind", sense="target"), senses.select("kind", "sense"), "sense")


def _siblings(synsets: pl.DataFrame) -> pl.DataFrame:
    """The pairs of different kinds with different synsets right below the same."""
    below = synsets.join(wordnet().relation("hypernyms"), left_on="synset", right_on="source")
    found = below.rename({"kind": "first"}).join(below.rename({"kind": "second"}), on="target")
    found = found.filter(pl.col("first") != pl.col("second"), pl.col("synset") != pl.col("synset_right"))
    return found.select("first", "second").unique()


def _higher(synsets: pl.DataFrame) -> pl.DataFrame:
    """The pairs of different kinds of which the second lies above the first, and by how many edges at least."""
    above = synsets.join(_ancestors(), left_on="synset", right_on="source")
    found = above.rename({"kind": "first"}).join(synsets, left_on="target", right_on="synset")
    different = found.rename({"kind": "second"}).filter(pl.col("first") != pl.col("second"))
    return different.group_by("first", "second").agg(pl.col("edges").min())


def _ancestors() -> pl.DataFrame:
    """What lies above each synset, fewer than ``EDGES`` edges away: columns source, target and edges."""
    # Instances have another relation in WordNet, which the paper leaves out.
    step = wordnet().relation("hypernyms").select("source", "target")
    found = [step]
    for _ in range(2, EDGES):
        further = found[-1].join(step, left_on="target", right_on="source").select("source", target="target_right")
        found.append(further.unique())
    return pl.concat([part.with_columns(edges=pl.lit(edges + 1)) for edges, part in enumerate(found)])
