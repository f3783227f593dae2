"""``acidtest score``: make a run from a file of predictions."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from acidtest.cli.options import (
    From,
    Full,
    Json,
    PublishedAs,
    Seed,
    SuiteLabelMap,
    suite_arguments,
)
from acidtest.cli.run import CollapseOption, Fresh, Name, Output, require_one_run, show_runs
from acidtest.workflows import evaluations, reporting
from acidtest.workflows.batteries import Battery, Reading
from acidtest.workflows.evaluations import folder_for


@dataclass(frozen=True)
class PredictionFileOptions:
    """How the file of predictions is read."""

    column: Annotated[
        list[str] | None,
        typer.Option("--column", help="One system's column of answers, which names it; repeat it for several systems."),
    ] = None
    columns: Annotated[
        str | None, typer.Option("--columns", help="Of the predictions: id=COL,label=COL or id=COL,entailment=COL,…")
    ] = None
    label_map: Annotated[
        str | None,
        typer.Option("--label-map", help="Of the predictions: theirs=ours, such as 0=entailment, refused=unanswered."),
    ] = None
    order: Annotated[
        str | None,
        typer.Option("--order", help="The labels that three numbers in one cell stand for, such as e,n,c."),
    ] = None
    missing: Annotated[
        str,
        typer.Option("--missing", help="Rows the file does not have: refuse, or unanswered, which is wrong."),
    ] = "refuse"


def score(
    context: typer.Context,
    predictions: Annotated[
        Path, typer.Argument(help="Ids with labels or probabilities: .csv, .tsv, .jsonl, .parquet.")
    ],
    suite: Annotated[str, typer.Option("--suite", "-s", help="The suite they answer: a name or a file.")],
    source: From = None,
    output: Output = None,
    name: Name = "",
    collapse: CollapseOption = "argmax",
    fresh: Fresh = False,
    *,
    file: PredictionFileOptions,
    suite_columns: Annotated[
        str | None, typer.Option("--suite-columns", help="Of the suite's file: premise=COL,hypothesis=COL,label=COL,…")
    ] = None,
    suite_label_map: SuiteLabelMap = None,
    published_as: PublishedAs = None,
    full: Full = False,
    json: Json = False,
    seed: Seed = 0,
) -> None:
    """Score a file of predictions, matched by id, source id or the pair itself; no model needed.

    A file with a column of labels for each of several systems is scored with --column NAME for each: every system gets
    its own run. Labels may be names, three columns of probabilities or one of lists; an empty cell, unanswered or
    abstain is no answer, which counts as wrong.
    """
    systems: list[str | None] = list(dict.fromkeys(file.column or [])) or [None]
    require_one_run(name, systems)
    reading = Reading.parsed(suite_columns, suite_label_map, published_as=published_as)
    arguments = suite_arguments(context, [suite])
    battery = Battery([suite], source=source, seed=seed, arguments=arguments, reading=reading)
    finished = [
        evaluations.score(
            predictions,
            battery,
            output=folder_for(system or str(predictions), output, [system or "" for system in systems]),
            name=name,
            collapse=collapse,
            fresh=fresh,
            answers=Reading.parsed(file.columns, file.label_map),
            column=system,
            order=file.order,
            missing=file.missing,
        )
        for system in systems
    ]
    joint = reporting.joint_report(finished, output) if len(finished) > 1 else None
    show_runs(finished, json=json, full=full, joint=joint)
