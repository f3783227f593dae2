"""Encoders on a CUDA device, from text to probabilities: ours against sentence-transformers' CrossEncoder.

The networks have BERT-large's and MiniLM's geometry, random weights, and a WordPiece vocabulary learnt from the pairs:
nothing is fetched. Pairs are those of HANS and of MultiNLI's development set where ../shared has it. Distances from
float32 are measured on every twentieth pair.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from encoders import COLUMNS, OUTPUTS, load_pairs
from race import parse_options, race, report, require, skip, timing_rows

from acidtest.core.model import model_from_spec

BATCHES = (32, 256, 1024)
REFERENCE_EVERY = 20
GEOMETRIES = {
    "24 layers, 1024 wide": {"num_hidden_layers": 24, "hidden_size": 1024, "num_attention_heads": 16},
    "6 layers, 384 wide": {"num_hidden_layers": 6, "hidden_size": 384, "num_attention_heads": 12},
}
NETWORKS = (
    ("24 layers, 1024 wide", "bfloat16"),
    ("6 layers, 384 wide", "bfloat16"),
    ("6 layers, 384 wide", "float32"),
)
VOCABULARY = 30522


def save_network(folder: Path, geometry: str, texts: list[str]) -> Path:
    """Write a checkpoint of random weights whose answers differ between pairs."""
    import torch
    from tokenizers import BertWordPieceTokenizer
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    pieces = BertWordPieceTokenizer(lowercase=True)
    pieces.train_from_iterator(texts, vocab_size=VOCABULARY, show_progress=False)
    pieces.save_model(str(folder))
    torch.manual_seed(0)
    shape = GEOMETRIES[geometry]
    config = BertConfig(
        vocab_size=VOCABULARY,
        intermediate_size=4 * shape["hidden_size"],
        id2label=dict(enumerate(OUTPUTS)),
        label2id={name: number for number, name in enumerate(OUTPUTS)},
        **shape,
    )
    model = BertForSequenceClassification(config)
    model.classifier.weight.data.normal_(0, 0.3)
    model.save_pretrained(folder)
    BertTokenizerFast(vocab=str(folder / "vocab.txt"), model_max_length=512).save_pretrained(folder)
    return folder


def predict(model: Any, premises: list[str], hypotheses: list[str]) -> np.ndarray:
    """Probabilities as the runner asks for them: the next pairs are tokenized while the device works."""

    def batches() -> Iterator[Any]:
        with ThreadPoolExecutor(1) as pool:
            waiting = None
            for start in range(0, len(premises), model.batch_size):
                part = slice(start, start + model.batch_size)
                following = pool.submit(model.prepare, premises[part], hypotheses[part])
                if waiting:
                    yield waiting.result()
                waiting = following
            if waiting:
                yield waiting.result()

    return np.concatenate([model.infer(tokens) for tokens in batches()])


def race_network(geometry: str, dtype: str, premises: list[str], hypotheses: list[str]) -> list[dict[str, Any]]:
    """Rows of one network: ours, and the opponent at several batch sizes."""
    import torch
    from sentence_transformers import CrossEncoder

    pairs = list(zip(premises, hypotheses, strict=True))
    with tempfile.TemporaryDirectory() as name:
        folder = save_network(Path(name), geometry, premises + hypotheses)
        ours = model_from_spec(f"hf:{folder}", {"device": "cuda", "dtype": dtype, "labels": ",".join(OUTPUTS)})
        encoders = {
            kind: CrossEncoder(str(folder), device="cuda", model_kwargs={"dtype": getattr(torch, kind)})
            for kind in (dtype, "float32")
        }

    def encode(kind: str, batch: int, every: int = 1) -> np.ndarray:
        output = encoders[kind].predict(pairs[::every], batch_size=batch, apply_softmax=True, show_progress_bar=False)
        return output[:, COLUMNS]

    timings = race(
        {
            "acidtest": lambda: predict(ours, premises, hypotheses),
            **{f"CrossEncoder.predict, batch {n}": lambda n=n: encode(dtype, n) for n in BATCHES},
        }
    )
    reference = encode("float32", 32, REFERENCE_EVERY)
    distances = {name: np.abs(timing.output[::REFERENCE_EVERY] - reference) for name, timing in timings.items()}
    mine, other = (timings[name].output for name in ("acidtest", f"CrossEncoder.predict, batch {BATCHES[1]}"))
    allowed = 2 * distances[f"CrossEncoder.predict, batch {BATCHES[1]}"].max() + 1e-3
    assert distances["acidtest"].max() <= allowed, f"ours is {distances['acidtest'].max()} from float32"
    agreement = np.mean(mine.argmax(1) == other.argmax(1))
    assert agreement > (0.97 if dtype == "bfloat16" else 0.9999), f"only {agreement:.2%} of the answers are equal"
    return [
        {"network": f"{geometry}, {dtype}", **row, "pairs per second": round(len(pairs) / row["seconds"])}
        | {"mean from float32": float(distances[row["contender"]].mean())}
        | {"furthest from float32": float(distances[row["contender"]].max())}
        for row in timing_rows(timings)
    ]


def main() -> None:
    options = parse_options(__doc__, hans=(3_000, 30_000), mnli=(1_000, 9_815))
    require("torch", "transformers", "sentence_transformers", "tokenizers")
    import torch

    if not torch.cuda.is_available():
        skip("needs a CUDA device, and torch sees none here")
    premises, hypotheses = load_pairs(options.hans, options.mnli)
    print(torch.cuda.get_device_name(), len(premises), "pairs", flush=True)
    rows = [row for network in NETWORKS for row in race_network(*network, premises, hypotheses)]
    report("encoders_gpu", rows)


if __name__ == "__main__":
    main()
