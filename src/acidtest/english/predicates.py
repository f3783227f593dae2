"""The finite verb of a sentence's main clause: found by its tags, negated, and freed of a negation.

*Halden Brace | designed | the gates that Orsolo Marine built.* Other clauses may follow the verb, none may precede it;
a sentence in which another word could be the verb is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from acidtest.english.cautions import caution_pattern
from acidtest.english.inflection import base_form_candidates, forms_by_slot, inflect, match_case
from acidtest.english.wordnet import wordnet

_FINITE = ("VBZ", "VBP", "VBD", "MD")
_NOUNS = ("NN", "NNS", "NNP", "NNPS")
_BE = ("is", "are", "was", "were", "am")
_MODALS = ("will", "can", "must", "shall")
_ADVERBS = ("first", "last", "then", "all", "both", "each")
_PREPOSITIONS = (
    "in",
    "on",
    "at",
    "by",
    "since",
    "after",
    "during",
    "from",
    "until",
    "under",
    "around",
    "within",
    "before",
)
_SUBORDINATORS = re.compile(
    r"(?:who|whom|whose|which|that|when|while|because|although|though|whereas|where|how|what|why|if|unless|whether|"
    r"until|as|than|after|before|since|and|but|or|so|,|;|:|--|\()/",
)
_DEFINITE = ("the", "this", "that", "these", "those", "his", "her", "its", "their", "our", "my")
_PRONOUNS = ("he", "she", "it", "they", "we", "i")
_NOT_IN_SUBJECTS = ("/WP", "/WDT", "/VBG", "/RP")
_NOT = ("not", "n't", "n’t")


@dataclass(frozen=True)
class Predicate:
    """The finite verb of the main clause of ``text``; positions are offsets, words are in lower case."""

    text: str
    word: str
    tag: str
    start: int
    end: int
    subject: tuple[str, ...]
    subject_tags: tuple[str, ...]
    plural: bool
    """Whether the subject is plural."""
    next_words: tuple[str, ...]
    """The words after the verb."""
    next_starts: tuple[int, ...]
    next_ends: tuple[int, ...]
    next_tags: tuple[str, ...]

    @property
    def is_auxiliary(self) -> bool:
        """Whether *not* can follow the verb directly."""
        if self.word in ("has", "have", "had"):
            following = [tag for tag in self.next_tags[:2] if tag != "RB"]
            return following[:1] == ["VBN"]
        return self.word in (*_BE, *_MODALS)

    @property
    def is_past(self) -> bool:
        """Whether the clause is about the past: *rose*, *had risen*, *has risen*."""
        return self.tag == "VBD" or (self.word in ("has", "have") and self.is_auxiliary)

    @property
    def joins_verbs(self) -> bool:
        """Whether *and* joins another verb: *it opened in 2008 and carried passengers*."""
        if "and" not in self.next_words:
            return False
        place = self.next_words.index("and") + 1
        return self.next_tags[place : place + 1] == ("VBN",) or any(tag in _FINITE for tag in self.next_tags[place:])

    @property
    def subject_problem(self) -> str | None:
        """Why a negation of the verb need not be the opposite of the whole sentence; None for *the man* and *he*."""
        first, tag = self.subject[0], self.subject_tags[0]
        rest = self.subject[1:] if first in ("the", "this", "that") else self.subject
        is_known = first in _DEFINITE or first in _PRONOUNS or tag in ("NNP", "NNPS", "NN", "JJ")
        # An article inside the subject belongs to another noun: "the price of a lunch".
        inner = " ".join(word for word in rest[1:] if word not in ("a", "an", "one", "number"))
        quantified = caution_pattern("subject")
        if not is_known or quantified.match(first) or quantified.search(inner):
            return "quantified or indefinite subject"
        if self.plural and tag in ("NN", "JJ") and "and" not in self.subject:
            return "quantified or indefinite subject"
        is_adverb = self.subject_tags[-1] in ("RB", "RBR", "RBS") or self.subject[-1] in (
            "first",
            "last",
            "then",
            "all",
        )
        return "adverb before the verb" if is_adverb else None


def main_predicate(
    text: str, tokens: Sequence[str], tags: Sequence[str], starts: Sequence[int], ends: Sequence[int]
) -> Predicate | str:
    """The main finite verb of a tagged sentence, or the reason why it is not certain which one it is."""
    words = [token.lower() for token in tokens]
    begin = _subject_start(words, tags)
    verb = next((place for place in range(begin, len(tags)) if tags[place] in _FINITE), None)
    tag = "" if verb is None else tags[verb]
    if verb is None:
        # Taggers often take a past tense for a participle; without another verb it is one.
        verb = next((place for place in range(begin, len(tags)) if tags[place] == "VBN"), None)
        tag = "VBD"
    if verb is None or verb == begin:
        return "no plain subject and finite verb"
    tagged = [f"{word}/{tag}" for word, tag in zip(words, tags, strict=True)]
    before = [item for item in tagged[begin:verb] if not item.startswith("and/")]
    # The first word may be the "that" of "that firm", or a participle as in "fishing is banned".
    starts_clause = _SUBORDINATORS.match(before[0]) and not before[0].startswith("that/")
    if starts_clause or any(_SUBORDINATORS.match(item) or item.endswith(_NOT_IN_SUBJECTS) for item in before[1:]):
        return "no plain subject and finite verb"
    if _has_second_verb(tagged, verb):
        return "several clauses"
    plural = is_plural_phrase(words[begin:verb], tags[begin:verb])
    word = words[verb]
    if not _agrees(word, tag, plural=plural, subject=words[begin]):
        return "subject and verb do not agree"
    return Predicate(
        text=text,
        word=word,
        tag=tag,
        start=starts[verb],
        end=ends[verb],
        subject=tuple(words[begin:verb]),
        subject_tags=tuple(tags[begin:verb]),
        plural=plural,
        next_words=tuple(words[verb + 1 :]),
        next_starts=tuple(starts[verb + 1 :]),
        next_ends=tuple(ends[verb + 1 :]),
        next_tags=tuple(tags[verb + 1 :]),
    )


def _subject_start(words: Sequence[str], tags: Sequence[str]) -> int:
    """Where the subject begins: behind a phrase in front such as *In 2021* or *At the end of May,*."""
    if words[0] not in _PREPOSITIONS:
        return 0
    if "," in words[:10]:
        comma = words.index(",")
        return comma + 1 if not any(tag in _FINITE for tag in tags[:comma]) else 0
    is_time = len(tags) > 2 and (tags[1] == "CD" or words[1] in _months())
    place = 2 if not (is_time and len(tags) > 3 and tags[2] == "CD") else 3
    return place if is_time and tags[place] in ("DT", "NNP", "PRP", "PRP$") else 0


@cache
def _months() -> frozenset[str]:
    names = "january february march april may june july august september october november december"
    return frozenset(names.split())


def _has_second_verb(tagged: Sequence[str], verb: int) -> bool:
    """Whether a finite verb follows with nothing before it that could begin another clause."""
    for item in tagged[verb + 1 :]:
        if _SUBORDINATORS.match(item) or item.endswith(("/WP", "/WDT", "/WRB", "/WP$")):
            return False
        if item.endswith(tuple(f"/{tag}" for tag in _FINITE)):
            return True
    return False


def is_plural_phrase(words: Sequence[str], tags: Sequence[str]) -> bool:
    """Whether a noun phrase takes a plural verb; what follows its head (*of the lamps*) does not count."""
    if "and" in words or words[0] in ("they", "we", "these", "those"):
        return True
    begin = 2 if words[0] in ("some", "most", "many", "several", "few", "half", "all") and "of" in words[:2] else 0
    ends = (place for place in range(begin + 1, len(tags)) if tags[place] in ("IN", "TO", "VBN", ",", "WDT"))
    nouns = [tag for tag in tags[begin : next(ends, len(tags))] if tag in _NOUNS]
    return bool(nouns) and nouns[-1] == "NNS"


def _agrees(word: str, tag: str, *, plural: bool, subject: str) -> bool:
    if subject == "i":
        return word in ("was", "am", "have", "will", "can") or tag in ("VBD", "VBP")
    if word in ("is", "was", "has") or tag == "VBZ":
        return not plural
    return plural if word in ("are", "were", "have") or tag == "VBP" else word != "am"


def insert_negation(predicate: Predicate) -> str | None:
    """The sentence with *not* at its verb; None where the verb takes no *not* or its base form is uncertain."""
    text, start, end = predicate.text, predicate.start, predicate.end
    if predicate.word in ("did", "does", "do", "used"):
        return None
    if predicate.is_auxiliary:
        return f"{text[:end]}not{text[end:]}" if predicate.word == "can" else f"{text[:end]} not{text[end:]}"
    if predicate.tag == "MD":
        return None
    base = "have" if predicate.word in ("has", "have", "had") else base_form(predicate.word, predicate.tag)
    # "I put 75 dollars on it" may be past or present.
    if base is None or (predicate.tag == "VBP" and inflect(base, "v", "VBD") == base):
        return None
    auxiliary = {"VBZ": "does not", "VBD": "did not", "VBP": "do not"}[predicate.tag]
    return f"{text[:start]}{auxiliary} {base}{text[end:]}"


def base_form(word: str, tag: str) -> str | None:
    """The base form of a finite verb with this tag; None where it is unknown or there are several."""
    slot = {"VBZ": "third", "VBD": "past", "VBP": "base"}.get(tag)
    net = wordnet()
    bases = {
        base
        for base in base_form_candidates(word, "v")
        if base in net.base_forms(base, "v") and slot and forms_by_slot(base, "verb")[slot] == word
    }
    # "Found" is the past of "find" and the base form of another verb; only the tag's own slot counts.
    return bases.pop() if len(bases) == 1 else None


def remove_negation(predicate: Predicate) -> str | None:
    """The sentence without the *not* or *never* at its verb, or with *some* for *no*; None where it has none there."""
    text, words, tags = predicate.text, predicate.next_words, predicate.next_tags
    starts, ends = predicate.next_starts, predicate.next_ends
    if not words:
        return None
    if words[0] in _NOT:
        if predicate.word in ("did", "does", "do"):
            return _without_do(predicate)
        word = {"wo": "will", "ca": "can"}.get(predicate.word, predicate.word)
        word = "may" if word == "must" else word
        rest = text[ends[0] :]
        if words[1:2] == ("yet",):
            rest = f" already{text[ends[1] :]}"
        return f"{text[: predicate.start]}{match_case(predicate.word, word)}{rest}"
    if words[0] == "never" and predicate.is_auxiliary:
        return text[: predicate.end] + text[ends[0] :]
    if words[0] == "no" and words[1:2] != ("longer",) and tags[1:2] and tags[1] in ("NN", "NNS", "JJ"):
        return f"{text[: starts[0]]}some{text[ends[0] :]}"
    return None


def _without_do(predicate: Predicate) -> str | None:
    words, ends = predicate.next_words, predicate.next_ends
    if len(words) < 2 or words[1] not in wordnet().base_forms(words[1], "v"):
        return None
    tag = {"did": "VBD", "does": "VBZ", "do": "VBP"}[predicate.word]
    verb = "has" if (words[1], tag) == ("have", "VBZ") else inflect(words[1], "v", tag)
    return f"{predicate.text[: predicate.start]}{verb}{predicate.text[ends[1] :]}"


def finite_form(base: str, *, plural: bool) -> str:
    """The present tense of a verb: *serve*, *serves*; *are*, *is*."""
    if base in ("be", "have"):
        return {("be", True): "are", ("be", False): "is", ("have", True): "have", ("have", False): "has"}[base, plural]
    return inflect(base, "v", "VBP" if plural else "VBZ")


def past_form(participle: str, *, plural: bool) -> str | None:
    """The past tense for a participle: *taken*, *took*; *been*, *was* or *were*; None where it is unknown."""
    if participle == "been":
        return "were" if plural else "was"
    bases = [base for base in base_form_candidates(participle, "v") if base in wordnet().base_forms(base, "v")]
    pasts = {inflect(base, "v", "VBD") for base in bases if inflect(base, "v", "VBN") == participle}
    return pasts.pop() if len(pasts) == 1 else None
