"""Parts of a suite: a sample that looks like the whole, and the pairs that are not in another suite."""

from __future__ import annotations

from dataclasses import dataclass, replace

import polars as pl

from acidtest.core.digests import digests
from acidtest.core.draws import Draws, apportion
from acidtest.core.errors import AcidtestError
from acidtest.core.suite import CROSS, Suite

_SIDES = ("premise", "hypothesis")


def limit_rows(suite: Suite, limit: int, seed: int) -> Suite:
    """``limit`` rows in the proportions of the suite's labels and strata; of its control, the rows they derive from.

    Rows are divided over labels first, then over one stratum column after the other, so that a subcase keeps its share
    whatever its templates. Whether a row is taken depends on the seed and on the pair it was made of (its own id where
    there is none), not on its position: suites made of the same pairs are sampled on the same pairs. Where several rows
    are made of one pair, as in ``consistency``, whole pairs are taken until there are ``limit`` rows or a few more.
    """
    if limit < 1:
        raise AcidtestError(f"--limit is a number of rows from 1 on, not {limit}")
    frame = suite.frame.collect()
    if limit >= frame.height:
        control = suite.control
        return suite if control is None or control.card.rows <= limit else _with_rows(suite, frame)
    if frame["base_id"].drop_nulls().is_duplicated().any():
        return _with_rows(suite, _sample_whole_pairs(suite, frame, limit, seed))
    strata = list(dict.fromkeys(["label", *(name for name in suite.card.strata if name in frame.columns)]))
    sizes = frame.group_by(strata).len("_quota")
    # Which strata get the odd rows is drawn too: a sample smaller than the number of strata must not favour the first.
    names = sizes.select(pl.concat_str(pl.col(strata).fill_null(""), separator=CROSS)).to_series()
    sizes = sizes.with_columns(_turn=pl.Series(Draws(seed, "limit strata").bits(digests(names)))).sort("_turn")
    quotas = _quotas(sizes.drop("_turn"), limit, strata)
    pair = frame.select(pl.coalesce("base_id", "id")).to_series()
    keyed = frame.with_columns(_draw=pl.Series(Draws(seed, "limit").bits(digests(pair))))
    keyed = keyed.join(quotas, on=strata, how="left", nulls_equal=True, maintain_order="left")
    rank = pl.col("_draw").rank("ordinal").over(strata)
    return _with_rows(suite, keyed.filter(rank <= pl.col("_quota")).drop("_draw", "_quota"))


def _sample_whole_pairs(suite: Suite, frame: pl.DataFrame, limit: int, seed: int) -> pl.DataFrame:
    """All rows of as many pairs as it takes, in a drawn order, in the proportions of the labels of the pairs."""
    sizes = frame.group_by("base_id").agg(pl.len().alias("rows"), pl.col("label").first())
    if suite.control is not None:
        labels = suite.control.frame.select(base_id="id", label="label").collect()
        sizes = sizes.drop("label").join(labels, on="base_id", how="left")
    totals = sizes.group_by("label").agg(pl.col("rows").sum()).sort("label")
    quotas = apportion(limit, totals["rows"].to_numpy(), most=totals["rows"].to_numpy())
    sizes = sizes.join(totals.select("label", quota=pl.Series(quotas)), on="label", nulls_equal=True)
    drawn = sizes.with_columns(_draw=pl.Series(Draws(seed, "limit").bits(digests(sizes["base_id"])))).sort("_draw")
    rows_before = pl.col("rows").cum_sum().shift(1, fill_value=0).over("label")
    taken = drawn.filter(rows_before < pl.col("quota"))["base_id"]
    return frame.filter(pl.col("base_id").is_in(taken.implode(), nulls_equal=True))


def _with_rows(suite: Suite, rows: pl.DataFrame) -> Suite:
    """The suite with some of its rows, its control with those they derive from."""
    control = suite.control
    if control is not None:
        control = replace(control, frame=control.frame.filter(pl.col("id").is_in(rows["base_id"].implode()))).sealed()
    return replace(suite, frame=rows.lazy(), control=control).sealed()


def _quotas(sizes: pl.DataFrame, limit: int, strata: list[str]) -> pl.DataFrame:
    """How many rows to take of each combination; the column ``_quota`` of ``sizes`` holds how many it has."""
    first, *rest = strata
    totals = sizes.group_by(first, maintain_order=True).agg(pl.col("_quota").sum())["_quota"].to_numpy()
    shares = apportion(limit, totals, most=totals).tolist()
    if not rest:
        return sizes.with_columns(_quota=pl.Series(shares))
    parts = sizes.partition_by(first, maintain_order=True)
    return pl.concat(_quotas(part, share, rest) for part, share in zip(parts, shares, strict=True))


@dataclass(frozen=True)
class Disjoint:
    """Pairs without those of another suite; how many were left out, and how many texts the two still share."""

    suite: Suite
    left_out: int
    shared_premises: int
    shared_hypotheses: int


def exclude_pairs(suite: Suite, other: Suite, *, cell: str, most: int) -> Disjoint:
    """The first ``most`` pairs of each value of ``cell`` that are not in the other suite, to train on.

    Pairs that differ only in case, punctuation and spaces are the same pair.
    """
    frame = suite.frame.with_columns(_words_of(side) for side in _SIDES).collect()
    excluded = other.frame.select(_words_of(side) for side in _SIDES).unique().collect()
    names = excluded.columns
    apart = frame.join(excluded, on=names, how="anti", maintain_order="left")
    kept = apart.filter(pl.int_range(pl.len()).over(cell) < most)
    premises, hypotheses = (kept.join(excluded, on=name, how="semi")[name].n_unique() for name in names)
    remainder = replace(suite, frame=kept.drop(names).lazy(), control=None).sealed()
    return Disjoint(remainder, frame.height - apart.height, premises, hypotheses)


def _words_of(side: str) -> pl.Expr:
    """A text as its words alone."""
    words = pl.col(side).str.to_lowercase().str.replace_all(r"[^\p{L}\p{N}]+", " ").str.strip_chars()
    return words.alias(f"plain {side}")
