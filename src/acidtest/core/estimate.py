"""A number with its uncertainty and where it comes from."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from acidtest.version import __version__


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its 95 % interval. Not computable is NaN with a note, never 0."""

    value: float
    low: float = math.nan
    high: float = math.nan
    n: int = 0
    groups: int = 0
    method: str = ""
    note: str = ""

    def __post_init__(self) -> None:
        if math.isnan(self.value) and not self.note:
            raise ValueError("an estimate without a value needs a note that says why")

    @property
    def known(self) -> bool:
        """Whether there is a value at all."""
        return not math.isnan(self.value)

    def to_json(self) -> dict[str, Any]:
        """As results.json holds it: NaN is null."""
        return {name: None if value != value else value for name, value in asdict(self).items()}


def signature(*parts: str) -> str:
    """What a number depends on, on one line: the parts joined by bars, the version of acidtest last."""
    return "|".join([*parts, f"acidtest:{__version__}"])
