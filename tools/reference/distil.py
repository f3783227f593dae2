"""The reference model, taught by several teachers: the third step.

    python tools/reference/distil.py POOL.npz ENCODER.safetensors TEACHER-*.npz -o student.safetensors

The student has some of the encoder's layers, thinned out, and only the pieces of the pool's smaller vocabulary. It
learns what the teachers say on average; of the pool's own pairs also the labels. tools/reference/export.py makes of it
what ships with acidtest.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import torch
from encoder import HEAD, accuracies, begun, pairs, trained
from safetensors.torch import save_file
from teach import DEVICE, asked
from torch.nn.functional import one_hot

GOLD = 0.3
"""The weight of the labels, beside the teachers, for pairs of the pool."""


def numbers(text: str) -> list[int]:
    """Numbers with commas between them."""
    return [int(part) for part in text.split(",")]


def main() -> None:
    """Train the student."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pool", type=Path)
    parser.add_argument("encoder", type=Path)
    parser.add_argument("teachers", type=Path, nargs="+")
    parser.add_argument("--layers", type=numbers, default=[0, 3, 5])
    parser.add_argument("--heads", type=numbers, default=[12, 12, 12])
    parser.add_argument("--inner", type=numbers, default=[64, 64, 768])
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--rate", type=float, default=3e-4)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("-o", "--output", type=Path, required=True)
    given = parser.parse_args()
    pool = dict(np.load(given.pool))
    said = [dict(np.load(path)) for path in given.teachers]
    for name in ("snli", "mnli", "lingnli", "breaking"):
        right = sum(each[name].astype(np.float32) for each in said).argmax(1) == pool[f"{name}_label"]
        print(f"{len(said)} teachers together: {name} {right.mean():.2%}")
    target = torch.from_numpy(sum(each["asked"].astype(np.float32) for each in said) / len(said)).to(DEVICE).softmax(1)
    label = one_hot(torch.from_numpy(pool["pool_label"].astype(np.int64)).to(DEVICE), 3)
    target[: len(label)] = GOLD * label + (1 - GOLD) * target[: len(label)]
    torch.manual_seed(given.seed)
    sizes = {"layers": given.layers, "heads": given.heads, "inner": given.inner}
    network = begun(given.encoder, **sizes, kept=pool["kept"], dropout=0.05).to(DEVICE)
    learnt = asked(*(pairs(pool, name, DEVICE, student=True) for name in ("pool", "swapped")))
    trained(network, learnt, target, epochs=given.epochs, size=256, rate=given.rate, seed=given.seed)
    found = accuracies(network, pool, DEVICE, student=True)
    print("student", sizes, found, flush=True)
    save_file({name: value.half().contiguous().cpu() for name, value in network.state_dict().items()}, given.output)
    told = {**sizes, "head_size": HEAD, "activation": "gelu_tanh", "teachers": len(said), "accuracies": found}
    given.output.with_suffix(".json").write_text(json.dumps({**told, "epochs": given.epochs, "seed": given.seed}))


if __name__ == "__main__":
    main()
