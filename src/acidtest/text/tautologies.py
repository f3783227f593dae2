"""Statements that are always true, and how they join a text: appended, put in front or in the middle of it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Literal

import polars as pl

from acidtest.core.draws import key
from acidtest.core.errors import AcidtestError
from acidtest.io.wordlists import packaged_table, word_list

Place = Literal["start", "middle", "end"]

_FINAL = ".!?,;:…。！？"
_SPACE = " \t\n\r\f\v\u00a0"
# "in the U.S." and "at 9 a.m." end in a period that is part of the word.
_ABBREVIATED = r"(?:\b(?:\p{L}\.){2,}|\b(?:etc|Inc|Corp|Co|Ltd|Jr|Sr|Mr|Mrs|Ms|Dr|St|Ave|Rd|vs|Mt|Ph\.D)\.)\s*$"
# Where a Penn tree can go on: before its final punctuation, or else the brackets that close sentence and root.
_END_OF_SENTENCE = r"((?:\s*\([.,:] [^\s()]+\))+\)*\s*|\)\)\s*)$"
_TAIL = 80
"""How many characters at the end of a tree are searched for its end: much faster than all of them."""
_BREAK = (
    r",? ((?:in|on|at|by|for|from|with|without|under|over|after|before|during|since|while|when|where|although|because|"
    r"until|between|among|behind|beside|near|into|onto|through|across)\b)"
)


@dataclass(frozen=True)
class Tautology:
    """A statement that is always true, with its trees, all without a final period."""

    name: str
    """That of a packaged one; for a user's own, ``own`` and a digest of its text."""
    text: str
    parse: str
    binary_parse: str

    @property
    def argument(self) -> str:
        """What asks for it: its name, or the text of a user's own."""
        return self.name if self.name in tautologies()["name"] else self.text


def tautology(wanted: str) -> Tautology:
    """One of the packaged tautologies by name, or a user's own by its text."""
    for row in tautologies().iter_rows(named=True):
        if wanted in (row["name"], row["text"]):
            return Tautology(row["name"], row["text"], row["parse"], row["binary_parse"])
    words = wanted.strip().rstrip(".!?").split()
    words = words[1:] if len(words) > 1 and words[0].lower() == "and" else words
    if len(words) < 2:
        known = ", ".join(tautologies()["name"])
        several = "; acidtest run takes several, separated by commas" if "," in wanted else ""
        raise AcidtestError(f"--tautology: {wanted!r} is neither a statement nor the name of one ({known}){several}")
    # A user's sentence has no tree: its words stand side by side, and in the binary form each joins what follows.
    flat = "(S " + " ".join(f"(X {_bracketed(word)})" for word in words) + ")"
    text = " ".join(words)
    return Tautology(f"own{key(text) % 16**6:06x}", text, flat, _right_branching([_bracketed(word) for word in words]))


@cache
def tautologies() -> pl.DataFrame:
    """The packaged tautologies: name, text, trees, whether there is a negation in it, and where it comes from."""
    return packaged_table("stress/tautologies.tsv")


@dataclass(frozen=True)
class Insertion:
    """A tautology joined to a text with "and", some number of times, at some place."""

    tautology: Tautology
    repetitions: int = 1
    place: Place = "end"
    faithful: bool = False
    """As the script released with the paper does: before the first ``.``, ``!`` or ``?``, and the rest is lost."""

    def text(self, text: pl.Expr) -> pl.Expr:
        """The text with the tautology; taking it out again gives the text back, but for ``faithful``."""
        if self.faithful:
            return self._truncated(text)
        if self.place == "start":
            return pl.concat_str(pl.lit(self._in_front), _uncapitalised(text))
        if self.place == "middle":
            return self._in_the_middle(text)
        body = _body(text)
        return pl.concat_str(body, pl.lit(self._appended), text.str.strip_prefix(body))

    def fits(self, text: pl.Expr) -> pl.Expr:
        """Whether a text has the place: a preposition or conjunction inside, for the middle; the others always are."""
        return text.str.contains(_BREAK) if self.place == "middle" and not self.faithful else pl.lit(True)

    def parse(self, parse: pl.Expr, text: pl.Expr) -> pl.Expr:
        """The Penn tree of ``text`` with the tautology's among the parts of the sentence; null but at the end."""
        if self.place != "end":
            return pl.lit(None, dtype=pl.String)
        end = parse.str.tail(_TAIL).str.extract(_END_OF_SENTENCE)
        added = f" (CC and) {self.tautology.parse}" * self.repetitions
        return self._only_whole(pl.concat_str(parse.str.strip_suffix(end), pl.lit(added), end).fill_null(parse), text)

    def binary_parse(self, parse: pl.Expr, text: pl.Expr) -> pl.Expr:
        """The binary tree of ``text`` with the tautology's; null but at the end."""
        if self.place != "end":
            return pl.lit(None, dtype=pl.String)
        tree = _right_branching([f"( and {self.tautology.binary_parse} )"] * self.repetitions)
        marked = parse.str.strip_chars_end(")" + _SPACE)
        before = marked.str.strip_chars_end(_FINAL)
        mark, closing = marked.str.strip_prefix(before), parse.str.strip_prefix(marked)
        joined = pl.concat_str(before, pl.lit(f"( {tree} "), mark, pl.lit(" )"), closing)
        last = pl.concat_str(pl.lit("( "), parse, pl.lit(f" {tree} )"))
        return self._only_whole(pl.when(before.str.ends_with(" ") & (mark != "")).then(joined).otherwise(last), text)

    @property
    def _appended(self) -> str:
        return f" and {self.tautology.text}" * self.repetitions

    @property
    def _in_front(self) -> str:
        statements = " and ".join([self.tautology.text] * self.repetitions)
        return f"{statements[0].upper()}{statements[1:]} and "

    def _only_whole(self, parse: pl.Expr, text: pl.Expr) -> pl.Expr:
        """A tree whose text was cut short is the tree of nothing."""
        return pl.when(text.str.contains(r"[.!?].*\S")).then(None).otherwise(parse) if self.faithful else parse

    def _truncated(self, text: pl.Expr) -> pl.Expr:
        start = text.str.extract(r"^([^.!?]*)", 1)
        mark = text.str.extract(r"([.!?])", 1).fill_null("")
        return pl.concat_str(start, pl.lit(self._appended), mark)

    def _in_the_middle(self, text: pl.Expr) -> pl.Expr:
        """Set off by commas before the first preposition or conjunction after the middle, else the last before it."""
        half = text.str.len_chars() // 2
        left, right = text.str.slice(0, half), text.str.slice(half)
        added = _literal("," + self._appended + ", ")
        after = right.str.replace(_BREAK, added + "${1}")
        before = text.str.replace(rf"^(.*\S){_BREAK}", "${1}" + added + "${2}")
        return pl.when(right.str.contains(_BREAK)).then(pl.concat_str(left, after)).otherwise(before)


def _body(text: pl.Expr) -> pl.Expr:
    """The text up to its final punctuation; up to its end where that is within quotation marks or part of a word."""
    bare = text.str.strip_chars_end(_FINAL + _SPACE)
    # "in the U.S." keeps its period, "in the U.S.!" keeps it too and loses the exclamation mark.
    before_marks = text.str.strip_chars_end(_FINAL.replace(".", "") + _SPACE)
    abbreviated = before_marks.str.contains(_ABBREVIATED)
    return pl.when(abbreviated | (bare == "")).then(_nonempty(before_marks, text)).otherwise(bare)


def _nonempty(text: pl.Expr, otherwise: pl.Expr) -> pl.Expr:
    return pl.when(text != "").then(text).otherwise(otherwise.str.strip_chars_end(_SPACE))


def _literal(text: str) -> str:
    """A text as a replacement that stands for itself, where ``$`` would mean a group."""
    return text.replace("$", "$$")


def _uncapitalised(text: pl.Expr) -> pl.Expr:
    """Text that goes on a sentence: its first word small, where it is one that is not a name."""
    openers = "|".join(word.capitalize() for word in sorted(word_list("openers")))
    lowered = pl.concat_str(text.str.slice(0, 1).str.to_lowercase(), text.str.slice(1))
    return pl.when(text.str.contains(rf"^(?:{openers})(?:\s|,|'|’)")).then(lowered).otherwise(text)


def _bracketed(word: str) -> str:
    """A word as it stands in a tree, where brackets mean something else."""
    return re.sub(r"[()]", lambda match: "-LRB-" if match[0] == "(" else "-RRB-", word)


def _right_branching(parts: list[str]) -> str:
    first, *rest = parts
    return f"( {first} {_right_branching(rest)} )" if rest else first
