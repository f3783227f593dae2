"""What stands around the items of word lists in a text: which words, which tags, and what that makes of them."""

from __future__ import annotations

from functools import cache

import numpy as np
import polars as pl

from acidtest.io.wordlists import packaged_table
from acidtest.text.categories import category
from acidtest.text.occurrences import Places, TaggedTexts
from acidtest.text.slots import tags

NOUNS = ("NN", "NNS", "NNP", "NNPS")
_LISTED = ("DT", "PRP$", "JJ", "CD", *NOUNS)
_BOTH = (
    "outside",
    "inside",
    "near",
    "above",
    "below",
    "behind",
    "up",
    "down",
    "around",
    "across",
    "over",
    "under",
    "by",
)
"""What may be an adverb and a preposition."""
_MANY = ("these", "those", "many", "several", "few", "both", "various", "numerous")
_JOINS = ("and", "or", "nor", "&", "/", "plus")


class Surroundings:
    """What stands around occurrences."""

    def __init__(self, found: TaggedTexts, places: pl.DataFrame) -> None:
        self._found, self._places = found, places
        self._text = places["text"].to_numpy()
        self._first, self._last = places["first"].to_numpy(), places["last"].to_numpy()
        self._slot = places["slot"]
        self._cased = places["item"].str.contains(r"^\p{Lu}")
        self._is_noun = self._slot.is_in(["singular", "plural", "mass", "only plural"])

    def word(self, step: int) -> pl.Series:
        """The word so many places after the occurrence, or before it."""
        return self._found.words(self._place(step), of=self._text)

    def tag(self, step: int) -> pl.Series:
        """The tag of that word."""
        return self._found.tags(self._place(step), of=self._text)

    def head_words(self) -> pl.Series:
        """The noun that an adjective goes with across another: *male* between *young* and *child*."""
        across = (self._slot == "adjective") & self.tag(1).is_in(["JJ", *NOUNS]) & self.tag(2).is_in(NOUNS)
        return pl.select(pl.when(across).then(self.word(2)).otherwise(pl.lit(""))).to_series()

    def is_of_its_kind(self) -> pl.Series:
        """Whether an occurrence has a tag that its form may have."""
        own = self._found.tags(self._last, of=self._text)
        several = pl.Series(self._last > self._first)
        fits = pl.Series([tag in tags(slot) for tag, slot in zip(own, self._slot, strict=True)], dtype=pl.Boolean)
        opens = (self._opens() | self._cased) & own.is_in(["NNP", "NNPS"])
        several &= self._slot.is_in(["preposition", "adverb", "adjective"])
        # "Outside the door" has a preposition that may be tagged as an adverb.
        bare = (self._slot == "preposition") & ~self.tag(1).is_in([*_LISTED, "PRP", "VBG"])
        governs = (self._slot == "adverb") & self.word(0).is_in(_BOTH) & self.tag(1).is_in(_LISTED)
        return (fits | opens | several) & ~governs & ~bare & ~self._has_another_number()

    def _has_another_number(self) -> pl.Series:
        """Whether *a* stands before a mass, or a number before a single thing: *ninety sheep*."""
        near = [(self.word(-step), self.tag(-step)) for step in (1, 2, 3)]
        adjectives = pl.Series(np.ones(len(self._first), dtype=bool))
        single, many = adjectives & False, adjectives & False
        for word, tag in near:
            single |= adjectives & word.is_in(["a", "an"])
            many |= adjectives & (((tag == "CD") & (word != "one")) | word.is_in(_MANY))
            adjectives &= tag == "JJ"
        return ((self._slot == "mass") & single) | ((self._slot == "singular") & many)

    def is_name(self) -> pl.Series:
        """Whether it is part of a name: capitals inside a sentence, or a name beside it."""
        written = self._found.frame["token"].gather(self._first)
        entity = self._found.frame["entity"].gather(self._first)
        capital = written.str.contains(r"^\p{Lu}")
        own = capital & ~self._opens() & ~self._cased
        beside = self.tag(1).is_in(["NNP", "NNPS"]) | (self.tag(-1).is_in(["NNP", "NNPS"]) & ~self._opens(1))
        people = entity.is_in(["PERSON", "ORGANIZATION"]).fill_null(value=False)
        return own | ((self._cased | capital | self._is_noun) & beside) | people

    def is_compound(self) -> pl.Series:
        """Whether another noun goes with it; an adjective needs one, a name may have none."""
        after, before = self.tag(1).is_in(NOUNS), self.tag(-1).is_in(NOUNS)
        hyphen = self.word(1).is_in(["-", "/", "'"]) | self.word(-1).is_in(["-", "/"])
        name = (self._slot == "name") & (after | (self.tag(1) == "JJ"))
        noun = (self._is_noun & (after | before)) | name
        predicate = self._anchor_is_be() & ~self.tag(1).is_in(["CD", "DT"])
        adjective = (self._slot == "adjective") & ~(after | self.tag(1).is_in(["JJ"]) | predicate)
        return noun | adjective | hyphen

    def is_bare(self) -> pl.Series:
        """Whether one thing stands without article, owner or number: *plays guitar*, but not *Dog in the snow*."""
        left = self._first - 1
        span = left - self.anchor()
        inside = [
            self.tag(-step).is_in(["DT", "PRP$", "CD", "POS", "PDT"]) & pl.Series(span >= step) for step in (1, 2, 3, 4)
        ]
        opens = self._found.words(self.anchor(), of=self._text).is_in(["", ".", "!", "?"])
        return (self._slot == "singular") & ~(inside[0] | inside[1] | inside[2] | inside[3] | opens)

    def is_described(self) -> pl.Series:
        """Whether an adjective goes with it that may not go with others of its kind: a paved courtyard."""
        span = self._first - 1 - self.anchor()
        flags = pl.Series(np.zeros(len(span), dtype=bool))
        for step in (1, 2, 3):
            inside = pl.Series(span >= step) & self.tag(-step).is_in(["JJ", "VBN", "VBG"])
            flags |= inside & ~self.word(-step).is_in(_common_adjectives().implode())
        return flags & self._is_noun

    def is_listed(self) -> pl.Series:
        """Whether it is joined to something by *and* or a comma: *a dog, a cat and a bird*."""
        join, comma = self.word(1).is_in(_JOINS), self.word(1) == ","
        goes_on = self.tag(2).is_in(_LISTED) | self.word(2).is_in(_JOINS) | (self._slot == "adjective")
        verbal = self._slot.is_in(["base", "third", "gerund", "past", "participle"])
        before = self.anchor_words().is_in([*_JOINS, ","]) & ~verbal
        return ((join | comma) & (goes_on | verbal)) | before | (self.word(-1).is_in(_JOINS) & verbal)

    def is_graded(self) -> pl.Series:
        """Whether a superlative or comparative goes with it: the biggest dog is not the biggest cat."""
        near = [self.tag(step).is_in(["JJR", "JJS", "RBR", "RBS"]) for step in (-3, -2, -1, 1)]
        return near[0] | near[1] | near[2] | near[3]

    def _place(self, step: int) -> Places:
        """So many places after the last word, or before the first; 0 is the first."""
        return self._last + step if step > 0 else self._first + step

    def _opens(self, further: int = 0) -> pl.Series:
        """Whether an occurrence, or a word some places before it, begins its text or a sentence of it."""
        place = self._first - further
        before = self._found.words(place - 1, of=self._text)
        return before.is_in(["", ".", "!", "?"])

    def anchor(self) -> Places:
        """The place of the word each occurrence depends on, -1 for none."""
        left = self._first - 1
        return np.where(left >= 0, self._found.anchors[np.maximum(left, 0)], -1)

    def anchor_words(self) -> pl.Series:
        """The word each occurrence depends on."""
        return self._found.words(self.anchor(), of=self._text)

    def _anchor_is_be(self) -> pl.Series:
        return self.anchor_words().is_in(["is", "are", "was", "were", "'s", "'re", "be", "been", "being", "am"])


@cache
def _common_adjectives() -> pl.Series:
    """Adjectives that nearly everything may have: sizes, ages, colours."""
    return pl.concat([packaged_table("lexical/adjectives.tsv")["adjective"], category("colours").items["item"]])
