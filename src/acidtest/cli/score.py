"""``acidtest score``: a run from somebody's predictions file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from acidtest import api
from acidtest.cli.options import (
    From,
    Json,
    PublishedAs,
    Quiet,
    Seed,
    SuiteLabelMap,
    Verbose,
    set_up_logging,
    suite_arguments,
)
from acidtest.cli.run import CollapseOption, Fresh, Output, show


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
    column: Annotated[
        list[str] | None,
        typer.Option("--column", help="One system's column of answers, which names it; repeat it for several systems."),
    ] = None,
    columns: Annotated[
        str | None, typer.Option("--columns", help="Of the predictions: id=COL,label=COL or id=COL,entailment=COL,…")
    ] = None,
    label_map: Annotated[
        str | None,
        typer.Option("--label-map", help="Of the predictions: theirs=ours, such as 0=entailment, refused=unanswered."),
    ] = None,
    order: Annotated[
        str | None,
        typer.Option("--order", help="The labels that three numbers in one cell stand for, such as e,n,c."),
    ] = None,
    missing: Annotated[
        str,
        typer.Option("--missing", help="Rows the file does not have: refuse, or unanswered, which is wrong."),
    ] = "refuse",
    suite_columns: Annotated[
        str | None, typer.Option("--suite-columns", help="Of the suite's file: premise=COL,hypothesis=COL,label=COL,…")
    ] = None,
    suite_label_map: SuiteLabelMap = None,
    published_as: PublishedAs = None,
    json: Json = False,
    verbose: Verbose = 0,
    quiet: Quiet = False,
    seed: Seed = 0,
) -> None:
    """Score a file of predictions, matched by id, source id or the pair itself; no model needed.

    A file with a column of labels for each of several systems is scored with --column NAME for each: every one gets a
    run of its own. Labels may be names, three columns of probabilities or one of lists; an empty cell, unanswered or
    abstain is no answer, which counts as wrong.
    """
    set_up_logging(verbose, quiet)
    reading = api.Reading.parsed(columns, label_map)
    systems: list[str | None] = list(dict.fromkeys(column or [])) or [None]
    battery = api.Battery(
        [suite],
        source=source,
        seed=seed,
        arguments=suite_arguments(context, [suite]),
        reading=api.Reading.parsed(suite_columns, suite_label_map, published_as=published_as),
    )
    done = [
        api.score(
            predictions,
            battery,
            output=api.folder_for(system or str(predictions), output, [system or "" for system in systems]),
            collapse=collapse,
            fresh=fresh,
            answers=reading,
            column=system,
            order=order,
            missing=missing,
        )
        for system in systems
    ]
    joint = api.joint_report(done, output) if len(done) > 1 else None
    show(done, json=json, joint=joint)
