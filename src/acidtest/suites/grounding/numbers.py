"""Edits of numbers."""

from __future__ import annotations

from collections.abc import Iterator

from acidtest.suites.grounding.edits import ClaimBatch, EditedPair, Result, edit
from acidtest.text.quantities import alternatives, quantities, replace_number, write_like


@edit("number", summary="A number of the claim replaced by another", rows=120)
def number(batch: ClaimBatch) -> Iterator[Result]:
    """One number of a supported claim becomes another that the document does not have."""
    for row, claim in batch.supported():
        if claim.evidence_sentence is None:
            yield row, "no single evidence sentence"
            continue
        changeable = [quantity for quantity in quantities(claim.text) if not quantity.problem]
        if not changeable:
            continue
        chosen = changeable[claim.choose(len(changeable))]
        values = [value for higher in (True, False) for value in alternatives(chosen, higher=higher)]
        texts = [write_like(chosen, value) for value in values]
        texts = [text for text in texts if text.lower() not in claim.document.words]
        if not texts:
            yield row, "no other number"
            continue
        other = texts[claim.choose(len(texts), 1)]
        yield (
            row,
            EditedPair(
                claim=replace_number(claim.text, chosen, other),
                label="contradiction",
                change=f"{chosen.text} → {other}",
            ),
        )
