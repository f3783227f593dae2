"""How far people agree who labelled the same rows, or gave them categories, and how often they are right."""

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
from acidtest.core.labels import GOLD_MASKS, LABELS
from acidtest.io.published import CORPUS, PublishedScore, published_scores
from acidtest.stats.alpha import krippendorff_alpha
from acidtest.stats.annotators import Accuracy, Attendance, accepted, inference_accuracy
from acidtest.stats.intervals import rate
from acidtest.stats.kappa import NO_ROWS, cohen_kappa
from acidtest.stats.kappa import fleiss_kappa as fleiss_kappa
from acidtest.stats.kappa import label_kappas as label_kappas
from acidtest.studies import category_agreement as categories
from acidtest.studies import human_studies
from acidtest.studies.category_agreement import CategoryAgreement, category_agreement, two_people
from acidtest.studies.human_studies import AccuracySlice, ItemShare, accuracy_slices

SCHEMA = 1
PUBLISHED = "label agreement"
"""Under which papers' agreement and human performance stand among published numbers."""

MAJORITY, UNANIMOUS = "majority", "unanimous"
VOTES = (MAJORITY, "plurality", UNANIMOUS)
"""Where gold comes from when no column holds it: what most, or all, of a row's own labels are."""

_MOST_LEFT_OUT = 0.05
"""Leaving so many rows of two labels out changes a share of three by less than two points."""

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Ratings:
    """How many people gave each row each label, with the gold of the rows (null: none) and their groups."""

    name: str
    labels: tuple[str, ...]
    counts: Counts
    gold: pl.Series
    gold_from: str = MAJORITY
    """The column that holds gold, or one of ``VOTES`` where it was found from the labels themselves."""
    groups: npt.NDArray[np.int64] | None = None
    """A code for the source sentence of each row; None: every row is its own group."""
    corpus: str = ""
    """The published corpus that this is, or is part of."""
    signature: str = ""
    said: pl.DataFrame | None = None
    """Who said what, where the file tells: row, annotator (null: nobody knows), label and categories (a list)."""
    categories: tuple[str, ...] = ()
    """Those that somebody could mark."""
    reference: pl.Series | None = None
    """Gold of the rows that does not come from these people, and below where it stands."""
    reference_from: str = ""
    attendance: Attendance | None = None
    unasked: int = 0
    """Rows of which nobody was asked for a label."""
    factors: pl.DataFrame | None = None
    """Columns of the rows by which accuracy is told apart, where a paper does."""


@dataclass(frozen=True)
class HumanBasis:
    """The rows that human performance rests on, how many were left out, and what bounds it from below."""

    rows: int
    without_gold: int
    few_labels: int
    """Rows with gold and one label, or two where gold is their own vote."""
    floor: float | None = None
    """The lowest value there can be, where gold is the majority of the same labels; None where it is another gold."""

    def to_json(self) -> dict[str, Any]:
        """As --json prints it."""
        left_out = {"without_gold": self.without_gold, "few_labels": self.few_labels}
        return {"rows": self.rows, **left_out, "lowest_possible": self.floor}


@dataclass(frozen=True)
class LabelAgreement:
    """What there is to say of one label."""

    given: int
    """How often people gave it."""
    gold: int
    """Rows whose gold it is."""
    kappa: Estimate
    kappa_with_gold: Estimate
    """On rows with gold only."""

    def to_json(self) -> dict[str, Any]:
        """As --json prints it."""
        kappas = {"kappa": self.kappa.to_json(), "kappa_with_gold": self.kappa_with_gold.to_json()}
        return {"given": self.given, "gold": self.gold, **kappas}


@dataclass(frozen=True)
class Agreement:
    """How far people agree on a file's rows, the published numbers beside it."""

    name: str
    rows: int
    rated: int
    """Rows with two labels or more; the others are left out of everything but counts."""
    given: int
    """Labels that people gave, on all rows."""
    unasked: int
    """Rows of which nobody was asked for a label."""
    fewest: int
    most: int
    """Labels of the row that has fewest, and most, among those with two or more."""
    with_gold: int
    gold_from: str
    labels: Mapping[str, LabelAgreement]
    kappa: Estimate
    kappa_with_gold: Estimate
    """On rows with gold only, as papers have it: rows on which people could not agree are not among them."""
    observed: Estimate
    """Share of pairs of labels that agree, a mean over rows."""
    human: Estimate
    """Share of a row's labels that are its gold, a mean over rows with gold."""
    human_basis: HumanBasis
    alpha: Estimate
    """Krippendorff's, nominal, of labels."""
    cohen: Estimate | None = None
    """Cohen's kappa of labels, where there are two people in all."""
    categories: CategoryAgreement | None = None
    accuracy: Accuracy | None = None
    """How often people's own labels are a gold that is not theirs."""
    slices: tuple[AccuracySlice, ...] = ()
    """The same by gold and by what the pairs were made to test."""
    shares: tuple[ItemShare, ...] = ()
    """Shares of items that most people confirm, where the questionnaire defines some."""
    attendance: Attendance | None = None
    corpus: str = ""
    published: tuple[PublishedScore, ...] = ()
    signature: str = ""
    discarded: Mapping[str, int] = field(default_factory=dict)
    """Items that a questionnaire discards, by reason; they are not among the rows."""
    questionnaire: str = ""

    @property
    def all_have_gold(self) -> bool:
        """Whether all rows that kappa rests on have gold, so that both kappas are one."""
        return self.kappa_with_gold.n == self.kappa.n

    def published_value(self, statistic: str, label: str | None = None) -> float | None:
        """What the paper has, or None."""
        by = {CORPUS: self.corpus, "statistic": statistic} | ({"label": label} if label else {})
        return next((score.value for score in self.published if score.by == by), None)

    def to_json(self) -> dict[str, Any]:
        """As --json prints it."""
        return {
            "schema": SCHEMA,
            "name": self.name,
            "rows": self.rows,
            "rated": self.rated,
            "given": self.given,
            "not_asked_for_a_label": self.unasked,
            "labels_per_row": [self.fewest, self.most],
            "with_gold": self.with_gold,
            "gold_from": self.gold_from,
            "kappa": self.kappa.to_json(),
            "kappa_with_gold": self.kappa_with_gold.to_json(),
            "labels": {name: label.to_json() for name, label in self.labels.items()},
            "observed_agreement": self.observed.to_json(),
            "human_performance": self.human.to_json(),
            "human_performance_basis": self.human_basis.to_json(),
            "alpha": self.alpha.to_json(),
            "cohen": self.cohen.to_json() if self.cohen else None,
            "categories": self.categories.to_json() if self.categories else None,
            "inference_accuracy": self.accuracy.to_json() if self.accuracy else None,
            "accuracy_by": [each.to_json() for each in self.slices],
            "shares": [each.to_json() for each in self.shares],
            "attendance": self.attendance.to_json() if self.attendance else None,
            "questionnaire": self.questionnaire or None,
            "discarded": dict(self.discarded),
            "corpus": self.corpus or None,
            "published": [score.to_json() for score in self.published],
            "signature": self.signature,
        }


def agreement(ratings: Ratings, *, draws_seed: int = 0) -> Agreement:
    """Everything there is to say of how far people agree."""
    counts, groups = ratings.counts, ratings.groups
    has_gold = ratings.gold.is_not_null().to_numpy()
    of_rows = counts.sum(axis=1)
    rated = of_rows[of_rows >= 2]
    return Agreement(
        name=ratings.name,
        rows=len(counts),
        rated=len(rated),
        given=int(of_rows.sum()),
        unasked=ratings.unasked,
        fewest=int(rated.min()) if len(rated) else 0,
        most=int(rated.max()) if len(rated) else 0,
        with_gold=int(has_gold.sum()),
        gold_from=ratings.gold_from,
        labels=_by_label(ratings, has_gold),
        kappa=fleiss_kappa(counts, groups=groups),
        kappa_with_gold=fleiss_kappa(counts[has_gold], groups=_taken(groups, has_gold)),
        observed=observed_agreement(counts, groups=groups, draws_seed=draws_seed),
        human=human_performance(ratings, draws_seed=draws_seed),
        human_basis=human_basis(ratings),
        alpha=krippendorff_alpha(counts, groups=groups),
        cohen=_cohen(ratings),
        categories=_categories(ratings, draws_seed),
        accuracy=_accuracy(ratings, draws_seed),
        slices=_slices(ratings, draws_seed),
        attendance=ratings.attendance,
        corpus=ratings.corpus,
        published=_published(ratings.corpus),
        signature=ratings.signature,
    )


def observed_agreement(counts: npt.ArrayLike, *, groups: npt.ArrayLike | None = None, draws_seed: int = 0) -> Estimate:
    """Share of the pairs of labels within a row that are the same, a mean over rows with two labels or more."""
    table = np.asarray(counts, dtype=np.float64)
    of_rows = table.sum(axis=1)
    rated = of_rows >= 2
    if not rated.any():
        return Estimate(math.nan, note=NO_ROWS)
    agreeing = (table * (table - 1)).sum(axis=1)[rated] / (of_rows * (of_rows - 1))[rated]
    return rate(agreeing, groups=_taken(groups, rated), draws_seed=draws_seed)


def human_performance(ratings: Ratings, *, draws_seed: int = 0) -> Estimate:
    """Share of a row's labels that are its gold, a mean over rows with gold.

    As in Gong, Luo and Zhang (2018), whom Glockner et al. (2018) follow. Rows with one label are left out. A gold set
    such as non-entailment accepts all of its labels. Where gold is the vote of the same labels, rows with two are left
    out as well, since these are both right or have no gold; where they are more than 5 % there is no number, since the
    rows that are left were often given a third label because the first two disagree.
    """
    if ratings.gold_from == UNANIMOUS:
        return Estimate(math.nan, note="gold is what everybody said, so that everybody is right")
    of_rows = ratings.counts.sum(axis=1)
    twos, rated = int((of_rows == 2).sum()), int((of_rows >= 2).sum())
    if ratings.gold_from in VOTES and twos > _MOST_LEFT_OUT * rated:
        told = "all rows have" if twos == rated else f"{twos:,} of {rated:,} rows have"
        note = f"gold is the vote of the same labels, and {told} two; name gold from elsewhere with --gold"
        return Estimate(math.nan, note=note)
    used = _used(ratings)
    if not used.any():
        return Estimate(math.nan, note="no row with gold and two labels or more")
    right = (ratings.counts * accepted(ratings.labels, ratings.gold)).sum(axis=1)[used] / of_rows[used]
    return rate(right, groups=_taken(ratings.groups, used), draws_seed=draws_seed)


def human_basis(ratings: Ratings) -> HumanBasis:
    """Which rows human performance rests on, and its floor where people are compared with their own majority.

    Of m labels more than half are then right whatever people do: two of three, three of five.
    """
    used, of_rows, has_gold = _used(ratings), ratings.counts.sum(axis=1), ratings.gold.is_not_null().to_numpy()
    majority = majority_labels(ratings.counts, ratings.labels)
    is_vote = ratings.gold_from == MAJORITY or bool((ratings.gold == majority).fill_null(False).to_numpy()[used].all())
    floor = float(np.mean((of_rows[used] // 2 + 1) / of_rows[used])) if is_vote and used.any() else None
    without_gold = int((~has_gold).sum()) - ratings.unasked
    return HumanBasis(int(used.sum()), without_gold, int((has_gold & ~used).sum()), floor)


def _used(ratings: Ratings) -> npt.NDArray[np.bool_]:
    """The rows that human performance rests on: those with gold and enough labels."""
    fewest = 3 if ratings.gold_from in VOTES else 2
    return np.asarray(ratings.gold.is_not_null().to_numpy() & (ratings.counts.sum(axis=1) >= fewest))


def label_counts(said: pl.DataFrame, labels: Sequence[str], *, rows: int) -> Counts:
    """How often each label was given to each of so many rows; ``said`` has the columns row and label."""
    codes = {label: code for code, label in enumerate(labels)}
    counts = np.zeros((rows, len(labels)), dtype=np.int64)
    if not said.height:
        return counts
    places = said["label"].replace_strict(codes, return_dtype=pl.Int64).to_numpy()
    np.add.at(counts, (said["row"].to_numpy(), places), 1)
    return counts


def majority_labels(counts: npt.ArrayLike, labels: Sequence[str]) -> pl.Series:
    """The label that more than half of a row's labels are, null where there is none."""
    table = np.asarray(counts, dtype=np.int64)
    if not labels:
        return pl.Series("gold", [None] * len(table), dtype=pl.String)
    found = 2 * table > table.sum(axis=1, keepdims=True)
    names = [labels[place] if any_ else None for place, any_ in zip(found.argmax(1), found.any(1), strict=True)]
    return pl.Series("gold", names, dtype=pl.String)


def ordered_labels(labels: Sequence[str]) -> list[str]:
    """Labels in the order they are shown: those of NLI first, others by name."""
    known = [*LABELS, *(name for name in GOLD_MASKS if name not in LABELS)]
    return sorted(set(labels), key=lambda name: (known.index(name) if name in known else len(known), name))


def _cohen(ratings: Ratings) -> Estimate | None:
    both = two_people(ratings.said, "label") if ratings.said is not None and ratings.labels else None
    if both is None:
        return None
    rows = both[0]["row"].to_numpy()
    own = rows if ratings.groups is None else ratings.groups[rows]
    return cohen_kappa(both[0]["label"].to_list(), both[1]["label"].to_list(), groups=own)


def _categories(ratings: Ratings, draws_seed: int) -> CategoryAgreement | None:
    if ratings.said is None or not ratings.categories:
        return None
    gold = ratings.reference
    return category_agreement(
        ratings.said,
        ratings.categories,
        rows=len(ratings.counts),
        groups=ratings.groups,
        neutral=None if gold is None else (gold.is_null() | (gold == "neutral")).fill_null(True).to_numpy(),
        draws_seed=draws_seed,
    )


def _accuracy(ratings: Ratings, draws_seed: int) -> Accuracy | None:
    if ratings.said is None or ratings.reference is None or not ratings.labels:
        return None
    return inference_accuracy(
        ratings.said,
        ratings.labels,
        ratings.reference,
        gold_from=ratings.reference_from,
        groups=ratings.groups,
        draws_seed=draws_seed,
    )


def _slices(ratings: Ratings, draws_seed: int) -> tuple[AccuracySlice, ...]:
    if ratings.said is None or ratings.reference is None or ratings.factors is None:
        return ()
    return accuracy_slices(
        ratings.said,
        ratings.labels,
        ratings.reference,
        factors=ratings.factors,
        suite=ratings.corpus.lower(),
        draws_seed=draws_seed,
    )


def _by_label(ratings: Ratings, has_gold: npt.NDArray[np.bool_]) -> dict[str, LabelAgreement]:
    """Each label that somebody gave or that is gold."""
    counts, groups = ratings.counts, ratings.groups
    golds = Counter(ratings.gold.drop_nulls().to_list())
    kappas = label_kappas(counts, groups=groups)
    settled = label_kappas(counts[has_gold], groups=_taken(groups, has_gold))
    found = {
        name: LabelAgreement(int(counts[:, place].sum()), golds[name], kappas[place], settled[place])
        for place, name in enumerate(ratings.labels)
    }
    none = Estimate(math.nan, note="nobody gave this label")
    found |= {name: LabelAgreement(0, golds[name], none, none) for name in golds if name not in found}
    return {name: found[name] for name in ordered_labels(list(found))}


def _published(corpus: str) -> tuple[PublishedScore, ...]:
    suites = (PUBLISHED, categories.PUBLISHED, human_studies.PUBLISHED) if corpus else ()
    return tuple(score for suite in suites for score in published_scores(suite) if score.by[CORPUS] == corpus)


def _taken(groups: npt.ArrayLike | None, rows: npt.NDArray[np.bool_]) -> npt.NDArray[Any] | None:
    return None if groups is None else np.asarray(groups)[rows]
