"""Whether a word is part of what should stay whole: a name, title, fixed phrase, idiom, measure or compound."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from acidtest.english.wordnet import wordnet
from acidtest.io.wordlists import packaged_table, word_list

if TYPE_CHECKING:
    from acidtest.english.sentences import Places, Sentences

Flags = NDArray[np.bool_]

_NOUNS = ("NN", "NNS", "NNP", "NNPS")
_NAMES = ("NNP", "NNPS")
_HYPHENS = ("-", "–", "/")
_LONGEST = 5


def phrase_kinds(sentences: Sentences, places: Places) -> pl.Series:
    """For each place name, title, fixed, idiom, measure or compound, or an empty string."""
    flags = {
        "title": _titles(sentences, places),
        "name": _names(sentences, places),
        "fixed": _fixed(sentences, places),
        "measure": _measures(sentences, places),
        "idiom": _idioms(sentences, places),
        "compound": _compounds(sentences, places),
    }
    kinds = [pl.when(pl.Series(flag)).then(pl.lit(kind)) for kind, flag in flags.items()]
    return (
        pl.select(pl.coalesce(*kinds, pl.lit("")).alias("phrase")).to_series()
        if len(places)
        else pl.Series("phrase", [], pl.String)
    )


class _Around:
    """The words and tags around places."""

    def __init__(self, sentences: Sentences, places: Places) -> None:
        self._sentences, self._places, self._text = sentences, places, sentences.text[places]

    def word(self, step: int) -> pl.Series:
        return self._sentences.words(self._places + step, of=self._text)

    def tag(self, step: int) -> pl.Series:
        return self._sentences.tags(self._places + step, of=self._text)


def _titles(sentences: Sentences, places: Places) -> Flags:
    """Whether the text is a title or headline: no full stop, and more words with a capital than without."""
    texts = sentences.texts.cast(pl.String)
    upper, lower = (texts.str.count_matches(rf"\b\p{{{case}}}\w{{2,}}") for case in ("Lu", "Ll"))
    is_title = (upper > lower) & (upper > 1) & ~texts.str.contains(r"[.!?]\W*$")
    return is_title.fill_null(value=False).to_numpy()[sentences.text[places]]


def _names(sentences: Sentences, places: Places) -> Flags:
    """Whether a word is part of a name: tagged so, recognised as one, or a capitalised noun within a sentence."""
    around = _Around(sentences, places)
    tag = around.tag(0)
    capital = sentences.frame["token"].gather(places).str.contains(r"^\p{Lu}").to_numpy()
    opens = around.word(-1).is_in(["", ".", "!", "?", ":", '"', "“", "``"]).to_numpy()
    entity = sentences.frame["entity"].gather(places).is_not_null().to_numpy()
    beside = (around.tag(1).is_in(_NAMES) | around.tag(-1).is_in(_NAMES)).to_numpy()
    inside = capital & ~opens & (tag.is_in(_NOUNS).to_numpy() | beside)
    names: Flags = entity | tag.is_in(_NAMES).to_numpy() | inside
    return names


def _fixed(sentences: Sentences, places: Places) -> Flags:
    """Whether a word is part of a listed phrase, such as *at least* or *in front of*."""
    around = _Around(sentences, places)
    words = {step: around.word(step) for step in range(1 - _LONGEST, _LONGEST)}
    flags = np.zeros(len(places), np.bool_)
    for size in range(2, _LONGEST + 1):
        listed = _fixed_phrases(size).implode()
        for first in range(1 - size, 1):
            parts = [words[first + step].alias(str(step)) for step in range(size)]
            flags |= pl.select(pl.concat_str(parts, separator=" ").is_in(listed)).to_series().to_numpy()
    return flags


@cache
def _fixed_phrases(size: int) -> pl.Series:
    phrases = pl.concat([packaged_table(f"contexts/{name}.tsv")["words"] for name in ("connectives", "fixed")]).unique()
    return phrases.filter(phrases.str.count_matches(" ") == size - 1)


def _measures(sentences: Sentences, places: Places) -> Flags:
    """Whether a word is part of a measure: *five kilometres*, *ten years old*, *$ 20*."""
    around = _Around(sentences, places)
    units = packaged_table("contexts/units.tsv")["unit"].implode()

    def unit(step: int) -> Flags:
        return around.word(step).is_in(units).to_numpy()

    def number(step: int) -> Flags:
        counts = around.tag(step) == "CD"
        return (counts | around.word(step).is_in(["several", "many", "few", "half", "per", "couple"])).to_numpy()

    counted = unit(0) & (number(-1) | (number(-2) & (around.tag(-1).is_in(["JJ", "IN"]).to_numpy())))
    counts = number(0) & (unit(1) | (unit(2) & (around.tag(1) == "JJ").to_numpy()))
    money = (around.word(-1).is_in(["$", "£", "€"]) | around.word(0).is_in(["$", "£", "€", "%"])).to_numpy()
    old = around.word(0).is_in(
        ["old", "long", "tall", "high", "wide", "deep", "thick", "away", "ago"]
    ).to_numpy() & unit(-1)
    measures: Flags = counted | counts | money | old
    return measures


def _idioms(sentences: Sentences, places: Places) -> Flags:
    """Whether a word and its neighbour are an entry of WordNet: *hot dog*, *give up*, but not *old man*."""
    around = _Around(sentences, places)
    base = _base_forms(sentences, places)
    before, word, after = (around.word(step) for step in (-1, 0, 1))
    frame = pl.DataFrame({"before": before, "word": word, "after": after, "base": base})
    said, people = word_list("said of people"), word_list("people")
    plain = (pl.col("word").is_in(said) & pl.col("after").is_in(people)) | (
        pl.col("before").is_in(said) & pl.col("word").is_in(people)
    )
    pairs = (("word", "after"), ("before", "word"), ("base", "after"), ("before", "base"))
    entries = wordnet().two_word_lemmas.implode()
    listed = pl.any_horizontal(pl.concat_str(*pair, separator="_").is_in(entries) for pair in pairs)
    return frame.select(listed & ~plain).to_series().to_numpy()


def _base_forms(sentences: Sentences, places: Places) -> pl.Series:
    words = sentences.lower.gather(places)
    bases = wordnet().base_form_frame(words.unique()).unique("word", keep="first", maintain_order=True)
    joined = pl.DataFrame({"word": words}).join(
        bases.select("word", "base"), on="word", how="left", maintain_order="left"
    )
    return joined["base"].fill_null("")


def _compounds(sentences: Sentences, places: Places) -> Flags:
    """Whether a noun stands beside another in one phrase (*police dog*), or a word beside a hyphen."""
    around = _Around(sentences, places)
    noun = around.tag(0).is_in(_NOUNS)
    beside = noun & (around.tag(1).is_in(_NOUNS) | around.tag(-1).is_in(_NOUNS))
    hyphen = around.word(1).is_in(_HYPHENS) | around.word(-1).is_in(_HYPHENS)
    return (beside | hyphen).to_numpy()
