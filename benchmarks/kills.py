"""Kill a run at random moments with SIGKILL, continue it, and compare with a run that was left alone.

Every other run keeps its answers in the cache, the others in their own folder.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import polars as pl
from race import told

KILLS = 30
KEPT = ("run", "cache")
MODEL = """
import hashlib, os, time
def slow(premises, hypotheses):
    with open("asked.txt", "a") as file:
        for pair in zip(premises, hypotheses):
            file.write("\\t".join(pair) + "\\n")
    time.sleep(0.05)
    return [["entailment", "neutral", "contradiction"][hashlib.md5((p + h).encode()).digest()[0] % 3]
            for p, h in zip(premises, hypotheses)]
slow.batch_size = 200
if os.environ["KEPT"] == "cache":
    slow.fingerprint = "slow"
"""


def command(output: str) -> list[str]:
    return [sys.executable, "-m", "acidtest", "run", "-m", "python:slowly:slow", "-o", output, "-q"]


def comparable(folder: Path) -> tuple[dict[str, object], pl.DataFrame]:
    results = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    return results, pl.read_parquet(folder / "predictions.parquet")


def differences(found: object, expected: object, where: str = "") -> list[str]:
    """Where two results differ."""
    if isinstance(found, dict) and isinstance(expected, dict):
        keys = [*found, *(key for key in expected if key not in found)]
        return [line for key in keys for line in differences(found.get(key), expected.get(key), f"{where}/{key}")]
    return [] if found == expected else [f"{where}: {found!r} instead of {expected!r}"]


def environment(home: Path, kept: str) -> dict[str, str]:
    return {**os.environ, "KEPT": kept, "ACIDTEST_CACHE_FOLDER": str(home / "cache")}


def finish(home: Path, output: str, kept: str) -> None:
    subprocess.run(command(output), cwd=home, env=environment(home, kept), check=True, capture_output=True)


def kill(home: Path, kept: str, moment: float) -> int:
    """Begin a run, kill it after so many seconds, and say how many files it left."""
    for folder in ("killed", "cache"):
        shutil.rmtree(home / folder, ignore_errors=True)
    (home / "asked.txt").unlink(missing_ok=True)
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(command("killed"), cwd=home, env=environment(home, kept), stdout=quiet, stderr=quiet)
    try:
        process.wait(moment)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    return len(list((home / "killed").glob("*")))


def main() -> None:
    rng = random.Random(0)
    home = Path(tempfile.mkdtemp())
    (home / "slowly.py").write_text(MODEL, encoding="utf-8")
    expected, length = {}, {}
    for kept in KEPT:
        start = time.perf_counter()
        finish(home, f"whole-{kept}", kept)
        length[kept] = time.perf_counter() - start
        expected[kept] = comparable(home / f"whole-{kept}")
    rows = []
    for number in range(KILLS):
        kept = KEPT[number % 2]
        moment = rng.uniform(0, length[kept])
        left = kill(home, kept, moment)
        finish(home, "killed", kept)
        asked = (home / "asked.txt").read_text(encoding="utf-8").splitlines()
        results, predictions = comparable(home / "killed")
        twice = len(asked) - len(set(asked))
        rows.append(
            {
                "kill": number + 1,
                "kept_in": kept,
                "after_s": moment,
                "files_left": left,
                "pairs_asked_twice": twice,
                "results_equal": results == expected[kept][0],
                "predictions_equal": predictions.equals(expected[kept][1]),
            }
        )
        assert results == expected[kept][0], differences(results, expected[kept][0])
        assert predictions.equals(expected[kept][1])
        assert twice <= 200, "more than the batch in flight was asked again"
    told("kills", rows)
    print(f"uninterrupted run: {length['run']:.1f} s; {KILLS} kills, all continued to the same result")
    shutil.rmtree(home)


if __name__ == "__main__":
    main()
