"""How much of a claim its document has: words, names, numbers; and what the claim alone suggests.

These are the shallow features that verifiers are compared with. None of them reads: a document that says the opposite
of a claim has all its words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

import polars as pl

from acidtest.english.misspelling import function_words
from acidtest.english.wordnet import wordnet
from acidtest.io.wordlists import packaged_table
from acidtest.pairs.cues import numbers_in, overlap
from acidtest.pairs.heuristics import words

_CAPITALISED = r"(?:[A-ZÀ-Þ][\w&'’.-]*[\w&]|[A-ZÀ-Þ])"
_NAME = re.compile(rf"{_CAPITALISED}(?: (?:(?:of|of the|&|de|van|von|al) |d['’])?{_CAPITALISED})*")
_POSSESSIVE = re.compile(r"['’]s?$")
_SENTENCE_START = re.compile(r"(?:^|[.!?:][\"”’)]* +)[\"“‘(]*$")
_SCALED = re.compile(r"(\d[\d,]*(?:\.\d+)?) (thousand|million|billion)\b", re.IGNORECASE)
_SCALES = {"thousand": 1e3, "million": 1e6, "billion": 1e9}
_CALENDAR = re.compile(
    r"January|February|March|April|May|June|July|August|September|October|November|December"
    r"|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|I"
)


def word_share(documents: pl.Series, claims: pl.Series) -> pl.Series:
    """The share of a claim's content words that the document has in any form; 1 for a claim without any."""
    return overlap(words(documents), words(claims)).fill_null(1.0)


def name_share(documents: pl.Series, claims: pl.Series) -> pl.Series:
    """The share of a claim's names that the document has as they are written; 1 for a claim without names."""
    return _share(
        [name in document for name in names_in(claim)]
        for document, claim in zip(documents.to_list(), claims.to_list(), strict=True)
    )


def number_share(documents: pl.Series, claims: pl.Series) -> pl.Series:
    """The share of a claim's numbers that the document has in figures or words; 1 for a claim without numbers.

    1,200 is *twelve hundred*, and $1.5 million is 1,500,000 dollars; but 24 months are not two years.
    """
    numbers = (numbers_in(_written_out(texts)).to_list() for texts in (documents, claims))
    return _share([number in known for number in asked] for known, asked in zip(*numbers, strict=True))


def claim_prior(claims: pl.Series) -> pl.Series:
    """How likely a claim is to be supported by its words alone: above one half with *some*, below it with *never*.

    The words and their weights are those of hypotheses in NLI data (``data/grounding/claim_words.tsv``), where they
    give the label away (Gururangan et al. 2018): it is no use to count them in the claims that are to be judged.
    """
    weights = packaged_table("grounding/claim_words.tsv").with_columns(pl.col("weight").cast(pl.Float64))
    rows = pl.DataFrame({"word": words(claims).list.unique()}).with_row_index("row")
    pairs = rows.explode("word").join(weights, on="word", how="left")
    sums = pairs.group_by("row").agg(pl.col("weight").sum()).sort("row")["weight"]
    return 1 / (1 + (-sums).exp())


def names_in(text: str) -> list[str]:
    """The names of a text: runs of words with capitals, without what only begins a sentence, and without dates."""
    names = []
    for match in _NAME.finditer(text):
        first, *rest = match[0].split(" ")
        starts = _SENTENCE_START.search(text[: match.start()]) is not None
        is_name = not (starts and (first.lower() in _function_words() if rest else _is_ordinary(first)))
        name = _POSSESSIVE.sub("", " ".join([first, *rest] if is_name else rest))
        if name and not _CALENDAR.fullmatch(name):
            names.append(name)
    return names


@cache
def _is_ordinary(word: str) -> bool:
    """Whether a word at the start of a sentence may have its capital for that reason alone."""
    if word.isupper():
        return len(word) == 1
    if word.lower() in _function_words():
        return True
    known = wordnet().synsets(word.lower())
    return word not in _listed_names() and any(not wordnet().instance_hypernyms(synset) for synset in known)


@cache
def _function_words() -> frozenset[str]:
    return frozenset(function_words().filter(pl.col("kind") != "interjection")["word"])


@cache
def _listed_names() -> frozenset[str]:
    return frozenset(
        name for kind in ("places", "organizations") for name in packaged_table(f"names/{kind}.tsv")["name"]
    )


def _written_out(texts: pl.Series) -> pl.Series:
    """Texts in which 1.5 million is 1500000."""

    def multiply(match: re.Match[str]) -> str:
        return f"{float(match[1].replace(',', '')) * _SCALES[match[2].lower()]:.15g}"

    return pl.Series([_SCALED.sub(multiply, text) for text in texts.to_list()], dtype=pl.String)


def _share(lists: Iterator[list[bool]]) -> pl.Series:
    return pl.Series([sum(flags) / len(flags) if flags else 1.0 for flags in lists], dtype=pl.Float64)
