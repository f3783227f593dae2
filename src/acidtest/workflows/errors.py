"""Samples of a run's errors, and what people decided on them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from acidtest.core.errors import FileError
from acidtest.workflows.evaluations import AnyRun, run_of

if TYPE_CHECKING:
    import polars as pl

    from acidtest.studies.errors import ErrorAgreement, ErrorsResult


def error_sample(
    run: AnyRun,
    *,
    output: str | Path | None = None,
    suites: Sequence[str] = (),
    n: int = 100,
    by: Sequence[str] | None = None,
    seed: int = 0,
    prefill: bool = False,
    fresh: bool = False,
) -> pl.DataFrame:
    """A sample of the errors of a run, with measurements and a proposed category, to be sorted by hand.

    ``n`` of them, or all where there are fewer, divided over the columns ``by`` (gold and answer). Unless ``suites``
    are named, suites with a control are sampled on its untouched pairs. The errors are also written to ``output``, in
    the format of its ending; an existing file is replaced only if ``fresh``.
    """
    from acidtest.io.tables import write_table
    from acidtest.studies.errors.samples import STRATA, sample_errors

    if output is not None and Path(output).exists() and not fresh:
        raise FileError(output, "exists, perhaps with what somebody decided; choose another -o, or add --fresh")
    sample = sample_errors(run_of(run), suites=suites, n=n, by=by or STRATA, seed=seed, prefill=prefill)
    if output is not None:
        write_table(sample, output)
    return sample


def error_typology(file: str | Path) -> ErrorsResult:
    """The share of each category that people chose in a sample of errors, beside the published shares."""
    from acidtest.studies.errors import error_categories

    return error_categories(Path(file))


def error_agreement(first: str | Path, second: str | Path) -> ErrorAgreement:
    """The agreement of two people who sorted the same sample of errors."""
    from acidtest.studies.errors import error_agreement as compare_decisions
    from acidtest.studies.errors import read_decisions

    return compare_decisions(read_decisions(first), read_decisions(second))
