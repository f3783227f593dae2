"""How often a gate decides wrongly, on simulated releases whose true loss is known.

Every cell simulates releases of one slice or of thirty. Rows are independent, or in groups by one of ``DESIGNS``: rows
of a group share an outcome in part or whole, and in some designs only the large groups, or only the small ones, differ.
The margin is 2 points, or that of the default policy, 105/√n points between 2 and 10:

- false pass: the model loses exactly the margin on one slice (and nothing on the others), and everything passes;
- false fail: it loses exactly the margin on every slice, and any slice fails;
- equal passes: it loses nothing, at the margin of the default policy.

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
    effective_rows,
    equal_passes,
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
"""Rows of the 28 slices suite × label of the default suites; a harder case than the suites that are required."""
SUITES = (320, 816, 816, 30_000, 278, *[816] * 3, 800, 267)
"""Effective rows of the default suites and their one distinct control, without the one too small to be required."""
_BLOCK = 10_000
"""Slices that are held in memory at a time."""


@dataclass(frozen=True)
class Block:
    """Groups of one size: their share of the rows, how many of their rows have the outcome of their group, and the
    share of everything that differs which is in these groups."""

    size: int
    rows: float
    alike: float
    differing: float


@dataclass(frozen=True)
class Design:
    """How the rows of a slice are grouped, and where models differ."""

    name: str
    blocks: tuple[Block, ...]

    def __str__(self) -> str:
        return self.name

    def groups(self, rows: int) -> list[int]:
        """How many groups of every block make about so many rows."""
        return [round(rows * block.rows / block.size) for block in self.blocks]

    def effective(self, rows: int) -> float:
        """How many rows these are worth to the gate."""
        sizes = np.repeat([block.size for block in self.blocks], self.groups(rows))
        return effective_rows(np.repeat(np.arange(len(sizes)), sizes)) if len(sizes) else 0.0


DESIGNS = (
    Design("independent", (Block(1, 1.0, 0.0, 1.0),)),
    Design("groups of 5, half alike", (Block(5, 1.0, 0.5, 1.0),)),
    Design(
        "groups of 1, 4 and 20, 30 % alike",
        (Block(1, 0.04, 0.3, 0.04), Block(4, 0.16, 0.3, 0.16), Block(20, 0.8, 0.3, 0.8)),
    ),
    Design("groups of 30, whole", (Block(30, 1.0, 1.0, 1.0),)),
    Design("half in groups of 20 that never differ", (Block(1, 0.5, 0.0, 1.0), Block(20, 0.5, 1.0, 0.0))),
    Design("half in groups of 20, only these differ, whole", (Block(1, 0.5, 0.0, 0.0), Block(20, 0.5, 1.0, 1.0))),
    Design("half in groups of 20, all differ, whole", (Block(1, 0.5, 0.0, 0.5), Block(20, 0.5, 1.0, 0.5))),
    Design("a tenth in groups of 20, only these differ, whole", (Block(1, 0.9, 0.0, 0.0), Block(20, 0.1, 1.0, 1.0))),
    Design("half in groups of 48, half of 12, whole", (Block(12, 0.5, 1.0, 0.5), Block(48, 0.5, 1.0, 0.5))),
)


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
    if alike == 1:
        return np.array([(size, 0), (0, size), (0, 0)]), np.maximum([wrong, right, 1 - wrong - right], 0.0)
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
    if len(design.blocks) == 1 and design.blocks[0].size == 1:
        counts = rng.multinomial(rows, (wrong, right, 1 - wrong - right), size=slices).astype(float)
        newly_wrong, newly_right = counts[:, 0], counts[:, 1]
        mean = (newly_wrong - newly_right) / rows
        error = np.sqrt(np.maximum((newly_wrong + newly_right) / rows - mean**2, 0.0) / (rows - 1))
        return Sample(newly_wrong, newly_right, rows, np.full(slices, float(rows)), mean, error, rows)
    numbers, blocks = design.groups(rows), []
    n = sum(number * block.size for number, block in zip(numbers, design.blocks, strict=True))
    for start in range(0, slices, _BLOCK):
        blocks.append(_grouped(rng, min(_BLOCK, slices - start), numbers, design, (wrong * n, right * n)))
    parts = [np.concatenate(column) for column in zip(*blocks, strict=True)]
    return Sample(parts[0], parts[1], n, np.full(slices, design.effective(rows)), *parts[2:], sum(numbers))


def _grouped(
    rng: np.random.Generator, slices: int, numbers: Sequence[int], design: Design, expected: tuple[float, float]
) -> tuple[np.ndarray, ...]:
    """Newly wrong, newly right, mean loss and its clustered standard error, for every slice.

    ``expected`` are the rows that are newly wrong and newly right on average.
    """
    kinds, parts = [], []
    for block, number in zip(design.blocks, numbers, strict=True):
        shares = [rows * block.differing / (number * block.size) for rows in expected]
        kinds.append(outcomes(block.size, block.alike, *shares))
        parts.append(rng.multinomial(number, kinds[-1][1], size=slices))
    counts = np.concatenate(parts, axis=1)
    pairs = np.concatenate([possible for possible, _ in kinds]).astype(float)
    sizes = np.repeat([float(block.size) for block in design.blocks], [len(possible) for possible, _ in kinds])
    newly_wrong, newly_right = (counts @ pairs).T
    sums, groups = pairs[:, 0] - pairs[:, 1], sum(numbers)
    n = sum(number * block.size for number, block in zip(numbers, design.blocks, strict=True))
    mean = (newly_wrong - newly_right) / n
    spread = (counts * (sums - mean[:, None] * sizes) ** 2).sum(axis=1) * groups / max(groups - 1, 1)
    return newly_wrong, newly_right, mean, np.sqrt(spread) / n


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
    default: bool
    """Whether the margin is that of the default policy, and not 2 points."""

    @property
    def margin(self) -> float:
        """What may be lost."""
        return float(default_margin(self.design.effective(self.rows))) if self.default else MARGIN

    @property
    def possible(self) -> bool:
        """Whether the rows make groups of every block, and their shares of differing rows are shares."""
        blocks = list(zip(self.design.groups(self.rows), self.design.blocks, strict=True))
        most = max(self.discordance, self.margin) * sum(number * block.size for number, block in blocks)
        return all(number and most * block.differing <= number * block.size for number, block in blocks)


def simulate(cell: Cell) -> dict[str, object]:
    """Shares of wrong decisions in one cell, ours and by ``nel gate``'s rule."""
    rng = np.random.default_rng(key(str(cell)))
    slices, setting = cell.releases * cell.family, (cell.rows, cell.design, cell.discordance)
    row: dict[str, object] = {"design": str(cell.design), "rows": cell.rows, "slices": cell.family}
    effective, margins = cell.design.effective(cell.rows), np.full(slices, cell.margin)
    row |= {"effective": effective, "margin": 100 * cell.margin, "discordance %": 100 * cell.discordance}
    equal = draw(rng, slices, *setting, 0.0)
    if cell.default and effective >= LEAST_ROWS:
        row["equal passes %"] = _all(passes(equal, margins, cell.family), cell.family)
        row["nel equal passes %"] = _all(nel(equal, margins)[0], cell.family)
        row["equal passes, printed %"] = 100 * equal_passes(cell.discordance, effective, cell.margin) ** cell.family
    if cell.discordance < cell.margin:
        return row
    worse = draw(rng, slices, *setting, cell.margin)
    row["false fail %"] = 100 - _all(~fails(worse, margins, cell.family), cell.family)
    row["nel false fail %"] = 100 - _all(~nel(worse, margins)[1], cell.family)
    # The first slice of every release loses the margin, the others nothing.
    mixed = replace_first(equal, draw(rng, cell.releases, *setting, cell.margin), cell.family)
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
    for design, rows, family, default in product(DESIGNS, SIZES, FAMILIES, (False, True)):
        margin = Cell(design, rows, 0.0, family, releases, default).margin
        for discordance in sorted({*DISCORDANCES, margin}):
            cell = Cell(design, rows, discordance, family, releases, default)
            if cell.possible:
                yield cell


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
    """How often an equal model passes all slices of the default suites, if suites are required or suites × labels.

    Discordance is that of effective rows: the rows of a group count as one.
    """
    rng = np.random.default_rng(key("battery"))
    for sizes, discordance in product((SUITES, BATTERY), (0.0, 0.02, 0.05, 0.1, 0.15)):
        ours, theirs, printed = np.ones(releases, dtype=bool), np.ones(releases, dtype=bool), 1.0
        for rows in sizes:
            sample = draw(rng, releases, rows, DESIGNS[0], discordance, 0.0)
            margins = default_margin(sample.effective)
            ours &= passes(sample, margins, 1)
            theirs &= nel(sample, margins)[0]
            printed *= equal_passes(discordance, rows, float(margins[0]))
        shares = {"equal passes %": 100 * float(ours.mean()), "nel equal passes %": 100 * float(theirs.mean())}
        yield {"discordance %": 100 * discordance, "slices": len(sizes), **shares, "printed %": 100 * printed}


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
