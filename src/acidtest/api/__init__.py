"""The verbs of acidtest, in Python as on the command line. Wiring only: every step lives elsewhere.

What one verb needs is imported when it is called, so that the program starts quickly.
"""

from acidtest.api.audits import (
    audit,
    audit_findings,
    audit_table,
)
from acidtest.api.behaviour_studies import (
    behaviour,
    behaviour_tables,
)
from acidtest.api.exports import (
    UnfaithfulError,
    export,
)
from acidtest.api.ratings import (
    agreement,
    agreement_output,
    label_agreement_tables,
    questionnaires,
)
from acidtest.api.resources import (
    fetch,
    sources,
)
from acidtest.api.studies import (
    agreement_tables,
    antonym_tables,
    antonym_types,
    antonyms,
    error_agreement,
    error_sample,
    error_typology,
    type_tables,
    typology_plot,
    typology_tables,
    words,
)
from acidtest.api.tags import (
    tag,
    tag_tables,
)
from acidtest.api.taxonomies import (
    annotated_suite,
    taxonomy,
    taxonomy_statistics,
    taxonomy_statistics_tables,
    taxonomy_tables,
)
from acidtest.api.word_knowledge import (
    lexical,
    lexical_tables,
)
from acidtest.io.tables import write_table
from acidtest.suites.catalogue import Generator
from acidtest.workflows.annotation import (
    LOOPBACK,
    PORT,
    Sharing,
    annotation_project,
    export_annotations,
    import_annotations,
    invitation_link,
    progress_tables,
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
    RUNS,
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
from acidtest.workflows.runs import REPORT, Finished, finished_run
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
    "Reading",
    "Sharing",
    "UnfaithfulError",
    "agreement",
    "agreement_output",
    "agreement_tables",
    "annotated_suite",
    "annotation_project",
    "antonym_tables",
    "antonym_types",
    "antonyms",
    "architecture_options",
    "architectures",
    "audit",
    "audit_findings",
    "audit_table",
    "behaviour",
    "behaviour_tables",
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
    "label_agreement_tables",
    "lexical",
    "lexical_tables",
    "load",
    "means",
    "model_kinds",
    "model_options",
    "progress_tables",
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
    "tag_tables",
    "taxonomy",
    "taxonomy_statistics",
    "taxonomy_statistics_tables",
    "taxonomy_tables",
    "train",
    "training_json",
    "type_tables",
    "typology_plot",
    "typology_tables",
    "words",
    "write_table",
]
