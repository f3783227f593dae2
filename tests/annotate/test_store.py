from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

pytest.importorskip("sqlalchemy", reason="stores need acidtest[annotate]")

import sqlalchemy as sa

from acidtest import api
from acidtest.annotate import store as tables
from acidtest.annotate.answers import RequestError
from acidtest.annotate.exchange import project_answers
from acidtest.annotate.items import AnnotationPlan, item_order, select_items
from acidtest.annotate.projects import EXCLUDED, NOTHING_LEFT, Project
from acidtest.annotate.questionnaires import load_questionnaire, questionnaire_content
from acidtest.annotate.store import ProjectSetup, Store, StoreError, database_url
from acidtest.api import PlanOptions, annotation_project
from acidtest.core.errors import AcidtestError

YES = {"same_event": "yes", "new_information": "no", "ungrammatical": "no"}
NO = YES | {"same_event": "no"}
CONTROLS = "id\tpremise\thypothesis\tlabel\nc1\tA dog runs.\tA dog runs.\tentailment\nc2\tA cat.\tA cat.\tentailment\n"


class Clock:
    """Time that passes when it is told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def pairs(count: int) -> pl.DataFrame:
    texts = [f"Premise {number}." for number in range(count)]
    return pl.DataFrame({"id": [f"p{n}" for n in range(count)], "premise": texts, "hypothesis": texts})


def set_up_project(url: str, count: int = 3, clock: Callable[[], float] | None = None, **options: Any) -> Project:
    project = annotation_project(pairs(count), store=url, questionnaire="breaking-nli", options=PlanOptions(**options))
    return Project(project.store, clock=clock) if clock else project


def answer_next(
    project: Project, name: str, answers: dict[str, Any] = YES, *, key: str = "", **more: Any
) -> dict[str, Any]:
    """What comes after the annotator's next item is answered."""
    shown = project.next(name)
    assert "assignment" in shown, shown
    assignment = shown["assignment"]
    return project.answer(name, assignment, answers, key=key or f"key-{name}-{assignment}", seconds=1.5, **more)


def shown_ids(project: Project, name: str, answers: dict[str, Any] = YES) -> list[str]:
    """All the items that an annotator gets, answering each."""
    found = []
    while "item" in (shown := project.next(name)):
        found.append(item_id(project, shown))
        answer_next(project, name, answers)
    return found


def item_id(project: Project, shown: dict[str, Any]) -> str:
    """Which item is shown, as the store calls it."""
    with project.state() as state:
        return state.items[state.claims[shown["assignment"]].item - 1].id


@pytest.fixture
def controls(tmp_path: Path) -> Path:
    path = tmp_path / "controls.tsv"
    path.write_text(CONTROLS, encoding="utf-8")
    return path


def test_an_item_goes_to_as_many_people_as_the_plan_says(store_url: str) -> None:
    project = set_up_project(store_url, 4, per_item=2)
    for name in ("anna", "ben", "cleo"):
        project.join(name)
    assert sorted(shown_ids(project, "anna")) == ["p0", "p1", "p2", "p3"]
    assert sorted(shown_ids(project, "ben")) == ["p0", "p1", "p2", "p3"]
    assert shown_ids(project, "cleo") == []
    assert project.next("cleo")["reason"] == NOTHING_LEFT
    assert Counter(row.item for row in project_answers(project)) == {"p0": 2, "p1": 2, "p2": 2, "p3": 2}


def test_orders_differ_between_people(store_url: str) -> None:
    project = set_up_project(store_url, 12, per_item=0)
    project.join("anna")
    project.join("ben")
    assert shown_ids(project, "anna") != shown_ids(project, "ben")


def test_the_same_item_is_shown_until_it_is_answered_and_every_showing_is_kept(store_url: str) -> None:
    project = set_up_project(store_url)
    project.join("anna")
    first = project.next("anna")
    assert project.next("anna")["assignment"] == first["assignment"]
    with project.store.reading() as connection:
        assert connection.execute(sa.select(sa.func.count()).select_from(tables.servings)).scalar() == 2


@pytest.mark.parametrize("verb", ["UPDATE answers SET answers = '{}'", "DELETE FROM answers", "DELETE FROM project"])
def test_rows_can_be_neither_changed_nor_removed(store_url: str, verb: str) -> None:
    project = set_up_project(store_url)
    project.join("anna")
    answer_next(project, "anna")
    with (
        pytest.raises(StoreError, match="rows of a store are never changed or removed"),
        project.store.writing() as connection,
    ):
        connection.exec_driver_sql(verb)
    assert [row.answers for row in project_answers(project)] == [YES]


def test_a_key_sent_again_changes_nothing(store_url: str) -> None:
    project = set_up_project(store_url)
    project.join("anna")
    shown = project.next("anna")
    first = project.answer("anna", shown["assignment"], YES, key="one-key-1", seconds=2)
    again = project.answer("anna", shown["assignment"], NO, key="one-key-1", seconds=9)
    assert first["progress"] == again["progress"] == {"done": 1, "total": 3, "excluded": False}
    assert first["next"]["assignment"] == again["next"]["assignment"]
    assert [(row.answers, row.seconds) for row in project_answers(project, everything=True)] == [(YES, 2.0)]
    with pytest.raises(RequestError, match="this key was used for another answer"):
        project.answer("anna", first["next"]["assignment"], YES, key="one-key-1", seconds=2)


def test_an_answer_can_be_taken_back_and_stays(store_url: str) -> None:
    project = set_up_project(store_url)
    project.join("anna")
    shown = project.next("anna")
    following = project.answer("anna", shown["assignment"], YES, key="key-one-1", seconds=2)["next"]
    back = project.undo("anna")
    assert (back["assignment"], back["answers"]) == (shown["assignment"], YES)
    assert back["progress"]["done"] == 0
    assert project_answers(project) == []
    # What was open before comes again once the old one is answered anew.
    after = project.answer("anna", shown["assignment"], NO, key="key-two-2", seconds=1)
    assert after["next"]["assignment"] == following["assignment"]
    assert [row.answers for row in project_answers(project)] == [NO]
    assert [(row.answers, row.status) for row in project_answers(project, everything=True)] == [
        (YES, "undone"),
        (NO, "counts"),
    ]


def test_taking_back_goes_on_to_earlier_answers(store_url: str) -> None:
    project = set_up_project(store_url)
    project.join("anna")
    with pytest.raises(RequestError, match="there is no answer to take back"):
        project.undo("anna")
    first, second = project.next("anna")["assignment"], answer_next(project, "anna")["next"]["assignment"]
    answer_next(project, "anna")
    assert [project.undo("anna")["assignment"], project.undo("anna")["assignment"]] == [second, first]


def test_a_second_answer_replaces_the_first_and_both_are_kept(store_url: str) -> None:
    project = set_up_project(store_url)
    project.join("anna")
    assignment = project.next("anna")["assignment"]
    project.answer("anna", assignment, YES, key="window-one", seconds=1)
    project.answer("anna", assignment, NO, key="window-two", seconds=2)
    assert [row.answers for row in project_answers(project)] == [NO]
    assert [row.status for row in project_answers(project, everything=True)] == ["replaced", "counts"]
    assert project.progress("anna")["done"] == 1


def test_a_forged_name_is_not_believed(store_url: str) -> None:
    project = set_up_project(store_url)
    joined = project.join("Anna  Maria")
    assert joined.name == "Anna Maria"
    assert project.authenticate("anna maria", joined.secret) == "Anna Maria"
    assert project.authenticate("Anna Maria", "guessed") is None
    assert project.authenticate("Ben", joined.secret) is None
    for name in ("anna maria", "ANNA MARIA", "Ａnna Maria"):
        with pytest.raises(RequestError, match="there is already somebody called"):
            project.join(name)
    for name in ("", "  ", "x" * 81, "a\0b", "\ud800"):
        with pytest.raises(RequestError, match="a name has 1 to 80 printable characters"):
            project.join(name)


def test_somebody_who_lost_the_secret_gets_another(store_url: str) -> None:
    project = set_up_project(store_url)
    first = project.join("Anna")
    second = project.readmit("anna")
    assert second.secret != first.secret
    assert project.authenticate("Anna", first.secret) == project.authenticate("Anna", second.secret) == "Anna"
    with pytest.raises(AcidtestError, match="no annotator called 'Ana'; did you mean 'Anna'"):
        project.readmit("Ana")


def test_nobody_answers_for_another(store_url: str) -> None:
    project = set_up_project(store_url)
    project.join("anna")
    project.join("ben")
    assignment = project.next("anna")["assignment"]
    with pytest.raises(RequestError, match="is not yours"):
        project.answer("ben", assignment, YES, key="forged-key", seconds=1)
    with pytest.raises(RequestError, match="join first"):
        project.next("cleo")


def test_an_item_that_was_never_answered_goes_to_another_after_a_while(store_url: str) -> None:
    clock = Clock()
    project = set_up_project(store_url, 1, clock, expires=60)
    project.join("anna")
    project.join("ben")
    taken = project.next("anna")
    assert "finished" in project.next("ben")
    clock.now += 59
    assert "finished" in project.next("ben")
    clock.now += 2
    assert project.next("ben")["item"] == taken["item"]
    assert "finished" in project.next("anna")


def test_showing_it_again_keeps_an_item(store_url: str) -> None:
    clock = Clock()
    project = set_up_project(store_url, 1, clock, expires=60)
    project.join("anna")
    project.join("ben")
    taken = project.next("anna")
    clock.now += 59
    assert project.next("anna")["assignment"] == taken["assignment"]
    clock.now += 59
    assert "finished" in project.next("ben")
    # Long after: nobody has taken it, so it is still hers.
    clock.now += 1000
    assert project.next("anna")["assignment"] == taken["assignment"]


def test_a_late_answer_is_kept_and_no_item_counts_twice(store_url: str) -> None:
    clock = Clock()
    project = set_up_project(store_url, 1, clock, expires=60)
    project.join("anna")
    project.join("ben")
    hers = project.next("anna")["assignment"]
    clock.now += 61
    his = project.next("ben")["assignment"]
    project.answer("anna", hers, YES, key="late-answer", seconds=1)
    project.answer("ben", his, NO, key="other-answer", seconds=1)
    assert [(row.annotator, row.answers) for row in project_answers(project)] == [("anna", YES)]
    assert [row.status for row in project_answers(project, everything=True)] == ["counts", "late"]


def test_who_fails_a_control_is_excluded_and_the_items_go_back(store_url: str, controls: Path) -> None:
    project = set_up_project(store_url, 2, controls=controls)
    project.join("ben")
    seen = shown_ids(project, "ben", NO)
    assert {"c1", "c2"} & set(seen)
    last = project.next("ben")
    assert last["reason"] == EXCLUDED
    assert last["progress"]["excluded"]
    assert project_answers(project) == []
    kept = project_answers(project, everything=True)
    assert {row.status for row in kept} == {"excluded"}
    assert kept[0].excluded.startswith("failed control c")
    project.join("anna")
    assert sorted(shown_ids(project, "anna")) == ["c1", "c2", "p0", "p1"]
    assert sorted(row.item for row in project_answers(project)) == ["p0", "p1"]
    with pytest.raises(RequestError, match="your part is over"):
        project.undo("ben")
    told = {each["annotator"]: each for each in project.overview()["annotators"]}
    assert (told["anna"]["failed_controls"], told["anna"]["controls"]) == ([], 2)
    assert told["ben"]["excluded"]


def test_who_fails_a_control_may_finish_and_is_left_out_afterwards(store_url: str, controls: Path) -> None:
    project = set_up_project(store_url, 3, controls=controls, finish=True, reopen=False)
    project.join("ben")
    assert sorted(shown_ids(project, "ben", NO)) == ["c1", "c2", "p0", "p1", "p2"]
    # Nobody is told, and nothing is put before others that Ben has judged.
    last = project.next("ben")
    assert (last["reason"], last["progress"]["excluded"]) == (NOTHING_LEFT, False)
    project.join("anna")
    assert shown_ids(project, "anna") == []
    assert project_answers(project) == []
    kept = project_answers(project, everything=True)
    assert {(row.status, row.excluded) for row in kept} == {("excluded", kept[0].excluded)}
    assert kept[0].excluded.startswith("failed control c")
    overview = project.overview()
    assert (overview["judgements"], overview["excluded"], overview["wanted"]) == (0, 3, 3)
    assert {each["annotator"]: each["excluded"] for each in overview["annotators"]} == {"ben": True, "anna": False}


def test_what_somebody_judged_who_finished_goes_to_others_where_that_is_asked_for(
    store_url: str, controls: Path
) -> None:
    project = set_up_project(store_url, 3, controls=controls, finish=True)
    project.join("ben")
    assert len(shown_ids(project, "ben", NO)) == 5
    assert project.next("ben")["reason"] == NOTHING_LEFT
    project.join("anna")
    assert sorted(shown_ids(project, "anna")) == ["c1", "c2", "p0", "p1", "p2"]
    assert {row.annotator for row in project_answers(project)} == {"anna"}


def test_what_was_judged_before_an_exclusion_stays_where_that_is_asked_for(store_url: str, controls: Path) -> None:
    project = set_up_project(store_url, 3, controls=controls, reopen=False)
    project.join("ben")
    before = set(shown_ids(project, "ben", NO)) - {"c1", "c2"}
    assert project.next("ben")["reason"] == EXCLUDED
    project.join("anna")
    assert not before & set(shown_ids(project, "anna"))


def test_a_slip_in_a_control_can_be_taken_back(store_url: str, controls: Path) -> None:
    project = set_up_project(store_url, 6, controls=controls)
    project.join("anna")
    while item_id(project, shown := project.next("anna")) not in ("c1", "c2"):
        answer_next(project, "anna")
    assert "assignment" in answer_next(project, "anna", NO, key="slipped-key")["next"]
    project.undo("anna")
    project.answer("anna", shown["assignment"], YES, key="better-key", seconds=1)
    shown_ids(project, "anna")
    assert not project.progress("anna")["excluded"]


def test_who_fails_a_control_and_leaves_is_excluded_after_a_while(store_url: str, controls: Path) -> None:
    clock = Clock()
    project = set_up_project(store_url, 6, clock, controls=controls, expires=60)
    project.join("anna")
    while item_id(project, project.next("anna")) not in ("c1", "c2"):
        answer_next(project, "anna")
    answer_next(project, "anna", NO)
    clock.now += 59
    # She may still take it back.
    assert not project.overview()["annotators"][0]["excluded"]
    before = len(project_answers(project))
    clock.now += 2
    assert project_answers(project) == []
    kept = project_answers(project, everything=True)
    assert {row.status for row in kept} == {"excluded"}
    assert kept[0].excluded_at == clock.now
    assert len(kept) == before + 1
    # Her items go to others.
    project.join("ben")
    assert len(shown_ids(project, "ben")) == 8


def test_who_left_after_failing_a_control_holds_no_items(store_url: str, controls: Path) -> None:
    clock = Clock()
    project = set_up_project(store_url, 1, clock, controls=controls, expires=60)
    project.join("anna")
    project.join("ben")
    while item_id(project, project.next("anna")) not in ("c1", "c2"):
        answer_next(project, "anna")
    answer_next(project, "anna", NO)
    clock.now += 61
    assert "assignment" in project.next("ben")


def test_exclusion_waits_for_as_many_failures_as_the_plan_says(store_url: str, controls: Path) -> None:
    project = set_up_project(store_url, 2, controls=controls, fail_after=0, per_item=2)
    project.join("anna")
    shown_ids(project, "anna", NO)
    assert not project.progress("anna")["excluded"]
    assert sorted(project.overview()["annotators"][0]["failed_controls"]) == ["c1", "c2"]


def test_everybody_gets_all_controls_and_no_more_items_than_the_plan_says(store_url: str, controls: Path) -> None:
    project = set_up_project(store_url, 9, controls=controls, per_annotator=4, per_item=2)
    for name in ("anna", "ben", "cleo"):
        project.join(name)
        assert project.progress(name)["total"] == 6
        found = shown_ids(project, name)
        assert len(found) == 6
        assert {"c1", "c2"} <= set(found)


def test_an_overlap_reaches_everybody_even_those_who_get_few_items(store_url: str) -> None:
    project = set_up_project(store_url, 40, per_item=0, overlap=5, per_annotator=8)
    seen = []
    for name in ("anna", "ben", "cleo", "dora"):
        project.join(name)
        seen.append(set(shown_ids(project, name)))
    assert {len(each) for each in seen} == {8}
    assert len(set.intersection(*seen)) == 5
    assert sum(Counter(item for each in seen for item in each).values()) == 32


def test_progress_goes_on_in_a_new_process(store_url: str) -> None:
    project = set_up_project(store_url, 5)
    project.join("anna")
    answer_next(project, "anna")
    shown = project.next("anna")
    project.store.close()
    again = annotation_project(store=store_url)
    assert again.next("anna")["assignment"] == shown["assignment"]
    assert again.progress("anna")["done"] == 1
    same = annotation_project(pairs(5), store=store_url, questionnaire="breaking-nli")
    assert same.progress("anna")["done"] == 1


def test_another_project_in_a_store_is_refused(store_url: str) -> None:
    set_up_project(store_url)
    with pytest.raises(AcidtestError, match=r"holds answers to another questionnaire \(breaking-nli\).*name another"):
        annotation_project(store=store_url, questionnaire="swaps")
    with pytest.raises(AcidtestError, match="other data, another plan or another seed"):
        annotation_project(pairs(4), store=store_url, questionnaire="breaking-nli")
    with pytest.raises(AcidtestError, match="other data, another plan or another seed"):
        annotation_project(pairs(3), store=store_url, questionnaire="breaking-nli", options=PlanOptions(per_item=9))


def test_whoever_sets_up_second_is_told(store_url: str) -> None:
    asked = load_questionnaire("breaking-nli")
    kept = Store(store_url)
    plan, found = AnnotationPlan(), select_items(pairs(2), asked, AnnotationPlan(), seed=0)
    one = ProjectSetup(asked, questionnaire_content("breaking-nli").decode(), plan, found)
    for _ in range(2):
        with kept.writing() as connection:
            kept.set_up(connection, one, version="0", at=1.0)
    with pytest.raises(StoreError, match="holds another project already"), kept.writing() as connection:
        kept.set_up(connection, replace(one, seed=1), version="0", at=1.0)
    assert len(kept.items()) == 2


def test_a_writer_does_not_wait_for_ever(store_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "_LOCK_TIMEOUT", 100)
    one, other = Store(store_url), Store(store_url)
    with one.writing(), pytest.raises(StoreError, match=r"lock"), other.writing():
        pass
    with other.writing() as connection:
        if connection.dialect.name == "postgresql":
            # A snapshot from before the wait would miss what others wrote.
            assert connection.get_isolation_level() == "READ COMMITTED"


def test_an_expired_claim_does_not_make_an_item_look_judged(store_url: str, tmp_path: Path) -> None:
    clock, plan = Clock(), tmp_path / "kinds.toml"
    plan.write_text('category = ["kind"]\nexpires = 60\n', encoding="utf-8")
    frame = pairs(2).with_columns(kind=pl.lit("one"))
    made = annotation_project(frame, store=store_url, questionnaire="breaking-nli", options=PlanOptions(plan=str(plan)))
    project = Project(made.store, clock=clock)
    project.join("anna")
    left = item_id(project, project.next("anna"))
    clock.now += 61
    # Somebody for whom it comes first by the seed.
    name = next(name for name in "abcdefghij" if f"p{item_order(name, 2, seed=0).argmin()}" == left)
    project.join(name)
    assert item_id(project, project.next(name)) == left


def test_a_store_without_a_project_is_told(store_url: str) -> None:
    with pytest.raises(AcidtestError, match="no questionnaire is given"):
        annotation_project(store=store_url)
    with pytest.raises(StoreError, match="holds no annotation project"):
        Project(Store(store_url))


def test_people_who_come_at_once_share_the_items(store_url: str) -> None:
    """Twelve threads on three servers of one store: every item is judged by two, and by nobody twice."""
    set_up_project(store_url, 12, per_item=2).store.close()
    servers = [annotation_project(store=store_url) for _ in range(3)]
    for number in range(12):
        servers[0].join(f"p{number}")
    errors = list[BaseException]()
    ready = threading.Barrier(12)

    def annotator(number: int) -> None:
        try:
            ready.wait()
            shown_ids(servers[number % 3], f"p{number}")
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=annotator, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    rows = project_answers(servers[0], everything=True)
    assert Counter(row.item for row in rows) == {f"p{n}": 2 for n in range(12)}
    assert len({(row.item, row.annotator) for row in rows}) == 24
    assert {row.status for row in rows} == {"counts"}


def test_two_who_claim_one_seat_cannot_both_have_it(store_url: str) -> None:
    project = set_up_project(store_url)
    project.join("anna")
    project.join("ben")
    project.next("anna")
    with project.store.reading() as connection:
        claim = connection.execute(sa.select(tables.claims)).one()
    taken = {"item": claim.item, "seat": claim.seat, "turn": claim.turn, "annotator": 2, "at": 0.0}
    with pytest.raises(StoreError), project.store.writing() as connection:
        connection.execute(sa.insert(tables.claims), taken)


def test_what_fails_half_way_leaves_nothing(store_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    project = set_up_project(store_url)
    with monkeypatch.context() as patch:
        # The name is written before this fails.
        patch.setattr("acidtest.annotate.projects._digest", lambda _: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            project.join("anna")
    assert project.overview()["annotators"] == []
    assert project.join("anna").name == "anna"


def test_an_answer_is_kept_though_nothing_can_follow_it(store_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    project = set_up_project(store_url)
    project.join("anna")
    assignment = project.next("anna")["assignment"]
    with monkeypatch.context() as patch:
        # The claim is written before this fails, so that the state knows more than the store.
        patch.setattr(Project, "_serve", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            project.answer("anna", assignment, YES, key="kept-all-the-same", seconds=1)
    assert [row.answers for row in project_answers(project)] == [YES]
    again = project.answer("anna", assignment, YES, key="kept-all-the-same", seconds=1)
    assert again["progress"]["done"] == 1
    assert again["next"]["assignment"] != assignment
    assert len(project_answers(project, everything=True)) == 1


def test_agreement_reads_a_store(store_url: str, controls: Path) -> None:
    project = set_up_project(store_url, 3, per_item=2, controls=controls)
    for name, answers in (("anna", YES), ("ben", YES), ("cleo", NO)):
        project.join(name)
        shown_ids(project, name, answers)
    agreement = api.agreement(store_url)
    # Cleo failed a control: left are Anna and Ben, who agree on all three.
    assert agreement.questionnaire == "breaking-nli"
    assert (agreement.labels["entailment"].given, agreement.labels["contradiction"].given) == (6, 0)


def test_stores_are_named_as_users_write_them() -> None:
    assert database_url("answers.db") == "sqlite:///answers.db"
    assert database_url("postgresql://anna@host/db") == "postgresql+psycopg://anna@host/db"
    assert database_url("postgres://anna@host/db") == "postgresql+psycopg://anna@host/db"
    for url, problem in (
        ("mysql://host/db", "stores are SQLite or PostgreSQL, not mysql"),
        ("sqlite://", "a store in memory would be lost"),
        ("://", "is not the URL of a store"),
    ):
        with pytest.raises(StoreError, match=problem):
            Store(url)


def test_a_password_is_not_shown(tmp_path: Path) -> None:
    kept = Store("postgresql://anna:hush@127.0.0.1:1/nothing?connect_timeout=1")
    assert "hush" not in kept.url
    with pytest.raises(StoreError) as error:
        _ = kept.exists
    assert "hush" not in str(error.value)
    assert "127.0.0.1" in str(error.value)


def test_a_file_that_is_no_store_is_told(tmp_path: Path) -> None:
    path = tmp_path / "answers.db"
    path.write_text("not a database, but long enough to be looked at", encoding="utf-8")
    with pytest.raises(StoreError, match="file is not a database"):
        _ = Store(str(path)).exists
