"""What of a claim its document has, and what the claim alone suggests."""

from __future__ import annotations

import polars as pl
import pytest

from acidtest.pairs.claim_matches import claim_prior, name_share, names_in, number_share, word_share


@pytest.mark.parametrize(
    ("sentence", "names"),
    [
        ("The WHO needed two years.", ["WHO"]),
        ("General Motors rented a plane for Anna Marlow's team.", ["General Motors", "Anna Marlow"]),
        ("Turkey sealed its border in March.", ["Turkey"]),
        ("Visitors may not smoke in Mumbai on Sunday.", ["Mumbai"]),
        ("Procter & Gamble met the Ministry of Health.", ["Procter & Gamble", "Ministry of Health"]),
        ("He left. Then Côte d'Ivoire won.", ["Côte d'Ivoire"]),
        ("HP left, and so did Hewlett-Packard.", ["HP", "Hewlett-Packard"]),
        ("Staff may leave early, as I said.", []),
    ],
)
def test_names_are_runs_of_words_with_capitals_but_not_what_begins_a_sentence(sentence: str, names: list[str]) -> None:
    assert names_in(sentence) == names


def test_the_share_of_names_is_of_those_written_alike() -> None:
    documents = pl.Series(["Britain met the WHO.", "Britain met the WHO.", "Britain met the WHO.", "It rained."])
    claims = pl.Series(
        ["The WHO met Britain.", "The WHO met France.", "The United Kingdom met nobody.", "The weather was wet."]
    )
    assert name_share(documents, claims).to_list() == [1.0, 0.5, 0.0, 1.0]


@pytest.mark.parametrize(
    ("document", "claim", "share"),
    [
        ("They sent twelve hundred lorries.", "They sent 1,200 lorries.", 1.0),
        ("It cost 1,500,000 dollars.", "It cost $1.5 million.", 1.0),
        ("It took two years.", "It took 24 months.", 0.0),
        ("They had 7 cats and 12 dogs.", "They had seven cats and 13 dogs.", 0.5),
        ("They had cats.", "They had pets.", 1.0),
    ],
)
def test_the_share_of_numbers_is_of_values_without_units(document: str, claim: str, share: float) -> None:
    assert number_share(pl.Series([document]), pl.Series([claim])).to_list() == [share]


def test_the_share_of_words_counts_content_words_in_any_form() -> None:
    documents = pl.Series(["The cooks were baking bread in the yard.", "It rained.", "It rained."])
    claims = pl.Series(["A cook baked a cake.", "The sun shone.", "It did."])
    assert word_share(documents, claims).to_list() == [pytest.approx(2 / 3), 0.0, 1.0]


def test_the_words_of_a_claim_alone_raise_or_lower_it() -> None:
    claims = pl.Series(["Some might leave.", "The train leaves.", "Everyone always leaves because nothing works."])
    some, plain, everyone = claim_prior(claims)
    assert some == pytest.approx(1 / (1 + 2.718281828 ** -(0.7 + 0.55)))
    assert plain == 0.5
    assert everyone < 0.05
