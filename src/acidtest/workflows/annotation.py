"""Annotation projects: set up, served to annotators, exported and imported."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from acidtest.core.errors import AcidtestError, FileError, import_optional
from acidtest.core.estimate import signature
from acidtest.core.logs import log, stage
from acidtest.core.settings import pass_request
from acidtest.workflows.batteries import Reading, generate, load

if TYPE_CHECKING:
    from acidtest.annotate.answers import Answers
    from acidtest.annotate.items import AnnotationPlan, Item
    from acidtest.annotate.projects import Project
    from acidtest.annotate.questionnaires import Questionnaire
    from acidtest.annotate.store import Store
    from acidtest.core.document import Document

_SQLITE = b"SQLite format 3\0"

LOOPBACK, PORT = "127.0.0.1", 8420


@dataclass(frozen=True)
class PlanOptions:
    """A plan, and what the caller changes in it; None leaves a value as the plan has it."""

    plan: str | None = None
    per_item: int | None = None
    overlap: int | None = None
    per_annotator: int | None = None
    controls: str | Path | None = None
    fail_after: int | None = None
    expires: float | None = None
    finish: bool | None = None
    reopen: bool | None = None

    def load_plan(self) -> AnnotationPlan:
        from acidtest.annotate.items import AnnotationPlan, check_plan, load_plan

        changes = {name: value for name, value in self.__dict__.items() if name != "plan" and value is not None}
        changes |= {"controls": str(self.controls)} if self.controls is not None else {}
        plan = replace(load_plan(self.plan) if self.plan else AnnotationPlan(), **changes)
        check_plan(plan)
        return plan


def open_store(url: str) -> Store:
    """The store at a URL or in a file: SQLite or PostgreSQL."""
    import_optional("sqlalchemy", extra="annotate", work="annotation")
    from acidtest.annotate.store import Store

    return Store(url)


def is_store(name: str | Path) -> bool:
    """Whether a name means a store rather than a table in a file."""
    if "://" in str(name) or not Path(name).is_file():
        return "://" in str(name)
    with Path(name).open("rb") as file:
        return file.read(len(_SQLITE)) == _SQLITE


def load_stored_answers(url: str) -> tuple[Questionnaire, Answers]:
    """The questionnaire of the project in a store, and its current answers."""
    project = annotation_project(store=url)
    from acidtest.annotate.exchange import load_answers

    return project.questionnaire, load_answers(project, project.store.url if "://" in url else Path(url).name)


def progress_document(overview: Mapping[str, Any]) -> Document:
    """The progress of a project: the number of items and judgements, and a row for each annotator."""
    from acidtest.core.document import Column, Document, Row, Table, describe_count

    checks = f", {overview['controls']:,} controls" if overview["controls"] else ""
    wanted = f" of {overview['wanted']:,}" if overview["wanted"] else ""
    excluded = f", and {overview['excluded']:,} of excluded people" if overview["excluded"] else ""
    judgements = f"{overview['judgements']:,}{wanted} judgements{excluded}"
    counts = tuple(Column(name, "count") for name in ("answered", "of", "controls", "failed"))
    columns = (*counts, Column("seconds each", "seconds"), Column("excluded", "text"))
    rows = []
    for person in overview["annotators"]:
        done, failed = (person["done"], person["total"], person["controls"]), len(person["failed_controls"])
        rows.append(Row(person["annotator"], (*done, failed, person["mean_seconds"], person["reason"] or "")))
    headline = f"{describe_count(overview['items'], 'item')}{checks}; {judgements}."
    table = Table("progress", "", columns, tuple(rows), "annotator")
    return Document("acidtest annotate", headline, (table,) if rows else ())


def annotation_project(
    data: str | Path | pl.DataFrame | None = None,
    *,
    store: str,
    questionnaire: str | Path | None = None,
    options: PlanOptions | None = None,
    reading: Reading | None = None,
    seed: int = 0,
) -> Project:
    """The project in a store: the existing one, or a new one with items from ``data``.

    A store with another project (other data, questionnaire, plan or seed) is refused.
    """
    database = open_store(store)
    from acidtest.annotate.projects import Project
    from acidtest.annotate.store import ProjectSetup

    options = options or PlanOptions()
    if database.exists and data is None and options == PlanOptions():
        _refuse_other_questionnaire(database, questionnaire)
        return Project(database)
    plan = options.load_plan()
    if options.plan:
        pass_request(str(options.plan), plan.suite)
    asked, text = _load_questionnaire(questionnaire or plan.questionnaire)
    if database.exists:
        _refuse_other_questionnaire(database, questionnaire or plan.questionnaire)
    items = _load_items(data, asked, plan, reading=reading, seed=seed)
    setup = ProjectSetup(asked, text, replace(plan, controls=Path(plan.controls).name), items, seed)
    if not database.exists:
        stage("setting up %s items", f"{len(items):,}")
        with database.writing() as connection:
            database.set_up(connection, setup, version=signature("annotate"), at=time.time())
    elif database.project().fingerprint != setup.fingerprint:
        raise AcidtestError(
            f"{database.url} was set up with other data, another plan or another seed; give the same again, or leave "
            "DATA and the plan out to continue the project; for a new project name another --store"
        )
    return Project(database)


def serve_annotation(
    project: Project,
    *,
    host: str = LOOPBACK,
    port: int = PORT,
    token: str = "",
    admin_token: str = "",
    allowed_hosts: Sequence[str] = (),
    announce: Callable[[Mapping[str, str]], None] | None = None,
) -> None:
    """Serve a project to annotators until interrupted; ``announce`` gets the links once the port is open."""
    import_optional("fastapi", "uvicorn", extra="annotate", work="annotation")
    import socket

    from acidtest.annotate.app import annotation_app, annotation_server
    from acidtest.annotate.guards import Guard

    guard = Guard.create(host, allowed=tuple(allowed_hosts), token=token, admin_token=admin_token)
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        problem = error.strerror or error
        raise AcidtestError(f"cannot listen on {host}:{port}: {problem}; choose another --host or --port") from error
    listener.listen(2048)
    if announce:
        base = _base_url(guard.host, listener.getsockname()[1])
        links = {
            "page": base + (f"#token={guard.token}" if guard.token else ""),
            "progress": f"{base}api/admin",
            "token": guard.token,
            "admin_token": guard.admin_token,
        }
        announce({name: link for name, link in links.items() if link})
    annotation_server(annotation_app(project, guard)).run(sockets=[listener])


def invitation_link(project: Project, name: str, *, host: str = LOOPBACK, port: int = PORT) -> str:
    """A link that lets an annotator who lost the cookie in again under the same name."""
    import_optional("fastapi", "uvicorn", extra="annotate", work="annotation")
    from acidtest.annotate.app import encode_invitation

    return f"{_base_url(host, port)}join/{encode_invitation(project.readmit(name))}"


def export_annotations(
    project: Project, path: str | Path, *, form: str = "", everything: bool = False
) -> dict[str, Any]:
    """Write the answers of a project: a table in the format of its ending, or with ``form`` label-studio its tasks.

    ``everything`` adds answers that do not count (taken back, replaced, late, of excluded people) and the checks. The
    result says how many were written, and where.
    """
    from acidtest.annotate.exchange import write_answers
    from acidtest.annotate.label_studio import write_tasks

    if form not in ("", "answers", "label-studio"):
        raise AcidtestError(f"there is no format {form!r}; expected answers or label-studio")
    write = write_tasks if form == "label-studio" else write_answers
    return write(project, Path(path), everything=everything)


def import_annotations(
    path: str | Path, *, store: str, questionnaire: str | Path | None = None, project: Project | None = None
) -> dict[str, int]:
    """Add the answers in a table or a file of Label Studio to a project; known answers are left alone.

    If the store has no project, one is set up with the items of the file; that needs a ``questionnaire``. It excludes
    only the people whom the file excludes. The result says how many answers were added and how many were known.
    """
    database = project.store if project else open_store(store)
    from acidtest.annotate.exchange import import_answers, read_answer_rows, widen_seats
    from acidtest.annotate.items import AnnotationPlan
    from acidtest.annotate.label_studio import holds_tasks, read_tasks
    from acidtest.annotate.state import ProjectState
    from acidtest.annotate.store import ProjectSetup, StoreError

    if project is None and database.exists:
        project = annotation_project(store=store, questionnaire=questionnaire)
    asked, text = (project.questionnaire, "") if project else _load_questionnaire(questionnaire or "")
    path, now = Path(path), time.time()
    imported = read_tasks(path, asked) if holds_tasks(path) else read_answer_rows(path, asked)
    notes = {name: number for name, number in imported.notes.items() if number}
    try:
        if project:
            with project.transaction() as (connection, state):
                return import_answers(connection, state, imported.rows, now=now) | notes
        plan = AnnotationPlan(name="imported", fail_after=0)
        setup = ProjectSetup(asked, text, plan, widen_seats(imported.items, imported.rows))
        with database.writing() as connection:
            database.set_up(connection, setup, version=signature("annotate"), at=now)
            state = ProjectState(setup.items, setup.plan, setup.seed)
            state.follow(connection)
            return import_answers(connection, state, imported.rows, now=now) | notes
    except (FileError, StoreError):
        raise
    except AcidtestError as error:
        raise FileError(path, str(error)) from error


def _load_questionnaire(name: str | Path) -> tuple[Questionnaire, str]:
    """A questionnaire, and the text of its file."""
    from acidtest.annotate.questionnaires import load_questionnaire, packaged_questionnaires, questionnaire_content

    if not name:
        known = ", ".join(packaged_questionnaires())
        raise AcidtestError(f"no questionnaire is given; name one with --questionnaire NAME ({known}) or a .toml file")
    return load_questionnaire(name), questionnaire_content(name).decode()


def _refuse_other_questionnaire(database: Store, name: str | Path | None) -> None:
    if not name:
        return
    questionnaire, text = _load_questionnaire(name)
    row = database.project()
    if row.questionnaire != text:
        other = "another wording of this" if row.name == questionnaire.name else "another"
        raise AcidtestError(
            f"{database.url} holds answers to {other} questionnaire ({row.name}); answers to {questionnaire.name} need "
            "a store of their own: name another --store"
        )


def _load_items(
    data: str | Path | pl.DataFrame | None,
    questionnaire: Questionnaire,
    plan: AnnotationPlan,
    *,
    reading: Reading | None,
    seed: int,
) -> list[Item]:
    from acidtest.annotate.items import attention_checks, select_items

    name = ""
    if isinstance(data, pl.DataFrame):
        frame = data
    elif data is not None:
        frame, name = _read_rows(data, questionnaire, plan, reading=reading, seed=seed), str(data)
    elif plan.suite:
        stage("generating %s", plan.suite)
        suite = generate(plan.suite, seed=seed, arguments=dict(plan.arguments))
        frame, name = _add_suite_column(suite.frame.collect(), suite.card.name), plan.suite
    else:
        raise AcidtestError("there is nothing to judge; name a file with DATA")
    try:
        items = select_items(frame, questionnaire, plan, seed=seed)
        if not plan.controls:
            return items
        name = plan.controls
        checks, ids = attention_checks(_read_frame(plan.controls), questionnaire), {item.id for item in items}
        for check in checks:
            if check.id in ids:
                raise AcidtestError(f"control {check.id!r} has the id of an item; rename it")
    except FileError:
        raise
    except AcidtestError as error:
        raise AcidtestError(f"{name}: {error}" if name else str(error)) from error
    return items + checks


def _read_rows(
    data: str | Path, questionnaire: Questionnaire, plan: AnnotationPlan, *, reading: Reading | None, seed: int
) -> pl.DataFrame:
    """The rows to judge: those of a suite, or of a file, a table as it is if it has what is needed, else as pairs."""
    from acidtest.suites.catalogue import SUITES
    from acidtest.suites.files import read_suite

    if str(data) in SUITES and not Path(data).exists():
        stage("generating %s", data)
        arguments = dict(plan.arguments) if plan.suite == str(data) else {}
        suite = generate(str(data), seed=seed, arguments=arguments, reading=reading)
        return _add_suite_column(suite.frame.collect(), suite.card.name)
    table = None if reading and (reading.columns or reading.label_map) else _complete_table(data, questionnaire)
    # HANS as published has no column for the word a category depends on; its suite has one.
    if table is not None and set(plan.category) <= set(table.columns):
        made = read_suite(data)
        return _add_suite_column(table, made.card.name) if made else table
    try:
        suite = load(data, reading=reading)
    except AcidtestError:
        if table is None:
            raise
        return table
    log.info("%s: read as pairs", data)
    return _add_suite_column(suite.frame.collect(), suite.card.name)


def _complete_table(path: str | Path, questionnaire: Questionnaire) -> pl.DataFrame | None:
    """The table in a file, if it has the columns that the questionnaire needs; else None."""
    from acidtest.annotate.items import has_gold_names

    try:
        table = _read_frame(path)
    except FileError:
        return None
    complete = set(questionnaire.shows) <= set(table.columns)
    return table if complete and (has_gold_names(table) or not questionnaire.asks_by_gold) else None


def _add_suite_column(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    """The rows with a column for the name of their suite, if there are published numbers about it."""
    from acidtest.annotate.items import SUITE
    from acidtest.io.published import published_scores

    suite = name.partition(":")[0]
    if SUITE in frame.columns or not published_scores(suite):
        return frame
    return frame.with_columns(pl.lit(suite).alias(SUITE))


def _read_frame(path: str | Path) -> pl.DataFrame:
    from acidtest.io.tables import read_table
    from acidtest.suites.files import card_path

    table = read_table(path)
    return table.written_frame if card_path(path).is_file() else table.frame


def _base_url(host: str, port: int) -> str:
    import socket

    name = socket.gethostname() if host in ("0.0.0.0", "::", "") else host
    return f"http://{f'[{name}]' if ':' in name else name}:{port}/"
