"""A server on the loopback interface that answers as a test tells it to."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest


@dataclass(frozen=True)
class Sent:
    """What the server sends: a body, or pieces of one without an end; ``claims`` is the length it says it has."""

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    pieces: Iterator[bytes] | None = None
    claims: int | None = None


@dataclass(frozen=True)
class Asked:
    """A request as it came: how many came before, its path, its headers, its JSON."""

    number: int
    method: str
    path: str
    headers: dict[str, str]
    json: Any


Script = Callable[[Asked], Sent]


class Quiet(ThreadingHTTPServer):
    """Clients that go away in the middle are what the tests are about."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def handle_error(self, request: object, client_address: object) -> None:
        pass


class Loopback:
    """A server for one test; ``released`` is set when it closes, for answers that wait."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.requests: list[Asked] = []
        self.connections: set[tuple[str, int]] = set()
        self.released = threading.Event()
        self.lock = threading.Lock()
        self.busy = self.busiest = 0
        self._server = Quiet(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        self.released.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(timeout=5)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def log_message(self, *_: object) -> None:
                pass

            def do_GET(self) -> None:
                self._reply(None)

            def do_POST(self) -> None:
                self._reply(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

            def _reply(self, value: Any) -> None:
                with outer.lock:
                    headers = {name.lower(): text for name, text in self.headers.items()}
                    asked = Asked(len(outer.requests), self.command, self.path, headers, value)
                    outer.requests.append(asked)
                    outer.connections.add(self.client_address)
                    outer.busy += 1
                    outer.busiest = max(outer.busiest, outer.busy)
                try:
                    self._send(outer.script(asked))
                except OSError:
                    self.close_connection = True
                finally:
                    with outer.lock:
                        outer.busy -= 1

            def _send(self, sent: Sent) -> None:
                self.send_response(sent.status)
                for name, text in sent.headers.items():
                    self.send_header(name, text)
                if sent.pieces is None:
                    claims = len(sent.body) if sent.claims is None else sent.claims
                    self.send_header("Content-Length", str(claims))
                    self.close_connection = claims != len(sent.body)
                else:
                    self.send_header("Connection", "close")
                    self.close_connection = True
                self.end_headers()
                self.wfile.write(sent.body)
                for piece in sent.pieces or ():
                    self.wfile.write(piece)

        return Handler


@pytest.fixture
def loopback() -> Iterator[Callable[[Script], Loopback]]:
    """Starts servers that answer by a script, and closes them."""
    opened = list[Loopback]()

    def start(script: Script) -> Loopback:
        opened.append(Loopback(script))
        return opened[-1]

    yield start
    for server in opened:
        server.close()


@pytest.fixture
def sent() -> type[Sent]:
    """What a script gives back."""
    return Sent


def chat_body(text: str | None, top: dict[str, float] | None = None, *, usage: bool = True, **more: Any) -> bytes:
    """The body of a chat's answer; ``top`` are log-probabilities of tokens that might have stood there."""
    choice: dict[str, Any] = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    if top is not None:
        listed = [{"token": token, "logprob": value} for token, value in top.items()]
        first = max(top, key=lambda token: top[token]) if top else text
        choice["logprobs"] = {"content": [{"token": first, "logprob": 0.0, "top_logprobs": listed}]}
    value: dict[str, Any] = {"object": "chat.completion", "choices": [choice | more]}
    if usage:
        value["usage"] = {"prompt_tokens": 100, "completion_tokens": 2}
    return json.dumps(value).encode()


@pytest.fixture
def body() -> Callable[..., bytes]:
    """Makes the body of a chat's answer."""
    return chat_body
