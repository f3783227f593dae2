"""Readings of the WordNet baseline (Glockner et al. 2018, section 4.1) on Breaking NLI, beside the paper's table 4.

Every combination of what the text leaves open: edges to a common ancestor, similar adjectives, indirect antonyms, which
relation goes first, how many senses count. Readings are sorted by chi-square over the categories. The file is an
argument, else Breaking NLI from ../shared; where neither exists, a fresh ``lexical`` suite stands in for it, with
those of its categories that the paper has.
"""

from __future__ import annotations

import argparse
from itertools import product
from typing import get_args

import polars as pl
from race import parse_options, report, shared_files

import acidtest
from acidtest.english.tokens import number_distinct
from acidtest.io.published import published_scores
from acidtest.models.baseline import LABEL_OF
from acidtest.pairs.alignment import replaced_words
from acidtest.pairs.word_relations import Antonyms, First, Meanings, Similar

FILE = "breaking_nli/breaking_nli_quarter.jsonl"
SENSES = (1, 2, 3, 99)
VARIANCE = 0.75
"""A quarter drawn without replacement has this share of the binomial variance."""


def published_accuracies() -> dict[str, float]:
    """Accuracy of the paper's WordNet baseline by category."""
    scores = [score for score in published_scores("breaking-nli") if score.system == "WordNet baseline"]
    return {score.by["category"]: score.value for score in scores if score.by}


def chi_squares(counts: pl.DataFrame, published: dict[str, float]) -> dict[str, float]:
    """Squared distance between our accuracy and the paper's in standard errors, by category."""
    distances = {}
    for category, correct, size in counts.iter_rows():
        share = min(max(published[category], 0.5 / size), 1 - 0.5 / size)
        error = VARIANCE * share * (1 - share) / size
        distances[category] = (correct / size - published[category]) ** 2 / error
    return distances


def load_pairs(path: str | None, categories: list[str]) -> pl.DataFrame:
    """Pairs of the paper's categories."""
    files = [path] if path else shared_files(FILE)
    suite = acidtest.load(files[0]) if files else acidtest.generate("lexical")
    category = pl.col("category").str.replace("colours", "colors").str.replace("-", "_")
    frame = suite.frame if files else suite.frame.with_columns(category)
    return frame.filter(pl.col("category").is_in(categories)).collect()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", help="Breaking NLI, or a quarter of it")
    options = parse_options(parser)
    published = published_accuracies()
    pairs = load_pairs(options.file, list(published))
    words = replaced_words(pairs["premise"], pairs["hypothesis"])
    kinds, number = number_distinct(pl.concat([words["premise_words"], words["hypothesis_words"]]))
    meanings, rows = Meanings.of(kinds), []
    readings = product((2, 3, 4), (None, *get_args(Similar)), get_args(Antonyms), get_args(First), SENSES)
    for edges, similar, antonyms, first, senses in readings:
        relation = meanings.frequent(senses).relations(
            number[: pairs.height], number[pairs.height :], edges=edges, similar=similar, antonyms=antonyms, first=first
        )
        labels = relation.cast(pl.String).replace_strict(LABEL_OF)
        correct = pairs.select("category", correct=labels == pairs["label"])
        counts = correct.group_by("category").agg(pl.col("correct").sum(), pl.len()).sort("category")
        distances = chi_squares(counts, published)
        row = {"edges": edges, "similar": similar or "none", "opposites": antonyms, "first": first, "senses": senses}
        total = sum(distances.values())
        row |= {"chi2": round(total, 1), "without nationalities": round(total - distances.get("nationalities", 0), 1)}
        rows.append(row | {name: round(100 * right / size, 1) for name, right, size in counts.iter_rows()})
    report("wordnet_readings", sorted(rows, key=lambda row: row["chi2"])[:20])


if __name__ == "__main__":
    main()
