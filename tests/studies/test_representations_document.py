"""Layers as a document, its maps drawn and explored: what it says, what a page embeds, what a browser does with it."""

from __future__ import annotations

import base64
import gzip
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from acidtest.core.document import Map, PValue, tables, walk
from acidtest.core.suite import Card
from acidtest.render.files import write_charts
from acidtest.render.html import render_page
from acidtest.render.maps import FINEST, GREY, draw_map, value_colours
from acidtest.studies.representations import LayerScores, RepresentationsResult, document, representations

HOSTILE = "</script><img src=x onerror=document.title='broken'>"
LAYERS = ("embeddings", "layer 1")


@pytest.fixture(scope="module")
def result() -> RepresentationsResult:
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
    measured = representations(layers, frame, card=card, model="<i>m", names=LAYERS, permutations=39)
    maps = rng.uniform(-1, 1, size=(2, n, 2)).astype(np.float32)
    return replace(measured, maps=maps, perplexity=19.0)


def map_of(result: RepresentationsResult) -> Map:
    return next(part for part in walk(document(result).parts) if isinstance(part, Map))


def unpacked(page: str) -> dict[str, Any]:
    text = re.search(r'class="map-data">([^<]*)<', page)
    assert text
    content: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(text[1])))
    return content


@pytest.mark.parametrize(("permutations", "said"), [(19, True), (20, False)])
def test_too_few_shuffles_for_significance_are_said(
    result: RepresentationsResult, permutations: int, said: bool
) -> None:
    # The least p-value is 1 / (1 + shuffles): 0.05 with 19, 0.048 with 20.
    page = render_page(document(replace(result, permutations=permutations)))
    assert ("No layer can be significant: with 19 shuffles, no p-value is below 0.05" in page) == said
    assert ("Give --permutations 20 or more" in page) == said


def test_maps_are_embedded_with_texts_and_ways_to_colour_and_distances_keep_their_proportions(
    result: RepresentationsResult,
) -> None:
    content = unpacked(render_page(document(result)))
    assert content["texts"]["premise"][7] == f"Premise 7. {HOSTILE}"
    groups, categories, label, genre = content["colourings"]
    assert [part["name"] for part in (groups, categories, label, genre)] == ["groups", "categories", "label", "genre"]
    assert [name for name, _ in categories["values"]] == ["boolean", "causal", "negation"]
    assert categories["points"][12] == [2, 0]
    assert groups["points"][12] == [0]
    assert genre["points"][2] == []
    assert result.maps is not None
    for layer, drawn in zip(result.maps, content["layers"], strict=True):
        shown = np.array(drawn["positions"], dtype=float).T
        step = float(np.ptp(layer, axis=0).max()) / FINEST
        assert (shown[0] - shown[0].min()) * step == pytest.approx(layer[:, 0] - layer[:, 0].min(), abs=2 * step)
        # The vertical axis of a page points down.
        assert (shown[1].max() - shown[1]) * step == pytest.approx(layer[:, 1] - layer[:, 1].min(), abs=2 * step)


def test_nothing_in_names_or_texts_becomes_markup(result: RepresentationsResult) -> None:
    page = render_page(document(result))
    assert HOSTILE not in page
    assert "&lt;i&gt;m" in page
    assert "<i>m" not in page


def test_every_target_has_a_row_and_a_curve_with_intervals_baselines_and_p(result: RepresentationsResult) -> None:
    shown = tables(document(result))
    overview = shown["probe by layer"]
    (row,) = [row for row in overview.rows if row.name == "negation"]
    negation = next(target for target in result.targets if target.name == "negation").probe
    assert row.cells[0] == 20
    assert row.cells[1:3] == tuple(score for score in negation.layers.values())
    assert row.cells[-2:] == ("layer 1", "layer 1")
    curve = shown["probe negation"].rows[1]
    score = negation.layers["layer 1"]
    # Of 39 shuffles none is as good: (0 + 1) / (39 + 1).
    assert curve.cells == (score, score.baseline, PValue(0.025), PValue(0.025), "layer 1")
    assert shown["probe negation"].rows[-1].role == "control"


def test_layers_above_their_baseline_are_named_in_runs(result: RepresentationsResult) -> None:
    target = next(target for target in result.targets if target.name == "negation")
    above = target.probe.layers["layer 1"]
    below = replace(above, p_adjusted=0.5)
    layers = {"a": above, "b": above, "c": below, "d": above}
    scores = LayerScores.from_layers(layers)
    changed = replace(target, probe=scores, silhouette=scores)
    shown = tables(document(replace(result, targets=(changed,), layers=tuple(layers), maps=None)))
    assert shown["probe by layer"].rows[0].cells[-2] == "a to b, d"


def test_without_maps_the_document_has_the_numbers_only(result: RepresentationsResult) -> None:
    page = render_page(document(replace(result, maps=None)))
    assert "map-data" not in page
    assert 'id="probe"' in page


def test_pictures_show_groups_and_leave_points_without_one_grey(result: RepresentationsResult, tmp_path: Path) -> None:
    maps = map_of(result)
    values = maps.colourings[0].values
    assert [values[place] for place in (0, 1, 3, 5)] == [
        ("connectives", "deductions"),
        (),
        ("connectives",),
        ("deductions",),
    ]
    colours = value_colours(["connectives", "none", "deductions"])
    assert list(colours) == ["connectives", "deductions", "none"]
    assert [name for name, colour in colours.items() if colour == GREY] == ["none"]
    drawn = draw_map(maps, maps.colourings[0], standalone=True)
    # Two layers of 60 points each; a point of two groups is a dot in a ring.
    rings = sum(len(point) > 1 for point in values)
    assert rings > 0
    assert drawn.count("h.01") == 2 * (60 + rings)
    names = {path.name: path for path in write_charts(document(result), tmp_path / "plots")}
    assert {"maps-label.svg", "maps-label.png", "maps-groups.svg", "maps-groups.png", "probe-negation.svg"} <= set(
        names
    )
    assert names["maps-label.png"].read_bytes().startswith(b"\x89PNG")
