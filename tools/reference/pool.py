"""The pairs the reference model learns from and is tested on, cut into pieces: the first step of five.

    python tools/reference/pool.py DATA TOKENIZER.json ENCODER.safetensors -o POOL.npz

DATA is a folder with snli/, lingnli/, cad/, mnli/ and taxinli/ as their authors published them. Learnt from: SNLI's
development set and the first 1,000 of its training set, LingNLI's and CAD's training sets, and the pairs of MNLI
mismatched whose label is known. Tested on, and never learnt from: SNLI test, MNLI matched, LingNLI validation, Breaking
NLI. A training pair that stands in one of them or in TaxiNLI is dropped.

Of every text that is learnt from there is another in which one word is replaced by a neighbour among ENCODER's word
vectors (three with one of two, four or five; guitar with violin, piano or guitarist): no one has labelled what follows
from the one for the other, but teachers can be asked.

Texts are cut twice: as the tokenizer does, for teachers; and with only the pieces that are frequent in what is learnt
from, for the student, whose vocabulary stands in POOL.vocabulary.txt.
"""

from __future__ import annotations

import argparse
import random
import re
from pathlib import Path

import numpy as np
import polars as pl
from safetensors.numpy import load_file
from tokenizers import Tokenizer
from tokenizers.models import WordPiece

from acidtest.api import load
from acidtest.core.labels import LABELS

LEARNT = (
    "snli/snli_1.0_dev.jsonl.gz",
    "snli/snli_1.0_train_first1000.jsonl.gz",
    "lingnli/train.jsonl.gz",
    "cad/train.tsv",
)
MISMATCHED = "mnli/mnli_dev_mismatched_recovered.tsv"
TAXONOMY = "taxinli/taxinli10k.tsv"
TESTS = {
    "snli": "snli/snli_1.0_test.jsonl.gz",
    "mnli": "mnli/mnli_dev_matched.tsv",
    "lingnli": "lingnli/val.jsonl.gz",
    "breaking": "breaking_nli/breaking_nli_quarter.jsonl",
}
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
LONGEST = 64
"""Pieces kept of each text."""
PAIR = ["premise", "hypothesis"]
NEAR = 8
"""Neighbours of a word, of which one takes its place."""
KEPT = {
    *("the", "and", "are", "with", "for", "that", "was", "has", "have", "had", "been", "being", "were", "will"),
    *("would", "there", "their", "his", "her", "its"),
}
"""Words in whose place nothing is put."""


def pairs(path: Path) -> pl.DataFrame:
    """Premise, hypothesis and label of a file."""
    return load(path).frame.select(*PAIR, "label").collect()


def plain(text: str) -> pl.Expr:
    """A text without regard to capitals, spaces and signs: two releases of a pair differ in these."""
    return pl.col(text).str.to_lowercase().str.replace_all(r"[^\p{L}\p{N}]+", "")


def without(frame: pl.DataFrame, others: pl.DataFrame) -> pl.DataFrame:
    """The pairs that do not stand among others."""
    return frame.join(
        others, left_on=[plain(name) for name in PAIR], right_on=[plain(name) for name in PAIR], how="anti"
    )


def taxonomy(data: Path) -> pl.DataFrame:
    """The pairs of TaxiNLI."""
    found = pl.read_csv(data / TAXONOMY, separator="\t", quote_char=None, infer_schema=False)
    return found.rename({"prem": "premise", "hyp": "hypothesis"})


def mismatched(data: Path) -> pl.DataFrame:
    """The pairs of MNLI mismatched with a known label that TaxiNLI does not have by their number."""
    found = pl.read_csv(data / MISMATCHED, separator="\t", quote_char=None, infer_schema=False)
    named = found.rename({"label_3way_or_blank": "label"}).filter(pl.col("label").is_in(LABELS))
    named = named.join(taxonomy(data), left_on="pairID_or_blank", right_on="pairID", how="anti")
    return named.select(*PAIR, "label")


def kept_pieces(tokenizer: Tokenizer, texts: list[str], size: int) -> list[str]:
    """The pieces of a smaller vocabulary: single letters that occur, then the most frequent pieces."""
    counts: dict[str, int] = {}
    for found in tokenizer.encode_batch(texts, add_special_tokens=False):
        for piece in found.tokens:
            counts[piece] = counts.get(piece, 0) + 1
    whole = tokenizer.get_vocab()
    letters = sorted({letter for text in texts for letter in text.lower()} | {chr(code) for code in range(33, 127)})
    single = [piece for letter in letters for piece in (letter, f"##{letter}") if piece in whole]
    frequent = sorted(counts, key=lambda piece: (-counts[piece], piece))
    return list(dict.fromkeys((*SPECIAL, *single, *frequent)))[:size]


def neighbours(pieces: list[str], vectors: np.ndarray) -> dict[str, list[str]]:
    """Of every piece that is a word, the words whose vectors are nearest by their angle."""
    own = [number for number, piece in enumerate(pieces) if re.fullmatch("[a-z]{3,}", piece) and piece not in KEPT]
    words = np.array([pieces[number] for number in own])
    vectors = vectors[own] / np.linalg.norm(vectors[own], axis=1, keepdims=True)
    near = dict[str, list[str]]()
    for some in np.array_split(np.arange(len(words)), len(words) // 1000 + 1):
        found = np.argpartition(-(vectors[some] @ vectors.T), NEAR + 1, axis=1)[:, : NEAR + 1]
        near |= {
            words[n]: [word for word in words[row] if word != words[n]] for n, row in zip(some, found, strict=True)
        }
    return near


def swapped(text: str, near: dict[str, list[str]], drawn: random.Random) -> str | None:
    """A text with another word in the place of one of its own; none where it has no word with neighbours."""
    places = [found for found in re.finditer("[A-Za-z]+", text) if found.group().lower() in near]
    if not places:
        return None
    place = drawn.choice(places)
    return text[: place.start()] + drawn.choice(near[place.group().lower()]) + text[place.end() :]


def cut(tokenizer: Tokenizer, texts: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """The pieces of all texts end to end, and how many each has."""
    found = [each.ids[:LONGEST] for each in tokenizer.encode_batch(texts, add_special_tokens=False)]
    return np.concatenate([np.array(ids, np.uint16) for ids in found]), np.array([len(ids) for ids in found], np.int32)


def main() -> None:
    """Write the pool."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("tokenizer", type=Path)
    parser.add_argument("encoder", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--pieces", type=int, default=11_500)
    given = parser.parse_args()
    tests = {name: pairs(given.data / path) for name, path in TESTS.items()}
    learnt = pl.concat([*(pairs(given.data / path) for path in LEARNT), mismatched(given.data)])
    learnt = learnt.unique(PAIR, maintain_order=True)
    kept_away = [*tests.values(), taxonomy(given.data)]
    learnt = without(learnt, pl.concat([frame.select(PAIR) for frame in kept_away]))
    tokenizer = Tokenizer.from_file(str(given.tokenizer))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    seen = pl.concat([learnt[name] for name in PAIR]).unique(maintain_order=True).to_list()
    whole = tokenizer.get_vocab()
    pieces = kept_pieces(tokenizer, seen, given.pieces)
    kept = np.array([whole[piece] for piece in pieces], np.int32)
    near = neighbours(pieces, load_file(given.encoder)["embeddings.word_embeddings.weight"][kept].astype(np.float32))
    drawn = random.Random(0)
    others = pl.DataFrame({"premise": seen, "hypothesis": [swapped(text, near, drawn) for text in seen]}).drop_nulls()
    sets = {"pool": learnt, "swapped": others, **tests}
    texts = pl.concat([frame[name] for frame in sets.values() for name in PAIR]).unique(maintain_order=True)
    numbers = pl.DataFrame({"text": texts, "number": np.arange(len(texts), dtype=np.int32)})
    arrays = {"kept": kept} | dict(zip(("pieces", "lengths"), cut(tokenizer, texts.to_list()), strict=True))
    tokenizer.model = WordPiece(
        {piece: n for n, piece in enumerate(pieces)}, unk_token="[UNK]", max_input_chars_per_word=100
    )
    arrays |= dict(zip(("student_pieces", "student_lengths"), cut(tokenizer, texts.to_list()), strict=True))
    for name, frame in sets.items():
        for side in PAIR:
            arrays[f"{name}_{side}"] = frame.join(numbers, left_on=side, right_on="text", maintain_order="left")[
                "number"
            ].to_numpy()
    for name, frame in {"pool": learnt, **tests}.items():
        arrays[f"{name}_label"] = frame["label"].replace_strict({label: n for n, label in enumerate(LABELS)}).to_numpy()
    np.savez_compressed(given.output, **arrays)
    given.output.with_suffix(".vocabulary.txt").write_text("".join(f"{piece}\n" for piece in pieces), encoding="utf-8")
    unknown = float((arrays["student_pieces"] == SPECIAL.index("[UNK]")).mean())
    print({name: frame.height for name, frame in sets.items()})
    print(
        f"{len(texts):,} texts; {len(pieces):,} pieces; mean length {arrays['lengths'].mean():.1f}, "
        f"of the student's pieces {arrays['student_lengths'].mean():.1f}, {unknown:.4%} of them unknown"
    )


if __name__ == "__main__":
    main()
