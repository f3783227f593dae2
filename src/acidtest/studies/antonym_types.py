"""What kind of opposites easy and hard antonyms are, once a person has said so (Naik et al. 2018, section 4.3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from acidtest.core.errors import FileError, UnknownNameError
from acidtest.core.estimate import Estimate
from acidtest.io.tables import Table
from acidtest.stats.intervals import rate
from acidtest.studies.antonyms import PAIR, STATUSES

TYPES = ("complementary", "relational", "gradable")
"""Dead or alive; buy or sell; hot or cold."""


@dataclass(frozen=True)
class AntonymTypes:
    """The share of each type among the antonyms of each status that have one, and how many have none yet."""

    shares: Mapping[str, Mapping[str, Estimate]]
    untyped: Mapping[str, int]
    not_asked: int = 0
    """Typed pairs without a status: the runs that the table was last written from do not have them."""

    def to_json(self) -> dict[str, Any]:
        """As the command's --json prints it."""
        shares = {
            status: {name: share.to_json() for name, share in found.items()} for status, found in self.shares.items()
        }
        return {"shares": shares, "untyped": dict(self.untyped), "not_asked": self.not_asked}


def antonym_types(table: Table) -> AntonymTypes:
    """The distribution of types in a table of antonyms whose column ``type`` was filled in; some may be left empty."""
    frame = _checked(table)
    shares, untyped = {}, {}
    for status in STATUSES:
        own = frame.filter(pl.col("status") == status)["type"]
        told = own.drop_nulls()
        shares[status] = {name: rate((told == name).to_numpy()) for name in TYPES}
        untyped[status] = own.null_count()
    return AntonymTypes(shares, untyped, frame.filter(pl.col("status").is_null())["type"].count())


def with_types(pairs: pl.DataFrame, earlier: Table | None) -> pl.DataFrame:
    """The table of antonyms with a column ``type`` for a person to fill, which keeps what was filled in before.

    Pairs that have a type but are not among these stand at the end, with nothing else said of them.
    """
    if earlier is None:
        return pairs.with_columns(pl.lit(None, pl.String).alias("type"))
    known = _types(earlier)
    own = pairs.join(known, on=list(PAIR), how="left", maintain_order="left")
    others = known.join(pairs, on=list(PAIR), how="anti", maintain_order="left")
    return pl.concat([own, others], how="diagonal")


def _types(table: Table) -> pl.DataFrame:
    """The pairs that have a type, each once and in the order of the alphabet, as a run's pairs stand."""
    low, high = (pl.col(name).str.strip_chars().str.to_lowercase() for name in PAIR)
    known = (
        _checked(table)
        .select(
            pl.min_horizontal(low, high).alias(PAIR[0]),
            pl.max_horizontal(low, high).alias(PAIR[1]),
            "type",
            row=pl.int_range(pl.len()),
        )
        .drop_nulls("type")
        .unique([*PAIR, "type"], keep="first", maintain_order=True)
    )
    twice = known.filter(pl.struct(PAIR).is_first_distinct().not_())
    if twice.height:
        word, antonym, second, row = twice.row(0)
        first = known.filter((pl.col(PAIR[0]) == word) & (pl.col(PAIR[1]) == antonym))["type"][0]
        raise FileError(
            table.path, f"{word}, {antonym} is {second} here and {first} above; leave one type", table.line(row)
        )
    return known.drop("row")


def _checked(table: Table) -> pl.DataFrame:
    """The table with its types in lower case, empty ones null."""
    missing = [name for name in (*PAIR, "status", "type") if name not in table.frame.columns]
    if missing:
        advice = "a table that acidtest antonyms RUN… -o FILE.tsv wrote was expected"
        raise FileError(table.path, f"has no column {', '.join(missing)}; {advice}")
    plain = pl.col("type").cast(pl.String).str.strip_chars().str.to_lowercase().replace("", None)
    frame: pl.DataFrame = table.frame.with_columns(plain)
    for column, known in (("type", TYPES), ("status", STATUSES)):
        wrong = frame.select((pl.col(column).is_not_null() & ~pl.col(column).is_in(known)).arg_true()).to_series()
        if len(wrong):
            row = int(wrong[0])
            problem = UnknownNameError(column, str(frame[column][row]), known)
            raise FileError(table.path, str(problem), table.line(row))
    return frame
