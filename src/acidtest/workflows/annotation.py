"""Annotation projects: set up, served to annotators, and taken elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from acidtest.core.errors import AcidtestError, FileError
from acidtest.core.extras import required
from acidtest.core.logs import log, stage
from acidtest.core.signatures import signature
from acidtest.core.suite import Suite
from acidtest.workflows.batteries import Reading, generate, load

if TYPE_CHECKING:
    from rich.console import RenderableType

    from acidtest.annotate.answers import Answers
    from acidtest.annotate.items import Item
    from acidtest.annotate.plans import Plan
    from acidtest.annotate.questionnaires import Questionnaire
    from acidtest.annotate.store import Store
    from acidtest.annotate.work import Work

_SQLITE = b"SQLite format 3\0"

LOOPBACK, PORT = "127.0.0.1", 8420


@dataclass(frozen=True)
class Sharing:
    """What a user says of the plan; None: what the plan says."""

    plan: str | None = None
    per_item: int | None = None
    overlap: int | None = None
    per_annotator: int | None = None
    controls: str | Path | None = None
    fail_after: int | None = None
    expires: float | None = None
    finish: bool | None = None
    reopen: bool | None = None

    @property
    def changes(self) -> dict[str, Any]:
        """What is said, by the plan's own names."""
        said = {name: value for name, value in self.__dict__.items() if name != "plan" and value is not None}
        return said | ({"controls": str(self.controls)} if self.controls is not None else {})


def opened_store(url: str) -> Store:
    """A store at a URL, or in a file: SQLite or PostgreSQL."""
    required("sqlalchemy", extra="annotate", work="annotation")
    from acidtest.annotate.store import Store

    return Store(url)


def is_store(name: str | Path) -> bool:
    """Whether a name means a store rather than a table in a file."""
    if "://" in str(name):
        return True
    path = Path(name)
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(_SQLITE)) == _SQLITE


def stored_answers(url: str) -> tuple[Questionnaire, Answers]:
    """What a store's project asks, and the answers that stand in it."""
    work = annotation_project(store=url)
    from acidtest.annotate.exchange import store_answers

    return work.questionnaire, store_answers(work, work.store.url if "://" in url else Path(url).name)


def progress_tables(found: Mapping[str, Any]) -> list[RenderableType]:
    """How far annotators have come, as a person reads it on a terminal."""
    from acidtest.reports import annotations

    return annotations.progress_tables(found)


def annotation_project(
    data: str | Path | pl.DataFrame | None = None,
    *,
    store: str,
    questionnaire: str | Path | None = None,
    sharing: Sharing | None = None,
    reading: Reading | None = None,
    seed: int = 0,
) -> Work:
    """A project in a store: the one that is there, or a new one with items from ``data``.

    A store that holds another project, by its data, questionnaire, plan or seed, is refused.
    """
    kept = opened_store(store)
    from acidtest.annotate.store import Project
    from acidtest.annotate.work import Work

    sharing = sharing or Sharing()
    if kept.exists and data is None and sharing == Sharing():
        _refuse_other_questionnaire(kept, questionnaire)
        return Work(kept)
    plan = _plan(sharing)
    asked, text = _questionnaire(questionnaire or plan.questionnaire)
    if kept.exists:
        _refuse_other_questionnaire(kept, questionnaire or plan.questionnaire)
    found = _items(data, asked, plan, reading=reading, seed=seed)
    new = Project(asked, text, replace(plan, controls=Path(plan.controls).name), found, seed)
    if kept.exists:
        if kept.project().fingerprint != new.fingerprint:
            raise AcidtestError(
                f"{kept.url} was set up with other data, another plan or another seed; give the same again, or leave "
                "DATA and the plan out to go on with what is there; for a new project name another --store"
            )
    else:
        stage("setting up %s items", f"{len(found):,}")
        with kept.writing() as connection:
            kept.set_up(connection, new, version=signature("annotate"), at=time.time())
    return Work(kept)


def serve_annotation(
    work: Work,
    *,
    host: str = LOOPBACK,
    port: int = PORT,
    token: str = "",
    admin_token: str = "",
    allowed_hosts: Sequence[str] = (),
    announce: Callable[[Mapping[str, str]], None] | None = None,
) -> None:
    """Serve a project to annotators until interrupted; ``announce`` gets the links once the port is open."""
    required("fastapi", "uvicorn", extra="annotate", work="annotation")
    import socket

    from acidtest.annotate.app import annotation_app
    from acidtest.annotate.guards import Guard
    from acidtest.annotate.server import annotation_server

    guard = Guard.made(host, allowed=tuple(allowed_hosts), token=token, admin_token=admin_token)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except OSError as error:
        why = error.strerror or error
        raise AcidtestError(f"cannot listen on {host}:{port}: {why}; choose another --host or --port") from error
    listening.listen(2048)
    if announce:
        announce(_links(guard.host, listening.getsockname()[1], guard.token, guard.admin_token))
    annotation_server(annotation_app(work, guard)).run(sockets=[listening])


def invitation_link(work: Work, name: str, *, host: str = LOOPBACK, port: int = PORT) -> str:
    """A link by which somebody who has lost the cookie gets in again under the same name."""
    required("fastapi", "uvicorn", extra="annotate", work="annotation")
    from acidtest.annotate.app import invitation

    return f"{_address(host, port)}join/{invitation(work.readmit(name))}"


def export_annotations(work: Work, path: str | Path, *, form: str = "", everything: bool = False) -> dict[str, Any]:
    """Write the answers of a project: a table by its ending, or ``form`` label-studio; tells what was written.

    ``everything`` adds what is not counted (taken back, replaced, late, of excluded people) and the controls.
    """
    from acidtest.annotate.exchange import write_answers
    from acidtest.annotate.label_studio import write_tasks

    if form not in ("", "answers", "label-studio"):
        raise AcidtestError(f"there is no format {form!r}; there is answers and label-studio")
    written = write_tasks if form == "label-studio" else write_answers
    return written(work, Path(path), everything=everything)


def import_annotations(
    path: str | Path, *, store: str, questionnaire: str | Path | None = None, work: Work | None = None
) -> dict[str, int]:
    """Add the answers in a file, a table or Label Studio's, to a project; those that are there are left alone.

    Where the store holds no project, one is set up with the items of the file, or nothing is where the file cannot be
    imported; it needs a ``questionnaire``. Nobody fails controls there but those whom the file excludes.
    """
    kept = work.store if work else opened_store(store)
    from acidtest.annotate.arrivals import import_rows, read_rows, widened
    from acidtest.annotate.label_studio import is_tasks, read_tasks
    from acidtest.annotate.plans import Plan
    from acidtest.annotate.state import State
    from acidtest.annotate.store import Project, StoreError
    from acidtest.annotate.work import Work as Opened

    if work is None and kept.exists:
        _refuse_other_questionnaire(kept, questionnaire)
        work = Opened(kept)
    asked, text = (work.questionnaire, "") if work else _questionnaire(questionnaire or "")
    path, now = Path(path), time.time()
    found = read_tasks(path, asked) if is_tasks(path) else read_rows(path, asked)
    notes = {name: number for name, number in found.notes.items() if number}
    try:
        if work:
            with work.changing() as (connection, state):
                return import_rows(connection, state, found.rows, now=now) | notes
        new = Project(asked, text, Plan(name="imported", fail_after=0), widened(found.items, found.rows))
        with kept.writing() as connection:
            kept.set_up(connection, new, version=signature("annotate"), at=now)
            state = State(new.items, new.plan, new.seed)
            state.follow(connection)
            return import_rows(connection, state, found.rows, now=now) | notes
    except (FileError, StoreError):
        raise
    except AcidtestError as error:
        raise FileError(path, str(error)) from error


def _plan(sharing: Sharing) -> Plan:
    from acidtest.annotate.plans import Plan, checked, plan

    found = plan(sharing.plan) if sharing.plan else Plan()
    return checked(replace(found, **sharing.changes))


def _questionnaire(name: str | Path) -> tuple[Questionnaire, str]:
    from acidtest.annotate.questionnaires import packaged_questionnaires, questionnaire, questionnaire_content

    if not name:
        known = ", ".join(packaged_questionnaires())
        raise AcidtestError(f"say what people are asked: --questionnaire NAME ({known}) or a .toml file")
    return questionnaire(name), questionnaire_content(name).decode()


def _refuse_other_questionnaire(kept: Store, name: str | Path | None) -> None:
    if not name:
        return
    asked, text = _questionnaire(name)
    row = kept.project()
    if row.questionnaire != text:
        another = "another questionnaire" if row.name != asked.name else "another wording of this questionnaire"
        raise AcidtestError(
            f"{kept.url} holds answers to {another} ({row.name}); answers to {asked.name} need a store of their own: "
            "name another --store"
        )


def _items(
    data: str | Path | pl.DataFrame | None, asked: Questionnaire, plan: Plan, *, reading: Reading | None, seed: int
) -> list[Item]:
    from acidtest.annotate.items import controls, items

    frame, name = _frame(data, asked, plan, reading=reading, seed=seed)
    try:
        found = items(frame, asked, plan, seed=seed)
        if plan.controls:
            name = plan.controls
            checks = controls(_table(plan.controls), asked)
            taken = {item.id for item in found}
            twice = [item.id for item in checks if item.id in taken]
            if twice:
                raise AcidtestError(f"control {twice[0]!r} has the id of an item; rename it")
            found += checks
    except FileError:
        raise
    except AcidtestError as error:
        raise AcidtestError(f"{name}: {error}" if name else str(error)) from error
    return found


def _frame(
    data: str | Path | pl.DataFrame | None, asked: Questionnaire, plan: Plan, *, reading: Reading | None, seed: int
) -> tuple[pl.DataFrame, str]:
    """The rows to judge, and what to call them in errors."""
    from acidtest.annotate.items import has_gold_names
    from acidtest.suites.files import read_suite

    if isinstance(data, pl.DataFrame):
        return data, ""
    if data is None:
        if not plan.suite:
            raise AcidtestError("there is nothing to judge; name a file with DATA")
        stage("making %s", plan.suite)
        return _named(generate(plan.suite, seed=seed, arguments=dict(plan.arguments))), plan.suite
    table, usable = None, False
    if not (reading and (reading.columns or reading.label_map)):
        try:
            table = _table(data)
        except FileError:
            table = None
        shown = table is not None and all(name in table.columns for name in asked.shows)
        usable = table is not None and shown and (has_gold_names(table) or not asked.asks_by_gold)
        # HANS as published has no column for the word a category turns on; its suite has.
        if table is not None and usable and set(plan.category) <= set(table.columns):
            made = read_suite(data)
            return _with_suite(table, made.card.name) if made else table, str(data)
    try:
        suite = load(data, reading=reading)
    except AcidtestError:
        if table is None or not usable:
            raise
        return table, str(data)
    log.info("%s: read as pairs", data)
    return _named(suite), str(data)


def _named(suite: Suite) -> pl.DataFrame:
    """The rows of a suite, with its name where it is one that papers tell of."""
    return _with_suite(suite.frame.collect(), suite.card.name)


def _with_suite(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    from acidtest.annotate.items import SUITE
    from acidtest.io.published import published_scores

    known = name.partition(":")[0]
    return (
        frame
        if SUITE in frame.columns or not published_scores(known)
        else frame.with_columns(pl.lit(known).alias(SUITE))
    )


def _table(path: str | Path) -> pl.DataFrame:
    from acidtest.io.tables import read_table
    from acidtest.suites.files import card_path

    table = read_table(path)
    return table.written_frame if card_path(path).is_file() else table.frame


def _links(host: str, port: int, token: str, admin_token: str) -> dict[str, str]:
    base = _address(host, port)
    return {
        "page": base + (f"#token={token}" if token else ""),
        "progress": f"{base}api/admin",
        **({"token": token} if token else {}),
        **({"admin_token": admin_token} if admin_token else {}),
    }


def _address(host: str, port: int) -> str:
    import socket

    name = socket.gethostname() if host in ("0.0.0.0", "::", "") else host
    return f"http://{f'[{name}]' if ':' in name else name}:{port}/"
