"""The page of commands is what the code would write now; tests/conformance/test_suites.py says so of that of suites."""

from __future__ import annotations

import runpy
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"


def test_the_page_of_commands_is_current() -> None:
    page = runpy.run_path(str(DOCS / "build.py"))["commands_page"]()
    assert (DOCS / "commands.md").read_text(encoding="utf-8") == page, "docs/commands.md is out of date; run: make docs"
