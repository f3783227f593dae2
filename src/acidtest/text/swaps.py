"""Two words swapped between premise and hypothesis: transformation T of Sanchez Carmona et al. (2018), section 5.2.

Every occurrence of the premise's word becomes the hypothesis's and the other way round, each in the form (number,
tense, degree), with the capitals and the article of the place it comes to. Pairs in which one side has both words are
left out: after the swap a word would still be where it has to be gone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from acidtest.text.replacement import graded, plural, replaced
from acidtest.text.slots import slots
from acidtest.text.tagging import tagged
from acidtest.text.tokens import Placed, placed
from acidtest.text.wordnet import wordnet

_POS = {"NN": "n", "NNS": "n", "JJ": "a", "JJR": "a", "JJS": "a", "RB": "r", "RBR": "r", "RBS": "r"} | dict.fromkeys(
    ("VB", "VBP", "VBZ", "VBG", "VBD", "VBN"), "v"
)
_VERBAL = {"VB": "base", "VBP": "base", "VBZ": "third", "VBG": "gerund", "VBD": "past", "VBN": "participle"}
PLURALS = pl.DataFrame({"word": ["people"], "pos": ["n"], "base": ["person"]})
"""Plurals that WordNet does not know as such."""


@dataclass(frozen=True)
class Occurrence:
    """One place where a word stands in a text: its characters and its Penn tag."""

    start: int
    end: int
    tag: str


@dataclass(frozen=True)
class Swaps:
    """What was found in some pairs of sentences.

    ``frame`` has a row for each pair of words that can be swapped: ``row`` (of the sentences), lemmas, pos, relation
    and ``sure`` as in a table of pairs; the words as they stand, in lower case, before and after (``swapped_…_word``);
    the sentences after; and ``premise_places`` and ``hypothesis_places``, lists of start, end and tag.
    """

    frame: pl.DataFrame
    left_out: Counter[str]


def swaps(premises: pl.Series, hypotheses: pl.Series, pairs: pl.DataFrame, *, tagger: str = "auto") -> Swaps:
    """Every pair of words of ``pairs`` that stands in premise and hypothesis, in this order, swapped."""
    candidates, left_out = _candidates(premises, hypotheses, pairs)
    sides = {}
    for side, texts in (("premise", premises), ("hypothesis", hypotheses)):
        asked = candidates.select("row", lemma=f"{side}_lemma", pos="pos").unique()
        sides[side] = _places(texts, asked, tagger).rename({"lemma": f"{side}_lemma", "places": f"{side}_places"})
    found = candidates
    for side, places in sides.items():
        found = found.join(places, on=["row", f"{side}_lemma", "pos"], maintain_order="left")
    left_out["another part of speech"] = candidates.height - found.height
    return Swaps(_swapped(found, premises, hypotheses), +left_out)


def inflected(lemma: str, pos: str, tag: str) -> str:
    """A word in the form that a tag asks for."""
    if pos == "n" and tag == "NNS":
        return plural(lemma)
    if pos == "a" and tag in ("JJR", "JJS"):
        return graded(lemma, "er" if tag == "JJR" else "est")
    return slots(lemma, "verb")[_VERBAL[tag]] if pos == "v" else lemma


def rewritten(text: str, places: Sequence[Occurrence], *, lemma: str, pos: str) -> str:
    """The text with a word, in the right form, in all of some places."""
    for place in sorted(places, key=lambda each: each.start, reverse=True):
        text = replaced(text, place.start, place.end, word=inflected(lemma, pos, place.tag))
    return text


def base_forms(words: pl.Series) -> pl.DataFrame:
    """What words in lower case may be forms of: columns word, pos and base; with an empty pos, themselves."""
    known = wordnet().base_form_frame(words).with_columns(pl.col("pos").cast(pl.String))
    itself = pl.DataFrame({"word": words.unique(maintain_order=True)}).select("word", pos=pl.lit(""), base="word")
    return pl.concat([known, PLURALS.filter(pl.col("word").is_in(words.implode())), itself]).unique(maintain_order=True)


def _candidates(premises: pl.Series, hypotheses: pl.Series, pairs: pl.DataFrame) -> tuple[pl.DataFrame, Counter[str]]:
    """Rows and pairs of words of which one stands in the premise and one in the hypothesis, in any part of speech."""
    sides = placed(premises), placed(hypotheses)
    lower = [side.words.str.to_lowercase() for side in sides]
    forms = base_forms(pl.concat(lower).unique(maintain_order=True))
    # WordNet has hundreds of thousands of pairs: those of which both words may be here are soon found.
    bases = forms["base"].unique().implode()
    pairs = pairs.filter(pl.col("premise_lemma").is_in(bases), pl.col("hypothesis_lemma").is_in(bases))
    lemmas = pl.concat([pairs["premise_lemma"], pairs["hypothesis_lemma"]]).unique()
    forms = forms.filter(pl.col("base").is_in(lemmas.implode()))
    here, there = (_mentions(side, words, forms) for side, words in zip(sides, lower, strict=True))
    joined = here.rename({"base": "premise_lemma"}).join(there.rename({"base": "hypothesis_lemma"}), on=["row", "pos"])
    found = joined.join(pairs, on=["premise_lemma", "hypothesis_lemma", "pos"])
    any_here, any_there = here.select("row", "base").unique(), there.select("row", "base").unique()
    apart = found.join(any_here, left_on=["row", "hypothesis_lemma"], right_on=["row", "base"], how="anti")
    apart = apart.join(any_there, left_on=["row", "premise_lemma"], right_on=["row", "base"], how="anti")
    left_out = Counter({"both words on one side": found.height - apart.height})
    return apart.sort("row", "premise_lemma", "hypothesis_lemma", "pos"), left_out


def _mentions(side: Placed, words: pl.Series, forms: pl.DataFrame) -> pl.DataFrame:
    """Which base forms may stand in which row, each once: row, pos and base."""
    numbers = pl.DataFrame({"word": words}).with_row_index("number").join(forms, on="word").drop("word")
    stands = pl.DataFrame({"row": side.text, "number": side.word}, schema={"row": pl.Int64, "number": pl.UInt32})
    return stands.unique().join(numbers, on="number").select("row", "pos", "base").unique()


def _places(texts: pl.Series, asked: pl.DataFrame, tagger: str) -> pl.DataFrame:
    """Where each word asked for stands in its text: columns row, lemma, pos and places.

    A word that stands there as another part of speech, too, has no row. Tagging is most of the work: only texts that
    are asked for are tagged.
    """
    rows = asked["row"].unique().sort()
    found = tagged(texts.gather(rows), tagger)
    found = found.select("start", "end", "tag", row=rows.gather(found["text"]), word=pl.col("token").str.to_lowercase())
    forms = base_forms(found["word"].unique(maintain_order=True)).select("word", lemma="base").unique()
    every = asked.join(forms, on="lemma").join(found, on=["row", "word"]).sort("row", "lemma", "pos", "start")
    own = pl.col("tag").replace_strict(_POS, default=None, return_dtype=pl.String)
    # A tagger takes "closed" for a participle also where it is the opposite of "open".
    participle = (pl.col("pos") == "a") & (pl.col("tag") == "VBN") & (pl.col("word") == pl.col("lemma"))
    fits = (pl.col("pos") == "") | (own == pl.col("pos")).fill_null(value=False) | participle
    return (
        every.group_by("row", "lemma", "pos", maintain_order=True)
        .agg(places=pl.struct("start", "end", "tag"), fits=fits.all())
        .filter("fits")
        .drop("fits")
    )


def _swapped(found: pl.DataFrame, premises: pl.Series, hypotheses: pl.Series) -> pl.DataFrame:
    texts = {"premise": premises, "hypothesis": hypotheses}
    other = {"premise": "hypothesis", "hypothesis": "premise"}
    columns = {
        name: list[str]() for side in texts for name in (f"{side}_word", f"swapped_{side}_word", f"swapped_{side}")
    }
    for row in found.iter_rows(named=True):
        for side, sentences in texts.items():
            text, lemma = sentences[row["row"]], row[f"{other[side]}_lemma"]
            places = [Occurrence(**place) for place in row[f"{side}_places"]]
            first = places[0]
            columns[f"{side}_word"].append(text[first.start : first.end].lower())
            columns[f"swapped_{side}_word"].append(inflected(lemma, row["pos"], first.tag))
            columns[f"swapped_{side}"].append(rewritten(text, places, lemma=lemma, pos=row["pos"]))
    return found.with_columns(pl.Series(name, values, dtype=pl.String) for name, values in columns.items())
