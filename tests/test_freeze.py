"""Suites are what they were: a handful of the digests that ``tools/freeze.py`` recorded, made again."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]
DIGESTS = json.loads((ROOT / "tests" / "golden" / "freeze.json").read_text(encoding="utf-8"))
SUITES = ("hans", "hans/novel", "lexical/colours", "sample", "stress/negation", "stress/numerical", "taxonomy")


@pytest.fixture(scope="module")
def freeze() -> ModuleType:
    """The tool as a module."""
    spec = importlib.util.spec_from_file_location("freeze", ROOT / "tools" / "freeze.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["freeze"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", SUITES)
def test_a_suite_is_what_was_recorded(freeze: ModuleType, name: str) -> None:
    record = freeze.stable(freeze.suite_record(name))
    assert freeze.digests(record)[0] == DIGESTS["suites"][name][0], record


def test_the_options_of_commands_are_what_was_recorded(freeze: ModuleType) -> None:
    commands = freeze.command_parameters()
    recorded = {key.removeprefix("options of ") for key in DIGESTS["options"] if key.startswith("options of ")}
    assert recorded <= set(commands)
    for name, parameters in commands.items():
        assert freeze.digests(parameters)[0] == DIGESTS["options"][f"options of {name}"][0], (name, parameters)


def test_another_number_differs_and_another_sentence_only_in_prose(freeze: ModuleType) -> None:
    record = {"value": 1, "note": "three groups", "by": [{"text": "a"}]}
    digests = freeze.digests(record)
    assert freeze.digests(record | {"value": 2})[0] != digests[0]
    assert freeze.digests(record | {"note": "of three groups"})[0] == digests[0]
    assert freeze.digests(record | {"note": "of three groups"})[1] != digests[1]
    assert freeze.digests({"value": 1, "remark": "three groups", "by": [{"text": "a"}]})[0] != digests[0]


def test_differences_name_the_place_and_both_values(freeze: ModuleType) -> None:
    old = {"by": [{"n": 1}, {"n": 2}], "gone": 0}
    new = {"by": [{"n": 1}, {"n": 3}], "more": 0}
    assert list(freeze.differences(old, new)) == ["/by/1/n: 2 -> 3", "/gone: removed: 0", "/more: added: 0"]
