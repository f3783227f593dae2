"""Does a verifier read the document? Verdicts on claims, edited in ways that change gold and in ways that keep it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated

from acidtest.core.errors import AcidtestError
from acidtest.core.run import Run
from acidtest.core.study import study
from acidtest.studies.scoring.rows import model_names
from acidtest.studies.verification import GROUNDING, measure_grounding, parse_base_rate, parse_threshold
from acidtest.studies.verification.result import ModelGrounding

SCHEMA = 1


@dataclass(frozen=True)
class GroundingResult:
    """What was measured of every model."""

    models: Mapping[str, ModelGrounding]
    signatures: Mapping[str, str] = field(default_factory=dict)
    schema: int = SCHEMA


@study(group="look into a run", applies=GROUNDING)
def grounding(
    runs: Annotated[Sequence[Run], "Run folders with suites grounding/…"],
    *,
    threshold: Annotated[
        float | None, "A claim is called supported above this score. Default: as the run was scored (--collapse)."
    ] = None,
    base_rate: Annotated[
        float | None, "Share of claims that are not supported in service, for precision: 0.1 is one in ten."
    ] = None,
    seed: Annotated[int, "Seed of every random choice."] = 0,
) -> GroundingResult:
    """Show whether models that check claims read the document: verdicts on edited claims, beside untouched ones.

    Edits that make a claim unsupported should turn the verdict, edits that keep its meaning should not. Every share is
    given for the threshold as deployed, and for one that is chosen on untouched claims of other documents.
    """
    parse_threshold(threshold), parse_base_rate(base_rate)
    measured, signatures = dict[str, ModelGrounding](), dict[str, str]()
    for name, run in zip(model_names(runs), runs, strict=True):
        suites = GROUNDING.names_in(run)
        if suites:
            rate = base_rate if base_rate is not None else run.header.settings.get("base_rate")
            measured[name] = measure_grounding(run, threshold=threshold, base_rate=rate, seed=seed)
            signatures |= {
                f"{suite}, {name}" if len(runs) > 1 else suite: run.header.signature(suite) for suite in suites
            }
    if not measured:
        raise AcidtestError(
            "none of the runs has a suite of documents and claims; run the models with -s 'grounding/*'"
        )
    return GroundingResult(measured, signatures)
