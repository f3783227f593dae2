"""SPINN-PI-NT (Bowman et al. 2016): a TreeLSTM along given binary parses, without the LSTM that tracks the stack.

A parse is written as in SNLI and MultiNLI, ``( ( The cat ) ( sat . ) )``, and read as the steps of a shift-reduce
parser: shift a word, or reduce the last two parts to one. What the paper's stack does word by word is done here for all
phrases of one height at once, which gives the same states. A pair without a parse is refused, or read from its text as
a tree that branches to the right.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
import polars as pl
import torch
from torch import Tensor, nn

from acidtest.core.logs import note
from acidtest.english.letters import positions_between
from acidtest.english.tokens import number_distinct, tokenise
from acidtest.models.encoders.flat_encoders import on_device
from acidtest.models.encoders.sentence_tokens import offsets
from acidtest.zoo.batches import UNKNOWN, Inputs, Ints, NetworkBatch, Targets, WordVocabulary, count_vocabulary
from acidtest.zoo.layers import Basis, match_features
from acidtest.zoo.networks import WordReader
from acidtest.zoo.pairs import PairError

if TYPE_CHECKING:
    from acidtest.zoo.training import TrainingOptions

PARSES = ("premise_binary_parse", "hypothesis_binary_parse")

Unparsed = Literal["refuse", "right"]
"""What to do with pairs without a parse: refuse them, or read them as trees that branch to the right."""

ADVICE = "parse it, or train with --unparsed right to read such pairs as trees that branch to the right"

PHRASE = -1
"""The word number of a node that joins two others."""

# Treebanks escape brackets and quotes; texts do not.
_ESCAPED = {"-lrb-": "(", "-rrb-": ")", "-lsb-": "[", "-rsb-": "]", "-lcb-": "{", "-rcb-": "}", "``": '"', "''": '"'}


@dataclass(frozen=True)
class Trees:
    """Trees end to end; the nodes of each in the order of a shift-reduce parser: parts before the whole, root last."""

    words: Ints
    """The number of each node's word among ``forms``, or ``PHRASE``."""
    rows: Ints
    """The tree of each node, in ascending order; every tree has nodes."""
    forms: list[str]
    """The distinct words, in lower case."""
    unparsed: int
    """The number of trees that were made up because there was no parse."""

    def __len__(self) -> int:
        return len(self.starts) - 1

    @cached_property
    def starts(self) -> Ints:
        """The first node of each tree, with the number of nodes last."""
        return offsets(np.bincount(self.rows))

    @cached_property
    def left(self) -> Ints:
        """The left part of each phrase; the right part is the node before the phrase."""
        # The left part of a phrase was the last node at the same height of the stack: nothing below it has changed.
        depth = np.cumsum(np.where(self.words == PHRASE, -1, 1)) - self.rows
        order = np.lexsort((depth, self.rows))
        before = np.full(len(order), PHRASE)
        before[order[1:]] = order[:-1]
        return np.where(self.words == PHRASE, before, PHRASE)

    @cached_property
    def heights(self) -> Ints:
        """The height of each node: 0 for words, and for phrases one more than their higher part."""
        heights = np.where(self.words == PHRASE, PHRASE, 0)
        waiting = np.flatnonzero(heights == PHRASE)
        while len(waiting):
            parts = np.minimum(heights[self.left[waiting]], heights[waiting - 1])
            ready = waiting[parts != PHRASE]
            heights[ready] = np.maximum(heights[self.left[ready]], heights[ready - 1]) + 1
            waiting = waiting[parts == PHRASE]
        return heights

    @cached_property
    def parent_heights(self) -> Ints:
        """The height of the phrase that each node is a part of; 0 for roots."""
        parents = np.zeros(len(self.words), dtype=np.int64)
        phrases = np.flatnonzero(self.words == PHRASE)
        parents[phrases - 1] = parents[self.left[phrases]] = self.heights[phrases]
        return parents

    @cached_property
    def tree_heights(self) -> Ints:
        return self.heights[self.starts[1:] - 1]


def parse_trees(parses: pl.Series, texts: pl.Series, *, unparsed: Unparsed = "refuse") -> Trees:
    """The trees of a column of parses; ``texts`` without a parse are refused, or branch to the right.

    An empty text is a tree of one unknown word. Raises ``PairError`` for the first row that has no tree.
    """
    bare = parses.fill_null("").str.strip_chars() == ""
    lacking = bare & (texts.fill_null("").str.strip_chars() != "")
    if unparsed == "refuse":
        for row in lacking.arg_true().head(1):
            raise PairError(row, f"{texts[row]!r} has no {parses.name}; {ADVICE}")
    rows, words, forms = _parse_nodes(parses.set(bare, None) if bare.any() else parses)
    without = bare.arg_true().to_numpy().astype(np.int64)
    made_rows, made_words, made_forms = _right_branching(texts.gather(without))
    rows = np.concatenate([rows, without[made_rows]])
    words = np.concatenate([words, np.where(made_words == PHRASE, PHRASE, made_words + len(forms))])
    order = np.argsort(rows, kind="stable")
    known = pl.concat([forms, made_forms]).str.to_lowercase().replace(_ESCAPED).to_list()
    return Trees(words[order], rows[order], known, int(lacking.sum()))


def concatenate_trees(first: Trees, second: Trees) -> Trees:
    """The trees of two columns, one column after the other."""
    shifted = np.where(second.words == PHRASE, PHRASE, second.words + len(first.forms))
    return Trees(
        np.concatenate([first.words, shifted]),
        np.concatenate([first.rows, second.rows + len(first)]),
        first.forms + second.forms,
        first.unparsed + second.unparsed,
    )


def _parse_nodes(parses: pl.Series) -> tuple[Ints, Ints, pl.Series]:
    """The row and the word of each node, and the distinct words; null has no nodes."""
    pieces = parses.str.extract_all(r"[()]|[^\s()]+")
    rows = np.repeat(np.arange(len(parses)), pieces.list.len().fill_null(0).to_numpy())
    forms, words = number_distinct(pieces.explode(empty_as_null=False, keep_nulls=False))
    opens, closes = (forms == "(").to_numpy()[words], (forms == ")").to_numpy()[words]
    _check_brackets(parses, rows, opens, closes)
    words[closes] = PHRASE
    return rows[~opens], words[~opens], forms


def _check_brackets(parses: pl.Series, rows: Ints, opens: npt.NDArray[np.bool_], closes: npt.NDArray[np.bool_]) -> None:
    """Raise for the first parse that is not a tree with two parts to a bracket."""
    steps = 1 - opens.astype(np.int64) - 2 * closes
    depth, parts = _row_cumsum(opens.astype(np.int64) - closes, rows), _row_cumsum(steps, rows)
    last = np.flatnonzero(np.diff(rows, append=-1))
    _refuse(parses, rows[depth < 0], "a bracket closes that never opened")
    _refuse(parses, rows[last[depth[last] > 0]], "a bracket never closes")
    brackets = np.flatnonzero(opens | closes)
    # Brackets of one depth open and close in turn.
    order = brackets[np.lexsort((depth[brackets] + closes[brackets], rows[brackets]))]
    opening, closing = order[::2], order[1::2]
    _refuse(parses, rows[closing[parts[closing] != parts[opening] + 1]], "a bracket holds more or fewer than two parts")
    _refuse(parses, rows[last[parts[last] != 1]], "it is more than one tree, or none")


def _row_cumsum(steps: Ints, rows: Ints) -> Ints:
    total = np.cumsum(steps)
    first = np.flatnonzero(np.diff(rows, prepend=-1))
    return total - np.repeat((total - steps)[first], np.diff(np.append(first, len(rows))))


def _refuse(parses: pl.Series, rows: Ints, problem: str) -> None:
    for row in rows[:1]:
        raise PairError(int(row), f"{parses.name} {parses[int(row)]!r} is no binary tree: {problem}")


def _right_branching(texts: pl.Series) -> tuple[Ints, Ints, pl.Series]:
    """The row and the word of each node of trees over the tokens of texts, and the distinct words."""
    tokens = tokenise(texts)
    counts = np.bincount(tokens.text, minlength=len(texts))
    empty = np.flatnonzero(counts == 0)
    leaves = np.concatenate([tokens.text, empty])
    words = np.concatenate([tokens.word, np.full(len(empty), len(tokens.words))])
    phrases = np.repeat(np.arange(len(texts)), np.maximum(counts - 1, 0))
    rows = np.concatenate([leaves, phrases])
    words = np.concatenate([words, np.full(len(phrases), PHRASE)])
    order = np.argsort(rows, kind="stable")
    return rows[order], words[order], pl.concat([tokens.words.cast(pl.String), pl.Series([""], dtype=pl.String)])


@dataclass(frozen=True)
class Forest:
    """The trees of a batch, height by height, so that all phrases of one height are joined at once.

    Every node but a root has a parent, the phrase it is part of; roots count as parts of a phrase above all others. The
    nodes of a height are sorted by the height of their parents; ``shares`` holds, for each height, the (height of the
    parents, number of nodes) in that order. ``parts`` holds, for each height from 1 on, the places of the left and the
    right parts of its phrases among all nodes with parents of that height, lowest first; last, those of the roots.
    """

    words: Tensor
    shares: tuple[tuple[tuple[int, int], ...], ...]
    parts: tuple[Tensor, ...]


@dataclass(frozen=True)
class TreePairs(NetworkBatch):
    """A batch: the trees of some premises, then those of their hypotheses."""

    forest: Forest


def build_forest(trees: Trees, words: Ints, rows: Ints, device: torch.device) -> Forest:
    """The forest of some rows; ``words`` are the network's word numbers of all nodes."""
    nodes = positions_between(trees.starts[rows], trees.starts[rows + 1])
    sizes = trees.starts[rows + 1] - trees.starts[rows]
    roots = np.cumsum(sizes) - 1
    height, parent = trees.heights[nodes], trees.parent_heights[nodes]
    highest = int(height.max()) + 1
    parent[roots] = highest
    by_height = np.argsort(height * (highest + 1) + parent, kind="stable")
    by_parent = np.argsort(parent * (highest + 1) + height, kind="stable")
    place = np.empty_like(by_parent)
    place[by_parent] = np.arange(len(by_parent)) - np.searchsorted(parent[by_parent], parent[by_parent])
    counts = np.bincount(height)
    phrases = by_height[counts[0] :]
    left = trees.left[nodes[phrases]] - np.repeat(trees.starts[rows] - (roots + 1 - sizes), sizes)[phrases]
    parts = np.stack([place[left], place[phrases - 1]], axis=1).ravel()
    numbers = np.concatenate([words[nodes[by_height[: counts[0]]]], parts, place[roots]]).astype(np.int32)
    kinds, kind_counts = np.unique(height[by_height] * (highest + 1) + parent[by_height], return_counts=True)
    shares = [tuple[tuple[int, int], ...]() for _ in range(highest)]
    for kind, count in zip(kinds.tolist(), kind_counts.tolist(), strict=True):
        shares[kind // (highest + 1)] += ((kind % (highest + 1), count),)
    first, *rest = on_device(numbers, device).split_with_sizes([int(counts[0]), *(2 * counts[1:]).tolist(), len(rows)])
    return Forest(first, tuple(shares), tuple(rest))


class TreeInputs(Inputs):
    """Pairs of trees, batch by batch; pairs of similar height go together."""

    def __init__(
        self,
        premises: Trees,
        hypotheses: Trees,
        vocabulary: WordVocabulary,
        targets: Targets | None,
        *,
        device: torch.device,
    ) -> None:
        super().__init__(np.maximum(premises.tree_heights, hypotheses.tree_heights), targets, device)
        self._trees = concatenate_trees(premises, hypotheses)
        numbers = np.array([vocabulary.numbers.get(form, UNKNOWN) for form in self._trees.forms], dtype=np.int64)
        self._words = np.where(self._trees.words == PHRASE, 0, numbers[self._trees.words])

    def _read(self, rows: Ints, device_rows: Tensor, targets: Tensor | None) -> TreePairs:
        both = np.concatenate([rows, rows + len(self)])
        return TreePairs(rows, targets, build_forest(self._trees, self._words, both, self.device))


@dataclass(frozen=True)
class TreeReader(WordReader):
    """Reads pairs as trees over words with vectors."""

    columns: tuple[str, ...] = ("premise", "hypothesis", *PARSES)
    unparsed: Unparsed = "refuse"
    may_lack: ClassVar[tuple[str, ...]] = PARSES
    training_trees: tuple[pl.DataFrame, tuple[Trees, Trees]] | None = field(default=None, compare=False, repr=False)
    """The training pairs and their trees, kept because ``inputs`` needs them again."""

    @classmethod
    def for_training(cls, options: TrainingOptions, train: pl.DataFrame) -> Self:
        """The reader for the words of training trees, the most frequent first."""
        unparsed = options.settings.get("unparsed", "refuse")
        columns = _pair_trees(train, unparsed)
        trees = concatenate_trees(*columns)
        counts = np.bincount(trees.words[trees.words != PHRASE], minlength=len(trees.forms))
        words = count_vocabulary(pl.DataFrame({"word": trees.forms, "count": counts}).filter(pl.col("word") != ""))
        return replace(cls.for_vocabulary(options, words), unparsed=unparsed, training_trees=(train, columns))

    @classmethod
    def load(cls, folder: Path, saved: Mapping[str, Any]) -> Self:
        return replace(super().load(folder, saved), unparsed=saved["unparsed"])

    @property
    def optional(self) -> tuple[str, ...]:
        return PARSES if self.unparsed == "right" else ()

    def save(self, folder: Path) -> dict[str, Any]:
        return {**super().save(folder), "unparsed": self.unparsed}

    def inputs(self, frame: pl.DataFrame, targets: Targets | None, device: torch.device) -> TreeInputs:
        """Pairs of trees on a device; notes how many trees of pairs with labels were made up."""
        if self.training_trees is not None and self.training_trees[0] is frame:
            premises, hypotheses = self.training_trees[1]
        else:
            premises, hypotheses = _pair_trees(frame, self.unparsed)
        if targets is not None and (count := premises.unparsed + hypotheses.unparsed):
            share = f"{count:,} of {2 * frame.height:,}"
            note("%s sentences have no parse: they are read as trees that branch to the right", share)
        return TreeInputs(premises, hypotheses, self.vocabulary, targets, device=device)


def _pair_trees(frame: pl.DataFrame, unparsed: Unparsed) -> tuple[Trees, Trees]:
    premises, hypotheses = (
        parse_trees(frame[parses], frame[texts], unparsed=unparsed)
        for texts, parses in zip(("premise", "hypothesis"), PARSES, strict=True)
    )
    return premises, hypotheses


class TreeCell(nn.Module):
    """Joins the states and memories of two parts to those of a phrase (Tai et al. 2015)."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.gates = nn.Linear(2 * hidden, 5 * hidden)
        with torch.no_grad():
            # Forget gates start open.
            self.gates.bias.zero_()
            self.gates.bias[hidden : 3 * hidden] = 1

    def forward(self, parts: Tensor) -> Tensor:
        """float[n, state and memory] of float[n, left and right, state and memory]."""
        states, memories = parts.chunk(2, dim=2)
        gates, new = self.gates(states.flatten(1)).float().tensor_split([4 * memories.shape[2]], dim=1)
        enter, left, right, leave = gates.sigmoid().chunk(4, dim=1)
        memory = left * memories[:, 0] + right * memories[:, 1] + enter * new.tanh()
        return torch.cat([leave * memory.tanh(), memory], dim=1)


class BatchNorm(nn.BatchNorm1d):
    """Batch normalisation that uses the running statistics for a batch of one row."""

    def forward(self, values: Tensor) -> Tensor:
        if self.training and len(values) > 1:
            return super().forward(values)
        return nn.functional.batch_norm(
            values, self.running_mean, self.running_var, self.weight, self.bias, eps=self.eps
        )


class SPINNNetwork(nn.Module):
    """Words are projected to the state and memory of a leaf, phrases are joined, and the two roots are compared.

    ``hidden`` is the size of a state, ``layer`` that of the classifier's two layers. The reader takes ``unparsed``.
    Batch normalisation and dropout follow the projection and surround the layers of the classifier, as in the paper.
    """

    reader = TreeReader

    def __init__(
        self,
        basis: Basis,
        *,
        hidden: int = 300,
        layer: int = 1024,
        leaf_dropout: float = 0.17,
        dropout: float = 0.06,
        unparsed: Unparsed = "refuse",
    ) -> None:
        super().__init__()
        del unparsed
        self.words = words = basis.words
        self.leaves = nn.Sequential(nn.Linear(words.size, 2 * hidden), BatchNorm(2 * hidden), nn.Dropout(leaf_dropout))
        self.cell = TreeCell(hidden)
        steps: list[nn.Module] = [BatchNorm(4 * hidden), nn.Dropout(dropout)]
        for size in (4 * hidden, layer):
            steps += [nn.Linear(size, layer), nn.ReLU(), BatchNorm(layer), nn.Dropout(dropout)]
        self.head = nn.Sequential(*steps, nn.Linear(layer, basis.labels))

    def forward(self, batch: TreePairs) -> Tensor:
        premise, hypothesis = self.root_states(batch.forest).chunk(2)
        scores: Tensor = self.head(match_features(premise, hypothesis, signed=True))
        return scores

    def root_states(self, forest: Forest) -> Tensor:
        """float[trees, state]: the states of whole trees."""
        nodes: Tensor = self.leaves(self.words.table(forest.words)).float()
        arriving = defaultdict[int, list[Tensor]](list)
        for height, (shares, parts) in enumerate(zip(forest.shares, forest.parts, strict=True), start=1):
            groups = nodes.split_with_sizes([count for _, count in shares])
            for group, (parent_height, _) in zip(groups, shares, strict=True):
                arriving[parent_height].append(group)
            taken = torch.cat(arriving.pop(height)).index_select(0, parts)
            nodes = self.cell(taken.view(-1, 2, taken.shape[1])) if height < len(forest.parts) else taken
        return nodes.chunk(2, dim=1)[0]
