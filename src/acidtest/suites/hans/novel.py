"""Suite ``hans/novel``: the heuristics of HANS in thirty-six subcases that were never published."""

from __future__ import annotations

from acidtest.core.suite import Suite
from acidtest.suites.catalogue import Request, generator
from acidtest.suites.hans import pairs

VERSION = 1


@generator(
    "hans/novel",
    summary="The three heuristics in new constructions: datives, clefts, control, exceptives, partitives and others",
    rows=36 * pairs.PER_SUBCASE,
    source="templates",
    citation=f"{pairs.CITATION} Templates of our own.",
    licence="Apache-2.0",
)
def novel(request: Request, *, words: str = "fresh") -> Suite:
    """Templates of our own for HANS's heuristics, ``n`` pairs per subcase; ``words`` as in ``hans``."""
    return pairs.suite("hans/novel", "novel", request, version=VERSION, words=words, faithful=False)
