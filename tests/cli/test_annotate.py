from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("sqlalchemy", reason="stores need acidtest[annotate]")

from acidtest import api
from acidtest.annotate.projects import Project
from acidtest.api import annotation_project
from acidtest.cli import main

PAIRS = "id\tpremise\thypothesis\tlabel\np1\tA girl is sad.\tA girl is unhappy.\tentailment\n"
ANSWERS = {"same_event": "yes", "new_information": "no", "ungrammatical": "no"}


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """Anna has answered the only item."""
    monkeypatch.chdir(tmp_path)
    Path("pairs.tsv").write_text(PAIRS, encoding="utf-8")
    work = annotation_project("pairs.tsv", store="answers.db", questionnaire="breaking-nli")
    work.join("Anna")
    work.answer("Anna", work.next("Anna")["assignment"], ANSWERS, key="some-key-1", seconds=2.0)
    return work


def test_progress_is_told(work: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["annotate", "--store", "answers.db", "--progress"]) == 0
    assert "1 item; 1 of 1 judgements" in capsys.readouterr().out
    assert main(["annotate", "--store", "answers.db", "--progress", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["judgements"], told["annotators"][0]["annotator"]) == (1, "Anna")


def test_a_suite_is_named_as_the_help_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["annotate", "lexical/animals", "--store", "a.db", "--questionnaire", "breaking-nli", "--progress"]
    assert main(words) == 0
    assert main([*words, "--seed", "0"]) == 0
    count = api.generate("lexical/animals").card.rows
    assert f"{count} items; 0 of {count} judgements" in capsys.readouterr().out
    assert main(["annotate", "lexical/animalz", *words[2:]]) == 2


def test_answers_go_out_and_in_again(work: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["annotate", "--store", "answers.db", "--export", "answers.jsonl"]) == 0
    assert main(["annotate", "pairs.tsv", "--store", "b.db", "--questionnaire", "breaking-nli", "--progress"]) == 0
    capsys.readouterr()
    assert main(["annotate", "--store", "b.db", "--import", "answers.jsonl", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"answers": 1, "known already": 0}
    assert main(["annotate", "--store", "b.db", "--export", "tasks.json", "--format", "label-studio"]) == 0
    assert Path("tasks.config.xml").is_file()


def test_agreement_takes_a_store_and_nothing_besides(work: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["agreement", "answers.db", "--questionnaire", "swaps"]) == 2
    assert "is a store, which says itself what was asked" in capsys.readouterr().err


def test_a_link_is_made_for_somebody_who_lost_the_cookie(work: Project, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("fastapi", reason="the annotation server needs acidtest[annotate]")
    assert main(["annotate", "--store", "answers.db", "--readmit", "anna", "--port", "9"]) == 0
    assert capsys.readouterr().out.startswith("link: http://127.0.0.1:9/join/")


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--store", "new.db"], "name one with --questionnaire NAME"),
        (["--store", "new.db", "--questionnaire", "breaking-nli"], "there is nothing to judge; name a file with DATA"),
        (["--store", "answers.db", "--questionnaire", "swaps"], "holds answers to another questionnaire"),
        (["--store", "answers.db", "--progress", "--readmit", "x"], "exclude each other; give one at a time"),
        (["--store", "new.db", "--plan", "hans-humans"], "no plan called 'hans-humans'; did you mean 'hans-human'"),
        (["pairs.tsv", "--store", "n.db", "--questionnaire", "swaps", "--overlap", "1"], "judged by several people"),
        (["nothing.tsv", "--store", "new.db", "--questionnaire", "swaps"], "nothing.tsv: there is no such file"),
        (["--progress"], "Missing option '--store'"),
    ],
)
def test_mistakes_are_told(work: Project, capsys: pytest.CaptureFixture[str], words: list[str], problem: str) -> None:
    assert main(["annotate", *words]) == 2
    assert problem in capsys.readouterr().err
