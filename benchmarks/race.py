"""What the races share: medians, a table on the terminal, JSON in benchmarks/results/."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"


def median_seconds(action: Callable[[], object], *, times: int = 5) -> float:
    """The median wall time of an action, after one call to warm up."""
    action()
    return statistics.median(seconds(action) for _ in range(times))


def seconds(action: Callable[[], object]) -> float:
    """The wall time of one call."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def told(name: str, rows: list[dict[str, Any]]) -> None:
    """Print the rows as a table and keep them as JSON."""
    columns = list(rows[0])
    shown = [[_shown(row.get(column)) for column in columns] for row in rows]
    widths = [max(len(line[i]) for line in [columns, *shown]) for i in range(len(columns))]
    for line in [columns, *shown]:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


def _shown(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
