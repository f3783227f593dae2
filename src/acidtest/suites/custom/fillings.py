"""Fills the slots of several sentences with the same words: in a keyed random order, and without repetition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from string import ascii_uppercase

import numpy as np
import polars as pl

from acidtest.core.draws import Draws
from acidtest.english.templates import Grammar, Lexicon, Template, Word
from acidtest.suites.custom.slots import DrawnWords, ListedWord, SlottedSentence

_FIXED = "x"
"""A leaf without a slot, for sentences that have none."""


def fill_sentences(
    sentences: Mapping[str, SlottedSentence],
    words: Mapping[str, Sequence[ListedWord]],
    wanted: int,
    draws: Draws,
    *,
    different: Sequence[Sequence[str]],
) -> pl.DataFrame:
    """The first ``wanted`` fillings of some sentences in the order of a keyed permutation, or all there are.

    A row has the sentences by their names, all with the same words, of which none is drawn for two slots. ``words`` are
    those of each slot. Sentences that ``different`` names together are never the same in two rows. Of a slot whose list
    has parts, the part that the word is from becomes a column, too.
    """
    grammar = _grammar(words)
    tries, fillings = wanted, int(grammar.fillings[0])
    while True:
        frame = _render(sentences, words, grammar, min(tries, fillings), draws)
        for names in different:
            frame = frame.unique(names, keep="first", maintain_order=True)
        if frame.height >= wanted or tries >= fillings:
            return frame.head(wanted)
        tries *= 2


def _grammar(words: Mapping[str, Sequence[ListedWord]]) -> Grammar:
    """The grammar whose only variant is the slots; the fixed words of the sentences have no part in the draw."""
    names = _slot_names(words)
    tree = f"(S {' '.join([_FIXED, *names.values()])})"
    listed = {name: [Word(word.text, lemma=word.text.lower()) for word in words[draw]] for draw, name in names.items()}
    return Grammar([Template(tree, tree)], {}, Lexicon(listed))


def _slot_names(words: Mapping[str, Sequence[ListedWord]]) -> dict[str, str]:
    """A name for each slot as the grammar writes them: A, B, …, AA, AB, …"""
    letters = ["", *ascii_uppercase]
    names = (first + second for first in letters for second in ascii_uppercase)
    return dict(zip(words, names, strict=False))


def _render(
    sentences: Mapping[str, SlottedSentence],
    words: Mapping[str, Sequence[ListedWord]],
    grammar: Grammar,
    count: int,
    draws: Draws,
) -> pl.DataFrame:
    """The sentences of the first fillings that do not draw a word twice."""
    filled = grammar.filled(np.array([count]), draws)
    drawn = {
        draw: DrawnWords(words[draw], filled.premise[:, column] - grammar.tokens.start(name))
        for column, (draw, name) in enumerate(_slot_names(words).items(), start=1)
    }
    rows = len(filled.variant)
    parts = {
        draw: pl.Series([word.part for word in chosen.words]).gather(chosen.numbers)
        for draw, chosen in drawn.items()
        if any(word.part for word in chosen.words)
    }
    return pl.DataFrame({name: sentence.render(drawn, rows) for name, sentence in sentences.items()} | parts)
