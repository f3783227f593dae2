"""A suite: premise–hypothesis pairs with gold, and the card that says what they are.

Its frame may be larger than memory: it is made, read and written piece by piece.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
import polars as pl

from acidtest.core.digests import combine_digests, digests, hexadecimal, repeated_values
from acidtest.core.draws import U64, Integers
from acidtest.core.errors import AcidtestError, cut_long_values

SCHEMA = 1

COLUMNS = ("id", "premise", "hypothesis", "label", "group", "base_id", "source_id", "certainty")
"""The columns of every suite, all strings; the last three may be null."""

PARSES = ("premise_parse", "hypothesis_parse", "premise_binary_parse", "hypothesis_binary_parse")
"""Optional columns, which tree models require."""

RESERVED = frozenset(
    {*COLUMNS, *PARSES, "suite", "p_entailment", "p_neutral", "p_contradiction", "answer", "correct", "truncated"}
)
"""Names reserved by acidtest: a column of a foreign file with one of them is renamed ``source_<name>``."""

CONTROL = "#control"
"""Suffix of the name of a suite's control."""

Kind = Literal["factor", "list", "category", "covariate", "text"]
"""What a column holds: a factor has few values to break results down by, a covariate is a number, text is neither.

A list is a factor with several values per row, stored as a JSON list: ``["Tricky", "Reasoning"]``. A category is true
or false, and several may be true of one row: all categories together form one breakdown, named ``CATEGORY``.
"""

CATEGORY = "category"
"""The name of the breakdown by categories; its values are their names."""

EXPECTATION = "expectation"
"""The factor that says what is expected of the verdict on a changed pair, against that on the untouched one."""

EDIT = "edit"
"""The factor that names what was done to a claim or to its document, in suites of edited claims."""

CLAIM_EDIT = (EDIT, "kind", "change")
"""The columns of every suite of edited claims, whatever its name."""

ABOUT_CLAIMS = "grounding/"
"""How the names of suites on documents and claims begin; verdicts on claims without gold are compared with others."""

TRANSITIVE = "transitive"
"""The expectation of a pair whose verdict follows from two others: the untouched one and that of its ``LINK``."""

LINK = "link"
"""The column with the id of the row of the same suite that leads from the untouched hypothesis to the new one."""

ROW_GROUP = 1 << 14
"""Rows in a row group of the Parquet files we write; small, because several groups are in memory at once."""

CROSS = " × "
"""Joins the names, and the values, of factors that are broken down together."""


class ColumnNameError(AcidtestError, ValueError):
    """A column whose name Polars or a breakdown would misread."""


Argument = str | int | float | bool


@dataclass(frozen=True)
class Card:
    """What a suite is, where it comes from and how it may be analysed."""

    name: str
    version: int = 1
    seed: int | None = None
    arguments: Mapping[str, Argument] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)
    licence: str = ""
    citation: str = ""
    note: str = ""
    columns: Mapping[str, Kind] = field(default_factory=dict)
    strata: tuple[str, ...] = ()
    crossings: tuple[tuple[str, ...], ...] = ()
    sample_by: str = ""
    """Which rows ``--limit`` keeps together: those with one value in this column; of numbers the lowest."""
    rows: int = 0
    labels: Mapping[str, int] = field(default_factory=dict)
    fingerprint: str = ""
    dropped: int = 0
    """Rows of a foreign file that had no gold and were left out."""
    left_out: Mapping[str, int] = field(default_factory=dict)
    """How many candidates the generator left out, by reason."""
    schema: int = SCHEMA

    def __post_init__(self) -> None:
        for column in self.columns:
            if (name := plain_name(column)) != column:
                raise ColumnNameError(f"no column can be called {column!r}; rename it, for instance to {name!r}")

    @property
    def factors(self) -> tuple[str, ...]:
        """The columns whose values become breakdowns."""
        return tuple(name for name, kind in self.columns.items() if kind == "factor")

    @property
    def lists(self) -> tuple[str, ...]:
        """The columns that hold several values per row; they become breakdowns, too."""
        return tuple(name for name, kind in self.columns.items() if kind == "list")

    @property
    def categories(self) -> tuple[str, ...]:
        """The columns that say whether a category holds of a row."""
        return tuple(name for name, kind in self.columns.items() if kind == "category")

    @property
    def about_claims(self) -> bool:
        """Whether the pairs are documents and claims: predictions are judged as supported or not supported only."""
        return self.name.startswith(ABOUT_CLAIMS) or set(CLAIM_EDIT) <= set(self.columns)

    @property
    def left_out_reasons(self) -> list[str]:
        """What was left out, in words: ``["24 with nothing to change for 'spelling'"]``."""
        return [f"{count:,} {reason}" for reason, count in self.left_out.items()]

    @property
    def signature(self) -> str:
        """The suite's part of a score's signature."""
        parts = [self.name, f"v:{self.version}"]
        for name, value in sorted(self.arguments.items()):
            parts.append(f"{name}:{str(value).lower() if isinstance(value, bool) else value}")
        parts += [f"seed:{self.seed}"] if self.seed is not None else []
        return "|".join([*parts, f"n:{self.rows}", f"h:{self.fingerprint[:6]}"])

    def to_json(self) -> dict[str, Any]:
        """The card as plain values: the content of a card file."""
        # Before Python 3.12, asdict counts the items of a Counter instead of copying it.
        values = asdict(replace(self, left_out=dict(self.left_out)))
        return {name: value for name, value in values.items() if value or name != "sample_by"}


@dataclass(frozen=True)
class Suite:
    """A lazy frame of pairs to ask a model about, with a card; ``control`` holds the untouched pairs, if any."""

    frame: pl.LazyFrame
    card: Card
    control: Suite | None = None
    origin: Path | None = None
    """The foreign file that the suite was read from; its rows are those of that file, with their own ids."""
    without_gold: Integers | None = field(default=None, compare=False, repr=False)
    """The numbers, in that file, of the rows without gold, which the suite leaves out."""
    misleading: bool = False
    """Whether the file was built to mislead models, so that most predictions may be wrong."""

    @property
    def name(self) -> str:
        """The name in its card."""
        return self.card.name

    def sealed(self) -> Self:
        """The suite with row count, label counts and fingerprint written into its card, and into that of its control.

        The fingerprint covers every column, since each can change a result, but not the order of rows and columns.
        """
        columns = sorted(self.frame.collect_schema().names())
        digest_sum, counts = 0, dict[str, int]()

        def add_batch(batch: pl.DataFrame) -> None:
            nonlocal digest_sum
            texts = (batch[name].cast(pl.String) for name in columns)
            digest_sum += int(combine_digests(digests(*texts, salt=CROSS.join(columns))), 16)
            for label, count in batch["label"].value_counts().iter_rows():
                counts[label] = counts.get(label, 0) + count

        visit_batches(self.frame, add_batch)
        fingerprint = f"{digest_sum % 2**64:016x}"
        rows = sum(counts.values())
        card = replace(self.card, rows=rows, labels=dict(sorted(counts.items())), fingerprint=fingerprint)
        return replace(self, card=card, control=self.control.sealed() if self.control else None)


def source_digests(name: str, frame: pl.DataFrame) -> U64:
    """Digests of suite name, premise, hypothesis and label: the ids of rows that are not derived from others."""
    return digests(frame["premise"], frame["hypothesis"], frame["label"], salt=name)


class SourceIds:
    """Turns ``source_digests`` into ids, block by block: a repeated pair gets ``<id>.2``, ``<id>.3`` and so on.

    ``twice`` holds the digests that occur more than once across all blocks, in ascending order.
    """

    def __init__(self, twice: U64) -> None:
        self._twice = twice
        self._seen = np.zeros(len(twice), dtype=np.int64)

    def of(self, values: U64) -> pl.Series:
        """The ids of the rows of the next block, given their digests."""
        ids = hexadecimal(values).alias("id")
        rows = np.flatnonzero(np.isin(values, self._twice))
        if not rows.size:
            return ids
        pairs = np.searchsorted(self._twice, values[rows])
        running_count = pl.int_range(1, pl.len() + 1).over("pair")
        occurrence = pl.DataFrame({"pair": pairs}).select(running_count).to_series() + self._seen[pairs]
        self._seen += np.bincount(pairs, minlength=len(self._seen))
        is_repeat = (occurrence > 1).to_numpy()
        repeats, numbers = rows[is_repeat], occurrence.filter(is_repeat).cast(pl.String)
        return ids.scatter(repeats, ids.gather(repeats) + "." + numbers)


def complete_columns(frame: pl.DataFrame, name: str, ids: SourceIds | None = None) -> pl.DataFrame:
    """The frame with all ``COLUMNS`` first, in order; missing ones are added.

    Pass ``ids`` where the frame is a block of a larger one, so that ids are unique across blocks. Without groups each
    row is its own group; other missing columns are null.
    """
    if "id" not in frame.columns:
        values = source_digests(name, frame)
        ids = ids or SourceIds(repeated_values(np.sort(values)))
        frame = frame.with_columns(ids.of(values))
    if "group" not in frame.columns:
        frame = frame.with_columns(pl.col("id").alias("group"))
    absent = [pl.lit(None, dtype=pl.String).alias(column) for column in COLUMNS if column not in frame.columns]
    frame = frame.with_columns(absent)
    return frame.select(*COLUMNS, pl.exclude(COLUMNS))


def list_values(cells: pl.Series) -> pl.Series:
    """The values of a list column, row by row."""
    return cells.fill_null("[]").str.json_decode(pl.List(pl.String))


def plain_name(column: str) -> str:
    """The name of a column with everything replaced that would be misread.

    Polars reads ``*`` and ``^…$`` as patterns, breakdowns read `` × `` as two factors, and terminals run escape codes.
    """
    name = "".join(letter if letter.isprintable() else "\ufffd" for letter in column.replace(CROSS, " x "))
    return f"source_{name}" if is_pattern(name) else name


def is_pattern(name: str) -> bool:
    """Whether Polars reads the name of a column as a pattern wherever it takes an expression."""
    return name == "*" or (name.startswith("^") and name.endswith("$"))


def require_columns(frame: pl.LazyFrame, columns: Iterable[str], suite: str) -> None:
    """Raise when a model asks for columns the suite does not have."""
    available = frame.collect_schema().names()
    missing = [name for name in columns if name not in available]
    if missing:
        raise AcidtestError(f"suite {suite!r} has no column {', '.join(missing)}, which the model asks for")


def visit_batches(frame: pl.LazyFrame, visit: Callable[[pl.DataFrame], object]) -> None:
    """Call a function with the rows piece by piece, in order."""

    # Polars ends the stream when its callback returns true: this one returns nothing.
    def call(batch: pl.DataFrame) -> None:
        visit(batch)

    # sink_batches waits for each visit to end before it makes more rows; collect_batches would run ahead.
    try:
        frame.sink_batches(call, maintain_order=True)
    except pl.exceptions.PanicException as error:
        # A damaged Parquet file may end so; it is no Exception.
        reason = cut_long_values(str(error).splitlines()[0])
        problem = f"a Parquet file is damaged ({reason}); copy or write it again, or run the model with --fresh"
        raise AcidtestError(problem) from error


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
