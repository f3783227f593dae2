"""``acidtest behaviour``: what models do when two words change places."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from acidtest import api
from acidtest.cli.options import Columns, Json, LabelMap, Quiet, Seed, Verbose, console, print_json, set_up_logging
from acidtest.cli.report import show_written


def behaviour(
    runs: Annotated[list[Path], typer.Argument(help="Run folders with swap suites (swaps/…) and their controls.")],
    train: Annotated[Path, typer.Option("--train", help="The training set of the models: any three-way NLI file.")],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="A page with charts.")] = None,
    alpha: Annotated[float, typer.Option("--alpha", help="Level of significance of a single test.")] = 0.0001,
    test: Annotated[
        str, typer.Option("--test", help="g (likelihood ratio; Yates at one degree of freedom), pearson or fisher.")
    ] = "g",
    literal: Annotated[
        bool,
        typer.Option("--literal", help="Look words up in the training set as they stand, not in any of their forms."),
    ] = False,
    columns: Columns = None,
    label_map: LabelMap = None,
    json: Json = False,
    verbose: Verbose = 0,
    quiet: Quiet = False,
    seed: Seed = 0,
) -> None:
    """Tell whether swapped words leave a model insensitive, at a loss for new pairs, or led by training statistics.

    The experiments of Sanchez, Mitchell and Riedel (2018) on any model: accuracy on the whole sample and three subsets,
    contingency tables with tests, and what they say in words.
    """
    set_up_logging(verbose, quiet)
    found = api.behaviour(
        runs,
        train=train,
        output=output,
        alpha=alpha,
        test=test,
        literal=literal,
        reading=api.Reading.parsed(columns, label_map),
        seed=seed,
    )
    if json:
        print_json(found.to_json() | ({"page": str(output)} if output else {}))
        return
    out = console()
    for part in api.behaviour_tables(found):
        out.print(part)
    show_written({"page": output}, json=False)
