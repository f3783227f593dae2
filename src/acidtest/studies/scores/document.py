"""Scores as a document: the diagnosis, an overview, and a section for each suite with everything known about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from acidtest.core.document import (
    Browser,
    Cell,
    Change,
    Chart,
    Column,
    Document,
    Finding,
    Note,
    Pairs,
    Part,
    PValue,
    Reference,
    Row,
    Section,
    Table,
    describe_count,
)
from acidtest.core.estimate import Estimate
from acidtest.core.labels import GOLD_MASKS
from acidtest.core.run import Run
from acidtest.core.suite import CATEGORY, CROSS, Card
from acidtest.io.published import (
    MAIN,
    PEOPLE,
    PublishedScore,
    other_conditions,
    people_name,
    published_accuracies,
    published_systems,
    scores_beside,
)
from acidtest.studies.error_kinds import confusion_table, kinds_table
from acidtest.studies.scores import ModelScores, ScoresResult, SuiteResult
from acidtest.studies.selections import mistakes
from acidtest.studies.slices import MOST_CHART_ROWS, chance, headings, main_factor, row_names, slice_of

WHOLE = "whole suite"

_METHODS = (
    "Accuracy is the share of pairs whose answer is among the accepted gold labels. Every interval is a 95 % interval: "
    "over many repetitions, 95 of 100 such intervals hold the true value. Rows made from one source sentence or base "
    "pair count as one group. Templates, subcases and categories are strata: the interval speaks of new pairs from the "
    "same templates, not of new templates.",
)


def document(result: ScoresResult, *, with_mistakes: bool = True) -> Document:
    """Findings first, then the suites; models side by side. Reading mistakes from the runs takes a while."""
    models = result.models
    names = dict.fromkeys(suite for model in models.values() for suite in model.suites)
    runs = {name: model.run for name, model in models.items() if model.run is not None}
    return Document(
        title="acidtest report",
        headline=" ".join(
            f"{name}: {describe_diagnosis(model.diagnosis)}" if len(models) > 1 else describe_diagnosis(model.diagnosis)
            for name, model in models.items()
        ),
        parts=(
            Section("Diagnosis", tuple(_diagnosis_parts(models)), anchor="diagnosis"),
            *([overview] if (overview := _overview(models, list(names))) else []),
            *(
                _suite_section(name, models, number, with_mistakes=with_mistakes)
                for number, name in enumerate(names, 1)
            ),
            *([Browser(runs)] if runs else []),
        ),
        models=tuple(models),
        signatures={
            f"{suite}, {name}" if len(models) > 1 else suite: scores.signature
            for name, model in models.items()
            for suite, scores in model.suites.items()
        },
        methods=_METHODS,
    )


def describe_diagnosis(findings: Sequence[Finding]) -> str:
    """The diagnosis in one line."""
    counts = Counter(finding.severity for finding in findings)
    severe, warnings = describe_count(counts["severe"], "severe finding"), describe_count(counts["warning"], "warning")
    if counts["severe"]:
        return f"Grounds for distrust: {severe}{f' and {warnings}' if counts['warning'] else ''}."
    if counts["warning"]:
        return f"Some doubt: {warnings}, nothing severe."
    return "These suites found no shortcut." if findings else "No rule had anything to say: read the numbers."


def _diagnosis_parts(models: Mapping[str, ModelScores]) -> Iterator[Part]:
    for number, (name, model) in enumerate(models.items()):
        findings = tuple(_located(finding, name, number, model) for finding in model.diagnosis)
        if len(models) == 1:
            yield from findings or (Note("No finding."),)
        else:
            summary = describe_diagnosis(model.diagnosis)
            yield Section(name, findings or (Note("No finding."),), folded=len(models) > 2, summary=summary)


def _located(finding: Finding, name: str, number: int, model: ModelScores) -> Finding:
    """The finding with the model it is about, and where the example browser shows its mistakes."""
    if finding.severity not in ("severe", "warning") or not finding.suite:
        return replace(finding, model=name, slice={})
    state = {"model": str(number), "verdict": "wrong", "sort": "confident"}
    return replace(finding, model=name, slice={"suite": finding.suite, **finding.slice, **state})


def _overview(models: Mapping[str, ModelScores], suites: Sequence[str]) -> Section | None:
    """Every model on every suite; None where there is one of each."""
    if len(suites) * len(models) < 2:
        return None
    rows = tuple(Row(suite, tuple(_overall(model, suite) for model in models.values())) for suite in suites)
    columns = tuple(Column(name if len(models) > 1 else "accuracy", model=name) for name in models)
    caption = "Accuracy on every suite, %, with 95 % intervals"
    return Section("Overview", (Table("overview", caption, columns, rows, "suite"),), anchor="overview")


def _overall(model: ModelScores, suite: str) -> Estimate | None:
    return model.suites[suite].overall if suite in model.suites else None


def _suite_section(name: str, models: Mapping[str, ModelScores], number: int, *, with_mistakes: bool) -> Section:
    asked = {model: scores for model, scores in models.items() if name in scores.suites}
    results = {model: scores.suites[name] for model, scores in asked.items()}
    first = next((scores.run for scores in asked.values() if scores.run is not None), None)
    card = first.header.suites[name] if first else None
    published = published_accuracies(scores_beside(_published(results), next(iter(results.values())).corpus))
    factors = dict.fromkeys(factor for result in results.values() for factor in result.by)
    sizes = {factor: len(_values(results, factor)) for factor in factors}
    main = main_factor(card, sizes) if card else None
    parts: list[Part] = [*_about(card, results)]
    parts += [_control_table(name, results)] if any(result.vs_control for result in results.values()) else []
    for factor in (factor for factor in factors if factor.count(CROSS) == 1):
        parts += [_crossing_table(name, factor, results, published)] if sizes[factor] else []
    if main and sizes[main]:
        parts += _factor_parts(name, main, results, published, first)
    else:
        parts.append(_factor_table(name, "", results, published, first))
    for factor in factors:
        if factor != main and CROSS not in factor and sizes[factor]:
            folded = tuple(_factor_parts(name, factor, results, published, first))
            parts.append(Section(f"By {factor}", folded, folded=True, summary=describe_count(sizes[factor], "value")))
    parts += _error_parts(name, results)
    parts.append(Section("Recall, answers given, consistency", (_metric_table(name, results),), folded=True))
    parts += _condition_parts(name, results, published)
    if first is not None and with_mistakes:
        parts += _mistake_parts(name, {model: scores.run for model, scores in asked.items() if scores.run}, main, card)
    return Section(name, tuple(parts), anchor=f"suite-{number}")


def _published(results: Mapping[str, SuiteResult]) -> list[PublishedScore]:
    """The published numbers of all models' results on one suite, each once."""
    scores: dict[tuple[object, ...], PublishedScore] = {}
    for score in (score for result in results.values() for score in result.published):
        scores.setdefault((score.system, score.source, score.condition, *sorted(score.by.items())), score)
    return list(scores.values())


def _values(results: Mapping[str, SuiteResult], factor: str) -> list[str]:
    return list(dict.fromkeys(value for result in results.values() for value in result.by.get(factor, {})))


def _about(card: Card | None, results: Mapping[str, SuiteResult]) -> Iterator[Note]:
    if card is not None:
        labels = ", ".join(f"{count:,} {label}" for label, count in card.labels.items())
        texts = [f"{card.rows:,} pairs{f': {labels}' if labels else ''}", card.note, card.citation]
        yield Note(" ".join(text.rstrip(".") + "." for text in texts if text), quiet=True)
    for model, result in results.items():
        who = f"{model}: " if len(results) > 1 else ""
        if result.unanswered:
            yield Note(f"{who}{result.unanswered:,} pairs without an answer count as wrong.")
        if result.truncated:
            yield Note(f"{who}{result.truncated:,} pairs were cut to the model's length.")
        if result.collapse_differs:
            differs = f"{result.collapse_differs:,} verdicts would change if probabilities were collapsed another way"
            yield Note(f"{who}{differs}.")
    for note in dict.fromkeys(note for result in results.values() for note in result.notes):
        if card is None or note.rstrip(".").lower() != card.note.rstrip(".").lower():
            yield Note(note[:1].upper() + note[1:].rstrip(".") + ".", quiet=True)


def _control_table(suite: str, results: Mapping[str, SuiteResult]) -> Table:
    """The changed pairs beside the untouched ones, a row for each model."""
    columns = (
        Column("untouched → changed"),
        Column("difference", "points"),
        Column("p", "p"),
        Column("p adjusted", "p"),
    )
    rows, tests = [], []
    for model, result in results.items():
        control = result.vs_control
        if control is None:
            continue
        change = Change(control.control, result.overall)
        rows.append(Row(model, (change, control.difference, PValue(control.p), PValue(control.p_adjusted))))
        tests.append(control.test)
    caption = "Accuracy on the changed pairs beside the untouched ones, %"
    return Table(f"{suite} control", caption, columns, tuple(rows), "model", notes=tuple(dict.fromkeys(tests)))


def _factor_parts(
    suite: str,
    factor: str,
    results: Mapping[str, SuiteResult],
    published: Sequence[PublishedScore],
    first: Run | None,
) -> list[Part]:
    table = _factor_table(suite, factor, results, published, first)
    if len(table.rows) > MOST_CHART_ROWS or not first:
        return [table]
    two_way = first.header.model.resolution == "two-way"
    guess = chance(first.header.suites[suite], two_way=two_way)
    reference = Reference(guess, f"chance ({guess * 100:.0f} %)")
    return [table, Chart(table.id, axis="accuracy", reference=reference)]


def _factor_table(
    suite: str,
    factor: str,
    results: Mapping[str, SuiteResult],
    published: Sequence[PublishedScore],
    first: Run | None,
) -> Table:
    """Accuracy on the whole suite and on every value of a factor, published numbers beside."""
    values = _values(results, factor) if factor else []
    names = factor.split(CROSS) if factor else []
    under = headings(first, suite, factor) if first and factor and CROSS not in factor else {}
    titles = row_names(values, under)
    card = first.header.suites[suite] if first else None
    sides = {
        "published": published_systems(published, names),
        "people": published_systems(published, names, PEOPLE),
    }
    whole = {
        "published": published_systems(published, ()),
        "people": published_systems(published, (), PEOPLE),
    }
    columns = [Column(model if len(results) > 1 else "accuracy", model=model) for model in results]
    systems: list[tuple[str, str]] = []
    for role in ("people", "published"):
        for system in dict.fromkeys((*whole[role].systems, *sides[role].systems)):
            systems.append((role, system))
            title = people_name(system) if role == "people" else system
            columns.append(Column(title, role="people" if role == "people" else "published"))

    def row(name: str, key: str, cells: Sequence[Cell], total: bool) -> Row:
        joined = whole if total else sides
        numbers = [joined[role].systems.get(system, {}).get(key) for role, system in systems]
        place = slice_of(card, factor, key) if card and not total else {}
        return Row(
            name,
            (*cells, *numbers),
            heading="" if total else under.get(key, ""),
            role="total" if total else "",
            slice=place,
        )

    rows = [row(WHOLE, "", [result.overall for result in results.values()], total=True)]
    for value in values:
        cells = [result.by.get(factor, {}).get(value) for result in results.values()]
        rows.append(row(titles[value], value, cells, total=False))
    parts = (*whole.values(), *sides.values())
    return Table(
        f"{suite} by {factor}" if factor else f"{suite} accuracy",
        f"{suite}: accuracy{f' by {factor}' if factor else ''}, %, with 95 % intervals",
        tuple(columns),
        tuple(rows),
        factor,
        notes=tuple(dict.fromkeys(note for part in parts for note in part.notes)),
        sources=tuple(dict.fromkeys(source for part in parts for source in part.sources)),
    )


def _crossing_table(
    suite: str, factor: str, results: Mapping[str, SuiteResult], published: Sequence[PublishedScore]
) -> Table:
    """Two factors crossed, a row for each system, as papers print them: the second factor heads groups of columns."""
    names = factor.split(CROSS)
    pairs = [key.split(CROSS) for key in _values(results, factor)]
    order = list(GOLD_MASKS) if names[1] == "label" else []
    outers = dict.fromkeys(pair[-1] for pair in pairs)
    outers = dict.fromkeys((*(label for label in order if label in outers), *outers))
    cells = [(inner, outer) for outer in outers for inner in dict.fromkeys(p[0] for p in pairs if p[-1] == outer)]
    columns = tuple(
        Column(inner, group=f"gold {outer}" if names[1] == "label" else outer, slice={names[0]: inner, names[1]: outer})
        for inner, outer in cells
    )
    keys = [f"{inner}{CROSS}{outer}" for inner, outer in cells]
    rows = [Row(model, tuple(result.by.get(factor, {}).get(key) for key in keys)) for model, result in results.items()]
    notes: dict[str, None] = {}
    sources: dict[str, None] = {}
    for condition, role in ((PEOPLE, "people"), (MAIN, "published")):
        joined = published_systems(published, names, condition)
        for system, numbers in joined.systems.items():
            title = people_name(system) if condition == PEOPLE else system
            rows.append(Row(title, tuple(map(numbers.get, keys)), role="people" if role == "people" else "published"))
        notes |= dict.fromkeys(joined.notes)
        sources |= dict.fromkeys(joined.sources)
    return Table(
        f"{suite} by {factor}",
        f"{suite}: accuracy by {names[0]} and {names[1]}, %",
        columns,
        tuple(rows),
        "system",
        notes=tuple(notes),
        sources=tuple(sources),
    )


def _error_parts(suite: str, results: Mapping[str, SuiteResult]) -> Iterator[Part]:
    """Errors by kind beside those on the untouched pairs, and answers by gold."""
    errors = {model: result.errors for model, result in results.items()}
    if any(one.n for one in errors.values()):
        shares = kinds_table(f"{suite} errors", "Errors by kind: share of all errors, %", errors)
        rates = kinds_table(f"{suite} error rates", "Errors by kind: share of all pairs, %", errors, measure="rate")
        notes = (Note(note, quiet=True) for note in dict.fromkeys(one.note for one in errors.values() if one.note))
        totals = ", ".join(f"{one.n:,}" for one in errors.values())
        yield Section("Errors", (*shares, *rates, *notes), folded=True, summary=f"{totals} errors")
    confusions = {model: result.confusion for model, result in results.items() if result.confusion}
    tables = tuple(confusion_table(f"{suite} answers", "Pairs by gold and answer", confusions))
    if tables:
        yield Section("Answers by gold", tables, folded=True)


def _metric_table(suite: str, results: Mapping[str, SuiteResult]) -> Table:
    names = dict.fromkeys(name for result in results.values() for name in result.metrics)
    columns = tuple(Column(model, model=model) for model in results)
    rows = tuple(Row(name, tuple(result.metrics.get(name) for result in results.values())) for name in names)
    return Table(f"{suite} metrics", f"{suite}: further metrics, %", columns, rows, "metric")


def _condition_parts(
    suite: str, results: Mapping[str, SuiteResult], published: Sequence[PublishedScore]
) -> Iterator[Section]:
    """Published numbers under every other condition, beside what the models got on the same slices."""
    known = {frozenset(factor.split(CROSS)): factor for result in results.values() for factor in result.by}
    tables = []
    for condition in other_conditions(published):
        scores = [score for score in published if score.condition == condition]
        for key, given in {frozenset(score.by): CROSS.join(score.by) for score in scores}.items():
            tables.append(_condition_table(suite, known.get(key, given), condition, results, scores))
    if tables:
        summary = describe_count(len(other_conditions(published)), "condition")
        yield Section("Published under other conditions", tuple(tables), folded=True, summary=summary)


def _condition_table(
    suite: str,
    factor: str,
    condition: str,
    results: Mapping[str, SuiteResult],
    scores: Sequence[PublishedScore],
) -> Table:
    joined = published_systems(scores, factor.split(CROSS) if factor else (), condition)
    values = dict.fromkeys(value for numbers in joined.systems.values() for value in numbers)
    columns = [Column(model, model=model) for model in results]
    columns += [Column(system, role="published") for system in joined.systems]
    rows = []
    for value in values:
        cells: list[Cell] = [
            result.by.get(factor, {}).get(value) if factor else result.overall for result in results.values()
        ]
        cells += [numbers.get(value) for numbers in joined.systems.values()]
        rows.append(Row(value or WHOLE, tuple(cells)))
    title = f"{suite}: {condition}{f', by {factor}' if factor else ''}, accuracy, %"
    return Table(
        f"{suite} {condition} {factor}".strip(),
        title,
        tuple(columns),
        tuple(rows),
        factor,
        notes=joined.notes,
        sources=joined.sources,
    )


def _mistake_parts(suite: str, runs: Mapping[str, Run], main: str | None, card: Card | None) -> Iterator[Section]:
    """The most confident mistakes of every model, spread over the values of the main factor."""
    factor = None if card and main == CATEGORY and card.categories else main
    for number, (model, run) in enumerate(runs.items()):
        wrong = mistakes(run, suite, factor)
        which = "Most confident mistakes" if wrong.probabilities else "Some mistakes"
        title = f"{which}: {model}" if len(runs) > 1 else which
        place = {"suite": suite, "model": str(number), "verdict": "wrong"}
        part = Pairs(f"{len(wrong.examples)} of {wrong.total:,} mistakes", wrong.examples, place)
        if wrong.examples:
            yield Section(title, (part,), folded=True, summary=describe_count(wrong.total, "mistake"))
