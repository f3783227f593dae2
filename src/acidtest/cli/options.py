"""Options and output that commands share."""

from __future__ import annotations

import json
import logging
import os
import sys
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from acidtest.core.errors import AcidtestError, UnknownNameError
from acidtest.core.logs import log
from acidtest.core.settings import variable

if TYPE_CHECKING:
    from rich.console import Console

Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Verbose = Annotated[
    int, typer.Option("--verbose", "-v", count=True, help="Say more on standard error; twice: everything.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no warnings.")]
Seed = Annotated[int, typer.Option("--seed", help="Seed of every random choice.", min=0)]

From = Annotated[
    str | None,
    typer.Option(
        "--from",
        help="The corpus to make suites from: any NLI file; for stress/numerical also AQuA-RAT or a text. "
        "Default: the starter corpus.",
    ),
]
Columns = Annotated[
    str | None, typer.Option("--columns", help="For files: premise=COL,hypothesis=COL,label=COL,… (ours=theirs).")
]
LabelMap = Annotated[
    str | None, typer.Option("--label-map", help="For files: theirs=ours, such as 0=entailment,1=non-entailment.")
]

_PATIENCE = 2.0

OPEN = {"allow_extra_args": True, "ignore_unknown_options": True}
"""Context settings of a command that passes suite options such as ``--words`` on."""


def set_up_logging(verbose: int, quiet: bool) -> None:
    """Send the log to standard error at the level asked for."""
    level = logging.ERROR if quiet else (logging.WARNING, logging.INFO, logging.DEBUG)[min(verbose, 2)]
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(levelname)s: %(message)s"))
    handler.setLevel(level)
    log.handlers = [handler]
    if not verbose and not quiet:
        log.handlers.append(Stages())
    log.setLevel(min(level, logging.INFO))


class Stages(logging.Handler):
    """What is being done, a line for each stage that begins when a command has run for more than two seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(logging.INFO)
        self._clock, self._start = clock, clock()

    def emit(self, record: logging.LogRecord) -> None:
        """Print a stage."""
        if getattr(record, "stage", False) and self._clock() - self._start > _PATIENCE:
            sys.stderr.write(f"{record.getMessage()} …\n")


def console() -> Console:
    """Standard output; as wide as the terminal, or a readable width when it is none."""
    from rich.console import Console

    class PipeConsole(Console):
        """A reader that goes away is no error; rich alone would end with status 1."""

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    return PipeConsole(highlight=False, emoji=False, width=None if sys.stdout.isatty() else 110)


def print_json(value: Any) -> None:
    """A result for machines."""
    sys.stdout.write(json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def suite_arguments(context: typer.Context, suites: Sequence[str]) -> dict[str, str | bool]:
    """Options of suites: ``--words fresh``, ``--words=fresh``, ``--faithful`` on what is left of the command line.

    Like other options they may also come from a variable or from acidtest.toml, for the suites that have them.
    """
    from acidtest import api

    options = suite_options()
    asked = [generator for name, generator in api.suites().items() if api.means(suites, name)]
    used = {option for generator in asked for option in generator.options}
    own = [opt for parameter in context.command.params for opt in parameter.opts if opt.startswith("--")]
    found: dict[str, str | bool] = {}
    for name in options:
        given = os.environ.get(variable(name), (context.default_map or {}).get(name))
        if given is not None and name in used:
            several = isinstance(given, list | tuple)
            found[name] = given if isinstance(given, bool) else ",".join(map(str, given)) if several else str(given)
    words = list(context.args)
    while words:
        word = words.pop(0)
        flag, equals, value = word.partition("=")
        name = flag.removeprefix("--").replace("-", "_")
        if not flag.startswith("-"):
            raise AcidtestError(f"{word!r} was not expected here; see: acidtest {context.info_name} --help")
        if not flag.startswith("--") or name not in options:
            flags = [*own, *("--" + option.replace("_", "-") for option in options)]
            raise UnknownNameError("option", flag, flags)
        if equals:
            found[name] = value
        else:
            found[name] = words.pop(0) if words and not words[0].startswith("-") else True
    return found


def suite_options() -> list[str]:
    """The names of all suites' own options."""
    from acidtest import api

    return sorted({option for generator in api.suites().values() for option in generator.options})
