"""Our bootstrap over groups against ``scipy.stats.bootstrap``, on the same data in one process.

Percentile intervals for the mean of 30,000 rows: (a) every row is a group, (b) 10,000 groups, (c) 68 groups, and (d),
our worst case, rows of which no two are equal. SciPy gets its best documented settings: a vectorised statistic, the
fastest of several batch sizes, and for groups their sums and sizes as paired data. The ends of the intervals must agree
within Monte-Carlo error, which is measured by repeating ours with other seeds.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from race import parse_options, race, report, seconds, timing_rows
from scipy import stats

from acidtest.stats.bootstrap import bootstrap
from acidtest.stats.resampling import generator, group_totals

ROWS, REPEATS, SCIPY_REPEATS = 30_000, 20, 5
BATCHES = (1, 4, 16, 64, 256, 1024)


def scenarios() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Sums and sizes of the groups; rows are right at a rate that differs between groups."""
    rng = generator(0)
    data = {}
    for name, groups in (("a: rows", ROWS), ("b: 10,000 groups", 10_000), ("c: 68 groups", 68)):
        members = np.arange(ROWS) if groups == ROWS else np.sort(rng.integers(0, groups, ROWS))
        right = rng.random(ROWS) < rng.beta(8, 2, groups)[members]
        totals = group_totals(right.astype(float), members)
        data[name] = totals.sums, totals.sizes
    data["d: rows, no two equal"] = rng.random(ROWS), np.ones(ROWS)
    return data


def mean_of_rows(values: np.ndarray, axis: int = -1) -> np.ndarray:
    """The statistic of independent rows."""
    return np.mean(values, axis=axis)


def mean_of_groups(sums: np.ndarray, sizes: np.ndarray, axis: int = -1) -> np.ndarray:
    """The statistic of groups: the mean over their rows."""
    return np.sum(sums, axis=axis) / np.sum(sizes, axis=axis)


def scipy_ends(sums: np.ndarray, sizes: np.ndarray, *, batch: int, resamples: int, seed: int) -> tuple[float, float]:
    """Ends of SciPy's percentile interval."""
    independent = bool((sizes == 1).all())
    result = stats.bootstrap(
        (sums,) if independent else (sums, sizes),
        mean_of_rows if independent else mean_of_groups,
        paired=not independent,
        vectorized=True,
        batch=batch,
        n_resamples=resamples,
        method="percentile",
        rng=generator(seed),
    )
    return float(result.confidence_interval.low), float(result.confidence_interval.high)


def race_scenario(name: str, sums: np.ndarray, sizes: np.ndarray, resamples: int) -> list[dict[str, Any]]:
    """Rows of both contenders, with the distance between their intervals."""

    def our_ends(seed: int, kind: str = "percentile") -> tuple[float, float]:
        interval = bootstrap(sums, sizes, rng=generator(seed), resamples=resamples, kind=kind)
        return interval.low, interval.high

    def scipy_seconds(batch: int) -> float:
        return seconds(lambda: scipy_ends(sums, sizes, batch=batch, resamples=resamples // 10, seed=1))

    batch = min(BATCHES, key=scipy_seconds)
    scipy_intervals: list[tuple[float, float]] = []

    def scipy_once() -> None:
        scipy_intervals.append(scipy_ends(sums, sizes, batch=batch, resamples=resamples, seed=len(scipy_intervals)))

    timings = race(
        {
            "acidtest": lambda: our_ends(0),
            "acidtest, expanded BCa": lambda: our_ends(0, "accelerated"),
            f"SciPy, batch {batch}": scipy_once,
        },
        times=SCIPY_REPEATS,
    )
    ours, scipys = np.array([our_ends(seed) for seed in range(REPEATS)]), np.array(scipy_intervals)
    error = ours.std(axis=0, ddof=1)
    distance = np.abs(ours.mean(axis=0) - scipys.mean(axis=0))
    # Means of several intervals are compared; rates of whole rows cannot agree better than to one row.
    allowed = 4 * error * np.sqrt(1 / len(ours) + 1 / len(scipys)) + 0.5 / sizes.sum()
    assert (distance <= allowed).all(), f"{name}: ends differ by {distance}, Monte-Carlo error allows {allowed}"
    facts = {"scenario": name, "groups": int(sums.size)}
    ends = {"distance of ends": float(distance.max()), "Monte-Carlo error": float(error.max())}
    return [facts | row | ends for row in timing_rows(timings)]


def main() -> None:
    options = parse_options(__doc__, resamples=(2_000, 10_000))
    print(f"{ROWS} rows, {options.resamples} resamples; ends: means of {REPEATS} intervals of ours and 6 of SciPy's")
    report(
        "bootstrap",
        [row for name, data in scenarios().items() for row in race_scenario(name, *data, options.resamples)],
    )


if __name__ == "__main__":
    main()
