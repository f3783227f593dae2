"""The distinct inputs to ask a model, and their batches, fixed before anything runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.digests import SeenDigests, digests
from acidtest.core.draws import U64
from acidtest.core.model import HasOptionalColumns, Model, Prepares
from acidtest.core.suite import Suite, compact_frame, require_columns, visit_batches
from acidtest.io.rows import Rows, Spool

ID = "_id"
"""The column beside the inputs that holds the id of the first row with that input."""

_LENGTHS = (64, 96, 128, 160, 192, 256, 384, 768, 2048)
"""Lengths in bytes at which the next bucket of pairs begins."""


@dataclass(frozen=True)
class Batch:
    """Distinct inputs that are asked together."""

    number: int
    inputs: pl.DataFrame
    """The columns the model asks for, and ``ID``."""
    keys: U64
    """Their digests, under which answers are stored."""


@dataclass(frozen=True)
class InputPlan:
    """The distinct inputs of some suites, in batches. The same pair in two suites, or twice in one, is asked once.

    Where the model prefers it, batches hold inputs of similar length, longest first. Large inputs stay on disk.
    """

    keys: U64
    """The digests of all inputs, in ascending order."""
    rows: int
    columns: tuple[str, ...]
    size: int
    _inputs: Sequence[Rows]

    @property
    def batches(self) -> int:
        """How many batches there are."""
        return sum(-(-rows.height // self.size) for rows in self._inputs)

    def __iter__(self) -> Iterator[Batch]:
        number = 0
        for rows in self._inputs:
            for inputs in _regroup(rows.batches(), self.size):
                yield Batch(number, inputs, self.digests(inputs))
                number += 1

    def digests(self, frame: pl.DataFrame, salt: str = "") -> U64:
        """The digest of every row's input; columns that the frame lacks count as null."""
        nothing = pl.lit(None, dtype=pl.String)
        missing = [nothing.alias(name) for name in self.columns if name not in frame.columns]
        frame = frame.with_columns(missing) if missing else frame
        return digests(*(frame[name] for name in self.columns), salt=salt)

    def places(self, keys: U64) -> npt.NDArray[np.int64]:
        """The position of each key among the plan's keys."""
        return np.searchsorted(self.keys, keys)


def make_plan(model: Model, suites: Sequence[Suite]) -> InputPlan:
    """The plan for a model and its suites; equal inputs, columns and batch size give an equal plan."""
    columns = tuple(model.columns)
    optional = model.optional if isinstance(model, HasOptionalColumns) else ()
    for suite in suites:
        require_columns(suite.frame, [name for name in columns if name not in optional], suite.name)
    bounds = _LENGTHS if isinstance(model, Prepares) and model.lengths else ()
    spools, seen, rows = [Spool() for _ in range(len(bounds) + 1)], SeenDigests(), 0

    def add_new_inputs(batch: pl.DataFrame) -> None:
        nonlocal rows
        rows += batch.height
        new = batch.filter(seen.new(digests(*(batch[name] for name in columns))))
        for spool, part in zip(spools, _by_length(new, columns, bounds), strict=True):
            if part.height:
                spool.add(compact_frame(part))

    for suite in suites:
        schema = suite.frame.collect_schema()
        texts = [(pl.col(name) if name in schema else pl.lit(None).alias(name)).cast(pl.String) for name in columns]
        visit_batches(suite.frame.select(pl.col("id").alias(ID), *texts), add_new_inputs)
    text_columns = dict.fromkeys((ID, *columns), pl.String)
    buckets = tuple(spool.rows(text_columns) for spool in reversed(spools))
    return InputPlan(seen.sorted(), rows, columns, model.batch_size, buckets)


def _by_length(frame: pl.DataFrame, columns: Sequence[str], bounds: Sequence[int]) -> Iterator[pl.DataFrame]:
    """The rows whose texts have fewer bytes in all than the first bound, then than the second, and so on."""
    if not bounds:
        yield frame
        return
    total = frame.select(pl.sum_horizontal(pl.col(name).str.len_bytes() for name in columns)).to_series()
    kind = np.searchsorted(np.array(bounds), total.to_numpy(), side="right")
    for number in range(len(bounds) + 1):
        yield frame.filter(pl.Series(kind == number))


def _regroup(parts: Iterable[pl.DataFrame], size: int) -> Iterator[pl.DataFrame]:
    """The same rows, ``size`` at a time."""
    pending = list[pl.DataFrame]()
    for part in parts:
        pending.append(part)
        if sum(frame.height for frame in pending) < size:
            continue
        whole = pl.concat(pending)
        full = whole.height - whole.height % size
        yield from whole.head(full).iter_slices(size)
        pending = [whole.slice(full)] if full < whole.height else []
    if pending and (rest := pl.concat(pending)).height:
        yield rest
