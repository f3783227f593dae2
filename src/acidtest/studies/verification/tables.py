"""Tables and sentences about verdicts on claims, for the screen, the page and the study of grounding."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from acidtest.core.document import Cell, Chart, Column, Note, Part, Reference, Row, Section, Table, Unit
from acidtest.core.estimate import Estimate
from acidtest.core.numbers import interval, whole_percent
from acidtest.studies.verification.curves import LENGTH, PADDING, PLACE, POSITION, points_of
from acidtest.studies.verification.edits import describe_edit
from acidtest.studies.verification.result import CHANGES, KEEPS, CurvePoint, EditEffect, ModelGrounding

HEADINGS = {
    CHANGES: "gold changes: still called supported, of originals called so",
    KEEPS: "gold stays: verdicts that changed",
}
_MOVES = {CHANGES: "gold changes", KEEPS: "gold stays"}
OTHERS = "other unsupported claims"
LEGEND = "In % (95 % interval over documents); higher: how often the original has the higher score, ties half."
_UNTOUCHED_LEGEND = (
    "Supported against not, in % (95 % interval over documents); one verdict: right on so many if given to all claims."
)
CHOSEN = "The threshold is chosen on untouched claims of other documents (cross-fitted)."
NO_EDITS = "Whether it reads the document, or goes by shared words, only edits show (-s 'grounding/*')."
CHANCE = 0.5
LITTLE = 0.1
"""A share of wrong verdicts below this is told as the most there is."""
_SHARES = "% with 95 % intervals over documents"
_CURVES = {
    PADDING: ("Unrelated documents around the document: mean words of all", "words"),
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


def describe_grounding(model: ModelGrounding) -> str:
    """The one sentence about a model as a verifier."""
    untouched = model.untouched.balanced_accuracy
    if untouched.known:
        text = f"It tells supported claims from others with {_percent(untouched)} balanced accuracy (chance 50 %)"
    elif model.pairs:
        text = f"It calls {whole_percent(model.called_supported)} of claims supported"
    else:
        return "It answered no claim."
    worst = worst_edit(model, CHANGES)
    if worst and worst.wrong.value < LITTLE:
        text += f", and calls at most {_percent(worst.wrong)} of those supported that an edit made unsupported"
    elif worst:
        text += f", and still calls {_percent(worst.wrong)} of claims {describe_edit(worst.edit)} supported"
    unstable = worst_edit(model, KEEPS)
    if unstable and not (worst and worst.wrong.value >= unstable.wrong.value) and unstable.wrong.value >= LITTLE:
        text += f", and changes {_percent(unstable.wrong)} of verdicts {describe_edit(unstable.edit)}"
    return f"{text}." if model.whole_edits else f"{text}. {NO_EDITS}"


def worst_edit(model: ModelGrounding, gold: str) -> EditEffect | None:
    """The edit with most wrong verdicts, of those that change gold or of those that keep it; None if none is known."""
    known = [edit for edit in model.whole_edits if edit.gold == gold and edit.wrong.known and edit.wrong.value > 0]
    return max(known, key=lambda edit: edit.wrong.value, default=None)


def _percent(estimate: Estimate) -> str:
    return whole_percent(estimate.value)


def edits_table(model: ModelGrounding, *, table_id: str = "edits", brief: bool = False, rows: int = 99) -> Table:
    """Every edit: wrong verdicts by both rules and how often the original has the higher score.

    ``brief`` for a screen: whole per cent, no intervals of secondary numbers, and at most ``rows`` edits of each kind.
    """
    unit: Unit = "whole percent" if brief else "percent"
    columns = [Column("pairs", "count"), Column(deployed_name(model), unit), Column(chosen_name(model), unit)]
    columns.append(Column("higher", unit, note="how often the original has the higher score than the edited claim"))
    if not brief:
        columns += [Column("documents", "count"), Column("cut", "count")]
    lines, left_out = list[Row](), 0
    for gold, heading in HEADINGS.items():
        effects = sorted((edit for edit in model.whole_edits if edit.gold == gold), key=_gravity)
        lines += [Row(edit.edit, _edit_cells(edit, brief=brief), heading) for edit in effects[:rows]]
        left_out += len(effects[rows:])
        others = model.untouched.false_support
        if gold == CHANGES and effects and others.known:
            chosen = model.untouched.false_support_chosen
            cells: list[Cell] = [others.n, others, _value(chosen) if brief else chosen, None]
            cells += [] if brief else [others.groups, None]
            lines.append(Row(OTHERS, tuple(cells), heading, role="control"))
    notes = (LEGEND, CHOSEN) if not brief else (LEGEND,)
    more = (f"and {left_out} more edits: --full",) if left_out else ()
    caption = "" if brief else f"Edited claims: wrong verdicts, {_SHARES}"
    return Table(table_id, caption, tuple(columns), tuple(lines), "edit", notes=(*more, *notes))


def brief_table(model: ModelGrounding, *, rows: int = 99) -> Table:
    """One screen of a verifier: the table of edits or, without edits, of untouched claims, and the rest as notes."""
    if not model.whole_edits:
        return _brief_untouched(model)
    table = edits_table(model, brief=True, rows=rows)
    return replace(table, notes=(*table.notes, describe_untouched_claims(model), *_brief_passages(model)))


def _brief_untouched(model: ModelGrounding) -> Table:
    claims = model.untouched
    unit: Unit = "whole percent"
    columns = [Column("claims", "count"), Column(deployed_name(model), unit), Column(chosen_name(model), unit)]
    columns += [Column("chance", unit), Column("AUC", unit), Column("accuracy", unit), Column("one verdict", unit)]
    chosen = _value(claims.balanced_accuracy_chosen)
    cells = (claims.claims, claims.balanced_accuracy, chosen, CHANCE, _value(claims.auc), _value(claims.accuracy))
    row = Row("untouched claims", (*cells, claims.commonest))
    notes = (_UNTOUCHED_LEGEND, *_brief_passages(model))
    return Table("untouched", "", tuple(columns), (row,), "balanced accuracy", notes=notes)


def _brief_passages(model: ModelGrounding) -> Iterator[str]:
    """A line for each of knowledge, conflicts and whole answers, as far as they were asked."""
    if use := model.knowledge:
        text = f"Knowledge: follows the world against the document in {_percent(use.against)} (wrong on "
        text += f"{_percent(use.agreeing)} where they agree); unsaid claims called supported: "
        yield f"{text}{_percent(use.true_unsaid)} true, {_percent(use.false_unsaid)} false."
    kinds = {kind.kind: _percent(kind.supported) for kind in model.kinds}
    shown = [f"{kinds[name]} if {name}" for name in ("the first agrees", "the last agrees") if name in kinds]
    if shown:
        yield f"Conflicting passages, called supported: {', '.join(shown)}."
    if answers := model.answers:
        text = (
            f"Whole answers: AUC {answers.whole.value:.2f} asked whole, {answers.lowest.value:.2f} by lowest sentence"
        )
        if answers.located.known:
            text += f"; the sentence found in {_percent(answers.located)} (chance {whole_percent(answers.chance)})"
        yield f"{text}."


def _gravity(edit: EditEffect) -> float:
    return -edit.wrong.value if edit.wrong.known else math.inf


def _edit_cells(edit: EditEffect, *, brief: bool) -> tuple[Cell, ...]:
    higher = edit.higher if edit.gold == CHANGES else None
    if brief:
        return edit.pairs, edit.wrong, _value(edit.wrong_chosen), _value(higher)
    return edit.pairs, edit.wrong, edit.wrong_chosen, higher, edit.documents, edit.truncated


def _value(estimate: Estimate | None) -> float | None:
    return estimate.value if estimate is not None and estimate.known else None


def edits_chart(table_id: str, model: ModelGrounding) -> Chart:
    """The shares of wrong verdicts by both rules, a line for each edit."""
    columns = (deployed_name(model), chosen_name(model)) if model.rule.chosen is not None else (deployed_name(model),)
    axis = "still called supported, or verdicts that changed"
    others = model.untouched.false_support
    reference = Reference(others.value, f"{OTHERS} ({_percent(others)})") if others.known else None
    return Chart(table_id, "dots", columns, axis=axis, reference=reference)


def describe_untouched_claims(model: ModelGrounding) -> str:
    """Balanced accuracy by both rules and AUC in a sentence, with what one verdict to all would get."""
    claims = model.untouched
    if not claims.balanced_accuracy.known:
        return f"Untouched claims: no accuracy ({claims.balanced_accuracy.note})."
    shown = interval(claims.balanced_accuracy, "whole percent")
    text = f"Untouched claims ({claims.claims:,}): balanced accuracy {_percent(claims.balanced_accuracy)}"
    text += f" ({shown})" if shown else ""
    text += f" {deployed_name(model)}"
    if claims.balanced_accuracy_chosen.known:
        text += f", {_percent(claims.balanced_accuracy_chosen)} {chosen_name(model)}"
    return f"{text}, chance 50 %; AUC {claims.auc.value:.2f}."


def untouched_table(model: ModelGrounding, table_id: str = "untouched") -> Table:
    """Every number on untouched claims, a row for each, by both rules."""
    claims = model.untouched
    rows = [
        Row("balanced accuracy", (claims.balanced_accuracy, claims.balanced_accuracy_chosen, CHANCE)),
        Row("accuracy", (claims.accuracy, None, claims.commonest)),
        Row("AUC", (claims.auc, None, CHANCE)),
        Row("supported claims called supported", (claims.recall, None, None)),
        Row("other claims called supported", (claims.false_support, claims.false_support_chosen, None)),
    ]
    if service := model.precision:
        share = whole_percent(service.base_rate)
        rows += [
            Row(f"of claims called supported, supported, if {share} are not", (service.supported, None, None)),
            Row(f"of other claims, unsupported, if {share} are", (service.unsupported, None, None)),
        ]
    columns = (Column(deployed_name(model)), Column(chosen_name(model)), Column("one verdict to all"))
    counts = f"{claims.claims:,} claims with gold, {claims.supported:,} of them supported"
    notes = [counts, *([f"{claims.unanswered:,} claims without an answer are left out"] if claims.unanswered else [])]
    notes += [f"{claims.without_gold:,} claims have no gold"] if claims.without_gold else []
    return Table(table_id, f"Untouched claims, {_SHARES}", columns, tuple(rows), "measure", notes=(*notes, CHOSEN))


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
        "supported claims called supported": [point.recall for point in points],
        "other claims called supported": [point.false_support for point in points],
        "verdicts changed": [point.changed for point in points],
    }
    shown = {name: values for name, values in shown.items() if any(value.known for value in values)}
    columns = [Column("documents" if numeric else "", "text")] if numeric else []
    columns += [Column("claims", "count"), Column("cut", "count"), *(Column(name) for name in shown)]
    rows = []
    for number, point in enumerate(points):
        first: tuple[Cell, ...] = (point.name,) if numeric else ()
        cells = (*first, point.claims, point.truncated, *(values[number] for values in shown.values()))
        rows.append(Row(names[number], cells))
    yield Table(table_id, f"{title}, {_SHARES}", tuple(columns), tuple(rows), corner)
    yield Chart(table_id, "line" if numeric else "dots", tuple(shown), axis=corner if numeric else "")


def kinds_table(model: ModelGrounding, table_id: str = "passages") -> Table | None:
    """How often claims of every kind are called supported, in the suites on knowledge and conflicts."""
    if not model.kinds:
        return None
    columns = (Column("claims", "count"), Column("called supported"), Column("right"))
    rows = tuple(Row(kind.kind, (kind.claims, kind.supported, kind.right), kind.suite) for kind in model.kinds)
    caption = f"Knowledge against the document, and passages that disagree, {_SHARES}"
    return Table(table_id, caption, columns, rows, "kind")


def answers_table(model: ModelGrounding, table_id: str = "answers") -> Table | None:
    """How answers with an unsupported sentence are recognised."""
    answers = model.answers
    if answers is None:
        return None
    rows = (
        Row("the whole answer asked: balanced accuracy", (answers.whole_accuracy, CHANCE)),
        Row("the whole answer asked: AUC", (answers.whole, CHANCE)),
        Row("a sentence called unsupported: balanced accuracy", (answers.lowest_accuracy, CHANCE)),
        Row("the lowest score of its sentences: AUC", (answers.lowest, CHANCE)),
        Row("the unsupported sentence has the lowest score", (answers.located, answers.chance)),
    )
    counts = f"{answers.answers:,} answers, {answers.unsupported:,} with an unsupported sentence"
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
    if model.truncated:
        share = whole_percent(model.truncated / model.pairs)
        yield Note(
            f"{model.truncated:,} of {model.pairs:,} claims ({share}) were asked with their document cut to fit."
        )


def directions(model: ModelGrounding, table_id: str = "directions") -> Section:
    """In which direction verdicts and scores move with every edit, folded."""
    columns = (Column("no longer supported"), Column("newly supported"), Column("score", "points"))
    rows = tuple(Row(edit.edit, (edit.lost, edit.gained, edit.shift), _MOVES[edit.gold]) for edit in model.whole_edits)
    caption = f"Verdicts that an edit turns each way, of all pairs, and the mean change of the score, {_SHARES}"
    return Section("Directions of change", (Table(table_id, caption, columns, rows, "edit"),), folded=True)


def kinds_of_edits(model: ModelGrounding, table_id: str = "kinds") -> Section | None:
    """The kinds of each edit apart, folded; None if no edit has several."""
    kinds = [edit for edit in model.edits if edit.kind]
    if not kinds:
        return None
    columns = (Column("pairs", "count"), Column(deployed_name(model)), Column(chosen_name(model)), Column("higher"))
    rows = tuple(
        Row(
            edit.kind,
            (edit.pairs, edit.wrong, edit.wrong_chosen, edit.higher if edit.gold == CHANGES else None),
            f"{edit.edit}, {HEADINGS[edit.gold]}",
        )
        for edit in kinds
    )
    table = Table(table_id, f"Kinds of edits apart: wrong verdicts, {_SHARES}", columns, rows, "kind")
    return Section("Kinds of edits apart", (table,), folded=True)
