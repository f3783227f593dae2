"""``acidtest report`` and ``acidtest compare``: a page for some runs, and the differences between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from acidtest.cli.options import SCREEN, Full, Json, Seed, echo, print_document, print_json, print_lines, terminal_width
from acidtest.cli.study_commands import Plots, Tables, show_written, write_document
from acidtest.core.document import Document
from acidtest.core.errors import AcidtestError, suggest_near
from acidtest.core.logs import log
from acidtest.core.serialise import to_json
from acidtest.core.study import STUDIES
from acidtest.render.terminal import render_screen
from acidtest.workflows import reporting
from acidtest.workflows.runs import finished_run
from acidtest.workflows.tracking import log_to_mlflow

NAMED_FACTORS = 3
"""The most factors that are named below a comparison."""

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
    mlflow: Annotated[
        bool, typer.Option("--mlflow", help="Log numbers, settings and the page to MLflow (MLFLOW_TRACKING_URI).")
    ] = False,
    experiment: Annotated[
        str, typer.Option("--experiment", help="The experiment of MLflow; else MLFLOW_EXPERIMENT_NAME or acidtest.")
    ] = "",
    json: Json = False,
) -> None:
    """Write one self-contained HTML page for one or several runs, and its tables and charts as files if asked."""
    if experiment and not mlflow:
        raise AcidtestError("--experiment names an experiment of MLflow; add --mlflow")
    finished = [finished_run(folder) for folder in runs]
    page = reporting.report(finished, output, reference=reference or (), tables=tables, plots=plots)
    files = {"report": page, "tables": tables, "plots": plots}
    written = {kind: path for kind, path in files.items() if path is not None}
    logged = log_to_mlflow(finished, page, experiment=experiment) if mlflow else []
    if json:
        print_json(to_json({**written, **({"mlflow": logged} if mlflow else {})}))
        return
    show_written(written)
    for run in logged:
        echo(run.describe())


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
    full: Full = False,
    json: Json = False,
    seed: Seed = 0,
) -> None:
    """Compare runs: paired tests on the same rows, unpaired and stratified ones on different rows.

    Runs of one model on hans and hans/novel, in published and in fresh words, show whether it has seen HANS.
    """
    _require_different(runs)
    finished = [finished_run(folder) for folder in runs]
    leaks = reporting.measure_contamination(finished, reference=reference or (), correction=correction)
    result, reason = None, ""
    try:
        result = STUDIES["comparison"].compute(finished, correction=correction, seed=seed, by=tuple(by or ()))
    except AcidtestError as error:
        if not leaks.models:
            raise
        reason = str(error) if len(finished) > 1 else ""
    contrasts = result.contrasts if result else ()
    factors = list(dict.fromkeys(contrast.factor for contrast in contrasts if contrast.factor))
    _require_factors(by or (), factors)
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
        added = {"headline": result.headline, "profiles": result.profiles} if result else {}
        print_json(to_json({"schema": 1, "correction": correction, **added, **lists, **written}))
        return
    if result is None or full:
        print_document(document)
    else:
        screen = partial(reporting.comparison_screen, result, leaks)
        print_lines(_one_screen(screen, others=2 + len(written)))
        echo(_describe_rest(factors))
    show_written(written)


def _one_screen(screen: Callable[[int], Document], *, others: int) -> list[str]:
    """Suites, profiles and the sentence; fewer suites where all of them would not leave room for ``others`` lines."""
    lines: list[str] = []
    for suites in range(reporting.SHOWN_SUITES, 2, -1):
        lines = list(render_screen(screen(suites), terminal_width()))
        if len(lines) + others <= SCREEN:
            break
    return lines


def _describe_rest(factors: Sequence[str]) -> str:
    """Where everything else is."""
    names = f"{', '.join(factors[:NAMED_FACTORS])}{' …' if len(factors) > NAMED_FACTORS else ''}"
    return f"Slices by {names}: --by FACTOR; everything: --full, or a page, -o FILE.html."


def _require_different(folders: Sequence[Path]) -> None:
    resolved = [folder.resolve() for folder in folders]
    for number, folder in enumerate(folders):
        if resolved[number] in resolved[:number]:
            raise AcidtestError(f"{folder} is given twice; compare different runs")


def _require_factors(chosen: Sequence[str], factors: Sequence[str]) -> None:
    for factor in chosen:
        if factor not in factors:
            near = suggest_near(factor, factors)
            known = f"{f'{near} These' if near else '; these'} runs have {', '.join(factors)}"
            raise AcidtestError(f"no factor called {factor!r}{known} (--by)")
