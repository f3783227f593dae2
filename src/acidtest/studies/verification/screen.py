"""One screen about a verifier: its sentence, a table, and whatever else was asked, a line for each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from acidtest.core.document import Cell, Column, Row, Table, Unit, describe_count, listed
from acidtest.core.estimate import Estimate
from acidtest.core.numbers import interval, whole_percent
from acidtest.studies.scoring.severity import CLOSE, SMALL, is_near_chance
from acidtest.studies.verification.edits import describe_edit
from acidtest.studies.verification.findings import (
    describe_accuracy,
    describe_knowledge,
    describe_limit,
    knowledge_effects,
    missed_edits,
    notices_edits,
    unstable_edits,
)
from acidtest.studies.verification.result import ModelGrounding
from acidtest.studies.verification.tables import (
    CHANCE,
    FEW,
    chosen_name,
    deployed_name,
    describe_chosen,
    describe_ties,
    describe_unanswered,
    edits_table,
    known_value,
    percent,
)

CAUTION = "Edited claims are not what language models get wrong by themselves: ask claims with gold, too."
NO_EDITS = "Whether it reads the document, or goes by shared words, only edits show (-s 'grounding/*')."
LITTLE = 0.1
"""A smaller share of changed verdicts is not worth the headline."""
FEW_DOCUMENTS = 10
"""With fewer documents than this, most edits cannot be judged."""
_UNTOUCHED_LEGEND = (
    "Supported against not, in % (95 % interval over documents); one verdict: right on so many if given to all claims."
)


def describe_grounding(model: ModelGrounding) -> str:
    """The one sentence about a model as a verifier; it names an edit only if that is surely the model's fault."""
    if not model.pairs:
        return "It answered no claim."
    text, is_able = _describe_skill(model)
    missed, unstable = missed_edits(model), unstable_edits(model)
    if is_able and model.reading:
        text += f", but appears to stop reading after {describe_limit(model.reading)}"
    if is_able and missed:
        text += f", and still calls {percent(missed[0].accepted)} of claims {describe_edit(missed[0].edit)} supported"
    elif is_able and (most := notices_edits(model)):
        share = percent(most.still_supported)
        text += f", and calls at most {share} of those supported that an edit made unsupported"
    least = max([LITTLE, *(edit.accepted.value for edit in missed[:1])])
    if is_able and unstable and not model.reading and unstable[0][0].wrong.value >= least:
        text += f", and changes {percent(unstable[0][0].wrong)} of verdicts {describe_edit(unstable[0][0].edit)}"
    if is_able and model.knowledge and any(knowledge_effects(model)):
        against, unsaid = knowledge_effects(model)
        text += f", and {describe_knowledge(model.knowledge, (against, None if against else unsaid))}"
    return f"{text}." if model.whole_edits else f"{text}. {NO_EDITS}"


def _describe_skill(model: ModelGrounding) -> tuple[str, bool]:
    """How untouched claims are judged, and whether what edits do is worth saying beside it."""
    claims = model.answered
    right, chosen = claims.balanced_accuracy, claims.balanced_accuracy_chosen
    if not right.known:
        if not claims.answered:
            return f"It calls {whole_percent(model.called_supported)} of {_answered(model, 'claims')} supported", True
        share, what = whole_percent(claims.called_supported), _answered(model, "untouched claims")
        return f"It calls {share} of {what} supported", True
    is_near = is_near_chance(right, CHANCE)
    if right.low > CHANCE and not is_near and claims.claims >= FEW:
        text = f"tells supported claims from others with {percent(right)} balanced accuracy"
        if model.untouched.unanswered:
            counted = percent(model.untouched.balanced_accuracy)
            covered = f"It answers {percent(model.untouched.coverage)} of untouched claims and {text} among these"
            return f"{covered} (chance 50 %; {counted} if the others count as wrong)", True
        return f"It {text} (chance 50 %)", True
    if right.high < CHANCE and not is_near and claims.claims >= FEW:
        what = _answered(model, "untouched claims")
        return f"It does worse than guessing on {what} ({describe_accuracy(right)})", False
    if claims.claims >= FEW and (is_near or right.high <= CHANCE + 3 * CLOSE):
        text = f"It is near chance on {_answered(model, 'untouched claims')} ({describe_accuracy(right)})"
        if chosen.known and chosen.low > CHANCE + SMALL:
            text += f", but not {describe_chosen(model)} ({percent(chosen)})"
        return text, False
    count = f"{describe_count(claims.claims, 'claim')}: {describe_accuracy(right)}"
    return f"Too few untouched claims to say whether it tells supported ones from others ({count})", False


def _answered(model: ModelGrounding, what: str) -> str:
    return f"the {what} it answered" if model.unanswered else what


def brief_table(model: ModelGrounding, *, rows: int = 99) -> Table:
    """One screen of a verifier: the table of edits or, without edits, of untouched claims, and the rest as notes."""
    table = edits_table(model, brief=True, rows=rows) if model.whole_edits else _brief_untouched(model)
    return replace(table, notes=(*table.notes, *_brief_lines(model)))


def _brief_untouched(model: ModelGrounding) -> Table:
    claims = model.untouched
    unit: Unit = "whole percent"
    columns = [Column("claims", "count"), Column(deployed_name(model), unit), Column(chosen_name(model), unit)]
    columns += [Column("chance", unit), Column("AUC", "decimal"), Column("accuracy", unit), Column("one verdict", unit)]
    chosen = known_value(claims.balanced_accuracy_chosen)
    auc, accuracy = known_value(claims.auc), known_value(claims.accuracy)
    cells: list[Cell] = [claims.claims, claims.balanced_accuracy, chosen, CHANCE, auc, accuracy, claims.commonest]
    if claims.unanswered:
        columns.insert(1, Column("answered", unit))
        cells.insert(1, known_value(claims.coverage))
    row = Row("untouched claims", tuple(cells))
    return Table("untouched", "", tuple(columns), (row,), "balanced accuracy", notes=(_UNTOUCHED_LEGEND,))


def _brief_lines(model: ModelGrounding) -> Iterator[str]:
    """What stands below the table, a line for each thing that was asked."""
    if model.whole_edits:
        yield CAUTION if model.notes else describe_untouched_claims(model)
    if model.whole_edits and model.untouched.documents < FEW_DOCUMENTS:
        yield f"{describe_count(model.untouched.documents, 'document')}: most edits are too few to judge."
    if service := model.precision:
        right, others = (_describe_precision(share) for share in (service.supported, service.unsupported))
        share = whole_percent(service.base_rate)
        yield f"Where {share} of claims are unsupported: right if called supported {right}, if not {others}."
    if missing := describe_unanswered(model):
        yield missing
    if ties := describe_ties(model):
        yield ties
    yield from _brief_passages(model)
    if model.starter:
        verb = "is" if len(model.starter) == 1 else "are"
        yield f"{listed(model.starter)} {verb} made from our own documents, not from your file."


def _describe_precision(share: Estimate) -> str:
    if not share.known:
        return f"– ({share.note})"
    return f"{percent(share)} ({interval(share, 'whole percent') or share.note})"


def _brief_passages(model: ModelGrounding) -> Iterator[str]:
    """A line for each of knowledge, conflicts and whole answers, as far as they were asked."""
    answered = " (of claims it answered)" if model.unanswered else ""
    if use := model.knowledge:
        text = f"Knowledge{answered}: follows the world against the document in {percent(use.against)} (wrong on "
        text += f"{percent(use.agreeing)} where they agree); unsaid claims called supported: "
        yield f"{text}{percent(use.true_unsaid)} true, {percent(use.false_unsaid)} false."
    kinds = {kind.kind: percent(kind.supported) for kind in model.kinds}
    shown = [f"{kinds[name]} if {name}" for name in ("the first agrees", "the last agrees") if name in kinds]
    if shown:
        yield f"Conflicting passages, called supported{answered}: {', '.join(shown)}."
    if answers := model.answers:
        text = (
            f"Whole answers{answered}: AUC {answers.whole.value:.2f}, by the lowest sentence {answers.lowest.value:.2f}"
        )
        if answers.located.known:
            text += f"; sentence found: {percent(answers.located)} (chance {whole_percent(answers.chance)})"
        yield f"{text}."


def describe_untouched_claims(model: ModelGrounding) -> str:
    """Balanced accuracy by both rules and AUC in a sentence, with what one verdict to all would get."""
    claims = model.untouched
    if not claims.balanced_accuracy.known:
        return f"Untouched claims: no accuracy ({claims.balanced_accuracy.note})."
    shown = interval(claims.balanced_accuracy, "whole percent")
    text = f"Untouched claims: balanced accuracy {percent(claims.balanced_accuracy)}{f' ({shown})' if shown else ''}"
    text += f" {deployed_name(model)}"
    if claims.balanced_accuracy_chosen.known:
        text += f", {percent(claims.balanced_accuracy_chosen)} {describe_chosen(model)}"
    return f"{text}; chance 50 %; AUC {claims.auc.value:.2f}."
