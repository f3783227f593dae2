"""What the numbers mean, in plain sentences, each with the evidence it rests on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import hypot
from typing import TYPE_CHECKING

from acidtest.core.document import Finding, Severity
from acidtest.core.estimate import Estimate
from acidtest.core.numbers import describe_share, p_value, whole_percent
from acidtest.core.suite import CROSS

if TYPE_CHECKING:
    from acidtest.studies.scores import SuiteResult

CHANCE = 0.5
HABIT = 0.9
MOSTLY = 0.75
ALIKE = 0.1
FEW = 20
"""With fewer pairs than this of either gold, a heuristic is not judged."""
NEGLIGIBLE = 0.05
NOTHING_TO_LOSE = 0.1
"""Accuracy on untouched pairs below which a loss could hardly be seen."""
SMALL = 0.01
ALPHA = 0.05

HEURISTICS = {
    "lexical_overlap": ("lexical-overlap", "pairs whose hypothesis uses only words of the premise"),
    "subsequence": ("subsequence", "pairs whose hypothesis is a run of words of the premise"),
    "constituent": ("constituent", "pairs whose hypothesis is a clause of the premise"),
}

FALL_BACKS = {
    ("stress/word-overlap", "false neutral"): "with fewer shared words it falls back to neutral",
    ("stress/length-mismatch", "false neutral"): "with a longer premise it falls back to neutral",
    ("stress/ladder", "false neutral"): "with more words between what matters it falls back to neutral",
    ("stress/negation", "false neutral"): "with fewer shared words it falls back to neutral",
    ("stress/negation", "false contradiction"): "it takes the added negation for contradiction",
    ("stress/spelling", "false neutral"): "with a word it does not know it falls back to neutral",
    ("stress/antonymy", "false entailment"): "it takes shared words for entailment",
    ("stress/antonymy", "false neutral"): "it does not see that antonyms exclude each other",
    ("stress/numerical", "false entailment"): "it takes shared words for entailment",
    ("stress/numerical", "false contradiction"): "it takes other numbers for contradiction",
}
"""What most errors of a kind on a stress test mean (Naik et al. 2018, section 4)."""

_FOLLOWS_FROM_ONE_ANSWER = frozenset({"B2", "C1", "C3", "E1", "N1"})
"""Findings that add nothing about a model that gives the same answer to all pairs."""

TO_CONTRADICTION = {"E-C": "entailment", "N-C": "neutral"}


def findings(suites: Mapping[str, SuiteResult]) -> list[Finding]:
    """Every finding about the suites of a run."""
    return [finding for name, result in suites.items() for finding in _suite_findings(name, result)]


def by_severity(findings: Sequence[Finding]) -> list[Finding]:
    """The findings, gravest first."""
    order = ("severe", "warning", "info", "good")
    return sorted(findings, key=lambda finding: order.index(finding.severity))


def _suite_findings(name: str, result: SuiteResult) -> list[Finding]:
    """The findings about one suite; if nearly all answers are the same, without those that follow from it."""
    rules = (
        _one_answer,
        _heuristics,
        _low_strata,
        _below_chance,
        _against_control,
        _error_kinds,
        _negation,
        _unanswered,
        _collapse,
    )
    findings = [finding for rule in rules for finding in rule(name, result)]
    if all(finding.code != "A1" for finding in findings):
        return findings
    # If the untouched pairs are answered otherwise, findings about the effect of the change are kept.
    tests = [kind.vs_control.rate.difference for kind in result.errors.kinds.values() if kind.vs_control]
    changed = any(difference.known and abs(difference.value) > NEGLIGIBLE for difference in tests)
    implied = _FOLLOWS_FROM_ONE_ANSWER - ({"E1", "N1"} if changed else set())
    return [finding for finding in findings if finding.code not in implied]


def _heuristics(name: str, result: SuiteResult) -> Iterator[Finding]:
    """Does the model say entailment whenever words overlap? (McCoy et al. 2019)"""
    crossed = result.by.get(f"heuristic{CROSS}label", {})
    for heuristic, (title, pairs) in HEURISTICS.items():
        entailed = crossed.get(f"{heuristic}{CROSS}entailment")
        other = crossed.get(f"{heuristic}{CROSS}non-entailment")
        if entailed is None or other is None or not entailed.known or not other.known:
            continue
        evidence = (
            f"right on {describe_share(entailed)} where the heuristic gives the right answer",
            f"right on {describe_share(other)} where it gives the wrong one",
        )
        severity, text = _heuristic_verdict(title, pairs, entailed, other)
        # The finding points to the gold with the lower accuracy.
        errs = "entailment" if entailed.value < other.value else "non-entailment"
        yield Finding("H1", severity, text, name, evidence, {"heuristic": heuristic, "label": errs})


def _heuristic_verdict(title: str, pairs: str, entailed: Estimate, other: Estimate) -> tuple[Severity, str]:
    if min(entailed.n, other.n) < FEW:
        return "info", f"was asked too few {pairs} to judge the {title} heuristic"
    weight = entailed.n / (entailed.n + other.n)
    says = whole_percent(weight * entailed.value + (1 - weight) * (1 - other.value))
    fooled = whole_percent(1 - other.value)
    if min(entailed.value, 1 - other.value) >= HABIT:
        return "severe", f"answers entailment on {says} of {pairs}: uses the {title} heuristic"
    if _answers_alike(entailed, other):
        text = f"answers entailment on {says} of {pairs}, about as often when they entail as when they do not"
        return "severe", f"{text}: does not tell them apart"
    if entailed.low > CHANCE and other.high < CHANCE:
        return "severe", f"is fooled by {fooled} of misleading {pairs}: leans on the {title} heuristic"
    if entailed.high < CHANCE and other.low > CHANCE:
        return "warning", f"answers entailment on only {says} of {pairs}: avoids entailment when words overlap"
    if min(entailed.value, other.value) >= HABIT:
        return "good", f"is right on {pairs} whether or not they entail: no sign of the {title} heuristic"
    if min(entailed.value, other.value) >= MOSTLY:
        return "info", f"mostly resists the {title} heuristic, but is fooled by {fooled} of misleading {pairs}"
    if entailed.value >= MOSTLY and entailed.value > other.value:
        return "warning", f"is fooled by {fooled} of misleading {pairs}: partly relies on the {title} heuristic"
    return "warning", f"is unreliable on {pairs}: the {title} heuristic alone does not explain it"


def _answers_alike(entailed: Estimate, other: Estimate) -> bool:
    """Whether entailment is answered about as often on both kinds of pairs: the whole interval is within ten points.

    The interval is Newcombe's, for the difference between the rates of entailment on entailed and on other pairs.
    """
    change = entailed.value - (1 - other.value)
    low = change - hypot(entailed.value - entailed.low, other.value - other.low)
    high = change + hypot(entailed.high - entailed.value, other.high - other.value)
    return low > -ALIKE and high < ALIKE


def _low_strata(name: str, result: SuiteResult) -> Iterator[Finding]:
    """Are there a few subcases with clearly fewer than half of the answers right, which a mean would hide?"""
    factor = next((stratum for stratum in result.strata if stratum in result.by), "")
    values = result.by.get(factor, {})
    low = {value: rate for value, rate in values.items() if rate.known and rate.n >= FEW and rate.high < CHANCE}
    # If more than a third of the values are low, other findings say so.
    if not low or 3 * len(low) > len(values):
        return
    shown = sorted(low, key=lambda value: low[value].value)
    names = ", ".join(f"{value} ({whole_percent(low[value].value)})" for value in shown[:5])
    more = f" and {len(low) - 5} more" if len(low) > 5 else ""
    where = f"{len(low)} of {len(values)} values of {factor}"
    text = f"is right on clearly fewer than half of the pairs in {where}: {names}{more}"
    evidence = tuple(f"{value}: right on {describe_share(low[value])}" for value in shown)
    yield Finding("S1", "severe", text, name, evidence, {factor: shown[0]})


def _below_chance(name: str, result: SuiteResult) -> Iterator[Finding]:
    """Does the model do worse than guessing, on the whole or on one label? Suites of heuristics have their own rule."""
    labels = {label: rate for label, rate in result.by.get("label", {}).items() if rate.known and rate.n >= FEW}
    if f"heuristic{CROSS}label" in result.by or len(labels) < 2:
        return
    chance = 1 / len(labels)
    if result.overall.known and result.overall.high < chance:
        text = f"is right on only {whole_percent(result.overall.value)} of all pairs: worse than guessing"
        yield Finding("B1", "severe", text, name, (f"right on {describe_share(result.overall)}",))
        return
    for label, rate in labels.items():
        if rate.high < chance:
            text = (
                f"is right on only {whole_percent(rate.value)} of the pairs whose gold is {label}: worse than guessing"
            )
            yield Finding("B2", "warning", text, name, (f"right on {describe_share(rate)}",), {"label": label})


def _one_answer(name: str, result: SuiteResult) -> Iterator[Finding]:
    labels = [rate.n for rate in result.by.get("label", {}).values()]
    if sum(n > 0 for n in labels) == 1 or sum(labels) < FEW:
        return
    for metric, rate in result.metrics.items():
        label = metric.removeprefix("answers ")
        if label != metric and rate.known and rate.value >= 0.99:
            text = f"answers {label} on {whole_percent(rate.value)} of all pairs: the score says little beyond that"
            yield Finding("A1", "severe", text, name, (f"{label} answered on {describe_share(rate)}",))
            return


def _against_control(name: str, result: SuiteResult) -> Iterator[Finding]:
    """Does accuracy fall where the pairs are changed in a way that should not matter?"""
    control = result.vs_control
    if control is None or not control.difference.known:
        return
    change = control.difference
    evidence = (f"changed pairs {describe_share(result.overall)}", f"untouched pairs {describe_share(control.control)}")
    if not control.p_adjusted >= ALPHA:
        points = f"{abs(change.value) * 100:.1f} points"
        worse = change.value < 0
        text = f"{'loses' if worse else 'gains'} {points} when the pairs are changed in a way that should not matter"
        if abs(change.value) < SMALL:
            yield Finding("C2", "info", f"{text}: little, but more than chance", name, evidence)
        else:
            yield Finding("C2", "severe" if worse else "info", text, name, evidence)
    elif not change.low > -NEGLIGIBLE:
        text = "shows no loss on the changed pairs, but they are too few to rule out a large one"
        yield Finding("C3", "info", text, name, evidence)
    elif f"side{CROSS}repetitions" in result.by:
        # Losses and gains may cancel out over the steps of a ladder.
        return
    elif not control.control.value > NOTHING_TO_LOSE:
        text = "has nothing to lose: hardly an untouched pair is answered rightly either"
        yield Finding("C4", "info", text, name, evidence)
    else:
        yield Finding("C1", "good", "does no worse on the changed pairs than on the untouched ones", name, evidence)


def _error_kinds(name: str, result: SuiteResult) -> Iterator[Finding]:
    """Which label does it fall back to when it is wrong, and did the change cause that?"""
    kinds = {name: kind for name, kind in result.errors.kinds.items() if name.startswith("false ")}
    if result.errors.n < FEW or not kinds or any(_one_answer(name, result)):
        return
    tests = {name: kind.vs_control.share for name, kind in kinds.items() if kind.vs_control}
    changes = {name: test.difference.value for name, test in tests.items() if test.p_adjusted < ALPHA}
    risen = {name: change for name, change in changes.items() if change > NEGLIGIBLE}
    shares = {name: kind.share.value for name, kind in kinds.items()}
    largest = max(risen or shares, key=(risen or shares).__getitem__)
    kind = kinds[largest]
    mostly = kind.share.low > CHANCE
    if not risen and (tests or not mostly):
        return
    text = f"{whole_percent(kind.share.value)} of the errors are {largest}s"
    evidence = [f"{largest} {describe_share(kind.share)} of the errors"]
    if before := tests.get(largest):
        text += f" ({whole_percent(before.control.value)} on the untouched pairs)"
        evidence.append(f"untouched pairs {describe_share(before.control)}; adjusted p {p_value(before.p_adjusted)}")
    why = FALL_BACKS.get((name.partition(":")[0], largest), "") if mostly else ""
    yield Finding("E1", "warning" if why else "info", f"{text}: {why}" if why else text, name, tuple(evidence))


def _negation(name: str, result: SuiteResult) -> Iterator[Finding]:
    """Does a negation word make it answer contradiction? (Naik et al. 2018, section 4.4: it did not.)"""
    kinds = {kind: errors for kind, errors in result.errors.kinds.items() if kind in TO_CONTRADICTION}
    controls = {kind: errors.vs_control for kind, errors in kinds.items() if errors.vs_control}
    if name.partition(":")[0] != "stress/negation" or not kinds or len(controls) < len(kinds):
        return
    tests = {kind: control.rate for kind, control in controls.items()}
    counts = " and ".join(
        f"{TO_CONTRADICTION[kind]} in {kinds[kind].count:,} pairs ({control.count:,} untouched)"
        for kind, control in controls.items()
    )
    evidence = tuple(
        f"{kind}: {100 * test.difference.value:+.1f} points of all pairs, adjusted p {p_value(test.p_adjusted)}"
        for kind, test in tests.items()
    )
    severity: Severity = "info"
    text = f"takes no more for contradiction with a negation word added: {counts}"
    if any(test.p_adjusted < ALPHA and test.difference.value > 0 for test in tests.values()):
        severity, text = "warning", f"takes more for contradiction with a negation word added: {counts}"
    elif any(test.difference.high > NEGLIGIBLE for test in tests.values()):
        text = "was asked too few pairs to say whether a negation word misleads"
    yield Finding("N1", severity, text, name, evidence)


def _unanswered(name: str, result: SuiteResult) -> Iterator[Finding]:
    if result.unanswered:
        part = whole_percent(result.unanswered / result.overall.n)
        text = f"gave no answer to {result.unanswered:,} pairs ({part}); they count as wrong"
        yield Finding("U1", "warning", text, name)


def _collapse(name: str, result: SuiteResult) -> Iterator[Finding]:
    differs = result.collapse_differs or 0
    if differs and differs >= 0.01 * result.overall.n:
        change = "would be another if probabilities were summed over the gold set"
        yield Finding("P1", "info", f"{differs:,} verdicts {change}: report which was used", name)
