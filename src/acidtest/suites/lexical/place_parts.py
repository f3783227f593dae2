"""Whether the word at a place is part of something else: a name, a title, an idiom, a compound, a reference.

Such a word is not replaced at all: there is no wider word for the lion of *the lion's share*.
"""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import polars as pl

from acidtest.english.sentences import NOUNS, Neighbours, Sentences
from acidtest.io.wordlists import packaged_table

_BETWEEN = ("JJ", "JJR", "JJS", "NN", "NNP", "VBN", "VBG", "POS", "CC", ",", "CD")
"""Tags between a number or rank and its noun: *two full-time circuit riders*."""
_CLOCK = ("in", "sharp", "on", "o'clock", "tonight", "tomorrow", "yesterday")
DETERMINERS = ("DT", "PRP$", "CD", "POS", "PDT", "WP$", "WDT")
SENTENCE_STARTS = ("", ".", "!", "?")


def reasons_against_all(around: Neighbours, sentences: Sentences, places: pl.DataFrame) -> dict[str, pl.Series]:
    """The reasons not to replace the words at some places at all, with a flag for each place."""
    return {
        "another part of speech": ~around.has_expected_tag(),
        "part of a name": around.is_name()
        | _is_surname(around, sentences, places)
        | _is_title(around, sentences, places),
        "part of a compound": around.is_compound() | _is_for_people(around, places) | _is_participle(around, places),
        "without an article": around.is_bare(),
        "idiom": _is_in_idiom(sentences, places),
        "number of no things": _counts_nothing(around, sentences, places),
        "no school subject": _is_no_subject(around, places),
    }


@cache
def place_words(name: str) -> pl.Series:
    """One of the lists of ``data/lexical/place_words.tsv``."""
    return packaged_table("lexical/place_words.tsv").filter(pl.col("list") == name)["word"]


def _is_surname(around: Neighbours, sentences: Sentences, places: pl.DataFrame) -> pl.Series:
    """Whether a word with a capital and no article may be a surname: *Wolf did call*, *Flowers was there*.

    A rank that leads to a name is part of it, too.
    """
    names = pl.concat(packaged_table(f"names/{kind}.tsv")["name"] for kind in ("people", "places")).implode()
    bare = around.is_noun & ~around.tag(-1).is_in(DETERMINERS) & ~places["item"].str.contains(r"^\p{Lu}")
    following = sentences.frame["token"].shift(-1).gather(places["last"]).fill_null("")
    ranked = (places["category"] == "ordinals") & following.str.contains(r"^\p{Lu}")
    token = sentences.frame["token"].gather(places["first"])
    single = (places["slot"] == "plural") & around.word(1).is_in(["was", "is", "has"]) & token.str.contains(r"^\p{Lu}")
    return ranked | (bare & (single | token.is_in(names)))


def _is_title(around: Neighbours, sentences: Sentences, places: pl.DataFrame) -> pl.Series:
    """Whether a bare noun at the beginning leads to a capital (*Man on the Moon*), or a place follows a name."""
    opens = around.word(-1).is_in(SENTENCE_STARTS) & (places["slot"] == "singular")
    capital = sentences.frame["token"].str.contains(r"^\p{Lu}").to_numpy()
    later = np.minimum(places["last"].to_numpy()[:, None] + np.arange(2, 5), len(capital) - 1)
    same = sentences.text[later] == places["text"].to_numpy()[:, None]
    titled = opens & pl.Series((capital[later] & same).any(axis=1))
    located = places["category"].is_in(["cities", "countries", "us-states"]) & around.tag(-2).is_in(NOUNS)
    located &= _is_capital_before(sentences, places, 2) & around.word(-1).is_in(["in", "to", "from", "of"])
    return titled | (opens & (around.word(0) == "bear")) | located


def _is_capital_before(sentences: Sentences, places: pl.DataFrame, steps: int) -> pl.Series:
    """Whether the word some steps before each place has a capital."""
    place = places["first"].to_numpy() - steps
    capital = sentences.frame["token"].str.contains(r"^\p{Lu}").to_numpy()
    return pl.Series(capital[np.maximum(place, 0)] & (place >= 0))


def _is_for_people(around: Neighbours, places: pl.DataFrame) -> pl.Series:
    """Whether a plural with *'s* says for whom something is (*the men's room*), or *one's* precedes: *one's goat*."""
    idiom = around.word(-1).is_in(["'s", "’s"]) & (around.word(-2) == "one")
    return idiom | ((places["slot"] == "plural") & around.word(1).str.contains("^['’]s"))


def _is_participle(around: Neighbours, places: pl.DataFrame) -> pl.Series:
    """Whether a form of a verb describes a noun: *a heated argument*, *the approving official*."""
    form = places["slot"].is_in(["participle", "past", "gerund", "base"]) & around.tag(1).is_in(NOUNS)
    return form & around.tag(-1).is_in(["DT", "JJ", "RB", "PRP$", "IN", "POS"])


@cache
def _idioms() -> str:
    expressions = packaged_table("lexical/idioms.tsv")["expression"].to_list()
    return rf"\b(?:{'|'.join(map(re.escape, expressions))})\b"


def _is_in_idiom(sentences: Sentences, places: pl.DataFrame) -> pl.Series:
    """Whether the text of each place has an idiom with its word: *the lion's share*, *a walk in the park*."""
    idioms = sentences.texts.str.to_lowercase().str.extract_all(_idioms()).list.join(" ")
    words = pl.DataFrame({"idiom": idioms.gather(places["text"]), "word": sentences.lower.gather(places["first"])})
    return words.select(
        (pl.col("idiom") != "") & pl.col("idiom").str.contains(pl.col("word"), literal=True)
    ).to_series()


def _is_no_subject(around: Neighbours, places: pl.DataFrame) -> pl.Series:
    """Whether the word for a school subject describes something else: *studying Italian soccer*."""
    adjective = (places["category"] == "school-subjects") & (places["slot"] == "adjective")
    return adjective & ~around.word(1).is_in(place_words("class").implode())


def _counts_nothing(around: Neighbours, sentences: Sentences, places: pl.DataFrame) -> pl.Series:
    """Whether a number counts no things (*Exhibit 17*), or a stretch of them, or a rank is not that of a noun."""
    plural = singular = pl.Series([False]).new_from_index(0, places.height)
    between = ~plural
    for step in (1, 2, 3, 4):
        plural = plural | (between & around.tag(step).is_in(["NNS", "NNPS"]))
        singular = singular | (between & around.tag(step).is_in(NOUNS))
        between = between & around.tag(step).is_in(_BETWEEN)
    one = around.word(-1)
    hour = (one == "at") & around.word(1).is_in(_CLOCK)
    labels = _is_capital_before(sentences, places, 1) & around.tag(-1).is_in(NOUNS)
    labels |= one.is_in(place_words("end").implode())
    limits = (one == "to") & (around.word(-2) == "up")
    number = (places["category"] == "cardinals") & (labels | limits | ~(plural | hour))
    rank = (places["category"] == "ordinals") & (places["slot"] == "ordinal")
    rank &= (
        ~singular
        | plural
        | (around.tag(1) == "CD")
        | (around.tag(-1) == "PRP")
        | around.tag(1).is_in(["VB", "VBP", "VBD", "VBZ"])
    )
    return number | rank
