"""Compiles the templates of HANS, published and our own, and recognises them in sentences and pairs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from typing import Any, Literal

import numpy as np
import polars as pl

from acidtest.core.errors import AcidtestError
from acidtest.english.templates import FilledTemplates, Grammar, Index, Lexicon, Phrase, Template, TemplateVariant
from acidtest.io.wordlists import packaged_table
from acidtest.pairs.hans_vocabulary import PACKAGED, HansVocabulary, vocabulary

Templates = Literal["published", "novel"]
_FILES = {"published": "hans/templates.tsv", "novel": "hans/templates_novel.tsv"}

_BLANK, _UNKNOWN = 0, 1


@dataclass(frozen=True)
class TemplatePlan:
    """Templates with the grammar that fills them; ``facts`` has one row per template."""

    facts: pl.DataFrame
    grammar: Grammar
    subcases: tuple[str, ...]
    subcase: Index

    def variants(self, number: int) -> Index:
        """The variants of one subcase."""
        return np.flatnonzero(self.subcase == number)


def compile_templates(templates: Templates, words: HansVocabulary | str, *, faithful: bool = False) -> TemplatePlan:
    """The templates compiled against a vocabulary; ``faithful`` keeps the quirks of the published file."""
    chosen = vocabulary(words, faithful=faithful) if isinstance(words, str) else words
    return _compile(templates, chosen, faithful)


@lru_cache(maxsize=8)
def _compile(templates: Templates, words: HansVocabulary, faithful: bool) -> TemplatePlan:
    facts = packaged_table(_FILES[templates])
    lexicon = _lexicon(words, faithful)
    hypothesis = "faithful_hypothesis" if faithful else "hypothesis"
    read = [
        Template(
            premise=row["premise"],
            hypothesis=row[hypothesis] or row["hypothesis"],
            # A number, or the name of a slot: then the number of its words.
            weight=float(len(lexicon.words.get(row["weight"], ())) or row["weight"]),
            trigger=row["trigger"],
            unless_excluded=(*row["unless_excluded"].split(), "", "")[:2],
        )
        for row in facts.iter_rows(named=True)
    ]
    phrases: dict[str, list[Phrase]] = {}
    for name, weight, expansion in packaged_table("hans/phrases.tsv").iter_rows():
        phrases.setdefault(name, []).append(Phrase(expansion, float(weight)))
    grammar = Grammar(read, phrases, lexicon, spaced=faithful)
    for variant in grammar.variants:
        _require_heuristic(facts["heuristic"][variant.template], variant, facts["template"][variant.template])
    subcases = tuple(facts["subcase"].unique(maintain_order=True))
    subcase = np.array([subcases.index(name) for name in facts["subcase"]])[grammar.template]
    return TemplatePlan(facts, grammar, subcases, subcase)


def _require_heuristic(heuristic: str, variant: TemplateVariant, name: str) -> None:
    """Raise when a variant, and so every pair made from it, is not a case of its template's heuristic.

    Lexical overlap needs no check: templates can only build hypotheses from premise words.
    """
    premise, hypothesis = (_unpunctuated(side) for side in (variant.premise, variant.hypothesis))
    width = len(hypothesis)
    is_run = any(premise[start : start + width] == hypothesis for start in range(len(premise)))
    is_clause = any(_unpunctuated(part.leaves) == hypothesis for part in variant.premise_tree.clauses)
    actual = "constituent" if is_clause else "subsequence" if is_run else "lexical_overlap"
    if actual != heuristic:
        raise AcidtestError(f"template {name!r} stands for {heuristic}, but its hypothesis is a case of {actual}")


def _unpunctuated(names: Sequence[str]) -> list[str]:
    return [name.partition("/")[0] for name in names if name not in (",", ".")]


def _lexicon(words: HansVocabulary, faithful: bool) -> Lexicon:
    slots = packaged_table("hans/slots.tsv").iter_rows()
    lists = words.lists
    if faithful:
        # The published file keeps pairs with doubtful gold, where one verb may imply the other.
        lists = {name: tuple(replace(word, excludes=frozenset()) for word in lists[name]) for name in lists}
    return Lexicon(
        words={slot: [word for name in names.split() for word in lists[name]] for slot, names in slots},
        fixed=dict(packaged_table("hans/fixed_words.tsv").iter_rows()),
    )


@dataclass(frozen=True)
class _Match:
    """Rows that a variant of a plan could have generated, with the token numbers of their premises."""

    plan: TemplatePlan
    variant: int
    rows: Index
    tokens: Index


class Recogniser:
    """Finds the template behind a sentence or pair, among all templates filled with all packaged words."""

    def __init__(self) -> None:
        words = _every_word()
        sets: tuple[tuple[Templates, bool], ...] = (("published", False), ("published", True), ("novel", False))
        self._plans = [compile_templates(templates, words, faithful=faithful) for templates, faithful in sets]
        texts = sorted({word.text for plan_ in self._plans for word in plan_.grammar.tokens.words} - {""})
        self._numbers = {text.replace(" ", "_"): number for number, text in enumerate(texts, 2)}
        several = sorted((text for text in texts if " " in text), key=len, reverse=True)
        self._several = {f" {text} ": f" {text.replace(' ', '_')} " for text in several}
        self._longest = max(plan_.grammar.width for plan_ in self._plans)
        self._tables = {id(plan_): _Table.of(plan_.grammar, self._numbers) for plan_ in self._plans}

    def parses(self, sentences: pl.Series) -> pl.Series:
        """The parse of every sentence that some template generates as a premise, null for the others."""
        brackets, done = np.full(len(sentences), None, dtype=object), np.zeros(len(sentences), dtype=np.bool_)
        for match in self._matches(self._matrix(sentences)):
            new = ~done[match.rows]
            if new.any():
                rows = match.rows[new]
                filled = FilledTemplates(np.full(len(rows), match.variant), match.tokens[new])
                brackets[rows], done[rows] = match.plan.grammar.rendered(filled, "premise", "parse").to_list(), True
        return pl.Series("parse", brackets.tolist(), dtype=pl.String)

    def subcases(self, premises: pl.Series, hypotheses: pl.Series) -> pl.DataFrame:
        """The subcase and template that could have generated each pair, null where there is none."""
        subcase, template = (np.full(len(premises), None, dtype=object) for _ in range(2))
        for match, facts in self._pair_matches(premises, hypotheses):
            subcase[match.rows], template[match.rows] = facts["subcase"], facts["template"]
        names = {"subcase": subcase.tolist(), "template": template.tolist()}
        return pl.DataFrame(names, schema=dict.fromkeys(names, pl.String))

    def triggers(
        self, premises: pl.Series, hypotheses: pl.Series, *, subcases: pl.Series, templates: pl.Series | None = None
    ) -> pl.DataFrame:
        """The template of each pair of published HANS, and its trigger word, null where the template has none.

        ``subcases`` and ``templates`` are the file's columns; without ``templates`` each pair gets the one that could
        have generated it. A pair that no template of its subcase generates keeps its template and has no trigger.
        """
        subcase = subcases.fill_null("").to_numpy()
        given = np.full(len(premises), "") if templates is None else templates.fill_null("").to_numpy()
        template, trigger = given.astype(object), np.full(len(premises), None, dtype=object)
        template[given == ""] = None
        for match, facts in self._pair_matches(premises, hypotheses):
            fits = (subcase[match.rows] == facts["subcase"]) & np.isin(given[match.rows], ["", facts["template"]])
            rows, grammar = match.rows[fits], match.plan.grammar
            filled = FilledTemplates(np.full(len(rows), match.variant), match.tokens[fits])
            words = grammar.words_at(filled, np.full(len(rows), grammar.trigger[match.variant]))
            template[rows], trigger[rows] = facts["template"], words.to_list()
        names = {"template": template.tolist(), "trigger": trigger.tolist()}
        return pl.DataFrame(names, schema=dict.fromkeys(names, pl.String))

    def _pair_matches(self, premises: pl.Series, hypotheses: pl.Series) -> Iterator[tuple[_Match, dict[str, Any]]]:
        """The pairs that each variant could have generated, and the row of its template in ``facts``."""
        other = self._matrix(hypotheses)
        for match in self._matches(self._matrix(premises)):
            grammar = match.plan.grammar
            copied = grammar.variants[match.variant].copied
            wanted = self._tables[id(match.plan)].word[match.tokens[:, copied]]
            fits = (other[match.rows, : len(copied)] == wanted).all(axis=1)
            fits &= (other[match.rows, len(copied) :] == _BLANK).all(axis=1)
            facts = match.plan.facts.row(int(grammar.template[match.variant]), named=True)
            yield replace(match, rows=match.rows[fits], tokens=match.tokens[fits]), facts

    def _matrix(self, sentences: pl.Series) -> Index:
        """Sentences as rows of word numbers, padded with blanks; several words that fill one slot get one number."""
        spaced = " " + sentences.fill_null("").str.to_lowercase().str.replace_all(r"\s*([,.])", " $1") + " "
        merged = spaced.str.replace_all(r"\s+", " ").str.replace_many(
            list(self._several), list(self._several.values()), leftmost=True
        )
        words = merged.str.strip_chars().str.split(" ")
        # No template is longer than this, and one long text would widen the matrix for all rows.
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


@dataclass(frozen=True)
class _Table:
    """The word number of each token and, for each slot, the token of each word number."""

    word: Index
    words: int
    slots: dict[int, Index] = field(default_factory=dict)

    @classmethod
    def of(cls, grammar: Grammar, numbers: Mapping[str, int]) -> _Table:
        texts = (word.text.replace(" ", "_") for word in grammar.tokens.words)
        return cls(np.array([numbers.get(text, _BLANK) for text in texts]), len(numbers) + 2)

    def token(self, grammar: Grammar, name: str) -> Index:
        """For every word number its token in the slot of this name, -1 if the slot does not have the word."""
        start = grammar.tokens.start(name)
        if start not in self.slots:
            tokens = np.full(self.words, -1, dtype=np.int64)
            numbers = np.arange(start, start + len(grammar.tokens.choices(name)))
            tokens[self.word[numbers]] = numbers
            self.slots[start] = tokens
        return self.slots[start]


@cache
def recogniser() -> Recogniser:
    """The shared recogniser, built on first use because building it is slow."""
    return Recogniser()


def _every_word() -> HansVocabulary:
    packaged = [vocabulary(name) for name in PACKAGED]
    names = dict.fromkeys(name for words in packaged for name in words.lists)
    lists = {
        name: tuple({word.text: word for words in packaged for word in words.lists[name]}.values()) for name in names
    }
    return HansVocabulary("+".join(PACKAGED), lists)
