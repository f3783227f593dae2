"""Sentences with a word replaced by its antonym, and antonyms across a premise and a hypothesis.

Across two sentences, words are compared by their base forms in any part of speech, so that *hated* is opposite *loves*,
whatever their senses.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import polars as pl

from acidtest.core.digests import digests
from acidtest.core.draws import Draws
from acidtest.io.wordlists import packaged_table
from acidtest.text.heuristics import words
from acidtest.text.inflection import compare_adjective, plural, replace_span
from acidtest.text.opposites import TaggedSentence, is_decisive, is_idiom, opposite_of, opposites, reveals_another_sex
from acidtest.text.senses import senses
from acidtest.text.sentences import Sentences, doubts
from acidtest.text.wordnet import ALL_POS, SATELLITE, wordnet

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

_BLOCK = 1 << 16

_SCHEMA: dict[str, pl.DataType | type[pl.DataType]] = {
    "row": pl.UInt32,
    "premise_word": pl.String,
    "hypothesis_word": pl.String,
    "premise_lemma": pl.String,
    "hypothesis_lemma": pl.String,
    "pos": ALL_POS,
    "opposed": pl.Boolean,
}


@dataclass(frozen=True)
class _Replacement:
    """A word to be replaced: in which place, by what."""

    place: str
    antonym: str


def replace_by_antonyms(
    texts: pl.Series, *, wsd: Wsd, tagger: str = "auto", draws: Draws
) -> tuple[pl.DataFrame, Counter[str]]:
    """Sentences with a word turned into its opposite, and how many words were left as they are, by reason.

    Columns text (row of the sentence), start (of the word), changed, word, antonym, pos and place. ``draws`` decides
    between several antonyms of one sense.
    """
    sentences = Sentences.of(texts, tagger)
    tokens = sentences.frame
    candidates = _candidates(tokens, wsd)
    lines = _tagged_sentences(sentences, of=set(candidates["text"]))
    candidates = candidates.with_columns(doubt=_doubts(texts, candidates, lines))
    choices = _antonyms(texts, tokens, candidates, wsd=wsd, draws=draws)
    rows, left_out, done = [], Counter[str](), set[tuple[int, int]]()
    for row in candidates.iter_rows(named=True):
        turn = row["doubt"] or _choose_replacement(row, lines[row["text"]], choices)
        if isinstance(turn, str):
            left_out[turn] += 1
        elif (row["text"], row["start"]) not in done:
            # "On the left" is an adjective or a noun, and either way its opposite is the same.
            done.add((row["text"], row["start"]))
            word = _inflected(turn.antonym, row["tag"])
            changed = replace_span(texts[row["text"]], row["start"], row["end"], word=word)
            description = (row["base"], turn.antonym, _POS_NAMES[row["pos"]], turn.place)
            rows.append((row["text"], row["start"], changed, *description))
    return pl.DataFrame(rows, schema=_COLUMNS, orient="row"), left_out


def _tagged_sentences(sentences: Sentences, *, of: Collection[int]) -> dict[int, TaggedSentence]:
    return {
        text: TaggedSentence([word.lower() for word in words], tags)
        for text, words, tags in sentences.by_text("token", "tag")
        if text in of
    }


def _doubts(texts: pl.Series, candidates: pl.DataFrame, lines: Mapping[int, TaggedSentence]) -> pl.Series:
    """The reason, if there is one, why the sentence or the clause each candidate is in is no plain assertion.

    What stands in another clause does no harm, nor does most of what comes after the word.
    """
    parts = [lines[text].clause(number) for text, number in candidates.select("text", "number").iter_rows()]
    before = pl.Series([" ".join(words[:place]) for words, place in parts], dtype=pl.String)
    after = pl.Series([" ".join(words[place + 1 :]) for words, place in parts], dtype=pl.String)
    reasons = {
        "whole": doubts(texts, _ANYWHERE).gather(candidates["text"]),
        "before": doubts(before, _BEFORE),
        "after": doubts(after, _AFTER),
    }
    return pl.DataFrame(reasons).select(pl.coalesce(*reasons)).to_series()


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
        base_forms = bases.filter((pl.col("word") == pl.col("base")) | (pl.col("pos") == "n"))
        likely = pl.col("tag").is_in(["JJ", "VBN", "VBD", "NN", "NNS", "RB", "VB", "VBP", "NNP"])
        matches = tokens.drop("pos").filter(likely).join(base_forms, on="word", maintain_order="left_right")
        return matches.filter(~((pl.col("pos") == "a") & (pl.col("tag") == "NNS")))
    matches = wordnet().antonym_frame(tokens["word"].unique())
    matches = matches.select("word", pl.col("pos").cast(pl.String).replace("s", "a"), "base").unique(
        ["word", "pos"], keep="first", maintain_order=True
    )
    return tokens.drop_nulls("pos").join(matches, on=["word", "pos"], maintain_order="left_right")


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
    wanted = candidates.select("text", "number", "word", "pos")
    if wsd == "first":
        several = wanted.join(pairs.filter(rank=0), on=["word", "pos"], maintain_order="left_right")
    else:
        contexts = tokens.group_by("text", maintain_order=True).agg("token")
        row = wanted.join(contexts.select("text").with_row_index("row"), on="text", maintain_order="left")["row"]
        synsets = senses(wsd, contexts["token"], wanted["word"], pos=_lesk_pos(wanted["pos"]), rows=row)
        several = wanted.with_columns(synset=synsets).join(
            pairs, on=["word", "pos", "synset"], maintain_order="left_right"
        )
    keys = digests(texts.gather(several["text"])) + several["number"].to_numpy().astype(np.uint64)
    several = several.with_columns(draw=pl.Series(draws.bits(keys, "antonym") ^ digests(several["antonym"])))
    one = several.sort("text", "number", "draw").unique(["text", "number"], keep="first", maintain_order=True)
    return {(text, number): antonym for text, number, antonym in one.select("text", "number", "antonym").iter_rows()}


def _choose_replacement(
    row: Mapping[str, Any], line: TaggedSentence, choices: Mapping[tuple[int, int], str] | None
) -> _Replacement | str:
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
    if reveals_another_sex(turn.antonym, line.words, number):
        return "sex told elsewhere"
    if turn.antonym in line.words:
        return "antonym near"
    return "idiom" if is_idiom(before, turn.antonym, after) else turn


def _by_place(row: Mapping[str, Any], line: TaggedSentence) -> _Replacement | str:
    """The opposite that the table gives for a word in such a place."""
    reason = "no plain place"
    for place in line.places(row["number"]):
        opposite = opposite_of(row["base"], row["pos"], place)
        if opposite is not None:
            return _Replacement(place.name, opposite.antonym)
        reason = "sense not sure"
    return reason


def _by_sense(
    row: Mapping[str, Any], line: TaggedSentence, choices: Mapping[tuple[int, int], str]
) -> _Replacement | str:
    """The sense that was chosen before, whatever the place."""
    fitting = (place for place in line.places(row["number"]) if _POS_OF_PLACE.get(place.name) == row["pos"])
    place = next(filter(is_decisive, fitting), None)
    if place is None:
        return "no plain place"
    antonym = choices.get((row["text"], row["number"]))
    return _Replacement(place.name, antonym) if antonym else "no antonym in that sense"


def _lesk_pos(pos: pl.Series) -> pl.Series:
    # NLTK's lesk takes one part of speech, and an adjective may be a satellite too: there it is left open.
    return pos.replace("a", None)


def _inflected(antonym: str, tag: str) -> str:
    if tag == "NNS":
        return plural(antonym)
    return compare_adjective(antonym, "er" if tag == "JJR" else "est") if tag in ("JJR", "JJS") else antonym


def antonym_pairs(premises: pl.Series, hypotheses: pl.Series, *, every_pair: bool = False) -> pl.DataFrame:
    """Every antonym pair of WordNet with one word in the premise and the other in the hypothesis.

    Columns: ``row`` (number of the sentence pair), ``premise_word`` and ``hypothesis_word`` in lower case,
    ``premise_lemma``, ``hypothesis_lemma`` and ``pos`` (n, v, a or r: a row for each reading in which they are
    antonyms), and ``opposed``: neither word is in both sentences in any form, so that they tell the two apart. Rows
    stand in the order of the sentences. Pairs that seldom oppose anything, such as the prepositions *on* and *off*, are
    left out, unless ``every_pair``; ``data/typology/no_antonyms.tsv`` has them.
    """
    blocks = [_pairs(*block, every_pair=every_pair) for block in _blocks(premises, hypotheses)]
    return pl.concat([pl.DataFrame(schema=_SCHEMA), *blocks])


def opposed_words(premises: pl.Series, hypotheses: pl.Series) -> pl.Series:
    """The antonyms that tell the two sentences of each pair apart, premise's first: lists such as ``["love/hate"]``."""
    pairs = antonym_pairs(premises, hypotheses).filter("opposed")
    pair = pl.concat_str("premise_word", "hypothesis_word", separator="/").alias("opposed_words")
    lists = pairs.group_by("row", maintain_order=True).agg(pair.unique(maintain_order=True))
    rows = pl.DataFrame({"row": pl.int_range(len(premises), dtype=pl.UInt32, eager=True)})
    joined = rows.join(lists, on="row", how="left", maintain_order="left")["opposed_words"]
    return joined.fill_null(pl.Series([[]], dtype=pl.List(pl.String)))


def _blocks(premises: pl.Series, hypotheses: pl.Series) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
    """The different words of some pairs at a time, so that a training set needs no more memory than its sentences."""
    for start in range(0, len(premises), _BLOCK):
        yield _placed(premises.slice(start, _BLOCK), start), _placed(hypotheses.slice(start, _BLOCK), start)


def _placed(sentences: pl.Series, start: int) -> pl.DataFrame:
    rows = pl.int_range(start, start + len(sentences), dtype=pl.UInt32, eager=True)
    frame = pl.DataFrame({"row": rows, "word": words(sentences).list.unique(maintain_order=True)})
    return frame.explode("word", empty_as_null=False, keep_nulls=False)


def _pairs(premise: pl.DataFrame, hypothesis: pl.DataFrame, *, every_pair: bool) -> pl.DataFrame:
    forms = _antonym_forms(pl.concat([premise["word"], hypothesis["word"]]).unique(maintain_order=True))
    known = _opposite_words(forms)
    if not every_pair:
        known = known.join(_unreliable(), on=["premise_lemma", "hypothesis_lemma"], how="anti", maintain_order="left")
    here = premise.rename({"word": "premise_word"}).join(known, on="premise_word", maintain_order="left_right")
    there = hypothesis.rename({"word": "hypothesis_word"})
    pairs = here.join(there, on=["row", "hypothesis_word"], how="semi", maintain_order="left")
    apart = _absent(pairs, "premise", hypothesis, forms) & _absent(pairs, "hypothesis", premise, forms)
    return pairs.with_columns(apart.alias("opposed")).select(pl.col(name).cast(kind) for name, kind in _SCHEMA.items())


def _absent(pairs: pl.DataFrame, side: str, others: pl.DataFrame, forms: pl.DataFrame) -> pl.Series:
    """Whether the other sentence of each pair has no form of the word on this side, not even in *open-air*."""
    lemmas = pairs.select("row", base=f"{side}_lemma")
    parts = others.filter(pl.col("word").str.contains("-", literal=True)).with_columns(pl.col("word").str.split("-"))
    others = pl.concat([others, parts.explode("word", empty_as_null=False)])
    there = others.join(forms.select("word", "base").unique(), on="word").select("row", "base", there=True).unique()
    return lemmas.join(there, on=["row", "base"], how="left", maintain_order="left")["there"].is_null()


def _antonym_forms(vocabulary: pl.Series) -> pl.DataFrame:
    """The words that are forms of a lemma with antonyms: columns word, base, antonym and pos."""
    lower = pl.col("antonym").str.to_lowercase()
    forms = wordnet().antonym_frame(vocabulary).select("word", "base", lower, pos=pl.col("pos").replace(SATELLITE, "a"))
    return forms.unique(maintain_order=True)


def _opposite_words(forms: pl.DataFrame) -> pl.DataFrame:
    """Every two words that are forms of antonyms."""
    first = forms.select("pos", premise_word="word", premise_lemma="base", hypothesis_lemma="antonym")
    second = forms.select("pos", hypothesis_word="word", hypothesis_lemma="base", premise_lemma="antonym")
    return first.join(second, on=["premise_lemma", "hypothesis_lemma", "pos"], maintain_order="left_right")


def _unreliable() -> pl.DataFrame:
    """The pairs that are left out, in both orders."""
    table = packaged_table("typology/no_antonyms.tsv")
    there = table.select(premise_lemma="word", hypothesis_lemma="antonym")
    back = table.select(premise_lemma="antonym", hypothesis_lemma="word")
    return pl.concat([there, back])
