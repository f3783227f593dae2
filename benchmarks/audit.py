"""Audits of training sets of ten thousand to four million pairs: seconds and peak memory.

The real sets are SNLI's and MultiNLI's development sets and LingNLI's training set, read from beside the repository.
The large ones are LingNLI's and SNLI's pairs again and again, each time with another first word in both sentences, so
that no pair stands twice and every one is nearly another; a suite of as many such pairs may be looked for in them. Each
has a process of its own. The promise is 300 MB above the interpreter with everything imported, plus 32 bytes for each
pair. Arguments: sizes, ``1000000`` or ``1000000:1000000`` with a suite, and files below the data folder, else both of
these sizes and the real sets; what was measured before stays in the results.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from race import RESULTS, told

DATA = Path(__file__).parents[2] / "shared" / "data"
REAL = ("snli/snli_1.0_dev.jsonl.gz", "mnli/mnli_dev_matched.tsv", "lingnli/train.jsonl.gz")
TILED = (REAL[2], REAL[0])
SIZES = ("1000000", "1000000:1000000")
ALLOWED_MB, ALLOWED_BYTES = 300, 32
SUITE_TILE = 1_000
"""Where the tiles of a suite begin, so that it shares none with a training set."""


def write_tiled(path: Path, size: int, first: int) -> None:
    """So many different pairs as JSON lines."""
    import polars as pl

    from acidtest import api

    columns = {"sentence1": "premise", "sentence2": "hypothesis", "gold_label": "label"}
    pairs = pl.concat(api.load(DATA / name).frame.select(**columns).collect() for name in TILED)
    with path.open("wb") as file:
        for number, start in enumerate(range(0, size, pairs.height), first):
            word = pl.col("sentence1", "sentence2").str.replace(r"\S+", f"Tile{number}")
            file.write(pairs.head(size - start).with_columns(word).write_ndjson().encode())


def peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(train: Path, suites: list[Path]) -> None:
    """Print the peak memory after the imports, that after the audit, the seconds and what was found."""
    from acidtest import api
    from acidtest.io import corpora as corpora
    from acidtest.studies import audit as audit

    before, start = peak_megabytes(), time.perf_counter()
    found = api.audit(train, against=suites)
    seconds, peak = time.perf_counter() - start, peak_megabytes()
    leaks = [{"rows": leak.rows, "near": leak.near, "near_of": leak.near_of} for leak in found.leakage]
    near = {"near": found.near.near, "near_of": found.near.of}
    shown = {"pairs": found.rows, "MB": peak - before, "seconds": seconds, **near, "suites": leaks}
    print(json.dumps(shown))


def measured(train: Path, suites: list[Path], name: str) -> dict[str, Any]:
    command = [sys.executable, __file__, "measure", str(train), *map(str, suites)]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = json.loads(said.splitlines()[-1])
    sizes = [leak["rows"] for leak in found["suites"]]
    allowed = ALLOWED_MB + (found["pairs"] + sum(sizes)) * ALLOWED_BYTES / 2**20
    return {
        "set": name,
        "pairs": found["pairs"],
        "suite_pairs": sum(sizes),
        "seconds": found["seconds"],
        "MB": round(found["MB"]),
        "MB_allowed": round(allowed),
        "kept": found["MB"] <= allowed,
        "near": found["near"],
        "near_of": found["near_of"],
        "suite_near": sum(leak["near"] for leak in found["suites"]),
        "suite_near_of": sum(leak["near_of"] for leak in found["suites"]),
    }


def measured_tiled(asked: str) -> dict[str, Any]:
    """Measure a tiled set, alone or with a suite."""
    sizes = [int(size) for size in asked.split(":")]
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{name}.jsonl" for name in ("train", "suite")[: len(sizes)]]
        for path, size, first in zip(paths, sizes, (0, SUITE_TILE), strict=False):
            subprocess.run([sys.executable, __file__, "write", str(path), str(size), str(first)], check=True)
        return measured(paths[0], paths[1:], f"tiled {asked}")


def main(asked: list[str]) -> None:
    """Measure, and put the results beside those of sets that were measured before."""
    rows = [
        measured_tiled(name) if name[0].isdigit() else measured(DATA / name, [], name)
        for name in asked or (*REAL, *SIZES)
    ]
    kept = RESULTS / "audit.json"
    before = json.loads(kept.read_text(encoding="utf-8")) if asked and kept.exists() else []
    names = {row["set"] for row in rows}
    told("audit", [*(row for row in before if row["set"] not in names), *rows])


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["measure", train, *suites]:
            measure(Path(train), [Path(suite) for suite in suites])
        case ["write", path, size, first]:
            write_tiled(Path(path), int(size), int(first))
        case sizes:
            main(sizes)
