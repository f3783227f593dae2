"""Naive Bayes on bags of words (Joshi et al. 2020) and on counts of shared words, fitted in one pass.

The distinct words of premise and hypothesis are a multinomial, with separate entries for the two sides; every count is
a categorical variable. Both are smoothed by Laplace's rule. The counts are the features of NLTK's
``RTEFeatureExtractor`` over distinct words without stop words: words and names of the hypothesis that the premise has
or lacks, and negations in either. Unlike in NLTK, case is ignored in comparing words, and a capitalised word is a name
only inside a sentence.
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
from torch import Tensor, nn

from acidtest.core.errors import AcidtestError
from acidtest.english.tokens import tokenise
from acidtest.io.wordlists import packaged_table
from acidtest.models.encoders.sentence_tokens import offsets
from acidtest.zoo.batches import (
    SPECIAL,
    UNKNOWN,
    Inputs,
    Ints,
    NetworkBatch,
    SentenceTensors,
    Targets,
    TextColumn,
    Texts,
    WordVocabulary,
    build_vocabulary,
)

if TYPE_CHECKING:
    from acidtest.zoo.training import TrainingOptions

FEATURES = ("words", "overlap")

COUNTED = (
    "words of the hypothesis that the premise has",
    "words of the hypothesis that the premise has not",
    "names of the hypothesis that the premise has",
    "names of the hypothesis that the premise has not",
    "negations of the premise",
    "negations of the hypothesis",
)
"""What is counted in each pair."""

MAX_COUNT = 15
"""Greater counts are replaced by this one."""

_BATCH = 4096

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class CountedPairs(NetworkBatch):
    """A batch: the words of both sides of some pairs, and int[pairs, counted] up to ``MAX_COUNT``."""

    words: SentenceTensors
    counts: Tensor


class CountInputs(Inputs):
    """Pairs as words and counts on a device."""

    def __init__(self, words: Texts, counts: Ints, targets: Targets | None, device: torch.device) -> None:
        super().__init__(words.lengths, targets, device)
        self._words = TextColumn(words, device)
        self._counts = torch.from_numpy(counts).to(device)

    def _read(self, rows: Ints, device_rows: Tensor, targets: Tensor | None) -> CountedPairs:
        return CountedPairs(rows, targets, self._words.sentences(rows, device_rows), self._counts[device_rows])


@dataclass(frozen=True)
class CountReader:
    """Reads pairs as sets of the words that training pairs have, and counts shared words."""

    vocabulary: WordVocabulary
    columns: tuple[str, ...] = ("premise", "hypothesis")

    @classmethod
    def for_training(cls, options: TrainingOptions, train: pl.DataFrame) -> CountReader:
        """The reader for the words of training pairs that are not stop words."""
        words = build_vocabulary([train["premise"], train["hypothesis"]]).words[len(SPECIAL) :]
        content = (word for word, is_content in zip(words, _are_content(words), strict=True) if is_content)
        return cls(WordVocabulary((*SPECIAL, *content)))

    @classmethod
    def load(cls, folder: Path, saved: Mapping[str, Any]) -> CountReader:
        return cls(WordVocabulary.load(folder))

    def save(self, folder: Path) -> dict[str, Any]:
        return {"files": self.vocabulary.save(folder)}

    def with_seed(self, seed: int) -> Self:
        """The same reader: nothing is random."""
        return self

    def basis(self, labels: int) -> tuple[int, int]:
        """The number of words of both sides together, which are numbered from 1, and the number of labels."""
        return 2 * (len(self.vocabulary.words) - len(SPECIAL)), labels

    def inputs(self, frame: pl.DataFrame, targets: Targets | None, device: torch.device) -> CountInputs:
        words = pair_words(frame["premise"], frame["hypothesis"])
        # Known words are numbered from 1; those of hypotheses come after all those of premises.
        numbers = np.array([self.vocabulary.numbers.get(word, UNKNOWN) for word in words.words], dtype=np.int32)
        word = numbers[words.word] - UNKNOWN
        known = np.flatnonzero(word)
        known = known[np.argsort(words.pair[known], kind="stable")]
        word = word[known] + words.hypothesis[known] * np.int32(len(self.vocabulary.words) - len(SPECIAL))
        texts = Texts(word, offsets(np.bincount(words.pair[known], minlength=words.pairs)))
        return CountInputs(texts, words.counts, targets, device)


@dataclass(frozen=True)
class PairWords:
    """The distinct words of each text of some pairs, without stop words, as columns.

    For each word: its pair, its number among ``words``, whether the hypothesis has it, and whether it is a name.
    """

    pairs: int
    words: list[str]
    """All words, in lower case."""
    pair: Ints
    word: Ints
    hypothesis: Flags
    named: Flags

    @property
    def counts(self) -> Ints:
        """int[pairs, counted], up to ``MAX_COUNT``."""
        keys = self.pair * len(self.words) + self.word
        shared = np.isin(keys, keys[~self.hypothesis])
        is_negation = np.array(
            [word.replace("’", "'") in _word_list("negation") for word in self.words], dtype=np.bool_
        )
        negates = is_negation[self.word]
        kinds = (
            self.hypothesis & shared & ~self.named,
            self.hypothesis & ~shared & ~self.named,
            self.hypothesis & shared & self.named,
            self.hypothesis & ~shared & self.named,
            ~self.hypothesis & negates,
            self.hypothesis & negates,
        )
        counts = np.stack([np.bincount(self.pair[kind], minlength=self.pairs) for kind in kinds], axis=1)
        return np.minimum(counts, MAX_COUNT)


def pair_words(premises: pl.Series, hypotheses: pl.Series) -> PairWords:
    pairs = len(premises)
    tokens = tokenise(pl.concat([premises.alias("text"), hypotheses.alias("text")]))
    forms, form = np.unique(tokens.words.str.to_lowercase().to_numpy().astype(str), return_inverse=True)
    words = forms.tolist()
    capital = tokens.words.str.contains(r"^\p{Lu}").to_numpy()[tokens.word] & ~tokens.initial
    form = form[tokens.word]
    content = np.array(_are_content(words), dtype=np.bool_)[form]
    names = np.unique((tokens.text % pairs * len(words) + form)[capital])
    text, word = np.divmod(np.unique((tokens.text * len(words) + form)[content]), max(len(words), 1))
    pair = text % max(pairs, 1)
    return PairWords(pairs, words, pair, word, text >= pairs, np.isin(pair * len(words) + word, names))


def _are_content(words: Iterable[str]) -> list[bool]:
    """Whether lower-case words are neither punctuation nor stop words."""
    stops = _word_list("stop")
    return [word not in stops and any(letter.isalnum() for letter in word) for word in words]


@cache
def _word_list(kind: str) -> frozenset[str]:
    return frozenset(packaged_table("zoo/rte_words.tsv").filter(pl.col("kind") == kind)["word"])


class NaiveBayesNetwork(nn.Module):
    """Log probabilities: of labels, of words given a label, of counts given a label.

    ``smoothing`` is added to every count before counts are turned into shares.
    """

    reader = CountReader

    prior: Tensor
    words: Tensor
    counts: Tensor

    def __init__(self, basis: tuple[int, int], *, features: tuple[str, ...] = FEATURES, smoothing: float = 1.0) -> None:
        super().__init__()
        if not features or not set(features) <= set(FEATURES):
            wrong = ", ".join(features)
            raise AcidtestError(f"naive-bayes: --features is {' or '.join(FEATURES)} or both, not {wrong!r}")
        if smoothing <= 0:
            raise AcidtestError(f"naive-bayes: --smoothing is {smoothing:g}; it is above 0")
        self.features = features
        self.smoothing = smoothing
        words, labels = basis
        self.register_buffer("prior", torch.zeros(labels))
        self.register_buffer("words", torch.zeros(1 + words, labels))
        self.register_buffer("counts", torch.zeros(len(COUNTED), MAX_COUNT + 1, labels))

    def forward(self, batch: CountedPairs) -> Tensor:
        """Log of the joint probability of label and features."""
        scores = self.prior.expand(len(batch.counts), -1)
        if "words" in self.features:
            scores = scores + self.words[batch.words.words].sum(dim=1)
        if "overlap" in self.features:
            kinds = torch.arange(len(COUNTED), device=batch.counts.device)
            scores = scores + self.counts[kinds, batch.counts].sum(dim=1)
        return scores

    def fit(self, inputs: Inputs) -> None:
        """Fit to training pairs; a pair with several right labels counts in equal parts for each."""
        prior, words, counts = (torch.zeros_like(part, dtype=torch.float64) for part in self.buffers())
        kinds = torch.arange(len(COUNTED), device=inputs.device) * (MAX_COUNT + 1)
        for batch in inputs.ordered(_BATCH):
            right = batch.targets.double()
            right /= right.sum(dim=1, keepdim=True)
            prior += right.sum(dim=0)
            words.index_add_(0, batch.words.words.flatten(), right.repeat_interleave(batch.words.words.shape[1], dim=0))
            places = (kinds + batch.counts).flatten()
            counts.flatten(0, 1).index_add_(0, places, right.repeat_interleave(len(COUNTED), dim=0))
        self.prior.copy_(_log_shares(prior, self.smoothing, dim=0))
        # The first row stands for padding and stays zero.
        self.words[1:] = _log_shares(words[1:], self.smoothing, dim=0)
        self.counts.copy_(_log_shares(counts, self.smoothing, dim=1))


def _log_shares(counts: Tensor, smoothing: float, dim: int) -> Tensor:
    """The log of each count's share of the sum along a dimension."""
    counts = counts + smoothing
    return counts.log() - counts.sum(dim=dim, keepdim=True).log()
