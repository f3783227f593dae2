"""The server behind real sockets: half-sent requests, too many connections, and guesses at the token."""

from __future__ import annotations

import asyncio
import http.client
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

pytest.importorskip("uvicorn", reason="the annotation server needs acidtest[annotate]")

from acidtest.annotate import app
from acidtest.annotate.app import LimitedProtocol, ServerLimits
from acidtest.annotate.guards import FREE_GUESSES, MAX_ADDRESSES, Guard, WrongTokens, client_address
from acidtest.annotate.projects import Project

Serve = Callable[..., tuple[str, Project]]

HEADERS = {"X-Acidtest": "1", "Content-Type": "application/json"}
HALF_HEADERS = b"GET /api/project HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "
HALF_BODY = (
    b"POST /api/join HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Acidtest: 1\r\nContent-Type: application/json\r\n"
    b"Content-Length: 50\r\n\r\n{"
)
WHOLE = b"GET /api/project HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
PATIENCE = 300.0
"""Seconds until something that does not happen is a failure; nothing waits so long where it works."""


@contextmanager
def connections(address: str, count: int, sent: bytes) -> Iterator[list[socket.socket]]:
    parts = urlsplit(address)
    opened = [socket.create_connection((parts.hostname, parts.port), timeout=PATIENCE) for _ in range(count)]
    try:
        for one in opened:
            one.sendall(sent)
        yield opened
    finally:
        for one in opened:
            one.close()


def is_closed(one: socket.socket) -> bool:
    """Whether the server closes a connection, without having answered anything."""
    try:
        return one.recv(1) == b""
    except ConnectionResetError:
        return True


def status(one: socket.socket) -> int:
    """The status of a response, which is read to its end."""
    response = http.client.HTTPResponse(one)
    response.begin()
    response.read()
    return response.status


def ask(
    address: str, path: str = "api/project", *, source: str = "127.0.0.1", **headers: str
) -> tuple[int, dict[str, str]]:
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(
        str(parts.hostname), parts.port, timeout=PATIENCE, source_address=(source, 0)
    )
    try:
        connection.request("GET", f"/{path}", headers=headers)
        response = connection.getresponse()
        response.read()
        return response.status, dict(response.getheaders())
    finally:
        connection.close()


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


@pytest.mark.parametrize("sent", [b"", HALF_HEADERS, HALF_BODY], ids=["nothing", "half the headers", "half the body"])
def test_a_request_that_does_not_arrive_in_time_is_cut_off(serve: Serve, sent: bytes) -> None:
    address, _ = serve("breaking-nli", limits=ServerLimits(request_seconds=0.3))
    with connections(address, 3, sent) as opened:
        assert all(map(is_closed, opened))


def test_bytes_that_trickle_in_do_not_put_off_the_end(serve: Serve) -> None:
    address, _ = serve("breaking-nli", limits=ServerLimits(request_seconds=0.5))
    with connections(address, 1, HALF_HEADERS) as (slow,):
        slow.settimeout(0.1)
        cut = False
        while not cut:  # A server that never cuts it off makes the test hang, whatever the load.
            try:
                slow.sendall(b"a")
                cut = slow.recv(1) == b""
            except TimeoutError:
                continue
            except (ConnectionResetError, BrokenPipeError):
                cut = True


def test_the_time_limit_does_not_run_between_two_requests(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    protocols = list[LimitedProtocol]()
    connect = LimitedProtocol.connection_made

    def recorded(self: LimitedProtocol, transport: asyncio.Transport) -> None:
        protocols.append(self)
        connect(self, transport)

    monkeypatch.setattr(LimitedProtocol, "connection_made", recorded)
    address, _ = serve("breaking-nli")
    with connections(address, 1, WHOLE) as (reader,):
        assert status(reader) == 200
        (protocol,) = protocols
        assert protocol._deadline is None
        reader.sendall(WHOLE)
        assert status(reader) == 200
        assert protocol._deadline is None
        reader.sendall(HALF_HEADERS)
        while protocol._deadline is None:
            time.sleep(0.01)


def test_half_sent_requests_make_room_for_whole_ones(serve: Serve) -> None:
    address, _ = serve("breaking-nli", limits=ServerLimits(connections=20, request_seconds=PATIENCE))
    with connections(address, 60, HALF_HEADERS) as opened:
        assert ask(address)[0] == 200
        # Those that came first went first, and not because of the time limit.
        assert all(map(is_closed, opened[:30]))


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit on open files")
def test_300_half_sent_requests_do_not_stop_a_server_that_may_open_256_files(tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("id\tpremise\thypothesis\np1\tA man plays.\tA man sings.\n")
    program = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256));"
        "from acidtest.__main__ import main; sys.exit(main())"
    )
    options = ["--questionnaire", "breaking-nli", "--store", str(tmp_path / "a.db"), "--port", "0", "--json"]
    command = [sys.executable, "-c", program, "annotate", str(pairs), *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        try:
            assert server.stdout is not None
            address = next(
                line.split('"')[3] for line in iter(server.stdout.readline, "") if line.strip().startswith('"page"')
            )
            with connections(address, 300, HALF_HEADERS):
                for _ in range(3):
                    assert ask(address)[0] == 200
        finally:
            server.terminate()


@pytest.fixture
def _time_stands_still(monkeypatch: pytest.MonkeyPatch) -> None:
    """A lock that has begun does not end while the test runs."""
    monkeypatch.setattr(app, "WrongTokens", lambda: WrongTokens(lambda: 0.0))


@pytest.mark.usefixtures("_time_stands_still")
def test_an_address_that_guesses_is_locked_and_others_are_not(serve: Serve) -> None:
    address, project = serve("breaking-nli", guard=Guard(token="hush", admin_token="louder"))
    joined = project.join("anna")
    from acidtest.annotate.app import cookie_names, encode_invitation

    name, token = cookie_names(project)
    statuses = [ask(address, "api/progress", **bearer(f"guess-{number}"))[0] for number in range(60)]
    # The guess after the free ones is the first that locks.
    assert statuses == [401] * (FREE_GUESSES + 1) + [429] * (60 - FREE_GUESSES - 1)
    # A short token might be guessed, so that it is not even looked at from the locked address …
    refused, headers = ask(address, "api/project", **bearer("hush"))
    assert refused == 429
    assert 1 <= int({key.lower(): value for key, value in headers.items()}["retry-after"]) <= 30
    # … but whoever had joined goes on, and other addresses see nothing of it.
    cookies = f"{name}={encode_invitation(joined)}; {token}=hush"
    assert ask(address, "api/progress", Cookie=cookies)[0] == 200
    assert ask(address, "api/progress", Cookie=f"{name}={encode_invitation(joined)}; {token}=guess")[0] == 429
    assert ask(address, "api/project", source="127.0.0.2", **bearer("hush"))[0] == 200


@pytest.mark.usefixtures("_time_stands_still")
def test_a_token_that_cannot_be_guessed_is_good_from_a_locked_address(serve: Serve) -> None:
    guard = Guard.create("127.0.0.1", allowed=("label.example.org",))
    address, _ = serve("breaking-nli", guard=guard)
    for number in range(30):
        ask(address, "api/progress", **bearer(f"guess-{number}"))
    assert ask(address, "api/progress", **bearer("guess"))[0] == 429
    assert ask(address, "api/admin", **bearer(guard.admin_token))[0] == 200


def test_a_lock_ends_and_grows_with_every_further_guess() -> None:
    now = [0.0]
    guesses = WrongTokens(lambda: now[0])
    for number in range(FREE_GUESSES):
        guesses.add("a", f"{number}")
    assert guesses.seconds_locked("a") == 0
    lengths = []
    for number in range(8):
        guesses.add("a", f"further-{number}")
        lengths.append(guesses.seconds_locked("a"))
        now[0] += lengths[-1]
        assert guesses.seconds_locked("a") == 0
    assert lengths == [1, 2, 4, 8, 16, 30, 30, 30]
    assert guesses.seconds_locked("b") == 0
    now[0] += 601
    guesses.add("a", "much later")
    assert guesses.seconds_locked("a") == 0


def test_the_same_wrong_token_again_is_no_further_guess() -> None:
    guesses = WrongTokens()
    for _ in range(100):
        guesses.add("a", "that of yesterday")
    assert guesses.seconds_locked("a") == 0


def test_a_million_addresses_need_no_more_room_than_some_thousands() -> None:
    guesses = WrongTokens()
    for number in range(MAX_ADDRESSES + 500):
        guesses.add(str(number), "wrong")
    assert len(guesses) == MAX_ADDRESSES


@pytest.mark.parametrize(
    ("peer", "forwarded", "proxied", "address"),
    [
        ("127.0.0.1", "6.6.6.6, 203.0.113.7", True, "203.0.113.7"),
        ("127.0.0.1", "203.0.113.7", False, "127.0.0.1"),
        ("198.51.100.2", "203.0.113.7", True, "198.51.100.2"),
        ("127.0.0.1", "", True, "127.0.0.1"),
        ("2001:db8:1:2:3::4", "", False, "2001:db8:1:2::/64"),
    ],
)
def test_a_forwarded_address_is_believed_of_a_proxy_on_this_machine_only(
    peer: str, forwarded: str, proxied: bool, address: str
) -> None:
    from starlette.requests import HTTPConnection

    headers = [(b"x-forwarded-for", forwarded.encode())] if forwarded else []
    request = HTTPConnection({"type": "http", "client": (peer, 1), "headers": headers})
    assert client_address(request, proxied=proxied) == address


def test_a_body_that_is_too_large_is_refused_before_it_is_sent(serve: Serve) -> None:
    address, _ = serve("breaking-nli")
    large = HALF_BODY.replace(b"Content-Length: 50", b"Content-Length: 999999999")
    with connections(address, 1, large) as (one,):
        assert status(one) == 413
