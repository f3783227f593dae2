"""Which output of a classifier means which label: by name, by probing, or as the user says."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from acidtest.core.errors import AcidtestError
from acidtest.core.labels import LABELS, TWO_WAY_LABELS, gold_name
from acidtest.core.model import Probabilities, Resolution

Floats = npt.NDArray[np.float64]
Logits = Callable[[Sequence[str], Sequence[str]], npt.NDArray[np.float32]]
"""float[n, outputs] for premises and hypotheses."""

HEAD_SPELLINGS: Mapping[str, str] = MappingProxyType(
    {
        "entail": "entailment",
        "support": "entailment",
        "supports": "entailment",
        "supported": "entailment",
        "contradict": "contradiction",
        "contradicted": "contradiction",
        "refute": "contradiction",
        "refutes": "contradiction",
        "refuted": "contradiction",
        "neither": "neutral",
        "not enough info": "neutral",
        "unsupported": "non-entailment",
        "not supported": "non-entailment",
        "not entailed": "non-entailment",
    }
)
"""Names that outputs of models have beyond those of files, fact checkers' among them."""

ENOUGH_RIGHT = 0.75
"""The share of probe pairs, mean over labels, that an order must get right.

A head that knows nothing of the labels gets there, in the best of its orders, less often than once in 1,000 with two
outputs and never in practice with three; a model trained on inference answers nearly all of them right.
"""

ENOUGH_PREFERENCE = 0.75
"""The share of probe pairs that must be likelier under the chosen order than under the next best, where they differ."""

ENOUGH_APART = 0.9
"""How often a supported pair must score above an unsupported one (or below, for a score of the opposite)."""


@dataclass(frozen=True)
class LabelMap:
    """The label of each output, how it was found, and what is doubtful about it."""

    outputs: tuple[str, ...]
    how: str
    doubt: str = ""

    @property
    def resolution(self) -> Resolution:
        """Two-way for one score or two outputs."""
        return "three-way" if len(self.outputs) == 3 else "two-way"

    @property
    def notes(self) -> tuple[str, ...]:
        """The map as a reader of results is told it."""
        shown = ", ".join(f"{number} = {label}" for number, label in enumerate(self.outputs))
        if len(self.outputs) == 1:
            shown = f"a high score = {self.outputs[0]}"
        return (f"labels by {self.how}: {shown}", *([self.doubt] if self.doubt else []))

    def probabilities(self, logits: npt.NDArray[np.floating]) -> Probabilities:
        """Rows of entailment, neutral (two-way: non-entailment), contradiction; of NaN where a logit is not finite."""
        values = np.asarray(logits, dtype=np.float64)
        broken = ~np.asarray(np.isfinite(values).all(axis=1))
        likely = np.exp(_log_probabilities(np.where(broken[:, None], 0, values)))
        names = self.outputs if len(self.outputs) > 1 else (self.outputs[0], _other(self.outputs[0]))
        result = np.zeros((len(values), 3), dtype=np.float32)
        for output, name in enumerate(names):
            result[:, 1 if name == "non-entailment" else LABELS.index(name)] = likely[:, output]
        result[broken] = np.nan
        return result


def label_map_of(names: Sequence[str], logits: Logits, *, owner: str, labels: str = "", renamed: str = "") -> LabelMap:
    """The map of a head whose outputs have these names: as the user says, else by name, else by probing.

    ``labels`` lists the labels of the outputs in order, ``renamed`` says ``theirs=ours`` for some or all of them.
    """
    if len(names) not in (1, 2, 3):
        raise AcidtestError(f"{owner} has {len(names)} outputs; a model of inference has three, two, or one score")
    if labels and renamed:
        raise AcidtestError(f"{owner}: give --labels or --label-map, not both")
    if labels:
        return LabelMap(_checked(_listed(labels, owner), names, owner), "--labels")
    if renamed:
        return LabelMap(_checked(_renamed(renamed, names, owner), names, owner), "--label-map")
    if all(_is_number(name) for name in names):
        return _probed(names, logits, owner)
    known = _checked([_named(name) or name for name in names], names, owner)
    return LabelMap(known, "id2label", _doubt(known, logits))


def _named(name: str) -> str | None:
    plain = re.sub(r"[\s_-]+", " ", name.strip().lower())
    return gold_name(name) or gold_name(plain) or HEAD_SPELLINGS.get(plain)


def _is_number(name: str) -> bool:
    return re.fullmatch(r"(label[ _-]?)?\d+", name.strip().lower()) is not None


def _other(label: str) -> str:
    return "non-entailment" if label == "entailment" else "entailment"


def _orders(size: int) -> list[tuple[str, ...]]:
    if size == 1:
        return [(name,) for name in TWO_WAY_LABELS]
    return list(permutations(LABELS if size == 3 else TWO_WAY_LABELS))


def _checked(found: Sequence[str], names: Sequence[str], owner: str) -> tuple[str, ...]:
    """The labels if they are an order that a head of this many outputs can have."""
    if tuple(found) in _orders(len(names)):
        return tuple(found)
    expected = {1: "entailment or non-entailment", 2: "entailment and non-entailment", 3: "each of the three labels"}
    shown = ", ".join(f"{number} = {label}" for number, label in enumerate(found))
    raise AcidtestError(
        f"{owner}: its {len(names)} outputs ({', '.join(names)}) would mean {shown}; expected "
        f"{expected[len(names)]}, once each. Say what they mean with --label-map "
        + ",".join(f"{name}=…" for name in names)
    )


def _listed(labels: str, owner: str) -> list[str]:
    return [_known(label, owner) for label in labels.split(",")]


def _known(label: str, owner: str) -> str:
    name = _named(label)
    if name is None:
        raise AcidtestError(f"{owner}: {label.strip()!r} is no label; write {', '.join(LABELS)} or non-entailment")
    return name


def _renamed(renamed: str, names: Sequence[str], owner: str) -> list[str]:
    given: dict[int, str] = {}
    for item in renamed.split(","):
        theirs, sign, ours = item.partition("=")
        if not sign:
            raise AcidtestError(f"{owner}: --label-map {item!r} is not THEIRS=OURS, such as LABEL_0=contradiction")
        place, label = _place(theirs.strip(), names, owner), _known(ours, owner)
        if given.setdefault(place, label) != label:
            raise AcidtestError(
                f"{owner}: --label-map says of output {place} ({names[place]}) both {given[place]} and {label}"
            )
        if theirs.strip().isdecimal() and _named(names[place]) not in (None, label):
            raise AcidtestError(
                f"{owner}: its output {place} is called {names[place]!r}, and --label-map {item.strip()} says "
                f"otherwise; the labels of a suite's file go into --suite-label-map, and if the name is wrong, "
                f"name the output: --label-map {names[place]}={label}"
            )
    return [given.get(place) or _named(name) or name for place, name in enumerate(names)]


def _place(theirs: str, names: Sequence[str], owner: str) -> int:
    plain = [name.strip().lower() for name in names]
    if theirs.lower() in plain:
        return plain.index(theirs.lower())
    number = re.fullmatch(r"(?:label_)?(\d+)", theirs.lower())
    if number and int(number[1]) < len(names):
        return int(number[1])
    raise AcidtestError(f"{owner} has no output {theirs!r}; it has {', '.join(names)} (0 to {len(names) - 1})")


@dataclass(frozen=True)
class _Reading:
    """How well the likeliest order of labels explains what a head says of the probe pairs."""

    order: tuple[str, ...]
    share: float
    clear: bool
    needed: float
    doubt: str = ""


def _read_off(logits: Logits, size: int) -> _Reading:
    premises, hypotheses, gold = probe_pairs()
    values = np.asarray(logits(premises, hypotheses), dtype=np.float64)
    if not np.isfinite(values).all():
        return _Reading(_orders(size)[0], 0.0, clear=False, needed=ENOUGH_RIGHT)
    return _read_score(values[:, 0], gold) if size == 1 else _read_classes(values, gold)


def _read_classes(values: Floats, gold: list[str]) -> _Reading:
    likely = _log_probabilities(values)
    orders = _orders(values.shape[1])
    targets = np.array([[order.index(_coarse(label, order)) for label in gold] for order in orders])
    of_pair = likely[np.arange(len(gold)), targets]
    # Labels weigh alike, however many pairs they have: with two outputs twice as many are not entailed.
    weights = np.array([1 / gold_count for gold_count in _counts(gold, orders[0])])
    best, second = np.argsort(-(of_pair @ weights), kind="stable")[:2]
    right = (values.argmax(axis=1) == targets[best]) @ weights / weights.sum()
    differing = targets[best] != targets[second]
    preferred = np.mean(of_pair[best][differing] > of_pair[second][differing])
    clear = right >= ENOUGH_RIGHT and preferred >= ENOUGH_PREFERENCE
    return _Reading(orders[best], float(right), bool(clear), ENOUGH_RIGHT)


def _read_score(scores: Floats, gold: list[str]) -> _Reading:
    supported = np.array([label == "entailment" for label in gold])
    apart = np.sign(scores[supported][:, None] - scores[~supported])
    share = float((apart.mean() + 1) / 2)
    order = ("entailment",) if share >= 0.5 else ("non-entailment",)
    share = max(share, 1 - share)
    high = (scores > 0) == (order == ("entailment",))
    right = (np.mean(high[supported]) + np.mean(~high[~supported])) / 2
    doubt = ""
    if right < ENOUGH_RIGHT:
        doubt = (
            f"its scores do not look like probabilities: cut at one half, {right:.0%} of {len(gold)} unmistakable "
            f"pairs are right although it ranks {share:.0%} of them rightly; --collapse threshold=T cuts elsewhere"
        )
    return _Reading(order, share, share >= ENOUGH_APART, ENOUGH_APART, doubt)


def _coarse(label: str, order: tuple[str, ...]) -> str:
    return label if label in order else "non-entailment"


def _counts(gold: list[str], order: tuple[str, ...]) -> list[int]:
    names = [_coarse(label, order) for label in gold]
    return [names.count(name) for name in names]


def _log_probabilities(values: Floats) -> Floats:
    """Of one score, that it is meant and that it is not; of several, of each."""
    if values.shape[1] == 1:
        values = np.concatenate([values, np.zeros_like(values)], axis=1)
    shifted = values - values.max(axis=1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)))


def _probed(names: Sequence[str], logits: Logits, owner: str) -> LabelMap:
    found = _read_off(logits, len(names))
    what = "scored as that order has it" if len(names) == 1 else "answered right, labels weighing alike"
    if not found.clear:
        example = ",".join(_orders(len(names))[-1])
        raise AcidtestError(
            f"{owner}: its outputs are called {', '.join(names)}, and {len(probe_pairs()[2])} unmistakable pairs do "
            f"not tell what they mean: in the best order, {', '.join(found.order)}, {found.share:.0%} are {what}, and "
            f"{found.needed:.0%} would be clear. Say it with --labels, such as --labels {example}; a model that was "
            f"never trained on inference has no labels"
        )
    return LabelMap(found.order, f"probing ({found.share:.0%} of {len(probe_pairs()[2])} pairs {what})", found.doubt)


def _doubt(known: tuple[str, ...], logits: Logits) -> str:
    """What to say when the names of the outputs and what they answer are at odds."""
    found = _read_off(logits, len(known))
    if found.clear and found.order != known:
        return (
            f"the names of the outputs look wrong: read as {', '.join(found.order)} they answer {found.share:.0%} of "
            f"{len(probe_pairs()[2])} unmistakable pairs right; --labels {','.join(found.order)} takes them so"
        )
    return found.doubt if found.clear else ""


def probe_pairs() -> tuple[list[str], list[str], list[str]]:
    """Premises, hypotheses and labels of pairs whose labels nobody doubts."""
    from acidtest.io.wordlists import packaged_table

    table = packaged_table("probes/labels.tsv")
    return table["premise"].to_list(), table["hypothesis"].to_list(), table["label"].to_list()
