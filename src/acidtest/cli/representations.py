"""``acidtest representations``: which categories and labels a model's layers tell apart."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from acidtest.cli.options import Columns, From, Json, LabelMap, Quiet, Seed, extra_arguments
from acidtest.cli.progress import ProgressBar
from acidtest.cli.study_commands import check_output, show
from acidtest.core.study import STUDIES
from acidtest.workflows import representations as layers
from acidtest.workflows.batteries import Reading
from acidtest.workflows.evaluations import model_options
from acidtest.workflows.representations import LAYER_LIMIT


def representations(
    context: typer.Context,
    model: Annotated[str, typer.Argument(help="A model that shows its layers: hf:PATH_OR_NAME, python:pkg.mod:name.")],
    suite: Annotated[str, typer.Option("--suite", "-s", help="A suite or file; best one with categories: taxinli.")],
    source: From = None,
    limit: Annotated[int, typer.Option("--limit", help="A stratified sample of N pairs.", min=1)] = LAYER_LIMIT,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="An interactive page with maps.")] = None,
    plots: Annotated[Path | None, typer.Option("--plots", help="Folder for maps and curves as SVG and PNG.")] = None,
    keep: Annotated[
        Path | None, typer.Option("--keep", help="An .npz file to write the representations to, and read them from.")
    ] = None,
    by: Annotated[
        list[str] | None, typer.Option("--by", help="A further factor to look for, such as genre; may be repeated.")
    ] = None,
    permutations: Annotated[
        int, typer.Option("--permutations", help="How often labels are shuffled for the baseline.", min=1)
    ] = 199,
    columns: Columns = None,
    label_map: LabelMap = None,
    json: Json = False,
    quiet: Quiet = False,
    seed: Seed = 0,
) -> None:
    """Show which layers of a model tell categories of reasoning and labels apart, in numbers and as maps.

    Linear probes and silhouettes of every layer against shuffled labels; with -o t-SNE maps of the layers (Joshi et al.
    2020, figure 7).
    """
    study = STUDIES["representations"]
    check_output(study, output)
    arguments, options = extra_arguments(context, [suite], [model])
    if label_map and "label_map" in model_options(model):
        options["label_map"] = label_map
    with StepBars(quiet=quiet) as progress:
        result = layers.representations(
            model,
            suite,
            source=source,
            limit=limit,
            maps=bool(output or plots),
            keep=keep,
            by=by or (),
            permutations=permutations,
            options=options,
            arguments=arguments,
            reading=Reading.parsed(columns, label_map),
            seed=seed,
            progress=progress,
        )
    written = {"representations": keep} if keep else {}
    show(study, result, {"output": output, "plots": plots, "json": json}, written=written, full=False)


class StepBars:
    """A progress bar for each step, one after the other."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._title = ""
        self._bar: ProgressBar | None = None

    def __enter__(self) -> StepBars:
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
