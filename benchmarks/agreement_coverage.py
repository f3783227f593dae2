"""How often the 95 % intervals of agreement on categories hold the true value, in data whose true value is known.

People see which of six categories an item has with some chance, which differs from premise to premise, and guess
otherwise from the categories' shares (40 to 3 %). The true value is that of 200,000 items.

    .venv/bin/python benchmarks/agreement_coverage.py [--draws 400] [--json out.json]
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl

from acidtest.core.estimate import Estimate
from acidtest.stats.alpha import krippendorff_alpha
from acidtest.stats.annotators import inference_accuracy
from acidtest.stats.kappa import cohen_kappa
from acidtest.studies.agreement.categories import CategoryAgreement, category_agreement

SHARES = np.array([0.4, 0.25, 0.15, 0.1, 0.06, 0.03])
NAMES = [f"c{number}" for number in range(len(SHARES))]
LABELS = ["a", "b", "c"]
LABEL_SHARES = [0.5, 0.3, 0.2]


def drawn(rng: np.random.Generator, rows: int, *, people: int, each: int, sees: float) -> dict[str, np.ndarray]:
    """Marks (rows × people × categories), labels and gold; ``each`` rows have one premise."""
    premises = -(-rows // each)
    chance = np.repeat(rng.choice([0.6 * sees, sees], size=premises), each)[:rows]
    truth = rng.random((rows, 1, len(SHARES))) < SHARES
    seen = rng.random((rows, people, 1)) < chance[:, None, None]
    marks = np.where(seen, truth, rng.random((rows, people, len(SHARES))) < SHARES)
    gold = rng.choice(3, size=rows, p=LABEL_SHARES)
    seen = rng.random((rows, people)) < chance[:, None]
    labels = np.where(seen, gold[:, None], rng.choice(3, size=(rows, people), p=LABEL_SHARES))
    return {"marks": marks, "labels": labels, "gold": gold, "groups": np.repeat(np.arange(premises), each)[:rows]}


def measured(data: dict[str, np.ndarray]) -> dict[str, Estimate]:
    """Every coefficient, by name."""
    rows, people, categories = data["marks"].shape
    flat, groups = data["marks"].reshape(-1, categories), data["groups"]
    lists = [[NAMES[place] for place in np.flatnonzero(row)] for row in flat]
    said = pl.DataFrame(
        {
            "row": np.repeat(np.arange(rows), people),
            "annotator": [f"p{number}" for number in range(people)] * rows,
            "label": [LABELS[code] for code in data["labels"].reshape(-1)],
            "categories": pl.Series(lists, dtype=pl.List(pl.String)),
        }
    )
    found: CategoryAgreement = category_agreement(said, NAMES, rows=rows, groups=groups)
    gold = pl.Series([LABELS[code] for code in data["gold"]])
    counts = np.stack([(data["labels"] == code).sum(axis=1) for code in range(3)], axis=1)
    estimates = {
        "mean kappa": found.kappa,
        "kappa, category of 25 %": found.categories["c1"].kappa,
        "kappa, category of 10 %": found.categories["c3"].kappa,
        "kappa, category of 3 %": found.categories["c5"].kappa,
        "mean alpha": found.alpha,
        "alpha of sets, MASI": found.set_alpha.masi,
        "alpha of sets, Jaccard": found.set_alpha.jaccard,
        "IOU": found.iou,
        "alpha of labels": krippendorff_alpha(counts, groups=groups),
        "inference accuracy": inference_accuracy(said, LABELS, gold, gold_from="", groups=groups).average,
    }
    if people == 2:
        estimates["Cohen's kappa of labels"] = cohen_kappa(data["labels"][:, 0], data["labels"][:, 1], groups=groups)
        estimates["Cohen's kappa, category of 25 %"] = found.categories["c1"].cohen or Estimate(np.nan, note="none")
    return estimates


def coverage(draws: int) -> list[dict[str, object]]:
    """A row for each setting and coefficient."""
    told = list[dict[str, object]]()
    for people, each, sees in product((2, 3), (1, 3), (0.5, 0.9)):
        rng = np.random.default_rng(11)
        truth = measured(drawn(rng, 200_000, people=people, each=1, sees=sees))
        for rows in (20, 60, 300):
            covered, known = defaultdict[str, int](int), defaultdict[str, int](int)
            for _ in range(draws):
                for name, one in measured(drawn(rng, rows, people=people, each=each, sees=sees)).items():
                    known[name] += one.low == one.low
                    covered[name] += one.low <= truth[name].value <= one.high
            for name in truth:
                told.append(
                    {
                        "people": people,
                        "each": each,
                        "sees": sees,
                        "rows": rows,
                        "coefficient": name,
                        "true": truth[name].value,
                        "covered": covered[name] / max(known[name], 1),
                        "without": 1 - known[name] / draws,
                    }
                )
        print(f"{people} people, {each} rows a premise, sees {sees}: done", flush=True)
    return told


def main() -> None:
    """Print the lowest and the highest coverage of each coefficient over the settings, by number of rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=400)
    parser.add_argument("--json")
    arguments = parser.parse_args()
    found = pl.DataFrame(coverage(arguments.draws))
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(found.to_dicts(), indent=1) + "\n", encoding="utf-8")
    with pl.Config(tbl_rows=-1, tbl_hide_dataframe_shape=True, float_precision=3):
        print(
            found.group_by("coefficient", "rows", maintain_order=True).agg(
                lowest=pl.col("covered").min(), highest=pl.col("covered").max(), without=pl.col("without").max()
            )
        )


if __name__ == "__main__":
    main()
