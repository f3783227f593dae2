"""The suite ``grounding/padding``: unrelated documents before and after that of a claim."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import polars as pl
import pytest

from acidtest import api
from acidtest.core.errors import AcidtestError
from acidtest.suites.grounding import starter_claims
from acidtest.suites.grounding.padding import CompanionDocuments


@cache
def padded() -> pl.DataFrame:
    suite = api.generate("grounding/padding")
    assert suite.control is not None
    control = suite.control.frame.select(base_id="id", old="premise", gold="label").collect()
    return suite.frame.collect().join(control, on="base_id")


def companions(*texts: str) -> CompanionDocuments:
    return CompanionDocuments.of(pl.DataFrame({"premise": texts}).with_columns(register=pl.lit(""), is_spare=False))


def test_the_document_stands_at_its_place_among_whole_documents_of_other_registers() -> None:
    register_of = dict(starter_claims().frame.select("premise", "register").collect().iter_rows())
    for text, old, place, count, register in padded().select("premise", "old", "place", "documents", "register").rows():
        documents = text.split("\n\n")
        assert len(documents) == count
        assert len(set(documents)) == count
        others = [document for document in documents if document != old]
        assert register not in {register_of[document] for document in others}
        position = {"start": 0, "middle": len(documents) // 2, "end": len(documents) - 1}[place]
        assert documents[position] == old


def test_gold_is_kept_and_every_length_and_place_is_drawn() -> None:
    assert (padded()["label"] == padded()["gold"]).all()
    cells = padded().group_by("kind", "place").len()
    assert cells.height == 15
    assert cells["len"].min() > 15


def test_the_whole_is_about_as_long_as_asked_for() -> None:
    words = pl.col("premise").str.count_matches(r"\S+")
    times = pl.col("kind").str.extract(r"(\d+)").cast(pl.Float64)
    ratios = padded().select(times=times, ratio=words / pl.col("old").str.count_matches(r"\S+"))
    bounds = ratios.group_by("times").agg(mean=pl.col("ratio").mean())
    assert all(abs(mean / asked - 1) < 0.15 for asked, mean in bounds.iter_rows())
    assert padded().select((words == pl.col("document_words")).all()).item()


def test_a_document_with_a_name_a_definite_a_counted_noun_or_many_words_of_the_claim_is_not_added() -> None:
    claim = "Ola Brand sold 14 boats to the brewery."
    texts = (
        "Snow fell in Lund.",
        "Ola skis.",
        "Every brewery was shut.",
        "We saw 14 boats.",
        "Mills sold boats by the dozen.",
        "The 14 miners slept.",
    )
    assert companions(*texts).unrelated(claim, "", "").tolist() == [0, 4, 5]
    assert companions(*texts).unrelated(claim, texts[0], "").tolist() == [4, 5]
    # Without a name in the claim, a third of its words is too much.
    assert companions(*texts).unrelated("Brewers sold boats.", "", "").tolist() == [0, 1, 5]


def test_claims_that_other_documents_could_bear_on_are_left_out(tmp_path: Path) -> None:
    documents = [f"Mill {number} in Lund burned down in spring." for number in range(8)]
    rows = [{"document": text, "claim": "Ola Brand danced.", "label": "neutral"} for text in documents]
    rows.append({"document": documents[0], "claim": "Nobody danced.", "label": "neutral"})
    rows.append({"document": documents[0], "claim": "She danced.", "label": "neutral"})
    rows.append({"document": "They burned down.", "claim": "Ola Brand danced.", "label": "neutral"})
    path = tmp_path / "claims.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    suite = api.generate("grounding/padding", source=path, arguments={"times": "4"})
    assert dict(suite.card.left_out) == {
        "speaks of everything": 1,
        "refers to a text before": 1,
        "document refers to a text before": 1,
    }
    frame = suite.frame.collect()
    assert frame.height == 8
    assert set(frame["kind"]) == {"4 times"}
    assert all(set(text.split("\n\n")) <= set(documents) for text in frame["premise"])
    assert set(frame["documents"]) == {4.0}


def test_a_small_file_borrows_documents_of_the_starter_corpus(tmp_path: Path) -> None:
    path = tmp_path / "claims.jsonl"
    row = {"document": "Mill 9 in Lund burned down.", "claim": "Mill 9 burned.", "label": "entailment"}
    path.write_text(f"{json.dumps(row)}\n", encoding="utf-8")
    frame = api.generate("grounding/padding", source=path, arguments={"times": "32"}).frame.collect()
    starter = set(starter_claims().frame.collect()["premise"])
    others = [text for text in frame["premise"][0].split("\n\n") if text != row["document"]]
    assert others
    assert set(others) <= starter


def test_only_the_columns_asked_for_are_made() -> None:
    frame = api.generate("grounding/padding").frame
    assert frame.select("kind", "documents").collect().height == padded().height


@pytest.mark.parametrize("times", ["1", "two", "2+", "5000"])
def test_times_are_whole_numbers_from_two(times: str) -> None:
    with pytest.raises(AcidtestError, match=r"--times are whole numbers from 2 to 1,000, such as 2\+8\+32"):
        api.generate("grounding/padding", arguments={"times": times})
