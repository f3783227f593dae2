"""A tagger without downloads: the lexicon and rules of Brill's tagger as textblob carries them, and our own."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import polars as pl

from acidtest.io.wordlists import packaged_table
from acidtest.text.context import FARTHEST, NUMBER, TAGS, Line, Rule, Tags, brill_rule, changed, rule
from acidtest.text.lexicon import CONTEXT, readings, textblob_lines
from acidtest.text.names import is_given_name, is_place_name
from acidtest.text.tokens import Flags, Placed, following, numbered, preceding

VERSION = 1
"""Goes up when a tag changes: suites that rest on tags carry it."""


@dataclass(frozen=True)
class Tagged:
    """A tag for every token, as a row of ``TAGS``."""

    number: Tags

    @property
    def names(self) -> pl.Series:
        """The Penn tags."""
        return pl.Series("tag", TAGS).gather(self.number)


def light_tags(placed: Placed) -> Tagged:
    """The Penn tag of every token."""
    line, inside = _line(placed)
    return Tagged(_quotes(placed, changed(line, _rules())[inside]))


def _line(placed: Placed) -> tuple[Line, Flags]:
    """The tokens with room between the sentences, tagged each by itself, and which of the places are tokens."""
    words, lower = numbered(placed.words.str.to_lowercase())
    inner, first = (readings(placed.words, initial=initial) for initial in (False, True))
    place = np.arange(len(placed.word)) + FARTHEST * np.cumsum(placed.initial)
    size = len(place) + FARTHEST * (int(placed.initial.sum()) + 1)
    inside = np.zeros(size, np.bool_)
    inside[place] = True
    tag, word, may = np.zeros(size, np.uint8), np.full(size, len(words)), np.zeros(size, np.uint64)
    tag[place] = _with_names(placed, np.where(placed.initial, first.tag[placed.word], inner.tag[placed.word]))
    may[place] = np.where(placed.initial, first.may[placed.word], inner.may[placed.word])
    word[place] = lower[placed.word]
    return Line(tag, word, may, words), inside


def own_rules() -> list[Rule]:
    """Rules of our own; data/PROVENANCE.md tells how they were found."""
    return [rule(*cells) for cells in packaged_table("tagging/rules.tsv").select("old", "new", "when").iter_rows()]


@cache
def _rules() -> tuple[Rule, ...]:
    """Brill's rules, then ours."""
    theirs = (brill_rule(line) for line in textblob_lines(CONTEXT))
    return (*(each for each in theirs if each is not None), *own_rules())


def _with_names(placed: Placed, tag: Tags) -> Tags:
    """The tags, names among them: every one within a sentence, the first word ("Bill has", "China is") by the next."""
    given, place = is_given_name(placed.words)[placed.word], is_place_name(placed.words)[placed.word]
    goes_on = np.isin(tag, [NUMBER[each] for each in ("VBZ", "VBD", "MD", "POS", "NNP")])
    # "Ram and Krishna start".
    joined = np.equal(tag, NUMBER["CC"]) & following(given)
    noun = np.isin(tag, [NUMBER[each] for each in ("NN", "NNS", "JJ")])
    named = given & (~placed.initial | following(goes_on | joined))
    named |= place & ~(placed.initial & following(noun))
    return np.where(named, NUMBER["NNP"], tag).astype(np.uint8)


def _quotes(placed: Placed, tag: Tags) -> Tags:
    """The tags, with straight quotes told apart: one that opens has no token right before it."""
    straight = placed.words.is_in(['"', "'"]).to_numpy()[placed.word]
    glued = (placed.start == np.roll(placed.end, 1)) & (placed.text == np.roll(placed.text, 1))
    # After a plural a quote is the possessive: the boys' room.
    plural = np.isin(tag, [NUMBER["NNS"], NUMBER["NNPS"]])
    possessive = (placed.words == "'").to_numpy()[placed.word] & glued & preceding(plural)
    tag = np.where(straight & ~glued, NUMBER["``"], tag).astype(np.uint8)
    return np.where(possessive, NUMBER["POS"], tag).astype(np.uint8)
