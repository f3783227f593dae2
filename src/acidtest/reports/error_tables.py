"""Errors by kind and answers by gold, from results.json to the lines of tables."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from acidtest.core.estimate import Estimate
from acidtest.studies.error_kinds import MEASURES as MEASURES
from acidtest.studies.error_kinds import UNANSWERED

Results = Mapping[str, Mapping[str, Any]]
"""One suite's part of results.json, by model."""


@dataclass(frozen=True)
class ErrorLine:
    """One kind of error of one model; the last five are None where there are no untouched pairs to compare with."""

    model: str
    kind: str
    count: int
    value: Estimate
    control_count: int | None = None
    control: Estimate | None = None
    difference: Estimate | None = None
    p: float | None = None
    p_adjusted: float | None = None

    @property
    def title(self) -> str:
        """The kind as people write it: ``E–C``."""
        return kind_title(self.kind)


@dataclass(frozen=True)
class ConfusionLine:
    """How often one model answered what where gold is one label."""

    model: str
    gold: str
    answers: Mapping[str, int]

    @property
    def n(self) -> int:
        """The pairs with this gold."""
        return sum(self.answers.values())


Line = TypeVar("Line", ErrorLine, ConfusionLine)


def error_lines(results: Results, measure: str = "share", kinds: Collection[str] = ()) -> list[ErrorLine]:
    """The kinds of error of each model, or those asked for, measured as a share of errors or a rate of all pairs."""
    return [
        _line(model, kind, found, measure)
        for model, result in results.items()
        for kind, found in result.get("errors", {}).get("kinds", {}).items()
        if not kinds or kind in kinds
    ]


def confusion_lines(results: Results) -> list[ConfusionLine]:
    """Answers by gold of each model; a column of pairs without an answer only where there are any."""
    found = [
        ConfusionLine(model, gold, answers)
        for model, result in results.items()
        for gold, answers in (result.get("confusion") or {}).items()
    ]
    if any(line.answers.get(UNANSWERED) for line in found):
        return found
    return [
        ConfusionLine(line.model, line.gold, {name: n for name, n in line.answers.items() if name != UNANSWERED})
        for line in found
    ]


def by_model(lines: Sequence[Line]) -> dict[str, list[Line]]:
    """The lines of each model, models in order of appearance."""
    found: dict[str, list[Line]] = {}
    for line in lines:
        found.setdefault(line.model, []).append(line)
    return found


def kind_title(kind: str) -> str:
    """``E–C`` for ``E-C``."""
    return kind.replace("-", "–") if len(kind) == 3 else kind


def _line(model: str, kind: str, found: Mapping[str, Any], measure: str) -> ErrorLine:
    own = Estimate.from_json(dict(found[measure]))
    if not found["vs_control"]:
        return ErrorLine(model, kind, found["count"], own)
    before = found["vs_control"][measure]
    return ErrorLine(
        model=model,
        kind=kind,
        count=found["count"],
        value=own,
        control_count=found["vs_control"]["count"],
        control=Estimate.from_json(dict(before["control"])),
        difference=Estimate.from_json(dict(before["difference"])),
        p=before["p"],
        p_adjusted=before["p_adjusted"],
    )
