"""Options that a suite or a model has of its own, read off the function that makes it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args, get_origin

from acidtest.core.errors import AcidtestError, UnknownNameError
from acidtest.core.suite import Argument


@dataclass(frozen=True)
class Option:
    """An argument of one suite's or one kind of model's own, such as ``--words``."""

    name: str
    default: Argument | tuple[str, ...]
    choices: tuple[str, ...] = ()

    @property
    def flag(self) -> str:
        """As it is written on a command line."""
        return "--" + self.name.replace("_", "-")

    @property
    def shown(self) -> str:
        """The default as a user would write it."""
        return ",".join(self.default) or "none" if isinstance(self.default, tuple) else str(self.default)

    def parsed(self, text: object, owner: str) -> Argument | tuple[str, ...]:
        """The value a user wrote, as the function takes it; where that is several, commas part them."""
        if isinstance(self.default, bool):
            if str(text).lower() not in ("true", "false"):
                raise AcidtestError(f"{owner}: {self.flag} takes no value, true or false, not {text!r}")
            return str(text).lower() == "true"
        if text is True:
            raise AcidtestError(f"{owner}: {self.flag} needs a value")
        if isinstance(self.default, tuple):
            return tuple(part.strip() for part in str(text).split(",") if part.strip())
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
    return {p.name: Option(p.name, p.default, _choices(p.annotation)) for p in parameters}


def _choices(annotation: object) -> tuple[str, ...]:
    return get_args(annotation) if get_origin(annotation) is Literal else ()


def parsed_options(
    options: Mapping[str, Option], given: Mapping[str, Any], owner: str
) -> dict[str, Argument | tuple[str, ...]]:
    """What a user wrote for some of the options; an unknown one is refused."""
    values = {}
    for name, value in given.items():
        if name not in options:
            raise UnknownNameError(f"option of {owner}", name, options)
        values[name] = options[name].parsed(value, owner)
    return values
