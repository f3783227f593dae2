"""What Sanchez, Mitchell and Riedel (2018) report of their systems, by our suites and factors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from acidtest.core.labels import LABELS
from acidtest.core.suite import CONTROL
from acidtest.io.published import PublishedScore, published_scores
from acidtest.stats.contingency import Crosstab
from acidtest.studies.behaviour.factors import CONTROL_POLARITY, POLARITY
from acidtest.studies.behaviour.samples import SUBSETS

WHOLE = "whole sample"
COLUMNS = {WHOLE: "", **{name.replace(" is not ", " ≠ "): name for name in SUBSETS}}
"""The columns of table 1, and the subsets they show."""

CONTROLS, SWAPPED = "control", "swapped"
"""The lines of table 1."""

IN_SITU, PROXY = "swaps/antonyms-in-situ", "swaps/antonyms-proxy"
PROXY_SAMPLES = {f"{PROXY} (premise)": "I_TA2", f"{PROXY} (hypothesis)": "I_TA3"}
"""Section 6.1 replaces a word "on both the premise and hypothesis", which "yields two new samples": in this order."""

SAMPLES = {
    IN_SITU: ("I_A", "I_TA1"),
    **{suite: ("I_A", sample) for suite, sample in PROXY_SAMPLES.items()},
    "swaps/antonyms-ex-situ": ("E_A", "E_TA"),
    "swaps/hypernyms-in-situ": ("I_H", "I_TH"),
    "swaps/hypernyms-ex-situ": ("E_H", "E_TH"),
}
"""The paper's names of a suite's control and of the suite."""

_SHORT_NAMES = {"Decomposable Attention": "DAM", "Conditional Encoder": "CE"}

Accuracies = dict[str, dict[str, float]]
"""By system and column of table 1."""


def paper_suite(suite: str) -> str:
    """The name of a suite without its options: ``swaps/antonyms-proxy:least=5 (premise)`` has none, but its sample."""
    base, options, rest = suite.partition(":")
    side = rest[rest.rfind(" (") :] if options and rest.endswith(")") else ""
    return base + side


def published_accuracies(suite: str) -> dict[str, Accuracies]:
    """Table 1 for a suite, by line; systems have the paper's names."""
    base = paper_suite(suite)
    if base in PROXY_SAMPLES:
        swapped = _accuracies(published_scores("behaviour"), {"sample": PROXY_SAMPLES[base]})
        base = IN_SITU
    else:
        swapped = _accuracies(published_scores(base), {})
    lines = {CONTROLS: _accuracies(published_scores(base + CONTROL), {}), SWAPPED: swapped}
    return {line: accuracies for line, accuracies in lines.items() if accuracies}


def _accuracies(scores: Sequence[PublishedScore], wanted: Mapping[str, str]) -> Accuracies:
    columns = {subset: column for column, subset in COLUMNS.items()}
    accuracies: Accuracies = {}
    for score in scores:
        by = dict(score.by)
        subset = by.pop("subset", "")
        if by == wanted:
            accuracies.setdefault(_system_name(score), {})[columns[subset]] = score.value
    return accuracies


def published_tests(suite: str, factor: str) -> str:
    """``ESIM G(1) = 39.33, …`` for the paper's sample of a suite."""
    statistics: dict[str, dict[str, float]] = {}
    for score in _factor_scores(suite, factor):
        if "statistic" in score.by:
            statistics.setdefault(_system_name(score), {})[score.by["statistic"]] = score.value
    return ", ".join(
        f"{system} G({values['degrees of freedom']:.0f}) = {values['G']:g}"
        + (f", p {values['p']:g}" if "p" in values else "")
        for system, values in statistics.items()
    )


def published_tables(suite: str, factor: str) -> dict[str, Crosstab]:
    """Tables 2 to 4 of the paper, by system: those that it prints of the sample of a suite."""
    cells: dict[str, dict[tuple[str, str], int]] = {}
    for score in _factor_scores(suite, factor):
        if "column" in score.by:
            cells.setdefault(_system_name(score), {})[score.by["row"], score.by["column"]] = int(score.value)
    return {system: _count_cells(counts) for system, counts in cells.items()}


def _count_cells(cells: Mapping[tuple[str, str], int]) -> Crosstab:
    rows, columns = (_order_labels(dict.fromkeys(names)) for names in zip(*cells, strict=True))
    return Crosstab(rows, columns, np.array([[cells[row, column] for column in columns] for row in rows]))


def _order_labels(names: Mapping[str, None]) -> tuple[str, ...]:
    """Labels as everywhere else; the paper has neutral first."""
    return (*(label for label in LABELS if label in names), *(name for name in names if name not in LABELS))


def _factor_scores(suite: str, factor: str) -> list[PublishedScore]:
    control, sample = SAMPLES.get(paper_suite(suite), ("", ""))
    wanted = (control, POLARITY) if factor == CONTROL_POLARITY else (sample, factor)
    scores = published_scores("behaviour")
    return [score for score in scores if (score.by.get("sample"), score.by.get("factor")) == wanted]


def _system_name(score: PublishedScore) -> str:
    return _SHORT_NAMES.get(score.system, score.system)
