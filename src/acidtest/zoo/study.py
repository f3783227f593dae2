"""One training: what it is made of, from pairs to a folder that ``zoo:`` reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import torch

from acidtest.core.files import Lock, write_json
from acidtest.core.labels import LABELS
from acidtest.core.logs import log, stage
from acidtest.core.structured import read_own_json
from acidtest.zoo.batches import Inputs
from acidtest.zoo.catalogue import architecture
from acidtest.zoo.claims import claim, refuse_others
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
        """Columns that files may lack; the reader says whether the network can do without."""
        found: tuple[str, ...] = getattr(architecture(self.architecture).reader, "may_lack", ())
        return found

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels the network tells apart."""
        return MERGED if self.merged else LABELS

    def told(self, train: Pairs, dev: Pairs | None) -> dict[str, Any]:
        """All that decides what comes out."""
        return {**asdict(self), "train": train.told, "dev": None if dev is None else dev.told}


@dataclass(frozen=True)
class Tested(Score):
    """A score with a digest of the pairs it is of, and how many of them were also learnt from."""

    digest: str = ""
    leaked: int = 0


@dataclass(frozen=True)
class TrainingResult:
    """What result.json holds."""

    state: State
    scores: dict[str, Tested]
    made: dict[str, Any]


@dataclass(frozen=True)
class Trained:
    """What came of a training."""

    folder: Path
    study: Study
    state: State
    scores: Mapping[str, Tested]
    """Of all pairs that the network was ever scored on in its folder."""
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


@dataclass(frozen=True)
class Lesson:
    """What networks of all seeds learn from and are scored on; read once, when the first of them is trained."""

    study: Study
    train: Pairs
    dev: Pairs | None = None
    tests: Mapping[str, Pairs] = field(default_factory=dict)

    @cached_property
    def device(self) -> torch.device:
        """Where it is trained."""
        return device_of(self.study.device)

    @cached_property
    def reader(self) -> Reader:
        """What reads the pairs."""
        stage("reading words")
        with self.train.named():
            reader: Reader = architecture(self.study.architecture).reader.begun(self.study, self._shown)
        return reader

    @cached_property
    def learnt(self) -> Inputs:
        """The pairs to learn from."""
        with self.train.named():
            return self.reader.inputs(self._shown, self.train.targets(self.study.labels), self.device)

    @cached_property
    def watched(self) -> Inputs | None:
        """The pairs that tell when to stop."""
        return None if self.dev is None else self.inputs(self.dev, self.reader)

    @cached_property
    def scored(self) -> dict[str, Inputs]:
        """The pairs to score at the end."""
        return {name: self.inputs(pairs, self.reader) for name, pairs in self.tests.items()}

    def inputs(self, pairs: Pairs, reader: Reader) -> Inputs:
        """Pairs as a network reads them."""
        frame = shown(pairs.frame, hypothesis_only=self.study.hypothesis_only)
        with pairs.named():
            return reader.inputs(frame, pairs.targets(self.study.labels), self.device)

    def leaked(self, name: str) -> int:
        """How many pairs of a test are also learnt from."""
        return int(np.isin(self.tests[name].keys, self.train.keys).sum())

    @cached_property
    def _shown(self) -> pl.DataFrame:
        return shown(self.train.frame, hypothesis_only=self.study.hypothesis_only)


def trained(
    lesson: Lesson,
    *,
    seed: int,
    folder: Path,
    progress: Progress = lambda done, total: None,
    watch: Watch = lambda told: None,
) -> Trained:
    """Train in a folder, go on with what is there, or tell what came of it; then score the pairs of tests."""
    study = replace(lesson.study, recipe=replace(lesson.study.recipe, seed=seed))
    told = study.told(lesson.train, lesson.dev)
    folder.mkdir(parents=True, exist_ok=True)
    with Lock(folder):
        finished = (folder / RESULT).is_file()
        refuse_others(folder, told, finished=finished)
        if finished:
            return _finished(study, lesson, folder)
        # All pairs are read before anything is written and learnt: a mistake is told at once, and claims no folder.
        reader, learnt, watched, scored = lesson.reader.seeded(seed), lesson.learnt, lesson.watched, lesson.scored
        config = Config(study.architecture, study.labels, dict(study.settings), study.hypothesis_only)
        torch.manual_seed(seed)
        network = config.network(reader)
        claim(folder, told)
        save_config(folder, config, reader)
        fitted = config.kind.fitted
        if fitted is not None:
            fitted(network.to(lesson.device), learnt)
            save_weights(folder, network)
            state = State(epoch=1, best_epoch=0, curve=[_point(network, learnt, watched)])
            write_json(folder / CURVE, state.curve)
        else:
            state = Trainer(network, folder, study.recipe, lesson.device).train(learnt, watched, progress, watch)
        made = {**machine(lesson.device), "weights": sum(weight.numel() for weight in network.parameters())}
        found = Trained(folder, study, state, _scores(network, lesson, scored), made)
        _write_result(found)
    return found


def _scores(network: torch.nn.Module, lesson: Lesson, asked: Mapping[str, Inputs]) -> dict[str, Tested]:
    scores = {}
    for name, inputs in asked.items():
        stage("scoring %s", name)
        found = scored_pairs(network, inputs, lesson.device)
        scores[name] = Tested(**asdict(found), digest=lesson.tests[name].digest, leaked=lesson.leaked(name))
    return scores


def _write_result(found: Trained) -> None:
    """Write what came of a training; what it could have gone on from is no longer needed then."""
    scores = {name: asdict(score) for name, score in found.scores.items()}
    told = {"schema": SCHEMA, "state": asdict(found.state), "scores": scores, "made": dict(found.made)}
    write_json(found.folder / RESULT, told)
    (found.folder / CHECKPOINT).unlink(missing_ok=True)


def _finished(study: Study, lesson: Lesson, folder: Path) -> Trained:
    """What came of a training that is over; pairs it was not scored on are scored now."""
    kept = read_own_json(folder / RESULT, TrainingResult, SCHEMA, remedy="train it again in another -o")
    known = kept.scores
    found = Trained(folder, study, kept.state, known, kept.made, again=True)
    log.info("%s is trained already", folder)
    new = [name for name, pairs in lesson.tests.items() if name not in known or known[name].digest != pairs.digest]
    if new:
        saved = load(folder)
        inputs = {name: lesson.inputs(lesson.tests[name], saved.reader) for name in new}
        scores = _scores(saved.network.to(lesson.device), lesson, inputs)
        found = replace(found, scores={**known, **scores}, again=False)
        _write_result(found)
    return found


def _point(network: torch.nn.Module, train: Inputs, dev: Inputs | None) -> dict[str, float]:
    """The only point of the curve of what is fitted at once."""
    told = {"epoch": 1.0, "loss": scored_pairs(network, train, train.device).loss}
    if dev is not None:
        found = scored_pairs(network, dev, dev.device)
        told |= {"dev_accuracy": found.accuracy, "dev_loss": found.loss}
    return told
