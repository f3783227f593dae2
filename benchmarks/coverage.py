"""How often the intervals cover the true value, and how often the tests reject a true null hypothesis.

The truth of simulated data is known: a 95 % interval should cover it in 95 draws of 100, and a test at 0.05 should
reject a true null in at most 5. ``textbook`` is the plain form on the same data: the percentile bootstrap; with fewer
than 30 groups t with groups minus one degrees of freedom; neither with any care for groups that all agree. For grouped
tests it is exact McNemar, as if rows were independent; for sums of rates the normal interval and test with the variance
that strata leave.
Wilson and Clopper–Pearson are summed over all outcomes instead of simulated, so they have no Monte-Carlo error.
"""

from __future__ import annotations

import argparse
import math
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass

import numpy as np
from race import parse_options, report
from scipy import stats

from acidtest.core.draws import key
from acidtest.stats import intervals, significance
from acidtest.stats.bootstrap import bootstrap
from acidtest.stats.resampling import generator, group_totals

RESAMPLES = 1_000
RATES = (0.5, 0.9, 0.99)
NO_TEXTBOOK = (math.nan, math.nan)

Ends = tuple[float, float]


@dataclass(frozen=True)
class Design:
    """Groups of 5 rows each or of 1 to 20, with the given correlation between rows of a group."""

    correlation: float
    unequal: bool

    def __str__(self) -> str:
        return f"{'1-20' if self.unequal else '5'} rows, alike {self.correlation}"


DESIGNS = (Design(0.3, False), Design(0.3, True), Design(0.8, True))


@dataclass(frozen=True)
class Cell:
    """One row of a table: a simulation with its arguments."""

    table: str
    name: str
    setting: str
    draws: int
    arguments: tuple


@dataclass(frozen=True)
class Outcome:
    """Share of draws that cover, or reject; its Monte-Carlo error; mean width; the textbook form's share."""

    table: str
    name: str
    setting: str
    draws: int
    share: float
    error: float
    width: float
    textbook: float


def grouped_rows(rng: np.random.Generator, shares: tuple, groups: int, design: Design) -> tuple:
    """Outcome (an index into shares) and group of every row; each group's shares are Dirichlet around the given."""
    sizes = np.minimum(rng.geometric(0.25, groups), 20) if design.unequal else np.full(groups, 5)
    possible = np.flatnonzero(shares)
    likely = np.array(shares)[possible] * (1 - design.correlation) / design.correlation
    gammas = np.maximum(rng.gamma(likely, size=(groups, possible.size)), 1e-300)
    bounds = np.cumsum(gammas / gammas.sum(axis=1, keepdims=True), axis=1)
    members = np.repeat(np.arange(groups), sizes)
    outcome = (rng.random(members.size)[:, None] > bounds[members, :-1]).sum(axis=1)
    return possible[outcome], members


def textbook(values: np.ndarray, members: np.ndarray, rng: np.random.Generator) -> Ends:
    """The plain interval for the mean of grouped rows."""
    totals = group_totals(values, members)
    count, value = totals.sums.size, totals.value
    if count >= intervals.FEW_GROUPS:
        plain = bootstrap(totals.sums, totals.sizes, rng=rng, resamples=RESAMPLES, kind="percentile")
        return plain.low, plain.high
    residuals = totals.sums - value * totals.sizes
    reach = stats.t.ppf(0.975, count - 1) * math.sqrt(count / (count - 1) * (residuals**2).sum()) / totals.sizes.sum()
    return value - reach, value + reach


def grouped_rate(rng: np.random.Generator, draw: int, groups: int, truth: float, design: Design) -> tuple[Ends, Ends]:
    """``rate`` on grouped rows."""
    values, members = grouped_rows(rng, (1 - truth, truth), groups, design)
    ours = intervals.rate(values, groups=members, draws_seed=draw, resamples=RESAMPLES)
    return (ours.low, ours.high), textbook(values.astype(float), members, rng)


def stratified_rate(rng: np.random.Generator, draw: int, strata: int, size: int, spread: float) -> tuple[Ends, Ends]:
    """``rate`` on groups of unequal size in strata whose rates lie evenly around 0.8."""
    truths = np.linspace(0.8 - spread, 0.8 + spread, strata)
    parts = [grouped_rows(rng, (1 - truth, truth), size, Design(0.3, False)) for truth in truths]
    values = np.concatenate([outcome for outcome, _ in parts])
    members = np.concatenate([number * size + group for number, (_, group) in enumerate(parts)])
    ours = intervals.rate(values, groups=members, strata=members // size, draws_seed=draw, resamples=RESAMPLES)
    return (ours.low, ours.high), NO_TEXTBOOK


def paired_difference(rng: np.random.Generator, draw: int, groups: int, shares: tuple, design: Design | None) -> tuple:
    """``difference`` of two models on the same rows; shares: both alike, only the first right, only the second."""
    if design is None:
        outcome, members = rng.choice(3, size=groups, p=shares), np.arange(groups)
    else:
        outcome, members = grouped_rows(rng, shares, groups, design)
    first, second = outcome == 1, outcome == 2
    ours = intervals.difference(first, second, groups=members, draws_seed=draw, resamples=RESAMPLES)
    return (ours.low, ours.high), textbook(first * 1.0 - second, members, rng)


def unpaired_difference(
    rng: np.random.Generator, draw: int, groups: tuple, truths: tuple, design: Design | None
) -> tuple:
    """``unpaired_difference`` of two models on different rows."""
    sides = []
    for count, truth in zip(groups, truths, strict=True):
        if design is None:
            sides.append((rng.random(count) < truth, np.arange(count)))
        else:
            sides.append(grouped_rows(rng, (1 - truth, truth), count, design))
    (first, of_first), (second, of_second) = sides
    ours = intervals.unpaired_difference(
        first, second, groups_first=of_first, groups_second=of_second, draws_seed=draw, resamples=RESAMPLES
    )
    return (ours.low, ours.high), NO_TEXTBOOK


def paired_p(
    rng: np.random.Generator, draw: int, test: str, groups: int, shares: tuple, design: Design | None
) -> tuple:
    """p of a test between two equally good models on the same rows, and of exact McNemar on them."""
    if design is None:
        outcome, members = rng.choice(3, size=groups, p=shares), np.arange(groups)
    else:
        outcome, members = grouped_rows(rng, shares, groups, design)
    first, second = outcome == 1, outcome == 2
    exact = significance.mcnemar(first, second).p
    if test == "permutation":
        p = significance.paired_permutation(first, second, groups=members, rng=rng, resamples=RESAMPLES - 1).p
    else:
        p = significance.mcnemar(first, second, mid_p=test == "mid-p").p
    return p, exact if design else math.nan


def unpaired_p(rng: np.random.Generator, draw: int, groups: tuple, design: Design | None) -> tuple:
    """p of the unpaired permutation between two models of accuracies 0.9, 0.7 and 0.5 in three strata."""
    truths = (0.9, 0.7, 0.5)
    columns = []
    for count in groups:
        for stratum, truth in enumerate(truths):
            if design is None:
                values, members = rng.random(count) < truth, np.arange(count)
            else:
                values, members = grouped_rows(rng, (1 - truth, truth), count, design)
            columns.append((values, members + stratum * count, np.full(values.size, stratum)))
    (first, of_first, in_first), (second, of_second, in_second) = (
        map(np.concatenate, zip(*side, strict=True)) for side in (columns[:3], columns[3:])
    )
    test = significance.unpaired_permutation(
        first,
        second,
        groups_first=of_first,
        groups_second=of_second,
        strata_first=in_first,
        strata_second=in_second,
        rng=rng,
        resamples=RESAMPLES - 1,
    )
    return test.p, math.nan


# Coefficients of the contrasts of studies/contamination.py: one pair of cells, four, and four of either model.
CONTRASTS = {"words": (1, -1), "both": (1, -1, -1, 1), "excess": (1, -1, -1, 1, -1, 1, 1, -1)}
CELL_RATES = {
    "0.02": (0.02,),
    "0.5": (0.5,),
    "0.98": (0.98,),
    "0.02-0.98": (0.02, 0.98, 0.5, 0.1, 0.9),
    "0 and 1": (0.0, 1.0),
}
UNLIKE_CELLS = ((0.98, 0.02, 0.02, 0.02), (0.9, 0.1, 0.05, 0.02), (0.3, 0.02, 0.3, 0.02))


def sum_of_rates(
    rng: np.random.Generator, coefficients: tuple, n: int, strata: int, rates: tuple, uneven: bool
) -> list[tuple[float, intervals.StratifiedRate]]:
    """Cells of n rows each in strata whose rates are the cell's in turn; uneven: sizes and weights of strata differ."""
    members = np.repeat(np.arange(strata), np.resize([3, 1, 2], strata)) if uneven else np.arange(strata)
    members = np.resize(members, n)
    weights = np.resize([0.5, 1.5, 1.0], strata)[members] if uneven else np.ones(n)
    parts = []
    for coefficient, cell_rates in zip(coefficients, rates, strict=True):
        values = rng.random(n) < np.resize(cell_rates, strata)[members]
        parts.append((coefficient, intervals.StratifiedRate.of(values, strata=members, weights=weights)))
    return parts


def plain_sum(parts: list[tuple[float, intervals.StratifiedRate]]) -> tuple[float, float]:
    """Value and standard error by the textbook."""
    variances = [(part.squares * part.rates * (1 - part.rates)).sum() * factor**2 for factor, part in parts]
    return sum(factor * part.value for factor, part in parts), math.sqrt(sum(variances))


def sum_interval(rng: np.random.Generator, draw: int, *design) -> tuple[Ends, Ends]:
    """``combination`` of cells."""
    parts = sum_of_rates(rng, *design)
    ours, (value, error) = intervals.combination(parts), plain_sum(parts)
    return (ours.low, ours.high), (value - 1.96 * error, value + 1.96 * error)


def sum_p(rng: np.random.Generator, draw: int, *design) -> tuple[float, float]:
    """p of ``combination_test`` on cells whose contrast is 0."""
    parts = sum_of_rates(rng, *design)
    value, error = plain_sum(parts)
    plain = 2 * stats.norm.sf(abs(value) / error) if error else float(value == 0)
    return significance.combination_test(parts).p, plain


def exact_rate(kind: str, n: int, truth: float) -> tuple[float, float]:
    """Coverage and mean width of ``rate`` on independent rows (``Wilson``) or of Clopper–Pearson, without chance."""
    chances = stats.binom.pmf(np.arange(n + 1), n, truth)
    likely = np.flatnonzero(chances > 1e-12)
    ends = []
    for successes in map(int, likely):
        exact = kind == "Clopper–Pearson" or successes in (0, n)
        interval = (intervals.clopper_pearson if exact else intervals.wilson)(successes, n)
        ends.append((interval.low, interval.high))
    low, high = np.array(ends).T
    return float(chances[likely] @ ((low <= truth) & (truth <= high))), float(chances[likely] @ (high - low))


def simulate(cell: Cell) -> Outcome:
    """Run one cell."""
    facts = asdict(cell)
    del facts["arguments"]
    if cell.table == "rates of independent rows":
        share, width = exact_rate(*cell.arguments)
        return Outcome(**facts, share=share, error=0.0, width=width, textbook=math.nan)
    simulation, truth, *arguments = cell.arguments
    rng = generator(key(cell.table, cell.name, cell.setting))
    results = np.array([globals()[simulation](rng, draw, *arguments) for draw in range(cell.draws)], dtype=float)
    if truth is None:
        share, plain = (results <= 0.05).mean(axis=0)
        width = math.nan
    else:
        share, plain = ((results[..., 0] <= truth + 1e-12) & (truth - 1e-12 <= results[..., 1])).mean(axis=0)
        width = float((results[:, 0, 1] - results[:, 0, 0]).mean())
    if np.isnan(results[:, 1]).all():
        plain = math.nan
    error = math.sqrt(share * (1 - share) / cell.draws)
    return Outcome(**facts, share=float(share), error=error, width=width, textbook=float(plain))


def cells(draws: int) -> Iterator[Cell]:
    """Every cell of every table."""
    for kind in ("Wilson", "Clopper–Pearson"):
        for n in (10, 30, 100, 1_000, 10_000):
            for truth in RATES:
                yield Cell("rates of independent rows", f"{kind}, {n} rows", f"rate {truth}", 0, (kind, n, truth))
    for groups in (2, 3, 5, 10, 20, 29, 30, 68, 300, 10_000):
        for truth in RATES:
            for design in DESIGNS:
                table, name = "rates of grouped rows", f"{groups} groups"
                few = min(draws, 200) if groups == 10_000 else draws
                arguments = ("grouped_rate", truth, groups, truth, design)
                yield Cell(table, name, f"rate {truth}, {design}", few, arguments)
    for strata, size in ((30, 2), (10, 3), (10, 10), (3, 100)):
        arguments = ("stratified_rate", 0.8, strata, size, 0.15)
        yield Cell(
            "rates in strata", f"{strata} strata of {size} groups", f"rates 0.65-0.95, {DESIGNS[0]}", draws, arguments
        )
    for groups in (5, 10, 20, 30, 68, 300, 1_000):
        for first, second in ((0.1, 0.05), (0.05, 0.05), (0.02, 0.0)):
            for design in (None, *DESIGNS[:2]):
                shares = (1 - first - second, first, second)
                setting = f"only first {first}, only second {second}, {design or 'independent rows'}"
                arguments = ("paired_difference", first - second, groups, shares, design)
                yield Cell("paired differences", f"{groups} groups", setting, draws, arguments)
    for groups in ((10, 10), (30, 30), (68, 300)):
        for truths in ((0.5, 0.5), (0.9, 0.8), (0.99, 0.95)):
            for design in (None, *DESIGNS[:2]):
                setting = f"rates {truths[0]} and {truths[1]}, {design or 'independent rows'}"
                arguments = ("unpaired_difference", truths[0] - truths[1], groups, truths, design)
                yield Cell("unpaired differences", f"{groups[0]} and {groups[1]} groups", setting, draws, arguments)
    for name, setting, truth, design in sums():
        arguments = ("sum_interval", truth, *design)
        yield Cell("sums of stratified rates", name, setting, draws, arguments)
    yield from null_cells(draws)


def sums() -> Iterator[tuple[str, str, float, tuple]]:
    """Contrasts of cells with equal rates and with different ones: name, setting, truth and design.

    Strata are as numerous as the templates of one heuristic, or of all, where it is wrong.
    """
    for contrast, coefficients in CONTRASTS.items():
        for n in (50, 200, 1_000):
            name = f"{contrast}, {n} rows a cell"
            for strata, uneven in ((5, True), (38, False), (38, True)):
                shape = f"{strata} {'uneven' if uneven else 'even'} strata"
                for label, rates in CELL_RATES.items():
                    design = (coefficients, n, strata, (rates,) * len(coefficients), uneven)
                    yield name, f"rates {label}, {shape}", 0.0, design
            for unlike in UNLIKE_CELLS if contrast == "both" else ():
                truth = math.fsum(coefficient * rate for coefficient, rate in zip(coefficients, unlike, strict=True))
                design = (coefficients, n, 38, tuple((rate,) for rate in unlike), True)
                yield name, f"rates {', '.join(map(str, unlike))}, 38 uneven strata", truth, design


def null_cells(draws: int) -> Iterator[Cell]:
    """The tests under a true null hypothesis."""
    table = "false positives at 0.05"
    for test in ("exact", "mid-p", "permutation"):
        for n in (20, 100, 1_000):
            setting = "independent rows, 10 % only first right, 10 % only second"
            yield Cell(table, f"{test}, {n} rows", setting, draws, ("paired_p", None, test, n, (0.8, 0.1, 0.1), None))
    for groups in (5, 10, 20, 68, 300):
        for design in DESIGNS:
            arguments = ("paired_p", None, "permutation", groups, (0.8, 0.1, 0.1), design)
            yield Cell(table, f"permutation, {groups} groups", str(design), draws, arguments)
    for groups in ((5, 5), (20, 20), (100, 300)):
        for design in (None, *DESIGNS[:2]):
            name = f"unpaired permutation, 3 x {groups[0]} and 3 x {groups[1]} groups"
            setting = f"3 strata, {design or 'independent rows'}"
            yield Cell(table, name, setting, draws, ("unpaired_p", None, groups, design))
    for name, setting, truth, design in sums():
        if name.startswith("both") and "38 uneven" in setting and abs(truth) < 1e-9:
            yield Cell(table, f"sum of rates, {name}", setting, draws, ("sum_p", None, *design))


def is_missed(outcome: Outcome) -> bool:
    """Whether a cell misses its aim by more than chance: coverage of 0.94, or false positives of 0.05."""
    if outcome.table.startswith("false"):
        return outcome.share > 0.05 + 2 * outcome.error
    return outcome.share < 0.94 - 2 * outcome.error


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="cells whose table and name have this in them")
    options = parse_options(parser, draws=(20, 1_000))
    # In a small run a sample of cells stands for all: every seventh, so that every table and design has some.
    step = 1 if options.full or options.only else 7
    chosen = [cell for cell in cells(options.draws) if options.only in f"{cell.table}: {cell.name}"][::step]
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        outcomes = list(pool.map(simulate, chosen))
    rows = []
    for outcome in outcomes:
        row = {name: None if value != value else value for name, value in asdict(outcome).items()}
        rows.append(row | {"missed": "*" if is_missed(outcome) else ""})
    report("coverage" if not options.only else "coverage_only", rows)


if __name__ == "__main__":
    main()
