"""Whether a model's score on HANS is helped by having seen HANS: published against fresh words and novel templates.

The four suites, called cells, are words {published, fresh} × templates {published, novel}. They share no rows, so
nothing is paired. Every contrast is a sum of the cells' accuracies with coefficients 1 or -1, standardised so that each
heuristic × label has the same weight in all cells, and each template the same weight in the cells that share it.

A contrast must hold in points and in log odds. Words that are easier by the same log odds everywhere are worth more
points at 50 % than near 0 or 100 %, so points alone would accuse clean models whose accuracy differs between templates.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import erfc, nan, sqrt
from typing import Annotated, Literal

import polars as pl

from acidtest.core.document import (
    Cell,
    Column,
    Document,
    Finding,
    Note,
    Part,
    PValue,
    Row,
    Section,
    Table,
    describe_count,
)
from acidtest.core.errors import AcidtestError
from acidtest.core.estimate import Estimate
from acidtest.core.run import Run
from acidtest.core.study import study
from acidtest.core.suite import CROSS, Card
from acidtest.io.published import FILE
from acidtest.io.wordlists import packaged_table
from acidtest.stats.contingency import pooled_log_odds_ratio
from acidtest.stats.intervals import StratifiedRate, combination
from acidtest.stats.significance import adjusted, combination_test, correct_with_excess
from acidtest.studies.scoring.rows import ScoredRows, is_two_way, require_one_collapse, score_rows

FEW_ROWS = 30
Correction = Literal["holm", "bh", "by", "none"]
LogOdds = dict[tuple[str, str], tuple[float, float]]
"""A contrast in log odds and its variance, by heuristic and label."""
Place = tuple[str, str]
"""The words (published or fresh) and the templates (published or novel) of a cell."""

_PLACES: tuple[Place, ...]
_PLACES = _PUBLISHED, _FRESH_WORDS, _NOVEL_TEMPLATES, _FRESH = (
    ("published", "published"),
    ("fresh", "published"),
    ("published", "novel"),
    ("fresh", "novel"),
)
_TEMPLATES_OF_SUITE = {"hans": "published", "hans/novel": "novel"}
_HEURISTIC_LABEL = ("heuristic", "label")
_COLUMNS = (*_HEURISTIC_LABEL, "subcase", "template")
_STRATUM = ("templates", *_COLUMNS)

_QUESTIONS: Mapping[str, str] = {
    "words": "On the published templates, does the model do better with the published words than with fresh ones?",
    "templates": "With fresh words, does it do better on the published templates than on novel ones?",
    "both": "Do the published words help it more on the published templates than on novel ones, as memory would?",
}
_DIFFERENCES: Mapping[str, tuple[tuple[Place, Place], ...]] = {
    "words": ((_PUBLISHED, _FRESH_WORDS),),
    "templates": ((_FRESH_WORDS, _FRESH),),
    "both": ((_PUBLISHED, _FRESH_WORDS), (_FRESH, _NOVEL_TEMPLATES)),
}
"""The differences between cells that a contrast adds up."""


@dataclass(frozen=True)
class ContaminationCell:
    """One of the four suites, with the model's accuracy on its slices."""

    words: str
    templates: str
    suite: str
    slices: Mapping[str, Estimate]


@dataclass(frozen=True)
class ContaminationContrast:
    """A difference between cells on one slice; ``excess`` is the model's difference minus the reference's.

    ``logit_p`` is the one-sided p-value of the effect in log odds, compared within templates (Mantel–Haenszel); it is
    adjusted over the slices.
    """

    slice: str
    name: str
    question: str
    difference: Estimate
    p: float
    p_adjusted: float = nan
    logit_p: float = nan
    logit_p_adjusted: float = nan
    reference: Estimate | None = None
    excess: Estimate | None = None
    excess_p: float = nan
    excess_p_adjusted: float = nan

    @property
    def effect(self) -> Estimate:
        """The evidence for contamination: the excess over the reference if there is one, else the difference."""
        return self.excess or self.difference

    @property
    def significant(self) -> bool:
        """Whether the effect is above 0 in points, after correction, and in log odds."""
        return self.in_points and self.logit_p_adjusted < ALPHA

    @property
    def in_points(self) -> bool:
        """Whether the effect is above 0 in points, after correction."""
        return self.effect.value > 0 and (self.excess_p_adjusted if self.excess else self.p_adjusted) < ALPHA


@dataclass(frozen=True)
class ModelContamination:
    """The four cells of one model, the contrasts between them, and the verdict."""

    model: str
    reference: str | None
    cells: tuple[ContaminationCell, ...]
    contrasts: tuple[ContaminationContrast, ...]
    verdict: str

    json_properties = ("can", "cannot")

    @property
    def can(self) -> tuple[str, ...]:
        """What the contrasts can show."""
        return can_show(self.reference)

    @property
    def cannot(self) -> tuple[str, ...]:
        """What the contrasts cannot show."""
        return cannot_show(self.reference)


@dataclass(frozen=True)
class ContaminationResult:
    """Every model whose runs hold the four suites."""

    models: tuple[ModelContamination, ...]


@study(group="look into a run")
def contamination(
    runs: Annotated[Sequence[Run], "Run folders of models on hans and hans/novel, in published and in fresh words."],
    *,
    reference: Annotated[Sequence[Run], "Runs of a model known to be clean; may be repeated."] = (),
    correction: Annotated[Correction, "holm, bh (Benjamini–Hochberg), by (Benjamini–Yekutieli) or none."] = "holm",
    seed: Annotated[int, "Seed of every random choice."] = 0,
) -> ContaminationResult:
    """Show whether models have seen HANS: published against fresh words and templates.

    Models whose runs do not hold the four suites are skipped; it is an error if no model is left, or with a reference.
    """
    models = measure_models(runs, reference=reference, correction=correction)
    if not models:
        raise AcidtestError(
            "no model has runs of all four suites: run it on hans and on hans/novel, each with words=published and "
            "with words=fresh (acidtest run -m MODEL -s hans,hans/novel --words published,fresh)"
        )
    return ContaminationResult(models)


def measure_models(
    runs: Sequence[Run], *, reference: Sequence[Run] = (), correction: str = "holm"
) -> tuple[ModelContamination, ...]:
    """The result of every model whose runs hold the four suites; with a reference, it is an error if they do not."""
    clean = {run.header.model.signature for run in reference}
    models = [members for members in _runs_by_model(runs, clean) if reference or holds_the_four(members)]
    return tuple(measure_contamination(members, reference=reference, correction=correction) for members in models)


def _runs_by_model(runs: Sequence[Run], clean: set[str]) -> list[list[Run]]:
    """The runs of each model, without the models whose signatures are in ``clean``."""
    by_model: dict[tuple[str, int], list[Run]] = {}
    for number, run in enumerate(runs, 1):
        model = run.header.model
        if model.signature not in clean:
            # Without a fingerprint, two models may share a signature: a run that has all four cells is kept separate.
            alone = model.fingerprint is None and holds_the_four([run])
            by_model.setdefault((model.signature, number if alone else 0), []).append(run)
    return list(by_model.values())


def holds_the_four(runs: Sequence[Run]) -> bool:
    """Whether the runs together hold each cell exactly once; one published file may come in addition."""
    placed = [(_place(run, suite), _is_a_file(card)) for run in runs for suite, card in run.header.suites.items()]
    drawn = [place for place, is_a_file in placed if place and not is_a_file]
    files = [place for place, is_a_file in placed if place and is_a_file]
    return len(drawn) == len(set(drawn)) and len(files) <= 1 and len({*drawn, *files}) == len(_PLACES)


def measure_contamination(
    runs: Sequence[Run], *, reference: Sequence[Run] = (), correction: str = "holm"
) -> ModelContamination:
    """Whether the model of the runs does better on the published HANS than its answers elsewhere explain.

    ``runs`` are of one model and together hold the four suites; so do those of ``reference``, a model known not to have
    seen HANS. If the published file itself was run, it replaces the suite with published words and templates. All
    p-values of points are one family, and so are those of log odds of one question. The excess over the reference
    assumes that the two models' answers are independent, which is conservative if both answered the same pairs.
    """
    facts, clean = runs[0].header.model, {run.header.model.signature: run.header.model for run in reference}
    if len(clean) > 1:
        raise AcidtestError(f"the reference is of several models: {', '.join(clean)}; pass runs of one")
    require_one_collapse([*runs, *reference])
    model, other = facts.name, next((model.name for model in clean.values()), None)
    if model == other:
        model, other = facts.signature, next(iter(clean))
    two_way = is_two_way([*runs, *reference])
    cell_rows = _cell_rows(runs, two_way)
    slices = _slices(cell_rows)
    clean_rows = _cell_rows(reference, two_way) if reference else None
    contrasts = _correct(list(_contrasts(cell_rows, clean_rows, slices)), correction)
    cells = tuple(_cell(place, cell_rows[place], slices) for place in _PLACES)
    return ModelContamination(model, other, cells, contrasts, verdict(model, other, contrasts, cells))


def contamination_finding(model: ModelContamination) -> Finding:
    """Whether the model does better on the published pairs than its answers elsewhere explain, as a finding."""
    both = {contrast.slice: contrast for contrast in model.contrasts if contrast.name == "both"}
    signs = [both[name] for name in (WRONG, *both) if both[name].significant]
    # The published words on the published templates are the first cell.
    suites = tuple(cell.suite for cell in model.cells)
    if not signs:
        return Finding("M1", "info", model.verdict.rstrip("."), suites[0], suites=suites)
    effect = signs[0].effect
    points = f"{100 * effect.value:.0f} points ({100 * effect.low:.0f}–{100 * effect.high:.0f})"
    text = f"seems to remember HANS: {points} better on the published pairs than its answers to other ones explain"
    return Finding("M1", "warning", text, suites[0], (model.verdict,), suites=suites, size=effect.value)


@dataclass(frozen=True)
class _CellRows:
    """A cell's suite, its scored rows, and a frame of their factors and correctness, for the contrasts."""

    suite: str
    rows: ScoredRows
    frame: pl.DataFrame


def _cell_rows(runs: Sequence[Run], two_way: bool) -> dict[Place, _CellRows]:
    """The rows of the four cells; raises an error if one is missing or occurs twice."""
    suites = [(run, suite, _is_a_file(card)) for run in runs for suite, card in run.header.suites.items()]
    cells: dict[Place, _CellRows] = {}
    # Files come last, to replace generated suites: the published pairs are better than newly drawn ones.
    for run, suite, is_a_file in sorted(suites, key=lambda entry: entry[2]):
        place = _place(run, suite)
        if place is None:
            continue
        if place in cells and _is_a_file(cells[place].rows.card) == is_a_file:
            raise AcidtestError(f"{_describe(place)} twice, in {cells[place].suite!r} and {suite!r}; pass one of them")
        rows = score_rows(run, suite, two_way=two_way)
        missing = [name for name in _COLUMNS if name not in rows.frame.columns]
        if missing:
            raise AcidtestError(f"suite {suite!r} has no column {', '.join(missing)}; generate it anew with acidtest")
        words, templates = map(pl.lit, place)
        frame = rows.frame.select(pl.col(_COLUMNS).cast(pl.String), words=words, templates=templates)
        cells[place] = _CellRows(suite, rows, frame.with_columns(correct=rows.correct))
    missing = [_describe(place) for place in _PLACES if place not in cells]
    if missing:
        raise AcidtestError(
            f"{runs[0].header.model.name}: no run has {' or '.join(missing)}; "
            "run it on hans and on hans/novel, each with words=published and with words=fresh"
        )
    return cells


def _place(run: Run, suite: str) -> Place | None:
    """The cell a suite belongs to, by its name and words or as the published file; None for other suites."""
    card = run.header.suites[suite]
    place = (str(card.arguments.get("words")), _TEMPLATES_OF_SUITE.get(suite.partition(":")[0], ""))
    if place in _PLACES:
        return place
    if not _is_a_file(card) or not {*_COLUMNS} - {"label"} <= set(card.columns):
        return None
    subcases = set(run.collected(run.lazy(suite).select("subcase").drop_nulls().unique())["subcase"])
    return _PUBLISHED if subcases and subcases <= set(packaged_table("hans/templates.tsv")["subcase"]) else None


def _is_a_file(card: Card) -> bool:
    return "words" not in card.arguments or FILE in card.arguments


def _describe(place: Place) -> str:
    return f"{place[0]} words on {place[1]} templates"


def _slices(cells: Mapping[Place, _CellRows]) -> dict[str, pl.Expr]:
    """Conditions for all pairs, for those on which the heuristics are wrong, and for the latter by heuristic."""
    heuristics = pl.concat([cells[place].frame["heuristic"] for place in _PLACES]).drop_nulls()
    wrong = pl.col("label") == WRONG
    names = heuristics.unique(maintain_order=True)
    single = {f"{name}{CROSS}{WRONG}": wrong & (pl.col("heuristic") == name) for name in names}
    return {ALL_PAIRS: pl.lit(True), WRONG: wrong, **single}


def _cell(place: Place, cell: _CellRows, slices: Mapping[str, pl.Expr]) -> ContaminationCell:
    flags = cell.frame.select(**{name: pl.repeat(True, pl.len()) & condition for name, condition in slices.items()})
    rates = {name: cell.rows.rate(cell.rows.correct, flags[name].to_numpy()) for name in slices}
    return ContaminationCell(*place, cell.suite, rates)


@dataclass(frozen=True)
class _Measurement:
    """A model's contrast: the rates it adds up, the same in log odds by heuristic and label, and caveats."""

    rates: Sequence[tuple[float, StratifiedRate]]
    logits: LogOdds
    note: str


def _contrasts(
    cells: Mapping[Place, _CellRows], clean: Mapping[Place, _CellRows] | None, slices: Mapping[str, pl.Expr]
) -> Iterator[ContaminationContrast]:
    for name, condition in slices.items():
        for kind, question in _QUESTIONS.items():
            own = _measure(cells, kind, condition)
            difference = _noted(combination(own.rates), own.note)
            contrast = ContaminationContrast(name, kind, question, difference, combination_test(own.rates).p)
            logits = own.logits
            if clean is not None:
                other = _measure(clean, kind, condition)
                both = [*own.rates, *((-coefficient, rate) for coefficient, rate in other.rates)]
                notes = "; ".join(filter(None, (own.note, other.note and f"reference: {other.note}")))
                logits = _sum_log_odds([(1, logits), (-1, other.logits)])
                contrast = replace(
                    contrast,
                    reference=_noted(combination(other.rates), other.note),
                    excess=_noted(combination(both), notes),
                    excess_p=combination_test(both).p,
                )
            yield replace(contrast, logit_p=_pooled_p(logits))


def _correct(contrasts: Sequence[ContaminationContrast], correction: str) -> tuple[ContaminationContrast, ...]:
    """The contrasts with adjusted p-values."""
    in_points: tuple[ContaminationContrast, ...] = correct_with_excess(contrasts, correction)
    adjusted_ps: dict[tuple[str, str], float] = {}
    for kind in _QUESTIONS:
        same = [contrast for contrast in contrasts if contrast.name == kind]
        ps = adjusted([contrast.logit_p for contrast in same], correction)
        adjusted_ps |= {(kind, contrast.slice): float(p) for contrast, p in zip(same, ps, strict=True)}
    return tuple(
        replace(contrast, logit_p_adjusted=adjusted_ps[contrast.name, contrast.slice]) for contrast in in_points
    )


def _noted(estimate: Estimate, note: str) -> Estimate:
    return replace(estimate, note=note or estimate.note)


def _pooled_p(logits: LogOdds) -> float:
    """The one-sided p-value of log odds above 0, each heuristic and label weighted by the inverse of its variance."""
    information = sum(1 / variance for _, variance in logits.values())
    if not information:
        return nan
    value = sum(value / variance for value, variance in logits.values()) / information
    return erfc(value * sqrt(information / 2)) / 2


def _sum_log_odds(terms: Sequence[tuple[int, LogOdds]]) -> LogOdds:
    """The sum of independent log odds, each times 1 or -1; without heuristics and labels that a term lacks."""
    known = [key for key in terms[0][1] if all(key in term for _, term in terms)]
    return {
        key: (sum(sign * term[key][0] for sign, term in terms), sum(term[key][1] for _, term in terms)) for key in known
    }


def _measure(cells: Mapping[Place, _CellRows], kind: str, condition: pl.Expr) -> _Measurement:
    """A contrast on the rows that meet the condition.

    The weights of a cell's rows add up to 1. Each heuristic × label has the same weight in every cell: its share of all
    rows. Within it, each template has the same weight in the cells that share it. Templates that are missing from one
    of these cells are left out.
    """
    differences = _DIFFERENCES[kind]
    places = [place for difference in differences for place in difference]
    rows = pl.concat([cells[place].frame for place in places]).filter(condition)
    cell_counts = {templates: sum(place[1] == templates for place in places) for _, templates in places}
    counts = rows.group_by("words", *_STRATUM, maintain_order=True).agg(rows=pl.len())
    shared = pl.len().over(_STRATUM) == pl.col("templates").replace_strict(cell_counts, return_dtype=pl.UInt32)
    counts = counts.filter(shared).filter(pl.col("templates").n_unique().over(_HEURISTIC_LABEL) == len(cell_counts))
    size = pl.col("rows").sum()
    label_weight = size.over(_HEURISTIC_LABEL) / size
    template_weight = size.over(_STRATUM) / size.over("templates", *_HEURISTIC_LABEL)
    counts = counts.with_columns(weight=label_weight * template_weight / pl.col("rows")).with_row_index("stratum")
    weighted = rows.join(counts.drop("rows"), on=["words", *_STRATUM], how="inner", maintain_order="left")
    rates = {}
    for words, templates in places:
        side = weighted.filter(words=words, templates=templates)
        rates[words, templates] = StratifiedRate.of(side["correct"], strata=side["stratum"], weights=side["weight"])
    parts = [
        (sign, rates[place]) for difference in differences for sign, place in zip((1, -1), difference, strict=True)
    ]
    logits = _sum_log_odds([(1, _log_odds_ratios(weighted, *difference)) for difference in differences])
    return _Measurement(parts, logits, "; ".join(_notes(rates, rows.height - weighted.height)))


def _log_odds_ratios(rows: pl.DataFrame, first: Place, second: Place) -> LogOdds:
    """The log odds of a right answer in the first cell less those in the second, by heuristic and label.

    Compared within templates if the cells share them.
    """
    strata = _COLUMNS if first[1] == second[1] else _HEURISTIC_LABEL
    words, templates = pl.col("words"), pl.col("templates")
    counts = {
        f"{number} {right}": ((words == place[0]) & (templates == place[1]) & (pl.col("correct") == right)).sum()
        for number, place in enumerate((first, second))
        for right in (True, False)
    }
    tables = rows.group_by(strata, maintain_order=True).agg(**counts)
    ratios = {
        (str(heuristic), str(label)): pooled_log_odds_ratio(part.select(*counts).to_numpy().reshape(-1, 2, 2))
        for (heuristic, label), part in tables.group_by(_HEURISTIC_LABEL, maintain_order=True)
    }
    return {key: ratio for key, ratio in ratios.items() if ratio[1] > 0}


def _notes(rates: Mapping[Place, StratifiedRate], left_out: int) -> Iterator[str]:
    """Caveats: rows left out, small or unanimous cells, and novel templates on which nearly all answers agree."""
    if left_out:
        yield f"{left_out:,} rows of templates that only one side has are left out"
    for place, rate in rates.items():
        if rate.n < FEW_ROWS:
            yield f"{describe_count(rate.n, 'row') if rate.n else 'no rows'} with {_describe(place)}"
        elif rate.unanimous:
            yield f"all {'right' if rate.value else 'wrong'} with {_describe(place)}"
    novel = [rate.value for place, rate in rates.items() if place[1] == "novel"]
    if len(novel) > 1 and (max(novel) <= NEARLY_NONE or min(novel) >= 1 - NEARLY_NONE):
        nearly = "wrong" if max(novel) <= NEARLY_NONE else "right"
        yield f"on novel templates nearly all answers are {nearly}, so words could hardly matter there"


ALPHA = 0.05
NEARLY_NONE = 0.05
TOO_WIDE = 0.1
"""If the upper bound is farther above the value than this, there were too few rows."""

ALL_PAIRS, WRONG = "all pairs", "non-entailment"
"""Slices; the second is where the heuristics are wrong and memory would show."""


def document(result: ContaminationResult) -> Document:
    """A section for each model."""
    several = len(result.models) > 1
    headline = " ".join(f"{model.model}: {model.verdict}" if several else model.verdict for model in result.models)
    return Document(
        title="acidtest contamination",
        headline=headline,
        parts=tuple(Section(f"Contamination: {model.model}", tuple(_parts(model))) for model in result.models),
        models=tuple(model.model for model in result.models),
    )


def _parts(model: ModelContamination) -> Iterator[Part]:
    yield Note(model.verdict)
    yield _cell_table(model)
    yield _contrast_table(model)
    for name, question in {contrast.name: contrast.question for contrast in model.contrasts}.items():
        yield Note(f"{name}: {question}", quiet=True)
    if model.reference:
        yield Note(f"reference: {model.reference}", quiet=True)
    yield Section("What this can show", tuple(Note(line) for line in model.can), folded=True)
    yield Section("What it cannot show", tuple(Note(line) for line in model.cannot), folded=True)


def _cell_table(model: ModelContamination) -> Table:
    """Accuracy on every slice: rows are words, columns are templates."""
    cells = {(cell.words, cell.templates): cell.slices for cell in model.cells}
    words, templates = (dict.fromkeys(names) for names in zip(*cells, strict=True))
    rows = tuple(
        Row(f"{word_list} words", tuple(cells[word_list, column][name] for column in templates), name)
        for name in model.cells[0].slices
        for word_list in words
    )
    columns = tuple(Column(f"{column} templates") for column in templates)
    return Table(f"contamination {model.model} cells", "Accuracy, %, with 95 % intervals", columns, rows, "words")


def _contrast_table(model: ModelContamination) -> Table:
    columns = [Column("difference", "points"), Column("p adjusted", "p"), Column("p in log odds", "p")]
    if model.reference:
        columns += [Column("reference", "points"), Column("excess", "points"), Column("p of the excess", "p")]
    names = [contrast.name for contrast in model.contrasts]
    rows, notes = [], dict[str, list[str]]()
    for contrast in sorted(model.contrasts, key=lambda contrast: names.index(contrast.name)):
        cells: list[Cell] = [contrast.difference, PValue(contrast.p_adjusted), PValue(contrast.logit_p_adjusted)]
        if model.reference:
            cells += [contrast.reference, contrast.excess, PValue(contrast.excess_p_adjusted)]
        rows.append(Row(contrast.slice, tuple(cells), heading=contrast.name))
    scale = "p in log odds: one-sided, adjusted over the slices; a sign of memory needs both p-values below 0.05"
    for contrast in model.contrasts:
        if contrast.effect.note:
            notes.setdefault(contrast.effect.note, []).append(f"{contrast.name}, {contrast.slice}")
    return Table(
        f"contamination {model.model} contrasts",
        "Differences between the cells, in points, with 95 % intervals",
        tuple(columns),
        tuple(rows),
        "slice",
        notes=(scale, *(f"{'; '.join(where)}: {note}" for note, where in notes.items())),
    )


def verdict(
    model: str, reference: str | None, contrasts: Sequence[ContaminationContrast], cells: Sequence[ContaminationCell]
) -> str:
    """Sentences on what the contrasts show of memory and, where differences are significant, of words and templates."""
    rates = [cell.slices[WRONG].value for cell in cells]
    nearly = "wrong" if max(rates) <= NEARLY_NONE else "right" if min(rates) >= 1 - NEARLY_NONE else ""
    if nearly:
        return (
            f"Memory cannot be measured: where the heuristics are wrong, {model} is {nearly} on nearly all pairs of "
            "all four suites, so it has nothing to show in."
        )
    by_name = {(contrast.name, contrast.slice): contrast for contrast in contrasts}
    # Memory shows where the heuristics are wrong; all pairs come last: the heuristics are right on half of them.
    order = [WRONG, *(contrast.slice for contrast in contrasts if contrast.slice not in (WRONG, ALL_PAIRS)), ALL_PAIRS]
    signs = [by_name["both", name] for name in order if by_name["both", name].significant]
    sentences = [_describe_memory(model, reference, by_name["both", WRONG], signs)]
    words, templates = by_name["words", WRONG], by_name["templates", WRONG]
    if words.significant and not signs:
        sentences.append(
            f"On the published templates the published words are {_points(words.effect)} better than fresh ones; that "
            "is not clearly more than on novel templates, so they may just be easier."
        )
    if templates.significant and reference:
        sentences.append(
            f"It seems to know the templates: with fresh words it is {_points(templates.effect)} better on the "
            f"published than on novel ones, beyond the difference that {reference} shows."
        )
    elif templates.significant:
        sentences.append(
            f"With fresh words it is {_points(templates.effect)} better on the published templates than on novel ones: "
            "it knows them or they are easier, which only a clean reference can show."
        )
    return " ".join(sentences)


def _describe_memory(
    model: str, reference: str | None, main: ContaminationContrast, signs: Sequence[ContaminationContrast]
) -> str:
    level = "its own level on other words and templates"
    explains = f"{level}, and the same difference of {reference}, explain" if reference else f"{level} explains"
    better = f"better on the published words in the published templates than {explains}"
    effect = main.effect
    if signs:
        return f"Signs of memory: {_where(signs[0].slice)}, {model} is {_points(signs[0].effect)} {better}."
    if main.in_points and not main.significant:
        return (
            f"No sign of memory that easier words would not leave: {_where(main.slice)}, {model} is {_points(effect)} "
            f"{better}, but that is about as much as words that are easier by the same log odds everywhere would give."
        )
    if effect.value > 0 and main.logit_p < ALPHA and (main.excess_p if main.excess else main.p) < ALPHA:
        return (
            f"A weak sign of memory: {_where(main.slice)}, {model} is {_points(effect)} {better}, "
            "but among so many comparisons chance may do as much."
        )
    missed = f"an advantage of up to {100 * effect.high:.1f} points could have been missed"
    if not effect.known or effect.high - effect.value > TOO_WIDE:
        reason = missed if effect.known else effect.note
        return f"Too few rows to say whether {model} remembers the published pairs: {reason}."
    if effect.high <= 0:
        missed = f"if anything it is worse there, by {-100 * effect.value:.1f} points"
    return f"No sign of memory: {_where(main.slice)}, {model} is not clearly {better}; {missed}."


def _where(name: str) -> str:
    heuristic = name.partition(CROSS)[0].replace("_", " ")
    special = {ALL_PAIRS: "over all pairs", WRONG: "where the heuristics are wrong"}
    return special.get(name, f"where {heuristic} is wrong")


def _points(effect: Estimate) -> str:
    return f"{100 * effect.value:.1f} points ({100 * effect.low:.1f} to {100 * effect.high:.1f})"


def can_show(reference: str | None) -> tuple[str, ...]:
    """What the contrasts can show."""
    general = (
        "The contrast 'both' shows whether the published words help on the published templates beyond what they do on "
        "novel ones, as training on the published files would make them.",
        "The contrast 'words' compares the same templates filled with other words, so templates cannot explain it.",
        "The contrast 'templates' shows whether the score holds when the sentences are built otherwise.",
    )
    excess = f"Differences of difficulty that {reference} meets as well fall away in the excess over it."
    return (*general, excess) if reference else general


def cannot_show(reference: str | None) -> tuple[str, ...]:
    """What the contrasts cannot show."""
    return (
        f"The excess speaks of the model only as far as {reference} is clean and otherwise finds the same hard."
        if reference
        else "Without a clean reference, familiar templates cannot be told from easier ones.",
        "Memory cannot be told from words that are more frequent, and so easier, in the published templates only. "
        "Words that are easier everywhere do not count as memory: the difference must hold in points and in log odds.",
        "Training on paraphrases of HANS or on data generated likewise raises all four cells and goes unseen.",
        "The pairs are drawn anew and hardly any is among the published: a model that learnt those by heart, and "
        "nothing from them about others, does not show. Score the published file itself for that.",
        "One list of fresh words and one set of novel templates were tried; others may give another difference.",
        "No sign is no proof that a model is clean.",
    )
