"""Exchanges the parties of a claim: *Halden sued Orsolo* becomes *Orsolo sued Halden*.

Parties are two names, or two nouns for people or groups, of a clause whose meaning the exchange changes: agent and
patient of an asymmetric verb, giver and receiver, sides of a comparison, a place and its neighbour, parent and child.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from acidtest.english.chunks import Chunk
from acidtest.english.inflection import match_case
from acidtest.english.transitive import (
    NounPhrase,
    TaggedText,
    agree,
    clause_words,
    has_listed_verb,
    has_tagged_verb,
    is_name,
    is_plural,
    listed_verb,
    noun_phrase,
    place_phrase,
    time_before,
)
from acidtest.english.values.names import is_listed_place
from acidtest.english.wordnet import noun_kind

_DIRECTIONS = frozenset({"north", "south", "east", "west", "northeast", "northwest", "southeast", "southwest"})
_SPATIAL = frozenset({"above", "below", "inside", "underneath", "beneath"})
_UNSURE = re.compile(
    r"\b(?:not|no|never|none|neither|nor|only|might|could|can|would|should|must|if|each other|one another|both"
    r"|respectively|together|perhaps|probably|or|almost|nearly|all|every|each|some|most|many|any)\b|n['’]t\b|(?-i:\bmay\b)|[?\"“”]",
    re.IGNORECASE,
)
_PRONOUN = re.compile(r"\b(?:he|she|it|they|his|her|hers|its|their|him|them|himself|herself|itself|themselves)\b", re.I)
_COMPARED = frozenset({"more", "less", "later", "earlier", "longer", "further", "better", "worse", "fewer"})


@dataclass(frozen=True)
class Exchange:
    """A claim with its parties exchanged."""

    text: str
    first: str
    second: str
    verb: str
    """The base form of the verb; empty where there is none but *be*."""
    kind: str
    """agent, giver, comparison, place or kin."""
    excluded: bool
    """Whether the claim and the exchanged one cannot both be true."""


@dataclass(frozen=True)
class _Parties:
    first: NounPhrase
    second: NounPhrase
    verb: str
    kind: str
    excluded: bool
    finite: int
    """The place of the finite verb, which agrees with the first."""


def may_have_roles(text: str) -> bool:
    """Whether a text may have parties to exchange; a quick look before it is tagged."""
    return _signs().search(text) is not None or has_listed_verb(text)


@cache
def _signs() -> re.Pattern[str]:
    related = "|".join((*_DIRECTIONS, *sorted(clause_words("kin"))))
    return re.compile(rf"\bthan\b|\b(?:{related}) of\b|\b(?:{'|'.join(_SPATIAL)})\b")


def exchange_roles(tagged: TaggedText, document: str) -> Exchange | str | None:
    """The claim with its parties exchanged, the reason why that is not certain, or None where there are no parties."""
    parties = _find_parties(tagged)
    if parties is None or isinstance(parties, str):
        return parties
    if _UNSURE.search(tagged.text):
        return "negation, modality or quantifier"
    if _PRONOUN.search(tagged.text):
        return "pronoun"
    numbers = is_plural(tagged, parties.first), is_plural(tagged, parties.second)
    if None in numbers:
        return "number of a party not sure"
    first = place_phrase(tagged, parties.first, document, initial=False)
    second = tagged.span(parties.second.start, parties.second.end)
    if first is None:
        return "first word may be a name"
    if parties.first.start == 0:
        second = match_case(tagged.text[0], second)
    finite = tagged.tokens[parties.finite]
    if numbers[0] != numbers[1]:
        finite = agree(finite, parties.verb or "be", plural=bool(numbers[1]))
    text, starts, ends = tagged.text, tagged.starts, tagged.ends
    exchanged = (
        f"{text[: starts[parties.first.start]]}{second}{text[ends[parties.first.end - 1] : starts[parties.finite]]}"
        f"{finite}{text[ends[parties.finite] : starts[parties.second.start]]}{first}"
        f"{text[ends[parties.second.end - 1] :]}"
    )
    names = (tagged.span(phrase.start, phrase.end) for phrase in (parties.first, parties.second))
    return Exchange(exchanged, next(names), next(names), parties.verb, parties.kind, parties.excluded)


def _find_parties(tagged: TaggedText) -> _Parties | str | None:
    if not has_tagged_verb(tagged) and not _signs().search(tagged.text):
        return None
    parts = tagged.chunks(time_before(tagged))
    first, place = noun_phrase(tagged, parts, 0)
    if first is None or place >= len(parts) or parts[place].kind != "verb" or parts[place].form != "finite":
        return None
    verb = parts[place]
    for find in (_comparison, _position, _kin, _agents):
        parties = find(tagged, parts, place, first)
        if parties is not None:
            break
    if not isinstance(parties, _Parties):
        return parties
    if verb.end != verb.head + 1 and parties.kind in ("agent", "giver"):
        return "no plain clause"
    return parties


def _comparison(tagged: TaggedText, parts: list[Chunk], place: int, first: NounPhrase) -> _Parties | str | None:
    """*A is larger than B*, *A has a longer guarantee than B*."""
    words, tags = tagged.words, tagged.tags
    thans = [number for number, part in enumerate(parts) if part.word == "than"]
    if len(thans) != 1 or thans[0] < place:
        return None
    than = thans[0]
    second, after = noun_phrase(tagged, parts, than + 1)
    is_last = after == len(parts) or (words[parts[after].start] in ("did", "does", "do") and after + 1 == len(parts))
    if second is None or not is_last or any(part.kind in ("comma", "joint", "relative", "break") for part in parts):
        return "comparison not plain"
    if words[second.head] in clause_words("open end") or words[first.head] in clause_words("open end"):
        return "comparison not plain"
    if any(word in ("rather", "other", "there", "it") for word in words[: parts[than].start]):
        return "comparison not plain"
    verb = parts[place]
    is_copula = words[verb.head] in ("is", "are", "was", "were")
    between = range(verb.end, parts[than].start)
    is_compared = any(tags[number] in ("JJR", "RBR") or words[number] in _COMPARED for number in between)
    side = _definiteness(tagged, second)
    if not is_compared or not side or side != _definiteness(tagged, first):
        return "comparison not plain"
    if not is_copula and side == "bare" and words[first.head] != words[second.head]:
        # "More legs than arms" compares the objects.
        return "comparison not plain"
    base = listed_verb(words[verb.head], participle=False)
    if not is_copula and is_plural(tagged, first) != is_plural(tagged, second) and base is None:
        return "comparison not plain"
    return _Parties(first, second, base.verb if base else "", "comparison", True, verb.start)


def _definiteness(tagged: TaggedText, phrase: NounPhrase) -> str:
    """Whether a phrase is definite, has *a*, or is bare; empty for others, such as pronouns and numbers."""
    word, tag = tagged.words[phrase.start], tagged.tags[phrase.start]
    if word == "the" or is_name(tagged, phrase):
        return "definite"
    if word in ("a", "an"):
        return "indefinite"
    return "bare" if tag in ("NN", "NNS", "JJ") else ""


def _position(tagged: TaggedText, parts: list[Chunk], place: int, first: NounPhrase) -> _Parties | None:
    """*A is north of B*, *A lies below B*."""
    words = tagged.words
    verb = parts[place]
    if words[verb.head] not in ("is", "are", "was", "were", "lies", "lie", "lay", "stands", "stood"):
        return None
    for number in range(place + 1, len(parts)):
        part = parts[number]
        before = words[part.start - 1] if part.start else ""
        is_direction = part.word == "of" and before in _DIRECTIONS
        if is_direction or (part.word in _SPATIAL and part.start == verb.end):
            second, after = noun_phrase(tagged, parts, number + 1)
            if second is None or after != len(parts) or _definiteness(tagged, second) != _definiteness(tagged, first):
                return None
            return _Parties(first, second, "", "place", True, verb.start)
    return None


def _kin(tagged: TaggedText, parts: list[Chunk], place: int, first: NounPhrase) -> _Parties | None:
    """*A is the mother of B*."""
    words = tagged.words
    verb = parts[place]
    if words[verb.head] not in ("is", "was") or place + 3 >= len(parts) or not is_name(tagged, first):
        return None
    title, link = parts[place + 1], parts[place + 2]
    if title.kind != "noun" or words[title.head] not in clause_words("kin") or link.word != "of":
        return None
    second, after = noun_phrase(tagged, parts, place + 3)
    if second is None or not is_name(tagged, second) or after != len(parts):
        return None
    return _Parties(first, second, "", "kin", True, verb.start)


def _agents(tagged: TaggedText, parts: list[Chunk], place: int, first: NounPhrase) -> _Parties | str | None:
    """Agent and patient, in either voice, or giver and receiver."""
    verb = parts[place]
    words = tagged.words
    before = tuple(words[verb.start : verb.head])
    passive = bool(before) and before[-1] in ("is", "are", "was", "were", "been", "be")
    listed = listed_verb(words[verb.head], participle=passive or before[-1:] in (("has",), ("have",), ("had",)))
    if listed is None:
        return None
    if listed.exchange == "symmetric":
        return "symmetric verb"
    second, kind = _second_party(tagged, parts, place, passive=passive, transfer=listed.transfer.split())
    if second is None or (kind == "agent" and not listed.exchange):
        return None
    if not _are_alike(tagged, first, second):
        return "parties of two kinds"
    return _Parties(first, second, listed.verb, kind, listed.exchange == "excludes" and kind == "agent", verb.start)


def _second_party(
    tagged: TaggedText, parts: list[Chunk], place: int, *, passive: bool, transfer: list[str]
) -> tuple[NounPhrase | None, str]:
    """The party after the verb, and its kind; clauses with a comma, a conjunction or a second verb have none."""
    words, tags = tagged.words, tagged.tags
    start = parts[place].end
    second = _name_at(tagged, start) if not passive and "object" in transfer else None
    if second and second.end < len(tags) and tags[second.end] in ("CD", "DT", "$", "PRP$"):
        return second, "giver"
    for number in range(start + 1, len(words) - 1):
        if passive or words[number] in clause_words("break") or tags[number] in ("MD", "WDT", "WP", ","):
            break
        if words[number] in transfer and words[number] in ("to", "from"):
            second = _name_at(tagged, number + 1)
            return (second, "giver") if second and _is_whole(tagged, second) else (None, "")
    by = place + 1
    while passive and by < len(parts) and parts[by].word != "by" and parts[by].kind in ("noun", "preposition"):
        by += 1
    if passive and (by >= len(parts) or parts[by].word != "by"):
        return None, ""
    second, after = noun_phrase(tagged, parts, by + 1 if passive else by)
    if second is None or (after < len(parts) and parts[after].kind == "noun") or not _is_whole(tagged, second):
        return None, ""
    return second, "agent"


def _name_at(tagged: TaggedText, start: int) -> NounPhrase | None:
    """The name that begins at a token, with *the* before it."""
    end = first = start + (start < len(tagged.words) and tagged.words[start] == "the")
    while end < len(tagged.tags) and (
        tagged.tags[end] in ("NNP", "NNPS") or (end > first and tagged.words[end] == "&")
    ):
        end += 1
    return NounPhrase(start, end, end - 1) if end > first else None


def _is_whole(tagged: TaggedText, phrase: NounPhrase) -> bool:
    """Whether a phrase ends here: no possessive, conjunction, comma or noun follows."""
    after = tagged.tags[phrase.end] if phrase.end < len(tagged.tags) else "."
    return after not in ("POS", "CC", ",", "NN", "NNS", "CD", "``", "''")


def _are_alike(tagged: TaggedText, first: NounPhrase, second: NounPhrase) -> bool:
    """Whether two phrases name parties that could stand for each other: people, firms, groups; or two places."""
    kinds = [_party_kind(tagged, phrase) for phrase in (first, second)]
    return kinds[0] == kinds[1] != ""


def _party_kind(tagged: TaggedText, phrase: NounPhrase) -> str:
    if is_name(tagged, phrase):
        return "place" if is_listed_place(tagged.span(phrase.start, phrase.end)) else "party"
    if tagged.tags[phrase.head] not in ("NN", "NNS") or phrase.end != phrase.head + 1:
        return ""
    word = tagged.words[phrase.head]
    kinds = {noun_kind(noun) for noun in (word, word.removesuffix("s"))}
    return "party" if kinds & {"person", "group"} else "animal" if "animal" in kinds else ""
