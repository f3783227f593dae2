"""Pairs of words to swap between premise and hypothesis: antonyms and hypernyms of WordNet, or those of a file.

A table of pairs has a row for each order: ``premise_lemma``, ``hypothesis_lemma``, ``pos`` (n, v, a, r, or empty for
words that WordNet does not have: these are sought as they are written), ``relation`` (what the premise's word is to the
hypothesis's) and ``sure``: WordNet has the relation, and of hypernyms readers are sure to mean it by these words.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Literal

import polars as pl

from acidtest.core.errors import FileError
from acidtest.core.files import read_bytes
from acidtest.io.wordlists import packaged_table
from acidtest.text.wordnet import SATELLITE, wordnet

Relation = Literal["antonym", "hypernym"]

_TEXTS = ("premise_lemma", "hypothesis_lemma", "pos", "relation")
SCHEMA = pl.Schema(dict.fromkeys(_TEXTS, pl.String) | {"sure": pl.Boolean})

_OPPOSITE = {"antonym": "antonym", "hyponym": "hypernym"}
_TRUE, _FALSE = ("true", "1", "yes"), ("false", "0", "no")
_CONCRETE = ("noun.animal", "noun.artifact", "noun.food", "noun.person", "noun.plant")
_AUXILIARIES = ["be", "have", "do"]
_HEADS = ("word", "word1", "w1", "hyponym", "antonym1", "first")


@cache
def wordnet_pairs(relation: Relation) -> pl.DataFrame:
    """The single words that WordNet says are antonyms, or hyponym and hypernym, in both orders.

    Antonyms that seldom oppose anything (``data/typology/no_antonyms.tsv``) and auxiliaries are left out. Hypernyms are
    nouns, at any depth, in the first sense of both; what stands at the top of WordNet (*entity*, *unit*) or is a
    hypernym in name only (*girl* of *woman*) is left out (``data/swaps/no_hypernyms.tsv``), and what readers take for
    the same (*guy* and *man*) is not sure (``data/swaps/unsure_hypernyms.tsv``).
    """
    return _antonyms() if relation == "antonym" else _hypernyms()


def file_pairs(path: str | Path, relation: Relation) -> pl.DataFrame:
    """The pairs of a file in both orders: two words a line, with white space, a comma or a tab between them.

    A third column tells which are pairs at all (*True*), as in Baroni et al. (2012); in a file of hypernyms the
    narrower word goes first. Inflected words stand for their base forms, of the same part of speech.
    """
    rows = [_words(line) for line in _text(Path(path)).splitlines()]
    filled = [(number, words) for number, words in enumerate(rows, start=1) if words]
    if filled and filled[0][1][0].lower() in _HEADS:
        filled = filled[1:]
    kept = []
    for number, words in filled:
        told = words[2].lower() if len(words) == 3 else "true"
        lettered = all(re.search(r"[^\W\d_]", word) for word in words)
        if len(words) not in (2, 3) or not lettered or told not in (*_TRUE, *_FALSE):
            raise FileError(path, f"{' '.join(words)!r} is no pair of words, nor one with True or False", number)
        if told in _TRUE:
            kept.append((words[0].lower(), words[1].lower()))
    if not kept:
        lacks = "marks no pair of words as True" if filled else "has no pairs of words"
        raise FileError(path, f"{lacks}; write two words a line")
    first, second = (pl.Series(column, dtype=pl.String) for column in zip(*kept, strict=True))
    return _both_orders(_with_bases(first, second), relation)


def _text(path: Path) -> str:
    content = read_bytes(path)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise FileError(path, "is no text in UTF-8; save it as such", line) from error


def _words(line: str) -> list[str]:
    separator = "\t" if "\t" in line else "," if "," in line else None
    return [word.strip() for word in line.strip().split(separator) if word.strip()]


def _with_bases(first: pl.Series, second: pl.Series) -> pl.DataFrame:
    """The pairs in every part of speech that both words have, else as they are: first, second, pos."""
    bases = wordnet().base_form_frame(pl.concat([first, second]).unique())
    pairs = pl.DataFrame({"first": first, "second": second}).unique(maintain_order=True).with_row_index("row")
    here = pairs.join(bases.select(first="word", pos="pos", one="base"), on="first")
    both = here.join(bases.select(second="word", pos="pos", two="base"), on=["second", "pos"])
    # A word that is a base form itself is no form of another: "left" may be one of "leave", but not in "left right".
    both = both.filter(~_is_form_of_another("one", "first"), ~_is_form_of_another("two", "second"))
    known = both.select("row", first="one", second="two", pos=pl.col("pos").cast(pl.String))
    other = pairs.join(known, on="row", how="anti").select("row", "first", "second", pos=pl.lit(""))
    found = pl.concat([known, other]).sort("row", "pos", "first", "second").drop("row")
    return found.filter(pl.col("first") != pl.col("second")).unique(maintain_order=True)


def _is_form_of_another(base: str, word: str) -> pl.Expr:
    itself = (pl.col(base) == pl.col(word)).any().over("row", "pos", word)
    return (pl.col(base) != pl.col(word)) & itself


def _both_orders(pairs: pl.DataFrame, relation: Relation) -> pl.DataFrame:
    """Pairs first, second and pos in both orders; the first is an antonym or a hyponym of the second."""
    name = "antonym" if relation == "antonym" else "hyponym"
    there = pairs.select(premise_lemma="first", hypothesis_lemma="second", pos="pos", relation=pl.lit(name))
    back = pairs.select(premise_lemma="second", hypothesis_lemma="first", pos="pos", relation=pl.lit(_OPPOSITE[name]))
    both = pl.concat([there, back]).unique(["premise_lemma", "hypothesis_lemma", "pos"], keep="first")
    keys = list(both.columns)
    known = wordnet_pairs(relation).filter("sure").select(*keys, "sure").unique()
    found = both.join(known, on=keys, how="left").with_columns(pl.col("sure").fill_null(value=False))
    return found.sort(keys).cast(SCHEMA)


def _antonyms() -> pl.DataFrame:
    net = wordnet()
    senses = net.relation("antonyms")
    synsets = net.sense_table["synset"].gather(senses["source"])
    rows = pl.DataFrame(
        {
            "first": net.words_of(senses["source"]).str.to_lowercase(),
            "second": net.words_of(senses["target"]).str.to_lowercase(),
            "pos": net.synset_table["pos"].gather(synsets).cast(pl.String).replace(SATELLITE, "a"),
        }
    )
    single = ~pl.col("first").str.contains("_") & ~pl.col("second").str.contains("_")
    plain = ~pl.col("first").is_in(_AUXILIARIES) & ~pl.col("second").is_in(_AUXILIARIES)
    rows = rows.filter(single, plain, pl.col("first") != pl.col("second")).unique()
    left = packaged_table("typology/no_antonyms.tsv")
    for first, second in (("word", "antonym"), ("antonym", "word")):
        rows = rows.join(left.select(first=first, second=second), on=["first", "second"], how="anti")
    found = rows.select(premise_lemma="first", hypothesis_lemma="second", pos="pos", relation=pl.lit("antonym"))
    return found.with_columns(sure=pl.lit(value=True)).sort("premise_lemma", "hypothesis_lemma", "pos")


def _hypernyms() -> pl.DataFrame:
    # Words go by their numbers: there are more than a hundred thousand pairs, and strings would take a lot of room.
    words = _first_senses().with_row_index("number")
    numbers = words.select("word", "number")
    pairs = _above(words).join(words.select(second="number", at="synset"), on="at").select("first", "second")
    left = packaged_table("swaps/no_hypernyms.tsv")
    anything = left.filter(pl.col("word") == "*").select(word="hypernym").join(numbers, on="word")["number"]
    pairs = pairs.filter(~pl.col("second").is_in(anything.implode()), pl.col("first") != pl.col("second")).unique()
    pairs = pairs.join(_numbered(left, numbers), on=["first", "second"], how="anti")
    # Two words may each lie above the other in a circle of synonyms; such a pair has no direction.
    pairs = pairs.join(pairs.select(first="second", second="first"), on=["first", "second"], how="anti")
    unsure = packaged_table("swaps/unsure_hypernyms.tsv")
    doubted = words.filter(~pl.col("sure") | pl.col("word").is_in(unsure.filter(hypernym="*")["word"].implode()))
    doubts = _numbered(unsure, numbers).with_columns(named=pl.lit(value=True))
    pairs = pairs.join(doubts, on=["first", "second"], how="left").with_columns(
        sure=pl.col("named").is_null() & ~pl.col("first").is_in(doubted["number"].implode())
    )
    orders = [("first", "second", "hyponym"), ("second", "first", "hypernym")]
    return pl.concat(
        pl.DataFrame(
            {
                "premise_lemma": words["word"].gather(pairs[premise]),
                "hypothesis_lemma": words["word"].gather(pairs[hypothesis]),
                "pos": pl.repeat("n", pairs.height, eager=True),
                "relation": pl.repeat(relation, pairs.height, eager=True),
                "sure": pairs["sure"],
            },
            schema=SCHEMA,
        )
        for premise, hypothesis, relation in orders
    ).sort("premise_lemma", "hypothesis_lemma")


def _numbered(listed: pl.DataFrame, numbers: pl.DataFrame) -> pl.DataFrame:
    """A list's pairs of word and hypernym by their numbers: first and second."""
    found = listed.join(numbers.rename({"number": "first"}), on="word")
    return (
        found.join(numbers.select(hypernym="word", second="number"), on="hypernym").select("first", "second").unique()
    )


def _first_senses() -> pl.DataFrame:
    """Nouns with their first synset, and whether little else is meant by them: word, synset and sure.

    Sure is a concrete noun of which nine in ten uses in SemCor (without any: all senses) are of the kind of its first
    sense; that names no one by what he does, as *runner* does: the person who is running is one.
    """
    net = wordnet()
    senses = net.sense_table.with_row_index("sense").with_columns(
        word=net.words_of(pl.int_range(net.sense_table.height, eager=True)),
        pos=net.synset_table["pos"].gather(net.sense_table["synset"]),
        kind=net.synset_table["lexfile"].gather(net.sense_table["synset"]),
    )
    nouns = senses.filter(pl.col("pos") == "n", pl.col("word").str.contains(r"^\p{Ll}+[^s\P{Ll}]$|ss$")).sort(
        "word", "rank"
    )
    # Looked up before grouping: within groups Polars would copy all deeds for each word, 1.5 GB of them.
    nouns = nouns.with_columns(does=pl.col("sense").is_in(_deeds(senses).implode()))
    kinds = packaged_table("wordnet/lexfiles.tsv")["name"].to_list()
    own = pl.col("kind") == pl.col("kind").first()
    shares = nouns.group_by("word", maintain_order=True).agg(
        pl.col("synset").filter(pl.col("rank") == 0).first(),
        first=pl.col("kind").first(),
        share=pl.col("count").filter(own).sum() / pl.col("count").sum(),
        alone=own.all(),
        does=pl.col("does").any(),
        animal=(pl.col("kind") == kinds.index("noun.animal")).any() & (pl.col("count").sum() < 10),
    )
    concrete = [kinds.index(name) for name in _CONCRETE]
    usual = pl.when(pl.col("share").is_nan()).then("alone").otherwise(pl.col("share") >= 0.9)
    # A whale is first of all a very large person to WordNet.
    odd = (pl.col("first") == kinds.index("noun.person")) & (pl.col("does") | pl.col("animal"))
    found = shares.drop_nulls("synset").with_columns(sure=usual & pl.col("first").is_in(concrete) & ~odd)
    # "Cows" is an entry of its own, but a form of another.
    forms = net.base_form_frame(found["word"], "n").filter(pl.col("word") != pl.col("base"))
    return found.select("word", "synset", "sure").join(forms.select("word"), on="word", how="anti")


def _deeds(senses: pl.DataFrame) -> pl.Series:
    """The senses of nouns made from a verb: *runner*, but not *doctor*, which only serves as one."""
    told = senses.select("sense", "word", "pos")
    links = wordnet().relation("derivations").join(told.rename({"word": "noun"}), left_on="source", right_on="sense")
    links = links.join(told.select("sense", verb="word", verbal="pos"), left_on="target", right_on="sense")
    longer = (pl.col("noun").str.len_chars() >= pl.col("verb").str.len_chars()) & (pl.col("noun") != pl.col("verb"))
    return links.filter(pl.col("pos") == "n", pl.col("verbal") == "v", longer)["source"].unique()


def _above(words: pl.DataFrame) -> pl.DataFrame:
    """Every synset above the synset of each word: first, the word's number, and at."""
    steps = wordnet().relation("hypernyms").select(at="source", up="target")
    level, found = words.select(first="number", at="synset"), list[pl.DataFrame]()
    while level.height:
        level = level.join(steps, on="at").select("first", at="up").unique()
        found.append(level)
    return pl.concat(found).unique()


def pairs_from(path: str, relation: Relation) -> pl.DataFrame:
    """The pairs of a file, or WordNet's where no file is named."""
    return file_pairs(path, relation) if path else wordnet_pairs(relation)
