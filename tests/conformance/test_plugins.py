"""The index of plug-ins is what the modules of the package register."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

TOOL = Path(__file__).parents[2] / "tools" / "plugins.py"


def test_the_index_is_what_tools_plugins_writes() -> None:
    done = subprocess.run([sys.executable, str(TOOL), "--check"], capture_output=True, text=True)
    assert done.returncode == 0, f"run: python tools/plugins.py\n{done.stderr}"
