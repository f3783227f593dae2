"""Closer looks: at word lists, and at what models get wrong."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from acidtest.core.errors import AcidtestError, FileError
from acidtest.core.suite import Suite
from acidtest.workflows.batteries import Reading, load
from acidtest.workflows.evaluations import AnyRun, run_of

if TYPE_CHECKING:
    import polars as pl

    from acidtest.studies.errors import ErrorAgreement, ErrorsResult
    from acidtest.text.word_usage import WordReport as WordReport


def words(
    vocabulary: str | Path = "fresh",
    train: str | Path | Suite | None = None,
    *,
    least: int = 50,
    reading: Reading | None = None,
) -> WordReport:
    """What a vocabulary of HANS holds and, given a training set, which of its words are too rare there.

    A vocabulary is ``fresh``, ``published`` or a TSV file. Every verb must occur ``least`` times in each frame its
    lists put it in (McCoy et al. 2019, section 3.1), every adverb and subordinator in its place.
    """
    from acidtest.text.word_usage import word_report

    if least < 1:
        raise AcidtestError(f"--least is a number from 1 on, not {least}")
    if train is None and reading and (reading.columns or reading.label_map):
        raise AcidtestError("--columns and --label-map say how to read --train, which is not given")
    suite = train if train is None or isinstance(train, Suite) else load(train, reading=reading)
    file = "" if train is None or isinstance(train, Suite) else str(train)
    return word_report(str(vocabulary), suite, file=file, least=least)


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
    """Errors of a run to be sorted by hand, each with what can be measured of it and a proposed category.

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
    """What people decided on a sample of errors: the share of each category, the published ones beside it."""
    from acidtest.studies.errors import error_categories

    return error_categories(Path(file))


def error_agreement(first: str | Path, second: str | Path) -> ErrorAgreement:
    """How far two people agree who sorted the same sample of errors."""
    from acidtest.studies.errors import error_agreement as compare_decisions
    from acidtest.studies.errors.samples import read_decisions

    return compare_decisions(read_decisions(first), read_decisions(second))
