"""Coded checks of what a suite promises: E is wrong, W is worth a look."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import polars as pl

from acidtest.core.errors import AcidtestError, some
from acidtest.core.labels import GOLD_MASKS
from acidtest.core.suite import COLUMNS, PARSES, RESERVED, Suite

KIND_TYPES = {"factor": pl.String, "text": pl.String, "covariate": pl.Float64}


@dataclass(frozen=True)
class Problem:
    """Something a check found."""

    code: str
    message: str

    @property
    def is_error(self) -> bool:
        """Whether the suite cannot be used as it is."""
        return self.code.startswith("E")

    def __str__(self) -> str:
        return f"{self.code} {self.message}"


def problems(suite: Suite) -> list[Problem]:
    """What is wrong or doubtful about a suite, errors first."""
    frame = suite.frame.collect()
    missing = [name for name in COLUMNS if name not in frame.columns]
    if missing:
        return [Problem("E100", f"columns missing: {', '.join(missing)}")]
    found = [problem for check in CHECKS for problem in check(suite, frame)]
    return sorted(found, key=lambda problem: problem.code)


def require_sound(suite: Suite, where: str) -> list[Problem]:
    """Raise when a suite has an error, else give what is doubtful; ``where`` names the file or generator."""
    found = problems(suite)
    errors = [str(problem) for problem in found if problem.is_error]
    if errors:
        raise AcidtestError(f"{where}: suite {suite.name!r} is not sound: {'; '.join(errors)}")
    return found


def _unique_ids(_: Suite, frame: pl.DataFrame) -> Iterator[Problem]:
    repeated = frame.filter(pl.col("id").is_duplicated())["id"].unique(maintain_order=True)
    if len(repeated):
        yield Problem("E101", f"ids that stand twice: {some(repeated.to_list())}")


def _filled(_: Suite, frame: pl.DataFrame) -> Iterator[Problem]:
    for name in ("id", "premise", "hypothesis", "label", "group"):
        empty = int(frame[name].fill_null("").eq("").sum())
        if empty:
            yield Problem("E102", f"{empty:,} rows have no {name}")


def _known_labels(_: Suite, frame: pl.DataFrame) -> Iterator[Problem]:
    unknown = sorted(set(frame["label"].drop_nulls()) - set(GOLD_MASKS))
    if unknown:
        yield Problem("E103", f"labels that are not among {', '.join(GOLD_MASKS)}: {some(unknown)}")


def _controls_exist(suite: Suite, frame: pl.DataFrame) -> Iterator[Problem]:
    if suite.control is None:
        return
    have = suite.control.frame.select("id").collect()["id"]
    absent = frame.filter(pl.col("base_id").is_not_null() & ~pl.col("base_id").is_in(have.implode()))["base_id"]
    if len(absent):
        yield Problem("E104", f"base_id points at rows the control does not have: {some(absent.to_list())}")


def _declared_columns(suite: Suite, frame: pl.DataFrame) -> Iterator[Problem]:
    own = [name for name in frame.columns if name not in (*COLUMNS, *PARSES)]
    if set(own) != set(suite.card.columns):
        differ = sorted(set(own) ^ set(suite.card.columns))
        yield Problem("E105", f"columns in the card or in the rows, but not in both: {', '.join(differ)}")
        return
    for name, kind in suite.card.columns.items():
        if frame.schema[name] != KIND_TYPES[kind]:
            yield Problem("E106", f"{kind} {name!r} is {frame.schema[name]}, not {KIND_TYPES[kind]()}")


def _free_names(suite: Suite, _: pl.DataFrame) -> Iterator[Problem]:
    taken = sorted((RESERVED - {*COLUMNS, *PARSES}) & set(suite.card.columns))
    if taken:
        yield Problem("E107", f"columns whose names a run needs for itself: {', '.join(taken)}; rename them")


def _one_label_per_pair(_: Suite, frame: pl.DataFrame) -> Iterator[Problem]:
    split = frame.group_by("premise", "hypothesis").agg(pl.col("label").n_unique()).filter(pl.col("label") > 1)
    if split.height:
        yield Problem("W201", f"{split.height:,} pairs stand with two different labels")


def _no_leak_by_length(_: Suite, frame: pl.DataFrame) -> Iterator[Problem]:
    """Length alone should not tell the label: the area under the curve of one label against the rest."""
    if frame.height < 100:
        return
    ranks = frame.select("label", rank=pl.col("hypothesis").str.len_chars().rank())
    for label, total, count in ranks.group_by("label").agg(pl.col("rank").sum(), pl.len()).sort("label").iter_rows():
        rest = frame.height - count
        if rest:
            area = (total - count * (count + 1) / 2) / (count * rest)
            if abs(area - 0.5) > 0.25:
                longer = "longer" if area > 0.5 else "shorter"
                yield Problem("W301", f"label leak by length: {label} hypotheses are {longer} (area {area:.2f})")


CHECKS: tuple[Callable[[Suite, pl.DataFrame], Iterator[Problem]], ...] = (
    _unique_ids,
    _filled,
    _known_labels,
    _controls_exist,
    _declared_columns,
    _free_names,
    _one_label_per_pair,
    _no_leak_by_length,
)
