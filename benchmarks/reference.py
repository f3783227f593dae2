"""The reference model, from text to probabilities: speed, load time and memory, beside the same weights in torch.

Pairs are those of HANS and, where ../shared has them, of SNLI and MultiNLI. Torch computes transformers' classifier
with the same rounded weights and our tokens, padded in batches of pairs of similar length; probabilities are compared.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from race import MNLI, parse_options, peak_megabytes, race, report, require, run_step, shared_files, timing_rows

import acidtest
from acidtest.core.model import model_from_spec
from acidtest.models.encoders.pair_tokens import TokenizedPairs
from acidtest.models.reference import BUNDLED, HEAD_SIZE, SCALE, WEIGHTS, ReferenceModel, restore_floats

BATCH_TOKENS = 1 << 12


def classifier() -> Any:
    """The packaged weights in transformers' classifier."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification

    with np.load(BUNDLED / WEIGHTS, allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    weights = {
        name: torch.from_numpy(restore_floats(array, arrays.get(name + SCALE)))
        for name, array in arrays.items()
        if not name.endswith(SCALE) and name != HEAD_SIZE
    }
    words, width = weights["bert.embeddings.word_embeddings.weight"].shape
    config = BertConfig(
        vocab_size=words,
        hidden_size=width,
        num_hidden_layers=sum(name.endswith("intermediate.dense.bias") for name in weights),
        num_attention_heads=width // int(arrays[HEAD_SIZE]),
        max_position_embeddings=len(weights["bert.embeddings.position_embeddings.weight"]),
        hidden_act="gelu_new",
        num_labels=3,
    )
    model = BertForSequenceClassification(config).eval()
    for number, layer in enumerate(model.bert.encoder.layer):
        # Layers were pruned: each has its own number of heads and of inner units.
        inner, heads = (
            len(weights[f"bert.encoder.layer.{number}.{name}.bias"])
            for name in ("intermediate.dense", "attention.self.query")
        )
        layer.intermediate.dense, layer.output.dense = torch.nn.Linear(width, inner), torch.nn.Linear(inner, width)
        attention = layer.attention.self
        attention.num_attention_heads, attention.all_head_size = heads // attention.attention_head_size, heads
        attention.query, attention.key, attention.value = (torch.nn.Linear(width, heads) for _ in range(3))
        layer.attention.output.dense = torch.nn.Linear(heads, width)
    model.load_state_dict(weights)
    return model


def torch_probabilities(model: Any, tokens: TokenizedPairs) -> np.ndarray:
    """Probabilities of pairs that our tokenizer has read, padded batch by batch."""
    import torch

    assert tokens.types is not None
    result = np.empty((len(tokens.rows), 3), dtype=np.float32)
    with torch.inference_mode():
        for batch in tokens.padded_batches(BATCH_TOKENS):
            mask, places = tokens.pad(batch)
            ids, types = (np.where(mask, array[places], 0).astype(np.int64) for array in (tokens.ids, tokens.types))
            inputs = (torch.from_numpy(array) for array in (ids, mask.astype(np.int64), types))
            result[tokens.rows[batch.pairs]] = model(*inputs).logits.softmax(-1).numpy()
    return result


def race_corpus(suite: acidtest.Suite, rows: int, opponent: Any) -> list[dict[str, Any]]:
    """Both contenders on one corpus."""
    frame = suite.frame.select("premise", "hypothesis").head(rows).collect()
    premises, hypotheses = frame["premise"].to_list(), frame["hypothesis"].to_list()
    model = model_from_spec("reference")
    assert isinstance(model, ReferenceModel)

    def predict() -> np.ndarray:
        parts = [slice(start, start + model.batch_size) for start in range(0, rows, model.batch_size)]
        return np.concatenate([model.predict(premises[part], hypotheses[part]) for part in parts if premises[part]])

    contenders: dict[str, Callable[[], np.ndarray]] = {
        "acidtest, NumPy": predict,
        "transformers, torch": lambda: torch_probabilities(opponent, model.prepare(premises, hypotheses)),
    }
    timings = race(contenders)
    ours, torchs = (timing.output for timing in timings.values())
    distance = float(np.abs(ours - torchs).max())
    assert distance < 1e-4, f"{suite.name}: probabilities are {distance} apart"
    pieces = round(float(model.prepare(premises, hypotheses).lengths.mean()), 1)
    facts = {"corpus": suite.name, "pairs": frame.height, "pieces per pair": pieces}
    return [
        facts | row | {"pairs per second": round(frame.height / row["seconds"]), "largest difference": distance}
        for row in timing_rows(timings)
    ]


def load_model() -> dict[str, float]:
    """Seconds to load the model, and peak memory before, after, and after 3,000 pairs."""
    frame = acidtest.generate("hans", n=100).frame.select("premise", "hypothesis").collect()
    # Another model first, so that everything that all of them need is imported.
    model_from_spec("baseline:overlap")
    before, start = peak_megabytes(), time.perf_counter()
    model = model_from_spec("reference")
    loaded = {"load, s": time.perf_counter() - start, "MB before": before, "MB loaded": peak_megabytes()}
    model.predict(frame["premise"].to_list(), frame["hypothesis"].to_list())
    return loaded | {"MB after 3,000 pairs": peak_megabytes()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--step", choices=["load"], help=argparse.SUPPRESS)
    options = parse_options(parser, rows=(500, 6_000))
    if options.step:
        print(json.dumps(load_model()))
        return
    report("reference_load", [run_step(__file__, "--step", "load")])
    require("torch", "transformers")
    opponent = classifier()
    suites = [acidtest.generate("hans", n=options.rows // 30 + 1)]
    suites += [acidtest.load(path) for path in shared_files("snli/snli_1.0_test.jsonl.gz", MNLI)]
    report("reference", [row for suite in suites for row in race_corpus(suite, options.rows, opponent)])


if __name__ == "__main__":
    main()
