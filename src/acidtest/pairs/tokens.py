"""The tokens of sentence pairs: which are cues, and which words premise and hypothesis share."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from acidtest.core.errors import AcidtestError
from acidtest.english.misspelling import function_words
from acidtest.english.tokens import Flags, Numbers, number_distinct, previous_flags
from acidtest.english.wordnet import wordnet
from acidtest.io.wordlists import packaged_table

_TOKEN = (
    r"(?:\p{L}\.){2,}|\p{L}[\p{L}\p{M}]*(?:['’\-]\p{L}[\p{L}\p{M}]*)*"
    r"|\p{N}+(?:[.,:/\-]\p{N}+)*(?:st|nd|rd|th|s)?|[.,;:!?()]|--"
)
CLITIC = r"['’](?:s|m|d|ll|re|ve)$"
_NOT = r"n't$"
_ENDS = (".", "!", "?")
_MEANINGFUL = ("inside", "outside", "near", "behind", "above", "below", "before", "after", "between")
"""Function words that count as content words."""
_SHOUTED = 0.6
"""The share of capitalised tokens above which capitals do not indicate names, as in a headline."""

_BITS = 63
"""How many words of a hypothesis are compared; later ones count as not shared."""

_ONE = np.uint64(1)


@dataclass(frozen=True)
class TokenisedPairs:
    """Every token of some pairs, premises first and then hypotheses, as numbers of ``words``."""

    rows: int
    text: Numbers
    """The text of each token: row number for a premise, ``rows`` + row number for a hypothesis."""
    token: Numbers
    """Row in ``words``."""
    words: pl.Series
    """The distinct tokens in lower case, without clitics such as 's."""
    capital: Flags
    """Whether each token is capitalised although it does not begin a sentence."""
    opening: Flags
    """Whether each token is capitalised and begins a sentence."""

    @classmethod
    def of(cls, premises: pl.Series, hypotheses: pl.Series) -> TokenisedPairs:
        """The tokens of two columns of the same length; a null text has none."""
        require_pairs(premises, hypotheses)
        lists = pl.concat([premises.cast(pl.String), hypotheses.cast(pl.String)]).str.extract_all(_TOKEN)
        text = np.repeat(np.arange(len(lists)), lists.list.len().fill_null(0).to_numpy())
        written, token = number_distinct(lists.explode(empty_as_null=False, keep_nulls=False))
        words, number = number_distinct(written.str.to_lowercase().str.replace_all("’", "'").str.replace(CLITIC, ""))
        initial = (np.diff(text, prepend=-1) != 0) | previous_flags(written.is_in(_ENDS).to_numpy()[token])
        capital = written.str.contains(r"^\p{Lu}").to_numpy()[token]
        capitals, tokens = (np.bincount(some, minlength=len(lists)) for some in (text[capital], text))
        capital &= (capitals / np.maximum(tokens, 1) <= _SHOUTED)[text]
        return cls(len(premises), text, number[token], words, capital & ~initial, capital & initial)

    def texts_with(self, flags: Flags) -> tuple[Flags, Flags]:
        """Which premises, and which hypotheses, have a flagged token."""
        premise, hypothesis = self.count(flags)
        return premise > 0, hypothesis > 0

    def count(self, flags: Flags) -> tuple[Numbers, Numbers]:
        """How many flagged tokens each premise, and each hypothesis, has."""
        counts = np.bincount(self.text[flags], minlength=2 * self.rows)
        return counts[: self.rows], counts[self.rows :]

    def differ(self, flags: Flags) -> Flags:
        """Which pairs have a word, in any form, that is flagged in one sentence and not in the other."""
        here, there = (self._entries_with(flags & side) for side in (~self.in_hypothesis, self.in_hypothesis))
        return np.asarray(np.bincount(self._entries[0][here ^ there], minlength=self.rows) > 0)

    @cached_property
    def row(self) -> Numbers:
        """The pair that each token belongs to."""
        return self.text % max(self.rows, 1)

    @cached_property
    def in_hypothesis(self) -> Flags:
        """Which tokens belong to hypotheses."""
        return np.asarray(self.text >= self.rows)

    @cached_property
    def stem(self) -> Numbers:
        """A number for each word, the same for most forms of one word: that of its shortest base form."""
        return word_stems(self.words, wordnet().base_form_frame(self.words))

    @property
    def entry(self) -> Numbers:
        """A number for each token, the same for all forms of one word in one pair."""
        return self._entries[1]

    @property
    def entries(self) -> int:
        """The number of distinct words, summed over all pairs."""
        return len(self._entries[0])

    @cached_property
    def _entries(self) -> tuple[Numbers, Numbers]:
        """The pair of each entry (a distinct word of a pair), and the entry of each token."""
        keys, number = np.unique(self.row * len(self.words) + self.stem[self.token], return_inverse=True)
        return keys // max(len(self.words), 1), number

    def _entries_with(self, flags: Flags) -> Flags:
        """Which entries have a flagged token."""
        return np.asarray(np.bincount(self.entry[flags], minlength=self.entries) > 0)

    @cached_property
    def is_word(self) -> Flags:
        """Which tokens are not punctuation."""
        return self.matching(r"^[\p{L}\p{N}]")

    @cached_property
    def content(self) -> Flags:
        """Which tokens are neither punctuation nor function words."""
        return self.is_word & ~self.matching(_NOT) & ~self.among(set(function_words()["word"]) - set(_MEANINGFUL))

    @cached_property
    def negator(self) -> Flags:
        """Which tokens negate."""
        return self.matching(_NOT) | self.among(packaged_table("typology/negation_words.tsv")["word"].to_list())

    @cached_property
    def shared(self) -> Flags:
        """Which tokens also occur, in some form, in the other sentence of the pair."""
        both = self._entries_with(self.in_hypothesis) & self._entries_with(~self.in_hypothesis)
        return np.asarray(both[self.entry])

    def matching(self, pattern: str) -> Flags:
        """Which tokens match a regular expression."""
        return np.asarray(self.words.str.contains(pattern))[self.token]

    def among(self, words: Collection[str]) -> Flags:
        """Which tokens are one of the given words."""
        return np.asarray(self.words.is_in(pl.Series(list(words), dtype=pl.String).implode()))[self.token]

    def cues(self, *lists: str) -> Flags:
        """Which tokens begin a cue of the given lists of ``taxonomy_tags/cues.tsv``."""
        phrases = [cue.split(" ") for name in lists for cue in cue_list(name)]
        flags = self.among([words[0] for words in phrases if len(words) == 1])
        for first, *rest in (words for words in phrases if len(words) > 1):
            here = self.among([first])
            for steps, word in enumerate(rest, start=1):
                here &= self.beside(self.among([word]), steps)
            flags = flags | here
        return flags

    def beside(self, flags: Flags, steps: int) -> Flags:
        """For each token, the flag of the token ``steps`` after it (before it if negative) in the same text."""
        moved = np.zeros(len(flags), np.bool_)
        size, back, on = max(len(flags) - abs(steps), 0), max(-steps, 0), max(steps, 0)
        here, there = slice(back, back + size), slice(on, on + size)
        moved[here] = flags[there] & (self.text[here] == self.text[there])
        return moved

    def near(self, flags: Flags, first: int, last: int) -> Flags:
        """Whether a token from ``first`` to ``last`` steps away is flagged, the token itself excluded."""
        nearby = np.zeros(len(flags), np.bool_)
        for steps in (*range(first, 0), *range(max(first, 1), last + 1)):
            nearby |= self.beside(flags, steps)
        return nearby

    def anchored(self, flags: Flags, first: int = 1, last: int = 5) -> Flags:
        """The flagged tokens with a content word ``first`` to ``last`` steps away that the other sentence also has."""
        return flags & self.near(self.shared & self.content, first, last)


@cache
def cue_list(name: str) -> list[str]:
    """The cues of a list: lower-case words and expressions."""
    cues = packaged_table("taxonomy_tags/cues.tsv").filter(pl.col("list") == name)["cue"].to_list()
    if not cues:
        raise AcidtestError(f"taxonomy_tags/cues.tsv has no list {name!r}")
    return cues


def require_pairs(premises: pl.Series, hypotheses: pl.Series) -> None:
    """Raise when two columns differ in length."""
    if len(premises) != len(hypotheses):
        raise AcidtestError(f"{len(premises):,} premises and {len(hypotheses):,} hypotheses are no pairs")


def word_stems(words: pl.Series, bases: pl.DataFrame) -> Numbers:
    """A number for each word, the same for most forms of one word: that of its shortest base form."""
    shortest = bases.group_by("word").agg(pl.col("base").sort_by(pl.col("base").str.len_chars(), "base").first())
    stems = words.to_frame("word").join(shortest, on="word", how="left", maintain_order="left")
    return number_distinct(stems.select(pl.coalesce("base", "word")).to_series())[1]


def word_order_likeness(pairs: TokenisedPairs) -> NDArray[np.float64]:
    """Twice the number of words shared in order, divided by the words of both sentences: 0 to 1; 0 without words."""
    return np.asarray(2 * shared_in_order(pairs) / np.maximum(np.add(*pairs.count(pairs.is_word)), 1))


def shared_in_order(pairs: TokenisedPairs) -> Numbers:
    """The length of the longest common subsequence of words, in any form, of each premise and hypothesis.

    Follows Hyyrö (2004), Bit-parallel LCS-length computation revisited: one bit for each word of the hypothesis and one
    step for each word of the premise, for all pairs at once.
    """
    masks, row, step = _matches(pairs)
    state = np.full(pairs.rows, ~np.uint64(0))
    order = np.argsort(step, kind="stable")
    for places in np.split(order, np.cumsum(np.bincount(step))[:-1]) if len(step) else ():
        here = state[row[places]]
        met = here & masks[places]
        state[row[places]] = (here + met) | (here - met)
    size = np.minimum(pairs.count(pairs.is_word)[1], _BITS).astype(np.uint64)
    return np.bitwise_count(~state & ((_ONE << size) - _ONE)).astype(np.int64)


def _matches(pairs: TokenisedPairs) -> tuple[NDArray[np.uint64], Numbers, Numbers]:
    """For each premise word that the hypothesis has: its positions there as bits, its pair, its rank in the pair."""
    there = np.flatnonzero(pairs.is_word & pairs.in_hypothesis)
    place = _places(pairs.row[there])
    early = place < _BITS
    bits = np.zeros(pairs.entries, np.uint64)
    np.bitwise_or.at(bits, pairs.entry[there[early]], _ONE << place[early].astype(np.uint64))
    masks = np.where(pairs.is_word & ~pairs.in_hypothesis, bits[pairs.entry], np.uint64(0))
    row = pairs.row[masks > 0]
    return masks[masks > 0], row, _places(row)


def _places(row: Numbers) -> Numbers:
    """The rank of each value within its row, from 0, in a sorted column of rows."""
    new = np.flatnonzero(np.diff(row, prepend=-1))
    return np.arange(len(row)) - np.repeat(new, np.diff(np.append(new, len(row))))
