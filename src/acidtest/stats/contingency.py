"""Tests of contingency tables: whether two ways of sorting the same rows have to do with each other.

The default is the likelihood-ratio statistic G with Yates' correction at one degree of freedom: what Sanchez, Mitchell
and Riedel (2018) call chi-square. Pearson's statistic, corrected likewise, and Fisher's exact test are there on
request. All of them take rows to be independent; ``shuffled`` keeps together the rows that are not.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.special import chdtrc, ndtri, xlogy

from acidtest.core.errors import UnknownNameError
from acidtest.core.estimate import Estimate
from acidtest.stats.resampling import generator

Counts = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

TESTS: Mapping[str, str] = {"g": "G", "pearson": "Pearson's chi-square", "fisher": "Fisher's exact"}
"""The tests by the names that --test takes."""

FEW_EXPECTED = 5.0
"""With fewer rows expected in a cell, the p-values of G and Pearson's chi-square are rough."""

_CHUNK = 2**16


@dataclass(frozen=True)
class Crosstab:
    """How many rows have each combination of two properties; rows and columns by name."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    counts: Counts

    @classmethod
    def of(cls, rows: npt.ArrayLike, columns: npt.ArrayLike, *, names: tuple[Sequence[str], Sequence[str]]) -> Crosstab:
        """Counted from two columns of codes; a row with a negative code is left out. ``names`` say what codes mean."""
        first, second = np.asarray(rows, dtype=np.int64), np.asarray(columns, dtype=np.int64)
        shape = len(names[0]), len(names[1])
        held = (first >= 0) & (second >= 0)
        cells = first[held] * shape[1] + second[held]
        counts = np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape)
        return cls(tuple(names[0]), tuple(names[1]), counts.astype(np.int64))

    @property
    def n(self) -> int:
        """All rows counted."""
        return int(self.counts.sum())

    @property
    def filled(self) -> Crosstab:
        """Without the rows and columns that hold nothing."""
        down, across = (np.asarray(self.counts.sum(axis=axis) > 0) for axis in (1, 0))
        return Crosstab(_kept(self.rows, down), _kept(self.columns, across), self.counts[down][:, across])


@dataclass(frozen=True)
class Association:
    """Whether the rows and columns of a table have to do with each other, and how much.

    ``effect`` is phi (2 × 2; positive when the first row goes with the first column) or Cramér's V; ``odds_ratio`` is
    there for 2 × 2 tables. ``statistic`` is NaN for Fisher's test, which has none. NaN with a note where a table
    cannot be tested.
    """

    test: str
    statistic: float
    df: int
    p: float
    n: int
    effect: Estimate
    odds_ratio: Estimate | None = None
    note: str = ""

    def describe(self) -> str:
        """``G(1) = 175.34 with Yates' correction, phi 0.74``; only the name of a test that has no statistic."""
        name = next((name for name in TESTS.values() if self.test.startswith(name)), self.test)
        rest = self.test.removeprefix(name)
        statistic = "" if math.isnan(self.statistic) else f"({self.df}) = {self.statistic:.2f}"
        effect = f", {self.effect.method} {self.effect.value:z.2f}".replace("-", "−") if self.effect.known else ""
        return f"{name}{statistic}{rest}{effect}"


def association(
    table: Crosstab | npt.ArrayLike,
    test: str = "g",
    *,
    yates: bool = True,
    rng: np.random.Generator | None = None,
    draws: int = 100_000,
) -> Association:
    """Test a table by ``g``, ``pearson`` or ``fisher``; rows and columns of zeros are dropped, and said.

    ``yates`` moves every count half a row (never more than the whole way) towards what is expected when there is one
    degree of freedom. Fisher's test of a table larger than 2 × 2 draws tables with the same margins, and p is
    (c + 1) / (draws + 1), never 0.
    """
    if test not in TESTS:
        raise UnknownNameError("test of contingency tables", test, TESTS)
    whole = table if isinstance(table, Crosstab) else _unnamed(table)
    filled = whole.filled
    notes = _dropped(whole, filled)
    if min(filled.counts.shape) < 2:
        note = "; ".join(
            [*notes, "no rows" if not whole.n else "all rows are alike in one of the two: nothing to test"]
        )
        return Association(
            TESTS[test], math.nan, 0, math.nan, whole.n, Estimate(math.nan, n=whole.n, note=note), note=note
        )
    counts = filled.counts
    df = (counts.shape[0] - 1) * (counts.shape[1] - 1)
    found = _fisher(counts, rng or generator(0), draws) if test == "fisher" else _power(counts, test, yates=yates)
    odds = odds_ratio(counts) if df == 1 else None
    notes += [found.note] if found.note else []
    return replace(found, df=df, effect=_effect(counts), odds_ratio=odds, note="; ".join(notes))


def conditional_association(tables: Sequence[Crosstab], test: str = "g") -> Association:
    """Whether rows and columns have to do with each other within strata: statistics and degrees of freedom add up.

    Without Yates' correction, which is not made for sums. Strata that cannot be tested add nothing. Fisher's test has
    no such sum: G stands for it.
    """
    kind = "pearson" if test == "pearson" else "g"
    parts = [association(table, kind, yates=False) for table in tables]
    told = [part for part in parts if not math.isnan(part.p)]
    n = sum(part.n for part in told)
    name = f"{TESTS[kind]}, summed over strata"
    if not told:
        note = "no stratum can be tested"
        return Association(name, math.nan, 0, math.nan, 0, Estimate(math.nan, note=note), note=note)
    statistic, df = sum(part.statistic for part in told), sum(part.df for part in told)
    notes = [f"strata that cannot be tested: {len(parts) - len(told)}"] if len(told) < len(parts) else []
    rough = sum("expected" in part.note for part in told)
    notes += [f"fewer than {FEW_EXPECTED:g} rows expected in cells of {rough} strata: p is rough"] if rough else []
    effect = Estimate(math.nan, n=n, note="a sum over strata has no one effect")
    return Association(name, statistic, df, float(chdtrc(df, statistic)), n, effect, note="; ".join(notes))


def shuffled(
    rows: npt.ArrayLike,
    columns: npt.ArrayLike,
    clusters: npt.ArrayLike,
    *,
    rng: np.random.Generator,
    draws: int = 9_999,
) -> float:
    """p of G when what rows are sorted by changes places among whole clusters, such as pairs of words: never 0.

    For a property (``rows``, as codes) that all rows of a cluster share: a cluster that many rows belong to is one
    piece of evidence for it, not many. NaN with fewer than two values of either.
    """
    first, second = np.asarray(rows, dtype=np.int64), np.asarray(columns, dtype=np.int64)
    held = (first >= 0) & (second >= 0)
    _, member = np.unique(np.asarray(clusters)[held], return_inverse=True)
    first, second = first[held], second[held]
    if not len(first) or len(np.unique(first)) < 2 or len(np.unique(second)) < 2:
        return math.nan
    value = np.zeros(int(member.max()) + 1, dtype=np.int64)
    value[member] = first
    outcomes = np.zeros((len(value), int(second.max()) + 1))
    np.add.at(outcomes, (member, second), 1)
    indicator = np.eye(int(first.max()) + 1)[value]
    observed = float(_likelihood_ratios((indicator.T @ outcomes)[None])[0])
    beyond, step = 0, max(1, _CHUNK // len(value))
    for start in range(0, draws, step):
        order = rng.permuted(np.tile(value, (min(step, draws - start), 1)), axis=1)
        tables = np.stack([(order == code) @ outcomes for code in range(indicator.shape[1])], axis=1)
        beyond += int((_likelihood_ratios(tables) >= observed - 1e-9 * max(1.0, observed)).sum())
    return (beyond + 1) / (draws + 1)


def odds_ratio(counts: npt.ArrayLike, *, confidence: float = 0.95) -> Estimate:
    """The odds ratio of a 2 × 2 table with Woolf's interval; a half is added to every cell when one is empty."""
    cells = np.asarray(counts, dtype=np.float64)
    n = int(cells.sum())
    if cells.shape != (2, 2) or not (cells.any(axis=0).all() and cells.any(axis=1).all()):
        return Estimate(math.nan, n=n, note="no odds ratio without two rows and two columns that hold something")
    empty = bool((cells == 0).any())
    cells = cells + 0.5 if empty else cells
    centre = float(np.log(cells[0, 0]) + np.log(cells[1, 1]) - np.log(cells[0, 1]) - np.log(cells[1, 0]))
    reach = float(ndtri((1 + confidence) / 2)) * math.sqrt(float((1 / cells).sum()))
    ends = math.exp(centre - reach), math.exp(centre + reach)
    note = "a half added to every cell, since one is empty" if empty else ""
    return Estimate(math.exp(centre), *ends, n=n, groups=n, method="Woolf", note=note)


def _power(counts: Counts, test: str, *, yates: bool) -> Association:
    """G or Pearson's chi-square; degrees of freedom and effects are the caller's."""
    observed, expected = counts.astype(np.float64), _expected(counts)
    df = (counts.shape[0] - 1) * (counts.shape[1] - 1)
    corrected = yates and df == 1
    if corrected:
        apart = expected - observed
        observed = observed + np.sign(apart) * np.minimum(0.5, np.abs(apart))
    if test == "g":
        statistic = 2 * float((xlogy(observed, observed) - xlogy(observed, expected)).sum())
    else:
        statistic = float(((observed - expected) ** 2 / expected).sum())
    statistic = max(0.0, statistic)
    name = TESTS[test] + (" with Yates' correction" if corrected else "")
    few = int((expected < FEW_EXPECTED).sum())
    note = f"fewer than {FEW_EXPECTED:g} rows expected in {few} of {expected.size} cells: p is rough" if few else ""
    return Association(name, statistic, df, float(chdtrc(df, statistic)), int(counts.sum()), _effect(counts), note=note)


def _fisher(counts: Counts, rng: np.random.Generator, draws: int) -> Association:
    """Two-sided: all tables with these margins that are no likelier than this one."""
    n = int(counts.sum())
    if counts.shape == (2, 2):
        from scipy.stats import fisher_exact

        p = float(fisher_exact(counts)[1])
        return Association(TESTS["fisher"], math.nan, 1, p, n, _effect(counts))
    p = _drawn(counts, rng, draws)
    note = f"of {draws:,} tables drawn with the same margins; p cannot fall below {1 / (draws + 1):.1g}"
    return Association(f"{TESTS['fisher']}, by simulation", math.nan, 0, p, n, _effect(counts), note=note)


def _drawn(counts: Counts, rng: np.random.Generator, draws: int) -> float:
    """Freeman and Halton's p, estimated from random tables."""
    from scipy.special import gammaln
    from scipy.stats import random_table

    law = random_table(counts.sum(axis=1), counts.sum(axis=0))
    # With margins fixed, a table's probability falls as the product of its cells' factorials rises.
    observed = float(gammaln(counts + 1.0).sum())
    beyond = 0
    for start in range(0, draws, _CHUNK):
        tables = law.rvs(min(_CHUNK, draws - start), random_state=rng)
        beyond += int((gammaln(tables + 1.0).sum(axis=(1, 2)) >= observed - 1e-7).sum())
    return (beyond + 1) / (draws + 1)


def _likelihood_ratios(tables: Floats) -> Floats:
    """G of many tables, uncorrected: sums of x log x over cells, less those over margins."""
    cells = xlogy(tables, tables).sum(axis=(1, 2))
    down, across, all_of_it = tables.sum(axis=2), tables.sum(axis=1), tables.sum(axis=(1, 2))
    margins = xlogy(down, down).sum(axis=1) + xlogy(across, across).sum(axis=1)
    return np.asarray(2 * (cells - margins + xlogy(all_of_it, all_of_it)))


def _effect(counts: Counts) -> Estimate:
    """Phi with its sign for a 2 × 2 table, else Cramér's V; neither corrected."""
    n = int(counts.sum())
    if counts.shape == (2, 2):
        (a, b), (c, d) = counts.astype(np.float64)
        value = float((a * d - b * c) / math.sqrt(float((a + b) * (c + d) * (a + c) * (b + d))))
        return Estimate(value, n=n, groups=n, method="phi")
    expected = _expected(counts)
    chi_square = float(((counts - expected) ** 2 / expected).sum())
    return Estimate(math.sqrt(chi_square / (n * (min(counts.shape) - 1))), n=n, groups=n, method="Cramér's V")


def _expected(counts: Counts) -> Floats:
    """What independence would give."""
    return np.asarray(np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum(), dtype=np.float64)


def _unnamed(table: npt.ArrayLike) -> Crosstab:
    counts = np.asarray(table)
    if counts.ndim != 2:
        raise ValueError(f"a contingency table has rows and columns, not {counts.ndim} dimensions")
    if (counts < 0).any() or (counts != np.floor(counts)).any():
        raise ValueError("a contingency table holds counts: whole numbers from 0 on")
    down, across = (tuple(str(number + 1) for number in range(size)) for size in counts.shape)
    return Crosstab(down, across, counts.astype(np.int64))


def _dropped(whole: Crosstab, filled: Crosstab) -> list[str]:
    """What is said of rows and columns that hold nothing."""
    down = [name for name in whole.rows if name not in filled.rows]
    across = [name for name in whole.columns if name not in filled.columns]
    told = [f"empty rows dropped: {', '.join(down)}"] if down else []
    return told + ([f"empty columns dropped: {', '.join(across)}"] if across else [])


def _kept(names: tuple[str, ...], flags: npt.NDArray[np.bool_]) -> tuple[str, ...]:
    return tuple(name for name, kept in zip(names, flags, strict=True) if kept)
