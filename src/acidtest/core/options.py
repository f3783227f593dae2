"""Options that a suite or a model has of its own, read off the function that makes it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, get_args

from acidtest.core.errors import AcidtestError, UnknownNameError
from acidtest.core.suite import Argument


@dataclass(frozen=True)
class Option:
    """An argument of one suite's or one kind of model's own, such as ``--words``."""

    name: str
    default: Argument
    choices: tuple[str, ...] = ()

    @property
    def flag(self) -> str:
        """As it is written on a command line."""
        return "--" + self.name.replace("_", "-")

    def parsed(self, text: object, owner: str) -> Argument:
        """The value a user wrote, as the function takes it."""
        if isinstance(self.default, bool):
            if str(text).lower() not in ("true", "false"):
                raise AcidtestError(f"{owner}: {self.flag} takes no value, true or false, not {text!r}")
            return str(text).lower() == "true"
        if text is True:
            raise AcidtestError(f"{owner}: {self.flag} needs a value")
        if self.choices and text not in self.choices:
            raise AcidtestError(f"{owner}: {self.flag} is {' or '.join(self.choices)}, not {text!r}")
        try:
            return type(self.default)(str(text))
        except ValueError as error:
            kind = "a whole number" if isinstance(self.default, int) else "a number"
            raise AcidtestError(f"{owner}: {self.flag} needs {kind}, not {text!r}") from error


def options_of(make: Callable[..., Any]) -> dict[str, Option]:
    """The options a function takes: all its parameters but the first."""
    parameters = list(inspect.signature(make, eval_str=True).parameters.values())[1:]
    return {p.name: Option(p.name, p.default, get_args(p.annotation)) for p in parameters}


def parsed_options(options: Mapping[str, Option], given: Mapping[str, Any], owner: str) -> dict[str, Argument]:
    """What a user wrote for some of the options; an unknown one is refused."""
    values = {}
    for name, value in given.items():
        if name not in options:
            raise UnknownNameError(f"option of {owner}", name, options)
        values[name] = options[name].parsed(value, owner)
    return values
