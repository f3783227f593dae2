"""The words that HANS templates are filled with: two packaged vocabularies, and a user's own in a TSV file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import combinations
from pathlib import Path

import polars as pl

from acidtest.core.errors import AcidtestError, FileError, UnknownNameError, list_some
from acidtest.core.logs import log
from acidtest.english.rendering import HOLE
from acidtest.english.templates import Word
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
