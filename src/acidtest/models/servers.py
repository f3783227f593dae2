"""A server with the OpenAI protocol over HTTP: concurrent requests with a rate limit, retries and bounded replies."""

from __future__ import annotations

import asyncio
import concurrent.futures
import email.utils
import json
import os
import random
import re
import ssl
import threading
import time
import weakref
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import TYPE_CHECKING, Any, Literal, TypeVar
from urllib.parse import SplitResult, urlsplit

from acidtest.core.errors import AcidtestError, UnknownNameError
from acidtest.core.logs import log
from acidtest.models.replies import Reply, TransientError, Usage, parse_reply

if TYPE_CHECKING:
    import httpx

T = TypeVar("T")

MOST_BYTES = 4 * 2**20
"""Most bytes in one response."""

MOST_WAIT = 300.0
"""Most seconds that a server may ask to wait; asking for more is an error."""

LOOPBACK = re.compile(r"localhost|::1|127(\.\d{1,3}){3}")
"""Names and addresses of this machine."""

_BACK_OFF, _MOST_BACK_OFF = 0.5, 30.0
_MESSAGE_LENGTH = 300
_RETRIED = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})
_TOO_LONG = re.compile(
    r"context[ _-]?(?:length|size|window)|maximum context|max_model_len|too many tokens|prompt is too long",
    re.IGNORECASE,
)
_FILTERED = re.compile(r"content[ _-]?(?:filter|policy|management)|content_policy_violation", re.IGNORECASE)
_NO_MODEL = re.compile(
    r"model.{0,120}(?:not found|not exist|unknown|not available)|model_missing_model_error", re.IGNORECASE | re.S
)
_NO_QUOTA = re.compile(r"insufficient_quota|billing_hard_limit|exceeded your current quota", re.IGNORECASE)
_POLL_S = 0.2
_JSON = "application/json"
_HEADERS = {"User-Agent": "acidtest", "Content-Type": _JSON, "Accept": _JSON, "Accept-Encoding": "identity"}


class RefusedRequestError(AcidtestError):
    """A request that would be refused again: filtered, too long, or with a parameter that the server does not take."""

    def __init__(self, message: str, problem: Literal["filtered", "too long", "bad"], *, reason: str = "") -> None:
        self.problem = problem
        self.reason = reason
        super().__init__(message)


@dataclass(frozen=True)
class RequestOptions:
    """The most requests at once, requests per minute (0: no limit), retries, and seconds for one request."""

    concurrency: int = 8
    rate: float = 0.0
    retries: int = 5
    timeout: float = 60.0


@dataclass(frozen=True)
class SystemAccess:
    """Environment variables (None: those of the process), clock, sleep and random numbers; tests pass their own."""

    environment: Mapping[str, str] | None = None
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    clock: Callable[[], float] = time.monotonic
    chance: Callable[[], float] = field(default_factory=lambda: random.Random().random)


class ClientThread:
    """A thread with an event loop, and the HTTP client that runs on it."""

    def __init__(self, client: httpx.AsyncClient, concurrency: int) -> None:
        self.client = client
        self.slots = asyncio.Semaphore(concurrency)
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, name="acidtest-endpoint", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Close the client and end the thread."""
        if self.loop.is_closed():
            return
        asyncio.run_coroutine_threadsafe(self._stop(), self.loop)
        self._thread.join(timeout=2)
        if not self._thread.is_alive():
            self.loop.close()

    async def _stop(self) -> None:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        await self.client.aclose()
        self.loop.stop()


def parse_address(text: str) -> SplitResult:
    """The parts of a server's address; refused if it may hold a secret, because it is written to files."""
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
    """One server, with one HTTP client on an event loop in a separate thread.

    The thread is separate because a notebook's own already has a loop, and so that Ctrl-C interrupts a waiting caller.
    """

    def __init__(
        self, url: str, key_env: str, usage: Usage, *, options: RequestOptions, system: SystemAccess | None = None
    ) -> None:
        self._address = parse_address(url)
        self._key_env = key_env
        self._usage = usage
        self._options = options
        self._system = system or SystemAccess()
        self._next_request = 0.0
        self._thread: ClientThread | None = None
        self._reached = False

    def __getstate__(self) -> dict[str, Any]:
        # A copy in another process opens its own connections, and reads the key from its own environment.
        return vars(self) | {"_thread": None}

    @property
    def host(self) -> str:
        """The host and port."""
        return self._address.netloc

    def run(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Run a coroutine on the server's loop and wait for its result; cancelled when the wait is interrupted."""
        loop = self._open().loop
        start = self._system.clock()
        future = asyncio.run_coroutine_threadsafe(work(), loop)
        try:
            # Wait in short steps: on Windows, Ctrl-C does not interrupt waiting for a lock.
            while not future.done():
                concurrent.futures.wait([future], timeout=_POLL_S)
            return future.result()
        finally:
            future.cancel()
            self._usage.seconds += self._system.clock() - start

    def _open(self) -> ClientThread:
        if self._thread is None:
            self._thread = ClientThread(self._make_client(), self._options.concurrency)
            weakref.finalize(self, self._thread.close)
        return self._thread

    def close(self) -> None:
        """Close the connections and end the thread; the next request opens new ones."""
        if self._thread is not None:
            self._thread.close()
            self._thread = None

    async def reply(self, path: str, body: Mapping[str, Any]) -> Reply:
        """The reply to a request, after retries where they help."""
        content = json.dumps(body, ensure_ascii=False).encode("utf-8", "surrogatepass")
        async with self._open().slots:
            for attempt in range(self._options.retries + 1):
                await self._wait_for_turn()
                try:
                    reply = parse_reply(await self._request("POST", path, content))
                except TransientError as error:
                    await self._wait_after(error, attempt)
                else:
                    self._usage.add_tokens(reply)
                    return reply
        raise AssertionError("the last try raises")

    async def _wait_for_turn(self) -> None:
        """Wait until the rate limit, and any wait that the server asked for, allow the next request."""
        now = self._system.clock()
        start = max(now, self._next_request)
        if self._options.rate:
            self._next_request = start + 60 / self._options.rate
        if start > now:
            await self._system.sleep(start - now)

    async def _wait_after(self, error: TransientError, attempt: int) -> None:
        """Wait before the next try, or postpone it as long as the server asks; raise after the last try."""
        problem = f"{self.host}: {self.redact(str(error))}"
        if not (error.reached or self._reached):
            advice = "check that the server runs, and that the address and port are right"
            raise AcidtestError(f"{problem}; {advice}") from None
        if error.wait is not None and error.wait > MOST_WAIT:
            raise AcidtestError(f"{problem}, and asks to wait {error.wait:,.0f} s; ask again later") from None
        if attempt == self._options.retries:
            times = f"{attempt + 1} times in a row" if attempt else "once"
            advice = f"; {error.advice}" if error.advice else ""
            raise AcidtestError(f"{problem}, {times}{advice}") from None
        self._usage.retries += 1
        log.debug("%s; trying again", problem)
        if error.wait is not None:
            self._next_request = max(self._next_request, self._system.clock() + error.wait)
            return
        most = min(_BACK_OFF * 2**attempt, _MOST_BACK_OFF)
        await self._system.sleep(most * (0.5 + 0.5 * self._system.chance()))

    async def models(self) -> list[str]:
        """The names of the models that the server lists; empty where it lists none."""
        try:
            value = json.loads((await self._request("GET", "/models", b"")).decode("utf-8"))
            return [str(item["id"]) for item in value["data"]][:1000]
        except (AcidtestError, TransientError, ValueError, RecursionError, KeyError, TypeError):
            return []

    async def _request(self, method: str, path: str, content: bytes) -> bytes:
        """The body of a successful response; raises ``TransientError`` if a retry may help, otherwise another error."""
        import httpx

        client, url, key = self._open().client, f"{self._address.geturl()}{path}", self._key()
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._usage.requests += 1
        try:
            async with (
                asyncio.timeout(self._options.timeout),
                client.stream(method, url, content=content, headers=headers) as response,
            ):
                body = await _read_bounded(response)
        except TimeoutError:
            raise TransientError(f"no whole answer within {self._options.timeout:g} s") from None
        except (httpx.ConnectError, httpx.ProxyError) as error:
            raise TransientError(_describe_connection_error(error), reached=False) from None
        except (httpx.HTTPError, httpx.StreamError, httpx.InvalidURL) as error:
            raise TransientError(f"the connection broke ({type(error).__name__})") from None
        except ValueError as error:
            # Mostly a host name that cannot be encoded.
            problem = self.redact(str(error))
            raise AcidtestError(f"{self.host}: the address cannot be used ({problem}); check it") from None
        self._reached = True
        if response.is_success:
            return body
        raise await self._response_error(response, body, method)

    def _key(self) -> str:
        environment = os.environ if self._system.environment is None else self._system.environment
        key = environment.get(self._key_env, "").strip() if self._key_env else ""
        if key and not re.fullmatch(r"[\x21-\x7e]+", key):
            raise AcidtestError(f"the key in {self._key_env} has spaces or letters that no key has; set it again")
        return key

    async def _response_error(self, response: httpx.Response, body: bytes, method: str) -> Exception:
        """The error that an unsuccessful response means."""
        status, message = response.status_code, _error_message(body)
        answer = f"answered {status}" + (f": {self.redact(message)}" if message else "")
        text = f"{self.host} {answer}"
        if status in (401, 403):
            return AcidtestError(f"{self.host} answered {status}: {self._key_problem()}")
        if 300 <= status < 400:
            parts = urlsplit(response.headers.get("location", ""))
            target = self.redact(f"{parts.scheme}://{parts.hostname}{parts.path}") if parts.hostname else "elsewhere"
            advice = "which is not followed; give the address that answers itself"
            return AcidtestError(f"{self.host} redirects to {target}, {advice}")
        if status == 429 and _NO_QUOTA.search(message):
            return AcidtestError(f"{text}; the account has no quota left")
        if status in _RETRIED:
            return TransientError(answer, wait=_retry_after(response))
        if _FILTERED.search(message):
            return RefusedRequestError(text, "filtered")
        if status == 413 or (status in (400, 422) and _TOO_LONG.search(message)):
            return RefusedRequestError(text, "too long")
        if method == "POST" and (status in (404, 405) or (status == 400 and _NO_MODEL.search(message))):
            return await self._missing_model_error(response, text)
        return RefusedRequestError(text, "bad", reason=message)

    def _key_problem(self) -> str:
        if not self._key_env:
            return "it wants a key; put it in an environment variable and name that with --key-env"
        if self._key():
            return f"it does not take the key in {self._key_env}; check it, or name another with --key-env"
        return f"it wants a key; set {self._key_env}, or name another environment variable with --key-env"

    async def _missing_model_error(self, response: httpx.Response, text: str) -> AcidtestError:
        known = await self.models()
        model = str(json.loads(response.request.content).get("model", ""))
        if known and model not in known:
            return UnknownNameError(f"model at {self.host}", model, [self.redact(name) for name in known])
        path = response.request.url.path
        if known:
            other = "completions" if path.endswith("/chat/completions") else "chat"
            return AcidtestError(f"{text}; it has the model but not {path}: try --api {other}")
        return AcidtestError(f"{text}; check the model's name and the address (most end in /v1; {path} was asked)")

    def _make_client(self) -> httpx.AsyncClient:
        import httpx

        host = str(self._address.hostname)
        local = LOOPBACK.fullmatch(host) is not None
        if self._key() and not local:
            log.info("the key in %s goes to %s with every request", self._key_env, host)
            if self._address.scheme == "http":
                log.warning("the key in %s goes to %s without encryption; use https", self._key_env, host)
        most = self._options.concurrency
        try:
            return httpx.AsyncClient(
                timeout=None,
                follow_redirects=False,
                cookies=CookieJar(policy=DefaultCookiePolicy(allowed_domains=[])),
                # Requests to this machine use no proxy from the environment.
                trust_env=not local,
                limits=httpx.Limits(max_connections=most, max_keepalive_connections=most),
                headers=_HEADERS,
            )
        except (ImportError, ValueError) as error:
            raise AcidtestError(f"the proxy in the environment cannot be used: {error}") from None

    def redact(self, text: str) -> str:
        """Text from the server, made fit for messages: without the key, on one line, shortened."""
        key = self._key()
        text = text.replace(key, "[key]") if key else text
        text = " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
        return text if len(text) <= _MESSAGE_LENGTH else f"{text[:_MESSAGE_LENGTH]}…"


async def _read_bounded(response: httpx.Response) -> bytes:
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        raise TransientError("a compressed answer, which was not asked for")
    body = bytearray()
    async for chunk in response.aiter_raw():
        body += chunk
        if len(body) > MOST_BYTES:
            raise TransientError(f"an answer of more than {MOST_BYTES:,} bytes")
    return bytes(body)


def _error_message(body: bytes) -> str:
    """The message and code of an error in JSON; otherwise the text of the response; empty for HTML."""
    text = body[:20_000].decode("utf-8", errors="replace")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        # HTML is of no use in a message.
        return "" if text.lstrip().startswith("<") else text
    error = value.get("error", value.get("detail", value.get("message", ""))) if isinstance(value, dict) else value
    if isinstance(error, dict):
        code = error.get("code") or error.get("type") or ""
        return f"{error.get('message', '')}" + (f" ({code})" if code else "")
    return error if isinstance(error, str) else json.dumps(error)


def _retry_after(response: httpx.Response) -> float | None:
    """Seconds that a server asks to wait, from a number or a date; None where it does not say."""
    text = response.headers.get("retry-after", "").strip()
    if re.fullmatch(r"\d{1,9}(\.\d{1,9})?", text):
        return float(text)
    try:
        then = email.utils.parsedate_to_datetime(text)
        now = email.utils.parsedate_to_datetime(response.headers.get("date", ""))
        return max(0.0, (then - now).total_seconds())
    except (ValueError, TypeError, OverflowError):
        return None


def _describe_connection_error(error: Exception) -> str:
    causes: list[BaseException] = [error]
    while (cause := causes[-1].__cause__ or causes[-1].__context__) is not None and len(causes) < 10:
        causes.append(cause)
    text = str(error).lower()
    if any(isinstance(cause, ConnectionRefusedError) for cause in causes):
        return "the connection was refused"
    if any(isinstance(cause, ssl.SSLError) for cause in causes):
        return "no secure connection could be made (is it https?)"
    if "refused" in text or "all connection attempts failed" in text:
        return "the connection was refused"
    if "name" in text or "getaddrinfo" in text:
        return "there is no host of this name"
    return f"no connection could be made ({type(error).__name__})"
