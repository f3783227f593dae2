"""How far people agree on categories, of which a row may have several or none: Joshi et al. (2020), section 3.1.1."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from acidtest.core.estimate import Estimate
from acidtest.stats.alpha import category_alphas, mean_alpha
from acidtest.stats.category_sets import Booleans, Codes, intersection_over_union, set_alpha
from acidtest.stats.kappa import cohen_kappa, label_kappas, mean_kappa, without_interval
from acidtest.text.taxonomy import CATEGORIES, NEUTRAL_FEATURES, path, published_columns

TAXINLI = "TaxiNLI"
PUBLISHED = "category agreement"
"""Under which the paper's agreement on categories stands among published numbers."""

_FEWEST_OF_TAXONOMY = 8
_ORDER = (*CATEGORIES, *NEUTRAL_FEATURES)


@dataclass(frozen=True)
class Category:
    """What there is to say of one category."""

    marked: int
    """How often people marked it, on rows that two or more judged."""
    kappa: Estimate
    alpha: Estimate
    cohen: Estimate | None = None
    """Where there are two people in all."""
    heading: str = ""
    """The groups of the taxonomy that it belongs to."""

    def to_json(self) -> dict[str, Any]:
        """As --json prints it."""
        kappas = {"kappa": self.kappa.to_json(), "alpha": self.alpha.to_json()}
        return {"marked": self.marked, **kappas, "cohen": self.cohen.to_json() if self.cohen else None}


@dataclass(frozen=True)
class CategoryAgreement:
    """How far people agree on which categories rows have."""

    rows: int
    rated: int
    """Rows that two people or more judged; the others are left out."""
    fewest: int
    most: int
    """People of the row that fewest, and most, judged, among those."""
    categories: Mapping[str, Category]
    kappa: Estimate
    """The mean of the categories' kappas."""
    alpha: Estimate
    """The mean of the categories' alphas."""
    masi: Estimate
    jaccard: Estimate
    """Krippendorff's alpha of whole sets, by the distance between sets."""
    iou: Estimate
    empty: int
    """Rows without an IOU, since nobody marked anything: 0/0."""
    people: int
    features: Mapping[str, Category] = field(default_factory=dict)
    """What neutral pairs have in common (topic, subject, object): no categories, so that nothing above counts them."""

    def to_json(self) -> dict[str, Any]:
        """As --json prints it."""
        return {
            "rows": self.rows,
            "rated": self.rated,
            "people_per_row": [self.fewest, self.most],
            "annotators": self.people,
            "categories": {name: each.to_json() for name, each in self.categories.items()},
            "mean_kappa": self.kappa.to_json(),
            "mean_alpha": self.alpha.to_json(),
            "set_alpha": {"masi": self.masi.to_json(), "jaccard": self.jaccard.to_json()},
            "iou": self.iou.to_json(),
            "iou_left_out": self.empty,
            "features": {name: each.to_json() for name, each in self.features.items()},
        }


def category_agreement(
    said: pl.DataFrame,
    categories: Sequence[str],
    *,
    rows: int,
    groups: Codes | None = None,
    neutral: Booleans | None = None,
    draws_seed: int = 0,
) -> CategoryAgreement:
    """Agreement on categories; ``said`` has row, annotator and categories (a list; null: not judged).

    Features of neutral pairs among ``categories`` are measured apart, on the rows that are ``neutral``; None: on all.
    """
    judged = said.drop_nulls("categories")
    features = [name for name in categories if name in NEUTRAL_FEATURES]
    categories = [name for name in categories if name not in features]
    marked, of_rows = _marked(judged, categories), judged["row"].to_numpy()
    people = np.bincount(of_rows, minlength=rows)
    counts = np.zeros((rows, len(categories)), dtype=np.int64)
    np.add.at(counts, of_rows, marked)
    rated = people[people >= 2]
    overlap = intersection_over_union(marked, of_rows, groups=groups, draws_seed=draws_seed)
    asked = judged if neutral is None else judged.filter(neutral[of_rows])
    return CategoryAgreement(
        rows=rows,
        rated=len(rated),
        fewest=int(rated.min()) if len(rated) else 0,
        most=int(rated.max()) if len(rated) else 0,
        categories=_by_category(judged, categories, rows=rows, groups=groups),
        kappa=mean_kappa(counts, people=people, groups=groups),
        alpha=mean_alpha(counts, people=people, groups=groups),
        masi=set_alpha(marked, of_rows, distance="masi", groups=groups),
        jaccard=set_alpha(marked, of_rows, distance="jaccard", groups=groups),
        iou=overlap.iou,
        empty=overlap.empty,
        people=judged["annotator"].n_unique(),
        features=_by_category(asked, features, rows=rows, groups=groups) if asked.height else {},
    )


def _by_category(judged: pl.DataFrame, names: Sequence[str], *, rows: int, groups: Codes | None) -> dict[str, Category]:
    """What there is to say of each category on its own."""
    if not names:
        return {}
    marked, of_rows = _marked(judged, names), judged["row"].to_numpy()
    people, counts = np.bincount(of_rows, minlength=rows), np.zeros((rows, len(names)), dtype=np.int64)
    np.add.at(counts, of_rows, marked)
    kappas = label_kappas(counts, people=people, groups=groups)
    alphas = category_alphas(counts, people=people, groups=groups)
    cohens = _cohens(judged, marked, groups)
    given = counts[people >= 2].sum(axis=0)
    return {
        name: Category(int(given[at]), kappas[at], alphas[at], cohens[at] if cohens else None, _heading(name))
        for at, name in enumerate(names)
    }


def two_people(said: pl.DataFrame, column: str) -> tuple[pl.DataFrame, pl.DataFrame] | None:
    """What the two people said of the rows that both judged, where there are two people in all; None otherwise."""
    told = said.drop_nulls(["annotator", column])
    names = told["annotator"].unique(maintain_order=True)
    if len(names) != 2:
        return None
    first, second = (told.filter(pl.col("annotator") == name).sort("row") for name in names)
    both = first.select("row").join(second.select("row"), on="row", how="inner")["row"].implode()
    return first.filter(pl.col("row").is_in(both)), second.filter(pl.col("row").is_in(both))


def ordered_categories(names: Sequence[str]) -> tuple[str, ...]:
    """Those of the taxonomy in its order and by our names of them; others as they come."""
    found = dict.fromkeys(taxonomy_name(name) for name in names)
    return tuple(sorted(found, key=lambda name: _ORDER.index(name) if name in _ORDER else len(_ORDER)))


def taxonomy_name(name: str) -> str:
    """Our name of a category of the published file; any other as it is."""
    return published_columns().get(name, name)


def is_of_taxonomy(column: str) -> bool:
    """Whether a column of this name, here or in the published file, says if a pair has one of the categories."""
    return taxonomy_name(column.strip().lower().replace("-", "_").replace(" ", "_")) in _ORDER


def is_taxinli(categories: Sequence[str]) -> bool:
    """Whether these are the paper's categories, so that its numbers may stand beside those of other people."""
    names = [name for name in categories if name not in NEUTRAL_FEATURES]
    return len(names) >= _FEWEST_OF_TAXONOMY and all(name in CATEGORIES for name in names)


def _marked(judged: pl.DataFrame, categories: Sequence[str]) -> Booleans:
    column = judged["categories"]
    found = [column.list.contains(name).to_numpy() for name in categories]
    return np.stack(found, axis=1) if found else np.zeros((judged.height, 0), dtype=np.bool_)


def _cohens(judged: pl.DataFrame, marked: Booleans, groups: Codes | None) -> list[Estimate] | None:
    both = two_people(judged.with_row_index("place"), "categories")
    if both is None:
        return None
    first, second = (marked[each["place"].to_numpy()] for each in both)
    rows = both[0]["row"].to_numpy()
    own = rows if groups is None else groups[rows]
    found = list[Estimate]()
    for at in range(marked.shape[1]):
        kappa = cohen_kappa(first[:, at], second[:, at], groups=own)
        if not kappa.known and len(rows):
            note = "everybody marked it on every row: chance alone agrees" if first[0, at] else "nobody marked it"
            kappa = Estimate(math.nan, n=kappa.n, groups=kappa.groups, note=note)
        together = (first & second)[:, at].any() and (~first & ~second)[:, at].any()
        found.append(kappa if together else without_interval(kappa))
    return found


def _heading(name: str) -> str:
    return ": ".join(path(name)) if name in _ORDER else ""
