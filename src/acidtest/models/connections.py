"""Connections to a server: an event loop in a thread with an HTTP client, and a rate limit."""

from __future__ import annotations

import asyncio
import random
import threading
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import httpx


@dataclass(frozen=True)
class RequestOptions:
    """Requests at once and a minute (0: no limit), retries, and seconds for one request."""

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
    """A thread with an event loop, and the HTTP client that lives on it."""

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


class RateLimiter:
    """Keeps requests at least ``gap`` seconds apart."""

    def __init__(self, gap: float, system: SystemAccess) -> None:
        self._gap, self._system = gap, system
        self._next = 0.0

    async def wait(self) -> None:
        """Wait until the next request may be sent."""
        now = self._system.clock()
        start = max(now, self._next)
        self._next = start + self._gap if self._gap else self._next
        if start > now:
            await self._system.sleep(start - now)

    def pause(self, seconds: float) -> None:
        """Send no request for this long."""
        self._next = max(self._next, self._system.clock() + seconds)
