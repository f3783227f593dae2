"""Options that all commands that train have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from acidtest.core.errors import AcidtestError

Train = Annotated[list[Path] | None, typer.Option("--train", help="Pairs to learn from; may be repeated.")]
Dev = Annotated[Path | None, typer.Option("--dev", help="Pairs that tell when to stop; the best is kept.")]
Embeddings = Annotated[
    str | None, typer.Option("--embeddings", help="random, or a file of vectors: GloVe, word2vec, JSON, .npz.")
]
Dimensions = Annotated[int | None, typer.Option("--dimensions", help="Numbers of a random vector.", min=1)]
Tuned = Annotated[
    bool | None, typer.Option("--tuned/--fixed", help="Whether vectors are learnt further or stay as they are.")
]
Epochs = Annotated[int | None, typer.Option("--epochs", help="At most so many.", min=1)]
BatchSize = Annotated[int | None, typer.Option("--batch-size", help="Pairs learnt from at once.", min=1)]
LearningRate = Annotated[float | None, typer.Option("--learning-rate", help="How far a step goes.")]
Patience = Annotated[
    int | None, typer.Option("--patience", help="Epochs without a better score on --dev, then it ends.", min=1)
]
Precision = Annotated[str | None, typer.Option("--precision", help="auto, full or bf16: of products while learning.")]
Device = Annotated[str | None, typer.Option("--device", help="auto, cpu, cuda or cuda:1.")]


def given(**values: Any) -> dict[str, Any]:
    """Those of some values that were given."""
    return {name: value for name, value in values.items() if value is not None}


def whole_numbers(text: str, option: str) -> tuple[int, ...]:
    """Whole numbers with commas between them."""
    try:
        return tuple(int(part) for part in text.split(",") if part.strip())
    except ValueError as error:
        raise AcidtestError(f"{option} is a list of different whole numbers, such as 1,2, not {text!r}") from error
