"""Tables that have a row for each judgement, one person's of one item, turned into a row for each item."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import polars as pl

from acidtest.annotate.answers import PARTICULARS, RowError, text
from acidtest.annotate.attendance import attendance
from acidtest.core.errors import AcidtestError, FileError
from acidtest.core.ratings import Attendance
from acidtest.io.tables import Table

SAID_COLUMNS: dict[str, pl.DataType] = {
    "row": pl.Int64(),
    "annotator": pl.String(),
    "label": pl.String(),
    "categories": pl.List(pl.String),
}
"""Who said what: the row, who judged it (null: nobody knows), and what they said."""


@dataclass(frozen=True)
class Judged:
    """Who said what (``SAID_COLUMNS``), and the gold and sentence of each item, a row each."""

    said: pl.DataFrame
    rows: pl.DataFrame
    attendance: Attendance | None = None


def by_item(
    table: Table, item: str, annotator: str, *, rows: pl.DataFrame, labels: pl.DataFrame, marks: pl.Series | None
) -> Judged:
    """The judgements of a table by item, without control items and excluded people.

    ``item`` and ``annotator`` are columns; ``rows`` has gold and sentence of each row of the file, ``labels`` row and
    label where one was given, and ``marks`` the categories.
    """
    keys = pl.DataFrame([text(table.frame[item]).alias("item"), text(table.frame[annotator]).alias("annotator")])
    _check(table, keys, {"item": item, "annotator": annotator})
    place = pl.int_range(keys.height, dtype=pl.Int64, eager=True).alias("place")
    none = pl.Series([None] * keys.height, dtype=SAID_COLUMNS["categories"])
    judged = pl.DataFrame([*keys, *rows.select("gold", "sentence"), place]).with_columns(
        categories=none if marks is None else marks
    )
    counts, found = _attendance(table, keys["annotator"])
    judged = judged.join(labels.select("label", place="row"), on="place", how="left", maintain_order="left")
    judged = judged if counts is None else judged.filter(counts)
    items = judged.group_by("item", maintain_order=True)
    golds = items.agg(pl.col("gold").drop_nulls().unique(maintain_order=True))
    for name, several in golds.filter(pl.col("gold").list.len() > 1).head(1).iter_rows():
        told = " and ".join(map(repr, several[:2]))
        raise FileError(table.path, f"item {name!r} has the gold {told}; an item has one, in all its rows")
    whole = items.agg(pl.col("gold", "sentence").drop_nulls().first())
    numbers = whole.select("item", row=pl.int_range(pl.len(), dtype=pl.Int64))
    said = judged.join(numbers, on="item", how="left", maintain_order="left")
    return Judged(said.select(list(SAID_COLUMNS)), whole.select("gold", "sentence"), found)


def carried_columns(table: Table, item: str, annotator: str, *, but: Collection[str] = ()) -> frozenset[str]:
    """The columns that came along with the items, saying the same in all rows of each; none without answers beside.

    Answers are columns that differ between the people of an item and whose values come again; not those in ``but``,
    nor what is said of people or of their work.
    """
    several = table.frame.group_by(item).agg(pl.exclude(annotator).n_unique()).drop(item).max()
    differ = [name for name, values in several.to_dict().items() if values.item() > 1]
    of_people = table.frame.group_by(annotator).agg(pl.col(differ).n_unique()).select(pl.col(differ).max())
    besides = {*but, *(name for name in differ if name.strip().lower() in (*PARTICULARS, "role"))}
    answers = [name for name in differ if name not in besides and of_people[name].item() > 1]
    if not any(2 * table.frame[name].n_unique() <= table.frame.height for name in answers):
        return frozenset()
    return frozenset(several.columns) - set(differ)


def row_error(table: Table, row: int, problem: str) -> FileError:
    """What is wrong in a row of a table, with its line where the file has lines."""
    line = table.line(row)
    return FileError(table.path, problem if line else f"row {row + 1:,}: {problem}", line)


def _check(table: Table, keys: pl.DataFrame, columns: dict[str, str]) -> None:
    for name, column in columns.items():
        for row in keys[name].is_null().arg_true().head(1):
            raise row_error(table, row, f"column {column!r} is empty; fill it in or remove the row")
    twice = ~keys.select(pl.struct("item", "annotator").is_first_distinct()).to_series()
    for row in twice.arg_true().head(1):
        item, annotator = keys.row(row)
        raise row_error(table, row, f"annotator {annotator!r} labels item {item!r} a second time; keep one row")


def _attendance(table: Table, annotators: pl.Series) -> tuple[pl.Series | None, Attendance | None]:
    """Which rows count, and what there is to say of the people; None where the file says nothing of the kind."""
    names = {name.strip().lower(): name for name in table.columns}
    told = {name: names[name] for name in (*PARTICULARS, "role") if name in names}
    if not told:
        return None, None
    try:
        return attendance(annotators, table.frame.select(pl.col(column).alias(name) for name, column in told.items()))
    except RowError as error:
        raise row_error(table, error.row, error.problem) from error
    except AcidtestError as error:
        raise FileError(table.path, str(error)) from error
