"""A report is one page a person reads: its height before anything is unfolded, and what opens when it is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import acidtest

LIMITS = {1280: 6000, 390: 9000}
"""The most pixels a page is high, by the width of the window."""

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of the reference model on a sample of the standard battery."""
    finished = acidtest.run("reference", limit=300, output=tmp_path_factory.mktemp("height") / "run")
    return finished.folder / "report.html"


@pytest.fixture(scope="module")
def window(browser: Any) -> Iterator[Any]:
    window = browser.new_page()
    yield window
    window.close()


@pytest.mark.parametrize("width", LIMITS)
def test_a_report_is_one_page_before_anything_is_unfolded(width: int, report: Path, window: Any) -> None:
    window.set_viewport_size({"width": width, "height": 900})
    window.goto(report.as_uri())
    window.wait_for_load_state("networkidle")
    assert window.evaluate("document.documentElement.scrollHeight") <= LIMITS[width]
    assert window.evaluate("document.documentElement.scrollWidth") <= width


def test_nothing_is_cut_when_everything_is_unfolded_on_a_phone(report: Path, window: Any) -> None:
    window.set_viewport_size({"width": 390, "height": 900})
    window.goto(report.as_uri())
    window.click("#unfold")
    assert window.evaluate("document.querySelectorAll('details.fold:not([open])').length") == 1, "the examples"
    assert window.evaluate("document.documentElement.scrollWidth") <= 390
    assert window.evaluate("document.documentElement.scrollHeight") > LIMITS[390]


@pytest.mark.parametrize("width", [360, 390])
def test_the_table_of_suites_and_the_texts_of_charts_fit_a_phone(width: int, report: Path, window: Any) -> None:
    window.set_viewport_size({"width": width, "height": 900})
    window.goto(report.as_uri())
    table = window.locator("table.stacked").first
    assert table.evaluate("(table) => table.scrollWidth") <= width
    assert table.locator("tbody th small").first.inner_text().startswith("n = ")
    window.click("#unfold")
    outside = """[...document.querySelectorAll("figure svg text")].filter((text) => {
      const box = text.getBoundingClientRect();
      const figure = text.closest("figure").getBoundingClientRect();
      return box.width && (box.left < figure.left - 1 || box.right > figure.right + 1);
    }).map((text) => text.textContent)"""
    assert window.evaluate(outside) == []


@pytest.mark.parametrize("width", [480, 640, 660, 700, 780, 900, 1000])
def test_no_table_is_cut_between_a_phone_and_a_desk(width: int, report: Path, window: Any) -> None:
    window.set_viewport_size({"width": width, "height": 900})
    window.goto(report.as_uri())
    wider = """[...document.querySelectorAll(".scroll")].filter(
      (part) => part.checkVisibility() && part.scrollWidth > part.clientWidth + 1
    ).map((part) => part.innerText.slice(0, 80))"""
    assert window.evaluate(wider) == []


def test_a_search_in_the_page_opens_the_folded_section_that_has_the_words(report: Path, window: Any) -> None:
    # A text fragment reveals what it leads to by the same steps as a search with the browser's own dialogue.
    window.goto("about:blank")
    window.goto(f"{report.as_uri()}#:~:text=What%20its%20parts%20mean")
    window.wait_for_function("document.querySelector('#signatures > details').open")
    assert not window.evaluate("document.querySelector('#methods > details').open")


def test_a_printed_page_holds_what_is_folded_but_the_examples(report: Path, window: Any) -> None:
    window.goto("about:blank")
    window.goto(report.as_uri())
    window.evaluate(
        """addEventListener("beforeprint", () => {
          const folds = [...document.querySelectorAll("details:not([open], .code)")];
          window.folded = folds.map((fold) => fold.parentElement.id);
        })"""
    )
    window.pdf()
    assert window.evaluate("window.folded") == ["examples"]
    assert window.evaluate("document.querySelectorAll('details[open]').length") == 0


def test_a_link_opens_the_folded_section_it_leads_to_and_all_around_it(report: Path, window: Any) -> None:
    window.goto("about:blank")
    window.goto(report.as_uri())
    inner = window.evaluate("document.querySelector('details.fold details.fold').closest('section').id")
    window.goto("about:blank")
    window.goto(f"{report.as_uri()}#{inner}")
    assert window.evaluate(f"document.getElementById('{inner}').checkVisibility()")
    assert window.evaluate(f"document.querySelector('[id=\"{inner}\"] > details').open")


def test_examples_are_unpacked_when_they_are_asked_for(report: Path, window: Any) -> None:
    window.goto("about:blank")
    window.goto(report.as_uri())
    assert window.locator(".example").count() == 0
    window.click("#examples summary")
    window.wait_for_selector(".example")
    assert window.locator(".example").count() == 20


def test_pairs_with_and_without_a_cue_stand_side_by_side_and_differ_where_marked(report: Path, window: Any) -> None:
    window.set_viewport_size({"width": 1280, "height": 900})
    window.goto("about:blank")
    window.goto(report.as_uri())
    window.click("#unfold")
    boxes = window.evaluate(
        "[...document.querySelector('.toggle .sides').children].map((side) => side.getBoundingClientRect())"
        ".map((box) => [box.left, box.top])"
    )
    (left, top), (right, other_top) = boxes
    assert left < right
    assert top == other_top
    assert window.locator(".toggle").first.locator("mark").count() > 0
