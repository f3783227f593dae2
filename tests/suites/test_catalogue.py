"""Listing the suites is cheap: their modules import linguistics and readers only when a suite is made."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SUITES = Path(__file__).parents[2] / "src" / "acidtest" / "suites"


@pytest.mark.parametrize("path", sorted(SUITES.rglob("*.py")), ids=lambda path: str(path.relative_to(SUITES)))
def test_a_module_of_suites_imports_only_core_and_suites_at_its_top(path: Path) -> None:
    statements = ast.parse(path.read_text(encoding="utf-8")).body
    modules = [node.module or "" for node in statements if isinstance(node, ast.ImportFrom)]
    parts = {module.split(".")[1] for module in modules if module.startswith("acidtest.")}
    assert parts <= {"core", "suites"}
