"""What a recipe asks of the optimizer, step by step."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'acidtest[zoo]'")
pytest.importorskip("safetensors", reason="safetensors is not installed: pip install 'acidtest[zoo]'")

from acidtest.zoo.batches import (  # noqa: E402
    Inputs,
    Ints,
    SentencePairs,
)
from acidtest.zoo.trainer import Trainer, TrainerOptions  # noqa: E402

CPU = torch.device("cpu")


class Steep(torch.nn.Module):  # type: ignore[misc]
    """Two weights with a gradient of (-60, -1.5) on a pair whose second label is right."""

    def __init__(self) -> None:
        super().__init__()
        self.weights = torch.nn.Parameter(torch.zeros(2))

    def forward(self, batch: Any) -> Any:
        score = self.weights @ torch.tensor([120.0, 3.0])
        return torch.stack([-score * 0, score])[None].expand(len(batch.rows), 2)


class Pairs(Inputs):
    """One pair, whose right label is the second, or now the first and now the second."""

    def __init__(self, right: int = 1) -> None:
        super().__init__(np.ones(1, dtype=np.int64), np.array([[right == 0, right == 1]]), CPU)

    def _read(self, rows: Ints, device_rows: Any, targets: Any) -> SentencePairs:
        nothing: Any = None
        return SentencePairs(rows, targets, nothing, nothing)


def stepped(folder: Path, **recipe: Any) -> list[float]:
    """The weights after one step by plain descent, at a rate of 1, or as the recipe has it."""
    network = Steep()
    told: dict[str, Any] = {"optimizer": "sgd", "learning_rate": 1.0, "epochs": 1}
    Trainer(network, folder, TrainerOptions(**told | recipe), CPU).train(Pairs(), None)
    return [round(value, 4) for value in network.weights.tolist()]


def test_gradients_are_clipped_by_their_norm_or_each_by_its_own_value(tmp_path: Path) -> None:
    # The gradient (-60, -1.5) has a norm of 60.01875.
    assert stepped(tmp_path / "norm", clip=5.0) == [4.9984, 0.125]
    assert stepped(tmp_path / "value", clip=5.0, clip_by="value") == [5.0, 1.5]


def test_adagrad_begins_with_what_the_recipe_says(tmp_path: Path) -> None:
    # A first step is rate · g / √(beginning + g²): the whole rate from nought.
    own = {"optimizer": "adagrad", "learning_rate": 0.01, "clip": 1e9}
    assert stepped(tmp_path / "nought", accumulated=0.0, **own) == [0.01, 0.01]
    assert stepped(tmp_path / "some", accumulated=10.0, **own) == [0.01, round(0.01 * 1.5 / 12.25**0.5, 4)]


def test_the_rate_shrinks_after_every_epoch_that_is_not_the_best(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Against the best of all epochs before, as in Chen et al.'s and AllenNLP's ESIM and in InferSent."""
    from acidtest.zoo import trainer as trainer_module

    accuracies = iter([50, 40, 45, 45, 60])
    monkeypatch.setattr(trainer_module, "score_pairs", lambda *_: trainer_module.PairScore(next(accuracies), 100, 0.0))
    trainer = Trainer(Steep(), tmp_path, TrainerOptions(epochs=5, shrink=0.5, patience=9), CPU)
    scales = list[float]()
    trainer.train(Pairs(), Pairs(), watch=lambda told: scales.append(trainer.state.scale))
    assert scales == [1, 0.5, 0.25, 0.125, 0.125]
