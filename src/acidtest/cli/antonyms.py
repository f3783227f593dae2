"""``acidtest antonyms``: which antonyms models know, and whether training taught them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from acidtest import api
from acidtest.cli.options import Columns, Json, LabelMap, Quiet, Seed, Verbose, console, print_json, set_up_logging
from acidtest.cli.report import show_written
from acidtest.core.errors import AcidtestError


def antonyms(
    runs: Annotated[list[Path] | None, typer.Argument(help="Run folders, each with stress/antonymy.")] = None,
    train: Annotated[
        Path | None, typer.Option("--train", help="A training set, to count antonyms in its contradictions.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="A table of all antonyms, with a column type to fill: .tsv, .csv, …"),
    ] = None,
    types: Annotated[
        Path | None, typer.Option("--types", help="Such a table, filled in: the types of easy and hard antonyms.")
    ] = None,
    columns: Columns = None,
    label_map: LabelMap = None,
    json: Json = False,
    verbose: Verbose = 0,
    quiet: Quiet = False,
    seed: Seed = 0,
) -> None:
    """Tell which antonyms all models, some or none get right, and how often each stands in training contradictions.

    A table written before keeps the types filled in when it is written again.
    """
    set_up_logging(verbose, quiet)
    if not runs and types is None:
        raise AcidtestError("antonyms needs run folders, or a table with --types; see: acidtest antonyms --help")
    if not runs and (train is not None or output is not None):
        raise AcidtestError("--train and -o need run folders")
    reading = api.Reading.parsed(columns, label_map)
    found = api.antonyms(runs, train=train, output=output, reading=reading, seed=seed) if runs else None
    typed = api.antonym_types(types) if types is not None else None
    if json:
        told = found.to_json() if found else {"schema": 1}
        told |= {"types": typed.to_json()} if typed else {}
        told |= {"table": str(output)} if output else {}
        print_json(told)
        return
    out = console()
    for part in (*(api.antonym_tables(found) if found else ()), *(api.type_tables(typed) if typed else ())):
        out.print(part)
    show_written({"table": output}, json=False)
