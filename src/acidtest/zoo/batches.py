"""Texts as word numbers, initial word vectors, and pairs on a device in batches of similar length.

The order of training batches depends only on seed and epoch.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import torch

from acidtest.core.draws import key, mix_bits
from acidtest.core.files import read_bytes, write_text
from acidtest.english.tokens import tokenise
from acidtest.io.embeddings import read_vectors
from acidtest.models.encoders.sentence_tokens import offsets

PADDING, UNKNOWN = 0, 1
"""The numbers of padding and of words that are not in the vocabulary."""

SPECIAL = ("<padding>", "<unknown>")

VOCABULARY = "vocabulary.txt"
"""The file of a network's folder that lists its words."""

LETTERS = 16
"""The number of UTF-8 bytes of each word that networks with letters read."""

SPREAD = 0.1
"""Standard deviation of random vectors when no file gives another."""

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]
Targets = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Texts:
    """Texts end to end: the number of every word, and where each text starts, with the total length last.

    For networks with letters, ``forms`` numbers the distinct words, known or not, and ``letters`` has their bytes.
    """

    ids: npt.NDArray[np.int32]
    starts: Ints
    forms: npt.NDArray[np.int32] | None = None
    letters: npt.NDArray[np.uint8] | None = None

    @property
    def lengths(self) -> Ints:
        return np.diff(self.starts)


@dataclass(frozen=True)
class WordVocabulary:
    """Lower-case words and their numbers; the first two entries are padding and the unknown word."""

    words: tuple[str, ...]

    @classmethod
    def load(cls, folder: Path) -> WordVocabulary:
        return cls(tuple(read_bytes(folder / VOCABULARY).decode().split("\n")[:-1]))

    def save(self, folder: Path) -> list[str]:
        """Write the words to a folder; return the names of the files written."""
        write_text(folder / VOCABULARY, "".join(f"{word}\n" for word in self.words))
        return [VOCABULARY]

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each word; the two special entries are not words of texts."""
        return {word: number for number, word in enumerate(self.words) if number >= len(SPECIAL)}

    def texts(self, column: pl.Series | Sequence[str], *, spelled: bool = False) -> Texts:
        """The texts of a column, with letters if ``spelled``; a text without words gets one unknown word."""
        series = column if isinstance(column, pl.Series) else pl.Series(column, dtype=pl.String)
        tokens = tokenise(series)
        forms = [word.lower() for word in tokens.words.to_list()]
        numbers = np.array([*(self.numbers.get(word, UNKNOWN) for word in forms), UNKNOWN], dtype=np.int32)
        counts = np.bincount(tokens.text, minlength=len(series))
        empty = np.flatnonzero(counts == 0)
        # The word of an empty text is the last form, which has no letters.
        words = np.insert(tokens.word, (np.cumsum(counts) - counts)[empty], len(forms))
        counts[empty] = 1
        texts = Texts(numbers[words], offsets(counts))
        return replace(texts, forms=words.astype(np.int32), letters=_spell([*forms, ""])) if spelled else texts


def build_vocabulary(columns: Iterable[pl.Series]) -> WordVocabulary:
    """Every word of some columns, the most frequent first."""
    counts = []
    for tokens in map(tokenise, columns):
        count = np.bincount(tokens.word, minlength=len(tokens.words)).astype(np.int64)
        counts.append(pl.DataFrame({"word": tokens.words.str.to_lowercase(), "count": count}))
    return count_vocabulary(pl.concat(counts))


def count_vocabulary(counts: pl.DataFrame) -> WordVocabulary:
    """The words of some counts, columns word and count, the most frequent first."""
    total = counts.group_by("word").agg(pl.col("count").sum())
    ordered = total.sort("count", "word", descending=[True, False])["word"].to_list()
    return WordVocabulary(tuple(dict.fromkeys((*SPECIAL, *ordered))))


def _spell(words: Sequence[str]) -> npt.NDArray[np.uint8]:
    """The first ``LETTERS`` bytes of each word, followed by zeros."""
    table = np.zeros((len(words), LETTERS), dtype=np.uint8)
    for row, word in enumerate(words):
        letters = word.encode()[:LETTERS]
        table[row, : len(letters)] = list(letters)
    return table


@dataclass(frozen=True)
class InitialVectors:
    """The vocabulary of a network and the vectors it starts with: ``given`` at ``places``, random elsewhere.

    ``fingerprint`` is a digest of the file that gave them.
    """

    vocabulary: WordVocabulary
    dimensions: int
    seed: int
    spread: float = SPREAD
    places: Sequence[int] = ()
    given: Floats | None = None
    fingerprint: str = ""

    @property
    def vectors(self) -> Floats:
        """float32[words, dimensions], a new array each time because networks train it in place."""
        shape = (len(self.vocabulary.words), self.dimensions)
        vectors = np.random.default_rng(self.seed).normal(0, self.spread, shape).astype(np.float32)
        vectors[PADDING] = 0
        if self.given is not None:
            vectors[self.places] = self.given
        return vectors


def load_vectors(vocabulary: WordVocabulary, path: Path, *, more: int, seed: int) -> InitialVectors:
    """Vectors from a file; its first ``more`` lower-case words join the vocabulary.

    Words that the file lacks get random vectors with the standard deviation of those it has.
    """
    file = read_vectors(path, vocabulary.words[len(SPECIAL) :], first=more)
    extended = WordVocabulary(
        tuple(dict.fromkeys((*vocabulary.words, *(word for word in file.words if word == word.lower()))))
    )
    known = [number for number, word in enumerate(file.words) if word in extended.numbers]
    return InitialVectors(
        extended,
        file.vectors.shape[1],
        seed,
        spread=float(file.vectors.std()) if known else SPREAD,
        places=[extended.numbers[file.words[number]] for number in known],
        given=file.vectors[known],
        fingerprint=file.fingerprint,
    )


POOL = 64
"""Batches whose pairs are sorted by length together: enough for little padding, few enough to stay random."""


@dataclass(frozen=True)
class NetworkBatch:
    """Pairs as a network reads them: their rows, and bool[pairs, labels] of right labels where they are known."""

    rows: Ints
    targets: torch.Tensor | None


class Inputs(ABC):
    """Pairs on a device, read batch by batch; ``truncated`` marks pairs that were cut to fit."""

    def __init__(self, sizes: Ints, targets: Targets | None, device: torch.device) -> None:
        self.device = device
        self.truncated = np.zeros(len(sizes), dtype=np.bool_)
        self._sizes = sizes
        self._targets = None if targets is None else torch.from_numpy(targets).to(device)

    def __len__(self) -> int:
        return len(self._sizes)

    def batch(self, rows: Ints) -> Any:
        """The pairs of these rows, as the kind of ``NetworkBatch`` that the network reads."""
        device_rows = torch.from_numpy(rows).to(self.device, non_blocking=True)
        return self._read(rows, device_rows, None if self._targets is None else self._targets[device_rows])

    @abstractmethod
    def _read(self, rows: Ints, device_rows: torch.Tensor, targets: torch.Tensor | None) -> NetworkBatch:
        """The pairs of these rows, which are given both on the processor and on the device."""

    def ordered(self, size: int) -> Iterator[Any]:
        """All pairs in batches of ``size``, the longest pairs first."""
        rows = np.argsort(-self._sizes, kind="stable")
        for start in range(0, len(rows), size):
            yield self.batch(rows[start : start + size])

    def shuffled(self, size: int, seed: int, epoch: int) -> list[Ints]:
        """The rows of each training batch of an epoch."""
        order = np.argsort(mix_bits(np.arange(len(self), dtype=np.uint64) + np.uint64(key(seed, "epoch", epoch))))
        batches = list[Any]()
        for start in range(0, len(order), size * POOL):
            pool = order[start : start + size * POOL]
            pool = pool[np.argsort(self._sizes[pool], kind="stable")]
            batches += [pool[first : first + size] for first in range(0, len(pool), size)]
        places = np.argsort(mix_bits(np.arange(len(batches), dtype=np.uint64) + np.uint64(key(seed, "batches", epoch))))
        return [batches[place] for place in places]


@dataclass(frozen=True)
class SentenceTensors:
    """Sentences padded to the longest: word numbers, which of them are words, and lengths.

    ``counts`` are the lengths on the processor, readable without waiting for the device. ``letters`` holds bytes.
    """

    words: torch.Tensor
    mask: torch.Tensor
    lengths: torch.Tensor
    counts: torch.Tensor
    letters: torch.Tensor | None = None


@dataclass(frozen=True)
class SentencePairs(NetworkBatch):
    """A batch of pairs of sentences."""

    premise: SentenceTensors
    hypothesis: SentenceTensors


class TextColumn:
    """A column of texts, copied to a device once."""

    def __init__(self, texts: Texts, device: torch.device) -> None:
        self.lengths = texts.lengths
        self._ids = torch.from_numpy(texts.ids).to(device)
        self._starts = torch.from_numpy(texts.starts).to(device)
        self._forms = None if texts.forms is None else torch.from_numpy(texts.forms).to(device)
        self._letters = None if texts.letters is None else torch.from_numpy(texts.letters).to(device)

    def sentences(self, rows: Ints, device_rows: torch.Tensor) -> SentenceTensors:
        """The texts of some rows, which are given both on the processor and on the device."""
        counts = self.lengths[rows]
        starts = self._starts[device_rows]
        lengths = self._starts[device_rows + 1] - starts
        columns = torch.arange(int(counts.max()), device=starts.device)
        mask = columns < lengths[:, None]
        places = (starts[:, None] + columns).clamp(max=len(self._ids) - 1)
        words = torch.where(mask, self._ids[places].long(), PADDING)
        letters = None
        if self._letters is not None and self._forms is not None:
            letters = self._letters[self._forms[places].long()].long() * mask[..., None]
        return SentenceTensors(words, mask, lengths, torch.from_numpy(counts), letters)


class SentenceInputs(Inputs):
    """Pairs of sentences on a device."""

    def __init__(self, premises: Texts, hypotheses: Texts, targets: Targets | None, *, device: torch.device) -> None:
        super().__init__(np.asarray(premises.lengths + hypotheses.lengths), targets, device)
        self._columns = [TextColumn(texts, device) for texts in (premises, hypotheses)]

    def _read(self, rows: Ints, device_rows: torch.Tensor, targets: torch.Tensor | None) -> SentencePairs:
        return SentencePairs(rows, targets, *(column.sentences(rows, device_rows) for column in self._columns))
