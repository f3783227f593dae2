"""Which categories of reasoning models get right, and what goes with being right."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from acidtest.core.files import require_page, write_page
from acidtest.core.logs import stage
from acidtest.workflows.evaluations import AnyRun, run_of

if TYPE_CHECKING:
    from rich.console import RenderableType

    from acidtest.studies.factors_results import Factors


def factors(
    runs: Sequence[AnyRun],
    *,
    categories: Sequence[str] = (),
    confounds: Sequence[str] = (),
    lengths: bool = True,
    prior: str = "bdeu",
    sample_size: float = 10.0,
    output: str | Path | None = None,
) -> Factors:
    """Accuracy by category, coefficients of what goes with being right, and a Bayesian network's estimates.

    As in Joshi et al. (2020), on any run whose suite has columns of categories; ``categories`` names other columns of
    0 and 1. ``confounds`` are label, overlap, tokens, and any factor or covariate of the suite; ``lengths`` are those
    of premise and hypothesis in characters. ``prior`` is bdeu, base-rate, laplace or none; ``output`` takes a page.
    """
    from acidtest.stats.bayes_net import Prior
    from acidtest.studies.factors import factors as analysed
    from acidtest.studies.factors_rows import Wanted

    if output is not None:
        require_page(output)
    belief = Prior(prior, sample_size)
    held = [run_of(each) for each in runs]
    stage("reading %d runs", len(held))
    wanted = Wanted(tuple(dict.fromkeys(categories)), tuple(dict.fromkeys(confounds)), lengths)
    found = analysed(held, wanted, prior=belief)
    if output is not None:
        from acidtest.reports.factors_page import factors_page

        write_page(output, factors_page(found))
    return found


def factor_tables(found: Factors) -> list[RenderableType]:
    """What was found as a person reads it on a terminal."""
    from acidtest.reports import factors as reported

    return reported.factor_tables(found)
