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
from race import median_seconds, told

from acidtest.core.digests import digests
from acidtest.core.draws import U64, Draws
from acidtest.sources.letters import words
from acidtest.sources.misspelling import misspelt

BLOCK = 1 << 13
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
    fast, slow = median_seconds(columns, times=25), median_seconds(nlpaug)
    fast_cpu, slow_cpu = cpu_seconds(columns, times=25), cpu_seconds(nlpaug)
    names = ("what", "seconds", "ratio", "cpu seconds", "cpu ratio", "one letter differs")
    ours = (f"acidtest, {len(listed):,} sentences", fast, 1.0, fast_cpu, 1.0, 1.0)
    nlpaugs = (f"nlpaug {version('nlpaug')}, the same", slow, slow / fast, slow_cpu, slow_cpu / fast_cpu, share)
    told("spelling", [dict(zip(names, values, strict=True)) for values in (ours, nlpaugs)])


def misspelt_blocks(texts: pl.Series, keys: U64, draws: Draws) -> Iterator[pl.Series]:
    """The misspelt texts, so many at a time as the suite takes."""
    for start in range(0, len(texts), BLOCK):
        part = slice(start, start + BLOCK)
        yield misspelt(words(texts[part]), "keyboard", rows=keys[part], draws=draws).texts


def cpu_seconds(action: Callable[[], object], *, times: int = 5) -> float:
    """The median time all threads of the process spent on an action: the same on a busy machine."""
    spent = []
    for _ in range(times):
        start = time.process_time()
        action()
        spent.append(time.process_time() - start)
    return statistics.median(spent)


if __name__ == "__main__":
    main()
