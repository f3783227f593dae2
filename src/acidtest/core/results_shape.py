"""The shape of results.json, for reading it back; ``data/results.schema.json`` says the same for other programs."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from acidtest.core.errors import FileError
from acidtest.core.run import Run
from acidtest.core.structured import check_shape, read_own_json
from acidtest.core.suite import CONTROL, CROSS


@dataclass(frozen=True)
class EstimateShape:
    """A number with its interval; null is what could not be computed, and then the note says why."""

    value: float | None
    low: float | None
    high: float | None
    n: int
    groups: int
    method: str
    note: str

    def __post_init__(self) -> None:
        if self.value is None and not self.note:
            raise ValueError("a value of null needs a note that says why")


@dataclass(frozen=True)
class ControlShape:
    """A number beside that of the untouched pairs."""

    control: EstimateShape
    difference: EstimateShape
    test: str
    p: float | None
    p_adjusted: float | None


@dataclass(frozen=True)
class ErrorControlShape:
    """The errors of one kind on the untouched pairs."""

    count: int | None
    share: ControlShape
    rate: ControlShape


@dataclass(frozen=True)
class ErrorKindShape:
    """Errors of one kind."""

    count: int
    share: EstimateShape
    rate: EstimateShape
    vs_control: ErrorControlShape | None


@dataclass(frozen=True)
class ErrorsShape:
    """A suite's errors by kind."""

    n: int
    control_n: int | None
    kinds: dict[str, ErrorKindShape]
    note: str


@dataclass(frozen=True)
class PublishedShape:
    """A number of a paper."""

    system: str
    source: str
    by: dict[str, str]
    value: float
    condition: str = ""


@dataclass(frozen=True)
class SuiteShape:
    """The numbers of one suite."""

    signature: str
    overall: EstimateShape
    metrics: dict[str, EstimateShape]
    by: dict[str, dict[str, EstimateShape]]
    vs_control: ControlShape | None
    unanswered: int
    truncated: int
    collapse_differs: int | None
    published: list[PublishedShape]
    notes: list[str]
    errors: ErrorsShape
    confusion: dict[str, dict[str, int]] | None
    strata: list[str] = field(default_factory=list)
    corpus: str = ""

    def __post_init__(self) -> None:
        for factors, values in self.by.items():
            if any(value.count(CROSS) < factors.count(CROSS) for value in values):
                raise ValueError(f"a value of {factors!r} has fewer parts than that has factors")


@dataclass(frozen=True)
class FindingShape:
    """A sentence of the diagnosis."""

    code: str
    severity: Literal["good", "info", "warning", "severe"]
    suite: str
    text: str
    evidence: list[str]
    by: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class CellShape:
    """One of the four suites that contamination is seen from."""

    words: Literal["published", "fresh"]
    templates: Literal["published", "novel"]
    suite: str
    slices: dict[str, EstimateShape]


@dataclass(frozen=True)
class CellContrastShape:
    """A difference between two of them."""

    slice: str
    name: str
    question: str
    difference: EstimateShape
    p: float | None
    p_adjusted: float | None
    reference: EstimateShape | None
    excess: EstimateShape | None
    excess_p: float | None
    excess_p_adjusted: float | None


@dataclass(frozen=True)
class ContaminationShape:
    """Published against fresh words and templates."""

    model: str
    reference: str | None
    cells: list[CellShape]
    contrasts: list[CellContrastShape]
    verdict: str
    can: list[str]
    cannot: list[str]


@dataclass(frozen=True)
class ModelShape:
    """Whose results they are."""

    spec: str
    name: str
    fingerprint: str | None
    resolution: Literal["three-way", "two-way"]
    probabilities: bool


@dataclass(frozen=True)
class ResultsShape:
    """Everything computed from a run."""

    schema: int
    acidtest: str
    signature: str
    model: ModelShape
    suites: dict[str, SuiteShape]
    diagnosis: list[FindingShape]
    contamination: ContaminationShape | None = None


def read_results(path: Path, schema: int, run: Run) -> dict[str, Any]:
    """The results of a run as its results.json holds them."""
    remedy = "run it again with --fresh"
    fields = read_own_json(path, dict[str, Any], schema, remedy=remedy)
    results = check_shape(fields, path, ResultsShape, remedy=remedy)
    asked = [name for name in run.header.suites if not name.endswith(CONTROL)]
    if sorted(results.suites) != sorted(asked):
        raise FileError(path, f"suites: are not those of run.json, {', '.join(sorted(asked))}; {remedy}")
    return fields
