"""Accuracy of models by category of reasoning, and regressions of right answers on all categories together.

Follows section 4 and appendices B and C of Joshi et al. (2020) on any run whose suite has categories: accuracy by
category (figure 5), coefficients of a logistic regression and of a linear discriminant on categories, lengths and
further confounds (figures 6 and 9), and estimates of a Bayesian network (figure 8).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Literal

import numpy as np
import polars as pl

from acidtest.core.document import (
    Cell,
    Change,
    Chart,
    Coefficient,
    Column,
    Document,
    Note,
    Published,
    Reference,
    Row,
    Section,
    Table,
)
from acidtest.core.errors import AcidtestError, UnknownNameError, list_some
from acidtest.core.estimate import Estimate
from acidtest.core.labels import LABELS
from acidtest.core.logs import stage
from acidtest.core.run import Run, SuitePattern, runs_by_suite
from acidtest.core.study import study
from acidtest.core.suite import CATEGORY, CONTROL, Card
from acidtest.io.published import PublishedScore, published_scores, values_by_system
from acidtest.pairs.heuristics import words
from acidtest.pairs.taxonomy import CATEGORIES, CATEGORY_COLUMNS, PUBLISHED_COLUMNS
from acidtest.stats.intervals import difference
from acidtest.stats.regression import Fit, Network, Prior, discriminant, logistic, network, two_sided
from acidtest.stats.resampling import Codes, Floats
from acidtest.stats.significance import holm
from acidtest.studies.scoring.rows import (
    SAME_ROWS,
    Flags,
    ScoredRows,
    listed_flags,
    runs_by_model,
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


_NORMAL = 1.959963984540054
"""The 97.5 % quantile of the standard normal distribution."""


@dataclass(frozen=True)
class Term:
    """A coefficient with its interval, standard error and p-value.

    ``p_groups`` allows for dependent rows within a group, NaN if each row is its own group; ``p_adjusted`` has Holm's
    correction over the coefficients of all models (logistic regression only).
    """

    value: Estimate = field(metadata={"json": "coefficient"})
    error: float
    p: float
    p_groups: float = math.nan
    p_adjusted: float = math.nan

    json_properties = ("stars",)

    @property
    def stars(self) -> str:
        """Stars as in the paper, from the uncorrected p-value of independent rows."""
        return "*" * sum(self.p < level for level in (0.001, 0.01, 0.05))


@dataclass(frozen=True)
class Factor:
    """The coefficients of one variable; ``spread`` is its standard deviation, or 1 for a variable of 0 and 1."""

    name: str = field(metadata={"json": "factor"})
    kind: str
    spread: float
    logistic: Term
    discriminant: Term


@dataclass(frozen=True)
class ModelFactors:
    """Results of one model on one suite.

    ``accuracy`` is by category, ``unmarked`` that of rows without any. ``gains`` are accuracies minus those of the
    first model on the same rows; empty for the first model, and if the two have missing values in different rows.
    ``skipped`` counts rows left out because another model was not asked them; ``caution`` is a warning about categories
    proposed by rules.
    """

    model: str
    suite: str
    signature: str
    overall: Estimate
    accuracy: Mapping[str, Estimate]
    unmarked: Estimate = field(metadata={"json": "no_category"})
    factors: tuple[Factor, ...]
    explained: float = field(metadata={"json": "pseudo_r2"})
    network: Network = field(metadata={"json": "bayesian_network"})
    gains: Mapping[str, Estimate]
    skipped: int = field(default=0, metadata={"json": "rows_aside"})
    caution: str = ""
    notes: tuple[str, ...] = ()

    @property
    def grouped(self) -> bool:
        """Whether a group has several rows, so that there are p-values over groups."""
        return any(not math.isnan(factor.logistic.p_groups) for factor in self.factors)


@dataclass(frozen=True)
class FactorsResult:
    """Results of every model on every suite with categories; ``tests`` is the number of p-values corrected together."""

    fits: tuple[ModelFactors, ...] = field(metadata={"json": "models"})
    confounds: tuple[str, ...]
    tests: int
    schema: int = 1


@study(group="look into a run", applies=WITH_CATEGORIES)
def factors(
    runs: Annotated[Sequence[Run], "Run folders with a suite that has categories, such as taxinli."],
    *,
    categories: Annotated[tuple[str, ...], "Columns of 0 and 1 to analyse: A,B,… Default: those of the suite."] = (),
    confounds: Annotated[tuple[str, ...], "label, overlap, tokens, and any factor or covariate: A,B,…"] = (),
    lengths: Annotated[bool, "Lengths of premise and hypothesis in characters."] = True,
    prior: Annotated[Literal["bdeu", "base-rate", "laplace", "none"], "Of the Bayesian network."] = "bdeu",
    sample_size: Annotated[float, "How many rows the prior is worth (bdeu and base-rate)."] = 10.0,
    seed: Annotated[int, "Seed of every random choice."] = 0,
) -> FactorsResult:
    """Show which categories of reasoning models get right, and which of them go with a right answer.

    Section 4 of Joshi et al. (2020) on any model: accuracy by category, logistic regression and linear discriminant on
    categories, lengths and confounds, and the estimates of a Bayesian network.
    """
    categories, confounds = tuple(dict.fromkeys(categories)), tuple(dict.fromkeys(confounds))
    tables = load_factor_rows(runs_by_model(runs), categories=categories, confounds=confounds, lengths=lengths)
    if not tables:
        raise _no_categories(runs, categories)
    first_tables: dict[str, FactorRows] = {}
    fits = []
    for table in tables:
        first = first_tables.setdefault(table.suite, table)
        stage("%s on %s: coefficients of %d columns", table.model, table.suite, len(table.variables))
        fits.append(_fit_model(table, first, Prior(prior, sample_size)))
    ps = [factor.logistic.p for fit in fits for factor in fit.factors]
    adjusted = iter(holm(ps).tolist())
    corrected = [
        tuple(replace(one, logistic=replace(one.logistic, p_adjusted=next(adjusted))) for one in fit.factors)
        for fit in fits
    ]
    return FactorsResult(
        tuple(replace(fit, factors=terms) for fit, terms in zip(fits, corrected, strict=True)),
        confounds,
        sum(not math.isnan(p) for p in ps),
    )


def _fit_model(table: FactorRows, first: FactorRows, prior: Prior) -> ModelFactors:
    from acidtest.pairs.category_rules import proposal_caution

    rows, categories = table.rows, table.categories
    groups = np.unique(rows.groups, return_inverse=True)[1].astype(np.int64)
    grouped = np.unique(groups).size < groups.size
    columns = {variable.name: variable.values for variable in table.variables}
    fits = logistic(columns, rows.correct, groups=groups), discriminant(columns, rows.correct, groups=groups)
    unmarked = np.ones(rows.height, dtype=np.bool_)
    for flags in categories.values():
        unmarked &= ~flags
    return ModelFactors(
        model=table.model,
        suite=table.suite,
        signature=table.signature,
        overall=rows.rate(rows.correct),
        accuracy={
            name: rows.rate(rows.correct, flags, empty=f"no rows of {name}") for name, flags in categories.items()
        },
        unmarked=rows.rate(rows.correct, unmarked, empty="every row has a category"),
        factors=tuple(
            Factor(variable.name, variable.kind, variable.spread, *(_term(fit, n, grouped=grouped) for fit in fits))
            for n, variable in enumerate(table.variables)
        ),
        explained=fits[0].explained,
        network=network(categories, rows.correct, prior),
        gains=_gains(table, first),
        skipped=table.skipped,
        caution=proposal_caution(categories),
        notes=(*table.notes, *_describe_dropped({"logistic regression": fits[0], "discriminant": fits[1]})),
    )


def _term(fit: Fit, number: int, *, grouped: bool) -> Term:
    """One coefficient of a fit; NaN with the reason as note if it was dropped."""
    name, value, error = fit.names[number], float(fit.coefficients[number]), float(fit.errors[number])
    if math.isnan(value):
        note = fit.dropped.get(name, "not estimated")
        return Term(Estimate(math.nan, n=fit.rows, groups=fit.groups, method=fit.method, note=note), math.nan, math.nan)
    reach = _NORMAL * error
    estimate = Estimate(value, value - reach, value + reach, fit.rows, fit.groups, fit.method)
    ps = two_sided(np.full(2, value), np.array([error, fit.group_errors[number]]))
    return Term(estimate, error, float(ps[0]), float(ps[1]) if grouped else math.nan)


def _gains(table: FactorRows, first: FactorRows) -> dict[str, Estimate]:
    """Accuracy minus that of the first model on the same rows, by category; key ``""`` is all rows."""
    if table is first or not (table.known == first.known).all():
        return {}
    new, old, groups = table.rows.correct, first.rows.correct, table.rows.groups
    return {
        name: difference(new[flags], old[flags], groups=groups[flags])
        for name, flags in {"": np.ones(len(new), dtype=np.bool_), **table.categories}.items()
        if flags.any()
    }


def _describe_dropped(fits: Mapping[str, Fit]) -> list[str]:
    """Sentences on the variables dropped from each analysis and why; one sentence if both dropped it."""
    analyses: dict[tuple[str, str], list[str]] = {}
    for title, fit in fits.items():
        for dropped in fit.dropped.items():
            analyses.setdefault(dropped, []).append(title)
    notes = []
    for (name, why), titles in analyses.items():
        notes.append(f"{name} is left out{f' of the {titles[0]}' if len(titles) == 1 else ''}: {why}")
    return notes + [f"{title}: {note}" for title, fit in fits.items() for note in fit.notes]


def _no_categories(runs: Sequence[Run], wanted: Sequence[str]) -> AcidtestError:
    suites = {name: card for run in runs for name, card in run.header.suites.items()}
    if wanted:
        missing = {name: [one for one in wanted if one not in card.columns] for name, card in suites.items()}
        listing = "; ".join(f"{name} has no {', '.join(columns)}" for name, columns in missing.items())
        return AcidtestError(f"no suite of the runs has all of --categories {','.join(wanted)}: {listing}")
    factors = {name: ", ".join((*card.lists, *card.factors)) or "no factors" for name, card in suites.items()}
    known = ", ".join(f"{name} ({columns})" for name, columns in factors.items())
    return AcidtestError(
        f"no suite of the runs has categories of the taxonomy; there is: {known or 'none'}. Name columns of 0 and 1, "
        f"or one that lists several values, with --categories A,B,…, or score a suite such as taxinli"
    )


_CHANCE = Reference(1 / 3, "chance (33 %)")


def document(result: FactorsResult) -> Document:
    """A document with a section for each suite: accuracies, coefficients of both analyses, and the network."""
    suites = dict.fromkeys(fit.suite for fit in result.fits)
    sections = tuple(_suite_section(suite, [fit for fit in result.fits if fit.suite == suite]) for suite in suites)
    return Document(
        title="acidtest factors",
        headline=_headline(result.fits),
        parts=(*sections, *([_published_section()] if _has_published(result.fits) else [])),
        models=tuple(dict.fromkeys(fit.model for fit in result.fits)),
        signatures={f"{fit.suite}, {fit.model}": fit.signature for fit in result.fits},
        methods=(
            "Logistic regression by maximum likelihood with Wald's errors; p over groups lets rows of one group vary "
            f"together; Holm's correction is over the {result.tests} coefficients of all models. Errors of the "
            "discriminant are the infinitesimal jackknife's over rows. Intervals of the network are those of its "
            "posterior, with weights held fixed and rows taken for independent.",
        ),
    )


def _headline(fits: Sequence[ModelFactors]) -> str:
    parts = []
    for fit in fits:
        known = {name: value for name, value in fit.accuracy.items() if value.known}
        if known:
            worst = min(known, key=lambda name: known[name].value)
            least = f"least on {worst} ({known[worst].value:.0%})"
            parts.append(f"{fit.model} is right in {fit.overall.value:.0%} of {fit.suite}, {least}")
    return "; ".join(parts) + "." if parts else "No category has a row."


def _suite_section(suite: str, fits: Sequence[ModelFactors]) -> Section:
    shared = ", those that all models were asked" if any(fit.skipped for fit in fits) else ""
    notes = [Note(f"{fits[0].overall.n:,} rows{shared}."), *([Note(fits[0].caution)] if fits[0].caution else [])]
    accuracy, network = _accuracy_table(suite, fits), _network_table(suite, fits)
    remarks = [
        Note(f"{fit.model}: {line}.")
        for fit in fits
        for line in (*_describe_fit(fit), *_compare_stars(fit), *fit.notes)
    ]
    return Section(
        suite,
        (
            *notes,
            accuracy,
            Chart(accuracy.id, title=accuracy.caption, axis="accuracy", reference=_CHANCE),
            *_gain_parts(suite, fits),
            *_coefficient_parts(suite, fits),
            network,
            Chart(network.id, axis="chance of being right; hollow: frequency", reference=_CHANCE),
            *remarks,
        ),
    )


def _accuracy_table(suite: str, fits: Sequence[ModelFactors]) -> Table:
    values: dict[str, list[Estimate | None]] = {"all rows": [fit.overall for fit in fits]}
    values |= {name: [fit.accuracy.get(name) for fit in fits] for name in fits[0].accuracy}
    values["no category"] = [fit.unmarked for fit in fits]
    rows = tuple(
        Row(
            name,
            (next((value.n for value in estimates if value), 0), *estimates),
            role="" if name in fits[0].accuracy else "total",
        )
        for name, estimates in values.items()
    )
    columns = (Column("rows", "count"), *(Column(fit.model, model=fit.model) for fit in fits))
    caption = "Accuracy by category, %, with 95 % intervals (figure 5)"
    return Table(f"{suite} accuracy", caption, columns, rows, "category")


def _gain_parts(suite: str, fits: Sequence[ModelFactors]) -> Iterator[Table | Chart]:
    """A table and a chart of differences to the first model on the same rows; nothing if there are none."""
    compared = [fit for fit in fits if fit.gains]
    if compared:
        names = dict.fromkeys(name for fit in compared for name in fit.gains)
        columns = tuple(Column(fit.model, "points", model=fit.model) for fit in compared)
        rows = tuple(Row(name or "all rows", tuple(fit.gains.get(name) for fit in compared)) for name in names)
        caption = f"Accuracy less that of {fits[0].model} on the same rows, in points"
        yield Table(f"{suite} gains", caption, columns, rows, "category")
        yield Chart(f"{suite} gains", axis="difference in points", reference=Reference(0.0, "none"))


def _coefficient_parts(suite: str, fits: Sequence[ModelFactors]) -> Iterator[Table | Chart]:
    """A table and a chart for each analysis; the logistic regression's table has the paper's stars, too."""
    stars = published_values("stars") if _has_published(fits) else {}
    signs = [sign for by_factor in published_values("direction").values() for sign in by_factor.items() if stars]
    directions = {name: "+" if sign > 0 else "−" for name, sign in signs}
    papers = [Column(_figure(system), "text", role="published", note=system) for system in stars]
    papers += [Column("section 4.2", "text", role="published")] if directions else []
    factors = {(fit.model, factor.name): factor for fit in fits for factor in fit.factors}
    # Coefficients are comparable when multiplied by the standard deviation of their variable.
    spreads = {factor.name: factor.spread for factor in reversed(factors.values())}
    columns = [Column("standard deviation", "number", role="total")]
    columns += [Column(fit.model, "number", model=fit.model) for fit in fits]
    for analysis, title in (("logistic", "Logistic regression"), ("discriminant", "Linear discriminant")):
        rows = []
        for name in dict.fromkeys(factor.name for factor in factors.values()):
            cells: list[Cell] = [spreads[name]]
            for fit in fits:
                factor = factors.get((fit.model, name))
                term = getattr(factor, analysis, None)
                stars_shown = term.stars if term and analysis == "logistic" else ""
                cells.append(Coefficient(term.value, term.error, stars_shown) if term else None)
            if analysis == "logistic":
                cells += ["*" * int(counts.get(name, 0)) for counts in stars.values()]
                cells += [directions.get(name, "")] if directions else []
            rows.append(Row(name, tuple(cells)))
        caption = (
            f"{title} of being right: coefficient ± standard error; stars: p < .001 ***, < .01 **, < .05 *, uncorrected"
        )
        beside = papers if analysis == "logistic" else []
        yield Table(f"{suite} {analysis}", caption, (*columns, *beside), tuple(rows), "factor")
        yield Chart(
            f"{suite} {analysis}", axis="change of the log odds of being right", reference=Reference(0.0, "no effect")
        )


def _network_table(suite: str, fits: Sequence[ModelFactors]) -> Table:
    columns: list[Column] = []
    for fit in fits:
        columns.append(Column("network", model=fit.model, group=fit.model))
        columns.append(Column("seen configurations only", group=fit.model, role="total"))
    rows = []
    for name in fits[0].accuracy:
        cells: list[Cell] = []
        for fit in fits:
            chance = fit.network.chances[name]
            cells += [Change(fit.accuracy[name], chance.network), chance.observed]
        rows.append(Row(name, (*cells, fits[0].network.chances[name].unseen)))
    caption = "P(right | category), %: frequency → Bayesian network, with its 95 % interval (figure 8)"
    network = fits[0].network
    note = f"prior {network.prior_phrase}; {network.seen:,} of {network.possible:,} configurations of categories occur"
    columns.append(Column("weight of unseen"))
    return Table(f"{suite} network", caption, tuple(columns), tuple(rows), "category", notes=(note,))


def _describe_fit(fit: ModelFactors) -> Iterator[str]:
    """Sentences on pseudo-R², on the factors significant after correction, and on the effect of groups."""
    if fit.explained == fit.explained:
        yield f"pseudo-R² {fit.explained:.3f}"
    significant = [factor.name for factor in fit.factors if factor.logistic.p_adjusted < 0.05]
    yield f"below 0.05 after Holm's correction: {', '.join(significant) or 'none'}"
    if fit.grouped:
        changed = [f.name for f in fit.factors if (f.logistic.p < 0.05) != (f.logistic.p_groups < 0.05)]
        difference = f"differs for {', '.join(changed)}" if changed else "is the same"
        yield f"what is below 0.05 {difference} when rows of one group vary together"


def _published_section() -> Section:
    """The paper's table 3, and its remarks on figures 5 and 8, which print no numbers."""
    accuracies = published_values("accuracy", "corpus")
    corpora = dict.fromkeys(corpus for values in accuracies.values() for corpus in values)
    rows = tuple(
        Row(system, tuple(Published(values[corpus]) for corpus in corpora), role="published")
        for system, values in accuracies.items()
    )
    columns = tuple(Column(corpus, role="published") for corpus in corpora)
    remarks = tuple(
        Row(score.by["factor"], (_place(score), score.system, score.by["statistic"], score.by["says"]))
        for score in published_remarks()
    )
    titles = tuple(Column(name, "text") for name in ("figure", "system", "statistic", "the text says"))
    return Section(
        "Joshi et al. (2020)",
        (
            Table("published accuracy", "Accuracy on MultiNLI, % (table 3)", columns, rows, "system"),
            Table("published remarks", "What the text says of figures 5 and 8", titles, remarks, "factor"),
        ),
        folded=True,
    )


def published_values(statistic: str, factor: str = "factor") -> dict[str, dict[str, float]]:
    """A statistic of the paper, by system and value of a factor.

    ``accuracy`` by ``corpus`` is table 3; ``stars`` are those of figures 6 and 9; ``direction`` is 1 for factors that
    section 4.2 calls strong indicators of a right answer, -1 for those it calls harder to predict.
    """
    scores = [score for score in published_scores("factors") if score.by.get("statistic") == statistic]
    return values_by_system((score for score in scores if factor in score.by), lambda score: score.by[factor])


def published_remarks() -> list[PublishedScore]:
    """The remarks of the paper's text on figures 5 and 8."""
    return [score for score in published_scores("factors") if "says" in score.by]


def _place(score: PublishedScore) -> str:
    return score.source.rpartition(", ")[2]


def _figure(system: str) -> str:
    """The figure that has the stars of a system."""
    scores = published_scores("factors")
    return next(_place(score) for score in scores if (score.system, score.by.get("statistic")) == (system, "stars"))


def _has_published(fits: Sequence[ModelFactors]) -> bool:
    """Whether the paper reports on any of the categories; it has none that rules propose."""
    known = {name for stars in published_values("stars").values() for name in stars}
    return any(name in known for fit in fits for name in fit.accuracy)


def _compare_stars(fit: ModelFactors) -> Iterator[str]:
    """Compare the stars of a fit with those of published systems that have the same factors."""
    ours = {factor.name: len(factor.logistic.stars) for factor in fit.factors}
    for system, stars in published_values("stars").items():
        if set(stars) != set(ours):
            continue
        where = f"{system} ({_figure(system)})"
        differing = [
            f"{name}{'*' * ours[name]} ({'*' * int(count) or 'none'})"
            for name, count in stars.items()
            if ours[name] != count
        ]
        if not differing:
            yield f"stars: those of {where} exactly, all {len(stars)} factors"
            continue
        others = f"; other, published in brackets: {', '.join(differing)}" if len(differing) <= 6 else ""
        yield f"stars: {len(stars) - len(differing)} of {len(stars)} factors as {where}{others}"
