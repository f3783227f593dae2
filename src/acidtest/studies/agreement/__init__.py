"""Agreement between people who gave the same rows labels or categories, and how often their labels are right."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.estimate import Estimate, signature
from acidtest.core.ratings import (
    MAJORITY,
    UNANIMOUS,
    VOTES,
    Attendance,
    ItemShare,
    Ratings,
    majority_labels,
    ordered_labels,
)
from acidtest.core.study import study
from acidtest.io.published import CORPUS, PublishedScore, published_of_people, published_scores
from acidtest.pairs.heuristics import HEURISTICS
from acidtest.stats.agreement import NO_ROWS, cohen_kappa, fleiss_kappa, krippendorff_alpha, label_kappas
from acidtest.stats.annotators import InferenceAccuracy, accepted, are_accepted, inference_accuracy
from acidtest.stats.intervals import rate
from acidtest.studies.agreement.categories import CategoryAgreement, category_agreement, two_people

Flags = npt.NDArray[np.bool_]

SCHEMA = 1

LABELS_PUBLISHED, CATEGORIES_PUBLISHED, PEOPLE_PUBLISHED = "label agreement", "category agreement", "human study"
"""The names under which published numbers are stored: on labels, on categories, and on people kept or discarded."""

_MOST_LEFT_OUT = 0.05
"""Largest share of two-label rows to leave out: human performance then changes by less than two points."""


@dataclass(frozen=True)
class LabelAgreement:
    """Counts of one label as given and as gold, and its kappa on all rows and on the rows with gold."""

    given: int
    gold: int
    kappa: Estimate
    kappa_with_gold: Estimate


@dataclass(frozen=True)
class HumanBasis:
    """The number of rows that human performance is computed on, and of those left out.

    ``few_labels`` counts rows with gold but too few labels: fewer than two, or than three where gold is a vote of the
    same labels. ``floor`` is the lowest possible value where gold is the majority of the same labels, else None.
    """

    rows: int
    without_gold: int
    few_labels: int
    floor: float | None = field(default=None, metadata={"json": "lowest_possible"})


@dataclass(frozen=True)
class AccuracySlice:
    """Accuracy of judgements on the rows with one value of a factor; factor and value are None for all rows.

    The interval resamples people. ``published`` has the accuracy that a paper reports on such rows, by system.
    """

    factor: str | None
    value: str | None
    accuracy: Estimate
    published: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class AgreementResult:
    """Agreement on the rows of a file, with published numbers.

    ``rated`` rows have two labels or more; agreement is measured on these only. ``given`` counts the labels of all
    rows, ``unasked`` the rows for which nobody was asked for a label; ``labels_per_row`` is the lowest and the highest
    number of labels of a rated row. ``kappa_with_gold`` is on rows with gold only, as in papers, which leaves out rows
    without a majority. ``observed`` is the share of pairs of labels that agree, ``human`` the share of a row's labels
    that equal its gold. ``cohen`` is None unless there are exactly two people.
    """

    name: str
    rows: int
    rated: int
    given: int
    unasked: int = field(metadata={"json": "not_asked_for_a_label"})
    labels_per_row: tuple[int, int]
    with_gold: int
    gold_from: str
    kappa: Estimate
    kappa_with_gold: Estimate
    labels: Mapping[str, LabelAgreement]
    observed: Estimate = field(metadata={"json": "observed_agreement"})
    human: Estimate = field(metadata={"json": "human_performance"})
    human_basis: HumanBasis = field(metadata={"json": "human_performance_basis"})
    alpha: Estimate
    cohen: Estimate | None
    categories: CategoryAgreement | None
    accuracy: InferenceAccuracy | None = field(metadata={"json": "inference_accuracy"})
    slices: tuple[AccuracySlice, ...] = field(metadata={"json": "accuracy_by"})
    shares: tuple[ItemShare, ...]
    attendance: Attendance | None
    questionnaire: str | None
    discarded: Mapping[str, int]
    corpus: str | None
    published: tuple[PublishedScore, ...]
    signature: str
    schema: int = SCHEMA
    items: pl.DataFrame | None = field(default=None, compare=False, metadata={"json": None})

    def published_value(self, statistic: str, label: str = "") -> float | None:
        """The published value of a statistic, for all labels or for one; None if there is none."""
        by = {CORPUS: self.corpus, "statistic": statistic} | ({"label": label} if label else {})
        return next((score.value for score in self.published if score.by == by), None)


@study(group="people")
def agreement(
    ratings: Annotated[Ratings, "Labels or categories that several people gave the same rows."],
    *,
    seed: Annotated[int, "Seed of every random choice."] = 0,
) -> AgreementResult:
    """Measure how far people agree: kappa and alpha of labels and categories, IOU, human performance.

    Recognised are annotator_labels (SNLI, MultiNLI, Breaking NLI), a column for each person (label1, label2 …), and a
    row for each person and item (item, annotator, label, categories). Without gold, the majority of a row's labels is
    its gold.
    """
    counts, groups = ratings.counts, ratings.groups
    has_gold = ratings.gold.is_not_null().to_numpy()
    labels_of_row = counts.sum(axis=1)
    rated = labels_of_row[labels_of_row >= 2]
    return AgreementResult(
        name=ratings.name,
        rows=len(counts),
        rated=len(rated),
        given=int(labels_of_row.sum()),
        unasked=ratings.unasked,
        labels_per_row=(int(rated.min()), int(rated.max())) if len(rated) else (0, 0),
        with_gold=int(has_gold.sum()),
        gold_from=ratings.gold_from,
        labels=_agreement_by_label(ratings, has_gold),
        kappa=fleiss_kappa(counts, groups=groups),
        kappa_with_gold=fleiss_kappa(counts[has_gold], groups=_chosen_groups(groups, has_gold)),
        observed=observed_agreement(counts, groups=groups, draws_seed=seed),
        human=human_performance(ratings, draws_seed=seed),
        human_basis=human_basis(ratings),
        alpha=krippendorff_alpha(counts, groups=groups),
        cohen=_cohen_kappa(ratings),
        categories=_category_agreement(ratings, seed),
        accuracy=_inference_accuracy(ratings, seed),
        slices=accuracy_slices(ratings, draws_seed=seed),
        shares=tuple(
            replace(share, suite=share.suite or None, source=share.source or None) for share in ratings.shares
        ),
        attendance=ratings.attendance,
        questionnaire=ratings.questionnaire or None,
        discarded=dict(ratings.discarded),
        corpus=ratings.corpus or None,
        published=_published_agreement(ratings.corpus),
        signature=signature(ratings.signature, f"seed:{seed}"),
        items=ratings.items,
    )


def observed_agreement(counts: npt.ArrayLike, *, groups: npt.ArrayLike | None = None, draws_seed: int = 0) -> Estimate:
    """Share of the pairs of labels within a row that agree, averaged over rows with two labels or more."""
    table = np.asarray(counts, dtype=np.float64)
    labels_of_row = table.sum(axis=1)
    rated = labels_of_row >= 2
    agreeing = (table * (table - 1)).sum(axis=1)[rated] / (labels_of_row * (labels_of_row - 1))[rated]
    return rate(agreeing, groups=_chosen_groups(groups, rated), draws_seed=draws_seed, empty=NO_ROWS)


def human_performance(ratings: Ratings, *, draws_seed: int = 0) -> Estimate:
    """Share of a row's labels that equal its gold, averaged over rows with gold.

    Defined as in Gong, Luo and Zhang (2018) and Glockner et al. (2018). Rows with one label are left out. A gold set
    such as non-entailment accepts all of its labels. Where gold is a vote of the same labels, rows with two labels are
    left out as well: both are right or there is no gold. If these are more than 5 %, the result is NaN, because the
    remaining rows often got their third label only because the first two disagreed.
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
    right = (ratings.counts * accepted(ratings.labels, ratings.gold)).sum(axis=1)[used] / labels_of_row[used]
    none = "no row with gold and two labels or more"
    return rate(right, groups=_chosen_groups(ratings.groups, used), draws_seed=draws_seed, empty=none)


def human_basis(ratings: Ratings) -> HumanBasis:
    """Count the rows that human performance is computed on, and compute its floor where gold is people's own majority.

    More than half of the labels of a row then equal gold by definition: two of three, three of five.
    """
    used, labels_of_row = _rows_with_gold_and_labels(ratings), ratings.counts.sum(axis=1)
    has_gold = ratings.gold.is_not_null().to_numpy()
    majority = majority_labels(ratings.counts, ratings.labels)
    is_vote = ratings.gold_from == MAJORITY or bool((ratings.gold == majority).fill_null(False).to_numpy()[used].all())
    floor = float(np.mean((labels_of_row[used] // 2 + 1) / labels_of_row[used])) if is_vote and used.any() else None
    without_gold = int((~has_gold).sum()) - ratings.unasked
    return HumanBasis(int(used.sum()), without_gold, int((has_gold & ~used).sum()), floor)


def accuracy_slices(ratings: Ratings, *, draws_seed: int = 0) -> tuple[AccuracySlice, ...]:
    """Accuracy of judgements against the reference labels, on all rows, by label and by each factor.

    The judgements of one person are one group. Empty where there is no reference.
    """
    said, gold, factors = ratings.said, ratings.reference, ratings.factors
    if said is None or gold is None or factors is None:
        return ()
    given = said.drop_nulls("label")
    given = given.filter(gold.is_not_null().gather(given["row"]))
    rows = given["row"].to_numpy()
    right = are_accepted(given, ratings.labels, gold).astype(np.float64)
    people = given["annotator"].fill_null("").rank("dense").to_numpy()
    slices = []
    for factor, column in {"": pl.Series([""] * len(gold)), "label": gold, **factors.to_dict()}.items():
        values = column.gather(rows).cast(pl.String)
        for value in sorted(values.drop_nulls().unique(), key=lambda name: ((*HEURISTICS, name).index(name), name)):
            chosen = (values == value).fill_null(False).to_numpy()
            accuracy = rate(right[chosen], groups=people[chosen], draws_seed=draws_seed)
            published = published_of_people(ratings.corpus.lower(), {factor: value} if factor else {})
            slices.append(AccuracySlice(factor or None, value or None, accuracy, published))
    return tuple(slices)


def _agreement_by_label(ratings: Ratings, has_gold: Flags) -> dict[str, LabelAgreement]:
    """Agreement on each label that somebody gave or that is the gold of a row."""
    counts, groups = ratings.counts, ratings.groups
    golds = Counter(ratings.gold.drop_nulls().to_list())
    kappas = label_kappas(counts, groups=groups)
    kappas_with_gold = label_kappas(counts[has_gold], groups=_chosen_groups(groups, has_gold))
    none = Estimate(math.nan, note="nobody gave this label")
    labels = {name: LabelAgreement(0, golds[name], none, none) for name in golds}
    for column, name in enumerate(ratings.labels):
        given = int(counts[:, column].sum())
        labels[name] = LabelAgreement(given, golds[name], kappas[column], kappas_with_gold[column])
    return {name: labels[name] for name in ordered_labels(list(labels))}


def _cohen_kappa(ratings: Ratings) -> Estimate | None:
    both = two_people(ratings.said, "label") if ratings.said is not None and ratings.labels else None
    if both is None:
        return None
    rows = both[0]["row"].to_numpy()
    row_groups = rows if ratings.groups is None else ratings.groups[rows]
    return cohen_kappa(both[0]["label"].to_list(), both[1]["label"].to_list(), groups=row_groups)


def _category_agreement(ratings: Ratings, seed: int) -> CategoryAgreement | None:
    if ratings.said is None or not ratings.categories:
        return None
    gold = ratings.reference
    return category_agreement(
        ratings.said,
        ratings.categories,
        rows=len(ratings.counts),
        groups=ratings.groups,
        neutral=None if gold is None else (gold.is_null() | (gold == "neutral")).fill_null(True).to_numpy(),
        draws_seed=seed,
    )


def _inference_accuracy(ratings: Ratings, seed: int) -> InferenceAccuracy | None:
    said, gold, labels = ratings.said, ratings.reference, ratings.labels
    if said is None or gold is None or not labels:
        return None
    source = ratings.reference_from
    return inference_accuracy(said, labels, gold, gold_from=source, groups=ratings.groups, draws_seed=seed)


def _published_agreement(corpus: str) -> tuple[PublishedScore, ...]:
    """Numbers that papers publish about the annotators of a corpus; empty without a corpus."""
    suites = (LABELS_PUBLISHED, CATEGORIES_PUBLISHED, PEOPLE_PUBLISHED) if corpus else ()
    scores = [score for suite in suites for score in published_scores(suite) if score.by[CORPUS] == corpus]
    return tuple(replace(score, note="") for score in scores)


def _chosen_groups(groups: npt.ArrayLike | None, rows: Flags) -> npt.NDArray[Any] | None:
    """The groups of the chosen rows; None where every row is its own group."""
    return None if groups is None else np.asarray(groups)[rows]


def _rows_with_gold_and_labels(ratings: Ratings) -> Flags:
    """Flags of the rows that human performance is computed on: those with gold and enough labels."""
    fewest = 3 if ratings.gold_from in VOTES else 2
    return np.asarray(ratings.gold.is_not_null().to_numpy() & (ratings.counts.sum(axis=1) >= fewest))
