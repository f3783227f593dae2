"""Files of word vectors, read in pieces, of which only the vectors of wanted words are kept.

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
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.errors import FileError
from acidtest.core.files import chunks

Floats = npt.NDArray[np.float32]
Index = npt.NDArray[np.int64]

MOST_BYTES = 1 << 26
"""No line of text, and no word or vector in JSON, is longer than this."""

_MARK = b"\xef\xbb\xbf"
_KEY = re.compile(rb'\s*,?\s*"((?:[^"\\]|\\.)*)"\s*:\s*\[(?=\s*[-\d])')
_OPENING = re.compile(rb'"vectors"\s*:\s*([{\[])')
_DIMENSIONS = re.compile(rb'"dimensions"\s*:\s*(\d+)')
_CLOSING = re.compile(rb"\s*\}")
# Enough to see what kind of JSON it is.
_BEGINNING = 1 << 16
# Vectors turned from text into numbers at a time: four times as fast as one by one.
_UNREAD = 1 << 12


@dataclass(frozen=True)
class Vectors:
    """The words that were found and their vectors, a row each."""

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
    found = _Found(path, wanted, first)
    _reader(path)(found)
    return found.vectors()


class _Found:
    """What has been found of a file's vectors so far."""

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
                yield piece if number else piece.removeprefix(_MARK)

    def keep(self, word: str, numbers: bytes, line: int | None = None) -> None:
        """Keep the vector of a word, its numbers parted by spaces, unless the word has one."""
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
        """All that was found."""
        if not self.size:
            raise FileError(self.path, "holds no word vectors; copy it again or give another")
        self._read()
        vectors = np.concatenate(self._blocks) if self._blocks else np.zeros((0, 1), dtype=np.float32)
        for row in np.flatnonzero(~np.isfinite(vectors).all(axis=1)):
            word, line = list(self._words.items())[row]
            raise FileError(self.path, f"the vector of {word!r} holds nan or inf, which is no number; mend it", line)
        return Vectors(tuple(self._words), vectors, self.size, self._digest.hexdigest())

    def _read(self) -> None:
        """Turn the numbers at hand, which are text, into vectors."""
        if not self._unread:
            return
        cells = pl.Series([b" ".join(self._unread)])
        try:
            numbers = cells.cast(pl.String).str.split(" ").explode().cast(pl.Float32).to_numpy()
        except pl.exceptions.PolarsError:
            numbers = np.concatenate([self._floats(*each) for each in zip(self._last_words, self._unread, strict=True)])
        self._blocks.append(numbers.reshape(len(self._unread), -1))
        self._unread = []

    def _floats(self, word: str, numbers: bytes) -> Floats:
        try:
            return np.array([float(number) for number in numbers.split(b" ")], dtype=np.float32)
        except ValueError as error:
            wrong = str(error).rpartition(": b")[2]
            problem = f"the vector of {word!r} holds {wrong}, which is no number; copy the file again or mend it"
            raise FileError(self.path, problem, self._words[word]) from error

    @property
    def _last_words(self) -> list[str]:
        return list(self._words)[-len(self._unread) :]


def _reader(path: Path) -> Callable[[_Found], None]:
    ending = Path(path.stem if path.suffix.lower() == ".gz" else path.name).suffix.lower()
    if ending == ".npz":
        return _read_archive
    if ending == ".json":
        return _read_json
    if ending == ".zip":
        raise FileError(path, "is a zip archive; unpack it and give one of the files in it")
    if ending in (".bin", ".model", ".pkl", ".pickle", ".npy", ".magnitude"):
        advice = "save the vectors as text, for example with gensim: vectors.save_word2vec_format('vectors.txt')"
        raise FileError(path, f"{ending} files are not read; {advice}")
    return _read_text


def _read_text(found: _Found) -> None:
    wanted = {word.encode(): word for word in found.wanted}
    shape: _Shape | None = None
    promised, last = None, 0
    for line, block in _line_blocks(found):
        lines = block.split(b"\n")
        if not lines[-1]:
            lines.pop()
        last = line + len(lines) - 1
        if shape is None:
            promised, shape = _shape(found.path, lines)
        _read_lines(found, lines, line, shape, wanted)
    if shape is None:
        return
    found.size = last - (promised is not None)
    if promised is not None and found.size != promised:
        problem = f"its first line promises {promised:,} words, but {found.size:,} follow; copy it again"
        raise FileError(found.path, problem, 1)


@dataclass(frozen=True)
class _Shape:
    """How a line of text is written: what stands between its parts, and how many numbers there are."""

    separator: bytes
    dimensions: int
    first: int
    """The number of the first line with a vector."""


def _line_blocks(found: _Found) -> Iterator[tuple[int, bytes]]:
    """Whole lines, some at a time, each time with the number of the first."""
    held, line = b"", 1
    for piece in found.pieces():
        if line == 1 and not held:
            _refuse_binary(found.path, piece)
        end = piece.rfind(b"\n") + 1
        if not end:
            held += piece
            if len(held) > MOST_BYTES:
                raise FileError(found.path, f"is longer than {MOST_BYTES:,} bytes: no line of a word's numbers", line)
            continue
        block = held + piece[:end]
        yield line, block
        line, held = line + block.count(b"\n"), piece[end:]
    if held:
        yield line, held


def _refuse_binary(path: Path, content: bytes) -> None:
    if content.startswith(b"PK\x03\x04"):
        raise FileError(path, "is a zip archive; unpack it, or end its name in .npz if NumPy wrote it")
    if content.startswith(b"\x1f\x8b"):
        raise FileError(path, "is gzip data; end its name in .gz")
    if b"\0" in content:
        advice = "unpack an archive first (tar xzf FILE); of binary vectors save a copy as text"
        raise FileError(path, f"is not text: it holds NUL bytes; {advice}")


_NUMERAL = re.compile(rb"[-+]?([\d.]+(e[-+]?\d+)?|nan|inf)", re.IGNORECASE)


def _shape(path: Path, lines: Sequence[bytes]) -> tuple[int | None, _Shape]:
    """The number of words that the first line promises, if it does, and how the others are written."""
    first = lines[0].split()
    if len(first) == 2 and all(part.isdigit() for part in first):
        words, dimensions = map(int, first)
        separator = b"\t" if len(lines) > 1 and b"\t" in lines[1].rstrip() else b" "
        return words, _Shape(separator, dimensions, 2)
    separator = b"\t" if b"\t" in lines[0].rstrip() else b" "
    dimensions = lines[0].rstrip().count(separator)
    if not dimensions or not _NUMERAL.fullmatch(lines[0].rstrip().rpartition(separator)[2]):
        problem = "is no word with its numbers, nor two counts; a file of vectors was expected: GloVe or word2vec text"
        raise FileError(path, problem, 1)
    return None, _Shape(separator, dimensions, 1)


def _read_lines(found: _Found, lines: Sequence[bytes], start: int, shape: _Shape, wanted: Mapping[bytes, str]) -> None:
    separator, dimensions = shape.separator, shape.dimensions
    for number, text in enumerate(lines, start):
        if number < shape.first:
            continue
        parts = text.count(separator)
        # word2vec and fastText end lines in a space, Windows in a carriage return.
        if parts != dimensions or text[-1:] in b" \t\r":
            text = text.rstrip()
            parts = text.count(separator)
        if parts < dimensions:
            told = "is empty" if not text else f"has {parts} numbers after its word instead of {dimensions}"
            raise FileError(found.path, f"{told}; copy the file again or mend the line", number)
        # More parts: a word such as ". . ." that holds spaces itself, which nobody can ask for.
        written = text[: text.find(separator)] if parts == dimensions else b""
        word = wanted.get(written)
        if word is None and written and number - shape.first < found.first:
            word = written.decode(errors="replace")
        if word is not None:
            found.keep(word, text[len(written) + 1 :].replace(separator, b" "), number)


def _read_json(found: _Found) -> None:
    wanted = {
        json.dumps(word, ensure_ascii=ascii)[1:-1].encode(): word for word in found.wanted for ascii in (False, True)
    }
    pieces = found.pieces()
    text, place, dimensions = _json_start(found.path, pieces)
    # Where the file says how many numbers are the vector's, others may follow, as its length does in winkNLP's.
    has_more, at, closed = dimensions is not None, 0, False
    for piece in _with_rest(pieces):
        while (key := _KEY.match(text, at)) and (end := text.find(b"]", key.end())) >= 0:
            at = end + 1
            found.size += 1
            word = wanted.get(key[1])
            if word is None and found.size <= found.first:
                try:
                    word = str(json.loads(b'"' + key[1] + b'"'))
                except ValueError as error:
                    raise FileError(found.path, f"a word is not valid JSON: {error}; copy the file again") from error
            if word is not None:
                parts = text[key.end() : end].replace(b",", b" ").split()
                dimensions = dimensions or len(parts)
                if len(parts) != dimensions and not (has_more and len(parts) > dimensions):
                    problem = f"the vector of {word!r} has {len(parts)} numbers instead of {dimensions}"
                    raise FileError(found.path, f"byte {place + key.end() + 1:,}: {problem}; copy the file again")
                found.keep(word, b" ".join(parts[:dimensions]))
        closed = _CLOSING.match(text, at) is not None
        if closed:
            break
        text, place, at = text[at:] + piece, place + at, 0
        if len(text) > MOST_BYTES or not piece:
            break
    if not closed:
        told = "a word and its list of numbers were expected here"
        raise FileError(found.path, f"byte {place + at + 1:,}: {told}; the file is incomplete or is no JSON of vectors")
    for _ in pieces:
        pass


def _json_start(path: Path, pieces: Iterator[bytes]) -> tuple[bytes, int, int | None]:
    """The text from the first word on, its place in the file, and how many numbers of a list are the vector's."""
    text, place, dimensions = b"", 0, None
    while len(text) < _BEGINNING and (piece := next(pieces, b"")):
        text += piece
    if not text.lstrip().startswith(b"{"):
        raise FileError(path, 'is no JSON object; {"word": [numbers], …} was expected, or that under "vectors"')
    inside = text.index(b"{") + 1
    if _KEY.match(text, inside):
        return text[inside:], inside, None
    while True:
        if dimensions is None and (told := _DIMENSIONS.search(text)):
            dimensions = int(told[1])
        if opening := _OPENING.search(text):
            if opening[1] == b"[":
                raise FileError(
                    path, '"vectors" is a list; an object with a list of numbers for each word was expected'
                )
            return text[opening.end() :], place + opening.end(), dimensions
        piece = next(pieces, b"")
        if not piece:
            raise FileError(path, 'holds no {"word": [numbers], …}, nor that under "vectors"')
        # What was looked at is let go, but for what may be the beginning of a name.
        kept = max(0, len(text) - 64)
        text, place = text[kept:] + piece, place + kept


def _with_rest(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The pieces, then nothing once, for what is left in hand."""
    yield from pieces
    yield b""


def _read_archive(found: _Found) -> None:
    for _ in found.pieces():
        pass
    try:
        with zipfile.ZipFile(found.path) as archive:
            words = _column(found, archive, "words")
            kept = words.is_in(found.wanted) | (pl.int_range(len(words), eager=True) < found.first)
            rows = np.flatnonzero((kept & words.is_first_distinct()).to_numpy())
            found.size = len(words)
            found.keep_all(words.gather(rows), _picked(found, archive, rows, len(words)))
    except (zipfile.BadZipFile, EOFError, ValueError) as error:
        raise FileError(found.path, f"is no NumPy archive that can be read: {error}") from error


def _column(found: _Found, archive: zipfile.ZipFile, name: str) -> pl.Series:
    with _array(found.path, archive, name) as array:
        if array.dtype.kind != "U" or len(array.shape) != 1:
            raise FileError(found.path, f"{name!r} holds {_told(array)}; a list of strings was expected")
        blocks = [pl.Series(block, dtype=pl.String) for block in array.blocks()]
    return pl.concat([pl.Series([], dtype=pl.String), *blocks])


def _picked(found: _Found, archive: zipfile.ZipFile, rows: Index, words: int) -> Floats:
    """Some rows of the array of vectors, in their order."""
    with _array(found.path, archive, "vectors") as array:
        if array.dtype.kind != "f" or len(array.shape) != 2:
            raise FileError(found.path, f"'vectors' holds {_told(array)}; rows of floating-point numbers were expected")
        if array.shape[0] != words:
            raise FileError(found.path, f"there are {words:,} words, but {array.shape[0]:,} vectors; save it again")
        picked, start = np.empty((len(rows), array.shape[1]), dtype=np.float32), 0
        for block in array.blocks():
            inside = slice(*np.searchsorted(rows, (start, start + len(block))))
            picked[inside] = block[rows[inside] - start]
            start += len(block)
    return picked


def _told(array: _Array) -> str:
    return f"{array.dtype} values in {len(array.shape)} dimensions"


@dataclass(frozen=True)
class _Array:
    """An array in an open file."""

    file: IO[bytes]
    shape: tuple[int, ...]
    dtype: np.dtype[Any]

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
        held = ", ".join(each.removesuffix(".npy") for each in archive.namelist()) or "nothing"
        raise FileError(path, f"holds {held}, but no {name!r}; write it with numpy.savez(path, words=…, vectors=…)")
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
