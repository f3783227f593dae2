from __future__ import annotations

import polars as pl
import pytest

from acidtest.annotate.items import (
    LONGEST_FIELD,
    AnnotationPlan,
    attention_checks,
    item_order,
    passes_check,
    select_items,
)
from acidtest.annotate.questionnaires import load_questionnaire
from acidtest.core.errors import AcidtestError

ASKED = load_questionnaire("breaking-nli")
PAIRS = pl.DataFrame(
    {
        "pairID": ["p1", "p2"],
        "premise": ["A man plays.", "<script>alert(1)</script>"],
        "hypothesis": ["A man sleeps.", "A & B"],
        "gold_label": ["contradiction", "-"],
        "premise_parse": ["(S)", "(S)"],
        "genre": ["fiction", None],
    }
)


def test_an_item_shows_what_the_questionnaire_shows_and_keeps_what_is_known() -> None:
    first, second = select_items(PAIRS, ASKED, AnnotationPlan(per_item=3), seed=0)
    assert first.id == "p1"
    assert first.fields == {"premise": "A man plays.", "hypothesis": "A man sleeps."}
    assert first.known["genre"] == "fiction"
    assert "premise_parse" not in first.known
    assert (first.gold, second.gold) == ("contradiction", None)
    assert first.seats == 3


def test_markup_in_a_premise_is_text_like_any_other() -> None:
    assert select_items(PAIRS, ASKED, AnnotationPlan(), seed=0)[1].fields["premise"] == "<script>alert(1)</script>"


def test_rows_without_an_id_are_numbered() -> None:
    assert [item.id for item in select_items(PAIRS.drop("pairID"), ASKED, AnnotationPlan(), seed=0)] == [
        "row-1",
        "row-2",
    ]


def test_what_cannot_be_judged_is_told() -> None:
    with pytest.raises(AcidtestError, match=r"no column called 'hypothesis'.*--columns hypothesis=THEIRS"):
        select_items(PAIRS.rename({"hypothesis": "text_b"}), ASKED, AnnotationPlan(), seed=0)
    with pytest.raises(AcidtestError, match="pairID 'p1' stands in several rows"):
        select_items(PAIRS.with_columns(pairID=pl.lit("p1")), ASKED, AnnotationPlan(), seed=0)
    with pytest.raises(AcidtestError, match="there are no rows"):
        select_items(PAIRS.head(0), ASKED, AnnotationPlan(), seed=0)


def test_a_text_nobody_can_read_is_refused() -> None:
    huge = PAIRS.with_columns(premise=pl.lit("x" * (LONGEST_FIELD + 1)))
    with pytest.raises(AcidtestError, match=r"item 'p1': premise has 1,000,001 characters.*cut it"):
        select_items(huge, ASKED, AnnotationPlan(), seed=0)


def test_everybody_has_an_order_and_it_stays() -> None:
    anna, ben = item_order("anna", 100, seed=0), item_order("ben", 100, seed=0)
    assert anna.argsort().tolist() != ben.argsort().tolist()
    assert anna.argsort().tolist() == item_order("anna", 100, seed=0).argsort().tolist()
    assert anna.argsort().tolist() != item_order("anna", 100, seed=1).argsort().tolist()
    # The first of a longer list is drawn alike, so that an order does not depend on how many there are.
    assert anna.tolist() == item_order("anna", 200, seed=0)[:100].tolist()


def test_a_control_is_passed_by_its_answers_or_by_the_label_they_come_to() -> None:
    told = pl.DataFrame({"premise": ["a"], "hypothesis": ["a"], "same_event": ["yes"], "new_information": ["no"]})
    (answered,) = attention_checks(told, ASKED)
    assert answered.expected == {"same_event": "yes", "new_information": "no"}
    right = {"same_event": "yes", "new_information": "no", "ungrammatical": "no"}
    assert passes_check(answered.expected, right, ASKED)
    assert not passes_check(answered.expected, right | {"new_information": "yes"}, ASKED)
    (labelled,) = attention_checks(
        pl.DataFrame({"premise": ["a"], "hypothesis": ["b"], "label": ["non-entailment"]}), ASKED
    )
    assert labelled.expected is not None
    # Neutral and contradiction are both no entailment; something discarded has no label.
    assert passes_check(labelled.expected, right | {"new_information": "yes"}, ASKED)
    assert passes_check(labelled.expected, right | {"same_event": "no"}, ASKED)
    assert not passes_check(labelled.expected, right, ASKED)
    assert not passes_check(labelled.expected, right | {"ungrammatical": "yes"}, ASKED)


def test_ticks_are_right_in_any_order() -> None:
    taxonomy = load_questionnaire("taxonomy")
    several = next(question for question in taxonomy.questions if question.takes_several)
    one, two = several.answers[:2]
    assert passes_check({several.id: f"{one}|{two}"}, {several.id: [two, one]}, taxonomy)
    assert not passes_check({several.id: f"{one}|{two}"}, {several.id: [two]}, taxonomy)


def test_controls_without_a_right_answer_are_told() -> None:
    pair = {"premise": ["a"], "hypothesis": ["b"]}
    with pytest.raises(AcidtestError, match="controls need the right answers: a column for each question"):
        attention_checks(pl.DataFrame(pair), ASKED)
    with pytest.raises(AcidtestError, match="control 'row-1' has no right answer"):
        attention_checks(pl.DataFrame({**pair, "label": ["-"]}), ASKED)
    with pytest.raises(AcidtestError, match="'maybe' is not an answer to 'same_event'; expected yes or no"):
        attention_checks(pl.DataFrame({**pair, "same_event": ["maybe"]}), ASKED)
    with pytest.raises(AcidtestError, match="no answers to 'breaking-nli' lead to 'funny'"):
        attention_checks(pl.DataFrame({**pair, "label": ["funny"]}), ASKED)
