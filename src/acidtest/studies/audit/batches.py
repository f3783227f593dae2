"""A training set as an audit reads it: batches of pairs with words, gold and keys, and a sample of whole premises."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.digests import digests
from acidtest.core.draws import U64, Draws, mix_bits
from acidtest.core.labels import GOLD_MASKS
from acidtest.core.streams import visit_batches
from acidtest.core.suite import PARSES, Suite
from acidtest.text.heuristics import words

Codes = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

GOLD = tuple(GOLD_MASKS)
"""The names of gold sets; a label's code is its place here."""

SIDES = ("hypothesis", "premise")

SAMPLE = 50_000
"""How many pairs a sample holds, at most."""

_ROWS = 1 << 12


@dataclass(frozen=True)
class PairBatch:
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
        return mix_bits(mix_bits(self.premise_keys) + self.hypothesis_keys)


def make_batch(frame: pl.DataFrame) -> PairBatch:
    """A batch from columns premise, hypothesis and label; others are kept."""
    frame = frame.with_columns(pl.col("premise", "hypothesis", "label").cast(pl.String))
    sides = {side: words(frame[side].fill_null("")) for side in ("premise", "hypothesis")}
    labels = frame["label"].replace_strict(list(GOLD), list(range(len(GOLD))), return_dtype=pl.Int64)
    return PairBatch(
        frame,
        sides["premise"],
        sides["hypothesis"],
        labels.to_numpy(),
        *(_sentence_keys(frame[side].fill_null(""), split) for side, split in sides.items()),
    )


def with_labels(keys: U64, labels: Codes) -> U64:
    """Keys that carry the code of a label in their last three bits."""
    return (keys & ~np.uint64(7)) | labels.astype(np.uint64)


def visit_pairs(suite: Suite, visit: Callable[[PairBatch], None], *, columns: tuple[str, ...] = ()) -> None:
    """Call a function with all pairs of a training set, some thousand at a time, in the order of the file."""

    def visit_slices(frame: pl.DataFrame) -> None:
        parts = -(-frame.height // _ROWS)
        for part in frame.iter_slices(-(-frame.height // max(parts, 1))):
            visit(make_batch(part))
        give_back_memory()

    visit_batches(suite.frame.select("premise", "hypothesis", "label", *columns), visit_slices)


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


def _sentence_keys(texts: pl.Series, split: pl.Series) -> U64:
    frame = pl.DataFrame({"text": texts, "joined": split.list.join(" ")})
    # What has no words, such as "?!", is known by its characters.
    key = pl.when(pl.col("joined") == "").then(pl.col("text").str.strip_chars()).otherwise(pl.col("joined"))
    return digests(frame.select(key.alias("key")).to_series())


@dataclass(frozen=True)
class PremiseSample:
    """Pairs with all others of their premise: the frame has columns premise, hypothesis and the measures of pairs.

    ``whole`` is true where the sample is the whole set.
    """

    frame: pl.DataFrame
    labels: Codes
    premise_keys: U64
    whole: bool

    def without_measures(self) -> PremiseSample:
        """The sample with its sentences only."""
        return replace(self, frame=self.frame.select("premise", "hypothesis"))

    @property
    def groups(self) -> Codes:
        """The number of each pair's premise."""
        return np.unique(self.premise_keys, return_inverse=True)[1].astype(np.int64)

    @property
    def label_effect(self) -> float:
        """How many pairs are worth one independent one, as far as pairs of a premise share their label; at least 1.

        The design effect 1 + (m - 1) r of Kish (1965), r being how much more often two pairs of a premise have the
        same label than any two, as a share of what is possible.
        """
        if not len(self.labels):
            return 1.0
        kinds = np.unique(self.labels, return_inverse=True)[1]
        table = np.zeros((int(self.groups.max()) + 1, int(kinds.max()) + 1))
        np.add.at(table, (self.groups, kinds), 1)
        sizes = table.sum(axis=1)
        couples = float((sizes * (sizes - 1)).sum())
        expected = float(((table.sum(axis=0) / sizes.sum()) ** 2).sum())
        if not couples or expected == 1:
            return 1.0
        correlation = (float((table * (table - 1)).sum()) / couples - expected) / (1 - expected)
        return 1 + (float((sizes**2).sum() / sizes.sum()) - 1) * max(correlation, 0.0)


class PremiseSampler:
    """Keeps the premises whose draw is lowest, so that which are kept does not depend on the order they come in."""

    def __init__(self, seed: int, size: int = SAMPLE) -> None:
        self._draws, self._size = Draws(seed, "audit"), size
        self._frames = list[pl.DataFrame]()
        self._rows, self._limit = 0, np.uint64(2**64 - 1)
        self._whole = True

    def add(self, batch: PairBatch, measures: pl.DataFrame) -> None:
        """Take what may be kept of some pairs, with the columns of their measures."""
        drawn = self._draws.bits(batch.premise_keys, "premise")
        rows = np.flatnonzero(drawn <= self._limit)
        keys = {"_label": batch.labels, "_premise": batch.premise_keys, "_draw": drawn}
        # Rows chosen from a frame keep the text of the whole of it alive; a new column has only its own.
        columns = {
            column.name: pl.Series(column[rows].to_list(), dtype=pl.String)
            if column.dtype == pl.String
            else column[rows]
            for column in [*batch.frame.select("premise", "hypothesis"), *measures]
        }
        self._frames.append(pl.DataFrame(columns | {name: values[rows] for name, values in keys.items()}))
        self._rows += self._frames[-1].height
        self._whole &= self._frames[-1].height == batch.height
        if self._rows > self._size + self._size // 4:
            self._shrink()

    def sample(self) -> PremiseSample:
        """What was drawn; of the last premise all or nothing, so it may be a few pairs short."""
        self._shrink()
        frame = pl.concat(self._frames) if self._frames else pl.DataFrame(schema=_EMPTY)
        return PremiseSample(
            frame.drop("_label", "_premise", "_draw"),
            frame["_label"].to_numpy(),
            frame["_premise"].to_numpy(),
            self._whole,
        )

    def _shrink(self) -> None:
        if self._rows <= self._size:
            return
        frame = pl.concat(self._frames)
        # The draw of the first pair that is one too many: its premise goes, whole.
        limit = int(np.partition(frame["_draw"].to_numpy(), self._size)[self._size])
        self._limit, self._whole = np.uint64(max(limit - 1, 0)), False
        self._frames = [frame.filter(pl.col("_draw") < limit).rechunk()]
        self._rows = self._frames[0].height


_EMPTY = {
    "premise": pl.String,
    "hypothesis": pl.String,
    "_label": pl.Int64,
    "_premise": pl.UInt64,
    "_draw": pl.UInt64,
}
