"""What the shell offers when a user presses Tab: names of suites and models; typer offers commands and options.

``acidtest --install-completion`` switches it on for the user's shell.
"""

from __future__ import annotations

import os

VARIABLE = "_ACIDTEST_COMPLETE"
"""Set by the shell when it asks for words to offer instead of starting a command."""


def is_completing() -> bool:
    """Whether the shell only asks how the line could go on."""
    return VARIABLE in os.environ


def complete_suite(incomplete: str) -> list[str]:
    """Names of suites; in a list separated by commas those that the last name could become."""
    from acidtest.suites.catalogue import SUITES

    before, comma, last = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in SUITES if name.startswith(last)]


def complete_model_spec(incomplete: str) -> list[str]:
    """Specs of models that need nothing else, and the beginnings of the others."""
    from acidtest.core.model import MODELS
    from acidtest.core.registry import read_index
    from acidtest.workflows.evaluations import DEFAULT_MODEL

    kinds = (name if name == DEFAULT_MODEL else f"{name}:" for name in MODELS)
    return [spec for spec in (*kinds, *read_index("spec")) if spec.startswith(incomplete)]
