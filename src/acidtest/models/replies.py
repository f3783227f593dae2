"""What a language model's server sent back: its text, the probabilities of its tokens, and the label they mean."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from acidtest.models.prompts import Meanings

# The opening tag is often part of what the server itself adds to the prompt, so that only the closing one is seen.
_THOUGHT = re.compile(r"\A.*</think(?:ing)?>|<think(?:ing)?>.*\Z", re.DOTALL | re.IGNORECASE)
_MARKUP = re.compile(r"[*_`#]")
_NEGATION = re.compile(
    r"(?:\b(?:not|no|non|never|neither|nor|without|rather than|instead of)|n['’]t)"
    r"[\s-]+(?:(?:an?|the|in|of|case|necessarily|really|strictly)\s+)*\Z",
    re.IGNORECASE,
)
_RAW_SPACES = str.maketrans({"Ġ": " ", "▁": " ", "Ċ": "\n"})
_AROUND = "\"'“”‘’()[]{}<>*_`#.,:;!?-–—"
_MEANINGLESS = re.compile(r"\W*")
_UNSPOKEN = re.compile(r"[\W_]+")
_PARTIAL = re.compile(r"\ufffd|bytes:|<0x[0-9A-Fa-f]{2}>|token_id:")
_NEGATION_LENGTH = 60


MOST_LOG_PROBABILITY = 1e-6
"""What a logarithm of a probability may be above 0 by rounding."""

MOST_SUM = 1.01
"""What the probabilities of the candidates for one token may sum to; servers that reckon in 16 bits are that rough."""

_WITHOUT = "--answers text does without them"


class MalformedReplyError(Exception):
    """An answer that is not what the protocol says; worth asking again. ``advice`` is for when that does not help."""

    def __init__(self, problem: str, *, advice: str = "") -> None:
        self.advice = advice
        super().__init__(problem)


@dataclass(frozen=True)
class Token:
    """A token of a reply, and the tokens that might have stood there, with the logarithms of their probabilities."""

    text: str
    candidates: tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class Reply:
    """What a server said to one request; ``tokens`` is None where it gives no probabilities."""

    text: str
    tokens: tuple[Token, ...] | None = None
    finish: str = ""
    refused: bool = False
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


@dataclass(frozen=True)
class Reading:
    """What a reply means: a share for each label, or why there is none.

    ``unassigned`` is the probability at the place of the answer that no answer's word has; None for labels.
    """

    shares: Mapping[str, float]
    problem: str = ""
    unassigned: float | None = None


def parsed_reply(content: bytes) -> Reply:
    """The reply in the body of an answer, of a chat or of a completion."""
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
    said = message.get("content") if isinstance(message, dict) else choice.get("text")
    finish = str(choice.get("finish_reason") or "")
    refusal = isinstance(message, dict) and bool(message.get("refusal"))
    text = _content(said, has_place=isinstance(message, dict) or "text" in choice)
    tokens = _tokens(choice.get("logprobs"))
    _refuse_other_text(text, tokens or ())
    return Reply(
        text=text,
        tokens=tokens,
        finish=finish,
        refused=refusal or finish == "content_filter",
        prompt_tokens=_count(usage, "prompt_tokens"),
        completion_tokens=_count(usage, "completion_tokens"),
    )


def _content(said: object, *, has_place: bool) -> str:
    """The text of a message: a string, parts with text, or nothing."""
    if isinstance(said, list):
        said = "".join(str(part.get("text") or "") for part in said if isinstance(part, dict))
    if said is None and has_place:
        return ""
    if not isinstance(said, str):
        raise MalformedReplyError("an answer without text")
    return said


def _count(usage: object, name: str) -> int | None:
    value = usage.get(name) if isinstance(usage, dict) else None
    return value if type(value) is int and value >= 0 else None


def _tokens(logprobs: object) -> tuple[Token, ...] | None:
    """The tokens in either layout in use: a list of objects, or lists side by side (older completions)."""
    if not isinstance(logprobs, dict):
        return None
    try:
        if isinstance(logprobs.get("content"), list):
            return tuple(_token(item) for item in logprobs["content"]) or None
        if isinstance(logprobs.get("top_logprobs"), list) and isinstance(logprobs.get("tokens"), list):
            own = logprobs.get("token_logprobs") or [None] * len(logprobs["tokens"])
            rows = zip(logprobs["tokens"], own, logprobs["top_logprobs"], strict=True)
            return tuple(_listed(token, value, top) for token, value, top in rows) or None
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise MalformedReplyError("log-probabilities that cannot be read", advice=_WITHOUT) from error
    return None


def _token(item: Mapping[str, Any]) -> Token:
    top = item.get("top_logprobs") or []
    return _with_candidates(str(item["token"]), item.get("logprob"), [(each["token"], each["logprob"]) for each in top])


def _listed(token: object, own: object, top: Mapping[str, float] | None) -> Token:
    return _with_candidates(str(token), own, list((top or {}).items()))


def _with_candidates(token: str, own: Any, top: list[tuple[str, float]]) -> Token:
    _refuse_no_probabilities([float(value) for _, value in top], own)
    # A drawn token may be outside the likeliest ones, and then stands by itself.
    if own is not None and token not in {text for text, _ in top}:
        top = [*top, (token, own)]
    candidates = tuple((str(text).translate(_RAW_SPACES), float(value)) for text, value in top)
    return Token(token.translate(_RAW_SPACES), candidates)


def _refuse_no_probabilities(top: Sequence[float], own: Any) -> None:
    """Raise for numbers that are no logarithms of the probabilities of tokens for one place, such as raw scores."""
    values = [*top, *([] if own is None else [float(own)])]
    if any(math.isnan(value) for value in values):
        raise ValueError("NaN")
    above = [value for value in values if value > MOST_LOG_PROBABILITY]
    if above:
        raise MalformedReplyError(f"a log-probability of {above[0]:g}, which is above 0", advice=_WITHOUT)
    total = sum(math.exp(min(value, 0.0)) for value in top)
    if total > MOST_SUM:
        raise MalformedReplyError(f"log-probabilities whose probabilities sum to {total:.3g}", advice=_WITHOUT)


def _refuse_other_text(text: str, tokens: Sequence[Token]) -> None:
    """Raise when the tokens are of another text than the one that came with them.

    Only letters and digits count, and one may hold the other: servers leave out of the text what ends it and what was
    thought, and spaces in front. A token with a part of a letter cannot be compared.
    """
    spoken = "".join(token.text for token in tokens)
    bare, other = (_UNSPOKEN.sub("", part).casefold() for part in (text, spoken))
    if bare and other and bare not in other and other not in bare and not _PARTIAL.search(spoken):
        raise MalformedReplyError(
            f"log-probabilities of another text ({spoken[:40]!r}) than it sends ({text[:40]!r})", advice=_WITHOUT
        )


@dataclass(frozen=True)
class _Mention:
    label: str
    start: int
    negated: bool


def label_in(text: str, meanings: Meanings) -> Reading:
    """The one label a text names by whole words; none, several or a negated one is a problem, not a label."""
    mentions = _mentions(text, meanings)
    labels = {mention.label for mention in mentions}
    if any(mention.negated for mention in mentions):
        return Reading({}, "a negated answer")
    if len(labels) != 1:
        return Reading({}, "several answers" if labels else "no answer")
    return Reading({labels.pop(): 1.0})


def shares_in(reply: Reply, meanings: Meanings) -> Reading:
    """The labels' shares of the probability at the place of the answer.

    That place is where the text has its first answer word, else its first token with a letter. A token counts for a
    label when it begins a word of that label and of no other. Text that negates its answer, or wavers before it comes
    to one, is a problem.
    """
    tokens = reply.tokens or ()
    text = "".join(token.text for token in tokens)
    mentions = _mentions(text, meanings)
    first = mentions[0] if mentions else None
    if first and first.negated:
        return Reading({}, "a negated answer")
    visible = _visible(text)
    if first and len({mention.label for mention in mentions}) > 1 and _begin(visible) != first.start:
        return Reading({}, "several answers")
    place = _token_at(tokens, first.start if first else _begin(visible))
    if place is None:
        return Reading({}, "no answer")
    mass = _mass(place, meanings)
    total = sum(mass.values())
    if total <= 0:
        return Reading({}, "no answer among the likeliest tokens", unassigned=1.0)
    shares = {label: value / total for label, value in mass.items()}
    return Reading(shares, unassigned=max(0.0, 1.0 - total))


def _mass(token: Token, meanings: Meanings) -> dict[str, float]:
    mass = dict.fromkeys(meanings.values(), 0.0)
    for text, value in token.candidates:
        labels = _begun(text, meanings)
        if len(labels) == 1:
            mass[labels.pop()] += math.exp(min(value, 0.0))
    return mass


def _begun(token: str, meanings: Meanings) -> set[str]:
    """The labels of the words that a token begins, or is."""
    bare = token.strip().strip(_AROUND).strip()
    if not bare:
        return set()
    exact = {label for word, label in meanings.items() if _same(word, bare)}
    if exact:
        return exact
    return {label for word, label in meanings.items() if len(word) > 1 and word.casefold().startswith(bare.casefold())}


def _same(word: str, other: str) -> bool:
    # A is a letter to choose, a is an article.
    return word == other if len(word) == 1 else word.casefold() == other.casefold()


def _visible(text: str) -> str:
    """The text with thoughts and markup blanked out, every character in its place."""
    text = _THOUGHT.sub(lambda thought: " " * len(thought[0]), text)
    return _MARKUP.sub(" ", text)


def _begin(visible: str) -> int:
    found = _MEANINGLESS.match(visible)
    return found.end() if found else 0


def _token_at(tokens: Sequence[Token], place: int) -> Token | None:
    """The token that the character at a place belongs to."""
    end = 0
    for token in tokens:
        end += len(token.text)
        if place < end:
            return token
    return None


def _mentions(text: str, meanings: Meanings) -> list[_Mention]:
    visible = _visible(text)
    labels = {word.casefold() if len(word) > 1 else word: label for word, label in meanings.items()}
    found = list[_Mention]()
    for match in _pattern(tuple(meanings)).finditer(visible):
        word = match[0] if len(match[0]) == 1 else re.sub(r"\s+", " ", match[0].casefold().replace("’", "'"))
        negated = bool(_NEGATION.search(visible[max(0, match.start() - _NEGATION_LENGTH) : match.start()]))
        if word in labels:
            found.append(_Mention(labels[word], match.start(), negated))
    return found


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
