"""Frames larger than memory, which are made, read and written piece by piece."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

ROW_GROUP = 1 << 14
"""Rows of a row group in the Parquet files we write; writers and readers keep several groups in memory."""


def visit_batches(frame: pl.LazyFrame, visit: Callable[[pl.DataFrame], object]) -> None:
    """Call a function with the rows piece by piece, in order."""

    # What the callback of Polars returns can end the stream early.
    def call(batch: pl.DataFrame) -> None:
        visit(batch)

    # Polars waits for the visit to end before it makes more; its generator of batches would run ahead.
    frame.sink_batches(call, maintain_order=True)


def stream_frame(blocks: Callable[[Sequence[str]], Iterator[pl.DataFrame]], schema: Mapping[str, Any]) -> pl.LazyFrame:
    """A frame that is made block by block when it is read; ``blocks`` is given the names of the columns wanted."""
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
    """A copy of the frame in memory of its own: rows of a batch would keep all texts of the batch in memory."""
    return pl.DataFrame(frame.to_dict(as_series=False), schema=frame.schema)


def sink_rows(rows: pl.LazyFrame, target: Path | pl.PartitionBy, metadata: Mapping[str, str]) -> None:
    """Write rows to a Parquet file, or to several, as they come; a full disk and the like is an ``OSError``."""
    try:
        rows.sink_parquet(target, metadata=dict(metadata), maintain_order=True, row_group_size=ROW_GROUP, mkdir=True)
    except pl.exceptions.ComputeError as error:
        number = re.search(r"\(os error (\d+)\)", str(error))
        if number is None:
            raise
        raise OSError(int(number[1]), os.strerror(int(number[1]))) from error
