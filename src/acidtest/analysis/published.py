"""What the papers report, as data, to stand beside a user's own numbers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources
from io import BytesIO
from typing import Any

import polars as pl


@dataclass(frozen=True)
class PublishedScore:
    """One number of a paper: whose, where it stands, which slice (factor → value; empty for the whole suite)."""

    suite: str
    system: str
    source: str
    by: dict[str, str]
    value: float

    def to_json(self) -> dict[str, Any]:
        """As results.json holds it."""
        return {"system": self.system, "source": self.source, "by": self.by, "value": self.value}


def published_scores(suite: str) -> list[PublishedScore]:
    """Every published number for a suite, none when there is none."""
    return [score for score in _scores() if score.suite == suite]


@cache
def _scores() -> tuple[PublishedScore, ...]:
    folder = resources.files("acidtest.data").joinpath("published")
    return tuple(
        PublishedScore(row["suite"], row["system"], row["source"], _slice(row["by"]), float(row["value"]))
        for file in sorted(folder.iterdir(), key=lambda file: file.name)
        if file.name.endswith(".tsv")
        for row in pl.read_csv(BytesIO(file.read_bytes()), separator="\t", infer_schema=False).iter_rows(named=True)
    )


def _slice(text: str | None) -> dict[str, str]:
    """``heuristic=constituent&label=entailment`` as a mapping."""
    return dict(part.split("=", 1) for part in (text or "").split("&") if part)
