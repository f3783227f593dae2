"""How models behave when words change places, given what they were trained on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from acidtest.core.errors import AcidtestError
from acidtest.core.files import require_page, write_page
from acidtest.core.labels import LABELS
from acidtest.core.logs import stage
from acidtest.core.suite import Suite
from acidtest.workflows.batteries import Reading, load
from acidtest.workflows.evaluations import AnyRun, run_of

if TYPE_CHECKING:
    from rich.console import RenderableType

    from acidtest.studies.behaviour_results import Behaviours


def behaviour(
    runs: Sequence[AnyRun],
    *,
    train: str | Path | Suite,
    output: str | Path | None = None,
    alpha: float = 0.0001,
    test: str = "g",
    literal: bool = False,
    reading: Reading | None = None,
    seed: int = 0,
) -> Behaviours:
    """Insensitivity, unseen word pairs and polarity on swap suites and their controls, as in Sanchez et al. (2018).

    ``train`` is what the models were trained on; ``output`` takes a page; ``test`` of contingency tables is g, pearson
    or fisher; ``alpha`` is the level of a single test; ``literal`` looks words up in ``train`` as they stand,
    not in any of their forms.
    """
    from acidtest.studies.behaviour import behaviours

    if output is not None:
        require_page(output)
    held = [run_of(each) for each in runs]
    if not isinstance(train, Suite):
        stage("reading %s", train)
    suite = train if isinstance(train, Suite) else load(train, reading=reading)
    other = sum(count for label, count in suite.card.labels.items() if label not in LABELS)
    if other:
        raise AcidtestError(
            f"{suite.name} has {other:,} pairs with another label than {', '.join(LABELS)}: the polarity of word pairs "
            f"needs a three-way training set"
        )
    stage("counting word pairs")
    found = behaviours(held, suite, alpha=alpha, test=test, literal=literal, seed=seed)
    if output is not None:
        from acidtest.reports.behaviour_page import behaviour_page

        write_page(output, behaviour_page(found))
    return found


def behaviour_tables(found: Behaviours) -> list[RenderableType]:
    """Behaviour under swapped words as a person reads it on a terminal."""
    from acidtest.reports import behaviours as reported

    return reported.behaviour_tables(found)
