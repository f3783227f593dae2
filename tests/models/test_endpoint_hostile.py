"""``endpoint:`` against servers that do not behave: nothing hangs, nothing leaks, every end is told."""

from __future__ import annotations

import itertools
import json
import logging
import re
import socket
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from acidtest.core.errors import AcidtestError
from acidtest.models import servers
from acidtest.models.endpoint import EndpointModel, EndpointOptions
from acidtest.models.prompts import load_prompt
from acidtest.models.servers import RequestOptions, SystemAccess

KEY = "sk-very-secret-0123456789"
NEUTRAL = [[0.0, 1.0, 0.0]]


class Time:
    """A clock that only moves when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept = list[float]()

    async def sleep(self, seconds: float) -> None:
        self.slept.append(round(seconds, 3))
        self.now += seconds


@pytest.fixture
def clock() -> Time:
    return Time()


@pytest.fixture
def make_model(clock: Time, patience: float) -> Iterator[Callable[..., EndpointModel]]:
    """Makes models that wait for nothing and have a key, and closes them."""
    opened = list[EndpointModel]()

    def make(address: str, *, retries: int = 2, timeout: float = patience, **more: Any) -> EndpointModel:
        system = SystemAccess({"MY_KEY": KEY}, sleep=clock.sleep, clock=lambda: clock.now, chance=lambda: 1.0)
        asking = EndpointOptions("tiny", address, (load_prompt("labels"),))
        requests = RequestOptions(concurrency=2, retries=retries, timeout=timeout)
        opened.append(EndpointModel(asking, "MY_KEY", requests=requests, system=system, **more))
        return opened[-1]

    yield make
    for opened_model in opened:
        opened_model.close()


@pytest.fixture(autouse=True)
def no_leak(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """The key is in nothing that is logged, whatever a test does."""
    caplog.set_level(logging.DEBUG, logger="acidtest")
    yield
    assert KEY not in "".join(record.getMessage() for record in caplog.records if record.name == "acidtest")


def problem(model: EndpointModel, pairs: int = 1) -> str:
    """What asking ends with; the key is not in it, nor in what it came from."""
    with pytest.raises(AcidtestError) as caught:
        model.predict(["p"] * pairs, ["h"] * pairs)
    error: BaseException | None = caught.value
    while error is not None:
        assert KEY not in repr(error)
        error = error.__cause__
    return str(caught.value)


def first_bad(sent: Any, good: bytes, bad: Any, times: int) -> Callable[[Any], Any]:
    return lambda request: bad if request.number < times else sent(good)


def bad_answers(sent: Any, body: Any) -> dict[str, Any]:
    two = {"choices": [{"message": {"content": "neutral"}}] * 2}
    return {
        "not JSON": sent(b'{"choices": ['),
        "not UTF-8": sent(b'{"choices": [{"message": {"content": "\xff\xfe"}}]}'),
        "2 choices": sent(json.dumps(two).encode()),
        "0 choices": sent(b'{"choices": []}'),
        "the connection broke": sent(body("neutral")[:20], claims=500),
        "compressed": sent(b"\x1f\x8b", headers={"Content-Encoding": "gzip"}),
        "answered 500": sent(b"<html>Internal error</html>", status=500),
        "answered 502": sent(b"", status=502),
    }


BAD = [
    "not JSON",
    "not UTF-8",
    "2 choices",
    "0 choices",
    "the connection broke",
    "compressed",
    "answered 500",
    "answered 502",
]


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_answer_is_asked_for_again(
    kind: str, loopback: Any, sent: Any, body: Any, make_model: Any, clock: Time
) -> None:
    bad = bad_answers(sent, body)[kind]
    model = make_model(loopback(first_bad(sent, body("neutral"), bad, 2)).url)
    assert model.predict(["p"], ["h"]).tolist() == NEUTRAL
    assert model.usage()["retries"] == 2
    assert clock.slept == [0.5, 1.0]


@pytest.mark.parametrize("kind", BAD)
def test_bad_answers_only_are_an_error_in_the_end(
    kind: str, loopback: Any, sent: Any, body: Any, make_model: Any
) -> None:
    server = loopback(lambda request: bad_answers(sent, body)[kind])
    message = problem(make_model(server.url))
    assert message.startswith(f"{server.host}: ")
    assert kind in message
    assert message.endswith(", 3 times in a row; 0 pairs were answered in batches before")
    assert len(server.requests) == 3


def test_how_many_pairs_were_answered_is_told(loopback: Any, sent: Any, body: Any, make_model: Any) -> None:
    server = loopback(lambda request: sent(body("neutral")) if request.number < 4 else sent(b"", status=500))
    model = make_model(server.url)
    model.predict(["p"] * 4, ["h"] * 4)
    assert problem(model, pairs=3).endswith("; 4 pairs were answered in batches before")


def test_a_server_that_says_when_is_asked_then(
    loopback: Any, sent: Any, body: Any, make_model: Any, clock: Time
) -> None:
    busy = sent(b'{"error": "slow down"}', status=429, headers={"Retry-After": "7"})
    model = make_model(loopback(first_bad(sent, body("neutral"), busy, 2)).url)
    assert model.predict(["p"], ["h"]).tolist() == NEUTRAL
    assert clock.slept == [7.0, 7.0]


def test_a_date_to_come_back_at_is_understood(
    loopback: Any, sent: Any, body: Any, make_model: Any, clock: Time
) -> None:
    from email.utils import formatdate

    headers = {"Retry-After": formatdate(time.time() + 3600, usegmt=True)}
    server = loopback(lambda request: sent(b"", status=503, headers=headers))
    assert re.search(r"asks to wait 3,(59\d|600) s", problem(make_model(server.url)))
    assert clock.slept == []


def test_a_server_that_asks_for_hours_is_given_up(loopback: Any, sent: Any, make_model: Any, clock: Time) -> None:
    server = loopback(lambda request: sent(b"", status=429, headers={"Retry-After": "86400"}))
    assert "asks to wait 86,400 s; ask again later" in problem(make_model(server.url))
    assert clock.slept == []


@pytest.mark.parametrize("text", ["soon", "-5", "1e9", "9" * 400])
def test_a_time_that_is_none_is_not_waited_for(
    text: str, loopback: Any, sent: Any, body: Any, make_model: Any, clock: Time
) -> None:
    busy = sent(b"", status=429, headers={"Retry-After": text})
    assert make_model(loopback(first_bad(sent, body("neutral"), busy, 1)).url).predict(["p"], ["h"]).tolist() == NEUTRAL
    assert clock.slept == [0.5]


def test_an_account_without_money_is_not_asked_again(loopback: Any, sent: Any, make_model: Any) -> None:
    said = {"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}
    server = loopback(lambda request: sent(json.dumps(said).encode(), status=429))
    assert "the account has no quota left" in problem(make_model(server.url))
    assert len(server.requests) == 1


def test_a_server_that_never_answers_is_given_up(loopback: Any, sent: Any, make_model: Any, patience: float) -> None:
    def script(request: Any) -> Any:
        server.released.wait(timeout=patience)
        return sent(b"")

    server = loopback(script)
    assert "no whole answer within 0.1 s, 2 times in a row" in problem(make_model(server.url, retries=1, timeout=0.1))


def test_a_slow_answer_is_waited_for_within_the_limit(loopback: Any, sent: Any, body: Any, make_model: Any) -> None:
    def script(request: Any) -> Any:
        server.released.wait(timeout=0.3)
        return sent(body("neutral"))

    server = loopback(script)
    assert make_model(server.url, retries=0).predict(["p"], ["h"]).tolist() == NEUTRAL


def test_an_endless_dribble_is_cut_off_by_time(loopback: Any, sent: Any, make_model: Any) -> None:
    def dribble() -> Iterator[bytes]:
        while not server.released.wait(timeout=0.02):
            yield b" "

    server = loopback(lambda request: sent(pieces=dribble()))
    assert "no whole answer within 0.3 s" in problem(make_model(server.url, retries=0, timeout=0.3))


def test_an_endless_flood_is_cut_off_by_size(
    loopback: Any, sent: Any, make_model: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(servers, "MOST_BYTES", 100_000)
    server = loopback(lambda request: sent(pieces=itertools.repeat(b"data: {}\n\n" * 1000)))
    assert "an answer of more than 100,000 bytes" in problem(make_model(server.url, retries=0))


def test_a_huge_body_is_cut_off(loopback: Any, sent: Any, make_model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers, "MOST_BYTES", 100_000)
    server = loopback(lambda request: sent(b"[" * 200_000))
    assert "an answer of more than 100,000 bytes" in problem(make_model(server.url, retries=0))


def test_an_empty_reply_is_no_answer(loopback: Any, sent: Any, body: Any, make_model: Any) -> None:
    model = make_model(loopback(lambda request: sent(body(""))).url)
    assert str(model.predict(["p"], ["h"]).tolist()) == "[[nan, nan, nan]]"


def test_nobody_at_the_address_is_told_at_once(make_model: Any, clock: Time) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    message = problem(make_model(f"http://127.0.0.1:{port}/v1"))
    assert message.startswith(f"127.0.0.1:{port}: the connection was refused; check that the server runs")
    assert clock.slept == []


def test_a_server_that_goes_away_is_waited_for(
    loopback: Any, sent: Any, body: Any, make_model: Any, clock: Time
) -> None:
    server = loopback(lambda request: sent(body("neutral"), headers={"Connection": "close"}))
    model = make_model(server.url)
    model.predict(["p"], ["h"])
    server.close()
    assert "the connection was refused, 3 times in a row; 1 pairs were answered in batches before" in problem(model)
    assert clock.slept == [0.5, 1.0]


@pytest.mark.parametrize("status", [401, 403])
def test_a_key_that_is_not_taken_is_told_by_the_name_of_its_variable(
    status: int, loopback: Any, sent: Any, make_model: Any
) -> None:
    said = json.dumps({"error": {"message": f"Incorrect API key provided: {KEY}"}}).encode()
    server = loopback(lambda request: sent(said, status=status))
    message = problem(make_model(server.url))
    assert f"{server.host} answered {status}: it does not take the key in MY_KEY" in message
    assert len(server.requests) == 1


def test_a_missing_key_is_told_by_the_name_of_its_variable(loopback: Any, sent: Any) -> None:
    server = loopback(lambda request: sent(b"", status=401))
    asking = EndpointOptions("tiny", server.url, (load_prompt("labels"),))
    model = EndpointModel(asking, "MY_KEY", system=SystemAccess(environment={}))
    assert "it wants a key; set MY_KEY, or name another environment variable with --key-env" in problem(model)
    model.close()


@pytest.mark.parametrize("key", [f"{KEY}\nX-More: 1", f"{KEY} {KEY}", f"{KEY}é"])
def test_a_key_that_cannot_be_sent_is_not_shown(key: str, loopback: Any, sent: Any) -> None:
    asking = EndpointOptions("tiny", loopback(lambda request: sent(b"")).url, (load_prompt("labels"),))
    model = EndpointModel(asking, "MY_KEY", system=SystemAccess(environment={"MY_KEY": key}))
    assert "the key in MY_KEY has spaces or letters that no key has" in problem(model)


def test_the_key_is_not_in_what_a_server_says(loopback: Any, sent: Any, make_model: Any) -> None:
    said = json.dumps({"error": {"message": "x " * 140 + KEY, "type": KEY}}).encode()
    for status in (400, 404, 418, 500):
        assert "[key]" in problem(
            make_model(loopback(lambda request, code=status: sent(said, status=code)).url, retries=0)
        )


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_redirects_are_not_followed(status: int, loopback: Any, sent: Any, body: Any, make_model: Any) -> None:
    other = loopback(lambda request: sent(body("neutral")))
    headers = {"Location": f"{other.url}/chat/completions?k={KEY}"}
    server = loopback(lambda request: sent(b"", status=status, headers=headers))
    message = problem(make_model(server.url))
    assert "redirects to http://127.0.0.1/v1/chat/completions, which is not followed" in message
    assert other.requests == []


def listing(sent: Any, *names: str) -> Callable[[Any], Any]:
    def script(request: Any) -> Any:
        if request.method == "GET":
            return sent(json.dumps({"data": [{"id": name} for name in names]}).encode())
        return sent(b'{"error": {"message": "The model does not exist", "code": "model_not_found"}}', status=404)

    return script


def test_a_model_that_is_not_there_is_told_the_nearest(loopback: Any, sent: Any, make_model: Any) -> None:
    server = loopback(listing(sent, "tiny-7b", "large"))
    message = problem(make_model(server.url))
    assert message.startswith(f"no model at {server.host} called 'tiny'; did you mean 'tiny-7b'?")
    assert server.requests[1].path == "/v1/models"


def test_a_way_of_asking_that_is_not_there_is_told(loopback: Any, sent: Any, make_model: Any) -> None:
    message = problem(make_model(loopback(listing(sent, "tiny")).url))
    assert "it has the model but not /v1/chat/completions: try --api completions" in message


def test_an_address_without_a_server_of_models_is_told(loopback: Any, sent: Any, make_model: Any) -> None:
    message = problem(make_model(loopback(lambda request: sent(b"<html>", status=404)).url))
    assert "check the model's name and the address (most end in /v1; /v1/chat/completions was asked)" in message


def test_other_mistakes_are_told_in_the_words_of_the_server(loopback: Any, sent: Any, make_model: Any) -> None:
    said = b'{"error": {"message": "temperature is not supported\\u001b[31m", "type": "invalid_request_error"}}'
    server = loopback(lambda request: sent(said, status=400))
    message = problem(make_model(server.url))
    assert f"{server.host} answered 400: temperature is not supported [31m (invalid_request_error)" in message
    assert len(server.requests) == 1


def test_a_failure_stops_the_other_requests(loopback: Any, sent: Any, body: Any, make_model: Any) -> None:
    server = loopback(lambda request: sent(b"", status=401) if request.number == 3 else sent(body("neutral")))
    problem(make_model(server.url), pairs=200)
    assert len(server.requests) < 20


def test_a_key_over_plain_http_to_another_machine_is_warned_of(
    loopback: Any,
    sent: Any,
    body: Any,
    make_model: Any,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server = loopback(lambda _: sent(body("neutral")))
    monkeypatch.setattr("acidtest.models.servers.LOOPBACK", re.compile("nowhere"))
    make_model(server.url).predict(["p"], ["h"])
    assert "the key in MY_KEY goes to 127.0.0.1 without encryption; use https" in caplog.text


def test_cookies_are_neither_kept_nor_stumbled_over(loopback: Any, sent: Any, body: Any, make_model: Any) -> None:
    cookie = {"Set-Cookie": "\xff\xfe=1; Path=/"}
    server = loopback(lambda request: sent(body("neutral"), headers=cookie))
    assert make_model(server.url).predict(["p", "q"], ["h", "h"]).tolist() == NEUTRAL * 2
    assert not any("cookie" in request.headers for request in server.requests)


@pytest.mark.parametrize("host", ["xn--", "ex..ample", "a b", "\u2100"])
def test_a_host_that_cannot_be_is_told(make_model: Any, host: str) -> None:
    with pytest.raises(AcidtestError):
        make_model(f"http://{host}/v1").predict(["p"], ["h"])


@pytest.mark.parametrize(
    "headers",
    [
        {"Retry-After": "Mon, 1 Jan 2020 00:00:00 +999999999999"},
        {"Retry-After": "Fri, 31 Dec 9999 23:59:59 -2359", "Date": "Mon, 1 Jan 0001 00:00:00 +2359"},
        {"Retry-After": "\xff"},
        {"Location": "http://[::1"},
        {"Content-Type": "text/html; charset=\xff"},
    ],
)
@pytest.mark.parametrize("status", [200, 302, 404, 429])
def test_odd_headers_are_told_as_any_problem(
    loopback: Any, sent: Any, make_model: Any, headers: dict[str, str], status: int
) -> None:
    assert problem(make_model(loopback(lambda request: sent(b"{}", status=status, headers=headers)).url))


@pytest.mark.parametrize("key", ["sk-\u00fc", "sk-a\nb", "sk a", "\x00"])
def test_a_key_that_no_header_can_hold_is_told_and_not_shown(key: str) -> None:
    system = SystemAccess({"MY_KEY": key})
    asking = EndpointOptions("tiny", "http://127.0.0.1:9/v1", (load_prompt("labels"),))
    with pytest.raises(AcidtestError, match="the key in MY_KEY has spaces or letters that no key has") as caught:
        EndpointModel(asking, "MY_KEY", system=system).predict(["p"], ["h"])
    assert key not in str(caught.value)


def test_raw_scores_instead_of_log_probabilities_end_the_run(
    loopback: Any, sent: Any, body: Any, make_model: Any
) -> None:
    scores = {"neutral": 21.5, "ent": 12.0, "contr": 3.25}
    message = problem(make_model(loopback(lambda request: sent(body("neutral", scores))).url))
    assert "a log-probability of 21.5, which is above 0, 3 times in a row; --answers text does without them" in message
