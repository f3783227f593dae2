"""What models know of words, beside the numbers of Glockner et al. (2018); and a table of all pairs of words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from acidtest.core.document import (
    Chart,
    Column,
    Document,
    Note,
    Part,
    Published,
    PValue,
    Reference,
    Row,
    Section,
    Slice,
    Table,
)
from acidtest.io.published import published_scores
from acidtest.studies.lexical import LexicalResult
from acidtest.studies.lexical.knowledge import COSINES, FREQUENCIES, BinnedAccuracy, BinScale, WordKnowledge
from acidtest.studies.lexical.memory import MemoryComparison
from acidtest.studies.lexical.rows import FRESH, TrainingCounts, VectorCoverage

ORIGINAL = "snli"
"""The name under which the paper's numbers on the original test set are kept."""

SCALES = {
    COSINES: ("by_cosine", "By how similar the two words are (cosine)", "5.2"),
    FREQUENCIES: ("by_frequency", "By how many training contradictions hold the two words", "5.3"),
}
"""For each measure the field of a result, its title, and the section of the paper."""

CHANCE = Reference(1 / 3, "chance (33 %)")
OUTSIDE = "not on the scale"

Accuracies = dict[str, dict[str, float]]
"""By system, and by value of a factor."""


def document(result: LexicalResult) -> Document:
    """Every set of pairs with all its models: categories, similarity, training frequency, drop; then memory."""
    suites = dict.fromkeys(one.suite for one in result.knowledge)
    sections = [_suite_section(suite, [one for one in result.knowledge if one.suite == suite]) for suite in suites]
    notes = [f"{note}." for note in result.notes]
    notes += [describe_training(result.train)] if result.train else []
    notes += [describe_vectors(result.vectors)] if result.vectors else []
    return Document(
        title="acidtest lexical",
        headline=_headline(result.knowledge),
        parts=(
            *sections,
            *(_memory_section(comparison) for comparison in result.memory),
            *(Note(note, quiet=True) for note in notes),
        ),
        models=tuple(dict.fromkeys(one.model for one in result.knowledge)),
        methods=(
            "Intervals along a measure are the wider of those over premises and over pairs of words. Trends are "
            "Cochran–Armitage's, with a variance robust to rows that share a premise or the two words.",
        ),
    )


def rows(result: LexicalResult) -> pl.DataFrame:
    """A row for each pair of words, with its measures and how often each model is right."""
    return result.pairs


def _headline(knowledge: Sequence[WordKnowledge]) -> str:
    first = knowledge[0]
    known = {name: value for name, value in first.categories.items() if value.known}
    same_suite = [one for one in knowledge if one.suite == first.suite]
    if len(same_suite) > 1:
        best, worst = (choose(same_suite, key=lambda one: one.overall.value) for choose in (max, min))
        accuracies = (f"{one.overall.value:.0%} ({one.model})" for one in (worst, best))
        return f"Accuracy on {first.suite} is from {' to '.join(accuracies)}."
    hardest = min(known, key=lambda name: known[name].value) if known else ""
    least = f", least on {hardest} ({known[hardest].value:.0%})" if hardest else ""
    return f"{first.model} is right in {first.overall.value:.0%} of {first.suite}{least}."


def _suite_section(suite: str, knowledge: Sequence[WordKnowledge]) -> Section:
    categories = _category_table(suite, knowledge)
    return Section(
        suite,
        (
            Note(f"{knowledge[0].overall.n:,} pairs in which one word of a sentence is replaced by another."),
            categories,
            Chart(categories.id, title=categories.caption, axis="accuracy", reference=CHANCE),
            *(part for scale in SCALES for part in _scale_parts(suite, scale, knowledge)),
            *_drop_parts(suite, knowledge),
        ),
    )


def _model_columns(knowledge: Sequence[WordKnowledge]) -> list[Column]:
    return [Column(one.model, model=one.model) for one in knowledge]


def _published_cells(published: Accuracies, name: str) -> list[Published | None]:
    return [Published(values[name]) if name in values else None for values in published.values()]


def _category_table(suite: str, knowledge: Sequence[WordKnowledge]) -> Table:
    """Table 4: the whole set and each category, the most frequent first."""
    whole, published = published_accuracies(suite), published_accuracies(suite, "category")
    by_category = {system: published.get(system, {}) for system in whole}
    names = dict.fromkeys(name for one in knowledge for name in one.categories)
    sizes = {name: max(one.categories[name].n for one in knowledge if name in one.categories) for name in names}
    total = (knowledge[0].overall.n, *(one.overall for one in knowledge), *_published_cells(whole, ""))
    table_rows = [Row("all", total, role="total", slice={} if suite == f"{FRESH}/*" else {"suite": suite})]
    for name in sorted(names, key=lambda name: -sizes[name]):
        cells = (sizes[name], *(one.categories.get(name) for one in knowledge), *_published_cells(by_category, name))
        table_rows.append(Row(name, cells, slice=_category_slice(suite, name)))
    columns = (
        Column("pairs", "count"),
        *_model_columns(knowledge),
        *(Column(system, role="published") for system in whole),
    )
    caption = "Accuracy by category, %, with 95 % intervals (table 4)"
    sources = _sources("table 4") if whole else ()
    return Table(f"{suite} categories", caption, columns, tuple(table_rows), "category", sources=sources)


def _sources(place: str) -> tuple[str, ...]:
    return f"Glockner et al. 2018, {place}", "systems trained on SNLI and asked the published pairs, no others"


def _category_slice(suite: str, category: str) -> Slice:
    if suite == f"{FRESH}/*":
        return {"suite": f"{FRESH}/{category}"}
    return {"suite": suite, "category": category}


def _scale_parts(suite: str, scale: BinScale, knowledge: Sequence[WordKnowledge]) -> Iterator[Part]:
    """A table with a row for each bin, its chart, and the trends; nothing where no model's rows have the measure."""
    field, title, section = SCALES[scale]
    measured = [one for one in knowledge if getattr(one, field)]
    binned: list[BinnedAccuracy] = [getattr(one, field) for one in measured]
    if not binned:
        return
    published = published_accuracies(suite, scale.column)
    table_rows = []
    for name in dict.fromkeys(name for one in binned for name in one.parts):
        bins = [one.parts.get(name) for one in binned]
        sizes = (max(part.accuracy.n for part in bins if part), max(part.pairs for part in bins if part))
        cells = (*sizes, *(part.accuracy if part else None for part in bins), *_published_cells(published, name))
        table_rows.append(Row(name.replace("-", "–"), cells, heading="" if name in scale.names else OUTSIDE))
    columns = (
        Column("pairs", "count"),
        Column("word pairs", "count"),
        *_model_columns(measured),
        *(Column(system, role="published") for system in published),
    )
    caption = f"{title}: accuracy on contradictions of single words, %, with 95 % intervals"
    sources = _sources(f"section {section}") if published else ()
    table = Table(f"{suite} {scale.column}", caption, columns, tuple(table_rows), scale.column, sources=sources)
    yield table
    yield Chart(table.id, title=title, axis="accuracy", reference=CHANCE)
    yield _trend_table(f"{table.id} trend", [one.model for one in measured], binned)


def _trend_table(name: str, models: Sequence[str], binned: Sequence[BinnedAccuracy]) -> Table:
    table_rows = tuple(
        Row(model, (one.trend.estimate, PValue(one.trend.p), PValue(one.trend.p_adjusted)))
        for model, one in zip(models, binned, strict=True)
    )
    columns = (Column("trend", "points"), Column("p", "p"), Column("adjusted p", "p"))
    notes = tuple(
        f"{model}: {one.trend.estimate.note}"
        for model, one in zip(models, binned, strict=True)
        if one.trend.estimate.note
    )
    return Table(
        name, "Change of accuracy from a bin to the next, in points", columns, table_rows, "model", notes=notes
    )


def _drop_parts(suite: str, knowledge: Sequence[WordKnowledge]) -> Iterator[Part]:
    """Table 3: accuracy on the original test set and here."""
    drops = [(one, one.drop) for one in knowledge if one.drop]
    if not drops:
        return
    table_rows = [
        Row(one.model, (drop.accuracy, one.overall, drop.difference, PValue(drop.p), PValue(drop.p_adjusted)))
        for one, drop in drops
    ]
    before, after = published_accuracies(ORIGINAL), published_accuracies(suite)
    for system in (name for name in before if name in after):
        old, new = before[system][""], after[system][""]
        difference = Published(round(new, 3) - round(old, 3))
        cells = (Published(old), Published(new), difference, None, None)
        table_rows.append(Row(f"{system}, SNLI", cells, role="published"))
    columns = (
        Column(drops[0][1].original),
        Column(suite),
        Column("difference", "points"),
        Column("p", "p"),
        Column("adjusted p", "p"),
    )
    caption = "Accuracy beside that on the original test set, %, with 95 % intervals (table 3)"
    notes = tuple(drop.note for _, drop in drops if drop.note)
    sources = _sources("table 3") if set(before) & set(after) else ()
    yield Table(f"{suite} drop", caption, columns, tuple(table_rows), "model", notes=notes, sources=sources)


def _memory_section(comparison: MemoryComparison) -> Section:
    """A model on published and fresh pairs, and what that does and does not show."""
    columns = [
        Column(comparison.published),
        Column(comparison.fresh),
        Column("difference", "points"),
        Column("adjusted p", "p"),
    ]
    columns += [Column("excess", "points"), Column("adjusted p of the excess", "p")] if comparison.reference else []
    table_rows = []
    for contrast in comparison.contrasts:
        cells = (contrast.published, contrast.fresh, contrast.difference, PValue(contrast.p_adjusted))
        excess = (contrast.excess, PValue(contrast.excess_p_adjusted)) if comparison.reference else ()
        table_rows.append(Row(contrast.slice, (*cells, *excess)))
    notes = []
    if comparison.reference:
        notes.append(f"excess: what is left beside the same difference of {comparison.reference}, pair by pair")
    if comparison.left_out:
        counts = ", ".join(f"{count:,} {side}" for side, count in comparison.left_out.items())
        notes.append(f"of categories and gold that one side has few pairs of, left out: {counts}")
    caption = "Accuracy on the categories and gold labels that both have, %, and the difference in points"
    table = Table(
        f"{comparison.model} {comparison.published} {comparison.fresh}",
        caption,
        tuple(columns),
        tuple(table_rows),
        "pairs",
        notes=tuple(notes),
    )
    limits = Section("What this cannot show", tuple(Note(line, quiet=True) for line in comparison.cannot))
    return Section(f"{comparison.model}: published and fresh pairs", (Note(comparison.verdict), table, limits))


def published_accuracies(suite: str, factor: str | None = None) -> Accuracies:
    """Accuracy of the systems that the paper trained on SNLI alone: by value of a factor, or of all under ``""``."""
    base = suite.partition(":")[0]
    accuracies: Accuracies = {}
    for score in published_scores(FRESH if base == f"{FRESH}/*" else base):
        trained_as_usual = not score.condition and "pairs" not in score.by
        if trained_as_usual and list(score.by) == ([factor] if factor else []):
            accuracies.setdefault(score.system, {})[score.by[factor] if factor else ""] = score.value
    return accuracies


def describe_training(train: TrainingCounts) -> str:
    """How frequent the replacement words are in a training set, and in the paper's."""
    text = f"Training set: {train.name}, {train.contradictions:,} contradictions among {train.examples:,} examples."
    if not train.rarest or not train.commonest:
        return text
    (rare, fewest), (common, most) = train.rarest, train.commonest
    published: Mapping[str, float] = {
        score.by["word"]: score.value
        for score in published_scores("breaking-nli")
        if score.by.get("pairs") == "training examples"
    }
    words = "1 single replacement word" if train.words == 1 else f"{train.words:,} single replacement words"
    return (
        f"{text} Its {words} stand in {fewest:,} ({rare}) to {most:,} "
        f"({common}) examples, mean {train.mean:,.1f}, median {train.median:,.1f}, {train.unseen:,} in none "
        f"(published: {published['rarest']:,.0f} to {published['commonest']:,.0f}, mean {published['mean']:,.1f}, "
        f"median {published['median']:,.1f})."
    )


def describe_vectors(vectors: VectorCoverage) -> str:
    """What words were compared by."""
    return f"Vectors: {vectors.name}, {vectors.size:,} words; {vectors.known:,} of {vectors.words:,} words have one."
