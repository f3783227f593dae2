"""The program: its commands, its settings, and what it says when something goes wrong."""

from __future__ import annotations

import os
import re
import sys
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup, TyperOption
from typer.exceptions import TyperException

from acidtest.cli import (
    agreement,
    annotate,
    antonyms,
    audit,
    behaviour,
    compare,
    errors,
    experiment,
    export,
    generate,
    lexical,
    report,
    representations,
    run,
    score,
    sources,
    suites,
    taxonomy,
    train,
    words,
)
from acidtest.cli.options import complain, echo, suite_options
from acidtest.cli.study_commands import study_command
from acidtest.core.errors import AcidtestError, FileError
from acidtest.core.interrupts import INTERRUPTED, interrupt_normally
from acidtest.core.logs import log
from acidtest.core.settings import CONFIG, FILE, PREFIX, file_settings, refuse_unasked, variable
from acidtest.core.study import STUDIES
from acidtest.version import __version__

app = typer.Typer(
    name="acidtest",
    help="Find out whether a natural-language-inference model reasons or cheats.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command("run", context_settings=run.CONTEXT)(run.run)
app.command("suites")(suites.suites)
app.command("generate", context_settings=generate.CONTEXT)(generate.generate)
app.command("score", context_settings=score.CONTEXT)(score.score)
app.command("compare")(compare.compare)
app.command("report")(report.report)
app.command("audit")(audit.audit)
app.command("antonyms")(antonyms.antonyms)
app.command("lexical")(lexical.lexical)
app.command("behaviour")(behaviour.behaviour)
app.command("representations", context_settings=representations.CONTEXT)(representations.representations)
app.command("errors")(errors.errors)
app.command("agreement")(agreement.agreement)
app.command("annotate")(annotate.annotate)
app.command("taxonomy")(taxonomy.taxonomy)
app.command("tag")(taxonomy.tag)
app.command("train", context_settings=train.CONTEXT)(train.train)
app.command("experiment", context_settings=experiment.CONTEXT)(experiment.experiment)
app.command("words")(words.words)
app.command("export")(export.export)
app.command("sources")(sources.sources)

for name in STUDIES:
    if name not in {registered.name for registered in app.registered_commands}:
        app.command(name)(study_command(STUDIES[name]))

OPEN_COMMANDS = ("run", "generate", "score", "representations")
"""The commands that pass suites' own options on."""

KNOWN_VARIABLES = {CONFIG, "ACIDTEST_UPDATE_GOLDEN", "ACIDTEST_CACHE_FOLDER", "ACIDTEST_DATA", "ACIDTEST_WORDNET"}


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False,
) -> None:
    """Find out whether a natural-language-inference model reasons or cheats."""
    if version:
        echo(f"acidtest {__version__}")
        raise typer.Exit


def command() -> TyperGroup:
    """The program as one object, every option of it also an ``ACIDTEST_*`` variable."""
    group = typer.main.get_group(app)
    for sub in group.commands.values():
        sub.invoke = partial(_invoke_asked, sub.invoke)  # type: ignore[method-assign]
        for parameter in sub.params:
            if isinstance(parameter, TyperOption) and parameter.name != "help":
                parameter.envvar = variable(parameter.name)
    return group


def _invoke_asked(invoke: Callable[[Any], Any], context: typer.Context) -> Any:
    """Run a command unless the settings file in the current folder asks for what only a user may ask for."""
    if CONFIG not in os.environ:
        for name, value in context.params.items():
            if _is_from_file(context, name):
                refuse_unasked(FILE, name, value)
    return invoke(context)


def _is_from_file(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "DEFAULT_MAP"


def main(arguments: list[str] | None = None) -> int:
    """Run the program: 0 good, 1 a check failed, 2 a user's mistake, 3 ours, 130 interrupted."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="replace")
    words = sys.argv[1:] if arguments is None else arguments
    try:
        interrupt_normally()
        status = _invoked(words or ["--help"])
    except KeyboardInterrupt:
        status = INTERRUPTED
    except typer.Exit as stop:
        status = stop.exit_code
    except TyperException as error:
        message = re.sub(r" \(env var: '\w+'\)", "", error.format_message()).rstrip(".")
        context, parameter = getattr(error, "ctx", None), getattr(error, "param", None)
        if context is not None and parameter is not None and _is_from_file(context, parameter.name):
            message = f"{os.environ.get(CONFIG, FILE)}: {parameter.name}: {message}"
        complain(f"acidtest: {message}; see: acidtest {_command(words)}--help")
        status = 2
    except AcidtestError as error:
        complain(f"acidtest: {error}")
        status = 2
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 0
    except OSError as error:
        # A folder that cannot be written, a full disk: nothing acidtest can mend.
        log.debug("%s", traceback.format_exc())
        complain(f"acidtest: {error.filename or 'output'}: {error.strerror or error}")
        status = 2
    except Exception:
        traceback.print_exc()
        complain("acidtest: this is a mistake in acidtest, not yours; please report it with the lines above")
        status = 3
    if status == INTERRUPTED:
        complain("acidtest: interrupted; the same command continues")
    if arguments is None:
        sys.exit(status)
    return status


def _invoked(words: list[str]) -> int:
    group = command()
    settings = {} if {"--help", "--version"} & set(words) else _settings(group, words[0])
    result = group.main(args=words, prog_name="acidtest", standalone_mode=False, default_map=settings)
    return result if isinstance(result, int) else 0


def _settings(group: TyperGroup, command: str) -> dict[str, dict[str, Any]]:
    """What the settings file says for each command; unknown variables are pointed out on the way.

    What holds for all commands must fit the one that is run.
    """
    path = Path(os.environ.get(CONFIG, FILE))
    if CONFIG in os.environ and not path.is_file():
        raise AcidtestError(f"{CONFIG}: there is no file {path}")
    options = {name: [p.name for p in sub.params if p.name] for name, sub in group.commands.items()}
    for name in OPEN_COMMANDS:
        options[name] += suite_options()
    known = {variable(option) for names in options.values() for option in names} | KNOWN_VARIABLES
    for name in sorted(set(os.environ) - known):
        if name.startswith(PREFIX):
            complain(f"acidtest: the environment variable {name} is none of acidtest's; it changes nothing")
    settings = file_settings(path, options)
    for name, sub in group.commands.items():
        several = {parameter.name for parameter in sub.params if _takes_several(parameter)}
        own = {parameter.name for parameter in sub.params}
        for option, value in settings.get(name, {}).items():
            if option in several and not isinstance(value, list):
                settings[name][option] = [value]
            elif isinstance(value, list) and option in own - several and name == command:
                raise FileError(path, f"{option}: acidtest {name} takes one value, not a list")
    return settings


def _takes_several(parameter: Any) -> bool:
    return getattr(parameter, "multiple", False) or getattr(parameter, "nargs", 1) == -1


def _command(words: list[str]) -> str:
    """The command a user meant, for the hint."""
    known = {registered.name for registered in app.registered_commands}
    return f"{words[0]} " if words and words[0] in known else ""
