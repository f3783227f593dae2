from __future__ import annotations

from pathlib import Path

import pytest

from acidtest.core.errors import FileError
from acidtest.text.swap_answers import read_answers, starter_answers


def written(folder: Path, text: str) -> Path:
    path = folder / "labels.tsv"
    path.write_text(text, encoding="utf-8")
    return path


def test_answers_are_labels_discards_or_undecided(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        "premise\thypothesis\tlabel\tdiscarded\tundecided\nA.\tB.\tneutral\t\t\nC.\tD.\t\tincoherent\t\nE.\tF.\t\t\tno\n",
    )
    assert read_answers(path).rows() == [
        ("A.", "B.", "neutral", "asked"),
        ("C.", "D.", None, "discarded"),
        ("E.", "F.", None, "undecided"),
    ]


def test_what_people_answered_must_be_made_labels_first(tmp_path: Path) -> None:
    path = written(tmp_path, "id\tannotator\tcoherent\tinference\n1\tAnn\tyes\tneutral\n")
    with pytest.raises(FileError, match=r"acidtest agreement .*labels.tsv --questionnaire swaps -o labels.tsv"):
        read_answers(path)


def test_a_file_without_labels_or_with_strange_or_two_labels_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="has no column 'label'"):
        read_answers(written(tmp_path, "premise\thypothesis\nA.\tB.\n"))
    with pytest.raises(FileError, match=r"labels.tsv:3: label 'maybe' is not entailment, neutral or contradiction"):
        read_answers(written(tmp_path, "premise\thypothesis\tlabel\nA.\tB.\tneutral\nC.\tD.\tmaybe\n"))
    with pytest.raises(FileError, match=r"has two labels for 'A.' / 'B.'; keep one"):
        read_answers(written(tmp_path, "premise\thypothesis\tlabel\nA.\tB.\tneutral\nA.\tB.\tentailment\n"))


def test_the_starter_pairs_have_answers_of_all_kinds() -> None:
    assert set(starter_answers()["verdict"]) == {"asked", "discarded", "undecided"}
