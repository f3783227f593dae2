"""The reference is what the code would write now, and the site builds: no dead link, no request to another server.

tests/conformance/test_suites.py says of the pages of suites that they are current.
"""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import pytest

from browsers import served_folder

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
BUILD = runpy.run_path(str(DOCS / "build.py"))
SITE = runpy.run_path(str(DOCS / "site.py"))


@pytest.mark.parametrize("name", BUILD["PAGES"])
def test_a_page_of_the_reference_is_current(name: str) -> None:
    written = (DOCS / "reference" / name).read_text(encoding="utf-8")
    assert written == BUILD["PAGES"][name](), f"docs/reference/{name} is out of date; run: make docs"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site: dead links and foreign requests end the build."""
    folder: Path = tmp_path_factory.mktemp("site") / "site"
    SITE["build"](folder)
    return folder


def test_every_page_can_be_reached_and_is_in_the_texts_for_language_models(site: Path) -> None:
    listed = {path.relative_to(DOCS).as_posix() for _, path in SITE["navigation"]()}
    pages = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")}
    assert pages == listed
    links = re.findall(r"\]\((.+?)\.html\)", (site / "llms.txt").read_text(encoding="utf-8"))
    assert {f"{link}.md" for link in links} == listed
    assert all((site / f"{link}.html").is_file() for link in links)
    whole = (site / "llms-full.txt").read_text(encoding="utf-8")
    assert all(f"<!-- {name} -->" in whole for name in listed)


def test_foreign_loads_are_found(tmp_path: Path) -> None:
    page = '<a href="https://example.org">a link</a><script src="https://example.org/x.js"></script>'
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    (tmp_path / "style.css").write_text("@import url(https://example.org/font.css);", encoding="utf-8")
    assert len(SITE["foreign_loads"](tmp_path)) == 2


@pytest.mark.browser
@pytest.mark.parametrize("from_disk", [True, False], ids=["from disk", "from a server"])
def test_search_finds_a_page_and_asks_no_other_server(site: Path, browser: Any, from_disk: bool) -> None:
    with served_folder(site) as address:
        base = f"{site.as_uri()}/" if from_disk else address
        page, requests = browser.new_page(), list[str]()
        page.on("request", lambda request: requests.append(request.url))
        page.goto(f"{base}explanation/stress.html")
        page.keyboard.press("/")
        page.keyboard.type("tautology")
        page.get_by_text("stress/ladder").first.wait_for()
        assert [url for url in requests if not url.startswith((base, "about:", "data:", "blob:"))] == []
        page.close()


def test_the_documentation_is_not_too_long() -> None:
    """Words of prose without the generated reference; blocks and tables are not prose."""
    words = 0
    for path in [ROOT / "README.md", *DOCS.rglob("*.md")]:
        text = path.read_text(encoding="utf-8")
        if BUILD["NOTE"] not in text:
            prose = re.sub(r"^ *```.*?^ *```$|^\|[^\n]*\|$|<!--.*?-->", "", text, flags=re.MULTILINE | re.DOTALL)
            words += len(prose.split())
    assert words <= 35_000
