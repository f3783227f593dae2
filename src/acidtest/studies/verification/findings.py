"""Findings about models that check claims against documents: only what edits surely show, beside untouched claims."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from acidtest.core.document import Finding, Severity, describe_count, listed
from acidtest.core.estimate import Estimate
from acidtest.core.numbers import describe_share, interval, whole_percent, whole_points
from acidtest.stats.significance import holm
from acidtest.studies.cue_profile import CONSTANT
from acidtest.studies.severity import ALPHA, SMALL, excess, gravest, is_near_chance, severity, whole
from acidtest.studies.verification.edits import describe_edit
from acidtest.studies.verification.result import CHANGES, KEEPS, EditEffect, ModelGrounding
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
    claims = model.untouched
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
    claims = model.untouched
    needed = model.to_reject if share >= CONSTANT else model.to_support
    if needed < SOME * model.pairs:
        return None
    verdict, count = ("supported", share) if share >= CONSTANT else ("unsupported", 1 - share)
    text = f"calls {whole_percent(count)} of all claims {verdict}, whatever the document says"
    evidence = [f"{verdict} is the verdict on {round(count * model.pairs):,} of {model.pairs:,} claims"]
    chosen = claims.balanced_accuracy_chosen
    if chosen.known and chosen.low > CHANCE + SMALL:
        evidence.append(f"{describe_chosen(model)}, balanced accuracy would be {describe_share(chosen)}")
        text += f"; its scores tell more: {whole_percent(chosen.value)} balanced accuracy {describe_chosen(model)}"
    return Finding("A1", "severe", text, evidence=tuple(evidence), suites=model.suites, size=1.0)


def grounding_findings(model: ModelGrounding) -> Iterator[Finding]:
    """What edits show of a model that tells supported claims from others."""
    yield from _missed_changes(model)
    yield from _unstable_verdicts(model)
    yield from _threshold(model)
    yield from _knowledge(model)
    yield from _conflicts(model)


def _judged(model: ModelGrounding, gold: str) -> list[EditEffect]:
    return [edit for edit in model.whole_edits if edit.gold == gold and edit.wrong.known and edit.wrong.n >= FEW]


def missed_edits(model: ModelGrounding) -> list[EditEffect]:
    """Edits whose claims are called supported surely more often than other unsupported ones, the worst first."""
    edits = _judged(model, CHANGES)
    sure = _sure([_missed(model, edit) for edit in edits])
    return sorted((edits[number] for number in sure), key=lambda edit: -edit.wrong.value)


def _missed(model: ModelGrounding, edit: EditEffect) -> Estimate:
    """How much more often claims of an edit are called supported than other unsupported ones."""
    others = model.untouched.false_support
    return excess(edit.wrong, others if others.known else whole(0.0))


def notices_edits(model: ModelGrounding) -> EditEffect | None:
    """The edit with most claims still called supported, where those are surely few of every edit; else None."""
    edits = _judged(model, CHANGES)
    is_good = edits and not missed_edits(model) and all(edit.wrong.high < 2 * SMALL for edit in edits)
    return max(edits, key=lambda edit: edit.wrong.value) if is_good else None


def _missed_changes(model: ModelGrounding) -> Iterator[Finding]:
    """Edited claims called supported surely more often than other unsupported ones, all edits in one finding."""
    others = model.untouched.false_support
    if bad := missed_edits(model):
        sizes = [_missed(model, edit) for edit in bad]
        named = [f"{whole_percent(edit.wrong.value)} of claims {describe_edit(edit.edit)}" for edit in bad]
        beside = f" ({whole_percent(others.value)} of other unsupported claims)" if others.known else ""
        text = f"calls {_listed_most(named)} supported{beside}{_more(named)}"
        lines = [_evidence(edit) for edit in bad]
        lines += [f"other unsupported claims called supported: {describe_share(others)}"] if others.known else []
        yield _finding("V1", gravest([severity(size) for size in sizes]), text, bad, lines, sizes[0].value)
    elif worst := notices_edits(model):
        edits = _judged(model, CHANGES)
        text = f"notices edits that make claims unsupported: calls at most {whole_percent(worst.wrong.value)} supported"
        yield _finding("V2", "good", text, edits, [_evidence(edit) for edit in edits], 0.0)


def unstable_edits(model: ModelGrounding) -> list[EditEffect]:
    """Edits that keep the meaning and surely change verdicts, the worst first."""
    edits = _judged(model, KEEPS)
    sure = _sure([excess(edit.wrong, whole(SMALL)) for edit in edits], least=0.0)
    return sorted((edits[number] for number in sure), key=lambda edit: -edit.wrong.value)


def _unstable_verdicts(model: ModelGrounding) -> Iterator[Finding]:
    """Verdicts that surely change with edits that keep the meaning, all edits in one finding."""
    edits = _judged(model, KEEPS)
    if bad := unstable_edits(model):
        named = [f"{whole_percent(edit.wrong.value)} of verdicts {describe_edit(edit.edit)}" for edit in bad]
        text = f"changes {_listed_most(named)}, though gold stays{_more(named)}"
        grade = gravest([severity(edit.wrong) for edit in bad])
        lines = [_evidence(edit) for edit in bad]
        yield _finding("V3", grade, text, bad, lines, bad[0].wrong.value - SMALL)
    elif edits and all(edit.wrong.high < 2 * SMALL for edit in edits):
        worst = max(edits, key=lambda edit: edit.wrong.value)
        text = f"keeps its verdicts when edits keep the meaning: at most {whole_percent(worst.wrong.value)} change"
        yield _finding("V4", "good", text, edits, [_evidence(edit) for edit in edits], 0.0)


def _sure(sizes: Sequence[Estimate], *, least: float = SMALL) -> list[int]:
    """The places of effects that are large enough and surely above 0, corrected for their number (Holm)."""
    known = [n for n, size in enumerate(sizes) if size.known and size.low == size.low]
    adjusted = dict(zip(known, holm([_two_sided(sizes[n]) for n in known]), strict=True)) if known else {}
    return [n for n in known if sizes[n].low > 0 and adjusted[n] < ALPHA and sizes[n].value > least]


def _two_sided(size: Estimate) -> float:
    """The p-value of an effect from the lower half of its interval."""
    from scipy.special import ndtr

    reach = size.value - size.low
    if reach <= 0:
        return 0.0 if size.value > 0 else 1.0
    return float(2 * ndtr(-abs(size.value) * 1.96 / reach)) if size.value > 0 else 1.0


def _threshold(model: ModelGrounding) -> Iterator[Finding]:
    """Most unsupported claims called supported though another threshold does better, or just balanced accuracy."""
    claims = model.untouched
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


def _knowledge(model: ModelGrounding) -> Iterator[Finding]:
    """Verdicts that follow what is true in the world rather than the document."""
    use = model.knowledge
    if use is None or min(use.against.n, use.agreeing.n) < FEW:
        return
    suite = next(kind.suite for kind in model.kinds)
    against, unsaid = excess(use.against, use.agreeing), excess(use.true_unsaid, use.false_unsaid)
    sure = [size for size in (against, unsaid) if size.low > 0 and size.value > SMALL]
    if not sure:
        return
    parts = []
    if against in sure:
        wrong = f"wrong on {whole_percent(use.agreeing.value)} where they agree"
        parts.append(
            f"follows the world against the document on {whole_percent(use.against.value)} of claims ({wrong})"
        )
    if unsaid in sure:
        false = f"{whole_percent(use.false_unsaid.value)} of false ones"
        true = f"{whole_percent(use.true_unsaid.value)} of true claims that the document does not say"
        parts.append(f"calls {true} supported ({false})")
    lines = (
        f"follows the world where the document says otherwise: {describe_share(use.against)}",
        f"wrong where document and world agree: {describe_share(use.agreeing)}",
        f"called supported though the document does not say it: {describe_share(use.true_unsaid)} if true, "
        f"{describe_share(use.false_unsaid)} if false",
    )
    grade = gravest([severity(size) for size in sure])
    yield Finding("V6", grade, " and ".join(parts), suite, lines, {}, (suite,), max(size.value for size in sure))


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
    what = "still called supported" if edit.gold == CHANGES else "verdicts changed"
    line = f"{edit.edit}: {what} {describe_share(edit.wrong)}"
    if edit.wrong_chosen.known:
        line += f"; with the chosen threshold {whole_percent(edit.wrong_chosen.value)}"
    if edit.gold == CHANGES and edit.higher.known:
        return f"{line}; the original has the higher score in {whole_percent(edit.higher.value)}"
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
