"""Runs a model on suites into a folder of results, and reads such a folder again."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from acidtest.core.draws import key
from acidtest.core.errors import AcidtestError, FileError, LabelOrderError, list_some
from acidtest.core.escaping import escape_html, escape_terminal
from acidtest.core.files import LOCK, Lock, write_json, write_text
from acidtest.core.guests import guest_code
from acidtest.core.logs import log, log_to_file, note, stage
from acidtest.core.model import ChecksLabelOrder, CountsUsage, Model, Varies, files_read
from acidtest.core.run import FILES_READ, HEADER, JOURNAL, PREDICTIONS, SCHEMA, Header, ModelFacts, Run
from acidtest.core.serialise import to_json
from acidtest.core.structured import read_own_json
from acidtest.core.suite import CONTROL, Suite
from acidtest.version import __version__

if TYPE_CHECKING:
    from acidtest.core.document import Document, Finding
    from acidtest.core.estimate import Estimate
    from acidtest.evaluate.runner import Engine, Progress, TimeSpent
    from acidtest.studies.cue_profile import Profile
    from acidtest.workflows.results import RunResults

RESULTS, REPORT, LOG = "results.json", "report.html", "log.txt"
RUNS = "acidtest-runs"
"""The folder for runs that were not given one."""


@dataclass(frozen=True)
class Finished:
    """A run with its results and its folder; ``fresh`` is true if this call made it, false if it was read."""

    folder: Path
    run: Run
    scored: RunResults
    fresh: bool = True

    @cached_property
    def results(self) -> dict[str, Any]:
        """The results as plain values: the content of results.json."""
        content: dict[str, Any] = to_json(self.scored)
        return content

    def __str__(self) -> str:
        """Three lines: the model and its folder, the accuracies to know, and the headline."""
        known = {name: result for name, result in self.scored.suites.items() if result.overall.known}
        control = self.scored.untouched
        untouched = f"{100 * control.accuracy.value:.1f} % right on {control.name}" if control else "no untouched pairs"
        claims = self.scored.grounding.untouched.balanced_accuracy if self.scored.grounding else None
        if control is None and claims and claims.known:
            untouched = f"{100 * claims.value:.1f} % balanced accuracy on untouched claims"
        worst = min(known, key=lambda name: known[name].overall.value, default="")
        lowest = f", {100 * known[worst].overall.value:.1f} % on {worst}, its worst suite" if worst else ""
        header = self.run.header
        name = f"{header.name} ({header.model.name})" if header.name else header.model.name
        lines = (f"{name} in {self.folder}", f"{untouched}{lowest}", self.scored.headline)
        return "\n".join(map(escape_terminal, lines))

    def _repr_html_(self) -> str:
        """For notebooks: the headline, a line for each suite, and a link to the page."""
        *lines, headline = map(escape_html, str(self).splitlines())
        rows = "".join(
            f"<tr><td>{escape_html(name)}</td><td style='text-align:right'>{100 * result.overall.value:.1f}</td></tr>"
            for name, result in self.scored.suites.items()
            if result.overall.known
        )
        page = self.folder / REPORT
        link = f"<p><a href='{escape_html(page.resolve().as_uri())}'>report</a></p>" if page.is_file() else ""
        table = f"<table><tr><th>suite</th><th>accuracy, %</th></tr>{rows}</table>"
        return f"<p><b>{headline}</b></p><p>{'<br>'.join(lines)}</p>{table}{link}"

    @property
    def profile(self) -> Profile | None:
        """What moves the model's answers; None if the run does not hold suite cues."""
        return self.scored.profile

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What the numbers show, gravest first."""
        return self.scored.diagnosis

    def accuracy(self, suite: str) -> Estimate:
        """Accuracy on a suite of the run."""
        if suite not in self.scored.suites:
            raise AcidtestError(f"the run has no suite {suite!r}; it has {', '.join(self.scored.suites)}")
        return self.scored.suites[suite].overall

    @cached_property
    def document(self) -> Document:
        """The scores without example rows, for the terminal and the report."""
        from acidtest.studies.scores import ScoresResult
        from acidtest.studies.scores.document import describe_scores

        return describe_scores(ScoresResult({self.run.header.model.name: self.scored.scores(self.run)}))


@dataclass(frozen=True)
class Job:
    """Everything that determines a run, except for its folder."""

    model: Model
    spec: str
    suites: Sequence[Suite]
    settings: Mapping[str, Any]
    engine: Engine | None = None
    """The engine that asks the model; None is this process."""
    cache: Path | None = None
    """The folder of answers that runs share, if any."""
    request: str = ""
    """Hash of the request, computed before suites are made; empty where equal requests could give different suites."""
    name: str = ""
    """What the user calls the run; it changes no result."""
    options: Mapping[str, str] = field(default_factory=dict)
    """The options that name the suites, for commands in messages."""

    @property
    def key(self) -> str:
        """A hash of all that could change the results."""
        cards = [json.dumps(suite.card.to_json(), sort_keys=True) for suite in self.suites]
        settings = json.dumps([dict(self.settings), __version__])
        return f"{key(settings, self.model.name, self.model.fingerprint or '', *cards):016x}"

    @property
    def known(self) -> bool:
        """Whether the model has a fingerprint; only then can earlier answers be reused."""
        return self.model.fingerprint is not None


def default_folder(job: Job, stem: Path, *, fresh: bool = False) -> Path:
    """The folder of a job that was not given one.

    A model with a fingerprint uses ``stem`` every time. One without may differ from an earlier one of its name, so it
    gets a new folder each time: the first of ``stem``, ``stem-2``, ``stem-3`` … that this process creates.
    """
    if job.known and (fresh or not _lost_fingerprint(stem)):
        return stem
    stem.parent.mkdir(parents=True, exist_ok=True)
    folder, number = stem, 1
    while True:
        try:
            folder.mkdir()
            return folder
        except FileExistsError:
            number += 1
            folder = stem.with_name(f"{stem.name}-{number}")


def _lost_fingerprint(folder: Path) -> bool:
    """Whether a folder holds a finished run whose model lost its fingerprint while it was asked."""
    if not (folder / HEADER).is_file():
        return False
    return read_own_json(folder / HEADER, Header, SCHEMA).model.fingerprint is None


def missing_folders(folder: Path) -> tuple[Path, ...]:
    """The folder and those above it that are not there yet, innermost first."""
    return tuple(path for path in (folder, *folder.parents) if not path.exists())


def run_job(
    job: Job,
    folder: Path,
    *,
    created: Sequence[Path] = (),
    fresh: bool = False,
    page: bool = True,
    progress: Progress | None = None,
) -> Finished:
    """Read, continue or make the run of a job in a folder; ``fresh`` makes it anew in any case.

    A start that fails before the first answer leaves nothing behind: its files and the folders ``created`` for it go.
    """
    earlier = None if fresh else _find_earlier(folder, job, page=page)
    if earlier is not None:
        check_finished(earlier, job.model)
        return earlier
    from acidtest.evaluate.runner import TimeSpent

    _warn_of_other_files(folder)
    spent = TimeSpent()
    present = [name for name in _START_FILES if os.path.lexists(folder / name)]
    locked = False
    try:
        with Lock(folder), log_to_file(folder / LOG):
            locked = True
            return _run_locked(job, folder, spent, fresh=fresh, page=page, progress=progress)
    except BaseException as error:
        # Without the lock, the files may be those of another process.
        if locked and (not spent.asked or isinstance(error, LabelOrderError)) and not (folder / PREDICTIONS).exists():
            _remove_start(folder, present, created)
        raise


_START_FILES = (JOURNAL, FILES_READ, LOG, LOCK)
"""The files that a run has before its first answer."""


def _warn_of_other_files(folder: Path) -> None:
    """Warn where a new run is written into a folder that holds something else."""
    known = (*_START_FILES, PREDICTIONS, RESULTS, REPORT)
    if folder.is_dir() and not (folder / HEADER).exists():
        others = sorted(path.name for path in folder.iterdir() if path.name not in known)
        if others:
            log.warning("%s: the run is written beside other files there: %s", folder, list_some(others, 3))


def _remove_start(folder: Path, present: Sequence[str], created: Sequence[Path]) -> None:
    """Remove the files that were not ``present`` before, and the ``created`` folders that are empty then."""
    for name in _START_FILES:
        if name not in present:
            with suppress(OSError):
                (folder / name).unlink()
    for path in created:
        with suppress(OSError):
            path.rmdir()


def _run_locked(
    job: Job, folder: Path, spent: TimeSpent, *, fresh: bool, page: bool, progress: Progress | None
) -> Finished:
    # Another process may have finished the run between the first check and the lock.
    earlier = None if fresh else _find_earlier(folder, job, page=page)
    if earlier is not None:
        return earlier
    start = time.perf_counter()
    if fresh or not job.known:
        _remove_journal(folder)
    header = Header(
        model=ModelFacts(job.spec, job.model.name, job.model.fingerprint),
        suites={suite.name: suite.card for suite in job.suites},
        settings=job.settings,
        key=job.key,
        request=job.request,
        versions=versions(),
        notes=tuple(job.model.notes),
        started=_now(),
        name=job.name,
    )
    run = _evaluate(job, header, folder, spent, fresh=fresh, progress=progress)
    return _write_results(run, folder, {"model": time.perf_counter() - start}, page=page)


def rename(finished: Finished, name: str) -> Finished:
    """The finished run with a name, which is written to its folder if it is a new one; no name changes nothing."""
    if name in ("", finished.run.header.name):
        return finished
    run = replace(finished.run, header=replace(finished.run.header, name=name))
    with Lock(finished.folder):
        run.write_header(finished.folder)
    return replace(finished, run=run)


def find_finished(request: str, folders: Iterable[Path], *, page: bool = True) -> Finished | None:
    """The finished run of a request in the first folder that has it, found without making suites; None without one."""
    for folder in folders:
        # ``>= page``: the report must be there only if a page is asked for.
        if request and (folder / HEADER).is_file() and (folder / REPORT).is_file() >= page:
            try:
                header = read_own_json(folder / HEADER, Header, SCHEMA)
            except FileError as error:
                # A broken run in another folder is no reason to stop; in the folder of this run it is refused later.
                log.info("%s", error)
                continue
            if header.request == request and header.model.fingerprint is not None:
                log.info("this run was finished before (%s); --fresh redoes it", header.finished)
                return finished_run(folder)
    return None


def finished_run(folder: str | Path) -> Finished:
    """The finished run in a folder."""
    from acidtest.workflows.results import compute_results, read_results

    folder = Path(folder)
    run = Run.read(folder)
    if (folder / RESULTS).is_file():
        return Finished(folder, run, read_results(folder / RESULTS, run), fresh=False)
    return Finished(folder, run, compute_results(run), fresh=False)


def _evaluate(
    job: Job, header: Header, folder: Path, spent: TimeSpent, *, fresh: bool, progress: Progress | None
) -> Run:
    from acidtest.evaluate.answers import AnswerFile, AnswerTable, make_plan, model_key, predictions_frame
    from acidtest.evaluate.repetitions import refuse_other_model, repeat_predictions
    from acidtest.evaluate.runner import answer_memory, collect_answers, usage_summary

    model = job.model
    if job.known:
        # If the process stops after this, the journal marks the folder as an unfinished run of this model.
        AnswerFile(folder / JOURNAL, model_key(model)).begin()
    plan = make_plan(model, job.suites)
    log.info("%d rows, %d distinct inputs, %d batches", plan.rows, len(plan.keys), plan.batches)
    memory = answer_memory(model, folder / JOURNAL, job.cache, forget=fresh)

    def check(earlier: AnswerTable) -> None:
        if job.engine is None:
            refuse_other_model(model, repeat_predictions(model, plan, earlier), "an earlier run")

    answers = collect_answers(
        model, plan, memory=memory, engine=job.engine, progress=progress, spent=spent, check=check
    )
    facts = replace(
        header.model, fingerprint=model.fingerprint, resolution=model.resolution, probabilities=model.probabilities
    )
    frame = predictions_frame(job.suites, answers, model=facts, collapse=header.collapse)
    _check_label_order(job, Run(replace(header, model=facts), frame))
    # Predictions of an earlier run in the folder are replaced next, so its header must not stay.
    (folder / HEADER).unlink(missing_ok=True)
    usage = usage_summary(job.engine if isinstance(job.engine, CountsUsage) else model, spent)
    if job.engine is None and spent.asked and _is_repeated(model):
        repetition = repeat_predictions(model, plan, answers)
        if repetition.changes:
            usage |= {"again_compared": float(repetition.compared), "again_changes": float(repetition.changes)}
    run = Run(replace(header, model=facts, usage=usage), frame).write_predictions(folder)
    suite_counts = run.frame.lazy().group_by("suite").agg(pl.col("answer").is_null().sum(), pl.col("truncated").sum())
    counts = run.collected(suite_counts)
    unanswered, truncated = (dict(counts.select("suite", name).iter_rows()) for name in ("answer", "truncated"))
    if cut := sum(truncated.values()):
        note("%s: %s of %s pairs were too long for it and were cut", model.name, f"{cut:,}", f"{plan.rows:,}")
    read = {_path_digest(path): digest for path, digest in files_read(model).items()}
    return replace(run, header=replace(run.header, unanswered=unanswered, truncated=truncated, files_read=read))


MAX_ROWS_FOR_ORDER = 100_000
"""The most rows of a suite on which the order of a model's labels is tested; of more, every k-th is used."""


def _check_label_order(job: Job, run: Run) -> None:
    """Let a model compare the order of its labels with gold: that of the user's files, and of original pairs."""
    model, suites = job.model, job.suites
    if not isinstance(model, ChecksLabelOrder):
        return
    columns = ("label", "group", "p_entailment", "p_neutral", "p_contradiction")

    def rows(suite: Suite) -> pl.DataFrame:
        step = -(-suite.card.rows // MAX_ROWS_FOR_ORDER)
        return run.collected(run.lazy(suite.name).select("premise", "hypothesis", *columns).gather_every(max(step, 1)))

    def check(rows: pl.DataFrame, name: str, *, decisive: bool) -> None:
        with guest_code():
            model.check_label_order(rows, suite=name, options=job.options, decisive=decisive)

    controls = [suite for suite in suites if suite.name.endswith(CONTROL)]
    for suite in suites:
        if suite.origin is not None and not suite.name.endswith(CONTROL):
            check(rows(suite), str(suite.origin), decisive=not suite.misleading)
    if controls:
        # Suites made from one corpus have the same original pairs.
        pairs = pl.concat(map(rows, controls)).unique(["premise", "hypothesis"], maintain_order=True)
        corpora = {str(suite.origin) for suite in controls if suite.origin is not None}
        names = ",".join(sorted(corpora) or [suite.name for suite in suites if suite.control])
        check(pairs, names, decisive=not any(suite.misleading for suite in controls))


def _write_results(run: Run, folder: Path, timings: dict[str, float], *, page: bool) -> Finished:
    from acidtest.workflows.results import compute_results

    start = time.perf_counter()
    stage("analysing the answers of %s", run.header.model.name)
    results = compute_results(run)
    timings["analysis"] = time.perf_counter() - start
    rounded = {name: round(seconds, 3) for name, seconds in timings.items()}
    run = replace(run, header=replace(run.header, timings=rounded, finished=_now()))
    finished = Finished(folder, run, results)
    write_json(folder / RESULTS, finished.results)
    if page:
        stage("writing the report")
        _write_report(finished)
    run.write_header(folder)
    _remove_journal(folder)
    log.info("finished: %s", folder)
    return finished


def _find_earlier(folder: Path, job: Job, *, page: bool) -> Finished | None:
    """The finished run of a job in a folder, None if it is not finished; raises if the folder holds anything else."""
    if not (folder / HEADER).exists():
        if not job.known and (folder / JOURNAL).exists():
            raise FileError(folder, "holds an unfinished run; choose another -o, or add --fresh to start over")
        files = [name for name in (RESULTS, REPORT, PREDICTIONS) if (folder / name).exists()]
        if files and not (folder / JOURNAL).exists():
            raise FileError(
                folder, f"holds {', '.join(files)} but no run; choose another -o, or add --fresh to write over them"
            )
        return None
    earlier = finished_run(folder)
    if earlier.run.header.key != job.key:
        raise FileError(
            folder,
            f"holds another run ({earlier.run.header.model.name} on {', '.join(earlier.run.header.suites)}, "
            f"{earlier.run.header.finished}); choose another -o, or add --fresh to replace it",
        )
    if not job.known or earlier.run.header.model.fingerprint is None:
        raise FileError(
            folder,
            f"holds a run of {earlier.run.header.model.name}, {earlier.run.header.finished}; that model has no "
            f"fingerprint, so it cannot be recognised: choose another -o, or add --fresh to replace it",
        )
    if page and not (folder / REPORT).exists():
        _write_report(earlier)
    log.info("this run was finished before (%s); --fresh redoes it", earlier.run.header.finished)
    return earlier


def _remove_journal(folder: Path) -> None:
    for name in (JOURNAL, FILES_READ):
        (folder / name).unlink(missing_ok=True)


def check_finished(finished: Finished, model: Model) -> None:
    """Evaluate a model again on a few pairs of its finished run; raises if it was changed since.

    Only a model whose fingerprint may miss a change is evaluated, and no server, which may cost money or be offline.
    """
    if not _is_repeated(model):
        return
    from acidtest.evaluate.answers import AnswerTable, make_plan
    from acidtest.evaluate.repetitions import refuse_other_model, repeat_predictions

    run = finished.run
    suites = [Suite(run.lazy(name), card) for name, card in run.header.suites.items()]
    plan = make_plan(model, suites)
    table = AnswerTable(plan)

    def recall(rows: pl.DataFrame) -> None:
        values = rows.select("p_entailment", "p_neutral", "p_contradiction").to_numpy().astype(np.float32)
        table.put(plan.digests(rows), values, np.zeros(rows.height, np.bool_))

    for suite in suites:
        run.visit(suite.frame, recall)
    repetition = repeat_predictions(model, plan, table)
    folder, here = finished.folder, Path.cwd()
    shown = folder.relative_to(here) if folder.is_relative_to(here) else folder
    refuse_other_model(model, repetition, f"the finished run {shown}")
    for path, digest in files_read(model).items():
        if run.header.files_read.get(_path_digest(path), digest) != digest:
            raise AcidtestError(
                f"{model.name} reads {path}, which has changed since the finished run {shown}; restore it, or add "
                f"--fresh to evaluate all pairs anew"
            )


def _path_digest(path: str) -> str:
    """Names a file in run.json without its path, which others who read the run need not know."""
    return f"{key(path):016x}"


def _is_repeated(model: Model) -> bool:
    """Whether a model is evaluated again on a few pairs, also at the end of a run that was not interrupted.

    A fingerprint of its own covers all that a model depends on. Servers may cost money or be offline.
    """
    return model.keep == "run" and not (isinstance(model, Varies) and model.varies)


def _write_report(finished: Finished) -> None:
    from acidtest.render.html import render_page
    from acidtest.workflows.reporting import report_document

    write_text(finished.folder / REPORT, render_page(report_document([finished])))


def versions() -> dict[str, str]:
    """The versions of what a run depends on."""
    return {
        "acidtest": __version__,
        "python": platform.python_version(),
        "polars": pl.__version__,
        "numpy": np.__version__,
    }


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
