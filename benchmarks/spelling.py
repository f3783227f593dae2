"""One key slip in every sentence: our columns against nlpaug's KeyboardAug (pip install nlpaug gdown requests).

The sentences are the hypotheses of MultiNLI's and SNLI's development sets. nlpaug is set to do the same: one letter of
one word of two letters or more, a neighbouring letter for it; it also takes keys above and below. It parts sentences at
punctuation and joins them with other spaces, so letters are compared, not spaces. Its threads (``num_thread``) make it
ten times slower, so it runs without.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path

import numpy as np
import polars as pl
from race import seconds, told

from acidtest.core.digests import digests
from acidtest.core.draws import U64, Draws
from acidtest.text.letters import words
from acidtest.text.misspelling import misspelt

BLOCK, ROUNDS = 7_000, 10
DATA = Path(__file__).parents[2] / "shared" / "data"


def hypotheses() -> pl.Series:
    mnli = pl.read_csv(DATA / "mnli" / "mnli_dev_matched.tsv", separator="\t", quote_char=None, infer_schema=False)
    snli = pl.read_ndjson(DATA / "snli" / "snli_1.0_dev.jsonl.gz", schema={"sentence2": pl.String})
    return pl.concat([mnli["hypothesis"], snli["sentence2"].alias("hypothesis")]).drop_nulls()


def one_letter_differs(before: list[str], after: list[str]) -> float:
    """The share of sentences that differ in exactly one letter, spaces left aside."""
    pairs = zip(("".join(text.split()) for text in before), ("".join(text.split()) for text in after), strict=True)
    return float(np.mean([len(one) == len(two) and sum(map(str.__ne__, one, two)) == 1 for one, two in pairs]))


def main() -> None:
    import nlpaug.augmenter.char as nac

    texts = hypotheses()
    listed = texts.to_list()
    keys, draws = digests(texts), Draws(0, "spelling")
    theirs = nac.KeyboardAug(
        aug_char_max=1,
        aug_word_max=1,
        min_char=2,
        include_special_char=False,
        include_numeric=False,
        include_upper_case=False,
    )

    def columns() -> pl.Series:
        return pl.concat(misspelt_blocks(texts, keys, draws))

    def nlpaug() -> list[str]:
        random.seed(0)
        return list(theirs.augment(listed))

    assert one_letter_differs(listed, columns().to_list()) == 1
    share = one_letter_differs(listed, nlpaug())
    assert share > 0.99, f"nlpaug changed one letter in only {share:.1%}"
    ours, nlpaugs = Spent(), Spent()
    for _ in range(ROUNDS):
        # In turn, so that what else the machine does slows both.
        ours.add(columns, times=10)
        nlpaugs.add(nlpaug, times=1)
    told(
        "spelling",
        [
            {"what": f"acidtest, {len(listed):,} sentences", **ours.row(ours), "one letter differs": 1.0},
            {"what": f"nlpaug {version('nlpaug')}, the same", **nlpaugs.row(ours), "one letter differs": share},
        ],
    )


def misspelt_blocks(texts: pl.Series, keys: U64, draws: Draws) -> Iterator[pl.Series]:
    """The misspelt texts, so many at a time as the suite takes."""
    for start in range(0, len(texts), BLOCK):
        part = slice(start, start + BLOCK)
        yield misspelt(words(texts[part]), "keyboard", rows=keys[part], draws=draws).texts


class Spent:
    """The time some calls took."""

    def __init__(self) -> None:
        self.wall: list[float] = []
        self.cpu: list[float] = []
        """That of all threads of the process: nearly the same on a busy machine."""

    def add(self, action: Callable[[], object], *, times: int) -> None:
        """Call an action so many times."""
        for _ in range(times):
            start = time.process_time()
            self.wall.append(seconds(action))
            self.cpu.append(time.process_time() - start)

    def row(self, other: Spent) -> dict[str, float]:
        """Median and least wall time and median CPU time, each with its ratio to that of others."""
        row: dict[str, float] = {}
        for name, ours, theirs in (
            ("seconds", statistics.median(self.wall), statistics.median(other.wall)),
            ("least seconds", min(self.wall), min(other.wall)),
            ("cpu seconds", statistics.median(self.cpu), statistics.median(other.cpu)),
        ):
            row |= {name: ours, name.replace("seconds", "ratio"): ours / theirs}
        return row


if __name__ == "__main__":
    main()
