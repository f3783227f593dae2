"""Suites of a user's: a TOML file of templates or of changes, a Python file, or a Python function."""

from __future__ import annotations

import re
from pathlib import Path

from acidtest.suites.catalogue import Generator

PYTHON = "python:"
"""What the name of a suite begins with that is a function of an importable module."""

_PYTHON_FILE = re.compile(r"(?P<file>.+\.py)(?::(?P<function>\w+))?")


def is_code(name: str) -> bool:
    """Whether making the suite of this name runs the user's code."""
    return name.startswith(PYTHON) or bool(_PYTHON_FILE.fullmatch(name))


def read_generator(name: str) -> Generator | None:
    """The generator of a suite that a user wrote; None if the name is not that of such a suite."""
    if name.startswith(PYTHON):
        from acidtest.suites.custom.functions import function_generator, import_function

        return function_generator(*import_function(name.removeprefix(PYTHON)))
    if code := _PYTHON_FILE.fullmatch(name):
        from acidtest.suites.custom.functions import file_generator

        return file_generator(Path(code["file"]), code["function"] or "")
    file = Path(name)
    if file.suffix == ".toml" and file.is_file():
        from acidtest.suites.custom.suite_files import file_of_templates

        return file_of_templates(file)
    return None
