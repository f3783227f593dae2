"""``acidtest suites``: list the suites."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

import typer

from acidtest.cli.completion import complete_suite
from acidtest.cli.options import Json, print_document, print_json
from acidtest.core.document import Column, Document, Note, Row, Table
from acidtest.core.errors import UnknownNameError
from acidtest.suites.catalogue import SUITES, Generator, find_generator
from acidtest.workflows.batteries import suites as known_suites


def suites(
    name: Annotated[
        str | None,
        typer.Argument(help="A suite or a file of one, to show everything about it.", autocompletion=complete_suite),
    ] = None,
    json: Json = False,
) -> None:
    """List the suites, with size, source and citation."""
    if name is None:
        if json:
            print_json({suite: _facts(generator) for suite, generator in known_suites().items()})
        else:
            print_document(_list_suites())
        return
    generator = find_generator(name)
    if generator is None:
        raise UnknownNameError("suite", name, SUITES)
    if json:
        print_json({name: _facts(generator)})
    else:
        print_document(_describe_suite(generator))


def _facts(generator: Generator) -> dict[str, Any]:
    return {
        "summary": generator.summary,
        "rows": generator.rows,
        "source": generator.source,
        "citation": generator.citation,
        "licence": generator.licence,
        "options": {
            option.name: {"default": option.default, "choices": list(option.choices)}
            for option in generator.options.values()
        },
    }


def _list_suites() -> Document:
    columns = (Column("pairs", "count"), Column("source", "text"), Column("what it tests", "text"))
    facts = {name: (entry.pairs, entry.group, entry.summary) for name, entry in SUITES.index.items()}
    facts |= {one.name: (one.rows, one.source, one.summary) for one in SUITES.plugins()}
    rows = tuple(Row(name, facts[name]) for name in sorted(facts))
    headline = f"{len(rows)} suites; acidtest suites NAME shows one in detail."
    return Document("acidtest suites", headline, (Table("suites", "", columns, rows, "suite"),))


def _describe_suite(suite: Generator) -> Document:
    purpose = "" if isinstance(suite.make, partial) else " ".join((suite.make.__doc__ or "").replace("``", "").split())
    purpose = purpose.removeprefix(suite.summary).lstrip(". ")
    columns = (Column("default", "text"), Column("values", "text"))
    rows = tuple(
        Row(option.flag, (str(option.shown), " or ".join(option.choices))) for option in suite.options.values()
    )
    facts = (
        Note(f"{f'{suite.rows:,} pairs' if suite.rows else 'Pairs'}, made from {suite.source}. {suite.summary}"),
        *([Note(purpose)] if purpose else []),
        Note(f"Citation: {suite.citation}"),
        Note(f"Licence: {suite.licence}"),
    )
    tables = (Table("options", "", columns, rows, "option"),) if rows else ()
    return Document("acidtest suites", suite.name, (*facts, *tables))
