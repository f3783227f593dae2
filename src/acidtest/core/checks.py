"""Coded checks of suites: codes with E are errors, codes with W are warnings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from acidtest.core.digests import DigestList, digests, repeated_values
from acidtest.core.draws import U64
from acidtest.core.errors import AcidtestError, list_some
from acidtest.core.labels import GOLD_MASKS
from acidtest.core.suite import COLUMNS, PARSES, RESERVED, Suite, visit_batches

_LABEL_BITS = np.uint64(15)
"""The bits of a pair's digest that hold the number of its label; labels after the fifteenth share a number."""

_CHUNK = 1 << 20

KIND_TYPES = {
    "factor": pl.String,
    "list": pl.String,
    "text": pl.String,
    "covariate": pl.Float64,
    "category": pl.Boolean,
}


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong or doubtful about a suite."""

    code: str
    message: str

    @property
    def is_error(self) -> bool:
        """Whether the suite cannot be used as it is."""
        return self.code.startswith("E")

    def __str__(self) -> str:
        return f"{self.code} {self.message}"


@dataclass(frozen=True)
class RowFacts:
    """What the checks need to know of a suite's rows: 24 bytes a row, so that ten million can be checked."""

    schema: Mapping[str, Any]
    empty: Mapping[str, int]
    ids: U64
    """The digests of the ids, in ascending order."""
    bases: U64
    """The digests of the base ids, in ascending order."""
    pairs: U64
    """The digests of the pairs, in ascending order; the last bits of each are the number of its label."""
    lengths: pl.DataFrame
    """Number of rows by label and by length of the hypothesis in characters."""


def find_problems(suite: Suite) -> list[Problem]:
    """What is wrong or doubtful about a suite, errors first."""
    missing = [name for name in COLUMNS if name not in suite.frame.collect_schema()]
    if missing:
        return [Problem("E100", f"columns missing: {', '.join(missing)}")]
    facts = _read_facts(suite)
    problems = [problem for check in CHECKS for problem in check(suite, facts)]
    return sorted(problems, key=lambda problem: problem.code)


def require_sound(suite: Suite, where: str) -> list[Problem]:
    """Raise when a suite has an error, else return the warnings; ``where`` names the file or generator."""
    problems = find_problems(suite)
    errors = [str(problem) for problem in problems if problem.is_error]
    if errors:
        raise AcidtestError(f"{where}: suite {suite.name!r} is not sound: {'; '.join(errors)}")
    return problems


def _read_facts(suite: Suite) -> RowFacts:
    """Read the facts of a suite in one pass over its rows; parses are not generated."""
    filled = ("id", "premise", "hypothesis", "label", "group")
    empty, labels = dict.fromkeys(filled, 0), dict[str, int]()
    lengths = pl.DataFrame(schema={"label": pl.String, "length": pl.UInt32, "rows": pl.UInt32})
    ids, bases, pairs = DigestList(), DigestList(), DigestList()

    def visit(batch: pl.DataFrame) -> None:
        nonlocal lengths
        bases.add(digests(batch["base_id"].drop_nulls()))
        batch = batch.with_columns(pl.col(filled).fill_null(""))
        for name in filled:
            empty[name] += int(batch[name].eq("").sum())
        for label in batch["label"].unique(maintain_order=True):
            labels.setdefault(label, min(len(labels), int(_LABEL_BITS)))
        label_numbers = batch["label"].replace_strict(labels, return_dtype=pl.UInt64).to_numpy()
        ids.add(digests(batch["id"]))
        pairs.add(digests(batch["premise"], batch["hypothesis"]) & ~_LABEL_BITS | label_numbers)
        counts = batch.group_by("label", length=pl.col("hypothesis").str.len_chars()).agg(rows=pl.len())
        lengths = pl.concat([lengths, counts]).group_by("label", "length").agg(pl.col("rows").sum())

    visit_batches(suite.frame.select(pl.col(*filled, "base_id").cast(pl.String)), visit)
    lengths = lengths.sort("length", "label")
    return RowFacts(suite.frame.collect_schema(), empty, ids.sorted(), bases.sorted(), pairs.sorted(), lengths)


def _check_ids(suite: Suite, facts: RowFacts) -> Iterator[Problem]:
    duplicates = repeated_values(facts.ids)
    if duplicates.size:
        yield Problem("E101", f"ids that stand twice: {_describe_values(suite.frame, 'id', duplicates)}")


def _check_values(_: Suite, facts: RowFacts) -> Iterator[Problem]:
    for name, empty in facts.empty.items():
        if empty:
            yield Problem("E102", f"{empty:,} rows have no {name}")
    unknown = sorted(set(facts.lengths["label"]) - {*GOLD_MASKS, ""})
    if unknown:
        yield Problem("E103", f"labels that are not among {', '.join(GOLD_MASKS)}: {list_some(unknown)}")


def _check_controls(suite: Suite, facts: RowFacts) -> Iterator[Problem]:
    bases = facts.bases
    if suite.control is None or not bases.size:
        return
    # Of equal base ids only the first is marked. The ids of the control are read in batches, to save memory.
    missing = np.append(True, bases[1:] != bases[:-1])

    def visit(batch: pl.DataFrame) -> None:
        ids = digests(batch["id"].drop_nulls())
        places = np.minimum(np.searchsorted(bases, ids), bases.size - 1)
        missing[places[bases[places] == ids]] = False

    visit_batches(suite.control.frame.select(pl.col("id").cast(pl.String)), visit)
    if missing.any():
        shown = _describe_values(suite.frame, "base_id", bases[missing])
        yield Problem("E104", f"base_id points at rows the control does not have: {shown}")


def _describe_values(frame: pl.LazyFrame, column: str, wanted: U64) -> str:
    """The first values of a column that have the ``wanted`` digests; reads the column once more."""
    values = list[str]()

    def visit(batch: pl.DataFrame) -> None:
        texts = batch[column].drop_nulls()
        values.extend(texts.filter(np.isin(digests(texts), wanted)).unique(maintain_order=True))

    visit_batches(frame.select(pl.col(column).cast(pl.String)), visit)
    return list_some(list(dict.fromkeys(values)))


def _check_columns(suite: Suite, facts: RowFacts) -> Iterator[Problem]:
    columns = suite.card.columns
    differ = sorted({name for name in facts.schema if name not in (*COLUMNS, *PARSES)} ^ set(columns))
    if differ:
        yield Problem("E105", f"columns in the card or in the rows, but not in both: {', '.join(differ)}")
    for name, kind in columns.items():
        if not differ and facts.schema[name] != KIND_TYPES[kind]:
            yield Problem("E106", f"{kind} {name!r} is {facts.schema[name]}, not {KIND_TYPES[kind]()}")
    taken = sorted((RESERVED - {*COLUMNS, *PARSES}) & set(columns))
    if taken:
        yield Problem("E107", f"columns whose names a run needs for itself: {', '.join(taken)}; rename them")


def _check_pairs(_: Suite, facts: RowFacts) -> Iterator[Problem]:
    split = list[U64]()
    for start in range(0, len(facts.pairs), _CHUNK):
        pairs = facts.pairs[start : start + _CHUNK + 1]
        difference = pairs[1:] ^ pairs[:-1]
        split.append(pairs[1:][(difference > 0) & (difference <= _LABEL_BITS)] & ~_LABEL_BITS)
    count = np.unique(np.concatenate(split)).size if split else 0
    if count:
        yield Problem("W201", f"{count:,} pairs stand with two different labels")


def _check_lengths(_: Suite, facts: RowFacts) -> Iterator[Problem]:
    """Warn where length alone predicts a label: the area under the ROC curve of the label against the others."""
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


CHECKS: tuple[Callable[[Suite, RowFacts], Iterator[Problem]], ...] = (
    _check_ids,
    _check_values,
    _check_controls,
    _check_columns,
    _check_pairs,
    _check_lengths,
)
