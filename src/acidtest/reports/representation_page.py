"""Layers as one self-contained page: maps to move about in, and curves of how well layers tell things apart."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from acidtest.report.examples import Examples
from acidtest.reports.html import explained, rendered
from acidtest.reports.representations import HEADINGS, TITLES, layer_told, value_told
from acidtest.studies.representation_results import MEASURES, PROBE, SILHOUETTE, Contrast, Maps, Representations, Trace
from acidtest.studies.representation_targets import groups_of

SCRIPTS = ("page.js", "representations.js")

MOST_VALUES = 16
"""A factor of more values than there are colours is not offered for colouring."""

CHANCE = {PROBE: 0.5, SILHOUETTE: 0.0}
_WIDTH, _HEIGHT = 100.0, 60.0
_FINEST = 65535


@dataclass(frozen=True)
class Panel:
    """One target's curve through the layers, as paths in a box of 100 by 60, and what is said of it."""

    trace: Trace
    curve: str
    band: str
    baseline: str
    dots: tuple[tuple[float, float], ...]
    chance: float
    first: str
    best: str
    told: str


@dataclass(frozen=True)
class Part:
    """A measure: a panel for each target, all on one scale, and the same as a table."""

    measure: str
    heading: str
    title: str
    low: str
    high: str
    panels: tuple[Panel, ...]


def representation_page(found: Representations) -> str:
    """The page for one model's layers on one suite."""
    methods = [one.estimate.method for trace in found.traces for each in trace.measures.values() for one in each]
    return rendered(
        "representations.html",
        scripts=SCRIPTS,
        found=found,
        points=_packed(found) if found.maps is not None else "",
        parts=[_part(found, measure) for measure in MEASURES],
        first={
            measure: [(trace, layer_told(found, trace.first(measure, found.alpha))) for trace in found.traces]
            for measure in MEASURES
        },
        methods=explained(methods),
        value_told=value_told,
        examples=Examples(0, "", ()),
    )


def _packed(found: Representations) -> str:
    """Everything that maps need, gzip data in base64: nothing in it can end a script element."""
    rows = found.rows
    facts: dict[str, Any] = {
        "layers": list(found.layers),
        "colourings": list(_colourings(found)),
        "premise": rows["premise"].to_list(),
        "hypothesis": rows["hypothesis"].to_list(),
    }
    assert found.maps is not None
    text = json.dumps(facts, ensure_ascii=False, separators=(",", ":")).encode()
    places = _places(found.maps).tobytes()
    content = len(text).to_bytes(4, "little") + text + b" " * (len(text) % 2) + places
    return base64.b64encode(gzip.compress(content, mtime=0)).decode()


def _places(maps: Maps) -> np.ndarray[Any, np.dtype[np.uint16]]:
    """Places as whole numbers of 16 bits: all x of a layer, then all y, then the next layer."""
    low, high = maps.min(axis=1, keepdims=True), maps.max(axis=1, keepdims=True)
    # One scale for both directions, or distances would be distorted.
    size = np.maximum((high - low).max(axis=2, keepdims=True), 1e-12)
    # Pages count from the top.
    middle = (maps - (low + high) / 2) / size * np.array([1, -1]) + 0.5
    return np.ascontiguousarray(np.rint(middle * _FINEST).astype("<u2").transpose(0, 2, 1))


def _colourings(found: Representations) -> Iterator[dict[str, Any]]:
    """Ways to colour points: for each a list of values and, for each row, the numbers of those it has."""
    rows = found.rows
    if found.categories:
        members = groups_of(found.categories)
        any_of = {group: pl.any_horizontal(pl.col(names).fill_null(False)) for group, names in members.items()}
        yield _several("group of categories", rows.select(**any_of))
        yield _several("category", rows.select(pl.col(found.categories).fill_null(False)))
    for name in ("label", *found.factors):
        texts = rows[name].cast(pl.String)
        values = texts.drop_nulls().unique().sort().to_list()
        if 1 < len(values) <= MOST_VALUES:
            numbers = {value: number for number, value in enumerate(values)}
            held = [[] if text is None else [numbers[text]] for text in texts]
            yield {"name": "gold label" if name == "label" else name, "values": values, "rows": held}


def _several(name: str, columns: pl.DataFrame) -> dict[str, Any]:
    held = columns.to_numpy().astype(np.bool_)
    return {"name": name, "values": columns.columns, "rows": [np.flatnonzero(row).tolist() for row in held]}


def _part(found: Representations, measure: str) -> Part:
    known = [
        one for trace in found.traces for one in trace.measures[measure] if one.estimate.known and one.baseline.known
    ]
    ends = [
        *(value for one in known for value in (one.estimate.low, one.estimate.high) if value == value),
        *(value for one in known for value in (one.estimate.value, one.baseline.low, one.baseline.high)),
        CHANCE[measure],
    ]
    low, high = min(ends), max(ends) if max(ends) > min(ends) else min(ends) + 0.01
    panels = tuple(_panel(found, trace, measure=measure, low=low, high=high) for trace in found.traces)
    return Part(
        measure, HEADINGS[measure], TITLES[measure], value_told(low, measure), value_told(high, measure), panels
    )


def _panel(found: Representations, trace: Trace, *, measure: str, low: float, high: float) -> Panel:
    contrasts = trace.measures[measure]
    step = _WIDTH / max(len(contrasts) - 1, 1)

    def y(value: float) -> float:
        return round(_HEIGHT * (high - value) / (high - low), 2)

    def points(values: Sequence[float]) -> list[tuple[float, float]]:
        return [(round(place * step, 2), y(value)) for place, value in enumerate(values) if value == value]

    def band(lows: Sequence[float], highs: Sequence[float]) -> str:
        return _path([*points(highs), *reversed(points(lows))])

    values = [one.estimate.value for one in contrasts]
    return Panel(
        trace=trace,
        curve=_path(points(values)),
        band=band([one.estimate.low for one in contrasts], [one.estimate.high for one in contrasts]),
        baseline=band([one.baseline.low for one in contrasts], [one.baseline.high for one in contrasts]),
        dots=tuple((round(place * step, 2), y(one.estimate.value)) for place, one in _above(contrasts, found.alpha)),
        chance=y(CHANCE[measure]),
        first=layer_told(found, trace.first(measure, found.alpha)),
        best=layer_told(found, trace.best(measure)),
        told=next((one.estimate.note for one in contrasts if not one.estimate.known), ""),
    )


def _above(contrasts: Sequence[Contrast], alpha: float) -> Iterator[tuple[int, Contrast]]:
    return ((place, one) for place, one in enumerate(contrasts) if one.above(alpha))


def _path(points: Sequence[tuple[float, float]]) -> str:
    return "M" + " ".join(f"{x:g} {y:g}" for x, y in points) if points else ""
