"""What annotated pairs are made of, as one HTML page: table 2 and figures 3 and 4 of Joshi et al. (2020)."""

from __future__ import annotations

from dataclasses import dataclass

from acidtest.core.estimate import Estimate
from acidtest.report.examples import Examples
from acidtest.reports.charts import Axis, Chart, Row
from acidtest.reports.html import explained, rendered
from acidtest.reports.numerals import NONE, interval, percent, share
from acidtest.reports.taxonomies import (
    FEATURES,
    feature_told,
    genres_told,
    other_lines,
    per_pair_told,
    phi_told,
    published_told,
    strongest,
)
from acidtest.studies.taxonomy import CategoryCounts, Correlation, TaxonomyStatistics, definition, heading

_RATES = (0.0, 0.25, 0.5, 0.75, 1.0)
_STRONGEST = 12
_FULL, _FAR = 0.3, 0.15
"""The phi, and the distance of shares, that is shaded most."""


@dataclass(frozen=True)
class Cell:
    """One cell of a shaded table: its text, what its title says, how strongly it is shaded, and how it is marked."""

    text: str
    title: str
    shade: int
    colour: str = "c0"
    clear: bool = False


def taxonomy_page(found: TaxonomyStatistics) -> str:
    """The page for an annotated set of pairs."""
    names = [each.name for each in found.categories]
    return rendered(
        "taxonomy.html",
        found=found,
        summary=per_pair_told(found),
        lines=[*found.notes, *other_lines(found)],
        most=max((each.pairs for each in found.categories), default=1) or 1,
        headings={name: heading(name) for name in names},
        definitions={name: definition(name) for name in names},
        matrix={name: _matrix_row(found, name, names) for name in names},
        strongest=[(each, phi_told(each.phi), genres_told(each, 3)) for each in strongest(found, _STRONGEST)],
        genres={each.name: _genre_row(each) for each in found.categories},
        features=_features(found),
        feature_lines={FEATURES[name]: feature_told(one) for name, one in found.features.items()},
        published=[(*published_told(each, found.numbers.get(each.by)), each) for each in found.published],
        methods=explained(_methods(found)),
        examples=Examples(0, "", ()),
    )


def _matrix_row(found: TaxonomyStatistics, name: str, names: list[str]) -> list[Cell | None]:
    pairs = {frozenset((each.first, each.second)): each for each in found.correlations}
    return [None if other == name else _phi_cell(pairs[frozenset((name, other))]) for other in names]


def _phi_cell(each: Correlation) -> Cell:
    phi = each.phi
    if not phi.known:
        return Cell(NONE, phi.note, 0)
    reach = f"{phi.low:.3f} to {phi.high:.3f}" if phi.low == phi.low else phi.note
    title = f"{each.first} and {each.second}: phi {phi.value:.3f}, {reach}; {each.both:,} pairs have both"
    colour = "c0" if phi.value > 0 else "c1"
    return Cell(phi_told(phi), title.replace("-", "−"), _shade(abs(phi.value) / _FULL), colour, each.clear)


def _genre_row(each: CategoryCounts) -> list[Cell]:
    """The share of a category among all pairs, then among those of each genre, shaded by how far it is from that."""
    return [_share_cell(one, each.share) for one in (each.share, *each.genres.values())]


def _share_cell(one: Estimate, whole: Estimate) -> Cell:
    if not one.known:
        return Cell(NONE, one.note, 0)
    apart = one.value - whole.value
    clear = one.low > whole.value or one.high < whole.value
    title = f"{percent(one)} % of {one.n:,} pairs" + (f" ({interval(one)})" if interval(one) else "")
    return Cell(share(one.value), title, _shade(abs(apart) / _FAR), "c0" if apart > 0 else "c1", clear)


def _shade(part: float) -> int:
    return round(min(max(part, 0.0), 1.0) * 70)


def _features(found: TaxonomyStatistics) -> Chart | None:
    rows = tuple(Row(FEATURES[name], {"neutral pairs": one}) for name, one in found.features.items() if one.known)
    return Chart(rows, Axis("share of neutral pairs", _RATES)) if rows else None


def _methods(found: TaxonomyStatistics) -> list[str]:
    estimates = [found.per_pair, *(each.share for each in found.categories), *found.features.values()]
    estimates += [each.phi for each in found.correlations]
    estimates += [one for each in found.categories for one in each.genres.values()]
    return [one.method for one in estimates]
