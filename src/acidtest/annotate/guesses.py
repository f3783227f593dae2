"""Wrong tokens, counted by the address they come from, so that nobody tries thousands of them.

After a few different wrong tokens an address is locked for a second, then two, four, up to half a minute with every
further one. Other addresses are not concerned. The table is bounded: the address that was quiet longest is forgotten.
"""

from __future__ import annotations

import hashlib
import ipaddress
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock

from starlette.requests import HTTPConnection

FREE = 10
"""So many different wrong tokens are mistakes of people who copy links."""
LONGEST_LOCK = 30.0
FORGOTTEN_AFTER = 600.0
MOST_ADDRESSES = 10_000
_REMEMBERED = 16


@dataclass
class _Address:
    wrong: int = 0
    locked_until: float = 0.0
    last: float = 0.0
    tokens: OrderedDict[bytes, None] = field(default_factory=OrderedDict)
    """Digests of the last wrong tokens: the same one again, as from an old cookie, is no further guess."""


class Guesses:
    """How many wrong tokens came from which address, and which addresses are locked."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._using = clock, Lock()
        self._addresses: OrderedDict[str, _Address] = OrderedDict()

    def __len__(self) -> int:
        """How many addresses are remembered."""
        return len(self._addresses)

    def seconds_locked(self, address: str) -> float:
        """For how many seconds an address is still locked; 0 where it is not."""
        with self._using:
            known = self._addresses.get(address)
            return max(0.0, known.locked_until - self._clock()) if known else 0.0

    def add(self, address: str, token: str) -> None:
        """Remember a wrong token, and lock the address where there were too many."""
        digest, now = hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()[:8], self._clock()
        with self._using:
            known = self._addresses.pop(address, None)
            if known is None or now - known.last > FORGOTTEN_AFTER:
                known = _Address()
            self._addresses[address] = known
            if len(self._addresses) > MOST_ADDRESSES:
                self._addresses.popitem(last=False)
            known.last = now
            if digest in known.tokens:
                return
            known.tokens[digest] = None
            if len(known.tokens) > _REMEMBERED:
                known.tokens.popitem(last=False)
            known.wrong += 1
            if known.wrong > FREE:
                known.locked_until = now + min(2.0 ** min(known.wrong - FREE - 1, 10), LONGEST_LOCK)


def client_address(request: HTTPConnection, *, proxied: bool) -> str:
    """The address a request comes from; of IPv6 the network, since one client has many addresses.

    Behind a proxy on this machine it is the one that the proxy names last in X-Forwarded-For. From elsewhere that
    header is not believed: whoever sends it could choose another address for every guess.
    """
    peer = request.client.host if request.client else ""
    forwarded = request.headers.get("x-forwarded-for", "").rpartition(",")[2].strip()
    if proxied and forwarded and _is_loopback(peer):
        peer = forwarded
    try:
        address = ipaddress.ip_address(peer)
    except ValueError:
        return peer[:100]
    return str(ipaddress.ip_network((address, 64), strict=False)) if address.version == 6 else str(address)


def _is_loopback(peer: str) -> bool:
    try:
        return ipaddress.ip_address(peer).is_loopback
    except ValueError:
        return False
