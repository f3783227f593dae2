"""Who may ask the server what: addresses, tokens, and requests that another site makes a browser send.

On loopback the machine's own users need no token. Anywhere else, and behind a proxy (``--allow-host``), everybody does.
"""

from __future__ import annotations

import hmac
import ipaddress
import json
import re
import secrets
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from acidtest.core.errors import AcidtestError

MOST_BYTES = 256 * 1024
"""The largest body that is read."""

SHORTEST_UNGUESSABLE = 20
"""Tokens that are drawn have 24 characters; a shorter one may be a word that somebody chose."""

TOKEN_HEADER = "x-acidtest-token"
OWN_HEADER = "x-acidtest"

SAFETY: Mapping[str, str] = {
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

_SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
_LOCAL = ("localhost", "127.0.0.1", "::1")
_ANY = ("0.0.0.0", "::", "")


@dataclass(frozen=True)
class Guard:
    """The address the server listens on, the names it goes by, and the tokens that open it."""

    host: str = "127.0.0.1"
    allowed: tuple[str, ...] = ()
    token: str = field(default="", repr=False)
    """What annotators need; none: nothing."""
    admin_token: str = field(default="", repr=False)
    """What whoever watches them needs; none: everybody who gets in may."""

    @classmethod
    def made(cls, host: str, *, allowed: tuple[str, ...] = (), token: str = "", admin_token: str = "") -> Guard:
        """A guard with the tokens it needs: without any, on loopback; elsewhere what is missing is drawn."""
        if not (token + admin_token).isascii() or not (token + admin_token).isprintable():
            raise AcidtestError("a token holds letters, digits and signs of ASCII only, as headers do; choose another")
        if is_loopback(host) and not allowed:
            return cls(host, allowed, token, admin_token or token)
        return cls(host, allowed, token or secrets.token_urlsafe(18), admin_token or secrets.token_urlsafe(18))

    @property
    def is_unguessable(self) -> bool:
        """Whether no token can be found by trying, however fast: all are as long as those that are drawn."""
        return all(len(token) >= SHORTEST_UNGUESSABLE for token in (self.token, self.admin_token) if token)

    def knows_host(self, header: str) -> bool:
        """Whether a request was meant for this server: a name that an attacker points here is refused.

        An address in digits is no such name, so where all addresses are listened on each is good.
        """
        name = _hostname(header)
        if name in (*_LOCAL, self.host.lower(), *(each.lower() for each in self.allowed)):
            return True
        return self.host in _ANY and (_is_address(name) or name == socket.gethostname().lower())

    def admits(self, given: str | None) -> bool:
        """Whether a token opens the pages of annotators; the admin's does too."""
        return not self.token or _same(given, self.token) or (bool(self.admin_token) and _same(given, self.admin_token))

    def admits_admin(self, given: str | None) -> bool:
        """Whether a token opens what whoever watches annotators sees."""
        return not self.admin_token or _same(given, self.admin_token)


class GuardedApp:
    """Lets through what is meant for this server, small enough, and not sent by another site."""

    def __init__(self, app: ASGIApp, guard: Guard) -> None:
        self._app, self._guard = app, guard

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with an error, or pass the request on; headers that make browsers careful go with every response."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return

        async def careful(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = {name.encode() for name in SAFETY}
                kept = [pair for pair in message["headers"] if pair[0].lower() not in own]
                message["headers"] = [*kept, *((name.encode(), value.encode()) for name, value in SAFETY.items())]
            await send(message)

        problem = self._problem(scope)
        if problem:
            await _refuse(careful, *problem)
            return
        body = b""
        if scope["method"] not in _SAFE_METHODS:
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    return
                body += message.get("body", b"")
                if len(body) > MOST_BYTES:
                    await _refuse(careful, 413, _TOO_LARGE)
                    return
                if not message.get("more_body"):
                    break
        given = [{"type": "http.request", "body": body, "more_body": False}]

        async def replayed() -> Message:
            return given.pop() if given else await receive()

        await self._app(scope, replayed, careful)

    def _problem(self, scope: Scope) -> tuple[int, str] | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if not self._guard.knows_host(host):
            return 421, f"this server does not go by {_hostname(host)!r}; start it with --allow-host if it should"
        if scope["method"] in _SAFE_METHODS:
            return None
        size = headers.get("content-length", "0")
        if not re.fullmatch("[0-9]{1,12}", size) or int(size) > MOST_BYTES:
            return 413, _TOO_LARGE
        return _cross_site(headers, host)


def given_token(connection: HTTPConnection, cookie: str) -> str | None:
    """The token that came with a request, in a header or the cookie of this name."""
    bearer = connection.headers.get("authorization", "")
    if bearer.lower().startswith("bearer "):
        return bearer[7:].strip()
    return connection.headers.get(TOKEN_HEADER) or connection.cookies.get(cookie)


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address."""
    if host.lower() == "localhost":
        return True
    return _is_address(host) and ipaddress.ip_address(host).is_loopback


_TOO_LARGE = f"the request is larger than {MOST_BYTES // 1024} kB; write less"


def _cross_site(headers: Headers, host: str) -> tuple[int, str] | None:
    """What is wrong with a request that changes something, where another site may have made a browser send it."""
    if headers.get(OWN_HEADER) != "1":
        return 403, "requests that change something need the header X-Acidtest: 1"
    if headers.get("content-type", "").split(";")[0].strip().lower() != "application/json":
        return 415, "requests that change something are JSON; send Content-Type: application/json"
    origin = headers.get("origin")
    if origin is not None and _netloc(origin) != host.lower():
        return 403, "another site asked for this"
    if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return 403, "another site asked for this"
    return None


async def _refuse(send: Send, status: int, problem: str) -> None:
    body = json.dumps({"error": problem}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def is_encrypted(connection: HTTPConnection) -> bool:
    """Whether a browser reaches the server by HTTPS, maybe through a proxy.

    It is believed what a request says of itself: who lies is refused a cookie by the own browser, and nothing else.
    """
    said = (connection.headers.get(name, "").lower() for name in ("origin", "x-forwarded-proto"))
    return connection.url.scheme == "https" or any(re.match("https(?![a-z])", each) for each in said)


def _netloc(origin: str) -> str:
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ""


def _hostname(header: str) -> str:
    try:
        return (urlsplit(f"//{header}").hostname or "").lower()
    except ValueError:
        return ""


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _same(given: str | None, expected: str) -> bool:
    return given is not None and hmac.compare_digest(given.encode(), expected.encode())
