"""Bars of text for a terminal: the sure part of an estimate solid, its interval shaded, on one scale for all rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from acidtest.core.document import Reference, Unit
from acidtest.core.estimate import Estimate

SURE, SHADE, ZERO, LIMIT = "█", "▒", "│", "┊"
NARROWEST, WIDEST = 20, 48
"""How many characters bars have at least, else none are drawn, and at most."""


@dataclass(frozen=True)
class TextBars:
    """The line above some bars, which says what they are measured on, and a bar for each row; none is wider."""

    axis: str
    bars: tuple[str, ...]


def draw_bars(estimates: Sequence[Estimate | None], width: int, *, unit: Unit, reference: Reference | None) -> TextBars:
    """A bar for each estimate, from zero to its value, ``width`` characters at most; an unknown one has an empty bar.

    Shares have a scale to 100 %, other values one that ends at the farthest end of an interval.
    """
    ends = [end for estimate in estimates if estimate for end in _ends(estimate)]
    is_share, is_difference = unit.endswith("percent"), unit.endswith("points")
    high = 1.0 if is_share else max([*ends, reference.value if reference else 0.0, 1e-9])
    low = 0.0 if is_share else min([*ends, 0.0])
    left = round((width - 1) * -low / (high - low))
    scale = _Scale(left, width - 1 - left, low, high)
    limit = scale.place(reference.value) if reference else -1
    label = f"{100 * high:.0f}" if is_share else f"{100 * high:+.0f}" if is_difference else f"{high:.2g}"
    least = f"{100 * low:+.0f}".replace("-", "−") if is_difference and low < 0 else ""
    axis = scale.axis(label, reference.label if reference else "", limit, least=least)
    return TextBars(axis, tuple(scale.bar(estimate, limit) for estimate in estimates))


@dataclass(frozen=True)
class _Scale:
    """Characters to the left and right of the sign for zero, and the values at both ends."""

    left: int
    right: int
    low: float
    high: float

    def place(self, value: float) -> int:
        """The character that a value falls into."""
        if value < 0:
            return self.left - 1 - min(int(value / self.low * self.left), self.left - 1) if self.left else 0
        return self.left + 1 + min(int(value / self.high * self.right), self.right - 1)

    def bar(self, estimate: Estimate | None, limit: int) -> str:
        """The bar of an estimate, and a sign at ``limit`` where the bar does not reach."""
        signs = [LIMIT if place == limit else " " for place in range(self.left + 1 + self.right)]
        signs[self.left] = ZERO
        if estimate is not None and estimate.known:
            low, high = _ends(estimate)
            sure = low if low > 0 else high if high < 0 else 0.0
            for start, end, sign in ((0.0, sure, SURE), (low, high, SHADE)):
                if start != end:
                    # A bar to the left begins at the sign for zero, not at the first character to its right.
                    first, last = sorted(
                        self.left if side == 0 and min(start, end) < 0 else self.place(side) for side in (start, end)
                    )
                    signs[first : last + 1] = sign * (last + 1 - first)
            signs[self.left] = ZERO
        return "".join(signs).rstrip()

    def axis(self, label: str, limit_label: str, limit: int, *, least: str) -> str:
        """Zero, the reference with as many words of its label as there is room for, and the values at both ends."""
        signs = [" "] * (self.left + 1 + self.right)
        if len(least) < self.left:
            signs[: len(least)] = least
        signs[self.left] = "0"
        signs[len(signs) - len(label) :] = label
        words, room = limit_label.split(), len(signs) - len(label) - 1
        while words and limit + 1 + len(" ".join(words)) > room:
            words.pop()
        text = LIMIT + " ".join(words)
        if self.left < limit and limit + len(text) <= room:
            signs[limit : limit + len(text)] = text
        return "".join(signs)


def _ends(estimate: Estimate) -> tuple[float, float]:
    """The ends of the interval; the value itself where there is none."""
    if not estimate.known:
        return 0.0, 0.0
    has_interval = estimate.low == estimate.low
    return (estimate.low, estimate.high) if has_interval else (estimate.value, estimate.value)
