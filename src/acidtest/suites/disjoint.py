"""Pairs of one suite that are not in another: what may be trained on when the other is the test."""

from __future__ import annotations

from dataclasses import dataclass, replace

import polars as pl

from acidtest.core.suite import Suite

_SIDES = ("premise", "hypothesis")


@dataclass(frozen=True)
class Disjoint:
    """Pairs without those of another suite; how many were left out, and how many texts the two still share."""

    suite: Suite
    left_out: int
    shared_premises: int
    shared_hypotheses: int


def disjoint(suite: Suite, other: Suite, *, cell: str, most: int) -> Disjoint:
    """The first ``most`` pairs of each value of ``cell`` that are not in the other suite.

    Case, punctuation and spaces make no difference: a pair written otherwise is the same pair.
    """
    frame = suite.frame.with_columns(_plain(side) for side in _SIDES).collect()
    theirs = other.frame.select(_plain(side) for side in _SIDES).unique().collect()
    names = theirs.columns
    apart = frame.join(theirs, on=names, how="anti", maintain_order="left")
    kept = apart.filter(pl.int_range(pl.len()).over(cell) < most)
    premises, hypotheses = (kept.join(theirs, on=name, how="semi")[name].n_unique() for name in names)
    made = replace(suite, frame=kept.drop(names).lazy(), control=None).sealed()
    return Disjoint(made, frame.height - apart.height, premises, hypotheses)


def _plain(side: str) -> pl.Expr:
    """A text as its words alone."""
    words = pl.col(side).str.to_lowercase().str.replace_all(r"[^\p{L}\p{N}]+", " ").str.strip_chars()
    return words.alias(f"plain {side}")
