"""A wrapper for any model that splits long premises into chunks and combines the answers to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.errors import AcidtestError, UnknownNameError
from acidtest.core.labels import LABELS, has_answer, one_hot
from acidtest.core.model import (
    ChecksLabelOrder,
    ChecksSuites,
    CountsUsage,
    HasOptionalColumns,
    Model,
    Prepared,
    Prepares,
    Probabilities,
    Varies,
    files_read,
)
from acidtest.core.suite import Suite
from acidtest.english.tokens import sentences

Ints = npt.NDArray[np.int64]

WORDS = 200
"""Most words in a chunk, for a model that does not count tokens."""

_SEPARATORS = 4
"""Special tokens around premise and hypothesis: RoBERTa has four, most models fewer."""


@runtime_checkable
class CountsTokens(Protocol):
    """A model that counts tokens; ``limit`` is the most that a pair may have, special tokens included."""

    limit: int | None

    def token_counts(self, texts: Sequence[str]) -> Sequence[int]: ...


def split_premises(model: Model, aggregation: str = "max-entail", *, words: int | None = None) -> Model:
    """Wrap a model so that premises too long for it are split at the ends of sentences.

    Too long means more than ``words`` words; without ``words``, more tokens than the model's limit, or more than
    ``WORDS`` words for a model without one.
    """
    if aggregation not in AGGREGATIONS:
        raise UnknownNameError("aggregation", aggregation, AGGREGATIONS)
    if words is not None and words < 1:
        raise AcidtestError(f"words of a chunk: a number from 1 on, not {words}")
    missing = {"premise", "hypothesis"} - set(model.columns)
    parses = [name for name in model.columns if name.startswith("premise_")]
    if missing or parses:
        reason = f"does not read {', '.join(sorted(missing))}" if missing else f"asks for {', '.join(parses)}, too"
        raise AcidtestError(f"model {model.name!r} {reason}: its premises cannot be split into chunks")
    _check_aggregation(model, aggregation)
    return (PreparingChunkedModel if isinstance(model, Prepares) else ChunkedModel)(model, aggregation, words)


def _check_aggregation(model: Model, aggregation: str) -> None:
    if aggregation == "any-contradict" and model.resolution == "two-way":
        raise AcidtestError(f"model {model.name!r} has no contradiction for any-contradict to look for; use max-entail")


def max_entail(rows: Probabilities) -> Probabilities:
    """The highest entailment and the highest contradiction of any chunk; neutral is the rest.

    Where the two add up to more than 1, they are divided by their sum and neutral is 0. A single chunk's answer does
    not change.
    """
    entailment, contradiction = float(rows[:, 0].max()), float(rows[:, 2].max())
    combined = np.array([entailment, max(0.0, 1 - entailment - contradiction), contradiction])
    return np.asarray(combined / combined.sum(), dtype=np.float32)


def any_contradict(rows: Probabilities) -> Probabilities:
    """The answer to the chunk with the highest contradiction if that is above 0.5, else with the highest entailment."""
    contradicting = int(rows[:, 2].argmax())
    chosen = contradicting if rows[contradicting, 2] > 0.5 else int(rows[:, 0].argmax())
    return np.asarray(rows[chosen], dtype=np.float32)


AGGREGATIONS: Mapping[str, Callable[[Probabilities], Probabilities]] = {
    "max-entail": max_entail,
    "any-contradict": any_contradict,
}


def overlapping_windows(sizes: Sequence[int], most: int) -> list[tuple[int, int]]:
    """Ranges (start, stop) of consecutive sentences that have at most ``most`` words or tokens together.

    The last sentence of a range is also the first of the next, unless it leaves no room there for another. A sentence
    that is too long by itself is a range of its own.
    """
    windows, start = list[tuple[int, int]](), 0
    while start < len(sizes):
        stop, total = start + 1, sizes[start]
        while stop < len(sizes) and total + sizes[stop] <= most:
            total += sizes[stop]
            stop += 1
        windows.append((start, stop))
        if stop == len(sizes):
            break
        overlaps = stop - 1 > start and sizes[stop - 1] + sizes[stop] <= most
        start = stop - 1 if overlaps else stop
    return windows


@dataclass(frozen=True)
class PreparedChunks:
    """Prepared chunks; pair ``i`` has chunks ``bounds[i]:bounds[i + 1]``, and is truncated if one of them is."""

    parts: list[Prepared]
    bounds: Ints
    truncated: npt.NDArray[np.bool_]


class ChunkedModel:
    """A model that is asked about each chunk of a long premise with the whole hypothesis.

    If the model gives labels only, so does this one; where one chunk entails and another contradicts, ``max-entail``
    then answers entailment. Chunks without an answer are ignored; a pair is unanswered when all its chunks are.
    """

    def __init__(self, model: Model, aggregation: str, words: int | None = None) -> None:
        self._model = model
        self._aggregation, self._aggregate = aggregation, AGGREGATIONS[aggregation]
        self._counter = model if words is None and isinstance(model, CountsTokens) and model.limit else None
        self._limit = (self._counter.limit if self._counter else None) or 0
        self._words = words or WORDS
        self._pairs = self._chunks = 0
        suffix, long = f"chunks-{aggregation}-{self._words}w", f"premises of more than {self._words} words"
        if self._counter:
            suffix = f"chunks-{aggregation}-{self._limit}t"
            long = f"premises that take more than {self._limit} tokens with their hypothesis"
        self.name = f"{model.name}+{suffix}"
        digest = blake2b(f"{model.fingerprint}+{suffix}".encode(), digest_size=8).hexdigest()
        self.fingerprint = digest if model.fingerprint else None
        self.notes = (*model.notes, f"{long} were asked in overlapping chunks ({aggregation})")
        self.columns = model.columns
        self.optional = model.optional if isinstance(model, HasOptionalColumns) else ()
        self.resolution = model.resolution
        self.probabilities = model.probabilities
        self.may_abstain = model.may_abstain
        self.batch_size = model.batch_size
        self.keep = model.keep
        self.independent = model.independent
        self.varies = isinstance(model, Varies) and model.varies
        self.files_read = files_read(model)

    def predict(self, *columns: Sequence[str]) -> Probabilities:
        batches, bounds = self._split_columns(columns)
        return self._combine([np.asarray(self._model.predict(*part), np.float32) for part in batches], bounds)

    def check(self, suites: Sequence[Suite]) -> None:
        if isinstance(self._model, ChecksSuites):
            self._model.check(suites)

    def check_label_order(self, rows: pl.DataFrame, *, suite: str, options: Mapping[str, str], decisive: bool) -> None:
        if isinstance(self._model, ChecksLabelOrder):
            self._model.check_label_order(rows, suite=suite, options=options, decisive=decisive)

    def usage(self) -> Mapping[str, float]:
        """The model's usage, the number of pairs that were split, and the number of their chunks."""
        usage = self._model.usage() if isinstance(self._model, CountsUsage) else {}
        return {**usage, "chunked pairs": self._pairs, "chunks": self._chunks}

    def _split_columns(self, columns: Sequence[Sequence[str]]) -> tuple[list[list[list[str]]], Ints]:
        """Batches of the columns with a row for each chunk, and the bounds of each pair's chunks."""
        place = {name: number for number, name in enumerate(self.columns)}
        chunks = self._split_premises(columns[place["premise"]], columns[place["hypothesis"]])
        counts = [len(parts) for parts in chunks]
        rows = np.repeat(np.arange(len(counts)), counts).tolist()
        repeated = [[column[row] for row in rows] for column in columns]
        repeated[place["premise"]] = [chunk for parts in chunks for chunk in parts]
        self._pairs += sum(count > 1 for count in counts)
        self._chunks += sum(count for count in counts if count > 1)
        size = self._model.batch_size
        starts = range(0, len(rows), size)
        return [[column[start : start + size] for column in repeated] for start in starts], np.cumsum([0, *counts])

    def _split_premises(self, premises: Sequence[str], hypotheses: Sequence[str]) -> list[list[str]]:
        """The chunks of each premise; the premise itself where it is short enough."""
        sizes, rooms = self._sizes(premises), [self._words] * len(hypotheses)
        if self._counter is not None:
            rooms = [self._limit - _SEPARATORS - size for size in self._sizes(hypotheses)]
        long = [premise for premise, size, room in zip(premises, sizes, rooms, strict=True) if size > room]
        split = _split_sentences(list(dict.fromkeys(long)))
        texts = list(dict.fromkeys(text for parts in split.values() for _, _, text in parts))
        text_sizes = dict(zip(texts, self._sizes(texts), strict=True))
        chunks = []
        for premise, size, room in zip(premises, sizes, rooms, strict=True):
            if size > room:
                parts = split[premise]
                windows = overlapping_windows([text_sizes[text] for _, _, text in parts], room)
                chunks.append([premise[parts[first][0] : parts[last - 1][1]] for first, last in windows])
            else:
                chunks.append([premise])
        return chunks

    def _sizes(self, texts: Sequence[str]) -> list[int]:
        if self._counter and texts:
            return [int(count) for count in self._counter.token_counts(texts)]
        return [len(text.split()) for text in texts]

    def _combine(self, answers: Sequence[Probabilities], bounds: Ints) -> Probabilities:
        # Only a call shows whether a function returns label names, and two or three of them; the call may also remove
        # its fingerprint.
        self.probabilities = self._model.probabilities
        if self._model.resolution == "two-way":
            self.resolution = "two-way"
        _check_aggregation(self._model, self._aggregation)
        self.fingerprint = self._model.fingerprint and self.fingerprint
        values = np.concatenate([np.empty((0, 3), np.float32), *answers])
        result = np.empty((len(bounds) - 1, 3), dtype=np.float32)
        for row, (start, stop) in enumerate(pairwise(bounds)):
            present = values[start:stop][has_answer(values[start:stop])]
            if stop - start == 1 or not len(present):
                result[row] = values[start]
            else:
                answer = self._aggregate(present)
                result[row] = answer if self.probabilities else one_hot([LABELS[answer.argmax()]])[0]
        return result


class PreparingChunkedModel(ChunkedModel):
    """A chunked model that prepares and infers separately, like the model inside."""

    def __init__(self, model: Model, aggregation: str, words: int | None = None) -> None:
        super().__init__(model, aggregation, words)
        assert isinstance(model, Prepares)
        self._preparing: Prepares = model
        self.lengths = model.lengths

    def predict(self, *columns: Sequence[str]) -> Probabilities:
        return self.infer(self.prepare(*columns))

    def prepare(self, *columns: Sequence[str]) -> PreparedChunks:
        """The chunks of these pairs, prepared in batches of the model's batch size."""
        batches, bounds = self._split_columns(columns)
        parts = [self._preparing.prepare(*part) for part in batches]
        cut = np.concatenate([np.empty(0, np.bool_), *(part.truncated for part in parts)])
        truncated = np.array([cut[start:stop].any() for start, stop in pairwise(bounds)], dtype=np.bool_)
        return PreparedChunks(parts, bounds, truncated)

    def infer(self, prepared: PreparedChunks) -> Probabilities:
        return self._combine([self._preparing.infer(part) for part in prepared.parts], prepared.bounds)


def _split_sentences(texts: Sequence[str]) -> dict[str, list[tuple[int, int, str]]]:
    """The sentences of each text: start, end, and the sentence with the space before it.

    Some tokenizers turn that space into a token.
    """
    split: dict[str, list[tuple[int, int, str]]] = {text: [] for text in texts}
    for number, start, end, _ in sentences(pl.Series(texts, dtype=pl.String)).iter_rows():
        parts = split[texts[number]]
        parts.append((start, end, texts[number][parts[-1][1] if parts else start : end]))
    return split
