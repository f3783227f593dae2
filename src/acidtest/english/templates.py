"""Fills sentence templates from word lists, thousands at a time.

A template is a premise and a hypothesis, both trees over slots and fixed words; the hypothesis uses only premise words.
Expanding its phrases gives *variants*: a word list for each premise position, and the positions copied into the
hypothesis. All fillings of a variant are numbered, and a keyed permutation of the numbers puts them in random order
without repetition. ``english/rendering.py`` turns them into text and parses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import product
from math import prod
from typing import Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.draws import U64, Draws, permute_ranks
from acidtest.core.errors import AcidtestError
from acidtest.english.rendering import Form, Rendering, Side, leaves
from acidtest.english.trees import Tree, tree, trees

Index = npt.NDArray[np.int64]
Which = Literal["premise", "hypothesis"]

MOST_FILLINGS = 2**53
"""A variant must have fewer fillings than this, because the permutation is exact only below it."""


@dataclass(frozen=True)
class Template:
    """A premise and a hypothesis as trees over slots (``N1``), phrases (``VP1``) and fixed words in lower case.

    ``VPASS1/VBN`` is a slot whose word has that part of speech here, whatever its list says. ``unless_excluded`` names
    two slots, possibly inside a phrase (``VI:VP1``): fillings where the first word excludes the second are skipped,
    for example because one verb implies the other, which would make the label wrong.
    """

    premise: str
    hypothesis: str
    weight: float = 1.0
    trigger: str = ""
    unless_excluded: tuple[str, str] = ("", "")


@dataclass(frozen=True)
class Phrase:
    """One way to expand a phrase name into one or more adjacent trees."""

    expansion: str
    weight: float


@dataclass(frozen=True)
class Word:
    """One or more words that fill a slot; ``excludes`` are words that ``unless_excluded`` keeps out of its premise.

    ``parse`` is the part of speech, or the whole bracketing of several words; an asterisk in it stands for what follows
    in the same phrase: ``(IN across) (PP (IN from) *)``.
    """

    text: str
    parse: str = "NN"
    lemma: str = ""
    excludes: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Lexicon:
    """The words of each slot, and the parts of speech of the templates' fixed words."""

    words: Mapping[str, Sequence[Word]]
    fixed: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class FilledTemplates:
    """Premises as rows of token numbers, with a blank last column, and the variant of each row."""

    variant: Index
    premise: Index

    def __getitem__(self, rows: slice | Index) -> FilledTemplates:
        """Some of the rows."""
        return FilledTemplates(self.variant[rows], self.premise[rows])

    @property
    def compact(self) -> FilledTemplates:
        """The same in smaller integer types, to save memory."""
        small = np.int16 if self.premise.max(initial=0) < 2**15 else np.int32
        return FilledTemplates(self.variant.astype(np.int16), self.premise.astype(small))

    @classmethod
    def joined(cls, parts: Sequence[FilledTemplates]) -> FilledTemplates:
        """Several parts concatenated."""
        return cls(np.concatenate([part.variant for part in parts]), np.concatenate([part.premise for part in parts]))


class Tokens:
    """Numbers for words: the words of a slot are consecutive, and 0 is the blank."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._lexicon = lexicon
        self._starts = {"": 0}
        self.words = [Word("", parse="")]
        self.lemmas = [""]

    def choices(self, name: str) -> Sequence[Word]:
        """The words that may fill a position: those of its slot, or the one fixed word."""
        slot = _slot(name)
        return self._lexicon.words[slot] if slot else (Word(name, parse=self._lexicon.fixed.get(name, "")),)

    def start(self, name: str) -> int:
        """The number of the first word of ``choices(name)``; new names are numbered on first use."""
        slot = _slot(name)
        key = slot or name
        if key not in self._starts:
            self._starts[key] = len(self.words)
            self.words += self.choices(name)
            # Fixed words have no lemma, so that they may occur twice.
            self.lemmas += [word.lemma or word.text if slot else "" for word in self.choices(name)]
        return self._starts[key]


class Grammar:
    """Templates compiled against a lexicon into arrays: one row per variant, one column per position."""

    def __init__(
        self,
        templates: Sequence[Template],
        phrases: Mapping[str, Sequence[Phrase]],
        lexicon: Lexicon,
        *,
        spaced: bool = False,
    ) -> None:
        """``spaced`` puts a space before punctuation, as the published HANS does."""
        self.variants = [
            variant for number, template in enumerate(templates) for variant in _variants(number, template, phrases)
        ]
        self.template = np.array([variant.template for variant in self.variants], dtype=np.int64)
        self.share = np.array([variant.share for variant in self.variants])
        self.names = [" ".join([*variant.premise, "->", *variant.hypothesis]) for variant in self.variants]
        longest = max(len(variant.premise) for variant in self.variants)
        self.width = longest + 1
        """The number of columns of a token row: the longest premise plus one blank."""
        self.tokens = tokens = Tokens(lexicon)
        premises = [[*variant.premise, *[""] * (self.width - len(variant.premise))] for variant in self.variants]
        self._first = np.array([[tokens.start(name) for name in row] for row in premises], dtype=np.int64)
        self._sizes = np.array([[len(tokens.choices(name)) for name in row] for row in premises], dtype=np.uint64)
        self._has_repeats = np.array([any(_has_repeats(tokens.choices(name)) for name in row) for row in premises])
        rows = [(row, templates[number]) for row, number in zip(premises, self.template, strict=True)]
        self.trigger = np.array([row.index(template.trigger) if template.trigger else -1 for row, template in rows])
        self._excluding = np.array(
            [
                [row.index(name) if name and name in row else -1 for name in template.unless_excluded]
                for row, template in rows
            ]
        )
        self.fillings = np.array(
            [_count_fillings(row, name) for row, name in zip(self._sizes, self.names, strict=True)]
        )
        self._texts = [word.text for word in tokens.words]
        numbers = {lemma: number for number, lemma in enumerate(dict.fromkeys(filter(None, tokens.lemmas)))}
        self._lemmas = np.array([numbers.get(lemma, -1) for lemma in tokens.lemmas], dtype=np.int32)
        self._spaced = spaced
        self._renderings: dict[tuple[Which, Form], Rendering] = {}

    def rendered(self, filled: FilledTemplates, which: Which, form: Form) -> pl.Series:
        """The premises or hypotheses of some fillings: as text, as a parse, or as a binary parse."""
        if (which, form) not in self._renderings:
            columns = [
                range(len(variant.premise)) if which == "premise" else variant.copied for variant in self.variants
            ]
            self._renderings[which, form] = Rendering(
                self._sides[which], columns, tokens=self.tokens, form=form, blank=self.width - 1, spaced=self._spaced
            )
        return self._renderings[which, form].of(filled.variant, filled.premise)

    @cached_property
    def _sides(self) -> dict[Which, list[Side]]:
        """The leaves of the premises and of the hypotheses of all variants."""
        return {
            "premise": [self._leaves(variant.premise_tree) for variant in self.variants],
            "hypothesis": [self._leaves(variant.hypothesis_tree) for variant in self.variants],
        }

    def _leaves(self, root: Tree) -> Side:
        names = root.leaves
        fixed = frozenset(place for place, name in enumerate(names) if "/" in name)
        tagged = _replace_leaves(root, {name: [self._tagged(name)] for name in names})
        return leaves(Tree("ROOT", (tagged,)), fixed)

    def words_at(self, filled: FilledTemplates, position: Index) -> pl.Series:
        """The word at a premise position of each row, null where the position is -1."""
        token = filled.premise[np.arange(len(position)), np.maximum(position, 0)]
        return pl.Series([None, *self._texts[1:]], dtype=pl.String).gather(np.where(position >= 0, token, 0))

    def _tagged(self, leaf: str) -> Tree:
        """A leaf under its part of speech: the required one, else that of the first word that may fill it."""
        name, _, tag = leaf.partition("/")
        parse = self.tokens.choices(name)[0].parse
        # The first label: ``IN`` for ``IN`` and ``(IN in) (NN case)``, ``PP`` for ``(PP (IN of) …)``.
        first = trees(parse)[0] if "(" in parse else parse
        return Tree(tag or (first.label if isinstance(first, Tree) else first), (name,))

    def filled(self, wanted: Index, draws: Draws) -> FilledTemplates:
        """The first ``wanted[v]`` valid fillings of each variant, in the order of its permutation, or all there are."""
        key = np.array([draws.key(name) for name in self.names], dtype=np.uint64)
        most = self.fillings
        # Up to a third of the fillings may be invalid.
        tries = np.minimum(np.ceil(wanted * 1.4).astype(np.int64) + 8, most)
        parts: list[FilledTemplates] = []
        todo = np.flatnonzero(wanted > 0)
        while todo.size:
            filled = self._candidates(todo, tries[todo], key)
            rank = rank_within_variant(filled.variant)
            enough = np.bincount(filled.variant, minlength=len(most)) >= wanted
            done = enough | (tries == most)
            parts.append(filled[np.flatnonzero(done[filled.variant] & (rank < wanted[filled.variant]))])
            todo = todo[~done[todo]]
            tries[todo] = np.minimum(tries[todo] * 2, most[todo])
        nothing = FilledTemplates(np.zeros(0, dtype=np.int64), np.zeros((0, self.width), dtype=np.int64))
        return FilledTemplates.joined([nothing, *parts])

    def _candidates(self, variants: Index, tries: Index, keys: U64) -> FilledTemplates:
        """The valid ones among the first ``tries`` fillings of each variant."""
        variant = np.repeat(variants, tries)
        number = permute_ranks(
            rank_within_variant(variant).astype(np.uint64), self.fillings.astype(np.uint64)[variant], keys[variant]
        )
        premise = self._first[variant]
        for position in np.flatnonzero((self._sizes > 1).any(axis=0)):
            sizes = self._sizes[variant, position]
            premise[:, position] += (number % sizes).astype(np.int64)
            number //= sizes
        # A repeated noun or verb ("the judge thanked the judge") leaves the label undefined.
        lemmas = np.sort(self._lemmas[premise], axis=1)
        valid = ~((lemmas[:, 1:] == lemmas[:, :-1]) & (lemmas[:, 1:] >= 0)).any(axis=1)
        rows = np.flatnonzero((self._excluding[variant] >= 0).all(axis=1))
        pairs = premise[rows[:, None], self._excluding[variant[rows]]]
        words = self.tokens.words
        excluded = [words[other].text in words[first].excludes for first, other in pairs.tolist()]
        valid[rows[np.array(excluded, dtype=np.bool_)]] = False
        doubled = np.flatnonzero(self._has_repeats[variant])
        if doubled.size:
            valid[doubled] &= self._first_of_its_words(variant[doubled], premise[doubled])
        return FilledTemplates(variant, premise)[np.flatnonzero(valid)]

    def _first_of_its_words(self, variant: Index, premise: Index) -> npt.NDArray[np.bool_]:
        """Whether no earlier row has the same text; a list may contain a word twice to make it more likely."""
        number = {word: token for token, word in reversed(list(enumerate(self._texts)))}
        same = np.array([number[word] for word in self._texts])
        sentences = np.column_stack([variant, same[premise]])
        first = np.zeros(len(variant), dtype=np.bool_)
        first[np.unique(sentences, axis=0, return_index=True)[1]] = True
        return first


@dataclass(frozen=True)
class TemplateVariant:
    """A template with its phrases expanded: only slots are left to fill."""

    template: int
    share: float
    premise_tree: Tree
    hypothesis_tree: Tree

    @cached_property
    def premise(self) -> list[str]:
        """The names of the premise's positions."""
        return [leaf.partition("/")[0] for leaf in self.premise_tree.leaves]

    @cached_property
    def hypothesis(self) -> list[str]:
        """The names of the hypothesis's positions."""
        return [leaf.partition("/")[0] for leaf in self.hypothesis_tree.leaves]

    @cached_property
    def copied(self) -> list[int]:
        """The premise position each word of the hypothesis is copied from."""
        return [self.premise.index(name) for name in self.hypothesis]


@cache
def _slot(name: str) -> str | None:
    match = re.fullmatch(r"([A-Z]+)(\d*|:\w+)", name)
    return match[1] if match else None


def _variants(number: int, template: Template, phrases: Mapping[str, Sequence[Phrase]]) -> Iterator[TemplateVariant]:
    """Every way to expand the phrases of a template, with its share of the template's weight."""
    premise, hypothesis = tree(template.premise), tree(template.hypothesis)
    names = [name for name in premise.leaves if _slot(name) in phrases]
    ways = [phrases[_slot(name) or ""] for name in names]
    for choice in product(*ways):
        share = prod(
            phrase.weight / sum(other.weight for other in way) for phrase, way in zip(choice, ways, strict=True)
        )
        inside = {name: _mark_slots(phrase, name) for name, phrase in zip(names, choice, strict=True)}
        expanded = (_replace_leaves(side, inside) for side in (premise, hypothesis))
        yield TemplateVariant(number, template.weight * share, *expanded)


def _mark_slots(phrase: Phrase, name: str) -> Sequence[Tree | str]:
    """An expansion with its slots marked by the name of the phrase, so that VP1 and VP2 draw their own words."""
    whole = Tree("", tuple(trees(phrase.expansion)))
    return _replace_leaves(whole, {leaf: [f"{leaf}:{name}"] for leaf in whole.leaves if _slot(leaf)}).children


def _replace_leaves(root: Tree, parts: Mapping[str, Sequence[Tree | str]]) -> Tree:
    """The tree with other parts in the place of some leaves."""
    children = list[Tree | str]()
    for child in root.children:
        children += [_replace_leaves(child, parts)] if isinstance(child, Tree) else parts.get(child, [child])
    return Tree(root.label, tuple(children))


def _count_fillings(sizes: npt.NDArray[np.uint64], name: str) -> int:
    """The number of fillings of a variant; raises if there are ``MOST_FILLINGS`` or more."""
    fillings = prod(map(int, sizes))
    if fillings >= MOST_FILLINGS:
        raise AcidtestError(
            f"the vocabulary is too large: {name!r} could be filled in more than {MOST_FILLINGS:.0e} ways; "
            "leave out words, for a start all but a thousand nouns and a hundred verbs"
        )
    return fillings


def _has_repeats(words: Sequence[Word]) -> bool:
    return len({word.text for word in words}) < len(words)


def rank_within_variant(variant: Index) -> Index:
    """The number of earlier rows of the same variant; rows of a variant must be adjacent."""
    starts = np.flatnonzero(np.diff(variant, prepend=-1))
    sizes = np.diff(np.append(starts, len(variant)))
    return np.arange(len(variant)) - np.repeat(starts, sizes)
