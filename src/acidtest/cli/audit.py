"""``acidtest audit``: what a training set teaches."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from acidtest import api
from acidtest.cli.options import (
    Columns,
    Json,
    LabelMap,
    Quiet,
    Seed,
    Verbose,
    console,
    print_json,
    set_up_logging,
)
from acidtest.cli.report import show_written


def audit(
    train: Annotated[Path, typer.Argument(help="A training set: any NLI file whose layout is recognised.")],
    against: Annotated[
        list[str] | None,
        typer.Option("--against", help="Suites to look for in it: names, globs and files; may be repeated."),
    ] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="A page with charts.")] = None,
    faithful: Annotated[
        bool, typer.Option("--faithful", help="Tell words apart as the scripts released with HANS do.")
    ] = False,
    columns: Columns = None,
    label_map: LabelMap = None,
    json: Json = False,
    verbose: Verbose = 0,
    quiet: Quiet = False,
    seed: Seed = 0,
) -> None:
    """Look at a training set for shortcuts, repetitions and leaks.

    Pairs that support and contradict each heuristic of HANS, labels told from one sentence alone, words tied to a
    label, length, overlap and negation by label, duplicates, and pairs of suites that stand in it.
    """
    set_up_logging(verbose, quiet)
    found = api.audit(
        train,
        against=against or (),
        output=output,
        faithful=faithful,
        reading=api.Reading.parsed(columns, label_map),
        seed=seed,
    )
    if json:
        findings = [finding.to_json() for finding in api.audit_findings(found)]
        print_json(found.to_json() | {"findings": findings} | ({"page": str(output)} if output else {}))
        return
    out = console()
    for part in api.audit_table(found):
        out.print(part)
    show_written({"page": output}, json=False)
