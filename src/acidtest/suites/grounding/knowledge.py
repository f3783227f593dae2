"""Suite ``grounding/knowledge``: does a verifier read the document, or answer from what it knows of the world?

``data/grounding/facts.tsv`` has well-known facts, each with a short invented passage in which it can be said as it is
in the world, otherwise, or not at all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from acidtest.core.digests import digests
from acidtest.core.draws import Draws
from acidtest.core.suite import Card, Kind, Suite, complete_columns
from acidtest.suites.catalogue import Request, generator
from acidtest.suites.corpus import uses_all
from acidtest.suites.grounding import CITATION

_NAME = "grounding/knowledge"
_COLUMNS: dict[str, Kind] = {
    "kind": "factor",
    "document_says": "factor",
    "claim_says": "factor",
    "topic": "factor",
    "facts": "factor",
    "fact": "text",
}
_NOTE = (
    "A claim of the world that a document denies, called supported, and a claim of the document, called not supported, "
    "are answers that follow the world against the document."
)
_NECESSARY = ("calendar", "arithmetic")
"""Topics whose facts hold by definition: of a document that is silent about them, nothing is asked."""


@dataclass(frozen=True)
class _Case:
    """What document and claim say of a fact: as in the ``world``, ``otherwise`` or ``nothing``."""

    document: str
    claim: str
    label: str
    kind: str


_CASES = (
    _Case("world", "world", "entailment", "document agrees with the world"),
    _Case("world", "otherwise", "contradiction", "document agrees with the world: claim says otherwise"),
    _Case("otherwise", "otherwise", "entailment", "document says otherwise: claim of the document"),
    _Case("otherwise", "world", "contradiction", "document says otherwise: claim of the world"),
    _Case("nothing", "world", "neutral", "true, not in the document"),
    _Case("nothing", "otherwise", "neutral", "false, not in the document"),
)


@generator(
    _NAME,
    summary="Well-known facts, said by the document as in the world, otherwise or not at all, and claims of both kinds",
    rows=296,
    source="templates",
    citation=CITATION,
    licence="Apache-2.0",
)
def knowledge(request: Request) -> Suite:
    """Every fact in three documents, which say it as in the world, otherwise or not, with two claims each.

    ``kind`` names the six cases, ``document_says`` and ``claim_says`` what they are made of. Where document and world
    disagree, the document decides; ``facts`` is real only where they agree, and all else in the passages is invented.
    Facts that hold by definition, such as the number of months, are not asked where the document is silent. The rows of
    a fact are a group; ``n`` is the number of facts.
    """
    from acidtest.io.wordlists import packaged_table

    facts = packaged_table("grounding/facts.tsv")
    if not uses_all(request, facts.height, "facts", f"there are only {facts.height}"):
        bits = Draws(request.seed, _NAME).bits(digests(facts["fact"]))
        facts = facts[np.sort(np.argsort(bits, kind="stable")[: request.n])]
    frame = complete_columns(pl.concat([_rows(facts, case) for case in _CASES]).sort("group"), _NAME)
    card = Card(
        _NAME,
        seed=request.seed if request.n is not None else None,
        licence="Apache-2.0",
        citation=CITATION,
        note=_NOTE,
        columns=_COLUMNS,
        strata=("kind",),
        crossings=(("document_says", "claim_says"),),
    )
    return Suite(frame.lazy(), card)


def _rows(facts: pl.DataFrame, case: _Case) -> pl.DataFrame:
    """The pairs of one case, a row for every fact that can be asked so."""
    if case.document == "nothing":
        facts = facts.filter(~facts["topic"].is_in(_NECESSARY))
    stated = [] if case.document == "nothing" else [case.document]
    return facts.select(
        premise=pl.concat_str("before", *stated, "after", separator=" "),
        hypothesis=f"claim_{case.claim}",
        label=pl.lit(case.label),
        group="fact",
        certainty=pl.lit("logical"),
        kind=pl.lit(case.kind),
        document_says=pl.lit(case.document),
        claim_says=pl.lit(case.claim),
        topic="topic",
        facts=pl.lit("real" if case.document == "world" else "invented"),
        fact="fact",
    )
