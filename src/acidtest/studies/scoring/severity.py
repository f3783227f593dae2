"""How grave a finding is: one rule of size and certainty for all suites."""

from __future__ import annotations

from collections.abc import Sequence
from math import hypot

from acidtest.core.document import Finding, Severity
from acidtest.core.estimate import Estimate

ORDER: tuple[Severity, ...] = ("severe", "warning", "info", "good")
LARGE = 0.20
SURE = 0.10
"""A large effect is severe only if at least this much of it is sure."""
SMALL = 0.05
ALPHA = 0.05
CLOSE = 0.05
"""Accuracy is near chance if it is within this of guessing, and its interval within twice this."""


def severity(size: Estimate, *, p: float = 0.0) -> Severity:
    """How grave something of this size is; ``p`` is that of its test, where there is one, adjusted for its family.

    Severe: 20 points or more, 10 of which are within the interval. Warning: 5 points or more, and more than chance.
    Info: less, or not more than chance.
    """
    if not size.low > 0 or p >= ALPHA:
        return "info"
    if size.value >= LARGE and size.low >= SURE:
        return "severe"
    return "warning" if size.value >= SMALL else "info"


def gravest(severities: Sequence[Severity]) -> Severity:
    """The gravest of several."""
    return min(severities, key=ORDER.index)


def by_severity(findings: Sequence[Finding]) -> list[Finding]:
    """The findings, gravest first, and the largest first among equally grave ones."""
    return sorted(findings, key=lambda finding: (ORDER.index(finding.severity), -finding.size))


def shortfall(rate: Estimate, chance: float) -> Estimate:
    """How far a rate is below what guessing gives."""
    return Estimate(chance - rate.value, chance - rate.high, chance - rate.low, rate.n, rate.groups, note=rate.note)


def excess(first: Estimate, second: Estimate) -> Estimate:
    """How much larger the first is than the second, with Newcombe's interval for independent estimates."""
    value = first.value - second.value
    low = value - hypot(first.value - first.low, second.high - second.value)
    high = value + hypot(first.high - first.value, second.value - second.low)
    return Estimate(value, low, high, note=first.note or second.note)


def is_near_chance(right: Estimate, chance: float) -> bool:
    """Whether accuracy is within five points of chance, and its whole interval within ten."""
    reach = max(right.high - chance, chance - right.low)
    return right.known and abs(right.value - chance) <= CLOSE and reach <= 2 * CLOSE


def whole(share: float) -> Estimate:
    """A share that was counted, not estimated."""
    return Estimate(share, share, share, note="no pair")


def two_sided_p(size: Estimate) -> float:
    """The p-value of an effect from the lower half of its interval; 1 for effects that are not positive."""
    from scipy.special import ndtr

    reach = size.value - size.low
    if reach <= 0:
        return 0.0 if size.value > 0 else 1.0
    return float(2 * ndtr(-size.value * 1.96 / reach)) if size.value > 0 else 1.0
