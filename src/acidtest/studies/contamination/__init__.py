"""Whether a model's score on HANS is helped by having seen HANS."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from acidtest.core.run import Run
from acidtest.core.study import study
from acidtest.studies.contamination.cells import ModelContamination, holds_the_four, measure_contamination

Correction = Literal["holm", "bh", "by", "none"]


@dataclass(frozen=True)
class ContaminationResult:
    """Every model whose runs hold the four suites."""

    models: tuple[ModelContamination, ...]


def _applies(runs: Sequence[Run]) -> bool:
    return any(holds_the_four(members) for members in _by_model(runs, set()))


@study(group="look into a run", applies=_applies)
def contamination(
    runs: Annotated[Sequence[Run], "Run folders of models on hans and hans/novel, in published and in fresh words."],
    *,
    reference: Annotated[Sequence[Run], "Runs of a model known to be clean; may be repeated."] = (),
    correction: Annotated[Correction, "holm, bh (Benjamini–Hochberg), by (Benjamini–Yekutieli) or none."] = "holm",
    seed: Annotated[int, "Seed of every random choice."] = 0,
) -> ContaminationResult:
    """Show whether models have seen HANS: published against fresh words and templates.

    Models whose runs do not hold the four suites are passed over; with a reference, that is an error.
    """
    clean = {run.header.model.signature for run in reference}
    models = [members for members in _by_model(runs, clean) if reference or holds_the_four(members)]
    return ContaminationResult(
        tuple(measure_contamination(members, reference=reference, correction=correction) for members in models)
    )


def _by_model(runs: Sequence[Run], clean: set[str]) -> list[list[Run]]:
    """The runs of each model that is not among the clean ones."""
    by_model: dict[tuple[str, int], list[Run]] = {}
    for number, run in enumerate(runs, 1):
        model = run.header.model
        if model.signature not in clean:
            # Without a fingerprint a name says little: runs that need no other are not put together.
            alone = model.fingerprint is None and holds_the_four([run])
            by_model.setdefault((model.signature, number if alone else 0), []).append(run)
    return list(by_model.values())
