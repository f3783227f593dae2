"""Folders of trained networks: what is wrong with them is told, and what answers otherwise has another fingerprint."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'acidtest[zoo]'")

from acidtest import api  # noqa: E402
from acidtest.core.errors import FileError  # noqa: E402
from acidtest.zoo.networks import load_network  # noqa: E402


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
        ({"reader": None}, "reader: expected an object, got null"),
        ({"reader": {"files": ["../outside.txt"]}}, "reader.files: '../outside.txt' is no file of this folder"),
        ({"labels": None}, "labels: is missing"),
        ({"labels": "abc"}, 'labels: expected a list, got "abc"'),
        ({"labels": []}, "labels: expected entailment, neutral, contradiction, or .*got none"),
        ({"labels": ["yes", "no"]}, "labels: expected .*got yes, no"),
        ({"labels": ["entailment", "entailment", "neutral"]}, "labels: expected .*got entailment, entailment, neutral"),
        ({"labels": ["entailment", "neutral"]}, "labels: expected .*got entailment, neutral"),
        ({"architecture": 3}, "architecture: expected a text, got 3"),
        ({"hypothesis_only": "no"}, 'hypothesis_only: expected true or false, got "no"'),
        ({"reader": {"tuned": True}}, "does not describe a network.*dimensions"),
        ({"colour": "red"}, "no key called 'colour'"),
        ({"settings": {"hiden": 3}}, "does not describe a network.*hiden"),
        ({"settings": {"hidden": "wide"}}, "does not describe a network.*size"),
        ({"settings": {"hidden": -4}}, "does not describe a network.*negative"),
    ],
)
def test_a_description_that_is_none_is_told(net: Path, change: dict[str, Any], message: str) -> None:
    told = json.loads((net / "zoo.json").read_text()) | change
    (net / "zoo.json").write_text(json.dumps({key: value for key, value in told.items() if value is not None}))
    with pytest.raises(FileError, match=rf"zoo\.json: {message}"):
        load_network(net)


def test_labels_of_another_number_than_the_outputs_are_refused(net: Path) -> None:
    fields = json.loads((net / "zoo.json").read_text()) | {"labels": ["entailment", "non-entailment"]}
    (net / "zoo.json").write_text(json.dumps(fields))
    with pytest.raises(FileError, match=r"model\.safetensors: does not hold the weights of this network"):
        load_network(net)


def test_another_word_is_another_fingerprint(net: Path) -> None:
    before = load_network(net).fingerprint
    assert load_network(net).fingerprint == before
    words = (net / "vocabulary.txt").read_text()
    (net / "vocabulary.txt").write_text(words.replace("paris", "rome"))
    assert load_network(net).fingerprint != before


@pytest.mark.parametrize("content", ["", "[]", "3", "[" * 100_000, '{"schema": 1, "schema": 1}', '{"schema": 99}'])
def test_a_description_that_is_no_json_of_ours_is_told(net: Path, content: str) -> None:
    (net / "zoo.json").write_text(content)
    with pytest.raises(FileError, match=r"zoo\.json"):
        load_network(net)


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("training.json", "[]", r"expected an object, got \[\]"),
        ("training.json", "[" * 100_000, "nests lists and objects"),
        ("result.json", "{}", "has no schema number"),
        ("result.json", '{"schema": 1}', "state: is missing"),
        ("result.json", '{"schema": 1, "state": {"epoch": "x"}, "scores": {}, "made": {}}', "state.epoch: expected an"),
        (
            "result.json",
            '{"schema": 1, "state": {}, "scores": {"dev": {}}, "made": {}}',
            "scores.dev.right: is missing",
        ),
    ],
)
def test_what_a_training_left_behind_is_checked(
    net: Path, train_file: Path, file: str, content: str, message: str
) -> None:
    (net / file).write_text(content)
    with pytest.raises(FileError, match=rf"{file}: .*{message}"):
        api.train(
            *("cbow", api.Material([train_file])),
            output=net,
            arguments={"hidden": "4"},
            recipe={"epochs": 1},
            dimensions=4,
        )
