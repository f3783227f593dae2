"""A model asked every pair of some suites."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from acidtest.api.batteries import STANDARD, Arguments, Battery, Reading
from acidtest.core.errors import AcidtestError
from acidtest.core.model import ChecksSuites, completed, model_from_spec
from acidtest.core.run import Run
from acidtest.core.suite import Suite
from acidtest.core.verdicts import Collapse
from acidtest.runs import Finished, Job, done

if TYPE_CHECKING:
    from acidtest.evaluation.runner import Progress

DEFAULT_MODEL = "baseline:overlap"
RUNS = "acidtest-runs"

AnyRun = str | Path | Run | Finished
"""A run, or the folder of one."""


def run(
    model: str | object = DEFAULT_MODEL,
    suites: str | Suite | Sequence[str | Suite] | Battery = STANDARD,
    *,
    source: str | Path | Suite | None = None,
    output: str | Path | None = None,
    limit: int | None = None,
    seed: int = 0,
    collapse: str = "argmax",
    batch_size: int | None = None,
    fresh: bool = False,
    arguments: Arguments | None = None,
    reading: Reading | None = None,
    progress: Progress | None = None,
) -> Finished:
    """Ask a model every pair of some suites, analyse the answers and write the report.

    ``source`` is the corpus that suites such as ``stress/negation`` are made from, else the starter corpus. A model is
    a spec such as ``baseline:overlap``, a function of premises and hypotheses, or an object with ``predict``. The same
    call on the same folder continues a run that was interrupted, or gives the finished one, unless the model has no
    fingerprint by which to know it again: then everything is asked anew. A ``Battery`` says all that concerns suites,
    and makes them once for several models.
    """
    asked = model_from_spec(model) if isinstance(model, str) else completed(model)
    if batch_size is not None:
        if batch_size < 1:
            raise AcidtestError(f"--batch-size is a number from 1 on, not {batch_size}")
        asked.batch_size = batch_size
    if not isinstance(suites, Battery):
        wanted = (suites,) if isinstance(suites, str | Suite) else tuple(suites)
        suites = Battery(wanted, source=source, limit=limit, seed=seed, arguments=arguments, reading=reading)
    way = Collapse.parsed(collapse)
    if way.mode != "argmax" and not asked.probabilities:
        raise AcidtestError(f"collapse {way} needs probabilities, but the model gives labels only; use argmax")
    if isinstance(asked, ChecksSuites):
        asked.check(suites.whole)
    spec = model if isinstance(model, str) else asked.name
    job = Job(asked, spec, suites.used, {"collapse": str(way), "limit": suites.limit, "seed": suites.seed})
    folder = Path(output) if output is not None else Path(RUNS) / f"{_slug(asked.name)}-{job.key[:8]}"
    return done(job, folder, fresh=fresh, progress=progress)


def score(
    predictions: str | Path,
    suite: str | Suite,
    *,
    source: str | Path | Suite | None = None,
    answers: Reading | None = None,
    output: str | Path | None = None,
    seed: int = 0,
    collapse: str = "argmax",
    fresh: bool = False,
    arguments: Arguments | None = None,
    reading: Reading | None = None,
) -> Finished:
    """A run from somebody's predictions file; no model needed.

    ``answers`` says how to read the predictions (columns id and label, or id, entailment, neutral and contradiction;
    what their labels mean), ``reading`` how to read the suite, or the ``source`` it is made from, when it is a foreign
    file.
    """
    from acidtest.models.answers import AnswersModel

    how = answers or Reading()
    return run(
        AnswersModel(Path(predictions), how.columns, how.label_map),
        [suite],
        source=source,
        output=output,
        seed=seed,
        collapse=collapse,
        fresh=fresh,
        arguments=arguments,
        reading=reading,
    )


def run_of(source: AnyRun) -> Run:
    """The run itself."""
    if isinstance(source, Finished):
        return source.run
    return source if isinstance(source, Run) else Run.read(source)


def folder_for(spec: str, output: str | Path | None, models: int) -> Path | None:
    """Where one of several models' runs goes: a folder of its own below the one asked for."""
    if output is None:
        return None
    return Path(output) if models == 1 else Path(output) / _slug(spec)


def _slug(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.")[:60] or "model"
