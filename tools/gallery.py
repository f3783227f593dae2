"""Takes the pictures of docs/gallery: the top of a page that acidtest wrote, as Chromium shows it.

python tools/gallery.py run/report.html docs/gallery/name.png
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

WIDTH, HEIGHT = 1000, 820


def take_picture(page: Path, picture: Path) -> None:
    """The first screen of a page, in light colours, as a PNG of few colours."""
    from playwright.sync_api import sync_playwright

    program = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        tab = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
        tab.goto(page.resolve().as_uri())
        tab.screenshot(path=picture)
        browser.close()


if __name__ == "__main__":
    take_picture(Path(sys.argv[1]), Path(sys.argv[2]))
    print(sys.argv[2])
