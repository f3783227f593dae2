"""Frames that are never in memory as a whole: made, and looked at, piece by piece."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import polars as pl


def visit_batches(frame: pl.LazyFrame, visit: Callable[[pl.DataFrame], None]) -> None:
    """Show the rows to a function piece by piece, in order, so that a suite larger than memory can pass through."""
    # Polars waits for the visit to end before it makes more; its generator of batches would run ahead.
    frame.sink_batches(lambda batch: visit(batch), maintain_order=True)


def streamed(blocks: Callable[[Sequence[str]], Iterator[pl.DataFrame]], schema: Mapping[str, Any]) -> pl.LazyFrame:
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


def compacted(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame in room of its own: rows picked from a batch otherwise keep all the texts of the batch alive."""
    return pl.DataFrame(frame.to_dict(as_series=False), schema=frame.schema)
