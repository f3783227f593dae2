"""Polarity of word pairs over training pairs, against loops in Python that give the same counts.

Training pairs are those of NLI files given as arguments, else LingNLI's and SNLI's from ../shared, else the starter
corpus, repeated; word pairs come from antonym and hypernym lists, both ways round, and from words of one training pair.
The plain loop reads every training pair for every word pair: it is timed on some word pairs and scaled, because its
time is proportional to their number. The dictionary loop looks up every premise word with every hypothesis word. Both
loops get sentences already split into words; our time includes that.
"""

from __future__ import annotations

import argparse
from itertools import product

import polars as pl
from race import SHARED, SNLI, corpora, median_seconds, parse_options, report, seconds

import acidtest
from acidtest.core.labels import LABELS
from acidtest.english.tokens import tokens
from acidtest.pairs.counts import polarities

SAMPLE = 100
"""Word pairs that the plain loop is timed on."""

Words = list[set[str]]
Pair = tuple[str, str]


def training_pairs(suites: list[acidtest.Suite], rows: int) -> pl.DataFrame:
    """Pairs with one of three labels, repeated until there are enough."""
    frames = [suite.frame.select("premise", "hypothesis", "label").collect() for suite in suites]
    frame = pl.concat(frames).filter(pl.col("label").is_in(LABELS))
    return pl.concat([frame] * (rows // frame.height + 1)).head(rows)


def word_sets(texts: pl.Series) -> Words:
    """The different words of each text, in lower case."""
    words: Words = [set() for _ in range(len(texts))]
    lower = tokens(texts).with_columns(pl.col("token").str.to_lowercase())
    for number, text_words in lower.group_by("text").agg("token").iter_rows():
        words[number] = set(text_words)
    return words


def word_pairs(premises: Words, hypotheses: Words, count: int) -> list[Pair]:
    """Ordered pairs from the word lists of ../shared, then those of the first training pairs."""
    lines = [
        line.lower().split()[:2]
        for path in sorted(SHARED.glob("lexicons/*"))
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    pairs = dict.fromkeys(pair for first, second in lines for pair in ((first, second), (second, first)))
    for premise, hypothesis in zip(premises, hypotheses, strict=True):
        if len(pairs) >= count:
            break
        pairs |= dict.fromkeys(product(sorted(premise), sorted(hypothesis)))
    return list(pairs)[:count]


def count_in_loop(pairs: list[Pair], premises: Words, hypotheses: Words, labels: list[str]) -> list[tuple[int, ...]]:
    """Labels of the training pairs that hold each word pair, every training pair read for every word pair."""
    rows = []
    for first, second in pairs:
        counts = dict.fromkeys(LABELS, 0)
        for premise, hypothesis, label in zip(premises, hypotheses, labels, strict=True):
            if first in premise and second in hypothesis:
                counts[label] += 1
        rows.append(tuple(counts.values()))
    return rows


def count_in_dictionary(
    pairs: list[Pair], premises: Words, hypotheses: Words, labels: list[str]
) -> list[tuple[int, ...]]:
    """The same, every premise word looked up with every hypothesis word."""
    counts = {pair: dict.fromkeys(LABELS, 0) for pair in pairs}
    for premise, hypothesis, label in zip(premises, hypotheses, labels, strict=True):
        for pair in product(premise, hypothesis):
            if pair in counts:
                counts[pair][label] += 1
    return [tuple(counts[pair].values()) for pair in pairs]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", help="NLI files")
    options = parse_options(parser, rows=(50_000, 500_000), word_pairs=(10_000, 10_000))
    suites = [acidtest.load(path) for path in options.files] or corpora("lingnli/train.jsonl.gz", SNLI)
    frame = training_pairs(suites, options.rows)
    sides = word_sets(frame["premise"]), word_sets(frame["hypothesis"]), frame["label"].to_list()
    pairs = word_pairs(*sides[:2], options.word_pairs)
    table = pl.DataFrame(pairs, schema=["premise_word", "hypothesis_word"], orient="row")
    training = acidtest.Suite(frame.lazy(), acidtest.Card("training"))
    ours = median_seconds(lambda: polarities(table, training))
    counts = polarities(table, training).frame.select(LABELS).rows()
    places = range(0, len(pairs), max(1, len(pairs) // SAMPLE))
    sample = [pairs[place] for place in places]
    outputs: dict[str, list[tuple[int, ...]]] = {}
    plain = seconds(lambda: outputs.update(plain=count_in_loop(sample, *sides))) * len(pairs) / len(sample)
    dictionary = seconds(lambda: outputs.update(dictionary=count_in_dictionary(pairs, *sides)))
    assert outputs["plain"] == [counts[place] for place in places]
    assert outputs["dictionary"] == counts
    contenders = {
        "acidtest, splitting into words included": ours,
        "dictionary loop": dictionary,
        f"plain loop, scaled from {len(sample)} word pairs": plain,
    }
    sizes = {"training pairs": frame.height, "word pairs": len(pairs)}
    report("polarity", [{"contender": k, **sizes, "seconds": v, "ratio": v / ours} for k, v in contenders.items()])


if __name__ == "__main__":
    main()
