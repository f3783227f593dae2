"""Whether verdicts on changed pairs are as expected, given those on the untouched ones (Ribeiro et al. 2020).

Invariance tests expect the same verdict, directional ones that a label is not answered more, or not less, often;
several of these are joined by commas. No gold is needed: the verdict on a changed pair is compared with that on the
pair it was made from and, where transitivity is expected, with that on the pair that links the two. An expectation is a
number of rules, such as *E → E*. Only pairs that can fail count: those to which a rule applies. Where entailment was
answered before, *not more entailment* holds whatever is answered after.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from math import nan

import numpy as np
import numpy.typing as npt

from acidtest.core.document import Finding
from acidtest.core.estimate import Estimate
from acidtest.core.labels import LABELS
from acidtest.core.numbers import whole_percent
from acidtest.core.suite import EXPECTATION, LINK, TRANSITIVE
from acidtest.stats.intervals import rate
from acidtest.stats.resampling import Codes, taken
from acidtest.studies.scoring.controls import Pairing, match_ids
from acidtest.studies.scoring.rows import Flags, ScoredRows

HOLDS = "expectation holds"
"""The metric of a suite whose rows have an expectation; with ``: CHANGE (EXPECTATION)``, that of one change."""

KEPT = 0.95
"""An expectation is kept if it surely holds on at least this share of pairs, and broken if it surely does not."""

SETS = "sets wholly consistent"
"""The metric of a suite of sets: the share of groups in which every expectation that can fail holds."""

_CAN_FAIL = " that can fail"

BREAKS = "breaks"
CHANGE = "change"

Answers = npt.NDArray[np.int8]
"""Positions of labels; -1 without an answer."""


@dataclass(frozen=True)
class Rule:
    """What may be answered to a changed pair, given the answers to the untouched one and to the link, if any."""

    before: frozenset[str]
    after: frozenset[str]
    link: frozenset[str] | None = None

    @property
    def name(self) -> str:
        """The rule in signs: *E → E*, *N, C → not E*."""
        conditions = [self.before] if self.link is None else [self.before, self.link]
        return f"{', '.join(map(_describe_labels, conditions))} → {_describe_labels(self.after)}"


@dataclass(frozen=True)
class AnswerTriples:
    """The answers before and after a change, and those to the links; -1 where there is no answer or no link."""

    before: Answers
    after: Answers
    link: Answers
    labels: tuple[str, ...]

    def check(self, rule: Rule) -> tuple[Flags, Flags] | None:
        """To which pairs a rule applies, and which of all pairs keep to it; None where the labels cannot tell.

        A pair without an answer breaks every rule.
        """
        parts = [(self.before, rule.before), (self.after, rule.after)]
        if rule.link is not None:
            parts.append((self.link, rule.link))
        answered = np.logical_and.reduce([answers >= 0 for answers, _ in parts])
        flags = []
        for answers, names in parts:
            accepted = _accepted(names, self.labels)
            if accepted is None:
                return None
            flags.append(accepted[answers])
        before, after, *link = flags
        applies = np.logical_and.reduce([before, *link]) | ~answered
        return applies, answered & (after | ~applies)


@cache
def expectation_rules(expectation: str, *, two_way: bool = False) -> tuple[Rule, ...]:
    """The rules of an expectation; none for words that are no expectation."""
    every = frozenset(LABELS)
    single = [frozenset({label}) for label in LABELS]
    verdicts = [single[0], every - single[0]] if two_way else single
    if expectation == "same verdict":
        return tuple(Rule(verdict, verdict) for verdict in verdicts)
    if expectation == "other verdict":
        return tuple(Rule(verdict, every - verdict) for verdict in verdicts)
    if expectation == TRANSITIVE:
        entails, neutral, contradicts = single
        return (
            Rule(entails, entails, entails),
            Rule(entails, contradicts, contradicts),
            Rule(neutral, every - contradicts, entails),
            Rule(neutral, every - entails, contradicts),
        )
    rules = list[Rule]()
    for part in expectation.split(", "):
        if match := re.fullmatch(rf"not (more|less) ({'|'.join(LABELS)})", part):
            label = frozenset({match[2]})
            rules.append(Rule(label, label) if match[1] == "less" else Rule(every - label, every - label))
    return tuple(rules)


def _describe_labels(names: frozenset[str]) -> str:
    """A set of labels by their initials: *E*, *not C*."""
    if len(names) == 1:
        return next(iter(names))[:1].upper()
    missing = [label for label in LABELS if label not in names]
    return f"not {missing[0][:1].upper()}" if missing else "any"


def _accepted(names: frozenset[str], labels: tuple[str, ...]) -> Flags | None:
    """Whether each label is one of the names, and False for no answer (-1); None where two labels cannot tell."""
    if labels == LABELS:
        return np.array([*(label in names for label in labels), False])
    others = names - {LABELS[0]}
    if others and len(others) < len(LABELS) - 1:
        return None
    return np.array([LABELS[0] in names, bool(others), False])


def expectation_metrics(rows: ScoredRows, control: ScoredRows | None, pairs: Pairing | None) -> dict[str, Estimate]:
    """The share of pairs whose expectation holds, of those where it can fail, in all and by change.

    Nothing for suites without expectations.
    """
    if control is None or pairs is None or EXPECTATION not in rows.card.factors:
        return {}
    codes, kinds = rows.coded(EXPECTATION, *([CHANGE] if CHANGE in rows.card.factors else []))
    kind = taken(codes, pairs.own)
    answers = answer_triples(rows, control, pairs)
    holds, asked = np.zeros(kind.size, dtype=np.bool_), np.zeros(kind.size, dtype=np.bool_)
    parts = dict[str, Flags]()
    for code, (expectation, *change) in enumerate(kinds.iter_rows()):
        here = kind == code
        compared = keeps_expectation(str(expectation), answers)
        if compared is None:
            continue
        keeps, can_fail = compared
        holds[here], asked[here] = keeps[here], can_fail[here]
        parts[f"{HOLDS}: {change[0]} ({expectation})" if change else f"{HOLDS}: {expectation}"] = here & can_fail
    metrics = {HOLDS: _share(holds, asked, pairs)} | {name: _share(holds, here, pairs) for name, here in parts.items()}
    return metrics | ({SETS: set_consistency(holds, asked, pairs)} if LINK in rows.card.columns else {})


def answer_triples(rows: ScoredRows, control: ScoredRows, pairs: Pairing) -> AnswerTriples:
    """The answers to the untouched pairs, the changed ones and their links, one of each for every pair of rows."""
    after, before = taken(rows.answer, pairs.own), taken(control.answer, pairs.control)
    return AnswerTriples(before, after, link_answers(rows.answer, taken(link_places(rows), pairs.own)), rows.labels)


def link_places(rows: ScoredRows) -> Codes:
    """For each row the position of its link, -1 for rows without one."""
    places = np.full(rows.height, -1, dtype=np.int32)
    if LINK in rows.card.columns:
        linked, links = match_ids(rows.digests(LINK), rows.digests("id"))
        places[linked] = links
    return places


def link_answers(answers: Answers, places: Codes) -> Answers:
    """The answers at some positions, -1 where the position is -1."""
    return np.where(places >= 0, answers[np.maximum(places, 0)], np.int8(-1)).astype(np.int8)


def keeps_expectation(expectation: str, answers: AnswerTriples) -> tuple[Flags, Flags] | None:
    """Whether each pair is answered as expected, and whether it could have failed, given the other answers.

    None for what a model with these labels cannot be asked.
    """
    rules = expectation_rules(expectation, two_way=answers.labels != LABELS)
    checks = [answers.check(rule) for rule in rules]
    known = [check for check in checks if check is not None]
    if not known:
        return None
    applies, holds = zip(*known, strict=True)
    return np.logical_and.reduce(holds), np.logical_or.reduce(applies)


def set_consistency(holds: Flags, asked: Flags, pairs: Pairing) -> Estimate:
    """Share of groups in which every expectation that could fail holds, of those in which one could."""
    groups = np.unique(pairs.groups[asked])
    if not groups.size:
        return Estimate(nan, note="no set in which an expectation could fail")
    broken = np.unique(pairs.groups[asked & ~holds])
    return rate(~np.isin(groups, broken))


def pairs_with_gold(rows: ScoredRows, control: ScoredRows | None, pairs: Pairing | None) -> Pairing | None:
    """The pairing of the rows that are judged by gold; all of it in suites without expectations."""
    if control is None or pairs is None or rows.judged is None:
        return pairs
    part = pairs.part(rows.judged)
    alike = np.array_equal(taken(rows.gold, part.own), taken(control.gold, part.control))
    return replace(part, alike=alike) if part.own.size else None


def expectation_notes(metrics: Mapping[str, Estimate]) -> Iterator[str]:
    """A sentence for each change: on how many pairs what was expected holds."""
    for name, share in metrics.items():
        if name.startswith(f"{HOLDS}: ") and share.known:
            change = name.removeprefix(f"{HOLDS}: ")
            yield f"{change} holds on {_describe(share, change)}"


def _share(holds: Flags, chosen: Flags, pairs: Pairing) -> Estimate:
    empty = "no pair on which it could fail, given this model's labels and its answers to the untouched pairs"
    return rate(holds[chosen], groups=pairs.groups[chosen], strata=pairs.strata[chosen], empty=empty)


def expectation_verdict(metrics: Mapping[str, Estimate]) -> str:
    """A word for the scorecard: *breaks*, *holds* or *too few to say*; empty for suites without expectations."""
    changes = [share for name, share in metrics.items() if name.startswith(f"{HOLDS}: ")]
    if not changes:
        return ""
    if any(share.high < KEPT for share in changes):
        return BREAKS
    return "holds" if all(share.low >= KEPT for share in changes) else "too few to say"


def expectation_findings(metrics: Mapping[str, Mapping[str, Estimate]]) -> Iterator[Finding]:
    """A finding for each suite that has expectations which surely do not hold; ``metrics`` are those of suites."""
    for suite, shares in metrics.items():
        low = {
            name.removeprefix(f"{HOLDS}: "): share
            for name, share in shares.items()
            if name.startswith(f"{HOLDS}: ") and share.high < KEPT
        }
        if not low:
            continue
        worst = min(low, key=lambda name: low[name].value)
        text = f"does not keep to what was expected: {worst} holds on only {whole_percent(low[worst].value)} of pairs"
        text += _CAN_FAIL if _is_directional(worst) else ""
        if len(low) > 1:
            text += f", and {len(low) - 1} more {'does' if len(low) == 2 else 'do'} not hold"
        evidence = tuple(f"{name}: holds on {_describe(share, name)}" for name, share in low.items())
        size = 1 - low[worst].value
        grave = size >= 0.2 and 1 - low[worst].high >= 0.1
        yield Finding("E1", "severe" if grave else "warning", text, suite, evidence, {}, (suite,), size)


def _describe(share: Estimate, change: str) -> str:
    can_fail = _CAN_FAIL if _is_directional(change) else ""
    low, high = (f"{100 * end:.1f}" for end in (share.low, share.high))
    return f"{100 * share.value:.1f} % of {share.n:,} pairs{can_fail} ({low}–{high})"


def _is_directional(change: str) -> bool:
    """Whether a change expects what can fail on some pairs only, given the answers before."""
    return re.search(rf"(?:\bnot (?:more|less) [\w-]+|\b{TRANSITIVE})\)?$", change) is not None
