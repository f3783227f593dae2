"""Texts that look wrong: stray spaces, slots left open, wrong articles, doubled words, sentences without an end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from acidtest.english.inflection import indefinite_article

UNFILLED = "with a slot left open"

_PATTERNS = {
    UNFILLED: r"\{[A-Za-z_]\w*\}|\[[A-Z_]+\]|%\(\w+\)s",
    "with stray spaces": r"^\s|\s$|\s\s|\s[.,;:!?](?:\s|$)",
    "with a word doubled": r"(?i)\b(?:a a|an an|the the|of of|to to|in in|is is|and and|was was|with with|on on)\b",
    "with an odd character": r"[\x00-\x08\x0b-\x1f\x7f\uFFFD]|&(?:amp|quot|lt|gt|#\d+);",
    "that begin with a small letter": r"^[a-z]",
    "without a mark at their end": r"[^.!?…\"'”’)\]]\s*$",
}
"""What is odd about a text, as people say it, and the regular expression that tells."""

_ARTICLE = r"(?i)(?:^|[^\w'’-])(an?) ([A-Za-z][\w-]*)"
_WRONG_ARTICLE = "with a for an, or an for a"
_SAME = "whose hypothesis is the premise, but gold is not entailment"
_SHOWN = 3


@dataclass(frozen=True)
class OddTexts:
    """How many pairs have a text that is odd in some way, by what is odd, and some of them."""

    counts: Mapping[str, int]
    examples: tuple[Mapping[str, str], ...] = ()

    @property
    def unfilled(self) -> bool:
        """Whether a slot of a template was left open."""
        return UNFILLED in self.counts


def find_odd_texts(frame: pl.DataFrame) -> OddTexts:
    """The pairs whose premise or hypothesis looks wrong; ``frame`` has premise, hypothesis and label."""
    sides = ("premise", "hypothesis")
    flags = {
        kind: frame.select(pl.any_horizontal(pl.col(side).str.contains(pattern) for side in sides)).to_series()
        for kind, pattern in _PATTERNS.items()
    }
    flags[_WRONG_ARTICLE] = _has_wrong_article(frame["premise"]) | _has_wrong_article(frame["hypothesis"])
    same = (pl.col("premise") == pl.col("hypothesis")) & ~pl.col("label").is_in(["entailment", "any", "non-neutral"])
    flags[_SAME] = frame.select(same & (pl.col("label") != "non-contradiction")).to_series()
    counts = {kind: int(column.sum()) for kind, column in flags.items() if column.any()}
    examples = tuple(
        {"premise": row["premise"], "hypothesis": row["hypothesis"], "gold": row["label"], "odd": kind}
        for kind in counts
        for row in frame.filter(flags[kind]).head(_SHOWN).iter_rows(named=True)
    )
    return OddTexts(counts, examples)


def _has_wrong_article(texts: pl.Series) -> pl.Series:
    """Whether each text has an article that does not go with the sound of the next word; capitals are spared."""
    matches = texts.str.extract_all(_ARTICLE)
    rows = pl.DataFrame({"row": np.arange(len(texts)), "match": matches}).explode("match").drop_nulls()
    distinct = rows["match"].unique()
    wrong = distinct.filter(pl.Series([_is_wrong(text) for text in distinct], dtype=pl.Boolean))
    bad = rows.filter(pl.col("match").is_in(wrong.implode()))["row"].unique()
    flags = np.zeros(len(texts), dtype=np.bool_)
    flags[bad.to_numpy()] = True
    return pl.Series(flags)


def _is_wrong(match: str) -> bool:
    article, word = match.split()[-2:]
    article = article.lstrip("([\"'“‘—–-/").lower()
    if article not in ("a", "an") or word.isupper():
        return False
    return indefinite_article(word) != article
