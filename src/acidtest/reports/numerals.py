"""Numbers as people write them: per cent with intervals, percentage points with a sign, p-values that are never 0."""

from __future__ import annotations

from acidtest.core.estimate import Estimate

NONE = "–"
"""What stands where there is no number."""


def percent(value: Estimate | None) -> str:
    """``97.8``, or a dash where there is no value."""
    return share(value.value) if value and value.known else NONE


def interval(value: Estimate | None) -> str:
    """``97.1–98.3``, or nothing where there is no interval."""
    return f"{share(value.low)}–{share(value.high)}" if value and value.low == value.low else ""


def share(value: float | None) -> str:
    """A share in per cent with one decimal, without its sign for per cent; a dash for none."""
    if value is None or value != value:
        return NONE
    shown = f"{value * 100:.1f}"
    # What is not quite nothing or all does not become so by rounding: 99.99, not 100.0.
    if (shown == "0.0" and value > 0) or (shown == "100.0" and value < 1):
        return f"{min(max(value * 100, 0.01), 99.99):.2f}"
    return shown


def published(value: float | None) -> str:
    """A paper's number in per cent, with no more digits than the paper gives; ``100 → 93.1`` where it was corrected."""
    if value is None:
        return NONE
    shown = f"{round(value * 100, 1):g}"
    printed = getattr(value, "printed", None)
    return shown if printed is None else f"{round(printed * 100, 1):g} → {shown}"


def signed(value: float | None) -> str:
    """Percentage points with a sign, but no sign on a zero; a dash for none."""
    if value is None or value != value:
        return NONE
    rounded = round(value * 100, 1)
    return f"{rounded:+.1f}".replace("-", "−") if rounded else "0.0"


def signed_interval(change: Estimate | None) -> str:
    """``−1.2 to +3.4``, or nothing where there is no interval."""
    return f"{signed(change.low)} to {signed(change.high)}" if change and change.low == change.low else ""


def points(change: Estimate) -> str:
    """A difference in percentage points with its interval, or why there is none."""
    if not change.known:
        return f"{NONE} ({change.note})"
    within = signed_interval(change)
    return f"{signed(change.value)} ({within})" if within else signed(change.value)


def p_value(p: float | None) -> str:
    """A p-value, or a dash where the test could not be computed; never 0."""
    if p is None or p != p:
        return NONE
    return "<0.0001" if p < 0.0001 else f"{p:.4f}"


def counted(count: int, noun: str) -> str:
    """``1 row``, ``2,000 rows``."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
