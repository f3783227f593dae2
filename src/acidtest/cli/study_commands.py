"""Commands of studies, made from their signatures, with the output options that all of them have."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import typer

from acidtest.cli.options import (
    SCREEN,
    Columns,
    Full,
    Json,
    LabelMap,
    Seed,
    echo,
    print_document,
    print_json,
    print_lines,
    terminal_width,
)
from acidtest.core.document import Document
from acidtest.core.errors import AcidtestError, UnknownNameError
from acidtest.core.files import refuse_overwrite, require_page, write_page
from acidtest.core.logs import stage
from acidtest.core.run import Run
from acidtest.core.serialise import to_json
from acidtest.core.study import Study, input_type
from acidtest.core.suite import Suite

Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="Write a page (.html) or, where a study has them, its rows (.tsv, .csv …)."),
]
Tables = Annotated[Path | None, typer.Option("--tables", help="Write every table into a folder: CSV, LaTeX, Markdown.")]
Plots = Annotated[Path | None, typer.Option("--plots", help="Write every chart into a folder: SVG and PNG.")]

MOST_ROWS = 12
"""The most rows of each kind on one screen."""

SHARED: dict[str, tuple[Any, Any]] = {
    "output": (Output, None),
    "tables": (Tables, None),
    "plots": (Plots, None),
    "json": (Json, False),
}
"""Options that every study has, with their defaults."""

READING: dict[str, tuple[Any, Any]] = {"columns": (Columns, None), "label_map": (LabelMap, None)}
"""Options of studies that read a file of pairs: how its columns and labels are to be read."""


def study_command(study: Study) -> Callable[..., None]:
    """The command of a study, with a signature that typer reads."""
    hints = get_type_hints(study.compute, include_extras=True)
    parameters = inspect.signature(study.compute).parameters
    files = [name for name in parameters if input_type(hints[name])[0] is Suite]
    shared = {name: part for name, part in SHARED.items() if name not in parameters}
    if study.has_screen:
        shared["full"] = (Full, False)
    added = {**(READING if files else {}), **shared}
    signature = [typer_parameter(parameter, hints[name]) for name, parameter in parameters.items()]
    signature += [keyword_parameter(name, annotation, default) for name, (annotation, default) in added.items()]

    def command(**given: Any) -> None:
        output = {name: given.pop(name, None) for name in shared}
        check_output(study, output["output"])
        reading = [given.pop(name) for name in READING] if files else []
        if any(reading) and not any(given[name] for name in files):
            names = " or ".join(f"--{name}" for name in files)
            raise AcidtestError(f"--columns and --label-map say how to read {names}, which is not given")
        arguments = {name: read_argument(name, hints[name], value, reading) for name, value in given.items()}
        show(study, study.compute(**arguments), output)

    command.__name__, command.__doc__ = study.name, study.compute.__doc__
    command.__signature__ = inspect.Signature(signature)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in signature}
    return command


def check_output(study: Study, output: Path | None) -> None:
    """Refuse a file that the study cannot write or must not overwrite, before anything is computed."""
    if not output:
        return
    if output.suffix == ".html" or not study.writes_rows:
        require_page(output)
    elif not study.keeps_rows:
        refuse_overwrite(output)


def show(
    study: Study, result: Any, output: dict[str, Any], *, written: dict[str, Any] | None = None, full: bool = True
) -> None:
    """Write the requested files and print the result, as JSON or as text.

    ``written`` are files written before this call, by kind. Folded sections are printed only if ``full`` is true.
    """
    page, tables, plots = (output.get(name) for name in ("output", "tables", "plots"))
    document = study.document(result) if page or tables or plots or not output["json"] else None
    written = dict(written or {})
    if page and page.suffix != ".html":
        from acidtest.io.tables import write_table

        write_table(study.rows(result, page), page)
        written["table"], page = page, None
    if document:
        written |= write_document(document, page, tables, plots)
    if output["json"]:
        print_json(to_json(result) | to_json(written))
    elif document:
        if study.has_screen and not output.get("full"):
            print_lines(_one_screen(partial(study.screen, result), others=len(written)))
        else:
            print_document(document, full=full)
        show_written(written)


def _one_screen(screen: Callable[[int], Document], *, others: int) -> list[str]:
    """The lines of a short document; fewer rows where all of them would not leave room for ``others`` lines."""
    from acidtest.render.terminal import render

    lines: list[str] = []
    for rows in range(MOST_ROWS, 2, -1):
        lines = list(render(screen(rows), terminal_width(), full=False))
        if len(lines) + others <= SCREEN:
            break
    return lines


def write_document(
    document: Document, page: Path | None, tables: Path | None, plots: Path | None, *, page_key: str = "page"
) -> dict[str, Path]:
    """Write a document as a page and as folders of tables and charts; return their paths by kind."""
    written = {}
    if page:
        from acidtest.render.html import render_page

        write_page(page, render_page(document))
        written[page_key] = page
    if tables:
        from acidtest.render.files import write_tables

        write_tables(document, tables)
        written["tables"] = tables
    if plots:
        from acidtest.render.files import write_charts

        write_charts(document, plots)
        written["plots"] = plots
    return written


def show_written(written: dict[str, Path]) -> None:
    """Print the path of each file or folder written."""
    for kind, path in written.items():
        echo(f"{kind}: {path}")


def typer_parameter(parameter: inspect.Parameter, hint: Any) -> inspect.Parameter:
    """A parameter of a study as typer reads it: a positional one is an argument, the others are options.

    The annotation holds the help, and after it further flags such as ``-s``.
    """
    kind, *texts = get_args(hint) if get_origin(hint) is Annotated else (hint, "")
    if parameter.name == "seed":
        return keyword_parameter("seed", Seed, parameter.default)
    if parameter.kind is inspect.Parameter.KEYWORD_ONLY:
        flag = f"--{parameter.name.replace('_', '-')}"
        flag = f"{flag}/--no-{flag[2:]}" if kind is bool and parameter.default else flag
        info: Any = typer.Option(flag, *texts[1:], help=texts[0])
    else:
        info = typer.Argument(help=texts[0])
    default = parameter.default
    if isinstance(default, tuple):
        default = ",".join(default) or None
    return keyword_parameter(parameter.name, Annotated[_typer_type(kind), info], default)


def keyword_parameter(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _typer_type(kind: Any) -> Any:
    """The type that typer reads for a parameter of a study: paths for runs and suites, text for tuples of names."""
    loaded, several = input_type(kind)
    if loaded is not None:
        single: Any = Path if loaded is Run else str
        return list[single] if several else single | None
    if get_origin(kind) is tuple:
        return str | None
    return str if get_origin(kind) is Literal else kind


def read_argument(name: str, hint: Any, value: Any, reading: list[Any]) -> Any:
    """The value that typer read, converted to what the function takes; ``reading`` says how to read a suite's file."""
    kind = get_args(hint)[0] if get_origin(hint) is Annotated else hint
    if input_type(kind)[0] is Suite and value and reading:
        from acidtest.workflows import batteries
        from acidtest.workflows.batteries import Reading

        file_reading = Reading.parsed(*reading)
        stage("reading %s", ", ".join(value) if isinstance(value, list) else value)
        if isinstance(value, list):
            return [batteries.load(part, reading=file_reading) for part in value]
        return batteries.load(value, reading=file_reading)
    if get_origin(kind) is tuple:
        return tuple(part.strip() for part in (value or "").split(",") if part.strip())
    if get_origin(kind) is Literal and value not in get_args(kind):
        raise UnknownNameError(name.replace("_", " "), value, get_args(kind), f" (--{name.replace('_', '-')})")
    return [] if value is None and input_type(kind)[1] else value
