"""Which suites of runs a study is about."""

from __future__ import annotations

import polars as pl
import pytest

from acidtest.core.run import Header, ModelFacts, Run, SuitePattern
from acidtest.core.suite import Card

PATTERN = SuitePattern(("stress/*", "lexical"), columns=(("premise_word", "hypothesis_word"),), kinds=("category",))


@pytest.mark.parametrize(
    ("name", "columns", "matches"),
    [
        ("stress/negation", {}, True),
        ("stress/negation:tautology=green", {}, True),
        ("stress/negation#control", {}, False),
        ("lexical", {}, True),
        ("lexical/colours", {}, False),
        ("mine", {"premise_word": "text", "hypothesis_word": "text"}, True),
        ("mine", {"premise_word": "text"}, False),
        ("mine", {"negation": "category"}, True),
        ("mine", {"negation": "factor"}, False),
    ],
)
def test_a_pattern_matches_names_without_options_sets_of_columns_and_kinds(
    name: str, columns: dict[str, str], matches: bool
) -> None:
    card = Card(name, columns=columns)  # type: ignore[arg-type]
    assert PATTERN.matches(name, card) is matches
    other = Run(Header(ModelFacts("m", "m"), {"hans": Card("hans")}, {}), pl.DataFrame())
    run = Run(Header(ModelFacts("m", "m"), {"hans": Card("hans"), name: card}, {}), pl.DataFrame())
    assert PATTERN([other, run]) is matches
    assert not PATTERN([other])
