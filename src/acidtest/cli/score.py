"""``acidtest score``: make a run from a file of predictions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
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
    check_suite_label_map,
    columns_named_by,
    suite_arguments,
)
from acidtest.cli.run import CollapseOption, Fresh, Name, Output, require_one_run, show_runs
from acidtest.core.errors import AcidtestError
from acidtest.core.files import require_file
from acidtest.workflows import evaluations, reporting
from acidtest.workflows.batteries import Battery, Reading
from acidtest.workflows.evaluations import folder_for
from acidtest.workflows.harness_scores import is_harness_log, score_logs
from acidtest.workflows.runs import Finished


@dataclass(frozen=True)
class PredictionFileOptions:
    """How the file of predictions is read."""

    column: Annotated[
        list[str] | None,
        typer.Option(
            "--column",
            help="One system's column of labels or support scores, which names it; repeat it for several systems.",
        ),
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
    in_order: Annotated[
        bool,
        typer.Option("--in-order", help="The rows are those of the suite's file, in the same order; no ids needed."),
    ] = False
    trust_labels: Annotated[
        bool, typer.Option("--trust-labels", help="Keep labels that gold shows to be in another order.")
    ] = False


def score(
    context: typer.Context,
    predictions: Annotated[
        Path,
        typer.Argument(
            help="Ids with labels, probabilities or support scores: .csv, .tsv, .json, .jsonl, .parquet; or a log of "
            "lm-evaluation-harness or Inspect, or a folder of logs."
        ),
    ],
    suite: Annotated[
        str | None,
        typer.Option("--suite", "-s", help="The suite they answer: a name or a file. Logs of harnesses say it."),
    ] = None,
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
    """Score a file of predictions, matched by id, source id, the pair itself or order; no model needed.

    Predictions are labels, three columns of probabilities, lists or objects of them, or one support score between 0
    and 1. An empty cell, unanswered or abstain is no answer, which counts as wrong. A file with a column for each of
    several systems is scored with --column NAME for each; every system gets its own run. Logs of tasks that acidtest
    gave to lm-evaluation-harness (samples_*.jsonl) or Inspect (.eval, .json) name their suites themselves.
    """
    if not predictions.is_dir():
        require_file(predictions)
    if context.args and not context.args[0].startswith("-") and Path(context.args[0]).exists():
        raise AcidtestError(f"{context.args[0]}: score takes one file or one folder; name the folder of several logs")
    reading = Reading.parsed(suite_columns, check_suite_label_map(suite_label_map), published_as=published_as)
    arguments = suite_arguments(context, [suite] if suite else [])
    battery = Battery([suite], source=source, seed=seed, arguments=arguments, reading=reading) if suite else None
    options = RunOptions(output, name, collapse, fresh)
    if is_harness_log(predictions):
        _refuse_options(file, {} if suite else {**arguments, "from": source, "seed": seed})
        finished = score_logs(predictions, suite=battery, missing=file.missing, **asdict(options))
    elif battery is None:
        raise AcidtestError(f"{predictions} does not say which suite it answers; name it: --suite NAME_OR_FILE")
    else:
        files = [Path(name) for name in (suite, source) if name and Path(name) != predictions]
        with columns_named_by("--suite-columns", files):
            finished = _score_table(predictions, battery, file, options)
    joint = reporting.joint_report(finished, output) if len(finished) > 1 else None
    show_runs(finished, json=json, full=full, joint=joint)


@dataclass(frozen=True)
class RunOptions:
    """Where the run goes, and how answers become verdicts."""

    output: Path | None
    name: str
    collapse: str
    fresh: bool


def _score_table(
    predictions: Path, battery: Battery, file: PredictionFileOptions, options: RunOptions
) -> list[Finished]:
    """A run for each system that has a column of answers in a table."""
    systems: list[str | None] = list(dict.fromkeys(file.column or [])) or [None]
    require_one_run(options.name, systems)
    names = [system or "" for system in systems]
    return [
        evaluations.score(
            predictions,
            battery,
            output=folder_for(system or str(predictions), options.output, names),
            name=options.name,
            collapse=options.collapse,
            fresh=options.fresh,
            answers=Reading.parsed(file.columns, file.label_map),
            column=system,
            order=file.order,
            missing=file.missing,
            in_order=file.in_order,
            trust_labels=file.trust_labels,
        )
        for system in systems
    ]


def _refuse_options(file: PredictionFileOptions, of_suite: Mapping[str, object]) -> None:
    """Raise for options that a log of a harness leaves no room for."""
    of_file: dict[str, object] = {"column": file.column, "columns": file.columns, "label-map": file.label_map}
    of_file |= {"order": file.order, "in-order": file.in_order}
    for option, value in {**of_file, **of_suite}.items():
        if value:
            why = "names its answers" if option in of_file else "was made with its own options"
            raise AcidtestError(f"--{option} is for tables of predictions; the log of a harness {why}: leave it out")
