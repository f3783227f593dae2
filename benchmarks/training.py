"""How fast each architecture learns on the device at hand, and where the time goes.

    PYTHONPATH=src python benchmarks/training.py --train pairs.jsonl [--embeddings FILE] [--device cuda] [NAME …]

For every architecture: pairs a second over some steps after a warm-up, with the data on the device as in training;
then, under torch.profiler, the device's time by kind of kernel (matrix products, recurrent layers, elementwise,
reductions, copies), what the optimizer takes, and the share of wall time in which the device has nothing to do
because the processor has not launched anything yet. On a processor alone the same by operator. Results are printed
and written to benchmarks/results/training-DEVICE.json. An architecture's own options: --set bert.encoder=PATH.
"""

from __future__ import annotations

import argparse
import re
import tempfile
import time
from pathlib import Path
from typing import Any

import torch
from race import told
from torch.profiler import ProfilerActivity, profile

from acidtest.workflows.training import Material, architectures, plan_training
from acidtest.workflows.training.pairs import gather_pairs
from acidtest.zoo.batches import Inputs
from acidtest.zoo.catalogue import architecture
from acidtest.zoo.machines import machine
from acidtest.zoo.pairs import shown
from acidtest.zoo.saved import Config
from acidtest.zoo.study import Study
from acidtest.zoo.training import Trainer, device_of

KINDS = {
    "recurrent": r"lstm|rnn|gru|elemWiseRNN|persist",
    "products": r"gemm|cutlass|matmul|\bmm\b|addmm|bmm|wgmma|sm\d+_xmma|nvjet|linear|cublas",
    "attention": r"flash|fmha|attention|sdpa",
    "optimizer": r"adam|multi_tensor|foreach|clip|norm_?kernel|lpnorm",
    "copies": r"memcpy|memset|copy|\bcat\b|CatArray|index|gather|scatter|embedding|arange|\bto\b",
    "reductions": r"reduce|softmax|sum|mean|amax|max",
    "elementwise": r"elementwise|add|mul|dropout|relu|tanh|sigmoid|where|fill|compare|clamp",
}
"""Kinds of kernels by their names, the first that fits; what fits none is other."""


def kind_of(name: str) -> str:
    """What kind of work a kernel or an operator does."""
    return next((kind for kind, pattern in KINDS.items() if re.search(pattern, name, re.IGNORECASE)), "other")


class Bench:
    """An architecture ready to learn."""

    def __init__(self, study: Study, material: Material) -> None:
        pairs = gather_pairs(material, study).train
        self.device = device_of(study.device)
        started = time.perf_counter()
        reader = architecture(study.architecture).reader.begun(study, shown(pairs.frame, hypothesis_only=False))
        network = Config(study.architecture, study.labels, dict(study.settings)).network(reader)
        self.inputs: Inputs = reader.inputs(pairs.frame, pairs.targets(study.labels), self.device)
        self.prepared = time.perf_counter() - started
        self.weights = sum(weight.numel() for weight in network.parameters())
        self.trainer = Trainer(network, Path(tempfile.gettempdir()), study.recipe, self.device)
        self.order = self.inputs.shuffled(study.recipe.batch_size, 0, 0)
        network.train()

    def steps(self, count: int) -> tuple[float, int]:
        """Seconds for some steps, and how many pairs were learnt from."""
        self._wait()
        started, pairs = time.perf_counter(), 0
        for number in range(count):
            rows = self.order[number % len(self.order)]
            self.trainer.learn(self.inputs.batch(rows), number, len(self.order))
            pairs += len(rows)
        self._wait()
        return time.perf_counter() - started, pairs

    def shares(self, count: int) -> dict[str, float]:
        """The shares of time by kind of work over some steps, and the device's idle share of the wall time."""
        on_device = self.device.type == "cuda"
        kinds = [ProfilerActivity.CUDA if on_device else ProfilerActivity.CPU]
        with profile(activities=kinds) as found:
            wall, _ = self.steps(count)
        times = dict.fromkeys([*KINDS, "other"], 0.0)
        kernels = 0
        for event in found.key_averages():
            if on_device and event.device_type.name == "CUDA":
                times[kind_of(event.key)] += event.self_device_time_total
                kernels += event.count
            elif not on_device:
                times[kind_of(event.key)] += event.self_cpu_time_total
        busy = sum(times.values()) / 1e6
        shares = {kind: round(own / max(sum(times.values()), 1e-9), 3) for kind, own in times.items()}
        if on_device:
            shares |= {"device_idle": round(max(0.0, 1 - busy / wall), 3), "kernels_a_step": round(kernels / count)}
        return shares

    def _wait(self) -> None:
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)


def measured(study: Study, material: Material, steps: int) -> dict[str, Any]:
    """What is to be told of an architecture."""
    bench = Bench(study, material)
    if bench.device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(bench.device)
    bench.steps(max(5, steps // 5))
    runs = sorted(pairs / wall for wall, pairs in (bench.steps(steps) for _ in range(3)))
    row = {
        "architecture": study.architecture,
        "weights": bench.weights,
        "batch": study.recipe.batch_size,
        "pairs_per_s": round(runs[1]),
        "least": round(runs[0]),
        "most": round(runs[2]),
        "prepare_s": round(bench.prepared, 2),
    }
    if bench.device.type == "cuda":
        row["memory_mb"] = round(torch.cuda.max_memory_allocated(bench.device) / 2**20)
    return row | bench.shares(min(steps, 20))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", help="architectures; all that learn step by step when none is named")
    parser.add_argument("--train", nargs="+", required=True)
    parser.add_argument("--embeddings", default="random")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--batch-size", type=int, default=0, help="0: that of the architecture")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--limit", type=int, default=None)
    parser.add_argument("--set", action="append", default=[], help="NAME.OPTION=VALUE")
    given = parser.parse_args()
    own: dict[str, dict[str, str | bool]] = {}
    for text in given.set:
        option, _, value = text.partition("=")
        name, _, option = option.partition(".")
        own.setdefault(name, {})[option] = value
    rows = []
    for name in given.names or [name for name, kind in architectures().items() if name != "bert" and not kind.fitted]:
        recipe = {"batch_size": given.batch_size} if given.batch_size else {}
        settings = {"embeddings": given.embeddings, "device": given.device}
        study = plan_training(name, arguments=own.get(name), recipe=recipe, settings=settings)
        try:
            rows.append(measured(study, Material(given.train, limit=given.limit), given.steps))
            print(rows[-1], flush=True)
        except Exception as error:  # One that cannot be measured must not lose the others.
            print(f"{name}: {type(error).__name__}: {error}", flush=True)
    device = device_of(given.device)
    about = machine(device)
    told(f"training-{device.type}", [row | {"device": about["device"], "threads": about["threads"]} for row in rows])


if __name__ == "__main__":
    main()
