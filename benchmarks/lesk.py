"""Lesk on every word of some sentences: all words at once against a loop over ``nltk.wsd.lesk``, with equal synsets.

The sentences are MultiNLI's development set where ../shared has it, else the starter corpus. Both sides have WordNet
loaded, and NLTK has its synsets in memory from a first pass over the same words. Needs the glosses of a full WordNet,
which ``make resources`` fetches.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from race import MNLI, ROOT, corpora, median_seconds, parse_options, race, report, require, seconds, skip

from acidtest.english.senses import VARIABLE, senses
from acidtest.english.wordnet import WordNet, wordnet

WORDNET = ROOT / "build" / "resources" / "wordnet"


def load_sentences(pairs: int) -> list[list[str]]:
    """Words of premises and hypotheses, split at spaces."""
    frame = corpora(MNLI)[0].frame.select("premise", "hypothesis").head(pairs).collect()
    return [text.split() for text in (*frame["premise"], *frame["hypothesis"])]


def race_lesk(texts: list[list[str]], pos: str | None) -> dict[str, Any]:
    """Both contenders on all words, as one part of speech or as any."""
    from nltk.wsd import lesk

    contexts = pl.Series(texts, dtype=pl.List(pl.String))
    words = contexts.explode(empty_as_null=False, keep_nulls=False)
    rows = pl.Series(np.repeat(np.arange(len(texts)), [len(text) for text in texts]))
    timings = race(
        {
            "acidtest": lambda: senses("lesk", contexts, words, pos=pos, rows=rows),
            "NLTK": lambda: [lesk(text, word, pos) for text in texts for word in text],
        }
    )
    ours, synsets = timings["acidtest"].output, timings["NLTK"].output
    table = wordnet().synset_table
    assert table["offset"].gather(ours).to_list() == [synset and synset.offset() for synset in synsets]
    assert table["pos"].cast(pl.String).gather(ours).to_list() == [synset and synset.pos() for synset in synsets]
    fast, slow = timings["acidtest"].seconds, timings["NLTK"].seconds
    row = {"part of speech": pos or "any", "words": len(words), "with a sense": len(ours) - ours.null_count()}
    return row | {"acidtest, seconds": fast, "NLTK, seconds": slow, "ratio": slow / fast}


def main() -> None:
    options = parse_options(__doc__, pairs=(1_500, 10**9))
    require("nltk")
    import nltk

    if not WORDNET.is_dir():
        skip(f"no WordNet in {WORDNET}; get it with: make resources")
    os.environ[VARIABLE] = str(WORDNET)
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(WORDNET, Path(folder, "corpora", "wordnet"))
        nltk.data.path.insert(0, folder)
        first_sense = seconds(lambda: senses("lesk", pl.Series([["the", "river"]]), pl.Series(["bank"])))
        loading = [
            {"contender": "acidtest, relations", "seconds": median_seconds(WordNet)},
            {"contender": "acidtest, first sense, which reads the glosses", "seconds": first_sense},
            {"contender": "NLTK, its reader", "seconds": seconds(lambda: nltk.corpus.wordnet.ensure_loaded())},
        ]
        report("lesk_loading", loading)
        texts = load_sentences(options.pairs)
        report("lesk", [race_lesk(texts, pos) for pos in (None, "n", "v")])


if __name__ == "__main__":
    main()
