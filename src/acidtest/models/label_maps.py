"""Which output of a classifier means which label: by name, by probing, or as the user says.

Whatever declares an order of labels, predictions are tested against it: those for the probe pairs when a classifier is
opened, and those for pairs with gold after a run. An order that another one beats significantly stops the run.
"""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from statistics import NormalDist

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.errors import AcidtestError, LabelOrderError
from acidtest.core.labels import GOLD_MASKS, LABELS, TWO_WAY_LABELS, coarsen_gold, gold_masks, gold_name
from acidtest.core.logs import log, note
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

ALPHA = 0.05
"""Significance level of a comparison of one order with all others, divided by their number."""

MIN_ABOVE_CHANCE = 0.1
"""How far above chance an order must be right before it replaces a declared one, or stands for outputs without names.

Significance alone would stop 3 % of models that tell no labels apart; with this, fewer than 1 in 1,000.
"""

MIN_ABOVE_CHANCE_OF_TWO = 0.15
"""The same for outputs without names that have two labels: there are only two orders, and one always fits better."""

POWER = 0.8
"""How often a wrong order is found at the accuracy that messages name."""


@dataclass(frozen=True)
class LabelMap:
    """The label of each output, how it was found, a doubt about it if there is one, and its test on the probe pairs."""

    outputs: tuple[str, ...]
    method: str
    doubt: str = ""
    test: OrderTest | None = None

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


def find_label_map(
    names: Sequence[str], logits: Logits, *, spec: str, labels: str = "", renamed: str = "", trusted: bool = False
) -> LabelMap:
    """The map of a head whose outputs have these names: as the user says, otherwise by name, otherwise by probing.

    ``labels`` lists the labels of the outputs in order, ``renamed`` says ``output=label`` for some or all of them. A
    declared order that the probe pairs contradict raises an error, or is doubted if it is ``trusted``.
    """
    if len(names) not in (1, 2, 3):
        raise AcidtestError(f"{spec} has {len(names)} outputs; a model of inference has three, two, or one score")
    if labels and renamed:
        raise AcidtestError(f"{spec}: give --labels or --label-map, not both")
    if labels:
        listed = [_parse_label(label, spec) for label in labels.split(",")]
        method, order = "--labels", _check_order(listed, names, spec)
    elif renamed:
        method, order = "--label-map", _check_order(_rename_outputs(renamed, names, spec), names, spec)
    elif all(re.fullmatch(r"(label[ _-]?)?\d+", name.strip().lower()) for name in names):
        return _probe_order(names, logits, spec)
    else:
        method = "id2label"
        order = _check_order([_label_name(name) or name for name in names], names, spec)
    probe = _probe(logits, len(order))
    return LabelMap(order, method, _doubt(probe, order, method, spec=spec, trusted=trusted), probe.test)


def _doubt(probe: ProbeResult, order: tuple[str, ...], method: str, *, spec: str, trusted: bool) -> str:
    """What the probe pairs say against a declared order; raises if they contradict one that is not trusted."""
    test = probe.test
    if test is None:
        return f"its order cannot be tested: some of its outputs for {probe.pairs} unmistakable pairs are not finite"
    better = test.better_than(order)
    if better:
        problem = (
            f"the labels of its outputs look wrong. In the order of {method} ({', '.join(order)}), it {probe.verb} "
            f"{test.share(order):.0%} of {probe.pairs} unmistakable pairs {probe.rightly}; in the order "
            f"{', '.join(better)}, {test.share(better):.0%} ({_describe_p(test.p(better, order))})"
        )
        if trusted:
            return f"{problem}. --trust-labels keeps the declared order"
        raise LabelOrderError(
            f"{spec}: {problem}. To use that order: acidtest run -m {shlex.quote(spec)} --labels {','.join(better)}. "
            f"To keep the declared order: --trust-labels"
        )
    if test.is_best(order):
        return probe.doubt if order == test.best else ""
    rival = test.rival(order)
    return (
        f"the order of its labels cannot be confirmed: it {probe.verb} {test.share(order):.0%} of {probe.pairs} "
        f"unmistakable pairs {probe.rightly}, and {test.share(rival):.0%} in the order {', '.join(rival)}, which is "
        f"not significantly different{test.describe_power()}"
    )


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
class OrderTest:
    """How well predictions fit gold in every order of labels, and how likely it is that one order is better by chance.

    ``gains`` holds, for each order, row and gold label, weights of rows that are right: labels weigh alike, whatever
    their counts. Rows of one group, such as those with the same premise, count as one observation.
    """

    orders: Sequence[tuple[str, ...]]
    shares: Floats
    z: Floats
    """Row i, column j: the z statistic for order i being better than order j."""
    counts: tuple[int, ...] = ()
    """How many rows each gold label has; empty where a test is not about right and wrong."""

    @classmethod
    def of(
        cls, orders: Sequence[tuple[str, ...]], right: Floats, *, strata: npt.NDArray[np.intp], groups: Sequence[object]
    ) -> OrderTest:
        """The test of predictions that are ``right[order, row]``; ``strata`` are the gold labels of rows."""
        counts = np.bincount(strata)
        weights = 1 / (counts[strata] * np.count_nonzero(counts))
        _, group = np.unique(np.asarray(groups, dtype=np.str_), return_inverse=True)
        sums = np.zeros((len(orders), int(group.max(initial=-1)) + 1))
        for place, row in enumerate(right * weights):
            sums[place] = np.bincount(group, row, minlength=sums.shape[1])
        differences = sums[:, None] - sums[None, :]
        total = differences.sum(axis=2)
        spread = np.sqrt((differences**2).sum(axis=2))
        # Corrected for continuity: without it, a handful of rows would suffice.
        lead = np.sign(total) * np.maximum(np.abs(total) - weights.max(initial=0), 0)
        z = np.divide(lead, spread, out=np.zeros_like(total), where=spread > 0)
        return cls(tuple(orders), sums.sum(axis=1), z, tuple(int(count) for count in counts if count))

    @property
    def chance(self) -> float:
        """The share that is right on average over all orders, as for predictions that tell no labels apart."""
        return float(self.shares.mean())

    @property
    def best(self) -> tuple[str, ...]:
        """The order in which most predictions are right; the first in a tie."""
        return self.orders[int(self.shares.argmax())]

    def share(self, order: tuple[str, ...]) -> float:
        """The share of predictions that are right in an order, averaged over gold labels."""
        return float(self.shares[self.orders.index(order)])

    def p(self, better: tuple[str, ...], worse: tuple[str, ...]) -> float:
        """The p-value for one order being better than another, corrected for the number of other orders."""
        z = float(self.z[self.orders.index(better), self.orders.index(worse)])
        return min(1.0, (len(self.orders) - 1) * math.erfc(z / math.sqrt(2)) / 2)

    def better_than(self, order: tuple[str, ...]) -> tuple[str, ...] | None:
        """The best of the orders that are significantly better than another and than chance; None if there is none."""
        better = [
            other
            for other in self.orders
            if self.p(other, order) < ALPHA and self.share(other) >= self.chance + MIN_ABOVE_CHANCE
        ]
        return max(better, key=self.share, default=None)

    def is_best(self, order: tuple[str, ...]) -> bool:
        """Whether an order is significantly better than every other."""
        return all(self.p(order, other) < ALPHA for other in self.orders if other != order)

    def rival(self, order: tuple[str, ...]) -> tuple[str, ...]:
        """The best of the other orders."""
        return max((other for other in self.orders if other != order), key=self.share)

    def describe_power(self) -> str:
        """The accuracy from which a swap of two labels would be found in these rows, as the end of a sentence."""
        if not self.counts:
            return ""
        accuracy = detectable_accuracy(self.counts, alpha=ALPHA / (len(self.orders) - 1))
        swap = "two labels exchanged would be found"
        if accuracy is None:
            return f"; {sum(self.counts):,} rows are too few to find {swap.removesuffix(' would be found')}"
        models = f"models that are right on {accuracy:.0%} of such pairs and spread their errors evenly"
        return f"; {swap} in {POWER:.0%} of {models}"


def detectable_accuracy(counts: Sequence[int], *, alpha: float) -> float | None:
    """The least accuracy at which an exchange of two labels is found with a power of ``POWER``; None if at none.

    ``counts`` are the rows of each gold label. Errors are divided evenly over the other labels.
    """
    if len(counts) < 2:
        return None
    standard, size = NormalDist(), len(counts)
    needed = standard.inv_cdf(POWER)
    rarest = sorted(counts)[:2]
    for percent in range(100 // size, 101):
        accuracy = percent / 100
        wrong = (1 - accuracy) / (size - 1)
        spread = math.sqrt((accuracy + wrong) * sum(1 / count for count in rarest))
        z = (2 * (accuracy - wrong) - 1 / rarest[0]) / spread - standard.inv_cdf(1 - alpha)
        error = math.sqrt(accuracy * (1 - accuracy) * sum(1 / count for count in counts)) / size
        if z >= needed and accuracy - 1 / size - MIN_ABOVE_CHANCE >= needed * error:
            return accuracy
    return None


def _describe_p(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


@dataclass(frozen=True)
class ProbeResult:
    """The test of every order on the probe pairs; None if some outputs are not finite."""

    pairs: int
    test: OrderTest | None = None
    verb: str = "answers"
    rightly: str = "right"
    doubt: str = ""
    """A doubt about the best order, whoever declares it."""


def _probe(logits: Logits, size: int) -> ProbeResult:
    premises, hypotheses, gold = probe_pairs()
    values = np.asarray(logits(premises, hypotheses), dtype=np.float64)
    if not np.isfinite(values).all():
        return ProbeResult(len(gold))
    if size == 1:
        return _probe_score(values[:, 0], gold, premises)
    orders = _orders(size)
    coarse_gold = [label if label in orders[0] else "non-entailment" for label in gold]
    # A row in which all outputs are equal is right in no order.
    predicted = np.where(np.ptp(values, axis=1) > 0, values.argmax(axis=1), -1)
    right = np.array([[order.index(label) for label in coarse_gold] for order in orders]) == predicted
    strata = np.array([orders[0].index(label) for label in coarse_gold])
    return ProbeResult(len(gold), OrderTest.of(orders, right.astype(np.float64), strata=strata, groups=premises))


def _probe_score(scores: Floats, gold: list[str], premises: Sequence[str]) -> ProbeResult:
    """The test of one score: whether entailed hypotheses score above the other hypotheses of the same premise."""
    entailed = np.array([label == "entailment" for label in gold])
    group = np.unique(np.asarray(premises), return_inverse=True)[1]
    above = np.zeros(len(gold))
    for row in np.flatnonzero(~entailed):
        above[row] = (np.sign(scores[entailed & (group == group[row])] - scores[row]).mean() + 1) / 2
    ranked = above[~entailed]
    orders, strata = _orders(1), np.zeros(len(ranked), dtype=np.intp)
    test = OrderTest.of(orders, np.stack([ranked, 1 - ranked]), strata=strata, groups=group[~entailed].tolist())
    predicted = (scores > 0) == (test.best == ("entailment",))
    right = (np.mean(predicted[entailed]) + np.mean(~predicted[~entailed])) / 2
    doubt = ""
    if test.is_best(test.best) and right < 1 / 2 + (test.share(test.best) - 1 / 2) / 2:
        doubt = (
            f"its scores do not look like probabilities: cut at one half, {right:.0%} of {len(gold)} unmistakable "
            f"pairs are right although it ranks {test.share(test.best):.0%} of them rightly; --collapse threshold=T "
            f"cuts elsewhere"
        )
    return ProbeResult(len(gold), OrderTest(test.orders, test.shares, test.z), "ranks", "rightly", doubt)


def _log_probabilities(values: Floats) -> Floats:
    """The log-softmax; a single score stands for the log-odds of its label."""
    if values.shape[1] == 1:
        values = np.concatenate([values, np.zeros_like(values)], axis=1)
    shifted = values - values.max(axis=1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)))


def _probe_order(names: Sequence[str], logits: Logits, spec: str) -> LabelMap:
    """The map of outputs without names, by probing; an error if no order is significantly better than all others."""
    probe = _probe(logits, len(names))
    unclear = (
        f"{spec}: its outputs are called {', '.join(names)}, and {probe.pairs} unmistakable pairs do not tell what"
    )
    listed = "list their labels in order with --labels; a model that was never trained on inference has none"
    test = probe.test
    if test is None:
        raise AcidtestError(f"{unclear} they mean: some outputs are not finite. If you know, {listed}")
    best, rival = test.best, test.rival(test.best)
    figures = (
        f"in the order {', '.join(best)} it {probe.verb} {test.share(best):.0%} {probe.rightly}, in the order "
        f"{', '.join(rival)} {test.share(rival):.0%}"
    )
    if test.share(best) == test.share(rival):
        raise AcidtestError(f"{unclear} they mean: {figures}. If you know, {listed}")
    above = MIN_ABOVE_CHANCE if len(names) == 3 else MIN_ABOVE_CHANCE_OF_TWO
    if not test.is_best(best) or test.share(best) < test.chance + above:
        raise AcidtestError(
            f"{unclear} they mean: {figures}, and chance is {test.chance:.0%}. If the first is their order: "
            f"acidtest run -m {shlex.quote(spec)} --labels {','.join(best)}; otherwise {listed}"
        )
    method = (
        f"probing ({test.share(best):.0%} of {probe.pairs} pairs {probe.rightly}, labels weighing alike; "
        f"{test.share(rival):.0%} in the next best order)"
    )
    return LabelMap(best, method, probe.doubt, test)


def check_gold_order(
    rows: pl.DataFrame,
    *,
    resolution: Resolution,
    where: str,
    decisive: bool,
    remedy: Callable[[Mapping[str, str]], str],
    trusted: bool = False,
    is_favoured: Callable[[Mapping[str, str]], bool] = lambda meant: False,
    confirmed: bool = False,
) -> None:
    """Compare the declared order of labels with every other one on rows with gold.

    Raises if another order is significantly better, every label occurs, the rows are ``decisive`` (a file of pairs that
    was not built to mislead models) and the probe pairs do not favour the declared order (``is_favoured``, given what
    each label would mean); otherwise it warns. ``remedy`` gives the command for an exchange of labels; ``where`` begins
    messages. If nothing is significant and the probe pairs have not ``confirmed`` the order, both figures are printed.
    """
    labels = LABELS if resolution == "three-way" else TWO_WAY_LABELS
    probabilities = rows.select("p_entailment", "p_neutral", "p_contradiction").to_numpy()
    gold = gold_masks(rows["label"].to_numpy())
    if resolution == "two-way":
        gold = coarsen_gold(gold)
    kept = ~np.isnan(probabilities).any(axis=1) & (gold != GOLD_MASKS["any"])
    if len(np.unique(gold[kept])) < 2:
        return
    predicted, gold, groups = probabilities[kept].argmax(axis=1), gold[kept], rows["group"].filter(pl.Series(kept))
    orders = _orders(len(labels))
    masks = np.array([[GOLD_MASKS[label] for label in order] for order in orders], dtype=np.uint8)
    right = (masks[:, predicted] & gold) > 0
    strata = np.unique(gold, return_inverse=True)[1]
    test = OrderTest.of(orders, right.astype(np.float64), strata=strata, groups=groups.to_list())
    declared, better = tuple(labels), test.better_than(tuple(labels))
    is_complete = {GOLD_MASKS[label] for label in labels} <= set(gold.tolist())
    if better is None:
        if not test.is_best(declared) and decisive and is_complete and not confirmed:
            rival = test.rival(declared)
            note(
                "%s: the order of the labels cannot be confirmed: %.0f %% of %s predictions are right, labels weighing "
                "alike, and %.0f %% if %s, which is not significantly different%s",
                *(where, 100 * test.share(declared), f"{len(gold):,}", 100 * test.share(rival)),
                *(_describe_exchange(labels, rival), test.describe_power()),
            )
        return
    exchange = {label: meant for label, meant in zip(labels, better, strict=True) if label != meant}
    problem = (
        f"{where}: the labels of the predictions look wrong. {test.share(declared):.0%} of {len(gold):,} predictions "
        f"are right, labels weighing alike, and {test.share(better):.0%} if {_describe_exchange(labels, better)} "
        f"({_describe_p(test.p(better, declared))})"
    )
    if is_favoured(dict(zip(labels, better, strict=True))):
        log.warning(
            "%s. The model's labels are right on the probe pairs, so the labels of the file may be wrong: see "
            "--suite-label-map",
            problem,
        )
    elif trusted:
        log.warning("%s. --trust-labels keeps the declared order", problem)
    elif decisive and is_complete:
        raise LabelOrderError(f"{problem}. To read them so: {remedy(exchange)}. To keep them: --trust-labels")
    else:
        reason = "the suite was built to mislead models" if is_complete else "its gold does not have every label"
        log.warning("%s. That is no proof, because %s; if it is so: %s", problem, reason, remedy(exchange))


def _describe_exchange(declared: Sequence[str], meant: Sequence[str]) -> str:
    changed = [f"{old} means {new}" for old, new in zip(declared, meant, strict=True) if old != new]
    return f"{', '.join(changed[:-1])} and {changed[-1]}"


def probe_pairs() -> tuple[list[str], list[str], list[str]]:
    """Premises, hypotheses and labels of pairs whose labels nobody doubts."""
    from acidtest.io.wordlists import packaged_table

    table = packaged_table("probes/labels.tsv")
    return table["premise"].to_list(), table["hypothesis"].to_list(), table["label"].to_list()
