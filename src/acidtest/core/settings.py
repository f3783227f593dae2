"""Settings from ``acidtest.toml``; flags and ``ACIDTEST_*`` variables take precedence."""

from __future__ import annotations

import glob
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from acidtest.core.errors import FileError, UnknownNameError
from acidtest.core.structured import MOST_INTEGER, read_toml

FILE = "acidtest.toml"
PREFIX = "ACIDTEST_"
CONFIG = "ACIDTEST_CONFIG"
"""The variable that names a settings file."""
PLUGINS = "ACIDTEST_PLUGINS"
"""The variable that lists Python files to import; a settings file cannot."""

DATA_OPTIONS = frozenset(
    """
    add against against_columns aggregation alpha anchor answers api architecture architectures ask assume at_most
    augment augment_n augment_seed base_rate baseline batch_size bigrams by cache candidate categories caution
    collapse column columns concurrency confounds controls correction cosine data dataset dev device dimensions
    dtype each edit edits embeddings entities epochs everything experiment expires fail_after faithful file finish
    fold folder form full gold hypothesis_only in_order int8 json judged keep_columns label_map labels learning_rate
    least lengths limit listed literal margin max_length max_tokens merged missing model most n name nonwords
    one_recipe order orders original overlap pairs paraphrases patience per_annotator per_item permutations place
    plan policy precision predictions prefill premise preset price_in price_out prior progress prompt provider
    published_as questionnaire quiet rate reference reopen repetitions retries run rungs runs sample_size seed seeds
    shuffles side skip_refused slices source source_url sources suite suite_columns suite_label_map suites
    tagger target tautology temperature test threads three_way threshold timeout times train trust_gold trust_labels
    tuned types union verbose vocabulary what withhold words wsd
    """.split()  # noqa: SIM905
)
"""The options that any settings file may set: they choose data, how it is read and evaluated, and how results look.

A file that the user did not name may set no other option. What ``model``, ``suites`` and others name may still be code
or a server; ``require_requested`` checks that where it is loaded or reached.
"""

REQUESTED_OPTIONS: Mapping[str, str] = {
    **dict.fromkeys(("address", "engine"), "starts or joins a cluster, which runs code"),
    **dict.fromkeys(("host", "port", "allow_host"), "decides who can reach the annotation server"),
    **dict.fromkeys(("token", "admin_token"), "sets a secret"),
    "key_env": "chooses a secret to send",
    "cue": "runs code",
    "mlflow": "sends results to a server",
    "github": "writes to a workflow of GitHub",
    **dict.fromkeys(("action", "fresh", "names"), "deletes files or downloads some"),
    **dict.fromkeys(("import_", "readmit"), "changes what annotators have done or may do"),
    **dict.fromkeys(
        ("export", "junit", "keep", "markdown", "output", "plot", "plots", "sarif", "store", "tables"),
        "decides where files are written",
    ),
}
"""The other options and what they do: only the command line, a variable or a file that the user named may set them."""

_NAMING_OPTIONS = ("model", "suites", "suite", "name", "against", "augment", "test", "plan", "store", "file", "sources")
"""The options with which a user may name code or a server, besides ``cue`` and the variable for plug-ins."""

_PYTHON = "python:"
_FUNCTION = re.compile(r"(?<=\.py):\w+\Z")


def read_settings(path: str | Path, commands: Mapping[str, Iterable[str]]) -> dict[str, dict[str, Any]]:
    """The settings of every command in a settings file; ``commands`` maps command names to their options.

    A top-level key applies to all commands with that option; a key under ``[run]`` applies to ``run`` and overrides it.
    """
    path = Path(path)
    if not path.is_file():
        return {}
    values = read_toml(path)
    known = {command: {_normal(option) for option in options} for command, options in commands.items()}
    everywhere = set().union(*known.values())
    settings: dict[str, dict[str, Any]] = {command: {} for command in known}
    for key, value in values.items():
        if isinstance(value, dict):
            _require(path, "command", key, known)
            for option, inner in value.items():
                _require(path, f"option of {key}", _normal(option), known[key])
                _require_plain(path, f"{key}.{option}", inner)
            continue
        _require(path, "option", _normal(key), everywhere)
        _require_plain(path, key, value)
        for command, options in known.items():
            if _normal(key) in options:
                settings[command][_normal(key)] = value
    for command, table in values.items():
        if isinstance(table, dict):
            settings[command] |= {_normal(option): value for option, value in table.items()}
    return settings


def _require(path: Path, kind: str, name: str, known: Iterable[str]) -> None:
    if name not in known:
        raise FileError(path, str(UnknownNameError(kind, name, known)))


def _require_plain(path: Path, key: str, value: Any) -> None:
    for part in value if isinstance(value, list) else [value]:
        if not isinstance(part, str | int | float):
            raise FileError(path, f"{key}: expected a text, a number, true or false, or a list of such, got {part!r}")
        if isinstance(part, int) and abs(part) > MOST_INTEGER:
            raise FileError(path, f"{key}: expected a whole number of at most {MOST_INTEGER:,}, got a larger one")


@dataclass(frozen=True)
class FoundSettings:
    """What a settings file that the user did not name has set, and what the user has named instead."""

    path: Path
    values: Mapping[str, Any]
    """The options that the file has set and the user has not."""
    named: set[str]
    """The models, suites and files that the user has named, as they were written."""
    modules: set[str]
    """The Python modules that the user has named."""

    def wants(self, target: str | Path) -> bool:
        """Whether the user has named this file of code, this module (``python:MODULE``) or this server."""
        if isinstance(target, Path):
            return any(target in _files(name) for name in self.named)
        return target in self.named or target.removeprefix(_PYTHON) in self.modules

    def origin(self, target: str | Path) -> str:
        """The options of the file that may have named a target: those that say so, or all that could."""
        naming = {option: value for option, value in self.values.items() if option in _NAMING_OPTIONS}
        sure = [option for option, value in naming.items() if _found(self.path, {option: value}).wants(target)]
        return ", ".join(sure or naming or self.values)


_active: list[FoundSettings] = []
"""The settings in force that the user did not ask for; at most one. Not a context variable: threads must see it."""


@contextmanager
def apply_found(path: Path, found: Mapping[str, Any], requested: Mapping[str, Any]) -> Iterator[None]:
    """Let ``require_requested`` know which options came from a file that was merely found, and which from the user.

    Raises if the file sets an option that is not in ``DATA_OPTIONS``.
    """
    for option in found:
        if _normal(option) not in DATA_OPTIONS:
            action = REQUESTED_OPTIONS.get(_normal(option), "is not known to be harmless")
            raise FileError(path, _refusal(_normal(option).rstrip("_"), action, path))
    texts = {option: value for option, value in found.items() if any(_texts(value))}
    if not texts:
        yield
        return
    _active.append(_found(path, requested, texts))
    try:
        yield
    finally:
        _active.pop()


def require_requested(target: str | Path, action: str) -> None:
    """Raise if a file that the user did not name may have asked for this code or server.

    Whatever imports code of the user's or reaches a server calls this first. ``target`` is the file to import, with
    its links resolved, ``python:MODULE`` or the spec of the server; ``action`` says what would happen.
    """
    for found in _active:
        if not found.wants(target):
            raise FileError(found.path, _refusal(found.origin(target), action, found.path))


def pass_request(file: str, name: str) -> None:
    """Take ``name``, which a file of the user's holds, for named by the user, if the user has named the file."""
    for found in _active:
        if file in found.named:
            found.named.add(name)
            found.modules.update(_modules(name))


def _refusal(option: str, action: str, path: Path) -> str:
    return (
        f"{option} {action}; a settings file that you did not name may only choose data and appearance: "
        f"write it on the command line, or name the file: {CONFIG}={path}"
    )


def _found(path: Path, requested: Mapping[str, Any], values: Mapping[str, Any] | None = None) -> FoundSettings:
    """The settings of a found file, next to what these options of the user's name."""
    texts = {option: list(_texts(value)) for option, value in requested.items()}
    named = {text for option in (*_NAMING_OPTIONS, PLUGINS) for text in texts.get(option, ())}
    modules = {module for text in named for module in _modules(text)}
    modules |= {module for text in texts.get("cue", ()) for module in _modules(_PYTHON + text)}
    return FoundSettings(path, values or {}, named, modules)


def _texts(value: Any) -> Iterator[str]:
    """The texts in the value of an option, whole and split at commas."""
    for part in value if isinstance(value, list | tuple) else [value]:
        if isinstance(part, str | Path):
            yield from {str(part), *(piece.strip() for piece in str(part).split(","))} - {""}


def _modules(text: str) -> Iterator[str]:
    """The module in ``python:MODULE:FUNCTION``."""
    if text.startswith(_PYTHON):
        yield text.removeprefix(_PYTHON).partition(":")[0]


def _files(name: str) -> set[Path]:
    """The files that a name or glob stands for, with their links resolved."""
    pattern = _FUNCTION.sub("", name)
    # A file may have a name that is also a pattern.
    return {Path(match).resolve() for match in (pattern, *glob.glob(pattern))}  # noqa: PTH207


def _normal(option: str) -> str:
    return option.replace("-", "_")
