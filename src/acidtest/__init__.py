"""acidtest finds out whether a natural-language-inference model reasons or cheats."""

from acidtest.api import (
    Reading,
    audit,
    compare,
    error_agreement,
    error_sample,
    error_typology,
    finished_run,
    generate,
    load,
    report,
    run,
    save,
    score,
)
from acidtest.core.errors import AcidtestError
from acidtest.core.estimate import Estimate
from acidtest.core.model import Model
from acidtest.core.run import Run
from acidtest.core.suite import Card, Suite
from acidtest.sources.heuristics import heuristics
from acidtest.version import __version__

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
    "compare",
    "error_agreement",
    "error_sample",
    "error_typology",
    "finished_run",
    "generate",
    "heuristics",
    "load",
    "report",
    "run",
    "save",
    "score",
]
