"""Whose folder it is: an experiment goes on only where the very same one was begun, on the very same pairs."""

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
    from acidtest.workflows.experiment_designs import Wish
    from acidtest.zoo.training import TrainingOptions

WISH, ARMS, DATA = "wish.json", "arms", "data"

FREE = ("device",)
"""What may change when an experiment goes on: where it runs."""


def contents(path: str | Path) -> str:
    """A digest of what is in a file, unpacked, or in all files of a folder; of parallel files, in all three."""
    found = blake2b(digest_size=16)
    for file in _files(Path(path)):
        own = blake2b(digest_size=16)
        for piece in chunks(file):
            own.update(piece)
        found.update(own.digest())
    return found.hexdigest()


def settled(name: str, wish: Wish, plans: Mapping[str, TrainingOptions]) -> dict[str, Any]:
    """All that decides what an experiment's trainings are, but for which of them are done; as JSON gives it back.

    Files are known by their names and what is in them, ``plans`` by the networks' names.
    """
    options = (option for plan in plans.values() for option in architecture_options(plan.architecture).values())
    files = {option.name for option in options if isinstance(option.default, str) and not option.choices}
    arguments = {key: _named(value) if key in files else value for key, value in wish.arguments.items()}
    settings = {key: value for key, value in wish.settings.items() if key not in FREE and value is not None}
    told = {
        "experiment": name,
        "acidtest": __version__,
        "train": [_file(path) for path in wish.train],
        "tests": [_file(path) for path in wish.tests],
        "dev": None if wish.dev is None else _file(wish.dev),
        "additions": {key: [_file(path) for path in paths] for key, paths in wish.additions.items()},
        "suite": wish.suite if wish.suite in SUITES else _named(wish.suite),
        "words": wish.words if wish.words in ("fresh", "published") else _named(wish.words),
        **{key: getattr(wish, key) for key in ("n", "seed", "augment_n", "augment_seed")},
        "recipe": dict(wish.recipe),
        "arguments": arguments,
        "settings": {key: value if value == "random" else _named(value) for key, value in settings.items()},
        "reading": None if wish.reading is None else asdict(wish.reading),
        "networks": {key: _preset(plan, {*FREE, *settings}, set(arguments)) for key, plan in plans.items()},
    }
    return dict(json.loads(json.dumps(told, default=str)))


def claim(folder: Path, told: Mapping[str, Any]) -> None:
    """Refuse a folder in which another experiment has trained something; pairs that none was trained on are removed."""
    path = folder / WISH
    before = read_json(path, dict[str, Any], remedy="choose another -o") if path.is_file() else {}
    known = check_shape(before.get("networks", {}), path, dict[str, Any], key="networks", remedy="choose another -o")
    networks = told["networks"]
    different = [key for key, value in told.items() if key != "networks" and before.get(key) != value]
    different += ["networks"] if any(known.get(key, plan) != plan for key, plan in networks.items()) else []
    if before and different:
        if (folder / ARMS).exists():
            raise AcidtestError(
                f"{folder} holds another experiment ({', '.join(different)} differ); choose another -o, or remove it"
            )
        shutil.rmtree(folder / DATA, ignore_errors=True)
        known = {}
    write_json(path, {**told, "networks": {**known, **networks}})


def _file(path: str | Path) -> dict[str, str]:
    return {"file": Path(path).name, "digest": contents(path)}


def _named(value: Any) -> Any:
    """What a user wrote, or what is in the file or folder that it names."""
    return _file(value) if isinstance(value, str | Path) and Path(value).exists() else value


def _preset(plan: TrainingOptions, settings: set[str], arguments: set[str]) -> dict[str, Any]:
    """What a network has of its preset and of defaults; the settings and arguments given are told elsewhere."""
    told = {key: value for key, value in asdict(plan).items() if key not in settings}
    return told | {"settings": {key: value for key, value in plan.settings.items() if key not in arguments}}


def _files(path: Path) -> Iterator[Path]:
    from acidtest.io.parallel import PARTS, is_parallel

    if path.is_dir():
        yield from sorted(file for file in path.rglob("*") if file.is_file())
    elif is_parallel(path):
        split = path.name.partition(".")[2].removesuffix(".gz")
        yield from (file for part in PARTS for file in sorted(path.parent.glob(f"{part}.{escape(split)}*")))
    else:
        yield path
