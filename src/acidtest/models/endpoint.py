"""``endpoint:MODEL@http://host/v1`` — a language model behind a server that speaks the OpenAI protocol."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from acidtest.core.errors import AcidtestError
from acidtest.core.extras import required
from acidtest.core.logs import log
from acidtest.core.model import MODELS, Keep, Model, Probabilities, Resolution
from acidtest.models.connections import Manners, Surroundings
from acidtest.models.prompts import COLUMNS, Arrangement, Prompt, orders, prompt_called
from acidtest.models.replies import Reading, Reply, label_in, shares_in
from acidtest.models.servers import BadRequestError, RefusedError, Server

Api = Literal["chat", "completions"]
Answers = Literal["auto", "logprobs", "text"]

REVISION = 2
"""Goes up when replies are read in another way, so that earlier answers no longer count."""

TOP = (20, 5)
"""How many tokens' log-probabilities are asked for; a server that refuses the first is asked for the second."""

BATCHES = 4
"""Requests in a batch for each that is under way at once; what a kill can cost."""

_PATHS: Mapping[Api, str] = {"chat": "/chat/completions", "completions": "/completions"}
_EXAMPLES, _KEPT_EXAMPLES = 3, 50
_FAINT = 0.5


@MODELS.add("endpoint")
def endpoint(
    rest: str,
    *,
    prompt: str = "labels",
    paraphrases: str = "",
    orders: int = 1,
    api: Api = "chat",
    answers: Answers = "auto",
    temperature: float = 0.0,
    max_tokens: int = 16,
    concurrency: int = 8,
    rate: float = 0.0,
    retries: int = 5,
    timeout: float = 60.0,
    price_in: float = 0.0,
    price_out: float = 0.0,
    key_env: str = "OPENAI_API_KEY",
    skip_refused: bool = False,
) -> Model:
    """The model of this name at this address; nothing is sent before the first pair is asked.

    ``prompt`` and each of the comma-separated ``paraphrases`` is a name or a file that ends in .toml; every pair is
    asked with each of them, and with so many ``orders`` of the answers. ``rate`` is requests a minute, ``timeout``
    seconds for a request, ``price_in`` and ``price_out`` money for a million tokens; a ``temperature`` below 0 is left
    to the server. ``key_env`` names the environment variable that holds the key.
    """
    required("httpx", extra="endpoint", work="an endpoint: model")
    named, address = _parts(rest)
    for option, value, least in (
        ("concurrency", concurrency, 1),
        ("retries", retries, 0),
        ("max_tokens", max_tokens, 1),
        ("rate", rate, 0),
        ("timeout", timeout, 0.001),
        ("price_in", price_in, 0),
        ("price_out", price_out, 0),
    ):
        if not least <= value < float("inf"):
            raise AcidtestError(f"endpoint: --{option.replace('_', '-')} is a number from {least} on, not {value}")
    manners = Manners(concurrency=concurrency, rate=rate, retries=retries, timeout=timeout)
    asking = Asking(
        model=named,
        address=address,
        prompts=_prompts(prompt, paraphrases),
        orders=orders,
        api=api,
        answers=answers,
        temperature=temperature,
        max_tokens=max_tokens,
    )
    prices = Prices(price_in, price_out)
    return EndpointModel(asking, key_env, manners=manners, prices=prices, skip_refused=skip_refused)


def _parts(rest: str) -> tuple[str, str]:
    """The model's name and the server's address; neither is shown in errors before it is known to hold no secret."""
    for scheme in ("@http://", "@https://"):
        named, at, host = rest.partition(scheme)
        if named and at:
            return named, f"{scheme[1:]}{host}"
    raise AcidtestError(
        "endpoint: needs a model and an address over http or https: endpoint:MODEL@http://HOST:PORT/v1, "
        "such as endpoint:qwen3@http://localhost:8000/v1"
    )


def _prompts(prompt: str, paraphrases: str) -> tuple[Prompt, ...]:
    names = dict.fromkeys([prompt, *(name.strip() for name in paraphrases.split(",") if name.strip())])
    found = tuple(prompt_called(name) for name in names)
    if len({each.resolution for each in found}) > 1:
        raise AcidtestError("endpoint: prompts with two and with three answers cannot be asked together")
    return found


@dataclass(frozen=True)
class Asking:
    """All that decides what a server is sent and how its replies are read."""

    model: str
    address: str
    prompts: tuple[Prompt, ...]
    orders: int = 1
    api: Api = "chat"
    answers: Answers = "auto"
    temperature: float = 0.0
    max_tokens: int = 16

    @property
    def fingerprint(self) -> str:
        """A hash of it all. The server's weights cannot be seen, and the key is no part of it."""
        settings = [self.orders, self.api, self.answers, self.temperature, self.max_tokens, REVISION]
        content = json.dumps([self.model, self.address.rstrip("/"), *settings, [each.content for each in self.prompts]])
        return hashlib.blake2b(content.encode(), digest_size=8).hexdigest()

    @property
    def arrangements(self) -> tuple[tuple[Arrangement, ...], ...]:
        """For each prompt, its answers in each order that is asked."""
        return tuple(tuple(prompt.arranged(order) for order in orders(prompt, self.orders)) for prompt in self.prompts)


@dataclass(frozen=True)
class Prices:
    """Money for a million tokens read and written; 0 for both: unknown."""

    tokens_in: float = 0.0
    tokens_out: float = 0.0

    def cost(self, tokens_in: int, tokens_out: int) -> float:
        """What so many tokens cost."""
        return (tokens_in * self.tokens_in + tokens_out * self.tokens_out) / 1e6


@dataclass
class Counted:
    """What became of the pairs and replies so far, in this process."""

    pairs: int = 0
    unanswered: int = 0
    unparsed: int = 0
    refused: int = 0
    readings: int = 0
    unassigned: float = 0.0
    faint: int = 0
    order_compared: int = 0
    order_changes: int = 0
    paraphrase_compared: int = 0
    paraphrase_changes: int = 0
    problems: dict[str, int] = field(default_factory=dict)


class EndpointModel:
    """A language model asked over HTTP; see docs/endpoints.md."""

    columns: tuple[str, ...] = ("premise", "hypothesis")
    may_abstain = True
    independent = True
    # The weights behind a name may change from one run to the next.
    keep: Keep = "run"

    def __init__(
        self,
        asking: Asking,
        key_env: str = "OPENAI_API_KEY",
        *,
        manners: Manners | None = None,
        prices: Prices | None = None,
        skip_refused: bool = False,
        surroundings: Surroundings | None = None,
    ) -> None:
        manners = manners or Manners()
        self._server = Server(asking.address, key_env, manners=manners, surroundings=surroundings)
        self._asking = asking
        self._arrangements = asking.arrangements
        self._prices = prices or Prices()
        self._skip_refused = skip_refused
        self._top = 0 if asking.answers == "text" else TOP[0]
        self._limit_name = "max_tokens"
        self._decided = False
        self._counted = Counted()
        self.name = f"endpoint:{asking.model}@{asking.address}"
        self.fingerprint: str | None = asking.fingerprint
        self.resolution: Resolution = asking.prompts[0].resolution
        self.probabilities = asking.answers != "text"
        each = len(asking.prompts) * asking.orders
        self.batch_size = max(1, BATCHES * manners.concurrency // each)
        self.notes: tuple[str, ...] = ()
        self._take_notes()

    def __repr__(self) -> str:
        return f"<{self.name}>"

    def predict(self, *columns: Sequence[str]) -> npt.NDArray[np.float32]:
        """The labels' probabilities; a row of NaN where the model gave no answer that can be read."""
        premises, hypotheses = columns
        pairs = list(zip(premises, hypotheses, strict=True))
        try:
            readings = self._server.run(lambda: self._all_read(pairs))
        except AcidtestError as error:
            raise AcidtestError(f"{error}; {self._counted.pairs:,} pairs were answered in batches before") from error
        rows = np.full((len(pairs), 3), np.nan, dtype=np.float32)
        for place, of_pair in enumerate(readings):
            rows[place] = self._combined_row(of_pair)
        self._counted.pairs += len(pairs)
        self._counted.unanswered += int(np.isnan(rows[:, 0]).sum())
        self._take_notes()
        return rows

    def close(self) -> None:
        """Close the connections to the server."""
        self._server.close()

    def usage(self) -> Mapping[str, float]:
        """Requests, tokens, money and seconds of this process, and what became of the replies.

        Tokens are there when the server counts them, ``cost`` when there are prices as well.
        """
        traffic, counted = self._server.traffic, self._counted
        found: dict[str, float] = {
            "requests": traffic.requests,
            "retries": traffic.retries,
            "seconds": traffic.seconds,
            "unanswered": counted.unanswered,
            "unparsed": counted.unparsed,
            "refused": counted.refused,
        }
        if traffic.requests and not traffic.uncounted:
            found |= {"prompt_tokens": traffic.prompt_tokens, "completion_tokens": traffic.completion_tokens}
            if self._prices != Prices():
                found["cost"] = self._prices.cost(traffic.prompt_tokens, traffic.completion_tokens)
        if counted.readings:
            found |= {"unassigned": counted.unassigned / counted.readings, "faint": counted.faint}
        if counted.order_compared:
            found |= {"order_compared": counted.order_compared, "order_changes": counted.order_changes}
        if counted.paraphrase_compared:
            found |= {
                "paraphrase_compared": counted.paraphrase_compared,
                "paraphrase_changes": counted.paraphrase_changes,
            }
        return found

    async def _all_read(self, pairs: Sequence[tuple[str, str]]) -> list[list[list[Reading]]]:
        """For each pair, prompt and order what the reply means."""
        done = list[list[list[Reading]]]()
        # How a server answers is found out with one request at a time, then holds for all.
        while not self._decided and len(done) < len(pairs):
            premise, hypothesis = pairs[len(done)]
            done.append([[await self._read(each, premise, hypothesis) for each in row] for row in self._arrangements])
        tasks = [
            asyncio.create_task(self._read(each, premise, hypothesis))
            for premise, hypothesis in pairs[len(done) :]
            for row in self._arrangements
            for each in row
        ]
        try:
            flat = iter(await asyncio.gather(*tasks))
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        rest = len(pairs) - len(done)
        return [*done, *([[next(flat) for _ in row] for row in self._arrangements] for _ in range(rest))]

    async def _read(self, arrangement: Arrangement, premise: str, hypothesis: str) -> Reading:
        try:
            reply = await self._reply(arrangement, premise, hypothesis)
        except RefusedError as error:
            if not error.filtered and not self._skip_refused:
                raise self._about_pair(error, premise, hypothesis) from None
            return self._unread(Reading({}, "refused by the server"), str(error), premise, hypothesis)
        except BadRequestError as error:
            if not self._decided:
                raise
            if not self._skip_refused:
                raise self._about_pair(error, premise, hypothesis) from None
            return self._unread(Reading({}, "refused by the server"), str(error), premise, hypothesis)
        reading = self._reading(reply, arrangement)
        if reading.unassigned is not None:
            self._counted.readings += 1
            self._counted.unassigned += reading.unassigned
            self._counted.faint += reading.unassigned > _FAINT
        return self._unread(reading, reply.text, premise, hypothesis) if reading.problem else reading

    async def _reply(self, arrangement: Arrangement, premise: str, hypothesis: str) -> Reply:
        while True:
            try:
                body = self._body(arrangement, premise, hypothesis)
                reply = await self._server.reply(_PATHS[self._asking.api], body)
            except BadRequestError as error:
                if self._decided or not self._adapted(error):
                    raise
            else:
                self._decide(reply)
                return reply

    def _body(self, arrangement: Arrangement, premise: str, hypothesis: str) -> dict[str, Any]:
        body: dict[str, Any] = {"model": self._asking.model, self._limit_name: self._asking.max_tokens}
        if self._asking.temperature >= 0:
            body["temperature"] = self._asking.temperature
        if self._asking.api == "chat":
            body["messages"] = arrangement.messages(premise, hypothesis)
            return body | ({"logprobs": True, "top_logprobs": self._top} if self._top else {})
        body |= {"prompt": arrangement.text(premise, hypothesis), "stop": ["\n\n"]}
        return body | ({"logprobs": self._top} if self._top else {})

    def _adapted(self, error: BadRequestError) -> bool:
        """Whether the next request differs in what the server did not take: a name, or log-probabilities."""
        said = error.said.lower()
        if "max_completion_tokens" in said and self._limit_name == "max_tokens":
            self._limit_name = "max_completion_tokens"
            return True
        if "logprob" in said and self._top:
            self._top = TOP[1] if self._top == TOP[0] else 0
            if not self._top:
                self._use_text()
            return True
        return False

    def _decide(self, reply: Reply) -> None:
        """Find out from a reply whether the server gives log-probabilities; an empty one tells nothing."""
        if self._decided or not (reply.tokens or reply.text.strip()) or reply.refused:
            return
        if self._top and not reply.tokens:
            self._use_text()
        self._decided = True

    def _use_text(self) -> None:
        if self._asking.answers == "logprobs":
            raise AcidtestError(f"{self._server.host} gives no log-probabilities; use --answers text")
        log.warning("%s gives no log-probabilities: labels are read from the text of its replies", self._server.host)
        self._top = 0
        self.probabilities = False

    def _reading(self, reply: Reply, arrangement: Arrangement) -> Reading:
        if reply.refused:
            return Reading({}, "refused by the server")
        if self._top and reply.tokens:
            reading = shares_in(reply, arrangement.meanings)
        elif self._top and reply.text.strip():
            reading = Reading({}, "a reply without log-probabilities")
        else:
            reading = label_in(reply.text, arrangement.meanings)
        if reading.problem and reply.finish == "length":
            return Reading({}, f"{reading.problem} within {self._asking.max_tokens} tokens", reading.unassigned)
        return reading

    def _unread(self, reading: Reading, text: str, premise: str, hypothesis: str) -> Reading:
        """Count a reply that gives no label, and show some."""
        counted = self._counted
        refused = reading.problem.startswith("refused")
        counted.refused += refused
        counted.unparsed += not refused
        counted.problems[reading.problem] = counted.problems.get(reading.problem, 0) + 1
        number = counted.refused + counted.unparsed
        if number <= _KEPT_EXAMPLES:
            say = log.warning if number <= _EXAMPLES else log.debug
            shown = self._server.redacted(text)
            say("no label: %s: %r for premise %r, hypothesis %r", reading.problem, shown, premise, hypothesis)
        return reading

    def _about_pair(self, error: AcidtestError, premise: str, hypothesis: str) -> AcidtestError:
        pair = f"premise {_cut(premise)!r}, hypothesis {_cut(hypothesis)!r}"
        return AcidtestError(f"{error}; the pair is {pair}; --skip-refused leaves such pairs unanswered")

    def _combined_row(self, readings: Sequence[Sequence[Reading]]) -> Probabilities:
        """One row for a pair from its readings, by prompt and order; counts how often they disagree."""
        counted = self._counted
        by_prompt = [[_row(reading) for reading in of_prompt] for of_prompt in readings]
        answers = [{int(row.argmax()) for row in rows if not np.isnan(row[0])} for rows in by_prompt]
        several = [sum(not np.isnan(row[0]) for row in rows) > 1 for rows in by_prompt]
        if any(several):
            counted.order_compared += 1
            counted.order_changes += any(len(found) > 1 for found in answers)
        means = [self._mean(rows) for rows in by_prompt]
        present = [int(row.argmax()) for row in means if not np.isnan(row[0])]
        if len(present) > 1:
            counted.paraphrase_compared += 1
            counted.paraphrase_changes += len(set(present)) > 1
        return self._mean([row for rows in by_prompt for row in rows])

    def _mean(self, rows: Sequence[Probabilities]) -> Probabilities:
        """The mean of the rows that are answers; of labels the commonest, and of equals the one asked first."""
        present = [row for row in rows if not np.isnan(row[0])]
        if not present:
            return np.full(3, np.nan, dtype=np.float32)
        mean = np.asarray(np.mean(present, axis=0), dtype=np.float32)
        if self.probabilities:
            return mean
        best = next(row for row in present if mean[row.argmax()] == mean.max())
        return np.asarray(best, dtype=np.float32)

    def _take_notes(self) -> None:
        """What a reader of the results should know."""
        asking, counted, traffic = self._asking, self._counted, self._server.traffic
        prompts = ", ".join(prompt.name for prompt in asking.prompts)
        way = "log-probabilities" if self.probabilities else "the text of replies"
        if self.probabilities and not self._decided:
            way += " where the server gives them" if asking.answers == "auto" else ""
        notes = [
            f"prompt {prompts} over {asking.api}; labels from {way}",
            "the server's weights cannot be seen: the fingerprint holds its address, the model's name, prompt and "
            "settings",
        ]
        if counted.problems:
            reasons = ", ".join(f"{number:,} {problem}" for problem, number in sorted(counted.problems.items()))
            notes.append(f"{counted.unanswered:,} of {counted.pairs:,} pairs unanswered (replies: {reasons})")
        if counted.readings:
            share = counted.unassigned / counted.readings
            notes.append(
                f"{share:.1%} of the probability at the place of the answer is on no answer "
                f"({counted.faint:,} of {counted.readings:,} replies: more than half)"
            )
        for what, compared, changes in (
            ("order of the answers", counted.order_compared, counted.order_changes),
            ("prompt", counted.paraphrase_compared, counted.paraphrase_changes),
        ):
            if compared:
                notes.append(f"with another {what} the answer changes for {changes:,} of {compared:,} pairs")
        if traffic.uncounted and self._prices != Prices():
            notes.append("the cost is unknown: the server does not count its tokens")
        self.notes = tuple(notes)


def _row(reading: Reading) -> Probabilities:
    if reading.problem:
        return np.full(3, np.nan, dtype=np.float32)
    row = np.zeros(3, dtype=np.float32)
    for label, share in reading.shares.items():
        row[COLUMNS[label]] += share
    return row


def _cut(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:80]}… ({len(text):,} characters)"
