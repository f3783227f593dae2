"""The training experiments of the papers, each as one call that continues where it was stopped."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from acidtest.core.errors import AcidtestError, FileError, UnknownNameError
from acidtest.core.files import Lock, write_json, write_page
from acidtest.core.logs import note, stage
from acidtest.core.run import HEADER, Run
from acidtest.core.serialise import to_json
from acidtest.core.structured import read_json
from acidtest.core.suite import Suite
from acidtest.version import __version__
from acidtest.workflows.batteries import Battery
from acidtest.workflows.evaluations import run
from acidtest.workflows.experiments.claims import (
    ARMS,
    EXPERIMENTS,
    ExperimentOptions,
    claim_folder,
    experiment_settings,
)
from acidtest.workflows.training import Material, architecture_options, architectures, plan_training, train

if TYPE_CHECKING:
    from acidtest.studies.experiments import ExperimentResult, Paper, TrainedNetwork
    from acidtest.workflows.experiments.designs import ArmFiles, Design
    from acidtest.zoo.training import TrainingOptions, TrainingResult

RESULT, EXPERIMENT_PAGE = "experiment.json", "experiment.html"
FACTS, TESTS = "trained.json", "tests"

Progress = Callable[[int, int], None]
Bars = Callable[[str], AbstractContextManager[Progress]]
"""Gives the progress bar of one step, by its title."""


@dataclass(frozen=True)
class NetworkSpec:
    """An architecture with a preset, as an experiment trains it."""

    architecture: str
    preset: str

    @property
    def name(self) -> str:
        """The spec as written on a command line."""
        return f"{self.architecture}:{self.preset}" if self.preset else self.architecture


@dataclass(frozen=True)
class TrainingFacts:
    """The facts about a finished training that an experiment keeps in ``trained.json``."""

    folder: str
    epochs: int
    best_epoch: int
    dev_accuracy: float | None
    seconds: float


def experiment(name: str, options: ExperimentOptions, *, bars: Bars | None = None) -> ExperimentResult:
    """Run one of the papers' experiments: train networks in every arm from every seed, ask them, compare them.

    Everything is written into ``options.output``: the pairs to train on, a folder for each training, and the result as
    JSON and as a page. The same call continues what was stopped; architectures, seeds and folds may be added to it.
    """
    if name not in EXPERIMENTS:
        raise UnknownNameError("experiment", name, EXPERIMENTS)
    from acidtest.core.study import STUDIES
    from acidtest.render.html import render_page
    from acidtest.workflows.experiments.designs import DESIGNS, Workbench

    paper = experiment_papers()[name]
    specs = _network_specs(options, paper)
    _check_options(name, options, paper)
    plans = {spec.name: _plan(options, spec) for spec in specs}
    folder = Path(options.output)
    folder.mkdir(parents=True, exist_ok=True)
    with Lock(folder):
        stage("reading files")
        settings = experiment_settings(name, options, plans)
        claim_folder(folder, settings)
        stage("reading and making pairs")
        design = DESIGNS[name](Workbench(options, paper))
        networks = list(_train_and_ask(options, design, specs, bars or _no_bar))
        stage("comparing the arms")
        study = STUDIES["experiments"]
        result: ExperimentResult = study.compute(
            name,
            design.tables,
            [arm_files.arm for arm_files in design.arms],
            networks,
            notes=design.notes,
            settings={**settings, "seeds": list(options.seeds)},
            acidtest=__version__,
        )
        write_json(folder / RESULT, to_json(result))
        write_page(folder / EXPERIMENT_PAGE, render_page(study.document(result)))
    return result


def experiment_papers() -> Mapping[str, Paper]:
    """The papers' experiments: what each does, and which tables it repeats."""
    from acidtest.studies.experiments import papers

    return papers()


def _no_bar(title: str) -> AbstractContextManager[Progress]:
    return nullcontext(lambda done, total: None)


def _network_specs(options: ExperimentOptions, paper: Paper) -> list[NetworkSpec]:
    """The networks to train, with the paper's preset where there is one and no other was named."""
    known, specs = architectures(), list[NetworkSpec]()
    for written in options.architectures:
        name, colon, preset = written.partition(":")
        if name not in known:
            raise UnknownNameError("architecture", name, known)
        if colon:
            known[name].preset(preset)
        elif paper.preset in known[name].presets:
            preset = paper.preset
        specs.append(NetworkSpec(name, preset))
    if not specs:
        raise AcidtestError("there is nothing to train: name architectures, such as esim,decomposable-attention")
    if len(set(specs)) < len(specs):
        raise AcidtestError("one of the architectures is named twice")
    for option in options.arguments:
        if not any(option in architecture_options(spec.architecture) for spec in specs):
            raise AcidtestError(f"none of the architectures has an option --{option.replace('_', '-')}")
    return specs


def _plan(options: ExperimentOptions, spec: NetworkSpec) -> TrainingOptions:
    """The training options of a network: its preset, overridden by the options given."""
    return plan_training(
        spec.architecture,
        spec.preset,
        arguments=_architecture_arguments(options, spec),
        recipe=options.recipe,
        settings=options.settings,
    )


def _architecture_arguments(options: ExperimentOptions, spec: NetworkSpec) -> dict[str, str | bool]:
    """The arguments that are options of the network's architecture."""
    known = architecture_options(spec.architecture)
    return {name: value for name, value in options.arguments.items() if name in known}


def _check_options(name: str, options: ExperimentOptions, paper: Paper) -> None:
    """Refuse options of another experiment, and files that are not there."""
    if options.additions and name != "training-mixes":
        raise AcidtestError(f"--add is an option of training-mixes, not of {name}")
    if tuple(options.folds) != ExperimentOptions.folds and name != "withheld":
        raise AcidtestError(f"--fold is an option of withheld, not of {name}")
    for number in options.folds if name == "withheld" else ():
        if not 1 <= number <= len(paper.folds):
            raise AcidtestError(f"--fold is a number from 1 to {len(paper.folds)}, not {number}")
    if options.tests and name == "withheld":
        raise AcidtestError("--test is no option of withheld, which asks the subcases withheld: leave it out")
    if options.suite and name == "distraction":
        raise AcidtestError("distraction makes its suites of the files of --test: leave --suite out")
    if not options.seeds:
        raise AcidtestError("--seeds names no seed")
    files: list[str | Path] = [*options.train, *options.tests, *chain.from_iterable(options.additions.values())]
    for path in files + ([] if options.dev is None else [options.dev]):
        if not Path(path).exists():
            raise FileError(path, "there is no such file; check the path")


def _train_and_ask(
    options: ExperimentOptions, design: Design, specs: Sequence[NetworkSpec], bars: Bars
) -> Iterator[TrainedNetwork]:
    """Every network of every arm and seed, trained and asked the suites where that was not done before."""
    from acidtest.workflows.experiments.designs import slug

    batteries = {spec: Battery(_readable_suites(spec, options, design), seed=options.seed) for spec in specs}
    steps = [(spec, arm_files) for spec in specs for arm_files in design.arms]
    for number, (spec, arm_files) in enumerate(steps, 1):
        base = Path(options.output) / ARMS / slug(arm_files.arm.name) / slug(spec.name)
        left = [seed for seed in options.seeds if not _is_finished(base, seed)]
        if left:
            title = f"{spec.name}, {arm_files.arm.name} ({number} of {len(steps)})"
            with bars(title) as progress:
                networks = _train(options, spec, arm_files, design.dev, base=base, seeds=left, progress=progress)
                for seed, network in zip(left, networks, strict=True):
                    write_json(base / f"seed-{seed}" / FACTS, to_json(_training_facts(network)))
            for seed in left:
                with bars(f"asking {title}") as progress:
                    _ask(options, base / f"seed-{seed}", batteries[spec], progress)
        yield from (_read_network(spec, arm_files, base, seed) for seed in options.seeds)


def _readable_suites(spec: NetworkSpec, options: ExperimentOptions, design: Design) -> tuple[Suite, ...]:
    """The suites that have the columns a network reads, such as parses."""
    reader = architectures()[spec.architecture].reader
    may_lack = options.arguments.get("unparsed", "refuse") != "refuse"
    needed = set(reader.columns) - set(getattr(reader, "may_lack", ()) if may_lack else ())
    readable = {suite.name: needed <= set(suite.frame.collect_schema()) for suite in design.suites}
    skipped = [name for name, is_readable in readable.items() if not is_readable]
    if len(skipped) == len(readable):
        raise AcidtestError(f"{spec.name} reads {', '.join(sorted(needed))}, which {', '.join(skipped)} lacks")
    for name in skipped:
        note("%s is not asked %s, which lacks something of what it reads", spec.name, name)
    return tuple(suite for suite in design.suites if readable[suite.name])


def _is_finished(base: Path, seed: int) -> bool:
    folder = base / f"seed-{seed}"
    return (folder / TESTS / HEADER).is_file() and (folder / FACTS).is_file()


def _train(
    options: ExperimentOptions,
    spec: NetworkSpec,
    arm_files: ArmFiles,
    dev: Path | None,
    *,
    base: Path,
    seeds: Sequence[int],
    progress: Progress,
) -> list[TrainingResult]:
    note("training %s on %s", spec.name, arm_files.arm.description)
    return train(
        spec.architecture,
        Material(arm_files.files, dev),
        # A single seed is trained in the named folder itself.
        output=base if len(seeds) > 1 else base / f"seed-{seeds[0]}",
        preset=spec.preset,
        arguments=_architecture_arguments(options, spec),
        recipe=options.recipe,
        seeds=seeds,
        progress=progress,
        **options.settings,
        merged=arm_files.merged or None,
    )


def _training_facts(network: TrainingResult) -> TrainingFacts:
    return TrainingFacts(
        folder=str(network.folder),
        epochs=len(network.state.curve),
        best_epoch=int(network.best["epoch"]),
        dev_accuracy=network.best.get("dev_accuracy"),
        seconds=round(network.seconds, 3),
    )


def _ask(options: ExperimentOptions, folder: Path, battery: Battery, progress: Progress) -> None:
    device = options.settings.get("device")
    run(
        f"zoo:{folder}",
        battery,
        output=folder / TESTS,
        options={"device": device} if device else None,
        cache=False,
        page=False,
        progress=progress,
    )


def _read_network(spec: NetworkSpec, arm_files: ArmFiles, base: Path, seed: int) -> TrainedNetwork:
    from acidtest.studies.experiments import TrainedNetwork, TrainingRecord

    folder, arm = base / f"seed-{seed}", arm_files.arm.name
    facts = read_json(folder / FACTS, TrainingFacts, remedy=f"remove {folder}, and it is trained again")
    record = TrainingRecord(
        network=spec.name,
        arm=arm,
        seed=seed,
        folder=facts.folder,
        epochs=facts.epochs,
        best_epoch=facts.best_epoch,
        dev_accuracy=facts.dev_accuracy,
        seconds=facts.seconds,
    )
    return TrainedNetwork(spec.architecture, Run.read(folder / TESTS), record)
