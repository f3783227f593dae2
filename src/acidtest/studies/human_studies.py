"""What papers report of people who judged generated pairs: accuracy by slice, and shares of pairs that most confirm."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.estimate import Estimate
from acidtest.io.published import published_scores
from acidtest.stats.annotators import accepted
from acidtest.stats.intervals import rate

PUBLISHED = "human study"
"""Under which what papers tell of people besides accuracy stands among published numbers."""

HANS = "HANS"
HANS_FACTORS = ("heuristic",)
"""By which McCoy et al. (2019) tell their results apart, besides by label."""
_HEURISTICS = ("lexical_overlap", "subsequence", "constituent")

CONFIRMED = "confirmed"
"""The share of pairs whose label more than half of the people give."""

_PEOPLE = "people"


@dataclass(frozen=True)
class AccuracySlice:
    """How often people are right on the rows of one value of a factor; the factor is empty for all rows."""

    factor: str
    value: str
    accuracy: Estimate
    """Share of judgements; people are the groups of its interval."""
    published: Mapping[str, float] = field(default_factory=dict)
    """What people of a paper reach on such rows, by who they are."""

    def to_json(self) -> dict[str, Any]:
        """As --json prints it."""
        named = {"factor": self.factor or None, "value": self.value or None}
        return {**named, "accuracy": self.accuracy.to_json(), "published": dict(self.published)}


@dataclass(frozen=True)
class ItemShare:
    """The share of pairs of which more than half of the people say something, at least two of three."""

    suite: str
    """The suite that the pairs are of; empty where nobody knows."""
    name: str
    share: Estimate
    left_out: int
    """Pairs that fewer than two people judged."""
    published: float | None = None
    source: str = ""

    def to_json(self) -> dict[str, Any]:
        """As --json prints it."""
        beside = {"published": self.published, "source": self.source or None}
        return {"suite": self.suite or None, "name": self.name, "share": self.share.to_json(), **beside} | {
            "left_out": self.left_out
        }


def is_hans(heuristics: pl.Series) -> bool:
    """Whether a column of items holds HANS's heuristics."""
    found = set(heuristics.drop_nulls().unique())
    return bool(found) and found <= set(_HEURISTICS)


def accuracy_slices(
    said: pl.DataFrame,
    labels: Sequence[str],
    gold: pl.Series,
    *,
    factors: pl.DataFrame,
    suite: str,
    draws_seed: int = 0,
) -> tuple[AccuracySlice, ...]:
    """How often judgements are gold: on all rows, by gold and by each column of ``factors``, which has a row for each.

    ``said`` has row, annotator and label. Judgements of one person are one group.
    """
    told = said.drop_nulls("label").filter(gold.is_not_null().gather(said.drop_nulls("label")["row"]))
    rows = told["row"].to_numpy()
    codes = told["label"].replace_strict({label: code for code, label in enumerate(labels)}, return_dtype=pl.Int64)
    right = accepted(labels, gold)[rows, codes.to_numpy()].astype(np.float64)
    people = told["annotator"].fill_null("").rank("dense").to_numpy()
    found = list[AccuracySlice]()
    for factor, column in {"": None, "label": gold, **factors.to_dict()}.items():
        values = pl.Series([""] * len(rows)) if column is None else column.gather(rows).cast(pl.String)
        for value in sorted(values.drop_nulls().unique(), key=lambda name: ((*_HEURISTICS, name).index(name), name)):
            chosen = (values == value).fill_null(False).to_numpy()
            accuracy = rate(right[chosen], groups=people[chosen], draws_seed=draws_seed)
            found.append(AccuracySlice(factor, value, accuracy, _of_people(suite, {factor: value} if factor else {})))
    return tuple(found)


def majority_share(
    holds: npt.NDArray[np.bool_],
    rows: npt.NDArray[np.int64],
    *,
    groups: npt.NDArray[np.int64] | None = None,
    draws_seed: int = 0,
) -> tuple[Estimate, int]:
    """Share of rows of which more than half of the judgements hold, and how many rows have fewer than two.

    ``rows`` has the row that each judgement is of, ``groups`` a code for each row.
    """
    numbers, of_row = np.unique(rows, return_inverse=True)
    people, yes = np.bincount(of_row), np.bincount(of_row, holds)
    used = people >= 2
    if not used.any():
        return Estimate(math.nan, note="no pair that two people judged"), int((~used).sum())
    own = None if groups is None else groups[numbers[used]]
    share = rate((2 * yes > people)[used].astype(np.float64), groups=own, draws_seed=draws_seed)
    return share, int((~used).sum())


def published_share(suite: str, name: str) -> tuple[float | None, str]:
    """What a paper's people said of a suite's pairs, and where that stands; None where there is nothing."""
    by = {} if name == CONFIRMED else {"judged": name}
    found = [score for score in published_scores(suite) if score.condition == _PEOPLE and score.by == by]
    return (found[0].value, found[0].source) if found else (None, "")


def _of_people(suite: str, by: dict[str, str]) -> dict[str, float]:
    scores = published_scores(suite)
    return {score.system: score.value for score in scores if score.condition == _PEOPLE and score.by == by}
