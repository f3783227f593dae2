"""Published numbers, from results.json to the slices they stand beside: main results, people, other conditions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from acidtest.core.errors import some
from acidtest.core.suite import CROSS
from acidtest.io.published import CORPUS, MATCHED, MISMATCHED, NOT_ACCURACIES

MAIN = ""
"""The condition of a paper's main results."""

PEOPLE = "people"
"""The condition under which the answers were given by people."""

_SIGNS = "†‡§¶"

Score = Mapping[str, Any]
"""An entry of ``published`` in results.json; older ones have no ``condition`` and are main results."""


class PublishedNumber(float):
    """A paper's number, a float like any other, which knows what the paper prints where that was corrected."""

    printed: float | None
    correction: str

    def __new__(cls, value: float, printed: float | None = None, correction: str = "") -> PublishedNumber:
        """A number, what was printed in its place, and what says so."""
        number = super().__new__(cls, value)
        number.printed, number.correction = printed, correction
        return number


@dataclass(frozen=True)
class Papers:
    """Numbers by system and slice (values joined as in ``by``; empty for the whole suite), and where they stand.

    ``notes`` say how they differ from what stands beside them, and which of them were corrected.
    """

    systems: Mapping[str, Mapping[str, PublishedNumber]]
    sources: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def numbers(self, slice_key: str) -> tuple[float | None, ...]:
        """What each system got on a slice, None where the papers do not say."""
        return tuple(numbers.get(slice_key) for numbers in self.systems.values())


def scores(results: Iterable[Mapping[str, Any]]) -> list[Score]:
    """The published numbers of all models' results on one suite, each once."""
    found: dict[tuple[object, ...], Score] = {}
    for result in results:
        for score in result["published"]:
            key = (score["system"], score["source"], condition(score), *sorted(score["by"].items()))
            found.setdefault(key, score)
    return list(found.values())


def beside(published: Iterable[Score], corpus: str) -> list[Score]:
    """Published numbers as they stand beside a suite made from a corpus.

    Of the numbers given for both development sets of MultiNLI, those of the set that the corpus is named after are main
    results (the matched set's for any other corpus) and their source says so; the others' condition names their set.
    """
    found = []
    for score in published:
        own = score["by"].get(CORPUS)
        by = {name: value for name, value in score["by"].items() if name != CORPUS}
        if own is None:
            found.append(score)
        elif own == _nearest(corpus):
            found.append({**score, "by": by, "source": f"{score['source']}, {own}"})
        else:
            found.append({**score, "by": by, "condition": ", ".join(filter(None, (condition(score), f"on {own}")))})
    return found


def accuracies(published: Iterable[Score]) -> list[Score]:
    """The numbers that say how often answers are right; others are shares of errors, or judgements of the pairs."""
    return [score for score in published if not NOT_ACCURACIES & set(score["by"])]


def condition(score: Score) -> str:
    """What was done to the system, or that it is people."""
    return str(score.get("condition") or MAIN)


def other_conditions(published: Sequence[Score]) -> list[str]:
    """The conditions that are neither a paper's main results nor people, in order of appearance."""
    return [name for name in dict.fromkeys(map(condition, published)) if name not in (MAIN, PEOPLE)]


def papers(published: Iterable[Score], names: Sequence[str], under: str = MAIN) -> Papers:
    """What was published on the slices of some factors under a condition.

    A system with two numbers for one slice goes by its source too.
    """
    found: dict[str, dict[str, PublishedNumber]] = {}
    sources: dict[str, None] = {}
    notes: dict[str, None] = {}
    for score in published:
        if condition(score) != under or set(score["by"]) != set(names):
            continue
        key = CROSS.join(score["by"][name] for name in names)
        system = score["system"]
        if key in found.get(system, {}):
            system = f"{system} ({score['source']})"
        number = PublishedNumber(score["value"], score.get("printed"), score.get("correction", ""))
        found.setdefault(system, {})[key] = number
        sources[score["source"]] = None
        notes |= dict.fromkeys(score.get("differs", ()))
        if number.printed is not None:
            notes[f"{', '.join(filter(None, (system, key)))}: {number.correction}"] = None
    return Papers(found, tuple(sources), tuple(notes))


def marked(columns: Mapping[str, Sequence[str]]) -> tuple[dict[str, str], list[str]]:
    """The signs of the columns that have notes, and the notes below the table, each once with its sign.

    A note on more than half of the columns has no sign: it names the columns it does not hold of.
    """
    notes = dict.fromkeys(note for own in columns.values() for note in own)
    signs: dict[str, str] = {}
    general = []
    for note in notes:
        others = [column for column, own in columns.items() if note not in own]
        if 2 * len(others) < len(columns) > 2:
            general.append(f"{f'all but {some(others)}' if others else 'all columns'}: {note}")
        else:
            signs[note] = _SIGNS[len(signs) % len(_SIGNS)] * (1 + len(signs) // len(_SIGNS))
    marks = {column: "".join(signs[note] for note in own if note in signs) for column, own in columns.items()}
    lines = [f"{sign} {note}" for note, sign in signs.items()]
    return {column: mark for column, mark in marks.items() if mark}, [*lines, *general]


def person(system: str) -> str:
    """How a row of numbers got by people is labelled."""
    return system if system.lower() in ("people", "humans") else f"people: {system}"


def _nearest(corpus: str) -> str:
    return MISMATCHED if "mismatched" in corpus.lower() else MATCHED
