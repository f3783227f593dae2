"""The architectures and their settings in the papers; importing this module does not load torch."""

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

    ``path`` names the class or function that makes the network, below ``zoo/architectures``. A class may have a
    ``reader`` of its own, a method ``fit``, and ``reads_letters``.
    """

    name: str
    summary: str
    citation: str
    path: str
    defaults: Settings
    presets: Mapping[str, Settings]

    def preset(self, name: str) -> Settings:
        """The settings of a paper, or the defaults for an empty name."""
        if name and name not in self.presets:
            raise UnknownNameError(f"preset of {self.name}", name, self.presets)
        return {**self.defaults, **self.presets.get(name, {})}

    @property
    def network(self) -> Callable[..., Any]:
        """Makes the network from a reader's basis and options; loads torch, as do the other properties."""
        module, _, name = self.path.rpartition(".")
        network: Callable[..., Any] = getattr(importlib.import_module(f"acidtest.zoo.architectures.{module}"), name)
        return network

    @property
    def options(self) -> dict[str, Option]:
        return read_options(self.network)

    @property
    def reader(self) -> Any:
        from acidtest.zoo.networks import WordReader

        return getattr(self.network, "reader", WordReader)

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.reader.columns)

    @property
    def may_lack(self) -> tuple[str, ...]:
        """Columns that files may lack; the reader decides whether the network can do without."""
        return tuple(getattr(self.reader, "may_lack", ()))

    @property
    def fits_at_once(self) -> bool:
        """Whether the network is fitted in one pass, not trained step by step."""
        return hasattr(self.network, "fit")

    @property
    def reads_words(self) -> bool:
        from acidtest.zoo.networks import WordReader

        return issubclass(self.reader, WordReader)


def architecture(name: str) -> Architecture:
    if name not in architectures():
        raise UnknownNameError("architecture", name, architectures())
    return architectures()[name]


@cache
def architectures() -> Mapping[str, Architecture]:
    content = resources.files("acidtest.data").joinpath("zoo", "architectures.toml").read_bytes()
    tables = parse_toml(content, "architectures.toml")
    return {name: Architecture(name, **{"defaults": {}, "presets": {}, **table}) for name, table in tables.items()}
