"""How well each layer of a model separates gold labels and categories of reasoning (Joshi et al. 2020, section 5)."""

from __future__ import annotations

import importlib
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import groupby
from typing import Annotated, Any, Literal

import numpy as np
import numpy.typing as npt
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
from acidtest.core.errors import AcidtestError, UnknownNameError
from acidtest.core.estimate import Estimate
from acidtest.core.study import study
from acidtest.core.suite import Card
from acidtest.pairs.taxonomy import CATEGORIES, node
from acidtest.stats.probes import (
    FOLDS,
    Codes,
    Matrix,
    Rows,
    accuracy_influences,
    clustered_estimate,
    group_folds,
    probe_accuracies,
    probe_scores,
    shuffle_test,
    shuffled_rows,
    silhouette_influences,
    silhouettes,
    smoothers,
)

PROBE, SILHOUETTE = MEASURES = ("probe", "silhouette")
ALPHA = 0.05
"""A layer is above its baseline if the corrected p is below this."""

FEWEST = 10
"""A target is measured only if at least this many groups have each value, and this many lack it."""

Floats = npt.NDArray[np.float64]
Progress = Callable[[int, int], None]

TargetKind = Literal["category", "group", "label", "factor"]
"""Category, group of categories, gold label, or another factor of the suite."""

Maps = npt.NDArray[np.float32]
"""float32[layers, n, 2]: the position of each pair on the map of each layer."""


@dataclass(frozen=True)
class Target:
    """What is to be recovered from a layer: a column of flags for each value, a single one for a category.

    A measure of a target with several columns is the mean over them, each value against all others.
    """

    name: str
    kind: TargetKind
    columns: npt.NDArray[np.bool_]
    n: int
    """Number of pairs that have the category, or any value of the label or factor."""


@dataclass(frozen=True)
class LayerScore(Estimate):
    """A measure of one target on one layer, and its baseline under shuffled labels.

    ``baseline`` is the mean over shuffles, with their middle 95 % as interval. ``p_adjusted`` is corrected for all
    targets and layers of the measure.
    """

    baseline: Estimate = field(default_factory=lambda: Estimate(math.nan, note="not measured"))
    p: float = math.nan
    p_adjusted: float = math.nan

    @property
    def is_above(self) -> bool:
        """Whether the measure is significantly above its baseline after correction."""
        return self.p_adjusted < ALPHA


@dataclass(frozen=True)
class LayerScores:
    """A measure of one target on every layer, by layer name.

    ``first`` is the first layer above its baseline, ``best`` the one with the highest value; None if there is none.
    """

    first: str | None
    best: str | None
    layers: Mapping[str, LayerScore]

    @classmethod
    def from_layers(cls, layers: Mapping[str, LayerScore]) -> LayerScores:
        """Scores by layer, with ``first`` and ``best`` computed from them."""
        known = {name: score.value for name, score in layers.items() if score.known}
        first = next((name for name, score in layers.items() if score.is_above), None)
        return cls(first, max(known, key=lambda name: known[name]) if known else None, layers)


@dataclass(frozen=True)
class TargetScores:
    """The measures of one target on all layers; ``n`` counts the pairs that have it, or any value of it."""

    name: str = field(metadata={"json": "target"})
    kind: TargetKind
    n: int
    probe: LayerScores
    silhouette: LayerScores

    def measure(self, name: str) -> LayerScores:
        """The scores of the named measure."""
        return self.probe if name == PROBE else self.silhouette


@dataclass(frozen=True)
class RepresentationsResult:
    """Measures of a model's layers on a suite; ``rows`` has the pairs in the order of the maps."""

    model: str
    suite: str
    signature: str
    layers: tuple[str, ...]
    width: int
    n: int
    groups: int
    """How many premises or other sources the pairs come from."""
    targets: tuple[TargetScores, ...]
    permutations: int
    folds: int
    seed: int
    notes: tuple[str, ...] = ()
    alpha: float = ALPHA
    schema: int = 1
    rows: pl.DataFrame | None = field(default=None, metadata={"json": None})
    categories: tuple[str, ...] = field(default=(), metadata={"json": None})
    factors: tuple[str, ...] = field(default=(), metadata={"json": None})
    maps: Maps | None = field(default=None, metadata={"json": None})
    perplexity: float = field(default=math.nan, metadata={"json": None})


@study()
def representations(
    layers: Annotated[Matrix, "float32[layers, n, width]: a vector for each row of the frame on each layer."],
    frame: pl.DataFrame,
    *,
    card: Card,
    model: str,
    names: Annotated[Sequence[str], "What the layers are called."],
    by: Sequence[str] = (),
    permutations: int = 199,
    seed: int = 0,
    progress: Progress = lambda done, total: None,
) -> RepresentationsResult:
    """Measure how well each layer tells the label, categories and factors apart, against shuffled labels."""
    if permutations < 1:
        raise AcidtestError(f"--permutations is a number from 1 on, not {permutations}")
    targets = find_targets(frame, card, by)
    groups = np.unique(frame["group"].to_numpy(), return_inverse=True)[1].astype(np.intp)
    scarce = {target.name: _describe_scarcity(target, groups) for target in targets}
    common = [target for target in targets if not scarce[target.name]]
    measured = _measure_layers(layers, common, groups, permutations, seed, progress) if common else {}
    scores = []
    for target in targets:
        by_measure = measured.get(target.name)
        if by_measure is None:
            missing = Estimate(math.nan, n=target.n, note=scarce[target.name])
            by_measure = dict.fromkeys(MEASURES, [LayerScore(**asdict(missing), baseline=missing)] * len(layers))
        probe, silhouette = (
            LayerScores.from_layers(dict(zip(names, by_measure[measure], strict=True))) for measure in MEASURES
        )
        scores.append(TargetScores(target.name, target.kind, target.n, probe, silhouette))
    categories = category_columns(frame)
    return RepresentationsResult(
        model=model,
        suite=card.name,
        signature=f"{card.signature}|model:{model}|permutations:{permutations}|folds:{FOLDS}|seed:{seed}",
        layers=tuple(names),
        width=layers.shape[2],
        n=frame.height,
        groups=frame["group"].n_unique(),
        targets=tuple(scores),
        permutations=permutations,
        folds=FOLDS,
        seed=seed,
        notes=tuple(f"{name}: {reason}" for name, reason in scarce.items() if reason),
        rows=frame,
        categories=categories,
        factors=tuple(name for name in card.factors if name not in categories),
    )


def _measure_layers(
    layers: Matrix, targets: Sequence[Target], groups: Codes, permutations: int, seed: int, progress: Progress
) -> dict[str, dict[str, list[LayerScore]]]:
    """Scores of every layer, by target and measure; all use the same folds and shuffles."""
    rng = np.random.default_rng([seed, 0])
    folds = group_folds(groups, rng)
    dealt = shuffled_rows(groups, permutations, rng)
    labels = np.concatenate([target.columns for target in targets], axis=1)
    sizes = np.array([target.columns.shape[1] for target in targets])
    methods = {
        PROBE: "DeLong, groups of pairs together, log odds",
        SILHOUETTE: "delta method, groups of pairs together",
    }

    def target_means(columns: Floats) -> Floats:
        sums = np.add.reduceat(columns, np.cumsum(sizes) - sizes, axis=0)
        return np.asarray(sums / sizes.reshape(-1, *[1] * (columns.ndim - 1)))

    draws: dict[str, list[Floats]] = {measure: [] for measure in MEASURES}
    estimates: dict[str, list[list[Estimate]]] = {measure: [] for measure in MEASURES}
    for number, layer in enumerate(layers):
        measures = _measure_columns(layer - layer.mean(axis=0), labels, groups, folds, dealt)
        for measure, (shuffled, values, influences) in measures.items():
            draws[measure].append(target_means(shuffled))
            means = zip(targets, target_means(values).tolist(), target_means(influences), strict=True)
            method, unit = methods[measure], measure == PROBE
            estimates[measure].append(
                [
                    clustered_estimate(value, influence, groups=groups, n=target.n, method=method, unit=unit)
                    for target, value, influence in means
                ]
            )
        progress(number + 1, len(layers))
    scores: dict[str, dict[str, list[LayerScore]]] = {target.name: {} for target in targets}
    for measure in MEASURES:
        test = shuffle_test(np.stack(draws[measure]))
        for number, target in enumerate(targets):
            scores[target.name][measure] = [
                LayerScore(
                    **asdict(by_target[number]),
                    baseline=test.baseline(layer, number),
                    p=float(test.p[layer, number]),
                    p_adjusted=float(test.p_adjusted[layer, number]),
                )
                for layer, by_target in enumerate(estimates[measure])
            ]
    return scores


def _measure_columns(
    layer: Matrix, labels: npt.NDArray[np.bool_], groups: Codes, folds: Codes, dealt: Rows
) -> dict[str, tuple[Floats, Floats, Floats]]:
    """For each measure and column of labels: the values under shuffles, the value, and each row's influence on it."""
    parts = smoothers(layer, folds)
    columns = zip(probe_scores(parts, labels).T, labels.T, strict=True)
    accuracies, placements = zip(*(accuracy_influences(*column, folds=folds) for column in columns), strict=True)
    values, influences = silhouette_influences(layer, groups, labels)
    return {
        PROBE: (probe_accuracies(parts, labels, dealt=dealt), np.array(accuracies), np.stack(placements)),
        SILHOUETTE: (silhouettes(layer, groups, labels=labels, dealt=dealt), values, influences.T),
    }


def category_columns(frame: pl.DataFrame) -> tuple[str, ...]:
    """The Boolean columns named after categories of the taxonomy, in the order of the taxonomy."""
    return tuple(name for name in CATEGORIES if name in frame.columns and frame[name].dtype == pl.Boolean)


def group_categories(categories: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """The given categories by the group of the taxonomy that they belong to."""
    groups: dict[str, tuple[str, ...]] = {}
    for name in categories:
        group = node(name).parent
        groups[group] = (*groups.get(group, ()), name)
    return groups


def find_targets(frame: pl.DataFrame, card: Card, by: Sequence[str] = ()) -> list[Target]:
    """The targets: the label, the categories, groups of at least two of these, and the factors named in ``by``."""
    categories = category_columns(frame)
    targets = [_factor(frame["label"], "label")]
    columns = {name: frame[name].fill_null(False).to_numpy() for name in categories}
    for group, members in group_categories(categories).items():
        if len(members) > 1:
            any_of = np.logical_or.reduce([columns[name] for name in members])
            targets.append(_flag_target(group, "group", any_of))
        targets += [_flag_target(name, "category", columns[name]) for name in members]
    for name in by:
        if name not in card.factors:
            raise UnknownNameError("factor", name, card.factors, f" (of suite {card.name!r})")
        targets += [] if name in categories else [_factor(frame[name], "factor")]
    return targets


def _describe_scarcity(target: Target, groups: npt.NDArray[np.intp]) -> str:
    """Why a target cannot be measured; empty if enough groups of pairs have each value, and enough lack it."""
    fewest = min((np.unique(groups[side]).size for column in target.columns.T for side in (column, ~column)), default=0)
    if fewest >= FEWEST:
        return ""
    few = f"only {describe_count(fewest, 'group')} of pairs on one side"
    return f"{few}; at least {FEWEST} are needed (a larger --limit may give them)"


def _flag_target(name: str, kind: TargetKind, flags: npt.NDArray[np.bool_]) -> Target:
    return Target(name, kind, flags[:, None], int(flags.sum()))


def _factor(values: pl.Series, kind: TargetKind) -> Target:
    """A target with a column for each value; a single column for two values, as the other is its complement."""
    texts = values.cast(pl.String)
    names = texts.drop_nulls().unique().sort().to_list()
    if len(names) > 50:
        raise AcidtestError(f"{values.name} has {len(names):,} values; at most 50 can be told apart")
    distinct = names[:1] if len(names) == 2 else names
    columns = [(texts == name).fill_null(False).to_numpy() for name in distinct]
    empty = np.zeros((values.len(), 0), dtype=np.bool_)
    return Target(values.name, kind, np.column_stack(columns) if columns else empty, texts.count())


def perplexity(n: int) -> float:
    """The t-SNE perplexity for ``n`` pairs: 30, or less for fewer than 91 pairs."""
    return min(30.0, (n - 1) / 3)


def layer_maps(layers: Matrix, *, seed: int = 0, progress: Progress = lambda done, total: None) -> Maps:
    """float32[layers, n, 2]: a t-SNE map of each layer, scaled to -1 to 1 and rotated to match the map before it.

    Every map is made by one thread, so that it depends on the seed and not on the number of processors; as many are
    made at a time as there are processors. Rotation preserves distances.
    """
    map_library("sklearn.manifold")
    n = layers.shape[1]
    if n < 5:
        raise AcidtestError(f"a map needs at least 5 pairs, not {n}")
    maps = np.empty((len(layers), n, 2), dtype=np.float32)
    # Limits OpenMP to one thread per thread of the pool; otherwise the threads of all maps wait for each other.
    limit = partial(map_library("threadpoolctl").threadpool_limits, 1, user_api="openmp")
    with ThreadPoolExecutor(min(len(layers), os.cpu_count() or 1), initializer=limit) as pool:
        tasks = {pool.submit(_layer_map, layer, seed): number for number, layer in enumerate(layers)}
        for done, task in enumerate(as_completed(tasks), 1):
            maps[tasks[task]] = task.result()
            progress(done, len(layers))
    for number in range(1, len(maps)):
        # Rotated, and mirrored if need be, to be as near as possible to the map before.
        left, _, right = np.linalg.svd(maps[number].T.astype(np.float64) @ maps[number - 1])
        maps[number] = maps[number] @ (left @ right)
    return maps


def principal_components(layer: Matrix) -> Matrix:
    """The first 50 principal components of a layer, signed so that the largest absolute score of each is positive.

    The rest is mostly noise and costs time.
    """
    centred = layer.astype(np.float64) - layer.mean(axis=0, dtype=np.float64)
    wide = centred.shape[1] > centred.shape[0]
    values, vectors = np.linalg.eigh(centred @ centred.T if wide else centred.T @ centred)
    kept = slice(-1, -min(50, values.size) - 1, -1)
    scores = vectors[:, kept] * np.sqrt(np.maximum(values[kept], 0)) if wide else centred @ vectors[:, kept]
    signs = np.sign(np.take_along_axis(scores, np.abs(scores).argmax(axis=0)[None], axis=0))
    return np.asarray(scores * np.where(signs == 0, 1, signs), dtype=np.float32)


def _layer_map(layer: Matrix, seed: int) -> Maps:
    points = principal_components(layer)
    spread = float(points[:, 0].std())
    if spread == 0:
        return np.zeros((len(points), 2), dtype=np.float32)
    start = np.zeros((len(points), 2), dtype=np.float32)
    start[:, : min(2, points.shape[1])] = points[:, :2] / spread * 1e-4
    tsne = map_library("sklearn.manifold").TSNE(
        init=start, perplexity=perplexity(len(points)), random_state=seed, n_jobs=1
    )
    positions = np.asarray(tsne.fit_transform(points), dtype=np.float32)
    positions -= positions.mean(axis=0)
    return np.asarray(positions / max(float(np.abs(positions).max()), 1e-12), dtype=np.float32)


def map_library(name: str) -> Any:
    """Import a module that maps need; if it is missing, the error says how to install it."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise AcidtestError(
            f"maps of layers need {error.name}; install it with: pip install 'acidtest[factors]' "
            f"(without -o and --plots the numbers need nothing more)"
        ) from error


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
