from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest

pytest.importorskip("sqlalchemy", reason="stores need acidtest[annotate]")

from acidtest import api
from acidtest.annotate import store as tables
from acidtest.annotate.items import (
    EVERYBODY,
    AnnotationPlan,
    Item,
    attention_checks,
    check_plan,
    item_categories,
    load_plan,
    packaged_plans,
    parse_plan,
    seat_counts,
    select_items,
)
from acidtest.annotate.questionnaires import load_questionnaire
from acidtest.annotate.state import Person, ProjectState
from acidtest.core.errors import AcidtestError


@pytest.fixture(scope="module")
def hans() -> pl.DataFrame:
    return api.generate("hans", arguments={"words": "published"}).frame.collect()


def crowd(frame: pl.DataFrame, name: str = "hans-human") -> list[Item]:
    return select_items(frame, load_questionnaire("hans-human"), load_plan(name), seed=0)


def test_the_plans_of_the_papers_ship() -> None:
    assert packaged_plans() == ["hans-human", "hans-human-expert", "stress-human"]


def test_in_the_experiment_of_hans_people_finish_and_their_judgements_are_not_asked_for_again() -> None:
    # McCoy et al. 2019, appendix E: of 200 people of 57 items 105 were rejected afterwards, and nobody came instead.
    plan = load_plan("hans-human")
    assert (plan.finish, plan.reopen, plan.fail_after) == (True, False, 1)
    assert (AnnotationPlan().finish, AnnotationPlan().reopen) == (False, True)


def test_a_plan_of_before_is_known_again() -> None:
    # What a store keeps does not change where nothing is said of keys that came later.
    assert not {"finish", "reopen"} & set(json.loads(AnnotationPlan(per_item=3).to_json()))
    assert {"finish", "reopen"} <= set(json.loads(load_plan("hans-human").to_json()))
    with pytest.raises(AcidtestError, match=r"mine.toml: finish: expected true or false, got 1"):
        parse_plan(b"finish = 1", Path("mine.toml"))


def test_hans_has_the_114_categories_of_the_experiment_with_people(hans: pl.DataFrame) -> None:
    frame = hans.with_columns(item_categories(hans, load_plan("hans-human")).alias("found"))
    assert frame["found"].n_unique() == 114
    # errata: 33 lexical, 34 subsequence and 47 constituent.
    counts = dict(frame.group_by("heuristic").agg(pl.col("found").n_unique()).iter_rows())
    assert counts == {"lexical_overlap": 33, "subsequence": 34, "constituent": 47}
    by_subcase = dict(frame.group_by("subcase").agg(pl.col("found").n_unique()).iter_rows())
    # Passives in one, participles by template and verb (2 × 5), NP/Z by verb.
    assert (by_subcase["ln_passive"], by_subcase["le_passive"]) == (1, 1)
    assert (by_subcase["sn_past_participle"], by_subcase["sn_NP/Z"]) == (10, 7)
    assert by_subcase["cn_embedded_under_verb"] == 6


def test_the_crowd_gives_11400_judgements_of_2280_items(hans: pl.DataFrame) -> None:
    items = crowd(hans)
    assert len(items) == 114 * 20
    assert sum(item.seats for item in items) == 114 * 20 * 5
    assert set(Counter(item.category for item in items).values()) == {20}
    # 200 people of 57 items each, as in the paper (95 kept and 105 rejected).
    assert 114 * 20 * 5 / 57 == 200


def test_the_controls_are_five_identical_pairs_and_five_negations() -> None:
    checks = attention_checks(
        pl.read_csv(load_plan("hans-human").controls, separator="\t"), load_questionnaire("hans-human")
    )
    assert Counter(item.known["kind"] for item in checks) == {"identical": 5, "negation": 5}
    for item in checks:
        same = item.fields["premise"] == item.fields["hypothesis"]
        assert item.expected == {"label": "entailment" if same else "non-entailment"}


def test_experts_get_one_item_of_each_category_and_the_controls(hans: pl.DataFrame) -> None:
    items = crowd(hans, "hans-human-expert")
    assert len(items) == 114
    assert len({item.category for item in items}) == 114
    assert {item.seats for item in items} == {EVERYBODY}
    assert load_plan("hans-human-expert").per_annotator == 114
    assert len(items) + 10 == 124


def test_two_hundred_people_of_57_items_judge_every_item_five_times_and_no_category_twice(hans: pl.DataFrame) -> None:
    """The whole crowd, one after the other, straight on the state: no store, no clock."""
    state = ProjectState(crowd(hans), load_plan("hans-human"), 0)
    for number in range(1, 201):
        person = Person(number, f"p{number}", f"p{number}", 0.0)
        state.people[number] = state.people_by_name[person.folded] = person
        for _ in range(57):
            item = state.next_item(person, 0.0)
            assert item is not None
            judge(state, person, item)
        assert state.next_item(person, 0.0) is None
        assert len({state.items[claim.item - 1].category for claim in person.claims}) == 57
    judged = Counter(claim.item for claim in state.claims.values())
    assert set(judged.values()) == {5}
    assert len(judged) == 2280
    late = Person(201, "late", "late", 0.0)
    state.people[201] = late
    assert state.next_item(late, 0.0) is None


def judge(state: ProjectState, person: Person, item: int) -> None:
    number, seat = len(state.claims) + 1, state.free_seat(item, 0.0)
    claim = {"item": item, "seat": seat, "turn": 0, "annotator": person.number}
    answer = {"claim": number, "answers": "{}", "seconds": None, "key": str(number), "version": 1}
    state._apply(tables.claims, SimpleNamespace(number=number, at=0.0, **claim))
    state._apply(tables.answers, SimpleNamespace(number=number, at=0.0, **answer))


def test_an_overlap_goes_to_several_people_and_the_rest_to_one() -> None:
    # The paper's 600 of 10,071, judged by both annotators.
    seats = seat_counts(10_071, AnnotationPlan(per_item=2, overlap=600), seed=0)
    assert Counter(seats) == {2: 600, 1: 9_471}
    assert seats != seat_counts(10_071, AnnotationPlan(per_item=2, overlap=600), seed=1)
    assert Counter(seat_counts(10, AnnotationPlan(per_item=0, overlap=3), seed=0)) == {EVERYBODY: 3, 1: 7}


def test_a_plan_that_makes_no_sense_is_told() -> None:
    with pytest.raises(AcidtestError, match="say by how many"):
        check_plan(AnnotationPlan(overlap=10))
    with pytest.raises(AcidtestError, match="per_annotator is 0; expected 1 or more"):
        check_plan(AnnotationPlan(per_annotator=0))
    with pytest.raises(AcidtestError, match="the overlap is 11 items, but there are only 10"):
        seat_counts(10, AnnotationPlan(per_item=2, overlap=11), seed=0)


def test_mistakes_in_a_file_are_told_with_its_name() -> None:
    with pytest.raises(AcidtestError, match=r"mine.toml: no key called 'per_itm'; did you mean 'per_item'"):
        parse_plan(b"per_itm = 3", Path("mine.toml"))
    with pytest.raises(AcidtestError, match=r"mine.toml: per_item: expected an integer, got \"three\""):
        parse_plan(b'per_item = "three"', Path("mine.toml"))
    with pytest.raises(AcidtestError, match=r"mine.toml: is not valid TOML"):
        parse_plan(b"per_item = ", Path("mine.toml"))


def test_a_file_without_the_columns_of_a_plan_is_told_how_to_make_one() -> None:
    frame = pl.DataFrame({"premise": ["a"], "hypothesis": ["b"]})
    with pytest.raises(AcidtestError, match="needs the columns subcase, template, trigger; make such a file with"):
        crowd(frame)


def test_too_few_items_of_a_category_are_told(hans: pl.DataFrame) -> None:
    with pytest.raises(AcidtestError, match=r"draws 20 items of each category, but .* has 5; give it a larger file"):
        crowd(hans.group_by("subcase", "template", "trigger", maintain_order=True).head(5))


def test_a_plan_is_the_same_after_it_was_kept() -> None:
    for name in packaged_plans():
        assert AnnotationPlan.from_json(load_plan(name).to_json()) == load_plan(name)
