"""Word-pair polarity: the label that a training set ties to one word in the premise and another in the hypothesis.

Sanchez, Mitchell and Riedel (2018), section 5.5: the most frequent class of the training examples that hold the ordered
pair; ``none`` for a pair that no example holds; classes that are equally frequent make a category of their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.core.errors import AcidtestError
from acidtest.core.labels import LABELS
from acidtest.core.suite import Suite
from acidtest.text.pair_counts import LabelCounts, label_counts
from acidtest.text.swaps import base_forms

UNSEEN = "none"
TIE = " = "

_BASES = ("premise_base", "hypothesis_base")
_NAMES = tuple(TIE.join(label for bit, label in enumerate(LABELS) if mask >> bit & 1) or UNSEEN for mask in range(8))

CATEGORIES = tuple(sorted(_NAMES, key=lambda name: (name == UNSEEN, name.count(TIE), _NAMES.index(name))))
"""Every polarity there is: the three labels, the four ties, none."""


@dataclass(frozen=True)
class Polarities:
    """What a training set says of ordered pairs of words.

    ``frame`` has a row for each pair asked for: its two columns, the examples of each label that hold it, ``polarity``
    and ``seen``. All are null where a side is not one word, since whole words are looked for.
    """

    frame: pl.DataFrame
    rows: Mapping[str, int]

    @property
    def examples(self) -> int:
        """The training examples with a label of the three."""
        return sum(self.rows.values())


def polarities(pairs: pl.DataFrame, train: Suite, *, inflections: bool = False) -> Polarities:
    """The polarity of each pair, the first two columns: one word in the premise, one in the hypothesis.

    The training set is gone through once for all of them. Words are compared whole and in lower case. With
    ``inflections`` any forms of the two words will do, of one part of speech; of several readings of a pair (*left* and
    *right*, or *leave*) the one with most examples counts. An example counts once, however often it holds the pair.
    """
    found = _base_form_counts(pairs, train) if inflections else label_counts(pairs, train)
    if not any(found.rows.values()):
        raise AcidtestError(f"{train.name} has no pairs of {', '.join(LABELS)}; give a three-way training set")
    counts = found.counts.select(LABELS)
    known = counts[LABELS[0]].is_not_null()
    names = polarity_names(counts.fill_null(0).to_numpy())
    told = pl.DataFrame({"polarity": names, "seen": names != UNSEEN, "known": known}).select(
        pl.when("known").then("polarity").alias("polarity"), pl.when("known").then("seen").alias("seen")
    )
    return Polarities(pl.concat([pairs.select(pairs.columns[:2]), counts, told], how="horizontal"), found.rows)


def _base_form_counts(pairs: pl.DataFrame, train: Suite) -> LabelCounts:
    """The examples that hold any forms of the words of each pair, as ``label_counts`` gives them."""
    asked = pairs.select(pl.col(pairs.columns[:2]).cast(pl.String).str.to_lowercase()).with_row_index("row")
    first, second = pairs.columns[:2]
    single = asked.filter(pl.all_horizontal(pl.col(first, second).str.contains(r"^\S+$")))
    forms = base_forms(pl.concat([single[first], single[second]]).unique(maintain_order=True))
    readings = single.join(forms.select(pl.col("word").alias(first), "pos", premise_base="base"), on=first).join(
        forms.select(pl.col("word").alias(second), "pos", hypothesis_base="base"), on=[second, "pos"]
    )
    bases = readings.select(*_BASES).unique(maintain_order=True)
    found = label_counts(bases, train, inflections=True)
    counted = readings.join(pl.concat([bases, found.counts], how="horizontal"), on=_BASES)
    most = counted.with_columns(examples=pl.sum_horizontal(LABELS)).sort("row", "examples", *_BASES)
    best = most.unique("row", keep="last").select("row", *LABELS)
    return LabelCounts(asked.join(best, on="row", how="left", maintain_order="left").select(LABELS), found.rows)


def polarity_names(counts: npt.NDArray[np.int64]) -> pl.Series:
    """The polarity of each row of counts, whose columns are entailment, neutral and contradiction."""
    most = counts.max(axis=1, keepdims=True, initial=0)
    masks = ((counts == most) & (most > 0)) @ (1 << np.arange(len(LABELS)))
    return pl.Series(_NAMES).gather(masks)


def matches(polarity: pl.Series, gold: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
    """Whether the polarity is one label that gold, a bit mask, accepts; ties and none never match."""
    bits = polarity.replace_strict(list(LABELS), [1, 2, 4], default=0, return_dtype=pl.UInt8).to_numpy()
    return np.asarray((bits & gold) != 0, dtype=np.bool_)
