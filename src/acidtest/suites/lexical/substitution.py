"""Replaces a word of a word list by another of the list, and records the relation of the new word to the old one.

The place of the word and the relation give the label (``place_limits``). A word that is part of a name or a compound is
not replaced but counted, as is a new word that does not fit the rest of the text.
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
from acidtest.english.inflection import forms_by_slot, replace_span
from acidtest.english.opposites import are_idioms, reveals_another_sex
from acidtest.english.sentences import NOUNS, Neighbours, Sentences, find_occurrences, governing_words
from acidtest.english.wordnet import noun_kinds
from acidtest.io.wordlists import packaged_table, word_list
from acidtest.pairs.categories import ANY, category, near_synonyms
from acidtest.suites.lexical.place_limits import first_reason, has_elsewhere, place_limits, place_words, polarities

_COLUMNS = {"text": pl.Int64, "start": pl.UInt32} | dict.fromkeys(
    ("category", "relation", "polarity", "label", "frame", "premise_word", "hypothesis_word", "changed"), pl.String()
)

Filter = Callable[[pl.DataFrame], pl.Series]
"""Says which replacements to keep; columns previous, premise_word, hypothesis_word, next and their tags."""

_DEMONSTRATIVES = ("this", "that", "these", "those", "such")
_BE = ("is", "are", "was", "were", "'s", "be", "been")
_KINDS = ("hypernym", "hyponym")
_OPPOSITES = ("antonym", "co-hyponym")
_LABEL_COLUMNS = ["relation", "polarity", "label"]
_LABELS = {
    ("synonym", "up"): "entailment",
    ("synonym", "down"): "entailment",
    ("synonym", "none"): "entailment",
    ("hypernym", "up"): "entailment",
    ("hypernym", "down"): "neutral",
    ("hyponym", "up"): "neutral",
    ("hyponym", "down"): "entailment",
    ("antonym", "up"): "contradiction",
    ("co-hyponym", "up"): "contradiction",
}
"""The label by the relation of the new word to the old one and the polarity of the place; no label elsewhere."""


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
        places = places.hstack(place_limits(sentences, places))
        # An occurrence that is rejected in one slot may be accepted in another.
        stands = pl.col("against_all").is_null().any().over("category", "first")
        left_out = Counter(places.filter(~stands).unique(["category", "first"], maintain_order=True)["against_all"])
        places = places.filter(pl.col("against_all").is_null()).drop("against_all").with_row_index("row")
        options = _replacement_options(sentences, places, names)
        left_out["no such frame"] = places.height - options["row"].n_unique()
        options = _drop_limited(options, left_out)
        options = _drop_unfit(sentences, _with_neighbours(sentences, options), left_out)
        for name, kept in self.filters.items():
            before = options.height
            options = options.filter(kept(options))
            left_out[name] += before - options.height
        # Sentences are parsed only for words that can be replaced.
        drawn = self._draw_options(texts, _with_labels(sentences, options, left_out))
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
    changed = replace_span(text, start, end, word=new, like=like)
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


def _drop_limited(options: pl.DataFrame, left_out: Counter[str]) -> pl.DataFrame:
    """The options without a reason of ``place_limits`` against them; the others are counted by place and reason."""
    reason = pl.coalesce(
        pl.when(pl.col("relation") != "synonym").then("against_others"),
        pl.when(pl.col("relation").is_in(_KINDS)).then("against_kinds"),
        pl.when(pl.col("relation").is_in(_OPPOSITES)).then(pl.coalesce("against_changes", "against_opposites")),
    )
    return _drop_with_reason(options, options.select(reason).to_series(), left_out)


def _with_labels(sentences: Sentences, options: pl.DataFrame, left_out: Counter[str]) -> pl.DataFrame:
    """The options with polarity and label, without those that have no label in their places; these are counted."""
    places = options.select("row", "text", "first", "last", "category", "item", "slot").unique(
        "row", maintain_order=True
    )
    context = places.select("row").hstack(polarities(sentences, places))
    labels = pl.DataFrame([(*key, label) for key, label in _LABELS.items()], _LABEL_COLUMNS, orient="row")
    near = near_synonyms().with_columns(is_near=True)
    options = options.join(context, on="row", maintain_order="left")
    options = options.join(labels, on=["relation", "polarity"], how="left", maintain_order="left")
    options = options.join(near, on=["item", "other"], how="left", maintain_order="left")
    reason = pl.coalesce(
        "reason",
        pl.when(pl.col("label").is_null()).then(pl.lit("place that turns the label")),
        pl.when(pl.col("relation").is_in(_OPPOSITES) & ~pl.col("asserted")).then(pl.lit("not asserted")),
        pl.when(pl.col("label") == "neutral").then("against_changes"),
        pl.when((pl.col("label") == "neutral") & pl.col("is_near")).then(pl.lit("near-synonym")),
    )
    return _drop_with_reason(options, options.select(reason).to_series(), left_out)


def _drop_with_reason(options: pl.DataFrame, reason: pl.Series, left_out: Counter[str]) -> pl.DataFrame:
    """The options without a reason; the other ones are counted by place and reason."""
    left_out.update(options.select("row", reason=reason).drop_nulls().unique()["reason"])
    return options.filter(reason.is_null())


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
        "new word in the text": has_elsewhere(sentences, new_words, options.height),
        "unlikely in its text": _clashes(sentences, options),
        "occupation told elsewhere": _has_occupation(sentences, options),
        "idiom": idioms,
        "needs another article": _needs_another_article(options, earlier),
        "new word tells another sex": _reveals_another_sex(sentences, options),
        "narrower word of another colour": (options["relation"] == "hyponym") & _is_coloured(options, earlier),
        "possessive": options.select(pl.col("next").str.contains("^['’]") & plural).to_series(),
        "refers back": (options["relation"] == "hyponym") & _refers_back(sentences, options),
        "another preposition is needed": options.select(here & elsewhere).to_series(),
    }
    reason = first_reason(reasons)
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


def _clashes(sentences: Sentences, options: pl.DataFrame) -> pl.Series:
    """Whether a text has a word beside which a narrower or other item is unlikely: *horses age three* are no foals."""
    table = packaged_table("lexical/clashes.tsv").select(pl.all().str.split("|"))
    clashes = table.select(other="items", clash="words").explode("other").explode("clash")
    forms = sentences.word_forms.select("word", clash="form")
    rows = (
        options.select("text", "first", "last", "other")
        .with_row_index("row")
        .filter(~options["relation"].is_in(["synonym", "hypernym"]))
    )
    return has_elsewhere(sentences, rows.join(clashes, on="other").join(forms, on="clash"), options.height)


def _refers_back(sentences: Sentences, options: pl.DataFrame) -> pl.Series:
    """Whether a noun stands for what an earlier sentence told of: *Corals have no bones. These animals …*."""
    ends = np.concatenate(([0], np.cumsum(sentences.lower.is_in([".", "!", "?"]).to_numpy())))
    starts = np.searchsorted(sentences.text, options["text"].to_numpy())
    later = ends[options["first"].to_numpy()] > ends[starts]
    return options["previous"].is_in(_DEMONSTRATIVES) & pl.Series(later)


def _has_occupation(sentences: Sentences, options: pl.DataFrame) -> pl.Series:
    """Whether a text tells what somebody is (*is a lawyer*), whom a narrower word would call something else."""
    lower, tag = sentences.lower, sentences.frame["tag"]
    words = lower.filter(tag.is_in(["NN", "NNS"])).unique()
    occupations = words.filter((noun_kinds(words) == "person") & ~words.is_in(place_words("person").implode()))
    articles, predicates = ["a", "an", "the", "his", "her", "their"], [*_BE, "as", ",", "became", "become"]
    direct = lower.shift(1).is_in(articles) & lower.shift(2).is_in(predicates)
    described = tag.shift(1).is_in(["JJ", "NN"]) & lower.shift(2).is_in(articles) & lower.shift(3).is_in(predicates)
    tells = (lower.is_in(occupations.implode()) & (direct | described)).fill_null(value=False).to_numpy()
    inside = tells[options["first"].to_numpy()] | tells[options["last"].to_numpy()]
    elsewhere = np.bincount(sentences.text, tells, minlength=1)[options["text"].to_numpy()] > inside
    return (options["relation"] == "hyponym") & (noun_kinds(options["new"]) == "person") & pl.Series(elsewhere)
