"""Options of experiments, and the check that a folder belongs to one: only with the same settings and pairs."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from glob import escape
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acidtest.core.errors import AcidtestError
from acidtest.core.files import chunks, write_json
from acidtest.core.structured import check_shape, read_json
from acidtest.suites.catalogue import SUITES
from acidtest.version import __version__
from acidtest.workflows.batteries import Reading
from acidtest.workflows.training import architecture_options

if TYPE_CHECKING:
    from acidtest.zoo.training import TrainingOptions

SETTINGS, ARMS, DATA = "wish.json", "arms", "data"

EXPERIMENTS = ("augmentation", "withheld", "merged-labels", "distraction", "training-mixes")

FOLDS = (1, 2, 3, 4, 5)
PER_SUBCASE = 1000
"""Pairs of each subcase that McCoy et al. (2019) add: 30,000 in all."""

CHANGEABLE = ("device",)
"""Settings that may differ when an experiment is continued."""


@dataclass(frozen=True)
class ExperimentOptions:
    """What to train, on which pairs, and what to ask.

    ``architectures`` are names as ``acidtest train`` takes them, with a colon before a preset other than the paper's.
    ``suite`` is the challenge: the name of a suite or a file, by default the kind of the paper; ``n`` is its size,
    by subcase or in source pairs. ``additions`` are the files of corpora for mixes, by name. ``recipe`` and
    ``settings`` go to the trainer, ``arguments`` to the architectures that have such options.
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
    augment_n: int = PER_SUBCASE
    augment_seed: int | None = None
    folds: Sequence[int] = FOLDS
    additions: Mapping[str, Sequence[str | Path]] = field(default_factory=dict)
    baseline: bool = True
    recipe: Mapping[str, Any] = field(default_factory=dict)
    arguments: Mapping[str, str | bool] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    reading: Reading | None = None


def content_digest(path: str | Path) -> str:
    """A digest of the content of a file, unpacked, of all files of a folder, or of the files of a parallel corpus."""
    whole = blake2b(digest_size=16)
    for file in _files(Path(path)):
        digest = blake2b(digest_size=16)
        for chunk in chunks(file):
            digest.update(chunk)
        whole.update(digest.digest())
    return whole.hexdigest()


def experiment_settings(name: str, options: ExperimentOptions, plans: Mapping[str, TrainingOptions]) -> dict[str, Any]:
    """The settings that determine the trainings of an experiment, as values of JSON.

    Files are recorded by their names and contents, ``plans`` by the names of the networks.
    """
    known = (option for plan in plans.values() for option in architecture_options(plan.architecture).values())
    file_options = {option.name for option in known if isinstance(option.default, str) and not option.choices}
    arguments = {key: _described(value) if key in file_options else value for key, value in options.arguments.items()}
    settings = {key: value for key, value in options.settings.items() if key not in CHANGEABLE and value is not None}
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
        "networks": {
            key: _plan_defaults(plan, {*CHANGEABLE, *settings}, set(arguments)) for key, plan in plans.items()
        },
    }
    return dict(json.loads(json.dumps(described, default=str)))


def claim_folder(folder: Path, settings: Mapping[str, Any]) -> None:
    """Refuse a folder in which another experiment has trained something; pairs of one that has not are removed."""
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


def _described_file(path: str | Path) -> dict[str, str]:
    return {"file": Path(path).name, "digest": content_digest(path)}


def _described(value: Any) -> Any:
    """The value or, where it names a file or folder, its name and digest."""
    return _described_file(value) if isinstance(value, str | Path) and Path(value).exists() else value


def _plan_defaults(plan: TrainingOptions, settings: set[str], arguments: set[str]) -> dict[str, Any]:
    """The options of a network from its preset and defaults, without the settings and arguments given."""
    values = {key: value for key, value in asdict(plan).items() if key not in settings}
    return values | {"settings": {key: value for key, value in plan.settings.items() if key not in arguments}}


def _files(path: Path) -> Iterator[Path]:
    from acidtest.io.corpus_files import PARTS, is_parallel

    if path.is_dir():
        yield from sorted(file for file in path.rglob("*") if file.is_file())
    elif is_parallel(path):
        split = path.name.partition(".")[2].removesuffix(".gz")
        yield from (file for part in PARTS for file in sorted(path.parent.glob(f"{part}.{escape(split)}*")))
    else:
        yield path
