"""Who may import whom, read from the source and compared with the table of docs/explanation/architecture.md."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "acidtest"

PARTS = (
    "core",
    "io",
    "stats",
    "english",
    "pairs",
    "corpora",
    "suites",
    "models",
    "zoo",
    "evaluate",
    "studies",
    "render",
    "annotate",
)

ALLOWED: dict[str, set[str]] = {
    "core": set(),
    "io": {"core"},
    "stats": {"core"},
    "english": {"core", "io"},
    "pairs": {"core", "io", "english"},
    "corpora": {"core", "io", "english", "pairs"},
    "suites": {"core", "io", "english", "pairs", "corpora"},
    "models": {"core", "io", "english", "pairs", "corpora"},
    "zoo": {"core", "io", "english", "models"},
    "evaluate": {"core", "io", "suites"},
    "studies": {"core", "io", "english", "pairs", "corpora", "stats"},
    "render": {"core", "io"},
    "annotate": {"core", "io", "english", "pairs", "stats", "suites"},
    "workflows": set(PARTS),
    "api": {*PARTS, "workflows"},
    "integrations": {*PARTS, "workflows", "api"},
    "cli": {"api", "core", "io", "render", "suites", "workflows"},
    "data": set(),
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


def forbidden_parts(path: Path) -> set[str]:
    """The parts a module imports though the table does not allow it; any module may ask for the version."""
    part = path.relative_to(SOURCE).parts[0]
    return imported_parts(path) - ALLOWED[part] - {part, "version"}


@pytest.mark.parametrize("path", sorted(SOURCE.glob("*/**/*.py")), ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_part_imports_only_what_the_table_allows(path: Path) -> None:
    assert not forbidden_parts(path)


def test_the_table_is_the_one_in_the_docs() -> None:
    page = (SOURCE.parents[1] / "docs" / "explanation" / "architecture.md").read_text(encoding="utf-8")
    for part, allowed in ALLOWED.items():
        if part in PARTS or part == "cli":
            names = ", ".join(sorted(allowed)) or "nothing of ours"
            assert f"| {part} | {names} |" in page


def test_every_folder_is_in_the_table() -> None:
    # A folder that git has emptied may still hold what Python compiled.
    folders = {path.relative_to(SOURCE).parts[0] for path in SOURCE.glob("*/**/*.py")}
    assert folders <= set(ALLOWED)


def test_importing_acidtest_loads_nothing_heavy() -> None:
    import subprocess
    import sys

    heavy = ("torch", "scipy.stats", "altair", "vl_convert", "jinja2", "rich", "scipy")
    code = f"import acidtest, sys; print([name for name in {heavy!r} if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
