"""How far people agree who labelled the same rows, or gave them categories, and how often they are right."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated

import polars as pl

from acidtest.core.estimate import Estimate, signature
from acidtest.core.ratings import Attendance, CheckCounts, ItemShare, PeoplePace, Ratings, Times
from acidtest.core.study import study
from acidtest.io.published import CORPUS, published_scores
from acidtest.stats.agreement import cohen_kappa, fleiss_kappa, krippendorff_alpha
from acidtest.stats.annotators import InferenceAccuracy, inference_accuracy
from acidtest.studies.agreement.categories import CategoryAgreement, category_agreement, two_people
from acidtest.studies.agreement.labels import (
    AccuracySlice,
    HumanBasis,
    LabelAgreement,
    accuracy_slices,
    agreement_by_label,
    chosen_groups,
    human_basis,
    human_performance,
    observed_agreement,
)

SCHEMA = 1

LABELS_PUBLISHED, CATEGORIES_PUBLISHED, PEOPLE_PUBLISHED = "label agreement", "category agreement", "human study"
"""Under which papers' agreement, and what else they tell of people, stand among published numbers."""


@dataclass(frozen=True)
class PublishedAgreement:
    """A number that a paper gives for its annotators."""

    system: str
    source: str
    condition: str
    by: Mapping[str, str]
    value: float


@dataclass(frozen=True)
class Headcount:
    """How many people there are, and how many of them were discarded."""

    all: int
    discarded: int


@dataclass(frozen=True)
class AttendanceResult:
    """How long people took, who failed attention checks, and whose answers are left out."""

    seconds: Times | None
    by_person: Mapping[str, Times] = field(metadata={"json": "seconds_by_annotator"})
    controls: Mapping[str, CheckCounts]
    excluded: tuple[str, ...]
    left_out: int
    people: Headcount
    paces: Mapping[str, PeoplePace] = field(metadata={"json": "pace"})


@dataclass(frozen=True)
class AgreementResult:
    """How far people agree on a file's rows, published numbers beside it.

    ``rated`` rows have two labels or more; the others are left out of everything but counts. ``given`` counts the
    labels of all rows, ``unasked`` rows of which nobody was asked for one, ``labels_per_row`` the labels of the row
    that has fewest, and most, among the rated. ``kappa_with_gold`` is on rows with gold only, as papers have it: rows
    on which people could not agree are not among them. ``observed`` is the share of pairs of labels that agree,
    ``human`` the share of a row's labels that are its gold. ``cohen`` is known where there are two people in all.
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
    attendance: AttendanceResult | None
    questionnaire: str | None
    discarded: Mapping[str, int]
    corpus: str | None
    published: tuple[PublishedAgreement, ...]
    signature: str
    schema: int = SCHEMA
    items: pl.DataFrame | None = field(default=None, compare=False, metadata={"json": None})

    @property
    def all_have_gold(self) -> bool:
        """Whether all rows that kappa rests on have gold, so that both kappas are one."""
        return self.kappa_with_gold.n == self.kappa.n

    def published_value(self, statistic: str, label: str | None = None) -> float | None:
        """What the paper has, or None."""
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
        labels=agreement_by_label(ratings),
        kappa=fleiss_kappa(counts, groups=groups),
        kappa_with_gold=fleiss_kappa(counts[has_gold], groups=chosen_groups(groups, has_gold)),
        observed=observed_agreement(counts, groups=groups, draws_seed=seed),
        human=human_performance(ratings, draws_seed=seed),
        human_basis=human_basis(ratings),
        alpha=krippendorff_alpha(counts, groups=groups),
        cohen=_cohen_kappa(ratings),
        categories=_category_agreement(ratings, seed),
        accuracy=_inference_accuracy(ratings, seed),
        slices=_accuracy_slices(ratings, seed),
        shares=tuple(
            replace(share, suite=share.suite or None, source=share.source or None) for share in ratings.shares
        ),
        attendance=_attendance_result(ratings.attendance) if ratings.attendance else None,
        questionnaire=ratings.questionnaire or None,
        discarded=dict(ratings.discarded),
        corpus=ratings.corpus or None,
        published=published_agreement(ratings.corpus),
        signature=signature(ratings.signature, f"seed:{seed}"),
        items=ratings.items,
    )


def published_agreement(corpus: str) -> tuple[PublishedAgreement, ...]:
    """What papers say of the people behind a corpus; nothing where there is none."""
    suites = (LABELS_PUBLISHED, CATEGORIES_PUBLISHED, PEOPLE_PUBLISHED) if corpus else ()
    scores = [score for suite in suites for score in published_scores(suite) if score.by[CORPUS] == corpus]
    return tuple(
        PublishedAgreement(score.system, score.source, score.condition, score.by, score.value) for score in scores
    )


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
    if ratings.said is None or ratings.reference is None or not ratings.labels:
        return None
    return inference_accuracy(
        ratings.said,
        ratings.labels,
        ratings.reference,
        gold_from=ratings.reference_from,
        groups=ratings.groups,
        draws_seed=seed,
    )


def _accuracy_slices(ratings: Ratings, seed: int) -> tuple[AccuracySlice, ...]:
    if ratings.said is None or ratings.reference is None or ratings.factors is None:
        return ()
    return accuracy_slices(
        ratings.said,
        ratings.labels,
        ratings.reference,
        factors=ratings.factors,
        suite=ratings.corpus.lower(),
        draws_seed=seed,
    )


def _attendance_result(attendance: Attendance) -> AttendanceResult:
    return AttendanceResult(
        seconds=attendance.seconds,
        by_person=attendance.by_person,
        controls=attendance.controls,
        excluded=attendance.excluded,
        left_out=attendance.left_out,
        people=Headcount(attendance.people, len(attendance.excluded)),
        paces=attendance.paces,
    )
