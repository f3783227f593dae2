"""Maps on a page as a browser shows them: by keyboard, by layer, by colour, within the page's security policy."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from acidtest.core.document import Colouring, Document, Map, MapLayer
from acidtest.render.html import render_page
from acidtest.render.maps import GREY, draw_map, value_colours

HOSTILE = "</script><img src=x onerror=document.title='broken'>"


@pytest.fixture
def page(tmp_path: Path) -> str:
    """The address of a page with a map of sixty points on two layers."""
    n = 60
    layers = (
        MapLayer("embeddings", tuple((float(i % 10), float(i // 10)) for i in range(n))),
        MapLayer("layer 1", tuple((float(i // 10), float(i % 10)) for i in range(n))),
    )
    groups = tuple(
        tuple(name for name, every in (("connectives", 2), ("deductions", 5)) if i % every == 0) for i in range(n)
    )
    colourings = (
        Colouring("groups", groups),
        Colouring("label", tuple((("entailment", "neutral")[i % 2],) for i in range(n))),
    )
    texts = {"premise": (f"Premise. {HOSTILE}",) * n, "hypothesis": ("Hypothesis.",) * n}
    document = Document("maps", "Maps.", (Map("maps", "Maps of layers", layers, colourings, texts),))
    path = tmp_path / "page.html"
    path.write_text(render_page(document), encoding="utf-8", newline="\n")
    return path.as_uri()


def test_a_point_of_two_values_has_both_colours_and_not_that_of_none() -> None:
    values = (("connectives",), ("deductions",), ("connectives", "deductions"), ())
    layer = MapLayer("layer 1", ((0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0)))
    colouring = Colouring("groups", values)
    picture = draw_map(Map("maps", "Maps", (layer,), (colouring,), {}), colouring)
    paths = re.findall(r'<path d="([^"]+)" fill="none" stroke="([^"]+)" stroke-width="([^"]+)"', picture)
    colours = value_colours(["connectives", "deductions", "none"])
    # The third point, top left, is a ring of the first colour around a dot of the second.
    third = [(stroke, width) for points, stroke, width in paths if points.startswith("M0 ") and width != "3"]
    assert third == [(colours["connectives"], "6.5"), (colours["deductions"], "3.5")]
    grey = [points for points, stroke, _ in paths if stroke == GREY]
    assert [points.count("M") for points in grey] == [1]
    assert "several values</text>" in picture


@pytest.mark.browser
def test_a_browser_shows_layers_colours_and_pairs_by_keyboard(chromium: Any, page: str) -> None:
    chromium.asked("Page.navigate", url=page)
    chromium.until("!!document.querySelector('.points .legend button')")
    press = "document.querySelector('.points canvas').dispatchEvent(new KeyboardEvent('keydown', {key: '%s'}))"
    layer = "document.querySelector('.points select').selectedOptions[0].textContent"
    assert chromium.value(layer) == "layer 1"
    chromium.value(press % "PageUp")
    assert chromium.value(layer) == "embeddings"
    chromium.value(press % "ArrowRight")
    assert HOSTILE in chromium.value("document.querySelector('.points output').textContent")
    assert chromium.value("document.title") != "broken"
    legend = "[...document.querySelectorAll('.legend button')].map((button) => button.textContent)"
    assert chromium.value(legend) == ["connectives 30", "deductions 12", "none 24"]
    chromium.value("document.querySelector('.legend button').click()")
    assert chromium.value("document.querySelector('.legend button').getAttribute('aria-pressed')") == "false"
    chromium.value(
        "const c = document.querySelectorAll('.points select')[1]; c.value = 1; c.dispatchEvent(new Event('change')); 0"
    )
    assert chromium.value(legend) == ["entailment 30", "neutral 30"]


def test_without_a_script_all_layers_are_there_as_pictures(page: str) -> None:
    text = Path(page.removeprefix("file://")).read_text(encoding="utf-8")
    picture = text[text.index('<svg width="') :]
    assert picture.count("h.01") >= 120
    assert "layer 1</text>" in picture
