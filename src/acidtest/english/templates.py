"""Fills sentence templates from word lists, thousands at a time.

A template is a premise and a hypothesis, both trees over slots and fixed words; the hypothesis uses only premise words.
Expanding its phrases gives *variants*: a word list for each premise position, and the positions copied into the
hypothesis. All fillings of a variant are numbered, and a keyed permutation of the numbers puts them in random order
without repetition. ``english/templates.py`` turns them into text and parses.

Renders filled templates as text and parses, with one column operation per open position.

The fixed text of a variant (brackets, articles, full stops) is assembled once. A variant then is a row of *pieces*: an
open position with the fixed text around it, written out in advance for every word that may fill it.
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
from acidtest.english.trees import Tree, binary, tree, trees

Form = Literal["text", "parse", "binary_parse"]

HOLE = "*"
"""Marks, in the parse of a word, the place of what follows it in its phrase: ``(IN across) (PP (IN from) *)``."""

# Marks in a piece: the place of the word, and the place where brackets close that an earlier word left open.
_WORD, _LATE = "\0", "\1"
_MOST_LEFT_OPEN = 4


@dataclass(frozen=True)
class Leaf:
    """A position of a tree: its name, the part of speech the template requires (or none), and its brackets.

    ``opens`` has the labels of the brackets that open before it, ``closes`` counts those that close after it; the same
    for binary brackets. ``within`` is the label of the phrase around it, ``follows`` that of the next part of this
    phrase and ``followed_until`` the last leaf of that part; "" and -1 if there is none.
    """

    name: str
    required_tag: str
    opens: tuple[str, ...]
    closes: int
    binary_opens: int
    binary_closes: int
    within: str = ""
    follows: str = ""
    followed_until: int = -1


Side = Sequence[Leaf]
_NOWHERE = Leaf("", "", (), 0, 0, 0)


@dataclass(frozen=True)
class _Piece:
    """Text around the open position ``place``; ``source`` is the leaf whose brackets close in it, or -1."""

    text: str
    place: int
    source: int = -1


@dataclass(frozen=True)
class _Spelling:
    """A word rendered in one form, and how many brackets it leaves open for what follows."""

    text: str
    left_open: int = 0


class Rendering:
    """Renders the premises, or the hypotheses, of all variants in one form."""

    def __init__(
        self,
        sides: Sequence[Side],
        columns: Sequence[Sequence[int]],
        *,
        tokens: Tokens,
        form: Form,
        blank: int,
        spaced: bool = False,
    ) -> None:
        """``columns``: for each variant, the column of a token row for each leaf; column ``blank`` is always empty."""
        self._tokens, self._form, self._spaced = tokens, form, spaced
        self._pieces = [""]
        self._begins: dict[tuple[str, int, tuple[str, str, str], int], int] = {}
        rows = [self._row(side) for side in sides]
        # A word may leave more brackets open in one phrase than in another.
        self._phrases = dict[tuple[str, str], int]()
        shape = (len(rows), max(map(len, rows)))
        # Variants with fewer pieces than others are padded with the blank token and piece 0, which is empty.
        self._place, self._source = np.full(shape, blank), np.full(shape, blank)
        self._offset, self._stride = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
        self._phrase = np.zeros(shape, dtype=np.int64)
        for number, (side, row) in enumerate(zip(sides, rows, strict=True)):
            for column, piece in enumerate(row):
                at = number, column
                leaf = side[piece.place] if piece.place >= 0 else _NOWHERE
                self._place[at] = columns[number][piece.place] if piece.place >= 0 else blank
                self._offset[at] = self._begin(piece, leaf) - tokens.start(leaf.name)
                if piece.source >= 0:
                    source = side[piece.source]
                    self._phrase[at] = self._phrases.setdefault((source.within, source.follows), len(self._phrases))
                    self._source[at], self._stride[at] = columns[number][piece.source], len(tokens.choices(leaf.name))
        self._left_open = np.array(
            [
                [_spelling(word, form, "", within, follows).left_open for word in tokens.words]
                for within, follows in self._phrases
            ],
            dtype=np.int64,
        )

    def of(self, variant: Index, rows: Index) -> pl.Series:
        """The rendered sentences of rows of token numbers."""
        pieces, every = pl.Series(self._pieces), np.arange(len(rows))
        columns = []
        for column in range(self._place.shape[1]):
            number = rows[every, self._place[variant, column]] + self._offset[variant, column]
            stride = self._stride[variant, column]
            if stride.any():
                tokens = rows[every, self._source[variant, column]]
                number += stride * self._left_open[self._phrase[variant, column], tokens]
            columns.append(pieces.gather(number).alias(str(column)))
        return pl.DataFrame(columns).select(pl.concat_str(pl.all())).to_series()

    def _row(self, side: Side) -> list[_Piece]:
        """The pieces of a variant: fixed words join the open position after them, the last ones the position before."""
        pieces, text, source = list[_Piece](), "", -1
        sources = self._sources(side)
        for place, leaf in enumerate(side):
            before, after = self._around(leaf, place)
            if place in sources:
                if source >= 0:
                    raise ValueError(f"two words left brackets open before {leaf.name!r}")
                source, after = sources[place], _LATE + after
            words = self._tokens.choices(leaf.name)
            if len(words) == 1:
                text += before + self._spelt(words[0], leaf, is_first=place == 0) + after
            else:
                pieces.append(_Piece(text + before + _WORD + after, place, source))
                text, source = "", -1
        if not pieces:
            return [_Piece(text, -1, source)]
        last = pieces.pop()
        return [*pieces, _Piece(last.text + text, last.place, max(last.source, source))]

    def _sources(self, side: Side) -> Mapping[int, int]:
        """For brackets that a word leaves open: the leaf after which they close → the leaf of that word."""
        if self._form == "text":
            return {}
        sources = dict[int, int]()
        for place, leaf in enumerate(side):
            words = self._tokens.choices(leaf.name)
            holding = [word.text for word in words if HOLE in word.parse and not leaf.required_tag]
            if holding and leaf.followed_until < 0:
                raise AcidtestError(
                    f"the parse of {holding[0]!r} has a {HOLE}, but in some templates nothing follows it in its phrase"
                )
            phrases = (word for word in words if "(" in word.parse)
            spelt = (_spelling(word, self._form, leaf.required_tag, leaf.within, leaf.follows) for word in phrases)
            if any(spelling.left_open for spelling in spelt):
                sources[leaf.followed_until] = place
        return sources

    def _around(self, leaf: Leaf, place: int) -> tuple[str, str]:
        space = " " if place else ""
        if self._form == "parse":
            return space + "".join(f"({label} " for label in leaf.opens), ")" * leaf.closes
        if self._form == "binary_parse":
            return space + "( " * leaf.binary_opens, " )" * leaf.binary_closes
        return space if self._spaced or leaf.name not in (".", ",") else "", ""

    def _spelt(self, word: Word, leaf: Leaf, *, is_first: bool) -> str:
        return _spelling(word, self._form, leaf.required_tag, leaf.within, leaf.follows, is_first).text

    def _begin(self, piece: _Piece, leaf: Leaf) -> int:
        """The index of a piece's first text; it has one text per word and possible number of brackets left open."""
        most = _MOST_LEFT_OPEN if piece.source >= 0 else 0
        # A slot needs separate pieces in other phrases, and at the beginning, where the word is capitalised.
        where = (leaf.required_tag, leaf.within, leaf.follows)
        key = (piece.text, self._tokens.start(leaf.name), where, most if piece.place else -1)
        if key not in self._begins:
            self._begins[key] = len(self._pieces)
            closing = " )" if self._form == "binary_parse" else ")"
            spelt = [self._spelt(word, leaf, is_first=piece.place == 0) for word in self._tokens.choices(leaf.name)]
            for late in range(most + 1):
                text = piece.text.replace(_LATE, closing * late)
                self._pieces += [text.replace(_WORD, word) for word in spelt]
        return self._begins[key]


def leaves(root: Tree, fixed: frozenset[int] = frozenset()) -> list[Leaf]:
    """The leaves of a tree whose words all have a part of speech; at ``fixed`` positions the template requires it."""
    positions = list[Leaf]()
    words = re.finditer(r"((?:\( )*)[^\s()]+((?: \))*)", binary(root))
    brackets = [(word[1].count("("), word[2].count(")")) for word in words]

    def visit(part: Tree, opens: tuple[str, ...], closes: int, place_in: tuple[str, str, int]) -> None:
        word = part.children[0]
        if isinstance(word, str):
            place = len(positions)
            tag = part.label if place in fixed else ""
            within, follows, until = place_in
            positions.append(Leaf(word, tag, opens, closes, *brackets[place], within, follows, until))
            return
        children = [child for child in part.children if isinstance(child, Tree)]
        ends = np.cumsum([len(child.leaves) for child in children]) + len(positions) - 1
        for number, child in enumerate(children):
            is_last = number == len(children) - 1
            visit(
                child,
                (*opens, part.label) if number == 0 else (),
                closes + 1 if is_last else 0,
                (part.label, "" if is_last else children[number + 1].label, -1 if is_last else int(ends[number + 1])),
            )

    visit(root, (), 0, ("", "", -1))
    return positions


@cache
def _spelling(
    word: Word, form: Form, tag: str = "", within: str = "", follows: str = "", is_first: bool = False
) -> _Spelling:
    """A word in one form; ``tag`` overrides its own part of speech.

    Several words become parts of the phrase ``within``: their brackets depend on the label that ``follows``.
    """
    if form == "text":
        return _Spelling(_capital(word.text) if is_first else word.text)
    parts = _parts(word, tag, follows)
    if is_first:
        parts = _capital_first(parts)
    if form == "parse":
        whole, outer = " ".join(map(str, parts)).replace(f"({follows} {HOLE})", HOLE), 0
    else:
        # The outermost binary brackets of a parse with a hole are those of the phrase around the word.
        whole, outer = binary(Tree(within, tuple(parts))), 1
    if HOLE not in whole:
        return _Spelling(whole)
    before, after = whole.split(HOLE)
    left_open = after.count(")") - outer
    if left_open > _MOST_LEFT_OPEN:
        raise AcidtestError(f"the parse of {word.text!r} holds what follows it too deep: {word.parse}")
    return _Spelling(before.removeprefix("( " * outer).rstrip(), left_open)


def _parts(word: Word, tag: str, follows: str) -> list[Tree]:
    """The trees of a word; if there are several, with a hole for what follows."""
    if "(" not in word.parse:
        return [Tree(tag or word.parse, (word.text,))]
    parts = [part if isinstance(part, Tree) else Tree(follows, (part,)) for part in trees(word.parse)]
    if tag:
        # In an expression the first word is inflected: looked after.
        parts[0] = Tree(tag, parts[0].children)
    return [*parts, Tree(follows, (HOLE,))] if follows and len(parts) > 1 and HOLE not in word.parse else parts


def _capital_first(parts: Sequence[Tree]) -> list[Tree]:
    first, *rest = parts
    inner, *others = first.children
    new = _capital(inner) if isinstance(inner, str) else _capital_first([inner])[0]
    return [Tree(first.label, (new, *others)), *rest]


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


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
