"""Scores logs of lm-evaluation-harness and Inspect: the suites are made again, and answers matched by id."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from acidtest.core.errors import AcidtestError, FileError, list_some
from acidtest.core.files import chunks
from acidtest.core.logs import note
from acidtest.core.suite import Suite
from acidtest.suites.catalogue import SUITES
from acidtest.workflows.batteries import Battery
from acidtest.workflows.evaluations import folder_for, run
from acidtest.workflows.runs import Finished

if TYPE_CHECKING:
    from acidtest.models.answers import Missing
    from acidtest.models.harness_logs import HarnessLog


def is_harness_log(path: str | Path) -> bool:
    """Whether a path is a log of a harness, by its beginning, or a folder, which can only hold some."""
    from acidtest.models.harness_logs import is_inspect_log, is_samples_file

    path = Path(path)
    return path.is_dir() or is_inspect_log(path) or is_samples_file(path)


def score_logs(
    path: str | Path,
    *,
    suite: str | Suite | Battery | None = None,
    output: str | Path | None = None,
    name: str = "",
    collapse: str = "argmax",
    missing: str = "refuse",
    fresh: bool = False,
    page: bool = True,
) -> list[Finished]:
    """Make a run of each model from the logs of lm-evaluation-harness or Inspect in a file or a folder.

    The suites of a model are one run, with controls where these were asked too. Of several logs of one task, the last
    counts. Pairs that the harness was not asked, as under its own ``--limit``, are left out, or with ``missing``
    unanswered count as wrong; a log that broke off is refused without it. ``suite`` stands for the one that the log
    names, where that cannot be made again. ``page`` false writes no report.
    """
    from acidtest.models.answers import parse_missing
    from acidtest.models.harness_logs import HarnessModel

    systems, unasked = _by_model(_read_logs(Path(path))), parse_missing(missing)
    if name and len(systems) > 1:
        raise AcidtestError(f"--name names one run, but {path} has the logs of {', '.join(systems)}")
    finished = []
    for system, logs in systems.items():
        if unasked == "refuse":
            _refuse_unfinished(logs)
        suites = _load_suites(logs, given=suite, missing=unasked)
        digest = hashlib.blake2b(missing.encode(), digest_size=8)
        for logged in logs:
            for piece in chunks(logged.path):
                digest.update(piece)
        folder = folder_for(system, output, list(systems))
        model, battery = HarnessModel(logs, digest.hexdigest()), _battery(suites, logs)
        finished.append(run(model, battery, output=folder, name=name, collapse=collapse, fresh=fresh, page=page))
    return finished


def _refuse_unfinished(logs: Sequence[HarnessLog]) -> None:
    for logged in logs:
        if logged.unfinished:
            remedy = "let Inspect finish it (inspect eval-retry), or count the others as wrong: --missing unanswered"
            raise FileError(logged.path, f"{logged.unfinished}; {remedy}")


def _read_logs(path: Path) -> list[HarnessLog]:
    from acidtest.models.harness_logs import (
        ENDING,
        SAMPLES,
        is_inspect_log,
        is_samples_file,
        read_inspect_log,
        read_samples,
    )

    if not path.is_dir():
        return [read_samples(path) if is_samples_file(path) else read_inspect_log(path)]
    files = sorted(file for file in path.rglob("*") if file.is_file())
    logs = [read_samples(file) for file in files if file.name.startswith(SAMPLES) and is_samples_file(file)]
    logs += [read_inspect_log(file) for file in files if is_inspect_log(file)]
    if not logs:
        expected = f"{SAMPLES}….jsonl of lm-evaluation-harness (--log_samples) or …{ENDING} of Inspect"
        raise FileError(path, f"has no logs of acidtest's tasks; {expected} was expected")
    return logs


def _by_model(logs: Sequence[HarnessLog]) -> dict[str, list[HarnessLog]]:
    """The last log of every task, by model."""
    latest: dict[tuple[str, str, bool], HarnessLog] = {}
    for logged in sorted(logs, key=lambda logged: logged.created):
        key = (logged.name, logged.recipe.suite, logged.recipe.control)
        if key in latest:
            note("%s: an earlier log of %s is left aside: %s", logged.path, logged.task, latest[key].path)
        latest[key] = logged
    systems: dict[str, list[HarnessLog]] = {}
    for logged in latest.values():
        systems.setdefault(logged.name, []).append(logged)
    return systems


def _load_suites(logs: Sequence[HarnessLog], *, given: str | Suite | Battery | None, missing: Missing) -> list[Suite]:
    """The suites that logs answer, each with its control where that was asked as well."""
    asked = [logged for logged in logs if not logged.recipe.control]
    controls = {logged.recipe.suite: logged for logged in logs if logged.recipe.control}
    if not asked:
        raise FileError(logs[0].path, "is the log of a control; score it with that of its suite, in one folder")
    if given is not None and len(asked) > 1:
        tasks = ", ".join(logged.task for logged in asked)
        raise AcidtestError(f"--suite is one suite, but there are logs of several: {tasks}; score them one at a time")
    suites = []
    for logged in asked:
        whole = _make_again(logged) if given is None else _only_suite(given)
        suite = _rows_asked(whole, logged, missing=missing)
        suites.append(replace(suite, control=_control_asked(suite, whole, controls.get(logged.recipe.suite))))
    return suites


def _battery(suites: Sequence[Suite], logs: Sequence[HarnessLog]) -> Battery:
    """The suites with the limit and the seed of the tasks, which signatures show."""
    limits, seed = {logged.recipe.limit for logged in logs}, logs[0].recipe.seed
    battery = Battery(suites, limit=limits.pop() if len(limits) == 1 else None, seed=seed)
    # A suite whose pairs stay together may have a few rows more than the limit, and is not to lose them.
    cut = [used.card.fingerprint for used in battery.used[: len(suites)]]
    return battery if cut == [suite.card.fingerprint for suite in suites] else Battery(suites, seed=seed)


def _only_suite(given: str | Suite | Battery) -> Suite:
    battery = given if isinstance(given, Battery) else Battery([given])
    if len(battery.whole) != 1:
        names = ", ".join(suite.name for suite in battery.whole)
        raise AcidtestError(f"--suite is one suite, but these are several: {names}")
    return battery.whole[0]


def _make_again(logged: HarnessLog) -> Suite:
    """The suite of a log, with its control; raises where its rows are not those that were asked."""
    from acidtest.io.tables import ENDINGS
    from acidtest.workflows.harness_suites import make_suite

    recipe = logged.recipe
    # What a log names is not run: a file of suites may hold code.
    if recipe.suite not in SUITES:
        problem = f"asks {recipe.suite!r}, which is no suite of the catalogue; give it with --suite FILE"
        raise FileError(logged.path, problem)
    if recipe.source and not recipe.source.lower().endswith(ENDINGS):
        problem = f"asks pairs made from {recipe.source!r}; say so yourself: --suite {recipe.suite} --from FILE"
        raise FileError(logged.path, problem)
    suite = make_suite(recipe)
    if suite.card.fingerprint != recipe.fingerprint:
        raise FileError(
            logged.path,
            f"suite {recipe.suite!r} with seed {recipe.seed} has other rows in this version of acidtest than were "
            f"asked ({suite.card.fingerprint}, not {recipe.fingerprint}); give the file of the suite: --suite FILE",
        )
    return suite


def _rows_asked(suite: Suite, logged: HarnessLog, *, missing: Missing) -> Suite:
    """The suite with only the rows in a log, and without its control."""
    ids = suite.frame.select("id").collect().to_series()
    known = set(ids)
    unknown = [identifier for identifier in logged.rows if identifier not in known]
    if unknown:
        problem = f"{len(unknown):,} ids are not in suite {suite.name!r}: {list_some(unknown)}"
        raise FileError(logged.path, f"{problem}; was it made with another seed or other options?")
    if len(logged.rows) == len(ids) or missing == "unanswered":
        return replace(suite, control=None)
    counts = (logged.path, len(logged.rows), len(ids), suite.name)
    note("%s: %d of %d pairs of %s were asked; the others are left out", *counts)
    asked = pl.col("id").is_in(pl.Series(list(logged.rows)).implode())
    return replace(suite, frame=suite.frame.filter(asked), control=None).sealed()


def _control_asked(suite: Suite, whole: Suite, logged: HarnessLog | None) -> Suite | None:
    """The control of a suite, where all its rows that the suite was made from were asked."""
    if whole.control is None:
        return None
    if logged is None:
        note("%s was asked without its control; what needs both is left out", suite.name)
        return None
    bases = suite.frame.select("base_id").collect().to_series().drop_nulls().unique()
    absent = [base for base in bases if base not in logged.rows]
    if absent:
        note("%s: the control lacks %d of %d pairs, and is left out", logged.path, len(absent), len(bases))
        return None
    return replace(whole.control, frame=whole.control.frame.filter(pl.col("id").is_in(bases.implode()))).sealed()
