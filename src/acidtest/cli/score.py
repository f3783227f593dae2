"""``acidtest score``: a run from somebody's predictions file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from acidtest import api
from acidtest.cli.options import OPEN, From, Json, Quiet, Seed, Verbose, set_up_logging, suite_arguments
from acidtest.cli.run import CollapseOption, Fresh, Output, show

CONTEXT = OPEN


def score(
    context: typer.Context,
    predictions: Annotated[
        Path, typer.Argument(help="Ids with labels or probabilities: .csv, .tsv, .jsonl, .parquet.")
    ],
    suite: Annotated[str, typer.Option("--suite", "-s", help="The suite they answer: a name or a file.")],
    source: From = None,
    output: Output = None,
    collapse: CollapseOption = "argmax",
    fresh: Fresh = False,
    columns: Annotated[
        str | None, typer.Option("--columns", help="Of the predictions: id=COL,label=COL or id=COL,entailment=COL,…")
    ] = None,
    label_map: Annotated[
        str | None, typer.Option("--label-map", help="Of the predictions: theirs=ours, such as 0=entailment.")
    ] = None,
    suite_columns: Annotated[
        str | None, typer.Option("--suite-columns", help="Of the suite's file: premise=COL,hypothesis=COL,label=COL,…")
    ] = None,
    suite_label_map: Annotated[
        str | None, typer.Option("--suite-label-map", help="Of the suite's file: theirs=ours.")
    ] = None,
    json: Json = False,
    verbose: Verbose = 0,
    quiet: Quiet = False,
    seed: Seed = 0,
) -> None:
    """Score a file of predictions, matched by id, then by source id; no model needed."""
    set_up_logging(verbose, quiet)
    finished = api.score(
        predictions,
        suite,
        source=source,
        output=output,
        collapse=collapse,
        fresh=fresh,
        seed=seed,
        arguments=suite_arguments(context, [suite]),
        answers=api.Reading.parsed(columns, label_map),
        reading=api.Reading.parsed(suite_columns, suite_label_map),
    )
    show([finished], json=json)
