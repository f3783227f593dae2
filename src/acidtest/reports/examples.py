"""The rows of some runs, packed for the example browser of the HTML page."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Mapping
from typing import Any

import polars as pl

from acidtest.core.labels import LABELS
from acidtest.core.run import ANSWER_COLUMNS, Run

KEY = ("suite", "id", "premise", "hypothesis", "label")
"""Two models answered the same row when all of these agree."""


def columns(runs: Mapping[str, Run]) -> dict[str, Any]:
    """The rows of all runs by column; a row that several models were asked stands once.

    Columns with few values are ``values`` and ``codes`` into them; probabilities are in thousandths, -1 for none.
    ``correct`` is 1, 0, or -1 where a model was not asked the row.
    """
    frames = [run.predictions for run in runs.values()]
    cards = {name: card for run in runs.values() for name, card in run.header.suites.items()}
    names = dict.fromkeys(factor for card in cards.values() for factor in card.factors)
    rows = frames[0]
    if len(frames) > 1:
        factors = [[pl.col(name).cast(pl.String) for name in names if name in frame] for frame in frames]
        parts = [frame.select(*KEY, *own) for frame, own in zip(frames, factors, strict=True)]
        rows = pl.concat(parts, how="diagonal")
        rows = rows.unique(KEY, keep="first", maintain_order=True)
    return {
        "count": rows.height,
        "suites": {name: list(card.factors) for name, card in cards.items()},
        "id": rows["id"].to_list(),
        "premise": rows["premise"].to_list(),
        "hypothesis": rows["hypothesis"].to_list(),
        "suite": _coded(rows["suite"]),
        "label": _coded(rows["label"]),
        "factors": {name: _coded(rows[name]) for name in names if name in rows},
        "models": [_answers(name, run, rows) for name, run in runs.items()],
    }


def packed(value: Any) -> str:
    """JSON, gzipped, as base64; nothing in it can end a script element."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(gzip.compress(text.encode(), compresslevel=6, mtime=0)).decode()


def _answers(name: str, run: Run, rows: pl.DataFrame) -> dict[str, Any]:
    own = run.predictions
    if rows is not own:
        once = own.select(*KEY, *ANSWER_COLUMNS).unique(KEY, keep="first")
        own = rows.select(KEY).join(once, on=KEY, how="left", maintain_order="left")
    # A two-way model writes non-entailment into the neutral column.
    labels = ("entailment", "non-entailment") if run.header.model.resolution == "two-way" else LABELS
    chances = own.select(
        (pl.col(f"p_{label}").fill_nan(None).clip(0, 1) * 1000).round().cast(pl.Int16).fill_null(-1)
        for label in LABELS[: len(labels)]
    )
    return {
        "name": name,
        "probabilities": run.header.model.probabilities,
        "labels": labels,
        "answer": _coded(own["answer"]),
        "correct": own["correct"].cast(pl.Int8).fill_null(-1).to_list(),
        "p": [column.to_list() for column in chances],
    }


def _coded(column: pl.Series) -> dict[str, Any]:
    text = column.cast(pl.String)
    values = text.unique(maintain_order=True)
    codes = pl.DataFrame({"value": text}).join(
        values.to_frame("value").with_row_index("code"), on="value", how="left", nulls_equal=True, maintain_order="left"
    )
    return {"values": values.to_list(), "codes": codes["code"].to_list()}
