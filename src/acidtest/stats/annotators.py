"""The people behind labels, one by one: how often each is right, how long they took, who failed control items."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.estimate import Estimate
from acidtest.core.labels import GOLD_MASKS
from acidtest.stats.intervals import rate
from acidtest.stats.jackknife import LOGIT, Replicates, jackknifed


@dataclass(frozen=True)
class Accuracy:
    """How often people's own inference is gold that does not come from them."""

    average: Estimate
    """The mean of people's accuracies, whoever judged how many rows."""
    people: Mapping[str, Estimate]
    """Each person's; empty where the file does not tell them apart."""
    gold_from: str
    unanswered: int = 0
    """Rows on which somebody gave no label, counted wrong."""

    def to_json(self) -> dict[str, Any]:
        """As --json prints it."""
        people = {name: each.to_json() for name, each in self.people.items()}
        told = {"gold_from": self.gold_from, "unanswered": self.unanswered}
        return {"average": self.average.to_json(), "people": people, **told}


@dataclass(frozen=True)
class Times:
    """Seconds that judgements took: how many were timed, the quartiles, and all together."""

    n: int
    quartiles: tuple[float, float, float]
    total: float

    def to_json(self) -> dict[str, Any]:
        """As --json prints it."""
        low, median, high = self.quartiles
        return {"n": self.n, "median": median, "quartiles": [low, high], "total": self.total}


@dataclass(frozen=True)
class Controls:
    """How many control items a person was asked, and how many of them went wrong."""

    asked: int
    failed: int


@dataclass(frozen=True)
class Pace:
    """How many people were timed, and the mean of their mean seconds on an item, controls not counted."""

    people: int
    seconds: float

    def to_json(self) -> dict[str, Any]:
        """As --json prints it."""
        return {"people": self.people, "mean_seconds": self.seconds}


ALL, KEPT, DISCARDED = "all", "kept", "discarded"


@dataclass(frozen=True)
class Attendance:
    """What answers say of people besides what they answered."""

    seconds: Times | None = None
    by_person: Mapping[str, Times] = field(default_factory=dict)
    controls: Mapping[str, Controls] = field(default_factory=dict)
    excluded: tuple[str, ...] = ()
    """People whose answers are marked to be left out."""
    left_out: int = 0
    """Rows of answers that are left out: of excluded people and of control items."""
    people: int = 0
    """How many there are, excluded ones among them."""
    paces: Mapping[str, Pace] = field(default_factory=dict)
    """Of all people, of those who are kept and of those who are discarded, where there are such."""

    def to_json(self) -> dict[str, Any]:
        """As --json prints it."""
        return {
            "seconds": self.seconds.to_json() if self.seconds else None,
            "seconds_by_annotator": {name: times.to_json() for name, times in self.by_person.items()},
            "controls": {name: {"asked": each.asked, "failed": each.failed} for name, each in self.controls.items()},
            "excluded": list(self.excluded),
            "left_out": self.left_out,
            "people": {"all": self.people, "discarded": len(self.excluded)},
            "pace": {name: each.to_json() for name, each in self.paces.items()},
        }


def inference_accuracy(
    said: pl.DataFrame,
    labels: Sequence[str],
    gold: pl.Series,
    *,
    gold_from: str,
    groups: npt.NDArray[np.int64] | None = None,
    draws_seed: int = 0,
) -> Accuracy:
    """How often each person's label of a row is its gold, and the mean of people.

    ``said`` has row, annotator (null where nobody knows who) and label. Rows without gold are left out. No label is no
    judgement where people are told apart, who may not have been asked; elsewhere it counts as wrong.
    """
    told = said.filter(pl.col("label").is_not_null() | pl.col("annotator").is_null())
    told = told.filter(gold.is_not_null().gather(told["row"]))
    known = {label: code for code, label in enumerate(labels)}
    codes = told["label"].replace_strict(known, default=len(known), return_dtype=pl.Int64)
    rows = told["row"].to_numpy()
    # The last column is for no label, which nothing accepts.
    right = np.pad(accepted(labels, gold), ((0, 0), (0, 1)))[rows, codes.to_numpy()]
    own_groups = rows if groups is None else groups[rows]
    judged = pl.DataFrame({"annotator": told["annotator"], "row": rows, "group": own_groups, "right": right})
    if not judged.height:
        return Accuracy(Estimate(math.nan, note="no label of a row with gold"), {}, gold_from)
    people = {
        name: rate(own["right"].cast(pl.Float64), groups=own["group"].to_numpy(), draws_seed=draws_seed)
        for (name,), own in judged.drop_nulls("annotator").partition_by("annotator", as_dict=True).items()
    }
    if len(people) > 1:
        return Accuracy(_average(judged), people, gold_from)
    pooled = rate(judged["right"].cast(pl.Float64), groups=judged["group"].to_numpy(), draws_seed=draws_seed)
    return Accuracy(pooled, people, gold_from, told["label"].null_count())


def accepted(labels: Sequence[str], gold: pl.Series) -> npt.NDArray[np.bool_]:
    """Rows × labels: whether a label is right by the row's gold; a gold set accepts all of its labels."""
    masks = {name: GOLD_MASKS.get(name, 0) for name in (*labels, *gold.drop_nulls().unique())}
    right = np.zeros((len(gold), len(labels)), dtype=np.bool_)
    for place, label in enumerate(labels):
        golds = [name for name, mask in masks.items() if name == label or (masks[label] and masks[label] & ~mask == 0)]
        right[:, place] = gold.is_in(golds).fill_null(False).to_numpy()
    return right


def times(seconds: pl.Series) -> Times | None:
    """What seconds come to; nulls were not timed, and None where nothing was."""
    known = seconds.drop_nulls().cast(pl.Float64)
    if not len(known):
        return None
    low, median, high = (float(each) for each in np.quantile(known.to_numpy(), [0.25, 0.5, 0.75]))
    return Times(len(known), (low, median, high), float(known.sum()))


def _average(judged: pl.DataFrame) -> Estimate:
    """The mean over people of their accuracies, with the jackknife's interval over groups of rows."""
    cells = judged.group_by("group", "annotator", maintain_order=True).agg(
        right=pl.col("right").sum().cast(pl.Float64), n=pl.len()
    )
    whole = judged.group_by("annotator").agg(all_right=pl.col("right").sum().cast(pl.Float64), all=pl.len())
    value = float((whole["all_right"] / whole["all"]).sum()) / whole.height
    # Leaving a group out changes the accuracies of those who judged it; who judged nothing else is no longer there.
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
    found = Replicates(value, without, judged["row"].n_unique())
    return jackknifed(found, undefined="", best="everybody is always right", scale=LOGIT)
