"""What Sanchez, Mitchell and Riedel (2018) report of their systems, to stand beside behaviour under swapped words."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from acidtest.core.labels import LABELS
from acidtest.core.suite import CONTROL
from acidtest.io.published import PublishedScore, published_scores
from acidtest.stats.contingency import Crosstab
from acidtest.studies.behaviour_results import CONTROL_POLARITY, POLARITY

SUBSETS = {
    "whole sample": "",
    "gold changed": "gold changed",
    "unseen pairs": "unseen pairs",
    "polarity ≠ gold": "polarity is not gold",
}
"""The columns of table 1 and what the published numbers call them."""

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
"""What the paper calls a suite's control and the suite."""

_SHORT = {"Decomposable Attention": "DAM", "Conditional Encoder": "CE"}

Accuracies = dict[str, dict[str, float]]
"""By system and column of table 1."""


def published_accuracies(suite: str) -> dict[str, Accuracies]:
    """Table 1 for a suite, by line; systems have the paper's names."""
    base = paper_suite(suite)
    if base in PROXY_SAMPLES:
        swapped = _accuracies(published_scores("behaviour"), {"sample": PROXY_SAMPLES[base]})
        base = IN_SITU
    else:
        swapped = _accuracies(published_scores(base), {})
    lines = {CONTROLS: _accuracies(published_scores(base + CONTROL), {}), SWAPPED: swapped}
    return {line: found for line, found in lines.items() if found}


def paper_suite(suite: str) -> str:
    """The name of a suite without its options: ``swaps/antonyms-proxy:least=5 (premise)`` has none, but its sample."""
    base, options, rest = suite.partition(":")
    side = rest[rest.rfind(" (") :] if options and rest.endswith(")") else ""
    return base + side


def _accuracies(scores: list[PublishedScore], wanted: Mapping[str, str]) -> Accuracies:
    columns = {subset: column for column, subset in SUBSETS.items()}
    found: Accuracies = {}
    for score in scores:
        by = dict(score.by)
        subset = by.pop("subset", "")
        if by == wanted:
            found.setdefault(_name(score), {})[columns[subset]] = score.value
    return found


def published_tests(suite: str, factor: str) -> str:
    """``ESIM G(1) = 39.33, …`` for the paper's sample of a suite."""
    numbers: dict[str, dict[str, float]] = {}
    for score in _of_factor(suite, factor):
        if "statistic" in score.by:
            numbers.setdefault(_name(score), {})[score.by["statistic"]] = score.value
    return ", ".join(
        f"{system} G({own['degrees of freedom']:.0f}) = {own['G']:g}" + (f", p {own['p']:g}" if "p" in own else "")
        for system, own in numbers.items()
    )


def published_tables(suite: str, factor: str) -> dict[str, Crosstab]:
    """Tables 2 to 4 of the paper, by system: those that it prints of the sample of a suite."""
    cells: dict[str, dict[tuple[str, str], int]] = {}
    for score in _of_factor(suite, factor):
        if "column" in score.by:
            cells.setdefault(_name(score), {})[score.by["row"], score.by["column"]] = int(score.value)
    return {system: _crosstab(own) for system, own in cells.items()}


def _crosstab(cells: Mapping[tuple[str, str], int]) -> Crosstab:
    rows, columns = (_in_our_order(dict.fromkeys(names)) for names in zip(*cells, strict=True))
    return Crosstab(rows, columns, np.array([[cells[row, column] for column in columns] for row in rows]))


def _in_our_order(names: Mapping[str, None]) -> tuple[str, ...]:
    """Labels as everywhere else; the paper has neutral first."""
    return (*(label for label in LABELS if label in names), *(name for name in names if name not in LABELS))


def _of_factor(suite: str, factor: str) -> list[PublishedScore]:
    control, sample = SAMPLES.get(paper_suite(suite), ("", ""))
    wanted = (control, POLARITY) if factor == CONTROL_POLARITY else (sample, factor)
    scores = published_scores("behaviour")
    return [score for score in scores if (score.by.get("sample"), score.by.get("factor")) == wanted]


def _name(score: PublishedScore) -> str:
    return _SHORT.get(score.system, score.system)
