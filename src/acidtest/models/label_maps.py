"""Which output of a classifier means which label: by name, by probing, or as the user says."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np
import numpy.typing as npt

from acidtest.core.errors import AcidtestError
from acidtest.core.labels import LABELS, TWO_WAY_LABELS, gold_name
from acidtest.core.model import Probabilities, Resolution

Floats = npt.NDArray[np.float64]
Logits = Callable[[Sequence[str], Sequence[str]], npt.NDArray[np.float32]]
"""float[n, outputs] for premises and hypotheses."""

HEAD_SPELLINGS: Mapping[str, str] = {
    **dict.fromkeys(("entail", "support", "supports", "supported"), "entailment"),
    **dict.fromkeys(("neither", "not enough info"), "neutral"),
    **dict.fromkeys(("contradict", "contradicted", "refute", "refutes", "refuted"), "contradiction"),
    **dict.fromkeys(("unsupported", "not supported", "not entailed"), "non-entailment"),
}
"""Names of outputs, such as those of fact checkers, in addition to the spellings of labels in files."""

ENOUGH_RIGHT = 0.75
"""The share of probe pairs, averaged over labels, that an order must get right.

In its best order, an untrained head with two outputs reaches this share in fewer than 1 of 1,000 cases, and one with
three practically never; a model trained on inference answers nearly all pairs right.
"""

ENOUGH_PREFERENCE = 0.75
"""Of the probe pairs that the two best orders label differently, the share that must be likelier under the best."""

ENOUGH_RANKED = 0.9
"""How often an entailed pair must score above a pair that is not entailed (below, if the score is reversed)."""


@dataclass(frozen=True)
class LabelMap:
    """The label of each output, how it was found, and a doubt about it, if there is one."""

    outputs: tuple[str, ...]
    method: str
    doubt: str = ""

    @property
    def resolution(self) -> Resolution:
        """Two-way for one score or two outputs."""
        return "three-way" if len(self.outputs) == 3 else "two-way"

    @property
    def notes(self) -> tuple[str, ...]:
        """The map as a note on results."""
        labels = ", ".join(f"{number} = {label}" for number, label in enumerate(self.outputs))
        if len(self.outputs) == 1:
            labels = f"a high score = {self.outputs[0]}"
        return (f"labels by {self.method}: {labels}", *([self.doubt] if self.doubt else []))

    def probabilities(self, logits: npt.NDArray[np.floating]) -> Probabilities:
        """Columns: entailment, neutral (two-way: non-entailment), contradiction; NaN where a logit is not finite."""
        values = np.asarray(logits, dtype=np.float64)
        invalid = ~np.asarray(np.isfinite(values).all(axis=1))
        output_probabilities = np.exp(_log_probabilities(np.where(invalid[:, None], 0, values)))
        names = self.outputs
        if len(names) == 1:
            names = (*names, "non-entailment" if names[0] == "entailment" else "entailment")
        result = np.zeros((len(values), 3), dtype=np.float32)
        for output, name in enumerate(names):
            result[:, 1 if name == "non-entailment" else LABELS.index(name)] = output_probabilities[:, output]
        result[invalid] = np.nan
        return result


def find_label_map(names: Sequence[str], logits: Logits, *, spec: str, labels: str = "", renamed: str = "") -> LabelMap:
    """The map of a head whose outputs have these names: as the user says, otherwise by name, otherwise by probing.

    ``labels`` lists the labels of the outputs in order, ``renamed`` says ``output=label`` for some or all of them.
    """
    if len(names) not in (1, 2, 3):
        raise AcidtestError(f"{spec} has {len(names)} outputs; a model of inference has three, two, or one score")
    if labels and renamed:
        raise AcidtestError(f"{spec}: give --labels or --label-map, not both")
    if labels:
        listed = [_parse_label(label, spec) for label in labels.split(",")]
        return LabelMap(_check_order(listed, names, spec), "--labels")
    if renamed:
        return LabelMap(_check_order(_rename_outputs(renamed, names, spec), names, spec), "--label-map")
    if all(re.fullmatch(r"(label[ _-]?)?\d+", name.strip().lower()) for name in names):
        return _probe_order(names, logits, spec)
    named_order = _check_order([_label_name(name) or name for name in names], names, spec)
    probe = _probe(logits, len(named_order))
    doubt = probe.doubt if probe.clear else ""
    if probe.clear and probe.order != named_order:
        doubt = (
            f"the names of the outputs look wrong: read as {', '.join(probe.order)} they answer {probe.share:.0%} of "
            f"{probe.pairs} unmistakable pairs right; --labels {','.join(probe.order)} takes them so"
        )
    return LabelMap(named_order, "id2label", doubt)


def _label_name(name: str) -> str | None:
    plain = re.sub(r"[\s_-]+", " ", name.strip().lower())
    return gold_name(name) or gold_name(plain) or HEAD_SPELLINGS.get(plain)


def _parse_label(label: str, spec: str) -> str:
    name = _label_name(label)
    if name is None:
        raise AcidtestError(f"{spec}: {label.strip()!r} is no label; write {', '.join(LABELS)} or non-entailment")
    return name


def _orders(size: int) -> list[tuple[str, ...]]:
    """The orders of labels that a head of this many outputs can have."""
    if size == 1:
        return [(name,) for name in TWO_WAY_LABELS]
    return list(permutations(LABELS if size == 3 else TWO_WAY_LABELS))


def _check_order(labels: Sequence[str], names: Sequence[str], spec: str) -> tuple[str, ...]:
    """The labels, if a head of this many outputs can have them in this order."""
    if tuple(labels) in _orders(len(names)):
        return tuple(labels)
    expected = {1: "entailment or non-entailment", 2: "entailment and non-entailment", 3: "each of the three labels"}
    shown = ", ".join(f"{number} = {label}" for number, label in enumerate(labels))
    raise AcidtestError(
        f"{spec}: its {len(names)} outputs ({', '.join(names)}) would mean {shown}; expected "
        f"{expected[len(names)]}, once each. Say what they mean with --label-map "
        + ",".join(f"{name}=…" for name in names)
    )


def _rename_outputs(renamed: str, names: Sequence[str], spec: str) -> list[str]:
    """The label of each output: from ``output=label,…`` if it is listed there, otherwise from its name."""
    mapped: dict[int, str] = {}
    for item in renamed.split(","):
        output, sign, label_text = item.partition("=")
        if not sign:
            raise AcidtestError(f"{spec}: --label-map {item!r} is not THEIRS=OURS, such as LABEL_0=contradiction")
        place, label = _find_output(output.strip(), names, spec), _parse_label(label_text, spec)
        if mapped.setdefault(place, label) != label:
            raise AcidtestError(
                f"{spec}: --label-map says of output {place} ({names[place]}) both {mapped[place]} and {label}"
            )
        if output.strip().isdecimal() and _label_name(names[place]) not in (None, label):
            raise AcidtestError(
                f"{spec}: its output {place} is called {names[place]!r}, and --label-map {item.strip()} says "
                f"otherwise; the labels of a suite's file go into --suite-label-map, and if the name is wrong, "
                f"name the output: --label-map {names[place]}={label}"
            )
    return [mapped.get(place) or _label_name(name) or name for place, name in enumerate(names)]


def _find_output(output: str, names: Sequence[str], spec: str) -> int:
    """The index of an output that is given by name or by index."""
    places_by_name = {name.strip().lower(): place for place, name in reversed(list(enumerate(names)))}
    number = re.fullmatch(r"(?:label_)?(\d+)", output.lower())
    place = places_by_name.get(output.lower(), int(number[1]) if number else len(names))
    if place >= len(names):
        raise AcidtestError(f"{spec} has no output {output!r}; it has {', '.join(names)} (0 to {len(names) - 1})")
    return place


@dataclass(frozen=True)
class ProbeResult:
    """The order of labels that best explains the answers to the probe pairs, and how well it does."""

    order: tuple[str, ...]
    share: float
    pairs: int
    needed: float
    clear: bool
    doubt: str = ""


def _probe(logits: Logits, size: int) -> ProbeResult:
    premises, hypotheses, gold = probe_pairs()
    values = np.asarray(logits(premises, hypotheses), dtype=np.float64)
    if not np.isfinite(values).all():
        return ProbeResult(_orders(size)[0], 0.0, len(gold), ENOUGH_RIGHT, clear=False)
    return _probe_score(values[:, 0], gold) if size == 1 else _probe_classes(values, gold)


def _probe_classes(values: Floats, gold: list[str]) -> ProbeResult:
    orders = _orders(values.shape[1])
    coarse_gold = [label if label in orders[0] else "non-entailment" for label in gold]
    targets = np.array([[order.index(label) for label in coarse_gold] for order in orders])
    log_likelihoods = _log_probabilities(values)[np.arange(len(gold)), targets]
    # Labels are weighted equally: with two outputs, non-entailment has twice as many pairs as entailment.
    weights = np.array([1 / coarse_gold.count(label) for label in coarse_gold])
    best, second = np.argsort(-(log_likelihoods @ weights), kind="stable")[:2]
    right = (values.argmax(axis=1) == targets[best]) @ weights / weights.sum()
    differing = targets[best] != targets[second]
    preferred = np.mean(log_likelihoods[best][differing] > log_likelihoods[second][differing])
    clear = bool(right >= ENOUGH_RIGHT and preferred >= ENOUGH_PREFERENCE)
    return ProbeResult(orders[best], float(right), len(gold), ENOUGH_RIGHT, clear)


def _probe_score(scores: Floats, gold: list[str]) -> ProbeResult:
    entailed = np.array([label == "entailment" for label in gold])
    # The area under the ROC curve: how often an entailed pair scores above one that is not entailed.
    share = float((np.sign(scores[entailed][:, None] - scores[~entailed]).mean() + 1) / 2)
    order = ("entailment",) if share >= 0.5 else ("non-entailment",)
    share = max(share, 1 - share)
    predicted = (scores > 0) == (order == ("entailment",))
    right = (np.mean(predicted[entailed]) + np.mean(~predicted[~entailed])) / 2
    doubt = ""
    if right < ENOUGH_RIGHT:
        doubt = (
            f"its scores do not look like probabilities: cut at one half, {right:.0%} of {len(gold)} unmistakable "
            f"pairs are right although it ranks {share:.0%} of them rightly; --collapse threshold=T cuts elsewhere"
        )
    return ProbeResult(order, share, len(gold), ENOUGH_RANKED, share >= ENOUGH_RANKED, doubt)


def _log_probabilities(values: Floats) -> Floats:
    """The log-softmax; a single score stands for the log-odds of its label."""
    if values.shape[1] == 1:
        values = np.concatenate([values, np.zeros_like(values)], axis=1)
    shifted = values - values.max(axis=1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)))


def _probe_order(names: Sequence[str], logits: Logits, spec: str) -> LabelMap:
    """The map of outputs without names, by probing; an error if the result is not clear."""
    probe = _probe(logits, len(names))
    criterion = "scored as that order has it" if len(names) == 1 else "answered right, labels weighing alike"
    if not probe.clear:
        example = ",".join(_orders(len(names))[-1])
        raise AcidtestError(
            f"{spec}: its outputs are called {', '.join(names)}, and {probe.pairs} unmistakable pairs do not tell what "
            f"they mean: in the best order, {', '.join(probe.order)}, {probe.share:.0%} are {criterion}, and "
            f"{probe.needed:.0%} would be clear. Say it with --labels, such as --labels {example}; a model that was "
            f"never trained on inference has no labels"
        )
    return LabelMap(probe.order, f"probing ({probe.share:.0%} of {probe.pairs} pairs {criterion})", probe.doubt)


def probe_pairs() -> tuple[list[str], list[str], list[str]]:
    """Premises, hypotheses and labels of pairs whose labels nobody doubts."""
    from acidtest.io.wordlists import packaged_table

    table = packaged_table("probes/labels.tsv")
    return table["premise"].to_list(), table["hypothesis"].to_list(), table["label"].to_list()
