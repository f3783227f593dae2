"""A gate's decision as a pull-request comment: the verdict, the checks that decided it, pairs to read, signatures."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from pathlib import Path

from acidtest.core.document import Pair, describe_count
from acidtest.core.escaping import escape_markdown, markdown_code
from acidtest.core.estimate import Estimate
from acidtest.core.numbers import MISSING, cell_text, interval, number_text, p_value
from acidtest.studies.gate.result import CheckKind, GateCheck, GateComparison, GateResult, GateState, GateTier


class Outcome(StrEnum):
    """How a check turned out for whoever must act: two of the five stop a release."""

    PASSED = "passed"
    FAILED = "failed"
    UNDECIDED = "undecided"
    """Required and neither shown to hold nor to be missed: not green."""
    TOLERATED = "tolerated"
    """Missed or undecided, but the policy lets it be."""
    SKIPPED = "skipped"
    """Fail-only and undecided: neither is a loss shown, nor that there is none."""


def outcome(check: GateCheck, comparison: GateComparison) -> Outcome:
    """How a check turned out, given what its tier may decide and what the comparison made of it."""
    if check.state is GateState.PASS:
        return Outcome.PASSED
    if check.tier is GateTier.FAIL_ONLY and check.state is GateState.UNDECIDED:
        return Outcome.SKIPPED
    if check.tier is GateTier.ADVISORY or comparison.state is GateState.PASS:
        return Outcome.TOLERATED
    return Outcome.FAILED if check.state is GateState.FAIL else Outcome.UNDECIDED


def policy_file(result: GateResult) -> Path | None:
    """The file of the policy; None if the gate followed the default policy."""
    try:
        return Path(result.policy) if Path(result.policy).is_file() else None
    except OSError:  # a policy in words may be too long for the name of a file
        return None


def state_outcome(state: GateState) -> Outcome:
    """The outcome of a whole comparison or gate."""
    return {
        GateState.PASS: Outcome.PASSED,
        GateState.FAIL: Outcome.FAILED,
        GateState.UNDECIDED: Outcome.UNDECIDED,
    }[state]


def outcomes(result: GateResult) -> Iterator[tuple[GateComparison, GateCheck, Outcome]]:
    """All checks against all baselines, with how they turned out."""
    for comparison in result.comparisons:
        for check in comparison.checks:
            yield comparison, check, outcome(check, comparison)


def check_title(check: GateCheck) -> str:
    """The name of a check that no other of a comparison has: a floor may be on a slice that is compared as well."""
    return f"{check.name} (floor)" if check.kind is CheckKind.FLOOR else check.name


def figures(check: GateCheck) -> dict[str, str | int | float]:
    """The figures of a check by name, as programs read them: shares from 0 to 1; what is not known is left out."""
    estimates = {"baseline": check.baseline, "candidate": check.candidate, "loss": check.loss}
    values: dict[str, str | int | float | None] = {
        "kind": check.kind.value,
        "tier": check.tier.value,
        "state": check.state.value,
        "margin": check.margin,
        **{name: number for name, estimate in estimates.items() for name, number in _estimate_figures(name, estimate)},
        "p": check.p,
        "p_adjusted": check.p_adjusted,
        "rows": check.rows,
        "groups": check.groups,
        "effective_rows": check.effective_rows,
        "newly_wrong": check.newly_wrong,
        "newly_right": check.newly_right,
        "pairs_needed": check.pairs_needed,
        "missing_rows": check.missing_rows or None,
    }
    return {name: _rounded(value) for name, value in values.items() if value is not None and _is_finite(value)}


def _estimate_figures(name: str, estimate: Estimate | None) -> Iterator[tuple[str, float]]:
    if estimate is not None:
        yield name, estimate.value
        yield f"{name}_low", estimate.low
        yield f"{name}_high", estimate.high


def _is_finite(value: str | int | float) -> bool:
    return isinstance(value, str) or math.isfinite(value)


def _rounded(value: str | int | float) -> str | int | float:
    """Six significant digits: more are noise, and would differ between machines."""
    return float(f"{value:.6g}") if isinstance(value, float) else value


def change_text(check: GateCheck) -> str:
    """What was measured: ``91.0 → 71.0 %, −20.0 (−29.1 to −10.9)``, the number of a floor or cue, or a reason."""
    if not check.candidate.known:
        return check.candidate.note
    if check.kind is CheckKind.CUE:
        return cell_text(check.candidate, "points").line
    if check.baseline is None or check.loss is None:
        return f"{cell_text(check.candidate, 'percent').line} %"
    gain = Estimate(-check.loss.value, -check.loss.high, -check.loss.low, note=check.loss.note)
    shares = f"{number_text(check.baseline.value, 'percent')} → {number_text(check.candidate.value, 'percent')} %"
    within = interval(gain, "points")
    return f"{shares}, {number_text(gain.value, 'points')}{f' ({within})' if within else ''}"


def describe_outcome(check: GateCheck) -> str:
    """What was shown and on what it rests: ``lost …; 91.0 → 71.0 % of 150 rows, 40 newly wrong, …``."""
    if not check.rows or not check.candidate.known or check.kind is CheckKind.CUE:
        return check.reason
    rows = f"of {describe_count(check.rows, 'row')}"
    share = number_text(check.candidate.value, "percent")
    if check.kind is CheckKind.EDIT:
        return check.reason
    if check.baseline is None:
        return f"{check.reason}; {share} % {rows}"
    before = number_text(check.baseline.value, "percent")
    flips = f"{check.newly_wrong:,} newly wrong, {check.newly_right:,} newly right"
    return f"{check.reason}; {before} → {share} % {rows}, {flips}"


def margin_text(check: GateCheck) -> str:
    """The bound of a check: ``may lose 2.4``, ``at least 60.0 %``, ``at most 15.0 %``, ``at most 20.0``."""
    bound = number_text(check.margin, "percent")
    if check.kind is CheckKind.FLOOR:
        return f"at least {bound} %"
    if check.kind is CheckKind.EDIT:
        return f"at most {bound} %"
    return f"at most {bound}" if check.kind is CheckKind.CUE else f"may lose {bound}"


MARK = "<!-- acidtest-gate -->"
"""The first line of a comment, invisible to readers, by which a bot recognises the comment that it is to update."""

MOST_CHARACTERS = 65_536
"""GitHub takes comments of no more characters."""

OPEN_ROWS = 10
"""Checks shown that decided; others are folded."""

_AMOUNTS = ((150, 5), (30, 5), (30, 0), (0, 0))
"""Folded checks to show, and pairs newly wrong and newly right; less where a comment would be too long."""

_LONGEST_TEXT = 280
_SIGNS = {
    Outcome.PASSED: "✅",
    Outcome.FAILED: "❌",
    Outcome.UNDECIDED: "❔",
    Outcome.TOLERATED: "⚠️",
    Outcome.SKIPPED: "➖",
}
_VERDICTS = {GateState.PASS: "✅ pass", GateState.FAIL: "❌ fail", GateState.UNDECIDED: "❔ undecided"}
_HEAD = ("check", "", "accuracy, change", "bound", "rows", "newly wrong / right", "p, corrected")


def markdown_comment(result: GateResult) -> str:
    """The decision as a comment: GitHub-flavoured Markdown in which no text of a pair is markup, link or mention."""
    comments = (_comment(result, checks=checks, pairs=pairs) for checks, pairs in _AMOUNTS)
    return next((comment for comment in comments if len(comment) <= MOST_CHARACTERS), _opening(result))


def _opening(result: GateResult) -> str:
    headline = escape_markdown(result.headline)
    return f"{MARK}\n### acidtest gate: {_VERDICTS[result.state]}\n\n{headline}\n\n"


def _comment(result: GateResult, *, checks: int, pairs: int) -> str:
    lines: list[str] = []
    for comparison in result.comparisons:
        if len(result.comparisons) > 1:
            lines += [f"#### {_VERDICTS[comparison.state]} against {literal(comparison.baseline.name)}", ""]
        lines += _comparison_lines(comparison, checks=checks, pairs=pairs)
    lines += _folded("signatures and policy", _signature_lines(result))
    return _opening(result) + "\n".join(lines) + "\n"


def _comparison_lines(comparison: GateComparison, *, checks: int, pairs: int) -> Iterator[str]:
    shown = [(check, outcome(check, comparison)) for check in comparison.checks]
    decisive = [entry for entry in shown if _decides(*entry, comparison.state)]
    first, rest = decisive[:OPEN_ROWS], decisive[OPEN_ROWS:]
    others = [*rest, *(entry for entry in shown if entry not in decisive)]
    if not shown:
        yield from ("No slice was checked.", "")
    if first:
        yield from (*_table_lines(first), "")
    for check, kind in first:
        if kind is Outcome.UNDECIDED:
            yield f"- {literal(check_title(check))}: {escape_markdown(check.reason)}"
    yield ""
    if others:
        more = f", {len(rest):,} of which decided it, too" if rest else ""
        rows = (*_table_lines(others[:checks]), "", *_rest_line(len(others) - checks))
        yield from _folded(f"{describe_count(len(others), 'other check')}{more}", rows)
    for change, changed in (("newly wrong", comparison.newly_wrong), ("newly right", comparison.newly_right)):
        if changed[:pairs]:
            summary = f"{describe_count(len(changed[:pairs]), 'example')} of pairs {change}"
            yield from _folded(summary, _pair_lines(changed[:pairs]))
    if comparison.notes:
        yield from _folded("not compared", [f"- {escape_markdown(note)}" for note in comparison.notes])


def _decides(check: GateCheck, kind: Outcome, state: GateState) -> bool:
    """Whether a check made the verdict: all that is required if the candidate passed, else what stopped it."""
    if state is GateState.PASS:
        return check.tier is GateTier.REQUIRED
    return kind in (Outcome.FAILED, Outcome.UNDECIDED)


def _table_lines(shown: Sequence[tuple[GateCheck, Outcome]]) -> Iterator[str]:
    if not shown:
        return
    yield _row(_HEAD)
    yield _row(["---"] * len(_HEAD))
    for check, kind in shown:
        p = check.p if check.p_adjusted is None else check.p_adjusted
        cells = (
            literal(check_title(check)),
            f"{_SIGNS[kind]} {check.tier.value}",
            escape_markdown(change_text(check)),
            margin_text(check),
            f"{check.rows:,}",
            f"{check.newly_wrong:,} / {check.newly_right:,}" if check.kind is CheckKind.LOSS else MISSING,
            MISSING if p is None else escape_markdown(p_value(p)),
        )
        yield _row(cells)


def _rest_line(count: int) -> list[str]:
    text = f"… and {describe_count(count, 'check')} more, all of which are in the JSON, JUnit and SARIF files."
    return [text, ""] if count > 0 else []


def _pair_lines(pairs: Iterable[Pair]) -> Iterator[str]:
    for pair in pairs:
        answers = "; ".join(f"{literal(model)}: {literal(answer)}" for model, answer in pair.answers.items())
        facts = ", ".join(literal(f"{name}={value}") for name, value in pair.facts.items())
        yield f"- premise {literal(pair.premise)}<br>hypothesis {literal(pair.hypothesis)}<br>"
        yield f"  gold {literal(pair.gold)}; {answers}{f'<br>{facts}' if facts else ''}"


def _signature_lines(result: GateResult) -> Iterator[str]:
    yield f"- candidate {literal(result.candidate.name)}: {literal(result.candidate.signature)}"
    for comparison in result.comparisons:
        yield f"- baseline {literal(comparison.baseline.name)}: {literal(comparison.baseline.signature)}"
    yield f"- policy: {escape_markdown(result.policy)}"


def _folded(summary: str, lines: Iterable[str]) -> list[str]:
    # GitHub and GitLab read Markdown inside <details> after an empty line.
    return [f"<details><summary>{summary}</summary>", "", *lines, "", "</details>", ""]


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def literal(text: str) -> str:
    """A text of somebody's data as code, cut where it is long."""
    return markdown_code(text if len(text) <= _LONGEST_TEXT else f"{text[: _LONGEST_TEXT - 1]}…")
