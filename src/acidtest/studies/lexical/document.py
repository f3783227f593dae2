"""Renders lexical knowledge as a document, next to the numbers of Glockner et al. (2018), and as a table of pairs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from acidtest.core.document import (
    Cell,
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
    Table,
    describe_count,
)
from acidtest.io.published import published_scores, published_systems
from acidtest.studies.lexical import LexicalResult, MemoryComparison
from acidtest.studies.lexical.knowledge import (
    COSINES,
    FREQUENCIES,
    FRESH,
    BinnedAccuracy,
    BinScale,
    TrainingCounts,
    WordKnowledge,
)

SCALES = {
    COSINES: ("by_cosine", "By how similar the two words are (cosine)", "5.2"),
    FREQUENCIES: ("by_frequency", "By how many training contradictions hold the two words", "5.3"),
}
"""For each measure, the field of ``WordKnowledge``, a title, and the section of the paper."""

CHANCE = Reference(1 / 3, "chance (33 %)")

Accuracies = Mapping[str, Mapping[str, Published]]
"""Published accuracy by system and value of a factor."""


def document(result: LexicalResult) -> Document:
    """A document with a section for each set (categories, similarity, frequency, drop), then sections on memory."""
    suites = dict.fromkeys(one.suite for one in result.knowledge)
    sections = [_suite_section(suite, [one for one in result.knowledge if one.suite == suite]) for suite in suites]
    notes = [f"{note}." for note in result.notes]
    notes += [describe_training(result.train)] if result.train else []
    if result.vectors:
        name, size, words, known = result.vectors.name, result.vectors.size, result.vectors.words, result.vectors.known
        notes.append(f"Vectors: {name}, {size:,} words; {known:,} of {words:,} words have one.")
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
    """A row for each word pair, with its measures and the number of rows that each model gets right."""
    return result.pairs


def _headline(knowledge: Sequence[WordKnowledge]) -> str:
    first = knowledge[0]
    same_suite = sorted((one for one in knowledge if one.suite == first.suite), key=lambda one: one.overall.value)
    if len(same_suite) > 1:
        accuracies = (f"{one.overall.value:.0%} ({one.model})" for one in (same_suite[0], same_suite[-1]))
        return f"Accuracy on {first.suite} is from {' to '.join(accuracies)}."
    known = {name: value.value for name, value in first.categories.items() if value.known}
    hardest = min(known, key=lambda name: known[name], default="")
    least = f", least on {hardest} ({known[hardest]:.0%})" if hardest else ""
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


def _columns(counts: Sequence[str], knowledge: Sequence[WordKnowledge], published: Accuracies) -> tuple[Column, ...]:
    """The columns of a table: counts, then models, then the paper's systems."""
    return (
        *(Column(name, "count") for name in counts),
        *(Column(one.model, model=one.model) for one in knowledge),
        *(Column(system, role="published") for system in published),
    )


def _category_table(suite: str, knowledge: Sequence[WordKnowledge]) -> Table:
    """Table 4: accuracy on the whole set and on each category, the most frequent first."""
    joined = suite == f"{FRESH}/*"
    whole, by_category = published_accuracies(suite), published_accuracies(suite, "category")
    sizes: dict[str, int] = {}
    for one in knowledge:
        for name, value in one.categories.items():
            sizes[name] = max(value.n, sizes.get(name, 0))
    accuracies = [one.overall for one in knowledge]
    total: tuple[Cell, ...] = (accuracies[0].n, *accuracies, *(values[""] for values in whole.values()))
    table_rows = [Row("all", total, role="total", slice={} if joined else {"suite": suite})]
    for name in sorted(sizes, key=lambda name: -sizes[name]):
        published = (by_category.get(system, {}).get(name) for system in whole)
        cells = (sizes[name], *(one.categories.get(name) for one in knowledge), *published)
        chosen = {"suite": f"{FRESH}/{name}"} if joined else {"suite": suite, "category": name}
        table_rows.append(Row(name, cells, slice=chosen))
    columns = _columns(["pairs"], knowledge, whole)
    caption = "Accuracy by category, %, with 95 % intervals (table 4)"
    sources = _sources("table 4") if whole else ()
    return Table(f"{suite} categories", caption, columns, tuple(table_rows), "category", sources=sources)


def _sources(place: str) -> tuple[str, ...]:
    return f"Glockner et al. 2018, {place}", "systems trained on SNLI and asked the published pairs, no others"


def _scale_parts(suite: str, scale: BinScale, knowledge: Sequence[WordKnowledge]) -> Iterator[Part]:
    """A table of accuracy by bin, its chart, and a table of trends; nothing if no model has the measure."""
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
        accuracies = (part.accuracy if part else None for part in bins)
        cells = (*sizes, *accuracies, *(values.get(name) for values in published.values()))
        heading = "" if name in scale.names else "not on the scale"
        table_rows.append(Row(name.replace("-", "–"), cells, heading=heading))
    table = Table(
        f"{suite} {scale.column}",
        f"{title}: accuracy on contradictions of single words, %, with 95 % intervals",
        _columns(["pairs", "word pairs"], measured, published),
        tuple(table_rows),
        scale.column,
        sources=_sources(f"section {section}") if published else (),
    )
    yield table
    yield Chart(table.id, title=title, axis="accuracy", reference=CHANCE)
    trends = {one.model: part.trend for one, part in zip(measured, binned, strict=True)}
    yield Table(
        f"{table.id} trend",
        "Change of accuracy from a bin to the next, in points",
        (Column("trend", "points"), Column("p", "p"), Column("adjusted p", "p")),
        tuple(
            Row(model, (trend.estimate, PValue(trend.p), PValue(trend.p_adjusted))) for model, trend in trends.items()
        ),
        "model",
        notes=tuple(f"{model}: {trend.estimate.note}" for model, trend in trends.items() if trend.estimate.note),
    )


def _drop_parts(suite: str, knowledge: Sequence[WordKnowledge]) -> Iterator[Part]:
    """Table 3: accuracy on the original test set and on this suite; nothing without an original."""
    drops = [(one, one.drop) for one in knowledge if one.drop]
    if not drops:
        return
    table_rows = [
        Row(one.model, (drop.accuracy, one.overall, drop.difference, PValue(drop.p), PValue(drop.p_adjusted)))
        for one, drop in drops
    ]
    before, after = published_accuracies("snli"), published_accuracies(suite)
    for system in (name for name in before if name in after):
        old, new = before[system][""], after[system][""]
        cells = (old, new, Published(round(new.value, 3) - round(old.value, 3)), None, None)
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
    """The verdict, table and limits of comparing one model on published and fresh pairs."""
    columns = [Column(comparison.published), Column(comparison.fresh), Column("difference", "points")]
    columns.append(Column("adjusted p", "p"))
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
    name = f"{comparison.model} {comparison.published} {comparison.fresh}"
    caption = "Accuracy on the categories and gold labels that both have, %, and the difference in points"
    table = Table(name, caption, tuple(columns), tuple(table_rows), "pairs", notes=tuple(notes))
    limits = Section("What this cannot show", tuple(Note(line, quiet=True) for line in comparison.cannot))
    return Section(f"{comparison.model}: published and fresh pairs", (Note(comparison.verdict), table, limits))


def published_accuracies(suite: str, factor: str | None = None) -> Accuracies:
    """Accuracy of the systems that the paper trained on SNLI alone, by value of a factor; ``""`` is the whole suite."""
    scores = published_scores(FRESH if suite == f"{FRESH}/*" else suite)
    return published_systems(scores, [factor] if factor else []).systems


def describe_training(train: TrainingCounts) -> str:
    """Sentences on how frequent the replacement words are in a training set, and in the paper's."""
    text = f"Training set: {train.name}, {train.contradictions:,} contradictions among {train.examples:,} examples."
    if not train.rarest or not train.commonest:
        return text
    (rare, fewest), (common, most) = train.rarest, train.commonest
    scores = [score for score in published_scores("breaking-nli") if score.by.get("pairs") == "training examples"]
    published = {score.by["word"]: score.value for score in scores}
    return (
        f"{text} Its {describe_count(train.words, 'single replacement word')} stand in {fewest:,} ({rare}) to {most:,} "
        f"({common}) examples, mean {train.mean:,.1f}, median {train.median:,.1f}, {train.unseen:,} in none "
        f"(published: {published['rarest']:,.0f} to {published['commonest']:,.0f}, mean {published['mean']:,.1f}, "
        f"median {published['median']:,.1f})."
    )
