"""Compiles the templates of HANS, published and our own, and recognises them in sentences and pairs.

The words that HANS templates are filled with: two packaged vocabularies, and a user's own in a TSV file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from itertools import combinations
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl

from acidtest.core.errors import AcidtestError, FileError, UnknownNameError, list_some
from acidtest.core.logs import log
from acidtest.english.templates import (
    HOLE,
    FilledTemplates,
    Grammar,
    Index,
    Lexicon,
    Phrase,
    Template,
    TemplateVariant,
    Word,
)
from acidtest.english.trees import Tree, trees
from acidtest.io.tables import FileTable, read_table
from acidtest.io.wordlists import packaged_table

PACKAGED = ("fresh", "published")
COLUMNS = ("list", "word", "lemma", "parse", "excludes")

APART = (
    ("factive_verb", "nonfactive_verb"),
    ("factive_adverb", "nonfactive_adverb"),
    ("conditional", "subordinator"),
    ("conditional", "subordinator_or_open"),
    ("conditional_or_open", "subordinator"),
    ("np_z_verb", "np_z_plural_verb"),
    ("pays_person", "leaves_place", "wins_prize", "reads_text", "eats_food"),
)
"""Lists that may not share a word."""

_PLAIN = re.compile(r"[a-z][a-z'’-]*(?: [a-z][a-z'’-]*)*")
_TAG = re.compile(r"[A-Z]+\$?")


@dataclass(frozen=True)
class HansVocabulary:
    """Word lists by name; ``source`` is the fingerprint of a user's file. Equal names and sources have equal lists."""

    name: str
    lists: Mapping[str, tuple[Word, ...]] = field(compare=False)
    source: str = ""


def vocabulary(words: str, *, faithful: bool = False) -> HansVocabulary:
    """``fresh`` or ``published``, or the vocabulary in a TSV file.

    A user's file needs the columns list and word; lemma, parse and excludes are optional. Lists it does not have are
    those of ``fresh``. ``faithful`` keeps words that only the published file has, such as a second *town*.
    """
    if words in PACKAGED:
        return _packaged(words, faithful)
    path = Path(words)
    if not path.is_file():
        raise AcidtestError(
            f"no vocabulary is called {words!r}, and there is no such file; "
            f"give {' or '.join(PACKAGED)}, or a TSV file with the columns list and word"
        )
    table = read_table(path)
    lists = _check_lists(table)
    fresh = _packaged("fresh", False).lists
    absent = [name for name in _base_lists() if name not in lists]
    if absent:
        log.info("%s: lists taken from the fresh vocabulary: %s", path, list_some(absent, 40))
    # A word without lemma takes its lemma from another list, so that no premise contains it twice.
    every = (word for words in (*fresh.values(), *lists.values()) for word in words)
    lemmas = {word.text: word.lemma for word in every if word.lemma}
    lists = {
        name: tuple(replace(word, lemma=word.lemma or lemmas.get(word.text, "")) for word in words)
        for name, words in lists.items()
    }
    return HansVocabulary(path.name, {**fresh, **lists}, table.fingerprint)


@cache
def _packaged(name: str, faithful: bool) -> HansVocabulary:
    tables = [packaged_table(f"hans/words_{part}.tsv") for part in (name, "novel")]
    table = pl.concat(tables).filter((pl.col("only") == "") | faithful)
    return HansVocabulary(name, _lists(table))


def _lists(table: pl.DataFrame) -> dict[str, tuple[Word, ...]]:
    tags = dict(packaged_table("hans/lists.tsv").select("list", "tag").iter_rows())
    lists: dict[str, list[Word]] = {}
    for name, text, lemma, parse, excludes in table.select(COLUMNS).iter_rows():
        others = frozenset(part.strip() for part in excludes.split(",") if part.strip())
        lists.setdefault(name, []).append(Word(text, parse or tags[name], lemma, others))
    return {name: tuple(words) for name, words in lists.items()}


@cache
def _base_lists() -> dict[str, int]:
    """The lists that a vocabulary may define, and the least number of words in each."""
    facts = packaged_table("hans/lists.tsv").select("list", "least").iter_rows()
    fresh_lists = set(packaged_table("hans/words_fresh.tsv")["list"])
    return {name: int(least) for name, least in facts if name in fresh_lists}


def _check_lists(table: FileTable) -> dict[str, tuple[Word, ...]]:
    """The lists of a user's file; raises an error with the line and the problem if it is not valid."""
    frame = table.frame
    missing = [f"no column {name!r}" for name in ("list", "word") if name not in frame.columns]
    unknown = [f"the column {name!r}" for name in frame.columns if name not in (*COLUMNS, "only")]
    if missing or unknown:
        raise FileError(table.path, f"has {[*missing, *unknown][0]}; a vocabulary has {', '.join(COLUMNS)}")
    frame = frame.select(
        (pl.col(name) if name in frame.columns else pl.lit("", dtype=pl.String)).fill_null("").alias(name)
        for name in COLUMNS
    ).with_columns(pl.all().cast(pl.String).str.strip_chars())
    for row, fields in enumerate(frame.iter_rows(named=True)):
        for problem in _row_problems(fields):
            raise FileError(table.path, problem, table.line(row))
    for row in frame.select(pl.struct("list", "word").is_duplicated()).to_series().arg_true():
        fields = frame.row(row, named=True)
        raise FileError(table.path, f"{fields['word']!r} stands twice in {fields['list']!r}", table.line(row))
    if frame.is_empty():
        raise FileError(table.path, "has no words; a vocabulary has a list and a word on every line")
    lists = _lists(frame)
    for problem in _list_problems(lists):
        raise FileError(table.path, problem)
    return lists


def _row_problems(fields: Mapping[str, str]) -> Iterator[str]:
    """The problems of a single row."""
    name, word, parse = fields["list"], fields["word"], fields["parse"]
    known = packaged_table("hans/lists.tsv")["list"].to_list()
    if name not in known:
        yield str(UnknownNameError("word list", name, known))
        return
    if not _PLAIN.fullmatch(word):
        yield f"word {word!r} is not one or more words in small letters with one space between them"
    why = _unfit_words().get((name, word))
    if why:
        yield f"{word!r} does not fit {name!r}: it {why}; the gold label would be wrong"
    if "(" in parse:
        yield from _bracket_problems(word, parse)
    elif parse and not _TAG.fullmatch(parse):
        example = "(NN ice) (NN cream)"
        yield f"parse {parse!r} of {word!r} is neither a part of speech such as NN nor brackets such as {example}"
    elif " " in word:
        yield (
            f"{word!r} is several words, so it needs its brackets in column 'parse', such as (NN ice) (NN cream); "
            f"an asterisk stands for what follows: (IN across) (PP (IN from) *)"
        )


def _bracket_problems(word: str, parse: str) -> Iterator[str]:
    try:
        parts = trees(parse)
    except ValueError as error:
        yield f"parse of {word!r}: {error}"
        return
    leaves = [leaf for part in parts for leaf in (part.leaves if isinstance(part, Tree) else [part])]
    if [leaf for leaf in leaves if leaf != HOLE] != word.split() or leaves.count(HOLE) > 1:
        yield f"parse {parse!r} does not hold the words of {word!r} in their order"


def _list_problems(lists: Mapping[str, tuple[Word, ...]]) -> Iterator[str]:
    """The problems of whole lists: too few words, words in two lists, singulars without plurals."""
    fresh = _packaged("fresh", False).lists
    for name, words in lists.items():
        least = _base_lists().get(name, 1)
        if len(words) < least:
            yield f"list {name!r} has {len(words)} words, but needs at least {least}"
    for first, second in (pair for names in APART for pair in combinations(names, 2) if {*pair} & lists.keys()):
        both = set.intersection(*({word.text for word in lists.get(name, fresh[name])} for name in (first, second)))
        if both:
            yield f"{min(both)!r} stands in {first!r} and in {second!r}; a pair would come twice, or with both labels"
    singular = {word.text for word in lists.get("noun_singular", ())}
    plural = {word.lemma for word in lists.get("noun_plural", ())}
    if "" in plural:
        yield "a plural in noun_plural has no singular; write it into column 'lemma'"
    elif singular != plural:
        yield (
            f"noun_singular and the lemmas of noun_plural differ: {list_some(sorted(singular ^ plural))}; "
            f"write the singular of every plural into column 'lemma'"
        )
    active, passive = ({word.text for word in lists.get(name, ())} for name in ("transitive", "passive"))
    if bool(active) != bool(passive):
        yield "transitive and passive go together: give both lists or neither"
    elif not passive <= active:
        yield f"passive has verbs that transitive does not have: {list_some(sorted(passive - active))}"


@cache
def _unfit_words() -> dict[tuple[str, str], str]:
    """Words that would make a label wrong: (list, word) → why."""
    rows = packaged_table("hans/unfit_words.tsv").iter_rows()
    return {(name, word): why for lists, words, why in rows for name in lists.split() for word in words.split()}


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
