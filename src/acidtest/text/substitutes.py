"""Which other items of its list may stand in the place of a word, in the form and with the article it has there."""

from __future__ import annotations

from collections import Counter
from functools import cache

import numpy as np
import polars as pl

from acidtest.io.wordlists import packaged_table, word_list
from acidtest.text.categories import ANY, category
from acidtest.text.occurrences import TaggedTexts, anchored
from acidtest.text.opposites import clashes, is_idiom
from acidtest.text.places import noun_kind
from acidtest.text.slots import slots
from acidtest.text.surroundings import NOUNS, Surroundings
from acidtest.text.wordnet import wordnet


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


def options_for(found: TaggedTexts, places: pl.DataFrame, names: tuple[str, ...]) -> pl.DataFrame:
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


def fitting(found: TaggedTexts, options: pl.DataFrame, left_out: Counter[str]) -> pl.DataFrame:
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


@cache
def _relations(names: tuple[str, ...]) -> pl.DataFrame:
    return pl.concat(category(name).relations.with_columns(category=pl.lit(name)) for name in names)


@cache
def _frames(names: tuple[str, ...]) -> pl.DataFrame:
    """What frames ask for, a row for each frame that an item may be replaced in."""
    frames = pl.concat(category(name).frames.with_columns(category=pl.lit(name)) for name in names)
    stands = _relations(names).select("category", "item", "frame").unique(maintain_order=True)
    return stands.join(frames, on=["category", "frame"])


def _standing(found: TaggedTexts, places: pl.DataFrame, names: tuple[str, ...]) -> pl.DataFrame:
    """The places with the frames they are, a row for each: columns of ``places`` and frame."""
    around = Surroundings(found, places)
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


def _kinds(found: TaggedTexts, places: pl.DataFrame) -> pl.Series:
    """The kind of thing a word is said of: the noun after it for an adjective, else the nearest noun before it."""
    is_noun = found.frame["tag"].is_in(NOUNS).to_numpy()
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


def described(found: TaggedTexts, options: pl.DataFrame) -> pl.DataFrame:
    """The options with what stands beside them, as filters ask for it."""
    around = Surroundings(found, options)
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


def _in_idiom(options: pl.DataFrame, word: str) -> pl.Series:
    """Whether the old or the new word makes an expression with a neighbour."""
    beside = options.select("previous", word, "next").iter_rows()
    return pl.Series([is_idiom(*words) for words in beside], dtype=pl.Boolean)


def _needs_another_article(found: TaggedTexts, options: pl.DataFrame) -> pl.Series:
    """Whether the new word goes with *the* alone and has *a* before it, or the other way round."""
    around = Surroundings(found, options)
    one, two, adjective = around.word(-1), around.word(-2), around.tag(-1) == "JJ"
    asks = options.select(other="other").join(
        packaged_table("lexical/articles.tsv"), left_on="other", right_on="noun", how="left", maintain_order="left"
    )["article"]
    has = {
        article: one.is_in(forms) | (two.is_in(forms) & adjective)
        for article, forms in (("a", ["a", "an"]), ("the", ["the"]))
    }
    return ((asks == "the") & has["a"] | (asks == "a") & has["the"]).fill_null(value=False)


def _is_coloured(found: TaggedTexts, options: pl.DataFrame) -> pl.Series:
    """Whether a living thing has a colour: there are white dogs, but no white beagles."""
    around, colours = Surroundings(found, options), category("colours").items["item"].implode()
    coloured = around.word(-1).is_in(colours) | around.word(-2).is_in(colours)
    return (
        coloured
        & options["category"].is_in(["animals", "flowers", "trees", "hypernyms"])
        & (options["slot"] != "adjective")
    )


def _is_in_text(found: TaggedTexts, options: pl.DataFrame) -> pl.Series:
    """Whether the new word stands in the text already, beside the old one."""
    words = pl.DataFrame({"text": pl.Series(found.text), "new": found.lower}).with_row_index("place")
    asked = options.select(
        pl.col("text").cast(pl.Int64), pl.col("new").str.to_lowercase(), "first", "last"
    ).with_row_index("at")
    met = asked.join(words, on=["text", "new"]).filter(~pl.col("place").is_between("first", "last"))
    return asked["at"].is_in(met["at"].unique().implode())


def _clashing(found: TaggedTexts, options: pl.DataFrame) -> pl.Series:
    """Whether a new word tells another sex than some other word of its text: *the woman lost his hat*."""
    flags = options["new"].is_in(list(word_list("telling sex"))).to_numpy().copy()
    told = np.flatnonzero(flags)
    bounds = np.searchsorted(found.text, options["text"].to_numpy()[told], side="left")
    ends = np.searchsorted(found.text, options["text"].to_numpy()[told], side="right")
    for row, start, end in zip(told, bounds, ends, strict=True):
        words = found.lower.slice(start, end - start).to_list()
        flags[row] = clashes(options["new"][int(row)], words, options["first"][int(row)] - int(start))
    return pl.Series(flags)
