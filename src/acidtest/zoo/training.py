"""Train one network, or continue to train it, in a folder that ``zoo:`` models are loaded from."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import torch

from acidtest.core.errors import AcidtestError
from acidtest.core.files import Lock, write_json
from acidtest.core.labels import LABELS, TWO_WAY_LABELS
from acidtest.core.logs import log, stage
from acidtest.core.structured import read_json, read_own_json
from acidtest.version import __version__
from acidtest.zoo.batches import Inputs
from acidtest.zoo.catalogue import architecture
from acidtest.zoo.networks import SCHEMA, NetworkConfig, PairReader, load_network, save_config, save_weights
from acidtest.zoo.pairs import TrainingPairs, visible_text
from acidtest.zoo.trainer import (
    CHECKPOINT,
    CURVE,
    PairScore,
    Progress,
    Trainer,
    TrainerOptions,
    TrainingState,
    Watch,
    find_device,
    score_pairs,
)

OPTIONS, RESULT = "training.json", "result.json"
"""The files with the options and the result of a training; a folder with a result is finished."""

FREE = frozenset({"device", "recipe.checkpoint_s"})
"""Options that may change when a training is continued."""

LENGTH = frozenset({"recipe.epochs", "recipe.patience"})
"""Options that may change until training is finished, if the learning rate does not depend on them."""


@dataclass(frozen=True)
class TrainingOptions:
    """What is trained and how; training.json holds these fields."""

    architecture: str
    settings: Mapping[str, Any]
    recipe: TrainerOptions
    embeddings: str = "random"
    dimensions: int = 100
    embeddings_tuned: bool = True
    more_words: int = 50_000
    """How many words from the beginning of a vector file are added to the words of the training pairs."""
    merged: bool = False
    """Whether neutral and contradiction are one label (McCoy et al. 2019, table 11)."""
    hypothesis_only: bool = False
    device: str = "auto"

    @property
    def labels(self) -> tuple[str, ...]:
        return TWO_WAY_LABELS if self.merged else LABELS


@dataclass(frozen=True)
class FileScore(PairScore):
    """The score of a test file, the digest of its pairs, and how many of them are also training pairs."""

    digest: str = ""
    leaked: int = 0


@dataclass(frozen=True)
class ResultFile:
    """What result.json holds."""

    state: TrainingState
    scores: dict[str, FileScore]
    made: dict[str, Any]


@dataclass(frozen=True)
class TrainingResult:
    """A finished training."""

    folder: Path
    options: TrainingOptions
    state: TrainingState
    scores: Mapping[str, FileScore]
    """The scores on all test files, including those from earlier runs in the same folder."""
    made: Mapping[str, Any]
    """The machine, the versions and the number of weights."""
    again: bool = False
    """Whether nothing had to be trained or scored, because an earlier run had done it."""

    @property
    def spec(self) -> str:
        """The spec by which to run the network: ``hf:`` if the folder is a checkpoint of transformers."""
        return f"{'hf' if (self.folder / 'config.json').is_file() else 'zoo'}:{self.folder}"

    @property
    def best(self) -> Mapping[str, float]:
        """The point of the curve whose weights were kept."""
        return self.state.curve[self.state.best_epoch]

    @property
    def seconds(self) -> float:
        """Training time, summed over all runs that continued the training."""
        return sum(point.get("seconds", 0.0) for point in self.state.curve)


@dataclass(frozen=True)
class TrainingData:
    """The pairs on which networks of all seeds are trained and scored; read when the first network is trained."""

    options: TrainingOptions
    train: TrainingPairs
    dev: TrainingPairs | None = None
    tests: Mapping[str, TrainingPairs] = field(default_factory=dict)

    @cached_property
    def device(self) -> torch.device:
        return find_device(self.options.device)

    @cached_property
    def everything(self) -> tuple[PairReader, Inputs, Inputs | None, dict[str, Inputs]]:
        """The reader made from the training pairs, and the inputs of the training, development and test pairs."""
        stage("reading words")
        visible = visible_text(self.train.frame, hypothesis_only=self.options.hypothesis_only)
        with self.train.locate_errors():
            reader: PairReader = architecture(self.options.architecture).reader.for_training(self.options, visible)
            train = reader.inputs(visible, self.train.targets(self.options.labels), self.device)
        dev = None if self.dev is None else self.inputs(self.dev, reader)
        return reader, train, dev, {name: self.inputs(pairs, reader) for name, pairs in self.tests.items()}

    def inputs(self, pairs: TrainingPairs, reader: PairReader) -> Inputs:
        frame = visible_text(pairs.frame, hypothesis_only=self.options.hypothesis_only)
        with pairs.locate_errors():
            return reader.inputs(frame, pairs.targets(self.options.labels), self.device)


def train_network(
    data: TrainingData,
    *,
    seed: int,
    folder: Path,
    progress: Progress = lambda done, total: None,
    watch: Watch = lambda text: None,
) -> TrainingResult:
    """Train in a folder, or continue, or load the result of a finished training; then score the test pairs."""
    options = replace(data.options, recipe=replace(data.options.recipe, seed=seed))
    record = {**asdict(options), "train": data.train.summary, "dev": None if data.dev is None else data.dev.summary}
    with Lock(folder):
        finished = (folder / RESULT).is_file()
        _refuse_other_training(folder, record, finished=finished)
        if finished:
            return _load_finished(options, data, folder)
        # All pairs are read before anything is written: an error in a file leaves the folder unused.
        reader, train, dev, tests = data.everything
        reader = reader.with_seed(seed)
        config = NetworkConfig(options.architecture, options.labels, dict(options.settings), options.hypothesis_only)
        torch.manual_seed(seed)
        network: Any = config.network(reader)
        write_json(folder / OPTIONS, record)
        save_config(folder, config, reader)
        if config.kind.fits_at_once:
            network.to(data.device).fit(train)
            save_weights(folder, network)
            point = {"epoch": 1.0, "loss": score_pairs(network, train).loss}
            if dev is not None:
                score = score_pairs(network, dev)
                point |= {"dev_accuracy": score.accuracy, "dev_loss": score.loss}
            state = TrainingState(epoch=1, best_epoch=0, curve=[point])
            write_json(folder / CURVE, state.curve)
        else:
            state = Trainer(network, folder, options.recipe, data.device).train(train, dev, progress, watch)
        made = {**describe_machine(data.device), "weights": sum(weight.numel() for weight in network.parameters())}
        result = TrainingResult(folder, options, state, _score_tests(network, data, tests), made)
        _write_result(result)
    return result


def _score_tests(network: torch.nn.Module, data: TrainingData, tests: Mapping[str, Inputs]) -> dict[str, FileScore]:
    scores = {}
    for name, inputs in tests.items():
        stage("scoring %s", name)
        score, pairs = score_pairs(network, inputs), data.tests[name]
        leaked = int(np.isin(pairs.keys, data.train.keys).sum())
        scores[name] = FileScore(**asdict(score), digest=pairs.digest, leaked=leaked)
    return scores


def _write_result(result: TrainingResult) -> None:
    """Write result.json and remove the checkpoint, which is no longer needed."""
    scores = {name: asdict(score) for name, score in result.scores.items()}
    fields = {"schema": SCHEMA, "state": asdict(result.state), "scores": scores, "made": dict(result.made)}
    write_json(result.folder / RESULT, fields)
    (result.folder / CHECKPOINT).unlink(missing_ok=True)


def _load_finished(options: TrainingOptions, data: TrainingData, folder: Path) -> TrainingResult:
    """The result of a finished training; test files it was not scored on are scored now."""
    file = read_own_json(folder / RESULT, ResultFile, SCHEMA, remedy="train it again in another -o")
    result = TrainingResult(folder, options, file.state, file.scores, file.made, again=True)
    log.info("%s is trained already", folder)
    digests = {name: score.digest for name, score in file.scores.items()}
    new = [name for name, pairs in data.tests.items() if digests.get(name) != pairs.digest]
    if new:
        saved = load_network(folder)
        tests = {name: data.inputs(data.tests[name], saved.reader) for name in new}
        scores = _score_tests(saved.network.to(data.device), data, tests)
        result = replace(result, scores={**file.scores, **scores}, again=False)
        _write_result(result)
    return result


def _refuse_other_training(folder: Path, record: Mapping[str, Any], *, finished: bool) -> None:
    """Refuse a folder in which something else was or is trained."""
    path = folder / OPTIONS
    if not path.is_file():
        if any(folder.glob("*.safetensors")):
            raise AcidtestError(f"{folder} holds weights that acidtest train did not put there; choose another -o")
        return
    now, before = _flatten(record), _flatten(read_json(path, dict[str, Any], remedy="choose another -o"))
    constant_rate = now["recipe.schedule"] == "constant" and not now["recipe.warmup"]
    changeable = FREE | LENGTH if constant_rate and not finished else FREE
    names = [name for name in {**before, **now} if name not in changeable and before.get(name) != now.get(name)]
    if not names:
        return
    if "architecture" in names:
        # All other differences follow from that one.
        names = ["architecture"]
    values = ((name, before.get(name, "absent"), now.get(name, "absent")) for name in names)
    different = "; ".join(f"{name} is {there} there, {here} here" for name, there, here in values)
    if finished and set(names) <= LENGTH:
        raise AcidtestError(
            f"{folder} is finished ({different}), and its checkpoint is gone; train longer in another -o"
        )
    raise AcidtestError(f"{folder} holds another training: {different}; choose another -o, or remove it")


def _flatten(options: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested options by dotted names, without nulls; tuples become lists, as in JSON."""
    flat: dict[str, Any] = {}
    for name, value in options.items():
        if isinstance(value, Mapping):
            flat |= _flatten(value, f"{prefix}{name}.")
        elif value is not None:
            flat[f"{prefix}{name}"] = list(value) if isinstance(value, tuple) else value
    return flat


def describe_machine(device: torch.device) -> dict[str, Any]:
    """The device, the threads and the versions that results depend on."""
    return {
        "device": torch.cuda.get_device_name(device) if device.type == "cuda" else _processor_name(),
        "threads": torch.get_num_threads(),
        "system": f"{platform.system()} {platform.machine()}",
        "versions": {
            "acidtest": __version__,
            "torch": torch.__version__,
            "numpy": np.__version__,
            "polars": pl.__version__,
            "python": platform.python_version(),
        },
    }


def _processor_name() -> str:
    """The processor's name according to Linux; on other systems, according to Python."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return next(iter(names), "") or platform.processor() or platform.machine()
