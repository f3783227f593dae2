"""A part of a suite that looks like the whole."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from acidtest.core.apportionment import apportioned
from acidtest.core.digests import digests
from acidtest.core.draws import Draws
from acidtest.core.errors import AcidtestError
from acidtest.core.suite import CROSS, Suite


def limited(suite: Suite, limit: int, seed: int) -> Suite:
    """``limit`` rows in the proportions of the suite's labels and strata; of its control, the rows they derive from.

    Labels are divided first, then one stratum column after the other, so that a subcase keeps its share whatever its
    templates. Whether a row is taken depends on the seed and on the pair it was made of, or its own id where there is
    none, and not on its place: suites made of the same pairs are sampled on the same pairs. Where several rows are made
    of one pair, as by the laws of ``consistency``, whole pairs are taken until there are ``limit`` rows or a few more.
    """
    if limit < 1:
        raise AcidtestError(f"--limit is a number of rows from 1 on, not {limit}")
    frame = suite.frame.collect()
    if limit >= frame.height:
        control = suite.control
        return suite if control is None or control.card.rows <= limit else _cut(suite, frame)
    if frame["base_id"].drop_nulls().is_duplicated().any():
        return _cut(suite, _whole_pairs(suite, frame, limit, seed))
    strata = list(dict.fromkeys(["label", *(name for name in suite.card.strata if name in frame.columns)]))
    sizes = frame.group_by(strata).len("_quota")
    # Who gets the odd rows is drawn too: a sample smaller than the number of strata must not favour the first ones.
    names = sizes.select(pl.concat_str(pl.col(strata).fill_null(""), separator=CROSS)).to_series()
    sizes = sizes.with_columns(_turn=pl.Series(Draws(seed, "limit strata").bits(digests(names)))).sort("_turn")
    quota = _quotas(sizes.drop("_turn"), limit, strata)
    pair = frame.select(pl.coalesce("base_id", "id")).to_series()
    keyed = frame.with_columns(_draw=pl.Series(Draws(seed, "limit").bits(digests(pair))))
    keyed = keyed.join(quota, on=strata, how="left", nulls_equal=True, maintain_order="left")
    place = pl.col("_draw").rank("ordinal").over(strata)
    return _cut(suite, keyed.filter(place <= pl.col("_quota")).drop("_draw", "_quota"))


def _whole_pairs(suite: Suite, frame: pl.DataFrame, limit: int, seed: int) -> pl.DataFrame:
    """All rows of as many pairs as it takes, in a drawn order, in the proportions of the pairs' own labels."""
    sizes = frame.group_by("base_id").agg(pl.len().alias("rows"), pl.col("label").first())
    if suite.control is not None:
        own = suite.control.frame.select(base_id="id", label="label").collect()
        sizes = sizes.drop("label").join(own, on="base_id", how="left")
    totals = sizes.group_by("label").agg(pl.col("rows").sum()).sort("label")
    quotas = apportioned(limit, totals["rows"].to_numpy(), most=totals["rows"].to_numpy())
    sizes = sizes.join(totals.select("label", quota=pl.Series(quotas)), on="label", nulls_equal=True)
    drawn = sizes.with_columns(_draw=pl.Series(Draws(seed, "limit").bits(digests(sizes["base_id"])))).sort("_draw")
    before = pl.col("rows").cum_sum().shift(1, fill_value=0).over("label")
    taken = drawn.filter(before < pl.col("quota"))["base_id"]
    return frame.filter(pl.col("base_id").is_in(taken.implode(), nulls_equal=True))


def _cut(suite: Suite, rows: pl.DataFrame) -> Suite:
    """The suite with some of its rows, its control with those they derive from."""
    control = suite.control
    if control is not None:
        control = replace(control, frame=control.frame.filter(pl.col("id").is_in(rows["base_id"].implode()))).sealed()
    return replace(suite, frame=rows.lazy(), control=control).sealed()


def _quotas(sizes: pl.DataFrame, limit: int, strata: list[str]) -> pl.DataFrame:
    """How many rows each combination gives: ``sizes`` holds how many it has, in the column of the same name."""
    first, *rest = strata
    totals = sizes.group_by(first, maintain_order=True).agg(pl.col("_quota").sum())["_quota"].to_numpy()
    shares = apportioned(limit, totals, most=totals).tolist()
    if not rest:
        return sizes.with_columns(_quota=pl.Series(shares))
    parts = sizes.partition_by(first, maintain_order=True)
    return pl.concat(_quotas(part, share, rest) for part, share in zip(parts, shares, strict=True))
