"""Shares of items that most people confirm, as a questionnaire defines them: by the suite that the items are of."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import polars as pl

from acidtest.annotate.answers import Answers
from acidtest.annotate.items import SUITE
from acidtest.annotate.outcomes import Judgements
from acidtest.annotate.questionnaires import Share
from acidtest.annotate.ratings import carried_gold, sentence_groups
from acidtest.core.estimate import Estimate
from acidtest.core.ratings import ItemShare
from acidtest.io.published import published_share
from acidtest.stats.annotators import accepted, majority_share


def item_shares(
    judged: Judgements, answers: Answers, *, gold: str | None = None, draws_seed: int = 0
) -> tuple[ItemShare, ...]:
    """What the questionnaire's shares come to, for each suite of which items are known to be, or for all items.

    Items that are discarded are left out. ``gold`` names the column that holds it, where it is not known.
    """
    kept = judged.items.filter(pl.col("discarded").is_null())
    numbers = kept.select("item", row=pl.int_range(pl.len(), dtype=pl.Int64))
    said = answers.frame.with_columns(judged.outcomes["label"].alias("_label")).join(
        numbers, on="item", how="inner", maintain_order="left"
    )
    suites = kept[SUITE].cast(pl.String).fill_null("") if SUITE in kept.columns else pl.Series([""] * kept.height)
    rows, groups, found = said["row"].to_numpy(), sentence_groups(kept), list[ItemShare]()
    for suite in suites.unique(maintain_order=True):
        for share in judged.questionnaire.shares:
            published, source = published_share(suite, share.name)
            holds = _holds(share, judged, kept, said, gold=gold)
            chosen = (suites == suite).to_numpy()[rows]
            if holds is None:
                value, left_out = Estimate(math.nan, note="no gold came along with the items"), 0
            else:
                value, left_out = majority_share(holds[chosen], rows[chosen], groups=groups, draws_seed=draws_seed)
            found.append(ItemShare(suite, share.name, value, left_out, published, source))
    return tuple(found)


def _holds(
    share: Share, judged: Judgements, kept: pl.DataFrame, said: pl.DataFrame, *, gold: str | None
) -> npt.NDArray[np.bool_] | None:
    """Whether each judgement says what the share counts; None where there is no gold to compare with."""
    if not share.confirms_gold:
        return said.select(share.when.holds.alias("holds"))["holds"].to_numpy()
    labels, (_, golds) = judged.questionnaire.labels, carried_gold(judged, kept, gold)
    if golds is None:
        return None
    codes = said["_label"].replace_strict({label: code for code, label in enumerate(labels)}, default=len(labels))
    # The last column is for no label, which nothing accepts.
    right = np.pad(accepted(labels, golds), ((0, 0), (0, 1)))
    return np.asarray(right[said["row"].to_numpy(), codes.cast(pl.Int64).fill_null(len(labels)).to_numpy()])
