"""Plain sentences about things few premises speak of, and which of them have nothing to do with a pair.

None is about people or animals, denies anything, or speaks of everything, so that a text with them still says what it
said before. ``data/ladder/topics.tsv`` has words that rule out a whole topic.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np
import polars as pl
from numpy.typing import NDArray

from acidtest.core.digests import digests
from acidtest.core.draws import U64, Draws, mix_bits
from acidtest.io.wordlists import packaged_table
from acidtest.text.clauses import function_words
from acidtest.text.wordnet import wordnet

Numbers = NDArray[np.int64]

_WORD = re.compile(r"[^\W_]{2,}")


@dataclass(frozen=True)
class Filler:
    """The sentences, how many words each has, and which of them a word in a pair rules out."""

    sentences: tuple[str, ...]
    lengths: Numbers
    keys: U64
    topics: U64
    """A number that stands for the topic of each sentence."""
    of_word: Mapping[str, Numbers]
    """Sentences that have a word, in any form, or are of a topic that it names."""
    of_kind: Mapping[str, Numbers]
    """Sentences that name something of a kind: of *liquid*, one about brine."""

    def unrelated(self, premise: str, hypothesis: str) -> Numbers:
        """The sentences that share no content word with a pair and name nothing of a kind its hypothesis names."""
        free = np.ones(len(self.sentences), dtype=np.bool_)
        named = content_words(hypothesis)
        for word in content_words(premise) | named:
            free[self.of_word.get(word, [])] = False
        for word in named:
            free[self.of_kind.get(word, [])] = False
        return np.flatnonzero(free)

    def ordered(self, sentences: Numbers, key: np.uint64, *, draws: Draws, lap: int = 0) -> Numbers:
        """Sentences topic by topic, topics and what is in them in an order that is drawn for a key."""
        row = mix_bits(np.full(len(sentences), key, dtype=np.uint64))
        topic = draws.bits(row ^ self.topics[sentences], "topic", lap)
        return sentences[np.lexsort((draws.bits(row ^ self.keys[sentences], "sentence", lap), topic))]


@cache
def filler() -> Filler:
    """The packaged sentences."""
    table, topics = packaged_table("ladder/filler.tsv"), packaged_table("ladder/topics.tsv")
    texts, names = table["sentence"].to_list(), table["topic"]
    by_topic = dict(zip(topics["topic"], topics["words"], strict=True))
    words = [content_words(text) for text in texts]
    subjects = [content_words(by_topic[name]) for name in names]
    return Filler(
        sentences=tuple(texts),
        lengths=table["sentence"].str.split(" ").list.len().to_numpy().astype(np.int64),
        keys=digests(table["sentence"]),
        topics=digests(names),
        of_word=_places([sentence_words | subject for sentence_words, subject in zip(words, subjects, strict=True)]),
        of_kind=_places([{kind for word in sentence_words for kind in _kinds(word)} for sentence_words in words]),
    )


def content_words(text: str) -> set[str]:
    """The words of a text but function words, in lower case, each also in its base forms."""
    words = (word for word in _WORD.findall(text.lower()) if word not in function_words())
    return {form for word in words for form in _forms(word)}


def _places(words: list[set[str]]) -> dict[str, Numbers]:
    rows = pl.DataFrame({"word": [sorted(word_set) for word_set in words]}).with_row_index("row").explode("word")
    grouped = rows.drop_nulls().group_by("word").agg(pl.col("row").cast(pl.Int64))
    return {word: np.array(places, dtype=np.int64) for word, places in grouped.iter_rows()}


@cache
def _forms(word: str) -> frozenset[str]:
    return frozenset((word, *wordnet().base_forms(word)))


@cache
def _kinds(word: str) -> frozenset[str]:
    """What a noun is a kind of, in its commonest sense."""
    return frozenset(_general(word))


def _general(word: str) -> Iterator[str]:
    net = wordnet()
    for synset in net.synsets(word, "n")[:1]:
        for path in net.hypernym_paths(synset):
            yield from (lemma.lower() for ancestor in path for lemma in net.lemmas(ancestor))
