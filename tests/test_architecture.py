"""Who may import whom, read from the source and compared with the table of docs/architecture.md."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "acidtest"

ALLOWED: dict[str, set[str]] = {
    "core": {"version"},
    "sources": {"core"},
    "suites": {"core"},
    "engines": {"core"},
    "generators": {"core", "sources", "suites"},
    "models": {"core", "sources"},
    "analysis": {"core", "sources"},
    "zoo": {"core", "sources", "version"},
    "evaluation": {"core", "suites", "engines"},
    "reports": {"core", "analysis"},
    "annotate": {"core", "suites", "analysis"},
    "export": {"core", "suites", "models", "zoo"},
    "data": set(),
    "api": {
        "core",
        "sources",
        "suites",
        "engines",
        "models",
        "analysis",
        "zoo",
        "evaluation",
        "reports",
        "annotate",
        "export",
        "runs",
        "version",
    },
    "cli": {"api", "core", "version"},
}


def imported_parts(path: Path) -> set[str]:
    """The parts of acidtest a module imports, inside functions too."""
    parts = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names = [node.module or ""]
            if node.module == "acidtest":
                names = [f"acidtest.{alias.name}" for alias in node.names]
        parts |= {name.split(".")[1] for name in names if name.startswith("acidtest.")}
    return parts


@pytest.mark.parametrize("path", sorted(SOURCE.glob("*/**/*.py")), ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_part_imports_only_what_the_table_allows(path: Path) -> None:
    part = path.relative_to(SOURCE).parts[0]
    assert imported_parts(path) <= ALLOWED[part] | {part}


def test_the_table_is_the_one_in_the_docs() -> None:
    page = (SOURCE.parents[1] / "docs" / "architecture.md").read_text(encoding="utf-8")
    for part, allowed in ALLOWED.items():
        if part not in ("data", "api", "cli"):
            names = ", ".join(sorted(allowed - {"version"})) or "nothing of ours"
            assert f"| {part} | {names} |" in page


def test_every_folder_is_in_the_table() -> None:
    folders = {path.name for path in SOURCE.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert folders <= set(ALLOWED)


def test_importing_acidtest_loads_nothing_heavy() -> None:
    import subprocess
    import sys

    heavy = ("torch", "scipy.stats", "altair", "vl_convert", "jinja2", "rich", "scipy")
    code = f"import acidtest, sys; print([name for name in {heavy!r} if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
