"""A training set as an audit goes through it: batches of pairs with their words, gold and keys."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.digests import digests
from acidtest.core.draws import U64, mixed
from acidtest.core.labels import GOLD_MASKS
from acidtest.core.streams import visit_batches
from acidtest.core.suite import PARSES, Suite
from acidtest.text.heuristics import words

Codes = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

GOLD = tuple(GOLD_MASKS)
"""The names of gold sets; a label's code is its place here."""

_ROWS = 1 << 12


@dataclass(frozen=True)
class Batch:
    """Some pairs. Keys are digests of a sentence's words, so that case, punctuation and spaces make no difference."""

    frame: pl.DataFrame
    premise_words: pl.Series
    hypothesis_words: pl.Series
    labels: Codes
    premise_keys: U64
    hypothesis_keys: U64

    @property
    def height(self) -> int:
        """How many pairs there are."""
        return self.frame.height

    @property
    def pair_keys(self) -> U64:
        """A key for each pair of sentences, whatever its gold."""
        return joined(self.premise_keys, self.hypothesis_keys)


def batch_of(frame: pl.DataFrame) -> Batch:
    """A batch from columns premise, hypothesis and label; others are kept."""
    frame = frame.with_columns(pl.col("premise", "hypothesis", "label").cast(pl.String))
    sides = {side: words(frame[side].fill_null("")) for side in ("premise", "hypothesis")}
    labels = frame["label"].replace_strict(list(GOLD), list(range(len(GOLD))), return_dtype=pl.Int64)
    return Batch(
        frame,
        sides["premise"],
        sides["hypothesis"],
        labels.to_numpy(),
        *(_keys(frame[side].fill_null(""), split) for side, split in sides.items()),
    )


def joined(first: U64, second: U64) -> U64:
    """One key for each two, in this order."""
    return mixed(mixed(first) + second)


def labelled(keys: U64, labels: Codes) -> U64:
    """Keys that carry the code of a label in their last three bits."""
    return (keys & ~np.uint64(7)) | labels.astype(np.uint64)


def visit(suite: Suite, look: Callable[[Batch], None], *, columns: tuple[str, ...] = ()) -> None:
    """Show a training set to a function, some thousand pairs at a time."""
    wanted = ("premise", "hypothesis", "label", *columns)

    def each(frame: pl.DataFrame) -> None:
        parts = -(-frame.height // _ROWS)
        for part in frame.iter_slices(-(-frame.height // max(parts, 1))):
            look(batch_of(part))
        give_back_memory()

    visit_batches(suite.frame.select(wanted), each)


def give_back_memory() -> None:
    """Have the C library return what was freed to the operating system, where it can.

    Batches come on threads of Polars, and glibc keeps a store of freed memory for each: a hundred megabytes in all.
    """
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)


def parse_columns(suite: Suite) -> tuple[str, ...]:
    """The columns with parses that heuristics ask for, as far as a set has them."""
    names = suite.frame.collect_schema().names()
    return tuple(name for name in PARSES[:2] if name in names)


def genre_column(suite: Suite) -> str | None:
    """The column that says where pairs come from, if there is one."""
    names = suite.frame.collect_schema().names()
    return next((name for name in names if name.lower().startswith("genre") or name.lower() == "domain"), None)


def _keys(texts: pl.Series, split: pl.Series) -> U64:
    frame = pl.DataFrame({"text": texts, "joined": split.list.join(" ")})
    # What has no words, such as "?!", is told by its characters.
    kept = pl.when(pl.col("joined") == "").then(pl.col("text").str.strip_chars()).otherwise(pl.col("joined"))
    return digests(frame.select(kept.alias("key")).to_series())
