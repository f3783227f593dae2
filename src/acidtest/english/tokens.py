"""The tokens and sentences of texts, with their offsets, split as treebanks split them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import polars as pl
from numpy.typing import NDArray

from acidtest.io.wordlists import packaged_table

# Polars has no look-around: what depends on neighbours is decided before (is "B." an initial?) or after (the clitics
# of "don't"). Alternatives are tried in order; the last matches any character, so that nothing is lost.
_UNIT = r"[\p{L}\p{N}][\p{L}\p{M}\p{N}]*"
_ADDRESS = r"(?:https?://|www\.)[^\s<>\"]*[\p{L}\p{N}/]|[\p{L}\p{N}_.+\-]+@[\p{L}\p{N}\-]+(?:\.[\p{L}\p{N}\-]+)+"
_ACRONYM = rf"(?:\p{{L}}\.){{2,}}(?:-{_UNIT})*"
_NUMBER = rf"\p{{N}}+(?:[.,:/]\p{{N}}+)+(?:-?{_UNIT})*|\.\p{{N}}+"
_SHORTENED = r"['’](?i:em|til|tis|twas|cause|bout|round|s|m|d|ll|re|ve)\b|['’]\p{N}\p{N}s?\b"
_WORD = rf"{_UNIT}(?:[\-‐‑'’&]{_UNIT})*"
_SIGNS = r"\.{2,}|[!?]+|-{2,}|``|''"
_INITIAL = r"\p{Lu}\."
_PLAIN = rf"^{_WORD}[.,;:!?]?$"
_LONE_INITIAL = r"^[\p{Ps}\p{Pi}\"']*\p{Lu}\.[\p{Pe}\p{Pf}\"']*$"

_CLITICS = r"(?i)^(.*\p{L})(n['’]t|['’](?:s|m|d|ll|re|ve))$"
_MERGED = r"(?i)^(?:(can)(not)|(gon|wan)(na)|(got)(ta)|(gim|lem)(me))$"

_TRAITS = {
    "white": r"^\s",
    "paragraph": r"\n\s*\n|\r\s*\r",
    "stop": r"^(?:\.|[!?]+|[。！？])$",
    "ellipsis": r"^(?:\.{2,}|…)$",
    "acronym": rf"^{_ACRONYM}$",
    "closing": r"^(?:[\p{Pe}\p{Pf}\"']|'')$",
    # A token that cannot be the first of a sentence.
    "inside": r"^(?:[,;:!?…\p{Pe}\p{Pf}]|\.+$)",
    "upper": r"^\p{Lu}",
    "lower": r"^\p{Ll}",
}

Flags = NDArray[np.bool_]
Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class TokenColumns:
    """The tokens of a column of texts as arrays: position, word number, and whether a sentence begins."""

    text: Numbers
    start: Numbers
    end: Numbers
    word: Numbers
    """Row in ``words``."""
    words: pl.Series
    """The distinct tokens."""
    initial: Flags
    """Whether a token is the first of a sentence."""

    @property
    def frame(self) -> pl.DataFrame:
        """The tokens as a frame: columns text, start, end and token."""
        places = {"text": self.text, "start": self.start, "end": self.end}
        frame = pl.DataFrame(places, schema=dict.fromkeys(places, pl.UInt32))
        return frame.with_columns(self.words.gather(self.word).alias("token"))


@dataclass(frozen=True)
class _Pieces:
    """The tokens and white space of the distinct chunks (texts split at spaces); those of one chunk are adjacent."""

    first: Numbers
    count: Numbers
    word: Numbers
    start: Numbers
    apart: Flags
    words: pl.Series
    traits: dict[str, Flags]


def tokens(texts: pl.Series) -> pl.DataFrame:
    """Every token of a column of texts: ``text`` (row number), ``start`` and ``end`` (characters), ``token``.

    Punctuation and clitics (n't, 's, 'll) are separate tokens; hyphenated words, numbers and abbreviations stay whole.
    Between tokens there is only white space. A null text has no tokens.
    """
    return tokenise(texts).frame


def sentences(texts: pl.Series) -> pl.DataFrame:
    """Every sentence of a column of texts: ``text`` (row number), ``start`` and ``end`` (characters), ``sentence``.

    A sentence ends with a full stop, question or exclamation mark and any closing quotes and brackets, or before an
    empty line. An abbreviation ends one only before a typical first word, as in "the U.S. The".
    """
    columns = tokenise(texts)
    first = np.flatnonzero(columns.initial)
    last = np.append(first[1:], len(columns.text))[: len(first)] - 1
    places = {"text": columns.text[first], "start": columns.start[first], "end": columns.end[last]}
    frame = pl.DataFrame(places, schema=dict.fromkeys(places, pl.UInt32))
    whole = texts.cast(pl.String).gather(frame["text"]).alias("sentence")
    inside = pl.col("sentence").str.slice("start", pl.col("end") - pl.col("start"))
    return frame.with_columns(whole).with_columns(inside)


def tokenise(texts: pl.Series) -> TokenColumns:
    """The tokens of a column of texts as ``tokens`` gives them, in a form for further work on columns."""
    chunks = texts.cast(pl.String).str.split(" ")
    text = np.repeat(np.arange(len(texts)), chunks.list.len().fill_null(0).to_numpy())
    kinds, chunk = number_distinct(chunks.explode(empty_as_null=False, keep_nulls=False))
    # Plus 1 for the space removed by the split.
    ends = np.cumsum(kinds.str.len_chars().to_numpy().astype(np.int64)[chunk] + 1)
    starts = np.concatenate(([0], ends))[:-1]
    first = _is_new(text)
    starts -= np.repeat(starts[first], np.diff(np.append(np.flatnonzero(first), len(text))))
    lone = kinds.str.contains(_LONE_INITIAL)
    chunk = _with_closing(kinds, chunk, text, lone=lone.to_numpy())
    return _joined(_pieces(kinds, lone), chunk, text, starts)


def number_distinct(values: pl.Series) -> tuple[pl.Series, Numbers]:
    """The distinct values of a column of strings, and for each row the number of its value among them."""
    codes = values.cast(pl.Categorical(pl.Categories.random())).to_physical().to_numpy().astype(np.int64)
    first = np.zeros(codes.max(initial=-1) + 1, dtype=np.int64)
    first[codes[::-1]] = np.arange(len(codes))[::-1]
    return values.gather(first), codes


def next_flags(flags: Flags, *, beyond: bool = False) -> Flags:
    """The flag of the next place, for each place; ``beyond`` is the one after the last."""
    return np.append(flags, beyond)[1:]


def previous_flags(flags: Flags) -> Flags:
    """The flag of the previous place, for each place; false for the first."""
    return np.concatenate(([False], flags))[:-1]


def _is_new(text: Numbers) -> Flags:
    return np.asarray(np.diff(text, prepend=-1) != 0)


def _with_closing(kinds: pl.Series, chunk: Numbers, text: Numbers, *, lone: Flags) -> Numbers:
    """The chunk numbers, with others for a letter and full stop that end a sentence ("from A to B. If she")."""
    word = kinds.str.extract(r"^\W*(\p{L}*)")
    begins: Flags = (word.is_in(_starters()) | (kinds == "")).to_numpy()[chunk]
    closing = lone[chunk] & next_flags(begins | _is_new(text), beyond=True)
    return np.where(closing, len(kinds) + np.cumsum(lone)[chunk] - 1, chunk)


def _joined(pieces: _Pieces, chunk: Numbers, text: Numbers, starts: Numbers) -> TokenColumns:
    """The tokens of all chunks in order, without white space."""
    count = pieces.count[chunk]
    before = np.cumsum(count) - count
    piece = np.repeat(pieces.first[chunk] - before, count) + np.arange(count.sum())
    text, start, word = np.repeat(text, count), np.repeat(starts, count) + pieces.start[piece], pieces.word[piece]
    width = pieces.words.str.len_chars().to_numpy().astype(np.int64)
    white = pieces.traits["white"][word]
    paragraph = pieces.traits["paragraph"][np.roll(word, 1)]
    kept = ~white
    text, start, word = text[kept], start[kept], word[kept]
    initial = _initial(pieces, word, text, apart=pieces.apart[piece][kept]) | paragraph[kept]
    return TokenColumns(text, start, start + width[word], word, pieces.words, initial)


def _initial(pieces: _Pieces, word: Numbers, text: Numbers, *, apart: Flags) -> Flags:
    """Which tokens are the first of a sentence."""
    has = {name: trait[word] for name, trait in pieces.traits.items()}
    closes = has["closing"] & ~apart
    # For each token the last one before it, or itself, that is not a closing quote or bracket.
    ending = np.maximum.accumulate(np.where(closes, 0, np.arange(len(word))))
    previous = np.roll(np.arange(len(word)), 1)
    before, closed = ending[previous], closes[previous]
    ends = has["stop"][before] & (apart | has["upper"]) & ~(closed & has["lower"])
    ends |= has["ellipsis"][before] & ~apart[before] & has["upper"]
    ends |= has["may_end"][before] & has["starter"]
    new = _is_new(text)
    dangling = has["closing"] & next_flags(new, beyond=True)
    return np.asarray(new | (ends & ~closes & ~has["inside"] & ~dangling))


def _pieces(kinds: pl.Series, lone: pl.Series) -> _Pieces:
    """The pieces of every distinct chunk; lone initials ("B.") once more, split as if they were not initials."""
    readings = ((kinds, True), (kinds.filter(lone), False))
    chunks = pl.concat([_split_chunks(chunks, initials=initials) for chunks, initials in readings])
    frame = pl.DataFrame({"chunk": np.arange(len(chunks)), "token": chunks}).explode("token", empty_as_null=False)
    # Twice for "they'd've".
    for pattern in (_CLITICS, _CLITICS, _MERGED):
        frame = _split(frame, pattern)
    words, word = number_distinct(frame["token"])
    chunk = frame["chunk"].to_numpy()
    count = np.bincount(chunk, minlength=len(chunks))
    first = np.cumsum(count) - count
    ends = np.cumsum(words.str.len_chars().to_numpy().astype(np.int64)[word])
    begins = np.concatenate(([0], ends))
    # The properties of distinct tokens that decide where sentences end.
    traits = {name: words.str.contains(pattern).to_numpy() for name, pattern in _TRAITS.items()}
    traits["may_end"] = traits["acronym"] | words.is_in(_abbreviations(may_end=True)).to_numpy()
    traits["starter"] = words.is_in(_starters()).to_numpy()
    after_white = traits["white"][np.roll(word, 1)]
    new = _is_new(chunk)
    start = begins[:-1] - np.repeat(begins[first], count)
    return _Pieces(first, count, word, start, new | after_white, words, traits)


def _split_chunks(chunks: pl.Series, *, initials: bool) -> pl.Series:
    """The tokens and white space of each chunk, as a list."""
    # Most chunks are a word with at most one mark after it; the pattern for all others takes many times as long.
    chunk = pl.col("chunk")
    is_plain = chunk.str.contains(_PLAIN) & ~chunk.str.contains(rf"^{_INITIAL}") & ~chunk.is_in(_abbreviations())
    others = pl.when(~is_plain).then(chunk).str.extract_all(_pattern(initials))
    return pl.DataFrame({"chunk": chunks}).select(pl.coalesce(others, chunk.str.extract_all(rf"{_WORD}|."))).to_series()


def _split(frame: pl.DataFrame, pattern: str) -> pl.DataFrame:
    """The frame with every token that matches the pattern split into its groups."""
    frame = frame.with_row_index("place")
    fits = frame["token"].str.contains(pattern)
    groups = pl.col("token").str.extract_groups(pattern).struct.field("*")
    parts = frame.filter(fits).with_columns(pl.concat_list(groups).list.drop_nulls().alias("token")).explode("token")
    return pl.concat([frame.filter(~fits), parts]).sort("place", maintain_order=True).drop("place")


@cache
def _pattern(initials: bool) -> str:
    """A pattern that matches any token or white space; ``initials``: whether "B." is one token."""
    short = "|".join(word.replace(".", r"\.") for word in _abbreviations())
    parts = [_ADDRESS, _ACRONYM, *([_INITIAL] if initials else []), short, _NUMBER, _SHORTENED, _WORD, _SIGNS, r"\s+"]
    return "|".join((*parts, r"(?s:.)"))


@cache
def _abbreviations(*, may_end: bool = False) -> list[str]:
    """Abbreviations with their full stop: all, or those that may be the last word of a sentence."""
    rows = packaged_table("tagging/abbreviations.tsv").iter_rows()
    return [word for word, ends in rows if ends == "yes" or not may_end]


@cache
def _starters() -> list[str]:
    """Words that often begin a sentence and are seldom names."""
    return packaged_table("tagging/starters.tsv")["word"].to_list()
