"""A real Chromium for tests of pages, and what axe-core says of them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

PATIENCE = 300.0
"""Seconds until something that a test waits for is taken never to happen, however busy the machine is."""


class PatientBrowser:
    """A browser whose pages wait as long as a busy machine needs; playwright itself gives up after 30 seconds."""

    def __init__(self, browser: Any) -> None:
        self._browser = browser

    def new_context(self, **options: Any) -> Any:
        context = self._browser.new_context(**options)
        context.set_default_timeout(PATIENCE * 1000)
        return context

    def new_page(self, **options: Any) -> Any:
        page = self._browser.new_page(**options)
        page.context.set_default_timeout(PATIENCE * 1000)
        return page


@contextmanager
def started_chromium() -> Iterator[PatientBrowser]:
    """A browser driven by playwright; the test is skipped where either is missing."""
    playwright = pytest.importorskip("playwright.sync_api", reason="the tests in a browser need playwright")
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("the tests in a browser need Chromium")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        yield PatientBrowser(browser)
        browser.close()


RULE_TAGS = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")
COLOUR_RULES = ("color-contrast", "link-in-text-block")
"""The rules whose outcome depends on colours: what a dark page may break that a light one keeps."""


def find_faults(page: Any, rules: Sequence[str] = ()) -> list[str]:
    """What axe-core finds wrong with the page as it stands, by the named rules or by all, with the elements."""
    from axe_playwright_python.sync_playwright import Axe

    chosen = {"type": "rule", "values": list(rules)} if rules else {"type": "tag", "values": list(RULE_TAGS)}
    results = Axe().run(page, options={"runOnly": chosen, "resultTypes": ["violations"]})
    return [
        f"{fault['id']}: {node['html']} {node.get('failureSummary')}"
        for fault in results.response["violations"]
        for node in fault["nodes"]
    ]


@contextmanager
def served_folder(folder: Path) -> Iterator[str]:
    """The address of a plain server of files on this machine."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder)) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
