"""``acidtest report``: one page for one or several runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from acidtest import api
from acidtest.cli.options import Json, Quiet, Seed, Verbose, echo, print_json, set_up_logging

Tables = Annotated[Path | None, typer.Option("--tables", help="Folder for the tables as CSV and LaTeX.")]
Plots = Annotated[Path | None, typer.Option("--plots", help="Folder for the charts as SVG and PNG.")]
Reference = Annotated[
    list[Path] | None,
    typer.Option("--reference", help="Runs of a model known to be clean, to judge contamination by; may be repeated."),
]


def report(
    runs: Annotated[list[Path], typer.Argument(help="Run folders.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The page to write.")] = Path("report.html"),
    tables: Tables = None,
    plots: Plots = None,
    reference: Reference = None,
    json: Json = False,
    verbose: Verbose = 0,
    quiet: Quiet = False,
    seed: Seed = 0,
) -> None:
    """Write one self-contained HTML page for one or several runs, and its tables and charts as files if asked."""
    set_up_logging(verbose, quiet)
    written = api.report(runs, output, reference=reference or (), tables=tables, plots=plots)
    said = {"report": written, "tables": tables, "plots": plots}
    show_written(said, json=json)


def show_written(written: dict[str, Path | None], *, json: bool) -> None:
    """Say where things were written."""
    found = {name: str(path) for name, path in written.items() if path is not None}
    if json:
        print_json(found)
    else:
        for name, path in found.items():
            echo(f"{name}: {path}")
