"""Where the items of word lists stand in texts, and what stands around them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from acidtest.text.tagging import tagged
from acidtest.text.tokens import tokens
from acidtest.text.wordnet import wordnet

Places = NDArray[np.int64]

_INSIDE = frozenset({"DT", "PDT", "PRP$", "CD", "JJ", "JJR", "JJS", "POS"})
"""Tags of what may stand between an item and the word it depends on: *playing* [*his old*] *guitar*."""


@dataclass(frozen=True)
class TaggedTexts:
    """The tagged tokens of some texts; places are rows of it."""

    frame: pl.DataFrame
    """Columns text, start, end, token, tag and entity."""

    @cached_property
    def lower(self) -> pl.Series:
        """The tokens in lower case."""
        return self.frame["token"].str.to_lowercase()

    @cached_property
    def text(self) -> Places:
        """The text each token is of."""
        return self.frame["text"].to_numpy().astype(np.int64)

    def words(self, places: Places, *, of: Places) -> pl.Series:
        """The lower-case tokens at some places; empty where these are not in the text ``of``."""
        return self._gathered(self.lower, places, of)

    def tags(self, places: Places, *, of: Places) -> pl.Series:
        """The tags at some places; empty where these are not in the text ``of``."""
        return self._gathered(self.frame["tag"], places, of)

    @cached_property
    def anchors(self) -> Places:
        """For each token the last one, up to itself, that is no determiner, number or adjective; -1 for none."""
        outside = ~self.frame["tag"].is_in(list(_INSIDE)).to_numpy()
        found = np.maximum.accumulate(np.where(outside, np.arange(len(outside)), -1))
        within = (found >= 0) & (self.text[found] == self.text)
        return np.where(within, found, -1)

    def _gathered(self, column: pl.Series, places: Places, of: Places) -> pl.Series:
        within = (places >= 0) & (places < len(self.text))
        safe = np.where(within, places, 0)
        within &= self.text[safe] == of
        return pl.select(pl.when(pl.Series(within)).then(column.gather(safe)).otherwise(pl.lit(""))).to_series()


def tagged_texts(texts: pl.Series, tagger: str = "auto") -> TaggedTexts:
    """Texts as tagged tokens."""
    return TaggedTexts(tagged(texts, tagger))


def occurrences(found: TaggedTexts, surfaces: pl.DataFrame) -> pl.DataFrame:
    """Every stretch of tokens that is one of the surfaces, the longest where several of a category overlap.

    An item that may stand in two slots, as *silver* may be an adjective or a thing, has a row for each.

    ``surfaces`` has category, item, slot, surface and cased (only as it is written). The frame has text, first and last
    (places of tokens), and category, item and slot.
    """
    keyed = _keyed(surfaces)
    lower, written = found.lower, found.frame["token"]
    parts = []
    for length in sorted(keyed["length"].unique()):
        own = keyed.filter(length=length)
        texts = found.frame["text"]
        whole = (texts == texts.shift(1 - length)).fill_null(value=False)
        starts = pl.int_range(len(lower), eager=True).filter(whole & lower.is_in(own["opener"].unique().implode()))
        joined = {"first": starts.cast(pl.Int64), "key": _joined(lower, starts, length)}
        joined["written"] = _joined(written, starts, length)
        parts.append(pl.DataFrame(joined).join(own, on="key"))
    every = pl.concat(parts).filter(~pl.col("cased") | (pl.col("written") == pl.col("surface")))
    every = every.with_columns(
        last=pl.col("first") + pl.col("length") - 1, text=pl.Series(found.text).gather(every["first"])
    )
    stretches = every.select("category", "first", "last").unique().sort("category", "first", -pl.col("last"))
    before = pl.col("last").cum_max().shift(1).over("category")
    longest = stretches.filter(before.is_null() | (pl.col("last") > before))
    found_at = every.join(longest, on=["category", "first", "last"], how="semi")
    return found_at.sort("category", "first", "slot").select("text", "first", "last", "category", "item", "slot")


def _keyed(surfaces: pl.DataFrame) -> pl.DataFrame:
    """The surfaces with their words parted as those of texts are."""
    parted = tokens(surfaces["surface"]).group_by("text", maintain_order=True).agg("token")["token"]
    lower = parted.list.eval(pl.element().str.to_lowercase())
    return surfaces.with_columns(
        surface=parted.list.join(" "), key=lower.list.join(" "), opener=lower.list.first(), length=parted.list.len()
    )


def _joined(words: pl.Series, starts: pl.Series, length: int) -> pl.Series:
    parts = [words.gather(starts + step).alias(str(step)) for step in range(length)]
    return pl.select(pl.concat_str(parts, separator=" ")).to_series()


def anchored(found: TaggedTexts, places: pl.DataFrame) -> pl.DataFrame:
    """The words an occurrence depends on, in every form a frame may name them: columns ``row`` and ``before``.

    For *playing an old guitar* these are old, playing and play; for *next to a car* to and next_to; for *a glass of
    milk* of and glass_of.
    """
    text = places["text"].to_numpy()
    left = places["first"].to_numpy() - 1
    last = np.where(left >= 0, found.anchors[np.maximum(left, 0)], -1)
    here, one, two = (found.words(np.where(last >= 0, last - step, -1), of=text) for step in range(3))
    rows = pl.int_range(places.height, eager=True, dtype=pl.UInt32)
    beside = found.words(left, of=text)
    told = pl.DataFrame({"row": rows, "here": here, "one": one, "two": two}).filter(pl.col("here") != "")
    forms = _forms(pl.concat([here, one, two]).unique())
    return pl.concat(
        [
            pl.DataFrame({"row": rows, "before": beside}),
            told.join(forms, left_on="here", right_on="word").select("row", before="form"),
            told.join(forms, left_on="one", right_on="word").select(
                "row", before=pl.concat_str("form", "here", separator="_")
            ),
            told.join(forms, left_on="two", right_on="word").select(
                "row", before=pl.concat_str("form", "one", "here", separator="_")
            ),
        ]
    ).unique()


def _forms(words: pl.Series) -> pl.DataFrame:
    """Words with themselves and the base forms they may have: columns word and form."""
    words = words.filter(words != "")
    bases = wordnet().base_form_frame(words).select("word", form=pl.col("base"))
    return pl.concat([pl.DataFrame({"word": words, "form": words}), bases]).unique()
