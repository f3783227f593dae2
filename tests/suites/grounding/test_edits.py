"""The suite ``grounding/claims``: documents and claims of the starter corpus or of a file."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import polars as pl
import pytest

from acidtest import api
from acidtest.io.wordlists import packaged_table
from acidtest.suites.grounding import document_sentences
from acidtest.workflows.batteries import STANDARD

REGISTERS = ["chat", "encyclopedia", "finance", "medical", "news", "policy"]


@cache
def generated() -> pl.DataFrame:
    return api.generate("grounding/claims").frame.collect()


def only(**values: str) -> dict[str, object]:
    rows = generated().filter(**values)
    assert rows.height == 1
    return rows.row(0, named=True)


def test_a_claim_stands_against_its_whole_document() -> None:
    row = only(source_id="encyclopedia-01/2")
    claim = "Alba Renwick measured the greatest depth of Lake Ondrell, 167 feet, in 1934."
    assert (row["hypothesis"], row["label"], row["reason"]) == (claim, "contradiction", "unit")
    assert (row["group"], row["document"]) == ("encyclopedia-01", "encyclopedia-01")
    assert (row["register"], row["facts"], row["certainty"]) == ("encyclopedia", "invented", "human")
    assert row["original"] == "Alba Renwick measured the greatest depth of Lake Ondrell, 167 metres, in 1934."
    sentences = packaged_table("grounding/documents.tsv").filter(document="encyclopedia-01")["sentence"]
    assert row["premise"] == " ".join(sentences)
    assert row["document_words"] == len(" ".join(sentences).split())


def test_documents_about_the_world_are_marked() -> None:
    row = only(hypothesis="Pluto is classified as a dwarf planet.")
    assert (row["facts"], row["label"], row["reason"], row["evidence"]) == ("real", "neutral", "knowledge", None)
    worlds = generated().group_by("register").agg(pl.col("document").filter(facts="real").n_unique())
    assert dict(worlds.iter_rows()) == dict.fromkeys(REGISTERS, 2)


def test_evidence_lies_where_the_last_sentence_does_that_is_needed() -> None:
    sentences = document_sentences().filter(document="news-01")
    assert (sentences["begin"][0], sentences["end"][-1]) == (0.0, 1.0)
    # Of 415 words, sentences 3 and 6 lie before word 138, 15 before word 277, and 18 to 20 after it.
    numbers = (
        pl.col("evidence")
        .str.split("\n")
        .list.eval(pl.element().replace_strict(sentences["sentence"], sentences["number"]).cast(pl.String))
    )
    places = generated().filter(document="news-01").select(numbers.list.join(" "), "evidence_place")
    assert dict(places.iter_rows()) == {"3": "start", "4": "start", "6": "start", "15": "middle"} | {
        "18": "end",
        "19 20": "end",
    }
    assert generated().filter(pl.col("evidence").is_null() != pl.col("evidence_place").is_null()).is_empty()


def test_a_third_of_the_claims_is_not_supported_for_fourteen_reasons_in_every_register() -> None:
    counts = generated().group_by("register", "reason").len()
    assert counts.filter(pl.col("len") < 2).is_empty()
    assert counts.height == len(REGISTERS) * 15
    assert counts.filter(reason="supported")["len"].to_list() == [78] * 6
    assert generated().filter((pl.col("label") == "entailment") != (pl.col("reason") == "supported")).is_empty()


def test_the_original_of_a_changed_claim_is_a_supported_claim_of_the_same_document() -> None:
    supported = generated().filter(label="entailment").select("document", original="hypothesis")
    changed = generated().drop_nulls("original")
    assert changed.height == 210
    assert changed.join(supported, on=["document", "original"], how="anti").is_empty()


def test_documents_have_120_to_600_words_and_are_numbered_without_gaps() -> None:
    assert generated()["document_words"].is_between(120, 600).all()
    numbers = document_sentences().group_by("document").agg("number")["number"]
    assert len(numbers) == 66
    assert all(column.to_list() == list(range(1, len(column) + 1)) for column in numbers)


def test_claims_of_a_file_are_taken_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "my_claims.jsonl"
    rows = [
        {"document": "The ferry left at six.", "claim": "The ferry left.", "label": "entailment", "topic": "sea"},
        {"document": "The ferry left at six.", "claim": "The ferry was full.", "label": "neutral", "topic": "sea"},
        {"document": "Two mills burned.", "claim": "Three mills burned.", "label": "contradiction", "topic": "fire"},
    ]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    suite = api.generate("grounding/claims", source=path)
    frame = suite.frame.collect()
    assert frame.select("premise", "hypothesis", "label", "topic", "document_words").rows() == [
        ("The ferry left at six.", "The ferry left.", "entailment", "sea", 5.0),
        ("The ferry left at six.", "The ferry was full.", "neutral", "sea", 5.0),
        ("Two mills burned.", "Three mills burned.", "contradiction", "fire", 3.0),
    ]
    assert frame["group"].n_unique() == 2
    assert frame["certainty"].to_list() == [None] * 3
    assert suite.card.columns == {"topic": "factor", "document_words": "covariate"}
    assert (suite.card.note, suite.card.citation) == (
        "Claims, each with the whole document that supports it, denies it or does not say it",
        "",
    )


def test_claims_without_labels_are_asked_and_never_called_right_or_wrong(tmp_path: Path) -> None:
    path = tmp_path / "claims.jsonl"
    path.write_text('{"document": "Two mills burned.", "claim": "A mill burned."}\n', encoding="utf-8")
    suite = api.generate("grounding/claims", source=path)
    assert suite.frame.collect()["label"].to_list() == ["any"]
    overall = api.run("baseline:overlap", [suite], output=tmp_path / "run", page=False).results["suites"][suite.name][
        "overall"
    ]
    assert overall["value"] is None
    assert overall["note"] == "no row has gold: every answer would be right"


def test_the_page_counts_the_reasons_as_they_are() -> None:
    page = (Path(__file__).parents[3] / "docs" / "explanation" / "grounding.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1:4] for line in page.splitlines() if re.match(r"\| `\w+`.*\| [\d, ]+ \|$", line)]
    listed = {name: int(count) for names, _, counts in rows for name, count in zip_counts(names, counts)}
    counts = generated().filter(pl.col("reason") != "supported").group_by("reason").len()
    assert listed == dict(counts.iter_rows())


def zip_counts(names: str, counts: str) -> list[tuple[str, str]]:
    return list(zip(re.findall(r"`(\w+)`", names), re.findall(r"\d+", counts), strict=True))


def test_calling_every_claim_supported_is_right_on_two_thirds_and_on_no_reason(tmp_path: Path) -> None:
    finished = api.run("baseline:majority:entailment", ["grounding/claims"], output=tmp_path / "run", page=False)
    results = finished.results["suites"]["grounding/claims"]
    assert results["overall"]["value"] == pytest.approx(2 / 3)
    by_reason = {reason: estimate["value"] for reason, estimate in results["by"]["reason"].items()}
    assert by_reason.pop("supported") == 1.0
    assert set(by_reason.values()) == {0.0}
    assert set(results["by"]["evidence_place"]) == {"start", "middle", "end"}


def test_the_standard_battery_does_without_it() -> None:
    assert not [name for name in STANDARD if name.startswith("grounding")]


def test_the_claims_of_the_first_documents_stay_as_they_are(golden: Callable[[str, str], None]) -> None:
    columns = ["source_id", "label", "reason", "evidence_place", "evidence", "document_words", "hypothesis"]
    first = generated().filter(pl.col("document").str.contains("-01$|-11w$")).select(columns)
    first = first.with_columns(pl.col("evidence").str.replace_all("\n", " / "))
    text = first.write_csv(separator="\t", quote_style="never")
    golden("grounding_claims.tsv", f"{api.generate('grounding/claims').card.signature}\n{text}")
