"""Sentences with a word replaced by its antonym as the script released with the stress tests of Naik et al. (2018) did.

Its rules are unlike those of ``antonyms``: the whole text is one context; every word may be replaced unless a list of
25 words has it, if Lesk's algorithm chooses a sense of a noun or satellite adjective; each antonym of each word of that
sense replaces the first characters of the text that are equal to the word, be it inside another one.
"""

from __future__ import annotations

from typing import NamedTuple

import polars as pl

from acidtest.english.senses import senses
from acidtest.english.tokens import tokens
from acidtest.english.wordnet import wordnet
from acidtest.io.wordlists import word_list

_POS = {"n": "noun", "s": "adjective"}
_COLUMNS = {"text": pl.UInt32, "start": pl.UInt32} | dict.fromkeys(("changed", "word", "antonym", "pos"), pl.String)


class Replacement(NamedTuple):
    """A text with one word replaced; ``start`` is the character where it stands."""

    text: int
    start: int
    changed: str
    word: str
    antonym: str
    pos: str


def replace_as_released(texts: pl.Series, parses: pl.Series | None = None) -> pl.DataFrame:
    """Every text in which the released script replaces a word: columns text, start, changed, word, antonym and pos.

    Words are those of the binary parses, where given and not null, else our tokens; both in lower case, so that words
    with capitals in the text are never replaced.
    """
    words = _words(texts, parses)
    contexts = words.group_by("text", maintain_order=True).agg("word").with_row_index("row")
    skipped = word_list("never replaced by the released script")
    candidates = words.filter(~pl.col("word").is_in(skipped)).unique(["text", "word"], maintain_order=True)
    candidates = candidates.join(contexts.select("text", "row"), on="text", maintain_order="left")
    synsets = senses("lesk-2018", contexts["word"], candidates["word"], rows=candidates["row"])
    antonyms = candidates.with_columns(synset=synsets).join(_antonyms(), on="synset", maintain_order="left_right")
    rows = list[Replacement]()
    for text, word, antonym, pos in antonyms.select("text", "word", "antonym", "pos").iter_rows():
        start = texts[text].find(word)
        if start >= 0 and word != antonym:
            changed = texts[text].replace(word, antonym, 1)
            rows.append(Replacement(text, start, changed, word, antonym, _POS[pos]))
    return pl.DataFrame(rows, schema=_COLUMNS, orient="row").unique(["text", "changed"], maintain_order=True)


def _words(texts: pl.Series, parses: pl.Series | None) -> pl.DataFrame:
    """The words of each text in lower case: columns text and word."""
    ours = tokens(texts).select(pl.col("text").cast(pl.UInt32), word=pl.col("token").str.to_lowercase())
    if parses is None:
        return ours
    leaves = parses.str.replace_all(r"[()]", "").str.to_lowercase().str.extract_all(r"\S+")
    parsed = pl.DataFrame({"word": leaves}).with_row_index("text").drop_nulls("word").explode("word")
    parsed = parsed.drop_nulls("word")
    return pl.concat([ours.join(parsed, on="text", how="anti"), parsed]).sort("text", maintain_order=True)


def _antonyms() -> pl.DataFrame:
    """The antonyms that a noun's or satellite adjective's synset gives: columns synset, pos and antonym."""
    net = wordnet()
    pairs = net.relation("antonyms")
    source, target = pairs["source"], pairs["target"]
    frame = pl.DataFrame(
        {
            "synset": net.sense_table["synset"].gather(source),
            "place": net.sense_table["place"].gather(source),
            "antonym": net.words_of(target),
        }
    ).with_columns(pos=net.synset_table["pos"].gather(net.sense_table["synset"].gather(source)).cast(pl.String))
    is_wanted = (
        pl.col("pos").is_in(list(_POS)) & ~pl.col("antonym").str.contains("_") & (pl.col("antonym") != "civilian")
    )
    return frame.filter(is_wanted).sort("synset", "place", "antonym").select("synset", "pos", "antonym")
