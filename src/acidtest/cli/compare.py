"""``acidtest compare``: runs against each other."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from acidtest import api
from acidtest.cli.options import Json, Quiet, Seed, Verbose, console, print_json, set_up_logging
from acidtest.core.errors import UnknownNameError
from acidtest.core.suite import CROSS


def compare(
    runs: Annotated[list[Path], typer.Argument(help="Two run folders or more.")],
    by: Annotated[
        list[str] | None,
        typer.Option("--by", help="Slices of this factor, such as subcase; may be repeated."),
    ] = None,
    correction: Annotated[str, typer.Option("--correction", help="holm, bh (Benjamini–Hochberg) or none.")] = "holm",
    json: Json = False,
    verbose: Verbose = 0,
    quiet: Quiet = False,
    seed: Seed = 0,
) -> None:
    """Compare runs: paired tests on the same rows, unpaired and stratified ones on different rows."""
    set_up_logging(verbose, quiet)
    found = api.compare(runs, correction=correction, seed=seed)
    if json:
        print_json({"schema": 1, "correction": correction, "contrasts": [contrast.to_json() for contrast in found]})
        return
    out = console()
    factors = list(dict.fromkeys(contrast.factor for contrast in found if contrast.factor))
    for factor in by or ():
        if factor not in factors:
            raise UnknownNameError("factor", factor, factors)
    for part in api.comparison_tables(found, by=by or [factor for factor in factors if CROSS in factor]):
        out.print(part)
    out.print(
        "Differences are percentage points, second minus first. p is adjusted within each factor of each suite "
        f"({correction}). Detectable: the smallest difference this many rows would show four times in five. "
        f"Factors: {', '.join(factors)} (--by).",
        style="dim",
    )
