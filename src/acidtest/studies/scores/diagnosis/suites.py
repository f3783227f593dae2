"""Findings about what was measured on suites: losses against untouched pairs, chance, HANS, and problems of the run.

They name no cause: what a model answers by is for the cue profile to say.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from acidtest.core.document import Finding, listed
from acidtest.core.estimate import Estimate
from acidtest.core.labels import GOLD_MASKS, LABELS
from acidtest.core.numbers import describe_share, p_value, signed, whole_percent, whole_points
from acidtest.core.suite import CROSS
from acidtest.stats.intervals import rate
from acidtest.stats.significance import holm
from acidtest.studies.scores.diagnosis.untouched import Untouched
from acidtest.studies.scoring.severity import ALPHA, SMALL, excess, gravest, severity, shortfall, two_sided_p, whole

if TYPE_CHECKING:
    from acidtest.studies.scores import SuiteResult
    from acidtest.studies.scoring.controls import AgainstControl

    Suites = Mapping[str, SuiteResult]

FEW = 20
"""With fewer pairs than this, a part of a suite is not judged."""
RESISTS = 0.9
SLIGHTLY = 0.005
"""By how much one answer must exceed guessing to be told."""
MOST_NAMED = 4
"""How many suites or values a sentence names."""

REPEATED = "repeated where gold changed"
"""The metric of a suite of swapped words: how often the prediction stays where gold does not."""
TITLES = {"lexical_overlap": "lexical-overlap", "subsequence": "subsequence", "constituent": "constituent"}
ADDED = "words that change nothing are added"
MISSPELT = "a word is misspelt"
CHANGED = "pairs are changed in a way that should not matter"
CHANGES = {
    "stress/word-overlap": ADDED,
    "stress/negation": ADDED,
    "stress/length-mismatch": ADDED,
    "stress/ladder": ADDED,
    "length-ladder": ADDED,
    "stress/spelling": MISSPELT,
}
"""What is done to the untouched pairs of a suite; losses by the same change are one finding."""


def suite_kind(name: str) -> str:
    """The name without what tells several suites of a kind apart."""
    return name.partition(":")[0]


def label_chance(result: SuiteResult, label: str) -> float:
    """The accuracy of guessing evenly on the pairs of one gold."""
    is_two_way = "answers non-entailment" in result.metrics
    return 1 / 2 if is_two_way else GOLD_MASKS.get(label, 1).bit_count() / len(LABELS)


def suite_chance(result: SuiteResult) -> float:
    """The accuracy of guessing evenly on a suite."""
    counts = {label: rate.n for label, rate in result.by.get("label", {}).items()}
    total = sum(counts.values())
    return sum(label_chance(result, label) * n for label, n in counts.items()) / total if total else 1 / len(LABELS)


def part_chance(result: SuiteResult, factor: str, value: str) -> float:
    """The accuracy of guessing evenly on the pairs with a value of a factor, whose gold may differ from the suite's."""
    return result.chances.get(factor, {}).get(value, suite_chance(result))


def single_answer(result: SuiteResult) -> float | None:
    """The accuracy of the best single answer to all pairs of a suite, where it exceeds that of guessing.

    None where all pairs have the same gold: one answer cannot be told from being right there.
    """
    counts = {label: rate.n for label, rate in result.by.get("label", {}).items() if rate.n}
    if len(counts) < 2:
        return None
    two_way = "answers non-entailment" in result.metrics
    masks = {label: GOLD_MASKS.get(label, 0) for label in counts}
    answers = [1, 0b110] if two_way else [1 << place for place in range(len(LABELS))]
    accepted = (sum(n for label, n in counts.items() if masks[label] & answer) for answer in answers)
    share = max(accepted) / sum(counts.values())
    return share if share > suite_chance(result) + SLIGHTLY else None


def run_problems(suites: Suites) -> Iterator[Finding]:
    """Pairs that were not answered, or not read whole."""
    missing = {name: result.unanswered for name, result in suites.items() if result.unanswered}
    if missing:
        text = "gave no answer to {} pairs ({}); they count as wrong"
        yield _counted("U1", text, missing, suites)
    cut = {name: result.truncated for name, result in suites.items() if result.truncated}
    if cut:
        yield _counted("T1", "read {} pairs ({}) only in part: they were cut to fit", cut, suites)


def prompt_findings(usage: Mapping[str, float]) -> Iterator[Finding]:
    """Predictions of a language model that change with the order of options, or with the prompt.

    Replies vary for no reason as well. So a change counts only if it is significantly more frequent than when the same
    prompt is sent twice (both tests are one family, Holm).
    """
    repeats = _changes(usage, "repeat")
    sizes = {kind: excess(_changes(usage, kind), repeats) for kind in _PROMPT_CHANGES} if repeats.n >= FEW else {}
    known = [kind for kind, size in sizes.items() if size.known]
    adjusted = dict(zip(known, holm([two_sided_p(sizes[kind]) for kind in known]), strict=True)) if known else {}
    for kind, p in adjusted.items():
        size, (code, what) = sizes[kind], _PROMPT_CHANGES[kind]
        if p < ALPHA and size.value >= SMALL:
            changes = _changes(usage, kind)
            text = f"changes {whole_percent(changes.value)} of predictions with {what}"
            lines = (
                f"predictions that change with {what}: {describe_share(changes)}",
                f"predictions that change when the same prompt is sent twice: {describe_share(repeats)}",
            )
            text += f" ({whole_percent(repeats.value)} when the same prompt is sent twice)"
            yield Finding(code, severity(size), text, evidence=lines, size=size.value)


def variation_findings(usage: Mapping[str, float]) -> Iterator[Finding]:
    """Predictions that were others when the same pairs were evaluated again by the same process."""
    changes = _changes(usage, "again")
    if changes.known and changes.value > 0:
        compared, changed = int(usage["again_compared"]), int(usage["again_changes"])
        text = f"gives other predictions when the same pairs are evaluated again ({changed} of {compared} pairs)"
        advice = "every number of this run varies as well; is dropout on, or does it draw random numbers?"
        yield Finding("N1", "warning", text, evidence=(advice,), size=changes.value)


_PROMPT_CHANGES = {"reorder": ("J1", "the order of the options"), "reprompt": ("J2", "the wording of the prompt")}
PROMPT_CODES = tuple(code for code, _ in _PROMPT_CHANGES.values())


def _changes(usage: Mapping[str, float], kind: str) -> Estimate:
    """The share of pairs with another prediction, of those that could be compared."""
    compared, changes = (int(usage.get(f"{kind}_{name}", 0)) for name in ("compared", "changes"))
    return rate(np.arange(compared) < changes, empty="no pair could be compared")


def collapse_findings(suites: Suites) -> Iterator[Finding]:
    """Verdicts that depend on how probabilities are turned into answers."""
    differs = {name: result.collapse_differs or 0 for name, result in suites.items()}
    many = {name: count for name, count in differs.items() if count and count >= 0.01 * suites[name].overall.n}
    if many:
        text = "gives {} answers ({}) that are right or wrong depending on --collapse: report which was used"
        finding = _counted("P1", text, many, suites)
        yield Finding("P1", "info", finding.sentence, finding.suite, finding.evidence, {}, finding.suites)


def _counted(code: str, text: str, counts: Mapping[str, int], suites: Suites) -> Finding:
    """A finding about a number of pairs, graver the larger their share of the suites that have them."""
    names = sorted(counts, key=lambda name: -counts[name])
    share = sum(counts.values()) / sum(suites[name].overall.n for name in names)
    sentence = text.format(f"{sum(counts.values()):,}", whole_percent(share))
    evidence = tuple(f"{name}: {counts[name]:,} of {suites[name].overall.n:,}" for name in names)
    return Finding(code, severity(whole(share)), sentence, names[0], evidence, {}, tuple(names), share)


def control_findings(suites: Suites) -> Iterator[Finding]:
    """Does accuracy change where pairs are changed in a way that should not matter? One finding for every change."""
    tests = {name: result.vs_control for name, result in suites.items() if result.vs_control}
    known = {name: test for name, test in tests.items() if test.difference.known}
    lost = {name: test for name, test in known.items() if _is_sure(test) and test.difference.value < 0}
    gained = {name: test for name, test in known.items() if _is_sure(test) and test.difference.value >= SMALL}
    for change in dict.fromkeys(map(_change, lost)):
        yield _loss(change, {name: test for name, test in lost.items() if _change(name) == change}, known, suites)
    if gained:
        names = sorted(gained, key=lambda name: -gained[name].difference.value)
        text = f"gains {_points(gained[names[0]].difference, names)} when {_describe_changes(names)}"
        evidence = tuple(_describe_test(name, gained[name], suites[name]) for name in names)
        yield Finding("C5", "info", text, names[0], evidence, {}, tuple(names), gained[names[0]].difference.value)
    changes = {_change(name) for name in (*lost, *gained)}
    rest = {name: test for name, test in known.items() if _change(name) not in changes}
    # Without accuracy to lose, no loss could be seen; losses and gains may cancel out over the steps of a ladder.
    fit = [name for name, test in rest.items() if test.control.low > suite_chance(suites[name])]
    steady = [name for name in fit if rest[name].difference.low > -SMALL and not _is_ladder(suites[name])]
    unsure = [name for name in fit if not rest[name].difference.low > -SMALL]
    in_doubt = {_change(name) for name in unsure}
    steady = [name for name in steady if _change(name) not in in_doubt]
    for code, names, text in (
        ("C1", steady, "does no worse when {}"),
        ("C3", unsure, "shows no loss when {}, but was asked too few pairs to rule one out"),
    ):
        evidence = tuple(_describe_test(name, rest[name], suites[name]) for name in names)
        if names:
            grade = severity(whole(0.0)) if code == "C3" else "good"
            yield Finding(code, grade, text.format(_describe_changes(names)), names[0], evidence, {}, tuple(names))


def _is_ladder(result: SuiteResult) -> bool:
    return f"side{CROSS}repetitions" in result.by


def _is_sure(test: AgainstControl) -> bool:
    change = test.difference
    return (change.low > 0 or change.high < 0) and not test.p_adjusted >= ALPHA


def _change(name: str) -> str:
    return CHANGES.get(suite_kind(name), CHANGED)


def _describe_changes(names: Sequence[str]) -> str:
    return " or ".join(dict.fromkeys(map(_change, names)))


def _points(difference: Estimate, names: Sequence[str]) -> str:
    return f"{'up to ' if len(names) > 1 else ''}{whole_points(abs(difference.value)).lstrip('+')} points"


def _loss(
    change: str, lost: Mapping[str, AgainstControl], known: Mapping[str, AgainstControl], suites: Suites
) -> Finding:
    """The finding on the losses that one change brings; suites without a sure loss are named in the evidence."""
    names = sorted(lost, key=lambda name: lost[name].difference.value)
    others = [name for name in known if _change(name) == change and name not in lost]
    worst = lost[names[0]].difference
    text = f"loses {_points(worst, names)} when {change}"
    grades = [severity(_negated(test.difference), p=test.p_adjusted) for test in lost.values()]
    evidence = [_describe_test(name, known[name], suites[name]) for name in (*names, *others)]
    evidence += [line for name in names for line in describe_errors(name, suites[name])]
    return Finding("C2", gravest(grades), text, names[0], tuple(evidence), {}, tuple(names), -worst.value)


def _negated(change: Estimate) -> Estimate:
    return Estimate(-change.value, -change.high, -change.low, change.n, change.groups, note=change.note)


def _describe_test(name: str, test: AgainstControl, result: SuiteResult) -> str:
    change = test.difference
    between = f"{signed(change.low)} to {signed(change.high)}; adjusted p {p_value(test.p_adjusted)}"
    rates = f"{describe_share(result.overall)}, untouched {describe_share(test.control)}"
    return f"{name}: {signed(change.value)} points ({between}); right on {rates}"


def describe_errors(name: str, result: SuiteResult) -> Iterator[str]:
    """The kind that most errors are of, where it is more frequent than on the untouched pairs; no reading of it."""
    kinds = {kind: errors for kind, errors in result.errors.kinds.items() if kind.startswith("false ")}
    if result.errors.n < FEW or not kinds:
        return
    largest = max(kinds, key=lambda kind: kinds[kind].share.value)
    share, against = kinds[largest].share, kinds[largest].vs_control
    if not share.low > 1 / 2:
        return
    text = f"{name}: {whole_percent(share.value)} of the errors are {largest}s"
    if against is None:
        yield text
    elif against.share.p_adjusted < ALPHA and against.share.difference.value > SMALL:
        yield f"{text} ({whole_percent(against.share.control.value)} on the untouched pairs)"


def chance_findings(suites: Suites, untouched: Untouched | None) -> Iterator[Finding]:
    """Is accuracy on whole suites no better than guessing? One finding, however many suites."""
    base = excess(untouched.accuracy, whole(untouched.chance)) if untouched else whole(0.0)
    sizes = {}
    for name, result in suites.items():
        right, chance = result.overall, suite_chance(result)
        # Pairs without an answer are told elsewhere: they might have been right.
        missing = result.unanswered / right.n if right.n else 0.0
        if right.known and right.n >= FEW and right.high + missing < chance + SMALL:
            sizes[name] = excess(base, excess(right, whole(chance)))
    if not sizes:
        return
    names = sorted(sizes, key=lambda name: -sizes[name].value)
    rates = [
        f"{name} ({whole_percent(suites[name].overall.value)} right, guessing gives "
        f"{whole_percent(suite_chance(suites[name]))})"
        for name in names
    ]
    text = f"does no better than guessing on {_listed_most(rates)}"
    evidence = [f"{name}: right on {describe_share(suites[name].overall)}" for name in names]
    evidence += [line for name in names for line in describe_errors(name, suites[name])]
    if untouched:
        evidence.append(f"{untouched.name}: right on {describe_share(untouched.accuracy)}")
    grade = gravest([severity(size) for size in sizes.values()])
    yield Finding("B1", grade, text, names[0], tuple(evidence), {}, tuple(names), sizes[names[0]].value)


def label_findings(untouched: Untouched | None, suites: Sequence[str]) -> Iterator[Finding]:
    """Is one gold label answered rightly less often than by guessing, on untouched pairs?"""
    if untouched is None:
        return
    chance = 1 / len(untouched.labels)
    sizes = {label: shortfall(rate, chance) for label, rate in untouched.by_label.items() if rate.known}
    low = [label for label, size in sizes.items() if severity(size) != "info" and untouched.by_label[label].n >= FEW]
    if not low:
        return
    low.sort(key=lambda label: -sizes[label].value)
    parts = [f"{label} ({whole_percent(untouched.by_label[label].value)} right)" for label in low]
    text = f"does worse than guessing on {untouched.name} whose gold is {' or '.join(parts)}; guessing gives "
    text += whole_percent(chance)
    evidence = tuple(f"gold {label}: right on {describe_share(untouched.by_label[label])}" for label in low)
    first = suites[0] if suites else ""
    place, grade = {"label": low[0]}, gravest([severity(sizes[label]) for label in low])
    yield Finding("B2", grade, text, first, evidence, place, tuple(suites), sizes[low[0]].value)


def part_findings(suites: Suites) -> Iterator[Finding]:
    """Are there a few subcases or categories on which it does worse than guessing, which a mean would hide?"""
    sizes: dict[tuple[str, str, str], Estimate] = {}
    for name, result in suites.items():
        factor = next((stratum for stratum in result.strata if stratum in result.by), "")
        values = {value: rate for value, rate in result.by.get(factor, {}).items() if rate.known and rate.n >= FEW}
        below = {value: shortfall(rate, part_chance(result, factor, value)) for value, rate in values.items()}
        low = {value: size for value, size in below.items() if severity(size) != "info"}
        # If more than a third of the values are low, findings about the whole suite say so.
        if 3 * len(low) <= len(result.by.get(factor, {})):
            sizes |= {(name, factor, value): size for value, size in low.items()}
    if not sizes:
        return
    order = sorted(sizes, key=lambda key: -sizes[key].value)
    rates = {key: suites[key[0]].by[key[1]][key[2]] for key in order}
    named = _listed_most(
        [f"{value} ({whole_percent(rates[name, factor, value].value)} right)" for name, factor, value in order]
    )
    names = tuple(dict.fromkeys(name for name, _, _ in order))
    text = f"does worse than guessing on parts of {listed(names)}: {named}"
    evidence = tuple(
        f"{name}, {factor} {value}: right on {describe_share(rates[name, factor, value])}; "
        f"guessing gives {whole_percent(part_chance(suites[name], factor, value))}"
        for name, factor, value in order
    )
    grade = gravest([severity(size) for size in sizes.values()])
    place = {order[0][1]: order[0][2]}
    yield Finding("S1", grade, text, names[0], evidence, place, names, sizes[order[0]].value)


def repeat_findings(suites: Suites) -> Iterator[Finding]:
    """Does the prediction stay on most pairs whose gold changes when two words are swapped?"""
    known = {name: result.metrics[REPEATED] for name, result in suites.items() if REPEATED in result.metrics}
    sizes = {
        name: excess(repeated, whole(1 / 2))
        for name, repeated in known.items()
        if repeated.n >= FEW and repeated.low > 1 / 2
    }
    if not sizes:
        return
    names = sorted(sizes, key=lambda name: -sizes[name].value)
    most = known[names[0]]
    text = f"is insensitive to swapped words: repeats its prediction on {'up to ' if len(names) > 1 else ''}"
    text += f"{whole_percent(most.value)} of the pairs whose gold changes"
    evidence = tuple(f"{name}: repeats its prediction on {describe_share(known[name])}" for name in names)
    grade = gravest([severity(size) for size in sizes.values()])
    yield Finding("I1", grade, text, names[0], evidence, {}, tuple(names), sizes[names[0]].value)


def heuristic_evidence(suites: Suites) -> dict[str, list[str]]:
    """For every suite of heuristics, accuracy where each heuristic is right and where it is wrong."""
    return {
        name: [
            f"{name}: right on {describe_share(right)} where the {TITLES[heuristic]} heuristic gives the right answer, "
            f"on {describe_share(wrong)} where it gives the wrong one"
            for heuristic, (right, wrong) in sides.items()
        ]
        for name, sides in ((name, _heuristic_sides(result)) for name, result in suites.items())
        if sides
    }


def heuristic_findings(suites: Suites, hint: str) -> Iterator[Finding]:
    """Accuracy where the heuristics of McCoy et al. (2019) are right and where they are wrong, and no cause.

    One finding for all suites on which it is low somewhere, and one for those on which it is high everywhere. ``hint``
    says what the cue profile shows, or that there is none.
    """
    evidence = heuristic_evidence(suites)
    sides = {name: _heuristic_sides(suites[name]) for name in evidence}
    sizes = {
        (name, heuristic, gold): shortfall(rate, label_chance(suites[name], gold))
        for name in evidence
        for heuristic, rates in sides[name].items()
        for gold, rate in zip(("entailment", "non-entailment"), rates, strict=True)
    }
    low = sorted(
        (place for place, size in sizes.items() if severity(size) != "info"), key=lambda key: -sizes[key].value
    )
    if low:
        names = list(dict.fromkeys(name for name, _, _ in low))
        text = _describe_sides({name: sides[name] for name in names}, {heuristic for _, heuristic, _ in low})
        name, heuristic, gold = low[0]
        grade, place = gravest([severity(sizes[key]) for key in low]), {"heuristic": heuristic, "label": gold}
        lines = tuple(line for name in names for line in evidence[name])
        yield Finding("H1", grade, f"{text}; {hint}", name, lines, place, tuple(names), sizes[low[0]].value)
    high = [name for name in evidence if all(rate.value >= RESISTS for rates in sides[name].values() for rate in rates)]
    if high:
        lines = tuple(line for name in high for line in evidence[name])
        text = _describe_sides({name: sides[name] for name in high}, {*TITLES})
        yield Finding("H2", "good", text, high[0], lines, suites=tuple(high))


def _describe_sides(suites: Mapping[str, Mapping[str, tuple[Estimate, Estimate]]], shown: Container[str]) -> str:
    """The accuracies where some heuristics are right and where they are wrong, over several suites."""
    known = [(name, rates) for sides in suites.values() for name, rates in sides.items() if name in shown]
    titles = list(dict.fromkeys(TITLES[name] for name, _ in known))
    right, wrong = (_range([rates[side] for _, rates in known]) for side in (0, 1))
    many, are, they = ("heuristics", "are", "they") if len(titles) > 1 else ("heuristic", "is", "it")
    which = "HANS's" if len(titles) == len(TITLES) else f"the {listed(titles)}"
    return f"is right in {right} where {which} {many} {are} right, in {wrong} where {they} {are} wrong"


def _heuristic_sides(result: SuiteResult) -> dict[str, tuple[Estimate, Estimate]]:
    """Accuracy where each heuristic is right and where it is wrong, if enough pairs of both were asked."""
    crossed = result.by.get(f"heuristic{CROSS}label", {})
    sides = {}
    for heuristic in TITLES:
        right = crossed.get(f"{heuristic}{CROSS}entailment")
        wrong = crossed.get(f"{heuristic}{CROSS}non-entailment")
        if right and wrong and right.known and wrong.known and min(right.n, wrong.n) >= FEW:
            sides[heuristic] = right, wrong
    return sides


def _range(rates: Sequence[Estimate]) -> str:
    low, high = (whole_percent(bound(rate.value for rate in rates)) for bound in (min, max))
    return low if low == high else f"{low.removesuffix(' %')} to {high}"


def _listed_most(names: Sequence[str]) -> str:
    """The first few names, and how many more there are."""
    shown = [*names[:MOST_NAMED], *([f"{len(names) - MOST_NAMED} more"] if len(names) > MOST_NAMED else [])]
    return listed(shown)
