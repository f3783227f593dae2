"""Lesk on every word of the MultiNLI dev set (matched): all words at once against a loop over ``nltk.wsd.lesk``.

Needs the data beside the checkout, NLTK 3.10 and a full WordNet (make resources), or says that one is missing.
Both have WordNet loaded, and NLTK its synsets in memory from a first pass over the same words.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import numpy as np
import polars as pl
from race import median_seconds, seconds, told

from acidtest.text import glosses
from acidtest.text.senses import senses
from acidtest.text.wordnet import WordNet, wordnet

ROOT = Path(__file__).parents[1]
DATA = ROOT.parent / "shared" / "data" / "mnli" / "mnli_dev_matched.tsv"
WORDNET = ROOT / "build" / "resources" / "wordnet"
POS = (None, "n", "v")


def sentences() -> list[list[str]]:
    table = pl.read_csv(DATA, separator="\t", quote_char=None)
    return [text.split() for text in (*table["premise"], *table["hypothesis"])]


def theirs(texts: list[list[str]], pos: str | None) -> list[object]:
    from nltk.wsd import lesk

    return [lesk(text, word, pos) for text in texts for word in text]


def race(texts: list[list[str]], pos: str | None) -> dict[str, object]:
    contexts = pl.Series(texts, dtype=pl.List(pl.String))
    words = contexts.explode(empty_as_null=False, keep_nulls=False)
    rows = pl.Series(np.repeat(np.arange(len(texts)), [len(text) for text in texts]))
    ours = senses("lesk", contexts, words, pos=pos, rows=rows)
    offsets = wordnet().synset_table["offset"].gather(ours)
    parts = wordnet().synset_table["pos"].cast(pl.String).gather(ours)
    expected = theirs(texts, pos)
    assert offsets.to_list() == [None if synset is None else synset.offset() for synset in expected]
    assert parts.to_list() == [None if synset is None else synset.pos() for synset in expected]
    fast = median_seconds(lambda: senses("lesk", contexts, words, pos=pos, rows=rows), times=11)
    slow = median_seconds(lambda: theirs(texts, pos))
    return {
        "part of speech": pos or "any",
        "words": len(words),
        "with a sense": len(ours) - ours.null_count(),
        "acidtest, s": fast,
        "NLTK, s": slow,
        "ratio": slow / fast,
    }


def main() -> None:
    try:
        import nltk
    except ImportError:
        print("lesk: not run, for want of NLTK")
        return
    if not DATA.is_file() or not WORDNET.is_dir():
        print(f"lesk: not run, for want of {DATA if not DATA.is_file() else WORDNET}")
        return
    os.environ[glosses.VARIABLE] = str(WORDNET)
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(WORDNET, Path(folder, "corpora", "wordnet"))
        nltk.data.path.insert(0, folder)
        loading = [
            {"what": "acidtest, WordNet's relations", "seconds": median_seconds(WordNet)},
            {"what": "acidtest, a first sense by lesk (glosses)", "seconds": seconds(first_sense)},
            {"what": "NLTK, its reader", "seconds": seconds(lambda: nltk.corpus.wordnet.ensure_loaded())},
        ]
        told("lesk_loading", loading)
        told("lesk", [race(sentences(), pos) for pos in POS])


def first_sense() -> object:
    return senses("lesk", pl.Series([["the", "river"]]), pl.Series(["bank"]))


if __name__ == "__main__":
    main()
