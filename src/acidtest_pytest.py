"""What pytest loads of acidtest in every session: options, a marker, a fixture, and who reads ``*.gate.toml`` files.

This module is not part of the package ``acidtest`` because importing anything of it loads numpy and polars, which
sessions that ask no model should not wait for. It imports only pytest.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from acidtest.integrations.pytest_gates import GateFile
    from acidtest.workflows.runs import Finished

ENDING = ".gate.toml"
"""How the names of policy files end that are collected as tests."""

_MARKER = "acidtest(model, suites, limit, seed): what acidtest_run asks which model for this test."


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options and settings of acidtest."""
    group = parser.getgroup("acidtest", "acidtest, for natural-language-inference models")
    group.addoption("--acidtest-model", metavar="SPEC", help="The model that acidtest_run and *.gate.toml files ask.")
    group.addoption("--acidtest-baseline", metavar="PATH", help="The baseline that *.gate.toml files compare with.")
    parser.addini("acidtest_model", "The model to ask unless the command line, the marker or the file names one.")
    parser.addini("acidtest_baseline", "The baseline of *.gate.toml files that name none.")
    parser.addini("acidtest_margin", "Points that every suite and label may lose, instead of the margins of files.")


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker."""
    config.addinivalue_line("markers", _MARKER)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> GateFile | None:
    """The checks of a ``*.gate.toml`` file, as tests."""
    if not file_path.name.endswith(ENDING):
        return None
    from acidtest.integrations.pytest_gates import GateFile

    return GateFile.from_parent(parent, path=file_path)


@pytest.fixture
def acidtest_run(request: pytest.FixtureRequest) -> Finished:
    """The finished run of the model on the suites of the marker; a session asks the same thing once."""
    from acidtest.integrations.pytest_gates import run_for_test

    return run_for_test(request)
