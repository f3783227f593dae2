"""What else the words of a lexicon may be, told from their relatives in it: what is *lighted* can *light*."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from acidtest.text.context import NUMBER, Masks, Tags, mask
from acidtest.text.tokens import Flags


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
        found = np.zeros(len(self.words), np.bool_)
        for form in forms:
            found |= form.is_in(among.implode()).to_numpy()
        return found

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


def related(words: pl.Series, tag: Tags) -> Masks:
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
        may |= np.where(flags, mask(names), 0).astype(np.uint64)
    return may
