"""Suites about documents and claims: is a claim supported by a document? The starter corpus of both is read here.

``data/grounding/documents.tsv`` has a sentence a row, ``claims.tsv`` a claim a row with the numbers of the sentences
that decide it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import replace
from functools import cache

import polars as pl

from acidtest.core.digests import digests, hexadecimal
from acidtest.core.suite import COLUMNS, Card, Kind, Suite, complete_columns, visit_batches
from acidtest.suites.catalogue import Request
from acidtest.suites.corpus import source_pairs

STARTER = "grounding-starter"
CITATION = "acidtest grounding corpus"

EVIDENCE = "evidence"
"""The column with the sentences of the document that decide a claim, one a line."""

PLACE = "evidence_place"
"""The factor that says in which third of the document the last of these sentences lies."""

_COLUMNS: dict[str, Kind] = {
    "register": "factor",
    "facts": "factor",
    "reason": "factor",
    PLACE: "factor",
    "document": "text",
    EVIDENCE: "text",
    "original": "text",
}

_THIRDS = {0: "start", 1: "middle", 2: "end"}


@cache
def document_sentences() -> pl.DataFrame:
    """The sentences of the starter documents, numbered from 1, with ``register`` and ``facts``.

    ``begin`` and ``end`` are the shares of the document's words before the sentence and up to its end.
    """
    from acidtest.io.wordlists import packaged_table

    sentences = packaged_table("grounding/documents.tsv").with_columns(pl.col("number").cast(pl.Int64))
    words = pl.col("sentence").str.split(" ").list.len()
    end = words.cum_sum().over("document")
    total = words.sum().over("document")
    return sentences.with_columns(begin=(end - words) / total, end=end / total)


@cache
def starter_claims() -> Suite:
    """The claims of the starter corpus as hypotheses, each with its whole document as the premise."""
    from acidtest.io.wordlists import packaged_table

    documents = document_sentences().group_by("document", "register", "facts", maintain_order=True)
    texts = documents.agg(premise=pl.col("sentence").str.join(" "))
    claims = packaged_table("grounding/claims.tsv").rename({"claim": "hypothesis"})
    number = pl.int_range(1, pl.len() + 1).over("document").cast(pl.String)
    claims = claims.with_columns(
        _evidence_places(claims),
        _evidence_texts(claims),
        source_id=pl.concat_str("document", number, separator="/"),
    )
    frame = claims.join(texts, on="document", how="left", maintain_order="left").with_columns(
        pl.col("original").replace("", None), certainty=pl.lit("human"), group=pl.col("document")
    )
    rows = complete_columns(frame, STARTER).select(*COLUMNS, *_COLUMNS)
    card = Card(STARTER, licence="Apache-2.0", citation=CITATION, columns=_COLUMNS, strata=("register",))
    return Suite(rows.lazy(), card).sealed()


def grounding_pairs(request: Request, *, columns: Collection[str]) -> Suite:
    """The requested claims: those of the user's file or of the starter corpus; claims of one document are a group.

    Rows of a file without a claim, such as refusals, are left out; ``card.left_out`` counts them.
    """
    pairs = source_pairs(request, columns=columns, default=starter_claims)
    if pairs.name == STARTER:
        return pairs
    pairs = _leave_out_nonclaims(pairs)
    group = pl.col("premise").map_batches(_digest_texts, return_dtype=pl.String, is_elementwise=True)
    return replace(pairs, frame=pairs.frame.with_columns(group=group))


def _leave_out_nonclaims(pairs: Suite) -> Suite:
    """The pairs whose hypotheses claim something; a short answer to a question does unless it refuses."""
    from acidtest.corpora.questions import QUESTION, question_prefixes
    from acidtest.suites.grounding.nonclaims import answer_kinds

    left_out, ids = Counter[str](), list[str]()
    columns = [name for name in ("id", "hypothesis", QUESTION) if name in pairs.frame.collect_schema()]

    def add_nonclaims(batch: pl.DataFrame) -> None:
        prefixes = question_prefixes(batch)
        kinds = answer_kinds(batch["hypothesis"].str.slice(prefixes.str.len_chars()))
        nonclaims = batch.select("id", kind=kinds).filter((prefixes == "") | (kinds == "refusal")).drop_nulls()
        ids.extend(nonclaims["id"])
        left_out.update(
            f"with {'an' if kind[0] in 'ao' else 'a'} {kind} instead of a claim" for kind in nonclaims["kind"]
        )

    visit_batches(pairs.frame.select(columns), add_nonclaims)
    frame = pairs.frame.filter(~pl.col("id").is_in(ids)) if ids else pairs.frame
    return replace(pairs, frame=frame, card=replace(pairs.card, left_out=dict(left_out.most_common())))


def _digest_texts(texts: pl.Series) -> pl.Series:
    return hexadecimal(digests(texts))


def _evidence_places(claims: pl.DataFrame) -> pl.Series:
    """The third of the document in which the middle of the last evidence sentence lies; null without evidence."""
    last = pl.col(EVIDENCE).str.split(" ").list.last().cast(pl.Int64, strict=False)
    rows = claims.select("document", number=last)
    rows = rows.join(document_sentences(), on=["document", "number"], how="left", maintain_order="left")
    third = (1.5 * (pl.col("begin") + pl.col("end"))).floor()
    return rows.select(third.replace_strict(_THIRDS, return_dtype=pl.String).alias(PLACE)).to_series()


def _evidence_texts(claims: pl.DataFrame) -> pl.Series:
    """The evidence sentences of each claim, one a line; null without evidence."""
    numbers = claims.select("document", number=pl.col(EVIDENCE).str.split(" ")).with_row_index("row").explode("number")
    rows = numbers.with_columns(pl.col("number").cast(pl.Int64, strict=False))
    rows = rows.join(document_sentences(), on=["document", "number"], how="left", maintain_order="left")
    texts = rows.group_by("row", maintain_order=True).agg(pl.col("sentence").drop_nulls())
    return texts.select(pl.col("sentence").list.join("\n").replace("", None).alias(EVIDENCE)).to_series()
