"""``acidtest suites``: list the suites."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from acidtest import api
from acidtest.api import Generator
from acidtest.cli.options import Json, Quiet, Seed, Verbose, console, echo, print_json, set_up_logging
from acidtest.core.errors import UnknownNameError


def suites(
    name: Annotated[str | None, typer.Argument(help="A suite, to show everything about it.")] = None,
    json: Json = False,
    verbose: Verbose = 0,
    quiet: Quiet = False,
    seed: Seed = 0,
) -> None:
    """List the suites, with size, source and citation."""
    set_up_logging(verbose, quiet)
    known = api.suites()
    if name is not None and name not in known:
        raise UnknownNameError("suite", name, known)
    chosen = known if name is None else {name: known[name]}
    if json:
        print_json({suite: _facts(generator) for suite, generator in chosen.items()})
    elif name is None:
        _print_table(known)
    else:
        _print_one(known[name])


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


def _print_table(known: dict[str, Generator]) -> None:
    width = max(map(len, ("suite", *known)))
    lines = [f"{'suite':<{width}}  {'pairs':>8}  {'source':<10}  what it tests"]
    lines += [f"{name:<{width}}  {g.rows:>8,}  {g.source:<10}  {g.summary}" for name, g in known.items()]
    echo("\n".join([*lines, "", "acidtest suites NAME shows one in detail."]))


def _print_one(generator: Generator) -> None:
    out = console()
    out.print(f"[bold]{generator.name}[/]  {generator.rows:,} pairs from {generator.source}")
    out.print(generator.summary)
    if generator.make.__doc__:
        out.print("\n" + " ".join(generator.make.__doc__.replace("``", "").split()), markup=False)
    out.print(f"\nCitation: {generator.citation}\nLicence: {generator.licence}", markup=False)
    for option in generator.options.values():
        choices = f" ({' | '.join(option.choices)})" if option.choices else ""
        out.print(f"--{option.name.replace('_', '-')}{choices}  default {option.shown}", markup=False)
