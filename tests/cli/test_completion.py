"""Completion in a shell: the script that bash sources, and the words it then offers."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

BIN = Path(sys.executable).parent

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")


def offered(tmp_path: Path, *line: str) -> list[str]:
    """The words that bash would offer for the last word of a line."""
    words = " ".join(f"'{word}'" for word in line)
    script = (
        f"source <(_ACIDTEST_COMPLETE=source_bash acidtest); COMP_WORDS=({words}); COMP_CWORD={len(line) - 1}; "
        '_acidtest_completion acidtest; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    environment = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
    bash = ["bash", "--norc", "-c", script]
    answer = subprocess.run(bash, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    return answer.stdout.split()


def test_bash_offers_commands_options_and_subcommands(tmp_path: Path) -> None:
    assert offered(tmp_path, "acidtest", "ru") == ["run", "runs"]
    assert offered(tmp_path, "acidtest", "run", "--sui") == ["--suites", "--suite-label-map"]
    assert "lm-eval" in offered(tmp_path, "acidtest", "export", "")


def test_bash_offers_suites_and_models(tmp_path: Path) -> None:
    names = offered(tmp_path, "acidtest", "run", "-s", "hans,stress/n")
    assert names == ["hans,stress/negation", "hans,stress/numerical"]
    assert offered(tmp_path, "acidtest", "run", "-m", "ref") == ["reference"]
    assert "baseline:overlap" in offered(tmp_path, "acidtest", "run", "-m", "base")
