"""``acidtest experiment``: the papers' experiments in training, one command each."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from acidtest import api
from acidtest.cli.options import (
    Columns,
    Json,
    LabelMap,
    Quiet,
    Seed,
    Verbose,
    console,
    left_arguments,
    print_json,
    set_up_logging,
)
from acidtest.cli.progress import ProgressBar
from acidtest.cli.report import show_written
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


def experiment(
    context: typer.Context,
    name: Annotated[
        str | None, typer.Argument(help="Which: " + ", ".join(api.EXPERIMENTS) + ". Without one, they are listed.")
    ] = None,
    architectures: Annotated[
        str, typer.Argument(help="What to train, separated by commas: esim,decomposable-attention, or esim:PRESET.")
    ] = "",
    train: Train = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="The experiment's folder.")] = None,
    dev: Dev = None,
    test: Annotated[
        list[Path] | None, typer.Option("--test", help="Pairs to ask besides, such as MultiNLI's; may be repeated.")
    ] = None,
    suite: Annotated[
        str | None,
        typer.Option("--suite", "-s", help="The challenge: hans, lexical … or a file. Default: the paper's."),
    ] = None,
    n: Annotated[
        int | None, typer.Option("-n", help="Its size: pairs of each subcase of HANS, source pairs elsewhere.", min=1)
    ] = None,
    words: Annotated[
        str, typer.Option("--words", help="Of HANS, tested and added: fresh, published or a file.")
    ] = "fresh",
    augment_n: Annotated[
        int, typer.Option("--augment-n", help="HANS-like pairs of each subcase that are trained on.", min=1)
    ] = 1000,
    augment_seed: Annotated[
        int | None, typer.Option("--augment-seed", help="Their seed. Default: the one after --seed.", min=0)
    ] = None,
    fold: Annotated[
        str | None, typer.Option("--fold", help="Of withheld: 1 to 5, or several: 1,5. Default: all.")
    ] = None,
    add: Annotated[
        list[str] | None,
        typer.Option("--add", help="Of training-mixes: NAME=FILE or NAME=FILE,FILE, such as MultiNLI=mnli.jsonl."),
    ] = None,
    baseline: Annotated[
        bool, typer.Option("--baseline/--no-baseline", help="Whether to train on the pairs as they are, too.")
    ] = True,
    embeddings: Embeddings = None,
    dimensions: Dimensions = None,
    tuned: Tuned = None,
    epochs: Epochs = None,
    batch_size: BatchSize = None,
    learning_rate: LearningRate = None,
    patience: Patience = None,
    precision: Precision = None,
    seeds: Annotated[str, typer.Option("--seeds", help="Once for each: 0,1,2.")] = "0",
    device: Device = None,
    columns: Columns = None,
    label_map: LabelMap = None,
    json: Json = False,
    verbose: Verbose = 0,
    quiet: Quiet = False,
    seed: Seed = 0,
) -> None:
    """Train networks as a paper's experiment does and put its table beside yours.

    The same command goes on with what was stopped; more architectures, seeds and folds can be added to it. Options of
    the architectures' own, such as --hidden 300, go here too.
    """
    set_up_logging(verbose, quiet)
    if name is None:
        _show_experiments(json=json)
        return
    if not (architectures and train and output):
        raise AcidtestError(f"acidtest experiment {name} needs ARCHITECTURES, --train FILE and -o FOLDER")
    recipe = given(
        epochs=epochs, batch_size=batch_size, learning_rate=learning_rate, patience=patience, precision=precision
    )
    settings: dict[str, Any] = {"embeddings": embeddings, "dimensions": dimensions, "embeddings_tuned": tuned}
    networks = _parts(architectures)
    wish = api.Wish(
        train,
        networks,
        output,
        dev=dev,
        tests=test or (),
        seeds=whole_numbers(seeds, "--seeds"),
        suite=suite,
        n=n,
        seed=seed,
        words=words,
        augment_n=augment_n,
        augment_seed=augment_seed,
        **({"folds": whole_numbers(fold, "--fold")} if fold else {}),
        additions=_additions(add or ()),
        baseline=baseline,
        recipe=recipe,
        arguments=left_arguments(context, _options(networks)),
        settings={**settings, "device": device},
        reading=api.Reading.parsed(columns, label_map),
    )
    found = api.experiment(name, wish, bars=lambda title: ProgressBar(title, quiet=quiet or json))
    if json:
        print_json(found.to_json() | {"page": str(output / api.EXPERIMENT_PAGE)})
        return
    out = console()
    for part in api.experiment_tables(found):
        out.print(part)
    show_written({"page": output / api.EXPERIMENT_PAGE}, json=False)


def _show_experiments(*, json: bool) -> None:
    """Which experiments there are, and whose."""
    papers = api.experiment_papers()
    if json:
        told = {"title", "told", "paper", "tables", "preset"}
        print_json({name: {key: getattr(paper, key) for key in sorted(told)} for name, paper in papers.items()})
        return
    from rich import box
    from rich.table import Table

    table = Table("experiment", "what it does", "repeats", box=box.SIMPLE_HEAD)
    for name, paper in papers.items():
        table.add_row(name, paper.told, f"{paper.paper}, {paper.tables}")
    console().print(table)


def _options(networks: Sequence[str]) -> set[str]:
    """The options of all architectures named."""
    known = api.architectures()
    names = (network.partition(":")[0] for network in networks)
    return {option for name in names if name in known for option in api.architecture_options(name)}


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _additions(written: Sequence[str]) -> dict[str, list[Path]]:
    found: dict[str, list[Path]] = {}
    for one in written:
        name, equals, files = one.partition("=")
        if not (name and equals and files):
            raise AcidtestError(f"--add is NAME=FILE, such as MultiNLI=multinli_1.0_train.jsonl, not {one!r}")
        found.setdefault(name, []).extend(map(Path, _parts(files)))
    return found
