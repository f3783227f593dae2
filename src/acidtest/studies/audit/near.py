"""Near duplicates: pairs whose premises and whose hypotheses each have a Jaccard index of at least two thirds.

The index is the share of the words of either sentence that both have; it is two thirds when one word in five is
replaced. Candidates share a key and are then compared word by word, so there are no false positives. Keys are MinHashes
(Broder 1997): the smallest hash of a set of words is the same in two sets with a probability equal to their Jaccard
index. Several such hashes make the key of a band, and there are several bands (Leskovec et al. 2014, section 3.4). Some
pairs are missed: about 2 % if both sentences are just at the threshold, hardly any if one sentence is the same.
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
from acidtest.english.misspelling import function_words
from acidtest.pairs.heuristics import words
from acidtest.studies.audit.repetition import EXAMPLES_SHOWN
from acidtest.studies.scoring.pair_batches import GOLD, ROWS, SIDES, Codes, Flags, PairBatch, PremiseSample

Hashes = npt.NDArray[np.uint32]

SHARED = (2, 3)
"""Lowest Jaccard index of near sentences, as numerator and denominator."""
BANDS = 12
_HASHES_PER_BAND = {"premise": 2, "hypothesis": 1}
"""Number of hashes of each sentence in the key of a band."""
_MOST = 32
"""Largest number of held pairs compared with one pair in a band, to bound the time."""
_CANDIDATES = 1 << 16
"""Approximate number of candidates compared at once, to bound the memory."""


@dataclass(frozen=True)
class NearPairs:
    """Number of pairs with a near duplicate, with one of the same label, and of pairs searched for."""

    near: int
    near_same_label: int
    near_of: int


@dataclass(frozen=True)
class WordSets:
    """The different words of each sentence as hashes, one sentence after another, and the number of each."""

    words: Hashes
    sizes: Codes

    @cached_property
    def starts(self) -> Codes:
        """The index in ``words`` of the first word of each sentence."""
        return np.cumsum(self.sizes) - self.sizes

    @classmethod
    def of(cls, split: pl.Series) -> WordSets:
        once = split.list.unique()
        sizes = once.list.len().to_numpy().astype(np.int64)
        return cls(_hash_words(once.explode(empty_as_null=False, keep_nulls=False)), sizes)

    def spread(self, rows: Codes) -> U64:
        """The word hashes of some sentences, with the sentence's index in ``rows`` in the upper 32 bits."""
        place, within = _count_up(self.sizes[rows])
        hashes = self.words[self.starts[rows][place] + within].astype(np.uint64)
        return np.asarray((place.astype(np.uint64) << np.uint64(32)) | hashes, dtype=np.uint64)

    @property
    def content(self) -> WordSets:
        """The sets without function words; sentences that have no other words keep them."""
        sentence = np.repeat(np.arange(len(self.sizes)), self.sizes)
        is_content = ~np.isin(self.words, _function_word_hashes())
        sizes = np.bincount(sentence[is_content], minlength=len(self.sizes))
        kept = is_content | (sizes == 0)[sentence]
        return WordSets(self.words[kept], np.where(sizes == 0, self.sizes, sizes))

    def min_hashes(self, number: int) -> Iterator[U64]:
        """``number`` MinHashes of each set; the probability that two sets agree in one is their Jaccard index."""
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
    """Pairs prepared for comparison: word sets by side, and keys for each band."""

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
    """Holds a sample of pairs, about 200 bytes each plus text, and finds their near duplicates in a training set.

    Exact duplicates, with the same words in both sentences, do not count.
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
        # For each band, the sorted keys and the index of the pair each belongs to.
        self._bands = []
        for keys in (np.concatenate(bands) for bands in zip(*(part.bands for part in parts), strict=True)):
            owners = np.argsort(keys, kind="stable").astype(np.int32)
            self._bands.append((keys[owners], owners))
        self._near, self._same_label = np.zeros((2, len(rows)), dtype=bool)
        self._examples: dict[str, list[Mapping[str, str]]] = {"same": [], "other": []}
        self._shown = set[int]()

    def search(self, batch: PairBatch, hashed: HashedPairs) -> None:
        """Compare the held pairs with a batch of the training set."""
        pair_keys = batch.keys["pair"]
        for band, keys in zip(self._bands, hashed.bands, strict=True):
            for ours, others in _candidates(band, keys, pair_keys):
                alike = self._labels[ours] == batch.labels[others]
                useful = ~self._near[ours] | (alike & ~self._same_label[ours])
                useful &= self._keys[ours] != pair_keys[others]
                ours, others = ours[useful], others[useful]
                # Hypotheses come first: they are shorter, and rule out most candidates.
                for side, others_words in hashed.sets.items():
                    near = _share_enough(self._sets[side], ours, others_words, others)
                    ours, others = ours[near], others[near]
                self._mark(batch, ours, others)

    def counts(self) -> NearPairs:
        return NearPairs(int(self._near.sum()), int(self._same_label.sum()), len(self._near))

    def examples(self) -> tuple[Mapping[str, str], ...]:
        """Pairs, with the near duplicate as ``train_premise`` and so on; those of the same label first."""
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
        """Keep an example unless one of its two pairs is in an earlier one, or there are enough."""
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
    """Yield candidates that share a key of a band, in chunks: indices of held pairs and of pairs in the batch.

    If a pair of the batch shares its key with more than ``_MOST`` held pairs, as in sets made from templates, it is
    compared with ``_MOST`` of them, chosen by its own key so that different pairs are compared with different ones.
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
    """Whether the Jaccard index of two sentences reaches ``SHARED``; two sentences without words count as the same."""
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
    """For consecutive runs of these sizes: each element's run, and its position within the run."""
    run = np.repeat(np.arange(len(sizes)), sizes)
    return run, np.arange(len(run)) - np.repeat(np.cumsum(sizes) - sizes, sizes)


def _hash_words(column: pl.Series) -> Hashes:
    return (digests(column.cast(pl.String)) >> np.uint64(32)).astype(np.uint32)


@cache
def _function_word_hashes() -> Hashes:
    return _hash_words(function_words()["word"])
