"""Suite ``taxonomy/tagged``."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from acidtest import api
from acidtest.core.suite import CATEGORY
from acidtest.pairs.category_rules import PREFIX, PROPOSED, proposed_categories


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    path = tmp_path / "mine.tsv"
    path.write_text(
        "premise\thypothesis\tlabel\tauto_negation\tgenre\n"
        "They post many articles.\tThey do not post articles.\tcontradiction\tmaybe\tweb\n"
        "A dog sleeps.\tAn animal sleeps.\tentailment\tno\tweb\n"
        "A man eats.\tA man eats.\tentailment\tno\ttalk\n",
        encoding="utf-8",
    )
    return path


def test_pairs_come_with_what_rules_propose_and_all_their_own_columns(pairs: Path) -> None:
    suite = api.generate("taxonomy/tagged", source=pairs)
    frame, names = suite.frame.collect(), [PREFIX + name for name in PROPOSED]
    assert frame["premise"].to_list() == ["They post many articles.", "A dog sleeps.", "A man eats."]
    assert frame["auto_negation"].to_list() == [True, False, False]
    assert frame.select(names).equals(proposed_categories(frame["premise"], frame["hypothesis"]))
    assert frame["source_auto_negation"].to_list() == ["maybe", "no", "no"]
    assert suite.card.categories == tuple(names)
    assert suite.card.columns["genre"] == "factor"
    assert frame["id"].to_list() == api.load(pairs).frame.collect()["id"].to_list()


def test_the_card_says_that_rules_proposed_the_categories_and_how_often_they_are_right(pairs: Path) -> None:
    card = api.generate("taxonomy/tagged", source=pairs).card
    assert card.signature.startswith("taxonomy/tagged|v:1|from:mine|tags:rules|n:3|")
    assert card.note.startswith("Categories were proposed by rules, not annotated;")
    assert "negation 0.67" in card.note


def test_results_are_by_proposed_category_and_say_so(pairs: Path, tmp_path: Path) -> None:
    suite = api.generate("taxonomy/tagged", source=pairs)
    found = api.run("baseline:overlap", [suite], output=tmp_path / "run").results["suites"]["taxonomy/tagged"]
    assert found["by"][CATEGORY]["auto_negation"]["n"] == 1
    assert found["by"][CATEGORY]["auto_conditional"]["value"] is None
    assert [note for note in found["notes"] if "proposed by rules" in note]
    plain = api.run("baseline:overlap", [api.load(pairs)], output=tmp_path / "plain").results["suites"]["mine"]
    assert not [note for note in plain["notes"] if "proposed by rules" in note]


def test_a_written_suite_is_read_back_with_its_categories(pairs: Path, tmp_path: Path) -> None:
    suite = api.generate("taxonomy/tagged", source=pairs)
    for name in ("tagged.parquet", "tagged.tsv"):
        api.save(suite, tmp_path / name)
        again = api.load(tmp_path / name)
        assert again.card == suite.card
        assert again.frame.collect()["auto_negation"].dtype == pl.Boolean
