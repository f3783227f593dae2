"""Suite ``taxonomy``: pairs that somebody annotated with categories of reasoning."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from acidtest.core.suite import Suite
from acidtest.suites.catalogue import Request, generator
from acidtest.suites.corpus import corpus
from acidtest.suites.taxonomy.annotations import annotated
from acidtest.text.taxonomy import CITATION, example_pairs

NAME = "taxonomy"
VERSION = 1


@generator(
    NAME,
    summary="Pairs annotated with categories of reasoning, of any annotated file; accuracy by category",
    rows=48,
    source="pairs",
    citation=CITATION,
    licence="that of the file; of the examples, Apache-2.0",
)
def taxonomy(request: Request, *, categories: tuple[str, ...] = ()) -> Suite:
    """The pairs of a file that says which of the fifteen categories each of them needs.

    A category is a column of 0 and 1, true and false or yes and no under the name that acidtest taxonomy lists or that
    of the published file, or stands in a column categories (a list, or a|b), as agreement -o writes it. ``categories``
    names those of a scheme of your own. Without --from, the examples of the definitions.
    """
    pairs = annotated(corpus(request, default=example_pairs), categories)
    card = replace(
        pairs.card,
        name=NAME,
        version=VERSION,
        seed=request.seed if request.n is not None else None,
        arguments={"from": pairs.name} | ({"categories": ",".join(categories)} if categories else {}),
        citation=CITATION,
        licence=pairs.card.licence or "that of the file it was made from",
        note="",
    )
    return replace(pairs, frame=pairs.frame.with_columns(pl.col("certainty").fill_null("human")), card=card)
