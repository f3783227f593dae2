import numpy as np
import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from acidtest.core.digests import (
    _BASE,
    DigestList,
    SeenDigests,
    _byte_values,
    combine_digests,
    digests,
    hexadecimal,
    repeated_values,
)
from acidtest.core.draws import key, mix_bits


def by_the_definition(text: str) -> int:
    """The digest of one string, byte by byte, as the module's docstring defines it."""
    values = _byte_values().tolist()
    total = sum(values[byte] * pow(_BASE, place, 2**64) for place, byte in enumerate(text.encode())) + len(
        text.encode()
    )
    return int(mix_bits(np.array([total % 2**64], dtype=np.uint64))[0])


@given(st.lists(st.text(max_size=30), min_size=1, max_size=8))
@settings(max_examples=60)
def test_a_column_digest_is_the_polynomial_of_the_bytes(texts: list[str]) -> None:
    start = np.full(len(texts), key("salt"), dtype=np.uint64)
    own = np.array([by_the_definition(text) for text in texts], dtype=np.uint64)
    expected = mix_bits(start * np.uint64(_BASE) + own)
    assert digests(pl.Series(texts, dtype=pl.String), salt="salt").tolist() == expected.tolist()


def test_digests_do_not_depend_on_the_other_rows() -> None:
    texts = pl.Series([f"sentence {i} " * (i % 50) for i in range(20_000)])
    whole = digests(texts)
    assert digests(texts[12_000:12_003]).tolist() == whole[12_000:12_003].tolist()


def test_many_similar_sentences_have_different_digests() -> None:
    texts = pl.Series([f"The judge saw the actor {i}." for i in range(200_000)])
    assert len(np.unique(digests(texts))) == 200_000


def test_columns_are_told_apart() -> None:
    a, b = pl.Series(["ab"]), pl.Series(["c"])
    assert digests(a, b)[0] != digests(pl.Series(["a"]), pl.Series(["bc"]))[0]
    assert digests(a, b)[0] != digests(b, a)[0]


def test_null_is_not_the_empty_string() -> None:
    assert digests(pl.Series([None], dtype=pl.String))[0] != digests(pl.Series([""]))[0]


def test_hexadecimal_writes_sixteen_digits() -> None:
    assert hexadecimal(np.array([0, 255, 2**64 - 1], dtype=np.uint64)).to_list() == [
        "0" * 16,
        "0" * 14 + "ff",
        "f" * 16,
    ]


def test_a_combined_digest_ignores_order_and_nothing_else() -> None:
    values = digests(pl.Series(["a", "b", "c"]))
    assert combine_digests(values) == combine_digests(values[::-1])
    assert combine_digests(values) != combine_digests(values[:2])


def test_no_rows_have_no_digests() -> None:
    assert digests(pl.Series([], dtype=pl.String)).tolist() == []


def test_digests_are_gathered_from_any_number_of_pieces() -> None:
    values = np.random.default_rng(0).integers(0, 2**63, 20_000, dtype=np.uint64)
    gathered = DigestList()
    for start in range(0, len(values), 777):
        gathered.add(values[start : start + 777])
    assert np.array_equal(gathered.sorted(), np.sort(values))
    assert len(DigestList().sorted()) == 0


def test_what_stands_more_than_once_is_given_once() -> None:
    assert repeated_values(np.array([1, 2, 2, 3, 5, 5, 5], dtype=np.uint64)).tolist() == [2, 5]
    assert repeated_values(np.array([], dtype=np.uint64)).tolist() == []


@given(st.lists(st.lists(st.integers(0, 30), max_size=12), max_size=12))
@settings(max_examples=60)
def test_what_comes_for_the_first_time_is_told_however_it_comes(pieces: list[list[int]]) -> None:
    seen, before = SeenDigests(), set[int]()
    for piece in pieces:
        expected = []
        for value in piece:
            expected.append(value not in before)
            before.add(value)
        assert seen.new(np.array(piece, dtype=np.uint64)).to_list() == expected
