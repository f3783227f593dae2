"""The papers' experiments in training, each as one call that goes on where it was stopped."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acidtest.core.errors import AcidtestError, FileError, UnknownNameError
from acidtest.core.files import Lock, write_json, write_page
from acidtest.core.logs import note, stage
from acidtest.core.run import HEADER, Run
from acidtest.core.structured import read_json
from acidtest.core.suite import Suite
from acidtest.version import __version__
from acidtest.workflows.batteries import Battery
from acidtest.workflows.evaluations import run
from acidtest.workflows.experiment_claims import ARMS, claim, settled
from acidtest.workflows.experiment_designs import DESIGNS, Bench, Design, Way, Wish, slug
from acidtest.workflows.training import Material, architecture_options, architectures, planned, train

if TYPE_CHECKING:
    from rich.console import RenderableType

    from acidtest.studies.experiments_results import Answered, Experiment, Paper
    from acidtest.zoo.training import TrainingOptions, TrainingResult

EXPERIMENTS = tuple(DESIGNS)
RESULT, EXPERIMENT_PAGE = "experiment.json", "experiment.html"
FACTS, TESTS = "trained.json", "tests"

Progress = Callable[[int, int], None]
Bars = Callable[[str], AbstractContextManager[Progress]]
"""Gives what shows the progress of one step, by its title."""


@dataclass(frozen=True)
class Network:
    """An architecture with a preset, as an experiment trains it."""

    architecture: str
    preset: str

    @property
    def name(self) -> str:
        """As it is written on a command line."""
        return f"{self.architecture}:{self.preset}" if self.preset else self.architecture


def experiment(name: str, wish: Wish, *, bars: Bars | None = None) -> Experiment:
    """One of the papers' experiments: networks trained in every arm and from every seed, asked, and compared.

    Everything lies in ``wish.output``: what is trained on, a folder for each training, and the result as JSON and as a
    page. The same call continues what was stopped; further architectures, seeds and folds may be added to it.
    """
    if name not in DESIGNS:
        raise UnknownNameError("experiment", name, DESIGNS)
    paper = experiment_papers()[name]
    networks = _networks(wish, paper)
    _refuse_unused(name, wish, paper)
    plans = {network.name: _plan(wish, network) for network in networks}
    folder = Path(wish.output)
    folder.mkdir(parents=True, exist_ok=True)
    with Lock(folder):
        stage("reading files")
        told = settled(name, wish, plans)
        claim(folder, told)
        stage("reading and making pairs")
        design = DESIGNS[name](Bench(wish, paper))
        answers = list(_answers(wish, design, networks, bars or (lambda title: nullcontext(lambda done, total: None))))
        stage("comparing the arms")
        found = _compared(paper, {**told, "seeds": list(wish.seeds)}, design, answers)
        write_json(folder / RESULT, found.to_json())
        from acidtest.reports.experiment_page import experiment_page

        write_page(folder / EXPERIMENT_PAGE, experiment_page(found))
    return found


def experiment_papers() -> Mapping[str, Paper]:
    """The papers' experiments: what each does, and which tables it repeats."""
    from acidtest.studies.experiments_results import papers

    return papers()


def experiment_tables(found: Experiment) -> list[RenderableType]:
    """An experiment as a person reads it on a terminal."""
    from acidtest.reports import experiments as reported

    return reported.experiment_tables(found)


def _compared(paper: Paper, settings: Mapping[str, Any], design: Design, answers: Sequence[Answered]) -> Experiment:
    from acidtest.studies.experiments import compared
    from acidtest.studies.experiments_results import Experiment

    arms = {way.arm.name: way.arm for way in design.ways}
    cells, changes = compared(paper, design.blocks, arms, answers)
    cards = {name: card for each in answers for name, card in each.run.header.suites.items()}
    return Experiment(
        paper=paper,
        blocks=design.blocks,
        arms=arms,
        cells=cells,
        changes=changes,
        trainings=tuple(
            {"network": each.name, "arm": each.arm, "seed": each.seed, **dict(each.facts)} for each in answers
        ),
        signatures=tuple(card.signature for card in cards.values()),
        notes=design.notes,
        settings=settings,
        acidtest=__version__,
    )


def _networks(wish: Wish, paper: Paper) -> list[Network]:
    """What to train: the paper's preset where there is one and no other was named."""
    known, found = architectures(), list[Network]()
    for written in wish.architectures:
        name, colon, preset = written.partition(":")
        if name not in known:
            raise UnknownNameError("architecture", name, known)
        if colon:
            known[name].preset(preset)
        elif paper.preset in known[name].presets:
            preset = paper.preset
        found.append(Network(name, preset))
    if not found:
        raise AcidtestError("there is nothing to train: name architectures, such as esim,decomposable-attention")
    if len(set(found)) < len(found):
        raise AcidtestError("one of the architectures is named twice")
    for option in wish.arguments:
        if not any(option in architecture_options(each.architecture) for each in found):
            raise AcidtestError(f"none of the architectures has an option --{option.replace('_', '-')}")
    return found


def _plan(wish: Wish, network: Network) -> TrainingOptions:
    """What a network is, and how it learns: its preset, and over it what is given."""
    return planned(
        network.architecture,
        network.preset,
        arguments=_own(wish, network),
        recipe=wish.recipe,
        settings=wish.settings,
    )


def _own(wish: Wish, network: Network) -> dict[str, str | bool]:
    """The arguments that are options of the network's own."""
    options = architecture_options(network.architecture)
    return {name: value for name, value in wish.arguments.items() if name in options}


def _refuse_unused(name: str, wish: Wish, paper: Paper) -> None:
    """Options of one experiment are no options of another."""
    if wish.additions and name != "training-mixes":
        raise AcidtestError(f"--add is an option of training-mixes, not of {name}")
    if tuple(wish.folds) != Wish.folds and name != "withheld":
        raise AcidtestError(f"--fold is an option of withheld, not of {name}")
    for number in wish.folds if name == "withheld" else ():
        if not 1 <= number <= len(paper.folds):
            raise AcidtestError(f"--fold is a number from 1 to {len(paper.folds)}, not {number}")
    if wish.tests and name == "withheld":
        raise AcidtestError("--test is no option of withheld, which asks the subcases withheld: leave it out")
    if wish.suite and name == "distraction":
        raise AcidtestError("distraction makes its suites of the files of --test: leave --suite out")
    if not wish.seeds:
        raise AcidtestError("--seeds names no seed")
    named: list[str | Path] = [*wish.train, *wish.tests, *chain.from_iterable(wish.additions.values())]
    for path in named + ([] if wish.dev is None else [wish.dev]):
        if not Path(path).exists():
            raise FileError(path, "there is no such file; check the path")


def _answers(wish: Wish, design: Design, networks: Sequence[Network], bars: Bars) -> Iterator[Answered]:
    """Every training, done where it was not, and asked the suites where it was not."""
    batteries = {network: Battery(_readable(network, wish, design), seed=wish.seed) for network in networks}
    every = [(network, way) for network in networks for way in design.ways]
    for number, (network, way) in enumerate(every, 1):
        base = Path(wish.output) / ARMS / slug(way.arm.name) / slug(network.name)
        left = [seed for seed in wish.seeds if not _finished(base, seed)]
        if left:
            title = f"{network.name}, {way.arm.name} ({number} of {len(every)})"
            with bars(title) as progress:
                trained = _trained(wish, network, way, design.dev, base, left, progress)
                for seed, found in zip(left, trained, strict=True):
                    write_json(base / f"seed-{seed}" / FACTS, _facts(found))
            for seed in left:
                _ask(wish, base / f"seed-{seed}", batteries[network], bars(f"asking {title}"))
        yield from (_answered(network, way, base, seed) for seed in wish.seeds)


def _readable(network: Network, wish: Wish, design: Design) -> tuple[Suite, ...]:
    """The suites that have what a network reads, such as parses."""
    reader = architectures()[network.architecture].reader
    lacking_is_fine = wish.arguments.get("unparsed", "refuse") != "refuse"
    needed = set(reader.columns) - set(getattr(reader, "may_lack", ()) if lacking_is_fine else ())
    found = {suite.name: needed <= set(suite.frame.collect_schema()) for suite in design.suites}
    lost = [name for name, readable in found.items() if not readable]
    if len(lost) == len(found):
        raise AcidtestError(f"{network.name} reads {', '.join(sorted(needed))}, which {', '.join(lost)} lacks")
    for name in lost:
        note("%s is not asked %s, which lacks something of what it reads", network.name, name)
    return tuple(suite for suite in design.suites if found[suite.name])


def _finished(base: Path, seed: int) -> bool:
    folder = base / f"seed-{seed}"
    return (folder / TESTS / HEADER).is_file() and (folder / FACTS).is_file()


def _trained(
    wish: Wish, network: Network, way: Way, dev: Path | None, base: Path, seeds: Sequence[int], progress: Progress
) -> list[TrainingResult]:
    note("training %s on %s", network.name, way.arm.told)
    return train(
        network.architecture,
        Material(way.files, dev),
        # One seed alone is trained in the very folder that is named.
        output=base if len(seeds) > 1 else base / f"seed-{seeds[0]}",
        preset=network.preset,
        arguments=_own(wish, network),
        recipe=wish.recipe,
        seeds=seeds,
        progress=progress,
        **wish.settings,
        merged=way.merged or None,
    )


def _facts(found: TrainingResult) -> dict[str, Any]:
    """What is worth telling of a training."""
    return {
        "folder": str(found.folder),
        "epochs": len(found.state.curve),
        "best_epoch": found.best["epoch"],
        "dev_accuracy": found.best.get("dev_accuracy"),
        "seconds": round(found.seconds, 3),
    }


def _ask(wish: Wish, folder: Path, battery: Battery, bar: AbstractContextManager[Progress]) -> None:
    device = wish.settings.get("device")
    with bar as progress:
        run(
            f"zoo:{folder}",
            battery,
            output=folder / TESTS,
            options={"device": device} if device else None,
            cache=False,
            page=False,
            progress=progress,
        )


def _answered(network: Network, way: Way, base: Path, seed: int) -> Answered:
    from acidtest.studies.experiments_results import Answered

    folder = base / f"seed-{seed}"
    facts = read_json(folder / FACTS, dict[str, Any], remedy=f"remove {folder}, and it is trained again")
    return Answered(network.architecture, network.preset, way.arm.name, seed, Run.read(folder / TESTS), facts)
