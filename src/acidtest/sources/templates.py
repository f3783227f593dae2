"""Sentence templates filled from word lists, thousands at a time.

A template is a premise of slots and fixed words, and a hypothesis made only of premise words. After its
phrases are expanded it becomes a *variant*: a row of word lists, one per premise position, and the
positions copied into the hypothesis. All the fillings of a variant are numbered, and a keyed permutation
of the numbers gives them in random order without repetition.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.draws import U64, Draws, shuffled

Index = npt.NDArray[np.int64]

SLOT = re.compile(r"([A-Z]+)(\d*|:\w+)")
_OVERSHOOT = 1.4


@dataclass(frozen=True)
class Template:
    """A premise and a hypothesis of slots (``N1``), phrases (``VP1``) and fixed words, in lower case."""

    premise: str
    hypothesis: str
    weight: float = 1.0
    trigger: str = ""
    unless_implied: tuple[str, str] = ("", "")


@dataclass(frozen=True)
class Phrase:
    """One way to expand a phrase name into slots and words."""

    expansion: str
    weight: float


@dataclass(frozen=True)
class Lexicon:
    """The words of each slot, the lemma of each word, and which verbs may imply which."""

    words: Mapping[str, Sequence[str]]
    lemmas: Mapping[str, str]
    implications: frozenset[tuple[str, str]] = frozenset()


@dataclass(frozen=True)
class Filled:
    """Sentences as rows of token numbers, with the variant each row comes from."""

    variant: Index
    premise: Index
    hypothesis: Index


class Tokens:
    """Numbers for words: a slot's words stand together, number 0 is no word."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._lexicon = lexicon
        self._starts = {"": 0}
        self.words = [""]
        self.lemmas = [""]

    def choices(self, name: str) -> Sequence[str]:
        """The words that may stand at a position: a slot's, or the one fixed word."""
        slot = _slot(name)
        return self._lexicon.words[slot] if slot else (name,)

    def start(self, name: str) -> int:
        """The number of the first of these words."""
        slot = _slot(name)
        if (slot or name) not in self._starts:
            self._starts[slot or name] = len(self.words)
            self.words += self.choices(name)
            self.lemmas += [self._lexicon.lemmas.get(word, word) if slot else "" for word in self.choices(name)]
        return self._starts[slot or name]

    def lemma_numbers(self) -> npt.NDArray[np.int16]:
        """A number for each word's lemma; fixed words, which may stand twice, have -1."""
        number = {lemma: count for count, lemma in enumerate(dict.fromkeys(filter(None, self.lemmas)))}
        return np.array([number.get(lemma, -1) for lemma in self.lemmas], dtype=np.int16)


class Grammar:
    """Templates compiled against a lexicon into arrays: one row per variant, one column per position."""

    def __init__(
        self, templates: Sequence[Template], phrases: Mapping[str, Sequence[Phrase]], lexicon: Lexicon
    ) -> None:
        self._implications = lexicon.implications
        variants = [
            variant for number, template in enumerate(templates) for variant in _variants(number, template, phrases)
        ]
        self.template = np.array([variant.template for variant in variants], dtype=np.int64)
        self.share = np.array([variant.share for variant in variants])
        self.names = [" ".join([*variant.premise, "->", *variant.hypothesis]) for variant in variants]
        blank = max(len(variant.premise) for variant in variants)
        premises = [[*variant.premise, *[""] * (blank + 1 - len(variant.premise))] for variant in variants]
        tokens = Tokens(lexicon)
        self._first = np.array([[tokens.start(name) for name in row] for row in premises], dtype=np.int64)
        self._sizes = np.array([[len(tokens.choices(name)) for name in row] for row in premises], dtype=np.uint64)
        self._doubled = np.array([any(_doubled(tokens.choices(name)) for name in row) for row in premises])
        self._copied = _positions(premises, [variant.hypothesis for variant in variants], blank=blank)
        chosen = [templates[variant.template] for variant in variants]
        self.trigger = np.array([_found(row, t.trigger) for row, t in zip(premises, chosen, strict=True)])
        self._implying = np.array(
            [[_found(row, verb) for verb in t.unless_implied] for row, t in zip(premises, chosen, strict=True)]
        )
        self.fillings = np.array([prod(map(int, row)) for row in self._sizes], dtype=np.int64)
        self._tokens = tokens.words
        self._lemmas = tokens.lemma_numbers()

    @property
    def tokens(self) -> Sequence[str]:
        """The word of each token number; number 0 is no word."""
        return self._tokens

    def filled(self, wanted: Index, draws: Draws) -> Filled:
        """The first ``wanted[v]`` valid fillings of each variant, in the order of its permutation.

        Fewer rows of a variant mean that it has no more.
        """
        key = np.array([draws.key(name) for name in self.names], dtype=np.uint64)
        most = self.fillings
        tries = np.minimum(np.ceil(wanted * _OVERSHOOT).astype(np.int64) + 8, most)
        parts: list[Filled] = []
        todo = np.flatnonzero(wanted > 0)
        while todo.size:
            filled = self._candidates(todo, tries[todo], key)
            rank = turn(filled.variant)
            enough = np.bincount(filled.variant, minlength=len(most)) >= wanted
            done = enough | (tries == most)
            parts.append(_taken(filled, np.flatnonzero(done[filled.variant] & (rank < wanted[filled.variant]))))
            todo = todo[~done[todo]]
            tries[todo] = np.minimum(tries[todo] * 2, most[todo])
        return _joined(parts, self._sizes.shape[1], self._copied.shape[1])

    def _candidates(self, variants: Index, tries: Index, keys: U64) -> Filled:
        variant = np.repeat(variants, tries)
        number = shuffled(turn(variant).astype(np.uint64), self.fillings.astype(np.uint64)[variant], keys[variant])
        premise = self._first[variant]
        for position in np.flatnonzero((self._sizes > 1).any(axis=0)):
            sizes = self._sizes[variant, position]
            premise[:, position] += (number % sizes).astype(np.int64)
            number //= sizes
        filled = Filled(variant, premise, np.take_along_axis(premise, self._copied[variant], axis=1))
        return _taken(filled, np.flatnonzero(self._valid(filled)))

    def _valid(self, filled: Filled) -> npt.NDArray[np.bool_]:
        # A repeated noun or verb ("the judge thanked the judge") leaves the label undefined.
        lemmas = np.sort(self._lemmas[filled.premise], axis=1)
        valid = ~((lemmas[:, 1:] == lemmas[:, :-1]) & (lemmas[:, 1:] >= 0)).any(axis=1)
        valid &= ~self._implied(filled)
        doubled = np.flatnonzero(self._doubled[filled.variant])
        if doubled.size:
            valid[doubled] &= self._first_of_its_words(filled, doubled)
        return np.asarray(valid, dtype=np.bool_)

    def _implied(self, filled: Filled) -> npt.NDArray[np.bool_]:
        implied = np.zeros(len(filled.variant), dtype=np.bool_)
        rows = np.flatnonzero(self._implying[filled.variant, 0] >= 0)
        pairs = filled.premise[rows[:, None], self._implying[filled.variant[rows]]]
        known = self._implications
        implied[rows] = [(self._tokens[verb], self._tokens[other]) in known for verb, other in pairs.tolist()]
        return implied

    def _first_of_its_words(self, filled: Filled, rows: Index) -> npt.NDArray[np.bool_]:
        """Whether no earlier row reads the same; a list may hold a word twice to make it likelier."""
        number = {word: token for token, word in reversed(list(enumerate(self._tokens)))}
        same = np.array([number[word] for word in self._tokens])
        sentences = np.column_stack([filled.variant[rows], same[filled.premise[rows]]])
        first = np.zeros(len(rows), dtype=np.bool_)
        first[np.unique(sentences, axis=0, return_index=True)[1]] = True
        return first


def sentences(tokens: Sequence[str], rows: Index, *, spaced: bool = False) -> pl.Series:
    """Rows of token numbers as text: first letter capital, no space before punctuation unless ``spaced``."""
    follow = [token if token in (".", ",") and not spaced else f" {token}" if token else "" for token in tokens]
    begin = [token[:1].upper() + token[1:] for token in tokens]
    columns = [pl.Series("0", begin).gather(rows[:, 0])]
    columns += [pl.Series(str(j), follow).gather(rows[:, j]) for j in range(1, rows.shape[1])]
    return pl.DataFrame(columns).select(pl.concat_str(pl.all())).to_series()


@dataclass(frozen=True)
class _Variant:
    template: int
    share: float
    premise: list[str]
    hypothesis: list[str]


def _slot(name: str) -> str | None:
    match = SLOT.fullmatch(name)
    return match[1] if match else None


def _variants(number: int, template: Template, phrases: Mapping[str, Sequence[Phrase]]) -> Iterator[_Variant]:
    """Every way to expand the phrases of a template, with its share of the template's weight."""
    names = [name for name in template.premise.split() if _slot(name) in phrases]
    ways = [phrases[_slot(name) or ""] for name in names]
    for choice in product(*ways):
        parts = [phrase.weight / sum(other.weight for other in way) for phrase, way in zip(choice, ways, strict=True)]
        inside = {name: _renamed(phrase.expansion, name) for name, phrase in zip(names, choice, strict=True)}
        yield _Variant(
            number, template.weight * prod(parts), _spelt(template.premise, inside), _spelt(template.hypothesis, inside)
        )


def _renamed(expansion: str, phrase: str) -> list[str]:
    """The slots of a phrase marked with its name, so that VP1 and VP2 draw their own words."""
    return [f"{name}:{phrase}" if _slot(name) else name for name in expansion.split()]


def _spelt(text: str, inside: Mapping[str, list[str]]) -> list[str]:
    return [name for word in text.split() for name in inside.get(word, [word])]


def _doubled(words: Sequence[str]) -> bool:
    return len(set(words)) < len(words)


def _positions(premises: list[list[str]], hypotheses: list[list[str]], *, blank: int) -> Index:
    """For each hypothesis the premise positions its words are copied from, padded with a blank position."""
    width = max(map(len, hypotheses))
    rows = [
        [premise.index(token) for token in hypothesis] for premise, hypothesis in zip(premises, hypotheses, strict=True)
    ]
    return np.array([row + [blank] * (width - len(row)) for row in rows], dtype=np.int64)


def _found(row: list[str], token: str) -> int:
    return row.index(token) if token else -1


def turn(variant: Index) -> Index:
    """How many rows of the same variant stand before each; rows of a variant stand together."""
    starts = np.flatnonzero(np.diff(variant, prepend=-1))
    sizes = np.diff(np.append(starts, len(variant)))
    return np.arange(len(variant)) - np.repeat(starts, sizes)


def _taken(filled: Filled, rows: Index) -> Filled:
    return Filled(filled.variant[rows], filled.premise[rows], filled.hypothesis[rows])


def _joined(parts: list[Filled], width: int, hypothesis_width: int) -> Filled:
    empty = np.zeros(0, dtype=np.int64)
    return Filled(
        np.concatenate([empty, *(part.variant for part in parts)]),
        np.concatenate([np.zeros((0, width), dtype=np.int64), *(part.premise for part in parts)]),
        np.concatenate([np.zeros((0, hypothesis_width), dtype=np.int64), *(part.hypothesis for part in parts)]),
    )
