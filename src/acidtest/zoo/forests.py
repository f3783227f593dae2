"""Pairs of trees as a network reads them: all nodes of a batch that stand equally high are joined at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import polars as pl
import torch

from acidtest.core.logs import note
from acidtest.models.encoders.devices import on_device
from acidtest.text.packed import between
from acidtest.zoo.batches import Inputs, Ints, Targets
from acidtest.zoo.readers import WordReader
from acidtest.zoo.trees import PHRASE, Trees, Unparsed, joined, trees
from acidtest.zoo.words import SPECIAL, UNKNOWN, Vocabulary

if TYPE_CHECKING:
    from acidtest.zoo.study import Study

PARSES = ("premise_binary_parse", "hypothesis_binary_parse")


@dataclass(frozen=True)
class Forest:
    """Trees of a batch, height by height.

    Every node is a part of one phrase. So the nodes of a height stand in the order of the heights they are needed at,
    and ``shares`` says for each height how many go to which. What comes to a height from below stands in the order of
    where it comes from; ``parts`` says for each height from 1 on where in that the left and right part of its phrases
    are, and at last where the tops of the trees are.
    """

    words: torch.Tensor
    shares: tuple[tuple[tuple[int, int], ...], ...]
    parts: tuple[torch.Tensor, ...]


@dataclass(frozen=True)
class TreePairs:
    """A batch: the trees of some premises, then those of their hypotheses."""

    rows: Ints
    forest: Forest
    targets: torch.Tensor | None = None


def forest(found: Trees, words: Ints, rows: Ints, device: torch.device) -> Forest:
    """Some trees, with the words of all nodes as a network numbers them."""
    nodes = between(found.starts[rows], found.starts[rows + 1])
    sizes = found.starts[rows + 1] - found.starts[rows]
    tops = np.cumsum(sizes) - 1
    height, above = found.heights[nodes], found.above[nodes]
    highest = int(height.max()) + 1
    above[tops] = highest
    given = np.argsort(height * (highest + 1) + above, kind="stable")
    coming = np.argsort(above * (highest + 1) + height, kind="stable")
    place = np.empty_like(coming)
    place[coming] = np.arange(len(coming)) - np.searchsorted(above[coming], above[coming])
    counts = np.bincount(height)
    phrases = given[counts[0] :]
    left = found.left[nodes[phrases]] - np.repeat(found.starts[rows] - (tops + 1 - sizes), sizes)[phrases]
    parts = np.stack([place[left], place[phrases - 1]], axis=1).ravel()
    numbers = np.concatenate([words[nodes[given[: counts[0]]]], parts, place[tops]]).astype(np.int32)
    kinds, shares = np.unique(height[given] * (highest + 1) + above[given], return_counts=True)
    goes = [tuple[tuple[int, int], ...]() for _ in range(highest)]
    for kind, count in zip(kinds.tolist(), shares.tolist(), strict=True):
        goes[kind // (highest + 1)] += ((kind % (highest + 1), count),)
    first, *rest = on_device(numbers, device).split_with_sizes([int(counts[0]), *(2 * counts[1:]).tolist(), len(rows)])
    return Forest(first, tuple(goes), tuple(rest))


class TreeInputs(Inputs):
    """Pairs of trees, batch by batch; pairs of like height go together."""

    def __init__(
        self,
        premises: Trees,
        hypotheses: Trees,
        vocabulary: Vocabulary,
        targets: Targets | None,
        *,
        device: torch.device,
    ) -> None:
        super().__init__(np.maximum(premises.tallest, hypotheses.tallest), targets, device)
        self._trees = joined(premises, hypotheses)
        numbers = np.array([vocabulary.numbers.get(form, UNKNOWN) for form in self._trees.forms], dtype=np.int64)
        self._words = np.where(self._trees.words == PHRASE, 0, numbers[self._trees.words])

    def batch(self, rows: Ints) -> TreePairs:
        """Some pairs."""
        both = np.concatenate([rows, rows + len(self)])
        places = on_device(rows, self.device)
        return TreePairs(rows, forest(self._trees, self._words, both, self.device), self.targets(places))


@dataclass(frozen=True)
class TreeReader(WordReader):
    """Reads pairs as trees over words with vectors."""

    columns: tuple[str, ...] = ("premise", "hypothesis", *PARSES)
    unparsed: Unparsed = "refuse"
    may_lack: ClassVar[tuple[str, ...]] = PARSES
    first: tuple[pl.DataFrame, tuple[Trees, Trees]] | None = field(default=None, compare=False, repr=False)
    """The pairs it began with and their trees, which are wanted once more to learn from."""

    @classmethod
    def begun(cls, study: Study, train: pl.DataFrame) -> Self:
        """The words of training trees, the most frequent first, with the vectors they begin with."""
        unparsed = study.settings.get("unparsed", "refuse")
        columns = _columns(train, unparsed)
        found = joined(*columns)
        counts = np.bincount(found.words[found.words != PHRASE], minlength=len(found.forms))
        counted = pl.DataFrame({"word": found.forms, "count": counts}).filter(pl.col("word") != "")
        ordered = counted.group_by("word").agg(pl.col("count").sum()).sort(-pl.col("count"), "word")["word"]
        words = Vocabulary(tuple(dict.fromkeys((*SPECIAL, *ordered))))
        return replace(cls.over(study, words), unparsed=unparsed, first=(train, columns))

    @classmethod
    def load(cls, folder: Path, told: Mapping[str, Any]) -> Self:
        """The reader of a folder."""
        return replace(super().load(folder, told), unparsed=told["unparsed"])

    @property
    def optional(self) -> tuple[str, ...]:
        """The columns it does without when asked."""
        return PARSES if self.unparsed == "right" else ()

    def save(self, folder: Path) -> dict[str, Any]:
        """Write the words."""
        return {**super().save(folder), "unparsed": self.unparsed}

    def inputs(self, frame: pl.DataFrame, targets: Targets | None, device: torch.device) -> TreeInputs:
        """Pairs of trees; of those to learn from it is said how many were made up."""
        if self.first is not None and self.first[0] is frame:
            premises, hypotheses = self.first[1]
        else:
            premises, hypotheses = _columns(frame, self.unparsed)
        if targets is not None and (made := premises.unparsed + hypotheses.unparsed):
            told = f"{made:,} of {2 * frame.height:,}"
            note("%s sentences have no parse: they are read as trees that branch to the right", told)
        return TreeInputs(premises, hypotheses, self.vocabulary, targets, device=device)


def _columns(frame: pl.DataFrame, unparsed: Unparsed) -> tuple[Trees, Trees]:
    """The trees of premises and hypotheses."""
    premises, hypotheses = (
        trees(frame[parses], frame[texts], unparsed=unparsed)
        for texts, parses in zip(("premise", "hypothesis"), PARSES, strict=True)
    )
    return premises, hypotheses
