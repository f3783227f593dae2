"""How a server is reached: an event loop in a thread, a client that stays, and turns that keep to a rate."""

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

Sleep = Callable[[float], Awaitable[None]]


@dataclass(frozen=True)
class Manners:
    """How a server is treated: requests at once and a minute (0: any number), tries, seconds for one request."""

    concurrency: int = 8
    rate: float = 0.0
    retries: int = 5
    timeout: float = 60.0


@dataclass(frozen=True)
class Surroundings:
    """What a server is reached with and timed by; tests bring their own. No environment is the process's own."""

    environment: Mapping[str, str] | None = None
    sleep: Sleep = asyncio.sleep
    clock: Callable[[], float] = time.monotonic
    chance: Callable[[], float] = field(default_factory=lambda: random.Random().random)


class Line:
    """An event loop in a thread, and the client that lives on it."""

    def __init__(self, client: httpx.AsyncClient, concurrency: int) -> None:
        self.client = client
        self.places = asyncio.Semaphore(concurrency)
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, name="acidtest-endpoint", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Close the client and end the thread."""
        if self.loop.is_closed():
            return
        asyncio.run_coroutine_threadsafe(self._closed(), self.loop)
        self._thread.join(timeout=2)
        if not self._thread.is_alive():
            self.loop.close()

    async def _closed(self) -> None:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        await self.client.aclose()
        self.loop.stop()


class Pace:
    """Turns that come no faster than they may, whoever takes them."""

    def __init__(self, gap: float, around: Surroundings) -> None:
        self._gap, self._around = gap, around
        self._next = 0.0

    async def turn(self) -> None:
        """Wait until it is one's turn."""
        now = self._around.clock()
        start = max(now, self._next)
        self._next = start + self._gap if self._gap else self._next
        if start > now:
            await self._around.sleep(start - now)

    def hold(self, seconds: float) -> None:
        """No turn for so long."""
        self._next = max(self._next, self._around.clock() + seconds)
