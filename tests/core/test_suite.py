from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl
import pytest

from acidtest.core.digests import repeated_values
from acidtest.core.errors import AcidtestError, FileError
from acidtest.core.structured import check_shape
from acidtest.core.suite import (
    COLUMNS,
    Card,
    SourceIds,
    Suite,
    complete_columns,
    plain_name,
    require_columns,
    source_digests,
    stream_frame,
)

PAIRS = pl.DataFrame(
    {
        "premise": ["A man runs.", "A man runs.", "A dog sleeps."],
        "hypothesis": ["A man moves.", "A man moves.", "A dog runs."],
        "label": ["entailment", "entailment", "contradiction"],
    }
)


def test_a_frame_is_completed_with_every_column_in_order() -> None:
    frame = complete_columns(PAIRS.with_columns(extra=pl.lit("x")), "mine")
    assert frame.columns == [*COLUMNS, "extra"]
    assert frame["group"].to_list() == frame["id"].to_list()
    assert frame["certainty"].null_count() == 3


def test_an_id_is_a_hash_of_name_and_pair_and_a_repeated_pair_is_numbered() -> None:
    first, second, third = complete_columns(PAIRS, "mine")["id"]
    assert second == f"{first}.2"
    assert len({first, third}) == 2
    assert complete_columns(PAIRS, "other")["id"][0] != first
    assert complete_columns(PAIRS[2:], "mine")["id"].to_list() == [third]


def test_ids_given_block_by_block_are_those_of_the_whole() -> None:
    pairs = pl.concat([PAIRS, PAIRS.reverse(), PAIRS])
    values = source_digests("mine", pairs)
    ids = SourceIds(repeated_values(np.sort(values)))
    blocks = [ids.of(values[start : start + 2]) for start in range(0, len(values), 2)]
    assert pl.concat(blocks).to_list() == complete_columns(pairs, "mine")["id"].to_list()
    first, _, third, *_ = complete_columns(PAIRS, "mine")["id"]
    assert pl.concat(blocks).to_list() == [
        *(first, f"{first}.2", third),
        *(f"{third}.2", f"{first}.3", f"{first}.4"),
        *(f"{first}.5", f"{first}.6", f"{third}.3"),
    ]


def test_a_sealed_card_counts_rows_and_labels() -> None:
    card = Suite(complete_columns(PAIRS, "mine").lazy(), Card("mine")).sealed().card
    assert (card.rows, card.labels) == (3, {"contradiction": 1, "entailment": 2})


def test_the_fingerprint_ignores_order_but_no_word_and_no_label() -> None:
    frame = complete_columns(PAIRS, "mine")

    def fingerprint(rows: pl.DataFrame) -> str:
        return Suite(rows.lazy(), Card("mine")).sealed().card.fingerprint

    assert fingerprint(frame) == fingerprint(frame.reverse())
    assert fingerprint(frame) != fingerprint(frame.with_columns(label=pl.lit("neutral")))
    assert fingerprint(frame) != fingerprint(frame.with_columns(premise=pl.col("premise") + "!"))
    assert fingerprint(frame) != fingerprint(frame.with_columns(group=pl.lit("one")))
    assert fingerprint(frame) != fingerprint(frame.with_columns(base_id=pl.lit("x")))
    factor = frame.with_columns(kind=pl.lit("a"))
    assert fingerprint(factor) != fingerprint(frame.with_columns(kind=pl.lit("b")))
    assert fingerprint(factor) == fingerprint(factor.select(sorted(factor.columns)))


def test_sealing_a_suite_seals_its_control() -> None:
    control = Suite(complete_columns(PAIRS, "mine#control").lazy(), Card("mine#control"))
    sealed = Suite(complete_columns(PAIRS, "mine").lazy(), Card("mine"), control).sealed()
    assert sealed.control is not None
    assert sealed.control.card.rows == 3
    assert sealed.control.card.fingerprint


def test_a_signature_holds_what_changes_the_number() -> None:
    card = Card(
        "hans", version=2, seed=7, arguments={"words": "fresh", "faithful": True}, rows=30, fingerprint="9f3c2abc"
    )
    assert card.signature == "hans|v:2|faithful:true|words:fresh|seed:7|n:30|h:9f3c2a"


def test_a_card_survives_its_file() -> None:
    card = Card("hans", seed=1, columns={"subcase": "factor"}, strata=("subcase",), crossings=(("a", "label"),))
    assert check_shape(card.to_json(), "a.card.json", Card) == card
    assert check_shape(card.to_json() | {"a later field": 1}, "a.card.json", Card) == card


def test_a_column_a_model_needs_and_a_suite_lacks_is_named() -> None:
    with pytest.raises(AcidtestError, match="suite 'mine' has no column premise_parse"):
        require_columns(PAIRS.lazy(), ["premise", "premise_parse"], "mine")


def test_a_streamed_frame_is_filtered_cut_and_projected_like_any_other() -> None:
    whole = pl.DataFrame({"a": [str(number) for number in range(10)], "b": ["x", "y"] * 5})

    def blocks(columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        for start in range(0, 10, 3):
            yield whole[start : start + 3].select(columns)

    frame = stream_frame(blocks, {"a": pl.String, "b": pl.String})
    assert frame.collect().equals(whole)
    assert frame.filter(pl.col("b") == "y").collect()["a"].to_list() == ["1", "3", "5", "7", "9"]
    assert frame.head(4).collect()["a"].to_list() == ["0", "1", "2", "3"]
    assert frame.filter(pl.col("b") == "y").head(2).collect()["a"].to_list() == ["1", "3"]
    assert frame.select("b").tail(2).collect()["b"].to_list() == ["x", "y"]
    assert frame.select(pl.len()).collect().item() == 10


def test_rows_picked_from_a_batch_can_be_given_room_of_their_own() -> None:
    from acidtest.core.suite import compact_frame

    frame = pl.DataFrame({"a": ["x" * 1000] * 50, "b": pl.Series([None, 2] * 25, dtype=pl.UInt32)})
    assert compact_frame(frame.head(3)).equals(frame.head(3))
    assert compact_frame(frame.head(3)).schema == frame.schema


@pytest.mark.parametrize(
    ("column", "name"),
    [
        ("*", "source_*"),
        ("^x$", "source_^x$"),
        ("^x", "^x"),
        ("a × b", "a x b"),
        ("×", "×"),
        ("\x1b[31mred", "\ufffd[31mred"),
        ("two\nlines", "two\ufffdlines"),
        ("\u202eleft", "\ufffdleft"),
        ("größe (%)", "größe (%)"),
    ],
)
def test_names_that_something_would_obey_become_plain_and_others_stay(column: str, name: str) -> None:
    assert plain_name(column) == name


@pytest.mark.parametrize("column", ["*", "^x$", "a × b", "\x1b[31m"])
def test_a_card_with_a_column_that_something_would_obey_is_refused(column: str) -> None:
    with pytest.raises(AcidtestError, match="no column can be called"):
        Card("s", columns={column: "factor"})
    with pytest.raises(FileError, match=r"^s\.card\.json: no column can be called .*; generate it again"):
        check_shape({"name": "s", "columns": {column: "factor"}}, "s.card.json", Card, remedy="generate it again")
