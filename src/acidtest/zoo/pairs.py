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

Ints = npt.NDArray[np.int64]


class PairError(AcidtestError):
    """A pair that cannot be read: its row, counted from 0, and what is wrong with it."""

    def __init__(self, row: int, problem: str) -> None:
        self.row = row
        self.problem = problem
        super().__init__(f"pair {row + 1:,}: {problem}")


@dataclass(frozen=True)
class TrainingPairs:
    """Columns of pairs: premise, hypothesis, further columns that networks read, and label, the name of a gold set."""

    frame: pl.DataFrame
    origins: tuple[tuple[str, int], ...] = ()
    """The files and suites that the pairs come from, in order, and the number of pairs of each."""
    rows: Ints | None = None
    """The row of each pair in its file or suite; None where no row was left out."""

    def __len__(self) -> int:
        return self.frame.height

    @cached_property
    def digest(self) -> str:
        """A digest of the pairs that does not depend on their order."""
        return combine_digests(digests(*self.frame.iter_columns()))

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
            before = 0
            for name, count in self.origins:
                if error.row < before + count:
                    row = error.row - before if self.rows is None else int(self.rows[error.row])
                    raise AcidtestError(f"{name}, pair {row + 1:,}: {error.problem}") from None
                before += count
            raise

    def only(self, kept: npt.NDArray[np.bool_]) -> TrainingPairs:
        """Some of the pairs of one file, which remember their rows there."""
        origins = tuple((name, int(kept.sum())) for name, _ in self.origins)
        return TrainingPairs(self.frame.filter(pl.Series(kept)), origins, self.source_rows[kept])

    @property
    def source_rows(self) -> Ints:
        """The row of each pair in its file, for pairs of one file."""
        return np.arange(len(self)) if self.rows is None else self.rows

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
    return TrainingPairs(frame.select(names), ((name, frame.height),))


def visible_text(frame: pl.DataFrame, *, hypothesis_only: bool) -> pl.DataFrame:
    """What a network sees: all, or empty premises (Poliak et al. 2018; Gururangan et al. 2018)."""
    hidden = [name for name in frame.columns if name.startswith("premise")] if hypothesis_only else []
    return frame.with_columns(pl.lit("").alias(name) for name in hidden)
