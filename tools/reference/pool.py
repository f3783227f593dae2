"""The pairs the reference model learns from and is tested on, cut into pieces: the first step of three.

    python tools/reference/pool.py DATA TOKENIZER.json -o POOL.npz

DATA is a folder with snli/, lingnli/, cad/, mnli/ and taxinli/ as their authors published them. Learnt from: SNLI's
development set and the first 1,000 of its training set, LingNLI's and CAD's training sets, and the pairs of MNLI
mismatched whose label is known, without any pair of TaxiNLI. Tested on, and never learnt from: SNLI test, MNLI matched,
LingNLI validation; a training pair that stands in one of them is dropped.

Texts are cut twice: as the tokenizer does, for teachers; and with only the pieces that are frequent in what is learnt
from, for the student, whose vocabulary stands in POOL.vocabulary.txt.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import polars as pl
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


def mismatched(data: Path) -> pl.DataFrame:
    """The pairs of MNLI mismatched with a known label that TaxiNLI does not have, by number or by text."""
    found = pl.read_csv(data / MISMATCHED, separator="\t", quote_char=None, infer_schema=False)
    taxonomy = pl.read_csv(data / TAXONOMY, separator="\t", quote_char=None, infer_schema=False)
    named = found.rename({"label_3way_or_blank": "label"}).filter(pl.col("label").is_in(LABELS))
    named = named.join(taxonomy, left_on="pairID_or_blank", right_on="pairID", how="anti")
    return without(named, taxonomy.rename({"prem": "premise", "hyp": "hypothesis"})).select(*PAIR, "label")


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


def cut(tokenizer: Tokenizer, texts: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """The pieces of all texts end to end, and how many each has."""
    found = [each.ids[:LONGEST] for each in tokenizer.encode_batch(texts, add_special_tokens=False)]
    return np.concatenate([np.array(ids, np.uint16) for ids in found]), np.array([len(ids) for ids in found], np.int32)


def main() -> None:
    """Write the pool."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("tokenizer", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--pieces", type=int, default=11_500)
    given = parser.parse_args()
    tests = {name: pairs(given.data / path) for name, path in TESTS.items()}
    learnt = pl.concat([*(pairs(given.data / path) for path in LEARNT), mismatched(given.data)])
    learnt = learnt.unique(PAIR, maintain_order=True)
    learnt = without(learnt, pl.concat(list(tests.values())))
    tokenizer = Tokenizer.from_file(str(given.tokenizer))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    texts = pl.concat([frame[name] for frame in (learnt, *tests.values()) for name in PAIR]).unique(maintain_order=True)
    numbers = pl.DataFrame({"text": texts, "number": np.arange(len(texts), dtype=np.int32)})
    seen = pl.concat([learnt[name] for name in PAIR]).unique(maintain_order=True).to_list()
    whole = tokenizer.get_vocab()
    pieces = kept_pieces(tokenizer, seen, given.pieces)
    arrays = dict(zip(("pieces", "lengths"), cut(tokenizer, texts.to_list()), strict=True))
    tokenizer.model = WordPiece(
        {piece: n for n, piece in enumerate(pieces)}, unk_token="[UNK]", max_input_chars_per_word=100
    )
    arrays |= dict(zip(("student_pieces", "student_lengths"), cut(tokenizer, texts.to_list()), strict=True))
    for name, frame in {"pool": learnt, **tests}.items():
        for side in PAIR:
            arrays[f"{name}_{side}"] = frame.join(numbers, left_on=side, right_on="text", maintain_order="left")[
                "number"
            ].to_numpy()
        arrays[f"{name}_label"] = frame["label"].replace_strict({label: n for n, label in enumerate(LABELS)}).to_numpy()
    arrays["kept"] = np.array([whole[piece] for piece in pieces], np.int32)
    np.savez_compressed(given.output, **arrays)
    given.output.with_suffix(".vocabulary.txt").write_text("".join(f"{piece}\n" for piece in pieces), encoding="utf-8")
    unknown = float((arrays["student_pieces"] == SPECIAL.index("[UNK]")).mean())
    print({name: frame.height for name, frame in {"pool": learnt, **tests}.items()})
    print(
        f"{len(texts):,} texts; {len(pieces):,} pieces; mean length {arrays['lengths'].mean():.1f}, "
        f"of the student's pieces {arrays['student_lengths'].mean():.1f}, {unknown:.4%} of them unknown"
    )


if __name__ == "__main__":
    main()
