"""``acidtest run``: test a model on suites."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from acidtest.cli.completion import complete_model_spec, complete_suite
from acidtest.cli.options import (
    SCREEN,
    Address,
    Columns,
    Engine,
    From,
    Full,
    Json,
    KeepColumns,
    LabelMap,
    PublishedAs,
    Quiet,
    Seed,
    SuiteLabelMap,
    check_suite_label_map,
    complain,
    echo,
    extra_arguments,
    print_document,
    print_json,
    print_lines,
    terminal_width,
)
from acidtest.cli.progress import ProgressBar, usage_line
from acidtest.core.errors import AcidtestError
from acidtest.core.logs import note
from acidtest.render.terminal import paint, render_screen
from acidtest.workflows import evaluations, reporting
from acidtest.workflows.batteries import STANDARD, Battery, Reading
from acidtest.workflows.evaluations import DEFAULT_LIMIT, DEFAULT_MODEL, folder_for, model_options
from acidtest.workflows.runs import REPORT, Finished

_SLOW = 2.0
"""Seconds after which the usage of a model is printed."""

Output = Annotated[
    Path | None,
    typer.Option("--output", "--output_path", "-o", help="Folder of the run. Default: under acidtest-runs."),
]
Name = Annotated[
    str, typer.Option("--name", help="A name for the run, and for its folder under acidtest-runs unless -o is given.")
]
ModelSpecs = Annotated[
    list[str] | None,
    typer.Option(
        "--model",
        "-m",
        help="reference, hf:FOLDER, answers:FILE, python:pkg.mod:function …; may be repeated.",
        autocompletion=complete_model_spec,
    ),
]
SuiteNames = Annotated[
    list[str] | None,
    typer.Option(
        "--suites",
        "-s",
        help="Names, globs and files, comma-separated or repeated. Default: the standard battery.",
        autocompletion=complete_suite,
    ),
]
CollapseOption = Annotated[str, typer.Option("--collapse", help="argmax, sum or threshold=T.")]
Fresh = Annotated[bool, typer.Option("--fresh", help="Start over instead of continuing.")]


@dataclass(frozen=True)
class AskingOptions:
    """How a model is asked, and where."""

    collapse: CollapseOption = "argmax"
    threshold: Annotated[
        float | None,
        typer.Option(
            "--threshold", help="Answer entailment, or call a claim supported, above this probability (--collapse)."
        ),
    ] = None
    base_rate: Annotated[
        float | None,
        typer.Option("--base-rate", help="Share of claims that are not supported in service, for precision."),
    ] = None
    batch_size: Annotated[
        int | None,
        typer.Option("--batch-size", "--batch_size", help="Pairs asked at once; what a kill can cost.", min=1),
    ] = None
    premise: Annotated[
        str, typer.Option("--premise", help="whole, or chunks: premises too long for the model asked part by part.")
    ] = "whole"
    aggregation: Annotated[
        str, typer.Option("--aggregation", help="How answers to chunks are combined: max-entail or any-contradict.")
    ] = "max-entail"
    cache: Annotated[
        bool, typer.Option("--cache/--no-cache", help="Keep answers of models that cost something for later runs.")
    ] = True
    fresh: Fresh = False
    engine: Engine = "local"
    address: Address = None


@dataclass(frozen=True)
class SuiteFileOptions:
    """How files of pairs are read."""

    columns: Columns = None
    label_map: LabelMap = None
    suite_label_map: SuiteLabelMap = None
    keep_columns: KeepColumns = None
    published_as: PublishedAs = None

    def reading(self, specs: Sequence[str]) -> Reading:
        """How to read the suites' files; --label-map does not apply to them if one of the models takes it."""
        for_model = any("label_map" in model_options(spec) for spec in specs)
        labels = check_suite_label_map(self.suite_label_map) or (None if for_model else self.label_map)
        return Reading.parsed(self.columns, labels, self.keep_columns, self.published_as)


def run(
    context: typer.Context,
    model: ModelSpecs = None,
    suites: SuiteNames = None,
    source: From = None,
    output: Output = None,
    name: Name = "",
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit",
            help="A stratified sample of N pairs per suite. Default: all; 3000 where neither model nor suites are "
            "named.",
            min=1,
        ),
    ] = None,
    *,
    asking: AskingOptions,
    files: SuiteFileOptions,
    full: Full = False,
    json: Json = False,
    quiet: Quiet = False,
    seed: Seed = 0,
) -> None:
    """Run a model on challenge suites and report what it does.

    Options of suites (acidtest suites NAME) and of models (--device, --dtype …) go here too. The same command again
    continues, or prints what is done.
    """
    specs = list(dict.fromkeys(model or [DEFAULT_MODEL]))
    require_one_run(name, specs)
    wanted = suites or STANDARD
    arguments, options = extra_arguments(context, wanted, specs)
    if not (model or suites or limit):
        limit = DEFAULT_LIMIT
        sample = f"{DEFAULT_MODEL} is asked at most {limit:,} pairs of each suite"
        note("neither model nor suites are named: %s; acidtest run -m %s asks all", sample, DEFAULT_MODEL)
    battery = Battery(wanted, source=source, limit=limit, seed=seed, arguments=arguments, reading=files.reading(specs))
    options |= {"label_map": files.label_map} if files.label_map else {}
    finished = []
    for spec in specs:
        folder = folder_for(spec, output, specs)
        finished.append(_run_model(spec, battery, asking, options=options, output=folder, name=name, quiet=quiet))
    joint = reporting.joint_report(finished, output) if len(finished) > 1 else None
    show_runs(finished, json=json, full=full, joint=joint)


def _run_model(
    spec: str,
    battery: Battery,
    asking: AskingOptions,
    *,
    options: Mapping[str, str | bool],
    output: Path | None,
    name: str,
    quiet: bool,
) -> Finished:
    """Run one model with the options that its kind takes; print its usage if it was slow or sent requests."""
    known = model_options(spec)
    with ProgressBar(spec, quiet=quiet) as progress:
        finished = evaluations.run(
            spec,
            battery,
            output=output,
            name=name,
            options={name: value for name, value in options.items() if name in known},
            progress=progress,
            collapse=asking.collapse,
            threshold=asking.threshold,
            base_rate=asking.base_rate,
            batch_size=asking.batch_size,
            premise=asking.premise,
            aggregation=asking.aggregation,
            cache=asking.cache,
            fresh=asking.fresh,
            engine=asking.engine,
            address=asking.address,
        )
        usage = finished.run.header.usage
        line = usage_line(usage) if finished.fresh and not quiet else ""
        # Requests over a network cost something, however quick they are.
        if line and (usage["seconds"] > _SLOW or "requests" in usage):
            complain(f"{spec}: {line}")
    return finished


def require_one_run(name: str, models: Sequence[object]) -> None:
    """Refuse one name for several runs."""
    if name and len(models) > 1:
        raise AcidtestError(f"--name {name} names one run, but {len(models)} models are given; run them one by one")


def show_runs(runs: Sequence[Finished], *, json: bool, full: bool = False, joint: Path | None = None) -> None:
    """Print the results of some runs: as JSON, one screen for all of them, or everything about each."""
    if json:
        results = [dict(finished.results) | {"folder": str(finished.folder)} for finished in runs]
        print_json(results[0] if len(results) == 1 else results)
        return
    for finished in runs:
        if not finished.fresh:
            who = f" of {finished.run.header.model.name}" if len(runs) > 1 else ""
            when = finished.run.header.finished
            print_lines([paint(f"This run{who} was finished before ({when}); --fresh redoes it.", "bold")])
        if full:
            print_lines([paint(finished.run.header.model.name, "bold")])
            print_document(reporting.full_document(finished))
    if not full:
        print_lines(_one_screen(runs))
    for finished in runs:
        echo(f"report: {finished.folder / REPORT}")
    if joint:
        echo(f"joint report: {joint}")


def _one_screen(runs: Sequence[Finished]) -> list[str]:
    """The scorecard, with fewer findings, then fewer edits, where all of them would not leave room for the rest."""
    others = len(runs) + sum(not finished.fresh for finished in runs)
    lines: list[str] = []
    shown = [(count, reporting.SHOWN_EDITS) for count in range(reporting.SHOWN_FINDINGS, 1, -1)]
    for findings, edits in [*shown, *((2, count) for count in range(reporting.SHOWN_EDITS - 1, 2, -1))]:
        lines = list(render_screen(reporting.scorecard(runs, findings=findings, edits=edits), terminal_width()))
        if len(lines) + others <= SCREEN:
            break
    return lines
