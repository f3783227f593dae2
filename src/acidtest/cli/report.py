"""``acidtest report``: one page for one or several runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from acidtest import api
from acidtest.cli.options import Json, Quiet, Seed, Verbose, print_json, set_up_logging


def report(
    runs: Annotated[list[Path], typer.Argument(help="Run folders.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The page to write.")] = Path("report.html"),
    json: Json = False,
    verbose: Verbose = 0,
    quiet: Quiet = False,
    seed: Seed = 0,
) -> None:
    """Write one self-contained HTML page for one or several runs."""
    set_up_logging(verbose, quiet)
    written = api.report(runs, output)
    if json:
        print_json({"report": str(written)})
    else:
        typer.echo(f"report: {written}")
