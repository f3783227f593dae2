"""``acidtest tag`` as a user types it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from acidtest.cli.app import main
from acidtest.io.tables import read_table
from acidtest.pairs.category_rules import PREFIX, PROPOSED

ROWS = (
    ("They post many articles.", "They do not post articles.", "contradiction"),
    ("He came.", "He never came.", "contradiction"),
    ("A man eats.", "A man eats.", "entailment"),
)


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    plain = "".join("\t".join(row) + "\n" for row in ROWS)
    Path("plain.tsv").write_text(f"premise\thypothesis\tlabel\n{plain}", encoding="utf-8")
    marked = "".join("\t".join((*row, mark, "0")) + "\n" for row, mark in zip(ROWS, "100", strict=True))
    Path("marked.tsv").write_text(f"premise\thypothesis\tlabel\tnegation\tcausal\n{marked}", encoding="utf-8")


def test_counts_are_printed_with_what_was_measured(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tag", "plain.tsv"]) == 0
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    out = " ".join(" ".join(lines).split())
    assert out.startswith("plain: 3 pairs, 1 without a proposal.")
    assert "negation 2 66.7" in out
    assert "67.2 (63.8–70.5) 74.2 (70.7–77.3)" in out
    assert "Categories were proposed by rules, not annotated" in out
    assert "that the file itself marks" not in out
    [taxonomic] = [line for line in lines if line.startswith("taxonomic")]
    assert taxonomic.endswith("chance"), "no better than proposals at random"


def test_the_table_has_a_column_for_every_category(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tag", "plain.tsv", "-o", "tagged.tsv", "--json"]) == 0
    written = json.loads(capsys.readouterr().out)
    assert written["table"] == "tagged.tsv"
    assert written["categories"]["negation"]["proposed"] == 2
    assert written["categories"]["negation"]["here"] is None
    frame = read_table("tagged.tsv").frame
    assert frame.columns[-len(PROPOSED) :] == [PREFIX + name for name in PROPOSED]
    assert frame["auto_negation"].to_list() == ["true", "true", "false"]


def test_a_file_that_marks_categories_is_what_proposals_are_measured_against(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["tag", "marked.tsv", "--json"]) == 0
    written = json.loads(capsys.readouterr().out)["categories"]
    here = written["negation"]["here"]
    assert (here["precision"]["value"], here["recall"]["value"], here["chance"]["n"]) == (0.5, 1.0, 3)
    assert {name for name in written if written[name]["here"]} == {"negation"}, "rules never propose causal"
    assert main(["tag", "marked.tsv"]) == 0
    assert "against the categories that the file itself marks" in capsys.readouterr().out


def test_a_file_that_is_not_there_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tag", "nothing.tsv"]) == 2
    assert "nothing.tsv" in capsys.readouterr().err


def test_taxinli_is_measured_against_its_annotators(shared: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = shared / "taxinli" / "taxinli10k.tsv"
    if not file.exists():
        pytest.skip(f"{file} is not there")
    assert main(["tag", str(file), "--json"]) == 0
    written = json.loads(capsys.readouterr().out)
    assert written["rows"] == 10_071
    assert len(written["notes"]) == 2
    assert "what is compared with the file's own marks does not" in written["notes"][1]
    negation = written["categories"]["negation"]["here"]
    # 1,385 pairs are marked negation (counted in the published file).
    assert negation["recall"]["n"] == 1385
    assert 0.63 < negation["precision"]["value"] < 0.70
