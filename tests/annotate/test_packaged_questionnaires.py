"""The questionnaires that ship: which way answers lead through each of them, and what comes out at the end."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from acidtest.annotate.answers import AnswerOutcome, asked_questions, check_answers, outcome
from acidtest.annotate.judgements import judgements
from acidtest.annotate.questionnaires import Question, load_questionnaire, packaged_questionnaires
from acidtest.core.errors import AcidtestError
from acidtest.core.labels import LABELS
from acidtest.pairs.heuristics import lexical_overlap
from acidtest.studies.errors.samples import CATEGORIES

PAPERS = Path(__file__).parents[3] / "shared" / "papers"

# The columns of TaxiNLI's file, in their order, without what follows the underscore.
LINGUISTIC = ["lexical", "syntactic", "factivity"]
CONNECTIVES = ["negation", "boolean", "quantifier", "conditional", "comparative"]
DEDUCTIONS = ["relational", "spatial", "temporal", "causal", "coreference"]
TAXONOMY = [*LINGUISTIC, *CONNECTIVES, *DEDUCTIONS, "world", "taxonomic"]
CATEGORY_QUESTIONS = ("wording", "connectives", "deduction", "knowledge")
NOTHING = {"outside_knowledge": "no", "approach": ["reading"], "connectives": ["none"], "wording": ["none"]}


def asked_ids(name: str, *, gold: str | None = None, **answers: Any) -> list[str]:
    return [question.id for question in asked_questions(load_questionnaire(name), answers, gold=gold)]


def outcome_of(name: str, *, gold: str | None = None, **answers: Any) -> AnswerOutcome:
    return outcome(load_questionnaire(name), answers, gold=gold)


def some_answer(question: Question, draws: random.Random) -> Any:
    if question.kind == "text":
        return draws.choice([None, "a few words"])
    if not question.takes_several:
        return draws.choice(question.answers)
    alone = [option.id for option in question.options if option.exclusive]
    others = [option.id for option in question.options if not option.exclusive]
    chosen = draws.sample(others, draws.randint(0, len(others)))
    return chosen or alone or (others[:1] if question.required else [])


def test_these_ship() -> None:
    assert packaged_questionnaires() == [
        "breaking-nli",
        "error-types",
        "hans-human",
        "swaps",
        "taxinli",
        "taxonomy",
        "taxonomy-neutral",
        "validation",
    ]


@pytest.mark.parametrize("name", packaged_questionnaires())
def test_whoever_answers_what_is_asked_comes_to_an_outcome(name: str) -> None:
    found, draws = load_questionnaire(name), random.Random(0)
    kinds = set[str]()
    for number in range(60):
        answers, gold = dict[str, Any](), LABELS[number % 3]
        for question in found.questions:
            if question in asked_questions(found, answers, gold=gold):
                answers[question.id] = some_answer(question, draws)
        reached = outcome(found, answers, gold=gold)
        kinds.add(reached.discard or reached.label or "categories only")
    assert kinds >= set(found.labels)


def test_the_taxonomy_asks_for_the_inference_and_then_by_if_and_else() -> None:
    every = {"inference", "outside_knowledge", "knowledge", "approach", "deduction", "connectives", "wording"}
    always = ["inference", "outside_knowledge", "approach", "connectives", "wording"]
    assert asked_ids("taxonomy") == always
    assert asked_ids("taxonomy", outside_knowledge="no", approach=["reading"]) == always
    assert set(asked_ids("taxonomy", outside_knowledge="yes", approach=["reading"])) == every - {"deduction"}
    assert set(asked_ids("taxonomy", outside_knowledge="no", approach=["reading", "reasoning"])) == every - {
        "knowledge"
    }
    assert set(asked_ids("taxonomy", outside_knowledge="yes", approach=["reasoning"])) == every


@pytest.mark.parametrize("name", ["taxonomy", "taxonomy-neutral"])
def test_the_answers_are_the_fifteen_categories(name: str) -> None:
    questionnaire = load_questionnaire(name)
    options = [option for asks in CATEGORY_QUESTIONS for option in questionnaire.by_id[asks].options]
    assert [option.id for option in options if not option.exclusive] == TAXONOMY
    assert all(option.help.count("Premise: ") == 1 for option in options if not option.exclusive)


@pytest.mark.parametrize("inference", ["entailment", "contradiction", "neutral"])
def test_the_taxonomy_gives_the_label_and_what_was_ticked(inference: str) -> None:
    assert outcome_of("taxonomy", inference=inference, **NOTHING) == AnswerOutcome(inference)
    ticked = {
        "outside_knowledge": "yes",
        "knowledge": ["taxonomic"],
        "approach": ["reasoning", "reading"],
        "deduction": ["causal", "coreference"],
        "connectives": ["negation"],
        "wording": ["lexical", "syntactic"],
    }
    assert outcome_of("taxonomy", inference=inference, **ticked) == AnswerOutcome(
        inference, ("lexical", "syntactic", "negation", "causal", "coreference", "taxonomic")
    )
    nothing_after_all = ticked | {"knowledge": ["none"], "deduction": ["none"], "connectives": ["none"]}
    assert outcome_of("taxonomy", inference=inference, **nothing_after_all) == AnswerOutcome(
        inference, ("lexical", "syntactic")
    )


@pytest.mark.parametrize("category", TAXONOMY)
def test_every_category_can_be_the_only_one(category: str) -> None:
    questionnaire = load_questionnaire("taxonomy")
    (asks,) = [each for each in CATEGORY_QUESTIONS if category in questionnaire.by_id[each].answers]
    leading = {
        "knowledge": {"outside_knowledge": "yes"},
        "deduction": {"approach": ["reasoning"]},
    }.get(asks, {})
    answers = NOTHING | {asks: [category]} | leading
    assert outcome(questionnaire, {"inference": "entailment", **answers}).categories == (category,)


def test_a_question_with_none_of_these_must_be_answered() -> None:
    unanswered = {name: answer for name, answer in NOTHING.items() if name != "wording"}
    with pytest.raises(AcidtestError, match="question 'wording' has no answer"):
        outcome_of("taxonomy", inference="entailment", **unanswered)
    with pytest.raises(AcidtestError, match="exclude each other"):
        outcome_of("taxonomy", inference="entailment", **NOTHING | {"connectives": ["none", "negation"]})


def test_neutral_pairs_are_asked_for_topic_subject_and_object_first() -> None:
    name = "taxonomy-neutral"
    assert asked_ids(name) == ["same_topic"]
    assert asked_ids(name, same_topic="no") == ["same_topic"]
    assert asked_ids(name, same_topic="yes") == ["same_topic", "same_subject"]
    assert asked_ids(name, same_topic="yes", same_subject="no") == ["same_topic", "same_subject"]
    same = {"same_topic": "yes", "same_subject": "yes"}
    rest = ["information_used", "information_missing", "outside_knowledge", "approach", "connectives", "wording"]
    for same_object in ("yes", "no"):
        found = asked_ids(name, **same, same_object=same_object)
        assert found == ["same_topic", "same_subject", "same_object", *rest]


def test_neutral_pairs_have_what_they_share_and_categories_where_the_subject_is_the_same() -> None:
    name = "taxonomy-neutral"
    assert outcome_of(name, same_topic="no") == AnswerOutcome()
    assert outcome_of(name, same_topic="yes", same_subject="no") == AnswerOutcome(categories=("same_topic",))
    same = {"same_topic": "yes", "same_subject": "yes"}
    told = {"information_used": "who spoke", "information_missing": "why"}
    assert outcome_of(name, **same, same_object="no", **NOTHING) == AnswerOutcome(
        categories=("same_topic", "same_subject")
    )
    answers = NOTHING | {"approach": ["reasoning"], "deduction": ["causal"]}
    assert outcome_of(name, **same, same_object="yes", **told, **answers) == AnswerOutcome(
        categories=("same_topic", "same_subject", "same_object", "causal")
    )
    with pytest.raises(AcidtestError, match="'wording' is not asked"):
        outcome_of(name, same_topic="yes", same_subject="no", wording=["lexical"])


def test_both_questionnaires_ask_for_categories_in_the_same_words() -> None:
    first, second = load_questionnaire("taxonomy").questions[1:], load_questionnaire("taxonomy-neutral").questions[5:]
    assert [(q.id, q.text, q.kind, q.options, q.required, q.help) for q in first] == [
        (q.id, q.text, q.kind, q.options, q.required, q.help) for q in second
    ]


def test_reasons_for_errors_are_those_of_the_typology() -> None:
    questionnaire = load_questionnaire("error-types")
    assert questionnaire.labels == tuple(CATEGORIES)
    assert questionnaire.shows == ("premise", "hypothesis", "gold", "answer")
    for option, (name, meaning) in zip(questionnaire.by_id["category"].options, CATEGORIES.items(), strict=True):
        assert option.text.lower() == f"{name}: {meaning}".lower()
        assert option.help
    assert outcome_of("error-types", category="world knowledge") == AnswerOutcome("world knowledge")
    assert outcome_of("error-types", category="unknown", comment="odd") == AnswerOutcome("unknown")


@pytest.mark.parametrize("grammatical", ["yes", "no"])
@pytest.mark.parametrize("difficulty", ["trivial", "some thought", "hard"])
def test_validation_gives_the_label_and_what_is_amiss(grammatical: str, difficulty: str) -> None:
    answers = {"inference": "contradiction", "grammatical": grammatical, "difficulty": difficulty}
    amiss = ("ungrammatical",) if grammatical == "no" else ()
    assert outcome_of("validation", **answers) == AnswerOutcome("contradiction", (*amiss, difficulty))


def test_what_two_of_three_say_of_a_generated_pair_holds() -> None:
    # "At least two annotators agreed": Naik et al. (2018), section 3.1.
    frame = pl.DataFrame(
        {
            "item": ["p1"] * 3 + ["p2"],
            "annotator": ["a", "b", "c", "a"],
            "inference": ["contradiction", "contradiction", "neutral", "neutral"],
            "grammatical": ["no", "yes", "no", "yes"],
            "difficulty": ["trivial", "trivial", "hard", "trivial"],
        }
    )
    questionnaire = load_questionnaire("validation")
    items = judgements(questionnaire, check_answers(frame, questionnaire)).items
    assert items["label"].to_list() == ["contradiction", None]
    assert items["categories"].to_list() == [["ungrammatical", "trivial"], ["trivial"]]
    assert items["undecided"].to_list() == [None, "fewer than 2 labels"]


def test_swapped_pairs_are_labelled_where_they_make_sense() -> None:
    assert outcome_of("swaps", coherent="no") == AnswerOutcome(discard="incoherent")
    assert outcome_of("swaps", coherent="yes", inference="neutral") == AnswerOutcome("neutral")


@pytest.mark.parametrize("label", ["entailment", "non-entailment"])
def test_the_question_of_hans_has_two_answers(label: str) -> None:
    assert load_questionnaire("hans-human").labels == ("entailment", "non-entailment")
    assert outcome_of("hans-human", follows=label) == AnswerOutcome(label)


@pytest.mark.parametrize("gold", ["entailment", "contradiction"])
def test_both_questionnaires_of_taxinli_ask_by_gold_what_each_asks(gold: str) -> None:
    answers = [
        {},
        NOTHING | {"inference": "neutral"},
        NOTHING | {"outside_knowledge": "yes", "approach": ["reasoning"]},
    ]
    for each in answers:
        assert asked_ids("taxinli", gold=gold, **each) == asked_ids("taxonomy", **each)
    each = NOTHING | {"inference": "neutral", "wording": ["lexical"]}
    assert (
        outcome_of("taxinli", gold=gold, **each)
        == outcome_of("taxonomy", **each)
        == AnswerOutcome("neutral", ("lexical",))
    )
    with pytest.raises(AcidtestError, match="'same_topic' is not asked"):
        outcome_of("taxinli", gold=gold, **each, same_topic="yes")


def test_of_a_neutral_pair_taxinli_asks_for_no_label() -> None:
    same = {"same_topic": "yes", "same_subject": "yes"}
    for each in ({}, {"same_topic": "no"}, same, same | {"same_object": "yes", "outside_knowledge": "yes"}):
        assert asked_ids("taxinli", gold="neutral", **each) == asked_ids("taxonomy-neutral", **each)
    for each in ({"same_topic": "no"}, same | NOTHING | {"same_object": "yes", "wording": ["factivity"]}):
        assert outcome_of("taxinli", gold="neutral", **each) == outcome_of("taxonomy-neutral", **each)
    with pytest.raises(AcidtestError, match="'inference' is not asked"):
        outcome_of("taxinli", gold="neutral", same_topic="no", inference="neutral")
    with pytest.raises(
        AcidtestError, match="has no gold, and questionnaire 'taxinli' asks by the gold label of an item"
    ):
        outcome_of("taxinli", same_topic="no")


@pytest.mark.parametrize("name", ["error-types", "hans-human", "taxinli", "taxonomy", "taxonomy-neutral", "validation"])
def test_words_and_examples_are_our_own(name: str) -> None:
    if not PAPERS.is_dir():
        pytest.skip("the papers' texts (../shared/papers) are not on this machine")
    text = "\n".join(path.read_text(encoding="utf-8") for path in sorted(PAPERS.glob("*.md")))
    papers = " ".join(text.lower().split())
    questionnaire = load_questionnaire(name)
    said = [questionnaire.instructions, *(f"{q.text}\n{q.help}" for q in questionnaire.questions)]
    said += [option.help for question in questionnaire.questions for option in question.options]
    lines = [line.strip().lower() for part in said for line in part.splitlines()]
    sentences = [re.sub(r"^(premise|hypothesis): ", "", line) for line in lines if len(line) > 25]
    assert len(sentences) > 2
    assert [sentence for sentence in sentences if sentence in papers] == []


def examples(name: str) -> list[tuple[str, str]]:
    """The pairs that the helps of a questionnaire show."""
    questionnaire = load_questionnaire(name)
    helps = [each.help for question in questionnaire.questions for each in (question, *question.options)]
    return re.findall(r"Premise: (.*)\nHypothesis: (.*)", "\n".join([questionnaire.instructions, *helps]))


def test_people_are_not_shown_a_construction_that_they_are_tested_on() -> None:
    # All that HANS tests, published or novel, is a case of lexical overlap: no word of the hypothesis is new.
    shown = examples("hans-human")
    assert len(shown) == 2
    premises, hypotheses = (pl.Series(texts) for texts in zip(*shown, strict=True))
    assert not lexical_overlap(premises, hypotheses).any()
    # What was shown before is one of its subcases, sn_PP_on_subject and the same for entailment.
    before = pl.Series(["The gardener behind the house sings."] * 2)
    assert lexical_overlap(before, pl.Series(["The gardener sings.", "The house sings."])).all()
    # Those who judge pairs of one changed word, or of stress tests, are shown none at all.
    assert [name for name in ("breaking-nli", "swaps", "validation") if examples(name)] == []
