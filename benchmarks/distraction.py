"""The three distraction suites on two million pairs in memory, against a plain-Python loop over the same pairs.

The corpus is an NLI file (first argument, or MultiNLI's matched development set beside the repository), else the
starter corpus, repeated; ids are part of the work on both sides, and the texts must come out equal.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import polars as pl
from race import median_seconds, told

from acidtest import api
from acidtest.core.suite import Suite
from acidtest.io.starter import starter_pairs
from acidtest.suites.catalogue import SUITES, Request

PAIRS = 2_000_000
LOOPED = 100_000
DATA = Path(__file__).parents[2] / "shared" / "data" / "mnli" / "mnli_dev_matched.tsv"
SUITES_RACED = {
    "stress/word-overlap": ("hypothesis", " and true is true"),
    "stress/negation": ("hypothesis", " and false is not true"),
    "stress/length-mismatch": ("premise", " and true is true" * 5),
}
SPACE = " \t\n\r\f\v\u00a0"
MARKS = "!?,;:…。！？"
ABBREVIATED = re.compile(
    r"(?:\b(?:[^\W\d_]\.){2,}|\b(?:etc|Inc|Corp|Co|Ltd|Jr|Sr|Mr|Mrs|Ms|Dr|St|Ave|Rd|vs|Mt|Ph\.D)\.)\s*$"
)


def repeated(corpus: Suite, rows: int) -> Suite:
    """The corpus over and over, ids made different."""
    frame = corpus.frame.collect()
    times = -(-rows // frame.height)
    copies = [frame.with_columns(pl.concat_str("id", pl.lit(f".{number}")).alias("id")) for number in range(times)]
    return Suite(pl.concat(copies).head(rows).rechunk().lazy(), corpus.card)


def looped(frame: pl.DataFrame, side: str, addition: str) -> list[tuple[str, str]]:
    """Id and changed text, a row at a time."""
    made = []
    for name, text in frame.select("id", side).iter_rows():
        body = text.rstrip("." + MARKS + SPACE)
        before_marks = text.rstrip(MARKS + SPACE)
        if not body or ABBREVIATED.search(before_marks):
            body = before_marks or text.rstrip(SPACE)
        made.append((f"{name}-x", body + addition + text[len(body) :]))
    return made


def main() -> None:
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else DATA
    corpus = api.load(path) if path.exists() else starter_pairs()
    large, small = repeated(corpus, PAIRS), repeated(corpus, LOOPED).frame.collect()
    rows = []
    for name, (side, addition) in SUITES_RACED.items():
        make = SUITES[name].make
        ours = make(Request(source=Suite(small.lazy(), corpus.card))).frame.collect()
        theirs = looped(small, side, addition)
        assert ours[side].to_list() == [text for _, text in theirs], f"{name}: the loop gives other texts"
        fast = median_seconds(lambda make=make: make(Request(source=large)).frame.collect())
        slow = median_seconds(lambda side=side, addition=addition: looped(small, side, addition))
        rate, loop = PAIRS / fast, LOOPED / slow
        rows.append(
            {
                "suite": name,
                "corpus": corpus.name,
                "pairs/s": round(rate),
                "loop pairs/s": round(loop),
                "times": rate / loop,
            }
        )
    told("distraction", rows)


if __name__ == "__main__":
    main()
