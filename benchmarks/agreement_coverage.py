"""How often the 95 % intervals of agreement on categories cover the true value, in data whose true value is known.

Annotators see which of six categories an item has with a chance that differs between premises, and guess otherwise from
the shares of the categories (40 to 3 %). The true value is that of very many items.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import polars as pl
from race import parse_options, report

import acidtest
from acidtest.stats.agreement import cohen_kappa, krippendorff_alpha
from acidtest.stats.annotators import inference_accuracy
from acidtest.studies.agreement.categories import category_agreement

SHARES = np.array([0.4, 0.25, 0.15, 0.1, 0.06, 0.03])
NAMES = [f"c{number}" for number in range(len(SHARES))]
LABELS = ["a", "b", "c"]
LABEL_SHARES = [0.5, 0.3, 0.2]


@dataclass(frozen=True)
class Design:
    """So many annotators, rows per premise, and the chance that an annotator sees the truth."""

    annotators: int
    rows_per_premise: int
    chance: float


@dataclass(frozen=True)
class Annotations:
    """Marks (rows × annotators × categories), labels (rows × annotators), gold and group of every row."""

    marks: np.ndarray
    labels: np.ndarray
    gold: np.ndarray
    groups: np.ndarray


def simulate(rng: np.random.Generator, rows: int, design: Design) -> Annotations:
    """Annotations of so many rows."""
    people, size = design.annotators, design.rows_per_premise
    premises = -(-rows // size)
    chances = np.repeat(rng.choice([0.6 * design.chance, design.chance], size=premises), size)[:rows]
    truth = rng.random((rows, 1, len(SHARES))) < SHARES
    sees = rng.random((rows, people, 1)) < chances[:, None, None]
    marks = np.where(sees, truth, rng.random((rows, people, len(SHARES))) < SHARES)
    gold = rng.choice(3, size=rows, p=LABEL_SHARES)
    sees = rng.random((rows, people)) < chances[:, None]
    labels = np.where(sees, gold[:, None], rng.choice(3, size=(rows, people), p=LABEL_SHARES))
    return Annotations(marks, labels, gold, np.repeat(np.arange(premises), size)[:rows])


def coefficients(data: Annotations) -> dict[str, acidtest.Estimate]:
    """Every coefficient of agreement, by name."""
    rows, people, categories = data.marks.shape
    marked = [[NAMES[place] for place in np.flatnonzero(row)] for row in data.marks.reshape(-1, categories)]
    answers = pl.DataFrame(
        {
            "row": np.repeat(np.arange(rows), people),
            "annotator": [f"p{number}" for number in range(people)] * rows,
            "label": [LABELS[code] for code in data.labels.reshape(-1)],
            "categories": pl.Series(marked, dtype=pl.List(pl.String)),
        }
    )
    agreement = category_agreement(answers, NAMES, rows=rows, groups=data.groups)
    gold = pl.Series([LABELS[code] for code in data.gold])
    counts = np.stack([(data.labels == code).sum(axis=1) for code in range(3)], axis=1)
    estimates = {
        "mean kappa": agreement.kappa,
        "kappa, category of 25 %": agreement.categories["c1"].kappa,
        "kappa, category of 10 %": agreement.categories["c3"].kappa,
        "kappa, category of 3 %": agreement.categories["c5"].kappa,
        "mean alpha": agreement.alpha,
        "alpha of sets, MASI": agreement.set_alpha.masi,
        "alpha of sets, Jaccard": agreement.set_alpha.jaccard,
        "IOU": agreement.iou,
        "alpha of labels": krippendorff_alpha(counts, groups=data.groups),
        "inference accuracy": inference_accuracy(answers, LABELS, gold, gold_from="", groups=data.groups).average,
    }
    if people == 2:
        estimates["Cohen's kappa of labels"] = cohen_kappa(*data.labels.T, groups=data.groups)
        cohen = agreement.categories["c1"].cohen
        estimates["Cohen's kappa, category of 25 %"] = cohen or acidtest.Estimate(np.nan, note="none")
    return estimates


def coverage(design: Design, *, draws: int, items: int) -> list[dict[str, Any]]:
    """Coverage of every coefficient in one design, by number of rows."""
    rng = np.random.default_rng(11)
    truth = coefficients(simulate(rng, items, Design(design.annotators, 1, design.chance)))
    table = []
    for rows in (20, 60, 300):
        covered, computed = defaultdict[str, int](int), defaultdict[str, int](int)
        for _ in range(draws):
            for name, estimate in coefficients(simulate(rng, rows, design)).items():
                computed[name] += not np.isnan(estimate.low)
                covered[name] += estimate.low <= truth[name].value <= estimate.high
        table += [
            {
                "coefficient": name,
                "rows": rows,
                "covered": covered[name] / max(computed[name], 1),
                "without interval": 1 - computed[name] / draws,
            }
            for name in truth
        ]
    return table


def main() -> None:
    options = parse_options(__doc__, draws=(40, 400), items=(5_000, 200_000))
    designs = [Design(*values) for values in product((2, 3), (1, 3), (0.5, 0.9))]
    rows = [
        row
        for design in (designs if options.full else designs[::3])
        for row in coverage(design, draws=options.draws, items=options.items)
    ]
    summary = (
        pl.DataFrame(rows)
        .group_by("coefficient", "rows", maintain_order=True)
        .agg(
            pl.col("covered").min().alias("lowest coverage"),
            pl.col("covered").max().alias("highest coverage"),
            pl.col("without interval").max(),
        )
    )
    report("agreement_coverage", summary.to_dicts())


if __name__ == "__main__":
    main()
