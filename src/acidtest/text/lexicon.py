"""What words are by themselves: the lexicon of Brill's tagger as textblob carries it, our own words, and shapes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import polars as pl

from acidtest.core.errors import AcidtestError
from acidtest.io.wordlists import packaged_table
from acidtest.text.context import NUMBER, Masks, Tags, mask
from acidtest.text.relatives import related
from acidtest.text.tokens import Numbers

LEXICON, CONTEXT = "en-lexicon.txt", "en-context.txt"
"""Files of textblob."""

_SHAPES = (
    (r"^(?:[.!?]+|[。！？])$", "."),
    (r"^[,、，]$", ","),
    (r"^(?:[:;/…]|\.{2,}|-+|[–—])$", ":"),
    (r"^\p{Ps}$", "-LRB-"),
    (r"^\p{Pe}$", "-RRB-"),
    (r"^\p{Sc}$", "$"),
    (r"^#$", "#"),
    (r"^&$", "CC"),
    (r"^[%°]$", "NN"),
    (r"^(?:``|[“‘«„])$", "``"),
    (r"^(?:''|[\"”’»'])$", "'' POS ``"),
    (r"^[^\p{L}\p{N}]+$", "SYM"),
    (r"^[\p{N}.,:/\-]+$", "CD"),
    (r"^['’]?\p{N}+['’]?s$", "NNS CD"),
    (r"^\p{N}+(?:st|nd|rd|th)$", "JJ"),
    (r"-.*(?:ed|en|ing|old|free|like|style|sized?|wide|based)$", "JJ NN"),
    (r"(?:[^aius]|-.+)s$", "NNS VBZ"),
    (r"-", "JJ NN"),
    (r"ly$", "RB JJ"),
    (r"[aeiouy].*ing$", "VBG NN JJ"),
    (r"[aeiouy].*ed$", "VBN VBD JJ"),
    (r"(?:able|ible|al|ful|ient|ish|ive|less|ic|ous|ary|some|esque)$", "JJ NN"),
    (r"(?:ate|ify|ise|ize)$", "VB VBP"),
    (r"", "NN VB VBP JJ"),
)
"""Words that are in no list: the first shape that fits says what they may be, most often the first of these."""


@dataclass(frozen=True)
class Readings:
    """The tag of each of some words by itself, and the tags it may have as one bit each."""

    tag: Tags
    may: Masks


@dataclass(frozen=True)
class _Lexicon:
    row: dict[str, int]
    readings: Readings


def readings(words: pl.Series, *, initial: bool) -> Readings:
    """What each of some words is, within a sentence or as its first word, where a capital says little."""
    known = _lexicon()
    shape = _shaped(words)
    exact, low = (_rows(known, names) for names in (words, words.str.to_lowercase()))
    capital = words.str.contains(r"^\p{Lu}").to_numpy()
    shouted = words.str.contains(r"^\p{Lu}{2,}$").to_numpy()
    proper = np.isin(known.readings.tag, [NUMBER["NNP"], NUMBER["NNPS"]])
    common = (low >= 0) & ~proper[low]
    # "US" is a country also as first word; "MEN" is in no list and means men.
    use_low = common & (~capital | (initial & ~shouted) | (shouted & (exact < 0)))
    use_exact = (exact >= 0) & capital & ~use_low
    told = np.isin(shape.tag, [NUMBER["RB"], NUMBER["VBG"]]) & initial & (words.str.len_chars().to_numpy() > 6)
    tag = np.where(capital & (shape.tag != NUMBER["CD"]) & ~told, NUMBER["NNP"], shape.tag)
    tag = np.where(use_exact, known.readings.tag[exact], np.where(use_low, known.readings.tag[low], tag))
    names = mask(("NNP", "NNPS"))
    may: Masks = np.where(common, known.readings.may[low], shape.may)
    may |= np.where(use_exact, known.readings.may[exact], 0).astype(np.uint64)
    may |= np.where(capital, names, 0).astype(np.uint64)
    may[use_exact & ~common & proper[exact]] = names
    return Readings(tag.astype(np.uint8), may)


def textblob_lines(name: str) -> list[str]:
    """The lines of a file that textblob carries, without comments."""
    lines = _textblob_file(name).decode("utf-8").splitlines()
    return [line for line in lines if line.strip() and not line.startswith(";;;")]


def lexicon_digest() -> str:
    """A short digest of what is taken from textblob."""
    content = b"".join(_textblob_file(name) for name in (LEXICON, CONTEXT)).replace(b"\r\n", b"\n")
    return blake2b(content, digest_size=4).hexdigest()


def _textblob_file(name: str) -> bytes:
    # Found without importing textblob, which would take a second and load NLTK.
    found = find_spec("textblob")
    if found is None or not found.submodule_search_locations:
        raise AcidtestError("the light tagger needs textblob; install it with: pip install textblob")
    return (Path(found.submodule_search_locations[0]) / "en" / name).read_bytes()


def _rows(known: _Lexicon, words: pl.Series) -> Numbers:
    """The row of each word in the lexicon, -1 where it has none."""
    return np.array([known.row.get(word, -1) for word in words], dtype=np.int64)


def _shaped(words: pl.Series) -> Readings:
    tag, may = np.zeros(len(words), np.uint8), np.zeros(len(words), np.uint64)
    for shape, tags in _SHAPES:
        fits = (may == 0) & words.str.contains(shape).to_numpy()
        tag[fits], may[fits] = NUMBER[tags.split()[0]], mask(tags.split())
    return Readings(tag, may)


@cache
def _lexicon() -> _Lexicon:
    cells = [line.split(" ")[:2] for line in textblob_lines(LEXICON)]
    # A word without letters is told by its shape; Twitter's "2" for "to" would be wrong everywhere else.
    listed = {word: tag for word, tag in cells if tag in NUMBER and any(map(str.isalpha, word))}
    own = dict(packaged_table("tagging/words.tsv").select("word", "tags").iter_rows())
    listed |= {word: tags.split()[0] for word, tags in own.items()}
    words = pl.Series(list(listed))
    tag = np.array([NUMBER[name] for name in listed.values()], dtype=np.uint8)
    may = related(words, tag) | np.left_shift(np.uint64(1), tag.astype(np.uint64))
    row = {word: number for number, word in enumerate(listed)}
    for word, tags in own.items():
        may[row[word]] = mask(tags.split())
    return _Lexicon(row, Readings(tag, may))
