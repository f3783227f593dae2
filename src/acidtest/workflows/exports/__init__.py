"""Formats of other programs, which models, suites and runs are written in. A format is one module of this folder.

    @export_format("onnx")
    def onnx(model: Annotated[str, "The model to write."], *, output: Annotated[Path, "The folder.", "-o"]) -> Graphs:
        \"\"\"Write a model as ONNX graphs.\"\"\"

``acidtest export onnx`` is made from that function: parameters become arguments and options, annotations their help,
the docstring the help of the command. What it returns says itself what was written, see ``Exported``. Modules are
imported to read those signatures, so they import what is large inside their functions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from acidtest.core.errors import AcidtestError, FileError, UnknownNameError, list_some
from acidtest.core.registry import Registry

if TYPE_CHECKING:
    from acidtest.workflows.exports.onnx import ExportResult

MODEL_FORMATS = ("onnx",)
"""The formats that a model can be written in."""


class Exported(Protocol):
    """What an export wrote."""

    def describe(self) -> str:
        """The lines that the command prints."""
        ...

    def to_json(self) -> dict[str, Any]:
        """What the command prints with ``--json``."""
        ...


E = TypeVar("E", bound=Exported)

FORMATS: Registry[Callable[..., Exported]] = Registry("format", "acidtest.exports")


class ExportCheckError(AcidtestError):
    """An export that failed its own check, such as a graph that answers differently: exit status 1, nothing kept."""

    def to_json(self) -> dict[str, Any]:
        """What the command prints with ``--json``, beside the message on standard error."""
        return {"error": str(self)}


def export_format(name: str) -> Callable[[Callable[..., E]], Callable[..., E]]:
    """Register the decorated function as ``acidtest export NAME``."""

    def register(write: Callable[..., E]) -> Callable[..., E]:
        FORMATS.add(name)(write)
        return write

    return register


def export(
    format: str,
    model: str,
    *,
    output: str | Path,
    int8: bool = False,
    labels: str = "",
    label_map: str = "",
) -> ExportResult:
    """Write a model to a folder in another format, whole or not at all, and compare it with the original.

    ``onnx`` takes an ``hf:`` spec and writes what ``onnx:`` reads; ``int8`` adds a graph a quarter the size, which is
    faster and answers a little differently. ``labels`` and ``label_map`` say what the outputs mean where names do not.
    """
    from acidtest.workflows.exports.onnx import onnx

    if format not in MODEL_FORMATS:
        raise UnknownNameError("format", format, MODEL_FORMATS)
    return onnx(model, output=Path(output), int8=int8, labels=labels, label_map=label_map)


def refuse_occupied(folder: Path, *, endings: Sequence[str], mark: str) -> None:
    """Raise where a folder holds anything but an earlier export: files of these endings, one of them ``mark``."""
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise FileError(folder, "is no folder; name one that is empty or new")
    names = sorted(path.name for path in folder.iterdir()) if folder.exists() else []
    others = [name for name in names if not name.endswith(tuple(endings))] if mark in names else names
    if others:
        raise FileError(folder, f"holds {list_some(others)}, no export of acidtest's; name another folder")
