"""Names of people, places and organisations in a sentence, and other names of the same kind to put in their place.

A name is a run of words with capitals. Its kind comes from the word lists and from what the document says around it:
*Tove Nygren* is a person by her first name, and *Nygren* where the document has *Tove Nygren*; *Lake Ondrell* and
*Rendle Laboratory* have a word that says what they are. A name of no known kind is of the kind *other* if no dictionary
has it (*Ferrovane*), and an invented name may take its place; all others are left alone.

Lists of names, and what a word of a name is: given name, place, English word, or one that no dictionary has.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

import polars as pl

from acidtest.english.inflection import replace_span
from acidtest.english.misspelling import function_words, is_english
from acidtest.english.wordnet import noun_kind, wordnet
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


NameKind = Literal["person", "place", "organization", "other"]

_WORD = r"[A-ZÀ-Þ](?:[^\W_]|['’-](?=[^\W_]{2})|(?<=\b[A-Z])\.)*"
_RUN = re.compile(
    rf"(?:(?:Mr|Mrs|Ms|Dr|Prof|St|Sen|Gov|Gen|Rep|Rev|Capt|Col|Lt|Sgt)\. )?{_WORD}"
    rf"(?: (?:(?:of|of the|and|&|de|van|von|der|del|la|al|bin) )?{_WORD})*"
)
_QUOTED = re.compile(r"[\"“][^\"”]*[\"”]|(?<!\w)[‘'][^’']*[’'](?!\w)")
_LINKS = re.compile(r" (?:of|of the|and|&|de|van|von|der|del|la|al|bin) ")
_POSSESSIVE = re.compile(r"['’]s?$")
_GENDER_WORDS = {
    "male": r"\b(?:he|him|his|himself|man|boy|father|son|brother|husband|uncle|king|gentleman|actor|mr)\b",
    "female": r"\b(?:she|hers?|herself|woman|girl|mother|daughter|sister|wife|aunt|queen|lady|actress|mrs|ms|miss)\b",
}
_GENDERED = {gender: re.compile(pattern, re.IGNORECASE) for gender, pattern in _GENDER_WORDS.items()}
_TITLES = {"Mr.": "male", "Sir": "male", "Mrs.": "female", "Ms.": "female", "Miss": "female", "Madame": "female"}
_PRONOUN = re.compile(r"\b(?:[Hh]e|[Ss]he|[Hh]is|[Hh]er)\b")
_GOES_ON = re.compile(r" (?:and |of |the |[A-Z])")
_AFTER_NAME = re.compile(
    r", (?P<who>who\b)|, (?:an?|the|its|their|his|her) (?:\w+ ){0,2}?(?P<noun>[a-z]+)\b(?! [a-z]+[,.])| (?P<act>\w+)"
)
_ATTEMPTS = 6
_HUMAN_ACTS = frozenset(
    ("smiled", "nodded", "laughed", "grinned", "sighed", "frowned", "shrugged", "stared", "whispered", "muttered")
)
_BEFORE_COINED = frozenset(
    ("Little", "Great", "Upper", "Lower", "Old", "New", "Saint", "North", "South", "East", "West")
)
_COINED = re.compile(r"[A-ZÀ-Þ][a-zß-ÿ]{3,}(?<!ian)(?<!ians)(?<!ish)(?<!ese)(?<!ean)(?<!ism)(?<!ist)(?<!ists)(?<!ic)")


@dataclass(frozen=True)
class Name:
    """A name in a text: a stretch of it, and what is known of its bearer."""

    start: int
    end: int
    text: str
    """As written, without a title before it and the possessive after it."""
    kind: NameKind
    form: str
    """given, surname or full; city, country or state; whole; head (*Lake Ondrell*); coined (*Ferrovane*)."""
    gender: str = ""
    """male, female, or empty where it is not known and nothing in the text depends on it."""


Choose = Callable[[int, int], int]
"""A draw: a number below the first argument; every second argument is another draw."""


def find_names(text: str, document: str) -> list[Name | None]:
    """The names of a text that belongs to a document; None for each whose kind is not known.

    Left out are the names in quotation marks, and words that begin the text without being part of a name.
    """
    quoted = [match.span() for match in _QUOTED.finditer(text)]
    names = list[Name | None]()
    for start, end in _runs(text, document):
        if any(begin < end and start < stop for begin, stop in quoted):
            continue
        if {text[start - 1 : start], text[end : end + 1]} & {"-", "/"}:
            # "An anti-Microsoft lawsuit".
            continue
        if end - start > 1 and text[start:end] not in calendar_names():
            names.append(_classify(text, start, end, document) or _coined_name(text, start, end, document))
    return names


def names_of_document(document: str, kind: NameKind, form: str) -> list[Name]:
    """The names of one kind and form that a document has, each once."""
    names = (name for name in find_names(document, document) if name and (name.kind, name.form) == (kind, form))
    return list({name.text: name for name in names}.values())


def _runs(text: str, document: str) -> Iterator[tuple[int, int]]:
    """The stretches of words with capitals, without function words that begin a sentence and without possessives."""
    for match in _RUN.finditer(text):
        start, run = match.start(), match[0]
        first, _, rest = run.partition(" ")
        before = text[:start].rstrip()
        if (not before or before[-1] in '.!?:"“”') and _is_ordinary(first, document):
            if not rest or _LINKS.match(f" {rest}"):
                continue
            start, run = start + len(first) + 1, rest
        run = _POSSESSIVE.sub("", run)
        yield start, start + len(run)


def _is_ordinary(word: str, document: str) -> bool:
    """Whether a word has its capital only because it begins a sentence."""
    lower = word.lower().rstrip(".")
    if lower in ordinary_words() or word in name_lists()["title"]:
        return lower in ordinary_words()
    return has_word(lower, document)


def _classify(text: str, start: int, end: int, document: str) -> Name | None:
    run = text[start:end]
    words = run.split(" ")
    lists = name_lists()
    gender = ""
    if words[0] in lists["title"] and len(words) > 1:
        gender = _TITLES.get(words[0], "")
        start, words = start + len(words[0]) + 1, words[1:]
        if words[-1] in lists["organization"] or words[-1] in lists["place"]:
            return None
        if len(words) == 1:
            usual = words[0] not in lists["given"] or words[0] in lists["surname"]
            return _person(text, start, end, "surname", gender or _gender_of(words[0], document)) if usual else None
    run = " ".join(words)
    if form := place_forms().get(run):
        return None if run in lists["given"] or _is_surname_of(run, document) else Name(start, end, run, "place", form)
    if run in lists["organizations"]:
        return Name(start, end, run, "organization", "whole") if is_company(run) else None
    if len(words) > 1 and (named := _headed(start, end, words)):
        return named
    if form := _person_form(words, document):
        known = gender or listed_genders().get(words[0], "") or _gender_of(words[-1], document)
        return _person(text, start, end, form, known)
    return None


def _headed(start: int, end: int, words: Sequence[str]) -> Name | None:
    """A name with a word that says what it is, such as *Lake Ondrell* or *Rendle Laboratory*."""
    lists, run = name_lists(), " ".join(words)
    if _LINKS.search(run) or len(words) > 3 or any(word in institution_words() for word in words):
        return None
    if len(words) == 2 and words[0] in ("Lake", "Mount", "Cape", "Isle", "Port") and is_coined(words[1]):
        return Name(start, end, run, "place", "head")
    if words[0] in lists["place_first"] or not all(is_coined(word) for word in words[:-1]):
        return None
    if words[-1] in lists["organization"]:
        return Name(start, end, run, "organization", "head")
    return Name(start, end, run, "place", "head") if words[-1] in lists["place"] else None


def _person_form(words: Sequence[str], document: str) -> str:
    """Whether words are a full name, a given name or a surname of a person; empty where that is not known."""
    lists = name_lists()
    if len(words) > 3 or any(word.isupper() and len(word) > 2 for word in words) or _LINKS.search(" ".join(words)):
        return ""
    if any(word in calendar_names() or word in lists["organization"] or word in lists["place"] for word in words):
        return ""
    if words[0] in lists["place_first"]:
        return ""
    first, last = words[0], words[-1]
    if len(words) > 1:
        if (len(words) == 3 and is_word(last)) or (last in lists["places"] and last not in lists["surname"]):
            return ""
        given = first in lists["given"] and first not in lists["places"] and not is_word(first)
        if is_word(last):
            is_person = given or (not is_word(first) and _is_described(" ".join(words), document))
            return "full" if is_person and not last.endswith("s") else ""
        if given or (first in lists["given"] and last in lists["surname"]):
            return "full"
        return "full" if not is_word(first) and _is_described(" ".join(words), document) else ""
    if first in lists["places"] or first in nationalities() or first in UNITS:
        return ""
    if _is_surname_of(first, document):
        return "surname"
    if is_word(first) or any(_GOES_ON.match(document, place + len(first)) for place in word_places(first, document)):
        return ""
    if first in lists["given"]:
        return "surname" if first in lists["surname"] else "given"
    return "surname" if first in lists["surname"] and _is_described(first, document) else ""


def word_places(word: str, text: str) -> Iterator[int]:
    """Where a text has a word, or several, as whole words."""
    start = text.find(word)
    while start >= 0:
        end = start + len(word)
        if not (start and text[start - 1].isalnum()) and not (end < len(text) and text[end].isalnum()):
            yield start
        start = text.find(word, end)


def has_word(word: str, text: str) -> bool:
    """Whether a text has a word, or several, as whole words."""
    return next(word_places(word, text), None) is not None


def _word_before(text: str, start: int) -> str:
    """The word that ends before a space at ``start - 1``; empty where another mark stands between."""
    if start < 2 or text[start - 1] != " " or not (text[start - 2].isalnum() or text[start - 2] == "."):
        return ""
    return text[text.rfind(" ", 0, start - 1) + 1 : start - 1].lstrip('"“‘(')


def _given_before(surname: str, document: str) -> Iterator[str]:
    """The words with a capital that a document has before a surname; an initial between them is passed over."""
    for place in word_places(surname, document):
        before = _word_before(document, place)
        if len(before) == 2 and before[1] == ".":
            before = _word_before(document, place - 3)
        if before[:1].isupper():
            yield before


def _is_surname_of(word: str, document: str) -> bool:
    """Whether a document has the word after a given name or a title."""
    given, title = name_lists()["given"], name_lists()["title"]
    for before in _given_before(word, document):
        if before in given or before in title:
            return True
        if not is_word(before) and _is_described(f"{before} {word}", document):
            return True
    return False


def _is_described(name: str, document: str) -> bool:
    """Whether a document says of a name what only a person is: *Aurelia Sforzin, a chemist*, *Sforzin smiled*."""
    for place in word_places(name, document):
        end = place + len(name)
        before = _word_before(document, place)
        if before.islower() and _is_human(before):
            return True
        if (match := _AFTER_NAME.match(document, end)) and (
            match["who"] or match["act"] in _HUMAN_ACTS or (match["noun"] and _is_human(match["noun"]))
        ):
            return True
    return False


@cache
def _is_human(noun: str) -> bool:
    """Whether a noun is said of people, and not of firms like *maker* and *owner*."""
    return noun_kind(noun) == "person" and not noun.endswith(("er", "or", "ers", "ors", "ant", "rival", "partner"))


def _coined_name(text: str, start: int, end: int, document: str) -> Name | None:
    """A name with one word that no dictionary has, and the document only with a capital: *Quillon* in *Quillon Foods*.

    A word beside it must not stand alone in the document: in *Halden Brace* it may be the name of a family.
    """
    words = text[start:end].split(" ")
    coined = [word for word in words if _COINED.fullmatch(word) and is_coined(word) and not is_listed(word)]
    if (
        len(coined) != 1
        or words[0] not in {*coined, *_BEFORE_COINED}
        or len(words) > 3
        or _LINKS.search(text[start:end])
        or text[end : end + 1] in ("-", "/")
    ):
        return None
    word = coined[0]
    others = [other for other in words if other != word]
    if word.lower() in document or not all(map(is_word, others)) or not any(_inside(word, document)):
        return None
    if any(other in name_lists()["surname"] or _stands_apart(other, word, document) for other in others):
        return None
    if word.endswith("s") and re.search(r"\b(?:the|these|two|many) $", text[:start]):
        return None
    place = start + text[start:end].index(word)
    return Name(place, place + len(word), word, "other", "coined")


def _inside(word: str, document: str) -> Iterator[bool]:
    """For each place of a word whether it is within a sentence."""
    return (document[place - 2] not in ".!?" for place in word_places(word, document) if place > 1)


def _stands_apart(other: str, word: str, document: str) -> bool:
    """Whether a document has the other word of a name without the one beside it."""
    beside = len(word) + 1
    return any(
        document[max(0, place - beside) : place] != f"{word} "
        and not document.startswith(f" {word}", place + len(other))
        for place in word_places(other, document)
    )


def _person(text: str, start: int, end: int, form: str, gender: str) -> Name | None:
    """The person, unless words of the text depend on a gender that is not known."""
    if not gender and form != "surname":
        genders = [gender for gender, pattern in _GENDERED.items() if pattern.search(text)]
        if len(genders) > 1:
            return None
        gender = genders[0] if genders else ""
    return Name(start, end, text[start:end], "person", form, gender)


def _gender_of(surname: str, document: str) -> str:
    """The gender of the given names or titles that a document has before a surname."""
    befores = _given_before(surname, document)
    genders = {listed_genders().get(before) or _TITLES.get(before) for before in befores} - {None}
    if genders:
        return str(genders.pop()) if len(genders) == 1 else ""
    after = next(filter(None, (_PRONOUN.search(document, p, p + 200) for p in word_places(surname, document))), None)
    return ("male" if after[0].lower() in ("he", "his") else "female") if after else ""


def is_listed_place(name: str) -> bool:
    """Whether a name is that of a city, country or region of the lists."""
    return name in name_lists()["places"] or name in place_forms()


def is_person_name(name: str) -> bool:
    """Whether a name is a given name, or begins with one or with a title."""
    first = name.partition(" ")[0]
    return first in name_lists()["given"] or (is_title(first) and first != name)


def is_title(word: str) -> bool:
    """Whether a word is a title, such as *Mr.* or *Mayor*."""
    return word in name_lists()["title"]


def is_calendar_name(word: str) -> bool:
    """Whether a word is the name of a day, month or season."""
    return word in calendar_names()


def other_name(name: Name, document: str, choose: Choose) -> str | None:
    """Another name of the same kind and form, no word of which the document has; None where draws bring none."""
    lowered = document.lower()
    for attempt in range(_ATTEMPTS):
        other = _draw_name(name, lambda size, slot, attempt=attempt: choose(size, 3 * attempt + slot))  # type: ignore[misc]
        words = (word for word in re.split(r"\W+", other) if word not in name.text)
        if other != name.text and not any(word.lower() in lowered for word in words):
            return other
    return None


def _draw_name(name: Name, choose: Choose) -> str:
    if name.kind == "person":
        surnames, given = plain_surnames(), plain_given_names(name.gender)
        parts = []
        if name.form in ("given", "full"):
            parts.append(given[choose(len(given), 0)])
        if name.form in ("surname", "full"):
            parts.append(surnames[choose(len(surnames), 1)])
        return " ".join(parts)
    if name.form in ("whole", "coined"):
        names = coined_names()
        return names[choose(len(names), 0)]
    if name.form == "head":
        surnames, words = plain_surnames(), name.text.split(" ")
        other = surnames[choose(len(surnames), 1)]
        return (
            f"{words[0]} {other}" if words[0] in ("Lake", "Mount", "Cape", "Isle", "Port") else f"{other} {words[-1]}"
        )
    places = places_of_form(name.form)
    return places[choose(len(places), 0)]


def replace_name(text: str, name: Name, other: str) -> str | None:
    """The text with another name everywhere; None where a part of the name is elsewhere part of another one."""
    if re.match(r"['’](?!\w)", text[name.end :]) and not other.endswith("s"):
        # "Ross' memoir" becomes "Dodson's memoir".
        text = f"{text[: name.end + 1]}s{text[name.end + 1 :]}"
    replaced = replace_span(text, name.start, name.end, word=other)
    rest = text[: name.start] + " " * (name.end - name.start) + text[name.end :]
    words = [word for word in name.text.split(" ") if name.form != "head" or is_coined(word)]
    return None if any(has_word(word, rest) for word in words) else replaced
