"""The study of grounding as a document: edits, untouched claims, curves, knowledge and whole answers."""

from __future__ import annotations

from collections.abc import Iterator

from acidtest.core.document import Column, Document, Part, Row, Section, Table
from acidtest.studies.grounding import GroundingResult
from acidtest.studies.verification.result import ModelGrounding
from acidtest.studies.verification.tables import (
    HEADINGS,
    answers_table,
    curve_parts,
    describe_grounding,
    directions,
    edits_chart,
    edits_table,
    grounding_notes,
    kinds_of_edits,
    kinds_table,
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
    headlines = {name: describe_grounding(model) for name, model in models.items()}
    parts: list[Part] = []
    if len(models) > 1:
        parts.append(_models_table(result))
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
    rows.append(Row("untouched claims: AUC", tuple(model.untouched.auc for model in models.values())))
    effects = [{(edit.gold, edit.edit): edit.wrong for edit in model.whole_edits} for model in models.values()]
    keys = dict.fromkeys(key for known in effects for key in known)
    for gold, heading in HEADINGS.items():
        named = [key for key in keys if key[0] == gold]
        rows += [Row(key[1], tuple(known.get(key) for known in effects), heading) for key in named]
    columns = tuple(Column(name, model=name) for name in models)
    caption = "Untouched claims, and wrong verdicts on edited ones, % with 95 % intervals over documents"
    return Table("models", caption, columns, tuple(rows), "edit")
