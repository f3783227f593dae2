"""Suite ``hans``: the thirty subcases of HANS, filled anew from a seed."""

from __future__ import annotations

from acidtest.core.suite import Suite
from acidtest.suites.catalogue import Request, generator
from acidtest.suites.hans import pairs

VERSION = 2


@generator(
    "hans",
    summary="Thirty syntactic subcases in which sharing words, a subsequence or a clause does or does not entail",
    rows=30 * pairs.PER_SUBCASE,
    source="templates",
    citation=pairs.CITATION,
    licence="Apache-2.0",
)
def hans(request: Request, *, words: str = "fresh", faithful: bool = False) -> Suite:
    """HANS with ``n`` pairs per subcase. ``words`` is ``fresh``, ``published`` or a vocabulary file.

    ``faithful`` keeps the published file's quirks: spaced punctuation, the doubled article of temp15, *town* twice as
    likely as other places, and pairs whose gold is doubtful because one verb may imply the other.
    """
    return pairs.suite("hans", "published", request, version=VERSION, words=words, faithful=faithful)
