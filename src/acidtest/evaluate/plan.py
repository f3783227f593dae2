"""Which inputs a model is asked, in which batches: decided before anything runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.digests import SeenDigests, digests
from acidtest.core.draws import U64
from acidtest.core.model import DoesWithout, Model, Prepares
from acidtest.core.streams import compact_frame, visit_batches
from acidtest.core.suite import Suite, require_columns
from acidtest.io.rows import Rows, Spool

ID = "_id"
"""The column beside the inputs that holds the id of the first row with that input."""

_LENGTHS = (64, 96, 128, 160, 192, 256, 384, 768, 2048)
"""Characters at which pairs of another length begin."""


@dataclass(frozen=True)
class Batch:
    """Distinct inputs that are asked at once."""

    number: int
    inputs: pl.DataFrame
    """The columns the model asks for, and ``ID``."""
    keys: U64
    """Their digests, by which answers are found."""


@dataclass(frozen=True)
class Plan:
    """The distinct inputs of some suites, in batches. The same pair in two suites, or twice in one, is asked once.

    Inputs of like length stand together where the model wants that, the longest first. Texts are not held in memory
    where they are many.
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
            for inputs in _regrouped(rows.batches(), self.size):
                yield Batch(number, inputs, self.digests(inputs))
                number += 1

    def digests(self, frame: pl.DataFrame, salt: str = "") -> U64:
        """The digest of every row's input."""
        nothing = pl.lit(None, dtype=pl.String)
        missing = [nothing.alias(name) for name in self.columns if name not in frame.columns]
        frame = frame.with_columns(missing) if missing else frame
        return digests(*(frame[name] for name in self.columns), salt=salt)

    def places(self, keys: U64) -> npt.NDArray[np.int64]:
        """Where among the plan's keys each of these stands; all of them do."""
        return np.searchsorted(self.keys, keys)


def planned(model: Model, suites: Sequence[Suite]) -> Plan:
    """The plan for a model and its suites; equal inputs, columns and batch size give an equal plan."""
    optional = model.optional if isinstance(model, DoesWithout) else ()
    for suite in suites:
        require_columns(suite.frame, [name for name in model.columns if name not in optional], suite.name)
    bounds = _LENGTHS if isinstance(model, Prepares) and model.lengths else ()
    kept, seen, rows = [Spool() for _ in range(len(bounds) + 1)], SeenDigests(), 0

    def look(batch: pl.DataFrame) -> None:
        nonlocal rows
        rows += batch.height
        new = batch.filter(seen.new(digests(*(batch[name] for name in model.columns))))
        for spool, part in zip(kept, _by_length(new, model.columns, bounds), strict=True):
            if part.height:
                spool.add(compact_frame(part))

    for suite in suites:
        have = suite.frame.collect_schema()
        found = [(pl.col(name) if name in have else pl.lit(None).alias(name)).cast(pl.String) for name in model.columns]
        visit_batches(suite.frame.select(pl.col("id").alias(ID), *found), look)
    schema = dict.fromkeys((ID, *model.columns), pl.String)
    inputs = tuple(spool.rows(schema) for spool in reversed(kept))
    return Plan(seen.sorted(), rows, tuple(model.columns), model.batch_size, inputs)


def _by_length(frame: pl.DataFrame, columns: Sequence[str], bounds: Sequence[int]) -> Iterator[pl.DataFrame]:
    """The rows whose texts have fewer characters than the first bound, then the second, and so on."""
    if not bounds:
        yield frame
        return
    total = frame.select(pl.sum_horizontal(pl.col(name).str.len_bytes() for name in columns)).to_series()
    kind = np.searchsorted(np.array(bounds), total.to_numpy(), side="right")
    for number in range(len(bounds) + 1):
        yield frame.filter(pl.Series(kind == number))


def _regrouped(parts: Iterable[pl.DataFrame], size: int) -> Iterator[pl.DataFrame]:
    """The same rows, ``size`` at a time."""
    held = list[pl.DataFrame]()
    for part in parts:
        held.append(part)
        if sum(each.height for each in held) < size:
            continue
        whole = pl.concat(held)
        full = whole.height - whole.height % size
        yield from whole.head(full).iter_slices(size)
        held = [whole.slice(full)] if full < whole.height else []
    if held and (rest := pl.concat(held)).height:
        yield rest
