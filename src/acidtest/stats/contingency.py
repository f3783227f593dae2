"""Tests of contingency tables: whether two properties of the same rows are associated.

The default is the likelihood-ratio statistic G with Yates' correction at one degree of freedom: what Sanchez, Mitchell
and Riedel (2018) call chi-square. Pearson's statistic, corrected likewise, and Fisher's exact test can be chosen
instead. All assume independent rows; ``permutation_p`` keeps together the rows that are not.

Models, or categories, that tests do not tell apart are tied. Two members share a group exactly when no test tells them
apart, so a member may be in several: that A is tied with B, and B with C, does not tie A with C. Groups are lettered as
in a compact letter display (Piepho 2004).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from acidtest.core.errors import UnknownNameError
from acidtest.core.estimate import Estimate
from acidtest.stats.resampling import Rng, Values, generator
from acidtest.stats.significance import adjusted

Counts = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

TESTS: Mapping[str, str] = {"g": "G", "pearson": "Pearson's chi-square", "fisher": "Fisher's exact"}
"""The tests by the names that --test takes."""

FEW_EXPECTED = 5.0
"""With fewer rows expected in a cell, the p-values of G and Pearson's chi-square are rough."""

ALPHA = 0.05
"""Members are told apart by a p below this."""

_CHUNK = 2**16


@dataclass(frozen=True)
class Crosstab:
    """How many rows have each combination of two properties, with the names of rows and columns."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    counts: Counts

    @classmethod
    def of(cls, rows: Values, columns: Values, *, names: tuple[Sequence[str], Sequence[str]]) -> Crosstab:
        """Count two columns of codes; a row with a negative code is left out. ``names`` are the names of the codes."""
        first, second = np.asarray(rows, dtype=np.int64), np.asarray(columns, dtype=np.int64)
        shape = len(names[0]), len(names[1])
        counted = (first >= 0) & (second >= 0)
        cells = first[counted] * shape[1] + second[counted]
        counts = np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape)
        return cls(tuple(names[0]), tuple(names[1]), counts.astype(np.int64))

    @property
    def n(self) -> int:
        return int(self.counts.sum())

    @property
    def filled(self) -> Crosstab:
        """The table without empty rows and columns."""
        down, across = (np.flatnonzero(self.counts.sum(axis=axis)) for axis in (1, 0))
        rows, columns = tuple(self.rows[row] for row in down), tuple(self.columns[column] for column in across)
        return Crosstab(rows, columns, self.counts[down][:, across])


@dataclass(frozen=True)
class Association:
    """Whether the rows and columns of a table are associated, and how strongly.

    ``effect`` is phi (2 × 2; positive when the first row goes with the first column) or Cramér's V; 2 × 2 tables
    have an ``odds_ratio``. ``statistic`` is NaN for Fisher's test, which has none. NaN with a note where a table
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
    table: Crosstab | Values, test: str = "g", *, yates: bool = True, rng: Rng | None = None, draws: int = 100_000
) -> Association:
    """Test a table by ``g``, ``pearson`` or ``fisher``; rows and columns of zeros are dropped, with a note.

    ``yates`` moves every count by up to half a row towards its expected value when there is one degree of freedom.
    Fisher's test of a table larger than 2 × 2 draws tables with the same margins; its p is (c + 1) / (draws + 1),
    never 0.
    """
    if test not in TESTS:
        raise UnknownNameError("test of contingency tables", test, TESTS)
    whole = table if isinstance(table, Crosstab) else _unnamed(table)
    filled = whole.filled
    counts, notes = filled.counts, list[str]()
    for kind, names, kept in (("rows", whole.rows, filled.rows), ("columns", whole.columns, filled.columns)):
        if empty := [name for name in names if name not in kept]:
            notes.append(f"empty {kind} dropped: {', '.join(empty)}")
    if min(counts.shape) < 2:
        notes.append("all rows are alike in one of the two: nothing to test" if whole.n else "no rows")
        note = "; ".join(notes)
        nothing = Estimate(math.nan, n=whole.n, note=note)
        return Association(TESTS[test], math.nan, 0, math.nan, whole.n, nothing, note=note)
    df = (counts.shape[0] - 1) * (counts.shape[1] - 1)
    if test == "fisher":
        name, statistic, (p, note) = TESTS[test], math.nan, _fisher(counts, rng or generator(0), draws)
        name += ", by simulation" if df > 1 else ""
    else:
        statistic, p, note = _power_divergence(counts, test, yates=yates)
        name = TESTS[test] + (" with Yates' correction" if yates and df == 1 else "")
    odds, note = odds_ratio(counts) if df == 1 else None, "; ".join([*notes, *filter(None, [note])])
    return Association(name, statistic, df, p, whole.n, _effect(counts), odds, note)


def conditional_association(tables: Sequence[Crosstab], test: str = "g") -> Association:
    """Whether rows and columns are associated within strata, by the sums of statistics and degrees of freedom.

    There is no Yates' correction for sums. Strata that cannot be tested add nothing. G replaces Fisher's
    test, which has no such sum.
    """
    from scipy.special import chdtrc

    kind = "pearson" if test == "pearson" else "g"
    parts = [association(table, kind, yates=False) for table in tables]
    tested = [part for part in parts if not math.isnan(part.p)]
    n = sum(part.n for part in tested)
    name = f"{TESTS[kind]}, summed over strata"
    if not tested:
        note = "no stratum can be tested"
        return Association(name, math.nan, 0, math.nan, 0, Estimate(math.nan, note=note), note=note)
    statistic, df = sum(part.statistic for part in tested), sum(part.df for part in tested)
    notes = [f"strata that cannot be tested: {len(parts) - len(tested)}"] if len(tested) < len(parts) else []
    rough = sum("expected" in part.note for part in tested)
    notes += [f"fewer than {FEW_EXPECTED:g} rows expected in cells of {rough} strata: p is rough"] if rough else []
    effect = Estimate(math.nan, n=n, note="a sum over strata has no one effect")
    return Association(name, statistic, df, float(chdtrc(df, statistic)), n, effect, note="; ".join(notes))


def permutation_p(rows: Values, columns: Values, clusters: Values, *, rng: Rng, draws: int = 9_999) -> float:
    """p of G when the property is permuted among whole clusters, such as pairs of words; never 0.

    For a property (``rows``, as codes) that all rows of a cluster share: a cluster of many rows is one piece of
    evidence, not many. NaN with fewer than two values of either column.
    """
    first, second = np.asarray(rows, dtype=np.int64), np.asarray(columns, dtype=np.int64)
    counted = (first >= 0) & (second >= 0)
    _, member = np.unique(np.asarray(clusters)[counted], return_inverse=True)
    first, second = first[counted], second[counted]
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


def odds_ratio(counts: Values) -> Estimate:
    """The odds ratio of a 2 × 2 table with Woolf's interval; a half is added to every cell when one is empty."""
    from scipy.special import ndtri

    cells = np.asarray(counts, dtype=np.float64)
    n = int(cells.sum())
    if cells.shape != (2, 2) or not (cells.any(axis=0).all() and cells.any(axis=1).all()):
        return Estimate(math.nan, n=n, note="no odds ratio without two rows and two columns that are not empty")
    empty = bool((cells == 0).any())
    cells = cells + 0.5 if empty else cells
    centre = float(np.log(cells[0, 0]) + np.log(cells[1, 1]) - np.log(cells[0, 1]) - np.log(cells[1, 0]))
    reach = float(ndtri(0.975)) * math.sqrt(float((1 / cells).sum()))
    ends = math.exp(centre - reach), math.exp(centre + reach)
    note = "a half added to every cell, since one is empty" if empty else ""
    return Estimate(math.exp(centre), *ends, n=n, groups=n, method="Woolf", note=note)


def pooled_log_odds_ratio(tables: Values) -> tuple[float, float]:
    """The common log odds ratio of 2 × 2 tables (Mantel and Haenszel), and its variance (Robins et al. 1986).

    ``tables`` has the shape (tables, 2, 2). Rows that differ between tables in difficulty bias neither. If one side of
    the ratio would be 0, half a row is added to every cell, spread over the tables by their size. NaN without rows on
    both sides.
    """
    cells = np.asarray(tables, dtype=np.float64).reshape(-1, 4)
    cells = cells[(cells[:, :2].sum(axis=1) > 0) & (cells[:, 2:].sum(axis=1) > 0)]
    if not len(cells):
        return math.nan, math.nan
    for added in (0.0, 0.5):
        a, b, c, d = (cells + added * cells.sum(axis=1, keepdims=True) / cells.sum()).T
        n = a + b + c + d
        for_first, for_second = a * d / n, b * c / n
        first, second = float(for_first.sum()), float(for_second.sum())
        if first and second:
            break
    same, other = (a + d) / n, (b + c) / n
    variance = (
        (same * for_first).sum() / (2 * first**2)
        + (same * for_second + other * for_first).sum() / (2 * first * second)
        + (other * for_second).sum() / (2 * second**2)
    )
    return math.log(first / second), float(variance)


@dataclass(frozen=True)
class Ties:
    """Members of one comparison, best first, and the groups within which no test tells two members apart."""

    what: str
    rates: Mapping[str, float]
    groups: tuple[tuple[str, ...], ...]
    alpha: float = ALPHA

    json_properties = ("letters",)

    @property
    def letters(self) -> dict[str, str]:
        """For each member the letters of its groups: two that share one are tied."""
        return {
            name: " ".join(letter(number) for number, group in enumerate(self.groups) if name in group)
            for name in self.rates
        }


def tied_groups(names: Sequence[str], apart: Collection[tuple[str, str]]) -> tuple[tuple[str, ...], ...]:
    """The largest groups of which no two members are ``apart``, in the order of their first members.

    Piepho's insert-and-absorb: every group that holds two members told apart is split in two, one without each; a group
    inside another is dropped.
    """
    groups = [frozenset(names)] if names else []
    for one, two in apart:
        split = list[frozenset[str]]()
        for group in groups:
            split += [group - {one}, group - {two}] if {one, two} <= group else [group]
        groups = [group for group in dict.fromkeys(split) if not any(group < other for other in split)]
    places = {name: place for place, name in enumerate(names)}
    ordered = (tuple(sorted(group, key=places.__getitem__)) for group in groups)
    return tuple(sorted(ordered, key=lambda group: [places[name] for name in group]))


def letter(number: int) -> str:
    """a, b, … z, aa, ab …: the name of a group."""
    return (letter(number // 26 - 1) if number >= 26 else "") + chr(ord("a") + number % 26)


def tied_categories(counts: Mapping[str, tuple[int, int]], *, what: str = "", correction: str = "holm") -> Ties:
    """Categories whose rates, given as how many of how many, are not told apart by Fisher's tests of every two.

    For independent rows. Categories without rows are left out.
    """
    counted = {name: (hits, n) for name, (hits, n) in counts.items() if n}
    rates = best_first({name: hits / n for name, (hits, n) in counted.items()})
    pairs = list(combinations(rates, 2))
    tables = [[(counted[name][0], counted[name][1] - counted[name][0]) for name in pair] for pair in pairs]
    ps = adjusted([association(table, "fisher").p for table in tables], correction)
    apart = [pair for pair, p in zip(pairs, ps, strict=True) if p < ALPHA]
    return Ties(what, rates, tied_groups(list(rates), apart))


def best_first(rates: Mapping[str, float]) -> dict[str, float]:
    """The rates from the highest to the lowest, those that are not known last."""
    return dict(sorted(rates.items(), key=lambda item: -item[1] if not math.isnan(item[1]) else math.inf))


def _power_divergence(counts: Counts, test: str, *, yates: bool) -> tuple[float, float, str]:
    """G or Pearson's chi-square, its p, and a note where p is rough."""
    from scipy.stats import chi2_contingency

    result = chi2_contingency(counts, correction=yates, lambda_="log-likelihood" if test == "g" else "pearson")
    few = int((result.expected_freq < FEW_EXPECTED).sum())
    note = f"fewer than {FEW_EXPECTED:g} rows expected in {few} of {counts.size} cells: p is rough" if few else ""
    return max(0.0, float(result.statistic)), float(result.pvalue), note


def _fisher(counts: Counts, rng: Rng, draws: int) -> tuple[float, str]:
    """Two-sided p, the probability of all tables with these margins that are no likelier than this one, and a note.

    For tables larger than 2 × 2 it is estimated from random tables (Freeman and Halton's test).
    """
    from scipy.special import gammaln
    from scipy.stats import fisher_exact, random_table

    if counts.shape == (2, 2):
        return float(fisher_exact(counts)[1]), ""
    law = random_table(counts.sum(axis=1), counts.sum(axis=0))
    # With margins fixed, a table's probability falls as the product of its cells' factorials rises.
    observed, beyond = float(gammaln(counts + 1.0).sum()), 0
    for start in range(0, draws, _CHUNK):
        tables = law.rvs(min(_CHUNK, draws - start), random_state=rng)
        beyond += int((gammaln(tables + 1.0).sum(axis=(1, 2)) >= observed - 1e-7).sum())
    note = f"of {draws:,} tables drawn with the same margins; p cannot fall below {1 / (draws + 1):.1g}"
    return (beyond + 1) / (draws + 1), note


def _likelihood_ratios(tables: Floats) -> Floats:
    """G of many tables, uncorrected: sums of x log x over cells, less those over margins."""
    from scipy.special import xlogy

    cells = xlogy(tables, tables).sum(axis=(1, 2))
    down, across, total = tables.sum(axis=2), tables.sum(axis=1), tables.sum(axis=(1, 2))
    margins = xlogy(down, down).sum(axis=1) + xlogy(across, across).sum(axis=1)
    return np.asarray(2 * (cells - margins + xlogy(total, total)))


def _effect(counts: Counts) -> Estimate:
    """Phi with its sign for a 2 × 2 table, else Cramér's V; neither corrected."""
    n = int(counts.sum())
    if counts.shape == (2, 2):
        (a, b), (c, d) = counts.astype(np.float64)
        value = float((a * d - b * c) / math.sqrt(float((a + b) * (c + d) * (a + c) * (b + d))))
        return Estimate(value, n=n, groups=n, method="phi")
    from scipy.stats.contingency import association as effect_size

    return Estimate(float(effect_size(counts, method="cramer")), n=n, groups=n, method="Cramér's V")


def _unnamed(table: npt.ArrayLike) -> Crosstab:
    counts = np.asarray(table)
    if counts.ndim != 2:
        raise ValueError(f"a contingency table has rows and columns, not {counts.ndim} dimensions")
    if (counts < 0).any() or (counts != np.floor(counts)).any():
        raise ValueError("a contingency table holds counts: whole numbers from 0 on")
    down, across = (tuple(str(number + 1) for number in range(size)) for size in counts.shape)
    return Crosstab(down, across, counts.astype(np.int64))
