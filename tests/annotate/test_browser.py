"""The annotation server and its page in a real Chromium: people who label by keyboard, reload, and lose the server."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from acidtest import api

pytest.importorskip("playwright.sync_api", reason="the tests in a browser need playwright")
pytest.importorskip("fastapi", reason="the annotation server needs acidtest[annotate]")
pytestmark = pytest.mark.browser

KEYS = {"entailment": "1", "neutral": "2", "contradiction": "3"}

# What two people say of 30 items: they agree on ten entailments, ten contradictions and four neutrals; of six more ben
# says that they are neutral.
ANNA = [*["entailment"] * 13, *["contradiction"] * 13, *["neutral"] * 4]
BEN = [*["entailment"] * 10, *["neutral"] * 3, *["contradiction"] * 10, *["neutral"] * 3, *["neutral"] * 4]
# By hand: 24 of 30 agree. Of the 60 labels 23 are entailment, 23 contradiction, 14 neutral, so that two drawn from all
# agree in (529 + 529 + 196) / 3600 = 1254 / 3600: kappa = (2880 - 1254) / (3600 - 1254).
FLEISS = 1626 / 2346


class Process:
    """``acidtest annotate`` on a store that is set up, to be killed and started again at the same port."""

    def __init__(self, store: str, errors: Path, patience: float) -> None:
        # A socket that is bound and does not listen keeps the port from other tests, and yet lets the server have it.
        self._reserved = socket.socket()
        self._reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._reserved.bind(("127.0.0.1", 0))
        self._port = self._reserved.getsockname()[1]
        self._store, self._errors, self._patience = store, errors, patience
        self.address = f"http://127.0.0.1:{self._port}/"
        self.start()

    def start(self) -> None:
        command = [sys.executable, "-m", "acidtest", "annotate", "--store", self._store, "--port", str(self._port)]
        with self._errors.open("ab") as errors:
            self._process = subprocess.Popen(command, stdout=errors, stderr=errors)
        deadline = time.monotonic() + self._patience
        while time.monotonic() < deadline:
            try:
                urllib.request.urlopen(f"{self.address}api/project", timeout=self._patience).close()
                return
            except (urllib.error.URLError, OSError):
                assert self._process.poll() is None, self._errors.read_text(encoding="utf-8")
                time.sleep(0.05)
        raise TimeoutError(f"no server: {self._errors.read_text(encoding='utf-8')}")

    def kill(self) -> None:
        self._process.kill()
        self._process.wait(self._patience)

    def close(self) -> None:
        self.kill()
        self._reserved.close()


@pytest.fixture
def processes(tmp_path: Path, patience: float) -> Iterator[Callable[[str], Process]]:
    started = list[Process]()

    def start(store: str) -> Process:
        started.append(Process(store, tmp_path / f"server-{len(started)}.log", patience))
        return started[-1]

    yield start
    for process in started:
        process.close()


def test_two_people_label_thirty_items_by_keyboard_and_nothing_is_lost(
    steps: Any, visitors: Any, processes: Callable[[str], Process], store_url: str, tmp_path: Path
) -> None:
    project = api.annotation_project(
        steps.pairs(30), store=store_url, questionnaire="swaps", options=api.PlanOptions(per_item=2)
    )
    server = processes(store_url)
    anna, ben = visitors.window(), visitors.window()
    steps.join_as(anna, server.address, "anna")
    steps.join_as(ben, server.address, "ben")

    def label(page: Any, labels: list[str], count: int) -> None:
        steps.wait_for_question(page, "coherent")
        steps.press_keys(page, "y", "Enter")
        steps.wait_for_question(page, "inference")
        steps.press_keys(page, KEYS[labels[steps.number_shown(page)]], "Enter")
        steps.wait_for_count(page, f"{count} of 30 done")

    for count in range(1, 16):
        label(anna, ANNA, count)
        label(ben, BEN, count)

    # Anna reloads with a form half filled: the second question is open, its answer chosen and not sent.
    steps.wait_for_question(anna, "coherent")
    steps.press_keys(anna, "y", "Enter")
    steps.wait_for_question(anna, "inference")
    before = steps.number_shown(anna)
    steps.press_keys(anna, KEYS[ANNA[before]])
    anna.reload()
    steps.wait_for_question(anna, "inference")
    assert steps.number_shown(anna) == before
    assert anna.locator("#options input:checked").get_attribute("value") == ANNA[before]
    assert anna.locator("#trail").inner_text().split()[-1] == "Yes"
    steps.press_keys(anna, "Enter")
    steps.wait_for_count(anna, "16 of 30 done")

    # Ben loses the server between question and answer.
    server.kill()
    lost = steps.number_shown(ben)
    steps.press_keys(ben, "y", "Enter", KEYS[BEN[lost]], "Enter")
    steps.wait_for_unsent(ben)
    ben.locator("#banner", has_text="Your answer is kept in this browser and will be sent").wait_for()
    server.start()
    steps.wait_for_count(ben, "16 of 30 done")
    assert steps.count_unsent(ben) == 0
    assert ben.locator("#banner").inner_text() == ""
    visitors.forgive("ERR_CONNECTION_REFUSED")

    for count in range(17, 31):
        label(anna, ANNA, count)
        label(ben, BEN, count)
    for page in (anna, ben):
        page.locator("#finished", has_text="All done, thank you").wait_for()

    written = tmp_path / "answers.jsonl"
    api.export_annotations(project, written)
    kept = pl.read_ndjson(written).sort("annotator", "item")
    assert kept.height == 60
    assert kept["inference"].to_list() == [*ANNA, *BEN]
    for place in (store_url, written):
        agreement = api.agreement(place, questionnaire=None if place == store_url else "swaps")
        assert agreement.kappa.value == pytest.approx(FLEISS)
    with project.state() as state:
        assert len(state.answers_by_key) == 60


def test_an_answer_whose_receipt_got_lost_is_sent_again_and_counted_once(steps: Any, visitors: Any, serve: Any) -> None:
    address, project = serve("hans-human")
    page = visitors.window()
    steps.join_as(page, address, "anna")
    sent = list[str]()

    def swallow(route: Any) -> None:
        sent.append(route.request.post_data_json["key"])
        reply = route.fetch()
        route.abort() if len(sent) == 1 else route.fulfill(response=reply)

    page.route("**/api/answers", swallow)
    steps.press_keys(page, "1", "Enter")
    steps.wait_for_count(page, "1 of 3 done")
    visitors.forgive("net::ERR_FAILED")
    assert len(sent) == 2
    assert sent[0] == sent[1]
    assert len(steps.stored_answers(project)) == 1
    with project.state() as state:
        assert len(state.answers_by_key) == 1


def test_answers_not_sent_survive_closing_the_page(steps: Any, visitors: Any, serve: Any) -> None:
    address, project = serve("hans-human")
    page = visitors.window()
    steps.join_as(page, address, "anna")
    page.context.route("**/api/**", lambda route: route.abort())
    steps.press_keys(page, "2", "Enter")
    steps.wait_for_unsent(page)
    context = page.context
    page.close()
    assert steps.stored_answers(project) == []

    again = visitors.page(context)
    context.unroute_all()
    again.goto(address)
    steps.wait_for_count(again, "1 of 3 done")
    visitors.forgive("net::ERR_FAILED")
    assert [entry["standing"] for entry in steps.stored_answers(project)] == [{"follows": "non-entailment"}]


def test_a_server_that_cannot_keep_an_answer_gets_it_again(steps: Any, visitors: Any, serve: Any) -> None:
    address, project = serve("hans-human")
    page = visitors.window()
    steps.join_as(page, address, "anna")
    page.route("**/api/answers", lambda route: route.fulfill(status=503, json={"error": "not now"}))
    steps.press_keys(page, "1", "Enter")
    page.locator("#banner", has_text="will be sent").wait_for()
    assert page.locator("#options input").first.is_disabled()
    page.unroute("**/api/answers")
    # The page may have sent it by itself in between; then there is no button any more.
    page.evaluate("document.querySelector('#banner button')?.click()")
    steps.wait_for_count(page, "1 of 3 done")
    visitors.forgive("503")
    assert len(steps.stored_answers(project)) == 1


def test_what_the_server_finds_wrong_is_told_at_its_question(steps: Any, visitors: Any, serve: Any) -> None:
    address, project = serve("swaps")
    page = visitors.window()
    steps.join_as(page, address, "anna")
    refusal = {"error": "this cannot be", "question": "coherent"}
    page.route("**/api/answers", lambda route: route.fulfill(status=422, json=refusal), times=1)
    steps.press_keys(page, "y", "Enter", "2", "Enter")
    steps.wait_for_question(page, "coherent")
    assert page.locator("#question-problem").inner_text() == "this cannot be"
    steps.press_keys(page, "n", "Enter")
    steps.wait_for_count(page, "1 of 3 done")
    visitors.forgive("422")
    assert [entry["standing"] for entry in steps.stored_answers(project)] == [{"coherent": "no"}]


def test_steps_are_taken_back_by_key_within_an_item_and_beyond(steps: Any, visitors: Any, serve: Any) -> None:
    address, project = serve("swaps")
    page = visitors.window()
    steps.join_as(page, address, "anna")
    steps.press_keys(page, "Backspace")
    page.locator("#banner", has_text="there is no answer to take back").wait_for()
    visitors.forgive("409")
    steps.press_keys(page, "y", "Enter", "2", "u")
    steps.wait_for_question(page, "coherent")
    steps.press_keys(page, "Enter")
    assert page.locator("#options input:checked").get_attribute("value") == "neutral"
    first = steps.number_shown(page)
    steps.press_keys(page, "Enter")
    steps.wait_for_count(page, "1 of 3 done")
    steps.press_keys(page, "u")
    steps.wait_for_count(page, "0 of 3 done")
    steps.wait_for_question(page, "inference")
    assert steps.number_shown(page) == first
    steps.press_keys(page, "3", "Enter")
    steps.wait_for_count(page, "1 of 3 done")
    for count in (2, 3):
        steps.wait_for_question(page, "coherent")
        steps.press_keys(page, "n", "Enter")
        steps.wait_for_count(page, f"{count} of 3 done")
    page.locator("#finished").wait_for()
    steps.press_keys(page, "u")
    steps.wait_for_question(page, "coherent")
    steps.press_keys(page, "n", "Enter")
    page.locator("#finished").wait_for()
    standing = [entry["standing"] for entry in steps.stored_answers(project)]
    assert sorted(standing, key=len) == [{"coherent": "no"}] * 2 + [{"coherent": "yes", "inference": "contradiction"}]
    with project.state() as state:
        # Nothing is ever lost: both that were taken back are still there.
        assert len(state.answers_by_key) == 5


def test_several_answers_are_ticked_by_key_and_exclude_each_other(steps: Any, visitors: Any, serve: Any) -> None:
    address, project = serve("taxonomy")
    page = visitors.window()
    steps.join_as(page, address, "anna")

    def ticks() -> list[str]:
        return [str(box.get_attribute("value")) for box in page.locator("#options input:checked").all()]

    steps.press_keys(page, "Enter")
    assert page.locator("#question-problem").inner_text() == "Choose an answer first."
    steps.press_keys(page, "1", "Enter", "n", "Enter")
    steps.wait_for_question(page, "approach")
    steps.press_keys(page, "2", "Enter")
    steps.wait_for_question(page, "connectives")
    steps.press_keys(page, "1", "3")
    assert ticks() == ["negation", "quantifier"]
    steps.press_keys(page, "6")
    assert ticks() == ["none"]
    steps.press_keys(page, "2", "3", "3")
    assert ticks() == ["boolean"]
    steps.press_keys(page, "ArrowDown", "ArrowDown", "Space")
    assert ticks() == ["boolean", "comparative"]
    steps.press_keys(page, "Enter", "1", "2", "Enter")
    steps.wait_for_count(page, "1 of 3 done")
    (kept,) = steps.stored_answers(project)
    assert kept["standing"] == {
        "inference": "entailment",
        "outside_knowledge": "no",
        "approach": ["reading"],
        "connectives": ["boolean", "comparative"],
        "wording": ["lexical", "syntactic"],
    }


def test_an_answer_given_before_another_way_was_taken_is_none(steps: Any, visitors: Any, serve: Any) -> None:
    address, project = serve("taxonomy-neutral")
    page = visitors.window()
    steps.join_as(page, address, "anna")
    steps.press_keys(page, "y", "Enter", "y", "Enter", "n", "Enter")
    steps.wait_for_question(page, "information_used")
    page.keyboard.type("un mot: u")
    steps.press_keys(page, "Escape", "u", "u")
    steps.wait_for_question(page, "same_subject")
    steps.press_keys(page, "n", "Enter")
    steps.wait_for_count(page, "1 of 3 done")
    assert [entry["standing"] for entry in steps.stored_answers(project)] == [
        {"same_topic": "yes", "same_subject": "no"}
    ]


def test_only_time_during_which_the_page_can_be_seen_counts(steps: Any, visitors: Any, serve: Any) -> None:
    address, project = serve("hans-human")
    page = visitors.window()
    page.clock.install()
    steps.join_as(page, address, "anna")

    def visible(shown: bool) -> None:
        page.evaluate(
            "(hidden) => { Object.defineProperty(document, 'hidden', { value: hidden, configurable: true });"
            "document.dispatchEvent(new Event('visibilitychange')); }",
            not shown,
        )

    page.clock.fast_forward(4000)
    visible(False)
    page.clock.fast_forward(6_000_000)
    visible(True)
    page.clock.fast_forward(3000)
    steps.press_keys(page, "1", "Enter")
    steps.wait_for_count(page, "1 of 3 done")
    with project.state() as state:
        (claim,) = [claim for claim in state.claims.values() if claim.current_answer]
        # What the test itself takes counts as well, and is less than the hundred minutes in hiding.
        assert 7 <= claim.answers[-1].seconds < 6000


def test_a_token_from_the_link_opens_the_page_and_leaves_the_address(steps: Any, visitors: Any, serve: Any) -> None:
    guards = pytest.importorskip("acidtest.annotate.guards")
    address, _ = serve("hans-human", guard=guards.Guard(token="open sesame", admin_token="other"))
    page = visitors.window()
    page.goto(f"{address}#token=open%20sesame")
    page.locator("#annotator").wait_for()
    assert page.url == address
    stranger = visitors.window()
    stranger.goto(address)
    stranger.locator("#token").wait_for()
    stranger.keyboard.type("guess")
    steps.press_keys(stranger, "Enter")
    stranger.locator("#token-form .problem", has_text="this token is not valid").wait_for()
    stranger.locator("#token").fill("open sesame")
    steps.press_keys(stranger, "Enter")
    steps.join_as(stranger, address, "anna")
    visitors.forgive("401")


def test_joining_when_the_reply_gets_lost_takes_no_name_away(steps: Any, visitors: Any, serve: Any) -> None:
    address, project = serve("hans-human")
    page = visitors.window()
    page.goto(address)
    page.locator("#annotator").wait_for()
    sent = list[str]()

    def swallow(route: Any) -> None:
        sent.append(route.request.post_data_json["proof"])
        route.fetch()
        route.abort()

    page.context.route("**/api/join", swallow, times=1)
    page.keyboard.type("anna")
    # A double press is one request.
    steps.press_keys(page, "Enter", "Enter")
    page.locator("#join-form .problem", has_text="the server does not answer").wait_for()
    page.context.clear_cookies()
    assert [each["annotator"] for each in project.overview()["annotators"]] == ["anna"]
    steps.join_as(page, address, "anna")
    visitors.forgive("net::ERR_FAILED")
    assert len(sent) == 1
    stored = page.evaluate("() => JSON.stringify(localStorage)")
    assert sent[0] not in stored


def test_time_goes_on_in_an_answer_that_is_given_anew(steps: Any, visitors: Any, serve: Any) -> None:
    address, project = serve("hans-human")
    page = visitors.window()
    page.clock.install()
    steps.join_as(page, address, "anna")
    page.clock.fast_forward(100_000)
    steps.press_keys(page, "1", "Enter")
    steps.wait_for_count(page, "1 of 3 done")
    steps.press_keys(page, "u")
    steps.wait_for_count(page, "0 of 3 done")
    steps.press_keys(page, "2", "Enter")
    steps.wait_for_count(page, "1 of 3 done")
    with project.state() as state:
        (claim,) = [claim for claim in state.claims.values() if claim.current_answer]
        assert [answer.seconds >= 100 for answer in claim.answers] == [True, True]


def test_a_name_that_is_taken_is_told(steps: Any, visitors: Any, serve: Any) -> None:
    address, _ = serve("hans-human")
    steps.join_as(visitors.window(), address, "anna")
    other = visitors.window()
    other.goto(address)
    other.locator("#annotator").wait_for()
    other.keyboard.type("Anna")
    steps.press_keys(other, "Enter")
    other.locator("#join-form .problem", has_text="there is already somebody called 'Anna'").wait_for()
    visitors.forgive("409")


def test_an_answer_that_is_never_taken_is_told_and_kept(steps: Any, visitors: Any, serve: Any) -> None:
    address, project = serve("hans-human")
    page = visitors.window()
    steps.join_as(page, address, "anna")
    refusal = {"error": "assignment 1 is not yours"}
    page.route("**/api/answers", lambda route: route.fulfill(status=403, json=refusal), times=1)
    steps.press_keys(page, "1", "Enter")
    page.locator("#banner", has_text="An answer was not taken: assignment 1 is not yours").wait_for()
    assert steps.count_unsent(page) == 0
    (kept,) = page.evaluate(
        "() => Object.keys(localStorage).filter((key) => key.endsWith(':refused'))"
        ".map((key) => JSON.parse(localStorage[key])[0].answers.follows)"
    )
    assert kept == "entailment"
    steps.press_keys(page, "2", "Enter")
    steps.wait_for_count(page, "1 of 3 done")
    visitors.forgive("403")
    assert [entry["standing"] for entry in steps.stored_answers(project)] == [{"follows": "non-entailment"}]


def test_whoever_lost_the_cookie_is_asked_again_and_loses_no_answer(steps: Any, visitors: Any, serve: Any) -> None:
    address, project = serve("hans-human")
    page = visitors.window()
    steps.join_as(page, address, "anna")
    cookies = page.context.cookies()
    page.context.clear_cookies()
    steps.press_keys(page, "1", "Enter")
    page.locator("#annotator").wait_for()
    assert steps.count_unsent(page) == 1
    page.context.add_cookies(cookies)
    page.reload()
    steps.wait_for_count(page, "1 of 3 done")
    visitors.forgive("403")
    assert len(steps.stored_answers(project)) == 1


def test_pairs_of_all_labels_are_asked_each_what_its_gold_asks_for(steps: Any, visitors: Any, serve: Any) -> None:
    frame = steps.pairs(2).with_columns(label=pl.Series(["entailment", "neutral"]))
    address, project = serve("taxinli", frame)
    page = visitors.window()
    steps.join_as(page, address, "anna")
    for _ in range(2):
        if steps.number_shown(page) == 0:
            steps.wait_for_question(page, "inference")
            steps.press_keys(page, "1", "Enter", "n", "Enter", "2", "Enter", "6", "Enter", "1", "Enter")
        else:
            steps.wait_for_question(page, "same_topic")
            steps.press_keys(page, "y", "Enter", "n")
            # Gone back to and changed, it leads elsewhere, and forward again to where it was.
            steps.press_keys(page, "u", "Enter")
            steps.wait_for_question(page, "same_subject")
            steps.press_keys(page, "n", "Enter")
        page.wait_for_function("() => document.getElementById('main').ariaBusy !== 'true'")
    page.locator("#finished").wait_for()
    assert {entry["item"]: entry["standing"] for entry in steps.stored_answers(project)} == {
        "p00": {
            "inference": "entailment",
            "outside_knowledge": "no",
            "approach": ["reading"],
            "connectives": ["none"],
            "wording": ["lexical"],
        },
        "p01": {"same_topic": "yes", "same_subject": "no"},
    }
    steps.press_keys(page, "u")
    page.locator("#work").wait_for()
    steps.wait_for_question(page, "wording" if steps.number_shown(page) == 0 else "same_subject")
