"""``acidtest taxonomy`` as a user meets it: the tree, one category, a file, and mistakes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from acidtest.cli.app import main

ROWS = """premise,hypothesis,label,lexical,irony,genre,annotated_label
A man sleeps.,A man naps.,entailment,1,0,a,entailment
A dog runs.,A dog rests.,contradiction,1,1,a,neutral
A cat eats.,A cat eats <b>fish</b>.,neutral,0,1,b,neutral
A bird sings.,A bird is heard.,entailment,0,0,b,-
"""


@pytest.fixture(autouse=True)
def _in_a_folder_with_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.csv").write_text(ROWS, encoding="utf-8")


def said(capsys: pytest.CaptureFixture[str], *words: str, status: int = 0) -> tuple[str, str]:
    capsys.readouterr()
    assert main(["taxonomy", *words]) == status
    captured = capsys.readouterr()
    return captured.out, captured.err


def test_without_a_name_the_tree_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = said(capsys)
    lines = out.splitlines()
    assert lines[0] == "The taxonomy of Joshi et al. (2020): 15 annotated categories of reasoning."
    places = [next(n for n, line in enumerate(lines) if line.startswith(name)) for name in ("Linguistic", "lexical")]
    places += [lines.index(name) for name in ("Logical › Connectives", "Logical › Deductions")]
    assert places == sorted(places)
    assert any(line.startswith("counting") for line in lines)
    assert "Defined, not annotated." in out
    assert len(json.loads(said(capsys, "--json")[0])) == 27


def test_a_category_is_shown_with_examples_and_what_others_call_it(capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = said(capsys, "boolean")
    assert "Logical › Connectives · column boolean_logic of the published file" in out
    plain = " ".join(out.split())
    assert "Neither the bank nor the post" in plain
    assert "contradiction boolean, negation" in plain
    assert "Standard Inference ANLI lexical, semantic" in plain
    [node] = json.loads(said(capsys, "boolean", "--json")[0])
    assert node["parent"] == "connectives"


def test_a_file_is_counted_and_has_a_page(capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = said(capsys, "mine.csv", "--categories", "lexical,irony", "-o", "page.html")
    assert out.startswith("taxonomy: 4 pairs (2 entailment, 1 neutral, 1 contradiction), 1.00 categories per pair.\n")
    assert "1.00 (" in out
    assert "Definitions" not in out, "folded sections are for the page"
    assert "1 pair has none, 2 one, 1 two, 0 more" in out
    assert "The annotators' own label is gold in 50.0 %" in out
    assert "page: page.html" in out
    page = Path("page.html").read_text(encoding="utf-8")
    assert "A category of this file&#39;s own." in page
    assert "Linguistic" in page


def test_correlations_that_are_not_shown_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    rng, names = np.random.default_rng(0), list("abcdef")
    kind = rng.integers(0, 2, (200, 1))
    marks = np.where(rng.random((200, 6)) < 0.8, kind, 1 - kind)
    rows = [[f"p {number}", "h", "neutral", *map(str, row)] for number, row in enumerate(marks)]
    lines = [["premise", "hypothesis", "label", *names], *rows]
    Path("many.csv").write_text("\n".join(map(",".join, lines)) + "\n", encoding="utf-8")
    out, _ = said(capsys, "many.csv", "--categories", ",".join(names))
    written = json.loads(said(capsys, "many.csv", "--categories", ",".join(names), "--json")[0])
    clear = sum(each["clear"] for each in written["correlations"])
    assert clear > 6
    assert f"And {clear - 6} more; --json and the page (-o) have all." in out
    assert "mostly from" not in out, "the file has no genre"


def test_a_file_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(said(capsys, "mine.csv", "--json", "--against", "mine.csv")[0])
    assert found["categories"]["lexical"]["labels"] == {"entailment": 1, "neutral": 0, "contradiction": 1}
    assert list(found["categories"]) == ["lexical"], "without --categories only those of the taxonomy"
    assert found["overlaps"] == {"mine.csv": 4}
    assert found["correlations"] == []


def test_hostile_names_are_escaped(capsys: pytest.CaptureFixture[str]) -> None:
    Path("bad.csv").write_text(ROWS.replace("irony", "<script>alert(1)</script>"), encoding="utf-8")
    said(capsys, "bad.csv", "--categories", "lexical,<script>alert(1)</script>", "-o", "page.html")
    page = Path("page.html").read_text(encoding="utf-8")
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["lexcal"], "no category of the taxonomy called 'lexcal'; did you mean 'lexical'"),
        (["other.csv"], "other.csv: there is no such file, and no category of that name"),
        (["lexical", "-o", "page.html"], "need a file of annotated pairs"),
        (["mine.csv", "-o", "page.txt"], "page.txt"),
        (["mine.csv", "--categories", "pun"], "has no column 'pun'"),
    ],
)
def test_mistakes_are_told(capsys: pytest.CaptureFixture[str], words: list[str], told: str) -> None:
    assert told in said(capsys, *words, status=2)[1]


def test_columns_of_the_second_file_can_be_named(capsys: pytest.CaptureFixture[str]) -> None:
    Path("other.csv").write_text("context_text,conclusion\nA man sleeps.,A man naps.\nA cow runs.,A cow eats.\n")
    named = ("--against", "other.csv", "--against-columns", "premise=context_text,hypothesis=conclusion")
    assert json.loads(said(capsys, "mine.csv", "--json", *named)[0])["overlaps"] == {"other.csv": 1}
    _, err = said(capsys, "mine.csv", *named[:2], status=2)
    assert "name them with --against-columns premise=NAME,hypothesis=NAME" in err
    _, err = said(capsys, "mine.csv", *named[2:], status=2)
    assert "--against-columns says how to read the files of --against, which is not given" in err
