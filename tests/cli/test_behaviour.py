"""The command on behaviour as a user types it."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from acidtest.cli.app import main
from acidtest.core.run import Header, ModelFacts, Run
from acidtest.core.suite import CONTROL, Card, Kind

SUITE = "swaps/antonyms-in-situ"
COLUMNS: dict[str, Kind] = {"premise_word": "text", "hypothesis_word": "text"}
LABELS = ("entailment", "neutral", "contradiction")


def predictions(suite: str, words: list[tuple[str, str]], answers: list[str]) -> pl.DataFrame:
    """Contradictions on some words and what was answered to them."""
    control = suite.endswith(CONTROL)
    rows = [
        {
            "suite": suite,
            "id": f"{number}" if control else f"{number}-swapped",
            "base_id": None if control else f"{number}",
            "group": f"{number}",
            "premise": f"Water {number} is {one}.",
            "hypothesis": f"It is {two}.",
            "label": "contradiction",
            "premise_word": one,
            "hypothesis_word": two,
            **{f"p_{label}": float(answer == label) for label in LABELS},
            "source_id": None,
            "certainty": "human",
            "answer": answer,
            "correct": answer == "contradiction",
            "truncated": False,
        }
        for number, ((one, two), answer) in enumerate(zip(words, answers, strict=True))
    ]
    return pl.DataFrame(rows, schema_overrides={"base_id": pl.String, "source_id": pl.String})


def written(folder: Path, after: list[str]) -> None:
    """A run that is right on 40 controls."""
    words = [("hot", "cold"), ("wet", "dry")] * 20
    cards = {name: Card(name, columns=COLUMNS) for name in (SUITE, SUITE + CONTROL)}
    swapped = [(two, one) for one, two in words]
    frames = predictions(SUITE, swapped, after), predictions(SUITE + CONTROL, words, ["contradiction"] * 40)
    folder.mkdir()
    run = Run(Header(ModelFacts("toy", folder.name), cards, {}, versions={"acidtest": "0"}), pl.concat(frames))
    run.write_predictions(folder)
    run.write_header(folder)


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two runs and a training set that never has dry before wet."""
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "led", ["contradiction", "neutral"] * 20)
    written(tmp_path / "sound", ["contradiction"] * 40)
    lines = ["premise\thypothesis\tlabel", "It is cold.\tIt is hot.\tcontradiction", "It is wet.\tIt is dry.\tneutral"]
    Path("train.tsv").write_text("\n".join([*lines, "It is hot.\tIt is cold.\tcontradiction"]), encoding="utf-8")
    return tmp_path


def test_tables_and_findings_are_printed(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["behaviour", "led", "sound", "--train", "train.tsv", "--full"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "swaps/antonyms-in-situ" in out
    # Of table 1 as published: ESIM on I_A and I_TA1.
    assert "ESIM, published control – 97 – – – – – 90 swapped – 93.3 – – – 60 – 68.1" in out
    assert "The swap lowers accuracy from 100.0 % to 50.0 % (−50.0 points" in out
    assert "Unseen word pairs are answered worse (G(1) = " in out
    assert "0 of 20 (0.0 %) rows with unseen word pairs are right, 20 of 20 (100.0 %) with seen ones" in out
    assert "Published: CE G(1) = 19.46, DAM G(1) = 74.16, ESIM G(1) = 39.33." in out
    assert "Answers do not depend on polarity: every one is contradiction (" in out
    assert "Insensitivity cannot be told: no gold changes" in out
    assert "Training set: train, 0 entailment, 1 neutral, 2 contradiction." in out


def test_json_holds_the_same(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["behaviour", "led", "--train", "train.tsv", "--json", "--alpha", "0.05", "--test", "fisher"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert (printed["alpha"], printed["test"], printed["correction"]) == (0.05, "fisher", "bonferroni")
    (result,) = printed["results"]
    unseen = next(factor for factor in result["factors"] if factor["factor"] == "unseen pairs")
    assert unseen["table"] == {
        "rows": ["correct", "incorrect"],
        "columns": ["seen", "unseen"],
        "counts": [[20, 0], [0, 20]],
    }
    assert unseen["test"] == "Fisher's exact"
    # On the control wet and dry are neutral by polarity and contradictions by gold.
    assert result["control"]["subsets"]["polarity is not gold"]["n"] == 20
    assert result["signature"].startswith("swaps/antonyms-in-situ|v:1|")


def test_a_page_is_written_beside_the_tables(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["behaviour", "led", "sound", "--train", "train.tsv", "-o", "page.html"]) == 0
    assert capsys.readouterr().out.endswith("page: page.html\n")
    page = Path("page.html").read_text(encoding="utf-8")
    assert "acidtest behaviour" in page
    assert "The swap lowers accuracy from 100.0 % to 50.0 %" in page
    assert main(["behaviour", "led", "--train", "train.tsv", "--output", "page.html", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["page"] == "page.html"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["led", "--train", "none.tsv"], "none.tsv"),
        (["led", "--train", "train.tsv", "--alpha", "2"], "--alpha is a number between 0 and 1, not 2"),
        (["led", "--train", "train.tsv", "--test", "chi"], "no test called 'chi'"),
        (["led"], "Missing option '--train'"),
        (["led", "led", "--train", "train.tsv"], "two runs of led hold 'swaps/antonyms-in-situ'; pass one of them"),
        (["nothing", "--train", "train.tsv"], "nothing: there is no such folder"),
    ],
)
def test_mistakes_are_told_in_a_line(
    runs: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert main(["behaviour", *arguments]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_compare_says_which_of_three_models_are_tied(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written(runs / "good", ["contradiction"] * 39 + ["neutral"])
    assert main(["compare", "led", "sound", "good", "--correction", "by", "--full"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "Tied on swaps/antonyms-in-situ (not told apart at 0.05, adjusted), best first: sound = good; led." in out
    written(runs / "poor", ["neutral"] * 40)
    assert main(["compare", "led", "sound", "poor", "--full"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert (
        "None tied on swaps/antonyms-in-situ (not told apart at 0.05, adjusted), best first: sound; led; poor." in out
    )
    assert main(["compare", "led", "sound", "--json"]) == 0
    ties = json.loads(capsys.readouterr().out)["ties"]
    assert ties[0]["letters"] == {"sound": "a", "led": "b"}


def test_a_two_way_training_set_and_a_page_of_another_kind_are_refused(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "premise\thypothesis\tlabel\nIt is hot.\tIt is cold.\tnot_entailment\nIt is hot.\tIt is.\tentailment\n"
    Path("two.tsv").write_text(text, encoding="utf-8")
    assert main(["behaviour", "led", "--train", "two.tsv"]) == 2
    assert "two has 1 pairs with another label" in capsys.readouterr().err
    assert main(["behaviour", "led", "--train", "train.tsv", "-o", "page.pdf"]) == 2
    assert "page.pdf: is to be a page, whose name ends in .html" in capsys.readouterr().err
