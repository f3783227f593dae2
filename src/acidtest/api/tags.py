"""Categories proposed for pairs that nobody annotated."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from acidtest.core.logs import stage
from acidtest.core.suite import Suite
from acidtest.workflows.batteries import Reading, generate, load, save

if TYPE_CHECKING:
    from rich.console import RenderableType

    from acidtest.studies.tags import Tags

_SUITE = "taxonomy/tagged"


def tag(source: str | Path | Suite, *, output: str | Path | None = None, reading: Reading | None = None) -> Tags:
    """What rules propose for the pairs of a file, and how often such proposals are right.

    ``output`` takes the pairs with a column ``auto_<category>`` for each category, as suite ``taxonomy/tagged`` has
    them. Where the file itself says which categories its pairs have, the proposals are measured against that, too.
    """
    from acidtest.studies.tags import tags

    if not isinstance(source, Suite):
        stage("reading %s", source)
    pairs = source if isinstance(source, Suite) else load(source, reading=reading)
    stage("proposing categories for %s pairs", f"{pairs.card.rows:,}")
    made = generate(_SUITE, source=pairs)
    if output is not None:
        stage("writing %s", output)
        save(made, output)
    stage("counting")
    found = tags(made, _marked(pairs))
    return replace(found, notes=(*found.notes, *_familiar(pairs)))


def tag_tables(found: Tags) -> list[RenderableType]:
    """Proposed categories as a person reads them on a terminal."""
    from acidtest.reports.tags import tag_tables as reported

    return reported(found)


def _marked(pairs: Suite) -> Suite | None:
    """The same pairs in the same order with the categories their file marks, if it marks any."""
    from acidtest.text.taxonomy import CATEGORIES, is_published, published_columns

    if is_published(pairs.card.columns):
        return generate("taxinli", source=pairs)
    known = {*CATEGORIES, *published_columns(), "categories"}
    return generate("taxonomy", source=pairs) if any(name.lower() in known for name in pairs.card.columns) else None


def _familiar(pairs: Suite) -> list[str]:
    """A word of caution where the pairs are those the rules were made with."""
    from acidtest.text.taxonomy import is_published

    if not is_published(pairs.card.columns):
        return []
    told = (
        "half of these pairs are those the rules were chosen on: what was measured on held-out pairs leaves them aside"
    )
    return [f"{told}, what is compared with the file's own marks does not"]
