"""Polarity of 10,000 word pairs over 500,000 training pairs, against loops in Python.

The training pairs are LingNLI's and SNLI's (arguments, or the files beside the repository), tiled; the word pairs are
those of antonym and hypernym lists, both ways round, then pairs of words that stand together. The plain loop looks at
every training pair for every word pair; it is timed on some word pairs and scaled, its time being proportional to their
number. The loop with a dictionary looks up every premise word with every hypothesis word. Both are given sentences
already taken apart; our time includes that.
"""

from __future__ import annotations

import sys
from itertools import product
from pathlib import Path

import polars as pl
from race import median_seconds, seconds, told

from acidtest import api
from acidtest.core.labels import LABELS
from acidtest.core.suite import Card, Suite
from acidtest.text.polarity import polarities
from acidtest.text.tokens import tokens

DATA = Path(__file__).parents[2] / "shared" / "data"
FILES = (DATA / "lingnli" / "train.jsonl.gz", DATA / "snli" / "snli_1.0_dev.jsonl.gz")
LISTS = sorted((DATA / "lexicons").glob("*")) if DATA.is_dir() else []
ROWS, PAIRS, SAMPLE = 500_000, 10_000, 100

Words = list[set[str]]
Pair = tuple[str, str]


def training(files: list[Path]) -> pl.DataFrame:
    """Pairs of three-way files, repeated until there are enough."""
    columns = ("premise", "hypothesis", "label")
    loaded = [api.load(file).frame.select(columns).collect() for file in files] or [
        api.load("starter").frame.select(columns).collect()
    ]
    frame = pl.concat(loaded).filter(pl.col("label").is_in(LABELS))
    return pl.concat([frame] * (ROWS // frame.height + 1)).head(ROWS)


def word_sets(texts: pl.Series) -> Words:
    """The different words of each text, in lower case."""
    found = tokens(texts).with_columns(pl.col("token").str.to_lowercase()).group_by("text").agg("token")
    words: Words = [set() for _ in range(len(texts))]
    for text, held in found.iter_rows():
        words[text] = set(held)
    return words


def word_pairs(premises: Words, hypotheses: Words) -> list[Pair]:
    """Ordered pairs from the lists, then those of the first training pairs."""
    listed = [tuple(line.split()[:2]) for path in LISTS for line in path.read_text(encoding="utf-8").splitlines()]
    known = [(one.lower(), two.lower()) for one, two in (each for each in listed if len(each) == 2)]
    both = dict.fromkeys(pair for one, two in known for pair in ((one, two), (two, one)))
    for one, two in zip(premises, hypotheses, strict=True):
        if len(both) >= PAIRS:
            break
        both |= dict.fromkeys(product(sorted(one), sorted(two)))
    return list(both)[:PAIRS]


def plain(pairs: list[Pair], premises: Words, hypotheses: Words, labels: list[str]) -> list[list[int]]:
    """Every training pair looked at for every word pair."""
    counts = []
    for first, second in pairs:
        own = dict.fromkeys(LABELS, 0)
        for premise, hypothesis, label in zip(premises, hypotheses, labels, strict=True):
            if first in premise and second in hypothesis:
                own[label] += 1
        counts.append(list(own.values()))
    return counts


def with_dictionary(pairs: list[Pair], premises: Words, hypotheses: Words, labels: list[str]) -> list[list[int]]:
    """Every premise word looked up with every hypothesis word."""
    counts = {pair: dict.fromkeys(LABELS, 0) for pair in pairs}
    for premise, hypothesis, label in zip(premises, hypotheses, labels, strict=True):
        for pair in product(premise, hypothesis):
            if pair in counts:
                counts[pair][label] += 1
    return [list(counts[pair].values()) for pair in pairs]


def main() -> None:
    frame = training([Path(name) for name in sys.argv[1:]] or [file for file in FILES if file.exists()])
    suite = Suite(frame.lazy(), Card("training"))
    premises, hypotheses, labels = word_sets(frame["premise"]), word_sets(frame["hypothesis"]), frame["label"].to_list()
    pairs = word_pairs(premises, hypotheses)
    asked = pl.DataFrame(pairs, schema=["premise_word", "hypothesis_word"], orient="row")
    ours = median_seconds(lambda: polarities(asked, suite))
    counts = polarities(asked, suite).frame.select(LABELS).rows()
    found: dict[str, list[list[int]]] = {}
    few = pairs[:: len(pairs) // SAMPLE][:SAMPLE]
    looped = seconds(lambda: found.update(plain=plain(few, premises, hypotheses, labels)))
    looked_up = seconds(lambda: found.update(looked_up=with_dictionary(pairs, premises, hypotheses, labels)))
    numbers = [pairs.index(pair) for pair in few]
    assert [tuple(row) for row in found["plain"]] == [counts[number] for number in numbers]
    assert [tuple(row) for row in found["looked_up"]] == counts
    whole = looped * len(pairs) / len(few)
    size = {"training pairs": frame.height, "word pairs": len(pairs)}
    told(
        "polarity",
        [
            {"way": "acidtest", **size, "seconds": ours, "times slower": 1.0},
            {
                "way": f"plain loop (timed on {len(few)} word pairs)",
                **size,
                "seconds": whole,
                "times slower": whole / ours,
            },
            {"way": "loop with a dictionary", **size, "seconds": looked_up, "times slower": looked_up / ours},
        ],
    )


if __name__ == "__main__":
    main()
