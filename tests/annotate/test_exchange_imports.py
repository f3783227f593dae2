from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

pytest.importorskip("sqlalchemy", reason="stores need acidtest[annotate]")

from acidtest import api
from acidtest.annotate.exchange import AnswerRow, project_answers
from acidtest.annotate.projects import Project
from acidtest.api import PlanOptions, annotation_project, export_annotations, import_annotations
from acidtest.core.errors import AcidtestError, FileError

YES = {"same_event": "yes", "new_information": "no", "ungrammatical": "no"}
NO = YES | {"same_event": "no"}
CONTROLS = "id\tpremise\thypothesis\tlabel\nc1\tx\tx\tentailment\n"


class Clock:
    def __init__(self, now: float = 1000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def pairs(count: int, **more: Any) -> pl.DataFrame:
    texts = [f"Premise {number}." for number in range(count)]
    return pl.DataFrame({"id": [f"p{n}" for n in range(count)], "premise": texts, "hypothesis": texts, **more})


def set_up_project(url: str, frame: pl.DataFrame | int = 2, clock: Clock | None = None, **options: Any) -> Project:
    data = pairs(frame) if isinstance(frame, int) else frame
    project = annotation_project(data, store=url, questionnaire="breaking-nli", options=PlanOptions(**options))
    return Project(project.store, clock=clock) if clock else project


def answer_next(project: Project, name: str, answers: dict[str, Any] = YES) -> dict[str, Any]:
    shown = project.next(name)
    return project.answer(name, shown["assignment"], answers, key=f"{name}-{shown['assignment']}-key", seconds=2.5)


def answer_all(project: Project, name: str, answers: dict[str, Any] = YES) -> None:
    project.join(name)
    while "item" in project.next(name):
        answer_next(project, name, answers)


def write_lines(path: Path, *lines: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def line(item: str = "p0", annotator: str = "anna", **more: Any) -> dict[str, Any]:
    return {"item": item, "annotator": annotator, "premise": "p", "hypothesis": "h", **YES, **more}


def exported_rows(project: Project) -> list[tuple[Any, ...]]:
    return [
        (row.item, row.annotator, row.answers["same_event"], row.status)
        for row in project_answers(project, everything=True)
    ]


def test_an_export_that_comes_back_changes_nothing(store_url: str, tmp_path: Path) -> None:
    project = set_up_project(store_url)
    answer_all(project, "anna")
    path = tmp_path / "a.jsonl"
    export_annotations(project, path)
    back = project.undo("anna")["assignment"]
    project.answer("anna", back, NO, key="changed-her-mind", seconds=1)
    before = exported_rows(project)
    assert import_annotations(path, store=store_url, project=project) == {"answers": 0, "known already": 2}
    assert exported_rows(project) == before


def test_answers_without_a_key_are_known_by_what_they_say(tmp_path: Path) -> None:
    store, path = str(tmp_path / "a.db"), tmp_path / "a.jsonl"
    project = set_up_project(store, per_item=2)
    answer_all(project, "anna")
    answer_all(project, "ben")
    lines = [line(row.item, row.annotator, at=row.at) for row in project_answers(project)]
    assert import_annotations(write_lines(path, *lines), store=store)["answers"] == 0
    # The hour is not known, and the name is spelt otherwise.
    assert import_annotations(write_lines(path, line("p0", "Anna"), line("p1", "BEN")), store=store)["answers"] == 0
    assert import_annotations(write_lines(path, line(**NO)), store=store) == {"answers": 1, "known already": 0}
    assert import_annotations(path, store=store) == {"answers": 0, "known already": 1}


def test_a_key_that_stands_beside_another_item_is_not_taken_for_it(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "a.jsonl", line("p0", key="copied-key"), line("p1", key="copied-key"))
    store = str(tmp_path / "a.db")
    assert import_annotations(path, store=store, questionnaire="breaking-nli")["answers"] == 2
    assert import_annotations(path, store=store)["known already"] == 2


def test_who_comes_after_an_import_gets_controls_and_all_seats(tmp_path: Path) -> None:
    controls = tmp_path / "controls.tsv"
    controls.write_text(CONTROLS, encoding="utf-8")
    project = set_up_project(str(tmp_path / "a.db"), controls=controls, per_item=2)
    answer_all(project, "anna")
    for name, form, seats in (("tasks.json", "label-studio", 2), ("table.jsonl", "", 1)):
        path, other = tmp_path / name, str(tmp_path / f"{name}.db")
        export_annotations(project, path, form=form, everything=True)
        import_annotations(path, store=other, questionnaire="breaking-nli")
        again = annotation_project(store=other)
        answer_all(again, "ben")
        with again.state() as state:
            assert {item.seats for item in state.items if item.role == "item"} == {seats}
            # A table does not say how many people an item is for.
            assert len(state.people_by_name["ben"].answered) == (3 if seats == 2 else 0)


def test_a_late_answer_stays_late(tmp_path: Path) -> None:
    clock = Clock()
    project = set_up_project(str(tmp_path / "a.db"), 1, clock, expires=60)
    project.join("anna")
    project.join("ben")
    hers = project.next("anna")["assignment"]
    clock.now += 61
    his = project.next("ben")["assignment"]
    project.answer("anna", hers, YES, key="anna-first", seconds=1)
    project.answer("ben", his, NO, key="ben-is-late", seconds=1)
    # Now Ben's counts, and what Anna says next is late: the seat tells, not who came first.
    project.undo("anna")
    project.answer("anna", hers, YES, key="anna-again", seconds=1)
    assert [row[3] for row in exported_rows(project)] == ["undone", "counts", "late"]
    path = tmp_path / "a.csv"
    export_annotations(project, path, everything=True)
    other = str(tmp_path / "b.db")
    import_annotations(path, store=other, questionnaire="breaking-nli")
    assert exported_rows(annotation_project(store=other)) == exported_rows(project)


def test_what_a_control_should_be_comes_along(tmp_path: Path) -> None:
    controls = tmp_path / "controls.tsv"
    controls.write_text(CONTROLS, encoding="utf-8")
    project = set_up_project(str(tmp_path / "a.db"), controls=controls, fail_after=0)
    answer_all(project, "anna", NO)
    path, other = tmp_path / "a.csv", str(tmp_path / "b.db")
    export_annotations(project, path, everything=True)
    import_annotations(path, store=other, questionnaire="breaking-nli")
    (told,) = annotation_project(store=other).overview()["annotators"]
    # Nobody was excluded for it there, so nobody is here.
    assert (told["failed_controls"], told["excluded"]) == (["c1"], False)
    bare = write_lines(tmp_path / "bare.jsonl", line("p0"), line("c1", role="control"))
    import_annotations(bare, store=str(tmp_path / "c.db"), questionnaire="breaking-nli")
    unknown = annotation_project(store=str(tmp_path / "c.db"))
    assert {row.item: row.failed for row in project_answers(unknown, everything=True)} == {"p0": None, "c1": None}
    assert [row.item for row in project_answers(unknown)] == ["p0"]


@pytest.mark.parametrize(
    ("excluded", "status"), [("no", "counts"), ("0", "counts"), (False, "counts"), ("yes", "excluded")]
)
def test_who_is_not_excluded_is_not(tmp_path: Path, excluded: object, status: str) -> None:
    path = write_lines(tmp_path / "a.jsonl", line(excluded=excluded))
    import_annotations(path, store=str(tmp_path / "a.db"), questionnaire="breaking-nli")
    assert [
        row.status for row in project_answers(annotation_project(store=str(tmp_path / "a.db")), everything=True)
    ] == [status]


def test_columns_called_like_ours_come_back_as_they_were(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {"id": ["a", "b"], "premise": ["p", "q"], "hypothesis": [0, 1], "gold": ["entailment", "neutral"]}
    ).with_columns(answer=pl.lit("neutral"), control=pl.lit("maybe"), passed=pl.lit(7), seconds=pl.lit(3))
    store, other, path = str(tmp_path / "a.db"), str(tmp_path / "b.db"), tmp_path / "a.jsonl"
    project = annotation_project(frame, store=store, questionnaire="error-types")
    project.join("anna")
    while "item" in (shown := project.next("anna")):
        project.answer(
            "anna", shown["assignment"], {"category": "negation"}, key=f"k{shown['assignment']:08}", seconds=1
        )
    # Their columns are no attendance.
    assert api.agreement(store).questionnaire == "error-types"
    export_annotations(project, path)
    import_annotations(path, store=other, questionnaire="error-types")
    with project.state() as before, annotation_project(store=other).state() as after:
        assert [item.fields for item in after.items] == [item.fields for item in before.items]
        assert after.items[0].fields == {"premise": "p", "hypothesis": "0", "gold": "entailment", "answer": "neutral"}
        for name in ("control", "passed", "seconds", "answer"):
            assert after.items[0].known[name] == before.items[0].known[name]


def test_spaces_around_the_name_of_an_item_are_none(store_url: str, tmp_path: Path) -> None:
    padded = write_lines(tmp_path / "padded.jsonl", line(" p0 "))
    assert import_annotations(padded, store=store_url, questionnaire="breaking-nli")["answers"] == 1
    assert [row.item for row in project_answers(annotation_project(store=store_url))] == ["p0"]


def test_an_import_that_fails_at_the_end_can_be_done_again(
    store_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_lines(tmp_path / "a.jsonl", line())
    with monkeypatch.context() as patch:
        patch.setattr("acidtest.annotate.state.ProjectState._apply_answer", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            import_annotations(path, store=store_url, questionnaire="breaking-nli")
    with pytest.raises(AcidtestError, match="no questionnaire is given"):
        annotation_project(store=store_url)
    assert import_annotations(path, store=store_url, questionnaire="breaking-nli")["answers"] == 1


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ({"seconds": "abc"}, "seconds 'abc' is not a number of 0 or more"),
        ({"seconds": -1}, "seconds -1 is not a number of 0 or more"),
        ({"at": "yesterday"}, "at 'yesterday' is not a number of 0 or more"),
        ({"status": "good"}, "status 'good' is not counts, undone"),
        ({"same_event": "perhaps"}, "question 'same_event': 'perhaps' is not an answer"),
    ],
)
def test_what_is_wrong_in_a_row_is_told_with_its_line(tmp_path: Path, more: dict[str, Any], problem: str) -> None:
    path = write_lines(tmp_path / "a.jsonl", line("p0"), line("p1", **more))
    with pytest.raises(FileError, match=f"a.jsonl:2: {problem}"):
        import_annotations(path, store=str(tmp_path / "a.db"), questionnaire="breaking-nli")


def test_right_answers_that_nobody_could_give_are_told(tmp_path: Path) -> None:
    for expected, problem in (
        ("{", "expected '{' is not a JSON object"),
        ('{"mood": "good"}', "no question called 'mood'"),
        ('{"same_event": "maybe"}', "'maybe' is not an answer to 'same_event'"),
    ):
        path = write_lines(tmp_path / "a.jsonl", line(role="control", expected=expected))
        with pytest.raises(FileError, match=problem):
            import_annotations(path, store=str(tmp_path / "a.db"), questionnaire="breaking-nli")


def test_an_answer_without_a_time_came_when_it_was_imported(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "a.jsonl", line())
    import_annotations(path, store=str(tmp_path / "a.db"), questionnaire="breaking-nli")
    project = annotation_project(store=str(tmp_path / "a.db"))
    (row,) = project_answers(project)
    with project.store.reading() as connection:
        from acidtest.annotate import store

        since = connection.execute(store.project.select()).one().at
    assert row.at == row.joined == since > 1e9


def test_times_of_undoing_and_excluding_come_along(tmp_path: Path) -> None:
    controls = tmp_path / "controls.tsv"
    controls.write_text(CONTROLS, encoding="utf-8")
    clock = Clock()
    project = set_up_project(str(tmp_path / "a.db"), 3, clock, controls=controls)
    project.join("anna")
    answer_next(project, "anna", NO)
    clock.now += 10
    project.undo("anna")
    clock.now += 10
    shown = project.next("anna")
    project.answer("anna", shown["assignment"], NO, key="another-key", seconds=1)
    while "item" in project.next("anna"):
        clock.now += 10
        answer_next(project, "anna", NO)

    def times(each: Project) -> list[tuple[Any, ...]]:
        return [
            (r.item, r.status, r.at, r.undone_at, r.excluded_at, r.joined)
            for r in project_answers(each, everything=True)
        ]

    assert times(project)[0][3] == 1010
    assert times(project)[0][4] is not None
    for name, form in (("a.csv", ""), ("a.json", "label-studio")):
        path, other = tmp_path / name, str(tmp_path / f"{name}.db")
        export_annotations(project, path, form=form, everything=True)
        import_annotations(path, store=other, questionnaire="breaking-nli")
        assert times(annotation_project(store=other)) == times(project)


def test_another_questionnaire_is_refused(tmp_path: Path) -> None:
    store, path = str(tmp_path / "a.db"), write_lines(tmp_path / "a.jsonl", line())
    import_annotations(path, store=store, questionnaire="breaking-nli")
    with pytest.raises(AcidtestError, match="answers to another questionnaire"):
        import_annotations(path, store=store, questionnaire="swaps")


def test_rows_know_their_columns() -> None:
    """What stands in a row and is to come back must have a column."""
    from acidtest.annotate.exchange import EXPORT_COLUMNS

    assert set(AnswerRow.__dataclass_fields__) - {"item", "annotator", "answers"} <= set(EXPORT_COLUMNS)
