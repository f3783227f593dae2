"""What the rules of the tagger look at: how alike two sentences are, and what stands in one and not in the other."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from acidtest.text.names import is_given_name, is_place_name
from acidtest.text.number_words import PATTERN
from acidtest.text.taxonomy_tags_order import likeness
from acidtest.text.taxonomy_tags_tokens import PairTokens
from acidtest.text.tokens import Flags
from acidtest.text.word_relations import Meanings
from acidtest.text.wordnet import wordnet

RELATED = 0.2
"""Likeness from which the words of two sentences are compared with each other."""

_MOST = 40
"""Words that only one of two sentences has, up to which they are: every one is compared with every one."""

_YEAR = r"^(?:1\d|20)\d\ds?$|^\d+(?:st|nd|rd|th)$|^\d\d?:\d\d$"

Shares = NDArray[np.float64]


@dataclass(frozen=True)
class Evidence:
    """What can be told of some pairs; each is found when a rule first asks for it."""

    tokens: PairTokens

    @cached_property
    def likeness(self) -> Shares:
        """How much two sentences are the same words in the same order, from 0 to 1."""
        return likeness(self.tokens)

    @cached_property
    def novelty(self) -> Shares:
        """The share of a hypothesis's content words that the premise does not have."""
        told = self.tokens
        new, every = (told.counted(flags)[1] for flags in (told.content & ~told.shared, told.content))
        return np.asarray(new / np.maximum(every, 1))

    @cached_property
    def negated(self) -> Flags:
        """Which hypotheses negate more often than their premise."""
        premise, hypothesis = self.tokens.counted(self.tokens.negator)
        return np.asarray(hypothesis > premise)

    @cached_property
    def times(self) -> Flags:
        """Tokens that are years, clock times, dates or units of time."""
        return self.tokens.fits(_YEAR) | self.tokens.cues("time-unit", "time-name", "era")

    @cached_property
    def dates(self) -> Flags:
        """The times that say when or how long: years, hours, and units with a number before them or like *ago*."""
        told = self.tokens
        amount = told.fits(rf"^(?:\d.*|{PATTERN})$") | told.cues("some")
        return told.fits(_YEAR) | told.cues("era") | (self.times & told.near(amount, -2, -1))

    @cached_property
    def names(self) -> Flags:
        """Tokens that are part of a name: capitals within a sentence, or a name of a list at its beginning.

        Months and days are none, nor is what may be a function word, as *Will* is.
        """
        told = self.tokens
        written = told.words.str.to_titlecase()
        listed = (is_given_name(written) | is_place_name(written))[told.token] & told.content
        return (told.capital | (told.opening & listed)) & ~told.cues("time-name") & ~told.fits(r"^.$")

    @cached_property
    def places(self) -> Flags:
        """Tokens that name a place or a kind of place."""
        told = self.tokens
        named = is_place_name(told.words.str.to_titlecase())[told.token]
        return (told.capital & named) | told.cues("place-noun")

    @cached_property
    def superlatives(self) -> Flags:
        """Tokens such as *best* and *oldest* after *the*."""
        told = self.tokens
        forms = wordnet().base_form_frame(told.words.filter(told.words.str.ends_with("est")), "a")
        inflected = forms.filter(pl.col("base") != pl.col("word"))["word"].to_list()
        return (told.cues("superlative") | told.among(inflected)) & told.beside(told.among(["the"]), -1)

    @cached_property
    def conditions(self) -> Flags:
        """Tokens that begin a condition: *if*, but not where it means *whether*, and *unless*, *as long as*."""
        told = self.tokens
        whether = told.near(told.cues("asking"), -2, -1) | told.beside(told.among(["as"]), -1)
        idle = told.beside(told.among(["any", "anything", "at", "ever"]), 1)
        return told.cues("condition") & ~(told.among(["if"]) & (whether | idle))

    @cached_property
    def opposed(self) -> Flags:
        """Which related pairs have a word in one sentence and its antonym in the other, each only there."""
        return self._are(self._exchanged.filter(pl.col("relation") == "antonym"))

    @cached_property
    def subsumed(self) -> Flags:
        """Which related pairs have a noun in one sentence and a wider or narrower one in the other, each only there.

        Nouns count in their most frequent sense; words as wide as *thing* do not.
        """
        kinds = ("hyponym", "hypernym")
        frame, table = self._exchanged.filter(pl.col("relation").is_in(kinds)), self._meanings.table
        nouns = (wordnet().synset_table["pos"] == "n").gather(table["synset"])
        meanings = replace(self._meanings, table=table.filter(nouns)).frequent(1)
        relation = meanings.relations(frame["here"].to_numpy(), frame["there"].to_numpy(), edges=0)
        return self._are(frame.filter(relation.is_in(kinds)))

    @cached_property
    def _meanings(self) -> Meanings:
        return Meanings.of(self.tokens.words)

    @cached_property
    def _exchanged(self) -> pl.DataFrame:
        """Content words only in the premise beside those only in the hypothesis: row, here, there and relation."""
        told = self.tokens
        wanted = told.content & ~told.shared & (self.likeness >= RELATED)[told.row] & ~told.cues("no-kind")
        few = np.maximum(*told.counted(wanted)) <= _MOST
        wanted &= few[told.row]
        sides = [
            pl.DataFrame({"row": told.row[flags], name: told.token[flags]}).unique(maintain_order=True)
            for name, flags in (("here", wanted & ~told.in_hypothesis), ("there", wanted & told.in_hypothesis))
        ]
        pairs = sides[0].join(sides[1], on="row")
        relation = self._meanings.relations(pairs["here"].to_numpy(), pairs["there"].to_numpy(), edges=0)
        return pairs.with_columns(relation.cast(pl.String))

    def _are(self, frame: pl.DataFrame) -> Flags:
        """Which pairs have a row in a frame."""
        are: Flags = np.bincount(frame["row"].to_numpy(), minlength=self.tokens.rows) > 0
        return are
