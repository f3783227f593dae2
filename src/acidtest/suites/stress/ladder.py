"""Suite ``stress/ladder``: how much distraction a model bears, and where."""

from __future__ import annotations

from acidtest.core.suite import Suite
from acidtest.suites.catalogue import Request, generator
from acidtest.suites.stress.distraction import CITATION, MOST_REPETITIONS, Side, distraction
from acidtest.suites.stress.distraction import ladder as rungs_of
from acidtest.text.tautologies import Place

VERSION = 1

_PLACES: tuple[Place, ...] = ("start", "middle", "end")
_SIDES: tuple[Side, ...] = ("premise", "hypothesis", "both")


@generator(
    "stress/ladder",
    summary="A tautology 1 to 20 times, at the start, in the middle and at the end, in premise, hypothesis and both",
    rows=22_082,
    source="pairs",
    citation=CITATION,
    licence="Apache-2.0",
    row_local=True,
)
def ladder(request: Request, *, tautology: str = "true") -> Suite:
    """Every pair 28 times: one to twenty repetitions at the end of the premise, and one at every place and side."""
    steps: list[tuple[int, Place, Side]] = [(number, "end", "premise") for number in range(1, MOST_REPETITIONS + 1)]
    steps += [(1, place, side) for side in _SIDES for place in _PLACES if (place, side) != ("end", "premise")]
    rungs = [distraction(tautology, repetitions=number, place=place, side=side) for number, place, side in steps]
    return rungs_of("stress/ladder", request, rungs, version=VERSION)
