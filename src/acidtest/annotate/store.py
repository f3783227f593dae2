"""Where annotations are kept: SQLite or PostgreSQL, in tables that rows are only ever added to.

What was said stays: triggers refuse UPDATE and DELETE in both databases. An answer that was taken back, or whose author
was excluded, is still there, with another row that says so. One store holds one project.

Writers come one after the other (SQLite's own lock; an advisory lock in PostgreSQL), so that the numbers of rows grow
in the order in which they were written, and whoever follows the tables misses none.
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

from acidtest.annotate.items import Item, fingerprint
from acidtest.annotate.plans import Plan
from acidtest.annotate.questionnaires import Questionnaire, parsed_questionnaire
from acidtest.core.errors import AcidtestError

SCHEMA = 1

_LOCK = 0x61636964
"""The number of the advisory lock: "acid"."""
_PATIENCE = 60_000
"""How many milliseconds a writer waits for another."""

tables = sa.MetaData()


def _table(name: str, *columns: sa.schema.SchemaItem) -> sa.Table:
    return sa.Table(name, tables, sa.Column("number", sa.Integer, primary_key=True), *columns)


def _of(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.ForeignKey(f"{name}s.number"), nullable=False)


def _text(name: str, **options: Any) -> sa.Column[str]:
    return sa.Column(name, sa.Text, nullable=False, **options)


def _at() -> sa.Column[float]:
    """Seconds since 1970."""
    return sa.Column("at", sa.Double, nullable=False)


project = _table(
    "project",
    sa.Column("schema", sa.Integer, nullable=False),
    _text("acidtest"),
    _text("name"),
    _text("questionnaire"),
    _text("plan"),
    sa.Column("seed", sa.BigInteger, nullable=False),
    _text("fingerprint"),
    _at(),
)
items = _table(
    "items",
    _text("id", unique=True),
    _text("role"),
    sa.Column("seats", sa.Integer, nullable=False),
    _text("category"),
    _text("fields"),
    _text("known"),
    sa.Column("gold", sa.Text),
    sa.Column("expected", sa.Text),
)
annotators = _table("annotators", _text("name"), _text("folded", unique=True), _at())
secrets = _table("secrets", _of("annotator"), _text("digest"), _at())
claims = _table(
    "claims",
    _of("item"),
    sa.Column("seat", sa.Integer, nullable=False),
    sa.Column("turn", sa.Integer, nullable=False),
    _of("annotator"),
    _at(),
    sa.UniqueConstraint("item", "seat", "turn"),
    sa.UniqueConstraint("item", "annotator"),
)
servings = _table("servings", _of("claim"), _at())
answers = _table(
    "answers",
    _of("claim"),
    sa.Column("version", sa.Integer, nullable=False),
    _text("answers"),
    sa.Column("seconds", sa.Double),
    _text("key", unique=True),
    _at(),
    sa.UniqueConstraint("claim", "version"),
)
undos = _table("undos", sa.Column("answer", sa.ForeignKey("answers.number"), nullable=False, unique=True), _at())
exclusions = _table(
    "exclusions",
    sa.Column("annotator", sa.ForeignKey("annotators.number"), nullable=False, unique=True),
    _text("reason"),
    _at(),
)


class StoreError(AcidtestError):
    """A database that cannot be used."""


@dataclass(frozen=True)
class Project:
    """What a store is set up with; ``text`` is the questionnaire as it is written."""

    asked: Questionnaire
    text: str
    plan: Plan
    items: Sequence[Item]
    seed: int = 0

    @property
    def fingerprint(self) -> str:
        """A digest by which the same project is known again."""
        return fingerprint(self.items, self.text, self.plan, self.seed)


class Store:
    """A database of annotations."""

    def __init__(self, url: str) -> None:
        self._engine = _engine(url)
        self._dialect = self._engine.dialect.name
        self._writing = Lock()
        weakref.finalize(self, self._engine.dispose)
        self.url = sa.make_url(shown_url(url)).render_as_string(hide_password=True)

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """A transaction that no other writer interrupts; it is kept when the block ends well."""
        with self._writing, self._told(), self._engine.connect() as connection:
            if self._dialect == "postgresql":
                # Whoever has waited for the lock must see what was written meanwhile.
                connection = connection.execution_options(isolation_level="READ COMMITTED")
            with connection.begin():
                if self._dialect == "postgresql":
                    connection.exec_driver_sql(f"SET LOCAL lock_timeout = {_PATIENCE}")
                    connection.execute(sa.text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
                yield connection

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """A connection that sees one state of the store."""
        level = "REPEATABLE READ" if self._dialect == "postgresql" else "AUTOCOMMIT"
        with self._told(), self._engine.connect() as plain:
            connection = plain.execution_options(isolation_level=level)
            if self._dialect == "sqlite":
                connection.exec_driver_sql("BEGIN")
            try:
                yield connection
            finally:
                if self._dialect == "sqlite":
                    connection.exec_driver_sql("ROLLBACK")

    def close(self) -> None:
        """Let go of all connections."""
        self._engine.dispose()

    @property
    def exists(self) -> bool:
        """Whether a project has been set up here."""
        with self._told():
            if not sa.inspect(self._engine).has_table("project"):
                return False
            with self.reading() as connection:
                return connection.execute(sa.select(project.c.number)).first() is not None

    def set_up(self, connection: sa.Connection, new: Project, *, version: str, at: float) -> None:
        """Make the tables and the project; another one that came first, maybe just now, is an error."""
        tables.create_all(connection)
        there = connection.execute(sa.select(project.c.fingerprint)).scalar()
        if there is not None:
            if there != new.fingerprint:
                raise StoreError(f"{self.url} holds another project already; name another --store")
            return
        for table in tables.sorted_tables:
            for statement in _append_only(table.name, self._dialect):
                connection.exec_driver_sql(statement)
        connection.execute(sa.insert(items), [_row(number, item) for number, item in enumerate(new.items, 1)])
        told = {"questionnaire": new.text, "plan": new.plan.to_json(), "seed": new.seed, "at": at}
        named = {"schema": SCHEMA, "acidtest": version, "name": new.asked.name, "fingerprint": new.fingerprint}
        connection.execute(sa.insert(project), {"number": 1, **told, **named})

    def project(self) -> sa.Row[Any]:
        """What the project was set up with."""
        if not self.exists:
            raise StoreError(f"{self.url} holds no annotation project; set one up with DATA and --questionnaire")
        with self.reading() as connection:
            found = connection.execute(sa.select(project)).one()
        if found.schema > SCHEMA:
            raise StoreError(f"{self.url} has schema {found.schema}; this acidtest reads up to {SCHEMA}: upgrade it")
        return found

    def items(self) -> list[Item]:
        """All items in order; the first has number 1."""
        with self.reading() as connection:
            rows = connection.execute(sa.select(items).order_by(items.c.number)).all()
        return [
            Item(
                row.id,
                json.loads(row.fields),
                json.loads(row.known),
                row.role,
                row.seats,
                row.category,
                row.gold,
                json.loads(row.expected) if row.expected else None,
            )
            for row in rows
        ]

    @contextmanager
    def _told(self) -> Iterator[None]:
        """What a database says, as an error of ours."""
        try:
            yield
        except SQLAlchemyError as error:
            why = str(getattr(error, "orig", None) or error).strip().splitlines()[0]
            raise StoreError(f"{self.url}: {why}") from error


def questionnaire_of(row: sa.Row[Any]) -> Questionnaire:
    """The questionnaire that a project was set up with."""
    return parsed_questionnaire(row.questionnaire.encode(), Path(f"{row.name}.toml"))


def shown_url(url: str) -> str:
    """A URL as SQLAlchemy has it; the path of a file means SQLite."""
    if "://" not in url:
        return f"sqlite:///{url}"
    for name in ("postgres://", "postgresql://"):
        if url.startswith(name):
            return "postgresql+psycopg://" + url.removeprefix(name)
    return url


def _engine(url: str) -> sa.Engine:
    try:
        parsed = sa.make_url(shown_url(url))
    except (SQLAlchemyError, ValueError) as error:
        # The URL is not shown: what cannot be taken apart may hold a password anywhere.
        problem = "what --store says is no URL of a store"
        raise StoreError(f"{problem}; write answers.db or postgresql://user@host:5432/name") from error
    dialect = parsed.get_backend_name()
    if dialect == "postgresql":
        return _postgresql(parsed)
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


def _postgresql(parsed: sa.URL) -> sa.Engine:
    try:
        return sa.create_engine(parsed, pool_size=8, max_overflow=64, pool_pre_ping=True)
    except ModuleNotFoundError as error:
        raise StoreError(
            f"PostgreSQL needs {error.name}; install it with: pip install 'acidtest[annotate,postgres]'"
        ) from error


def _prepare_sqlite(connection: Any, _: object) -> None:
    connection.isolation_level = None
    cursor = connection.cursor()
    for pragma in (
        f"busy_timeout={_PATIENCE}",
        "journal_mode=WAL",
        "synchronous=FULL",
        "foreign_keys=ON",
        "recursive_triggers=ON",
    ):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin_sqlite(connection: sa.Connection) -> None:
    if connection.get_execution_options().get("isolation_level") != "AUTOCOMMIT":
        connection.exec_driver_sql("BEGIN IMMEDIATE")


def _append_only(table: str, dialect: str) -> list[str]:
    """Statements after which rows of a table can be neither changed nor removed."""
    told = f"{table}: rows of a store are never changed or removed"
    if dialect == "sqlite":
        return [
            f"CREATE TRIGGER {table}_{verb} BEFORE {verb} ON {table} BEGIN SELECT RAISE(ABORT, '{told}'); END"
            for verb in ("UPDATE", "DELETE")
        ]
    body = f"BEGIN RAISE EXCEPTION '{told}'; END"
    return [
        f"CREATE FUNCTION {table}_kept() RETURNS trigger LANGUAGE plpgsql AS $$ {body} $$",
        f"CREATE TRIGGER {table}_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} EXECUTE FUNCTION {table}_kept()",
    ]


def _row(number: int, item: Item) -> dict[str, Any]:
    return {
        "number": number,
        "id": item.id,
        "role": item.role,
        "seats": item.seats,
        "category": item.category,
        "fields": json.dumps(item.fields),
        "known": json.dumps(item.known),
        "gold": item.gold,
        "expected": json.dumps(item.expected) if item.expected else None,
    }
