"""Models as ONNX graphs, compared with the original. The exporter is in ``onnx_export``, which imports more."""

from __future__ import annotations

import logging
import shutil
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from acidtest.core.errors import AcidtestError, FileError, import_optional, list_some
from acidtest.core.files import replace_folder, write_json
from acidtest.core.logs import stage
from acidtest.core.model import Probabilities
from acidtest.core.structured import check_shape, read_json
from acidtest.models.encoders.checkpoints import Checkpoint, find_checkpoint, load_classifier, load_tokenizer
from acidtest.models.encoders.onnx_graphs import GRAPHS, find_graph
from acidtest.models.encoders.pair_tokens import SAMPLES
from acidtest.models.huggingface import NO_PADDING, hf
from acidtest.models.onnx import CARD, INPUTS, OnnxModel
from acidtest.workflows.exports import ExportCheckError, export_format

SCHEMA = 1

TOLERANCE = 1e-3
"""The largest difference in a probability that a graph in float32 may have from the checkpoint."""

OPSET = 17
"""The version of ONNX's operators: the first with layer normalisation, known to ONNX Runtime since 1.12."""

_LARGE = 1 << 31
"""Size in bytes from which the weights of a graph need separate files, the limit of protobuf."""


def export_checkpoint(
    model: str,
    folder: Path,
    *,
    pairs: tuple[Sequence[str], Sequence[str]],
    int8: bool = False,
    labels: str = "",
    label_map: str = "",
) -> ExportResult:
    """Write a ``hf:`` checkpoint to a folder, whole or not at all, after comparing both on these pairs.

    A graph in float32 that differs by more than ``TOLERANCE`` is refused. With ``int8``, a second graph has integer
    weights. ``labels`` and ``label_map`` are those of ``hf:``.
    """
    import_optional("onnx", "onnxruntime", "tokenizers", extra="onnx")
    import_optional("torch", "transformers")
    kind, _, rest = model.partition(":")
    if kind != "hf":
        raise AcidtestError(f"{model!r} cannot be written as onnx; only a checkpoint can: hf:FOLDER or hf:NAME")
    _refuse_occupied(folder)
    checkpoint = find_checkpoint(rest)
    reference = hf(rest, device="cpu", dtype="float32", labels=labels, label_map=label_map, trust_labels=True)
    expected = reference.predict(*pairs)
    del reference
    with replace_folder(folder) as temporary:
        stage("writing the graph of %s", model)
        _write_graph(checkpoint, temporary)
        card: dict[str, Any] = {"schema": SCHEMA, "format": FORMAT, "max_length": checkpoint.longest}
        write_json(temporary / CARD, card)
        stage("comparing it with the checkpoint on %d pairs", len(expected))
        plain = OnnxModel(find_graph(str(temporary / PLAIN)), labels=labels, label_map=label_map, trust_labels=True)
        graphs = [_compare(temporary / PLAIN, plain.predict(*pairs), expected)]
        # A NaN compares false and is refused, too.
        if not graphs[0].difference <= TOLERANCE:
            raise UnfaithfulError(
                f"{model}: as a graph its probabilities differ by up to {graphs[0].difference:.2g} from the "
                f"checkpoint's, more than {TOLERANCE:g}; nothing was written. Its code cannot be traced faithfully: "
                f"run it as {model}",
                model=model,
                graphs=graphs,
            )
        card["pads"] = plain.pads
        write_json(temporary / CARD, card)
        if int8:
            stage("rounding its weights to whole numbers")
            _write_int8(temporary)
            rounded = OnnxModel(find_graph(str(temporary / INT8)), labels=",".join(plain.outputs), trust_labels=True)
            graphs.append(_compare(temporary / INT8, rounded.predict(*pairs), expected))
        card |= {
            "id2label": {str(number): label for number, label in enumerate(plain.outputs)},
            "max_length": plain.limit,
            "source": {"model": model, "fingerprint": checkpoint.digest("float32")},
            "notes": list(plain.notes),
            "graphs": [asdict(graph) for graph in graphs],
            "files": sorted({CARD, *(path.name for path in temporary.iterdir())}),
        }
        write_json(temporary / CARD, card)
    return ExportResult(model, folder, tuple(graphs), plain.outputs, plain.notes, len(expected))


def _refuse_occupied(folder: Path) -> None:
    """Refuse to replace anything but an earlier export with nothing else in it."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise FileError(folder, "is a file; name a folder to write the model to")
    present = {path.name for path in folder.iterdir()}
    card = read_json(folder / CARD, dict[str, Any], remedy="name another folder") if CARD in present else {}
    listed = card.get("files", []) if card.get("format") == FORMAT else []
    expected = check_shape(listed, folder / CARD, list[str], key="files", remedy="name another folder")
    if others := sorted(present - set(expected)):
        raise FileError(folder, f"holds {list_some(others)}, no export of acidtest's; name another folder")


def _write_graph(checkpoint: Checkpoint, folder: Path) -> None:
    """Write the checkpoint's classifier, tokenizer and configuration to a folder."""
    (torch,) = import_optional("torch")
    tokenizer = load_tokenizer(checkpoint)
    model = load_classifier(checkpoint, torch.float32)
    if hasattr(model, "set_attn_implementation"):
        # ONNX Runtime is faster on eager attention than on what torch exports for its fused attention.
        model.set_attn_implementation("eager")
    if getattr(model.config, "pad_token_id", None) is None:
        model.config.pad_token_id = NO_PADDING
    names = [name for name in INPUTS if name != "token_type_ids" or name in tokenizer.model_input_names]

    class Logits(torch.nn.Module):  # type: ignore[name-defined,misc]
        """The model as a function of its inputs in a fixed order."""

        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, *values: Any) -> Any:
            return self.model(**dict(zip(names, values, strict=True))).logits

    inputs = _sample_inputs(torch, tokenizer)
    axes = {name: {0: "batch", 1: "sequence"} for name in names}
    with warnings.catch_warnings(), torch.inference_mode():
        # Tracing warns that other inputs may take other paths through the code; the comparison tests that.
        warnings.simplefilter("ignore")
        try:
            torch.onnx.export(
                Logits().eval(),
                tuple(inputs[name] for name in names),
                str(folder / PLAIN),
                input_names=names,
                output_names=["logits"],
                dynamic_axes={**axes, "logits": {0: "batch"}},
                opset_version=OPSET,
                # The newer exporter needs onnxscript; this one needs nothing.
                dynamo=False,
            )
        except Exception as error:
            text = " ".join(str(error).split())
            raise AcidtestError(f"{checkpoint.spec}: torch cannot write it as a graph: {text[:300]}") from error
    tokenizer.save_pretrained(folder)
    if not (folder / "tokenizer.json").is_file():
        raise AcidtestError(f"{checkpoint.spec}: its tokenizer has no form as tokenizer.json, which onnx: models need")
    shutil.copyfile(checkpoint.folder / "config.json", folder / "config.json")


def _sample_inputs(torch: Any, tokenizer: Any) -> dict[str, Any]:
    """Pairs of several lengths, padded so that the mask enters the trace."""
    premises, hypotheses = (list(texts) for texts in zip(*SAMPLES, strict=True))
    encoded = tokenizer(premises, hypotheses)
    rows = [torch.tensor(row) for row in encoded["input_ids"]]
    types = [torch.tensor(row) for row in encoded.get("token_type_ids") or [[0] * len(row) for row in rows]]
    pad = partial(torch.nn.utils.rnn.pad_sequence, batch_first=True)
    return {
        "input_ids": pad(rows, padding_value=tokenizer.pad_token_id or 0),
        "attention_mask": pad([torch.ones_like(row) for row in rows]),
        "token_type_ids": pad(types),
    }


def _write_int8(folder: Path) -> None:
    """Write a second graph whose matrices are 7-bit integers, scaled for each column."""
    (quantization,) = import_optional("onnxruntime.quantization", extra="onnx")
    large = sum(path.stat().st_size for path in folder.iterdir()) >= _LARGE
    with _no_warnings():
        quantization.quantize_dynamic(
            folder / PLAIN,
            folder / INT8,
            weight_type=quantization.QuantType.QInt8,
            per_channel=True,
            # With 8 bits, processors without VNNI overflow and answer differently from those that have it.
            reduce_range=True,
            use_external_data_format=large,
        )


@contextmanager
def _no_warnings() -> Iterator[None]:
    """Suppress the advice that ONNX Runtime logs as warnings of the root logger."""
    before, handler = logging.root.manager.disable, logging.NullHandler()
    # Logging to a root without handlers would add one for good, and everything would be printed twice.
    logging.root.addHandler(handler)
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(before)
        logging.root.removeHandler(handler)


def _compare(graph: Path, answers: Probabilities, expected: Probabilities) -> GraphComparison:
    difference = float(np.abs(answers - expected).max())
    equal = float(np.mean(answers.argmax(axis=1) == expected.argmax(axis=1)))
    return GraphComparison(graph.name, graph.stat().st_size, difference, equal)


FORMAT = "onnx"

PLAIN, INT8 = GRAPHS

SAMPLE = 200
"""Pairs of the starter corpus that the model is asked before and after the export."""

LONG = 60
"""Premises joined into one for the first of these pairs: some code treats long texts differently."""


@dataclass(frozen=True)
class GraphComparison:
    """A graph of an export compared with the checkpoint on some pairs.

    ``difference`` is the largest between any two probabilities, ``equal`` the share of pairs with the same likeliest
    label.
    """

    file: str
    bytes: int
    difference: float
    equal: float


@dataclass(frozen=True)
class ExportResult:
    """The graphs that were written, the labels of their outputs, and the number of pairs they were compared on."""

    model: str
    folder: Path
    graphs: tuple[GraphComparison, ...]
    labels: tuple[str, ...]
    notes: tuple[str, ...]
    pairs: int

    @property
    def paths(self) -> tuple[Path, ...]:
        """The paths to name after ``onnx:``; that of the graph in float32 is the folder."""
        return tuple(self.folder if graph.file == PLAIN else self.folder / graph.file for graph in self.graphs)

    def describe(self) -> str:
        compared = [
            f"{graph.file}: {graph.bytes / 1e6:,.1f} MB; on {self.pairs} pairs probabilities differ by at most "
            f"{graph.difference:.2g}, {graph.equal:.1%} of labels are equal"
            for graph in self.graphs
        ]
        return "\n".join([*self.notes, *compared, *(f"wrote onnx:{path}" for path in self.paths)])

    def to_json(self) -> dict[str, Any]:
        return {"format": FORMAT, **asdict(self), "folder": str(self.folder)}


class UnfaithfulError(ExportCheckError):
    """An export that answers differently from the checkpoint; nothing of it is kept."""

    def __init__(self, message: str, *, model: str, graphs: Sequence[GraphComparison]) -> None:
        super().__init__(message)
        self.model, self.graphs = model, tuple(graphs)

    def to_json(self) -> dict[str, Any]:
        return {"format": FORMAT, "model": self.model, "folder": None, "graphs": list(map(asdict, self.graphs))}


@export_format(FORMAT)
def onnx(
    model: Annotated[str, "The model to write: hf:PATH_OR_NAME."],
    *,
    output: Annotated[Path, "The folder to write it to.", "-o"],
    int8: Annotated[bool, "Also a graph with whole numbers for weights: smaller, faster, less exact."] = False,
    labels: Annotated[str, "The labels of its outputs in order, where their names do not say."] = "",
    label_map: Annotated[str, "theirs=ours, such as LABEL_0=contradiction, where names do not say."] = "",
) -> ExportResult:
    """Write a model as ONNX graphs, and compare its answers with what it answered before.

    The folder is one that onnx:FOLDER reads without torch; exit status 1 when its answers differ by more than 0.001.
    """

    return export_checkpoint(model, output, pairs=_sample_pairs(), int8=int8, labels=labels, label_map=label_map)


def _sample_pairs() -> tuple[list[str], list[str]]:
    """Premises and hypotheses from all over the starter corpus, the first premise a long one."""
    from acidtest.io.wordlists import starter_pairs

    rows = starter_pairs().frame.select("premise", "hypothesis").collect()
    rows = rows.gather_every(max(rows.height // SAMPLE, 1)).head(SAMPLE)
    premises, hypotheses = rows["premise"].to_list(), rows["hypothesis"].to_list()
    return [" ".join(premises[:LONG]), *premises[1:]], hypotheses
