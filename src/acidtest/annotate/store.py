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

from acidtest.annotate.items import SUITE, AnnotationPlan, Item
from acidtest.annotate.questionnaires import Questionnaire
from acidtest.core.draws import key
from acidtest.core.errors import AcidtestError
from acidtest.core.settings import require_requested

SCHEMA = 1

_LOCK_NUMBER = 0x61636964
"""The number of the advisory lock: "acid"."""
_LOCK_TIMEOUT = 60_000
"""Milliseconds that a writer waits for another."""

tables = sa.MetaData()


def _table(name: str, *columns: str, unique: Sequence[tuple[str, ...]] = ()) -> sa.Table:
    """A table of numbered rows; a column is written ``name type``, then ``null`` (nullable) or ``unique``.

    The type ``row`` refers to a row of the table with the column's name in the plural. Times are seconds since 1970.
    """
    types = {"text": sa.Text(), "integer": sa.Integer(), "bigint": sa.BigInteger(), "double": sa.Double()}
    parts = list[sa.schema.SchemaItem]([sa.Column("number", sa.Integer, primary_key=True)])
    for column in columns:
        title, kind, *marks = column.split()
        content: Any = sa.ForeignKey(f"{title}s.number") if kind == "row" else types[kind]
        parts.append(sa.Column(title, content, nullable="null" in marks, unique="unique" in marks or None))
    return sa.Table(name, tables, *parts, *(sa.UniqueConstraint(*names) for names in unique))


project = _table(
    "project",
    *("schema integer", "acidtest text", "name text", "questionnaire text", "plan text", "seed bigint"),
    *("fingerprint text", "at double"),
)
items = _table(
    "items",
    *("id text unique", "role text", "seats integer", "category text"),
    *("fields text", "known text", "gold text null", "expected text null"),
)
annotators = _table("annotators", "name text", "folded text unique", "at double")
secrets = _table("secrets", "annotator row", "digest text", "at double")
claims = _table(
    "claims",
    *("item row", "seat integer", "turn integer", "annotator row", "at double"),
    unique=[("item", "seat", "turn"), ("item", "annotator")],
)
servings = _table("servings", "claim row", "at double")
answers = _table(
    "answers",
    *("claim row", "version integer", "answers text", "seconds double null", "key text unique", "at double"),
    unique=[("claim", "version")],
)
undos = _table("undos", "answer row unique", "at double")
exclusions = _table("exclusions", "annotator row unique", "reason text", "at double")


_PLAIN_COLUMNS = ("id", "role", "seats", "category", "gold")
"""The columns of items that are stored as they are; the others are JSON."""


class StoreError(AcidtestError):
    """A database that cannot be used."""


@dataclass(frozen=True)
class ProjectSetup:
    """The inputs that define a project; ``text`` is the content of the questionnaire's file."""

    questionnaire: Questionnaire
    text: str
    plan: AnnotationPlan
    items: Sequence[Item]
    seed: int = 0

    @property
    def fingerprint(self) -> str:
        """A digest of the setup, the same whenever the same command is repeated."""
        parts = list[str]()
        for item in self.items:
            # The suite of an item follows from the data; older stores have fingerprints without it.
            known = {name: value for name, value in item.known.items() if name != SUITE}
            parts.append(json.dumps([item.id, known, item.role, item.seats, item.expected], sort_keys=True))
        return f"{key(self.text, self.plan.to_json(), self.seed, *parts):016x}"


class Store:
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
        """A connection that sees one consistent snapshot of the store."""
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
        self._engine.dispose()

    @property
    def exists(self) -> bool:
        with self._translated_errors():
            if not sa.inspect(self._engine).has_table("project"):
                return False
            with self.reading() as connection:
                return connection.execute(sa.select(project.c.number)).first() is not None

    def set_up(self, connection: sa.Connection, setup: ProjectSetup, *, version: str, at: float) -> None:
        """Create the tables and the project; do nothing if it exists already, and raise if another one does."""
        tables.create_all(connection)
        existing = connection.execute(sa.select(project.c.fingerprint)).scalar()
        if existing is not None:
            if existing != setup.fingerprint:
                raise StoreError(f"{self.url} holds another project already; name another --store")
            return
        for table in tables.sorted_tables:
            for statement in _append_only_statements(table.name, self._dialect):
                connection.exec_driver_sql(statement)
        rows = [
            {name: getattr(item, name) for name in _PLAIN_COLUMNS}
            | {"number": number, "fields": json.dumps(item.fields), "known": json.dumps(item.known)}
            | {"expected": json.dumps(item.expected) if item.expected else None}
            for number, item in enumerate(setup.items, 1)
        ]
        connection.execute(sa.insert(items), rows)
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
        """The row of the table ``project``: the project's setup."""
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
        return [
            Item(
                **{name: getattr(row, name) for name in _PLAIN_COLUMNS},
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
        # The URL may hold a password.
        require_requested(url, "connects to a database server")
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

    @sa.event.listens_for(engine, "connect")
    def prepare(connection: Any, _: object) -> None:
        connection.isolation_level = None
        settings = ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "recursive_triggers=ON")
        for setting in (f"busy_timeout={_LOCK_TIMEOUT}", *settings):
            connection.execute(f"PRAGMA {setting}")

    # The driver would begin lazily and as a reader, so two transactions that write later could deadlock.
    @sa.event.listens_for(engine, "begin")
    def begin(connection: sa.Connection) -> None:
        if connection.get_execution_options().get("isolation_level") != "AUTOCOMMIT":
            connection.exec_driver_sql("BEGIN IMMEDIATE")

    return engine


def _append_only_statements(table: str, dialect: str) -> list[str]:
    """SQL statements that forbid changing or removing the rows of a table."""
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
