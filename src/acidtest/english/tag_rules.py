"""Rules that change a word's tag depending on its neighbours, after Brill (1992), applied to whole columns.

A rule is written ``t-1=DT|PRP$ t+1!=NN w0=light``: the tag one place before is a determiner or possessive, the one
after is not NN, the word itself is "light". ``t-1,-2=MD`` holds if either of the two places has MD. Places beyond
the ends of a sentence have the tag START.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, reduce
from operator import or_
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from acidtest.english.tokens import Flags, Numbers
from acidtest.io.wordlists import packaged_table

Tags = NDArray[np.uint8]
Masks = NDArray[np.uint64]

START = "START"

TAGS = tuple(
    f"{START} NN NNS NNP NNPS VB VBD VBG VBN VBP VBZ MD JJ JJR JJS RB RBR RBS RP IN TO DT PDT WDT PRP PRP$ WP WP$ WRB "
    "EX CC CD UH POS FW LS SYM . , : $ # `` '' -LRB- -RRB-".split()
)
"""The Penn tags, and ``START`` for places outside a sentence."""

NUMBER = {tag: number for number, tag in enumerate(TAGS)}

FARTHEST = 3
"""The most places that a rule may look to either side."""

_CONDITION = re.compile(r"([tw])([+\-\d,]+)(!?=)(\S+)")


@dataclass(frozen=True)
class RuleCondition:
    """Holds if one of the places (relative to a word) has one of the tags or words; negated, if none has."""

    places: tuple[int, ...]
    values: tuple[str, ...]
    words: bool
    negated: bool


@dataclass(frozen=True)
class TagRule:
    """Changes an old tag to the new one where all conditions hold and the word may have the new tag."""

    old: tuple[str, ...]
    new: str
    conditions: tuple[RuleCondition, ...]


@dataclass(frozen=True)
class TagLine:
    """The tokens of all sentences, with ``FARTHEST`` empty places between sentences."""

    tag: Tags
    word: Numbers
    """Row in ``words``; ``len(words)`` for the places between sentences."""
    may: Masks
    """The tags a word may have, one bit each."""
    words: pl.Series
    """The different words, in lower case."""


def parse_rule(old: str, new: str, when: str) -> TagRule:
    """The rule in three cells of a table; raises ValueError with the problem if they are not valid."""
    tags = TAGS[1:] if old == "*" else tuple(old.split("|"))
    for tag in (*tags, new):
        if tag not in NUMBER:
            raise ValueError(f"{tag!r} is no tag of the Penn Treebank")
    return TagRule(tags, new, tuple(_condition(text) for text in when.split(" ")))


def parse_brill_rule(line: str) -> TagRule | None:
    """The rule in a line of Brill's tagger, such as ``NN VB PREVTAG TO``; None for any other line."""
    cells = line.replace("STAART", START).split()
    written = _brill_conditions().get(cells[2], "") if len(cells) > 3 else ""
    if written.count("{") != len(cells) - 3 or not {*cells[:2]} <= {*TAGS, "*"}:
        return None
    old, new, _, *values = cells
    return parse_rule(old, new, written.format(*values))


@cache
def _brill_conditions() -> dict[str, str]:
    return dict(packaged_table("tagging/brill.tsv").iter_rows())


def tag_mask(tags: Iterable[str]) -> int:
    """A mask with one bit for each of the tags."""
    return reduce(or_, (1 << NUMBER[tag] for tag in tags), 0)


def apply_rules(line: TagLine, rules: Sequence[TagRule]) -> Tags:
    """The tags after applying the rules in order, each to all sentences at once."""
    tag = line.tag.copy()
    word_number = {word: number for number, word in enumerate(line.words)}
    places = {new: np.flatnonzero(line.may & np.uint64(tag_mask([new]))) for new in {rule.new for rule in rules}}
    for rule in rules:
        positions = places[rule.new]
        positions = positions[_flags_for(rule.old, NUMBER, size=len(TAGS))[tag[positions]]]
        for condition in rule.conditions:
            column: NDArray[np.integer[Any]] = line.word if condition.words else tag
            number, size = (word_number, len(line.words) + 1) if condition.words else (NUMBER, len(TAGS))
            chosen = _flags_for(condition.values, number, size=size)
            holds = np.any([chosen[column[positions + place]] for place in condition.places], axis=0)
            positions = positions[holds != condition.negated]
        tag[positions] = NUMBER[rule.new]
    return tag


def _flags_for(names: Sequence[str], number: Mapping[str, int], *, size: int) -> Flags:
    flags = np.zeros(size, dtype=np.bool_)
    flags[[number[name] for name in names if name in number]] = True
    return flags


def _condition(text: str) -> RuleCondition:
    match = _CONDITION.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is no condition such as t-1=DT or w+1!=of|in")
    kind, places, sign, values = match.groups()
    where = tuple(int(place) for place in places.split(","))
    if max(map(abs, where)) > FARTHEST:
        raise ValueError(f"{text!r} looks farther than {FARTHEST} places")
    # The words of a line are in lower case.
    named = tuple((values.lower() if kind == "w" else values).split("|"))
    unknown = [tag for tag in named if kind == "t" and tag not in NUMBER]
    if unknown:
        raise ValueError(f"{unknown[0]!r} is no tag of the Penn Treebank")
    return RuleCondition(where, named, words=kind == "w", negated=sign == "!=")
