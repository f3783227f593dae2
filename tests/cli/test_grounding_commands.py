"""``acidtest run`` and ``acidtest grounding`` on documents and claims, as a user types them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import jsonschema
import pytest

from acidtest.cli.app import main


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def said(capsys: pytest.CaptureFixture[str], *arguments: str, status: int = 0) -> tuple[str, str]:
    assert main(list(arguments)) == status
    captured = capsys.readouterr()
    return captured.out, captured.err


def test_several_verifiers_are_shown_with_their_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    claims = [f"c{n}\tThe mill in Town{n} closed.\tIt closed in {n}.\t{('un' * (n % 2))}supported" for n in range(20)]
    Path("claims.tsv").write_text("\n".join(["id\tdocument\tclaim\tlabel", *claims]) + "\n", encoding="utf-8")
    scores = [f"c{n},{0.9 - 0.7 * (n % 2)},{0.9 - 0.7 * (n % 4 == 1)}" for n in range(20)]
    Path("scores.csv").write_text("\n".join(["id,good,poor", *scores]) + "\n", encoding="utf-8")
    words = ["score", "scores.csv", "-s", "grounding/claims", "--from", "claims.tsv", "--column", "good"]
    assert main([*words, "--column", "poor"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    # All of the ten supported claims are found by both, ten and five of the others.
    assert [line[:2] for line in lines if line[:1] in (["good"], ["poor"])] == [["good", "100"], ["poor", "75"]]


def test_all_suites_on_claims_are_one_screen_and_one_table(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    out, _ = said(capsys, "run", "-m", "baseline:overlap", "-s", "grounding/*", "--limit", "200", "-o", "run", "-q")
    lines = out.splitlines()
    assert len(lines) <= 40
    assert max(len(line) for line in lines if "|" not in line) <= 100
    assert re.search(r"^gold changes: called supported$", out, re.M)
    assert re.search(r"^other unsupported claims +\d+ ", out, re.M)
    assert "grounding/number " not in out, "no accuracy of each suite"
    page = Path("run/report.html").read_text(encoding="utf-8")
    assert page.index("Documents and claims") < page.index("Findings")
    full, _ = said(
        capsys, "run", "-m", "baseline:overlap", "-s", "grounding/*", "--limit", "200", "-o", "run", "--full"
    )
    assert "Untouched claims by the length of the document" in full


def test_the_study_shows_another_threshold_and_precision_in_service(capsys: pytest.CaptureFixture[str]) -> None:
    said(capsys, "run", "-m", "reference", "-s", "grounding/claims", "--limit", "60", "-o", "run", "-q")
    out, _ = said(capsys, "grounding", "run", "--threshold", "0.7", "--base-rate", "0.1", "--full")
    assert "above 0.7" in out
    assert "Risk against coverage" in out
    assert re.search(r"^supported, of claims called so, base rate 10 % +\d", out, re.M)
    printed, _ = said(capsys, "grounding", "run", "--threshold", "0.7", "--json")
    assert json.loads(printed)["models"]["reference"]["rule"]["deployed"] == "threshold=0.7"


def test_a_threshold_of_a_run_is_that_of_its_collapse(capsys: pytest.CaptureFixture[str]) -> None:
    run = ("run", "-m", "reference", "-s", "grounding/claims", "--limit", "60", "-q")
    printed, _ = said(capsys, *run, "-o", "run", "--threshold", "0.7", "--base-rate", "0.2", "--json")
    results = json.loads(printed)
    assert "collapse:threshold=0.7" in results["signature"]
    assert results["grounding"]["rule"]["deployed"] == "threshold=0.7"
    assert results["grounding"]["precision"]["base_rate"] == 0.2
    assert "balanced accuracy" in results["suites"]["grounding/claims"]["metrics"]
    schema = Path(__file__).parents[2] / "src" / "acidtest" / "data" / "results.schema.json"
    jsonschema.validate(json.loads(Path("run/results.json").read_text("utf-8")), json.loads(schema.read_text("utf-8")))
    again, _ = said(capsys, *run, "-o", "run", "--collapse", "threshold=0.7", "--base-rate", "0.2", "--json")
    assert json.loads(again) == results


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--threshold", "0.7", "--collapse", "sum"), "--threshold 0.7 stands for --collapse threshold=0.7"),
        (("--threshold", "7"), "is not argmax, sum or threshold=T with 0 <= T < 1"),
        (("--base-rate", "10"), "--base-rate is the share of claims that are not supported"),
    ],
)
def test_options_that_make_no_sense_are_refused(
    options: tuple[str, ...], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    _, err = said(capsys, "run", "-m", "reference", "-s", "grounding/claims", *options, status=2)
    assert reason in " ".join(err.split())


def test_overlap_on_untouched_claims_gets_no_clean_bill(capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = said(capsys, "run", "-m", "baseline:overlap", "-s", "grounding/claims", "-o", "run", "-q")
    text = " ".join(out.split())
    assert "no shortcut" not in text
    assert "Whether it reads the document, or goes by shared words, only edits show (-s 'grounding/*')." in text


def test_a_file_without_labels_is_compared_pair_by_pair(capsys: pytest.CaptureFixture[str]) -> None:
    claims = [f"The mill at Orsby has {number} wheels." for number in range(21, 61)]
    rows = [{"document": f"It was built in May. {claim} Nobody lives there.", "claim": claim} for claim in claims]
    Path("claims.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    suites = ("-s", "grounding/claims,grounding/number", "--from", "claims.jsonl")
    out, _ = said(capsys, "run", "-m", "baseline:majority:entailment", *suites, "-o", "run", "-q")
    text = " ".join(out.split())
    assert "Edited claims are not what language models get wrong by themselves" in text
    assert "It calls 100 % of all claims supported, whatever the document says." in text


def test_the_study_prints_one_screen_with_its_sentence_first_and_everything_with_full(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    said(capsys, "run", "-m", "baseline:overlap", "-s", "grounding/*", "--limit", "200", "-o", "run", "-q")
    out, _ = said(capsys, "grounding", "run")
    lines = out.splitlines()
    assert len(lines) <= 40
    assert lines[0].startswith("It ")
    assert re.search(r"^other unsupported claims +\d+ ", out, re.M)
    assert re.search(r"^(severe|warning|good) +\w+ ", out, re.M)
    assert lines[-1].startswith("collapse:argmax|limit:200|model:baseline:overlap")
    full, _ = said(capsys, "grounding", "run", "--full")
    assert "Directions of change" in full
    assert "AUC with 95 % intervals" in full


def test_a_file_is_not_cited_by_a_phrase_about_its_licence(capsys: pytest.CaptureFixture[str]) -> None:
    claims = [f"The mill at Orsby has {number} wheels." for number in range(21, 31)]
    rows = [{"document": f"It was built in May. {claim} Nobody lives there.", "claim": claim} for claim in claims]
    Path("claims.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    run = ("run", "-m", "baseline:overlap", "-s", "grounding/claims", "--from", "claims.jsonl", "-o", "run", "-q")
    out, _ = said(capsys, *run, "--full")
    text = " ".join(out.split())
    assert "or does not say it." in text
    assert "that of the corpus" not in text
