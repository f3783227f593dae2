"""Ctrl-C while the program still loads its modules."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

INTERRUPTING = """
import os, signal, sys

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have the program ignore it


class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == os.environ["INTERRUPTED_MODULE"]:
            os.kill(os.getpid(), signal.SIGINT)


sys.meta_path.insert(0, Finder())
"""
"""Presses Ctrl-C when a module is about to be imported: no clock is needed to be in the middle of loading."""


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT for one process")
@pytest.mark.parametrize("module", ["numpy", "polars", "acidtest.core.suite", "acidtest.workflows.runs", "typer.core"])
def test_ctrl_c_while_modules_load_is_no_traceback(module: str, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(INTERRUPTING)
    paths = os.pathsep.join(filter(None, (str(tmp_path), os.environ.get("PYTHONPATH"))))
    process = subprocess.run(
        [sys.executable, "-m", "acidtest", "suites"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": paths, "INTERRUPTED_MODULE": module},
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.stderr == "acidtest: interrupted\n"
    assert process.stdout == ""
    assert process.returncode == 130


def test_a_program_that_imports_acidtest_keeps_its_own_ctrl_c() -> None:
    code = "import signal; before = signal.getsignal(signal.SIGINT); import acidtest; "
    code += "assert signal.getsignal(signal.SIGINT) is before"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_ctrl_c_before_a_command_begins_is_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from acidtest.cli import app

    def interrupted(*_: object) -> dict[str, dict[str, object]]:
        raise KeyboardInterrupt

    monkeypatch.setattr(app, "command", interrupted)
    assert app.main(["suites"]) == 130
    assert capsys.readouterr().err == "acidtest: interrupted; the same command continues\n"
