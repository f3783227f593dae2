"""The trained student as it ships with acidtest, to run with NumPy alone: the last step.

    python tools/reference/export.py student.safetensors POOL.vocabulary.txt [--letters ENCODER TOKENIZER]

Beside the weights lies ``student.json`` with their head_size. Large matrices become whole numbers of eight bits, each
row with a factor of its own, the one that loses least; small ones keep sixteen bits, vectors all. Position embeddings
beyond what the model reads are left out. ``--letters`` adds single letters that the tokenizer (TOKENIZER.json) knows
and the student's vocabulary lacks, with the embeddings of the encoder (ENCODER.safetensors) that the student began as,
so that no word that the tokenizer can cut becomes unknown. The same input gives the same bytes.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import numpy.typing as npt
from safetensors.numpy import load_file

from acidtest.core.files import replace_file, write_text
from acidtest.models.encoders.sentence_tokens import CONTINUATION
from acidtest.models.reference import BUNDLED, HEAD_SIZE, MAX_LENGTH, SCALE, VOCABULARY, WEIGHTS, restore_floats

WORDS = "embeddings.word_embeddings.weight"
POSITIONS = "bert.embeddings.position_embeddings.weight"
MOST = 127
SHARES = np.linspace(0.5, 1.0, 51)
"""Of a row's greatest value, what becomes the greatest whole number; values beyond it are cut to it."""

KEPT = (POSITIONS, "bert.embeddings.token_type_embeddings.weight", "classifier.weight")
"""Matrices that are too small to be worth rounding."""

MOST_BYTES = 8_000_000

Floats = npt.NDArray[np.float32]


def rounded(matrix: Floats) -> tuple[npt.NDArray[np.int8], Floats]:
    """A matrix as whole numbers and a factor for each row, the one of several that leaves the least squared error."""
    greatest = np.abs(matrix).max(axis=1)
    best = np.full(len(matrix), np.inf)
    scale = np.ones(len(matrix), dtype=np.float32)
    for share in SHARES:
        tried = np.where(greatest > 0, greatest * np.float32(share / MOST), 1).astype(np.float32)
        error = ((restore_floats(_whole(matrix, tried), tried) - matrix) ** 2).sum(axis=1)
        better = error < best
        best[better], scale[better] = error[better], tried[better]
    return _whole(matrix, scale), scale


def _whole(matrix: Floats, scale: Floats) -> npt.NDArray[np.int8]:
    return np.clip(np.rint(matrix / scale[:, None]), -MOST, MOST).astype(np.int8)


def packed(weights: dict[str, Floats], head_size: int) -> dict[str, npt.NDArray[np.generic]]:
    """The arrays of the file; says what rounding loses."""
    arrays: dict[str, npt.NDArray[np.generic]] = {HEAD_SIZE: np.int32(head_size)}
    lost = total = 0.0
    for name, array in sorted(weights.items()):
        if array.ndim < 2 or name in KEPT:
            arrays[name] = array if array.ndim < 2 else array.astype(np.float16)
            continue
        arrays[name], scale = rounded(array)
        arrays[name + SCALE] = scale
        error = float(((restore_floats(arrays[name], scale) - array) ** 2).sum())
        square = float((array.astype(np.float64) ** 2).sum())
        print(f"{name:60} {array.shape!s:14} error {np.sqrt(error / max(square, 1e-30)):.4%}")
        lost, total = lost + error, total + square
    print(f"rounding error, of all matrices together: {np.sqrt(lost / total):.4%}")
    return arrays


def missing_letters(vocabulary: list[str], encoder: Path, tokenizer: Path) -> tuple[list[str], Floats]:
    """Single letters that a vocabulary lacks, and their embeddings."""
    known = json.loads(tokenizer.read_text(encoding="utf-8"))["model"]["vocab"]
    single = [piece for piece in known if len(piece.removeprefix(CONTINUATION)) == 1]
    missing = sorted(set(single) - set(vocabulary))
    return missing, load_file(encoder)[WORDS][[known[piece] for piece in missing]].astype(np.float32)


def export(student: Path, vocabulary: Path, output: Path, letters: tuple[Path, Path] | None = None) -> int:
    """Write the model into a folder; gives its size in bytes."""
    weights = {name: array.astype(np.float32) for name, array in load_file(student).items()}
    told = json.loads(student.with_suffix(".json").read_text(encoding="utf-8"))
    if told["activation"] not in ("gelu_tanh", "gelu_new", "gelu_pytorch_tanh"):
        raise SystemExit(f"{student}: its activation is {told['activation']}; only gelu by tanh is computed")
    pieces = vocabulary.read_bytes().decode("utf-8").removesuffix("\n").split("\n")
    words = weights[f"bert.{WORDS}"]
    if len(words) != len(pieces):
        raise SystemExit(f"{student} has {len(words)} words, {vocabulary} {len(pieces)}: they do not belong together")
    if letters:
        more, embeddings = missing_letters(pieces, *letters)
        pieces, words = pieces + more, np.concatenate([words, embeddings])
    weights |= {f"bert.{WORDS}": words, POSITIONS: weights[POSITIONS][:MAX_LENGTH]}
    with replace_file(output / WEIGHTS) as temporary, temporary.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **packed(weights, told["head_size"]))
    write_text(output / VOCABULARY, "".join(f"{piece}\n" for piece in pieces))
    size = sum(path.stat().st_size for path in output.iterdir())
    print(f"{len(pieces):,} pieces, {sum(array.size for array in weights.values()):,} weights")
    print(*(f"{path.name} {path.stat().st_size:,} bytes" for path in sorted(output.iterdir())), sep="; ")
    if size > MOST_BYTES:
        raise SystemExit(f"{output} has {size:,} bytes, more than the {MOST_BYTES:,} that it may have")
    return size


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("student", type=Path)
    parser.add_argument("vocabulary", type=Path)
    parser.add_argument("--letters", type=Path, nargs=2, metavar=("ENCODER", "TOKENIZER"))
    parser.add_argument("-o", "--output", type=Path, default=BUNDLED)
    given = parser.parse_args()
    export(given.student, given.vocabulary, given.output, given.letters and tuple(given.letters))


if __name__ == "__main__":
    main()
