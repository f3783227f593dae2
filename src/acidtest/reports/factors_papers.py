"""What Joshi et al. (2020) report of their systems, to stand beside accuracies and coefficients by category."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from acidtest.io.published import PublishedScore, published_scores
from acidtest.studies.factors_results import ModelFactors

SUITE = "factors"
STARS, DIRECTION, ACCURACY = "stars", "direction", "accuracy"

_MOST_TOLD = 6
"""Of more differing stars than this only the number is told."""


@dataclass(frozen=True)
class Remark:
    """What the text says of a figure that prints no numbers."""

    source: str
    system: str
    factor: str
    told: str


def has_published(own: Iterable[ModelFactors]) -> bool:
    """Whether any of the categories is one that the paper reports on; proposed ones are not."""
    known = {name for theirs in published_stars().values() for name in theirs}
    return any(name in known for each in own for name in each.accuracy)


def published_stars() -> dict[str, dict[str, int]]:
    """How many stars each factor has, by system: figures 6 and 9."""
    found: dict[str, dict[str, int]] = {}
    for score in _scores(STARS):
        found.setdefault(score.system, {})[score.by["factor"]] = int(score.value)
    return found


def star_sources() -> dict[str, str]:
    """The figure that each system's stars are from."""
    return {score.system: score.source.rpartition(", ")[2] for score in _scores(STARS)}


def published_directions() -> dict[str, int]:
    """Factors that section 4.2 calls strong indicators of being right (1) or harder to predict (-1)."""
    return {score.by["factor"]: int(score.value) for score in _scores(DIRECTION)}


def mnli_accuracies() -> dict[str, dict[str, float]]:
    """Table 3: accuracy on the two development sets of MultiNLI, by system."""
    found: dict[str, dict[str, float]] = {}
    for score in _scores(ACCURACY):
        if "corpus" in score.by:
            found.setdefault(score.system, {})[score.by["corpus"]] = score.value
    return found


def remarks() -> list[Remark]:
    """What the text says of figures 5 and 8."""
    return [
        Remark(
            score.source.rpartition(", ")[2],
            score.system,
            score.by["factor"],
            f"{score.by['statistic']}: {score.by['says']}",
        )
        for score in published_scores(SUITE)
        if "says" in score.by
    ]


def agreements(each: ModelFactors) -> list[str]:
    """How many factors have the stars that a published system has, and which differ; none where factors are others."""
    ours = {factor.name: len(factor.logistic.stars) for factor in each.factors}
    told = []
    for system, theirs in published_stars().items():
        if set(theirs) != set(ours):
            continue
        differing = [
            f"{name}{'*' * ours[name]} ({'*' * count or 'none'})"
            for name, count in theirs.items()
            if ours[name] != count
        ]
        where = f"{system} ({star_sources()[system]})"
        if not differing:
            told.append(f"stars: those of {where} exactly, all {len(theirs)} factors")
            continue
        others = f"; other, published in brackets: {', '.join(differing)}" if len(differing) <= _MOST_TOLD else ""
        told.append(f"stars: {len(theirs) - len(differing)} of {len(theirs)} factors as {where}{others}")
    return told


def _scores(statistic: str) -> list[PublishedScore]:
    return [score for score in published_scores(SUITE) if score.by.get("statistic") == statistic]
