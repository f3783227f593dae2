"""Drops a restriction from a sentence so that the rest follows from it: *in 2021* in *In 2021 the mill burned*.

Dropping weakens a plain statement about the past, but not a negated one, a universal, a superlative, a total or a
comparison, nor a habit (*the shop is closed on Sundays*).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from acidtest.english.inflection import indefinite_article
from acidtest.english.transitive import TIME, TaggedText, clause_words, is_unlisted
from acidtest.english.values.names import is_listed_place
from acidtest.io.wordlists import packaged_table

_GUARDED = re.compile(
    r"\b(?:no|not|never|none|nobody|nothing|neither|nor|nowhere|without|hardly|rarely|seldom|barely|few|fewer|little|less"
    r"|least|more|most|than|as|only|just|even|still|already|yet|alone|except|all|every\w*|each|any\w*|always|ever|both"
    r"|whole|entire|total|totals|average|altogether|overall|if|unless|whether|when|until|because|since|record|half"
    r"|first|last|second|third|final|best|worst|highest|lowest|largest|smallest|oldest|youngest|main|usual\w*|normally"
    r"|majority|percent|same|other|another|next|again|once|twice|per|may|might|can|could|must|should|would|used to"
    r"|said|says|say|claim\w*|believ\w*|think\w*|thought|according|wanted|hoped|planned"
    r"|appeared to|failed|refused|denied|seem\w*"
    r"|it was|it is|how|why|what|where|between|so|too|such|enough|rather|almost|nearly|about|over|under|up to|at)\b"
    r"|n['’]t\b|\d|[?;:%\"“”()]|\b(?:in|de)crease\w*|\b(?:rose|risen|fell|fallen|grew|grown|dropped|declined|decreased|doubled|lasted)\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|\w+ty|hundred|thousand|million|dozen)\b",
    re.IGNORECASE,
)
_LEAD = re.compile(rf"(?:{TIME}),? (?=\S)")
_FINAL = re.compile(rf",? (?:{TIME})(?=[.]?\s*$)")
_LEAD_PLACE = re.compile(r"In ((?:[A-Z][\w’'-]+ ?)+), (?=\S)")
_FINAL_PLACE = re.compile(r" in (?:the )?((?:[A-Z][\w’'-]+ ?)+)(?=[.]?\s*$)")
_APPOSITION = re.compile(
    r"^((?:[A-Z][\w’'-]+\.? ?)+), (?:an? [a-z]|the [a-z]|who |which |whose )[^,;:?]*,(?= (?!and\b|or\b|but\b)[a-z])"
)
_FINAL_CLAUSE = re.compile(r"(?<=\w), (?:which|who) [^,;:?]+(?=[.]\s*$)")
_PAST = frozenset({"VBD", "VBN"})
_AUXILIARIES = frozenset({"was", "were", "been", "has", "have", "had", "being", "got"})


@dataclass(frozen=True)
class Weakening:
    """A sentence without a restriction, what was dropped, and its kind: time, place, clause or adjective."""

    text: str
    dropped: str
    kind: str


def may_restrict(text: str) -> bool:
    """Whether a text may have a restriction to drop; a quick look before it is tagged."""
    return bool(
        _APPOSITION.match(text)
        or _FINAL_CLAUSE.search(text)
        or _LEAD.match(text)
        or _FINAL.search(text)
        or _LEAD_PLACE.match(text)
        or _FINAL_PLACE.search(text)
        or _adjective_pattern().search(text)
    )


def drop_restriction(tagged: TaggedText) -> Weakening | str | None:
    """The sentence without one restriction, the reason why none may be dropped, or None where it has none."""
    text = tagged.text
    if (match := _APPOSITION.match(text)) and _is_name(match[1]):
        return Weakening(
            text[: match.end(1)] + text[match.end() :], text[match.end(1) : match.end()].strip(" ,"), "clause"
        )
    match = _FINAL_CLAUSE.search(text)
    if match and _is_name_before(tagged, match.start()) and not _GUARDED.search(text[: match.start()]):
        return Weakening(text[: match.start()] + text[match.end() :], match[0].strip(" ,"), "clause")
    for pattern, kind in ((_LEAD, "time"), (_FINAL, "time"), (_LEAD_PLACE, "place"), (_FINAL_PLACE, "place")):
        match = pattern.match(text) if pattern in (_LEAD, _LEAD_PLACE) else pattern.search(text)
        if match:
            return _drop_adverbial(tagged, match, kind)
    return _drop_adjective(tagged)


def _is_name(text: str) -> bool:
    """Whether words with capitals that begin a sentence are a name: several, or one that no dictionary has."""
    return " " in text.strip() or is_unlisted(text)


def _is_name_before(tagged: TaggedText, end: int) -> bool:
    """Whether the word before a comma has a capital: a clause after a name only adds."""
    return re.split(r"\s+", tagged.text[:end].rstrip(" ,."))[-1][:1].isupper()


def _drop_adverbial(tagged: TaggedText, match: re.Match[str], kind: str) -> Weakening | str:
    text = tagged.text
    rest = text[: match.start()] + text[match.end() :]
    if reason := _doubt(tagged, rest, match):
        return reason
    if match.start() == 0:
        rest = rest[:1].upper() + rest[1:]
        return Weakening(rest, match[0].strip(" ,"), kind)
    before = [number for number, end in enumerate(tagged.ends) if end <= match.start()]
    if not before:
        return "not an adjunct"
    last = before[-1]
    word, tag = tagged.words[last], tagged.tags[last]
    if kind == "place":
        name = match[1].strip()
        if not is_listed_place(name) and not name[:1].isupper():
            return "not an adjunct"
        if tag not in _PAST or word in clause_words("needs place"):
            # "The factory in Tornmere" is not any factory, and "she lived in Berlin" needs its place.
            return "not an adjunct"
    elif word in clause_words("needs time") or tag in ("IN", "TO", "CC", "DT"):
        return "not an adjunct"
    elif tag == "VBN" and not {*tagged.words[max(0, last - 3) : last]} & _AUXILIARIES:
        # "In a letter written in 1904".
        return "not an adjunct"
    return Weakening(rest, match[0].strip(" ,"), kind)


def _doubt(tagged: TaggedText, rest: str, match: re.Match[str]) -> str | None:
    """Why the rest need not follow."""
    if _GUARDED.search(rest):
        return "negation, quantity or scope"
    if _NUMBER.search(rest):
        return "number"
    inside = [match.start() <= start < match.end() for start in tagged.starts]
    tags = [tag for tag, dropped in zip(tagged.tags, inside, strict=True) if not dropped]
    if any(tag in ("JJS", "RBS", "JJR", "RBR") for tag in tags):
        return "comparison"
    verbs = [tag for tag in tags if tag in ("VBZ", "VBP", "VBD", "MD")]
    words = {word for word, dropped in zip(tagged.words, inside, strict=True) if not dropped}
    is_present = any(tag in ("VBZ", "VBP") for tag in verbs) and not words & {"has", "have"}
    # The tagger takes some past forms for participles: "the mill burned".
    if (not verbs and "VBN" not in tags) or is_present or verbs.count("VBZ") + verbs.count("VBP") > 1:
        return "not about the past"
    if sum(tag == "VBD" for tag in verbs) > 1:
        return "several clauses"
    return None


def _drop_adjective(tagged: TaggedText) -> Weakening | str | None:
    match = _adjective_pattern().search(tagged.text)
    if match is None:
        return None
    following = [number for number, start in enumerate(tagged.starts) if start >= match.end()]
    if not following or tagged.tags[following[0]] not in ("NN", "NNS"):
        return None
    rest = tagged.text[: match.start(2)] + tagged.text[match.end() :]
    if reason := _doubt(tagged, rest, match):
        return reason
    noun = tagged.tokens[following[0]]
    article = indefinite_article(noun)
    begin = tagged.text[: match.start(1)] + (article.capitalize() if match[1][0].isupper() else article)
    return Weakening(f"{begin} {tagged.text[match.end() :]}", match[2], "adjective")


@cache
def _adjective_pattern() -> re.Pattern[str]:
    """*A* or *an* with an adjective that only narrows: *a wooden chair* is a chair."""
    adjectives = packaged_table("swaps/intersective_adjectives.tsv").filter(nouns="")["adjective"]
    colours = packaged_table("lexical/lists/colours.tsv")["item"]
    unfit = {"dead", "broken", "plastic", "orange", "gold", "silver"}
    words = sorted({word for word in (*adjectives, *colours) if word not in unfit and " " not in word})
    return re.compile(rf"(?<!\w)([Aa]n?) ((?:{'|'.join(map(re.escape, words))})) (?=[a-z])")
