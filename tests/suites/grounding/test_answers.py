"""Claims files with questions, refusals and courtesies, as the suites ``grounding/…`` take them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from acidtest import api
from acidtest.core.errors import NothingToMakeError
from acidtest.suites.sample import limit_rows

MILL = "The mill of Harrow had 40 workers when it closed in the spring of 1931."


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Write claims about the mill as JSON lines."""

    def write_rows(*rows: dict[str, str]) -> Path:
        path = tmp_path / "claims.jsonl"
        lines = [json.dumps({"document": MILL, "label": "entailment", **row}) for row in rows]
        path.write_text("\n".join(lines), encoding="utf-8", newline="\n")
        return path

    return write_rows


def test_rows_without_a_claim_are_left_out_and_counted(write) -> None:
    path = write(
        {"claim": "The mill had 40 workers."},
        {"claim": "I'm sorry, but I cannot answer this question."},
        {"claim": "I don't know. Let me know if you need anything else."},
        {"claim": "Would you like to know more?"},
    )
    suite = api.generate("grounding/claims", source=path)
    assert suite.frame.collect()["hypothesis"].to_list() == ["The mill had 40 workers."]
    assert suite.card.left_out == {"with a refusal instead of a claim": 2, "with a question instead of a claim": 1}
    edited = api.generate("grounding/number", source=path)
    assert edited.control is not None
    assert edited.control.frame.collect()["hypothesis"].to_list() == ["The mill had 40 workers."]
    assert edited.card.left_out["with a refusal instead of a claim"] == 2


def test_a_short_answer_claims_something_unless_it_refuses(write) -> None:
    path = write(
        {"question": "Did the mill close?", "claim": "Certainly."},
        {"question": "Did the mill close?", "claim": "I don't know."},
    )
    suite = api.generate("grounding/claims", source=path)
    assert suite.frame.collect()["hypothesis"].to_list() == ["Question: Did the mill close? Answer: Certainly."]
    assert suite.card.left_out == {"with a refusal instead of a claim": 1}


def test_of_a_short_answer_its_question_is_not_edited(write) -> None:
    path = write({"question": "How many of the 90 people in Harrow worked there?", "claim": "40 workers"})
    suite = api.generate("grounding/number", source=path)
    row = suite.frame.collect().row(0, named=True)
    prefix = "Question: How many of the 90 people in Harrow worked there? Answer: "
    old, new = row["change"].split(" → ")
    assert (old, row["hypothesis"], row["label"]) == ("40", f"{prefix}{new} workers", "contradiction")
    assert row["question"] == "How many of the 90 people in Harrow worked there?"
    assert suite.control is not None
    assert suite.control.frame.collect()["hypothesis"].to_list() == [f"{prefix}40 workers"]


def test_sentences_of_a_response_that_claim_nothing_are_not_asked(write) -> None:
    text = "Sure! The mill closed in 1931. It had 40 workers. Let me know if you need anything else."
    rows = api.generate("grounding/answers", source=write({"response": text})).frame.collect()
    sentences = rows.filter(level="sentence")["hypothesis"].to_list()
    assert sentences == ["The mill closed in 1931.", "It had 40 workers."]
    assert rows.filter(level="response")["hypothesis"].to_list() == [text]


def test_a_response_of_one_sentence_is_left_out_and_the_card_says_so(write) -> None:
    path = write({"response": "The mill closed in 1931. It had 40 workers."}, {"response": "The mill had 40 workers."})
    card = api.generate("grounding/answers", source=path).card.to_json()
    assert json.loads(json.dumps(card["left_out"])) == {"of one sentence": 1}


def test_a_short_answer_is_not_split_from_its_question(write) -> None:
    path = write(
        {"question": "When did the mill close?", "response": "1931"},
        {"question": "When did the mill close?", "response": "The mill closed in 1931. It had 40 workers."},
    )
    suite = api.generate("grounding/answers", source=path)
    sentences = ["The mill closed in 1931.", "It had 40 workers."]
    assert suite.frame.collect()["hypothesis"].to_list() == [" ".join(sentences), *sentences]
    assert suite.card.left_out == {"of one sentence": 1}


def test_claims_without_gold_are_made_false_only_where_one_sentence_states_them(tmp_path: Path) -> None:
    path = tmp_path / "claims.jsonl"
    claims = ("The mill of Harrow had 40 workers.", "The mill of Harrow had 52 workers.")
    rows = [json.dumps({"document": MILL, "claim": claim}) for claim in claims]
    path.write_text("\n".join(rows), encoding="utf-8", newline="\n")
    suite = api.generate("grounding/partial", source=path)
    (row,) = suite.frame.collect().iter_rows(named=True)
    assert (row["hypothesis"][:33], row["label"]) == ("The mill of Harrow had 40 workers", "any")
    assert suite.card.left_out == {"no gold and no single evidence sentence": 1}


@pytest.mark.parametrize(
    ("name", "claim"),
    [
        ("negation", "The mill of Harrow closed in the spring of 1931."),
        ("trend", "Sales rose in 1931."),
        ("role", "Halden sued Orsolo."),
    ],
)
def test_claims_without_gold_are_not_turned_into_their_opposite(tmp_path: Path, name: str, claim: str) -> None:
    path = tmp_path / "claims.jsonl"
    path.write_text(json.dumps({"document": f"{claim} It rained.", "claim": claim}), encoding="utf-8", newline="\n")
    with pytest.raises(NothingToMakeError, match=r"left out: 1 no gold\b"):
        api.generate(f"grounding/{name}", source=path)


def test_a_limit_keeps_the_sentences_of_a_response_together() -> None:
    whole = api.generate("grounding/answers")
    counts = dict(whole.frame.collect()["response"].value_counts().iter_rows())
    sample = limit_rows(whole, 100, 0).frame.collect()
    assert 100 <= sample.height < 112
    assert all(counts[response] == count for response, count in sample["response"].value_counts().iter_rows())
