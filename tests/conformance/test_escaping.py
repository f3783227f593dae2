"""No text of a stranger becomes markup, a link, a mention, a formula or a command in anything that acidtest writes."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import polars as pl
import pytest
from markdown_it import MarkdownIt

from acidtest.cli.app import main
from acidtest.core.suite import Card, Suite
from acidtest.workflows.evaluations import run
from acidtest.workflows.runs import finished_run

SOURCE = Path(__file__).parents[2] / "src" / "acidtest"

PAYLOADS = {
    "element": "<owned1 onclick='x'>a</owned1>",
    "attribute": "\"'><owned2 onload=x>",
    "comment": "--><!-- <owned3> ]]><owned3>",
    "script": "</script></title></svg><owned4>",
    "link": "[a](javascript:owned5) <javascript:owned5> ![b](http://owned5)",
    "address": "http://owned6.org www.owned6.org",
    "mention": "@owned7 me@owned7.org @owned7/team",
    "issue": "owned8#8 #8 GH-8",
    "heading": "# owned9\n# owned9\n===\n- owned9\n1. owned9",
    "code": "`owned10` **owned10** _owned10_ ~~owned10~~ $owned10$ | owned10 | &lt;owned10&gt;",
    "formula": "=owned11()",
    "github": "::error::owned12",
    "github line": "x\n::error::owned13\r\n::set-output name=owned13::x\u2028::error::owned13\x85::error::owned13",
    "unseen": "\u200b \u2060:\u200b:error::owned14 ##\u200b[error]owned14",
    "azure": "a ##[error]owned15 ##vso[task.setvariable variable=owned15]b",
    "escape": "\x1b[31mowned16\x1b]0;x\x07 \x9b31m \u202eowned16\u2066 \x08",
    "latex": "\\input{owned17} % owned17 \\\\[1em] $owned17$",
    "control": "owned18\x01\x0b\x7f\ufffe",
    "return": "\rowned19",
}
WORDS = {name: f"owned{number}" for number, name in enumerate(PAYLOADS, 1)}

OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


class Tags(HTMLParser):
    """The elements and attributes of a page, and its text outside code."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.text: list[str] = []
        self._in_code = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [tag, *(f"{name}={value}" for name, value in attrs if name.startswith("on") or name == "href")]
        self._in_code += tag == "code"

    def handle_endtag(self, tag: str) -> None:
        self._in_code -= tag == "code"

    def handle_data(self, data: str) -> None:
        self.text += [] if self._in_code else [data]


def harm_in_html(text: str) -> list[str]:
    tags = Tags()
    tags.feed(text)
    elements = [tag for tag in tags.found if tag.startswith(("owned", "on"))]
    return [*elements, *(tag for tag in tags.found if re.match(r"href=\s*(javascript|http://owned)", tag))]


def harm_in_markdown(text: str) -> list[str]:
    page = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(text)
    tags = Tags()
    tags.feed(page)
    allowed = {"h1", "h2", "h3", "h4", "p", "table", "thead", "tbody", "tr", "th", "td", "strong", "code", "br", "hr"}
    # The page of a data set has "*non-entailment*" and an indented command.
    allowed |= {"ul", "li", "details", "summary", "pre"} | ({"em"} if page.count("<em>") == 1 else set())
    written = "".join(tags.text)
    return [
        *(tag for tag in tags.found if tag.partition("=")[0] not in allowed),
        *re.findall(r"@owned\d+|#\d+|GH-\d+", written),
        # Addresses become links in the source.
        *re.findall(r"\w+://owned\w*|www\.owned\w*|\w+@owned\w*", text),
        *re.findall(r"(?m)^\s*(?:#+ |- |\d+[.)] )owned9|^=+$", text),
        *OBEYED.findall(text),
    ]


def harm_on_a_terminal(text: str) -> list[str]:
    # GitHub and Azure are written in C#, which skips characters without width when it compares texts.
    lines = [re.sub("[\u00ad\u200b-\u200d\u2060-\u2064\ufeff]", "", line).strip() for line in text.split("\n")]
    commands = [line for line in lines if line.startswith("::") or re.search(r"##[\w.]*\[", line)]
    return [*commands, *OBEYED.findall(text)]


def harm_to_a_server(text: str) -> list[str]:
    """Commands other than the annotations of the gate."""
    ours = re.compile(r"::(error|warning|notice) title=[^:,]*(,file=[^:,]*)?::")
    return [line for line in text.splitlines() if line and not ours.match(line)] + OBEYED.findall(text)


def harm_in_cells(text: str, separator: str) -> list[str]:
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    return [cell for row in rows for cell in row if re.match(r"[=+\-@\t\r]", cell) and "owned" in cell]


def harm_in_xml(text: str) -> list[str]:
    elements = [str(element.tag).rpartition("}")[2] for element in ET.fromstring(text).iter()]
    names = [name for element in ET.fromstring(text).iter() for name in element.attrib]
    return [name for name in (*elements, *names) if name.startswith(("owned", "on"))] + OBEYED.findall(text)


def harm_in_sarif(text: str) -> list[str]:
    (found,) = json.loads(text)["runs"]
    messages = [result["message"]["text"] for result in found["results"]]
    return [link for message in messages for link in re.findall(r"\]\(.*|[\x00-\x1f]", message)]


def harm_in_latex(text: str) -> list[str]:
    return re.findall(r"\\input|(?<!\\)%(?! Written).*|(?<!\\)\\\\\[|(?<!\\)\$owned\w*", text) + OBEYED.findall(text)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Everything that is written about two runs whose names, values and texts are payloads."""
    folder = tmp_path_factory.mktemp("hostile")
    everything = "\n".join(PAYLOADS.values())
    number = range(20 * len(PAYLOADS))
    values = [list(PAYLOADS.values())[n // 20] for n in number]
    frame = pl.LazyFrame(
        {
            "id": [f"{value}{n}" for n, value in zip(number, values, strict=True)],
            "premise": [f"{value} A dog {n} sleeps. {value}" for n, value in zip(number, values, strict=True)],
            "hypothesis": [f"{value} A dog {n}." for n, value in zip(number, values, strict=True)],
            "label": ["entailment", "neutral"] * (len(number) // 2),
            "group": [str(n) for n in number],
            "kind": values,
            "base_id": [""] * len(number),
            "source_id": [""] * len(number),
            "certainty": ["human"] * len(number),
        }
    )
    facts: dict[str, Any] = {"licence": everything, "citation": everything, "note": everything}
    suite = Suite(frame, Card(everything, columns={"kind": "factor"}, **facts)).sealed()

    def right(premises: list[str], hypotheses: list[str]) -> list[list[float]]:
        numbers = [int(re.findall(r"A dog (\d+)", text)[0]) for text in premises]
        return [[0.1, 0.9, 0.0] if n % 2 else [0.9, 0.1, 0.0] for n in numbers]

    def wrong(premises: list[str], hypotheses: list[str]) -> list[list[float]]:
        return [row[::-1] for row in right(premises, hypotheses)]

    right.__name__, wrong.__name__ = everything, f"{everything} 2"
    outputs: dict[str, str] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
        outputs["notebook"] = run(right, suite, output="first")._repr_html_()
        run(wrong, suite, output="second")

        def said(name: str, *words: str) -> None:
            out, err = io.StringIO(), io.StringIO()
            with redirect_stdout(out), redirect_stderr(err):
                status = main(list(words))
            assert status in (0, 1, 4), err.getvalue()
            outputs[name], outputs[f"{name}, errors"] = out.getvalue(), err.getvalue()

        files = ("--junit", "gate.xml", "--sarif", "gate.sarif", "--markdown", "gate.md")
        (folder / "policy.toml").write_text('[[slices]]\nsuite = "*"\nby = ["kind"]\n', encoding="utf-8")
        said("gate", "gate", "first", "second", *files, "--slice", "*", "--slice", "*:kind=*", "--full")
        said("github", "gate", "first", "second", "--slice", "*:kind=*", "--github", "--json")
        outputs["gate as JSON"] = outputs["github"]
        outputs["github"] = outputs["github, errors"]
        said("report", "report", "first", "second", "-o", "page.html", "--tables", "tables", "--plots", "plots")
        said("compare", "compare", "first", "second", "--by", "kind", "--full")
        said("runs", "runs", ".")
        said("card", "export", "card", "first")
        said("errors", "errors", "second", "-o", "errors.tsv")
        said("log", "report", "first", "-vv")
        outputs["run"] = str(finished_run("first"))
        from acidtest.suites.files import write_suite

        write_suite(replace(suite, control=None), folder / "data")
        write_suite(replace(suite, control=None), folder / "suite.csv")
        for name in ("page.html", "gate.xml", "gate.sarif", "gate.md", "summary.md", "errors.tsv", "suite.csv"):
            outputs[name] = Path(name).read_text(encoding="utf-8")
        for name in ("data/README.md", "first/card/README.md", "first/log.txt", "first/report.html"):
            outputs[name] = Path(name).read_text(encoding="utf-8")
        for ending in (".md", ".tex", ".csv"):
            outputs[f"tables{ending}"] = "\n\n".join(
                path.read_text(encoding="utf-8") for path in sorted(Path("tables").glob(f"*{ending}"))
            )
        for count, path in enumerate(sorted(Path("plots").glob("*.svg"))):
            outputs[f"plot{count}.svg"] = path.read_text(encoding="utf-8")
    return outputs


Harm = Callable[[str], list[str]]

OUTPUTS: dict[str, Harm] = {
    "gate": harm_on_a_terminal,
    "report": harm_on_a_terminal,
    "compare": harm_on_a_terminal,
    "runs": harm_on_a_terminal,
    "card": harm_on_a_terminal,
    "errors": harm_on_a_terminal,
    "run": harm_on_a_terminal,
    "gate as JSON": harm_on_a_terminal,
    "first/log.txt": harm_on_a_terminal,
    "log, errors": harm_on_a_terminal,
    "github": harm_to_a_server,
    "page.html": harm_in_html,
    "first/report.html": harm_in_html,
    "notebook": harm_in_html,
    "gate.md": harm_in_markdown,
    "summary.md": harm_in_markdown,
    "tables.md": harm_in_markdown,
    "first/card/README.md": lambda text: harm_in_markdown(text.split("\n---\n", 1)[1]),
    "data/README.md": lambda text: harm_in_markdown(text.split("\n---\n", 1)[1]),
    "gate.xml": harm_in_xml,
    "gate.sarif": harm_in_sarif,
    "tables.tex": harm_in_latex,
    "tables.csv": lambda text: harm_in_cells(text, ","),
    "suite.csv": lambda text: harm_in_cells(text, ","),
    "errors.tsv": lambda text: harm_in_cells(text, "\t"),
}
"""What is written, and what of a payload would still be alive in it."""

ALL_WORDS = {"gate", "compare", "page.html", "gate as JSON", "gate.md", "tables.md", "gate.xml", "gate.sarif"}
ALL_WORDS |= {"tables.tex", "suite.csv", "first/card/README.md", "data/README.md", "notebook"}
"""Outputs that show every payload."""


@pytest.mark.parametrize("output", OUTPUTS)
def test_no_payload_is_alive(output: str, written: dict[str, str]) -> None:
    assert OUTPUTS[output](written[output]) == []


@pytest.mark.parametrize("output", sorted(ALL_WORDS))
def test_every_payload_is_shown(output: str, written: dict[str, str]) -> None:
    text = re.sub(r"&#8288;|\s+|<wbr>", "", written[output])
    assert [name for name, word in WORDS.items() if word not in text] == []


def test_pictures_are_xml_without_payloads(written: dict[str, str]) -> None:
    pictures = [text for name, text in written.items() if name.endswith(".svg")]
    assert pictures
    assert [harm for picture in pictures for harm in harm_in_xml(picture)] == []


@pytest.mark.parametrize("payload", PAYLOADS.values())
def test_an_error_is_one_line(payload: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", f"none {payload}"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("acidtest: ")
    assert error.count("\n") == 1
    assert harm_on_a_terminal(error) == []


def test_escaping_is_written_once() -> None:
    """Other modules call the functions of ``core/escaping.py``; nobody else escapes, or prints past them."""
    escapes = re.compile(r"import escape\b|html\.escape|saxutils|\\x7f-\\x9f")
    prints = re.compile(r"(?<![\w.])print\(|sys\.std(?:out|err)\.write|traceback\.print_|typer\.echo|click\.echo")
    may_escape = {
        "core/escaping.py",
        "core/serialise.py",
        "workflows/experiments/__init__.py",
        "studies/check.py",
    }
    # A constant while Ctrl-C ends the program; the functions that all output goes through; a program for pip's Python.
    may_print = {"core/errors.py", "cli/options.py", "io/store.py"}
    for path in sorted(SOURCE.rglob("*.py")):
        name, source = path.relative_to(SOURCE).as_posix(), path.read_text(encoding="utf-8")
        assert name in may_escape or not escapes.search(source), name
        assert name in may_print or not prints.search(source), name
