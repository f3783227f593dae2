"""Words of comparison and change with their opposites, and sentences in which one of them is turned round.

*Sales rose by 4 percent* becomes *sales fell by 4 percent*. A sentence is left alone where both could be true (*some
prices rose*, *prices may rise*), where something is negated, and where the word may have another sense.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from acidtest.english.cautions import caution_pattern, first_caution
from acidtest.english.inflection import replace_span
from acidtest.english.wordnet import wordnet
from acidtest.io.wordlists import packaged_table

_NUMBER = (
    r"(?:[$£€]?\d[\d,.]*|(?:(?:a|about|nearly|almost|around) )?(?:one|two|three|four|five|six|seven|eight|nine|ten|"
    r"eleven|twelve|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|million|half|third|quarter|"
    r"fifth|tenth|double|twice))(?![\w])"
)
_DURATION = re.compile(
    rf"\s+(?:(?:only|just|about|another)\s+)?(?:{_NUMBER}|(?:an?\s+(?:few|while|short|long|day|week|month|year|hour|minute)|"
    r"which|that|this|whom|what|it|tax|taxes)\b)"
)
_FROM_TO = re.compile(rf"\bfrom\b.*?{_NUMBER}.*?\bto\b.*?{_NUMBER}")
_MEASURED = re.compile(rf"\s+(?:\w+ly\s+)?(?:by|to|from|over)\s+(?:\w+\s+)?{_NUMBER}")
_AMOUNTS = r"(?:weight|ground|seats|votes|points|popularity|value|influence|altitude|members)\b"
_LOST_OR_GAINED = re.compile(rf"\s+(?:\w+ly\s+)?(?:{_NUMBER}|{_AMOUNTS})")
_LYING = re.compile(
    r"\b(?:is|are|was|were|lies|lie|lay|remain\w*|degrees|percent|points|metres|meters|feet|places?|well|far)\s+$"
)
_DESCRIBED = re.compile(r"\b(?:is|are|was|were|be|been|an?|the|its|much|far|slightly|even|has|have|had)\s+$")
_MAYBE_NOUN = re.compile(r"growth|decline|increase|decrease|rise|fall|raise|lower|reduce|improve|grow")
_MEASURES = re.compile(
    r"(?:percent|years?|days?|hours?|minutes?|\w*met(?:re|er)s?|miles?|pounds?|dollars?|euros?|million|billion|times|weeks?|"
    r"months?|kilo\w+|degrees?|feet|of|the|what|as)$"
)
_NAMES_A_KIND = re.compile(
    r"(?:(?:the|any|all|only|many|most) )?(?:[\w-]+s|people|women|men|children) $|(?:an?|any|every|each) [\w-]+ $"
)
"""*Lorries heavier than 7.5 tonnes* are some lorries; *lorries are heavier than cars* compares."""
_RELATIVE = re.compile(r"\b(?:who|which|that|whose|where)\b")


@dataclass(frozen=True)
class TrendWord:
    """A word of comparison or change, its opposite, and the direction it names."""

    word: str
    opposite: str
    kind: str
    direction: str


@dataclass(frozen=True)
class ReversedTrend:
    """A sentence with one word of comparison or change turned round."""

    text: str
    old: str
    new: str
    kind: str


def reverse_trend(claim: str, evidence: str) -> ReversedTrend | str | None:
    """The claim with its word of comparison or change turned round, or a reason why not; None if it has no such word.

    ``evidence`` is the sentence that the claim rests on.
    """
    lower = claim.lower()
    matches = list(_trend_pattern().finditer(lower))
    if not matches:
        return None
    items = [(match, item) for match in matches for item in [_reading(lower, match)] if item]
    if not items:
        return None
    if len(items) > 1:
        return "several words of comparison"
    match, item = items[0]
    reason = _problem(lower, match, item, evidence.lower())
    if reason:
        return reason
    new = "taller" if item.word == "shorter" and "tall" in evidence else _opposite(lower, match, item)
    text = replace_span(claim, match.start(), match.end(), word=new)
    kind = "bound" if item.word in ("more", "less", "fewer") and _is_bound(lower, match) else item.kind
    return ReversedTrend(text, claim[match.start() : match.end()], new, kind)


@cache
def _trend_words() -> dict[str, TrendWord]:
    rows = packaged_table("grounding/trends.tsv").iter_rows(named=True)
    return {row["word"]: TrendWord(**row) for row in rows}


@cache
def _trend_pattern() -> re.Pattern[str]:
    words = sorted(_trend_words(), key=len, reverse=True)
    return re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, words))})(?![\w-])")


@cache
def _measure_pattern() -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(packaged_table('grounding/measures.tsv')['word'])})s?\b")


def _reading(lower: str, match: re.Match[str]) -> TrendWord | None:
    """The word of comparison or change in the sense it needs here; None where it has another sense."""
    item = _trend_words()[match[0]]
    after = lower[match.end() :]
    if item.kind == "comparative":
        has_standard = re.search(r"\bthan\b(?! (?:ever|usual|anyone|anything|that$))", after) is not None
        return item if has_standard else None
    if item.kind == "order":
        # "The year before" and "than before" have nothing after them that came first.
        return item if re.match(r"\s+[\w\"“]", after) and not _DURATION.match(after) else None
    if item.kind == "place":
        return item if re.match(r"\s+(?!all\b)\w", after) and _LYING.search(lower[: match.start()]) else None
    if item.word in ("gained", "lost", "gains", "loses"):
        return item if _LOST_OR_GAINED.match(after) else None
    if _MAYBE_NOUN.fullmatch(item.word):
        # Nouns, infinitives and adjectives: only "a rise in prices", where the opposite is a noun, too.
        return item if re.match(r"\s+in\b", after) and re.search(r"\b(?:an?|the)\s+$", lower[: match.start()]) else None
    return item if _MEASURED.match(after) or _measure_pattern().search(lower) else None


def _problem(lower: str, match: re.Match[str], item: TrendWord, evidence: str) -> str | None:
    reason = first_caution(lower, "trend")
    if reason:
        return reason
    fixed_expressions = caution_pattern("comparison").finditer(lower)
    if any(fixed.start() <= match.start() < fixed.end() for fixed in fixed_expressions):
        return "fixed expression"
    before = lower[: match.start()]
    if item.kind in ("order", "change") and _RELATIVE.search(before):
        return "in a description"
    if item.word.endswith("ing") and re.search(r"(?:^|, )$", before):
        # "Increasing prices hurt the poor" does not deny that decreasing ones do.
        return "in a description"
    if item.kind == "order" and re.search(r"\b(?:until|till|from|since|for|by) $", before):
        return "fixed expression"
    if item.kind == "order" and re.search(r"\b(?:must|will)\b", lower):
        return "order in a rule"
    if item.kind == "comparative" and re.search(r"\bbut\b", lower):
        return "several words of comparison"
    if item.kind == "comparative" and _NAMES_A_KIND.fullmatch(before):
        return "in a description"
    if item.word in ("longer", "shorter") and not _DESCRIBED.search(before):
        # "It takes longer" has no opposite of one word.
        return "no plain opposite"
    if item.kind == "change" and _FROM_TO.search(lower):
        return "from one value to another"
    if item.kind in ("order", "place") and not re.search(rf"\b{item.word}\b", evidence):
        return "other words in the evidence"
    directions = {_trend_words()[word[0]].direction for word in _trend_pattern().finditer(evidence)}
    against = _trend_words()[item.opposite].direction if item.opposite in _trend_words() else ""
    if item.kind in ("change", "order", "place") and against in directions:
        return "both directions in the evidence"
    return None


def _is_bound(lower: str, match: re.Match[str]) -> bool:
    """Whether the word gives the bound of a number: *more than 40 people*."""
    return re.match(rf"\s+than\s+{_NUMBER}", lower[match.end() :]) is not None


def _opposite(lower: str, match: re.Match[str], item: TrendWord) -> str:
    if item.word != "more":
        return item.opposite
    after = lower[match.end() :]
    if _is_bound(lower, match):
        # "Fewer than 40 people", but "less than 40 percent" and "less than half".
        counted = re.match(r"\s+than\s+(?:[\d,]+|[a-z]+)\s+(\w+)", after)
        is_count = counted is not None and not _MEASURES.match(counted[1]) and is_plural_noun(counted[1])
        return "fewer" if is_count else "less"
    # "More requests" and "more hot meals", but "more noise" and "more expensive".
    words = re.findall(r"[\w'-]+", after.partition(" than ")[0])[:2]
    has_adjective = len(words) > 1 and _is_adjective(words[0])
    return "fewer" if any(map(is_plural_noun, words[: 2 if has_adjective else 1])) else "less"


@cache
def is_plural_noun(word: str) -> bool:
    """Whether a word is a plural noun."""
    return word == "people" or (word.endswith("s") and any(base != word for base in wordnet().base_forms(word, "n")))


@cache
def _is_adjective(word: str) -> bool:
    return bool(wordnet().senses(word, "a"))
