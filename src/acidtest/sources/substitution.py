"""Texts with one word of a word list replaced by another of it, and what the new word is to the old one.

Only plain places are used: where a word is part of a name, a compound or a list, or stands in a context that turns
what follows from what (negation, *few*, *only*, comparison, condition, question), it is left as it is, and counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import polars as pl

from acidtest.core.digests import digests
from acidtest.core.draws import Draws
from acidtest.sources.assertions import doubts
from acidtest.sources.categories import ANY, category, names
from acidtest.sources.occurrences import Line, Places, anchored, line, occurrences
from acidtest.sources.opposites import clashes, is_idiom
from acidtest.sources.places import noun_kind
from acidtest.sources.replacement import replaced
from acidtest.sources.slots import slots, tags
from acidtest.sources.wordlists import packaged_table, word_list
from acidtest.sources.wordnet import wordnet

_ANYWHERE = ("question", "negation", "conditional", "coordination", "conversation", "quotation", "plurality")
_BEFORE = ("modality", "attitude", "comparison", "focus", "downward")
"""Reasons for doubt: anywhere in the text, or before the word."""

_NOUNS = ("NN", "NNS", "NNP", "NNPS")
_LISTED = ("DT", "PRP$", "JJ", "CD", *_NOUNS)
_BOTH = (
    "outside",
    "inside",
    "near",
    "above",
    "below",
    "behind",
    "up",
    "down",
    "around",
    "across",
    "over",
    "under",
    "by",
)
"""What may be an adverb and a preposition."""
_AUXILIARIES = ("is", "are", "am", "'s", "'re", "'m", "has", "have", "'ve")
_MANY = ("these", "those", "many", "several", "few", "both", "various", "numerous")
_JOINS = ("and", "or", "nor", "&", "/", "plus")

_COLUMNS = {"text": pl.Int64, "start": pl.UInt32} | dict.fromkeys(
    ("category", "relation", "frame", "premise_word", "hypothesis_word", "changed"), pl.String()
)

Filter = Callable[[pl.DataFrame], pl.Series]
"""Which of some replacements to keep; columns previous, premise_word, hypothesis_word, next and their tags."""


@dataclass(frozen=True)
class Substitutions:
    """What is replaced, by what, and how much of it."""

    categories: Sequence[str]
    draws: Draws
    each: int = 1
    """How many new words in each relation a place gets."""
    filters: dict[str, Filter] = field(default_factory=dict)
    tagger: str = "auto"

    def of(self, texts: pl.Series) -> tuple[pl.DataFrame, Counter[str]]:
        """The changed texts, and how many places or replacements were left out, by reason.

        Columns text (row of it), start, changed, category, relation, frame, premise_word and hypothesis_word.
        """
        # Tagging is most of the work: only what may hold an item is tagged.
        openers = surfaces(tuple(self.categories))["surface"].str.to_lowercase().str.extract(r"^([\p{L}\p{N}]+)")
        rows = texts.str.to_lowercase().str.contains_any(openers.drop_nulls().unique().to_list()).arg_true()
        changed, left_out = self._of(texts.gather(rows))
        return changed.with_columns(text=rows.cast(pl.Int64).gather(changed["text"])), left_out

    def _of(self, texts: pl.Series) -> tuple[pl.DataFrame, Counter[str]]:
        found = line(texts, self.tagger)
        places = occurrences(found, surfaces(tuple(self.categories)))
        if places.is_empty():
            return pl.DataFrame(schema=_COLUMNS), Counter()
        places = places.with_columns(reason=_reasons(found, places, texts))
        # What cannot stand in one slot may stand in another.
        stands = pl.col("reason").is_null().any().over("category", "first")
        left_out = Counter(places.filter(~stands).unique(["category", "first"], maintain_order=True)["reason"])
        places = places.filter(pl.col("reason").is_null()).drop("reason").with_row_index("row")
        options = _options(found, places, tuple(self.categories))
        framed = options["row"].n_unique() if options.height else 0
        left_out["no such frame"] = places.height - framed
        options = _described(found, options)
        options = _fitting(found, options, left_out)
        for name, kept in self.filters.items():
            before = options.height
            options = options.filter(kept(options))
            left_out[name] += before - options.height
        drawn = self._drawn(texts, options)
        return _rendered(texts, drawn), +left_out

    def _drawn(self, texts: pl.Series, options: pl.DataFrame) -> pl.DataFrame:
        """A few replacements in each relation for each place, whatever else there is in the corpus."""
        keys = digests(texts.gather(options["text"]), options["category"]) + options["start"].to_numpy().astype(
            np.uint64
        )
        bits = self.draws.bits(keys, "place") ^ digests(options["other"])
        options = options.with_columns(draw=pl.Series(self.draws.bits(bits, "other")))
        rank = pl.col("draw").rank("ordinal").over("row", "relation")
        return options.filter(rank <= self.each).sort("row", "relation", "draw")


@cache
def surfaces(names: tuple[str, ...]) -> pl.DataFrame:
    """Every form of every item of some categories: category, item, slot, surface and cased."""
    rows = [
        (name, item, slot, surface, form in ("name", "the") or item[0].isupper(), form, at or "in")
        for name in names
        for item, forms, irregular, at in category(name).items.select("item", "form", "plural", "at").iter_rows()
        for form in forms.split("|")
        for slot, surface in slots(item, form, irregular=irregular).items()
    ]
    columns = ["category", "item", "slot", "surface", "cased", "form", "at"]
    return pl.DataFrame(rows, schema=columns, orient="row").unique(["category", "item", "slot"], maintain_order=True)


@cache
def _relations(names: tuple[str, ...]) -> pl.DataFrame:
    return pl.concat(category(name).relations.with_columns(category=pl.lit(name)) for name in names)


@cache
def _frames(names: tuple[str, ...]) -> pl.DataFrame:
    """What frames ask for, a row for each frame that an item may be replaced in."""
    frames = pl.concat(category(name).frames.with_columns(category=pl.lit(name)) for name in names)
    stands = _relations(names).select("category", "item", "frame").unique(maintain_order=True)
    return stands.join(frames, on=["category", "frame"])


def _several(places: pl.DataFrame, *of: str) -> pl.Series:
    """Whether there are two stretches that share these columns."""
    return places.select(pl.col("first").n_unique().over(*of) > 1).to_series()


def _alone() -> pl.Expr:
    """Whether a category leaves texts with two of its items as they are."""
    return pl.col("category").is_in([name for name in names() if category(name).alone])


def _reasons(found: Line, places: pl.DataFrame, texts: pl.Series) -> pl.Series:
    """Why each occurrence is left as it is; null where nothing speaks against it."""
    around = _Around(found, places)
    starts = found.frame["start"].gather(places["first"])
    before = pl.DataFrame({"text": texts.gather(places["text"]).cast(pl.String), "start": starts}).select(
        pl.col("text").str.slice(0, pl.col("start"))
    )["text"]
    kinds = {
        "another item of the list": _several(places, "text", "category") & places.select(_alone()).to_series(),
        "twice in the text": _several(places, "text", "category", "item"),
        "one of several": around.word(-1).is_in(["another", "other", "others"]),
        "another part of speech": ~around.is_of_its_kind(),
        "part of a name": around.is_name(),
        "part of a compound": around.is_compound(),
        "without an article": around.is_bare(),
        "described": around.is_described(),
        "in a list": around.is_listed(),
        "superlative or comparative": around.is_graded(),
        "no single event": _is_habit(found, places),
        "tied to its context": around.is_tied(),
    }
    reasons = [pl.when(flags).then(pl.lit(reason)) for reason, flags in kinds.items()]
    # A can of beans is no ability.
    before = before.str.replace_all(r"\bcans? of\b", "tin of")
    doubted = (doubts(texts, _ANYWHERE).gather(places["text"]), doubts(before, _BEFORE))
    return pl.select(pl.coalesce(*reasons, *doubted, pl.lit(None, dtype=pl.String))).to_series()


def _is_habit(found: Line, places: pl.DataFrame) -> pl.Series:
    """Whether a text in the simple present may tell what happens again and again, where that matters."""
    matters = [name for name in places["category"].unique() if category(name).events]
    present = found.frame["tag"].is_in(["VBZ", "VBP"]) & ~found.lower.is_in(_AUXILIARIES)
    texts = pl.Series(found.text).filter(present).unique()
    return places["category"].is_in(matters) & places["text"].is_in(texts.implode())


class _Around:
    """What stands around occurrences."""

    def __init__(self, found: Line, places: pl.DataFrame) -> None:
        self._found, self._places = found, places
        self._text = places["text"].to_numpy()
        self._first, self._last = places["first"].to_numpy(), places["last"].to_numpy()
        self._slot = places["slot"]
        self._cased = places["item"].str.contains(r"^\p{Lu}")
        self._is_noun = self._slot.is_in(["singular", "plural", "mass", "only plural"])

    def word(self, step: int) -> pl.Series:
        """The word so many places after the occurrence, or before it."""
        return self._found.words(self._place(step), of=self._text)

    def tag(self, step: int) -> pl.Series:
        """The tag of that word."""
        return self._found.tags(self._place(step), of=self._text)

    def head_words(self) -> pl.Series:
        """The noun that an adjective goes with across another: *male* between *young* and *child*."""
        across = (self._slot == "adjective") & self.tag(1).is_in(["JJ", *_NOUNS]) & self.tag(2).is_in(_NOUNS)
        return pl.select(pl.when(across).then(self.word(2)).otherwise(pl.lit(""))).to_series()

    def is_of_its_kind(self) -> pl.Series:
        """Whether an occurrence has a tag that its form may have."""
        own = self._found.tags(self._last, of=self._text)
        several = pl.Series(self._last > self._first)
        fits = pl.Series([tag in tags(slot) for tag, slot in zip(own, self._slot, strict=True)], dtype=pl.Boolean)
        opens = (self._opens() | self._cased) & own.is_in(["NNP", "NNPS"])
        several &= self._slot.is_in(["preposition", "adverb", "adjective"])
        # "Outside the door" has a preposition that may be tagged as an adverb.
        bare = (self._slot == "preposition") & ~self.tag(1).is_in([*_LISTED, "PRP", "VBG"])
        governs = (self._slot == "adverb") & self.word(0).is_in(_BOTH) & self.tag(1).is_in(_LISTED)
        return (fits | opens | several) & ~governs & ~bare & ~self._has_another_number()

    def _has_another_number(self) -> pl.Series:
        """Whether *a* stands before a mass, or a number before a single thing: *ninety sheep*."""
        near = [(self.word(-step), self.tag(-step)) for step in (1, 2, 3)]
        adjectives = pl.Series(np.ones(len(self._first), dtype=bool))
        single, many = adjectives & False, adjectives & False
        for word, tag in near:
            single |= adjectives & word.is_in(["a", "an"])
            many |= adjectives & (((tag == "CD") & (word != "one")) | word.is_in(_MANY))
            adjectives &= tag == "JJ"
        return ((self._slot == "mass") & single) | ((self._slot == "singular") & many)

    def is_name(self) -> pl.Series:
        """Whether it is part of a name: capitals inside a sentence, or a name beside it."""
        written = self._found.frame["token"].gather(self._first)
        entity = self._found.frame["entity"].gather(self._first)
        capital = written.str.contains(r"^\p{Lu}")
        own = capital & ~self._opens() & ~self._cased
        beside = self.tag(1).is_in(["NNP", "NNPS"]) | (self.tag(-1).is_in(["NNP", "NNPS"]) & ~self._opens(1))
        people = entity.is_in(["PERSON", "ORGANIZATION"]).fill_null(value=False)
        return own | ((self._cased | capital | self._is_noun) & beside) | people

    def is_compound(self) -> pl.Series:
        """Whether another noun goes with it; an adjective needs one, a name may have none."""
        after, before = self.tag(1).is_in(_NOUNS), self.tag(-1).is_in(_NOUNS)
        hyphen = self.word(1).is_in(["-", "/", "'"]) | self.word(-1).is_in(["-", "/"])
        name = (self._slot == "name") & (after | (self.tag(1) == "JJ"))
        noun = (self._is_noun & (after | before)) | name
        predicate = self._anchor_is_be() & ~self.tag(1).is_in(["CD", "DT"])
        adjective = (self._slot == "adjective") & ~(after | self.tag(1).is_in(["JJ"]) | predicate)
        return noun | adjective | hyphen

    def is_bare(self) -> pl.Series:
        """Whether one thing stands without article, owner or number: *plays guitar*, but not *Dog in the snow*."""
        left = self._first - 1
        span = left - self.anchor()
        inside = [
            self.tag(-step).is_in(["DT", "PRP$", "CD", "POS", "PDT"]) & pl.Series(span >= step) for step in (1, 2, 3, 4)
        ]
        opens = self._found.words(self.anchor(), of=self._text).is_in(["", ".", "!", "?"])
        return (self._slot == "singular") & ~(inside[0] | inside[1] | inside[2] | inside[3] | opens)

    def is_described(self) -> pl.Series:
        """Whether an adjective goes with it that may not go with others of its kind: a paved courtyard."""
        span = self._first - 1 - self.anchor()
        flags = pl.Series(np.zeros(len(span), dtype=bool))
        for step in (1, 2, 3):
            inside = pl.Series(span >= step) & self.tag(-step).is_in(["JJ", "VBN", "VBG"])
            flags |= inside & ~self.word(-step).is_in(_common_adjectives().implode())
        return flags & self._is_noun

    def is_listed(self) -> pl.Series:
        """Whether it is joined to something by *and* or a comma: *a dog, a cat and a bird*."""
        join, comma = self.word(1).is_in(_JOINS), self.word(1) == ","
        goes_on = self.tag(2).is_in(_LISTED) | self.word(2).is_in(_JOINS) | (self._slot == "adjective")
        verbal = self._slot.is_in(["base", "third", "gerund", "past", "participle"])
        before = self.anchor_words().is_in([*_JOINS, ","]) & ~verbal
        return ((join | comma) & (goes_on | verbal)) | before | (self.word(-1).is_in(_JOINS) & verbal)

    def is_graded(self) -> pl.Series:
        """Whether a superlative or comparative goes with it: the biggest dog is not the biggest cat."""
        near = [self.tag(step).is_in(["JJR", "JJS", "RBR", "RBS"]) for step in (-3, -2, -1, 1)]
        return near[0] | near[1] | near[2] | near[3]

    def is_tied(self) -> pl.Series:
        """Whether some other word of the text goes with this item alone."""
        tied = _tied(tuple(self._places["category"].unique().sort()))
        rows = self._places.select("text", "category", "item", "first", "last").with_row_index("row")
        wanted = tied.select("word").unique()
        words = pl.DataFrame({"text": pl.Series(self._found.text), "here": self._found.lower}).with_row_index("place")
        known = _bases(words["here"].unique(), wanted["word"])
        told = rows.join(tied, on=["category", "item"]).join(known, on="word")
        met = told.join(words.with_columns(pl.col("place").cast(pl.Int64)), on=["text", "here"])
        met = met.filter((pl.col("place") < pl.col("first")) | (pl.col("place") > pl.col("last")))
        return rows["row"].is_in(met["row"].unique().implode())

    def _place(self, step: int) -> Places:
        """So many places after the last word, or before the first; 0 is the first."""
        return self._last + step if step > 0 else self._first + step

    def _opens(self, further: int = 0) -> pl.Series:
        """Whether an occurrence, or a word some places before it, begins its text or a sentence of it."""
        place = self._first - further
        before = self._found.words(place - 1, of=self._text)
        return before.is_in(["", ".", "!", "?"])

    def anchor(self) -> Places:
        """The place of the word each occurrence depends on, -1 for none."""
        left = self._first - 1
        return np.where(left >= 0, self._found.anchors[np.maximum(left, 0)], -1)

    def anchor_words(self) -> pl.Series:
        """The word each occurrence depends on."""
        return self._found.words(self.anchor(), of=self._text)

    def _anchor_is_be(self) -> pl.Series:
        return self.anchor_words().is_in(["is", "are", "was", "were", "'s", "'re", "be", "been", "being", "am"])


@cache
def _common_adjectives() -> pl.Series:
    """Adjectives that nearly everything may have: sizes, ages, colours."""
    return pl.concat([packaged_table("lexical/adjectives.tsv")["adjective"], category("colours").items["item"]])


@cache
def _tied(names: tuple[str, ...]) -> pl.DataFrame:
    """category, item and the words that tie it, a row for each."""
    items = pl.concat(category(name).items.select("item", "tied", category=pl.lit(name)) for name in names)
    return items.explode("tied").drop_nulls("tied").rename({"tied": "word"}).filter(pl.col("word") != "")


def _bases(words: pl.Series, wanted: pl.Series) -> pl.DataFrame:
    """Words as they stand (``here``) that are, in some form, one of those wanted (``word``)."""
    bases = wordnet().base_form_frame(words).select(here="word", word="base")
    same = pl.DataFrame({"here": words, "word": words})
    return pl.concat([same, bases]).unique().filter(pl.col("word").is_in(wanted.implode()))


def _options(found: Line, places: pl.DataFrame, names: tuple[str, ...]) -> pl.DataFrame:
    """Every other item that may stand in a place: row, other, relation and frame beside the columns of ``places``."""
    stands = _standing(found, places, names)
    others = stands.join(_relations(names), on=["category", "item", "frame"])
    others = others.sort("row", "other", "relation", "frame").unique(["row", "other", "relation"], maintain_order=True)
    forms = surfaces(names).select("category", "slot", "form", "at", other="item", new="surface")
    own = surfaces(names).select("category", "item", "slot", old="surface", old_form="form", old_at="at")
    return (
        others.join(forms, on=["category", "slot", "other"])
        .join(own, on=["category", "item", "slot"])
        .sort("row", "other")
    )


def _standing(found: Line, places: pl.DataFrame, names: tuple[str, ...]) -> pl.DataFrame:
    """The places with the frames they are, a row for each: columns of ``places`` and frame."""
    around = _Around(found, places)
    told = places.with_columns(
        next=_noun_forms(around.word(1), around.head_words()),
        previous=_noun_forms(around.word(-1)),
        kind=_kinds(found, places),
    )
    possible = told.join(_frames(names), on=["category", "item"]).filter(
        pl.col("unless").list.set_intersection("next").list.len() == 0,
        pl.col("unless_before").list.set_intersection("previous").list.len() == 0,
        (pl.col("of").list.len() == 0) | pl.col("of").list.contains(pl.col("kind")),
        ~pl.col("not_of").list.contains(pl.col("kind")) | (pl.col("kind") == ""),
    )
    possible = possible.select(*places.columns, "frame", "before").explode("before")
    depends = possible.join(anchored(found, places), on=["row", "before"], how="semi")
    every = pl.concat([depends, possible.filter(pl.col("before") == ANY)])
    return every.drop("before").unique(["row", "frame"])


def _noun_forms(*words: pl.Series) -> pl.Series:
    """The words of each row with what they are the plural of, as a list."""
    bases = wordnet().base_form_frame(pl.concat(words).unique(), "n").group_by("word").agg("base")
    forms = []
    for each in words:
        told = pl.DataFrame({"word": each}).join(bases, on="word", how="left", maintain_order="left")
        forms.append(told.select(pl.concat_list("word", pl.col("base").fill_null([]))).to_series())
    return pl.select(pl.concat_list(forms)).to_series()


def _kinds(found: Line, places: pl.DataFrame) -> pl.Series:
    """The kind of thing a word is said of: the noun after it for an adjective, else the nearest noun before it."""
    is_noun = found.frame["tag"].is_in(_NOUNS).to_numpy()
    nearest = np.maximum.accumulate(np.where(is_noun, np.arange(len(is_noun)), -1))
    first, last = places["first"].to_numpy(), places["last"].to_numpy()
    text, adjective = places["text"].to_numpy(), (places["slot"] == "adjective").to_numpy()
    head = np.where(first > 0, nearest[np.maximum(first - 1, 0)], -1)
    for step in (2, 1):
        after = np.minimum(last + step, len(is_noun) - 1)
        head = np.where(adjective & is_noun[after] & (found.text[after] == text), after, head)
    nouns = found.words(head, of=text)
    distinct = nouns.unique()
    bases = wordnet().base_form_frame(distinct, "n").unique("word", keep="first", maintain_order=True)
    kinds = {word: noun_kind(base) for word, base in bases.select("word", "base").iter_rows()}
    return nouns.replace_strict(kinds, default="", return_dtype=pl.String)


def _described(found: Line, options: pl.DataFrame) -> pl.DataFrame:
    """The options with what stands beside them, as filters ask for it."""
    around = _Around(found, options)
    starts, ends = found.frame["start"], found.frame["end"]
    anchor = around.anchor()
    return options.with_columns(
        start=starts.gather(options["first"]),
        end=ends.gather(options["last"]),
        previous=around.word(-1),
        next=around.word(1),
        previous_tag=around.tag(-1),
        next_tag=around.tag(1),
        tag=found.tags(options["last"].to_numpy(), of=options["text"].to_numpy()),
        anchor=around.anchor_words(),
        anchor_start=starts.gather(np.maximum(anchor, 0)),
        anchor_end=ends.gather(np.maximum(anchor, 0)),
        premise_word=pl.col("old"),
        hypothesis_word=pl.col("new"),
    )


def _fitting(found: Line, options: pl.DataFrame, left_out: Counter[str]) -> pl.DataFrame:
    """The options that say something new, are no idiom and can take the preposition that is there."""
    here = pl.col("anchor").is_in(["in", "on", "at", "into", "onto", "inside"])
    against = {
        "new word in the text": _is_in_text(found, options),
        "idiom": _in_idiom(options, "new") != _in_idiom(options, "old"),
        "needs another article": _needs_another_article(found, options),
        "new word tells another sex": _clashing(found, options),
        "narrower word of another colour": (options["relation"] == "hyponym") & _is_coloured(found, options),
        "possessive": options.select(
            pl.col("next").str.contains("^['’]")
            & (pl.col("new").str.ends_with("s") != pl.col("old").str.ends_with("s"))
        ).to_series(),
        "another preposition is needed": options.select(
            here & (pl.col("at") != pl.col("old_at")) & (pl.col("anchor") != pl.col("old_at"))
        ).to_series(),
    }
    reason = pl.select(pl.coalesce(*(pl.when(flags).then(pl.lit(name)) for name, flags in against.items()))).to_series()
    left_out.update(reason.drop_nulls())
    return options.filter(reason.is_null())


def _in_idiom(options: pl.DataFrame, word: str) -> pl.Series:
    """Whether the old or the new word makes an expression with a neighbour."""
    beside = options.select("previous", word, "next").iter_rows()
    return pl.Series([is_idiom(*words) for words in beside], dtype=pl.Boolean)


def _needs_another_article(found: Line, options: pl.DataFrame) -> pl.Series:
    """Whether the new word goes with *the* alone and has *a* before it, or the other way round."""
    around = _Around(found, options)
    one, two, adjective = around.word(-1), around.word(-2), around.tag(-1) == "JJ"
    asks = options.select(other="other").join(
        packaged_table("lexical/articles.tsv"), left_on="other", right_on="noun", how="left", maintain_order="left"
    )["article"]
    has = {
        article: one.is_in(forms) | (two.is_in(forms) & adjective)
        for article, forms in (("a", ["a", "an"]), ("the", ["the"]))
    }
    return ((asks == "the") & has["a"] | (asks == "a") & has["the"]).fill_null(value=False)


def _is_coloured(found: Line, options: pl.DataFrame) -> pl.Series:
    """Whether a living thing has a colour: there are white dogs, but no white beagles."""
    around, colours = _Around(found, options), category("colours").items["item"].implode()
    coloured = around.word(-1).is_in(colours) | around.word(-2).is_in(colours)
    return (
        coloured
        & options["category"].is_in(["animals", "flowers", "trees", "hypernyms"])
        & (options["slot"] != "adjective")
    )


def _is_in_text(found: Line, options: pl.DataFrame) -> pl.Series:
    """Whether the new word stands in the text already, beside the old one."""
    words = pl.DataFrame({"text": pl.Series(found.text), "new": found.lower}).with_row_index("place")
    asked = options.select(
        pl.col("text").cast(pl.Int64), pl.col("new").str.to_lowercase(), "first", "last"
    ).with_row_index("at")
    met = asked.join(words, on=["text", "new"]).filter(~pl.col("place").is_between("first", "last"))
    return asked["at"].is_in(met["at"].unique().implode())


def _clashing(found: Line, options: pl.DataFrame) -> pl.Series:
    """Whether a new word tells another sex than some other word of its text: *the woman lost his hat*."""
    flags = options["new"].is_in(list(word_list("telling sex"))).to_numpy().copy()
    told = np.flatnonzero(flags)
    bounds = np.searchsorted(found.text, options["text"].to_numpy()[told], side="left")
    ends = np.searchsorted(found.text, options["text"].to_numpy()[told], side="right")
    for row, start, end in zip(told, bounds, ends, strict=True):
        words = found.lower.slice(start, end - start).to_list()
        flags[row] = clashes(options["new"][int(row)], words, options["first"][int(row)] - int(start))
    return pl.Series(flags)


def _rendered(texts: pl.Series, drawn: pl.DataFrame) -> pl.DataFrame:
    changed = [_changed(texts[row["text"]], row) for row in drawn.iter_rows(named=True)]
    told = drawn.select("text", "start", "category", "relation", "frame", "premise_word", "hypothesis_word")
    return told.with_columns(changed=pl.Series(changed, dtype=pl.String))


def _changed(text: str, row: Mapping[str, Any]) -> str:
    """The text with the new word; article, capitals and preposition follow."""
    start, end, new = row["start"], row["end"], row["new"]
    if row["old_form"] == "the" and text[:start].lower().endswith("the "):
        start -= 4
    if row["form"] == "the":
        new = f"the {new}"
    moved = row["at"] != row["old_at"] and row["anchor"] == row["old_at"]
    # The capital of a name says nothing of the place it stands in.
    opens = not text[:start].strip() or text[:start].rstrip().endswith((".", "!", "?"))
    made = replaced(text, start, end, word=new, like=None if opens or row["old"].islower() else "")
    return replaced(made, row["anchor_start"], row["anchor_end"], word=row["at"]) if moved else made
