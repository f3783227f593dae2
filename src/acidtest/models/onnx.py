"""``onnx:PATH`` — a sequence classifier as an ONNX graph, run by ONNX Runtime, without torch or transformers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from acidtest.core.errors import AcidtestError, some
from acidtest.core.extras import required
from acidtest.core.logs import stage
from acidtest.core.model import MODELS, Model
from acidtest.models.encoders.file_tokenizers import FileTokenizer
from acidtest.models.encoders.onnx_graphs import Graph, anatomy_of, graph_of
from acidtest.models.encoders.pair_tokens import PairTokenizer, PairTokens
from acidtest.models.encoders.token_batches import TokenBatch, padded_batches
from acidtest.models.encoders.token_classifiers import Floats, TokenClassifier

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

CLOSE = {True: 1e-3, False: 0.1}
"""How far padding may move logits, in units of the largest or of 1: of graphs in float32, and of others."""

LEAST = 1e-12
"""Probabilities below are taken for this one where a logarithm is needed."""


@dataclass(frozen=True)
class GraphConfiguration:
    """What is needed of a model's config.json."""

    model_type: str | None = None
    pad_token_id: int | None = None
    max_position_embeddings: int | None = None
    id2label: dict[str, str] | None = None


@dataclass(frozen=True)
class GraphCard:
    """What is needed of the card that the exporter wrote."""

    max_length: int | None = None
    pads: bool | None = None
    id2label: dict[str, str] | None = None


@dataclass(frozen=True)
class TokenizerConfiguration:
    """What is needed of tokenizer_config.json."""

    model_max_length: float | None = None


@dataclass(frozen=True)
class Settings:
    """What a user may say of a graph; see ``onnx``."""

    threads: int
    provider: str
    max_length: int
    labels: str
    label_map: str


class OnnxModel(TokenClassifier):
    """A graph in ONNX Runtime."""

    batch_size = BATCH_SIZE

    def __init__(self, found: Graph, settings: Settings) -> None:
        anatomy = anatomy_of(found)
        # Whole numbers are scaled to the largest value of a batch: the same pair comes out differently in another.
        self.independent = anatomy.exact
        self._last = anatomy.last
        self._runtime = _runtime(found, settings)
        self._budget = TOKEN_BUDGETS.get(self._runtime.get_providers()[0], TOKEN_BUDGETS["CPUExecutionProvider"])
        self._inputs = _inputs(found, self._runtime)
        self._output = _output(found, self._runtime)
        config, card = found.described("config.json", GraphConfiguration), found.described(CARD, GraphCard)
        tokenizer = FileTokenizer(_tokenizer_file(found), tuple(self._inputs))
        longest = _longest(found, config, card=card, asked=settings.max_length)
        super().__init__(found.name, PairTokenizer(tokenizer, longest))
        self._padding = _padding(found, config.pad_token_id or tokenizer.padding or 0)
        self._pads = False
        sample = self._logits(self._sample())
        # Whole numbers blur what padding does; where the exporter has seen the graph without them, it knows.
        told = None if anatomy.exact else card.pads
        self._pads = bool(told) if told is not None else self._bears_padding(sample, CLOSE[anatomy.exact])
        names = _names(found, card, config, outputs=sample.shape[1])
        self._find_labels(names, owner=found.spec, labels=settings.labels, renamed=settings.label_map)
        if not anatomy.exact:
            self.notes += ("its weights are whole numbers: probabilities depend a little on what else is in a batch",)
        self.fingerprint: str | None = found.digest(
            anatomy.files, self._map.outputs, self.limit, self._padding, self._pads
        )

    @property
    def pads(self) -> bool:
        """Whether pairs may be filled up to the length of longer ones beside them."""
        return self._pads

    def _computed(self, tokens: PairTokens) -> tuple[Floats, int]:
        parts = list(self._parts(tokens))
        result = np.empty((len(tokens.rows), parts[0][1].shape[1] if parts else 3), dtype=np.float32)
        for batch, values in parts:
            result[tokens.rows[batch.start : batch.stop]] = values
        return _unsquashed(result, self._last), sum(batch.padded for batch, _ in parts) - len(tokens.ids)

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
        beside = self._logits(self._sample())
        far = np.abs(beside - alone)
        return not np.isfinite(alone).all() or bool(far.max() <= close * max(1.0, float(np.abs(alone).max())))


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


def _padding(found: Graph, token: int) -> int:
    if token >= 1 << 31:
        raise AcidtestError(f"{found.spec}: its token for padding is {token}, which no tokenizer has")
    return max(token, 0)


def _names(found: Graph, card: GraphCard, config: GraphConfiguration, *, outputs: int) -> list[str]:
    """The names of the outputs as the exporter or the configuration has them, else numbers."""
    told = card.id2label or config.id2label
    if told is None:
        return [f"LABEL_{number}" for number in range(outputs)]
    if sorted(told) != [str(number) for number in range(outputs)]:
        raise AcidtestError(
            f"{found.spec}: its graph has {outputs} outputs, but id2label names {some(sorted(told))}; "
            f"the configuration in {found.folder} is another model's"
        )
    return [told[str(number)] for number in range(outputs)]


def _longest(found: Graph, config: GraphConfiguration, *, card: GraphCard, asked: int) -> int:
    """How many tokens a pair may have: the least of what the folder's files allow, or fewer as asked."""
    positions = config.max_position_embeddings
    if positions and config.model_type in LATE_POSITIONS:
        positions -= (config.pad_token_id or 0) + 1
    positions = positions if positions and positions > 0 else None
    if asked < 0:
        raise AcidtestError(f"{found.spec}: --max-length is {asked}; it is from 1 on, or 0 for the model's own")
    if positions and asked > positions:
        raise AcidtestError(f"{found.spec}: --max-length {asked} is more than the {positions} tokens it can take")
    told = found.described("tokenizer_config.json", TokenizerConfiguration).model_max_length
    # Where there is no end, transformers writes 10**30.
    limits = [int(limit) for limit in (told, positions, card.max_length) if limit and 0 < limit < 1 << 20]
    return asked or min(limits, default=LONGEST)


def _unsquashed(values: Floats, last: str) -> Floats:
    """Logits, of outputs that are probabilities already because the graph ends in that step."""
    likely = np.maximum(values, LEAST)
    if last == "Softmax":
        return np.asarray(np.log(likely), dtype=np.float32)
    if last == "Sigmoid" and values.shape[1] == 1:
        return np.asarray(np.log(likely) - np.log(np.maximum(1 - values, LEAST)), dtype=np.float32)
    return values
