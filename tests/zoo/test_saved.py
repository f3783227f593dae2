"""Folders of trained networks: what is wrong with them is told, and what answers otherwise has another fingerprint."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'acidtest[zoo]'")

from acidtest import api  # noqa: E402
from acidtest.core.errors import FileError  # noqa: E402
from acidtest.zoo.saved import load  # noqa: E402


@pytest.fixture
def net(train_file: Path, tmp_path: Path) -> Path:
    """The folder of a small network."""
    api.train(
        *("cbow", api.Material([train_file])),
        output=tmp_path / "net",
        arguments={"hidden": "4"},
        recipe={"epochs": 1},
        dimensions=4,
    )
    return tmp_path / "net"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"reader": None}, "reader"),
        ({"labels": None}, "labels"),
        ({"reader": {"tuned": True}}, "dimensions"),
        ({"colour": "red"}, "colour"),
        ({"settings": {"hiden": 3}}, "hiden"),
        ({"settings": {"hidden": "wide"}}, "size"),
        ({"settings": {"hidden": -4}}, "negative"),
    ],
)
def test_a_description_that_is_none_is_told(net: Path, change: dict[str, Any], message: str) -> None:
    told = json.loads((net / "zoo.json").read_text()) | change
    (net / "zoo.json").write_text(json.dumps({key: value for key, value in told.items() if value is not None}))
    with pytest.raises(FileError, match=rf"zoo\.json: does not describe a network.*{message}"):
        load(net)


def test_another_word_is_another_fingerprint(net: Path) -> None:
    before = load(net).fingerprint
    assert load(net).fingerprint == before
    words = (net / "vocabulary.txt").read_text()
    (net / "vocabulary.txt").write_text(words.replace("paris", "rome"))
    assert load(net).fingerprint != before
