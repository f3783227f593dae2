"""Tags tokens and finds names: with spaCy where an English pipeline is installed, else with the light tagger.

The light tagger needs no download: it uses the lexicon and rules of Brill's tagger, shipped with textblob, and our own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from acidtest.core.errors import AcidtestError, UnknownNameError
from acidtest.english.lexicon import (
    CONTEXT,
    FARTHEST,
    NUMBER,
    TAGS,
    TagLine,
    TagRule,
    Tags,
    apply_rules,
    lexicon_digest,
    parse_brill_rule,
    parse_rule,
    readings,
    textblob_lines,
)
from acidtest.english.tokens import (
    Flags,
    Numbers,
    TokenColumns,
    next_flags,
    number_distinct,
    previous_flags,
    tokenise,
)
from acidtest.io.wordlists import packaged_table

_SCHEMA = {
    "text": pl.UInt32,
    "start": pl.UInt32,
    "end": pl.UInt32,
    "token": pl.String,
    "tag": pl.String,
    "entity": pl.String,
}

_KNOWN_LEXICON = "de189cb6"
"""The digest of the lexicon in textblob 0.15 to 0.20."""

_SPACY_ENTITIES = {"PERSON": "PERSON", "GPE": "LOCATION", "LOC": "LOCATION", "FAC": "LOCATION", "ORG": "ORGANIZATION"}
"""spaCy's entity types → ours; its other types are ignored."""

_PREFERRED = ("lg", "md", "sm", "trf")
"""Pipeline sizes in order of preference; transformers are last because they are slow without a GPU."""

ENTITIES = ("PERSON", "LOCATION", "ORGANIZATION")
_PERSON, _LOCATION, _ORGANIZATION = range(3)
_NONE = -1
_LONGEST_NAME = 5
_WHERE = ("in", "at", "from", "near", "across", "through", "into", "around", "throughout", "outside")
_WHEN = ("in", "since", "until", "by", "last", "next", "this", "of", "on", "early", "late", "during")
_MONTHS = ("April", "May", "June", "August")

_ADVICE = "get both with: pip install spacy && python -m spacy download en_core_web_sm"

VERSION = 1
"""Increases when tags change; the cards of suites that depend on tags record it."""


@dataclass(frozen=True)
class Tagger:
    """A tagger; its name includes every version that affects tags, for the card of a suite that depends on them."""

    name: str
    frame: Callable[[pl.Series], pl.DataFrame]


class TaggerState(NamedTuple):
    """A tagger's name and whether it can be used; if not, what to install."""

    name: str
    state: str


def tag_texts(texts: pl.Series, name: str = "auto") -> pl.DataFrame:
    """Every token of a column of texts with ``tag`` (Penn Treebank) and ``entity``, the kind of name it is part of.

    Columns text, start, end and token are as in ``tokens``, but spaCy splits tokens in its own way. ``entity`` is
    PERSON, LOCATION, ORGANIZATION or null. ``name`` is that of a tagger.
    """
    return tagger(name).frame(texts)


def tagger(name: str = "auto") -> Tagger:
    """The tagger called ``light``, ``spacy`` (the best English pipeline installed), ``spacy:NAME`` or ``auto``.

    ``auto`` is spaCy if an English pipeline is installed, else light.
    """
    if name == "light" or (name == "auto" and not _pipelines()):
        return Tagger(_light_name(), _light_frame)
    if name in ("auto", "spacy"):
        if not _pipelines():
            raise AcidtestError(f"tagger 'spacy' needs spaCy and an English pipeline; {_ADVICE}")
        return _spacy(_pipelines()[0])
    kind, _, pipeline = name.partition(":")
    if kind == "spacy" and pipeline in _pipelines():
        return _spacy(pipeline)
    raise UnknownNameError(
        "tagger", name, ["auto", "light", "spacy", *(f"spacy:{installed}" for installed in _pipelines())]
    )


def taggers() -> list[TaggerState]:
    """All taggers, first the one that ``auto`` selects."""
    light = TaggerState(_light_name(), "built in")
    if _pipelines():
        return [*(TaggerState(f"spacy:{name}", "installed") for name in _pipelines()), light]
    what = "spaCy has no English pipeline" if find_spec("spacy") else "spaCy is not installed"
    return [light, TaggerState("spacy", f"{what}; {_ADVICE}")]


@cache
def _light_name() -> str:
    digest = lexicon_digest()
    return f"light:{VERSION}" if digest == _KNOWN_LEXICON else f"light:{VERSION}:{digest}"


def _light_frame(texts: pl.Series) -> pl.DataFrame:
    columns = tokenise(texts)
    tags = tag_tokens(columns)
    return columns.frame.with_columns(tag_names(tags), _entities(columns, tags))


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
        (number, token.idx, token.idx + len(token.text), token.text, token.tag_, _SPACY_ENTITIES.get(token.ent_type_))
        for number, document in enumerate(nlp.pipe(texts.cast(pl.String).fill_null("").to_list()))
        for token in document
        if not token.is_space
    ]
    return pl.DataFrame(rows, schema=_SCHEMA, orient="row")


def tag_tokens(placed: TokenColumns) -> Tags:
    """The tag of every token, as a position in ``TAGS``."""
    line, inside = _line(placed)
    return _tag_quotes(placed, apply_rules(line, _tag_rules())[inside])


def tag_names(tags: Tags) -> pl.Series:
    """The names of tags given as positions in ``TAGS``."""
    return pl.Series("tag", TAGS).gather(tags)


def _line(placed: TokenColumns) -> tuple[TagLine, Flags]:
    """The tokens with gaps between sentences, tagged without context, and which places are tokens."""
    words, lower = number_distinct(placed.words.str.to_lowercase())
    inner, first = readings(placed.words)
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
    """Our own rules; data/PROVENANCE.md says how they were found."""
    return [
        parse_rule(*cells) for cells in packaged_table("tagging/rules.tsv").select("old", "new", "when").iter_rows()
    ]


@cache
def _tag_rules() -> tuple[TagRule, ...]:
    """Brill's rules, then ours."""
    brill_rules = (parse_brill_rule(line) for line in textblob_lines(CONTEXT))
    return (*(rule for rule in brill_rules if rule is not None), *packaged_rules())


def _tag_names(placed: TokenColumns, tag: Tags) -> Tags:
    """The tags with NNP for listed names; at the start of a sentence ("Bill has", "China is") the next word decides."""
    given, place = is_given_name(placed.words)[placed.word], is_place_name(placed.words)[placed.word]
    goes_on = np.isin(tag, [NUMBER[name] for name in ("VBZ", "VBD", "MD", "POS", "NNP")])
    # "Ram and Krishna start".
    joined = np.equal(tag, NUMBER["CC"]) & next_flags(given)
    noun = np.isin(tag, [NUMBER[name] for name in ("NN", "NNS", "JJ")])
    named = given & (~placed.initial | next_flags(goes_on | joined))
    named |= place & ~(placed.initial & next_flags(noun))
    return np.where(named, NUMBER["NNP"], tag).astype(np.uint8)


def _tag_quotes(placed: TokenColumns, tag: Tags) -> Tags:
    """The tags, with straight quotes marked as opening (no token directly before), closing or possessive."""
    straight = placed.words.is_in(['"', "'"]).to_numpy()[placed.word]
    glued = (placed.start == np.roll(placed.end, 1)) & (placed.text == np.roll(placed.text, 1))
    # After a plural a quote is the possessive: the boys' room.
    plural = np.isin(tag, [NUMBER["NNS"], NUMBER["NNPS"]])
    possessive = (placed.words == "'").to_numpy()[placed.word] & glued & previous_flags(plural)
    tag = np.where(straight & ~glued, NUMBER["``"], tag).astype(np.uint8)
    return np.where(possessive, NUMBER["POS"], tag).astype(np.uint8)


def _entities(placed: TokenColumns, tag: Tags) -> pl.Series:
    """The kind of name each token is part of: PERSON, LOCATION, ORGANIZATION or null; titles are not part of it."""
    has = {name: _among(placed, words) for name, words in _name_lists().items()}
    listed = _listed_kinds(placed)
    proper = np.isin(tag, [NUMBER["NNP"], NUMBER["NNPS"]]) | (listed != _NONE)
    inside = proper | _links(placed, proper, heads=has["organization sign"])
    joined = inside & previous_flags(inside) & ~placed.initial
    # Runs of adjacent proper nouns in a sentence, as places of their first and last tokens.
    first, last = np.flatnonzero(inside & ~joined), np.flatnonzero(inside & ~next_flags(joined))
    entity = np.full(len(tag), _NONE)
    entity[inside] = np.repeat(_kinds(placed, has, tag, first=first, last=last), last - first + 1)
    # A listed name keeps its kind even in a run without one: "Good Oklahoma".
    single = np.where(has["organization"], _ORGANIZATION, np.where(has["place"], _LOCATION, _NONE))
    for kinds in (listed, np.where(proper, single, _NONE)):
        entity = np.where(entity == _NONE, kinds, entity)
    # Not part of a person's name: "King" in "King George" (but not in "Martin Luther King"), "Poor" in "Poor Dave".
    ahead = has["title sign"] & next_flags(proper)
    stranger = first[placed.initial[first] & (last > first)]
    ahead[stranger[~has["given"][stranger] & ~has["surname"][stranger] & has["given"][stranger + 1]]] = True
    entity[ahead & (entity == _PERSON)] = _NONE
    names = pl.Series("entity", [*ENTITIES, None], dtype=pl.String)
    return names.gather(np.where(entity == _NONE, len(ENTITIES), entity))


def _kinds(placed: TokenColumns, has: dict[str, Flags], tag: Tags, *, first: Numbers, last: Numbers) -> Numbers:
    """The kind of every run of proper nouns; later rules, with stronger evidence, override earlier ones."""
    several = last > first
    given, place, organization = has["given"], has["place"], has["organization"]
    letter = placed.words.str.contains(r"^\p{Lu}\.$").to_numpy()[placed.word]
    named = given[first] | given[np.minimum(first + 1, last)] | (has["surname"][last] & ~place[last])
    named |= letter[first] & several
    is_place = place[first] & place[last]
    where, when = ((previous_flags(_among(placed, words)) & ~placed.initial)[first] for words in (_WHERE, _WHEN))
    dated = when | next_flags(np.equal(tag, NUMBER["CD"]))[last]
    speaks = next_flags(has["speaks sign"] & ~placed.initial)[last]
    # An organisation: a run that ends in a word such as "Bank", or has such a word and "of".
    of, signs = (np.concatenate(([0], np.cumsum(f))) for f in (_among(placed, ["of"]), has["organization sign"]))
    holds_of, holds_sign = (total[last + 1] > total[first] for total in (of, signs))
    body = holds_sign & several & (has["organization sign"][last] | holds_of)
    rules = (
        (speaks & ~several, _PERSON),
        (is_place, _LOCATION),
        (named & ~(is_place & where), _PERSON),
        (has["place_first sign"][first] & several & ~given[first], _LOCATION),
        (has["place sign"][last] & several, _LOCATION),
        (has["title sign"][first] & several, _PERSON),
        (organization[first] & organization[last], _ORGANIZATION),
        (body, _ORGANIZATION),
        (_among(placed, _MONTHS)[first] & ~several & dated, _NONE),
    )
    kind = np.full(len(first), _NONE)
    for flags, value in rules:
        kind[flags] = value
    return kind


def _links(placed: TokenColumns, proper: Flags, *, heads: Flags) -> Flags:
    """The "of" and "of the" within names such as "Bank of America"."""
    of, the = (_among(placed, [word]) for word in ("of", "the"))
    linking = of & previous_flags(heads & proper) & ~placed.initial
    with_article = linking & next_flags(the & next_flags(proper))
    return (linking & next_flags(proper)) | with_article | previous_flags(with_article)


def _listed_kinds(placed: TokenColumns) -> Numbers:
    """The kind of every token that is part of a listed name of several words."""
    kinds = np.full(len(placed.word), _NONE)
    sentence = np.cumsum(placed.initial)
    for kind, name in ((_LOCATION, "place"), (_ORGANIZATION, "organization")):
        names = _name_lists()[name]
        phrases = names.filter(names.str.contains(" ", literal=True))
        begins = np.flatnonzero(_among(placed, phrases.str.extract("^([^ ]*)")))
        for size in range(2, _LONGEST_NAME + 1):
            start = begins[begins + size <= len(kinds)]
            start = start[sentence[start] == sentence[start + size - 1]]
            parts = [placed.words.gather(placed.word[start + shift]).alias(str(shift)) for shift in range(size)]
            whole = pl.DataFrame(parts).select(pl.concat_str(pl.all(), separator=" ")).to_series()
            start = start[_is_in(whole, phrases)]
            for shift in range(size):
                kinds[start + shift] = kind
    return kinds


def is_given_name(words: pl.Series) -> Flags:
    """Which words are listed given names; these are capitalised."""
    return _is_in(words, _name_lists()["given"])


def is_place_name(words: pl.Series) -> Flags:
    """Which words are listed place names; these are capitalised."""
    return _is_in(words, _name_lists()["place"])


def _among(placed: TokenColumns, names: Iterable[str]) -> Flags:
    return _is_in(placed.words, names)[placed.word]


def _is_in(words: pl.Series, names: Iterable[str]) -> Flags:
    is_in: Flags = words.is_in(pl.Series(names, dtype=pl.String).implode()).to_numpy()
    return is_in


@cache
def _name_lists() -> dict[str, pl.Series]:
    """Names of people, places and organisations, and words that indicate the kind of the name beside them."""
    people, signs = packaged_table("names/people.tsv"), packaged_table("names/signs.tsv")
    lists = {kind: people.filter(kind=kind)["name"] for kind in ("given", "surname")}
    lists |= {kind: packaged_table(f"names/{kind}s.tsv")["name"] for kind in ("place", "organization")}
    return lists | {f"{sign} sign": signs.filter(sign=sign)["word"] for sign in signs["sign"].unique()}
