"""Plain clauses of who does what to whom: *In 1926 | Freya Monk | founded | the union | in Marl*.

The parts are found in the chunks of a tagged sentence. Only clauses whose parts are certain are taken: one finite verb
of the list ``grounding/verbs.tsv``, no negation, no second clause, no coordination outside of a list of names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import NamedTuple

import polars as pl

from acidtest.english.chunks import NOUN_TAGS, Chunk, chunks
from acidtest.english.inflection import forms_by_slot
from acidtest.english.sentences import tokens_by_text
from acidtest.english.values.names import is_person_name
from acidtest.english.wordnet import wordnet
from acidtest.io.wordlists import packaged_table

_NAME_TAGS = frozenset({"NNP", "NNPS"})
_OPEN_TAGS = frozenset({"JJ", "NN", "NNS", "VB", "VBP", "VBG", "VBN", "VBD", "VBZ", "RB", "FW", "UH", "IN", "CD"})
_MODALS = frozenset({"will", "would", "may", "might", "can", "could", "must", "should"})
_HAVE = frozenset({"has", "have", "had"})
_BE = frozenset({"is", "are", "was", "were", "been", "be"})
_MONTH = r"(?:January|February|March|April|May|June|July|August|September|October|November|December)"
_DAY = r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day"
_DAY_OF_MONTH = rf"\d{{1,2}} {_MONTH}(?: \d{{4}})?"
_DATE = rf"(?:(?:early |late |mid-)?(?:{_MONTH}(?: \d{{1,2}})?(?:,? \d{{4}})?|\d{{4}}|{_DAY_OF_MONTH}|{_DAY}))"
TIME = (
    rf"(?:(?:[Ii]n|[Oo]n|[Ss]ince|[Bb]efore|[Aa]fter|[Dd]uring|[Uu]ntil) (?:the year )?{_DATE}"
    rf"|[Ll]ast (?:year|week|month|night|{_DAY}|{_MONTH})|[Yy]esterday)"
)
"""A pattern for an adverbial of time: *in June 2021*, *on 3 May*, *last year*."""
_LEAD = re.compile(rf"{TIME},? |(?:In|On|At|After|Before|During|Under|Since|For|From|According to) [^,;]{{3,60}}, ")
_TAIL = re.compile(rf"(?: {TIME})+(?=[.]?\s*$)")
_REST_IS_TIME = re.compile(rf"(?: {TIME})+")


@dataclass(frozen=True)
class TaggedText:
    """A text with its tokens, tags and names."""

    text: str
    tokens: Sequence[str]
    tags: Sequence[str]
    starts: Sequence[int]
    ends: Sequence[int]

    @cached_property
    def words(self) -> list[str]:
        """The tokens in lower case."""
        return [token.lower() for token in self.tokens]

    def span(self, start: int, end: int) -> str:
        """The text from token ``start`` to the one before ``end``."""
        return self.text[self.starts[start] : self.ends[end - 1]] if end > start else ""

    @property
    def stop(self) -> int:
        """The number of tokens before the full stop."""
        return len(self.tokens) - (self.tags[-1] == "." if self.tags else 0)

    def chunks(self, start: int = 0, end: int | None = None) -> list[Chunk]:
        """The chunks of the tokens from ``start`` to the one before ``end``, else to the stop, with their positions."""
        end = self.stop if end is None else end
        parts = chunks(self.words[start:end], self.tags[start:end])
        return [Chunk(c.kind, c.start + start, c.end + start, c.head + start, c.word, c.form) for c in parts]


def tag_claims(texts: pl.Series, rows: Sequence[int], tagger: str) -> Iterator[tuple[int, TaggedText]]:
    """The texts in these rows, tagged, with their rows."""
    chosen = texts.gather(list(rows)).to_list() if rows else []
    for number, tagged in tokens_by_text(chosen, tagger):
        tags = _name_tags(tagged.tokens, tagged.tags)
        yield rows[number], TaggedText(chosen[number], tagged.tokens, tags, tagged.starts, tagged.ends)


def _name_tags(tokens: Sequence[str], tags: Sequence[str]) -> list[str]:
    """The tags with NNP for words with a capital within the sentence (*Hessbrook Thermal*), and one before."""
    mended = [
        "NNP" if number and token[0].isupper() and token != "I" and tag in _OPEN_TAGS else tag
        for number, (token, tag) in enumerate(zip(tokens, tags, strict=True))
    ]
    if len(mended) > 1 and mended[1] in _NAME_TAGS and mended[0] in ("JJ", "NN", "VB", "VBG"):
        mended[0] = "NNP"
    return mended


class NounPhrase(NamedTuple):
    """A noun phrase: positions of tokens, ``end`` is one after the last."""

    start: int
    end: int
    head: int


class ListedVerb(NamedTuple):
    """What ``grounding/verbs.tsv`` says about a verb."""

    verb: str
    passive: str
    """both, if active and passive serve equally well; *to active* if only a passive may be turned; or empty."""
    exchange: str
    """open, excludes or symmetric, if agent and patient may be exchanged; else empty."""
    transfer: str
    """How the second party is named: to, from, object; several apart by spaces."""


@dataclass(frozen=True)
class TransitiveClause:
    """A clause with agent and patient."""

    tagged: TaggedText
    lead: str
    """What stands before the subject: *In 1926*, with the comma and space after it."""
    subject: NounPhrase
    auxiliaries: tuple[str, ...]
    adverb: str
    """An adverb before the verb, with the space after it, such as *first*; mostly empty."""
    verb: int
    listed: ListedVerb
    middle: str
    """Of a passive: what stands between the participle and *by*, with the space before it."""
    other: NounPhrase
    """The object, or the noun phrase after *by*."""
    rest: str
    """What stands after that, with the space before it, without the stop."""
    passive: bool
    stop: str

    @property
    def rest_is_time(self) -> bool:
        """Whether only adverbials of time follow."""
        return not self.rest or _REST_IS_TIME.fullmatch(self.rest) is not None


def transitive_clause(tagged: TaggedText) -> TransitiveClause | str:
    """The parts of a clause, or the reason why it has none."""
    if not has_tagged_verb(tagged):
        return "verb not listed"
    lead = _LEAD.match(tagged.text)
    tail = _TAIL.search(tagged.text)
    parts = tagged.chunks(time_before(tagged), sum(end <= tail.start() for end in tagged.ends) if tail else None)
    subject, place = noun_phrase(tagged, parts, 0, subject=True)
    if subject is None:
        return "no plain clause"
    if place >= len(parts) or parts[place].kind != "verb" or parts[place].form != "finite":
        return "no plain clause"
    verb = parts[place]
    before = tagged.words[verb.start : verb.head]
    adverb = before.pop() if before and before[-1] in clause_words("adverb") else ""
    auxiliaries = tuple(before)
    if not _is_plain(auxiliaries) or verb.end != verb.head + 1:
        return "no plain clause"
    passive = bool(auxiliaries) and auxiliaries[-1] in _BE
    is_participle = passive or (bool(auxiliaries) and auxiliaries[-1] in _HAVE)
    listed = listed_verb(tagged.words[verb.head], participle=is_participle)
    if listed is None:
        return "verb not listed"
    after = place + 1
    middle_end = after
    if passive:
        while middle_end < len(parts) and not (
            parts[middle_end].kind == "preposition" and parts[middle_end].word == "by"
        ):
            middle_end += 1
    begins = middle_end + 1 if passive else after
    other, place = noun_phrase(tagged, parts, begins)
    if other is None:
        return "no agent" if passive else "no plain clause"
    kinds = {part.kind for part in (*parts[after:middle_end], *parts[place:])}
    if kinds - {"noun", "preposition"} or (place < len(parts) and parts[place].kind == "noun"):
        return "no plain clause"
    stop_at = tagged.stop
    return TransitiveClause(
        tagged=tagged,
        lead=lead[0] if lead else "",
        subject=subject,
        auxiliaries=auxiliaries,
        adverb=f"{adverb} " if adverb else "",
        verb=verb.head,
        listed=listed,
        middle=_spaced(tagged, verb.end, parts[middle_end].start) if passive else "",
        other=other,
        rest=_spaced(tagged, other.end, stop_at),
        passive=passive,
        stop=tagged.text[tagged.ends[stop_at - 1] :].strip(),
    )


def time_before(tagged: TaggedText) -> int:
    """The number of tokens before the subject: *In 1926*, with or without comma, or another phrase with one."""
    lead = _LEAD.match(tagged.text)
    return sum(end <= lead.end() for end in tagged.ends) if lead else 0


def _is_plain(auxiliaries: tuple[str, ...]) -> bool:
    """Whether the words before a verb are auxiliaries of a plain tense or a modal, without negation."""
    if auxiliaries[:1] and auxiliaries[0] in _MODALS:
        return auxiliaries[1:] in ((), ("be",))
    if auxiliaries[:1] and auxiliaries[0] in _HAVE:
        return auxiliaries[1:] in ((), ("been",))
    return auxiliaries == () or (len(auxiliaries) == 1 and auxiliaries[0] in ("is", "are", "was", "were"))


def _spaced(tagged: TaggedText, start: int, end: int) -> str:
    text = tagged.span(start, end)
    return f" {text}" if text else ""


def noun_phrase(
    tagged: TaggedText, parts: Sequence[Chunk], place: int, *, subject: bool = False
) -> tuple[NounPhrase | None, int]:
    """The noun phrase at a chunk, with the *of* phrases after it, and the number of the chunk after it.

    Of a subject all prepositional phrases are part, and what *and* joins to it.
    """
    if place >= len(parts) or parts[place].kind != "noun" or tagged.tags[parts[place].end - 1] == "POS":
        return None, place
    start, end, head = parts[place].start, parts[place].end, parts[place].head
    place += 1
    while place + 1 < len(parts) and parts[place + 1].kind == "noun":
        is_of = parts[place].word == "of"
        is_joined = subject and (parts[place].kind == "preposition" or parts[place].word == "and")
        if not is_of and not is_joined:
            break
        end = parts[place + 1].end
        place += 2
    return NounPhrase(start, end, head), place


@cache
def clause_words(name: str) -> frozenset[str]:
    """The words of a list in ``grounding/clause_words.tsv``, such as ``kin``."""
    return frozenset(packaged_table("grounding/clause_words.tsv").filter(list=name)["word"])


@cache
def _verbs() -> dict[str, ListedVerb]:
    return {row[0]: ListedVerb(*row) for row in packaged_table("grounding/verbs.tsv").iter_rows()}


@cache
def _verb_forms() -> dict[tuple[str, bool], ListedVerb]:
    """Form, and whether it is a participle → the verb; forms of two verbs are left out."""
    forms = dict[tuple[str, bool], list[ListedVerb]]()
    for verb, listed in _verbs().items():
        slots = forms_by_slot(verb, "verb")
        for slot in ("base", "third", "past"):
            forms.setdefault((slots[slot], False), []).append(listed)
        forms.setdefault((slots["participle"], True), []).append(listed)
    return {form: verbs[0] for form, verbs in forms.items() if len({*verbs}) == 1}


@cache
def _verb_words() -> frozenset[str]:
    return frozenset(word for word, _ in _verb_forms())


def has_listed_verb(text: str) -> bool:
    """Whether a word of a text may be a form of a listed verb; a quick look before it is tagged."""
    return not _verb_words().isdisjoint(text.lower().split(" "))


def has_tagged_verb(tagged: TaggedText) -> bool:
    """Whether a word that is tagged as a verb may be a form of a listed one."""
    words = _verb_words()
    return any(tag[0] == "V" and word in words for tag, word in zip(tagged.tags, tagged.words, strict=True))


def listed_verb(word: str, *, participle: bool) -> ListedVerb | None:
    """The verb that a word is a form of; None for verbs that are not listed."""
    return _verb_forms().get((word, participle))


def is_plural(tagged: TaggedText, phrase: NounPhrase) -> bool | None:
    """Whether a verb with this subject is plural; None where it cannot be said (*a number of*, *22 percent*)."""
    word, tag = tagged.words[phrase.head], tagged.tags[phrase.head]
    if "and" in tagged.words[phrase.start : phrase.end]:
        return None if "of" in tagged.words[phrase.start : phrase.end] else True
    if word in ("number", "majority", "lot", "percent", "half", "rest", "couple", "group", "all", "some", "most", "%"):
        return None
    if tag == "CD":
        return word != "one" if phrase.head == phrase.start else None
    if tag not in {*NOUN_TAGS, "PRP"}:
        return None
    if tag == "NNPS" or (tag == "NNP" and word.endswith("s") and _may_be_plural(word)):
        return None
    return tag == "NNS" or word in clause_words("plural")


@cache
def _may_be_plural(word: str) -> bool:
    """Whether a name may be a plural, like *Lodges* and *T-shirts*, but not *Uranus*."""
    return any(base != word for base in wordnet().base_forms(word.rpartition("-")[2], "n"))


def is_name(tagged: TaggedText, phrase: NounPhrase) -> bool:
    """Whether a noun phrase is a name, with or without *the*."""
    start = phrase.start + (tagged.words[phrase.start] == "the")
    return start < phrase.end and all(
        tag in _NAME_TAGS or (number and (tag == "CD" or word in ("of", "&", "the")))
        for number, (tag, word) in enumerate(
            zip(tagged.tags[start : phrase.end], tagged.words[start : phrase.end], strict=True)
        )
    )


def place_phrase(tagged: TaggedText, phrase: NounPhrase, document: str, *, initial: bool) -> str | None:
    """The phrase as written at the beginning of a sentence or within; None where its first word may be a name."""
    text = tagged.span(phrase.start, phrase.end)
    if initial:
        return text[:1].upper() + text[1:]
    if phrase.start > 0 or not text[:1].isupper() or re.match(r"I\b", text):
        return text
    first = tagged.tokens[phrase.start]
    lowered = text[:1].lower() + text[1:]
    if tagged.tags[phrase.start] in ("DT", "PRP", "PRP$", "CD", "PDT", "IN"):
        return lowered
    if first == "God" or (tagged.tags[phrase.start] in _NAME_TAGS and is_person_name(first)):
        return text
    inside = re.search(rf"[\w,;] {re.escape(first)}\b", document) is not None
    common = re.search(rf"\b{re.escape(first.lower())}\b", document) is not None
    if inside == common:
        is_tagged_name = tagged.tags[phrase.start] in _NAME_TAGS
        if inside or is_tagged_name != is_unlisted(first):
            return None
        return text if is_tagged_name else lowered
    return lowered if common else text


@cache
def is_unlisted(word: str) -> bool:
    """Whether WordNet has a word only as a name, or not at all."""
    net = wordnet()
    return not any(net.lemma(sense)[:1].islower() for sense in net.senses(word.lower()))


_SUBJECT_FORMS = {"me": "I", "him": "he", "her": "she", "us": "we", "them": "they"}
_OBJECT_FORMS = {form: word for word, form in _SUBJECT_FORMS.items()} | {"i": "me"}


def pronoun_case(text: str, *, subject: bool) -> str:
    """A pronoun in the form of a subject or an object; other phrases as they are."""
    forms = _SUBJECT_FORMS if subject else _OBJECT_FORMS
    return forms.get(text.lower(), text)


def agree(word: str, base: str, *, plural: bool) -> str:
    """A present or past form of a verb that agrees with a subject of the third person."""
    if word in ("is", "are", "was", "were"):
        return ({"i": "are", "a": "are", "w": "were"} if plural else {"i": "is", "a": "is", "w": "was"})[word[0]]
    if word in ("has", "have"):
        return "have" if plural else "has"
    forms = forms_by_slot(base, "verb")
    return (
        forms["base" if plural else "third"]
        if word in (forms["base"], forms["third"]) and word != forms["past"]
        else word
    )
