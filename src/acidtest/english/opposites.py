"""The table of opposites, and the places in a sentence where a word may be replaced by its opposite.

A word is replaced only where it says something definite: *the soup was cold*, *the old man slept*, *prices rose*, *he
always sings*. With the opposite there, the sentence cannot be true of the same event. ``Caution`` decides how much the
rest of the sentence matters: ``high`` wants a plain clause without anything that could soften it, ``medium`` an
asserted clause in any sentence, ``low`` also accepts what somebody thinks, says or sees, and generic statements.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

from acidtest.english.wordnet import noun_kind
from acidtest.io.wordlists import packaged_table

Caution = Literal["high", "medium", "low"]
"""How sure it must be that a word and its opposite contradict each other; from few pairs to many."""

_MAY_BE = {
    "name": frozenset({"person", "location", "group"}),
    "they": frozenset({"person", "animal", "artifact", "group"}),
    "it": frozenset({"animal", "artifact", "communication", "act", "event", "food"}),
}
"""The kinds of things that a name or pronoun may refer to."""

_MAY_BE_IN = {("change", kind): frozenset[str]() for kind in _MAY_BE} | {
    ("result", "it"): frozenset[str](),
    ("result", "name"): frozenset({"group"}),
}
"""The same in places where too much else fits: *it rises* of a river or *grows* of a rose, *stands* of a house."""

_PRONOUN_KINDS = dict.fromkeys(("he", "she", "we", "i", "you", "everyone", "everybody"), "person")
_PRONOUN_KINDS |= dict.fromkeys(("this", "that", "everything"), "it") | dict.fromkeys(("these", "those"), "they")


@dataclass(frozen=True)
class PlainPlace:
    """A plain place of a word: its name, the kind and noun of the thing the word describes, and the word after it.

    A kind is one of WordNet's lexicographer files of nouns (*person*, *artifact*), ``it``, ``they`` or ``name``; empty
    where the place does not show the kind. ``caution`` is the highest at which the word may be replaced there.
    """

    name: str
    kind: str
    after: str
    caution: Caution = "high"
    head: str = ""

    @property
    def is_decisive(self) -> bool:
        """Whether word and antonym cannot both be true here; not for *the old ferry was fast*: a new one may be too."""
        return self.name != "subject" or self.kind in ("person", "animal")


@dataclass(frozen=True)
class Opposite:
    """A word with its opposite in one sense, counted from 1 as WordNet does; 0 where WordNet does not oppose the two.

    ``of`` holds the kinds of things that the sense describes (``*``: any); ``places`` the plain places where the word
    may be replaced, unless a word of ``unless`` follows or is the noun it describes (*a great commercial success*).
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
    """The packaged opposites by word and part of speech; those for any kind of thing (``*``) come last."""
    by_word = dict[tuple[str, str], list[Opposite]]()
    for row in packaged_table("stress/antonyms.tsv").iter_rows(named=True):
        sets = (frozenset(row[name].split()) for name in ("of", "places", "unless"))
        opposite = Opposite(row["word"], row["antonym"], row["pos"], int(row["sense"]), *sets)
        by_word.setdefault((opposite.word, opposite.pos), []).append(opposite)
    return {key: sorted(several, key=lambda opposite: "*" in opposite.of) for key, several in by_word.items()}


@cache
def opposite_places(word: str, pos: str) -> frozenset[str]:
    """The names of the plain places where a word may be replaced by some opposite."""
    return frozenset[str]().union(*(opposite.places for opposite in opposites()[word, pos]))


def antonym_in(place: PlainPlace, known: list[Opposite]) -> str:
    """The antonym in the sense that describes the place's kind of thing; empty when no sense is certain."""
    if not place.is_decisive:
        return ""
    beside = {place.after, place.head}
    choices = [opposite for opposite in known if place.name in opposite.places and beside.isdisjoint(opposite.unless)]
    sure = [opposite for opposite in choices if place.kind in opposite.of or "*" in opposite.of]
    if not sure and len({opposite.antonym for opposite in known}) == 1:
        # "They were old" does not show who they are; with only one possible antonym the kind need not be exact.
        may_be = _MAY_BE_IN.get((place.name, place.kind), _MAY_BE.get(place.kind, frozenset()))
        sure = [opposite for opposite in choices if opposite.of & may_be]
    return sure[0].antonym if sure else ""


@cache
def place_patterns() -> dict[Caution, list[tuple[str, re.Pattern[str]]]]:
    """The names and patterns of the plain places by the highest caution that takes them.

    Sentences are matched as "the/DT soup/NN was/VBD <cold/JJ> ./. ", the word to replace between "<" and ">". A pattern
    may refer to parts defined above it in the table.
    """
    parts = dict[str, str]()
    places: dict[Caution, list[tuple[str, re.Pattern[str]]]] = {"high": [], "medium": [], "low": []}
    for row in packaged_table("stress/places.tsv").iter_rows(named=True):
        whole = re.sub(r"\{([a-z ]+)\}", lambda match: parts[match[1]], row["pattern"])
        if row["kind"] == "part":
            parts[row["name"]] = whole
        else:
            places[row["caution"]].append((row["name"], re.compile(whole)))
    return places


@dataclass(frozen=True)
class _Surrounding:
    """What must or must not stand before, between or after subject and word, at which cautions."""

    where: str
    cautions: frozenset[str]
    is_needed: bool
    reason: str
    pattern: re.Pattern[str]


@cache
def _surroundings() -> tuple[_Surrounding, ...]:
    return tuple(
        _Surrounding(
            row["where"],
            frozenset(row["cautions"].split()),
            row["kind"] == "any of",
            row["reason"],
            re.compile(row["pattern"]),
        )
        for row in packaged_table("stress/surroundings.tsv").iter_rows(named=True)
    )


def surrounding_doubt(parts: Mapping[str, str], caution: Caution) -> str:
    """Why the words around a place leave it unsure; empty where they do not. ``parts``: before, between, after."""
    needed, met = "", False
    for rule in _surroundings():
        if caution not in rule.cautions:
            continue
        matches = bool(rule.pattern.search(parts[rule.where]))
        if rule.is_needed:
            needed, met = rule.reason, met or matches
        elif matches:
            return rule.reason
    return "" if met else needed


@dataclass(frozen=True)
class TaggedSentence:
    """A tagged sentence: its words in lower case and their tags."""

    words: list[str]
    tags: list[str]

    def clause(self, token: int) -> tuple[list[str], int]:
        """The words of the main clause that contains a token, and the token's position in it."""
        starts = [0, *(place + 1 for place in range(len(self.words)) if self._parts(place)), len(self.words) + 1]
        start = max(place for place in starts if place <= token)
        return self.words[start : min(place for place in starts if place > token) - 1], token - start

    def around(self, token: int) -> tuple[str, str]:
        """The words before and after a token."""
        before = self.words[token - 1] if token else ""
        return before, self.words[token + 1] if token + 1 < len(self.words) else ""

    def plain_places(self, token: int, names: Collection[str]) -> Iterator[PlainPlace]:
        """Those of the named plain places that a token stands in within its main clause."""
        words, place = self.clause(token)
        marked = self._marked(token - place, token - place + len(words), token)
        for name, pattern in place_patterns()["high"]:
            match = pattern.match(marked) if name in names else None
            if match:
                yield _plain_place(name, match, self.around(token)[1], "high")

    def fits(self, token: int, names: Collection[str]) -> bool:
        """Whether a token stands in one of the named places that need an asserted clause."""
        marked = self._marked(0, len(self.words), token)
        return any(name in names and pattern.match(marked) for name, pattern in place_patterns()["medium"])

    def opening_places(self, token: int, names: Collection[str]) -> Iterator[PlainPlace]:
        """The asserted places a token stands in where nothing precedes their subject."""
        for start, place in self._matching_places(token, names, "medium"):
            if start == 0 and isinstance(place, PlainPlace):
                yield replace(place, caution="high")

    def asserted_places(self, token: int, names: Collection[str], caution: Caution) -> Iterator[PlainPlace | str]:
        """Those of the named places that a token stands in within the whole sentence, or why one is not sure."""
        for _, place in self._matching_places(token, names, caution):
            yield place

    def _matching_places(
        self, token: int, names: Collection[str], caution: Caution
    ) -> Iterator[tuple[int, PlainPlace | str]]:
        """The number of words before a place's subject, and the place or why it is not sure."""
        marked = self._marked(0, len(self.words), token)
        patterns = place_patterns()
        for name, pattern in [*patterns["medium"], *(patterns["low"] if caution == "low" else ())]:
            match = pattern.match(marked) if name in names else None
            if match:
                start = match["left"].count(" ")
                words = {
                    "before": " ".join(self.words[:start]),
                    "between": " ".join(self.words[start:token]),
                    "after": " ".join(self.words[token + 1 :]),
                }
                doubt = surrounding_doubt(words, caution)
                yield start, doubt or _plain_place(name, match, self.around(token)[1], caution)

    def _marked(self, start: int, end: int, token: int) -> str:
        """The words from ``start`` to ``end`` with their tags, a token marked."""
        pieces = [f"{word}/{tag}" for word, tag in zip(self.words[start:end], self.tags[start:end], strict=True)]
        pieces[token - start] = f"<{pieces[token - start]}>"
        return " ".join(pieces) + " "

    def _parts(self, place: int) -> bool:
        """Whether a new main clause may begin after this word: *it rained, and | the street was wet*."""
        word = self.words[place]
        return word == ";" or (word in ("and", "but", "so", "yet") and place > 0 and self.words[place - 1] == ",")


def _plain_place(name: str, match: re.Match[str], after: str, caution: Caution) -> PlainPlace:
    parts = match.groupdict()
    return PlainPlace(name, _kind(parts), after, caution, head=parts.get("head") or "")


def _kind(parts: Mapping[str, str | None]) -> str:
    pronoun, head = parts.get("pronoun"), parts.get("head")
    if pronoun:
        return _PRONOUN_KINDS.get(pronoun, pronoun)
    if parts.get("name"):
        return "name"
    return noun_kind(head) if head else ""
