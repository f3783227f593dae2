"""The study of grounding as a document: edits, untouched claims, curves, knowledge and whole answers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from acidtest.core.document import Column, Document, Part, Row, Section, Table
from acidtest.studies.grounding import GroundingResult
from acidtest.studies.scoring.severity import by_severity
from acidtest.studies.verification.findings import grounding_findings, grounding_reason
from acidtest.studies.verification.result import ModelGrounding
from acidtest.studies.verification.screen import brief_table, describe_grounding
from acidtest.studies.verification.tables import (
    HEADINGS,
    answers_table,
    auc_table,
    curve_parts,
    directions,
    edits_chart,
    edits_table,
    grounding_notes,
    kinds_of_edits,
    kinds_table,
    risk_table,
    truncation_table,
    untouched_table,
)

_METHODS = (
    "A claim is called supported if entailment is answered or, with a threshold, if its probability exceeds that. The "
    "chosen threshold has the highest balanced accuracy on untouched claims; it is chosen on one half of the documents "
    "and applied to the other, and chosen again in each resample of documents. Intervals are over documents.",
)


def document(result: GroundingResult) -> Document:
    """Every model's verdicts on edited and untouched claims; several models side by side first."""
    models = result.models
    headlines = {name: _headline(model) for name, model in models.items()}
    parts: list[Part] = []
    if len(models) > 1:
        parts += [_models_table(result), _auc_table(result)]
        for number, (name, model) in enumerate(models.items()):
            inner = tuple(_model_parts(model, f"{number} "))
            parts.append(Section(name, inner, anchor=f"model-{number}", folded=True, summary=headlines[name]))
    else:
        parts += [part for model in models.values() for part in _model_parts(model, "")]
    return Document(
        title="acidtest grounding",
        headline=" ".join(f"{name}: {text}" if len(models) > 1 else text for name, text in headlines.items()),
        parts=tuple(parts),
        models=tuple(models),
        signatures=result.signatures,
        methods=_METHODS,
    )


def screen(result: GroundingResult, rows: int) -> Document:
    """The same on one screen, with at most ``rows`` edits of each kind: a table and findings, or all models."""
    models = result.models
    whole = document(result)
    if len(models) > 1:
        return replace(whole, parts=(_models_table(result), _auc_table(result)))
    parts: list[Part] = []
    for model in models.values():
        parts.append(brief_table(model, rows=rows))
        if not grounding_reason(model):
            parts += by_severity(list(grounding_findings(model)))
    # What all signatures share: their suites would fill the screen.
    shared = {name: f"collapse:{text.partition('|collapse:')[2]}" for name, text in result.signatures.items()}
    return replace(whole, parts=tuple(parts), signatures=shared)


def _headline(model: ModelGrounding) -> str:
    """What explains all verdicts, else the sentence about the verifier."""
    reason = grounding_reason(model)
    return f"It {reason.sentence}." if reason else describe_grounding(model)


def _auc_table(result: GroundingResult) -> Table:
    """AUC on untouched claims, a column for each model."""
    columns = tuple(Column(name, "decimal", model=name) for name in result.models)
    row = Row("untouched claims", tuple(model.untouched.auc for model in result.models.values()))
    return Table("models auc", "AUC with 95 % intervals over documents", columns, (row,), "scores of")


def _model_parts(model: ModelGrounding, prefix: str) -> Iterator[Part]:
    """Everything about one model; ``prefix`` keeps the ids of its tables apart from those of others."""
    yield from grounding_notes(model)
    if model.whole_edits:
        table = edits_table(model, table_id=f"{prefix}edits")
        yield edits_chart(table.id, model)
        yield table
        if kinds := kinds_of_edits(model, f"{prefix}kinds"):
            yield kinds
        yield directions(model, f"{prefix}directions")
    yield untouched_table(model, f"{prefix}untouched")
    yield auc_table(model, f"{prefix}auc")
    if risk := risk_table(model, f"{prefix}risk"):
        yield Section("Risk against coverage", (risk,), folded=True)
    yield from curve_parts(model, prefix)
    tables = (
        kinds_table(model, f"{prefix}passages"),
        answers_table(model, f"{prefix}answers"),
        truncation_table(model, f"{prefix}cut"),
    )
    yield from (table for table in tables if table)


def _models_table(result: GroundingResult) -> Table:
    """Balanced accuracy on untouched claims and wrong verdicts on every edit, a column for each model."""
    models = result.models
    rows = [Row("untouched claims: balanced accuracy", tuple(m.untouched.balanced_accuracy for m in models.values()))]
    effects = [{(edit.gold, edit.edit): edit.wrong for edit in model.whole_edits} for model in models.values()]
    keys = dict.fromkeys(key for known in effects for key in known)
    for gold, heading in HEADINGS.items():
        named = [key for key in keys if key[0] == gold]
        rows += [Row(key[1], tuple(known.get(key) for known in effects), heading) for key in named]
    columns = tuple(Column(name, model=name) for name in models)
    caption = "Untouched claims, and wrong verdicts on edited ones, % with 95 % intervals over documents"
    return Table("models", caption, columns, tuple(rows), "edit")
