"""``acidtest report`` and ``acidtest compare``: a page for some runs, and the differences between them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from acidtest.cli.options import Json, Seed, echo, print_document, print_json
from acidtest.cli.study_commands import Plots, Tables, show_written, write_document
from acidtest.core.errors import AcidtestError, UnknownNameError
from acidtest.core.logs import log
from acidtest.core.serialise import to_json
from acidtest.core.study import STUDIES
from acidtest.workflows import reporting
from acidtest.workflows.runs import finished_run

Reference = Annotated[
    list[Path] | None,
    typer.Option("--reference", help="Runs of a model known to be clean, to judge contamination by; may be repeated."),
]


def report(
    runs: Annotated[list[Path], typer.Argument(help="Run folders.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The page to write.")] = Path("report.html"),
    tables: Tables = None,
    plots: Plots = None,
    reference: Reference = None,
    json: Json = False,
) -> None:
    """Write one self-contained HTML page for one or several runs, and its tables and charts as files if asked."""
    page = reporting.report(runs, output, reference=reference or (), tables=tables, plots=plots)
    files = {"report": page, "tables": tables, "plots": plots}
    written = {kind: path for kind, path in files.items() if path is not None}
    if json:
        print_json({kind: str(path) for kind, path in written.items()})
    else:
        show_written(written)


def compare(
    runs: Annotated[
        list[Path], typer.Argument(help="Two run folders or more; one, if it holds the four suites of contamination.")
    ],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A page about the differences, by every factor.")
    ] = None,
    tables: Tables = None,
    plots: Plots = None,
    reference: Reference = None,
    by: Annotated[
        list[str] | None,
        typer.Option("--by", help="Slices of this factor, such as subcase; may be repeated."),
    ] = None,
    correction: Annotated[
        str,
        typer.Option("--correction", help="holm, bh (Benjamini–Hochberg), by (Benjamini–Yekutieli) or none."),
    ] = "holm",
    json: Json = False,
    seed: Seed = 0,
) -> None:
    """Compare runs: paired tests on the same rows, unpaired and stratified ones on different rows.

    Runs of one model on hans and hans/novel, in published and in fresh words, show whether it has seen HANS.
    """
    _require_different(runs)
    finished = [finished_run(folder) for folder in runs]
    leaks = STUDIES["contamination"].compute(finished, reference=reference or (), correction=correction)
    result, reason = None, ""
    try:
        result = STUDIES["comparison"].compute(finished, correction=correction, seed=seed, by=tuple(by or ()))
    except AcidtestError as error:
        if not leaks.models:
            raise
        reason = str(error) if len(finished) > 1 else ""
    contrasts = result.contrasts if result else ()
    factors = list(dict.fromkeys(contrast.factor for contrast in contrasts if contrast.factor))
    for factor in by or ():
        if factor not in factors:
            raise UnknownNameError("factor", factor, factors, f" These runs have {', '.join(factors)} (--by)")
    if reason:
        log.warning("the runs are not compared with each other: %s", reason)
    if plots and not contrasts:
        log.warning("--plots: there are no differences to draw")
    written: dict[str, Path] = {}
    if output or tables or plots or not json:
        document = reporting.comparison_document(result, leaks, reason)
        written = write_document(document, output, tables, plots if contrasts else None, page_key="comparison")
    if json:
        lists = {"contrasts": contrasts, "contamination": leaks.models, "ties": result.ties if result else ()}
        print_json(to_json({"schema": 1, "correction": correction, **lists, **written}))
        return
    print_document(document, full=False)
    if factors:
        echo(f"Factors: {', '.join(factors)} (--by).")
    show_written(written)


def _require_different(folders: Sequence[Path]) -> None:
    resolved = [folder.resolve() for folder in folders]
    for number, folder in enumerate(folders):
        if resolved[number] in resolved[:number]:
            raise AcidtestError(f"{folder} is given twice; compare different runs")
