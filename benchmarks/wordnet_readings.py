"""Readings of the WordNet baseline (Glockner et al. 2018, section 4.1) on Breaking NLI, beside the paper's table 4.

    python benchmarks/wordnet_readings.py breaking_nli_quarter.jsonl

Every combination of what the text leaves open: edges to a common ancestor, similar adjectives, indirect antonyms, which
relation goes first, how many senses count. Sorted by chi-square over the categories, with and without nationalities.
"""

from __future__ import annotations

import sys
from itertools import product
from typing import get_args

import polars as pl
from race import told

from acidtest import api
from acidtest.io.published import published_scores
from acidtest.models.wordnet import LABEL_OF
from acidtest.text.alignment import replaced_words
from acidtest.text.tokens import numbered
from acidtest.text.word_relations import Antonyms, First, Meanings, Similar

SENSES = (1, 2, 3, 99)
QUARTER = 0.75
"""A quarter drawn without replacement has this share of the binomial variance."""


def published() -> dict[str, float]:
    """The accuracy of the paper's WordNet baseline by category."""
    scores = [score for score in published_scores("breaking-nli") if score.system == "WordNet baseline"]
    return {score.by["category"]: score.value for score in scores if score.by}


def chi_square(found: pl.DataFrame, papers: dict[str, float]) -> dict[str, float]:
    """Squared standard errors between the accuracy of each category and the paper's."""
    away = {}
    for category, right, size in found.iter_rows():
        share = min(max(papers[category], 0.5 / size), 1 - 0.5 / size)
        away[category] = (right / size - papers[category]) ** 2 / (QUARTER * share * (1 - share) / size)
    return away


def main() -> None:
    pairs = api.load(sys.argv[1]).frame.collect()
    words = replaced_words(pairs["premise"], pairs["hypothesis"], compounds=True)
    kinds, number = numbered(pl.concat([words["premise_words"], words["hypothesis_words"]]))
    here, there = number[: pairs.height], number[pairs.height :]
    meanings, papers, rows = Meanings.of(kinds), published(), []
    options = product((2, 3, 4), (None, *get_args(Similar)), get_args(Antonyms), get_args(First), SENSES)
    for edges, similar, antonyms, first, senses in options:
        known = meanings.frequent(senses)
        relation = known.relations(here, there, edges=edges, similar=similar, antonyms=antonyms, first=first)
        label = relation.cast(pl.String).replace_strict(LABEL_OF)
        right = pairs.select("category", right=label == pairs["label"])
        found = right.group_by("category").agg(pl.col("right").sum(), pl.len()).sort("category")
        away = chi_square(found, papers)
        reading = {
            "edges": edges,
            "similar": similar or "none",
            "opposites": antonyms,
            "first": first,
            "senses": senses,
        }
        total = sum(away.values())
        rows.append(
            reading
            | {"chi2": round(total, 1), "without nationalities": round(total - away["nationalities"], 1)}
            | {category: round(100 * good / size, 1) for category, good, size in found.iter_rows()}
        )
    told("wordnet_readings", sorted(rows, key=lambda row: row["chi2"])[:20])


if __name__ == "__main__":
    main()
