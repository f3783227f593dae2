"""Write src/acidtest/data/plugins.tsv: the module of every suite, model, study, format and command of the package.

python tools/plugins.py            # write the index
python tools/plugins.py --check    # exit 1 if it would change
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from acidtest.core.registry import Registry

INDEX = Path(__file__).resolve().parent.parent / "src" / "acidtest" / "data" / "plugins.tsv"
HOMES = ("acidtest.suites", "acidtest.studies", "acidtest.models", "acidtest.zoo", "acidtest.workflows.exports")
PLACES: dict[tuple[int, str], str] = {}
"""The module that registers each name, by registry and name."""

COLUMNS = ("kind", "name", "module", "group", "applies", "pairs", "summary")


def index_text() -> str:
    """The index of what the modules of the package register, as a table."""
    import_homes()
    rows = sorted((*suites(), *models(), *studies(), *formats(), *commands()), key=lambda row: row[:2])
    return "".join("\t".join(row) + "\n" for row in (COLUMNS, *rows))


def import_homes() -> None:
    """Import every module of the folders whose modules register things, and note which module registers what."""
    add = Registry.add

    def add_with_place(registry: Registry[Any], name: str) -> Callable[[Any], Any]:
        PLACES[id(registry), name] = importing_module()
        return add(registry, name)

    Registry.add = add_with_place  # type: ignore[method-assign]
    for home in HOMES:
        package = importlib.import_module(home)
        for module in pkgutil.walk_packages(package.__path__, f"{home}."):
            importlib.import_module(module.name)


def importing_module() -> str:
    """The module that is being imported, the innermost if imports are nested."""
    frame = sys._getframe()
    while frame.f_code.co_name != "<module>":
        assert frame.f_back, "things are registered while a module is imported"
        frame = frame.f_back
    return str(frame.f_globals["__name__"])


def suites() -> Iterator[tuple[str, ...]]:
    from acidtest.suites.catalogue import SUITES

    for name, module in registered(SUITES):
        suite = SUITES[name]
        yield "suite", name, module, suite.source, "", str(suite.rows or ""), suite.summary


def models() -> Iterator[tuple[str, ...]]:
    from acidtest.core.model import MODELS
    from acidtest.models.baseline import BASELINES

    for name, module in registered(MODELS):
        yield "kind of model", name, module, "", "", "", first_paragraph(MODELS[name])
    for name in BASELINES:
        yield "spec", f"baseline:{name}", "acidtest.models.baseline", "", "", "", ""


def studies() -> Iterator[tuple[str, ...]]:
    from acidtest.core.study import STUDIES

    for name, module in registered(STUDIES):
        one = STUDIES[name]
        yield "study", name, module, one.group, "yes" if one.applies else "", "", first_paragraph(one.compute)


def formats() -> Iterator[tuple[str, ...]]:
    from acidtest.workflows.exports import FORMATS

    for name, module in registered(FORMATS):
        yield "format", name, module, "", "", "", first_paragraph(FORMATS[name])


def commands() -> Iterator[tuple[str, ...]]:
    from acidtest.cli.app import COMMANDS, command_module

    for name, group in COMMANDS.items():
        function = getattr(importlib.import_module(command_module(name)), name)
        yield "command", name, command_module(name), group, "", "", first_paragraph(function)


def registered(registry: Registry[Any]) -> list[tuple[str, str]]:
    """The names in a registry and the modules that registered them, without those of tests and plug-ins."""
    places = ((name, module) for (owner, name), module in PLACES.items() if owner == id(registry))
    return [(name, module) for name, module in places if module.startswith("acidtest.")]


def first_paragraph(function: Callable[..., Any]) -> str:
    """The first paragraph of the docstring in one line."""
    return " ".join((inspect.getdoc(function) or "").partition("\n\n")[0].split())


def main() -> int:
    """Write the index, or check it."""
    text = index_text()
    if "--check" in sys.argv:
        return int(not INDEX.is_file() or INDEX.read_text(encoding="utf-8") != text)
    INDEX.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
