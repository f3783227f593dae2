"""Whose folder it is: an experiment is continued only where the very same one was begun, on the very same pairs."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from glob import escape
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acidtest.core.errors import AcidtestError
from acidtest.core.files import chunks, write_json
from acidtest.core.structured import check_shape, read_json
from acidtest.suites.catalogue import SUITES
from acidtest.version import __version__
from acidtest.workflows.training import architecture_options

if TYPE_CHECKING:
    from acidtest.workflows.experiments.designs import ExperimentOptions
    from acidtest.zoo.training import TrainingOptions

SETTINGS, ARMS, DATA = "wish.json", "arms", "data"

CHANGEABLE = ("device",)
"""Settings that may differ when an experiment is continued: where it runs."""


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
    """All that decides what the trainings of an experiment are, but not which of them are done, as JSON holds it.

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
    """What a user wrote or, where that names a file or folder, its name and content."""
    return _described_file(value) if isinstance(value, str | Path) and Path(value).exists() else value


def _plan_defaults(plan: TrainingOptions, settings: set[str], arguments: set[str]) -> dict[str, Any]:
    """What a network has from its preset and defaults, without the settings and arguments that were given."""
    values = {key: value for key, value in asdict(plan).items() if key not in settings}
    return values | {"settings": {key: value for key, value in plan.settings.items() if key not in arguments}}


def _files(path: Path) -> Iterator[Path]:
    from acidtest.io.partitions import PARTS, is_parallel

    if path.is_dir():
        yield from sorted(file for file in path.rglob("*") if file.is_file())
    elif is_parallel(path):
        split = path.name.partition(".")[2].removesuffix(".gz")
        yield from (file for part in PARTS for file in sorted(path.parent.glob(f"{part}.{escape(split)}*")))
    else:
        yield path
