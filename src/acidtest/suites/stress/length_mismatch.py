"""Suite ``stress/length-mismatch``: the premise with “and true is true” five times at its end."""

from __future__ import annotations

from acidtest.core.suite import Suite
from acidtest.suites.catalogue import Request, generator
from acidtest.suites.stress.distraction import CITATION, Side, distraction
from acidtest.suites.stress.distraction import suite as distracted
from acidtest.text.tautologies import Place

VERSION = 1


@generator(
    "stress/length-mismatch",
    summary="A tautology five times at the end of the premise makes it much longer than the hypothesis",
    rows=816,
    source="pairs",
    citation=CITATION,
    licence="Apache-2.0",
    row_local=True,
)
def length_mismatch(
    request: Request,
    *,
    tautology: str = "true",
    repetitions: int = 5,
    place: Place = "end",
    side: Side = "premise",
    faithful: bool = False,
) -> Suite:
    """The premise with "and true is true" five times at its end.

    ``tautology`` is the name of a packaged one or any statement. The label stays, and taking the tautology out
    again gives the sentence back; ``faithful`` cuts the sentence at its first period, as the released script did.
    """
    told = distraction(tautology, repetitions=repetitions, place=place, side=side, faithful=faithful)
    return distracted("stress/length-mismatch", request, told, version=VERSION)
