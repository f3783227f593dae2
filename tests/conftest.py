"""What tests share: the real data beside the checkout, and golden files."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from browsers import PATIENCE, started_chromium
from toys import chromium as chromium
from toys import toy as toy
from wordnets import full_wordnet as full_wordnet
from wordnets import made_wordnet as made_wordnet
from wordnets import nltk_wordnet as nltk_wordnet

# A busy machine is no failure: nothing is timed, and every run tries the same examples.
settings.register_profile(
    "acidtest",
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("acidtest")

ROOT = Path(__file__).parents[1]
SHARED = ROOT.parent / "shared" / "data"
GOLDEN = Path(__file__).parent / "golden"


KEPT_VARIABLES = re.compile(
    r"PATH|LD_LIBRARY_PATH|LANG|LC_ALL|TZ|TMPDIR|TEMP|TMP|USER|LOGNAME|USERNAME|VIRTUAL_ENV|DISPLAY|CUDA_VISIBLE_DEVICES"
    r"|SYSTEMROOT|SYSTEMDRIVE|WINDIR|COMSPEC|PATHEXT|PROGRAMFILES.*|PYTHON(?!PATH).*|PYENV_ROOT|PIP_.*|SSL_CERT_.*|(?i:.*_proxy)"
    r"|OMP_NUM_THREADS|POLARS_MAX_THREADS|OPENBLAS_.*|MKL_.*|COVERAGE_.*|PYTEST_XDIST_.*|PYTEST_CURRENT_TEST"
    r"|ACIDTEST_UPDATE_GOLDEN|ACIDTEST_WORDNET"
)
"""What tests see of the environment: how to run programs and where tests find their own resources."""


def pytest_configure(config: pytest.Config) -> None:
    """Give the tests an environment and a home of their own: no settings, caches or keys of the user."""
    home = tempfile.TemporaryDirectory(prefix="acidtest-home-")
    config.add_cleanup(home.cleanup)
    for name in list(os.environ):
        if not KEPT_VARIABLES.fullmatch(name):
            del os.environ[name]
    for name in ("HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA"):
        os.environ[name] = home.name


@pytest.fixture(autouse=True)
def _own_folders(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep what one test writes to the cache and the current folder from other tests, and theirs from the user."""
    folder = tmp_path_factory.mktemp("here")
    monkeypatch.setenv("ACIDTEST_CACHE_FOLDER", str(folder / "cache"))
    monkeypatch.chdir(folder)


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
