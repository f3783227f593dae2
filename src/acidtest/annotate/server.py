"""The HTTP server of the annotation app: a time limit for every request, and a limit on open connections.

uvicorn limits how long a connection may be idle between two requests, but not how long a request may take to arrive:
half-sent ones would stay open until no file descriptor is left. Here a request must arrive whole within
``Limits.request_seconds``. Where there are too many connections, the one that has waited longest makes room.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

MOST_CONNECTIONS = 512


def available_connections() -> int:
    """How many connections the server keeps open: half of the files that the process may open, at most 512."""
    try:
        import resource
    except ImportError:  # Windows has no such limit for sockets.
        return MOST_CONNECTIONS
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return MOST_CONNECTIONS if files == resource.RLIM_INFINITY else max(8, min(MOST_CONNECTIONS, files // 2))


@dataclass(frozen=True)
class Limits:
    """How long a request may take to arrive, how long a connection may be idle, and how many connections there are."""

    request_seconds: float = 20.0
    """From the first byte, or from connecting, to the last byte of the body."""
    idle_seconds: int = 75
    """Between two requests of somebody who reads."""
    connections: int = 0
    """0: as many as ``available_connections``."""


def annotation_server(app: ASGIApp, *, limits: Limits | None = None, log_level: str = "warning") -> uvicorn.Server:
    """A server for the web app of a project; ``run(sockets=[…])`` serves until interrupted."""
    chosen = limits or Limits()
    most = chosen.connections or available_connections()

    class Protocol(LimitedProtocol):
        request_seconds = chosen.request_seconds
        most_connections = most

    config = uvicorn.Config(
        app,
        http=Protocol,
        ws="none",
        log_level=log_level,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=chosen.idle_seconds,
        # So many are taken at once before the first of them can be closed.
        backlog=max(1, most // 2),
    )
    return uvicorn.Server(config)


class LimitedProtocol(H11Protocol):
    """One connection: closed when a request does not arrive in time, or when it waits longest and others need room."""

    request_seconds: float
    most_connections: int
    _deadline: asyncio.TimerHandle | None = None
    _waits_since: float = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take the connection; where there are too many, close one that waits for its client, or this one."""
        super().connection_made(transport)
        self._waits_since = self.loop.time()
        self._expect_request()
        if len(self.connections) > self.most_connections:
            waiting = [one for one in self.connections if isinstance(one, LimitedProtocol) and one.is_waiting]
            min(waiting, key=lambda one: one._waits_since).transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the time limit with the connection."""
        self._stop_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read on; the time limit runs from the first byte of a request to its last."""
        super().data_received(data)
        if self.is_waiting:
            self._expect_request()
        else:
            self._stop_timer()

    def on_response_complete(self) -> None:
        """Wait for the next request, for which uvicorn has a limit of its own until the first byte comes."""
        self._waits_since = self.loop.time()
        super().on_response_complete()

    @property
    def is_waiting(self) -> bool:
        """Whether the next word is the client's: no request has arrived whole that is not answered."""
        return self.conn.their_state in (h11.IDLE, h11.SEND_BODY) and not self.transport.is_closing()

    def _expect_request(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(self.request_seconds, self._give_up)

    def _stop_timer(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        self._deadline = None
        if self.is_waiting:
            self.transport.abort()
