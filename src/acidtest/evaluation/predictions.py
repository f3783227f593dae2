"""A run's predictions: every row of its suites with what the model answered."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from acidtest.core.labels import LABELS, TWO_WAY_LABELS, coarsened, masks
from acidtest.core.run import ModelFacts
from acidtest.core.suite import Suite
from acidtest.core.verdicts import Collapse, Probabilities, answers, verdicts


def predictions_frame(
    suites: Sequence[Suite], values: Probabilities, *, model: ModelFacts, collapse: Collapse
) -> pl.DataFrame:
    """The suites' rows one after another, then probabilities, answer (null for none) and whether it is right."""
    two_way = model.resolution == "two-way"
    if two_way:
        values = np.column_stack([values[:, 0], values[:, 1] + values[:, 2], values[:, 2] * 0])
    frames = [suite.frame.collect().insert_column(0, pl.lit(suite.name).alias("suite")) for suite in suites]
    frame = pl.concat(frames, how="diagonal_relaxed")
    gold = masks(frame["label"].to_numpy())
    given = answers(values, collapse)
    names = np.array(TWO_WAY_LABELS if two_way else LABELS)
    return frame.with_columns(
        p_entailment=values[:, 0],
        p_neutral=values[:, 1],
        p_contradiction=values[:, 2],
        answer=pl.when(pl.Series(given >= 0)).then(pl.Series(names[np.maximum(given, 0)])),
        correct=verdicts(values, coarsened(gold) if two_way else gold, collapse=collapse),
    )
