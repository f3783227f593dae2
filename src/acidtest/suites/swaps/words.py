"""Suites ``swaps/antonyms-in-situ`` to ``swaps/hypernyms-ex-situ``: two words swapped, in their contexts or in one."""

from __future__ import annotations

from typing import Literal

import polars as pl

from acidtest.core.digests import digests
from acidtest.core.draws import Draws
from acidtest.core.suite import Suite
from acidtest.suites.catalogue import Request, generator
from acidtest.suites.swaps.swapped import CITATION, WORKING, Assume, Maker, Plan, Wishes, suite
from acidtest.text.monotonicity import fits_beside, telling_sex, upward_places
from acidtest.text.swap_pairs import Relation
from acidtest.text.swaps import Swaps

Situation = Literal["in situ", "ex situ"]

_OPPOSITE = {"antonym": "antonym", "hyponym": "hypernym", "hypernym": "hyponym"}
_LABELS = {"hyponym": "entailment", "hypernym": "neutral"}
"""What follows in an upward place, by what the premise's word is to the hypothesis's."""


@generator(
    "swaps/antonyms-in-situ",
    summary="Contradictions whose premise and hypothesis hold antonyms, with the two words swapped",
    rows=58,
    source="pairs",
    citation=CITATION,
    licence="Apache-2.0",
)
def antonyms_in_situ(
    request: Request,
    *,
    pairs: str = "",
    train: str = "",
    answers: str = "",
    ask: bool = False,
    assume: Assume = "nothing",
    most: int = 100,
    tagger: str = "auto",
) -> Suite:
    """Every contradiction of the corpus that has a word in its premise and its antonym in the hypothesis, both swapped.

    The corpus is the training file, or ``train`` is and the controls are held out. ``pairs`` is a file of antonyms, two
    words a line; without one they are WordNet's. Gold is that of people: ``ask`` gives the pairs to ask them about,
    ``answers`` is the file of labels made from what they answered, and what they call incoherent is left out.
    ``assume paper`` takes a swapped contradiction for one, as the paper does. ``most`` is how often two words are used
    (0 is any number).
    """
    wishes = Wishes(pairs, train, answers, ask, assume, most, tagger)
    return _made("swaps/antonyms-in-situ", "antonym", "in situ", request, wishes)


@generator(
    "swaps/antonyms-ex-situ",
    summary="A sentence and itself with a word turned into its antonym, from a contradiction with both, and swapped",
    rows=55,
    source="pairs",
    citation=CITATION,
    licence="Apache-2.0",
)
def antonyms_ex_situ(
    request: Request,
    *,
    pairs: str = "",
    train: str = "",
    answers: str = "",
    ask: bool = False,
    assume: Assume = "nothing",
    most: int = 100,
    tagger: str = "auto",
) -> Suite:
    """The antonyms of ``swaps/antonyms-in-situ`` in one context, the premise's or the hypothesis's, drawn at random.

    The controls are new pairs, so their gold is asked too, never that of the contradiction they come from. Options are
    those of ``swaps/antonyms-in-situ``.
    """
    wishes = Wishes(pairs, train, answers, ask, assume, most, tagger)
    return _made("swaps/antonyms-ex-situ", "antonym", "ex situ", request, wishes)


@generator(
    "swaps/hypernyms-in-situ",
    summary="Pairs whose premise and hypothesis hold a noun and its hypernym, with the two words swapped",
    rows=49,
    source="pairs",
    citation=CITATION,
    licence="Apache-2.0",
)
def hypernyms_in_situ(
    request: Request,
    *,
    pairs: str = "",
    train: str = "",
    answers: str = "",
    ask: bool = False,
    most: int = 100,
    tagger: str = "auto",
) -> Suite:
    """Every pair of the corpus with a noun on one side and its hypernym on the other, the two words swapped.

    Gold is derived where the sentences differ in nothing else and the word stands once, in an upward place: there a
    noun entails its hypernym and is neutral the other way round. All other gold is that of people. ``pairs`` is a file,
    the narrower word first; the other options are those of ``swaps/antonyms-in-situ``.
    """
    wishes = Wishes(pairs, train, answers, ask, "nothing", most, tagger)
    return _made("swaps/hypernyms-in-situ", "hypernym", "in situ", request, wishes)


@generator(
    "swaps/hypernyms-ex-situ",
    summary="A sentence and itself with a noun turned into its hypernym, from a pair with both, and swapped",
    rows=53,
    source="pairs",
    citation=CITATION,
    licence="Apache-2.0",
)
def hypernyms_ex_situ(
    request: Request,
    *,
    pairs: str = "",
    train: str = "",
    answers: str = "",
    ask: bool = False,
    most: int = 100,
    tagger: str = "auto",
) -> Suite:
    """A noun and its hypernym in one context, the premise's or the hypothesis's, drawn at random.

    Control and swapped pair have gold of their own, derived in upward places and asked elsewhere. Options are those of
    ``swaps/hypernyms-in-situ``.
    """
    wishes = Wishes(pairs, train, answers, ask, "nothing", most, tagger)
    return _made("swaps/hypernyms-ex-situ", "hypernym", "ex situ", request, wishes)


def _made(name: str, relation: Relation, situation: Situation, request: Request, wishes: Wishes) -> Suite:
    derives = relation == "hypernym"
    make = _in_situ(wishes.tagger, derives=derives)
    if situation == "ex situ":
        make = _ex_situ(Draws(request.seed, "swaps"), wishes.tagger, derives=derives)
    labels = ("contradiction",) if relation == "antonym" else ()
    return suite(Plan(name, relation, make, labels, own_controls=situation == "ex situ"), request, wishes)


def _in_situ(tagger: str, *, derives: bool) -> Maker:
    """Premise and hypothesis as they are, and with the words swapped."""

    def make(part: pl.DataFrame, found: Swaps) -> pl.DataFrame:
        rows = _joined(part, found).with_columns(
            swap=pl.lit("in situ"),
            pair=pl.concat_str("premise_lemma", "hypothesis_lemma", separator="-"),
            variant=pl.lit("swapped"),
            control_label=pl.col("label"),
            control_premise=pl.col("premise"),
            control_hypothesis=pl.col("hypothesis"),
            changed_premise=pl.col("swapped_premise"),
            changed_hypothesis=pl.col("swapped_hypothesis"),
            control_premise_word=pl.col("premise_word"),
            control_hypothesis_word=pl.col("hypothesis_word"),
            changed_premise_word=pl.col("swapped_premise_word"),
            changed_hypothesis_word=pl.col("swapped_hypothesis_word"),
        )
        same = _plain("swapped_premise") == _plain("hypothesis")
        agrees = pl.col("label") == _rule("relation")
        rows = _derived(rows, tagger, context=pl.lit("premise"), sure=same & agrees) if derives else _asked(rows)
        label = pl.when("upward").then(_rule("changed_relation"))
        return _tidy(rows.with_columns(changed_label=label), part)

    return make


def _ex_situ(draws: Draws, tagger: str, *, derives: bool) -> Maker:
    """One side's sentence on both sides, with either word."""

    def make(part: pl.DataFrame, found: Swaps) -> pl.DataFrame:
        rows = _joined(part, found)
        keys = digests(rows["id"], rows["premise_lemma"], rows["hypothesis_lemma"], rows["pos"])
        rows = rows.with_columns(first=pl.Series(draws.choices(keys, 2, "context") == 0, dtype=pl.Boolean))
        side = pl.when("first").then(pl.lit("premise")).otherwise(pl.lit("hypothesis"))
        rows = rows.with_columns(
            context=side,
            swap=pl.concat_str(pl.lit("ex situ, context of the "), side),
            pair=pl.concat_str("premise_lemma", "hypothesis_lemma", side, separator="-"),
            variant=pl.lit("swapped"),
            control_premise=pl.when("first").then("premise").otherwise("swapped_hypothesis"),
            control_hypothesis=pl.when("first").then("swapped_premise").otherwise("hypothesis"),
            control_premise_word=pl.when("first").then("premise_word").otherwise("swapped_hypothesis_word"),
            control_hypothesis_word=pl.when("first").then("swapped_premise_word").otherwise("hypothesis_word"),
        )
        rows = rows.with_columns(
            changed_premise=pl.col("control_hypothesis"),
            changed_hypothesis=pl.col("control_premise"),
            changed_premise_word=pl.col("control_hypothesis_word"),
            changed_hypothesis_word=pl.col("control_premise_word"),
        )
        sure = pl.lit(value=True)
        rows = _derived(rows, tagger, context=pl.col("context"), sure=sure) if derives else _asked(rows)
        rows = rows.with_columns(
            control_label=pl.when("upward").then(_rule("relation")),
            changed_label=pl.when("upward").then(_rule("changed_relation")),
        )
        return _tidy(rows, part)

    return make


def _joined(part: pl.DataFrame, found: Swaps) -> pl.DataFrame:
    """The pairs of sentences with the words found in them, a row for each two words."""
    rows = part[found.frame["row"]].hstack(found.frame.drop("row"))
    changed = pl.col("relation").replace_strict(_OPPOSITE, return_dtype=pl.String)
    # Both orders of two words share one allowance.
    lemmas = pl.concat_list("premise_lemma", "hypothesis_lemma").list.sort().list.join(" ")
    return rows.with_columns(control_relation=pl.col("relation"), changed_relation=changed, lemmas=lemmas)


def _asked(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.with_columns(upward=pl.lit(value=False))


def _derived(rows: pl.DataFrame, tagger: str, *, context: pl.Expr, sure: pl.Expr) -> pl.DataFrame:
    """The rows with ``upward``: both words stand once, and in a place of the context that is known to be upward.

    The other word must have been seen in such a form: *a pizza* is no *a food*.
    """
    once = (pl.col("premise_places").list.len() == 1) & (pl.col("hypothesis_places").list.len() == 1)
    rows = rows.with_row_index("number").with_columns(_context=context)
    asked = rows.filter(once & sure & pl.col("sure") & (pl.col("pos") == "n"))
    told = {side: _places(asked, side, tagger) for side in ("premise", "hypothesis")}
    first = asked["_context"] == "premise"
    frame = asked.select("number").with_columns(
        doubt=told["premise"]["doubt"].zip_with(first, told["hypothesis"]["doubt"]),
        kind=told["premise"]["kind"].zip_with(first, told["hypothesis"]["kind"]),
        other=told["hypothesis"]["kind"].zip_with(first, told["premise"]["kind"]),
        sexed=_is_sexed(asked),
    )
    fits = fits_beside(pl.col("kind"), pl.col("other"))
    upward = frame.filter(pl.col("doubt").is_null() & fits & ~pl.col("sexed"))["number"]
    return rows.with_columns(upward=pl.col("number").is_in(upward.implode())).drop("number", "_context")


def _places(rows: pl.DataFrame, side: str, tagger: str) -> pl.DataFrame:
    starts = rows[f"{side}_places"].list.first().struct.field("start")
    return upward_places(rows[side], starts, tagger=tagger)


def _is_sexed(rows: pl.DataFrame) -> pl.Series:
    first = rows["_context"] == "premise"
    context = rows["premise"].zip_with(first, rows["hypothesis"])
    here = rows["premise_word"].zip_with(first, rows["hypothesis_word"])
    return telling_sex(context, here, rows["swapped_premise_word"].zip_with(first, rows["swapped_hypothesis_word"]))


def _rule(relation: str) -> pl.Expr:
    return pl.col(relation).replace_strict(_LABELS, default=None, return_dtype=pl.String)


def _plain(text: str) -> pl.Expr:
    """A sentence for comparison: without capitals, spaces around it and the stop at its end."""
    return pl.col(text).str.to_lowercase().str.replace_all(r"\s+", " ").str.strip_chars(" .")


def _tidy(rows: pl.DataFrame, part: pl.DataFrame) -> pl.DataFrame:
    """The columns of the corpus, those a suite is made of, and swap."""
    made = [name for name in WORKING if name in rows.columns]
    return rows.select(*part.columns, *made, "swap")
