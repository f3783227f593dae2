"""``acidtest compare``: runs against each other."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from acidtest import api
from acidtest.cli.options import Json, Quiet, Seed, Verbose, console, print_json, set_up_logging
from acidtest.cli.report import Plots, Reference, Tables, show_written
from acidtest.core.errors import AcidtestError, UnknownNameError
from acidtest.core.logs import log
from acidtest.core.suite import CROSS


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
    verbose: Verbose = 0,
    quiet: Quiet = False,
    seed: Seed = 0,
) -> None:
    """Compare runs: paired tests on the same rows, unpaired and stratified ones on different rows.

    Runs of one model on hans and hans/novel, in published and in fresh words, tell whether it has seen HANS.
    """
    set_up_logging(verbose, quiet)
    same = [folder for number, folder in enumerate(runs) if folder.resolve() in [r.resolve() for r in runs[:number]]]
    if same:
        raise AcidtestError(f"{same[0]} is given twice; compare different runs")
    finished = [api.finished_run(folder) for folder in runs]
    leaks = api.contaminations(finished, reference=reference or (), correction=correction)
    if leaks:
        found, why = api.differences(finished, correction=correction, seed=seed)
    else:
        found, why = api.compare(finished, correction=correction, seed=seed), ""
    factors = list(dict.fromkeys(contrast.factor for contrast in found if contrast.factor))
    for factor in by or ():
        if factor not in factors:
            raise UnknownNameError("factor", factor, factors, f" These runs have {', '.join(factors)} (--by)")
    page = api.comparison_report(
        finished, output, found=found, leaks=leaks, correction=correction, tables=tables, plots=plots
    )
    if why:
        log.warning("the runs are not compared with each other: %s", why)
    if plots and not found:
        log.warning("--plots: there are no differences to draw")
    written = {"comparison": page, "tables": tables, "plots": plots if found else None}
    if json:
        contrasts = [contrast.to_json() for contrast in found]
        paths = {name: str(path) for name, path in written.items() if path is not None}
        told = [leak.to_json() for leak in leaks]
        ties = [each.to_json() for each in api.tied_models(found)]
        lists = {"contrasts": contrasts, "contamination": told, "ties": ties}
        print_json({"schema": 1, "correction": correction, **lists, **paths})
        return
    shown = by or [factor for factor in factors if CROSS in factor]
    sizes = {one.family: one.family_tests for one in found if not one.factor or one.factor in shown}
    families = ", ".join(f"{family} ({size:,} test{'s' * (size != 1)})" for family, size in sizes.items())
    out = console()
    for leak in leaks:
        for part in api.contamination_tables(leak):
            out.print(part)
    for part in api.comparison_tables(found, by=shown):
        out.print(part)
    for tied in (each for each in api.tied_models(found) if len(each.rates) > 2):
        groups = "; ".join(" = ".join(group) for group in tied.groups)
        told_apart = f"not told apart at {tied.alpha:g}, adjusted"
        which = "Tied" if any(len(group) > 1 for group in tied.groups) else "None tied"
        out.print(f"{which} on {tied.what} ({told_apart}), best first: {groups}.", markup=False)
    if found:
        out.print(
            f"Differences are percentage points, second minus first. p is adjusted ({correction}) over all suites and "
            f"pairs of models: {families}. Detectable: the smallest difference these rows would show four times in "
            f"five. Factors: {', '.join(factors)} (--by).",
            style="dim",
        )
    show_written(written, json=False)
