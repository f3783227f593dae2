"""Names and values of a user's file that Polars, breakdowns or terminals would take for something else."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from acidtest.cli.app import main

OBEYED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
ESCAPE = "\x1b[2J\x1b]0;owned\x07"


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write_pairs(path: Path, *columns: str, values: tuple[str, str] = ("one", "two")) -> None:
    labels = ("entailment", "neutral", "contradiction")
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["premise", "hypothesis", "gold_label", *columns])
        for n in range(48):
            texts = (f"A dog sleeps {n}", f"A dog {'sleeps' if n % 2 else 'runs'}", labels[n % 3])
            writer.writerow([*texts, *(values[n // 2 % 2] for _ in columns)])


def said(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    capsys.readouterr()
    status = main(list(words))
    out, err = capsys.readouterr()
    assert status == 0, err
    return out + err


@pytest.mark.parametrize(
    ("column", "name"),
    [
        ("*", "source_*"),
        ("^x$", "source_^x$"),
        ("^.*$", "source_^.*$"),
        (" × ", " x "),
        ("a × b", "a x b"),
        ("\x1b[31mred", "\ufffd[31mred"),
    ],
)
def test_a_column_of_any_name_is_a_factor(capsys: pytest.CaptureFixture[str], column: str, name: str) -> None:
    write_pairs(Path("pairs.csv"), column)
    for folder, model in (("first", "overlap"), ("second", "random")):
        said(capsys, "run", "-m", f"baseline:{model}", "-s", "pairs.csv", "-o", folder, "-q")
    compared = said(capsys, "compare", "first", "second", "--by", name, "--json", "-q")
    assert '"value": "one"' in compared
    said(capsys, "report", "first", "-o", "page.html", "-q")
    said(capsys, "audit", "pairs.csv", "-q")
    said(capsys, "generate", "stress/negation", "--from", "pairs.csv", "-o", "made.csv", "-q")
    said(capsys, "errors", "first", "-o", "errors.tsv", "-q")


def test_names_that_become_the_same_are_kept_apart(capsys: pytest.CaptureFixture[str]) -> None:
    write_pairs(Path("pairs.csv"), "*", "source_*", "a × b", "a x b")
    out = said(capsys, "run", "-m", "baseline:overlap", "-s", "pairs.csv", "-o", "out", "-q", "--json")
    for name in ("source_*", "source_*_", "a x b", "source_a x b"):
        assert f'"{name}": {{\n' in out


def test_what_a_terminal_would_obey_is_shown_and_not_sent(capsys: pytest.CaptureFixture[str]) -> None:
    name = f"pairs{ESCAPE}.csv"
    write_pairs(Path(name), f"kind{ESCAPE}", values=(f"one{ESCAPE}", "\u202etwo\x9b31m"))
    for folder, model in (("first", "overlap"), ("second", "random")):
        text = said(capsys, "run", "-m", f"baseline:{model}", "-s", name, "-o", folder, "-v")
        assert "one" in text
        assert not OBEYED.search(text)
    for words in (
        ("compare", "first", "second", "--by", "kind\ufffd[2J\ufffd]0;owned\ufffd"),
        ("report", "first", "-o", f"page{ESCAPE}.html"),
        ("errors", "first", "-o", f"errors{ESCAPE}.tsv"),
        ("generate", "stress/negation", "--from", name, "-o", f"made{ESCAPE}.csv"),
        ("audit", name),
        ("run", "-m", "baseline:overlap", "-s", name, "-o", "third", "--json"),
    ):
        text = said(capsys, *words)
        assert text
        assert not OBEYED.search(text)
    assert not OBEYED.search(Path("first", "log.txt").read_text())


@pytest.mark.parametrize(
    "words",
    [
        ("report", f"none{ESCAPE}"),
        ("run", "-s", f"none{ESCAPE}.csv"),
        ("suites", f"none{ESCAPE}"),
        ("run", f"--none{ESCAPE}"),
        (f"none{ESCAPE}",),
    ],
)
def test_errors_do_not_send_what_a_terminal_would_obey(capsys: pytest.CaptureFixture[str], words: tuple[str]) -> None:
    assert main(list(words)) == 2
    err = capsys.readouterr().err
    assert "none" in err
    assert not OBEYED.search(err)


def test_a_terminal_still_gets_its_colours() -> None:
    from acidtest.render.terminal import paint

    assert paint("red\x1b[5m", "bold") == "\x1b[1mred\ufffd[5m\x1b[0m"


def test_a_file_gets_no_colours(capsys: pytest.CaptureFixture[str]) -> None:
    from acidtest.cli.options import print_lines
    from acidtest.render.terminal import paint

    print_lines([paint("red", "bold"), "plain"])
    assert capsys.readouterr().out == "red\nplain\n"
