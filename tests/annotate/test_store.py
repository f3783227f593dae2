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
from acidtest.annotate.exchange import rows
from acidtest.annotate.items import items, order
from acidtest.annotate.plans import Plan
from acidtest.annotate.questionnaires import questionnaire, questionnaire_content
from acidtest.annotate.store import Project, Store, StoreError, shown_url
from acidtest.annotate.work import EXCLUDED, NOTHING_LEFT, RefusedError, Work
from acidtest.api import Sharing, annotation_project
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


def project(url: str, count: int = 3, clock: Callable[[], float] | None = None, **sharing: Any) -> Work:
    work = annotation_project(pairs(count), store=url, questionnaire="breaking-nli", sharing=Sharing(**sharing))
    return Work(work.store, clock=clock) if clock else work


def said(work: Work, name: str, answers: dict[str, Any] = YES, *, key: str = "", **more: Any) -> dict[str, Any]:
    """What comes after the annotator's next item is answered."""
    shown = work.next(name)
    assert "assignment" in shown, shown
    assignment = shown["assignment"]
    return work.answer(name, assignment, answers, key=key or f"key-{name}-{assignment}", seconds=1.5, **more)


def shown_ids(work: Work, name: str, answers: dict[str, Any] = YES) -> list[str]:
    """All the items that an annotator gets, answering each."""
    found = []
    while "item" in (shown := work.next(name)):
        found.append(item_id(work, shown))
        said(work, name, answers)
    return found


def item_id(work: Work, shown: dict[str, Any]) -> str:
    """Which item is shown, as the store calls it."""
    with work.state() as state:
        return state.items[state.claims[shown["assignment"]].item - 1].id


@pytest.fixture
def controls(tmp_path: Path) -> Path:
    path = tmp_path / "controls.tsv"
    path.write_text(CONTROLS, encoding="utf-8")
    return path


def test_an_item_goes_to_as_many_people_as_the_plan_says(store_url: str) -> None:
    work = project(store_url, 4, per_item=2)
    for name in ("anna", "ben", "cleo"):
        work.join(name)
    assert sorted(shown_ids(work, "anna")) == ["p0", "p1", "p2", "p3"]
    assert sorted(shown_ids(work, "ben")) == ["p0", "p1", "p2", "p3"]
    assert shown_ids(work, "cleo") == []
    assert work.next("cleo")["reason"] == NOTHING_LEFT
    assert Counter(row.item for row in rows(work)) == {"p0": 2, "p1": 2, "p2": 2, "p3": 2}


def test_orders_differ_between_people(store_url: str) -> None:
    work = project(store_url, 12, per_item=0)
    work.join("anna")
    work.join("ben")
    assert shown_ids(work, "anna") != shown_ids(work, "ben")


def test_the_same_item_is_shown_until_it_is_answered_and_every_showing_is_kept(store_url: str) -> None:
    work = project(store_url)
    work.join("anna")
    first = work.next("anna")
    assert work.next("anna")["assignment"] == first["assignment"]
    with work.store.reading() as connection:
        assert connection.execute(sa.select(sa.func.count()).select_from(tables.servings)).scalar() == 2


@pytest.mark.parametrize("verb", ["UPDATE answers SET answers = '{}'", "DELETE FROM answers", "DELETE FROM project"])
def test_rows_can_be_neither_changed_nor_removed(store_url: str, verb: str) -> None:
    work = project(store_url)
    work.join("anna")
    said(work, "anna")
    with (
        pytest.raises(StoreError, match="rows of a store are never changed or removed"),
        work.store.writing() as connection,
    ):
        connection.exec_driver_sql(verb)
    assert [row.answers for row in rows(work)] == [YES]


def test_a_key_sent_again_changes_nothing(store_url: str) -> None:
    work = project(store_url)
    work.join("anna")
    shown = work.next("anna")
    first = work.answer("anna", shown["assignment"], YES, key="one-key-1", seconds=2)
    again = work.answer("anna", shown["assignment"], NO, key="one-key-1", seconds=9)
    assert first["progress"] == again["progress"] == {"done": 1, "total": 3, "excluded": False}
    assert first["next"]["assignment"] == again["next"]["assignment"]
    assert [(row.answers, row.seconds) for row in rows(work, everything=True)] == [(YES, 2.0)]
    with pytest.raises(RefusedError, match="this key was used for another answer"):
        work.answer("anna", first["next"]["assignment"], YES, key="one-key-1", seconds=2)


def test_an_answer_can_be_taken_back_and_stays(store_url: str) -> None:
    work = project(store_url)
    work.join("anna")
    shown = work.next("anna")
    following = work.answer("anna", shown["assignment"], YES, key="key-one-1", seconds=2)["next"]
    back = work.undo("anna")
    assert (back["assignment"], back["answers"]) == (shown["assignment"], YES)
    assert back["progress"]["done"] == 0
    assert rows(work) == []
    # What was open before comes again once the old one is answered anew.
    after = work.answer("anna", shown["assignment"], NO, key="key-two-2", seconds=1)
    assert after["next"]["assignment"] == following["assignment"]
    assert [row.answers for row in rows(work)] == [NO]
    assert [(row.answers, row.status) for row in rows(work, everything=True)] == [(YES, "undone"), (NO, "counts")]


def test_taking_back_goes_on_to_earlier_answers(store_url: str) -> None:
    work = project(store_url)
    work.join("anna")
    with pytest.raises(RefusedError, match="there is no answer to take back"):
        work.undo("anna")
    first, second = work.next("anna")["assignment"], said(work, "anna")["next"]["assignment"]
    said(work, "anna")
    assert [work.undo("anna")["assignment"], work.undo("anna")["assignment"]] == [second, first]


def test_a_second_answer_replaces_the_first_and_both_are_kept(store_url: str) -> None:
    work = project(store_url)
    work.join("anna")
    assignment = work.next("anna")["assignment"]
    work.answer("anna", assignment, YES, key="window-one", seconds=1)
    work.answer("anna", assignment, NO, key="window-two", seconds=2)
    assert [row.answers for row in rows(work)] == [NO]
    assert [row.status for row in rows(work, everything=True)] == ["replaced", "counts"]
    assert work.progress("anna")["done"] == 1


def test_a_forged_name_is_not_believed(store_url: str) -> None:
    work = project(store_url)
    joined = work.join("Anna  Maria")
    assert joined.name == "Anna Maria"
    assert work.annotator("anna maria", joined.secret) == "Anna Maria"
    assert work.annotator("Anna Maria", "guessed") is None
    assert work.annotator("Ben", joined.secret) is None
    for name in ("anna maria", "ANNA MARIA", "Ａnna Maria"):
        with pytest.raises(RefusedError, match="there is already somebody called"):
            work.join(name)
    for name in ("", "  ", "x" * 81, "a\0b", "\ud800"):
        with pytest.raises(RefusedError, match="a name has 1 to 80 characters"):
            work.join(name)


def test_somebody_who_lost_the_secret_gets_another(store_url: str) -> None:
    work = project(store_url)
    first = work.join("Anna")
    second = work.readmit("anna")
    assert second.secret != first.secret
    assert work.annotator("Anna", first.secret) == work.annotator("Anna", second.secret) == "Anna"
    with pytest.raises(AcidtestError, match="no annotator called 'Ana'; did you mean 'Anna'"):
        work.readmit("Ana")


def test_nobody_answers_for_another(store_url: str) -> None:
    work = project(store_url)
    work.join("anna")
    work.join("ben")
    assignment = work.next("anna")["assignment"]
    with pytest.raises(RefusedError, match="is not yours"):
        work.answer("ben", assignment, YES, key="forged-key", seconds=1)
    with pytest.raises(RefusedError, match="join first"):
        work.next("cleo")


def test_an_item_that_was_never_answered_goes_to_another_after_a_while(store_url: str) -> None:
    clock = Clock()
    work = project(store_url, 1, clock, expires=60)
    work.join("anna")
    work.join("ben")
    taken = work.next("anna")
    assert "finished" in work.next("ben")
    clock.now += 59
    assert "finished" in work.next("ben")
    clock.now += 2
    assert work.next("ben")["item"] == taken["item"]
    assert "finished" in work.next("anna")


def test_showing_it_again_keeps_an_item(store_url: str) -> None:
    clock = Clock()
    work = project(store_url, 1, clock, expires=60)
    work.join("anna")
    work.join("ben")
    taken = work.next("anna")
    clock.now += 59
    assert work.next("anna")["assignment"] == taken["assignment"]
    clock.now += 59
    assert "finished" in work.next("ben")
    # Long after: nobody has taken it, so it is still hers.
    clock.now += 1000
    assert work.next("anna")["assignment"] == taken["assignment"]


def test_a_late_answer_is_kept_and_no_item_counts_twice(store_url: str) -> None:
    clock = Clock()
    work = project(store_url, 1, clock, expires=60)
    work.join("anna")
    work.join("ben")
    hers = work.next("anna")["assignment"]
    clock.now += 61
    his = work.next("ben")["assignment"]
    work.answer("anna", hers, YES, key="late-answer", seconds=1)
    work.answer("ben", his, NO, key="other-answer", seconds=1)
    assert [(row.annotator, row.answers) for row in rows(work)] == [("anna", YES)]
    assert [row.status for row in rows(work, everything=True)] == ["counts", "late"]


def test_who_fails_a_control_is_excluded_and_the_items_go_back(store_url: str, controls: Path) -> None:
    work = project(store_url, 2, controls=controls)
    work.join("ben")
    seen = shown_ids(work, "ben", NO)
    assert {"c1", "c2"} & set(seen)
    last = work.next("ben")
    assert last["reason"] == EXCLUDED
    assert last["progress"]["excluded"]
    assert rows(work) == []
    kept = rows(work, everything=True)
    assert {row.status for row in kept} == {"excluded"}
    assert kept[0].excluded.startswith("failed control c")
    work.join("anna")
    assert sorted(shown_ids(work, "anna")) == ["c1", "c2", "p0", "p1"]
    assert sorted(row.item for row in rows(work)) == ["p0", "p1"]
    with pytest.raises(RefusedError, match="your part is over"):
        work.undo("ben")
    told = {each["annotator"]: each for each in work.overview()["annotators"]}
    assert (told["anna"]["failed_controls"], told["anna"]["controls"]) == ([], 2)
    assert told["ben"]["excluded"]


def test_who_fails_a_control_may_finish_and_is_left_out_afterwards(store_url: str, controls: Path) -> None:
    work = project(store_url, 3, controls=controls, finish=True, reopen=False)
    work.join("ben")
    assert sorted(shown_ids(work, "ben", NO)) == ["c1", "c2", "p0", "p1", "p2"]
    # Nobody is told, and nothing is put before others that Ben has judged.
    last = work.next("ben")
    assert (last["reason"], last["progress"]["excluded"]) == (NOTHING_LEFT, False)
    work.join("anna")
    assert shown_ids(work, "anna") == []
    assert rows(work) == []
    kept = rows(work, everything=True)
    assert {(row.status, row.excluded) for row in kept} == {("excluded", kept[0].excluded)}
    assert kept[0].excluded.startswith("failed control c")
    found = work.overview()
    assert (found["judgements"], found["excluded"], found["wanted"]) == (0, 3, 3)
    assert {each["annotator"]: each["excluded"] for each in found["annotators"]} == {"ben": True, "anna": False}


def test_what_somebody_judged_who_finished_goes_to_others_where_that_is_asked_for(
    store_url: str, controls: Path
) -> None:
    work = project(store_url, 3, controls=controls, finish=True)
    work.join("ben")
    assert len(shown_ids(work, "ben", NO)) == 5
    assert work.next("ben")["reason"] == NOTHING_LEFT
    work.join("anna")
    assert sorted(shown_ids(work, "anna")) == ["c1", "c2", "p0", "p1", "p2"]
    assert {row.annotator for row in rows(work)} == {"anna"}


def test_what_was_judged_before_an_exclusion_stays_where_that_is_asked_for(store_url: str, controls: Path) -> None:
    work = project(store_url, 3, controls=controls, reopen=False)
    work.join("ben")
    before = set(shown_ids(work, "ben", NO)) - {"c1", "c2"}
    assert work.next("ben")["reason"] == EXCLUDED
    work.join("anna")
    assert not before & set(shown_ids(work, "anna"))


def test_a_slip_in_a_control_can_be_taken_back(store_url: str, controls: Path) -> None:
    work = project(store_url, 6, controls=controls)
    work.join("anna")
    while item_id(work, shown := work.next("anna")) not in ("c1", "c2"):
        said(work, "anna")
    assert "assignment" in said(work, "anna", NO, key="slipped-key")["next"]
    work.undo("anna")
    work.answer("anna", shown["assignment"], YES, key="better-key", seconds=1)
    shown_ids(work, "anna")
    assert not work.progress("anna")["excluded"]


def test_who_fails_a_control_and_leaves_is_excluded_after_a_while(store_url: str, controls: Path) -> None:
    clock = Clock()
    work = project(store_url, 6, clock, controls=controls, expires=60)
    work.join("anna")
    while item_id(work, work.next("anna")) not in ("c1", "c2"):
        said(work, "anna")
    said(work, "anna", NO)
    clock.now += 59
    # She may still take it back.
    assert not work.overview()["annotators"][0]["excluded"]
    before = len(rows(work))
    clock.now += 2
    assert rows(work) == []
    kept = rows(work, everything=True)
    assert {row.status for row in kept} == {"excluded"}
    assert kept[0].excluded_at == clock.now
    assert len(kept) == before + 1
    # Her items go to others.
    work.join("ben")
    assert len(shown_ids(work, "ben")) == 8


def test_who_left_after_failing_a_control_holds_no_items(store_url: str, controls: Path) -> None:
    clock = Clock()
    work = project(store_url, 1, clock, controls=controls, expires=60)
    work.join("anna")
    work.join("ben")
    while item_id(work, work.next("anna")) not in ("c1", "c2"):
        said(work, "anna")
    said(work, "anna", NO)
    clock.now += 61
    assert "assignment" in work.next("ben")


def test_exclusion_waits_for_as_many_failures_as_the_plan_says(store_url: str, controls: Path) -> None:
    work = project(store_url, 2, controls=controls, fail_after=0, per_item=2)
    work.join("anna")
    shown_ids(work, "anna", NO)
    assert not work.progress("anna")["excluded"]
    assert sorted(work.overview()["annotators"][0]["failed_controls"]) == ["c1", "c2"]


def test_everybody_gets_all_controls_and_no_more_items_than_the_plan_says(store_url: str, controls: Path) -> None:
    work = project(store_url, 9, controls=controls, per_annotator=4, per_item=2)
    for name in ("anna", "ben", "cleo"):
        work.join(name)
        assert work.progress(name)["total"] == 6
        found = shown_ids(work, name)
        assert len(found) == 6
        assert {"c1", "c2"} <= set(found)


def test_an_overlap_reaches_everybody_even_those_who_get_few_items(store_url: str) -> None:
    work = project(store_url, 40, per_item=0, overlap=5, per_annotator=8)
    seen = []
    for name in ("anna", "ben", "cleo", "dora"):
        work.join(name)
        seen.append(set(shown_ids(work, name)))
    assert {len(each) for each in seen} == {8}
    assert len(set.intersection(*seen)) == 5
    assert sum(Counter(item for each in seen for item in each).values()) == 32


def test_progress_goes_on_in_a_new_process(store_url: str) -> None:
    work = project(store_url, 5)
    work.join("anna")
    said(work, "anna")
    shown = work.next("anna")
    work.store.close()
    again = annotation_project(store=store_url)
    assert again.next("anna")["assignment"] == shown["assignment"]
    assert again.progress("anna")["done"] == 1
    same = annotation_project(pairs(5), store=store_url, questionnaire="breaking-nli")
    assert same.progress("anna")["done"] == 1


def test_another_project_in_a_store_is_refused(store_url: str) -> None:
    project(store_url)
    with pytest.raises(AcidtestError, match=r"holds answers to another questionnaire \(breaking-nli\).*name another"):
        annotation_project(store=store_url, questionnaire="swaps")
    with pytest.raises(AcidtestError, match="other data, another plan or another seed"):
        annotation_project(pairs(4), store=store_url, questionnaire="breaking-nli")
    with pytest.raises(AcidtestError, match="other data, another plan or another seed"):
        annotation_project(pairs(3), store=store_url, questionnaire="breaking-nli", sharing=Sharing(per_item=9))


def test_whoever_sets_up_second_is_told(store_url: str) -> None:
    asked = questionnaire("breaking-nli")
    kept = Store(store_url)
    plan, found = Plan(), items(pairs(2), asked, Plan(), seed=0)
    one = Project(asked, questionnaire_content("breaking-nli").decode(), plan, found)
    for _ in range(2):
        with kept.writing() as connection:
            kept.set_up(connection, one, version="0", at=1.0)
    with pytest.raises(StoreError, match="holds another project already"), kept.writing() as connection:
        kept.set_up(connection, replace(one, seed=1), version="0", at=1.0)
    assert len(kept.items()) == 2


def test_a_writer_does_not_wait_for_ever(store_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "_PATIENCE", 100)
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
    made = annotation_project(frame, store=store_url, questionnaire="breaking-nli", sharing=Sharing(plan=str(plan)))
    work = Work(made.store, clock=clock)
    work.join("anna")
    left = item_id(work, work.next("anna"))
    clock.now += 61
    # Somebody for whom it comes first by the seed.
    name = next(name for name in "abcdefghij" if f"p{order(name, 2, seed=0).argmin()}" == left)
    work.join(name)
    assert item_id(work, work.next(name)) == left


def test_a_store_without_a_project_is_told(store_url: str) -> None:
    with pytest.raises(AcidtestError, match="say what people are asked"):
        annotation_project(store=store_url)
    with pytest.raises(StoreError, match="holds no annotation project"):
        Work(Store(store_url))


def test_people_who_come_at_once_share_the_items(store_url: str) -> None:
    """Twelve threads on three servers of one store: every item is judged by two, and by nobody twice."""
    project(store_url, 12, per_item=2).store.close()
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
    found = rows(servers[0], everything=True)
    assert Counter(row.item for row in found) == {f"p{n}": 2 for n in range(12)}
    assert len({(row.item, row.annotator) for row in found}) == 24
    assert {row.status for row in found} == {"counts"}


def test_two_who_claim_one_seat_cannot_both_have_it(store_url: str) -> None:
    work = project(store_url)
    work.join("anna")
    work.join("ben")
    work.next("anna")
    with work.store.reading() as connection:
        claim = connection.execute(sa.select(tables.claims)).one()
    taken = {"item": claim.item, "seat": claim.seat, "turn": claim.turn, "annotator": 2, "at": 0.0}
    with pytest.raises(StoreError), work.store.writing() as connection:
        connection.execute(sa.insert(tables.claims), taken)


def test_what_fails_half_way_leaves_nothing(store_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    work = project(store_url)
    with monkeypatch.context() as patch:
        # The name is written before this fails.
        patch.setattr("acidtest.annotate.work._digest", lambda _: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            work.join("anna")
    assert work.overview()["annotators"] == []
    assert work.join("anna").name == "anna"


def test_an_answer_is_kept_though_nothing_can_follow_it(store_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    work = project(store_url)
    work.join("anna")
    assignment = work.next("anna")["assignment"]
    with monkeypatch.context() as patch:
        # The claim is written before this fails, so that the state knows more than the store.
        patch.setattr(Work, "_shown", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            work.answer("anna", assignment, YES, key="kept-all-the-same", seconds=1)
    assert [row.answers for row in rows(work)] == [YES]
    again = work.answer("anna", assignment, YES, key="kept-all-the-same", seconds=1)
    assert again["progress"]["done"] == 1
    assert again["next"]["assignment"] != assignment
    assert len(rows(work, everything=True)) == 1


def test_agreement_reads_a_store(store_url: str, controls: Path) -> None:
    work = project(store_url, 3, per_item=2, controls=controls)
    for name, answers in (("anna", YES), ("ben", YES), ("cleo", NO)):
        work.join(name)
        shown_ids(work, name, answers)
    found = api.agreement(store_url)
    # Cleo failed a control: left are Anna and Ben, who agree on all three.
    assert found.questionnaire == "breaking-nli"
    assert (found.labels["entailment"].given, found.labels["contradiction"].given) == (6, 0)


def test_stores_are_named_as_users_write_them() -> None:
    assert shown_url("answers.db") == "sqlite:///answers.db"
    assert shown_url("postgresql://anna@host/db") == "postgresql+psycopg://anna@host/db"
    assert shown_url("postgres://anna@host/db") == "postgresql+psycopg://anna@host/db"
    for url, problem in (
        ("mysql://host/db", "stores are SQLite or PostgreSQL, not mysql"),
        ("sqlite://", "a store in memory would be lost"),
        ("://", "is no URL of a store"),
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
