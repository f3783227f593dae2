"""Chooses the senses of words in sentences, many at once: WordNet's first sense, or the one of Lesk's algorithm.

Lesk's algorithm takes the sense whose definition shares most words with the sentence. Definitions are not part of
acidtest: they are read from a full WordNet 3.0 on this machine. Their words are numbered by frequency; matches of the
most frequent words are counted with bit masks, the others in a table of contexts by words, for as many contexts at a
time as fit in a processor's cache.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from acidtest.core.errors import AcidtestError, FileError, UnknownNameError
from acidtest.core.files import ZipArchive, data_folder, read_bounded
from acidtest.english.tokens import number_distinct
from acidtest.english.wordnet import ALL_POS, SATELLITE, Ranges, check_pos, wordnet
from acidtest.io.store import WORDNET

WAYS = ("first", "lesk", "lesk-2018")
"""The ways to choose a sense: WordNet's first, which is the most frequent, or by the words of the sentence.

``lesk-2018`` differs from ``lesk`` between senses that share equally many words with the sentence: NLTK took the one
whose synset has the last name in alphabetical order when the stress tests were made, and takes the first sense today.
"""

VARIABLE = "ACIDTEST_WORDNET"
VERSION = "3.0"
FETCH = "acidtest sources fetch wordnet"
DATA_FILES = ("data.noun", "data.verb", "data.adj", "data.adv")
"""The files that hold glosses, in the order of our synset numbers."""
DEBIAN = Path("/usr/share/wordnet")
MOST_BYTES = 64 * 2**20
"""The most bytes read of a data file; WordNet's largest has 15 MB."""

MASKED = 64
"""How many words are compared as bits of one integer; they are two fifths of the words of all definitions."""
CELLS = 2**22
"""Size of the table of contexts by words, in bytes."""

_ANY = "any"
_WANTED = pl.Enum([*ALL_POS.categories, _ANY])
"""The parts of speech that a caller may ask for."""

Numbers = NDArray[np.int64]
Masks = NDArray[np.uint64]


@dataclass(frozen=True)
class WordNetFolder:
    """A possible place of a full WordNet: a folder, or NLTK's zip file with a folder in it."""

    path: Path
    origin: str

    @property
    def exists(self) -> bool:
        """Whether WordNet's first data file, or the zip file, exists."""
        return self.path.is_file() if self.path.suffix == ".zip" else (self.path / DATA_FILES[0]).is_file()

    def content(self, name: str) -> bytes:
        """The content of one of its files, with line ends normalised to ``\\n``."""
        remedy = f"delete it, or get it with: {FETCH}"
        if self.path.suffix == ".zip":
            with ZipArchive(self.path, remedy=remedy) as archive:
                content = archive.read(f"wordnet/{name}", MOST_BYTES)
        else:
            content = read_bounded(self.path / name, MOST_BYTES, remedy=f"it is not WordNet {VERSION}; {remedy}")
        return content.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def find_wordnet_folder(
    environment: Mapping[str, str] | None = None, *, home: Path | None = None
) -> WordNetFolder | None:
    """The first place with a full WordNet, or None; raises if the environment names a folder without one."""
    environment = os.environ if environment is None else environment
    if environment.get(VARIABLE):
        named = WordNetFolder(Path(environment[VARIABLE]), VARIABLE)
        if not named.exists:
            raise FileError(named.path, f"has no {DATA_FILES[0]}; {VARIABLE} must name a folder with WordNet {VERSION}")
        return named
    return next((folder for folder in _wordnet_folders(environment, home or Path.home()) if folder.exists), None)


def require_glosses(need: str) -> WordNetFolder:
    """The place of the glosses; without any, the error names the feature in ``need``, such as ``wsd=lesk``."""
    folder = find_wordnet_folder()
    if folder is None:
        raise AcidtestError(f"{need} needs WordNet glosses; get them with: {FETCH}")
    return folder


@cache
def definitions(place: WordNetFolder) -> pl.Series:
    """The definition of every synset, by number: its gloss without examples, split as NLTK does."""
    lines = pl.concat([_synset_lines(place, name) for name in DATA_FILES])
    ours = wordnet().synset_table
    offsets, pos = lines.str.head(8).cast(pl.UInt32, strict=False), lines.str.slice(12, 1)
    fits = len(lines) == ours.height
    if not fits or not (offsets.eq_missing(ours["offset"]) & (pos == ours["pos"].cast(pl.String))).all():
        raise FileError(place.path, f"is not WordNet {VERSION}: its synsets stand elsewhere; get it with: {FETCH}")
    gloss = lines.str.split_exact("|", 1).struct.field("field_1")
    without_examples = gloss.str.replace_all(r'".*?"', "").str.strip_chars()
    return without_examples.str.strip_chars("; ").alias("definition")


def _wordnet_folders(environment: Mapping[str, str], home: Path) -> Iterator[WordNetFolder]:
    yield WordNetFolder(data_folder(environment, home=home) / WORDNET, FETCH)
    for folder in _nltk_folders(environment, home):
        yield WordNetFolder(folder / "corpora" / "wordnet", "NLTK's data")
        yield WordNetFolder(folder / "corpora" / "wordnet.zip", "NLTK's data")
    yield WordNetFolder(DEBIAN, "Debian's wordnet-base")


def _nltk_folders(environment: Mapping[str, str], home: Path) -> Iterator[Path]:
    """The folders where NLTK looks (nltk.data.path), without importing it."""
    yield from (Path(part) for part in environment.get("NLTK_DATA", "").split(os.pathsep) if part)
    yield home / "nltk_data"
    yield from (Path(sys.prefix, *parts, "nltk_data") for parts in ((), ("share",), ("lib",)))
    if sys.platform == "win32":
        yield Path(environment.get("APPDATA", "C:\\"), "nltk_data")
        yield from (Path(f"{drive}:\\nltk_data") for drive in "CDE")
    else:
        yield from (Path(f"/usr/{part}/nltk_data") for part in ("share", "local/share", "lib", "local/lib"))


def _synset_lines(place: WordNetFolder, name: str) -> pl.Series:
    """The lines of a data file, one per synset, without the indented licence."""
    content = place.content(name)
    version = re.search(rb"Word[nN]et (\d[\d.]*) Copyright", content[:4096])
    if version and version[1].decode() != VERSION:
        problem = f"is WordNet {version[1].decode()}, but version {VERSION} is needed; get it with: {FETCH}"
        raise FileError(place.path, problem)
    # A separator that occurs nowhere makes each line one field.
    table = pl.read_csv(
        content,
        separator="\x01",
        quote_char=None,
        has_header=False,
        schema={"line": pl.String},
        encoding="utf8-lossy",
        raise_if_empty=False,
    )
    return table["line"].filter(~table["line"].str.starts_with("  "))


def senses(
    way: str,
    contexts: pl.Series,
    words: pl.Series,
    *,
    pos: pl.Series | str | None = None,
    rows: pl.Series | None = None,
) -> pl.Series:
    """The synset of each word in its context, by number; null for a word that WordNet has in no form.

    ``way`` is one of ``WAYS``. ``contexts`` are lists of tokens, one for each word; with ``rows``, word ``i`` has the
    context number ``rows[i]``, so that a sentence is given once for all its words. ``pos`` is n, v, a, s or r, for all
    words or for each; None or null means any, nouns first.
    """
    if way not in WAYS:
        raise UnknownNameError("way to choose a sense", way, WAYS)
    rows = pl.int_range(len(contexts), eager=True) if rows is None else rows
    parts = pos if isinstance(pos, pl.Series) else pl.repeat(pos, len(words), dtype=pl.String, eager=True)
    check_pos(*(parts.unique() if isinstance(pos, pl.Series) else [pos]))
    if len(rows) != len(words) or len(parts) != len(words):
        raise AcidtestError(f"{len(words):,} words need as many contexts or rows, and as many parts of speech")
    if len(rows) and not rows.is_between(0, len(contexts) - 1).all():
        raise AcidtestError(f"rows are numbers of contexts, here from 0 to {len(contexts) - 1:,}")
    parts = parts.cast(pl.String).fill_null(_ANY).cast(_WANTED)
    choices = _SenseChoices.of(
        words.fill_null(""), parts, satellites=way == "first", last_name_first=way == "lesk-2018"
    )
    if way == "first":
        places = np.zeros(len(words), dtype=np.int64)
    else:
        places = _lesk_places(choices, contexts, rows.cast(pl.Int64).to_numpy())
    return choices.synsets(places).alias("synset")


@dataclass(frozen=True)
class _SenseChoices:
    """The possible synsets of each question, a distinct (word, pos): ranges of ``numbers``, in WordNet's order."""

    questions: Numbers
    """The number of the question for each word."""
    ranges: Ranges
    numbers: NDArray[np.int32]

    @classmethod
    def of(cls, words: pl.Series, pos: pl.Series, *, satellites: bool, last_name_first: bool = False) -> _SenseChoices:
        """The choices for each word; ``satellites``: whether ``a`` includes satellite adjectives.

        ``last_name_first``: the order is not WordNet's, but that of the synsets' names, backwards.
        """
        distinct, codes = number_distinct(words)
        parts = _WANTED.categories
        keys = codes * len(parts) + pos.to_physical().to_numpy()
        used = np.bincount(keys, minlength=1) > 0
        asked, questions = np.flatnonzero(used), (np.cumsum(used) - 1)[keys]
        word, part = np.divmod(asked, len(parts))
        rows = pl.DataFrame({"word": distinct.gather(word), "wanted": parts.gather(part)}).with_row_index("question")
        known = wordnet().sense_frame(distinct).select("word", "synset", pos=pl.col("pos").cast(pl.String))
        rows = rows.join(known, on="word", maintain_order="left_right")
        wanted, is_satellite = pl.col("wanted"), pl.col("pos") == SATELLITE
        fits = (wanted == _ANY) | (wanted == pl.col("pos")) | (satellites & (wanted == "a") & is_satellite)
        rows = rows.filter(fits)
        if last_name_first:
            names = wordnet().synset_names.gather(rows["synset"])
            rows = rows.with_columns(name=names).sort("question", "name", descending=[False, True])
        return cls(questions, Ranges.of_sorted(rows["question"].to_numpy(), len(asked)), rows["synset"].to_numpy())

    def synsets(self, places: Numbers) -> pl.Series:
        """For each word the synset at ``places`` among its choices; null for a word without choices."""
        none = self.ranges.lengths(self.questions) == 0
        at = np.where(none, len(self.numbers), self.ranges.starts[self.questions] + places)
        return pl.Series(np.append(self.numbers, 0)[at]).set(pl.Series(none), None)


def _lesk_places(choices: _SenseChoices, contexts: pl.Series, rows: Numbers) -> Numbers:
    """For each word the choice whose definition shares most words with its context; of equals, the first.

    Same results as ``nltk.wsd.lesk`` of NLTK 3.10: words are compared as written, with capitals and commas, and count
    once; ``a`` excludes satellites. Lesk (1986) compares definitions with each other instead.
    """
    overlaps = _Overlaps(choices, contexts, _gloss_words(require_glosses("wsd=lesk")))
    several = np.flatnonzero(choices.ranges.lengths(choices.questions) > 1)
    several = several[np.argsort(rows[several], kind="stable")]
    places = np.zeros(len(rows), dtype=np.int64)
    places[several] = overlaps.best_choices(rows[several], choices.questions[several])
    return places


@dataclass(frozen=True)
class _GlossWords:
    """The distinct words of each definition, numbered by frequency: those of synset ``s`` are a range of ``words``."""

    vocabulary: pl.DataFrame
    ranges: Ranges
    words: Numbers
    masks: Masks
    """The most frequent words of each definition, one bit each."""


class _Overlaps:
    """Counts the words shared by contexts and definitions: frequent words by masks, others by columns of a table."""

    def __init__(self, choices: _SenseChoices, contexts: pl.Series, glosses: _GlossWords) -> None:
        distinct, codes = number_distinct(contexts.explode(empty_as_null=False, keep_nulls=False).fill_null(""))
        rows = np.repeat(np.arange(len(contexts)), contexts.list.len().fill_null(0).to_numpy())
        numbered = pl.DataFrame({"token": distinct}).join(
            glosses.vocabulary, on="token", how="left", maintain_order="left"
        )
        number_of = numbered["number"].fill_null(-1).to_numpy()
        numbers = number_of[codes]
        frequent, in_table = (numbers >= 0) & (numbers < MASKED), numbers >= MASKED
        # The column of each word of definitions; -1 for frequent words and those in no context.
        rare = np.sort(number_of[number_of >= MASKED])
        column_of = np.full(int(glosses.words.max()) + 1, -1, dtype=np.int32)
        column_of[rare] = np.arange(len(rare), dtype=np.int32)
        self.width = max(1, len(rare))
        self.context_masks = _bit_masks(rows[frequent], numbers[frequent], len(contexts))
        self.context_ranges = Ranges.of_sorted(rows[in_table], len(contexts))
        self.context_columns = column_of[numbers[in_table]]
        self.choices = choices.ranges
        self.masks = glosses.masks[choices.numbers]
        questions = len(choices.ranges.starts) - 1
        question = np.repeat(np.arange(questions), np.diff(choices.ranges.starts))
        owners = np.repeat(np.arange(len(question)), glosses.ranges.lengths(choices.numbers))
        columns = column_of[glosses.words[glosses.ranges.joined(choices.numbers)]]
        owners, self.columns = owners[columns >= 0], columns[columns >= 0]
        # For each question, the columns of the words of all its choices, and the choice each column belongs to.
        self.ranges = Ranges.of_sorted(question[owners], questions)
        self.places = owners - choices.ranges.starts[question[owners]]

    def best_choices(self, rows: Numbers, questions: Numbers) -> Numbers:
        """The place of the best choice for each question in its context; ``rows`` must be sorted."""
        best = np.zeros(len(rows), dtype=np.int64)
        contexts, size = len(self.context_masks), max(1, CELLS // self.width)
        for start in range(0, contexts, size):
            block = range(start, min(start + size, contexts))
            part = slice(*np.searchsorted(rows, [block.start, block.stop]))
            if part.start < part.stop:
                best[part] = self._best_in_block(block, rows[part], questions[part])
        return best

    def _best_in_block(self, block: range, rows: Numbers, questions: Numbers) -> Numbers:
        lengths = self.choices.lengths(questions)
        starts, choices = np.cumsum(lengths) - lengths, self.choices.joined(questions)
        masks = np.repeat(self.context_masks.take(rows), lengths)
        frequent = np.bitwise_count(masks & self.masks.take(choices))
        words, counts = self.ranges.joined(questions), self.ranges.lengths(questions)
        cells = np.repeat((rows - block.start) * self.width, counts) + self.columns.take(words)
        hits = np.flatnonzero(self._table(block).ravel().take(cells))
        rare = np.bincount(
            np.repeat(starts, counts).take(hits) + self.places.take(words.take(hits)), minlength=len(choices)
        )
        # Of equals the first wins: the overlap is scaled and the position of the choice subtracted.
        best: Numbers = np.maximum.reduceat((rare + frequent) * len(choices) - np.arange(len(choices)), starts)
        return -best % len(choices) - starts

    def _table(self, block: range) -> NDArray[np.bool_]:
        """A table of the contexts of a block by columns: true where the context has the column's word."""
        table = np.zeros((len(block), self.width), dtype=bool)
        rows = np.arange(block.start, block.stop)
        cells = np.repeat(rows - block.start, self.context_ranges.lengths(rows))
        table[cells, self.context_columns[self.context_ranges.joined(rows)]] = True
        return table


def _bit_masks(things: Numbers, numbers: Numbers, size: int) -> Masks:
    """A mask for each thing, with a bit set for each of its numbers, which are below ``MASKED``."""
    masks = np.zeros(size, dtype=np.uint64)
    np.bitwise_or.at(masks, things, np.uint64(1) << numbers.astype(np.uint64))
    return masks


@cache
def _gloss_words(place: WordNetFolder) -> _GlossWords:
    texts = definitions(place).str.split(" ")
    distinct, codes = number_distinct(texts.explode(empty_as_null=False, keep_nulls=False))
    synsets = np.repeat(np.arange(len(texts)), texts.list.len().to_numpy())
    keys = np.sort(synsets * len(distinct) + codes)
    synsets, codes = np.divmod(keys[np.diff(keys, prepend=-1) > 0], len(distinct))
    number_of = np.argsort(np.argsort(-np.bincount(codes), kind="stable"))
    numbers = number_of[codes]
    vocabulary = pl.DataFrame({"token": distinct, "number": number_of}).filter(pl.col("token") != "")
    frequent = numbers < MASKED
    masks = _bit_masks(synsets[frequent], numbers[frequent], len(texts))
    return _GlossWords(vocabulary, Ranges.of_sorted(synsets, len(texts)), numbers, masks)
