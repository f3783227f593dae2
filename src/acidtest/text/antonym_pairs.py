"""Antonyms that stand across two sentences: one in the premise, its opposite in the hypothesis.

Words are compared by what they may be a form of, in any part of speech, so that *hated* is opposite *loves*; which
sense is meant is not asked.
"""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from acidtest.io.wordlists import packaged_table
from acidtest.text.heuristics import words
from acidtest.text.wordnet import ALL_POS, SATELLITE, wordnet

_BLOCK = 1 << 16

_SCHEMA: dict[str, pl.DataType | type[pl.DataType]] = {
    "row": pl.UInt32,
    "premise_word": pl.String,
    "hypothesis_word": pl.String,
    "premise_lemma": pl.String,
    "hypothesis_lemma": pl.String,
    "pos": ALL_POS,
    "opposed": pl.Boolean,
}


def antonym_pairs(premises: pl.Series, hypotheses: pl.Series, *, every_pair: bool = False) -> pl.DataFrame:
    """Every antonym pair of WordNet with one word in the premise and the other in the hypothesis.

    Columns: ``row`` (number of the sentence pair), ``premise_word`` and ``hypothesis_word`` in lower case,
    ``premise_lemma``, ``hypothesis_lemma`` and ``pos`` (n, v, a or r: a row for each reading in which they are
    antonyms), and ``opposed``: neither word is in both sentences in any form, so that they tell the two apart. Rows
    stand in the order of the sentences. Pairs that seldom oppose anything, such as the prepositions *on* and *off*, are
    left out, unless ``every_pair``; ``data/typology/no_antonyms.tsv`` has them.
    """
    blocks = [_pairs(*block, every_pair=every_pair) for block in _blocks(premises, hypotheses)]
    return pl.concat([pl.DataFrame(schema=_SCHEMA), *blocks])


def opposed_words(premises: pl.Series, hypotheses: pl.Series) -> pl.Series:
    """The antonyms that tell the two sentences of each pair apart, premise's first: lists such as ``["love/hate"]``."""
    found = antonym_pairs(premises, hypotheses).filter("opposed")
    pair = pl.concat_str("premise_word", "hypothesis_word", separator="/").alias("opposed_words")
    lists = found.group_by("row", maintain_order=True).agg(pair.unique(maintain_order=True))
    rows = pl.DataFrame({"row": pl.int_range(len(premises), dtype=pl.UInt32, eager=True)})
    joined = rows.join(lists, on="row", how="left", maintain_order="left")["opposed_words"]
    return joined.fill_null(pl.Series([[]], dtype=pl.List(pl.String)))


def _blocks(premises: pl.Series, hypotheses: pl.Series) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
    """The different words of some pairs at a time, so that a training set needs no more memory than its sentences."""
    for start in range(0, len(premises), _BLOCK):
        yield _placed(premises.slice(start, _BLOCK), start), _placed(hypotheses.slice(start, _BLOCK), start)


def _placed(sentences: pl.Series, start: int) -> pl.DataFrame:
    rows = pl.int_range(start, start + len(sentences), dtype=pl.UInt32, eager=True)
    frame = pl.DataFrame({"row": rows, "word": words(sentences).list.unique(maintain_order=True)})
    return frame.explode("word", empty_as_null=False, keep_nulls=False)


def _pairs(premise: pl.DataFrame, hypothesis: pl.DataFrame, *, every_pair: bool) -> pl.DataFrame:
    forms = _forms(pl.concat([premise["word"], hypothesis["word"]]).unique(maintain_order=True))
    known = _opposites(forms)
    if not every_pair:
        known = known.join(_unreliable(), on=["premise_lemma", "hypothesis_lemma"], how="anti", maintain_order="left")
    here = premise.rename({"word": "premise_word"}).join(known, on="premise_word", maintain_order="left_right")
    there = hypothesis.rename({"word": "hypothesis_word"})
    found = here.join(there, on=["row", "hypothesis_word"], how="semi", maintain_order="left")
    apart = _absent(found, "premise", hypothesis, forms) & _absent(found, "hypothesis", premise, forms)
    return found.with_columns(apart.alias("opposed")).select(pl.col(name).cast(kind) for name, kind in _SCHEMA.items())


def _absent(found: pl.DataFrame, side: str, others: pl.DataFrame, forms: pl.DataFrame) -> pl.Series:
    """Whether the other sentence of each pair has no form of the word on this side, not even in *open-air*."""
    asked = found.select("row", base=f"{side}_lemma")
    parts = others.filter(pl.col("word").str.contains("-", literal=True)).with_columns(pl.col("word").str.split("-"))
    others = pl.concat([others, parts.explode("word", empty_as_null=False)])
    there = others.join(forms.select("word", "base").unique(), on="word").select("row", "base", there=True).unique()
    return asked.join(there, on=["row", "base"], how="left", maintain_order="left")["there"].is_null()


def _forms(vocabulary: pl.Series) -> pl.DataFrame:
    """The words that are forms of a lemma with antonyms: columns word, base, antonym and pos."""
    lower = pl.col("antonym").str.to_lowercase()
    found = wordnet().antonym_frame(vocabulary).select("word", "base", lower, pos=pl.col("pos").replace(SATELLITE, "a"))
    return found.unique(maintain_order=True)


def _opposites(forms: pl.DataFrame) -> pl.DataFrame:
    """Every two words that are forms of antonyms."""
    first = forms.select("pos", premise_word="word", premise_lemma="base", hypothesis_lemma="antonym")
    second = forms.select("pos", hypothesis_word="word", hypothesis_lemma="base", premise_lemma="antonym")
    return first.join(second, on=["premise_lemma", "hypothesis_lemma", "pos"], maintain_order="left_right")


def _unreliable() -> pl.DataFrame:
    """The pairs that are left out, in both orders."""
    table = packaged_table("typology/no_antonyms.tsv")
    there = table.select(premise_lemma="word", hypothesis_lemma="antonym")
    back = table.select(premise_lemma="antonym", hypothesis_lemma="word")
    return pl.concat([there, back])
