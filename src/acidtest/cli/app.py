"""The program: its commands, its settings and its error messages."""

from __future__ import annotations

import gc
import importlib
import inspect
import os
import re
import sys
import traceback
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup, TyperOption
from typer.exceptions import TyperException

from acidtest.cli.completion import is_completing
from acidtest.cli.options import (
    KNOWN_VARIABLES,
    OPEN,
    complain,
    echo,
    has_variables,
    read_command,
    suite_options,
    variable_name,
)
from acidtest.core.errors import INTERRUPTED, AcidtestError, FileError, cut_long_values, interrupt_normally
from acidtest.core.escaping import escape_lines
from acidtest.core.guests import stay_diverted
from acidtest.core.logs import log
from acidtest.core.registry import plugin_error, read_index
from acidtest.core.settings import CONFIG, FILE, PLUGINS, PREFIX, apply_found, read_settings
from acidtest.core.study import GROUPS, STUDIES, CommandEntry, study_entries
from acidtest.version import __version__

SUMMARY = "Find out whether a natural-language-inference model reasons or cheats."

COMMANDS = {
    "run": "test a model",
    "score": "test a model",
    "suites": "test a model",
    "runs": "look into a run",
    "report": "look into a run",
    "compare": "look into a run",
    "gate": "test a model",
    "baseline": "test a model",
    "representations": "look into a run",
    "errors": "look into a run",
    "generate": "make and check data",
    "audit": "make and check data",
    "check": "make and check data",
    "words": "make and check data",
    "tag": "make and check data",
    "taxonomy": "make and check data",
    "sources": "make and check data",
    "cache": "make and check data",
    "annotate": "people",
    "agreement": "people",
    "train": "train",
    "experiment": "train",
    "export": "train",
}
"""The group of each command that is written by hand; studies register their own commands."""

_SHARED_MODULES = {"tag": "taxonomy", "report": "compare", "baseline": "gate"}
"""The module of each command that shares the module of another command."""

OPEN_COMMANDS = ("run", "generate", "check", "score", "representations")
"""The commands that pass options on to suites."""

NESTED_COMMANDS = ("export",)
"""The commands that have subcommands."""

_OPEN_TRAINING = ("train", "experiment")
"""The commands that pass options on to architectures."""

_FROM_FILE, _FROM_USER = "DEFAULT_MAP", ("COMMANDLINE", "ENVIRONMENT")
"""What Click calls the sources of the value of an option."""

_HELP = {"help_option_names": ["-h", "--help"]}


class Program(TyperGroup):
    """The program; its help lists the commands in groups."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write all commands by group, each with its full summary, whether they are imported or not."""
        entries = command_entries()
        for group in GROUPS:
            with formatter.section(group.capitalize()):
                formatter.write_dl([(name, entry.summary) for name, entry in entries.items() if entry.group == group])


def command_entries() -> dict[str, CommandEntry]:
    """Every command, including those of studies, as the index lists them: importing all of them takes long."""
    written = {name: CommandEntry(entry.group, entry.summary) for name, entry in read_index("command").items()}
    entries = {**written, **{name: entry for name, entry in study_entries().items() if name not in written}}
    return dict(sorted(entries.items(), key=lambda item: GROUPS.index(item[1].group)))


def command(names: Iterable[str] | None = None) -> TyperGroup:
    """The program with some of its commands, or all; every option is also an ``ACIDTEST_*`` variable."""
    app = typer.Typer(
        name="acidtest",
        cls=Program,
        help=SUMMARY,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings=_HELP,
    )
    app.callback(invoke_without_command=True)(_root)
    chosen = list(command_entries() if names is None else names)
    for name in chosen:
        if name in NESTED_COMMANDS:
            app.add_typer(_nested_commands(name), name=name)
            continue
        settings = OPEN if name in (*OPEN_COMMANDS, *_OPEN_TRAINING) else {}
        app.command(name, context_settings={**settings, **_HELP})(read_command(_command_function(name)))
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)
    # Typer lists commands with subcommands before the others.
    group.commands = {name: group.commands[name] for name in chosen}
    for sub in leaf_commands(group).values():
        sub.invoke = partial(_invoke_with_settings, sub.invoke)
        for parameter in sub.params:
            if isinstance(parameter, TyperOption) and parameter.name != "help":
                parameter.envvar = variable_name(parameter.name)
    return group


def leaf_commands(group: TyperGroup) -> dict[str, Any]:
    """The commands that do something, by what a user types: ``run``, ``export onnx``."""
    commands: dict[str, Any] = {}
    for name, sub in group.commands.items():
        nested = sub.commands if isinstance(sub, TyperGroup) else {}
        commands |= {f"{name} {part}": inner for part, inner in nested.items()} or {name: sub}
    return commands


def _nested_commands(name: str) -> typer.Typer:
    """A command with subcommands: its function holds the help, ``subcommands`` of its module the rest."""
    module = importlib.import_module(command_module(name))
    app = typer.Typer(rich_markup_mode=None, context_settings=_HELP)
    app.callback()(getattr(module, name))
    for part, function in module.subcommands().items():
        summary = (inspect.getdoc(function) or "").partition("\n\n")[0]
        app.command(part, short_help=summary, context_settings=_HELP)(read_command(function))
    return app


def _command_function(name: str) -> Callable[..., Any]:
    """The function of a command: from its module, or made from the signature of a study."""
    if name in COMMANDS:
        module = importlib.import_module(command_module(name))
        function: Callable[..., Any] = getattr(module, name)
        return function
    from acidtest.cli.study_commands import study_command

    return study_command(STUDIES[name])


def command_module(name: str) -> str:
    """The module of a command that is written by hand."""
    return f"acidtest.cli.{_SHARED_MODULES.get(name, name)}"


def _root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False,
) -> None:
    """Find out whether a natural-language-inference model reasons or cheats."""
    if version:
        echo(f"acidtest {__version__}")
        raise typer.Exit


def _invoke_with_settings(invoke: Callable[[Any], Any], context: typer.Context) -> Any:
    """Run a command; a settings file that the user did not name may only choose data and appearance."""
    if CONFIG in os.environ:
        return invoke(context)
    sources = {name: _source(context, name) for name in context.params}
    found = {name: context.params[name] for name, source in sources.items() if source == _FROM_FILE}
    # Options of suites, which typer does not know.
    found |= {name: value for name, value in (context.default_map or {}).items() if name not in sources}
    requested = {name: context.params[name] for name, source in sources.items() if source in _FROM_USER}
    requested[PLUGINS] = os.environ.get(PLUGINS, "").split(os.pathsep)
    with apply_found(Path(FILE), found, requested):
        return invoke(context)


def _source(context: typer.Context, name: str) -> str:
    """Where the value of an option comes from, as Click calls it; empty if there is none."""
    source = context.get_parameter_source(name)
    return source.name if source else ""


def main(arguments: list[str] | None = None) -> int:
    """Run the program; the exit status is 0 for success, 1 failed check, 2 user's mistake, 3 bug, 130 interrupt."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # A terminal shows what it can; files and pipes get UTF-8 everywhere.
            stream.reconfigure(encoding=stream.encoding if stream.isatty() else "utf-8", errors="replace")
    if arguments is None and needs_utf8_mode():
        restart_in_utf8_mode()
    if arguments is None:
        # What is imported by now stays until the end: the garbage collector need not look at it again.
        gc.freeze()
        stay_diverted()
    words = sys.argv[1:] if arguments is None else arguments
    try:
        interrupt_normally()
        status = _invoke(words or ["--help"])
    except KeyboardInterrupt:
        status = INTERRUPTED
    except typer.Exit as stop:
        status = stop.exit_code
    except TyperException as error:
        message = re.sub(r" \(env var: '\w+'\)", "", error.format_message()).rstrip(".")
        context, parameter = getattr(error, "ctx", None), getattr(error, "param", None)
        if context is not None and parameter is not None and _source(context, parameter.name) == _FROM_FILE:
            message = f"{os.environ.get(CONFIG, FILE)}: {parameter.name}: {message}"
        complain(f"acidtest: {cut_long_values(message)}; see: acidtest {_command(words)}--help")
        status = 2
    except AcidtestError as error:
        complain(f"acidtest: {error}")
        status = 2
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 0
    except OSError as error:
        # A folder that cannot be written, a full disk: not an error of acidtest.
        log.debug("%s", traceback.format_exc())
        complain(f"acidtest: {error.filename or 'output'}: {error.strerror or error}")
        status = 2
    except Exception as error:
        status = _complain_of(error)
    if status == INTERRUPTED:
        complain("acidtest: interrupted; the same command continues")
    if arguments is None:
        sys.exit(status)
    return status


def needs_utf8_mode() -> bool:
    """Whether Python cannot name files outside ASCII, as with ``LC_ALL=C PYTHONUTF8=0``, and was not restarted yet."""
    return sys.getfilesystemencoding().lower() != "utf-8" and os.environ.get("PYTHONUTF8") != "1"


def restart_in_utf8_mode() -> None:
    """Replace this process by the same command in Python's UTF-8 mode; libraries take file names as UTF-8 only."""
    os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], {**os.environ, "PYTHONUTF8": "1"})


def _complain_of(error: Exception) -> int:
    """Say whose mistake an unforeseen exception is: that of a plug-in, with its line, or ours, with a traceback."""
    if plugin := plugin_error(error):
        complain(f"acidtest: {plugin}")
        return 2
    complain(*escape_lines("".join(traceback.format_exception(error))).split("\n"))
    complain("acidtest: this is a mistake in acidtest, not yours; please report it with the lines above")
    return 3


def _invoke(words: list[str]) -> int:
    """Run the command; only its module is imported, unless settings have to be checked."""
    if is_completing():
        command().main(prog_name="acidtest")
    name = next((word for word in words if not word.startswith("-")), None)
    settings_given = Path(os.environ.get(CONFIG, FILE)).is_file() or has_variables()
    needs_all = name and (settings_given or not (name in COMMANDS or _is_study(name)))
    group = command(None if needs_all else [name] if name else [])
    needs_settings = settings_given and name and not {"-h", "--help", "--version"} & set(words)
    settings = _settings(group, words[0]) if needs_settings else {}
    result = group.main(args=words, prog_name="acidtest", standalone_mode=False, default_map=settings)
    return result if isinstance(result, int) else 0


def _is_study(name: str) -> bool:
    return name.isidentifier() and name in STUDIES and bool(STUDIES[name].group)


def _settings(group: TyperGroup, command: str) -> dict[str, dict[str, Any]]:
    """The settings of each command in the settings file; unknown environment variables are reported.

    Those of a subcommand are in the mapping of its command. A list for an option that takes one value is an error only
    for ``command``, the one that is run.
    """
    path = Path(os.environ.get(CONFIG, FILE))
    if CONFIG in os.environ and not path.is_file():
        raise AcidtestError(f"{CONFIG}: there is no file {path}")
    leaves = leaf_commands(group)
    options: dict[str, list[str]] = {name: [] for name in group.commands}
    for name, sub in leaves.items():
        options[name.partition(" ")[0]] += [p.name for p in sub.params if p.name]
    for name in OPEN_COMMANDS:
        options[name] += suite_options()
    known = {variable_name(option) for names in options.values() for option in names} | KNOWN_VARIABLES
    for name in sorted(set(os.environ) - known):
        if name.startswith(PREFIX):
            complain(f"acidtest: the environment variable {name} is not one of acidtest's; it is ignored")
    settings = read_settings(path, options)
    values: dict[str, dict[str, Any]] = {}
    for name, sub in leaves.items():
        first, _, part = name.partition(" ")
        several = {parameter.name for parameter in sub.params if _takes_several(parameter)}
        single = {parameter.name for parameter in sub.params} - several
        chosen = {key: value for key, value in settings.get(first, {}).items() if not part or key in several | single}
        for option, value in chosen.items():
            if option in several and not isinstance(value, list):
                chosen[option] = [value]
            elif isinstance(value, list) and option in single and first == command:
                raise FileError(path, f"{option}: acidtest {name} takes one value, not a list")
        if part:
            values.setdefault(first, {})[part] = chosen
        else:
            values[first] = chosen
    return values


def _takes_several(parameter: Any) -> bool:
    return getattr(parameter, "multiple", False) or getattr(parameter, "nargs", 1) == -1


def _command(words: list[str]) -> str:
    """The command that the user typed, with a space after it; empty if it is unknown."""
    return f"{words[0]} " if words and (words[0] in COMMANDS or _is_study(words[0])) else ""
