"""acidtest finds out whether a natural-language-inference model reasons or cheats."""

from acidtest.core.errors import end_quietly_while_loading

end_quietly_while_loading()

from acidtest.core.errors import AcidtestError  # noqa: E402
from acidtest.core.estimate import Estimate  # noqa: E402
from acidtest.core.model import Model  # noqa: E402
from acidtest.core.run import Run  # noqa: E402
from acidtest.core.suite import Card, Suite  # noqa: E402
from acidtest.pairs.heuristics import heuristics  # noqa: E402
from acidtest.version import __version__  # noqa: E402
from acidtest.workflows.batteries import Reading, generate, load, save  # noqa: E402
from acidtest.workflows.data_studies import audit, check  # noqa: E402
from acidtest.workflows.errors import error_agreement, error_sample, error_typology  # noqa: E402
from acidtest.workflows.evaluations import run, score  # noqa: E402
from acidtest.workflows.gates import gate  # noqa: E402
from acidtest.workflows.gates import write_baseline as baseline  # noqa: E402
from acidtest.workflows.reporting import compare, report  # noqa: E402
from acidtest.workflows.runs import finished_run  # noqa: E402

__all__ = [
    "AcidtestError",
    "Card",
    "Estimate",
    "Model",
    "Reading",
    "Run",
    "Suite",
    "__version__",
    "audit",
    "baseline",
    "check",
    "compare",
    "error_agreement",
    "error_sample",
    "error_typology",
    "finished_run",
    "gate",
    "generate",
    "heuristics",
    "load",
    "report",
    "run",
    "save",
    "score",
]
