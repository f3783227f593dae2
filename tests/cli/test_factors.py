"""The command on factors as a user types it, from a file with several systems' answers to a page."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from acidtest.cli.app import main

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture
def wide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Annotated pairs with the answers of two systems; two pairs share an id."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(2)
    lines = ["pairID\tprem\thyp\tlabel\tnegation\tworld\tgenre\tgood/one\tbad"]
    for number in range(160):
        marks = rng.integers(0, 2, 2)
        good, bad = rng.random() < 0.6 + 0.3 * marks[0], rng.random() < 0.5
        texts = (
            f"Premise {number} {'so ' * int(rng.integers(1, 9))}{HOSTILE}",
            f"Claim {number} {'x' * int(rng.integers(1, 30))}",
        )
        answers = ["neutral" if right else "entailment" for right in (good, bad)]
        identifier = max(number, 1)
        lines.append("\t".join([f"p{identifier}", *texts, "neutral", *map(str, marks), "fiction", *answers]))
    Path("wide.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path


def scored() -> None:
    command = "score wide.tsv --suite taxonomy --from wide.tsv --categories negation,world -o runs"
    assert main([*command.split(), "--column", "bad", "--column", "good/one"]) == 0


def test_every_column_of_a_wide_file_is_a_run_and_all_stand_side_by_side(
    wide: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scored()
    assert {path.name for path in Path("runs").iterdir()} == {"bad", "good-one", "report.html"}
    capsys.readouterr()
    assert main(["factors", "runs/bad", "runs/good-one", "--json", "-o", "page.html"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [each["model"] for each in found["models"]] == ["bad", "good/one"]
    assert [factor["factor"] for factor in found["models"][0]["factors"]] == ["negation", "world", "Length1", "Length2"]
    page = Path("page.html").read_text(encoding="utf-8")
    assert "Accuracy less that of bad on the same rows" in page
    assert HOSTILE not in page


def test_tables_for_people(wide: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scored()
    capsys.readouterr()
    assert main(["factors", "runs/good-one", "--confounds", "overlap", "--prior", "none"]) == 0
    out = capsys.readouterr().out
    assert "Accuracy by category" in out
    assert "prior none: relative frequencies" in out
    assert "overlap" in out


def test_proposals_are_no_annotation_and_nothing_published_is_beside_them(
    wide: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = "run -m baseline:overlap -s taxonomy/tagged --from wide.tsv -o tagged"
    assert main(command.split()) == 0
    capsys.readouterr()
    assert main(["factors", "tagged", "-o", "page.html"]) == 0
    for text in (capsys.readouterr().out, Path("page.html").read_text(encoding="utf-8")):
        assert text.lower().count("were proposed by rules, not annotated") == 1
        assert "Joshi et al. (2020)" not in text
        assert "4.2" not in text
    scored()
    capsys.readouterr()
    assert main(["factors", "runs/bad", "-o", "page.html"]) == 0
    for text in (capsys.readouterr().out, Path("page.html").read_text(encoding="utf-8")):
        assert "proposed by rules" not in text
        assert "Joshi et al. (2020)" in text
        assert "4.2" in text


def test_runs_on_fewer_rows_are_compared_on_those(wide: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scored()
    command = "run -m baseline:majority -s taxonomy --categories negation,world --from wide.tsv --limit 80 -o few"
    assert main(command.split()) == 0
    capsys.readouterr()
    assert main(["factors", "runs/bad", "few", "-o", "page.html"]) == 0
    assert "80 rows, those that all models were asked." in capsys.readouterr().out
    assert "80 rows, those that all models were asked." in Path("page.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["factors", "runs/bad", "--prior", "flat"], "no prior called 'flat'"),
        (["factors", "runs/bad", "-o", "page.txt"], "page.txt: is to be a page, whose name ends in .html"),
        (["factors", "nowhere"], "nowhere: there is no such folder"),
        (
            ["score", "wide.tsv", "--suite", "wide.tsv", "--column", "bat"],
            "wide.tsv: no column called 'bat'; did you mean 'bad'?",
        ),
        (
            ["score", "wide.tsv", "--suite", "wide.tsv", "--column", "bad", "--columns", "label=bad"],
            "--column bad says where the labels are; --columns may then name the id only",
        ),
    ],
)
def test_mistakes_are_explained(
    wide: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert main(arguments) == 2
    assert message in capsys.readouterr().err
