"""The Bayesian network of Joshi et al. (2020), appendix B: every category is a parent of the node *correct*.

The network has a chance of being right for each of the 2^k configurations of its k categories. Few of them occur in any
file; what the others are given decides the estimates, so it is said:

- prior ``bdeu``: an equivalent sample of ``size`` rows, spread evenly over all configurations and both outcomes, so
  that an unseen configuration is right with chance 1/2; ``base-rate``: the same with both outcomes in proportion to
  accuracy, so that it is right as often as the whole; ``laplace``: one row for each outcome of each configuration;
  ``none``: relative frequencies, unseen configurations being left out of the sum.
- weights ``network``: as the network is drawn categories are independent, so that configurations weigh what chances of
  single categories multiply to, seen or not; ``observed``: configurations weigh as many rows as they have.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from scipy.special import betaincinv

from acidtest.core.errors import AcidtestError, UnknownNameError
from acidtest.core.estimate import Estimate

Flags = npt.NDArray[np.bool_]

PRIORS = ("bdeu", "base-rate", "laplace", "none")
METHOD = "posterior of the network, weights held fixed"


@dataclass(frozen=True)
class Prior:
    """What is believed of a configuration before any row is seen; ``size`` counts for bdeu and base-rate only."""

    name: str = "bdeu"
    size: float = 10.0

    def __post_init__(self) -> None:
        if self.name not in PRIORS:
            raise UnknownNameError("prior", self.name, PRIORS, " (--prior)")
        if not 0 < self.size < math.inf:
            raise AcidtestError(f"--sample-size is a number of rows above 0, not {self.size:g}")

    @property
    def has_size(self) -> bool:
        return self.name in ("bdeu", "base-rate")

    def describe(self) -> str:
        """The prior as a phrase for captions: what it takes unseen configurations for."""
        return {
            "bdeu": f"BDeu, equivalent sample size {self.size:g}: unseen configurations are right with chance 1/2",
            "base-rate": f"equivalent sample size {self.size:g}: unseen configurations are right as often as the whole",
            "laplace": "one row of each outcome in every configuration: unseen ones are right with chance 1/2",
            "none": "none: relative frequencies, unseen configurations left out",
        }[self.name]


@dataclass(frozen=True)
class Chance:
    """P(correct = 1 | category = 1), with configurations weighted in both ways, and the weight of unseen ones."""

    network: Estimate
    observed: Estimate
    unseen: float = field(metadata={"json": "unseen_weight"})


@dataclass(frozen=True)
class Network:
    """The estimates for each category, and how many of the possible configurations occur."""

    prior: str
    sample_size: float | None
    """Rows that the prior is worth, for priors that have a size."""
    prior_phrase: str = field(metadata={"json": "prior_told"})
    """The prior as a phrase."""
    possible: int = field(metadata={"json": "configurations"})
    seen: int
    chances: Mapping[str, Chance] = field(metadata={"json": "categories"})


def network(categories: Mapping[str, Flags], right: Flags, prior: Prior | None = None) -> Network:
    """The chance of being right given each category, from a network learnt from the rows.

    Intervals are those of the posterior of the chances, matched by a Beta distribution of the same mean and variance;
    weights of configurations are fixed, and rows are assumed independent.
    """
    prior = prior or Prior()
    marks = np.column_stack(list(categories.values())) if categories else np.zeros((right.size, 0), dtype=np.bool_)
    configurations, codes = np.unique(marks, axis=0, return_inverse=True)
    sizes = np.bincount(codes.ravel(), minlength=len(configurations)).astype(np.float64)
    wins = np.bincount(codes.ravel(), weights=right, minlength=len(configurations)).astype(np.float64)
    # The rows that the prior adds to each category, and to each configuration.
    extra = {"laplace": 2.0, "none": 0.0}.get(prior.name, prior.size)
    added = math.ldexp(prior.size, -len(categories)) if prior.has_size else extra
    unseen_mean = float(wins.sum() / sizes.sum()) if prior.name == "base-rate" and right.size else 0.5
    means = (wins + added * unseen_mean) / (sizes + added)
    variances = means * (1 - means) / (sizes + added + 1)
    marginals = (marks.sum(axis=0, dtype=np.float64) + extra / 2) / max(right.size + extra, 1)

    def chance(number: int) -> Chance:
        with_it = configurations[:, number]
        n = int(sizes[with_it].sum())
        if not n:
            none = Estimate(math.nan, note="no rows of this category")
            return Chance(none, none, math.nan)
        seen = sizes[with_it] / n
        observed = _estimate(float(seen @ means[with_it]), float(seen**2 @ variances[with_it]), n)
        # As the network is drawn, the other categories are independent: chances of single ones multiply.
        chances = np.delete(marginals, number)
        shares = np.where(np.delete(configurations[with_it], number, axis=1), chances, 1 - chances).prod(axis=1)
        unseen = max(0.0, 1 - float(shares.sum()))
        if prior.name == "none":
            shares, value, variance = shares / shares.sum(), 0.0, 0.0
        else:
            # The sum of squared weights of all 2^k configurations, of which only those seen are listed.
            squares = float((chances**2 + (1 - chances) ** 2).prod())
            rest = max(0.0, squares - float((shares**2).sum()))
            value, variance = unseen * unseen_mean, rest * unseen_mean * (1 - unseen_mean) / (added + 1)
        value += float(shares @ means[with_it])
        variance += float(shares**2 @ variances[with_it])
        return Chance(_estimate(value, variance, n), observed, unseen)

    estimates = {name: chance(number) for number, name in enumerate(categories)}
    size = prior.size if prior.has_size else None
    return Network(prior.name, size, prior.describe(), 2 ** len(categories), len(configurations), estimates)


def _estimate(value: float, variance: float, n: int) -> Estimate:
    value = min(max(value, 0.0), 1.0)
    rows = value * (1 - value) / variance - 1 if variance > 0 else 0.0
    if rows <= 0:
        return Estimate(value, n=n, groups=n, method=METHOD, note="no spread to make an interval of")
    low, high = (float(betaincinv(value * rows, (1 - value) * rows, tail)) for tail in (0.025, 0.975))
    return Estimate(value, low, high, n, n, METHOD)
