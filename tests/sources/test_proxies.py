from __future__ import annotations

import polars as pl
import pytest

from acidtest.core.errors import AcidtestError
from acidtest.core.suite import Card, Suite
from acidtest.sources.proxies import relatives, side_counts


def test_relatives_are_those_of_the_sense_that_is_opposed() -> None:
    found = dict(relatives("victory", "defeat", "n"))
    assert found["triumph"] == "synonym"
    assert found["success"] == "hypernym"
    assert found["landslide"] == "hyponym"
    assert "defeat" not in found


def test_the_papers_example_has_its_proxy_where_no_sense_is_opposed() -> None:
    # Sanchez Carmona et al. (2018), examples 7 and 8: "aged" for "elderly" beside "young".
    assert ("aged", "synonym") in relatives("elderly", "young", "a")


def test_a_word_counts_on_the_side_where_it_stands_more_often() -> None:
    pairs = pl.LazyFrame({"premise": ["Old old men.", "Old."], "hypothesis": ["Men, men and men.", "Old."]})
    counts = dict(side_counts(Suite(pairs, Card("mine"))).rows())
    assert counts["old"] == 3
    assert counts["men"] == 3
    assert counts["and"] == 1


def test_an_empty_training_file_is_told() -> None:
    empty = pl.LazyFrame({"premise": [], "hypothesis": []}, schema={"premise": pl.String, "hypothesis": pl.String})
    with pytest.raises(AcidtestError, match="mine has no examples to count words in"):
        side_counts(Suite(empty, Card("mine")))
