"""Word vectors from files, which are read in pieces; only the vectors of wanted words are kept.

Text as GloVe writes it (a word and its numbers on a line), text as word2vec and fastText write it (the same below a
line with two counts), JSON (an object with a list of numbers for each word, whole or under ``vectors``), all of these
also packed with gzip, and NumPy archives (``.npz``) with arrays ``words`` and ``vectors``.
"""

from __future__ import annotations

import json
import math
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.errors import FileError
from acidtest.core.files import chunks
from acidtest.io.blocks import UTF8_MARK

Floats = npt.NDArray[np.float32]
Index = npt.NDArray[np.int64]

MOST_BYTES = 1 << 26
"""No line of text, and no word or vector in JSON, is longer than this."""

_KEY = re.compile(rb'\s*,?\s*"((?:[^"\\]|\\.)*)"\s*:\s*\[(?=\s*[-\d])')
_OPENING = re.compile(rb'"vectors"\s*:\s*([{\[])')
_DIMENSIONS = re.compile(rb'"dimensions"\s*:\s*(\d+)')
_CLOSING = re.compile(rb"\s*\}")
# Enough to see what kind of JSON it is.
_BEGINNING = 1 << 16
# Vectors that are parsed at once, which is four times as fast as one by one.
_UNREAD = 1 << 12


@dataclass(frozen=True)
class Vectors:
    """Words of a file and their vectors, one row a word."""

    words: tuple[str, ...]
    vectors: Floats
    size: int
    """How many words the file has."""
    fingerprint: str
    """A digest of the (unpacked) content."""


def read_vectors(path: Path, wanted: Iterable[str], *, first: int = 0) -> Vectors:
    """The vectors of the wanted words in a file, and of its ``first`` words; of two vectors of a word the first counts.

    Most files begin with the most frequent words.
    """
    collector = _Collector(path, wanted, first)
    _reader(path)(collector)
    return collector.vectors()


class _Collector:
    """Collects the vectors that are wanted from a file."""

    def __init__(self, path: Path, wanted: Iterable[str], first: int) -> None:
        self.path = path
        self.wanted = list(wanted)
        self.first = first
        self.size = 0
        self._digest = blake2b(digest_size=8)
        self._words: dict[str, int | None] = {}
        self._blocks: list[Floats] = []
        self._unread: list[bytes] = []

    def pieces(self) -> Iterator[bytes]:
        """The unpacked content, counted into the fingerprint."""
        for number, piece in enumerate(chunks(self.path)):
            self._digest.update(piece)
            if piece:
                yield piece if number else piece.removeprefix(UTF8_MARK)

    def error(self, problem: str, line: int | None = None) -> FileError:
        """A problem of the file, to be raised."""
        return FileError(self.path, problem, line)

    def keep(self, word: str, numbers: bytes, line: int | None = None) -> None:
        """Keep the vector of a word, its numbers separated by spaces, unless the word has one already."""
        if word not in self._words:
            self._words[word] = line
            self._unread.append(numbers)
            if len(self._unread) == _UNREAD:
                self._read()

    def keep_all(self, words: Iterable[str], vectors: Floats) -> None:
        """Keep the vectors of some different words."""
        self._words |= dict.fromkeys(words)
        self._blocks.append(vectors)

    def vectors(self) -> Vectors:
        """All vectors collected, none of which may hold nan or inf."""
        if not self.size:
            raise FileError(self.path, "holds no word vectors; copy it again or give another")
        self._read()
        vectors = np.concatenate(self._blocks) if self._blocks else np.zeros((0, 1), dtype=np.float32)
        for row in np.flatnonzero(~np.isfinite(vectors).all(axis=1)):
            word, line = list(self._words.items())[row]
            raise FileError(self.path, f"the vector of {word!r} holds nan or inf, which is no number; correct it", line)
        return Vectors(tuple(self._words), vectors, self.size, self._digest.hexdigest())

    def _read(self) -> None:
        """Turn the collected numbers, which are text, into vectors."""
        if not self._unread:
            return
        cells = pl.Series([b" ".join(self._unread)])
        try:
            numbers = cells.cast(pl.String).str.split(" ").explode().cast(pl.Float32).to_numpy()
        except pl.exceptions.PolarsError:
            words = list(self._words)[-len(self._unread) :]
            numbers = np.concatenate([self._floats(*pair) for pair in zip(words, self._unread, strict=True)])
        self._blocks.append(numbers.reshape(len(self._unread), -1))
        self._unread = []

    def _floats(self, word: str, numbers: bytes) -> Floats:
        try:
            return np.array([float(number) for number in numbers.split(b" ")], dtype=np.float32)
        except ValueError as error:
            wrong = str(error).rpartition(": b")[2]
            problem = f"the vector of {word!r} holds {wrong}, which is no number; copy the file again or correct it"
            raise FileError(self.path, problem, self._words[word]) from error


def _reader(path: Path) -> Callable[[_Collector], None]:
    ending = Path(path.stem if path.suffix.lower() == ".gz" else path.name).suffix.lower()
    if ending in (".npz", ".json"):
        return _read_archive if ending == ".npz" else _read_json
    if ending == ".zip":
        raise FileError(path, "is a zip archive; unpack it and give one of the files in it")
    if ending in (".bin", ".model", ".pkl", ".pickle", ".npy", ".magnitude"):
        advice = "save the vectors as text, for example with gensim: vectors.save_word2vec_format('vectors.txt')"
        raise FileError(path, f"{ending} files are not read; {advice}")
    return _read_text


def _read_text(collector: _Collector) -> None:
    wanted = {word.encode(): word for word in collector.wanted}
    layout: _LineFormat | None = None
    promised, last = None, 0
    for line, block in _line_blocks(collector):
        lines = block.split(b"\n")
        if not lines[-1]:
            lines.pop()
        last = line + len(lines) - 1
        if layout is None:
            promised, layout = _line_format(collector.path, lines)
        _read_lines(collector, enumerate(lines, line), layout, wanted)
    if layout is None:
        return
    collector.size = last - (promised is not None)
    if promised is not None and collector.size != promised:
        problem = f"its first line promises {promised:,} words, but {collector.size:,} follow; copy it again"
        raise collector.error(problem, 1)


@dataclass(frozen=True)
class _LineFormat:
    """How the lines of a text are written: the separator, and how many numbers follow a word."""

    separator: bytes
    dimensions: int
    first: int
    """The first line with a vector."""


def _line_blocks(collector: _Collector) -> Iterator[tuple[int, bytes]]:
    """Blocks of whole lines, with the number of the first line of each block."""
    rest, line = b"", 1
    for piece in collector.pieces():
        if line == 1 and not rest:
            _refuse_binary(collector.path, piece)
        end = piece.rfind(b"\n") + 1
        if not end:
            rest += piece
            if len(rest) > MOST_BYTES:
                raise collector.error(f"is longer than {MOST_BYTES:,} bytes: no line of a word's numbers", line)
            continue
        block = rest + piece[:end]
        yield line, block
        line, rest = line + block.count(b"\n"), piece[end:]
    if rest:
        yield line, rest


def _refuse_binary(path: Path, content: bytes) -> None:
    if content.startswith(b"PK\x03\x04"):
        raise FileError(path, "is a zip archive; unpack it, or end its name in .npz if NumPy wrote it")
    if content.startswith(b"\x1f\x8b"):
        raise FileError(path, "is gzip data; end its name in .gz")
    if b"\0" in content:
        advice = "unpack an archive first (tar xzf FILE); of binary vectors save a copy as text"
        raise FileError(path, f"is not text: it holds NUL bytes; {advice}")


_NUMERAL = re.compile(rb"[-+]?([\d.]+(e[-+]?\d+)?|nan|inf)", re.IGNORECASE)


def _line_format(path: Path, lines: Sequence[bytes]) -> tuple[int | None, _LineFormat]:
    """The number of words that the first line promises, if it does, and how the others are written."""
    first = lines[0].split()
    if len(first) == 2 and all(part.isdigit() for part in first):
        words, dimensions = map(int, first)
        separator = b"\t" if len(lines) > 1 and b"\t" in lines[1].rstrip() else b" "
        return words, _LineFormat(separator, dimensions, 2)
    separator = b"\t" if b"\t" in lines[0].rstrip() else b" "
    dimensions = lines[0].rstrip().count(separator)
    if not dimensions or not _NUMERAL.fullmatch(lines[0].rstrip().rpartition(separator)[2]):
        problem = "is no word with its numbers, nor two counts; a file of vectors was expected: GloVe or word2vec text"
        raise FileError(path, problem, 1)
    return None, _LineFormat(separator, dimensions, 1)


def _read_lines(
    collector: _Collector, lines: Iterable[tuple[int, bytes]], layout: _LineFormat, wanted: Mapping[bytes, str]
) -> None:
    separator, dimensions = layout.separator, layout.dimensions
    for number, text in lines:
        if number < layout.first:
            continue
        parts = text.count(separator)
        # word2vec and fastText end lines in a space, Windows in a carriage return.
        if parts != dimensions or text[-1:] in b" \t\r":
            text = text.rstrip()
            parts = text.count(separator)
        if parts < dimensions:
            problem = f"has {parts} numbers after its word instead of {dimensions}" if text else "is empty"
            raise collector.error(f"{problem}; copy the file again or correct the line", number)
        # More parts: a word such as ". . ." with spaces in it, which nobody can ask for.
        written = text[: text.find(separator)] if parts == dimensions else b""
        word = wanted.get(written)
        if word is None and written and number - layout.first < collector.first:
            word = written.decode(errors="replace")
        if word is not None:
            collector.keep(word, text[len(written) + 1 :].replace(separator, b" "), number)


def _read_json(collector: _Collector) -> None:
    spellings = ((json.dumps(word, ensure_ascii=ascii), word) for word in collector.wanted for ascii in (False, True))
    wanted = {spelling[1:-1].encode(): word for spelling, word in spellings}
    pieces = collector.pieces()
    text, place, dimensions = _json_start(collector.path, pieces)
    # Where the file says how many numbers a vector has, others may follow: winkNLP adds the vector's length.
    has_more, at, closed = dimensions is not None, 0, False
    # The empty piece at the end is for what is left to read in ``text``.
    for piece in chain(pieces, [b""]):
        while (key := _KEY.match(text, at)) and (end := text.find(b"]", key.end())) >= 0:
            at = end + 1
            collector.size += 1
            word = wanted.get(key[1])
            if word is None and collector.size <= collector.first:
                try:
                    word = str(json.loads(b'"' + key[1] + b'"'))
                except ValueError as error:
                    raise collector.error(f"a word is not valid JSON: {error}; copy the file again") from error
            if word is not None:
                parts = text[key.end() : end].replace(b",", b" ").split()
                dimensions = dimensions or len(parts)
                if len(parts) != dimensions and not (has_more and len(parts) > dimensions):
                    problem = f"the vector of {word!r} has {len(parts)} numbers instead of {dimensions}"
                    raise collector.error(f"byte {place + key.end() + 1:,}: {problem}; copy the file again")
                collector.keep(word, b" ".join(parts[:dimensions]))
        closed = _CLOSING.match(text, at) is not None
        if closed:
            break
        text, place, at = text[at:] + piece, place + at, 0
        if len(text) > MOST_BYTES or not piece:
            break
    if not closed:
        problem = "a word and its list of numbers were expected here; the file is incomplete or is no JSON of vectors"
        raise collector.error(f"byte {place + at + 1:,}: {problem}")
    for _ in pieces:
        pass


def _json_start(path: Path, pieces: Iterator[bytes]) -> tuple[bytes, int, int | None]:
    """The text from the first word on, its place in the file, and how many numbers a vector has if the file says so."""
    text, place, dimensions = b"", 0, None
    while len(text) < _BEGINNING and (piece := next(pieces, b"")):
        text += piece
    if not text.lstrip().startswith(b"{"):
        raise FileError(path, 'is no JSON object; {"word": [numbers], …} was expected, or that under "vectors"')
    inside = text.index(b"{") + 1
    if _KEY.match(text, inside):
        return text[inside:], inside, None
    while True:
        if dimensions is None and (match := _DIMENSIONS.search(text)):
            dimensions = int(match[1])
        if opening := _OPENING.search(text):
            if opening[1] == b"[":
                raise FileError(
                    path, '"vectors" is a list; an object with a list of numbers for each word was expected'
                )
            return text[opening.end() :], place + opening.end(), dimensions
        piece = next(pieces, b"")
        if not piece:
            raise FileError(path, 'holds no {"word": [numbers], …}, nor that under "vectors"')
        # Keep no more than what may be the beginning of a name.
        kept = max(0, len(text) - 64)
        text, place = text[kept:] + piece, place + kept


def _read_archive(collector: _Collector) -> None:
    for _ in collector.pieces():
        pass
    try:
        with zipfile.ZipFile(collector.path) as archive:
            words = _column(collector, archive, "words")
            kept = words.is_in(collector.wanted) | (pl.int_range(len(words), eager=True) < collector.first)
            rows = np.flatnonzero((kept & words.is_first_distinct()).to_numpy())
            collector.size = len(words)
            collector.keep_all(words.gather(rows), _picked(collector, archive, rows, len(words)))
    except (zipfile.BadZipFile, EOFError, ValueError) as error:
        raise collector.error(f"is no NumPy archive that can be read: {error}") from error


def _column(collector: _Collector, archive: zipfile.ZipFile, name: str) -> pl.Series:
    with _array(collector.path, archive, name) as array:
        if array.dtype.kind != "U" or len(array.shape) != 1:
            raise collector.error(f"{name!r} holds {array}; a list of strings was expected")
        blocks = [pl.Series(block, dtype=pl.String) for block in array.blocks()]
    return pl.concat([pl.Series([], dtype=pl.String), *blocks])


def _picked(collector: _Collector, archive: zipfile.ZipFile, rows: Index, words: int) -> Floats:
    """Some rows of the array of vectors, in their order."""
    with _array(collector.path, archive, "vectors") as array:
        if array.dtype.kind != "f" or len(array.shape) != 2:
            raise collector.error(f"'vectors' holds {array}; rows of floating-point numbers were expected")
        if array.shape[0] != words:
            raise collector.error(f"there are {words:,} words, but {array.shape[0]:,} vectors; save it again")
        picked, start = np.empty((len(rows), array.shape[1]), dtype=np.float32), 0
        for block in array.blocks():
            inside = slice(*np.searchsorted(rows, (start, start + len(block))))
            picked[inside] = block[rows[inside] - start]
            start += len(block)
    return picked


@dataclass(frozen=True)
class _Array:
    """An array in an open file."""

    file: IO[bytes]
    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    def __str__(self) -> str:
        return f"{self.dtype} values in {len(self.shape)} dimensions"

    @property
    def row_bytes(self) -> int:
        """The bytes of a row."""
        return self.dtype.itemsize * math.prod(self.shape[1:])

    def blocks(self) -> Iterator[npt.NDArray[Any]]:
        """Its rows, some at a time."""
        step = max(1, (1 << 22) // self.row_bytes)
        for start in range(0, self.shape[0], step):
            rows = min(step, self.shape[0] - start)
            content = self.file.read(rows * self.row_bytes)
            if len(content) < rows * self.row_bytes:
                raise EOFError("an array ends too early")
            yield np.frombuffer(content, dtype=self.dtype).reshape(rows, *self.shape[1:])


@contextmanager
def _array(path: Path, archive: zipfile.ZipFile, name: str) -> Iterator[_Array]:
    """An array of a NumPy archive; nothing pickled is ever unpacked."""
    if f"{name}.npy" not in archive.namelist():
        names = ", ".join(name.removesuffix(".npy") for name in archive.namelist()) or "nothing"
        raise FileError(path, f"holds {names}, but no {name!r}; write it with numpy.savez(path, words=…, vectors=…)")
    with archive.open(f"{name}.npy") as file:
        version = np.lib.format.read_magic(file)
        header = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
        if version not in header:
            raise FileError(path, f"array {name!r} is of format {version}, which is not known; save it again")
        shape, is_by_columns, dtype = header[version](file)
        array = _Array(file, shape, dtype)
        if dtype.hasobject:
            raise FileError(path, f"array {name!r} holds Python objects, which are not read; save it as strings")
        if is_by_columns and len(shape) > 1:
            raise FileError(path, f"array {name!r} is stored by columns; save numpy.ascontiguousarray of it")
        if not 0 < array.row_bytes <= MOST_BYTES:
            raise FileError(path, f"a row of array {name!r} has {array.row_bytes:,} bytes; save it again")
        yield array
