"""KIM (Chen et al. 2018): ESIM with five WordNet features for each pair of aligned words.

Related words attract each other (``knowledge`` is the paper's λ), each word gets the features of the words it is
aligned to, and a third pooling weighs words by them. As in the authors' code, the features are also appended to the
input of the second BiLSTM. The script of that code leaves out λ and the third pooling; the paper has both and chooses λ
on a development set.

Synonymy, antonymy and a common hypernym are 1 or 0. Hypernymy is 1 − n / 8 where the second word lies n edges above the
first, hyponymy where it lies n edges below. All senses count, and a word is a synonym of itself. The authors lemmatise
in context; here a word has the senses of all lemmas that it may be a form of, and words with equal senses (*dog*,
*dogs*) share one kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl
import torch
from torch import Tensor, nn

from acidtest.english.wordnet import wordnet
from acidtest.zoo.architectures.word_attention import ESIMNetwork
from acidtest.zoo.batches import SentencePairs, SentenceTensors, WordVocabulary
from acidtest.zoo.layers import (
    Basis,
    attend,
    attention_weights,
    init_orthogonal,
    match_features,
    max_words,
    mean_words,
    perceptron,
)

FEATURES = ("synonym", "antonym", "hypernym", "hyponym", "co-hyponym")
"""The relations of the second word of a pair to the first."""

SWAPPED = tuple(FEATURES.index(name) for name in ("synonym", "antonym", "hyponym", "hypernym", "co-hyponym"))
"""The place of each feature after the two words are swapped."""

EDGES = 8
"""Hypernyms at this distance or further do not count."""

NO_KIND = 0
"""The kind of words that WordNet does not have."""

Ints = npt.NDArray[np.int64]

_DIFFERENT = pl.col("first") != pl.col("second")


@dataclass(frozen=True)
class RelationTable:
    """Related pairs of kinds of words as numbers ``first * size + second``, in ascending order.

    ``codes`` says how each pair is related: its row of ``feature_table``.
    """

    kinds: Ints
    """The kind of each word."""
    size: int
    """The number of kinds, ``NO_KIND`` included."""
    pairs: Ints
    codes: npt.NDArray[np.int16]


def feature_table() -> npt.NDArray[np.float32]:
    """float32[codes, features]: a code has one bit for each yes-or-no relation, and two numbers of edges."""
    codes = np.arange(EDGES * EDGES * 8)
    edges = np.arange(EDGES) / EDGES
    closeness = np.where(edges > 0, 1 - edges, 0)
    columns = {
        "synonym": codes & 1,
        "antonym": codes >> 1 & 1,
        "co-hyponym": codes >> 2 & 1,
        "hypernym": closeness[codes >> 3 & 7],
        "hyponym": closeness[codes >> 6 & 7],
    }
    return np.stack([columns[name] for name in FEATURES], axis=1).astype(np.float32)


def relate_words(words: Sequence[str]) -> RelationTable:
    """The relations between any two of these words."""
    senses, kinds = _word_kinds(words)
    synsets = senses.select("kind", "synset").unique()
    antonyms = senses.join(wordnet().relation("antonyms"), left_on="sense", right_on="source")
    below = synsets.join(wordnet().relation("hypernyms"), left_on="synset", right_on="source")
    siblings = _pairs(below, below, "target").filter(_DIFFERENT, pl.col("synset") != pl.col("synset_right"))
    above = synsets.join(_ancestors(), left_on="synset", right_on="source").select("kind", "edges", synset="target")
    hypernyms = _pairs(above, synsets, "synset").filter(_DIFFERENT)
    hypernyms = hypernyms.group_by("first", "second").agg(pl.col("edges").min())
    size = int(kinds.max(initial=NO_KIND)) + 1
    number = pl.col("first").cast(pl.Int64) * size + pl.col("second")
    related = [
        (_pairs(synsets, synsets, "synset"), pl.lit(1)),
        (_pairs(antonyms.select("kind", sense="target"), senses, "sense"), pl.lit(2)),
        (siblings, pl.lit(4)),
        (hypernyms, pl.col("edges") * 8),
        (hypernyms.rename({"first": "second", "second": "first"}), pl.col("edges") * 64),
    ]
    coded = pl.concat([pairs.select(pair=number, code=code.cast(pl.Int16)).unique() for pairs, code in related])
    # Relations do not share bits, so their codes add up.
    coded = coded.group_by("pair").agg(pl.col("code").sum().cast(pl.Int16)).sort("pair")
    return RelationTable(kinds, size, coded["pair"].to_numpy(), coded["code"].to_numpy())


def _word_kinds(words: Sequence[str]) -> tuple[pl.DataFrame, Ints]:
    """The senses of each kind of words, columns kind, sense and synset, and the kind of each word."""
    senses = wordnet().sense_frame(pl.Series(words, dtype=pl.String)).select("word", "sense", "synset").unique()
    sense_list = pl.col("sense").sort().cast(pl.String).str.join(" ")
    kinds = senses.group_by("word").agg(sense_list).with_columns(kind=pl.col("sense").rank("dense")).drop("sense")
    of_words = pl.DataFrame({"word": words}, schema={"word": pl.String}).join(
        kinds, on="word", how="left", maintain_order="left"
    )
    of_kinds = senses.join(kinds, on="word").select("kind", "sense", "synset").unique()
    return of_kinds, of_words["kind"].fill_null(NO_KIND).to_numpy().astype(np.int64)


def _pairs(left: pl.DataFrame, right: pl.DataFrame, on: str) -> pl.DataFrame:
    """Pairs of kinds, columns first and second among others, that share a value of a column."""
    return left.rename({"kind": "first"}).join(right.rename({"kind": "second"}), on=on)


def _ancestors() -> pl.DataFrame:
    """The ancestors of each synset fewer than ``EDGES`` edges away: columns source, target and edges."""
    # Instances have another relation in WordNet, which the paper leaves out.
    step = wordnet().relation("hypernyms").select("source", "target")
    steps = [step]
    for _ in range(2, EDGES):
        further = steps[-1].join(step, left_on="target", right_on="source").select("source", target="target_right")
        steps.append(further.unique())
    return pl.concat([part.with_columns(edges=pl.lit(edges)) for edges, part in enumerate(steps, start=1)])


class Relations(nn.Module):
    """WordNet's features of every word of a premise with every word of a hypothesis, looked up on the device."""

    kinds: Tensor
    pairs: Tensor
    codes: Tensor
    features: Tensor
    swapped: Tensor

    def __init__(self, vocabulary: WordVocabulary) -> None:
        super().__init__()
        table = relate_words(vocabulary.words)
        self._size = table.size
        # A number that no pair has comes last, so that a search always finds a place.
        buffers = {
            "kinds": table.kinds,
            "pairs": np.append(table.pairs, np.iinfo(np.int64).max),
            "codes": np.append(table.codes, np.int16(0)),
            "features": feature_table(),
            "swapped": np.array(SWAPPED),
        }
        for name, values in buffers.items():
            self.register_buffer(name, torch.from_numpy(values), persistent=False)

    def forward(self, batch: SentencePairs) -> Tensor:
        """float[n, premise words, hypothesis words, features]."""
        premise, hypothesis = self.kinds[batch.premise.words], self.kinds[batch.hypothesis.words]
        pairs = premise[:, :, None] * self._size + hypothesis[:, None]
        places = torch.searchsorted(self.pairs, pairs)
        codes = torch.where(self.pairs[places] == pairs, self.codes[places], 0)
        return self.features[codes.long()]


class KIMNetwork(ESIMNetwork):
    """ESIM's steps, each with WordNet's features of the words.

    ``hidden`` is the size of each direction, ``knowledge`` how much related words attract each other.
    """

    features = len(FEATURES)
    poolings = 3

    def __init__(self, basis: Basis, *, hidden: int = 300, knowledge: float = 1.0, dropout: float = 0.5) -> None:
        super().__init__(basis, hidden=hidden, dropout=dropout)
        self.relations = Relations(basis.vocabulary)
        self.weigh = perceptron([len(FEATURES), 1])
        init_orthogonal(self.weigh)
        self._attraction = knowledge

    def forward(self, batch: SentencePairs) -> Tensor:
        premise, hypothesis = self.encode(batch.premise), self.encode(batch.hypothesis)
        features = self.relations(batch)
        weights = premise @ hypothesis.transpose(1, 2) + self._attraction * (features != 0).any(dim=-1)
        to_hypothesis = attention_weights(weights, batch.hypothesis.mask)
        to_premise = attention_weights(weights.transpose(1, 2), batch.premise.mask)
        of_premise = torch.einsum("nph,nphk->npk", to_hypothesis, features)
        of_hypothesis = torch.einsum("nhp,nphk->nhk", to_premise, features)
        of_hypothesis = of_hypothesis.index_select(-1, self.relations.swapped)
        pooled = [
            self._compose_with(premise, to_hypothesis @ hypothesis, of_premise, batch.premise),
            self._compose_with(hypothesis, to_premise @ premise, of_hypothesis, batch.hypothesis),
        ]
        scores: Tensor = self.head(torch.cat(pooled, dim=1))
        return scores

    def _compose_with(self, values: Tensor, aligned: Tensor, features: Tensor, sentence: SentenceTensors) -> Tensor:
        """Compose and pool a sentence, with the features of its words."""
        enhanced = self.project(torch.cat([match_features(values, aligned, signed=True), features], dim=-1))
        states = self.composer(torch.cat([self.dropout(enhanced), features], dim=-1), sentence)
        weighed = attend(self.weigh(features).transpose(1, 2), states, sentence.mask)
        return torch.cat([mean_words(states, sentence), max_words(states, sentence), weighed[:, 0]], dim=1)
