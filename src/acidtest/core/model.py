"""What a model is to acidtest: anything that turns columns into probabilities."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from acidtest.core.registry import Registry

if TYPE_CHECKING:
    from acidtest.core.suite import Suite

Resolution = Literal["three-way", "two-way"]


class Model(Protocol):
    """Anything with these. Only ``predict`` is required of a user's object; ``completed`` adds the rest.

    ``predict`` receives one list for each name in ``columns`` and gives float32[n, 3] in the order
    entailment, neutral, contradiction. A two-way model writes non-entailment into the neutral column.
    """

    name: str
    fingerprint: str | None
    columns: tuple[str, ...]
    resolution: Resolution
    probabilities: bool
    may_abstain: bool
    batch_size: int

    def predict(self, *columns: Sequence[str]) -> npt.NDArray[np.float32]: ...


@runtime_checkable
class ChecksSuites(Protocol):
    """A model that wants to see the whole suites before anything runs, to refuse what cannot work."""

    def check(self, suites: Sequence[Suite]) -> None: ...


class CompletedModel:
    """A user's object with ``predict``, given the usual values for whatever it does not say."""

    def __init__(self, inner: object, name: str, fingerprint: str | None = None) -> None:
        self._inner = inner
        self.name = str(getattr(inner, "name", name))
        self.fingerprint: str | None = getattr(inner, "fingerprint", fingerprint)
        self.columns: tuple[str, ...] = tuple(getattr(inner, "columns", ("premise", "hypothesis")))
        self.resolution: Resolution = getattr(inner, "resolution", "three-way")
        self.probabilities = bool(getattr(inner, "probabilities", True))
        self.may_abstain = bool(getattr(inner, "may_abstain", False))
        self.batch_size = int(getattr(inner, "batch_size", 1024))

    def predict(self, *columns: Sequence[str]) -> npt.NDArray[np.float32]:
        """What the user's object says."""
        result: npt.NDArray[np.float32] = self._inner.predict(*columns)  # type: ignore[attr-defined]
        return result

    def check(self, suites: Sequence[Suite]) -> None:
        """Pass the suites on to an object that wants to see them."""
        if isinstance(self._inner, ChecksSuites):
            self._inner.check(suites)


def completed(model: object, name: str | None = None) -> Model:
    """A model with every attribute the runner reads."""
    return CompletedModel(model, name or type(model).__name__)


Adapter = Callable[[str], Model]
"""Makes a model from what follows the first colon of its spec."""

MODELS: Registry[Adapter] = Registry("kind of model", "acidtest.models", "acidtest.models")


def model_from_spec(spec: str) -> Model:
    """The model a spec such as ``baseline:overlap`` names."""
    kind, _, rest = spec.partition(":")
    return MODELS[kind](rest)
