"""Large corpora: seconds and peak memory to make a suite from one, write it, and run a model on it.

``stress/word-overlap`` is made from corpora of several sizes in every format and written to Parquet; of the largest,
``baseline:overlap`` is asked the suite and its control. Every step has a process of its own, so that one peak does not
hide another. The promise is 300 MB above the interpreter with everything imported, plus 32 bytes for each distinct
pair. Sizes are arguments; ``--engine ray`` does the work on a Ray cluster of this machine.
"""

from __future__ import annotations

import argparse
import gzip
import json
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import polars as pl
from race import allowed_megabytes, parse_options, peak_megabytes, report, run_step, starter_corpus

import acidtest

SUITE, MODEL = "stress/word-overlap", "baseline:overlap"
FORMATS = (".jsonl", ".tsv", ".parquet", ".jsonl.gz")
BLOCK = 100_000


def write_corpora(folder: Path, size: int) -> None:
    """Write the starter corpus again and again, every sentence with a number, in every format."""
    pairs = starter_corpus().frame.select("premise", "hypothesis", gold_label="label").collect()
    with (folder / "corpus.jsonl").open("wb") as lines, (folder / "corpus.tsv").open("wb") as cells:
        for start in range(0, size, BLOCK):
            number = pl.int_range(start, min(start + BLOCK, size), eager=True)
            # Three pairs share a premise, as in SNLI.
            scene, claim = (number // 3).cast(pl.String), number.cast(pl.String)
            block = pairs[(number % pairs.height).to_list()].select(
                "gold_label",
                pairID=pl.lit("p") + claim,
                sentence1=pl.lit("Scene ") + scene + ": " + pl.col("premise"),
                sentence2=pl.lit("Claim ") + claim + ": " + pl.col("hypothesis"),
            )
            lines.write(block.write_ndjson().encode())
            text = block.write_csv(separator="\t", quote_style="never", include_header=start == 0)
            cells.write(text.encode())
    pl.scan_ndjson(folder / "corpus.jsonl").sink_parquet(folder / "corpus.parquet")
    with (folder / "corpus.jsonl").open("rb") as lines, gzip.open(folder / "corpus.jsonl.gz", "wb", 1) as packed:
        shutil.copyfileobj(lines, packed)


class Clock:
    """Seconds and peak memory since the imports, noted phase by phase."""

    def __init__(self) -> None:
        acidtest.generate(SUITE, n=10)
        self._before, self._start = peak_megabytes(), time.perf_counter()
        self.phases: list[dict[str, Any]] = []

    def note(self, phase: str) -> None:
        """End a phase; its seconds count from the end of the phase before."""
        now = time.perf_counter()
        self.phases.append({"phase": phase, "seconds": now - self._start, "MB": peak_megabytes() - self._before})
        self._start = now


def generate(path: Path, engine: str) -> dict[str, Any]:
    """Make the suite of a corpus and write it beside the corpus."""
    clock = Clock()
    suite = acidtest.generate(SUITE, source=path, engine=engine)
    clock.note("generate and check")
    acidtest.save(suite, path.with_name("suite"), parted=True)
    clock.note("write")
    return {"pairs": suite.card.rows, "distinct": suite.card.rows, "phases": clock.phases}


def ask(path: Path, engine: str) -> dict[str, Any]:
    """Run the model on the suite that was written."""
    clock = Clock()
    answered = 0

    def progress(count: int, total: int) -> None:
        nonlocal answered
        if not answered:
            clock.note("read the suite and plan, until the first answer")
        if answered < total <= count:
            clock.note("ask")
        answered = count

    finished = acidtest.run(
        MODEL, str(path), output=path.with_name("run"), engine=engine, cache=False, progress=progress
    )
    clock.note("write predictions, analyse and report")
    distinct = int(finished.run.header.usage["pairs"])
    return {"pairs": finished.run.predictions.height, "distinct": distinct, "phases": clock.phases}


def measure(step: str, path: Path, engine: str) -> list[dict[str, Any]]:
    """Rows of one step, a row for each phase."""
    result = run_step(__file__, "--step", step, "--engine", engine, path)
    allowed = allowed_megabytes(result["distinct"])
    facts = {"step": step, "file": path.name.removeprefix("corpus"), "pairs": result["pairs"]}
    return [
        facts
        | phase
        | {"MB allowed": round(allowed), "kept": phase["MB"] <= allowed}
        | {"pairs per second": round(result["pairs"] / phase["seconds"])}
        for phase in result["phases"]
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("arguments", nargs="*", metavar="SIZE", help="10000 100000; with --full 10000 to 4000000")
    parser.add_argument("--engine", choices=["local", "ray"], default="local")
    parser.add_argument("--step", choices=["write", "generate", "run"], help=argparse.SUPPRESS)
    options = parse_options(parser)
    match options.step, options.arguments:
        case "write", [folder, size]:
            write_corpora(Path(folder), int(size))
            return
        case "generate", [path]:
            print(json.dumps(generate(Path(path), options.engine)))
            return
        case "run", [path]:
            print(json.dumps(ask(Path(path), options.engine)))
            return
    full = (10_000, 100_000, 1_000_000, 4_000_000)
    sizes = [int(size) for size in options.arguments] or list(full if options.full else full[:2])
    rows = []
    for size in sizes:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            run_step(__file__, "--step", "write", folder, size)
            for ending in FORMATS:
                shutil.rmtree(folder / "suite", ignore_errors=True)
                rows += measure("generate", folder / f"corpus{ending}", options.engine)
            if size == max(sizes):
                rows += measure("run", folder / "suite", options.engine)
    report("streaming" if options.engine == "local" else "streaming_ray", rows)


if __name__ == "__main__":
    main()
