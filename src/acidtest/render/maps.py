"""Maps of points: all layers as small pictures in SVG, and the data that a page's script draws them from."""

from __future__ import annotations

import base64
import gzip
import json
from collections import Counter
from collections.abc import Iterable, Sequence

from acidtest.core.document import Colouring, Map, MapLayer
from acidtest.render.drawing import LETTER, Drawing

PALETTE = (
    *("#2f7ed8", "#e8590c", "#2b9348", "#9c36b5", "#c99700", "#0c8599", "#d6336c", "#7a5195"),
    *("#74b816", "#a0522d", "#4263eb", "#f06595", "#1098ad", "#868e00", "#c92a2a", "#5f7d95"),
)
GREY = "#9aa3ad"

NONE = "none"
"""The name for points without a value."""

_WIDTHS = (3.0, 6.5, 3.5, 1.5)
"""The width of a point's dot and, of a point of several values, those of its rings, from the outside in."""

FINEST = 9999
"""Positions in the data for a page are whole numbers from 0 to this."""

_ACROSS, _SIDE, _GAP, _TITLE = 4, 210, 16, 24


def draw_map(part: Map, colouring: Colouring, *, standalone: bool = False) -> str:
    """A small map of each layer, all in one picture, points coloured by value; rare values are drawn last, on top.

    A point of several values is a dot in rings of their colours.
    """
    rings = [_rings(point) for point in colouring.values]
    counts = Counter(ring for point in rings for ring in point)
    colours = value_colours(value for value, _ in counts)
    drawing = Drawing(_ACROSS * (_SIDE + _GAP) - _GAP)
    _draw_legend(drawing, colours, rings=any(len(point) > 1 for point in rings))
    top = drawing.height
    for number, layer in enumerate(part.layers):
        x = number % _ACROSS * (_SIDE + _GAP)
        y = top + number // _ACROSS * (_SIDE + _GAP + _TITLE)
        drawing.text(x, y + 10, layer.name, css="quiet")
        dots = scaled_positions(layer, _SIDE)
        # Points without a value lie below all others, outer rings below inner ones.
        order = sorted(counts, key=lambda ring: (ring[0] != NONE, _WIDTHS.index(ring[1]), -counts[ring]))
        for value, width in order:
            path = "".join(
                f"M{x + across} {y + _TITLE + down}h.01"
                for (across, down), point in zip(dots, rings, strict=True)
                if (value, width) in point
            )
            opacity = ".7" if width == _WIDTHS[0] else "1"
            drawing.elements.append(
                f'<path d="{path}" fill="none" stroke="{colours[value]}" stroke-width="{width:g}" '
                f'stroke-linecap="round" stroke-opacity="{opacity}"/>'
            )
        drawing.height = y + _TITLE + _SIDE + _GAP
    return drawing.svg(f"{part.caption}, coloured by {colouring.name}", standalone=standalone)


def value_colours(values: Iterable[str]) -> dict[str, str]:
    """A colour for each value; grey for points of no value."""
    known = set(values)
    colours = {name: PALETTE[number % len(PALETTE)] for number, name in enumerate(sorted(known - {NONE}))}
    return colours | ({NONE: GREY} if NONE in known else {})


def scaled_positions(layer: MapLayer, size: float) -> list[tuple[int, int]]:
    """Positions as whole numbers from 0 to ``size``, y downwards; both axes have one scale, which keeps proportions."""
    columns = list(zip(*layer.positions, strict=True)) or [(0.0,), (0.0,)]
    middles = [(min(column) + max(column)) / 2 for column in columns]
    span = max(max(column) - min(column) for column in columns) or 1.0
    return [
        (round(((x - middles[0]) / span + 0.5) * size), round((0.5 - (y - middles[1]) / span) * size))
        for x, y in layer.positions
    ]


def pack_map(part: Map) -> str:
    """The data of a map for the script of a page, gzip in base64: nothing in it can end a script element."""
    content = {
        "layers": [{"name": layer.name, "positions": scaled_positions(layer, FINEST)} for layer in part.layers],
        "colourings": [_pack_colouring(colouring) for colouring in part.colourings],
        "texts": {title: list(texts) for title, texts in part.texts.items()},
    }
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()
    return base64.b64encode(gzip.compress(text, mtime=0)).decode()


def _pack_colouring(colouring: Colouring) -> dict[str, object]:
    """The values of a colouring with their colours, and for each point the indices of its values."""
    colours = value_colours(value for point in colouring.values for value in point)
    numbers = {value: number for number, value in enumerate(colours)}
    points = [[numbers[value] for value in point] for point in colouring.values]
    return {"name": colouring.name, "values": list(colours.items()), "points": points}


def _rings(values: Sequence[str]) -> tuple[tuple[str, float], ...]:
    """The values of a point, each with the width of its dot or ring; more than three values show the first three."""
    if len(values) < 2:
        return ((values[0] if values else NONE, _WIDTHS[0]),)
    return tuple(zip(values, _WIDTHS[1:], strict=False))


def _draw_legend(drawing: Drawing, colours: dict[str, str], *, rings: bool) -> None:
    """The colours by value and, if there are ``rings``, what they mean."""
    x, y = 0.0, 10.0
    for name, colour in colours.items():
        width = 18 + len(name) * LETTER + 16
        if x and x + width > drawing.width:
            x, y = 0.0, y + 20
        drawing.elements.append(f'<circle cx="{x + 6:g}" cy="{y:g}" r="4" fill="{colour}"/>')
        drawing.text(x + 16, y, name)
        x += width
    if rings:
        y += 20
        drawing.text(0, y, "a dot in a ring: several values", css="quiet")
    drawing.height = y + 18
