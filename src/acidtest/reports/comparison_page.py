"""The comparison of some runs as one self-contained HTML page: tests, charts, rows that only one gets right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from acidtest.core.run import Run
from acidtest.report.examples import examples
from acidtest.reports.differences import Family, families, pair_name, whole
from acidtest.reports.html import contrast_methods, explained, rendered
from acidtest.reports.sections import Entry, main_factor, named, runs_of
from acidtest.reports.selections import Disagreement, disagreement
from acidtest.studies.comparison import Contrast
from acidtest.studies.rows import score_rows


@dataclass(frozen=True)
class Part:
    """Everything about one suite; ``unpaired`` names the pairs of models that were asked different rows.

    ``mixed``: some models have two labels and some three.
    """

    suite: str
    anchor: str
    main: str | None
    families: tuple[Family, ...]
    disagreements: tuple[Disagreement, ...]
    unpaired: tuple[str, ...]
    mixed: bool


def comparison_page(
    entries: Sequence[Entry],
    contrasts: Sequence[Contrast],
    *,
    correction: str = "holm",
    contamination: Sequence[Mapping[str, Any]] = (),
) -> str:
    """The page for the contrasts between some runs; models are named as the contrasts name them."""
    models = named(entries)
    runs = runs_of(models)
    suites = dict.fromkeys(contrast.suite for contrast in contrasts)
    return rendered(
        "comparison.html",
        models=models,
        contrasts=contrasts,
        parts=[_part(suite, number, contrasts, runs) for number, suite in enumerate(suites, 1)],
        correction=correction,
        contamination=contamination,
        methods=explained(contrast_methods(contrasts)),
        examples=examples(runs),
    )


def _part(suite: str, number: int, contrasts: Sequence[Contrast], runs: Mapping[str, Run]) -> Part:
    own = [contrast for contrast in contrasts if contrast.suite == suite]
    found = families([contrast for contrast in own if contrast.factor], runs)
    held = {model: run for model, run in runs.items() if suite in run.header.suites}
    # As the contrasts were made: where one model is two-way, all are judged two-way.
    ways = {run.header.model.resolution for run in held.values()}
    rows = {model: score_rows(run, suite, two_way="two-way" in ways) for model, run in held.items()}
    first = next(iter(held.values()))
    main = main_factor(first.header.suites[suite], {family.factor: family.values for family in found})
    pairs = whole(own)
    return Part(
        suite=suite,
        anchor=f"suite-{number}",
        main=main,
        families=tuple(sorted(found, key=lambda family: (not family.crossed, family.factor != main))),
        disagreements=tuple(
            disagreement(
                (one.first, one.second), (runs[one.first], runs[one.second]), (rows[one.first], rows[one.second]), main
            )
            for one in pairs
            if one.paired
        ),
        unpaired=tuple(pair_name(one) for one in pairs if not one.paired),
        mixed=len(ways) > 1,
    )
