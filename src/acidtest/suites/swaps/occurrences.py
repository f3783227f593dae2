"""Two words swapped between premise and hypothesis: transformation T of Sanchez Carmona et al. (2018), section 5.2.

Every occurrence of the premise's word becomes the hypothesis's and vice versa; each takes the form (number,
tense, degree), the capitals and the article of its new place. Pairs in which one side has both words are left out:
after the swap one of the words would still stand on its old side. The gold labels that people gave to swapped pairs are
read from what ``acidtest agreement ANSWERS --questionnaire swaps -o FILE`` writes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

from acidtest.core.errors import FileError
from acidtest.core.labels import GOLD_MASKS
from acidtest.core.suite import Card, Suite, complete_columns
from acidtest.english.inflection import inflect
from acidtest.english.sentences import Sentences
from acidtest.english.tokens import TokenColumns, tokenise
from acidtest.english.wordnet import base_forms
from acidtest.io.tables import read_table
from acidtest.io.wordlists import STARTER_CITATION, packaged_table, starter_premises
from acidtest.suites.swaps.places import Occurrence, TaggedWords, misfit, rewrite_occurrences

_POS = {"NN": "n", "NNS": "n", "JJ": "a", "JJR": "a", "JJS": "a", "RB": "r", "RBR": "r", "RBS": "r"} | dict.fromkeys(
    ("VB", "VBP", "VBZ", "VBG", "VBD", "VBN"), "v"
)

_LABELS = ("premise", "hypothesis", "label")
DISCARDED, UNDECIDED = "discarded", "undecided"


@dataclass(frozen=True)
class Swaps:
    """The possible swaps in pairs of sentences, and how many were left out, by reason.

    ``frame`` has a row for each pair of words that can be swapped: ``row``, the number of the pair of sentences; the
    columns of the table of word pairs (lemmas, pos, relation, ``sure``); the inflected words in lower case, before and
    after (``swapped_…_word``); the sentences after the swap; and ``premise_places`` and ``hypothesis_places``, lists of
    the fields of ``Occurrence``.
    """

    frame: pl.DataFrame
    left_out: Counter[str]


def swaps(premises: pl.Series, hypotheses: pl.Series, pairs: pl.DataFrame, *, tagger: str = "auto") -> Swaps:
    """The swaps of all word pairs in ``pairs`` whose first word is in the premise and second in the hypothesis."""
    candidates, left_out = _candidates(premises, hypotheses, pairs)
    located = candidates
    for side, texts in (("premise", premises), ("hypothesis", hypotheses)):
        wanted = candidates.select("row", lemma=f"{side}_lemma", pos="pos").unique()
        places = _places(texts, wanted, tagger).rename({"lemma": f"{side}_lemma", "places": f"{side}_places"})
        located = located.join(places, on=["row", f"{side}_lemma", "pos"], maintain_order="left")
    left_out["another part of speech"] = candidates.height - located.height
    misfits = pl.Series([_misfit(row) for row in located.iter_rows(named=True)], dtype=pl.String)
    left_out.update(misfits.filter(misfits != ""))
    return Swaps(_swap_rows(located.filter(misfits == ""), premises, hypotheses), +left_out)


def _misfit(row: Mapping[str, Any]) -> str:
    """Why the words of a row cannot take each other's places; empty if they can."""
    places = {side: [Occurrence(**place) for place in row[f"{side}_places"]] for side in ("premise", "hypothesis")}
    lemmas = {side: row[f"{side}_lemma"] for side in places}
    orders = (("premise", "hypothesis"), ("hypothesis", "premise"))
    reasons = [misfit(places[a], lemmas[b], lemmas[a], row["pos"], places[b]) for a, b in orders]
    return next(filter(None, reasons), "")


def _candidates(premises: pl.Series, hypotheses: pl.Series, pairs: pl.DataFrame) -> tuple[pl.DataFrame, Counter[str]]:
    """Word pairs with one word in the premise of a row and the other in its hypothesis, before tags are checked."""
    sides = tokenise(premises), tokenise(hypotheses)
    forms = base_forms(pl.concat(side.words for side in sides).str.to_lowercase().unique(maintain_order=True))
    # WordNet has hundreds of thousands of pairs: keep those whose two words may both occur in the texts.
    bases = forms["base"].unique().implode()
    pairs = pairs.filter(pl.col("premise_lemma").is_in(bases), pl.col("hypothesis_lemma").is_in(bases))
    lemmas = pl.concat([pairs["premise_lemma"], pairs["hypothesis_lemma"]]).unique()
    forms = forms.filter(pl.col("base").is_in(lemmas.implode()))
    in_premise, in_hypothesis = (_mentions(side, forms) for side in sides)
    hypothesis_lemmas = in_hypothesis.rename({"base": "hypothesis_lemma"})
    joined = in_premise.rename({"base": "premise_lemma"}).join(hypothesis_lemmas, on=["row", "pos"])
    matches = joined.join(pairs, on=["premise_lemma", "hypothesis_lemma", "pos"])
    separated = matches
    for mentions, other in ((in_premise, "hypothesis_lemma"), (in_hypothesis, "premise_lemma")):
        separated = separated.join(mentions, left_on=["row", other], right_on=["row", "base"], how="anti")
    left_out = Counter({"both words on one side": matches.height - separated.height})
    return separated.sort("row", "premise_lemma", "hypothesis_lemma", "pos"), left_out


def _mentions(side: TokenColumns, forms: pl.DataFrame) -> pl.DataFrame:
    """The base forms that may occur in each row, without repetition: columns row, pos and base."""
    words = pl.DataFrame({"word": side.words.str.to_lowercase()}).with_row_index("number")
    occurrences = pl.DataFrame({"row": side.text, "number": side.word}, schema={"row": pl.Int64, "number": pl.UInt32})
    numbered_forms = words.join(forms, on="word").drop("word")
    return occurrences.unique().join(numbered_forms, on="number").select("row", "pos", "base").unique()


def _places(texts: pl.Series, wanted: pl.DataFrame, tagger: str) -> pl.DataFrame:
    """Where each wanted word occurs in its text: columns row, lemma, pos and places.

    A word that the text also has as another part of speech is left out. Tagging is most of the work, so only the texts
    of wanted words are tagged.
    """
    rows = wanted["row"].unique().sort()
    tokens = Sentences.of(texts.gather(rows), tagger).frame
    tokens = tokens.select(
        "start", "end", "tag", row=rows.gather(tokens["text"]), word=pl.col("token").str.to_lowercase()
    ).with_row_index("at")
    tagged = TaggedWords(*(tokens[name].to_list() for name in ("word", "tag", "row")))
    forms = base_forms(tokens["word"].unique(maintain_order=True)).select("word", lemma="base").unique()
    occurrences = wanted.join(forms, on="lemma").join(tokens, on=["row", "word"]).sort("row", "lemma", "pos", "start")
    tag_pos = pl.col("tag").replace_strict(_POS, default=None, return_dtype=pl.String)
    # Taggers may take "women" for a singular; the form of a noun is surer.
    is_noun = (pl.col("pos") == "n") & pl.col("tag").is_in(["NN", "NNS"]) & (pl.col("word") != pl.col("lemma"))
    occurrences = occurrences.with_columns(tag=pl.when(is_noun).then(pl.lit("NNS")).otherwise("tag"))
    # Taggers call "closed" a participle even where it is an adjective, the opposite of "open".
    participle = (pl.col("pos") == "a") & (pl.col("tag") == "VBN") & (pl.col("word") == pl.col("lemma"))
    fits = (pl.col("pos") == "") | (tag_pos == pl.col("pos")).fill_null(value=False) | participle
    seen = occurrences.select("at", "pos", "tag").rows()
    occurrences = occurrences.with_columns(
        construction=pl.Series([tagged.construction(*place) for place in seen], dtype=pl.String),
        is_possessive=pl.Series([tagged.is_possessive(at) for at, _, _ in seen], dtype=pl.Boolean),
    )
    return (
        occurrences.group_by("row", "lemma", "pos", maintain_order=True)
        .agg(places=pl.struct("start", "end", "tag", "construction", "is_possessive"), fits=fits.all())
        .filter("fits")
        .drop("fits")
    )


def _swap_rows(candidates: pl.DataFrame, premises: pl.Series, hypotheses: pl.Series) -> pl.DataFrame:
    for side, other, texts in (("premise", "hypothesis", premises), ("hypothesis", "premise", hypotheses)):
        words = []
        for row, lemma, pos, spans in candidates.select("row", f"{other}_lemma", "pos", f"{side}_places").iter_rows():
            text, places = texts[row], [Occurrence(**span) for span in spans]
            first = places[0]
            rewritten = rewrite_occurrences(text, places, lemma=lemma, pos=pos)
            words.append((text[first.start : first.end].lower(), inflect(lemma, pos, first.tag), rewritten))
        names = (f"{side}_word", f"swapped_{side}_word", f"swapped_{side}")
        candidates = candidates.hstack(pl.DataFrame(words, schema=dict.fromkeys(names, pl.String), orient="row"))
    return candidates


def read_answers(path: str | Path) -> pl.DataFrame:
    """The gold that people gave, a row per pair: premise, hypothesis, label, verdict (asked, discarded, undecided)."""
    table = read_table(path)
    frame = table.written_frame
    missing = [name for name in _LABELS if name not in frame.columns]
    if missing and "annotator" in frame.columns:
        advice = f"make labels of them first: acidtest agreement {path} --questionnaire swaps -o labels.tsv"
        raise FileError(path, f"holds the answers of people; {advice}")
    if missing:
        raise FileError(path, f"has no column {missing[0]!r}; it needs premise, hypothesis and label")
    text = frame.select(*_LABELS, *(name for name in (DISCARDED,) if name in frame.columns)).cast(pl.String)
    text = text.with_columns(pl.all().replace("", None))
    for row, label in enumerate(text["label"]):
        if label is not None and (label not in GOLD_MASKS or label == "any"):
            raise FileError(path, f"label {label!r} is not entailment, neutral or contradiction", table.line(row))
    discarded = pl.col(DISCARDED).is_not_null() if DISCARDED in text.columns else pl.lit(value=False)
    return _classify_answers(text, discarded, path)


def _classify_answers(text: pl.DataFrame, discarded: pl.Expr, path: str | Path) -> pl.DataFrame:
    undecided_or_asked = pl.when(pl.col("label").is_null()).then(pl.lit(UNDECIDED)).otherwise(pl.lit("asked"))
    verdict = pl.when(discarded).then(pl.lit(DISCARDED)).otherwise(undecided_or_asked)
    answers = text.select("premise", "hypothesis", label=pl.when(~discarded).then("label"), verdict=verdict)
    answers = answers.unique(maintain_order=True)
    conflicting = answers.filter(pl.struct("premise", "hypothesis").is_duplicated())
    if conflicting.height:
        premise, hypothesis = conflicting["premise"][0], conflicting["hypothesis"][0]
        raise FileError(path, f"has two labels for {premise!r} / {hypothesis!r}; keep one")
    return answers


@cache
def starter_answers() -> pl.DataFrame:
    """The gold of the starter pairs when they are swapped, as ``read_answers`` gives it."""
    rows = packaged_table("starter/swap_answers.tsv").with_columns(pl.col("label").replace("", None))
    return _classify_answers(rows, pl.col("label").eq_missing(pl.lit(DISCARDED)), "starter/swap_answers.tsv")


@cache
def starter_swaps() -> Suite:
    """Hand-written pairs whose premise and hypothesis hold antonyms, or a noun and its hypernym."""
    rows = packaged_table("starter/swaps.tsv").with_columns(certainty=pl.lit("human"))
    card = Card("starter-swaps", licence="Apache-2.0", citation=STARTER_CITATION, columns={"genre": "factor"})
    return Suite(complete_columns(rows, "starter-swaps").lazy(), card).sealed()


def starter_training() -> Suite:
    """All starter pairs together: the default corpus for counting words."""
    rows = pl.concat([suite.frame.select(*_LABELS) for suite in (starter_premises(), starter_swaps())])
    return Suite(rows, Card("starter"))
