"""The HTML page: what it says, what it embeds, and that nothing in it runs or loads but our own script."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from acidtest.core.run import Header, ModelFacts, Run
from acidtest.core.suite import Card
from acidtest.reports.html import Entry, page, published, verdict

CARD = Card("toy", columns={"voice": "factor"}, crossings=(("voice", "label"),), rows=4, labels={"entailment": 4})
GOLD, OTHER = "entailment", "non-entailment"


def estimate(value: float | None, low: float | None = None, high: float | None = None, **fields: Any) -> dict[str, Any]:
    return {"value": value, "low": low, "high": high, "n": 100, "groups": 100, "method": "Wilson", "note": ""} | fields


def rows(suite: str = "toy", **columns: Sequence[Any]) -> pl.DataFrame:
    """Four rows: two right, two wrong, the last without an answer."""
    usual: dict[str, Sequence[Any]] = {
        "suite": [suite] * 4,
        "id": [f"{suite}-{number}" for number in range(4)],
        "premise": ["The judge left.", "It rained.", "Some cats sleep.", "No dog barked."],
        "hypothesis": ["The judge left.", "It snowed.", "Cats sleep.", "A dog barked."],
        "label": [GOLD, OTHER, GOLD, OTHER],
        "voice": ["active", "passive", "active", None],
        "p_entailment": [0.9, 0.1234, 0.2, float("nan")],
        "p_neutral": [0.05, 0.8, 0.7, float("nan")],
        "p_contradiction": [0.05, 0.0766, 0.1, float("nan")],
        "answer": [GOLD, "neutral", "neutral", None],
        "correct": [True, True, False, False],
    }
    return pl.DataFrame(usual | columns)


def suite_result(**fields: Any) -> dict[str, Any]:
    result = {
        "signature": "toy|v:1|n:4",
        "overall": estimate(0.5, 0.15, 0.85),
        "metrics": {"accuracy": estimate(0.5, 0.15, 0.85)},
        "by": {
            "label": {GOLD: estimate(0.5, 0.1, 0.9), OTHER: estimate(0.5, 0.1, 0.9)},
            "voice": {"active": estimate(0.97125, 0.9071, 0.983), "passive": estimate(1.0, 0.2, 1.0)},
            "voice × label": {
                f"active × {OTHER}": estimate(None, note="no examples of that"),
                f"active × {GOLD}": estimate(0.5, 0.1, 0.9),
                f"passive × {OTHER}": estimate(1.0, 0.2, 1.0),
            },
        },
        "vs_control": None,
        "unanswered": 1,
        "truncated": 0,
        "collapse_differs": None,
        "published": [],
        "notes": [],
    }
    return result | fields


def entry(
    frame: pl.DataFrame | None = None,
    results: Mapping[str, dict[str, Any]] | None = None,
    *,
    model: str = "a-model",
    cards: Sequence[Card] = (CARD,),
    diagnosis: Sequence[dict[str, Any]] = (),
    **facts: Any,
) -> Entry:
    header = Header(ModelFacts(f"python:{model}", model, **facts), {card.name: card for card in cards}, {"limit": None})
    run = Run(header, rows() if frame is None else frame)
    return Entry(run, {"suites": {"toy": suite_result()} if results is None else results, "diagnosis": list(diagnosis)})


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


def embedded(text: str) -> dict[str, Any]:
    """What the example browser unpacks."""
    found = re.search(r'<script type="application/octet-stream" id="examples-data">([^<]*)</script>', text)
    assert found
    data: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(found[1])))
    return data


def decoded(column: Mapping[str, Any]) -> list[Any]:
    return [column["values"][code] for code in column["codes"]]


def test_the_page_loads_nothing_from_anywhere() -> None:
    text = page([entry()])
    found = Page(text)
    assert not found.attributes("src", "srcset", "data", "action", "xlink:href")
    assert {link[0] for link in found.attributes("href")} == {"#"}
    assert not found.of("link")
    style = "".join(re.findall(r"<style>(.*?)</style>", text, re.S))
    assert style
    assert not re.search(r"url\(|@import", style)


def test_a_policy_in_the_page_allows_its_own_script_and_nothing_else() -> None:
    text = page([entry()])
    (script,) = re.findall(r"<script>(.*?)</script>", text, re.S)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    (policy,) = (meta["content"] for meta in Page(text).of("meta") if meta.get("http-equiv"))
    assert policy
    assert "default-src 'none'" in policy
    assert f"script-src 'sha256-{digest}'" in policy


def test_markup_from_outside_is_shown_and_never_run() -> None:
    bad = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'"
    frame = rows(
        suite=bad, premise=[bad] * 4, hypothesis=[bad] * 4, id=[f"{bad}{n}" for n in range(4)], voice=[bad] * 4
    )
    card = replace(CARD, name=bad, note=bad, citation=bad, columns={"voice": "factor"}, labels={GOLD: 4})
    slices = {"voice": {bad: estimate(0.5, 0.4, 0.6, note=bad)}, f"voice × {bad}": {f"{bad} × {bad}": estimate(0.5)}}
    numbers = [{"system": bad, "source": bad, "by": {"voice": bad}, "value": 0.5}]
    result = suite_result(
        signature=bad, by=slices, notes=[bad], published=numbers, metrics={bad: estimate(None, note=bad)}
    )
    finding = {"code": bad, "severity": "severe", "suite": bad, "text": bad, "evidence": [bad]}
    made = entry(frame, {bad: result}, model=bad, cards=[card], diagnosis=[finding])
    header = replace(made.run.header, settings={bad: bad}, versions={bad: bad}, notes=(bad,))
    found = Page(page([Entry(Run(header, frame), made.results)]))
    assert len(found.of("script")) == 2
    assert not found.of("img")
    assert not [name for _, attributes in found.elements for name in attributes if name.startswith("on")]


def test_embedded_data_unpack_to_exactly_the_rows() -> None:
    frame = rows(premise=["ünï – “quoted”\u2028", "</script>", "a\nb", ""])
    data = embedded(page([entry(frame)]))
    assert data["count"] == 4
    for column in ("id", "premise", "hypothesis"):
        assert data[column] == frame[column].to_list()
    assert decoded(data["suite"]) == frame["suite"].to_list()
    assert decoded(data["label"]) == frame["label"].to_list()
    assert decoded(data["factors"]["voice"]) == ["active", "passive", "active", None]
    (model,) = data["models"]
    assert decoded(model["answer"]) == [GOLD, "neutral", "neutral", None]
    assert model["correct"] == [1, 1, 0, 0]


def test_probabilities_are_embedded_in_thousandths_and_none_as_minus_one() -> None:
    (model,) = embedded(page([entry()]))["models"]
    assert model["p"] == [[900, 123, 200, -1], [50, 800, 700, -1], [50, 77, 100, -1]]


def test_the_columns_of_a_two_way_model_are_its_two_labels() -> None:
    (model,) = embedded(page([entry(resolution="two-way")]))["models"]
    assert model["labels"] == ["entailment", "non-entailment"]
    assert len(model["p"]) == 2


def test_the_same_runs_give_the_same_page() -> None:
    assert page([entry()]) == page([entry()])


def test_an_estimate_that_is_not_known_is_a_dash_with_its_note() -> None:
    text = page([entry()])
    assert '<td class="number" title="no examples of that">–</td>' in text


def test_percentages_have_one_decimal_and_intervals_a_dash() -> None:
    text = page([entry()])
    assert ">97.1</td>" in text
    assert ">90.7</td>" in text
    assert "15.0–85.0" in text


def test_a_paper_s_number_keeps_its_own_digits() -> None:
    assert [published(value) for value in (0.99, 0.116, 1.0, 0.0, None)] == ["99", "11.6", "100", "0", "–"]


def test_a_crossing_stands_with_entailment_first_and_the_papers_below() -> None:
    numbers = [
        {"system": "BERT", "source": "table 3", "by": {"voice": "active", "label": GOLD}, "value": 0.98},
        {"system": "BERT", "source": "table 9", "by": {"voice": "active"}, "value": 0.5},
    ]
    text = page([entry(results={"toy": suite_result(published=numbers)})])
    wide = text[text.index("scroll only-wide") : text.index("scroll only-narrow")]
    assert wide.index("gold entailment") < wide.index("gold non-entailment")
    cells = [data for _, data in Page(wide[wide.index("<tbody>") :]).texts]
    assert cells == ["a-model", "50.0", "10.0–90.0", "–", "100.0", "20.0–100.0", "BERT", "98", "–", "–"]
    assert "Published numbers: table 3." in text


def test_a_slice_links_to_its_examples() -> None:
    by = {"voice": {"a/b & c": estimate(0.5, 0.4, 0.6)}}
    links = Page(page([entry(results={"toy": suite_result(by=by)})])).attributes("href")
    assert "#examples?suite=toy&f.voice=a%2Fb+%26+c" in links


def test_models_stand_side_by_side_and_share_the_rows_they_were_both_asked() -> None:
    second = rows()[1:].with_columns(correct=pl.Series([False, True, True]))
    extra = rows().head(1).with_columns(id=pl.lit("only-second"), premise=pl.lit("Another premise."))
    text = page([entry(), entry(pl.concat([second, extra]), model="b-model")])
    data = embedded(text)
    assert data["id"] == ["toy-0", "toy-1", "toy-2", "toy-3", "only-second"]
    assert [model["correct"] for model in data["models"]] == [[1, 1, 0, 0, -1], [-1, 0, 1, 1, 1]]
    assert decoded(data["models"][1]["answer"]) == [None, "neutral", "neutral", None, GOLD]
    headings = [dict(attributes) for tag, attributes in Page(text).elements if tag == "th"]
    assert sum(heading.get("colspan") == "4" for heading in headings) == 2 * 3


def test_two_runs_of_one_model_are_numbered() -> None:
    assert [model["name"] for model in embedded(page([entry(), entry()]))["models"]] == ["a-model", "a-model (2)"]


def test_a_suite_without_factors_is_broken_down_by_label() -> None:
    card = replace(CARD, columns={}, crossings=())
    by = {"label": {GOLD: estimate(0.25, 0.1, 0.9), OTHER: estimate(0.75, 0.1, 0.9)}}
    text = page([entry(rows().drop("voice"), {"toy": suite_result(by=by)}, cards=[card])])
    assert "<h3>By label</h3>" in text
    assert embedded(text)["factors"] == {}


def test_a_suite_of_no_rows_says_so_instead_of_showing_zero() -> None:
    nothing = estimate(None, n=0, groups=0, method="", note="no rows")
    result = suite_result(overall=nothing, metrics={"accuracy": nothing}, by={"label": {}, "voice": {}}, unanswered=0)
    card = replace(CARD, rows=0, labels={})
    text = page([entry(rows().clear(), {"toy": result}, cards=[card])])
    assert "accuracy not known: no rows" in text
    assert "This report holds no examples." in text
    assert embedded(text)["count"] == 0
    assert "0.0" not in re.sub(r"<(style|script).*?</\1>", "", text, flags=re.S)


def test_several_suites_have_a_section_each_and_one_browser() -> None:
    cards = [CARD, replace(CARD, name="other", columns={"tense": "factor"}), replace(CARD, name="other#control")]
    tense = {"voice": [None] * 4, "tense": ["past", "past", "present", "present"]}
    frame = pl.concat([rows(), rows("other", **tense), rows("other#control", voice=[None] * 4)], how="diagonal_relaxed")
    by = {"label": {GOLD: estimate(0.5)}, "tense": {"past": estimate(0.5), "present": estimate(0.5)}}
    control = {"control": estimate(0.9), "difference": estimate(-0.4, -0.5, -0.3), "test": "exact McNemar"}
    changed = suite_result(by=by, vs_control=control | {"p": 0.0, "p_adjusted": None})
    text = page([entry(frame, {"toy": suite_result(), "other": changed}, cards=cards)])
    data = embedded(text)
    assert data["suites"] == {"toy": ["voice"], "other": ["tense"], "other#control": ["voice"]}
    assert data["count"] == 12
    assert decoded(data["factors"]["tense"])[4:8] == tense["tense"]
    assert "difference -40.0 (-50.0 to -30.0) points, exact McNemar, p &lt;0.0001, corrected –" in text
    assert [attributes["id"] for attributes in Page(text).of("section")][1:3] == ["suite-1", "suite-2"]


def test_subcases_are_charted_under_the_cell_they_belong_to_without_their_prefix() -> None:
    frame = rows(voice=["le_short", "ln_be_long", "le_plain", "ln_get"])
    by = {"voice": {value: estimate(0.5, 0.4, 0.6) for value in frame["voice"]}}
    card = replace(CARD, crossings=(), columns={"voice": "factor"})
    text = page([entry(frame, {"toy": suite_result(by=by)}, cards=[card])])
    drawing = text[text.index('class="chart wide"') : text.index('class="chart narrow"')]
    found = re.findall(r"<text[^>]* transform=\"translate\([-\d.]+,([-\d.]+)\)\"[^>]*>([^<]+)</text>", drawing)
    expected = ["Entailment", "short", "plain", "Non-entailment", "be long", "get"]
    assert [word for _, word in sorted((float(y), word) for y, word in found) if word in expected] == expected


@pytest.mark.parametrize(
    ("severities", "line"),
    [
        (["severe", "severe", "warning"], "Grounds for distrust: 2 severe findings and 1 warning."),
        (["severe", "good"], "Grounds for distrust: 1 severe finding."),
        (["warning", "warning", "info"], "Some doubt: 2 warnings, nothing severe."),
        (["good", "info"], "These suites found no shortcut."),
        ([], "These suites gave no finding."),
    ],
)
def test_the_verdict_is_as_grave_as_the_gravest_finding(severities: list[str], line: str) -> None:
    assert verdict([{"severity": severity} for severity in severities]) == line


def test_a_method_is_explained_once_whatever_its_degrees_of_freedom() -> None:
    by = {"voice": {name: estimate(0.5, 0.4, 0.6, method=f"t({name}) of the row mean, over groups") for name in "48"}}
    text = page([entry(results={"toy": suite_result(by=by)})])
    assert text.count("<dt>t of the row mean, over groups</dt>") == 1
    assert "The Wilson score interval" in text


class Chromium:
    """A headless browser, spoken to over pipes; a dump of the document would not wait for the unpacking thread."""

    def __init__(self, program: str, profile: Path) -> None:
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

    def document(self, address: str) -> str:
        """The document once its examples are shown."""
        self.asked("Page.navigate", url="about:blank")
        self.asked("Page.navigate", url=address)
        shown = "document.querySelector('#examples-browser:not([hidden])') && document.documentElement.outerHTML"
        for _ in range(600):
            found = self.asked("Runtime.evaluate", expression=shown, returnByValue=True)["result"].get("value")
            if found:
                return str(found)
            time.sleep(0.05)
        raise TimeoutError(f"{address}: no examples after 30 s")

    def close(self) -> None:
        self.asked("Browser.close")
        self._process.wait(30)
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


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not program or os.name != "posix":
        pytest.skip("no Chromium on this machine that can be spoken to over pipes")
    browser = Chromium(program, tmp_path_factory.mktemp("profile"))
    yield browser
    browser.close()


@pytest.fixture(scope="module")
def thousand(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of a thousand rows."""
    many = pl.concat([rows()] * 250).with_columns(
        id=pl.Series([f"row {number}" for number in range(1000)]),
        premise=pl.Series([f"<b>Premise {number}." for number in range(1000)]),
        voice=pl.Series(["active", "active", "passive", None] * 250),
    )
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(page([entry(many)]), encoding="utf-8", newline="\n")
    return path


@pytest.mark.browser
@pytest.mark.parametrize(
    ("fragment", "count", "shown"),
    [
        ("", 1000, 20),
        ("examples?suite=toy&f.voice=passive&verdict=wrong", 250, 20),
        ("examples?q=premise+777.", 1, 1),
        ("examples?f.voice=&page=13", 250, 10),
        ("examples?f.voice=unheard-of", 0, 0),
    ],
)
def test_a_browser_shows_the_rows_a_link_asks_for(
    chromium: Chromium, thousand: Path, fragment: str, count: int, shown: int
) -> None:
    document = chromium.document(f"{thousand.as_uri()}#{fragment}")
    assert f"{count:,} of 1,000 examples" in document
    assert document.count('<li class="example">') == shown
    assert "<b>Premise" not in document


@pytest.mark.browser
def test_a_browser_puts_the_most_confident_mistake_first(chromium: Chromium, thousand: Path) -> None:
    document = chromium.document(f"{thousand.as_uri()}#examples?sort=confident")
    # Row 2 is wrong with neutral at 0.7; row 3 is wrong too, but without an answer there is no confidence.
    shown = re.findall(r"Premise \d+\.", document[document.index('<li class="example">') :])
    assert shown[:2] == ["Premise 2.", "Premise 6."]
