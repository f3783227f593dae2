"""ONNX graphs as files: find the graph that a spec names, read its structure without running it, open its tokenizer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

from acidtest.core.errors import AcidtestError, import_optional, list_some
from acidtest.core.structured import check_json_bounds, read_json
from acidtest.models.encoders.checkpoints import digest_files

T = TypeVar("T")

GRAPHS = ("model.onnx", "model.int8.onnx")
"""Names of the graph of a folder; the first that exists is used."""

INTEGER_STEPS = frozenset({"DynamicQuantizeLinear", "QuantizeLinear", "MatMulInteger", "QLinearMatMul", "MatMulNBits"})
"""Operators of a graph that computes in integers."""

_REMEDY = "save it anew from the model"


@dataclass(frozen=True)
class Graph:
    """An ONNX file, and the folder that holds its tokenizer and configuration."""

    spec: str
    path: Path
    folder: Path

    @property
    def name(self) -> str:
        """The name in results: the folder's, and the file's unless it is model.onnx."""
        file = "" if self.path.name == GRAPHS[0] else f"/{self.path.name}"
        return f"onnx:{self.folder.resolve().name}{file}"

    def read(self, file: str, shape: type[T]) -> T:
        """A JSON file of the folder; the defaults of ``shape`` where there is no such file."""
        path = self.folder / file
        return read_json(path, shape, remedy=_REMEDY, foreign=True) if path.is_file() else shape()

    def digest(self, files: Sequence[Path], *settings: object) -> str:
        """A hash of what decides the answers: these files, the tokenizer, and these settings."""
        paths = (*files, self.folder / "tokenizer.json")
        return digest_files({path: f"{path.stat().st_size}\0" for path in paths}, settings)


@dataclass(frozen=True)
class GraphStructure:
    """The files of a graph, whether it computes in full floating point only, and the operator that gives its output."""

    files: tuple[Path, ...]
    exact: bool
    last: str


def find_graph(rest: str) -> Graph:
    """The graph that ``onnx:`` names: a file, or the graph of a folder."""
    spec = f"onnx:{rest}"
    if not rest:
        raise AcidtestError(f"{spec} names nothing; write onnx:FOLDER or onnx:FILE.onnx")
    path = Path(rest).expanduser()
    if path.is_dir():
        graphs = [path / name for name in GRAPHS if (path / name).is_file()]
        if not graphs:
            others = sorted(file.name for file in path.glob("*.onnx"))
            advice = (
                f"name one of its files: {list_some(others)}" if others else "acidtest export onnx writes such folders"
            )
            raise AcidtestError(f"{spec} has no {' or '.join(GRAPHS)}; {advice}")
        path = graphs[0]
    elif not path.is_file():
        raise AcidtestError(f"{spec}: there is no file or folder {rest!r}")
    elif path.suffix != ".onnx":
        raise AcidtestError(f"{spec} is no file ending in .onnx; name one, or the folder that holds model.onnx")
    folder = path.parent
    # On the hub, graphs are in a subfolder of the tokenizer's folder.
    if folder.resolve().name == "onnx" and not (folder / "tokenizer.json").is_file():
        folder = folder.resolve().parent
    return Graph(spec, path, folder)


def read_structure(graph: Graph) -> GraphStructure:
    """The structure of a graph; one that would read a file outside its folder is refused."""
    (library,) = import_optional("onnx", extra="onnx")
    try:
        model = library.load(str(graph.path), load_external_data=False)
    except Exception as error:
        raise AcidtestError(f"{graph.spec}: {graph.path.name} is no ONNX file, or a broken one ({error})") from error
    subgraphs = list(_subgraphs(model.graph, model.functions))
    tensors = [tensor for subgraph in subgraphs for tensor in _tensors(subgraph)]
    files = dict.fromkeys(path for tensor in tensors for path in _external_file(graph, library, tensor))
    operators = {node.op_type for subgraph in subgraphs for node in subgraph.node}
    half_types = {library.TensorProto.FLOAT16, library.TensorProto.BFLOAT16}
    exact = not operators & INTEGER_STEPS and not any(tensor.data_type in half_types for tensor in tensors)
    outputs = [output.name for output in model.graph.output]
    output = "logits" if "logits" in outputs else outputs[0] if outputs else ""
    last = next((node.op_type for node in model.graph.node if output in node.output), "")
    return GraphStructure((graph.path, *files), exact, last)


def _subgraphs(graph: Any, functions: Sequence[Any] = ()) -> Iterator[Any]:
    """A graph, the functions beside it, and the graphs nested in their nodes."""
    for part in (graph, *functions):
        yield part
        for node in part.node:
            for attribute in node.attribute:
                for inner in (*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs):
                    yield from _subgraphs(inner)


def _tensors(graph: Any) -> Iterator[Any]:
    yield from getattr(graph, "initializer", ())
    for sparse in getattr(graph, "sparse_initializer", ()):
        yield from (sparse.values, sparse.indices)
    for node in graph.node:
        for attribute in node.attribute:
            yield from (*([attribute.t] if attribute.HasField("t") else []), *attribute.tensors)


def _external_file(graph: Graph, library: Any, tensor: Any) -> Iterator[Path]:
    """The separate file that holds the values of a tensor, if there is one; refused outside the graph's folder."""
    if tensor.data_location != library.TensorProto.EXTERNAL:
        return
    location = next((entry.value for entry in tensor.external_data if entry.key == "location"), "")
    folder = graph.path.parent
    path = folder / location
    if not path.resolve().is_relative_to(folder.resolve()):
        raise AcidtestError(f"{graph.spec} asks for weights from outside its folder ({location!r}), which is not done")
    if not path.is_file():
        raise AcidtestError(f"{graph.spec} keeps weights in {location!r}, which is not there; copy it beside the graph")
    yield path


class FileTokenizer:
    """A ``tokenizer.json`` with the part of a transformers tokenizer's interface that ``PairTokenizer`` uses."""

    def __init__(self, graph: Graph, names: Sequence[str]) -> None:
        (tokenizers,) = import_optional("tokenizers", extra="onnx")
        path = graph.folder / "tokenizer.json"
        if not path.is_file():
            raise AcidtestError(
                f"{graph.spec} has no tokenizer: there is no tokenizer.json in {graph.folder}; save the one it was "
                f"trained with there, with tokenizer.save_pretrained"
            )
        check_json_bounds(path, remedy=_REMEDY)
        try:
            self.backend_tokenizer = tokenizers.Tokenizer.from_file(str(path))
        except Exception as error:
            raise AcidtestError(f"{path}: this is no file of the tokenizers library ({error})") from error
        padding = self.backend_tokenizer.padding or {}
        self.padding: int | None = padding.get("pad_id")
        self.backend_tokenizer.no_padding()
        self.backend_tokenizer.no_truncation()
        self.model_input_names = tuple(names)

    def num_special_tokens_to_add(self, *, pair: bool) -> int:
        """The number of special tokens around one sentence, or around and between two."""
        return int(self.backend_tokenizer.num_special_tokens_to_add(pair))

    def __call__(
        self,
        first: str | list[str],
        second: str | list[str] | None = None,
        *,
        add_special_tokens: bool = True,
        truncation: Literal["only_first", "longest_first"] | None = None,
        max_length: int | None = None,
        return_attention_mask: bool = False,
    ) -> dict[str, Any]:
        """Tokens and types of one text or pair, or of many; a mask is never returned."""
        backend = self.backend_tokenizer
        if truncation is not None:
            backend.enable_truncation(max_length, strategy=truncation)
        try:
            if isinstance(first, str):
                encoding = backend.encode(first, second, add_special_tokens=add_special_tokens)
                return {"input_ids": encoding.ids, "token_type_ids": encoding.type_ids}
            texts = first if second is None else list(zip(first, second, strict=True))
            encodings = backend.encode_batch(texts, add_special_tokens=add_special_tokens)
        finally:
            backend.no_truncation()
        return {
            "input_ids": [encoding.ids for encoding in encodings],
            "token_type_ids": [encoding.type_ids for encoding in encodings],
        }
