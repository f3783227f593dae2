"""Text files in blocks of whole lines or records, so that a file may be larger than memory.

A text is scanned once before it is read, to check that it is UTF-8 and to learn what depends on all of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from acidtest.core.errors import FileError
from acidtest.core.files import chunks

BLOCK = 2 << 20
"""The most bytes of a block, unless one record is longer."""

MAX_LINE_BYTES = 16 * 2**20
"""The longest line, or record in quotes, of a text; so many bytes of nothing but blank lines are refused, too."""

MAX_COLUMNS = 10_000
"""The most columns of a table; in JSON, keys inside nested objects count as well."""

Cut = Callable[[bytes], int]
"""Finds where the last whole line, or record, of a text ends that begins with one; 0 where none is whole."""

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
    """A part of a text, and the line of the whole on which it begins."""

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
        """The text in blocks of whole lines, or of whatever ``cut`` leaves whole; a long file is read again."""
        return iter([Block(self.head)]) if self.is_whole else cut_blocks(self.path, chunks(self.path), cut or line_end)

    def block_of(self, row: int, heights: Sequence[int], cut: Cut | None = None) -> tuple[Block, int]:
        """The block that holds a row, and the number of the row in it; ``heights`` are the rows of each block."""
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

    scan = _TextScan(path)
    for block in cut_blocks(path, digested(), line_end):
        scan.add(block)
    scan.end()
    return Text(path, scan.head, scan.is_whole, digest.hexdigest(), scan.has_tabs, scan.has_quotes)


def begins_with(content: bytes, *marks: bytes) -> bool:
    """Whether a text begins with one of some marks, such as the ``[`` of a JSON array, apart from space."""
    return content[:4096].removeprefix(UTF8_MARK).lstrip().startswith(marks)


def utf8_text(path: Path, content: bytes) -> bytes:
    """The content of a file without a byte order mark, once it is known to be UTF-8 text."""
    scan = _TextScan(path)
    scan.add(Block(content.removeprefix(UTF8_MARK)))
    scan.end()
    return scan.head


def _without_mark(pieces: Iterable[bytes]) -> Iterator[bytes]:
    for number, piece in enumerate(pieces):
        yield piece if number else piece.removeprefix(UTF8_MARK)


def cut_blocks(path: Path, pieces: Iterable[bytes], cut: Cut) -> Iterator[Block]:
    """Blocks of at most ``BLOCK`` bytes where possible; the last keeps the blank lines that end the text."""
    buffer, line, size = bytearray(), 1, BLOCK
    for piece in _without_mark(pieces):
        buffer += piece
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


class _TextScan:
    """What is known of a text after the blocks scanned so far."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._blocks = 0
        self._nul: int | None = None
        self._has_returns = self._has_feeds = False
        self.head = b""
        self.has_tabs = self.has_quotes = False

    @property
    def is_whole(self) -> bool:
        return self._blocks == 1

    def add(self, block: Block) -> None:
        """Scan the next block; one that is not UTF-8 is refused."""
        content = block.content
        if not self._blocks:
            self.head = content
            refuse_foreign(self._path, content)
        self._blocks += 1
        _check_utf8(self._path, block)
        if self._nul is None and (place := content.find(b"\0")) >= 0:
            self._nul = block.line + content.count(b"\n", 0, place)
        self._has_returns |= b"\r" in content
        self._has_feeds |= b"\n" in content
        self.has_tabs |= b"\t" in content
        self.has_quotes |= b'"' in content

    def end(self) -> None:
        """Refuse what no text contains, once all of it is known to be UTF-8."""
        if b"\0" in self.head[:2]:
            raise FileError(self._path, _UTF16)
        if self._nul is not None:
            problem = "holds a NUL byte, as no text does; the file is damaged: copy it again or correct it"
            raise FileError(self._path, problem, self._nul)
        if self._has_returns and not self._has_feeds:
            advice = r"save it with \n line ends, for example with: tr '\r' '\n' < OLD > NEW"
            raise FileError(self._path, f"its lines end in a carriage return alone; {advice}")


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
