"""``baseline:…``: models that follow one simple rule, to compare other models' scores with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.digests import digests
from acidtest.core.draws import Draws
from acidtest.core.errors import AcidtestError, UnknownNameError
from acidtest.core.labels import LABELS, one_hot
from acidtest.core.model import MODELS, CompletedModel, Keep, Model
from acidtest.models import wordnet
from acidtest.text import heuristics

Rule = Callable[[pl.Series, pl.Series], npt.NDArray[np.float32]]


class Baseline:
    """A rule from premises and hypotheses to labels."""

    probabilities = False
    batch_size = 1 << 15
    keep: Keep = "nothing"

    def __init__(self, name: str, rule: Rule, *, may_abstain: bool = False, revision: int = 1) -> None:
        self.name = name
        self.fingerprint = name if revision == 1 else f"{name}|r{revision}"
        self.may_abstain = may_abstain
        self._rule = rule

    def predict(self, premises: Sequence[str], hypotheses: Sequence[str]) -> npt.NDArray[np.float32]:
        """One-hot rows of the rule's labels; rows of NaN where it has no answer."""
        return self._rule(pl.Series(premises, dtype=pl.String), pl.Series(hypotheses, dtype=pl.String))


@MODELS.add("baseline")
def baseline(rest: str) -> Model:
    """A baseline by name; what follows a second colon is its argument."""
    name, _, argument = rest.partition(":")
    if name not in BASELINES:
        raise UnknownNameError("baseline", name, BASELINES)
    rule = BASELINES[name](argument)
    model = Baseline(f"baseline:{rest}", rule, may_abstain=name in ABSTAINING, revision=REVISIONS.get(name, 1))
    return CompletedModel(model, rest)


def majority(argument: str) -> Rule:
    """One label for everything: entailment, the commonest in SNLI and MNLI, or the one named."""
    label = argument or "entailment"
    if label not in LABELS:
        raise AcidtestError(f"baseline:majority:{label}: the label is {', '.join(LABELS[:-1])} or {LABELS[-1]}")
    return lambda premises, _: np.repeat(one_hot([label]), len(premises), axis=0)


def random(argument: str) -> Rule:
    """A random label for every pair, always the same for the same pair and seed."""
    if argument and not argument.isdecimal():
        raise AcidtestError(f"baseline:random:{argument}: the seed is a whole number")
    draws = Draws(int(argument or 0), "baseline:random")
    return lambda premises, hypotheses: np.eye(3, dtype=np.float32)[
        draws.choices(digests(premises, hypotheses), 3, "label")
    ]


def overlap(argument: str) -> Rule:
    """Entailment when every word of the hypothesis is in the premise, else neutral."""
    _refuse_argument("overlap", argument)
    return lambda premises, hypotheses: _entailment_where(heuristics.lexical_overlap(premises, hypotheses))


def subsequence(argument: str) -> Rule:
    """Entailment when the hypothesis is a run of words of the premise, else neutral."""
    _refuse_argument("subsequence", argument)
    return lambda premises, hypotheses: _entailment_where(heuristics.subsequence(premises, hypotheses))


BASELINES: Mapping[str, Callable[[str], Rule]] = {
    "majority": majority,
    "random": random,
    "overlap": overlap,
    "subsequence": subsequence,
    "wordnet": wordnet.replacement,
    "wordnet-aligned": wordnet.aligned,
}

ABSTAINING = frozenset({"wordnet"})
"""Baselines that may leave a pair unanswered."""

REVISIONS = {"wordnet": 2}
"""Increase when a baseline answers differently, so that runs do not mix its answers with older ones."""


def _entailment_where(condition: pl.Series) -> npt.NDArray[np.float32]:
    return np.eye(3, dtype=np.float32)[np.where(condition.to_numpy(), 0, 1)]


def _refuse_argument(name: str, argument: str) -> None:
    if argument:
        raise AcidtestError(f"baseline:{name} takes no argument, but {argument!r} was given")
