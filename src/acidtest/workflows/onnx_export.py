"""A checkpoint of transformers as a folder that ``onnx:`` reads: the graph, its tokenizer, and what they mean."""

from __future__ import annotations

import logging
import shutil
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from acidtest.core.errors import AcidtestError, FileError, some
from acidtest.core.extras import required
from acidtest.core.files import replacing_folder, write_json
from acidtest.core.logs import stage
from acidtest.core.model import Probabilities
from acidtest.core.structured import check_shape, read_json
from acidtest.models.encoders.checkpoints import Checkpoint, checkpoint, loaded_classifier, loaded_tokenizer
from acidtest.models.encoders.onnx_graphs import GRAPHS, graph_of
from acidtest.models.encoders.pair_tokens import SAMPLES
from acidtest.models.huggingface import NO_PADDING, hf
from acidtest.models.onnx import CARD, INPUTS, OnnxModel, Settings
from acidtest.workflows.onnx_comparisons import Comparison, UnfaithfulError, compared

PLAIN, INT8 = GRAPHS

FORMAT = "onnx"

SCHEMA = 1

CLOSE = 1e-3
"""The largest difference in a probability that a graph in float32 may have from the checkpoint."""

OPSET = 17
"""The version of ONNX's operators: the first with layer normalisation, known to ONNX Runtime since 1.12."""

_LARGE = 1 << 31
"""Bytes from which on a graph's weights lie in files of their own: protobuf holds no more."""


@dataclass(frozen=True)
class Export:
    """What was written where: the graphs, the labels of their outputs, and on how many pairs they were compared."""

    model: str
    folder: Path
    graphs: tuple[Comparison, ...]
    labels: tuple[str, ...]
    notes: tuple[str, ...]
    pairs: int

    @property
    def paths(self) -> tuple[Path, ...]:
        """What to name after ``onnx:``, the folder itself for the graph in float32."""
        return tuple(self.folder if each.file == PLAIN else self.folder / each.file for each in self.graphs)

    def to_json(self) -> dict[str, Any]:
        """The export for machines."""
        return {
            "format": FORMAT,
            "model": self.model,
            "folder": str(self.folder),
            "pairs": self.pairs,
            "labels": list(self.labels),
            "notes": list(self.notes),
            "graphs": [asdict(graph) for graph in self.graphs],
        }


def exported(
    model: str,
    folder: Path,
    *,
    pairs: tuple[Sequence[str], Sequence[str]],
    int8: bool = False,
    labels: str = "",
    label_map: str = "",
) -> Export:
    """A ``hf:`` checkpoint written into a folder, whole or not at all, once it was asked these pairs both ways.

    A graph in float32 that is further than ``CLOSE`` from the checkpoint is refused. With ``int8`` a second graph has
    whole numbers for weights. ``labels`` and ``label_map`` are those of ``hf:``.
    """
    required("onnx", "onnxruntime", "tokenizers", extra="onnx")
    required("torch", "transformers")
    kind, _, rest = model.partition(":")
    if kind != "hf":
        raise AcidtestError(f"{model!r} cannot be written as onnx; only a checkpoint can: hf:FOLDER or hf:NAME")
    _refuse_occupied(folder)
    found = checkpoint(rest)
    reference = hf(rest, device="cpu", dtype="float32", labels=labels, label_map=label_map)
    expected = reference.predict(*pairs)
    del reference
    with replacing_folder(folder) as temporary:
        stage("writing the graph of %s", model)
        _write_graph(found, temporary)
        card: dict[str, Any] = {"schema": SCHEMA, "format": FORMAT, "max_length": found.longest}
        write_json(temporary / CARD, card)
        stage("comparing it with the checkpoint on %d pairs", len(expected))
        plain = _opened(temporary / PLAIN, labels=labels, label_map=label_map)
        graphs = [_compared(temporary / PLAIN, plain.predict(*pairs), expected)]
        _refuse_unfaithful(model, graphs)
        card["pads"] = plain.pads
        write_json(temporary / CARD, card)
        if int8:
            stage("rounding its weights to whole numbers")
            _write_int8(temporary)
            rounded = _opened(temporary / INT8, labels=",".join(plain.outputs))
            graphs.append(_compared(temporary / INT8, rounded.predict(*pairs), expected))
        card |= {
            "id2label": {str(number): label for number, label in enumerate(plain.outputs)},
            "max_length": plain.limit,
            "source": {"model": model, "fingerprint": found.digest("float32")},
            "notes": list(plain.notes),
            "graphs": [asdict(graph) for graph in graphs],
            "files": sorted({CARD, *(path.name for path in temporary.iterdir())}),
        }
        write_json(temporary / CARD, card)
    return Export(model, folder, tuple(graphs), plain.outputs, plain.notes, len(expected))


def _refuse_occupied(folder: Path) -> None:
    """Refuse to replace anything but an earlier export with nothing else in it."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise FileError(folder, "is a file; name a folder to write the model to")
    there = {path.name for path in folder.iterdir()}
    card = read_json(folder / CARD, dict[str, Any], remedy="name another folder") if CARD in there else {}
    listed = card.get("files", []) if card.get("format") == FORMAT else []
    own = check_shape(listed, folder / CARD, list[str], key="files", remedy="name another folder")
    if there - set(own):
        raise FileError(folder, f"holds {some(sorted(there - set(own)))}, no export of acidtest's; name another folder")


def _write_graph(found: Checkpoint, folder: Path) -> None:
    """The checkpoint's classifier, tokenizer and configuration as files of this folder."""
    (torch,) = required("torch")
    tokenizer = loaded_tokenizer(found)
    model = loaded_classifier(found, torch.float32)
    if hasattr(model, "set_attn_implementation"):
        # Written out in plain steps; ONNX Runtime is faster on them than on what torch makes of its fused one.
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
        # What tracing warns of, that other inputs may take other ways through the code, is what is tried afterwards.
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
            raise AcidtestError(f"{found.spec}: torch cannot write it as a graph: {text[:300]}") from error
    tokenizer.save_pretrained(folder)
    if not (folder / "tokenizer.json").is_file():
        raise AcidtestError(f"{found.spec}: its tokenizer has no form as tokenizer.json, which onnx: models need")
    shutil.copyfile(found.folder / "config.json", folder / "config.json")


def _sample_inputs(torch: Any, tokenizer: Any) -> dict[str, Any]:
    """Pairs of several lengths side by side: with padding, so that the mask leaves its trace."""
    premises, hypotheses = (list(texts) for texts in zip(*SAMPLES, strict=True))
    told = tokenizer(premises, hypotheses)
    longest = max(map(len, told["input_ids"]))
    padding = tokenizer.pad_token_id or 0
    rows = told["input_ids"]
    types = told.get("token_type_ids") or [[0] * len(row) for row in rows]
    filled = {
        "input_ids": [[*row, *[padding] * (longest - len(row))] for row in rows],
        "attention_mask": [[*[1] * len(row), *[0] * (longest - len(row))] for row in rows],
        "token_type_ids": [[*row, *[0] * (longest - len(row))] for row in types],
    }
    return {name: torch.tensor(values) for name, values in filled.items()}


def _write_int8(folder: Path) -> None:
    """A second graph whose matrices are whole numbers of seven bits, scaled for each column."""
    (quantization,) = required("onnxruntime.quantization", extra="onnx")
    large = sum(path.stat().st_size for path in folder.iterdir()) >= _LARGE
    with _silent():
        quantization.quantize_dynamic(
            folder / PLAIN,
            folder / INT8,
            weight_type=quantization.QuantType.QInt8,
            per_channel=True,
            # With eight, processors without VNNI overflow and answer otherwise than those that have it.
            reduce_range=True,
            use_external_data_format=large,
        )


@contextmanager
def _silent() -> Iterator[None]:
    """Without advice to whoever calls ONNX Runtime by hand, which it logs as warnings of the whole program."""
    before, nobody = logging.root.manager.disable, logging.NullHandler()
    # Logging to a root without handlers would give it one for good, and everything would be told twice.
    logging.root.addHandler(nobody)
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(before)
        logging.root.removeHandler(nobody)


def _opened(graph: Path, *, labels: str = "", label_map: str = "") -> OnnxModel:
    settings = Settings(threads=0, provider="cpu", max_length=0, labels=labels, label_map=label_map)
    return OnnxModel(graph_of(str(graph)), settings)


def _compared(graph: Path, answers: Probabilities, expected: Probabilities) -> Comparison:
    return compared(answers, expected, file=graph.name, size=graph.stat().st_size)


def _refuse_unfaithful(model: str, graphs: Sequence[Comparison]) -> None:
    # Not a number is not close either.
    if not all(graph.difference <= CLOSE for graph in graphs):
        raise UnfaithfulError(
            f"{model}: as a graph its probabilities differ by up to {graphs[0].difference:.2g} from the checkpoint's, "
            f"more than {CLOSE:g}; nothing was written. Its code does not lend itself to tracing: run it as {model}",
            graphs,
        )
