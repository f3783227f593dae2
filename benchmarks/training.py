"""How fast each architecture learns on the device at hand, and where the time goes.

Of every architecture: pairs per second over some steps after a warm-up, with the data on the device as in training;
then the share of time by kind of work under torch.profiler (matrix products, recurrent layers, elementwise, reductions,
copies, optimizer). On a GPU these are shares of the device's own time, and the share of wall time in which the device
is idle is added; on a processor they are shares of the time of operators. An architecture has options of its own: --set
bert.encoder=PATH.
"""

from __future__ import annotations

import argparse
import re
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from race import parse_options, report, require, starter_corpus

import acidtest

KINDS = {
    "recurrent": r"lstm|rnn|gru|elemWiseRNN|persist",
    "products": r"gemm|cutlass|matmul|\bmm\b|addmm|bmm|wgmma|sm\d+_xmma|nvjet|linear|cublas",
    "attention": r"flash|fmha|attention|sdpa",
    "optimizer": r"adam|multi_tensor|foreach|clip|norm_?kernel|lpnorm",
    "copies": r"memcpy|memset|copy|\bcat\b|CatArray|index|gather|scatter|embedding|arange|\bto\b",
    "reductions": r"reduce|softmax|sum|mean|amax|max",
    "elementwise": r"elementwise|add|mul|dropout|relu|tanh|sigmoid|where|fill|compare|clamp",
}
"""Patterns of the names of kernels and operators; the first that matches counts."""
SMALL = ("cbow", "bilstm", "decomposable-attention")
"""Architectures that a processor trains fast enough to be measured by default."""


def kind_of(name: str) -> str:
    """The kind of work that a kernel or an operator does."""
    return next((kind for kind, pattern in KINDS.items() if re.search(pattern, name, re.IGNORECASE)), "other")


class Bench:
    """An architecture that is ready to learn."""

    def __init__(self, study: Any, material: Any) -> None:
        from acidtest.workflows.training.pairs import gather_pairs
        from acidtest.zoo.catalogue import architecture
        from acidtest.zoo.networks import NetworkConfig
        from acidtest.zoo.pairs import visible_text
        from acidtest.zoo.trainer import Trainer, find_device

        pairs = gather_pairs(material, study).train
        self.device = find_device(study.device)
        start = time.perf_counter()
        visible = visible_text(pairs.frame, hypothesis_only=False)
        reader = architecture(study.architecture).reader.for_training(study, visible)
        network = NetworkConfig(study.architecture, study.labels, dict(study.settings)).network(reader)
        self.inputs = reader.inputs(pairs.frame, pairs.targets(study.labels), self.device)
        self.preparation_seconds = time.perf_counter() - start
        self.weights = sum(weight.numel() for weight in network.parameters())
        self.trainer = Trainer(network, Path(tempfile.gettempdir()), study.recipe, self.device)
        self.batches = self.inputs.shuffled(study.recipe.batch_size, 0, 0)
        network.train()

    def learn(self, steps: int) -> tuple[float, int]:
        """Seconds of some steps, and how many pairs were learnt from."""
        self._synchronize()
        start, pairs = time.perf_counter(), 0
        for number in range(steps):
            rows = self.batches[number % len(self.batches)]
            self.trainer.learn(self.inputs.batch(rows), number, len(self.batches))
            pairs += len(rows)
        self._synchronize()
        return time.perf_counter() - start, pairs

    def time_shares(self, steps: int) -> dict[str, float]:
        """Shares of time by kind of work, and the device's idle share of the wall time."""
        from torch.profiler import ProfilerActivity, profile

        on_device = self.device.type == "cuda"
        with profile(activities=[ProfilerActivity.CUDA if on_device else ProfilerActivity.CPU]) as profiler:
            wall, _ = self.learn(steps)
        times, kernels = dict.fromkeys([*KINDS, "other"], 0.0), 0
        for event in profiler.key_averages():
            if on_device and event.device_type.name == "CUDA":
                times[kind_of(event.key)] += event.self_device_time_total
                kernels += event.count
            elif not on_device:
                times[kind_of(event.key)] += event.self_cpu_time_total
        total = max(sum(times.values()), 1e-9)
        shares = {kind: round(spent / total, 3) for kind, spent in times.items()}
        if on_device:
            shares |= {"device idle": round(max(0.0, 1 - total / 1e6 / wall), 3), "kernels": round(kernels / steps)}
        return shares

    def _synchronize(self) -> None:
        if self.device.type == "cuda":
            import torch

            torch.cuda.synchronize(self.device)


def measure(study: Any, material: Any, steps: int) -> dict[str, Any]:
    """The row of one architecture."""
    import torch

    bench = Bench(study, material)
    on_device = bench.device.type == "cuda"
    if on_device:
        torch.cuda.reset_peak_memory_stats(bench.device)
    bench.learn(max(1, steps // 5))
    rates = sorted(pairs / wall for wall, pairs in (bench.learn(steps) for _ in range(5)))
    row = {
        "architecture": study.architecture,
        "weights": bench.weights,
        "batch": study.recipe.batch_size,
        "pairs per second": round(statistics.median(rates)),
        "least": round(rates[0]),
        "most": round(rates[-1]),
        "preparation, s": round(bench.preparation_seconds, 2),
    }
    if on_device:
        row["MB"] = round(torch.cuda.max_memory_allocated(bench.device) / 2**20)
    return row | bench.time_shares(min(steps, 20))


def architecture_options(texts: list[str]) -> dict[str, dict[str, str | bool]]:
    """Options of architectures from texts such as ``bert.encoder=PATH``."""
    options: dict[str, dict[str, str | bool]] = {}
    for text in texts:
        option, _, value = text.partition("=")
        name, _, option = option.partition(".")
        options.setdefault(name, {})[option] = value
    return options


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="architectures; all that learn step by step with --full or on a GPU")
    parser.add_argument("--train", nargs="+", default=[], help="files to learn from; the starter corpus by default")
    parser.add_argument("--embeddings", default="random")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--set", action="append", default=[], help="NAME.OPTION=VALUE")
    sizes = {"batch_size": (16, 64), "steps": (2, 100), "limit": (100, 10**9)}
    options = parse_options(parser, **sizes)
    require("torch")
    from acidtest.workflows.training import Material, architectures, plan_training
    from acidtest.zoo.trainer import find_device
    from acidtest.zoo.training import describe_machine

    device = find_device(options.device)
    stepwise = [name for name, kind in architectures().items() if name != "bert" and not kind.fits_at_once]
    names = options.names or (stepwise if options.full or device.type == "cuda" else SMALL)
    settings = {"embeddings": options.embeddings, "device": options.device}
    choices, rows = architecture_options(options.set), []
    with tempfile.TemporaryDirectory() as folder:
        starter = Path(folder) / "starter.parquet"
        acidtest.save(starter_corpus(), starter)
        material = Material(options.train or [starter], limit=options.limit)
        for name in names:
            recipe = {"batch_size": options.batch_size}
            study = plan_training(name, arguments=choices.get(name), recipe=recipe, settings=settings)
            rows.append(measure(study, material, options.steps))
    facts = describe_machine(device)
    machine_facts = {"device": facts["device"], "threads": facts["threads"]}
    report(f"training_{device.type}", [row | machine_facts for row in rows])


if __name__ == "__main__":
    main()
