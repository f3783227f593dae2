"""Pieces of networks: in what precision LSTMs compute."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'acidtest[zoo]'")

from acidtest.zoo.catalogue import architecture, architectures  # noqa: E402
from acidtest.zoo.trainer import TrainerOptions, precision  # noqa: E402
from acidtest.zoo.training import TrainingOptions  # noqa: E402

CPU = torch.device("cpu")

RECURRENT = sorted(set(architectures()) - {"bert", "naive-bayes", "cbow", "decomposable-attention", "spinn"})

PAIRS = pl.DataFrame(
    {"premise": ["a man is playing the guitar", "two dogs run"], "hypothesis": ["a man sleeps", "animals move around"]}
)


@pytest.mark.parametrize("name", RECURRENT)
def test_lstms_compute_in_full_precision_whatever_products_around_them_do(name: str) -> None:
    kind = architecture(name)
    reader = kind.reader.for_training(TrainingOptions(name, {}, TrainerOptions(), dimensions=8), PAIRS)
    sizes = {"hidden": ("6", "4"), "layer": 4} if name == "shortcut-stacked" else {"hidden": 6}
    network = kind.network(reader.basis(3), **sizes)
    seen, products = list[Any](), list[Any]()
    for part in network.modules():
        if isinstance(part, torch.nn.LSTM):
            part.register_forward_hook(
                lambda _, given, found: seen.extend([given[0].data, found[0].data, *found[1], *_flat(given[1:])])
            )
        if isinstance(part, torch.nn.Linear):
            part.register_forward_hook(lambda _, __, found: products.append(found))
    with precision(CPU, "bf16"):
        scores = network(reader.inputs(PAIRS, None, CPU).batch(torch.arange(2).numpy()))
    scores.float().sum().backward()
    assert len(seen) >= 8
    assert {each.dtype for each in seen} == {torch.float32}
    assert {each.dtype for each in products} == {torch.bfloat16}


def _flat(given: tuple[Any, ...]) -> list[Any]:
    """The states that an LSTM begins with, where it is given any."""
    return [each for state in given if state is not None for each in state]
