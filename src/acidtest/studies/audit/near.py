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
from functools import cache, cached_property

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.digests import digests
from acidtest.core.draws import U64, key, mix_bits
from acidtest.studies.audit.batches import GOLD, ROWS, SIDES, Codes, Flags, PairBatch, PremiseSample
from acidtest.studies.audit.repetition import EXAMPLES_SHOWN
from acidtest.text.heuristics import words
from acidtest.text.misspelling import function_words

Hashes = npt.NDArray[np.uint32]

SHARED = (2, 3)
"""The share of the words of either sentence that both have, at least: two thirds."""
BANDS = 12
_HASHES_PER_BAND = {"premise": 2, "hypothesis": 1}
"""How many hashes of each sentence make the key of a band."""
_MOST = 32
"""How many pairs that share a key are compared with one, at most, which bounds the time."""
_CANDIDATES = 1 << 16
"""How many candidates are compared at once, which bounds the memory."""


@dataclass(frozen=True)
class NearPairs:
    """How many pairs have a near one, how many one of their label, and of how many this was asked."""

    near: int
    near_same_label: int
    near_of: int


@dataclass(frozen=True)
class WordSets:
    """The different words of each sentence, as hashes."""

    words: Hashes
    sizes: Codes

    @cached_property
    def starts(self) -> Codes:
        """Where the words of each sentence begin."""
        return np.cumsum(self.sizes) - self.sizes

    @classmethod
    def of(cls, split: pl.Series) -> WordSets:
        once = split.list.unique()
        sizes = once.list.len().to_numpy().astype(np.int64)
        return cls(_hash_words(once.explode(empty_as_null=False, keep_nulls=False)), sizes)

    def spread(self, rows: Codes) -> U64:
        """The words of some sentences, each with the sentence's place among them in front."""
        place, within = _count_up(self.sizes[rows])
        hashes = self.words[self.starts[rows][place] + within].astype(np.uint64)
        return np.asarray((place.astype(np.uint64) << np.uint64(32)) | hashes, dtype=np.uint64)

    @property
    def content(self) -> WordSets:
        """Without function words, but for sentences that have no others."""
        sentence = np.repeat(np.arange(len(self.sizes)), self.sizes)
        is_content = ~np.isin(self.words, _function_word_hashes())
        sizes = np.bincount(sentence[is_content], minlength=len(self.sizes))
        kept = is_content | (sizes == 0)[sentence]
        return WordSets(self.words[kept], np.where(sizes == 0, self.sizes, sizes))

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
    """Some pairs as they are compared: sets of words by side, a key for each band."""

    sets: Mapping[str, WordSets]
    bands: tuple[Hashes, ...]

    @classmethod
    def of(cls, split: Mapping[str, pl.Series]) -> HashedPairs:
        sets = {side: WordSets.of(split[side]) for side in SIDES}
        hashes = {side: sets[side].content.min_hashes(BANDS * number) for side, number in _HASHES_PER_BAND.items()}
        bands = []
        for _ in range(BANDS):
            total = np.zeros(len(split["premise"]), dtype=np.uint64)
            for side, number in _HASHES_PER_BAND.items():
                for _ in range(number):
                    total = mix_bits(total + next(hashes[side]))
            bands.append((total >> np.uint64(32)).astype(np.uint32))
        return cls(sets, tuple(bands))


class NearSearch:
    """Holds some pairs, about 200 bytes each and their text, and looks for near ones in a training set.

    A pair is not near itself: what has the same words in both sentences does not count.
    """

    def __init__(self, sample: PremiseSample) -> None:
        rows = np.sort(np.unique(sample.keys["pair"], return_index=True)[1])
        self._frame, self._keys, self._labels = sample.frame[rows], sample.keys["pair"][rows], sample.labels[rows]
        slices = [self._frame[start : start + ROWS] for start in range(0, max(len(rows), 1), ROWS)]
        parts = [HashedPairs.of({side: words(pairs[side].fill_null("")) for side in SIDES}) for pairs in slices]
        self._sets = {
            side: WordSets(
                np.concatenate([part.sets[side].words for part in parts]),
                np.concatenate([part.sets[side].sizes for part in parts]),
            )
            for side in SIDES
        }
        # The keys of each band in order, and the number of the pair each belongs to.
        self._bands = []
        for keys in (np.concatenate(bands) for bands in zip(*(part.bands for part in parts), strict=True)):
            owners = np.argsort(keys, kind="stable").astype(np.int32)
            self._bands.append((keys[owners], owners))
        self._near, self._same_label = np.zeros((2, len(rows)), dtype=bool)
        self._examples: dict[str, list[Mapping[str, str]]] = {"same": [], "other": []}
        self._shown = set[int]()

    def search(self, batch: PairBatch, hashed: HashedPairs) -> None:
        """Look at some pairs of the training set."""
        pair_keys = batch.keys["pair"]
        for band, keys in zip(self._bands, hashed.bands, strict=True):
            for ours, others in _candidates(band, keys, pair_keys):
                alike = self._labels[ours] == batch.labels[others]
                useful = ~self._near[ours] | (alike & ~self._same_label[ours])
                useful &= self._keys[ours] != pair_keys[others]
                ours, others = ours[useful], others[useful]
                # Hypotheses come first, which are shorter: most candidates end there.
                for side, others_words in hashed.sets.items():
                    near = _share_enough(self._sets[side], ours, others_words, others)
                    ours, others = ours[near], others[near]
                self._mark(batch, ours, others)

    def counts(self) -> NearPairs:
        return NearPairs(int(self._near.sum()), int(self._same_label.sum()), len(self._near))

    def examples(self) -> tuple[Mapping[str, str], ...]:
        """Pairs with the columns of the near one as ``train_premise`` and so on; those of the same label first."""
        return (*self._examples["same"], *self._examples["other"])[:EXAMPLES_SHOWN]

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
        keys = {int(self._keys[our]), int(batch.keys["pair"][other])}
        if len(self._examples[kind]) >= EXAMPLES_SHOWN or keys & self._shown:
            return
        self._shown |= keys
        names = [name for name in ("id", "premise", "hypothesis") if name in self._frame.columns]
        example = self._frame.select(names).row(our, named=True) | {"label": GOLD[self._labels[our]]}
        near = batch.frame.select("premise", "hypothesis", "label").row(other, named=True)
        self._examples[kind].append(example | {f"train_{name}": value for name, value in near.items()})


def _candidates(
    band: tuple[Hashes, npt.NDArray[np.int32]], keys: Hashes, pair_keys: U64
) -> Iterator[tuple[Codes, Codes]]:
    """Pairs that share a key of a band, some at a time: numbers of our pairs and of those that were given.

    Where very many share one, as in sets made from a template, each of those given is compared with some of them,
    by its key with others than the next: what is near to many is found all the same.
    """
    our_keys, owners = band
    first = np.searchsorted(our_keys, keys)
    matches = np.searchsorted(our_keys, keys, side="right") - first
    count = np.minimum(matches, _MOST)
    first += (pair_keys % (matches - count + 1).astype(np.uint64)).astype(np.int64)
    rows = np.flatnonzero(count)
    cuts = np.flatnonzero(np.diff(np.cumsum(count[rows]) // _CANDIDATES)) + 1
    for some in np.split(rows, cuts):
        place, within = _count_up(count[some])
        others = some[place]
        yield owners[first[others] + within].astype(np.int64), others


def _share_enough(our_words: WordSets, ours: Codes, other_words: WordSets, others: Codes) -> Flags:
    """Whether sentences share enough of the words that either has; without words they are taken to be the same."""
    part, whole = SHARED
    our_sizes, other_sizes = our_words.sizes[ours], other_words.sizes[others]
    enough = np.minimum(our_sizes, other_sizes) * whole >= np.maximum(our_sizes, other_sizes) * part
    rows = np.flatnonzero(enough)
    both = np.concatenate([our_words.spread(ours[rows]), other_words.spread(others[rows])])
    both.sort()
    twice = (both[1:][both[1:] == both[:-1]] >> np.uint64(32)).astype(np.int64)
    shared = np.bincount(twice, minlength=len(rows))
    enough[rows] = shared * whole >= (our_sizes[rows] + other_sizes[rows] - shared) * part
    return enough


def _count_up(sizes: Codes) -> tuple[Codes, Codes]:
    """For things in runs of these sizes: the number of each one's run, and its place in the run."""
    run = np.repeat(np.arange(len(sizes)), sizes)
    return run, np.arange(len(run)) - np.repeat(np.cumsum(sizes) - sizes, sizes)


def _hash_words(column: pl.Series) -> Hashes:
    return (digests(column.cast(pl.String)) >> np.uint64(32)).astype(np.uint32)


@cache
def _function_word_hashes() -> Hashes:
    return _hash_words(function_words()["word"])
