"""The training experiments of the papers, each as one call that continues where it was stopped."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from glob import escape
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from acidtest.core.errors import AcidtestError, FileError, UnknownNameError
from acidtest.core.files import Lock, chunks, write_json, write_page
from acidtest.core.logs import note, stage
from acidtest.core.run import HEADER, Run
from acidtest.core.serialise import to_json
from acidtest.core.structured import check_shape, read_json
from acidtest.core.suite import CONTROL, Suite
from acidtest.corpora.published_sets import identify_corpus
from acidtest.io.tables import stem
from acidtest.studies.experiments import Arm, Paper, PaperCorpus, ResultColumn, ResultTable
from acidtest.suites.catalogue import SUITES, find_generator
from acidtest.suites.sample import exclude_pairs
from acidtest.version import __version__
from acidtest.workflows.batteries import Battery, Reading, generate, load, save
from acidtest.workflows.evaluations import run
from acidtest.workflows.training import Material, architecture_options, architectures, plan_training, train

if TYPE_CHECKING:
    from acidtest.studies.experiments import ExperimentResult, Paper, TrainedNetwork
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


_SAME_SIZE = 0.05
"""A training set that differs from the paper's by a larger share has no published numbers beside its results."""
HEURISTICS = {"lexical_overlap": "lexical", "subsequence": "subseq.", "constituent": "const."}


@dataclass(frozen=True)
class ArmFiles:
    """An arm with the files it is trained on, and whether neutral and contradiction are one label in it.

    ``suites`` are the pairs in the files, given only if all files are the user's.
    """

    arm: Arm
    files: tuple[Path, ...]
    suites: tuple[Suite, ...] = ()
    merged: bool = False


@dataclass(frozen=True)
class Design:
    """The arms to train, the suites to ask, and the tables made of the answers."""

    arms: tuple[ArmFiles, ...]
    suites: tuple[Suite, ...]
    tables: tuple[ResultTable, ...]
    notes: tuple[str, ...] = ()
    dev: Path | None = None


@dataclass(frozen=True)
class Workbench:
    """The files of an experiment: the user's, and those that are made once in its folder and then read from there."""

    options: ExperimentOptions
    paper: Paper

    def make_once(self, name: str, make: Callable[[], Suite]) -> tuple[Path, Suite]:
        """A suite as a file in the folder of the experiment, made unless it exists."""
        path = Path(self.options.output) / DATA / f"{slug(name)}.parquet"
        if not path.exists():
            stage("making %s", path.name)
            save(make(), path)
        return path, load(path)

    def read_file(self, path: str | Path) -> tuple[Path, Suite]:
        """A file of the user; where options say how to read it, the pairs are written to a new file."""
        reading = self.options.reading
        if reading is None or not (reading.columns or reading.label_map):
            return Path(path), load(path)
        return self.make_once(f"given {stem(path)} {content_digest(path)[:8]}", lambda: load(path, reading=reading))

    def plain_arm(self, name: str = "training pairs alone") -> ArmFiles:
        """The arm trained on the user's files alone."""
        files = [self.read_file(path) for path in self.options.train]
        pairs = sum(suite.card.rows for _, suite in files)
        description = f"the {pairs:,} pairs of {', '.join(Path(path).name for path in self.options.train)}"
        arm = Arm(name, description, pairs, self.paper.conditions.get("plain"))
        return ArmFiles(arm, tuple(path for path, _ in files), tuple(suite for _, suite in files))

    def added_arm(
        self, plain: ArmFiles, name: str, added: Sequence[tuple[Path, Suite]], what: str, condition: str = "changed"
    ) -> ArmFiles:
        """The arm trained on ``plain`` and ``added``; ``what`` describes the latter, ``{pairs}`` is their number."""
        pairs = sum(suite.card.rows for _, suite in added)
        description = f"the same and {what.replace('{pairs}', f'{pairs:,}')}"
        arm = Arm(name, description, plain.arm.pairs + pairs, self.paper.conditions.get(condition))
        return ArmFiles(arm, (*plain.files, *(path for path, _ in added)))

    def tests(self) -> tuple[dict[str, Suite], dict[str, PaperCorpus], tuple[str, ...]]:
        """The user's test files by their names without endings, which of the paper's test sets each is, and notes."""
        suites, files = dict[str, Suite](), dict[str, str | Path]()
        for path in self.options.tests:
            name = stem(path)
            key = slug(name).casefold()
            if key in files:
                raise AcidtestError(f"{files[key]} and {path} of --test have the same name, {name}; rename one")
            files[key] = path
            suite = self.read_file(path)[1]
            suites[name] = replace(suite, card=replace(suite.card, name=name))
        corpora = {name: self.paper.corpus(identify_corpus(suite)) for name, suite in suites.items()}
        notes = [corpus.note for corpus in corpora.values() if corpus.note]
        known = " or ".join(f"{corpus.title} ({corpus.pairs:,} pairs)" for corpus in self.paper.corpora)
        notes += [
            f"{name!r} is none of the paper's test sets, {known}: nothing published stands beside it"
            for name, corpus in corpora.items()
            if known and not corpus.suite
        ]
        return suites, corpora, tuple(notes)

    def challenge(
        self, default: str, *, source: Suite | None = None, arguments: Mapping[str, str] | None = None
    ) -> Suite:
        """The suite to ask: the suite or file named in the options, else ``default``; a suite is made with the seed."""
        n, seed, name = self.options.n, self.options.seed, self.options.suite or default
        if find_generator(name):

            def make() -> Suite:
                return generate(name, source=source, arguments=arguments, n=n, at_most=n is not None, seed=seed)

            return self.make_once(f"test {name}", make)[1]
        if n is not None:
            raise AcidtestError(f"-n is the size of a suite that is made; {name} is a file: leave -n out")
        return self.read_file(name)[1]

    def hans_challenge(self, *columns: str) -> Suite:
        """HANS with the words named in the options, or the suite named there, which must have these columns."""
        suite = self.challenge("hans", arguments={"words": self.options.words})
        for column in columns:
            if column not in suite.frame.collect_schema():
                remedy = "leave --suite out or name HANS"
                raise AcidtestError(f"{suite.name!r} has no column {column!r}: it is not HANS; {remedy}")
        return suite


def slug(name: str) -> str:
    """A name as the name of a file; if more than spaces and colons had to be replaced, a digest keeps it unique."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.")
    if plain == re.sub("[ :]", "-", name):
        return plain
    digest = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=4)
    return f"{plain}-{digest.hexdigest()}".lstrip("-")


def augmentation(bench: Workbench) -> Design:
    """Training without and with pairs of all thirty subcases (McCoy et al. 2019, section 7, table 4)."""
    suite = bench.hans_challenge("subcase", "heuristic")
    added, notes = _hans_like_pairs(bench, suite)
    plain = bench.plain_arm()
    arm = bench.added_arm(plain, "with HANS-like pairs", [added], "{pairs} HANS-like pairs")
    return _hans_design(bench, suite, (plain, arm), notes)


def merged_labels(bench: Workbench) -> Design:
    """Merging neutral and contradiction before training, compared with after it (McCoy et al. 2019, table 11)."""
    suite = bench.hans_challenge("heuristic")
    plain = bench.plain_arm("merged after training")
    arm = Arm("merged before training", "two labels", plain.arm.pairs, bench.paper.conditions.get("changed"))
    scoring = "Everything is scored by two labels, in all arms; the paper's accuracies on MNLI are of three"
    notes = (f"{scoring}, and do not stand beside these",) if bench.options.tests else ()
    return _hans_design(bench, suite, (plain, replace(plain, arm=arm, merged=True)), notes)


def withheld(bench: Workbench) -> Design:
    """Training with pairs of all subcases but six, tested on those six (McCoy et al. 2019, tables 12 to 16)."""
    suite = bench.hans_challenge("subcase")
    (_, added), notes = _hans_like_pairs(bench, suite)
    plain = bench.plain_arm()
    arms, tables = [plain], list[ResultTable]()
    for number in bench.options.folds:
        fold = bench.paper.folds[number - 1]
        kept = added.frame.filter(~pl.col("subcase").is_in(list(fold["subcases"])))
        rest = bench.make_once(f"hans-like without fold {number}", replace(added, frame=kept).sealed)
        what = "{pairs} HANS-like pairs of the 24 other subcases"
        arms.append(bench.added_arm(plain, f"fold {number} withheld", [rest], what))
        columns = []
        for subcase in fold["subcases"]:
            # Its first two letters stand for its heuristic and its correct label.
            heuristic = {"l": "lexical overlap", "s": "subsequence", "c": "constituent"}[subcase[0]]
            group, by = f"{heuristic}, {'→' if subcase[1] == 'e' else '↛'}", {"subcase": subcase}
            columns.append(ResultColumn(subcase, suite.name, by, group, _published_suite(suite), by))
        title = f"Fold {number} of 5, table {fold['table']}: the subcases withheld"
        names = (plain.arm.name, arms[-1].arm.name)
        tables.append(ResultTable(title, tuple(columns), names, plain.arm.name))
    return _complete(bench, Design(tuple(arms), (suite,), tuple(tables), notes))


def distraction(bench: Workbench) -> Design:
    """Training with a tautology after every hypothesis, tested with it and with another (Naik et al. 2018, table 5)."""
    options, paper = bench.options, bench.paper
    if not options.tests:
        raise AcidtestError("distraction makes its tests of pairs: name their files with --test")
    plain = bench.plain_arm()

    def distract(suite: Suite) -> Suite:
        made = generate("stress/negation", source=suite, arguments={"tautology": paper.trained_tautology})
        return replace(made, control=None)

    copies = [
        bench.make_once(f"distracted {stem(path)} {suite.card.fingerprint[:8]}", partial(distract, suite))
        for path, suite in zip(options.train, plain.suites, strict=True)
    ]
    distracted = bench.added_arm(plain, "with the distraction", copies, "{pairs} copies that end in a tautology")
    asked, tables, names = list[Suite](), list[ResultTable](), (plain.arm.name, distracted.arm.name)
    tests, corpora, notes = bench.tests()
    for name, suite in tests.items():
        negation = _tautology_test(bench, suite, name, paper.trained_tautology)
        other = _tautology_test(bench, suite, name, paper.other_tautology)
        asked += [negation, replace(other, control=None)]
        corpus = corpora[name]
        published, by = "stress/negation" if corpus.suite else "", dict(corpus.by)
        different = {"tautology": "green is not red", **by}
        columns = (
            ResultColumn("untouched", negation.name + CONTROL, published=corpus.suite, published_by=by),
            ResultColumn("negation", negation.name, published=published, published_by=by),
            ResultColumn("different tautology", other.name, published=published, published_by=different),
        )
        tables.append(ResultTable(name, columns, names, plain.arm.name))
    return _complete(bench, Design((plain, distracted), tuple(asked), tuple(tables), notes))


def training_mixes(bench: Workbench) -> Design:
    """Training on a corpus and on its unions with others (Glockner et al. 2018, table 3)."""
    options = bench.options
    if not options.additions:
        raise AcidtestError("training-mixes adds corpora to that of --train: name them, as --add MultiNLI=FILE")
    if len(options.tests) != 1:
        raise AcidtestError("training-mixes asks one test set beside the new one: name its file with --test")
    plain = bench.plain_arm()
    challenge = bench.challenge("lexical", source=plain.suites[0])
    arms = [plain]
    for name, paths in options.additions.items():
        what = f"the {{pairs}} of {', '.join(Path(path).name for path in paths)}"
        added = [bench.read_file(path) for path in paths]
        arms.append(bench.added_arm(plain, f"{name} added", added, what, condition=name.lower()))
    tests, corpora, notes = bench.tests()
    ((name, test),) = tests.items()
    old = ResultColumn(name, test.name, published=corpora[name].suite)
    new = ResultColumn(challenge.name, challenge.name, published=challenge.name.partition(":")[0])
    drop = replace(new, name="∆", less=old)
    names = tuple(arm_files.arm.name for arm_files in arms)
    table = ResultTable("Accuracy on the test set and on the new one", (old, new, drop), names, plain.arm.name)
    return _complete(bench, Design(tuple(arms), (test, challenge), (table,), notes))


DESIGNS: dict[str, Callable[[Workbench], Design]] = {
    "augmentation": augmentation,
    "withheld": withheld,
    "merged-labels": merged_labels,
    "distraction": distraction,
    "training-mixes": training_mixes,
}


def _hans_like_pairs(bench: Workbench, test: Suite) -> tuple[tuple[Path, Suite], tuple[str, ...]]:
    """Pairs of all subcases made with another seed, none of them in the test; and notes about them."""
    options = bench.options
    seed = options.seed + 1 if options.augment_seed is None else options.augment_seed

    def make() -> Suite:
        # Twice as many as wanted: each pair of the test removes one at most.
        candidates = generate(
            "hans", n=2 * options.augment_n, at_most=True, seed=seed, arguments={"words": options.words}
        )
        apart = exclude_pairs(candidates, test, cell="subcase", most=options.augment_n)
        note = (
            f"{apart.suite.card.rows:,} HANS-like pairs (seed {seed}) were made to be trained on, none of which is "
            f"tested ({apart.left_out:,} left out for that); {apart.shared_premises:,} premises and "
            f"{apart.shared_hypotheses:,} hypotheses of theirs stand in other pairs of the test"
        )
        return replace(apart.suite, card=replace(apart.suite.card, note=note))

    path, suite = bench.make_once("hans-like", make)
    notes = [suite.card.note]
    few = suite.frame.group_by("subcase").len().filter(pl.col("len") < options.augment_n).collect()
    if few.height:
        notes.append(f"{few.height} subcases have fewer than {options.augment_n:,} pairs: there are no more")
    return (path, suite), tuple(notes)


def _hans_design(bench: Workbench, suite: Suite, arms: tuple[ArmFiles, ...], notes: Sequence[str]) -> Design:
    """The design that asks the arms HANS, by heuristic and label, and the user's tests."""
    tests, corpora, corpus_notes = bench.tests()
    columns = []
    for label in ("entailment", "non-entailment"):
        for heuristic, short in HEURISTICS.items():
            name = f"{short}, {'→' if label == 'entailment' else '↛'}"
            by = {"heuristic": heuristic, "label": label}
            columns.append(ResultColumn(name, suite.name, by, f"correct: {label}", _published_suite(suite), by))
    columns += [
        ResultColumn(name, test.name, group="accuracy", published=corpora[name].suite) for name, test in tests.items()
    ]
    names = tuple(arm_files.arm.name for arm_files in arms)
    table = ResultTable("HANS by heuristic and correct label", tuple(columns), names, names[0])
    return _complete(bench, Design(arms, (suite, *tests.values()), (table,), (*notes, *corpus_notes)))


def _complete(bench: Workbench, design: Design) -> Design:
    """The design with the development set, and without its first arm if no baseline is wanted; names are checked."""
    folders, names = dict[str, str](), set[str]()
    for arm in (arm_files.arm.name for arm_files in design.arms):
        before = folders.setdefault(slug(arm).casefold(), arm)
        if before != arm:
            raise AcidtestError(f"{before!r} and {arm!r} would have one folder; rename one of them with --add")
    for suite in design.suites:
        if suite.name in names:
            raise AcidtestError(f"a file of --test is called {suite.name!r}, as what is asked besides; rename it")
        names.add(suite.name)
    dev = bench.options.dev
    design = replace(design, dev=None if dev is None else bench.read_file(dev)[0])
    if note := _describe_other_size(bench, design):
        design = replace(design, tables=tuple(map(_without_published, design.tables)), notes=(*design.notes, note))
    if bench.options.baseline:
        return design
    tables = tuple(replace(table, arms=table.other_arms, against="") for table in design.tables)
    return replace(design, arms=design.arms[1:], tables=tables)


def _describe_other_size(bench: Workbench, design: Design) -> str:
    """Why the paper's numbers cannot be compared with those of networks trained or tested on other numbers of pairs."""
    trained, wanted, n = design.arms[0].arm.pairs, bench.paper.training_pairs, bench.options.n
    reasons = []
    if abs(trained - wanted) > _SAME_SIZE * wanted:
        reasons.append(f"trained on {trained:,} pairs, the paper's on {wanted:,}")
    if n is not None:
        reasons.append(f"evaluated on a part of the test (-n {n:,})")
    return f"no published numbers are shown: the networks are {' and '.join(reasons)}" if reasons else ""


def _without_published(table: ResultTable) -> ResultTable:
    """The table without the places of its published numbers."""

    def plain(column: ResultColumn) -> ResultColumn:
        return replace(column, published="", less=plain(column.less) if column.less else None)

    return replace(table, columns=tuple(map(plain, table.columns)))


def _published_suite(suite: Suite) -> str:
    """The suite whose published numbers are comparable: HANS with other templates has none."""
    return "" if suite.name.startswith("hans/") else "hans"


def _tautology_test(bench: Workbench, suite: Suite, name: str, tautology: str) -> Suite:
    def make() -> Suite:
        n, seed, arguments = bench.options.n, bench.options.seed, {"tautology": tautology}
        made = generate("stress/negation", source=suite, n=n, at_most=True, seed=seed, arguments=arguments)
        return replace(made, card=replace(made.card, name=f"{made.name}:{tautology}, {name}"))

    return bench.make_once(f"test {name} {tautology}", make)[1]
