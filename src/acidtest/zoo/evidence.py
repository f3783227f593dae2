"""Pairs as what speaks for a label: the words of either text, and how the words of both compare.

The features are those of NLTK's ``RTEFeatureExtractor``, counted over distinct words without stop words: words of the
hypothesis that the premise has and has not, apart for names, and negations of either. Other than there, words are
compared without regard to capitals, and a capital makes a name only inside a sentence.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt
import polars as pl
import torch

from acidtest.io.wordlists import packaged_table
from acidtest.text.tokens import placed
from acidtest.zoo.batches import Inputs, Ints, Targets
from acidtest.zoo.readers import load_words, save_words
from acidtest.zoo.sentences import Column, Sentence
from acidtest.zoo.words import SPECIAL, UNKNOWN, Texts, Vocabulary, vocabulary

if TYPE_CHECKING:
    from acidtest.zoo.study import Study

COMPARED = (
    "words of the hypothesis that the premise has",
    "words of the hypothesis that the premise has not",
    "names of the hypothesis that the premise has",
    "names of the hypothesis that the premise has not",
    "negations of the premise",
    "negations of the hypothesis",
)
"""What is counted of a pair."""

MOST = 15
"""The greatest count that is told apart from greater ones."""

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Evidence:
    """A batch: of some pairs the words of either side, and what was counted of them.

    ``counts`` is int[pairs, compared], nowhere above ``MOST``.
    """

    rows: Ints
    words: Sentence
    counts: torch.Tensor
    targets: torch.Tensor | None = None


@dataclass(frozen=True)
class EvidenceBasis:
    """How many words of either side, numbered from 1, and labels there are."""

    words: int
    labels: int


class EvidenceInputs(Inputs):
    """Pairs as words and counts on a device."""

    def __init__(self, words: Texts, counts: Ints, targets: Targets | None, device: torch.device) -> None:
        super().__init__(words.lengths, targets, device)
        self._words = Column(words, device, spelled=False)
        self._counts = torch.from_numpy(counts).to(device)

    def batch(self, rows: Ints) -> Evidence:
        """Some pairs."""
        places = torch.from_numpy(rows).to(self.device, non_blocking=True)
        return Evidence(rows, self._words.sentences(rows, places), self._counts[places], self.targets(places))


@dataclass(frozen=True)
class EvidenceReader:
    """Reads pairs as sets of the words that training pairs have, and counts what they share."""

    vocabulary: Vocabulary
    columns: tuple[str, ...] = ("premise", "hypothesis")

    @classmethod
    def begun(cls, study: Study, train: pl.DataFrame) -> EvidenceReader:
        """The words of training pairs that are no stop words."""
        seen = vocabulary([train["premise"], train["hypothesis"]]).words[len(SPECIAL) :]
        return cls(Vocabulary((*SPECIAL, *(word for word, tells in zip(seen, _tell(seen), strict=True) if tells))))

    @classmethod
    def load(cls, folder: Path, told: Mapping[str, Any]) -> EvidenceReader:
        """The reader of a folder."""
        return cls(load_words(folder))

    def save(self, folder: Path) -> dict[str, Any]:
        """Write the words."""
        return {"files": save_words(folder, self.vocabulary)}

    def seeded(self, seed: int) -> Self:
        """The same: nothing is drawn."""
        return self

    def basis(self, labels: int) -> EvidenceBasis:
        """How many words and labels there are."""
        return EvidenceBasis(2 * (len(self.vocabulary.words) - len(SPECIAL)), labels)

    def inputs(self, frame: pl.DataFrame, targets: Targets | None, device: torch.device) -> EvidenceInputs:
        """Pairs on a device."""
        found = mentions(frame["premise"], frame["hypothesis"])
        return EvidenceInputs(self._known(found), found.counts, targets, device)

    def _known(self, found: Mentions) -> Texts:
        """The words of each pair that are in the vocabulary, from 1 on; those of hypotheses after all of premises."""
        numbers = np.array([self.vocabulary.numbers.get(word, UNKNOWN) for word in found.words], dtype=np.int32)
        word = numbers[found.word] - UNKNOWN
        known = np.flatnonzero(word)
        known = known[np.argsort(found.pair[known], kind="stable")]
        word = word[known] + found.hypothesis[known] * np.int32(len(self.vocabulary.words) - len(SPECIAL))
        ends = np.cumsum(np.bincount(found.pair[known], minlength=found.pairs))
        starts = np.concatenate([np.zeros(1, dtype=np.int64), ends])
        return Texts(word, starts, np.zeros(0, dtype=np.int32), np.zeros((0, 0), dtype=np.uint8))


@dataclass(frozen=True)
class Mentions:
    """The distinct words of either text of some pairs, stop words left out: whose, which, and whether it is a name."""

    pairs: int
    words: list[str]
    """All words, in lower case."""
    pair: Ints
    word: Ints
    hypothesis: Flags
    named: Flags

    @property
    def counts(self) -> Ints:
        """int[pairs, compared]."""
        own = self.pair * len(self.words) + self.word
        shared = np.isin(own, own[~self.hypothesis])
        negates = np.array([word.replace("’", "'") in _listed("negation") for word in self.words], dtype=np.bool_)
        denies = negates[self.word]
        kinds = (
            self.hypothesis & shared & ~self.named,
            self.hypothesis & ~shared & ~self.named,
            self.hypothesis & shared & self.named,
            self.hypothesis & ~shared & self.named,
            ~self.hypothesis & denies,
            self.hypothesis & denies,
        )
        counts = np.stack([np.bincount(self.pair[kind], minlength=self.pairs) for kind in kinds], axis=1)
        return np.minimum(counts, MOST)


def mentions(premises: pl.Series, hypotheses: pl.Series) -> Mentions:
    """The distinct words of pairs of texts."""
    pairs = len(premises)
    found = placed(pl.concat([premises.alias("text"), hypotheses.alias("text")]))
    forms, form = np.unique(found.words.str.to_lowercase().to_numpy().astype(str), return_inverse=True)
    words = forms.tolist()
    capital = found.words.str.contains(r"^\p{Lu}").to_numpy()[found.word] & ~found.initial
    form = form[found.word]
    tells = np.array(_tell(words), dtype=np.bool_)[form]
    names = np.unique((found.text % pairs * len(words) + form)[capital])
    text, word = np.divmod(np.unique((found.text * len(words) + form)[tells]), max(len(words), 1))
    pair = text % max(pairs, 1)
    return Mentions(pairs, words, pair, word, text >= pairs, np.isin(pair * len(words) + word, names))


def _tell(words: Iterable[str]) -> list[bool]:
    """Whether words in lower case tell anything: signs and stop words do not."""
    stops = _listed("stop")
    return [word not in stops and any(letter.isalnum() for letter in word) for word in words]


@cache
def _listed(kind: str) -> frozenset[str]:
    return frozenset(packaged_table("zoo/rte_words.tsv").filter(pl.col("kind") == kind)["word"])
