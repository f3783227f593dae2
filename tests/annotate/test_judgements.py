"""Human studies as their papers report them, from answers to what is printed: HANS's and that of the stress tests."""

from __future__ import annotations

import json
import re
from pathlib import Path

import polars as pl
import pytest

pytest.importorskip("sqlalchemy", reason="stores need acidtest[annotate]")

from acidtest import api
from acidtest.annotate.projects import Project
from acidtest.annotate.questionnaires import parse_questionnaire
from acidtest.cli.app import main
from acidtest.core.errors import AcidtestError
from acidtest.core.ratings import PeoplePace
from acidtest.core.serialise import to_json


def test_the_study_of_hans_prints_what_its_paper_prints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    project = api.annotation_project(store="hans.db", options=api.PlanOptions(plan="hans-human", per_annotator=6))
    # Ann is always right; Ben says entailment always, so that he fails the five controls with a negation.
    answer_all(project, "ann", None, 9.0)
    answer_all(project, "ben", "entailment", 4.0)
    agreement = api.agreement("hans.db")
    assert agreement.attendance is not None
    assert agreement.attendance.excluded == ("ben",)
    # Controls are not counted: everybody took 1 second for each of ten.
    assert agreement.attendance.paces == {
        "all": PeoplePace(2, 6.5),
        "kept": PeoplePace(1, 9.0),
        "discarded": PeoplePace(1, 4.0),
    }
    slices = {(each.factor, each.value): each.accuracy for each in agreement.slices}
    assert slices[None, None].value == 1
    assert slices[None, None].n == 6
    assert sum(each.n for (factor, _), each in slices.items() if factor == "heuristic") == 6
    capsys.readouterr()
    assert main(["agreement", "hans.db"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    # McCoy et al. 2019, section 6: 76 % of crowd workers, 97 % of experts.
    assert re.search(r" all 6 100\.0 (\(\S+\) )?76 97 ", out)
    assert "published all 2 6.5 6.5 kept 1 9.0 8.9 discarded 1 4.0 4.2" in out
    assert "excluded: 1 of 2 people: ben" in out
    assert "published: HANS, 2,280 pairs, 95 of 200 people kept; McCoy et al. 2019, section 6 and appendix E" in out
    api.agreement("hans.db", output="page.html")
    page = Path("page.html").read_text(encoding="utf-8")
    assert ">expert annotators</th>" in page
    # A table of all answers, asked with the same questionnaire, says the same.
    api.export_annotations(project, "answers.tsv", everything=True)
    again = api.agreement("answers.tsv", questionnaire="hans-human")
    assert to_json(again)["accuracy_by"] == to_json(agreement)["accuracy_by"]
    assert to_json(again)["attendance"]["pace"] == to_json(agreement)["attendance"]["pace"]


def answer_all(project: Project, name: str, label: str | None, seconds: float) -> None:
    """Give every item a label, or its gold where there is none; controls take a second."""
    project.join(name)
    shown = project.next(name)
    while not shown.get("finished"):
        with project.state() as state:
            item = state.items[state.claims[shown["assignment"]].item - 1]
        took = 1.0 if item.role == "control" else seconds
        key = f"key-{name}-{shown['assignment']}"
        said = {"follows": label or item.known["label"]}
        shown = project.answer(name, shown["assignment"], said, key=key, seconds=took)["next"]


VALIDATION = [
    # item, suite, gold, and the three people's label, grammar and difficulty
    ("a", "stress/antonymy", "contradiction", "ccn", "yyn", "tth"),
    ("b", "stress/antonymy", "contradiction", "cnn", "yyy", "tts"),
    ("c", "stress/antonymy", "contradiction", "ccc", "nny", "hhh"),
    ("d", "stress/numerical", "entailment", "eee", "yyy", "ttt"),
    ("e", "stress/numerical", "neutral", "nne", "yny", "tht"),
]
WORDS = {"c": "contradiction", "n": "neutral", "e": "entailment"}
HARD = {"t": "trivial", "s": "some thought", "h": "hard"}


@pytest.fixture
def validation(tmp_path: Path) -> Path:
    rows = [
        {
            "item": item,
            "annotator": f"p{at}",
            "suite": suite,
            "gold": gold,
            "premise": item,
            "inference": WORDS[label[at]],
        }
        | {"grammatical": grammar[at], "difficulty": HARD[hard[at]]}
        for item, suite, gold, label, grammar, hard in VALIDATION
        for at in range(3)
    ]
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_the_study_of_stress_tests_prints_what_its_paper_prints(
    validation: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    agreement = api.agreement(validation, questionnaire="validation")
    # At least two of three: a and c confirmed, a and b grammatical, a and b trivial; d and e all of it.
    assert {(each.suite, each.name): (each.share.value, each.share.n, each.published) for each in agreement.shares} == {
        ("stress/antonymy", "confirmed"): (pytest.approx(2 / 3), 3, 0.86),
        ("stress/antonymy", "grammatical"): (pytest.approx(2 / 3), 3, 0.87),
        ("stress/antonymy", "trivial"): (pytest.approx(2 / 3), 3, None),
        ("stress/numerical", "confirmed"): (1, 2, 0.91),
        ("stress/numerical", "grammatical"): (1, 2, 0.92),
        ("stress/numerical", "trivial"): (1, 2, 0.98),
    }
    capsys.readouterr()
    assert main(["agreement", str(validation), "--questionnaire", "validation"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["stress/antonymy:", "confirmed", "3", "66.7", "(20.8–93.9)", "86"] in lines
    assert [line[-1] for line in lines if line[:1] == ["stress/numerical:"]] == ["91", "92", "98"]


def test_without_gold_or_suite_shares_say_what_can_be_said(validation: Path) -> None:
    frame = pl.read_ndjson(validation).drop("suite", "gold")
    path = validation.with_name("plain.jsonl")
    frame.write_ndjson(path)
    confirmed, grammatical, _ = api.agreement(path, questionnaire="validation").shares
    assert (confirmed.suite, confirmed.share.known, confirmed.share.note) == (
        None,
        False,
        "no gold came along with the items",
    )
    assert (grammatical.share.value, grammatical.published) == (0.8, None)


def test_items_of_a_suite_that_papers_tell_of_know_its_name(tmp_path: Path) -> None:
    made = tmp_path / "numerical.jsonl"
    api.save(api.generate("stress/numerical", n=10), made)
    project = api.annotation_project(str(made), store=str(tmp_path / "a.db"), questionnaire="validation")
    with project.state() as state:
        assert {item.known["suite"] for item in state.items} == {"stress/numerical"}
    plain = tmp_path / "pairs.tsv"
    plain.write_text("id\tpremise\thypothesis\tlabel\np\tA\tB\tneutral\n", encoding="utf-8")
    project = api.annotation_project(str(plain), store=str(tmp_path / "b.db"), questionnaire="validation")
    with project.state() as state:
        assert "suite" not in state.items[0].known


@pytest.mark.parametrize(
    ("share", "problem"),
    [
        ('name = "x"', "share 1: write either when"),
        ('name = "x"\nlabel = "neutral"', "share 1: write either when"),
        ('name = "x"\nlabel = "gold"\nwhen = { a = "yes" }', "share 1: write either when"),
        ('when = { a = "yes" }', "share 1.name: is missing"),
        ('name = "x"\nwhen = { b = "yes" }', "share 1: when: no earlier question called 'b'"),
    ],
)
def test_a_share_that_makes_no_sense_is_told(share: str, problem: str) -> None:
    text = 'schema = 1\ntitle = "t"\n[[question]]\nid = "a"\ntext = "?"\nkind = "yes-no"\n[[rule]]\nlabel_from = "a"\n'
    with pytest.raises(AcidtestError, match=problem):
        parse_questionnaire(f"{text}[[share]]\n{share}\n".encode(), Path("mine.toml"))
