"""``acidtest audit``: what a training set teaches."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from acidtest.cli.options import Columns, Json, LabelMap, Seed
from acidtest.cli.study_commands import Plots, Tables, show
from acidtest.core.study import STUDIES
from acidtest.workflows import data_studies
from acidtest.workflows.batteries import Reading


def audit(
    train: Annotated[Path, typer.Argument(help="A training set: any NLI file whose layout is recognised.")],
    against: Annotated[
        list[str] | None,
        typer.Option("--against", help="Suites to look for in it: names, globs and files; may be repeated."),
    ] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="A page with charts.")] = None,
    faithful: Annotated[
        bool, typer.Option("--faithful", help="Split words as the scripts released with HANS do.")
    ] = False,
    columns: Columns = None,
    label_map: LabelMap = None,
    tables: Tables = None,
    plots: Plots = None,
    json: Json = False,
    seed: Seed = 0,
) -> None:
    """Look at a training set for shortcuts, repetitions and leaks.

    Pairs that support and contradict each heuristic of HANS, labels told from one sentence alone, words tied to a
    label, length, overlap and negation by label, duplicates, and pairs of suites that stand in it.
    """
    reading = Reading.parsed(columns, label_map)
    result = data_studies.audit(
        train, against=against or (), output=output, faithful=faithful, reading=reading, seed=seed
    )
    written = {"page": output} if output else {}
    show(STUDIES["audit"], result, {"tables": tables, "plots": plots, "json": json}, written=written)
