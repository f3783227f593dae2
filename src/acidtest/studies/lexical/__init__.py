"""Lexical knowledge: accuracy by category, by similarity of two words, and by their frequency in contradictions.

Follows Glockner et al. (2018): table 3 (the drop from the original test set), table 4 (categories), sections 5.2 and
5.3. As there, similarity and frequency are analysed on contradictions in which one single word replaces another.

A model that was asked both fresh and published pairs is compared on the two, to see whether having seen Breaking NLI
may have raised its score. The rows differ, so the test is unpaired. The comparison is within category and gold label,
since fresh categories have entailed and neutral pairs, of which the published ones have hardly any.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
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
from acidtest.core.errors import AcidtestError
from acidtest.core.estimate import Estimate
from acidtest.core.logs import stage
from acidtest.core.run import Run
from acidtest.core.study import study
from acidtest.core.suite import Suite
from acidtest.io.published import published_scores, published_systems
from acidtest.io.wordlists import packaged_table
from acidtest.pairs.categories import CATEGORY
from acidtest.stats.clusters import Clusterings, weighted_difference
from acidtest.stats.significance import correct_with_excess
from acidtest.studies.lexical.knowledge import (
    COSINES,
    FREQUENCIES,
    FREQUENCY,
    FRESH,
    LEXICAL,
    MEASURES,
    PUBLISHED,
    BinnedAccuracy,
    BinScale,
    LexicalRows,
    TrainingCounts,
    VectorCoverage,
    WordKnowledge,
    accuracy_drop,
    adjust_tests,
    lexical_rows,
    measure,
    pair_key,
    suite_names,
    word_knowledge,
)
from acidtest.studies.scoring.rows import SAME_ROWS, WORDS, require_one_collapse, runs_by_model

CELL = (CATEGORY, "label")
"""Published and fresh rows are compared within cells of equal values in these columns."""

ALPHA = 0.05
LEAST_ROWS = 10
"""A cell with fewer rows than this on either side is left out."""

ALIKE, AS_PUBLISHED = "all categories alike", "all, sized as published"
"""Two ways to weight categories in the total; within a category, gold labels are weighted as in the published set."""


@dataclass(frozen=True)
class MemoryContrast:
    """Accuracy on published pairs minus that on fresh ones, for all categories together or for one.

    ``excess`` is that difference minus the reference model's on the same rows.
    """

    slice: str
    published: float
    fresh: float
    difference: Estimate
    test: str
    p: float
    p_adjusted: float = math.nan
    excess: Estimate | None = None
    excess_p: float = math.nan
    excess_p_adjusted: float = math.nan


@dataclass(frozen=True)
class MemoryComparison:
    """Comparison of one model on published and fresh pairs, and what it does and does not show."""

    model: str
    published: str
    fresh: str
    contrasts: tuple[MemoryContrast, ...]
    left_out: Mapping[str, int]
    verdict: str
    reference: str | None = None

    json_properties = ("can", "cannot")

    @property
    def can(self) -> tuple[str, ...]:
        """What the comparison shows."""
        return (
            "A difference shows whether the score holds on other words in other premises, category by category.",
            "Gold weighs the same on both sides: one that leans to contradiction gains nothing by the published set.",
        )

    @property
    def cannot(self) -> tuple[str, ...]:
        """What the comparison does not show."""
        without_reference = (
            "Memory cannot be told from published words that are easier: give acidtest lexical runs of a model known "
            "to be clean (--reference)."
        )
        return (
            *([] if self.reference else [without_reference]),
            "The published pairs were checked by people; fresh labels rest on word lists and on SNLI's one-event "
            "convention.",
            "Training on data made in the same way raises both sides and goes unseen. No sign is no proof that it is "
            "clean.",
        )


@dataclass(frozen=True)
class LexicalResult:
    """Lexical knowledge of the models; ``pairs`` has a row for each word pair, label and category of each set."""

    knowledge: tuple[WordKnowledge, ...] = field(metadata={"json": "results"})
    memory: tuple[MemoryComparison, ...] = ()
    train: TrainingCounts | None = None
    vectors: VectorCoverage | None = None
    notes: tuple[str, ...] = ()
    pairs: pl.DataFrame = field(default_factory=pl.DataFrame, metadata={"json": None})
    schema: int = 1


@study(group="look into a run", applies=LEXICAL)
def lexical(
    runs: Annotated[Sequence[Run], "Run folders with lexical suites or the published Breaking NLI."],
    *,
    train: Annotated[Suite | None, "A training set, to count pairs of words in its contradictions."] = None,
    embeddings: Annotated[Path | None, "Word vectors: GloVe or word2vec text, .json or .npz."] = None,
    original: Annotated[str | None, "A suite of the runs to compare with, such as snli_1.0_test."] = None,
    reference: Annotated[
        Sequence[Run], "A run of a model that has not seen the published pairs; may be repeated."
    ] = (),
    correction: Annotated[
        Literal["holm", "bh", "by", "none"], "holm, bh (Benjamini–Hochberg), by (Benjamini–Yekutieli) or none."
    ] = "holm",
    seed: Annotated[int, "Seed of every random choice."] = 0,
) -> LexicalResult:
    """Show which categories of words models know, and whether similarity or training frequency explains it.

    A model asked fresh (lexical) and published pairs (breaking-nli) is compared on the two. With -o FILE.tsv all pairs
    of words are written.
    """
    # Without a training set or vectors, the measures stored in the suites are used. All trends are one family of
    # tests, all drops another.
    require_one_collapse([*runs, *reference])
    models = runs_by_model(runs)
    loaded = [rows for model, members in models.items() for rows in lexical_rows(model, members)]
    if not loaded:
        names = "; ".join(f"{model}: {', '.join(suite_names(members))}" for model, members in models.items())
        raise AcidtestError(f"none of the runs has a suite lexical, lexical/… or breaking-nli ({names or 'no runs'})")
    stage("looking at pairs of words")
    sets, counts, vectors = measure(loaded, train, embeddings)
    drops = [accuracy_drop(rows, models, original, seed) if original else None for rows in sets]
    knowledge = [word_knowledge(rows, drop) for rows, drop in zip(sets, drops, strict=True)]
    unclear = {rows.name: rows.frame[WORDS[0]].null_count() for rows in sets}
    return LexicalResult(
        knowledge=adjust_tests(knowledge, correction),
        memory=compare_memory(sets, reference=_reference_rows(reference, models), correction=correction),
        train=counts,
        vectors=vectors,
        notes=tuple(
            f"{name}: in {count:,} pairs no one word or expression is replaced by another"
            for name, count in unclear.items()
            if count
        ),
        pairs=_pair_table(sets),
    )


def _reference_rows(reference: Sequence[Run], models: Mapping[str, Sequence[Run]]) -> list[LexicalRows]:
    """The answers of the reference, which must be one model other than those tested."""
    by_model = runs_by_model(reference)
    if len(by_model) > 1:
        raise AcidtestError(f"the reference is of several models: {', '.join(by_model)}; pass runs of one")
    tested = {run.header.model.signature for members in models.values() for run in members}
    for model, members in by_model.items():
        if tested & {run.header.model.signature for run in members}:
            raise AcidtestError(f"the reference is {model!r} itself; pass runs of another model, known to be clean")
    return [rows for model, members in by_model.items() for rows in lexical_rows(model, members)]


def _pair_table(sets: Sequence[LexicalRows]) -> pl.DataFrame:
    """A row for each word pair, label and category of each set: number of rows, and how many each model gets right."""
    keys = ["suite", CATEGORY, "label", *WORDS]
    rows = pl.concat(
        [one.frame.drop_nulls(WORDS).with_columns(suite=pl.lit(one.name), model=pl.lit(one.model)) for one in sets],
        how="diagonal_relaxed",
    )
    measures = [name for name in MEASURES if name in rows.columns]
    counts = rows.group_by([*keys, "model"], maintain_order=True).agg(
        pl.col(measures).first(), pl.len().cast(pl.Int64).alias("rows"), right=pl.col("correct").sum().cast(pl.Int64)
    )
    models = dict.fromkeys(one.model for one in sets)
    right = {f"right: {name}": pl.col("right").filter(pl.col("model") == name).first() for name in models}
    # Models share the rows of a set, though some may have fewer: take the largest count.
    table = counts.group_by(keys, maintain_order=True).agg(pl.col(*measures, "rows").max(), **right)
    table = table.with_columns(pl.col(name).cast(pl.Int64) for name in measures if name == FREQUENCY)
    return table.sort("suite", "rows", *WORDS, descending=[False, True, False, False], nulls_last=True)


def compare_memory(
    sets: Sequence[LexicalRows], *, reference: Sequence[LexicalRows] = (), correction: str = "holm"
) -> tuple[MemoryComparison, ...]:
    """Compare published with fresh pairs for each model that was asked both; a model's p-values are one family.

    ``reference`` has the answers of a model known not to have seen the pairs; it shows how much easier the words are.
    """

    def sets_of(base: str) -> list[LexicalRows]:
        return [rows for rows in sets if re.split("[:/]", rows.name)[0] == base]

    clean = {rows.name: rows for rows in reference}
    comparisons = [
        _compare_sets(_add_reference(first, clean), _add_reference(second, clean), correction)
        for first in sets_of(PUBLISHED)
        for second in sets_of(FRESH)
        if first.model == second.model
    ]
    name = reference[0].model if reference else None
    return tuple(replace(comparison, reference=name) for comparison in comparisons if comparison is not None)


def _add_reference(rows: LexicalRows, clean: Mapping[str, LexicalRows]) -> LexicalRows:
    """The rows that the reference has too, with a column ``better``: correct minus the reference's correct."""
    if not clean:
        return rows
    if rows.name not in clean:
        raise AcidtestError(f"the reference was not asked {rows.name!r}; run it on the same suites as {rows.model}")
    question = ("id", "premise", "label")
    other = clean[rows.name].frame.select(*question, other="correct")
    both = rows.frame.join(other, on=question, maintain_order="left")
    if both.height < SAME_ROWS * rows.frame.height:
        raise AcidtestError(f"the reference was asked other pairs of {rows.name!r}; run it on the same file or seed")
    better = pl.col("correct").cast(pl.Int8) - pl.col("other").cast(pl.Int8)
    return replace(rows, frame=both.with_columns(better=better))


def _compare_sets(published: LexicalRows, fresh: LexicalRows, correction: str) -> MemoryComparison | None:
    """Compare two sets; None if no cell has at least ``LEAST_ROWS`` rows in both."""
    rows = pl.concat([_select_side(published, "published"), _select_side(fresh, "fresh")])
    counts = rows.group_by(CELL, maintain_order=True).agg(
        published=(pl.col("side") == "published").sum(), fresh=(pl.col("side") == "fresh").sum()
    )
    cells = counts.filter(pl.min_horizontal("published", "fresh") >= LEAST_ROWS)
    if not cells.height:
        return None
    contrasts = [_contrast(name, rows, cells.with_columns(weight)) for name, weight in _cell_weights(cells).items()]
    corrected = correct_with_excess(contrasts, correction)
    alone = rows.join(cells, on=CELL, how="anti")
    left_out = {str(side): n for side, n in alone["side"].value_counts(sort=True).iter_rows()}
    verdict = _describe_memory(published.model, corrected[0])
    return MemoryComparison(published.model, published.name, fresh.name, corrected, left_out, verdict)


def _cell_weights(cells: pl.DataFrame) -> dict[str, pl.Expr]:
    """The weight of each cell in each contrast: all categories weighted in two ways, and each category alone."""
    size, category = pl.col("published"), pl.col(CATEGORY)
    weights = {
        ALIKE: size / size.sum().over(CATEGORY) / category.n_unique(),
        AS_PUBLISHED: size / size.sum(),
    }
    for name in cells[CATEGORY].unique(maintain_order=True):
        weights[name] = size * (category == name) / size.filter(category == name).sum()
    return {name: weight.alias("weight") for name, weight in weights.items()}


def _select_side(rows: LexicalRows, side: str) -> pl.DataFrame:
    """The columns to compare, with published names of categories; rows without a category are left out."""
    table = packaged_table("lexical/published_names.tsv").select("category", "published")
    names = dict(table.iter_rows()) if side == "fresh" else {}
    return rows.frame.drop_nulls(CATEGORY).select(
        "premise",
        pl.col(CATEGORY).cast(pl.String).replace(names),
        pl.col("label").cast(pl.String),
        "correct",
        *(["better"] if "better" in rows.frame.columns else []),
        side=pl.lit(side),
        # Rows with unknown words are each a word pair of their own.
        pair=pl.coalesce(pair_key(), pl.concat_str(pl.lit(f"{side} "), pl.int_range(pl.len()))),
    )


def _contrast(name: str, rows: pl.DataFrame, cells: pl.DataFrame) -> MemoryContrast:
    """The weighted difference between published and fresh cells, and the excess if there is a reference."""
    used = cells.filter(pl.col("weight") > 0).with_row_index("place")
    chosen = rows.join(used.select(*CELL, "place"), on=CELL, maintain_order="left")
    place, weights = chosen["place"].to_numpy().astype(np.int64), used["weight"].to_numpy()
    cell = np.where((chosen["side"] == "published").to_numpy(), place, place + used.height)
    signed = np.concatenate([weights, -weights])
    correct = chosen["correct"].to_numpy().astype(np.float64)
    clusterings = Clusterings.of(chosen["premise"], chosen["pair"])
    means = np.bincount(cell, correct, minlength=len(signed)) / np.bincount(cell, minlength=len(signed))
    published, fresh = (float(weights @ part) for part in np.split(means, 2))
    effect = weighted_difference(correct, cell, signed.tolist(), clusterings)
    contrast = MemoryContrast(name, published, fresh, _clip(effect.estimate, 1.0), effect.test, effect.p)
    if "better" not in chosen.columns:
        return contrast
    excess = weighted_difference(chosen["better"].to_numpy(), cell, signed.tolist(), clusterings)
    return replace(contrast, excess=_clip(excess.estimate, 2.0), excess_p=excess.p)


def _clip(change: Estimate, most: float) -> Estimate:
    """The estimate with its interval clipped to ±``most``."""
    # Without an interval, the comparison with NaN leaves its ends NaN.
    return replace(change, low=max(change.low, -most), high=min(change.high, most))


def _describe_memory(model: str, main: MemoryContrast) -> str:
    """A sentence on signs of memory, judged by the excess if there is a reference, else by the difference."""
    change, p = (main.excess, main.excess_p_adjusted) if main.excess else (main.difference, main.p_adjusted)
    if not change.known or math.isnan(change.low):
        return f"Too few rows to say whether {model} does better on the published pairs: {change.note}."
    beside = " beyond the same difference of the reference" if main.excess else ""
    compared = f"on the published pairs than on fresh ones of the same categories{beside}, with {ALIKE}"
    size = f"{100 * abs(change.value):.1f} points ({100 * change.low:+.1f} to {100 * change.high:+.1f})"
    if p < ALPHA and change.value > 0:
        easier = "the published words are easier for it than for the reference"
        why = f"it has seen them, or {easier}" if main.excess else "it has seen them, or their words are easier"
        return f"{model} is {size} better {compared}: {why}."
    if p < ALPHA:
        return f"No sign of memory: {model} is {size} worse {compared}."
    missed = f"an advantage of up to {100 * max(change.high, 0):.1f} points could have been missed"
    return f"No sign of memory: {model} is not clearly better {compared} ({100 * change.value:+.1f} points); {missed}."


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
