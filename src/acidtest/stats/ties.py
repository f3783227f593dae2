"""Statistical ties: groups of models, or of categories, that the tests do not tell apart.

Two members share a group exactly when no test tells them apart, so a member may be in several: that A is tied with B,
and B with C, does not tie A with C. Groups are lettered as in a compact letter display (Piepho 2004).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from acidtest.stats.contingency import association
from acidtest.stats.significance import adjusted

ALPHA = 0.05


@dataclass(frozen=True)
class Ties:
    """Members of one comparison, best first, and the groups within which none is told from another."""

    what: str
    rates: Mapping[str, float]
    groups: tuple[tuple[str, ...], ...]
    alpha: float = ALPHA

    json_properties = ("letters",)

    @property
    def letters(self) -> dict[str, str]:
        """For each member the letters of its groups: two that share one are tied."""
        return {
            name: " ".join(letter(number) for number, group in enumerate(self.groups) if name in group)
            for name in self.rates
        }


def tied_groups(names: Sequence[str], apart: Collection[tuple[str, str]]) -> tuple[tuple[str, ...], ...]:
    """The largest groups of which no two members are ``apart``, in the order of their first members.

    Piepho's insert-and-absorb: every group that holds two members told apart is split in two, one without each; a group
    inside another is dropped.
    """
    groups = [frozenset(names)] if names else []
    for one, two in apart:
        split = list[frozenset[str]]()
        for group in groups:
            split += [group - {one}, group - {two}] if {one, two} <= group else [group]
        groups = [group for group in dict.fromkeys(split) if not any(group < other for other in split)]
    places = {name: place for place, name in enumerate(names)}
    ordered = (tuple(sorted(group, key=places.__getitem__)) for group in groups)
    return tuple(sorted(ordered, key=lambda group: [places[name] for name in group]))


def letter(number: int) -> str:
    """a, b, … z, aa, ab …: the name of a group."""
    return (letter(number // 26 - 1) if number >= 26 else "") + chr(ord("a") + number % 26)


def tied_categories(counts: Mapping[str, tuple[int, int]], *, what: str = "", correction: str = "holm") -> Ties:
    """Categories whose rates, given as how many of how many, are not told apart by Fisher's tests of every two.

    For independent rows. Categories without rows are left out.
    """
    counted = {name: (hits, n) for name, (hits, n) in counts.items() if n}
    rates = best_first({name: hits / n for name, (hits, n) in counted.items()})
    pairs = list(combinations(rates, 2))
    tables = [[(counted[name][0], counted[name][1] - counted[name][0]) for name in pair] for pair in pairs]
    ps = adjusted([association(table, "fisher").p for table in tables], correction)
    apart = [pair for pair, p in zip(pairs, ps, strict=True) if p < ALPHA]
    return Ties(what, rates, tied_groups(list(rates), apart))


def best_first(rates: Mapping[str, float]) -> dict[str, float]:
    """The rates from the highest to the lowest, those that are not known last."""
    return dict(sorted(rates.items(), key=lambda item: -item[1] if not math.isnan(item[1]) else math.inf))
