"""The base class of classifiers that read tokens: tokenization, probabilities, usage counts and labels."""

from __future__ import annotations

import shlex
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from itertools import chain

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.errors import AcidtestError
from acidtest.core.model import Keep, Probabilities, Resolution
from acidtest.models.encoders.pair_tokens import SAMPLES, TokenizedPairs, TokenizesPairs
from acidtest.models.label_maps import ALPHA, LabelMap, check_gold_order, find_label_map

USAGE = ("pairs", "tokens", "padding", "truncated", "tokeniser_s", "device_s")

MOST_TOKENS = 1 << 20
"""Most tokens in a pair where neither tokenizer nor positions set a limit."""

Floats = npt.NDArray[np.float32]


def choose_length(
    spec: str, wanted: int, positions: int | None, *, limits: Sequence[float | None], default: int
) -> int:
    """The most tokens in a pair: ``wanted``, or if that is 0 the least of ``positions`` and the other limits."""
    if wanted < 0:
        raise AcidtestError(f"{spec}: --max-length is {wanted}; it is from 1 on, or 0 for the model's own")
    if positions and wanted > positions:
        raise AcidtestError(f"{spec}: --max-length {wanted} is more than the {positions} tokens it can take")
    # Transformers writes 10**30 for no limit.
    known = [int(limit) for limit in (positions, *limits) if limit and 0 < limit < MOST_TOKENS]
    return wanted or min(known, default=default)


class TokenClassifier(ABC):
    """A classifier of pairs of texts; ``prepare`` tokenizes and ``infer`` computes, if need be in different threads."""

    columns: tuple[str, ...] = ("premise", "hypothesis")
    probabilities = True
    may_abstain = False
    keep: Keep = "always"
    lengths = True
    resolution: Resolution = "three-way"
    notes: tuple[str, ...] = ()

    _map: LabelMap
    _spec = ""
    """What the user called the model, if somebody declared the order of its labels."""
    _trusted = False
    """Whether the user insists on that order."""

    def __init__(self, name: str, tokenizer: TokenizesPairs) -> None:
        self.name = name
        self.limit: int | None = tokenizer.longest
        self._tokenizer = tokenizer
        self._usage = dict.fromkeys(USAGE, 0.0)

    def predict(self, *columns: Sequence[str]) -> Probabilities:
        return self.infer(self.prepare(*columns))

    def prepare(self, *columns: Sequence[str]) -> TokenizedPairs:
        """The pairs as tokens, in ascending order of length."""
        start = time.perf_counter()
        premises, hypotheses = columns
        tokens = self._tokenizer.tokens(premises, hypotheses)
        self._usage["truncated"] += int(tokens.truncated.sum())
        self._usage["tokeniser_s"] += time.perf_counter() - start
        return tokens

    def infer(self, prepared: TokenizedPairs) -> Probabilities:
        """Probabilities in the original order of the pairs."""
        return self._map.probabilities(self._logits(prepared))

    def usage(self) -> Mapping[str, float]:
        """Pairs, tokens, padding tokens, truncated pairs, and seconds in the tokenizer and on the device so far."""
        return dict(self._usage)

    def token_counts(self, texts: Sequence[str]) -> Sequence[int]:
        return self._tokenizer.counts(texts)

    @property
    def outputs(self) -> tuple[str, ...]:
        return self._map.outputs

    @abstractmethod
    def _compute(self, tokens: TokenizedPairs) -> tuple[Floats, int]:
        """float32[n, outputs] in the original order of the pairs, and the number of padding tokens computed."""

    def _logits(self, tokens: TokenizedPairs) -> Floats:
        start = time.perf_counter()
        values, padding = self._compute(tokens)
        for name, count in (("pairs", len(tokens.rows)), ("tokens", len(tokens.ids)), ("padding", padding)):
            self._usage[name] += count
        self._usage["device_s"] += time.perf_counter() - start
        return values

    def _agrees(self, tokens: TokenizedPairs, expected: Floats, tolerance: float) -> bool:
        """Whether logits are near ``expected``, relative to its largest or to 1; true if it is not all finite."""
        if not np.isfinite(expected).all():
            return True
        difference = float(np.abs(self._logits(tokens) - expected).max())
        return difference <= tolerance * max(1.0, float(np.abs(expected).max()))

    def _sample(self) -> TokenizedPairs:
        """A few pairs of different lengths, on which ways to compute the logits are compared."""
        return self.prepare(*map(list, zip(*SAMPLES, strict=True)))

    def check_label_order(self, rows: pl.DataFrame, *, suite: str, options: Mapping[str, str], decisive: bool) -> None:
        """Compare the order of the outputs with gold, unless acidtest itself gave the model its outputs."""
        test, outputs = self._map.test, self.outputs

        def is_favoured(meant: Mapping[str, str]) -> bool:
            return test is not None and test.p(outputs, tuple(meant[name] for name in outputs)) < ALPHA

        def remedy(exchange: Mapping[str, str]) -> str:
            order = ",".join(exchange.get(name, name) for name in outputs)
            of_suites = filter(None, chain(*options.items()))
            return shlex.join(["acidtest", "run", "-m", self._spec, *of_suites, "--labels", order])

        if self._spec:
            check_gold_order(
                rows,
                resolution=self.resolution,
                where=f"{self._spec} on {suite}",
                decisive=decisive,
                remedy=remedy,
                trusted=self._trusted,
                is_favoured=is_favoured,
                confirmed=test is not None and test.is_best(outputs),
            )

    def _find_labels(self, names: Sequence[str], *, spec: str, labels: str, renamed: str, trusted: bool) -> None:
        """Set the meaning of the outputs, its notes and the resolution, then reset the usage counts."""

        def logits(premises: Sequence[str], hypotheses: Sequence[str]) -> Floats:
            return self._logits(self.prepare(premises, hypotheses))

        self._map = find_label_map(names, logits, spec=spec, labels=labels, renamed=renamed, trusted=trusted)
        self._spec, self._trusted = spec, trusted
        self.resolution = self._map.resolution
        self.notes = self._map.notes
        self._usage = dict.fromkeys(USAGE, 0.0)
