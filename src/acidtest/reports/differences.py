"""Tests between models as the pages show them: families of contrasts, pair by pair, in tables, charts and words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from acidtest.core.estimate import Estimate
from acidtest.core.run import Run
from acidtest.core.suite import CROSS, Card
from acidtest.reports.charts import MOST_ROWS, Chart, Row, difference_axis
from acidtest.reports.numerals import p_value, points, signed_interval
from acidtest.reports.sections import examples_link, headings, row_names, slice_columns
from acidtest.studies.comparison import Contrast

MOST_PAIRS = 6
"""More pairs of models than this have a chart each rather than a lane each in one."""

SHOWN = 0.05
"""An adjusted p-value below this is called a difference in words."""


@dataclass(frozen=True)
class Pair:
    """The contrasts of one pair of models within a family; ``chart`` only where the pairs are too many for one."""

    first: str
    second: str
    contrasts: tuple[Contrast, ...]
    chart: Chart | None = None

    @property
    def name(self) -> str:
        """``second − first``."""
        return pair_name(self.contrasts[0])

    @property
    def paired(self) -> bool:
        """Whether the two were asked the same rows."""
        return all(contrast.paired for contrast in self.contrasts)

    @property
    def tests(self) -> str:
        """The tests used."""
        return " and ".join(dict.fromkeys(contrast.test for contrast in self.contrasts))


@dataclass(frozen=True)
class Family:
    """One factor of one suite, or the suite as a whole (no factor), over all pairs of models."""

    suite: str
    factor: str
    pairs: tuple[Pair, ...]
    chart: Chart | None
    card: Card

    def examples(self, contrast: Contrast) -> str:
        """Where the example browser shows the slice: of paired rows, those on which models differ."""
        by = slice_columns(self.card, self.factor.split(CROSS), contrast.value) if self.factor else {}
        return examples_link(self.suite, by, **({"verdict": "differs"} if contrast.paired else {}))

    @property
    def crossed(self) -> bool:
        """Whether it is of several factors crossed."""
        return CROSS in self.factor

    @property
    def values(self) -> int:
        """How many values the factor has."""
        return max(len(pair.contrasts) for pair in self.pairs)


@dataclass(frozen=True)
class Matrix:
    """Every model against every other on one suite: the model of the row minus the model of the column."""

    suite: str
    models: tuple[str, ...]
    cells: Mapping[tuple[str, str], Contrast]


def families(contrasts: Sequence[Contrast], runs: Mapping[str, Run]) -> list[Family]:
    """The contrasts by suite and factor; ``runs`` by the names of their models."""
    found: dict[tuple[str, str], list[Contrast]] = {}
    for contrast in contrasts:
        found.setdefault((contrast.suite, contrast.factor), []).append(contrast)
    return [_family(suite, factor, members, runs) for (suite, factor), members in found.items()]


def whole(contrasts: Sequence[Contrast]) -> list[Contrast]:
    """The contrasts of whole suites."""
    return [contrast for contrast in contrasts if not contrast.factor]


def whole_chart(contrasts: Sequence[Contrast]) -> Chart | None:
    """The differences on whole suites, a row for each pair of models under the suite's name."""
    chosen = whole(contrasts)
    if not 1 < len(chosen) <= MOST_ROWS:
        return None
    rows = (Row(pair_name(one), {"difference": one.difference}, heading=one.suite) for one in chosen)
    return Chart(tuple(rows), difference_axis([one.difference for one in chosen]))


def matrices(contrasts: Sequence[Contrast]) -> list[Matrix]:
    """For each suite that three models or more share, all of them against each other."""
    found = []
    for suite in dict.fromkeys(contrast.suite for contrast in contrasts):
        own = [contrast for contrast in whole(contrasts) if contrast.suite == suite]
        models = tuple(dict.fromkeys(name for one in own for name in (one.first, one.second)))
        if len(models) > 2:
            cells = {(one.second, one.first): one for one in own}
            found.append(Matrix(suite, models, cells | {(one.first, one.second): _reversed(one) for one in own}))
    return found


def in_words(contrast: Contrast) -> str:
    """What a contrast of a whole suite says, in one sentence."""
    first, second, change = contrast.first, contrast.second, contrast.difference
    if not change.known:
        return f"{contrast.suite}: {second} and {first} cannot be compared ({change.note})."
    if contrast.p_adjusted < SHOWN:
        size = f"{abs(change.value) * 100:.1f} points {'better' if change.value > 0 else 'worse'}"
        within = f"95 % interval {signed_interval(change)}, " if signed_interval(change) else ""
        return f"{contrast.suite}: {second} is {size} than {first} ({within}adjusted p {p_value(contrast.p_adjusted)})."
    seen = ""
    if contrast.detectable == contrast.detectable:
        seen = f" A difference under about {contrast.detectable * 100:.1f} points would probably have gone unseen."
    return f"{contrast.suite}: no difference shown between {second} and {first}, {points(change)} points.{seen}"


def pair_name(contrast: Contrast) -> str:
    """``second − first``."""
    return f"{contrast.second} − {contrast.first}"


def slice_name(contrast: Contrast) -> str:
    """The value of the factor, or the suite."""
    return contrast.value or contrast.suite


def _family(suite: str, factor: str, members: Sequence[Contrast], runs: Mapping[str, Run]) -> Family:
    names = dict.fromkeys((contrast.first, contrast.second) for contrast in members)
    pairs = tuple(
        Pair(first, second, tuple(one for one in members if (one.first, one.second) == (first, second)))
        for first, second in names
    )
    first = runs[members[0].first]
    card = first.header.suites[suite]
    if not factor:
        return Family(suite, factor, pairs, None, card)
    under = {} if CROSS in factor else headings(first, suite, factor)
    if len(pairs) > MOST_PAIRS:
        pairs = tuple(replace(pair, chart=_chart(pair.contrasts, under)) for pair in pairs)
        return Family(suite, factor, pairs, None, card)
    return Family(suite, factor, pairs, _chart(members, under), card)


def _chart(contrasts: Sequence[Contrast], under: Mapping[str, str]) -> Chart | None:
    values = list(dict.fromkeys(contrast.value for contrast in contrasts))
    if len(values) > MOST_ROWS:
        return None
    names = row_names(values, under)
    rows = tuple(
        Row(
            names[value],
            {pair_name(one): one.difference for one in contrasts if one.value == value},
            heading=under.get(value, ""),
        )
        for value in values
    )
    return Chart(rows, difference_axis([one.difference for one in contrasts]))


def _reversed(contrast: Contrast) -> Contrast:
    """First minus second."""
    change = contrast.difference
    turned = replace(change, value=-change.value, low=-change.high, high=-change.low) if change.known else change
    before, after = contrast.accuracies
    return replace(
        contrast,
        first=contrast.second,
        second=contrast.first,
        accuracies=(after, before),
        difference=_positive_zero(turned),
    )


def _positive_zero(change: Estimate) -> Estimate:
    return replace(change, value=change.value + 0.0, low=change.low + 0.0, high=change.high + 0.0)
