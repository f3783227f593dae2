"""``acidtest export FORMAT``: a command for each format, made from the signature of the function that writes it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, get_type_hints

import typer

from acidtest.cli.options import Json, complain, echo, print_json
from acidtest.cli.study_commands import keyword_parameter, read_argument, typer_parameter
from acidtest.workflows.exports import FORMATS, ExportCheckError, Exported


def export() -> None:
    """Write models, suites and results for other programs."""


def subcommands() -> dict[str, Callable[..., None]]:
    """The command of each format by its name."""
    return {name: _format_command(name, FORMATS[name]) for name in FORMATS}


def _format_command(name: str, write: Callable[..., Exported]) -> Callable[..., None]:
    """The command of a format, with a signature that typer reads."""
    hints = get_type_hints(write, include_extras=True)
    parameters = inspect.signature(write).parameters
    signature = [typer_parameter(parameter, hints[key]) for key, parameter in parameters.items()]
    signature.append(keyword_parameter("json", Json, False))

    def command(*, json: bool, **given: Any) -> None:
        try:
            written = write(**{key: read_argument(key, hints[key], value, []) for key, value in given.items()})
        except ExportCheckError as error:
            if json:
                print_json(error.to_json())
            complain(f"acidtest: {error}")
            raise typer.Exit(1) from error
        if json:
            print_json(written.to_json())
        else:
            echo(*written.describe().split("\n"))

    command.__name__, command.__doc__ = name, write.__doc__
    command.__signature__ = inspect.Signature(signature)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in signature}
    return command
