"""Findings about models that check claims against documents: only what edits surely show, beside untouched claims."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from acidtest.core.document import Finding, Severity, describe_count, listed
from acidtest.core.estimate import Estimate
from acidtest.core.numbers import describe_share, interval, p_value, whole_percent, whole_points
from acidtest.stats.significance import holm
from acidtest.studies.cue_profile import CONSTANT
from acidtest.studies.scoring.severity import (
    ALPHA,
    SMALL,
    excess,
    gravest,
    is_near_chance,
    severity,
    two_sided_p,
    whole,
)
from acidtest.studies.verification.edits import describe_edit, kinds_as_long
from acidtest.studies.verification.result import CHANGES, KEEPS, EditEffect, KnowledgeUse, ModelGrounding, ReadingLimit
from acidtest.studies.verification.tables import CHANCE, FEW, deployed_name, describe_chosen

MOST_NAMED = 3
"""How many edits a sentence names."""
MOST = 0.5
"""A larger share of unsupported claims called supported is a fault of its own."""
SOME = 0.1
"""One verdict to all claims is a fault if at least this share of them needs the other."""


def grounding_reason(model: ModelGrounding) -> Finding | None:
    """The finding that explains all verdicts: they are all the same, or say nothing about untouched claims."""
    if constant := _one_verdict(model):
        return constant
    claims = model.answered
    right, chosen = claims.balanced_accuracy, claims.balanced_accuracy_chosen
    evidence = (f"untouched claims: balanced accuracy {describe_share(right)}; AUC {claims.auc.value:.2f}",)
    if not (is_near_chance(right, CHANCE) or (right.known and right.high < CHANCE)):
        return None
    got = f"{describe_accuracy(right)}; chance is 50 %"
    if chosen.known and chosen.low > CHANCE + SMALL:
        text = f"is near chance on untouched claims {deployed_name(model)} ({got}), but not {describe_chosen(model)}"
        text += f" ({whole_percent(chosen.value)}): its threshold does not fit"
        return Finding("K3", "severe", text, evidence=evidence, suites=model.suites, size=1 - right.value)
    if right.high < CHANCE and not is_near_chance(right, CHANCE):
        mixed = "if labels may have been mixed up, see --label-map"
        text = f"does worse than guessing on untouched claims ({got})"
        return Finding("K2", "severe", text, evidence=(*evidence, mixed), suites=model.suites, size=1 - right.value)
    text = f"is near chance on untouched claims ({got})"
    return Finding("K1", "severe", text, evidence=evidence, suites=model.suites, size=1 - right.value)


def describe_accuracy(right: Estimate) -> str:
    """Balanced accuracy with its interval for a sentence: *54 % balanced accuracy, 51–56*."""
    within = interval(right, "whole percent")
    return f"{whole_percent(right.value)} balanced accuracy{f', {within}' if within else ''}"


def _one_verdict(model: ModelGrounding) -> Finding | None:
    """The finding that all claims get one verdict, where enough of them need the other."""
    share = model.called_supported
    if model.pairs < FEW or not (share >= CONSTANT or share <= 1 - CONSTANT):
        return None
    claims = model.answered
    needed = model.to_reject if share >= CONSTANT else model.to_support
    if needed < SOME * model.pairs:
        return None
    verdict, count = ("supported", share) if share >= CONSTANT else ("unsupported", 1 - share)
    text = f"calls {whole_percent(count)} of {all_claims(model)} {verdict}, whatever the document says"
    evidence = [f"{verdict} is the verdict on {round(count * model.pairs):,} of {model.pairs:,} claims"]
    chosen = claims.balanced_accuracy_chosen
    if chosen.known and chosen.low > CHANCE + SMALL:
        evidence.append(f"{describe_chosen(model)}, balanced accuracy would be {describe_share(chosen)}")
        text += f"; its scores tell more: {whole_percent(chosen.value)} balanced accuracy {describe_chosen(model)}"
    return Finding("A1", "severe", text, evidence=tuple(evidence), suites=model.suites, size=1.0)


def all_claims(model: ModelGrounding) -> str:
    """*all claims* or, if some have no prediction, *all claims it answered*."""
    return "all claims it answered" if model.unanswered else "all claims"


def grounding_findings(model: ModelGrounding) -> Iterator[Finding]:
    """What edits show of a model that tells supported claims from others."""
    yield from _reading(model)
    yield from _missed_changes(model)
    yield from _unstable_verdicts(model)
    yield from _threshold(model)
    yield from _knowledge(model)
    yield from _conflicts(model)


def _reading(model: ModelGrounding) -> Iterator[Finding]:
    """A limit on how many words of a document are read."""
    limit = model.reading
    if limit is None:
        return
    text = f"appears to stop reading after {describe_limit(limit)}: calls {whole_percent(limit.before.value)} of "
    text += "supported claims supported if their evidence comes before that point, "
    text += f"{whole_percent(limit.beyond.value)} if it comes later"
    lines = (
        f"evidence up to there: called supported {describe_share(limit.before)}",
        f"evidence beyond, up to {limit.longest:,} words: {describe_share(limit.beyond)}",
        f"the place of the evidence matters in texts of one length: p {p_value(limit.p)}",
    )
    size = excess(limit.before, limit.beyond)
    yield Finding("V9", severity(size), text, limit.suites[0], lines, {}, limit.suites, size.value)


def describe_limit(limit: ReadingLimit) -> str:
    """How many words are read: *about 100 words (95 % interval 92–118)*."""
    words = limit.words
    return f"about {words.value:,.0f} words (95 % interval {words.low:,.0f}–{words.high:,.0f})"


def missed_edits(model: ModelGrounding) -> list[EditEffect]:
    """Edits whose claims are called supported significantly more often than other unsupported ones, the worst first.

    All edited claims count, whether or not the original was called supported, since other unsupported claims have no
    original. Edits that lengthen claims must exceed unsupported claims of the same length as well.
    """
    edits = [edit for edit in model.whole_edits if edit.gold == CHANGES and edit.accepted.n >= FEW]
    sure = _sure([_missed(model, edit) for edit in edits])
    return sorted((edits[number] for number in sure), key=lambda edit: -edit.accepted.value)


def _missed(model: ModelGrounding, edit: EditEffect) -> Estimate:
    """How much more often claims of an edit are called supported than other unsupported ones.

    Of two comparisons, the one that shows less: with claims as they are, and with claims that were lengthened as much.
    """
    others, control = model.answered.false_support, model.length_control(edit.edit)
    sizes = [excess(edit.accepted, others if others.known else whole(0.0))]
    if control and control.accepted.known:
        sizes.append(excess(edit.accepted, control.accepted))
    small = [size for size in sizes if not (size.low > 0 and size.value >= SMALL)]
    return (small or sorted(sizes, key=two_sided_p))[-1]


def notices_edits(model: ModelGrounding) -> EditEffect | None:
    """The edit with most claims still called supported, where those are surely few of every edit; else None."""
    edits = [edit for edit in model.whole_edits if edit.gold == CHANGES and edit.still_supported.n >= FEW]
    is_good = edits and not missed_edits(model) and all(edit.still_supported.high < 2 * SMALL for edit in edits)
    return max(edits, key=lambda edit: edit.still_supported.value) if is_good else None


def _missed_changes(model: ModelGrounding) -> Iterator[Finding]:
    """Edited claims called supported surely more often than other unsupported ones, all edits in one finding."""
    others = model.answered.false_support
    if bad := missed_edits(model):
        sizes = [_missed(model, edit) for edit in bad]
        named = [f"{whole_percent(edit.accepted.value)} of claims {describe_edit(edit.edit)}" for edit in bad]
        beside = f" ({whole_percent(others.value)} of other unsupported claims)" if others.known else ""
        text = f"calls {_listed_most(named)} supported{beside}{_more(named)}"
        lines = [_evidence(edit) + _beside_length(model, edit) for edit in bad]
        lines += [f"other unsupported claims called supported: {describe_share(others)}"] if others.known else []
        yield _finding("V1", gravest([severity(size) for size in sizes]), text, bad, lines, sizes[0].value)
    elif worst := notices_edits(model):
        edits = [edit for edit in model.whole_edits if edit.gold == CHANGES and edit.still_supported.n >= FEW]
        share = whole_percent(worst.still_supported.value)
        missing = " or gives no prediction" if any(edit.unanswered for edit in edits) else ""
        text = f"notices edits that make claims unsupported: calls at most {share} supported{missing}"
        yield _finding("V2", "good", text, edits, [_evidence(edit) for edit in edits], 0.0)


def _beside_length(model: ModelGrounding, edit: EditEffect) -> str:
    """What unsupported claims as long as those of an edit get, or how to find out; nothing if it lengthens none."""
    if edit.edit not in kinds_as_long():
        return ""
    if control := model.length_control(edit.edit):
        return f"; unsupported claims of the same length {describe_share(control.accepted)}"
    return "; these claims are longer than others: grounding/lengthened shows what length does"


def unstable_edits(model: ModelGrounding) -> list[tuple[EditEffect, Estimate]]:
    """Edits that keep the meaning and change verdicts more than chance does, with the size of that, largest first.

    Errors that have nothing to do with the edit change verdicts as well, but as many become right as become wrong. So
    an edit counts if significantly more become wrong, or if significantly more change than when the same text is
    evaluated twice, if the run shows that. All these tests are one family (Holm).
    """
    edits = _keeping(model)
    tests = [(number, edit.net, edit.net_p) for number, edit in enumerate(edits)]
    if _has_repeats(model):
        beyond = [excess(edit.wrong, model.repeats) for edit in edits]
        tests += [(number, size, two_sided_p(size)) for number, size in enumerate(beyond)]
    found = dict[int, Estimate]()
    for (number, size, _), p in zip(tests, holm([p for _, _, p in tests]), strict=True):
        size = replace(size, value=-size.value, low=-size.high, high=-size.low) if size.value < 0 else size
        if p < ALPHA and size.value >= SMALL and (number not in found or size.value > found[number].value):
            found[number] = size
    return sorted(((edits[number], size) for number, size in found.items()), key=lambda pair: -pair[1].value)


def _keeping(model: ModelGrounding) -> list[EditEffect]:
    """The edits that keep the meaning and have enough pairs to be judged."""
    return [edit for edit in model.whole_edits if edit.gold == KEEPS and edit.wrong.known and edit.wrong.n >= FEW]


def _has_repeats(model: ModelGrounding) -> bool:
    return model.repeats.known and model.repeats.n >= FEW


def _unstable_verdicts(model: ModelGrounding) -> Iterator[Finding]:
    """Verdicts that change with edits that keep the meaning, all edits in one finding."""
    edits = _keeping(model)
    if found := unstable_edits(model):
        bad, sizes = zip(*found, strict=True)
        named = [f"{whole_percent(edit.wrong.value)} of verdicts {describe_edit(edit.edit)}" for edit in bad]
        text = f"changes {_listed_most(named)}, though gold stays{_more(named)}"
        lines = [_evidence(edit) for edit in bad]
        if _has_repeats(model):
            lines.append(f"verdicts that change when the same text is evaluated twice: {describe_share(model.repeats)}")
        yield _finding("V3", gravest([severity(size) for size in sizes]), text, bad, lines, sizes[0].value)
    elif edits and all(edit.wrong.high < 2 * SMALL for edit in edits):
        worst = max(edits, key=lambda edit: edit.wrong.value)
        text = f"keeps its verdicts when edits keep the meaning: at most {whole_percent(worst.wrong.value)} change"
        yield _finding("V4", "good", text, edits, [_evidence(edit) for edit in edits], 0.0)


def _sure(sizes: Sequence[Estimate]) -> list[int]:
    """The places of effects that are large enough and surely above 0, corrected for their number (Holm)."""
    known = [n for n, size in enumerate(sizes) if size.known and size.low == size.low]
    adjusted = dict(zip(known, holm([two_sided_p(sizes[n]) for n in known]), strict=True)) if known else {}
    return [n for n in known if sizes[n].low > 0 and adjusted[n] < ALPHA and sizes[n].value >= SMALL]


def _threshold(model: ModelGrounding) -> Iterator[Finding]:
    """Most unsupported claims called supported though another threshold does better, or just balanced accuracy."""
    claims = model.answered
    right, chosen = claims.balanced_accuracy, claims.balanced_accuracy_chosen
    false, fewer = claims.false_support, claims.false_support_chosen
    is_better = right.known and chosen.known and chosen.value - right.value >= SMALL
    if is_better and false.low > MOST and fewer.known and false.value - fewer.value >= SMALL:
        text = f"calls {whole_percent(false.value)} of unsupported claims supported {deployed_name(model)}; "
        text += f"{describe_chosen(model)}, it would be {whole_percent(fewer.value)}, with "
        text += f"{whole_percent(chosen.value)} balanced accuracy instead of {whole_percent(right.value)}"
        lines = (
            f"unsupported untouched claims called supported: {describe_share(false)}",
            f"{describe_chosen(model)}: {describe_share(fewer)}",
            f"balanced accuracy: {describe_share(right)}; {describe_chosen(model)}: {describe_share(chosen)}",
        )
        size = false.value - fewer.value
        yield Finding("V8", "warning", text, model.suites[0], lines, {}, model.suites, size)
    elif right.known and chosen.known and chosen.low > right.high and chosen.value - right.value >= SMALL:
        text = f"would do better with another threshold: {whole_percent(chosen.value)} balanced accuracy on untouched "
        text += f"claims {describe_chosen(model)}, {whole_percent(right.value)} {deployed_name(model)}"
        evidence = (f"chosen: {describe_share(chosen)}", f"deployed: {describe_share(right)}")
        yield Finding("V5", "info", text, model.suites[0], evidence, {}, model.suites, chosen.value - right.value)


def knowledge_effects(model: ModelGrounding) -> tuple[Estimate | None, Estimate | None]:
    """How far the world decides against the document, and where it is silent; None where that is not shown."""
    use = model.knowledge
    if use is None or min(use.against.n, use.agreeing.n) < FEW:
        return None, None
    sizes = excess(use.against, use.agreeing), excess(use.true_unsaid, use.false_unsaid)
    against, unsaid = (size if size.low > 0 and size.value > SMALL else None for size in sizes)
    return against, unsaid


def describe_knowledge(use: KnowledgeUse, effects: tuple[Estimate | None, Estimate | None]) -> str:
    """What the world does to verdicts, as far as it is shown: *follows the world against the document on 60 % …*."""
    against, unsaid = effects
    parts = []
    if against:
        wrong = f"wrong on {whole_percent(use.agreeing.value)} where they agree"
        parts.append(
            f"follows the world against the document on {whole_percent(use.against.value)} of claims ({wrong})"
        )
    if unsaid:
        false = f"{whole_percent(use.false_unsaid.value)} of false ones"
        true = f"{whole_percent(use.true_unsaid.value)} of true claims that the document does not say"
        parts.append(f"calls {true} supported ({false})")
    return " and ".join(parts)


def _knowledge(model: ModelGrounding) -> Iterator[Finding]:
    """Verdicts that follow what is true in the world rather than the document."""
    use, effects = model.knowledge, knowledge_effects(model)
    sure = [size for size in effects if size]
    if use is None or not sure:
        return
    lines = (
        f"follows the world where the document says otherwise: {describe_share(use.against)}",
        f"wrong where document and world agree: {describe_share(use.agreeing)}",
        f"called supported though the document does not say it: {describe_share(use.true_unsaid)} if true, "
        f"{describe_share(use.false_unsaid)} if false",
    )
    grade = gravest([severity(size) for size in sure])
    size = max(size.value for size in sure)
    yield Finding("V6", grade, describe_knowledge(use, effects), use.suite, lines, {}, (use.suite,), size)


def _conflicts(model: ModelGrounding) -> Iterator[Finding]:
    """Verdicts that depend on which of two passages that disagree stands first."""
    kinds = {kind.kind: kind for kind in model.kinds if kind.claims >= FEW}
    first, last = (kinds.get(f"the {place} agrees") for place in ("first", "last"))
    if first is None or last is None:
        return
    high, low = sorted((first, last), key=lambda kind: -kind.supported.value)
    size = excess(high.supported, low.supported)
    if not (size.low > 0 and size.value >= SMALL):
        return
    text = f"goes by the order of passages that disagree: calls {whole_percent(high.supported.value)} of claims "
    text += f"supported where {high.kind}, {whole_percent(low.supported.value)} where {low.kind}"
    lines = tuple(f"{kind.kind}: called supported {describe_share(kind.supported)}" for kind in (high, low))
    yield Finding("V7", severity(size), text, high.suite, lines, {}, (high.suite,), size.value)


def _evidence(edit: EditEffect) -> str:
    if edit.gold == CHANGES:
        line = f"{edit.edit}: called supported {describe_share(edit.accepted)}"
        missing = " or without a prediction" if edit.unanswered else ""
        line += f"; of originals called supported, still {describe_share(edit.still_supported)}{missing}"
    else:
        line = f"{edit.edit}: verdicts changed {describe_share(edit.wrong)}"
    if edit.wrong_chosen.known:
        line += f"; with the tuned threshold {whole_percent(edit.wrong_chosen.value)}"
    if edit.gold == CHANGES:
        higher = f"; the original has the higher score in {whole_percent(edit.higher.value)}"
        return line + higher if edit.higher.known else line
    if edit.became_wrong.known:
        line += (
            f"; {whole_percent(edit.became_wrong.value)} become wrong, {whole_percent(edit.became_right.value)} right"
        )
    moved = f"{whole_points(edit.gained.value)} / {whole_points(-edit.lost.value)} points newly / no longer supported"
    return f"{line}; {moved}"


def _finding(
    code: str, grade: Severity, text: str, edits: Sequence[EditEffect], lines: Sequence[str], size: float
) -> Finding:
    suites = tuple(edit.suite for edit in edits)
    return Finding(code, grade, text, suites[0], tuple(lines), {}, suites, size)


def _listed_most(parts: Sequence[str]) -> str:
    """The first few parts; what they share, such as *of claims*, is said once."""
    first, *rest = parts[:MOST_NAMED]
    return listed([first, *(part.replace(" of claims ", " ").replace(" of verdicts ", " ") for part in rest)])


def _more(parts: Sequence[str]) -> str:
    """How many edits are like those that are named."""
    count = len(parts) - MOST_NAMED
    return f"; {describe_count(count, 'more edit')} alike" if count > 0 else ""
