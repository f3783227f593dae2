"""The verbs of acidtest, in Python as on the command line. Wiring only: every step lives elsewhere.

What one verb needs is imported when it is called, so that the program starts quickly.
"""

from acidtest.api.data_studies import (
    agreement,
    audit,
    output_kind,
    questionnaires,
)
from acidtest.api.exports import (
    UnfaithfulError,
    export,
)
from acidtest.api.resources import (
    fetch,
    sources,
)
from acidtest.api.studies import (
    error_agreement,
    error_sample,
    error_typology,
    words,
)
from acidtest.api.taxonomies import (
    annotated_suite,
    tag,
    taxonomy,
    taxonomy_document,
    taxonomy_statistics,
)
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
    experiment,
    experiment_papers,
)
from acidtest.workflows.experiments.designs import ExperimentOptions
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
from acidtest.workflows.training import (
    Material,
    architecture_options,
    architectures,
    train,
    training_json,
)
from acidtest.workflows.training.records import (
    score_estimates,
    spread_over_seeds,
)

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
