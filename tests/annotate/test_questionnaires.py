"""Questionnaires from TOML: the one that ships, forms that others will have, and what is wrong with bad ones."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from acidtest.annotate.answers import AnswerOutcome, asked_questions, outcome
from acidtest.annotate.questionnaires import (
    Aggregation,
    AnswerOption,
    Questionnaire,
    load_questionnaire,
    packaged_questionnaires,
    parse_questionnaire,
)
from acidtest.core.errors import AcidtestError, FileError

PAPER = Path(__file__).parents[3] / "shared" / "papers" / "glockner2018_breaking_nli.md"

HEAD = 'schema = 1\ntitle = "t"\n'
QUESTION = '[[question]]\nid = "a"\ntext = "A?"\nkind = "yes-no"\n'
RULE = '[[rule]]\nlabel = "x"\n'

# A part of TaxiNLI's two questionnaires (Joshi et al. 2020, appendix D), our ids: flow by if and else, several answers,
# texts, a label and categories from answers.
TAXINLI = """
schema = 1
title = "What an inference takes"
shows = ["premise", "hypothesis"]

[[question]]
id = "inference"
text = "Is statement 2 true, false, or can you not say?"
kind = "one-of"
[[question.options]]
id = "entailment"
text = "TRUE"
[[question.options]]
id = "contradiction"
text = "FALSE"
[[question.options]]
id = "neutral"
text = "CAN'T SAY"

[[question]]
id = "topic"
text = "Are they about the same general topic?"
kind = "yes-no"
when = { inference = "neutral" }

[[question]]
id = "subject"
text = "Are they about the same subject?"
kind = "yes-no"
when = { topic = "yes" }

[[question]]
id = "needs_more"
text = "Do you need more information?"
kind = "yes-no"
when = { any = [{ not = { inference = "neutral" } }, { subject = "yes" }] }

[[question]]
id = "knowledge"
text = "What kind of information did you require?"
kind = "several-of"
when = { needs_more = "yes" }
help = "More than one answer can be ticked."
[[question.options]]
id = "world"
text = "Knowledge about certain facts"
help = "S1: Barack Obama lived in the White House during 2009-17."
[[question.options]]
id = "taxonomic"
[[question.options]]
id = "none"
text = "No extra knowledge required"
exclusive = true

[[question]]
id = "connectives"
text = "Which connectives?"
kind = "several-of"
options = ["negation", "boolean", "quantifier"]
when = { needs_more = ["yes", "no"] }

[[question]]
id = "missing"
text = "What is missing?"
kind = "text"
when = { all = [{ inference = "neutral" }, { topic = "yes" }] }

[[rule]]
when = { topic = "no" }
discard = "random hypothesis"

[[rule]]
label_from = "inference"
categories_from = ["knowledge", "connectives"]

[aggregation]
label = "unanimous"
discard = "majority"
categories = "any"
"""


def parse(text: str, name: str = "q.toml") -> Questionnaire:
    return parse_questionnaire(text.encode(), Path(name))


def test_the_papers_three_questions_ship_with_the_package() -> None:
    assert "breaking-nli" in packaged_questionnaires()
    questionnaire = load_questionnaire("breaking-nli")
    assert [(each.id, each.kind, each.when) for each in questionnaire.questions] == [
        ("same_event", "yes-no", None),
        ("new_information", "yes-no", None),
        ("ungrammatical", "yes-no", None),
    ]
    assert questionnaire.labels == ("contradiction", "entailment", "neutral")
    assert questionnaire.aggregation == Aggregation(label="majority", discard="any", fewest=3)
    assert questionnaire.shows == ("premise", "hypothesis")


def test_the_questions_are_worded_as_in_the_paper() -> None:
    if not PAPER.is_file():
        pytest.skip("the paper's text (../shared/papers) is not on this machine")
    text = " ".join(PAPER.read_text(encoding="utf-8").split())
    for question in load_questionnaire("breaking-nli").questions:
        assert question.text in text


# Glockner et al. (2018), section 3.2: "discarded any sentence-pair in which at least one worker answered the third
# question positively. If the answer to the first question was negative, we considered the label as contradiction.
# Otherwise, we considered the label as entailment if the answer to the second question was negative and neutral if it
# was positive."
@pytest.mark.parametrize(
    ("same_event", "new_information", "ungrammatical", "expected"),
    [
        ("no", "no", "no", AnswerOutcome("contradiction")),
        ("no", "yes", "no", AnswerOutcome("contradiction")),
        ("yes", "no", "no", AnswerOutcome("entailment")),
        ("yes", "yes", "no", AnswerOutcome("neutral")),
        ("no", "no", "yes", AnswerOutcome(discard="ungrammatical")),
        ("no", "yes", "yes", AnswerOutcome(discard="ungrammatical")),
        ("yes", "no", "yes", AnswerOutcome(discard="ungrammatical")),
        ("yes", "yes", "yes", AnswerOutcome(discard="ungrammatical")),
    ],
)
def test_the_papers_rule_gives_a_label_for_every_combination_of_answers(
    same_event: str, new_information: str, ungrammatical: str, expected: AnswerOutcome
) -> None:
    answers = {"same_event": same_event, "new_information": new_information, "ungrammatical": ungrammatical}
    assert outcome(load_questionnaire("breaking-nli"), answers) == expected


def test_a_hierarchical_questionnaire_is_carried_by_the_format() -> None:
    questionnaire = parse(TAXINLI, "taxi.toml")
    assert questionnaire.name == "taxi"
    assert questionnaire.labels == ("entailment", "contradiction", "neutral")
    knowledge = questionnaire.by_id["knowledge"]
    assert knowledge.options == (
        AnswerOption(
            "world", "Knowledge about certain facts", "S1: Barack Obama lived in the White House during 2009-17."
        ),
        AnswerOption("taxonomic", "taxonomic"),
        AnswerOption("none", "No extra knowledge required", exclusive=True),
    )
    assert knowledge.when == {"needs_more": "yes"}
    assert not knowledge.required
    assert questionnaire.by_id["needs_more"].when == {"any": [{"not": {"inference": "neutral"}}, {"subject": "yes"}]}
    assert questionnaire.by_id["missing"].when == {"all": [{"inference": "neutral"}, {"topic": "yes"}]}
    assert questionnaire.aggregation == Aggregation("unanimous", "majority", "any", 1)


def test_the_flow_asks_what_earlier_answers_lead_to() -> None:
    questionnaire = parse(TAXINLI)

    def asked(**answers: object) -> list[str]:
        return [question.id for question in asked_questions(questionnaire, answers)]

    assert asked() == ["inference", "needs_more"]
    assert asked(inference="entailment") == ["inference", "needs_more"]
    assert asked(inference="neutral") == ["inference", "topic"]
    assert asked(inference="neutral", topic="no") == ["inference", "topic"]
    assert asked(inference="neutral", topic="yes") == ["inference", "topic", "subject", "missing"]
    assert asked(inference="neutral", topic="yes", subject="yes", needs_more="no") == [
        "inference",
        "topic",
        "subject",
        "needs_more",
        "connectives",
        "missing",
    ]


def test_a_label_and_categories_come_from_the_same_answers() -> None:
    questionnaire = parse(TAXINLI)
    answers = {"inference": "entailment", "needs_more": "yes", "knowledge": ["world"], "connectives": ["boolean"]}
    assert outcome(questionnaire, answers) == AnswerOutcome("entailment", ("world", "boolean"))
    assert outcome(questionnaire, answers | {"knowledge": ["none"], "connectives": []}) == AnswerOutcome("entailment")
    assert outcome(questionnaire, {"inference": "neutral", "topic": "no"}) == AnswerOutcome(discard="random hypothesis")


def test_conditions_may_ask_whether_anything_was_written_or_ticked() -> None:
    text = (
        HEAD
        + '[[question]]\nid = "a"\ntext = "A?"\nkind = "several-of"\noptions = ["u", "v"]\n'
        + '[[question]]\nid = "b"\ntext = "B?"\nkind = "text"\nwhen = { a = true }\n'
        + '[[rule]]\nwhen = { a = false }\nlabel = "nothing"\n[[rule]]\nwhen = { b = true }\nlabel = "why"\n'
        + '[[rule]]\nwhen = { a = ["u"] }\nlabel = "u"\n[[rule]]\nlabel = "v"\n'
    )
    questionnaire = parse(text)
    assert questionnaire.by_id["b"].when == {"a": True}
    assert outcome(questionnaire, {"a": []}).label == "nothing"
    assert outcome(questionnaire, {"a": ["v", "u"], "b": " because "}).label == "why"
    assert outcome(questionnaire, {"a": ["v", "u"]}).label == "u"
    assert outcome(questionnaire, {"a": ["v"]}).label == "v"


def test_a_file_of_ones_own_is_read_and_named_after_its_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(HEAD + QUESTION + RULE, encoding="utf-8")
    assert load_questionnaire(path).name == "mine"
    assert load_questionnaire(str(path)).title == "t"


def test_a_name_nobody_knows_is_told_what_there_is(tmp_path: Path) -> None:
    with pytest.raises(
        AcidtestError, match=re.escape("no questionnaire called 'breaking-nil'; did you mean 'breaking-nli'?")
    ):
        load_questionnaire("breaking-nil")
    with pytest.raises(FileError, match=r"none\.toml: there is no such file"):
        load_questionnaire(tmp_path / "none.toml")


def question(**keys: str) -> str:
    written = {"id": '"a"', "text": '"A?"', "kind": '"yes-no"'} | keys
    return HEAD + "[[question]]\n" + "".join(f"{key} = {value}\n" for key, value in written.items() if value) + RULE


def rule(text: str) -> str:
    return HEAD + QUESTION + text


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("schema = ", "is not valid TOML: Invalid value (at end of document)"),
        ('title = "t"\n', "does not state its schema; begin it with schema = 1"),
        ("schema = 2\n", "has schema 2; this acidtest reads up to 1: upgrade acidtest"),
        (HEAD, "has no questions; add a table [[question]]"),
        (HEAD + "question = 5\n", "question: expected a list, got 5"),
        ("schema = 1\n" + QUESTION + RULE, "title: is missing"),
        (HEAD + 'titel = "t"\n' + QUESTION + RULE, "no key called 'titel'; did you mean 'title'?"),
        (HEAD + QUESTION, "has no rules; add a table [[rule]] with label, categories or discard"),
        (question(id=""), 'question 1 has no id; give it a name: id = "same_event"'),
        (
            question(id='"a b"'),
            "question 'a b': the id names a column; write a letter, then letters, digits, _ or -",
        ),
        (
            question(id='"annotator"'),
            "question 'annotator': the id is reserved in files of answers or in conditions; choose another",
        ),
        (
            question(id='"any"'),
            "question 'any': the id is reserved in files of answers or in conditions; choose another",
        ),
        (HEAD + QUESTION + QUESTION + RULE, "question 'a': an earlier question has this id; rename one"),
        (question(text=""), "question 'a'.text: is missing"),
        (question(text='" "'), "question 'a': text is empty; fill it in"),
        (question(text="5"), "question 'a'.text: expected a text, got 5"),
        (question(help="true"), "question 'a'.help: expected a text, got true"),
        (
            question(kind='"yesno"'),
            'question \'a\'.kind: expected "yes-no", "one-of", "several-of" or "text", got "yesno"',
        ),
        (question(kind=""), "question 'a'.kind: is missing"),
        (question(required='"no"'), "question 'a'.required: expected true or false, got \"no\""),
        (question(optoins="[]"), "question 'a': no key called 'optoins'; did you mean 'options'?"),
        (
            question(options='["yes", "no"]'),
            "question 'a': a yes-no question has no options, its answers are yes and no; remove them, "
            "or choose another kind",
        ),
        (
            question(kind='"one-of"'),
            'question \'a\': a one-of question needs two options or more: options = ["…", "…"]',
        ),
        (
            question(kind='"one-of"', options='["u", "U"]'),
            "question 'a': there are two options 'U'; rename one",
        ),
        (
            question(kind='"several-of"', options='["u|v", "w"]'),
            "question 'a': option 1: '|' separates answers in files; choose an id without it",
        ),
        (
            question(kind='"several-of"', options='[5, "w"]'),
            "question 'a': option 1 is neither a text nor a table: [[question.options]] id = \"…\"",
        ),
        (
            question(kind='"one-of"', options='[{ id = "u", exclusive = true }, "w"]'),
            "question 'a': option 1: only options of a several-of question are exclusive; remove the key",
        ),
        (
            question(when='{ b = "yes" }'),
            "question 'a': when: no earlier question called 'b'; there is none",
        ),
        (question(when='"yes"'), "question 'a': when: 'yes' is not a condition; write { question = \"answer\" }"),
        (
            rule('[[rule]]\nwhen = { a = "maybe" }\nlabel = "x"\n'),
            "rule 1: when: 'maybe' is not an answer to 'a'; expected yes or no",
        ),
        (
            rule('[[rule]]\nwhen = { a = true }\nlabel = "x"\n'),
            'rule 1: when: \'a\' is not answered by true or false; write "yes" or "no"',
        ),
        (
            rule('[[rule]]\nwhen = { a = [] }\nlabel = "x"\n'),
            "rule 1: when: 'a' has an empty list, which nothing can match",
        ),
        (
            rule('[[rule]]\nwhen = {}\nlabel = "x"\n'),
            "rule 1: when: the condition is empty; leave the key out where it always holds",
        ),
        (
            rule('[[rule]]\nwhen = { any = { a = "yes" } }\nlabel = "x"\n'),
            "rule 1: when: 'any' takes a list of conditions: any = [{ … }, { … }]",
        ),
        (
            rule('[[rule]]\nwhen = { not = { any = [{ A = "yes" }] } }\nlabel = "x"\n'),
            "rule 1: when: no earlier question called 'A'; there is a",
        ),
        (
            rule('[[rule]]\nwhen = { a = "yes" }\n'),
            'rule 1 has no outcome; write label = "…", categories = ["…"] or discard = "…"',
        ),
        (rule('[[rule]]\nlabel = ""\n'), "rule 1: label is empty; fill it in"),
        (rule('[[rule]]\nlabel = "x"\ndiscard = "y"\n'), "rule 1: discard and label exclude each other; remove one"),
        (
            rule('[[rule]]\nlabel = "x"\nlabel_from = "a"\n'),
            "rule 1: label and label_from exclude each other; remove one",
        ),
        (rule('[[rule]]\nlabel_from = "b"\n'), "rule 1: label_from: no question called 'b'; there is a"),
        (
            rule('[[rule]]\ncategories_from = ["a"]\n'),
            "rule 1: categories_from: 'a' is a yes-no question; expected one-of or several-of",
        ),
        (rule('[[rule]]\ncategories = "x"\n'), 'rule 1.categories: expected a list, got "x"'),
        (rule('[[rule]]\nlable = "x"\n'), "rule 1: no key called 'lable'; did you mean 'label'?"),
        (
            rule(RULE + RULE),
            "rule 1: without 'when' it applies to all answers, so that rule 2 is never reached; put it last",
        ),
        (
            rule(RULE + "[aggregation]\nlabel = 3\n"),
            'aggregation.label: expected "majority", "plurality" or "unanimous", got 3',
        ),
        (
            rule(RULE + '[aggregation]\ndiscard = "one"\n'),
            'aggregation.discard: expected "any", "majority" or "never", got "one"',
        ),
        (
            rule(RULE + "[aggregation]\nfewest = 0\n"),
            "aggregation: fewest = 0 is not a number of people; write 1 or more",
        ),
        (
            rule(RULE + "[aggregation]\nmost = 1\n"),
            "aggregation: no key called 'most'; there is categories, discard, fewest, label",
        ),
        ("aggregation = 1\n" + rule(RULE), "aggregation: expected an object, got 1"),
    ],
)
def test_what_is_wrong_in_a_questionnaire_is_told_with_file_and_place(text: str, problem: str) -> None:
    with pytest.raises(FileError) as caught:
        parse(text)
    assert str(caught.value) == f"q.toml: {problem}"


def test_bytes_that_are_no_text_are_told() -> None:
    with pytest.raises(FileError, match=r"^q\.toml:1: is not UTF-8 text"):
        parse_questionnaire(b"\xff", Path("q.toml"))


@pytest.mark.parametrize(
    ("answers", "problem"),
    [
        (
            {"inference": "true"},
            "question 'inference': 'true' is not an answer; expected entailment, contradiction or neutral",
        ),
        ({}, "question 'inference' has no answer; answer it, or leave this person's answers out"),
        ({"inferences": "neutral"}, "no question called 'inferences'; did you mean 'inference'?"),
        (
            {"inference": "neutral"},
            "question 'topic' has no answer; answer it, or leave this person's answers out",
        ),
        (
            {"inference": "entailment", "needs_more": "no", "topic": "yes"},
            "question 'topic' is not asked after the answers before it; leave it empty",
        ),
        (
            {
                "inference": "entailment",
                "needs_more": "yes",
                "knowledge": ["none", "world"],
                "topic": None,
                "subject": None,
            },
            "question 'knowledge': 'none' and 'world' exclude each other; keep one",
        ),
    ],
)
def test_answers_that_cannot_be_are_told(answers: dict[str, object], problem: str) -> None:
    with pytest.raises(AcidtestError) as caught:
        outcome(parse(TAXINLI), answers)
    assert str(caught.value) == problem
