"""An experiment in training as a document: the paper's tables with ours beside them, and the differences of arms."""

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
    """A section on what was trained, one for each of the paper's tables, and one on every training."""
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
    """How near a network is to the paper."""
    rates = describe_count(agreement.cells, "rate")
    distance = f"{agreement.network}: {share(agreement.distance)} points from the paper on average of {rates}"
    if not agreement.changes:
        return distance
    changes = f"{describe_count(agreement.changes, 'published difference')} of two points or more"
    return f"{distance}; {agreement.same} of {changes} {'has' if agreement.changes == 1 else 'have'} the same sign here"


def _methods(result: ExperimentResult) -> Iterator[str]:
    """What has to be known to read the numbers."""
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
    # HANS, the suite of these factors, has two labels, and so has everything where labels are merged.
    two_way = {result.experiment == "merged-labels" or not {"heuristic", "subcase"}.isdisjoint(one.by) for one in rates}
    chance = Reference(0.5, "chance (50 %)") if all(two_way) else Reference(1 / 3, "chance (33 %)")
    reference = chance if len(two_way) == 1 else None
    parts: list[Part] = [
        _score_table(result, table, rates, f"table {number}"),
        Chart(f"table {number}", columns=table.arms, axis="accuracy", reference=reference),
    ]
    if drops:
        parts.append(_score_table(result, table, drops, f"drops {number}", drop=True))
    if any(one.table == table.title for one in result.differences):
        no_difference = Reference(0.0, "no difference")
        name = f"differences {number}"
        parts.append(_difference_table(result, table, rates, name))
        parts.append(Chart(name, columns=table.other_arms, axis="difference in points", reference=no_difference))
    return Section(table.title, tuple(parts), anchor=f"table-{number}")


def _score_table(
    result: ExperimentResult, table: ResultTable, columns: Sequence[ResultColumn], name: str, *, drop: bool = False
) -> Table:
    """Accuracies, or drops from one test set to another: the paper's columns as rows, the arms beside each other."""
    scores = [score for score in result.scores if score.table == table.title]
    at = {(score.network, score.column, score.arm): score for score in scores}
    titles: list[Column] = []
    for arm in table.arms:
        titles += _arm_columns(arm, scores, "points" if drop else "percent")
    rows = []
    for network in result.networks:
        for column in columns:
            cells: list[Cell] = []
            for arm in table.arms:
                cells += _arm_cells(at.get((network, column.name, arm)), arm, titles)
            rows.append(Row(column.name, tuple(cells), network, slice={"suite": column.suite, **column.by}))
    caption = "Drop from one test set to the other, in points" if drop else "Accuracy in per cent, with 95 % intervals"
    sources = tuple(dict.fromkeys(score.source for score in scores if score.published is not None))
    return Table(name, caption, tuple(titles), tuple(rows), "pairs", sources=sources)


def _difference_table(
    result: ExperimentResult, table: ResultTable, columns: Sequence[ResultColumn], name: str
) -> Table:
    differences = [one for one in result.differences if one.table == table.title]
    at = {(one.network, one.column, one.arm): one for one in differences}
    titles: list[Column] = []
    for arm in table.other_arms:
        titles += _arm_columns(arm, differences, "points")
        titles += [Column(f"{arm}, {title}", "p", role="total") for title in ("p", "corrected p")]
        titles.append(Column(f"{arm}, differs", "text"))
    rows = []
    for network in result.networks:
        for column in columns:
            cells: list[Cell] = []
            for arm in table.other_arms:
                one = at.get((network, column.name, arm))
                cells += _arm_cells(one, arm, titles)
                cells += [PValue(one.p), PValue(one.p_adjusted), "*" if one.differs else ""] if one else [None] * 3
            rows.append(Row(column.name, tuple(cells), network, slice={"suite": column.suite, **column.by}))
    caption = f"Difference from “{table.against}” on the same rows, in points, with 95 % intervals"
    return Table(name, caption, tuple(titles), tuple(rows), "pairs")


def _arm_columns(arm: str, values: Sequence[ArmValue], unit: Unit) -> Iterator[Column]:
    """The column of an arm, and beside it the spread over seeds and the paper's numbers, where there are any."""
    values = [value for value in values if value.arm == arm]
    yield Column(arm, unit, model=arm)
    if any(value.spread for value in values):
        yield Column(f"{arm}, ± over seeds", "percent", role="total")
    if any(value.published is not None for value in values):
        yield Column(f"{arm}, published", unit, role="published", note="the paper")


def _arm_cells(value: ArmValue | None, arm: str, titles: Sequence[Column]) -> list[Cell]:
    """The cells below ``_arm_columns`` of an arm; None where a network was not asked."""
    cells: dict[str, Cell] = dict.fromkeys((arm, f"{arm}, ± over seeds", f"{arm}, published"))
    if value:
        note = value.source if isinstance(value, ArmScore) else ""
        published = None if value.published is None else Published(value.published, note=note)
        deviation = value.spread.deviation if value.spread else None
        cells = dict(zip(cells, (value.value, deviation, published), strict=True))
    return [cells[title.name] for title in titles if title.name in cells]


def _trainings_table(trainings: Sequence[TrainingRecord]) -> Table:
    columns = (
        Column("trained on", "text"),
        Column("seed", "count"),
        Column("epochs", "count"),
        Column("kept epoch", "count"),
        Column("accuracy on the development set"),
        Column("time", "seconds"),
    )
    rows = tuple(
        Row(one.network, (one.arm, one.seed, one.epochs, one.best_epoch, one.dev_accuracy, one.seconds))
        for one in trainings
    )
    caption = "Every training: the epoch that was kept and its accuracy on the development set"
    return Table("every training", caption, columns, rows, "network")
