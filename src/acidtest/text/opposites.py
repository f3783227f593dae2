"""Words with their opposites, and the plain places of a clause in which one can replace the other.

A place is plain where a word is said of one definite thing: *the soup was cold*, *the old man slept*, *he sat in the
front row*. With the opposite of the word in such a place the clause cannot be true of the same event.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from acidtest.io.wordlists import packaged_table, word_list
from acidtest.text.wordnet import noun_kind, wordnet

_INDIVIDUALS = ("person", "animal")
_MAY_BE = {
    "name": frozenset({"person", "location", "group"}),
    "they": frozenset({"person", "animal", "artifact", "group"}),
    "it": frozenset({"animal", "artifact", "communication", "act", "event", "food"}),
}
"""The kinds of things that a name or pronoun may stand for."""

# Clauses are matched as "the/DT soup/NN was/VBD cold/JJ ./. ", the word in question marked by "<" and ">".
_OWNER = r"(?:(?:the|this|that|these|those|my|your|his|her|its|our|their)/\S+ |(?:\S+/NNPS? )+['’]s?/POS )"
_INSIDE = r"(?:\S+/(?:JJ|JJS|VBN|CD|NN|NNS|NNP|NNPS|POS) )*?"
_NOUN = r"(?P<head>[^\s/]+)/(?:NN|NNS|NNP|NNPS) (?!\S+/(?:NN|NNS|POS) )"
_ANY_NOUN = r"\S+/(?:NN|NNS|NNP|NNPS) "
_PREPOSITION = (
    r"(?:in|on|at|by|from|near|under|behind|beside|inside|outside|of|during|after|before|across|over|for|with|to|"
    r"through|along|above|below|between|against|since)/\S+ "
)
_PHRASE = rf"{_PREPOSITION}(?:\S+/(?:DT|PRP\$|JJ|CD|NN|NNS|NNP|NNPS|POS|VBN) )*?{_ANY_NOUN}"
_FRONTED = (
    rf"(?:(?:{_PHRASE})+(?:,/, )?|(?:yesterday|today|tonight|now|here|there|outside|inside|upstairs)/\S+ (?:,/, )?)?"
)
_NAME = r"(?P<name>(?:\S+/NNP )+)"
_PRONOUN = r"(?P<pronoun>he|she|it|they|we|i|you)/PRP "
_SUBJECT = rf"(?:{_OWNER}{_INSIDE}{_NOUN}(?:{_PHRASE})?|{_NAME}|{_PRONOUN})"
_DEFINITE = (
    rf"(?:{_OWNER}{_INSIDE}{_ANY_NOUN}(?:{_PHRASE})?|(?:\S+/NNPS? )+(?:,/, (?:\S+ )*?,/, )?|"
    r"(?:he|she|it|they|we|i|you)/PRP )"
)
_BE = (
    r"(?:(?:is|are|was|were|'s|'re|'m|am|remained|stayed|became|lay)/\S+ |"
    r"(?:has|have|had|'s|'ve)/\S+ be(?:en|come)/\S+ )"
)
_DEGREE = r"(?:(?:very|really|extremely|completely|totally|terribly|unusually|now|quite|so)/\S+ )?"
_VERB = r"(?:\S+/RB )?\S+/(?:VBD|VBZ|VBP) "
_MARK = r"<[^\s/]+/\S+> "
_END = r"(?:[.!,;]/\S+ )?$"
_BREAK = (
    r"in|on|at|during|inside|outside|near|after|before|when|while|because|by|under|behind|with|for|about|to|from|"
    r"today|yesterday|tonight|of|and|where|who|which|but|since|last|this|that|through|into|,|as"
)
_STOPS = rf"(?:{_END}|(?=(?:{_BREAK})/))"
_GOES_ON = (
    rf"(?:{_END}|(?=(?:in|on|at|during|inside|outside|near|after|before|when|while|because|by|under|behind|with|for|"
    r"about|to|today|yesterday|tonight|of|since|last|this)/))"
)
_LOCATION = r"(?:in|on|at|to|near|toward|by|from|inside|along|against|through|into|onto)/\S+ "

PLACES: dict[str, re.Pattern[str]] = {
    # The soup was cold.
    "predicate": re.compile(rf"^{_FRONTED}{_SUBJECT}{_BE}{_DEGREE}{_MARK}{_GOES_ON}"),
    # Goran is a short man.
    "description": re.compile(rf"^{_FRONTED}{_DEFINITE}{_BE}(?:a|an)/\S+ {_DEGREE}{_MARK}{_NOUN}{_STOPS}"),
    # The old man slept.
    "subject": re.compile(rf"^{_FRONTED}{_OWNER}{_MARK}{_NOUN}(?:{_PHRASE})?(?:\S+/RB )?\S+/(?:VBD|VBZ|VBP)"),
    # She washed the dirty cups. He walked through the narrow gate.
    "definite": re.compile(rf"^{_FRONTED}{_DEFINITE}{_VERB}(?:(?!to/TO)\S+ )*?{_OWNER}{_MARK}{_NOUN}{_STOPS}"),
    # He sat in the front row. It stands at the top of the hill.
    "location": re.compile(
        rf"^{_FRONTED}{_DEFINITE}{_VERB}(?:\S+/(?:VBG|VBN|RB|RP) )?{_LOCATION}"
        rf"(?:{_OWNER}{_MARK}{_NOUN}{_STOPS}|the/\S+ {_MARK}(?!of/\S+ (?:my|your|his|her|its|our|their)/){_STOPS})"
    ),
    # They met at the beginning of May.
    "part": re.compile(
        rf"^{_FRONTED}{_DEFINITE}{_VERB}(?:(?!to/TO)\S+ )*?(?:at|near|toward)/\S+ the/\S+ {_MARK}(?=of/)"
    ),
    # The party was a great success.
    "nominal": re.compile(rf"^{_FRONTED}{_DEFINITE}{_BE}(?:(?:a|an)/\S+ |{_OWNER})(?:\S+/JJ )?{_MARK}{_STOPS}"),
    # The man is reading.
    "agent": re.compile(rf"^{_FRONTED}the/\S+ {_MARK}(?:{_PHRASE}|\S+/RB )?(?:\S+/RB )?\S+/(?:VBD|VBZ|VBP)"),
    # It rained during the night.
    "time": re.compile(rf"^{_DEFINITE}{_VERB}(?:(?!to/TO)\S+ )*?during/\S+ the/\S+ {_MARK}{_STOPS}"),
    # They left at sunrise.
    "moment": re.compile(rf"^{_DEFINITE}{_VERB}(?:(?!to/TO)\S+ )*?at/\S+ {_MARK}{_STOPS}"),
    # The strike ended in defeat. Sales showed an increase.
    "outcome": re.compile(
        rf"^{_FRONTED}{_DEFINITE}(?:(?:showed|shows|saw|brought|brings|recorded|posted|experienced|suffered|made|had|has)"
        rf"/\S+ (?:a|an)/\S+ (?:\S+/JJ )?|(?:ended|ends|resulted)/\S+ in/\S+ (?:(?:a|an)/\S+ )?(?:\S+/JJ )?)"
        rf"{_MARK}{_STOPS}"
    ),
}
"""The plain places by name; a row of the table of opposites says in which of them a word may be replaced."""

_PERSONS = frozenset({"he", "she", "we", "i", "you"})


@dataclass(frozen=True)
class Opposite:
    """A word with its antonym in one sense, counted from 1 as WordNet does.

    ``of`` are the kinds of things it is said of in that sense, ``*`` any; ``places`` those it may be replaced in,
    unless one of ``unless`` follows.
    """

    word: str
    antonym: str
    pos: str
    sense: int
    of: frozenset[str]
    places: frozenset[str]
    unless: frozenset[str]


@cache
def opposites() -> dict[tuple[str, str], list[Opposite]]:
    """The packaged opposites by word and part of speech, the more particular ones first."""
    by_word = dict[tuple[str, str], list[Opposite]]()
    for row in packaged_table("stress/antonyms.tsv").iter_rows(named=True):
        opposite = Opposite(
            row["word"],
            row["antonym"],
            row["pos"],
            int(row["sense"]),
            frozenset(row["of"].split()),
            frozenset(row["places"].split()),
            frozenset(row["unless"].split()),
        )
        by_word.setdefault((opposite.word, opposite.pos), []).append(opposite)
    for several in by_word.values():
        several.sort(key=lambda opposite: "*" in opposite.of)
    return by_word


def opposite_of(word: str, pos: str, place: PlainPlace) -> Opposite | None:
    """The opposite of a word as it stands: in the sense that is said of such things; None when none is sure."""
    if not is_decisive(place):
        return None
    known = opposites().get((word, pos), [])
    choices = [opposite for opposite in known if place.name in opposite.places and place.after not in opposite.unless]
    for opposite in choices:
        if place.kind in opposite.of or "*" in opposite.of:
            return opposite
    # "They were old" leaves open who they are; with one sense to choose from that does no harm.
    if len({opposite.antonym for opposite in known}) == 1:
        return next((opposite for opposite in choices if opposite.of & _MAY_BE.get(place.kind, frozenset())), None)
    return None


def is_decisive(place: PlainPlace) -> bool:
    """Whether a subject with the word and one with its opposite cannot be two different ones.

    The old ferry and the new one may both be fast; where a young man sleeps, no old man is meant.
    """
    return place.name != "subject" or place.kind in _INDIVIDUALS


def reveals_another_sex(antonym: str, words: list[str], place: int) -> bool:
    """Whether an antonym would reveal another sex than some other word of the sentence: *the woman lost his hat*."""
    revealing = word_list("telling sex")
    return antonym in revealing and any(word in revealing for number, word in enumerate(words) if number != place)


def is_idiom(before: str, word: str, after: str) -> bool:
    """Whether a word belongs to an expression with a neighbour: *hot dog*, *high school*; *old man* is none."""
    if word in word_list("said of people") and after in word_list("people"):
        return False
    return f"{word}_{after}" in _idioms() or f"{before}_{word}" in _idioms()


@cache
def _idioms() -> frozenset[str]:
    """Every entry of WordNet that has two words, joined by ``_``."""
    lemmas = wordnet().lemma_names
    return frozenset(lemmas.filter(lemmas.str.contains(r"^[^_]+_[^_]+$")))


@dataclass(frozen=True)
class PlainPlace:
    """A plain place that a word stands in: its name, the kind of thing the word is said of, and the word after it.

    A kind is one of WordNet's lexicographer files of nouns (*person*, *artifact*), ``it``, ``they`` or ``name``; empty
    where the place does not tell.
    """

    name: str
    kind: str
    after: str


@dataclass(frozen=True)
class TaggedSentence:
    """A tagged sentence: its words in lower case and their tags."""

    words: list[str]
    tags: list[str]

    def clause(self, token: int) -> tuple[list[str], int]:
        """The words of the main clause a token stands in, and which of them it is."""
        starts = [0, *(place + 1 for place in range(len(self.words)) if self._parts(place)), len(self.words) + 1]
        start = max(place for place in starts if place <= token)
        return self.words[start : min(place for place in starts if place > token) - 1], token - start

    def around(self, token: int) -> tuple[str, str]:
        """The words before and after a token."""
        before = self.words[token - 1] if token else ""
        return before, self.words[token + 1] if token + 1 < len(self.words) else ""

    def places(self, token: int) -> Iterator[PlainPlace]:
        """The plain places a token stands in."""
        marked, after = self._marked(token), self.around(token)[1]
        for name, pattern in PLACES.items():
            match = pattern.match(marked)
            if match:
                yield PlainPlace(name, _kind(match.groupdict()), after)

    def _marked(self, token: int) -> str:
        words, place = self.clause(token)
        start = token - place
        pieces = [f"{word}/{tag}" for word, tag in zip(words, self.tags[start : start + len(words)], strict=True)]
        pieces[place] = f"<{pieces[place]}>"
        return " ".join(pieces) + " "

    def _parts(self, place: int) -> bool:
        """Whether a clause of its own may begin after this word: *it rained, and | the street was wet*."""
        word = self.words[place]
        return word == ";" or (word in ("and", "but", "so", "yet") and place > 0 and self.words[place - 1] == ",")


def _kind(parts: dict[str, str | None]) -> str:
    pronoun, head = parts.get("pronoun"), parts.get("head")
    if pronoun:
        return "person" if pronoun in _PERSONS else pronoun
    if parts.get("name"):
        return "name"
    return noun_kind(head) if head else ""
