"""Kill a run at random moments with SIGKILL, continue it, and compare it with a run that was left alone.

Every other run keeps its answers in the cache, the others keep them in their own folder. At most the batch in flight
may be asked again.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import polars as pl
from race import parse_options, report, seconds

BATCH = 200
STORES = ("run", "cache")
MODEL = f"""
import hashlib, os, time
def slow(premises, hypotheses):
    with open("asked.txt", "a") as file:
        for pair in zip(premises, hypotheses):
            file.write("\\t".join(pair) + "\\n")
    time.sleep(0.05)
    return [["entailment", "neutral", "contradiction"][hashlib.md5((p + h).encode()).digest()[0] % 3]
            for p, h in zip(premises, hypotheses)]
slow.batch_size = {BATCH}
if os.environ["STORE"] == "cache":
    slow.fingerprint = "slow"
"""


def command(output: str, suites: str) -> list[str]:
    """The command that begins a run and continues it."""
    run = [sys.executable, "-m", "acidtest", "run", "-m", "python:slowly:slow", "-o", output, "-q"]
    return [*run, "-s", suites] if suites else run


def environment(home: Path, store: str) -> dict[str, str]:
    """Variables that say where answers are kept."""
    return {**os.environ, "STORE": store, "ACIDTEST_CACHE_FOLDER": str(home / "cache")}


def finish(home: Path, output: str, *, store: str, suites: str) -> None:
    """Run to the end."""
    subprocess.run(command(output, suites), cwd=home, env=environment(home, store), check=True, capture_output=True)


def kill_after(moment: float, home: Path, *, store: str, suites: str) -> int:
    """Begin a run, kill it after so many seconds, and count the files it left."""
    for folder in ("killed", "cache"):
        shutil.rmtree(home / folder, ignore_errors=True)
    (home / "asked.txt").unlink(missing_ok=True)
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(command("killed", suites), cwd=home, env=environment(home, store), **quiet)
    try:
        process.wait(moment)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    return len(list((home / "killed").glob("*")))


def read_run(folder: Path) -> tuple[dict[str, Any], pl.DataFrame]:
    """Results and predictions of a run."""
    results = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    return results, pl.read_parquet(folder / "predictions.parquet")


def differences(value: object, expected: object, place: str = "") -> list[str]:
    """Places where two results differ."""
    if isinstance(value, dict) and isinstance(expected, dict):
        keys = dict.fromkeys([*value, *expected])
        return [line for key in keys for line in differences(value.get(key), expected.get(key), f"{place}/{key}")]
    return [] if value == expected else [f"{place}: {value!r} instead of {expected!r}"]


def main() -> None:
    options = parse_options(__doc__, kills=(4, 30))
    suites = "" if options.full else "stress/spelling,stress/word-overlap"
    rng, rows = random.Random(0), list[dict[str, Any]]()
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        (home / "slowly.py").write_text(MODEL, encoding="utf-8")
        expected, length = {}, {}
        for store in STORES:
            whole = f"whole-{store}"
            length[store] = seconds(lambda store=store, whole=whole: finish(home, whole, store=store, suites=suites))
            expected[store] = read_run(home / whole)
        for number in range(options.kills):
            store = STORES[number % 2]
            moment = rng.uniform(0, length[store])
            files = kill_after(moment, home, store=store, suites=suites)
            finish(home, "killed", store=store, suites=suites)
            pairs = (home / "asked.txt").read_text(encoding="utf-8").splitlines()
            results, predictions = read_run(home / "killed")
            repeated = len(pairs) - len(set(pairs))
            assert results == expected[store][0], differences(results, expected[store][0])
            assert predictions.equals(expected[store][1]), "predictions differ from those of the run left alone"
            assert repeated <= BATCH, f"{repeated} pairs were asked again, more than the batch in flight"
            row = {"kill": number + 1, "answers in": store, "after seconds": moment, "files left": files}
            rows.append(row | {"pairs asked twice": repeated})
    report("kills", rows)
    print(f"left alone, the run takes {length['run']:.1f} s; {options.kills} kills, all continued to equal results")


if __name__ == "__main__":
    main()
