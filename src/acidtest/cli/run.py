"""``acidtest run``: the main job."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from acidtest import api
from acidtest.cli.options import (
    Address,
    Columns,
    Engine,
    From,
    Json,
    KeepColumns,
    LabelMap,
    PublishedAs,
    Quiet,
    Seed,
    SuiteLabelMap,
    Verbose,
    complain,
    console,
    own_arguments,
    print_json,
    set_up_logging,
)
from acidtest.cli.progress import ProgressBar, usage_line
from acidtest.core.logs import note

_PATIENCE = 2.0

Models = Annotated[
    list[str] | None,
    typer.Option(
        "--model", "-m", help="reference, hf:FOLDER, answers:FILE, python:pkg.mod:function …; may be repeated."
    ),
]
SuiteList = Annotated[
    list[str] | None,
    typer.Option(
        "--suites", "-s", help="Names, globs and files, comma-separated or repeated. Default: the standard battery."
    ),
]
Output = Annotated[
    Path | None,
    typer.Option("--output", "--output_path", "-o", help="Folder of the run. Default: under acidtest-runs."),
]
Limit = Annotated[
    int | None,
    typer.Option(
        "--limit",
        help="A stratified sample of N pairs per suite. Default: all; 3000 where neither model nor suites are named.",
        min=1,
    ),
]
CollapseOption = Annotated[str, typer.Option("--collapse", help="argmax, sum or threshold=T.")]
BatchSize = Annotated[
    int | None, typer.Option("--batch-size", "--batch_size", help="Pairs asked at once; what a kill can cost.", min=1)
]
Premise = Annotated[
    str, typer.Option("--premise", help="whole, or chunks: premises too long for the model asked part by part.")
]
Aggregation = Annotated[
    str, typer.Option("--aggregation", help="What answers to chunks come to: max-entail or any-contradict.")
]
Cache = Annotated[
    bool, typer.Option("--cache/--no-cache", help="Keep answers of models that cost something for later runs.")
]
Fresh = Annotated[bool, typer.Option("--fresh", help="Start over instead of continuing.")]


def run(
    context: typer.Context,
    model: Models = None,
    suites: SuiteList = None,
    source: From = None,
    output: Output = None,
    limit: Limit = None,
    collapse: CollapseOption = "argmax",
    batch_size: BatchSize = None,
    premise: Premise = "whole",
    aggregation: Aggregation = "max-entail",
    cache: Cache = True,
    fresh: Fresh = False,
    columns: Columns = None,
    label_map: LabelMap = None,
    suite_label_map: SuiteLabelMap = None,
    keep_columns: KeepColumns = None,
    published_as: PublishedAs = None,
    engine: Engine = "local",
    address: Address = None,
    json: Json = False,
    verbose: Verbose = 0,
    quiet: Quiet = False,
    seed: Seed = 0,
) -> None:
    """Run a model on challenge suites and report what it does.

    Suites' own options (acidtest suites NAME) and models' own (--device, --dtype …) go here too. The same command again
    continues, or prints what is done.
    """
    set_up_logging(verbose, quiet)
    specs = list(dict.fromkeys(model or [api.DEFAULT_MODEL]))
    if not (model or suites or limit):
        limit = api.DEFAULT_LIMIT
        asked = f"{api.DEFAULT_MODEL} is asked at most {limit:,} pairs of each suite"
        note("neither model nor suites are named: %s; acidtest run -m %s asks all", asked, api.DEFAULT_MODEL)
    arguments, options = own_arguments(context, suites or api.STANDARD, specs)
    battery = api.Battery(
        suites or api.STANDARD,
        source=source,
        limit=limit,
        seed=seed,
        arguments=arguments,
        reading=api.Reading.parsed(
            columns, suite_label_map or (None if _has_outputs(specs) else label_map), keep_columns, published_as
        ),
    )
    done = []
    for spec in specs:
        with ProgressBar(spec, quiet=quiet) as progress:
            done.append(
                api.run(
                    spec,
                    battery,
                    output=api.folder_for(spec, output, specs),
                    collapse=collapse,
                    batch_size=batch_size,
                    options=_options_of(spec, options, label_map),
                    premise=premise,
                    aggregation=aggregation,
                    cache=cache,
                    fresh=fresh,
                    progress=progress,
                    engine=engine,
                    address=address,
                )
            )
            usage = done[-1].run.header.usage
            line = usage_line(usage) if done[-1].fresh and not quiet else ""
            # What was asked over a network costs something, however quickly it went.
            if line and (usage["seconds"] > _PATIENCE or "requests" in usage):
                complain(f"{spec}: {line}")
    joint = api.joint_report(done, output) if len(done) > 1 else None
    show(done, json=json, joint=joint)


def _has_outputs(specs: Sequence[str]) -> bool:
    """Whether one of the models has outputs that --label-map may name; then it says nothing of files."""
    return any("label_map" in api.model_options(spec) for spec in specs)


def _options_of(spec: str, options: Mapping[str, str | bool], label_map: str | None) -> dict[str, str | bool]:
    """Those of the options that this kind of model has."""
    known = api.model_options(spec)
    given = {**options, **({"label_map": label_map} if label_map else {})}
    return {name: value for name, value in given.items() if name in known}


def show(done: list[api.Finished], *, json: bool, joint: Path | None = None) -> None:
    """Print the results of some runs."""
    if json:
        results = [dict(finished.results) | {"folder": str(finished.folder)} for finished in done]
        print_json(results[0] if len(results) == 1 else results)
        return
    from acidtest.render.terminal import print_document

    out = console()
    for finished in done:
        if not finished.fresh:
            when = finished.run.header.finished
            out.print(f"This run was finished before ({when}); --fresh redoes it.\n", style="bold", soft_wrap=True)
        out.print(finished.run.header.model.name, style="bold", markup=False)
        print_document(api.scores_document(finished), out, full=False)
        out.print(f"\nreport: {finished.folder / api.REPORT}", soft_wrap=True)
    if joint:
        out.print(f"joint report: {joint}", soft_wrap=True)
