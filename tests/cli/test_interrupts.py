"""Ctrl-C while the program still loads its modules."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT for one process")
@pytest.mark.parametrize("module", ["numpy", "polars", "acidtest.core.suite", "acidtest.api", "typer.core"])
def test_ctrl_c_while_modules_load_is_no_traceback(module: str, tmp_path: Path) -> None:
    # Python says on standard error when it has imported a module: no clock is needed to be in the middle of it.
    command = [sys.executable, "-X", "importtime", "-m", "acidtest", "suites"]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith("import time:") and line.rpartition("|")[2].strip() == module:
                process.send_signal(signal.SIGINT)
                break
        out, err = process.communicate(timeout=60)
    said = [line for line in err.splitlines() if not line.startswith("import time:")]
    assert said == ["acidtest: interrupted"]
    assert out == ""
    assert process.returncode == 130


def test_a_program_that_imports_acidtest_keeps_its_own_ctrl_c() -> None:
    code = "import signal, acidtest; assert signal.getsignal(signal.SIGINT) is signal.default_int_handler"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_ctrl_c_before_a_command_begins_is_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from acidtest.cli import app

    def interrupted(*_: object) -> dict[str, dict[str, object]]:
        raise KeyboardInterrupt

    monkeypatch.setattr(app, "_settings", interrupted)
    assert app.main(["suites"]) == 130
    assert capsys.readouterr().err == "acidtest: interrupted; the same command continues\n"
