"""The reference model, from text to probabilities: speed, load time and memory, beside the same weights in torch.

``reference.py [ROWS]``. HANS from the package and, where they lie beside the checkout, SNLI's and MultiNLI's pairs.
Torch, where it is installed, computes transformers' classifier with the same rounded weights and our tokens, padded in
batches of pairs of like length; its answers and ours are compared. The two take turns, and processor seconds stand
beside wall seconds, because other work on a machine spoils only the latter.
"""

from __future__ import annotations

import importlib.util
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from race import told

from acidtest import api
from acidtest.models.encoders.pair_tokens import PairTokens
from acidtest.models.encoders.token_batches import padded_batches
from acidtest.models.reference import BUNDLED, HEAD_SIZE, SCALE, WEIGHTS, ReferenceModel, reference, restored

DATA = Path(__file__).parents[2] / "shared" / "data"
CORPORA = {"snli": DATA / "snli" / "snli_1.0_test.jsonl.gz", "mnli": DATA / "mnli" / "mnli_dev_matched.tsv"}
TIMES = 5
BUDGET = 1 << 12
MEMORY = """
import re, time
from pathlib import Path
from acidtest import api
# getrusage would tell the peak of the process that started this one.
def peak(): return int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) / 1024
frame = api.generate("hans", n=100).frame.collect()
before = peak()
from acidtest.core.model import MODELS, model_from_spec
list(MODELS)
start = time.perf_counter()
model = model_from_spec("reference")
loaded, seconds = peak(), time.perf_counter() - start
model.predict(frame["premise"].to_list(), frame["hypothesis"].to_list())
print(seconds, before, loaded, peak())
"""

Predicted = Callable[[], np.ndarray]


def pairs_of(name: str, rows: int) -> tuple[list[str], list[str]]:
    """Premises and hypotheses."""
    suite = api.generate("hans", n=rows // 30 + 1) if name == "hans" else api.load(CORPORA[name])
    frame = suite.frame.select("premise", "hypothesis").head(rows).collect()
    return frame["premise"].to_list(), frame["hypothesis"].to_list()


def in_torch() -> Callable[[PairTokens], np.ndarray]:
    """The same weights in transformers' classifier."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification

    with np.load(BUNDLED / WEIGHTS, allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    weights = {
        name: torch.from_numpy(restored(array, arrays.get(name + SCALE)))
        for name, array in arrays.items()
        if not name.endswith(SCALE) and name != HEAD_SIZE
    }
    words, width = weights["bert.embeddings.word_embeddings.weight"].shape
    inner = [array.shape[0] for name, array in weights.items() if name.endswith("intermediate.dense.bias")]
    config = BertConfig(
        vocab_size=words,
        hidden_size=width,
        num_hidden_layers=len(inner),
        num_attention_heads=width // int(arrays[HEAD_SIZE]),
        max_position_embeddings=len(weights["bert.embeddings.position_embeddings.weight"]),
        hidden_act="gelu_new",
        num_labels=3,
    )
    model = BertForSequenceClassification(config).eval()
    for number, layer in enumerate(model.bert.encoder.layer):
        size, heads = (
            len(weights[f"bert.encoder.layer.{number}.{name}.bias"])
            for name in ("intermediate.dense", "attention.self.query")
        )
        layer.intermediate.dense, layer.output.dense = torch.nn.Linear(width, size), torch.nn.Linear(size, width)
        own = layer.attention.self
        own.num_attention_heads, own.all_head_size = heads // own.attention_head_size, heads
        own.query, own.key, own.value = (torch.nn.Linear(width, heads) for _ in range(3))
        layer.attention.output.dense = torch.nn.Linear(heads, width)
    model.load_state_dict(weights)

    def probabilities(tokens: PairTokens) -> np.ndarray:
        result = np.empty((len(tokens.rows), 3), dtype=np.float32)
        starts = tokens.starts
        assert tokens.types is not None
        with torch.inference_mode():
            for batch in padded_batches(tokens.lengths, BUDGET):
                columns = np.arange(batch.longest)
                there = columns < tokens.lengths[batch.start : batch.stop, None]
                places = np.minimum(starts[batch.start : batch.stop, None] + columns, len(tokens.ids) - 1)
                ids, types = (
                    np.where(there, array[places], 0).astype(np.int64) for array in (tokens.ids, tokens.types)
                )
                inputs = (torch.from_numpy(array) for array in (ids, there.astype(np.int64), types))
                result[tokens.rows[batch.start : batch.stop]] = model(*inputs).logits.softmax(-1).numpy()
        return result

    return probabilities


def spent(action: Predicted) -> tuple[float, float]:
    """Wall and processor seconds of one call."""
    wall, processor = time.perf_counter(), time.process_time()
    action()
    return time.perf_counter() - wall, time.process_time() - processor


def raced(model: ReferenceModel, name: str, rows: int) -> list[dict[str, object]]:
    """Both contenders on one corpus."""
    premises, hypotheses = pairs_of(name, rows)
    size = model.batch_size

    def ours() -> np.ndarray:
        parts = [slice(at, at + size) for at in range(0, len(premises), size)]
        return np.concatenate([model.predict(premises[part], hypotheses[part]) for part in parts])

    racing: dict[str, Predicted] = {"acidtest, NumPy": ours}
    if importlib.util.find_spec("torch") and importlib.util.find_spec("transformers"):
        probabilities = in_torch()
        racing["transformers, torch"] = lambda: probabilities(model.prepare(premises, hypotheses))
    answers = {contender: action() for contender, action in racing.items()}
    times: dict[str, list[tuple[float, float]]] = {contender: [] for contender in racing}
    for _ in range(TIMES):
        for contender, action in racing.items():
            times[contender].append(spent(action))
    pieces = float(model.prepare(premises, hypotheses).lengths.mean())
    found = []
    for contender, seconds in times.items():
        wall, processor = (statistics.median(column) for column in zip(*seconds, strict=True))
        found.append(
            {
                "corpus": name,
                "contender": contender,
                "pairs": len(premises),
                "pieces a pair": round(pieces, 1),
                "seconds": wall,
                "processor seconds": processor,
                "pairs/s": round(len(premises) / wall),
                "furthest from ours": float(np.abs(answers[contender] - answers["acidtest, NumPy"]).max()),
            }
        )
    return found


def main(rows: int) -> None:
    """Race on every corpus at hand, then load once more in a process of its own."""
    model = reference("")
    assert isinstance(model, ReferenceModel)
    names = ["hans", *(name for name, path in CORPORA.items() if path.is_file())]
    told("reference", [row for name in names for row in raced(model, name, rows)])
    if not Path("/proc/self/status").exists():
        print("no /proc here: memory is not told")
        return
    out = subprocess.run([sys.executable, "-c", MEMORY], capture_output=True, text=True, check=True).stdout
    seconds, before, loaded, peak = map(float, out.split())
    row = {"load s": seconds, "MB before": before, "MB loaded": loaded, "MB after 3,000 pairs": peak}
    told("reference_load", [row])


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 6000)
