"""Suite ``taxinli``: the pairs of MultiNLI that Joshi et al. (2020) annotated, from one of the two published files."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from acidtest.core.errors import AcidtestError, FileError, some
from acidtest.core.suite import Kind, Suite, completed
from acidtest.suites.catalogue import Request, generator
from acidtest.suites.corpus import corpus
from acidtest.suites.taxonomy.annotations import annotated
from acidtest.text.taxonomy import CATEGORIES, CITATION, LICENCE, NEUTRAL_FEATURES, is_published

NAME = "taxinli"
VERSION = 1

_OWN: dict[str, tuple[str, Kind]] = {
    "genre": ("genre", "factor"),
    "annotated_label": ("annotated_label", "factor"),
    "source_pairID": ("pair_id", "text"),
    "bag_of_words": ("answer_naive_bayes", "text"),
    "esim": ("answer_esim", "text"),
    "aloxatel/bert-base-mnli": ("answer_bert", "text"),
}
"""What the published files have besides the pairs and their categories, and what it is called and is here."""

_TWICE = "2"
_NOTE = "The published file has 2 for syntactic in one row; it counts as marked."


@generator(
    NAME,
    summary="10,071 pairs of MultiNLI with fifteen categories of reasoning each; accuracy by category",
    rows=10_071,
    source="published",
    citation=CITATION,
    licence=LICENCE,
)
def taxinli(request: Request) -> Suite:
    """TaxiNLI as published: taxinli10k.tsv, or taxinli10k_MNLIDev.tsv, its overlap with MultiNLI's development sets.

    The second has no features of neutral pairs and no label of the annotators, but the answers of three systems, kept
    as answer_naive_bayes, answer_bert and answer_esim. A pair has one id, whichever file it is read from.
    """
    pairs = corpus(request)
    if not is_published(pairs.card.columns):
        problem = (
            f"is not a published file of TaxiNLI, which has the columns lexical_linguistic to taxonomic_knowledge; it "
            f"has {some(list(pairs.card.columns), 20)}. For another annotated file use the suite taxonomy"
        )
        raise FileError(pairs.origin, problem) if pairs.origin else AcidtestError(f"{pairs.name} {problem}")
    found = annotated(pairs, CATEGORIES, also_marked=(_TWICE,))
    kept = {old: new for old, new in _OWN.items() if old in found.card.columns}
    features = [name for name in NEUTRAL_FEATURES if name in found.card.columns]
    frame = found.frame.select(
        "premise",
        "hypothesis",
        "label",
        "group",
        pl.lit("human").alias("certainty"),
        *CATEGORIES,
        *features,
        *(pl.col(old).replace("-", None).alias(new) for old, (new, _) in kept.items()),
    )
    kinds: dict[str, Kind] = {**dict.fromkeys(CATEGORIES, "category"), **dict.fromkeys(features, "factor")}
    card = replace(
        found.card,
        name=NAME,
        version=VERSION,
        seed=request.seed if request.n is not None else None,
        arguments={"from": pairs.name},
        citation=CITATION,
        licence=LICENCE,
        columns=kinds | dict(kept.values()),
        note=_NOTE,
    )
    return replace(found, frame=completed(frame.collect(), NAME).lazy(), card=card)
