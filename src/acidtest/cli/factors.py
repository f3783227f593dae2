"""``acidtest factors``: which categories of reasoning models get right, and what goes with being right."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from acidtest import api
from acidtest.cli.options import Json, Quiet, Seed, Verbose, console, print_json, set_up_logging
from acidtest.cli.report import show_written


def factors(
    runs: Annotated[list[Path], typer.Argument(help="Run folders with a suite that has categories, such as taxinli.")],
    categories: Annotated[
        str | None,
        typer.Option("--categories", help="Columns of 0 and 1 to look at: A,B,… Default: those the suite tells of."),
    ] = None,
    confounds: Annotated[
        str | None,
        typer.Option("--confounds", help="label, overlap, tokens, and any factor or covariate of the suite: A,B,…"),
    ] = None,
    lengths: Annotated[
        bool, typer.Option("--lengths/--no-lengths", help="Lengths of premise and hypothesis in characters.")
    ] = True,
    prior: Annotated[
        str, typer.Option("--prior", help="Of the Bayesian network: bdeu, base-rate, laplace or none.")
    ] = "bdeu",
    sample_size: Annotated[
        float, typer.Option("--sample-size", help="How many rows the prior is worth (bdeu and base-rate).")
    ] = 10.0,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="A page with charts.")] = None,
    json: Json = False,
    verbose: Verbose = 0,
    quiet: Quiet = False,
    seed: Seed = 0,
) -> None:
    """Tell which categories of reasoning models get right, and which of them go with being right.

    Section 4 of Joshi et al. (2020) on any model: accuracy by category, logistic regression and linear discriminant on
    categories, lengths and confounds, and the estimates of a Bayesian network.
    """
    set_up_logging(verbose, quiet)
    found = api.factors(
        runs,
        categories=_names(categories),
        confounds=_names(confounds),
        lengths=lengths,
        prior=prior,
        sample_size=sample_size,
        output=output,
    )
    if json:
        print_json(found.to_json() | ({"page": str(output)} if output else {}))
        return
    out = console()
    for part in api.factor_tables(found):
        out.print(part)
    show_written({"page": output}, json=False)


def _names(text: str | None) -> list[str]:
    return [name.strip() for name in (text or "").split(",") if name.strip()]
