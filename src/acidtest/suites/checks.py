"""Coded checks of what a suite promises: E is wrong, W is worth a look."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.digests import digests
from acidtest.core.errors import AcidtestError, some
from acidtest.core.labels import GOLD_MASKS
from acidtest.core.suite import COLUMNS, PARSES, RESERVED, Suite, visit_batches

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


@dataclass(frozen=True)
class Facts:
    """What the checks need to know of a suite's rows: a few bytes each, so that ten million can be checked."""

    schema: Mapping[str, Any]
    empty: Mapping[str, int]
    ids: npt.NDArray[np.uint64]
    bases: npt.NDArray[np.uint64]
    pairs: npt.NDArray[np.uint64]
    labels: tuple[str, ...]
    label: npt.NDArray[np.uint32]
    length: npt.NDArray[np.int32]


def problems(suite: Suite) -> list[Problem]:
    """What is wrong or doubtful about a suite, errors first."""
    schema = suite.frame.collect_schema()
    missing = [name for name in COLUMNS if name not in schema]
    if missing:
        return [Problem("E100", f"columns missing: {', '.join(missing)}")]
    facts = _facts(suite)
    found = [problem for check in CHECKS for problem in check(suite, facts)]
    return sorted(found, key=lambda problem: problem.code)


def require_sound(suite: Suite, where: str) -> list[Problem]:
    """Raise when a suite has an error, else give what is doubtful; ``where`` names the file or generator."""
    found = problems(suite)
    errors = [str(problem) for problem in found if problem.is_error]
    if errors:
        raise AcidtestError(f"{where}: suite {suite.name!r} is not sound: {'; '.join(errors)}")
    return found


def _facts(suite: Suite) -> Facts:
    """The facts of a suite in one pass over its rows; parses are not made for it."""
    filled = ("id", "premise", "hypothesis", "label", "group")
    empty, labels = dict.fromkeys(filled, 0), dict[str, int]()
    columns: dict[str, list[npt.NDArray[Any]]] = {name: [] for name in ("ids", "bases", "pairs", "label", "length")}

    def note(batch: pl.DataFrame) -> None:
        for name in filled:
            empty[name] += int(batch[name].fill_null("").eq("").sum())
        label = batch["label"].fill_null("")
        for name in label.unique(maintain_order=True):
            labels.setdefault(name, len(labels))
        columns["label"].append(label.replace_strict(labels, return_dtype=pl.UInt32).to_numpy())
        columns["ids"].append(digests(batch["id"].fill_null("")))
        columns["bases"].append(digests(batch["base_id"].drop_nulls()))
        columns["pairs"].append(digests(batch["premise"].fill_null(""), batch["hypothesis"].fill_null("")))
        columns["length"].append(batch["hypothesis"].str.len_chars().fill_null(0).cast(pl.Int32).to_numpy())

    visit_batches(suite.frame.select(pl.col(*filled, "base_id").cast(pl.String)), note)
    whole: dict[str, npt.NDArray[Any]] = {
        name: np.concatenate(parts) if parts else np.zeros(0, dtype=np.uint64) for name, parts in columns.items()
    }
    return Facts(suite.frame.collect_schema(), empty, labels=tuple(labels), **whole)


def _unique_ids(suite: Suite, facts: Facts) -> Iterator[Problem]:
    values, counts = np.unique(facts.ids, return_counts=True)
    repeated = values[counts > 1]
    if repeated.size:
        yield Problem("E101", f"ids that stand twice: {_named(suite.frame, 'id', repeated)}")


def _filled(_: Suite, facts: Facts) -> Iterator[Problem]:
    for name, empty in facts.empty.items():
        if empty:
            yield Problem("E102", f"{empty:,} rows have no {name}")


def _known_labels(_: Suite, facts: Facts) -> Iterator[Problem]:
    unknown = sorted(set(facts.labels) - {*GOLD_MASKS, ""})
    if unknown:
        yield Problem("E103", f"labels that are not among {', '.join(GOLD_MASKS)}: {some(unknown)}")


def _controls_exist(suite: Suite, facts: Facts) -> Iterator[Problem]:
    if suite.control is None:
        return
    have = digests(suite.control.frame.select(pl.col("id").cast(pl.String)).collect()["id"])
    absent = np.setdiff1d(facts.bases, have)
    if absent.size:
        shown = _named(suite.frame, "base_id", absent)
        yield Problem("E104", f"base_id points at rows the control does not have: {shown}")


def _named(frame: pl.LazyFrame, column: str, wanted: npt.NDArray[np.uint64]) -> str:
    """Some of the values of a column whose digests are known, found by reading it once more."""
    found = list[str]()

    def look(batch: pl.DataFrame) -> None:
        texts = batch[column].drop_nulls()
        found.extend(texts.filter(np.isin(digests(texts), wanted)).unique(maintain_order=True))

    visit_batches(frame.select(pl.col(column).cast(pl.String)), look)
    return some(list(dict.fromkeys(found)))


def _declared_columns(suite: Suite, facts: Facts) -> Iterator[Problem]:
    own = [name for name in facts.schema if name not in (*COLUMNS, *PARSES)]
    if set(own) != set(suite.card.columns):
        differ = sorted(set(own) ^ set(suite.card.columns))
        yield Problem("E105", f"columns in the card or in the rows, but not in both: {', '.join(differ)}")
        return
    for name, kind in suite.card.columns.items():
        if facts.schema[name] != KIND_TYPES[kind]:
            yield Problem("E106", f"{kind} {name!r} is {facts.schema[name]}, not {KIND_TYPES[kind]()}")


def _free_names(suite: Suite, _: Facts) -> Iterator[Problem]:
    taken = sorted((RESERVED - {*COLUMNS, *PARSES}) & set(suite.card.columns))
    if taken:
        yield Problem("E107", f"columns whose names a run needs for itself: {', '.join(taken)}; rename them")


def _one_label_per_pair(_: Suite, facts: Facts) -> Iterator[Problem]:
    order = np.lexsort((facts.label, facts.pairs))
    pairs, label = facts.pairs[order], facts.label[order]
    split = (pairs[1:] == pairs[:-1]) & (label[1:] != label[:-1])
    count = np.unique(pairs[1:][split]).size
    if count:
        yield Problem("W201", f"{count:,} pairs stand with two different labels")


def _no_leak_by_length(_: Suite, facts: Facts) -> Iterator[Problem]:
    """Length alone should not tell the label: the area under the curve of one label against the rest."""
    rows = len(facts.length)
    if rows < 100:
        return
    # Ranks come from a histogram: rows of one length share the mean of their ranks.
    counts = np.bincount(facts.length)
    rank = (np.cumsum(counts) - counts + (counts + 1) / 2)[facts.length]
    for label, code in sorted((name, code) for code, name in enumerate(facts.labels)):
        own = facts.label == code
        count = int(own.sum())
        if count < rows:
            area = (rank[own].sum() - count * (count + 1) / 2) / (count * (rows - count))
            if abs(area - 0.5) > 0.25:
                longer = "longer" if area > 0.5 else "shorter"
                yield Problem("W301", f"label leak by length: {label} hypotheses are {longer} (area {area:.2f})")


CHECKS: tuple[Callable[[Suite, Facts], Iterator[Problem]], ...] = (
    _unique_ids,
    _filled,
    _known_labels,
    _controls_exist,
    _declared_columns,
    _free_names,
    _one_label_per_pair,
    _no_leak_by_length,
)
