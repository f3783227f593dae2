"""``acidtest representations``: what a model's layers hold."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from acidtest import api
from acidtest.cli.options import (
    Columns,
    From,
    Json,
    LabelMap,
    Quiet,
    Seed,
    Verbose,
    console,
    own_arguments,
    print_json,
    set_up_logging,
)
from acidtest.cli.progress import ProgressBar
from acidtest.cli.report import show_written


def representations(
    context: typer.Context,
    model: Annotated[str, typer.Argument(help="A model that shows its layers: hf:PATH_OR_NAME, python:pkg.mod:name.")],
    suite: Annotated[str, typer.Option("--suite", "-s", help="A suite or file; best one with categories: taxinli.")],
    source: From = None,
    limit: Annotated[int, typer.Option("--limit", help="A stratified sample of N pairs.", min=1)] = api.LAYER_LIMIT,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="An interactive page with maps.")] = None,
    plots: Annotated[Path | None, typer.Option("--plots", help="Folder for the maps as SVG and PNG.")] = None,
    keep: Annotated[
        Path | None, typer.Option("--keep", help="An .npz file that takes the representations, and gives them back.")
    ] = None,
    by: Annotated[
        list[str] | None, typer.Option("--by", help="A further factor to look for, such as genre; may be repeated.")
    ] = None,
    permutations: Annotated[
        int, typer.Option("--permutations", help="How often labels are dealt anew for the baseline.", min=1)
    ] = 199,
    columns: Columns = None,
    label_map: LabelMap = None,
    json: Json = False,
    verbose: Verbose = 0,
    quiet: Quiet = False,
    seed: Seed = 0,
) -> None:
    """Tell which layers of a model tell categories of reasoning and labels apart, in numbers and as maps.

    Linear probes and silhouettes of every layer against labels dealt anew; with -o t-SNE maps of the layers (Joshi et
    al. 2020, figure 7).
    """
    set_up_logging(verbose, quiet)
    arguments, options = own_arguments(context, [suite], [model])
    if label_map and "label_map" in api.model_options(model):
        options["label_map"] = label_map
    with Bars(quiet=quiet) as progress:
        found = api.representations(
            model,
            suite,
            source=source,
            limit=limit,
            output=output,
            plots=plots,
            keep=keep,
            by=by or (),
            permutations=permutations,
            options=options,
            arguments=arguments,
            reading=api.Reading.parsed(columns, label_map),
            seed=seed,
            progress=progress,
        )
    written = {"page": output, "plots": plots, "representations": keep}
    if json:
        print_json(found.to_json() | {name: str(path) for name, path in written.items() if path})
        return
    out = console()
    for part in api.representation_tables(found):
        out.print(part)
    show_written(written, json=False)


class Bars:
    """A progress bar for each step, one after the other."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._title = ""
        self._bar: ProgressBar | None = None

    def __enter__(self) -> Bars:
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def __call__(self, title: str, done: int, total: int) -> None:
        if title != self._title or self._bar is None:
            self._close()
            self._title, self._bar = title, ProgressBar(title, quiet=self._quiet)
        self._bar(done, total)

    def _close(self) -> None:
        if self._bar is not None:
            self._bar.__exit__(None, None, None)
