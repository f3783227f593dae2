"""Words with their opposites: in which sense, said of what, in which places of a sentence."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from acidtest.io.wordlists import packaged_table, word_list
from acidtest.text.places import Place
from acidtest.text.wordnet import wordnet

_INDIVIDUALS = ("person", "animal")
_MAY_BE = {
    "name": frozenset({"person", "location", "group"}),
    "they": frozenset({"person", "animal", "artifact", "group"}),
    "it": frozenset({"animal", "artifact", "communication", "act", "event", "food"}),
}
"""What a subject that tells no kind may stand for."""


@dataclass(frozen=True)
class Opposite:
    """A word with its antonym in one sense, counted from 1 as WordNet does.

    ``of`` are the kinds of things it is said of in that sense, ``*`` any; ``places`` those it may be replaced in,
    unless one of ``unless`` follows.
    """

    word: str
    antonym: str
    pos: str
    sense: int
    of: frozenset[str]
    places: frozenset[str]
    unless: frozenset[str]


@cache
def opposites() -> dict[tuple[str, str], list[Opposite]]:
    """The packaged opposites by word and part of speech, the more particular ones first."""
    found = dict[tuple[str, str], list[Opposite]]()
    for row in packaged_table("stress/antonyms.tsv").iter_rows(named=True):
        each = Opposite(
            row["word"],
            row["antonym"],
            row["pos"],
            int(row["sense"]),
            frozenset(row["of"].split()),
            frozenset(row["places"].split()),
            frozenset(row["unless"].split()),
        )
        found.setdefault((each.word, each.pos), []).append(each)
    for several in found.values():
        several.sort(key=lambda opposite: "*" in opposite.of)
    return found


def opposite_of(word: str, pos: str, place: Place) -> Opposite | None:
    """The opposite of a word as it stands: in the sense that is said of such things; None when none is sure."""
    if not is_telling(place):
        return None
    known = opposites().get((word, pos), [])
    choices = [each for each in known if place.name in each.places and place.after not in each.unless]
    for each in choices:
        if place.kind in each.of or "*" in each.of:
            return each
    # "They were old" leaves open who they are; with one sense to choose from that does no harm.
    if len({each.antonym for each in known}) == 1:
        return next((each for each in choices if each.of & _MAY_BE.get(place.kind, frozenset())), None)
    return None


def is_telling(place: Place) -> bool:
    """Whether a subject with the word and one with its opposite cannot be two different ones.

    The old ferry and the new one may both be fast; where a young man sleeps, there is no old man meant.
    """
    return place.name != "subject" or place.kind in _INDIVIDUALS


def clashes(antonym: str, words: list[str], place: int) -> bool:
    """Whether an antonym would tell another sex than some other word of the sentence: *the woman lost his hat*."""
    telling = word_list("telling sex")
    return antonym in telling and any(word in telling for number, word in enumerate(words) if number != place)


def is_idiom(before: str, word: str, after: str) -> bool:
    """Whether a word belongs to an expression with a neighbour: *hot dog*, *high school*; *old man* is none."""
    if word in word_list("said of people") and after in word_list("people"):
        return False
    return f"{word}_{after}" in _idioms() or f"{before}_{word}" in _idioms()


@cache
def _idioms() -> frozenset[str]:
    """Every entry of WordNet that has two words, joined by ``_``."""
    lemmas = wordnet().lemma_names
    return frozenset(lemmas.filter(lemmas.str.contains(r"^[^_]+_[^_]+$")))
