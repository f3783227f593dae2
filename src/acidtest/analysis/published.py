"""What the papers report, as data, to stand beside a user's own numbers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources
from io import BytesIO
from typing import Any

import polars as pl

from acidtest.core.suite import Argument, Card
from acidtest.sources.published_sets import FILE

CORPUS = "corpus"
"""What says in a slice which pairs a suite was made from, where a paper gives numbers for several."""

MATCHED, MISMATCHED = "MultiNLI matched", "MultiNLI mismatched"

ERROR = "error"
"""What marks a number as the share of one kind of error among all errors."""

NOT_ACCURACIES = frozenset({ERROR, "judged", "pairs"})
"""Slices that mark shares of errors (by kind, by cause), judgements of the pairs themselves, and counts of words."""


@dataclass(frozen=True)
class PublishedScore:
    """One number of a paper: whose, where it stands, which slice (factor → value; empty for the whole suite).

    ``condition`` says what was done to the system, or that it is people; empty for a system trained as usual.
    """

    suite: str
    system: str
    source: str
    condition: str
    by: dict[str, str]
    value: float

    def to_json(self) -> dict[str, Any]:
        """As results.json holds it."""
        return {name: getattr(self, name) for name in ("system", "source", "condition", "by", "value")}


def published_scores(suite: str) -> list[PublishedScore]:
    """Every published number for a suite, none when there is none.

    What follows a colon in the suite's name, as in ``hans:words=fresh``, makes no difference: the numbers are there to
    be compared with. Numbers about other data, such as the accuracy on MNLI of the systems in a table, have that
    data's name, ``mnli``.
    """
    name = suite.partition(":")[0]
    return [score for score in _scores() if score.suite == name]


def asked_otherwise(card: Card) -> bool:
    """Whether a suite was made with options that no published system was asked with."""
    paper = _PAPER_OPTIONS.get(card.name.partition(":")[0], {})
    return any(card.arguments.get(option, value) != value for option, value in paper.items())


def other_pairs(card: Card) -> str:
    """Which pairs the published systems were asked, where these are others; nothing where they are the same."""
    name = card.name.partition(":")[0]
    if card.arguments.get("set") == "training":
        return "these are pairs of the published training set; the published systems were asked its evaluation set"
    if name in _WHOLE_SETS and (name != "hans" or FILE in card.arguments) and card.rows < _WHOLE_SETS[name]:
        return f"the published systems were asked the whole published set, {_WHOLE_SETS[name]:,} pairs"
    count, which = _PAPER_PAIRS.get(name, (card.rows, ""))
    return f"the published systems were asked {count:,} pairs, {which}" if count != card.rows else ""


_PAPER_PAIRS = {"taxinli": (7_727, "those of TaxiNLI that are in MultiNLI's development sets")}
"""How many pairs a suite's published systems were asked, and which, where that is not the whole published set."""

_WHOLE_SETS = {"hans": 30_000, "breaking-nli": 8_193}
"""How many pairs a published file has; a generated HANS is as large as its user wants."""

_ONCE_AT_THE_END: dict[str, Argument] = {"repetitions": 1, "place": "end", "side": "hypothesis"}
_PAPER_OPTIONS: dict[str, dict[str, Argument]] = {
    "stress/word-overlap": {"tautology": "true", **_ONCE_AT_THE_END},
    "stress/negation": {"tautology": "false", **_ONCE_AT_THE_END},
    "stress/length-mismatch": {"tautology": "true", "repetitions": 5, "place": "end", "side": "premise"},
    "stress/spelling": {"edits": 1, "nonwords": False},
}


@cache
def _scores() -> tuple[PublishedScore, ...]:
    folder = resources.files("acidtest.data").joinpath("published")
    return tuple(
        PublishedScore(
            suite=row["suite"],
            system=row["system"],
            source=row["source"],
            condition=row["condition"] or "",
            by=_slice(row["by"]),
            value=float(row["value"]),
        )
        for file in sorted(folder.iterdir(), key=lambda file: file.name)
        if file.name.endswith(".tsv")
        for row in pl.read_csv(BytesIO(file.read_bytes()), separator="\t", infer_schema=False).iter_rows(named=True)
    )


def _slice(text: str | None) -> dict[str, str]:
    """``heuristic=constituent&label=entailment`` as a mapping."""
    return dict(part.split("=", 1) for part in (text or "").split("&") if part)
