"""Frames larger than memory, which are made, read and written piece by piece."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

ROW_GROUP = 1 << 14
"""Rows in a row group of the Parquet files we write; small, because several groups are in memory at once."""


def visit_batches(frame: pl.LazyFrame, visit: Callable[[pl.DataFrame], object]) -> None:
    """Call a function with the rows piece by piece, in order."""

    # Polars ends the stream when its callback returns true: this one returns nothing.
    def call(batch: pl.DataFrame) -> None:
        visit(batch)

    # sink_batches waits for each visit to end before it makes more rows; collect_batches would run ahead.
    frame.sink_batches(call, maintain_order=True)


def stream_frame(blocks: Callable[[Sequence[str]], Iterator[pl.DataFrame]], schema: Mapping[str, Any]) -> pl.LazyFrame:
    """A frame that is made block by block when it is read; ``blocks`` receives the names of the columns to make."""
    from polars.io.plugins import register_io_source

    def source(
        with_columns: list[str] | None, predicate: pl.Expr | None, n_rows: int | None, _batch_size: int | None
    ) -> Iterator[pl.DataFrame]:
        left = n_rows
        for block in blocks(with_columns or list(schema)):
            part = block if left is None else block.head(left)
            left = None if left is None else left - part.height
            yield part if predicate is None else part.filter(predicate)
            if left == 0:
                return

    return register_io_source(source, schema=dict(schema), is_pure=True)


def compact_frame(frame: pl.DataFrame) -> pl.DataFrame:
    """A copy that shares no memory: a few rows of a batch would keep all texts of the batch in memory."""
    return pl.DataFrame(frame.to_dict(as_series=False), schema=frame.schema)


def sink_rows(rows: pl.LazyFrame, target: Path | pl.PartitionBy, metadata: Mapping[str, str]) -> None:
    """Write rows to one Parquet file or several as they are made; a full disk or the like raises ``OSError``."""
    try:
        rows.sink_parquet(target, metadata=dict(metadata), maintain_order=True, row_group_size=ROW_GROUP, mkdir=True)
    except pl.exceptions.ComputeError as error:
        number = re.search(r"\(os error (\d+)\)", str(error))
        if number is None:
            raise
        raise OSError(int(number[1]), os.strerror(int(number[1]))) from error
