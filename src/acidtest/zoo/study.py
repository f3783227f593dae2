"""One training: what it is made of, from pairs to a folder that ``zoo:`` reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch

from acidtest.core.files import Lock, read_versioned, write_json
from acidtest.core.labels import LABELS
from acidtest.core.logs import log, stage
from acidtest.zoo.batches import Inputs
from acidtest.zoo.catalogue import architecture
from acidtest.zoo.claims import claim
from acidtest.zoo.machines import machine
from acidtest.zoo.pairs import MERGED, Pairs, shown
from acidtest.zoo.readers import Reader
from acidtest.zoo.saved import SCHEMA, Config, load, save_config, save_weights
from acidtest.zoo.training import (
    CHECKPOINT,
    CURVE,
    Progress,
    Recipe,
    Score,
    State,
    Trainer,
    Watch,
    device_of,
    scored_pairs,
)

RESULT = "result.json"
"""What came of a training; a folder that has it is finished."""


@dataclass(frozen=True)
class Study:
    """What is trained: an architecture with its settings, on words that begin somehow, by a recipe."""

    architecture: str
    settings: Mapping[str, Any]
    recipe: Recipe
    embeddings: str = "random"
    dimensions: int = 100
    embeddings_tuned: bool = True
    more_words: int = 50_000
    """How many of the first words of a file of vectors are known besides those of the training pairs."""
    merged: bool = False
    hypothesis_only: bool = False
    device: str = "auto"

    @property
    def columns(self) -> tuple[str, ...]:
        """What the network reads of a pair."""
        found: tuple[str, ...] = architecture(self.architecture).reader.columns
        return found

    @property
    def may_lack(self) -> tuple[str, ...]:
        """Columns that pairs may lack as far as files go; ``check`` says whether the network can do without."""
        found: tuple[str, ...] = getattr(architecture(self.architecture).reader, "may_lack", ())
        return found

    def check(self, pairs: Pairs) -> None:
        """Raise ``PairError`` for the first pair that the network cannot read."""
        check = getattr(architecture(self.architecture).reader, "check", None)
        if check is not None:
            check(self, shown(pairs.frame, hypothesis_only=self.hypothesis_only))

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels the network tells apart."""
        return MERGED if self.merged else LABELS

    def told(self, train: Pairs, dev: Pairs | None) -> dict[str, Any]:
        """All that decides what comes out."""
        return {**asdict(self), "train": train.told, "dev": None if dev is None else dev.told}


@dataclass(frozen=True)
class Trained:
    """What came of a training."""

    folder: Path
    study: Study
    state: State
    scores: Mapping[str, Score]
    made: Mapping[str, Any]
    """On what machine, with which versions, how many weights."""
    again: bool = False
    """Whether all was there already."""

    @property
    def best(self) -> Mapping[str, float]:
        """The point of the curve whose weights were kept."""
        return self.state.curve[self.state.best_epoch]

    @property
    def seconds(self) -> float:
        """How long learning took, over all times the training was gone on with."""
        return sum(point.get("seconds", 0.0) for point in self.state.curve)


def trained(
    study: Study,
    train: Pairs,
    *,
    dev: Pairs | None,
    tests: Mapping[str, Pairs],
    folder: Path,
    progress: Progress = lambda done, total: None,
    watch: Watch = lambda told: None,
) -> Trained:
    """Train in a folder, go on with what is there, or tell what came of it; then score the pairs of ``tests``."""
    folder.mkdir(parents=True, exist_ok=True)
    with Lock(folder):
        claim(folder, study.told(train, dev), finished=(folder / RESULT).is_file())
        if (folder / RESULT).is_file():
            return _finished(study, tests, folder)
        device = device_of(study.device)
        kind = architecture(study.architecture)
        stage("reading words")
        with train.named():
            reader: Reader = kind.reader.begun(study, shown(train.frame, hypothesis_only=study.hypothesis_only))
        config = Config(study.architecture, study.labels, dict(study.settings), study.hypothesis_only)
        save_config(folder, config, reader)
        torch.manual_seed(study.recipe.seed)
        network = config.network(reader)
        inputs = _Inputs(study, reader, device)
        learnt, watched = inputs(train), None if dev is None else inputs(dev)
        if kind.fitted is not None:
            kind.fitted(network.to(device), learnt)
            save_weights(folder, network)
            state = State(epoch=1, best_epoch=0, curve=[_point(network, learnt, watched)])
            write_json(folder / CURVE, state.curve)
        else:
            state = Trainer(network, folder, study.recipe, device).train(learnt, watched, progress, watch)
        scores = _scores(network, inputs, tests, device)
        made = {**machine(device), "weights": sum(weight.numel() for weight in network.parameters())}
        found = Trained(folder, study, state, scores, made)
        _write_result(found, tests)
    return found


def _scores(
    network: torch.nn.Module, inputs: _Inputs, tests: Mapping[str, Pairs], device: torch.device
) -> dict[str, Score]:
    scores = {}
    for name, pairs in tests.items():
        stage("scoring %s", name)
        scores[name] = scored_pairs(network, inputs(pairs), device)
    return scores


def _write_result(found: Trained, tests: Mapping[str, Pairs]) -> None:
    """Write what came of a training; what it could have gone on from is no longer needed then."""
    scores = {name: {**asdict(score), "digest": tests[name].digest} for name, score in found.scores.items()}
    told = {"schema": SCHEMA, "state": asdict(found.state), "scores": scores, "made": dict(found.made)}
    write_json(found.folder / RESULT, told)
    (found.folder / CHECKPOINT).unlink(missing_ok=True)


def _finished(study: Study, tests: Mapping[str, Pairs], folder: Path) -> Trained:
    """What came of a training that is over; pairs it was not scored on are scored now."""
    told = read_versioned(folder / RESULT, SCHEMA)
    known = {
        name: Score(own["right"], own["pairs"], own["loss"])
        for name, own in told["scores"].items()
        if name in tests and own["digest"] == tests[name].digest
    }
    found = Trained(folder, study, State(**told["state"]), known, told["made"], again=True)
    new = {name: pairs for name, pairs in tests.items() if name not in known}
    log.info("%s is trained already", folder)
    if new:
        device, saved = device_of(study.device), load(folder)
        inputs = _Inputs(study, saved.reader, device)
        scores = known | _scores(saved.network.to(device), inputs, new, device)
        found = replace(found, scores={name: scores[name] for name in tests}, again=False)
        _write_result(found, tests)
    return found


def _point(network: torch.nn.Module, train: Inputs, dev: Inputs | None) -> dict[str, float]:
    """The only point of the curve of what is fitted at once."""
    told = {"epoch": 1.0, "loss": scored_pairs(network, train, train.device).loss}
    if dev is not None:
        found = scored_pairs(network, dev, dev.device)
        told |= {"dev_accuracy": found.accuracy, "dev_loss": found.loss}
    return told


@dataclass(frozen=True)
class _Inputs:
    """Makes of pairs what a network reads."""

    study: Study
    reader: Reader
    device: torch.device

    def __call__(self, pairs: Pairs) -> Inputs:
        frame = shown(pairs.frame, hypothesis_only=self.study.hypothesis_only)
        with pairs.named():
            return self.reader.inputs(frame, pairs.targets(self.study.labels), self.device)


def with_seed(study: Study, seed: int) -> Study:
    """The same training by other chances."""
    return replace(study, recipe=replace(study.recipe, seed=seed))
