"""``acidtest words`` as a user types it, and as docs/reference/files.md describes it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from acidtest import api
from acidtest.cli.app import main
from acidtest.core.errors import AcidtestError

VOCABULARY = """list\tword\tlemma\tparse\texcludes
noun_singular\tmonk\t\t\t
noun_singular\tspy\t\t\t
noun_singular\tqueen\t\t\t
noun_singular\tvet\t\t\t
noun_plural\tmonks\tmonk\t\t
noun_plural\tspies\tspy\t\t
noun_plural\tqueens\tqueen\t\t
noun_plural\tvets\tvet\t\t
transitive\ttrusted\t\t\t
transitive\tfound\tfind\t\tsaw
transitive\tchased\t\t\tsaw
transitive\tsaw\tsee\t\t
passive\ttrusted\t\t\t
passive\tfound\tfind\t\t
passive\tchased\t\t\t
preposition\tacross from\t\t(IN across) (PP (IN from) *)\t
food\tice cream\t\t(NN ice) (NN cream)\t
food\tsoup\t\t\t
"""

TRAIN = """premise,hypothesis,label
He felt the dog.,He feels it will bark.,neutral
He felt the dog.,He felt they bark.,contradiction
"""


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.csv").write_text(TRAIN, encoding="utf-8")


def said(capsys: pytest.CaptureFixture[str], *arguments: str, status: int = 0) -> tuple[str, str]:
    assert main(list(arguments)) == status
    captured = capsys.readouterr()
    return captured.out, captured.err


def test_words_lists_what_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = said(capsys, "words")
    assert out.startswith("fresh is valid: 61 lists, 375 words.\n")
    assert "np_s_verb                 3  takes a person or a clause without that" in out
    assert "felt, found, meant [object clause]\n" in out


def test_a_vocabulary_of_ones_own_is_listed_and_what_does_not_fit_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    vocabulary = tmp_path / "my-words.tsv"
    vocabulary.write_text(VOCABULARY, encoding="utf-8")
    out, _ = said(capsys, "words", "my-words.tsv")
    assert out.startswith("my-words.tsv is valid: 61 lists, 303 words.\n")
    assert "transitive                4  past tense; takes one person as object;" in out
    assert "trusted, found, chased, saw [object]\n" in out
    assert "laughed, sang, smiled, cried, jumped, walked and 5 more, from fresh [alone]\n" in out
    vocabulary.write_text(VOCABULARY.replace("food\tsoup", "transitive\tmet"), encoding="utf-8")
    _, err = said(capsys, "words", "my-words.tsv", status=2)
    assert err == (
        "acidtest: my-words.tsv:19: 'met' does not fit 'transitive': it is symmetric: who did it to whom cannot be "
        "told apart; the gold label would be wrong\n"
    )


def test_snli_has_few_of_the_words_often_enough(capsys: pytest.CaptureFixture[str], shared: Path) -> None:
    path = str(shared / "snli" / "snli_1.0_dev.jsonl.gz")
    out, _ = said(capsys, "words", "--train", path, "-q", status=1)
    assert "counted from parses: 3,319 premises, each once, and 9,842 hypotheses." in out
    assert "object       33            4     29\n" in out
    assert re.search(r"^chased +object 38, passive 7$", out, flags=re.MULTILINE)
    assert out.endswith("80 of 87 words occur fewer than 50 times in a frame they need.\n")


def test_words_that_are_too_rare_are_told_and_end_with_status_1(capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = said(capsys, "words", "--train", "train.csv", "--least", "2", status=1)
    assert "fresh in train.csv, counted from words: 1 premises, each once, and 2 hypotheses." in out
    assert "clause        3           1      2\n" in out
    assert re.search(r"^felt +object 1, that 0$", out, flags=re.MULTILINE)
    assert out.endswith("87 of 87 words occur fewer than 2 times in a frame they need.\n")


def test_words_that_are_frequent_enough_end_with_status_0(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    sentences = {
        "object": "They {} the dog.",
        "clause": "They {} we left.",
        "that": "They {} that dogs bark.",
        "alone": "They {}.",
        "passive": "It was {}.",
        "reduced": "Dogs {} by cats bark.",
        "first": "{} it rained.",
        "opens": "They stayed {} we left.",
    }
    lists = api.words("fresh").lists
    texts = [sentences[frame].format(word) for each in lists for frame in each.frames for word in each.words]
    rows = "".join(f"Nothing.\t{text}\tneutral\n" for text in texts)
    (tmp_path / "all.tsv").write_text(f"premise\thypothesis\tlabel\n{rows}", encoding="utf-8")
    out, _ = said(capsys, "words", "--train", "all.tsv", "--least", "1")
    assert out.endswith("Each of the 87 words occurs at least 1 times in every frame it needs.\n")


def test_words_as_json_say_how_they_were_counted(capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = said(capsys, "words", "--train", "train.csv", "--least", "2", "--json", status=1)
    counts = json.loads(out)["counts"]
    assert counts["from"] == "words"
    assert counts["passed"] is False
    assert {"word": "felt", "frame": "clause", "count": 2, "lists": ["np_s_verb"]} in counts["uses"]
    assert {"word": "felt", "frame": "object", "count": 1, "lists": ["np_s_verb"]} in counts["below"]
    assert counts["forms"]["drove"][:3] == ["drive", "driveen", "driven"]
    assert json.loads(out) == api.words("fresh", "train.csv", least=2).to_json()


def test_a_file_of_another_layout_is_read_as_told(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "odd.csv").write_text("a,b,c\nHe felt the dog.,He smiles.,yep\n", encoding="utf-8")
    how = ("--columns", "premise=a,hypothesis=b,label=c", "--label-map", "yep=entailment")
    out, _ = said(capsys, "words", "--train", "odd.csv", "--least", "1", *how, "--json", status=1)
    assert {"word": "smiled", "frame": "alone", "count": 1, "lists": ["intransitive"]} in json.loads(out)["counts"][
        "uses"
    ]


def test_mistakes_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    _, err = said(capsys, "words", "frehs", status=2)
    assert "no vocabulary is called 'frehs', and there is no such file" in err
    _, err = said(capsys, "words", "--columns", "premise=a", status=2)
    assert err == "acidtest: --columns and --label-map say how to read --train, which is not given\n"
    with pytest.raises(AcidtestError, match="--least is a number from 1 on, not 0"):
        api.words(least=0)
