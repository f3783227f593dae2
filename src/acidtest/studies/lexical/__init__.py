"""What a model knows of words: accuracy by category, by how similar two words are, by how often training opposed them.

After Glockner et al. (2018): table 3 (the drop from the original test set), table 4 (categories), sections 5.2 and 5.3.
As there, similarity and frequency are looked at on contradictions in which one word stands for one word. A model that
was asked fresh and published pairs is compared on the two.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

import polars as pl

from acidtest.core.errors import AcidtestError
from acidtest.core.logs import stage
from acidtest.core.run import Run
from acidtest.core.study import study
from acidtest.core.suite import Suite
from acidtest.studies.lexical.knowledge import WordKnowledge, accuracy_drop, adjust_tests, word_knowledge
from acidtest.studies.lexical.memory import MemoryComparison, compare_memory
from acidtest.studies.lexical.rows import (
    COSINE,
    FREQUENCY,
    LexicalRows,
    TrainingCounts,
    VectorCoverage,
    holds_lexical,
    lexical_rows,
    measure,
    suite_names,
)
from acidtest.studies.rows import WORDS, runs_by_model
from acidtest.text.categories import CATEGORY

SCHEMA = 1


@dataclass(frozen=True)
class LexicalResult:
    """What some models know of words; ``pairs`` has a row for each pair of words of each set."""

    knowledge: tuple[WordKnowledge, ...] = field(metadata={"json": "results"})
    memory: tuple[MemoryComparison, ...] = ()
    train: TrainingCounts | None = None
    vectors: VectorCoverage | None = None
    notes: tuple[str, ...] = ()
    pairs: pl.DataFrame = field(default_factory=pl.DataFrame, metadata={"json": None})
    schema: int = SCHEMA


@study(group="look into a run", applies=lambda runs: any(map(holds_lexical, runs)))
def lexical(
    runs: Annotated[Sequence[Run], "Run folders with lexical suites or the published Breaking NLI."],
    *,
    train: Annotated[Suite | None, "A training set, to count pairs of words in its contradictions."] = None,
    embeddings: Annotated[Path | None, "Word vectors: GloVe or word2vec text, .json or .npz."] = None,
    original: Annotated[str | None, "A suite of the runs to compare with, such as snli_1.0_test."] = None,
    reference: Annotated[
        Sequence[Run], "A run of a model that has not seen the published pairs; may be repeated."
    ] = (),
    correction: Annotated[
        Literal["holm", "bh", "by", "none"], "holm, bh (Benjamini–Hochberg), by (Benjamini–Yekutieli) or none."
    ] = "holm",
    seed: Annotated[int, "Seed of every random choice."] = 0,
) -> LexicalResult:
    """Show which categories of words models know, and whether similarity or training frequency explains it.

    A model asked fresh (lexical) and published pairs (breaking-nli) is compared on the two. With -o FILE.tsv all pairs
    of words are written.
    """
    # Without a training set or vectors, what the suites themselves hold is used. All trends are one family of tests,
    # all drops another.
    _refuse_mixed_collapse([*runs, *reference])
    models = runs_by_model(runs)
    loaded = [rows for model, members in models.items() for rows in lexical_rows(model, members)]
    if not loaded:
        names = "; ".join(f"{model}: {', '.join(suite_names(members))}" for model, members in models.items())
        raise AcidtestError(f"none of the runs has a suite lexical, lexical/… or breaking-nli ({names or 'no runs'})")
    stage("looking at pairs of words")
    measured = measure(loaded, train, embeddings)
    drops = [accuracy_drop(rows, models, original, seed) if original else None for rows in measured.sets]
    knowledge = [word_knowledge(rows, drop) for rows, drop in zip(measured.sets, drops, strict=True)]
    return LexicalResult(
        knowledge=adjust_tests(knowledge, correction),
        memory=compare_memory(measured.sets, reference=_reference_rows(reference, models), correction=correction),
        train=measured.train,
        vectors=measured.vectors,
        notes=_notes(measured.sets),
        pairs=_pair_table(measured.sets),
    )


def _refuse_mixed_collapse(runs: Sequence[Run]) -> None:
    collapses = sorted({str(run.header.collapse) for run in runs})
    if len(collapses) > 1:
        raise AcidtestError(f"the runs were scored with different --collapse: {', '.join(collapses)}; score them alike")


def _reference_rows(reference: Sequence[Run], models: Mapping[str, Sequence[Run]]) -> list[LexicalRows]:
    """What the one model of the reference answered."""
    by_model = runs_by_model(reference)
    if len(by_model) > 1:
        raise AcidtestError(f"the reference is of several models: {', '.join(by_model)}; pass runs of one")
    tested = {run.header.model.signature for members in models.values() for run in members}
    for model, members in by_model.items():
        if tested & {run.header.model.signature for run in members}:
            raise AcidtestError(f"the reference is {model!r} itself; pass runs of another model, known to be clean")
    return [rows for model, members in by_model.items() for rows in lexical_rows(model, members)]


def _notes(sets: Sequence[LexicalRows]) -> tuple[str, ...]:
    unclear = {rows.name: rows.frame[WORDS[0]].null_count() for rows in sets}
    return tuple(
        f"{name}: in {count:,} pairs no one word or expression is replaced by another"
        for name, count in unclear.items()
        if count
    )


def _pair_table(sets: Sequence[LexicalRows]) -> pl.DataFrame:
    """A row for each pair of words, label and category of each set: how many rows, how many each model gets right."""
    keys = ["suite", CATEGORY, "label", *WORDS]
    measures = [name for name in (COSINE, FREQUENCY) if any(name in rows.frame.columns for rows in sets)]
    table: pl.DataFrame | None = None
    for rows in sets:
        frame = rows.frame.with_columns(suite=pl.lit(rows.name)).drop_nulls(list(WORDS))
        absent = [name for name in measures if name not in frame.columns]
        frame = frame.with_columns(pl.lit(None, pl.Float64).alias(name) for name in absent)
        counts = frame.group_by(keys, maintain_order=True).agg(
            pl.col(measures).first(),
            pl.len().cast(pl.Int64).alias("rows"),
            pl.col("correct").sum().cast(pl.Int64).alias(f"right: {rows.model}"),
        )
        table = counts if table is None else _merge_tables(table, counts, keys, measures)
    table = pl.DataFrame() if table is None else table
    table = table.with_columns(pl.col(name).cast(pl.Int64) for name in measures if name == FREQUENCY)
    return table.sort("suite", "rows", *WORDS, descending=[False, True, False, False], nulls_last=True)


def _merge_tables(table: pl.DataFrame, counts: pl.DataFrame, keys: list[str], measures: list[str]) -> pl.DataFrame:
    """Two tables of pairs of words as one; models on the same set were asked the same rows, as far as they go."""
    shared = ["rows", *measures]
    both = table.join(counts, on=keys, how="full", coalesce=True, nulls_equal=True, suffix=" too")
    largest = [pl.max_horizontal(name, f"{name} too").alias(name) for name in shared]
    repeated = [name for name in both.columns if name.endswith(" too") and name.removesuffix(" too") not in shared]
    right = [pl.coalesce(name.removesuffix(" too"), name).alias(name.removesuffix(" too")) for name in repeated]
    return both.with_columns(*largest, *right).drop(pl.selectors.ends_with(" too"))
