"""Suite ``taxonomy/tagged``: pairs that nobody annotated, with the categories that rules propose for them."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from acidtest.core.suite import Kind, Suite
from acidtest.suites.catalogue import Request, generator
from acidtest.suites.corpus import corpus, gathered
from acidtest.text.taxonomy import CITATION
from acidtest.text.taxonomy_tags import PREFIX, PROPOSED, VERSION, caution, proposed_categories

NAME = "taxonomy/tagged"
COLUMNS = tuple(PREFIX + name for name in PROPOSED)


@generator(
    NAME,
    summary="Any pairs with the categories of reasoning that rules propose for them; accuracy by proposed category",
    rows=816,
    source="pairs",
    citation=f"acidtest; categories after {CITATION}",
    licence="that of the corpus it was made from",
)
def tagged(request: Request) -> Suite:
    """The pairs as they are, with a column auto_<category> for each category that can be told from the surface.

    The categories are proposals of rules, not annotation; the note on the card says how often annotators would have
    agreed. Every column of the corpus comes along.
    """
    pairs = corpus(request, columns=COLUMNS)
    rows = gathered(pairs.frame, _with_proposals)
    told = caution()
    kinds: dict[str, Kind] = {**dict.fromkeys(COLUMNS, "category"), **pairs.card.columns}
    card = replace(
        pairs.card,
        name=NAME,
        version=VERSION,
        seed=request.seed if request.n is not None else None,
        arguments={"from": pairs.name, "tags": "rules"},
        citation=f"acidtest; categories after {CITATION}",
        licence=pairs.card.licence or "that of the corpus it was made from",
        columns=kinds,
        note=f"{told[:1].upper()}{told[1:]}.",
    )
    return replace(pairs, frame=rows.lazy(), card=card, control=None)


def _with_proposals(pairs: pl.DataFrame) -> pl.DataFrame:
    return pairs.hstack(proposed_categories(pairs["premise"], pairs["hypothesis"]))
