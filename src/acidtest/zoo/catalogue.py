"""The architectures and the settings the papers gave them; nothing here loads torch unless a docstring says so."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from acidtest.core.errors import UnknownNameError
from acidtest.core.registry import Option, read_options
from acidtest.core.structured import parse_toml

Settings = Mapping[str, Any]


@dataclass(frozen=True)
class Architecture:
    """A kind of network: a summary, its citation, default settings, and settings of papers that tested it.

    Its module in ``zoo/architectures`` defines ``network``, and may define ``READER``, ``fit`` and ``READS_LETTERS``.
    """

    name: str
    summary: str
    citation: str
    defaults: Settings
    presets: Mapping[str, Settings]

    def preset(self, name: str) -> Settings:
        """The settings of a paper, or the defaults for an empty name."""
        if name and name not in self.presets:
            raise UnknownNameError(f"preset of {self.name}", name, self.presets)
        return {**self.defaults, **self.presets.get(name, {})}

    @property
    def network(self) -> Callable[..., Any]:
        """The class or function that makes the network; loads torch."""
        function: Callable[..., Any] = self._module.network
        return function

    @property
    def options(self) -> dict[str, Option]:
        """The options of the network; loads torch."""
        return read_options(self.network)

    @property
    def reader(self) -> Any:
        """The class that reads pairs for the network; loads torch."""
        from acidtest.zoo.readers import WordReader

        return getattr(self._module, "READER", WordReader)

    @property
    def fit(self) -> Callable[..., None] | None:
        """The function that fits the network in one pass; None where it is trained step by step. Loads torch."""
        function: Callable[..., None] | None = getattr(self._module, "fit", None)
        return function

    @property
    def reads_words(self) -> bool:
        """Whether the network reads vectors of words; loads torch."""
        from acidtest.zoo.readers import WordReader

        return issubclass(self.reader, WordReader)

    @property
    def reads_letters(self) -> bool:
        """Whether the network reads the letters of words; loads torch."""
        return bool(getattr(self._module, "READS_LETTERS", False))

    @property
    def _module(self) -> Any:
        return importlib.import_module(f"acidtest.zoo.architectures.{self.name.replace('-', '_')}")


def architecture(name: str) -> Architecture:
    """The architecture of this name."""
    known = architectures()
    if name not in known:
        raise UnknownNameError("architecture", name, known)
    return known[name]


@cache
def architectures() -> Mapping[str, Architecture]:
    """All architectures by name."""
    content = resources.files("acidtest.data").joinpath("zoo", "architectures.toml").read_bytes()
    return {
        name: Architecture(
            name, table["summary"], table["citation"], table.get("defaults", {}), table.get("presets", {})
        )
        for name, table in parse_toml(content, "architectures.toml").items()
    }
