"""The words of a premise beside those of its hypothesis: which are replaced, and which correspond to each other."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise

import numpy as np
import polars as pl

from acidtest.english.misspelling import function_words
from acidtest.english.tokens import Flags, Numbers, number_distinct, tokenise
from acidtest.english.wordnet import Ranges, wordnet
from acidtest.io.wordlists import packaged_table
from acidtest.pairs import heuristics
from acidtest.pairs.tokens import CLITIC, require_pairs, word_stems
from acidtest.pairs.word_relations import Antonyms, Meanings, Similar, expression_senses, word_relations

DIFFERENCES = ("same", "replaced", "other")
"""How two sentences may differ."""

MOST_WORDS = 4
"""The most words on either side that still count as the replacement of one word or expression."""

# "Some" is no article here: the published file replaces it by "every".
_QUANTITY = r"^(?i:some)\s+"
_COMPLEMENT = r"\s+(?i:to|from|of)$"
_AFTER, _BEFORE = r"\s+(?i:in|on|at|by|with|for|into|onto)$", r"^(?i:in|on|at|by|with|for|into|onto|to|from|of)\s+"

ALIGNMENTS = ("same", "synonym", "hyponym", "antonym", "co-hyponym", "none")
"""How a word of the premise is related to one of the hypothesis, the best relation first."""

_TELLING = ("inside", "outside", "near", "behind", "above", "below")
"""Prepositions that count as content words."""
_NEGATED = r"n['’]t$"
_OVERLAPPING = r"^(?:noun\.(?:person|group)|verb\..*)$"
"""WordNet fields whose co-hyponyms can be true together: a *woman* may be a *runner*, and *walk* while she *talks*."""
_NOTHING = -1
"""The number of a missing neighbour, at the beginning or end of a sentence."""
_BLOCK = 1e8
"""Upper limit of a block's size: the sum over its pairs of premise length times hypothesis length, in characters."""
_COUNTERPART = ("row", "part", "place", "premise_word", "relation")


def replaced_words(premises: pl.Series, hypotheses: pl.Series) -> pl.DataFrame:
    """What each hypothesis replaces in its premise: columns premise_words, hypothesis_words and difference.

    The words that both sentences begin and end with are removed; case, punctuation and articles are ignored, and the
    parts of *four-wheeled* are separate words. The rest is ``replaced``, and returned as written, if it is one stretch
    of one to four words on each side and the sides share no word. Words at its ends that only adapt to the replacement
    are removed: other forms of one word (*one dog*, *two dogs*), *some*, and prepositions (*near*, *far from*) unless
    WordNet has the expression with them (*in love*); a final *to*, *from* or *of* is always removed. A word replaced
    by the same other word in several places counts as one stretch.

    The next or previous word is added where WordNet has both resulting expressions and does not relate the words
    alone: *living* and *dining* before *room* become *living room* and *dining room*, but *young* and *old* before
    *man* stay as they are. Both columns are empty where ``difference`` is ``same`` (nothing else differs) or ``other``
    (words are added, left out, or replaced in more than one stretch).
    """
    require_pairs(premises, hypotheses)
    tokens = _Tokens.of(pl.concat([premises.cast(pl.String), hypotheses.cast(pl.String)]))
    whole = tokens.differences()
    stretches = tokens.without_forms(tokens.once(whole))
    rows = np.flatnonzero(((stretches.lengths > 0) & (stretches.lengths <= MOST_WORDS)).all(axis=0))
    rows = rows[~tokens.share_words(stretches.of(rows))]
    words = tokens.compounds(stretches.of(rows)).with_columns(row=rows)
    difference = np.where((whole.lengths == 0).all(axis=0), DIFFERENCES.index("same"), DIFFERENCES.index("other"))
    difference[rows] = DIFFERENCES.index("replaced")
    kinds = pl.Series("difference", DIFFERENCES, dtype=pl.Enum(DIFFERENCES)).gather(difference)
    every = pl.DataFrame({"row": np.arange(len(premises))}).join(words, on="row", how="left", maintain_order="left")
    return every.select(pl.col("premise_words", "hypothesis_words").fill_null(""), kinds)


@dataclass(frozen=True)
class _Stretches:
    """One stretch of tokens in the premise and one in the hypothesis of each pair: row 0 premises, row 1 hypotheses."""

    starts: Numbers
    lengths: Numbers

    def of(self, pairs: Numbers) -> _Stretches:
        return _Stretches(self.starts[:, pairs], self.lengths[:, pairs])

    @property
    def ends(self) -> Numbers:
        """The last token of each stretch."""
        return self.starts + self.lengths - 1


@dataclass(frozen=True)
class _Tokens:
    """The words of premises and then of hypotheses, one after another, without articles and punctuation."""

    texts: pl.Series
    text: Numbers
    start: Numbers
    end: Numbers
    word: Numbers
    """Row in ``words``."""
    words: pl.Series
    """The different words in lower case."""

    @classmethod
    def of(cls, texts: pl.Series) -> _Tokens:
        """The words of texts; the parts of a hyphenated word are separate words."""
        # Replacing one character by one other keeps all offsets.
        columns = tokenise(texts.str.replace_all(r"[\-‐‑–/:]", " "))
        words, number = number_distinct(columns.words.str.to_lowercase())
        word = number[columns.word]
        counts = words.str.contains(r"[\p{L}\p{N}]") & ~words.str.contains(r"^(?:an?|the)$")
        kept = counts.to_numpy()[word]
        return cls(texts, columns.text[kept], columns.start[kept], columns.end[kept], word[kept], words)

    def differences(self) -> _Stretches:
        """The stretch from the first to the last token that differ, on each side."""
        sentences = Ranges.of_sorted(self.text, len(self.texts))
        starts = sentences.starts[:-1].reshape(2, -1)
        lengths = np.diff(sentences.starts).reshape(2, -1)
        before = self._alike(starts, lengths.min(axis=0), step=1)
        after = self._alike(starts + lengths - 1, lengths.min(axis=0) - before, step=-1)
        return _Stretches(starts + before, lengths - before - after)

    def _alike(self, starts: Numbers, most: Numbers, *, step: int) -> Numbers:
        """The number of equal tokens on both sides, counted from each start forwards (step 1) or backwards (-1)."""
        runs = Ranges.of_lengths(most)
        offset = np.arange(runs.starts[-1]) - np.repeat(runs.starts[:-1], most)
        here, there = (self.word[np.repeat(side, most) + step * offset] for side in starts)
        differs = np.append(np.flatnonzero(here != there), runs.starts[-1])
        return np.minimum(differs[np.searchsorted(differs, runs.starts[:-1])] - runs.starts[:-1], most)

    def once(self, stretches: _Stretches) -> _Stretches:
        """Stretches cut to their first token where every difference replaces the same word by the same other word."""
        length = np.where(stretches.lengths[0] == stretches.lengths[1], stretches.lengths[0], 0)
        runs = Ranges.of_lengths(length)
        offset = np.arange(runs.starts[-1]) - np.repeat(runs.starts[:-1], length)
        first = np.repeat(stretches.starts, length, axis=1)
        words, initial = self.word[first + offset], self.word[first]
        again = (words == initial).all(axis=0) | (words[0] == words[1])
        fails = np.bincount(np.repeat(np.arange(len(length)), length), weights=~again, minlength=len(length))
        return _Stretches(stretches.starts, np.where((length > 0) & (fails == 0), 1, stretches.lengths))

    def without_forms(self, stretches: _Stretches) -> _Stretches:
        """Stretches without end tokens that are forms of one word on both sides, unless each side is a single token."""
        for front in (False, True):
            rows = np.arange(stretches.lengths.shape[1])
            while len(rows):
                some = stretches.of(rows)
                rows = rows[(some.lengths > 0).all(axis=0) & (some.lengths > 1).any(axis=0)]
                some = stretches.of(rows)
                rows = rows[self._forms_of_one(*self.word[some.starts if front else some.ends])]
                shorter = np.bincount(rows, minlength=stretches.lengths.shape[1])
                stretches = _Stretches(stretches.starts + shorter * front, stretches.lengths - shorter)
        return stretches

    def _forms_of_one(self, here: Numbers, there: Numbers) -> Flags:
        """Whether ``here[i]`` and ``there[i]`` may be forms of one word."""
        pairs = pl.DataFrame({"word": here, "other": there}).with_row_index("pair")
        other = self._bases.rename({"word": "other"})
        matches = pairs.join(self._bases, on="word").join(other, on=["other", "base"], how="semi")
        same = here == there
        same[matches["pair"].to_numpy()] = True
        return np.asarray(same)

    @cached_property
    def _bases(self) -> pl.DataFrame:
        """The base forms of the words: columns word (row in ``words``) and base (text)."""
        bases = wordnet().base_form_frame(self.words).select("word", "base").unique()
        numbers = pl.DataFrame({"text": self.words, "number": np.arange(len(self.words))})
        return bases.join(numbers, left_on="word", right_on="text").select("base", word="number")

    def share_words(self, stretches: _Stretches) -> Flags:
        """Whether a word is on both sides of stretches of at most ``MOST_WORDS``."""
        place = np.arange(MOST_WORDS)
        inside = place < stretches.lengths[:, :, None]
        # Positions beyond a stretch get a different filler on each side, so that they never match.
        nothing = np.array([-1, -2])[:, None, None]
        token = np.where(inside, stretches.starts[:, :, None] + place, 0)
        here, there = np.where(inside, self.word[token], nothing)
        return np.asarray((here[:, :, None] == there[:, None, :]).any(axis=(1, 2)))

    def written(self, stretches: _Stretches) -> pl.DataFrame:
        texts = {}
        for name, first, last in zip(
            ("premise_words", "hypothesis_words"), stretches.starts, stretches.ends, strict=True
        ):
            start, length = pl.Series(self.start[first]), pl.Series(self.end[last] - self.start[first])
            texts[name] = self.texts.gather(self.text[first]).str.slice(start, length)
        return pl.DataFrame(texts)

    def compounds(self, stretches: _Stretches) -> pl.DataFrame:
        """The stretches as written, without *some* and prepositions at their ends.

        Words that WordNet does not relate get the word after or else before, if WordNet has both expressions then.
        """
        bare = pl.all().map_batches(_strip_function_words, return_dtype=pl.String)
        words = self.written(stretches).with_columns(bare)
        alone = (word_relations(words["premise_words"], words["hypothesis_words"]) == "none").to_numpy()
        for front in (True, False):
            longer = _Stretches(stretches.starts - front, stretches.lengths + 1)
            added, old = (longer.starts, longer.ends) if front else (longer.ends, longer.starts)
            within = (added >= 0) & (added < len(self.word))
            within &= self.text[np.where(within, added, old)] == self.text[old]
            rows = np.flatnonzero(alone & within.all(axis=0))
            written = self.written(longer.of(rows))
            both = written.select(pl.all_horizontal(pl.all().map_batches(_is_expression, return_dtype=pl.Boolean)))
            chosen = both.to_series().arg_true()
            words = pl.DataFrame(
                {name: words[name].scatter(rows[chosen], written[name][chosen]) for name in words.columns}
            )
        return words


def _strip_function_words(written: pl.Series) -> pl.Series:
    """Stretches without *some* and, unless WordNet has the expression with them, without prepositions."""
    core = written.str.replace(_QUANTITY, "").str.replace(_COMPLEMENT, "")
    trimmed = core.str.replace(_AFTER, "").str.replace(_BEFORE, "")
    return core.zip_with(_is_expression(core), trimmed)


def _is_expression(words: pl.Series) -> pl.Series:
    """Whether WordNet has each word or expression, in any inflected form."""
    return words.is_in(expression_senses(words)["word"].unique().implode())


def aligned_words(
    premises: pl.Series,
    hypotheses: pl.Series,
    *,
    edges: int = 3,
    similar: Similar | None = None,
    antonyms: Antonyms = "indirect",
) -> pl.DataFrame:
    """For each distinct content word of each hypothesis, the best counterpart in its premise.

    Columns: ``row`` (number of the pair), ``word`` and ``premise_word`` in lower case, and ``relation``, one of
    ``ALIGNMENTS``. *same*: forms of one word; otherwise the result of ``word_relations`` for ``edges``, ``similar`` and
    ``antonyms``, also for expressions of two words (*dining room*). Antonyms and co-hyponyms count only if the
    hypothesis does not also contain the premise's word; co-hyponyms only if they exclude one another: they stand
    between the same content words, or their most frequent senses are co-hyponyms in one WordNet field other than
    people, groups and verbs. *none* has an empty ``premise_word``. Rows are in the order of the hypotheses.
    """
    require_pairs(premises, hypotheses)
    here, there = premises.cast(pl.String), hypotheses.cast(pl.String)
    # Every word of one sentence is compared with every word of the other: long sentences need much memory.
    room = (here.str.len_chars().cast(pl.Float64) * there.str.len_chars()).fill_null(0).cum_sum() // _BLOCK
    starts = [0, *(room.diff() > 0).arg_true(), len(premises)]
    parts = []
    for start, end in pairwise(starts):
        part = _align_block(here[start:end], there[start:end], edges=edges, similar=similar, antonyms=antonyms)
        parts.append(part.with_columns(pl.col("row") + start))
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
    counterparts = [frame.select(_COUNTERPART) for frame in (same, pairs.filter(entailing | opposed), exclusive)]
    return units.best(pl.concat([frame.with_columns(pl.col("relation").cast(pl.String)) for frame in counterparts]))


@dataclass(frozen=True)
class _Units:
    """The content words of premises and hypotheses, and expressions of two of them, as numbers of ``words``."""

    words: pl.Series
    forms: pl.DataFrame
    """Each word with itself and its base forms: columns word and base, as numbers."""
    premise: pl.DataFrame
    """Columns row, place, premise_word, premise_before and premise_after (neighbours)."""
    hypothesis: pl.DataFrame
    """Columns row, part (a content word), word (the same word or an expression with it), before, after (neighbours)."""

    @classmethod
    def of(cls, texts: pl.Series, premises: int) -> _Units:
        lists = heuristics.words(texts)
        text = np.repeat(np.arange(len(texts)), lists.list.len().fill_null(0).to_numpy())
        written, token = number_distinct(lists.explode(empty_as_null=False, keep_nulls=False))
        words, number = number_distinct(written.str.replace(CLITIC, ""))
        word = number[token]
        functional = function_words().filter(~pl.col("word").is_in(_TELLING))["word"]
        is_content = ~words.is_in(functional.implode()) & ~words.str.contains(_NEGATED)
        place = np.flatnonzero(is_content.to_numpy()[word])
        bases = wordnet().base_form_frame(words).select("word", "base").unique(maintain_order=True)
        text, word = text[place], word[place]
        stem, last = word_stems(words, bases)[word], np.diff(text, append=_NOTHING) != 0
        before = np.where(np.roll(last, 1), _NOTHING, np.roll(stem, 1))
        after = np.where(last, _NOTHING, np.roll(stem, -1))
        columns = {"place": place, "text": text, "word": word, "part": word, "before": before, "after": after}
        single = pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.Int64))
        units, words = _with_expressions(single, words, bases)
        numbers = pl.DataFrame({"word": words, "number": np.arange(len(words))})
        forms = pl.concat([bases, numbers.select("word", base="word")]).unique(maintain_order=True)
        forms = forms.with_columns(base=pl.Series(number_distinct(forms["base"])[1]))
        units = units.with_columns(row=pl.col("text") % max(premises, 1))
        premise = units.filter(pl.col("text") < premises).unique(["row", "word"], keep="first", maintain_order=True)
        hypothesis = units.filter(pl.col("text") >= premises)
        hypothesis = hypothesis.unique(["row", "part", "word"], keep="first", maintain_order=True)
        return cls(
            words,
            forms.join(numbers, on="word").select("base", word="number"),
            premise.select("row", "place", premise_word="word", premise_before="before", premise_after="after"),
            hypothesis.select("row", "part", "word", "before", "after"),
        )

    def same(self) -> pl.DataFrame:
        """Words of premise and hypothesis that are forms of one word; columns ``_COUNTERPART``."""
        here = self.premise.join(self.forms, left_on="premise_word", right_on="word")
        there = self.hypothesis.join(self.forms, on="word")
        return there.join(here, on=["row", "base"]).with_columns(relation=pl.lit("same")).select(_COUNTERPART)

    def others(self, same: pl.DataFrame) -> pl.DataFrame:
        """Each hypothesis word that the premise has in no form, paired with every word of the premise.

        The column ``used`` says whether the hypothesis contains the premise's word in some form.
        """
        used = same.select("row", "premise_word", used=True).unique()
        here = self.premise.join(used, on=["row", "premise_word"], how="left")
        there = self.hypothesis.join(same, on=["row", "part"], how="anti")
        return there.join(here.with_columns(pl.col("used").fill_null(False)), on="row")

    def best(self, counterparts: pl.DataFrame) -> pl.DataFrame:
        """The best counterpart of each hypothesis word; of equally good ones, the first in the premise."""
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


def _with_expressions(single: pl.DataFrame, words: pl.Series, bases: pl.DataFrame) -> tuple[pl.DataFrame, pl.Series]:
    """Units plus the two-word expressions, which have a row for each part; and the words plus these expressions.

    Columns of units: place, text, word, part (a word of it), before and after (stems of neighbours).
    """
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


@cache
def _two_word_lemmas() -> pl.DataFrame:
    """WordNet's expressions of two words: columns first, last and expression."""
    lemmas = wordnet().two_word_lemmas
    parts = lemmas.str.split("_")
    return pl.DataFrame({"first": parts.list.first(), "last": parts.list.last(), "expression": lemmas})
