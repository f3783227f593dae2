"""Samples of a run's errors: drawn with their cues and the cause that rules propose, for people to sort.

The nine causes are those in section 2 of Naik et al. (2018), who sorted errors by hand. Rules can only propose: they
see that a cue is there, not that it misled the model. World knowledge leaves no trace on the surface and is never
proposed; such errors are proposed as unknown, or by a cue that happens to be there, until a person decides otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from acidtest.core.digests import digests
from acidtest.core.draws import Draws, apportion
from acidtest.core.errors import AcidtestError, UnknownNameError
from acidtest.core.labels import GOLD_MASKS, SPELLINGS
from acidtest.core.logs import log
from acidtest.core.run import Run
from acidtest.core.suite import CONTROL, CROSS
from acidtest.pairs.cues import CUES, PairCues, cues

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

WORLD_KNOWLEDGE = "world knowledge"
AMBIGUITY = "ambiguity"

STRATA = ("gold", "answer")
"""The columns that divide the errors of a suite into strata by default."""

DECISION = ("proposed", "category", "comment")
"""The category that rules propose, the one that a person chose, and a comment."""
MATERIAL = "material"
NATURAL, SYNTHETIC = "natural", "synthetic"
"""Pairs that people wrote, and pairs that rules made or changed: errors on the latter may come from the rules."""
_PAIR = ("id", "suite", "premise", "hypothesis", "gold", "answer")
_PROBABILITIES = ("p_entailment", "p_neutral", "p_contradiction")
COLUMNS = (*_PAIR, *DECISION, *CUES, *_PROBABILITIES, MATERIAL, "signature")
"""The columns of a sample; the suites' factors and annotators' labels are inserted before the last two."""

_ADDED = frozenset({"gold", *DECISION, *CUES, MATERIAL, "signature"})
"""Columns that a sample adds; a column of the suite with such a name becomes ``source_<name>``."""

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
    """A category and the condition under which it is proposed: in words, and on the columns of evidence."""

    category: str
    when: str
    holds: pl.Expr


def _answered(*labels: str) -> pl.Expr:
    return pl.col("answer").is_in(labels)


RULES = (
    ErrorRule(AMBIGUITY, "fewer than three in four annotators chose gold", pl.col("majority") < CLEAR_MAJORITY),
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
    ErrorRule("grammaticality", "a word is misspelt, or a verb does not agree with its subject", pl.col("slips") > 0),
    ErrorRule(
        "length mismatch",
        f"the premise has {LONG} words or more, and {MUCH_LONGER} for each of the hypothesis's",
        (pl.col("length_ratio") >= MUCH_LONGER) & (pl.col("premise_words") >= LONG),
    ),
)
"""The rules in the order in which they are tried; an error that fits none is ``unknown``."""


def sample_errors(
    run: Run,
    *,
    suites: Sequence[str] = (),
    n: int = 100,
    by: Sequence[str] = STRATA,
    seed: int = 0,
    prefill: bool = False,
) -> pl.DataFrame:
    """``n`` errors of a run, or all where there are fewer, with their cues and the category that the rules propose.

    Every stratum, that is every combination of suite and the columns ``by``, has its share of the sample. Which of its
    rows are drawn depends on their ids and the seed; they are in the order of drawing. Where no suites are named, a
    suite with a control is sampled on its untouched pairs, and a pair in several controls once: errors on changed pairs
    say more about the change than about the model. For the same reason suites made by rules, such as ``hans``, are
    sampled only where they are named, or where there is nothing else; a warning counts the errors left out. Pairs
    without an answer are left out. ``prefill`` also writes the proposals into ``category``.
    """
    if n < 1:
        raise AcidtestError(f"-n is a number of errors from 1 on, not {n}")
    errors = _errors(run, suites)
    factors = dict.fromkeys(_column_name(name) for card in run.header.suites.values() for name in card.factors)
    for name in by:
        if name not in (*STRATA, *factors):
            raise UnknownNameError("column to divide errors by", name, [*STRATA, *factors])
    strata = ["suite", *(name for name in by if name != "suite")]
    drawn = _draw(errors, n, strata=strata, seed=seed)
    votes = vote_columns(drawn.columns)
    extra = [name for name in drawn.columns if name in factors or name in votes]
    signatures = {name: run.header.signature(name) for name in drawn["suite"].unique()}
    tail = f"|rules:{VERSION}|errors:{drawn.height}/{errors.height}|by:{','.join(strata)}|draw:{seed}"
    measured = cues(drawn["premise"], drawn["hypothesis"])
    proposed = propose_categories(drawn, measured)
    probabilities = [] if run.header.model.probabilities else _PROBABILITIES
    return (
        pl.concat([drawn.drop(*CUES, strict=False), measured.text], how="horizontal")
        .with_columns(pl.lit(None, pl.Float32).alias(name) for name in probabilities)
        .with_columns(
            proposed,
            proposed.alias("category") if prefill else pl.lit(None, pl.String).alias("category"),
            comment=pl.lit(None, pl.String),
            signature=pl.col("suite").replace_strict(signatures) + tail,
        )
        .select(*COLUMNS[:-2], *extra, *COLUMNS[-2:])
    )


def _errors(run: Run, suites: Sequence[str]) -> pl.DataFrame:
    """The wrong answers on the suites that are named, or on controls and suites without a control."""
    known = list(run.header.suites)
    for name in suites:
        if name not in known:
            raise UnknownNameError("suite in this run", name, known)
    chosen = list(suites) or [name for name in known if name + CONTROL not in known]
    wrong = ~pl.col("correct") & pl.col("answer").is_not_null() & pl.col("suite").is_in(chosen)
    renamed = {name: _column_name(name) for name in run.columns}
    errors = run.collected(run.frame.lazy().filter(wrong)).rename(renamed | {"label": "gold"})
    # A pair is natural if people decided on its gold and it was not made from another pair.
    natural = pl.repeat(True, pl.len())
    if "certainty" in errors.columns:
        natural &= pl.col("certainty").is_null() | (pl.col("certainty") == "human")
    if "base_id" in errors.columns:
        natural &= pl.col("base_id").is_null()
    errors = errors.with_columns(pl.when(natural).then(pl.lit(NATURAL)).otherwise(pl.lit(SYNTHETIC)).alias(MATERIAL))
    if not suites:
        errors = _prefer_natural(errors)
        repeated = pl.struct("id", "premise", "hypothesis").is_first_distinct().not_()
        untouched = pl.col("suite").str.ends_with(CONTROL)
        errors = pl.concat([errors.filter(~untouched), errors.filter(untouched).filter(~repeated)])
    if not errors.height:
        raise AcidtestError(f"{run.header.model.name} made no errors on {', '.join(chosen)}: there is nothing to sort")
    return errors


def _column_name(name: str) -> str:
    return f"source_{name}" if name in _ADDED else name


def _prefer_natural(errors: pl.DataFrame) -> pl.DataFrame:
    """The errors on natural pairs, with a warning about the others; all errors where none is on a natural pair."""
    natural = errors.filter(pl.col(MATERIAL) == NATURAL)
    if natural.height in (0, errors.height):
        return errors
    others = errors.filter(pl.col(MATERIAL) == SYNTHETIC)["suite"].value_counts(sort=True)
    counts = ", ".join(f"{count:,} on {suite}" for suite, count in others.iter_rows())
    advice = f"for those: --suite {others['suite'][0]}"
    log.warning("left out: %s errors on pairs that rules made (%s); %s", f"{others['count'].sum():,}", counts, advice)
    return natural


def _draw(errors: pl.DataFrame, n: int, *, strata: Sequence[str], seed: int) -> pl.DataFrame:
    """``n`` rows, each stratum in proportion to its size, ordered by suite and then by draw."""
    sizes = errors.group_by(strata).len("_size")
    # Rows left over by rounding go to random strata: a sample smaller than their number must not favour the first.
    names = sizes.select(pl.concat_str(pl.col(strata).cast(pl.String).fill_null(""), separator=CROSS)).to_series()
    sizes = sizes.with_columns(pl.Series("_turn", Draws(seed, "error strata").bits(digests(names)))).sort("_turn")
    quota = apportion(n, sizes["_size"].to_numpy(), most=sizes["_size"].to_numpy())
    quotas = sizes.select(*strata, pl.Series("_quota", quota))
    draws = Draws(seed, "errors").bits(digests(errors["suite"], errors["id"]))
    return (
        errors.with_columns(pl.Series("_draw", draws), _suite=pl.col("suite").rle_id())
        .join(quotas, on=strata, how="left", nulls_equal=True, maintain_order="left")
        .filter(pl.col("_draw").rank("ordinal").over(strata) <= pl.col("_quota"))
        .sort("_suite", "_draw")
    )


def propose_categories(errors: pl.DataFrame, cues: PairCues) -> pl.Series:
    """The category that the first fitting rule proposes for each error.

    ``errors`` has the columns gold and answer; where it has ``annotator_labels``, or ``label1``, ``label2`` … as
    MultiNLI does, ambiguity can be proposed.
    """
    accepted = pl.col("gold").replace_strict(GOLD_MASKS, return_dtype=pl.Int64)
    evidence = errors.select(
        "gold",
        "answer",
        gold_majorities(errors),
        accepts_entailment=(accepted & GOLD_MASKS["entailment"]) > 0,
        accepts_contradiction=(accepted & GOLD_MASKS["contradiction"]) > 0,
        overlap=cues.overlap,
        length_ratio=cues.length_ratio,
        premise_words=cues.premise_words,
        negations=cues.premise_negations.list.len() + cues.hypothesis_negations.list.len(),
        antonyms=cues.antonyms.list.len(),
        unequal=cues.unequal,
        slips=cues.slips.list.len(),
    )
    category = pl.coalesce(*(pl.when(rule.holds).then(pl.lit(rule.category)) for rule in RULES), pl.lit("unknown"))
    return evidence.select(category.alias("proposed")).to_series()


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
    vote = pl.col("label").replace_strict(masks, default=None, return_dtype=pl.Int64)
    rows = errors.select(
        row=pl.int_range(pl.len()),
        gold=pl.col("gold").replace_strict(GOLD_MASKS),
        label=labels.str.to_lowercase().str.extract_all(r"[\p{L}_\-]+"),
    )
    votes = rows.explode("label", empty_as_null=False, keep_nulls=False).with_columns(vote=vote).drop_nulls("vote")
    share = (pl.col("vote") & pl.col("gold") == pl.col("vote")).mean().alias("majority")
    shares = votes.group_by("row").agg(share)
    return rows.join(shares, on="row", how="left", maintain_order="left")["majority"]
