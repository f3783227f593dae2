"""A server that speaks the OpenAI protocol over HTTP: asked many things at once, paced, tried again, within bounds."""

from __future__ import annotations

import asyncio
import concurrent.futures
import email.utils
import json
import os
import re
import ssl
import weakref
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import SplitResult, urlsplit

from acidtest.core.errors import AcidtestError, UnknownNameError
from acidtest.core.logs import log
from acidtest.models.connections import Line, Manners, Pace, Surroundings
from acidtest.models.replies import MalformedReplyError, Reply, parsed_reply

if TYPE_CHECKING:
    import httpx

T = TypeVar("T")

MOST_BYTES = 4 * 2**20
"""Bytes of one answer, at most."""
MOST_WAIT = 300.0
"""Seconds a server may ask to be left alone for; one that asks for more is given up."""
_BACK_OFF, _MOST_BACK_OFF = 0.5, 30.0
_SHOWN = 300
_TOLD_TO_WAIT = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})
_TOO_LONG = re.compile(
    r"context[ _-]?(?:length|size|window)|maximum context|max_model_len|too many tokens|prompt is too long",
    re.IGNORECASE,
)
_FILTERED = re.compile(r"content[ _-]?(?:filter|policy|management)|content_policy_violation", re.IGNORECASE)
_NO_MODEL = re.compile(
    r"model.{0,120}(?:not found|not exist|unknown|not available)|model_not_found", re.IGNORECASE | re.S
)
_NO_MONEY = re.compile(r"insufficient_quota|billing_hard_limit|exceeded your current quota", re.IGNORECASE)
_WAIT_AT_MOST = 0.2


class RefusedError(AcidtestError):
    """One request that the server will not answer, however often it is asked: too long, or filtered."""

    def __init__(self, message: str, *, filtered: bool) -> None:
        self.filtered = filtered
        super().__init__(message)


class BadRequestError(AcidtestError):
    """A request with something in it that the server does not take; ``said`` is what it says about it."""

    def __init__(self, message: str, *, said: str) -> None:
        self.said = said
        super().__init__(message)


class _PassingError(Exception):
    """Something that may not happen again; ``wait`` is how long the server asks to be left alone."""

    def __init__(self, reason: str, *, wait: float | None = None, reached: bool = True) -> None:
        self.wait = wait
        self.reached = reached
        super().__init__(reason)


@dataclass
class Traffic:
    """What was asked and what came back."""

    requests: int = 0
    retries: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    uncounted: int = 0
    """Replies whose tokens the server did not count."""
    seconds: float = 0.0

    def add(self, reply: Reply) -> None:
        """Count a reply."""
        if reply.prompt_tokens is None or reply.completion_tokens is None:
            self.uncounted += 1
        self.prompt_tokens += reply.prompt_tokens or 0
        self.completion_tokens += reply.completion_tokens or 0


def address(text: str) -> SplitResult:
    """A server's address in parts; what may hold a secret is refused, for addresses are kept in files."""
    try:
        parts = urlsplit(text.rstrip("/"))
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise AcidtestError("the address of the endpoint is no URL; write http://HOST:PORT/v1") from error
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise AcidtestError(
            "the address of the endpoint has a name, a password or a query in it, which would be kept in files; "
            "write http://HOST:PORT/v1, put the key in an environment variable, and name it with --key-env"
        )
    if parts.scheme not in ("http", "https") or not host:
        raise AcidtestError(f"the address {text!r} is not http or https; write http://HOST:PORT/v1")
    return parts


class Server:
    """One server, with one HTTP client for its whole life, on an event loop in a thread of its own.

    The loop is not the caller's: a notebook has one already, and Ctrl-C reaches a caller that only waits.
    """

    def __init__(self, url: str, key_env: str, *, manners: Manners, surroundings: Surroundings | None = None) -> None:
        self._address = address(url)
        self._key_env = key_env
        self._manners = manners
        self._around = surroundings or Surroundings()
        self._pace = Pace(60 / manners.rate if manners.rate else 0.0, self._around)
        self._line: Line | None = None
        self.reached = False
        self.traffic = Traffic()

    def __getstate__(self) -> dict[str, Any]:
        # Another process opens connections of its own, and has the key in its own environment.
        return vars(self) | {"_line": None}

    @property
    def host(self) -> str:
        """The host and port."""
        return self._address.netloc

    def run(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """What a coroutine gives, run on the server's loop; it is cancelled when waiting for it is interrupted."""
        line = self._opened()
        start = self._around.clock()
        future = asyncio.run_coroutine_threadsafe(work(), line.loop)
        try:
            # Waiting in short turns: on Windows a lock that is waited for is deaf to Ctrl-C.
            while not future.done():
                concurrent.futures.wait([future], timeout=_WAIT_AT_MOST)
            return future.result()
        finally:
            future.cancel()
            self.traffic.seconds += self._around.clock() - start

    def _opened(self) -> Line:
        if self._line is None:
            self._line = Line(self._client(), self._manners.concurrency)
            weakref.finalize(self, self._line.close)
        return self._line

    def close(self) -> None:
        """Close the connections and end the thread; asking again opens new ones."""
        if self._line is not None:
            self._line.close()
            self._line = None

    async def reply(self, path: str, body: Mapping[str, Any]) -> Reply:
        """The reply to a request, after as many tries as it is worth."""
        content = json.dumps(body, ensure_ascii=False).encode("utf-8", "surrogatepass")
        async with self._opened().places:
            for attempt in range(self._manners.retries + 1):
                await self._pace.turn()
                try:
                    reply = parsed_reply(await self._answer("POST", path, content))
                except (MalformedReplyError, _PassingError) as error:
                    await self._wait_after(error, attempt)
                else:
                    self.traffic.add(reply)
                    return reply
        raise AssertionError("the last try raises")

    async def _wait_after(self, error: Exception, attempt: int) -> None:
        """Wait as long as is due after a failure, or raise when it was the last."""
        reason = self.redacted(str(error))
        wait = error.wait if isinstance(error, _PassingError) else None
        unreached = isinstance(error, _PassingError) and not error.reached
        if unreached and not self.reached:
            raise AcidtestError(
                f"{self.host}: {reason}; check that the server runs, and that the address and port are right"
            ) from None
        if wait is not None and wait > MOST_WAIT:
            raise AcidtestError(f"{self.host}: {reason}, and asks to wait {wait:,.0f} s; ask again later") from None
        if attempt == self._manners.retries:
            advice = f"; {error.advice}" if isinstance(error, MalformedReplyError) and error.advice else ""
            raise AcidtestError(f"{self.host}: {reason}, {_times(attempt + 1)}{advice}") from None
        self.traffic.retries += 1
        log.debug("%s: %s; trying again", self.host, reason)
        if wait is not None:
            self._pace.hold(wait)
            return
        most = min(_BACK_OFF * 2**attempt, _MOST_BACK_OFF)
        await self._around.sleep(most * (0.5 + 0.5 * self._around.chance()))

    async def models(self) -> list[str]:
        """The names of the models a server says it has; none where it does not say."""
        try:
            value = json.loads((await self._answer("GET", "/models", b"")).decode("utf-8"))
            return [str(item["id"]) for item in value["data"]][:1000]
        except (AcidtestError, MalformedReplyError, _PassingError, ValueError, RecursionError, KeyError, TypeError):
            return []

    async def _answer(self, method: str, path: str, content: bytes) -> bytes:
        """The body of a good answer; whatever else comes is an error, passing or for good."""
        import httpx

        client = self._opened().client
        self.traffic.requests += 1
        try:
            async with asyncio.timeout(self._manners.timeout):
                url = f"{self._address.geturl()}{path}"
                headers = self._headers()
                async with client.stream(method, url, content=content, headers=headers) as response:
                    body = await _bounded(response)
        except TimeoutError:
            raise _PassingError(f"no whole answer within {self._manners.timeout:g} s") from None
        except (httpx.ConnectError, httpx.ProxyError) as error:
            raise _PassingError(_connection_problem(error), reached=False) from None
        except (httpx.HTTPError, httpx.StreamError, httpx.InvalidURL) as error:
            raise _PassingError(f"the connection broke ({type(error).__name__})") from None
        except ValueError as error:
            # A host that cannot be encoded, above all.
            problem = self.redacted(str(error))
            raise AcidtestError(f"{self.host}: the address cannot be used ({problem}); check it") from None
        self.reached = True
        if response.is_success:
            return body
        raise await self._problem(response, body, method)

    def _headers(self) -> dict[str, str]:
        key = self._key()
        return {"Authorization": f"Bearer {key}"} if key else {}

    def _key(self) -> str:
        environment = os.environ if self._around.environment is None else self._around.environment
        key = environment.get(self._key_env, "").strip() if self._key_env else ""
        if key and not re.fullmatch(r"[\x21-\x7e]+", key):
            raise AcidtestError(f"the key in {self._key_env} has spaces or letters that no key has; set it again")
        return key

    async def _problem(self, response: httpx.Response, body: bytes, method: str) -> Exception:
        """What an answer that is not good means."""
        status, said = response.status_code, _said(body)
        told = f"{self.host} answered {status}" + (f": {self.redacted(said)}" if said else "")
        if status in (401, 403):
            return AcidtestError(self._key_problem(status))
        if 300 <= status < 400:
            return AcidtestError(self._elsewhere(response.headers.get("location", "")))
        if status == 429 and _NO_MONEY.search(said):
            return AcidtestError(f"{told}; the account has no quota left")
        if status in _TOLD_TO_WAIT:
            return _PassingError(told.removeprefix(f"{self.host} "), wait=_retry_after(response))
        if _FILTERED.search(said):
            return RefusedError(told, filtered=True)
        if status in (400, 413, 422) and (status == 413 or _TOO_LONG.search(said)):
            return RefusedError(told, filtered=False)
        if method == "POST" and (status in (404, 405) or (status == 400 and _NO_MODEL.search(said))):
            return await self._not_found(response, told)
        return BadRequestError(told, said=said)

    def _key_problem(self, status: int) -> str:
        problem = f"{self.host} answered {status}: "
        if not self._key_env:
            return f"{problem}it wants a key; put it in an environment variable and name that with --key-env"
        if self._key():
            return f"{problem}it does not take the key in {self._key_env}; check it, or name another with --key-env"
        return f"{problem}it wants a key; set {self._key_env}, or name another environment variable with --key-env"

    def _elsewhere(self, location: str) -> str:
        parts = urlsplit(location)
        where = self.redacted(f"{parts.scheme}://{parts.hostname}{parts.path}") if parts.hostname else "elsewhere"
        return f"{self.host} sends requests on to {where}, which is not followed; give the address that answers itself"

    async def _not_found(self, response: httpx.Response, told: str) -> AcidtestError:
        known = await self.models()
        model = str(json.loads(response.request.content).get("model", ""))
        if known and model not in known:
            return UnknownNameError(f"model at {self.host}", model, [self.redacted(name) for name in known])
        path = response.request.url.path
        if known:
            other = "completions" if path.endswith("/chat/completions") else "chat"
            return AcidtestError(f"{told}; it has the model but not {path}: try --api {other}")
        return AcidtestError(f"{told}; check the model's name and the address (most end in /v1; {path} was asked)")

    def _client(self) -> httpx.AsyncClient:
        import httpx

        host, near = str(self._address.hostname), _is_loopback(str(self._address.hostname))
        if self._key() and not near:
            log.info("the key in %s goes to %s with every request", self._key_env, host)
            if self._address.scheme == "http":
                log.warning("the key in %s goes to %s without encryption; use https", self._key_env, host)
        most = self._manners.concurrency
        try:
            return httpx.AsyncClient(
                timeout=None,
                follow_redirects=False,
                cookies=CookieJar(policy=DefaultCookiePolicy(allowed_domains=[])),
                # A proxy is for the world outside.
                trust_env=not near,
                limits=httpx.Limits(max_connections=most, max_keepalive_connections=most),
                headers={
                    "User-Agent": "acidtest",
                    "Content-Type": "application/json",
                    "Accept": "application/json",
                    "Accept-Encoding": "identity",
                },
            )
        except (ImportError, ValueError) as error:
            raise AcidtestError(f"the proxy in the environment cannot be used: {error}") from None

    def redacted(self, text: str) -> str:
        """A text of the server's, for people: without the key, on one line, not long."""
        key = self._key()
        text = text.replace(key, "[key]") if key else text
        text = " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
        return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


async def _bounded(response: httpx.Response) -> bytes:
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        raise MalformedReplyError("a compressed answer, which was not asked for")
    body = bytearray()
    async for chunk in response.aiter_raw():
        body += chunk
        if len(body) > MOST_BYTES:
            raise MalformedReplyError(f"an answer of more than {MOST_BYTES:,} bytes")
    return bytes(body)


def _said(body: bytes) -> str:
    """What a server says about an error: its message and code where it speaks JSON, else the text it sent."""
    text = body[:20_000].decode("utf-8", errors="replace")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        # A page for browsers says nothing to a person on a terminal.
        return "" if text.lstrip().startswith("<") else text
    error = value.get("error", value.get("detail", value.get("message", ""))) if isinstance(value, dict) else value
    if isinstance(error, dict):
        code = error.get("code") or error.get("type") or ""
        return f"{error.get('message', '')}" + (f" ({code})" if code else "")
    return error if isinstance(error, str) else json.dumps(error)


def _retry_after(response: httpx.Response) -> float | None:
    """Seconds that a server asks to be left alone for, from a number or a date; None where it does not say."""
    text = response.headers.get("retry-after", "").strip()
    if re.fullmatch(r"\d{1,9}(\.\d{1,9})?", text):
        return float(text)
    try:
        then = email.utils.parsedate_to_datetime(text)
        now = email.utils.parsedate_to_datetime(response.headers.get("date", ""))
        return max(0.0, (then - now).total_seconds())
    except (ValueError, TypeError, OverflowError):
        return None


def _connection_problem(error: Exception) -> str:
    reasons = list[BaseException]()
    cause: BaseException | None = error
    while cause is not None and len(reasons) < 10:
        reasons.append(cause)
        cause = cause.__cause__ or cause.__context__
    if any(isinstance(reason, ConnectionRefusedError) for reason in reasons):
        return "the connection was refused"
    if any(isinstance(reason, ssl.SSLError) for reason in reasons):
        return "no secure connection could be made (is it https?)"
    text = str(error)
    if "refused" in text.lower() or "All connection attempts failed" in text:
        return "the connection was refused"
    if "name" in text.lower() or "getaddrinfo" in text.lower() or "nodename" in text.lower():
        return "there is no host of this name"
    return f"no connection could be made ({type(error).__name__})"


def _is_loopback(host: str) -> bool:
    return host == "localhost" or host == "::1" or re.fullmatch(r"127(\.\d{1,3}){3}", host) is not None


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times in a row"
