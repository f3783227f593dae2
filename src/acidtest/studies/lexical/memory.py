"""Whether a model's score on Breaking NLI is helped by having seen it: the published pairs against fresh ones.

These are different rows, so nothing is paired. Only what both have is compared, category by category and gold by gold,
since fresh categories hold entailed and neutral pairs where the published ones hardly do.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.errors import AcidtestError
from acidtest.core.estimate import Estimate
from acidtest.stats.clusters import Clusterings, weighted_difference
from acidtest.stats.significance import adjusted
from acidtest.studies.lexical.rows import FRESH, PUBLISHED, LexicalRows, pair_key, published_names
from acidtest.text.categories import CATEGORY

Floats = npt.NDArray[np.float64]

ALPHA = 0.05
LEAST_ROWS = 10
"""With fewer pairs of a category and gold on either side, the two are not compared."""

ALIKE, AS_PUBLISHED = "all categories alike", "all, sized as published"
"""The two ways in which categories are put together; within a category gold is as it is in the published one."""

SAME_ROWS = 0.9
"""Share of the rows that a reference must have answered too."""

CAN = (
    "A difference shows whether the score holds on other words in other premises, category by category.",
    "Gold weighs the same on both sides, so a model that leans to contradiction gains nothing by the published set.",
)
WITHOUT_REFERENCE = (
    "Memory cannot be told from published words that are easier: give acidtest lexical runs of a model known to be "
    "clean (--reference)."
)
CANNOT = (
    "The published pairs were checked by people; fresh labels rest on word lists and on SNLI's one-event convention.",
    "Training on data made in the same way raises both sides and goes unseen. No sign is no proof that it is clean.",
)


@dataclass(frozen=True)
class MemoryContrast:
    """Accuracy on the published pairs less that on fresh ones: of all categories together, or of one.

    ``excess`` is what is left of that beside the same difference of the reference, row by row.
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

    @property
    def effect(self) -> Estimate:
        """What speaks for memory: the excess where there is a reference, else the difference."""
        return self.excess or self.difference

    @property
    def effect_p(self) -> float:
        """The effect's p-value, corrected."""
        return self.excess_p_adjusted if self.excess else self.p_adjusted


@dataclass(frozen=True)
class MemoryComparison:
    """One model on published and fresh pairs, and what that does and does not show."""

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
        return CAN

    @property
    def cannot(self) -> tuple[str, ...]:
        """What the comparison does not show."""
        return CANNOT if self.reference else (WITHOUT_REFERENCE, *CANNOT)


def compare_memory(
    sets: Sequence[LexicalRows], *, reference: Sequence[LexicalRows] = (), correction: str = "holm"
) -> tuple[MemoryComparison, ...]:
    """Published against fresh pairs, for each model that was asked both; a model's p-values are one family.

    ``reference`` is what a model known to be clean answered on the same pairs; with it, easier words do not count.
    """
    published = [rows for rows in sets if _base_name(rows) == PUBLISHED]
    fresh = [rows for rows in sets if _base_name(rows) == FRESH or _base_name(rows).startswith(f"{FRESH}/")]
    pairs = [(first, second) for first in published for second in fresh if first.model == second.model]
    clean = {rows.name: rows for rows in reference}
    comparisons = [
        _compare_sets(_add_reference(first, clean), _add_reference(second, clean), correction)
        for first, second in pairs
    ]
    name = reference[0].model if reference else None
    return tuple(replace(comparison, reference=name) for comparison in comparisons if comparison is not None)


def _add_reference(rows: LexicalRows, clean: Mapping[str, LexicalRows]) -> LexicalRows:
    """The rows that the reference has too, with how much better than it the model answered: -1, 0 or 1."""
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


def _base_name(rows: LexicalRows) -> str:
    return rows.name.partition(":")[0]


def _compare_sets(published: LexicalRows, fresh: LexicalRows, correction: str) -> MemoryComparison | None:
    """None where the two have no category and gold in common, or too few pairs of each."""
    rows = pl.concat([_select_side(published, "published"), _select_side(fresh, "fresh")])
    counts = rows.group_by(CATEGORY, "label", maintain_order=True).agg(
        published=(pl.col("side") == "published").sum(), fresh=(pl.col("side") == "fresh").sum()
    )
    enough = pl.min_horizontal("published", "fresh") >= LEAST_ROWS
    cells = counts.filter(enough).with_row_index("cell")
    if not cells.height:
        return None
    compared = rows.join(cells.select(CATEGORY, "label", "cell"), on=[CATEGORY, "label"], maintain_order="left")
    weights = _cell_weights(cells)
    contrasts = [_contrast(name, compared, cell_weights) for name, cell_weights in weights.items()]
    corrected = _correct_contrasts(contrasts, correction)
    alone = rows.join(compared.select(CATEGORY, "label").unique(), on=[CATEGORY, "label"], how="anti")
    left_out = {str(side): n for side, n in alone["side"].value_counts(sort=True).iter_rows()}
    verdict = _verdict(published.model, corrected[0], ALIKE)
    return MemoryComparison(published.model, published.name, fresh.name, corrected, left_out, verdict)


def _cell_weights(cells: pl.DataFrame) -> dict[str, Floats]:
    """The weight of each cell in each contrast: all categories together in two ways, and each category alone."""
    size = pl.col("published")
    categories = cells[CATEGORY].n_unique()
    weights = {
        ALIKE: cells.select(size / size.sum().over(CATEGORY) / categories).to_series(),
        AS_PUBLISHED: cells.select(size / size.sum()).to_series(),
    }
    for name in cells[CATEGORY].unique(maintain_order=True):
        members = cells[CATEGORY] == name
        weights[name] = (cells["published"] * members) / cells.filter(members)["published"].sum()
    return {name: values.to_numpy().astype(np.float64) for name, values in weights.items()}


def _select_side(rows: LexicalRows, side: str) -> pl.DataFrame:
    """Premise, words, published category, label and whether it is right; rows without a category are left out."""
    names = dict(published_names().select("category", "published").iter_rows()) if side == "fresh" else {}
    return rows.frame.drop_nulls(CATEGORY).select(
        "premise",
        pl.col(CATEGORY).cast(pl.String).replace(names),
        pl.col("label").cast(pl.String),
        "correct",
        *(["better"] if "better" in rows.frame.columns else []),
        side=pl.lit(side),
        # Where the words are not known, nothing but the premise makes rows alike.
        pair=pl.coalesce(pair_key(), pl.concat_str(pl.lit(f"{side} "), pl.int_range(pl.len()))),
    )


def _contrast(name: str, rows: pl.DataFrame, weights: Floats) -> MemoryContrast:
    """The difference on the cells that have weight; published cells come first, then the fresh ones."""
    used = np.flatnonzero(weights)
    number = {int(cell): place for place, cell in enumerate(used)}
    chosen = rows.filter(pl.col("cell").is_in(list(number)))
    place = chosen["cell"].replace_strict(number, return_dtype=pl.Int64).to_numpy()
    cell = np.where((chosen["side"] == "published").to_numpy(), place, place + len(used))
    signed = np.concatenate([weights[used], -weights[used]])
    correct = chosen["correct"].to_numpy().astype(np.float64)
    clusterings = Clusterings.of(chosen["premise"], chosen["pair"])
    means = np.bincount(cell, correct, minlength=len(signed)) / np.bincount(cell, minlength=len(signed))
    published, fresh = (float(weights[used] @ part) for part in np.split(means, 2))
    effect = weighted_difference(correct, cell, signed.tolist(), clusterings)
    contrast = MemoryContrast(name, published, fresh, _within(effect.estimate, 1.0), effect.test, effect.p)
    if "better" not in chosen.columns:
        return contrast
    excess = weighted_difference(chosen["better"].to_numpy(), cell, signed.tolist(), clusterings)
    return replace(contrast, excess=_within(excess.estimate, 2.0), excess_p=excess.p)


def _within(change: Estimate, most: float) -> Estimate:
    """The estimate with ends that are possible."""
    if math.isnan(change.low):
        return change
    return replace(change, low=max(change.low, -most), high=min(change.high, most))


def _correct_contrasts(contrasts: Sequence[MemoryContrast], correction: str) -> tuple[MemoryContrast, ...]:
    """The contrasts with p-values corrected as one family, those of the excesses included."""
    ps = adjusted([p for contrast in contrasts for p in (contrast.p, contrast.excess_p)], correction)
    return tuple(
        replace(contrast, p_adjusted=float(p), excess_p_adjusted=float(excess_p))
        for contrast, p, excess_p in zip(contrasts, ps[::2], ps[1::2], strict=True)
    )


def _verdict(model: str, main: MemoryContrast, where: str) -> str:
    change, beside = main.effect, " beyond the same difference of the reference" if main.excess else ""
    if not change.known or math.isnan(change.low):
        return f"Too few rows to say whether {model} does better on the published pairs: {change.note}."
    compared = f"on the published pairs than on fresh ones of the same categories{beside}, with {where}"
    size = f"{100 * abs(change.value):.1f} points ({100 * change.low:+.1f} to {100 * change.high:+.1f})"
    if main.effect_p < ALPHA and change.value > 0:
        easier = "the published words are easier for it than for the reference"
        why = f"it has seen them, or {easier}" if main.excess else "it has seen them, or their words are easier"
        return f"{model} is {size} better {compared}: {why}."
    if main.effect_p < ALPHA:
        return f"No sign of memory: {model} is {size} worse {compared}."
    missed = f"an advantage of up to {100 * max(change.high, 0):.1f} points could have been missed"
    return f"No sign of memory: {model} is not clearly better {compared} ({100 * change.value:+.1f} points); {missed}."
