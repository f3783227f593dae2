"""Options that the training commands share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from acidtest.core.errors import AcidtestError

Train = Annotated[list[Path] | None, typer.Option("--train", help="Pairs to learn from; may be repeated.")]
Dev = Annotated[Path | None, typer.Option("--dev", help="Pairs that tell when to stop; the best epoch is kept.")]


@dataclass(frozen=True)
class NetworkOptions:
    """How a network reads words and how it learns; None leaves the choice to the preset."""

    embeddings: Annotated[
        str | None, typer.Option("--embeddings", help="random, or a file of vectors: GloVe, word2vec, JSON, .npz.")
    ] = None
    dimensions: Annotated[int | None, typer.Option("--dimensions", help="Numbers of a random vector.", min=1)] = None
    tuned: Annotated[
        bool | None, typer.Option("--tuned/--fixed", help="Whether vectors are learnt further or stay as they are.")
    ] = None
    epochs: Annotated[int | None, typer.Option("--epochs", help="The most epochs.", min=1)] = None
    batch_size: Annotated[int | None, typer.Option("--batch-size", help="Pairs learnt from at once.", min=1)] = None
    learning_rate: Annotated[float | None, typer.Option("--learning-rate", help="How far a step goes.")] = None
    patience: Annotated[
        int | None, typer.Option("--patience", help="Stop after so many epochs without a better score on --dev.", min=1)
    ] = None
    precision: Annotated[
        str | None, typer.Option("--precision", help="auto, full or bf16: of products while learning.")
    ] = None
    seeds: Annotated[str, typer.Option("--seeds", help="Train once for each seed: 0,1,2.")] = "0"
    device: Annotated[str | None, typer.Option("--device", help="auto, cpu, cuda or cuda:1.")] = None

    @property
    def recipe(self) -> Mapping[str, Any]:
        """The settings of the trainer's recipe that were given."""
        names = ("epochs", "batch_size", "learning_rate", "patience", "precision")
        return {name: getattr(self, name) for name in names if getattr(self, name) is not None}

    @property
    def settings(self) -> Mapping[str, Any]:
        """The settings of word vectors and device, None where not given."""
        return {
            "embeddings": self.embeddings,
            "dimensions": self.dimensions,
            "embeddings_tuned": self.tuned,
            "device": self.device,
        }


def whole_numbers(text: str, option: str) -> tuple[int, ...]:
    """The whole numbers in a comma-separated text."""
    try:
        return tuple(int(part) for part in text.split(",") if part.strip())
    except ValueError as error:
        raise AcidtestError(f"{option} is a list of different whole numbers, such as 1,2, not {text!r}") from error
