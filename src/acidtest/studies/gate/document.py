"""A gate's decision as a document: the sentence, the checks that decided it, then all checks and pairs to read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from acidtest.core.document import (
    Cell,
    Column,
    Document,
    Note,
    Pairs,
    Part,
    PValue,
    Row,
    Section,
    Table,
    describe_count,
)
from acidtest.core.errors import list_some
from acidtest.core.numbers import number_text
from acidtest.studies.gate.result import CheckKind, GateCheck, GateComparison, GateResult, GateState, GateTier

MOST_SHOWN = 8
"""Checks that the first tables show together."""

MOST_NOTES = 3
"""Notes that are shown before ``--full``."""

MOST_ADVICE = 5
"""Advisory checks that fail and are named before ``--full``."""

_COLUMNS = (
    Column("baseline"),
    Column("candidate"),
    Column("lost", "points", note="baseline minus candidate"),
    Column("may lose"),
    Column("pairs", "count", note="in brackets how many independent rows they are worth, if fewer"),
)
_LEGEND = "In brackets: the independent rows that pairs in groups are worth; what may be lost follows from them."
_NEEDED = Column("needed", "count", note="pairs that would decide it if nothing is lost")
_ALL_COLUMNS = (
    Column("state", "text"),
    *_COLUMNS,
    Column("newly wrong", "count"),
    Column("newly right", "count"),
    Column("p", "p"),
    Column("adjusted", "p"),
    _NEEDED,
)
_TIERS = {
    GateTier.REQUIRED: "Required: all must pass",
    GateTier.FAIL_ONLY: "Can only fail",
    GateTier.ADVISORY: "Advisory",
}
_METHODS = (
    "Losses are percentage points, baseline minus candidate on the same rows, with Tango's score interval on effective "
    "rows; either end holds with the confidence of the policy.",
    "A slice passes if that interval and an exact test show a loss below the margin, and fails if an exact test shows "
    "one above it, corrected over all slices that may fail (Holm).",
)


def document(result: GateResult) -> Document:
    """The decision and what decided it; everything else is folded."""
    several = len(result.comparisons) > 1
    parts: list[Part] = []
    for number, comparison in enumerate(result.comparisons):
        name = comparison.baseline.name
        most = MOST_SHOWN // len(result.comparisons)
        inner = tuple(_comparison_parts(comparison, f"gate {number + 1}" if several else "gate", most))
        title = f"Against {name}{', the anchor' if number else ''}: {comparison.state.value}"
        parts += [Section(title, inner, anchor=f"against-{number + 1}")] if several else inner
    parts.append(Note(f"Policy: {result.policy}.", quiet=True))
    return Document(
        title="acidtest gate",
        headline=result.headline,
        parts=tuple(parts),
        models=(result.candidate.name,),
        signatures={
            "candidate": f"candidate: {result.candidate.signature}",
            **{
                f"{side}, {one.baseline.name}": f"{side}: {one.baseline.signature}"
                for side, one in zip(("baseline", "anchor"), result.comparisons, strict=False)
            },
        },
        methods=_METHODS,
    )


def _comparison_parts(comparison: GateComparison, name: str, most: int) -> Iterator[Part]:
    # The headline and the notes name suites of which nothing could be compared: a row would have no figures.
    deciding = [check for check in deciding_checks(comparison) if not check.is_missing]
    if deciding:
        shown = deciding[:most]
        more = len(deciding) - len(shown)
        caption = _caption(comparison) + (f", the {len(shown)} that matter most of {len(deciding)}" if more else "")
        needed = (_NEEDED,) if any(check.pairs_needed for check in shown) else ()
        yield _table(f"{name} deciding", caption, shown, (*_COLUMNS, *needed))
    yield Note(_describe_counts(comparison), quiet=True)
    if comparison.disagreement is not None and comparison.equal_passes is not None:
        yield Note(_describe_agreement(comparison.disagreement, comparison.equal_passes), quiet=True)
    advice = [check for check in comparison.checks if check.tier is GateTier.ADVISORY and check.state is GateState.FAIL]
    if advice:
        names = list_some([_row_name(check) for check in advice], MOST_ADVICE)
        yield Note(f"Advisory checks that fail: {names}.", quiet=True)
    for note in comparison.notes[:MOST_NOTES]:
        yield Note(note, quiet=True)
    if len(comparison.notes) > MOST_NOTES:
        more_notes = tuple(Note(note, quiet=True) for note in comparison.notes[MOST_NOTES:])
        yield Note(f"{describe_count(len(more_notes), 'more note')} on what was not compared: --full.", quiet=True)
        yield Section("More that was not compared", more_notes, anchor=f"{name}-notes", folded=True)
    for tier, title in _TIERS.items():
        checks = [check for check in comparison.checks if check.tier is tier]
        if checks:
            summary = describe_count(len(checks), "check")
            table = _table(f"{name} {tier.value}", f"{summary}, the gravest first", checks, _ALL_COLUMNS)
            yield Section(title, (table,), anchor=f"{name}-{tier.value}", folded=True, summary=summary)
    if comparison.newly_wrong:
        yield Pairs("Newly wrong, the worst", comparison.newly_wrong)
    if comparison.newly_right:
        yield Pairs("Newly right", comparison.newly_right)


def deciding_checks(comparison: GateComparison) -> list[GateCheck]:
    """The checks that decided a comparison: those that fail, those that are open, or all required ones that passed.

    Passed ones are in order of how little was left to the margin.
    """
    required = [check for check in comparison.checks if check.tier is GateTier.REQUIRED]
    for state in (GateState.FAIL, GateState.UNDECIDED):
        pool = required if state is GateState.UNDECIDED else comparison.checks
        chosen = [check for check in pool if check.state is state and check.tier is not GateTier.ADVISORY]
        if chosen:
            return chosen
    return sorted(required, key=_room)


def _room(check: GateCheck) -> float:
    """How far the upper end of a loss is below the margin, in margins."""
    return (check.margin - check.loss.high) / check.margin if check.loss and check.margin else 1.0


def _caption(comparison: GateComparison) -> str:
    captions = {GateState.PASS: "Required slices, the closest first", GateState.FAIL: "What failed"}
    if not any(check.state is GateState.FAIL for check in deciding_checks(comparison)[:1]):
        captions[GateState.FAIL] = "Not decided"
    return captions.get(comparison.state, "Not decided")


def _describe_counts(comparison: GateComparison) -> str:
    """How many checks of each tier passed, failed or are open."""
    parts = []
    for tier, noun in (
        (GateTier.REQUIRED, "required"),
        (GateTier.FAIL_ONLY, "fail-only"),
        (GateTier.ADVISORY, "advisory"),
    ):
        states = [check.state for check in comparison.checks if check.tier is tier]
        if states:
            counts = ", ".join(f"{states.count(state)} {state.value}" for state in GateState if state in states)
            parts.append(f"{len(states)} {noun}: {counts}")
    return f"Checks: {'; '.join(parts)}." if parts else "No check was made."


def _describe_agreement(disagreement: float, equal_passes: float) -> str:
    return (
        f"Exactly one of the two models is right on {number_text(disagreement, 'percent')} % of the rows of required "
        f"slices. A model that disagrees as much and loses nothing passes in about {100 * equal_passes:.0f} % of cases."
    )


def _table(name: str, caption: str, checks: Sequence[GateCheck], columns: Sequence[Column]) -> Table:
    values = [column.name for column in columns]
    rows = tuple(Row(_row_name(check), tuple(_cells(check)[value] for value in values)) for check in checks)
    legend = (_LEGEND,) if any(round(check.effective_rows) < check.rows for check in checks) else ()
    return Table(name, caption, tuple(columns), rows, corner="slice", notes=legend)


def _row_name(check: GateCheck) -> str:
    suffixes = {
        CheckKind.LOSS: "",
        CheckKind.FLOOR: f", at least {100 * check.margin:g} %",
        CheckKind.EDIT: f", at most {100 * check.margin:g} % accepted",
    }
    return check.name + suffixes.get(check.kind, f", at most {100 * check.margin:g} points")


def _cells(check: GateCheck) -> dict[str, Cell]:
    is_loss, worth = check.kind is CheckKind.LOSS, round(check.effective_rows)
    return {
        "state": check.state.value,
        "baseline": check.baseline.value if check.baseline else None,
        "candidate": check.candidate.value if check.candidate.known else None,
        "lost": check.loss,
        "may lose": check.margin if is_loss else None,
        "pairs": f"{check.rows:,} ({worth:,})" if worth < check.rows else check.rows,
        "newly wrong": check.newly_wrong if is_loss else None,
        "newly right": check.newly_right if is_loss else None,
        "p": None if check.p is None else PValue(check.p),
        "adjusted": None if check.p_adjusted is None else PValue(check.p_adjusted),
        "needed": check.pairs_needed,
    }
