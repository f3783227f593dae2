"""The database of an annotation project: SQLite or PostgreSQL, with tables to which rows are only ever added.

Triggers refuse UPDATE and DELETE in both databases. An answer that was taken back, or whose author was excluded, is
still there, and another row says so. One store holds one project. Writers work one after the other (SQLite's own lock,
an advisory lock in PostgreSQL), so that row numbers grow in the order of writing and a reader of new rows misses none.
"""

from __future__ import annotations

import json
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from acidtest.annotate.items import AnnotationPlan, Item, project_fingerprint
from acidtest.annotate.questionnaires import Questionnaire
from acidtest.core.errors import AcidtestError

SCHEMA = 1

_LOCK_NUMBER = 0x61636964
"""The number of the advisory lock: "acid"."""
_LOCK_TIMEOUT = 60_000
"""Milliseconds that a writer waits for another."""

tables = sa.MetaData()


def _table(name: str, *columns: sa.schema.SchemaItem) -> sa.Table:
    return sa.Table(name, tables, sa.Column("number", sa.Integer, primary_key=True), *columns)


def _reference(name: str, **options: Any) -> sa.Column[int]:
    return sa.Column(name, sa.ForeignKey(f"{name}s.number"), nullable=False, **options)


def _text(name: str, **options: Any) -> sa.Column[str]:
    return sa.Column(name, sa.Text, nullable=False, **options)


def _integer(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.Integer, nullable=False)


def _time() -> sa.Column[float]:
    """Seconds since 1970."""
    return sa.Column("at", sa.Double, nullable=False)


project = _table(
    "project",
    _integer("schema"),
    _text("acidtest"),
    _text("name"),
    _text("questionnaire"),
    _text("plan"),
    sa.Column("seed", sa.BigInteger, nullable=False),
    _text("fingerprint"),
    _time(),
)
items = _table(
    "items",
    _text("id", unique=True),
    _text("role"),
    _integer("seats"),
    _text("category"),
    _text("fields"),
    _text("known"),
    sa.Column("gold", sa.Text),
    sa.Column("expected", sa.Text),
)
annotators = _table("annotators", _text("name"), _text("folded", unique=True), _time())
secrets = _table("secrets", _reference("annotator"), _text("digest"), _time())
claims = _table(
    "claims",
    _reference("item"),
    _integer("seat"),
    _integer("turn"),
    _reference("annotator"),
    _time(),
    sa.UniqueConstraint("item", "seat", "turn"),
    sa.UniqueConstraint("item", "annotator"),
)
servings = _table("servings", _reference("claim"), _time())
answers = _table(
    "answers",
    _reference("claim"),
    _integer("version"),
    _text("answers"),
    sa.Column("seconds", sa.Double),
    _text("key", unique=True),
    _time(),
    sa.UniqueConstraint("claim", "version"),
)
undos = _table("undos", _reference("answer", unique=True), _time())
exclusions = _table("exclusions", _reference("annotator", unique=True), _text("reason"), _time())


class StoreError(AcidtestError):
    """A database that cannot be used."""


@dataclass(frozen=True)
class ProjectSetup:
    """What a project is set up with; ``text`` is the file of the questionnaire."""

    questionnaire: Questionnaire
    text: str
    plan: AnnotationPlan
    items: Sequence[Item]
    seed: int = 0

    @property
    def fingerprint(self) -> str:
        """A digest by which the same project is recognised."""
        return project_fingerprint(self.items, self.text, self.plan, self.seed)


class Store:
    """A database of annotations."""

    def __init__(self, url: str) -> None:
        self._engine = _create_engine(url)
        self._dialect = self._engine.dialect.name
        self._lock = Lock()
        weakref.finalize(self, self._engine.dispose)
        self.url = sa.make_url(database_url(url)).render_as_string(hide_password=True)

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """A transaction that no other writer interrupts; it is committed unless the block raises."""
        with self._lock, self._translated_errors(), self._engine.connect() as connection:
            if self._dialect == "postgresql":
                # A writer that waited for the lock must see what was written in the meantime.
                connection = connection.execution_options(isolation_level="READ COMMITTED")
            with connection.begin():
                if self._dialect == "postgresql":
                    connection.exec_driver_sql(f"SET LOCAL lock_timeout = {_LOCK_TIMEOUT}")
                    connection.execute(sa.text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK_NUMBER})
                yield connection

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """A connection that sees one state of the store."""
        level = "REPEATABLE READ" if self._dialect == "postgresql" else "AUTOCOMMIT"
        with self._translated_errors(), self._engine.connect() as plain:
            connection = plain.execution_options(isolation_level=level)
            if self._dialect == "sqlite":
                connection.exec_driver_sql("BEGIN")
            try:
                yield connection
            finally:
                if self._dialect == "sqlite":
                    connection.exec_driver_sql("ROLLBACK")

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    @property
    def exists(self) -> bool:
        """Whether a project has been set up in it."""
        with self._translated_errors():
            if not sa.inspect(self._engine).has_table("project"):
                return False
            with self.reading() as connection:
                return connection.execute(sa.select(project.c.number)).first() is not None

    def set_up(self, connection: sa.Connection, setup: ProjectSetup, *, version: str, at: float) -> None:
        """Create the tables and the project; raise if another project is there, even if it was just created."""
        tables.create_all(connection)
        existing = connection.execute(sa.select(project.c.fingerprint)).scalar()
        if existing is not None:
            if existing != setup.fingerprint:
                raise StoreError(f"{self.url} holds another project already; name another --store")
            return
        for table in tables.sorted_tables:
            for statement in _append_only_statements(table.name, self._dialect):
                connection.exec_driver_sql(statement)
        connection.execute(sa.insert(items), [_item_row(number, item) for number, item in enumerate(setup.items, 1)])
        row = {
            "number": 1,
            "schema": SCHEMA,
            "acidtest": version,
            "name": setup.questionnaire.name,
            "questionnaire": setup.text,
            "plan": setup.plan.to_json(),
            "seed": setup.seed,
            "fingerprint": setup.fingerprint,
            "at": at,
        }
        connection.execute(sa.insert(project), row)

    def project(self) -> sa.Row[Any]:
        """The row that says what the project was set up with."""
        if not self.exists:
            raise StoreError(f"{self.url} holds no annotation project; set one up with DATA and --questionnaire")
        with self.reading() as connection:
            row = connection.execute(sa.select(project)).one()
        if row.schema > SCHEMA:
            raise StoreError(f"{self.url} has schema {row.schema}; this acidtest reads up to {SCHEMA}: upgrade it")
        return row

    def items(self) -> list[Item]:
        """All items in order; the first has number 1."""
        with self.reading() as connection:
            rows = connection.execute(sa.select(items).order_by(items.c.number)).all()
        plain = ("id", "role", "seats", "category", "gold")
        return [
            Item(
                **{name: getattr(row, name) for name in plain},
                fields=json.loads(row.fields),
                known=json.loads(row.known),
                expected=json.loads(row.expected) if row.expected else None,
            )
            for row in rows
        ]

    @contextmanager
    def _translated_errors(self) -> Iterator[None]:
        """Raise errors of the database as ``StoreError``."""
        try:
            yield
        except SQLAlchemyError as error:
            problem = str(getattr(error, "orig", None) or error).strip().splitlines()[0]
            raise StoreError(f"{self.url}: {problem}") from error


def database_url(url: str) -> str:
    """A URL for SQLAlchemy; a path without a scheme means SQLite."""
    if "://" not in url:
        return f"sqlite:///{url}"
    for scheme in ("postgres://", "postgresql://"):
        if url.startswith(scheme):
            return "postgresql+psycopg://" + url.removeprefix(scheme)
    return url


def _create_engine(url: str) -> sa.Engine:
    try:
        parsed = sa.make_url(database_url(url))
    except (SQLAlchemyError, ValueError) as error:
        # The URL is not shown: one that cannot be parsed may have a password anywhere.
        problem = "the value of --store is not the URL of a store"
        raise StoreError(f"{problem}; write answers.db or postgresql://user@host:5432/name") from error
    dialect = parsed.get_backend_name()
    if dialect == "postgresql":
        try:
            return sa.create_engine(parsed, pool_size=8, max_overflow=64, pool_pre_ping=True)
        except ModuleNotFoundError as error:
            remedy = "install it with: pip install 'acidtest[annotate,postgres]'"
            raise StoreError(f"PostgreSQL needs {error.name}; {remedy}") from error
    if dialect != "sqlite":
        raise StoreError(f"stores are SQLite or PostgreSQL, not {dialect}")
    if parsed.database in (None, "", ":memory:"):
        raise StoreError("a store in memory would be lost; give it a file: answers.db")
    Path(str(parsed.database)).parent.mkdir(parents=True, exist_ok=True)
    engine = sa.create_engine(parsed, pool_size=8, max_overflow=64)
    sa.event.listen(engine, "connect", _prepare_sqlite)
    # The driver begins lazily and for reading, so that two writers could each wait for the other.
    sa.event.listen(engine, "begin", _begin_sqlite)
    return engine


def _prepare_sqlite(connection: Any, _: object) -> None:
    connection.isolation_level = None
    cursor = connection.cursor()
    settings = ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "recursive_triggers=ON")
    for setting in (f"busy_timeout={_LOCK_TIMEOUT}", *settings):
        cursor.execute(f"PRAGMA {setting}")
    cursor.close()


def _begin_sqlite(connection: sa.Connection) -> None:
    if connection.get_execution_options().get("isolation_level") != "AUTOCOMMIT":
        connection.exec_driver_sql("BEGIN IMMEDIATE")


def _append_only_statements(table: str, dialect: str) -> list[str]:
    """Statements after which the rows of a table can be neither changed nor removed."""
    problem = f"{table}: rows of a store are never changed or removed"
    if dialect == "sqlite":
        return [
            f"CREATE TRIGGER {table}_{verb} BEFORE {verb} ON {table} BEGIN SELECT RAISE(ABORT, '{problem}'); END"
            for verb in ("UPDATE", "DELETE")
        ]
    body = f"BEGIN RAISE EXCEPTION '{problem}'; END"
    return [
        f"CREATE FUNCTION {table}_kept() RETURNS trigger LANGUAGE plpgsql AS $$ {body} $$",
        f"CREATE TRIGGER {table}_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} EXECUTE FUNCTION {table}_kept()",
    ]


def _item_row(number: int, item: Item) -> dict[str, Any]:
    return {
        **{name: getattr(item, name) for name in ("id", "role", "seats", "category", "gold")},
        "number": number,
        "fields": json.dumps(item.fields),
        "known": json.dumps(item.known),
        "expected": json.dumps(item.expected) if item.expected else None,
    }
