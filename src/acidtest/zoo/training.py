"""Training: epochs of shuffled batches, the best on a development set kept, and a checkpoint to go on from."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal

import torch
from safetensors import safe_open
from safetensors.torch import save_file

from acidtest.core.errors import AcidtestError, FileError
from acidtest.core.files import replacing, write_json
from acidtest.core.logs import log
from acidtest.zoo.batches import Batch, Inputs
from acidtest.zoo.saved import WEIGHTS, load_weights, save_weights

CHECKPOINT = "checkpoint.safetensors"
CURVE = "curve.json"

Progress = Callable[[int, int], None]
"""Told how many pairs have been learnt from, and how many will be at most."""

Watch = Callable[[str], None]
"""Told how it stands, in words, now and then."""

Precision = Literal["auto", "full", "bf16"]

_TOLD_S = 2.0


@dataclass(frozen=True)
class Recipe:
    """How a network is trained."""

    epochs: int = 10
    batch_size: int = 64
    learning_rate: float = 4e-4
    optimizer: Literal["adam", "adamw", "adagrad", "sgd"] = "adam"
    weight_decay: float = 0.0
    schedule: Literal["constant", "linear"] = "constant"
    """Whether the learning rate stays, or falls to nothing at the end of the last epoch."""
    warmup: float = 0.0
    """Share of all steps over which the learning rate rises."""
    decay: float = 1.0
    """What the learning rate is multiplied by after every epoch."""
    shrink: float = 1.0
    """What it is multiplied by after an epoch without a better development score than all before."""
    clip: float = 10.0
    clip_by: Literal["norm", "value"] = "norm"
    """Whether ``clip`` is the most that all gradients together may be long, or that each may be for itself."""
    accumulated: float = 0.1
    """What Adagrad begins with. TensorFlow's 0.1: from nought the first step moves every weight by the full rate."""
    patience: int = 3
    """Epochs without a better development score after which training ends."""
    seed: int = 0
    precision: Precision = "auto"
    """Whether products, but for LSTMs, are in bfloat16 while learning; ``auto``: where the device is made for it."""
    checkpoint_s: float = 60.0
    """Seconds between checkpoints; one is written at the end of every epoch, too."""


@dataclass
class State:
    """How far training has come."""

    epoch: int = 0
    batch: int = 0
    best: float = -1.0
    best_epoch: int = -1
    scale: float = 1.0
    """What has become of the learning rate."""
    seconds: float = 0.0
    loss: float = 0.0
    pairs: int = 0
    curve: list[dict[str, float]] = field(default_factory=list)


@dataclass(frozen=True)
class Score:
    """How many of some pairs were answered rightly, and the mean loss."""

    right: int
    pairs: int
    loss: float

    @property
    def accuracy(self) -> float:
        """The share that is right; not a number where there are no pairs."""
        return self.right / self.pairs if self.pairs else math.nan


def label_loss(scores: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Minus the log of the probability that all right labels have together, a mean over pairs.

    With one right label that is the cross-entropy. A pair labelled non-entailment teaches a network of three labels
    that neutral and contradiction are likely together, and nothing of which of them it is.
    """
    likely = scores.float().log_softmax(dim=1)
    return -likely.masked_fill(~targets, -torch.inf).logsumexp(dim=1).mean()


class Trainer:
    """Trains a network in a folder; what is there already is gone on with."""

    def __init__(self, network: torch.nn.Module, folder: Path, recipe: Recipe, device: torch.device) -> None:
        self.network = network.to(device)
        self._folder = folder
        self._recipe = recipe
        self._device = device
        weights = [weight for weight in network.parameters() if weight.requires_grad]
        self._weights = weights
        self._optimizer = _optimizer(weights, recipe)
        self._loss = torch.zeros((), dtype=torch.float64, device=device)
        self.state = State()

    def train(
        self,
        train: Inputs,
        dev: Inputs | None,
        progress: Progress = lambda done, total: None,
        watch: Watch = lambda told: None,
    ) -> State:
        """Train until the epochs are over or the development score no longer rises; the best weights are kept."""
        torch.manual_seed(self._recipe.seed)
        if (self._folder / CHECKPOINT).is_file():
            self._restore(self._folder / CHECKPOINT)
            self._refuse_less()
            self._keep()
        while not self._over():
            self._epoch(train, progress, watch)
            self._end_epoch(dev)
            self._checkpoint()
            self._keep()
            watch(self._told)
        load_weights(self.network, self._folder / WEIGHTS)
        return self.state

    def _epoch(self, train: Inputs, progress: Progress, watch: Watch) -> None:
        """Learn from what is left of an epoch."""
        state, recipe = self.state, self._recipe
        order = train.shuffled(recipe.batch_size, recipe.seed, state.epoch)
        self.network.train()
        started = written = told = time.perf_counter()
        for rows in order[state.batch :]:
            self.learn(train.batch(rows), state.epoch * len(order) + state.batch, len(order))
            progress(state.epoch * len(train) + state.pairs, recipe.epochs * len(train))
            now = time.perf_counter()
            if now - told > _TOLD_S:
                # The loss is read from the device now and then only, since that waits for it.
                watch(f"epoch {state.epoch + 1}, loss {float(self._loss) / state.pairs:.3f}")
                told = now
            if now - written > recipe.checkpoint_s:
                state.seconds += now - started
                self._checkpoint()
                started = written = time.perf_counter()
        state.loss = float(self._loss)
        state.seconds += time.perf_counter() - started

    @property
    def _told(self) -> str:
        last = self.state.curve[-1]
        dev = f", {last['dev_accuracy']:.1%} of --dev right" if "dev_accuracy" in last else ""
        return f"epoch {last['epoch']:.0f}, loss {last['loss']:.3f}{dev}"

    def learn(self, batch: Batch, step: int, of_epoch: int) -> None:
        """Learn from a batch: the step is counted from the beginning, and so many are an epoch."""
        assert batch.targets is not None
        rate = self._recipe.learning_rate * self.state.scale * _share(self._recipe, step, of_epoch)
        for group in self._optimizer.param_groups:
            group["lr"] = rate
        with precision(self._device, self._recipe.precision):
            scores = self.network(batch)
        loss = label_loss(scores, batch.targets)
        self._optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        if self._recipe.clip_by == "norm":
            torch.nn.utils.clip_grad_norm_(self._weights, self._recipe.clip)
        else:
            torch.nn.utils.clip_grad_value_(self._weights, self._recipe.clip)
        self._optimizer.step()
        self.state.batch += 1
        self.state.pairs += len(batch.rows)
        # Read at the end of the epoch, so that the device need not be waited for at every step.
        self._loss += loss.detach() * len(batch.rows)

    def _end_epoch(self, dev: Inputs | None) -> None:
        state = self.state
        loss = state.loss / max(state.pairs, 1)
        if not math.isfinite(loss):
            raise AcidtestError(
                f"{self._folder}: the loss is no number after epoch {state.epoch + 1}; "
                f"train in another folder with a lower --learning-rate than {self._recipe.learning_rate:g}"
            )
        speed = state.pairs / max(state.seconds, 1e-9)
        told = {"epoch": state.epoch + 1, "loss": loss, "seconds": state.seconds, "pairs_per_s": speed}
        if dev is not None:
            found = scored_pairs(self.network, dev, self._device)
            told |= {"dev_accuracy": found.accuracy, "dev_loss": found.loss}
        score = told.get("dev_accuracy", float(state.epoch))
        better = score > state.best
        if better:
            state.best, state.best_epoch = score, state.epoch
        state.scale *= self._recipe.decay * (1.0 if better else self._recipe.shrink)
        state.curve.append(told)
        log.info("%s", ", ".join(f"{name} {value:.4g}" for name, value in told.items()))
        state.epoch, state.batch, state.pairs, state.seconds, state.loss = state.epoch + 1, 0, 0, 0.0, 0.0
        self._loss.zero_()

    def _keep(self) -> None:
        """Write what is kept of an epoch that has just ended: its weights where they are the best, and the curve.

        That comes after the checkpoint, which holds it all and so tells what was still to be written when training was
        stopped in between. The other way round weights might be those of an epoch that ends otherwise the second time.
        """
        state = self.state
        if state.epoch == 0 or state.batch > 0:
            return
        if state.best_epoch == state.epoch - 1:
            save_weights(self._folder, self.network)
        write_json(self._folder / CURVE, state.curve)

    def _refuse_less(self) -> None:
        done, wanted = self.state.epoch, self._recipe.epochs
        if done > wanted:
            raise AcidtestError(
                f"{self._folder}: {done} epochs are done there already; go on with --epochs of {done} or more, not "
                f"{wanted}, or choose another -o"
            )

    def _over(self) -> bool:
        state = self.state
        tired = state.best_epoch >= 0 and state.epoch - state.best_epoch > self._recipe.patience
        return state.epoch >= self._recipe.epochs or tired

    def _checkpoint(self) -> None:
        """Write all that is needed to go on as if nothing had happened: weights, optimizer and random numbers."""
        self.state.loss = float(self._loss)
        optimizer = self._optimizer.state_dict()
        tensors = {f"network/{name}": value for name, value in self.network.state_dict().items()}
        for number, own in optimizer["state"].items():
            tensors |= {f"optimizer/{number}/{name}": value for name, value in own.items()}
        tensors["generator/cpu"] = torch.get_rng_state()
        if self._device.type == "cuda":
            tensors["generator/cuda"] = torch.cuda.get_rng_state(self._device)
        told = {"state": asdict(self.state), "groups": optimizer["param_groups"]}
        with replacing(self._folder / CHECKPOINT) as path:
            save_file({name: value.contiguous() for name, value in tensors.items()}, path, {"told": json.dumps(told)})

    def _restore(self, path: Path) -> None:
        try:
            self._take(*_checkpoint_parts(path))
        except Exception as error:
            # What safetensors raises shares no class with what torch does.
            message = f"is no checkpoint of this training ({error}); remove it, and training begins anew"
            raise FileError(path, message) from error
        log.info("going on in epoch %d after %d batches", self.state.epoch + 1, self.state.batch)

    def _take(self, told: Mapping[str, Any], parts: Mapping[str, Mapping[str, torch.Tensor]]) -> None:
        """Take over what a checkpoint tells."""
        self.state = State(**told["state"])
        self._loss.fill_(self.state.loss)
        self.network.load_state_dict(parts["network"])
        own: dict[int, dict[str, Any]] = {}
        for name, value in parts["optimizer"].items():
            number, _, key = name.partition("/")
            own.setdefault(int(number), {})[key] = value
        self._optimizer.load_state_dict({"state": own, "param_groups": told["groups"]})
        torch.set_rng_state(parts["generator"]["cpu"])
        if "cuda" in parts["generator"] and self._device.type == "cuda":
            torch.cuda.set_rng_state(parts["generator"]["cuda"], self._device)


def _checkpoint_parts(path: Path) -> tuple[dict[str, Any], dict[str, dict[str, torch.Tensor]]]:
    """What a checkpoint tells, and its tensors: of the network, of the optimizer and of random numbers."""
    parts: dict[str, dict[str, torch.Tensor]] = {"network": {}, "optimizer": {}, "generator": {}}
    with safe_open(path, framework="pt") as file:
        told: dict[str, Any] = json.loads((file.metadata() or {}).get("told", "{}"))
        for name in file.keys():  # noqa: SIM118 - it is no mapping
            part, _, rest = name.partition("/")
            parts.setdefault(part, {})[rest] = file.get_tensor(name)
    return told, parts


def scored_pairs(network: torch.nn.Module, inputs: Inputs, device: torch.device, size: int = 512) -> Score:
    """How a network does on pairs whose right labels are known."""
    # Read at the end, so that the device need not be waited for at every batch.
    right, loss = torch.zeros(2, dtype=torch.float64, device=device)
    for batch, found in scored(network, inputs, device, size):
        assert batch.targets is not None
        right += batch.targets.gather(1, found.argmax(1, keepdim=True)).sum()
        loss += label_loss(found, batch.targets).double() * len(batch.rows)
    return Score(int(right), len(inputs), float(loss) / max(len(inputs), 1))


def scored(
    network: torch.nn.Module, inputs: Inputs, device: torch.device, size: int = 512
) -> Iterator[tuple[Batch, torch.Tensor]]:
    """Batches with the scores of their labels, in full precision; nothing is learnt."""
    network.eval()
    with torch.inference_mode():
        for batch in inputs.ordered(size):
            yield batch, network(batch).float()


def precision(device: torch.device, wanted: Precision) -> AbstractContextManager[Any]:
    """Products in bfloat16, where that is wanted."""
    made_for_it = device.type == "cuda" and torch.cuda.get_device_capability(device) >= (8, 0)
    if wanted == "bf16" or (wanted == "auto" and made_for_it):
        return torch.autocast(device.type, dtype=torch.bfloat16)
    return nullcontext()


def _share(recipe: Recipe, step: int, of_epoch: int) -> float:
    """The share of the learning rate that a step has by the schedule."""
    total = recipe.epochs * of_epoch
    rising = recipe.warmup * total
    if step < rising:
        return (step + 1) / (rising + 1)
    return 1.0 if recipe.schedule == "constant" else (total - step) / max(total - rising, 1)


def _optimizer(weights: list[torch.nn.Parameter], recipe: Recipe) -> torch.optim.Optimizer:
    kinds: dict[str, Any] = {
        "adam": torch.optim.Adam,
        "adamw": torch.optim.AdamW,
        "adagrad": partial(torch.optim.Adagrad, initial_accumulator_value=recipe.accumulated),
        "sgd": torch.optim.SGD,
    }
    # One pass over all weights: for a large table of words nine times as fast on a processor, too.
    device = weights[0].device.type if weights else ""
    fused = {"fused": True} if device == "cpu" or (device == "cuda" and recipe.optimizer != "adagrad") else {}
    # Biases and the scales of norms do not decay; all others have two dimensions or more.
    parts = [
        {"params": [weight for weight in weights if weight.ndim > 1], "weight_decay": recipe.weight_decay},
        {"params": [weight for weight in weights if weight.ndim <= 1], "weight_decay": 0.0},
    ]
    made: torch.optim.Optimizer = kinds[recipe.optimizer](parts, lr=recipe.learning_rate, **fused)
    return made


def device_of(name: str) -> torch.device:
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
