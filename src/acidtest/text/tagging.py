"""Parts of speech and names of tokens, by spaCy where an English pipeline is installed, else by the light tagger.

The light tagger needs no download: it has the lexicon and rules of Brill's tagger as textblob carries them, and ours.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from acidtest.core.errors import AcidtestError, UnknownNameError
from acidtest.io.wordlists import packaged_table
from acidtest.text.lexicon import CONTEXT, lexicon_digest, readings, textblob_lines
from acidtest.text.names import entities, is_given_name, is_place_name
from acidtest.text.tag_rules import (
    FARTHEST,
    NUMBER,
    TAGS,
    TagLine,
    TagRule,
    Tags,
    apply_rules,
    parse_brill_rule,
    parse_rule,
)
from acidtest.text.tokens import Flags, TokenColumns, next_flags, number_distinct, previous_flags, tokenise

_SCHEMA = {
    "text": pl.UInt32,
    "start": pl.UInt32,
    "end": pl.UInt32,
    "token": pl.String,
    "tag": pl.String,
    "entity": pl.String,
}

_KNOWN_LEXICON = "de189cb6"
"""What textblob 0.15 to 0.20 carry."""

_ENTITIES = {"PERSON": "PERSON", "GPE": "LOCATION", "LOC": "LOCATION", "FAC": "LOCATION", "ORG": "ORGANIZATION"}
"""spaCy's kinds of names, in ours; its others are none."""

_PREFERRED = ("lg", "md", "sm", "trf")
"""The size of the pipeline taken where several are installed; transformers are slow without a GPU."""

VERSION = 1
"""Goes up when a tag changes: suites that rest on tags carry it."""


@dataclass(frozen=True)
class Tagger:
    """Something that tags; its name holds all that changes tags, for the card of a suite that rests on them."""

    name: str
    frame: Callable[[pl.Series], pl.DataFrame]


class TaggerState(NamedTuple):
    """A tagger, and whether it can be used; if not, what to do."""

    name: str
    state: str


def tag_texts(texts: pl.Series, tagger: str = "auto") -> pl.DataFrame:
    """Every token of a column of texts with ``tag`` (Penn Treebank) and ``entity``, the kind of name it is part of.

    Columns text, start, end and token are those of ``tokens``; spaCy has its own idea of tokens. ``entity`` is PERSON,
    LOCATION, ORGANIZATION or null. ``tagger`` is ``light``, ``spacy`` (the best English pipeline installed),
    ``spacy:NAME`` or ``auto``: spaCy if it is there with an English pipeline, else light.
    """
    return _choose_tagger(tagger).frame(texts)


def tagger(name: str = "auto") -> Tagger:
    """The tagger that ``tagged`` uses for a name; its own name says which and in what version."""
    return _choose_tagger(name)


def taggers() -> list[TaggerState]:
    """Every tagger there is, the one that ``auto`` stands for first."""
    light = TaggerState(_light_name(), "built in")
    if _pipelines():
        return [*(TaggerState(f"spacy:{name}", "installed") for name in _pipelines()), light]
    what = "spaCy has no English pipeline" if find_spec("spacy") else "spaCy is not installed"
    return [light, TaggerState("spacy", f"{what}; {_advice()}")]


def _choose_tagger(name: str) -> Tagger:
    if name == "light" or (name == "auto" and not _pipelines()):
        return Tagger(_light_name(), _light_frame)
    if name in ("auto", "spacy"):
        if not _pipelines():
            raise AcidtestError(f"tagger 'spacy' needs spaCy and an English pipeline; {_advice()}")
        return _spacy(_pipelines()[0])
    kind, _, pipeline = name.partition(":")
    if kind == "spacy" and pipeline in _pipelines():
        return _spacy(pipeline)
    raise UnknownNameError(
        "tagger", name, ["auto", "light", "spacy", *(f"spacy:{installed}" for installed in _pipelines())]
    )


def _advice() -> str:
    return "get both with: pip install spacy && python -m spacy download en_core_web_sm"


@cache
def _light_name() -> str:
    digest = lexicon_digest()
    return f"light:{VERSION}" if digest == _KNOWN_LEXICON else f"light:{VERSION}:{digest}"


def _light_frame(texts: pl.Series) -> pl.DataFrame:
    columns = tokenise(texts)
    tags = tag_tokens(columns)
    return columns.frame.with_columns(tags.names, entities(columns, tags.number))


def _pipelines() -> Sequence[str]:
    """The English pipelines that are installed, the preferred first."""
    if find_spec("spacy") is None:
        return ()
    installed = (name for name in import_module("spacy.util").get_installed_models() if name.startswith("en_"))
    sizes = {size: rank for rank, size in enumerate(_PREFERRED)}
    return sorted(installed, key=lambda name: (sizes.get(name.rpartition("_")[2], len(sizes)), name))


@cache
def _spacy(pipeline: str) -> Tagger:
    nlp = import_module("spacy").load(pipeline, exclude=["parser", "lemmatizer"])
    return Tagger(f"spacy:{pipeline}:{nlp.meta['version']}", lambda texts: spacy_frame(nlp, texts))


def spacy_frame(nlp: Any, texts: pl.Series) -> pl.DataFrame:
    """The tokens, tags and names that a spaCy pipeline finds."""
    rows = [
        (number, token.idx, token.idx + len(token.text), token.text, token.tag_, _ENTITIES.get(token.ent_type_))
        for number, document in enumerate(nlp.pipe(texts.cast(pl.String).fill_null("").to_list()))
        for token in document
        if not token.is_space
    ]
    return pl.DataFrame(rows, schema=_SCHEMA, orient="row")


@dataclass(frozen=True)
class TagColumn:
    """A tag for every token, as a row of ``TAGS``."""

    number: Tags

    @property
    def names(self) -> pl.Series:
        """The Penn tags."""
        return pl.Series("tag", TAGS).gather(self.number)


def tag_tokens(placed: TokenColumns) -> TagColumn:
    """The Penn tag of every token."""
    line, inside = _line(placed)
    return TagColumn(_tag_quotes(placed, apply_rules(line, _tag_rules())[inside]))


def _line(placed: TokenColumns) -> tuple[TagLine, Flags]:
    """The tokens with room between the sentences, tagged each by itself, and which of the places are tokens."""
    words, lower = number_distinct(placed.words.str.to_lowercase())
    inner, first = (readings(placed.words, initial=initial) for initial in (False, True))
    place = np.arange(len(placed.word)) + FARTHEST * np.cumsum(placed.initial)
    size = len(place) + FARTHEST * (int(placed.initial.sum()) + 1)
    inside = np.zeros(size, np.bool_)
    inside[place] = True
    tag, word, may = np.zeros(size, np.uint8), np.full(size, len(words)), np.zeros(size, np.uint64)
    tag[place] = _tag_names(placed, np.where(placed.initial, first.tag[placed.word], inner.tag[placed.word]))
    may[place] = np.where(placed.initial, first.may[placed.word], inner.may[placed.word])
    word[place] = lower[placed.word]
    return TagLine(tag, word, may, words), inside


def packaged_rules() -> list[TagRule]:
    """Rules of our own; data/PROVENANCE.md says how they were found."""
    return [
        parse_rule(*cells) for cells in packaged_table("tagging/rules.tsv").select("old", "new", "when").iter_rows()
    ]


@cache
def _tag_rules() -> tuple[TagRule, ...]:
    """Brill's rules, then ours."""
    brill_rules = (parse_brill_rule(line) for line in textblob_lines(CONTEXT))
    return (*(rule for rule in brill_rules if rule is not None), *packaged_rules())


def _tag_names(placed: TokenColumns, tag: Tags) -> Tags:
    """The tags, names among them: every one within a sentence, the first word ("Bill has", "China is") by the next."""
    given, place = is_given_name(placed.words)[placed.word], is_place_name(placed.words)[placed.word]
    goes_on = np.isin(tag, [NUMBER[name] for name in ("VBZ", "VBD", "MD", "POS", "NNP")])
    # "Ram and Krishna start".
    joined = np.equal(tag, NUMBER["CC"]) & next_flags(given)
    noun = np.isin(tag, [NUMBER[name] for name in ("NN", "NNS", "JJ")])
    named = given & (~placed.initial | next_flags(goes_on | joined))
    named |= place & ~(placed.initial & next_flags(noun))
    return np.where(named, NUMBER["NNP"], tag).astype(np.uint8)


def _tag_quotes(placed: TokenColumns, tag: Tags) -> Tags:
    """The tags, with opening and closing straight quotes distinguished: one that opens has no token right before it."""
    straight = placed.words.is_in(['"', "'"]).to_numpy()[placed.word]
    glued = (placed.start == np.roll(placed.end, 1)) & (placed.text == np.roll(placed.text, 1))
    # After a plural a quote is the possessive: the boys' room.
    plural = np.isin(tag, [NUMBER["NNS"], NUMBER["NNPS"]])
    possessive = (placed.words == "'").to_numpy()[placed.word] & glued & previous_flags(plural)
    tag = np.where(straight & ~glued, NUMBER["``"], tag).astype(np.uint8)
    return np.where(possessive, NUMBER["POS"], tag).astype(np.uint8)
