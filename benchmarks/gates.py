"""How often a gate decides wrongly, on simulated releases whose true loss is known.

Every cell simulates releases of one slice or of thirty. Rows are independent, come in groups of five of which half of
the rows share one outcome, or in groups of 1, 4 and 20 of which 30 % do. The margin is 2 points:

- false pass: the model loses exactly the margin on one slice (and nothing on the others), and everything passes;
- false fail: it loses exactly the margin on every slice, and any slice fails;
- equal passes: it loses nothing, at the margin of the default policy, max(2, 92/√n) points, from 150 effective rows on.

``nel`` is the rule published for ``nel gate`` on the same data: a 95 % t interval of the paired differences, over
groups where there are any; inside the margin passes, beyond it fails. Further tables: agreeing pairs, rates
enumerated instead of simulated, a loss of 20 points in a subcase of 100 rows, an equal model on the standard battery,
and rows that decide a slice.
"""

from __future__ import annotations

import argparse
import os
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from itertools import product

import numpy as np
from race import parse_options, report
from scipy import stats
from scipy.special import ndtri, stdtrit

from acidtest.core.draws import key
from acidtest.stats.noninferiority import (
    PairedCounts,
    effective_rows_of_groups,
    is_below,
    p_above,
    pairs_needed,
    score,
)
from acidtest.studies.gate.policy import LEAST_ROWS, default_margin

ALPHA = 0.05
MARGIN = 0.02
SIZES = (10, 30, 100, 300, 1000, 3000)
DISCORDANCES = (0.0, 0.02, 0.05, 0.1, 0.2)
FAMILIES = (1, 30)
CLEAR = 0.35
"""How far a score is from the normal quantile where the exact test is sure to agree with it."""
BATTERY = (*[15_000] * 2, *[5_120] * 3, 2_144, 1_632, 1_186, *[1_067] * 3, 816, 503, *[281] * 3, *[272] * 12)
"""Rows of the slices suite × label of the standard battery that the default policy requires."""
_BLOCK = 10_000
"""Slices that are held in memory at a time."""


@dataclass(frozen=True)
class Design:
    """Sizes of groups, which are equally many, and the share of rows that have the outcome of their group."""

    sizes: tuple[int, ...]
    alike: float

    def __str__(self) -> str:
        return "independent" if self.sizes == (1,) else f"groups of {self.sizes}, {self.alike} alike"

    def groups(self, rows: int) -> int:
        """How many groups of every size make about so many rows."""
        return rows // sum(self.sizes)


DESIGNS = (Design((1,), 0.0), Design((5,), 0.5), Design((1, 4, 20), 0.3))


@dataclass(frozen=True)
class Sample:
    """What a gate sees of simulated slices: counts of rows, and the sums of groups reduced to what tests need."""

    newly_wrong: np.ndarray
    newly_right: np.ndarray
    rows: int
    effective: np.ndarray
    mean: np.ndarray
    error: np.ndarray
    groups: int


@cache
def outcomes(size: int, alike: float, wrong: float, right: float) -> tuple[np.ndarray, np.ndarray]:
    """Every (newly wrong, newly right) that a group of a size may have, and its chance."""
    pairs = [(b, c) for b in range(size + 1) for c in range(size + 1 - b)]
    shares = (wrong, right, 1 - wrong - right)
    chances = []
    for b, c in pairs:
        chance = 0.0
        for copies, (shared, share) in product(range(size + 1), enumerate(shares)):
            rest = (b - copies * (shared == 0), c - copies * (shared == 1))
            if min(rest) >= 0 and sum(rest) <= size - copies:
                counts = (*rest, size - copies - sum(rest))
                ways = stats.multinomial.pmf(counts, size - copies, shares)
                chance += share * stats.binom.pmf(copies, size, alike) * ways
        chances.append(chance)
    return np.array(pairs), np.array(chances) / sum(chances)


def draw(rng: np.random.Generator, slices: int, rows: int, design: Design, discordance: float, loss: float) -> Sample:
    """Simulated slices, whose number of rows is the nearest that the design allows."""
    wrong, right = (discordance + loss) / 2, (discordance - loss) / 2
    if design.sizes == (1,):
        counts = rng.multinomial(rows, (wrong, right, 1 - wrong - right), size=slices).astype(float)
        newly_wrong, newly_right = counts[:, 0], counts[:, 1]
        mean = (newly_wrong - newly_right) / rows
        error = np.sqrt(np.maximum((newly_wrong + newly_right) / rows - mean**2, 0.0) / (rows - 1))
        return Sample(newly_wrong, newly_right, rows, np.full(slices, float(rows)), mean, error, rows)
    each_size, blocks = design.groups(rows), []
    for start in range(0, slices, _BLOCK):
        blocks.append(_grouped(rng, min(_BLOCK, slices - start), each_size, design, (wrong, right)))
    parts = [np.concatenate(column) for column in zip(*blocks, strict=True)]
    return Sample(parts[0], parts[1], each_size * sum(design.sizes), *parts[2:], each_size * len(design.sizes))


def _grouped(
    rng: np.random.Generator, slices: int, each_size: int, design: Design, shares: tuple[float, float]
) -> tuple[np.ndarray, ...]:
    """Newly wrong, newly right, effective rows, mean loss and its clustered standard error, for every slice."""
    kinds = [outcomes(size, design.alike, *shares) for size in design.sizes]
    counts = np.concatenate([rng.multinomial(each_size, chances, size=slices) for _, chances in kinds], axis=1)
    pairs = np.concatenate([possible for possible, _ in kinds]).astype(float)
    sizes = np.repeat(np.array(design.sizes, dtype=float), [len(possible) for possible, _ in kinds])
    newly_wrong, newly_right = (counts @ pairs).T
    sums, groups, n = pairs[:, 0] - pairs[:, 1], each_size * len(design.sizes), each_size * sum(design.sizes)
    discordant = newly_wrong + newly_right
    effective = effective_rows_of_groups(sums, discordant, sizes, counts.astype(float))
    mean = (newly_wrong - newly_right) / n
    spread = (counts * (sums - mean[:, None] * sizes) ** 2).sum(axis=1) * groups / max(groups - 1, 1)
    return newly_wrong, newly_right, effective, mean, np.sqrt(spread) / n


def passes(sample: Sample, margins: np.ndarray, family: int) -> np.ndarray:
    """Which slices pass; without the exact test in releases where Tango's interval keeps another slice from passing."""
    observed = scores(sample, margins)
    shown = observed < -ndtri(1 - ALPHA)
    everywhere = np.repeat(shown.reshape(-1, family).all(axis=1), family)
    clear = (observed < -ndtri(1 - ALPHA) - CLEAR) & (sample.effective * margins >= 10)
    for place in np.flatnonzero(everywhere & ~clear):
        shown[place] = _passes(*_counts(sample, place), float(margins[place]))
    return shown


def fails(sample: Sample, margins: np.ndarray, family: int) -> np.ndarray:
    """Which slices fail as the first of a family of tests, by Holm's correction."""
    observed, threshold = scores(sample, margins), ndtri(1 - ALPHA / family)
    shown = observed > threshold
    near = (observed < threshold + CLEAR) | (sample.effective * margins < 10)
    for place in np.flatnonzero((observed > threshold - CLEAR) & near):
        shown[place] = _p_above(*_counts(sample, place), float(margins[place])) <= ALPHA / family
    return shown


def scores(sample: Sample, margins: np.ndarray) -> np.ndarray:
    """Tango's score of every slice on its effective rows."""
    scale = sample.effective / sample.rows
    return score(sample.newly_wrong * scale, sample.newly_right * scale, sample.effective, margins)


def _counts(sample: Sample, place: int) -> tuple[float, float, float, float]:
    return (
        float(sample.newly_wrong[place]),
        float(sample.newly_right[place]),
        float(sample.rows),
        float(sample.effective[place]),
    )


@cache
def _passes(wrong: float, right: float, rows: float, effective: float, margin: float) -> bool:
    return is_below(PairedCounts(wrong, right, rows).scaled(effective), margin)


@cache
def _p_above(wrong: float, right: float, rows: float, effective: float, margin: float) -> float:
    return p_above(PairedCounts(wrong, right, rows).scaled(effective), margin)


def nel(sample: Sample, margins: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which slices pass and which fail by the published rule of ``nel gate``."""
    reach = stdtrit(max(sample.groups - 1, 1), 0.975) * sample.error
    return sample.mean + reach <= margins, sample.mean - reach > margins


@dataclass(frozen=True)
class Cell:
    """One row of the main table."""

    design: Design
    rows: int
    discordance: float
    family: int
    releases: int


def simulate(cell: Cell) -> dict[str, object]:
    """Shares of wrong decisions in one cell, ours and by ``nel gate``'s rule."""
    rng = np.random.default_rng(key(str(cell)))
    slices, setting = cell.releases * cell.family, (cell.rows, cell.design, cell.discordance)
    row: dict[str, object] = {"design": str(cell.design), "rows": cell.rows, "slices": cell.family}
    row["discordance %"] = 100 * cell.discordance
    equal = draw(rng, slices, *setting, 0.0)
    if np.median(equal.effective) >= LEAST_ROWS:
        wide = default_margin(equal.effective)
        row["equal passes %"] = _all(passes(equal, wide, cell.family), cell.family)
        row["nel equal passes %"] = _all(nel(equal, wide)[0], cell.family)
    if cell.discordance < MARGIN:
        return row
    margins = np.full(slices, MARGIN)
    worse = draw(rng, slices, *setting, MARGIN)
    row["false fail %"] = 100 - _all(~fails(worse, margins, cell.family), cell.family)
    row["nel false fail %"] = 100 - _all(~nel(worse, margins)[1], cell.family)
    # The first slice of every release loses the margin, the others nothing.
    mixed = replace_first(equal, draw(rng, cell.releases, *setting, MARGIN), cell.family)
    row["false pass %"] = _all(passes(mixed, margins, cell.family), cell.family)
    row["nel false pass %"] = _all(nel(mixed, margins)[0], cell.family)
    return row


def replace_first(sample: Sample, first: Sample, family: int) -> Sample:
    """The sample with other first slices of every release."""
    columns = {}
    for name in ("newly_wrong", "newly_right", "effective", "mean", "error"):
        columns[name] = getattr(sample, name).copy()
        columns[name][::family] = getattr(first, name)
    return replace(sample, **columns)


def _all(shown: np.ndarray, family: int) -> float:
    """Per cent of releases all of whose slices have a flag."""
    return 100 * float(shown.reshape(-1, family).all(axis=1).mean())


def cells(releases: int) -> Iterator[Cell]:
    for design, rows, discordance, family in product(DESIGNS, SIZES, DISCORDANCES, FAMILIES):
        if design.groups(rows) > 1:
            yield Cell(design, rows, discordance, family, releases)


def agreeing_pairs() -> Iterator[dict[str, object]]:
    """What is decided of pairs that two models answered alike, at a margin of 2 points."""
    for rows in (10, 50, 100, 148, 149, 300):
        upper = 1 - ALPHA ** (1 / rows)
        ours = "pass" if is_below(PairedCounts(0, 0, rows), MARGIN) else "undecided"
        yield {"agreeing pairs": rows, "could differ %": 100 * upper, "ours": ours, "nel": "pass"}


def enumerated() -> Iterator[dict[str, object]]:
    """Chances that a model that loses 2 points passes and fails, summed over all tables of independent rows."""
    for rows, discordance in product((100, 300, 1000), (0.02, 0.05, 0.2)):
        chance = (discordance + MARGIN) / 2 / discordance
        first, last = stats.binom.ppf((1e-9, 1 - 1e-9), rows, discordance).astype(int)
        passed = failed = 0.0
        for discordant in range(first, last + 1):
            # Both decisions depend on the newly wrong rows monotonously.
            right = [PairedCounts(wrong, discordant - wrong, rows) for wrong in range(discordant + 1)]
            passing = bisect_left(right, True, key=lambda counts: not is_below(counts, MARGIN))
            failing = bisect_left(right, True, key=lambda counts: p_above(counts, MARGIN) <= ALPHA)
            weight = stats.binom.pmf(discordant, rows, discordance)
            passed += weight * stats.binom.cdf(passing - 1, discordant, chance)
            failed += weight * stats.binom.sf(failing - 1, discordant, chance)
        yield {"rows": rows, "discordance %": 100 * discordance, "passes %": 100 * passed, "fails %": 100 * failed}


def planted_losses(releases: int) -> Iterator[dict[str, object]]:
    """How often a loss of 20 points in one subcase of 100 rows is shown to exceed 2 points."""
    rng = np.random.default_rng(key("planted"))
    for newly_right, family in product((0.0, 0.01, 0.02, 0.03), (30, 60, 120)):
        sample = draw(rng, releases, 100, DESIGNS[0], 0.2 + 2 * newly_right, 0.2)
        shown = fails(sample, np.full(releases, MARGIN), family)
        yield {"newly right %": 100 * newly_right, "slices": family, "caught %": 100 * float(shown.mean())}


def battery(releases: int) -> Iterator[dict[str, object]]:
    """How often an equal model passes all required slices of the standard battery."""
    rng = np.random.default_rng(key("battery"))
    for discordance in (0.0, 0.01, 0.02, 0.03, 0.04, 0.05, 0.1):
        ours, theirs = np.ones((2, releases), dtype=bool)
        for rows in BATTERY:
            sample = draw(rng, releases, rows, DESIGNS[0], discordance, 0.0)
            margins = default_margin(sample.effective)
            ours &= passes(sample, margins, 1)
            theirs &= nel(sample, margins)[0]
        shares = {"equal passes %": 100 * float(ours.mean()), "nel equal passes %": 100 * float(theirs.mean())}
        yield {"discordance %": 100 * discordance, "slices": len(BATTERY), **shares}


def needed() -> Iterator[dict[str, object]]:
    """Rows that decide a slice if nothing is lost, by discordance and margin."""
    for discordance in DISCORDANCES:
        counts = {f"{100 * margin:g} points": pairs_needed(discordance, margin) for margin in (0.01, 0.02, 0.05)}
        yield {"discordance %": 100 * discordance, **counts}


def simulate_all(chosen: Sequence[Cell]) -> list[dict[str, object]]:
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(simulate, chosen))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options = parse_options(parser, releases=(200, 10_000))
    report("gates_agreeing", list(agreeing_pairs()))
    report("gates_needed", list(needed()))
    report("gates_enumerated", list(enumerated()))
    report("gates_planted", list(planted_losses(options.releases)))
    report("gates_battery", list(battery(options.releases)))
    # In a small run a sample of cells stands for all.
    report("gates", simulate_all(list(cells(options.releases))[:: 1 if options.full else 7]))


if __name__ == "__main__":
    main()
