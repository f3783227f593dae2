"""The tags that words may have regardless of context, from the lexicon of Brill's tagger (shipped with textblob), our
own word list, the shapes of unknown words, and related forms in the lexicon (*lighted* implies a verb *light*).
"""

from __future__ import annotations

from collections.abc import Iterable
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
from acidtest.text.tokens import Flags

LEXICON, CONTEXT = "en-lexicon.txt", "en-context.txt"
"""Files of textblob: the lexicon, and the rules that depend on context."""


@dataclass(frozen=True)
class Readings:
    """The most likely tag of each word regardless of context, and all tags it may have, one bit each."""

    tag: Tags
    may: Masks


def readings(words: pl.Series, *, initial: bool) -> Readings:
    """The readings of each word inside a sentence, or as its first word (``initial``), where a capital says little."""
    rows, known = _lexicon()
    shape = _readings_by_shape(words)
    # The row of each word in the lexicon, -1 where it has none.
    exact, low = (
        np.array([rows.get(word, -1) for word in column], dtype=np.int64)
        for column in (words, words.str.to_lowercase())
    )
    capital = words.str.contains(r"^\p{Lu}").to_numpy()
    shouted = words.str.contains(r"^\p{Lu}{2,}$").to_numpy()
    proper = np.isin(known.tag, [NUMBER["NNP"], NUMBER["NNPS"]])
    common = (low >= 0) & ~proper[low]
    # "US" is the country even as first word; "MEN", which the lexicon does not have, means "men".
    use_low = common & (~capital | (initial & ~shouted) | (shouted & (exact < 0)))
    use_exact = (exact >= 0) & capital & ~use_low
    by_shape = np.isin(shape.tag, [NUMBER["RB"], NUMBER["VBG"]]) & initial & (words.str.len_chars().to_numpy() > 6)
    tag = np.where(capital & (shape.tag != NUMBER["CD"]) & ~by_shape, NUMBER["NNP"], shape.tag)
    tag = np.where(use_exact, known.tag[exact], np.where(use_low, known.tag[low], tag))
    names = tag_mask(("NNP", "NNPS"))
    may: Masks = np.where(common, known.may[low], shape.may)
    may |= np.where(use_exact, known.may[exact], 0).astype(np.uint64)
    may |= np.where(capital, names, 0).astype(np.uint64)
    may[use_exact & ~common & proper[exact]] = names
    return Readings(tag.astype(np.uint8), may)


def textblob_lines(name: str) -> list[str]:
    """The lines of a file of textblob, without comments and empty lines."""
    lines = _textblob_file(name).decode("utf-8").splitlines()
    return [line for line in lines if line.strip() and not line.startswith(";;;")]


def lexicon_digest() -> str:
    """A short digest of the files taken from textblob."""
    content = b"".join(_textblob_file(name) for name in (LEXICON, CONTEXT)).replace(b"\r\n", b"\n")
    return blake2b(content, digest_size=4).hexdigest()


def _textblob_file(name: str) -> bytes:
    # Importing textblob would take a second and load NLTK.
    spec = find_spec("textblob")
    if spec is None or not spec.submodule_search_locations:
        raise AcidtestError("the light tagger needs textblob; install it with: pip install textblob")
    return (Path(spec.submodule_search_locations[0]) / "en" / name).read_bytes()


def _readings_by_shape(words: pl.Series) -> Readings:
    """The readings of unknown words: the first shape that fits gives their tags, the most likely one first."""
    tag, may = np.zeros(len(words), np.uint8), np.zeros(len(words), np.uint64)
    for shape, tags in packaged_table("tagging/shapes.tsv").iter_rows():
        fits = (may == 0) & words.str.contains(shape).to_numpy()
        tag[fits], may[fits] = NUMBER[tags.split()[0]], tag_mask(tags.split())
    return Readings(tag, may)


@cache
def _lexicon() -> tuple[dict[str, int], Readings]:
    """The row of each word of the lexicon, and the readings by row."""
    cells = [line.split(" ")[:2] for line in textblob_lines(LEXICON)]
    # A word without letters is tagged by its shape: the lexicon has Twitter's "2" for "to", which is wrong elsewhere.
    listed = {word: tag for word, tag in cells if tag in NUMBER and any(map(str.isalpha, word))}
    packaged = dict(packaged_table("tagging/words.tsv").select("word", "tags").iter_rows())
    listed |= {word: tags.split()[0] for word, tags in packaged.items()}
    words = pl.Series(list(listed))
    tag = np.array([NUMBER[name] for name in listed.values()], dtype=np.uint8)
    may = related_tags(words, tag) | np.left_shift(np.uint64(1), tag.astype(np.uint64))
    row = {word: number for number, word in enumerate(listed)}
    for word, tags in packaged.items():
        may[row[word]] = tag_mask(tags.split())
    return row, Readings(tag, may)


def related_tags(words: pl.Series, tag: Tags) -> Masks:
    """The further tags that each word of a lexicon may have, judging by related words, one bit each."""

    def are(*tags: str) -> Flags:
        return np.isin(tag, [NUMBER[name] for name in tags])

    def have(forms: Iterable[pl.Series], among: Flags) -> Flags:
        """Which words have one of their forms among the flagged words of the lexicon."""
        listed = words.filter(pl.Series(among)).implode()
        flags: Flags = np.any([form.is_in(listed).to_numpy() for form in forms], axis=0)
        return flags

    def with_ending(ending: str) -> list[pl.Series]:
        """Each word with an ending in every possible spelling: walk–walking, bake–baking, stop–stopping, try–tried."""
        bare, twice = words.str.replace("e$", ""), words + words.str.slice(-1)
        return [stem + ending for stem in (words, bare, twice, words.str.replace("([^aeiou])y$", "${1}i"))]

    inflected = have(with_ending("ing"), are("VBG", "NN", "JJ")) | have(with_ending("ed"), are("VBD", "VBN", "JJ"))
    verbs = (inflected & (words.str.len_chars().to_numpy() > 1)) | are("VB", "VBP")
    nouns = have([*with_ending("es"), words + "s"], are("NNS")) | are("NN")
    qualities = have(with_ending("er"), are("JJR")) | have(with_ending("est"), are("JJS"))
    qualities |= have(with_ending("ly"), are("RB")) | have([words + "ness"], are("NN"))
    plain, forms = are("NN", "VB", "VBP", "JJ", "RB", "NNP"), are("NNS", "VBZ", "VBD", "VBN", "VBG", "NN")
    stems = words.str.replace("s$", ""), words.str.replace("es$", ""), words.str.replace("ies$", "y")
    in_s, in_ed, in_ing = (words.str.ends_with(ending).to_numpy() for ending in ("s", "ed", "ing"))
    chosen = (
        (plain & verbs, ("VB", "VBP")),
        (plain & nouns, ("NN",)),
        (plain & qualities, ("JJ",)),
        (forms & in_s & have(stems, verbs), ("VBZ",)),
        (forms & in_s & have(stems, nouns), ("NNS",)),
        ((forms | are("JJ")) & in_ed, ("VBD", "VBN", "JJ")),
        (forms & in_ing, ("VBG", "NN", "JJ")),
        (are("JJR", "RBR"), ("JJR", "RBR")),
        (are("JJS", "RBS"), ("JJS", "RBS")),
    )
    may = np.zeros(len(words), np.uint64)
    for flags, names in chosen:
        may |= np.where(flags, tag_mask(names), 0).astype(np.uint64)
    return may
