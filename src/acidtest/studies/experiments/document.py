"""Renders a training experiment as a document: the paper's tables next to ours, and differences between arms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from acidtest.core.document import (
    Cell,
    Chart,
    Column,
    Document,
    Note,
    Part,
    Published,
    PValue,
    Reference,
    Row,
    Section,
    Table,
    Unit,
    describe_count,
)
from acidtest.core.numbers import share
from acidtest.studies.experiments import (
    ArmDifference,
    ArmScore,
    ArmValue,
    ExperimentResult,
    PaperAgreement,
    ResultColumn,
    ResultTable,
    TrainingRecord,
    papers,
)


def document(result: ExperimentResult) -> Document:
    """A document with a section on the arms, one for each of the paper's tables, and one that lists the trainings."""
    return Document(
        title=f"acidtest experiment {result.experiment}",
        headline=_headline(result),
        parts=(
            _arms_section(result),
            *(_table_section(result, table, number) for number, table in enumerate(result.tables, 1)),
            Section("Trainings", (_trainings_table(result.trainings),), anchor="trainings", folded=True),
        ),
        models=result.networks,
        signatures={signature.partition("|")[0]: signature for signature in result.signatures},
        methods=tuple(_methods(result)),
    )


def _headline(result: ExperimentResult) -> str:
    if not result.differences:
        return f"{result.title}: {describe_count(len(result.arms), 'arm')}, with nothing to compare."
    differing = sum(one.differs for one in result.differences)
    return (
        f"{result.title}: {differing} of {describe_count(len(result.differences), 'difference')} between arms "
        f"{'holds' if differing == 1 else 'hold'} after correction."
    )


def _arms_section(result: ExperimentResult) -> Section:
    columns = (Column("pairs", "count"), Column("trained on", "text"))
    rows = tuple(Row(arm.name, (arm.pairs, arm.description)) for arm in result.arms)
    arms = Table("arms", "What each arm is trained on", columns, rows, "arm")
    notes = [*map(_describe_agreement, result.agreement), *result.notes]
    paragraphs = [Note(f"{note.rstrip('.')}.") for note in notes]
    return Section(
        "What was trained", (Note(papers()[result.experiment].summary), arms, *paragraphs), anchor="overview"
    )


def _describe_agreement(agreement: PaperAgreement) -> str:
    """A sentence on how close a network is to the paper."""
    rates = describe_count(agreement.cells, "rate")
    distance = f"{agreement.network}: {share(agreement.distance)} points from the paper on average of {rates}"
    if not agreement.changes:
        return distance
    changes = f"{describe_count(agreement.changes, 'published difference')} of two points or more"
    return f"{distance}; {agreement.same} of {changes} {'has' if agreement.changes == 1 else 'have'} the same sign here"


def _methods(result: ExperimentResult) -> Iterator[str]:
    """Sentences on how values, tests and published numbers are defined."""
    seeds = len(result.settings.get("seeds", ()))
    several = f"means of {seeds} seeds, with their standard deviation beside them; " if seeds > 1 else ""
    yield f"Accuracies in per cent: {several}the 95 % interval is over rows, and another seed is another network"
    tests = " or ".join(dict.fromkeys(one.test for one in result.differences))
    if tests:
        family = describe_count(len(result.differences), "difference")
        direction = ", and the same sign with every seed" if seeds > 1 else ""
        yield (
            f"Differences are on the same rows; two arms differ where p is below 0.05 ({tests}), corrected over "
            f"{family} by Holm{direction}"
        )
    if any(score.published is not None for score in result.scores):
        yield f"Published: {result.published}; trained on other data unless these are the same"


def _table_section(result: ExperimentResult, table: ResultTable, number: int) -> Section:
    rates = [column for column in table.columns if column.less is None]
    drops = [column for column in table.columns if column.less is not None]
    # HANS, the suite with these factors, has two labels; in merged-labels every suite has.
    two_way = {result.experiment == "merged-labels" or not {"heuristic", "subcase"}.isdisjoint(one.by) for one in rates}
    chance = Reference(0.5, "chance (50 %)") if all(two_way) else Reference(1 / 3, "chance (33 %)")
    reference = chance if len(two_way) == 1 else None
    parts: list[Part] = [
        _arm_table(result, table, rates, f"table {number}", "Accuracy in per cent, with 95 % intervals"),
        Chart(f"table {number}", columns=table.arms, axis="accuracy", reference=reference),
    ]
    if drops:
        caption = "Drop from one test set to the other, in points"
        parts.append(_arm_table(result, table, drops, f"drops {number}", caption, unit="points"))
    if any(one.table == table.title for one in result.differences):
        name, no_difference = f"differences {number}", Reference(0.0, "no difference")
        caption = f"Difference from “{table.against}” on the same rows, in points, with 95 % intervals"
        parts.append(_arm_table(result, table, rates, name, caption, unit="points", differences=True))
        parts.append(Chart(name, columns=table.other_arms, axis="difference in points", reference=no_difference))
    return Section(table.title, tuple(parts), anchor=f"table-{number}")


def _arm_table(
    result: ExperimentResult,
    table: ResultTable,
    columns: Sequence[ResultColumn],
    name: str,
    caption: str,
    *,
    unit: Unit = "percent",
    differences: bool = False,
) -> Table:
    """A table of scores or differences, with a row for each column of the paper's table and columns for each arm."""
    arms = table.other_arms if differences else table.arms
    every: Sequence[ArmValue] = result.differences if differences else result.scores
    values = {(one.network, one.column, one.arm): one for one in every if one.table == table.title}
    titles: list[Column] = []
    for arm in arms:
        titles += _arm_columns(arm, [value for value in values.values() if value.arm == arm], unit)
    rows = []
    for network in result.networks:
        for column in columns:
            cells: dict[str, Cell] = {}
            for arm in arms:
                cells |= _arm_cells(arm, values.get((network, column.name, arm)))
            shown = tuple(cells.get(title.name) for title in titles)
            rows.append(Row(column.name, shown, network, slice={"suite": column.suite, **column.by}))
    scores = [value for value in values.values() if isinstance(value, ArmScore) and value.published is not None]
    sources = tuple(dict.fromkeys(score.source for score in scores))
    return Table(name, caption, tuple(titles), tuple(rows), "pairs", sources=sources)


def _arm_columns(arm: str, values: Sequence[ArmValue], unit: Unit) -> Iterator[Column]:
    """The columns of an arm: its value and, if there are any, spread over seeds, published numbers and tests."""
    yield Column(arm, unit, model=arm)
    if any(value.spread for value in values):
        yield Column(f"{arm}, ± over seeds", "percent", role="total")
    if any(value.published is not None for value in values):
        yield Column(f"{arm}, published", unit, role="published", note="the paper")
    if any(isinstance(value, ArmDifference) for value in values):
        yield Column(f"{arm}, p", "p", role="total")
        yield Column(f"{arm}, corrected p", "p", role="total")
        yield Column(f"{arm}, differs", "text")


def _arm_cells(arm: str, value: ArmValue | None) -> dict[str, Cell]:
    """The cells for ``_arm_columns`` by column name; empty if the network has no value."""
    cells: dict[str, Cell] = {}
    if value:
        cells = {arm: value.value, f"{arm}, ± over seeds": value.spread.deviation if value.spread else None}
        if value.published is not None:
            source = value.source if isinstance(value, ArmScore) else ""
            cells[f"{arm}, published"] = Published(value.published, note=source)
    if isinstance(value, ArmDifference):
        cells |= {f"{arm}, p": PValue(value.p), f"{arm}, corrected p": PValue(value.p_adjusted)}
        cells[f"{arm}, differs"] = "*" if value.differs else ""
    return cells


def _trainings_table(trainings: Sequence[TrainingRecord]) -> Table:
    columns = (
        Column("trained on", "text"),
        *(Column(name, "count") for name in ("seed", "epochs", "kept epoch")),
        Column("accuracy on the development set"),
        Column("time", "seconds"),
    )
    rows = tuple(
        Row(one.network, (one.arm, one.seed, one.epochs, one.best_epoch, one.dev_accuracy, one.seconds))
        for one in trainings
    )
    caption = "Every training: the epoch that was kept and its accuracy on the development set"
    return Table("every training", caption, columns, rows, "network")
