"""Shares of things counted one by one."""

from __future__ import annotations

import math

from acidtest.core.estimate import Estimate
from acidtest.stats.intervals import clopper_pearson, wilson


def counted_share(count: int, n: int) -> Estimate:
    """So many of ``n`` with Wilson's interval, or Clopper and Pearson's for none and all; NaN for none of nothing."""
    if not n:
        return Estimate(math.nan, note="no pairs")
    interval = (clopper_pearson if count in (0, n) else wilson)(count, n)
    return Estimate(count / n, interval.low, interval.high, n, n, interval.method)
