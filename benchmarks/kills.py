"""Kill a run at random moments with SIGKILL, continue it, and compare with a run that was left alone."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import polars as pl
from race import told

KILLS = 20
MODEL = """
import hashlib, time
def slow(premises, hypotheses):
    with open("asked.txt", "a") as file:
        for pair in zip(premises, hypotheses):
            file.write("\\t".join(pair) + "\\n")
    time.sleep(0.05)
    return [["entailment", "neutral", "contradiction"][hashlib.md5((p + h).encode()).digest()[0] % 3]
            for p, h in zip(premises, hypotheses)]
slow.batch_size = 200
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


def main() -> None:
    rng = random.Random(0)
    home = Path(tempfile.mkdtemp())
    (home / "slowly.py").write_text(MODEL, encoding="utf-8")
    start = time.perf_counter()
    subprocess.run(command("whole"), cwd=home, check=True, capture_output=True)
    length = time.perf_counter() - start
    expected = comparable(home / "whole")
    (home / "asked.txt").unlink()
    rows = []
    for kill in range(KILLS):
        shutil.rmtree(home / "killed", ignore_errors=True)
        (home / "asked.txt").unlink(missing_ok=True)
        process = subprocess.Popen(command("killed"), cwd=home, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        moment = rng.uniform(0, length)
        try:
            process.wait(moment)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        left = sorted(path.name for path in (home / "killed").glob("*")) if (home / "killed").exists() else []
        subprocess.run(command("killed"), cwd=home, check=True, capture_output=True)
        asked = (home / "asked.txt").read_text(encoding="utf-8").splitlines()
        results, predictions = comparable(home / "killed")
        rows.append(
            {
                "kill": kill + 1,
                "after_s": moment,
                "files_left": len(left),
                "pairs_asked_twice": len(asked) - len(set(asked)),
                "results_equal": results == expected[0],
                "predictions_equal": predictions.equals(expected[1]),
            }
        )
        assert results == expected[0], differences(results, expected[0])
        assert predictions.equals(expected[1])
        assert len(asked) - len(set(asked)) <= 200, "more than the batch in flight was asked again"
    told("kills", rows)
    print(f"uninterrupted run: {length:.1f} s; {KILLS} kills, all continued to the same result")
    shutil.rmtree(home)


if __name__ == "__main__":
    main()
