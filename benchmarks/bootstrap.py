"""Our bootstrap over groups against ``scipy.stats.bootstrap``, on the same data in one process.

30,000 rows and 10,000 resamples, percentile intervals from both: (a) every row its own group, (b) 10,000 groups, (c) 68
groups. scipy gets its best documented settings: a vectorised statistic, the batch size that is fastest here, and for
groups their sums and sizes as paired data. The intervals must agree within Monte-Carlo error, which is measured by
repeating ours with other seeds. Scenario (d) is our worst case, where no two groups are alike.

    .venv/bin/python benchmarks/bootstrap.py
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy import stats

from acidtest.stats.resampling import bootstrap, generator, group_totals

RESULT = Path(__file__).parent / "results" / "bootstrap.json"
ROWS, RESAMPLES, RUNS, REPEATS = 30_000, 10_000, 5, 40
BATCHES = (1, 4, 16, 64, 256, 1024)


def scenarios() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Sums and sizes of the groups; rows are right at a rate that differs between groups."""
    rng = generator(0)
    found = {}
    for name, groups in (("a: rows", ROWS), ("b: 10,000 groups", 10_000), ("c: 68 groups", 68)):
        members = np.arange(ROWS) if groups == ROWS else np.sort(rng.integers(0, groups, ROWS))
        right = rng.random(ROWS) < rng.beta(8, 2, groups)[members]
        totals = group_totals(right.astype(float), members)
        found[name] = totals.sums, totals.sizes
    found["d: rows, no two alike"] = rng.random(ROWS), np.ones(ROWS)
    return found


def mean(values: np.ndarray, axis: int = -1) -> np.ndarray:
    """The statistic of independent rows."""
    return np.mean(values, axis=axis)


def ratio(sums: np.ndarray, sizes: np.ndarray, axis: int = -1) -> np.ndarray:
    """The statistic of groups: the mean over their rows."""
    return np.sum(sums, axis=axis) / np.sum(sizes, axis=axis)


def opponent(sums: np.ndarray, sizes: np.ndarray, *, batch: int, resamples: int, seed: int) -> tuple[float, float]:
    """scipy's percentile interval."""
    alone = bool((sizes == 1).all())
    result = stats.bootstrap(
        (sums,) if alone else (sums, sizes),
        mean if alone else ratio,
        paired=not alone,
        vectorized=True,
        batch=batch,
        n_resamples=resamples,
        method="percentile",
        rng=generator(seed),
    )
    return float(result.confidence_interval.low), float(result.confidence_interval.high)


def seconds(action: Callable[[], object]) -> float:
    """How long it takes."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def best_batch(sums: np.ndarray, sizes: np.ndarray) -> int:
    """The fastest batch size, found on a tenth of the resamples."""
    tenth = RESAMPLES // 10
    return min(BATCHES, key=lambda batch: seconds(lambda: opponent(sums, sizes, batch=batch, resamples=tenth, seed=1)))


def race(name: str, sums: np.ndarray, sizes: np.ndarray) -> dict[str, object]:
    """Medians of both, the speed-up, and how far the intervals lie apart in Monte-Carlo errors."""

    def ours(seed: int, kind: str = "percentile") -> tuple[float, float]:
        found = bootstrap(sums, sizes, rng=generator(seed), resamples=RESAMPLES, kind=kind)
        return found.low, found.high

    batch = best_batch(sums, sizes)
    ends: list[tuple[float, float]] = []
    times: dict[str, list[float]] = {"ours": [], "ours, expanded BCa": [], "scipy": []}
    for run in range(RUNS):
        print(f"\r{name}: run {run + 1}/{RUNS}", end="", file=sys.stderr, flush=True)
        times["ours"].append(seconds(lambda run=run: ours(run)))
        times["ours, expanded BCa"].append(seconds(lambda run=run: ours(run, "accelerated")))
        times["scipy"].append(
            seconds(lambda run=run: ends.append(opponent(sums, sizes, batch=batch, resamples=RESAMPLES, seed=run)))
        )
    print(file=sys.stderr)
    repeated = np.array([ours(seed) for seed in range(REPEATS)])
    theirs = np.array(ends)
    error = repeated.std(axis=0, ddof=1)
    apart = np.abs(repeated.mean(axis=0) - theirs.mean(axis=0))
    # The means of REPEATS and of RUNS intervals; rates of whole rows cannot agree better than to one row.
    allowed = 4 * error * np.sqrt(1 / REPEATS + 1 / RUNS) + 0.5 / sizes.sum()
    medians = {who: statistics.median(taken) for who, taken in times.items()}
    return {
        "scenario": name,
        "groups": int(sums.size),
        "batch of scipy": batch,
        "seconds": medians,
        "times": times,
        "speed-up": medians["scipy"] / medians["ours"],
        "interval of ours": repeated.mean(axis=0).tolist(),
        "interval of scipy": theirs.mean(axis=0).tolist(),
        "Monte-Carlo error of an end": error.tolist(),
        "apart": apart.tolist(),
        "equal": bool((apart <= allowed).all()),
    }


def main() -> None:
    rows = [race(name, *data) for name, data in scenarios().items()]
    print(f"{ROWS} rows, {RESAMPLES} resamples, medians of {RUNS}; ends: mean of {REPEATS} of ours, {RUNS} of scipy's")
    print(
        f"{'':<24}{'ours ms':>9}{'BCa ms':>9}{'scipy ms':>10}{'batch':>7}{'speed-up':>10}  ends apart (MC error)  equal"
    )
    for row in rows:
        ours, accelerated, theirs = (1000 * taken for taken in row["seconds"].values())
        ends = ", ".join(
            f"{apart:.6f} ({error:.6f})"
            for apart, error in zip(row["apart"], row["Monte-Carlo error of an end"], strict=True)
        )
        print(
            f"{row['scenario']:<24}{ours:>9.2f}{accelerated:>9.2f}{theirs:>10.1f}{row['batch of scipy']:>7}"
            f"{row['speed-up']:>9.1f}x  {ends}  {row['equal']}"
        )
    RESULT.parent.mkdir(parents=True, exist_ok=True)
    RESULT.write_text(json.dumps(rows, indent=1) + "\n", "utf-8")
    print(f"written to {RESULT}")
    if not all(row["equal"] for row in rows):
        sys.exit("the intervals differ by more than Monte-Carlo error")


if __name__ == "__main__":
    main()
