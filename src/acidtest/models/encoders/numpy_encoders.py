"""A small BERT classifier computed with NumPy alone: pairs end to end without padding, with few matrix products.

The first layer reads normalised sums of a word's vector and a position's, so its queries, keys and values are such sums
too: they are looked up in tables made at loading, not multiplied. Of the last layer only the first token is read, so
only its query is computed, and no keys or values: scores are (query · key matrix) · state, contexts are value matrix ·
(weighted sum of states). Biases of keys cancel in the softmax; those of values are added to the bias after attention.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from threading import Lock

import numpy as np
import numpy.typing as npt

from acidtest.core.errors import AcidtestError
from acidtest.models.encoders.pair_tokens import TokenBatch, TokenizedPairs, length_runs
from acidtest.models.encoders.sentence_tokens import Ints

Floats = npt.NDArray[np.float32]
Weights = Mapping[str, Floats]

TOKENS = 1 << 10
"""Tokens computed at once: enough to multiply matrices at full speed, few enough to stay in caches."""

EPSILON = 1e-12
"""The constant that BERT's layer norm adds to the variance."""

_GELU_CUBE = 0.044715
_GELU_ROOT = math.sqrt(2 / math.pi)
_OPENBLAS = ("scipy_openblas_{}_num_threads64_", "openblas_{}_num_threads64_", "openblas_{}_num_threads")


@dataclass(frozen=True)
class Linear:
    """A matrix, laid out for ``states @ matrix``, and a bias."""

    matrix: Floats
    bias: Floats

    def __call__(self, states: Floats) -> Floats:
        result = states @ self.matrix
        result += self.bias
        return result


@dataclass(frozen=True)
class LayerNorm:
    """A layer norm that works in place."""

    weight: Floats
    bias: Floats

    def __call__(self, states: Floats) -> Floats:
        width = np.float32(states.shape[1])
        states -= (np.einsum("ij->i", states) / width)[:, None]
        states *= _inverse_deviation(np.einsum("ij,ij->i", states, states) / width)[:, None]
        states *= self.weight
        states += self.bias
        return states


@dataclass(frozen=True)
class NumpyLayer:
    """One layer; ``mixing`` gives the queries, keys and values of all heads, the other parts come after attention."""

    heads: int
    mixing: Linear
    output: Linear
    output_norm: LayerNorm
    inner: Linear
    outer: Linear
    outer_norm: LayerNorm

    def finish(self, context: Floats, states: Floats) -> Floats:
        """The states after the layer, from the result of attention and the states before the layer."""
        middle = self.output(context)
        middle += states
        middle = self.output_norm(middle)
        result = self.outer(_gelu(self.inner(middle)))
        result += middle
        return self.outer_norm(result)


class NumpyEncoder:
    """A classifier of pairs with the weights that transformers' ``BertForSequenceClassification`` saves.

    Its activation is the tanh approximation of GELU. Layers may differ in the number of heads and the size of the
    feed-forward part; all heads have the same size.
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
        places = (types[:, None] + positions).reshape(-1, self.width)
        self._make_tables(words, places, _layer_norm(weights, "bert.embeddings"))

    def logits(self, tokens: TokenizedPairs) -> Floats:
        result = np.empty((len(tokens.rows), self.outputs), dtype=np.float32)

        def compute(batch: TokenBatch) -> None:
            first = self._first_tokens(self._states(tokens, batch)[-1], tokens.lengths[batch.pairs])
            result[tokens.rows[batch.pairs]] = self._head(np.tanh(self._pooler(first)))

        # One thread per batch: work other than matrix products is parallel too, and no thread waits for another.
        with single_threaded_blas() as count, ThreadPoolExecutor(count, thread_name_prefix="encoder") as pool:
            list(pool.map(compute, reversed(tokens.flat_batches(TOKENS))))
        return result

    def hidden(self, tokens: TokenizedPairs) -> Iterator[tuple[Ints, list[Floats]]]:
        """For pairs of one length at a time: their rows, and float32[n, length, width] of embeddings and each layer."""
        last = self.layers[-1]
        for batch in tokens.flat_batches(TOKENS):
            lengths, rows = tokens.lengths[batch.pairs], tokens.rows[batch.pairs]
            states = self._states(tokens, batch)
            states.append(last.finish(attend(last, last.mixing(states[-1]), lengths), states[-1]))
            for run in length_runs(lengths):
                shape = (run.count, run.longest, self.width)
                yield rows[run.pairs], [layer[run.tokens].reshape(shape) for layer in states]

    def _make_tables(self, words: Floats, places: Floats, norm: LayerNorm) -> None:
        """Tabulate what each word and each place adds to the first layer's input, its projections, and the variance.

        A place is a token type and a position. The sum of centred vectors is centred, and its variance is its mean
        square: the word's square, the place's, and twice their product.
        """
        words = words - words.mean(axis=1, keepdims=True)
        places = places - places.mean(axis=1, keepdims=True)
        mixing = self.layers[0].mixing
        # A single layer is the last one, which needs no projections of all tokens.
        mixes = len(self.layers) > 1
        maps = [np.eye(self.width, dtype=np.float32), *([mixing.matrix] if mixes else [])]
        joined = np.concatenate(maps, axis=1) * norm.weight[:, None]
        self._word_table, self._place_table = words @ joined, places @ joined
        self._constant = np.concatenate([norm.bias, *([mixing(norm.bias[None])[0]] if mixes else [])])
        self._word_squares, self._place_squares = (np.einsum("ij,ij->i", table, table) for table in (words, places))
        self._products = words @ (2 * places.T)

    def _states(self, tokens: TokenizedPairs, batch: TokenBatch) -> list[Floats]:
        lengths, ids = tokens.lengths[batch.pairs], tokens.ids[batch.tokens]
        places = np.arange(len(ids)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        if tokens.types is not None:
            places += self.longest * tokens.types[batch.tokens].astype(np.int64)
        mixed = self._word_table[ids]
        mixed += self._place_table[places]
        squares = self._word_squares[ids] + self._place_squares[places] + self._products[ids, places]
        mixed *= _inverse_deviation(squares / np.float32(self.width))[:, None]
        mixed += self._constant
        states = [mixed[:, : self.width]]
        for number, layer in enumerate(self.layers[:-1]):
            mixture = layer.mixing(states[-1]) if number else mixed[:, self.width :]
            states.append(layer.finish(attend(layer, mixture, lengths), states[-1]))
        return states

    def _first_tokens(self, states: Floats, lengths: Ints) -> Floats:
        """The last layer's states of the first token of each pair."""
        layer = self.layers[-1]
        first = states[np.cumsum(lengths) - lengths]
        query, key, value = layer.mixing.matrix.reshape(self.width, 3, layer.heads, -1).transpose(1, 2, 0, 3)
        bias = layer.mixing.bias.reshape(3, layer.heads, 1, -1)[0]
        queries = (first @ query + bias) @ key.swapaxes(-1, -2)
        sums = np.empty_like(queries)
        for run in length_runs(lengths):
            run_states = states[run.tokens].reshape(run.count, run.longest, self.width)
            scores = queries[:, run.pairs].swapaxes(0, 1) @ run_states.swapaxes(-1, -2)
            _softmax(scores, axis=-1)
            sums[:, run.pairs] = (scores @ run_states).swapaxes(0, 1)
        context = (sums @ value).swapaxes(0, 1).reshape(len(first), -1)
        return layer.finish(context, first)


def attend(layer: NumpyLayer, mixed: Floats, lengths: Ints) -> Floats:
    """The result of attention for every token, from queries, keys and values side by side."""
    context = np.empty((len(mixed), mixed.shape[1] // 3), dtype=np.float32)
    for run in length_runs(lengths):
        shape = (run.count, run.longest, 3, layer.heads, -1)
        queries, keys, values = mixed[run.tokens].reshape(shape).transpose(2, 0, 3, 1, 4)
        # Keys are rows and queries are columns: maxima and sums over keys then read contiguous rows of queries.
        scores = keys @ queries.swapaxes(-1, -2)
        _softmax(scores, axis=-2)
        target = context[run.tokens].reshape(run.count, run.longest, layer.heads, -1).swapaxes(1, 2)
        np.matmul(scores.swapaxes(-1, -2), values, out=target)
    return context


def _softmax(scores: Floats, *, axis: int) -> None:
    scores -= scores.max(axis=axis, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=axis, keepdims=True)


def _inverse_deviation(variance: Floats) -> Floats:
    return np.asarray(1 / np.sqrt(variance + np.float32(EPSILON)), dtype=np.float32)


def _gelu(states: Floats) -> Floats:
    """Twice the tanh approximation of GELU: the matrix that follows is halved at loading."""
    inside = states * states
    inside *= np.float32(_GELU_CUBE * _GELU_ROOT)
    inside += np.float32(_GELU_ROOT)
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


def _layer_norm(weights: Weights, name: str) -> LayerNorm:
    return LayerNorm(*(_array(weights, f"{name}.LayerNorm.{part}") for part in ("weight", "bias")))


def _layer(weights: Weights, name: str, head_size: int) -> NumpyLayer:
    query, key, value = (_linear(weights, f"{name}.attention.self.{part}") for part in ("query", "key", "value"))
    heads, rest = divmod(len(query.bias), head_size)
    if rest:
        raise AcidtestError(f"{name}: queries {len(query.bias)} wide cannot be split into heads of {head_size}")
    scale = np.float32(1 / math.sqrt(head_size))
    mixing = Linear(
        np.concatenate([query.matrix * scale, key.matrix, value.matrix], axis=1),
        np.concatenate([query.bias * scale, np.zeros(2 * len(query.bias), dtype=np.float32)]),
    )
    output = _linear(weights, f"{name}.attention.output.dense")
    outer = _linear(weights, f"{name}.output.dense")
    return NumpyLayer(
        heads,
        mixing,
        Linear(output.matrix, output.bias + value.bias @ output.matrix),
        _layer_norm(weights, f"{name}.attention.output"),
        _linear(weights, f"{name}.intermediate.dense"),
        Linear(outer.matrix * np.float32(0.5), outer.bias),
        _layer_norm(weights, f"{name}.output"),
    )


@contextmanager
def single_threaded_blas() -> Iterator[int]:
    """Keep BLAS to one thread inside the block; yields the number of threads that may call NumPy at once.

    It is the number of threads that BLAS would use itself, which its environment variables can set. It is 1 where BLAS
    is not the OpenBLAS of NumPy's wheels, because others cannot be limited from here. When several blocks are open, the
    first reads the number and the last restores it.
    """
    blas = _find_openblas()
    if blas is None:
        yield 1
        return
    with blas.lock:
        if not blas.blocks:
            blas.count = max(1, blas.get_threads())
            blas.set_threads(1)
        blas.blocks += 1
    try:
        yield blas.count
    finally:
        with blas.lock:
            blas.blocks -= 1
            if not blas.blocks:
                blas.set_threads(blas.count)


@dataclass
class OpenBlas:
    """Reads and sets the number of OpenBLAS threads; ``count`` is restored when the last of ``blocks`` ends."""

    get_threads: Callable[[], int]
    set_threads: Callable[[int], object]
    count: int = 1
    blocks: int = 0
    lock: Lock = field(default_factory=Lock)


@cache
def _find_openblas() -> OpenBlas | None:
    """The OpenBLAS of NumPy's wheel; None if it has none."""
    home = Path(np.__file__).parent
    for path in sorted(path for folder in (home.parent / "numpy.libs", home / ".dylibs") for path in folder.glob("*")):
        if "openblas" not in path.name:
            continue
        with suppress(OSError):
            library = ctypes.CDLL(str(path))
            for name in _OPENBLAS:
                with suppress(AttributeError):
                    return OpenBlas(library[name.format("get")], library[name.format("set")])
    return None
