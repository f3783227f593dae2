"""Models of a 0/1 outcome, such as being right: logistic regression, linear discriminant, and a Bayesian network.

The first two are textbook methods that need no extra packages: Newton's method with Wald errors, and Fisher's
discriminant of two classes. Columns that cannot be estimated (constant ones, combinations of others, perfect
predictors) get NaN and a reason, and the others are estimated without them.

In the network of Joshi et al. (2020), appendix B, every category is a parent of the node *correct*. It has a chance of
being right for each of the 2^k configurations of its k categories. Few of them occur in any file, so the estimates
depend on what is assumed of the others:

- prior ``bdeu``: an equivalent sample of ``size`` rows, spread evenly over all configurations and both outcomes, so
  that an unseen configuration is right with chance 1/2; ``base-rate``: the same with both outcomes in proportion to
  accuracy, so that it is right as often as the whole; ``laplace``: one row for each outcome of each configuration;
  ``none``: relative frequencies, unseen configurations being left out of the sum.
- weights ``network``: categories are independent in the network, so the weight of a configuration, seen or not, is the
  product of the chances of its categories; ``observed``: the weight of a configuration is its number of rows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from acidtest.core.errors import AcidtestError, UnknownNameError
from acidtest.core.estimate import Estimate

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Codes = npt.NDArray[np.int64]

LOGISTIC = "logistic regression, Wald"
DISCRIMINANT = "linear discriminant, infinitesimal jackknife"
NETWORK = "posterior of the network, weights held fixed"

_DEPENDENT = 1e-7
"""A column of length 1 whose remainder after projection on the others is shorter than this depends on them."""
_MOST_STEPS = 30
_ZERO = 1e-9


@dataclass(frozen=True)
class Fit:
    """Coefficients of some columns, with standard errors; NaN for those that ``dropped`` gives a reason for.

    ``errors`` assume independent rows, ``group_errors`` independent groups. ``rows`` is how many were used.
    """

    names: tuple[str, ...]
    coefficients: Floats
    errors: Floats
    group_errors: Floats
    rows: int
    groups: int
    method: str
    explained: float = math.nan
    """McFadden's share of the log likelihood that the columns explain; NaN for a discriminant."""
    dropped: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def two_sided(coefficients: Floats, errors: Floats) -> Floats:
    """Wald's p-values, two-sided: each coefficient over its standard error, compared with a standard normal."""
    from scipy.special import ndtr

    return np.asarray(2 * ndtr(-np.abs(coefficients / errors)), dtype=np.float64)


def logistic(columns: Mapping[str, npt.ArrayLike], outcome: npt.ArrayLike, *, groups: Codes | None = None) -> Fit:
    """Logistic regression of an outcome of 0 and 1 on columns and a constant, by maximum likelihood.

    If a combination of columns separates the outcomes, the coefficients of those have no finite estimate; the others
    are estimated from the rows that it leaves undecided, which is the limit of maximum likelihood.
    """
    from scipy.special import expit, logit

    names, matrix, right = _table(columns, outcome)
    codes = np.arange(right.size) if groups is None else np.asarray(groups)
    dropped = {} if len(np.unique(right)) == 2 else dict.fromkeys(names, _one_outcome(right))
    notes: list[str] = []
    while True:
        open_ = [number for number, name in enumerate(names) if name not in dropped]
        dropped |= dependent([names[number] for number in open_], matrix[:, open_])
        kept = [number for number in open_ if names[number] not in dropped]
        if not kept or len(np.unique(right)) < 2:
            dropped |= {names[number]: "no rows are left to estimate it from" for number in kept}
            return _fit(names, [], (), groups=codes, method=LOGISTIC, dropped=dropped, notes=tuple(notes))
        centre, scale = matrix[:, kept].mean(axis=0), matrix[:, kept].std(axis=0)
        design = np.column_stack([np.ones(right.size), (matrix[:, kept] - centre) / scale])
        coefficients, covariance, converged = _newton(design, right)
        parting = None if converged else separation(design, right)
        if parting is None:
            break
        dropped |= {
            names[number]: f"it parts right from wrong: no finite estimate (towards {'+' if size > 0 else '−'}∞)"
            for number, size in zip(kept, parting[1:], strict=True)
            if abs(size) > _ZERO
        }
        undecided = np.abs(design @ parting) <= _ZERO
        decided = right.size - int(undecided.sum())
        notes.append(f"{decided:,} rows are decided by columns that part right from wrong, and left out")
        matrix, right, codes = matrix[undecided], right[undecided], codes[undecided]
    if not converged:
        notes.append(f"the likelihood was not at its peak after {_MOST_STEPS} steps: take errors with caution")
    odds = design @ coefficients
    influences = ((right - expit(odds))[:, None] * design) @ covariance
    slopes, errors = coefficients[1:] / scale, np.sqrt(np.diag(covariance))[1:] / scale
    return _fit(
        names,
        kept,
        (slopes, errors, _jackknife(influences, codes)[1:] / scale),
        groups=codes,
        method=LOGISTIC,
        dropped=dropped,
        notes=tuple(notes),
        explained=1 - _log_likelihood(odds, right) / _log_likelihood(np.full(right.size, logit(right.mean())), right),
    )


def discriminant(columns: Mapping[str, npt.ArrayLike], outcome: npt.ArrayLike, *, groups: Codes | None = None) -> Fit:
    """Fisher's discriminant of the two outcomes: the inverse pooled covariance times the difference of the means.

    Coefficients are those of scikit-learn's. Errors are the infinitesimal jackknife's, over rows and over groups: how
    much the coefficients change with the weight of one.
    """
    names, matrix, right = _table(columns, outcome)
    rows = np.arange(right.size)
    codes = rows if groups is None else np.asarray(groups)
    counts = np.array([(right == 0).sum(), (right == 1).sum()])
    if counts.min() < 1:
        dropped = dict.fromkeys(names, _one_outcome(right))
        return _fit(names, [], (), groups=codes, method=DISCRIMINANT, dropped=dropped)
    dropped = dependent(names, matrix)
    means = np.array([matrix[right == outcome].mean(axis=0) for outcome in (0, 1)])
    centred = matrix - means[right.astype(np.intp)]
    open_ = [number for number, name in enumerate(names) if name not in dropped]
    within = dependent([names[number] for number in open_], centred[:, open_])
    dropped |= dict.fromkeys(within, "it does not vary by itself among rows of the same outcome")
    kept = [number for number in open_ if names[number] not in dropped]
    if not kept:
        return _fit(names, [], (), groups=codes, method=DISCRIMINANT, dropped=dropped)
    centred = centred[:, kept]
    inverse = np.linalg.inv(centred.T @ centred / right.size)
    weights = inverse @ (means[1] - means[0])[kept]
    towards = np.where(right == 1, 1 / counts[1], -1 / counts[0]) - centred @ weights / right.size
    influences = (towards[:, None] * centred) @ inverse + weights / right.size
    estimates = weights, _jackknife(influences, rows), _jackknife(influences, codes)
    return _fit(names, kept, estimates, groups=codes, method=DISCRIMINANT, dropped=dropped)


def dependent(names: Sequence[str], matrix: Floats) -> dict[str, str]:
    """Columns that depend linearly on a constant and the columns before them, with the reason for each."""
    if not len(matrix):
        return dict.fromkeys(names, "there are no rows")
    reasons: dict[str, str] = {}
    centred = matrix - matrix.mean(axis=0)
    basis: list[Floats] = []
    kept: list[int] = []
    for number, name in enumerate(names):
        length = float(np.linalg.norm(centred[:, number]))
        if length <= _DEPENDENT * max(1.0, float(np.linalg.norm(matrix[:, number]))):
            reasons[name] = f"it is {matrix[0, number]:g} in every row"
            continue
        rest = centred[:, number] / length
        for _ in range(2):
            # The second pass removes what rounding left of the first.
            for earlier in basis:
                rest = rest - (earlier @ rest) * earlier
        left = float(np.linalg.norm(rest))
        if left < _DEPENDENT:
            shares = np.linalg.lstsq(centred[:, kept], centred[:, number], rcond=None)[0]
            others = [names[kept[place]] for place in np.flatnonzero(np.abs(shares) > 1e-6)]
            reasons[name] = f"it follows from {', '.join(others)}"
            continue
        basis.append(rest / left)
        kept.append(number)
    return reasons


def separation(design: Floats, right: Floats) -> Floats | None:
    """A combination of columns that separates the outcomes, wholly or except for ties; None if there is none.

    Konis (2007): the linear programme that pushes every row to its own side as far as it goes, within bounds.
    """
    from scipy.optimize import linprog

    signed = np.where(right == 1, 1.0, -1.0)[:, None] * design
    signed /= np.maximum(np.abs(signed).max(axis=0), 1e-300)
    solution = linprog(-signed.sum(axis=0), A_ub=-signed, b_ub=np.zeros(len(signed)), bounds=(-1, 1), method="highs")
    if solution.x is None or solution.fun is None or solution.fun > -1e-6:
        return None
    direction = solution.x / np.maximum(np.abs(design).max(axis=0), 1e-300)
    return np.asarray(np.where(np.abs(direction) > _ZERO, direction, 0.0), dtype=np.float64)


def _table(columns: Mapping[str, npt.ArrayLike], outcome: npt.ArrayLike) -> tuple[list[str], Floats, Floats]:
    right = np.asarray(outcome, dtype=np.float64)
    values = [np.asarray(column, dtype=np.float64) for column in columns.values()]
    return list(columns), np.column_stack(values) if values else np.zeros((right.size, 0)), right


def _newton(design: Floats, right: Floats) -> tuple[Floats, Floats, bool]:
    """Coefficients, their covariance, and whether Newton's method converged; steps are halved until they go uphill."""
    from scipy.special import expit

    now = np.zeros(design.shape[1])
    height = _log_likelihood(design @ now, right)
    converged = False
    covariance = np.full((now.size, now.size), math.nan)
    for _ in range(_MOST_STEPS):
        chance = expit(design @ now)
        try:
            covariance = np.linalg.inv((design * (chance * (1 - chance))[:, None]).T @ design)
        except np.linalg.LinAlgError:
            break
        step = covariance @ (design.T @ (right - chance))
        if converged or not np.isfinite(step).all():
            break
        for share in 0.5 ** np.arange(12):
            risen = _log_likelihood(design @ (now + share * step), right)
            if risen >= height:
                now, height = now + share * step, risen
                break
        # One more round gives the covariance at the peak itself.
        converged = bool(np.abs(step).max() < 1e-8)
    return now, covariance, converged


def _log_likelihood(odds: Floats, right: Floats) -> float:
    from scipy.special import log_expit

    return float(np.where(right == 1, log_expit(odds), log_expit(-odds)).sum())


def _jackknife(influences: Floats, groups: Codes) -> Floats:
    """Standard errors from what each row adds to coefficients, rows of a group together; NaN for a single group."""
    _, codes = np.unique(groups, return_inverse=True)
    count = int(codes.max(initial=-1)) + 1
    if count < 2:
        return np.full(influences.shape[1], math.nan)
    sums = np.zeros((count, influences.shape[1]))
    np.add.at(sums, codes, influences)
    return np.asarray(np.sqrt((sums**2).sum(axis=0) * count / (count - 1)), dtype=np.float64)


def _fit(
    names: Sequence[str],
    kept: Sequence[int],
    estimates: Sequence[Floats],
    *,
    groups: Codes,
    method: str,
    dropped: Mapping[str, str],
    notes: tuple[str, ...] = (),
    explained: float = math.nan,
) -> Fit:
    """The fit with a place for every column, NaN where it was dropped; ``estimates``: coefficients and both errors."""
    placed = np.full((3, len(names)), math.nan)
    if kept:
        placed[:, list(kept)] = estimates
    slopes, errors, group_errors = placed
    counts = groups.size, int(np.unique(groups).size)
    return Fit(tuple(names), slopes, errors, group_errors, *counts, method, explained, dict(dropped), notes)


def _one_outcome(right: Floats) -> str:
    if not right.size:
        return "there are no rows"
    return f"every answer is {'right' if right[0] == 1 else 'wrong'}"


PRIORS = ("bdeu", "base-rate", "laplace", "none")


@dataclass(frozen=True)
class Prior:
    """The prior for the chances of configurations; ``size`` is used by bdeu and base-rate only."""

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
        """The prior as a phrase for captions: what it assumes of unseen configurations."""
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
    from scipy.special import betaincinv

    value = min(max(value, 0.0), 1.0)
    rows = value * (1 - value) / variance - 1 if variance > 0 else 0.0
    if rows <= 0:
        return Estimate(value, n=n, groups=n, method=NETWORK, note="no spread to make an interval of")
    low, high = (float(betaincinv(value * rows, (1 - value) * rows, tail)) for tail in (0.025, 0.975))
    return Estimate(value, low, high, n, n, NETWORK)
