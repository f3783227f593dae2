"""``onnx:PATH`` — a sequence classifier as an ONNX graph, run by ONNX Runtime, without torch or transformers."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from acidtest.core.errors import AcidtestError, some
from acidtest.core.files import chunks, read_json
from acidtest.core.logs import log, stage
from acidtest.core.model import MODELS, Keep, Model, Probabilities
from acidtest.models.checkpoints import required
from acidtest.models.file_tokenizers import FileTokenizer
from acidtest.models.label_maps import LabelMap, label_map_of
from acidtest.models.pair_tokens import SAMPLES, PairTokenizer, PairTokens
from acidtest.models.token_batches import TokenBatch, padded_batches

GRAPHS = ("model.onnx", "model.int8.onnx")
"""What a folder's graph is called; the first that is there is meant."""

CARD = "acidtest.json"
"""What the exporter says of a graph: the labels of its outputs and how many tokens it reads."""

INPUTS = ("input_ids", "attention_mask", "token_type_ids")

BATCH_SIZE = 512
"""Pairs the engine hands over at once; what a kill can cost."""

TOKEN_BUDGETS = {"CPUExecutionProvider": 1 << 12, "CUDAExecutionProvider": 1 << 15}
"""Tokens that go through the graph at once."""

LONGEST = 512
"""Tokens of a pair where nothing in the folder says how many there may be."""

LATE_POSITIONS = frozenset({"roberta", "xlm-roberta", "xlm-roberta-xl", "camembert", "mpnet", "longformer"})
"""Families that number positions from after the padding token on."""

REDUCED = frozenset({"DynamicQuantizeLinear", "QuantizeLinear", "MatMulInteger", "QLinearMatMul", "MatMulNBits"})
"""Steps of a graph that computes in whole numbers."""

CLOSE = {True: 1e-3, False: 0.1}
"""How far padding may move logits, in units of the largest or of 1: of graphs in float32, and of others."""

LEAST = 1e-12
"""Probabilities below are taken for this one where a logarithm is needed."""

USAGE = ("pairs", "tokens", "padding", "truncated", "tokeniser_s", "device_s")

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Settings:
    """What a user may say of a graph; see ``onnx``."""

    threads: int
    provider: str
    max_length: int
    labels: str
    label_map: str


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

    def described(self, file: str) -> dict[str, Any]:
        """The object in a JSON file of the folder; empty where there is no such file."""
        path = self.folder / file
        found = read_json(path) if path.is_file() else {}
        if not isinstance(found, dict):
            raise AcidtestError(f"{path}: this is no JSON object; save the file anew from the model")
        return found

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


class OnnxModel:
    """A graph in ONNX Runtime: tokens in one thread, arithmetic in others."""

    columns: tuple[str, ...] = ("premise", "hypothesis")
    probabilities = True
    may_abstain = False
    keep: Keep = "always"
    lengths = True
    batch_size = BATCH_SIZE

    def __init__(self, found: Graph, settings: Settings) -> None:
        self.name = found.name
        anatomy = anatomy_of(found)
        # Whole numbers are scaled to the largest value of a batch: the same pair comes out differently in another.
        self.independent = anatomy.exact
        self._last = anatomy.last
        self._runtime = _runtime(found, settings)
        self._budget = TOKEN_BUDGETS.get(self._runtime.get_providers()[0], TOKEN_BUDGETS["CPUExecutionProvider"])
        self._inputs = _inputs(found, self._runtime)
        self._output = _output(found, self._runtime)
        config, card = found.described("config.json"), found.described(CARD)
        self._files = FileTokenizer(_tokenizer_file(found), tuple(self._inputs))
        self.limit: int | None = _longest(found, config, card=card, asked=settings.max_length)
        self._tokenizer = PairTokenizer(self._files, self.limit)
        self._padding = max(int(config.get("pad_token_id") or self._files.padding or 0), 0)
        self._usage = dict.fromkeys(USAGE, 0.0)
        self._pads = False
        sample = self._logits(self.prepare(*map(list, zip(*SAMPLES, strict=True))))
        # Whole numbers blur what padding does; where the exporter has seen the graph without them, it knows.
        told = None if anatomy.exact else card.get("pads")
        self._pads = bool(told) if told is not None else self._bears_padding(sample, CLOSE[anatomy.exact])
        self._map = self._found_map(found, _names(found, card, config, outputs=sample.shape[1]), settings)
        self._usage = dict.fromkeys(USAGE, 0.0)
        self.resolution = self._map.resolution
        self.notes = (*self._map.notes, f"pairs are cut to {self.limit} tokens, the end of the premise first")
        if not anatomy.exact:
            self.notes += ("its weights are whole numbers: probabilities depend a little on what else is in a batch",)
        self.fingerprint: str | None = found.digest(
            anatomy.files, self._map.outputs, self.limit, self._padding, self._pads
        )

    def predict(self, *columns: Sequence[str]) -> Probabilities:
        """float32[n, 3] for premises and hypotheses."""
        return self.infer(self.prepare(*columns))

    def prepare(self, *columns: Sequence[str]) -> PairTokens:
        """The pairs as tokens, in order of length."""
        start = time.perf_counter()
        premises, hypotheses = columns
        tokens = self._tokenizer.tokens(premises, hypotheses)
        self._usage["truncated"] += int(tokens.truncated.sum())
        self._usage["tokeniser_s"] += time.perf_counter() - start
        return tokens

    def infer(self, prepared: PairTokens) -> Probabilities:
        """Probabilities in the pairs' own order."""
        return self._map.probabilities(self._logits(prepared))

    def usage(self) -> Mapping[str, float]:
        """Pairs, tokens, tokens of padding, pairs cut, and seconds in the tokeniser and in the graph so far."""
        return dict(self._usage)

    def token_counts(self, texts: Sequence[str]) -> Sequence[int]:
        """How many tokens each text has on its own."""
        return self._files.counts(texts)

    @property
    def outputs(self) -> tuple[str, ...]:
        """The label that each output of the graph means."""
        return self._map.outputs

    @property
    def pads(self) -> bool:
        """Whether pairs may be filled up to the length of longer ones beside them."""
        return self._pads

    def _logits_of(self, premises: Sequence[str], hypotheses: Sequence[str]) -> Floats:
        return self._logits(self.prepare(premises, hypotheses))

    def _logits(self, tokens: PairTokens) -> Floats:
        """float32[n, outputs] in the pairs' own order."""
        start = time.perf_counter()
        parts = list(self._parts(tokens))
        result = np.empty((len(tokens.rows), parts[0][1].shape[1] if parts else 3), dtype=np.float32)
        for batch, values in parts:
            result[tokens.rows[batch.start : batch.stop]] = values
        self._usage["padding"] += sum(batch.padded for batch, _ in parts) - len(tokens.ids)
        self._usage["pairs"] += len(tokens.rows)
        self._usage["tokens"] += len(tokens.ids)
        self._usage["device_s"] += time.perf_counter() - start
        return _unsquashed(result, self._last)

    def _parts(self, tokens: PairTokens) -> Iterator[tuple[TokenBatch, Floats]]:
        for batch in padded_batches(tokens.lengths, self._budget, mixed=self._pads):
            values = self._run(self._padded(batch, tokens))
            size = batch.stop - batch.start
            if values.ndim == 1:
                values = values[:, None]
            if values.ndim != 2 or len(values) != size or values.shape[1] not in (1, 2, 3):
                raise AcidtestError(
                    f"{self.name} is not a sequence classifier: for {size} pairs it gives an array of "
                    f"{' × '.join(map(str, values.shape))} numbers; expected three, two or one for each"
                )
            yield batch, values

    def _run(self, inputs: Mapping[str, npt.NDArray[np.integer]]) -> Floats:
        try:
            (values,) = self._runtime.run([self._output], inputs)
        except Exception as error:
            # The runtime's own errors share no class but this one.
            text = " ".join(str(error).split())
            raise AcidtestError(f"{self.name}: ONNX Runtime cannot run the graph: {text[:300]}") from error
        return np.asarray(values, dtype=np.float32)

    def _padded(self, batch: TokenBatch, tokens: PairTokens) -> dict[str, npt.NDArray[np.integer]]:
        """A batch as the graph asks for it."""
        columns = np.arange(batch.longest)
        there = columns < tokens.lengths[batch.start : batch.stop, None]
        places = np.minimum(tokens.starts[batch.start : batch.stop, None] + columns, len(tokens.ids) - 1)
        inputs: dict[str, npt.NDArray[np.integer]] = {}
        for name, kind in self._inputs.items():
            if name == "input_ids":
                inputs[name] = np.where(there, tokens.ids[places], self._padding).astype(kind)
            elif name == "attention_mask":
                inputs[name] = there.astype(kind)
            else:
                assert tokens.types is not None
                inputs[name] = np.where(there, tokens.types[places], 0).astype(kind)
        return inputs

    def _bears_padding(self, alone: Floats, close: float) -> bool:
        """Whether pairs come out as they do alone when longer ones stand beside them."""
        if "attention_mask" not in self._inputs:
            return False
        self._pads = True
        beside = self._logits(self.prepare(*map(list, zip(*SAMPLES, strict=True))))
        far = np.abs(beside - alone)
        return not np.isfinite(alone).all() or bool(far.max() <= close * max(1.0, float(np.abs(alone).max())))

    def _found_map(self, graph: Graph, names: Sequence[str], settings: Settings) -> LabelMap:
        found = label_map_of(
            names, self._logits_of, owner=graph.spec, labels=settings.labels, renamed=settings.label_map
        )
        if found.doubt:
            log.warning("%s: %s", graph.spec, found.doubt)
        return found


@MODELS.add("onnx")
def onnx(
    rest: str,
    *,
    threads: int = 0,
    provider: Literal["auto", "cpu", "cuda"] = "auto",
    max_length: int = 0,
    labels: str = "",
    label_map: str = "",
) -> Model:
    """A classifier as an ONNX graph: a folder with model.onnx and tokenizer.json, or a file ending in .onnx.

    ``threads`` 0 is one for every core; ``provider`` auto is a CUDA device where ONNX Runtime sees one; ``max_length``
    0 is the model's own. ``labels`` and ``label_map`` say what the outputs mean where names do not.
    """
    required("onnx", "onnxruntime", "tokenizers", extra="onnx")
    found = graph_of(rest)
    stage("loading %s", found.name)
    return OnnxModel(found, Settings(threads, provider, max_length, labels, label_map))


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


def _runtime(found: Graph, settings: Settings) -> Any:
    (library,) = required("onnxruntime", extra="onnx")
    if settings.threads < 0:
        raise AcidtestError(f"{found.spec}: --threads is {settings.threads}; it is from 1 on, or 0 for all cores")
    on_device = "CUDAExecutionProvider" in library.get_available_providers()
    if settings.provider == "cuda" and not on_device:
        raise AcidtestError(
            f"{found.spec}: --provider cuda, but this ONNX Runtime has no CUDA; pip install onnxruntime-gpu, or use cpu"
        )
    options = library.SessionOptions()
    options.intra_op_num_threads = settings.threads
    options.log_severity_level = 4
    providers: list[Any] = ["CPUExecutionProvider"]
    if on_device and settings.provider != "cpu":
        # By default it would round to ten bits of mantissa.
        providers.insert(0, ("CUDAExecutionProvider", {"use_tf32": "0"}))
    try:
        opened = library.InferenceSession(str(found.path), options, providers=providers)
    except Exception as error:
        text = " ".join(str(error).split())
        raise AcidtestError(f"{found.spec}: ONNX Runtime cannot open {found.path.name}: {text[:300]}") from error
    if settings.provider == "cuda" and opened.get_providers()[0] != "CUDAExecutionProvider":
        raise AcidtestError(
            f"{found.spec}: --provider cuda, but ONNX Runtime cannot use the device; use --provider cpu"
        )
    return opened


def _inputs(found: Graph, runtime: Any) -> dict[str, type[np.integer]]:
    """The inputs the graph asks for, and the kind of whole number it wants."""
    kinds: dict[str, type[np.integer]] = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}
    asked = {each.name: each for each in runtime.get_inputs()}
    strange = [name for name, each in asked.items() if name not in INPUTS or each.type not in kinds]
    if strange or "input_ids" not in asked:
        what = f"asks for {some(strange or sorted(asked))}" if asked else "asks for nothing"
        raise AcidtestError(
            f"{found.spec} is no classifier of pairs of texts: its graph {what}; expected {', '.join(INPUTS)} as "
            f"whole numbers"
        )
    fixed = [size for each in asked.values() for size in each.shape if isinstance(size, int)]
    if fixed:
        raise AcidtestError(
            f"{found.spec}: its graph takes inputs of fixed size only ({' × '.join(map(str, fixed[:2]))}); export it "
            f"with dynamic axes for batch and sequence, as acidtest export onnx does"
        )
    return {name: kinds[each.type] for name, each in asked.items()}


def _output(found: Graph, runtime: Any) -> str:
    """The output that holds the logits: the one of that name, or the first."""
    outputs = {each.name: each.shape for each in runtime.get_outputs()}
    name = "logits" if "logits" in outputs else next(iter(outputs))
    shape = outputs[name]
    unfit = isinstance(shape[-1], int) and shape[-1] not in (1, 2, 3) if len(shape) == 2 else len(shape) > 2
    if unfit:
        raise AcidtestError(
            f"{found.spec} is not a sequence classifier: its output {name!r} has the shape "
            f"{' × '.join(map(str, shape))}; expected three, two or one number for each pair"
        )
    return name


def _tokenizer_file(found: Graph) -> Path:
    path = found.folder / "tokenizer.json"
    if not path.is_file():
        raise AcidtestError(
            f"{found.spec} has no tokenizer: there is no tokenizer.json in {found.folder}; save the one it was "
            f"trained with there, with tokenizer.save_pretrained"
        )
    return path


def _names(found: Graph, card: Mapping[str, Any], config: Mapping[str, Any], *, outputs: int) -> list[str]:
    """The names of the outputs as the exporter or the configuration has them, else numbers."""
    told = card.get("id2label") or config.get("id2label")
    if not isinstance(told, dict):
        return [f"LABEL_{number}" for number in range(outputs)]
    if sorted(told) != [str(number) for number in range(outputs)]:
        raise AcidtestError(
            f"{found.spec}: its graph has {outputs} outputs, but id2label names {some(sorted(told))}; "
            f"the configuration in {found.folder} is another model's"
        )
    return [str(told[str(number)]) for number in range(outputs)]


def _longest(found: Graph, config: Mapping[str, Any], *, card: Mapping[str, Any], asked: int) -> int:
    """How many tokens a pair may have: the least of what the folder's files allow, or fewer as asked."""
    positions = config.get("max_position_embeddings")
    if positions and config.get("model_type") in LATE_POSITIONS:
        positions -= int(config.get("pad_token_id") or 0) + 1
    positions = positions if positions and positions > 0 else None
    if asked < 0:
        raise AcidtestError(f"{found.spec}: --max-length is {asked}; it is from 1 on, or 0 for the model's own")
    if positions and asked > positions:
        raise AcidtestError(f"{found.spec}: --max-length {asked} is more than the {positions} tokens it can take")
    told = found.described("tokenizer_config.json").get("model_max_length")
    # Where there is no end, transformers writes 10**30.
    limits = [int(limit) for limit in (told, positions, card.get("max_length")) if limit and limit < 1 << 20]
    return asked or min(limits, default=LONGEST)


def _unsquashed(values: Floats, last: str) -> Floats:
    """Logits, of outputs that are probabilities already because the graph ends in that step."""
    likely = np.maximum(values, LEAST)
    if last == "Softmax":
        return np.asarray(np.log(likely), dtype=np.float32)
    if last == "Sigmoid" and values.shape[1] == 1:
        return np.asarray(np.log(likely) - np.log(np.maximum(1 - values, LEAST)), dtype=np.float32)
    return values
