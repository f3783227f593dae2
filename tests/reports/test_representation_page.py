"""Layers as a page: what it embeds, what it says, and what it does in a browser."""

from __future__ import annotations

import base64
import gzip
import json
import re
from dataclasses import replace
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

from acidtest.core.suite import Card
from acidtest.reports.representation_page import representation_page
from acidtest.reports.representation_plots import group_names, map_picture, write_maps
from acidtest.reports.representations import representation_tables
from acidtest.studies.representation import representations
from acidtest.studies.representation_results import Representations

HOSTILE = "</script><img src=x onerror=document.title='broken'>"


@pytest.fixture(scope="module")
def found() -> Representations:
    """Sixty pairs on two layers; names and texts are what a page must not obey."""
    rng = np.random.default_rng(0)
    n = 60
    frame = pl.DataFrame(
        {
            "id": [str(number) for number in range(n)],
            "premise": [f"Premise {number}. {HOSTILE}" for number in range(n)],
            "hypothesis": [f"Hypothesis {number}." for number in range(n)],
            "label": ["entailment", "neutral"] * 30,
            "group": [str(number) for number in range(n)],
            "negation": np.arange(n) % 3 == 0,
            "boolean": np.arange(n) % 4 == 0,
            "causal": np.arange(n) % 5 == 0,
            "genre": ["fiction", "travel", None] * 20,
        }
    )
    card = Card("toy", columns=dict.fromkeys(("negation", "boolean", "causal", "genre"), "factor"))
    layers = rng.normal(size=(2, n, 6)).astype(np.float32)
    layers[1, :, 0] += 4 * frame["negation"].to_numpy()
    made = representations(layers, frame, card=card, model="<i>m", names=("embeddings", "layer 1"), permutations=39)
    maps = rng.uniform(-1, 1, size=(2, n, 2)).astype(np.float32)
    return replace(made, maps=maps, perplexity=19.0)


def unpacked(page: str) -> tuple[dict[str, Any], np.ndarray]:
    text = re.search(r'id="points">([^<]*)<', page)
    assert text
    content = gzip.decompress(base64.b64decode(text[1]))
    length = int.from_bytes(content[:4], "little")
    facts = json.loads(content[4 : 4 + length])
    return facts, np.frombuffer(content, "<u2", offset=4 + length + length % 2)


def test_maps_are_embedded_in_16_bits_with_texts_and_ways_to_colour(found: Representations) -> None:
    facts, places = unpacked(representation_page(found))
    assert facts["premise"][7] == f"Premise 7. {HOSTILE}"
    assert [way["name"] for way in facts["colourings"]] == ["group of categories", "category", "gold label", "genre"]
    assert facts["colourings"][1]["values"] == ["negation", "boolean", "causal"]
    assert facts["colourings"][1]["rows"][12] == [0, 1]
    assert facts["colourings"][0]["rows"][12] == [0]
    assert facts["colourings"][3]["rows"][2] == []
    assert found.maps is not None
    grid = places.reshape(2, 2, 60).astype(float)
    # Distances keep their proportions, to within what 16 bits can tell; the vertical axis points down.
    for layer, shown in zip(found.maps, grid, strict=True):
        step = float(np.ptp(layer, axis=0).max()) / 65535
        assert (shown[0] - shown[0].min()) * step == pytest.approx(layer[:, 0] - layer[:, 0].min(), abs=2 * step)
        assert (shown[1].max() - shown[1]) * step == pytest.approx(layer[:, 1] - layer[:, 1].min(), abs=2 * step)


def test_nothing_in_names_or_texts_becomes_markup(found: Representations, toy: SimpleNamespace) -> None:
    page = representation_page(found)
    assert HOSTILE not in page
    assert "&lt;i&gt;m" in page
    assert "<i>m" not in page


def test_numbers_stand_on_the_page_with_intervals_baselines_and_p(found: Representations, toy: SimpleNamespace) -> None:
    section = toy.section(representation_page(found), "probe")
    negation = next(trace for trace in found.traces if trace.name == "negation")
    one = negation.measures["probe"][1]
    assert f"{one.estimate.value * 100:.1f}" in section
    assert "baseline" in section
    assert "corrected 0.0250" in section
    assert "first above: layer 1" in section


def test_without_maps_the_page_has_the_numbers_only(found: Representations) -> None:
    page = representation_page(replace(found, maps=None))
    assert 'id="points"' not in page
    assert 'id="probe"' in page


def test_the_terminal_has_a_line_for_each_target_and_stars_what_is_above(found: Representations) -> None:
    from rich.console import Console

    console = Console(width=110, record=True, file=StringIO())
    for part in representation_tables(found):
        console.print(part)
    text = console.export_text()
    line = next(line for line in text.splitlines() if line.strip().startswith("negation"))
    assert line.split()[:2] == ["negation", "20"]
    assert "*" in line
    assert line.rstrip().endswith("layer 1")


def test_pictures_show_groups_and_leave_the_rest_grey(found: Representations, tmp_path: Path) -> None:
    names = group_names(found)
    assert [names[0], names[1], names[3], names[5]] == ["several", "none", "connectives", "deductions"]
    spec = map_picture(found, names)
    assert spec["spec"]["encoding"]["color"]["scale"]["domain"] == ["connectives", "deductions", "none", "several"]
    written = write_maps(found, tmp_path / "plots")
    assert [path.name for path in written] == [
        *("maps-label.svg", "maps-label.png", "maps-groups.svg", "maps-groups.png"),
    ]
    assert written[1].read_bytes().startswith(b"\x89PNG")


@pytest.mark.browser
def test_a_browser_shows_layers_colours_and_pairs_by_keyboard(
    chromium: Any, found: Representations, tmp_path: Path
) -> None:
    path = tmp_path / "page.html"
    path.write_text(representation_page(found), encoding="utf-8", newline="\n")
    chromium.asked("Page.navigate", url=path.as_uri())
    chromium.until("!!document.querySelector('#maps-view:not([hidden]) #legend button')")
    press = "document.getElementById('map').dispatchEvent(new KeyboardEvent('keydown', {key: '%s'}))"
    assert chromium.value("document.getElementById('layer-name').textContent") == "layer 1"
    chromium.value(press % "PageUp")
    assert chromium.value("document.getElementById('layer-name').textContent") == "embeddings"
    chromium.value(press % "ArrowRight")
    assert HOSTILE in chromium.value("document.getElementById('pair').textContent")
    assert chromium.value("document.title") != "broken"
    legend = "[...document.querySelectorAll('#legend button')].map((each) => each.textContent)"
    assert chromium.value(legend) == ["connectives 30", "deductions 12", "none 24"]
    chromium.value("document.querySelector('#legend button').click()")
    pressed = "document.querySelector('#legend button').getAttribute('aria-pressed')"
    assert chromium.value(pressed) == "false"
    chromium.value(
        "const c = document.getElementById('colouring'); c.value = 1; c.dispatchEvent(new Event('change')); 0"
    )
    assert chromium.value(legend)[0] == "negation 19"
