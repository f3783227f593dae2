"""What an audit of a training set found, in plain sentences with their evidence.

What rests on a test is said only if it holds after Holm's correction over all tests of the audit; how grave it is
depends on its size, not on p.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from math import isnan

from acidtest.core.estimate import Estimate
from acidtest.reports.diagnosis import FEW, HEURISTICS, Finding, Severity, percent, whole
from acidtest.reports.numerals import counted, p_value, signed_interval
from acidtest.studies.audit import KINDS, Audit
from acidtest.studies.audits.cues import ALPHA, Cue
from acidtest.studies.audits.leaks import Leak
from acidtest.studies.audits.measures import LENGTHS, NEGATIONS, OVERLAP, ByLabel

SMALL_GAIN, LARGE_GAIN = 0.02, 0.10
SMALL_EFFECT, LARGE_EFFECT = 0.01, 0.06
"""Shares of variance explained that Cohen (1988) calls small and medium."""
MANY, SOME, ABOUT_ALL = 0.01, 0.001, 0.9
TELLING = 0.7
"""What part of the way from a label's share of all pairs to always a strong cue goes: 80 % where a third is usual."""
ENOUGH_PAIRS = 1000
"""So many pairs may teach a heuristic in a set of any size: 1,346 of MultiNLI's 392,702 did (McCoy et al. 2019)."""
UNEVEN = 1.5
GRAVE_LEAK = 0.01
SHARED = 0.01
NEARLY = "nearly: both sentences share two thirds of their words, as when one word in five is replaced"

CODES = {"hypothesis_words": "W1", "hypothesis_bigrams": "W2", "premise_words": "W3", "word_pairs": "W4"}
TITLES = {
    "hypothesis_words": "words of the hypothesis",
    "hypothesis_bigrams": "bigrams of the hypothesis",
    "premise_words": "words of the premise",
    "word_pairs": "pairs of a premise's and a hypothesis's word",
}


def _nothing(found: Audit) -> Finding:
    """What is said when nothing was found: that may be because there was nothing to test."""
    if all(math.isnan(p) for p in found.ps.values()):
        return Finding("A2", "info", found.name, "there are too few pairs to test anything")
    leaks = " and no leak" if found.leakage else ""
    return Finding("A1", "good", found.name, f"nothing here gives labels away: no shortcut{leaks} was found")


def audit_findings(found: Audit) -> list[Finding]:
    """Every finding about a training set, gravest first; none is a finding, too."""
    if not found.rows:
        return [Finding("A0", "info", found.name, "there are no pairs to look at")]
    rules = (_partial_input, _heuristics, _cues, _measures, _balance, _duplicates, _leakage)
    told = [finding for rule in rules for finding in rule(found)]
    if not any(finding.severity in ("severe", "warning") for finding in told):
        told.append(_nothing(found))
    order = ("severe", "warning", "info", "good")
    return sorted(told, key=lambda finding: order.index(finding.severity))


def _holds(found: Audit, test: str) -> bool:
    p = found.adjusted.get(test, float("nan"))
    return not isnan(p) and p < ALPHA


def _corrected(found: Audit, test: str) -> str:
    return f"p {p_value(found.adjusted[test])}, corrected for {len(found.ps)} tests of the audit"


def _partial_input(found: Audit) -> Iterator[Finding]:
    for side, each in found.partial_input.items():
        if not _holds(found, f"{side} only") or each.gain.value <= 0:
            continue
        severity = _grade(each.gain.value, SMALL_GAIN, LARGE_GAIN)
        verb = {"severe": "much of the label can be told", "warning": "some of the label can be told"}
        other = "premise" if side == "hypothesis" else "hypothesis"
        means = f"{verb.get(severity, 'a little of the label can be told')} without the {other}"
        shares = f"{whole(each.balanced.value)} of each label on average, a guess {whole(each.chance)}"
        text = f"the {side} alone gives {shares}: {means}"
        evidence = (
            "linear model on words and bigrams, five folds that share no premise: balanced accuracy "
            f"{percent(each.balanced)}",
            f"right on {percent(each.accuracy)} of all pairs; always {each.label}: {percent(each.majority)}",
            f"gain {signed_interval(each.gain)} points; {_corrected(found, f'{side} only')}",
        )
        yield Finding("P1" if side == "hypothesis" else "P2", severity, found.name, text, evidence)


def _heuristics(found: Audit) -> Iterator[Finding]:
    for name, support in found.heuristics.items():
        test = f"heuristic {name}"
        if support is None or support.support + support.contradict < FEW or not _holds(found, test):
            continue
        share = support.support / (support.support + support.contradict)
        base = found.balance.labels.get("entailment", 0) / found.rows
        if share <= base:
            continue
        touched = support.support + support.contradict
        severity = _heuristic_severity(share, touched, found.rows)
        title, pairs = HEURISTICS[name]
        means = f"{'teaches' if severity == 'severe' else 'favours'} the {title} heuristic"
        extent = f"{touched:,} of {counted(found.rows, 'pair')}"
        text = f"{whole(share)} of {pairs} are entailment, of all pairs {whole(base)}: {means}, by {extent}"
        evidence = (f"{support.support:,} support it, {support.contradict:,} contradict it", _corrected(found, test))
        yield Finding("H1", severity, found.name, text, evidence)


def _heuristic_severity(share: float, touched: int, rows: int) -> Severity:
    """How grave it is that a heuristic holds, by how often it does and by how many pairs it touches."""
    if touched >= MANY * rows or touched >= ENOUGH_PAIRS:
        return "severe" if share >= ABOUT_ALL else "warning"
    return "warning" if touched >= SOME * rows else "info"


def _cues(found: Audit) -> Iterator[Finding]:
    for kind in KINDS:
        tied = found.cues[kind]
        best = sorted((cue for listed in tied.top.values() for cue in listed), key=lambda cue: -cue.pmi)
        if not best or not _holds(found, f"cues {kind}"):
            continue
        strong = [cue for cue in best if _is_telling(cue, found) and cue.count >= MANY * found.rows]
        shown = ", ".join(_cue(cue) for cue in (strong or best)[:3])
        number = sum(tied.tied.values())
        text = f"{number:,} of {tied.tested:,} {TITLES[kind]} are tied to a label, such as {shown}"
        evidence = tuple(
            f"{label}: {', '.join(repr(cue.item) for cue in listed[:5])}"
            for label, listed in tied.top.items()
            if listed
        )
        yield Finding(
            CODES[kind],
            "severe" if strong else "warning",
            found.name,
            text,
            (*evidence, _corrected(found, f"cues {kind}")),
        )


def _is_telling(cue: Cue, found: Audit) -> bool:
    """Whether nearly all that has a cue has its label, measured from how common that label is."""
    usual = found.balance.labels.get(cue.label, 0) / found.rows
    return cue.share - usual >= TELLING * (1 - usual)


def _cue(cue: Cue) -> str:
    return f"{cue.item!r} ({whole(cue.share)} of {cue.count:,} {cue.label})"


def _measures(found: Audit) -> Iterator[Finding]:
    names = {
        "premise_length": ("L2", "premises of", " words"),
        "hypothesis_length": ("L1", "hypotheses of", " words"),
        OVERLAP: ("O1", "word overlap of", ""),
        "premise_negation": ("N2", "negated premises among", ""),
        "hypothesis_negation": ("N1", "negated hypotheses among", ""),
    }
    for name in (*LENGTHS, OVERLAP, *NEGATIONS):
        each = found.measures[name]
        if not _holds(found, name) or isnan(each.explained):
            continue
        code, what, unit = names[name]
        high, low = _extremes(each)
        highest, lowest = (_value(each.means[label], unit) for label in (high, low))
        severity = _grade(each.explained, SMALL_EFFECT, LARGE_EFFECT)
        means = f"{what} {high} {_verb(name)} {highest}{unit}, of {low} {lowest}"
        text = f"{means}: {_means(name, severity)}"
        evidence = (
            f"the label explains {each.explained:.1%} of its variance".replace("%", " %"),
            f"largest difference {each.largest:.2f} standard deviations" if not isnan(each.largest) else "",
            _corrected(found, name),
        )
        yield Finding(code, severity, found.name, text, tuple(line for line in evidence if line))


def _extremes(each: ByLabel) -> tuple[str, str]:
    order = sorted(each.means, key=lambda label: each.means[label].value)
    return order[-1], order[0]


def _value(mean: Estimate, unit: str) -> str:
    return f"{mean.value:.1f}" if unit else whole(mean.value)


def _verb(name: str) -> str:
    return "have" if name in LENGTHS else "is" if name == OVERLAP else "are"


def _means(name: str, severity: Severity) -> str:
    thing = "length" if name in LENGTHS else "overlap" if name == OVERLAP else "negation"
    if severity == "info":
        return f"a slight difference in {'words' if name in LENGTHS else thing}"
    return f"{thing} {'gives the label away' if severity == 'severe' else 'hints at the label'}"


def _balance(found: Audit) -> Iterator[Finding]:
    labels = found.balance.labels
    if len(labels) == 1:
        yield Finding("B2", "info", found.name, f"all pairs are {next(iter(labels))}: nothing can be tied to a label")
        return
    label, share = found.balance.majority
    if share * len(labels) > UNEVEN and found.rows >= FEW:
        text = f"{whole(share)} of all pairs are {label}: always to answer so is right that often"
        yield Finding("B1", "warning", found.name, text, (_counts(labels),))
    strength = found.balance.cramers_v
    if not isnan(strength) and _holds(found, "genre"):
        severity = _grade(strength**2, SMALL_EFFECT, LARGE_EFFECT)
        text = f"labels differ between the values of {found.balance.genre_column} (Cramér's V {strength:.2f})"
        yield Finding("G1", severity, found.name, text, (_corrected(found, "genre"),))


def _counts(labels: Mapping[str, int]) -> str:
    return ", ".join(f"{label} {count:,}" for label, count in labels.items())


def _duplicates(found: Audit) -> Iterator[Finding]:
    held = found.duplicates
    if held.conflicts:
        text = f"{counted(held.conflicts, 'pair')} {_stand(held.conflicts)} with different labels: one of them is wrong"
        yield Finding("D1", "warning", found.name, text)
    if held.surplus:
        share = held.surplus / found.rows
        surplus = counted(held.surplus, "row")
        text = f"{counted(held.repeated, 'pair')} {_stand(held.repeated)} more than once, {surplus} too many"
        yield Finding("D2", "warning" if share > MANY else "info", found.name, text)
    if held.shared_pairs > SHARED * held.pairs:
        text = (
            f"{counted(held.shared_hypotheses, 'hypothesis').replace('hypothesiss', 'hypotheses')} "
            f"{_stand(held.shared_hypotheses)} under several premises, {held.one_label:,} of them always with one label"
        )
        mostly = held.one_label > held.shared_hypotheses / 2 and len(found.balance.labels) > 1
        yield Finding("D3", "warning" if mostly else "info", found.name, text)
    near = found.near
    if near.near:
        text = (
            f"{near.near:,} of {counted(near.of, 'pair')} {'is' if near.near == 1 else 'are'} nearly the same as "
            f"another, {near.same_label:,} as one of their own label"
        )
        often = near.same_label > MANY * near.of
        yield Finding("D4", "warning" if often else "info", found.name, text, (NEARLY, *_near_pairs(near.examples)))


def _near_pairs(examples: Sequence[Mapping[str, str]]) -> tuple[str, ...]:
    """The first pair with what it is near to, as they are written."""
    return tuple(" ≈ ".join(near_pair(each)) for each in examples[:1])


def near_pair(example: Mapping[str, str]) -> tuple[str, str]:
    """A pair and the near one in the training set, each in a line."""
    own, other = (
        f"{example[f'{of}premise']} → {example[f'{of}hypothesis']} ({example[f'{of}label']})" for of in ("", "train_")
    )
    return own, other


def _stand(count: int) -> str:
    return "stands" if count == 1 else "stand"


def _leakage(found: Audit) -> Iterator[Finding]:
    for leak in found.leakage:
        if leak.exact:
            severity: Severity = "severe" if leak.exact >= GRAVE_LEAK * leak.rows else "warning"
            pairs = f"{counted(leak.exact, 'pair')} of {leak.suite} ({whole(leak.exact / leak.rows)})"
            text = f"{pairs} {_stand(leak.exact)} in the training set"
            yield Finding("K1", severity, leak.suite, text, _leak_evidence(leak))
        if leak.near:
            text = (
                f"{counted(leak.near, 'pair')} of {leak.suite} {_stand(leak.near)} nearly in the training set, "
                f"{leak.near_same_label:,} with the same label"
            )
            near = _near_pairs([each for each in leak.examples if each["match"] == "near"])
            grave = leak.near >= GRAVE_LEAK * leak.near_of
            yield Finding("K2", "warning" if grave else "info", leak.suite, text, (NEARLY, *near))
        if not leak.exact and not leak.near:
            nearly = " or nearly" if leak.near_of >= leak.rows else f", none of {leak.near_of:,} looked at nearly"
            text = f"no pair of {leak.suite} stands in the training set, exactly{nearly}"
            yield Finding("K3", "good", leak.suite, text)


def _leak_evidence(leak: Leak) -> tuple[str, ...]:
    return (
        f"{leak.same_label:,} of {leak.exact:,} with the same label",
        f"{leak.premise:,} of {leak.rows:,} premises and {leak.hypothesis:,} hypotheses are in it",
    )


def _grade(size: float, small: float, large: float) -> Severity:
    return "severe" if size >= large else "warning" if size >= small else "info"
