"""The polarity of a place for the purpose of replacing its word: of ``Sentences.contexts``, what is beyond doubt."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

import polars as pl

from acidtest.english.sentences import NOUNS, Neighbours, Sentences, doubts
from acidtest.suites.lexical.place_limits import NUMBERS_AND_TIMES
from acidtest.suites.lexical.place_parts import place_words

_DEFINITE = ("the", "this", "that", "these", "those", "his", "her", "its", "their", "my", "your", "our", "'s")
_CROSSED = ("to", "that", "for", "than", "because", "just", "only", "mind", "but", ";", ":", ",", "who", "which")
"""Words over which a denial does not reach: *it is not hard to imagine a message*."""
_NEAR = 7
"""How many words before a place may stand what turns it."""
_MODIFIERS = ("JJ", "JJR", "JJS", "CD", "VBN", "VBG", "RB", *NOUNS)
_PRESUPPOSING = r"(?i)\b(?:since|when|whenever|until|till|before|once)\b[^.;!?]*$"
"""What begins a clause that may tell of another event: *since communism closed shop in Russia*."""
_DENIED = r"(?i)(?:\b(?:not|never|nobody|nothing|none|neither|nor|no|without|cannot)\b|n['’]t\b)[^.;!?]*$"
_VERBS = ("base", "third", "gerund", "past", "participle")
_ASKING = r"^[^.!?;]*\?"
_OPEN_QUOTE = r"(?:^|[\s(])['‘`][^'’]*$"


def polarities(sentences: Sentences, places: pl.DataFrame) -> pl.DataFrame:
    """The ``polarity`` of each place, whether it is ``asserted``, and the ``reason`` not to replace its word, or null.

    ``places`` are as ``find_occurrences`` returns them. Where the context is not sure the polarity is *none* and
    nothing is asserted: in conversations and commands, and where a word turns the place that the context leaves upward.
    """
    # An expression has the context of its last word, which is mostly its head.
    context = sentences.contexts(places["last"].to_numpy())
    # A rank (*the second*) says of its own place that it is not monotone; ranks and times exclude each other even so.
    ranked = context["by"].str.starts_with("the ") & places["category"].is_in(NUMBERS_AND_TIMES)
    context = context.with_columns(polarity=pl.when(ranked).then(pl.lit("up")).otherwise("polarity"))
    whole = sentences.texts.gather(places["text"])
    starts, ends = sentences.frame["start"], sentences.frame["end"]
    before, after = whole.str.slice(0, starts.gather(places["first"])), whole.str.slice(ends.gather(places["last"]))
    downward = _is_plainly_downward(sentences, places, context)
    doubtful = (context["polarity"] == "down") & ~downward
    doubtful |= (context["polarity"] == "up") & _may_be_turned(sentences, places)
    doubtful |= doubts(sentences.texts, ["conversation"]).is_not_null().gather(places["text"])
    doubtful |= (context["clause"] == "command") | before.str.contains(_obstacles())
    presupposed = (context["clause"] != "main") & before.str.contains(_PRESUPPOSING)
    presupposed |= (context["clause"] == "fragment") & _opens_with_gerund(sentences).gather(places["text"])
    # What the parse leaves upward after a denial may be denied all the same.
    denied = (context["polarity"] != "down") & before.str.contains(_DENIED)
    named = pl.col("phrase").is_in(["name", "title"]) & ~places["item"].str.contains(r"^\p{Lu}")
    # "In front of" and "at night" are fixed as a whole, and replaced so; "run through" is as good as "walk through".
    replaced = (
        (places["last"] > places["first"]) | (places["category"] == "times-of-day") | places["slot"].is_in(_VERBS)
    )
    return context.select(
        polarity=pl.when(doubtful).then(pl.lit("none")).otherwise("polarity"),
        asserted=pl.col("asserted") & ~doubtful & ~presupposed & ~denied,
        reason=pl.coalesce(
            pl.when(pl.col("clause").is_in(["question", "quotation"])).then("clause"),
            pl.when(after.str.contains(_ASKING)).then(pl.lit("question")),
            pl.when(before.str.contains(_OPEN_QUOTE)).then(pl.lit("quotation")),
            pl.when(named | (pl.col("phrase").is_in(["idiom", "fixed"]) & ~replaced)).then("phrase"),
        ),
    )


def _opens_with_gerund(sentences: Sentences) -> pl.Series:
    """Whether each text begins with a form in *-ing*, which has no subject: *driving a car*."""
    tags = sentences.frame.group_by("text", maintain_order=True).agg(pl.col("tag").first())
    texts = tags.filter(pl.col("tag") == "VBG")["text"]
    return pl.int_range(len(sentences.texts), eager=True).is_in(texts.cast(pl.Int64).implode())


@cache
def _obstacles() -> str:
    """A pattern for words that keep something from being: *a hard time finding jeans*."""
    return rf"(?i)\b(?:{'|'.join(map(re.escape, place_words('obstacle')))})\b[^.;!?]*$"


def _may_be_turned(sentences: Sentences, places: pl.DataFrame) -> pl.Series:
    """Whether a quantifier determines the noun phrase of each place, or a denial stands in its clause before it."""
    around = Neighbours(sentences, places)
    quantifiers, denials = (place_words(name).implode() for name in ("quantifier", "denial"))
    inside = around.word(-1) != ""
    quantified = inside & False
    for step in (1, 2, 3, 4):
        quantified = quantified | (inside & around.word(-step).is_in(quantifiers))
        inside = inside & around.tag(-step).is_in(_MODIFIERS)
    return quantified | _reaches(around, lambda word: word.is_in(denials))


def _is_plainly_downward(sentences: Sentences, places: pl.DataFrame, context: pl.DataFrame) -> pl.Series:
    """Whether a word shortly before each place turns it, in an asserted clause: *no dog*, *is not riding a horse*.

    After *all* and *every* only their own noun is downward. A thing spoken of with *the* is the same thing under *not*.
    """
    around = Neighbours(sentences, places)
    by, one, two = context["by"], around.word(-1), around.word(-2)
    denied = by.is_in(place_words("denial").implode()) & _reaches(around, lambda word: word == by)
    modified = around.tag(-1).is_in(["JJ", "CD", "NN"])
    definite = one.is_in(_DEFINITE) | (modified & two.is_in(_DEFINITE))
    direct = by.is_in(["all", "every"]) & ((one == by) | (modified & (two == by)))
    plain = context["asserted"] & context["clause"].is_in(["main", "relative", "fragment"])
    return (context["polarity"] == "down") & plain & (direct | (denied & ~definite))


def _reaches(around: Neighbours, is_wanted: Callable[[pl.Series], pl.Series]) -> pl.Series:
    """Whether a wanted word is among the last before each place, with none of ``_CROSSED`` between."""
    crossed = reached = around.word(0) == ""
    for step in range(1, _NEAR + 1):
        word = around.word(-step)
        reached = reached | (~crossed & is_wanted(word))
        crossed = crossed | word.is_in(_CROSSED)
    return reached
