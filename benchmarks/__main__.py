"""Run every benchmark, one after the other, and summarise: ``python benchmarks [NAME …] [--full]``.

A benchmark that fails does not stop the others. The summary is written to build/benchmarks.json; the exit status is 1
when any benchmark failed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import threading
import time
from pathlib import Path

from race import RESULTS, report

FOLDER = Path(__file__).parent
NOT_RACES = {"__main__", "race", "before_after"}
LIMIT_SECONDS = 900
"""A benchmark that takes longer is stopped and counts as failed, unless ``--full`` is given."""


def run_benchmark(path: Path, *, full: bool) -> dict[str, object]:
    """Run one script, pass its output on, and say whether it succeeded, failed or was skipped."""
    start, last_line = time.perf_counter(), ""
    command = [sys.executable, "-u", str(path), *(["--full"] if full else [])]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        timer = threading.Timer(LIMIT_SECONDS, process.kill)
        if not full:
            timer.start()
        assert process.stdout
        for line in process.stdout:
            print(line, end="", flush=True)
            last_line = line.strip() or last_line
    timer.cancel()
    seconds = round(time.perf_counter() - start, 1)
    reason = ""
    if process.returncode:
        status, reason = "failed", f"exit status {process.returncode}: {last_line}"
    elif last_line.startswith("skipped: "):
        status, reason = "skipped", last_line.removeprefix("skipped: ")
    else:
        status = "ok"
    return {"race": path.stem, "seconds": seconds, "status": status, "reason": reason}


def main() -> None:
    """Run the benchmarks named, or all."""
    paths = {path.stem: path for path in sorted(FOLDER.glob("*.py")) if path.stem not in NOT_RACES}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(paths))
    parser.add_argument("--full", action="store_true", help="the sizes of the documented figures; takes hours")
    options = parser.parse_args()
    for name in options.names:
        if name not in paths:
            parser.error(f"no benchmark called {name!r}; there are {', '.join(paths)}")
    rows = []
    for name in options.names or paths:
        print(f"\n== {name}", flush=True)
        rows.append(run_benchmark(paths[name], full=options.full))
    report("summary", rows)
    path = RESULTS.with_suffix(".json")
    tables = {file.stem: json.loads(file.read_text(encoding="utf-8")) for file in sorted(RESULTS.glob("*.json"))}
    path.write_text(json.dumps({"races": rows, "tables": tables}, indent=1) + "\n", encoding="utf-8")
    print(f"written to {path}")
    sys.exit(any(row["status"] == "failed" for row in rows))


if __name__ == "__main__":
    main()
