"""What tests share: the real data beside the checkout, and golden files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from browsers import started_chromium
from toys import chromium as chromium
from toys import toy as toy

# A busy machine is no failure: nothing is timed, and every run tries the same examples.
settings.register_profile(
    "acidtest",
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("acidtest")

PATIENCE = 300.0
"""Seconds until something that a test waits for is taken never to happen, however busy the machine is."""

ROOT = Path(__file__).parents[1]
SHARED = ROOT.parent / "shared" / "data"
GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers of one test's models are no other's, nor the user's; output is as wide as where there is no terminal."""
    monkeypatch.setenv("ACIDTEST_CACHE_FOLDER", str(tmp_path_factory.mktemp("cache")))
    # Processes that run tests side by side have one of their own.
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture(scope="session")
def patience() -> float:
    """Seconds until something that a test waits for is taken never to happen."""
    return PATIENCE


@pytest.fixture
def shared() -> Path:
    """The real data sets, or a skip that says they are not there."""
    if not SHARED.is_dir():
        pytest.skip("real data sets (../shared/data) are not on this machine")
    return SHARED


@pytest.fixture
def golden() -> Callable[[str, str], None]:
    """Compare a text with the golden file of that name; ACIDTEST_UPDATE_GOLDEN=1 rewrites it."""

    def compare(name: str, text: str) -> None:
        path = GOLDEN / name
        if os.environ.get("ACIDTEST_UPDATE_GOLDEN"):
            path.write_text(text, encoding="utf-8", newline="\n")
        assert text == path.read_text(encoding="utf-8")

    return compare


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A real Chromium; one for all tests, because two cannot be driven by turns in one process."""
    with started_chromium() as browser:
        yield browser
