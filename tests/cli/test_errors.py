"""``acidtest errors`` as a user meets it: a run, a sample, an edited file, two people."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import acidtest
from acidtest import api
from acidtest.cli.app import main
from acidtest.core.errors import FileError
from acidtest.core.serialise import to_json
from acidtest.studies.errors.samples import CATEGORIES, RULES

DOCS = Path(__file__).parents[2] / "docs" / "reference" / "findings.md"

PAIRS = """premise,hypothesis,label,genre
The shop is open.,The shop is closed.,contradiction,travel
A man near a dog sleeps.,A dog sleeps.,neutral,travel
We pool our assets.,Sharing helps everybody.,entailment,fiction
Two cats play.,Three cats play.,contradiction,fiction
A cat plays.,A cat plays.,entailment,fiction
"""


@pytest.fixture(autouse=True)
def _a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pairs.csv").write_text(PAIRS, encoding="utf-8")
    acidtest.run("baseline:overlap", "pairs.csv", output="run", page=False)


def said(capsys: pytest.CaptureFixture[str], *words: str, status: int = 0) -> tuple[str, str]:
    capsys.readouterr()
    assert main(["errors", *words]) == status
    captured = capsys.readouterr()
    return captured.out, captured.err


def test_a_sample_is_drawn_edited_and_counted(capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = said(capsys, "run", "-o", "mine.tsv")
    assert out.startswith("mine.tsv: 4 errors, none sorted by a person yet.\n")
    assert out.endswith("Now fill in the column category, then: acidtest errors mine.tsv\n")
    sample = pl.read_csv("mine.tsv", separator="\t", infer_schema=False)
    assert sorted(sample["proposed"]) == ["antonymy", "numerical", "word overlap", "word overlap"]
    decided = sample.with_columns(category=pl.col("proposed").replace("numerical", "world knowledge"))
    decided.write_csv("mine.tsv", separator="\t")
    out, _ = said(capsys, "mine.tsv", "--plot", "mine.svg")
    assert out.startswith("mine.tsv: 4 errors, all sorted.\n")
    assert "People kept 3 of 4 proposals that they decided on." in out
    assert "world knowledge" in Path("mine.svg").read_text(encoding="utf-8")
    said(capsys, "mine.tsv", "--plot", "mine.png", "--tables", "tables")
    assert Path("mine.png").read_bytes().startswith(b"\x89PNG")
    assert Path("tables/categories.csv").is_file()


def test_an_edited_file_is_not_written_over(capsys: pytest.CaptureFixture[str]) -> None:
    Path("errors.tsv").write_text("my work", encoding="utf-8")
    _, err = said(capsys, "run", status=2)
    assert err == (
        "acidtest: errors.tsv: exists, perhaps with what somebody decided; choose another -o, or add --fresh\n"
    )
    assert Path("errors.tsv").read_text(encoding="utf-8") == "my work"
    with pytest.raises(FileError, match=r"errors.tsv: exists"):
        api.error_sample("run", output="errors.tsv")
    said(capsys, "run", "--fresh")
    assert Path("errors.tsv").read_text(encoding="utf-8").startswith("id\tsuite\tpremise\t")


def test_the_sample_is_that_of_python(capsys: pytest.CaptureFixture[str]) -> None:
    said(capsys, "run", "-n", "2", "--seed", "5", "--by", "genre", "--prefill", "-o", "errors.jsonl")
    same = api.error_sample(acidtest.finished_run("run"), n=2, seed=5, by=["genre"], prefill=True)
    written = pl.read_ndjson("errors.jsonl")
    assert written["id"].to_list() == same["id"].to_list()
    assert written["category"].to_list() == same["proposed"].to_list()
    assert sorted(written["genre"]) == ["fiction", "travel"]
    assert api.error_typology("errors.jsonl").decided == 2


def test_json_holds_what_python_gives(capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = said(capsys, "run", "-o", "errors.csv", "--json")
    assert json.loads(out) == to_json(api.error_typology("errors.csv"))
    out, _ = said(capsys, "errors.csv", "errors.csv", "--json")
    assert json.loads(out)["agreement"]["note"] == "nothing that both decided on"


def test_two_people_are_compared(capsys: pytest.CaptureFixture[str]) -> None:
    sample = api.error_sample("run", output="a.tsv", prefill=True)
    other = sample.with_columns(category=pl.col("proposed").replace("antonymy", "ambiguity"))
    other.write_csv("b.tsv", separator="\t")
    out, _ = said(capsys, "a.tsv", "b.tsv")
    assert out.startswith("4 errors sorted by both, the same category for 3; kappa 0.64.\n")
    # Wilson's interval for 3 of 4.
    assert "75.0 (30.1–95.4)" in out


def test_mistakes_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    api.error_sample("run", output="mine.tsv")
    for words, told in (
        (("run", "run"), "draw from one run at a time; two arguments are two people's files of one sample"),
        (("run", "--suite", "hans"), "no suite in this run called 'hans'; there is pairs"),
        (("a.tsv", "b.tsv", "c.tsv"), "one file is counted and two are compared; 3 were given"),
        (("none.tsv",), "none.tsv: there is no such file; check the path"),
        (("a.tsv", "b.tsv", "--plot", "c.svg"), "--plot draws the distribution in one file; two were given"),
        (("a.tsv", "--suite", "pairs"), "--suite says how to draw from a run, and a.tsv is no folder; a sorted file"),
        (("a.tsv", "-n", "7", "--seed", "1"), "-n, --seed say how to draw from a run, and a.tsv is no folder"),
        (("a.tsv", "--fresh"), "--fresh says how to draw from a run"),
        (("mine.tsv", "--plot", "c.pdf"), "c.pdf: the ending .pdf is not that of a picture; use .svg or .png"),
        (("run", "-o", "errors.xlsx"), "errors.xlsx: the ending .xlsx is not among those known"),
    ):
        _, err = said(capsys, *words, status=2)
        assert told in err
    assert not Path("errors.xlsx").exists()
    Path("a.tsv").write_text("id\tcategory\nx\tnegation\ny\tnegative\n", encoding="utf-8")
    _, err = said(capsys, "a.tsv", status=2)
    assert err == "acidtest: a.tsv:3: no error category called 'negative'; did you mean 'negation'?\n"


def test_a_seed_set_for_all_commands_does_not_keep_a_file_from_being_counted(
    capsys: pytest.CaptureFixture[str],
) -> None:
    said(capsys, "run", "-o", "mine.tsv")
    Path("acidtest.toml").write_text("seed = 7\n", encoding="utf-8")
    out, _ = said(capsys, "mine.tsv")
    assert out.startswith("mine.tsv: 4 errors")


def test_errors_of_stress_tests_are_drawn_from_the_untouched_pairs(capsys: pytest.CaptureFixture[str]) -> None:
    acidtest.run("baseline:overlap", ["stress/negation", "stress/length-mismatch"], source="pairs.csv", output="both")
    out, _ = said(capsys, "both", "-o", "both.tsv")
    line = "Drawn from the untouched pairs (stress/negation#control); for changed ones: --suite stress/negation\n"
    assert line in out
    sample = pl.read_csv("both.tsv", separator="\t", infer_schema=False)
    assert sample["suite"].to_list() == ["stress/negation#control"] * 4
    out, _ = said(capsys, "both", "-o", "changed.tsv", "--suite", "stress/negation")
    assert "Drawn from" not in out


def test_a_prefilled_sample_is_called_so(capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = said(capsys, "run", "-o", "mine.tsv", "--prefill")
    assert out.startswith("mine.tsv: 4 errors, prefilled.\n")
    assert "Prefilled with the proposals; nobody has changed one yet." in out


def test_the_page_has_every_category_and_every_rule_in_order() -> None:
    page = DOCS.read_text(encoding="utf-8")
    rows = [f"| {name} | {meaning} |" for name, meaning in CATEGORIES.items()]
    assert "\n".join(rows) in page
    assert "\n".join(f"| {number} | {rule.category} | {rule.when} |" for number, rule in enumerate(RULES, 1)) in page
