"""Whose folder it is: a training goes on only where the very same one was begun."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from acidtest.core.errors import AcidtestError
from acidtest.core.files import write_json
from acidtest.core.structured import read_json

STUDY = "training.json"

FREE = frozenset({"device", "recipe.checkpoint_s"})
"""What may change when a training goes on: where it runs, and how often it writes down where it is."""

LENGTH = frozenset({"recipe.epochs", "recipe.patience"})
"""What may change as well as long as it is not finished, where the learning rate does not depend on it."""


def claim(folder: Path, told: Mapping[str, Any]) -> None:
    """Write down what is trained in a folder."""
    write_json(folder / STUDY, told)


def refuse_others(folder: Path, told: Mapping[str, Any], *, finished: bool) -> None:
    """Refuse a folder in which something else was or is trained."""
    path = folder / STUDY
    now = dict(_flat(told))
    if path.is_file():
        before = dict(_flat(read_json(path, dict[str, Any], remedy="choose another -o")))
        steady = now["recipe.schedule"] == "constant" and not now["recipe.warmup"]
        free = FREE | LENGTH if steady and not finished else FREE
        names = [name for name in {**before, **now} if name not in free and before.get(name) != now.get(name)]
        if "architecture" in names:
            # All else follows from that.
            names = ["architecture"]
        if names:
            raise AcidtestError(_refusal(folder, names, before, now, finished=finished))
    elif any(folder.glob("*.safetensors")):
        raise AcidtestError(f"{folder} holds weights that acidtest train did not put there; choose another -o")


def _refusal(
    folder: Path, names: list[str], before: Mapping[str, Any], now: Mapping[str, Any], *, finished: bool
) -> str:
    different = "; ".join(f"{name} is {_shown(before.get(name))} there, {_shown(now.get(name))} here" for name in names)
    if finished and set(names) <= LENGTH:
        return (
            f"{folder} is finished ({different}), and what it could have gone on from is gone; "
            f"train longer in another -o"
        )
    return f"{folder} holds another training: {different}; choose another -o, or remove it"


def _shown(value: Any) -> str:
    return "absent" if value is None else str(value)


def _flat(told: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Names with dots and their values, as JSON gives them back."""
    for name, value in told.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{before}{name}.")
        else:
            yield f"{before}{name}", list(value) if isinstance(value, tuple) else value
