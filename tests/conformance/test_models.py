"""What every model promises, run over the registry."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from acidtest import api
from acidtest.core.model import MODELS, Model, model_from_spec
from acidtest.models.baseline import BASELINES

FUNCTION = """
def predict(premises, hypotheses):
    return [[0.2, 0.3, 0.5] if len(p) % 2 else [0.6, 0.3, 0.1] for p in premises]
"""


def answers_spec(folder: Path) -> str:
    frame = api.generate("hans", n=2).frame.collect()
    path = folder / "answers.csv"
    path.write_text("id,label\n" + "".join(f"{row},neutral\n" for row in frame["id"]))
    return f"answers:{path}"


def python_spec(folder: Path) -> str:
    (folder / "conforming_model.py").write_text(FUNCTION)
    return "python:conforming_model:predict"


SPECS: dict[str, Callable[[Path], str]] = {
    **{f"baseline:{name}": lambda folder, name=name: f"baseline:{name}" for name in BASELINES},
    "answers": answers_spec,
    "python": python_spec,
}


@pytest.fixture(params=SPECS)
def model(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Model:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return model_from_spec(SPECS[request.param](tmp_path))


def test_every_kind_of_model_is_tested_here() -> None:
    assert {name.partition(":")[0] for name in SPECS} == set(MODELS)


def predictions(model: Model) -> np.ndarray:
    frame = api.generate("hans", n=2).frame.collect()
    return model.predict(*(frame[name].to_list() for name in model.columns))


def test_predictions_are_three_probabilities_a_row(model: Model) -> None:
    values = predictions(model)
    assert values.shape == (60, 3)
    assert values.dtype == np.float32
    unanswered = np.isnan(values).all(axis=1)
    assert model.may_abstain or not unanswered.any()
    values = values[~unanswered]
    assert np.allclose(values.sum(axis=1), 1)
    assert (values >= 0).all()


def test_predictions_do_not_depend_on_the_batch(model: Model) -> None:
    frame = api.generate("hans", n=2).frame.collect()
    one_by_one = [model.predict(*([frame[name][row]] for name in model.columns))[0] for row in range(10)]
    assert np.array_equal(np.array(one_by_one), predictions(model)[:10], equal_nan=True)


def test_a_model_says_what_it_is(model: Model) -> None:
    assert model.name
    assert model.fingerprint
    assert model.resolution in ("three-way", "two-way")
    assert model.batch_size >= 1


def test_a_model_that_gives_labels_gives_rows_of_one_one(model: Model) -> None:
    if not model.probabilities:
        values = predictions(model)
        assert set(values[~np.isnan(values).all(axis=1)].ravel().tolist()) <= {0.0, 1.0}
