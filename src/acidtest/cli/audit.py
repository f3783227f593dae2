"""``acidtest audit``: what a training set teaches."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from acidtest import api
from acidtest.cli.options import (
    Columns,
    Json,
    LabelMap,
    Quiet,
    Seed,
    Verbose,
    console,
    print_json,
    set_up_logging,
)


def audit(
    train: Annotated[Path, typer.Argument(help="A training set: any NLI file whose layout is recognised.")],
    faithful: Annotated[
        bool, typer.Option("--faithful", help="Tell words apart as the scripts released with HANS do.")
    ] = False,
    columns: Columns = None,
    label_map: LabelMap = None,
    json: Json = False,
    verbose: Verbose = 0,
    quiet: Quiet = False,
    seed: Seed = 0,
) -> None:
    """Count the pairs of a training set that support and that contradict each heuristic of HANS."""
    set_up_logging(verbose, quiet)
    found = api.audit(train, faithful=faithful, reading=api.Reading.parsed(columns, label_map))
    if json:
        print_json(found.to_json())
        return
    out = console()
    for part in api.audit_table(found):
        out.print(part)
