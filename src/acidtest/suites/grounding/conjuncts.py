"""Exchanges what *and* or *or* joins, where the order says nothing: *Tokyo and Osaka*, *the camera and the lamp*."""

from __future__ import annotations

import re
from functools import cache

from acidtest.english.chunks import NOUN_TAGS
from acidtest.english.clauses import function_words
from acidtest.english.inflection import indefinite_article, match_case
from acidtest.english.transitive import NounPhrase, TaggedText, is_plural, place_phrase
from acidtest.english.values.names import is_calendar_name, is_listed_place, is_person_name, is_title
from acidtest.english.wordnet import wordnet
from acidtest.io.wordlists import packaged_table

ORDERED = re.compile(
    r"\b(?:respectively|former|latter|in that order|in turn|followed by|then|vs|versus|there (?:is|are|was|were)"
    r"|first (?:and|or) second|(?:the|came|finished) first|you and|and I|and me)\b|[?]",
    re.IGNORECASE,
)
"""Words that give an order to what is joined, or make the verb agree with its first part."""
_PRONOUN_AFTER = re.compile(r"\b(?:he|she|his|her|him|hers|himself|herself)\b")
_NAME_TAGS = frozenset({"NNP", "NNPS"})
_DIRECTIONS = frozenset(
    {"North", "South", "East", "West", "Northern", "Southern", "Eastern", "Western", "Upper", "Lower", "New", "Old"}
)
_ARTICLE = re.compile(r"(?<!\w)([Aa]n?) $")
_BE = frozenset({"is", "are", "was", "were", "be", "been"})
_DETERMINERS = frozenset({"the", "a", "an", "this", "that"})
_MODIFIERS = ("JJ", "NN", "NNS")
_UNFIT_ADJECTIVE = re.compile(r"\b(?:other|same|such|own|more|many|few|\w*th|second|third|next|last|early|late)\b")


def exchange_conjuncts(tagged: TaggedText, document: str) -> tuple[str, str, str] | str | None:
    """The text with the last two conjuncts exchanged, and these; a reason why not, or None where nothing is joined."""
    joints = [number for number, word in enumerate(tagged.words) if word in ("and", "or") and number > 0]
    joints = [number for number in joints if number + 1 < len(tagged.words)]
    if not joints:
        return None
    if ORDERED.search(tagged.text):
        return "order matters"
    reason: str | None = None
    for joint in joints:
        if _is_quoted(tagged, joint):
            continue
        result = _names(tagged, joint, document) or _nouns(tagged, joint) or _adjectives(tagged, joint)
        if isinstance(result, str):
            reason = result
        elif result is not None:
            first, second = result
            if _PRONOUN_AFTER.search(tagged.text[tagged.ends[second.end - 1] :]):
                reason = "pronoun"
                continue
            exchanged = _exchange(tagged, first, second, document)
            return exchanged if exchanged else "first word may be a name"
    return reason or "conjuncts not plain"


def _is_quoted(tagged: TaggedText, joint: int) -> bool:
    return sum(mark in '"“”' for mark in tagged.text[: tagged.starts[joint]]) % 2 == 1


def _exchange(tagged: TaggedText, first: NounPhrase, second: NounPhrase, document: str) -> tuple[str, str, str] | None:
    moved = place_phrase(tagged, first, document, initial=False)
    if moved is None:
        return None
    text, other = tagged.text, tagged.span(second.start, second.end)
    start, end = tagged.starts[first.start], tagged.ends[second.end - 1]
    begin = match_case(text[0], other) if start == 0 else other
    middle = text[tagged.ends[first.end - 1] : tagged.starts[second.start]]
    # An article before two adjectives goes with the first: *a long and old road*, *an old and long road*.
    head = _ARTICLE.sub(lambda match: f"{match[1][:1]}{indefinite_article(begin)[1:]} ", text[:start])
    return f"{head}{begin}{middle}{moved}{text[end:]}", tagged.span(first.start, first.end), other


def _names(tagged: TaggedText, joint: int, document: str) -> tuple[NounPhrase, NounPhrase] | str | None:
    tags, tokens = tagged.tags, tagged.tokens
    start = joint
    while start > 0 and tags[start - 1] in _NAME_TAGS:
        start -= 1
    end = joint + 1
    while end < len(tags) and tags[end] in _NAME_TAGS:
        end += 1
    if start == joint or end == joint + 1:
        return None
    left, right = tokens[start:joint], tokens[joint + 1 : end]
    after = tags[end] if end < len(tags) else "."
    before = tokens[start - 1].lower() if start else ""
    if start and tokens[start - 1][0].isupper() and before not in function_words():
        return "conjuncts not plain"
    if after in ("NN", "NNS", "POS", "CC", "CD", "``", "(", ",") or before in ("the", "a", "an", "and", "or", "&"):
        return "conjuncts not plain"
    if {*left, *right} & _DIRECTIONS or any(is_calendar_name(token) for token in (*left, *right)):
        return "conjuncts not plain"
    names = [" ".join(left), " ".join(right)]
    known = [is_listed_place(name) or is_person_name(name) or _stands_alone(name, names, document) for name in names]
    # A firm may be called Hob and Table, but not Gunnar Petrosh and Willa Amberley.
    if not all(known) and not (any(map(is_person_name, names)) and min(len(left), len(right)) > 1):
        return "may be one name"
    titled = [is_title(words[0]) and len(words) > 1 for words in (left, right)]
    is_even = len(left) == len(right) or all(map(is_listed_place, names)) or min(len(left), len(right)) > 1
    if titled[0] != titled[1] or not is_even or (left[0].endswith("s") and is_title(left[0][:-1])):
        return "conjuncts not plain"
    return NounPhrase(start, joint, joint - 1), NounPhrase(joint + 1, end, end - 1)


def _stands_alone(name: str, names: list[str], document: str) -> bool:
    """Whether a document has a name also without the other that it is joined to."""
    joined = sum(
        document.count(f"{first} {joint} {second}")
        for joint in ("and", "or", "&")
        for first, second in (names, names[::-1])
    )
    return document.count(name) > joined


def _nouns(tagged: TaggedText, joint: int) -> tuple[NounPhrase, NounPhrase] | None:
    """Two noun phrases with articles, or two nouns with none: *the bow and the arrow*, *iron and tin*."""
    tags, words = tagged.tags, tagged.words
    if tags[joint - 1] not in ("NN", "NNS"):
        return None
    start, end = joint - 1, joint + 2
    while start > 0 and tags[start - 1] in _MODIFIERS and words[start - 1] not in _DETERMINERS:
        start -= 1
    has_article = start > 0 and words[start - 1] in _DETERMINERS
    if has_article:
        start -= 1
        if words[joint + 1] not in _DETERMINERS:
            return None
        while end < len(tags) and tags[end] in _MODIFIERS:
            end += 1
    if tags[end - 1] not in ("NN", "NNS") or (not has_article and start != joint - 1):
        return None
    first, second = NounPhrase(start, joint, joint - 1), NounPhrase(joint + 1, end, end - 1)
    after = tags[end] if end < len(tags) else "."
    if after not in (".", "VBZ", "VBP", "VBD", "MD") or (after != "." and start > 0):
        return None
    numbers = is_plural(tagged, first), is_plural(tagged, second)
    if None in numbers or (words[joint] == "or" and numbers[0] != numbers[1]):
        return None
    if f"{words[joint - 1]} {words[end - 1]}" in _fixed_pairs() or words[joint - 1] == words[end - 1]:
        return None
    if start > 0 and tags[start - 1] in ("VB", "VBP") and not has_article and wordnet().base_forms(words[end - 1], "v"):
        # "To write books and travel".
        return None
    return (first, second) if _opens(tagged, start, has_article=has_article) else None


def _opens(tagged: TaggedText, start: int, *, has_article: bool) -> bool:
    """Whether a joined phrase can begin here: after a verb, or after a preposition that belongs to one."""
    if start == 0:
        return True
    before = tagged.tags[start - 1]
    if before in ("NNP", "PRP") and tagged.words[start] in ("a", "an"):
        # "She gave Emre a chain and a lamp."
        return True
    if before in ("IN", "TO"):
        # "Members of the board and the council": which of them are members?
        return not has_article or (start > 1 and tagged.tags[start - 2] not in {*NOUN_TAGS, "CD"})
    if before in ("VBG", "VBN") and start > 1 and tagged.tags[start - 2] in ("DT", "JJ", "JJR", "PRP$", "CD"):
        return False
    return before in ("VB", "VBZ", "VBP", "VBD", "VBG", "VBN") and tagged.words[start - 1] not in ("called", "named")


def _adjectives(tagged: TaggedText, joint: int) -> tuple[NounPhrase, NounPhrase] | None:
    """Two adjectives after *be* or before a noun: *the road is steep and narrow*, *a steep and narrow road*."""
    tags, words = tagged.tags, tagged.words
    if joint < 2 or (tags[joint - 1], tags[joint + 1]) != ("JJ", "JJ"):
        return None
    before, after = words[joint - 2], tags[joint + 2] if joint + 2 < len(tags) else "."
    is_predicate = before in _BE and after == "."
    is_attribute = (before in ("the", "a", "an") or tags[joint - 2] in ("IN", "VBZ", "VBP", "VBD")) and after in (
        "NN",
        "NNS",
    )
    pair = f"{words[joint - 1]} {words[joint + 1]}"
    if not (is_predicate or is_attribute) or pair in _fixed_pairs() or _UNFIT_ADJECTIVE.search(pair):
        return None
    return NounPhrase(joint - 1, joint, joint - 1), NounPhrase(joint + 1, joint + 2, joint + 1)


@cache
def _fixed_pairs() -> frozenset[str]:
    """Pairs with a fixed order, such as *salt pepper*."""
    return frozenset(packaged_table("grounding/fixed_pairs.tsv")["words"])
