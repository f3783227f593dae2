"""``acidtest train``: train a paper's architecture on a user's pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from acidtest.cli.options import (
    Columns,
    Json,
    LabelMap,
    Quiet,
    echo,
    left_arguments,
    print_document,
    print_json,
)
from acidtest.cli.progress import ProgressBar
from acidtest.cli.training_options import Dev, NetworkOptions, Train, whole_numbers
from acidtest.core.document import Column, Document, Row, Table
from acidtest.core.errors import AcidtestError
from acidtest.core.escaping import quote_argument
from acidtest.workflows import training
from acidtest.workflows.batteries import Reading
from acidtest.workflows.training import Material, architecture_options, architectures
from acidtest.workflows.training.records import score_estimates, spread_over_seeds

if TYPE_CHECKING:
    from acidtest.workflows.training import TrainingResult


@dataclass(frozen=True)
class MaterialOptions:
    """What to train and test on besides the files of --train, and what to leave out."""

    test: Annotated[list[Path] | None, typer.Option("--test", help="Pairs to score at the end; may be repeated.")] = (
        None
    )
    limit: Annotated[
        int | None, typer.Option("--limit", help="Learn from a sample of so many pairs of --train.", min=1)
    ] = None
    augment: Annotated[list[str] | None, typer.Option("--augment", help="Suites to learn from, too.")] = None
    augment_n: Annotated[int | None, typer.Option("--augment-n", help="Their rows per subcase or category.", min=1)] = (
        None
    )
    augment_seed: Annotated[
        int, typer.Option("--augment-seed", help="Their seed; suites are tested with seed 0.", min=0)
    ] = 1
    withhold: Annotated[
        list[str] | None, typer.Option("--withhold", help="Subcases left out of the suites of --augment.")
    ] = None
    columns: Columns = None
    label_map: LabelMap = None


def train(
    context: typer.Context,
    architecture: Annotated[
        str | None, typer.Argument(help="What to train: " + ", ".join(architectures()) + ".")
    ] = None,
    train: Train = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The folder to train in, a folder in it for each of several seeds."),
    ] = None,
    dev: Dev = None,
    listed: Annotated[
        bool, typer.Option("--list", help="What there is to train; with an architecture, its options and presets.")
    ] = False,
    preset: Annotated[str, typer.Option("--preset", help="Settings of a paper, such as glockner2018.")] = "",
    merged: Annotated[
        bool | None, typer.Option("--merge-labels", help="Neutral and contradiction are one label, non-entailment.")
    ] = None,
    hypothesis_only: Annotated[bool | None, typer.Option("--hypothesis-only", help="Show no premise.")] = None,
    *,
    network: NetworkOptions,
    extra: MaterialOptions,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Train a paper's architecture on your pairs; the same command continues what was stopped.

    Options of the architecture, such as --hidden 300, go here too; acidtest train NAME --list shows them.
    """
    if listed or architecture is None:
        _list_architectures(architecture, json=json)
        return
    arguments = left_arguments(context, architecture_options(architecture), _describe_owners)
    if not train or output is None:
        raise AcidtestError(f"acidtest train {architecture} needs --train FILE and -o FOLDER")
    with ProgressBar(f"training {architecture}", quiet=quiet or json) as progress:
        networks = training.train(
            architecture,
            _material(train, dev, extra),
            output=output,
            preset=preset,
            arguments=arguments,
            recipe=network.recipe,
            seeds=whole_numbers(network.seeds, "--seeds"),
            merged=merged,
            hypothesis_only=hypothesis_only,
            progress=progress,
            watch=progress.show_state,
            **network.settings,
        )
    if json:
        print_json(training.training_json(networks))
    else:
        _print_networks(networks, output)


def _material(train: Sequence[Path], dev: Path | None, extra: MaterialOptions) -> Material:
    return Material(
        train,
        dev,
        extra.test or (),
        extra.augment or (),
        augment_seed=extra.augment_seed,
        augment_n=extra.augment_n,
        withhold=extra.withhold or (),
        limit=extra.limit,
        reading=Reading.parsed(extra.columns, extra.label_map),
    )


def _describe_owners(option: str) -> str:
    """A phrase on which architectures have an option; empty if none has."""
    names = [name for name in architectures() if option in architecture_options(name)]
    return f"an option of {', '.join(names)}; see: acidtest train {names[0]} --list" if names else ""


def _print_networks(networks: Sequence[TrainingResult], output: Path) -> None:
    for network in networks:
        best = network.best
        dev = f"{best['dev_accuracy']:.1%} of --dev right, " if "dev_accuracy" in best else ""
        done = "is trained already: " if network.again else ""
        kept = f"epoch {best['epoch']:.0f} of {len(network.state.curve)} kept, {dev}loss {best['loss']:.3f}"
        echo(f"{network.spec} {done}{kept}")
        for name, one in score_estimates(network).items():
            echo(f"  {name}: {one.value:.1%} right ({100 * one.low:.1f}–{100 * one.high:.1f}, n = {one.n:,})")
    if len(networks) > 1:
        for name, spread in spread_over_seeds(networks).items():
            echo(
                f"{name}: {spread['mean']:.1%} right over {len(networks)} seeds, "
                f"standard deviation {100 * spread['sd']:.1f} points ({spread['low']:.1%}–{spread['high']:.1%})"
            )
    spec = quote_argument(networks[0].spec)
    echo(f"card, curve and weights: {output}; run it with: acidtest run -m {spec}")


def _list_architectures(name: str | None, *, json: bool) -> None:
    """Print what can be trained or, of one architecture, its options and presets."""
    if json:
        print_json(_architecture_json(name))
    else:
        print_document(_architecture_document(name) if name else _architectures_document())


def _architecture_json(name: str | None) -> dict[str, Any]:
    if name is None:
        return {
            kind.name: {"summary": kind.summary, "citation": kind.citation, "presets": list(kind.presets)}
            for kind in architectures().values()
        }
    options = architecture_options(name)
    kind = architectures()[name]
    return {
        "options": {option.name: option.default for option in options.values()},
        "defaults": dict(kind.defaults),
        "presets": {preset: dict(values) for preset, values in kind.presets.items()},
    }


def _architectures_document() -> Document:
    titles = tuple(Column(title, "text") for title in ("what it is", "described by", "presets"))
    rows = tuple(
        Row(kind.name, (kind.summary, kind.citation, ", ".join(kind.presets))) for kind in architectures().values()
    )
    headline = "Architectures: acidtest train NAME --list shows the options and presets of one."
    return Document("acidtest train", headline, (Table("architectures", "", titles, rows, "architecture"),))


def _architecture_document(name: str) -> Document:
    options = architecture_options(name)
    kind = architectures()[name]
    presets: Mapping[str, Mapping[str, Any]] = {"(none)": kind.defaults, **kind.presets}
    option_rows = tuple(
        Row(option.flag, (str(option.shown), " or ".join(option.choices))) for option in options.values()
    )
    preset_rows = tuple(
        Row(preset, (", ".join(_describe_setting(key, value) for key, value in values.items()),))
        for preset, values in presets.items()
    )
    return Document(
        f"acidtest train {name}",
        f"{name}: {kind.summary} ({kind.citation}).",
        (
            Table("options", "", (Column("default", "text"), Column("values", "text")), option_rows, "option"),
            Table("presets", "", (Column("sets", "text"),), preset_rows, "preset"),
        ),
    )


def _describe_setting(key: str, value: object) -> str:
    """A setting of a preset, as options are written."""
    if key == "embeddings_tuned":
        return "vectors tuned" if value else "vectors fixed"
    written = ",".join(value) if isinstance(value, list) else str(value).lower()
    return f"{key.replace('_', '-')} {written}"
