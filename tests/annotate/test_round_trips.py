"""From data to people, from their answers to a file, and from that to numbers: nothing is lost or taken for another."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import polars as pl
import pytest

pytest.importorskip("sqlalchemy", reason="stores need acidtest[annotate]")

from acidtest import api
from acidtest.annotate.projects import Project
from acidtest.api import PlanOptions, annotation_project, export_annotations, import_annotations
from acidtest.core.errors import FileError
from acidtest.io.tables import read_table

PAIRS = pl.DataFrame(
    {
        "id": ["p1", "p2", "p3"],
        "premise": ["'- quoted", "- quoted", "'quoted"],
        "hypothesis": ["a", "b", "c"],
        "label": ["entailment", "neutral", "neutral"],
        "annotated_label": ["entailment", "entailment", "neutral"],
        "lexical_linguistic": ["1", "0", "0"],
        "world_knowledge": ["0", "1", "0"],
    }
)
SAID = {"inference": "entailment", "outside_knowledge": "no", "approach": ["reasoning", "reading"]}
MARKS = {"deduction": ["causal", "spatial"], "connectives": ["negation"], "wording": ["none"]}


def answered_project(data: Path, store: Path) -> Project:
    """Anna says entailment of everything, Ben contradicts her once."""
    project = annotation_project(data, store=str(store), questionnaire="taxonomy", options=PlanOptions(per_item=2))
    for name in ("Anna", "Ben"):
        project.join(name)
        while "item" in (shown := project.next(name)):
            odd = name == "Ben" and shown["item"]["fields"]["hypothesis"] == "b"
            said = SAID | MARKS | ({"inference": "neutral", "connectives": ["none"]} if odd else {})
            project.answer(name, shown["assignment"], said, key=f"{name}-{shown['assignment']}", seconds=2.5)
    return project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    # As somebody else wrote it: what begins with an apostrophe does so of itself.
    path = tmp_path / "pairs.tsv"
    path.write_text(PAIRS.write_csv(separator="\t", quote_style="never"), encoding="utf-8")
    return answered_project(path, tmp_path / "answers.db")


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".jsonl"])
def test_texts_come_back_as_they_were(project: Project, tmp_path: Path, ending: str) -> None:
    path, other = tmp_path / f"answers{ending}", str(tmp_path / "other.db")
    export_annotations(project, path)
    import_annotations(path, store=other, questionnaire="taxonomy")
    for found in (project, annotation_project(store=other)):
        with found.state() as state:
            assert {item.id: item.fields["premise"] for item in state.items} == dict(PAIRS["id", "premise"].iter_rows())


def test_a_suite_that_acidtest_wrote_is_shown_as_it_is(project: Project, tmp_path: Path) -> None:
    path = tmp_path / "suite.csv"
    api.save(api.load(tmp_path / "pairs.tsv"), path)
    with answered_project(path, tmp_path / "suite.db").state() as state:
        assert sorted(item.fields["premise"] for item in state.items) == sorted(PAIRS["premise"])


@pytest.mark.parametrize(("ending", "several"), [(".csv", "causal|spatial"), (".jsonl", ["causal", "spatial"])])
def test_several_answers_are_written_as_they_are_read(
    project: Project, tmp_path: Path, ending: str, several: object
) -> None:
    path = tmp_path / f"answers{ending}"
    export_annotations(project, path)
    assert read_table(path).frame["deduction"].to_list() == [several] * 6


def test_a_store_and_what_is_exported_from_it_have_one_signature(project: Project, tmp_path: Path) -> None:
    signatures = {api.agreement(tmp_path / "answers.db").signature}
    for name in ("a.csv", "a.jsonl", "a.parquet"):
        export_annotations(project, tmp_path / name)
        signatures.add(api.agreement(tmp_path / name, questionnaire="taxonomy").signature)
    export_annotations(project, tmp_path / "all.csv", everything=True)
    signatures.add(api.agreement(tmp_path / "all.csv", questionnaire="taxonomy").signature)
    assert len(signatures) == 1


@pytest.mark.parametrize("ending", [".csv", ".jsonl"])
def test_labels_that_came_along_are_not_what_people_answered(project: Project, tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"answers{ending}"
    export_annotations(project, path)
    with pytest.raises(FileError, match="if they hold answers, the questionnaire with --questionnaire"):
        api.agreement(path)
    assert read_table(path).frame["source_annotated_label"].n_unique() == 2


@pytest.mark.parametrize("name", ["out.jsonl", "out.csv"])
def test_what_agreement_writes_is_a_file_of_annotated_pairs(project: Project, tmp_path: Path, name: str) -> None:
    api.agreement(tmp_path / "answers.db", output=tmp_path / name)
    found = api.generate("taxonomy", source=tmp_path / name).frame.collect().sort("hypothesis")
    # Of the second pair people disagree, so that it has no gold.
    assert found["label"].to_list() == ["entailment"] * 2
    assert found.select("causal", "negation", "lexical", "world").rows() == [(True, True, False, False)] * 2


def test_a_database_of_something_else_is_no_store(tmp_path: Path) -> None:
    path = tmp_path / "songs.db"
    with sqlite3.connect(path) as connection:
        connection.execute("create table songs (name text)")
    connection.close()
    with pytest.raises(FileError, match=r"songs\.db: is a database, but no store"):
        api.agreement(path)
