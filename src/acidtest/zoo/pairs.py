"""The pairs that networks are trained on, and which labels are right for each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.digests import combine_digests, digests
from acidtest.core.draws import U64
from acidtest.core.errors import AcidtestError
from acidtest.core.labels import GOLD_MASKS, TWO_WAY_LABELS, coarsen_gold, gold_masks


class PairError(AcidtestError):
    """A pair that cannot be read: its row, counted from 0, and what is wrong with it."""

    def __init__(self, row: int, problem: str) -> None:
        self.row = row
        self.problem = problem
        super().__init__(f"pair {row + 1:,}: {problem}")


@dataclass(frozen=True)
class TrainingPairs:
    """Pairs: premise, hypothesis, further columns that networks read, and label, the name of a gold set.

    The columns source and row say which file or suite a pair comes from, and which row it has there.
    """

    frame: pl.DataFrame

    def __len__(self) -> int:
        return self.frame.height

    @cached_property
    def digest(self) -> str:
        """A digest of the pairs that does not depend on their order."""
        return combine_digests(digests(*self.frame.drop("source", "row", strict=False).iter_columns()))

    @property
    def labels(self) -> dict[str, int]:
        """The number of pairs of each label, in the order of gold sets."""
        counts = dict(self.frame["label"].value_counts().iter_rows())
        return {name: counts[name] for name in GOLD_MASKS if name in counts}

    @property
    def summary(self) -> dict[str, Any]:
        """The number of pairs and their digest, for training.json."""
        return {"pairs": len(self), "digest": self.digest}

    @cached_property
    def keys(self) -> U64:
        """A digest of the two sentences of each pair, whatever its label."""
        return digests(self.frame["premise"], self.frame["hypothesis"])

    @contextmanager
    def locate_errors(self) -> Iterator[None]:
        """Turn a ``PairError`` raised inside the block into an error that names the file of the pair."""
        try:
            yield
        except PairError as error:
            if "source" not in self.frame.columns:
                raise
            source, row = self.frame["source"][error.row], self.frame["row"][error.row]
            raise AcidtestError(f"{source}, pair {row + 1:,}: {error.problem}") from None

    def only(self, kept: npt.NDArray[np.bool_]) -> TrainingPairs:
        return TrainingPairs(self.frame.filter(pl.Series(kept)))

    def targets(self, labels: Sequence[str]) -> npt.NDArray[np.bool_]:
        """bool[pairs, labels]: which of a network's labels are right for each pair."""
        gold = gold_masks(self.frame["label"].to_list())
        gold = coarsen_gold(gold) if tuple(labels) == TWO_WAY_LABELS else gold
        label_masks = np.array([GOLD_MASKS[label] for label in labels], dtype=np.uint8)
        right: npt.NDArray[np.bool_] = (gold[:, None] & label_masks) == label_masks
        for row in np.flatnonzero(right.all(axis=1))[:1]:
            name = self.frame["label"][int(row)]
            raise PairError(int(row), f"label {name!r} teaches nothing of {', '.join(labels)}; leave such pairs out")
        return right


def select_pairs(frame: pl.DataFrame, columns: Sequence[str], name: str) -> TrainingPairs:
    """The pairs of the file ``name``: the two sentences, these columns and the label."""
    names = list(dict.fromkeys(("premise", "hypothesis", *columns, "label")))
    origin = {"source": pl.lit(name), "row": pl.int_range(pl.len())}
    return TrainingPairs(frame.select(*names, **origin))


def visible_text(frame: pl.DataFrame, *, hypothesis_only: bool) -> pl.DataFrame:
    """What a network sees: all, or empty premises (Poliak et al. 2018; Gururangan et al. 2018)."""
    hidden = [name for name in frame.columns if name.startswith("premise")] if hypothesis_only else []
    return frame.with_columns(pl.lit("").alias(name) for name in hidden)
