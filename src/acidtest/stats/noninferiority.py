"""Is a loss between two models on the same rows shown to be below a margin, shown to be above it, or neither?

A row is newly wrong if only the first model gets it right, newly right if only the second does; the loss is the
difference of their shares. Rows that come in groups count as an effective number of independent rows, which depends
on the sizes of the groups alone.

- The interval of a loss is Tango's (1998), which inverts the score test: that models never differed so far does not
  show that they never will.
- Both tests are exact and unconditional: p is the chance of a score as extreme as the observed one if the loss is the
  margin, at the share of discordant rows where that chance is greatest. The share is searched only where it is
  plausible (Berger and Boos 1994), and the chance that it lies elsewhere is added. Tango's interval alone would let a
  model that loses the margin pass in up to 6.6 % of cases, where few rows are discordant.
- p is at least that of the binomial test given the number of discordant rows. If models differ on the same rows always
  and on others never, that number does not vary, and without this a model that loses the margin passes in up to 7.7 %.

``benchmarks/gates.py`` measures how often a gate of these decides wrongly.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from acidtest.stats.bootstrap import Interval
from acidtest.stats.resampling import Codes, Floats

CONFIDENCE = 0.95
"""One-sided: of models that lose exactly the margin, at most 5 % pass."""

POWER = 0.8
"""The chance that ``pairs_needed`` gives to a model that loses nothing."""

_UNLIKELY = 1e-5
"""The chance that the share of discordant rows lies outside the range that is searched."""
_SHARES = 16
"""Shares of discordant rows that are tried; the chance of a score varies slowly with the share."""
_FARTHEST = 6.0
"""Standard deviations beyond which numbers of discordant rows are left out; their chance is added to p."""
_STEPS, _REFINEMENTS = 65, 6
"""How finely the ends of an interval are searched: the range becomes a 64th with every refinement."""
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class PairedCounts:
    """Rows that two models answered; fractions where rows in groups are scaled to their effective number."""

    newly_wrong: float
    newly_right: float
    rows: float

    @property
    def loss(self) -> float:
        """Accuracy of the first model minus that of the second; NaN without rows."""
        return (self.newly_wrong - self.newly_right) / self.rows if self.rows else math.nan

    @property
    def discordance(self) -> float:
        """Share of rows that exactly one model gets right; NaN without rows."""
        return (self.newly_wrong + self.newly_right) / self.rows if self.rows else math.nan

    def scaled(self, rows: float) -> PairedCounts:
        """The same shares of another number of rows."""
        factor = rows / self.rows if self.rows else 0.0
        return PairedCounts(self.newly_wrong * factor, self.newly_right * factor, rows)


def effective_rows(groups: Codes) -> float:
    """Independent rows that grouped rows are worth: the number of rows over the size of the largest group.

    The code of every row's group is all that is used, so the number is known before any prediction. It is the least
    that the rows can be worth: groups of the largest size whose rows always agree carry all the losses. An average
    size, such as Kish's Σ size² / Σ size, is too small if only large groups are lost. 0 without rows.
    """
    sizes = np.unique(groups, return_counts=True)[1]
    return float(sizes.sum() / sizes.max()) if sizes.size else 0.0


def score(newly_wrong: npt.ArrayLike, newly_right: npt.ArrayLike, rows: npt.ArrayLike, margin: npt.ArrayLike) -> Floats:
    """Tango's score of a loss against a margin: about standard normal if the true loss is the margin.

    0 without rows, and where no row is discordant and the margin is 0.
    """
    parts = (np.asarray(part, dtype=np.float64) for part in (newly_wrong, newly_right, rows, margin))
    wrong, right, n, most = np.broadcast_arrays(*parts)
    away, error = wrong - right - n * most, np.sqrt(n * _null_variance(wrong, right, n, most))
    unbounded = np.where(np.abs(away) > _ROUNDING, np.copysign(np.inf, away), 0.0)
    return np.asarray(np.divide(away, error, out=unbounded, where=error > _ROUNDING))


def _null_variance(wrong: Floats, right: Floats, n: Floats, margin: Floats) -> Floats:
    """Variance of a row's loss by the shares that are most likely if the true loss is the margin."""
    linear = (2 * n - wrong + right) * margin - wrong - right
    root = np.sqrt(np.maximum(linear**2 + 8 * n * right * margin * (1 - margin), 0.0))
    share_right = np.divide(root - linear, 4 * n, out=np.zeros_like(linear), where=n > 0)
    return np.maximum(2 * share_right + margin * (1 - margin), 0.0)


def loss_interval(counts: PairedCounts, *, confidence: float = CONFIDENCE) -> Interval:
    """Tango's score interval of a loss; each end is one-sided, so that 95 % makes an interval of 90 %.

    NaN without rows.
    """
    from scipy.special import ndtri

    method = f"Tango's score, each end at {100 * confidence:g} %"
    if not counts.rows > 0:
        return Interval(math.nan, math.nan, method)
    reach, ends = float(ndtri(confidence)), []
    for sign, farthest in ((1, -1.0), (-1, 1.0)):
        inside, outside = counts.loss, farthest
        for _ in range(_REFINEMENTS):
            losses = np.linspace(inside, outside, _STEPS)
            beyond = sign * score(counts.newly_wrong, counts.newly_right, counts.rows, losses) >= reach
            place = int(beyond.argmax()) if beyond.any() else _STEPS - 1
            inside, outside = float(losses[max(place - 1, 0)]), float(losses[place])
        ends.append(outside)
    return Interval(ends[0], ends[1], method)


def p_above(counts: PairedCounts, margin: float) -> float:
    """p of the exact test that the true loss exceeds the margin; 1 with less than one effective row."""
    return max(_exact_p(counts, margin, above=True), _p_given_discordant(counts, margin, above=True))


def p_below(counts: PairedCounts, margin: float) -> float:
    """p of the exact test that the true loss is below the margin; 1 with less than one effective row."""
    return max(_exact_p(counts, margin, above=False), _p_given_discordant(counts, margin, above=False))


def is_below(counts: PairedCounts, margin: float, *, confidence: float = CONFIDENCE) -> bool:
    """Whether the loss is shown to be below the margin: by the upper end of Tango's interval and by the exact test."""
    from scipy.special import ndtri

    if not counts.rows > 0:
        return False
    observed = float(score(counts.newly_wrong, counts.newly_right, counts.rows, margin))
    return observed < -float(ndtri(confidence)) and p_below(counts, margin) <= 1 - confidence


def equal_passes(discordance: float, rows: float, margin: float, *, confidence: float = CONFIDENCE) -> float:
    """The chance that a model that loses nothing is shown to lose less than the margin, by Tango's interval.

    ``discordance`` is the share of ``rows``, independent ones, that exactly one of the models gets right.
    """
    from scipy.special import ndtri

    n = math.floor(rows + _ROUNDING)
    if n < 1 or math.isnan(discordance):
        return 0.0
    shares = np.array([min(max(discordance, 0.0), 1.0)])
    chances, _ = _chances(-float(ndtri(confidence)), n, margin, shares, np.full((1, 1), 0.5), above=False)
    return float(chances[0])


def _exact_p(counts: PairedCounts, margin: float, *, above: bool) -> float:
    """The greatest chance of a score at least as extreme as the observed one if the loss is the margin.

    A fractional number of rows is rounded down; the observed score stays as it is.
    """
    n = math.floor(counts.rows + _ROUNDING)
    if n < 1:
        return 1.0
    shares = _plausible_shares(counts, margin)
    observed = float(score(counts.newly_wrong, counts.newly_right, counts.rows, margin))
    # Given that a row is discordant, it is newly wrong with this chance.
    wrong = np.minimum((1 + margin / shares[:, None]) / 2, 1.0) if margin > 0 else np.full((shares.size, 1), 0.5)
    chances, left_out = _chances(observed, n, margin, shares, wrong, above=above)
    return min(1.0, float((chances + left_out).max()) + _UNLIKELY)


def _p_given_discordant(counts: PairedCounts, margin: float, *, above: bool) -> float:
    """The chance of as many newly wrong rows (or as few) if the loss is the margin and as many rows differ always.

    0 for a test below the margin if so few rows differ that the loss would be below it even if all were newly wrong.
    """
    from scipy.special import betainc

    wrong, discordant = counts.newly_wrong, counts.newly_wrong + counts.newly_right
    if discordant <= margin * counts.rows:
        return 1.0 if above else 0.0
    chance = (1 + margin * counts.rows / discordant) / 2
    if above:
        return float(betainc(wrong, discordant - wrong + 1, chance)) if wrong > 0 else 1.0
    return float(betainc(discordant - wrong, wrong + 1, 1 - chance)) if wrong < discordant else 1.0


def _chances(
    observed: float, n: int, margin: float, shares: Floats, wrong: Floats, *, above: bool
) -> tuple[Floats, Floats]:
    """The chance of a score at least (or at most) as large as ``observed``, for every share of discordant rows.

    ``wrong`` is the chance that a discordant row is newly wrong. The second array is the chance of numbers of
    discordant rows that are so unlikely that they are not summed over.
    """
    from scipy.special import betainc, gammaln, xlog1py, xlogy

    spread = _FARTHEST * np.sqrt(n * shares * (1 - shares))
    first = max(0, math.floor(float((n * shares - spread).min())) - 2)
    last = min(n, math.ceil(float((n * shares + spread).max())) + 10)
    discordant = np.arange(first, last + 1, dtype=np.float64)
    least = _least_newly_wrong(discordant, n, margin, observed, above=above)
    tails = betainc(np.maximum(least, 1.0), np.maximum(discordant - least + 1, _ROUNDING), wrong)
    at_least = np.where(least <= 0, 1.0, np.where(least > discordant, 0.0, tails))
    ways = gammaln(n + 1) - gammaln(discordant + 1) - gammaln(n - discordant + 1)
    weights = np.exp(ways + xlogy(discordant, shares[:, None]) + xlog1py(n - discordant, -shares[:, None]))
    chances = (weights * (at_least if above else 1 - at_least)).sum(axis=1)
    return chances, np.maximum(1 - weights.sum(axis=1), 0.0)


def _plausible_shares(counts: PairedCounts, margin: float) -> Floats:
    """Shares of discordant rows within their exact interval, and no less than the margin."""
    from scipy.special import betaincinv

    discordant, rest = counts.newly_wrong + counts.newly_right, counts.rows - counts.newly_wrong - counts.newly_right
    low = float(betaincinv(discordant, rest + 1, _UNLIKELY / 2)) if discordant > _ROUNDING else 0.0
    high = float(betaincinv(discordant + 1, rest, 1 - _UNLIKELY / 2)) if rest > _ROUNDING else 1.0
    low = max(low, margin)
    return np.asarray(np.linspace(math.sqrt(low), math.sqrt(max(low, high)), _SHARES) ** 2)


def _least_newly_wrong(discordant: Floats, n: int, margin: float, observed: float, *, above: bool) -> Floats:
    """For each number of discordant rows, the fewest newly wrong ones whose score reaches the observed one.

    The score rises with the newly wrong rows. For a test below the margin: the fewest whose score exceeds it.
    """
    threshold = observed - _ROUNDING if above else observed + _ROUNDING
    low, high = np.full_like(discordant, -1.0), discordant + 1
    for _ in range(math.ceil(math.log2(float(discordant[-1]) + 2)) + 1):
        middle = np.floor((low + high) / 2)
        reached = (middle >= 0) & (score(middle, discordant - middle, n, margin) >= threshold)
        high, low = np.where(reached, middle, high), np.where(reached, low, middle)
    return high


def pairs_needed(
    discordance: float, margin: float, *, confidence: float = CONFIDENCE, power: float = POWER
) -> int | None:
    """Independent rows with which a model that loses nothing passes with chance ``power``; None if no number would do.

    By the score test's variances with and without the loss (Nam 1997), and at least as many as a model needs that
    never differs.
    """
    from scipy.special import ndtri

    if not margin > 0 or math.isnan(discordance):
        return None
    half, one, most = (np.asarray(part, dtype=np.float64) for part in (discordance / 2, 1.0, margin))
    null = float(_null_variance(half, half, one, most))
    wanted = (float(ndtri(confidence)) * math.sqrt(null) + float(ndtri(power)) * math.sqrt(discordance)) / margin
    never_differing = math.log(1 - confidence) / math.log1p(-margin) if margin < 1 else 1.0
    return math.ceil(max(wanted**2, never_differing))


def rate_p_above(successes: float, rows: float, floor: float) -> float:
    """p of the exact test that a rate exceeds a floor; rows may be fractional (Korn and Graubard 1998)."""
    from scipy.special import betainc

    return float(betainc(successes, rows - successes + 1, floor)) if successes > 0 else 1.0


def rate_p_below(successes: float, rows: float, floor: float) -> float:
    """p of the exact test that a rate is below a floor; rows may be fractional."""
    return rate_p_above(rows - successes, rows, 1 - floor)
