"""Parts to build SVG pictures from: colours, sizes, scales and elements.

Elements have CSS classes. On a page its light or dark style colours them, in a standalone picture ``STYLE`` does.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil, floor, log10

from acidtest.core.document import Unit
from acidtest.core.escaping import escape_xml
from acidtest.core.estimate import Estimate

COLOURS = ("#0b5cad", "#c2410c", "#00785a", "#8e3b8e", "#7a5c00", "#4b5563")
PARTS = ("#8fbce6", "#c9ced6", "#f0a988", "#b7d8a8", "#d9c3e8")
INK, QUIET, LINE, PAPER = "#1b1f24", "#59616c", "#dfe3e8", "#ffffff"

FONT_SIZE, LANE, GAP, HEADING, AXIS, LETTER = 13, 12, 8, 30, 40, 6.6
"""Sizes in pixels; ``LETTER`` is the mean width of a letter."""

NARROW = 480
"""Drawings narrower than this put names above their rows."""

_STEPS = (1, 2, 5, 10, 20)

STYLE = f"""
text{{font:{FONT_SIZE}px system-ui,-apple-system,"Segoe UI",Roboto,Helvetica,Arial,sans-serif;fill:{INK}}}
.quiet{{fill:{QUIET}}}.heading{{font-weight:600}}.grid{{stroke:{LINE}}}.zero{{stroke:{QUIET};stroke-dasharray:3 2}}
.published{{fill:none;stroke:{QUIET};stroke-width:1.25}}.hollow{{fill:{PAPER}}}
{"".join(f".s{n}{{fill:{colour};stroke:{colour}}}" for n, colour in enumerate(COLOURS))}
{"".join(f".p{n}{{fill:{colour}}}" for n, colour in enumerate(PARTS))}
.faint{{fill-opacity:.3}}.whisker{{stroke:{INK};stroke-width:1.5}}.axis{{stroke:{QUIET}}}.track{{fill:{LINE}}}.tick{{stroke:{COLOURS[1]};stroke-width:2}}
.range{{stroke-width:2}}.curve{{fill:none;stroke-width:2}}.band{{stroke:none;fill-opacity:.16}}
"""
"""The style of the classes in a standalone picture."""


@dataclass(frozen=True)
class AxisScale:
    """A scale from values to pixels, with its ticks and their labels; values beyond the ticks are clamped."""

    ticks: tuple[float, ...]
    left: float
    right: float
    unit: Unit

    def __call__(self, value: float) -> float:
        low, high = self.ticks[0], self.ticks[-1]
        share = (min(max(value, low), high) - low) / (high - low)
        return round(self.left + share * (self.right - self.left), 1)

    def label(self, tick: float) -> str:
        """The label of a tick: ``50 %``, ``+5``, ``0.2``."""
        if self.unit == "percent":
            return f"{tick * 100:.0f} %"
        if self.unit == "points":
            return f"{tick * 100:+.0f}".replace("-", "−") if tick else "0"
        return f"{round(tick, 9):g}".replace("-", "−")


@dataclass
class Drawing:
    """An SVG picture under construction: its elements, and its height so far."""

    width: float
    height: float = 0
    elements: list[str] = field(default_factory=list)

    def text(self, x: float, y: float, text: str, *, css: str = "", anchor: str = "start") -> None:
        """Draw a line of text, vertically centred at ``y``."""
        name = f' class="{css}"' if css else ""
        place = f' text-anchor="{anchor}"' if anchor != "start" else ""
        self.elements.append(f'<text x="{x:g}" y="{y + 4.5:g}"{name}{place}>{escape_xml(text)}</text>')

    def line(self, x1: float, y1: float, x2: float, y2: float, css: str) -> None:
        """Draw a straight line."""
        self.elements.append(f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" class="{css}"/>')

    def mark(self, shape: str, x: float, y: float, css: str, title: str = "") -> None:
        """Draw a shape around a point, with ``title`` as its tooltip."""
        tip = f"<title>{escape_xml(title)}</title>" if title else ""
        self.elements.append(f'<g transform="translate({x:g} {y:g})" class="{css}">{tip}{shape}</g>')

    def svg(self, label: str, *, standalone: bool = False) -> str:
        """The picture as an SVG element; ``standalone`` with its own style, for a file."""
        size = f'width="{self.width:g}" height="{ceil(self.height)}" viewBox="0 0 {self.width:g} {ceil(self.height)}"'
        style = f'<style>{STYLE}</style><rect width="100%" height="100%" fill="{PAPER}"/>' if standalone else ""
        space = ' xmlns="http://www.w3.org/2000/svg"' if standalone else ""
        return f'<svg{space} {size} role="img" aria-label="{escape_xml(label)}">{style}{"".join(self.elements)}</svg>'


def round_ticks(low: float, high: float, most: int = 7) -> tuple[float, ...]:
    """Evenly spaced round numbers that enclose ``low`` and ``high``, at most ``most`` + 1 of them."""
    span = high - low or 1.0
    power = 10.0 ** floor(log10(span / most))
    step = next(step * power for step in _STEPS if span / (step * power) <= most - 1)
    first, last = floor(round(low / step, 6)), ceil(round(high / step, 6))
    if first == last:
        first, last = first - 1, last + 1
    return tuple(round(number * step, 12) for number in range(first, last + 1))


def draw_spark(value: Estimate, control: Estimate | None, *, width: int = 120, height: int = 16) -> str:
    """A share as a small bar on a track from 0 to 100 %, with its interval, and a tick where the control is."""
    drawing, middle = Drawing(width, height), height / 2
    scale = AxisScale((0.0, 1.0), 1, width - 1, "percent")
    drawing.elements.append(f'<rect x="1" y="{middle - 4:g}" width="{width - 2}" height="8" class="track"/>')
    drawing.elements.append(
        f'<rect x="1" y="{middle - 4:g}" width="{scale(value.value) - 1:g}" height="8" class="p0"/>'
    )
    if value.low == value.low:
        drawing.line(scale(value.low), middle, scale(value.high), middle, "whisker")
    if control is not None and control.known:
        drawing.line(scale(control.value), 0, scale(control.value), height, "tick")
    return drawing.svg("").replace('role="img" aria-label=""', 'aria-hidden="true"')
