"""One word of a text replaced by another, in the shape the place asks for: capitals, number, degree, a or an."""

from __future__ import annotations

import re
from functools import cache

from acidtest.io.wordlists import packaged_table, word_list

_SOUNDED_VOWEL = re.compile(r"8|1[18](?!\d)|hono|hones|hour|heir|[aeiou]|[fhlmnrsx]$")
_SOUNDED_CONSONANT = re.compile(r"one\b|once|eu|ew|ukr|ugan|u(?:[bcfhjkqrst][aeiou]|ni[^dmn]|\b)|unanim")
_SHORT_WORD = re.compile(r"[^aeiou]*[aeiou][^aeiouwxy]")
_ARTICLE_BEFORE = re.compile(r"\b(an?)(\s+)$", re.IGNORECASE)


def replaced(text: str, start: int, end: int, *, word: str, like: str | None = None) -> str:
    """The text with ``word`` in place of ``text[start:end]``; an article before it follows.

    It is written with the capitals of what it replaces, or of ``like``.
    """
    shaped = in_case_of(text[start:end] if like is None else like, word)
    before = text[:start]
    article = _ARTICLE_BEFORE.search(before)
    if article:
        before = before[: article.start()] + in_case_of(article[1], indefinite_article(word)) + article[2]
    return before + shaped + text[end:]


def in_case_of(model: str, word: str) -> str:
    """The word with the capitals of another: none, the first letter, or all."""
    if len(model) > 1 and model.isupper():
        return word.upper()
    return word[:1].upper() + word[1:] if model[:1].isupper() else word


def indefinite_article(word: str) -> str:
    """*a* or *an*, as a word sounds."""
    lower = word.lower()
    return "an" if _SOUNDED_VOWEL.match(lower) and not _SOUNDED_CONSONANT.match(lower) else "a"


def plural(noun: str) -> str:
    """The plural of a noun."""
    if noun in _usual_plurals():
        return _usual_plurals()[noun]
    if noun in _irregular("n"):
        return _irregular("n")[noun]
    if noun in word_list("same in plural"):
        return noun
    if noun.endswith("man") and not noun.endswith(("human", "german", "roman", "shaman", "talisman")):
        return noun[:-3] + "men"
    if re.search(r"[^aeiou]y$", noun):
        return noun[:-1] + "ies"
    return noun + ("es" if re.search(r"(?:s|x|z|ch|sh)$", noun) else "s")


def graded(adjective: str, ending: str) -> str:
    """The comparative (``er``) or superlative (``est``) of an adjective; with *more* or *most* where it is long."""
    irregular = {"good": ("better", "best"), "bad": ("worse", "worst"), "far": ("farther", "farthest")}
    if adjective in irregular:
        return irregular[adjective][ending == "est"]
    if any(adjective in forms for forms in irregular.values()):
        return adjective
    vowels = len(re.findall(r"[aeiouy]+", re.sub(r"e$", "", adjective)))
    if vowels > 2 or (vowels == 2 and not adjective.endswith(("y", "le", "ow", "er"))):
        return f"{'more' if ending == 'er' else 'most'} {adjective}"
    if adjective.endswith("e"):
        return adjective + ending[1:]
    if re.search(r"[^aeiou]y$", adjective):
        return adjective[:-1] + "i" + ending
    if _SHORT_WORD.fullmatch(adjective):
        return adjective + adjective[-1] + ending
    return adjective + ending


@cache
def _usual_plurals() -> dict[str, str]:
    """Nouns of which WordNet lists another plural first than the one people use: *busses*, *octopi*."""
    return dict(packaged_table("wordnet/plurals.tsv").iter_rows())


@cache
def _irregular(pos: str) -> dict[str, str]:
    """Base forms with the first form that WordNet lists as an exception."""
    rows = packaged_table("wordnet/exceptions.tsv").filter(pos=pos).select("form", "bases")
    return {base: form for form, bases in reversed(rows.rows()) for base in bases.split() if form != base}
