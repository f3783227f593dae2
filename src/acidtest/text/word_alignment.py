"""Which words of a hypothesis have a counterpart in the premise, and how WordNet relates the two."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import numpy as np
import polars as pl

from acidtest.core.errors import AcidtestError
from acidtest.io.wordlists import packaged_table
from acidtest.text import heuristics
from acidtest.text.misspelling import function_words
from acidtest.text.tokens import Numbers, number_distinct
from acidtest.text.word_relations import Antonyms, Meanings, Similar
from acidtest.text.wordnet import wordnet

ALIGNMENTS = ("same", "synonym", "hyponym", "antonym", "co-hyponym", "none")
"""What a word of the premise is to one of the hypothesis, the best first."""

_TELLING = ("inside", "outside", "near", "behind", "above", "below")
"""Prepositions that say something of their own."""
_CLITIC = r"['’](?:s|m|d|ll|re|ve)$"
_NEGATED = r"n['’]t$"
_OVERLAPPING = r"^(?:noun\.(?:person|group)|verb\..*)$"
"""Fields whose co-hyponyms may hold of one thing: a *woman* is a *runner*, who *walks* may *talk*."""
_NOTHING = -1
"""The neighbour of a word where the sentence begins or ends."""
_BLOCK = 1e8
"""Pairs of characters, one in the premise and one in the hypothesis, that one block may hold."""
_FOUND = ("row", "part", "place", "premise_word", "relation")


def aligned_words(
    premises: pl.Series,
    hypotheses: pl.Series,
    *,
    edges: int = 3,
    similar: Similar | None = None,
    antonyms: Antonyms = "indirect",
) -> pl.DataFrame:
    """The best counterpart in the premise of every different content word of each hypothesis.

    Columns: ``row`` (number of the pair), ``word`` and ``premise_word`` in lower case, and ``relation``, one of
    ``ALIGNMENTS``. *same*: forms of one word; otherwise what ``word_relations`` finds for ``edges``, ``similar`` and
    ``antonyms``, also for expressions of two words (*dining room*). Antonyms and co-hyponyms count only if the
    hypothesis does not have the premise's word too, co-hyponyms only if they exclude one another: they stand between
    the same content words, or their most frequent senses are co-hyponyms in one field other than people, groups and
    verbs. *none* has an empty ``premise_word``. Rows stand in the order of the hypotheses.
    """
    if len(premises) != len(hypotheses):
        raise AcidtestError(f"{len(premises):,} premises and {len(hypotheses):,} hypotheses cannot be aligned")
    here, there = premises.cast(pl.String), hypotheses.cast(pl.String)
    # Every word of one sentence is compared with every word of the other: long ones take much room.
    room = (here.str.len_chars().cast(pl.Float64) * there.str.len_chars()).fill_null(0).cum_sum() // _BLOCK
    starts = [0, *(room.diff() > 0).arg_true(), len(premises)]
    parts = [
        _align_block(here[start:end], there[start:end], edges=edges, similar=similar, antonyms=antonyms).with_columns(
            pl.col("row") + start
        )
        for start, end in pairwise(starts)
    ]
    return pl.concat(parts)


def _align_block(
    premises: pl.Series, hypotheses: pl.Series, *, edges: int, similar: Similar | None, antonyms: Antonyms
) -> pl.DataFrame:
    units = _Units.of(pl.concat([premises, hypotheses]), len(premises))
    meanings = Meanings.of(units.words)
    same = units.same()
    pairs = units.others(same)
    here, there = pairs["premise_word"].to_numpy(), pairs["word"].to_numpy()
    pairs = pairs.with_columns(meanings.relations(here, there, edges=0, similar=similar, antonyms=antonyms))
    entailing = pl.col("relation").is_in(["synonym", "hyponym"])
    opposed = (pl.col("relation") == "antonym") & ~pl.col("used")
    exclusive = _exclusive(pairs.filter(~pl.col("used"), pl.col("relation") == "none"), meanings, edges=edges)
    counterparts = [frame.select(_FOUND) for frame in (same, pairs.filter(entailing | opposed), exclusive)]
    return units.best(pl.concat([frame.with_columns(pl.col("relation").cast(pl.String)) for frame in counterparts]))


@dataclass(frozen=True)
class _Units:
    """The content words of premises and hypotheses, and expressions of two of them, as numbers of ``words``."""

    words: pl.Series
    forms: pl.DataFrame
    """What each word may be a form of: columns word and base."""
    premise: pl.DataFrame
    """Columns row, place, premise_word, premise_before and premise_after (neighbours)."""
    hypothesis: pl.DataFrame
    """Columns row, part (a content word), word (it, or an expression it is in), before and after (neighbours)."""

    @classmethod
    def of(cls, texts: pl.Series, premises: int) -> _Units:
        """The units of premises and then hypotheses."""
        lists = heuristics.words(texts)
        text = np.repeat(np.arange(len(texts)), lists.list.len().fill_null(0).to_numpy())
        written, token = number_distinct(lists.explode(empty_as_null=False, keep_nulls=False))
        words, number = number_distinct(written.str.replace(_CLITIC, ""))
        word = number[token]
        place = np.flatnonzero(_is_content(words).to_numpy()[word])
        bases = wordnet().base_form_frame(words).select("word", "base").unique(maintain_order=True)
        single = _single_words(place, text[place], word[place], stems=_stems(words, bases))
        units, words = _with_expressions(single, words, bases)
        units = units.with_columns(row=pl.col("text") % max(premises, 1))
        premise = units.filter(pl.col("text") < premises).unique(["row", "word"], keep="first", maintain_order=True)
        hypothesis = units.filter(pl.col("text") >= premises)
        hypothesis = hypothesis.unique(["row", "part", "word"], keep="first", maintain_order=True)
        return cls(
            words,
            _numbered_forms(words, bases),
            premise.select("row", "place", premise_word="word", premise_before="before", premise_after="after"),
            hypothesis.select("row", "part", "word", "before", "after"),
        )

    def same(self) -> pl.DataFrame:
        """Words of premise and hypothesis that are forms of one word; columns ``_FOUND``."""
        here = self.premise.join(self.forms, left_on="premise_word", right_on="word")
        there = self.hypothesis.join(self.forms, on="word")
        return there.join(here, on=["row", "base"]).with_columns(relation=pl.lit("same")).select(_FOUND)

    def others(self, same: pl.DataFrame) -> pl.DataFrame:
        """Every word of a hypothesis that is in no form in the premise beside every word of the premise.

        The column used says whether the premise's word is in the hypothesis in some form.
        """
        used = same.select("row", "premise_word", used=True).unique()
        here = self.premise.join(used, on=["row", "premise_word"], how="left")
        there = self.hypothesis.join(same, on=["row", "part"], how="anti")
        return there.join(here.with_columns(pl.col("used").fill_null(False)), on="row")

    def best(self, counterparts: pl.DataFrame) -> pl.DataFrame:
        """The best of the counterparts found for each word of a hypothesis, the first in the premise if several are."""
        counterparts = counterparts.with_columns(pl.col("relation").cast(pl.Enum(ALIGNMENTS))).sort("relation", "place")
        counterparts = counterparts.unique(["row", "part"], keep="first", maintain_order=True)
        parts = self.hypothesis.select("row", "part").unique(maintain_order=True)
        answer = parts.join(counterparts, on=["row", "part"], how="left", maintain_order="left")
        return answer.select(
            "row",
            self.words.gather(answer["part"]).alias("word"),
            self.words.gather(answer["premise_word"]).str.replace_all("_", " ").fill_null("").alias("premise_word"),
            pl.col("relation").fill_null("none"),
        )


def _exclusive(pairs: pl.DataFrame, meanings: Meanings, *, edges: int) -> pl.DataFrame:
    """The pairs whose words are co-hyponyms that exclude one another."""
    fields = _fields(meanings)
    field = fields.gather(pairs["word"]).alias("field")
    pairs = pairs.with_columns(field, one_field=field == fields.gather(pairs["premise_word"]))
    beside = (pl.col("before") == pl.col("premise_before")) & (pl.col("after") == pl.col("premise_after"))
    apart = ~beside & pl.col("one_field") & ~pl.col("field").str.contains(_OVERLAPPING)
    parts = []
    for some, known in ((pairs.filter(beside), meanings), (pairs.filter(apart), meanings.frequent(1))):
        here, there = some["premise_word"].to_numpy(), some["word"].to_numpy()
        parts.append(some.with_columns(known.relations(here, there, edges=edges)))
    return pl.concat(parts).filter(pl.col("relation") == "co-hyponym")


def _fields(meanings: Meanings) -> pl.Series:
    """The lexicographer file of each word's most frequent sense; null for a word that WordNet does not have."""
    senses = meanings.table.sort("count", descending=True, maintain_order=True)
    senses = senses.unique("number", keep="first", maintain_order=True)
    file = wordnet().synset_table["lexfile"].gather(senses["synset"])
    names = packaged_table("wordnet/lexfiles.tsv")["name"].gather(file)
    known = senses.select("number", names.alias("field"))
    every = pl.DataFrame({"number": pl.int_range(meanings.size, dtype=pl.UInt32, eager=True)})
    return every.join(known, on="number", how="left", maintain_order="left")["field"]


def _is_content(words: pl.Series) -> pl.Series:
    """Whether each word is no function word."""
    functional = function_words()["word"]
    functional = functional.filter(~functional.is_in(_TELLING))
    return ~words.is_in(functional.implode()) & ~words.str.contains(_NEGATED)


def _stems(words: pl.Series, bases: pl.DataFrame) -> Numbers:
    """A number for each word, the same for most forms of one word: that of its shortest base form."""
    shortest = bases.group_by("word").agg(pl.col("base").sort_by(pl.col("base").str.len_chars(), "base").first())
    stems = words.to_frame("word").join(shortest, on="word", how="left", maintain_order="left")
    return number_distinct(stems.select(pl.coalesce("base", "word")).to_series())[1]


def _single_words(place: Numbers, text: Numbers, word: Numbers, *, stems: Numbers) -> pl.DataFrame:
    """Words as units: columns place, text, word, part (the word itself), before and after (stems of neighbours)."""
    stem = stems[word]
    last = np.diff(text, append=_NOTHING) != 0
    before = np.where(np.roll(last, 1), _NOTHING, np.roll(stem, 1))
    after = np.where(last, _NOTHING, np.roll(stem, -1))
    columns = {"place": place, "text": text, "word": word, "part": word, "before": before, "after": after}
    return pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.Int64))


def _with_expressions(single: pl.DataFrame, words: pl.Series, bases: pl.DataFrame) -> tuple[pl.DataFrame, pl.Series]:
    """Units with the expressions that two words in a row make, a row for each part; and all words with those."""
    following = single.select("text", second="word", end="after", place=pl.col("place") - 1)
    pairs = single.drop("part", "after").join(following, on=["text", "place"])
    distinct = pairs.select("word", "second").unique(maintain_order=True)
    written = distinct.with_columns(first=words.gather(distinct["word"]), inflected=words.gather(distinct["second"]))
    matches = written.join(bases, left_on="inflected", right_on="word").join(
        _two_word_lemmas(), left_on=["first", "base"], right_on=["first", "last"]
    )
    matches = matches.sort("word", "second", "expression").unique(["word", "second"], keep="first", maintain_order=True)
    expressions, number = number_distinct(matches["expression"])
    matches = matches.select("word", "second", number=pl.Series(number + len(words)))
    pairs = pairs.join(matches, on=["word", "second"])
    parts = [
        pairs.select("place", "text", "before", after="end", word="number", part=part) for part in ("word", "second")
    ]
    units = pl.concat([single, *(rows.select(single.columns) for rows in parts)])
    return units.sort("place", maintain_order=True), pl.concat([words, expressions])


def _numbered_forms(words: pl.Series, bases: pl.DataFrame) -> pl.DataFrame:
    """Every word as a form of itself and of its base forms: columns word and base, as numbers."""
    number = pl.DataFrame({"word": words, "number": np.arange(len(words))})
    forms = pl.concat([bases, number.select("word", base="word")]).unique(maintain_order=True)
    forms = forms.with_columns(base=pl.Series(number_distinct(forms["base"])[1]))
    return forms.join(number, on="word").select("base", word="number")


@cache
def _two_word_lemmas() -> pl.DataFrame:
    """WordNet's expressions of two words: columns first, last and expression."""
    lemmas = wordnet().lemma_names
    lemmas = lemmas.filter(lemmas.str.count_matches("_", literal=True) == 1)
    parts = lemmas.str.split("_")
    return pl.DataFrame({"first": parts.list.first(), "last": parts.list.last(), "expression": lemmas})
