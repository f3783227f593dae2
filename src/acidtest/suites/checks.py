"""Coded checks of what a suite promises: E is wrong, W is worth a look."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from acidtest.core.digests import Gathered, digests, repeated
from acidtest.core.draws import U64
from acidtest.core.errors import AcidtestError, some
from acidtest.core.labels import GOLD_MASKS
from acidtest.core.suite import COLUMNS, PARSES, RESERVED, Suite, visit_batches

_LABEL = np.uint64(15)
"""The bits in which the number of a label is kept: there are seven labels, and of unknown ones some share a number."""

_CHUNK = 1 << 20
_LENGTHS = {"label": pl.String, "length": pl.UInt32, "rows": pl.UInt32}

KIND_TYPES = {
    "factor": pl.String,
    "list": pl.String,
    "text": pl.String,
    "covariate": pl.Float64,
    "category": pl.Boolean,
}


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
    """What the checks need to know of a suite's rows: 24 bytes each, so that ten million can be checked."""

    schema: Mapping[str, Any]
    empty: Mapping[str, int]
    ids: U64
    """The digests of the ids, in ascending order."""
    bases: U64
    """The digests of the base ids, in ascending order."""
    pairs: U64
    """The digests of the pairs, in ascending order, each with the number of its label in place of the last bits."""
    lengths: pl.DataFrame
    """How many rows there are of each label and length of the hypothesis, in characters."""


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
    lengths = pl.DataFrame(schema=_LENGTHS)
    ids, bases, pairs = Gathered(), Gathered(), Gathered()

    def note(batch: pl.DataFrame) -> None:
        nonlocal lengths
        bases.add(digests(batch["base_id"].drop_nulls()))
        batch = batch.with_columns(pl.col(filled).fill_null(""))
        for name in filled:
            empty[name] += int(batch[name].eq("").sum())
        for label in batch["label"].unique(maintain_order=True):
            labels.setdefault(label, min(len(labels), int(_LABEL)))
        code = batch["label"].replace_strict(labels, return_dtype=pl.UInt64).to_numpy()
        ids.add(digests(batch["id"]))
        pairs.add(digests(batch["premise"], batch["hypothesis"]) & ~_LABEL | code)
        more = batch.group_by("label", length=pl.col("hypothesis").str.len_chars()).agg(rows=pl.len())
        lengths = pl.concat([lengths, more]).group_by("label", "length").agg(pl.col("rows").sum())

    visit_batches(suite.frame.select(pl.col(*filled, "base_id").cast(pl.String)), note)
    lengths = lengths.sort("length", "label")
    return Facts(suite.frame.collect_schema(), empty, ids.sorted(), bases.sorted(), pairs.sorted(), lengths)


def _unique_ids(suite: Suite, facts: Facts) -> Iterator[Problem]:
    twice = repeated(facts.ids)
    if twice.size:
        yield Problem("E101", f"ids that stand twice: {_named(suite.frame, 'id', twice)}")


def _filled(_: Suite, facts: Facts) -> Iterator[Problem]:
    for name, empty in facts.empty.items():
        if empty:
            yield Problem("E102", f"{empty:,} rows have no {name}")


def _known_labels(_: Suite, facts: Facts) -> Iterator[Problem]:
    unknown = sorted(set(facts.lengths["label"]) - {*GOLD_MASKS, ""})
    if unknown:
        yield Problem("E103", f"labels that are not among {', '.join(GOLD_MASKS)}: {some(unknown)}")


def _controls_exist(suite: Suite, facts: Facts) -> Iterator[Problem]:
    bases = facts.bases
    if suite.control is None or not bases.size:
        return
    # Of bases that are alike, the first stands for all; the ids of the control are never held.
    missing = np.append(True, bases[1:] != bases[:-1])

    def look(batch: pl.DataFrame) -> None:
        have = digests(batch["id"].drop_nulls())
        places = np.minimum(np.searchsorted(bases, have), bases.size - 1)
        missing[places[bases[places] == have]] = False

    visit_batches(suite.control.frame.select(pl.col("id").cast(pl.String)), look)
    if missing.any():
        shown = _named(suite.frame, "base_id", bases[missing])
        yield Problem("E104", f"base_id points at rows the control does not have: {shown}")


def _named(frame: pl.LazyFrame, column: str, wanted: U64) -> str:
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
    split = list[U64]()
    for start in range(0, len(facts.pairs), _CHUNK):
        pairs = facts.pairs[start : start + _CHUNK + 1]
        apart = pairs[1:] ^ pairs[:-1]
        split.append(pairs[1:][(apart > 0) & (apart <= _LABEL)] & ~_LABEL)
    count = np.unique(np.concatenate(split)).size if split else 0
    if count:
        yield Problem("W201", f"{count:,} pairs stand with two different labels")


def _no_leak_by_length(_: Suite, facts: Facts) -> Iterator[Problem]:
    """Length alone should not tell the label: the area under the curve of one label against the rest."""
    total = facts.lengths["rows"].sum()
    if total < 100:
        return
    # Rows of one length share the mean of their ranks.
    sizes = facts.lengths.group_by("length", maintain_order=True).agg(pl.col("rows").sum())
    sizes = sizes.select("length", rank=pl.col("rows").cum_sum() - (pl.col("rows") - 1) / 2)
    ranked = facts.lengths.join(sizes, on="length")
    ranked = ranked.group_by("label").agg(pl.col("rows").sum(), ranks=(pl.col("rank") * pl.col("rows")).sum())
    for label, rows, ranks in ranked.sort("label").iter_rows():
        if rows < total:
            area = (ranks - rows * (rows + 1) / 2) / (rows * (total - rows))
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
