"""``acidtest experiment``: repeat a paper's training experiment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from acidtest.cli.options import (
    Columns,
    Json,
    LabelMap,
    Quiet,
    Seed,
    left_arguments,
    print_document,
    print_json,
)
from acidtest.cli.progress import ProgressBar
from acidtest.cli.study_commands import show
from acidtest.cli.training_options import Dev, NetworkOptions, Train, whole_numbers
from acidtest.core.document import Column, Document, Row, Table
from acidtest.core.errors import AcidtestError
from acidtest.core.study import STUDIES
from acidtest.workflows import experiments
from acidtest.workflows.batteries import Reading
from acidtest.workflows.experiments import EXPERIMENTS, ExperimentOptions
from acidtest.workflows.training import architecture_options, architectures


@dataclass(frozen=True)
class ArmOptions:
    """What the arms of an experiment are trained and tested on."""

    test: Annotated[
        list[Path] | None, typer.Option("--test", help="Pairs to ask besides, such as MultiNLI's; may be repeated.")
    ] = None
    suite: Annotated[
        str | None,
        typer.Option("--suite", "-s", help="The challenge: hans, lexical … or a file. Default: the paper's."),
    ] = None
    n: Annotated[
        int | None, typer.Option("-n", help="Its size: pairs of each subcase of HANS, source pairs elsewhere.", min=1)
    ] = None
    words: Annotated[str, typer.Option("--words", help="Of HANS, tested and added: fresh, published or a file.")] = (
        "fresh"
    )
    augment_n: Annotated[
        int, typer.Option("--augment-n", help="HANS-like pairs of each subcase that are trained on.", min=1)
    ] = 1000
    augment_seed: Annotated[
        int | None, typer.Option("--augment-seed", help="Their seed. Default: the one after --seed.", min=0)
    ] = None
    fold: Annotated[str | None, typer.Option("--fold", help="Of withheld: 1 to 5, or several: 1,5. Default: all.")] = (
        None
    )
    add: Annotated[
        list[str] | None,
        typer.Option("--add", help="Of training-mixes: NAME=FILE or NAME=FILE,FILE, such as MultiNLI=mnli.jsonl."),
    ] = None
    baseline: Annotated[
        bool, typer.Option("--baseline/--no-baseline", help="Whether to train on the pairs as they are, too.")
    ] = True
    columns: Columns = None
    label_map: LabelMap = None
    seed: Seed = 0

    @property
    def choices(self) -> dict[str, Any]:
        """The options as keyword arguments of ``ExperimentOptions``."""
        return {
            "tests": self.test or (),
            "suite": self.suite,
            "n": self.n,
            "words": self.words,
            "augment_n": self.augment_n,
            "augment_seed": self.augment_seed,
            **({"folds": whole_numbers(self.fold, "--fold")} if self.fold else {}),
            "additions": _additions(self.add or ()),
            "baseline": self.baseline,
            "reading": Reading.parsed(self.columns, self.label_map),
            "seed": self.seed,
        }


def experiment(
    context: typer.Context,
    name: Annotated[
        str | None, typer.Argument(help="Which: " + ", ".join(EXPERIMENTS) + ". Without one, they are listed.")
    ] = None,
    architectures: Annotated[
        str, typer.Argument(help="What to train, separated by commas: esim,decomposable-attention, or esim:PRESET.")
    ] = "",
    train: Train = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="The experiment's folder.")] = None,
    dev: Dev = None,
    *,
    arms: ArmOptions,
    network: NetworkOptions,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Train networks as a paper's experiment does and put its table beside yours.

    The same command continues what was stopped; more architectures, seeds and folds can be added to it. Options of the
    architectures, such as --hidden 300, go here too.
    """
    if name is None:
        _list_experiments(json=json)
        return
    if not (architectures and train and output):
        raise AcidtestError(f"acidtest experiment {name} needs ARCHITECTURES, --train FILE and -o FOLDER")
    names = _parts(architectures)
    options = ExperimentOptions(
        train,
        names,
        output,
        dev=dev,
        seeds=whole_numbers(network.seeds, "--seeds"),
        recipe=network.recipe,
        settings=network.settings,
        arguments=left_arguments(context, _architecture_options(names)),
        **arms.choices,
    )
    result = experiments.experiment(name, options, bars=lambda title: ProgressBar(title, quiet=quiet or json))
    show(STUDIES["experiments"], result, {"json": json}, written={"page": output / experiments.EXPERIMENT_PAGE})


def _list_experiments(*, json: bool) -> None:
    papers = experiments.experiment_papers()
    if json:
        print_json(
            {
                name: {
                    "paper": paper.paper,
                    "preset": paper.preset,
                    "tables": paper.tables,
                    "title": paper.title,
                    "told": paper.summary,
                }
                for name, paper in papers.items()
            }
        )
        return
    rows = tuple(Row(name, (paper.summary, f"{paper.paper}, {paper.tables}")) for name, paper in papers.items())
    table = Table(
        "experiments", "", (Column("what it does", "text"), Column("repeats", "text")), rows, corner="experiment"
    )
    headline = "Experiments in training: acidtest experiment NAME ARCHITECTURES --train FILE -o FOLDER."
    print_document(Document("acidtest experiment", headline, (table,)))


def _architecture_options(networks: Sequence[str]) -> set[str]:
    """The names of the options of all these networks' architectures."""
    known = architectures()
    names = (network.partition(":")[0] for network in networks)
    return {option for name in names if name in known for option in architecture_options(name)}


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _additions(texts: Sequence[str]) -> dict[str, list[Path]]:
    """The files of each added corpus, parsed from ``NAME=FILE,FILE``."""
    additions: dict[str, list[Path]] = {}
    for text in texts:
        name, equals, files = text.partition("=")
        if not (name and equals and files):
            raise AcidtestError(f"--add is NAME=FILE, such as MultiNLI=multinli_1.0_train.jsonl, not {text!r}")
        additions.setdefault(name, []).extend(map(Path, _parts(files)))
    return additions
