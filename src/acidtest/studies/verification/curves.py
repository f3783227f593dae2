"""Verdicts over the length of the document and over the place of the evidence."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
import polars as pl

from acidtest.core.estimate import Estimate
from acidtest.core.suite import EDIT
from acidtest.stats.intervals import rate
from acidtest.stats.resampling import Floats
from acidtest.studies.scoring.rows import score_rows
from acidtest.studies.verification.claims import CLAIMS, KIND, ClaimReader, ClaimRows
from acidtest.studies.verification.edits import EditedClaims
from acidtest.studies.verification.result import CurvePoint

PADDING, POSITION = "padding", "position"
LENGTH, PLACE = "length", "evidence_place"
"""Names of curves: the first two are also edits."""
PLACES = ("start", "middle", "end")
UNTOUCHED = "untouched"

_PARTS = 4
_WORDS = pl.col("premise").str.count_matches(r"\S+")
_NOT_PAIRED = "these claims are untouched"
_NO_CLAIMS = "no such claims with gold"


def edit_curve(edited: EditedClaims) -> Iterator[CurvePoint]:
    """The points of the edits that move the evidence or make the document longer, the untouched claims first."""
    for curve in (PADDING, POSITION):
        codes = [number for number, name in enumerate(edited.kinds[EDIT]) if name == curve]
        names = {code: name for code in codes if (name := edited.kinds[KIND][code])}
        if not names:
            continue
        here = np.isin(edited.codes, [*names]) & edited.gold_changes(curve)[1]
        words = edited.words()
        if curve == PADDING:
            once = here & edited.first_of_base
            yield _point(curve, UNTOUCHED, edited.before.select(once), edited.words(edited=False)[once], None)
        for code in sorted(names, key=lambda code: _order(names[code])):
            chosen = here & (edited.codes == code)
            if chosen.any():
                before = edited.before.select(chosen)
                yield _point(curve, names[code], edited.after.select(chosen), words[chosen], before)


def claim_curves(reader: ClaimReader) -> Iterator[CurvePoint]:
    """The points of untouched claims: by quarters of the documents' lengths, and by the place of the evidence."""
    for suite in CLAIMS.names_in(reader.run):
        rows = score_rows(reader.run, suite)
        claims, words = reader.read(rows), rows.column(_WORDS).to_numpy().astype(np.float64)
        yield from _length_points(claims, words)
        if PLACE in rows.card.factors:
            places = rows.column(pl.col(PLACE))
            for place in PLACES:
                chosen = (places == place).fill_null(False).to_numpy()
                if chosen.any():
                    yield _point(PLACE, place, claims.select(chosen), words[chosen], None)


def _length_points(claims: ClaimRows, words: Floats) -> Iterator[CurvePoint]:
    """Quarters of the claims by the length of their document; none where documents are of one length."""
    if not words.size:
        return
    bounds = np.unique(np.quantile(words, np.linspace(0, 1, _PARTS + 1)))
    for number, (low, high) in enumerate(pairwise(bounds)):
        chosen = (words >= low if number == 0 else words > low) & (words <= high)
        if chosen.any():
            name = f"{math.ceil(low) if number == 0 else math.floor(low) + 1:,}–{math.floor(high):,} words"
            yield _point(LENGTH, name, claims.select(chosen), words[chosen], None)


def _point(curve: str, name: str, claims: ClaimRows, words: Floats, before: ClaimRows | None) -> CurvePoint:
    counted = claims.as_counted()
    supported, others = counted.select(counted.supported), counted.select(counted.unsupported)
    changed = Estimate(math.nan, note=_NOT_PAIRED)
    if before is not None:
        asked, differs = before.answered, (claims.called != before.called) | ~claims.answered
        changed = rate(differs[asked], groups=claims.documents[asked], empty="no pair was answered")
    return CurvePoint(
        curve=curve,
        name=name,
        words=float(words.mean()) if words.size else math.nan,
        claims=claims.size,
        recall=rate(supported.called, groups=supported.documents, empty=_NO_CLAIMS),
        false_support=rate(others.called, groups=others.documents, empty=_NO_CLAIMS),
        changed=changed,
        truncated=int(claims.truncated.sum()),
    )


def _order(name: str) -> tuple[float, int]:
    """Places from the start on; lengths from the shortest on."""
    number = re.search(r"\d+", name)
    return float(number[0]) if number else 0.0, PLACES.index(name) if name in PLACES else len(PLACES)


def points_of(points: Sequence[CurvePoint], curve: str) -> list[CurvePoint]:
    """The points of one curve."""
    return [point for point in points if point.curve == curve]
