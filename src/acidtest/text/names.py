"""People, places and organisations in tagged texts, recognised by lists of names and by the words beside them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

import numpy as np
import polars as pl

from acidtest.io.wordlists import packaged_table
from acidtest.text.tag_rules import NUMBER, Tags
from acidtest.text.tokens import Flags, Numbers, TokenColumns, next_flags, previous_flags

ENTITIES = ("PERSON", "LOCATION", "ORGANIZATION")
"""Kinds of names; a token that is part of none has null."""

_LONGEST = 5
_PERSON, _LOCATION, _ORGANIZATION = range(3)
_NONE = -1
_WHERE = ("in", "at", "from", "near", "across", "through", "into", "around", "throughout", "outside")
_WHEN = ("in", "since", "until", "by", "last", "next", "this", "of", "on", "early", "late", "during")
_MONTHS = ("April", "May", "June", "August")


@dataclass(frozen=True)
class _Runs:
    """Proper nouns that stand side by side, as places of their first and last token."""

    first: Numbers
    last: Numbers

    @property
    def several(self) -> Flags:
        return self.last > self.first


def entities(placed: TokenColumns, tag: Tags) -> pl.Series:
    """The kind of name each token is part of: PERSON, LOCATION, ORGANIZATION or null; titles are part of none."""
    signs = {name: _among(placed, words) for name, words in _signs().items()}
    listed = _listed(placed)
    proper = np.isin(tag, [NUMBER["NNP"], NUMBER["NNPS"]]) | (listed != _NONE)
    runs = _runs(placed, proper | _links(placed, proper, heads=signs["organization"]))
    kind = _kinds(placed, runs, signs, tag=tag)
    entity = np.full(len(tag), _NONE)
    entity[_members(runs)] = np.repeat(kind, runs.last - runs.first + 1)
    entity = np.where((entity == _NONE) & (listed != _NONE), listed, entity)
    entity = np.where((entity == _NONE) & proper, _single_kinds(placed), entity)
    entity[_precedes_name(placed, runs, proper=proper, title=signs["title"]) & (entity == _PERSON)] = _NONE
    kinds = pl.Series("entity", [*ENTITIES, None], dtype=pl.String)
    return kinds.gather(np.where(entity == _NONE, len(ENTITIES), entity))


def is_given_name(words: pl.Series) -> Flags:
    """Which of some words are given names, written with a capital."""
    given: Flags = words.is_in(pl.Series(list(_people()["given"])).implode()).to_numpy()
    return given


def is_place_name(words: pl.Series) -> Flags:
    """Which of some words are places, written with a capital."""
    place: Flags = words.is_in(pl.Series(_single(_places())).implode()).to_numpy()
    return place


def _kinds(placed: TokenColumns, runs: _Runs, signs: dict[str, Flags], *, tag: Tags) -> Numbers:
    """The kind of every run, the weakest evidence first: what comes later overrides."""
    first, last, several = runs.first, runs.last, runs.several
    people = {name: _among(placed, words) for name, words in _people().items()}
    place, organization = (_among(placed, names) for names in (_single(_places()), _single(_organizations())))
    letter = placed.words.str.contains(r"^\p{Lu}\.$").to_numpy()[placed.word]
    second = people["given"][np.minimum(first + 1, last)]
    named = people["given"][first] | second | (people["surname"][last] & ~place[last]) | (letter[first] & several)
    where = _after(placed, _WHERE)[first]
    dated = _after(placed, _WHEN)[first] | next_flags(np.equal(tag, NUMBER["CD"]))[last]
    speaks = next_flags(signs["speaks"] & ~placed.initial)[last]
    kind = np.full(len(first), _NONE)
    rules = (
        (speaks & ~several, _PERSON),
        (place[first] & place[last], _LOCATION),
        (named & ~(place[first] & place[last] & where), _PERSON),
        (signs["place_first"][first] & several & ~people["given"][first], _LOCATION),
        (signs["place"][last] & several, _LOCATION),
        (signs["title"][first] & several, _PERSON),
        (organization[first] & organization[last], _ORGANIZATION),
        (_any(signs["organization"], runs) & several & _is_organization(placed, runs, signs), _ORGANIZATION),
        (_among(placed, _MONTHS)[first] & ~several & dated, _NONE),
    )
    for flags, value in rules:
        kind[flags] = value
    return kind


def _single_kinds(placed: TokenColumns) -> Numbers:
    """The kind of every token that is a name by itself, whatever stands beside it: "Good Oklahoma"."""
    place, organization = (_among(placed, _single(names)) for names in (_places(), _organizations()))
    return np.where(organization, _ORGANIZATION, np.where(place, _LOCATION, _NONE))


def _precedes_name(placed: TokenColumns, runs: _Runs, *, proper: Flags, title: Flags) -> Flags:
    """Tokens that stand before a person's name: "King" in "King George", but not in "Martin Luther King", or "Poor"."""
    ahead = title & next_flags(proper)
    given, surname = (_among(placed, names) for names in (_people()["given"], _people()["surname"]))
    stranger = runs.first[placed.initial[runs.first] & runs.several]
    stranger = stranger[~given[stranger] & ~surname[stranger] & given[stranger + 1]]
    ahead[stranger] = True
    return ahead


def _is_organization(placed: TokenColumns, runs: _Runs, signs: dict[str, Flags]) -> Flags:
    """Which runs end in a word such as "Bank", or have it before "of"."""
    of = (placed.words == "of").to_numpy()[placed.word]
    return signs["organization"][runs.last] | _any(of, runs)


def _after(placed: TokenColumns, words: Iterable[str]) -> Flags:
    """Which tokens come after one of some words in their sentence."""
    return previous_flags(_among(placed, words)) & ~placed.initial


def _any(flags: Flags, runs: _Runs) -> Flags:
    """Which runs hold a token of some kind."""
    total = np.concatenate(([0], np.cumsum(flags)))
    return np.greater(total[runs.last + 1], total[runs.first])


def _runs(placed: TokenColumns, inside: Flags) -> _Runs:
    """Runs of tokens inside one sentence."""
    joined = inside & previous_flags(inside) & ~placed.initial
    return _Runs(np.flatnonzero(inside & ~joined), np.flatnonzero(inside & ~next_flags(joined)))


def _members(runs: _Runs) -> Numbers:
    size = runs.last - runs.first + 1
    return np.repeat(runs.first - (np.cumsum(size) - size), size) + np.arange(size.sum())


def _links(placed: TokenColumns, proper: Flags, *, heads: Flags) -> Flags:
    """The "of" and "of the" within names such as "Bank of America"."""
    of, the = ((placed.words == word).to_numpy()[placed.word] for word in ("of", "the"))
    linking = of & previous_flags(heads & proper) & ~placed.initial
    with_article = linking & next_flags(the & next_flags(proper))
    return (linking & next_flags(proper)) | with_article | previous_flags(with_article)


def _listed(placed: TokenColumns) -> Numbers:
    """The kind of every token that is part of a listed name of several words."""
    kinds = np.full(len(placed.word), _NONE)
    sentence = np.cumsum(placed.initial)
    for kind, names in ((_LOCATION, _places()), (_ORGANIZATION, _organizations())):
        phrases = [name for name in names if " " in name]
        begins = placed.words.is_in([phrase.split(" ")[0] for phrase in phrases]).to_numpy()[placed.word]
        for size in range(2, _LONGEST + 1):
            start = np.flatnonzero(begins)
            start = start[start + size <= len(kinds)]
            start = start[sentence[start] == sentence[start + size - 1]]
            parts = [placed.words.gather(placed.word[start + shift]).alias(str(shift)) for shift in range(size)]
            whole = pl.select(pl.concat_str(parts, separator=" ")).to_series() if len(start) else pl.Series([""])[:0]
            for shift in range(size):
                kinds[start[whole.is_in(phrases).to_numpy()] + shift] = kind
    return kinds


def _among(placed: TokenColumns, names: Iterable[str]) -> Flags:
    among: Flags = placed.words.is_in(pl.Series(list(names), dtype=pl.String).implode()).to_numpy()
    return among[placed.word]


def _single(names: Iterable[str]) -> list[str]:
    return [name for name in names if " " not in name]


@cache
def _people() -> dict[str, frozenset[str]]:
    table = packaged_table("names/people.tsv")
    return {kind: frozenset(table.filter(kind=kind)["name"]) for kind in ("given", "surname")}


@cache
def _places() -> list[str]:
    return packaged_table("names/places.tsv")["name"].to_list()


@cache
def _organizations() -> list[str]:
    return packaged_table("names/organizations.tsv")["name"].to_list()


@cache
def _signs() -> dict[str, list[str]]:
    """Words that tell what the name beside them is."""
    table = packaged_table("names/signs.tsv")
    return {sign: table.filter(sign=sign)["word"].to_list() for sign in table["sign"].unique(maintain_order=True)}
