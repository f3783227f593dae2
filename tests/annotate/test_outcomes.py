"""From answers to gold: the paper's vote by hand, other ways to vote, categories and discards."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from acidtest.annotate.answers import check_answers, outcomes
from acidtest.annotate.judgements import Judgements, judgements
from acidtest.annotate.questionnaires import load_questionnaire, parse_questionnaire
from acidtest.core.errors import AcidtestError

VOTING = """
schema = 1
title = "One label each"
[[question]]
id = "said"
text = "Which?"
kind = "one-of"
options = ["a", "b", "c", "unfit"]
[[question]]
id = "marks"
text = "What else?"
kind = "several-of"
options = ["x", "y", { id = "none", exclusive = true }]
[[rule]]
when = { said = "unfit" }
discard = "unfit"
[[rule]]
when = { said = "c" }
label = "c"
categories = ["z"]
categories_from = ["marks", "said"]
[[rule]]
label_from = "said"
categories_from = ["marks"]
[aggregation]
"""


def asked_three(**items: str) -> Judgements:
    """Judgements of items on each of which three people or so answered, a word of three letters each."""
    rows = [
        {
            "item": item,
            "annotator": f"w{number}",
            "same_event": {"y": "yes", "n": "no"}[word[0]],
            "new_information": {"y": "yes", "n": "no"}[word[1]],
            "ungrammatical": {"y": "yes", "n": "no"}[word[2]],
        }
        for item, words in items.items()
        for number, word in enumerate(words.split())
    ]
    asked = load_questionnaire("breaking-nli")
    return judgements(asked, check_answers(pl.DataFrame(rows), asked))


def vote(aggregation: str, *votes: str, marks: str = "") -> dict[str, object]:
    """The one item on which people voted so."""
    asked = parse_questionnaire((VOTING + aggregation).encode(), Path("voting.toml"))
    ticked = marks.split(" ") if marks else [""] * len(votes)
    people = [f"w{number}" for number in range(len(votes))]
    frame = pl.DataFrame({"item": ["p"] * len(votes), "annotator": people, "said": votes, "marks": ticked})
    return judgements(asked, check_answers(frame, asked)).items.row(0, named=True)


def test_items_are_judged_as_in_the_paper() -> None:
    judged = asked_three(
        all_contradict="nnn nyn nnn",
        two_entail="ynn ynn nnn",
        two_neutral="yyn ynn yyn",
        one_each="yyn ynn nnn",
        one_ungrammatical="nnn nnn nny",
        two_people="nnn nnn",
    )
    assert judged.items.select("item", "label", "discarded", "undecided").rows() == [
        ("all_contradict", "contradiction", None, None),
        ("two_entail", "entailment", None, None),
        ("two_neutral", "neutral", None, None),
        ("one_each", None, None, "no majority"),
        ("one_ungrammatical", None, "ungrammatical", None),
        ("two_people", None, None, "fewer than 3 labels"),
    ]
    assert judged.discarded == {"ungrammatical": 1}
    assert judged.items["annotator_labels"].to_list()[1] == ["entailment", "entailment", "contradiction"]
    assert judged.items["annotator_labels"].to_list()[4] == []
    assert judged.items["votes"].to_list()[4] == {"contradiction": 2, "entailment": 0, "neutral": 0}
    assert "categories" not in judged.items.columns


def test_the_outcome_of_every_person_is_there() -> None:
    found = asked_three(p="nnn yyn nny").outcomes
    assert found.select("annotator", "label", "discard").rows() == [
        ("w0", "contradiction", None),
        ("w1", "neutral", None),
        ("w2", None, "ungrammatical"),
    ]


@pytest.mark.parametrize(
    ("how", "votes", "label", "undecided"),
    [
        ("majority", "aab", "a", None),
        ("majority", "aabb", None, "no majority"),
        ("majority", "aabc", None, "no majority"),
        ("plurality", "aabc", "a", None),
        ("plurality", "aabb", None, "no most frequent label"),
        ("unanimous", "aaa", "a", None),
        ("unanimous", "aab", None, "no unanimity"),
    ],
)
def test_votes_are_counted_as_the_questionnaire_says(how: str, votes: str, label: str, undecided: str) -> None:
    item = vote(f'label = "{how}"', *votes)
    assert (item["label"], item["undecided"]) == (label, undecided)


@pytest.mark.parametrize(
    ("how", "votes", "label", "discarded"),
    [
        ("any", ["a", "a", "unfit"], None, "unfit"),
        ("majority", ["a", "a", "unfit"], "a", None),
        ("majority", ["a", "unfit", "unfit"], None, "unfit"),
        ("majority", ["a", "unfit"], "a", None),
        ("never", ["a", "unfit", "unfit"], "a", None),
    ],
)
def test_how_many_people_discard_an_item_is_what_the_questionnaire_says(
    how: str, votes: list[str], label: str | None, discarded: str | None
) -> None:
    item = vote(f'discard = "{how}"', *votes)
    assert (item["label"], item["discarded"]) == (label, discarded)


@pytest.mark.parametrize(
    ("how", "expected"), [("majority", ["x"]), ("any", ["x", "y"]), ("all", [])], ids=["majority", "any", "all"]
)
def test_categories_are_kept_as_the_questionnaire_says(how: str, expected: list[str]) -> None:
    assert vote(f'categories = "{how}"', "a", "a", "b", marks="x|y x none")["categories"] == expected


def test_categories_of_a_rule_and_of_answers_are_put_together() -> None:
    assert vote('categories = "all"', "c", "c", marks="y y")["categories"] == ["z", "y", "c"]
    assert vote("", "a", marks="none")["categories"] == []


def test_answers_that_no_rule_fits_are_an_error() -> None:
    text = VOTING.replace('[[rule]]\nlabel_from = "said"\ncategories_from = ["marks"]\n', "")
    asked = parse_questionnaire(text.encode(), Path("voting.toml"))
    frame = pl.DataFrame({"item": ["p", "q"], "annotator": ["w", "w"], "said": ["c", "b"]})
    answers = check_answers(frame, asked)
    told = "none of the rules of 'voting' applies to these answers; end them with one that has no 'when'"
    with pytest.raises(AcidtestError) as caught:
        outcomes(asked, answers.frame)
    assert str(caught.value) == f"row 2: {told}"
    with pytest.raises(AcidtestError, match=f"item 'q', annotator 'w': {told}"):
        judgements(asked, answers)


def test_a_questionnaire_without_labels_gives_categories_only() -> None:
    text = """
    schema = 1
    title = "Categories"
    [[question]]
    id = "marks"
    text = "What?"
    kind = "several-of"
    options = ["x", "y"]
    [[rule]]
    categories_from = ["marks"]
    """
    asked = parse_questionnaire(text.encode(), Path("marks.toml"))
    frame = pl.DataFrame({"id": [1, 1], "annotator": ["a", "b"], "marks": ["x|y", "y"]})
    judged = judgements(asked, check_answers(frame, asked))
    assert asked.labels == ()
    assert judged.table.to_dicts() == [{"id": "1", "categories": ["y"], "discarded": None}]
