"""The taxonomy of reasoning, statistics of annotated pairs, and categories proposed for other pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from acidtest.core.errors import AcidtestError, FileError, UnknownNameError
from acidtest.core.logs import stage
from acidtest.core.suite import Suite
from acidtest.workflows.batteries import Reading, generate, load, save

if TYPE_CHECKING:
    from acidtest.core.document import Document
    from acidtest.studies.tag import TagResult
    from acidtest.studies.taxonomy import TaxonomyResult
    from acidtest.text.taxonomy import Node

_TAGGED = "taxonomy/tagged"
_SEEN = (
    "half of these pairs are those the rules were chosen on: what was measured on held-out pairs leaves them aside, "
    "what is compared with the file's own marks does not"
)


def taxonomy(name: str | None = None) -> tuple[Node, ...]:
    """The tree of Joshi et al. (2020), every group before its members; or one group, category or feature."""
    from acidtest.text import taxonomy as known

    if name is None:
        return known.taxonomy()
    try:
        return (known.node(name),)
    except UnknownNameError:
        # A name with an ending or a folder was meant as a file.
        if Path(name).suffix or Path(name).parent != Path():
            raise FileError(name, "there is no such file, and no category of that name") from None
        raise


def taxonomy_statistics(
    file: str | Path | Suite,
    *,
    against: Sequence[str | Path] = (),
    categories: Sequence[str] = (),
    reading: Reading | None = None,
) -> TaxonomyResult:
    """How the categories of annotated pairs go with labels, genres and each other (Joshi et al. 2020, section 3.2).

    ``categories`` names a user's own; ``against`` are files to look for the same pairs in.
    """
    from acidtest.studies.taxonomy import taxonomy as count_categories

    stage("reading %s", file.name if isinstance(file, Suite) else file)
    suite = annotated_suite(file, categories=categories, reading=reading)
    others = {Path(other).name: load(other) for other in against}
    if len(others) < len(against):
        raise AcidtestError("two of the files to look through have the same name; rename one")
    stage("counting categories")
    return count_categories(suite, others=others)


def annotated_suite(
    file: str | Path | Suite, *, categories: Sequence[str] = (), reading: Reading | None = None
) -> Suite:
    """The pairs of an annotated file with their categories: as the suite ``taxinli`` where it is that, or ``taxonomy``.

    A suite that acidtest wrote with categories stays as it is.
    """
    from acidtest.text.taxonomy import is_published

    suite = file if isinstance(file, Suite) else load(file, reading=reading)
    if suite.card.categories and not categories:
        return suite
    if is_published(suite.card.columns) and not categories:
        return generate("taxinli", source=suite)
    return generate("taxonomy", source=suite, arguments={"categories": ",".join(categories)} if categories else {})


def taxonomy_document(nodes: Sequence[Node]) -> Document:
    """The taxonomy, or one node of it, as a document."""
    from acidtest.studies.taxonomy.document import taxonomy_document as tree_document

    return tree_document(nodes)


def tag(source: str | Path | Suite, *, output: str | Path | None = None, reading: Reading | None = None) -> TagResult:
    """Propose categories for the pairs of a file by rules, with the precision of such proposals.

    ``output`` takes the pairs with a column ``auto_<category>`` for each category, as suite ``taxonomy/tagged`` has
    them. Where the file itself marks categories, the proposals are measured against those, too.
    """
    from acidtest.studies.tag import tag as count_proposals
    from acidtest.text.taxonomy import is_published

    if not isinstance(source, Suite):
        stage("reading %s", source)
    pairs = source if isinstance(source, Suite) else load(source, reading=reading)
    stage("proposing categories for %s pairs", f"{pairs.card.rows:,}")
    tagged = generate(_TAGGED, source=pairs)
    if output is not None:
        stage("writing %s", output)
        save(tagged, output)
    stage("counting")
    result = count_proposals(tagged, _marked(pairs))
    # The rules were chosen on half of the published file.
    return replace(result, notes=(*result.notes, _SEEN)) if is_published(pairs.card.columns) else result


def _marked(pairs: Suite) -> Suite | None:
    """The same pairs in the same order with the categories that their file marks, if any."""
    from acidtest.text.taxonomy import CATEGORIES, is_published, published_columns

    if is_published(pairs.card.columns):
        return generate("taxinli", source=pairs)
    known = {*CATEGORIES, *published_columns(), "categories"}
    return generate("taxonomy", source=pairs) if any(name.lower() in known for name in pairs.card.columns) else None
