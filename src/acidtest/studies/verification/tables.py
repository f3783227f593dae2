"""Tables and sentences about verdicts on claims, for the screen, the page and the study of grounding."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from acidtest.core.document import Cell, Chart, Column, Note, Part, Reference, Row, Section, Table, Unit, describe_count
from acidtest.core.estimate import Estimate
from acidtest.core.numbers import whole_percent
from acidtest.studies.verification.curves import LENGTH, PADDING, PLACE, POSITION, points_of
from acidtest.studies.verification.result import (
    CHANGES,
    KEEPS,
    CurvePoint,
    EditEffect,
    LengthControl,
    ModelGrounding,
)

HEADINGS = {
    CHANGES: "gold changes: called supported",
    KEEPS: "gold stays: verdicts that changed",
}
_WITHOUT = ", or no prediction"
"""What is added to headings if claims without a prediction are among those counted."""
_MOVES = {CHANGES: "gold changes", KEEPS: "gold stays"}
OTHERS = "other unsupported claims"
AS_LONG = "others as long as {}"
LEGEND = "% of edited claims (95 % interval over documents). A claim without a prediction counts as wrong."
HIGHER = "Higher: how often the original has the higher score, ties half."
_BRIEF_LEGEND = "In % (95 % interval over documents); higher: how often the original has the higher score."
_MORE = {CHANGES: "More that change gold, called supported", KEEPS: "More that keep it, verdicts changed"}
CHOSEN = "The threshold is chosen on untouched claims of other documents (cross-fitted)."
CHANCE = 0.5
FEW = 20
"""With fewer pairs that count than this, an edit is not judged."""
FEWEST = 5
"""An edit with fewer pairs than this has no line on a screen."""
TIES = 0.05
"""A larger share of untouched claims with equal scores for both verdicts is worth a line."""
FEW_MEANS = 5
_SHARES = "% with 95 % intervals over documents"
_CURVES = {
    PADDING: ("Unrelated documents around the document", "words"),
    LENGTH: ("Untouched claims by the length of the document", "words"),
    POSITION: ("Evidence moved in the document", "place"),
    PLACE: ("Untouched claims by the place of the evidence", "place"),
}


def deployed_name(model: ModelGrounding) -> str:
    """The deployed rule as the head of a column: *at argmax*, *above 0.7*."""
    mode, _, threshold = model.rule.deployed.partition("=")
    return f"above {threshold}" if threshold else f"at {mode}"


def chosen_name(model: ModelGrounding) -> str:
    """The chosen threshold as the head of a column."""
    return "chosen" if model.rule.chosen is None else f"{describe_chosen(model)} (chosen)"


def describe_chosen(model: ModelGrounding) -> str:
    """The chosen threshold in a sentence: *above 0.31*."""
    return f"above {max(model.rule.chosen or 0.0, 0.0):.2g}"


def percent(estimate: Estimate) -> str:
    """A share as a whole percentage."""
    return whole_percent(estimate.value)


def edits_table(model: ModelGrounding, *, table_id: str = "edits", brief: bool = False, rows: int = 99) -> Table:
    """Every edit: wrong verdicts by both rules and how often the original has the higher score.

    ``brief`` for a screen: whole per cent, no intervals of secondary numbers, and at most ``rows`` edits of each kind.
    """
    unit: Unit = "whole percent" if brief else "percent"
    counts = [
        Column("n", "count", note="edited claims where gold changes, pairs with an answered original where it stays")
    ]
    columns = [*counts, Column(deployed_name(model), unit), Column(chosen_name(model), unit)]
    columns.append(Column("higher", unit, note="how often the original has the higher score than the edited claim"))
    is_covered = brief and any(edit.unanswered for edit in model.whole_edits)
    if is_covered:
        columns.insert(1, Column("answered", unit))
    if not brief:
        columns.append(
            Column("of accepted originals", unit, note="of originals called supported, edits still called so")
        )
        columns += [Column("answered", unit, note="share of pairs with both predictions")]
        columns += [Column("pairs", "count"), Column("documents", "count"), Column("cut", "count")]
    lines, more = list[Row](), list[str]()
    for gold in HEADINGS:
        heading = _heading(model, gold)
        here = sorted((edit for edit in model.whole_edits if edit.gold == gold), key=_gravity)
        effects = [edit for edit in here if edit.pairs >= FEWEST or not brief]
        few = [edit.edit for edit in here if edit not in effects]
        lines += [
            Row(edit.edit, _edit_cells(edit, brief=brief, covered=is_covered), heading) for edit in effects[:rows]
        ]
        rest = [f"{edit.edit} {percent(edit.wrong).removesuffix(' %')}" for edit in effects[rows:] if edit.wrong.known]
        named = [text for text in (", ".join(rest), f"too few: {', '.join(few)}" if few else "") if text]
        more += [f"{_MORE[gold]}{_without(model)}: {'; '.join(named)}."] if named else []
        others = model.untouched.false_support
        if gold == CHANGES and here and others.known:
            chosen = model.untouched.false_support_chosen
            covered = known_value(model.untouched.coverage)
            cells: list[Cell] = [others.n, *([covered] if is_covered else []), others]
            cells += [known_value(chosen) if brief else chosen, None]
            cells += [] if brief else [None, covered, others.n, others.groups, None]
            lines.append(Row(OTHERS, tuple(cells), heading, role="control"))
            shown = {edit.edit for edit in effects[:rows]}
            for control in (control for control in model.length_controls if control.edit in shown):
                of_control = _control_cells(control, brief=brief, covered=is_covered)
                lines.append(Row(AS_LONG.format(control.edit), of_control, heading, role="control"))
    never = " Without both predictions it never has." if _without(model) else ""
    notes = (LEGEND, HIGHER + never, CHOSEN) if not brief else (_BRIEF_LEGEND + never,)
    caption = "" if brief else f"Edited claims: wrong verdicts, {_SHARES}"
    return Table(table_id, caption, tuple(columns), tuple(lines), "edit", notes=(*more, *notes))


def _gravity(edit: EditEffect) -> tuple[float, float]:
    """Edits with surely many wrong verdicts first."""
    return -np.nan_to_num(edit.wrong.low), -np.nan_to_num(edit.wrong.value, nan=-1.0)


def _heading(model: ModelGrounding, gold: str) -> str:
    """What the numbers of edits are shares of."""
    return HEADINGS[gold] + _without(model)


def _without(model: ModelGrounding) -> str:
    return _WITHOUT if any(edit.unanswered for edit in model.whole_edits) else ""


def _control_cells(control: LengthControl, *, brief: bool, covered: bool) -> tuple[Cell, ...]:
    share = 1 - control.unanswered / control.claims
    first: tuple[Cell, ...] = (control.claims, share) if covered else (control.claims,)
    if brief:
        return *first, control.wrong, None, None
    return control.claims, control.wrong, None, None, None, share, control.claims, control.wrong.groups, None


def _edit_cells(edit: EditEffect, *, brief: bool, covered: bool) -> tuple[Cell, ...]:
    higher, still = (edit.higher, edit.still_supported) if edit.gold == CHANGES else (None, None)
    share = edit.pairs / (edit.pairs + edit.unanswered) if edit.pairs + edit.unanswered else None
    if brief:
        first: tuple[Cell, ...] = (edit.wrong.n, share) if covered else (edit.wrong.n,)
        return *first, edit.wrong, known_value(edit.wrong_chosen), known_value(higher)
    last = share, edit.pairs, edit.documents, edit.truncated
    return edit.wrong.n, edit.wrong, edit.wrong_chosen, higher, still, *last


def known_value(estimate: Estimate | None) -> float | None:
    """The value alone, without its interval; None where there is none."""
    return estimate.value if estimate is not None and estimate.known else None


def edits_chart(table_id: str, model: ModelGrounding) -> Chart:
    """The shares of wrong verdicts by both rules, a line for each edit."""
    columns = (deployed_name(model), chosen_name(model)) if model.rule.chosen is not None else (deployed_name(model),)
    axis = "called supported, or verdicts that changed"
    others = model.untouched.false_support
    reference = Reference(others.value, f"{OTHERS} ({percent(others)})") if others.known else None
    return Chart(table_id, "dots", columns, axis=axis, reference=reference)


def untouched_table(model: ModelGrounding, table_id: str = "untouched") -> Table:
    """Every number on untouched claims, a row for each, by both rules."""
    claims = model.untouched
    rows = [
        Row("claims with a prediction", (claims.coverage, None, None)),
        Row("balanced accuracy", (claims.balanced_accuracy, claims.balanced_accuracy_chosen, CHANCE)),
        Row("accuracy", (claims.accuracy, None, claims.commonest)),
        Row("supported claims called supported", (claims.recall, None, None)),
        Row(_OTHER_CLAIMS[bool(claims.unanswered)], (claims.false_support, claims.false_support_chosen, None)),
    ]
    if claims.unanswered:
        answered = model.answered
        cells = answered.balanced_accuracy, answered.balanced_accuracy_chosen, CHANCE
        rows.append(Row("balanced accuracy where it answered", cells))
    if service := model.precision:
        share = whole_percent(service.base_rate)
        rows += [
            Row(f"supported, of claims called so, base rate {share}", (service.supported, None, None)),
            Row(f"unsupported, of the others, base rate {share}", (service.unsupported, None, None)),
        ]
    columns = (Column(deployed_name(model)), Column(chosen_name(model)), Column("one verdict to all"))
    counts = f"{claims.claims:,} claims with gold, {claims.supported:,} of them supported"
    notes = [counts, *([describe_unanswered(model)] if claims.unanswered else [])]
    notes += [f"{claims.without_gold:,} claims have no gold"] if claims.without_gold else []
    notes += ["Base rate: share of claims that are not supported in service"] if model.precision else []
    return Table(table_id, f"Untouched claims, {_SHARES}", columns, tuple(rows), "measure", notes=(*notes, CHOSEN))


_OTHER_CLAIMS = ("other claims called supported", "other claims called supported or without a prediction")


def risk_table(model: ModelGrounding, table_id: str = "risk") -> Table | None:
    """Risk against coverage on untouched claims; None if confidence does not order predictions."""
    if len(model.risks) < 2:
        return None
    columns = (Column("wrong"), Column("confidence from", "decimal"), Column("predictions", "count"))
    rows = tuple(
        Row(f"{whole_percent(point.coverage)} of claims", (point.risk, point.confidence, point.risk.n))
        for point in model.risks
    )
    notes = (
        "If only the most confident predictions are kept: how many claims get one, and how many of these are wrong.",
    )
    return Table(table_id, f"Risk against coverage, {_SHARES}", columns, rows, "coverage", notes=notes)


def describe_unanswered(model: ModelGrounding) -> str:
    """How many untouched claims have no prediction, and that they count as wrong; nothing if all have one."""
    claims = model.untouched
    if not claims.unanswered:
        return ""
    total = describe_count(claims.answered + claims.unanswered, "untouched claim")
    return f"{claims.unanswered:,} of {total} have no prediction: they count as wrong."


def auc_table(model: ModelGrounding, table_id: str = "auc") -> Table:
    """How well scores tell supported claims from others, which needs no threshold; a number from 0 to 1."""
    rows = [Row("untouched claims", (model.untouched.auc, model.untouched.claims))]
    if model.untouched.unanswered:
        rows.append(Row("untouched claims it answered", (model.answered.auc, model.answered.claims)))
    if answers := model.answers:
        rows.append(Row("whole answers", (answers.whole, answers.answers)))
        rows.append(Row("answers, by the lowest score of their sentences", (answers.lowest, answers.answers)))
    columns = (Column("AUC", "decimal"), Column("n", "count"))
    notes = ("How often a supported claim has a higher score than another one; 0.5 is chance, 1 is best.",)
    return Table(table_id, "AUC with 95 % intervals over documents", columns, tuple(rows), "scores of", notes=notes)


def describe_ties(model: ModelGrounding) -> str:
    """How many untouched claims argmax calls supported at a tie, where they are more than a few; else nothing."""
    claims = model.untouched
    if not claims.tied or claims.tied <= TIES * claims.answered:
        return ""
    text = f"{claims.tied:,} of {claims.answered:,} claims have the same score for supported and not: argmax calls "
    return f"{text}them supported, --threshold 0.5 does not."


def curve_parts(model: ModelGrounding, prefix: str = "") -> Iterator[Part]:
    """A table and a chart for every curve that was measured."""
    for curve, (title, corner) in _CURVES.items():
        points = points_of(model.curves, curve)
        if len(points) > 1:
            yield from _curve(points, f"{prefix}{curve}", title, corner)


def _curve(points: Sequence[CurvePoint], table_id: str, title: str, corner: str) -> Iterator[Part]:
    numeric = corner == "words"
    names = [f"{point.words:.0f}" if numeric else point.name for point in points]
    shown = {
        "supported claims": [point.recall for point in points],
        "other claims": [point.false_support for point in points],
        "verdicts changed": [point.changed for point in points],
    }
    shown = {name: values for name, values in shown.items() if any(value.known for value in values)}
    columns = [Column(name) for name in shown] + [Column("claims", "count"), Column("cut", "count")]
    columns += [Column("documents", "text")] if numeric else []
    rows = []
    for number, point in enumerate(points):
        last: tuple[Cell, ...] = (point.name,) if numeric else ()
        cells = (*(values[number] for values in shown.values()), point.claims, point.truncated, *last)
        rows.append(Row(names[number], cells))
    yield Table(table_id, f"{title}: called supported, {_SHARES}", tuple(columns), tuple(rows), corner)
    yield Chart(table_id, "line" if numeric else "dots", tuple(shown), axis=corner if numeric else "")


def kinds_table(model: ModelGrounding, table_id: str = "passages") -> Table | None:
    """How often claims of every kind are called supported, in the suites on knowledge and conflicts."""
    if not model.kinds:
        return None
    columns = (Column("claims", "count"), Column("called supported"), Column("right"))
    rows = tuple(Row(kind.kind, (kind.claims, kind.supported, kind.right), kind.suite) for kind in model.kinds)
    caption = f"Knowledge against the document, and passages that disagree, {_SHARES}"
    missing = "Called supported: of claims with a prediction. Right: of all claims."
    return Table(table_id, caption, columns, rows, "kind", notes=(missing,) if model.unanswered else ())


def answers_table(model: ModelGrounding, table_id: str = "answers") -> Table | None:
    """How answers with an unsupported sentence are recognised."""
    answers = model.answers
    if answers is None:
        return None
    rows = (
        Row("the whole answer asked: balanced accuracy", (answers.whole_accuracy, CHANCE)),
        Row("a sentence called unsupported: balanced accuracy", (answers.lowest_accuracy, CHANCE)),
        Row("the unsupported sentence has the lowest score", (answers.located, answers.chance)),
    )
    counts = f"{answers.answers:,} answers, {answers.unsupported:,} with an unsupported sentence"
    counts += "; answers and sentences without a prediction are left out" if model.unanswered else ""
    columns = (Column("share"), Column("chance"))
    return Table(table_id, f"Whole answers, {_SHARES}", columns, rows, "recognised by", notes=(counts,))


def truncation_table(model: ModelGrounding, table_id: str = "cut") -> Table | None:
    """Wrong verdicts apart on pairs that were cut to fit the model and on pairs that were not; None if none was cut."""
    cut = [edit for edit in model.whole_edits if edit.truncated]
    if not cut:
        return None
    columns = (Column("cut", "count"), Column("of", "count"), Column("wrong, cut"), Column("wrong, not cut"))
    rows = tuple(
        Row(edit.edit, (edit.truncated, edit.pairs, edit.wrong_truncated, edit.wrong_whole), HEADINGS[edit.gold])
        for edit in cut
    )
    return Table(table_id, f"Pairs that were cut to fit the model, {_SHARES}", columns, rows, "edit")


def grounding_notes(model: ModelGrounding) -> Iterator[Note]:
    """Caveats of the numbers."""
    yield from (Note(text) for text in model.notes)
    if ties := describe_ties(model):
        yield Note(ties)
    if model.truncated:
        share = whole_percent(model.truncated / model.pairs)
        yield Note(
            f"{model.truncated:,} of {model.pairs:,} claims ({share}) were asked with their document cut to fit."
        )


def directions(model: ModelGrounding, table_id: str = "directions") -> Section:
    """In which direction verdicts and scores move with every edit, folded."""
    columns = (Column("no longer supported"), Column("newly supported"), Column("score", "points"))
    rows = tuple(Row(edit.edit, (edit.lost, edit.gained, edit.shift), _MOVES[edit.gold]) for edit in model.whole_edits)
    what = "pairs with both predictions" if model.unanswered else "all pairs"
    caption = f"Verdicts that an edit turns each way, of {what}, and the mean change of the score, {_SHARES}"
    few = [edit.edit for edit in model.whole_edits if edit.shift.groups < FEW_MEANS]
    notes = ["Score: mean over documents, t interval over their means."]
    notes += [f"Fewer than {FEW_MEANS} documents, intervals hardly say anything: {', '.join(few)}."] if few else []
    table = Table(table_id, caption, columns, rows, "edit", notes=tuple(notes))
    return Section("Directions of change", (table,), folded=True)


def kinds_of_edits(model: ModelGrounding, table_id: str = "kinds") -> Section | None:
    """The kinds of each edit apart, folded; None if no edit has several."""
    kinds = [edit for edit in model.edits if edit.kind]
    if not kinds:
        return None
    columns = (Column("n", "count"), Column(deployed_name(model)), Column(chosen_name(model)), Column("higher"))
    rows = tuple(
        Row(
            edit.kind,
            (edit.wrong.n, edit.wrong, edit.wrong_chosen, edit.higher if edit.gold == CHANGES else None),
            f"{edit.edit}, {_heading(model, edit.gold)}",
        )
        for edit in kinds
    )
    table = Table(table_id, f"Kinds of edits apart: wrong verdicts, {_SHARES}", columns, rows, "kind")
    return Section("Kinds of edits apart", (table,), folded=True)
