"""The test set that Glockner et al. (2018) published, known again by its categories whatever its file is called."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import polars as pl

from acidtest.core.suite import Kind
from acidtest.io.wordlists import packaged_table

NAME = "breaking-nli"
CATEGORY = "category"
WORDS: Mapping[str, Kind] = {"premise_word": "text", "hypothesis_word": "text"}
"""The columns that say which word is replaced by which, of several words where they are one expression."""

CITATION = (
    "Glockner, Shwartz and Goldberg (2018). Breaking NLI Systems with Sentences that Require Simple Lexical "
    "Inferences. ACL."
)
LICENCE = "CC BY-SA 4.0"


def is_breaking_nli(categories: Collection[str]) -> bool:
    """Whether these are categories of the published set, all or some of them."""
    return len(categories) > 1 and set(categories) <= set(packaged_table("lexical/published_names.tsv")["published"])


def with_replaced_words(frame: pl.DataFrame) -> pl.DataFrame:
    """The pairs with the word or expression that is replaced and the one in its place; null where that is unclear."""
    from acidtest.text.alignment import replaced_words

    replaced = replaced_words(frame["premise"], frame["hypothesis"])
    words = (pl.col(f"{name}s").replace("", None).alias(name) for name in WORDS)
    return pl.concat([frame, replaced.select(words)], how="horizontal")
