"""Time the command line of two source trees in turns: ``python benchmarks/before_after.py OLD_SRC NEW_SRC``.

Every workload is a command in a process of its own with PYTHONPATH set to one tree, then to the other, alternately, so
that other work on the machine slows both. Printed are the medians and their ratio; what is more than 10 % slower is
marked; on a busy machine, look at the ratio of processor times instead. Only the command line is used, so that both
trees understand every workload. Inputs are made by the old tree.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from race import report

SLOWER = 1.10
AUDIT_ROWS = 10_000
LABELS = ("entailment", "neutral", "contradiction")
RUN = ("run", "-q", "--no-cache")
STRESS = "stress/antonymy,stress/length-mismatch,stress/negation,stress/numerical,stress/spelling,stress/word-overlap"


@dataclass(frozen=True)
class Workload:
    """A command of acidtest, or of Python alone, and the output it writes anew each time."""

    name: str
    command: tuple[str, ...]
    output: str = ""
    python: bool = False


WORKLOADS = (
    Workload("import numpy, polars", ("-c", "import numpy, polars"), python=True),
    Workload("acidtest --help", ("--help",)),
    Workload("acidtest suites", ("suites",)),
    Workload("generate hans, 30,000 pairs", ("generate", "hans", "-q", "-o", "hans-new.parquet"), "hans-new.parquet"),
    *(
        Workload(f"generate {name}", ("generate", name, "-q", "-o", "suite.parquet"), "suite.parquet")
        for name in (*STRESS.split(","), "stress/ladder", "lexical")
    ),
    Workload("run: overlap on the standard battery", (*RUN, "-m", "baseline:overlap", "-o", "battery"), "battery"),
    Workload("run: a finished run printed again", (*RUN, "-m", "baseline:overlap", "-o", "finished")),
    Workload("audit, 10,000 rows", ("audit", "train.jsonl", "-q")),
    Workload("compare two runs", ("compare", "first", "second", "-q")),
    Workload(
        "score a file of 30,000 answers", ("score", "answers.csv", "-q", "-s", "hans.parquet", "-o", "scored"), "scored"
    ),
)


def environment(source: Path) -> dict[str, str]:
    """Variables of a process that imports acidtest from a source tree."""
    return {**os.environ, "PYTHONPATH": str(source), "ACIDTEST_CACHE_FOLDER": "cache", "COLUMNS": "120"}


def run_command(arguments: tuple[str, ...], folder: Path, source: Path, *, python: bool = False) -> None:
    """Run one command to its end; what it says is shown only when it fails."""
    command = [sys.executable, *(() if python else ("-m", "acidtest")), *arguments]
    process = subprocess.run(command, cwd=folder, env=environment(source), capture_output=True, text=True)
    if process.returncode:
        raise SystemExit(f"{source}: {' '.join(arguments)} ended with {process.returncode}\n{process.stderr[-2000:]}")


def remove(path: Path) -> None:
    """Remove what a command has written: a folder, or a file with its card."""
    shutil.rmtree(path, ignore_errors=True)
    for file in path.parent.glob(f"{path.stem}[.#]*") if path.suffix else ():
        file.unlink()


def prepare(folder: Path, source: Path) -> None:
    """Make the inputs of all workloads: a training set, HANS, answers to it, and finished runs."""
    with (folder / "train.jsonl").open("w", encoding="utf-8") as file:
        for number in range(AUDIT_ROWS):
            premise = f"A person with {number % 97} dogs walks past house {number} near the {number % 13}th street."
            hypothesis = f"A person with {number % 7} dogs {('walks', 'sleeps', 'does not walk')[number % 3]}."
            row = {"pairID": str(number), "sentence1": premise, "sentence2": hypothesis}
            file.write(json.dumps(row | {"gold_label": LABELS[number % 5 % 3]}) + "\n")
    run_command(("generate", "hans", "-q", "-o", "hans.parquet"), folder, source)
    run_command(("generate", "hans", "-q", "-o", "hans.csv"), folder, source)
    with (folder / "hans.csv").open(encoding="utf-8") as rows, (folder / "answers.csv").open("w") as answers:
        place = next(rows).rstrip("\n").split(",").index("id")
        answers.write("id,label\n")
        for number, row in enumerate(rows):
            answers.write(f"{row.split(',')[place]},{LABELS[number % 3]}\n")
    for output, model in (("first", "baseline:overlap"), ("second", "baseline:subsequence")):
        run_command((*RUN, "-m", model, "-s", f"hans,{STRESS}", "-o", output), folder, source)
    run_command((*RUN, "-m", "baseline:overlap", "-o", "finished"), folder, source)


def time_once(workload: Workload, folder: Path, source: Path) -> tuple[float, float]:
    """Wall and processor seconds of one process, from which the output of the last was removed."""
    if workload.output:
        remove(folder / workload.output)
    wall, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    run_command(workload.command, folder, source, python=workload.python)
    wall, after = time.perf_counter() - wall, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path, help="source folder before, such as ../old/src")
    parser.add_argument("new", type=Path, help="source folder after, such as src")
    parser.add_argument("--times", type=int, default=5, help="runs of each, 5 by default")
    parser.add_argument("--only", default="", help="workloads whose name has this in it")
    options = parser.parse_args()
    trees = {"old": options.old.resolve(), "new": options.new.resolve()}
    for tree in trees.values():
        if not (tree / "acidtest").is_dir():
            parser.error(f"{tree} has no folder acidtest; give the folder that holds the package")
    rows = []
    with tempfile.TemporaryDirectory() as name:
        # Each tree works on a copy, because a tree may write what the other would read again.
        inputs = Path(name) / "inputs"
        inputs.mkdir()
        prepare(inputs, trees["old"])
        folders = {tree: shutil.copytree(inputs, Path(name) / tree) for tree in trees}
        for workload in (workload for workload in WORKLOADS if options.only in workload.name):
            times: dict[str, list[tuple[float, float]]] = {tree: [] for tree in trees}
            # One run more than counts: the first fills the caches of files and of bytecode.
            for _ in range(options.times + 1):
                for tree, source in trees.items():
                    times[tree].append(time_once(workload, folders[tree], source))
            old, new = (statistics.median(wall for wall, _ in times[tree][1:]) for tree in trees)
            old_processor, new_processor = (statistics.median(spent for _, spent in times[tree][1:]) for tree in trees)
            slower = f"more than {SLOWER - 1:.0%} slower" if new / old > SLOWER else ""
            row = {"workload": workload.name, "old, s": old, "new, s": new, "new / old": new / old}
            rows.append(row | {"processor, new / old": new_processor / old_processor, "": slower})
            print(f"{workload.name}: {old:.3f} s, {new:.3f} s", file=sys.stderr, flush=True)
    report("before_after", rows)


if __name__ == "__main__":
    main()
