"""A small BERT classifier computed with NumPy alone: pairs end to end without padding, as little arithmetic as may be.

The first layer reads normalised sums of a word's vector and a place's, so its queries, keys and values are such sums
too: they are looked up in tables made at loading, not multiplied. Of the last layer only the first token is read, so
only its query is asked, and no keys or values are made: scores are (query · key matrix) · state, contexts are value
matrix · (weighted sum of states). Biases of keys cancel in the softmax; those of values go into the bias that follows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from acidtest.core.errors import AcidtestError
from acidtest.models.encoders.blas_threads import own_threads
from acidtest.models.encoders.pair_tokens import PairTokens
from acidtest.models.encoders.token_batches import Ints, TokenBatch, flat_batches, runs

Floats = npt.NDArray[np.float32]
Weights = Mapping[str, Floats]

TOKENS = 1 << 10
"""Tokens computed at once: enough for matrices to be multiplied at full speed, few enough to stay in caches."""

EPSILON = 1e-12
"""What BERT adds to a variance."""

_CUBE = 0.044715
_ROOT = math.sqrt(2 / math.pi)


@dataclass(frozen=True)
class Linear:
    """A matrix, laid out for ``states @ matrix``, and a bias."""

    matrix: Floats
    bias: Floats

    def __call__(self, states: Floats) -> Floats:
        found = states @ self.matrix
        found += self.bias
        return found


@dataclass(frozen=True)
class Norm:
    """A layer norm."""

    weight: Floats
    bias: Floats

    def __call__(self, states: Floats) -> Floats:
        """The states, normalised in place."""
        width = np.float32(states.shape[1])
        states -= (np.einsum("ij->i", states) / width)[:, None]
        states *= _inverse_deviation(np.einsum("ij,ij->i", states, states) / width)[:, None]
        states *= self.weight
        states += self.bias
        return states


@dataclass(frozen=True)
class Layer:
    """``mixing`` makes queries, keys and values of all heads; the rest is what follows once attention has used them."""

    heads: int
    mixing: Linear
    output: Linear
    output_norm: Norm
    inner: Linear
    outer: Linear
    outer_norm: Norm

    def rest(self, context: Floats, states: Floats) -> Floats:
        """The next states, from what attention found and the states it read."""
        found = self.output(context)
        found += states
        found = self.output_norm(found)
        result = self.outer(_gelu(self.inner(found)))
        result += found
        return self.outer_norm(result)


class Encoder:
    """A classifier of pairs with the weights that transformers' ``BertForSequenceClassification`` saves.

    Its activation is gelu by tanh. Layers may differ in how many heads they have, all of one size, and in the size of
    their feed-forward halves.
    """

    def __init__(self, weights: Weights, head_size: int) -> None:
        words = _array(weights, "bert.embeddings.word_embeddings.weight")
        positions = _array(weights, "bert.embeddings.position_embeddings.weight")
        types = _array(weights, "bert.embeddings.token_type_embeddings.weight")
        self.words, self.width = words.shape
        self.longest = len(positions)
        count = sum(name.endswith(".attention.self.query.weight") for name in weights)
        self.layers = tuple(_layer(weights, f"bert.encoder.layer.{number}", head_size) for number in range(count))
        if not self.layers:
            raise AcidtestError("the weights have no bert.encoder.layer.0; an encoder has one layer at least")
        self._pooler = _linear(weights, "bert.pooler.dense")
        self._head = _linear(weights, "classifier")
        self.outputs = len(self._head.bias)
        self._lay_tables(words, (types[:, None] + positions).reshape(-1, self.width), _norm(weights, "bert.embeddings"))

    def logits(self, tokens: PairTokens) -> Floats:
        """float32[n, outputs] in the pairs' own order."""
        result = np.empty((len(tokens.rows), self.outputs), dtype=np.float32)
        starts = tokens.starts

        def compute(batch: TokenBatch) -> None:
            lengths = tokens.lengths[batch.start : batch.stop]
            first = self._first_tokens(self._states(tokens, batch, int(starts[batch.start]))[-1], lengths)
            result[tokens.rows[batch.start : batch.stop]] = self._head(np.tanh(self._pooler(first)))

        # Whole batches to a thread: what NumPy does besides multiplying is then shared out, too, and none waits.
        with own_threads() as count, ThreadPoolExecutor(count, thread_name_prefix="encoder") as pool:
            list(pool.map(compute, reversed(flat_batches(tokens.lengths, TOKENS))))
        return result

    def hidden(self, tokens: PairTokens) -> Iterator[tuple[Ints, list[Floats]]]:
        """Pairs of one length at a time: which they are, and float32[n, length, width] of embeddings and each layer."""
        starts = tokens.starts
        for batch in flat_batches(tokens.lengths, TOKENS):
            lengths = tokens.lengths[batch.start : batch.stop]
            states = self._states(tokens, batch, int(starts[batch.start]))
            last = self.layers[-1]
            states.append(last.rest(attended(last, last.mixing(states[-1]), lengths), states[-1]))
            rows = tokens.rows[batch.start : batch.stop]
            for pairs, part, shape in _alike(lengths):
                yield rows[pairs], [layer[part].reshape(*shape, self.width) for layer in states]

    def _lay_tables(self, words: Floats, places: Floats, norm: Norm) -> None:
        """For every word and place: its share of what the first layer reads and mixes, and of the variance.

        Centred vectors have a centred sum, whose variance is its mean square: the word's, the place's, and twice the
        product of the two.
        """
        words = words - words.mean(axis=1, keepdims=True)
        places = places - places.mean(axis=1, keepdims=True)
        mixing = self.layers[0].mixing
        # Where the first layer is also the last, nothing mixes its states.
        mixed = len(self.layers) > 1
        maps = [np.eye(self.width, dtype=np.float32), *([mixing.matrix] if mixed else [])]
        joined = np.concatenate(maps, axis=1) * norm.weight[:, None]
        self._word_table, self._place_table = words @ joined, places @ joined
        self._constant = np.concatenate([norm.bias, *([mixing(norm.bias[None])[0]] if mixed else [])])
        self._word_squares, self._place_squares = (np.einsum("ij,ij->i", each, each) for each in (words, places))
        self._products = words @ (2 * places.T)

    def _states(self, tokens: PairTokens, batch: TokenBatch, start: int) -> list[Floats]:
        """What each layer reads of a batch whose first token stands at ``start``."""
        lengths = tokens.lengths[batch.start : batch.stop]
        ends = np.cumsum(lengths)
        part = slice(start, start + int(ends[-1]))
        ids = tokens.ids[part]
        places = np.arange(len(ids)) - np.repeat(ends - lengths, lengths)
        if tokens.types is not None:
            places += self.longest * tokens.types[part].astype(np.int64)
        mixed = self._word_table[ids]
        mixed += self._place_table[places]
        squares = self._word_squares[ids] + self._place_squares[places] + self._products[ids, places]
        mixed *= _inverse_deviation(squares / np.float32(self.width))[:, None]
        mixed += self._constant
        found = [mixed[:, : self.width]]
        for number, layer in enumerate(self.layers[:-1]):
            own = layer.mixing(found[-1]) if number else mixed[:, self.width :]
            found.append(layer.rest(attended(layer, own, lengths), found[-1]))
        return found

    def _first_tokens(self, states: Floats, lengths: Ints) -> Floats:
        """The last layer's states of the pairs' first tokens."""
        layer = self.layers[-1]
        first = states[np.cumsum(lengths) - lengths]
        query, key, value = layer.mixing.matrix.reshape(self.width, 3, layer.heads, -1).transpose(1, 2, 0, 3)
        bias = layer.mixing.bias.reshape(3, layer.heads, 1, -1)[0]
        asked = (first @ query + bias) @ key.swapaxes(-1, -2)
        found = np.empty_like(asked)
        for pairs, part, shape in _alike(lengths):
            own = states[part].reshape(*shape, self.width)
            scores = asked[:, pairs].swapaxes(0, 1) @ own.swapaxes(-1, -2)
            _softmax(scores, axis=-1)
            found[:, pairs] = (scores @ own).swapaxes(0, 1)
        context = (found @ value).swapaxes(0, 1).reshape(len(first), -1)
        return layer.rest(context, first)


def attended(layer: Layer, mixed: Floats, lengths: Ints) -> Floats:
    """What every token finds in its pair, from queries, keys and values side by side."""
    context = np.empty((len(mixed), mixed.shape[1] // 3), dtype=np.float32)
    for _, part, (count, length) in _alike(lengths):
        queries, keys, values = mixed[part].reshape(count, length, 3, layer.heads, -1).transpose(2, 0, 3, 1, 4)
        # Keys down and queries across: maxima and sums over keys then run along memory, many queries at once.
        scores = keys @ queries.swapaxes(-1, -2)
        _softmax(scores, axis=-2)
        own = context[part].reshape(count, length, layer.heads, -1).swapaxes(1, 2)
        np.matmul(scores.swapaxes(-1, -2), values, out=own)
    return context


def _softmax(scores: Floats, *, axis: int) -> None:
    """In place."""
    scores -= scores.max(axis=axis, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=axis, keepdims=True)


def _alike(lengths: Ints) -> Iterator[tuple[slice, slice, tuple[int, int]]]:
    """Runs of pairs of one length: the pairs, their tokens, and how many by how many those are."""
    pair = token = 0
    for length, count in runs(lengths):
        yield slice(pair, pair + count), slice(token, token + count * length), (count, length)
        pair, token = pair + count, token + count * length


def _inverse_deviation(variance: Floats) -> Floats:
    return np.asarray(1 / np.sqrt(variance + np.float32(EPSILON)), dtype=np.float32)


def _gelu(states: Floats) -> Floats:
    """The activation by tanh, doubled: the matrix that follows is halved at loading."""
    inside = states * states
    inside *= np.float32(_CUBE * _ROOT)
    inside += np.float32(_ROOT)
    inside *= states
    np.tanh(inside, out=inside)
    inside += 1
    inside *= states
    return inside


def _array(weights: Weights, name: str) -> Floats:
    if name not in weights:
        raise AcidtestError(f"the weights lack {name}; expected those of a BertForSequenceClassification")
    return np.asarray(weights[name], dtype=np.float32)


def _linear(weights: Weights, name: str) -> Linear:
    matrix = _array(weights, f"{name}.weight")
    return Linear(np.ascontiguousarray(matrix.T), _array(weights, f"{name}.bias"))


def _norm(weights: Weights, name: str) -> Norm:
    return Norm(*(_array(weights, f"{name}.LayerNorm.{part}") for part in ("weight", "bias")))


def _layer(weights: Weights, name: str, head_size: int) -> Layer:
    query, key, value = (_linear(weights, f"{name}.attention.self.{part}") for part in ("query", "key", "value"))
    heads, rest = divmod(len(query.bias), head_size)
    if rest:
        raise AcidtestError(f"{name}: queries {len(query.bias)} wide cannot be parted into heads of {head_size}")
    scale = np.float32(1 / math.sqrt(head_size))
    mixing = Linear(
        np.concatenate([query.matrix * scale, key.matrix, value.matrix], axis=1),
        np.concatenate([query.bias * scale, np.zeros(2 * len(query.bias), dtype=np.float32)]),
    )
    output = _linear(weights, f"{name}.attention.output.dense")
    outer = _linear(weights, f"{name}.output.dense")
    return Layer(
        heads,
        mixing,
        Linear(output.matrix, output.bias + value.bias @ output.matrix),
        _norm(weights, f"{name}.attention.output"),
        _linear(weights, f"{name}.intermediate.dense"),
        Linear(outer.matrix * np.float32(0.5), outer.bias),
        _norm(weights, f"{name}.output"),
    )
