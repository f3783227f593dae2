"""Misspelt words in texts: those that no list has, one slip of the pen away from a word in use."""

from __future__ import annotations

from functools import cache
from string import ascii_lowercase

import polars as pl

from acidtest.io.wordlists import packaged_table
from acidtest.text.misspelling import english, function_words
from acidtest.text.wordnet import wordnet

SHORTEST = 5
"""Shorter words are one letter away from too many others; of them only swapped letters in function words count."""

_WORD = r"[\p{L}\p{N}_@'’\-./]*[\p{L}\p{N}]"


def misspelt_words(texts: pl.Series) -> pl.Series:
    """The words of each text that are misspelt, with what they may stand for: a list such as ``["recieve (receive)"]``.

    A word is misspelt when it is neither in WordNet in any form nor a function word, and becomes a word in use when one
    letter is added, left out or changed, or two are swapped. What has a capital (a name), a digit, an apostrophe or a
    hyphen is not looked at.
    """
    tokens = texts.cast(pl.String).str.extract_all(_WORD).list.unique(maintain_order=True)
    vocabulary = tokens.explode(empty_as_null=False, keep_nulls=False).unique()
    slips = _slips(vocabulary.filter(vocabulary.str.contains(r"^[a-z]{3,}$")))
    named = pl.element().replace_strict(slips["word"], slips["named"], default=None)
    return tokens.list.eval(named).list.drop_nulls().alias("misspelt")


def _slips(words: pl.Series) -> pl.DataFrame:
    """The misspelt words among some different ones: columns word and named."""
    unknown = words.filter(~english(words) & ~words.is_in(_known().implode())).sort()
    tries = pl.DataFrame(
        [(word, edit, place) for word in unknown for place, edit in enumerate(_edits(word))],
        schema={"word": pl.String, "edit": pl.String, "place": pl.Int64},
        orient="row",
    )
    found = tries.join(_in_use(tries["edit"].unique()), left_on="edit", right_on="word")
    best = found.sort("word", "count", "place", descending=[False, True, False]).unique("word", maintain_order=True)
    return best.select("word", named=pl.format("{} ({})", "word", "edit"))


def _in_use(words: pl.Series) -> pl.DataFrame:
    """Which of some words are in use, and how often SemCor has their lemma: columns word and count."""
    counts = wordnet().sense_frame(words).group_by("word").agg(pl.col("count").sum().cast(pl.Int64))
    functional = function_words().select("word", count=pl.lit(1 << 20, pl.Int64))
    functional = functional.filter(pl.col("word").is_in(words.implode()))
    return pl.concat([functional, counts.filter(pl.col("count") > 0)]).unique("word", keep="first", maintain_order=True)


def _edits(word: str) -> list[str]:
    """What a word may have been before a slip: swapped letters first, then one more, one less, another."""
    splits = [(word[:place], word[place:]) for place in range(len(word) + 1)]
    swapped = [left + right[1] + right[0] + right[2:] for left, right in splits if len(right) > 1]
    if len(word) < SHORTEST:
        return [edit for edit in dict.fromkeys(swapped) if edit in _function_words()]
    longer = [left + letter + right for left, right in splits for letter in ascii_lowercase]
    shorter = [left + right[1:] for left, right in splits if right]
    other = [left + letter + right[1:] for left, right in splits if right for letter in ascii_lowercase]
    return list(dict.fromkeys([*swapped, *longer, *shorter, *other]))


@cache
def _function_words() -> frozenset[str]:
    return frozenset(function_words()["word"])


def _known() -> pl.Series:
    """Words in use that WordNet 3.0 has not: colloquial ones, and newer than it."""
    return packaged_table("typology/known_words.tsv")["word"]
