"""The trainer: epochs of shuffled batches, the best weights on a development set, and checkpoints to continue from."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal

import torch
from safetensors import safe_open
from safetensors.torch import save_file

from acidtest.core.errors import AcidtestError, FileError
from acidtest.core.files import replace_file, write_json
from acidtest.core.logs import log
from acidtest.zoo.batches import Inputs, NetworkBatch
from acidtest.zoo.networks import WEIGHTS, load_weights, save_weights

CHECKPOINT = "checkpoint.safetensors"
CURVE = "curve.json"

Progress = Callable[[int, int], None]
"""Called with the number of pairs trained on so far, and the number if all epochs are run."""

Watch = Callable[[str], None]
"""Called every few seconds with a description of the state of training."""

Precision = Literal["auto", "full", "bf16"]

_WATCH_S = 2.0


@dataclass(frozen=True)
class TrainerOptions:
    """How a network is trained."""

    epochs: int = 10
    batch_size: int = 64
    learning_rate: float = 4e-4
    optimizer: Literal["adam", "adamw", "adagrad", "sgd"] = "adam"
    weight_decay: float = 0.0
    schedule: Literal["constant", "linear"] = "constant"
    """Whether the learning rate stays constant, or falls linearly to 0 at the end of the last epoch."""
    warmup: float = 0.0
    """Share of all steps over which the learning rate rises."""
    decay: float = 1.0
    """Factor by which the learning rate is multiplied after every epoch."""
    shrink: float = 1.0
    """Further factor after an epoch that does not improve the best development score."""
    clip: float = 10.0
    clip_by: Literal["norm", "value"] = "norm"
    """Whether ``clip`` bounds the norm of all gradients together, or the value of each."""
    accumulated: float = 0.1
    """Initial accumulator of Adagrad, as in TensorFlow; with 0, the first step moves every weight by the full rate."""
    patience: int = 3
    """Epochs without a better development score after which training ends."""
    seed: int = 0
    precision: Precision = "auto"
    """Whether matrix products outside LSTMs use bfloat16 in training; ``auto``: if the hardware supports it."""
    checkpoint_s: float = 60.0
    """Seconds between checkpoints; one is also written at the end of every epoch."""


@dataclass
class TrainingState:
    """How far training has come; stored in checkpoints and in result.json."""

    epoch: int = 0
    batch: int = 0
    best: float = -1.0
    best_epoch: int = -1
    scale: float = 1.0
    """Product of all ``decay`` and ``shrink`` factors so far."""
    seconds: float = 0.0
    loss: float = 0.0
    pairs: int = 0
    curve: list[dict[str, float]] = field(default_factory=list)


@dataclass(frozen=True)
class PairScore:
    """The number of right answers to some pairs, and the mean loss."""

    right: int
    pairs: int
    loss: float

    @property
    def accuracy(self) -> float:
        """The share of right answers; NaN without pairs."""
        return self.right / self.pairs if self.pairs else math.nan


def label_loss(scores: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Minus the log of the total probability of all right labels, averaged over pairs.

    With one right label that is the cross-entropy. A pair labelled non-entailment teaches a network of three labels
    that neutral and contradiction together are likely, and nothing about which of them it is.
    """
    log_probabilities = scores.float().log_softmax(dim=1)
    return -log_probabilities.masked_fill(~targets, -torch.inf).logsumexp(dim=1).mean()


class Trainer:
    """Trains a network in a folder, and continues from a checkpoint there."""

    def __init__(self, network: torch.nn.Module, folder: Path, options: TrainerOptions, device: torch.device) -> None:
        self.network = network.to(device)
        self._folder = folder
        self._options = options
        self._device = device
        self._weights = [weight for weight in network.parameters() if weight.requires_grad]
        self._optimizer = _make_optimizer(self._weights, options)
        self._loss = torch.zeros((), dtype=torch.float64, device=device)
        self.state = TrainingState()

    def train(
        self,
        train: Inputs,
        dev: Inputs | None,
        progress: Progress = lambda done, total: None,
        watch: Watch = lambda text: None,
    ) -> TrainingState:
        """Train until the last epoch, or until the development score stops rising; load the best weights."""
        torch.manual_seed(self._options.seed)
        if (self._folder / CHECKPOINT).is_file():
            self._restore(self._folder / CHECKPOINT)
            done, wanted = self.state.epoch, self._options.epochs
            if done > wanted:
                raise AcidtestError(
                    f"{self._folder}: {done} epochs are done there already; continue with --epochs of {done} or more, "
                    f"not {wanted}, or choose another -o"
                )
            self._save_epoch()
        while not self._is_finished():
            self._run_epoch(train, progress, watch)
            self._end_epoch(dev)
            self._checkpoint()
            self._save_epoch()
            last = self.state.curve[-1]
            dev_score = f", {last['dev_accuracy']:.1%} of --dev right" if "dev_accuracy" in last else ""
            watch(f"epoch {last['epoch']:.0f}, loss {last['loss']:.3f}{dev_score}")
        load_weights(self.network, self._folder / WEIGHTS)
        return self.state

    def _run_epoch(self, train: Inputs, progress: Progress, watch: Watch) -> None:
        """Train on the remaining batches of the current epoch."""
        state, options = self.state, self._options
        order = train.shuffled(options.batch_size, options.seed, state.epoch)
        self.network.train()
        started = checkpointed = reported = time.perf_counter()
        for rows in order[state.batch :]:
            self.learn(train.batch(rows), state.epoch * len(order) + state.batch, len(order))
            progress(state.epoch * len(train) + state.pairs, options.epochs * len(train))
            now = time.perf_counter()
            if now - reported > _WATCH_S:
                # Reading the loss waits for the device, so it is done rarely.
                watch(f"epoch {state.epoch + 1}, loss {float(self._loss) / state.pairs:.3f}")
                reported = now
            if now - checkpointed > options.checkpoint_s:
                state.seconds += now - started
                self._checkpoint()
                started = checkpointed = time.perf_counter()
        state.loss = float(self._loss)
        state.seconds += time.perf_counter() - started

    def learn(self, batch: NetworkBatch, step: int, epoch_steps: int) -> None:
        """Train on a batch; ``step`` counts from the start of training, and an epoch has ``epoch_steps``."""
        assert batch.targets is not None
        rate = self._options.learning_rate * self.state.scale * _rate_share(self._options, step, epoch_steps)
        for group in self._optimizer.param_groups:
            group["lr"] = rate
        with precision(self._device, self._options.precision):
            scores = self.network(batch)
        loss = label_loss(scores, batch.targets)
        self._optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        if self._options.clip_by == "norm":
            torch.nn.utils.clip_grad_norm_(self._weights, self._options.clip)
        else:
            torch.nn.utils.clip_grad_value_(self._weights, self._options.clip)
        self._optimizer.step()
        self.state.batch += 1
        self.state.pairs += len(batch.rows)
        # The sum stays on the device until the end of the epoch, because reading it would make every step wait.
        self._loss += loss.detach() * len(batch.rows)

    def _end_epoch(self, dev: Inputs | None) -> None:
        """Add the epoch to the curve, and record it if it is the best."""
        state = self.state
        loss = state.loss / max(state.pairs, 1)
        if not math.isfinite(loss):
            raise AcidtestError(
                f"{self._folder}: the loss is no number after epoch {state.epoch + 1}; "
                f"train in another folder with a lower --learning-rate than {self._options.learning_rate:g}"
            )
        speed = state.pairs / max(state.seconds, 1e-9)
        point = {"epoch": state.epoch + 1, "loss": loss, "seconds": state.seconds, "pairs_per_s": speed}
        if dev is not None:
            dev_score = score_pairs(self.network, dev)
            point |= {"dev_accuracy": dev_score.accuracy, "dev_loss": dev_score.loss}
        score = point.get("dev_accuracy", float(state.epoch))
        better = score > state.best
        if better:
            state.best, state.best_epoch = score, state.epoch
        state.scale *= self._options.decay * (1.0 if better else self._options.shrink)
        state.curve.append(point)
        log.info("%s", ", ".join(f"{name} {value:.4g}" for name, value in point.items()))
        state.epoch, state.batch, state.pairs, state.seconds, state.loss = state.epoch + 1, 0, 0, 0.0, 0.0
        self._loss.zero_()

    def _save_epoch(self) -> None:
        """Write the curve after an epoch, and the weights if they are the best.

        Call this after ``_checkpoint``: if training stops between the two, these files are written when the
        checkpoint is restored. In the other order, the weights could come from an epoch that is then run again and
        ends differently.
        """
        state = self.state
        if state.epoch == 0 or state.batch > 0:
            return
        if state.best_epoch == state.epoch - 1:
            save_weights(self._folder, self.network)
        write_json(self._folder / CURVE, state.curve)

    def _is_finished(self) -> bool:
        state = self.state
        out_of_patience = state.best_epoch >= 0 and state.epoch - state.best_epoch > self._options.patience
        return state.epoch >= self._options.epochs or out_of_patience

    def _checkpoint(self) -> None:
        """Write everything needed to continue as if never interrupted: weights, optimizer and random generators."""
        self.state.loss = float(self._loss)
        optimizer = self._optimizer.state_dict()
        tensors = {f"network/{name}": value for name, value in self.network.state_dict().items()}
        for number, values in optimizer["state"].items():
            tensors |= {f"optimizer/{number}/{name}": value for name, value in values.items()}
        tensors["generator/cpu"] = torch.get_rng_state()
        if self._device.type == "cuda":
            tensors["generator/cuda"] = torch.cuda.get_rng_state(self._device)
        metadata = {"told": json.dumps({"state": asdict(self.state), "groups": optimizer["param_groups"]})}
        with replace_file(self._folder / CHECKPOINT) as path:
            save_file({name: value.contiguous() for name, value in tensors.items()}, path, metadata)

    def _restore(self, path: Path) -> None:
        tensors: dict[str, dict[str, torch.Tensor]] = {"network": {}, "optimizer": {}, "generator": {}}
        try:
            with safe_open(path, framework="pt") as file:
                metadata: dict[str, Any] = json.loads((file.metadata() or {}).get("told", "{}"))
                for name in file.keys():  # noqa: SIM118 - it is no mapping
                    part, _, rest = name.partition("/")
                    tensors[part][rest] = file.get_tensor(name)
            self.state = TrainingState(**metadata["state"])
            self._loss.fill_(self.state.loss)
            self.network.load_state_dict(tensors["network"])
            optimizer: dict[int, dict[str, Any]] = {}
            for name, value in tensors["optimizer"].items():
                number, _, key = name.partition("/")
                optimizer.setdefault(int(number), {})[key] = value
            self._optimizer.load_state_dict({"state": optimizer, "param_groups": metadata["groups"]})
            torch.set_rng_state(tensors["generator"]["cpu"])
            if "cuda" in tensors["generator"] and self._device.type == "cuda":
                torch.cuda.set_rng_state(tensors["generator"]["cuda"], self._device)
        except Exception as error:
            # The exceptions of safetensors and of torch have no class in common.
            message = f"is no checkpoint of this training ({error}); remove it, and training begins anew"
            raise FileError(path, message) from error
        log.info("continuing in epoch %d after %d batches", self.state.epoch + 1, self.state.batch)


def score_pairs(network: torch.nn.Module, inputs: Inputs, size: int = 512) -> PairScore:
    """The score of a network on pairs whose right labels are known."""
    # The sums stay on the device until the end, because reading them would make every batch wait.
    right, loss = torch.zeros(2, dtype=torch.float64, device=inputs.device)
    for batch, scores in score_batches(network, inputs, size):
        assert batch.targets is not None
        right += batch.targets.gather(1, scores.argmax(1, keepdim=True)).sum()
        loss += label_loss(scores, batch.targets).double() * len(batch.rows)
    return PairScore(int(right), len(inputs), float(loss) / max(len(inputs), 1))


def score_batches(network: torch.nn.Module, inputs: Inputs, size: int) -> Iterator[tuple[NetworkBatch, torch.Tensor]]:
    """Batches with the scores of their labels in float32, in evaluation mode and without gradients."""
    network.eval()
    with torch.inference_mode():
        for batch in inputs.ordered(size):
            yield batch, network(batch).float()


def precision(device: torch.device, wanted: Precision) -> AbstractContextManager[Any]:
    """A context in which matrix products use bfloat16, if that is wanted and, for ``auto``, supported."""
    supported = device.type == "cuda" and torch.cuda.get_device_capability(device) >= (8, 0)
    if wanted == "bf16" or (wanted == "auto" and supported):
        return torch.autocast(device.type, dtype=torch.bfloat16)
    return nullcontext()


def _rate_share(options: TrainerOptions, step: int, epoch_steps: int) -> float:
    """The factor by which warmup and schedule multiply the learning rate at a step."""
    total = options.epochs * epoch_steps
    warmup_steps = options.warmup * total
    if step < warmup_steps:
        return (step + 1) / (warmup_steps + 1)
    return 1.0 if options.schedule == "constant" else (total - step) / max(total - warmup_steps, 1)


def _make_optimizer(weights: list[torch.nn.Parameter], options: TrainerOptions) -> torch.optim.Optimizer:
    kinds: dict[str, Any] = {
        "adam": torch.optim.Adam,
        "adamw": torch.optim.AdamW,
        "adagrad": partial(torch.optim.Adagrad, initial_accumulator_value=options.accumulated),
        "sgd": torch.optim.SGD,
    }
    # A fused optimizer makes one pass over all weights: nine times as fast for large embeddings, even on a CPU.
    device = weights[0].device.type if weights else ""
    fused = {"fused": True} if device == "cpu" or (device == "cuda" and options.optimizer != "adagrad") else {}
    # No weight decay for biases and the scales of norms, which are the weights with one dimension.
    groups = [
        {"params": [weight for weight in weights if weight.ndim > 1], "weight_decay": options.weight_decay},
        {"params": [weight for weight in weights if weight.ndim <= 1], "weight_decay": 0.0},
    ]
    optimizer: torch.optim.Optimizer = kinds[options.optimizer](groups, lr=options.learning_rate, **fused)
    return optimizer


def find_device(name: str) -> torch.device:
    """A device by name; ``auto`` is a GPU where there is one."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise AcidtestError(f"there is no device called {name!r}; --device is auto, cpu, cuda or cuda:1") from error
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise AcidtestError(f"--device {name}: torch sees {torch.cuda.device_count()} CUDA devices here; try auto")
    return device
