"""Lists of names, and what a word of a name is: given name, place, English word, or one that no dictionary has."""

from __future__ import annotations

import re
from functools import cache

import polars as pl

from acidtest.english.misspelling import function_words, is_english
from acidtest.english.wordnet import wordnet
from acidtest.io.wordlists import packaged_table

_UNFIT_PLACES = re.compile(
    r"s$|^(?:US|UK|America|Britain|Great|Europe|Asia|Africa|Middle|North|South|Central|Scand|New )"
)
UNITS = frozenset(("Celsius", "Fahrenheit", "Kelvin"))


@cache
def name_lists() -> dict[str, frozenset[str]]:
    """given, surname, places, organizations, and the words that tell the kind of a name beside them, by that kind."""
    people, signs = packaged_table("names/people.tsv"), packaged_table("names/signs.tsv")
    lists = {kind: frozenset(people.filter(kind=kind)["name"]) for kind in ("given", "surname")}
    lists |= {kind: frozenset(packaged_table(f"names/{kind}.tsv")["name"]) for kind in ("places", "organizations")}
    return lists | {sign: frozenset(signs.filter(sign=sign)["word"]) for sign in signs["sign"].unique()}


@cache
def listed_genders() -> dict[str, str]:
    """Given name → male or female, for names that nearly only one of them has."""
    return dict(packaged_table("names/genders.tsv").iter_rows())


@cache
def ordinary_words() -> frozenset[str]:
    return frozenset(function_words()["word"])


@cache
def calendar_names() -> frozenset[str]:
    """Days, months and seasons."""
    lists = (packaged_table(f"lexical/lists/{name}.tsv")["item"] for name in ("months", "weekdays", "seasons"))
    return frozenset(item for items in lists for item in items) | {"Christmas", "Easter", "God", "Internet", "I"}


@cache
def nationalities() -> frozenset[str]:
    return frozenset(packaged_table("lexical/lists/nationalities.tsv")["item"])


@cache
def institution_words() -> frozenset[str]:
    """Words in names of institutions that cannot be replaced by the name of a person: *National*, *New*."""
    return name_lists()["place_first"] - {"Lake", "Mount", "Cape", "Isle", "Port"} | {"National", "United", "American"}


@cache
def place_forms() -> dict[str, str]:
    """Place → city, country or state."""
    files = {"city": "cities", "country": "countries", "state": "us-states"}
    tables = {form: packaged_table(f"lexical/lists/{name}.tsv") for form, name in files.items()}
    rows = ((item, form) for form, table in tables.items() for item in table.filter(form="name")["item"])
    return {item: form for item, form in rows if not _UNFIT_PLACES.search(item)}


@cache
def places_of_form(form: str) -> tuple[str, ...]:
    """The places that can be put for another: no second name or part of one in the lists."""
    files = {"city": "cities", "country": "countries", "state": "us-states"}
    table = packaged_table(f"lexical/lists/{files[form]}.tsv").filter(same="", overlaps="")
    ambiguous = name_lists()["given"] | name_lists()["surname"]
    return tuple(
        item
        for item in table["item"]
        if place_forms().get(item) == form and item not in ambiguous and not is_word(item)
    )


@cache
def coined_names() -> tuple[str, ...]:
    return tuple(packaged_table("names/coined.tsv")["name"])


def is_company(name: str) -> bool:
    """Whether an organisation of the list is a firm: one word that is no abbreviation."""
    return bool(re.fullmatch(r"[A-Z][a-z]{3,}", name)) and not is_word(name)


@cache
def plain_surnames() -> tuple[str, ...]:
    """Surnames that are nothing else: no given name, place or English word."""
    lists = name_lists()
    names = pl.Series(sorted(lists["surname"] - lists["given"] - lists["places"])).str.strip_chars()
    names = names.filter((names.str.len_chars() > 4) & ~is_english(names.str.to_lowercase()))
    return tuple(names)


@cache
def plain_given_names(gender: str) -> tuple[str, ...]:
    table = packaged_table("names/genders.tsv")
    names = (table.filter(gender=gender) if gender else table)["name"]
    names = names.filter((names.str.len_chars() > 3) & ~is_english(names.str.to_lowercase()))
    return tuple(name for name in names if name not in name_lists()["places"])


@cache
def is_word(word: str) -> bool:
    """Whether a name is an English word as well, such as *Grace* or *May*."""
    net, lower = wordnet(), word.lower()
    return lower in ordinary_words() or any(net.lemma(sense)[:1].islower() for sense in net.senses(lower))


@cache
def is_coined(word: str) -> bool:
    """Whether a word of a name is no word of English: *Rendle*, *Ondrell*."""
    return not is_word(word) and word not in nationalities() and word not in place_forms() and word.isalpha()


@cache
def is_listed(word: str) -> bool:
    """Whether a list of names or WordNet has the word."""
    lists = name_lists()
    is_name = any(word in lists[kind] for kind in ("given", "surname", "places", "organizations"))
    return is_name or word in UNITS or bool(wordnet().synsets(word.lower()))
