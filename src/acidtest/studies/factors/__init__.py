"""Accuracy of models by category of reasoning, and regressions of right answers on all categories together.

Follows section 4 and appendices B and C of Joshi et al. (2020) on any run whose suite has categories: accuracy by
category (figure 5), coefficients of a logistic regression and of a linear discriminant on categories, lengths and
further confounds (figures 6 and 9), and estimates of a Bayesian network (figure 8).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Literal

import numpy as np

from acidtest.core.errors import AcidtestError
from acidtest.core.estimate import Estimate
from acidtest.core.logs import stage
from acidtest.core.run import Run
from acidtest.core.study import study
from acidtest.stats.intervals import difference
from acidtest.stats.regression import Fit, Network, Prior, discriminant, logistic, network, two_sided
from acidtest.stats.significance import holm
from acidtest.studies.factors.variables import WITH_CATEGORIES, FactorRows, load_factor_rows
from acidtest.studies.scoring.rows import runs_by_model

_NORMAL = 1.959963984540054
"""The 97.5 % quantile of the standard normal distribution."""


@dataclass(frozen=True)
class Term:
    """A coefficient with its interval, standard error and p-value.

    ``p_groups`` allows for dependent rows within a group, NaN if each row is its own group; ``p_adjusted`` has Holm's
    correction over the coefficients of all models (logistic regression only).
    """

    value: Estimate = field(metadata={"json": "coefficient"})
    error: float
    p: float
    p_groups: float = math.nan
    p_adjusted: float = math.nan

    json_properties = ("stars",)

    @property
    def stars(self) -> str:
        """Stars as in the paper, from the uncorrected p-value of independent rows."""
        return "*" * sum(self.p < level for level in (0.001, 0.01, 0.05))


@dataclass(frozen=True)
class Factor:
    """The coefficients of one variable; ``spread`` is its standard deviation, or 1 for a variable of 0 and 1."""

    name: str = field(metadata={"json": "factor"})
    kind: str
    spread: float
    logistic: Term
    discriminant: Term


@dataclass(frozen=True)
class ModelFactors:
    """Results of one model on one suite.

    ``accuracy`` is by category, ``unmarked`` that of rows without any. ``gains`` are accuracies minus those of the
    first model on the same rows; empty for the first model, and if the two have missing values in different rows.
    ``skipped`` counts rows left out because another model was not asked them; ``caution`` is a warning about categories
    proposed by rules.
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
        """Whether a group has several rows, so that there are p-values over groups."""
        return any(not math.isnan(factor.logistic.p_groups) for factor in self.factors)


@dataclass(frozen=True)
class FactorsResult:
    """Results of every model on every suite with categories; ``tests`` is the number of p-values corrected together."""

    fits: tuple[ModelFactors, ...] = field(metadata={"json": "models"})
    confounds: tuple[str, ...]
    tests: int
    schema: int = 1


@study(group="look into a run", applies=WITH_CATEGORIES)
def factors(
    runs: Annotated[Sequence[Run], "Run folders with a suite that has categories, such as taxinli."],
    *,
    categories: Annotated[tuple[str, ...], "Columns of 0 and 1 to analyse: A,B,… Default: those of the suite."] = (),
    confounds: Annotated[tuple[str, ...], "label, overlap, tokens, and any factor or covariate: A,B,…"] = (),
    lengths: Annotated[bool, "Lengths of premise and hypothesis in characters."] = True,
    prior: Annotated[Literal["bdeu", "base-rate", "laplace", "none"], "Of the Bayesian network."] = "bdeu",
    sample_size: Annotated[float, "How many rows the prior is worth (bdeu and base-rate)."] = 10.0,
    seed: Annotated[int, "Seed of every random choice."] = 0,
) -> FactorsResult:
    """Show which categories of reasoning models get right, and which of them go with a right answer.

    Section 4 of Joshi et al. (2020) on any model: accuracy by category, logistic regression and linear discriminant on
    categories, lengths and confounds, and the estimates of a Bayesian network.
    """
    categories, confounds = tuple(dict.fromkeys(categories)), tuple(dict.fromkeys(confounds))
    tables = load_factor_rows(runs_by_model(runs), categories=categories, confounds=confounds, lengths=lengths)
    if not tables:
        raise _no_categories(runs, categories)
    first_tables: dict[str, FactorRows] = {}
    fits = []
    for table in tables:
        first = first_tables.setdefault(table.suite, table)
        stage("%s on %s: coefficients of %d columns", table.model, table.suite, len(table.variables))
        fits.append(_fit_model(table, first, Prior(prior, sample_size)))
    ps = [factor.logistic.p for fit in fits for factor in fit.factors]
    adjusted = iter(holm(ps).tolist())
    corrected = [
        tuple(replace(one, logistic=replace(one.logistic, p_adjusted=next(adjusted))) for one in fit.factors)
        for fit in fits
    ]
    return FactorsResult(
        tuple(replace(fit, factors=terms) for fit, terms in zip(fits, corrected, strict=True)),
        confounds,
        sum(not math.isnan(p) for p in ps),
    )


def _fit_model(table: FactorRows, first: FactorRows, prior: Prior) -> ModelFactors:
    from acidtest.pairs.category_rules import proposal_caution

    rows, categories = table.rows, table.categories
    groups = np.unique(rows.groups, return_inverse=True)[1].astype(np.int64)
    grouped = np.unique(groups).size < groups.size
    columns = {variable.name: variable.values for variable in table.variables}
    fits = logistic(columns, rows.correct, groups=groups), discriminant(columns, rows.correct, groups=groups)
    unmarked = np.ones(rows.height, dtype=np.bool_)
    for flags in categories.values():
        unmarked &= ~flags
    return ModelFactors(
        model=table.model,
        suite=table.suite,
        signature=table.signature,
        overall=rows.rate(rows.correct),
        accuracy={
            name: rows.rate(rows.correct, flags, empty=f"no rows of {name}") for name, flags in categories.items()
        },
        unmarked=rows.rate(rows.correct, unmarked, empty="every row has a category"),
        factors=tuple(
            Factor(variable.name, variable.kind, variable.spread, *(_term(fit, n, grouped=grouped) for fit in fits))
            for n, variable in enumerate(table.variables)
        ),
        explained=fits[0].explained,
        network=network(categories, rows.correct, prior),
        gains=_gains(table, first),
        skipped=table.skipped,
        caution=proposal_caution(categories),
        notes=(*table.notes, *_describe_dropped({"logistic regression": fits[0], "discriminant": fits[1]})),
    )


def _term(fit: Fit, number: int, *, grouped: bool) -> Term:
    """One coefficient of a fit; NaN with the reason as note if it was dropped."""
    name, value, error = fit.names[number], float(fit.coefficients[number]), float(fit.errors[number])
    if math.isnan(value):
        note = fit.dropped.get(name, "not estimated")
        return Term(Estimate(math.nan, n=fit.rows, groups=fit.groups, method=fit.method, note=note), math.nan, math.nan)
    reach = _NORMAL * error
    estimate = Estimate(value, value - reach, value + reach, fit.rows, fit.groups, fit.method)
    ps = two_sided(np.full(2, value), np.array([error, fit.group_errors[number]]))
    return Term(estimate, error, float(ps[0]), float(ps[1]) if grouped else math.nan)


def _gains(table: FactorRows, first: FactorRows) -> dict[str, Estimate]:
    """Accuracy minus that of the first model on the same rows, by category; key ``""`` is all rows."""
    if table is first or not (table.known == first.known).all():
        return {}
    new, old, groups = table.rows.correct, first.rows.correct, table.rows.groups
    return {
        name: difference(new[flags], old[flags], groups=groups[flags])
        for name, flags in {"": np.ones(len(new), dtype=np.bool_), **table.categories}.items()
        if flags.any()
    }


def _describe_dropped(fits: Mapping[str, Fit]) -> list[str]:
    """Sentences on the variables dropped from each analysis and why; one sentence if both dropped it."""
    analyses: dict[tuple[str, str], list[str]] = {}
    for title, fit in fits.items():
        for dropped in fit.dropped.items():
            analyses.setdefault(dropped, []).append(title)
    notes = []
    for (name, why), titles in analyses.items():
        notes.append(f"{name} is left out{f' of the {titles[0]}' if len(titles) == 1 else ''}: {why}")
    return notes + [f"{title}: {note}" for title, fit in fits.items() for note in fit.notes]


def _no_categories(runs: Sequence[Run], wanted: Sequence[str]) -> AcidtestError:
    suites = {name: card for run in runs for name, card in run.header.suites.items()}
    if wanted:
        missing = {name: [one for one in wanted if one not in card.columns] for name, card in suites.items()}
        listing = "; ".join(f"{name} has no {', '.join(columns)}" for name, columns in missing.items())
        return AcidtestError(f"no suite of the runs has all of --categories {','.join(wanted)}: {listing}")
    factors = {name: ", ".join((*card.lists, *card.factors)) or "no factors" for name, card in suites.items()}
    known = ", ".join(f"{name} ({columns})" for name, columns in factors.items())
    return AcidtestError(
        f"no suite of the runs has categories of the taxonomy; there is: {known or 'none'}. Name columns of 0 and 1, "
        f"or one that lists several values, with --categories A,B,…, or score a suite such as taxinli"
    )
