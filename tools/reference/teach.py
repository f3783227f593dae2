"""A teacher of the reference model, and what it says of many pairs: the second step; once for each of several seeds.

    python tools/reference/teach.py POOL.npz ENCODER.safetensors --seed 0 -o TEACHER-0.npz

ENCODER holds the weights of MiniLM (six layers, 384 wide) or another BERT with heads of 32. What the teacher says is
asked of the pool's pairs and of others made of its texts: premises with the hypotheses of their neighbours (which are
often about the same scene), hypotheses with each other, pairs turned round, pairs by chance, and texts with the same
text in which a word is swapped, both ways round.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from encoder import Pairs, accuracies, begun, pairs, scores, trained
from torch.nn.functional import one_hot

DEVICE = "cuda"


def asked(some: Pairs, swapped: Pairs) -> Pairs:
    """The pairs of the pool first, then those made of its texts and of texts with a word swapped."""
    premise, hypothesis = some.premise, some.hypothesis
    chance = torch.randperm(len(some), generator=torch.Generator().manual_seed(0)).to(premise.device)
    made = [
        (premise, hypothesis),
        *((premise, hypothesis.roll(by)) for by in (1, 2, -1, -2)),
        (hypothesis, premise),
        *((hypothesis, hypothesis.roll(by)) for by in (1, 2)),
        (premise, hypothesis[chance]),
        (swapped.premise, swapped.hypothesis),
        (swapped.hypothesis, swapped.premise),
    ]
    return replace(
        some, premise=torch.cat([first for first, _ in made]), hypothesis=torch.cat([last for _, last in made])
    )


def main() -> None:
    """Train a teacher and ask it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pool", type=Path)
    parser.add_argument("encoder", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("-o", "--output", type=Path, required=True)
    given = parser.parse_args()
    pool = dict(np.load(given.pool))
    torch.manual_seed(given.seed)
    layers = range(6)
    network = begun(given.encoder, layers=layers, heads=[12] * 6, inner=[1536] * 6, kept=None, dropout=0.1).to(DEVICE)
    learnt = pairs(pool, "pool", DEVICE, student=False)
    label = torch.from_numpy(pool["pool_label"].astype(np.int64)).to(DEVICE)
    trained(network, learnt, one_hot(label, 3).float(), epochs=given.epochs, size=64, rate=8e-5, seed=given.seed)
    print("teacher", given.seed, accuracies(network, pool, DEVICE, student=False), flush=True)
    said = {"asked": scores(network, asked(learnt, pairs(pool, "swapped", DEVICE, student=False)))}
    said |= {
        name: scores(network, pairs(pool, name, DEVICE, student=False))
        for name in ("snli", "mnli", "lingnli", "breaking")
    }
    np.savez(given.output, **{name: found.half().cpu().numpy() for name, found in said.items()})


if __name__ == "__main__":
    main()
