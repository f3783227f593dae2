"""Which words can stand in the place of another without making a sentence ungrammatical.

A place is told by its construction: a singular after *a* takes no *clothing*, a bare one no *meal*, and what stands
before *player* or after *movie* is part of a compound. What is in doubt fits nowhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache

import polars as pl

from acidtest.english.inflection import inflect, plural, replace_span
from acidtest.english.lexicon import is_listed
from acidtest.english.wordnet import noun_kind
from acidtest.io.wordlists import packaged_table, word_list
from acidtest.pairs.categories import list_names

COMPOUND, NUMBER, CONSTRUCTION = "part of a compound", "no singular or plural", "another construction"
"""The reasons why a word does not fit."""

_COUNTABLE_KINDS = ("animal", "artifact", "body", "group", "location", "object", "person", "plant")
_LIVING_KINDS = ("animal", "person")

_NOUNS = frozenset({"NN", "NNS", "NNP", "NNPS"})
_MODIFIERS = frozenset({"JJ", "JJR", "JJS", "VBN", "VBD", "VBG", "RB", "RBR", "RBS", "CD", "FW"})
_OBJECTS = _NOUNS | {"DT", "PDT", "PRP", "PRP$", "JJ", "JJR", "JJS", "CD", "WP", "EX"}
_JOINTS = frozenset({"and", "or", "but", ",", "/"})

_ONE = {"a", "an", "one", "1", "each", "every", "another", "either", "neither"}
_KNOWN = {"the", "this", "that", "these", "those", "no", "which", "what", "whose"}
_SEVERAL = {"these", "those", "both", "few", "several", "many", "multiple", "various", "numerous", "couple", "dozen"}
_AMOUNTS = {"some", "any", "all", "most", "more", "less", "enough", "such", "much", "half", "little"}
_PARTICLES = {"up", "down", "off", "out", "away", "over", "back"}
_DAYS = {"today", "tonight", "tomorrow", "yesterday"}
_COMPLEMENTS = {"of", "to", "from"}
_TAKE_OF = {
    "afraid",
    "ashamed",
    "aware",
    "capable",
    "certain",
    "empty",
    "full",
    "incapable",
    "proud",
    "sure",
    "unaware",
}
_NEVER_BEFORE_NOUNS = {"afraid", "ajar", "alive", "alone", "ashamed", "asleep", "awake", "aware", "unafraid", "unaware"}


@dataclass(frozen=True)
class Occurrence:
    """One place where a word stands in a text: its characters, its Penn tag and its construction.

    A noun's is ``one`` (after *a*), ``known`` (after *the* or *his*), ``several`` (after a number), ``bare``,
    ``compound`` (after a noun), ``before player`` or ``unclear``; a verb's is what follows it; an adjective's is
    ``before a noun``, ``with of`` (*full of*), ``unclear`` (*years old*) or empty.
    """

    start: int
    end: int
    tag: str
    construction: str = ""
    is_possessive: bool = False


@dataclass(frozen=True)
class TaggedWords:
    """The lower-case words of many texts in order, with their tags and the numbers of their texts."""

    words: Sequence[str]
    tags: Sequence[str]
    texts: Sequence[int]

    def word(self, at: int, text: int) -> str:
        """The word at a position; empty outside the text."""
        return self.words[at] if 0 <= at < len(self.words) and self.texts[at] == text else ""

    def tag(self, at: int, text: int) -> str:
        """The tag at a position; empty outside the text."""
        return self.tags[at] if 0 <= at < len(self.tags) and self.texts[at] == text else ""

    def construction(self, at: int, pos: str, tag: str) -> str:
        """The construction of the word at a position, whose own tag may have been corrected."""
        if pos == "n":
            return self._noun(at, tag)
        if pos == "v":
            return self._verb(at)
        return self._adjective(at) if pos == "a" else ""

    def is_possessive(self, at: int) -> bool:
        """Whether *'s* or an apostrophe follows."""
        return self.tag(at + 1, self.texts[at]) == "POS"

    def _noun(self, at: int, tag: str) -> str:
        text = self.texts[at]
        if self.tag(at - 1, text) in _NOUNS:
            return "compound"
        # No singular has a verb without -s beside it: taggers take "shake" in "a milk shake" for one.
        following = _NOUNS if tag == "NNS" else _NOUNS | {"VB", "VBP"}
        if self.tag(at + 1, text) in following and self.word(at + 1, text) not in _DAYS | {"'m", "'re", "are", "were"}:
            return f"before {self.word(at + 1, text)}"
        is_plural, back = tag == "NNS", at - 1
        while back >= 0 and self.texts[back] == text:
            word, before = self.words[back], self.tags[back]
            if word in _SEVERAL or (before == "CD" and word not in _ONE):
                return "several" if is_plural else "unclear"
            if word in _ONE:
                return "unclear" if is_plural else "one"
            if before in ("PRP$", "POS", "WP$") or word in _KNOWN:
                return "known"
            if word in _AMOUNTS and (word != "little" or self._opens_phrase(back, text)):
                return "bare" if is_plural or word in ("some", "any") else "unclear"
            joins = word in _JOINTS and {self.tag(back - 1, text), self.tag(back + 1, text)} <= _MODIFIERS
            if not joins and before not in _MODIFIERS:
                break
            back -= 1
        return "bare"

    def _opens_phrase(self, at: int, text: int) -> bool:
        """Whether no article or modifier stands before a word: *little food*, but not *a little girl*."""
        return self.tag(at - 1, text) not in _MODIFIERS | {"DT", "PRP$", "POS"}

    def _verb(self, at: int) -> str:
        text, after = self.texts[at], at + 1
        if self.tags[at] in ("VBG", "VBN") and self.tag(at - 1, text) in ("DT", "PRP$", "POS", "JJ", "CD"):
            return "before a noun"
        while self.tag(after, text) in ("RB", "RBR") and self.word(after, text) not in _PARTICLES:
            after += 1
        tag, word = self.tag(after, text), self.word(after, text)
        if word in _PARTICLES or tag == "RP":
            return "unclear"
        if tag == "TO":
            return "infinitive"
        if tag in ("VBG", "VBN"):
            return "participle"
        return "object" if tag in _OBJECTS else "no object"

    def _adjective(self, at: int) -> str:
        text = self.texts[at]
        before, after = self.tag(at - 1, text), self.tag(at + 1, text)
        if before == "NNS":
            return "unclear"
        if self.word(at + 1, text) in _COMPLEMENTS and self.tags[at] not in ("JJR", "JJS"):
            return f"with {self.word(at + 1, text)}"
        return "before a noun" if after in _NOUNS | {"JJ", "JJR", "JJS", "VBG", "VBN"} else ""


def misfit(places: Sequence[Occurrence], lemma: str, old: str, pos: str, elsewhere: Sequence[Occurrence]) -> str:
    """Why a word cannot take the places of another one (``old``), empty if it can.

    ``elsewhere`` are the places where a word that means about the same is known to stand.
    """
    found = {place.construction for place in places}
    if pos == "n":
        return _noun_misfit(places, lemma, old, {place.construction for place in elsewhere})
    if pos == "v":
        same = "unclear" not in found and found == {place.construction for place in elsewhere}
        return "" if same else CONSTRUCTION
    doubtful = {"unclear", "with to", "with from"}
    doubtful |= {"before a noun"} if lemma in _NEVER_BEFORE_NOUNS else set()
    doubtful |= set() if lemma in _TAKE_OF else {"with of"}
    return CONSTRUCTION if found & doubtful else ""


def _noun_misfit(places: Sequence[Occurrence], lemma: str, old: str, elsewhere: Set[str]) -> str:
    is_modifier = [place.construction.startswith("before ") for place in places]
    if all(is_modifier) and all(place.tag == "NN" and place.construction in elsewhere for place in places):
        return ""
    living = all(noun_kind(noun) in _LIVING_KINDS for noun in (lemma, old))
    joined = (place.construction == "compound" or (place.is_possessive and not living) for place in places)
    if any(is_modifier) or any(joined):
        return COMPOUND
    return "" if all(_fits_noun(place, lemma) for place in places) else NUMBER


def _fits_noun(place: Occurrence, noun: str) -> bool:
    """Whether a noun has the form that its new place needs: *music* neither in *two songs* nor in *a song*."""
    construction, only_plural = place.construction, noun in word_list("only plural")
    if construction == "unclear" or noun == "people":
        return False
    if place.tag == "NNS":
        return (only_plural and construction != "several") or has_plural(noun)
    if only_plural:
        return False
    if construction == "one":
        return has_plural(noun)
    if construction == "bare":
        return stands_bare(noun)
    return noun_forms().get(noun) != "bare"


@cache
def has_plural(noun: str) -> bool:
    """Whether a noun is used in the plural and after *a*: not *music* or *clothing*.

    Where neither our lists nor the lexicon of the tagger tell, things and living beings have a plural (*footbridges*),
    and other nouns do not (*jealousies*).
    """
    if noun in word_list("without plural") or noun in word_list("only plural"):
        return False
    if noun in noun_forms():
        return "count" in noun_forms()[noun]
    return noun_kind(noun) in _COUNTABLE_KINDS or bool(is_listed(pl.Series([plural(noun)]))[0])


def stands_bare(noun: str) -> bool:
    """Whether a singular needs no article: *beer*, *lunch* and *football*, but not *meal* or *game*."""
    mass = noun in word_list("without plural") and noun_kind(noun) not in ("group", "person")
    return mass or noun_forms().get(noun, "count") != "count"


@cache
def noun_forms() -> Mapping[str, str]:
    """Nouns with their form: ``count``, ``mass``, ``mass|count``, or ``bare`` for what takes no article (*soccer*).

    They are those of the word lists of ``lexical``, unless ``swaps/noun_forms.tsv`` says otherwise.
    """
    forms = dict[str, set[str]]()
    for name in list_names():
        for item, form in packaged_table(f"lexical/lists/{name}.tsv").select("item", "form").iter_rows():
            forms.setdefault(item.lower(), set()).update(
                {"bare"} if (name, form) == ("sports", "mass") else form.split("|")
            )
    known = {item: "|".join(sorted(found & {"bare", "count", "mass"})) for item, found in forms.items()}
    known = {item: form for item, form in known.items() if "mass" in form or "bare" in form}
    return known | dict(packaged_table("swaps/noun_forms.tsv").select("noun", "form").iter_rows())


def rewrite_occurrences(text: str, places: Sequence[Occurrence], *, lemma: str, pos: str) -> str:
    """The text with a lemma, inflected to fit, in each of the places."""
    for place in sorted(places, key=lambda occurrence: occurrence.start, reverse=True):
        text = replace_span(text, place.start, place.end, word=inflect(lemma, pos, place.tag))
    return text
