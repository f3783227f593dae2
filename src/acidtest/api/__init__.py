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
from acidtest.api.reporting import (
    compare,
    comparison_report,
    comparison_tables,
    contamination_tables,
    contaminations,
    differences,
    joint_report,
    report,
    scorecard,
    tied_models,
)
from acidtest.api.representations import LIMIT as LAYER_LIMIT
from acidtest.api.representations import (
    representation_tables,
    representations,
)
from acidtest.api.resources import (
    fetch,
    sources,
)
from acidtest.api.studies import (
    antonym_tables,
    antonym_types,
    antonyms,
    error_agreement,
    error_sample,
    error_typology,
    type_tables,
    words,
)
from acidtest.api.taxonomies import (
    annotated_suite,
    tag,
    taxonomy,
    taxonomy_document,
    taxonomy_statistics,
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
from acidtest.workflows.experiment_designs import Wish
from acidtest.workflows.experiments import (
    EXPERIMENT_PAGE,
    EXPERIMENTS,
    experiment,
    experiment_papers,
    experiment_tables,
)
from acidtest.workflows.runs import REPORT, Finished, finished_run
from acidtest.workflows.training import (
    Material,
    architecture_options,
    architectures,
    train,
    training_estimates,
    training_json,
    training_spread,
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
    "Finished",
    "Generator",
    "Material",
    "Reading",
    "Sharing",
    "UnfaithfulError",
    "Wish",
    "agreement",
    "agreement_output",
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
    "comparison_report",
    "comparison_tables",
    "contamination_tables",
    "contaminations",
    "differences",
    "error_agreement",
    "error_sample",
    "error_typology",
    "experiment",
    "experiment_papers",
    "experiment_tables",
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
    "representation_tables",
    "representations",
    "run",
    "run_of",
    "save",
    "score",
    "scorecard",
    "serve_annotation",
    "sources",
    "suites",
    "tag",
    "taxonomy",
    "taxonomy_document",
    "taxonomy_statistics",
    "tied_models",
    "train",
    "training_estimates",
    "training_json",
    "training_spread",
    "type_tables",
    "words",
    "write_table",
]
