"""``acidtest check``: look at a suite before trusting it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from acidtest.cli.options import Columns, From, Full, Json, LabelMap, Seed, suite_arguments
from acidtest.cli.study_commands import Plots, Tables, show
from acidtest.core.files import refuse_overwrite, require_page
from acidtest.core.study import STUDIES
from acidtest.workflows import data_studies
from acidtest.workflows.batteries import Reading

FAILED = 1
"""The exit status when a check fails."""


def check(
    context: typer.Context,
    suite: Annotated[
        str, typer.Argument(help="A suite by name, .toml, .py, python:pkg.mod:function or a file of pairs.")
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="A sheet of 50 pairs to read (.tsv, .csv …), gold beside it; or a page (.html)."
        ),
    ] = None,
    judged: Annotated[
        Path | None,
        typer.Option("--judged", help="That sheet with its column judgement filled in, to compare with gold."),
    ] = None,
    source: From = None,
    n: Annotated[int | None, typer.Option("-n", help="Size of the suite, as in generate.")] = None,
    at_most: Annotated[bool, typer.Option("--at-most", help="Take all there are when -n is more.")] = False,
    columns: Columns = None,
    label_map: LabelMap = None,
    tables: Tables = None,
    plots: Plots = None,
    full: Full = False,
    json: Json = False,
    seed: Seed = 0,
) -> None:
    """Check a suite before trusting it: ids, counts, repeats, labels told without the pair, odd texts.

    -o sheet.tsv writes 50 pairs to read, without gold, and --judged sheet.tsv compares what was read with gold.

    Exits with 1 when a check fails. The suite's own options (acidtest suites NAME) go here too.
    """
    is_page = output is not None and output.suffix.lower() in (".html", ".htm")
    if output and is_page:
        require_page(output)
    elif output:
        for path in data_studies.sheet_paths(output).values():
            refuse_overwrite(path)
    result = data_studies.check(
        suite,
        source=source,
        n=n,
        at_most=at_most,
        arguments=suite_arguments(context, [suite]),
        reading=Reading.parsed(columns, label_map),
        judged=judged,
        seed=seed,
    )
    written = data_studies.write_sheet(result, output) if output and not is_page else {}
    options = {"output": output if is_page else None, "tables": tables, "plots": plots, "json": json}
    show(STUDIES["check"], result, options, written=written, full=full)
    if result.failed:
        raise typer.Exit(FAILED)
