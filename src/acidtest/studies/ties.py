"""Statistical ties: groups of models, or of categories, that the tests do not tell apart.

Two members share a group exactly when no test tells them apart, so a member may be in several: that A is tied with B,
and B with C, does not tie A with C. Groups are lettered as in a compact letter display (Piepho 2004).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from acidtest.stats.contingency import association
from acidtest.stats.significance import adjusted
from acidtest.studies.comparison import Contrast

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

    def to_json(self) -> dict[str, Any]:
        """As a command's --json prints it."""
        rates = {name: None if math.isnan(rate) else rate for name, rate in self.rates.items()}
        groups = [list(group) for group in self.groups]
        return {"what": self.what, "alpha": self.alpha, "rates": rates, "groups": groups, "letters": self.letters}


def tied_groups(names: Sequence[str], apart: Collection[tuple[str, str]]) -> tuple[tuple[str, ...], ...]:
    """The largest groups of which no two members are ``apart``, in the order of their first members.

    Piepho's insert-and-absorb: every group that holds two members told apart is split in two, one without each; a group
    inside another is dropped.
    """
    groups = [frozenset(names)] if names else []
    for one, two in apart:
        split = [part for group in groups for part in (({one, two} <= group and _parts(group, one, two)) or (group,))]
        groups = [group for group in dict.fromkeys(split) if not any(group < other for other in split)]
    places = {name: place for place, name in enumerate(names)}
    ordered = (tuple(sorted(group, key=places.__getitem__)) for group in groups)
    return tuple(sorted(ordered, key=lambda group: [places[name] for name in group]))


def letter(number: int) -> str:
    """a, b, … z, aa, ab …: the name of a group."""
    return (letter(number // 26 - 1) if number >= 26 else "") + chr(ord("a") + number % 26)


def tied_models(contrasts: Iterable[Contrast], *, alpha: float = ALPHA) -> list[Ties]:
    """For each suite the groups of models that the adjusted p-values of ``contrasts`` do not tell apart on it whole.

    A pair whose test cannot be computed counts as not told apart.
    """
    suites: dict[str, list[Contrast]] = {}
    for contrast in contrasts:
        if not contrast.factor:
            suites.setdefault(contrast.suite, []).append(contrast)
    return [_ties(suite, own, alpha) for suite, own in suites.items()]


def tied_categories(
    counts: Mapping[str, tuple[int, int]],
    *,
    what: str = "",
    alpha: float = ALPHA,
    correction: str = "holm",
    test: str = "fisher",
) -> Ties:
    """Categories whose rates, given as how many of how many, are not told apart by tests of every two.

    For independent rows. Categories without rows are left out.
    """
    held = {name: (hits, n) for name, (hits, n) in counts.items() if n}
    rates = _best_first({name: hits / n for name, (hits, n) in held.items()})
    pairs = list(combinations(rates, 2))
    tables = [[(held[name][0], held[name][1] - held[name][0]) for name in pair] for pair in pairs]
    found = [association(table, test).p for table in tables]
    ps = adjusted(found, correction)
    apart = [pair for pair, p in zip(pairs, ps, strict=True) if p < alpha]
    return Ties(what, rates, tied_groups(list(rates), apart), alpha)


def _ties(suite: str, contrasts: Sequence[Contrast], alpha: float) -> Ties:
    rates: dict[str, float] = {}
    for contrast in contrasts:
        rates |= dict(zip((contrast.first, contrast.second), contrast.accuracies, strict=True))
    rates = _best_first(rates)
    apart = [(contrast.first, contrast.second) for contrast in contrasts if contrast.p_adjusted < alpha]
    return Ties(suite, rates, tied_groups(list(rates), apart), alpha)


def _parts(group: frozenset[str], one: str, two: str) -> tuple[frozenset[str], ...]:
    return group - {one}, group - {two}


def _best_first(rates: Mapping[str, float]) -> dict[str, float]:
    return dict(sorted(rates.items(), key=lambda item: -item[1] if not math.isnan(item[1]) else math.inf))
