"""The suite ``grounding/answers``: responses of several sentences, whole and sentence by sentence."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import polars as pl

from acidtest import api
from acidtest.suites.grounding import starter_claims


@cache
def generated() -> pl.DataFrame:
    return api.generate("grounding/answers").frame.collect()


def test_a_response_is_its_sentences_in_order() -> None:
    for rows in generated().partition_by("response"):
        whole, parts = rows.filter(level="response"), rows.filter(level="sentence").sort("sentence")
        assert whole.height == 1
        assert whole["hypothesis"][0] == " ".join(parts["hypothesis"])
        assert parts["sentence"].to_list() == [float(number) for number in range(1, parts.height + 1)]
        assert 3 <= parts.height <= 5


def test_one_sentence_is_unsupported_where_the_response_is() -> None:
    for rows in generated().partition_by("response"):
        number = rows["unsupported"][0]
        whole, parts = rows.filter(level="response"), rows.filter(level="sentence")
        assert whole["label"][0] == ("non-entailment" if number else "entailment")
        flawed = parts.filter(label="non-entailment")["sentence"].to_list()
        assert flawed == ([number] if number else [])


def test_each_flawed_response_has_a_twin_that_differs_in_one_sentence() -> None:
    originals = dict(starter_claims().frame.select("hypothesis", "original").collect().drop_nulls().iter_rows())
    texts = {response: rows for (response,), rows in generated().filter(level="sentence").group_by("response")}
    flawed = [response for response in texts if response.endswith("-one")]
    assert len(flawed) == 210
    for response in flawed:
        ours = texts[response].sort("sentence")["hypothesis"].to_list()
        twin = texts[response.removesuffix("one") + "none"].sort("sentence")["hypothesis"].to_list()
        differing = [pair for pair in zip(ours, twin, strict=True) if pair[0] != pair[1]]
        assert differing == [(differing[0][0], originals[differing[0][0]])]


def test_sentences_have_the_gold_of_the_claims_they_are() -> None:
    gold = starter_claims().frame.select("premise", "hypothesis", supported=pl.col("label") == "entailment").collect()
    rows = generated().filter(level="sentence").join(gold, on=["premise", "hypothesis"])
    assert rows.height == generated().filter(level="sentence").height
    assert ((rows["label"] == "entailment") == rows["supported"]).all()


def test_every_place_of_a_response_can_be_the_unsupported_one() -> None:
    places = generated().filter(level="response", kind="one unsupported").select("sentences", "unsupported").unique()
    assert sorted(places.rows()) == [(float(size), float(n)) for size in (3, 4, 5) for n in range(1, size + 1)]


def test_responses_of_a_file_keep_their_gold_and_their_sentences_have_none(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    rows = [
        {"context": "Two mills burned.", "response": "A mill burned. So did Lund.", "label": "non-entailment"},
        {"context": "Two mills burned.", "response": "A mill burned. It was one of two.", "label": "entailment"},
        {"context": "Two mills burned.", "response": "A mill burned.", "label": "entailment"},
    ]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    suite = api.generate("grounding/answers", source=path)
    columns = ["hypothesis", "label", "level", "kind", "sentence", "sentences", "unsupported"]
    assert suite.frame.collect().select(columns).rows() == [
        ("A mill burned. So did Lund.", "non-entailment", "response", "not all supported", None, 2.0, None),
        ("A mill burned.", "any", "sentence", "not all supported", 1.0, 2.0, None),
        ("So did Lund.", "any", "sentence", "not all supported", 2.0, 2.0, None),
        ("A mill burned. It was one of two.", "entailment", "response", "all supported", None, 2.0, 0.0),
        ("A mill burned.", "any", "sentence", "all supported", 1.0, 2.0, 0.0),
        ("It was one of two.", "any", "sentence", "all supported", 2.0, 2.0, 0.0),
    ]
    assert dict(suite.card.left_out) == {"of one sentence": 1}
    assert suite.frame.collect()["response"].n_unique() == 2


def test_n_is_a_number_of_unsupported_claims() -> None:
    rows = api.generate("grounding/answers", n=5).frame.collect()
    assert rows.filter(level="response").height == 10
