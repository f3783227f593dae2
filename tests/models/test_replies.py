"""What replies of language models mean, and when they mean nothing."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from acidtest.models.prompts import load_prompt
from acidtest.models.replies import Reply, ReplyToken, TransientError, parse_reply, read_probabilities, read_text

LABELS = load_prompt("labels").arrange((0, 1, 2)).meanings
LETTERS = load_prompt("letters").arrange((0, 1, 2)).meanings
QUESTIONS = load_prompt("questions").arrange((0, 1, 2)).meanings
SUPPORTED = load_prompt("supported").arrange((0, 1)).meanings
TRUTH = load_prompt("truth").arrange((0, 1, 2)).meanings


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("entailment", "entailment"),
        ("  Neutral.\n", "neutral"),
        ("**Contradiction**", "contradiction"),
        ("_neutral_", "neutral"),
        ("The answer is: ENTAILMENT", "entailment"),
        ("The premise contradicts the hypothesis.", "contradiction"),
        ("Entailment. I repeat: entailment.", "entailment"),
        ("<think>neutral? no, contradiction?</think>entailment", "entailment"),
        ("neutral? no, contradiction?</think>\n\nentailment", "entailment"),
    ],
)
def test_a_label_is_found_as_a_whole_word(text: str, label: str) -> None:
    assert read_text(text, LABELS).shares == {label: 1.0}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "no answer"),
        ("I cannot say.", "no answer"),
        ("entailmentish, neutrality", "no answer"),
        ("non-entailment", "no answer"),
        ("entailment or neutral", "several answers"),
        ("It is neutral. Actually, contradiction.", "several answers"),
        ("This is not entailment", "a negated answer"),
        ("There is no contradiction here", "a negated answer"),
        ("It isn't an entailment", "a negated answer"),
        ("entailment rather than neutral", "a negated answer"),
        ("<think>it must be entailment", "no answer"),
    ],
)
def test_anything_else_is_no_answer_and_never_neutral(text: str, problem: str) -> None:
    reading = read_text(text, LABELS)
    assert reading.shares == {}
    assert reading.problem == problem


@pytest.mark.parametrize("text", ["B", "B.", "(B)", "B) It may be true or false", "Answer: B", "**B**", "B\nbecause"])
def test_a_letter_is_an_answer_where_it_stands_as_one(text: str) -> None:
    assert read_text(text, LETTERS).shares == {"neutral": 1.0}


@pytest.mark.parametrize("text", ["A man is there", "b", "A or B.", "Because", "A-flat", "A's"])
def test_a_letter_is_no_answer_where_it_is_a_word_or_one_of_two(text: str) -> None:
    assert read_text(text, LETTERS).shares == {}


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Yes", "entailment"),
        ("No, it says otherwise.", "contradiction"),
        ("Cannot  tell", "neutral"),
        ("One can’t tell.", "neutral"),
    ],
)
def test_words_of_a_question(text: str, label: str) -> None:
    assert read_text(text, QUESTIONS).shares == {label: 1.0}


def test_the_longer_of_two_words_wins() -> None:
    assert read_text("It is not supported.", SUPPORTED).shares == {"non-entailment": 1.0}
    assert read_text("unsupported", SUPPORTED).shares == {"non-entailment": 1.0}


def test_not_true_is_not_taken_for_false() -> None:
    assert read_text("not true", TRUTH).problem == "a negated answer"


def test_odd_capitals_do_not_break_the_parser() -> None:
    assert read_text("contradİction", LABELS).shares == {}


def reply(*tokens: tuple[str, dict[str, float]]) -> Reply:
    found = [ReplyToken(text, tuple((each, math.log(value)) for each, value in top.items())) for text, top in tokens]
    return Reply("".join(text for text, _ in tokens), tuple(found))


def test_probabilities_are_shares_of_the_first_tokens_of_answers() -> None:
    # 0.5 + 0.1 on entailment, 0.2 on contradiction, 0.1 elsewhere and 0.1 beyond the tokens shown.
    top = {"ent": 0.5, " Ent": 0.1, "contr": 0.2, "The": 0.1}
    reading = read_probabilities(reply(("ent", top), ("ailment", {"ailment": 1.0})), LABELS)
    assert reading.shares == pytest.approx({"entailment": 0.75, "neutral": 0.0, "contradiction": 0.25})
    assert reading.unassigned == pytest.approx(0.2)


def test_the_answer_is_looked_for_where_the_text_has_it() -> None:
    found = reply(
        ("Answer", {"Answer": 0.9, "neutral": 0.1}),
        (":", {":": 1.0}),
        (" neutral", {" neutral": 0.7, " ent": 0.3}),
    )
    assert read_probabilities(found, LABELS).shares == pytest.approx(
        {"neutral": 0.7, "entailment": 0.3, "contradiction": 0.0}
    )


def test_markup_and_thoughts_before_the_answer_are_passed_over() -> None:
    thought = [(text, {text: 1.0}) for text in ("<think>", "entailment", "?", "</think>", "\n\n", "**")]
    found = reply(*thought, ("B", {"B": 0.8, "A": 0.2}), ("**", {"**": 1.0}))
    assert read_probabilities(found, LETTERS).shares == pytest.approx(
        {"entailment": 0.2, "neutral": 0.8, "contradiction": 0.0}
    )


def test_raw_tokens_of_a_vocabulary_are_understood() -> None:
    content = {"token": "Ġneutral", "logprob": 0.0, "top_logprobs": [{"token": "Ġneutral", "logprob": 0.0}]}
    assert read_probabilities(parse_reply(chat("neutral", [content])), LABELS).shares["neutral"] == 1.0


def test_a_token_that_begins_two_answers_counts_for_none() -> None:
    found = read_probabilities(
        reply(("un", {"un": 0.5, "supp": 0.25, "u": 0.25})), {"unsure": "neutral", "untrue": "x"}
    )
    assert found.problem == "no answer among the likeliest tokens"
    assert found.unassigned == 1.0


def test_a_reply_without_an_answer_word_is_read_at_its_first_token() -> None:
    reading = read_probabilities(
        reply(("The", {"The": 0.9, "neutral": 0.06, "contr": 0.04}), (" dog", {" dog": 1.0})), LABELS
    )
    assert reading.shares == pytest.approx({"entailment": 0.0, "neutral": 0.6, "contradiction": 0.4})
    assert reading.unassigned == pytest.approx(0.9)


def test_a_negated_answer_is_none_whatever_its_probability() -> None:
    found = reply(("not", {"not": 1.0}), (" entailment", {" entailment": 1.0}))
    assert read_probabilities(found, LABELS).problem == "a negated answer"


def test_several_answers_count_only_when_the_reply_begins_with_one() -> None:
    wavering = reply(("Maybe", {"Maybe": 1.0}), (" neutral", {" neutral": 1.0}), (" entailment", {" entailment": 1.0}))
    rambling = reply(("neutral", {"neutral": 1.0}), ("\n", {"\n": 1.0}), ("entailment", {"entailment": 1.0}))
    assert read_probabilities(wavering, LABELS).problem == "several answers"
    assert read_probabilities(rambling, LABELS).shares["neutral"] == 1.0


def test_a_reply_of_nothing_has_no_answer() -> None:
    assert read_probabilities(reply(("\n", {"\n": 1.0})), LABELS).problem == "no answer"


def chat(text: str | None, logprobs: list[dict[str, Any]] | None = None, **more: Any) -> bytes:
    choice = {"message": {"content": text}, "logprobs": {"content": logprobs} if logprobs else None, **more}
    return json.dumps({"choices": [choice], "usage": {"prompt_tokens": 7, "completion_tokens": 2}}).encode()


def test_a_chat_is_read_with_its_counts() -> None:
    found = parse_reply(chat("neutral", finish_reason="stop"))
    assert (found.text, found.tokens, found.finish) == ("neutral", None, "stop")
    assert (found.prompt_tokens, found.completion_tokens) == (7, 2)


def test_an_older_completion_is_read_with_its_tokens() -> None:
    logprobs = {"tokens": [" yes"], "token_logprobs": [-0.1], "top_logprobs": [{" yes": -0.1, " no": -2.4}]}
    found = parse_reply(json.dumps({"choices": [{"text": " yes", "logprobs": logprobs}]}).encode())
    assert found.tokens == (ReplyToken(" yes", ((" yes", -0.1), (" no", -2.4))),)
    assert found.prompt_tokens is None


def test_a_drawn_token_outside_the_likeliest_stands_by_itself() -> None:
    found = parse_reply(chat("x", [{"token": "x", "logprob": -5.0, "top_logprobs": [{"token": "y", "logprob": -0.1}]}]))
    assert found.tokens == (ReplyToken("x", (("y", -0.1), ("x", -5.0))),)


@pytest.mark.parametrize(
    "content",
    [chat(None, finish_reason="content_filter"), json.dumps({"choices": [{"message": {"refusal": "no"}}]}).encode()],
)
def test_what_is_filtered_or_refused_is_marked(content: bytes) -> None:
    assert parse_reply(content).refused


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xff\xfe", "not UTF-8"),
        (b'{"choices": [', "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"[]", "no choices"),
        (b'{"choices": []}', "0 choices"),
        (b'{"choices": [{"text": "a"}, {"text": "b"}]}', "2 choices"),
        (b'{"choices": ["a"]}', "1 choices"),
        (b'{"choices": [{}]}', "without text"),
        (b'{"choices": [{"text": 3}]}', "without text"),
        (b'{"choices": [{"text": "a", "logprobs": {"content": [{"logprob": 1}]}}]}', "cannot be read"),
        (b'{"choices": [{"text": "a", "logprobs": {"content": [{"token": "a", "logprob": NaN}]}}]}', "cannot be read"),
        (b'{"choices": [{"text": "a", "logprobs": {"tokens": ["a"], "top_logprobs": []}}]}', "cannot be read"),
    ],
)
def test_what_the_protocol_does_not_say_is_malformed(content: bytes, message: str) -> None:
    with pytest.raises(TransientError, match=message):
        parse_reply(content)


def candidates(**values: float) -> list[dict[str, Any]]:
    """One token, the first of these, with these candidates."""
    top = [{"token": token, "logprob": value} for token, value in values.items()]
    return [{**top[0], "top_logprobs": top}]


@pytest.mark.parametrize(
    ("logprobs", "problem"),
    [
        # Raw scores of a server that takes no softmax.
        (candidates(neutral=21.5, ent=12.0, contr=3.25), "a log-probability of 21.5, which is above 0"),
        (candidates(neutral=-0.1, ent=0.01), "a log-probability of 0.01, which is above 0"),
        (candidates(neutral=math.inf), "a log-probability of inf, which is above 0"),
        ([{"token": "neutral", "logprob": 2.0}], "a log-probability of 2, which is above 0"),
        # exp(-0.1) + exp(-0.2) + exp(-0.3) = 0.905 + 0.819 + 0.741
        (candidates(neutral=-0.1, ent=-0.2, contr=-0.3), "log-probabilities whose probabilities sum to 2.46"),
        (candidates(neutral=-0.1, ent=math.nan), "log-probabilities that cannot be read"),
        (candidates(neutral=-0.1, ent="x"), "log-probabilities that cannot be read"),  # type: ignore[arg-type]
        (candidates(entailment=-0.1), "log-probabilities of another text .'entailment'. than it sends .'neutral'."),
    ],
)
def test_numbers_that_are_no_probabilities_of_the_text_are_malformed(
    logprobs: list[dict[str, Any]], problem: str
) -> None:
    with pytest.raises(TransientError, match=problem) as caught:
        parse_reply(chat("neutral", logprobs))
    assert caught.value.advice == "--answers text does without them"


def test_raw_scores_in_the_older_layout_are_malformed() -> None:
    logprobs = {"tokens": ["yes"], "token_logprobs": [21.5], "top_logprobs": [{"yes": 21.5, "no": 12.0}]}
    with pytest.raises(TransientError, match="which is above 0"):
        parse_reply(json.dumps({"choices": [{"text": "yes", "logprobs": logprobs}]}).encode())


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("neutral", ["Ġneutral", "<|im_end|>"]),
        ("neutral", ["<think>", "entailment?", "</think>", "neutral"]),
        ("neutral because it may be", ["neutral"]),
        ("**Neutral**.", ["**", "Neutral", "**", "."]),
        ("naïve", ["na", "\ufffd", "\ufffd", "ve"]),
        ("naïve", ["na", "bytes:\\xc3", "bytes:\\xaf", "ve"]),
        ("naïve", ["na", "<0xC3>", "<0xAF>", "ve"]),
        ("", ["neutral"]),
        ("neutral", ["\n"]),
    ],
)
def test_tokens_that_servers_write_otherwise_than_the_text_are_the_same_text(text: str, tokens: list[str]) -> None:
    logprobs = [{"token": token, "logprob": -0.1} for token in tokens]
    assert len(parse_reply(chat(text, logprobs)).tokens or ()) == len(tokens)


def test_roundings_of_probabilities_are_no_harm() -> None:
    assert parse_reply(chat("neutral", candidates(neutral=1e-7, ent=-5.0, contr=-math.inf))).tokens
