"""A gate's decision as a pull-request comment: the verdict, the checks that decided it, pairs to read, signatures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from acidtest.core.document import Pair, describe_count
from acidtest.core.escaping import escape_markdown, markdown_code
from acidtest.core.numbers import MISSING, p_value
from acidtest.studies.gate.result import CheckKind, GateCheck, GateComparison, GateResult, GateState, GateTier
from acidtest.workflows.gate_reports.figures import Outcome, change_text, check_title, margin_text, outcome

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
