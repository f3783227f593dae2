"""Suites ``stress/negation``, ``word-overlap``, ``length-mismatch`` and ``ladder``: sentences joined with a tautology.

The label stays, because a tautology adds nothing to what a sentence says.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import polars as pl

from acidtest.core.draws import key
from acidtest.core.errors import AcidtestError
from acidtest.core.suite import Argument, Kind, Suite
from acidtest.suites.catalogue import Request, generator
from acidtest.suites.corpus import derive_suite, source_pairs
from acidtest.suites.stress import CITATION

Place = Literal["start", "middle", "end"]
Side = Literal["premise", "hypothesis", "both"]

_PLACES: tuple[Place, ...] = ("start", "middle", "end")
_SIDES: tuple[Side, ...] = ("premise", "hypothesis", "both")
_MOST_REPETITIONS = 20
_LADDER_COLUMNS: dict[str, Kind] = {"repetitions": "factor", "place": "factor", "side": "factor"}

_FINAL = ".!?,;:…。！？"
_SPACE = " \t\n\r\f\v\u00a0"
# "in the U.S." and "at 9 a.m." end in a period that is part of the word.
_ABBREVIATED = r"(?:\b(?:\p{L}\.){2,}|\b(?:etc|Inc|Corp|Co|Ltd|Jr|Sr|Mr|Mrs|Ms|Dr|St|Ave|Rd|vs|Mt|Ph\.D)\.)\s*$"
# Where a Penn tree can be extended: before its final punctuation, else before the brackets of sentence and root.
_END_OF_SENTENCE = r"((?:\s*\([.,:] [^\s()]+\))+\)*\s*|\)\)\s*)$"
_TAIL = 80
"""Only so many last characters of a tree are searched for ``_END_OF_SENTENCE``, which is much faster."""
_BREAK = (
    r",? ((?:in|on|at|by|for|from|with|without|under|over|after|before|during|since|while|when|where|although|because|"
    r"until|between|among|behind|beside|near|into|onto|through|across)\b)"
)


@dataclass(frozen=True)
class DistractionDefaults:
    """A suite in which every pair gets one tautology, and the defaults of its options."""

    name: str
    tautology: str
    repetitions: int
    side: Side
    summary: str
    description: str


DISTRACTIONS = (
    DistractionDefaults(
        "stress/word-overlap",
        "true",
        1,
        "hypothesis",
        "A tautology at the end of the hypothesis lowers the share of words the two sentences have in common",
        'The hypothesis with "and true is true" at its end.',
    ),
    DistractionDefaults(
        "stress/negation",
        "false",
        1,
        "hypothesis",
        "A tautology with a strong negation word at the end of the hypothesis",
        'The hypothesis with "and false is not true" at its end.',
    ),
    DistractionDefaults(
        "stress/length-mismatch",
        "true",
        5,
        "premise",
        "A tautology five times at the end of the premise makes it much longer than the hypothesis",
        'The premise with "and true is true" five times at its end.',
    ),
)


def _generator_of(defaults: DistractionDefaults) -> Callable[..., Suite]:
    def distract(
        request: Request,
        *,
        tautology: str = defaults.tautology,
        repetitions: int = defaults.repetitions,
        place: Place = "end",
        side: Side = defaults.side,
        faithful: bool = False,
    ) -> Suite:
        distraction = Distraction(read_tautology(tautology), repetitions, place, side, faithful)
        pairs = source_pairs(request)
        arguments: dict[str, Argument] = {
            "tautology": distraction.tautology.argument,
            "repetitions": repetitions,
            "place": place,
            "side": side,
        }
        arguments |= {"faithful": True} if faithful else {}
        return derive_suite(defaults.name, pairs, distraction.apply(pairs.frame), request=request, arguments=arguments)

    distract.__doc__ = f"""{defaults.description}

    ``tautology`` is the name of a packaged one or any statement. The label stays, and taking the tautology out
    again gives the sentence back; ``faithful`` cuts the sentence at its first period, as the released script did.
    """
    return distract


for _defaults in DISTRACTIONS:
    generator(
        _defaults.name,
        summary=_defaults.summary,
        rows=816,
        source="pairs",
        citation=CITATION,
        licence="Apache-2.0",
        row_local=True,
    )(_generator_of(_defaults))


@generator(
    "stress/ladder",
    summary="A tautology 1 to 20 times, at the start, in the middle and at the end, in premise, hypothesis and both",
    rows=22_082,
    source="pairs",
    citation=CITATION,
    licence="Apache-2.0",
    row_local=True,
)
def ladder(request: Request, *, tautology: str = "true") -> Suite:
    """Every pair 28 times: one to twenty repetitions at the end of the premise, and one at every place and side."""
    chosen = read_tautology(tautology)
    rungs = [Distraction(chosen, number, "end", "premise") for number in range(1, _MOST_REPETITIONS + 1)]
    others = [Distraction(chosen, 1, place, side) for side in _SIDES for place in _PLACES]
    rungs += [rung for rung in others if rung != rungs[0]]
    pairs = source_pairs(request, columns=_LADDER_COLUMNS)
    frames = [
        rung.apply(pairs.frame).with_columns(
            repetitions=pl.lit(str(rung.repetitions)), place=pl.lit(rung.place), side=pl.lit(rung.side)
        )
        for rung in rungs
    ]
    return derive_suite(
        "stress/ladder",
        pairs,
        pl.concat(frames),
        request=request,
        arguments={"tautology": chosen.argument},
        columns=_LADDER_COLUMNS,
        crossings=(("side", "place"), ("side", "repetitions")),
    )


@dataclass(frozen=True)
class Tautology:
    """A statement that is always true, with its trees, all without a final period."""

    name: str
    """The name of a packaged one; for a user's statement, ``own`` and a digest of its text."""
    text: str
    parse: str
    binary_parse: str

    @property
    def argument(self) -> str:
        """The value of ``--tautology`` that selects it: a packaged name, or the text of a user's statement."""
        return self.name if self.name in tautologies()["name"] else self.text


def read_tautology(wanted: str) -> Tautology:
    """A packaged tautology, by its name or text, or any statement of a user's as one."""
    for row in tautologies().iter_rows(named=True):
        if wanted in (row["name"], row["text"]):
            return Tautology(row["name"], row["text"], row["parse"], row["binary_parse"])
    words = wanted.strip().rstrip(".!?").split()
    words = words[1:] if len(words) > 1 and words[0].lower() == "and" else words
    if len(words) < 2:
        known = ", ".join(tautologies()["name"])
        several = "; acidtest run takes several, separated by commas" if "," in wanted else ""
        raise AcidtestError(f"--tautology: {wanted!r} is neither a statement nor the name of one ({known}){several}")
    # A user's statement has no tree: it gets a flat Penn tree and a right-branching binary tree.
    text = " ".join(words)
    leaves = [re.sub(r"[()]", lambda match: "-LRB-" if match[0] == "(" else "-RRB-", word) for word in words]
    flat = "(S " + " ".join(f"(X {leaf})" for leaf in leaves) + ")"
    return Tautology(f"own{key(text) % 16**6:06x}", text, flat, _right_branching(leaves))


def tautologies() -> pl.DataFrame:
    """The packaged tautologies: name, text, trees, whether there is a negation, source."""
    from acidtest.io.wordlists import packaged_table

    return packaged_table("stress/tautologies.tsv")


def _right_branching(parts: list[str]) -> str:
    first, *rest = parts
    return f"( {first} {_right_branching(rest)} )" if rest else first


@dataclass(frozen=True)
class Distraction:
    """How to join a tautology to sentences with "and": how often, at which place, in which sentences."""

    tautology: Tautology
    repetitions: int = 1
    place: Place = "end"
    side: Side = "hypothesis"
    faithful: bool = False
    """Insert before the first ``.``, ``!`` or ``?`` and drop what follows it, as the paper's script does."""

    def __post_init__(self) -> None:
        if not 1 <= self.repetitions <= _MOST_REPETITIONS:
            raise AcidtestError(f"--repetitions is a number from 1 to {_MOST_REPETITIONS}, not {self.repetitions}")
        if self.faithful and self.place != "end":
            raise AcidtestError(
                f"--faithful does as the released script did, at the end; it does not go with --place {self.place}"
            )

    def apply(self, frame: pl.LazyFrame) -> pl.LazyFrame:
        """The pairs and their parses with the tautology inserted; pairs without such a place are left out."""
        sides = ("premise", "hypothesis") if self.side == "both" else (self.side,)
        names = frame.collect_schema().names()
        changed = [self.text(pl.col(side)).alias(side) for side in sides]
        for side in sides:
            for form, insert in (("parse", self.parse), ("binary_parse", self.binary_parse)):
                if f"{side}_{form}" in names:
                    changed.append(insert(pl.col(f"{side}_{form}"), pl.col(side)).alias(f"{side}_{form}"))
        variant = f"{self.tautology.name}-{self.repetitions}-{self.place}-{self.side}" + "-faithful" * self.faithful
        return frame.filter(*(self.fits(pl.col(side)) for side in sides)).with_columns(
            *changed, variant=pl.lit(variant)
        )

    def fits(self, text: pl.Expr) -> pl.Expr:
        """Whether a text has the place: the middle needs a preposition or conjunction, start and end always fit."""
        return text.str.contains(_BREAK) if self.place == "middle" else pl.lit(True)

    def text(self, text: pl.Expr) -> pl.Expr:
        """The text with the tautology inserted; only ``faithful`` drops any of the text."""
        statement = self.tautology.text
        appended = f" and {statement}" * self.repetitions
        if self.faithful:
            mark = text.str.extract(r"([.!?])", 1).fill_null("")
            return pl.concat_str(text.str.extract(r"^([^.!?]*)", 1), pl.lit(appended), mark)
        if self.place == "start":
            in_front = " and ".join([statement] * self.repetitions)
            return pl.concat_str(pl.lit(f"{in_front[0].upper()}{in_front[1:]} and "), _uncapitalised(text))
        if self.place == "middle":
            return _insert_in_the_middle(text, f",{appended}, ")
        body = _body(text)
        return pl.concat_str(body, pl.lit(appended), text.str.strip_prefix(body))

    def parse(self, parse: pl.Expr, text: pl.Expr) -> pl.Expr:
        """The Penn tree of ``text`` with the tautology's tree inside the sentence; null unless ``place`` is the end."""
        end = parse.str.tail(_TAIL).str.extract(_END_OF_SENTENCE)
        added = f" (CC and) {self.tautology.parse}" * self.repetitions
        return self._only_whole(pl.concat_str(parse.str.strip_suffix(end), pl.lit(added), end).fill_null(parse), text)

    def binary_parse(self, parse: pl.Expr, text: pl.Expr) -> pl.Expr:
        """The binary tree of ``text`` joined with the tautology's tree; null unless ``place`` is the end."""
        tree = _right_branching([f"( and {self.tautology.binary_parse} )"] * self.repetitions)
        marked = parse.str.strip_chars_end(")" + _SPACE)
        before = marked.str.strip_chars_end(_FINAL)
        mark, closing = marked.str.strip_prefix(before), parse.str.strip_prefix(marked)
        joined = pl.concat_str(before, pl.lit(f"( {tree} "), mark, pl.lit(" )"), closing)
        last = pl.concat_str(pl.lit("( "), parse, pl.lit(f" {tree} )"))
        return self._only_whole(pl.when(before.str.ends_with(" ") & (mark != "")).then(joined).otherwise(last), text)

    def _only_whole(self, parse: pl.Expr, text: pl.Expr) -> pl.Expr:
        """The tree, or null where ``place`` is not the end or ``faithful`` dropped part of the text."""
        if self.place != "end":
            return pl.lit(None, dtype=pl.String)
        return pl.when(text.str.contains(r"[.!?].*\S")).then(None).otherwise(parse) if self.faithful else parse


def _insert_in_the_middle(text: pl.Expr, added: str) -> pl.Expr:
    """Insert ``added`` before the first preposition or conjunction after the middle, else before the last one."""
    half = text.str.len_chars() // 2
    left, right = text.str.slice(0, half), text.str.slice(half)
    # In a replacement a dollar sign would mean a group.
    added = added.replace("$", "$$")
    after = right.str.replace(_BREAK, added + "${1}")
    before = text.str.replace(rf"^(.*\S){_BREAK}", "${1}" + added + "${2}")
    return pl.when(right.str.contains(_BREAK)).then(pl.concat_str(left, after)).otherwise(before)


def _body(text: pl.Expr) -> pl.Expr:
    """The text without its final punctuation, unless that is within quotation marks or part of an abbreviation."""
    bare = text.str.strip_chars_end(_FINAL + _SPACE)
    # "in the U.S." keeps its period, "in the U.S.!" keeps it too and loses the exclamation mark.
    before_marks = text.str.strip_chars_end(_FINAL.replace(".", "") + _SPACE)
    abbreviated = before_marks.str.contains(_ABBREVIATED)
    return (
        pl.when(~abbreviated & (bare != ""))
        .then(bare)
        .when(before_marks != "")
        .then(before_marks)
        .otherwise(text.str.strip_chars_end(_SPACE))
    )


def _uncapitalised(text: pl.Expr) -> pl.Expr:
    """The text to continue a sentence: its first word in lower case where it is in the list of openers, so no name."""
    from acidtest.io.wordlists import word_list

    openers = "|".join(word.capitalize() for word in sorted(word_list("openers")))
    lowered = pl.concat_str(text.str.slice(0, 1).str.to_lowercase(), text.str.slice(1))
    return pl.when(text.str.contains(rf"^(?:{openers})(?:\s|,|'|’)")).then(lowered).otherwise(text)
