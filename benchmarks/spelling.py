"""One key slip in every sentence: our columns against nlpaug's KeyboardAug.

The sentences are hypotheses of MultiNLI's and SNLI's development sets where ../shared has them, else of HANS. nlpaug is
set to do the same: one letter of one word of two letters or more becomes a neighbouring letter; it also takes keys
above and below. It splits sentences at punctuation and joins them with other spaces, so letters are compared, not
spaces. Its threads (``num_thread``) make it ten times slower, so it runs without.
"""

from __future__ import annotations

import random
from importlib.metadata import version

import numpy as np
import polars as pl
from race import MNLI, SNLI, corpora, parse_options, race, report, require, shared_files, timing_rows

import acidtest
from acidtest.core.digests import digests
from acidtest.core.draws import Draws
from acidtest.english.letters import find_words
from acidtest.english.misspelling import misspell

BLOCK = 7_000
"""Sentences taken at once, as the suite does."""


def load_sentences(count: int) -> pl.Series:
    """Hypotheses of the corpora at hand."""
    suites = corpora(MNLI, SNLI) if shared_files(MNLI, SNLI) else [acidtest.generate("hans")]
    return pl.concat([suite.frame.select("hypothesis").collect() for suite in suites])["hypothesis"].head(count)


def share_with_one_letter_changed(before: list[str], after: list[str]) -> float:
    """Share of sentences that differ in exactly one letter, spaces left aside."""
    pairs = (("".join(old.split()), "".join(new.split())) for old, new in zip(before, after, strict=True))
    return float(np.mean([len(old) == len(new) and sum(map(str.__ne__, old, new)) == 1 for old, new in pairs]))


def main() -> None:
    options = parse_options(__doc__, sentences=(10_000, 10**9))
    require("nlpaug")
    import nlpaug.augmenter.char as nac

    column = load_sentences(options.sentences)
    sentences = column.to_list()
    keys, draws = digests(column), Draws(0, "spelling")
    augmenter = nac.KeyboardAug(
        aug_char_max=1,
        aug_word_max=1,
        min_char=2,
        include_special_char=False,
        include_numeric=False,
        include_upper_case=False,
    )

    def misspell_all() -> list[str]:
        blocks = [slice(start, start + BLOCK) for start in range(0, len(column), BLOCK)]
        changed = (misspell(find_words(column[at]), "keyboard", rows=keys[at], draws=draws) for at in blocks)
        return pl.concat(block.texts for block in changed).to_list()

    def augment() -> list[str]:
        random.seed(0)
        return list(augmenter.augment(sentences))

    timings = race({"acidtest": misspell_all, f"nlpaug {version('nlpaug')}": augment}, times=9)
    shares = [share_with_one_letter_changed(sentences, timing.output) for timing in timings.values()]
    assert shares[0] == 1, f"acidtest changed one letter in only {shares[0]:.1%}"
    assert shares[1] > 0.98, f"nlpaug changed one letter in only {shares[1]:.1%}, so it does something else"
    rows = [row | {"one letter changed": share} for row, share in zip(timing_rows(timings), shares, strict=True)]
    report("spelling", [{"sentences": len(sentences)} | row for row in rows])


if __name__ == "__main__":
    main()
