"""Numbers as text: per cent with intervals, percentage points with a sign, p-values that are never 0."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from acidtest.core.document import Cell, Change, Coefficient, Published, Push, PValue, Unit
from acidtest.core.estimate import Estimate

MISSING = "–"
"""The text for a missing number."""


class CellText(NamedTuple):
    """The text of a cell: its value, and its interval or error where it has one."""

    value: str
    detail: str = ""

    @property
    def line(self) -> str:
        """Both on one line: ``81.4 (80.5–82.2)``."""
        return f"{self.value} ({self.detail})" if self.detail else self.value


def cell_text(cell: Cell, unit: Unit) -> CellText:
    """The text of a cell in a column with this unit."""
    if cell is None:
        return CellText(MISSING)
    if isinstance(cell, Estimate):
        return CellText(number_text(cell.value, unit), interval(cell, unit))
    if isinstance(cell, Coefficient):
        return _coefficient_text(cell)
    if isinstance(cell, Change):
        return CellText(
            f"{number_text(cell.before.value, unit)} → {number_text(cell.after.value, unit)}",
            interval(cell.after, unit),
        )
    if isinstance(cell, Push):
        star = "*" if cell.used else ""
        detail = ", ".join(filter(None, (cell.toward, interval(cell.estimate, unit))))
        return CellText(f"{number_text(cell.estimate.value, unit)}{star}", detail)
    if isinstance(cell, Published):
        printed = published(cell.value, unit)
        return CellText(printed if cell.corrected is None else f"{printed} → {published(cell.corrected, unit)}")
    if isinstance(cell, PValue):
        return CellText(p_value(cell.value))
    return CellText(cell if isinstance(cell, str) else number_text(cell, unit))


def number_text(value: float, unit: Unit) -> str:
    """A number in a unit: ``97.8``, ``−1.2``, ``1,024``; a dash for NaN."""
    if value != value:
        return MISSING
    if unit in _UNIT_TEXTS:
        return _UNIT_TEXTS[unit](value)
    # Three digits are enough, but 10,071 must not become 1.01e+04.
    return (f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}").replace("-", "−")


def interval(value: Estimate, unit: Unit) -> str:
    """``97.1–98.3``, ``−1.2 to +3.4``, or nothing where there is no interval."""
    if value.low != value.low:
        return ""
    between = "–" if unit.endswith("percent") else " to "
    return f"{number_text(value.low, unit)}{between}{number_text(value.high, unit)}"


def share(value: float) -> str:
    """A share in per cent with one decimal; a value that is not quite 0 or 1 is never rounded to it."""
    shown = f"{value * 100:.1f}"
    if (shown == "0.0" and value > 0) or (shown == "100.0" and value < 1):
        return f"{min(max(value * 100, 0.01), 99.99):.2f}"
    return shown.replace("-", "−")


def signed(value: float) -> str:
    """A difference of shares in percentage points, with a sign unless it is zero."""
    rounded = round(value * 100, 1)
    return f"{rounded:+.1f}".replace("-", "−") if rounded else "0.0"


def decimal(value: float, digits: int = 3) -> str:
    """``0.612`` or ``−0.050``; a zero has no sign."""
    # Adding 0 turns a rounded −0.000 into 0.000.
    return f"{round(value, digits) + 0.0:.{digits}f}".replace("-", "−")


def whole_percent(value: float) -> str:
    """A share as a whole percentage; a value that would be rounded to 0 or 100 keeps decimals: 99.6 %."""
    rounded = round(value * 100)
    return f"{share(value)} %" if rounded in (0, 100) and value not in (0, 1) else f"{rounded} %"


def whole_points(value: float) -> str:
    """A difference of shares in whole percentage points, with a sign; a small one keeps a decimal: ``+0.4``."""
    return f"{100 * value:+.0f}".replace("-", "−") if round(100 * value) else signed(value).replace("0.0", "0")


def describe_share(estimate: Estimate) -> str:
    """``97.1 % (95 % interval 96.0–98.0, n = 1,000)``, or why it is not known."""
    if not estimate.known:
        return f"not known ({estimate.note})"
    within = interval(estimate, "percent")
    return f"{share(estimate.value)} % ({f'95 % interval {within}, ' if within else ''}n = {estimate.n:,})"


def p_value(p: float) -> str:
    """A p-value, or a dash where the test could not be computed; never 0."""
    if p != p:
        return MISSING
    return "<0.0001" if p < 0.0001 else f"{p:.4f}"


def published(value: float, unit: Unit) -> str:
    """A paper's number with no more digits than the paper gives."""
    if unit in ("percent", "points"):
        return f"{round(value * 100, 1):g}".replace("-", "−")
    return f"{value:g}".replace("-", "−")


def fold_name(name: str, width: int) -> list[str]:
    """A name split into lines of at most ``width``: at spaces, else after punctuation, else anywhere."""
    lines = [""]
    for piece in re.findall(r"\s+|[^\s\-/_:.]*[\-/_:.]+|[^\s\-/_:.]+", name):
        if len(lines[-1]) + len(piece.rstrip()) > width and lines[-1]:
            lines.append("")
        rest = piece if lines[-1] else piece.lstrip()
        while len(rest) > width:
            lines[-1], rest = rest[:width], rest[width:]
            lines.append("")
        lines[-1] += rest
    return [line.rstrip() for line in lines if line.strip()] or [""]


def _coefficient_text(cell: Coefficient) -> CellText:
    if not cell.estimate.known:
        return CellText(MISSING)
    # As many decimals as show two significant digits of the error: at least three, at most six.
    error, digits = cell.error, 3
    if math.isfinite(error):
        digits = next((digits for digits in range(3, 6) if error >= 10.0 ** (1 - digits)), 6)
    value = _fixed_decimals(cell.estimate.value, digits)
    return CellText(f"{value}{cell.stars}", f"± {_fixed_decimals(error, digits)}")


def _fixed_decimals(value: float, digits: int) -> str:
    shown = f"{value:.{digits}f}"
    return shown.replace("-", "−") if float(shown) else shown.replace("-", "")


_UNIT_TEXTS: Mapping[Unit, Callable[[float], str]] = {
    "count": "{:,.0f}".format,
    "percent": share,
    "points": signed,
    "whole percent": lambda value: whole_percent(value).removesuffix(" %"),
    "whole points": whole_points,
    "decimal": decimal,
    "p": p_value,
    "seconds": "{:.1f}".format,
}
