"""The findings of an audit: sentences with a severity and evidence.

A finding based on a test is reported only if it is significant after Holm's correction over all tests of the audit;
its severity depends on the size of the effect, not on p.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import isnan

from acidtest.core.document import Finding, Severity, describe_count
from acidtest.core.numbers import describe_share, interval, p_value, whole_percent
from acidtest.studies.audit import AuditResult
from acidtest.studies.audit.cues import ALPHA, USUAL_SHARE, Cue
from acidtest.studies.audit.measures import BIASES, LENGTHS, OVERLAP

FEW = 20
"""With fewer pairs than this, there is no finding about a heuristic or about uneven labels."""
SMALL_GAIN, LARGE_GAIN = 0.02, 0.10
SMALL_EFFECT, LARGE_EFFECT = 0.01, 0.06
"""Shares of explained variance: Cohen's (1988) small and medium effects."""
MANY, SOME, ABOUT_ALL = 0.01, 0.001, 0.9
STRONG_CUE = 0.7
"""How far the share of a strong cue lies between the label's overall share and 1: 80 % where a third is usual."""
ENOUGH_PAIRS = 1000
"""Pairs that suffice to teach a heuristic in a set of any size: 1,346 of MultiNLI's 392,702 did (McCoy et al. 2019)."""
UNEVEN = 1.5
"""Labels are called uneven if one is more frequent than this many times an even share."""
NEARLY = "nearly: both sentences share two thirds of their words, as when one word in five is replaced"

CUES = {
    "hypothesis_words": ("W1", "words of the hypothesis"),
    "hypothesis_bigrams": ("W2", "bigrams of the hypothesis"),
    "premise_words": ("W3", "words of the premise"),
    "word_pairs": ("W4", "pairs of a premise's and a hypothesis's word"),
}
"""The finding's code and the title of each kind of cue."""

_HEURISTICS = {
    "lexical_overlap": ("lexical-overlap", "pairs whose hypothesis uses only words of the premise"),
    "subsequence": ("subsequence", "pairs whose hypothesis is a run of words of the premise"),
    "constituent": ("constituent", "pairs whose hypothesis is a clause of the premise"),
}
_BIASES = {
    "premise_length": ("L2", "premises of", "have", "length"),
    "hypothesis_length": ("L1", "hypotheses of", "have", "length"),
    OVERLAP: ("O1", "word overlap of", "is", "overlap"),
    "premise_negation": ("N2", "negated premises among", "are", "negation"),
    "hypothesis_negation": ("N1", "negated hypotheses among", "are", "negation"),
}

Proofs = Mapping[str, str]
"""p of each significant test as a phrase: ``p 0.0012, corrected for 12 tests of the audit``."""


def find_biases(audit: AuditResult) -> tuple[Finding, ...]:
    """All findings about a training set, most severe first; if there is no bias, a finding says so."""
    if not audit.rows:
        return (Finding("A0", "info", "there are no pairs to look at", audit.name),)
    corrected = f"corrected for {len(audit.tests)} tests of the audit"
    # The p of a test that could not be computed is NaN, which is not below ALPHA.
    tests = {name: test.p_adjusted for name, test in audit.tests.items() if test.p_adjusted < ALPHA}
    proofs = {name: f"p {p_value(p)}, {corrected}" for name, p in tests.items()}
    rules = (_partial_input, _heuristics, _cues, _biases, _balance)
    findings = [finding for rule in rules for finding in rule(audit, proofs)]
    findings += [*_duplicates(audit), *_leakage(audit)]
    if not any(finding.severity in ("severe", "warning") for finding in findings):
        findings.append(_no_shortcut(audit))
    order = ("severe", "warning", "info", "good")
    findings.sort(key=lambda finding: order.index(finding.severity))
    return tuple(replace(finding, suite=finding.suite or audit.name) for finding in findings)


def near_pair(example: Mapping[str, str]) -> tuple[str, str]:
    """A pair, and the near duplicate of it in the training set, each as one line of text."""
    pair, other = (
        f"{example[f'{of}premise']} → {example[f'{of}hypothesis']} ({example[f'{of}label']})" for of in ("", "train_")
    )
    return pair, other


def heuristic_severity(share: float, pairs: int, rows: int) -> Severity:
    """Severity of a heuristic that is right in ``share`` of the ``pairs`` it applies to, of ``rows`` in all."""
    if pairs >= MANY * rows or pairs >= ENOUGH_PAIRS:
        return "severe" if share >= ABOUT_ALL else "warning"
    return "warning" if pairs >= SOME * rows else "info"


def is_strong_cue(cue: Cue, audit: AuditResult) -> bool:
    """Whether a cue's share exceeds its label's overall share by at least ``STRONG_CUE`` of what is possible."""
    usual = audit.balance.labels.get(cue.label, 0) / audit.rows
    return cue.share - usual >= STRONG_CUE * (1 - usual)


def _no_shortcut(audit: AuditResult) -> Finding:
    """A finding that there is no shortcut, or that there are too few pairs to test."""
    if all(isnan(test.p) for test in audit.tests.values()):
        return Finding("A2", "info", "there are too few pairs to test anything")
    leaks = " and no leak" if audit.leakage else ""
    return Finding("A1", "good", f"no shortcut{leaks} was found", evidence=tuple(describe_detectable(audit)))


def describe_detectable(audit: AuditResult) -> Iterator[str]:
    """Sentences on how large a bias the audit would probably have found."""
    for kind, (_, title) in CUES.items():
        smallest = audit.cues[kind].detectable
        if not isnan(smallest):
            yield (
                f"{title}: one that is in {whole_percent(USUAL_SHARE)} of the other labels' texts is found in 80 % of "
                f"such sets from {smallest:.1%} of the most frequent label's"
            )
    for side, part in audit.partial_input.items():
        if not isnan(part.detectable):
            yield f"{side} alone: a gain of {100 * part.detectable:.1f} points is found in 80 % of such sets"


def _partial_input(audit: AuditResult, proofs: Proofs) -> Iterator[Finding]:
    amounts = {"severe": "much", "warning": "some", "info": "a little"}
    for side, part in audit.partial_input.items():
        if f"{side} only" not in proofs or part.gain.value <= 0:
            continue
        code, other = ("P1", "premise") if side == "hypothesis" else ("P2", "hypothesis")
        severity = _grade(part.gain.value, SMALL_GAIN, LARGE_GAIN)
        meaning = f"{amounts[severity]} of the label can be told without the {other}"
        shares = f"{whole_percent(part.balanced.value)} of each label on average, a guess {whole_percent(part.chance)}"
        evidence = (
            "linear model on words and bigrams, five folds that share no premise: balanced accuracy "
            f"{describe_share(part.balanced)}",
            f"right on {describe_share(part.accuracy)} of all pairs; always {part.label}: "
            f"{describe_share(part.majority)}",
            f"gain {interval(part.gain, 'points')} points; {proofs[f'{side} only']}",
        )
        yield Finding(code, severity, f"the {side} alone gives {shares}: {meaning}", evidence=evidence)


def _heuristics(audit: AuditResult, proofs: Proofs) -> Iterator[Finding]:
    base = audit.balance.labels.get("entailment", 0) / audit.rows
    for name, support in audit.heuristics.items():
        if support is None or f"heuristic {name}" not in proofs:
            continue
        pairs, share = support.support + support.contradict, support.share.value
        if pairs < FEW or share <= base:
            continue
        severity = heuristic_severity(share, pairs, audit.rows)
        title, which = _HEURISTICS[name]
        shares = f"{whole_percent(share)} of {which} are entailment, of all pairs {whole_percent(base)}"
        meaning = f"{'teaches' if severity == 'severe' else 'favours'} the {title} heuristic"
        sentence = f"{shares}: {meaning}, by {pairs:,} of {describe_count(audit.rows, 'pair')}"
        counts = f"{support.support:,} support it, {support.contradict:,} contradict it"
        yield Finding("H1", severity, sentence, evidence=(counts, proofs[f"heuristic {name}"]))


def _cues(audit: AuditResult, proofs: Proofs) -> Iterator[Finding]:
    for kind, (code, title) in CUES.items():
        result = audit.cues[kind]
        best = sorted((cue for cues in result.top.values() for cue in cues), key=lambda cue: -cue.pmi)
        if not best or f"cues {kind}" not in proofs:
            continue
        strong = [cue for cue in best if is_strong_cue(cue, audit) and cue.count >= MANY * audit.rows]
        shown = ", ".join(
            f"{cue.item!r} ({whole_percent(cue.share)} of {cue.count:,} {cue.label})" for cue in (strong or best)[:3]
        )
        tied = f"{sum(result.tied.values()):,} of {result.tested:,} {title} are tied to a label"
        items = (
            f"{label}: {', '.join(repr(cue.item) for cue in cues[:5])}" for label, cues in result.top.items() if cues
        )
        evidence = (*items, proofs[f"cues {kind}"])
        yield Finding(code, "severe" if strong else "warning", f"{tied}, such as {shown}", evidence=evidence)


def _biases(audit: AuditResult, proofs: Proofs) -> Iterator[Finding]:
    """Findings about differences in length, overlap and negation between labels."""
    for name in BIASES:
        measure = audit.measures[name]
        if name not in proofs or isnan(measure.explained):
            continue
        code, what, verb, noun = _BIASES[name]
        lowest, *_, highest = sorted(measure.means, key=lambda label: measure.means[label].value)
        low, high = (
            f"{measure.means[label].value:.1f}" if name in LENGTHS else whole_percent(measure.means[label].value)
            for label in (lowest, highest)
        )
        severity = _grade(measure.explained, SMALL_EFFECT, LARGE_EFFECT)
        meaning = {
            "severe": f"{noun} gives the label away",
            "warning": f"{noun} hints at the label",
            "info": f"a slight difference in {'words' if name in LENGTHS else noun}",
        }[severity]
        evidence = [f"the label explains {measure.explained:.1%} of its variance".replace("%", " %")]
        if not isnan(measure.largest):
            evidence.append(f"largest difference {measure.largest:.2f} standard deviations")
        unit = " words" if name in LENGTHS else ""
        sentence = f"{what} {highest} {verb} {high}{unit}, of {lowest} {low}: {meaning}"
        yield Finding(code, severity, sentence, evidence=(*evidence, proofs[name]))


def _balance(audit: AuditResult, proofs: Proofs) -> Iterator[Finding]:
    labels, strength = audit.balance.labels, audit.balance.cramers_v
    label = max(labels, key=lambda name: labels[name])
    share = labels[label] / audit.rows
    if len(labels) == 1:
        yield Finding("B2", "info", f"all pairs are {label}: nothing can be tied to a label")
    elif share * len(labels) > UNEVEN and audit.rows >= FEW:
        sentence = f"{whole_percent(share)} of all pairs are {label}: always to answer so is right that often"
        counts = ", ".join(f"{name} {count:,}" for name, count in labels.items())
        yield Finding("B1", "warning", sentence, evidence=(counts,))
    if "genre" in proofs:
        sentence = f"labels differ between the values of {audit.balance.genre_column} (Cramér's V {strength:.2f})"
        yield Finding("G1", _grade(strength**2, SMALL_EFFECT, LARGE_EFFECT), sentence, evidence=(proofs["genre"],))


def _duplicates(audit: AuditResult) -> Iterator[Finding]:
    repeated = audit.duplicates
    if repeated.conflicts:
        pairs = f"{describe_count(repeated.conflicts, 'pair')} {_stand(repeated.conflicts)}"
        yield Finding("D1", "warning", f"{pairs} with different labels: one of them is wrong")
    if repeated.surplus:
        pairs = f"{describe_count(repeated.repeated, 'pair')} {_stand(repeated.repeated)}"
        sentence = f"{pairs} more than once, {describe_count(repeated.surplus, 'row')} too many"
        yield Finding("D2", "warning" if repeated.surplus / audit.rows > MANY else "info", sentence)
    if repeated.shared_pairs > MANY * repeated.pairs:
        noun = "hypothesis" if repeated.shared_hypotheses == 1 else "hypotheses"
        hypotheses = f"{repeated.shared_hypotheses:,} {noun} {_stand(repeated.shared_hypotheses)}"
        sentence = f"{hypotheses} under several premises, {repeated.one_label:,} of them always with one label"
        mostly = repeated.one_label > repeated.shared_hypotheses / 2 and len(audit.balance.labels) > 1
        yield Finding("D3", "warning" if mostly else "info", sentence)
    if repeated.near:
        sentence = (
            f"{repeated.near:,} of {describe_count(repeated.near_of, 'pair')} {'is' if repeated.near == 1 else 'are'} "
            f"nearly the same as another, {repeated.near_same_label:,} as one of their own label"
        )
        severity: Severity = "warning" if repeated.near_same_label > MANY * repeated.near_of else "info"
        yield Finding("D4", severity, sentence, evidence=(NEARLY, *_first_near_pair(repeated.near_examples)))


def _leakage(audit: AuditResult) -> Iterator[Finding]:
    for leak in audit.leakage:
        if leak.exact:
            pairs = f"{describe_count(leak.exact, 'pair')} of {leak.suite} ({whole_percent(leak.exact / leak.rows)})"
            evidence = (
                f"{leak.same_label:,} of {leak.exact:,} with the same label",
                f"{leak.premise:,} of {leak.rows:,} premises and {leak.hypothesis:,} hypotheses are in it",
            )
            severity: Severity = "severe" if leak.exact >= MANY * leak.rows else "warning"
            yield Finding("K1", severity, f"{pairs} {_stand(leak.exact)} in the training set", leak.suite, evidence)
        if leak.near:
            pairs = f"{describe_count(leak.near, 'pair')} of {leak.suite} {_stand(leak.near)} nearly"
            sentence = f"{pairs} in the training set, {leak.near_same_label:,} with the same label"
            near = _first_near_pair([example for example in leak.examples if example["match"] == "near"])
            severity = "warning" if leak.near >= MANY * leak.near_of else "info"
            yield Finding("K2", severity, sentence, leak.suite, (NEARLY, *near))
        if not leak.exact and not leak.near:
            nearly = " or nearly" if leak.near_of >= leak.rows else f", none of {leak.near_of:,} looked at nearly"
            sentence = f"no pair of {leak.suite} stands in the training set, exactly{nearly}"
            yield Finding("K3", "good", sentence, leak.suite)


def _first_near_pair(examples: Sequence[Mapping[str, str]]) -> tuple[str, ...]:
    """The first example and its near duplicate as one line; empty without examples."""
    return tuple(" ≈ ".join(near_pair(example)) for example in examples[:1])


def _stand(count: int) -> str:
    return "stands" if count == 1 else "stand"


def _grade(size: float, small: float, large: float) -> Severity:
    return "severe" if size >= large else "warning" if size >= small else "info"
