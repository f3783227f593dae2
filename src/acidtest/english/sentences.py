"""A column of texts analysed once: tokens with offsets, tags, base forms, neighbours, clauses, polarity and doubts.

``Sentences`` has a table with a row for each token; a *place* is the number of such a row. ``find_occurrences`` finds
the places of word list items, and ``Neighbours`` describes the words around them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, reduce
from operator import or_
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from acidtest.english.inflection import tags_of_slot
from acidtest.english.tagging import tag_texts
from acidtest.english.tokens import tokens
from acidtest.english.wordnet import wordnet
from acidtest.io.wordlists import packaged_table

if TYPE_CHECKING:
    from acidtest.english.clauses import Clause

Places = NDArray[np.int64]

NOUNS = ("NN", "NNS", "NNP", "NNPS")
_NAMES = ("NNP", "NNPS")
_MODIFIERS = ("DT", "PDT", "PRP$", "CD", "JJ", "JJR", "JJS", "POS")
"""Tags of words between an item and the word that governs it: *playing* [*his old*] *guitar*."""
_NOUN_PHRASE = ("DT", "PRP$", "JJ", "CD", *NOUNS)
_ADVERB_OR_PREPOSITION = (
    "outside", "inside", "near", "above", "below", "behind", "up", "down", "around", "across", "over", "under", "by",
)  # fmt: skip
_MANY = ("these", "those", "many", "several", "few", "both", "various", "numerous")
_CONJUNCTIONS = ("and", "or", "nor", "&", "/", "plus")
_BE = ("is", "are", "was", "were", "'s", "'re", "be", "been", "being", "am")
_SENTENCE_START = ("", ".", "!", "?")
"""Tokens before the first word of a sentence; the empty one is before the first word of a text."""


@dataclass(frozen=True)
class Sentences:
    """A column of texts, tagged on first use."""

    texts: pl.Series
    tagger: str

    @classmethod
    def of(cls, texts: pl.Series, tagger: str = "auto") -> Sentences:
        """The sentences of a column of texts."""
        return cls(texts, tagger)

    @cached_property
    def frame(self) -> pl.DataFrame:
        """The tokens of all texts: columns text, start, end, token, tag and entity."""
        return tag_texts(self.texts, self.tagger)

    def clauses(self) -> list[Clause | str]:
        """For each text its single clause, or the reason why it is not one."""
        from acidtest.english.clauses import clauses

        return clauses(self.texts, self.tagger)

    def non_assertions(self) -> pl.Series:
        """For each text the reason why it is not an assertion, null where it is one."""
        from acidtest.english.clauses import non_assertions

        return non_assertions(self.texts, self.tagger)

    def polarity(self, starts: pl.Series) -> pl.DataFrame:
        """``monotone_places`` for the noun that begins at character ``starts[i]`` of text ``i``."""
        from acidtest.english.monotonicity import monotone_places

        return monotone_places(self, starts)

    def contexts(self, places: Places) -> pl.DataFrame:
        """``contexts`` of the words at these places: clause, governor, asserted, polarity, by, phrase and head."""
        from acidtest.english.contexts import contexts

        return contexts(self, places)

    def by_text(self, *columns: str) -> Iterator[tuple[Any, ...]]:
        """For each text with tokens: its number, and the given token columns as lists."""
        return self.frame.group_by("text", maintain_order=True).agg(*columns).iter_rows()

    @cached_property
    def lower(self) -> pl.Series:
        """The tokens in lower case."""
        return self.frame["token"].str.to_lowercase()

    @cached_property
    def base_forms(self) -> pl.DataFrame:
        """The lemmas that the distinct tokens, in lower case, may be forms of: columns word, pos and base."""
        return wordnet().base_form_frame(self.lower.unique())

    @cached_property
    def word_forms(self) -> pl.DataFrame:
        """``word_forms`` of the distinct tokens in lower case."""
        return _with_words(self.lower.unique(), self.base_forms)

    @cached_property
    def text(self) -> Places:
        """The row of the text that each token belongs to."""
        return self.frame["text"].to_numpy().astype(np.int64)

    @cached_property
    def sentence(self) -> Places:
        """The number of the sentence that each token belongs to, counted through all texts."""
        begins = np.diff(self.text, prepend=-1) != 0
        ends = self.lower.is_in([".", "!", "?"]).to_numpy()
        begins[1:] |= ends[:-1]
        numbers: Places = np.cumsum(begins)
        return numbers

    @cached_property
    def governors(self) -> Places:
        """For each token the nearest earlier place that is not a determiner, number or adjective; -1 without one."""
        outside = ~self.frame["tag"].is_in(_MODIFIERS).to_numpy()
        nearest = np.maximum.accumulate(np.where(outside, np.arange(len(outside)), -1))
        within = (nearest >= 0) & (self.text[nearest] == self.text)
        return np.concatenate(([-1], np.where(within, nearest, -1)))[:-1]

    def words(self, places: Places, *, of: Places) -> pl.Series:
        """The lower-case token at each place; empty where the place is not in text ``of``."""
        return self._padded_words[self._within(places, of)]

    def tags(self, places: Places, *, of: Places) -> pl.Series:
        """The tag at each place; empty where the place is not in text ``of``."""
        return self._padded_tags[self._within(places, of)]

    @cached_property
    def _padded_words(self) -> pl.Series:
        return self.lower.extend_constant("", 1)

    @cached_property
    def _padded_tags(self) -> pl.Series:
        return self.frame["tag"].extend_constant("", 1)

    def _within(self, places: Places, of: Places) -> Places:
        """The places, with the one after the last for those that are not in text ``of``."""
        inside = (places >= 0) & (places < len(self.text))
        inside &= self.text[np.where(inside, places, 0)] == of
        return np.where(inside, places, len(self.text))


@dataclass(frozen=True)
class TextTokens:
    """The tokens of one text with tags, places and kinds of names."""

    tokens: list[str]
    tags: list[str]
    starts: list[int]
    ends: list[int]
    entities: list[str | None]


_MOST_RECENT = 5_000
"""How many tagged texts are remembered, unless more are asked for at once."""
_RECENT: dict[tuple[str, str], TextTokens | None] = {}
_TAGGED_COLUMNS = ("token", "tag", "start", "end", "entity")


def tokens_by_text(texts: Sequence[str], tagger: str) -> Iterator[tuple[int, TextTokens]]:
    """The tokens of each text that has any, with its position; texts tagged shortly before are not tagged again."""
    new = [text for text in dict.fromkeys(texts) if (text, tagger) not in _RECENT]
    if len(_RECENT) + len(new) > _MOST_RECENT:
        _RECENT.clear()
        new = list(dict.fromkeys(texts))
    sentences = Sentences.of(pl.Series(new, dtype=pl.String), tagger)
    tagged = {new[row]: TextTokens(*columns) for row, *columns in sentences.by_text(*_TAGGED_COLUMNS)}
    _RECENT.update({(text, tagger): tagged.get(text) for text in new})
    known = [_RECENT[text, tagger] for text in texts]
    return ((number, tokens) for number, tokens in enumerate(known) if tokens is not None)


def find_occurrences(sentences: Sentences, surfaces: pl.DataFrame) -> pl.DataFrame:
    """Every stretch of tokens that equals one of the surfaces; of overlapping ones in a category, the longest.

    An item that fits two slots, as *silver* may be an adjective or a thing, has a row for each. ``surfaces`` has the
    columns category, item, slot, surface and cased (capitals must match). The result has text, first and last
    (places), category, item and slot.
    """
    keyed = _split_surfaces(surfaces)
    lower, written, texts = sentences.lower, sentences.frame["token"], sentences.frame["text"]
    parts = []
    for length in sorted(keyed["length"].unique()):
        candidates = keyed.filter(length=length)
        whole = (texts == texts.shift(1 - length)).fill_null(value=False)
        opens = lower.is_in(candidates["opener"].unique().implode())
        starts = pl.int_range(len(lower), eager=True).filter(whole & opens)
        stretches = {"first": starts.cast(pl.Int64), "key": _join_words(lower, starts, length)}
        stretches["written"] = _join_words(written, starts, length)
        parts.append(pl.DataFrame(stretches).join(candidates, on="key"))
    matches = pl.concat(parts).filter(~pl.col("cased") | (pl.col("written") == pl.col("surface")))
    matches = matches.with_columns(
        last=pl.col("first") + pl.col("length") - 1, text=pl.Series(sentences.text).gather(matches["first"])
    )
    spans = matches.select("category", "first", "last").unique().sort("category", "first", -pl.col("last"))
    covered = pl.col("last").cum_max().shift(1).over("category")
    longest = spans.filter(covered.is_null() | (pl.col("last") > covered))
    matches = matches.join(longest, on=["category", "first", "last"], how="semi")
    return matches.sort("category", "first", "slot").select("text", "first", "last", "category", "item", "slot")


def _split_surfaces(surfaces: pl.DataFrame) -> pl.DataFrame:
    """The surfaces tokenised like texts, with a lower-case key to join them by."""
    words = tokens(surfaces["surface"]).group_by("text", maintain_order=True).agg("token")["token"]
    lower = words.list.eval(pl.element().str.to_lowercase())
    return surfaces.with_columns(
        surface=words.list.join(" "), key=lower.list.join(" "), opener=lower.list.first(), length=words.list.len()
    )


def _join_words(words: pl.Series, starts: pl.Series, length: int) -> pl.Series:
    parts = [words.gather(starts + step).alias(str(step)) for step in range(length)]
    return pl.select(pl.concat_str(parts, separator=" ")).to_series()


def governing_words(sentences: Sentences, places: pl.DataFrame) -> pl.DataFrame:
    """The words that govern each occurrence, in every form that a table may list: columns ``row`` and ``before``.

    For *playing an old guitar* these are old, playing and play; for *next to a car* to and next_to; for *a glass of
    milk* of and glass_of.
    """
    text, first = places["text"].to_numpy(), places["first"].to_numpy()
    last = sentences.governors[first]
    here, one, two = (sentences.words(np.where(last >= 0, last - step, -1), of=text) for step in range(3))
    rows = pl.int_range(places.height, eager=True, dtype=pl.UInt32)
    governed = pl.DataFrame({"row": rows, "here": here, "one": one, "two": two}).filter(pl.col("here") != "")
    expressions = (("here", ("form",)), ("one", ("form", "here")), ("two", ("form", "one", "here")))
    inflected = [
        governed.join(sentences.word_forms, left_on=word, right_on="word").select(
            "row", before=pl.concat_str(*parts, separator="_")
        )
        for word, parts in expressions
    ]
    beside = pl.DataFrame({"row": rows, "before": sentences.words(first - 1, of=text)})
    return pl.concat([beside, *inflected]).unique()


def word_forms(words: pl.Series) -> pl.DataFrame:
    """Each word with itself and its possible base forms: columns word and form."""
    words = words.filter(words != "")
    return _with_words(words, wordnet().base_form_frame(words))


def _with_words(words: pl.Series, bases: pl.DataFrame) -> pl.DataFrame:
    return pl.concat([pl.DataFrame({"word": words, "form": words}), bases.select("word", form="base")]).unique()


class Neighbours:
    """Describes the words around occurrences, given as ``find_occurrences`` returns them."""

    def __init__(self, sentences: Sentences, places: pl.DataFrame) -> None:
        self._sentences = sentences
        self._text = places["text"].to_numpy()
        self._first, self._last = places["first"].to_numpy(), places["last"].to_numpy()
        self._slot = places["slot"]
        self._cased = places["item"].str.contains(r"^\p{Lu}")
        self.is_noun = self._slot.is_in(["singular", "plural", "mass", "only plural"])
        """Whether each occurrence is a common noun."""

    def word(self, step: int) -> pl.Series:
        """The word ``step`` places after an occurrence's last word or, if negative, before its first; 0: its first."""
        return self._sentences.words(self._last + step if step > 0 else self._first + step, of=self._text)

    def tag(self, step: int) -> pl.Series:
        """The tag of ``word(step)``."""
        return self._sentences.tags(self._last + step if step > 0 else self._first + step, of=self._text)

    def governor(self) -> Places:
        """The place of the word that governs each occurrence, -1 without one."""
        return np.take(self._sentences.governors, self._first)

    def governor_word(self) -> pl.Series:
        """The word that governs each occurrence."""
        return self._sentences.words(self.governor(), of=self._text)

    def head_noun(self) -> pl.Series:
        """The noun two words after an adjective, across another word: *child* for *young* in *young male child*."""
        across = (self._slot == "adjective") & self.tag(1).is_in(["JJ", *NOUNS]) & self.tag(2).is_in(NOUNS)
        return pl.select(pl.when(across).then(self.word(2)).otherwise(pl.lit(""))).to_series()

    def has_expected_tag(self) -> pl.Series:
        """Whether the tag of each occurrence fits its slot."""
        tag = self._sentences.tags(self._last, of=self._text)
        expected = [f"{slot}/{name}" for slot in self._slot.unique() for name in tags_of_slot(slot)]
        fits = (self._slot + "/" + tag).is_in(expected)
        opens = (self._opens() | self._cased) & tag.is_in(_NAMES)
        several = pl.Series(self._last > self._first) & self._slot.is_in(["preposition", "adverb", "adjective"])
        # "Outside" in "outside the door" is a preposition, but may be tagged as an adverb.
        bare = (self._slot == "preposition") & ~self.tag(1).is_in([*_NOUN_PHRASE, "PRP", "VBG"])
        ambiguous = (self._slot == "adverb") & self.word(0).is_in(_ADVERB_OR_PREPOSITION)
        governs = ambiguous & self.tag(1).is_in(_NOUN_PHRASE)
        return (fits | opens | several) & ~governs & ~bare & ~self._has_another_number() & ~self._is_verb()

    def _is_verb(self) -> pl.Series:
        """Whether a plural may be a verb with its object: *the university houses various schools*."""
        follows = self.tag(1).is_in(["DT", "PRP$", "CD"]) | ((self.tag(1) == "JJ") & self.tag(2).is_in(["JJ", *NOUNS]))
        return (self._slot == "plural") & follows & (self.tag(-1).is_in(NOUNS) | (self.word(-1) == ")"))

    def _has_another_number(self) -> pl.Series:
        """Whether *a* precedes a mass noun, or a number above one a singular: *ninety sheep*."""
        adjectives = pl.Series(np.ones(len(self._first), dtype=bool))
        single, many = adjectives & False, adjectives & False
        for step in (-1, -2, -3):
            word, tag = self.word(step), self.tag(step)
            single |= adjectives & word.is_in(["a", "an"])
            many |= adjectives & (((tag == "CD") & (word != "one")) | word.is_in(_MANY))
            adjectives &= tag == "JJ"
        return ((self._slot == "mass") & single) | ((self._slot == "singular") & many)

    def is_name(self) -> pl.Series:
        """Whether an occurrence is part of a name: capitalised inside a sentence, or next to a name."""
        capital = self._sentences.frame["token"].gather(self._first).str.contains(r"^\p{Lu}")
        entity = self._sentences.frame["entity"].gather(self._first)
        within = capital & ~self._opens() & ~self._cased
        beside = self.tag(1).is_in(_NAMES) | (self.tag(-1).is_in(_NAMES) & ~self._opens(1))
        people = entity.is_in(["PERSON", "ORGANIZATION"]).fill_null(value=False)
        return within | ((self._cased | capital | self.is_noun) & beside) | people

    def is_compound(self) -> pl.Series:
        """Whether it is part of a compound; for an adjective, whether it has no noun and is not a predicate."""
        after, before = self.tag(1).is_in(NOUNS), self.tag(-1).is_in(NOUNS)
        hyphen = self.word(1).is_in(["-", "/", "'"]) | self.word(-1).is_in(["-", "/"])
        # A rate: "3.2/1,000 people".
        hyphen |= self.word(-1).str.contains(r"\d/\d") | ((self.word(-2) == "/") & (self.tag(-1) == "CD"))
        name = (self._slot == "name") & (after | (self.tag(1) == "JJ") | self.word(1).str.starts_with("$"))
        noun = (self.is_noun & (after | before)) | name
        predicate = self.governor_word().is_in(_BE) & ~self.tag(1).is_in(["CD", "DT"])
        adjective = (self._slot == "adjective") & ~(after | self.tag(1).is_in(["JJ"]) | predicate)
        return noun | adjective | hyphen

    def is_bare(self) -> pl.Series:
        """Whether a singular has no article, owner or number: *plays guitar*, but not *Dog in the snow*."""
        determiners = ["DT", "PRP$", "CD", "POS", "PDT"]
        determined = reduce(or_, (self.tag(-step).is_in(determiners) & self._governed(step) for step in (1, 2, 3, 4)))
        return (self._slot == "singular") & ~(determined | self.governor_word().is_in(_SENTENCE_START))

    def is_described(self) -> pl.Series:
        """Whether a noun has an adjective that may not suit other items of the list: a paved courtyard."""
        common = _common_adjectives().implode()
        return self.is_noun & reduce(
            or_,
            (
                self._governed(step) & self.tag(-step).is_in(["JJ", "VBN", "VBG"]) & ~self.word(-step).is_in(common)
                for step in (1, 2, 3)
            ),
        )

    def _governed(self, step: int) -> pl.Series:
        """Whether the word ``step`` places before an occurrence stands between it and its governor."""
        return pl.Series(self._first - 1 - self.governor() >= step)

    def is_listed(self) -> pl.Series:
        """Whether it is joined to something by *and* or a comma: *a dog, a cat and a bird*."""
        joined = self.word(1).is_in([*_CONJUNCTIONS, ","])
        continues = self.tag(2).is_in(_NOUN_PHRASE) | self.word(2).is_in(_CONJUNCTIONS) | (self._slot == "adjective")
        verbal = self._slot.is_in(["base", "third", "gerund", "past", "participle"])
        before = self.governor_word().is_in([*_CONJUNCTIONS, ","]) & ~verbal
        return (joined & (continues | verbal)) | before | (self.word(-1).is_in(_CONJUNCTIONS) & verbal)

    def is_compared(self) -> pl.Series:
        """Whether a superlative or comparative is near it: the biggest dog is not the biggest animal."""
        return reduce(or_, (self.tag(step).is_in(["JJR", "JJS", "RBR", "RBS"]) for step in (-3, -2, -1, 1)))

    def _opens(self, back: int = 0) -> pl.Series:
        """Whether an occurrence, or the word ``back`` places before it, begins its text or a sentence of it."""
        return self._sentences.words(self._first - back - 1, of=self._text).is_in(_SENTENCE_START)


@cache
def _common_adjectives() -> pl.Series:
    """Adjectives that suit nearly everything: sizes, ages, colours."""
    return pl.concat(
        [packaged_table("lexical/adjectives.tsv")["adjective"], packaged_table("lexical/lists/colours.tsv")["item"]]
    )


def doubts(texts: pl.Series, reasons: Collection[str] | None = None) -> pl.Series:
    """For each text the first reason why it may not be a plain assertion, null where there is none.

    A text that negates, asks, supposes, reports, compares or quantifies may stay true with a word replaced by its
    opposite: *the soup might be cold* does not contradict *the soup might be hot*. ``data/contexts/doubts.tsv`` lists
    the patterns of such texts by reason. ``reasons`` are those to look for; None means all.
    """
    table = packaged_table("contexts/doubts.tsv").select("reason", "pattern")
    return first_matching_reason(texts, [row for row in table.iter_rows() if reasons is None or row[0] in reasons])


def first_matching_reason(texts: pl.Series, patterns: list[tuple[str, str]]) -> pl.Series:
    """For each text the reason of the first pattern that its lower-case form matches, null where none does."""
    lower = pl.col("text").str.to_lowercase()
    reason = pl.lit(None, dtype=pl.String)
    for name, pattern in reversed(patterns):
        reason = pl.when(lower.str.contains(pattern)).then(pl.lit(name)).otherwise(reason)
    return pl.DataFrame({"text": texts}).select(reason.alias("doubt"))["doubt"]
