"""Misspells words of texts on purpose, and finds misspelt words.

An edit swaps two neighbouring letters, or replaces a letter by the key beside it, on the bytes of a whole column at
once. A word counts as misspelt if no word list has it and one edit makes it a word in use.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from string import ascii_lowercase
from typing import Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.draws import U64, Draws
from acidtest.english.letters import CASE, Bytes, Mask, Places, WordSpans, pack_texts, positions_between, runs, slices
from acidtest.english.tokens import number_distinct
from acidtest.english.wordnet import wordnet
from acidtest.io.wordlists import packaged_table

Edit = Literal["adjacent", "keyboard"]


@dataclass(frozen=True)
class MisspeltTexts:
    """Some rows of a column of texts, misspelt."""

    spans: WordSpans
    rows: Places
    data: Bytes
    """The bytes of all texts after the edits, at their original positions."""
    chosen: Places
    """Numbers of the edited words: a row for each edit, a column for each text; in the order of the text."""

    @property
    def texts(self) -> pl.Series:
        """The misspelt texts."""
        return self.spans.texts.texts(self.rows, self.data)

    @property
    def words(self) -> pl.Series:
        """The edited words of each text before the edits, separated by spaces."""
        return self._listed(self.spans.texts.data)

    @property
    def misspellings(self) -> pl.Series:
        """The same words after the edits."""
        return self._listed(self.data)

    def _listed(self, data: Bytes) -> pl.Series:
        starts, ends = self.spans.starts, self.spans.ends
        columns = [slices(data, starts[word], ends[word]) for word in self.chosen]
        return pl.select(pl.concat_str(columns, separator=" ")).to_series()


def misspell(
    spans: WordSpans, edit: Edit, *, rows: U64, draws: Draws, slot: str = "", edits: int = 1, nonwords: bool = False
) -> MisspeltTexts:
    """Texts with ``edits`` words misspelt, one edit in each; texts with fewer editable words are left out.

    Every editable word is equally likely, and so is every editable place in it. ``rows`` are the keys of the texts for
    ``draws``. With ``nonwords`` no edit yields an English word.
    """
    ways = _nonword_ways(spans, edit) if nonwords else None
    may = _editable_letters(spans.texts.data, spans.editable, edit) if ways is None else ways != 0
    choices = _Choices(spans, may)
    sizes = np.diff(choices.bounds)
    kept = np.flatnonzero(sizes >= edits)
    keys, sizes = rows[kept], sizes[kept]
    ranks, chosen = np.empty((2, edits, len(kept)), dtype=np.int64)
    changed = spans.texts.data.copy()
    for number in range(edits):
        word, letter = (draws.bits(keys, edit, slot, name, number) for name in ("word", "letter"))
        rank = _draw_below(sizes - number, word)
        for taken in np.sort(ranks[:number], axis=0):
            rank += rank >= taken
        ranks[number] = rank
        chosen[number] = choices.words[choices.bounds[kept] + ranks[number]]
        place = choices.draw_places(chosen[number], letter)
        has = _ways(changed[place], edit) if ways is None else ways[place]
        # If both keys are possible, a bit decides that was not used to choose the word.
        _edit(changed, place, np.where(has == 3, word & np.uint64(1), has >> 1).astype(np.intp), edit)
    return MisspeltTexts(spans, kept, changed, np.sort(chosen, axis=0))


def is_english(candidates: pl.Series) -> pl.Series:
    """Whether each lower-case word is English: WordNet has it in some form, or it is a function word."""
    known = wordnet().base_form_frame(candidates)["word"]
    return candidates.is_in(pl.concat([known, function_words()["word"]]).implode())


def function_words() -> pl.DataFrame:
    """The function words of English with their kind, such as ``article`` or ``subordinator``."""
    return packaged_table("stress/function_words.tsv")


class _Choices:
    """The words with a byte that may be edited; those of text ``i`` lie from ``bounds[i]`` to ``bounds[i + 1]``."""

    def __init__(self, spans: WordSpans, may: Mask) -> None:
        # For nearly all words the first letter may be edited; only the others are searched.
        has = may[spans.starts]
        rest = np.flatnonzero(~has)
        if len(rest):
            edges = np.stack([spans.starts[rest], spans.ends[rest]], axis=1).ravel()
            has[rest] = np.logical_or.reduceat(may, edges)[::2]
        self.words: Places = np.flatnonzero(has)
        self.bounds: Places = spans.bounds - np.searchsorted(rest[~has[rest]], spans.bounds)
        self._spans, self._may = spans, may

    def draw_places(self, words: Places, bits: U64) -> Places:
        """A random editable place in each word."""
        starts, ends = self._spans.starts[words], self._spans.ends[words]
        places = starts + _draw_below(ends - starts, bits)
        # If that place cannot be edited, the other half of the bits chooses among those that can.
        missed = np.flatnonzero(~self._may[places])
        if len(missed):
            starts, ends, bits = starts[missed], ends[missed], bits[missed] << np.uint64(32)
            letters = positions_between(starts, ends)
            upto = np.cumsum(self._may[letters], dtype=np.int64)
            last = np.cumsum(ends - starts) - 1
            before = np.append(0, upto[last[:-1]])
            places[missed] = letters[np.searchsorted(upto, before + _draw_below(upto[last] - before, bits) + 1)]
        return places


def _draw_below(sizes: npt.NDArray[np.integer], bits: U64) -> Places:
    """A number below each size, all equally likely."""
    return (((bits >> np.uint64(32)) * sizes.astype(np.uint64)) >> np.uint64(32)).astype(np.int64)


def _editable_letters(data: Bytes, editable: Mask, edit: Edit) -> Mask:
    """Which letters can be edited: replaced, or swapped with the next unless both are the same."""
    if edit == "keyboard":
        return editable
    may = np.zeros_like(editable)
    may[:-1] = editable[:-1] & editable[1:] & ((data[:-1] ^ data[1:]) & ~CASE != 0)
    return may


def _ways(letters: Bytes, edit: Edit) -> Bytes:
    """How letters can be edited, as bits: 1 is a swap, or the key to the left; 2 is the key to the right."""
    left, right = _neighbours() != 0
    keys: Bytes = (left | (right << 1)).astype(np.uint8)
    return np.ones_like(letters) if edit == "adjacent" else keys[letters]


def _edit(data: Bytes, places: Places, ways: npt.NDArray[np.intp], edit: Edit) -> None:
    """Edit some letters in place; capitals stay where they were."""
    if edit == "keyboard":
        data[places] = _neighbours()[ways, data[places]]
        return
    one, other = data[places], data[places + 1]
    data[places] = (other & ~CASE) | (one & CASE)
    data[places + 1] = (one & ~CASE) | (other & CASE)


def _nonword_ways(spans: WordSpans, edit: Edit) -> Bytes:
    """How each letter can be edited without yielding an English word, as bits; each distinct word is looked up once."""
    data, editable = spans.texts.data, spans.editable
    starts, ends = runs(editable)
    different, number = number_distinct(slices(np.where(editable, data | CASE, data), starts, ends))
    column = pack_texts(different)
    distinct_ways = _ways(column.data, edit) * _editable_letters(column.data, column.data != ord("\n"), edit)
    for way in (0, 1):
        place = np.flatnonzero(distinct_ways & (1 << way))
        word = np.searchsorted(column.starts, place, side="right") - 1
        copies = pack_texts(column.texts(word))
        changed = copies.data.copy()
        _edit(changed, copies.starts + place - column.starts[word], np.full(len(place), way), edit)
        known = is_english(copies.texts(np.arange(len(place)), changed)).to_numpy()
        distinct_ways[place[known]] ^= np.uint8(1 << way)
    ways = np.zeros_like(data)
    shift = np.repeat(column.starts[number] - starts, ends - starts)
    ways[editable] = distinct_ways[np.flatnonzero(editable) + shift]
    return ways


@cache
def _neighbours() -> Bytes:
    """The letters left and right of each letter on the keyboard, small and capital; 0 where there is none."""
    table = np.zeros((2, 256), dtype=np.uint8)
    for keys in packaged_table("stress/keyboard.tsv")["keys"]:
        for row in (keys.encode(), keys.upper().encode()):
            table[1, list(row[:-1])] = list(row[1:])
            table[0, list(row[1:])] = list(row[:-1])
    return table


def misspelt_words(texts: pl.Series) -> pl.Series:
    """The words of each text that are misspelt, with what they may stand for: a list such as ``["recieve (receive)"]``.

    A word is misspelt when it is neither in WordNet in any form nor a function word, and becomes a word in use when one
    letter is added, left out or changed, or two are swapped. Words with a capital (names), digit, apostrophe or hyphen
    are not checked.
    """
    tokens = texts.cast(pl.String).str.extract_all(r"[\p{L}\p{N}_@'’\-./]*[\p{L}\p{N}]")
    tokens = tokens.list.unique(maintain_order=True)
    vocabulary = tokens.explode(empty_as_null=False, keep_nulls=False).unique()
    slips = _slips(vocabulary.filter(vocabulary.str.contains(r"^[a-z]{3,}$")))
    named = pl.element().replace_strict(slips["word"], slips["named"], default=None)
    return tokens.list.eval(named).list.drop_nulls().alias("misspelt")


def _slips(words: pl.Series) -> pl.DataFrame:
    """The misspelt words among distinct words: columns word and named, such as ``recieve (receive)``."""
    # Words in use that WordNet 3.0 does not have because they are colloquial or newer.
    newer = packaged_table("typology/known_words.tsv")["word"]
    functional = set(function_words()["word"])
    unknown = words.filter(~is_english(words) & ~words.is_in(newer.implode())).sort()
    tries = pl.DataFrame(
        [(word, edit, place) for word in unknown for place, edit in enumerate(_edits(word, functional))],
        schema={"word": pl.String, "edit": pl.String, "place": pl.Int64},
        orient="row",
    )
    matches = tries.join(_in_use(tries["edit"].unique()), left_on="edit", right_on="word")
    best = matches.sort("word", "count", "place", descending=[False, True, False]).unique("word", maintain_order=True)
    return best.select("word", named=pl.format("{} ({})", "word", "edit"))


def _in_use(words: pl.Series) -> pl.DataFrame:
    """Which of some words are in use, and how often SemCor has their lemma: columns word and count."""
    counts = wordnet().sense_frame(words).group_by("word").agg(pl.col("count").sum().cast(pl.Int64))
    functional = function_words().select("word", count=pl.lit(1 << 20, pl.Int64))
    functional = functional.filter(pl.col("word").is_in(words.implode()))
    return pl.concat([functional, counts.filter(pl.col("count") > 0)]).unique("word", keep="first", maintain_order=True)


def _edits(word: str, functional: Collection[str]) -> list[str]:
    """The words one edit away: first two letters swapped, then one added, one left out, one changed."""
    splits = [(word[:place], word[place:]) for place in range(len(word) + 1)]
    swapped = [left + right[1] + right[0] + right[2:] for left, right in splits if len(right) > 1]
    # Short words are one letter away from too many others.
    if len(word) < 5:
        return [edit for edit in dict.fromkeys(swapped) if edit in functional]
    longer = [left + letter + right for left, right in splits for letter in ascii_lowercase]
    shorter = [left + right[1:] for left, right in splits if right]
    other = [left + letter + right[1:] for left, right in splits if right for letter in ascii_lowercase]
    return list(dict.fromkeys([*swapped, *longer, *shorter, *other]))
