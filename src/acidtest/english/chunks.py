"""Noun phrases, verb groups and the words between them, found in tagged words from left to right.

*The old man | has not seen | the dog | in | the yard*: a chunk is the part of a phrase up to its head. The light parser
builds a tree of chunks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from acidtest.io.wordlists import packaged_table

NOUN_TAGS = frozenset({"NN", "NNS", "NNP", "NNPS"})
VERB_TAGS = frozenset({"VB", "VBZ", "VBP", "VBD", "VBN", "VBG", "MD"})
FINITE_TAGS = frozenset({"VBZ", "VBP", "VBD", "MD"})
BE = frozenset({"is", "are", "was", "were", "am", "be", "been", "being", "'s", "'re", "'m", "’s", "’re", "’m", "ai"})
HAVE = frozenset({"has", "have", "had", "having", "'ve", "’ve", "'d", "’d"})
DO = frozenset({"do", "does", "did"})
_PRONOUNS = frozenset({"PRP", "EX"})
_DETERMINERS = frozenset({"DT", "PDT", "PRP$", "WP$"})
_MODIFIERS = frozenset({"JJ", "JJR", "JJS", "CD", "$", "FW", *NOUN_TAGS})
_PARTICIPLES = frozenset({"VBN", "VBG"})
_ADVERBS = frozenset({"RB", "RBR", "RBS"})
_LONGEST_CONNECTIVE = 4
_BOUNDS = frozenset(
    tuple(words.split())
    for words in (
        "more than", "less than", "fewer than", "at least", "at most", "up to", "as many as", "no more than",
        "no fewer than", "no less than", "not more than",
    )
)  # fmt: skip
"""Words before a number that make it a bound."""


@dataclass(frozen=True)
class Chunk:
    """A stretch of words with its head; numbers are positions in the sentence, ``end`` is one after the last.

    ``kind`` is noun, verb, adjective, adverb, preposition, mark (*if*), relative (*who*), joint (*and*), comma, break
    (a semicolon or dash), quote or other. ``word`` is the whole connective for prepositions, marks and joints.
    """

    kind: str
    start: int
    end: int
    head: int
    word: str = ""
    form: str = ""
    """Of a verb: finite, base, infinitive, gerund or participle."""


def chunks(words: Sequence[str], tags: Sequence[str]) -> list[Chunk]:
    """The chunks of a sentence, given its words in lower case and their tags; every word is in one."""
    parts: list[Chunk] = []
    place = 0
    while place < len(words):
        bounded = _after_bound(words, tags, place) > place
        chunk = (
            (None if bounded else _connective(words, tags, place))
            or _noun_chunk(words, tags, place)
            or _verb_chunk(words, tags, place)
            or _single(words, tags, place)
        )
        parts.append(chunk)
        place = chunk.end
    return parts


@cache
def _connectives() -> dict[tuple[str, ...], str]:
    """The kind of every listed connective of one word or several."""
    table = packaged_table("contexts/connectives.tsv").select("words", "kind")
    return {tuple(words.split()): kind for words, kind in table.iter_rows()}


@cache
def _openers() -> frozenset[str]:
    return frozenset(words[0] for words in _connectives())


def _connective(words: Sequence[str], tags: Sequence[str], place: int) -> Chunk | None:
    """The longest listed connective that begins here, as far as the tags allow it."""
    if words[place] not in _openers():
        return None
    for size in range(min(_LONGEST_CONNECTIVE, len(words) - place), 0, -1):
        kind = _connectives().get(tuple(words[place : place + size]))
        if words[place : place + size] == ["in", "case"] and place + 2 < len(tags) and tags[place + 2] in NOUN_TAGS:
            # "In case studies".
            continue
        if kind and (size > 1 or _fits(kind, words, tags, place)):
            return Chunk(kind, place, place + size, place, " ".join(words[place : place + size]))
    return None


def _fits(kind: str, words: Sequence[str], tags: Sequence[str], place: int) -> bool:
    """Whether the tag of a one-word connective allows that use: *that* is often a determiner, *like* a verb."""
    tag = tags[place]
    if words[place] in ("that", "which", "whatever"):
        following = tags[place + 1] if place + 1 < len(tags) else "."
        if following in ("NNS", "NNPS", "JJ") and "NNS" in tags[place + 1 : place + 3] and words[place] == "that":
            # "That many people came": before a plural it is no determiner.
            return place > 0
        return tag != "DT" or following in _PRONOUNS or (following in FINITE_TAGS - {"VBD"} and place > 0)
    if kind == "preposition":
        return tag not in VERB_TAGS and tag not in NOUN_TAGS and tag not in ("JJ", "RP")
    if kind == "mark" and tag == "RB":
        # "A fountain once stood", but "once it rains".
        return place + 1 < len(tags) and tags[place + 1] in ("DT", "PRP", "PRP$", "NNP", "EX")
    if kind == "mark":
        return tag in ("IN", "RB", "WRB", "CC", "NN", "NNP", "WDT")
    return True


def _noun_chunk(words: Sequence[str], tags: Sequence[str], start: int) -> Chunk | None:
    """The noun phrase that begins here, up to its head noun."""
    tag = tags[start]
    if (
        words[start] == "neither"
        and start + 1 < len(tags)
        and tags[start + 1] not in (*NOUN_TAGS, "IN", "JJ", "MD", "VBZ")
    ):
        # "Neither a dog nor a cat", "he neither sang nor danced".
        return None
    counted = _after_bound(words, tags, start)
    if counted > start:
        rest = _noun_chunk(words, tags, counted)
        return rest and Chunk("noun", start, rest.end, rest.head)
    if tag in _PRONOUNS:
        return Chunk("noun", start, start + 1, start)
    if not (tag in _DETERMINERS or tag in _MODIFIERS or (tag == "RB" and _begins_counted(words, tags, start))):
        begins = (
            tag in _PARTICIPLES
            and start + 1 < len(tags)
            and tags[start + 1] in NOUN_TAGS
            and _is_premodifier(tags, start)
        )
        if not begins:
            return None
    place, head = start, -1
    while place < len(words):
        tag = tags[place]
        if tag in _DETERMINERS:
            if head >= 0 or (place > start and not _may_follow(words, tags, place)):
                break
        elif tag in NOUN_TAGS or tag == "CD":
            head = place
        elif tag == "POS":
            if head < 0:
                break
        elif not _goes_on(words, tags, place, start):
            break
        place += 1
    if head < 0:
        return _bare_determiner(words, tags, start)
    end = head + 1
    if end < len(words) and tags[end] == "POS":
        # "The boys' friends": the possessive ends the phrase if no noun follows.
        end += 1
    return Chunk("noun", start, end, head)


def _after_bound(words: Sequence[str], tags: Sequence[str], start: int) -> int:
    """The position of the number after *more than*, *at least* and the like; ``start`` where there is none."""
    for size in (3, 2):
        after = start + size
        if after < len(words) and tuple(words[start:after]) in _BOUNDS:
            return after if tags[after] == "CD" or words[after] in ("a", "half", "one") else start
    return start


def _may_follow(words: Sequence[str], tags: Sequence[str], place: int) -> bool:
    """Whether a determiner may follow the word before it: *all the*, *both his*."""
    return tags[place - 1] in ("PDT", "DT") and words[place - 1] in ("all", "both", "half", "such", "quite", "what")


def _begins_counted(words: Sequence[str], tags: Sequence[str], start: int) -> bool:
    """Whether an adverb begins a counted phrase: *about ten men*, *nearly every dog*, *only three*."""
    after = tags[start + 1] if start + 1 < len(tags) else ""
    return after in ("CD", "DT", "PDT") and words[start] in (
        "about", "nearly", "almost", "only", "just", "exactly", "roughly", "approximately", "hardly", "not", "some",
    )  # fmt: skip


def _goes_on(words: Sequence[str], tags: Sequence[str], place: int, start: int) -> bool:
    """Whether a word before the head noun belongs to the phrase."""
    tag, after = tags[place], tags[place + 1] if place + 1 < len(tags) else ""
    if tag in _MODIFIERS:
        return True
    if tag in _PARTICIPLES:
        return after in {*NOUN_TAGS, "JJ"} and _is_premodifier(tags, place)
    if tag in _ADVERBS:
        return place == start or after in ("JJ", "CD", "VBN", "JJS", "JJR")
    if tag in ("CC", ",") and tags[place - 1] in ("JJ", "JJR", "CD", "VBN"):
        # "A black and white dog", "a big, black dog".
        return after == tags[place - 1] and any(later in NOUN_TAGS for later in tags[place + 2 : place + 4])
    return False


def _is_premodifier(tags: Sequence[str], place: int) -> bool:
    """Whether a participle stands before its noun: *the broken chair*, not *a man carrying bags*."""
    before = tags[place - 1] if place else "START"
    return before in ("DT", "PRP$", "JJ", "CD", "POS", "START", "IN", "CC", "RB", ",") and not (
        before in ("START", "IN", ",", "CC", "RB") and tags[place] == "VBG"
    )


def _bare_determiner(words: Sequence[str], tags: Sequence[str], start: int) -> Chunk | None:
    """*This*, *the poor* or *many* as a noun phrase of its own; None if the words are an adjective phrase."""
    if words[start] in ("the", "a", "an") and start + 1 < len(tags) and tags[start + 1] in ("JJ", "JJS", "VBN"):
        last = start + 1
        while last + 1 < len(tags) and tags[last + 1] == "JJ":
            last += 1
        return Chunk("noun", start, last + 1, last)
    if tags[start] in ("DT", "PRP$", "PDT", "CD"):
        return Chunk("noun", start, start + 1, start)
    if words[start] in ("many", "few", "several", "most", "more", "less", "much", "fewer") and (
        start + 1 < len(words) and words[start + 1] == "of"
    ):
        return Chunk("noun", start, start + 1, start)
    return None


def _verb_chunk(words: Sequence[str], tags: Sequence[str], start: int) -> Chunk | None:
    """The verb group that begins here, with its auxiliaries, negation and adverbs between."""
    place, form = start, ""
    if tags[place] == "TO" and _infinitive_follows(words, tags, place):
        form, place = "infinitive", place + 1
        while tags[place] in _ADVERBS:
            place += 1
    elif tags[place] in _ADVERBS:
        place = _after_adverbs(tags, place)
        if place >= len(tags) or tags[place] not in VERB_TAGS:
            return None
    elif tags[place] not in VERB_TAGS:
        return None
    if not form:
        form = _form(tags[place])
    while True:
        after = _after_adverbs(tags, place + 1)
        if after >= len(words) or not _continues(words, tags, place, after):
            break
        place = after
    end = place + 1
    while end < len(words) and (words[end] in ("not", "n't", "n’t", "never") or tags[end] == "RP"):
        end += 1
    return Chunk("verb", start, end, place, form=form)


def _infinitive_follows(words: Sequence[str], tags: Sequence[str], place: int) -> bool:
    after = _after_adverbs(tags, place + 1)
    return after < len(words) and tags[after] in ("VB", "VBP") and tags[place + 1] not in NOUN_TAGS


def _after_adverbs(tags: Sequence[str], place: int) -> int:
    while place < len(tags) and tags[place] in _ADVERBS:
        place += 1
    return place


def _form(tag: str) -> str:
    if tag in FINITE_TAGS:
        return "finite"
    return {"VB": "base", "VBG": "gerund"}.get(tag, "participle")


def _continues(words: Sequence[str], tags: Sequence[str], place: int, after: int) -> bool:
    """Whether the verb at ``after`` belongs to the auxiliary at ``place``."""
    word, tag = words[place], tags[after]
    if tags[place] == "MD" or word in DO:
        return tag in ("VB", "VBP") or (tags[place] == "MD" and words[after] in BE | HAVE)
    if word in BE:
        return tag in ("VBG", "VBN", "VBD") or words[after] in BE
    if word in HAVE:
        return tag in ("VBN", "VBD")
    return word in ("get", "gets", "got", "getting") and tag == "VBN" and after == place + 1


def _single(words: Sequence[str], tags: Sequence[str], place: int) -> Chunk:
    """A chunk of one word, or an adjective with its adverb."""
    tag, end = tags[place], place + 1
    if tag in _ADVERBS:
        head = _after_adverbs(tags, place)
        if head < len(tags) and tags[head] in ("JJ", "JJR", "VBN"):
            return Chunk("adjective", place, head + 1, head)
        return Chunk("adverb", place, end, place)
    if words[place] == "neither":
        return Chunk("adverb", place, end, place)
    kind = {
        "JJ": "adjective", "JJR": "adjective", "JJS": "adjective", "IN": "preposition", "TO": "preposition",
        "CC": "joint", "WDT": "relative", "WP": "relative", "WRB": "relative", ",": "comma", ":": "break",
        "``": "quote", "''": "quote", "-LRB-": "break", "-RRB-": "break", "(": "break", ")": "break", "RP": "adverb",
    }.get(tag, "other")  # fmt: skip
    if words[place] in ("--", "-", "—", "–", ";", ":"):
        kind = "break"
    return Chunk(kind, place, end, place, words[place])
