"""Replaces a word of a word list by another of the list, and records the relation of the new word to the old one.

Only plain places are used: a word that is part of a name, a compound or a list, or in a context that changes what is
entailed (negation, *few*, *only*, comparison, condition, question), is not replaced but counted.
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
from acidtest.io.wordlists import packaged_table, word_list
from acidtest.text.antonyms import are_idioms, reveals_another_sex
from acidtest.text.categories import ANY, category, category_names
from acidtest.text.inflection import forms_by_slot, replace_span
from acidtest.text.sentences import NOUNS, Neighbours, Sentences, doubts, find_occurrences, governing_words
from acidtest.text.wordnet import noun_kinds

_COLUMNS = {"text": pl.Int64, "start": pl.UInt32} | dict.fromkeys(
    ("category", "relation", "frame", "premise_word", "hypothesis_word", "changed"), pl.String()
)

Filter = Callable[[pl.DataFrame], pl.Series]
"""Says which replacements to keep; columns previous, premise_word, hypothesis_word, next and their tags."""

_ANYWHERE = ("question", "negation", "conditional", "coordination", "conversation", "quotation", "plurality")
_BEFORE = ("modality", "attitude", "comparison", "focus", "downward")
"""Reasons for doubt that count anywhere in the text, and those that count before the word."""


@dataclass(frozen=True)
class Substitutions:
    """Which words are replaced, by which filters, and how many replacements a place gets."""

    categories: Sequence[str]
    draws: Draws
    per_relation: int = 1
    """The most new words for a place in each relation."""
    filters: dict[str, Filter] = field(default_factory=dict)
    tagger: str = "auto"

    def of(self, texts: pl.Series) -> tuple[pl.DataFrame, Counter[str]]:
        """The changed texts, columns as in ``_COLUMNS``, and how many replacements were left out, by reason."""
        names = tuple(self.categories)
        # Tagging takes most of the time: only texts that may contain an item are tagged.
        openers = surfaces(names)["surface"].str.to_lowercase().str.extract(r"^([\p{L}\p{N}]+)")
        rows = texts.str.to_lowercase().str.contains_any(openers.drop_nulls().unique().to_list()).arg_true()
        texts = texts.gather(rows)
        sentences = Sentences.of(texts, self.tagger)
        places = find_occurrences(sentences, surfaces(names))
        if places.is_empty():
            return pl.DataFrame(schema=_COLUMNS), Counter()
        places = places.with_columns(reason=_reasons_against(sentences, places, texts))
        # An occurrence that is rejected in one slot may be accepted in another.
        stands = pl.col("reason").is_null().any().over("category", "first")
        left_out = Counter(places.filter(~stands).unique(["category", "first"], maintain_order=True)["reason"])
        places = places.filter(pl.col("reason").is_null()).drop("reason").with_row_index("row")
        options = _replacement_options(sentences, places, names)
        left_out["no such frame"] = places.height - options["row"].n_unique()
        options = _drop_unfit(sentences, _with_neighbours(sentences, options), left_out)
        for name, kept in self.filters.items():
            before = options.height
            options = options.filter(kept(options))
            left_out[name] += before - options.height
        drawn = self._draw_options(texts, options)
        old = texts.gather(drawn["text"])
        changed = [_write_replacement(text, row) for text, row in zip(old, drawn.iter_rows(named=True), strict=True)]
        drawn = drawn.with_columns(
            text=rows.cast(pl.Int64).gather(drawn["text"]), changed=pl.Series(changed, dtype=pl.String)
        )
        return drawn.select(*_COLUMNS), +left_out

    def _draw_options(self, texts: pl.Series, options: pl.DataFrame) -> pl.DataFrame:
        """Up to ``per_relation`` replacements for each place and relation; the draw does not depend on other texts."""
        keys = digests(texts.gather(options["text"]), options["category"])
        bits = self.draws.bits(keys + options["start"].to_numpy().astype(np.uint64), "place")
        draw = self.draws.bits(bits ^ digests(options["other"]), "other")
        options = options.with_columns(draw=pl.Series(draw))
        rank = pl.col("draw").rank("ordinal").over("row", "relation")
        return options.filter(rank <= self.per_relation).sort("row", "relation", "draw")


_OLD_ARTICLES = {"SUV": "a", "RV": "a"}
"""Version 1 of lexical/vehicles has *a SUV* and *a RV*; to be dropped when its version goes up."""


def _write_replacement(text: str, row: Mapping[str, Any]) -> str:
    """The text with the new word; article, capitals and preposition are adapted."""
    start, end, new = row["start"], row["end"], row["new"]
    if row["old_form"] == "the" and text[:start].lower().endswith("the "):
        start -= 4
    if row["form"] == "the":
        new = f"the {new}"
    moved = row["at"] != row["old_at"] and row["anchor"] == row["old_at"]
    # Inside a sentence, the capital of a name is no reason to capitalise the new word.
    opens = not text[:start].strip() or text[:start].rstrip().endswith((".", "!", "?"))
    like = None if opens or row["old"].islower() else ""
    changed = replace_span(text, start, end, word=new, like=like, article=_OLD_ARTICLES.get(new, ""))
    return replace_span(changed, row["anchor_start"], row["anchor_end"], word=row["at"]) if moved else changed


@cache
def surfaces(names: tuple[str, ...]) -> pl.DataFrame:
    """Every form of every item of some categories: columns category, item, slot, surface, cased, form and at."""
    rows = [
        (name, item, slot, surface, form in ("name", "the") or item[0].isupper(), form, at or "in")
        for name in names
        for item, forms, irregular, at in category(name).items.select("item", "form", "plural", "at").iter_rows()
        for form in forms.split("|")
        for slot, surface in forms_by_slot(item, form, irregular=irregular).items()
    ]
    columns = ["category", "item", "slot", "surface", "cased", "form", "at"]
    return pl.DataFrame(rows, schema=columns, orient="row").unique(["category", "item", "slot"], maintain_order=True)


def _reasons_against(sentences: Sentences, places: pl.DataFrame, texts: pl.Series) -> pl.Series:
    """The first reason not to replace each occurrence; null where there is none."""
    around = Neighbours(sentences, places)
    alone = [name for name in category_names() if category(name).alone]
    several = [pl.col("first").n_unique().over("text", "category", *of) > 1 for of in ((), ("item",))]
    reasons = {
        "another item of the list": places.select(several[0] & pl.col("category").is_in(alone)).to_series(),
        "twice in the text": places.select(several[1]).to_series(),
        "one of several": around.word(-1).is_in(["another", "other", "others"]),
        "another part of speech": ~around.has_expected_tag(),
        "part of a name": around.is_name(),
        "part of a compound": around.is_compound(),
        "without an article": around.is_bare(),
        "described": around.is_described(),
        "in a list": around.is_listed(),
        "superlative or comparative": around.is_compared(),
        "no single event": _is_habit(sentences, places),
        "tied to its context": _is_tied(sentences, places),
    }
    whole = texts.gather(places["text"]).cast(pl.String)
    before = whole.str.slice(0, sentences.frame["start"].gather(places["first"]))
    # In "a can of beans" *can* is not a modal verb.
    before = before.str.replace_all(r"\bcans? of\b", "tin of")
    return _first_reason(reasons, doubts(texts, _ANYWHERE).gather(places["text"]), doubts(before, _BEFORE))


def _first_reason(reasons: Mapping[str, pl.Series], *others: pl.Series) -> pl.Series:
    """For each row the first reason whose flag is true, else the first value of ``others``; null without any."""
    flagged = [pl.when(flags).then(pl.lit(reason)) for reason, flags in reasons.items()]
    return pl.select(pl.coalesce(*flagged, *others)).to_series()


def _is_habit(sentences: Sentences, places: pl.DataFrame) -> pl.Series:
    """Whether a text in the simple present may describe a habit, for categories that require a single event."""
    matters = [name for name in places["category"].unique() if category(name).events]
    auxiliary = sentences.lower.is_in(["is", "are", "am", "'s", "'re", "'m", "has", "have", "'ve"])
    present = sentences.frame["tag"].is_in(["VBZ", "VBP"]) & ~auxiliary
    texts = pl.Series(sentences.text).filter(present).unique()
    return places["category"].is_in(matters) & places["text"].is_in(texts.implode())


def _is_tied(sentences: Sentences, places: pl.DataFrame) -> pl.Series:
    """Whether the text has another word that goes with this item only."""
    tied = _tied_words(tuple(places["category"].unique().sort()))
    forms = sentences.word_forms.select("word", tied="form")
    rows = places.select("text", "category", "item", "first", "last").with_row_index("row")
    return _has_elsewhere(sentences, rows.join(tied, on=["category", "item"]).join(forms, on="tied"), places.height)


def _has_elsewhere(sentences: Sentences, words: pl.DataFrame, size: int) -> pl.Series:
    """Which rows have one of their ``words`` elsewhere in their text, outside ``first`` to ``last``."""
    tokens = pl.DataFrame({"text": pl.Series(sentences.text), "word": sentences.lower}).with_row_index("place")
    matches = words.join(tokens, on=["text", "word"]).filter(~pl.col("place").is_between("first", "last"))
    return pl.int_range(size, eager=True, dtype=pl.UInt32).is_in(matches["row"].unique().implode())


@cache
def _tied_words(names: tuple[str, ...]) -> pl.DataFrame:
    """The words that go with one item only: columns category, item and tied."""
    items = _stack_tables(names, [category(name).items for name in names])
    return items.select("category", "item", "tied").explode("tied").filter(pl.col("tied") != "")


def _replacement_options(sentences: Sentences, places: pl.DataFrame, names: tuple[str, ...]) -> pl.DataFrame:
    """Every item that may replace an occurrence: columns of ``places``, other, relation, frame, old and new form."""
    others = _match_frames(sentences, places, names).join(_relations(names), on=["category", "item", "frame"])
    others = others.sort("row", "other", "relation", "frame").unique(["row", "other", "relation"], maintain_order=True)
    new = surfaces(names).select("category", "slot", "form", "at", other="item", new="surface")
    old = surfaces(names).select("category", "item", "slot", old="surface", old_form="form", old_at="at")
    options = others.join(new, on=["category", "slot", "other"]).join(old, on=["category", "item", "slot"])
    return options.sort("row", "other")


def _drop_unfit(sentences: Sentences, options: pl.DataFrame, left_out: Counter[str]) -> pl.DataFrame:
    """The options without a reason against them; the others are counted in ``left_out`` by reason."""
    earlier = Neighbours(sentences, options).word(-2)
    new_words = options.select("text", "first", "last", word=pl.col("new").str.to_lowercase()).with_row_index("row")
    idioms = are_idioms(options.select(before="previous", word="new", after="next"))
    idioms ^= are_idioms(options.select(before="previous", word="old", after="next"))
    plural = pl.col("new").str.ends_with("s") != pl.col("old").str.ends_with("s")
    here = pl.col("anchor").is_in(["in", "on", "at", "into", "onto", "inside"])
    elsewhere = (pl.col("at") != pl.col("old_at")) & (pl.col("anchor") != pl.col("old_at"))
    reasons = {
        "new word in the text": _has_elsewhere(sentences, new_words, options.height),
        "idiom": idioms,
        "needs another article": _needs_another_article(options, earlier),
        "new word tells another sex": _reveals_another_sex(sentences, options),
        "narrower word of another colour": (options["relation"] == "hyponym") & _is_coloured(options, earlier),
        "possessive": options.select(pl.col("next").str.contains("^['’]") & plural).to_series(),
        "another preposition is needed": options.select(here & elsewhere).to_series(),
    }
    reason = _first_reason(reasons)
    left_out.update(reason.drop_nulls())
    return options.filter(reason.is_null())


@cache
def _relations(names: tuple[str, ...]) -> pl.DataFrame:
    return _stack_tables(names, [category(name).relations for name in names])


@cache
def _frames(names: tuple[str, ...]) -> pl.DataFrame:
    """The conditions of the frames: a row for each item and frame in which it can be used."""
    frames = _stack_tables(names, [category(name).frames for name in names])
    uses = _stack_tables(names, [category(name).uses for name in names])
    return uses.join(frames, on=["category", "frame"])


def _stack_tables(names: Sequence[str], tables: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """The tables of some categories in one, with the column category."""
    rows = np.repeat(np.arange(len(names)), [table.height for table in tables])
    return pl.concat(tables).with_columns(category=pl.Series(names).gather(rows))


def _match_frames(sentences: Sentences, places: pl.DataFrame, names: tuple[str, ...]) -> pl.DataFrame:
    """The places with each frame whose conditions they meet: columns of ``places`` and frame."""
    around = Neighbours(sentences, places)
    described = places.with_columns(
        next=_noun_forms(sentences, around.word(1), around.head_noun()),
        previous=_noun_forms(sentences, around.word(-1)),
        kind=_kinds(sentences, places),
    )
    possible = described.join(_frames(names), on=["category", "item"]).filter(
        pl.col("unless").list.set_intersection("next").list.len() == 0,
        pl.col("unless_before").list.set_intersection("previous").list.len() == 0,
        (pl.col("of").list.len() == 0) | pl.col("of").list.contains(pl.col("kind")),
        ~pl.col("not_of").list.contains(pl.col("kind")) | (pl.col("kind") == ""),
    )
    possible = possible.select(*places.columns, "frame", "before").explode("before")
    depends = possible.join(governing_words(sentences, places), on=["row", "before"], how="semi")
    every = pl.concat([depends, possible.filter(pl.col("before") == ANY)])
    return every.drop("before").unique(["row", "frame"])


def _noun_forms(sentences: Sentences, *words: pl.Series) -> pl.Series:
    """The words of each row with their singulars, as a list."""
    bases = sentences.base_forms.filter(pos="n").group_by("word").agg("base")
    forms = []
    for column in words:
        joined = pl.DataFrame({"word": column}).join(bases, on="word", how="left", maintain_order="left")
        forms.append(joined.select(pl.concat_list("word", pl.col("base").fill_null([]))).to_series())
    return pl.select(pl.concat_list(forms)).to_series()


def _kinds(sentences: Sentences, places: pl.DataFrame) -> pl.Series:
    """The kind of thing a word describes: of the noun after an adjective, else of the nearest noun before."""
    is_noun = sentences.frame["tag"].is_in(NOUNS).to_numpy()
    nearest = np.maximum.accumulate(np.where(is_noun, np.arange(len(is_noun)), -1))
    first, last = places["first"].to_numpy(), places["last"].to_numpy()
    text, adjective = places["text"].to_numpy(), (places["slot"] == "adjective").to_numpy()
    head = np.where(first > 0, nearest[np.maximum(first - 1, 0)], -1)
    for step in (2, 1):
        after = np.minimum(last + step, len(is_noun) - 1)
        head = np.where(adjective & is_noun[after] & (sentences.text[after] == text), after, head)
    return noun_kinds(sentences.words(head, of=text))


def _with_neighbours(sentences: Sentences, options: pl.DataFrame) -> pl.DataFrame:
    """The options with the words beside them and their tags, as filters and ``_write_replacement`` need them."""
    around = Neighbours(sentences, options)
    starts, ends = sentences.frame["start"], sentences.frame["end"]
    anchor = around.governor()
    return options.with_columns(
        start=starts.gather(options["first"]),
        end=ends.gather(options["last"]),
        previous=around.word(-1),
        next=around.word(1),
        previous_tag=around.tag(-1),
        next_tag=around.tag(1),
        tag=sentences.tags(options["last"].to_numpy(), of=options["text"].to_numpy()),
        anchor=around.governor_word(),
        anchor_start=starts.gather(np.maximum(anchor, 0)),
        anchor_end=ends.gather(np.maximum(anchor, 0)),
        premise_word=pl.col("old"),
        hypothesis_word=pl.col("new"),
    )


def _needs_another_article(options: pl.DataFrame, earlier: pl.Series) -> pl.Series:
    """Whether the new word needs *the* but *a* precedes it, or needs *a* but *the* precedes it."""
    articles = packaged_table("lexical/articles.tsv").select(other="noun", article="article")
    asks = options.select("other").join(articles, on="other", how="left", maintain_order="left")["article"]
    one, adjective = options["previous"], options["previous_tag"] == "JJ"
    has_a, has_the = (one.is_in(forms) | (earlier.is_in(forms) & adjective) for forms in (["a", "an"], ["the"]))
    return ((asks == "the") & has_a | (asks == "a") & has_the).fill_null(value=False)


def _is_coloured(options: pl.DataFrame, earlier: pl.Series) -> pl.Series:
    """Whether a living thing has a colour, which may not suit its kinds: there are white dogs, but no white beagles."""
    colours = category("colours").items["item"].implode()
    living = options["category"].is_in(["animals", "flowers", "trees", "hypernyms"]) & (options["slot"] != "adjective")
    return living & (options["previous"].is_in(colours) | earlier.is_in(colours))


def _reveals_another_sex(sentences: Sentences, options: pl.DataFrame) -> pl.Series:
    """Whether a new word and some other word of its text both reveal a sex: *the woman lost his hat*."""
    flags = options["new"].is_in(list(word_list("telling sex"))).to_numpy().copy()
    rows = np.flatnonzero(flags)
    texts = options["text"].to_numpy()[rows]
    starts, ends = (np.searchsorted(sentences.text, texts, side=side) for side in ("left", "right"))
    for row, start, end in zip(rows.tolist(), starts.tolist(), ends.tolist(), strict=True):
        words = sentences.lower.slice(start, end - start).to_list()
        flags[row] = reveals_another_sex(options["new"][row], words, options["first"][row] - start)
    return pl.Series(flags)
