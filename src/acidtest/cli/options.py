"""Options and output functions that commands share."""

from __future__ import annotations

import functools
import inspect
import json
import logging
import os
import re
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any, TextIO, get_type_hints

import typer

from acidtest.core.document import Document
from acidtest.core.errors import AcidtestError, FileError, UnknownNameError
from acidtest.core.escaping import escape_json, escape_terminal
from acidtest.core.guests import divert_output, private_copy
from acidtest.core.logs import NOTE, PlainFormatter, log
from acidtest.core.settings import CONFIG, PLUGINS, PREFIX

Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Verbose = Annotated[
    int, typer.Option("--verbose", "-v", count=True, help="Say more on standard error; twice: everything.")
]
Full = Annotated[bool, typer.Option("--full", help="Print everything, not one screen.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no warnings.")]
Seed = Annotated[int, typer.Option("--seed", help="Seed of every random choice.", min=0)]

_EVERYWHERE: dict[str, tuple[Any, Any]] = {"verbose": (Verbose, 0), "quiet": (Quiet, False), "seed": (Seed, 0)}
"""Options that every command accepts, with their defaults, even if its function does not take them."""

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
    str | None,
    typer.Option(
        "--label-map", help="Theirs=ours, such as 0=entailment: a model's outputs, else the labels of a file."
    ),
]
KeepColumns = Annotated[
    str | None,
    typer.Option(
        "--keep-columns",
        help="Columns of the corpus that still hold of changed pairs, beside genre, round and other provenance.",
    ),
]
PublishedAs = Annotated[
    str | None,
    typer.Option(
        "--as",
        help="The published set that a file is, where its content does not tell: stress/spelling, hans … "
        "file: read it as any other.",
    ),
]
SuiteLabelMap = Annotated[str | None, typer.Option("--suite-label-map", help="Of the suite's file: theirs=ours.")]


def check_suite_label_map(text: str | None) -> str | None:
    """The value of --suite-label-map; a mistake in it is reported under this name, not that of --label-map."""
    from acidtest.io.columns import gold_map, parse_pairs

    option = "--suite-label-map"
    if text:
        gold_map(parse_pairs(text, option=option), option)
    return text


@contextmanager
def columns_named_by(option: str, files: Collection[str | Path]) -> Iterator[None]:
    """Within it, errors in these files advise another option than ``--columns``, which is for a different file."""
    try:
        yield
    except FileError as error:
        if error.path not in map(Path, files):
            raise
        raise FileError(error.path, error.problem.replace("--columns", option), error.line) from error


Engine = Annotated[
    str, typer.Option("--engine", help="Where the work is done: local, in this process, or ray, on a Ray cluster.")
]
Address = Annotated[
    str | None,
    typer.Option("--address", help="Of the Ray cluster, auto or ray://host:10001. Default: a new one on this machine."),
]

KNOWN_VARIABLES = {
    CONFIG,
    PLUGINS,
    "ACIDTEST_UPDATE_GOLDEN",
    "ACIDTEST_CACHE_FOLDER",
    "ACIDTEST_DATA",
    "ACIDTEST_WORDNET",
}
"""Environment variables that are not options."""

SCREEN = 40
"""The most lines that are printed without --full."""

_DELAY = 2.0
_WIDTH = 110

OPEN = {"allow_extra_args": True, "ignore_unknown_options": True}
"""Context settings of a command that accepts undeclared options, such as ``--words`` of a suite."""


def read_command(function: Callable[..., None]) -> Callable[..., None]:
    """The function wrapped for typer: fields of its dataclass parameters become options; -v, -q, --seed are added.

    The fields carry typer's annotations; the function gets dataclasses of the given values. Logging is set up before
    it is called.
    """
    hints = get_type_hints(function, include_extras=True)
    bundles = {name: {field.name for field in fields(kind)} for name, kind in hints.items() if is_dataclass(kind)}
    parameters: dict[str, tuple[Any, Any]] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if name in bundles:
            kinds = get_type_hints(hints[name], include_extras=True)
            parameters |= {field.name: (kinds[field.name], field.default) for field in fields(hints[name])}
        else:
            parameters[name] = (hints[name], parameter.default)
    added = {name: pair for name, pair in _EVERYWHERE.items() if name not in parameters}
    if "seeds" in parameters:
        # A command that trains takes several seeds instead of one.
        added.pop("seed", None)

    @functools.wraps(function)
    def command(**given: Any) -> None:
        set_up_logging(given["verbose"], given["quiet"])
        for name, names in bundles.items():
            given[name] = hints[name](**{key: given.pop(key) for key in names})
        with _own_output():
            function(**{name: value for name, value in given.items() if name not in added})

    keyword = inspect.Parameter.KEYWORD_ONLY
    signature = inspect.Signature(
        [
            inspect.Parameter(name, keyword, annotation=kind, default=default)
            for name, (kind, default) in {**parameters, **added}.items()
        ]
    )
    command.__signature__ = signature  # type: ignore[attr-defined]
    command.__annotations__ = {name: parameter.annotation for name, parameter in signature.parameters.items()}
    return command


def set_up_logging(verbose: int, quiet: bool) -> None:
    """Send the log to standard error at the level asked for."""
    level = logging.ERROR if quiet else (NOTE, logging.INFO, logging.DEBUG)[min(verbose, 2)]
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(PlainFormatter("%(levelname)s: %(message)s"))
    handler.setLevel(level)
    handler.addFilter(Once())
    log.handlers = [handler]
    if not verbose and not quiet:
        log.handlers.append(Stages())
    log.setLevel(min(level, logging.INFO))


class Once(logging.Filter):
    """Drops repeated notes and warnings, such as those about a file that several trainings read."""

    def __init__(self) -> None:
        super().__init__()
        self._seen = set[str]()

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record is new, or neither a note nor a warning."""
        text = record.getMessage()
        new = text not in self._seen or not NOTE <= record.levelno <= logging.WARNING
        self._seen.add(text)
        return new


class Stages(logging.Handler):
    """Prints a line for each stage that begins after a command has run for two seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(logging.INFO)
        self._clock, self._start = clock, clock()

    def emit(self, record: logging.LogRecord) -> None:
        """Print a stage."""
        if getattr(record, "stage", False) and self._clock() - self._start > _DELAY:
            complain(f"{record.getMessage()} …")


def print_lines(lines: Iterable[str]) -> None:
    """Print lines of results; styles are kept only on a terminal that shows them, and if NO_COLOR is not set."""
    from acidtest.render.terminal import plain_signs

    output = results_output()
    text = plain_signs("\n".join(lines), getattr(output, "encoding", None))
    is_plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    typer.echo(text, file=output, color=False if is_plain else None)


def print_document(document: Document, *, full: bool = True) -> None:
    """Print a document to standard output."""
    from acidtest.render.terminal import render

    print_lines(render(document, terminal_width(), full=full))


def terminal_width() -> int:
    """The width of the terminal or ``COLUMNS``, else 110."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns):
        return int(columns)
    try:
        return os.get_terminal_size(results_output().fileno()).columns or _WIDTH
    except (OSError, ValueError, AttributeError):
        return _WIDTH


_OUTPUTS: list[TextIO] = []
"""The stream for results of the command that is running, which models cannot reach."""


@contextmanager
def _own_output() -> Iterator[None]:
    """Keep standard output for results inside the block: what anything else prints goes to standard error."""
    output = private_copy(sys.stdout)
    _OUTPUTS.append(output)
    try:
        with divert_output():
            yield
    finally:
        _OUTPUTS.pop()
        if output is not sys.stdout:
            output.close()


def results_output() -> TextIO:
    """The stream for results."""
    return _OUTPUTS[-1] if _OUTPUTS else sys.stdout


def echo(*lines: str) -> None:
    """Print lines of results, each of which stays one line."""
    results_output().write("".join(f"{escape_terminal(line)}\n" for line in lines))


def complain(*lines: str) -> None:
    """Print lines on progress or errors to standard error, each of which stays one line."""
    sys.stderr.write("".join(f"{escape_terminal(line)}\n" for line in lines))


def send_commands(commands: str) -> None:
    """Send lines of commands to the server that runs this job; their texts are escaped already (``escape_command``).

    GitHub reads commands from standard error, too; standard output may be JSON.
    """
    sys.stderr.write(f"{commands}\n")


def print_json(value: Any) -> None:
    """Print a result as JSON."""
    written = json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False)
    results_output().write(f"{escape_json(written)}\n")


def suite_arguments(context: typer.Context, suites: Sequence[str]) -> dict[str, str | bool]:
    """Suite options that typer did not parse: ``--words fresh``, ``--words=fresh``, ``--faithful``."""
    return extra_arguments(context, suites, ())[0]


def extra_arguments(
    context: typer.Context, suites: Sequence[str], models: Sequence[str]
) -> tuple[dict[str, str | bool], dict[str, str | bool]]:
    """The options of suites and those of models that typer did not parse.

    Values from environment variables and acidtest.toml count if a chosen suite or model has the option.
    """
    if not context.args and not context.default_map and not has_variables():
        return {}, {}
    from acidtest.workflows import batteries, evaluations

    of_suites = batteries.options_of(suites)
    of_models = {option for spec in models for option in evaluations.model_options(spec)}
    any_suite = {*suite_options(), *of_suites}
    every = {*any_suite, *(model_options() if models else ())}
    given = _given(context, every)
    for name in given:
        if name not in of_models and name not in any_suite:
            kinds = [f"{kind}:" for kind in evaluations.model_kinds() if name in evaluations.model_options(kind)]
            raise AcidtestError(f"--{name.replace('_', '-')} is an option of {' and '.join(kinds)} models only")
    settled = {name: value for name, value in _settled(context, every).items() if name in of_suites | of_models}
    values = settled | given
    for_suites = {name: value for name, value in values.items() if name in of_suites or name not in of_models}
    return for_suites, {name: value for name, value in values.items() if name in of_models}


def variable_name(option: str) -> str:
    """The environment variable of an option: ``ACIDTEST_BATCH_SIZE`` for ``batch_size``."""
    return PREFIX + option.upper().replace("-", "_")


def has_variables() -> bool:
    """Whether an ``ACIDTEST_*`` variable is set that names a settings file or may name an option."""
    return any(name.startswith(PREFIX) and name not in KNOWN_VARIABLES for name in os.environ) or CONFIG in os.environ


def left_arguments(
    context: typer.Context, names: Collection[str], elsewhere: Callable[[str], str] = lambda name: ""
) -> dict[str, str | bool]:
    """The options with these names that typer did not parse; any other option is an error.

    ``elsewhere`` says what else has an option of a name, for the error message; empty if nothing has.
    """
    return _given(context, names, elsewhere)


def _settled(context: typer.Context, names: Iterable[str]) -> dict[str, str | bool]:
    """The values of these options in environment variables or, where those are not set, in acidtest.toml."""
    values: dict[str, str | bool] = {}
    for name in names:
        given = os.environ.get(variable_name(name), (context.default_map or {}).get(name))
        if given is not None:
            several = isinstance(given, list | tuple)
            values[name] = given if isinstance(given, bool) else ",".join(map(str, given)) if several else str(given)
    return values


_FLAG = re.compile(r"-(?!\.?\d)")
"""Matches the start of an option, but not of a negative number."""


def _given(
    context: typer.Context, names: Collection[str], elsewhere: Callable[[str], str] = lambda name: ""
) -> dict[str, str | bool]:
    """The values of the options that typer did not parse; True for an option without a value."""
    known = [opt for parameter in context.command.params for opt in parameter.opts if opt.startswith("--")]
    values: dict[str, str | bool] = {}
    words = list(context.args)
    while words:
        word = words.pop(0)
        flag, equals, value = word.partition("=")
        name = flag.removeprefix("--").replace("-", "_")
        if not flag.startswith("-"):
            hint = f"-m {word} names a model, -s {word} a suite; " if "--suites" in known and "--model" in known else ""
            raise AcidtestError(f"{word!r} was not expected here; {hint}see: acidtest {context.info_name} --help")
        if flag == "-n" and "--limit" in known:
            raise AcidtestError(
                f"acidtest {context.info_name} has no option -n; --limit N asks a sample of N pairs of each suite. "
                f"For a suite of another size: acidtest generate NAME -n N -o FILE, and then -s FILE; a .toml of yours "
                f"may say rows = N"
            )
        if not flag.startswith("--") or name not in names:
            if other := elsewhere(name):
                raise AcidtestError(f"{flag} is {other}")
            flags = [*known, *sorted("--" + option.replace("_", "-") for option in names)]
            raise UnknownNameError("option", flag, flags)
        if equals:
            values[name] = value
        else:
            values[name] = words.pop(0) if words and not _FLAG.match(words[0]) else True
    return values


def model_options() -> list[str]:
    """The names of the options of all kinds of models."""
    from acidtest.workflows import evaluations

    return sorted({option for kind in evaluations.model_kinds() for option in evaluations.model_options(kind)})


def suite_options() -> list[str]:
    """The names of the options of all suites."""
    from acidtest.workflows import batteries

    return sorted({option for generator in batteries.suites().values() for option in generator.options})
