"""Accuracies, coefficients and network estimates of one model on one suite with categories."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from acidtest.core.errors import AcidtestError
from acidtest.core.estimate import Estimate
from acidtest.core.logs import stage
from acidtest.core.run import Run
from acidtest.stats.intervals import difference
from acidtest.stats.regression import Fit, Network, Prior, discriminant, logistic, network, two_sided
from acidtest.stats.significance import holm
from acidtest.studies.factors.variables import FactorOptions, FactorRows, load_factor_rows
from acidtest.studies.rows import runs_by_model
from acidtest.text.category_rules import proposal_caution

SCHEMA = 1
LEVELS = (0.001, 0.01, 0.05)
"""Below them a p-value has three stars, two, and one."""
_NORMAL = 1.959963984540054


@dataclass(frozen=True)
class Term:
    """A coefficient with its interval, standard error and p-value.

    ``p_groups`` lets rows of one group vary together, NaN where each row is a group of its own; ``p_adjusted`` is
    Holm's over all coefficients of the models.
    """

    value: Estimate = field(metadata={"json": "coefficient"})
    error: float
    p: float
    p_groups: float = math.nan
    p_adjusted: float = math.nan

    json_properties = ("stars",)

    @property
    def stars(self) -> str:
        """As the paper has them, from the p-value of independent rows without correction."""
        return "*" * sum(self.p < level for level in LEVELS)


@dataclass(frozen=True)
class Factor:
    """One variable in both analyses; ``spread`` is its standard deviation, 1 for what is 0 or 1."""

    name: str = field(metadata={"json": "factor"})
    kind: str
    spread: float
    logistic: Term
    discriminant: Term


@dataclass(frozen=True)
class ModelFactors:
    """One model on one suite.

    ``accuracy`` is that of rows with each category, ``unmarked`` that of rows with none. ``gains`` are the accuracies
    less those of the first model on the same rows; empty for the first, and where values are missing in others.
    ``skipped`` counts rows left out because another model was not asked them; ``caution`` is what to know of
    categories that nobody annotated.
    """

    model: str
    suite: str
    signature: str
    overall: Estimate
    accuracy: Mapping[str, Estimate]
    unmarked: Estimate = field(metadata={"json": "no_category"})
    factors: tuple[Factor, ...]
    explained: float = field(metadata={"json": "pseudo_r2"})
    network: Network = field(metadata={"json": "bayesian_network"})
    gains: Mapping[str, Estimate]
    skipped: int = field(default=0, metadata={"json": "rows_aside"})
    caution: str = ""
    notes: tuple[str, ...] = ()

    @property
    def grouped(self) -> bool:
        """Whether rows belong together, so that p-values over groups differ from those over rows."""
        return any(not math.isnan(factor.logistic.p_groups) for factor in self.factors)


@dataclass(frozen=True)
class FactorsResult:
    """Every model on every suite with categories; ``tests`` coefficients of the regressions are one family."""

    fits: tuple[ModelFactors, ...] = field(metadata={"json": "models"})
    confounds: tuple[str, ...]
    tests: int
    schema: int = SCHEMA


def fit_factors(runs: Sequence[Run], options: FactorOptions, *, prior: Prior) -> FactorsResult:
    """Fit every suite with categories in the runs, model by model on the rows that all models have."""
    tables = load_factor_rows(runs_by_model(runs), options)
    if not tables:
        raise _no_categories(runs, options)
    first_tables: dict[str, FactorRows] = {}
    fits = []
    for table in tables:
        first = first_tables.setdefault(table.suite, table)
        stage("%s on %s: coefficients of %d columns", table.model, table.suite, len(table.variables))
        fits.append(_fit_model(table, first, prior))
    ps = [factor.logistic.p for fit in fits for factor in fit.factors]
    adjusted = iter(holm(ps).tolist())
    corrected = tuple(
        replace(fit, factors=tuple(_with_adjusted(factor, next(adjusted)) for factor in fit.factors)) for fit in fits
    )
    return FactorsResult(corrected, options.confounds, sum(not math.isnan(p) for p in ps))


def _with_adjusted(factor: Factor, p: float) -> Factor:
    return replace(factor, logistic=replace(factor.logistic, p_adjusted=p))


def _fit_model(table: FactorRows, first: FactorRows, prior: Prior) -> ModelFactors:
    known, right = table.known, table.rows.correct[table.known]
    groups = np.unique(table.rows.groups[known], return_inverse=True)[1].astype(np.int64)
    grouped = np.unique(groups).size < groups.size
    columns, categories = table.columns, table.categories
    fits = logistic(columns, right, groups=groups), discriminant(columns, right, groups=groups)
    marked = np.zeros(right.size, dtype=np.bool_)
    for flags in categories.values():
        marked |= flags
    return ModelFactors(
        model=table.model,
        suite=table.suite,
        signature=table.signature,
        overall=table.rows.rate(table.rows.correct, known),
        accuracy={name: _rate(table, flags, f"no rows of {name}") for name, flags in categories.items()},
        unmarked=_rate(table, ~marked, "every row has a category"),
        factors=tuple(
            Factor(
                variable.name,
                variable.kind,
                variable.spread,
                _term(fits[0], number, grouped=grouped),
                _term(fits[1], number, grouped=grouped),
            )
            for number, variable in enumerate(table.variables)
        ),
        explained=fits[0].explained,
        network=network(categories, right, prior),
        gains=_gains(table, first),
        skipped=table.skipped,
        caution=proposal_caution(categories),
        notes=(*table.notes, *_describe_dropped(fits)),
    )


def _rate(table: FactorRows, flags: npt.NDArray[np.bool_], why: str) -> Estimate:
    chosen = np.zeros(table.known.size, dtype=np.bool_)
    chosen[np.flatnonzero(table.known)[flags]] = True
    return table.rows.rate(table.rows.correct, chosen) if chosen.any() else Estimate(math.nan, note=why)


def _term(fit: Fit, number: int, *, grouped: bool) -> Term:
    """One coefficient; where it was dropped, why."""
    name, value, error = fit.names[number], float(fit.coefficients[number]), float(fit.errors[number])
    if math.isnan(value):
        note = fit.dropped.get(name, "not estimated")
        return Term(Estimate(math.nan, n=fit.rows, groups=fit.groups, method=fit.method, note=note), math.nan, math.nan)
    reach = _NORMAL * error
    estimate = Estimate(value, value - reach, value + reach, fit.rows, fit.groups, fit.method)
    ps = two_sided(np.full(2, value), np.array([error, fit.group_errors[number]]))
    return Term(estimate, error, float(ps[0]), float(ps[1]) if grouped else math.nan)


def _gains(table: FactorRows, first: FactorRows) -> dict[str, Estimate]:
    """How much more often a model is right than the first one, by category, on the same rows."""
    if table is first or not (table.known == first.known).all():
        return {}
    rows, known = table.rows, table.known
    return {
        name: difference(rows.correct[known][flags], first.rows.correct[known][flags], groups=rows.groups[known][flags])
        for name, flags in {"": np.ones(int(known.sum()), dtype=np.bool_), **table.categories}.items()
        if flags.any()
    }


def _describe_dropped(fits: tuple[Fit, Fit]) -> list[str]:
    """What was left out of which analysis, and why; what both left out is said once."""
    logit, lda = fits
    notes = [f"{name} is left out: {why}" for name, why in logit.dropped.items() if lda.dropped.get(name) == why]
    for title, fit, other in (("logistic regression", logit, lda), ("discriminant", lda, logit)):
        notes += [
            f"{name} is left out of the {title}: {why}"
            for name, why in fit.dropped.items()
            if other.dropped.get(name) != why
        ]
        notes += [f"{title}: {note}" for note in fit.notes]
    return notes


def _no_categories(runs: Sequence[Run], options: FactorOptions) -> AcidtestError:
    suites = {name: card for run in runs for name, card in run.header.suites.items()}
    if options.categories:
        missing = {
            name: [column for column in options.categories if column not in card.columns]
            for name, card in suites.items()
        }
        listing = "; ".join(f"{name} has no {', '.join(columns)}" for name, columns in missing.items())
        return AcidtestError(f"no suite of the runs has all of --categories {','.join(options.categories)}: {listing}")
    known = ", ".join(
        f"{name} ({', '.join((*card.lists, *card.factors)) or 'no factors'})" for name, card in suites.items()
    )
    return AcidtestError(
        f"no suite of the runs has categories of the taxonomy; there is: {known or 'none'}. Name columns of 0 and 1, "
        f"or one that lists several values, with --categories A,B,…, or score a suite such as taxinli"
    )
