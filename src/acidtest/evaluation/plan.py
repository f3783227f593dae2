"""Which inputs a model is asked, in which batches: decided before anything runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.digests import combined, digests
from acidtest.core.draws import key, mixed
from acidtest.core.model import Model
from acidtest.core.suite import Suite, require_columns


@dataclass(frozen=True, slots=True)
class Batch:
    """A run of distinct inputs that is asked at once."""

    number: int
    start: int
    stop: int


@dataclass(frozen=True)
class Plan:
    """The distinct inputs, the batches they are asked in, and which input each row of the suites has.

    The same pair in two suites, or twice in one, is asked once.
    """

    inputs: pl.DataFrame
    ids: pl.Series
    batches: tuple[Batch, ...]
    input_of_row: npt.NDArray[np.int64]
    key: str


def planned(model: Model, suites: Sequence[Suite]) -> Plan:
    """The plan for a model and its suites; equal inputs, model and batch size give an equal plan and key."""
    for suite in suites:
        require_columns(suite.frame, model.columns, suite.name)
    columns = [pl.col(name).cast(pl.String) for name in model.columns]
    identity = [pl.col("id").alias("_id")]
    rows = pl.concat([suite.frame.select(*identity, *columns) for suite in suites]).collect()
    inputs = rows.select(model.columns)
    found = digests(*(inputs[name] for name in model.columns))
    _, first, inverse = np.unique(found, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    chosen = first[order]
    size = model.batch_size
    batches = tuple(
        Batch(number, start, min(start + size, len(chosen))) for number, start in enumerate(range(0, len(chosen), size))
    )
    # Position enters the key: the journal stores answers by batch number.
    position = np.arange(len(chosen)).astype(np.uint64)
    content = combined(mixed(found[chosen] + position))
    return Plan(
        inputs=inputs[chosen],
        ids=rows["_id"][chosen],
        batches=batches,
        input_of_row=place[inverse],
        key=f"{key(content, len(chosen), size, model.name, model.fingerprint or ''):016x}",
    )
