"""Sentences with slots, such as ``A {person} saw two {animal.plural}.``, and the words that fill them.

A slot names a word list. A number after it draws another word of the list (``{person2}``), and a dot asks for a form
(``{verb.past}``). *a* and *an* before a slot follow the sound of its word. ``{is}``, ``{was}``, ``{has}``, ``{does}``
and ``{verb.present}`` agree in number with the noun slot before them, or with the one named in them (``{is person}``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.errors import AcidtestError, UnknownNameError
from acidtest.english.inflection import (
    compare_adjective,
    forms_by_slot,
    has_listed_forms,
    indefinite_article,
    match_case,
    plural,
)
from acidtest.io.wordlists import packaged_table
from acidtest.pairs.categories import related_items

Index = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

NOUN_FORMS = ("singular", "plural", "counted")
VERB_FORMS = ("base", "third", "present", "past", "participle", "gerund")
ADJECTIVE_FORMS = ("comparative", "superlative")
FORMS = (*NOUN_FORMS, *VERB_FORMS, *ADJECTIVE_FORMS)
"""What may follow the dot in a slot; ``counted`` is singular after *one*, *a* or *every*, else plural."""

GIVEN_FORMS = tuple(form for form in FORMS if form not in ("counted", "present"))
"""The forms of a word that a user may give."""

AGREEING = {"is": "are", "was": "were", "has": "have", "does": "do"}
"""Verbs that agree with a noun slot: the singular, which is also the name of the slot, and the plural."""

_ALTERNATIVES = {"counted": ("singular", "plural"), "present": ("third", "base")}
"""The forms that a form in agreement may turn into: for the singular and for the plural."""

_SINGULAR_BEFORE = frozenset({"a", "an", "one", "1", "each", "every", "another", "this", "that"})
_PIECES = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")
_SLOT = re.compile(r"\s*(?P<draw>[^\W\d][\w-]*)(?:\.(?P<form>\w+))?(?:\s+(?P<subject>[^\W\d][\w-]*))?\s*")
_ARTICLE = re.compile(r"(?:^|(?<=\s))(an?)(\s+)$", re.IGNORECASE)
_WIDEST = 0.15
"""An item with more than this share of its list under it is too wide to stand beside the others."""
_PEOPLE, _HANS = "people", "hans/"
_NAMES = ("given-names", "given-names/female", "given-names/male")


class SlotError(AcidtestError):
    """A sentence with slots that cannot be read or filled; whoever has the file adds its line."""


@dataclass(frozen=True)
class ListedWord:
    """A word of a list: its plain text, the forms that the list gives, and the part of the list it stands in.

    A form that is given as empty does not exist: *furniture* has no plural. *Scissors* are always plural.
    """

    text: str
    forms: Mapping[str, str] = field(default_factory=dict)
    part: str = ""
    is_plural: bool = False
    article: str = ""
    """*a* or *an*, if its sound does not tell."""

    def form(self, name: str) -> str:
        """The word in one of ``GIVEN_FORMS``, or as it is for an empty name; empty if it has no such form.

        Raises for a participle that neither is given nor follows from the past that is.
        """
        if name in self.forms or not name:
            return self.forms.get(name, self.text)
        if name in NOUN_FORMS:
            before, space, last = self.text.rpartition(" ")
            return self.text if name == "singular" or self.is_plural else before + space + plural(last)
        if name in VERB_FORMS:
            return self._verb_form(name)
        return compare_adjective(self.text, "er" if name == "comparative" else "est")

    def _verb_form(self, name: str) -> str:
        """A form that is not given: by the past that is (*transferred*, *transferring*), or by the base."""
        base, past = self.forms.get("base", self.text), self.forms.get("past", "")
        forms = forms_by_slot(base, "verb")
        if name == "gerund" and past == f"{base}{base[-1]}ed":
            return f"{base}{base[-1]}ing"
        if name != "participle" or not past or past == forms["past"] or has_listed_forms(base):
            return forms[name]
        if not past.endswith("ed"):
            raise SlotError(f'{base!r} has the past {past!r}, but no participle; give it: participle = "…"')
        return past


@dataclass(frozen=True)
class Slot:
    """A slot of a sentence: what is drawn (``person2``), its form, what it agrees with, and the article before it."""

    draw: str
    form: str = ""
    subject: int | None = None
    """The place, among the pieces of the sentence, of the noun slot that this one agrees with."""
    article: str = ""
    space: str = ""

    @property
    def is_noun(self) -> bool:
        """Whether a verb may agree with this slot."""
        return self.draw not in AGREEING and self.form in ("", *NOUN_FORMS)

    @property
    def forms(self) -> tuple[str, ...]:
        """The forms that a word needs in order to fill this slot."""
        return _ALTERNATIVES.get(self.form, (self.form,))


@dataclass(frozen=True)
class DrawnWords:
    """The words that were drawn for a slot, one for each row, as numbers of the words of a list."""

    words: Sequence[ListedWord]
    numbers: Index


@dataclass(frozen=True)
class SlottedSentence:
    """A sentence as fixed texts and slots, in order."""

    pieces: tuple[str | Slot, ...]

    @classmethod
    def parse(cls, text: str) -> SlottedSentence:
        """Read a sentence; braces that are part of the text are doubled."""
        pieces: list[str | Slot] = []
        end = 0
        for match in _PIECES.finditer(text):
            _add_text(pieces, text[end : match.start()])
            end = match.end()
            if match[0] in ("{{", "}}"):
                _add_text(pieces, match[0][0])
            elif match[1] is None:
                raise SlotError(f"a brace stands alone in {text!r}; slots are written {{word}}, and a brace {{{{")
            else:
                pieces.append(_read_slot(match[1], pieces))
        _add_text(pieces, text[end:])
        return cls(tuple(pieces))

    @property
    def slots(self) -> Iterator[Slot]:
        """The slots that words are drawn for, in order."""
        return (piece for piece in self.pieces if isinstance(piece, Slot) and piece.draw not in AGREEING)

    def render(self, drawn: Mapping[str, DrawnWords], rows: int) -> pl.Series:
        """The sentence of every row, with its first letter capitalised."""
        texts, plurals = list[pl.Series | str](), dict[int, Flags]()
        for place, piece in enumerate(self.pieces):
            if isinstance(piece, str):
                texts.append(piece)
                continue
            if piece.subject is not None:
                several = plurals[piece.subject]
            elif piece.form == "counted":
                several = ~_is_singular_after(texts, piece.article, rows)
            else:
                several = np.full(rows, piece.form == "plural")
            if piece.draw in AGREEING:
                texts.append(pl.Series(np.where(several, AGREEING[piece.draw], piece.draw).astype(str)))
                continue
            words = drawn[piece.draw]
            plurals[place] = several | np.array([word.is_plural for word in words.words])[words.numbers]
            texts.append(_fill(piece, words, several))
        frame = pl.select(place=pl.int_range(rows))
        whole = frame.select(pl.concat_str(map(pl.lit, texts)).alias("text"), "place")["text"]
        return whole.str.head(1).str.to_uppercase() + whole.str.slice(1)


def _add_text(pieces: list[str | Slot], text: str) -> None:
    if text and pieces and isinstance(pieces[-1], str):
        pieces[-1] += text
    elif text:
        pieces.append(text)


def _read_slot(text: str, pieces: list[str | Slot]) -> Slot:
    """The slot between two braces; an article at the end of the pieces before it becomes part of it."""
    match = _SLOT.fullmatch(text)
    if not match:
        raise SlotError(f"{{{text}}} is no slot; write {{word}}, {{word2}} or {{word.form}}")
    draw, form, subject = match["draw"], match["form"] or "", match["subject"]
    if form and form not in FORMS:
        raise SlotError(f"{{{text}}}: {UnknownNameError('form', form, FORMS)}")
    agrees = draw in AGREEING or form == "present"
    if subject and not agrees:
        raise SlotError(f"{{{text}}}: only {', '.join(AGREEING)} and a form 'present' agree with another slot")
    article = space = ""
    if pieces and isinstance(pieces[-1], str) and not agrees and (before := _ARTICLE.search(pieces[-1])):
        article, space = before[1], before[2]
        pieces[-1] = pieces[-1][: before.start()]
    return Slot(draw, form, _find_subject(text, subject, pieces) if agrees else None, article, space)


def _find_subject(text: str, subject: str | None, pieces: Sequence[str | Slot]) -> int:
    nouns = {place: piece.draw for place, piece in enumerate(pieces) if isinstance(piece, Slot) and piece.is_noun}
    places = [place for place, draw in nouns.items() if subject in (None, draw)]
    if not places:
        what = f"no noun slot {{{subject}}}" if subject else "no noun slot"
        raise SlotError(f"{{{text}}} has {what} before it to agree with; write the verb as it is")
    return places[-1]


def _is_singular_after(texts: Sequence[pl.Series | str], article: str, rows: int) -> Flags:
    """For each row, whether the texts before a slot end in a word that a singular follows."""
    before = article or next((text for text in reversed(texts) if not isinstance(text, str) or text.strip()), "")
    if isinstance(before, str):
        return np.full(rows, (before.split() or [""])[-1].lower() in _SINGULAR_BEFORE)
    return before.str.to_lowercase().str.split(" ").list.last().is_in(list(_SINGULAR_BEFORE)).to_numpy()


def _fill(slot: Slot, drawn: DrawnWords, several: Flags) -> pl.Series:
    """The texts of a slot; of its two forms in agreement, the one for each row's number."""
    columns = []
    for form in (slot.forms[0], slot.forms[-1]):
        texts = [word.form(form) for word in drawn.words]
        if slot.article:
            articles = (word.article or indefinite_article(text) for word, text in zip(drawn.words, texts, strict=True))
            texts = [
                f"{match_case(slot.article, article)}{slot.space}{text}"
                for article, text in zip(articles, texts, strict=True)
            ]
        columns.append(pl.Series(texts, dtype=pl.String).gather(drawn.numbers))
    return columns[1].zip_with(pl.Series(several), columns[0])


def fitting_words(words: Sequence[ListedWord], forms: Sequence[str]) -> list[ListedWord]:
    """The words that have all these forms."""
    return [word for word in words if all(word.form(form) for form in forms)]


@cache
def packaged_lists() -> tuple[str, ...]:
    """The names of the word lists that ship with acidtest."""
    folder = resources.files("acidtest.data").joinpath("lexical", "lists")
    lexical = sorted(file.name.removesuffix(".tsv") for file in folder.iterdir() if file.name.endswith(".tsv"))
    hans = sorted({name for part in ("fresh", "novel") for name in packaged_table(f"hans/words_{part}.tsv")["list"]})
    return (*lexical, _PEOPLE, *_NAMES, *(f"{_HANS}{name}" for name in hans))


@cache
def packaged_words(name: str) -> tuple[ListedWord, ...]:
    """The words of a list that ships with acidtest, by a name in ``packaged_lists``.

    Of the lists of ``lexical``, only items that exclude each other: none is a kind of another, the same, or may also be
    it. ``people`` are the nouns of HANS; ``hans/NAME`` is any of its lists.
    """
    if name not in packaged_lists():
        raise UnknownNameError("word list", name, packaged_lists())
    if name in _NAMES:
        gender = name.partition("/")[2]
        people = packaged_table("names/genders.tsv" if gender else "names/people.tsv")
        given = people.filter(pl.col("gender") == gender if gender else pl.col("kind") == "given")["name"]
        return tuple(ListedWord(text, {"plural": ""}) for text in given)
    if name == _PEOPLE or name.startswith(_HANS):
        wanted = "noun_singular" if name == _PEOPLE else name.removeprefix(_HANS)
        tables = [packaged_table(f"hans/words_{part}.tsv") for part in ("fresh", "novel")]
        rows = pl.concat(tables).filter((pl.col("list") == wanted) & (pl.col("only") == ""))
        return tuple(
            ListedWord(text, is_plural=wanted.endswith("plural")) for text in rows["word"].unique(maintain_order=True)
        )
    table = packaged_table(f"lexical/lists/{name}.tsv")
    items = _exclusive_items(table).select("item", "plural", "form").iter_rows()
    return tuple(
        ListedWord(item, _given_plural(form, several), is_plural=form == "plural") for item, several, form in items
    )


def _exclusive_items(table: pl.DataFrame) -> pl.DataFrame:
    """Items of a list that exclude each other, the earlier of two related ones; *animal* and *mammal* are too wide."""
    related = related_items(table)
    wide = related["hyponym"].sum(axis=1) > _WIDEST * table.height
    kept = list[int]()
    for item in np.flatnonzero(~wide).tolist():
        if related["co-hyponym"][item, kept].all():
            kept.append(item)
    return table[kept]


def _given_plural(form: str, several: str) -> dict[str, str]:
    """The plural that a list gives; empty for what cannot be counted."""
    if several == "-" or form not in ("count", "noun", "plural"):
        return {"plural": ""}
    return {"plural": several} if several else {}
