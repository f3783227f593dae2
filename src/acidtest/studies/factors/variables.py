"""The variables of the regressions: categories, lengths and confounds of the rows that a model answered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import polars as pl

from acidtest.core.errors import AcidtestError, UnknownNameError, list_some
from acidtest.core.labels import LABELS
from acidtest.core.run import Run, SuitePattern, runs_by_suite
from acidtest.core.suite import CATEGORY, CONTROL, Card
from acidtest.pairs.heuristics import words
from acidtest.pairs.taxonomy import CATEGORIES, CATEGORY_COLUMNS, PUBLISHED_COLUMNS
from acidtest.stats.resampling import Codes, Floats
from acidtest.studies.scoring.rows import (
    SAME_ROWS,
    Flags,
    ScoredRows,
    listed_flags,
    score_rows,
    select_rows,
    shared_places,
)

Kind = Literal["category", "length", "confound"]

SIDES = ("premise", "hypothesis")
CONFOUNDS = ("label", "overlap", "tokens")
"""Confounds of every suite: the gold label, the share of the hypothesis's words that are in the premise, and the number
of words of each."""

_MARKS = {**dict.fromkeys(("1", "true", "yes", "y"), 1.0), **dict.fromkeys(("0", "false", "no", "n"), 0.0)}

WITH_CATEGORIES = SuitePattern(columns=tuple((name,) for name in (*CATEGORIES, *CATEGORY_COLUMNS)), kinds=("category",))
"""The suites for which ``category_columns`` finds some."""


@dataclass(frozen=True)
class Variable:
    """One column of a regression: a category of 0 and 1, a length, or a confound."""

    name: str
    kind: Kind
    values: Floats

    @property
    def spread(self) -> float:
        """The standard deviation, or 1 for a variable of 0 and 1."""
        return 1.0 if np.isin(self.values, (0, 1)).all() else float(self.values.std())


@dataclass(frozen=True)
class FactorRows:
    """One model's answers to a suite with categories, and the variables of these rows.

    Rows with a missing value are left out: ``known`` flags the rows kept, among those that all models share.
    ``skipped`` counts rows left out because other models were not asked them.
    """

    model: str
    suite: str
    signature: str
    rows: ScoredRows
    variables: tuple[Variable, ...]
    known: Flags
    skipped: int = 0
    notes: tuple[str, ...] = ()

    @property
    def categories(self) -> dict[str, Flags]:
        """Flags of the rows with each category."""
        return {one.name: one.values == 1 for one in self.variables if one.kind == "category"}


def load_factor_rows(
    runs: Mapping[str, Sequence[Run]], *, categories: Sequence[str], confounds: Sequence[str], lengths: bool
) -> list[FactorRows]:
    """The answers of models to every suite with the categories, on the rows that all models share.

    Categories are those named, or else those that ``category_columns`` finds in the suite.
    """

    def has_categories(run: Run, suite: str) -> bool:
        return not suite.endswith(CONTROL) and bool(category_columns(run.header.suites[suite], categories))

    answers: dict[str, dict[str, ScoredRows]] = {}
    for model, members in runs.items():
        for suite, run in runs_by_suite(model, members, has_categories).items():
            answers.setdefault(suite, {})[model] = score_rows(run, suite, texts=True)
    tables = []
    for suite, models in answers.items():
        for (model, asked), places in zip(models.items(), _shared(suite, models), strict=True):
            columns = category_columns(asked.card, categories)
            tables.append(_factor_rows(model, suite, asked, places, columns, confounds, lengths=lengths))
    return tables


def _shared(suite: str, models: Mapping[str, ScoredRows]) -> list[Codes]:
    """For each model, the positions of the rows that all share; an error if these are few."""
    places = shared_places([*models.values()])
    if len(places[0]) < SAME_ROWS * min(rows.height for rows in models.values()):
        counts = ", ".join(f"{model} {rows.height:,}" for model, rows in models.items())
        raise AcidtestError(
            f"the models were not asked the same rows of {suite!r}: they have {len(places[0]):,} in common ({counts}); "
            f"analyse them one by one"
        )
    return places


def category_columns(card: Card, asked: Sequence[str] = ()) -> dict[str, str]:
    """The category columns of a suite, with the name of each category; empty if the suite lacks one of ``asked``.

    These are the columns asked for, else those that the card declares, else those named as in the taxonomy or in its
    published file. A list column stands for all the values in it.
    """
    if asked:
        known = {ours: column for column, ours in PUBLISHED_COLUMNS.items() if column in card.columns}
        columns = {known.get(name, name) if name not in card.columns else name: name for name in asked}
        return columns if all(column in card.columns for column in columns) else {}
    declared = {name: name for name, kind in card.columns.items() if kind == CATEGORY}
    if declared:
        return declared
    by_name = {name: name for name in CATEGORIES} | CATEGORY_COLUMNS
    present = {column: ours for column, ours in by_name.items() if column in card.columns}
    return {column: ours for column, ours in present.items() if column == ours or ours not in present}


def _factor_rows(
    model: str,
    suite: str,
    asked: ScoredRows,
    places: Codes,
    names: Mapping[str, str],
    confounds: Sequence[str],
    *,
    lengths: bool,
) -> FactorRows:
    rows = select_rows(asked, places)
    skipped = asked.height - rows.height
    notes = [f"on the {rows.height:,} rows that all models were asked, of its {asked.height:,}"] if skipped else []
    variables: list[Variable] = []
    for column, name in names.items():
        if column in asked.card.lists:
            flags = listed_flags(rows.frame[column])
            variables += [Variable(value, "category", marked.astype(np.float64)) for value, marked in flags.items()]
            continue
        values, above = _marks(rows.frame[column], suite)
        variables.append(Variable(name, "category", values))
        cells = "one cell holds" if above == 1 else f"{above:,} cells hold"
        notes += [f"{name}: {cells} a number above 1, which counts as 1"] if above else []
    if lengths:
        # Named as in figure 6.
        for name, side in zip(("Length1", "Length2"), SIDES, strict=True):
            variables.append(Variable(name, "length", _numbers(rows.frame[side].str.len_chars())))
    for confound in confounds:
        if confound in (*names, *names.values()):
            raise AcidtestError(f"--confounds: {confound} is a category already")
        variables += [Variable(name, "confound", values) for name, values in _confound(rows, confound, notes)]
    lacking = [variable.name for variable in variables if np.isnan(variable.values).any()]
    every = np.ones(rows.height, dtype=np.bool_)
    known = np.logical_and.reduce([every, *(~np.isnan(variable.values) for variable in variables)])
    if lacking:
        notes.append(f"{int((~known).sum()):,} rows without a value for {list_some(lacking)} are left out")
    notes += [f"{rows.unanswered:,} rows without an answer count as wrong"] if rows.unanswered else []
    return FactorRows(
        model,
        suite,
        rows.run.header.signature(suite),
        select_rows(rows, np.flatnonzero(known)) if lacking else rows,
        tuple(replace(variable, values=variable.values[known]) for variable in variables),
        known,
        skipped,
        tuple(notes),
    )


def _marks(column: pl.Series, suite: str) -> tuple[Floats, int]:
    """1 or 0 for each row, NaN if missing, and the number of cells above 1, which count as 1.

    The published file has a 2; columns that count the marks of several annotators have more.
    """
    texts = column.cast(pl.String).str.strip_chars().str.to_lowercase()
    numbers = texts.replace_strict(_MARKS, default=None).fill_null(texts.cast(pl.Float64, strict=False))
    whole = (numbers >= 0) & (numbers == numbers.floor())
    wrong = column.filter(~whole.fill_null(False) & texts.is_not_null() & ~texts.is_in(["", "-", "nan"]))
    if len(wrong):
        raise AcidtestError(
            f"column {column.name!r} of suite {suite!r} is no category: it holds {wrong[0]!r}; a category is 0 or 1, "
            f"true or false, yes or no. A number can be a confound: --confounds {column.name}"
        )
    return _numbers(numbers.clip(upper_bound=1.0)), int((numbers > 1).sum())


def _confound(rows: ScoredRows, name: str, notes: list[str]) -> Iterator[tuple[str, Floats]]:
    frame = rows.frame
    if name in rows.card.columns:
        kind = rows.card.columns[name]
        if kind == "covariate" or frame[name].dtype.is_float():
            yield name, _numbers(frame[name])
        elif kind in ("factor", CATEGORY):
            yield from _levels(name, frame[name].cast(pl.String), notes)
        else:
            raise AcidtestError(f"--confounds: {name} is text; a confound is a factor or a covariate of the suite")
    elif name == "label":
        yield from _levels(name, frame["label"], notes)
    elif name == "overlap":
        # Share of the hypothesis's different words; 0 if it has no words.
        lists = frame.select(words(frame["premise"]), words(frame["hypothesis"]).list.unique())
        new, size = pl.col("hypothesis").list.set_difference("premise").list.len(), pl.col("hypothesis").list.len()
        yield name, _numbers(lists.select(pl.when(size > 0).then(1 - new / size).otherwise(0.0)).to_series())
    elif name == "tokens":
        yield from ((f"Tokens{n}", _numbers(words(frame[side]).list.len())) for n, side in enumerate(SIDES, 1))
    else:
        columns = [column for column, kind in rows.card.columns.items() if kind != "text"]
        raise UnknownNameError("confound", name, [*CONFOUNDS, *columns], " (--confounds)")


def _levels(name: str, column: pl.Series, notes: list[str]) -> Iterator[tuple[str, Floats]]:
    """A variable of 0 and 1 for each value but the baseline, which is the first label or else the commonest value."""
    counts = column.drop_nulls().value_counts(sort=False).sort(pl.col("count"), column.name, descending=[True, False])
    levels = counts[column.name].to_list()
    if set(levels) <= set(LABELS):
        levels.sort(key=LABELS.index)
    if len(levels) > 1:
        notes.append(f"{name}: the values are compared with {levels[0]}")
    for level in levels[1:]:
        yield f"{name} = {level}", _numbers((column == level).cast(pl.Float64))


def _numbers(column: pl.Series) -> Floats:
    """The column as floats, NaN where it is null or not a number."""
    return column.cast(pl.Float64, strict=False).fill_null(float("nan")).to_numpy().astype(np.float64)
