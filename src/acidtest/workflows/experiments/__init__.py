"""The training experiments of the papers, each as one call that continues where it was stopped."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, field
from glob import escape
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acidtest.core.errors import AcidtestError, FileError, UnknownNameError
from acidtest.core.files import Lock, chunks, write_json, write_page
from acidtest.core.logs import note, stage
from acidtest.core.run import HEADER, Run
from acidtest.core.serialise import to_json
from acidtest.core.structured import check_shape, read_json
from acidtest.core.suite import Suite
from acidtest.suites.catalogue import SUITES
from acidtest.version import __version__
from acidtest.workflows.batteries import Battery, Reading
from acidtest.workflows.evaluations import run
from acidtest.workflows.training import Material, architecture_options, architectures, plan_training, train

if TYPE_CHECKING:
    from acidtest.studies.experiments import ExperimentResult, Paper, TrainedNetwork
    from acidtest.workflows.experiments.designs import ArmFiles, Design
    from acidtest.zoo.training import TrainingOptions

EXPERIMENTS = ("augmentation", "withheld", "merged-labels", "distraction", "training-mixes")
EXPERIMENT_PAGE = "experiment.html"
SETTINGS, ARMS, DATA, FACTS, TESTS = "wish.json", "arms", "data", "trained.json", "tests"

CHANGEABLE = ("device",)
"""Settings that may differ when an experiment is continued."""

Progress = Callable[[int, int], None]
Bars = Callable[[str], AbstractContextManager[Progress]]
"""Creates the progress bar of a step from its title."""


@dataclass(frozen=True)
class ExperimentOptions:
    """What to train, on which pairs, and what to ask.

    ``architectures`` are names as ``acidtest train`` takes them, with a colon before a preset other than the paper's.
    ``suite`` is the challenge: the name of a suite or a file, by default the paper's; ``n`` is its size,
    by subcase or in source pairs. ``augment_n`` pairs of each subcase are added in training, as many as McCoy et al.
    (2019) add. ``additions`` are the files of corpora for mixes, by name. ``recipe`` and ``settings`` go to the
    trainer, ``arguments`` to the architectures that have such options.
    """

    train: Sequence[str | Path]
    architectures: Sequence[str]
    output: str | Path
    dev: str | Path | None = None
    tests: Sequence[str | Path] = ()
    seeds: Sequence[int] = (0,)
    suite: str | None = None
    n: int | None = None
    seed: int = 0
    words: str = "fresh"
    augment_n: int = 1000
    augment_seed: int | None = None
    folds: Sequence[int] = (1, 2, 3, 4, 5)
    additions: Mapping[str, Sequence[str | Path]] = field(default_factory=dict)
    baseline: bool = True
    recipe: Mapping[str, Any] = field(default_factory=dict)
    arguments: Mapping[str, str | bool] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    reading: Reading | None = None


@dataclass(frozen=True)
class NetworkSpec:
    """An architecture with a preset, and those of the given arguments that are its options."""

    architecture: str
    preset: str
    arguments: Mapping[str, str | bool] = field(default_factory=dict, compare=False)

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


def experiment(
    name: str, options: ExperimentOptions, *, bars: Bars = lambda title: nullcontext(lambda done, total: None)
) -> ExperimentResult:
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
    given = {"recipe": options.recipe, "settings": options.settings}
    plans = {
        spec.name: plan_training(spec.architecture, spec.preset, arguments=spec.arguments, **given) for spec in specs
    }
    folder = Path(options.output)
    with Lock(folder):
        stage("reading files")
        settings = experiment_settings(name, options, plans)
        claim_folder(folder, settings)
        stage("reading and making pairs")
        design = DESIGNS[name](Workbench(options, paper))
        networks = list(_train_and_ask(options, design, specs, bars))
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
        write_json(folder / "experiment.json", to_json(result))
        write_page(folder / EXPERIMENT_PAGE, render_page(study.document(result)))
    return result


def experiment_papers() -> Mapping[str, Paper]:
    """The papers' experiments: what each does, and which tables it repeats."""
    from acidtest.studies.experiments import papers

    return papers()


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
        has = architecture_options(name)
        arguments = {option: value for option, value in options.arguments.items() if option in has}
        specs.append(NetworkSpec(name, preset, arguments))
    if not specs:
        raise AcidtestError("there is nothing to train: name architectures, such as esim,decomposable-attention")
    if len({spec.name for spec in specs}) < len(specs):
        raise AcidtestError("one of the architectures is named twice")
    for option in options.arguments:
        if not any(option in spec.arguments for spec in specs):
            raise AcidtestError(f"none of the architectures has an option --{option.replace('_', '-')}")
    return specs


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
    for path in chain(options.train, options.tests, *options.additions.values(), [options.dev] if options.dev else []):
        if not Path(path).exists():
            raise FileError(path, "there is no such file; check the path")


def experiment_settings(name: str, options: ExperimentOptions, plans: Mapping[str, TrainingOptions]) -> dict[str, Any]:
    """The settings that determine the trainings of an experiment, as values of JSON.

    Files are recorded by name and digest; ``plans`` without the settings and arguments recorded elsewhere.
    """
    known = (option for plan in plans.values() for option in architecture_options(plan.architecture).values())
    file_options = {option.name for option in known if isinstance(option.default, str) and not option.choices}
    arguments = {key: _described(value) if key in file_options else value for key, value in options.arguments.items()}
    settings = {key: value for key, value in options.settings.items() if key not in CHANGEABLE and value is not None}
    networks = {}
    for key, plan in plans.items():
        values = {option: value for option, value in asdict(plan).items() if option not in {*CHANGEABLE, *settings}}
        defaults = {option: value for option, value in plan.settings.items() if option not in arguments}
        networks[key] = {**values, "settings": defaults}
    described = {
        "experiment": name,
        "acidtest": __version__,
        "train": [_described_file(path) for path in options.train],
        "tests": [_described_file(path) for path in options.tests],
        "dev": None if options.dev is None else _described_file(options.dev),
        "additions": {key: [_described_file(path) for path in paths] for key, paths in options.additions.items()},
        "suite": options.suite if options.suite in SUITES else _described(options.suite),
        "words": options.words if options.words in ("fresh", "published") else _described(options.words),
        **{key: getattr(options, key) for key in ("n", "seed", "augment_n", "augment_seed")},
        "recipe": dict(options.recipe),
        "arguments": arguments,
        "settings": {key: value if value == "random" else _described(value) for key, value in settings.items()},
        "reading": None if options.reading is None else asdict(options.reading),
        "networks": networks,
    }
    return dict(json.loads(json.dumps(described, default=str)))


def claim_folder(folder: Path, settings: Mapping[str, Any]) -> None:
    """Write the settings to a folder; if others are there, refuse it once it has trainings, else remove its pairs."""
    path, remedy = folder / SETTINGS, "choose another -o"
    before = read_json(path, dict[str, Any], remedy=remedy) if path.is_file() else {}
    known = check_shape(before.get("networks", {}), path, dict[str, Any], key="networks", remedy=remedy)
    networks = settings["networks"]
    different = [key for key, value in settings.items() if key != "networks" and before.get(key) != value]
    different += ["networks"] if any(known.get(key, plan) != plan for key, plan in networks.items()) else []
    if before and different:
        if (folder / ARMS).exists():
            raise AcidtestError(
                f"{folder} holds another experiment ({', '.join(different)} differ); choose another -o, or remove it"
            )
        shutil.rmtree(folder / DATA, ignore_errors=True)
        known = {}
    write_json(path, {**settings, "networks": {**known, **networks}})


def _described(value: Any) -> Any:
    """The value or, where it names a file or folder, its name and digest."""
    return _described_file(value) if isinstance(value, str | Path) and Path(value).exists() else value


def _described_file(path: str | Path) -> dict[str, str]:
    return {"file": Path(path).name, "digest": content_digest(path)}


def content_digest(path: str | Path) -> str:
    """A digest of the unpacked content of a file, of all files of a folder, or of the files of a parallel corpus."""
    from acidtest.io.corpus_files import PARTS, is_parallel

    path = Path(path)
    files = [path]
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.is_file())
    elif is_parallel(path):
        split = path.name.partition(".")[2].removesuffix(".gz")
        files = [file for part in PARTS for file in sorted(path.parent.glob(f"{part}.{escape(split)}*"))]
    whole = blake2b(digest_size=16)
    for file in files:
        digest = blake2b(digest_size=16)
        for chunk in chunks(file):
            digest.update(chunk)
        whole.update(digest.digest())
    return whole.hexdigest()


def _train_and_ask(
    options: ExperimentOptions, design: Design, specs: Sequence[NetworkSpec], bars: Bars
) -> Iterator[TrainedNetwork]:
    """Every network of every arm and seed, trained and asked the suites where that was not done before."""
    from acidtest.studies.experiments import TrainedNetwork, TrainingRecord
    from acidtest.workflows.experiments.designs import slug

    device = options.settings.get("device")
    batteries = {spec.name: Battery(_readable_suites(spec, options, design), seed=options.seed) for spec in specs}
    steps = [(spec, arm_files) for spec in specs for arm_files in design.arms]
    for number, (spec, arm_files) in enumerate(steps, 1):
        base = Path(options.output) / ARMS / slug(arm_files.arm.name) / slug(spec.name)
        folders = {seed: base / f"seed-{seed}" for seed in options.seeds}
        left = {
            seed: folder
            for seed, folder in folders.items()
            if not ((folder / TESTS / HEADER).is_file() and (folder / FACTS).is_file())
        }
        title = f"{spec.name}, {arm_files.arm.name} ({number} of {len(steps)})"
        if left:
            with bars(title) as progress:
                _train(options, spec, arm_files, design.dev, folders=left, progress=progress)
        for folder in left.values():
            with bars(f"asking {title}") as progress:
                run(
                    f"zoo:{folder}",
                    batteries[spec.name],
                    output=folder / TESTS,
                    options={"device": device} if device else None,
                    cache=False,
                    page=False,
                    progress=progress,
                )
        for seed, folder in folders.items():
            facts = read_json(folder / FACTS, TrainingFacts, remedy=f"remove {folder}, and it is trained again")
            record = TrainingRecord(network=spec.name, arm=arm_files.arm.name, seed=seed, **asdict(facts))
            yield TrainedNetwork(spec.architecture, Run.read(folder / TESTS), record)


def _readable_suites(spec: NetworkSpec, options: ExperimentOptions, design: Design) -> tuple[Suite, ...]:
    """The suites that have the columns a network reads, such as parses."""
    reader = architectures()[spec.architecture].reader
    may_lack = options.arguments.get("unparsed", "refuse") != "refuse"
    needed = set(reader.columns) - set(getattr(reader, "may_lack", ()) if may_lack else ())
    readable = {suite.name: suite for suite in design.suites if needed <= set(suite.frame.collect_schema())}
    skipped = [suite.name for suite in design.suites if suite.name not in readable]
    if not readable:
        raise AcidtestError(f"{spec.name} reads {', '.join(sorted(needed))}, which {', '.join(skipped)} lacks")
    for name in skipped:
        note("%s is not asked %s, which lacks something of what it reads", spec.name, name)
    return tuple(readable.values())


def _train(
    options: ExperimentOptions,
    spec: NetworkSpec,
    arm_files: ArmFiles,
    dev: Path | None,
    *,
    folders: Mapping[int, Path],
    progress: Progress,
) -> None:
    """Train a network from some seeds, and note the facts of each training in its folder."""
    note("training %s on %s", spec.name, arm_files.arm.description)
    first = next(iter(folders.values()))
    networks = train(
        spec.architecture,
        Material(arm_files.files, dev),
        # A single seed is trained in the named folder itself.
        output=first.parent if len(folders) > 1 else first,
        preset=spec.preset,
        arguments=spec.arguments,
        recipe=options.recipe,
        seeds=list(folders),
        progress=progress,
        **options.settings,
        merged=arm_files.merged or None,
    )
    for folder, network in zip(folders.values(), networks, strict=True):
        facts = TrainingFacts(
            folder=str(network.folder),
            epochs=len(network.state.curve),
            best_epoch=int(network.best["epoch"]),
            dev_accuracy=network.best.get("dev_accuracy"),
            seconds=round(network.seconds, 3),
        )
        write_json(folder / FACTS, to_json(facts))
