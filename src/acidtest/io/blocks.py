"""Reads text files in blocks of whole lines or records, so that a file may be larger than memory.

A text is scanned once before it is read, to check that it is UTF-8 and to compute its fingerprint and properties.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path

from acidtest.core.errors import FileError
from acidtest.core.files import chunks

BLOCK = 2 << 20
"""The most bytes of a block, unless one record is longer."""

MAX_LINE_BYTES = 16 * 2**20
"""The most bytes of a line, of a record in quotes, or of consecutive blank lines."""

MAX_COLUMNS = 10_000
"""The most columns of a table; in JSON, keys inside nested objects count as well."""

Cut = Callable[[bytes], int]
"""Finds the end of the last whole line or record in bytes that begin with one; 0 if none is whole."""

UTF8_MARK = b"\xef\xbb\xbf"
_UTF16 = "is UTF-16 text; save it as UTF-8, for example with: iconv -f UTF-16 -t UTF-8 OLD > NEW"
_FOREIGN = {
    b"\xff\xfe": _UTF16,
    b"\xfe\xff": _UTF16,
    b"\x1f\x8b": "is gzip data; end its name in .gz",
    b"PAR1": "is a Parquet file; end its name in .parquet",
    b"PK\x03\x04": "is a zip archive or a spreadsheet; unpack it or export it as .csv",
}
"""How files that are not UTF-8 text begin, and what to do with them."""


@dataclass(frozen=True)
class Block:
    """A part of a text, and the number of the line on which it begins."""

    content: bytes
    line: int = 1
    is_last: bool = True


@dataclass(frozen=True)
class Text:
    """A UTF-8 text that has been scanned."""

    path: Path
    head: bytes
    """Its first lines, or all of it."""
    is_whole: bool
    """Whether ``head`` is all of it."""
    fingerprint: str
    """A digest of the (unpacked) content."""
    has_tabs: bool
    has_quotes: bool

    def blocks(self, cut: Cut | None = None) -> Iterator[Block]:
        """The text in blocks that end where ``cut`` says, by default at line ends; a long file is read again."""
        return iter([Block(self.head)]) if self.is_whole else cut_blocks(self.path, chunks(self.path), cut or line_end)

    def block_of(self, row: int, heights: Sequence[int], cut: Cut | None = None) -> tuple[Block, int]:
        """The block that holds a row, and the number of the row in it; ``heights`` are the row counts of the blocks."""
        for block, height in zip(self.blocks(cut), heights, strict=True):
            if row < height:
                return block, row
            row -= height
        raise IndexError(f"row {row} after the last")


def line_end(content: bytes) -> int:
    """Where the last whole line ends; 0 where there is none."""
    return content.rfind(b"\n") + 1


def scan_text(path: Path) -> Text:
    """Scan the text of a file and check that it is UTF-8."""
    digest = blake2b(digest_size=8)

    def digested() -> Iterator[bytes]:
        for chunk in chunks(path):
            digest.update(chunk)
            yield chunk

    text = _scan(path, cut_blocks(path, digested(), line_end))
    return replace(text, fingerprint=digest.hexdigest())


def begins_with(content: bytes, *marks: bytes) -> bool:
    """Whether a text begins, after any space, with one of the marks, such as the ``[`` of a JSON array."""
    return content[:4096].removeprefix(UTF8_MARK).lstrip().startswith(marks)


def utf8_text(path: Path, content: bytes) -> bytes:
    """Check that the content of a file is UTF-8 text, and return it without a byte order mark."""
    return _scan(path, [Block(content.removeprefix(UTF8_MARK))]).head


def cut_blocks(path: Path, pieces: Iterable[bytes], cut: Cut) -> Iterator[Block]:
    """Blocks of at most ``BLOCK`` bytes where possible; the last keeps the blank lines that end the text."""
    buffer, line, size = bytearray(), 1, BLOCK
    for number, piece in enumerate(pieces):
        buffer += piece if number else piece.removeprefix(UTF8_MARK)
        while len(buffer) > size:
            end = cut(bytes(buffer[:size]))
            if end and not buffer[end:].strip(b"\r\n"):
                if len(buffer) - end > MAX_LINE_BYTES:
                    problem = f"{MAX_LINE_BYTES:,} bytes of nothing but blank lines follow; remove them"
                    raise FileError(path, problem, line + buffer.count(b"\n", 0, end))
                break
            if not end:
                if size >= MAX_LINE_BYTES:
                    raise FileError(path, _describe_endless(cut), line)
                size = min(2 * size, MAX_LINE_BYTES)
                continue
            yield (block := Block(bytes(buffer[:end]), line, is_last=False))
            del buffer[:end]
            line, size = line + block.content.count(b"\n"), BLOCK
    yield Block(bytes(buffer), line)


def _describe_endless(cut: Cut) -> str:
    size = f"{MAX_LINE_BYTES:,} bytes"
    if cut is line_end:
        return f"the line is longer than {size}, as no row is; write one row a line, or remove this one"
    return f"no record ends within {size}; close the quotes of every cell, and write one pair a record"


def _scan(path: Path, blocks: Iterable[Block]) -> Text:
    """Check that the blocks are UTF-8 text, and return its properties without the fingerprint."""
    head, count, nul = b"", 0, None
    has_returns = has_feeds = has_tabs = has_quotes = False
    for count, block in enumerate(blocks, start=1):
        content = block.content
        if count == 1:
            head = content
            refuse_foreign(path, content)
        _check_utf8(path, block)
        if nul is None and (place := content.find(b"\0")) >= 0:
            nul = block.line + content.count(b"\n", 0, place)
        has_returns |= b"\r" in content
        has_feeds |= b"\n" in content
        has_tabs |= b"\t" in content
        has_quotes |= b'"' in content
    if b"\0" in head[:2]:
        raise FileError(path, _UTF16)
    if nul is not None:
        problem = "holds a NUL byte, as no text does; the file is damaged: copy it again or correct it"
        raise FileError(path, problem, nul)
    if has_returns and not has_feeds:
        advice = r"save it with \n line ends, for example with: tr '\r' '\n' < OLD > NEW"
        raise FileError(path, f"its lines end in a carriage return alone; {advice}")
    return Text(path, head, is_whole=count == 1, fingerprint="", has_tabs=has_tabs, has_quotes=has_quotes)


def refuse_foreign(path: Path, content: bytes) -> None:
    """Raise when a file that should be text begins like one of another format."""
    for start, advice in _FOREIGN.items():
        if content.startswith(start):
            raise FileError(path, advice)


def _check_utf8(path: Path, block: Block) -> None:
    content = block.content
    if content.isascii():
        return
    try:
        content.decode()
    except UnicodeDecodeError as error:
        line = block.line + content.count(b"\n", 0, error.start)
        if error.reason == "unexpected end of data":
            raise FileError(path, "ends in the middle of a character; it is incomplete, copy it again", line) from error
        place = error.start - content.rfind(b"\n", 0, error.start)
        advice = "save the file as UTF-8, for example with: iconv -f WINDOWS-1252 -t UTF-8 OLD > NEW"
        problem = f"byte {place} of the line, 0x{content[error.start]:02x}, is not UTF-8; {advice}"
        raise FileError(path, problem, line) from error
