"""Sentences in which a word is turned into its opposite, so that the two cannot both be true."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import polars as pl

from acidtest.core.digests import digests
from acidtest.core.draws import Draws
from acidtest.text.assertions import doubts
from acidtest.text.opposites import clashes, is_idiom, is_telling, opposite_of, opposites
from acidtest.text.places import Line
from acidtest.text.replacement import graded, plural, replaced
from acidtest.text.senses import senses
from acidtest.text.tagging import tagged
from acidtest.text.wordnet import wordnet

Wsd = Literal["context", "lesk", "first"]
"""How the sense of a word is chosen."""

_ANYWHERE = ("question", "conversation", "quotation", "plurality")
_AFTER = ("negation", "modality", "conditional", "habit")
_BEFORE = (*_AFTER, "belief", "coordination", "quantifier", "comparison", "focus", "subordination")
"""Reasons for doubt: where they stand in the sentence, in the clause before the word, or after it."""

_POS_NAMES = {"a": "adjective", "n": "noun"}
_POS_OF_PLACE = {"predicate": "a", "description": "a", "subject": "a", "definite": "a", "nominal": "n", "agent": "n"}
"""Places in which any word of a part of speech may be replaced, where no table says it."""

_COLUMNS = {"text": pl.UInt32, "start": pl.UInt32} | dict.fromkeys(
    ("changed", "word", "antonym", "pos", "place"), pl.String
)


@dataclass(frozen=True)
class _Turn:
    """A word to be replaced: in which place, by what."""

    place: str
    antonym: str


def turned(texts: pl.Series, *, wsd: Wsd, tagger: str = "auto", draws: Draws) -> tuple[pl.DataFrame, Counter[str]]:
    """Sentences with a word turned into its opposite, and how many words were left as they are, by reason.

    Columns text (row of the sentence), start (of the word), changed, word, antonym, pos and place. ``draws`` decides
    between several antonyms of one sense.
    """
    tokens = tagged(texts, tagger)
    candidates = _candidates(tokens, wsd)
    lines = _lines(tokens.filter(pl.col("text").is_in(candidates["text"].unique().implode())))
    candidates = candidates.with_columns(doubt=_doubts(texts, candidates, lines))
    choices = _antonyms(texts, tokens, candidates, wsd=wsd, draws=draws)
    rows, left_out, done = [], Counter[str](), set[tuple[int, int]]()
    for row in candidates.iter_rows(named=True):
        turn = row["doubt"] or _turn(row, lines[row["text"]], choices)
        if isinstance(turn, str):
            left_out[turn] += 1
        elif (row["text"], row["start"]) not in done:
            # "On the left" is an adjective or a noun, and either way its opposite is the same.
            done.add((row["text"], row["start"]))
            word = _inflected(turn.antonym, row["tag"])
            changed = replaced(texts[row["text"]], row["start"], row["end"], word=word)
            told = (row["base"], turn.antonym, _POS_NAMES[row["pos"]], turn.place)
            rows.append((row["text"], row["start"], changed, *told))
    return pl.DataFrame(rows, schema=_COLUMNS, orient="row"), left_out


def _lines(tokens: pl.DataFrame) -> dict[int, Line]:
    grouped = tokens.group_by("text", maintain_order=True).agg(pl.col("token").str.to_lowercase(), "tag")
    return {text: Line(words, tags) for text, words, tags in grouped.iter_rows()}


def _doubts(texts: pl.Series, candidates: pl.DataFrame, lines: Mapping[int, Line]) -> pl.Series:
    """The reason, if there is one, why the sentence or the clause each candidate is in is no plain assertion.

    What stands in another clause does no harm, nor does most of what comes after the word.
    """
    parts = [lines[text].clause(number) for text, number in candidates.select("text", "number").iter_rows()]
    before = pl.Series([" ".join(words[:place]) for words, place in parts], dtype=pl.String)
    after = pl.Series([" ".join(words[place + 1 :]) for words, place in parts], dtype=pl.String)
    found = {
        "whole": doubts(texts, _ANYWHERE).gather(candidates["text"]),
        "before": doubts(before, _BEFORE),
        "after": doubts(after, _AFTER),
    }
    return pl.DataFrame(found).select(pl.coalesce(*found)).to_series()


def _candidates(tokens: pl.DataFrame, wsd: Wsd) -> pl.DataFrame:
    """The adjectives and nouns that have an antonym in some sense: columns of ``tokens``, number, pos and base."""
    tokens = tokens.with_columns(
        number=pl.int_range(pl.len()).over("text"),
        word=pl.col("token").str.to_lowercase(),
        pos=pl.when(pl.col("tag").is_in(["JJ", "JJR", "JJS", "VBN"]))
        .then(pl.lit("a"))
        .when(pl.col("tag").is_in(["NN", "NNS"]))
        .then(pl.lit("n")),
    )
    if wsd == "context":
        # Taggers often disagree on words such as "right" and "closed": the place decides.
        known = pl.DataFrame(list(opposites()), schema=["base", "pos"], orient="row")
        bases = wordnet().base_form_frame(tokens["word"].unique()).select("word", "pos", "base")
        bases = bases.with_columns(pl.col("pos").cast(pl.String)).join(known, on=["base", "pos"])
        own = bases.filter((pl.col("word") == pl.col("base")) | (pl.col("pos") == "n"))
        likely = pl.col("tag").is_in(["JJ", "VBN", "VBD", "NN", "NNS", "RB", "VB", "VBP", "NNP"])
        found = tokens.drop("pos").filter(likely).join(own, on="word", maintain_order="left_right")
        return found.filter(~((pl.col("pos") == "a") & (pl.col("tag") == "NNS")))
    found = wordnet().antonym_frame(tokens["word"].unique())
    found = found.select("word", pl.col("pos").cast(pl.String).replace("s", "a"), "base").unique(
        ["word", "pos"], keep="first", maintain_order=True
    )
    return tokens.drop_nulls("pos").join(found, on=["word", "pos"], maintain_order="left_right")


def _antonyms(
    texts: pl.Series, tokens: pl.DataFrame, candidates: pl.DataFrame, *, wsd: Wsd, draws: Draws
) -> dict[tuple[int, int], str] | None:
    """The antonym of each candidate (sentence, number) in the sense it is found to have; None: by its place."""
    if wsd == "context":
        return None
    pairs = (
        wordnet()
        .antonym_frame(candidates["word"].unique())
        .select("word", pl.col("pos").cast(pl.String).replace("s", "a"), "synset", "rank", "antonym")
    )
    pairs = pairs.filter(~pl.col("antonym").str.contains("_")).unique().sort("word", "synset", "antonym")
    asked = candidates.select("text", "number", "word", "pos")
    if wsd == "first":
        several = asked.join(pairs.filter(rank=0), on=["word", "pos"], maintain_order="left_right")
    else:
        contexts = tokens.group_by("text", maintain_order=True).agg("token")
        row = asked.join(contexts.select("text").with_row_index("row"), on="text", maintain_order="left")["row"]
        synsets = senses(wsd, contexts["token"], asked["word"], pos=_lesk_pos(asked["pos"]), rows=row)
        several = asked.with_columns(synset=synsets).join(
            pairs, on=["word", "pos", "synset"], maintain_order="left_right"
        )
    keys = digests(texts.gather(several["text"])) + several["number"].to_numpy().astype(np.uint64)
    several = several.with_columns(draw=pl.Series(draws.bits(keys, "antonym") ^ digests(several["antonym"])))
    one = several.sort("text", "number", "draw").unique(["text", "number"], keep="first", maintain_order=True)
    return {(text, number): antonym for text, number, antonym in one.select("text", "number", "antonym").iter_rows()}


def _turn(row: Mapping[str, Any], line: Line, choices: Mapping[tuple[int, int], str] | None) -> _Turn | str:
    """How a candidate is to be replaced, or the reason why it is left as it is."""
    number = row["number"]
    before, after = line.around(number)
    if row["tag"] in ("NNP", "NNPS"):
        return "name"
    if is_idiom(before, line.words[number], after):
        return "idiom"
    turn = _by_place(row, line) if choices is None else _by_sense(row, line, choices)
    if isinstance(turn, str):
        return turn
    if clashes(turn.antonym, line.words, number):
        return "sex told elsewhere"
    if turn.antonym in line.words:
        return "antonym near"
    return "idiom" if is_idiom(before, turn.antonym, after) else turn


def _by_place(row: Mapping[str, Any], line: Line) -> _Turn | str:
    """The sense that the place tells, from the table of opposites."""
    reason = "no plain place"
    for place in line.places(row["number"]):
        found = opposite_of(row["base"], row["pos"], place)
        if found is not None:
            return _Turn(place.name, found.antonym)
        reason = "sense not sure"
    return reason


def _by_sense(row: Mapping[str, Any], line: Line, choices: Mapping[tuple[int, int], str]) -> _Turn | str:
    """The sense that was chosen before, whatever the place."""
    fitting = (place for place in line.places(row["number"]) if _POS_OF_PLACE.get(place.name) == row["pos"])
    place = next(filter(is_telling, fitting), None)
    if place is None:
        return "no plain place"
    antonym = choices.get((row["text"], row["number"]))
    return _Turn(place.name, antonym) if antonym else "no antonym in that sense"


def _lesk_pos(pos: pl.Series) -> pl.Series:
    # NLTK's lesk takes one part of speech, and an adjective may be a satellite too: there it is left open.
    return pos.replace("a", None)


def _inflected(antonym: str, tag: str) -> str:
    if tag == "NNS":
        return plural(antonym)
    return graded(antonym, "er" if tag == "JJR" else "est") if tag in ("JJR", "JJS") else antonym
