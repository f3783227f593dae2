"""Reads pairs in batches with words, labels and keys, and samples whole premises from them."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.digests import digests
from acidtest.core.draws import U64, Draws, mix_bits
from acidtest.core.labels import GOLD_MASKS
from acidtest.core.suite import Suite, compact_frame, visit_batches
from acidtest.pairs.heuristics import words

Codes = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

GOLD = tuple(GOLD_MASKS)
"""The names of gold sets; the code of a label is its index here."""

SIDES = ("hypothesis", "premise")

SAMPLE = 50_000
"""Largest number of pairs in a sample."""

ROWS = 1 << 12
"""Largest number of pairs in a batch."""


@dataclass(frozen=True)
class PairBatch:
    """A batch of pairs with the words of each side, and keys of the premise, the hypothesis and both (``pair``).

    Keys are digests of the words, so they ignore case, punctuation and spaces. Labels are indices into ``GOLD``.
    """

    frame: pl.DataFrame
    words: Mapping[str, pl.Series]
    keys: Mapping[str, U64]
    labels: Codes


def make_batch(frame: pl.DataFrame) -> PairBatch:
    """A batch from columns premise, hypothesis and label; others are kept."""
    frame = frame.with_columns(pl.col("premise", "hypothesis", "label").cast(pl.String))
    split, keys = dict[str, pl.Series](), dict[str, U64]()
    for side in SIDES:
        texts = frame[side].fill_null("")
        split[side] = words(texts)
        joined = split[side].list.join(" ")
        # The key of a text without words, such as "?!", is made from its characters.
        keys[side] = digests(joined.zip_with(joined != "", texts.str.strip_chars()))
    keys["pair"] = mix_bits(mix_bits(keys["premise"]) + keys["hypothesis"])
    labels = frame["label"].replace_strict(list(GOLD), list(range(len(GOLD))), return_dtype=pl.Int64)
    return PairBatch(frame, split, keys, labels.to_numpy())


def with_labels(keys: U64, labels: Codes) -> U64:
    """The keys with the code of the label in their last three bits."""
    return (keys & ~np.uint64(7)) | labels.astype(np.uint64)


def visit_pairs(suite: Suite, visit: Callable[[PairBatch], None], *, columns: Sequence[str] = ()) -> None:
    """Call a function with all pairs of a set, in batches of at most ``ROWS``, in the order of the file.

    The first batch is empty, so that callers get at least one even from an empty set.
    """
    frame = suite.frame.select("premise", "hypothesis", "label", *columns)

    def visit_slices(frame: pl.DataFrame) -> None:
        parts = max(-(-frame.height // ROWS), 1)
        for part in frame.iter_slices(max(-(-frame.height // parts), 1)):
            visit(make_batch(part))
        give_back_memory()

    visit(make_batch(pl.DataFrame(schema=frame.collect_schema())))
    visit_batches(frame, visit_slices)


def give_back_memory() -> None:
    """Have glibc return freed memory to the operating system; does nothing elsewhere.

    Polars delivers batches on its own threads, and glibc keeps freed memory for each: a hundred megabytes in all.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:
        trim(0)


@dataclass(frozen=True)
class PremiseSample:
    """All pairs of the sampled premises: a frame of premise, hypothesis and measures, with label codes and keys."""

    frame: pl.DataFrame
    labels: Codes
    keys: Mapping[str, U64]

    @property
    def groups(self) -> Codes:
        """An integer for each pair that identifies its premise."""
        return np.unique(self.keys["premise"], return_inverse=True)[1].astype(np.int64)

    @property
    def label_effect(self) -> float:
        """Design effect of labels: how many pairs carry as much information as one independent pair; at least 1.

        Kish's (1965) 1 + (m - 1) r, where r is how much more often two pairs of one premise have the same label than
        any two pairs do, as a share of the largest possible excess.
        """
        if not len(self.labels):
            return 1.0
        groups, kinds = self.groups, np.unique(self.labels, return_inverse=True)[1]
        table = np.zeros((int(groups.max()) + 1, int(kinds.max()) + 1))
        np.add.at(table, (groups, kinds), 1)
        sizes = table.sum(axis=1)
        couples = float((sizes * (sizes - 1)).sum())
        expected = float(((table.sum(axis=0) / sizes.sum()) ** 2).sum())
        if not couples or expected == 1:
            return 1.0
        correlation = (float((table * (table - 1)).sum()) / couples - expected) / (1 - expected)
        return 1 + (float((sizes**2).sum() / sizes.sum()) - 1) * max(correlation, 0.0)


class PremiseSampler:
    """Keeps the premises with the lowest random draws, so that the sample does not depend on their order."""

    def __init__(self, seed: int, size: int = SAMPLE) -> None:
        self._draws, self._size = Draws(seed, "audit"), size
        self._frames = list[pl.DataFrame]()
        self._rows, self._limit = 0, np.uint64(2**64 - 1)

    def add(self, batch: PairBatch, measures: pl.DataFrame) -> None:
        """Add the pairs of a batch whose premises may be in the sample, with their measures."""
        drawn = self._draws.bits(batch.keys["premise"], "premise")
        pairs = (
            batch.frame.select("premise", "hypothesis")
            .hstack(measures)
            .with_columns(_label=batch.labels, _premise=batch.keys["premise"], _pair=batch.keys["pair"], _draw=drawn)
        )
        # Without compacting, the chosen rows would keep the text of the whole frame in memory.
        self._frames.append(compact_frame(pairs.filter(pl.Series(drawn <= self._limit))))
        self._rows += self._frames[-1].height
        if self._rows > self._size + self._size // 4:
            self._shrink()

    def sample(self) -> PremiseSample:
        """The sample; premises are kept whole, so it may be a few pairs short of the size."""
        self._shrink()
        frame = pl.concat(self._frames)
        keys = {kind: frame[f"_{kind}"].to_numpy() for kind in ("premise", "pair")}
        return PremiseSample(frame.drop("_label", "_premise", "_pair", "_draw"), frame["_label"].to_numpy(), keys)

    def _shrink(self) -> None:
        if self._rows <= self._size:
            return
        frame = pl.concat(self._frames)
        # The draw of the first pair beyond the size: all pairs of its premise are dropped.
        limit = int(np.partition(frame["_draw"].to_numpy(), self._size)[self._size])
        self._limit = np.uint64(max(limit - 1, 0))
        self._frames = [frame.filter(pl.col("_draw") < limit).rechunk()]
        self._rows = self._frames[0].height
