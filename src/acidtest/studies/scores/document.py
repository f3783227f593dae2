"""Scores as a document: the scorecard's sections, then a folded one for each suite with everything known about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from acidtest.core.document import (
    Browser,
    Cell,
    Change,
    Chart,
    Column,
    Document,
    Note,
    Pairs,
    Part,
    PValue,
    Reference,
    Role,
    Row,
    Section,
    Table,
    describe_count,
)
from acidtest.core.labels import GOLD_MASKS
from acidtest.core.numbers import whole_percent
from acidtest.core.run import Run
from acidtest.core.suite import CATEGORY, CROSS, Card
from acidtest.io.published import (
    MAIN,
    PEOPLE,
    PublishedScore,
    made_from,
    other_conditions,
    people_name,
    published_accuracies,
    published_systems,
    scores_beside,
)
from acidtest.studies.scores import ModelScores, ScoresResult, SuiteResult
from acidtest.studies.scores.scorecard import describe_model, leading_sections
from acidtest.studies.scoring.error_kinds import confusion_table, kinds_table
from acidtest.studies.scoring.slices import (
    MOST_CHART_ROWS,
    chance,
    headings,
    main_factor,
    mistakes,
    row_names,
    slice_of,
)

WHOLE = "whole suite"

_SUITE = "suite-"
"""How the anchor of a suite's section begins; a number follows."""

_METHODS = (
    "Accuracy is the share of pairs whose answer is among the accepted gold labels. Every interval is a 95 % interval: "
    "over many repetitions, 95 of 100 such intervals hold the true value. Rows made from one source sentence or base "
    "pair count as one group. Templates, subcases and categories are strata: the interval speaks of new pairs from the "
    "same templates, not of new templates.",
)
_CONDITIONS: dict[Role, str] = {"published": MAIN, "people": PEOPLE}
"""The condition of the published numbers that are shown in each role beside the models' numbers."""


@dataclass(frozen=True)
class _Suite:
    """One suite in all runs that have it; results and runs by model."""

    name: str
    results: Mapping[str, SuiteResult]
    runs: Mapping[str, Run]
    published: Sequence[PublishedScore]

    @property
    def first(self) -> Run | None:
        """The first run, which describes the rows of the suite."""
        return next(iter(self.runs.values()), None)

    @property
    def card(self) -> Card | None:
        return self.first.header.suites[self.name] if self.first else None

    def values(self, factor: str) -> list[str]:
        """The values of a factor in any of the results."""
        return list(dict.fromkeys(value for result in self.results.values() for value in result.by.get(factor, {})))

    @property
    def sizes(self) -> dict[str, int]:
        """How many values each factor has."""
        factors = dict.fromkeys(factor for result in self.results.values() for factor in result.by)
        return {factor: len(self.values(factor)) for factor in factors}

    @property
    def main(self) -> str | None:
        """The factor that the suite is shown by first."""
        return main_factor(self.card, self.sizes) if self.card else None

    def accuracies(self, factor: str, value: str) -> list[Cell]:
        """Each model's accuracy on a value of a factor, or on the whole suite if ``factor`` is empty."""
        results = self.results.values()
        return [result.by.get(factor, {}).get(value) if factor else result.overall for result in results]


def document(result: ScoresResult) -> Document:
    """What ``describe_scores`` gives, with the mistakes on each suite and all rows to look through."""
    return add_examples(describe_scores(result), result)


def add_examples(scores: Document, result: ScoresResult) -> Document:
    """The document that ``describe_scores`` gives, with the mistakes on each suite and all rows to look through."""
    runs = {name: model.run for name, model in result.models.items() if model.run is not None}
    parts: list[Part] = []
    for part in scores.parts:
        if isinstance(part, Section) and part.anchor.startswith(_SUITE):
            suite = _suite(part.title, result.models)
            part = replace(part, parts=(*part.parts, *_mistake_sections(suite)))
        parts.append(part)
    return replace(scores, parts=(*parts, Browser(runs)) if runs else tuple(parts))


def describe_scores(result: ScoresResult) -> Document:
    """Profile, suites and findings, then each suite in full, models side by side, without example rows."""
    models = result.models
    names = dict.fromkeys(suite for model in models.values() for suite in model.suites)
    headlines = {name: describe_model(model) for name, model in models.items()}
    sections = list(leading_sections(models))
    for number, name in enumerate(names, 1):
        suite = _suite(name, models)
        parts, summary = tuple(_suite_parts(suite)), _summary(suite)
        sections.append(Section(name, parts, anchor=f"{_SUITE}{number}", folded=True, summary=summary))
    return Document(
        title="acidtest report",
        headline=" ".join(f"{name}: {text}" if len(models) > 1 else text for name, text in headlines.items()),
        parts=tuple(sections),
        models=tuple(models),
        signatures={
            f"{suite}, {name}" if len(models) > 1 else suite: scores.signature
            for name, model in models.items()
            for suite, scores in model.suites.items()
        },
        methods=_METHODS,
    )


def _suite(name: str, models: Mapping[str, ModelScores]) -> _Suite:
    asked = {model: scores for model, scores in models.items() if name in scores.suites}
    results = {model: scores.suites[name] for model, scores in asked.items()}
    # The published numbers of all models' results, each once.
    published: dict[tuple[object, ...], PublishedScore] = {}
    for score in (score for result in results.values() for score in result.published):
        published.setdefault((score.system, score.source, score.condition, *sorted(score.by.items())), score)
    runs = {model: scores.run for model, scores in asked.items() if scores.run}
    corpus = next((made_from(run.header.suites[name]) for run in runs.values()), "")
    beside = published_accuracies(scores_beside(published.values(), corpus))
    return _Suite(name, results, runs, beside)


def _summary(suite: _Suite) -> str:
    """What is beside the title of a suite: how many pairs it has, and the accuracy on them."""
    shares = ", ".join(whole_percent(result.overall.value) for result in suite.results.values() if result.overall.known)
    pairs = max(result.overall.n for result in suite.results.values())
    return f"{describe_count(pairs, 'pair')}{f', {shares} right' if shares else ''}"


def _suite_parts(suite: _Suite) -> Iterator[Part]:
    sizes, main = suite.sizes, suite.main
    yield from _notes(suite)
    if any(result.vs_control for result in suite.results.values()):
        yield _control_table(suite)
    yield from (_crossing_table(suite, factor) for factor in sizes if factor.count(CROSS) == 1 and sizes[factor])
    if main and sizes[main]:
        yield from _factor_parts(suite, main)
    else:
        yield _factor_table(suite, "")
    for factor in sizes:
        if factor != main and CROSS not in factor and sizes[factor]:
            summary = describe_count(sizes[factor], "value")
            yield Section(f"By {factor}", tuple(_factor_parts(suite, factor)), folded=True, summary=summary)
    yield from _error_sections(suite)
    names = dict.fromkeys(name for result in suite.results.values() for name in result.metrics)
    columns = tuple(Column(model, model=model) for model in suite.results)
    rows = tuple(Row(name, tuple(result.metrics.get(name) for result in suite.results.values())) for name in names)
    metrics = Table(f"{suite.name} metrics", f"{suite.name}: further metrics, %", columns, rows, "metric")
    yield Section("Recall, answers given, consistency", (metrics,), folded=True)
    conditions = other_conditions(suite.published)
    if conditions:
        tables = tuple(table for condition in conditions for table in _condition_tables(suite, condition))
        summary = describe_count(len(conditions), "condition")
        yield Section("Published under other conditions", tables, folded=True, summary=summary)


def _notes(suite: _Suite) -> Iterator[Note]:
    card, results = suite.card, suite.results
    if card is not None:
        labels = ", ".join(f"{count:,} {label}" for label, count in card.labels.items())
        texts = [f"{card.rows:,} pairs{f': {labels}' if labels else ''}", card.note, card.citation]
        yield Note(" ".join(text.rstrip(".") + "." for text in texts if text), quiet=True)
    for model, result in results.items():
        who = f"{model}: " if len(results) > 1 else ""
        counts = {
            "pairs without an answer count as wrong": result.unanswered,
            "pairs were cut to the model's length": result.truncated,
        }
        yield from (Note(f"{who}{count:,} {what}.") for what, count in counts.items() if count)
        if count := result.collapse_differs:
            verdicts = describe_count(count, "verdict")
            yield Note(f"{who}{verdicts} would change if probabilities were collapsed another way.")
    for note in dict.fromkeys(note for result in results.values() for note in result.notes):
        if card is None or note.rstrip(".").lower() != card.note.rstrip(".").lower():
            yield Note(note[:1].upper() + note[1:].rstrip(".") + ".", quiet=True)


def _control_table(suite: _Suite) -> Table:
    """The changed pairs beside the untouched ones, a row for each model."""
    columns = (
        Column("untouched → changed"),
        Column("difference", "points"),
        Column("p", "p"),
        Column("p adjusted", "p"),
    )
    rows, tests = [], dict[str, None]()
    for model, result in suite.results.items():
        if control := result.vs_control:
            change = Change(control.control, control.changed or result.overall)
            rows.append(Row(model, (change, control.difference, PValue(control.p), PValue(control.p_adjusted))))
            tests[control.test] = None
    caption = "Accuracy on the changed pairs beside the untouched ones, %"
    return Table(f"{suite.name} control", caption, columns, tuple(rows), "model", notes=tuple(tests))


def _factor_parts(suite: _Suite, factor: str) -> Iterator[Part]:
    """Accuracy by a factor, and a chart where it does not have too many values."""
    table = _factor_table(suite, factor)
    yield table
    if len(table.rows) <= MOST_CHART_ROWS and suite.first and suite.card:
        guess = chance(suite.card, two_way=suite.first.header.model.resolution == "two-way")
        yield Chart(table.id, axis="accuracy", reference=Reference(guess, f"chance ({guess * 100:.0f} %)"))


def _factor_table(suite: _Suite, factor: str) -> Table:
    """Accuracy on the whole suite and on every value of a factor, published numbers beside."""
    values, factors = suite.values(factor), tuple(factor.split(CROSS)) if factor else ()
    under = headings(suite.first, suite.name, factor) if suite.first and factor and CROSS not in factor else {}
    titles = row_names(values, under)
    joined = {
        (names, role): published_systems(suite.published, names, condition)
        for names in dict.fromkeys(((), factors))
        for role, condition in _CONDITIONS.items()
    }
    systems = [
        (role, system)
        for role in reversed(_CONDITIONS)
        for system in dict.fromkeys((*joined[(), role].systems, *joined[factors, role].systems))
    ]
    columns = [Column(model if len(suite.results) > 1 else "accuracy", model=model) for model in suite.results]
    columns += [Column(_system_title(role, system), role=role) for role, system in systems]

    def cells(names: tuple[str, ...], value: str) -> tuple[Cell, ...]:
        numbers = (joined[names, role].systems.get(system, {}).get(value) for role, system in systems)
        return (*suite.accuracies(factor if names else "", value), *numbers)

    rows = [Row(WHOLE, cells((), ""), role="total")]
    for value in values:
        place = slice_of(suite.card, factor, value) if suite.card else {}
        rows.append(Row(titles[value], cells(factors, value), heading=under.get(value, ""), slice=place))
    return Table(
        f"{suite.name} by {factor}" if factor else f"{suite.name} accuracy",
        f"{suite.name}: accuracy{f' by {factor}' if factor else ''}, %, with 95 % intervals",
        tuple(columns),
        tuple(rows),
        factor,
        notes=tuple(dict.fromkeys(note for part in joined.values() for note in part.notes)),
        sources=tuple(dict.fromkeys(source for part in joined.values() for source in part.sources)),
    )


def _system_title(role: Role, system: str) -> str:
    return people_name(system) if role == "people" else system


def _crossing_table(suite: _Suite, factor: str) -> Table:
    """Accuracy by two crossed factors, a row for each system; the second factor groups the columns, as in papers."""
    inner_name, outer_name = factor.split(CROSS)
    pairs = [tuple(key.split(CROSS)) for key in suite.values(factor)]
    outers = dict.fromkeys(pair[-1] for pair in pairs)
    if outer_name == "label":
        outers = dict.fromkeys((*(label for label in GOLD_MASKS if label in outers), *outers))
    cells = [(inner, outer) for outer in outers for inner in dict.fromkeys(p[0] for p in pairs if p[-1] == outer)]
    gold = "gold " if outer_name == "label" else ""
    columns = tuple(
        Column(inner, group=f"{gold}{outer}", slice={inner_name: inner, outer_name: outer}) for inner, outer in cells
    )
    keys = [CROSS.join(cell) for cell in cells]
    rows = [Row(model, tuple(map(result.by.get(factor, {}).get, keys))) for model, result in suite.results.items()]
    notes, sources = dict[str, None](), dict[str, None]()
    for role in reversed(_CONDITIONS):
        joined = published_systems(suite.published, (inner_name, outer_name), _CONDITIONS[role])
        for system, numbers in joined.systems.items():
            rows.append(Row(_system_title(role, system), tuple(map(numbers.get, keys)), role=role))
        notes |= dict.fromkeys(joined.notes)
        sources |= dict.fromkeys(joined.sources)
    return Table(
        f"{suite.name} by {factor}",
        f"{suite.name}: accuracy by {inner_name} and {outer_name}, %",
        columns,
        tuple(rows),
        "system",
        notes=tuple(notes),
        sources=tuple(sources),
    )


def _error_sections(suite: _Suite) -> Iterator[Section]:
    """Errors by kind beside those on the untouched pairs, and answers by gold."""
    name, errors = suite.name, {model: result.errors for model, result in suite.results.items()}
    if any(one.n for one in errors.values()):
        shares = kinds_table(f"{name} errors", "Errors by kind: share of all errors, %", errors)
        rates = kinds_table(f"{name} error rates", "Errors by kind: share of all pairs, %", errors, measure="rate")
        notes = (Note(note, quiet=True) for note in dict.fromkeys(one.note for one in errors.values() if one.note))
        totals = ", ".join(f"{one.n:,}" for one in errors.values())
        yield Section("Errors", (*shares, *rates, *notes), folded=True, summary=f"{totals} errors")
    confusions = {model: result.confusion for model, result in suite.results.items() if result.confusion}
    for table in confusion_table(f"{name} answers", "Pairs by gold and answer", confusions):
        yield Section("Answers by gold", (table,), folded=True)


def _condition_tables(suite: _Suite, condition: str) -> Iterator[Table]:
    """Published numbers under another condition, beside what the models got on the same slices."""
    known = {frozenset(factor.split(CROSS)): factor for result in suite.results.values() for factor in result.by}
    scores = [score for score in suite.published if score.condition == condition]
    for key, given in {frozenset(score.by): CROSS.join(score.by) for score in scores}.items():
        factor = known.get(key, given)
        joined = published_systems(scores, factor.split(CROSS) if factor else (), condition)
        columns = [Column(model, model=model) for model in suite.results]
        columns += [Column(system, role="published") for system in joined.systems]
        rows = []
        for value in dict.fromkeys(value for numbers in joined.systems.values() for value in numbers):
            numbers = (system.get(value) for system in joined.systems.values())
            rows.append(Row(value or WHOLE, (*suite.accuracies(factor, value), *numbers)))
        yield Table(
            f"{suite.name} {condition} {factor}".strip(),
            f"{suite.name}: {condition}{f', by {factor}' if factor else ''}, accuracy, %",
            tuple(columns),
            tuple(rows),
            factor,
            notes=joined.notes,
            sources=joined.sources,
        )


def _mistake_sections(suite: _Suite) -> Iterator[Section]:
    """The most confident mistakes of every model, spread over the values of the main factor."""
    factor = None if suite.main == CATEGORY else suite.main
    for number, (model, run) in enumerate(suite.runs.items()):
        total, examples = mistakes(run, suite.name, factor)
        which = "Most confident mistakes" if run.header.model.probabilities else "Some mistakes"
        title = f"{which}: {model}" if len(suite.runs) > 1 else which
        place = {"suite": suite.name, "model": str(number), "verdict": "wrong"}
        pairs = Pairs(f"{len(examples)} of {total:,} mistakes", examples, place)
        if examples:
            yield Section(title, (pairs,), folded=True, summary=describe_count(total, "mistake"))
