"""Replies of a language model: their text, the probabilities of their tokens, and the label they mean."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from acidtest.core.model import Probabilities
from acidtest.models.prompts import COLUMNS, Meanings

# Servers often add the opening tag to the prompt, so that a reply has only the closing one.
_REASONING = re.compile(r"\A.*</think(?:ing)?>|<think(?:ing)?>.*\Z", re.DOTALL | re.IGNORECASE)
_MARKUP = re.compile(r"[*_`#]")
_NEGATION = re.compile(
    r"(?:\b(?:not|no|non|never|neither|nor|without|rather than|instead of)|n['’]t)"
    r"[\s-]+(?:(?:an?|the|in|of|case|necessarily|really|strictly)\s+)*\Z",
    re.IGNORECASE,
)
_RAW_SPACES = str.maketrans({"Ġ": " ", "▁": " ", "Ċ": "\n"})
_QUOTES = "\"'“”‘’()[]{}<>*_`#.,:;!?-–—"
_NON_WORDS = re.compile(r"\W*")
_NOT_TEXT = re.compile(r"[\W_]+")
_PARTIAL_LETTER = re.compile(r"\ufffd|bytes:|<0x[0-9A-Fa-f]{2}>|token_id:")
_NEGATION_LENGTH = 60


MOST_LOG_PROBABILITY = 1e-6
"""How far a log-probability may be above 0 by rounding."""

MOST_SUM = 1.01
"""The most that the probabilities of candidates for one token may sum to; 16-bit servers round that much."""

_ADVICE = "--answers text does without them"


class MalformedReplyError(Exception):
    """A response that breaks the protocol and is worth a retry; ``advice`` is for when retries do not help."""

    def __init__(self, problem: str, *, advice: str = "") -> None:
        self.advice = advice
        super().__init__(problem)


@dataclass(frozen=True)
class ReplyToken:
    """A token of a reply, and the candidates for its place with their log-probabilities."""

    text: str
    candidates: tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class Reply:
    """The reply to one request; ``tokens`` is None without probabilities."""

    text: str
    tokens: tuple[ReplyToken, ...] | None = None
    finish: str = ""
    refused: bool = False
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


@dataclass(frozen=True)
class ReplyMeaning:
    """The probability of each label, or the problem why there is none.

    ``unassigned`` is the probability, at the place of the answer, of tokens that mean no label; None for text.
    """

    shares: Mapping[str, float]
    problem: str = ""
    unassigned: float | None = None

    @property
    def row(self) -> Probabilities:
        """Probabilities of entailment, neutral and contradiction; NaN where there is a problem."""
        if self.problem:
            return np.full(3, np.nan, dtype=np.float32)
        row = np.zeros(3, dtype=np.float32)
        for label, share in self.shares.items():
            row[COLUMNS[label]] += share
        return row


def parse_reply(content: bytes) -> Reply:
    """The reply in the body of a response, of a chat or of a completion."""
    try:
        value = json.loads(content.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise MalformedReplyError("an answer that is not UTF-8") from error
    except (ValueError, RecursionError) as error:
        raise MalformedReplyError("an answer that is not JSON") from error
    choices = value.get("choices") if isinstance(value, dict) else None
    if not isinstance(choices, list) or len(choices) != 1 or not isinstance(choices[0], dict):
        number = len(choices) if isinstance(choices, list) else "no"
        raise MalformedReplyError(f"an answer with {number} choices instead of one")
    choice, usage = choices[0], value.get("usage")
    message = choice.get("message")
    content_value = message.get("content") if isinstance(message, dict) else choice.get("text")
    finish = str(choice.get("finish_reason") or "")
    refusal = isinstance(message, dict) and bool(message.get("refusal"))
    text = _parse_text(content_value, may_be_empty=isinstance(message, dict) or "text" in choice)
    tokens = _parse_tokens(choice.get("logprobs"))
    _check_tokens_match(text, tokens or ())
    return Reply(
        text=text,
        tokens=tokens,
        finish=finish,
        refused=refusal or finish == "content_filter",
        prompt_tokens=_count(usage, "prompt_tokens"),
        completion_tokens=_count(usage, "completion_tokens"),
    )


def _parse_text(value: object, *, may_be_empty: bool) -> str:
    """The text of a message: a string, parts with text, or nothing."""
    if isinstance(value, list):
        value = "".join(str(part.get("text") or "") for part in value if isinstance(part, dict))
    if value is None and may_be_empty:
        return ""
    if not isinstance(value, str):
        raise MalformedReplyError("an answer without text")
    return value


def _count(usage: object, name: str) -> int | None:
    value = usage.get(name) if isinstance(usage, dict) else None
    return value if type(value) is int and value >= 0 else None


def _parse_tokens(logprobs: object) -> tuple[ReplyToken, ...] | None:
    """The tokens in either layout in use: a list of objects, or parallel lists (older completions)."""
    if not isinstance(logprobs, dict):
        return None
    try:
        if isinstance(logprobs.get("content"), list):
            return tuple(_parse_token(item) for item in logprobs["content"]) or None
        if isinstance(logprobs.get("top_logprobs"), list) and isinstance(logprobs.get("tokens"), list):
            values = logprobs.get("token_logprobs") or [None] * len(logprobs["tokens"])
            rows = zip(logprobs["tokens"], values, logprobs["top_logprobs"], strict=True)
            return tuple(_make_token(str(text), value, list((top or {}).items())) for text, value, top in rows) or None
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise MalformedReplyError("log-probabilities that cannot be read", advice=_ADVICE) from error
    return None


def _parse_token(item: Mapping[str, Any]) -> ReplyToken:
    top = [(candidate["token"], candidate["logprob"]) for candidate in item.get("top_logprobs") or []]
    return _make_token(str(item["token"]), item.get("logprob"), top)


def _make_token(token: str, logprob: Any, top: list[tuple[str, float]]) -> ReplyToken:
    _check_probabilities([float(value) for _, value in top], logprob)
    # A sampled token may not be among the likeliest ones.
    if logprob is not None and token not in {text for text, _ in top}:
        top = [*top, (token, logprob)]
    candidates = tuple((str(text).translate(_RAW_SPACES), float(value)) for text, value in top)
    return ReplyToken(token.translate(_RAW_SPACES), candidates)


def _check_probabilities(top: Sequence[float], logprob: Any) -> None:
    """Raise for numbers that cannot be log-probabilities of candidates for one token, such as raw scores."""
    values = [*top, *([] if logprob is None else [float(logprob)])]
    if any(math.isnan(value) for value in values):
        raise ValueError("NaN")
    above = [value for value in values if value > MOST_LOG_PROBABILITY]
    if above:
        raise MalformedReplyError(f"a log-probability of {above[0]:g}, which is above 0", advice=_ADVICE)
    total = sum(math.exp(min(value, 0.0)) for value in top)
    if total > MOST_SUM:
        raise MalformedReplyError(f"log-probabilities whose probabilities sum to {total:.3g}", advice=_ADVICE)


def _check_tokens_match(text: str, tokens: Sequence[ReplyToken]) -> None:
    """Raise when the tokens are not those of the text that came with them.

    Only letters and digits count, and one may contain the other: servers leave the end token, the reasoning and leading
    spaces out of the text. A token with a part of a letter cannot be compared.
    """
    joined = "".join(token.text for token in tokens)
    bare, other = (_NOT_TEXT.sub("", part).casefold() for part in (text, joined))
    if bare and other and bare not in other and other not in bare and not _PARTIAL_LETTER.search(joined):
        raise MalformedReplyError(
            f"log-probabilities of another text ({joined[:40]!r}) than it sends ({text[:40]!r})", advice=_ADVICE
        )


@dataclass(frozen=True)
class AnswerWord:
    """A word of a text that means a label."""

    label: str
    start: int
    negated: bool


def read_text(text: str, meanings: Meanings) -> ReplyMeaning:
    """The one label that a text names by whole words; none, several or a negated one is a problem."""
    answer_words = _find_answer_words(text, meanings)
    labels = {word.label for word in answer_words}
    if any(word.negated for word in answer_words):
        return ReplyMeaning({}, "a negated answer")
    if len(labels) != 1:
        return ReplyMeaning({}, "several answers" if labels else "no answer")
    return ReplyMeaning({labels.pop(): 1.0})


def read_probabilities(reply: Reply, meanings: Meanings) -> ReplyMeaning:
    """The labels' shares of the probability at the place of the answer.

    That place is the first answer word of the text, otherwise its first token with a letter. A token counts for a label
    when it begins a word of that label and of no other. Text that negates its answer, or names several before it
    settles on one, is a problem.
    """
    tokens = reply.tokens or ()
    text = "".join(token.text for token in tokens)
    answer_words = _find_answer_words(text, meanings)
    first = answer_words[0] if answer_words else None
    if first and first.negated:
        return ReplyMeaning({}, "a negated answer")
    visible = _visible(text)
    if first and len({word.label for word in answer_words}) > 1 and _first_word(visible) != first.start:
        return ReplyMeaning({}, "several answers")
    token = _token_at(tokens, first.start if first else _first_word(visible))
    if token is None:
        return ReplyMeaning({}, "no answer")
    mass = _label_masses(token, meanings)
    total = sum(mass.values())
    if total <= 0:
        return ReplyMeaning({}, "no answer among the likeliest tokens", unassigned=1.0)
    shares = {label: value / total for label, value in mass.items()}
    return ReplyMeaning(shares, unassigned=max(0.0, 1.0 - total))


def _label_masses(token: ReplyToken, meanings: Meanings) -> dict[str, float]:
    mass = dict.fromkeys(meanings.values(), 0.0)
    for text, value in token.candidates:
        labels = _labels_begun_by(text, meanings)
        if len(labels) == 1:
            mass[labels.pop()] += math.exp(min(value, 0.0))
    return mass


def _labels_begun_by(token: str, meanings: Meanings) -> set[str]:
    """The labels of the words that a token is or begins."""
    bare = token.strip().strip(_QUOTES).strip()
    if not bare:
        return set()
    exact = {label for word, label in meanings.items() if _equal_words(word, bare)}
    if exact:
        return exact
    return {label for word, label in meanings.items() if len(word) > 1 and word.casefold().startswith(bare.casefold())}


def _equal_words(word: str, other: str) -> bool:
    # A is an option letter, a is an article.
    return word == other if len(word) == 1 else word.casefold() == other.casefold()


def _visible(text: str) -> str:
    """The text with reasoning and markup replaced by as many spaces."""
    text = _REASONING.sub(lambda match: " " * len(match[0]), text)
    return _MARKUP.sub(" ", text)


def _first_word(visible: str) -> int:
    """The place of the first letter or digit."""
    match = _NON_WORDS.match(visible)
    return match.end() if match else 0


def _token_at(tokens: Sequence[ReplyToken], place: int) -> ReplyToken | None:
    """The token that holds the character at a place of the text."""
    end = 0
    for token in tokens:
        end += len(token.text)
        if place < end:
            return token
    return None


def _find_answer_words(text: str, meanings: Meanings) -> list[AnswerWord]:
    visible = _visible(text)
    labels = {word.casefold() if len(word) > 1 else word: label for word, label in meanings.items()}
    words = list[AnswerWord]()
    for match in _pattern(tuple(meanings)).finditer(visible):
        word = match[0] if len(match[0]) == 1 else re.sub(r"\s+", " ", match[0].casefold().replace("’", "'"))
        negated = bool(_NEGATION.search(visible[max(0, match.start() - _NEGATION_LENGTH) : match.start()]))
        if word in labels:
            words.append(AnswerWord(labels[word], match.start(), negated))
    return words


@lru_cache(maxsize=64)
def _pattern(words: tuple[str, ...]) -> re.Pattern[str]:
    """Finds whole words, the longest first; a single letter only where it is not the article of what follows."""
    long = sorted((word for word in words if len(word) > 1), key=len, reverse=True)
    choices = [r"\s+".join(re.escape(part).replace("'", "['’]") for part in word.split()) for word in long]
    patterns = [rf"(?i:{'|'.join(choices)})(?![\w-])"] if choices else []
    letters = "".join(re.escape(word) for word in words if len(word) == 1)
    if letters:
        patterns.append(rf"[{letters}](?![\w'’-])(?=\s*(?:\Z|\n|[^\w\s]|(?:and|as|because|is|or|since)\b))")
    return re.compile(rf"(?<![\w-])(?:{'|'.join(patterns)})")
