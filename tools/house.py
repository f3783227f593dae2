"""Print the figures of the source tree that say whether a reader can find their way in it.

    python tools/house.py            # figures read off the source
    python tools/house.py --run      # also what one run imports and calls

Counts are of ``src/``. Code lines are neither blank, comment, docstring nor import.
"""

from __future__ import annotations

import argparse
import ast
import collections
import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).resolve().parent.parent / "src"
VAGUE = {"found", "each", "told", "own", "held", "looked", "theirs"}
"""Names that say nothing of what they hold."""

LONG_FUNCTION, LONG_MODULE, SHORT_MODULE = 60, 400, 60
PAGE_ENDINGS = {".html", ".js", ".css", ".jinja"}
APPS = {"annotate"}
"""Folders whose pages are no reports."""

PROBE = """
import json, sys
called = set()
def is_import(frame):
    while frame and not (frame.f_code.co_name == "<module>" and "/acidtest/" in frame.f_code.co_filename):
        frame = frame.f_back
    return frame is not None
def trace(frame, event, argument):
    path = frame.f_code.co_filename
    if event == "call" and "/acidtest/" in path and path not in called and not is_import(frame):
        called.add(path)
sys.setprofile(trace)
from acidtest.cli import main
status = main(["run", "-m", "baseline:overlap", "-s", "hans", "-o", sys.argv[1], "--quiet"])
sys.setprofile(None)
ours = [name for name in sys.modules if name == "acidtest" or name.startswith("acidtest.")]
print("\\n" + json.dumps({"status": status, "files": sorted(called), "modules": len(ours)}))
"""


@dataclass
class Figures:
    """What was counted over all modules."""

    lines: int = 0
    code: int = 0
    modules: int = 0
    long_modules: list[str] = field(default_factory=list)
    short_modules: list[str] = field(default_factory=list)
    long_functions: list[str] = field(default_factory=list)
    classes: collections.Counter[str] = field(default_factory=collections.Counter)
    vague: collections.Counter[str] = field(default_factory=collections.Counter)
    vague_functions: list[str] = field(default_factory=list)


def module_name(path: Path) -> str:
    """The dotted name of a module below ``src``."""
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def code_lines(tree: ast.Module, text: str) -> int:
    """Lines that hold code: no blanks, comments, imports, or docstrings of modules, classes and functions."""
    skipped = set[int]()
    for node in ast.walk(tree):
        part: ast.stmt | None = node if isinstance(node, ast.Import | ast.ImportFrom) else None
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            part = node.body[0] if ast.get_docstring(node, clean=False) is not None else None
        if part:
            skipped.update(range(part.lineno, (part.end_lineno or part.lineno) + 1))
    lines = enumerate(text.splitlines(), 1)
    return sum(bool(line.strip()) and not line.strip().startswith("#") and n not in skipped for n, line in lines)


def imported_modules(tree: ast.Module, modules: set[str]) -> set[str]:
    """The modules of ours that a module imports, anywhere in it."""
    imported = set[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            imported |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return imported & modules


def count_names(tree: ast.Module, figures: Figures, path: Path) -> None:
    """Add a module's classes, long functions and vague names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            size = (node.end_lineno or node.lineno) - node.lineno + 1
            place = f"{path.relative_to(SOURCE)}:{node.lineno} {node.name}"
            if size > LONG_FUNCTION:
                figures.long_functions.append(f"{place} ({size})")
            if node.name.strip("_").split("_")[-1] in VAGUE:
                figures.vague_functions.append(place)
        elif isinstance(node, ast.ClassDef):
            figures.classes[node.name] += 1
        elif isinstance(node, ast.Name) and node.id in VAGUE:
            figures.vague[node.id] += 1
        elif isinstance(node, ast.arg) and node.arg in VAGUE:
            figures.vague[node.arg] += 1


def measure() -> Figures:
    """All figures that can be read off the source."""
    paths = sorted(SOURCE.rglob("*.py"))
    trees = {module_name(path): ast.parse(path.read_text(encoding="utf-8")) for path in paths}
    importers = collections.Counter[str]()
    for tree in trees.values():
        importers.update(imported_modules(tree, set(trees)))
    figures = Figures()
    for path in paths:
        text, name = path.read_text(encoding="utf-8"), module_name(path)
        count = text.count("\n")
        figures.lines += count
        figures.code += code_lines(trees[name], text)
        figures.modules += 1
        if count > LONG_MODULE:
            figures.long_modules.append(f"{path.relative_to(SOURCE)} ({count})")
        if count < SHORT_MODULE and importers[name] == 1 and path.name != "__init__.py":
            figures.short_modules.append(f"{path.relative_to(SOURCE)} ({count})")
        count_names(trees[name], figures, path)
    return figures


def page_lines() -> int:
    """Lines of the templates, scripts and styles of reports."""
    pages = (path for path in SOURCE.rglob("*") if path.suffix in PAGE_ENDINGS and not APPS & set(path.parts))
    return sum(path.read_text(encoding="utf-8").count("\n") for path in pages)


def probe_run() -> dict[str, Any]:
    """What ``run -m baseline:overlap -s hans`` imports and calls."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", PROBE, f"{folder}/run"]
        output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return dict(json.loads(output.splitlines()[-1]))


def main() -> None:
    """Print the figures, names of what exceeds a limit below them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--run", action="store_true", help="also run a model on a suite and count files and modules")
    options = parser.parse_args()
    figures = measure()
    twice = sorted(name for name, count in figures.classes.items() if count > 1)
    print(f"lines {figures.lines:,}; code {figures.code:,}; modules {figures.modules}")
    print(f"modules under {SHORT_MODULE} lines with one importer: {len(figures.short_modules)}")
    print(f"modules over {LONG_MODULE} lines: {len(figures.long_modules)}")
    print(f"templates, scripts, styles: {page_lines():,} lines")
    print(f"class names defined twice or more: {len(twice)}")
    print(f"vague names: {sum(figures.vague.values()):,} ({dict(figures.vague.most_common())})")
    print(f"functions with vague names: {len(figures.vague_functions)}")
    print(f"functions over {LONG_FUNCTION} lines: {len(figures.long_functions)}")
    if options.run:
        result = probe_run()
        files, modules = result["files"], result["modules"]
        print(f"run -m baseline:overlap -s hans: {len(files)} files with a function called, {modules} modules imported")
    for title, names in (
        ("short modules", figures.short_modules),
        ("long modules", figures.long_modules),
        ("long functions", figures.long_functions),
        ("classes defined twice", twice),
        ("vague functions", figures.vague_functions),
    ):
        if names:
            print(f"\n{title}:\n  " + "\n  ".join(names))


if __name__ == "__main__":
    main()
