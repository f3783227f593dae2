"""Premises and hypotheses as the tokens a model reads, end to end without padding, and the batches they go in."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, pairwise
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from acidtest.core.errors import AcidtestError
from acidtest.models.encoders.sentence_tokens import (
    Ints,
    SentenceTokenizer,
    Tokens,
    number_ranges,
    offsets,
    sentence_tokenizer,
)

SAMPLES = (
    ("A man plays a guitar.", "Somebody makes music."),
    ("It isn't 3.5 °C, she said: “no”.", "naïve café — 東京"),
    ("  two  spaces\tand a tab ", " leading space"),
    ("one", ""),
    ("", "two words"),
)
"""Pairs on which the tokens assembled here must equal those of the tokenizer."""


@dataclass(frozen=True, slots=True)
class TokenBatch:
    """Consecutive pairs that go through a network together, at most ``longest`` tokens each.

    ``pairs`` and ``tokens`` are their slices of all pairs and tokens; ``even`` if all have the same length.
    """

    pairs: slice
    tokens: slice
    count: int
    longest: int
    even: bool

    @property
    def padded(self) -> int:
        """The number of tokens once every pair is padded to the longest."""
        return self.count * self.longest


@dataclass(frozen=True)
class TokenizedPairs:
    """The tokens of pairs end to end, the shortest pair first.

    ``rows`` are the original indices of the pairs; ``truncated`` is in the original order.
    """

    ids: Tokens
    types: npt.NDArray[np.uint8] | None
    lengths: Ints
    rows: Ints
    truncated: npt.NDArray[np.bool_]

    @cached_property
    def starts(self) -> Ints:
        """The start of each pair, with the total length last."""
        return offsets(self.lengths)

    def check_vocabulary(self, size: int, owner: str) -> None:
        """Refuse tokens for which there are no weights."""
        largest = int(self.ids.max(initial=0))
        if largest >= size:
            problem = f"its tokenizer gives token {largest}, but its weights know only {size}"
            raise AcidtestError(f"{owner}: {problem}; they do not belong together")

    def batch(self, start: int, stop: int) -> TokenBatch:
        shortest, longest = int(self.lengths[start]), int(self.lengths[stop - 1])
        tokens = slice(int(self.starts[start]), int(self.starts[stop]))
        return TokenBatch(slice(start, stop), tokens, stop - start, longest, even=shortest == longest)

    def pad(self, batch: TokenBatch) -> tuple[npt.NDArray[np.bool_], Ints]:
        """bool[pairs, longest], False for padding, and the index of each token in ``ids``; any index for padding."""
        columns = np.arange(batch.longest)
        mask = columns < self.lengths[batch.pairs, None]
        return mask, np.minimum(self.starts[batch.pairs, None] + columns, len(self.ids) - 1)

    def padded_batches(self, budget: int, *, mixed: bool = True) -> list[TokenBatch]:
        """Batches of at most ``budget`` tokens including padding, or of one longer pair; the longest pairs come first.

        A batch that is a quarter full takes no shorter pairs, so most batches have one length and need no padding.
        All have one length unless ``mixed``.
        """
        lengths, stop = self.lengths, len(self.lengths)
        batches = []
        while stop:
            longest = int(lengths[stop - 1])
            start = max(stop - max(budget // longest, 1), 0)
            same = int(np.searchsorted(lengths[start:stop], longest)) + start
            quarter = stop - max(budget // (4 * longest), 1)
            # Only pairs of the greatest length, if they fill a quarter; otherwise shorter ones fill that quarter.
            start = max(start, min(same, quarter) if mixed else same)
            batches.append(self.batch(start, stop))
            stop = start
        return batches

    def flat_batches(self, budget: int) -> list[TokenBatch]:
        """Batches of at most ``budget`` tokens without padding, or of one longer pair; the shortest pairs first."""
        batches, start = [], 0
        while start < len(self.lengths):
            most = self.starts[start] + budget
            stop = max(int(np.searchsorted(self.starts, most, side="right")) - 1, start + 1)
            batches.append(self.batch(start, stop))
            start = stop
        return batches


def length_runs(lengths: Ints) -> Iterator[TokenBatch]:
    """A batch for each distinct length; ``lengths`` must ascend."""
    pair = token = 0
    for length, count in zip(*(values.tolist() for values in np.unique(lengths, return_counts=True)), strict=True):
        stop, end = pair + count, token + count * length
        yield TokenBatch(slice(pair, stop), slice(token, end), count, length, even=True)
        pair, token = stop, end


@dataclass(frozen=True)
class PairTemplate:
    """The special tokens before, between and after two sentences, and the token types of all five parts."""

    before: tuple[int, ...]
    between: tuple[int, ...]
    after: tuple[int, ...]
    types: tuple[int, ...]

    @property
    def size(self) -> int:
        return len(self.before) + len(self.between) + len(self.after)


class TokenizesPairs(Protocol):
    """Turns pairs into tokens, at most ``longest`` each."""

    longest: int

    def tokens(self, premises: Sequence[str], hypotheses: Sequence[str]) -> TokenizedPairs: ...

    def counts(self, texts: Sequence[str]) -> list[int]: ...


@dataclass
class PairAssembler:
    """Assembles pairs from sentences, each tokenized once, and cuts them to ``longest`` tokens.

    Only the premise is cut, unless the hypothesis leaves it no room: then both may be.
    """

    template: PairTemplate
    sentences: SentenceTokenizer
    longest: int

    def tokens(self, premises: Sequence[str], hypotheses: Sequence[str]) -> TokenizedPairs:
        places: dict[str, int] = {}
        first = np.fromiter((places.setdefault(text, len(places)) for text in premises), np.int64, len(premises))
        second = np.fromiter((places.setdefault(text, len(places)) for text in hypotheses), np.int64, len(hypotheses))
        flat, starts = self.sentences(list(places))
        sizes = np.diff(starts)
        kept_first, kept_second = _cut_sizes(sizes[first], sizes[second], self.longest - self.template.size)
        truncated = (kept_first < sizes[first]) | (kept_second < sizes[second])
        rows = np.argsort(kept_first + kept_second, kind="stable")
        sides = [(starts[first[rows]], kept_first[rows]), (starts[second[rows]], kept_second[rows])]
        return self._assemble(flat, sides, rows, truncated)

    def counts(self, texts: Sequence[str]) -> list[int]:
        return [int(size) for size in np.diff(self.sentences(list(texts))[1])]

    def _assemble(
        self, flat: Tokens, sides: list[tuple[Ints, Ints]], rows: Ints, truncated: npt.NDArray[np.bool_]
    ) -> TokenizedPairs:
        """Pairs end to end; ``sides`` are the starts and sizes in ``flat`` of premises, then of hypotheses."""
        template = self.template
        lengths = np.asarray(sides[0][1] + sides[1][1] + template.size, dtype=np.int64)
        place = np.cumsum(lengths) - lengths
        ids = np.empty(int(lengths.sum()), dtype=np.int32)
        types = np.empty(len(ids), dtype=np.uint8)
        for part, special in enumerate((template.before, template.between, template.after)):
            for token in special:
                ids[place] = token
                types[place] = template.types[2 * part]
                place = place + 1
            for starts, sizes in sides[part : part + 1]:
                places = number_ranges(place, sizes)
                ids[places] = flat[number_ranges(starts, sizes)]
                types[places] = template.types[2 * part + 1]
                place = place + sizes
        return TokenizedPairs(ids, types, lengths, rows, truncated)


class PairTokenizer:
    """Tokenizes pairs, cut to ``longest``, by a tokenizer of transformers or one with the same interface.

    Pairs are assembled from sentences if that gives the tokenizer's own tokens for ``SAMPLES``; otherwise whole pairs
    are tokenized.
    """

    def __init__(self, tokenizer: Any, longest: int) -> None:
        self._tokenizer = tokenizer
        self.longest = longest
        self._typed = "token_type_ids" in tokenizer.model_input_names
        self._assembler = self._find_assembler(_copy_backend(tokenizer))
        special = self._assembler.template.size if self._assembler else tokenizer.num_special_tokens_to_add(pair=True)
        self._room = longest - special
        if self._room < 2:
            raise AcidtestError(f"max_length {longest} leaves no room for a premise and a hypothesis")

    def tokens(self, premises: Sequence[str], hypotheses: Sequence[str]) -> TokenizedPairs:
        if self._assembler is None:
            return self._tokenize_whole(premises, hypotheses)
        pairs = self._assembler.tokens(premises, hypotheses)
        return pairs if self._typed else replace(pairs, types=None)

    def counts(self, texts: Sequence[str]) -> list[int]:
        if self._assembler is None:
            return list(map(len, self._tokenizer(list(texts), add_special_tokens=False)["input_ids"]))
        return self._assembler.counts(texts)

    def _tokenize_whole(self, premises: Sequence[str], hypotheses: Sequence[str]) -> TokenizedPairs:
        whole = self._tokenizer(list(premises), list(hypotheses), return_attention_mask=False)
        ids, types = whole["input_ids"], whole.get("token_type_ids")
        truncated = np.fromiter((len(row) > self.longest for row in ids), np.bool_, len(ids))
        for row in np.flatnonzero(truncated).tolist():
            cut = self._cut_pair(premises[row], hypotheses[row])
            ids[row] = cut["input_ids"]
            if types:
                types[row] = cut["token_type_ids"]
        lengths = np.fromiter(map(len, ids), np.int64, len(ids))
        rows = np.argsort(lengths, kind="stable")
        flat = np.fromiter(chain.from_iterable(ids[row] for row in rows), np.int32, int(lengths.sum()))
        flat_types = None
        if self._typed and types:
            flat_types = np.fromiter(chain.from_iterable(types[row] for row in rows), np.uint8, len(flat))
        return TokenizedPairs(flat, flat_types, lengths[rows], rows, truncated)

    def _cut_pair(self, premise: str, hypothesis: str) -> Any:
        crowded = len(self._tokenizer(hypothesis, add_special_tokens=False)["input_ids"]) >= self._room
        strategy = "longest_first" if crowded else "only_first"
        return self._tokenizer(premise, hypothesis, truncation=strategy, max_length=self.longest)

    def _find_assembler(self, backend: Any | None) -> PairAssembler | None:
        """An assembler with the template of the first sample, if it gives what the tokenizer gives for all samples."""
        if backend is None:
            return None
        sample = backend.encode(*SAMPLES[0])
        sides = sample.sequence_ids
        first, second = ([place for place, side in enumerate(sides) if side == number] for number in (0, 1))
        if not first or not second:
            return None
        bounds = [0, first[0], first[-1] + 1, second[0], second[-1] + 1, len(sides)]
        parts = [slice(start, stop) for start, stop in pairwise(bounds)]
        types = [set(sample.type_ids[part]) or {0} for part in parts]
        whole = bounds == sorted(bounds) and bounds[2] - bounds[1] + bounds[4] - bounds[3] == len(first) + len(second)
        if not whole or any(len(part_types) > 1 for part_types in types):
            return None
        before, _, between, _, after = (tuple(sample.ids[part]) for part in parts)
        template = PairTemplate(before, between, after, tuple(part_types.pop() for part_types in types))
        assembler = PairAssembler(template, sentence_tokenizer(backend), 1 << 30)
        if not self._agrees(assembler):
            return None
        assembler.longest = self.longest
        return assembler

    def _agrees(self, assembler: PairAssembler) -> bool:
        # As one batch: given a single pair, a tokenizer treats an empty hypothesis as a missing one.
        premises, hypotheses = (list(texts) for texts in zip(*SAMPLES, strict=True))
        expected = self._tokenizer(premises, hypotheses)
        pairs = assembler.tokens(premises, hypotheses)
        for row, (start, stop) in zip(pairs.rows.tolist(), pairwise(pairs.starts), strict=True):
            types = None if pairs.types is None else pairs.types[start:stop].tolist()
            if pairs.ids[start:stop].tolist() != expected["input_ids"][row]:
                return False
            if self._typed and types != expected["token_type_ids"][row]:
                return False
        return True


def _copy_backend(tokenizer: Any) -> Any | None:
    """A copy of the tokenizer's Rust part, if any, that neither cuts nor pads, and that no other thread changes."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None:
        return None
    copy = importlib.import_module("tokenizers").Tokenizer.from_str(backend.to_str())
    copy.no_truncation()
    copy.no_padding()
    return copy


def _cut_sizes(first: Ints, second: Ints, room: int) -> tuple[Ints, Ints]:
    """The number of tokens to keep of each sentence: premises are cut first, hypotheses only as far as needed."""
    over = first + second > room
    # Where the hypothesis alone fills the room, both are cut towards half of it, the longer first.
    crowded = second >= room
    of_first = np.where(crowded, np.minimum(first, np.maximum(room // 2, room - second)), room - second)
    of_first = np.where(over, np.minimum(first, of_first), first)
    return of_first, np.where(over, np.minimum(second, room - of_first), second)
