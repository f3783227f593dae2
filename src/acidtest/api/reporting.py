"""What runs say, alone and beside each other: tables, tests and pages."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acidtest.core.draws import key
from acidtest.core.errors import AcidtestError
from acidtest.core.files import is_page, refuse_to_lose, write_text
from acidtest.core.logs import stage
from acidtest.core.run import Run
from acidtest.workflows.evaluations import RUNS, AnyRun, run_of
from acidtest.workflows.runs import REPORT, Finished, finished_run

if TYPE_CHECKING:
    from rich.console import RenderableType

    from acidtest.reports.html import Entry
    from acidtest.studies.comparison import Contrast
    from acidtest.studies.contamination import Contamination
    from acidtest.studies.ties import Ties


def compare(runs: Sequence[AnyRun], *, correction: str = "holm", seed: int = 0) -> list[Contrast]:
    """Paired tests between runs on the same rows, unpaired and stratified ones on different rows."""
    from acidtest.studies.comparison import contrasts

    return contrasts([run_of(each) for each in runs], correction=correction, seed=seed)


def differences(
    runs: Sequence[AnyRun],
    *,
    correction: str = "holm",
    seed: int = 0,
    every_factor: bool = True,
) -> tuple[list[Contrast], str]:
    """As ``compare``, for whom differences are not all there is to say: none, and why, where runs cannot be compared.

    Tests by every factor take minutes where models are many; without ``every_factor`` only what suites cross is tested.
    """
    from acidtest.studies.comparison import contrasts

    if len(runs) < 2:
        return [], ""
    try:
        found = contrasts([run_of(each) for each in runs], correction=correction, seed=seed, every_factor=every_factor)
    except AcidtestError as error:
        return [], str(error)
    return found, ""


def tied_models(found: Sequence[Contrast], *, alpha: float = 0.05) -> list[Ties]:
    """For each suite the groups of models that the tests of ``compare`` do not tell apart."""
    from acidtest.studies.ties import tied_models as tied

    return tied(found, alpha=alpha)


def contaminations(
    runs: Sequence[AnyRun],
    *,
    reference: Sequence[AnyRun] = (),
    correction: str = "holm",
) -> list[Contamination]:
    """Whether models have seen HANS, for each whose runs hold it and hans/novel in published and in fresh words.

    ``reference`` are runs of a model known to be clean; with them, a model that cannot be judged is an error.
    """
    from acidtest.studies.contamination import contamination, holds_the_four

    clean = [run_of(each) for each in reference]
    known_clean = {run.header.model.signature for run in clean}
    own = dict[tuple[str, int], list[Run]]()
    for number, run in enumerate(map(run_of, runs), 1):
        facts = run.header.model
        if facts.signature not in known_clean:
            # Without a fingerprint a name says little: runs that need no other are not put together.
            alone = facts.fingerprint is None and holds_the_four([run])
            own.setdefault((facts.signature, number if alone else 0), []).append(run)
    judged = [held for held in own.values() if clean or holds_the_four(held)]
    return [contamination(held, reference=clean, correction=correction) for held in judged]


def contamination_tables(leak: Contamination) -> list[RenderableType]:
    """Contamination as a person reads it on a terminal."""
    from acidtest.reports import tables

    return tables.contamination_tables(leak.to_json())


def comparison_tables(found: Sequence[Contrast], *, by: Collection[str] = ()) -> list[RenderableType]:
    """Contrasts as tables for the terminal: whole suites, and the factors asked for."""
    from acidtest.reports import tables

    return tables.comparison_tables(found, by=by)


def scorecard(computed: Mapping[str, Any]) -> list[RenderableType]:
    """Results as a person reads them on a terminal."""
    from acidtest.reports import tables

    return tables.scorecard(computed)


def report(
    runs: str | Path | Finished | Sequence[str | Path | Finished],
    output: str | Path,
    *,
    reference: Sequence[AnyRun] = (),
    tables: str | Path | None = None,
    plots: str | Path | None = None,
) -> Path:
    """One self-contained page for one or several finished runs; a file that is no report is not overwritten.

    Several runs are compared too, on whole suites and on what these cross. A model whose runs hold the four suites of
    ``contaminations`` gets that section; ``reference`` is for it. ``tables`` and ``plots`` are folders for the tables
    as CSV and LaTeX and the charts as SVG and PNG.
    """
    from acidtest.reports import exports
    from acidtest.reports.html import page

    several = [runs] if isinstance(runs, str | Path | Finished) else runs
    entries = _entries(several)
    if len(entries) > 1:
        stage("comparing %d runs", len(entries))
    output = _own_page(output)
    found, why = differences([entry.run for entry in entries], every_factor=False)
    leaks = [leak.to_json() for leak in contaminations([entry.run for entry in entries], reference=reference)]
    stage("writing %s", output)
    write_text(output, page(entries, contrasts=found, not_compared=why, contamination=leaks))
    if tables is not None:
        exports.write_tables(entries, found, tables, leaks=leaks)
    if plots is not None:
        stage("drawing the charts in %s", plots)
        exports.write_plots(entries, found, plots)
    return output


def comparison_report(
    runs: Sequence[str | Path | Finished],
    output: str | Path | None = None,
    *,
    found: Sequence[Contrast] | None = None,
    leaks: Sequence[Contamination] = (),
    correction: str = "holm",
    seed: int = 0,
    tables: str | Path | None = None,
    plots: str | Path | None = None,
) -> Path | None:
    """One self-contained page about the differences between runs, when asked for, and their tables and charts.

    ``found`` are the contrasts of these runs, where they are known already, ``leaks`` what ``contaminations`` gave.
    """
    from acidtest.reports import exports
    from acidtest.reports.comparison_page import comparison_page

    entries = _entries(runs)
    page = None if output is None else _own_page(output)
    contrasts = compare([entry.run for entry in entries], correction=correction, seed=seed) if found is None else found
    told = [leak.to_json() for leak in leaks]
    if page is not None:
        write_text(page, comparison_page(entries, contrasts, correction=correction, contamination=told))
    if tables is not None:
        exports.write_comparison_tables(entries, contrasts, tables, leaks=told)
    if plots is not None:
        exports.write_comparison_plots(entries, contrasts, plots)
    return page


def joint_report(finished: Sequence[Finished], output: str | Path | None) -> Path:
    """The page for several models that were run together, beside their folders."""
    folders = [each.folder for each in finished]
    name = f"joint-{key(*map(str, folders)):016x}"[:14] + ".html" if output is None else REPORT
    return report(finished, Path(RUNS if output is None else output) / name)


def _entries(runs: Sequence[str | Path | Finished]) -> list[Entry]:
    from acidtest.reports.html import Entry

    finished = [each if isinstance(each, Finished) else finished_run(each) for each in runs]
    return [Entry(each.run, each.results) for each in finished]


def _own_page(path: str | Path) -> Path:
    """The path, once it is known to be free or to hold a page of ours."""
    refuse_to_lose(path, is_ours=is_page)
    return Path(path)
