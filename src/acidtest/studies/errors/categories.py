"""The nine causes of errors in section 2 of Naik et al. (2018), and rules that propose one by the cues of a pair.

The authors sorted errors by hand. Rules can only propose: they see that a cue is there, not that it misled the model.
World knowledge leaves no trace on the surface and is never proposed; such errors are proposed as unknown, or by a cue
that happens to be there, until a person decides otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import polars as pl

from acidtest.core.labels import GOLD_MASKS, SPELLINGS
from acidtest.text.cues import PairCues

VERSION = 1
"""Goes up when a rule changes; samples carry it."""

CATEGORIES: Mapping[str, str] = {
    "word overlap": "many shared words were taken for entailment, or very few for neutral",
    "negation": "a negation word was taken for contradiction",
    "antonymy": "antonyms, without a negation word, were not seen to contradict",
    "numerical": "numbers or quantifiers had to be reasoned about",
    "length mismatch": "the premise is much longer, and what it says besides distracts",
    "grammaticality": "a sentence is misspelt, or subject and verb do not agree",
    "world knowledge": "hard to tell without knowing the world",
    "ambiguity": "people do not agree on the right answer either",
    "unknown": "no source of the error is discernible",
}
"""The name of each category and what it means, in the paper's order."""

UNKNOWN = "unknown"
WORLD_KNOWLEDGE = "world knowledge"
AMBIGUITY = "ambiguity"

LARGE_OVERLAP = 0.65
"""Two content words of three: 19 % of MultiNLI's neutral pairs share as many, 24 % of SNLI's."""
LITTLE_OVERLAP = 0.25
"""One content word of four: 12 % of MultiNLI's entailed pairs share as few, 10 % of SNLI's."""
MUCH_LONGER, LONG = 3, 30
"""Three words to one and at least thirty words, as in 12 % of MultiNLI's pairs and 2 % of SNLI's."""
CLEAR_MAJORITY = 0.75
"""Gold that a smaller share of annotators chose, such as three of five, is in doubt."""


@dataclass(frozen=True)
class ErrorRule:
    """A category and the condition under which it is proposed: in words, and as an expression on ``_evidence``."""

    category: str
    when: str
    holds: pl.Expr


def _answered(*labels: str) -> pl.Expr:
    return pl.col("answer").is_in(labels)


RULES = (
    ErrorRule(
        AMBIGUITY,
        "fewer than three in four annotators chose gold",
        pl.col("majority") < CLEAR_MAJORITY,
    ),
    ErrorRule(
        "antonymy",
        "gold is contradiction, which was not answered, and antonyms stand across the sentences",
        (pl.col("gold") == "contradiction") & ~_answered("contradiction") & (pl.col("antonyms") > 0),
    ),
    ErrorRule(
        "negation",
        "contradiction was answered where it is not gold, and one of the sentences has a negation word",
        ~pl.col("accepts_contradiction") & _answered("contradiction") & (pl.col("negations") > 0),
    ),
    ErrorRule(
        "numerical",
        "each sentence has a number, or each a quantifier, that the other does not have; or one says more than, less "
        "than or half and the other has a number",
        pl.col("unequal"),
    ),
    ErrorRule(
        "word overlap",
        "entailment was answered where it is not gold, and the premise has two in three of the hypothesis's content "
        "words; or neutral where entailment is gold, and it has at most one in four",
        (~pl.col("accepts_entailment") & _answered("entailment") & (pl.col("overlap") >= LARGE_OVERLAP))
        | (
            (pl.col("gold") == "entailment")
            & _answered("neutral", "non-entailment")
            & (pl.col("overlap") <= LITTLE_OVERLAP)
        ),
    ),
    ErrorRule(
        "grammaticality",
        "a word is misspelt, or a verb does not agree with its subject",
        pl.col("slips") > 0,
    ),
    ErrorRule(
        "length mismatch",
        f"the premise has {LONG} words or more, and {MUCH_LONGER} for each of the hypothesis's",
        (pl.col("length_ratio") >= MUCH_LONGER) & (pl.col("premise_words") >= LONG),
    ),
)
"""The rules in the order in which they are tried; an error that fits none is ``unknown``."""


def propose_categories(errors: pl.DataFrame, cues: PairCues) -> pl.Series:
    """The category that the first fitting rule proposes for each error.

    ``errors`` has the columns gold and answer; where it has ``annotator_labels``, or ``label1``, ``label2`` … as
    MultiNLI does, ambiguity can be proposed.
    """
    category = pl.coalesce(*(pl.when(rule.holds).then(pl.lit(rule.category)) for rule in RULES), pl.lit(UNKNOWN))
    return _evidence(errors, cues).select(category.alias("proposed")).to_series()


def vote_columns(columns: Iterable[str]) -> list[str]:
    """The columns with the labels of single annotators: ``annotator_labels``, or ``label1``, ``label2`` …"""
    names = list(columns)
    if "annotator_labels" in names:
        return ["annotator_labels"]
    return [name for name in names if name.startswith("label") and name[5:].isdecimal()]


def gold_majorities(errors: pl.DataFrame) -> pl.Series:
    """The share of annotators who chose gold, null where their labels are not known."""
    columns = vote_columns(errors.columns)
    if not columns:
        return pl.Series("majority", [None] * errors.height, dtype=pl.Float64)
    labels = pl.concat_str(pl.col(columns).cast(pl.String), separator=" ", ignore_nulls=True)
    masks = {spelling: GOLD_MASKS[name] for spelling, name in SPELLINGS.items()}
    votes = errors.select(
        row=pl.int_range(pl.len()), gold=pl.col("gold").replace_strict(GOLD_MASKS), label=labels.str.to_lowercase()
    ).with_columns(pl.col("label").str.extract_all(r"[\p{L}_\-]+"))
    votes = votes.explode("label", empty_as_null=False, keep_nulls=False).with_columns(
        vote=pl.col("label").replace_strict(masks, default=None, return_dtype=pl.Int64)
    )
    share = (pl.col("vote") & pl.col("gold") == pl.col("vote")).mean().alias("majority")
    shares = votes.drop_nulls("vote").group_by("row").agg(share)
    rows = errors.select(row=pl.int_range(pl.len()))
    return rows.join(shares, on="row", how="left", maintain_order="left")["majority"]


def _evidence(errors: pl.DataFrame, cues: PairCues) -> pl.DataFrame:
    """The columns that rules refer to: gold, answer, and the cues as numbers."""
    accepts = {name: [gold for gold, mask in GOLD_MASKS.items() if mask & GOLD_MASKS[name]] for name in GOLD_MASKS}
    return errors.select(
        "gold",
        "answer",
        accepts_entailment=pl.col("gold").is_in(accepts["entailment"]),
        accepts_contradiction=pl.col("gold").is_in(accepts["contradiction"]),
    ).with_columns(
        gold_majorities(errors),
        cues.overlap.alias("overlap"),
        cues.length_ratio.alias("length_ratio"),
        cues.premise_words.alias("premise_words"),
        (cues.premise_negations.list.len() + cues.hypothesis_negations.list.len()).alias("negations"),
        cues.antonyms.list.len().alias("antonyms"),
        cues.unequal.alias("unequal"),
        cues.slips.list.len().alias("slips"),
    )
