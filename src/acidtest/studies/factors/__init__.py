"""Which categories of reasoning a model gets right, and which go with a right answer when all are fitted together.

Section 4 and appendices B and C of Joshi et al. (2020) on any run whose suite has categories: accuracy by category
(figure 5), coefficients of a logistic regression and of a linear discriminant on categories, lengths and further
confounds (figures 6 and 9), and the Bayesian network's estimates (figure 8).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from acidtest.core.run import Run
from acidtest.core.study import study
from acidtest.core.suite import CONTROL
from acidtest.stats.regression import Prior
from acidtest.studies.factors.fits import FactorsResult, fit_factors
from acidtest.studies.factors.variables import FactorOptions, category_columns


def _applies(runs: Sequence[Run]) -> bool:
    cards = [card for run in runs for name, card in run.header.suites.items() if not name.endswith(CONTROL)]
    return any(category_columns(card) for card in cards)


@study(group="look into a run", applies=_applies)
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
    options = FactorOptions(tuple(dict.fromkeys(categories)), tuple(dict.fromkeys(confounds)), lengths)
    return fit_factors(runs, options, prior=Prior(prior, sample_size))
