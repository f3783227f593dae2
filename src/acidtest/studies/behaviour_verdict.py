"""What tests of behaviour say, in sentences."""

from __future__ import annotations

import math

from acidtest.core.estimate import Estimate
from acidtest.core.labels import LABELS
from acidtest.stats.contingency import Association, Crosstab
from acidtest.text.polarity import UNSEEN

DOUBTFUL = 0.01
"""A finding whose p is above this when rows that belong together are kept so is said to be in doubt."""


def swap(change: Estimate, accuracies: tuple[Estimate, Estimate], *, p: float, p_groups: float, alpha: float) -> str:
    """Accuracy before and after the change."""
    if math.isnan(p):
        return "No pair has its control beside it, so what the swap does cannot be told."
    before, after = (_share(each.value) for each in accuracies)
    interval = f", {_points(change.low)} to {_points(change.high)}" if not math.isnan(change.low) else ""
    told = f"from {before} to {after} ({_points(change.value)} points{interval}; {_p(p)})"
    if p >= alpha:
        return f"The swap is not shown to change accuracy, {told}."
    return f"The swap {'lowers' if change.value < 0 else 'raises'} accuracy {told}{_doubt(p_groups, 'groups')}."


def insensitivity(table: Crosstab, found: Association, *, p: float, p_pairs: float, alpha: float) -> str:
    """Table 2 in words."""
    if not table.n:
        return (
            "Insensitivity cannot be told: no gold changes among pairs that are answered, and there a model that "
            "ignores the swap loses nothing."
        )
    kept_right, kept_wrong = (int(count) for count in table.counts[1])
    right, wrong = (int(count) for count in table.counts.sum(axis=0))
    told = f"{_of(kept_wrong, wrong)} errors repeat the answer given before, {_of(kept_right, right)} right answers do"
    if math.isnan(found.p):
        return f"Where gold changes, insensitivity cannot be tested ({_why(found)}): {told}."
    if p >= alpha:
        return f"Where gold changes, errors are not shown to go with repeated answers ({_told(found, p)}): {told}."
    if found.effect.value < 0:
        return f"Where gold changes, errors go with changed answers ({_told(found, p)}): {told}."
    return f"Where gold changes, errors go with repeated answers ({_told(found, p)}): {told}."


def unseen(table: Crosstab, found: Association, *, p: float, p_pairs: float, alpha: float) -> str:
    """Table 3 in words."""
    seen, new = (int(count) for count in table.counts.sum(axis=0))
    if not new:
        return "Every word pair stands in the training set in this order: there are no unseen pairs to look at."
    right = [int(count) for count in table.counts[0]]
    told = f"{_of(right[1], new)} rows with unseen word pairs are right, {_of(right[0], seen)} with seen ones"
    if math.isnan(found.p):
        return f"Unseen word pairs cannot be tested ({_why(found)}): {told}."
    if p >= alpha:
        return f"Unseen word pairs are not shown to matter ({_told(found, p)}): {told}."
    worse = "worse" if found.effect.value > 0 else "better"
    return f"Unseen word pairs are answered {worse} ({_told(found, p)}): {told}{_doubt(p_pairs, 'word pairs')}."


def polarity(table: Crosstab, found: Association, *, p: float, p_pairs: float, alpha: float) -> str:
    """Table 4 in words."""
    return _polarity("Answers", table, found, p=p, p_pairs=p_pairs, alpha=alpha)


def control_polarity(table: Crosstab, found: Association, *, p: float, p_pairs: float, alpha: float) -> str:
    """Table 4 of the control, in words."""
    return _polarity("On the control, answers", table, found, p=p, p_pairs=p_pairs, alpha=alpha)


def given_gold(found: Association, *, p: float, alpha: float) -> str:
    """Whether polarity matters beyond gold."""
    if math.isnan(found.p):
        return f"Whether polarity matters among pairs of the same gold cannot be tested: {found.note}."
    if p >= alpha:
        return f"Among pairs of the same gold, answers are not shown to go with polarity ({_told(found, p)})."
    return f"Answers go with polarity among pairs of the same gold too ({_told(found, p)})."


def repeated(share: Estimate) -> list[str]:
    """How errors fall where gold changes: what the test of table 2 does not say."""
    if not share.known:
        return []
    told = f"{_with_interval(share)} of the {share.n:,} errors that might repeat the answer given before do"
    return [f"Where gold changes, {told}; one half would, were errors even between the two wrong labels."]


def follows(share: Estimate, expected: float) -> list[str]:
    """How errors fall where polarity misleads."""
    if not share.known:
        return []
    told = f"{_with_interval(share)} of the {share.n:,} errors are that label"
    return [f"Where polarity is one label and wrong, {told}; {_share(expected)} would be if errors took no heed of it."]


def _polarity(what: str, table: Crosstab, found: Association, *, p: float, p_pairs: float, alpha: float) -> str:
    if not table.n:
        return f"{what} cannot be set against polarity: no word pair has one, among those that are answered."
    if len(table.columns) == 1:
        return f"{what} do not depend on polarity: every one is {table.columns[0]} ({table.n:,} in all)."
    if math.isnan(found.p):
        return f"{what} cannot be set against polarity ({_why(found)})."
    told = _by_polarity(table)
    if p >= alpha:
        return f"{what} are not shown to go with the polarity of the word pair ({_told(found, p)}): {told}."
    return f"{what} go with the polarity of the word pair ({_told(found, p)}): {told}{_doubt(p_pairs, 'word pairs')}."


def _by_polarity(table: Crosstab) -> str:
    """How often each polarity of one label is answered by that label, and what unseen pairs are answered by."""
    own = [name for name in table.rows if name in table.columns and name in LABELS]
    shares = ", ".join(f"{name} {_of(_cell(table, name, name), _row(table, name))}" for name in own)
    parts = [f"as their polarity says are answered {shares}"] if own else []
    if UNSEEN in table.rows:
        counts = table.counts[table.rows.index(UNSEEN)]
        most = table.columns[int(counts.argmax())]
        parts.append(f"{most} is the answer to {_of(int(counts.max()), int(counts.sum()))} unseen ones")
    return "; ".join(parts) or "no polarity is one label"


def _cell(table: Crosstab, row: str, column: str) -> int:
    return int(table.counts[table.rows.index(row), table.columns.index(column)])


def _row(table: Crosstab, row: str) -> int:
    return int(table.counts[table.rows.index(row)].sum())


def _told(found: Association, p: float) -> str:
    """``G(1) = 175.34 with Yates' correction, phi 0.74, p < 0.0001``."""
    return f"{found.told}, {_p(p)}"


def _why(found: Association) -> str:
    """Why a table cannot be tested, without what was dropped on the way."""
    return found.note.split("; ")[-1]


def _doubt(p: float, what: str) -> str:
    """What is added when keeping together what belongs together leaves little."""
    return f"; in doubt, since with whole {what} shuffled p is {p:.3f}" if p >= DOUBTFUL else ""


def _with_interval(share: Estimate) -> str:
    interval = "" if math.isnan(share.low) else f" ({_share(share.low)} to {_share(share.high)})"
    return f"{_share(share.value)}{interval}"


def _of(part: int, whole: int) -> str:
    return f"{part:,} of {whole:,}" + (f" ({_share(part / whole)})" if whole else "")


def _p(p: float) -> str:
    return "p < 0.0001" if p < 0.0001 else f"p = {p:.4f}"


def _share(value: float) -> str:
    return f"{100 * value:.1f} %"


def _points(value: float) -> str:
    rounded = round(100 * value, 1)
    return f"{rounded:+.1f}".replace("-", "−") if rounded else "0.0"
