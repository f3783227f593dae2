"""The student without the attention heads that it misses least: the fourth step, which makes it faster.

    python tools/reference/thin.py student.safetensors POOL.npz --heads 12,8,12 -o thin.safetensors

One head after the other is taken out of a layer until as many are left as ``--heads`` says: the one without which the
answers to some pairs of the pool change least. What it said is made up for as far as the others tell it: by the least
squares of what heads find of the pool's tokens.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import numpy.typing as npt
from safetensors.numpy import load_file, save_file

from acidtest.models.encoders.numpy_encoders import NumpyEncoder, attend
from acidtest.models.encoders.pair_tokens import TokenizedPairs

Floats = npt.NDArray[np.floating]
Weights = dict[str, Floats]
FIRST, LAST = 2, 3
"""The numbers of [CLS] and [SEP] in the student's vocabulary."""
RIDGE = 1e-3
"""What is added to variances, of their mean, before equations are solved."""


def tokens(pool: dict[str, np.ndarray], name: str, rows: np.ndarray) -> TokenizedPairs:
    """Some pairs of the pool, in the student's pieces."""
    texts = np.split(pool["student_pieces"].astype(np.int64), np.cumsum(pool["student_lengths"])[:-1])
    sides = [[texts[number] for number in pool[f"{name}_{side}"][rows]] for side in ("premise", "hypothesis")]
    pairs = [np.concatenate([[FIRST], first, [LAST], second, [LAST]]) for first, second in zip(*sides, strict=True)]
    kinds = [np.arange(len(pair)) > len(first) + 1 for pair, first in zip(pairs, sides[0], strict=True)]
    order = np.argsort([len(pair) for pair in pairs], kind="stable")
    lengths = np.array([len(pairs[row]) for row in order])
    ids, types = (np.concatenate([each[row] for row in order]) for each in (pairs, kinds))
    return TokenizedPairs(ids, types.astype(np.uint8), lengths, order, np.zeros(len(pairs), dtype=np.bool_))


def logarithms(encoder: NumpyEncoder, some: TokenizedPairs) -> Floats:
    """The logarithms of what it says."""
    found = encoder.logits(some).astype(np.float64)
    return found - np.logaddexp.reduce(found, axis=1, keepdims=True)


def moments(encoder: NumpyEncoder, number: int, some: TokenizedPairs) -> tuple[Floats, Floats]:
    """What the heads of a layer find, one beside the other: its mean and its covariance over all tokens."""
    layer, total, products = encoder.layers[number], np.zeros(1), np.zeros((1, 1))
    for rows, states in encoder.hidden(some):
        read = states[number].reshape(-1, encoder.width)
        lengths = np.full(len(rows), states[number].shape[1])
        found = attend(layer, layer.mixing(read), lengths).astype(np.float64)
        total, products = total + found.sum(axis=0), products + found.T @ found
    count = some.lengths.sum()
    mean = total / count
    return mean, products / count - np.outer(mean, mean)


def without(weights: Weights, number: int, head: int, size: int, found: tuple[Floats, Floats]) -> Weights:
    """The weights without a head of a layer; ``found`` is the mean and covariance of what the layer's heads find."""
    prefix, part = f"bert.encoder.layer.{number}.attention.", slice(head * size, (head + 1) * size)
    fewer = dict(weights)
    for name in ("query", "key", "value"):
        for kind in ("weight", "bias"):
            whole = f"{prefix}self.{name}.{kind}"
            fewer[whole] = np.delete(weights[whole], part, axis=0)
    dense, bias = (weights[f"{prefix}output.dense.{kind}"] for kind in ("weight", "bias"))
    mean, covariance = found
    # Contexts as the weights have them, with the biases of values, which the encoder puts elsewhere.
    mean = mean + weights[f"{prefix}self.value.bias"]
    others, own = np.delete(mean, part), np.delete(covariance, part, axis=0)
    kept = np.delete(own, part, axis=1) + RIDGE * np.eye(len(others)) * np.trace(covariance) / len(mean)
    told = np.linalg.solve(kept, own[:, part])
    fewer[f"{prefix}output.dense.weight"] = np.float32(np.delete(dense, part, axis=1) + dense[:, part] @ told.T)
    fewer[f"{prefix}output.dense.bias"] = np.float32(bias + dense[:, part] @ (mean[part] - others @ told))
    return fewer


def thinned(weights: Weights, size: int, wanted: list[int], some: TokenizedPairs) -> Weights:
    """The weights with fewer heads, told one by one."""
    before = logarithms(NumpyEncoder(weights, size), some)
    for number, left in enumerate(wanted):
        while len(NumpyEncoder(weights, size).layers[number].output.matrix) > left * size:
            encoder = NumpyEncoder(weights, size)
            found = moments(encoder, number, some)
            tried = [without(weights, number, head, size, found) for head in range(encoder.layers[number].heads)]
            after = [logarithms(NumpyEncoder(each, size), some) for each in tried]
            lost = [float((np.exp(before) * (before - each)).sum(axis=1).mean()) for each in after]
            best = int(np.argmin(lost))
            changed = (after[best].argmax(axis=1) != before.argmax(axis=1)).mean()
            print(f"layer {number}: head {best} taken out; divergence {lost[best]:.4f}, {changed:.2%} answers others",
                  flush=True)  # fmt: skip
            weights = tried[best]
    return weights


def main() -> None:
    """Take heads out and tell what that does to the scores."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("student", type=Path)
    parser.add_argument("pool", type=Path)
    parser.add_argument("--heads", type=lambda text: [int(part) for part in text.split(",")], default=[12, 8, 12])
    parser.add_argument("--pairs", type=int, default=2000)
    parser.add_argument("-o", "--output", type=Path, required=True)
    given = parser.parse_args()
    told = json.loads(given.student.with_suffix(".json").read_text(encoding="utf-8"))
    pool = dict(np.load(given.pool))
    rows = np.random.default_rng(0).choice(len(pool["pool_premise"]), given.pairs, replace=False)
    weights = {name: array.astype(np.float32) for name, array in load_file(given.student).items()}
    thin = thinned(weights, told["head_size"], given.heads, tokens(pool, "pool", rows))
    for name in ("snli", "mnli", "lingnli", "breaking"):
        label = pool[f"{name}_label"]
        asked = tokens(pool, name, np.arange(len(label)))
        told["accuracies"][name] = round(
            float((logarithms(NumpyEncoder(thin, told["head_size"]), asked).argmax(axis=1) == label).mean()) * 100, 2
        )
    print(told["accuracies"])
    save_file({name: array.astype(np.float16) for name, array in thin.items()}, given.output)
    given.output.with_suffix(".json").write_text(json.dumps({**told, "heads": given.heads}), encoding="utf-8")


if __name__ == "__main__":
    main()
