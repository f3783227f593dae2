"""Lesk's algorithm: the sense whose definition shares most words with the sentence, for many words at once.

Words of definitions are numbered by frequency. Matches of the most frequent are counted as common bits of two numbers,
those of the others in a table of contexts by words, made for so many contexts as a processor's cache holds.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import polars as pl
from numpy.typing import NDArray

from acidtest.text.choices import Asked, Choices, coded
from acidtest.text.glosses import Place, definitions, glosses_place
from acidtest.text.ranges import Ranges

MASKED = 64
"""How many words are compared as bits, those of an integer: two fifths of the words of all definitions."""
CELLS = 2**22
"""Size of the table of contexts by words, in bytes."""


def lesk(asked: Asked) -> pl.Series:
    """The sense whose definition shares most words with the context; of several, the one that WordNet lists first.

    Equal to ``nltk.wsd.lesk`` of NLTK 3.10: words are compared as they are written, with capitals and commas, and count
    once; ``a`` has no satellites. Lesk (1986) compares definitions with each other instead.
    """
    glosses = _gloss_words(glosses_place("wsd=lesk"))
    choices, contexts = Choices.of(asked, satellites=False), _Contexts.of(asked.contexts, glosses)
    rows = asked.rows.to_numpy()
    several = np.flatnonzero(choices.ranges.lengths(choices.questions) > 1)
    several = several[np.argsort(rows[several], kind="stable")]
    places = np.zeros(len(rows), dtype=np.int64)
    places[several] = _most_overlapping(
        contexts, _Signatures.of(choices, contexts, glosses), rows=rows[several], questions=choices.questions[several]
    )
    return choices.synsets(places)


@dataclass(frozen=True)
class _GlossWords:
    """The different words of definitions, numbered by frequency: those of synset ``s`` are a range of ``words``."""

    vocabulary: pl.DataFrame
    ranges: Ranges
    words: NDArray[np.int32]
    masks: NDArray[np.uint64]
    """Which of the most frequent words each definition has."""


@dataclass(frozen=True)
class _Contexts:
    """The words of contexts that definitions have too: the frequent ones in ``masks``, others as columns of a table."""

    masks: NDArray[np.uint64]
    ranges: Ranges
    columns: NDArray[np.int32]
    column_of: NDArray[np.int32]
    """The column of each word of definitions; -1 for those that are frequent or in no context."""
    width: int

    @classmethod
    def of(cls, contexts: pl.Series, glosses: _GlossWords) -> _Contexts:
        distinct, codes = coded(contexts.explode(empty_as_null=False, keep_nulls=False).fill_null(""))
        rows = np.repeat(np.arange(len(contexts), dtype=np.int32), contexts.list.len().fill_null(0).to_numpy())
        numbered = pl.DataFrame({"token": distinct}).join(
            glosses.vocabulary, on="token", how="left", maintain_order="left"
        )
        number_of = numbered["number"].fill_null(-1).to_numpy()
        column_of = np.full(int(glosses.words.max()) + 1, -1, dtype=np.int32)
        rare = np.sort(number_of[number_of >= MASKED])
        column_of[rare] = np.arange(len(rare), dtype=np.int32)
        numbers = number_of[codes]
        frequent = (numbers >= 0) & (numbers < MASKED)
        in_table = numbers >= MASKED
        return cls(
            _masks(rows[frequent], numbers[frequent], len(contexts)),
            Ranges.of_sorted(rows[in_table], len(contexts)),
            column_of[numbers[in_table]],
            column_of,
            max(1, len(rare)),
        )

    def table(self, block: range) -> NDArray[np.bool_]:
        """Whether each context of a block has each word of the columns."""
        table = np.zeros((len(block), self.width), dtype=bool)
        rows = np.arange(block.start, block.stop)
        table[np.repeat(rows - block.start, self.ranges.lengths(rows)), self.columns[self.ranges.joined(rows)]] = True
        return table


@dataclass(frozen=True)
class _Signatures:
    """What the definitions of choices have in common with any context at all."""

    choices: Ranges
    masks: NDArray[np.uint64]
    words: Ranges
    """For each question a range of ``columns``: the words of all its choices."""
    columns: NDArray[np.int32]
    places: NDArray[np.int32]
    """Of which of the question's choices each column is."""

    @classmethod
    def of(cls, choices: Choices, contexts: _Contexts, glosses: _GlossWords) -> _Signatures:
        questions = len(choices.ranges.starts) - 1
        question = np.repeat(np.arange(questions), np.diff(choices.ranges.starts))
        places = (np.arange(len(question)) - choices.ranges.starts[question]).astype(np.int32)
        owners = np.repeat(np.arange(len(question)), glosses.ranges.lengths(choices.numbers))
        columns = contexts.column_of[glosses.words[glosses.ranges.joined(choices.numbers)]]
        owners, columns = owners[columns >= 0], columns[columns >= 0]
        words = Ranges.of_sorted(question[owners], questions)
        return cls(choices.ranges, glosses.masks[choices.numbers], words, columns, places[owners])


def _most_overlapping(
    contexts: _Contexts, signatures: _Signatures, *, rows: NDArray[np.int64], questions: NDArray[np.int32]
) -> NDArray[np.int64]:
    """The place of the best choice of each question in its context, block by block; ``rows`` are sorted."""
    best = np.zeros(len(rows), dtype=np.int64)
    size = max(1, CELLS // contexts.width)
    for start in range(0, len(contexts.masks), size):
        block = range(start, min(start + size, len(contexts.masks)))
        part = slice(*np.searchsorted(rows, [block.start, block.stop]))
        if part.start < part.stop:
            best[part] = _best_in_block(contexts, signatures, block, rows=rows[part], questions=questions[part])
    return best


def _best_in_block(
    contexts: _Contexts,
    signatures: _Signatures,
    block: range,
    *,
    rows: NDArray[np.int64],
    questions: NDArray[np.int32],
) -> NDArray[np.int64]:
    own = Ranges.of_lengths(signatures.choices.lengths(questions))
    starts, choices = own.starts[:-1], signatures.choices.joined(questions)
    masks = np.repeat(contexts.masks.take(rows), np.diff(own.starts))
    frequent = np.bitwise_count(masks & signatures.masks.take(choices))
    words, counts = signatures.words.joined(questions), signatures.words.lengths(questions)
    cells = np.repeat((rows - block.start) * contexts.width, counts) + signatures.columns.take(words)
    hits = np.flatnonzero(contexts.table(block).ravel().take(cells))
    rare = np.bincount(
        np.repeat(starts, counts).take(hits) + signatures.places.take(words.take(hits)), minlength=len(choices)
    )
    # Of equals the first wins: where a choice stands is taken off below the overlap.
    best = np.maximum.reduceat((rare + frequent) * len(choices) - np.arange(len(choices)), starts)
    return -best % len(choices) - starts


def _masks(things: NDArray[np.integer], numbers: NDArray[np.integer], size: int) -> NDArray[np.uint64]:
    """One number for each thing, with a bit for each of its numbers below ``MASKED``."""
    masks = np.zeros(size, dtype=np.uint64)
    np.bitwise_or.at(masks, things, np.uint64(1) << numbers.astype(np.uint64))
    return masks


@cache
def _gloss_words(place: Place) -> _GlossWords:
    texts = definitions(place).str.split(" ")
    distinct, codes = coded(texts.explode(empty_as_null=False, keep_nulls=False))
    synsets = np.repeat(np.arange(len(texts)), texts.list.len().to_numpy())
    keys = np.sort(synsets * len(distinct) + codes)
    synsets, codes = np.divmod(keys[np.diff(keys, prepend=-1) > 0], len(distinct))
    order = np.argsort(-np.bincount(codes), kind="stable")
    number_of = np.argsort(order).astype(np.int32)
    numbers = number_of[codes]
    vocabulary = pl.DataFrame({"token": distinct, "number": number_of}).filter(pl.col("token") != "")
    frequent = numbers < MASKED
    masks = _masks(synsets[frequent], numbers[frequent], len(texts))
    return _GlossWords(vocabulary, Ranges.of_sorted(synsets, len(texts)), numbers, masks)
