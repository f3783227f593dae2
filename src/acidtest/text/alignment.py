"""Where two sentences differ: the one stretch of words of the premise that the hypothesis replaces by another."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from acidtest.core.errors import AcidtestError
from acidtest.text.tokens import Flags, Numbers, number_distinct, tokenise
from acidtest.text.word_relations import expression_senses, word_relations
from acidtest.text.wordnet import Ranges, wordnet

DIFFERENCES = ("same", "replaced", "other")
"""How two sentences may differ."""

MOST_WORDS = 4
"""Longer stretches are no replacement of a word or expression."""

_JOINTS = r"[\-‐‑–/:]"
_ARTICLE = r"^(?:an?|the)$"
# "Some" is no article here: the published file replaces it by "every".
_QUANTITY = r"^(?i:some)\s+"
_COMPLEMENT = r"\s+(?i:to|from|of)$"
_AFTER, _BEFORE = r"\s+(?i:in|on|at|by|with|for|into|onto)$", r"^(?i:in|on|at|by|with|for|into|onto|to|from|of)\s+"


def replaced_words(premises: pl.Series, hypotheses: pl.Series, *, compounds: bool = False) -> pl.DataFrame:
    """What each hypothesis replaces in its premise: columns premise_words, hypothesis_words and difference.

    The words that both sentences begin and end with are taken off; case, punctuation and articles make no difference,
    and the parts of *four-wheeled* are words. What is left is ``replaced``, and given as it is written, if it is one
    stretch on each side: one to four words, none of them on both sides. What merely adapts is set aside: other forms of
    one word (*one dog*, *two dogs*), *some*, and prepositions (*near*, *far from*), but not those with which WordNet
    has an expression (*in love*), unless it is *to*, *from* or *of* at the end. One word replaced by the same other in
    several places counts as one stretch.

    Both columns are empty where ``difference`` is ``same`` (nothing else differs) or ``other``: words are added, left
    out, or replaced in more than one stretch. ``compounds`` takes the word after or before along where WordNet has both
    expressions and does not relate the words alone: *living* and *dining* before *room* become *living room* and
    *dining room*, but *young* and *old* before *man* stay as they are.
    """
    if len(premises) != len(hypotheses):
        raise AcidtestError(f"{len(premises):,} premises and {len(hypotheses):,} hypotheses cannot be aligned")
    tokens = _Tokens.of(pl.concat([premises.cast(pl.String), hypotheses.cast(pl.String)]))
    whole = tokens.differences()
    stretches = tokens.without_forms(tokens.once(whole))
    rows = np.flatnonzero(((stretches.lengths > 0) & (stretches.lengths <= MOST_WORDS)).all(axis=0))
    rows = rows[~tokens.share_words(stretches.of(rows))]
    words = tokens.compounds(stretches.of(rows)) if compounds else tokens.bare(stretches.of(rows))
    return _frame(words, rows, same=(whole.lengths == 0).all(axis=0))


def _frame(words: pl.DataFrame, rows: Numbers, *, same: Flags) -> pl.DataFrame:
    """The words of some rows in their places among all."""
    difference = np.where(same, DIFFERENCES.index("same"), DIFFERENCES.index("other"))
    difference[rows] = DIFFERENCES.index("replaced")
    kinds = pl.Series("difference", DIFFERENCES, dtype=pl.Enum(DIFFERENCES)).gather(difference)
    every = pl.DataFrame({"row": np.arange(len(same))})
    every = every.join(words.with_columns(row=rows), on="row", how="left", maintain_order="left")
    return every.select(pl.col(words.columns).fill_null(""), kinds)


@dataclass(frozen=True)
class _Stretches:
    """A stretch of tokens on each side of some pairs: arrays of two rows, premises and hypotheses."""

    starts: Numbers
    lengths: Numbers

    def of(self, pairs: Numbers) -> _Stretches:
        """Those of some of the pairs."""
        return _Stretches(self.starts[:, pairs], self.lengths[:, pairs])

    def without(self, pairs: Numbers, *, front: bool) -> _Stretches:
        """Shorter by a token on both sides of some pairs, in front or at the end."""
        shorter = np.zeros(self.lengths.shape[1], dtype=np.int64)
        shorter[pairs] = 1
        return _Stretches(self.starts + (shorter if front else 0), self.lengths - shorter)

    def at(self, *, front: bool) -> Numbers:
        """The first or the last token of each."""
        return self.starts if front else self.starts + self.lengths - 1


@dataclass(frozen=True)
class _Tokens:
    """The words of premises and then of hypotheses, one after another, without articles and punctuation."""

    texts: pl.Series
    text: Numbers
    start: Numbers
    end: Numbers
    word: Numbers
    """Row in ``words``."""
    words: pl.Series
    """The different words in lower case."""

    @classmethod
    def of(cls, texts: pl.Series) -> _Tokens:
        """The words of texts; what hyphens join stands apart."""
        # One character for another leaves the places as they are.
        columns = tokenise(texts.str.replace_all(_JOINTS, " "))
        words, number = number_distinct(columns.words.str.to_lowercase())
        word = number[columns.word]
        counts = words.str.contains(r"[\p{L}\p{N}]") & ~words.str.contains(_ARTICLE)
        kept = counts.to_numpy()[word]
        return cls(texts, columns.text[kept], columns.start[kept], columns.end[kept], word[kept], words)

    def differences(self) -> _Stretches:
        """All from the first to the last token that differ."""
        sentences = Ranges.of_sorted(self.text, len(self.texts))
        starts = sentences.starts[:-1].reshape(2, -1)
        lengths = np.diff(sentences.starts).reshape(2, -1)
        before = self._alike(starts, lengths.min(axis=0), step=1)
        after = self._alike(starts + lengths - 1, lengths.min(axis=0) - before, step=-1)
        return _Stretches(starts + before, lengths - before - after)

    def _alike(self, starts: Numbers, most: Numbers, *, step: int) -> Numbers:
        """How many tokens from each start on, in steps forwards or backwards, are the same on both sides."""
        runs = Ranges.of_lengths(most)
        offset = np.arange(runs.starts[-1]) - np.repeat(runs.starts[:-1], most)
        here, there = (self.word[np.repeat(side, most) + step * offset] for side in starts)
        differs = np.append(np.flatnonzero(here != there), runs.starts[-1])
        return np.minimum(differs[np.searchsorted(differs, runs.starts[:-1])] - runs.starts[:-1], most)

    def once(self, stretches: _Stretches) -> _Stretches:
        """Only the first token where all that differ are the same word and the same replacement."""
        length = np.where(stretches.lengths[0] == stretches.lengths[1], stretches.lengths[0], 0)
        runs = Ranges.of_lengths(length)
        offset = np.arange(runs.starts[-1]) - np.repeat(runs.starts[:-1], length)
        first = np.repeat(stretches.starts, length, axis=1)
        words, initial = self.word[first + offset], self.word[first]
        again = (words == initial).all(axis=0) | (words[0] == words[1])
        fails = np.bincount(np.repeat(np.arange(len(length)), length), weights=~again, minlength=len(length))
        return _Stretches(stretches.starts, np.where((length > 0) & (fails == 0), 1, stretches.lengths))

    def without_forms(self, stretches: _Stretches) -> _Stretches:
        """Without forms of the same word at both ends, unless that is all there is on both sides."""
        for front in (False, True):
            rows = np.arange(stretches.lengths.shape[1])
            while len(rows):
                some = stretches.of(rows)
                rows = rows[(some.lengths > 0).all(axis=0) & (some.lengths > 1).any(axis=0)]
                rows = rows[self._forms_of_one(*self.word[stretches.of(rows).at(front=front)])]
                stretches = stretches.without(rows, front=front)
        return stretches

    def _forms_of_one(self, here: Numbers, there: Numbers) -> Flags:
        """Whether each word here and the one there beside it may be forms of one word."""
        pairs = pl.DataFrame({"word": here, "other": there}).with_row_index("pair")
        other = self._bases.rename({"word": "other"})
        matches = pairs.join(self._bases, on="word").join(other, on=["other", "base"], how="semi")
        same = here == there
        same[matches["pair"].to_numpy()] = True
        return np.asarray(same)

    @cached_property
    def _bases(self) -> pl.DataFrame:
        """What the words may be forms of, as numbers of ``words``: columns word and base."""
        bases = wordnet().base_form_frame(self.words).select("word", "base").unique()
        numbers = pl.DataFrame({"text": self.words, "number": np.arange(len(self.words))})
        return bases.join(numbers, left_on="word", right_on="text").select("base", word="number")

    def share_words(self, stretches: _Stretches) -> Flags:
        """Whether a word is on both sides of stretches of at most ``MOST_WORDS``."""
        place = np.arange(MOST_WORDS)
        inside = place < stretches.lengths[:, :, None]
        # What lies beyond a stretch is a different nothing on each side.
        nothing = np.array([-1, -2])[:, None, None]
        token = np.where(inside, stretches.starts[:, :, None] + place, 0)
        here, there = np.where(inside, self.word[token], nothing)
        shared: Flags = (here[:, :, None] == there[:, None, :]).any(axis=(1, 2))
        return shared

    def written(self, stretches: _Stretches) -> pl.DataFrame:
        """The stretches as they are written."""
        sides = zip(
            ("premise_words", "hypothesis_words"),
            stretches.starts,
            stretches.starts + stretches.lengths - 1,
            strict=True,
        )
        return pl.DataFrame({name: self._slices(first, last) for name, first, last in sides})

    def _slices(self, first: Numbers, last: Numbers) -> pl.Series:
        start, end = self.start[first], self.end[last]
        frame = pl.DataFrame({"text": self.texts.gather(self.text[first]), "start": start, "length": end - start})
        return frame.select(pl.col("text").str.slice("start", "length")).to_series()

    def bare(self, stretches: _Stretches) -> pl.DataFrame:
        """The stretches as they are written, without what merely adapts in front of them and after them."""
        return self.written(stretches).with_columns(pl.all().map_batches(_strip_function_words, return_dtype=pl.String))

    def compounds(self, stretches: _Stretches) -> pl.DataFrame:
        """As ``bare``; words that WordNet does not relate with the word after or else before, if it has both so."""
        words = self.bare(stretches)
        alone = (word_relations(words["premise_words"], words["hypothesis_words"]) == "none").to_numpy()
        for front in (True, False):
            longer = _Stretches(stretches.starts - front, stretches.lengths + 1)
            rows = np.flatnonzero(alone & self._has_neighbours(longer, front=front))
            written = self.written(longer.of(rows))
            both = written.select(pl.all_horizontal(pl.all().map_batches(_is_expression, return_dtype=pl.Boolean)))
            chosen = both.to_series().arg_true()
            words = pl.DataFrame(
                {name: words[name].scatter(rows[chosen], written[name][chosen]) for name in words.columns}
            )
        return words

    def _has_neighbours(self, longer: _Stretches, *, front: bool) -> Flags:
        """Whether stretches that a token was added to are still in their sentences."""
        added, old = longer.at(front=front), longer.at(front=not front)
        within = (added >= 0) & (added < len(self.word))
        here = self.text[np.where(within, added, old)]
        both: Flags = (within & (here == self.text[old])).all(axis=0)
        return both


def _strip_function_words(written: pl.Series) -> pl.Series:
    """Stretches without *some* and, unless WordNet has the expression with them, without prepositions."""
    core = written.str.replace(_QUANTITY, "").str.replace(_COMPLEMENT, "")
    trimmed = core.str.replace(_AFTER, "").str.replace(_BEFORE, "")
    return core.zip_with(_is_expression(core), trimmed)


def _is_expression(words: pl.Series) -> pl.Series:
    """Whether WordNet has each word or expression in some form."""
    return words.is_in(expression_senses(words)["word"].unique().implode())
