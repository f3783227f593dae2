"""Logistic regression and linear discriminant analysis of a 0/1 outcome, such as being right.

Both are textbook forms on the base install: Newton's method with Wald errors, and Fisher's discriminant of two classes.
Columns that cannot be estimated (constant ones, combinations of others, those that part right from wrong without a
remainder) get NaN and a reason, and the others are estimated without them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from scipy.special import expit, log_expit, logit, ndtr

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Codes = npt.NDArray[np.int64]

LOGISTIC = "logistic regression, Wald"
DISCRIMINANT = "linear discriminant, infinitesimal jackknife"

_DEPENDENT = 1e-7
"""A column of length 1 whose remainder after projection on the others is shorter than this depends on them."""
_MOST_STEPS = 30
_ZERO = 1e-9


@dataclass(frozen=True)
class Fit:
    """Coefficients of some columns, with standard errors; NaN for those that ``dropped`` gives a reason for.

    ``errors`` take rows for independent, ``group_errors`` let rows of one group vary together. ``rows`` were used.
    """

    names: tuple[str, ...]
    coefficients: Floats
    errors: Floats
    group_errors: Floats
    rows: int
    groups: int
    method: str
    intercept: float = math.nan
    explained: float = math.nan
    """McFadden's share of the log likelihood that the columns explain; NaN for a discriminant."""
    dropped: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def two_sided(coefficients: Floats, errors: Floats) -> Floats:
    """Wald's p-values: how likely a standard normal is as far from 0 as a coefficient in standard errors."""
    return np.asarray(2 * ndtr(-np.abs(coefficients / errors)), dtype=np.float64)


def logistic(columns: Mapping[str, npt.ArrayLike], outcome: npt.ArrayLike, *, groups: Codes | None = None) -> Fit:
    """Logistic regression of an outcome of 0 and 1 on columns and a constant, by maximum likelihood.

    Where a combination of columns parts the outcomes (separation), the coefficients of those have no finite estimate;
    the others are those of the rows that it leaves undecided, which is what maximum likelihood tends to.
    """
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
            return _fit(names, [], (), groups=codes, method=LOGISTIC, dropped=dropped, notes=notes)
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
        notes=notes,
        intercept=float(coefficients[0] - (slopes * centre).sum()),
        explained=1 - _log_likelihood(odds, right) / _log_likelihood(np.full(right.size, logit(right.mean())), right),
    )


def discriminant(columns: Mapping[str, npt.ArrayLike], outcome: npt.ArrayLike, *, groups: Codes | None = None) -> Fit:
    """Fisher's discriminant of the two outcomes: the inverse pooled covariance times the difference of the means.

    Coefficients are those of scikit-learn's. Errors are the infinitesimal jackknife's, over rows and over groups: how
    much the coefficients move when the weight of one does.
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
    """A combination of columns that parts the outcomes, wholly or but for ties; None where there is none.

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
    """Coefficients, their covariance and whether they converged: Newton's method, steps halved until they rise."""
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
    notes: Sequence[str] = (),
    intercept: float = math.nan,
    explained: float = math.nan,
) -> Fit:
    """The fit with a place for every column, NaN where it was dropped; ``estimates``: coefficients and both errors."""
    placed = np.full((3, len(names)), math.nan)
    if kept:
        placed[:, list(kept)] = estimates
    slopes, errors, group_errors = placed
    return Fit(
        tuple(names),
        slopes,
        errors,
        group_errors,
        rows=groups.size,
        groups=int(np.unique(groups).size),
        method=method,
        intercept=intercept,
        explained=explained,
        dropped=dict(dropped),
        notes=tuple(notes),
    )


def _one_outcome(right: Floats) -> str:
    if not right.size:
        return "there are no rows"
    return f"every answer is {'right' if right[0] == 1 else 'wrong'}"
