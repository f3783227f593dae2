"""An experiment in training as a document: the paper's tables with ours beside them, and the differences of arms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

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
    describe_count,
)
from acidtest.core.numbers import share
from acidtest.studies.experiments.results import (
    ArmDifference,
    ArmScore,
    ExperimentResult,
    PaperAgreement,
    ResultColumn,
    ResultTable,
    SeedSpread,
    TrainingRecord,
    papers,
)

_TWO_LABEL_FACTORS = frozenset({"heuristic", "subcase"})
"""Factors of HANS, which has two labels."""


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
    arms = Table(
        "arms",
        "What each arm is trained on",
        (Column("pairs", "count"), Column("trained on", "text")),
        tuple(Row(arm.name, (arm.pairs, arm.description)) for arm in result.arms),
        "arm",
    )
    notes = [*map(describe_agreement, result.agreement), *result.notes]
    return Section(
        "What was trained",
        (Note(papers()[result.experiment].summary), arms, *(Note(f"{note.rstrip('.')}.") for note in notes)),
        anchor="overview",
    )


def describe_agreement(agreement: PaperAgreement) -> str:
    """A sentence on how near a network is to the paper."""
    distance = (
        f"{share(agreement.distance)} points from the paper on average of {describe_count(agreement.cells, 'rate')}"
    )
    if not agreement.changes:
        return f"{agreement.network}: {distance}"
    return (
        f"{agreement.network}: {distance}; {agreement.same} of "
        f"{describe_count(agreement.changes, 'published difference')} of two points or more "
        f"{'has' if agreement.changes == 1 else 'have'} the same sign here"
    )


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
    chances = {_chance(result, column) for column in rates}
    reference = chances.pop() if len(chances) == 1 else None
    scores = _score_table(result, table, rates, f"table {number}")
    parts: list[Part] = [
        scores,
        Chart(
            scores.id,
            columns=table.arms,
            axis="accuracy",
            reference=None if reference is None else Reference(reference, f"chance ({reference * 100:.0f} %)"),
        ),
    ]
    if drops:
        parts.append(_score_table(result, table, drops, f"drops {number}", drop=True))
    if any(one.table == table.title for one in result.differences):
        differences = _difference_table(result, table, rates, f"differences {number}")
        parts += [
            differences,
            Chart(
                differences.id,
                columns=table.other_arms,
                axis="difference in points",
                reference=Reference(0.0, "no difference"),
            ),
        ]
    return Section(table.title, tuple(parts), anchor=f"table-{number}")


def _chance(result: ExperimentResult, column: ResultColumn) -> float:
    """How often guessing is right: HANS has two labels, and so has everything where labels are merged."""
    return 1 / 2 if _TWO_LABEL_FACTORS & set(column.by) or result.experiment == "merged-labels" else 1 / 3


def _score_table(
    result: ExperimentResult, table: ResultTable, columns: Sequence[ResultColumn], name: str, *, drop: bool = False
) -> Table:
    """Accuracies, or drops from one test set to another: the paper's columns as rows, the arms beside each other."""
    scores = {key: score for key, score in result.score_at.items() if key[0] == table.title}
    titles: list[Column] = []
    for arm in table.arms:
        of_arm = [score for score in scores.values() if score.arm == arm]
        titles += _arm_columns(arm, of_arm, "points" if drop else "percent")
    rows = [
        Row(
            column.name,
            tuple(
                cell
                for arm in table.arms
                for cell in _arm_cells(scores.get((table.title, column.name, network, arm)), arm, titles)
            ),
            heading=network,
            slice={"suite": column.suite, **column.by},
        )
        for network in result.networks
        for column in columns
    ]
    caption = "Drop from one test set to the other, in points" if drop else "Accuracy in per cent, with 95 % intervals"
    sources = tuple(dict.fromkeys(score.source for score in scores.values() if score.published is not None))
    return Table(name, caption, tuple(titles), tuple(rows), "pairs", sources=sources)


def _difference_table(
    result: ExperimentResult, table: ResultTable, columns: Sequence[ResultColumn], name: str
) -> Table:
    differences = {key: one for key, one in result.difference_at.items() if key[0] == table.title}
    titles: list[Column] = []
    for arm in table.other_arms:
        titles += _arm_columns(arm, [one for one in differences.values() if one.arm == arm], "points")
        titles += [Column(f"{arm}, {title}", "p", role="total") for title in ("p", "corrected p")]
        titles.append(Column(f"{arm}, differs", "text"))
    rows = []
    for network in result.networks:
        for column in columns:
            cells: list[Cell] = []
            for arm in table.other_arms:
                one = differences.get((table.title, column.name, network, arm))
                cells += _arm_cells(one, arm, titles)
                cells += [PValue(one.p), PValue(one.p_adjusted), "*" if one.differs else ""] if one else [None] * 3
            rows.append(Row(column.name, tuple(cells), network, slice={"suite": column.suite, **column.by}))
    caption = f"Difference from “{table.against}” on the same rows, in points, with 95 % intervals"
    return Table(name, caption, tuple(titles), tuple(rows), "pairs")


def _arm_columns(arm: str, values: Sequence[ArmScore | ArmDifference], unit: str) -> list[Column]:
    """The column of an arm, and beside it the spread over seeds and the paper's numbers, where there are any."""
    titles = [Column(arm, "points" if unit == "points" else "percent", model=arm)]
    if any(value.spread for value in values):
        titles.append(Column(f"{arm}, ± over seeds", "percent", role="total"))
    if any(value.published is not None for value in values):
        titles.append(
            Column(f"{arm}, published", "points" if unit == "points" else "percent", role="published", note="the paper")
        )
    return titles


def _arm_cells(value: ArmScore | ArmDifference | None, arm: str, titles: Sequence[Column]) -> list[Cell]:
    """The cells below ``_arm_columns`` of an arm; None where a network was not asked."""
    cells: Mapping[str, Cell] = {
        arm: value.value if value else None,
        f"{arm}, ± over seeds": _deviation(value.spread) if value else None,
        f"{arm}, published": _published(value),
    }
    return [cells[title.name] for title in titles if title.name in cells]


def _deviation(spread: SeedSpread | None) -> float | None:
    return spread.deviation if spread else None


def _published(value: ArmScore | ArmDifference | None) -> Published | None:
    if value is None or value.published is None:
        return None
    return Published(value.published, note=value.source if isinstance(value, ArmScore) else "")


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
        Row(
            training.network,
            (
                training.arm,
                training.seed,
                training.epochs,
                training.best_epoch,
                training.dev_accuracy,
                training.seconds,
            ),
        )
        for training in trainings
    )
    caption = "Every training: the epoch that was kept and its accuracy on the development set"
    return Table("every training", caption, columns, rows, "network")
