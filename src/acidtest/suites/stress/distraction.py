"""Suites ``stress/negation``, ``word-overlap``, ``length-mismatch`` and ``ladder``: sentences joined with a tautology.

The label stays, because a sentence and a truth say what the sentence says.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import polars as pl

from acidtest.core.errors import AcidtestError
from acidtest.core.suite import Argument, Kind, Suite
from acidtest.suites.catalogue import Request, generator
from acidtest.suites.corpus import derive_suite, source_pairs
from acidtest.suites.stress import CITATION

if TYPE_CHECKING:
    from acidtest.text.tautologies import Insertion

Place = Literal["start", "middle", "end"]
Side = Literal["premise", "hypothesis", "both"]

_PLACES: tuple[Place, ...] = ("start", "middle", "end")
_SIDES: tuple[Side, ...] = ("premise", "hypothesis", "both")
_MOST_REPETITIONS = 20
_VERSION = 1
_LADDER_COLUMNS: dict[str, Kind] = {"repetitions": "factor", "place": "factor", "side": "factor"}


@dataclass(frozen=True)
class DistractionDefaults:
    """A suite in which every pair gets one tautology, and the defaults of its options."""

    name: str
    tautology: str
    repetitions: int
    side: Side
    summary: str
    description: str


DISTRACTIONS = (
    DistractionDefaults(
        "stress/word-overlap",
        "true",
        1,
        "hypothesis",
        "A tautology at the end of the hypothesis lowers the share of words the two sentences have in common",
        'The hypothesis with "and true is true" at its end.',
    ),
    DistractionDefaults(
        "stress/negation",
        "false",
        1,
        "hypothesis",
        "A tautology with a strong negation word at the end of the hypothesis",
        'The hypothesis with "and false is not true" at its end.',
    ),
    DistractionDefaults(
        "stress/length-mismatch",
        "true",
        5,
        "premise",
        "A tautology five times at the end of the premise makes it much longer than the hypothesis",
        'The premise with "and true is true" five times at its end.',
    ),
)


def _generator_of(defaults: DistractionDefaults) -> Callable[..., Suite]:
    def distract(
        request: Request,
        *,
        tautology: str = defaults.tautology,
        repetitions: int = defaults.repetitions,
        place: Place = "end",
        side: Side = defaults.side,
        faithful: bool = False,
    ) -> Suite:
        distraction = _distraction(tautology, repetitions=repetitions, place=place, side=side, faithful=faithful)
        pairs = source_pairs(request)
        arguments: dict[str, Argument] = {
            "tautology": distraction.insertion.tautology.argument,
            "repetitions": repetitions,
            "place": place,
            "side": side,
        }
        return derive_suite(
            defaults.name,
            pairs,
            distraction.apply(pairs.frame),
            version=_VERSION,
            request=request,
            citation=CITATION,
            arguments=arguments | ({"faithful": True} if faithful else {}),
        )

    distract.__doc__ = f"""{defaults.description}

    ``tautology`` is the name of a packaged one or any statement. The label stays, and taking the tautology out
    again gives the sentence back; ``faithful`` cuts the sentence at its first period, as the released script did.
    """
    return distract


for _defaults in DISTRACTIONS:
    generator(
        _defaults.name,
        summary=_defaults.summary,
        rows=816,
        source="pairs",
        citation=CITATION,
        licence="Apache-2.0",
        row_local=True,
    )(_generator_of(_defaults))


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
    steps: list[tuple[int, Place, Side]] = [(number, "end", "premise") for number in range(1, _MOST_REPETITIONS + 1)]
    steps += [(1, place, side) for side in _SIDES for place in _PLACES if (place, side) != ("end", "premise")]
    pairs = source_pairs(request, columns=_LADDER_COLUMNS)
    rungs = [_distraction(tautology, repetitions=number, place=place, side=side) for number, place, side in steps]
    frames = [
        rung.apply(pairs.frame).with_columns(
            repetitions=pl.lit(str(rung.insertion.repetitions)),
            place=pl.lit(rung.insertion.place),
            side=pl.lit(rung.side),
        )
        for rung in rungs
    ]
    return derive_suite(
        "stress/ladder",
        pairs,
        pl.concat(frames),
        version=_VERSION,
        request=request,
        citation=CITATION,
        arguments={"tautology": rungs[0].insertion.tautology.argument},
        columns=_LADDER_COLUMNS,
        crossings=(("side", "place"), ("side", "repetitions")),
    )


@dataclass(frozen=True)
class Distraction:
    """A tautology, where it is inserted, and in which sentence."""

    insertion: Insertion
    side: Side

    @property
    def variant(self) -> str:
        """The end of the ids of its rows."""
        insertion = self.insertion
        name = f"{insertion.tautology.name}-{insertion.repetitions}-{insertion.place}-{self.side}"
        return name + "-faithful" * insertion.faithful

    def apply(self, frame: pl.LazyFrame) -> pl.LazyFrame:
        """The pairs and their parses with the tautology inserted; pairs without such a place are left out."""
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


def _distraction(text: str, *, repetitions: int, place: Place, side: Side, faithful: bool = False) -> Distraction:
    """The distraction that options describe; ``text`` is a statement or the name of a packaged one."""
    from acidtest.text.tautologies import Insertion, tautology

    if not 1 <= repetitions <= _MOST_REPETITIONS:
        raise AcidtestError(f"--repetitions is a number from 1 to {_MOST_REPETITIONS}, not {repetitions}")
    if faithful and place != "end":
        raise AcidtestError(
            f"--faithful does as the released script did, at the end; it does not go with --place {place}"
        )
    return Distraction(Insertion(tautology(text), repetitions, place, faithful), side)
