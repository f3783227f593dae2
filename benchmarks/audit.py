"""Audits of training sets: seconds and peak memory, each in a process of its own.

Sets are SNLI's and MultiNLI's development sets and LingNLI's training set where ../shared has them, and large ones made
of pairs again and again, each time with another first word in both sentences, so that no pair is repeated and every
pair is nearly another. Arguments are files, or sizes of large sets such as ``10000``, or ``10000:10000`` to look for a
suite of the second size in the set. The promise is 300 MB above the interpreter with everything imported, plus 32 bytes
for each pair.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any

import polars as pl
from race import (
    MNLI,
    SNLI,
    allowed_megabytes,
    corpora,
    parse_options,
    peak_megabytes,
    report,
    run_step,
    shared_files,
    starter_corpus,
)

import acidtest

LINGNLI = "lingnli/train.jsonl.gz"
SUITE_TILE = 1_000
"""Number of the first tile of a suite, so that it shares none with a training set."""


def write_tiles(path: Path, size: int, first: int) -> None:
    """Write so many different pairs as JSON lines."""
    columns = {"sentence1": "premise", "sentence2": "hypothesis", "gold_label": "label"}
    pairs = pl.concat(suite.frame.select(**columns).collect() for suite in corpora(LINGNLI, SNLI))
    with path.open("wb") as file:
        for number, start in enumerate(range(0, size, pairs.height), first):
            tile = pl.col("sentence1", "sentence2").str.replace(r"\S+", f"Tile{number}")
            file.write(pairs.head(size - start).with_columns(tile).write_ndjson().encode())


def audit(train: str, suites: list[str]) -> dict[str, Any]:
    """Audit a set in this process."""
    with tempfile.TemporaryDirectory() as folder:
        # A small audit first, so that memory is counted from when everything is imported.
        acidtest.save(starter_corpus(), Path(folder) / "starter.parquet")
        acidtest.audit(Path(folder) / "starter.parquet")
    before, start = peak_megabytes(), time.perf_counter()
    result = acidtest.audit(train, against=suites)
    return {
        "pairs": result.rows,
        "suite pairs": sum(leak.rows for leak in result.leakage),
        "seconds": time.perf_counter() - start,
        "MB": peak_megabytes() - before,
        "near": result.duplicates.near,
        "near of": result.duplicates.near_of,
        "suite near": sum(leak.near for leak in result.leakage),
        "suite near of": sum(leak.near_of for leak in result.leakage),
    }


def measure(train: Path, suites: list[Path], name: str) -> dict[str, Any]:
    """The audit of a set in a process of its own, beside the memory it may take."""
    row = run_step(__file__, "--step", "audit", train, *suites)
    allowed = allowed_megabytes(row["pairs"] + row["suite pairs"])
    return {"set": name, **row, "MB allowed": round(allowed), "kept": row["MB"] <= allowed}


def measure_tiles(sizes: list[int]) -> dict[str, Any]:
    """The audit of a large set, alone or with a suite."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{name}.jsonl" for name in ("train", "suite")[: len(sizes)]]
        for path, size, first in zip(paths, sizes, (0, SUITE_TILE), strict=False):
            run_step(__file__, "--step", "write", path, size, first)
        return measure(paths[0], paths[1:], "made of " + ":".join(map(str, sizes)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("arguments", nargs="*", metavar="SET", help="files and sizes")
    parser.add_argument("--step", choices=["write", "audit"], help=argparse.SUPPRESS)
    options = parse_options(parser, size=(20_000, 1_000_000))
    match options.step, options.arguments:
        case "write", [path, size, first]:
            write_tiles(Path(path), int(size), int(first))
            return
        case "audit", [train, *suites]:
            print(json.dumps(audit(train, suites)))
            return
    sets = options.arguments or [
        *map(str, shared_files(SNLI, MNLI, *([LINGNLI] if options.full else []))),
        str(options.size),
        f"{options.size}:{options.size}",
    ]
    rows = []
    for name in sets:
        sizes = name.split(":")
        is_size = all(size.isdigit() for size in sizes)
        rows.append(
            measure_tiles([int(size) for size in sizes]) if is_size else measure(Path(name), [], Path(name).name)
        )
    report("audit", rows)


if __name__ == "__main__":
    main()
