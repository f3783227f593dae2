"""Pairs that are nearly the same: both sentences share two thirds of their words with those of another pair.

Two thirds of the words that either sentence has (the Jaccard index): so much is left when one word in five is replaced.
Candidates share a key and are then compared word by word, so what is called near is near. Keys are MinHashes (Broder
1997): the least of many hashed words is the same in two sets as often as their Jaccard index says. Several such hashes
make the key of a band, and there are several bands (Leskovec et al. 2014, section 3.4). Some pairs are missed: of those
right at the threshold in both sentences about two in a hundred, where one is the same hardly any.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.digests import digests
from acidtest.core.draws import U64, key, mix_bits
from acidtest.studies.audit.batches import GOLD, Codes, Flags, PairBatch, PremiseSample, make_batch
from acidtest.studies.audit.repetition import EXAMPLES_SHOWN, SeenKeys
from acidtest.text.misspelling import function_words

Hashes = npt.NDArray[np.uint32]

SHARED = (2, 3)
"""The share of the words of either sentence that both have, at least: two thirds."""
BANDS = 12
_HASHES_PER_BAND = {"premise": 2, "hypothesis": 1}
"""How many hashes of each sentence make the key of a band."""
_ROWS = 1 << 12
_MOST = 32
"""How many pairs that share a key are compared with one, at most, which bounds the time."""
_CANDIDATES = 1 << 16
"""How many candidates are compared at once, which bounds the memory."""


@dataclass(frozen=True)
class NearPairs:
    """How many pairs have a near one, how many one of their label, and of how many this was asked.

    An example has the columns of a pair, and those of the near one as ``train_premise`` and so on; those of the same
    label come first.
    """

    near: int
    same_label: int
    of: int
    examples: tuple[Mapping[str, str], ...] = ()


@dataclass(frozen=True)
class WordSets:
    """The different words of each sentence, as hashes."""

    words: Hashes
    sizes: Codes
    starts: Codes

    @classmethod
    def of(cls, split: pl.Series) -> WordSets:
        """From lists of words."""
        once = split.list.unique()
        sizes = once.list.len().to_numpy().astype(np.int64)
        return cls(_hash_words(once.explode(empty_as_null=False, keep_nulls=False)), sizes, np.cumsum(sizes) - sizes)

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
        is_content = ~np.isin(self.words, _function_word_hashes())
        sizes = np.bincount(sentence[is_content], minlength=len(self.sizes))
        kept = is_content | (sizes == 0)[sentence]
        sizes = np.where(sizes == 0, self.sizes, sizes)
        return WordSets(self.words[kept], sizes, np.cumsum(sizes) - sizes)

    def min_hashes(self, number: int) -> Iterator[U64]:
        """So many hashes of each set, any two sets agreeing in each as often as their Jaccard index says."""
        kinds, place = np.unique(self.words, return_inverse=True)
        filled = np.flatnonzero(self.sizes)
        for salt in range(number):
            hashes = np.zeros(len(self.sizes), dtype=np.uint64)
            if len(filled):
                values = mix_bits(kinds + np.uint64(key("near", salt)))[place]
                hashes[filled] = np.minimum.reduceat(values, self.starts[filled])
            yield hashes


@dataclass(frozen=True)
class HashedPairs:
    """Some pairs as they are compared: sets of words, a key for each band."""

    premise: WordSets
    hypothesis: WordSets
    bands: tuple[Hashes, ...]

    @classmethod
    def of(cls, batch: PairBatch) -> HashedPairs:
        """From a batch."""
        premise, hypothesis = WordSets.of(batch.premise_words), WordSets.of(batch.hypothesis_words)
        hashes = {
            "premise": premise.content.min_hashes(BANDS * _HASHES_PER_BAND["premise"]),
            "hypothesis": hypothesis.content.min_hashes(BANDS * _HASHES_PER_BAND["hypothesis"]),
        }
        bands = []
        for _ in range(BANDS):
            total = np.zeros(batch.height, dtype=np.uint64)
            for side, number in _HASHES_PER_BAND.items():
                for _ in range(number):
                    total = mix_bits(total + next(hashes[side]))
            bands.append((total >> np.uint64(32)).astype(np.uint32))
        return cls(premise, hypothesis, tuple(bands))


class NearSearch:
    """Holds some pairs, about 200 bytes each and their text, and looks for near ones in a training set.

    A pair is not near itself: what has the same words in both sentences does not count.
    """

    def __init__(self, sample: PremiseSample, *, left_out: Flags | None = None) -> None:
        self._frame = sample.frame
        kept = np.arange(len(sample.labels)) if left_out is None else np.flatnonzero(~left_out)
        rows, keys, parts, seen = list[Codes](), list[U64](), list[HashedPairs](), SeenKeys()
        for start in range(0, len(kept), _ROWS):
            some = kept[start : start + _ROWS]
            batch = _sample_batch(sample, some)
            new = np.flatnonzero(seen.add(batch.pair_keys, np.zeros(len(some), dtype=np.int64)).key)
            batch = batch if len(new) == len(some) else _sample_batch(sample, some[new])
            rows.append(some[new])
            keys.append(batch.pair_keys)
            parts.append(HashedPairs.of(batch))
        self._rows = np.concatenate([np.zeros(0, dtype=np.int64), *rows])
        self._keys = np.concatenate([np.zeros(0, dtype=np.uint64), *keys])
        self._labels = sample.labels[self._rows]
        self._premises = WordSets.joined([part.premise for part in parts])
        self._hypotheses = WordSets.joined([part.hypothesis for part in parts])
        self._bands = [_Band.of([part.bands[number] for part in parts]) for number in range(BANDS)]
        self._near, self._same_label = (np.zeros(len(self._rows), dtype=bool) for _ in range(2))
        self._examples: dict[str, list[Mapping[str, str]]] = {"same": [], "other": []}
        self._shown = set[int]()

    def search(self, batch: PairBatch, hashed: HashedPairs) -> None:
        """Look at some pairs of the training set."""
        pair_keys = batch.pair_keys
        # The shorter sentences go first: most candidates end there.
        sides = ((self._hypotheses, hashed.hypothesis), (self._premises, hashed.premise))
        for band, keys in zip(self._bands, hashed.bands, strict=True):
            for ours, others in band.candidates(keys, pair_keys):
                alike = self._labels[ours] == batch.labels[others]
                useful = ~self._near[ours] | (alike & ~self._same_label[ours])
                useful &= self._keys[ours] != pair_keys[others]
                ours, others = ours[useful], others[useful]
                for our_words, other_words in sides:
                    near = _share_enough(our_words, ours, other_words, others)
                    ours, others = ours[near], others[near]
                self._mark(batch, ours, others)

    def result(self) -> NearPairs:
        """What was met."""
        examples = (*self._examples["same"], *self._examples["other"])[:EXAMPLES_SHOWN]
        return NearPairs(int(self._near.sum()), int(self._same_label.sum()), len(self._rows), examples)

    def _mark(self, batch: PairBatch, ours: Codes, others: Codes) -> None:
        alike = self._labels[ours] == batch.labels[others]
        for kind, flags in (("same", alike), ("other", ~alike)):
            room = 2 * (EXAMPLES_SHOWN - len(self._examples[kind]))
            for our, other in zip(ours[flags][:room].tolist(), others[flags][:room].tolist(), strict=True):
                self._show(kind, our, batch, other)
        self._near[ours] = True
        self._same_label[ours[alike]] = True

    def _show(self, kind: str, our: int, batch: PairBatch, other: int) -> None:
        """Keep an example, unless one of its pairs is in another."""
        keys = {int(self._keys[our]), int(batch.pair_keys[other])}
        if len(self._examples[kind]) < EXAMPLES_SHOWN and not keys & self._shown:
            self._shown |= keys
            self._examples[kind].append(self._example(our, batch, other))

    def _example(self, our: int, batch: PairBatch, other: int) -> Mapping[str, str]:
        names = [name for name in ("id", "premise", "hypothesis") if name in self._frame.columns]
        our_row = self._frame.row(int(self._rows[our]), named=True)
        other_row = batch.frame.select("premise", "hypothesis", "label").row(other, named=True)
        example = {name: our_row[name] for name in names} | {"label": GOLD[self._labels[our]]}
        return example | {f"train_{name}": value for name, value in other_row.items()}


@dataclass(frozen=True)
class _Band:
    """The keys of a band in order, and the number of the pair each belongs to."""

    keys: Hashes
    owners: np.ndarray[tuple[int, ...], np.dtype[np.int32]]

    @classmethod
    def of(cls, parts: list[Hashes]) -> _Band:
        keys = np.concatenate([np.zeros(0, dtype=np.uint32), *parts])
        owners = np.argsort(keys, kind="stable").astype(np.int32)
        return cls(keys[owners], owners)

    def candidates(self, keys: Hashes, pair_keys: U64) -> Iterator[tuple[Codes, Codes]]:
        """Pairs that share a key, some at a time: numbers of our pairs and of those that were given.

        Where very many share one, as in sets made from a template, each of those given is compared with some of them,
        by its key with others than the next: what is near to many is found all the same.
        """
        first = np.searchsorted(self.keys, keys)
        matches = np.searchsorted(self.keys, keys, side="right") - first
        count = np.minimum(matches, _MOST)
        first += (pair_keys % (matches - count + 1).astype(np.uint64)).astype(np.int64)
        rows = np.flatnonzero(count)
        cuts = np.flatnonzero(np.diff(np.cumsum(count[rows]) // _CANDIDATES)) + 1
        for some in np.split(rows, cuts):
            others = np.repeat(some, count[some])
            within = np.arange(len(others)) - np.repeat(np.cumsum(count[some]) - count[some], count[some])
            yield self.owners[first[others] + within].astype(np.int64), others


def _share_enough(our_words: WordSets, ours: Codes, other_words: WordSets, others: Codes) -> Flags:
    """Whether sentences share enough of the words that either has; without words they are taken to be the same."""
    part, whole = SHARED
    our_sizes, other_sizes = our_words.sizes[ours], other_words.sizes[others]
    enough = np.minimum(our_sizes, other_sizes) * whole >= np.maximum(our_sizes, other_sizes) * part
    rows = np.flatnonzero(enough)
    words = np.concatenate([our_words.spread(ours[rows]), other_words.spread(others[rows])])
    words.sort()
    twice = (words[1:][words[1:] == words[:-1]] >> np.uint64(32)).astype(np.int64)
    shared = np.bincount(twice, minlength=len(rows))
    enough[rows] = shared * whole >= (our_sizes[rows] + other_sizes[rows] - shared) * part
    return enough


def _sample_batch(sample: PremiseSample, rows: Codes) -> PairBatch:
    labels = np.array(GOLD)[sample.labels[rows]]
    return make_batch(sample.frame[rows].select("premise", "hypothesis").with_columns(label=labels))


def _hash_words(words: pl.Series) -> Hashes:
    return (digests(words.cast(pl.String)) >> np.uint64(32)).astype(np.uint32)


@cache
def _function_word_hashes() -> Hashes:
    return _hash_words(function_words()["word"])
