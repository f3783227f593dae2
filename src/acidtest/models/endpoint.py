"""``endpoint:MODEL@http://host/v1``: a language model on a server that speaks the OpenAI protocol."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from acidtest.core.errors import AcidtestError, import_optional
from acidtest.core.logs import log
from acidtest.core.model import MODELS, Keep, Model, Probabilities, Resolution
from acidtest.core.settings import require_requested
from acidtest.models.prompts import ArrangedPrompt, Prompt, answer_orders, load_prompt
from acidtest.models.replies import Reply, ReplyMeaning, Usage, read_probabilities, read_text
from acidtest.models.servers import RefusedRequestError, RequestOptions, Server, SystemAccess, parse_address

Api = Literal["chat", "completions"]
Answers = Literal["auto", "logprobs", "text"]

REVISION = 2
"""Increase this when the reading of replies changes, so that stored answers are not reused."""

TOP_TOKENS = (20, 5)
"""How many log-probabilities are requested for each token, and how many if the server refuses that number."""

MAX_REPEATS = 100
"""Pairs whose first prompt is sent twice if there are several: replies may differ for no reason at all."""

REQUESTS_PER_SLOT = 4
"""Requests in a batch per concurrent request; an unfinished batch is lost if the program is killed."""

Texts = tuple[str, ...]
"""Premise and hypothesis, and the question or None where a prompt has a place for one."""

_PATHS: Mapping[Api, str] = {"chat": "/chat/completions", "completions": "/completions"}
_SHOWN_PROBLEMS, _LOGGED_PROBLEMS = 3, 50
_REFUSED = ReplyMeaning({}, "refused by the server")


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
    """A language model given as ``NAME@ADDRESS``; no request is sent before the first prediction.

    ``prompt`` and each of the comma-separated ``paraphrases`` is a name or a file that ends in .toml; every pair is
    sent with each prompt, in ``orders`` different orders of its answers. With several of either, 100 pairs are sent
    the first prompt twice, to see how much replies vary anyway. ``rate`` is requests per minute, ``timeout``
    seconds per request, ``price_in`` and ``price_out`` are per million tokens; if ``temperature`` is below 0, the
    server chooses it. ``key_env`` names the environment variable that holds the key.
    """
    import_optional("httpx", extra="endpoint", work="an endpoint: model")
    name, address = _parse_spec(rest)
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
    prompts = _load_prompts(prompt, paraphrases)
    parse_address(address)
    require_requested(f"endpoint:{rest}", f"sends a key to a server: endpoint:{rest}")
    options = EndpointOptions(name, address, prompts, orders, api, answers, temperature, max_tokens)
    requests = RequestOptions(concurrency, rate, retries, timeout)
    usage = Usage(price_in, price_out)
    return EndpointModel(options, key_env, requests=requests, usage=usage, skip_refused=skip_refused)


def _parse_spec(rest: str) -> tuple[str, str]:
    """The model's name and the server's address; the error shows neither, because they may contain a secret."""
    for scheme in ("@http://", "@https://"):
        name, at, host = rest.partition(scheme)
        if name and at:
            return name, f"{scheme[1:]}{host}"
    raise AcidtestError(
        "endpoint: needs a model and an address over http or https: endpoint:MODEL@http://HOST:PORT/v1, "
        "such as endpoint:qwen3@http://localhost:8000/v1"
    )


def _load_prompts(prompt: str, paraphrases: str) -> tuple[Prompt, ...]:
    names = dict.fromkeys([prompt, *(name.strip() for name in paraphrases.split(",") if name.strip())])
    prompts = tuple(load_prompt(name) for name in names)
    if len({prompt.resolution for prompt in prompts}) > 1:
        raise AcidtestError("endpoint: prompts with two and with three answers cannot be asked together")
    return prompts


@dataclass(frozen=True)
class EndpointOptions:
    """Everything that decides what is sent to a server and how its replies are read."""

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
        """A hash of the options. It cannot cover the server's weights, and leaves out the key."""
        settings = [self.orders, self.api, self.answers, self.temperature, self.max_tokens, REVISION]
        prompts = [prompt.content for prompt in self.prompts]
        content = json.dumps([self.model, self.address.rstrip("/"), *settings, prompts])
        return hashlib.blake2b(content.encode(), digest_size=8).hexdigest()


class EndpointModel:
    """A language model asked over HTTP; see docs/how-to/llm.md."""

    optional: tuple[str, ...] = ("question",)
    may_abstain = True
    independent = True
    # The weights behind a name may change between runs.
    keep: Keep = "run"
    varies = True

    def __init__(
        self,
        options: EndpointOptions,
        key_env: str = "OPENAI_API_KEY",
        *,
        requests: RequestOptions | None = None,
        usage: Usage | None = None,
        skip_refused: bool = False,
        system: SystemAccess | None = None,
    ) -> None:
        requests = requests or RequestOptions()
        self._usage = usage or Usage()
        self._server = Server(options.address, key_env, self._usage, options=requests, system=system)
        self._options = options
        # Every pair is sent with each prompt in each order of its answers.
        self._arranged = [
            prompt.arrange(order) for prompt in options.prompts for order in answer_orders(prompt, options.orders)
        ]
        self._skip_refused = skip_refused
        self._top_tokens = 0 if options.answers == "text" else TOP_TOKENS[0]
        self._token_limit_name = "max_tokens"
        self._mode_known = False
        self._repeated = 0
        self.name = f"endpoint:{options.model}@{options.address}"
        self.fingerprint: str | None = options.fingerprint
        asks_questions = any(prompt.asks_questions for prompt in options.prompts)
        self.columns = ("premise", "hypothesis", *(self.optional if asks_questions else ()))
        self.resolution: Resolution = options.prompts[0].resolution
        self.probabilities = options.answers != "text"
        self.batch_size = max(1, REQUESTS_PER_SLOT * requests.concurrency // len(self._arranged))
        self._update_notes()

    def __repr__(self) -> str:
        return f"<{self.name}>"

    def _update_notes(self) -> None:
        prompts = ", ".join(prompt.name for prompt in self._options.prompts)
        method = "log-probabilities" if self.probabilities else "the text of replies"
        if self.probabilities and not self._mode_known and self._options.answers == "auto":
            method += " where the server gives them"
        weights_note = "the server's weights cannot be seen: the fingerprint holds its address, the model's name, "
        self.notes: tuple[str, ...] = (
            f"prompt {prompts} over {self._options.api}; labels from {method}",
            f"{weights_note}prompt and settings",
            *self._usage.notes(),
        )

    def predict(self, *columns: Sequence[str]) -> npt.NDArray[np.float32]:
        """Probabilities of the labels; a row is NaN if no reply for its pair could be read, or the model abstained."""
        pairs = list(zip(*columns, strict=True))
        try:
            meanings = self._server.run(lambda: self._ask_pairs(pairs))
        except AcidtestError as error:
            raise AcidtestError(f"{error}; {self._usage.pairs:,} pairs were answered in batches before") from error
        rows = np.array([self._combine(pair_meanings) for pair_meanings in meanings], dtype=np.float32).reshape(-1, 3)
        self._usage.pairs += len(pairs)
        unanswered = np.isnan(rows[:, 0])
        self._usage.unanswered += int(unanswered.sum())
        abstained = [any(meaning.abstains for meaning in pair_meanings) for pair_meanings in meanings]
        self._usage.abstained += int((unanswered & np.array(abstained, dtype=np.bool_)).sum())
        self._update_notes()
        return rows

    def close(self) -> None:
        self._server.close()

    def usage(self) -> Mapping[str, float]:
        """Requests, tokens, cost and seconds of this process, and how many replies could not be read or differ."""
        return self._usage.to_json()

    async def _ask_pairs(self, pairs: Sequence[Texts]) -> list[list[ReplyMeaning]]:
        """For each pair, the meaning of the reply to each arranged prompt, and to the first again for some pairs."""
        meanings = list[list[ReplyMeaning]]()
        repeats = max(0, MAX_REPEATS - self._repeated) if len(self._arranged) > 1 else 0
        self._repeated += min(repeats, len(pairs))
        prompts = [[*self._arranged, *self._arranged[: number < repeats]] for number in range(len(pairs))]
        # Send one request at a time until a reply shows whether the server gives log-probabilities.
        while not self._mode_known and len(meanings) < len(pairs):
            number = len(meanings)
            meanings.append([await self._ask(prompt, *pairs[number]) for prompt in prompts[number]])
        rest = range(len(meanings), len(pairs))
        tasks = [
            asyncio.create_task(self._ask(prompt, *pairs[number])) for number in rest for prompt in prompts[number]
        ]
        try:
            results = iter(await asyncio.gather(*tasks))
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        return [*meanings, *([next(results) for _ in prompts[number]] for number in rest)]

    async def _ask(self, prompt: ArrangedPrompt, *texts: str) -> ReplyMeaning:
        premise, hypothesis = texts[:2]
        try:
            reply = await self._request(prompt, texts)
            meaning, text = self._read(reply, prompt), reply.text
        except RefusedRequestError as error:
            if error.problem == "bad" and not self._mode_known:
                raise
            if error.problem != "filtered" and not self._skip_refused:
                pair = f"premise {_shorten(premise)!r}, hypothesis {_shorten(hypothesis)!r}"
                advice = "--skip-refused leaves such pairs unanswered"
                raise AcidtestError(f"{error}; the pair is {pair}; {advice}") from None
            meaning, text = _REFUSED, str(error)
        self._usage.add_meaning(meaning)
        number = self._usage.refused + self._usage.unparsed
        if meaning.problem and number <= _LOGGED_PROBLEMS:
            log_problem = log.warning if number <= _SHOWN_PROBLEMS else log.debug
            text = self._server.redact(text)
            log_problem("no label: %s: %r for premise %r, hypothesis %r", meaning.problem, text, premise, hypothesis)
        return meaning

    async def _request(self, prompt: ArrangedPrompt, texts: Texts) -> Reply:
        """Send a request, changing its parameters until the server accepts them; return the reply."""
        while True:
            try:
                body = self._request_body(prompt, texts)
                reply = await self._server.reply(_PATHS[self._options.api], body)
            except RefusedRequestError as error:
                if error.problem != "bad" or self._mode_known or not self._adapt_request(error.reason.lower()):
                    raise
                continue
            # A reply that is not empty shows whether the server gives log-probabilities.
            if not self._mode_known and (reply.tokens or reply.text.strip()) and not reply.refused:
                if self._top_tokens and not reply.tokens:
                    self._use_text()
                self._mode_known = True
            return reply

    def _request_body(self, prompt: ArrangedPrompt, texts: Texts) -> dict[str, Any]:
        body: dict[str, Any] = {"model": self._options.model, self._token_limit_name: self._options.max_tokens}
        if self._options.temperature >= 0:
            body["temperature"] = self._options.temperature
        if self._options.api == "chat":
            body["messages"] = prompt.messages(*texts)
            return body | ({"logprobs": True, "top_logprobs": self._top_tokens} if self._top_tokens else {})
        body |= {"prompt": prompt.text(*texts), "stop": ["\n\n"]}
        return body | ({"logprobs": self._top_tokens} if self._top_tokens else {})

    def _adapt_request(self, reason: str) -> bool:
        """Change the parameter that the server rejected; False if the reason does not name one we can change."""
        if "max_completion_tokens" in reason and self._token_limit_name == "max_tokens":
            self._token_limit_name = "max_completion_tokens"
            return True
        if "logprob" in reason and self._top_tokens:
            self._top_tokens = TOP_TOKENS[1] if self._top_tokens == TOP_TOKENS[0] else 0
            if not self._top_tokens:
                self._use_text()
            return True
        return False

    def _use_text(self) -> None:
        if self._options.answers == "logprobs":
            raise AcidtestError(f"{self._server.host} gives no log-probabilities; use --answers text")
        log.warning("%s gives no log-probabilities: labels are read from the text of its replies", self._server.host)
        self._top_tokens = 0
        self.probabilities = False

    def _read(self, reply: Reply, prompt: ArrangedPrompt) -> ReplyMeaning:
        if reply.refused:
            return _REFUSED
        if self._top_tokens and reply.tokens:
            meaning = read_probabilities(reply, prompt.meanings)
        elif self._top_tokens and reply.text.strip():
            meaning = ReplyMeaning({}, "a reply without log-probabilities")
        else:
            meaning = read_text(reply.text, prompt.meanings)
        if meaning.problem and reply.finish == "length":
            return ReplyMeaning({}, f"{meaning.problem} within {self._options.max_tokens} tokens", meaning.unassigned)
        return meaning

    def _combine(self, meanings: Sequence[ReplyMeaning]) -> Probabilities:
        """The mean over all replies for one pair; also counts disagreement between orders and between prompts."""
        usage, orders = self._usage, self._options.orders
        meanings, again = meanings[: len(self._arranged)], meanings[len(self._arranged) :]
        first = meanings[0].label
        for repeated in again:
            usage.add_comparison("repeat", first, repeated.label)
        if orders > 1:
            usage.add_comparison("reorder", first, meanings[1].label)
        if len(self._options.prompts) > 1:
            usage.add_comparison("reprompt", first, meanings[orders].label)
        meanings_by_prompt = [meanings[start : start + orders] for start in range(0, len(meanings), orders)]
        rows_by_prompt = [
            [meaning.row for meaning in replies if not meaning.problem and not meaning.abstains]
            for replies in meanings_by_prompt
        ]
        if any(len(rows) > 1 for rows in rows_by_prompt):
            usage.order_compared += 1
            usage.order_changes += any(len({int(row.argmax()) for row in rows}) > 1 for rows in rows_by_prompt)
        labels = [int(self._mean(rows).argmax()) for rows in rows_by_prompt if rows]
        if len(labels) > 1:
            usage.paraphrase_compared += 1
            usage.paraphrase_changes += len(set(labels)) > 1
        return self._mean([row for rows in rows_by_prompt for row in rows])

    def _mean(self, rows: Sequence[Probabilities]) -> Probabilities:
        """The mean of probabilities; for labels read from text, the most frequent one, and the first in a tie."""
        if not rows:
            return np.full(3, np.nan, dtype=np.float32)
        mean = np.asarray(np.mean(rows, axis=0), dtype=np.float32)
        if self.probabilities:
            return mean
        return next(np.asarray(row, dtype=np.float32) for row in rows if mean[row.argmax()] == mean.max())


def _shorten(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:80]}… ({len(text):,} characters)"
