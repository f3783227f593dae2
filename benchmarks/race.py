"""Machinery of every benchmark: timing in turns, tables, JSON files, sizes, data, and processes of their own."""

from __future__ import annotations

import argparse
import importlib.util
import json
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "build" / "benchmarks"
SHARED = ROOT.parent / "shared" / "data"
MNLI = "mnli/mnli_dev_matched.tsv"
SNLI = "snli/snli_1.0_dev.jsonl.gz"
ALLOWED_MEGABYTES, ALLOWED_BYTES_PER_PAIR = 300, 32
"""Memory that a stream may take above the interpreter with everything imported."""


@dataclass(frozen=True)
class Timing:
    """The output of a contender's first call, and the median wall and processor seconds of the calls after it."""

    output: Any
    seconds: float
    processor_seconds: float


def race(contenders: Mapping[str, Callable[[], Any]], *, times: int = 5) -> dict[str, Timing]:
    """Time contenders in turns, so that other work on the machine slows all of them, after one call each to warm up.

    Processor seconds are those of all threads of this process.
    """
    outputs = {name: action() for name, action in contenders.items()}
    spent: dict[str, list[tuple[float, float]]] = {name: [] for name in contenders}
    for _ in range(times):
        for name, action in contenders.items():
            wall, processor = time.perf_counter(), time.process_time()
            action()
            spent[name].append((time.perf_counter() - wall, time.process_time() - processor))
    medians = {
        name: [statistics.median(column) for column in zip(*calls, strict=True)] for name, calls in spent.items()
    }
    return {name: Timing(outputs[name], *medians[name]) for name in contenders}


def timing_rows(timings: Mapping[str, Timing], *, of: str = "") -> list[dict[str, Any]]:
    """A row for each contender, with its ratio to the first, or to the one named by ``of``."""
    unit = timings[of or next(iter(timings))]
    return [
        {
            "contender": name,
            "seconds": timing.seconds,
            "ratio": timing.seconds / unit.seconds,
            "processor_seconds": timing.processor_seconds,
        }
        for name, timing in timings.items()
    ]


def median_seconds(action: Callable[[], object], *, times: int = 5) -> float:
    """Median wall time of an action, after one call to warm up."""
    return race({"action": action}, times=times)["action"].seconds


def seconds(action: Callable[[], object]) -> float:
    """Wall time of one call."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def report(name: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Print rows as a table and write them to ``build/benchmarks/NAME.json``."""
    columns = list(dict.fromkeys(column for row in rows for column in row))
    lines = [columns, *([_format(row.get(column)) for column in columns] for row in rows)]
    widths = [max(len(line[place]) for line in lines) for place in range(len(columns))]
    print(f"\n{name}")
    for line in lines:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip(), flush=True)
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _format(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def skip(reason: str) -> NoReturn:
    """End a benchmark that cannot run here; the runner lists it as skipped."""
    print(f"skipped: {reason}")
    sys.exit(0)


def require(*modules: str) -> None:
    """Skip the benchmark where a module of the extra ``bench`` is not installed."""
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    if missing:
        skip(f"{', '.join(missing)} not installed; get it with: pip install -c constraints.txt -e '.[bench]'")


def parse_options(parser: argparse.ArgumentParser | str | None, **sizes: tuple[int, int]) -> argparse.Namespace:
    """Options from the command line: each size has a small default and a full value, which ``--full`` chooses."""
    if not isinstance(parser, argparse.ArgumentParser):
        parser = argparse.ArgumentParser(description=parser, formatter_class=argparse.RawDescriptionHelpFormatter)
    full = ", ".join(f"{value[1]} {name}" for name, value in sizes.items())
    parser.add_argument(
        "--full", action="store_true", help=f"the sizes of the documented figures: {full or 'the same'}"
    )
    for name, (small, _) in sizes.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=int, help=f"default {small}")
    options = parser.parse_args()
    for name, (small, large) in sizes.items():
        if getattr(options, name) is None:
            setattr(options, name, large if options.full else small)
    return options


def shared_files(*paths: str) -> list[Path]:
    """Those of some files of ``../shared/data`` that exist."""
    return [SHARED / path for path in paths if (SHARED / path).is_file()]


def starter_corpus() -> Any:
    """The packaged starter corpus: 816 labelled pairs."""
    import acidtest

    return acidtest.generate("stress/word-overlap").control


def corpora(*paths: str) -> list[Any]:
    """The shared corpora that exist as suites, else the starter corpus."""
    import acidtest

    return [acidtest.load(path) for path in shared_files(*paths)] or [starter_corpus()]


def peak_megabytes() -> float:
    """Highest resident memory of this process; getrusage would count the process that started this one, too."""
    status = Path("/proc/self/status")
    if status.exists():
        return int(re.search(r"VmHWM:\s+(\d+)", status.read_text(encoding="ascii"))[1]) / 1024
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 1024)


def allowed_megabytes(pairs: int) -> float:
    """Memory that work on so many distinct pairs may take."""
    return ALLOWED_MEGABYTES + pairs * ALLOWED_BYTES_PER_PAIR / 2**20


def run_step(script: str, *arguments: object) -> Any:
    """Run a benchmark's script as a process of its own and give the JSON that its last line holds."""
    command = [sys.executable, script, *map(str, arguments)]
    lines = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    return json.loads(lines[-1]) if lines else None
