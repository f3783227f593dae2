"""Relations between words, or expressions of several words, in WordNet, in any of their senses and parts of speech.

Glockner et al. (2018), section 4.1, classify a replaced word by these relations, but do not say which senses count or
which of several relations takes precedence. Here all senses count, and relations are tried in a fixed order, with
co-hyponyms last because nearly any two common words are co-hyponyms in a rare sense. ``benchmarks/wordnet_readings.py``
compares the readings with the accuracies that the paper gives by category.

Antonyms across two sentences are words whose base forms are antonyms in WordNet in any sense and part of speech, such
as *hated* and *loves*.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from acidtest.english.tokens import number_distinct
from acidtest.english.wordnet import ALL_POS, SATELLITE, wordnet
from acidtest.io.wordlists import packaged_table
from acidtest.pairs import heuristics

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    Sets = csr_array[np.bool_, tuple[int, int]]
    """One set of synsets or senses per row: the columns that are true in it."""

Similar = Literal["synonym", "co-hyponym"]
"""The relation assigned to adjectives that WordNet calls similar."""
Antonyms = Literal["direct", "indirect"]
First = Literal["antonym", "hyponym"]
"""Which order of ``ORDERS`` is used: the most specific relation first, or the one that fits the paper's table 4."""
Numbers = NDArray[np.int64]
Flags = NDArray[np.bool_]

NONE = "none"
RELATIONS = ("antonym", "synonym", "hyponym", "hypernym", "co-hyponym", NONE)
"""Relations of the premise's word to the hypothesis's."""
ORDERS: dict[First, tuple[str, ...]] = {
    "antonym": ("antonym", "synonym", "hyponym", "hypernym", "co-hyponym"),
    "hyponym": ("hyponym", "hypernym", "synonym", "antonym", "co-hyponym"),
}
"""The order in which relations are tried."""

_BLOCK = 1 << 17
"""Number of pairs compared at once, to limit memory."""
_PAIRS_TOGETHER = 1 << 16
_PAIR_COLUMNS: dict[str, pl.DataType | type[pl.DataType]] = {
    "row": pl.UInt32,
    **dict.fromkeys(("premise_word", "hypothesis_word", "premise_lemma", "hypothesis_lemma"), pl.String),
    "pos": ALL_POS,
    "opposed": pl.Boolean,
}


def word_relations(
    premise_words: pl.Series,
    hypothesis_words: pl.Series,
    *,
    edges: int = 3,
    similar: Similar | None = None,
    antonyms: Antonyms = "indirect",
    first: First = "antonym",
) -> pl.Series:
    """The relation of each premise word to the hypothesis word in the same row: one of ``RELATIONS``.

    *antonym*: WordNet opposes two senses of the words; ``indirect`` antonyms also through synonyms (*close*, *far*) and
    through the adjectives they are similar to (*small*, *huge*). *synonym*: they share a synset. *hyponym*: the
    premise's word lies below the hypothesis's, at any depth; *hypernym*: above it. *co-hyponym*: an ancestor is at most
    ``edges`` edges above each; with 0 there are none. An instance lies below what it is an instance of.

    ``similar`` as ``synonym``: an adjective and its satellite are synonyms; as ``co-hyponym``: they and two satellites
    of one adjective (*first*, *16th*) are co-hyponyms; else that relation counts for antonyms only. ``first`` names the
    order in which relations are tried (``ORDERS``). Words may be inflected and several (*living rooms*). What WordNet
    does not have, and null, is related to nothing.
    """
    both = pl.concat([premise_words.cast(pl.String), hypothesis_words.cast(pl.String)]).fill_null("")
    words, numbers = number_distinct(both)
    here, there = numbers[: len(premise_words)], numbers[len(premise_words) :]
    return Meanings.of(words).relations(here, there, edges=edges, similar=similar, antonyms=antonyms, first=first)


def expression_senses(words: pl.Series) -> pl.DataFrame:
    """The senses of words and expressions in any form: columns word, sense, synset, rank and count.

    An expression may end in an inflected word (*living rooms*) or begin with an inflected verb (*turned on*). One that
    WordNet does not have as written is looked up with all hyphens as spaces, all spaces as hyphens, and as one word
    (*far away*); the first of these that WordNet has counts.
    """
    words = words.drop_nulls().unique(maintain_order=True).alias("word")
    written = pl.DataFrame({"word": words, "form": words.str.strip_chars().str.replace_all(r"\s+", "_")})
    several = written.filter(pl.col("form").str.contains(r"[_\-]"))
    spellings = [several.with_columns(pl.col("form").str.replace_all(r"[_\-]", mark)) for mark in ("_", "-", "")]
    readings = (pl.concat([written, _phrasal_verbs(several)]), *spellings)
    attempts = pl.concat([forms.with_columns(attempt=number) for number, forms in enumerate(readings)])
    senses = attempts.join(wordnet().sense_frame(attempts["form"]), left_on="form", right_on="word")
    best = pl.col("attempt") == pl.col("attempt").min().over("word")
    senses = senses.filter(best).select("word", "sense", "synset", "rank", "count").unique()
    place = pl.DataFrame({"word": words}).with_row_index("place")
    return senses.join(place, on="word").sort("place", "sense").drop("place")


def _phrasal_verbs(expressions: pl.DataFrame) -> pl.DataFrame:
    """Expressions with every base form their first word may have as a verb; columns word and form."""
    parts = pl.col("form").str.splitn("_", 2).struct.rename_fields(["first", "rest"])
    split = expressions.with_columns(parts).unnest("form").drop_nulls()
    bases = wordnet().base_form_frame(split["first"], "v").select("base", first="word")
    return split.join(bases, on="first").select("word", form=pl.concat_str("base", "rest", separator="_"))


@dataclass(frozen=True)
class Meanings:
    """The WordNet senses of words, from which the relations between them are computed."""

    table: pl.DataFrame
    """A row for each sense: columns number (of the word), sense, synset, rank and count."""
    size: int
    """How many words there are."""

    @classmethod
    def of(cls, words: pl.Series) -> Meanings:
        """The meanings of ``words``, which must be distinct."""
        numbers = pl.DataFrame({"word": words}).with_row_index("number")
        return cls(expression_senses(words).join(numbers, on="word").drop("word"), len(words))

    def frequent(self, ranks: int) -> Meanings:
        """The same words with only the ``ranks`` most frequent senses of each lemma in each part of speech."""
        return replace(self, table=self.table.filter(pl.col("rank") < ranks))

    def relations(
        self,
        premise_words: Numbers,
        hypothesis_words: Numbers,
        *,
        edges: int,
        similar: Similar | None = None,
        antonyms: Antonyms = "indirect",
        first: First = "antonym",
    ) -> pl.Series:
        """``word_relations`` for words given by their numbers."""
        pairs, place = np.unique(premise_words * self.size + hypothesis_words, return_inverse=True)
        here, there = np.divmod(pairs, max(self.size, 1))
        codes = np.full(len(pairs), RELATIONS.index(NONE))
        todo = np.flatnonzero(self.known[here] & self.known[there])
        tests = list(self._tests(edges, similar=similar, antonyms=antonyms))
        for relation, left, right in sorted(tests, key=lambda test: ORDERS[first].index(test[0])):
            meet = _meet(left, here[todo], right, there[todo])
            codes[todo[meet]] = RELATIONS.index(relation)
            todo = todo[~meet]
        return pl.Series("relation", RELATIONS, dtype=pl.Enum(RELATIONS)).gather(codes[place])

    @cached_property
    def known(self) -> Flags:
        """Which words WordNet has."""
        return np.asarray(np.diff(self.synsets.indptr) > 0)

    @cached_property
    def synsets(self) -> Sets:
        return self._sets("synset", wordnet().synset_table.height)

    @cached_property
    def senses(self) -> Sets:
        return self._sets("sense", wordnet().sense_table.height)

    def _sets(self, column: str, things: int) -> Sets:
        return sparse_sets(self.table["number"].to_numpy(), self.table[column].to_numpy(), (self.size, things))

    @cached_property
    def cluster(self) -> Sets:
        """The synsets of each word and those similar to them."""
        return self.synsets + self.similar

    @cached_property
    def similar(self) -> Sets:
        return self.synsets @ _targets("similar")

    @cached_property
    def above(self) -> Sets:
        return self.synsets @ _ancestors()

    def near(self, edges: int) -> Sets:
        """The ancestors of each word's synsets at most ``edges`` edges away."""
        return self.synsets @ _ancestors(edges)

    def _tests(self, edges: int, *, similar: Similar | None, antonyms: Antonyms) -> Iterator[tuple[str, Sets, Sets]]:
        """Relations with sets ``left`` and ``right``: one holds if left of the first word meets right of the second."""
        if antonyms == "direct":
            yield "antonym", self.senses @ _targets("antonyms", of_synsets=False), self.senses
        else:
            yield "antonym", self.cluster @ _targets("antonyms"), self.cluster
        yield "synonym", self.synsets, self.synsets
        if similar == "synonym":
            yield "synonym", self.synsets, self.similar
        yield "hyponym", self.above, self.synsets
        yield "hypernym", self.synsets, self.above
        if edges > 0:
            near = self.near(edges)
            yield "co-hyponym", near, near
        if similar == "co-hyponym":
            yield "co-hyponym", self.cluster, self.cluster


def _meet(left: Sets, first: Numbers, right: Sets, second: Numbers) -> Flags:
    """Whether rows ``first[i]`` of ``left`` and ``second[i]`` of ``right`` have an element in common."""
    meet = (np.diff(left.indptr) > 0)[first] & (np.diff(right.indptr) > 0)[second]
    candidates = np.flatnonzero(meet)
    for start in range(0, len(candidates), _BLOCK):
        block = candidates[start : start + _BLOCK]
        meet[block] = np.diff((left[first[block]] * right[second[block]]).tocsr().indptr) > 0
    return meet


def sparse_sets(rows: NDArray[np.integer], columns: NDArray[np.integer], shape: tuple[int, int]) -> Sets:
    """A table that is true at these rows and columns."""
    from scipy.sparse import coo_array

    return coo_array((np.ones(len(rows), dtype=np.bool_), (rows, columns)), shape=shape).tocsr()


@cache
def _targets(relation: str, *, of_synsets: bool = True) -> Sets:
    """The targets of each synset in a relation (of each sense if not ``of_synsets``); antonyms hold between senses."""
    net = wordnet()
    source, target = net.relation(relation)
    if relation == "antonyms" and of_synsets:
        source, target = (net.sense_table["synset"].gather(senses) for senses in (source, target))
    size = net.synset_table.height if of_synsets else net.sense_table.height
    return sparse_sets(source.to_numpy(), target.to_numpy(), (size, size))


@cache
def _ancestors(edges: int | None = None) -> Sets:
    """The ancestors of each synset at most ``edges`` edges away; None means any distance."""
    parents = _targets("hypernyms") + _targets("instance_hypernyms")
    ancestors, step = parents, 1
    while step != edges:
        further, step = ancestors + ancestors @ parents, step + 1
        if further.nnz == ancestors.nnz:
            break
        ancestors = further
    return ancestors


def antonym_pairs(premises: pl.Series, hypotheses: pl.Series) -> pl.DataFrame:
    """Every antonym pair of WordNet with one word in the premise and the other in the hypothesis.

    Columns: ``row`` (number of the sentence pair), ``premise_word`` and ``hypothesis_word`` in lower case,
    ``premise_lemma``, ``hypothesis_lemma`` and ``pos`` (n, v, a or r: a row for each reading in which they are
    antonyms), and ``opposed``: neither word is in both sentences in any form, so that the two sentences contrast. Rows
    are in the order of the sentences. Pairs that are seldom opposites, such as the prepositions *on* and *off*, are
    left out (``data/typology/no_antonyms.tsv``).
    """
    parts = [pl.DataFrame(schema=_PAIR_COLUMNS)]
    # In blocks, so that a training set needs little more memory than its sentences.
    for start in range(0, len(premises), _PAIRS_TOGETHER):
        sides = (_distinct_words(texts.slice(start, _PAIRS_TOGETHER), start) for texts in (premises, hypotheses))
        parts.append(_pairs_of_words(*sides))
    return pl.concat(parts)


def opposed_words(premises: pl.Series, hypotheses: pl.Series) -> pl.Series:
    """The ``opposed`` antonyms of each sentence pair, the premise's word first: lists such as ``["love/hate"]``."""
    pairs = antonym_pairs(premises, hypotheses).filter("opposed")
    pair = pl.concat_str("premise_word", "hypothesis_word", separator="/").alias("opposed_words")
    lists = pairs.group_by("row", maintain_order=True).agg(pair.unique(maintain_order=True))
    rows = pl.DataFrame({"row": pl.int_range(len(premises), dtype=pl.UInt32, eager=True)})
    joined = rows.join(lists, on="row", how="left", maintain_order="left")["opposed_words"]
    return joined.fill_null(pl.Series([[]], dtype=pl.List(pl.String)))


def _distinct_words(sentences: pl.Series, start: int) -> pl.DataFrame:
    rows = pl.int_range(start, start + len(sentences), dtype=pl.UInt32, eager=True)
    frame = pl.DataFrame({"row": rows, "word": heuristics.words(sentences).list.unique(maintain_order=True)})
    return frame.explode("word", empty_as_null=False, keep_nulls=False)


def _pairs_of_words(premise: pl.DataFrame, hypothesis: pl.DataFrame) -> pl.DataFrame:
    every_word = pl.concat([premise["word"], hypothesis["word"]]).unique(maintain_order=True)
    forms = wordnet().antonym_frame(every_word)
    forms = forms.select(
        "word", "base", pl.col("antonym").str.to_lowercase(), pos=pl.col("pos").replace(SATELLITE, "a")
    ).unique(maintain_order=True)
    first = forms.select("pos", premise_word="word", premise_lemma="base", hypothesis_lemma="antonym")
    second = forms.select("pos", hypothesis_word="word", hypothesis_lemma="base", premise_lemma="antonym")
    lemmas = ["premise_lemma", "hypothesis_lemma"]
    known = first.join(second, on=[*lemmas, "pos"], maintain_order="left_right")
    unreliable = packaged_table("typology/no_antonyms.tsv").select("word", "antonym")
    for order in (lemmas, lemmas[::-1]):
        known = known.join(unreliable, left_on=order, right_on=["word", "antonym"], how="anti", maintain_order="left")
    here = premise.rename({"word": "premise_word"}).join(known, on="premise_word", maintain_order="left_right")
    there = hypothesis.rename({"word": "hypothesis_word"})
    pairs = here.join(there, on=["row", "hypothesis_word"], how="semi", maintain_order="left")
    apart = _is_absent(pairs, "premise", hypothesis, forms) & _is_absent(pairs, "hypothesis", premise, forms)
    return pairs.with_columns(opposed=apart).select(pl.col(name).cast(kind) for name, kind in _PAIR_COLUMNS.items())


def _is_absent(pairs: pl.DataFrame, side: str, others: pl.DataFrame, forms: pl.DataFrame) -> pl.Series:
    """Whether the other sentence has no form of this side's word, not even as part of *open-air*."""
    lemmas = pairs.select("row", base=f"{side}_lemma")
    parts = others.filter(pl.col("word").str.contains("-", literal=True)).with_columns(pl.col("word").str.split("-"))
    others = pl.concat([others, parts.explode("word", empty_as_null=False)])
    there = others.join(forms.select("word", "base").unique(), on="word").select("row", "base", there=True).unique()
    return lemmas.join(there, on=["row", "base"], how="left", maintain_order="left")["there"].is_null()
