"""Agreement on categories, where a row may have several or none (Joshi et al. 2020, section 3.1.1)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from acidtest.core.estimate import Estimate
from acidtest.pairs.taxonomy import NEUTRAL_FEATURES
from acidtest.stats.agreement import (
    Booleans,
    Codes,
    category_alphas,
    cohen_kappa,
    intersection_over_union,
    label_kappas,
    mean_alpha,
    mean_kappa,
    set_alpha,
    without_interval,
)


@dataclass(frozen=True)
class MarkAgreement:
    """Agreement on one category; ``marked`` counts its marks on rows that two people or more judged.

    ``cohen`` is None unless there are exactly two people.
    """

    marked: int
    kappa: Estimate
    alpha: Estimate
    cohen: Estimate | None = None


@dataclass(frozen=True)
class SetAlphas:
    """Krippendorff's alpha of whole sets of categories, for two distances between sets."""

    masi: Estimate
    jaccard: Estimate


@dataclass(frozen=True)
class CategoryAgreement:
    """Agreement on the categories of rows.

    ``rated`` rows were judged by two people or more; the others are left out. ``people_per_row`` is the lowest and the
    highest number of people on a rated row. ``kappa`` and ``alpha`` are means over the categories where they are
    defined. ``empty`` counts rows without IOU (0/0), since nobody marked anything. ``features`` are what the sentences
    of neutral pairs share (topic, subject, object); they are not categories and enter no other number.
    """

    rows: int
    rated: int
    people_per_row: tuple[int, int]
    people: int = field(metadata={"json": "annotators"})
    categories: Mapping[str, MarkAgreement]
    kappa: Estimate = field(metadata={"json": "mean_kappa"})
    alpha: Estimate = field(metadata={"json": "mean_alpha"})
    set_alpha: SetAlphas
    iou: Estimate
    empty: int = field(metadata={"json": "iou_left_out"})
    features: Mapping[str, MarkAgreement] = field(default_factory=dict)


def category_agreement(
    said: pl.DataFrame,
    categories: Sequence[str],
    *,
    rows: int,
    groups: Codes | None = None,
    neutral: Booleans | None = None,
    draws_seed: int = 0,
) -> CategoryAgreement:
    """Agreement on categories; ``said`` has columns row, annotator and categories (a list; null if not judged).

    Features of neutral pairs are measured separately, on the rows flagged by ``neutral``, or on all rows if None.
    """
    judged = said.drop_nulls("categories")
    features = [name for name in categories if name in NEUTRAL_FEATURES]
    categories = [name for name in categories if name not in features]
    row_of = judged["row"].to_numpy()
    marked, people, counts = _count_marks(judged, categories, rows)
    rated = people[people >= 2]
    overlap = intersection_over_union(marked, row_of, groups=groups, draws_seed=draws_seed)
    asked = judged if neutral is None else judged.filter(neutral[row_of])
    return CategoryAgreement(
        rows=rows,
        rated=len(rated),
        people_per_row=(int(rated.min()), int(rated.max())) if len(rated) else (0, 0),
        people=judged["annotator"].n_unique(),
        categories=_by_category(judged, categories, rows=rows, groups=groups),
        kappa=mean_kappa(counts, people=people, groups=groups),
        alpha=mean_alpha(counts, people=people, groups=groups),
        set_alpha=SetAlphas(
            set_alpha(marked, row_of, distance="masi", groups=groups),
            set_alpha(marked, row_of, distance="jaccard", groups=groups),
        ),
        iou=overlap.iou,
        empty=overlap.empty,
        features=_by_category(asked, features, rows=rows, groups=groups) if asked.height else {},
    )


def two_people(said: pl.DataFrame, column: str) -> tuple[pl.DataFrame, pl.DataFrame] | None:
    """The judgements of each of two people on the rows that both judged; None unless there are exactly two people."""
    known = said.drop_nulls(["annotator", column])
    names = known["annotator"].unique(maintain_order=True)
    if len(names) != 2:
        return None
    first, second = (known.filter(pl.col("annotator") == name).sort("row") for name in names)
    both = first.select("row").join(second.select("row"), on="row", how="inner")["row"].implode()
    return first.filter(pl.col("row").is_in(both)), second.filter(pl.col("row").is_in(both))


def _by_category(
    judged: pl.DataFrame, names: Sequence[str], *, rows: int, groups: Codes | None
) -> dict[str, MarkAgreement]:
    """The agreement on each category by itself."""
    if not names:
        return {}
    marked, people, counts = _count_marks(judged, names, rows)
    kappas = label_kappas(counts, people=people, groups=groups)
    alphas = category_alphas(counts, people=people, groups=groups)
    cohens = _cohen_kappas(judged, marked, groups) or [None] * len(names)
    given = counts[people >= 2].sum(axis=0)
    columns = zip(names, given, kappas, alphas, cohens, strict=True)
    return {name: MarkAgreement(int(count), kappa, alpha, cohen) for name, count, kappa, alpha, cohen in columns}


def _count_marks(judged: pl.DataFrame, categories: Sequence[str], rows: int) -> tuple[Booleans, Codes, Codes]:
    """The categories marked in each judgement, the number of people per row, and the marks per row and category."""
    marked = np.zeros((judged.height, len(categories)), dtype=np.bool_)
    for column, name in enumerate(categories):
        marked[:, column] = judged["categories"].list.contains(name).to_numpy()
    counts = np.zeros((rows, len(categories)), dtype=np.int64)
    np.add.at(counts, judged["row"].to_numpy(), marked)
    return marked, np.bincount(judged["row"].to_numpy(), minlength=rows), counts


def _cohen_kappas(judged: pl.DataFrame, marked: Booleans, groups: Codes | None) -> list[Estimate | None] | None:
    """Cohen's kappa of each category; None unless there are exactly two people."""
    both = two_people(judged.with_row_index("judgement"), "categories")
    if both is None:
        return None
    first, second = (marked[said["judgement"].to_numpy()] for said in both)
    rows = both[0]["row"].to_numpy()
    row_groups = rows if groups is None else groups[rows]
    kappas = list[Estimate | None]()
    for one, other in zip(first.T, second.T, strict=True):
        kappa = cohen_kappa(one, other, groups=row_groups)
        if not kappa.known and len(rows):
            note = "everybody marked it on every row: chance alone agrees" if one[0] else "nobody marked it"
            kappa = Estimate(math.nan, n=kappa.n, groups=kappa.groups, note=note)
        together = (one & other).any() and (~one & ~other).any()
        kappas.append(kappa if together else without_interval(kappa))
    return kappas
