"""Access to the annotation server: host names, tokens, wrong tokens, and requests made by other sites.

On loopback the users of the machine need no token. On any other address, and behind a proxy (``--allow-host``),
everybody does. After a few different wrong tokens an address is locked for a second, then two, four and up to half a
minute with every further one; other addresses are not affected.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import re
import secrets
import socket
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Lock
from urllib.parse import SplitResult, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, HTTPConnection, Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from acidtest.core.errors import AcidtestError

MAX_BODY_BYTES = 256 * 1024

SHORTEST_UNGUESSABLE = 20
"""Generated tokens have 24 characters; one shorter than this may be a word that somebody chose."""

SECURITY_HEADERS: Mapping[str, str] = {
    "content-security-policy": (
        "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
"""Headers of every response."""

FREE_GUESSES = 10
"""How many different wrong tokens an address may send before it is locked: people copy links badly."""
LONGEST_LOCK = 30.0
FORGOTTEN_AFTER = 600.0
MAX_ADDRESSES = 10_000

_TOO_LARGE = f"the request is larger than {MAX_BODY_BYTES // 1024} kB; write less"
_SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
_LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")
_ALL_ADDRESSES = ("0.0.0.0", "::", "")


@dataclass(frozen=True)
class Guard:
    """The address the server listens on, its other names, and the tokens that give access."""

    host: str = "127.0.0.1"
    allowed: tuple[str, ...] = ()
    token: str = field(default="", repr=False)
    """The token of annotators; empty: they need none."""
    admin_token: str = field(default="", repr=False)
    """The token of whoever runs the project; empty: everybody has access to the overview."""

    @classmethod
    def create(cls, host: str, *, allowed: tuple[str, ...] = (), token: str = "", admin_token: str = "") -> Guard:
        """A guard that needs no token on loopback; elsewhere missing tokens are generated."""
        if not (token + admin_token).isascii() or not (token + admin_token).isprintable():
            raise AcidtestError("a token consists of printable ASCII characters, as HTTP headers do; choose another")
        if is_loopback(host) and not allowed:
            return cls(host, allowed, token, admin_token or token)
        return cls(host, allowed, token or secrets.token_urlsafe(18), admin_token or secrets.token_urlsafe(18))

    @property
    def is_unguessable(self) -> bool:
        """Whether every token is too long to be guessed (``SHORTEST_UNGUESSABLE``)."""
        return all(len(token) >= SHORTEST_UNGUESSABLE for token in (self.token, self.admin_token) if token)

    def knows_host(self, header: str) -> bool:
        """Whether a Host header names this server; an unknown name may be an attacker's (DNS rebinding).

        A server that listens on all addresses accepts every numeric address, since nobody can rebind one.
        """
        name = _hostname(header)
        if name in (*_LOOPBACK_NAMES, self.host.lower(), *(host.lower() for host in self.allowed)):
            return True
        return self.host in _ALL_ADDRESSES and (
            _parse_address(name) is not None or name == socket.gethostname().lower()
        )

    def admits(self, token: str | None) -> bool:
        """Whether a token gives access to the pages of annotators; the admin's does too."""
        return not self.token or _is_same(token, self.token) or (bool(self.admin_token) and self.admits_admin(token))

    def admits_admin(self, token: str | None) -> bool:
        return not self.admin_token or _is_same(token, self.admin_token)


class GuardedApp:
    """Passes on requests that are meant for this server, small enough, and not made by another site."""

    def __init__(self, app: ASGIApp, guard: Guard) -> None:
        self._app, self._guard = app, guard

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse the request or pass it on; every response gets the security headers."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return

        async def send_secured(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(SECURITY_HEADERS)
            await send(message)

        problem, body = self._problem(scope), b""
        if not problem and scope["method"] not in _SAFE_METHODS:
            try:
                async for chunk in Request(scope, receive).stream():
                    body += chunk
                    if len(body) > MAX_BODY_BYTES:
                        problem = 413, _TOO_LARGE
                        break
            except ClientDisconnect:
                return
        if problem:
            await JSONResponse({"error": problem[1]}, problem[0])(scope, receive, send_secured)
            return
        messages = [{"type": "http.request", "body": body, "more_body": False}]

        async def replay() -> Message:
            return messages.pop() if messages else await receive()

        await self._app(scope, replay, send_secured)

    def _problem(self, scope: Scope) -> tuple[int, str] | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if not self._guard.knows_host(host):
            return 421, f"this server is not called {_hostname(host)!r}; start it with --allow-host if it should be"
        if scope["method"] in _SAFE_METHODS:
            return None
        size = headers.get("content-length", "0")
        if not re.fullmatch("[0-9]{1,12}", size) or int(size) > MAX_BODY_BYTES:
            return 413, _TOO_LARGE
        if headers.get("x-acidtest") != "1":
            return 403, "requests that change something need the header X-Acidtest: 1"
        if headers.get("content-type", "").split(";")[0].strip().lower() != "application/json":
            return 415, "requests that change something are JSON; send Content-Type: application/json"
        origin, site = headers.get("origin"), headers.get("sec-fetch-site", "same-origin")
        elsewhere = origin is not None and _split_url(origin).netloc.lower() != host.lower()
        return (403, "another site asked for this") if elsewhere or site not in ("same-origin", "none") else None


@dataclass
class _Address:
    wrong: int = 0
    locked_until: float = 0.0
    last: float = 0.0
    tokens: deque[bytes] = field(default_factory=lambda: deque(maxlen=16))
    """Digests of the last wrong tokens: the same one again, as from an old cookie, is no further guess."""


class WrongTokens:
    """Counts wrong tokens by address and locks addresses; the address that was quiet longest is forgotten first."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._lock = clock, Lock()
        self._addresses: OrderedDict[str, _Address] = OrderedDict()

    def __len__(self) -> int:
        return len(self._addresses)

    def seconds_locked(self, address: str) -> float:
        """For how many more seconds an address is locked; 0 if it is not."""
        with self._lock:
            known = self._addresses.get(address)
            return max(0.0, known.locked_until - self._clock()) if known else 0.0

    def add(self, address: str, token: str) -> None:
        """Count a wrong token, and lock the address if there were too many."""
        digest, now = hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()[:8], self._clock()
        with self._lock:
            known = self._addresses.pop(address, None)
            if known is None or now - known.last > FORGOTTEN_AFTER:
                known = _Address()
            self._addresses[address] = known
            if len(self._addresses) > MAX_ADDRESSES:
                self._addresses.popitem(last=False)
            known.last = now
            if digest in known.tokens:
                return
            known.tokens.append(digest)
            known.wrong += 1
            if known.wrong > FREE_GUESSES:
                known.locked_until = now + min(2.0 ** min(known.wrong - FREE_GUESSES - 1, 10), LONGEST_LOCK)


def client_address(request: HTTPConnection, *, proxied: bool) -> str:
    """The address a request comes from; for IPv6 its /64 network, because one client has many addresses.

    Behind a proxy on this machine it is the last one in X-Forwarded-For. From elsewhere that header is ignored: its
    sender could choose another address for every guess.
    """
    peer = request.client.host if request.client else ""
    forwarded = request.headers.get("x-forwarded-for", "").rpartition(",")[2].strip()
    address = _parse_address(peer)
    if proxied and forwarded and address and address.is_loopback:
        peer, address = forwarded, _parse_address(forwarded)
    if address is None:
        return peer[:100]
    return str(ipaddress.ip_network((address, 64), strict=False)) if address.version == 6 else str(address)


def request_token(request: HTTPConnection, cookie: str) -> str | None:
    """The token of a request, in a header or in the cookie of this name."""
    bearer = request.headers.get("authorization", "")
    if bearer.lower().startswith("bearer "):
        return bearer[7:].strip()
    return request.headers.get("x-acidtest-token") or request.cookies.get(cookie)


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    address = _parse_address(host)
    return host.lower() == "localhost" or (address is not None and address.is_loopback)


def is_encrypted(request: HTTPConnection) -> bool:
    """Whether a browser reaches the server by HTTPS, maybe through a proxy.

    The headers of the request are trusted: a client that forges them only loses its own cookie.
    """
    headers = (request.headers.get(name, "").lower() for name in ("origin", "x-forwarded-proto"))
    return request.url.scheme == "https" or any(re.match("https(?![a-z])", header) for header in headers)


def _hostname(header: str) -> str:
    return (_split_url(f"//{header}").hostname or "").lower()


def _split_url(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError:
        return urlsplit("")


def _parse_address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


def _is_same(token: str | None, expected: str) -> bool:
    return token is not None and hmac.compare_digest(token.encode(), expected.encode())
