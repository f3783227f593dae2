"""What the papers report, as data, to stand beside a user's own numbers."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from io import BytesIO
from typing import Any

import polars as pl

from acidtest.core.suite import Card
from acidtest.io.published_sets import FILE
from acidtest.io.wordlists import packaged_table

CORPUS = "corpus"
"""What says in a slice which pairs a suite was made from, where a paper gives numbers for several."""

MATCHED, MISMATCHED = "MultiNLI matched", "MultiNLI mismatched"

ERROR = "error"
"""What marks a number as the share of one kind of error among all errors."""

NOT_ACCURACIES = frozenset({ERROR, "judged", "pairs"})
"""Slices that mark shares of errors (by kind, by cause), judgements of the pairs themselves, and counts of words."""


ROWS, FILE_ROWS = "rows", "file rows"
"""Options of conditions that are none of a suite's own: how many pairs it has, or a recognised published file has."""


PEOPLE = "people"
"""The condition of numbers that are people's, and not a system's."""

CONFIRMED = "confirmed"
"""The share of pairs whose label more than half of the people give."""


@dataclass(frozen=True)
class PublishedScore:
    """One number of a paper: whose, where it stands, which slice (factor → value; empty for the whole suite).

    ``condition`` says what was done to the system, or that it is people; empty for a system trained as usual. Where the
    value was corrected, ``printed`` is what the paper prints, and ``note`` says where the value comes from.
    """

    suite: str
    system: str
    source: str
    condition: str
    by: dict[str, str]
    value: float
    printed: float | None = None
    note: str = ""

    def to_json(self) -> dict[str, Any]:
        """As results.json holds it."""
        entry = {name: getattr(self, name) for name in ("system", "source", "condition", "by", "value")}
        return entry if self.printed is None else entry | {"printed": self.printed, "correction": self.note}


@dataclass(frozen=True)
class _Condition:
    """What must hold of a suite for its published numbers to be about the same thing, and what is said otherwise.

    ``slice`` names factors: only numbers that are broken down by all of them are meant. An empty ``option`` is never
    met. ``assumed`` is the value of an option that the card does not have, empty where nothing can be assumed. Where it
    ``hides``, the numbers are not shown at all.
    """

    suite: str
    slice: frozenset[str]
    option: str
    assumed: str
    same: str
    hides: bool
    note: str

    def value(self, card: Card) -> str:
        """What the suite's card says; nothing of the rows of a file where it is none."""
        if self.option == FILE_ROWS:
            return str(card.rows) if FILE in card.arguments else ""
        return str(card.rows if self.option == ROWS else card.arguments.get(self.option, self.assumed))

    def is_met(self, card: Card) -> bool:
        """Whether the suite is as the published one was, as far as its card says; a published file has no arguments."""
        if not self.option:
            return False
        value = self.value(card)
        was_made = bool(card.arguments) or self.option == ROWS
        return not (was_made and value) or re.search(self.same, value, re.IGNORECASE) is not None


def published_scores(suite: str) -> list[PublishedScore]:
    """Every published number for a suite, none when there is none.

    What follows a colon in the suite's name, as in ``hans:words=fresh``, makes no difference: the numbers are there to
    be compared with. Numbers about other data, such as the accuracy on MNLI of the systems in a table, have that
    data's name, ``mnli``.
    """
    name = suite.partition(":")[0]
    return [score for score in _scores() if score.suite == name]


def published_of_people(suite: str, by: Mapping[str, str]) -> dict[str, float]:
    """What people of a paper reach on a slice of a suite, by who they are."""
    return {score.system: score.value for score in _people_scores(suite, by)}


def published_share(suite: str, name: str) -> tuple[float | None, str]:
    """What a paper's people said of a suite's pairs, and where that stands; None where there is nothing."""
    scores = _people_scores(suite, {} if name == CONFIRMED else {"judged": name})
    return (scores[0].value, scores[0].source) if scores else (None, "")


def _people_scores(suite: str, by: Mapping[str, str]) -> list[PublishedScore]:
    return [score for score in published_scores(suite) if score.condition == PEOPLE and score.by == by]


def published_beside(card: Card) -> list[dict[str, Any]]:
    """The published numbers of a suite as results.json holds them, each with how it differs from what was asked here.

    None where the suite was made with options that no published system was asked with.
    """
    unmet = _unmet(card)
    if any(condition.hides for condition in unmet):
        return []
    entries = []
    for score in published_scores(card.name):
        differences = published_differences(card, score.by)
        entries.append(score.to_json() | ({"differs": differences} if differences else {}))
    return entries


def published_differences(card: Card, slices: Collection[str] = ()) -> list[str]:
    """How published numbers, broken down by some factors, differ from those of a suite; nothing where they do not."""
    return _notes((condition for condition in _unmet(card) if condition.slice <= set(slices)), card)


def published_notes(card: Card) -> list[str]:
    """What to know of a suite's published numbers as a whole, or why there are none."""
    if not published_scores(card.name):
        return []
    unmet = _unmet(card)
    shown = [condition for condition in unmet if condition.hides] or [
        condition for condition in unmet if not condition.slice
    ]
    return _notes(shown, card)


def _notes(conditions: Iterable[_Condition], card: Card) -> list[str]:
    return list(dict.fromkeys(condition.note.replace("{value}", condition.value(card)) for condition in conditions))


def _unmet(card: Card) -> list[_Condition]:
    name = card.name.partition(":")[0]
    return [condition for condition in _conditions() if condition.suite == name and not condition.is_met(card)]


@cache
def _conditions() -> tuple[_Condition, ...]:
    return tuple(
        _Condition(
            suite=row["suite"],
            slice=frozenset(row["slice"].split("&")) - {""},
            option=row["option"],
            assumed=row["assumed"],
            same=row["same"],
            hides=row["hides"] == "yes",
            note=row["note"],
        )
        for row in packaged_table("published_conditions.tsv").iter_rows(named=True)
    )


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
            printed=float(row["printed"]) if row.get("printed") else None,
            note=row.get("note") or "",
        )
        for file in sorted(folder.iterdir(), key=lambda file: file.name)
        if file.name.endswith(".tsv")
        for row in pl.read_csv(BytesIO(file.read_bytes()), separator="\t", infer_schema=False).iter_rows(named=True)
    )


def _slice(text: str | None) -> dict[str, str]:
    """``heuristic=constituent&label=entailment`` as a mapping."""
    return dict(part.split("=", 1) for part in (text or "").split("&") if part)
