"""How far people agree on labels, how often their labels are gold, and what bounds that from below."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.estimate import Estimate
from acidtest.core.ratings import MAJORITY, UNANIMOUS, VOTES, Ratings, majority_labels, ordered_labels
from acidtest.io.published import published_of_people
from acidtest.stats.agreement import NO_ROWS, label_kappas
from acidtest.stats.annotators import accepted, are_accepted
from acidtest.stats.intervals import rate
from acidtest.text.heuristics import HEURISTICS

Flags = npt.NDArray[np.bool_]

_MOST_LEFT_OUT = 0.05
"""Leaving so many rows of two labels out changes a share of three by less than two points."""


@dataclass(frozen=True)
class LabelAgreement:
    """One label: how often people gave it, rows whose gold it is, and its kappa on all rows and on those with gold."""

    given: int
    gold: int
    kappa: Estimate
    kappa_with_gold: Estimate


@dataclass(frozen=True)
class HumanBasis:
    """The rows that human performance rests on, and how many were left out.

    ``few_labels`` counts rows with gold and one label, or two where gold is their vote. ``floor`` is the lowest value
    there can be where gold is the majority of the same labels, None where it is another gold.
    """

    rows: int
    without_gold: int
    few_labels: int
    floor: float | None = field(default=None, metadata={"json": "lowest_possible"})


@dataclass(frozen=True)
class AccuracySlice:
    """How often judgements are right on the rows of one value of a factor; both are None for all rows.

    People are the groups of the interval. ``published`` is what people of a paper reach on such rows, by who they are.
    """

    factor: str | None
    value: str | None
    accuracy: Estimate
    published: Mapping[str, float] = field(default_factory=dict)


def agreement_by_label(ratings: Ratings) -> dict[str, LabelAgreement]:
    """Each label that somebody gave or that is gold."""
    counts, groups, has_gold = ratings.counts, ratings.groups, ratings.gold.is_not_null().to_numpy()
    golds = Counter(ratings.gold.drop_nulls().to_list())
    kappas = label_kappas(counts, groups=groups)
    kappas_with_gold = label_kappas(counts[has_gold], groups=chosen_groups(groups, has_gold))
    labels = {
        name: LabelAgreement(int(counts[:, column].sum()), golds[name], kappas[column], kappas_with_gold[column])
        for column, name in enumerate(ratings.labels)
    }
    none = Estimate(math.nan, note="nobody gave this label")
    labels |= {name: LabelAgreement(0, golds[name], none, none) for name in golds if name not in labels}
    return {name: labels[name] for name in ordered_labels(list(labels))}


def observed_agreement(counts: npt.ArrayLike, *, groups: npt.ArrayLike | None = None, draws_seed: int = 0) -> Estimate:
    """Share of the pairs of labels within a row that are the same, a mean over rows with two labels or more."""
    table = np.asarray(counts, dtype=np.float64)
    labels_of_row = table.sum(axis=1)
    rated = labels_of_row >= 2
    if not rated.any():
        return Estimate(math.nan, note=NO_ROWS)
    agreeing = (table * (table - 1)).sum(axis=1)[rated] / (labels_of_row * (labels_of_row - 1))[rated]
    return rate(agreeing, groups=chosen_groups(groups, rated), draws_seed=draws_seed)


def human_performance(ratings: Ratings, *, draws_seed: int = 0) -> Estimate:
    """Share of a row's labels that are its gold, a mean over rows with gold.

    As in Gong, Luo and Zhang (2018), whom Glockner et al. (2018) follow. Rows with one label are left out. A gold set
    such as non-entailment accepts all of its labels. Where gold is the vote of the same labels, rows with two are left
    out as well, since these are both right or have no gold; where they are more than 5 % there is no number, since the
    rows that are left were often given a third label because the first two disagree.
    """
    if ratings.gold_from == UNANIMOUS:
        return Estimate(math.nan, note="gold is what everybody said, so that everybody is right")
    labels_of_row = ratings.counts.sum(axis=1)
    twos, rated = int((labels_of_row == 2).sum()), int((labels_of_row >= 2).sum())
    if ratings.gold_from in VOTES and twos > _MOST_LEFT_OUT * rated:
        which = "all rows have" if twos == rated else f"{twos:,} of {rated:,} rows have"
        note = f"gold is the vote of the same labels, and {which} two; name gold from elsewhere with --gold"
        return Estimate(math.nan, note=note)
    used = _rows_with_gold_and_labels(ratings)
    if not used.any():
        return Estimate(math.nan, note="no row with gold and two labels or more")
    right = (ratings.counts * accepted(ratings.labels, ratings.gold)).sum(axis=1)[used] / labels_of_row[used]
    return rate(right, groups=chosen_groups(ratings.groups, used), draws_seed=draws_seed)


def human_basis(ratings: Ratings) -> HumanBasis:
    """Which rows human performance rests on, and its floor where people are compared with their own majority.

    Of m labels more than half are then right whatever people do: two of three, three of five.
    """
    used, labels_of_row = _rows_with_gold_and_labels(ratings), ratings.counts.sum(axis=1)
    has_gold = ratings.gold.is_not_null().to_numpy()
    majority = majority_labels(ratings.counts, ratings.labels)
    is_vote = ratings.gold_from == MAJORITY or bool((ratings.gold == majority).fill_null(False).to_numpy()[used].all())
    floor = float(np.mean((labels_of_row[used] // 2 + 1) / labels_of_row[used])) if is_vote and used.any() else None
    without_gold = int((~has_gold).sum()) - ratings.unasked
    return HumanBasis(int(used.sum()), without_gold, int((has_gold & ~used).sum()), floor)


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
    given = said.drop_nulls("label")
    given = given.filter(gold.is_not_null().gather(given["row"]))
    rows = given["row"].to_numpy()
    right = are_accepted(given, labels, gold).astype(np.float64)
    people = given["annotator"].fill_null("").rank("dense").to_numpy()
    slices = []
    columns: list[tuple[str | None, pl.Series | None]] = [(None, None), ("label", gold), *factors.to_dict().items()]
    for factor, column in columns:
        values = pl.Series([""] * len(rows)) if column is None else column.gather(rows).cast(pl.String)
        for value in sorted(values.drop_nulls().unique(), key=lambda name: ((*HEURISTICS, name).index(name), name)):
            chosen = (values == value).fill_null(False).to_numpy()
            accuracy = rate(right[chosen], groups=people[chosen], draws_seed=draws_seed)
            published = published_of_people(suite, {factor: value} if factor else {})
            slices.append(AccuracySlice(factor, value or None, accuracy, published))
    return tuple(slices)


def chosen_groups(groups: npt.ArrayLike | None, rows: Flags) -> npt.NDArray[Any] | None:
    """The groups of some rows; None where every row is a group."""
    return None if groups is None else np.asarray(groups)[rows]


def _rows_with_gold_and_labels(ratings: Ratings) -> Flags:
    """The rows that human performance rests on: those with gold and enough labels."""
    fewest = 3 if ratings.gold_from in VOTES else 2
    return np.asarray(ratings.gold.is_not_null().to_numpy() & (ratings.counts.sum(axis=1) >= fewest))
