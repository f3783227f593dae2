"""Sentences and pairs that HANS templates could have made: which template, and with which tree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.text.hans_templates import Plan, Templates, plan
from acidtest.text.templates import Filled, Grammar, Index, Word
from acidtest.text.vocabulary import PACKAGED, Vocabulary, vocabulary

_BLANK, _UNKNOWN = 0, 1


@dataclass(frozen=True)
class _Match:
    """Rows that a variant of a plan could have made, with the token numbers of their premises."""

    plan: Plan
    variant: int
    rows: Index
    tokens: Index


class Recogniser:
    """All templates, published and novel, over all packaged words, read backwards."""

    def __init__(self) -> None:
        words = _every_word()
        sets: tuple[tuple[Templates, bool], ...] = (("published", False), ("published", True), ("novel", False))
        self._plans = [plan(templates, words, faithful=faithful) for templates, faithful in sets]
        texts = sorted({word.text for plan_ in self._plans for word in plan_.grammar.tokens.words} - {""})
        self._numbers = {text.replace(" ", "_"): number for number, text in enumerate(texts, 2)}
        several = sorted((text for text in texts if " " in text), key=len, reverse=True)
        self._several = {f" {text} ": f" {text.replace(' ', '_')} " for text in several}
        self._longest = max(plan_.grammar.width for plan_ in self._plans)
        self._tables = {id(plan_): self._slots(plan_.grammar) for plan_ in self._plans}

    def parses(self, sentences: pl.Series) -> pl.Series:
        """The parse of every sentence that is a premise of some template, null for the others."""
        found, done = np.full(len(sentences), None, dtype=object), np.zeros(len(sentences), dtype=np.bool_)
        for match in self._matches(self._matrix(sentences)):
            new = ~done[match.rows]
            if new.any():
                rows = match.rows[new]
                filled = Filled(np.full(len(rows), match.variant), match.tokens[new])
                found[rows], done[rows] = match.plan.grammar.rendered(filled, "premise", "parse").to_list(), True
        return pl.Series("parse", found.tolist(), dtype=pl.String)

    def subcases(self, premises: pl.Series, hypotheses: pl.Series) -> pl.DataFrame:
        """The subcase and template that could have made each pair, null for pairs that none could."""
        other = self._matrix(hypotheses)
        subcase, template = (np.full(len(premises), None, dtype=object) for _ in range(2))
        for match in self._matches(self._matrix(premises)):
            grammar = match.plan.grammar
            fits = self._fits(match, other)
            facts = match.plan.facts.row(int(grammar.template[match.variant]), named=True)
            subcase[match.rows[fits]], template[match.rows[fits]] = facts["subcase"], facts["template"]
        names = {"subcase": subcase.tolist(), "template": template.tolist()}
        return pl.DataFrame(names, schema=dict.fromkeys(names, pl.String))

    def triggers(
        self, premises: pl.Series, hypotheses: pl.Series, *, subcases: pl.Series, templates: pl.Series | None = None
    ) -> pl.DataFrame:
        """The template of each pair of published HANS, and the word it turns on, null where the template has none.

        ``subcases`` and ``templates`` are the file's own; without templates the one that could have made the pair is
        found. A pair that no template of its subcase makes has the template it came with, and no trigger.
        """
        other = self._matrix(hypotheses)
        subcase = subcases.fill_null("").to_numpy()
        given = np.full(len(premises), "") if templates is None else templates.fill_null("").to_numpy()
        template, trigger = given.astype(object), np.full(len(premises), None, dtype=object)
        template[given == ""] = None
        for match in self._matches(self._matrix(premises)):
            grammar = match.plan.grammar
            facts = match.plan.facts.row(int(grammar.template[match.variant]), named=True)
            fits = self._fits(match, other) & (subcase[match.rows] == facts["subcase"])
            fits &= (given[match.rows] == "") | (given[match.rows] == facts["template"])
            rows = match.rows[fits]
            filled = Filled(np.full(len(rows), match.variant), match.tokens[fits])
            words = grammar.words_at(filled, np.full(len(rows), grammar.trigger[match.variant]))
            template[rows], trigger[rows] = facts["template"], words.to_list()
        names = {"template": template.tolist(), "trigger": trigger.tolist()}
        return pl.DataFrame(names, schema=dict.fromkeys(names, pl.String))

    def _fits(self, match: _Match, hypotheses: Index) -> npt.NDArray[np.bool_]:
        """Whether the hypothesis of each row of a match is made of the premise as its variant makes it."""
        copied = match.plan.grammar.variants[match.variant].copied
        wanted = self._tables[id(match.plan)].word[match.tokens[:, copied]]
        fits = (hypotheses[match.rows, : len(copied)] == wanted).all(axis=1)
        return np.asarray(fits & (hypotheses[match.rows, len(copied) :] == _BLANK).all(axis=1), dtype=np.bool_)

    def _matrix(self, sentences: pl.Series) -> Index:
        """Sentences as rows of word numbers, blank at the end; several words that fill one slot are one."""
        spaced = " " + sentences.fill_null("").str.to_lowercase().str.replace_all(r"\s*([,.])", " $1") + " "
        merged = spaced.str.replace_all(r"\s+", " ").str.replace_many(
            list(self._several), list(self._several.values()), leftmost=True
        )
        words = merged.str.strip_chars().str.split(" ")
        # No template is so long; a document among the sentences must not widen the matrix for all.
        words = words.list.head(self._longest + 1)
        lengths = words.list.len().cast(pl.Int64).to_numpy()
        flat = pl.DataFrame({"row": np.arange(len(words)), "word": words}).explode("word")
        numbers = flat["word"].replace_strict(self._numbers, default=_UNKNOWN, return_dtype=pl.Int64).to_numpy()
        matrix = np.full((len(words), int(lengths.max(initial=0)) + 1), _BLANK, dtype=np.int64)
        starts = np.cumsum(lengths) - lengths
        matrix[flat["row"].to_numpy(), np.arange(len(numbers)) - np.repeat(starts, lengths)] = numbers
        return matrix

    def _matches(self, sentences: Index) -> Iterator[_Match]:
        lengths = (sentences != _BLANK).sum(axis=1)
        of_length = {int(length): np.flatnonzero(lengths == length) for length in np.unique(lengths)}
        for plan_ in self._plans:
            grammar, table = plan_.grammar, self._tables[id(plan_)]
            for number, variant in enumerate(grammar.variants):
                rows = of_length.get(len(variant.premise), np.zeros(0, dtype=np.int64))
                for place, name in enumerate(variant.premise):
                    if not rows.size:
                        break
                    rows = rows[table.token(grammar, name)[sentences[rows, place]] >= 0]
                if rows.size:
                    columns = [table.token(grammar, name)[sentences[rows, j]] for j, name in enumerate(variant.premise)]
                    blank = np.zeros((len(rows), grammar.width - len(columns)), dtype=np.int64)
                    yield _Match(plan_, number, rows, np.column_stack([*columns, blank]))

    def _slots(self, grammar: Grammar) -> _Table:
        word = np.array([self._numbers.get(word.text.replace(" ", "_"), _BLANK) for word in grammar.tokens.words])
        return _Table(word, len(self._numbers) + 2, {})


@dataclass(frozen=True)
class _Table:
    """The word number of each token, and for each slot the token that a word is in it."""

    word: Index
    words: int
    slots: dict[int, Index]

    def token(self, grammar: Grammar, name: str) -> Index:
        """For every word number its token in the slot of this name, -1 when it does not fit there."""
        start = grammar.tokens.start(name)
        if start not in self.slots:
            tokens = np.full(self.words, -1, dtype=np.int64)
            numbers = np.arange(start, start + len(grammar.tokens.choices(name)))
            tokens[self.word[numbers]] = numbers
            self.slots[start] = tokens
        return self.slots[start]


@cache
def recogniser() -> Recogniser:
    """The one recogniser; it takes a moment to build."""
    return Recogniser()


def _every_word() -> Vocabulary:
    packaged = [vocabulary(name) for name in PACKAGED]
    names = dict.fromkeys(name for words in packaged for name in words.lists)
    return Vocabulary("+".join(PACKAGED), {name: _once(words.lists[name] for words in packaged) for name in names})


def _once(lists: Iterator[Sequence[Word]]) -> tuple[Word, ...]:
    return tuple({word.text: word for words in lists for word in words}.values())
