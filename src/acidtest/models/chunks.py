"""Premises longer than a model can read, asked part by part, and one answer made of those to the parts.

Unlike other modules here this is no kind of model by itself: it goes around any of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.errors import AcidtestError, UnknownNameError
from acidtest.core.labels import LABELS, one_hot
from acidtest.core.model import ChecksSuites, Counts, Model, Prepared, Prepares, Probabilities
from acidtest.core.suite import Suite
from acidtest.core.verdicts import answered
from acidtest.text.tokens import sentences

WORDS = 200
"""How many words a chunk has at most where the model does not count tokens."""

_MARKS = 4
"""Tokens that part premise and hypothesis: RoBERTa has four, most models fewer."""


@runtime_checkable
class Measures(Protocol):
    """A model that says how many tokens it reads at most, both sentences and what parts them, and counts them."""

    limit: int | None

    def token_counts(self, texts: Sequence[str]) -> Sequence[int]: ...


def chunked(model: Model, aggregation: str = "max-entail", *, words: int | None = None) -> Model:
    """The model with premises that are too long for it parted at sentence ends.

    They are too long beyond ``words`` words; when none are given, beyond the model's own limit in tokens, if it has
    one, else beyond ``WORDS``.
    """
    if aggregation not in AGGREGATIONS:
        raise UnknownNameError("aggregation", aggregation, AGGREGATIONS)
    if words is not None and words < 1:
        raise AcidtestError(f"words of a chunk: a number from 1 on, not {words}")
    missing = {"premise", "hypothesis"} - set(model.columns)
    bound = [name for name in model.columns if name.startswith("premise_")]
    if missing or bound:
        why = f"does not read {', '.join(sorted(missing))}" if missing else f"asks for {', '.join(bound)}, too"
        raise AcidtestError(f"model {model.name!r} {why}: its premises cannot be parted into chunks")
    if aggregation == "any-contradict" and model.resolution == "two-way":
        raise AcidtestError(f"model {model.name!r} has no contradiction for any-contradict to look for; use max-entail")
    return (PreparingChunked if isinstance(model, Prepares) else Chunked)(model, aggregation, words)


def max_entail(rows: Probabilities) -> Probabilities:
    """The likeliest entailment and the likeliest contradiction of any chunk; neutral is what they leave of 1.

    Where the two add up to more than 1, they are divided by their sum and nothing is left. A single chunk's answer
    stays as it is.
    """
    entailment, contradiction = float(rows[:, 0].max()), float(rows[:, 2].max())
    left = np.array([entailment, max(0.0, 1 - entailment - contradiction), contradiction])
    return np.asarray(left / left.sum(), dtype=np.float32)


def any_contradict(rows: Probabilities) -> Probabilities:
    """The answer to the chunk that contradicts most, if by more than one half; else to the one that entails most."""
    contradicting = int(rows[:, 2].argmax())
    chosen = contradicting if rows[contradicting, 2] > 0.5 else int(rows[:, 0].argmax())
    return np.asarray(rows[chosen], dtype=np.float32)


AGGREGATIONS: Mapping[str, Callable[[Probabilities], Probabilities]] = {
    "max-entail": max_entail,
    "any-contradict": any_contradict,
}


def windows(sizes: Sequence[int], most: int) -> list[tuple[int, int]]:
    """Runs of sentences, first and one past the last, of at most so many words or tokens together.

    The last sentence of a run is the first of the next, unless that leaves no room there for another. A sentence that
    is too long by itself is a run.
    """
    found, start = list[tuple[int, int]](), 0
    while start < len(sizes):
        stop, total = start + 1, sizes[start]
        while stop < len(sizes) and total + sizes[stop] <= most:
            total += sizes[stop]
            stop += 1
        found.append((start, stop))
        if stop == len(sizes):
            break
        again = stop - 1 > start and sizes[stop - 1] + sizes[stop] <= most
        start = stop - 1 if again else stop
    return found


@dataclass(frozen=True)
class _Asked:
    """What a model is asked in place of some pairs: its columns, and where the chunks of each pair begin and end."""

    columns: list[list[str]]
    bounds: npt.NDArray[np.int64]

    def batches(self, size: int) -> Iterator[list[list[str]]]:
        """The columns in pieces of so many rows."""
        for start in range(0, int(self.bounds[-1]), size):
            yield [column[start : start + size] for column in self.columns]


@dataclass(frozen=True)
class _PreparedChunks:
    """Chunks made ready; a pair is truncated where one of its chunks is."""

    parts: list[Prepared]
    bounds: npt.NDArray[np.int64]
    truncated: npt.NDArray[np.bool_]


class Chunked:
    """A model that is asked about a long premise part by part, each part with the whole hypothesis.

    Hard labels stay such: of an entailing and a contradicting chunk, ``max-entail`` follows the first. Chunks without
    an answer are passed over; a pair is without one when all its chunks are.
    """

    def __init__(self, model: Model, aggregation: str, words: int | None = None) -> None:
        self._model = model
        self._aggregate = AGGREGATIONS[aggregation]
        self._measure = model if words is None and isinstance(model, Measures) and model.limit else None
        self._limit = (self._measure.limit if self._measure else None) or 0
        self._words = words or WORDS
        self._pairs = self._chunks = 0
        size = f"{self._limit} tokens" if self._measure else f"{self._words} words"
        told = f"chunks-{aggregation}-{size.replace(' tokens', 't').replace(' words', 'w')}"
        self.name = f"{model.name}+{told}"
        self.fingerprint = (
            model.fingerprint and blake2b(f"{model.fingerprint}+{told}".encode(), digest_size=8).hexdigest()
        )
        long = (
            f"premises that take more than {size} with their hypothesis"
            if self._measure
            else f"premises of more than {size}"
        )
        self.notes = (*model.notes, f"{long} were asked in overlapping chunks ({aggregation})")
        self.columns = model.columns
        self.resolution = model.resolution
        self.probabilities = model.probabilities
        self.may_abstain = model.may_abstain
        self.batch_size = model.batch_size
        self.keep = model.keep
        self.independent = model.independent

    def predict(self, *columns: Sequence[str]) -> Probabilities:
        """One answer for each pair, made of those to its chunks."""
        asked = self._asked(columns)
        found = [np.asarray(self._model.predict(*part), np.float32) for part in asked.batches(self._model.batch_size)]
        return self._answers(found, asked.bounds)

    def check(self, suites: Sequence[Suite]) -> None:
        """Pass the suites on to a model that wants to see them."""
        if isinstance(self._model, ChecksSuites):
            self._model.check(suites)

    def usage(self) -> Mapping[str, float]:
        """What the model uses up, and how many chunks were asked for how many pairs."""
        own = self._model.usage() if isinstance(self._model, Counts) else {}
        return {**own, "chunked pairs": self._pairs, "chunks": self._chunks}

    def _asked(self, columns: Sequence[Sequence[str]]) -> _Asked:
        place = {name: number for number, name in enumerate(self.columns)}
        parts = self._parts(columns[place["premise"]], columns[place["hypothesis"]])
        counts = [len(each) for each in parts]
        asked = [[text for text, count in zip(column, counts, strict=True) for _ in range(count)] for column in columns]
        asked[place["premise"]] = [part for each in parts for part in each]
        self._pairs += sum(count > 1 for count in counts)
        self._chunks += sum(count for count in counts if count > 1)
        return _Asked(asked, np.cumsum([0, *counts]))

    def _parts(self, premises: Sequence[str], hypotheses: Sequence[str]) -> list[list[str]]:
        """The chunks of each premise, the premise itself where it is short enough."""
        sizes, most = self._sizes(premises), self._most(hypotheses)
        long = [premise for premise, size, room in zip(premises, sizes, most, strict=True) if size > room]
        split = _split(list(dict.fromkeys(long)))
        texts = list(dict.fromkeys(text for own in split.values() for _, _, text in own))
        known = dict(zip(texts, self._sizes(texts), strict=True))
        return [
            _chunks(premise, split[premise], known, room) if size > room else [premise]
            for premise, size, room in zip(premises, sizes, most, strict=True)
        ]

    def _sizes(self, texts: Sequence[str]) -> list[int]:
        if self._measure and texts:
            return [int(count) for count in self._measure.token_counts(texts)]
        return [len(text.split()) for text in texts]

    def _most(self, hypotheses: Sequence[str]) -> list[int]:
        if self._measure is None:
            return [self._words] * len(hypotheses)
        return [self._limit - _MARKS - size for size in self._sizes(hypotheses)]

    def _answers(self, found: Sequence[Probabilities], bounds: npt.NDArray[np.int64]) -> Probabilities:
        # A function that answers with label names is known to have hard labels only after it was asked; and it may
        # lose its fingerprint then.
        self.probabilities = self._model.probabilities
        self.fingerprint = self._model.fingerprint and self.fingerprint
        values = np.concatenate([np.empty((0, 3), np.float32), *found])
        rows = [self._answer(values[start:stop]) for start, stop in pairwise(bounds)]
        return np.array(rows, dtype=np.float32).reshape(-1, 3)

    def _answer(self, rows: Probabilities) -> Probabilities:
        told = rows[answered(rows)]
        if len(rows) == 1 or not len(told):
            return np.asarray(rows[0], dtype=np.float32)
        answer = self._aggregate(told)
        return answer if self.probabilities else one_hot([LABELS[answer.argmax()]])[0]


class PreparingChunked(Chunked):
    """A chunked model whose work falls in two, as that of the model inside does."""

    def __init__(self, model: Model, aggregation: str, words: int | None = None) -> None:
        super().__init__(model, aggregation, words)
        assert isinstance(model, Prepares)
        self._preparing: Prepares = model
        self.lengths = model.lengths

    def predict(self, *columns: Sequence[str]) -> Probabilities:
        """One answer for each pair, made of those to its chunks."""
        return self.infer(self.prepare(*columns))

    def prepare(self, *columns: Sequence[str]) -> _PreparedChunks:
        """The chunks of some pairs, made ready in pieces of the model's batch size."""
        asked = self._asked(columns)
        parts = [self._preparing.prepare(*part) for part in asked.batches(self._model.batch_size)]
        cut = np.concatenate([np.empty(0, np.bool_), *(part.truncated for part in parts)])
        truncated = np.array([cut[start:stop].any() for start, stop in pairwise(asked.bounds)], dtype=np.bool_)
        return _PreparedChunks(parts, asked.bounds, truncated)

    def infer(self, prepared: _PreparedChunks) -> Probabilities:
        """One answer for each pair, made of those to its chunks."""
        return self._answers([self._preparing.infer(part) for part in prepared.parts], prepared.bounds)


def _split(texts: Sequence[str]) -> dict[str, list[tuple[int, int, str]]]:
    """The sentences of each text: where they start and end, and what they are with the space before them.

    Some tokenizers make tokens of that space.
    """
    found: dict[str, list[tuple[int, int, str]]] = {text: [] for text in texts}
    for number, start, end, _ in sentences(pl.Series(texts, dtype=pl.String)).iter_rows():
        own = found[texts[number]]
        own.append((start, end, texts[number][own[-1][1] if own else start : end]))
    return found


def _chunks(premise: str, parts: Sequence[tuple[int, int, str]], sizes: Mapping[str, int], most: int) -> list[str]:
    runs = windows([sizes[text] for _, _, text in parts], most)
    return [premise[parts[first][0] : parts[last - 1][1]] for first, last in runs]
