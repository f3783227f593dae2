"""``acidtest tag``: categories of reasoning proposed by rules, and how often such proposals are right."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from acidtest import api
from acidtest.cli.options import Columns, Json, LabelMap, Quiet, Seed, Verbose, set_up_logging
from acidtest.cli.study_commands import Plots, Tables, show
from acidtest.core.study import STUDIES


def tag(
    file: Annotated[Path, typer.Argument(help="An NLI file in any layout that acidtest reads.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The pairs with a column auto_<category> each: .parquet, .jsonl, .tsv, …"),
    ] = None,
    columns: Columns = None,
    label_map: LabelMap = None,
    tables: Tables = None,
    plots: Plots = None,
    json: Json = False,
    verbose: Verbose = 0,
    quiet: Quiet = False,
    seed: Seed = 0,
) -> None:
    """Propose categories of reasoning for pairs that nobody annotated, by rules whose precision was measured.

    Proposals are no annotation. Where the file marks categories itself, the proposals are measured against those, too.
    """
    set_up_logging(verbose, quiet)
    result = api.tag(file, output=output, reading=api.Reading.parsed(columns, label_map))
    shown = {"tables": tables, "plots": plots, "json": json, "full": False}
    show(STUDIES["tag"], result, shown, written={"table": output} if output else None)
