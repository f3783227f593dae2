"""Charts as data, for the page to lay out and for plots.py and drawings.py to draw.

Rows of estimates with intervals on one axis; bars of shares; curves with bands; grids of shaded cells.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from math import ceil, floor

from acidtest.core.estimate import Estimate

MOST_ROWS = 100
"""A chart of more rows than this is not drawn; the table has them."""

MOST_SYSTEMS = 4
"""More published systems than this share one mark."""

_STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
_MOST_TICKS = 7


@dataclass(frozen=True)
class Row:
    """One line of a chart: an estimate for each series and a number for each published system and group of people.

    ``before`` holds what a series had on the untouched pairs, to be joined with its estimate.
    """

    name: str
    estimates: Mapping[str, Estimate]
    heading: str = ""
    published: Mapping[str, float] = field(default_factory=dict)
    people: Mapping[str, float] = field(default_factory=dict)
    before: Mapping[str, Estimate] = field(default_factory=dict)


@dataclass(frozen=True)
class Axis:
    """What the horizontal axis measures, where it has ticks, and the line to read values against."""

    title: str
    ticks: tuple[float, ...]
    line: float | None = None
    signed: bool = False
    plain: bool = False
    """Whether values are plain numbers, neither shares nor points."""

    def place(self, value: float) -> float:
        """Where a value stands between the ends, from 0 to 1."""
        low, high = self.ticks[0], self.ticks[-1]
        return min(max((value - low) / (high - low), 0.0), 1.0)

    def label(self, tick: float) -> str:
        """A tick as it is written: ``50 %``, ``+5`` points, or the number."""
        if self.plain:
            return f"{round(tick, 6):g}".replace("-", "−")
        if not self.signed:
            return f"{tick * 100:.0f} %"
        return f"{tick * 100:+.0f}".replace("-", "−") if tick else "0"


@dataclass(frozen=True)
class Chart:
    """Rows under their headings; series are models, or pairs of models, in the order of their lanes."""

    rows: tuple[Row, ...]
    axis: Axis
    first: int = 0
    """The number of the first series: one that stands second in another chart keeps its colour and mark."""

    @property
    def series(self) -> tuple[str, ...]:
        """Every series that any row has."""
        return tuple(dict.fromkeys(name for row in self.rows for name in row.estimates))

    @property
    def systems(self) -> tuple[str, ...]:
        """Every published system that any row has."""
        return tuple(dict.fromkeys(name for row in self.rows for name in row.published))

    @property
    def people(self) -> tuple[str, ...]:
        """Every group of people that any row has."""
        return tuple(dict.fromkeys(name for row in self.rows for name in row.people))

    @property
    def marks(self) -> Mapping[str, int]:
        """The number of each published system's mark, and of the one they share when there are too many."""
        if len(self.systems) > MOST_SYSTEMS:
            return {f"{len(self.systems)} published systems": 0}
        return {system: (self.first + number) % MOST_SYSTEMS for number, system in enumerate(self.systems)}

    @property
    def paired(self) -> bool:
        """Whether any row has an estimate from before a change."""
        return any(row.before for row in self.rows)

    @property
    def groups(self) -> tuple[tuple[str, tuple[Row, ...]], ...]:
        """Rows of one heading together, headings in order of appearance."""
        order = {heading: number for number, heading in enumerate(dict.fromkeys(row.heading for row in self.rows))}
        ordered = sorted(self.rows, key=lambda row: order[row.heading])
        return tuple((heading, tuple(rows)) for heading, rows in groupby(ordered, key=lambda row: row.heading))


@dataclass(frozen=True)
class Bar:
    """Shares that add up to 1, of ``n`` things."""

    name: str
    shares: tuple[float, ...]
    n: int
    heading: str = ""


@dataclass(frozen=True)
class Bars:
    """Bars of the same parts, one below the other under their headings."""

    parts: tuple[str, ...]
    rows: tuple[Bar, ...]
    title: str

    @property
    def groups(self) -> tuple[tuple[str, tuple[Bar, ...]], ...]:
        """Bars of one heading together; they stand so already."""
        return tuple((heading, tuple(rows)) for heading, rows in groupby(self.rows, key=lambda row: row.heading))


@dataclass(frozen=True)
class Curve:
    """Estimates along the horizontal axis, and the one to compare them with."""

    points: tuple[tuple[int, Estimate], ...]
    reference: Estimate | None = None


@dataclass(frozen=True)
class Curves:
    """A curve for each series; ``title`` is that of the horizontal axis, ``axis`` the vertical one."""

    series: Mapping[str, Curve]
    axis: Axis
    title: str

    @property
    def ends(self) -> tuple[int, int]:
        """The first and the last place on the horizontal axis."""
        places = [place for curve in self.series.values() for place, _ in curve.points]
        return min(places), max(places)

    @property
    def ticks(self) -> tuple[int, ...]:
        """The places on the horizontal axis that are named."""
        first, last = self.ends
        return tuple(sorted({first, *range(5 * ceil(first / 5) or 5, last + 1, 5), last}))

    def place(self, at: float) -> float:
        """Where a place stands between the ends, from 0 to 1."""
        first, last = self.ends
        return (at - first) / (last - first) if last > first else 0.5


@dataclass(frozen=True)
class Shades:
    """Estimates in rows and columns, a grid for each series, to be shaded by their values."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    series: Mapping[str, Mapping[tuple[str, str], Estimate]]
    title: str

    @property
    def ends(self) -> tuple[float, float]:
        """The lowest and the highest value."""
        known = [one.value for grid in self.series.values() for one in grid.values() if one.known]
        return min(known, default=0.0), max(known, default=1.0)

    def shade(self, value: float) -> float:
        """How strongly to shade a value, from 0 for the highest to 1 for the lowest.

        Values within five points of each other are not driven apart.
        """
        low, high = self.ends
        return (high - value) / max(high - low, 0.05)


Picture = Chart | Bars | Curves | Shades


def rate_axis(chance: float | None = None) -> Axis:
    """Accuracy from nothing to all, with a line at chance."""
    title = "accuracy" if chance is None else f"accuracy; dashed line: chance ({chance * 100:.0f} %)"
    return Axis(title, (0.0, 0.25, 0.5, 0.75, 1.0), chance)


def difference_axis(changes: Sequence[Estimate], published: Iterable[float] = ()) -> Axis:
    """Percentage points around 0, as far as the values, their intervals and published ones reach."""
    known = [number for change in changes if change.known for number in (change.value, change.low, change.high)]
    reached = [number for number in (*known, *published) if number == number]
    low, high = min([0.0, *reached]), max([0.0, *reached])
    step = next((step for step in _STEPS if (high - low) / step <= _MOST_TICKS - 2), _STEPS[-1])
    # Rounding keeps an end that is a multiple of the step, give or take the last bit, from adding a tick.
    first, last = floor(round(low / step, 6)), ceil(round(high / step, 6))
    first, last = (-1, 1) if first == last else (first, last)
    ticks = tuple(number * step for number in range(first, last + 1))
    return Axis("difference in percentage points; dashed line: no difference", ticks, 0.0, signed=True)
