"""What classifiers that read tokens share, whatever computes them: pairs made ready, answers, counts and labels."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from acidtest.core.logs import log
from acidtest.core.model import Keep, Probabilities, Resolution
from acidtest.models.encoders.pair_tokens import SAMPLES, CutsPairs, PairTokens
from acidtest.models.label_maps import LabelMap, label_map_of

USAGE = ("pairs", "tokens", "padding", "truncated", "tokeniser_s", "device_s")

Floats = npt.NDArray[np.float32]


class TokenClassifier(ABC):
    """A classifier of pairs of texts: tokens in one thread, arithmetic in another."""

    columns: tuple[str, ...] = ("premise", "hypothesis")
    probabilities = True
    may_abstain = False
    keep: Keep = "always"
    lengths = True
    resolution: Resolution = "three-way"
    notes: tuple[str, ...] = ()

    _map: LabelMap

    def __init__(self, name: str, tokenizer: CutsPairs) -> None:
        self.name = name
        self.limit: int | None = tokenizer.longest
        self._tokenizer = tokenizer
        self._usage = dict.fromkeys(USAGE, 0.0)

    def predict(self, *columns: Sequence[str]) -> Probabilities:
        """float32[n, 3] for premises and hypotheses."""
        return self.infer(self.prepare(*columns))

    def prepare(self, *columns: Sequence[str]) -> PairTokens:
        """The pairs as tokens, in order of length."""
        start = time.perf_counter()
        premises, hypotheses = columns
        tokens = self._tokenizer.tokens(premises, hypotheses)
        self._usage["truncated"] += int(tokens.truncated.sum())
        self._usage["tokeniser_s"] += time.perf_counter() - start
        return tokens

    def infer(self, prepared: PairTokens) -> Probabilities:
        """Probabilities in the pairs' own order."""
        return self._map.probabilities(self._logits(prepared))

    def usage(self) -> Mapping[str, float]:
        """Pairs, tokens, tokens of padding, pairs cut, and seconds in the tokeniser and on the device so far."""
        return dict(self._usage)

    def token_counts(self, texts: Sequence[str]) -> Sequence[int]:
        """How many tokens each text has on its own."""
        return self._tokenizer.counts(texts)

    @property
    def outputs(self) -> tuple[str, ...]:
        """The label that each output means."""
        return self._map.outputs

    @property
    def _cutting(self) -> str:
        return f"pairs are cut to {self.limit} tokens, the end of the premise first"

    @abstractmethod
    def _computed(self, tokens: PairTokens) -> tuple[Floats, int]:
        """float32[n, outputs] in the pairs' own order, and how many tokens of padding went through with them."""

    def _logits(self, tokens: PairTokens) -> Floats:
        start = time.perf_counter()
        values, padding = self._computed(tokens)
        for name, count in (("pairs", len(tokens.rows)), ("tokens", len(tokens.ids)), ("padding", padding)):
            self._usage[name] += count
        self._usage["device_s"] += time.perf_counter() - start
        return values

    def _sample(self) -> PairTokens:
        """A few pairs of different lengths, to try on them how a classifier is best computed."""
        return self.prepare(*map(list, zip(*SAMPLES, strict=True)))

    def _find_labels(self, names: Sequence[str], *, owner: str, labels: str, renamed: str) -> None:
        """Settle what the outputs mean; what was computed to find out, and before, counts as nothing used."""

        def logits(premises: Sequence[str], hypotheses: Sequence[str]) -> Floats:
            return self._logits(self.prepare(premises, hypotheses))

        self._map = label_map_of(names, logits, owner=owner, labels=labels, renamed=renamed)
        if self._map.doubt:
            log.warning("%s: %s", owner, self._map.doubt)
        self.resolution = self._map.resolution
        self.notes = (*self._map.notes, self._cutting)
        self._usage = dict.fromkeys(USAGE, 0.0)
