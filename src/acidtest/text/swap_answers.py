"""Gold that people gave to swapped pairs, as ``acidtest agreement ANSWERS --questionnaire swaps -o FILE`` writes it."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import polars as pl

from acidtest.core.errors import FileError
from acidtest.core.labels import GOLD_MASKS
from acidtest.core.suite import Card, Suite, completed
from acidtest.io.starter import CITATION, starter_premises
from acidtest.io.tables import read_table
from acidtest.io.wordlists import packaged_table

_LABELS = ("premise", "hypothesis", "label")
DISCARDED, UNDECIDED = "discarded", "undecided"


def read_answers(path: str | Path) -> pl.DataFrame:
    """What people made of pairs: columns premise, hypothesis, label and verdict, each pair once.

    ``verdict`` is ``asked`` where there is a label, else ``discarded`` or ``undecided``.
    """
    table = read_table(path)
    frame = table.written_frame
    missing = [name for name in _LABELS if name not in frame.columns]
    if missing and "annotator" in frame.columns:
        advice = f"make labels of them first: acidtest agreement {path} --questionnaire swaps -o labels.tsv"
        raise FileError(path, f"holds the answers of people; {advice}")
    if missing:
        raise FileError(path, f"has no column {missing[0]!r}; it needs premise, hypothesis and label")
    text = frame.select(*_LABELS, *(name for name in (DISCARDED,) if name in frame.columns)).cast(pl.String)
    text = text.with_columns(pl.all().replace("", None))
    for row in text.filter(pl.col("label").is_not_null())["label"].unique().sort():
        if row not in GOLD_MASKS or row == "any":
            at = text["label"].index_of(row)
            raise FileError(path, f"label {row!r} is not entailment, neutral or contradiction", table.line(at or 0))
    discarded = pl.col(DISCARDED).is_not_null() if DISCARDED in text.columns else pl.lit(value=False)
    return _judged(text.with_columns(_discarded=discarded), path)


def _judged(text: pl.DataFrame, path: str | Path) -> pl.DataFrame:
    verdict = (
        pl.when("_discarded")
        .then(pl.lit(DISCARDED))
        .when(pl.col("label").is_null())
        .then(pl.lit(UNDECIDED))
        .otherwise(pl.lit("asked"))
    )
    label = pl.when(~pl.col("_discarded")).then("label")
    found = text.select("premise", "hypothesis", label=label, verdict=verdict).unique(maintain_order=True)
    twice = found.filter(pl.struct("premise", "hypothesis").is_duplicated())
    if twice.height:
        raise FileError(path, f"has two labels for {twice['premise'][0]!r} / {twice['hypothesis'][0]!r}; keep one")
    return found


@cache
def starter_answers() -> pl.DataFrame:
    """The gold of the starter pairs when they are swapped, as ``read_answers`` gives it."""
    rows = packaged_table("starter/swap_answers.tsv").with_columns(pl.col("label").replace("", None))
    discarded = (pl.col("label") == DISCARDED).fill_null(value=False)
    return _judged(rows.select(*_LABELS, _discarded=discarded), "starter/swap_answers.tsv")


@cache
def starter_swaps() -> Suite:
    """Hand-written pairs whose premise and hypothesis hold antonyms, or a noun and its hypernym."""
    rows = packaged_table("starter/swaps.tsv").with_columns(certainty=pl.lit("human"))
    card = Card("starter-swaps", licence="Apache-2.0", citation=CITATION, columns={"genre": "factor"})
    return Suite(completed(rows, "starter-swaps").lazy(), card).sealed()


def starter_training() -> Suite:
    """All starter pairs together: where words are counted when a user brings nothing."""
    rows = pl.concat([suite.frame.select(*_LABELS) for suite in (starter_premises(), starter_swaps())])
    return Suite(rows, Card("starter"))
