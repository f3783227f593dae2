"""Which sense a word has in a sentence, for many words at once.

A way to choose is a function in ``WAYS``: from contexts, words and parts of speech to synsets, null for a word that
WordNet does not have. A further one is a function and a line there.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl

from acidtest.core.errors import AcidtestError, UnknownNameError
from acidtest.text.choices import ANY, WANTED, Asked, Choices
from acidtest.text.lesk import lesk
from acidtest.text.wordnet import check_pos


def senses(
    way: str,
    contexts: pl.Series,
    words: pl.Series,
    *,
    pos: pl.Series | str | None = None,
    rows: pl.Series | None = None,
) -> pl.Series:
    """The synset of each word in its context, by number; null for a word that WordNet has in no form.

    ``contexts`` are lists of tokens, one for each word; with ``rows``, that of word ``i`` is number ``rows[i]``, so
    that a sentence is given once for all its words. ``pos`` is n, v, a, s or r, for all words or for each; None, or
    null, is any.
    """
    if way not in WAYS:
        raise UnknownNameError("way to choose a sense", way, WAYS)
    rows = pl.int_range(len(contexts), eager=True) if rows is None else rows
    parts = pos if isinstance(pos, pl.Series) else pl.Series([pos], dtype=pl.String)
    check_pos(*parts.unique())
    if len(rows) != len(words) or (isinstance(pos, pl.Series) and len(pos) != len(words)):
        raise AcidtestError(f"{len(words):,} words need as many contexts or rows, and as many parts of speech")
    if len(rows) and not rows.is_between(0, len(contexts) - 1).all():
        raise AcidtestError(f"rows are numbers of contexts, here from 0 to {len(contexts) - 1:,}")
    parts = parts.cast(pl.String).fill_null(ANY).cast(WANTED)
    if not isinstance(pos, pl.Series):
        parts = parts.new_from_index(0, len(words))
    return WAYS[way](Asked(contexts, words.fill_null(""), parts, rows.cast(pl.Int64))).alias("synset")


def first(asked: Asked) -> pl.Series:
    """The sense that WordNet lists first, the most frequent in SemCor; of open part of speech, nouns go first."""
    return Choices.of(asked, satellites=True).synsets(np.zeros(len(asked.words), dtype=np.int64))


WAYS: dict[str, Callable[[Asked], pl.Series]] = {"first": first, "lesk": lesk}
"""The ways to choose a sense, by name."""
