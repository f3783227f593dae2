"""What a model's layers hold of gold labels and categories of reasoning, in numbers (Joshi et al. 2020, section 5)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.errors import AcidtestError
from acidtest.core.estimate import Estimate
from acidtest.core.study import study
from acidtest.core.suite import Card
from acidtest.stats.probes import (
    FOLDS,
    Codes,
    Matrix,
    Rows,
    ShuffleTest,
    Smoother,
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
from acidtest.studies.representations.results import (
    MEASURES,
    PROBE,
    SILHOUETTE,
    LayerScore,
    LayerScores,
    RepresentationsResult,
    TargetScores,
)
from acidtest.studies.representations.targets import Target, category_columns, describe_scarcity, find_targets

PERMUTATIONS = 199

METHODS = {
    PROBE: "DeLong, groups of pairs together, log odds",
    SILHOUETTE: "delta method, groups of pairs together",
}

Progress = Callable[[int, int], None]


@study()
def representations(
    layers: Annotated[Matrix, "float32[layers, n, width]: a vector for each row of the frame on each layer."],
    frame: pl.DataFrame,
    *,
    card: Card,
    model: str,
    names: Annotated[Sequence[str], "What the layers are called."],
    by: Sequence[str] = (),
    permutations: int = PERMUTATIONS,
    seed: int = 0,
    progress: Progress | None = None,
) -> RepresentationsResult:
    """Measure how well each layer tells the label, categories and factors apart, against shuffled labels."""
    if permutations < 1:
        raise AcidtestError(f"--permutations is a number from 1 on, not {permutations}")
    targets = find_targets(frame, card, by)
    groups = np.unique(frame["group"].to_numpy(), return_inverse=True)[1].astype(np.intp)
    scarce = {target.name: describe_scarcity(target, groups) for target in targets}
    common = [target for target in targets if not scarce[target.name]]
    measured = _Probing(common, groups, permutations, seed).measure(layers, progress) if common else {}
    scores = []
    for target in targets:
        by_measure = measured.get(target.name) or _without_scores(scarce[target.name], target.n, len(layers))
        named = {
            measure: LayerScores.from_layers(dict(zip(names, by_measure[measure], strict=True))) for measure in MEASURES
        }
        scores.append(TargetScores(target.name, target.kind, target.n, named[PROBE], named[SILHOUETTE]))
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


class _Probing:
    """Targets, groups, folds and shuffles, the same for all layers."""

    def __init__(self, targets: Sequence[Target], groups: Codes, permutations: int, seed: int) -> None:
        rng = np.random.default_rng([seed, 0])
        self.targets, self.groups = targets, groups
        self.folds = group_folds(groups, rng)
        self.shuffled: Rows = shuffled_rows(groups, permutations, rng)
        self.labels: npt.NDArray[np.bool_] = np.concatenate([target.columns for target in targets], axis=1)
        self.ends = np.cumsum([0, *(target.columns.shape[1] for target in targets)])

    def measure(self, layers: Matrix, progress: Progress | None) -> dict[str, dict[str, list[LayerScore]]]:
        """For each target and measure a score for each layer."""
        draws: dict[str, list[npt.NDArray[np.float64]]] = {measure: [] for measure in MEASURES}
        estimates: dict[str, list[list[Estimate]]] = {measure: [] for measure in MEASURES}
        for number, layer in enumerate(layers):
            centred = layer - layer.mean(axis=0)
            parts = smoothers(centred, self.folds)
            draws[PROBE].append(self._target_means(probe_accuracies(parts, self.labels, dealt=self.shuffled)))
            estimates[PROBE].append(self._probe_estimates(parts))
            shuffled = silhouettes(centred, self.groups, labels=self.labels, dealt=self.shuffled)
            draws[SILHOUETTE].append(self._target_means(shuffled))
            estimates[SILHOUETTE].append(self._silhouette_estimates(centred))
            if progress is not None:
                progress(number + 1, len(layers))
        tests = {measure: shuffle_test(np.stack(values)) for measure, values in draws.items()}
        return {
            target.name: {
                measure: [
                    _layer_score(estimates[measure][layer][number], tests[measure], layer, number)
                    for layer in range(len(layers))
                ]
                for measure in MEASURES
            }
            for number, target in enumerate(self.targets)
        }

    def _target_means(self, columns: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """For each target the mean of its columns."""
        pairs = zip(self.ends[:-1], self.ends[1:], strict=True)
        return np.stack([columns[start:stop].mean(axis=0) for start, stop in pairs])

    def _probe_estimates(self, parts: Sequence[Smoother]) -> list[Estimate]:
        scores = probe_scores(parts, self.labels)
        accuracies = [
            accuracy_influences(scores[:, column], self.labels[:, column], folds=self.folds)
            for column in range(self.labels.shape[1])
        ]
        influences = np.stack([influence for _, influence in accuracies])
        return self._estimates([value for value, _ in accuracies], influences, PROBE)

    def _silhouette_estimates(self, layer: Matrix) -> list[Estimate]:
        values, influences = silhouette_influences(layer, self.groups, self.labels)
        return self._estimates(values.tolist(), influences.T, SILHOUETTE)

    def _estimates(self, values: list[float], influences: npt.NDArray[np.float64], measure: str) -> list[Estimate]:
        estimates = []
        for number, target in enumerate(self.targets):
            columns = slice(self.ends[number], self.ends[number + 1])
            estimates.append(
                clustered_estimate(
                    float(np.mean(values[columns])),
                    influences[columns].mean(axis=0),
                    groups=self.groups,
                    n=target.n,
                    method=METHODS[measure],
                    unit=measure == PROBE,
                )
            )
        return estimates


def _layer_score(estimate: Estimate, test: ShuffleTest, layer: int, number: int) -> LayerScore:
    return LayerScore(
        estimate.value,
        estimate.low,
        estimate.high,
        estimate.n,
        estimate.groups,
        estimate.method,
        estimate.note,
        baseline=test.baseline(layer, number),
        p=float(test.p[layer, number]),
        p_adjusted=float(test.p_adjusted[layer, number]),
    )


def _without_scores(reason: str, n: int, layers: int) -> dict[str, list[LayerScore]]:
    missing = Estimate(float("nan"), n=n, note=reason)
    score = LayerScore(float("nan"), n=n, note=reason, baseline=missing)
    return {measure: [score] * layers for measure in MEASURES}
