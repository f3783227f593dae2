"""A verifier that calls every wrong claim neutral is right about claims in every command, whatever gold is called."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

import acidtest
from acidtest.core.errors import AcidtestError
from acidtest.core.run import Run
from acidtest.core.study import STUDIES
from acidtest.models.harness_tasks import TaskRecipe
from acidtest.studies.errors.samples import sample_errors
from acidtest.studies.scores import score_run
from acidtest.studies.scoring.slices import mistakes

SUITE = "grounding/number"


class Verifier:
    """Supports the claims it was told to, and calls all others neutral, never a contradiction."""

    fingerprint, columns = None, ("premise", "hypothesis")
    resolution, probabilities, may_abstain = "three-way", True, False

    def __init__(self, name: str, supported: dict[tuple[str, str], bool]) -> None:
        self.name, self._supported = name, supported

    def predict(self, premises: list[str], hypotheses: list[str]) -> np.ndarray:
        pairs = zip(premises, hypotheses, strict=True)
        return np.array([(0.8, 0.15, 0.05) if self._supported[pair] else (0.1, 0.8, 0.1) for pair in pairs], np.float32)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> SimpleNamespace:
    """A verifier that rejects all wrong numbers, and one that accepts all of them."""
    folder = tmp_path_factory.mktemp("claims")
    suite = acidtest.generate(SUITE)
    frames = [part.frame.select("premise", "hypothesis", "label").collect() for part in (suite, suite.control)]
    frame = pl.concat(frames)
    gold = dict(zip(frame.select("premise", "hypothesis").iter_rows(), frame["label"] == "entailment", strict=True))
    wrong = set(frames[0].select("premise", "hypothesis").iter_rows())
    careless = {pair: supported or pair in wrong for pair, supported in gold.items()}
    for name, verdicts in (("careful", gold), ("careless", careless)):
        acidtest.run(Verifier(name, verdicts), suite, output=folder / name, page=False)
    return SimpleNamespace(careful=Run.read(folder / "careful"), careless=Run.read(folder / "careless"), folder=folder)


def test_scores_count_a_contradiction_called_neutral_as_right(runs: SimpleNamespace) -> None:
    assert set(runs.careful.rows(SUITE)["label"]) == {"contradiction"}
    assert set(runs.careful.rows(SUITE)["answer"]) == {"neutral"}
    scores = score_run(runs.careful)
    assert scores.suites[SUITE].overall.value == 1
    assert mistakes(runs.careful, SUITE, None) == (0, ())
    assert mistakes(runs.careless, SUITE, None)[0] == runs.careless.rows(SUITE).height


def test_compare_finds_the_difference(runs: SimpleNamespace) -> None:
    result = STUDIES["comparison"].compute([runs.careful, runs.careless])
    whole = next(one for one in result.contrasts if (one.suite, one.factor) == (SUITE, ""))
    assert (whole.accuracies, whole.verdict) == ((1.0, 0.0), "worse")


def test_errors_are_only_claims_that_were_wrongly_accepted_or_rejected(runs: SimpleNamespace) -> None:
    with pytest.raises(AcidtestError, match="made no errors"):
        sample_errors(runs.careful, n=10, suites=[SUITE])
    errors = sample_errors(runs.careless, n=500, suites=[SUITE])
    assert set(errors["answer"]) == {"entailment"}


def test_a_run_that_was_written_by_three_labels_is_read_by_two(runs: SimpleNamespace, tmp_path: Path) -> None:
    old = Run(runs.careful.header, runs.careful.predictions.with_columns(correct=pl.col("answer") == pl.col("label")))
    written = old.write_predictions(tmp_path)
    written.write_header(tmp_path)
    assert not pl.read_parquet(tmp_path / "predictions.parquet").filter(suite=SUITE)["correct"].any()
    assert Run.read(tmp_path).rows(SUITE)["correct"].all()
    assert mistakes(Run.read(tmp_path), SUITE, None) == (0, ())


def test_harnesses_judge_claims_by_two_labels_whatever_the_prompt() -> None:
    three = {"yes": "entailment", "maybe": "neutral", "no": "contradiction"}
    assert TaskRecipe(SUITE, choices=three).judged_by == "two-way"
    assert TaskRecipe("hans", choices=three).judged_by == "three-way"
