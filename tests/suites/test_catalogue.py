"""Listing suites imports none of them, and looking up one imports its module only."""

from __future__ import annotations

import json
import subprocess
import sys


def modules_after(code: str) -> set[str]:
    """The modules of acidtest that are imported after running some code in a new process."""
    show = "import json, sys; print(json.dumps([name for name in sys.modules if name.startswith('acidtest.')]))"
    done = subprocess.run([sys.executable, "-c", f"{code}\n{show}"], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_listing_suites_imports_none_of_them() -> None:
    imported = modules_after("from acidtest.suites.catalogue import SUITES; assert 'hans' in list(SUITES)")
    assert {name for name in imported if name.startswith("acidtest.suites.")} == {"acidtest.suites.catalogue"}


def test_one_suite_imports_its_own_module_and_no_linguistics() -> None:
    imported = modules_after("from acidtest.suites.catalogue import SUITES; SUITES['stress/negation']")
    assert "acidtest.suites.stress.distraction" in imported
    parts = {name.rpartition(".")[2] for name in imported}
    assert not parts & {"sentences", "tagging", "wordnet", "hans", "grounding"}
