"""The papers' experiments in training: arms that differ in what was trained on, compared on the same rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from acidtest.core.study import study
from acidtest.studies.experiments.results import Arm, ExperimentResult, ResultTable, TrainedNetwork, papers


@study()
def experiments(
    name: str,
    tables: Sequence[ResultTable],
    arms: Sequence[Arm],
    networks: Sequence[TrainedNetwork],
    *,
    notes: Sequence[str] = (),
    settings: Mapping[str, Any] | None = None,
    acidtest: str = "",
) -> ExperimentResult:
    """Compare networks that were trained in the arms of a paper's experiment with each other and with the paper."""
    from acidtest.studies.experiments.arms import compare_arms

    paper = papers()[name]
    scores, differences = compare_arms(paper, tables, {arm.name: arm for arm in arms}, networks)
    cards = {suite: card for network in networks for suite, card in network.run.header.suites.items()}
    return ExperimentResult(
        experiment=paper.name,
        title=paper.title,
        published=f"{paper.paper}, {paper.tables}",
        tables=tuple(tables),
        arms=tuple(arms),
        scores=scores,
        differences=differences,
        trainings=tuple(network.record for network in networks),
        signatures=tuple(card.signature for card in cards.values()),
        notes=tuple(notes),
        settings=settings or {},
        acidtest=acidtest,
    )
