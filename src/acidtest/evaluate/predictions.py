"""A run's predictions: every row of its suites with what the model answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from acidtest.core.labels import LABELS, TWO_WAY_LABELS, coarsen_gold, gold_masks
from acidtest.core.run import ModelFacts
from acidtest.core.suite import Suite
from acidtest.core.verdicts import Collapse, answers, verdicts
from acidtest.evaluate.answer_table import AnswerTable

_ANSWER: Mapping[str, Any] = {
    "p_entailment": pl.Float32,
    "p_neutral": pl.Float32,
    "p_contradiction": pl.Float32,
    "answer": pl.String,
    "correct": pl.Boolean,
    "truncated": pl.Boolean,
}


def predictions_frame(
    suites: Sequence[Suite], table: AnswerTable, *, model: ModelFacts, collapse: Collapse
) -> pl.LazyFrame:
    """The suites' rows one after another, then probabilities, answer (null for none), whether it is right, and whether
    the pair had to be cut; made piece by piece when it is read.
    """
    two_way = model.resolution == "two-way"

    def told(batch: pl.DataFrame) -> pl.DataFrame:
        values, truncated = table.of(batch)
        if two_way:
            values = np.column_stack([values[:, 0], values[:, 1] + values[:, 2], values[:, 2] * 0])
        gold = gold_masks(batch["label"].to_numpy())
        given = answers(values, collapse)
        names = np.array(TWO_WAY_LABELS if two_way else LABELS)
        return batch.with_columns(
            p_entailment=values[:, 0],
            p_neutral=values[:, 1],
            p_contradiction=values[:, 2],
            answer=pl.when(pl.Series(given >= 0)).then(pl.Series(names[np.maximum(given, 0)])),
            correct=verdicts(values, coarsen_gold(gold) if two_way else gold, collapse=collapse),
            truncated=truncated,
        )

    frames = []
    for suite in suites:
        frame = suite.frame.select(pl.lit(suite.name).alias("suite"), pl.all())
        schema = dict(frame.collect_schema()) | dict(_ANSWER)
        frames.append(frame.map_batches(told, schema=schema, streamable=True))
    return pl.concat(frames, how="diagonal_relaxed")
