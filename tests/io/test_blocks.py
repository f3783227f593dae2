from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acidtest.core import files
from acidtest.core.errors import FileError
from acidtest.io import blocks
from acidtest.io.blocks import scan_text


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "BLOCK", 10)
    monkeypatch.setattr(files, "_PIECE", 7)


def cut(tmp_path: Path, content: bytes) -> list[tuple[int, bytes]]:
    (tmp_path / "a.txt").write_bytes(content)
    return [(block.line, block.content) for block in scan_text(tmp_path / "a.txt").blocks()]


def test_a_block_holds_whole_lines_and_knows_the_first(tmp_path: Path) -> None:
    assert cut(tmp_path, b"one\ntwo\nthree\nfourth") == [(1, b"one\ntwo\n"), (3, b"three\n"), (4, b"fourth")]


def test_a_line_longer_than_a_block_is_not_cut(tmp_path: Path) -> None:
    assert cut(tmp_path, b"a\n" + b"b" * 50 + b"\n" + b"c" * 40) == [
        (1, b"a\n"),
        (2, b"b" * 50 + b"\n"),
        (3, b"c" * 40),
    ]


def test_blank_lines_at_the_end_make_no_block_of_their_own(tmp_path: Path) -> None:
    assert cut(tmp_path, b"one\ntwo\n" + b"\r\n" * 20) == [(1, b"one\ntwo\n" + b"\r\n" * 20)]


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    assert cut(tmp_path, b"\xef\xbb\xbfone\ntwo\nthree") == [(1, b"one\ntwo\n"), (3, b"three")]


@given(content=st.text(st.sampled_from("ab\r\né😀"), max_size=60))
def test_blocks_joined_are_the_text(tmp_path: Path, content: str) -> None:
    if "\r" in content and "\n" not in content:
        return
    found = cut(tmp_path, content.encode())
    assert b"".join(part for _, part in found).decode() == content
    for number, (line, _) in enumerate(found):
        assert line == 1 + sum(part.count(b"\n") for _, part in found[:number])


def test_the_block_of_a_row_is_found_by_their_heights(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"one\ntwo\n\n\nthree\nfour\n")
    text = scan_text(tmp_path / "a.txt")
    assert [block.content for block in text.blocks()] == [b"one\ntwo\n\n\n", b"three\n", b"four\n"]
    block, number = text.block_of(3, [2, 1, 1])
    assert (block.line, block.content, number) == (6, b"four\n", 0)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"one\ntwo\nthree\ncaf\xe9\nfive\n", r"a\.txt:4: byte 4 of the line, 0xe9, is not UTF-8"),
        (b"one\ntwo\nthree\nf\0ur\nfive\n", r"a\.txt:4: holds a NUL byte"),
        # What is not UTF-8 is said first, wherever it is.
        (b"one\nt\0o\nthree\ncaf\xe9\nfive\n", r"a\.txt:4: byte 4 of the line, 0xe9, is not UTF-8"),
        (b"one\ntwo\nthree\nfour\ncaf\xc3", r"a\.txt:5: ends in the middle of a character"),
        (b"one\rtwo\rthree\rfour\r", r"a\.txt: its lines end in a carriage return alone"),
    ],
)
def test_what_is_no_text_is_named_with_the_line_of_the_whole_file(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "a.txt").write_bytes(content)
    with pytest.raises(FileError, match=message):
        scan_text(tmp_path / "a.txt")
