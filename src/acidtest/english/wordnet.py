"""WordNet 3.0 without its glosses: words, senses, synsets and their relations, from the packaged tables.

Synsets and senses are numbers: the rows of ``synset_table`` and ``sense_table``. Methods answer for one word; tables
and methods that end in ``_frame`` answer for columns. Words are written as in WordNet, with ``_`` for a space.

Fellbaum (1998), WordNet: An Electronic Lexical Database. Checked against NLTK's reader, synset by synset.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources
from typing import NewType

import numpy as np
import polars as pl
from numpy.typing import NDArray

from acidtest.core.errors import AcidtestError, UnknownNameError
from acidtest.english.inflection import base_form_candidate_frame, base_form_candidates
from acidtest.english.letters import positions_between
from acidtest.io.wordlists import packaged_table

Synset = NewType("Synset", int)
"""A set of words that share a meaning."""
Sense = NewType("Sense", int)
"""One word of one synset; antonyms and derivations hold between senses."""

SATELLITE = "s"
"""The part of speech of satellite adjectives, which WordNet groups around another adjective (``a``)."""
POS = ("n", "v", "a", "r")
"""Parts of speech in the order of WordNet's files."""
_KNOWN_POS = ("n", "v", "a", SATELLITE, "r")
ALL_POS = pl.Enum(_KNOWN_POS)
"""The parts of speech of synsets, as columns hold them."""

SYNSET_RELATIONS = ("hypernyms", "instance_hypernyms", "similar")
SENSE_RELATIONS = ("antonyms", "derivations")

# The index in POS of each of ALL_POS: satellites are in the file of the adjectives.
_FILES = np.array([0, 1, 2, 2, 3], dtype=np.int32)

Numbers = NDArray[np.integer]


@cache
def wordnet() -> WordNet:
    """WordNet, loaded on first use."""
    return WordNet()


class WordNet:
    """The words, senses and synsets of WordNet 3.0."""

    def __init__(self) -> None:
        self.synset_table = _packaged("synsets")
        """Offset in the data file, part of speech and number of the lexicographer file of each synset."""
        self.sense_table = _packaged("senses")
        """Word, synset, place in the synset, rank among the lemma's senses (both from 0) and SemCor count."""
        self._words = _packaged("words")["word"]
        lower = self._words.str.to_lowercase()
        # Words are sorted by lower-case form, so that spellings of one lemma are adjacent.
        lemma_of_word = lower.rle_id().to_numpy()
        self.lemma_names = lower.filter(lower.ne_missing(lower.shift(1)))
        """Every lemma, lower-case and in alphabetical order."""
        self._synset_of = self.sense_table["synset"].to_numpy()
        self._pos_of_synset = self.synset_table["pos"].to_physical().to_numpy()
        lemmas = lemma_of_word[self.sense_table["word"].to_numpy()].astype(np.int32)
        # Senses are sorted by lemma, part of speech and rank.
        self._entries = Ranges.of_sorted(
            lemmas * len(POS) + _FILES[self._pos_of_synset[self._synset_of]], len(self.lemma_names) * len(POS)
        )

    def synsets(self, word: str, pos: str | None = None) -> list[Synset]:
        """The synsets of a word in any form, nouns first, then by frequency; ``a`` includes satellites."""
        return list(dict.fromkeys(self.synset_of(sense) for sense in self.senses(word, pos)))

    def senses(self, word: str, pos: str | None = None) -> list[Sense]:
        """The senses of a word in any of its forms, in the order of ``synsets``."""
        return [
            Sense(number)
            for part in _parts(pos)
            for lemma in self._bases(word, part)
            for number in self._senses_of(lemma, part)
            if part != SATELLITE or self.pos(self.synset_of(Sense(number))) == SATELLITE
        ]

    def base_forms(self, word: str, pos: str | None = None) -> list[str]:
        """The lemmas a word may be a form of, itself first: *axes* is a form of *ax*, *axe* and *axis*."""
        return list(dict.fromkeys(self.lemma_names[lemma] for part in _parts(pos) for lemma in self._bases(word, part)))

    def synset(self, name: str) -> Synset:
        """The synset of a name such as ``dog.n.01``."""
        lemma, pos, number = ("", "", *name.rsplit(".", 2))[-3:]
        if lemma.lower() in self._lemma_numbers and pos in _KNOWN_POS and number.isdecimal():
            for sense in self._senses_of(self._lemma_numbers[lemma.lower()], pos):
                synset = self.synset_of(Sense(sense))
                if self.sense_table["rank"][sense] + 1 == int(number) and self.pos(synset) in (pos, SATELLITE):
                    return synset
        raise AcidtestError(f"WordNet has no synset called {name!r}; dog.n.01 is a lemma, its part of speech and sense")

    def name(self, synset: Synset) -> str:
        """``dog.n.01``: first lemma, part of speech, and which sense of that lemma it is.

        Satellites are numbered among all adjectives, as in WordNet; NLTK numbers them separately since 3.10.
        """
        first = self.synset_senses(synset)[0]
        return f"{self.lemma(first).lower()}.{self.pos(synset)}.{self.sense_table['rank'][first] + 1:02d}"

    @cached_property
    def synset_names(self) -> pl.Series:
        """The name of every synset, by number."""
        first = self.sense_table.filter(place=0).sort("synset")
        number = (first["rank"].cast(pl.UInt16) + 1).cast(pl.String).str.zfill(2)
        parts = (self._words.gather(first["word"]).str.to_lowercase(), self.synset_table["pos"].cast(pl.String), number)
        return pl.select(pl.concat_str(*map(pl.lit, parts), separator=".")).to_series()

    def pos(self, synset: Synset) -> str:
        """``n``, ``v``, ``a``, ``s`` or ``r``."""
        return _KNOWN_POS[self._pos_of_synset[synset]]

    def offset(self, synset: Synset) -> int:
        """The byte offset of the synset in Princeton's data file."""
        return int(self.synset_table["offset"][synset])

    def lexfile(self, synset: Synset) -> str:
        """The lexicographer file, such as ``noun.animal``."""
        return str(packaged_table("wordnet/lexfiles.tsv")["name"][int(self.synset_table["lexfile"][synset])])

    def lemmas(self, synset: Synset) -> list[str]:
        """The words of a synset as they are written (*Paris*), in WordNet's order."""
        return [self.lemma(sense) for sense in self.synset_senses(synset)]

    def synset_senses(self, synset: Synset) -> list[Sense]:
        """The senses that make up a synset, in WordNet's order."""
        ranges, senses = self._members
        return [Sense(int(senses[place])) for place in ranges[synset]]

    def lemma(self, sense: Sense) -> str:
        """The word of a sense, as it is written."""
        return str(self._words[int(self.sense_table["word"][sense])])

    def synset_of(self, sense: Sense) -> Synset:
        """The synset a sense belongs to."""
        return Synset(int(self._synset_of[sense]))

    def count(self, sense: Sense) -> int:
        """How often the sense is tagged in SemCor."""
        return int(self.sense_table["count"][sense])

    def antonyms(self, sense: Sense) -> list[Sense]:
        """The antonyms of a sense. They hold between words: *big* has *little*, its synonym *large* has *small*."""
        return [Sense(target) for target in self._targets("antonyms", sense)]

    def derivations(self, sense: Sense) -> list[Sense]:
        """Senses with the same root and a related meaning, mostly of another part of speech."""
        return [Sense(target) for target in self._targets("derivations", sense)]

    def hypernyms(self, synset: Synset) -> list[Synset]:
        """The synsets one step more general."""
        return [Synset(target) for target in self._targets("hypernyms", synset)]

    def instance_hypernyms(self, synset: Synset) -> list[Synset]:
        """The synsets that a name is an instance of: *Paris* of *national capital*."""
        return [Synset(target) for target in self._targets("instance_hypernyms", synset)]

    def similar(self, synset: Synset) -> list[Synset]:
        """The satellites of an adjective, or the adjective of a satellite."""
        return [Synset(target) for target in self._targets("similar", synset)]

    def hypernym_paths(self, synset: Synset) -> list[list[Synset]]:
        """Every path from a top synset down to this one, through hypernyms and instance hypernyms."""
        above = [*self.hypernyms(synset), *self.instance_hypernyms(synset)]
        if not above:
            return [[synset]]
        return [[*path, synset] for parent in above for path in self.hypernym_paths(parent)]

    def relation(self, name: str) -> pl.DataFrame:
        """All pairs of a relation: columns source and target, synsets or (for antonyms and derivations) senses."""
        if name not in (*SYNSET_RELATIONS, *SENSE_RELATIONS):
            raise UnknownNameError("relation of WordNet", name, (*SYNSET_RELATIONS, *SENSE_RELATIONS))
        return _packaged(name)

    def base_form_frame(self, words: pl.Series, pos: pl.Series | str | None = None) -> pl.DataFrame:
        """The lemmas that words may be forms of: columns word, pos and base.

        Each distinct word is looked up in the part of speech given for it, or in all four. A word that WordNet has in
        no form gets no row. Rows are sorted by word (as given), part of speech, and attempt, the word itself first.
        """
        return self._base_entries(words, pos).select("word", "pos", "base")

    def sense_frame(self, words: pl.Series, pos: pl.Series | str | None = None) -> pl.DataFrame:
        """The senses of words in any of their forms: columns word, pos, base, sense, synset, rank and count.

        Rows are sorted as in ``base_form_frame``, then by rank. ``pos`` is that of the synset: ``s`` for a satellite,
        even if ``a`` was asked for.
        """
        bases = self._base_entries(words, pos)
        entries = bases["entry"].to_numpy()
        senses = self._entries.joined(entries)
        rows = np.repeat(np.arange(len(entries)), self._entries.lengths(entries))
        columns = [
            *bases.select("word", "base", asked="pos")[rows],
            pl.Series("sense", senses.astype(np.int32)),
            *self.sense_table.select("synset", "rank", "count")[senses],
            self.synset_table["pos"].gather(self._synset_of[senses]),
        ]
        wanted = (pl.col("asked") != SATELLITE) | (pl.col("pos") == SATELLITE)
        frame = pl.DataFrame(columns).filter(wanted)
        return frame.select("word", "pos", "base", "sense", "synset", "rank", "count")

    def antonym_frame(self, words: pl.Series, pos: pl.Series | str | None = None) -> pl.DataFrame:
        """``sense_frame`` with a row for each antonym of a sense and the further columns antonym and antonym_sense."""
        pairs = self.relation("antonyms").rename({"source": "sense", "target": "antonym_sense"})
        senses = self.sense_frame(words, pos).join(pairs, on="sense", maintain_order="left_right")
        return senses.with_columns(antonym=self.words_of(senses["antonym_sense"]))

    def words_of(self, senses: pl.Series) -> pl.Series:
        """The words of many senses, as they are written."""
        return self._words.gather(self.sense_table["word"].gather(senses))

    def _senses_of(self, lemma: int, pos: str) -> range:
        return self._entries[lemma * len(POS) + POS.index(_file(pos))]

    def _bases(self, word: str, pos: str) -> list[int]:
        """The numbers of the lemmas with this part of speech that a word may be a form of."""
        forms = base_form_candidates(word.lower(), _file(pos))
        numbers = dict.fromkeys(self._lemma_numbers[form] for form in forms if form in self._lemma_numbers)
        return [number for number in numbers if self._senses_of(number, pos)]

    def _base_entries(self, words: pl.Series, pos: pl.Series | str | None) -> pl.DataFrame:
        """``base_form_frame`` with the column entry, the number of a range in ``_entries``."""
        distinct = words.drop_nulls().unique(maintain_order=True).alias("word")
        forms = base_form_candidate_frame(distinct.str.to_lowercase()).join(self._lexicon, on="form")
        every = forms.filter(pl.col("pos").is_null()).drop("pos").join(pl.DataFrame({"pos": POS}), how="cross")
        entries = pl.concat([forms.drop_nulls("pos"), every], how="diagonal").with_columns(
            entry=pl.col("lemma") * len(POS) + pl.col("pos").replace_strict(POS, range(len(POS)), return_dtype=pl.Int32)
        )
        entries = entries.filter(self._entries.lengths(entries["entry"].to_numpy()) > 0)
        entries = entries.sort("row", pl.col("pos").cast(ALL_POS), "attempt").unique(
            ["row", "entry"], keep="first", maintain_order=True
        )
        answers = entries.select(distinct.gather(entries["row"]), "pos", "entry", base="form")
        if pos is None:
            return answers
        wanted = pl.DataFrame({"word": words}).with_columns(pl.lit(pos).cast(pl.String).alias("pos")).drop_nulls()
        check_pos(*wanted["pos"].unique())
        wanted = wanted.unique(maintain_order=True).with_columns(file=pl.col("pos").replace(SATELLITE, "a"))
        answers = answers.rename({"pos": "file"})
        return wanted.join(answers, on=["word", "file"], maintain_order="left_right").drop("file")

    def _targets(self, relation: str, source: int) -> list[int]:
        ranges, targets = self._pointers[relation]
        return [int(targets[place]) for place in ranges[source]]

    @cached_property
    def two_word_lemmas(self) -> pl.Series:
        """Every lemma of two words, joined by ``_``: *hot_dog*."""
        return self.lemma_names.filter(self.lemma_names.str.contains(r"^[^_]+_[^_]+$"))

    @cached_property
    def _lexicon(self) -> pl.DataFrame:
        return pl.DataFrame({"form": self.lemma_names}).with_row_index("lemma").cast({"lemma": pl.Int32})

    @cached_property
    def _lemma_numbers(self) -> dict[str, int]:
        return {lemma: number for number, lemma in enumerate(self.lemma_names)}

    @cached_property
    def _members(self) -> tuple[Ranges, NDArray[np.int64]]:
        """The senses of each synset, as ranges of the returned array."""
        order = np.argsort(self._synset_of.astype(np.int64) * 256 + self.sense_table["place"].to_numpy())
        return Ranges.of_sorted(self._synset_of, self.synset_table.height), order

    @cached_property
    def _pointers(self) -> dict[str, tuple[Ranges, NDArray[np.int32]]]:
        """For each relation the targets of each synset or sense, as ranges of its array."""
        sizes = dict.fromkeys(SYNSET_RELATIONS, self.synset_table.height)
        sizes |= dict.fromkeys(SENSE_RELATIONS, self.sense_table.height)
        return {
            name: (Ranges.of_sorted(_packaged(name)["source"].to_numpy(), size), _packaged(name)["target"].to_numpy())
            for name, size in sizes.items()
        }


def check_pos(*pos: str | None) -> None:
    """Raise unless every part of speech is one of WordNet's, or None."""
    for part in pos:
        if part is not None and part not in _KNOWN_POS:
            raise AcidtestError(f"part of speech {part!r} is not n, v, a, s or r")


def _parts(pos: str | None) -> tuple[str, ...]:
    """The parts of speech to look up: the given one, or all four for None."""
    check_pos(pos)
    return POS if pos is None else (pos,)


def _file(pos: str) -> str:
    return "a" if pos == SATELLITE else pos


@cache
def _packaged(name: str) -> pl.DataFrame:
    return pl.read_parquet(resources.files("acidtest.data").joinpath("wordnet", f"{name}.parquet").read_bytes())


@dataclass(frozen=True)
class Ranges:
    """Consecutive ranges of numbers, one for each thing: a range ends where the next begins."""

    starts: NDArray[np.int64]
    """The start of each range, and the end of the last."""

    @classmethod
    def of_sorted(cls, keys: Numbers, things: int) -> Ranges:
        """The ranges of equal keys in a sorted array of keys below ``things``."""
        return cls.of_lengths(np.bincount(keys, minlength=things))

    @classmethod
    def of_lengths(cls, lengths: Numbers) -> Ranges:
        """Consecutive ranges of these lengths, starting at 0."""
        return cls(np.append(0, np.cumsum(lengths, dtype=np.int64)))

    def __getitem__(self, thing: int) -> range:
        return range(int(self.starts[thing]), int(self.starts[thing + 1]))

    def lengths(self, things: Numbers) -> NDArray[np.int64]:
        """How long the range of each thing is."""
        return self.starts[things + 1] - self.starts[things]

    def joined(self, things: Numbers) -> NDArray[np.int64]:
        """The numbers in the ranges of some things, one range after the other."""
        return positions_between(self.starts[things], self.starts[things + 1])


@cache
def noun_kind(noun: str) -> str:
    """The lexicographer file of a noun's most frequent sense, without ``noun.``; empty for words WordNet lacks."""
    synsets = wordnet().synsets(noun, "n")
    return wordnet().lexfile(synsets[0]).removeprefix("noun.") if synsets else ""


def noun_kinds(nouns: pl.Series) -> pl.Series:
    """``noun_kind`` of many words."""
    senses = wordnet().sense_frame(nouns.unique(), "n").unique("word", keep="first", maintain_order=True)
    names = packaged_table("wordnet/lexfiles.tsv")["name"].str.strip_prefix("noun.")
    kinds = names.gather(wordnet().synset_table["lexfile"].gather(senses["synset"]))
    return nouns.replace_strict(senses["word"], kinds, default="", return_dtype=pl.String)


PLURALS = pl.DataFrame({"word": ["people"], "pos": ["n"], "base": ["person"]})
"""Plurals that WordNet does not know as such."""


def base_forms(words: pl.Series) -> pl.DataFrame:
    """Possible base forms of lower-case words: columns word, pos and base; with an empty pos, the word itself."""
    known = wordnet().base_form_frame(words).with_columns(pl.col("pos").cast(pl.String))
    itself = pl.DataFrame({"word": words.unique(maintain_order=True)}).select("word", pos=pl.lit(""), base="word")
    return pl.concat([known, PLURALS.filter(pl.col("word").is_in(words.implode())), itself]).unique(maintain_order=True)
