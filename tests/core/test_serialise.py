"""Results as JSON and back."""

from __future__ import annotations

import pytest

from acidtest.core import serialise
from acidtest.core.estimate import Estimate
from acidtest.core.serialise import from_json, to_json


def test_the_annotations_of_a_class_are_evaluated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    evaluated = list[object]()
    hints = serialise.get_type_hints

    def counted(kind: object) -> dict[str, object]:
        evaluated.append(kind)
        return hints(kind)

    monkeypatch.setattr(serialise, "get_type_hints", counted)
    serialise._type_hints.cache_clear()
    estimates = [Estimate(0.5, 0.4, 0.6, number) for number in range(50)]
    assert from_json(list[Estimate], to_json(estimates)) == estimates
    assert evaluated == [Estimate]
