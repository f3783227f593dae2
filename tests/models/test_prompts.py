"""Prompts in TOML files: what a model is sent, and what is wrong in a file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from acidtest.core.errors import AcidtestError
from acidtest.core.model import model_options
from acidtest.models.prompts import Prompt, answer_orders, load_prompt, packaged_prompts, parse_prompt

MINIMAL = """
schema = 1
title = "t"
user = "{premise} => {hypothesis}"
[[answer]]
label = "entailment"
words = ["yes"]
[[answer]]
label = "neutral"
words = ["perhaps"]
[[answer]]
label = "contradiction"
words = ["no"]
"""


def prompt(text: str = MINIMAL) -> Prompt:
    return parse_prompt(text.encode(), Path("mine.toml"))


def test_the_letters_prompt_reads_as_written() -> None:
    asked = load_prompt("letters").arrange((0, 1, 2)).messages("It rains.", "It is wet.")
    assert [message["role"] for message in asked] == ["system", "user"]
    assert asked[1]["content"] == (
        "Premise: It rains.\nHypothesis: It is wet.\n\nSuppose that the premise is true. What of the hypothesis?\n"
        "A. It is true\nB. It may be true or false\nC. It is false\n\nAnswer with A, B or C."
    )


def test_another_order_gives_letters_another_meaning() -> None:
    arranged = load_prompt("letters").arrange((2, 0, 1))
    assert arranged.meanings == {"A": "contradiction", "B": "entailment", "C": "neutral"}
    assert "A. It is false\nB. It is true\nC. It may be true or false" in arranged.messages("p", "h")[1]["content"]


def test_another_order_lists_words_anew_but_leaves_their_meaning() -> None:
    arranged = load_prompt("questions").arrange((2, 1, 0))
    assert arranged.messages("p", "h")[1]["content"].endswith("Answer with cannot tell, no or yes.")
    assert arranged.meanings["yes"] == "entailment"


def test_braces_in_a_sentence_are_letters_like_others() -> None:
    asked = prompt().arrange((0, 1, 2)).messages("{hypothesis} {0} {x!r} %s", "{premise}{options}")
    assert asked[0]["content"] == "{hypothesis} {0} {x!r} %s => {premise}{options}"


def test_braces_of_a_template_that_are_no_placeholder_stay() -> None:
    text = MINIMAL.replace("{premise} =>", '{\\"p\\": {premise}} =>')
    assert prompt(text).arrange((0, 1, 2)).messages("a", "b")[0]["content"] == '{"p": a} => b'


def test_examples_are_earlier_turns_of_a_chat() -> None:
    asked = load_prompt("few-shot").arrange((0, 1, 2)).messages("p", "h")
    assert [message["role"] for message in asked] == ["system", *["user", "assistant"] * 6, "user"]
    assert asked[2]["content"] == "entailment"


def test_the_grounding_prompt_leaves_the_line_of_a_question_out_where_there_is_none() -> None:
    arranged = load_prompt("grounding").arrange((0, 1, 2))
    asked = arranged.messages("The mill closed in 1931.", "The mill closed.")[1]["content"]
    assert asked.startswith("Document: The mill closed in 1931.\n\nClaim: The mill closed.\n\nDoes the document")
    assert asked.endswith("Answer with supported, not supported or cannot tell.")
    assert arranged.messages("p", "It closed in 1931.", "When?")[1]["content"].startswith(
        "Document: p\n\nQuestion: When?\nClaim: It closed in 1931.\n"
    )


def test_a_completion_ends_where_the_answer_begins() -> None:
    text = load_prompt("few-shot").arrange((0, 1, 2)).text("p", "h")
    assert text.endswith("Premise: p\nHypothesis: h\nIs this entailment, neutral or contradiction?\nAnswer:")
    assert "Answer: neutral\n\nPremise:" in text


@pytest.mark.parametrize("name", packaged_prompts())
def test_every_packaged_prompt_shows_both_sentences_and_every_answer(name: str) -> None:
    found = load_prompt(name)
    for order in answer_orders(found, 2):
        arranged = found.arrange(order)
        sent = arranged.messages("the first text", "the second text")[-1]["content"]
        assert "the first text" in sent
        assert "the second text" in sent
        assert all(answer.words[0] in sent for answer in arranged.answers)
        assert found.title


def test_the_first_orders_put_each_answer_first_once() -> None:
    assert answer_orders(prompt(), 3) == [(0, 1, 2), (1, 2, 0), (2, 0, 1)]
    assert sorted(answer_orders(prompt(), 6)) == [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)]
    assert answer_orders(load_prompt("supported"), 2) == [(0, 1), (1, 0)]


@pytest.mark.parametrize("number", [0, 7])
def test_more_orders_than_there_are_is_a_mistake(number: int) -> None:
    with pytest.raises(AcidtestError, match=f"has 6 orders of its answers; --orders {number} is not"):
        answer_orders(prompt(), number)


def test_prompts_with_other_words_are_other_prompts() -> None:
    assert prompt().content != prompt(MINIMAL.replace("perhaps", "maybe")).content
    assert prompt().content == prompt(MINIMAL.replace('title = "t"', 'title = "u"')).content


def test_a_misspelt_name_is_told_the_nearest() -> None:
    with pytest.raises(AcidtestError, match="no prompt called 'lables'; did you mean 'labels'"):
        load_prompt("lables")


def test_a_file_that_is_not_there_is_named() -> None:
    with pytest.raises(AcidtestError, match=r"nowhere\.toml: there is no such file"):
        load_prompt("nowhere.toml")


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("schema = 1", "", "begin it with schema = 1"),
        ("schema = 1", "schema = 2", "has schema 2"),
        ("{premise}", "{premis}", "user: no placeholder called 'premis'; did you mean 'premise'"),
        ("{hypothesis}", "it", "user does not say where the hypothesis goes"),
        ('title = "t"', "title = 3", "title: expected"),
        ('title = "t"', 'titel = "t"', "no key called 'titel'; did you mean 'title'"),
        ('label = "neutral"', 'label = "nutral"', "answer 2: label 'nutral' is not"),
        ('label = "neutral"', 'label = "entailment"', "has answers for contradiction, entailment, entailment"),
        ('words = ["no"]', 'words = ["YES"]', "the word 'yes' stands there twice"),
        ('words = ["no"]', "words = []", "answer 3: says no words that mean contradiction"),
        ('words = ["no"]', 'words = "no"', r"answer\[2\]\.words: expected a list"),
        ('title = "t"', 'symbols = ["A"]', "answer 1: symbols and words exclude each other"),
        ('title = "t"', "title = ", "is not valid TOML"),
    ],
)
def test_what_is_wrong_in_a_file_is_told_with_its_place(old: str, new: str, told: str) -> None:
    with pytest.raises(AcidtestError, match=told) as caught:
        prompt(MINIMAL.replace(old, new, 1))
    assert str(caught.value).startswith("mine.toml: ")


DOCS = Path(__file__).parents[2] / "docs"


def test_a_prompt_abstains_with_one_answer_at_most() -> None:
    abstention = '[[answer]]\nlabel = "abstain"\nwords = ["{}"]\n'
    once = MINIMAL + abstention.format("pass")
    assert prompt(once).resolution == "three-way"
    with pytest.raises(AcidtestError, match="has 2 answers with label 'abstain'; write one, with all its words"):
        prompt(once + abstention.format("skip"))


def test_the_file_shown_in_the_docs_can_be_read() -> None:
    page = (DOCS / "reference" / "files.md").read_text(encoding="utf-8")
    shown = prompt(page.partition("## Prompts")[2].partition("```toml\n")[2].partition("```")[0])
    assert shown.arrange((0, 1)).messages("p", "h")[-1]["content"] == (
        "Text: p\nDoes this follow: h\n- yes: it follows\n- no: it does not"
    )


def test_the_docs_name_every_packaged_prompt_and_every_option() -> None:
    page = (DOCS / "how-to" / "llm.md").read_text(encoding="utf-8")
    assert [name for name in packaged_prompts() if not re.search(rf"`(--prompt )?{name}`", page)] == []
    options = (DOCS / "reference" / "models.md").read_text(encoding="utf-8").partition("## `endpoint`")[2]
    assert [name for name, option in model_options("endpoint:").items() if f"`{option.flag}`" not in options] == []
