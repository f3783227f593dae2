"""Whether a model's score on HANS is helped by having seen HANS: published against fresh words and novel templates.

Four suites, words {published, fresh} × templates {published, novel}, are four sets of different rows, so nothing is
paired. Every contrast is a sum of the cells' rates, standardised so that all cells weigh heuristic and label alike and,
where they share templates, each template alike.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from acidtest.core.document import Finding, Severity
from acidtest.core.errors import AcidtestError
from acidtest.core.estimate import Estimate
from acidtest.core.run import ModelFacts, Run
from acidtest.core.suite import CROSS, Card
from acidtest.io.published import FILE
from acidtest.io.wordlists import packaged_table
from acidtest.stats.intervals import StratifiedRate, combination
from acidtest.stats.significance import adjusted, combination_test
from acidtest.studies.contamination.verdict import ALL_PAIRS, ALPHA, NEARLY_NONE, WRONG, can, cannot, verdict
from acidtest.studies.rows import ScoredRows, score_rows

FEW_ROWS = 30
Place = tuple[str, str]
"""Words and templates of a cell."""

_TEMPLATES = {"hans": "published", "hans/novel": "novel"}
_PLACES: tuple[Place, ...] = tuple(
    (words, templates) for templates in _TEMPLATES.values() for words in ("published", "fresh")
)
_PART = ("heuristic", "label")
_STRATUM = ("templates", *_PART, "subcase", "template")

_QUESTIONS: Mapping[str, str] = {
    "words": "On the published templates, does the model do better with the published words than with fresh ones?",
    "templates": "With fresh words, does it do better on the published templates than on novel ones?",
    "both": "Do the published words help it more on the published templates than on novel ones, as memory would?",
}
_COEFFICIENTS: Mapping[str, Mapping[Place, float]] = {
    "words": {("published", "published"): 1, ("fresh", "published"): -1},
    "templates": {("fresh", "published"): 1, ("fresh", "novel"): -1},
    "both": {
        ("published", "published"): 1,
        ("fresh", "published"): -1,
        ("published", "novel"): -1,
        ("fresh", "novel"): 1,
    },
}


@dataclass(frozen=True)
class ContaminationCell:
    """One of the four suites, with the model's accuracy on its slices."""

    words: str
    templates: str
    suite: str
    slices: Mapping[str, Estimate]


@dataclass(frozen=True)
class ContaminationContrast:
    """A difference between cells on one slice; ``excess`` is the model's less the reference's."""

    slice: str
    name: str
    question: str
    difference: Estimate
    p: float
    p_adjusted: float = math.nan
    reference: Estimate | None = None
    excess: Estimate | None = None
    excess_p: float = math.nan
    excess_p_adjusted: float = math.nan

    @property
    def effect(self) -> Estimate:
        """What speaks for contamination: the excess where there is a reference, else the difference."""
        return self.excess or self.difference

    @property
    def effect_p(self) -> float:
        """The effect's p-value, uncorrected."""
        return self.excess_p if self.excess else self.p

    @property
    def significant(self) -> bool:
        """Whether the effect is above 0 by more than chance, after correction."""
        return self.effect.value > 0 and (self.excess_p_adjusted if self.excess else self.p_adjusted) < ALPHA


@dataclass(frozen=True)
class ModelContamination:
    """The four cells, what they differ by, and what that does and does not show."""

    model: str
    reference: str | None
    cells: tuple[ContaminationCell, ...]
    contrasts: tuple[ContaminationContrast, ...]
    verdict: str
    can: tuple[str, ...]
    cannot: tuple[str, ...]


def measure_contamination(
    runs: Sequence[Run], *, reference: Sequence[Run] = (), correction: str = "holm"
) -> ModelContamination:
    """Whether the model of the runs does better on the published HANS than its answers elsewhere explain.

    The runs are one model's and together hold the four suites, the published file itself standing for published words
    in published templates if it is among them; so do those of the reference, a model known not to have seen
    HANS. All p-values of the report are one family. The excess over the reference takes the two models' answers to be
    independent, which is conservative when they were asked the same pairs.
    """
    model, clean = _names(runs, reference)
    _refuse_mixed_collapse([*runs, *reference])
    two_way = any(run.header.model.resolution == "two-way" for run in (*runs, *reference))
    model_cells = _answers(runs, two_way)
    other = _answers(reference, two_way) if reference else None
    slices = _slices(model_cells)
    contrasts = _corrected(list(_contrasts(model_cells, other, slices)), correction)
    cells = tuple(_cell(place, model_cells[place], slices) for place in _PLACES)
    return ModelContamination(
        model=model,
        reference=clean,
        cells=cells,
        contrasts=contrasts,
        verdict=verdict(model, clean, contrasts, cells),
        can=can(clean),
        cannot=cannot(clean),
    )


def holds_the_four(runs: Sequence[Run]) -> bool:
    """Whether some runs hold every cell once, so that contamination can be measured."""
    placed = [(_place(run, suite, card), card) for run in runs for suite, card in run.header.suites.items()]
    drawn = [place for place, card in placed if place is not None and not _is_a_file(card)]
    files = [place for place, card in placed if place is not None and _is_a_file(card)]
    return len(drawn) == len(set(drawn)) and len(files) <= 1 and len({*drawn, *files}) == len(_PLACES)


@dataclass(frozen=True)
class _Answers:
    """A cell's suite, its scored rows, and for contrasts what each row is and whether it is right."""

    suite: str
    rows: ScoredRows
    frame: pl.DataFrame


def _names(runs: Sequence[Run], reference: Sequence[Run]) -> tuple[str, str | None]:
    """The names of the model and of the reference; with their fingerprints where the names are the same."""
    facts = _model(runs)
    if not reference:
        return facts.name, None
    clean = _model(reference)
    if clean.signature == facts.signature:
        raise AcidtestError(f"the reference is {facts.name!r} itself; pass runs of another model, known to be clean")
    return (facts.name, clean.name) if facts.name != clean.name else (facts.signature, clean.signature)


def _model(runs: Sequence[Run]) -> ModelFacts:
    """The one model the runs are of."""
    if not runs:
        raise AcidtestError("contamination needs the runs of a model on hans and hans/novel, published and fresh words")
    models = {run.header.model.signature: run.header.model for run in runs}
    if len(models) > 1:
        raise AcidtestError(
            f"the runs are of different models: {', '.join(models)}; pass one model's, and a clean one's as reference"
        )
    return runs[0].header.model


def _refuse_mixed_collapse(runs: Sequence[Run]) -> None:
    collapses = sorted({str(run.header.collapse) for run in runs})
    if len(collapses) > 1:
        raise AcidtestError(f"the runs were scored with different --collapse: {', '.join(collapses)}; score them alike")


def _answers(runs: Sequence[Run], two_way: bool) -> dict[Place, _Answers]:
    """The four cells, recognised by the names and the words of the runs' suites."""
    suites = [(run, suite, card) for run in runs for suite, card in run.header.suites.items()]
    cells: dict[Place, _Answers] = {}
    # Files come last and may take a place: the published pairs themselves are better than pairs drawn anew.
    for run, suite, card in sorted(suites, key=lambda entry: _is_a_file(entry[2])):
        place = _place(run, suite, card)
        if place is None:
            continue
        answers = _cell_answers(suite, score_rows(run, suite, two_way=two_way), place)
        if place in cells and _is_a_file(cells[place].rows.card) == _is_a_file(card):
            raise AcidtestError(f"{_named(place)} twice, in {cells[place].suite!r} and {suite!r}; pass one of them")
        cells[place] = answers
    missing = [_named(place) for place in _PLACES if place not in cells]
    if missing:
        raise AcidtestError(
            f"{runs[0].header.model.name}: no run has {' or '.join(missing)}; "
            "run it on hans and on hans/novel, each with words=published and with words=fresh"
        )
    return cells


def _place(run: Run, suite: str, card: Card) -> Place | None:
    """The cell a suite belongs to: by its name and words, or because it is the published file itself."""
    place = (str(card.arguments.get("words")), _TEMPLATES.get(suite.partition(":")[0], ""))
    if place in _PLACES:
        return place
    if not {*_PART, "subcase", "template"} - {"label"} <= set(card.columns) or not _is_a_file(card):
        return None
    subcases = set(run.collected(run.lazy(suite).select("subcase").drop_nulls().unique())["subcase"])
    published = set(packaged_table("hans/templates.tsv")["subcase"])
    return ("published", "published") if subcases and subcases <= published else None


def _is_a_file(card: Card) -> bool:
    return "words" not in card.arguments or FILE in card.arguments


def _named(place: Place) -> str:
    return f"{place[0]} words on {place[1]} templates"


def _cell_answers(suite: str, rows: ScoredRows, place: Place) -> _Answers:
    columns = [*_PART, "subcase", "template"]
    missing = [name for name in columns if name not in rows.frame.columns]
    if missing:
        raise AcidtestError(f"suite {suite!r} has no column {', '.join(missing)}; generate it anew with acidtest")
    frame = rows.frame.select(
        pl.lit(place[0]).alias("words"), pl.lit(place[1]).alias("templates"), pl.col(columns).cast(pl.String)
    ).with_columns(correct=rows.correct)
    return _Answers(suite, rows, frame)


def _slices(answers: Mapping[Place, _Answers]) -> dict[str, pl.Expr]:
    """All pairs, those where the heuristics are wrong, and these by heuristic."""
    heuristics = pl.concat([answers[place].frame["heuristic"] for place in _PLACES]).drop_nulls()
    wrong = pl.col("label") == WRONG
    single = {
        f"{name}{CROSS}{WRONG}": wrong & (pl.col("heuristic") == name)
        for name in heuristics.unique(maintain_order=True)
    }
    return {ALL_PAIRS: pl.lit(True), WRONG: wrong, **single}


def _cell(place: Place, answers: _Answers, slices: Mapping[str, pl.Expr]) -> ContaminationCell:
    estimates = {}
    for name, condition in slices.items():
        chosen = answers.frame.select(pl.repeat(True, pl.len()) & condition).to_series().to_numpy()
        estimates[name] = answers.rows.rate(answers.rows.correct, chosen)
    return ContaminationCell(*place, answers.suite, estimates)


def _contrasts(
    model_cells: Mapping[Place, _Answers], other: Mapping[Place, _Answers] | None, slices: Mapping[str, pl.Expr]
) -> Iterator[ContaminationContrast]:
    for name, condition in slices.items():
        for kind, question in _QUESTIONS.items():
            sides = _sides(model_cells, kind, condition)
            contrast = ContaminationContrast(name, kind, question, sides.estimate, combination_test(sides.parts).p)
            if other is not None:
                clean = _sides(other, kind, condition)
                both = [*sides.parts, *((-coefficient, rate) for coefficient, rate in clean.parts)]
                note = "; ".join(filter(None, (sides.note, clean.note and f"reference: {clean.note}")))
                contrast = replace(
                    contrast,
                    reference=clean.estimate,
                    excess=_noted(combination(both), note),
                    excess_p=combination_test(both).p,
                )
            yield contrast


@dataclass(frozen=True)
class _Sides:
    """The rates that make up a contrast, each with its coefficient, and what to know about them."""

    parts: list[tuple[float, StratifiedRate]]
    note: str

    @property
    def estimate(self) -> Estimate:
        return _noted(combination(self.parts), self.note)


def _sides(answers: Mapping[Place, _Answers], kind: str, condition: pl.Expr) -> _Sides:
    coefficients = _COEFFICIENTS[kind]
    rows = pl.concat([answers[place].frame for place in coefficients]).filter(condition)
    weighted = _weighted(rows, coefficients)
    rates = {}
    for place in coefficients:
        side = weighted.filter(words=place[0], templates=place[1])
        rates[place] = StratifiedRate.of(side["correct"], strata=side["stratum"], weights=side["weight"])
    note = _note(rates, rows.height - weighted.height)
    return _Sides([(coefficient, rates[place]) for place, coefficient in coefficients.items()], note)


def _weighted(rows: pl.DataFrame, coefficients: Mapping[Place, float]) -> pl.DataFrame:
    """The rows that have counterparts in the other cells, each with its stratum and its weight; a cell's add up to 1.

    Heuristic × label has the same part in every cell: its share of all rows. Within it, a template has the same part
    in both cells that are made from it. Templates that only one of these has are left out.
    """
    cells = {templates: sum(place[1] == templates for place in coefficients) for _, templates in coefficients}
    counts = rows.group_by("words", *_STRATUM, maintain_order=True).agg(rows=pl.len())
    shared = pl.len().over(_STRATUM) == pl.col("templates").replace_strict(cells, return_dtype=pl.UInt32)
    counts = counts.filter(shared)
    counts = counts.filter(pl.col("templates").n_unique().over(_PART) == len(cells))
    size = pl.col("rows").sum()
    part = size.over(_PART) / size
    within = size.over(_STRATUM) / size.over("templates", *_PART)
    counts = counts.with_columns(weight=part * within / pl.col("rows")).with_row_index("stratum")
    return rows.join(counts.drop("rows"), on=["words", *_STRATUM], how="inner", maintain_order="left")


def _note(rates: Mapping[Place, StratifiedRate], left_out: int) -> str:
    """What a reader of the number must know: empty, small and unanimous cells, and no room to differ."""
    notes = []
    if left_out:
        notes.append(f"{left_out:,} rows of templates that only one side has are left out")
    for place, rate in rates.items():
        if rate.n < FEW_ROWS:
            notes.append(f"{rate.n or 'no'} {'row' if rate.n == 1 else 'rows'} with {_named(place)}")
        elif rate.unanimous:
            notes.append(f"all {'right' if rate.value else 'wrong'} with {_named(place)}")
    novel = [rate.value for place, rate in rates.items() if place[1] == "novel"]
    if len(novel) > 1 and (max(novel) <= NEARLY_NONE or min(novel) >= 1 - NEARLY_NONE):
        nearly = "wrong" if max(novel) <= NEARLY_NONE else "right"
        notes.append(f"on novel templates nearly all answers are {nearly}, so words could hardly matter there")
    return "; ".join(notes)


def _noted(estimate: Estimate, note: str) -> Estimate:
    return replace(estimate, note=note) if note else estimate


def _corrected(contrasts: Sequence[ContaminationContrast], correction: str) -> tuple[ContaminationContrast, ...]:
    """The contrasts with p-values corrected as one family, those of the excesses included."""
    ps = adjusted([p for contrast in contrasts for p in (contrast.p, contrast.excess_p)], correction)
    return tuple(
        replace(contrast, p_adjusted=float(p), excess_p_adjusted=float(excess_p))
        for contrast, p, excess_p in zip(contrasts, ps[::2], ps[1::2], strict=True)
    )


def contamination_finding(model: ModelContamination) -> Finding:
    """Whether the model does better on the published pairs than its answers elsewhere explain, as a finding."""
    both = [contrast for contrast in model.contrasts if contrast.name == "both"]
    contrast = next(contrast for contrast in both if contrast.slice != ALL_PAIRS)
    effect = contrast.effect
    evidence: tuple[str, ...] = ()
    if effect.known:
        low, high = (f"{100 * end:+.1f}" for end in (effect.low, effect.high))
        evidence = (f"{contrast.slice}: difference of differences {100 * effect.value:+.1f} points ({low} to {high})",)
    published = next(cell.suite for cell in model.cells if (cell.words, cell.templates) == _PLACES[0])
    severity: Severity = "warning" if any(contrast.significant for contrast in both) else "info"
    return Finding("M1", severity, model.verdict.rstrip("."), published, evidence)
