"""The sense a word has in a sentence, for many words at once: the first in WordNet, or the choice of Lesk's algorithm.

A method is a function in ``WAYS`` from contexts, words and parts of speech to synsets, null for a word that WordNet
does not have. Lesk's takes the sense whose definition shares most words with the sentence: words of definitions are
numbered by frequency; matches of the most frequent are counted as common bits of two numbers, those of the others in a
table of contexts by words, made for as many contexts as a processor's cache holds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
import polars as pl
from numpy.typing import NDArray

from acidtest.core.errors import AcidtestError, UnknownNameError
from acidtest.text.glosses import WordNetFolder, definitions, require_glosses
from acidtest.text.wordnet import ALL_POS, SATELLITE, Ranges, check_pos, wordnet

ANY = "any"
"""Asks for every part of speech."""
WANTED = pl.Enum([*ALL_POS.categories, ANY])

MASKED = 64
"""How many words are compared as bits, those of an integer: two fifths of the words of all definitions."""
CELLS = 2**22
"""Size of the table of contexts by words, in bytes."""


def senses(
    way: str,
    contexts: pl.Series,
    words: pl.Series,
    *,
    pos: pl.Series | str | None = None,
    rows: pl.Series | None = None,
) -> pl.Series:
    """The synset of each word in its context, by number; null for a word that WordNet has in no form.

    ``contexts`` are lists of tokens, one for each word; with ``rows``, that of word ``i`` is number ``rows[i]``, so
    that a sentence is given once for all its words. ``pos`` is n, v, a, s or r, for all words or for each; None, or
    null, is any.
    """
    if way not in WAYS:
        raise UnknownNameError("way to choose a sense", way, WAYS)
    rows = pl.int_range(len(contexts), eager=True) if rows is None else rows
    parts = pos if isinstance(pos, pl.Series) else pl.Series([pos], dtype=pl.String)
    check_pos(*parts.unique())
    if len(rows) != len(words) or (isinstance(pos, pl.Series) and len(pos) != len(words)):
        raise AcidtestError(f"{len(words):,} words need as many contexts or rows, and as many parts of speech")
    if len(rows) and not rows.is_between(0, len(contexts) - 1).all():
        raise AcidtestError(f"rows are numbers of contexts, here from 0 to {len(contexts) - 1:,}")
    parts = parts.cast(pl.String).fill_null(ANY).cast(WANTED)
    if not isinstance(pos, pl.Series):
        parts = parts.new_from_index(0, len(words))
    return WAYS[way](SenseQuestions(contexts, words.fill_null(""), parts, rows.cast(pl.Int64))).alias("synset")


def first_sense(query: SenseQuestions) -> pl.Series:
    """The sense that WordNet lists first, the most frequent in SemCor; of open part of speech, nouns go first."""
    return SenseChoices.of(query, satellites=True).synsets(np.zeros(len(query.words), dtype=np.int64))


@dataclass(frozen=True)
class SenseQuestions:
    """Words whose sense is wanted: contexts are lists of tokens, and ``rows`` says which context each word has."""

    contexts: pl.Series
    words: pl.Series
    pos: pl.Series
    """One of ``WANTED`` for each word."""
    rows: pl.Series


@dataclass(frozen=True)
class SenseChoices:
    """The synsets each word may have: those of question ``q`` are a range of ``numbers``, in WordNet's order."""

    questions: NDArray[np.int32]
    """Which of the different questions, a word with its part of speech, each word asks."""
    ranges: Ranges
    numbers: NDArray[np.int32]

    @classmethod
    def of(cls, query: SenseQuestions, *, satellites: bool) -> SenseChoices:
        """The choices for each word; ``satellites`` says whether they are adjectives when ``a`` is asked for."""
        distinct, words = encode(query.words)
        parts = WANTED.categories
        codes = words * len(parts) + query.pos.to_physical().to_numpy()
        used = np.zeros(len(distinct) * len(parts), dtype=bool)
        used[codes] = True
        number_of = np.cumsum(used, dtype=np.int32) - 1
        word, part = np.divmod(np.flatnonzero(used), len(parts))
        questions = pl.DataFrame({"word": distinct.gather(word), "wanted": parts.gather(part)})
        known = wordnet().sense_frame(distinct).select("word", "pos", "synset")
        rows = questions.with_row_index("question").join(known, on="word", maintain_order="left_right")
        pos, wanted = pl.col("pos").cast(pl.String), pl.col("wanted")
        rows = rows.filter((wanted == ANY) | (wanted == pos) | (satellites & (wanted == "a") & (pos == SATELLITE)))
        ranges = Ranges.of_sorted(rows["question"].to_numpy(), questions.height)
        return cls(number_of[codes], ranges, rows["synset"].to_numpy())

    def synsets(self, places: NDArray[np.int64]) -> pl.Series:
        """The synset at one place of the choices of each word; null where there are none."""
        none = self.ranges.lengths(self.questions) == 0
        at = np.where(none, len(self.numbers), self.ranges.starts[self.questions] + places)
        return pl.Series(np.append(self.numbers, 0)[at]).set(pl.Series(none), None)


def encode(values: pl.Series) -> tuple[pl.Series, NDArray[np.int32]]:
    """The different values, none of them null, and for each value its place among them."""
    categories = values.cast(pl.Categorical(pl.Categories.random()))
    distinct = categories.unique()
    codes = distinct.to_physical().to_numpy()
    place_of = np.zeros(int(codes.max(initial=0)) + 1, dtype=np.int32)
    place_of[codes] = np.arange(len(codes), dtype=np.int32)
    return distinct.cast(pl.String), place_of[categories.to_physical().to_numpy()]


def lesk(query: SenseQuestions) -> pl.Series:
    """The sense whose definition shares most words with the context; of several, the one that WordNet lists first.

    Equal to ``nltk.wsd.lesk`` of NLTK 3.10: words are compared as they are written, with capitals and commas, and count
    once; ``a`` has no satellites. Lesk (1986) compares definitions with each other instead.
    """
    glosses = _gloss_words(require_glosses("wsd=lesk"))
    choices, contexts = SenseChoices.of(query, satellites=False), _Contexts.of(query.contexts, glosses)
    rows = query.rows.to_numpy()
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
        distinct, codes = encode(contexts.explode(empty_as_null=False, keep_nulls=False).fill_null(""))
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
            _bit_masks(rows[frequent], numbers[frequent], len(contexts)),
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
    def of(cls, choices: SenseChoices, contexts: _Contexts, glosses: _GlossWords) -> _Signatures:
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
    choice_ranges = Ranges.of_lengths(signatures.choices.lengths(questions))
    starts, choices = choice_ranges.starts[:-1], signatures.choices.joined(questions)
    masks = np.repeat(contexts.masks.take(rows), np.diff(choice_ranges.starts))
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


def _bit_masks(things: NDArray[np.integer], numbers: NDArray[np.integer], size: int) -> NDArray[np.uint64]:
    """One number for each thing, with a bit for each of its numbers below ``MASKED``."""
    masks = np.zeros(size, dtype=np.uint64)
    np.bitwise_or.at(masks, things, np.uint64(1) << numbers.astype(np.uint64))
    return masks


@cache
def _gloss_words(place: WordNetFolder) -> _GlossWords:
    texts = definitions(place).str.split(" ")
    distinct, codes = encode(texts.explode(empty_as_null=False, keep_nulls=False))
    synsets = np.repeat(np.arange(len(texts)), texts.list.len().to_numpy())
    keys = np.sort(synsets * len(distinct) + codes)
    synsets, codes = np.divmod(keys[np.diff(keys, prepend=-1) > 0], len(distinct))
    order = np.argsort(-np.bincount(codes), kind="stable")
    number_of = np.argsort(order).astype(np.int32)
    numbers = number_of[codes]
    vocabulary = pl.DataFrame({"token": distinct, "number": number_of}).filter(pl.col("token") != "")
    frequent = numbers < MASKED
    masks = _bit_masks(synsets[frequent], numbers[frequent], len(texts))
    return _GlossWords(vocabulary, Ranges.of_sorted(synsets, len(texts)), numbers, masks)


WAYS: dict[str, Callable[[SenseQuestions], pl.Series]] = {"first": first_sense, "lesk": lesk}
"""The ways to choose a sense, by name."""
