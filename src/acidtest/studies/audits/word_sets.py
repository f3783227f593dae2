"""Pairs as sets of words, with keys that similar ones are likely to share.

MinHash (Broder 1997): the least of many hashed words is the same in two sets as often as their Jaccard index says.
Several such hashes make the key of a band, and there are several bands (Leskovec et al. 2014, section 3.4).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.digests import digests
from acidtest.core.draws import U64, key, mixed
from acidtest.studies.audits.batches import Batch, Codes
from acidtest.text.misspelling import function_words

Small = npt.NDArray[np.uint32]

BANDS = 12
_PER_BAND = {"premise": 2, "hypothesis": 1}
"""How many hashes of each sentence make the key of a band."""


@dataclass(frozen=True)
class WordSets:
    """The different words of each sentence, as hashes."""

    words: Small
    sizes: Codes
    starts: Codes

    @classmethod
    def of(cls, split: pl.Series) -> WordSets:
        """From lists of words."""
        once = split.list.unique()
        sizes = once.list.len().to_numpy().astype(np.int64)
        return cls(_hashes(once.explode(empty_as_null=False, keep_nulls=False)), sizes, np.cumsum(sizes) - sizes)

    @classmethod
    def joined(cls, parts: list[WordSets]) -> WordSets:
        """Those of several columns of sentences as one."""
        sizes = np.concatenate([np.zeros(0, dtype=np.int64), *(part.sizes for part in parts)])
        words = np.concatenate([np.zeros(0, dtype=np.uint32), *(part.words for part in parts)])
        return cls(words, sizes, np.cumsum(sizes) - sizes)

    def spread(self, rows: Codes) -> U64:
        """The words of some sentences, each with the sentence's place among them in front."""
        sizes = self.sizes[rows]
        place = np.repeat(np.arange(len(rows)), sizes)
        within = np.arange(len(place)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        words = self.words[self.starts[rows][place] + within].astype(np.uint64)
        return np.asarray((place.astype(np.uint64) << np.uint64(32)) | words, dtype=np.uint64)

    @property
    def content(self) -> WordSets:
        """Without function words, but for sentences that have no others."""
        sentence = np.repeat(np.arange(len(self.sizes)), self.sizes)
        told = ~np.isin(self.words, _functional())
        sizes = np.bincount(sentence[told], minlength=len(self.sizes))
        kept = told | (sizes == 0)[sentence]
        sizes = np.where(sizes == 0, self.sizes, sizes)
        return WordSets(self.words[kept], sizes, np.cumsum(sizes) - sizes)

    def least(self, number: int) -> Iterator[U64]:
        """So many hashes of each set, any two sets agreeing in each as often as their Jaccard index says."""
        kinds, place = np.unique(self.words, return_inverse=True)
        there = np.flatnonzero(self.sizes)
        for salt in range(number):
            found = np.zeros(len(self.sizes), dtype=np.uint64)
            if len(there):
                values = mixed(kinds + np.uint64(key("near", salt)))[place]
                found[there] = np.minimum.reduceat(values, self.starts[there])
            yield found


@dataclass(frozen=True)
class Described:
    """Some pairs as they are compared: sets of words, a key for each band."""

    premise: WordSets
    hypothesis: WordSets
    bands: tuple[Small, ...]

    @classmethod
    def of(cls, batch: Batch) -> Described:
        """From a batch."""
        premise, hypothesis = WordSets.of(batch.premise_words), WordSets.of(batch.hypothesis_words)
        hashes = {
            "premise": premise.content.least(BANDS * _PER_BAND["premise"]),
            "hypothesis": hypothesis.content.least(BANDS * _PER_BAND["hypothesis"]),
        }
        bands = []
        for _ in range(BANDS):
            total = np.zeros(batch.height, dtype=np.uint64)
            for side, number in _PER_BAND.items():
                for _ in range(number):
                    total = mixed(total + next(hashes[side]))
            bands.append((total >> np.uint64(32)).astype(np.uint32))
        return cls(premise, hypothesis, tuple(bands))


def _hashes(words: pl.Series) -> Small:
    return (digests(words.cast(pl.String)) >> np.uint64(32)).astype(np.uint32)


@cache
def _functional() -> Small:
    return _hashes(function_words()["word"])
