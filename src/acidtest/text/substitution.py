"""Texts with one word of a word list replaced by another of it, and what the new word is to the old one.

Only plain places are used: where a word is part of a name, a compound or a list, or stands in a context that turns
what follows from what (negation, *few*, *only*, comparison, condition, question), it is left as it is, and counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from acidtest.core.digests import digests
from acidtest.core.draws import Draws
from acidtest.text.occurrences import occurrences, tagged_texts
from acidtest.text.plain_places import reasons_against
from acidtest.text.replacement import replaced
from acidtest.text.substitutes import described, fitting, options_for, surfaces

_COLUMNS = {"text": pl.Int64, "start": pl.UInt32} | dict.fromkeys(
    ("category", "relation", "frame", "premise_word", "hypothesis_word", "changed"), pl.String()
)

Filter = Callable[[pl.DataFrame], pl.Series]
"""Which of some replacements to keep; columns previous, premise_word, hypothesis_word, next and their tags."""


@dataclass(frozen=True)
class Substitutions:
    """What is replaced, by what, and how much of it."""

    categories: Sequence[str]
    draws: Draws
    each: int = 1
    """How many new words in each relation a place gets."""
    filters: dict[str, Filter] = field(default_factory=dict)
    tagger: str = "auto"

    def of(self, texts: pl.Series) -> tuple[pl.DataFrame, Counter[str]]:
        """The changed texts, and how many places or replacements were left out, by reason.

        Columns text (row of it), start, changed, category, relation, frame, premise_word and hypothesis_word.
        """
        # Tagging is most of the work: only what may hold an item is tagged.
        openers = surfaces(tuple(self.categories))["surface"].str.to_lowercase().str.extract(r"^([\p{L}\p{N}]+)")
        rows = texts.str.to_lowercase().str.contains_any(openers.drop_nulls().unique().to_list()).arg_true()
        changed, left_out = self._of(texts.gather(rows))
        return changed.with_columns(text=rows.cast(pl.Int64).gather(changed["text"])), left_out

    def _of(self, texts: pl.Series) -> tuple[pl.DataFrame, Counter[str]]:
        found = tagged_texts(texts, self.tagger)
        places = occurrences(found, surfaces(tuple(self.categories)))
        if places.is_empty():
            return pl.DataFrame(schema=_COLUMNS), Counter()
        places = places.with_columns(reason=reasons_against(found, places, texts))
        # What cannot stand in one slot may stand in another.
        stands = pl.col("reason").is_null().any().over("category", "first")
        left_out = Counter(places.filter(~stands).unique(["category", "first"], maintain_order=True)["reason"])
        places = places.filter(pl.col("reason").is_null()).drop("reason").with_row_index("row")
        options = options_for(found, places, tuple(self.categories))
        framed = options["row"].n_unique() if options.height else 0
        left_out["no such frame"] = places.height - framed
        options = described(found, options)
        options = fitting(found, options, left_out)
        for name, kept in self.filters.items():
            before = options.height
            options = options.filter(kept(options))
            left_out[name] += before - options.height
        drawn = self._drawn(texts, options)
        return _rendered(texts, drawn), +left_out

    def _drawn(self, texts: pl.Series, options: pl.DataFrame) -> pl.DataFrame:
        """A few replacements in each relation for each place, whatever else there is in the corpus."""
        keys = digests(texts.gather(options["text"]), options["category"]) + options["start"].to_numpy().astype(
            np.uint64
        )
        bits = self.draws.bits(keys, "place") ^ digests(options["other"])
        options = options.with_columns(draw=pl.Series(self.draws.bits(bits, "other")))
        rank = pl.col("draw").rank("ordinal").over("row", "relation")
        return options.filter(rank <= self.each).sort("row", "relation", "draw")


def _rendered(texts: pl.Series, drawn: pl.DataFrame) -> pl.DataFrame:
    changed = [_changed(texts[row["text"]], row) for row in drawn.iter_rows(named=True)]
    told = drawn.select("text", "start", "category", "relation", "frame", "premise_word", "hypothesis_word")
    return told.with_columns(changed=pl.Series(changed, dtype=pl.String))


def _changed(text: str, row: Mapping[str, Any]) -> str:
    """The text with the new word; article, capitals and preposition follow."""
    start, end, new = row["start"], row["end"], row["new"]
    if row["old_form"] == "the" and text[:start].lower().endswith("the "):
        start -= 4
    if row["form"] == "the":
        new = f"the {new}"
    moved = row["at"] != row["old_at"] and row["anchor"] == row["old_at"]
    # The capital of a name says nothing of the place it stands in.
    opens = not text[:start].strip() or text[:start].rstrip().endswith((".", "!", "?"))
    made = replaced(text, start, end, word=new, like=None if opens or row["old"].islower() else "")
    return replaced(made, row["anchor_start"], row["anchor_end"], word=row["at"]) if moved else made
