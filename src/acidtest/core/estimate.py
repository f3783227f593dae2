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
        return {name: _null(value) for name, value in asdict(self).items()}

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> Estimate:
        """Back from results.json; keys of a later minor version are ignored."""
        known = {name: value for name, value in fields.items() if name in cls.__dataclass_fields__}
        numbers = {name: math.nan if fields[name] is None else fields[name] for name in ("value", "low", "high")}
        return cls(**{**known, **numbers})


def signature(*parts: str) -> str:
    """What a number depends on, on one line: the parts joined by bars, the version of acidtest last."""
    return "|".join([*parts, f"acidtest:{__version__}"])


def _null(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else value
