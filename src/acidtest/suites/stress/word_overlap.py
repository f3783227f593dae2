"""Suite ``stress/word-overlap``: the hypothesis with “and true is true” at its end."""

from __future__ import annotations

from acidtest.core.suite import Suite
from acidtest.suites.catalogue import Request, generator
from acidtest.suites.stress.distraction import CITATION, Side, distraction
from acidtest.suites.stress.distraction import suite as distracted
from acidtest.text.tautologies import Place

VERSION = 1


@generator(
    "stress/word-overlap",
    summary="A tautology at the end of the hypothesis lowers the share of words the two sentences have in common",
    rows=816,
    source="pairs",
    citation=CITATION,
    licence="Apache-2.0",
    row_local=True,
)
def word_overlap(
    request: Request,
    *,
    tautology: str = "true",
    repetitions: int = 1,
    place: Place = "end",
    side: Side = "hypothesis",
    faithful: bool = False,
) -> Suite:
    """The hypothesis with "and true is true" at its end.

    ``tautology`` is the name of a packaged one or any statement. The label stays, and taking the tautology out
    again gives the sentence back; ``faithful`` cuts the sentence at its first period, as the released script did.
    """
    told = distraction(tautology, repetitions=repetitions, place=place, side=side, faithful=faithful)
    return distracted("stress/word-overlap", request, told, version=VERSION)
