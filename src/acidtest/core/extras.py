"""Libraries that only some work needs, asked for at its door."""

from __future__ import annotations

import importlib
from typing import Any

from acidtest.core.errors import AcidtestError


def required(*names: str, extra: str = "hf", work: str = "this kind of model") -> list[Any]:
    """These modules, or an error that says what needs them and the line to install them with."""
    try:
        return [importlib.import_module(name) for name in names]
    except ModuleNotFoundError as error:
        raise AcidtestError(f"{work} needs {error.name}; install it with: pip install 'acidtest[{extra}]'") from error
