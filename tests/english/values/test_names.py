"""Names of people, places and organisations."""

from __future__ import annotations

import polars as pl
import pytest

from acidtest.english.tagging import tag_texts
from acidtest.io.wordlists import packaged_table


def names(text: str) -> list[tuple[str, str]]:
    """The names of a text: words that stand side by side and are of one kind."""
    found = list[tuple[str, str]]()
    before = None
    for token, kind in tag_texts(pl.Series([text]), "light").select("token", "entity").iter_rows():
        if kind is not None and kind == before:
            found[-1] = (f"{found[-1][0]} {token}", kind)
        elif kind is not None:
            found.append((token, kind))
        before = kind
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Tim has 350 pounds.", [("Tim", "PERSON")]),
        ("I met J. K. Rowling and Mary Smith.", [("J. K. Rowling", "PERSON"), ("Mary Smith", "PERSON")]),
        ("We asked Mr. Xyzzy.", [("Xyzzy", "PERSON")]),
        ("King George saw Martin Luther King.", [("George", "PERSON"), ("Martin Luther King", "PERSON")]),
        ("Poor Dave fell.", [("Dave", "PERSON")]),
        ("Then Ca'daan said no.", [("Ca'daan", "PERSON")]),
        ("She lives in New York, France.", [("New York", "LOCATION"), ("France", "LOCATION")]),
        ("They crossed the Potomac River.", [("Potomac River", "LOCATION")]),
        ("He flew from Jordan to Peru.", [("Jordan", "LOCATION"), ("Peru", "LOCATION")]),
        ("Jordan has two dogs.", [("Jordan", "PERSON")]),
        ("He works for the Bank of America.", [("Bank of America", "ORGANIZATION")]),
        ("The Department of the Interior paid.", [("Department of the Interior", "ORGANIZATION")]),
        ("NASA and Smith Brothers Inc. met.", [("NASA", "ORGANIZATION"), ("Smith Brothers Inc.", "ORGANIZATION")]),
        ("New York University won.", [("New York University", "ORGANIZATION")]),
        ("It was in April 1998 and in May.", []),
        ("April has five cats.", [("April", "PERSON")]),
        ("The dog sleeps on Monday.", []),
        ("Rich people travel.", []),
    ],
)
def test_names_are_told_from_lists_and_from_the_words_beside_them(text: str, expected: list[tuple[str, str]]) -> None:
    assert names(text) == expected


def test_a_name_ends_with_its_sentence() -> None:
    assert names("He met Tim. Paris is big.") == [("Tim", "PERSON"), ("Paris", "LOCATION")]


def test_the_lists_hold_every_name_once() -> None:
    for table, key in (("people", "name"), ("places", "name"), ("organizations", "name")):
        column = packaged_table(f"names/{table}.tsv")[key]
        assert column.is_unique().all(), table
        assert (column.str.strip_chars() == column).all(), table
