"""``acidtest train``: a paper's architecture on a user's pairs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from acidtest import api
from acidtest.cli.options import (
    Columns,
    Json,
    LabelMap,
    Quiet,
    Verbose,
    console,
    echo,
    left_arguments,
    print_json,
    set_up_logging,
)
from acidtest.cli.progress import ProgressBar
from acidtest.cli.training_options import (
    BatchSize,
    Dev,
    Device,
    Dimensions,
    Embeddings,
    Epochs,
    LearningRate,
    Patience,
    Precision,
    Train,
    Tuned,
    given,
    whole_numbers,
)
from acidtest.core.errors import AcidtestError

if TYPE_CHECKING:
    from acidtest.workflows.training import Trained


def train(
    context: typer.Context,
    architecture: Annotated[
        str | None, typer.Argument(help="What to train: " + ", ".join(api.architectures()) + ".")
    ] = None,
    train: Train = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The folder to train in; zoo:FOLDER runs it.")
    ] = None,
    dev: Dev = None,
    test: Annotated[
        list[Path] | None, typer.Option("--test", help="Pairs to score at the end; may be repeated.")
    ] = None,
    listed: Annotated[
        bool, typer.Option("--list", help="What there is to train; with an architecture, its options and presets.")
    ] = False,
    preset: Annotated[str, typer.Option("--preset", help="Settings of a paper, such as glockner2018.")] = "",
    embeddings: Embeddings = None,
    dimensions: Dimensions = None,
    tuned: Tuned = None,
    merged: Annotated[
        bool | None, typer.Option("--merge-labels", help="Neutral and contradiction are one label, non-entailment.")
    ] = None,
    hypothesis_only: Annotated[
        bool | None, typer.Option("--hypothesis-only", help="Show the network no premise.")
    ] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", help="Learn from a sample of so many pairs of --train.", min=1)
    ] = None,
    augment: Annotated[list[str] | None, typer.Option("--augment", help="Suites to learn from, too.")] = None,
    augment_n: Annotated[
        int | None, typer.Option("--augment-n", help="Their rows per subcase or category.", min=1)
    ] = None,
    augment_seed: Annotated[
        int, typer.Option("--augment-seed", help="Their seed; suites are tested with seed 0.", min=0)
    ] = 1,
    withhold: Annotated[list[str] | None, typer.Option("--withhold", help="Subcases left out of these.")] = None,
    epochs: Epochs = None,
    batch_size: BatchSize = None,
    learning_rate: LearningRate = None,
    patience: Patience = None,
    precision: Precision = None,
    seeds: Annotated[str, typer.Option("--seeds", help="Once for each, such as 0,1,2, in DIR/seed-0 and so on.")] = "0",
    device: Device = None,
    columns: Columns = None,
    label_map: LabelMap = None,
    json: Json = False,
    verbose: Verbose = 0,
    quiet: Quiet = False,
) -> None:
    """Train a paper's architecture on your pairs; the same command goes on with what was stopped.

    Options of the architecture's own, such as --hidden 300, go here too; acidtest train NAME --list tells them.
    """
    set_up_logging(verbose, quiet)
    if listed or architecture is None:
        _show_architectures(architecture, json=json)
        return
    arguments = left_arguments(context, api.architecture_options(architecture), _whose)
    if not train or output is None:
        raise AcidtestError(f"acidtest train {architecture} needs --train FILE and -o FOLDER")
    material = api.Material(
        train,
        dev,
        test or (),
        augment or (),
        augment_seed=augment_seed,
        augment_n=augment_n,
        withhold=withhold or (),
        limit=limit,
        reading=api.Reading.parsed(columns, label_map),
    )
    recipe = given(
        epochs=epochs, batch_size=batch_size, learning_rate=learning_rate, patience=patience, precision=precision
    )
    with ProgressBar(f"training {architecture}", quiet=quiet or json) as progress:
        found = api.train(
            architecture,
            material,
            output=output,
            preset=preset,
            arguments=arguments,
            recipe=recipe,
            seeds=whole_numbers(seeds, "--seeds"),
            embeddings=embeddings,
            dimensions=dimensions,
            embeddings_tuned=tuned,
            merged=merged,
            hypothesis_only=hypothesis_only,
            device=device,
            progress=progress,
            watch=progress.called,
        )
    if json:
        print_json(api.training_json(found))
        return
    _show(found, output)


def _whose(option: str) -> str:
    """Which architectures have an option, for those who give it to another."""
    names = [name for name in api.architectures() if option in api.architecture_options(name)]
    return f"an option of {', '.join(names)}; see: acidtest train {names[0]} --list" if names else ""


def _show(found: list[Trained], output: Path) -> None:
    for each in found:
        best = each.best
        dev = f"{best['dev_accuracy']:.1%} of --dev right, " if "dev_accuracy" in best else ""
        done = "is trained already: " if each.again else ""
        kept = f"epoch {best['epoch']:.0f} of {len(each.state.curve)} kept, {dev}loss {best['loss']:.3f}"
        echo(f"zoo:{each.folder} {done}{kept}")
        for name, one in api.training_estimates(each).items():
            echo(f"  {name}: {one.value:.1%} right ({100 * one.low:.1f}–{100 * one.high:.1f}, n = {one.n:,})")
    if len(found) > 1:
        for name, told in api.training_spread(found).items():
            echo(
                f"{name}: {told['mean']:.1%} right over {len(found)} seeds, "
                f"standard deviation {100 * told['sd']:.1f} points ({told['low']:.1%}–{told['high']:.1%})"
            )
    echo(f"card, curve and weights: {output}; run it with: acidtest run -m zoo:{found[0].folder}")


def _show_architectures(name: str | None, *, json: bool) -> None:
    """What can be trained, or what an architecture can be told."""
    if name is None:
        kinds = api.architectures().values()
        if json:
            print_json(
                {
                    kind.name: {"summary": kind.summary, "citation": kind.citation, "presets": list(kind.presets)}
                    for kind in kinds
                }
            )
            return
        _print_table(
            ("architecture", "what it is", "described by", "presets"),
            [(kind.name, kind.summary, kind.citation, ", ".join(kind.presets)) for kind in kinds],
        )
        return
    options = api.architecture_options(name)
    kind = api.architectures()[name]
    if json:
        print_json(
            {
                "options": {option.name: option.default for option in options.values()},
                "defaults": dict(kind.defaults),
                "presets": {preset: dict(own) for preset, own in kind.presets.items()},
            }
        )
        return
    echo(f"{name}: {kind.summary} ({kind.citation})")
    _print_table(
        ("option", "default", "values"),
        [(option.flag, option.shown, " or ".join(option.choices)) for option in options.values()],
    )
    settings: Mapping[str, Mapping[str, Any]] = {"(none)": kind.defaults, **kind.presets}
    _print_table(
        ("preset", "sets"),
        [(preset, ", ".join(_set(key, value) for key, value in own.items())) for preset, own in settings.items()],
    )


def _set(key: str, value: object) -> str:
    """A setting of a preset, as options are written."""
    if key == "embeddings_tuned":
        return "vectors tuned" if value else "vectors fixed"
    written = ",".join(value) if isinstance(value, list) else str(value).lower()
    return f"{key.replace('_', '-')} {written}"


def _print_table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
    from rich import box
    from rich.table import Table

    table = Table(*head, box=box.SIMPLE_HEAD)
    for row in rows:
        table.add_row(*map(str, row))
    console().print(table)
