"""What types of antonyms easy and hard ones are, once a person has filled them in (Naik et al. 2018, section 4.3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from acidtest.core.errors import FileError, UnknownNameError
from acidtest.core.estimate import Estimate
from acidtest.io.tables import FileTable
from acidtest.stats.intervals import rate
from acidtest.studies.antonyms.knowledge import PAIR, STATUSES

TYPES = ("complementary", "relational", "gradable")
"""Dead or alive; buy or sell; hot or cold."""


@dataclass(frozen=True)
class AntonymTypes:
    """The share of each type among the antonyms of each status that have one, and how many have none yet."""

    shares: Mapping[str, Mapping[str, Estimate]]
    untyped: Mapping[str, int]
    not_asked: int = 0
    """Typed pairs without a status: the runs that the table was last written from do not have them."""


def antonym_types(table: FileTable) -> AntonymTypes:
    """The distribution of types in a table of antonyms whose column ``type`` was filled in; some may be left empty."""
    frame = _check_table(table)
    shares, untyped = {}, {}
    for status in STATUSES:
        column = frame.filter(pl.col("status") == status)["type"]
        types = column.drop_nulls()
        shares[status] = {name: rate((types == name).to_numpy()) for name in TYPES}
        untyped[status] = column.null_count()
    return AntonymTypes(shares, untyped, frame.filter(pl.col("status").is_null())["type"].count())


def add_types(pairs: pl.DataFrame, earlier: FileTable | None) -> pl.DataFrame:
    """The table of antonyms with a column ``type`` for a person to fill in; types of an earlier table are kept.

    Pairs that have a type but are not among these come last, with nothing but their type.
    """
    if earlier is None:
        return pairs.with_columns(pl.lit(None, pl.String).alias("type"))
    typed = _typed_pairs(earlier)
    known = pairs.join(typed, on=list(PAIR), how="left", maintain_order="left")
    others = typed.join(pairs, on=list(PAIR), how="anti", maintain_order="left")
    return pl.concat([known, others], how="diagonal")


def _typed_pairs(table: FileTable) -> pl.DataFrame:
    """The pairs that have a type, each once, its words in alphabetical order."""
    low, high = (pl.col(name).str.strip_chars().str.to_lowercase() for name in PAIR)
    typed = (
        _check_table(table)
        .select(
            pl.min_horizontal(low, high).alias(PAIR[0]),
            pl.max_horizontal(low, high).alias(PAIR[1]),
            "type",
            row=pl.int_range(pl.len()),
        )
        .drop_nulls("type")
        .unique([*PAIR, "type"], keep="first", maintain_order=True)
    )
    repeated = typed.filter(pl.struct(PAIR).is_first_distinct().not_())
    if repeated.height:
        word, antonym, second, row = repeated.row(0)
        first = typed.filter((pl.col(PAIR[0]) == word) & (pl.col(PAIR[1]) == antonym))["type"][0]
        raise FileError(
            table.path, f"{word}, {antonym} is {second} here and {first} above; leave one type", table.line(row)
        )
    return typed.drop("row")


def _check_table(table: FileTable) -> pl.DataFrame:
    """The table with its types in lower case, empty ones null."""
    missing = [name for name in (*PAIR, "status", "type") if name not in table.frame.columns]
    if missing:
        advice = "a table that acidtest antonyms RUN… -o FILE.tsv wrote was expected"
        raise FileError(table.path, f"has no column {', '.join(missing)}; {advice}")
    types = pl.col("type").cast(pl.String).str.strip_chars().str.to_lowercase().replace("", None)
    frame: pl.DataFrame = table.frame.with_columns(types)
    for column, known in (("type", TYPES), ("status", STATUSES)):
        wrong = frame.select((pl.col(column).is_not_null() & ~pl.col(column).is_in(known)).arg_true()).to_series()
        if len(wrong):
            row = int(wrong[0])
            problem = UnknownNameError(column, str(frame[column][row]), known)
            raise FileError(table.path, str(problem), table.line(row))
    return frame
