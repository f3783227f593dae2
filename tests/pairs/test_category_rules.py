"""Categories that rules propose."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from acidtest import api
from acidtest.core.digests import digests
from acidtest.core.errors import AcidtestError
from acidtest.io.wordlists import packaged_table
from acidtest.pairs.category_rules import (
    PREFIX,
    PROPOSED,
    better_than_chance,
    caution,
    proposed_categories,
    rule_descriptions,
    rule_measures,
)
from acidtest.pairs.taxonomy import CATEGORIES
from acidtest.pairs.tokens import TokenisedPairs, cue_list, shared_in_order, word_order_likeness

PROPOSALS = [
    ("lexical", "The soup at the inn was cold.", "The soup at the inn was awful."),
    ("lexical", "He was happy with the old car that he had bought.", "He was sad with the car."),
    ("negation", "They post many articles.", "They do not post any articles."),
    ("negation", "She isn't here.", "No, she isn't here, and nobody knows why."),
    ("boolean", "The garden has apple trees and a pond with old fish.", "There is a pond."),
    ("quantifier", "Some travelers visit the island.", "All travelers visit the island."),
    ("quantifier", "Travelers visit the island in winter.", "Many travelers visit the island."),
    ("conditional", "You need a ticket for the train.", "You can ride the train if you have a ticket."),
    ("comparative", "The red boat is fast.", "The red boat is faster than the blue one."),
    ("comparative", "The museum is worth a visit.", "It is the oldest museum."),
    ("spatial", "The mill stands north of the bridge.", "The mill is old."),
    ("spatial", "The temple is across the river from the city.", "The temple is in the city."),
    ("temporal", "The hall was built in 1920.", "The hall is over forty years old."),
    ("temporal", "They met at 9:30.", "They met in the evening."),
    ("coreference", "You can tell us about it.", "They can tell him about it."),
    ("world", "The train was heading south.", "The train was heading for Chicago."),
    ("taxonomic", "He stepped on a beautiful daisy.", "He stepped on a beautiful flower."),
    ("taxonomic", "The animals slept in the barn.", "The cows slept in the barn."),
]

NO_PROPOSALS = [
    # A cue that both sentences share, or that the inference does not turn on.
    ("lexical", "The soup was cold.", "The soup was cold."),
    ("lexical", "The soup at the inn was cold.", "The soup at the inn was not cold."),
    ("negation", "He does not know.", "He has no idea."),
    ("negation", "He never came.", "He stayed away."),
    ("boolean", "There is a pond.", "There are trees and a pond."),
    ("quantifier", "The island is small.", "The island has trees."),
    ("quantifier", "All of the staff left.", "The rooms were empty."),
    ("conditional", "Did she come?", "He asked if she came."),
    ("conditional", "He ran.", "He ran as if he were late."),
    ("comparative", "He left rather than waited.", "He left."),
    ("spatial", "The show is in West Hollywood.", "The show is in the city."),
    ("temporal", "The year was good.", "It was good."),
    ("coreference", "She said that she knew.", "She said that she knew."),
    ("coreference", "He met Anna.", "They met."),
    ("world", "The train was heading for Chicago.", "The train was heading for Chicago."),
    ("taxonomic", "He stepped on a pansy.", "He stepped on a rose."),
]


def proposed(premise: str | None, hypothesis: str | None) -> set[str]:
    row = proposed_categories(pl.Series([premise], dtype=pl.String), pl.Series([hypothesis], dtype=pl.String)).row(
        0, named=True
    )
    return {name.removeprefix(PREFIX) for name, holds in row.items() if holds}


@pytest.mark.parametrize(("category", "premise", "hypothesis"), PROPOSALS)
def test_a_rule_proposes_its_category(category: str, premise: str, hypothesis: str) -> None:
    assert category in proposed(premise, hypothesis)


@pytest.mark.parametrize(("category", "premise", "hypothesis"), NO_PROPOSALS)
def test_a_rule_leaves_other_pairs_alone(category: str, premise: str, hypothesis: str) -> None:
    assert category not in proposed(premise, hypothesis)


def test_every_rule_is_tested_both_ways() -> None:
    assert {case[0] for case in PROPOSALS} == {case[0] for case in NO_PROPOSALS} == set(PROPOSED)
    assert set(PROPOSED) < set(CATEGORIES)
    assert [name for name in CATEGORIES if name in PROPOSED] == list(PROPOSED)


def test_what_is_proposed_does_not_depend_on_the_other_pairs() -> None:
    premises, hypotheses = (pl.Series([case[place] for case in PROPOSALS + NO_PROPOSALS]) for place in (1, 2))
    together = proposed_categories(premises, hypotheses)
    for row in range(len(premises)):
        assert together[row].equals(proposed_categories(premises[row : row + 1], hypotheses[row : row + 1]))


@pytest.mark.parametrize(
    ("premise", "hypothesis"), [(None, "No man is north of Paris."), ("Men sleep.", None), ("", ""), (None, None)]
)
def test_nothing_much_is_proposed_for_half_a_pair(premise: str | None, hypothesis: str | None) -> None:
    """Only what a hypothesis alone can show."""
    assert proposed(premise, hypothesis) <= {"negation", "world"}


def test_no_pairs_give_no_rows() -> None:
    empty = pl.Series([], dtype=pl.String)
    found = proposed_categories(empty, empty)
    assert found.shape == (0, len(PROPOSED))
    assert set(found.dtypes) == {pl.Boolean}


def test_long_texts_are_not_compared_word_by_word() -> None:
    """Every word beside every other would not fit into memory."""
    for others, found in ((39, True), (40, False)):
        here, there = ("the " * 40 + " ".join(letter * (2 + number) for number in range(others)) for letter in "xz")
        assert ("taxonomic" in proposed(f"{here} daisy", f"{there} flower")) is found


def test_columns_of_different_length_are_refused() -> None:
    with pytest.raises(AcidtestError, match="2 premises and 1 hypotheses"):
        TokenisedPairs.of(pl.Series(["a", "b"]), pl.Series(["a"]))


def test_words_shared_in_order_are_the_longest_common_subsequence() -> None:
    draws = np.random.default_rng(3)
    words = np.array(["dog", "dogs", "cat", "runs", "red", "the", "and"])
    texts = [[" ".join(draws.choice(words, draws.integers(0, 90))) for _ in range(60)] for _ in range(2)]
    pairs = TokenisedPairs.of(*map(pl.Series, texts))
    stems = {"dogs": "dog", "runs": "run"}
    found = [
        # Only the first 63 words of a hypothesis are looked at.
        subsequence([stems.get(w, w) for w in here.split()], [stems.get(w, w) for w in there.split()][:63])
        for here, there in zip(*texts, strict=True)
    ]
    assert shared_in_order(pairs).tolist() == found


def subsequence(first: list[str], second: list[str]) -> int:
    """The textbook's table."""
    table = np.zeros((len(first) + 1, len(second) + 1), dtype=int)
    for i, here in enumerate(first, start=1):
        for j, there in enumerate(second, start=1):
            table[i, j] = table[i - 1, j - 1] + 1 if here == there else max(table[i - 1, j], table[i, j - 1])
    return int(table[-1, -1])


def test_likeness_is_one_for_a_sentence_and_itself_and_nothing_for_others() -> None:
    pairs = TokenisedPairs.of(
        pl.Series(["A dog ran home.", "A dog ran.", "A dog ran.", ""]),
        pl.Series(["a dog ran home", "Two cats sleep.", "Ran a dog?", ""]),
    )
    # Of "ran a dog" two words of three stand in the same order.
    assert word_order_likeness(pairs).tolist() == pytest.approx([1, 0, 2 / 3, 0])


def test_lists_hold_each_cue_once_and_in_lower_case() -> None:
    table = packaged_table("taxonomy_tags/cues.tsv")
    assert not table.is_duplicated().any()
    assert (table["cue"] == table["cue"].str.to_lowercase()).all()
    with pytest.raises(AcidtestError, match="no list 'spells'"):
        cue_list("spells")


def test_every_rule_says_what_it_looks_for_and_was_measured() -> None:
    assert all(told.endswith(".") and len(told) < 130 for told in rule_descriptions().values())
    measures = ("precision", "recall", "F1", "chance", "lift")
    assert {name: tuple(values) for name, values in rule_measures().items()} == dict.fromkeys(PROPOSED, measures)


def test_what_is_no_better_than_chance_is_called_so() -> None:
    """Of TaxiNLI's 34 taxonomic pairs the rule finds one, in the half it was made with."""
    assert [name for name in PROPOSED if not better_than_chance(name)] == ["taxonomic"]
    assert caution().endswith("taxonomic 0.00; taxonomic: not better than chance")


def test_the_held_out_half_says_what_is_shipped(shared: Path) -> None:
    file = shared / "taxinli" / "taxinli10k.tsv"
    if not file.exists():
        pytest.skip(f"{file} is not there")
    rows = api.generate("taxinli", source=file).frame.collect()
    rows = rows.filter(pl.Series(digests(rows["pair_id"]) % 2 == 1))
    found = proposed_categories(rows["premise"], rows["hypothesis"])
    assert rows.height == 5061
    for name in PROPOSED:
        proposals, marked = found[PREFIX + name].to_numpy(), rows[name].to_numpy()
        both = (proposals & marked).sum()
        assert both / proposals.sum() == pytest.approx(rule_measures()[name]["precision"].value, abs=1e-4), name
        assert both / marked.sum() == pytest.approx(rule_measures()[name]["recall"].value, abs=1e-4), name
    # Floors a change of the rules should not go below without somebody noticing.
    floors = {"negation": 0.64, "lexical": 0.41, "boolean": 0.34, "comparative": 0.32, "temporal": 0.33}
    assert all(rule_measures()[name]["precision"].value > floor for name, floor in floors.items())
