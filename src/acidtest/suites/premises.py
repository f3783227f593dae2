"""Suite ``premises``: the hypothesis of a pair with another premise, with none, and with its premise shuffled."""

from __future__ import annotations

import numpy as np
import polars as pl

from acidtest.core.digests import digests
from acidtest.core.draws import Draws
from acidtest.core.suite import PARSES, Kind, Suite
from acidtest.suites.catalogue import Request, generator
from acidtest.suites.corpus import LABEL_COLUMNS, derive_suite, source_pairs

CITATION = "acidtest; hypotheses without their premises after Poliak et al. (2018) and Gururangan et al. (2018)"
_NAME = "premises"
_COLUMNS: dict[str, Kind] = {"premise_is": "factor"}
_GOLD = {"another": "non-entailment", "none": "non-entailment", "shuffled": "any"}
_NOTHING = "."
"""What stands for no premise: many models cannot be asked about an empty text."""
_NOTE = (
    "Another premise is that of another pair and, like no premise, does not entail the hypothesis. Shuffled words may "
    "say anything, so every answer counts as right there: the suite is for comparing answers with those to the "
    "untouched pairs."
)


@generator(
    _NAME,
    summary="The same hypotheses with another premise, with none, and with the premise's words shuffled",
    rows=3 * 816,
    source="pairs",
    citation=CITATION,
    licence="Apache-2.0",
)
def premises(request: Request) -> Suite:
    """Every pair of the corpus three times: a model that reads the premise changes its answers."""
    pairs = source_pairs(request, columns=_COLUMNS)
    frame = pairs.frame.drop(*PARSES, strict=False).collect()
    draws = Draws(request.seed, _NAME)
    parts = {
        "another": _other_premises(frame, draws),
        "none": pl.Series([_NOTHING] * frame.height, dtype=pl.String),
        "shuffled": _shuffled(frame, draws),
    }
    kept = frame.drop("premise", *LABEL_COLUMNS, strict=False).with_columns(group="id")
    rows = pl.concat(
        kept.with_columns(
            premise=texts,
            label=pl.lit(_GOLD[name]),
            certainty=pl.lit("logical"),
            premise_is=pl.lit(name),
            variant=pl.lit(name),
        )
        for name, texts in parts.items()
    )
    return derive_suite(_NAME, pairs, rows.lazy(), request=request, columns=_COLUMNS, note=_NOTE)


def _other_premises(pairs: pl.DataFrame, draws: Draws) -> pl.Series:
    """For each pair the premise of the next pair, in a drawn order, that has another one."""
    order = np.argsort(draws.bits(digests(pairs["id"]), "order"), kind="stable")
    texts = pairs["premise"].to_numpy()[order]
    following = np.roll(texts, -1)
    for step in range(2, len(texts)):
        same = following == texts
        if not same.any():
            break
        following[same] = np.roll(texts, -step)[same]
    other = np.empty_like(texts)
    other[order] = following
    return pl.Series(other, dtype=pl.String)


def _shuffled(pairs: pl.DataFrame, draws: Draws) -> pl.Series:
    """The words of each premise in a drawn order."""
    words = pairs["premise"].str.strip_chars_end(".!?").str.split(" ")
    table = pl.DataFrame({"row": np.arange(pairs.height), "word": words}).explode("word")
    keys = np.repeat(digests(pairs["id"]), words.list.len().to_numpy())
    place = table.select(pl.int_range(pl.len()).over("row")).to_series().to_numpy().astype(np.uint64)
    table = table.with_columns(draw=pl.Series(draws.bits(keys * np.uint64(3) + place, "shuffle")))
    joined = table.sort("row", "draw").group_by("row", maintain_order=True).agg(pl.col("word"))["word"].list.join(" ")
    return joined + "."
