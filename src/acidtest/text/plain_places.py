"""Which occurrences of a word stand in a plain place, so that replacing it has a sure label; and why others do not."""

from __future__ import annotations

from functools import cache

import polars as pl

from acidtest.text.assertions import doubts
from acidtest.text.categories import category, names
from acidtest.text.occurrences import TaggedTexts
from acidtest.text.surroundings import Surroundings
from acidtest.text.wordnet import wordnet

_ANYWHERE = ("question", "negation", "conditional", "coordination", "conversation", "quotation", "plurality")
_BEFORE = ("modality", "attitude", "comparison", "focus", "downward")
"""Reasons for doubt: anywhere in the text, or before the word."""

_AUXILIARIES = ("is", "are", "am", "'s", "'re", "'m", "has", "have", "'ve")


def reasons_against(found: TaggedTexts, places: pl.DataFrame, texts: pl.Series) -> pl.Series:
    """Why each occurrence is left as it is; null where nothing speaks against it."""
    around = Surroundings(found, places)
    starts = found.frame["start"].gather(places["first"])
    before = pl.DataFrame({"text": texts.gather(places["text"]).cast(pl.String), "start": starts}).select(
        pl.col("text").str.slice(0, pl.col("start"))
    )["text"]
    kinds = {
        "another item of the list": _several(places, "text", "category") & places.select(_alone()).to_series(),
        "twice in the text": _several(places, "text", "category", "item"),
        "one of several": around.word(-1).is_in(["another", "other", "others"]),
        "another part of speech": ~around.is_of_its_kind(),
        "part of a name": around.is_name(),
        "part of a compound": around.is_compound(),
        "without an article": around.is_bare(),
        "described": around.is_described(),
        "in a list": around.is_listed(),
        "superlative or comparative": around.is_graded(),
        "no single event": _is_habit(found, places),
        "tied to its context": _is_tied(found, places),
    }
    flagged = [pl.when(flags).then(pl.lit(reason)) for reason, flags in kinds.items()]
    # A can of beans is no ability.
    before = before.str.replace_all(r"\bcans? of\b", "tin of")
    doubted = (doubts(texts, _ANYWHERE).gather(places["text"]), doubts(before, _BEFORE))
    return pl.select(pl.coalesce(*flagged, *doubted, pl.lit(None, dtype=pl.String))).to_series()


def _several(places: pl.DataFrame, *of: str) -> pl.Series:
    """Whether there are two stretches that share these columns."""
    return places.select(pl.col("first").n_unique().over(*of) > 1).to_series()


def _alone() -> pl.Expr:
    """Whether a category leaves texts with two of its items as they are."""
    return pl.col("category").is_in([name for name in names() if category(name).alone])


def _is_habit(found: TaggedTexts, places: pl.DataFrame) -> pl.Series:
    """Whether a text in the simple present may tell what happens again and again, where that matters."""
    matters = [name for name in places["category"].unique() if category(name).events]
    present = found.frame["tag"].is_in(["VBZ", "VBP"]) & ~found.lower.is_in(_AUXILIARIES)
    texts = pl.Series(found.text).filter(present).unique()
    return places["category"].is_in(matters) & places["text"].is_in(texts.implode())


def _is_tied(found: TaggedTexts, places: pl.DataFrame) -> pl.Series:
    """Whether some other word of the text goes with this item alone."""
    tied = _tied(tuple(places["category"].unique().sort()))
    rows = places.select("text", "category", "item", "first", "last").with_row_index("row")
    wanted = tied.select("word").unique()
    words = pl.DataFrame({"text": pl.Series(found.text), "here": found.lower}).with_row_index("place")
    known = _bases(words["here"].unique(), wanted["word"])
    told = rows.join(tied, on=["category", "item"]).join(known, on="word")
    met = told.join(words.with_columns(pl.col("place").cast(pl.Int64)), on=["text", "here"])
    met = met.filter((pl.col("place") < pl.col("first")) | (pl.col("place") > pl.col("last")))
    return rows["row"].is_in(met["row"].unique().implode())


@cache
def _tied(names: tuple[str, ...]) -> pl.DataFrame:
    """category, item and the words that tie it, a row for each."""
    items = pl.concat(category(name).items.select("item", "tied", category=pl.lit(name)) for name in names)
    return items.explode("tied").drop_nulls("tied").rename({"tied": "word"}).filter(pl.col("word") != "")


def _bases(words: pl.Series, wanted: pl.Series) -> pl.DataFrame:
    """Words as they stand (``here``) that are, in some form, one of those wanted (``word``)."""
    bases = wordnet().base_form_frame(words).select(here="word", word="base")
    same = pl.DataFrame({"here": words, "word": words})
    return pl.concat([same, bases]).unique().filter(pl.col("word").is_in(wanted.implode()))
