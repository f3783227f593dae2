"""Each promise of SECURITY.md names a test; here are the tests of promises about the whole program."""

from __future__ import annotations

import ast
import re
import socket
from pathlib import Path

import pytest

from acidtest.cli import main

ROOT = Path(__file__).parents[1]
PROMISES = re.findall(r"^\| (.+) \| (`tests/.+`) \|$", (ROOT / "SECURITY.md").read_text(encoding="utf-8"), re.MULTILINE)
EVALUATORS = {"eval", "exec", "compile", "__import__"}
UNSAFE_MODULES = {"pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib", "yaml"}


def test_the_page_makes_promises() -> None:
    rows = (ROOT / "SECURITY.md").read_text(encoding="utf-8").count("\n| ") - 1
    assert len(PROMISES) == rows > 20


@pytest.mark.parametrize(("promise", "tests"), PROMISES, ids=lambda text: text[:40])
def test_every_promise_names_tests_that_exist(promise: str, tests: str) -> None:
    for file, name in re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", tests):
        assert re.search(rf"^def {name}\(", (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE), name


def test_nothing_is_evaluated_or_unpickled() -> None:
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Call(func=ast.Name(id=name)):
                    assert name not in EVALUATORS, f"{path}:{node.lineno}"
                case ast.Import(names=names):
                    assert not {alias.name.partition(".")[0] for alias in names} & UNSAFE_MODULES, path
                case ast.ImportFrom(module=str(module)):
                    assert module.partition(".")[0] not in UNSAFE_MODULES, path
                case ast.Call(func=ast.Attribute(value=ast.Name(id="torch"), attr="load"), keywords=keywords):
                    assert any(key.arg == "weights_only" for key in keywords), f"{path}:{node.lineno}"


def test_a_default_run_opens_no_connection(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refuse(*arguments: object, **options: object) -> None:
        raise AssertionError(f"a connection was opened to {arguments}")

    for name in ("connect", "connect_ex", "sendto", "bind"):
        monkeypatch.setattr(socket.socket, name, refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.chdir(tmp_path)
    assert main(["run", "--limit", "30", "--quiet"]) == 0
