"""Sentence templates filled from word lists, thousands at a time.

A template is a premise and a hypothesis, both trees over slots and fixed words; the hypothesis is made only of premise
words. After its phrases are expanded it becomes a *variant*: a row of word lists, one per premise position, and the
positions copied into the hypothesis. All the fillings of a variant are numbered, and a keyed permutation of the numbers
gives them in random order without repetition. ``text/rendering.py`` turns them into text and parses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.draws import U64, Draws, permute_ranks
from acidtest.core.errors import AcidtestError
from acidtest.text.rendering import Form, Rendering, Side, leaves
from acidtest.text.trees import Tree, tree, trees

Index = npt.NDArray[np.int64]
Which = Literal["premise", "hypothesis"]

SLOT = re.compile(r"([A-Z]+)(\d*|:\w+)")
MOST_FILLINGS = 2**53
"""A variant has fewer fillings than this: their permutation is exact only so far."""

_OVERSHOOT = 1.4


@dataclass(frozen=True)
class Template:
    """A premise and a hypothesis as trees over slots (``N1``), phrases (``VP1``) and fixed words in lower case.

    ``VPASS1/VBN`` is a slot whose word is that part of speech here, whatever its list says. ``unless_excluded`` are two
    slots, the second perhaps inside a phrase (``VI:VP1``): fillings where the first word excludes the second are passed
    over, say because one verb implies the other, which would spoil the label.
    """

    premise: str
    hypothesis: str
    weight: float = 1.0
    trigger: str = ""
    unless_excluded: tuple[str, str] = ("", "")


@dataclass(frozen=True)
class Phrase:
    """One way to expand a phrase name into a tree, or several side by side."""

    expansion: str
    weight: float


@dataclass(frozen=True)
class Word:
    """A word or several that fill one slot; ``excludes`` are words a template may keep from standing with it.

    ``parse`` is the part of speech, or the whole bracketing of several words; an asterisk in it stands for what follows
    in the same phrase: ``(IN across) (PP (IN from) *)``.
    """

    text: str
    parse: str = "NN"
    lemma: str = ""
    excludes: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Lexicon:
    """The words of each slot, and the parts of speech of the words templates are made of."""

    words: Mapping[str, Sequence[Word]]
    fixed: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class FilledTemplates:
    """Premises as rows of token numbers, the last of them blank, with the variant each row comes from."""

    variant: Index
    premise: Index

    def __getitem__(self, rows: slice | Index) -> FilledTemplates:
        """Some of the rows."""
        return FilledTemplates(self.variant[rows], self.premise[rows])

    @property
    def compact(self) -> FilledTemplates:
        """The same in small integers, for keeping."""
        small = np.int16 if self.premise.max(initial=0) < 2**15 else np.int32
        return FilledTemplates(self.variant.astype(np.int16), self.premise.astype(small))

    @classmethod
    def joined(cls, parts: Sequence[FilledTemplates]) -> FilledTemplates:
        """Several one after another."""
        return cls(np.concatenate([part.variant for part in parts]), np.concatenate([part.premise for part in parts]))


class Tokens:
    """Numbers for words: a slot's words stand together, number 0 is no word."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._lexicon = lexicon
        self._starts = {"": 0}
        self.words = [Word("", parse="")]
        self.lemmas = [""]

    def choices(self, name: str) -> Sequence[Word]:
        """The words that may stand at a position: a slot's, or the one fixed word."""
        slot = _slot(name)
        if slot:
            return self._lexicon.words[slot]
        return (Word(name, parse=self._lexicon.fixed.get(name, "")),)

    def start(self, name: str) -> int:
        """The number of the first of these words."""
        slot = _slot(name)
        if (slot or name) not in self._starts:
            self._starts[slot or name] = len(self.words)
            self.words += self.choices(name)
            self.lemmas += [word.lemma or word.text if slot else "" for word in self.choices(name)]
        return self._starts[slot or name]

    def lemma_numbers(self) -> npt.NDArray[np.int32]:
        """A number for each word's lemma; fixed words, which may stand twice, have -1."""
        number = {lemma: count for count, lemma in enumerate(dict.fromkeys(filter(None, self.lemmas)))}
        return np.array([number.get(lemma, -1) for lemma in self.lemmas], dtype=np.int32)


class Grammar:
    """Templates compiled against a lexicon into arrays: one row per variant, one column per position.

    ``spaced`` sets punctuation apart, as the published HANS does.
    """

    def __init__(
        self,
        templates: Sequence[Template],
        phrases: Mapping[str, Sequence[Phrase]],
        lexicon: Lexicon,
        *,
        spaced: bool = False,
    ) -> None:
        self.variants = [
            variant for number, template in enumerate(templates) for variant in _variants(number, template, phrases)
        ]
        self.template = np.array([variant.template for variant in self.variants], dtype=np.int64)
        self.share = np.array([variant.share for variant in self.variants])
        self.names = [" ".join([*variant.premise, "->", *variant.hypothesis]) for variant in self.variants]
        blank = max(len(variant.premise) for variant in self.variants)
        premises = [[*variant.premise, *[""] * (blank + 1 - len(variant.premise))] for variant in self.variants]
        self.tokens = Tokens(lexicon)
        self._first = np.array([[self.tokens.start(name) for name in row] for row in premises], dtype=np.int64)
        self._sizes = np.array([[len(self.tokens.choices(name)) for name in row] for row in premises], dtype=np.uint64)
        self._has_repeats = np.array([any(_has_repeats(self.tokens.choices(name)) for name in row) for row in premises])
        chosen = [templates[variant.template] for variant in self.variants]
        self.trigger = np.array([_index_or_missing(row, t.trigger) for row, t in zip(premises, chosen, strict=True)])
        self._excluding = np.array(
            [
                [row.index(name) if name and name in row else -1 for name in t.unless_excluded]
                for row, t in zip(premises, chosen, strict=True)
            ]
        )
        self.fillings = np.array(
            [_count_fillings(row, name) for row, name in zip(self._sizes, self.names, strict=True)]
        )
        self._texts = [word.text for word in self.tokens.words]
        self._lemmas = self.tokens.lemma_numbers()
        self._spaced = spaced
        self._renderings: dict[tuple[Which, Form], Rendering] = {}

    @property
    def width(self) -> int:
        """Columns of a row of tokens: those of the longest premise, and a blank one."""
        return int(self._first.shape[1])

    def rendered(self, filled: FilledTemplates, which: Which, form: Form) -> pl.Series:
        """The premises or hypotheses of some fillings: as text, as a parse, or as a binary parse."""
        return self._rendering(which, form).of(filled.variant, filled.premise)

    def words_at(self, filled: FilledTemplates, position: Index) -> pl.Series:
        """The word at a premise position of each row, null where the position is -1."""
        token = filled.premise[np.arange(len(position)), np.maximum(position, 0)]
        return pl.Series([None, *self._texts[1:]], dtype=pl.String).gather(np.where(position >= 0, token, 0))

    def _rendering(self, which: Which, form: Form) -> Rendering:
        if (which, form) not in self._renderings:
            sides = [self._side(variant, which) for variant in self.variants]
            columns = [
                list(range(len(variant.premise))) if which == "premise" else variant.copied for variant in self.variants
            ]
            blank = self._first.shape[1] - 1
            self._renderings[which, form] = Rendering(
                sides, columns, tokens=self.tokens, form=form, blank=blank, spaced=self._spaced
            )
        return self._renderings[which, form]

    def _side(self, variant: TemplateVariant, which: Which) -> Side:
        tree_ = variant.premise_tree if which == "premise" else variant.hypothesis_tree
        return leaves(Tree("ROOT", (self._tagged(tree_),)), variant.fixed_positions(which))

    def _tagged(self, root: Tree) -> Tree:
        """The tree with a part of speech over every leaf: the one asked for, else that of the first word it may be."""
        children = list[Tree | str]()
        for child in root.children:
            if isinstance(child, Tree):
                children.append(self._tagged(child))
            else:
                name, _, tag = child.partition("/")
                parse = self.tokens.choices(name)[0].parse
                children.append(Tree(tag or _first_tag(parse), (name,)))
        return Tree(root.label, tuple(children))

    def filled(self, wanted: Index, draws: Draws) -> FilledTemplates:
        """The first ``wanted[v]`` valid fillings of each variant, in the order of its permutation.

        Fewer rows of a variant mean that it has no more.
        """
        key = np.array([draws.key(name) for name in self.names], dtype=np.uint64)
        most = self.fillings
        tries = np.minimum(np.ceil(wanted * _OVERSHOOT).astype(np.int64) + 8, most)
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
        nothing = FilledTemplates(np.zeros(0, dtype=np.int64), np.zeros((0, self._first.shape[1]), dtype=np.int64))
        return FilledTemplates.joined([nothing, *parts])

    def _candidates(self, variants: Index, tries: Index, keys: U64) -> FilledTemplates:
        variant = np.repeat(variants, tries)
        number = permute_ranks(
            rank_within_variant(variant).astype(np.uint64), self.fillings.astype(np.uint64)[variant], keys[variant]
        )
        premise = self._first[variant]
        for position in np.flatnonzero((self._sizes > 1).any(axis=0)):
            sizes = self._sizes[variant, position]
            premise[:, position] += (number % sizes).astype(np.int64)
            number //= sizes
        filled = FilledTemplates(variant, premise)
        return filled[np.flatnonzero(self._valid(filled))]

    def _valid(self, filled: FilledTemplates) -> npt.NDArray[np.bool_]:
        # A repeated noun or verb ("the judge thanked the judge") leaves the label undefined.
        lemmas = np.sort(self._lemmas[filled.premise], axis=1)
        valid = ~((lemmas[:, 1:] == lemmas[:, :-1]) & (lemmas[:, 1:] >= 0)).any(axis=1)
        valid &= ~self._excluded(filled)
        doubled = np.flatnonzero(self._has_repeats[filled.variant])
        if doubled.size:
            valid[doubled] &= self._first_of_its_words(filled, doubled)
        return np.asarray(valid, dtype=np.bool_)

    def _excluded(self, filled: FilledTemplates) -> npt.NDArray[np.bool_]:
        excluded = np.zeros(len(filled.variant), dtype=np.bool_)
        rows = np.flatnonzero((self._excluding[filled.variant] >= 0).all(axis=1))
        pairs = filled.premise[rows[:, None], self._excluding[filled.variant[rows]]]
        words = self.tokens.words
        excluded[rows] = [words[other].text in words[first].excludes for first, other in pairs.tolist()]
        return excluded

    def _first_of_its_words(self, filled: FilledTemplates, rows: Index) -> npt.NDArray[np.bool_]:
        """Whether no earlier row reads the same; a list may hold a word twice to make it likelier."""
        number = {word: token for token, word in reversed(list(enumerate(self._texts)))}
        same = np.array([number[word] for word in self._texts])
        sentences = np.column_stack([filled.variant[rows], same[filled.premise[rows]]])
        first = np.zeros(len(rows), dtype=np.bool_)
        first[np.unique(sentences, axis=0, return_index=True)[1]] = True
        return first


@dataclass(frozen=True)
class TemplateVariant:
    """A template whose phrases are expanded: only words are left open."""

    template: int
    share: float
    premise_tree: Tree
    hypothesis_tree: Tree

    @property
    def premise(self) -> list[str]:
        """The names of the premise's positions."""
        return [leaf.partition("/")[0] for leaf in self.premise_tree.leaves]

    @property
    def hypothesis(self) -> list[str]:
        """The names of the hypothesis's positions."""
        return [leaf.partition("/")[0] for leaf in self.hypothesis_tree.leaves]

    @property
    def copied(self) -> list[int]:
        """The premise position each word of the hypothesis is copied from."""
        return [self.premise.index(name) for name in self.hypothesis]

    def fixed_positions(self, which: Which) -> frozenset[int]:
        """The positions whose part of speech the template fixes."""
        side = self.premise_tree if which == "premise" else self.hypothesis_tree
        return frozenset(place for place, leaf in enumerate(side.leaves) if "/" in leaf)


def _slot(name: str) -> str | None:
    match = SLOT.fullmatch(name)
    return match[1] if match else None


def _variants(number: int, template: Template, phrases: Mapping[str, Sequence[Phrase]]) -> Iterator[TemplateVariant]:
    """Every way to expand the phrases of a template, with its share of the template's weight."""
    premise, hypothesis = tree(template.premise), tree(template.hypothesis)
    names = [name for name in premise.leaves if _slot(name) in phrases]
    ways = [phrases[_slot(name) or ""] for name in names]
    for choice in product(*ways):
        parts = [phrase.weight / sum(other.weight for other in way) for phrase, way in zip(choice, ways, strict=True)]
        inside = {name: _mark_slots(trees(phrase.expansion), name) for name, phrase in zip(names, choice, strict=True)}
        yield TemplateVariant(
            number, template.weight * prod(parts), _expand_phrases(premise, inside), _expand_phrases(hypothesis, inside)
        )


def _mark_slots(expansion: Sequence[Tree | str], phrase: str) -> list[Tree | str]:
    """The slots of a phrase marked with its name, so that VP1 and VP2 draw their own words."""
    return [
        Tree(part.label, tuple(_mark_slots(part.children, phrase)))
        if isinstance(part, Tree)
        else f"{part}:{phrase}"
        if _slot(part)
        else part
        for part in expansion
    ]


def _expand_phrases(root: Tree, inside: Mapping[str, list[Tree | str]]) -> Tree:
    children = list[Tree | str]()
    for child in root.children:
        if isinstance(child, Tree):
            children.append(_expand_phrases(child, inside))
        else:
            children += inside.get(child, [child])
    return Tree(root.label, tuple(children))


def _count_fillings(sizes: npt.NDArray[np.uint64], name: str) -> int:
    """How many fillings there are; they are numbered, and numbers end somewhere."""
    fillings = prod(map(int, sizes))
    if fillings >= MOST_FILLINGS:
        raise AcidtestError(
            f"the vocabulary is too large: {name!r} could be filled in more than {MOST_FILLINGS:.0e} ways; "
            "leave out words, for a start all but a thousand nouns and a hundred verbs"
        )
    return fillings


def _first_tag(parse: str) -> str:
    """``IN`` of ``IN``, of ``(IN in) (NN case)`` and of ``(PP (IN of) …)``."""
    first = trees(parse)[0] if "(" in parse else parse
    return first.label if isinstance(first, Tree) else first


def _has_repeats(words: Sequence[Word]) -> bool:
    return len({word.text for word in words}) < len(words)


def _index_or_missing(row: list[str], token: str) -> int:
    return row.index(token) if token else -1


def rank_within_variant(variant: Index) -> Index:
    """How many rows of the same variant stand before each; rows of a variant stand together."""
    starts = np.flatnonzero(np.diff(variant, prepend=-1))
    sizes = np.diff(np.append(starts, len(variant)))
    return np.arange(len(variant)) - np.repeat(starts, sizes)
