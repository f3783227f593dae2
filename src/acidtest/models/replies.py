"""Replies of a language model: their text, the probabilities of their tokens, the label they mean, and their cost."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate
from typing import Any, Literal

import numpy as np

from acidtest.core.model import Probabilities
from acidtest.models.prompts import ABSTAIN, Meanings, label_probabilities

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
_NOT_TEXT = re.compile(r"[\W_]+")
_PARTIAL_LETTER = re.compile(r"\ufffd|bytes:|<0x[0-9A-Fa-f]{2}>|token_id:")
_NEGATION_LENGTH = 60


Reading = int | None
"""The number of the likeliest label of a reply; None if it could not be read."""

MOST_LOG_PROBABILITY = 1e-6
"""How far a log-probability may be above 0 by rounding."""

MOST_SUM = 1.01
"""The most that the probabilities of candidates for one token may sum to; 16-bit servers round that much."""

_ADVICE = "--answers text does without them"


class TransientError(Exception):
    """A failure worth a retry; ``wait`` is the number of seconds that the server asks to wait.

    ``reached`` is whether a server was reached, ``advice`` what to do when retries do not help.
    """

    def __init__(self, problem: str, *, wait: float | None = None, reached: bool = True, advice: str = "") -> None:
        self.wait = wait
        self.reached = reached
        self.advice = advice
        super().__init__(problem)


@dataclass(frozen=True)
class ReplyToken:
    """A token of a reply, and the likeliest tokens at its position with their log-probabilities."""

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
    """The probability of each label, or the problem that prevents an answer.

    ``unassigned`` is the probability of tokens that mean no label, where the answer is; None if only text was read.
    """

    shares: Mapping[str, float]
    problem: str = ""
    unassigned: float | None = None

    @property
    def row(self) -> Probabilities:
        """Probabilities of entailment, neutral and contradiction; NaN if the model abstains or there is a problem."""
        return np.full(3, np.nan, dtype=np.float32) if self.problem else label_probabilities(self.shares)

    @property
    def label(self) -> Reading:
        """The number of the likeliest label; None if the model abstains or there is a problem."""
        return None if self.problem or self.abstains else int(self.row.argmax())

    @property
    def abstains(self) -> bool:
        """Whether the model declines to decide, with an answer that its prompt offers."""
        return ABSTAIN in self.shares and bool(np.isnan(self.row[0]))


def parse_reply(content: bytes) -> Reply:
    """The reply in the body of a response, of a chat or of a completion."""
    try:
        value = json.loads(content.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise TransientError("an answer that is not UTF-8") from error
    except (ValueError, RecursionError) as error:
        raise TransientError("an answer that is not JSON") from error
    choices = value.get("choices") if isinstance(value, dict) else None
    if not isinstance(choices, list) or len(choices) != 1 or not isinstance(choices[0], dict):
        number = len(choices) if isinstance(choices, list) else "no"
        raise TransientError(f"an answer with {number} choices instead of one")
    choice, usage = choices[0], value.get("usage")
    message = choice["message"] if isinstance(choice.get("message"), dict) else None
    finish = str(choice.get("finish_reason") or "")
    text = choice.get("text") if message is None else message.get("content")
    if isinstance(text, list):
        text = "".join(str(part.get("text") or "") for part in text if isinstance(part, dict))
    if text is None and (message is not None or "text" in choice):
        text = ""
    if not isinstance(text, str):
        raise TransientError("an answer without text")
    tokens = _parse_tokens(choice.get("logprobs"))
    _check_tokens_match(text, tokens or ())
    counts = [usage.get(f"{part}_tokens") if isinstance(usage, dict) else None for part in ("prompt", "completion")]
    prompt_tokens, completion_tokens = (count if type(count) is int and count >= 0 else None for count in counts)
    refused = finish == "content_filter" or bool(message and message.get("refusal"))
    return Reply(text, tokens, finish, refused, prompt_tokens, completion_tokens)


def _parse_tokens(logprobs: object) -> tuple[ReplyToken, ...] | None:
    """The tokens in either layout in use: a list of objects, or parallel lists (older completions)."""
    if not isinstance(logprobs, dict):
        return None
    try:
        tokens: list[ReplyToken] = []
        if isinstance(logprobs.get("content"), list):
            for item in logprobs["content"]:
                top = [(candidate["token"], candidate["logprob"]) for candidate in item.get("top_logprobs") or []]
                tokens.append(_make_token(str(item["token"]), item.get("logprob"), top))
        elif isinstance(logprobs.get("top_logprobs"), list) and isinstance(logprobs.get("tokens"), list):
            values = logprobs.get("token_logprobs") or [None] * len(logprobs["tokens"])
            for text, value, likely in zip(logprobs["tokens"], values, logprobs["top_logprobs"], strict=True):
                tokens.append(_make_token(str(text), value, list((likely or {}).items())))
        return tuple(tokens) or None
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise TransientError("log-probabilities that cannot be read", advice=_ADVICE) from error


def _make_token(token: str, logprob: Any, top: list[tuple[Any, Any]]) -> ReplyToken:
    """A token and its candidates; raises for numbers that cannot be log-probabilities, such as raw scores."""
    likely = [float(value) for _, value in top]
    values = likely if logprob is None else [*likely, float(logprob)]
    if any(math.isnan(value) for value in values):
        raise ValueError("NaN")
    if max(values, default=0.0) > MOST_LOG_PROBABILITY:
        above = next(value for value in values if value > MOST_LOG_PROBABILITY)
        raise TransientError(f"a log-probability of {above:g}, which is above 0", advice=_ADVICE)
    total = sum(math.exp(min(value, 0.0)) for value in likely)
    if total > MOST_SUM:
        raise TransientError(f"log-probabilities whose probabilities sum to {total:.3g}", advice=_ADVICE)
    # A sampled token may not be among the likeliest ones.
    if logprob is not None and token not in {text for text, _ in top}:
        top = [*top, (token, logprob)]
    candidates = tuple((str(text).translate(_RAW_SPACES), float(value)) for text, value in top)
    return ReplyToken(token.translate(_RAW_SPACES), candidates)


def _check_tokens_match(text: str, tokens: Sequence[ReplyToken]) -> None:
    """Raise when the tokens are not those of the text that came with them.

    Only letters and digits are compared, and either may contain the other: servers leave the end token, the reasoning
    and leading spaces out of the text. Nothing is compared if a token holds only some bytes of a letter.
    """
    joined = "".join(token.text for token in tokens)
    bare, other = (_NOT_TEXT.sub("", part).casefold() for part in (text, joined))
    if bare and other and bare not in other and other not in bare and not _PARTIAL_LETTER.search(joined):
        raise TransientError(
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
    """Each label's share of the probability at the token where the answer is.

    That token holds the start of the first answer word, or the first letter of a text without one. A candidate counts
    for a label when it is or begins a word of that label and of no other. It is a problem if the first answer word is
    negated, or if words of several labels occur and the text does not begin with one.
    """
    tokens = reply.tokens or ()
    text = "".join(token.text for token in tokens)
    answer_words = _find_answer_words(text, meanings)
    first = answer_words[0] if answer_words else None
    if first and first.negated:
        return ReplyMeaning({}, "a negated answer")
    letter = re.search(r"\w", _visible(text))
    if first and len({word.label for word in answer_words}) > 1 and letter and letter.start() != first.start:
        return ReplyMeaning({}, "several answers")
    place = first.start if first else letter.start() if letter else len(text)
    ends = accumulate(len(token.text) for token in tokens)
    token = next((token for token, end in zip(tokens, ends, strict=True) if place < end), None)
    if token is None:
        return ReplyMeaning({}, "no answer")
    mass = dict.fromkeys(meanings.values(), 0.0)
    for candidate, value in token.candidates:
        labels = _labels_begun_by(candidate, meanings)
        if len(labels) == 1:
            mass[labels.pop()] += math.exp(min(value, 0.0))
    total = sum(mass.values())
    if total <= 0:
        return ReplyMeaning({}, "no answer among the likeliest tokens", unassigned=1.0)
    shares = {label: value / total for label, value in mass.items()}
    return ReplyMeaning(shares, unassigned=max(0.0, 1.0 - total))


def _labels_begun_by(token: str, meanings: Meanings) -> set[str]:
    """The labels of the words that a token is or begins."""
    bare = token.strip().strip(_QUOTES).strip()
    if not bare:
        return set()
    # Single letters must match in case: A is an option, a is an article.
    folded = {word.casefold(): label for word, label in meanings.items() if len(word) > 1}
    exact = {label for word, label in meanings.items() if word == bare} | {
        label for word, label in folded.items() if word == bare.casefold()
    }
    return exact or {label for word, label in folded.items() if word.startswith(bare.casefold())}


def _visible(text: str) -> str:
    """The text with reasoning and markup replaced by as many spaces, so that positions stay the same."""
    text = _REASONING.sub(lambda match: " " * len(match[0]), text)
    return _MARKUP.sub(" ", text)


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
    """A pattern that finds whole words, the longest first, and single letters where they cannot be an article."""
    long = sorted((word for word in words if len(word) > 1), key=len, reverse=True)
    choices = [r"\s+".join(re.escape(part).replace("'", "['’]") for part in word.split()) for word in long]
    patterns = [rf"(?i:{'|'.join(choices)})(?![\w-])"] if choices else []
    letters = "".join(re.escape(word) for word in words if len(word) == 1)
    if letters:
        patterns.append(rf"[{letters}](?![\w'’-])(?=\s*(?:\Z|\n|[^\w\s]|(?:and|as|because|is|or|since)\b))")
    return re.compile(rf"(?<![\w-])(?:{'|'.join(patterns)})")


@dataclass
class Usage:
    """Requests, tokens and seconds that an endpoint has used in this process, and counts of pairs and replies.

    Prices are for a million tokens; both are 0 if unknown. ``uncounted`` replies came without numbers of tokens; a
    reply is ``faint`` when tokens that mean no label have more than half of the probability.
    """

    price_in: float = 0.0
    price_out: float = 0.0
    requests: int = 0
    retries: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    uncounted: int = 0
    seconds: float = 0.0
    pairs: int = 0
    unanswered: int = 0
    abstained: int = 0
    unparsed: int = 0
    refused: int = 0
    readings: int = 0
    unassigned: float = 0.0
    faint: int = 0
    repeat_compared: int = 0
    repeat_changes: int = 0
    """Predictions that differ when the same prompt is sent twice."""
    reorder_compared: int = 0
    reorder_changes: int = 0
    """Predictions that differ between the first two orders of the options, one reply each."""
    reprompt_compared: int = 0
    reprompt_changes: int = 0
    """Predictions that differ between the first two prompts, one reply each."""
    order_compared: int = 0
    order_changes: int = 0
    paraphrase_compared: int = 0
    paraphrase_changes: int = 0
    problems: dict[str, int] = field(default_factory=dict)

    def add_tokens(self, reply: Reply) -> None:
        if reply.prompt_tokens is None or reply.completion_tokens is None:
            self.uncounted += 1
        self.prompt_tokens += reply.prompt_tokens or 0
        self.completion_tokens += reply.completion_tokens or 0

    def add_meaning(self, meaning: ReplyMeaning) -> None:
        """Add the unassigned probability of a reply, and its problem if it has one."""
        if meaning.unassigned is not None:
            self.readings += 1
            self.unassigned += meaning.unassigned
            self.faint += meaning.unassigned > 0.5
        if meaning.problem:
            refused = meaning.problem.startswith("refused")
            self.refused += refused
            self.unparsed += not refused
            self.problems[meaning.problem] = self.problems.get(meaning.problem, 0) + 1

    def add_comparison(self, kind: Literal["repeat", "reorder", "reprompt"], one: Reading, other: Reading) -> None:
        """Count a pair whose two replies could be read, and whether they mean different labels."""
        if one is not None and other is not None:
            setattr(self, f"{kind}_compared", getattr(self, f"{kind}_compared") + 1)
            setattr(self, f"{kind}_changes", getattr(self, f"{kind}_changes") + (one != other))

    def to_json(self) -> dict[str, float]:
        """Counts by name; tokens only if the server counts them, cost only if prices are known as well."""
        names = ["requests", "retries", "seconds", "unanswered", "unparsed", "refused"]
        if self.requests and not self.uncounted:
            names += ["prompt_tokens", "completion_tokens"]
        usage: dict[str, float] = {name: getattr(self, name) for name in names}
        if "prompt_tokens" in usage and (self.price_in or self.price_out):
            usage["cost"] = (self.prompt_tokens * self.price_in + self.completion_tokens * self.price_out) / 1e6
        if self.readings:
            usage |= {"unassigned": self.unassigned / self.readings, "faint": self.faint}
        if self.abstained:
            usage["abstained"] = self.abstained
        for kind in ("repeat", "reorder", "reprompt"):
            if compared := getattr(self, f"{kind}_compared"):
                usage |= {f"{kind}_compared": compared, f"{kind}_changes": getattr(self, f"{kind}_changes")}
        if self.order_compared:
            usage |= {"order_compared": self.order_compared, "order_changes": self.order_changes}
        if self.paraphrase_compared:
            usage |= {"paraphrase_compared": self.paraphrase_compared, "paraphrase_changes": self.paraphrase_changes}
        return usage

    def notes(self) -> list[str]:
        """What a reader of the results should know about the replies."""
        notes = []
        if self.abstained:
            notes.append(
                f"the model abstained for {self.abstained:,} of {self.pairs:,} pairs: they count as unanswered"
            )
        if self.problems:
            reasons = ", ".join(f"{number:,} {problem}" for problem, number in sorted(self.problems.items()))
            unread = self.unanswered - self.abstained
            notes.append(f"{unread:,} of {self.pairs:,} pairs unanswered (replies: {reasons})")
        if self.readings:
            notes.append(
                f"{self.unassigned / self.readings:.1%} of the probability at the place of the answer is on no answer "
                f"({self.faint:,} of {self.readings:,} replies: more than half)"
            )
        for what, compared, changes in (
            ("order of the answers", self.order_compared, self.order_changes),
            ("prompt", self.paraphrase_compared, self.paraphrase_changes),
        ):
            if compared:
                notes.append(f"with another {what} the answer changes for {changes:,} of {compared:,} pairs")
        if self.repeat_compared:
            notes.append(
                f"sent twice, the same prompt gets another answer for {self.repeat_changes:,} of "
                f"{self.repeat_compared:,} pairs"
            )
        if self.uncounted and (self.price_in or self.price_out):
            notes.append("the cost is unknown: the server does not count its tokens")
        return notes
