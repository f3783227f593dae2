"""Which categories of reasoning a model gets right, and which go with being right when all are looked at together.

Section 4 and appendices B and C of Joshi et al. (2020) on any run whose suite has categories: accuracy by category
(figure 5), coefficients of a logistic regression and of a linear discriminant on categories, lengths and further
confounds (figures 6 and 9), and the Bayesian network's estimates (figure 8).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from acidtest.core.errors import AcidtestError
from acidtest.core.estimate import Estimate
from acidtest.core.logs import stage
from acidtest.core.run import Run
from acidtest.stats.bayes_net import Prior, network
from acidtest.stats.intervals import difference
from acidtest.stats.regression import Fit, discriminant, logistic, two_sided
from acidtest.stats.significance import holm
from acidtest.studies.factors_results import Factor, Factors, ModelFactors, Term
from acidtest.studies.factors_rows import FactorRows, Wanted, factor_rows
from acidtest.studies.lexical_rows import by_model
from acidtest.studies.tags import proposal_caution

_NORMAL = 1.959963984540054


def factors(runs: Sequence[Run], wanted: Wanted | None = None, *, prior: Prior | None = None) -> Factors:
    """Every suite with categories in the runs, looked at model by model on the rows that all models have."""
    wanted = wanted or Wanted()
    held = factor_rows(by_model(runs), wanted)
    if not held:
        raise _no_categories(runs, wanted)
    firsts: dict[str, FactorRows] = {}
    for each in held:
        firsts.setdefault(each.suite, each)
    looked = []
    for each in held:
        stage("%s on %s: coefficients of %d columns", each.model, each.suite, len(each.variables))
        looked.append(_model_factors(each, firsts[each.suite], prior or Prior()))
    ps = [factor.logistic.p for each in looked for factor in each.factors]
    adjusted = iter(holm(ps).tolist())
    found = tuple(
        replace(each, factors=tuple(_adjusted(factor, next(adjusted)) for factor in each.factors)) for each in looked
    )
    return Factors(found, wanted.confounds, sum(not math.isnan(p) for p in ps))


def _adjusted(factor: Factor, p: float) -> Factor:
    return replace(factor, logistic=replace(factor.logistic, p_adjusted=p))


def _model_factors(each: FactorRows, first: FactorRows, prior: Prior) -> ModelFactors:
    known, right = each.known, each.rows.correct[each.known]
    groups = np.unique(each.rows.groups[known], return_inverse=True)[1].astype(np.int64)
    grouped = np.unique(groups).size < groups.size
    columns, categories = each.columns, each.categories
    fits = logistic(columns, right, groups=groups), discriminant(columns, right, groups=groups)
    marked = np.zeros(right.size, dtype=np.bool_)
    for flags in categories.values():
        marked |= flags
    return ModelFactors(
        model=each.model,
        suite=each.suite,
        signature=each.signature,
        overall=each.rows.rate(each.rows.correct, known),
        accuracy={name: _rate(each, flags, f"no rows of {name}") for name, flags in categories.items()},
        unmarked=_rate(each, ~marked, "every row has a category"),
        factors=tuple(
            Factor(
                variable.name,
                variable.kind,
                variable.spread,
                _term(fits[0], number, grouped=grouped),
                _term(fits[1], number, grouped=grouped),
            )
            for number, variable in enumerate(each.variables)
        ),
        explained=fits[0].explained,
        network=network(categories, right, prior),
        gains=_gains(each, first),
        aside=each.aside,
        caution=proposal_caution(categories),
        notes=(*each.notes, *_told(fits)),
    )


def _rate(each: FactorRows, flags: npt.NDArray[np.bool_], why: str) -> Estimate:
    chosen = np.zeros(each.known.size, dtype=np.bool_)
    chosen[np.flatnonzero(each.known)[flags]] = True
    return each.rows.rate(each.rows.correct, chosen) if chosen.any() else Estimate(math.nan, note=why)


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


def _gains(each: FactorRows, first: FactorRows) -> dict[str, Estimate]:
    """How much more often a model is right than the first one, by category, on the same rows."""
    if each is first or not (each.known == first.known).all():
        return {}
    rows, known = each.rows, each.known
    return {
        name: difference(rows.correct[known][flags], first.rows.correct[known][flags], groups=rows.groups[known][flags])
        for name, flags in {"": np.ones(int(known.sum()), dtype=np.bool_), **each.categories}.items()
        if flags.any()
    }


def _told(fits: tuple[Fit, Fit]) -> list[str]:
    """What was left out of which analysis, and why; what both left out is told once."""
    logit, lda = fits
    told = [f"{name} is left out: {why}" for name, why in logit.dropped.items() if lda.dropped.get(name) == why]
    for title, fit, other in (("logistic regression", logit, lda), ("discriminant", lda, logit)):
        told += [
            f"{name} is left out of the {title}: {why}"
            for name, why in fit.dropped.items()
            if other.dropped.get(name) != why
        ]
        told += [f"{title}: {note}" for note in fit.notes]
    return told


def _no_categories(runs: Sequence[Run], wanted: Wanted) -> AcidtestError:
    suites = {name: card for run in runs for name, card in run.header.suites.items()}
    if wanted.categories:
        missing = {
            name: [column for column in wanted.categories if column not in card.columns]
            for name, card in suites.items()
        }
        told = "; ".join(f"{name} has no {', '.join(columns)}" for name, columns in missing.items())
        return AcidtestError(f"no suite of the runs has all of --categories {','.join(wanted.categories)}: {told}")
    known = ", ".join(
        f"{name} ({', '.join((*card.lists, *card.factors)) or 'no factors'})" for name, card in suites.items()
    )
    return AcidtestError(
        f"no suite of the runs has categories of the taxonomy; there is: {known or 'none'}. Name columns of 0 and 1, "
        f"or one that lists several values, with --categories A,B,…, or score a suite such as taxinli"
    )
