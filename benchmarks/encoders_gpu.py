"""Encoders on a CUDA device, from text to probabilities: ours against sentence-transformers' CrossEncoder.

``encoders_gpu.py PAIRS.tsv [ROWS [RACE]]``: pairs from the columns premise and hypothesis, or from the first two; one
of the races by its number, or all. The networks have BERT-large's and MiniLM's geometry, random weights, and a
WordPiece vocabulary learnt from the pairs: nothing is fetched. It needs torch, transformers, sentence-transformers and
numpy; polars may be missing.
"""

from __future__ import annotations

import csv
import importlib.util
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest.mock import MagicMock

import numpy as np
import torch
from race import median_seconds, told
from sentence_transformers import CrossEncoder
from tokenizers import BertWordPieceTokenizer
from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

STUBS = ("polars", "polars.selectors")
if importlib.util.find_spec("polars") is None:
    # Modules beside the adapter name polars, but nothing here asks it anything; the package itself would ask for more.
    found = importlib.util.find_spec("acidtest")
    sys.modules["acidtest"] = importlib.util.module_from_spec(found)
    sys.modules.update({name: MagicMock() for name in STUBS})
    from acidtest.models.huggingface import HuggingFaceModel, hf

    for name in STUBS:
        # Other libraries look whether it is there.
        del sys.modules[name]
else:
    from acidtest.models.huggingface import HuggingFaceModel, hf

OUTPUTS = ("contradiction", "entailment", "neutral")
BATCHES = (32, 256, 1024)
REFERENCE_EVERY = 20
GEOMETRIES = {
    "24 layers, 1024 wide": {"num_hidden_layers": 24, "hidden_size": 1024, "num_attention_heads": 16},
    "6 layers, 384 wide": {"num_hidden_layers": 6, "hidden_size": 384, "num_attention_heads": 12},
}
RACES = (
    ("24 layers, 1024 wide", "bfloat16"),
    ("6 layers, 384 wide", "bfloat16"),
    ("6 layers, 384 wide", "float32"),
)


def pairs_of(path: Path, rows: int) -> tuple[list[str], list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        lines = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    first, second = 0, 1
    if "premise" in lines[0]:
        first, second = lines[0].index("premise"), lines[0].index("hypothesis")
        lines = lines[1:]
    lines = lines[:rows]
    return [line[first] for line in lines], [line[second] for line in lines]


def saved(folder: Path, geometry: str, texts: list[str]) -> Path:
    """A checkpoint of random weights whose answers differ from pair to pair."""
    learnt = BertWordPieceTokenizer(lowercase=True)
    learnt.train_from_iterator(texts, vocab_size=30522, show_progress=False)
    learnt.save_model(str(folder))
    tokenizer = BertTokenizerFast(vocab=str(folder / "vocab.txt"), model_max_length=512)
    torch.manual_seed(0)
    shape = GEOMETRIES[geometry]
    config = BertConfig(
        vocab_size=30522,
        intermediate_size=4 * shape["hidden_size"],
        id2label=dict(enumerate(OUTPUTS)),
        label2id={name: number for number, name in enumerate(OUTPUTS)},
        **shape,
    )
    model = BertForSequenceClassification(config)
    model.classifier.weight.data.normal_(0, 0.3)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def answered(model: HuggingFaceModel, premises: list[str], hypotheses: list[str]) -> np.ndarray:
    """As the runner asks: tokens of the next pairs are made while the device is busy with these."""

    def prepared() -> Iterator[object]:
        parts = range(0, len(premises), model.batch_size)
        with ThreadPoolExecutor(1) as pool:
            waiting = None
            for start in parts:
                part = slice(start, start + model.batch_size)
                coming = pool.submit(model.prepare, premises[part], hypotheses[part])
                if waiting:
                    yield waiting.result()
                waiting = coming
            if waiting:
                yield waiting.result()

    return np.concatenate([model.infer(tokens) for tokens in prepared()])


def raced(geometry: str, dtype: str, premises: list[str], hypotheses: list[str]) -> list[dict[str, object]]:
    pairs = list(zip(premises, hypotheses, strict=True))
    with tempfile.TemporaryDirectory() as made:
        folder = saved(Path(made), geometry, premises + hypotheses)
        ours = hf(str(folder), device="cuda", dtype=dtype, labels=",".join(OUTPUTS))
        assert isinstance(ours, HuggingFaceModel)
        theirs = CrossEncoder(str(folder), device="cuda", model_kwargs={"dtype": getattr(torch, dtype)})
        exact = CrossEncoder(str(folder), device="cuda", model_kwargs={"dtype": torch.float32})

    def asked(encoder: CrossEncoder, batch: int, every: int = 1) -> np.ndarray:
        found = encoder.predict(pairs[::every], batch_size=batch, apply_softmax=True, show_progress_bar=False)
        return found[:, [OUTPUTS.index(label) for label in ("entailment", "neutral", "contradiction")]]

    rows = len(pairs)
    start = time.perf_counter()
    mine = answered(ours, premises, hypotheses)
    print(f"the first time, acidtest: {time.perf_counter() - start:.2f} s", flush=True)
    start = time.perf_counter()
    other = asked(theirs, 256)
    print(f"the first time, CrossEncoder.predict, batch 256: {time.perf_counter() - start:.2f} s", flush=True)
    reference = asked(exact, 32, REFERENCE_EVERY)
    away = {name: np.abs(p[::REFERENCE_EVERY] - reference) for name, p in (("ours", mine), ("other", other))}
    far = {name: float(distances.max()) for name, distances in away.items()}
    print("on average from float32:", {name: float(distances.mean()) for name, distances in away.items()}, flush=True)
    print(f"{geometry}, {dtype}: ours and theirs differ by {np.abs(mine - other).max():.2g} at most", flush=True)
    assert far["ours"] <= 2 * far["other"] + 1e-3
    assert np.mean(mine.argmax(1) == other.argmax(1)) > (0.97 if dtype == "bfloat16" else 0.9999)

    def shown(what: str, action: Callable[[], object], distance: float, times: int) -> dict[str, object]:
        seconds = median_seconds(action, times=times)
        row = {"network": f"{geometry}, {dtype}", "what": what, "seconds": seconds, "pairs a second": rows / seconds}
        print(row, flush=True)
        return {**row, "furthest from float32": distance}

    before = ours.usage()
    found = [shown("acidtest", lambda: answered(ours, premises, hypotheses), far["ours"], 5)]
    spent = {name: value - before[name] for name, value in ours.usage().items()}
    print({name: value / 6 for name, value in spent.items()}, flush=True)
    for batch in BATCHES:
        times = 1 if batch == 32 else 3
        what = f"CrossEncoder.predict, batch {batch}"
        found.append(shown(what, lambda batch=batch: asked(theirs, batch), far["other"], times))
    fastest = found[0]["seconds"]
    return [{**row, "ratio": row["seconds"] / fastest} for row in found]


def main() -> None:
    premises, hypotheses = pairs_of(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 30_000)
    print(torch.cuda.get_device_name(), len(premises), "pairs", flush=True)
    races = [RACES[int(sys.argv[3])]] if len(sys.argv) > 3 else RACES
    rows = [row for geometry, dtype in races for row in raced(geometry, dtype, premises, hypotheses)]
    told("encoders_gpu", rows)


if __name__ == "__main__":
    main()
