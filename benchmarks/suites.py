"""Suites made from corpora: pairs, seconds and pairs per second of every stress suite and of the lexical suites.

Corpora are NLI files given as arguments, else MultiNLI's matched and SNLI's development set from ../shared, else the
starter corpus. The three distraction suites also race plain-Python loops that give the same texts. Of stress/antonymy
and lexical, the reasons for which words were left as they are are counted.
"""

from __future__ import annotations

import argparse
import re
from typing import Any

import polars as pl
from race import MNLI, SNLI, corpora, median_seconds, parse_options, race, report

import acidtest
from acidtest.suites.catalogue import SUITES, Request

DISTRACTIONS = {
    "stress/word-overlap": ("hypothesis", " and true is true"),
    "stress/negation": ("hypothesis", " and false is not true"),
    "stress/length-mismatch": ("premise", " and true is true" * 5),
}
"""The side that each distraction suite changes, and what it adds."""
STRESS = (*DISTRACTIONS, "stress/ladder", "stress/spelling", "stress/antonymy", "stress/numerical")
LOOP_PAIRS = 50_000
"""Pairs that the plain loop is timed on."""
SPACE = " \t\n\r\f\v\u00a0"
MARKS = "!?,;:…。！？"
ABBREVIATION = re.compile(
    r"(?:\b(?:[^\W\d_]\.){2,}|\b(?:etc|Inc|Corp|Co|Ltd|Jr|Sr|Mr|Mrs|Ms|Dr|St|Ave|Rd|vs|Mt|Ph\.D)\.)\s*$"
)


def time_suites(corpus: acidtest.Suite, names: tuple[str, ...], times: int) -> list[dict[str, Any]]:
    """Seconds to make each suite, sealing and checks included."""
    rows = []
    for name in names:
        suite = acidtest.generate(name, source=corpus)
        wall = median_seconds(lambda name=name: acidtest.generate(name, source=corpus), times=times)
        rows.append(
            {
                "corpus": corpus.name,
                "source pairs": corpus.card.rows,
                "suite": name,
                "pairs": suite.card.rows,
                "seconds": wall,
                "pairs per second": round(suite.card.rows / wall),
            }
        )
    return rows


def count_categories(suite: acidtest.Suite) -> list[dict[str, Any]]:
    """Pairs of every category of words, by label."""
    counts = {label: (pl.col("label") == label).sum() for label in ("contradiction", "entailment", "neutral")}
    return suite.frame.group_by("category").agg(pl.len().alias("pairs"), **counts).sort("category").collect().to_dicts()


def count_reasons(suite: acidtest.Suite, corpus: acidtest.Suite) -> list[dict[str, Any]]:
    """How many words were left as they are, by reason."""
    row = {"corpus": corpus.name, "suite": suite.name}
    return [row | {"reason": reason, "words": words} for reason, words in suite.card.left_out.items()]


def repeat(corpus: acidtest.Suite, rows: int) -> acidtest.Suite:
    """The corpus again and again until it has so many rows, each with an id of its own."""
    frame = corpus.frame.collect()
    copies = [
        frame.with_columns(pl.concat_str("id", pl.lit(f".{number}")).alias("id"))
        for number in range(-(-rows // frame.height))
    ]
    return acidtest.Suite(pl.concat(copies).head(rows).rechunk().lazy(), corpus.card)


def add_in_loop(frame: pl.DataFrame, side: str, addition: str) -> list[tuple[str, str]]:
    """Id and changed text of every row, a row at a time, with the rules of the suites."""
    rows = []
    for identifier, text in frame.select("id", side).iter_rows():
        body = text.rstrip("." + MARKS + SPACE)
        before_marks = text.rstrip(MARKS + SPACE)
        if not body or ABBREVIATION.search(before_marks):
            body = before_marks or text.rstrip(SPACE)
        rows.append((f"{identifier}-x", body + addition + text[len(body) :]))
    return rows


def race_distractions(corpus: acidtest.Suite, pairs: int) -> list[dict[str, Any]]:
    """Our columns on many pairs against the loop on some of them; both make ids and the texts must be equal."""
    large, small = repeat(corpus, pairs), repeat(corpus, LOOP_PAIRS)
    frame = small.frame.collect()
    rows = []
    for name, (side, addition) in DISTRACTIONS.items():
        make = SUITES[name].make
        texts = make(Request(source=small)).frame.select(side).collect()[side].to_list()
        timings = race(
            {
                "acidtest": lambda make=make: make(Request(source=large)).frame.collect().height,
                "loop": lambda side=side, addition=addition: add_in_loop(frame, side, addition),
            }
        )
        assert texts == [text for _, text in timings["loop"].output], f"{name}: the loop gives other texts"
        rate, loop_rate = pairs / timings["acidtest"].seconds, LOOP_PAIRS / timings["loop"].seconds
        row = {"suite": name, "corpus": corpus.name, "pairs": pairs, "pairs per second": round(rate)}
        rows.append(row | {"loop, pairs per second": round(loop_rate), "ratio": rate / loop_rate})
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", help="NLI files")
    options = parse_options(parser, pairs=(200_000, 2_000_000), times=(5, 5), source_pairs=(2_000, 10**9))
    suites = [acidtest.load(path) for path in options.files] or corpora(MNLI, SNLI)
    report("suites_distraction", race_distractions(suites[0], options.pairs))
    rows, reasons = [], []
    for corpus in suites:
        small = acidtest.Suite(corpus.frame.head(options.source_pairs), corpus.card).sealed()
        rows += time_suites(small, (*STRESS, "lexical"), options.times)
        reasons += count_reasons(acidtest.generate("stress/antonymy", source=small), small)
        lexical = acidtest.generate("lexical", source=small)
        reasons += count_reasons(lexical, small)
    report("suites", rows)
    report("suites_lexical", count_categories(lexical))
    report("suites_left_out", reasons)


if __name__ == "__main__":
    main()
