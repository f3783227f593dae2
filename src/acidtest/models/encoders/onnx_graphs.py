"""ONNX graphs as files: where one lies, what belongs to it, and what it is made of, before anything is run."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from acidtest.core.errors import AcidtestError, some
from acidtest.core.extras import required
from acidtest.core.files import chunks
from acidtest.core.structured import read_json

T = TypeVar("T")

GRAPHS = ("model.onnx", "model.int8.onnx")
"""What a folder's graph is called; the first that is there is meant."""

REDUCED = frozenset({"DynamicQuantizeLinear", "QuantizeLinear", "MatMulInteger", "QLinearMatMul", "MatMulNBits"})
"""Steps of a graph that computes in whole numbers."""


@dataclass(frozen=True)
class Graph:
    """An ONNX file, and the folder that holds its tokenizer and configuration."""

    spec: str
    path: Path
    folder: Path

    @property
    def name(self) -> str:
        """How it is called in results: after its folder, and its file where that is not the usual one."""
        own = "" if self.path.name == GRAPHS[0] else f"/{self.path.name}"
        return f"onnx:{self.folder.resolve().name}{own}"

    def described(self, file: str, shape: type[T]) -> T:
        """What a JSON file of the folder says; nothing where there is no such file."""
        path = self.folder / file
        return read_json(path, shape, remedy="save it anew from the model", foreign=True) if path.is_file() else shape()

    def digest(self, files: Sequence[Path], *settings: object) -> str:
        """A hash of what decides the answers: these files, the tokenizer, and these settings."""
        found = hashlib.blake2b(digest_size=16)
        for path in (*files, self.folder / "tokenizer.json"):
            found.update(f"{path.stat().st_size}\0".encode())
            for chunk in chunks(path):
                found.update(chunk)
        found.update(repr(settings).encode())
        return found.hexdigest()


@dataclass(frozen=True)
class Anatomy:
    """What a graph is seen to be made of before it is run: files, the steps it takes, and the last of them."""

    files: tuple[Path, ...]
    exact: bool
    last: str


def graph_of(rest: str) -> Graph:
    """The graph a spec means, once it is known to be there."""
    spec = f"onnx:{rest}"
    if not rest:
        raise AcidtestError(f"{spec} names nothing; write onnx:FOLDER or onnx:FILE.onnx")
    path = Path(rest).expanduser()
    if path.is_dir():
        there = [path / name for name in GRAPHS if (path / name).is_file()]
        if not there:
            others = sorted(file.name for file in path.glob("*.onnx"))
            then = (
                f"; name one of its files: {some(others)}" if others else "; acidtest export onnx writes such folders"
            )
            raise AcidtestError(f"{spec} has no {' or '.join(GRAPHS)}{then}")
        path = there[0]
    elif not path.is_file():
        raise AcidtestError(f"{spec}: there is no file or folder {rest!r}")
    elif path.suffix != ".onnx":
        raise AcidtestError(f"{spec} is no file ending in .onnx; name one, or the folder that holds model.onnx")
    folder = path.parent
    # On the hub, graphs lie in a folder of their own below the tokenizer's.
    if folder.resolve().name == "onnx" and not (folder / "tokenizer.json").is_file():
        folder = folder.resolve().parent
    return Graph(spec, path, folder)


def anatomy_of(found: Graph) -> Anatomy:
    """What the graph is made of; one that would read a file outside its own folder is refused."""
    (library,) = required("onnx", extra="onnx")
    try:
        model = library.load(str(found.path), load_external_data=False)
    except Exception as error:
        raise AcidtestError(f"{found.spec}: {found.path.name} is no ONNX file, or a broken one ({error})") from error
    graphs = list(_graphs(model.graph, model.functions))
    tensors = [tensor for graph in graphs for tensor in _tensors(graph)]
    files = dict.fromkeys(path for tensor in tensors for path in _external(found, library, tensor))
    kinds = {node.op_type for graph in graphs for node in graph.node}
    halves = {library.TensorProto.FLOAT16, library.TensorProto.BFLOAT16}
    exact = not kinds & REDUCED and not any(tensor.data_type in halves for tensor in tensors)
    outputs = [output.name for output in model.graph.output]
    wanted = "logits" if "logits" in outputs else outputs[0] if outputs else ""
    last = next((node.op_type for node in model.graph.node if wanted in node.output), "")
    return Anatomy((found.path, *files), exact, last)


def _graphs(graph: Any, functions: Sequence[Any] = ()) -> Iterator[Any]:
    """A graph, the functions beside it, and those inside their nodes."""
    for own in (graph, *functions):
        yield own
        for node in own.node:
            for attribute in node.attribute:
                for inner in (*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs):
                    yield from _graphs(inner)


def _tensors(graph: Any) -> Iterator[Any]:
    yield from getattr(graph, "initializer", ())
    for sparse in getattr(graph, "sparse_initializer", ()):
        yield from (sparse.values, sparse.indices)
    for node in graph.node:
        for attribute in node.attribute:
            yield from (*([attribute.t] if attribute.HasField("t") else []), *attribute.tensors)


def _external(found: Graph, library: Any, tensor: Any) -> Iterator[Path]:
    """The file beside the graph that holds the numbers of a tensor, where one does."""
    if tensor.data_location != library.TensorProto.EXTERNAL:
        return
    location = next((entry.value for entry in tensor.external_data if entry.key == "location"), "")
    home = found.path.parent
    path = home / location
    if not path.resolve().is_relative_to(home.resolve()):
        raise AcidtestError(f"{found.spec} asks for weights from outside its folder ({location!r}), which is not done")
    if not path.is_file():
        raise AcidtestError(f"{found.spec} keeps weights in {location!r}, which is not there; copy it beside the graph")
    yield path
