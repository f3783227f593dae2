"""Texts that are written as tokens ("Ann has n't 5 apples .") as people write them.

NLI files often hold the output of a treebank tokeniser: punctuation and clitics stand apart, brackets and quotes have
names of their own. Only a text in which that shows is changed, so that what merely looks odd stays as it is.
"""

from __future__ import annotations

import polars as pl

_TOKENISED = (
    r"(?i)[\p{L}\p{N}%'’\")\]] [.,!?]+(?: |$)|\p{L} n['’]t\b|\p{L} ['’](?:s|m|d|ll|re|ve)(?: |$)|``|-[LR][RSC]B-"
)
"""What shows that a text is written as tokens; a colon between spaces may be a ratio, "10 %" is as people write."""

_JOINS = (
    (r"-LRB-", "("),
    (r"-RRB-", ")"),
    (r"-LSB-", "["),
    (r"-RSB-", "]"),
    (r"-LCB-", "{"),
    (r"-RCB-", "}"),
    (r"`` ?", '"'),
    (r" ?''", '"'),
    (r'(^| )" ([^"]*[^" ]) "( |$)', '$1"$2"$3'),
    (r"([(\[{]) ", "$1"),
    (r" ([)\]}])", "$1"),
    (r"(?i)(\p{L}) (n['’]t|['’](?:s|m|d|ll|re|ve))\b", "$1$2"),
    (r"s (['’]) (\p{Ll})", "s$1 $2"),
    (r"([$£€#]) (\p{N})", "$1$2"),
    (r"(\p{N}) %", "$1%"),
    (r"(\p{L}) ([:;])( |$)", "$1$2$3"),
    (r" ([.,!?]+)([ \"]|$)", "$1$2"),
    # An abbreviation at the end of a sentence has a full stop of its own.
    (r"([^.]\.)\.( |$)", "$1$2"),
)
"""What stands between spaces, and how it is written; in this order."""


def detokenise(texts: pl.Series) -> pl.Series:
    """The texts with tokens joined: punctuation, brackets, quotes, clitics, currency and percent signs."""
    written = texts
    for parted, joined in _JOINS:
        written = written.str.replace_all(parted, joined)
    tokenised = texts.str.contains(_TOKENISED)
    return pl.select(pl.when(tokenised).then(written).otherwise(texts)).to_series().alias(texts.name)
