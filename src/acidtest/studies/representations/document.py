"""Renders the measures of a model's layers as a document: tables, curves over the layers, and maps."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import groupby

import polars as pl

from acidtest.core.document import (
    Chart,
    Colouring,
    Column,
    Document,
    Map,
    MapLayer,
    Note,
    Part,
    PValue,
    Row,
    Section,
    Table,
    Unit,
    describe_count,
)
from acidtest.core.estimate import Estimate
from acidtest.studies.representations import (
    MEASURES,
    PROBE,
    SILHOUETTE,
    LayerScores,
    RepresentationsResult,
    TargetScores,
    group_categories,
)

HEADINGS = {PROBE: "Linear probes", SILHOUETTE: "Silhouettes"}

CAPTIONS = {
    PROBE: "of couples of pairs, one with and one without, the share told apart, in %; chance is 50",
    SILHOUETTE: "above 0, pairs that have it and pairs that do not lie nearer to their own kind",
}

_UNITS: dict[str, Unit] = {PROBE: "percent", SILHOUETTE: "number"}
_CHANCE = {PROBE: 0.5, SILHOUETTE: 0.0}

COLOURS = 16
"""Number of colours; a factor with more values is not offered for colouring."""


def document(result: RepresentationsResult) -> Document:
    """A document with maps, if there are any, then for each measure a table of all targets and a curve for each."""
    return Document(
        title="acidtest representations",
        headline=_headline(result),
        parts=(
            *_map_sections(result),
            *(_measure_section(result, measure) for measure in MEASURES),
            *(Note(f"{note}.", quiet=True) for note in result.notes),
        ),
        models=(result.model,),
        signatures={f"{result.suite}, {result.model}": result.signature},
        methods=tuple(_methods(result)),
    )


def _headline(result: RepresentationsResult) -> str:
    size = f"{describe_count(result.n, 'pair')} of {result.suite} from {describe_count(result.groups, 'group')}"
    above = [target for target in result.targets if target.probe.first]
    label = next((target.probe for target in result.targets if target.kind == "label"), None)
    where = f", the label first on {label.first}" if label and label.first else ""
    return (
        f"{result.model}, {describe_count(len(result.layers), 'layer')}, {size}: probes find {len(above)} of "
        f"{describe_count(len(result.targets), 'target')} above shuffled labels{where}."
    )


def _methods(result: RepresentationsResult) -> Iterator[str]:
    yield (
        "A pair's representation on a layer is what the model gives: for checkpoints of transformers the greatest "
        f"value over all tokens, joined with the first token's, {result.width:,} numbers in all"
    )
    yield (
        f"Probes are ridge regressions in {result.folds} folds; pairs of one group (one premise) are in one fold. "
        "Their accuracy is the share of couples of held-out pairs of one fold, one that has the category and one that "
        "does not, that the probe orders correctly (the area under the curve), however rare a category is"
    )
    yield (
        "Silhouettes compare a pair's mean distance to its own side, those that have the category or those that do "
        "not, with that to the other side, without pairs of its own group; the means of the two sides are averaged. Of "
        "a label or factor every value is measured against all others, and the mean is given"
    )
    yield (
        "Baseline: the labels of whole groups are shuffled among groups of the same size, "
        f"{describe_count(result.permutations, 'time')}, the same shuffles on every layer. Corrected p-values are of "
        f"the greatest of all targets and layers (Westfall and Young, maxT); above means below {result.alpha:g}"
    )
    if result.maps is not None:
        yield (
            f"Maps: t-SNE of the first 50 principal components, perplexity {result.perplexity:.3g}, seed {result.seed}"
            "; each map is turned to match the one before it"
        )


def _measure_section(result: RepresentationsResult, measure: str) -> Section:
    note = (
        f"Above is a layer whose measure exceeds shuffled labels, p < {result.alpha:g} after correction for all "
        "targets and layers. 97.5 % of shuffles are below the baseline on any layer."
    )
    if 1 / (result.permutations + 1) >= result.alpha:
        needed = math.floor(1 / result.alpha)
        note = (
            f"No layer can be significant: with {describe_count(result.permutations, 'shuffle')}, no p-value is below "
            f"{result.alpha:g}. Give --permutations {needed} or more (199 is the default). {note}"
        )
    curves = [_target_section(target, measure, number) for number, target in enumerate(result.targets, 1)]
    overview = _overview_table(result, measure)
    return Section(HEADINGS[measure], (overview, Note(note, quiet=True), *curves), anchor=measure)


def _overview_table(result: RepresentationsResult, measure: str) -> Table:
    """A table of one measure, with a row for each target and a column for each layer."""
    unit = _UNITS[measure]
    columns = (
        Column("pairs", "count"),
        *(Column(name, unit, model=result.model) for name in result.layers),
        Column("baseline at most", unit, role="control"),
        Column("above on", "text"),
        Column("highest", "text"),
    )
    headings = {"label": "Gold label", "factor": "Factors"}
    rows = []
    for target in result.targets:
        scores = target.measure(measure)
        highs = [score.baseline.high for score in scores.layers.values() if score.baseline.known]
        highest = max(highs) if highs else None
        cells = (target.n, *scores.layers.values(), highest, _describe_above(scores), scores.best or "–")
        rows.append(Row(target.name, cells, heading=headings.get(target.kind, "Categories and their groups")))
    return Table(f"{measure} by layer", f"{HEADINGS[measure]}: {CAPTIONS[measure]}", columns, tuple(rows), "target")


def _describe_above(scores: LayerScores) -> str:
    """The layers above their baselines, such as ``layer 2 to layer 5, layer 7``; a dash if there are none."""
    runs = [list(run) for above, run in groupby(scores.layers.items(), lambda item: item[1].is_above) if above]
    names = (f"{run[0][0]} to {run[-1][0]}" if len(run) > 1 else run[0][0] for run in runs)
    return ", ".join(names) or "–"


def _target_section(target: TargetScores, measure: str, number: int) -> Section:
    """A chart and a table of one target over the layers, with its baseline; a note if it was not measured."""
    scores, unit = target.measure(measure), _UNITS[measure]
    summary = f"first above: {scores.first or 'none'}; highest: {scores.best or 'none'}"
    parts: tuple[Part, ...] = (Note(f"{next(iter(scores.layers.values())).note}."),)
    if scores.best is not None:
        columns = (
            Column(target.name, unit),
            Column("baseline", unit, role="control"),
            Column("p", "p"),
            Column("corrected p", "p"),
            Column("name", "text"),
        )
        rows = [
            Row(str(layer), (score, score.baseline, PValue(score.p), PValue(score.p_adjusted), name))
            for layer, (name, score) in enumerate(scores.layers.items())
        ]
        rows.append(Row("chance", (Estimate(_CHANCE[measure]), None, None, None, ""), role="control"))
        caption = f"{HEADINGS[measure]}, {target.name}, layer by layer, with 95 % intervals; dashed: chance"
        table = Table(f"{measure} {target.name}", caption, columns, tuple(rows), "layer")
        parts = (Chart(table.id, "line", (target.name, "baseline"), title=caption, axis="layer"), table)
    return Section(target.name, parts, anchor=f"{measure}-{number}", folded=True, summary=summary)


def _map_sections(result: RepresentationsResult) -> Iterator[Section]:
    if result.maps is None or result.rows is None:
        return
    explanation = (
        "Every point is a pair; points that lie together have similar representations on that layer. A map shows which "
        "pairs are near each other, not how far apart groups lie: for that, see the numbers below."
    )
    layers = tuple(
        MapLayer(name, tuple((x, y) for x, y in positions.tolist()))
        for name, positions in zip(result.layers, result.maps, strict=True)
    )
    texts = {side: tuple(result.rows[side].to_list()) for side in ("premise", "hypothesis")}
    maps = Map("maps", "Maps of layers", layers, tuple(_colourings(result, result.rows)), texts)
    yield Section("Maps of layers", (maps,), anchor="layers", summary=explanation)


def _colourings(result: RepresentationsResult, rows: pl.DataFrame) -> Iterator[Colouring]:
    if result.categories:
        members = group_categories(result.categories)
        groups = {group: pl.any_horizontal(pl.col(names).fill_null(False)) for group, names in members.items()}
        yield _flag_colouring("groups", rows.select(**groups))
        yield _flag_colouring("categories", rows.select(pl.col(result.categories).fill_null(False)))
    for name in ("label", *result.factors):
        values = rows[name].cast(pl.String)
        if 1 < values.drop_nulls().n_unique() <= COLOURS:
            yield Colouring(name, tuple(() if value is None else (value,) for value in values))


def _flag_colouring(name: str, flags: pl.DataFrame) -> Colouring:
    """A colouring by Boolean columns: each point has the names of its true columns."""
    values = (tuple(key for key, holds in row.items() if holds) for row in flags.iter_rows(named=True))
    return Colouring(name, tuple(values))
