"""Categories proposed for pairs that nobody annotated."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from acidtest.core.logs import stage
from acidtest.core.suite import Suite
from acidtest.workflows.batteries import Reading, generate, load, save

if TYPE_CHECKING:
    from acidtest.studies.tag import TagResult

_SUITE = "taxonomy/tagged"
_SEEN = (
    "half of these pairs are those the rules were chosen on: what was measured on held-out pairs leaves them aside, "
    "what is compared with the file's own marks does not"
)


def tag(source: str | Path | Suite, *, output: str | Path | None = None, reading: Reading | None = None) -> TagResult:
    """What rules propose for the pairs of a file, and how often such proposals are right.

    ``output`` takes the pairs with a column ``auto_<category>`` for each category, as suite ``taxonomy/tagged`` has
    them. Where the file itself marks categories, the proposals are measured against those, too.
    """
    from acidtest.studies.tag import tag as count_proposals
    from acidtest.text.taxonomy import is_published

    if not isinstance(source, Suite):
        stage("reading %s", source)
    pairs = source if isinstance(source, Suite) else load(source, reading=reading)
    stage("proposing categories for %s pairs", f"{pairs.card.rows:,}")
    tagged = generate(_SUITE, source=pairs)
    if output is not None:
        stage("writing %s", output)
        save(tagged, output)
    stage("counting")
    result = count_proposals(tagged, _marked(pairs))
    # The rules were chosen on half of the published file.
    return replace(result, notes=(*result.notes, _SEEN)) if is_published(pairs.card.columns) else result


def _marked(pairs: Suite) -> Suite | None:
    """The same pairs in the same order with the categories their file marks, if it marks any."""
    from acidtest.text.taxonomy import CATEGORIES, is_published, published_columns

    if is_published(pairs.card.columns):
        return generate("taxinli", source=pairs)
    known = {*CATEGORIES, *published_columns(), "categories"}
    return generate("taxonomy", source=pairs) if any(name.lower() in known for name in pairs.card.columns) else None
