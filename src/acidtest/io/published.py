"""The numbers that papers report, as data, to be shown beside a user's numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import resources
from io import BytesIO
from typing import TypeVar

import polars as pl

from acidtest.core.document import Published
from acidtest.core.suite import CROSS, Card
from acidtest.io.wordlists import packaged_table

K = TypeVar("K")

MAIN = ""
"""The condition of a paper's main results."""

PEOPLE = "people"
"""The condition under which the answers were given by people."""

CORPUS = "corpus"
"""The key in a slice that names the pairs a suite was made from, where a paper gives numbers for several.

On the card of a suite, the argument that names the published corpus it was made from.
"""

FROM = "from"
"""The argument on the card of a suite with the name of the pairs it was made from."""

MATCHED, MISMATCHED = "MultiNLI matched", "MultiNLI mismatched"

ERROR = "error"
"""The key in a slice that marks a number as the share of one kind of error among all errors."""

NOT_ACCURACIES = frozenset({ERROR, "judged", "pairs"})
"""Keys in a slice that mark shares of errors, judgements of the pairs themselves, and counts of words."""

FILE = "file"
"""The argument on the card of a recognised suite that names its file; a generated suite has none."""

ROWS, FILE_ROWS = "rows", "file rows"
"""Conditions on the number of pairs of a suite, or of a recognised published file, instead of on an option."""

CONFIRMED = "confirmed"
"""The share of pairs whose label more than half of the people give."""


@dataclass(frozen=True)
class PublishedScore:
    """One number of a paper: the system, the source, and the slice (factor → value; empty for the whole suite).

    ``condition`` says what was done to the system, or that it is people; empty for a system trained as usual. Where
    the value was corrected, ``printed`` is what the paper prints, and ``note`` says where the value comes from.
    ``differs`` lists differences between what the paper asked and what was asked here.
    """

    system: str
    source: str
    by: Mapping[str, str]
    value: float
    condition: str = MAIN
    printed: float | None = field(default=None, metadata={"optional": True})
    note: str = field(default="", metadata={"json": "correction", "optional": True})
    differs: tuple[str, ...] = field(default=(), metadata={"optional": True})
    suite: str = field(default="", metadata={"json": None})

    @property
    def cell(self) -> Published:
        """The number as a cell of a table."""
        if self.printed is None:
            return Published(self.value)
        return Published(self.printed, corrected=self.value, note=self.note)


@dataclass(frozen=True)
class PublishedSystems:
    """Numbers of papers by system and slice (values joined as in ``by``; empty for the whole suite).

    ``notes`` say how they differ from the numbers beside them, and which of them were corrected.
    """

    systems: Mapping[str, Mapping[str, Published]]
    sources: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Condition:
    """What must be true of a suite for its published numbers to be comparable, and the note if it is not.

    It applies to numbers that are broken down by all factors in ``slice``. With an empty ``option`` it is never met.
    ``assumed`` is the value of an option that is not on the card, empty if unknown. If ``hides`` is true and it is not
    met, the numbers are not shown at all.
    """

    suite: str
    slice: frozenset[str]
    option: str
    assumed: str
    same: str
    hides: bool
    note: str

    def value(self, card: Card) -> str:
        """The value of the option on the suite's card; empty for ``FILE_ROWS`` if the suite is not a file."""
        if self.option == FILE_ROWS:
            return str(card.rows) if FILE in card.arguments else ""
        return str(card.rows if self.option == ROWS else card.arguments.get(self.option, self.assumed))

    def is_met(self, card: Card) -> bool:
        """Whether the suite is like the published one; true if its card has no arguments or no value."""
        if not self.option:
            return False
        if self.option == FROM:
            # A name proves nothing: the corpus was identified by its content when the suite was made.
            unknown = not card.arguments.get(FROM)
            return unknown or re.search(self.same, made_from(card)) is not None
        value = self.value(card)
        was_made = bool(card.arguments) or self.option == ROWS
        return not (was_made and value) or re.search(self.same, value, re.IGNORECASE) is not None


def made_from(card: Card) -> str:
    """The published corpus that a suite was made from, as it was identified by content; empty for any other."""
    return str(card.arguments.get(CORPUS, ""))


def published_scores(suite: str) -> list[PublishedScore]:
    """All published numbers for a suite.

    The part of the suite's name after a colon, as in ``hans:words=fresh``, is ignored. Numbers about other
    data, such as the accuracy on MNLI of the systems in a table, have that data's name, ``mnli``.
    """
    name = suite.partition(":")[0]
    return [score for score in _scores() if score.suite == name]


def published_of_people(suite: str, by: Mapping[str, str]) -> dict[str, float]:
    """The published accuracies of people on a slice of a suite, by the paper's name for the people."""
    return {score.system: score.value for score in _people_scores(suite, by)}


def published_share(suite: str, name: str) -> tuple[float | None, str]:
    """The published share of pairs that people judged ``name``, and the source; None if nothing is published."""
    scores = _people_scores(suite, {} if name == CONFIRMED else {"judged": name})
    return (scores[0].value, scores[0].source) if scores else (None, "")


def _people_scores(suite: str, by: Mapping[str, str]) -> list[PublishedScore]:
    return [score for score in published_scores(suite) if score.condition == PEOPLE and score.by == by]


def published_beside(card: Card) -> list[PublishedScore]:
    """The published numbers of a suite, with the differences between what the paper asked and what was asked here.

    Empty where the suite was made with options under which no published system was tested.
    """
    if any(condition.hides for condition in _unmet(card)):
        return []
    return [
        replace(
            score,
            differs=tuple(published_differences(card, score.by)),
            note=score.note if score.printed is not None else "",
        )
        for score in published_scores(card.name)
    ]


def scores_beside(scores: Iterable[PublishedScore], corpus: str) -> list[PublishedScore]:
    """Published numbers in the form in which they are shown beside a suite made from a corpus.

    Of the numbers given for both development sets of MultiNLI, those of the set that the corpus is (``mnli-matched`` or
    ``mnli-mismatched``; the matched set's for any other) are main results and their source says so; the others'
    condition names their set.
    """
    nearest = MISMATCHED if corpus == "mnli-mismatched" else MATCHED
    chosen = []
    for score in scores:
        given = score.by.get(CORPUS)
        by = {name: value for name, value in score.by.items() if name != CORPUS}
        if given is None:
            chosen.append(score)
        elif given == nearest:
            chosen.append(replace(score, by=by, source=f"{score.source}, {given}"))
        else:
            condition = ", ".join(filter(None, (score.condition, f"on {given}")))
            chosen.append(replace(score, by=by, condition=condition))
    return chosen


def published_accuracies(scores: Iterable[PublishedScore]) -> list[PublishedScore]:
    """The numbers that say how often answers are right; others are shares of errors, or judgements of the pairs."""
    return [score for score in scores if not NOT_ACCURACIES & set(score.by)]


def other_conditions(scores: Iterable[PublishedScore]) -> list[str]:
    """The conditions that are neither a paper's main results nor people, in order of appearance."""
    return [name for name in dict.fromkeys(score.condition for score in scores) if name not in (MAIN, PEOPLE)]


def published_systems(
    scores: Iterable[PublishedScore], factors: Sequence[str], condition: str = MAIN
) -> PublishedSystems:
    """The published numbers for the slices of some factors under a condition.

    If a system has two numbers for one slice, the second is listed under its name with its source.
    """
    systems: dict[str, dict[str, Published]] = {}
    sources: dict[str, None] = {}
    notes: dict[str, None] = {}
    for score in scores:
        if score.condition != condition or set(score.by) != set(factors):
            continue
        key = CROSS.join(score.by[name] for name in factors)
        system = score.system
        if key in systems.get(system, {}):
            system = f"{system} ({score.source})"
        systems.setdefault(system, {})[key] = score.cell
        sources[score.source] = None
        notes |= dict.fromkeys(score.differs)
        if score.printed is not None:
            notes[f"{', '.join(filter(None, (system, key)))}: {score.note}"] = None
    return PublishedSystems(systems, tuple(sources), tuple(notes))


def values_by_system(scores: Iterable[PublishedScore], key: Callable[[PublishedScore], K]) -> dict[str, dict[K, float]]:
    """Published values by system and a key of the score; of two scores with the same key the later counts."""
    values: dict[str, dict[K, float]] = {}
    for score in scores:
        values.setdefault(score.system, {})[key(score)] = score.value
    return values


def people_name(system: str) -> str:
    """The name under which the numbers of people are shown."""
    return system if system.lower() in ("people", "humans") else f"people: {system}"


def published_differences(card: Card, slices: Collection[str] = ()) -> list[str]:
    """How published numbers, broken down by some factors, differ from those of a suite; empty where they do not."""
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
        _Condition(**{**row, "slice": frozenset(row["slice"].split("&")) - {""}, "hides": row["hides"] == "yes"})
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
            by=dict(part.split("=", 1) for part in (row["by"] or "").split("&") if part),
            value=float(row["value"]),
            printed=float(row["printed"]) if row.get("printed") else None,
            note=row.get("note") or "",
        )
        for file in sorted(folder.iterdir(), key=lambda file: file.name)
        if file.name.endswith(".tsv")
        for row in pl.read_csv(BytesIO(file.read_bytes()), separator="\t", infer_schema=False).iter_rows(named=True)
    )
