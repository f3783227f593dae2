"""The taxonomy as data: figure 1's tree, and what is said of each place of it."""

from __future__ import annotations

import pytest

from acidtest.core.errors import UnknownNameError
from acidtest.core.labels import LABELS
from acidtest.pairs.taxonomy import (
    CATEGORIES,
    NEUTRAL_FEATURES,
    PUBLISHED_COLUMNS,
    example_pairs,
    is_published,
    members,
    node,
    path,
    taxonomy,
)

# Joshi et al. 2020, figure 1, as facts/errata.md spells it out.
TREE = {
    "linguistic": ["lexical", "syntactic", "factivity"],
    "logical": ["connectives", "mathematical", "deductions"],
    "connectives": ["negation", "boolean", "quantifier", "conditional", "comparative"],
    "mathematical": ["counting", "arithmetic"],
    "deductions": ["relational", "spatial", "temporal", "causal", "coreference"],
    "knowledge": ["world", "taxonomic"],
    "neutral": list(NEUTRAL_FEATURES),
}
DEFINED = [node for node in taxonomy() if node.kind != "group"]


def test_the_tree_is_that_of_figure_1() -> None:
    assert [each.name for each in members()] == ["linguistic", "logical", "knowledge", "neutral"]
    assert {group: [each.name for each in members(group)] for group in TREE} == TREE
    assert path("spatial") == ("Logical", "Deductions")


def test_the_annotated_categories_are_those_of_the_file_in_its_order() -> None:
    assert tuple(each.name for each in taxonomy() if each.kind == "category" and each.annotated) == CATEGORIES
    assert [each.name for each in DEFINED if not each.annotated] == ["counting", "arithmetic"]
    assert list(PUBLISHED_COLUMNS.values()) == [*CATEGORIES, *NEUTRAL_FEATURES]


@pytest.mark.parametrize("each", DEFINED, ids=lambda each: each.name)
def test_a_category_is_defined_and_shown_by_two_examples_or_more(each) -> None:  # type: ignore[no-untyped-def]
    assert each.definition.endswith(".")
    assert len([example for example in each.examples if example.marked]) >= 2
    for example in each.examples:
        assert example.label in (["neutral"] if each.kind == "feature" else LABELS)
        assert example.premise != example.hypothesis
        assert set(example.also) <= set(CATEGORIES) - {each.name}


def test_a_category_is_found_by_either_name_and_a_slip_is_told() -> None:
    assert node("Negation") == node("negation_logic")
    with pytest.raises(UnknownNameError, match="did you mean 'coreference'"):
        node("corefrence")


def test_other_schemes_have_the_levels_of_table_4() -> None:
    names = {(other.scheme, other.name): other.levels for other in node("syntactic").other_names}
    assert names[("ANLI", "Tricky")] == ("syntactic", "pragmatics")
    assert names[("GLUE diagnostic", "Datives")] == ("syntactic",)
    assert [other.name for other in node("factivity").other_names] == ["Factivity"]


def test_examples_are_annotated_pairs() -> None:
    rows = example_pairs().frame.select("premise", "categories").collect()
    assert dict(rows.iter_rows())["Neither the bank nor the post office was open."] == "boolean|negation"
    assert dict(rows.iter_rows())["The film, which was not long, was shot in Lisbon."] == "syntactic"


def test_a_published_file_is_known_by_its_columns() -> None:
    columns = list(PUBLISHED_COLUMNS)
    assert is_published(columns)
    assert not is_published(columns[1:])
