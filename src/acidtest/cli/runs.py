"""``acidtest runs``: list the runs below a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from acidtest.cli.options import Json, print_document, print_json
from acidtest.core.serialise import to_json
from acidtest.workflows.run_list import describe_runs, list_runs
from acidtest.workflows.runs import RUNS


def runs(
    folder: Annotated[Path, typer.Argument(help="A folder with run folders below it.")] = Path(RUNS),
    json: Json = False,
) -> None:
    """List runs with model, suites, date and what each showed, newest first."""
    entries = list_runs(folder)
    if json:
        print_json(to_json(entries))
    else:
        print_document(describe_runs(entries, folder))
