"""What tests of studies and pages share: a toy run, a reader of pages, and a browser."""

from __future__ import annotations

import base64
import gzip
import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

from acidtest.core.run import Header, ModelFacts, Run
from acidtest.core.suite import Card

CARD = Card("toy", columns={"voice": "factor"}, crossings=(("voice", "label"),), rows=4, labels={"entailment": 4})
GOLD, OTHER = "entailment", "non-entailment"


def rows(suite: str = "toy", **columns: Sequence[Any]) -> pl.DataFrame:
    """Four rows: two right, two wrong, the last without an answer."""
    usual: dict[str, Sequence[Any]] = {
        "suite": [suite] * 4,
        "id": [f"{suite}-{number}" for number in range(4)],
        "premise": ["The judge left.", "It rained.", "Some cats sleep.", "No dog barked."],
        "hypothesis": ["The judge left.", "It snowed.", "Cats sleep.", "A dog barked."],
        "label": [GOLD, OTHER, GOLD, OTHER],
        "group": [f"{suite}-{number}" for number in range(4)],
        "voice": ["active", "passive", "active", None],
        "p_entailment": [0.9, 0.1234, 0.2, float("nan")],
        "p_neutral": [0.05, 0.8, 0.7, float("nan")],
        "p_contradiction": [0.05, 0.0766, 0.1, float("nan")],
        "answer": [GOLD, "neutral", "neutral", None],
        "correct": [True, True, False, False],
    }
    return pl.DataFrame(usual | columns)


@dataclass(frozen=True)
class Entry:
    """A toy run."""

    run: Run


def entry(
    frame: pl.DataFrame | None = None, *, model: str = "a-model", cards: Sequence[Card] = (CARD,), **facts: Any
) -> Entry:
    header = Header(ModelFacts(f"python:{model}", model, **facts), {card.name: card for card in cards}, {"limit": None})
    return Entry(Run(header, rows() if frame is None else frame))


class Page(HTMLParser):
    """Elements with their attributes and, by element, the text directly inside it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attributes)))

    def handle_data(self, data: str) -> None:
        if self.elements and data.strip():
            self.texts.append((self.elements[-1][0], data.strip()))

    def attributes(self, *names: str) -> list[str]:
        return [value for _, found in self.elements for name in names if (value := found.get(name)) is not None]

    def of(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


def section(text: str, name: str) -> str:
    """The section of a page with that id."""
    start = text.index(f'<section id="{name}"')
    return text[start : text.index("</section>", start)]


def unpacked(text: str) -> bytes:
    return gzip.decompress(base64.b64decode(text))


def pieces(text: str, name: str) -> list[Any]:
    """The blocks of texts or of parses embedded in a page, unpacked."""
    found = re.findall(rf'<script type="application/octet-stream" id="{name}-(\d+)">([^<]*)</script>', text)
    assert [int(number) for number, _ in found] == list(range(len(found)))
    return [json.loads(unpacked(block)) for _, block in found]


def embedded(text: str) -> dict[str, Any]:
    """What the example browser unpacks, every array as a list, the blocks of texts and parses put together."""
    (index,) = re.findall(r'<script type="application/octet-stream" id="examples-index">([^<]*)</script>', text)
    line, _, arrays = unpacked(index).partition(b"\n")
    assert (len(line) + 1) % 4 == 0

    def array(place: Mapping[str, Any]) -> list[int]:
        kind = {"Uint8": "<u1", "Uint16": "<u2", "Uint32": "<u4", "Int8": "<i1", "Int16": "<i2"}[place["kind"]]
        assert place["at"] % 4 == 0
        found: list[int] = np.frombuffer(arrays, kind, place["length"], place["at"]).tolist()
        return found

    def decoded(column: Mapping[str, Any]) -> list[Any]:
        return [column["values"][code] for code in array(column["codes"])]

    data: dict[str, Any] = json.loads(line)
    for name in ("suite", "label"):
        data[name] = decoded(data[name])
    data["factors"] = {name: decoded(column) for name, column in data["factors"].items()}
    for model in data["models"]:
        model |= {"answer": decoded(model["answer"]), "correct": array(model["correct"])}
        model["p"] = [array(column) for column in model["p"]]
    for name in ("id", "premise", "hypothesis"):
        data[name] = [value for block in pieces(text, "texts") for value in block[name]]
    return data


@pytest.fixture(scope="session")
def toy() -> SimpleNamespace:
    """Makers of toy runs and results, and readers of what was made of them."""
    makers = {maker.__name__: maker for maker in (rows, entry, section, pieces, embedded)}
    return SimpleNamespace(**makers, Page=Page, CARD=CARD, GOLD=GOLD, OTHER=OTHER)


class Chromium:
    """A headless browser, spoken to over pipes; a dump of the document would not wait for the unpacking thread."""

    def __init__(self, program: str, profile: Path, patience: float) -> None:
        self._patience = patience
        commands, self._write = os.pipe()
        self._read, answers = os.pipe()

        def connected() -> None:
            high = [os.dup2(commands, 100), os.dup2(answers, 101)]
            for number, pipe in enumerate(high, 3):
                os.dup2(pipe, number)

        flags = "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking"
        more = (
            f"--disable-component-update --disable-sync --user-data-dir={profile} --remote-debugging-pipe about:blank"
        )
        self._process = subprocess.Popen(
            [program, *flags.split(), *more.split()],
            preexec_fn=connected,
            close_fds=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(commands)
        os.close(answers)
        self._rest, self._number, self._session = b"", 0, {}
        targets = self.asked("Target.getTargets")["targetInfos"]
        target = next(target["targetId"] for target in targets if target["type"] == "page")
        session = self.asked("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self._session = {"sessionId": session}

    def asked(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        command = {"id": self._number, "method": method, "params": parameters, **self._session}
        os.write(self._write, json.dumps(command).encode() + b"\0")
        while (message := self._message()).get("id") != self._number:
            pass
        result: dict[str, Any] = message["result"]
        return result

    def wide(self, width: int) -> None:
        """Make the window that wide."""
        metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
        self.asked("Emulation.setDeviceMetricsOverride", **metrics)

    def value(self, expression: str) -> Any:
        """What an expression gives in the page, promises awaited."""
        found = self.asked("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def until(self, expression: str) -> Any:
        """What an expression gives once that is something."""
        deadline = time.monotonic() + self._patience
        while time.monotonic() < deadline:
            if found := self.value(expression):
                return found
            time.sleep(0.05)
        raise TimeoutError(f"not after {self._patience:.0f} s: {expression}")

    def opened(self, address: str) -> None:
        """Open a page and its examples, and wait for them."""
        self.asked("Page.navigate", url="about:blank")
        self.asked("Page.navigate", url=address)
        fold = "document.querySelector('#examples > details')"
        self.until(f"!!{fold} && ({fold}.open = true)")
        searched = "!document.querySelector('progress:not([hidden])')"
        self.until(f"!!document.querySelector('#examples-browser:not([hidden])') && {searched}")
        self.until("!document.querySelector('[aria-busy]')")

    def document(self, address: str) -> str:
        """The document once its examples are shown."""
        self.opened(address)
        return str(self.value("document.documentElement.outerHTML"))

    def close(self) -> None:
        self.asked("Browser.close")
        self._process.wait(self._patience)
        os.close(self._write)
        os.close(self._read)

    def _message(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            part = os.read(self._read, 1 << 16)
            assert part, "Chromium went away"
            self._rest += part
        text, _, self._rest = self._rest.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        return message


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory, patience: float) -> Iterator[Chromium]:
    """A browser, or a skip that says there is none."""
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not program or os.name != "posix":
        pytest.skip("no Chromium on this machine that can be spoken to over pipes")
    browser = Chromium(program, tmp_path_factory.mktemp("profile"), patience)
    browser.wide(1100)
    yield browser
    browser.close()
