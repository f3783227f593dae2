"""``acidtest generate``: one suite to a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from acidtest.cli.completion import complete_suite
from acidtest.cli.options import (
    Address,
    Columns,
    Engine,
    From,
    Json,
    KeepColumns,
    LabelMap,
    Seed,
    echo,
    print_json,
    suite_arguments,
)
from acidtest.core.errors import list_some
from acidtest.workflows import batteries
from acidtest.workflows.batteries import Reading


def generate(
    context: typer.Context,
    suite: Annotated[
        str, typer.Argument(help="The suite to make; acidtest suites lists them.", autocompletion=complete_suite)
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Where to: .parquet, .jsonl, .csv, .tsv (text also .gz) or a folder.")
    ],
    source: From = None,
    n: Annotated[
        int | None,
        typer.Option("-n", help="Rows per cell (subcase, category), source pairs used; of sample, pairs in all."),
    ] = None,
    at_most: Annotated[bool, typer.Option("--at-most", help="Take all there are when -n is more.")] = False,
    union: Annotated[
        bool, typer.Option("--union", help="The untouched pairs and the changed ones in one file, to train on.")
    ] = False,
    columns: Columns = None,
    label_map: LabelMap = None,
    keep_columns: KeepColumns = None,
    engine: Engine = "local",
    address: Address = None,
    json: Json = False,
    seed: Seed = 0,
) -> None:
    """Make one suite and write it to a file; the suite's own options (acidtest suites NAME) go here too."""
    made = batteries.generate(
        suite,
        source=source,
        n=n,
        seed=seed,
        at_most=at_most,
        union=union,
        arguments=suite_arguments(context, [suite]),
        reading=Reading.parsed(columns, label_map, keep_columns),
        engine=engine,
        address=address,
    )
    written = batteries.save(made, output, parted=engine != "local")
    if json:
        print_json({"files": [str(path) for path in written], "card": made.card.to_json()})
        return
    labels = ", ".join(f"{count:,} {label}" for label, count in made.card.labels.items())
    echo(f"{made.card.rows:,} pairs ({labels})", made.card.signature)
    if made.card.left_out:
        echo(f"left out: {list_some(made.card.left_out_reasons, 6)}")
    echo(*(f"wrote {path}" for path in written))
