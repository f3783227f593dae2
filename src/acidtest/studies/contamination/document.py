"""Contamination in words and tables: the verdict, the four cells, their contrasts, and what these can show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from acidtest.core.document import Cell, Column, Document, Note, Part, PValue, Row, Section, Table
from acidtest.core.estimate import Estimate
from acidtest.core.suite import CROSS

if TYPE_CHECKING:
    from acidtest.studies.contamination import (
        ContaminationCell,
        ContaminationContrast,
        ContaminationResult,
        ModelContamination,
    )

ALPHA = 0.05
NEARLY_NONE = 0.05
TOO_WIDE = 0.1
"""If the upper bound is farther above the value than this, there were too few rows."""

ALL_PAIRS, WRONG = "all pairs", "non-entailment"
"""Slices; the second is where the heuristics are wrong and memory would show."""


def document(result: ContaminationResult) -> Document:
    """A section for each model."""
    several = len(result.models) > 1
    headline = " ".join(f"{model.model}: {model.verdict}" if several else model.verdict for model in result.models)
    return Document(
        title="acidtest contamination",
        headline=headline,
        parts=tuple(Section(f"Contamination: {model.model}", tuple(_parts(model))) for model in result.models),
        models=tuple(model.model for model in result.models),
    )


def _parts(model: ModelContamination) -> Iterator[Part]:
    yield Note(model.verdict)
    yield _cell_table(model)
    yield _contrast_table(model)
    for name, question in {contrast.name: contrast.question for contrast in model.contrasts}.items():
        yield Note(f"{name}: {question}", quiet=True)
    if model.reference:
        yield Note(f"reference: {model.reference}", quiet=True)
    yield Section("What this can show", tuple(Note(line) for line in model.can), folded=True)
    yield Section("What it cannot show", tuple(Note(line) for line in model.cannot), folded=True)


def _cell_table(model: ModelContamination) -> Table:
    """Accuracy on every slice: rows are words, columns are templates."""
    cells = {(cell.words, cell.templates): cell.slices for cell in model.cells}
    words, templates = (dict.fromkeys(names) for names in zip(*cells, strict=True))
    rows = tuple(
        Row(f"{word_list} words", tuple(cells[word_list, column][name] for column in templates), name)
        for name in model.cells[0].slices
        for word_list in words
    )
    columns = tuple(Column(f"{column} templates") for column in templates)
    return Table(f"contamination {model.model} cells", "Accuracy, %, with 95 % intervals", columns, rows, "words")


def _contrast_table(model: ModelContamination) -> Table:
    columns = [Column("difference", "points"), Column("p adjusted", "p"), Column("p in log odds", "p")]
    if model.reference:
        columns += [Column("reference", "points"), Column("excess", "points"), Column("p of the excess", "p")]
    names = [contrast.name for contrast in model.contrasts]
    rows, notes = [], dict[str, list[str]]()
    for contrast in sorted(model.contrasts, key=lambda contrast: names.index(contrast.name)):
        cells: list[Cell] = [contrast.difference, PValue(contrast.p_adjusted), PValue(contrast.logit_p_adjusted)]
        if model.reference:
            cells += [contrast.reference, contrast.excess, PValue(contrast.excess_p_adjusted)]
        rows.append(Row(contrast.slice, tuple(cells), heading=contrast.name))
    scale = "p in log odds: one-sided, adjusted over the slices; a sign of memory needs both p-values below 0.05"
    for contrast in model.contrasts:
        if contrast.effect.note:
            notes.setdefault(contrast.effect.note, []).append(f"{contrast.name}, {contrast.slice}")
    return Table(
        f"contamination {model.model} contrasts",
        "Differences between the cells, in points, with 95 % intervals",
        tuple(columns),
        tuple(rows),
        "slice",
        notes=(scale, *(f"{'; '.join(where)}: {note}" for note, where in notes.items())),
    )


def verdict(
    model: str, reference: str | None, contrasts: Sequence[ContaminationContrast], cells: Sequence[ContaminationCell]
) -> str:
    """Sentences on what the contrasts show of memory and, where differences are significant, of words and templates."""
    rates = [cell.slices[WRONG].value for cell in cells]
    nearly = "wrong" if max(rates) <= NEARLY_NONE else "right" if min(rates) >= 1 - NEARLY_NONE else ""
    if nearly:
        return (
            f"Memory cannot be measured: where the heuristics are wrong, {model} is {nearly} on nearly all pairs of "
            "all four suites, so it has nothing to show in."
        )
    by_name = {(contrast.name, contrast.slice): contrast for contrast in contrasts}
    # Memory shows where the heuristics are wrong; all pairs come last: the heuristics are right on half of them.
    order = [WRONG, *(contrast.slice for contrast in contrasts if contrast.slice not in (WRONG, ALL_PAIRS)), ALL_PAIRS]
    signs = [by_name["both", name] for name in order if by_name["both", name].significant]
    sentences = [_describe_memory(model, reference, by_name["both", WRONG], signs)]
    words, templates = by_name["words", WRONG], by_name["templates", WRONG]
    if words.significant and not signs:
        sentences.append(
            f"On the published templates the published words are {_points(words.effect)} better than fresh ones; that "
            "is not clearly more than on novel templates, so they may just be easier."
        )
    if templates.significant and reference:
        sentences.append(
            f"It seems to know the templates: with fresh words it is {_points(templates.effect)} better on the "
            f"published than on novel ones, beyond the difference that {reference} shows."
        )
    elif templates.significant:
        sentences.append(
            f"With fresh words it is {_points(templates.effect)} better on the published templates than on novel ones: "
            "it knows them or they are easier, which only a clean reference can show."
        )
    return " ".join(sentences)


def _describe_memory(
    model: str, reference: str | None, main: ContaminationContrast, signs: Sequence[ContaminationContrast]
) -> str:
    level = "its own level on other words and templates"
    explains = f"{level}, and the same difference of {reference}, explain" if reference else f"{level} explains"
    better = f"better on the published words in the published templates than {explains}"
    effect = main.effect
    if signs:
        return f"Signs of memory: {_where(signs[0].slice)}, {model} is {_points(signs[0].effect)} {better}."
    if main.in_points and not main.significant:
        return (
            f"No sign of memory that easier words would not leave: {_where(main.slice)}, {model} is {_points(effect)} "
            f"{better}, but that is about as much as words that are easier by the same log odds everywhere would give."
        )
    if effect.value > 0 and main.logit_p < ALPHA and (main.excess_p if main.excess else main.p) < ALPHA:
        return (
            f"A weak sign of memory: {_where(main.slice)}, {model} is {_points(effect)} {better}, "
            "but among so many comparisons chance may do as much."
        )
    missed = f"an advantage of up to {100 * effect.high:.1f} points could have been missed"
    if not effect.known or effect.high - effect.value > TOO_WIDE:
        reason = missed if effect.known else effect.note
        return f"Too few rows to say whether {model} remembers the published pairs: {reason}."
    if effect.high <= 0:
        missed = f"if anything it is worse there, by {-100 * effect.value:.1f} points"
    return f"No sign of memory: {_where(main.slice)}, {model} is not clearly {better}; {missed}."


def _where(name: str) -> str:
    heuristic = name.partition(CROSS)[0].replace("_", " ")
    special = {ALL_PAIRS: "over all pairs", WRONG: "where the heuristics are wrong"}
    return special.get(name, f"where {heuristic} is wrong")


def _points(effect: Estimate) -> str:
    return f"{100 * effect.value:.1f} points ({100 * effect.low:.1f} to {100 * effect.high:.1f})"


def can_show(reference: str | None) -> tuple[str, ...]:
    """What the contrasts can show."""
    general = (
        "The contrast 'both' shows whether the published words help on the published templates beyond what they do on "
        "novel ones, as training on the published files would make them.",
        "The contrast 'words' compares the same templates filled with other words, so templates cannot explain it.",
        "The contrast 'templates' shows whether the score holds when the sentences are built otherwise.",
    )
    excess = f"Differences of difficulty that {reference} meets as well fall away in the excess over it."
    return (*general, excess) if reference else general


def cannot_show(reference: str | None) -> tuple[str, ...]:
    """What the contrasts cannot show."""
    return (
        f"The excess speaks of the model only as far as {reference} is clean and otherwise finds the same hard."
        if reference
        else "Without a clean reference, familiar templates cannot be told from easier ones.",
        "Memory cannot be told from words that are more frequent, and so easier, in the published templates only. "
        "Words that are easier everywhere do not count as memory: the difference must hold in points and in log odds.",
        "Training on paraphrases of HANS or on data generated likewise raises all four cells and goes unseen.",
        "The pairs are drawn anew and hardly any is among the published: a model that learnt those by heart, and "
        "nothing from them about others, does not show. Score the published file itself for that.",
        "One list of fresh words and one set of novel templates were tried; others may give another difference.",
        "No sign is no proof that a model is clean.",
    )
