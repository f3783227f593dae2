"""Runs of eight models on a small battery, for the promises that every study makes."""

from __future__ import annotations

import functools
import re
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import acidtest

SUITES = {
    "cues": 1,
    "premises": 24,
    "hans": 10,
    "hans/novel": 10,
    "hans:words=published": 10,
    "hans/novel:words=published": 10,
    "stress/negation": 24,
    "stress/spelling": 24,
    "stress/antonymy": 24,
    "stress/numerical": 24,
    "lexical": 24,
    "swaps/antonyms-in-situ": 24,
    "swaps/antonyms-ex-situ": 24,
    "taxonomy/tagged": 60,
    "consistency/sets": 24,
    "grounding/claims": 60,
    "grounding/number": 200,
}
"""Suites of the battery with their options, and the number of rows per cell or of pairs that are used."""

MODELS = (
    "first",
    "second",
    "a-model-whose-name-is-as-long-as-names-on-a-hub-are",
    "d",
    "e",
    "f",
    "g",
    "the/eighth:one",
)


class ScatteredAnswers:
    """A model that answers by a hash of its name and the pair, so that all models differ and none is useless."""

    def __init__(self, name: str) -> None:
        self.name = name

    def predict(self, premises: Sequence[str], hypotheses: Sequence[str]) -> np.ndarray:
        pairs = zip(premises, hypotheses, strict=True)
        seeds = [zlib.crc32(f"{self.name}|{premise}|{hypothesis}".encode()) for premise, hypothesis in pairs]
        scores = np.array([[seed % 7, seed // 7 % 5, seed // 35 % 3] for seed in seeds], dtype=np.float32) + 0.1
        return (scores / scores.sum(axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture(scope="session")
def suite_files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The files of the battery."""
    folder = tmp_path_factory.mktemp("suites")
    paths = {name: folder / f"{re.sub(r'[/:=]', '-', name)}.parquet" for name in SUITES}
    for name, path in paths.items():
        suite, _, options = name.partition(":")
        arguments = dict([options.split("=")]) if options else {}
        acidtest.save(acidtest.generate(suite, n=SUITES[name], at_most=True, arguments=arguments), path)
    return [str(path) for path in paths.values()]


@pytest.fixture(scope="session")
def tiny_run(suite_files: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run on two pairs of each suite, so that most slices are empty."""
    folder = tmp_path_factory.mktemp("tiny")
    return acidtest.run(
        ScatteredAnswers("first"), suites=suite_files, limit=2, output=folder / "run", page=False
    ).folder


@pytest.fixture(scope="session")
def study_runs(suite_files: list[str], tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The folders of eight models' runs on the same battery, the first with its page."""
    folder = tmp_path_factory.mktemp("studies")
    run = functools.partial(acidtest.run, suites=suite_files)
    return [
        run(ScatteredAnswers(name), output=folder / f"run-{number}", page=number == 0).folder
        for number, name in enumerate(MODELS)
    ]
