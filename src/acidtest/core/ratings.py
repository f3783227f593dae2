"""Labels and categories that people gave, who gave them, how long they took and whose answers count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.estimate import Estimate
from acidtest.core.labels import GOLD_MASKS, LABELS

MAJORITY, UNANIMOUS = "majority", "unanimous"
VOTES = (MAJORITY, "plurality", UNANIMOUS)
"""The rules that derive gold from a row's labels when no column holds it."""

ALL, KEPT, DISCARDED = "all", "kept", "discarded"

LabelCounts = npt.NDArray[np.int64]
"""Rows × labels: how many people gave a row a label."""


@dataclass(frozen=True)
class Times:
    """Seconds that judgements took: how many were timed, the median, the lower and upper quartile, and the sum."""

    n: int
    median: float
    quartiles: tuple[float, float]
    total: float


@dataclass(frozen=True)
class CheckCounts:
    """How many attention checks a person was asked, and how many of them went wrong."""

    asked: int
    failed: int


@dataclass(frozen=True)
class PeoplePace:
    """How many people were timed, and the mean of their mean seconds on an item, attention checks not counted."""

    people: int
    seconds: float = field(metadata={"json": "mean_seconds"})


@dataclass(frozen=True)
class Headcount:
    """How many people there are, and how many of them were discarded."""

    all: int = 0
    discarded: int = 0


@dataclass(frozen=True)
class Attendance:
    """What is known of the people besides their labels: times, attention checks, who was excluded."""

    seconds: Times | None = None
    by_person: Mapping[str, Times] = field(default_factory=dict, metadata={"json": "seconds_by_annotator"})
    controls: Mapping[str, CheckCounts] = field(default_factory=dict)
    excluded: tuple[str, ...] = ()
    """People whose answers are marked to be left out."""
    left_out: int = 0
    """Rows of answers that are left out: of excluded people and of attention checks."""
    people: Headcount = Headcount()
    paces: Mapping[str, PeoplePace] = field(default_factory=dict, metadata={"json": "pace"})
    """The paces of all, of kept and of discarded people: the keys ``ALL``, ``KEPT`` and ``DISCARDED``."""


@dataclass(frozen=True)
class ItemShare:
    """The share of pairs that most people, at least two of three, confirm to have some property.

    ``suite`` is the suite of the pairs, empty where it is unknown; ``left_out`` counts pairs that fewer than two people
    judged. ``published`` is the share in a paper, ``source`` the place in that paper.
    """

    suite: str | None
    name: str
    share: Estimate
    left_out: int
    published: float | None = None
    source: str | None = None


@dataclass(frozen=True)
class Ratings:
    """How many people gave each row each label, with the gold of the rows (null: none) and their groups."""

    name: str
    labels: tuple[str, ...]
    counts: LabelCounts
    gold: pl.Series
    gold_from: str = MAJORITY
    """The column that holds gold, or one of ``VOTES`` where gold comes from the labels themselves."""
    groups: npt.NDArray[np.int64] | None = None
    """A code for the source sentence of each row; None: every row is a group."""
    corpus: str = ""
    """The published corpus that this is, or is part of."""
    signature: str = ""
    said: pl.DataFrame | None = None
    """Individual answers, where the file has them: row, annotator (null: unknown), label and categories (a list)."""
    categories: tuple[str, ...] = ()
    """The categories that people could mark."""
    reference: pl.Series | None = None
    """Gold of the rows that does not come from these people; its source is ``reference_from``."""
    reference_from: str = ""
    attendance: Attendance | None = None
    unasked: int = 0
    """Rows for which nobody was asked for a label."""
    factors: pl.DataFrame | None = None
    """Columns of the rows by which a paper breaks down accuracy."""
    questionnaire: str = ""
    """The questionnaire whose rules turned answers into labels; empty where the file holds labels."""
    discarded: Mapping[str, int] = field(default_factory=dict)
    """Items that the questionnaire discards, by reason; they are not among the rows."""
    shares: tuple[ItemShare, ...] = ()
    """Shares of items that most people confirm, where the questionnaire defines some."""
    items: pl.DataFrame | None = None
    """The items with gold, votes and why they were discarded, as a table for other programs."""


def label_counts(said: pl.DataFrame, labels: Sequence[str], *, rows: int) -> LabelCounts:
    """How often each label was given to each row; ``said`` has the columns row (below ``rows``) and label."""
    codes = {label: code for code, label in enumerate(labels)}
    counts = np.zeros((rows, len(labels)), dtype=np.int64)
    if not said.height:
        return counts
    columns = said["label"].replace_strict(codes, return_dtype=pl.Int64).to_numpy()
    np.add.at(counts, (said["row"].to_numpy(), columns), 1)
    return counts


def majority_labels(counts: npt.ArrayLike, labels: Sequence[str]) -> pl.Series:
    """The label that makes up more than half of a row's labels, null where there is none."""
    table = np.asarray(counts, dtype=np.int64)
    if not labels:
        return pl.Series("gold", [None] * len(table), dtype=pl.String)
    wins = 2 * table > table.sum(axis=1, keepdims=True)
    names = [labels[column] if decided else None for column, decided in zip(wins.argmax(1), wins.any(1), strict=True)]
    return pl.Series("gold", names, dtype=pl.String)


def ordered_labels(labels: Sequence[str]) -> list[str]:
    """Labels in the order they are shown: those of NLI first, others by name."""
    known = [*LABELS, *(name for name in GOLD_MASKS if name not in LABELS)]
    return sorted(set(labels), key=lambda name: (known.index(name) if name in known else len(known), name))


def summarise_times(seconds: pl.Series) -> Times | None:
    """The number, median, quartiles and sum of seconds without nulls; None where there are none."""
    known = seconds.drop_nulls().cast(pl.Float64)
    if not len(known):
        return None
    low, median, high = (float(quartile) for quartile in np.quantile(known.to_numpy(), [0.25, 0.5, 0.75]))
    return Times(len(known), median, (low, high), float(known.sum()))
