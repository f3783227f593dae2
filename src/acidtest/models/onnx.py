"""``onnx:PATH``: a sequence classifier as an ONNX graph, run by ONNX Runtime, without torch or transformers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from acidtest.core.errors import AcidtestError, import_optional, list_some
from acidtest.core.logs import stage
from acidtest.core.model import MODELS, Model
from acidtest.models.encoders.onnx_graphs import FileTokenizer, Graph, find_graph, read_structure
from acidtest.models.encoders.pair_tokens import PairTokenizer, TokenBatch, TokenizedPairs
from acidtest.models.encoders.token_classifiers import Floats, TokenClassifier, choose_length

CARD = "acidtest.json"
"""The file beside a graph in which the exporter records its labels, most tokens, and whether it may be padded."""

INPUTS = ("input_ids", "attention_mask", "token_type_ids")

BATCH_SIZE = 512
"""Pairs that the engine passes in one call; their answers are lost if it is killed."""

TOKEN_BUDGETS = {"CPUExecutionProvider": 1 << 12, "CUDAExecutionProvider": 1 << 15}
"""Tokens that go through the graph at once."""

DEFAULT_LENGTH = 512
"""Most tokens in a pair where no file of the folder gives a limit."""

OFFSET_POSITIONS = frozenset({"roberta", "xlm-roberta", "xlm-roberta-xl", "camembert", "mpnet", "longformer"})
"""Families whose positions start after the number of the padding token."""

TOLERANCES = {True: 1e-3, False: 0.1}
"""How far padding may change logits, relative to the largest or to 1, by whether the graph is exact."""

LEAST_PROBABILITY = 1e-12
"""Smaller probabilities are raised to this before their logarithm is taken."""


@dataclass(frozen=True)
class GraphSettings:
    """Fields read from config.json, tokenizer_config.json and the exporter's card; each file has some of them."""

    model_type: str | None = None
    pad_token_id: int | None = None
    max_position_embeddings: int | None = None
    id2label: dict[str, str] | None = None
    model_max_length: float | None = None
    max_length: int | None = None
    pads: bool | None = None


class OnnxModel(TokenClassifier):
    """A sequence classifier whose graph runs in ONNX Runtime."""

    batch_size = BATCH_SIZE

    def __init__(
        self,
        graph: Graph,
        *,
        threads: int = 0,
        provider: str = "cpu",
        max_length: int = 0,
        labels: str = "",
        label_map: str = "",
        trust_labels: bool = False,
    ) -> None:
        structure = read_structure(graph)
        # Integers are scaled by the largest value in a batch, so an answer depends on what else is in it.
        self.independent = structure.exact
        self._last_step = structure.last
        self._runtime = _open_runtime(graph, threads, provider)
        self._budget = TOKEN_BUDGETS.get(self._runtime.get_providers()[0], TOKEN_BUDGETS["CPUExecutionProvider"])
        self._inputs = _find_inputs(graph, self._runtime)
        self._output = _find_output(graph, self._runtime)
        config, card = graph.read("config.json", GraphSettings), graph.read(CARD, GraphSettings)
        tokenizer = FileTokenizer(graph, tuple(self._inputs))
        longest = _find_length(graph, config, card=card, wanted=max_length)
        super().__init__(graph.name, PairTokenizer(tokenizer, longest))
        self._padding = max(config.pad_token_id or tokenizer.padding or 0, 0)
        if self._padding >= 1 << 31:
            raise AcidtestError(f"{graph.spec}: its token for padding is {self._padding}, which no tokenizer has")
        self._pads = False
        sample = self._sample()
        logits = self._logits(sample)
        # Rounding to integers hides the effect of padding, so the card says what the exporter saw before rounding.
        known = None if structure.exact else card.pads
        self._pads = "attention_mask" in self._inputs if known is None else known
        if known is None and self._pads:
            self._pads = self._agrees(sample, logits, TOLERANCES[structure.exact])
        names = _output_names(graph, card, config, outputs=logits.shape[1])
        self._find_labels(names, spec=graph.spec, labels=labels, renamed=label_map, trusted=trust_labels)
        if not structure.exact:
            self.notes += ("its weights are whole numbers: probabilities depend a little on what else is in a batch",)
        self.fingerprint: str | None = graph.digest(
            structure.files, self._map.outputs, self.limit, self._padding, self._pads
        )

    @property
    def pads(self) -> bool:
        """Whether a batch may mix lengths, with shorter pairs padded to the longest."""
        return self._pads

    def _compute(self, tokens: TokenizedPairs) -> tuple[Floats, int]:
        batches = tokens.padded_batches(self._budget, mixed=self._pads)
        parts = [self._run(tokens, batch) for batch in batches]
        result = np.empty((len(tokens.rows), parts[0].shape[1] if parts else 3), dtype=np.float32)
        for batch, values in zip(batches, parts, strict=True):
            result[tokens.rows[batch.pairs]] = values
        return _to_logits(result, self._last_step), sum(batch.padded for batch in batches) - len(tokens.ids)

    def _run(self, tokens: TokenizedPairs, batch: TokenBatch) -> Floats:
        """float32[pairs, outputs] of a batch."""
        mask, places = tokens.pad(batch)
        arrays = {"input_ids": np.where(mask, tokens.ids[places], self._padding), "attention_mask": mask}
        if tokens.types is not None:
            arrays["token_type_ids"] = np.where(mask, tokens.types[places], 0)
        inputs = {name: arrays[name].astype(dtype) for name, dtype in self._inputs.items()}
        try:
            (outputs,) = self._runtime.run([self._output], inputs)
        except Exception as error:
            # Exception is the only class that the runtime's exceptions have in common.
            text = " ".join(str(error).split())
            raise AcidtestError(f"{self.name}: ONNX Runtime cannot run the graph: {text[:300]}") from error
        values = np.asarray(outputs, dtype=np.float32)
        values = values[:, None] if values.ndim == 1 else values
        if values.ndim != 2 or len(values) != batch.count or values.shape[1] not in (1, 2, 3):
            raise AcidtestError(
                f"{self.name} is not a sequence classifier: for {batch.count} pairs it gives an array of "
                f"{' × '.join(map(str, values.shape))} numbers; expected three, two or one for each"
            )
        return values


@MODELS.add("onnx")
def onnx(
    rest: str,
    *,
    threads: int = 0,
    provider: Literal["auto", "cpu", "cuda"] = "auto",
    max_length: int = 0,
    labels: str = "",
    label_map: str = "",
    trust_labels: bool = False,
) -> Model:
    """A classifier as an ONNX graph: a folder with model.onnx and tokenizer.json, or a file ending in .onnx.

    ``threads`` 0 is one for every core; ``provider`` auto is a CUDA device where ONNX Runtime sees one; ``max_length``
    0 is the model's own. ``labels`` and ``label_map`` say what the outputs mean where names do not; ``trust_labels``
    keeps a declared order that predictions contradict.
    """
    import_optional("onnx", "onnxruntime", "tokenizers", extra="onnx")
    graph = find_graph(rest)
    stage("loading %s", graph.name)
    return OnnxModel(
        graph,
        threads=threads,
        provider=provider,
        max_length=max_length,
        labels=labels,
        label_map=label_map,
        trust_labels=trust_labels,
    )


def _open_runtime(graph: Graph, threads: int, provider: str) -> Any:
    (library,) = import_optional("onnxruntime", extra="onnx")
    if threads < 0:
        raise AcidtestError(f"{graph.spec}: --threads is {threads}; it is from 1 on, or 0 for all cores")
    has_cuda = "CUDAExecutionProvider" in library.get_available_providers()
    if provider == "cuda" and not has_cuda:
        raise AcidtestError(
            f"{graph.spec}: --provider cuda, but this ONNX Runtime has no CUDA; pip install onnxruntime-gpu, or use cpu"
        )
    session_options = library.SessionOptions()
    session_options.intra_op_num_threads = threads
    session_options.log_severity_level = 4
    providers: list[Any] = ["CPUExecutionProvider"]
    if has_cuda and provider != "cpu":
        # TF32, the default, rounds to ten bits of mantissa.
        providers.insert(0, ("CUDAExecutionProvider", {"use_tf32": "0"}))
    try:
        session = library.InferenceSession(str(graph.path), session_options, providers=providers)
    except Exception as error:
        text = " ".join(str(error).split())
        raise AcidtestError(f"{graph.spec}: ONNX Runtime cannot open {graph.path.name}: {text[:300]}") from error
    if provider == "cuda" and session.get_providers()[0] != "CUDAExecutionProvider":
        raise AcidtestError(
            f"{graph.spec}: --provider cuda, but ONNX Runtime cannot use the device; use --provider cpu"
        )
    return session


def _find_inputs(graph: Graph, runtime: Any) -> dict[str, type[np.integer]]:
    dtypes: dict[str, type[np.integer]] = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}
    inputs = {value.name: value for value in runtime.get_inputs()}
    strange = [name for name, value in inputs.items() if name not in INPUTS or value.type not in dtypes]
    if strange or "input_ids" not in inputs:
        problem = f"asks for {list_some(strange or sorted(inputs)) or 'nothing'}; expected {', '.join(INPUTS)}"
        raise AcidtestError(f"{graph.spec} is no classifier of pairs: its graph {problem} as whole numbers")
    fixed = [size for value in inputs.values() for size in value.shape if isinstance(size, int)]
    if fixed:
        raise AcidtestError(
            f"{graph.spec}: its graph takes inputs of fixed size only ({' × '.join(map(str, fixed[:2]))}); export it "
            f"with dynamic axes for batch and sequence, as acidtest export onnx does"
        )
    return {name: dtypes[value.type] for name, value in inputs.items()}


def _find_output(graph: Graph, runtime: Any) -> str:
    """The output that holds the logits: the one of that name, or the first."""
    outputs = {output.name: output.shape for output in runtime.get_outputs()}
    name = "logits" if "logits" in outputs else next(iter(outputs))
    shape = outputs[name]
    unusable = isinstance(shape[-1], int) and shape[-1] not in (1, 2, 3) if len(shape) == 2 else len(shape) > 2
    if unusable:
        raise AcidtestError(
            f"{graph.spec} is not a sequence classifier: its output {name!r} has the shape "
            f"{' × '.join(map(str, shape))}; expected three, two or one number for each pair"
        )
    return name


def _output_names(graph: Graph, card: GraphSettings, config: GraphSettings, *, outputs: int) -> list[str]:
    """The names of the outputs from the card or the configuration, otherwise ``LABEL_0`` and so on."""
    names = card.id2label or config.id2label
    if names is None:
        return [f"LABEL_{number}" for number in range(outputs)]
    if sorted(names) != [str(number) for number in range(outputs)]:
        raise AcidtestError(
            f"{graph.spec}: its graph has {outputs} outputs, but id2label names {list_some(sorted(names))}; "
            f"the configuration in {graph.folder} is another model's"
        )
    return [names[str(number)] for number in range(outputs)]


def _find_length(graph: Graph, config: GraphSettings, *, card: GraphSettings, wanted: int) -> int:
    """The most tokens in a pair: ``wanted``, or if that is 0 the least that the files of the folder allow."""
    positions = config.max_position_embeddings
    if positions and config.model_type in OFFSET_POSITIONS:
        positions -= (config.pad_token_id or 0) + 1
    positions = positions if positions and positions > 0 else None
    tokenizer_limit = graph.read("tokenizer_config.json", GraphSettings).model_max_length
    limits = (tokenizer_limit, card.max_length)
    return choose_length(graph.spec, wanted, positions, limits=limits, default=DEFAULT_LENGTH)


def _to_logits(values: Floats, last_step: str) -> Floats:
    """The values as logits: converted if the graph ends in softmax, or in a sigmoid with one output."""
    likely = np.maximum(values, LEAST_PROBABILITY)
    if last_step == "Softmax":
        return np.asarray(np.log(likely), dtype=np.float32)
    if last_step == "Sigmoid" and values.shape[1] == 1:
        return np.asarray(np.log(likely) - np.log(np.maximum(1 - values, LEAST_PROBABILITY)), dtype=np.float32)
    return values
