"""How well answers agree with a reference: people's labels with gold, and proposed categories with marks."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.estimate import Estimate
from acidtest.core.labels import GOLD_MASKS
from acidtest.stats.intervals import rate
from acidtest.stats.jackknife import LOGIT, Floats, IntervalScale, Replicates, group_sums, jackknifed, replicates
from acidtest.stats.resampling import Labels

Flags = npt.NDArray[np.bool_]
Codes = npt.NDArray[np.int64]


_RATIO = IntervalScale("the log scale", math.log, math.exp, lambda value: 1 / value, (0.0, math.inf))


@dataclass(frozen=True)
class InferenceAccuracy:
    """How often the labels of annotators equal gold that is not derived from them.

    ``average`` is the mean of the accuracies of people, however many rows each judged; ``people`` is empty where the
    file does not distinguish them. ``unanswered`` rows, on which somebody gave no label, count as wrong.
    """

    average: Estimate
    people: Mapping[str, Estimate]
    gold_from: str
    unanswered: int = 0


def inference_accuracy(
    said: pl.DataFrame,
    labels: Sequence[str],
    gold: pl.Series,
    *,
    gold_from: str,
    groups: Codes | None = None,
    draws_seed: int = 0,
) -> InferenceAccuracy:
    """How often each person's label of a row is its gold, and the mean of people.

    ``said`` has row, annotator (null if unknown) and label. Rows without gold are left out. A missing
    label is no judgement where people are distinguished, since they may not have been asked; elsewhere it is wrong.
    """
    given = said.filter(pl.col("label").is_not_null() | pl.col("annotator").is_null())
    given = given.filter(gold.is_not_null().gather(given["row"]))
    rows = given["row"].to_numpy()
    row_groups = rows if groups is None else groups[rows]
    right = are_accepted(given, labels, gold)
    judged = pl.DataFrame({"annotator": given["annotator"], "row": rows, "group": row_groups, "right": right})
    if not judged.height:
        return InferenceAccuracy(Estimate(math.nan, note="no label of a row with gold"), {}, gold_from)
    people = {
        name: _accuracy(part, draws_seed)
        for (name,), part in judged.drop_nulls("annotator").partition_by("annotator", as_dict=True).items()
    }
    if len(people) > 1:
        return InferenceAccuracy(_average(judged), people, gold_from)
    return InferenceAccuracy(_accuracy(judged, draws_seed), people, gold_from, given["label"].null_count())


def accepted(labels: Sequence[str], gold: pl.Series) -> Flags:
    """Rows × labels: whether a label is right by the row's gold; a gold set accepts all of its labels."""
    masks = {name: GOLD_MASKS.get(name, 0) for name in (*labels, *gold.drop_nulls().unique())}
    right = np.zeros((len(gold), len(labels)), dtype=np.bool_)
    for column, label in enumerate(labels):
        golds = [name for name, mask in masks.items() if name == label or (masks[label] and masks[label] & ~mask == 0)]
        right[:, column] = gold.is_in(golds).fill_null(False).to_numpy()
    return right


def are_accepted(said: pl.DataFrame, labels: Sequence[str], gold: pl.Series) -> Flags:
    """Whether each judgement's label is right by its row's gold; a missing or unknown label is wrong."""
    codes = said["label"].replace_strict(
        {label: code for code, label in enumerate(labels)}, default=len(labels), return_dtype=pl.Int64
    )
    # The last column is for no label, which nothing accepts.
    right = np.pad(accepted(labels, gold), ((0, 0), (0, 1)))
    return np.asarray(right[said["row"].to_numpy(), codes.to_numpy()])


def majority_share(
    holds: Flags, rows: Codes, *, groups: Codes | None = None, draws_seed: int = 0
) -> tuple[Estimate, int]:
    """Share of rows for which more than half of the judgements hold, and how many with fewer than two are left out.

    ``rows`` has the row that each judgement is of, ``groups`` a code for each row.
    """
    numbers, row_of = np.unique(rows, return_inverse=True)
    people, yes = np.bincount(row_of), np.bincount(row_of, holds)
    used = people >= 2
    if not used.any():
        return Estimate(math.nan, note="no pair that two people judged"), int((~used).sum())
    row_groups = None if groups is None else groups[numbers[used]]
    share = rate((2 * yes > people)[used].astype(np.float64), groups=row_groups, draws_seed=draws_seed)
    return share, int((~used).sum())


@dataclass(frozen=True)
class TagQuality:
    """A category's proposals measured against marks on the same rows.

    ``precision`` is the share of proposals that are marked, ``recall`` the share of marked rows that are proposed.
    ``chance`` is the share of all rows that are marked, which is the precision of random proposals; ``lift`` is
    precision over chance.
    """

    precision: Estimate
    recall: Estimate
    f1: Estimate = field(metadata={"json": "F1"})
    chance: Estimate
    lift: Estimate


def tag_quality(proposed: Flags, marked: Flags, *, groups: Labels = None) -> TagQuality:
    """How well proposals agree with marks; rows of one group, such as those of one premise, are not independent."""
    codes = np.arange(len(marked)) if groups is None else np.unique(np.asarray(groups), return_inverse=True)[1]
    both = proposed & marked
    sums = group_sums(np.stack([both, proposed, marked, np.ones_like(both)], axis=1).astype(np.float64), codes)

    def share(among: Flags, none: str) -> Estimate:
        return rate(both[among], groups=codes[among]) if among.any() else Estimate(math.nan, note=none)

    def ratio(statistic: Callable[[Floats], Floats], undefined: str, best: str, scale: IntervalScale) -> Estimate:
        resampled = replicates(sums, statistic, rows=len(both))
        if resampled.value == 0:
            return Estimate(0.0, n=len(both), groups=resampled.groups, note="no proposal is marked: no interval")
        return jackknifed(resampled, undefined=undefined, best=best, scale=scale)

    return TagQuality(
        precision=share(proposed, "nothing was proposed"),
        recall=share(marked, "nothing is marked"),
        f1=ratio(_f1, "nothing was proposed and nothing is marked", "the same as the marks", LOGIT),
        chance=rate(marked, groups=codes),
        lift=ratio(_lift, "nothing was proposed or nothing is marked", "exactly chance", _RATIO),
    )


def tag_qualities(
    proposed: Mapping[str, Flags], marked: Mapping[str, Flags], *, groups: Labels = None
) -> dict[str, TagQuality]:
    """``tag_quality`` of every category that is both proposed and marked, in the order of the proposals."""
    return {name: tag_quality(proposed[name], marked[name], groups=groups) for name in proposed if name in marked}


def _accuracy(judged: pl.DataFrame, draws_seed: int) -> Estimate:
    return rate(judged["right"].cast(pl.Float64), groups=judged["group"].to_numpy(), draws_seed=draws_seed)


def _average(judged: pl.DataFrame) -> Estimate:
    """The mean over people of their accuracies, with the jackknife's interval over groups of rows."""
    cells = judged.group_by("group", "annotator", maintain_order=True).agg(
        right=pl.col("right").sum().cast(pl.Float64), n=pl.len()
    )
    whole = judged.group_by("annotator").agg(all_right=pl.col("right").sum().cast(pl.Float64), all=pl.len())
    value = float((whole["all_right"] / whole["all"]).sum()) / whole.height
    # Leaving a group out changes the accuracies of those who judged it; people who judged nothing else drop out.
    rest = (pl.col("all_right") - pl.col("right")) / (pl.col("all") - pl.col("n"))
    gone = pl.col("all") == pl.col("n")
    changed = (
        cells.join(whole, on="annotator")
        .with_columns(lost=pl.col("all_right") / pl.col("all") - pl.when(gone).then(0.0).otherwise(rest), gone=gone)
        .group_by("group")
        .agg(pl.col("lost").sum(), pl.col("gone").sum())
    )
    left = whole.height - changed["gone"].cast(pl.Float64).to_numpy()
    lost = changed["lost"].to_numpy()
    without = np.where(left > 0, (value * whole.height - lost) / np.maximum(left, 1), np.nan)
    replicates = Replicates(value, without, judged["row"].n_unique())
    return jackknifed(replicates, undefined="", best="everybody is always right", scale=LOGIT)


def _f1(sums: Floats) -> Floats:
    both, proposed, marked, _ = sums.T
    return _ratio(2 * both, proposed + marked)


def _lift(sums: Floats) -> Floats:
    both, proposed, marked, rows = sums.T
    return _ratio(both * rows, proposed * marked)


def _ratio(above: Floats, below: Floats) -> Floats:
    return np.where(below > 0, above / np.where(below > 0, below, 1.0), math.nan)
