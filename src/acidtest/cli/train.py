"""``acidtest train``: a paper's architecture on a user's pairs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from acidtest import api
from acidtest.cli.options import (
    OPEN,
    Columns,
    Json,
    LabelMap,
    Quiet,
    Verbose,
    console,
    left_arguments,
    print_json,
    set_up_logging,
)
from acidtest.cli.progress import ProgressBar
from acidtest.core.errors import AcidtestError

if TYPE_CHECKING:
    from acidtest.api.training import Trained

CONTEXT = OPEN


def train(
    context: typer.Context,
    architecture: Annotated[
        str | None, typer.Argument(help="What to train: " + ", ".join(api.architectures()) + ".")
    ] = None,
    train: Annotated[list[Path] | None, typer.Option("--train", help="Pairs to learn from; may be repeated.")] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The folder to train in; zoo:FOLDER runs it.")
    ] = None,
    dev: Annotated[Path | None, typer.Option("--dev", help="Pairs that tell when to stop; the best is kept.")] = None,
    test: Annotated[
        list[Path] | None, typer.Option("--test", help="Pairs to score at the end; may be repeated.")
    ] = None,
    listed: Annotated[
        bool, typer.Option("--list", help="What there is to train; with an architecture, its options and presets.")
    ] = False,
    preset: Annotated[str, typer.Option("--preset", help="Settings of a paper, such as glockner2018.")] = "",
    embeddings: Annotated[
        str | None, typer.Option("--embeddings", help="random, or a file of vectors: GloVe, word2vec, JSON, .npz.")
    ] = None,
    dimensions: Annotated[int | None, typer.Option("--dimensions", help="Numbers of a random vector.", min=1)] = None,
    tuned: Annotated[
        bool | None, typer.Option("--tuned/--fixed", help="Whether vectors are learnt further or stay as they are.")
    ] = None,
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
    epochs: Annotated[int | None, typer.Option("--epochs", help="At most so many.", min=1)] = None,
    batch_size: Annotated[int | None, typer.Option("--batch-size", help="Pairs learnt from at once.", min=1)] = None,
    learning_rate: Annotated[float | None, typer.Option("--learning-rate", help="How far a step goes.")] = None,
    patience: Annotated[
        int | None, typer.Option("--patience", help="Epochs without a better score on --dev, then it ends.", min=1)
    ] = None,
    precision: Annotated[
        str | None, typer.Option("--precision", help="auto, full or bf16: of products while learning.")
    ] = None,
    seeds: Annotated[str, typer.Option("--seeds", help="Once for each, such as 0,1,2, in DIR/seed-0 and so on.")] = "0",
    device: Annotated[str | None, typer.Option("--device", help="auto, cpu, cuda or cuda:1.")] = None,
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
    arguments = left_arguments(context, api.architecture_options(architecture))
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
    recipe = {
        "epochs": epochs,
        "batch_size": batch_size,
        "learning_rate": learning_rate,
        "patience": patience,
        "precision": precision,
    }
    with ProgressBar(f"training {architecture}", quiet=quiet or json) as progress:
        found = api.train(
            architecture,
            material,
            output=output,
            preset=preset,
            arguments=arguments,
            recipe={name: value for name, value in recipe.items() if value is not None},
            seeds=_seeds(seeds),
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


def _seeds(text: str) -> list[int]:
    try:
        return [int(seed) for seed in text.split(",")]
    except ValueError as error:
        raise AcidtestError(f"--seeds is a list of different whole numbers such as 0,1,2, not {text!r}") from error


def _show(found: list[Trained], output: Path) -> None:
    for each in found:
        best = each.best
        dev = f"{best['dev_accuracy']:.1%} of --dev right, " if "dev_accuracy" in best else ""
        done = "is trained already: " if each.again else ""
        kept = f"epoch {best['epoch']:.0f} of {len(each.state.curve)} kept, {dev}loss {best['loss']:.3f}"
        typer.echo(f"zoo:{each.folder} {done}{kept}")
        for name, one in api.training_estimates(each).items():
            typer.echo(f"  {name}: {one.value:.1%} right ({100 * one.low:.1f}–{100 * one.high:.1f}, n = {one.n:,})")
    if len(found) > 1:
        for name, told in api.training_spread(found).items():
            typer.echo(
                f"{name}: {told['mean']:.1%} right over {len(found)} seeds, "
                f"standard deviation {100 * told['sd']:.1f} points ({told['low']:.1%}–{told['high']:.1%})"
            )
    typer.echo(f"card, curve and weights: {output}; run it with: acidtest run -m zoo:{found[0].folder}")


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
    typer.echo(f"{name}: {kind.summary} ({kind.citation})")
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
