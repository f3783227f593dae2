"""Pairs with a tautology joined to one or both sentences; what the three distraction suites and the ladder share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import polars as pl

from acidtest.core.errors import AcidtestError
from acidtest.core.suite import Argument, Kind, Suite
from acidtest.suites.catalogue import Request
from acidtest.suites.corpus import corpus, derived
from acidtest.text.tautologies import Insertion, Place, tautology

CITATION = (
    "Naik, Ravichander, Sadeh, Rose and Neubig (2018). Stress Test Evaluation for Natural Language Inference. COLING."
)
MOST_REPETITIONS = 20

Side = Literal["premise", "hypothesis", "both"]


@dataclass(frozen=True)
class Distraction:
    """Which sentence gets what; the label stays, because a premise or a hypothesis and a truth is that sentence."""

    insertion: Insertion
    side: Side

    @property
    def variant(self) -> str:
        """What tells it from other distractions in the ids of its rows."""
        told = self.insertion
        return f"{told.tautology.name}-{told.repetitions}-{told.place}-{self.side}" + ("-faithful" * told.faithful)

    def applied(self, frame: pl.LazyFrame) -> pl.LazyFrame:
        """The pairs with the tautology in place, their trees with them; pairs without such a place are left out."""
        sides = ("premise", "hypothesis") if self.side == "both" else (self.side,)
        names = frame.collect_schema().names()
        changed = [self.insertion.text(pl.col(side)).alias(side) for side in sides]
        for side in sides:
            for form in ("parse", "binary_parse"):
                if f"{side}_{form}" in names:
                    tree = getattr(self.insertion, form)(pl.col(f"{side}_{form}"), pl.col(side))
                    changed.append(tree.alias(f"{side}_{form}"))
        fits = [self.insertion.fits(pl.col(side)) for side in sides]
        return frame.filter(*fits).with_columns(*changed, variant=pl.lit(self.variant))


def distraction(wanted: str, *, repetitions: int, place: Place, side: Side, faithful: bool = False) -> Distraction:
    """A distraction as options describe it."""
    if not 1 <= repetitions <= MOST_REPETITIONS:
        raise AcidtestError(f"--repetitions is a number from 1 to {MOST_REPETITIONS}, not {repetitions}")
    if faithful and place != "end":
        raise AcidtestError(
            f"--faithful does as the released script did, at the end; it does not go with --place {place}"
        )
    return Distraction(Insertion(tautology(wanted), repetitions, place, faithful), side)


def suite(name: str, request: Request, told: Distraction, *, version: int) -> Suite:
    """The corpus with one distraction in every pair."""
    pairs = corpus(request)
    insertion = told.insertion
    arguments: dict[str, Argument] = {
        "tautology": insertion.tautology.argument,
        "repetitions": insertion.repetitions,
        "place": insertion.place,
        "side": told.side,
    }
    arguments |= {"faithful": True} if insertion.faithful else {}
    return derived(
        name, pairs, told.applied(pairs.frame), version=version, request=request, citation=CITATION, arguments=arguments
    )


LADDER: dict[str, Kind] = {"repetitions": "factor", "place": "factor", "side": "factor"}


def ladder(name: str, request: Request, rungs: Sequence[Distraction], *, version: int) -> Suite:
    """The corpus once for every rung, which its columns tell apart."""
    pairs = corpus(request, columns=LADDER)
    parts = [
        rung.applied(pairs.frame).with_columns(
            repetitions=pl.lit(str(rung.insertion.repetitions)),
            place=pl.lit(rung.insertion.place),
            side=pl.lit(rung.side),
        )
        for rung in rungs
    ]
    return derived(
        name,
        pairs,
        pl.concat(parts),
        version=version,
        request=request,
        citation=CITATION,
        arguments={"tautology": rungs[0].insertion.tautology.argument},
        columns=LADDER,
        crossings=(("side", "place"), ("side", "repetitions")),
    )
