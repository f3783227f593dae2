"""Whether a model's score on Breaking NLI is helped by having seen it: the published pairs against fresh ones.

These are different rows, so nothing is paired. Only what both have is compared, category by category and gold by gold,
since fresh categories hold entailed and neutral pairs where the published ones hardly do.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from acidtest.core.errors import AcidtestError
from acidtest.core.estimate import Estimate
from acidtest.stats.clusters import Clusterings, weighted_difference
from acidtest.stats.significance import adjusted
from acidtest.studies.lexical_rows import FRESH, PUBLISHED, LexicalRows, pair_key, published_names
from acidtest.text.breaking_nli import CATEGORY

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

    def to_json(self) -> dict[str, Any]:
        """As the command's --json prints it; NaN is null."""
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {name: _plain(value) for name, value in fields.items()}


@dataclass(frozen=True)
class Memory:
    """One model on published and fresh pairs, and what that does and does not show."""

    model: str
    published: str
    fresh: str
    contrasts: tuple[MemoryContrast, ...]
    left_out: Mapping[str, int]
    verdict: str
    reference: str | None = None

    @property
    def cannot(self) -> tuple[str, ...]:
        """What the comparison does not show."""
        return CANNOT if self.reference else (WITHOUT_REFERENCE, *CANNOT)

    def to_json(self) -> dict[str, Any]:
        """As the command's --json prints it."""
        return {
            "model": self.model,
            "reference": self.reference,
            "published": self.published,
            "fresh": self.fresh,
            "contrasts": [contrast.to_json() for contrast in self.contrasts],
            "left_out": dict(self.left_out),
            "verdict": self.verdict,
            "can": list(CAN),
            "cannot": list(self.cannot),
        }


def memories(
    sets: Sequence[LexicalRows], *, reference: Sequence[LexicalRows] = (), correction: str = "holm"
) -> tuple[Memory, ...]:
    """Published against fresh pairs, for each model that was asked both; a model's p-values are one family.

    ``reference`` is what a model known to be clean answered on the same pairs; by it, easier words fall away.
    """
    published = [each for each in sets if _base(each) == PUBLISHED]
    fresh = [each for each in sets if _base(each) == FRESH or _base(each).startswith(f"{FRESH}/")]
    pairs = [(one, two) for one in published for two in fresh if one.model == two.model]
    clean = {each.name: each for each in reference}
    found = [_memory(_beside(one, clean), _beside(two, clean), correction) for one, two in pairs]
    return tuple(
        replace(each, reference=reference[0].model if reference else None) for each in found if each is not None
    )


def _beside(rows: LexicalRows, clean: Mapping[str, LexicalRows]) -> LexicalRows:
    """The rows with how much better than the reference they were answered: -1, 0 or 1; those it has not left out."""
    if not clean:
        return rows
    if rows.name not in clean:
        raise AcidtestError(f"the reference was not asked {rows.name!r}; run it on the same suites as {rows.model}")
    asked = ("id", "premise", "label")
    other = clean[rows.name].frame.select(*asked, other="correct")
    both = rows.frame.join(other, on=asked, maintain_order="left")
    if both.height < SAME_ROWS * rows.frame.height:
        raise AcidtestError(f"the reference was asked other pairs of {rows.name!r}; run it on the same file or seed")
    return replace(
        rows, frame=both.with_columns(better=pl.col("correct").cast(pl.Int8) - pl.col("other").cast(pl.Int8))
    )


def _base(rows: LexicalRows) -> str:
    return rows.name.partition(":")[0]


def _memory(published: LexicalRows, fresh: LexicalRows, correction: str) -> Memory | None:
    """None where the two have no category and gold in common, or too few pairs of each."""
    rows = pl.concat([_side(published, "published"), _side(fresh, "fresh")])
    counts = rows.group_by(CATEGORY, "label", maintain_order=True).agg(
        published=(pl.col("side") == "published").sum(), fresh=(pl.col("side") == "fresh").sum()
    )
    enough = pl.min_horizontal("published", "fresh") >= LEAST_ROWS
    cells = counts.filter(enough).with_row_index("cell")
    if not cells.height:
        return None
    held = rows.join(cells.select(CATEGORY, "label", "cell"), on=[CATEGORY, "label"], maintain_order="left")
    size = pl.col("published")
    categories = cells[CATEGORY].n_unique()
    weights = {
        ALIKE: cells.select(size / size.sum().over(CATEGORY) / categories).to_series(),
        AS_PUBLISHED: cells.select(size / size.sum()).to_series(),
    }
    for name in cells[CATEGORY].unique(maintain_order=True):
        own = cells[CATEGORY] == name
        weights[name] = (cells["published"] * own) / cells.filter(own)["published"].sum()
    contrasts = [_contrast(name, held, each.to_numpy().astype(np.float64)) for name, each in weights.items()]
    corrected = _corrected(contrasts, correction)
    alone = rows.join(held.select(CATEGORY, "label").unique(), on=[CATEGORY, "label"], how="anti")
    left_out = {str(side): n for side, n in alone["side"].value_counts(sort=True).iter_rows()}
    told = _verdict(published.model, corrected[0], ALIKE)
    return Memory(published.model, published.name, fresh.name, corrected, left_out, told)


def _side(rows: LexicalRows, side: str) -> pl.DataFrame:
    """Premise, words, published category, label and whether it is right; rows without a category are left out."""
    theirs = dict(published_names().select("category", "published").iter_rows()) if side == "fresh" else {}
    return rows.frame.drop_nulls(CATEGORY).select(
        "premise",
        pl.col(CATEGORY).cast(pl.String).replace(theirs),
        pl.col("label").cast(pl.String),
        "correct",
        *(["better"] if "better" in rows.frame.columns else []),
        side=pl.lit(side),
        # Where the words are not known, nothing but the premise makes rows alike.
        pair=pl.coalesce(pair_key(), pl.concat_str(pl.lit(f"{side} "), pl.int_range(pl.len()))),
    )


def _contrast(name: str, rows: pl.DataFrame, weights: np.ndarray[Any, np.dtype[np.float64]]) -> MemoryContrast:
    """The difference on the cells that have weight; published cells come first, then the fresh ones."""
    used = np.flatnonzero(weights)
    number = {int(cell): place for place, cell in enumerate(used)}
    own = rows.filter(pl.col("cell").is_in(list(number)))
    place = own["cell"].replace_strict(number, return_dtype=pl.Int64).to_numpy()
    cell = np.where((own["side"] == "published").to_numpy(), place, place + len(used))
    signed = np.concatenate([weights[used], -weights[used]])
    correct = own["correct"].to_numpy().astype(np.float64)
    alike = Clusterings.of(own["premise"], own["pair"])
    means = np.bincount(cell, correct, minlength=len(signed)) / np.bincount(cell, minlength=len(signed))
    published, fresh = (float(weights[used] @ part) for part in np.split(means, 2))
    effect = weighted_difference(correct, cell, signed.tolist(), alike)
    found = MemoryContrast(name, published, fresh, _within(effect.estimate, 1.0), effect.test, effect.p)
    if "better" not in own.columns:
        return found
    excess = weighted_difference(own["better"].to_numpy(), cell, signed.tolist(), alike)
    return replace(found, excess=_within(excess.estimate, 2.0), excess_p=excess.p)


def _within(change: Estimate, most: float) -> Estimate:
    """The estimate with ends that are possible."""
    return (
        change if math.isnan(change.low) else replace(change, low=max(change.low, -most), high=min(change.high, most))
    )


def _corrected(contrasts: Sequence[MemoryContrast], correction: str) -> tuple[MemoryContrast, ...]:
    """The contrasts with p-values corrected as one family, those of the excesses included."""
    ps = adjusted([p for each in contrasts for p in (each.p, each.excess_p)], correction)
    return tuple(
        replace(each, p_adjusted=float(p), excess_p_adjusted=float(excess_p))
        for each, p, excess_p in zip(contrasts, ps[::2], ps[1::2], strict=True)
    )


def _verdict(model: str, main: MemoryContrast, where: str) -> str:
    change, beside = main.effect, " beyond the same difference of the reference" if main.excess else ""
    if not change.known or math.isnan(change.low):
        return f"Too few rows to say whether {model} does better on the published pairs: {change.note}."
    compared = f"on the published pairs than on fresh ones of the same categories{beside}, with {where}"
    told = f"{100 * abs(change.value):.1f} points ({100 * change.low:+.1f} to {100 * change.high:+.1f})"
    if main.effect_p < ALPHA and change.value > 0:
        easier = "the published words are easier for it than for the reference"
        why = f"it has seen them, or {easier}" if main.excess else "it has seen them, or their words are easier"
        return f"{model} is {told} better {compared}: {why}."
    if main.effect_p < ALPHA:
        return f"No sign of memory: {model} is {told} worse {compared}."
    missed = f"an advantage of up to {100 * max(change.high, 0):.1f} points could have been missed"
    return f"No sign of memory: {model} is not clearly better {compared} ({100 * change.value:+.1f} points); {missed}."


def _plain(value: Any) -> Any:
    if isinstance(value, Estimate):
        return value.to_json()
    return None if isinstance(value, float) and math.isnan(value) else value
