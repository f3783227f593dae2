"""What a model's layers hold of gold labels and categories of reasoning, in numbers (Joshi et al. 2020, section 5)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.errors import AcidtestError
from acidtest.core.estimate import Estimate
from acidtest.core.suite import Card
from acidtest.stats.probes import (
    FOLDS,
    Codes,
    Matrix,
    Smoother,
    accuracy_influences,
    group_folds,
    probe_accuracies,
    probe_scores,
    smoothers,
)
from acidtest.stats.shuffles import Judged, Rows, clustered, judged, shuffled_rows
from acidtest.stats.silhouettes import silhouette_influences, silhouettes
from acidtest.studies.representation_results import MEASURES, PROBE, SILHOUETTE, Contrast, Representations, Trace
from acidtest.studies.representation_targets import Target, categories_in, scarcity, targets_of

PERMUTATIONS = 199
ALPHA = 0.05

METHODS = {
    PROBE: "DeLong, groups of pairs together, log odds",
    SILHOUETTE: "delta method, groups of pairs together",
}

Progress = Callable[[int, int], None]


def representations(
    layers: Matrix,
    frame: pl.DataFrame,
    *,
    card: Card,
    model: str,
    names: Sequence[str],
    by: Sequence[str] = (),
    permutations: int = PERMUTATIONS,
    seed: int = 0,
    progress: Progress | None = None,
) -> Representations:
    """How well each layer tells the label, categories and factors apart, against labels dealt anew.

    ``layers`` is float32[layers, n, width] for the rows of ``frame``, ``names`` what the layers are called. Maps are
    made apart, by ``layer_maps``.
    """
    if permutations < 1:
        raise AcidtestError(f"--permutations is a number from 1 on, not {permutations}")
    targets = targets_of(frame, card, by)
    groups = np.unique(frame["group"].to_numpy(), return_inverse=True)[1].astype(np.intp)
    scarce = {target.name: scarcity(target, groups) for target in targets}
    kept = [target for target in targets if not scarce[target.name]]
    study = _Study(kept, groups, permutations, seed)
    found: list[dict[str, list[Contrast]]] = []
    if kept:
        found = study.measured(layers, progress)
    unmeasured = {name: why for name, why in scarce.items() if why}
    traces = []
    for target in targets:
        why = scarce[target.name]
        contrasts = _missing(why, target.n, len(layers)) if why else found[kept.index(target)]
        measures = {measure: tuple(contrasts[measure]) for measure in MEASURES}
        traces.append(Trace(target.name, target.kind, target.n, measures))
    return Representations(
        model=model,
        suite=card.name,
        signature=f"{card.signature}|model:{model}|permutations:{permutations}|folds:{FOLDS}|seed:{seed}",
        layers=tuple(names),
        width=layers.shape[2],
        traces=tuple(traces),
        permutations=permutations,
        folds=FOLDS,
        alpha=ALPHA,
        seed=seed,
        rows=frame,
        categories=categories_in(frame),
        factors=tuple(name for name in card.factors if name not in categories_in(frame)),
        notes=tuple(f"{name}: {why}" for name, why in unmeasured.items()),
    )


class _Study:
    """Targets, groups, folds and deals, the same for all layers."""

    def __init__(self, targets: Sequence[Target], groups: Codes, permutations: int, seed: int) -> None:
        rng = np.random.default_rng([seed, 0])
        self.targets, self.groups = targets, groups
        self.folds = group_folds(groups, rng)
        self.dealt: Rows = shuffled_rows(groups, permutations, rng)
        wide = np.concatenate([target.columns for target in targets], axis=1) if targets else np.zeros((0, 0))
        self.labels: npt.NDArray[np.bool_] = wide.astype(np.bool_)
        self.ends = np.cumsum([0, *(target.columns.shape[1] for target in targets)])

    def measured(self, layers: Matrix, progress: Progress | None) -> list[dict[str, list[Contrast]]]:
        """For each target and measure a contrast for each layer."""
        draws: dict[str, list[npt.NDArray[np.float64]]] = {measure: [] for measure in MEASURES}
        estimates: dict[str, list[list[Estimate]]] = {measure: [] for measure in MEASURES}
        for place, layer in enumerate(layers):
            centred = layer - layer.mean(axis=0)
            parts = smoothers(centred, self.folds)
            draws[PROBE].append(self._means(probe_accuracies(parts, self.labels, dealt=self.dealt)))
            estimates[PROBE].append(self._probed(parts))
            lain = silhouettes(centred, self.groups, labels=self.labels, dealt=self.dealt)
            draws[SILHOUETTE].append(self._means(lain))
            estimates[SILHOUETTE].append(self._lain(centred))
            if progress is not None:
                progress(place + 1, len(layers))
        verdicts = {measure: judged(np.stack(values)) for measure, values in draws.items()}
        return [
            {
                measure: [
                    _contrast(estimates[measure][layer][number], verdicts[measure], layer, number)
                    for layer in range(len(layers))
                ]
                for measure in MEASURES
            }
            for number in range(len(self.targets))
        ]

    def _means(self, columns: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """For each target the mean of its columns."""
        pairs = zip(self.ends[:-1], self.ends[1:], strict=True)
        return np.stack([columns[start:stop].mean(axis=0) for start, stop in pairs])

    def _probed(self, parts: Sequence[Smoother]) -> list[Estimate]:
        scores = probe_scores(parts, self.labels)
        found = [
            accuracy_influences(scores[:, each], self.labels[:, each], folds=self.folds)
            for each in range(self.labels.shape[1])
        ]
        return self._estimates([value for value, _ in found], np.stack([added for _, added in found]), PROBE)

    def _lain(self, layer: Matrix) -> list[Estimate]:
        values, added = silhouette_influences(layer, self.groups, self.labels)
        return self._estimates(values.tolist(), added.T, SILHOUETTE)

    def _estimates(self, values: list[float], influences: npt.NDArray[np.float64], measure: str) -> list[Estimate]:
        found = []
        for number, target in enumerate(self.targets):
            own = slice(self.ends[number], self.ends[number + 1])
            found.append(
                clustered(
                    float(np.mean(values[own])),
                    influences[own].mean(axis=0),
                    groups=self.groups,
                    n=target.n,
                    method=METHODS[measure],
                    unit=measure == PROBE,
                )
            )
        return found


def _contrast(estimate: Estimate, verdict: Judged, layer: int, number: int) -> Contrast:
    p, adjusted = float(verdict.p[layer, number]), float(verdict.p_adjusted[layer, number])
    return Contrast(estimate, verdict.baseline(layer, number), p, adjusted)


def _missing(why: str, n: int, layers: int) -> dict[str, list[Contrast]]:
    nothing = Estimate(float("nan"), n=n, note=why)
    return {measure: [Contrast(nothing, nothing)] * layers for measure in MEASURES}
