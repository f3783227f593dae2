"""The tags words may have by themselves: from the lexicon of Brill's tagger as textblob carries it, our own words, the
shapes of unknown words, and related forms in the lexicon (what is *lighted* can *light*).
"""

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
from acidtest.text.tag_rules import NUMBER, Masks, Tags, tag_mask
from acidtest.text.tokens import Flags, Numbers

LEXICON, CONTEXT = "en-lexicon.txt", "en-context.txt"
"""Files of textblob."""


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
    shape = _readings_by_shape(words)
    exact, low = (_rows(known, names) for names in (words, words.str.to_lowercase()))
    capital = words.str.contains(r"^\p{Lu}").to_numpy()
    shouted = words.str.contains(r"^\p{Lu}{2,}$").to_numpy()
    proper = np.isin(known.readings.tag, [NUMBER["NNP"], NUMBER["NNPS"]])
    common = (low >= 0) & ~proper[low]
    # "US" is a country also as first word; "MEN" is in no list and means men.
    use_low = common & (~capital | (initial & ~shouted) | (shouted & (exact < 0)))
    use_exact = (exact >= 0) & capital & ~use_low
    by_shape = np.isin(shape.tag, [NUMBER["RB"], NUMBER["VBG"]]) & initial & (words.str.len_chars().to_numpy() > 6)
    tag = np.where(capital & (shape.tag != NUMBER["CD"]) & ~by_shape, NUMBER["NNP"], shape.tag)
    tag = np.where(use_exact, known.readings.tag[exact], np.where(use_low, known.readings.tag[low], tag))
    names = tag_mask(("NNP", "NNPS"))
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
    spec = find_spec("textblob")
    if spec is None or not spec.submodule_search_locations:
        raise AcidtestError("the light tagger needs textblob; install it with: pip install textblob")
    return (Path(spec.submodule_search_locations[0]) / "en" / name).read_bytes()


def _rows(known: _Lexicon, words: pl.Series) -> Numbers:
    """The row of each word in the lexicon, -1 where it has none."""
    return np.array([known.row.get(word, -1) for word in words], dtype=np.int64)


def _readings_by_shape(words: pl.Series) -> Readings:
    """Words that are in no list: the first shape that fits says what they may be, most often the first of these."""
    tag, may = np.zeros(len(words), np.uint8), np.zeros(len(words), np.uint64)
    for shape, tags in packaged_table("tagging/shapes.tsv").iter_rows():
        fits = (may == 0) & words.str.contains(shape).to_numpy()
        tag[fits], may[fits] = NUMBER[tags.split()[0]], tag_mask(tags.split())
    return Readings(tag, may)


@cache
def _lexicon() -> _Lexicon:
    cells = [line.split(" ")[:2] for line in textblob_lines(LEXICON)]
    # A word without letters is tagged by its shape; Twitter's "2" for "to" would be wrong everywhere else.
    listed = {word: tag for word, tag in cells if tag in NUMBER and any(map(str.isalpha, word))}
    packaged = dict(packaged_table("tagging/words.tsv").select("word", "tags").iter_rows())
    listed |= {word: tags.split()[0] for word, tags in packaged.items()}
    words = pl.Series(list(listed))
    tag = np.array([NUMBER[name] for name in listed.values()], dtype=np.uint8)
    may = related_tags(words, tag) | np.left_shift(np.uint64(1), tag.astype(np.uint64))
    row = {word: number for number, word in enumerate(listed)}
    for word, tags in packaged.items():
        may[row[word]] = tag_mask(tags.split())
    return _Lexicon(row, Readings(tag, may))


@dataclass(frozen=True)
class _Family:
    """The words of a lexicon with their tags, and their stems before endings."""

    words: pl.Series
    tag: Tags

    def are(self, *tags: str) -> Flags:
        """Which words have one of some tags."""
        return np.isin(self.tag, [NUMBER[tag] for tag in tags])

    def have(self, forms: tuple[pl.Series, ...], *tags: str) -> Flags:
        """Which words have one of some forms, in this order, among the words with these tags."""
        among = self.words.filter(pl.Series(self.are(*tags)))
        return self.in_any(forms, among)

    def in_any(self, forms: tuple[pl.Series, ...], among: pl.Series) -> Flags:
        flags = np.zeros(len(self.words), np.bool_)
        for form in forms:
            flags |= form.is_in(among.implode()).to_numpy()
        return flags

    def with_ending(self, ending: str) -> tuple[pl.Series, ...]:
        """Each word with an ending as it would be spelled: bake–baking, stop–stopping, try–tried, walk–walking."""
        bare, twice = self.words.str.replace("e$", ""), self.words + self.words.str.slice(-1)
        with_i = self.words.str.replace("([^aeiou])y$", "${1}i")
        return (self.words + ending, bare + ending, twice + ending, with_i + ending)

    @property
    def verbs(self) -> Flags:
        inflected = self.have(self.with_ending("ing"), "VBG", "NN", "JJ")
        inflected |= self.have(self.with_ending("ed"), "VBD", "VBN", "JJ")
        letters = self.words.str.len_chars().to_numpy() > 1
        return (inflected & letters) | self.are("VB", "VBP")

    @property
    def nouns(self) -> Flags:
        plural = (*self.with_ending("es"), self.words + "s")
        return self.have(plural, "NNS") | self.are("NN")

    @property
    def qualities(self) -> Flags:
        compared = self.have(self.with_ending("er"), "JJR") | self.have(self.with_ending("est"), "JJS")
        return compared | self.have(self.with_ending("ly"), "RB") | self.have((self.words + "ness",), "NN")


def related_tags(words: pl.Series, tag: Tags) -> Masks:
    """The tags that each word of a lexicon may have beside its own, one bit each."""
    family = _Family(words, tag)
    verbs, nouns = family.verbs, family.nouns
    plain = family.are("NN", "VB", "VBP", "JJ", "RB", "NNP")
    inflected = family.are("NNS", "VBZ", "VBD", "VBN", "VBG", "NN")
    stems = words.str.replace("s$", ""), words.str.replace("es$", ""), words.str.replace("ies$", "y")
    ends = {ending: words.str.ends_with(ending).to_numpy() for ending in ("s", "ed", "ing")}
    of_verb, of_noun = (family.in_any(stems, words.filter(pl.Series(flags))) for flags in (verbs, nouns))
    chosen = (
        (plain & verbs, ("VB", "VBP")),
        (plain & nouns, ("NN",)),
        (plain & family.qualities, ("JJ",)),
        (inflected & ends["s"] & of_verb, ("VBZ",)),
        (inflected & ends["s"] & of_noun, ("NNS",)),
        ((inflected | family.are("JJ")) & ends["ed"], ("VBD", "VBN", "JJ")),
        (inflected & ends["ing"], ("VBG", "NN", "JJ")),
        (family.are("JJR", "RBR"), ("JJR", "RBR")),
        (family.are("JJS", "RBS"), ("JJS", "RBS")),
    )
    may = np.zeros(len(words), np.uint64)
    for flags, names in chosen:
        may |= np.where(flags, tag_mask(names), 0).astype(np.uint64)
    return may
