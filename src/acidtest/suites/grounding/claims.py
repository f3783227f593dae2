"""Suite ``grounding/claims``: claims, untouched, each with the document that should support it."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from acidtest.core.errors import list_some
from acidtest.core.logs import note
from acidtest.core.suite import Kind, Suite
from acidtest.suites.catalogue import Request, generator
from acidtest.suites.corpus import CORPUS_LICENCE
from acidtest.suites.grounding import CITATION, STARTER, grounding_pairs

_NAME = "grounding/claims"
_COLUMNS: dict[str, Kind] = {"document_words": "covariate"}
_NOTE = (
    "Two thirds of the claims are supported, so a model that calls every claim supported is right on 66.7 %: look at "
    "each gold apart. Every reason but supported names the way in which a claim is not supported."
)


@generator(
    _NAME,
    summary="Claims, each with the whole document that supports it, denies it or does not say it",
    rows=702,
    source="pairs",
    citation=CITATION,
    licence="Apache-2.0",
    needs_gold=False,
)
def claims(request: Request) -> Suite:
    """The premise is a document and the hypothesis a claim about it; the claims of a document are a group.

    Without --from, the claims of the starter corpus: ``register`` is the kind of document, ``reason`` why a claim is
    not supported, ``evidence`` the sentences that are needed to decide it, ``evidence_place`` the third of the document
    (start, middle, end) in which the last of them lies, ``facts`` whether what the document says is real or
    invented. ``document_words`` counts the words of the document, also for pairs of a file.
    """
    pairs = grounding_pairs(request, columns=_COLUMNS)
    if pairs.card.left_out:
        note("%s: left out: %s", pairs.name, list_some(pairs.card.left_out_reasons))
    words = pl.col("premise").str.count_matches(r"\S+").cast(pl.Float64)
    card = replace(
        pairs.card,
        name=_NAME,
        version=2,
        seed=request.seed if request.n is not None else None,
        arguments={"from": pairs.name},
        citation=pairs.card.citation,
        licence=pairs.card.licence or CORPUS_LICENCE,
        columns={**pairs.card.columns, **_COLUMNS},
        note=_NOTE if pairs.name == STARTER else "",
    )
    return replace(pairs, frame=pairs.frame.with_columns(document_words=words), card=card, control=None)
