"""Builds the site (make site): the reference, the pages, their full text for language models, and a look for requests.

``zensical build --strict`` ends with an error for a link to a page or heading that does not exist. A reader's browser
must not ask any other server, so nothing that a page loads may have a foreign address.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
CONFIG = ROOT / "zensical.toml"
HIDDEN = re.compile(r"<!--.*?-->\n*", re.DOTALL)
BLOCK = re.compile(r"^ *```.*?^ *```$", re.MULTILINE | re.DOTALL)
LOADS = re.compile(
    r"""<(?:script|img|iframe|source|link)\b[^>]*\b(?:src|href)=["']?(https?:)?//[^>]+>|url\(["']?https?://"""
)
"""What a browser fetches by itself; a link that a reader may click is none of it."""
FOREIGN_WORKER = "https://unpkg.com/iframe-worker/shim"
"""What Zensical has a page from disk load, to search without a web worker."""
TEXTS = ("llms.txt", "llms-full.txt")
"""What is written for language models; pages link to them."""


def listed_pages(entries: list[Any], section: str = "") -> Iterator[tuple[str, Path]]:
    """The pages of the navigation in its order, each with its section."""
    for entry in entries:
        if isinstance(entry, str):
            yield section, DOCS / entry
            continue
        for title, inside in entry.items():
            if isinstance(inside, str):
                yield section, DOCS / inside
            else:
                yield from listed_pages(inside, section or title)


def navigation() -> list[tuple[str, Path]]:
    """The pages of the site, each with its section."""
    return list(listed_pages(tomllib.loads(CONFIG.read_text(encoding="utf-8"))["project"]["nav"]))


def page_title(text: str) -> str:
    """The first heading of a page."""
    title = re.search(r"^# (.+)$", text, re.MULTILINE)
    return title[1] if title else ""


def first_sentence(text: str) -> str:
    """The first sentence of prose on a page, for a list of pages."""
    paragraphs = BLOCK.sub("", HIDDEN.sub("", text)).split("\n\n")
    prose = next((part for part in paragraphs if part.strip() and part.strip()[0] not in "#|!-"), "")
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)|[*`]", r"\1", " ".join(prose.split()))
    return re.split(r"(?<=[.:?])\s", plain, maxsplit=1)[0].rstrip(":")


def write_texts(site: Path) -> None:
    """Write llms.txt, a list of the pages, and llms-full.txt, all of them in one file."""
    lines, whole, heading = ["# acidtest", "", f"> {first_sentence(_text(DOCS / 'index.md'))}", ""], [], None
    for section, path in navigation():
        text = _text(path)
        if section != heading:
            lines += ["", f"## {section or 'Start'}", ""]
            heading = section
        name = path.relative_to(DOCS).as_posix()
        lines.append(f"- [{page_title(text)}]({name.removesuffix('.md')}.html): {first_sentence(text)}")
        whole += [f"<!-- {name} -->", HIDDEN.sub("", text).strip(), ""]
    (site / "llms.txt").write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
    (site / "llms-full.txt").write_text("\n".join(whole) + "\n", encoding="utf-8", newline="\n")


def use_own_worker(site: Path) -> None:
    """Let the search of pages opened from disk run in a frame of ours instead of a script that another server has."""
    for page in site.rglob("*.html"):
        own = "../" * len(page.relative_to(site).parents[1:]) + "assets/frame-worker.js"
        page.write_text(_text(page).replace(FOREIGN_WORKER, own), encoding="utf-8", newline="\n")


def foreign_loads(site: Path) -> list[str]:
    """What a page would fetch from another server."""
    files = [path for path in site.rglob("*") if path.suffix in (".html", ".css")]
    return [f"{path.relative_to(site)}: {hit[0]}" for path in files for hit in LOADS.finditer(_text(path))]


def build(site: Path) -> None:
    """Build the site into a folder; end with what is wrong, if anything is."""
    with tempfile.TemporaryDirectory() as name:
        project = Path(name)
        # Programs beside the pages are no part of the site.
        shutil.copytree(DOCS, project / "docs", ignore=shutil.ignore_patterns("*.py", "__pycache__"))
        shutil.copy(CONFIG, project)
        for text in TEXTS:
            (project / "docs" / text).touch()
        program = [sys.executable, "-m", "zensical", "build", "--strict"]
        variables = {**os.environ, "NO_COLOR": "1"}
        done = subprocess.run(program, capture_output=True, text=True, cwd=project, env=variables)
        if done.returncode:
            raise SystemExit(re.sub(r"\x1b\[[\d;]*m", "", f"{done.stdout}{done.stderr}"))
        shutil.rmtree(site, ignore_errors=True)
        shutil.copytree(project / "build" / "site", site)
    use_own_worker(site)
    write_texts(site)
    if loads := foreign_loads(site):
        raise SystemExit("\n".join(["pages would ask other servers:", *loads]))


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


if __name__ == "__main__":
    target = ROOT / "build" / "site"
    target.parent.mkdir(exist_ok=True)
    build(target)
    print(f"{len(navigation())} pages: {target / 'index.html'}")  # noqa: T201
