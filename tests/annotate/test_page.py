"""The annotation page itself in a real Chromium: hostile texts, phones, accessibility, and its if and else."""

from __future__ import annotations

import random
from dataclasses import asdict
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import acidtest.annotate
from acidtest.annotate.answers import asked_questions
from acidtest.annotate.conditions import condition_holds
from acidtest.annotate.questionnaires import AnswerOption, Question, load_questionnaire, packaged_questionnaires
from browsers import COLOUR_RULES, find_faults

pytest.importorskip("playwright.sync_api", reason="the tests in a browser need playwright")
pytest.importorskip("fastapi", reason="the annotation server needs acidtest[annotate]")
pytestmark = pytest.mark.browser


def test_keys_can_be_turned_off_and_are_told(steps: Any, visitors: Any, serve: Any) -> None:
    address, _ = serve("hans-human")
    page = visitors.window()
    steps.join_as(page, address, "anna")
    steps.press_keys(page, "?")
    assert page.locator("#keys").is_visible()
    page.locator("#single-keys").uncheck()
    steps.press_keys(page, "Escape", "1")
    assert page.locator("#options input:checked").count() == 0
    steps.press_keys(page, "Space")
    assert page.locator("#options input:checked").get_attribute("value") == "entailment"


def test_markup_in_texts_stays_text(steps: Any, visitors: Any, serve: Any) -> None:
    evil = "<script>alert(1)</script><img src=x onerror=alert(2)> {{7*7}} &amp; ‮abc"
    frame = pl.DataFrame({"id": ["p1"], "premise": [evil], "hypothesis": ["<b>bold</b>"]})
    address, _ = serve("hans-human", frame)
    page = visitors.window()
    steps.join_as(page, address, "<i>anna</i>")
    texts = page.locator(".statement > div")
    assert texts.nth(0).evaluate("(element) => element.textContent") == evil
    assert texts.nth(1).evaluate("(element) => element.textContent") == "<b>bold</b>"
    assert page.locator("#who").evaluate("(element) => element.textContent") == "<i>anna</i>"
    assert page.locator("main img, main b, header i").count() == 0
    assert page.locator("script").count() == 1


def test_a_huge_text_scrolls_in_its_own_place(steps: Any, visitors: Any, serve: Any) -> None:
    frame = pl.DataFrame({"id": ["p1"], "premise": ["word " * 20_000], "hypothesis": ["x" * 5_000]})
    address, project = serve("hans-human", frame)
    page = visitors.window(360, 740)
    steps.join_as(page, address, "anna")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert page.evaluate("document.documentElement.scrollHeight") < 3000
    assert page.locator(".statement > div").first.get_attribute("tabindex") == "0"
    steps.press_keys(page, "1", "Enter")
    page.locator("#finished").wait_for()
    assert len(steps.stored_answers(project)) == 1


@pytest.mark.parametrize("name", packaged_questionnaires())
def test_nothing_is_wider_than_a_phone(steps: Any, visitors: Any, serve: Any, name: str) -> None:
    shown = load_questionnaire(name).shows
    long = {column: ["Donaudampfschifffahrt" * 9] for column in shown}
    frame = pl.DataFrame({"id": ["p1"], "label": ["neutral"], **long})
    address, _ = serve(name, frame)
    page = visitors.window(360, 740)
    page.goto(address)
    page.locator("#annotator").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    steps.join_as(page, address, "anna" * 20)
    for _ in range(12):
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        if page.locator("#finished").is_visible():
            break
        beside = page.locator("#question").bounding_box()["y"] < page.locator("#guidelines").bounding_box()["y"]
        assert beside or not page.locator("#guidelines").is_visible()
        steps.press_keys(page, "1", "Enter")
        page.wait_for_function("() => document.getElementById('main').ariaBusy !== 'true'")
    steps.press_keys(page, "?")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 1280), ("light", 360)])
def test_everybody_can_use_the_page(steps: Any, visitors: Any, serve: Any, scheme: str, width: int) -> None:
    pytest.importorskip("axe_playwright_python", reason="the check of accessibility needs axe-playwright-python")
    guards = pytest.importorskip("acidtest.annotate.guards")
    rules = COLOUR_RULES if scheme == "dark" else ()
    address, _ = serve("taxonomy-neutral", guard=guards.Guard(token="open sesame", admin_token="other"))
    page = visitors.window(width, color_scheme=scheme, reduced_motion="reduce")
    page.goto(address)
    page.locator("#token").wait_for()
    assert find_faults(page, rules) == []
    page.goto(f"{address}#token=open sesame")
    page.reload()
    steps.join_as(page, address, "anna")
    for keys in (["y"], ["y"], ["n"], [], [], ["y"], ["1", "2"], ["1"], ["4"], ["6"]):
        assert find_faults(page, rules) == []
        steps.press_keys(page, *keys, "Enter")
    steps.wait_for_question(page, "wording")
    steps.press_keys(page, "Enter")
    assert page.locator("#question-problem").inner_text() != ""
    assert find_faults(page, rules) == []
    steps.press_keys(page, "?")
    assert find_faults(page, rules) == []
    steps.press_keys(page, "Escape")
    page.route("**/api/answers", lambda route: route.abort())
    steps.press_keys(page, "4", "Enter")
    page.locator("#banner", has_text="kept in this browser").wait_for()
    assert find_faults(page, rules) == []
    page.unroute("**/api/answers")
    steps.wait_for_count(page, "1 of 3 done")
    for number in (2, 3):
        steps.wait_for_question(page, "same_topic")
        steps.press_keys(page, "n", "Enter")
        steps.wait_for_count(page, f"{number} of 3 done")
    page.locator("#finished").wait_for()
    assert find_faults(page, rules) == []
    visitors.forgive("net::ERR_FAILED")
    page.evaluate("document.getElementById('main').append(document.createElement('button'))")
    assert "button-name" in find_faults(page)[0]


def test_the_focus_follows_the_questions(steps: Any, visitors: Any, serve: Any) -> None:
    address, _ = serve("swaps")
    page = visitors.window()
    steps.join_as(page, address, "anna")

    def focused() -> str:
        return str(page.evaluate("document.activeElement.value || document.activeElement.id"))

    assert focused() == "yes"
    order = list[str]()
    for _ in range(3):
        steps.press_keys(page, "Tab")
        order.append(focused())
    assert order == ["next", "back", "guidelines"]
    steps.press_keys(page, "n")
    assert focused() == "no"
    steps.press_keys(page, "y", "Enter")
    steps.wait_for_question(page, "inference")
    assert focused() == "entailment"
    steps.press_keys(page, "?", "Escape")
    assert focused() == "entailment"
    assert page.get_by_role("group", name="If the premise is true, what of the hypothesis?").is_visible()
    assert page.get_by_role("radio", name="It is false").is_visible()


ASKED = {
    "choice": Question("choice", "?", "yes-no", (AnswerOption("yes", "yes"), AnswerOption("no", "no"))),
    "one": Question("one", "?", "one-of", tuple(AnswerOption(each, each) for each in "uvw")),
    "several": Question("several", "?", "several-of", tuple(AnswerOption(each, each) for each in "xyz")),
    # A name that every object of JavaScript knows.
    "constructor": Question("constructor", "?", "text"),
}


def some_condition(draws: random.Random, depth: int = 3) -> dict[str, Any]:
    if depth and draws.random() < 0.5:
        word = draws.choice(["all", "any", "not"])
        if word == "not":
            return {"not": some_condition(draws, depth - 1)}
        return {word: [some_condition(draws, depth - 1) for _ in range(draws.randint(1, 3))]}

    def about(question: Question) -> Any:
        if not question.answers or (question.takes_several and draws.random() < 0.3):
            return draws.random() < 0.5
        chosen = draws.sample(question.answers, draws.randint(1, len(question.answers)))
        return chosen[0] if len(chosen) == 1 else chosen

    names = draws.sample(list(ASKED), draws.randint(1, 2))
    return {name: about(ASKED[name]) for name in names}


def some_answers(draws: random.Random, asked: tuple[Question, ...]) -> dict[str, Any]:
    """Answers to some of the questions, whether they are asked or not."""
    found = dict[str, Any]()
    for question in asked:
        if draws.random() < 0.3:
            continue
        if question.kind == "text":
            found[question.id] = draws.choice([None, "some words"])
        elif question.takes_several:
            alone = [option.id for option in question.options if option.exclusive]
            others = [option.id for option in question.options if not option.exclusive]
            chosen = draws.sample(others, draws.randint(0, len(others)))
            found[question.id] = sorted(chosen) if chosen or not alone else alone
        else:
            found[question.id] = draws.choice(question.answers)
    return found


def test_conditions_hold_in_the_browser_as_they_do_in_python(visitors: Any, serve: Any) -> None:
    address, _ = serve("hans-human")
    page = visitors.window()
    page.goto(address)
    draws = random.Random(8)
    given = [some_answers(draws, tuple(ASKED.values())) for _ in range(60)]
    schema = {name: pl.List(pl.String) if q.takes_several else pl.String for name, q in ASKED.items()}
    frame = pl.DataFrame([{name: answers.get(name) for name in ASKED} for answers in given], schema=schema)
    conditions = [some_condition(draws) for _ in range(150)]
    expected = [frame.with_columns(found=condition_holds(written, ASKED))["found"].to_list() for written in conditions]
    result = page.evaluate(
        "async ([conditions, given]) => { const { holds } = await import('/static/flow.js');"
        "return conditions.map((when) => given.map((answers) => holds(when, answers))); }",
        [conditions, given],
    )
    assert result == expected
    assert 1000 < sum(map(sum, expected)) < 8000


@pytest.mark.parametrize(
    ("name", "gold"), [*((name, "neutral") for name in packaged_questionnaires()), ("taxinli", "entailment")]
)
def test_the_browser_asks_what_python_would_ask(visitors: Any, serve: Any, name: str, gold: str) -> None:
    asked = load_questionnaire(name)
    frame = pl.DataFrame(
        {"id": ["p1"], "gold": [gold], **{column: ["x"] for column in asked.shows if column != "gold"}}
    )
    address, project = serve(name, frame)
    page = visitors.window()
    page.goto(address)
    draws = random.Random(9)
    given = [some_answers(draws, asked.questions) for _ in range(80)]
    project.join("anna")
    result = page.evaluate(
        "async ([questions, conditions, given]) => {"
        "const { withConditions, followQuestions } = await import('/static/flow.js');"
        "return given.map((answers) => followQuestions(withConditions(questions, conditions), answers)); }",
        [list(map(asdict, asked.questions)), project.next("anna").get("conditions"), given],
    )
    for answers, took in zip(given, result, strict=True):
        names = [question["id"] for question in took["asked"]]
        assert names == [question.id for question in asked_questions(asked, took["kept"], gold=gold)]
        assert took["kept"] == {name: answers[name] for name in names if answers.get(name)}


def test_what_was_kept_is_found_when_nothing_more_can_be(visitors: Any, serve: Any) -> None:
    address, _ = serve("hans-human")
    page = visitors.window()
    page.goto(address)
    result = page.evaluate(
        """async () => {
          const { AnswerStorage } = await import('/static/server.js');
          new AnswerStorage('x').add({ key: 'one' });
          const storage = new AnswerStorage('x');
          const { setItem } = Storage.prototype;
          Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); };
          storage.keep(1, { place: 2 });
          const full = [storage.waiting.length, storage.draft(1).place];
          storage.add({ key: 'two' });
          full.push(storage.waiting.length);
          Storage.prototype.setItem = setItem;
          storage.keep(1, { place: 3 });
          const other = new AnswerStorage('x');
          return [...full, other.draft(1).place, other.waiting.length, storage.waiting.length];
        }"""
    )
    # What could not be written when the storage was full is known to this window alone.
    assert result == [1, 2, 2, 3, 1, 2]


def test_the_page_ships_with_the_package_and_loads_nothing_from_elsewhere() -> None:
    folder = Path(acidtest.annotate.__file__).parent / "page"
    names = {path.name for path in folder.iterdir() if path.is_file()}
    assert names >= {"index.html", "app.js", "flow.js", "keyboard.js", "server.js", "view.js", "style.css", "icon.svg"}
    for path in folder.iterdir():
        text = path.read_text(encoding="utf-8")
        assert "innerHTML" not in text
        assert [line for line in text.splitlines() if "://" in line and "w3.org/2000/svg" not in line] == []
