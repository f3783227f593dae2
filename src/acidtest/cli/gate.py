"""``acidtest gate`` and ``acidtest baseline``: is a candidate no worse than the last release, and files of releases."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from acidtest.cli.options import Full, Json, print_document, print_json, send_commands
from acidtest.cli.study_commands import show_written
from acidtest.core.serialise import to_json
from acidtest.core.study import STUDIES
from acidtest.workflows import gates
from acidtest.workflows.gate_reports import github_report, write_gate_reports

EXIT_STATUS = {"pass": 0, "fail": 1, "undecided": 4}


def gate(
    baseline: Annotated[Path, typer.Argument(help="The last release: a run folder or a baseline file.")],
    candidate: Annotated[Path, typer.Argument(help="What is to be released: a run folder or a baseline file.")],
    policy: Annotated[
        Path | None, typer.Option("--policy", help="A policy in TOML. Default: see docs/explanation/gate.md.")
    ] = None,
    margin: Annotated[
        float | None,
        typer.Option("--margin", help="Points that every suite × label may lose, whatever its size."),
    ] = None,
    slices: Annotated[
        list[str] | None,
        typer.Option("--slice", help="Check only SUITE or SUITE:FACTOR=VALUE, globs too; may be repeated."),
    ] = None,
    anchor: Annotated[
        Path | None, typer.Option("--anchor", help="A pinned release to compare with as well: small losses add up.")
    ] = None,
    junit: Annotated[Path | None, typer.Option("--junit", help="A JUnit file to write, a case per check.")] = None,
    sarif: Annotated[Path | None, typer.Option("--sarif", help="A SARIF file to write.")] = None,
    markdown: Annotated[Path | None, typer.Option("--markdown", help="A pull-request comment to write.")] = None,
    github: Annotated[
        bool, typer.Option("--github", help="Write annotations and the job summary of GitHub Actions.")
    ] = False,
    full: Full = False,
    json: Json = False,
) -> None:
    """Decide whether a model is no worse than the last release, slice by slice.

    Exit status 0: pass, 1: fail, 4: undecided, 2: a mistake.
    """
    result = gates.gate(baseline, candidate, policy=policy, margin=margin, slices=slices or (), anchor=anchor)
    written = write_gate_reports(result, junit=junit, sarif=sarif, markdown=markdown)
    if github:
        send_commands(github_report(result, os.environ))
    if json:
        print_json({**to_json(result), **{name: str(path) for name, path in written.items()}})
    else:
        print_document(STUDIES["gate"].document(result), full=full)
        show_written(written)
    raise typer.Exit(EXIT_STATUS[result.state])


def baseline(
    run: Annotated[Path, typer.Argument(help="A run folder.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write, such as release.acidtest.")],
    json: Json = False,
) -> None:
    """Write what a run got right as a small file to commit, without its texts."""
    path = gates.write_baseline(run, output)
    if json:
        print_json({"baseline": str(path), "bytes": path.stat().st_size})
    else:
        show_written({"baseline": path})
