"""Sentences with a word replaced by its antonym.

A word is replaced only in *plain places*, positions in a clause where it describes one definite thing: *the soup was
cold*, *the old man slept*, *he sat in the front row*. With the antonym there, the clause cannot be true of the same
event.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np
import polars as pl

from acidtest.core.digests import digests
from acidtest.core.draws import Draws
from acidtest.io.wordlists import packaged_table, word_list
from acidtest.text.inflection import inflect, replace_span
from acidtest.text.sentences import Sentences, doubts
from acidtest.text.wordnet import noun_kind, wordnet

Wsd = Literal["context", "lesk", "first"]
"""How the sense of a word is chosen."""

_ANYWHERE = ("question", "conversation", "quotation", "plurality")
_AFTER = ("negation", "modality", "conditional", "habit")
_BEFORE = (*_AFTER, "belief", "coordination", "quantifier", "comparison", "focus", "subordination")
"""Reasons for doubt that count anywhere in the sentence, in the clause after the word, and in the clause before it."""

_POS_OF_PLACE = {"predicate": "a", "description": "a", "subject": "a", "definite": "a", "nominal": "n", "agent": "n"}
"""The plain places used where the sense is not chosen by context, with the part of speech replaced in each."""

_COLUMNS = {"text": pl.UInt32, "start": pl.UInt32} | dict.fromkeys(
    ("changed", "word", "antonym", "pos", "place"), pl.String
)

_MAY_BE = {
    "name": frozenset({"person", "location", "group"}),
    "they": frozenset({"person", "animal", "artifact", "group"}),
    "it": frozenset({"animal", "artifact", "communication", "act", "event", "food"}),
}
"""The kinds of things that a name or pronoun may refer to."""


@cache
def plain_places() -> dict[str, re.Pattern[str]]:
    """The patterns of the plain places by name; the table of opposites says in which of them a word may be replaced.

    Clauses are matched as "the/DT soup/NN was/VBD <cold/JJ> ./. ", the word to replace between "<" and ">". A pattern
    may refer to parts defined above it in the table.
    """
    parts, places = dict[str, str](), dict[str, re.Pattern[str]]()
    for name, kind, pattern in packaged_table("stress/places.tsv").select("name", "kind", "pattern").iter_rows():
        whole = re.sub(r"\{([a-z ]+)\}", lambda match: parts[match[1]], pattern)
        if kind == "part":
            parts[name] = whole
        else:
            places[name] = re.compile(whole)
    return places


@dataclass(frozen=True)
class Opposite:
    """A word with its antonym in one sense, counted from 1 as WordNet does.

    ``of`` holds the kinds of things that the sense describes (``*``: any); ``places`` the plain places where the word
    may be replaced, unless a word of ``unless`` follows.
    """

    word: str
    antonym: str
    pos: str
    sense: int
    of: frozenset[str]
    places: frozenset[str]
    unless: frozenset[str]


@cache
def opposites() -> dict[tuple[str, str], list[Opposite]]:
    """The packaged opposites by word and part of speech; those for any kind of thing (``*``) come last."""
    by_word = dict[tuple[str, str], list[Opposite]]()
    for row in packaged_table("stress/antonyms.tsv").iter_rows(named=True):
        sets = (frozenset(row[name].split()) for name in ("of", "places", "unless"))
        opposite = Opposite(row["word"], row["antonym"], row["pos"], int(row["sense"]), *sets)
        by_word.setdefault((opposite.word, opposite.pos), []).append(opposite)
    return {key: sorted(several, key=lambda opposite: "*" in opposite.of) for key, several in by_word.items()}


@dataclass(frozen=True)
class PlainPlace:
    """A plain place of a word: its name, the kind of thing the word describes, and the word after it.

    A kind is one of WordNet's lexicographer files of nouns (*person*, *artifact*), ``it``, ``they`` or ``name``; empty
    where the place does not show the kind.
    """

    name: str
    kind: str
    after: str

    @property
    def is_decisive(self) -> bool:
        """Whether word and antonym cannot both be true here; not for *the old ferry was fast*: a new one may be too."""
        return self.name != "subject" or self.kind in ("person", "animal")


@dataclass(frozen=True)
class TaggedSentence:
    """A tagged sentence: its words in lower case and their tags."""

    words: list[str]
    tags: list[str]

    def clause(self, token: int) -> tuple[list[str], int]:
        """The words of the main clause that contains a token, and the token's position in it."""
        starts = [0, *(place + 1 for place in range(len(self.words)) if self._parts(place)), len(self.words) + 1]
        start = max(place for place in starts if place <= token)
        return self.words[start : min(place for place in starts if place > token) - 1], token - start

    def around(self, token: int) -> tuple[str, str]:
        """The words before and after a token."""
        before = self.words[token - 1] if token else ""
        return before, self.words[token + 1] if token + 1 < len(self.words) else ""

    def places(self, token: int) -> Iterator[PlainPlace]:
        """The plain places a token stands in."""
        words, place = self.clause(token)
        tags = self.tags[token - place : token - place + len(words)]
        pieces = [f"{word}/{tag}" for word, tag in zip(words, tags, strict=True)]
        pieces[place] = f"<{pieces[place]}>"
        marked = " ".join(pieces) + " "
        for name, pattern in plain_places().items():
            match = pattern.match(marked)
            if match:
                yield PlainPlace(name, _kind(match.groupdict()), self.around(token)[1])

    def _parts(self, place: int) -> bool:
        """Whether a new main clause may begin after this word: *it rained, and | the street was wet*."""
        word = self.words[place]
        return word == ";" or (word in ("and", "but", "so", "yet") and place > 0 and self.words[place - 1] == ",")


def _kind(parts: Mapping[str, str | None]) -> str:
    pronoun, head = parts.get("pronoun"), parts.get("head")
    if pronoun:
        return "person" if pronoun in ("he", "she", "we", "i", "you") else pronoun
    if parts.get("name"):
        return "name"
    return noun_kind(head) if head else ""


def reveals_another_sex(antonym: str, words: list[str], place: int) -> bool:
    """Whether an antonym and some other word of the sentence both reveal a person's sex: *the woman lost his hat*."""
    revealing = word_list("telling sex")
    return antonym in revealing and any(word in revealing for number, word in enumerate(words) if number != place)


def is_idiom(before: str, word: str, after: str) -> bool:
    """Whether a word and a neighbour form a fixed expression: *hot dog*, *high school*, but not *old man*."""
    if word in word_list("said of people") and after in word_list("people"):
        return False
    return f"{word}_{after}" in _idioms() or f"{before}_{word}" in _idioms()


def are_idioms(words: pl.DataFrame) -> pl.Series:
    """``is_idiom`` of many words: columns before, word and after."""
    is_plain = pl.col("word").is_in(word_list("said of people")) & pl.col("after").is_in(word_list("people"))
    sides = (pl.concat_str(*pair, separator="_") for pair in (("word", "after"), ("before", "word")))
    idioms = _two_word_lemmas().implode()
    return words.select(pl.any_horizontal(side.is_in(idioms) for side in sides) & ~is_plain).to_series()


@cache
def _two_word_lemmas() -> pl.Series:
    """Every entry of WordNet that has two words, joined by ``_``."""
    lemmas = wordnet().lemma_names
    return lemmas.filter(lemmas.str.contains(r"^[^_]+_[^_]+$"))


@cache
def _idioms() -> frozenset[str]:
    return frozenset(_two_word_lemmas().to_list())


def replace_by_antonyms(
    texts: pl.Series, *, wsd: Wsd, tagger: str = "auto", draws: Draws
) -> tuple[pl.DataFrame, Counter[str]]:
    """Sentences with one word replaced by its antonym, and how many words were not replaced, by reason.

    Columns text (row of the sentence), start (of the word), changed, word, antonym, pos and place. ``draws`` decides
    between several antonyms of one sense.
    """
    sentences = Sentences.of(texts, tagger)
    candidates = _candidates(sentences.frame, wsd)
    used = set(candidates["text"])
    lines = {
        text: TaggedSentence([word.lower() for word in words], tags)
        for text, words, tags in sentences.by_text("token", "tag")
        if text in used
    }
    candidates = candidates.with_columns(doubt=_doubts(texts, candidates, lines))
    # With wsd="context" the antonym depends on the place and is chosen below.
    choices = None if wsd == "context" else _antonyms(texts, sentences.frame, candidates, wsd=wsd, draws=draws)
    rows, left_out, done = [], Counter[str](), set[tuple[int, int]]()
    for row in candidates.iter_rows(named=True):
        turn = row["doubt"] or _choose_replacement(row, lines[row["text"]], choices)
        if isinstance(turn, str):
            left_out[turn] += 1
        elif (row["text"], row["start"]) not in done:
            # "Left" in "on the left" is a candidate twice, as adjective and noun, with the same antonym.
            done.add((row["text"], row["start"]))
            place, antonym = turn
            word = inflect(antonym, row["pos"], row["tag"])
            changed = replace_span(texts[row["text"]], row["start"], row["end"], word=word)
            pos = "adjective" if row["pos"] == "a" else "noun"
            rows.append((row["text"], row["start"], changed, row["base"], antonym, pos, place))
    return pl.DataFrame(rows, schema=_COLUMNS, orient="row"), left_out


def _doubts(texts: pl.Series, candidates: pl.DataFrame, lines: Mapping[int, TaggedSentence]) -> pl.Series:
    """Why the sentence (``_ANYWHERE``) or clause of each candidate is not a plain assertion; null where it is."""
    parts = [lines[text].clause(number) for text, number in candidates.select("text", "number").iter_rows()]
    before = pl.Series([" ".join(words[:place]) for words, place in parts], dtype=pl.String)
    after = pl.Series([" ".join(words[place + 1 :]) for words, place in parts], dtype=pl.String)
    whole = doubts(texts, _ANYWHERE).gather(candidates["text"])
    return pl.select(pl.coalesce(whole, doubts(before, _BEFORE), doubts(after, _AFTER))).to_series()


def _candidates(tokens: pl.DataFrame, wsd: Wsd) -> pl.DataFrame:
    """The adjectives and nouns that have an antonym in some sense: columns of ``tokens``, number, pos and base."""
    tokens = tokens.with_columns(number=pl.int_range(pl.len()).over("text"), word=pl.col("token").str.to_lowercase())
    words = tokens["word"].unique()
    if wsd == "context":
        # Taggers often disagree on words such as "right" and "closed": the place decides.
        known = pl.DataFrame(list(opposites()), schema=["base", "pos"], orient="row")
        bases = wordnet().base_form_frame(words).with_columns(pl.col("pos").cast(pl.String))
        bases = bases.select("word", "pos", "base").join(known, on=["base", "pos"])
        bases = bases.filter((pl.col("word") == pl.col("base")) | (pl.col("pos") == "n"))
        likely = pl.col("tag").is_in(["JJ", "VBN", "VBD", "NN", "NNS", "RB", "VB", "VBP", "NNP"])
        matches = tokens.filter(likely).join(bases, on="word", maintain_order="left_right")
        return matches.filter(~((pl.col("pos") == "a") & (pl.col("tag") == "NNS")))
    pos_of_tag = dict.fromkeys(("JJ", "JJR", "JJS", "VBN"), "a") | dict.fromkeys(("NN", "NNS"), "n")
    tokens = tokens.with_columns(pos=pl.col("tag").replace_strict(pos_of_tag, default=None, return_dtype=pl.String))
    bases = wordnet().antonym_frame(words).select("word", _plain_pos(), "base")
    bases = bases.unique(["word", "pos"], keep="first", maintain_order=True)
    return tokens.drop_nulls("pos").join(bases, on=["word", "pos"], maintain_order="left_right")


def _plain_pos() -> pl.Expr:
    return pl.col("pos").cast(pl.String).replace("s", "a")


def _antonyms(
    texts: pl.Series, tokens: pl.DataFrame, candidates: pl.DataFrame, *, wsd: Wsd, draws: Draws
) -> dict[tuple[int, int], str]:
    """The antonym of each candidate (sentence, number) in the sense chosen by ``wsd``."""
    pairs = wordnet().antonym_frame(candidates["word"].unique())
    pairs = pairs.select("word", _plain_pos(), "synset", "rank", "antonym")
    pairs = pairs.filter(~pl.col("antonym").str.contains("_")).unique().sort("word", "synset", "antonym")
    wanted, on = candidates.select("text", "number", "word", "pos"), ["word", "pos"]
    if wsd == "first":
        pairs = pairs.filter(rank=0)
    else:
        from acidtest.text.senses import senses

        contexts = tokens.group_by("text", maintain_order=True).agg("token").with_row_index("row")
        rows = wanted.join(contexts.select("text", "row"), on="text", maintain_order="left")["row"]
        # NLTK's lesk takes one part of speech, but an adjective may also be a satellite: it gets none.
        pos = wanted["pos"].replace("a", None)
        wanted = wanted.with_columns(synset=senses(wsd, contexts["token"], wanted["word"], pos=pos, rows=rows))
        on = [*on, "synset"]
    several = wanted.join(pairs, on=on, maintain_order="left_right")
    keys = digests(texts.gather(several["text"])) + several["number"].to_numpy().astype(np.uint64)
    several = several.with_columns(draw=pl.Series(draws.bits(keys, "antonym") ^ digests(several["antonym"])))
    one = several.sort("text", "number", "draw").unique(["text", "number"], keep="first", maintain_order=True)
    return {(text, number): antonym for text, number, antonym in one.select("text", "number", "antonym").iter_rows()}


def _choose_replacement(
    row: Mapping[str, Any], line: TaggedSentence, choices: Mapping[tuple[int, int], str] | None
) -> tuple[str, str] | str:
    """The name of a candidate's place and its antonym there, or the reason why it is not replaced.

    The antonym comes from ``choices`` if given, else from the table of opposites for that place.
    """
    number = row["number"]
    before, after = line.around(number)
    if row["tag"] in ("NNP", "NNPS"):
        return "name"
    if is_idiom(before, line.words[number], after):
        return "idiom"
    antonym, reason = "", "no plain place"
    for place in line.places(number):
        if choices is None:
            antonym, reason = _antonym_in(place, opposites().get((row["base"], row["pos"]), [])), "sense not sure"
        elif place.is_decisive and _POS_OF_PLACE.get(place.name) == row["pos"]:
            antonym, reason = choices.get((row["text"], number), ""), "no antonym in that sense"
        if antonym:
            break
    else:
        return reason
    if reveals_another_sex(antonym, line.words, number):
        return "sex told elsewhere"
    if antonym in line.words:
        return "antonym near"
    return "idiom" if is_idiom(before, antonym, after) else (place.name, antonym)


def _antonym_in(place: PlainPlace, known: list[Opposite]) -> str:
    """The antonym in the sense that describes the place's kind of thing; empty when no sense is certain."""
    if not place.is_decisive:
        return ""
    choices = [opposite for opposite in known if place.name in opposite.places and place.after not in opposite.unless]
    sure = [opposite for opposite in choices if place.kind in opposite.of or "*" in opposite.of]
    if not sure and len({opposite.antonym for opposite in known}) == 1:
        # "They were old" does not show who they are; with only one possible antonym the kind need not be exact.
        sure = [opposite for opposite in choices if opposite.of & _MAY_BE.get(place.kind, frozenset())]
    return sure[0].antonym if sure else ""
